// Launches, their arguments and limits, and the calls around them.
#include "case.hpp"

#include <hip/hip_ext.h>

// Not in the anonymous namespace: this compiler hides such variables from the runtime.
__device__ int counters[4] = {1, 2, 3, 4};

namespace {

__global__ void reverse(int *out) {
    extern __shared__ int shared[];
    const int last = blockDim.x - 1;
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = shared[last - threadIdx.x];
}

// The compiler turns 63 - x into a negative register and a positive offset.
__global__ void reverse_64(int *out) {
    extern __shared__ int shared[];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = shared[63 - threadIdx.x];
}

struct Record {
    double a[3];
    double b[3];
    uchar3 tail;
};

__global__ void read_record(unsigned first, Record record, double *out, unsigned last) {
    out[0] = first;
    out[1] = record.a[1] + record.b[2] + record.tail.y;
    out[2] = last;
}

__global__ void __launch_bounds__(256) bounded(int *out) { out[threadIdx.x] = 1; }

__global__ void count() { atomicAdd(&counters[threadIdx.x & 3], 1); }

template <typename T> std::vector<T> read(const T *memory, std::size_t length) {
    std::vector<T> values(length);
    HIP_CHECK(hipMemcpy(values.data(), memory, length * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

} // namespace

CASE(shared_memory_below_a_negative_base) {
    int *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, 64 * sizeof(int)));
    for (auto *kernel : {reverse, reverse_64}) {
        kernel<<<1, 64, 64 * sizeof(int)>>>(memory);
        HIP_CHECK(hipGetLastError());
        const std::vector<int> values = read(memory, 64);
        for (int i = 0; i < 64; ++i) {
            REQUIRE(values[i] == 63 - i);
        }
    }
    HIP_CHECK(hipFree(memory));
}

CASE(record_arguments) {
    double *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, 3 * sizeof(double)));
    const Record record = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    read_record<<<1, 1>>>(456, record, memory, 789);
    HIP_CHECK(hipGetLastError());
    const std::vector<double> values = read(memory, 3);
    REQUIRE(values[0] == 456 && values[1] == 2 + 6 + 8 && values[2] == 789);
    HIP_CHECK(hipFree(memory));
}

CASE(launch_errors) {
    int *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, 4096));
    HIP_CHECK(hipMemset(memory, 0, 4096));
    bounded<<<1, 512>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorLaunchFailure);
    bounded<<<1, 4096>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorInvalidValue);
    bounded<<<67108864, 128>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorInvalidConfiguration);
    reverse<<<1, 64, 1 << 20>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorInvalidValue);
    bounded<<<1, dim3(0, 1, 1)>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorInvalidConfiguration);
    EXPECT_ERROR(hipLaunchKernel(memory, dim3(1), dim3(1), nullptr, 0, nullptr), hipErrorInvalidDeviceFunction);
    EXPECT_ERROR(hipLaunchKernel(reinterpret_cast<const void *>(bounded), dim3(1), dim3(1), nullptr, 0, nullptr), hipErrorInvalidValue);
    HIP_CHECK(hipDeviceSynchronize());
    for (const int value : read(memory, 1024)) {
        REQUIRE(value == 0);
    }
    bounded<<<1, 256>>>(memory);
    HIP_CHECK(hipGetLastError());
    REQUIRE(read(memory, 256)[255] == 1);
    HIP_CHECK(hipFree(memory));
}

CASE(kernel_attributes) {
    const void *const kernel = reinterpret_cast<const void *>(bounded);
    hipFuncAttributes attributes;
    HIP_CHECK(hipFuncGetAttributes(&attributes, kernel));
    REQUIRE(attributes.maxThreadsPerBlock == 256);
    int blocks = 0;
    HIP_CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
    REQUIRE(blocks > 0);
    HIP_CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 257, 0));
    REQUIRE(blocks == 0);
    EXPECT_ERROR(hipOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, kernel, 256, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 1 << 24), hipErrorInvalidValue);
    HIP_CHECK(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 4096));
    EXPECT_ERROR(hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout, 101), hipErrorInvalidValue);
}

CASE(events_around_a_launch) {
    const hipEvent_t start = sample::create_event(), stop = sample::create_event();
    hipExtLaunchKernelGGL(count, dim3(4), dim3(64), 0, nullptr, start, stop, 0);
    HIP_CHECK(hipEventSynchronize(stop));
    float milliseconds = -1;
    HIP_CHECK(hipEventElapsedTime(&milliseconds, start, stop));
    REQUIRE(milliseconds >= 0);
}

CASE(reset_gives_initial_values) {
    count<<<1, 64>>>();
    int values[4];
    HIP_CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(counters), sizeof values));
    REQUIRE(values[0] == 17 && values[3] == 20);
    HIP_CHECK(hipDeviceReset());
    HIP_CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(counters), sizeof values));
    REQUIRE(values[0] == 1 && values[3] == 4);
}

CASE(variables_by_address) {
    int *address = nullptr;
    std::size_t size = 0;
    HIP_CHECK(hipGetSymbolAddress(reinterpret_cast<void **>(&address), HIP_SYMBOL(counters)));
    HIP_CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(counters)));
    REQUIRE(size == sizeof counters);
    const int value = 99;
    HIP_CHECK(hipMemcpy(address + 2, &value, sizeof value, hipMemcpyHostToDevice));
    int values[4];
    HIP_CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(counters), sizeof values));
    REQUIRE(values[1] == 2 && values[2] == 99);
    EXPECT_ERROR(hipMemcpy(address + 2, values, 3 * sizeof(int), hipMemcpyHostToDevice), hipErrorInvalidValue);
    hipPointerAttribute_t attributes;
    HIP_CHECK(hipPointerGetAttributes(&attributes, address));
    REQUIRE(attributes.memoryType == hipMemoryTypeDevice);
}

CASE(pool_memory) {
    const hipStream_t stream = sample::create_stream();
    std::size_t free_before = 0, free_after = 0, total = 0;
    HIP_CHECK(hipMemGetInfo(&free_before, &total));
    void *first = nullptr, *second = nullptr;
    HIP_CHECK(hipMallocAsync(&first, 1 << 20, stream));
    HIP_CHECK(hipMemsetAsync(first, 3, 1 << 20, stream));
    HIP_CHECK(hipFreeAsync(first, stream));
    HIP_CHECK(hipMallocAsync(&second, 1 << 20, stream));
    REQUIRE(first == second);
    HIP_CHECK(hipFreeAsync(second, stream));
    EXPECT_ERROR(hipFreeAsync(second, stream), hipErrorInvalidValue);
    HIP_CHECK(hipStreamSynchronize(stream));
    HIP_CHECK(hipMemGetInfo(&free_after, &total));
    REQUIRE(free_after == free_before);
    HIP_CHECK(hipStreamDestroy(stream));
}

CASE(reset_after_a_fault) {
    count<<<1, 64>>>();
    bounded<<<1, 64>>>(nullptr);
    EXPECT_ERROR(hipDeviceSynchronize(), hipErrorIllegalAddress);
    EXPECT_ERROR(hipDeviceSynchronize(), hipErrorIllegalAddress);
    HIP_CHECK(hipDeviceReset());
    count<<<1, 64>>>();
    HIP_CHECK(hipDeviceSynchronize());
    int values[4];
    HIP_CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(counters), sizeof values));
    REQUIRE(values[0] == 17);
}
