// An out-of-order queue: what waits for nothing passes what waits, a barrier holds all that is behind it.

#include "sample.h"

static const char *const source = "kernel void put(global int *p, int value) { p[0] = value; }\n";

static cl_event put_value(cl_command_queue queue, cl_kernel put, cl_mem buffer, cl_int value, const cl_event *wait) {
    const size_t one = 1;
    cl_event event;
    CHECK(clSetKernelArg(put, 0, sizeof buffer, &buffer));
    CHECK(clSetKernelArg(put, 1, sizeof value, &value));
    CHECK(clEnqueueNDRangeKernel(queue, put, 1, NULL, &one, NULL, wait != NULL, wait, &event));
    return event;
}

int main(void) {
    const struct setup all = set_up();
    const cl_command_queue queue = make_queue(&all, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const cl_kernel put = make_kernel(&all, source, "put");
    const cl_mem buffers[3] = {make_buffer(&all, 4), make_buffer(&all, 4), make_buffer(&all, 4)};
    cl_int status;
    const cl_event gate = clCreateUserEvent(all.context, &status);
    CHECK(status);
    const cl_event held = put_value(queue, put, buffers[0], 1, &gate);
    const cl_event passes = put_value(queue, put, buffers[1], 2, NULL);
    CHECK(clWaitForEvents(1, &passes));
    EXPECT(status_of(held) != CL_COMPLETE);
    CHECK(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
    const cl_event behind = put_value(queue, put, buffers[2], 3, NULL);
    CHECK(clFlush(queue));
    EXPECT(status_of(behind) != CL_COMPLETE);
    CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
    CHECK(clFinish(queue));
    for (cl_int i = 0; i < 3; ++i) {
        cl_int value = 0;
        CHECK(clEnqueueReadBuffer(queue, buffers[i], CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
        EXPECT(value == i + 1);
    }
    printf("out_of_order: PASSED\n");
    return EXIT_SUCCESS;
}
