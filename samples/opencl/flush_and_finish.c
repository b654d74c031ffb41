// clFlush returns while the device still works; clFinish and clWaitForEvents return when it has ended.
// `gneiss trace -o flush.gnt ./flush_and_finish`, then `gneiss explain flush.gnt`, shows both calls beside the commands.

#include "sample.h"

static const char *const source = "kernel void step(global int *p) { p[0] = p[0] + 1; }\n";

int main(void) {
    const struct setup all = set_up();
    const cl_command_queue queue = make_queue(&all, 0);
    const cl_kernel step = make_kernel(&all, source, "step");
    const cl_mem buffer = make_buffer(&all, sizeof(cl_int));
    const cl_int zero = 0;
    const size_t one = 1;
    cl_int status, value;
    CHECK(clSetKernelArg(step, 0, sizeof buffer, &buffer));
    CHECK(clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, sizeof zero, 0, NULL, NULL));
    // The gate keeps the first kernel from running, so that what clFlush does not do can be seen.
    const cl_event gate = clCreateUserEvent(all.context, &status);
    CHECK(status);
    cl_event last = NULL;
    for (int i = 0; i < 3; ++i) {
        if (last != NULL) {
            CHECK(clReleaseEvent(last));
        }
        CHECK(clEnqueueNDRangeKernel(queue, step, 1, NULL, &one, NULL, i == 0, i == 0 ? &gate : NULL, &last));
    }
    CHECK(clFlush(queue));
    EXPECT(status_of(last) != CL_COMPLETE);
    CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
    CHECK(clWaitForEvents(1, &last));
    EXPECT(status_of(last) == CL_COMPLETE);
    CHECK(clEnqueueNDRangeKernel(queue, step, 1, NULL, &one, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof value, &value, 0, NULL, NULL));
    CHECK(clFinish(queue));
    EXPECT(value == 4);
    printf("flush_and_finish: PASSED\n");
    return EXIT_SUCCESS;
}
