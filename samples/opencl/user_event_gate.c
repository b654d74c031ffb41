// A user event opens two queues at once; one that fails takes everything behind it along, and nobody hangs.

#include "sample.h"

static const char *const source = "kernel void put(global int *p, int value) { p[get_global_id(0)] = value; }\n";

int main(void) {
    const struct setup all = set_up();
    const cl_command_queue queues[2] = {make_queue(&all, 0), make_queue(&all, 0)};
    const cl_kernel put = make_kernel(&all, source, "put");
    const cl_mem buffers[2] = {make_buffer(&all, 64), make_buffer(&all, 64)};
    const size_t size = 16;
    cl_int status;
    const cl_event gate = clCreateUserEvent(all.context, &status);
    CHECK(status);
    cl_event done[2];
    for (cl_int i = 0; i < 2; ++i) {
        const cl_int value = i + 10;
        CHECK(clSetKernelArg(put, 0, sizeof(cl_mem), &buffers[i]));
        CHECK(clSetKernelArg(put, 1, sizeof value, &value));
        CHECK(clEnqueueNDRangeKernel(queues[i], put, 1, NULL, &size, NULL, 1, &gate, &done[i]));
        CHECK(clFlush(queues[i]));
    }
    EXPECT(status_of(done[0]) != CL_COMPLETE && status_of(done[1]) != CL_COMPLETE);
    CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
    CHECK(clWaitForEvents(2, done));
    for (cl_int i = 0; i < 2; ++i) {
        cl_int value = 0;
        CHECK(clEnqueueReadBuffer(queues[i], buffers[i], CL_TRUE, 60, sizeof value, &value, 0, NULL, NULL));
        EXPECT(value == i + 10);
    }
    const cl_event bad = clCreateUserEvent(all.context, &status);
    CHECK(status);
    cl_event failed;
    CHECK(clEnqueueNDRangeKernel(queues[0], put, 1, NULL, &size, NULL, 1, &bad, &failed));
    CHECK(clSetUserEventStatus(bad, -1));
    EXPECT(clWaitForEvents(1, &failed) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    EXPECT(status_of(failed) < 0);
    printf("user_event_gate: PASSED\n");
    return EXIT_SUCCESS;
}
