// A kernel enqueues kernels: a reduction that halves itself on the device until one value is left. The host enqueues one command.

#include "sample.h"

static const char *const source =
    "void step(global int *values, uint count) {\n"
    "  size_t id = get_global_id(0);\n"
    "  values[id] += values[id + count];\n"
    "}\n"
    "void halve(global int *values, uint count, clk_event_t before) {\n"
    "  queue_t queue = get_default_queue();\n"
    "  while (count > 1) {\n"
    "    count /= 2;\n"
    "    uint left = count;\n"
    "    clk_event_t after;\n"
    "    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(left), 1, &before, &after, ^{ step(values, left); });\n"
    "    release_event(before);\n"
    "    before = after;\n"
    "  }\n"
    "  release_event(before);\n"
    "}\n"
    "kernel void sum(global int *values, uint count) {\n"
    "  clk_event_t start = create_user_event();\n"
    "  set_user_event_status(start, CL_COMPLETE);\n"
    "  halve(values, count, start);\n"
    "}\n";

int main(void) {
    const struct setup all = set_up();
    cl_int status;
    const cl_queue_properties list[] = {
        CL_QUEUE_PROPERTIES,
        CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
        0,
    };
    const cl_command_queue on_device = clCreateCommandQueueWithProperties(all.context, all.device, list, &status);
    CHECK(status);
    const cl_command_queue queue = make_queue(&all, CL_QUEUE_PROFILING_ENABLE);
    const cl_program program = clCreateProgramWithSource(all.context, 1, (const char **)&source, NULL, &status);
    CHECK(status);
    CHECK(clBuildProgram(program, 1, &all.device, "-cl-std=CL3.0", NULL, NULL));
    const cl_kernel sum = clCreateKernel(program, "sum", &status);
    CHECK(status);
    enum { COUNT = 256 };
    static cl_int values[COUNT];
    for (cl_int i = 0; i < COUNT; ++i) {
        values[i] = i;
    }
    const cl_mem buffer = make_buffer(&all, sizeof values);
    const cl_uint count = COUNT;
    CHECK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof values, values, 0, NULL, NULL));
    CHECK(clSetKernelArg(sum, 0, sizeof buffer, &buffer));
    CHECK(clSetKernelArg(sum, 1, sizeof count, &count));
    const size_t one = 1;
    cl_event event;
    CHECK(clEnqueueNDRangeKernel(queue, sum, 1, NULL, &one, NULL, 0, NULL, &event));
    // The command ends with its last child.
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(cl_int), values, 0, NULL, NULL));
    EXPECT(values[0] == COUNT * (COUNT - 1) / 2);
    cl_ulong start, end, complete;
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_COMPLETE, sizeof complete, &complete, NULL));
    EXPECT(start <= end && end < complete);
    CHECK(clReleaseCommandQueue(on_device));
    printf("device_queue: PASSED\n");
    return EXIT_SUCCESS;
}
