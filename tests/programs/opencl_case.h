// OpenCL programs with many small cases: one source, one compilation, the case is the first argument.
//
//     CASE(name) { REQUIRE(1 + 1 == 2); }
//
// A case passes when it returns; REQUIRE, OK and FAILS end the process with exit code 1 and say what was wrong.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                                                        \
    do {                                                                                                                          \
        if (!(condition)) {                                                                                                       \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                             \
            exit(EXIT_FAILURE);                                                                                                   \
        }                                                                                                                         \
    } while (0)

// The call must return exactly this status.
#define FAILS(status, call)                                                                                                       \
    do {                                                                                                                          \
        const cl_int got_ = (call);                                                                                               \
        if (got_ != (status)) {                                                                                                   \
            fprintf(stderr, "%s:%d: %s returned %d, not %s\n", __FILE__, __LINE__, #call, got_, #status);                         \
            exit(EXIT_FAILURE);                                                                                                   \
        }                                                                                                                         \
    } while (0)

#define OK(call) FAILS(CL_SUCCESS, call)

struct test_case {
    const char *name;
    void (*body)(void);
    struct test_case *next;
};

static struct test_case *test_cases;

#define CASE(case_name)                                                                                                           \
    static void case_##case_name(void);                                                                                           \
    static struct test_case entry_##case_name = {#case_name, case_##case_name, NULL};                                             \
    __attribute__((constructor)) static void register_##case_name(void) {                                                         \
        entry_##case_name.next = test_cases;                                                                                      \
        test_cases = &entry_##case_name;                                                                                          \
    }                                                                                                                             \
    static void case_##case_name(void)

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_int status;

// The context, and a queue with properties.
static inline cl_command_queue setup(cl_command_queue_properties properties) {
    if (context == NULL) {
        OK(clGetPlatformIDs(1, &platform, NULL));
        OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
        context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
        OK(status);
    }
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    const cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, list, &status);
    OK(status);
    return queue;
}

static inline cl_mem buffer(size_t size) {
    const cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, &status);
    OK(status);
    return memory;
}

// A program, built with options; prints the log where that fails.
static inline cl_program build(const char *source, const char *options) {
    const cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    OK(status);
    status = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (status != CL_SUCCESS) {
        static char log[65536];
        OK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
        fprintf(stderr, "%s", log);
    }
    OK(status);
    return program;
}

static inline cl_kernel kernel_of(cl_program program, const char *name) {
    const cl_kernel kernel = clCreateKernel(program, name, &status);
    OK(status);
    return kernel;
}

static inline cl_kernel make_kernel(const char *source, const char *name) {
    return kernel_of(build(source, ""), name);
}

static inline void set(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    OK(clSetKernelArg(kernel, index, size, value));
}

static inline cl_event launch(cl_command_queue queue, cl_kernel kernel, size_t size, cl_uint waits, const cl_event *list) {
    cl_event event;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, waits, list, &event));
    return event;
}

static inline cl_int event_status(cl_event event) {
    cl_int now;
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof now, &now, NULL));
    return now;
}

static inline cl_event user_event(void) {
    const cl_event event = clCreateUserEvent(context, &status);
    OK(status);
    return event;
}

int main(int argc, char **argv) {
    for (const struct test_case *entry = test_cases; entry != NULL; entry = entry->next) {
        if (argc > 1 && strcmp(entry->name, argv[1]) == 0) {
            entry->body();
            return EXIT_SUCCESS;
        }
    }
    fprintf(stderr, "usage: %s CASE; the cases are:\n", argv[0]);
    for (const struct test_case *entry = test_cases; entry != NULL; entry = entry->next) {
        fprintf(stderr, "  %s\n", entry->name);
    }
    return 2;
}
