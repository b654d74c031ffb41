// Calls that are mistakes and that AMD's runtime lets pass, so that programs have them, and what it refuses them with.
#include "case.hpp"

#include <sys/mman.h>
#include <vector>

using sample::create_stream;
using sample::pinned;

__global__ void add_one(int *values, int length) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < length) {
        values[index] += 1;
    }
}

template <typename T> static T *device_memory(std::size_t size) {
    void *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, size));
    return static_cast<T *>(memory);
}

static std::size_t free_memory() {
    std::size_t free = 0;
    HIP_CHECK(hipMemGetInfo(&free, nullptr));
    return free;
}

// Every function that frees frees what any of the others allocates.
CASE(any_call_frees_any_memory) {
    const std::size_t before = free_memory();
    constexpr std::size_t size = 8 << 20;
    void *const device[] = {device_memory<char>(size), device_memory<char>(size)};
    REQUIRE(free_memory() + 2 * size <= before);
    HIP_CHECK(hipHostFree(device[0]));
    HIP_CHECK(hipFreeHost(device[1]));
    REQUIRE(free_memory() == before);
    for (void *const memory : device) {
        EXPECT_ERROR(hipFree(memory), hipErrorInvalidValue);
    }
    void *managed = nullptr;
    HIP_CHECK(hipMallocManaged(&managed, size, hipMemAttachGlobal));
    HIP_CHECK(hipHostFree(managed));
    EXPECT_ERROR(hipHostFree(managed), hipErrorInvalidValue);
    void *const host = pinned<char>(size);
    HIP_CHECK(hipFreeAsync(host, nullptr));
    EXPECT_ERROR(hipHostFree(host), hipErrorInvalidValue);
}

// An address inside of an allocation frees all of it.
CASE(any_address_frees_its_allocation) {
    const std::size_t before = free_memory();
    constexpr std::size_t size = 8 << 20;
    char *const memory = device_memory<char>(size);
    HIP_CHECK(hipFree(memory + 16));
    REQUIRE(free_memory() == before);
    EXPECT_ERROR(hipFree(memory), hipErrorInvalidValue);
    char *const host = pinned<char>(size);
    HIP_CHECK(hipHostFree(host + size - 1));
    EXPECT_ERROR(hipHostFree(host), hipErrorInvalidValue);
    char *const again = device_memory<char>(size);
    HIP_CHECK(hipFreeAsync(again + 4096, nullptr));
    EXPECT_ERROR(hipFree(again), hipErrorInvalidValue);
    const hipStream_t stream = create_stream();
    void *pooled = nullptr;
    HIP_CHECK(hipMallocAsync(&pooled, size, stream));
    HIP_CHECK(hipFreeAsync(static_cast<char *>(pooled) + 4, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    EXPECT_ERROR(hipFree(pooled), hipErrorInvalidValue);
    REQUIRE(free_memory() == before);
    EXPECT_ERROR(hipFree(host + 2 * size), hipErrorInvalidValue);
}

CASE(flags_of_host_memory_that_do_not_exist) {
    int *host = nullptr;
    unsigned flags = 0;
    HIP_CHECK(hipHostMalloc(reinterpret_cast<void **>(&host), 64 * sizeof(int), 0xffff));
    HIP_CHECK(hipHostGetFlags(&flags, host));
    REQUIRE(flags == 0xffff);
    host[63] = 6;
    add_one<<<1, 64>>>(host, 64);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(host[63] == 7);
    HIP_CHECK(hipHostFree(host));
    void *other = nullptr;
    EXPECT_ERROR(hipHostAlloc(&other, 16, 999), hipErrorInvalidValue);
    EXPECT_ERROR(hipHostMalloc(&other, 16, hipHostMallocCoherent | hipHostMallocNonCoherent), hipErrorInvalidValue);
}

// Adds one to values on the device, through the address that HIP gives for them.
static void add_one_to(int *values, int length) {
    int *device = nullptr;
    HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), values, 0));
    add_one<<<(length + 255) / 256, 256>>>(device, length);
    HIP_CHECK(hipDeviceSynchronize());
}

CASE(memory_registered_twice) {
    constexpr int length = 3000;
    constexpr std::size_t size = length * sizeof(int);
    std::vector<int> host(length);
    HIP_CHECK(hipHostRegister(host.data(), size, hipHostRegisterDefault));
    HIP_CHECK(hipHostRegister(host.data(), size, hipHostRegisterDefault));
    add_one_to(host.data(), length);
    HIP_CHECK(hipHostUnregister(host.data()));
    EXPECT_ERROR(hipHostUnregister(host.data()), hipErrorHostMemoryNotRegistered);
    REQUIRE(host == std::vector<int>(length, 1));
}

// Parts that overlap are registrations of their own.
CASE(registrations_that_overlap) {
    constexpr int length = 3000, part = 2000;
    constexpr std::size_t size = part * sizeof(int);
    std::vector<int> host(length);
    int *const second = host.data() + length - part;
    HIP_CHECK(hipHostRegister(host.data(), size, hipHostRegisterDefault));
    HIP_CHECK(hipHostRegister(second, size, hipHostRegisterDefault));
    HIP_CHECK(hipHostRegister(second + 10, 16, hipHostRegisterDefault));
    EXPECT_ERROR(hipHostUnregister(second + 1), hipErrorHostMemoryNotRegistered);
    add_one_to(host.data(), part);
    HIP_CHECK(hipHostUnregister(host.data()));
    add_one_to(second, part);
    void *device = nullptr;
    EXPECT_ERROR(hipHostGetDevicePointer(&device, host.data(), 0), hipErrorInvalidValue);
    HIP_CHECK(hipHostUnregister(second));
    add_one_to(second + 10, 4);
    HIP_CHECK(hipHostUnregister(second + 10));
    for (int index = 0; index < length; ++index) {
        const int in_second = index - (length - part);
        REQUIRE(host[index] == (index < part) + (in_second >= 0) + (in_second >= 10 && in_second < 14));
        EXPECT_ERROR(hipHostGetDevicePointer(&device, &host[index], 0), hipErrorInvalidValue);
    }
}

// Memory that was registered, and given back to the system as it was: what comes to be there can be registered.
CASE(registered_memory_that_is_gone) {
    constexpr std::size_t page = 4096;
    const auto map = [](void *at, std::size_t pages, int flags) {
        void *const memory = mmap(at, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        return static_cast<char *>(memory);
    };
    char *const memory = map(nullptr, 4, 0);
    HIP_CHECK(hipHostRegister(memory, 3 * page, hipHostRegisterDefault));
    REQUIRE(munmap(memory, 4 * page) == 0);
    char *const later = map(memory + page, 3, MAP_FIXED);
    HIP_CHECK(hipHostRegister(later, 3 * page, hipHostRegisterDefault));
    add_one_to(reinterpret_cast<int *>(later), 3 * page / sizeof(int));
    REQUIRE(*reinterpret_cast<int *>(later + 3 * page - sizeof(int)) == 1);
    HIP_CHECK(hipHostUnregister(memory));
    HIP_CHECK(hipHostUnregister(later));
    EXPECT_ERROR(hipHostUnregister(later), hipErrorHostMemoryNotRegistered);
}

// Memory of HIP needs no registration and loses nothing by it.
CASE(registered_memory_of_hip) {
    int *const host = pinned<int>(1000);
    HIP_CHECK(hipHostRegister(host, 16, hipHostRegisterDefault));
    HIP_CHECK(hipHostRegister(host + 10, 16, hipHostRegisterDefault));
    add_one_to(host, 1000);
    HIP_CHECK(hipHostUnregister(host));
    add_one_to(host, 1000);
    REQUIRE(host[999] == 2);
    HIP_CHECK(hipHostFree(host));
    EXPECT_ERROR(hipHostUnregister(host), hipErrorHostMemoryNotRegistered);
    int *const device = device_memory<int>(4096);
    HIP_CHECK(hipHostRegister(device, 16, hipHostRegisterDefault));
    HIP_CHECK(hipHostUnregister(device));
    HIP_CHECK(hipFree(device));
}

CASE(places_that_are_not_there) {
    HIP_CHECK(hipMemGetInfo(nullptr, nullptr));
    unsigned flags = 7;
    int active = 7;
    HIP_CHECK(hipDevicePrimaryCtxGetState(0, nullptr, &active));
    HIP_CHECK(hipDevicePrimaryCtxGetState(0, &flags, nullptr));
    HIP_CHECK(hipDevicePrimaryCtxGetState(0, nullptr, nullptr));
    REQUIRE(active == 1 && flags == 0);
}

CASE(devices_that_are_not_there) {
    int device = 7;
    for (const char *const address : {"nonsense", "ffff:ff:1f.0", ""}) {
        EXPECT_ERROR(hipDeviceGetByPCIBusId(&device, address), hipErrorInvalidValue);
    }
    REQUIRE(device == 7);
    HIP_CHECK(hipDevicePrimaryCtxReset(0));
    HIP_CHECK(hipDevicePrimaryCtxReset(7));
    HIP_CHECK(hipDevicePrimaryCtxReset(-1));
}

CASE(ranges_of_no_size) {
    void *address = nullptr;
    EXPECT_ERROR(hipMemAddressReserve(nullptr, 1 << 21, 0, nullptr, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemAddressReserve(&address, 1 << 21, 0, nullptr, 1), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemAddressReserve(&address, 0, 0, nullptr, 0), hipErrorOutOfMemory);
    EXPECT_ERROR(hipMemAddressReserve(&address, (1 << 21) - 1, 0, nullptr, 0), hipErrorOutOfMemory);
    EXPECT_ERROR(hipMemAddressReserve(&address, 1 << 21, 3, nullptr, 0), hipErrorOutOfMemory);
}

// What the versions of AMD's runtime refuse with different codes, or with one that other calls do not have.
CASE(codes_of_the_version) {
    hipModule_t module = nullptr;
    std::printf("a module of no bytes: %s\n", hipGetErrorName(hipModuleLoad(&module, "/dev/null")));
    std::printf("a directory as a module: %s\n", hipGetErrorName(hipModuleLoad(&module, "/")));
    std::printf("no file as a module: %s\n", hipGetErrorName(hipModuleLoad(&module, "/no/such/file")));
    const hipStream_t gone = create_stream();
    HIP_CHECK(hipStreamDestroy(gone));
    char *const device = device_memory<char>(64);
    char host[64] = {};
    std::printf("rows on a stream that is gone: %s\n",
                hipGetErrorName(hipMemcpy2DAsync(device, 32, host, 32, 32, 2, hipMemcpyDefault, gone)));
    std::printf("bytes on a stream that is gone: %s\n", hipGetErrorName(hipMemcpyAsync(device, host, 64, hipMemcpyDefault, gone)));
}
