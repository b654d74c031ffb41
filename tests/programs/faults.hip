// Kernels that go wrong, and programs that hand in what they should not.
#include "case.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>
#include <vector>

using sample::DeviceBuffer;
using sample::pinned;

__global__ void write_at(int *address) {
    address[threadIdx.x] = 1;
}

__global__ void read_at(const int *address, int *value) { *value = *address; }

__global__ void write_past_the_end(int *values, int length) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index <= length) { // one too many
        values[index] = index;
    }
}

__global__ void never_ends(volatile int *flag) {
    while (*flag == 0) {
    }
}

__global__ void traps() { __builtin_trap(); }

// Division by zero is enabled; lane 3 alone divides by zero.
__global__ void divides_by_zero(float *out) {
    asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 14, 1), 1");
    const float divisor = threadIdx.x == 3 ? 0.0f : 1.0f;
    float result;
    asm volatile("v_rcp_f32 %0, %1" : "=v"(result) : "v"(divisor));
    out[threadIdx.x] = result;
}

// The first wave waits at a barrier; the second one stops, with LDS filled and a known value in a register.
__global__ void stops_in_the_second_wave(unsigned *out, unsigned tag) {
    __shared__ unsigned words[64];
    if (threadIdx.x < 64) {
        words[threadIdx.x] = tag + threadIdx.x;
    }
    __syncthreads();
    if (threadIdx.x >= 64) {
        asm volatile("s_trap 2" : : "v"(2 * tag + threadIdx.x));
    }
    __syncthreads();
    out[threadIdx.x] = words[63 - threadIdx.x % 64];
}

// An encoding that no instruction has: the major opcode 0x3F with all bits set.
__global__ void illegal_instruction(int *value) {
    asm volatile(".long 0xffffffff\n.long 0xffffffff");
    *value = 1;
}

__global__ void set(int *value) { *value = 1; }

__global__ __launch_bounds__(64) void bounded(int *value) { *value = 1; }

__global__ void uses_dynamic_lds(int *value) {
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    *value = words[0] + 1;
}

// The bad kernel ran: the next synchronisation says so.
static void expect_fault() {
    HIP_CHECK(hipGetLastError()); // the launch itself was fine
    EXPECT_ERROR(hipDeviceSynchronize(), hipErrorIllegalAddress);
    std::printf("the fault was reported\n");
}

CASE(null_pointer) {
    write_at<<<1, 64>>>(nullptr);
    expect_fault();
}

CASE(wild_pointer) {
    write_at<<<1, 64>>>(reinterpret_cast<int *>(0x123456789000));
    expect_fault();
}

CASE(read_of_a_wild_pointer) {
    read_at<<<1, 1>>>(reinterpret_cast<const int *>(0x10), pinned<int>(1));
    expect_fault();
}

CASE(past_the_end) {
    // A whole number of pages, so that no rounding of the allocation hides the write.
    constexpr int length = 1 << 20;
    int *values = nullptr;
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&values), length * sizeof(int)));
    write_past_the_end<<<length / 256 + 1, 256>>>(values, length);
    expect_fault();
}

CASE(use_after_free) {
    int *values = nullptr;
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&values), 1 << 20));
    HIP_CHECK(hipFree(values));
    write_at<<<1, 64>>>(values);
    expect_fault();
}

CASE(stack_pointer) {
    int on_the_stack[64];
    write_at<<<1, 64>>>(on_the_stack);
    expect_fault();
}

// A card need not see registered memory at the host's address: only the pointer that is asked for works everywhere.
CASE(host_address_of_registered_memory) {
    std::vector<int> values(100000, 0);
    int *device = nullptr;
    HIP_CHECK(hipHostRegister(values.data(), values.size() * sizeof(int), hipHostRegisterMapped));
    HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), values.data(), 0));
    write_at<<<1, 64>>>(device);
    HIP_CHECK(hipDeviceSynchronize());
    std::fprintf(stderr, "expected: %p\n", static_cast<void *>(device));
    write_at<<<1, 64>>>(values.data());
    expect_fault();
}

// The stream's own synchronisation reports the fault too, and copies behind it fail rather than hang.
CASE(fault_in_a_stream) {
    int *const value = pinned<int>(1);
    DeviceBuffer<int> device(16);
    const hipStream_t stream = sample::create_stream();
    sample::Gate gate; // the copy is enqueued before the fault: afterwards it would be refused
    gate.close(stream);
    write_at<<<1, 64, 0, stream>>>(nullptr);
    HIP_CHECK(hipMemcpyAsync(value, device.get(), sizeof(int), hipMemcpyDeviceToHost, stream));
    gate.open();
    EXPECT_ERROR(hipStreamSynchronize(stream), hipErrorIllegalAddress);
    std::printf("the fault was reported\n");
    std::_Exit(EXIT_SUCCESS); // the device is lost: nothing of it is freed
}

CASE(trap) {
    traps<<<1, 64>>>();
    HIP_CHECK(hipGetLastError());
    const hipError_t error = hipDeviceSynchronize();
    std::printf("%s\n", hipGetErrorName(error));
    REQUIRE(error == hipErrorLaunchFailure || error == hipErrorUnknown);
}

CASE(float_exception) {
    float *out = nullptr;
    HIP_CHECK(hipMalloc(&out, 64 * sizeof(float)));
    divides_by_zero<<<1, 64>>>(out);
    HIP_CHECK(hipGetLastError());
    const hipError_t error = hipDeviceSynchronize();
    std::printf("%s\n", hipGetErrorName(error));
    REQUIRE(error == hipErrorLaunchFailure || error == hipErrorUnknown);
}

CASE(core_dump) {
    stops_in_the_second_wave<<<1, 128>>>(pinned<unsigned>(128), 0x01000000u);
    HIP_CHECK(hipGetLastError());
    const hipError_t error = hipDeviceSynchronize();
    REQUIRE(error == hipErrorLaunchFailure || error == hipErrorUnknown);
}

CASE(illegal_instruction) {
    int *const value = pinned<int>(1);
    illegal_instruction<<<1, 64>>>(value);
    const hipError_t launch = hipGetLastError();
    const hipError_t error = launch == hipSuccess ? hipDeviceSynchronize() : launch;
    std::printf("%s\n", hipGetErrorName(error));
    REQUIRE(error != hipSuccess);
    REQUIRE(*value == 0);
}

// A kernel that never ends, and a signal for the process while a thread waits for it.
CASE(endless_interrupted) {
    std::thread([] {
        // The signal is for the thread that waits.
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        kill(getpid(), SIGTERM);
    }).detach();
    int *flag = nullptr;
    HIP_CHECK(hipMalloc(&flag, sizeof(int)));
    HIP_CHECK(hipMemset(flag, 0, sizeof(int)));
    never_ends<<<1, 64>>>(flag);
    HIP_CHECK(hipDeviceSynchronize());
}

CASE(endless) {
    int *const flag = pinned<int>(1, hipHostMallocCoherent);
    never_ends<<<1, 64>>>(flag);
    HIP_CHECK(hipGetLastError());
    const hipError_t error = hipDeviceSynchronize();
    std::printf("%s\n", hipGetErrorName(error));
    REQUIRE(error == hipErrorLaunchTimeOut);
}

CASE(launch_limits) {
    int *const value = pinned<int>(1);
    const auto refused = [value](dim3 grid, dim3 block, std::size_t lds, hipError_t want) {
        set<<<grid, block, lds>>>(value);
        EXPECT_ERROR(hipGetLastError(), want);
        HIP_CHECK(hipDeviceSynchronize());
        REQUIRE(*value == 0);
    };
    refused(dim3(1), dim3(1025), 0, hipErrorInvalidConfiguration);
    refused(dim3(1), dim3(32, 33), 0, hipErrorInvalidConfiguration);
    refused(dim3(1), dim3(0), 0, hipErrorInvalidValue);
    refused(dim3(0), dim3(64), 0, hipErrorInvalidValue);
    refused(dim3(67108864), dim3(128), 0, hipErrorInvalidConfiguration);
    refused(dim3(1), dim3(64), 1 << 20, hipErrorOutOfMemory);
    bounded<<<1, 128>>>(value);
    EXPECT_ERROR(hipGetLastError(), hipErrorLaunchFailure);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*value == 0);
    uses_dynamic_lds<<<1, 64, 32768>>>(value);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*value == 1);
}

CASE(null_arguments) {
    int count = 0;
    hipDeviceProp_t properties;
    EXPECT_ERROR(hipGetDeviceCount(nullptr), hipErrorInvalidValue);
    EXPECT_ERROR(hipGetDevice(nullptr), hipErrorInvalidValue);
    EXPECT_ERROR(hipGetDeviceProperties(nullptr, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipGetDeviceProperties(&properties, 99), hipErrorInvalidDevice);
    EXPECT_ERROR(hipGetDeviceProperties(&properties, -1), hipErrorInvalidDevice);
    EXPECT_ERROR(hipSetDevice(1000), hipErrorInvalidDevice);
    EXPECT_ERROR(hipDeviceGetAttribute(nullptr, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipDeviceGetAttribute(&count, hipDeviceAttributeWarpSize, 99), hipErrorInvalidDevice);
    EXPECT_ERROR(hipInit(1), hipErrorInvalidValue);
    EXPECT_ERROR(hipModuleLoad(nullptr, "file"), hipErrorInvalidValue);
    hipFuncAttributes attributes;
    EXPECT_ERROR(hipFuncGetAttributes(&attributes, nullptr), hipErrorInvalidValue);
    EXPECT_ERROR(hipLaunchKernel(&count, dim3(1), dim3(1), nullptr, 0, nullptr), hipErrorInvalidDeviceFunction);
    (void)hipGetLastError();
    int *const value = pinned<int>(1);
    set<<<1, 1>>>(value);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*value == 1);
}

// Lookups that fail do not spoil the launches after them. argument 0: a good module
CASE(missing_modules_and_kernels) {
    hipModule_t module;
    hipFunction_t function;
    EXPECT_ERROR(hipModuleLoad(&module, "/no/such/file"), hipErrorFileNotFound);
    const char garbage[256] = "this is no code object";
    const hipError_t error = hipModuleLoadData(&module, garbage);
    REQUIRE(error == hipErrorInvalidImage || error == hipErrorNoBinaryForGpu || error == hipErrorInvalidKernelFile);
    HIP_CHECK(hipModuleLoad(&module, sample::argument(0)));
    EXPECT_ERROR(hipModuleGetFunction(&function, module, "no_such_kernel"), hipErrorNotFound);
    hipDeviceptr_t address = nullptr;
    std::size_t size = 0;
    EXPECT_ERROR(hipModuleGetGlobal(&address, &size, module, "no_such_variable"), hipErrorNotFound);
    int *const value = pinned<int>(1);
    set<<<1, 1>>>(value);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*value == 1);
    HIP_CHECK(hipModuleUnload(module));
}

// A module cut off or changed at many places loads or is refused; it never crashes. argument 0: a good module, 1: a scratch file
CASE(damaged_modules) {
    std::ifstream input(sample::argument(0), std::ios::binary);
    const std::vector<char> good((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
    REQUIRE(good.size() > 1000);
    const auto load = [](const std::vector<char> &bytes) {
        std::ofstream output(sample::argument(1), std::ios::binary | std::ios::trunc);
        output.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        output.close();
        hipModule_t module;
        const hipError_t error = hipModuleLoad(&module, sample::argument(1));
        if (error == hipSuccess) {
            HIP_CHECK(hipModuleUnload(module));
        }
        return error;
    };
    REQUIRE(load(good) == hipSuccess);
    REQUIRE(load({}) != hipSuccess);
    // The code object's section table is at the end of the file: no cut leaves a whole one.
    for (std::size_t length = 1; length < good.size() - 64; length += 1 + good.size() / 200) {
        REQUIRE(load(std::vector<char>(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))) != hipSuccess);
    }
    sample::Random random(11);
    for (int round = 0; round < 300; ++round) {
        std::vector<char> changed = good;
        for (int flips = 0; flips < 3; ++flips) {
            changed[random.next() % changed.size()] ^= static_cast<char>(1 << random.next() % 8);
        }
        (void)load(changed);
    }
    // Headers that claim more than there is: the count, the first offset, the first size of the bundle.
    for (const std::size_t field : {24, 32, 40, 48}) {
        for (const std::uint64_t value : {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 32, std::uint64_t{12345678}}) {
            std::vector<char> lying = good;
            std::memcpy(&lying[field], &value, sizeof value);
            (void)load(lying);
        }
    }
    REQUIRE(load(good) == hipSuccess);
}
