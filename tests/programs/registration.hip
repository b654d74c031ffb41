// A program whose code may not fit the device: it starts, asks, copies, and only the launch fails.
#include "case.hpp"

__device__ int variable = 4;

__global__ void set(int *value) { *value = variable; }

// argument 0: how the device's architecture must begin
CASE(runs) {
    hipDeviceProp_t properties;
    HIP_CHECK(hipGetDeviceProperties(&properties, 0));
    std::printf("%s\n", properties.gcnArchName);
    REQUIRE(std::strncmp(properties.gcnArchName, sample::argument(0), std::strlen(sample::argument(0))) == 0);
    int *const value = sample::pinned<int>(1);
    set<<<1, 1>>>(value);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*value == 4);
}

CASE(target_is_missing) {
    int devices = 0;
    HIP_CHECK(hipGetDeviceCount(&devices));
    REQUIRE(devices == 1);
    hipDeviceProp_t properties;
    HIP_CHECK(hipGetDeviceProperties(&properties, 0));
    sample::DeviceBuffer<int> value(std::vector<int>(1, 3));
    REQUIRE(value.read()[0] == 3);
    set<<<1, 1>>>(value.get());
    EXPECT_ERROR(hipGetLastError(), hipErrorNoBinaryForGpu);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(value.read()[0] == 3);
}

CASE(every_device) {
    int devices = 0;
    HIP_CHECK(hipGetDeviceCount(&devices));
    for (int device = 0; device < devices; ++device) {
        hipDeviceProp_t properties;
        HIP_CHECK(hipSetDevice(device));
        HIP_CHECK(hipGetDeviceProperties(&properties, device));
        const int new_value = 100 + device;
        HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(variable), &new_value, sizeof new_value));
        std::printf("%s\n", properties.gcnArchName);
    }
    for (int device = 0; device < devices; ++device) {
        HIP_CHECK(hipSetDevice(device));
        sample::DeviceBuffer<int> value(1);
        set<<<1, 1>>>(value.get());
        REQUIRE(value.read()[0] == 100 + device);
    }
}
