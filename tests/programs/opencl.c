// OpenCL: devices, contexts, queues, buffers, programs and kernels.

#include "opencl_case.h"

#include <CL/cl_ext.h>
#include <stdint.h>
#include <unistd.h>

static const char *const source =
    "kernel void add(global const int *a, global const int *b, global int *c) { size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
    "kernel void scale(global int *p, int by) { p[get_global_id(0)] *= by; }\n"
    "kernel void groups(global uint *p) { size_t i = get_global_id(0) - get_global_offset(0);\n"
    "  p[i] = (uint)(get_global_id(0) * 1000000 + get_group_id(0) * 1000 + get_local_size(0)); }\n"
    "kernel void reverse(global int *p, local int *tmp) { size_t i = get_local_id(0); tmp[i] = p[i];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE); p[i] = tmp[get_local_size(0) - 1 - i]; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void required(global int *p) { p[0] = 1; }\n"
    "kernel void plane(global int *p) { p[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_global_id(1) * 100 + get_global_id(0); }\n";

CASE(platform_and_device_say_what_they_are) {
    setup(0);
    char text[4096];
    OK(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text, text, NULL));
    REQUIRE(strcmp(text, "Gneiss") == 0);
    OK(clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof text, text, NULL));
    REQUIRE(strncmp(text, "OpenCL 3.0 ", 11) == 0);
    OK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, NULL));
    REQUIRE(strncmp(text, "gfx90a", 6) == 0);
    size_t size = 0;
    OK(clGetDeviceInfo(device, CL_DEVICE_NAME, 0, NULL, &size));
    REQUIRE(size == strlen(text) + 1);
    FAILS(CL_INVALID_VALUE, clGetDeviceInfo(device, CL_DEVICE_NAME, 3, text, NULL));
    FAILS(CL_INVALID_VALUE, clGetDeviceInfo(device, 0x9999, sizeof text, text, NULL));
    cl_uint units = 0;
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    REQUIRE(units == 104);
    cl_uint count = 0;
    FAILS(CL_DEVICE_NOT_FOUND, clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 0, NULL, &count));
    FAILS(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(platform, 1 << 10, 0, NULL, &count));
    cl_ulong device_time = 0, host_time = 0;
    OK(clGetDeviceAndHostTimer(device, &device_time, &host_time));
    REQUIRE(device_time != 0 && host_time != 0);
}

CASE(several_devices_in_one_context) {
    cl_device_id devices[4];
    cl_uint count = 0;
    OK(clGetPlatformIDs(1, &platform, NULL));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 4, devices, &count));
    REQUIRE(count == 2);
    context = clCreateContext(NULL, 2, devices, NULL, NULL, &status);
    OK(status);
    const cl_program program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &status);
    OK(status);
    OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    const cl_kernel kernel = kernel_of(program, "scale");
    int values[64];
    for (int i = 0; i < 64; ++i) {
        values[i] = i;
    }
    const cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &status);
    OK(status);
    const int by = 3;
    set(kernel, 0, sizeof memory, &memory);
    set(kernel, 1, sizeof by, &by);
    cl_command_queue queues[2];
    cl_event last = NULL;
    for (int i = 0; i < 2; ++i) {
        queues[i] = clCreateCommandQueueWithProperties(context, devices[i], NULL, &status);
        OK(status);
        last = launch(queues[i], kernel, 64, i, i == 0 ? NULL : &last);
    }
    OK(clEnqueueReadBuffer(queues[0], memory, CL_TRUE, 0, sizeof values, values, 1, &last, NULL));
    for (int i = 0; i < 64; ++i) {
        REQUIRE(values[i] == 9 * i);
    }
}

CASE(vector_add) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(source, "add");
    enum { N = 10000 };
    static int a[N], b[N], c[N];
    for (int i = 0; i < N; ++i) {
        a[i] = i;
        b[i] = 2 * i + 1;
    }
    const cl_mem memory[3] = {buffer(sizeof a), buffer(sizeof b), buffer(sizeof c)};
    for (cl_uint i = 0; i < 3; ++i) {
        set(kernel, i, sizeof(cl_mem), &memory[i]);
    }
    OK(clEnqueueWriteBuffer(queue, memory[0], CL_FALSE, 0, sizeof a, a, 0, NULL, NULL));
    OK(clEnqueueWriteBuffer(queue, memory[1], CL_FALSE, 0, sizeof b, b, 0, NULL, NULL));
    const size_t size = N;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, memory[2], CL_TRUE, 0, sizeof c, c, 0, NULL, NULL));
    for (int i = 0; i < N; ++i) {
        REQUIRE(c[i] == 3 * i + 1);
    }
    // Released in any order while work is in flight: the last commands still find them.
    for (int i = 0; i < 100; ++i) {
        OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    }
    for (int i = 0; i < 3; ++i) {
        OK(clReleaseMemObject(memory[i]));
    }
    OK(clReleaseKernel(kernel));
    OK(clFinish(queue));
    OK(clReleaseCommandQueue(queue));
}

CASE(offsets_and_partial_groups) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = kernel_of(build(source, "-cl-std=CL3.0"), "groups");
    uint32_t values[100];
    const cl_mem memory = buffer(sizeof values);
    set(kernel, 0, sizeof memory, &memory);
    const size_t offset = 7, size = 100, local = 32;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &size, &local, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
    for (uint32_t i = 0; i < 100; ++i) {
        REQUIRE(values[i] == (i + 7) * 1000000 + i / 32 * 1000 + (i < 96 ? 32 : 4));
    }
    // OpenCL C 1.2 has groups of one size only.
    const cl_kernel old = make_kernel(source, "groups");
    set(old, 0, sizeof memory, &memory);
    FAILS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, old, 1, NULL, &size, &local, 0, NULL, NULL));
}

CASE(local_memory_arguments) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(source, "reverse");
    int values[128];
    for (int i = 0; i < 128; ++i) {
        values[i] = i;
    }
    const cl_mem memory = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof values, values, &status);
    OK(status);
    set(kernel, 0, sizeof memory, &memory);
    set(kernel, 1, sizeof values, NULL);
    const size_t size = 128;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL));
    int *const mapped = clEnqueueMapBuffer(queue, memory, CL_TRUE, CL_MAP_READ, 0, sizeof values, 0, NULL, NULL, &status);
    OK(status);
    REQUIRE(mapped == values);
    for (int i = 0; i < 128; ++i) {
        REQUIRE(mapped[i] == 127 - i);
    }
    OK(clEnqueueUnmapMemObject(queue, memory, mapped, 0, NULL, NULL));
    cl_ulong local = 0;
    OK(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL));
    REQUIRE(local == sizeof values);
}

CASE(launch_errors) {
    const cl_command_queue queue = setup(0);
    const cl_program program = build(source, "");
    const cl_kernel add = kernel_of(program, "add"), required = kernel_of(program, "required"), reverse = kernel_of(program, "reverse");
    const size_t one = 1, sizes[3] = {16, 16, 16}, wrong[3] = {4, 4, 1}, right[3] = {8, 2, 1};
    FAILS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &one, NULL, 0, NULL, NULL));
    const cl_mem memory = buffer(64);
    set(required, 0, sizeof memory, &memory);
    FAILS(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(queue, required, 0, NULL, sizes, NULL, 0, NULL, NULL));
    FAILS(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(queue, required, 4, NULL, sizes, NULL, 0, NULL, NULL));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, required, 3, NULL, sizes, wrong, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(queue, required, 3, NULL, sizes, right, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(queue, required, 3, NULL, sizes, NULL, 0, NULL, NULL));
    const size_t large = 4096, zero = 0;
    set(reverse, 0, sizeof memory, &memory);
    set(reverse, 1, 64, NULL);
    FAILS(CL_INVALID_WORK_ITEM_SIZE, clEnqueueNDRangeKernel(queue, reverse, 1, NULL, &large, &large, 0, NULL, NULL));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, reverse, 1, NULL, &large, &zero, 0, NULL, NULL));
    set(reverse, 1, 1 << 20, NULL);
    FAILS(CL_OUT_OF_RESOURCES, clEnqueueNDRangeKernel(queue, reverse, 1, NULL, &one, &one, 0, NULL, NULL));
    FAILS(CL_INVALID_KERNEL, clEnqueueNDRangeKernel(queue, NULL, 1, NULL, &one, NULL, 0, NULL, NULL));
    FAILS(CL_INVALID_ARG_INDEX, clSetKernelArg(add, 3, sizeof memory, &memory));
    FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(add, 0, 4, &memory));
    FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(reverse, 1, 0, NULL));
    FAILS(CL_INVALID_ARG_VALUE, clSetKernelArg(reverse, 1, 64, &one));
    cl_mem bad = (cl_mem)program;
    FAILS(CL_INVALID_MEM_OBJECT, clSetKernelArg(add, 0, sizeof bad, &bad));
    FAILS(CL_INVALID_KERNEL_NAME, (clCreateKernel(program, "nothing", &status), status));
    OK(clFinish(queue));
}

CASE(handles_of_another_kind_and_ended_ones_are_refused) {
    const cl_command_queue queue = setup(0);
    const cl_mem memory = buffer(64);
    char bytes[64];
    FAILS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, (cl_mem)queue, CL_TRUE, 0, 64, bytes, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, clFinish((cl_command_queue)memory));
    FAILS(CL_INVALID_CONTEXT, clGetContextInfo((cl_context)memory, CL_CONTEXT_NUM_DEVICES, 0, NULL, NULL));
    FAILS(CL_INVALID_EVENT, clRetainEvent((cl_event)memory));
    FAILS(CL_INVALID_PROGRAM, clRetainProgram((cl_program)memory));
    FAILS(CL_INVALID_KERNEL, clRetainKernel((cl_kernel)memory));
    OK(clReleaseMemObject(memory));
    FAILS(CL_INVALID_MEM_OBJECT, clReleaseMemObject(memory));
    FAILS(CL_INVALID_MEM_OBJECT, clRetainMemObject(memory));
    // What is used by something else stays, also when the program lets go of it.
    OK(clReleaseContext(context));
    cl_context found = NULL;
    OK(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof found, &found, NULL));
    REQUIRE(found == context);
    OK(clReleaseCommandQueue(queue));
    FAILS(CL_INVALID_COMMAND_QUEUE, clFinish(queue));
    FAILS(CL_INVALID_CONTEXT, clRetainContext(context));
}

CASE(transfers_of_every_shape) {
    const cl_command_queue queue = setup(0);
    enum { N = 4096 };
    unsigned char out[N], in[N];
    for (int i = 0; i < N; ++i) {
        in[i] = (unsigned char)(i * 7);
    }
    const cl_mem a = buffer(N), b = buffer(N);
    OK(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, N, in, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(queue, a, b, 100, 200, 1000, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 200, 1000, out, 0, NULL, NULL));
    REQUIRE(memcmp(out, in + 100, 1000) == 0);
    FAILS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, a, a, 0, 10, 100, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clEnqueueCopyBuffer(queue, a, b, N - 10, 0, 100, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, N + 1, out, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, N, NULL, 0, NULL, NULL));

    // A box of 8 x 4 x 2 bytes at (4, 2, 1) of 32 x 8 x 16, to (1, 1, 0) of 16 x 8 x 2 at the host.
    const size_t from[3] = {4, 2, 1}, to[3] = {1, 1, 0}, region[3] = {8, 4, 2};
    memset(out, 0, sizeof out);
    OK(clEnqueueReadBufferRect(queue, a, CL_TRUE, from, to, region, 32, 256, 16, 128, out, 0, NULL, NULL));
    for (size_t z = 0; z < 2; ++z) {
        for (size_t y = 0; y < 4; ++y) {
            for (size_t x = 0; x < 8; ++x) {
                REQUIRE(out[z * 128 + (y + 1) * 16 + x + 1] == in[(z + 1) * 256 + (y + 2) * 32 + x + 4]);
            }
        }
    }
    REQUIRE(out[0] == 0 && out[16] == 0 && out[16 + 9] == 0);
    OK(clEnqueueCopyBufferRect(queue, a, b, from, to, region, 32, 256, 16, 128, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 17, 8, out, 0, NULL, NULL));
    REQUIRE(memcmp(out, in + 256 + 2 * 32 + 4, 8) == 0);
    FAILS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBufferRect(queue, a, a, from, from, region, 32, 256, 32, 256, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clEnqueueReadBufferRect(queue, a, CL_TRUE, from, to, region, 4, 0, 0, 0, out, 0, NULL, NULL));

    const uint64_t pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    for (size_t size = 1; size <= 128; size *= 2) {
        OK(clEnqueueFillBuffer(queue, a, pattern, size, 128, 1024, 0, NULL, NULL));
        OK(clEnqueueReadBuffer(queue, a, CL_TRUE, 128, 1024, out, 0, NULL, NULL));
        for (size_t i = 0; i < 1024; i += size) {
            REQUIRE(memcmp(out + i, pattern, size) == 0);
        }
    }
    FAILS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, a, pattern, 3, 0, 9, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, a, pattern, 8, 4, 8, 0, NULL, NULL));

    unsigned char *const mapped = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 16, 32, 0, NULL, NULL, &status);
    OK(status);
    memset(mapped, 0x5a, 32);
    cl_uint count = 0;
    OK(clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    REQUIRE(count == 1);
    OK(clEnqueueUnmapMemObject(queue, a, mapped, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, a, mapped, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, a, CL_TRUE, 16, 32, out, 0, NULL, NULL));
    REQUIRE(out[0] == 0x5a && out[31] == 0x5a);
    OK(clEnqueueMigrateMemObjects(queue, 1, &a, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));

    const cl_mem readable = clCreateBuffer(context, CL_MEM_HOST_READ_ONLY, 16, NULL, &status);
    OK(status);
    FAILS(CL_INVALID_OPERATION, clEnqueueWriteBuffer(queue, readable, CL_TRUE, 0, 16, in, 0, NULL, NULL));
    FAILS(CL_INVALID_BUFFER_SIZE, (clCreateBuffer(context, 0, 0, NULL, &status), status));
    FAILS(CL_INVALID_HOST_PTR, (clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 16, NULL, &status), status));
    FAILS(CL_INVALID_HOST_PTR, (clCreateBuffer(context, 0, 16, in, &status), status));
    FAILS(CL_INVALID_VALUE, (clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 16, NULL, &status), status));
    OK(clFinish(queue));
}

// Two overlapping sub-buffers and their parent, written in turn by kernels: the last writer is visible through all.
CASE(sub_buffers_share_the_bytes_of_their_parent) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel("kernel void put(global int *p, int value) { p[get_global_id(0)] = value; }", "put");
    const cl_mem parent = buffer(4096);
    const cl_buffer_region first = {0, 2048}, second = {1024, 2048};
    cl_mem parts[3] = {parent};
    parts[1] = clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &first, &status);
    OK(status);
    parts[2] = clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &second, &status);
    OK(status);
    size_t size = 0;
    OK(clGetMemObjectInfo(parts[2], CL_MEM_SIZE, sizeof size, &size, NULL));
    REQUIRE(size == 2048);
    OK(clGetMemObjectInfo(parts[2], CL_MEM_OFFSET, sizeof size, &size, NULL));
    REQUIRE(size == 1024);
    for (int i = 0; i < 3; ++i) {
        set(kernel, 0, sizeof(cl_mem), &parts[i]);
        set(kernel, 1, sizeof i, &i);
        launch(queue, kernel, i == 0 ? 1024 : 512, 0, NULL);
    }
    int values[1024];
    OK(clEnqueueReadBuffer(queue, parent, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
    for (int i = 0; i < 1024; ++i) {
        REQUIRE(values[i] == (i < 256 ? 1 : i < 768 ? 2 : 0));
    }
    int overlap[256];
    OK(clEnqueueReadBuffer(queue, parts[1], CL_TRUE, 1024, sizeof overlap, overlap, 0, NULL, NULL));
    REQUIRE(overlap[0] == 2 && overlap[255] == 2);
    const cl_buffer_region misaligned = {4, 64}, outside = {4096, 64};
    FAILS(CL_MISALIGNED_SUB_BUFFER_OFFSET, (clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &misaligned, &status), status));
    FAILS(CL_INVALID_VALUE, (clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &outside, &status), status));
    FAILS(CL_INVALID_MEM_OBJECT, (clCreateSubBuffer(parts[1], 0, CL_BUFFER_CREATE_TYPE_REGION, &first, &status), status));
    // The parent lives on with its parts.
    OK(clReleaseMemObject(parent));
    OK(clEnqueueReadBuffer(queue, parts[2], CL_TRUE, 0, 4, overlap, 0, NULL, NULL));
    REQUIRE(overlap[0] == 2);
}

CASE(kernels_know_in_how_many_dimensions_they_run) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel("kernel void dimensions(global uint *p) { *p = get_work_dim(); }", "dimensions");
    const cl_mem place = buffer(sizeof(cl_uint));
    set(kernel, 0, sizeof place, &place);
    const size_t global[3] = {2, 2, 1};
    for (cl_uint dimensions = 1; dimensions <= 3; ++dimensions) {
        cl_uint told = 0;
        OK(clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, NULL, 0, NULL, NULL));
        OK(clEnqueueReadBuffer(queue, place, CL_TRUE, 0, sizeof told, &told, 0, NULL, NULL));
        REQUIRE(told == dimensions);
    }
}

CASE(a_kernel_that_wants_one_id_runs_in_groups_of_three_dimensions) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel("kernel void count(global int *p) { atomic_inc(&p[get_global_id(0)]); }", "count");
    const cl_mem counts = buffer(16 * sizeof(int));
    const int zero = 0;
    OK(clEnqueueFillBuffer(queue, counts, &zero, 4, 0, 16 * sizeof(int), 0, NULL, NULL));
    set(kernel, 0, sizeof counts, &counts);
    const size_t global[3] = {16, 6, 4}, local[3] = {8, 3, 2};
    OK(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, NULL));
    int values[16];
    OK(clEnqueueReadBuffer(queue, counts, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
    for (int i = 0; i < 16; ++i) {
        REQUIRE(values[i] == 24);
    }
}

CASE(memory_of_a_released_buffer_is_the_programs_again) {
    const cl_command_queue queue = setup(0), held = setup(0);
    enum { SIZE = 1 << 16 };
    unsigned char *const memory = malloc(2 * SIZE);
    const cl_event first = user_event(), second = user_event();
    const cl_mem used = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, SIZE, memory, &status), large = buffer(2 * SIZE);
    OK(status);
    OK(clEnqueueFillBuffer(queue, large, "\7", 1, 0, 2 * SIZE, 0, NULL, NULL));
    OK(clFinish(queue));
    // A queue with a command keeps what is pinned pinned.
    OK(clEnqueueMarkerWithWaitList(held, 1, &first, NULL));
    OK(clReleaseMemObject(used));
    OK(clEnqueueReadBuffer(queue, large, CL_TRUE, 0, 2 * SIZE, memory, 0, NULL, NULL));
    REQUIRE(memory[0] == 7 && memory[2 * SIZE - 1] == 7);
    // What is enqueued meanwhile runs after the end of that.
    memset(memory, 0, 2 * SIZE);
    cl_event read;
    OK(clEnqueueReadBuffer(queue, large, CL_FALSE, 0, SIZE, memory, 1, &second, &read));
    const cl_mem again = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 2 * SIZE, memory, &status);
    OK(status);
    OK(clSetUserEventStatus(first, CL_COMPLETE));
    OK(clFinish(held));
    OK(clSetUserEventStatus(second, CL_COMPLETE));
    OK(clWaitForEvents(1, &read));
    REQUIRE(memory[0] == 7 && memory[SIZE - 1] == 7 && memory[SIZE] == 0);
    OK(clEnqueueFillBuffer(queue, again, "\11", 1, SIZE, SIZE, 0, NULL, NULL));
    OK(clFinish(queue));
    REQUIRE(memory[SIZE - 1] == 7 && memory[SIZE] == 9);
}

CASE(big_buffers_come_back_as_they_were) {
    const cl_command_queue queue = setup(0);
    enum { N = 1200000 };
    float *const a = malloc(N * sizeof(float)), *const b = malloc(N * sizeof(float));
    const cl_mem memory[2] = {buffer(N * sizeof(float)), buffer(N * sizeof(float))};
    for (int i = 0; i < N; ++i) {
        a[i] = (float)i;
    }
    for (int i = 0; i < 2; ++i) {
        OK(clEnqueueWriteBuffer(queue, memory[i], CL_FALSE, 0, N * sizeof(float), a, 0, NULL, NULL));
    }
    for (int i = 0; i < 2; ++i) {
        memset(b, 0, N * sizeof(float));
        OK(clEnqueueReadBuffer(queue, memory[i], CL_TRUE, 0, N * sizeof(float), b, 0, NULL, NULL));
        REQUIRE(memcmp(a, b, N * sizeof(float)) == 0);
    }
}

static int ended[4], ends;
static void CL_CALLBACK on_end(cl_mem memory, void *data) {
    (void)memory;
    ended[ends++] = *(int *)data;
}

CASE(destructor_callbacks_run_in_reverse_order) {
    const cl_command_queue queue = setup(0);
    const cl_mem memory = buffer(64);
    int numbers[3] = {0, 1, 2};
    for (int i = 0; i < 3; ++i) {
        OK(clSetMemObjectDestructorCallback(memory, on_end, &numbers[i]));
    }
    OK(clFinish(queue));
    OK(clReleaseMemObject(memory));
    REQUIRE(ends == 3 && ended[0] == 2 && ended[1] == 1 && ended[2] == 0);
}

CASE(build_errors_are_in_the_log) {
    setup(0);
    const char *bad = "kernel void f(global int *p) { p[0] = undeclared; }";
    const cl_program program = clCreateProgramWithSource(context, 1, &bad, NULL, &status);
    OK(status);
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    char log[65536];
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    REQUIRE(strstr(log, "undeclared") != NULL);
    cl_build_status built = 0;
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof built, &built, NULL));
    REQUIRE(built == CL_BUILD_ERROR);
    FAILS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(program, 0, NULL, "-no-such-option", NULL, NULL));
    FAILS(CL_INVALID_PROGRAM_EXECUTABLE, (clCreateKernel(program, "f", &status), status));
    FAILS(CL_INVALID_VALUE, (clCreateProgramWithSource(context, 0, NULL, NULL, &status), status));
}

CASE(compile_link_and_binaries) {
    const cl_command_queue queue = setup(0);
    const char *header = "int twice(int);\n#define FIVE 5\n";
    const char *parts[2] = {"#include \"twice.h\"\nkernel void f(global int *p) { p[get_global_id(0)] = twice(FIVE) + OFFSET; }",
                            "#include \"twice.h\"\nint twice(int x) { return 2 * x; }"};
    const cl_program head = clCreateProgramWithSource(context, 1, &header, NULL, &status);
    OK(status);
    const char *name = "twice.h";
    cl_program objects[2];
    for (int i = 0; i < 2; ++i) {
        objects[i] = clCreateProgramWithSource(context, 1, &parts[i], NULL, &status);
        OK(status);
        OK(clCompileProgram(objects[i], 1, &device, "-D OFFSET=100", 1, &head, &name, NULL, NULL));
    }
    cl_program_binary_type type = 0;
    OK(clGetProgramBuildInfo(objects[0], device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    REQUIRE(type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    const cl_program library = clLinkProgram(context, 1, &device, "-create-library", 1, &objects[1], NULL, NULL, &status);
    OK(status);
    cl_program inputs[2] = {objects[0], library};
    cl_program program = clLinkProgram(context, 1, &device, "", 2, inputs, NULL, NULL, &status);
    OK(status);
    FAILS(CL_LINK_PROGRAM_FAILURE, (clLinkProgram(context, 1, &device, "", 1, objects, NULL, NULL, &status), status));
    for (int round = 0; round < 2; ++round) {
        const cl_kernel kernel = kernel_of(program, "f");
        const cl_mem memory = buffer(4);
        set(kernel, 0, sizeof memory, &memory);
        launch(queue, kernel, 1, 0, NULL);
        int value = 0;
        OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 4, &value, 0, NULL, NULL));
        REQUIRE(value == 110);
        // Again, from the binary.
        size_t size = 0;
        OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
        REQUIRE(size > 0);
        unsigned char *binary = malloc(size);
        OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
        cl_int loaded = 1;
        program = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary, &loaded, &status);
        OK(status);
        OK(loaded);
        OK(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    }
    const unsigned char *nothing = (const unsigned char *)"nothing";
    const size_t length = 7;
    cl_int loaded = 0;
    FAILS(CL_INVALID_BINARY, (clCreateProgramWithBinary(context, 1, &device, &length, &nothing, &loaded, &status), status));
    REQUIRE(loaded == CL_INVALID_BINARY);
}

CASE(kernels_and_arguments_are_described) {
    setup(0);
    const cl_program program = build(source, "-cl-kernel-arg-info");
    size_t count = 0;
    OK(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
    REQUIRE(count == 6);
    char text[1024];
    OK(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    REQUIRE(strstr(text, "scale") != NULL);
    cl_kernel all[6];
    cl_uint made = 0;
    OK(clCreateKernelsInProgram(program, 6, all, &made));
    REQUIRE(made == 6);
    FAILS(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, "", NULL, NULL));
    const cl_kernel kernel = kernel_of(program, "add");
    cl_uint arguments = 0;
    OK(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL));
    REQUIRE(arguments == 3);
    OK(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    REQUIRE(strcmp(text, "a") == 0);
    OK(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
    REQUIRE(strcmp(text, "int*") == 0);
    cl_kernel_arg_type_qualifier qualifier = 0;
    OK(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, NULL));
    REQUIRE(qualifier == CL_KERNEL_ARG_TYPE_CONST);
    cl_kernel_arg_address_qualifier address = 0;
    OK(clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL));
    REQUIRE(address == CL_KERNEL_ARG_ADDRESS_GLOBAL);
    size_t sizes[3] = {0};
    OK(clGetKernelWorkGroupInfo(kernel_of(program, "required"), device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof sizes, sizes, NULL));
    REQUIRE(sizes[0] == 8 && sizes[1] == 2 && sizes[2] == 1);
}

CASE(printf_of_kernels) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(
        "kernel void say(int n, float f) {\n"
        "  printf(\"%d %u %5.2f|%-4s|%c 100%%\\n\", n, 7u, f, \"ab\", 'x');\n"
        "  printf(\"%v4d %#v2hhx %.1v3hlf\\n\", (int4)(1, -2, 3, 4), (uchar2)(16, 255), (float3)(1.5f, 2.0f, -0.5f));\n"
        "  printf(\"%ld %lx: done\\n\", 1L << 40, 255UL);\n"
        "}",
        "say");
    const int n = -5;
    const float f = 2.5f;
    set(kernel, 0, sizeof n, &n);
    set(kernel, 1, sizeof f, &f);
    launch(queue, kernel, 1, 0, NULL);
    OK(clFinish(queue));
    printf("after\n");
}

CASE(printf_keeps_every_argument) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
        "constant char format[] = \"%F|%d|%A|%f\\n\";\n"
        "kernel void say(float f, int n) {\n"
        "  printf(\"%.2F %5.1A %d %.17f %G\\n\", f, 2.5f, n, 0.1, f / 0.0f);\n"
        "  printf(format, f / 0.0f, n, 1.0, -f);\n"
        "  printf(\"\", n); printf(\"%s %F\\n\", \"%F %f\", 1.0f, n, f);\n"
        "  printf(\"%v2hlF %#.3v2hlA\\n\", (float2)(f, -f / 0.0f), (float2)(1.0f, 0.5f)); printf(\"\");\n"
        "}",
        "say");
    const float f = 1.25f;
    const int n = 7;
    set(kernel, 0, sizeof f, &f);
    set(kernel, 1, sizeof n, &n);
    launch(queue, kernel, 1, 0, NULL);
    OK(clFinish(queue));
}

static void CL_CALLBACK native(void *arguments) {
    struct {
        int *memory;
        int value;
    } *const given = arguments;
    given->memory[0] = given->value;
}

CASE(programs_say_how_much_memory_their_variables_take) {
    setup(0);
    const cl_program without = build("kernel void f(global int *p) { *p = 1; }", "-cl-std=CL3.0");
    const cl_program with = build(
        "global int numbers[10] = {1}; global uchar one;\n"
        "kernel void f(global int *p) { static global long count; *p = numbers[*p & 7]++ + one++ + count++; }",
        "-cl-std=CL3.0");
    size_t sizes[2];
    OK(clGetProgramBuildInfo(without, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof *sizes, &sizes[0], NULL));
    OK(clGetProgramBuildInfo(with, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof *sizes, &sizes[1], NULL));
    REQUIRE(sizes[0] == 0 && sizes[1] >= 49 && sizes[1] < 128);
}

CASE(included_files_are_part_of_what_is_compiled) {
    setup(0);
    char folder[] = "/tmp/gneiss-included-XXXXXX", file[64], options[64];
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/number.h", folder);
    snprintf(options, sizeof options, "-I %s", folder);
    // The second file says something else, and the third one prints.
    static const char *const texts[] = {"#define SAY *p = 1\n", "#define SAY *p = 2\n", "#define SAY printf(\"%d\\n\", *p = 3)\n"};
    for (int i = 0; i < 3; ++i) {
        FILE *const out = fopen(file, "w");
        REQUIRE(out != NULL && fputs(texts[i], out) >= 0 && fclose(out) == 0);
        const cl_kernel kernel = kernel_of(build("#include \"number.h\"\nkernel void f(global int *p) { SAY; }", options), "f");
        const cl_command_queue queue = setup(0);
        const cl_mem memory = buffer(sizeof(cl_int));
        set(kernel, 0, sizeof memory, &memory);
        const cl_event done = launch(queue, kernel, 1, 0, NULL);
        OK(clWaitForEvents(1, &done));
        cl_int number = 0;
        OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof number, &number, 0, NULL, NULL));
        REQUIRE(number == i + 1);
    }
    REQUIRE(remove(file) == 0 && rmdir(folder) == 0);
}

CASE(native_kernels) {
    const cl_command_queue queue = setup(0);
    const cl_mem memory = buffer(64);
    struct {
        cl_mem memory;
        int value;
    } arguments = {memory, 42};
    const void *place = &arguments.memory;
    OK(clEnqueueNativeKernel(queue, native, &arguments, sizeof arguments, 1, &memory, &place, 0, NULL, NULL));
    int value = 0;
    OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    REQUIRE(value == 42);
    FAILS(CL_INVALID_VALUE, clEnqueueNativeKernel(queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
}

CASE(shared_virtual_memory) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel(source, "scale");
    int *const memory = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 256 * sizeof(int), 0);
    REQUIRE(memory != NULL);
    for (int i = 0; i < 256; ++i) {
        memory[i] = i;
    }
    OK(clSetKernelArgSVMPointer(kernel, 0, memory + 128));
    const int by = -1;
    set(kernel, 1, sizeof by, &by);
    launch(queue, kernel, 128, 0, NULL);
    OK(clFinish(queue));
    REQUIRE(memory[127] == 127 && memory[128] == -128 && memory[255] == -255);
    int copy[4] = {0};
    OK(clEnqueueSVMMemcpy(queue, CL_TRUE, copy, memory + 128, sizeof copy, 0, NULL, NULL));
    REQUIRE(copy[1] == -129);
    const int pattern = 9;
    OK(clEnqueueSVMMemFill(queue, memory, &pattern, sizeof pattern, 64, 0, NULL, NULL));
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, memory, 64, 0, NULL, NULL));
    REQUIRE(memory[15] == 9 && memory[16] == 16);
    OK(clEnqueueSVMUnmap(queue, memory, 0, NULL, NULL));
    FAILS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(kernel, 0, &copy));
    void *list[1] = {memory};
    OK(clEnqueueSVMFree(queue, 1, list, NULL, NULL, 0, NULL, NULL));
    OK(clFinish(queue));
    REQUIRE(clSVMAlloc(context, CL_MEM_READ_WRITE, 0, 0) == NULL);
    REQUIRE(clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 3) == NULL);
}

// Coarse-grained buffers are the host's while they are mapped; with atomics, host and kernel wait for each other.
CASE(shared_virtual_memory_of_every_kind) {
    const cl_command_queue queue = setup(0);
    cl_device_svm_capabilities kinds = 0;
    OK(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof kinds, &kinds, NULL));
    REQUIRE(kinds == (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS));
    const cl_program program = build(
        "struct node { int value; global struct node *next; };\n"
        "kernel void sum(global struct node *list, global int *total) { *total = 0; for (; list; list = list->next) *total += list->value; }\n"
        "kernel void answer(global atomic_int *flags) {\n"
        "  while (atomic_load_explicit(&flags[0], memory_order_acquire, memory_scope_all_svm_devices) == 0) {}\n"
        "  atomic_store_explicit(&flags[1], 42, memory_order_release, memory_scope_all_svm_devices); }",
        "-cl-std=CL3.0");
    // Pointers within shared memory are the kernel's, too.
    struct node {
        int value;
        struct node *next;
    } *const nodes = clSVMAlloc(context, CL_MEM_READ_WRITE, 100 * sizeof(struct node), 0);
    REQUIRE(nodes != NULL);
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, nodes, 100 * sizeof(struct node), 0, NULL, NULL));
    for (int i = 0; i < 100; ++i) {
        nodes[i].value = i;
        nodes[i].next = i < 99 ? &nodes[i + 1] : NULL;
    }
    OK(clEnqueueSVMUnmap(queue, nodes, 0, NULL, NULL));
    const cl_kernel sum = kernel_of(program, "sum");
    const cl_mem total = buffer(sizeof(int));
    OK(clSetKernelArgSVMPointer(sum, 0, nodes));
    set(sum, 1, sizeof total, &total);
    launch(queue, sum, 1, 0, NULL);
    int value = 0;
    OK(clEnqueueReadBuffer(queue, total, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    REQUIRE(value == 99 * 50);
    // A buffer over shared memory is that memory.
    const cl_mem over = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof(struct node), nodes, &status);
    OK(status);
    cl_bool shared = CL_FALSE;
    OK(clGetMemObjectInfo(over, CL_MEM_USES_SVM_POINTER, sizeof shared, &shared, NULL));
    REQUIRE(shared == CL_TRUE);
    OK(clReleaseMemObject(over));
    int *const flags = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, 2 * sizeof(int), 0);
    REQUIRE(flags != NULL);
    flags[0] = flags[1] = 0;
    const cl_kernel answer = kernel_of(program, "answer");
    OK(clSetKernelArgSVMPointer(answer, 0, flags));
    const cl_event done = launch(queue, answer, 1, 0, NULL);
    OK(clFlush(queue));
    REQUIRE(event_status(done) != CL_COMPLETE && __atomic_load_n(&flags[1], __ATOMIC_ACQUIRE) == 0);
    __atomic_store_n(&flags[0], 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&flags[1], __ATOMIC_ACQUIRE) != 42) {
    }
    OK(clWaitForEvents(1, &done));
    clSVMFree(context, flags);
    clSVMFree(context, nodes);
}

// CODE_OBJECT names a code object as AMD's runtime gives it for an executable: what the compiler makes of OpenCL C, without more.
CASE(a_code_object_is_a_binary) {
    const cl_command_queue queue = setup(0);
    FILE *const file = fopen(getenv("CODE_OBJECT"), "rb");
    REQUIRE(file != NULL);
    static unsigned char bytes[1 << 20];
    const unsigned char *binary = bytes;
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    REQUIRE(size > 0 && fclose(file) == 0);
    cl_int loaded = 1;
    const cl_program program = clCreateProgramWithBinary(context, 1, &device, &size, &binary, &loaded, &status);
    OK(status);
    OK(loaded);
    OK(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    cl_program_binary_type type = 0;
    OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    REQUIRE(type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    const cl_kernel kernel = kernel_of(program, "triple");
    cl_uint arguments = 0;
    OK(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL));
    REQUIRE(arguments == 2);
    int values[64];
    const int add = 5;
    for (int i = 0; i < 64; ++i) {
        values[i] = i;
    }
    const cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &status);
    OK(status);
    set(kernel, 0, sizeof memory, &memory);
    set(kernel, 1, sizeof add, &add);
    launch(queue, kernel, 64, 0, NULL);
    OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
    for (int i = 0; i < 64; ++i) {
        REQUIRE(values[i] == 3 * i + 5);
    }
}

CASE(extension_functions_are_found_by_name) {
    setup(0);
    typedef cl_int(CL_API_CALL * get_info_t)(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
    get_info_t get_info = NULL;
    void *const found = clGetExtensionFunctionAddressForPlatform(platform, "clGetPlatformInfo");
    REQUIRE(found != NULL);
    memcpy(&get_info, &found, sizeof found);
    char text[64];
    OK(get_info(platform, CL_PLATFORM_ICD_SUFFIX_KHR, sizeof text, text, NULL));
    REQUIRE(text[0] != '\0');
    REQUIRE(clGetExtensionFunctionAddressForPlatform(platform, "clCreateCommandQueueWithPropertiesKHR") != NULL);
    REQUIRE(clGetExtensionFunctionAddressForPlatform(platform, "clNothing") == NULL);
}

CASE(sub_groups_are_waves) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = kernel_of(
        build("kernel void f(global uint *p) { p[get_global_id(0)] = sub_group_reduce_add((uint)get_local_id(0)) + get_sub_group_size() * 100000; }",
              "-cl-std=CL3.0"),
        "f");
    const size_t size = 128;
    size_t count = 0, most = 0;
    OK(clGetKernelSubGroupInfo(kernel, device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof size, &size, sizeof count, &count, NULL));
    OK(clGetKernelSubGroupInfo(kernel, device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof size, &size, sizeof most, &most, NULL));
    REQUIRE(count == 2 && most == 64);
    uint32_t values[128];
    const cl_mem memory = buffer(sizeof values);
    set(kernel, 0, sizeof memory, &memory);
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
    REQUIRE(values[0] == 6400000 + 63 * 32 && values[64] == 6400000 + 63 * 32 + 64 * 64);
}

CASE(pipes_carry_packets_from_kernel_to_kernel) {
    const cl_command_queue queue = setup(0);
    const cl_program program = build(
        "kernel void w(write_only pipe int p, global const int *in) { write_pipe(p, &in[get_global_id(0)]); }\n"
        "kernel void r(read_only pipe int p, global int *out) { read_pipe(p, &out[get_global_id(0)]); }\n"
        "kernel void n(read_only pipe int p, global int *out) { out[0] = get_pipe_num_packets(p); out[1] = get_pipe_max_packets(p); }",
        "-cl-std=CL3.0");
    const cl_kernel write = kernel_of(program, "w"), read = kernel_of(program, "r"), count = kernel_of(program, "n");
    const cl_mem pipe = clCreatePipe(context, CL_MEM_HOST_NO_ACCESS, 4, 128, NULL, &status);
    OK(status);
    int values[64], sum = 0;
    for (int i = 0; i < 64; ++i) {
        values[i] = i + 1;
    }
    const cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &status), out = buffer(sizeof values);
    OK(status);
    const cl_kernel kernels[3] = {write, read, count};
    for (int i = 0; i < 3; ++i) {
        set(kernels[i], 0, sizeof pipe, &pipe);
        set(kernels[i], 1, sizeof(cl_mem), i == 0 ? &memory : &out);
    }
    int counts[2];
    launch(queue, write, 64, 0, NULL);
    launch(queue, count, 1, 0, NULL);
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL));
    REQUIRE(counts[0] == 64 && counts[1] == 128);
    launch(queue, read, 64, 0, NULL);
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
    for (int i = 0; i < 64; ++i) {
        sum += values[i];
    }
    REQUIRE(sum == 64 * 65 / 2);
    cl_uint size = 0;
    OK(clGetPipeInfo(pipe, CL_PIPE_PACKET_SIZE, sizeof size, &size, NULL));
    REQUIRE(size == 4);
    FAILS(CL_INVALID_PIPE_SIZE, (clCreatePipe(context, 0, 0, 16, NULL, &status), status));
    FAILS(CL_INVALID_MEM_OBJECT, clGetPipeInfo(memory, CL_PIPE_PACKET_SIZE, sizeof size, &size, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, clSetKernelArg(write, 0, sizeof memory, &memory));
    char bytes[4];
    FAILS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, pipe, CL_TRUE, 0, 4, bytes, 0, NULL, NULL));
}

CASE(what_is_not_there_says_so) {
    const cl_command_queue queue = setup(0);
    FAILS(CL_INVALID_OPERATION, (clCreateProgramWithIL(context, "x", 1, &status), status));
    FAILS(CL_INVALID_VALUE, (clCreateProgramWithBuiltInKernels(context, 1, &device, "x", &status), status));
    const cl_device_partition_property parts[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    FAILS(CL_INVALID_VALUE, clCreateSubDevices(device, parts, 0, NULL, NULL));
    FAILS(CL_INVALID_OPERATION, clSetCommandQueueProperty(queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, NULL));
}
