// HIP and OpenCL in one process: each computes, on its own queue, and the results agree.

#include "check.hpp"

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <cstdio>
#include <vector>

__global__ void square(const int *in, int *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * in[i];
}

static const char *const source = "kernel void square(global const int *in, global int *out) {\n"
                                  "    size_t i = get_global_id(0);\n"
                                  "    out[i] = in[i] * in[i];\n"
                                  "}\n";

static void check(cl_int status, int line) {
    if (status != CL_SUCCESS) {
        std::fprintf(stderr, "line %d: OpenCL error %d\n", line, status);
        std::exit(EXIT_FAILURE);
    }
}
#define CL_CHECK(call) check((call), __LINE__)

int main() {
    constexpr std::size_t count = 1024, size = count * sizeof(int);
    std::vector<int> in(count), from_hip(count), from_opencl(count);
    for (std::size_t i = 0; i < count; ++i) {
        in[i] = static_cast<int>(i) - 500;
    }
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    CL_CHECK(clGetPlatformIDs(1, &platform, nullptr));
    CL_CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, nullptr));
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    CL_CHECK(status);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &status);
    CL_CHECK(status);
    cl_program program = clCreateProgramWithSource(context, 1, const_cast<const char **>(&source), nullptr, &status);
    CL_CHECK(status);
    CL_CHECK(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
    cl_kernel kernel = clCreateKernel(program, "square", &status);
    CL_CHECK(status);
    cl_mem buffers[2];
    for (cl_uint i = 0; i < 2; ++i) {
        buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &status);
        CL_CHECK(status);
        CL_CHECK(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]));
    }
    int *hip_in, *hip_out;
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&hip_in), size));
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&hip_out), size));

    // Both at work at the same time.
    for (int round = 0; round < 10; ++round) {
        CL_CHECK(clEnqueueWriteBuffer(queue, buffers[0], CL_FALSE, 0, size, in.data(), 0, nullptr, nullptr));
        HIP_CHECK(hipMemcpyAsync(hip_in, in.data(), size, hipMemcpyHostToDevice, nullptr));
        CL_CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &count, nullptr, 0, nullptr, nullptr));
        square<<<count / 64, 64>>>(hip_in, hip_out);
        HIP_CHECK(hipGetLastError());
    }
    CL_CHECK(clEnqueueReadBuffer(queue, buffers[1], CL_TRUE, 0, size, from_opencl.data(), 0, nullptr, nullptr));
    HIP_CHECK(hipMemcpy(from_hip.data(), hip_out, size, hipMemcpyDeviceToHost));
    for (std::size_t i = 0; i < count; ++i) {
        if (from_hip[i] != in[i] * in[i] || from_opencl[i] != in[i] * in[i]) {
            std::fprintf(stderr, "at %zu: HIP %d, OpenCL %d\n", i, from_hip[i], from_opencl[i]);
            return EXIT_FAILURE;
        }
    }
    std::printf("both: PASSED\n");
}
