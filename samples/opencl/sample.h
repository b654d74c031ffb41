// What the OpenCL samples share: checks that end the program, the device, a queue, a built program.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>

// Ends the program with a line when a call fails.
#define CHECK(call) check((call), #call, __FILE__, __LINE__)
// Ends the program with a line when something is not as it must be.
#define EXPECT(condition)                                                                                                         \
    do {                                                                                                                          \
        if (!(condition)) {                                                                                                       \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                             \
            exit(EXIT_FAILURE);                                                                                                   \
        }                                                                                                                         \
    } while (0)

static inline void check(cl_int status, const char *call, const char *file, int line) {
    if (status != CL_SUCCESS) {
        fprintf(stderr, "%s:%d: %s: error %d\n", file, line, call, status);
        exit(EXIT_FAILURE);
    }
}

struct setup {
    cl_device_id device;
    cl_context context;
};

static inline struct setup set_up(void) {
    struct setup all;
    cl_platform_id platform;
    cl_int status;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &all.device, NULL));
    all.context = clCreateContext(NULL, 1, &all.device, NULL, NULL, &status);
    CHECK(status);
    return all;
}

static inline cl_command_queue make_queue(const struct setup *all, cl_command_queue_properties properties) {
    cl_int status;
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    const cl_command_queue queue = clCreateCommandQueueWithProperties(all->context, all->device, list, &status);
    CHECK(status);
    return queue;
}

static inline cl_kernel make_kernel(const struct setup *all, const char *source, const char *name) {
    cl_int status;
    const cl_program program = clCreateProgramWithSource(all->context, 1, &source, NULL, &status);
    CHECK(status);
    if (clBuildProgram(program, 1, &all->device, "", NULL, NULL) != CL_SUCCESS) {
        static char log[1 << 16];
        CHECK(clGetProgramBuildInfo(program, all->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
        fprintf(stderr, "%s", log);
        exit(EXIT_FAILURE);
    }
    const cl_kernel kernel = clCreateKernel(program, name, &status);
    CHECK(status);
    CHECK(clReleaseProgram(program));
    return kernel;
}

static inline cl_mem make_buffer(const struct setup *all, size_t size) {
    cl_int status;
    const cl_mem buffer = clCreateBuffer(all->context, CL_MEM_READ_WRITE, size, NULL, &status);
    CHECK(status);
    return buffer;
}

static inline cl_int status_of(cl_event event) {
    cl_int status;
    CHECK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}
