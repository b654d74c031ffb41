// Launches, their arguments and limits, and the calls around them.
#include "case.hpp"

#include <cstddef>
#include <dlfcn.h>
#include <fstream>
#include <hip/hip_ext.h>
#include <iterator>

// Not in the anonymous namespace: this compiler hides such variables from the runtime.
__device__ int counters[64] = {1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                               0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64};

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

// Its three bytes at the end leave a hole before the argument that follows.
struct Record {
    double3 origin, step, size;
    double a, b, c;
    uchar3 tail;
};

__global__ void read_record(unsigned first, Record record, double3 *out, unsigned last) {
    out[0] = make_double3(first, record.origin.y + record.size.z, record.tail.z);
    out[1] = make_double3(record.a, record.b, record.c);
    out[2] = make_double3(last, last, last);
}

__global__ void multiply(const float *a, const float *b, float *c, int side, float factor) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int inner = 0; inner < side; ++inner) {
        sum += a[row * side + inner] * b[inner * side + column];
    }
    c[row * side + column] = factor * sum;
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
    double3 *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, 3 * sizeof(double3)));
    const Record record = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, 10, 11, 12, {13, 14, 15}};
    read_record<<<1, 1>>>(456, record, memory, 789);
    HIP_CHECK(hipGetLastError());
    const std::vector<double3> values = read(memory, 3);
    REQUIRE(values[0].x == 456 && values[0].y == 2 + 9 && values[0].z == 15);
    REQUIRE(values[1].x == 10 && values[1].y == 11 && values[1].z == 12);
    REQUIRE(values[2].x == 789 && values[2].y == 789 && values[2].z == 789);
    HIP_CHECK(hipFree(memory));
}

// One kernel, its arguments in the three ways that there are: the results are the same.
CASE(arguments_in_three_ways) {
    constexpr int side = 48;
    std::vector<float> left(side * side), right(side * side), want(side * side);
    for (int index = 0; index < side * side; ++index) {
        left[index] = static_cast<float>(index % 17 - 8);
        right[index] = static_cast<float>(index % 23 - 11);
    }
    for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
            float sum = 0;
            for (int inner = 0; inner < side; ++inner) {
                sum += left[row * side + inner] * right[inner * side + column];
            }
            want[row * side + column] = 0.5f * sum;
        }
    }
    const sample::DeviceBuffer<float> a(left), b(right);
    sample::DeviceBuffer<float> c(side * side);
    using GetFunction = hipError_t (*)(hipFunction_t *, const void *);
    const auto get_function = reinterpret_cast<GetFunction>(dlsym(RTLD_DEFAULT, "hipGetFuncBySymbol"));
    REQUIRE(get_function != nullptr);
    hipFunction_t function;
    HIP_CHECK(get_function(&function, reinterpret_cast<const void *>(multiply)));
    const auto correct = [&] {
        REQUIRE(c.read() == want);
        HIP_CHECK(hipMemset(c.get(), 0, side * side * sizeof(float)));
    };
    const dim3 grid(side / 16, side / 16), block(16, 16);
    multiply<<<grid, block>>>(a.get(), b.get(), c.get(), side, 0.5f);
    correct();
    const float *first = a.get(), *second = b.get();
    float *result = c.get(), factor = 0.5f;
    int length = side;
    void *pointers[] = {&first, &second, &result, &length, &factor};
    HIP_CHECK(hipModuleLaunchKernel(function, grid.x, grid.y, 1, block.x, block.y, 1, 0, nullptr, pointers, nullptr));
    correct();
    struct {
        const float *a, *b;
        float *c;
        int side;
        float factor;
    } packed = {first, second, result, length, factor};
    std::size_t size = sizeof packed;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    HIP_CHECK(hipModuleLaunchKernel(function, grid.x, grid.y, 1, block.x, block.y, 1, 0, nullptr, nullptr, extra));
    correct();
    // One argument less than there are.
    size = offsetof(decltype(packed), factor);
    EXPECT_ERROR(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), hipErrorInvalidValue);
}

// argument 0: a module of two targets, compressed or not: the kernels of the C samples
CASE(module_of_two_targets) {
    const char *const path = sample::argument(0);
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    REQUIRE(!bytes.empty());
    for (const bool from_memory : {false, true}) {
        hipModule_t module;
        HIP_CHECK(from_memory ? hipModuleLoadData(&module, bytes.data()) : hipModuleLoad(&module, path));
        hipFunction_t function;
        HIP_CHECK(hipModuleGetFunction(&function, module, "scale_and_add"));
        sample::DeviceBuffer<unsigned> values(std::vector<unsigned>(100, 3));
        unsigned *memory = values.get(), factor = 5, addend = 7, length = 100;
        void *arguments[] = {&memory, &factor, &addend, &length};
        HIP_CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
        REQUIRE(values.read() == std::vector<unsigned>(100, 22));
        HIP_CHECK(hipModuleUnload(module));
    }
}

// Resident memory of this process, in KiB.
static long resident_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "VmRSS:") {
            long kib = 0;
            status >> kib;
            return kib;
        }
    }
    return -1;
}

// argument 0: a module of the C samples. What is unloaded leaves nothing behind.
CASE(ten_thousand_modules) {
    std::ifstream file(sample::argument(0), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    long before = 0;
    for (int round = 0; round < 10000; ++round) {
        hipModule_t module;
        hipFunction_t function;
        HIP_CHECK(hipModuleLoadData(&module, bytes.data()));
        HIP_CHECK(hipModuleGetFunction(&function, module, "add"));
        HIP_CHECK(hipModuleUnload(module));
        if (round == 999) {
            before = resident_kib();
        }
    }
    const long growth = resident_kib() - before;
    std::printf("%ld KiB more after 9000 more modules\n", growth);
    REQUIRE(before > 0 && growth < 2048);
}

CASE(launch_errors) {
    int *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, 4096));
    HIP_CHECK(hipMemset(memory, 0, 4096));
    bounded<<<1, 512>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorLaunchFailure);
    bounded<<<1, 4096>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorInvalidConfiguration);
    bounded<<<67108864, 128>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorInvalidConfiguration);
    reverse<<<1, 64, 1 << 20>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorOutOfMemory);
    bounded<<<1, dim3(0, 1, 1)>>>(memory);
    EXPECT_ERROR(hipGetLastError(), hipErrorInvalidValue);
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

__global__ void last_item(unsigned *result) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index == 0xFFFFFFFEu) {
        result[0] = blockIdx.x;
        result[1] = gridDim.x;
    }
}

// A grid of 2^32 - 1 items in whole blocks; one block more is refused.
CASE(the_largest_grid) {
    constexpr unsigned threads = 771, blocks = 0xFFFFFFFFu / threads;
    static_assert(threads * blocks == 0xFFFFFFFFu, "whole blocks");
    unsigned *const result = sample::pinned<unsigned>(2);
    last_item<<<blocks + 1, threads>>>(result);
    EXPECT_ERROR(hipGetLastError(), hipErrorInvalidConfiguration);
    last_item<<<blocks, threads>>>(result);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(result[0] == blocks - 1 && result[1] == blocks);
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
}

// What a launch is refused with, and what can be set for a kernel, in the words of the version that the program links.
CASE(refusals) {
    int *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, 4096));
    const auto refused = [](const char *what, hipError_t error) {
        std::printf("%s: %s\n", what, hipGetErrorName(error));
        (void)hipGetLastError();
    };
    const void *const kernel = reinterpret_cast<const void *>(bounded);
    void *argument = &memory;
    const auto launch = [&](unsigned blocks, unsigned threads, std::size_t lds) {
        return hipLaunchKernel(kernel, dim3(blocks), dim3(threads), &argument, lds, nullptr);
    };
    const auto together = [&](unsigned blocks, unsigned threads, unsigned lds, hipStream_t stream = nullptr) {
        return hipLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), &argument, lds, stream);
    };
    refused("no blocks", launch(0, 64, 0));
    refused("no threads", launch(1, 0, 0));
    refused("a big block", launch(1, 1025, 0));
    refused("much LDS", launch(1, 64, 65537));
    refused("past the bounds with much LDS", launch(1, 512, 65537));
    refused("together: a big block", together(1, 1025, 0));
    refused("together: much LDS", together(1, 64, 65537));
    const hipStream_t stream = sample::create_stream();
    HIP_CHECK(hipStreamDestroy(stream));
    refused("together: a stream that is gone", together(1, 64, 0, stream));
    refused("together: no kernel",
            hipLaunchCooperativeKernel(static_cast<const void *>(memory), dim3(1), dim3(1), &argument, 0, nullptr));
    const hipEvent_t event = sample::create_event();
    HIP_CHECK(hipEventDestroy(event));
    const auto extended = static_cast<hipError_t (*)(const void *, dim3, dim3, void **, std::size_t, hipStream_t, hipEvent_t, hipEvent_t, int)>(
        hipExtLaunchKernel);
    refused("an event that is gone", extended(kernel, dim3(1), dim3(64), &argument, 0, nullptr, event, nullptr, 0));

    hipFuncAttributes attributes;
    refused("attributes of no kernel", hipFuncGetAttributes(&attributes, nullptr));
    refused("too much to set", hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 65537));
    refused("a preference too much", hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout, 101));
    HIP_CHECK(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 4096));
    HIP_CHECK(hipFuncGetAttributes(&attributes, kernel));
    std::printf("dynamic LDS: %d\n", attributes.maxDynamicSharedSizeBytes);
    // It limits no launch.
    HIP_CHECK(launch(1, 64, 65536));
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipFree(memory));
}

// All blocks of a cooperative launch have to be there at once.
CASE(cooperative_launches_fit_on_the_device) {
    int *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, 4096));
    void *argument = &memory;
    const void *const kernel = reinterpret_cast<const void *>(bounded);
    int per_unit = 0, units = 0;
    HIP_CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
    for (const unsigned lds : {0u, 32768u}) {
        HIP_CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, kernel, 256, lds));
        const unsigned most = static_cast<unsigned>(per_unit * units);
        HIP_CHECK(hipLaunchCooperativeKernel(kernel, dim3(most), dim3(256), &argument, lds, nullptr));
        EXPECT_ERROR(hipLaunchCooperativeKernel(kernel, dim3(most + 1), dim3(256), &argument, lds, nullptr), hipErrorCooperativeLaunchTooLarge);
    }
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipFree(memory));
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
    int values[64];
    HIP_CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(counters), sizeof values));
    REQUIRE(values[0] == 17 && values[3] == 20 && values[62] == 0 && values[63] == 64);
    const int other = 1000;
    HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(counters), &other, sizeof other, 63 * sizeof(int)));
    HIP_CHECK(hipDeviceReset());
    HIP_CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(counters), sizeof values));
    REQUIRE(values[0] == 1 && values[3] == 4 && values[62] == 0 && values[63] == 64);
}

CASE(variables_by_address) {
    int *address = nullptr;
    std::size_t size = 0;
    HIP_CHECK(hipGetSymbolAddress(reinterpret_cast<void **>(&address), HIP_SYMBOL(counters)));
    HIP_CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(counters)));
    REQUIRE(size == sizeof counters);
    const int value = 99;
    HIP_CHECK(hipMemcpy(address + 2, &value, sizeof value, hipMemcpyHostToDevice));
    int values[64];
    HIP_CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(counters), sizeof values));
    REQUIRE(values[1] == 2 && values[2] == 99);
    EXPECT_ERROR(hipMemcpy(address + 2, values, 63 * sizeof(int), hipMemcpyHostToDevice), hipErrorInvalidValue);
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
    int values[64];
    HIP_CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(counters), sizeof values));
    REQUIRE(values[0] == 17);
}
