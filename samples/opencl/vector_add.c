// A first OpenCL program: source, buffers, a launch, and the sums read back.

#include "sample.h"

static const char *const source = "kernel void add(global const float *a, global const float *b, global float *sum) {\n"
                                  "    size_t i = get_global_id(0);\n"
                                  "    sum[i] = a[i] + b[i];\n"
                                  "}\n";

int main(void) {
    enum { N = 1000 };
    const struct setup all = set_up();
    const cl_command_queue queue = make_queue(&all, 0);
    const cl_kernel add = make_kernel(&all, source, "add");
    float values[3][N];
    for (int i = 0; i < N; ++i) {
        values[0][i] = (float)i;
        values[1][i] = 0.5F * (float)i;
    }
    cl_mem buffers[3];
    for (cl_uint i = 0; i < 3; ++i) {
        buffers[i] = make_buffer(&all, sizeof values[i]);
        CHECK(clSetKernelArg(add, i, sizeof(cl_mem), &buffers[i]));
    }
    for (int i = 0; i < 2; ++i) {
        CHECK(clEnqueueWriteBuffer(queue, buffers[i], CL_FALSE, 0, sizeof values[i], values[i], 0, NULL, NULL));
    }
    const size_t size = N;
    CHECK(clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof values[2], values[2], 0, NULL, NULL));
    for (int i = 0; i < N; ++i) {
        EXPECT(values[2][i] == 1.5F * (float)i);
    }
    printf("vector_add: PASSED\n");
    return EXIT_SUCCESS;
}
