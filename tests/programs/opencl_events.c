// OpenCL: events, wait lists, callbacks, profiling, and queues that run their commands out of order.

#include "opencl_case.h"

#include <pthread.h>

static const char *const source = "kernel void next(global int *p) { p[0] = p[0] * 10 + 1; }\n"
                                  "kernel void put(global int *p, int v) { p[0] = v; }\n";

static int read_int(cl_command_queue queue, cl_mem memory) {
    int value = -1;
    OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    return value;
}

static cl_mem zero(cl_command_queue queue) {
    const cl_mem memory = buffer(4);
    const int nothing = 0;
    OK(clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, sizeof nothing, &nothing, 0, NULL, NULL));
    return memory;
}

static cl_kernel put(cl_mem memory, int value) {
    const cl_kernel kernel = make_kernel(source, "put");
    set(kernel, 0, sizeof memory, &memory);
    set(kernel, 1, sizeof value, &value);
    return kernel;
}

CASE(a_user_event_holds_back_what_waits_for_it) {
    const cl_command_queue queue = setup(0);
    const cl_mem memory = zero(queue);
    const cl_event gate = user_event();
    const cl_event done = launch(queue, put(memory, 7), 1, 1, &gate);
    OK(clFlush(queue));
    REQUIRE(event_status(done) > CL_COMPLETE);
    REQUIRE(event_status(gate) == CL_SUBMITTED);
    FAILS(CL_INVALID_VALUE, clSetUserEventStatus(gate, CL_RUNNING));
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    FAILS(CL_INVALID_OPERATION, clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clWaitForEvents(1, &done));
    REQUIRE(event_status(done) == CL_COMPLETE);
    REQUIRE(read_int(queue, memory) == 7);
    FAILS(CL_INVALID_EVENT, clSetUserEventStatus(done, CL_COMPLETE));
}

CASE(a_failed_user_event_fails_what_waits_for_it) {
    const cl_command_queue queue = setup(0);
    const cl_mem memory = zero(queue);
    const cl_event gate = user_event();
    const cl_event first = launch(queue, put(memory, 7), 1, 1, &gate);
    const cl_event second = launch(queue, put(memory, 8), 1, 1, &first);
    OK(clSetUserEventStatus(gate, -42));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &second));
    REQUIRE(event_status(gate) == -42);
    REQUIRE(event_status(first) < 0 && event_status(second) < 0);
    OK(clFinish(queue));
    REQUIRE(read_int(queue, memory) == 0);
}

// A command without a wait list passes one that waits for a user event, and ends before that is set.
CASE(an_unset_user_event_does_not_stall_an_out_of_order_queue) {
    const cl_command_queue queue = setup(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const cl_mem first = zero(queue), second = zero(queue);
    const cl_event gate = user_event();
    const cl_event waits = launch(queue, put(first, 1), 1, 1, &gate);
    const cl_event passes = launch(queue, put(second, 2), 1, 0, NULL);
    OK(clFlush(queue));
    OK(clWaitForEvents(1, &passes));
    REQUIRE(event_status(waits) > CL_COMPLETE);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clFinish(queue));
    REQUIRE(event_status(waits) == CL_COMPLETE);
    REQUIRE(read_int(queue, first) == 1 && read_int(queue, second) == 2);
}

CASE(a_barrier_orders_an_out_of_order_queue) {
    const cl_command_queue queue = setup(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const cl_mem memory = zero(queue);
    const cl_kernel kernel = make_kernel(source, "next");
    set(kernel, 0, sizeof memory, &memory);
    const cl_event gate = user_event();
    launch(queue, kernel, 1, 1, &gate);
    cl_event barrier, marker;
    OK(clEnqueueBarrierWithWaitList(queue, 0, NULL, &barrier));
    const cl_event after = launch(queue, put(memory, 5), 1, 0, NULL);
    OK(clEnqueueMarkerWithWaitList(queue, 1, &after, &marker));
    OK(clFlush(queue));
    REQUIRE(event_status(barrier) > CL_COMPLETE && event_status(after) > CL_COMPLETE);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clWaitForEvents(1, &marker));
    REQUIRE(event_status(barrier) == CL_COMPLETE);
    REQUIRE(read_int(queue, memory) == 5);
}

CASE(a_wait_across_queues_ends) {
    const cl_command_queue first = setup(0), second = setup(0);
    const cl_mem memory = buffer(1 << 20);
    char *const in = malloc(1 << 20), *const out = malloc(1 << 20);
    for (int i = 0; i < 1 << 20; ++i) {
        in[i] = (char)(i * 31);
    }
    cl_event written, read;
    OK(clEnqueueWriteBuffer(first, memory, CL_FALSE, 0, 1 << 20, in, 0, NULL, &written));
    OK(clEnqueueReadBuffer(second, memory, CL_FALSE, 0, 1 << 20, out, 1, &written, &read));
    OK(clWaitForEvents(1, &read));
    REQUIRE(memcmp(in, out, 1 << 20) == 0);
}

static struct {
    cl_event event;
    cl_int status;
} calls[8];
static int call_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void CL_CALLBACK opens(cl_event event, cl_int now, void *gate) {
    pthread_mutex_lock(&mutex);
    calls[call_count].event = event;
    calls[call_count++].status = now;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    if (gate != NULL) {
        OK(clSetUserEventStatus(gate, CL_COMPLETE));
    }
}

static void wait_for_calls(int count) {
    pthread_mutex_lock(&mutex);
    while (call_count < count) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

// Two callbacks, each of which opens a gate, then a read.
CASE(callbacks_that_set_user_events_chain) {
    const cl_command_queue queue = setup(0);
    const cl_mem memory = zero(queue);
    cl_event markers[2], gates[2] = {user_event(), user_event()};
    for (int i = 0; i < 2; ++i) {
        OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &markers[i]));
        OK(clSetEventCallback(markers[i], CL_COMPLETE, opens, gates[i]));
        OK(clEnqueueBarrierWithWaitList(queue, 1, &gates[i], NULL));
    }
    OK(clEnqueueNDRangeKernel(queue, put(memory, 3), 1, NULL, (const size_t[]){1}, NULL, 0, NULL, NULL));
    REQUIRE(read_int(queue, memory) == 3);
    wait_for_calls(2);
    REQUIRE(calls[0].event == markers[0] && calls[1].event == markers[1]);
}

CASE(callbacks_see_each_status_once_and_the_end_is_visible) {
    const cl_command_queue queue = setup(0);
    const cl_event gate = user_event();
    cl_event marker;
    OK(clEnqueueMarkerWithWaitList(queue, 1, &gate, &marker));
    OK(clSetEventCallback(marker, CL_SUBMITTED, opens, NULL));
    OK(clSetEventCallback(marker, CL_RUNNING, opens, NULL));
    OK(clSetEventCallback(marker, CL_COMPLETE, opens, NULL));
    FAILS(CL_INVALID_VALUE, clSetEventCallback(marker, CL_QUEUED, opens, NULL));
    FAILS(CL_INVALID_VALUE, clSetEventCallback(marker, CL_COMPLETE, NULL, NULL));
    FAILS(CL_INVALID_EVENT, clSetEventCallback(NULL, CL_COMPLETE, opens, NULL));
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    wait_for_calls(3);
    REQUIRE(event_status(marker) == CL_COMPLETE);
    REQUIRE(calls[0].status == CL_SUBMITTED && calls[1].status == CL_RUNNING && calls[2].status == CL_COMPLETE);
    // Of a failed event the callback is told how it failed.
    const cl_event bad = user_event();
    OK(clSetEventCallback(bad, CL_COMPLETE, opens, NULL));
    OK(clSetUserEventStatus(bad, -5));
    wait_for_calls(4);
    REQUIRE(calls[3].status == -5);
}

CASE(profiling_times_go_up) {
    const cl_command_queue queue = setup(CL_QUEUE_PROFILING_ENABLE), plain = setup(0);
    const cl_mem memory = zero(queue);
    const cl_event done = launch(queue, put(memory, 1), 1, 0, NULL);
    cl_ulong times[5];
    OK(clWaitForEvents(1, &done));
    for (cl_uint i = 0; i < 5; ++i) {
        OK(clGetEventProfilingInfo(done, i == 4 ? CL_PROFILING_COMMAND_COMPLETE : CL_PROFILING_COMMAND_QUEUED + i, sizeof(cl_ulong),
                                   &times[i], NULL));
        REQUIRE(times[i] != 0 && (i == 0 || times[i] >= times[i - 1]));
    }
    const cl_event other = launch(plain, put(memory, 2), 1, 0, NULL);
    OK(clWaitForEvents(1, &other));
    FAILS(CL_PROFILING_INFO_NOT_AVAILABLE, clGetEventProfilingInfo(other, CL_PROFILING_COMMAND_END, sizeof(cl_ulong), times, NULL));
    const cl_event user = user_event();
    FAILS(CL_PROFILING_INFO_NOT_AVAILABLE, clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_END, sizeof(cl_ulong), times, NULL));
}

CASE(wait_lists_are_checked) {
    const cl_command_queue queue = setup(0);
    cl_event event = user_event();
    FAILS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, NULL, NULL));
    FAILS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 0, &event, NULL));
    cl_event bad = (cl_event)queue;
    FAILS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, &bad, NULL));
    const cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    OK(status);
    cl_event foreign = clCreateUserEvent(other, &status);
    OK(status);
    FAILS(CL_INVALID_CONTEXT, clEnqueueMarkerWithWaitList(queue, 1, &foreign, NULL));
    FAILS(CL_INVALID_VALUE, clWaitForEvents(0, NULL));
    FAILS(CL_INVALID_EVENT, clWaitForEvents(1, &bad));
    OK(clSetUserEventStatus(event, CL_COMPLETE));
}

CASE(a_released_queue_runs_what_it_has) {
    const cl_command_queue queue = setup(0), other = setup(0);
    const cl_mem memory = zero(queue);
    const cl_event gate = user_event();
    const cl_event done = launch(queue, put(memory, 9), 1, 1, &gate);
    OK(clReleaseCommandQueue(queue));
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clWaitForEvents(1, &done));
    REQUIRE(read_int(other, memory) == 9);
}
