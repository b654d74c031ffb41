// OpenCL: what comes of programs that call the device libraries in different ways.

#include "opencl_case.h"

#include <stdint.h>

// Of every kind of function, alone and together, and a name that only the preprocessor puts together.
static const char *const sources[] = {
    "kernel void f(global int *p) { p[get_global_id(0)] = 1; }",
    "kernel void f(global int *p) { p[0] = 2; }",
    "kernel void f(global float *p) { size_t i = get_global_id(0); p[i] = sin(p[i]) + pow(p[i], 1.5f); }",
    "kernel void f(global int *p, local int *q) { atomic_add(p, 1); q[0] = 3; barrier(CLK_LOCAL_MEM_FENCE); p[1] = q[0]; }",
    "kernel void f(global char *p, global float *q) { size_t i = get_global_id(0); vstore3(convert_char3_sat_rte(vload3(i, q)), i, p); }",
    "kernel void f(read_only image2d_t a, write_only image2d_t b) { int2 c = (int2)(get_global_id(0), get_image_width(a) - 1);\n"
    "  const sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR; write_imagef(b, c, read_imagef(a, s, c)); }",
    "kernel void f(global int4 *p, global uint4 *q) { p[0] = shuffle(p[1], q[0]); p[2] = mad24(p[1], p[0], p[2]); p[3] = rotate(p[3], p[2]); }",
    "#define NAME(a, b) a##b\nkernel void f(global float *p) { p[get_global_id(0)] = NAME(co, sh)(p[0]); }",
    "kernel void f(global float *p) { p[0] = fract(p[1], p + 2) + work_group_reduce_add(p[3]); }",
};

// Builds every source and prints what came out, in a few words that tell one code object from another.
CASE(code_objects_of_every_kind) {
    setup(0);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i) {
        const cl_program program = build(sources[i], "-cl-std=CL2.0");
        size_t size = 0;
        OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
        unsigned char *binary = malloc(size);
        OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
        uint64_t sum = 14695981039346656037u;
        for (size_t place = 0; place < size; ++place) {
            sum = (sum ^ binary[place]) * 1099511628211u;
        }
        printf("%zu: %zu bytes, %016llx\n", i, size, (unsigned long long)sum);
        free(binary);
    }
}
