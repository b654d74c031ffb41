// OpenCL: images and samplers.

#include "opencl_case.h"

#include <stdint.h>

static cl_mem image(cl_mem_flags flags, cl_channel_order order, cl_channel_type type, cl_image_desc desc, void *host) {
    const cl_image_format format = {order, type};
    const cl_mem memory = clCreateImage(context, flags, &format, &desc, host, &status);
    OK(status);
    return memory;
}

static cl_image_desc plane(size_t width, size_t height) {
    return (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height};
}

CASE(formats_that_every_device_must_have_are_listed) {
    setup(0);
    static const cl_image_format wanted[] = {
        {CL_RGBA, CL_UNORM_INT8},    {CL_RGBA, CL_UNORM_INT16},   {CL_RGBA, CL_SIGNED_INT8},    {CL_RGBA, CL_SIGNED_INT16},
        {CL_RGBA, CL_SIGNED_INT32},  {CL_RGBA, CL_UNSIGNED_INT8}, {CL_RGBA, CL_UNSIGNED_INT16}, {CL_RGBA, CL_UNSIGNED_INT32},
        {CL_RGBA, CL_HALF_FLOAT},    {CL_RGBA, CL_FLOAT},         {CL_BGRA, CL_UNORM_INT8},     {CL_R, CL_FLOAT},
        {CL_RG, CL_UNORM_INT8},
    };
    cl_image_format formats[256];
    cl_uint count = 0;
    OK(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 256, formats, &count));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
        int found = 0;
        for (cl_uint j = 0; j < count; ++j) {
            found |= memcmp(&formats[j], &wanted[i], sizeof *wanted) == 0;
        }
        REQUIRE(found);
    }
    FAILS(CL_INVALID_VALUE, clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_BUFFER, 0, NULL, &count));
}

CASE(kernels_read_and_write_texels) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(
        "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
        "kernel void flip(read_only image2d_t in, write_only image2d_t out) {\n"
        "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
        "  uint4 texel = read_imageui(in, s, (int2)(get_image_width(in) - 1 - at.x, at.y));\n"
        "  write_imageui(out, at, texel.wzyx);\n"
        "}",
        "flip");
    enum { W = 20, H = 10 };
    uint8_t in[H][W][4], out[H][W][4];
    for (int i = 0; i < W * H * 4; ++i) {
        ((uint8_t *)in)[i] = (uint8_t)(i * 13);
    }
    const cl_mem images[2] = {image(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, CL_RGBA, CL_UNSIGNED_INT8, plane(W, H), in),
                              image(CL_MEM_WRITE_ONLY, CL_RGBA, CL_UNSIGNED_INT8, plane(W, H), NULL)};
    size_t pitch = 0;
    OK(clGetImageInfo(images[0], CL_IMAGE_ROW_PITCH, sizeof pitch, &pitch, NULL));
    REQUIRE(pitch == W * 4);
    for (cl_uint i = 0; i < 2; ++i) {
        cl_kernel_arg_address_qualifier address = 0;
        cl_kernel_arg_type_qualifier qualifier = 1;
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL));
        OK(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, NULL));
        REQUIRE(address == CL_KERNEL_ARG_ADDRESS_GLOBAL && qualifier == CL_KERNEL_ARG_TYPE_NONE);
    }
    set(kernel, 0, sizeof(cl_mem), &images[0]);
    FAILS(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 1, sizeof(cl_mem), &images[0]));
    set(kernel, 1, sizeof(cl_mem), &images[1]);
    const size_t size[2] = {W, H}, origin[3] = {0}, region[3] = {W, H, 1};
    OK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, size, NULL, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, images[1], CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
    for (int y = 0; y < H; ++y) {
        for (int x = 0; x < W; ++x) {
            for (int c = 0; c < 4; ++c) {
                REQUIRE(out[y][x][c] == in[y][W - 1 - x][3 - c]);
            }
        }
    }
}

CASE(repeated_images_begin_anew_at_every_whole_number) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(
        "constant sampler_t s = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;\n"
        "kernel void f(read_only image1d_t in, global int *out, int width) {\n"
        "  int i = get_global_id(0); out[i] = read_imagei(in, s, (i - 200 + 0.25f) / width).x; }",
        "f");
    enum { COUNT = 400 };
    const cl_mem out = buffer(COUNT * sizeof(cl_int));
    for (cl_int width = 3; width < 50; width += 23) {
        cl_int texels[49], numbers[COUNT];
        for (cl_int i = 0; i < width; ++i) {
            texels[i] = i;
        }
        const cl_image_desc line = {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = (size_t)width};
        const cl_mem in = image(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, CL_R, CL_SIGNED_INT32, line, texels);
        set(kernel, 0, sizeof in, &in);
        set(kernel, 1, sizeof out, &out);
        set(kernel, 2, sizeof width, &width);
        const cl_event done = launch(queue, kernel, COUNT, 0, NULL);
        OK(clWaitForEvents(1, &done));
        OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL));
        for (cl_int i = 0; i < COUNT; ++i) {
            REQUIRE(numbers[i] == ((i - 200) % width + width) % width);
        }
    }
}

CASE(samplers_of_the_host_filter) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(
        "kernel void f(read_only image2d_t in, sampler_t s, global float *out) {\n"
        "  int i = get_global_id(0); out[i] = read_imagef(in, s, (float2)((i + 0.5f) * 0.5f, 0.5f)).x; }",
        "f");
    cl_kernel_arg_address_qualifier address = 0;
    cl_kernel_arg_type_qualifier qualifier = 1;
    OK(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL));
    OK(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, NULL));
    REQUIRE(address == CL_KERNEL_ARG_ADDRESS_PRIVATE && qualifier == CL_KERNEL_ARG_TYPE_NONE);
    const float row[4] = {0, 10, 20, 30};
    const cl_mem in = image(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, CL_R, CL_FLOAT, plane(4, 1), (void *)row);
    const cl_mem out = buffer(8 * sizeof(float));
    set(kernel, 0, sizeof in, &in);
    set(kernel, 2, sizeof out, &out);
    const cl_filter_mode filters[2] = {CL_FILTER_NEAREST, CL_FILTER_LINEAR};
    const float expected[2][8] = {{0, 0, 10, 10, 20, 20, 30, 30}, {0, 2.5f, 7.5f, 12.5f, 17.5f, 22.5f, 27.5f, 30}};
    for (int i = 0; i < 2; ++i) {
        const cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, filters[i], &status);
        OK(status);
        set(kernel, 1, sizeof sampler, &sampler);
        float values[8];
        launch(queue, kernel, 8, 0, NULL);
        OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
        REQUIRE(memcmp(values, expected[i], sizeof values) == 0);
        cl_filter_mode mode = 0;
        OK(clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof mode, &mode, NULL));
        REQUIRE(mode == filters[i]);
        OK(clReleaseSampler(sampler));
    }
    FAILS(CL_INVALID_VALUE, (clCreateSampler(context, CL_FALSE, 0x1234, CL_FILTER_LINEAR, &status), status));
    cl_mem bad = buffer(4);
    FAILS(CL_INVALID_SAMPLER, clSetKernelArg(kernel, 1, sizeof bad, &bad));
    FAILS(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof bad, &bad));
}

CASE(images_of_every_kind_hold_what_was_written) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(
        "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n"
        "kernel void f(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_array_t c, read_only image3d_t d,\n"
        "              read_only image1d_buffer_t e, global uint *out) {\n"
        "  out[0] = read_imageui(a, s, 3).x; out[1] = read_imageui(b, s, (int2)(3, 1)).x;\n"
        "  out[2] = read_imageui(c, s, (int4)(3, 2, 1, 0)).x; out[3] = read_imageui(d, s, (int4)(3, 2, 1, 0)).x;\n"
        "  out[4] = read_imageui(e, 3).x;\n"
        "  out[5] = get_image_width(a) + get_image_array_size(b) * 100 + get_image_height(c) * 1000 + get_image_depth(d) * 10000; }",
        "f");
    uint32_t values[3][4][8], back[3][4][8];
    for (uint32_t i = 0; i < 96; ++i) {
        ((uint32_t *)values)[i] = 1000 + i;
    }
    const cl_mem bytes = buffer(32);
    OK(clEnqueueWriteBuffer(queue, bytes, CL_TRUE, 0, 32, values, 0, NULL, NULL));
    const cl_image_desc descs[5] = {
        {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 8},
        {.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 8, .image_array_size = 4},
        {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 8, .image_height = 4, .image_array_size = 3},
        {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 8, .image_height = 4, .image_depth = 3},
        {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 8, .mem_object = bytes},
    };
    const size_t regions[5][3] = {{8, 1, 1}, {8, 4, 1}, {8, 4, 3}, {8, 4, 3}, {8, 1, 1}}, origin[3] = {0};
    for (cl_uint i = 0; i < 5; ++i) {
        const cl_mem memory = image(CL_MEM_READ_WRITE, CL_R, CL_UNSIGNED_INT32, descs[i], NULL);
        if (i < 4) {
            OK(clEnqueueWriteImage(queue, memory, CL_TRUE, origin, regions[i], 0, 0, values, 0, NULL, NULL));
        }
        memset(back, 0, sizeof back);
        OK(clEnqueueReadImage(queue, memory, CL_TRUE, origin, regions[i], 0, 0, back, 0, NULL, NULL));
        REQUIRE(memcmp(back, values, regions[i][0] * regions[i][1] * regions[i][2] * 4) == 0);
        set(kernel, i, sizeof memory, &memory);
    }
    const cl_mem out = buffer(6 * 4);
    set(kernel, 5, sizeof out, &out);
    launch(queue, kernel, 1, 0, NULL);
    uint32_t seen[6];
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof seen, seen, 0, NULL, NULL));
    REQUIRE(seen[0] == values[0][0][3] && seen[1] == values[0][1][3] && seen[4] == values[0][0][3]);
    REQUIRE(seen[2] == values[1][2][3] && seen[3] == values[1][2][3]);
    REQUIRE(seen[5] == 8 + 400 + 4000 + 30000);
}

CASE(fills_copies_and_maps) {
    const cl_command_queue queue = setup(0);
    const cl_mem a = image(0, CL_RGBA, CL_UNORM_INT8, plane(16, 16), NULL), b = image(0, CL_RGBA, CL_UNORM_INT8, plane(16, 16), NULL);
    const float colour[4] = {1.0f, 0.5f, 0.0f, 0.25f}, black[4] = {0};
    const size_t origin[3] = {0}, all[3] = {16, 16, 1}, at[3] = {4, 2, 0}, part[3] = {3, 5, 1};
    OK(clEnqueueFillImage(queue, a, black, origin, all, 0, NULL, NULL));
    OK(clEnqueueFillImage(queue, a, colour, at, part, 0, NULL, NULL));
    OK(clEnqueueCopyImage(queue, a, b, origin, origin, all, 0, NULL, NULL));
    size_t row = 0, slice = 1;
    uint8_t *const texels = clEnqueueMapImage(queue, b, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at, part, &row, &slice, 0, NULL, NULL, &status);
    OK(status);
    REQUIRE(row >= 64 && slice == 0);
    const uint8_t expected[4] = {255, 128, 0, 64};
    REQUIRE(memcmp(texels, expected, 4) == 0 && memcmp(texels + 4 * row + 8, expected, 4) == 0);
    REQUIRE(texels[12] == 0);
    texels[0] = 7;
    OK(clEnqueueUnmapMemObject(queue, b, texels, 0, NULL, NULL));
    const cl_mem linear = buffer(1024);
    OK(clEnqueueCopyImageToBuffer(queue, b, linear, origin, all, 0, 0, NULL, NULL));
    uint8_t bytes[1024];
    OK(clEnqueueReadBuffer(queue, linear, CL_TRUE, 0, 1024, bytes, 0, NULL, NULL));
    REQUIRE(bytes[2 * 64 + 16] == 7 && bytes[2 * 64 + 17] == 128);
    OK(clEnqueueCopyBufferToImage(queue, linear, a, 2 * 64 + 16, origin, part, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, a, CL_TRUE, origin, part, 0, 0, bytes, 0, NULL, NULL));
    REQUIRE(bytes[0] == 7 && bytes[1] == 128);
    FAILS(CL_MEM_COPY_OVERLAP, clEnqueueCopyImage(queue, a, a, origin, at, all, 0, NULL, NULL) == CL_INVALID_VALUE
                                   ? clEnqueueCopyImage(queue, a, a, origin, (const size_t[3]){1, 1, 0}, part, 0, NULL, NULL)
                                   : CL_SUCCESS);
    const cl_mem other = image(0, CL_R, CL_FLOAT, plane(16, 16), NULL);
    FAILS(CL_IMAGE_FORMAT_MISMATCH, clEnqueueCopyImage(queue, a, other, origin, origin, all, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clEnqueueReadImage(queue, a, CL_TRUE, at, all, 0, 0, bytes, 0, NULL, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, clEnqueueReadImage(queue, linear, CL_TRUE, origin, part, 0, 0, bytes, 0, NULL, NULL));
}

CASE(an_image_of_the_programs_memory_comes_back_in_a_map) {
    const cl_command_queue queue = setup(0);
    uint8_t memory[5][20];
    for (int i = 0; i < 100; ++i) {
        ((uint8_t *)memory)[i] = (uint8_t)i;
    }
    cl_image_desc desc = plane(18, 5);
    desc.image_row_pitch = 20;
    const cl_mem used = image(CL_MEM_USE_HOST_PTR, CL_R, CL_UNSIGNED_INT8, desc, memory);
    size_t pitch = 0;
    OK(clGetImageInfo(used, CL_IMAGE_ROW_PITCH, sizeof pitch, &pitch, NULL));
    REQUIRE(pitch == 20);
    const cl_uint colour[4] = {200, 0, 0, 0};
    const size_t origin[3] = {0}, at[3] = {2, 1, 0}, part[3] = {4, 2, 1}, all[3] = {18, 5, 1};
    OK(clEnqueueFillImage(queue, used, colour, at, part, 0, NULL, NULL));
    uint8_t *const texels = clEnqueueMapImage(queue, used, CL_TRUE, CL_MAP_WRITE, origin, all, &pitch, NULL, 0, NULL, NULL, &status);
    OK(status);
    REQUIRE(texels == &memory[0][0] && pitch == 20);
    REQUIRE(memory[1][2] == 200 && memory[2][5] == 200 && memory[1][6] == 26 && memory[0][0] == 0);
    memory[4][17] = 99;
    OK(clEnqueueUnmapMemObject(queue, used, texels, 0, NULL, NULL));
    uint8_t back[5][18];
    OK(clEnqueueReadImage(queue, used, CL_TRUE, origin, all, 0, 0, back, 0, NULL, NULL));
    REQUIRE(back[4][17] == 99 && back[2][2] == 200 && back[3][3] == 63);
}

CASE(depth_images_are_read_as_one_number) {
    const cl_command_queue queue = setup(0);
    const cl_program program = build(
        "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;\n"
        "kernel void halve(read_only image2d_depth_t in, write_only image2d_array_depth_t out, global float *between, global int *what) {\n"
        "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
        "  write_imagef(out, (int4)(at.x, at.y, 1, 0), read_imagef(in, at) / 2);\n"
        "  between[at.y * 4 + at.x] = read_imagef(in, s, (float2)(at.x + 1.0f, at.y + 0.5f));\n"
        "  what[0] = get_image_channel_order(in) == CLK_DEPTH; what[1] = get_image_channel_data_type(out) == CLK_UNORM_INT16;\n"
        "}",
        "-cl-std=CL3.0");
    const cl_kernel kernel = kernel_of(program, "halve");
    enum { W = 4, H = 3 };
    float in[H][W];
    for (int i = 0; i < W * H; ++i) {
        ((float *)in)[i] = (float)i / 16;
    }
    cl_image_desc layers = plane(W, H);
    layers.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
    layers.image_array_size = 2;
    const cl_mem memory[4] = {image(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, CL_DEPTH, CL_FLOAT, plane(W, H), in),
                              image(CL_MEM_READ_WRITE, CL_DEPTH, CL_UNORM_INT16, layers, NULL), buffer(sizeof in), buffer(8)};
    for (cl_uint i = 0; i < 4; ++i) {
        set(kernel, i, sizeof(cl_mem), &memory[i]);
    }
    const size_t size[2] = {W, H}, origin[3] = {0, 0, 1}, region[3] = {W, H, 1};
    OK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, size, NULL, 0, NULL, NULL));
    uint16_t out[H][W];
    OK(clEnqueueReadImage(queue, memory[1], CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
    float between[H][W];
    OK(clEnqueueReadBuffer(queue, memory[2], CL_TRUE, 0, sizeof between, between, 0, NULL, NULL));
    for (int y = 0; y < H; ++y) {
        for (int x = 0; x < W; ++x) {
            REQUIRE(out[y][x] == (uint16_t)(in[y][x] / 2 * 65535 + 0.5f));
            REQUIRE(between[y][x] == (in[y][x] + in[y][x < W - 1 ? x + 1 : x]) / 2);
        }
    }
    int what[2];
    OK(clEnqueueReadBuffer(queue, memory[3], CL_TRUE, 0, sizeof what, what, 0, NULL, NULL));
    REQUIRE(what[0] == 1 && what[1] == 1);
    const float depth = 0.25f;
    const size_t corner[3] = {1, 1, 0}, one[3] = {1, 1, 1};
    OK(clEnqueueFillImage(queue, memory[1], &depth, corner, one, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, memory[1], CL_TRUE, corner, one, 0, 0, out, 0, NULL, NULL));
    REQUIRE(out[0][0] == 16384);
    const cl_image_format format = {CL_DEPTH, CL_FLOAT}, wrong = {CL_DEPTH, CL_UNORM_INT8};
    cl_image_desc volume = {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 4, .image_depth = 4};
    FAILS(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, (clCreateImage(context, 0, &format, &volume, NULL, &status), status));
    FAILS(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, (clCreateImage(context, 0, &wrong, &layers, NULL, &status), status));
}

CASE(an_image_is_another_view_of_an_image_or_a_part_of_a_buffer) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(
        "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n"
        "kernel void red(read_only image2d_t in, global float *out) { out[0] = read_imagef(in, s, (int2)(1, 1)).x; }",
        "red");
    uint8_t texels[2][2][4] = {{{0}}};
    texels[1][1][0] = 188;
    const cl_mem linear = image(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, CL_RGBA, CL_UNORM_INT8, plane(2, 2), texels);
    cl_image_desc view = plane(2, 2);
    view.mem_object = linear;
    const cl_mem curved = image(CL_MEM_READ_ONLY, CL_sRGBA, CL_UNORM_INT8, view, NULL), out = buffer(4);
    cl_mem parent = NULL;
    OK(clGetMemObjectInfo(curved, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    REQUIRE(parent == linear);
    float values[2];
    for (int i = 0; i < 2; ++i) {
        set(kernel, 0, sizeof(cl_mem), i == 0 ? &linear : &curved);
        set(kernel, 1, sizeof(cl_mem), &out);
        launch(queue, kernel, 1, 0, NULL);
        OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 4, &values[i], 0, NULL, NULL));
    }
    REQUIRE(values[0] == 188.0f / 255 && values[1] > 0.5f && values[1] < 0.505f);
    const cl_image_format other = {CL_BGRA, CL_UNORM_INT8}, same = {CL_RGBA, CL_UNORM_INT8}, number = {CL_R, CL_FLOAT};
    FAILS(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, (clCreateImage(context, CL_MEM_READ_ONLY, &other, &view, NULL, &status), status));
    view.image_width = 1;
    FAILS(CL_INVALID_IMAGE_DESCRIPTOR, (clCreateImage(context, CL_MEM_READ_ONLY, &same, &view, NULL, &status), status));

    const cl_mem whole = buffer(4096);
    const cl_buffer_region later = {1024, 1024}, odd = {128, 1024};
    view = plane(8, 2);
    view.image_row_pitch = 256;
    view.mem_object = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &later, &status);
    OK(status);
    const cl_mem part = image(CL_MEM_READ_WRITE, CL_R, CL_FLOAT, view, NULL);
    const float value = 7;
    const size_t origin[3] = {1, 1, 0}, region[3] = {1, 1, 1};
    OK(clEnqueueWriteImage(queue, part, CL_TRUE, origin, region, 0, 0, &value, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, whole, CL_TRUE, 1024 + 256 + 4, 4, values, 0, NULL, NULL));
    REQUIRE(values[0] == 7);
    set(kernel, 0, sizeof(cl_mem), &part);
    launch(queue, kernel, 1, 0, NULL);
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 4, values, 0, NULL, NULL));
    REQUIRE(values[0] == 7);
    view.mem_object = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &odd, &status);
    OK(status);
    FAILS(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, (clCreateImage(context, CL_MEM_READ_ONLY, &number, &view, NULL, &status), status));
}

CASE(descriptions_that_make_no_image_are_refused) {
    setup(0);
    const cl_image_format good = {CL_RGBA, CL_UNORM_INT8}, bad = {CL_RGB, CL_UNORM_INT8};
    cl_image_desc desc = plane(16, 16);
    FAILS(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, (clCreateImage(context, 0, NULL, &desc, NULL, &status), status));
    FAILS(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, (clCreateImage(context, 0, &bad, &desc, NULL, &status), status));
    FAILS(CL_INVALID_IMAGE_DESCRIPTOR, (clCreateImage(context, 0, &good, NULL, NULL, &status), status));
    desc.image_width = 0;
    FAILS(CL_INVALID_IMAGE_DESCRIPTOR, (clCreateImage(context, 0, &good, &desc, NULL, &status), status));
    desc = plane(1 << 20, 16);
    FAILS(CL_INVALID_IMAGE_SIZE, (clCreateImage(context, 0, &good, &desc, NULL, &status), status));
    desc = plane(16, 16);
    desc.image_row_pitch = 64;
    FAILS(CL_INVALID_IMAGE_DESCRIPTOR, (clCreateImage(context, 0, &good, &desc, NULL, &status), status));
    desc = plane(16, 16);
    desc.num_mip_levels = 2;
    FAILS(CL_INVALID_IMAGE_DESCRIPTOR, (clCreateImage(context, 0, &good, &desc, NULL, &status), status));
}
