// Copies, fills, symbols, managed and registered memory, pointer queries.
#include "case.hpp"

#include <cstdint>
#include <dlfcn.h>
#include <numeric>
#include <sys/mman.h>
#include <vector>

using sample::create_stream;
using sample::DeviceBuffer;
using sample::pinned;

__device__ int device_table[4] = {10, 20, 30, 40};
__constant__ float constant_scale = 2.0f;
__managed__ int managed_counter = 5;

__global__ void read_symbols(int *table, float *scale) {
    for (int index = 0; index < 4; ++index) {
        table[index] = device_table[index];
        device_table[index] += 1;
    }
    *scale = constant_scale;
}

__global__ void add_to_managed(int *also) {
    managed_counter += 37;
    *also = managed_counter;
}

__global__ void fill(int *values, int length, int value) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < length) {
        values[index] = value + index;
    }
}

__global__ void subtract_one(int *value, int *fetched) { fetched[threadIdx.x] = atomicSub(value, 1); }

__global__ void minimum(int *accumulators, const int *values) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMin(&accumulators[index % 64], values[index]);
}

__global__ void wait_for_gate(int *gate) {
    while (__hip_atomic_load(gate, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) {
    }
}

__global__ void write_bytes(unsigned char *bytes) { bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x * 7); }

// Pitched rows with offsets on both sides.
CASE(copy_2d) {
    constexpr std::size_t width = 37, height = 11, host_pitch = 64, host_offset = 5;
    std::vector<unsigned char> source(host_pitch * height), back(host_pitch * height, 0xEE);
    std::iota(source.begin(), source.end(), static_cast<unsigned char>(3));
    unsigned char *first = nullptr, *second = nullptr;
    std::size_t first_pitch = 0, second_pitch = 0;
    HIP_CHECK(hipMallocPitch(reinterpret_cast<void **>(&first), &first_pitch, width, height));
    HIP_CHECK(hipMallocPitch(reinterpret_cast<void **>(&second), &second_pitch, width + 200, height));
    REQUIRE(first_pitch >= width && second_pitch >= width + 200);
    HIP_CHECK(hipMemcpy2D(first, first_pitch, source.data() + host_offset, host_pitch, width, height, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy2D(second + 100, second_pitch, first, first_pitch, width, height, hipMemcpyDeviceToDevice));
    HIP_CHECK(hipMemcpy2D(back.data() + 1, host_pitch, second + 100, second_pitch, width, height, hipMemcpyDeviceToHost));
    for (std::size_t row = 0; row < height; ++row) {
        for (std::size_t column = 0; column < host_pitch; ++column) {
            const bool inside = column >= 1 && column < 1 + width;
            const unsigned char want = inside ? source[row * host_pitch + host_offset + column - 1] : 0xEE;
            REQUIRE(back[row * host_pitch + column] == want);
        }
    }
    EXPECT_ERROR(hipMemcpy2D(first, width - 1, source.data(), host_pitch, width, height, hipMemcpyHostToDevice),
                 hipErrorInvalidPitchValue);
    HIP_CHECK(hipFree(first));
    HIP_CHECK(hipFree(second));
}

// More rows than a million.
CASE(copy_2d_of_many_rows) {
    constexpr std::size_t width = 12, rows = 2000000;
    std::vector<unsigned> source(width / 4 * rows), back(width / 4 * rows);
    std::iota(source.begin(), source.end(), 1u);
    DeviceBuffer<unsigned> device(source.size()), second(source.size());
    HIP_CHECK(hipMemcpy2D(device.get(), width, source.data(), width, width, rows, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy2D(second.get(), width, device.get(), width, width, rows, hipMemcpyDeviceToDevice));
    HIP_CHECK(hipMemcpy2D(back.data(), width, second.get(), width, width, rows, hipMemcpyDeviceToHost));
    HIP_CHECK(hipGetLastError());
    REQUIRE(back == source);
}

// A box inside of pitched memory to a box of packed host memory: nothing beside it changes.
CASE(copy_3d_between_pitches) {
    constexpr int side = 4, kept = 133;
    hipPitchedPtr device;
    HIP_CHECK(hipMalloc3D(&device, make_hipExtent(side * sizeof(int), side, side)));
    REQUIRE(device.pitch > side * sizeof(int));
    std::vector<int> values(side * side * side), host(values.size(), kept);
    std::iota(values.begin(), values.end(), 0);
    hipMemcpy3DParms copy{};
    copy.srcPtr = make_hipPitchedPtr(values.data(), side * sizeof(int), side, side);
    copy.dstPtr = device;
    copy.extent = make_hipExtent(side * sizeof(int), side, side);
    copy.kind = hipMemcpyHostToDevice;
    HIP_CHECK(hipMemcpy3D(&copy));
    copy.srcPtr = device;
    copy.srcPtr.ptr = static_cast<int *>(device.ptr) + 3;
    copy.dstPtr = make_hipPitchedPtr(host.data() + 3, side * sizeof(int), side, side);
    copy.extent = make_hipExtent(sizeof(int), 3, 3);
    copy.kind = hipMemcpyDeviceToHost;
    HIP_CHECK(hipMemcpy3D(&copy));
    for (int z = 0; z < side; ++z) {
        for (int y = 0; y < side; ++y) {
            for (int x = 0; x < side; ++x) {
                const int index = 16 * z + 4 * y + x;
                REQUIRE(host[index] == (x == 3 && y < 3 && z < 3 ? index : kept));
            }
        }
    }
    HIP_CHECK(hipFree(device.ptr));
}

CASE(large_buffers) {
    constexpr std::size_t length = 1200000;
    std::vector<float> first(length), second(length);
    std::iota(first.begin(), first.end(), 0.5f);
    std::iota(second.begin(), second.end(), -7.0f);
    DeviceBuffer<float> first_device(first), second_device(second);
    REQUIRE(first_device.read() == first && second_device.read() == second);
}

// Every offset from an aligned start with every small size: no byte outside is touched.
CASE(unaligned_fills) {
    std::vector<unsigned char> want(96), got(96);
    DeviceBuffer<unsigned char> device(96);
    for (std::size_t offset = 0; offset < 8; ++offset) {
        for (std::size_t size = 0; size <= 70; ++size) {
            HIP_CHECK(hipMemset(device.get(), 0xEE, 96));
            HIP_CHECK(hipMemset(device.get() + offset, 0x5A, size));
            HIP_CHECK(hipMemcpy(got.data(), device.get(), 96, hipMemcpyDeviceToHost));
            std::fill(want.begin(), want.end(), 0xEE);
            std::fill(want.begin() + offset, want.begin() + offset + size, 0x5A);
            REQUIRE(got == want);
        }
    }
}

CASE(fills_of_words) {
    DeviceBuffer<std::uint32_t> words(std::vector<std::uint32_t>(100, 1));
    HIP_CHECK(hipMemsetD32(words.get() + 10, 0x12345678, 20));
    HIP_CHECK(hipMemsetD16(words.get() + 50, 0xABCD, 6));
    HIP_CHECK(hipMemsetD8(words.get() + 60, 0x77, 4));
    const std::vector<std::uint32_t> got = words.read();
    for (int index = 0; index < 100; ++index) {
        std::uint32_t want = 1;
        if (index >= 10 && index < 30) {
            want = 0x12345678;
        } else if (index >= 50 && index < 53) {
            want = 0xABCDABCD;
        } else if (index == 60) {
            want = 0x77777777;
        }
        REQUIRE(got[index] == want);
    }
}

// Threads fill matrices of their own, each on its own stream, with a value of their own.
CASE(fills_2d_from_threads) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 7; ++thread) {
        threads.emplace_back([thread] {
            constexpr std::size_t side = 488;
            const hipStream_t stream = create_stream();
            DeviceBuffer<double> matrix(side * side);
            std::vector<double> got(side * side), want(side * side);
            std::memset(want.data(), thread + 1, side * side * 8);
            for (int round = 0; round < 500; ++round) {
                HIP_CHECK(hipMemset2DAsync(matrix.get(), side * 8, thread + 1, side * 8, side, stream));
                HIP_CHECK(hipMemcpyAsync(got.data(), matrix.get(), side * side * 8, hipMemcpyDeviceToHost, stream));
                HIP_CHECK(hipStreamSynchronize(stream));
                REQUIRE(std::memcmp(got.data(), want.data(), side * side * 8) == 0);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

// Sizes around every staging limit, host to device to device to host.
CASE(copies_of_all_sizes) {
    for (const std::size_t bytes : {1ul, 3ul, 64ul, 4095ul, 65537ul, (1ul << 20) - 1, (1ul << 20) + 1, (4ul << 20) + 3, 20ul << 20}) {
        std::vector<unsigned char> source(bytes), back(bytes, 0);
        for (std::size_t index = 0; index < bytes; ++index) {
            source[index] = static_cast<unsigned char>(index * 2654435761u >> 13);
        }
        DeviceBuffer<unsigned char> first(source), second(bytes);
        HIP_CHECK(hipMemcpy(second.get(), first.get(), bytes, hipMemcpyDeviceToDevice));
        HIP_CHECK(hipMemcpy(back.data(), second.get(), bytes, hipMemcpyDefault));
        REQUIRE(back == source);
    }
}

// Pageable memory may be reused as soon as the call is back.
CASE(pageable_copies_are_staged) {
    const hipStream_t stream = create_stream(hipStreamNonBlocking);
    constexpr int length = 5000;
    std::vector<int> source(length);
    std::iota(source.begin(), source.end(), 0);
    DeviceBuffer<int> device(length);
    HIP_CHECK(hipMemcpyAsync(device.get(), source.data(), length * sizeof(int), hipMemcpyHostToDevice, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    std::fill(source.begin(), source.end(), -1);
    const std::vector<int> got = device.read();
    for (int index = 0; index < length; ++index) {
        REQUIRE(got[index] == index);
    }
}

CASE(symbols) {
    int *const table = pinned<int>(4);
    float *const scale = pinned<float>(1);
    const int changed[2] = {200, 300};
    const float new_scale = 0.25f;
    std::size_t size = 0;
    void *address = nullptr;
    HIP_CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(device_table)));
    REQUIRE(size == sizeof device_table);
    HIP_CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(device_table)));
    REQUIRE(address != nullptr);
    read_symbols<<<1, 1>>>(table, scale);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(table[0] == 10 && table[1] == 20 && table[2] == 30 && table[3] == 40 && *scale == 2.0f);
    HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(device_table), changed, sizeof changed, sizeof(int), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(constant_scale), &new_scale, sizeof new_scale));
    read_symbols<<<1, 1>>>(table, scale);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(table[0] == 11 && table[1] == 200 && table[2] == 300 && table[3] == 41 && *scale == 0.25f);
    int back[4] = {};
    HIP_CHECK(hipMemcpyFromSymbol(back, HIP_SYMBOL(device_table), sizeof back));
    REQUIRE(back[0] == 12 && back[1] == 201 && back[2] == 301 && back[3] == 42);
    int direct = 0;
    HIP_CHECK(hipMemcpy(&direct, static_cast<int *>(address) + 2, sizeof direct, hipMemcpyDeviceToHost));
    REQUIRE(direct == 301);
    EXPECT_ERROR(hipMemcpyToSymbol(HIP_SYMBOL(device_table), back, sizeof back, sizeof(int)), hipErrorInvalidValue);
    EXPECT_ERROR(hipGetSymbolSize(&size, &size), hipErrorInvalidSymbol);
}

CASE(managed_variable) {
    int *const also = pinned<int>(1);
    REQUIRE(managed_counter == 5);
    managed_counter = 100;
    add_to_managed<<<1, 1>>>(also);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(managed_counter == 137 && *also == 137);
}

CASE(managed_memory) {
    constexpr int length = 1000;
    int *values = nullptr;
    HIP_CHECK(hipMallocManaged(reinterpret_cast<void **>(&values), length * sizeof(int), hipMemAttachGlobal));
    values[0] = -1;
    fill<<<4, 256>>>(values, length, 3);
    HIP_CHECK(hipDeviceSynchronize());
    for (int index = 0; index < length; ++index) {
        REQUIRE(values[index] == index + 3);
    }
    HIP_CHECK(hipFree(values));
    EXPECT_ERROR(hipMallocManaged(reinterpret_cast<void **>(&values), 0, hipMemAttachGlobal), hipErrorInvalidValue);
}

// Advice is for the pages that a range touches; a query tells what all pages of its range have.
CASE(advice_is_for_pages) {
    constexpr std::size_t page = 4096;
    char *bytes = nullptr;
    HIP_CHECK(hipMallocManaged(reinterpret_cast<void **>(&bytes), 3 * page, hipMemAttachGlobal));
    const auto ask = [&](hipMemRangeAttribute attribute, std::size_t pages) {
        int answer = 99;
        HIP_CHECK(hipMemRangeGetAttribute(&answer, sizeof answer, attribute, bytes, pages * page));
        return answer;
    };
    HIP_CHECK(hipMemAdvise(bytes + page / 2, page, hipMemAdviseSetReadMostly, 0));
    HIP_CHECK(hipMemAdvise(bytes, page, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
    HIP_CHECK(hipMemAdvise(bytes, 1, hipMemAdviseSetAccessedBy, 0));
    HIP_CHECK(hipMemPrefetchAsync(bytes, 2 * page, 0, nullptr));
    EXPECT_ERROR(hipMemPrefetchAsync(bytes, page, 77, nullptr), hipErrorInvalidDevice);
    REQUIRE(ask(hipMemRangeAttributeReadMostly, 2) == 1 && ask(hipMemRangeAttributeReadMostly, 3) == 0);
    REQUIRE(ask(hipMemRangeAttributePreferredLocation, 1) == hipCpuDeviceId);
    REQUIRE(ask(hipMemRangeAttributePreferredLocation, 2) == hipInvalidDeviceId);
    REQUIRE(ask(hipMemRangeAttributeAccessedBy, 1) == 0 && ask(hipMemRangeAttributeAccessedBy, 2) == hipInvalidDeviceId);
    REQUIRE(ask(hipMemRangeAttributeLastPrefetchLocation, 2) == 0);
    REQUIRE(ask(hipMemRangeAttributeLastPrefetchLocation, 3) == hipInvalidDeviceId);
    long long wide = 0;
    EXPECT_ERROR(hipMemRangeGetAttribute(&wide, sizeof wide, hipMemRangeAttributeReadMostly, bytes, page), hipErrorInvalidValue);
    const hipStream_t stream = create_stream();
    HIP_CHECK(hipStreamDestroy(stream));
    EXPECT_ERROR(hipMemPrefetchAsync(bytes, page, 0, stream), hipErrorContextIsDestroyed);
    EXPECT_ERROR(hipStreamAttachMemAsync(stream, bytes, 0, hipMemAttachGlobal), hipErrorContextIsDestroyed);
    HIP_CHECK(hipFree(bytes));
}

CASE(registered_host_memory) {
    constexpr int length = 3000;
    std::vector<int> host(length, 0);
    int *device = nullptr;
    HIP_CHECK(hipHostRegister(host.data(), length * sizeof(int), hipHostRegisterDefault));
    HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host.data(), 0));
    fill<<<12, 256>>>(device, length, 11);
    HIP_CHECK(hipDeviceSynchronize());
    for (int index = 0; index < length; ++index) {
        REQUIRE(host[index] == index + 11);
    }
    HIP_CHECK(hipHostUnregister(host.data()));
    REQUIRE(hipHostUnregister(host.data()) != hipSuccess);
}

CASE(mapped_host_memory) {
    int *const host = pinned<int>(100, hipHostMallocMapped), *device = nullptr;
    unsigned flags = 0;
    HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0));
    HIP_CHECK(hipHostGetFlags(&flags, host));
    REQUIRE((flags & hipHostMallocMapped) != 0);
    fill<<<1, 100>>>(device, 100, 0);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(host[99] == 99);
    HIP_CHECK(hipHostFree(host));
}

// hipExtHostAlloc and hipHostMalloc are one, flags that do not exist included; hipHostAlloc refuses those.
CASE(host_memory_keeps_its_flags) {
    using Allocate = hipError_t (*)(void **, std::size_t, unsigned);
    const auto extended = reinterpret_cast<Allocate>(dlsym(RTLD_DEFAULT, "hipExtHostAlloc"));
    const auto allocate = reinterpret_cast<Allocate>(dlsym(RTLD_DEFAULT, "hipHostAlloc"));
    REQUIRE(extended != nullptr && allocate != nullptr);
    const Allocate general = [](void **place, std::size_t size, unsigned flags) { return hipHostMalloc(place, size, flags); };
    constexpr unsigned all[] = {hipHostMallocDefault,
                                hipHostMallocPortable,
                                hipHostMallocMapped,
                                hipHostMallocWriteCombined,
                                hipHostMallocNumaUser,
                                hipHostMallocCoherent,
                                hipHostMallocNonCoherent,
                                hipHostMallocPortable | hipHostMallocWriteCombined | hipHostMallocNumaUser};
    for (const Allocate function : {general, extended, allocate}) {
        void *memory = nullptr;
        for (const unsigned flags : all) {
            unsigned kept = ~0u;
            HIP_CHECK(function(&memory, 400, flags));
            HIP_CHECK(hipHostGetFlags(&kept, memory));
            REQUIRE(kept == flags);
            void *device = nullptr;
            HIP_CHECK(hipHostGetDevicePointer(&device, memory, 0));
            fill<<<1, 100>>>(static_cast<int *>(device), 100, 7);
            HIP_CHECK(hipDeviceSynchronize());
            REQUIRE(static_cast<int *>(memory)[99] == 106);
            HIP_CHECK(hipHostFree(memory));
        }
        EXPECT_ERROR(function(&memory, 400, hipHostMallocCoherent | hipHostMallocNonCoherent), hipErrorInvalidValue);
        EXPECT_ERROR(function(nullptr, 400, 0), hipErrorInvalidValue);
        memory = &memory;
        HIP_CHECK(function(&memory, 0, 0));
        REQUIRE(memory == nullptr);
        if (function == allocate) {
            EXPECT_ERROR(function(&memory, 400, 1u << 20), hipErrorInvalidValue);
        } else {
            HIP_CHECK(function(&memory, 400, 1u << 20));
            HIP_CHECK(hipHostFree(memory));
        }
    }
}

// Fills rows of a pitch with elements, by the call that waits and by the one of a stream; what lies beside the rows stays.
template <typename T> static void fill_rows(const char *name, T value) {
    const auto fill_now = reinterpret_cast<hipError_t (*)(void *, std::size_t, T, std::size_t, std::size_t)>(dlsym(RTLD_DEFAULT, name));
    const auto fill_later = reinterpret_cast<hipError_t (*)(void *, std::size_t, T, std::size_t, std::size_t, hipStream_t)>(
        dlsym(RTLD_DEFAULT, (std::string(name) + "Async").c_str()));
    REQUIRE(fill_now != nullptr && fill_later != nullptr);
    constexpr std::size_t pitch = 40, rows = 5, width = 7; // the pitch in elements
    const hipStream_t stream = create_stream();
    for (const bool waits : {true, false}) {
        DeviceBuffer<T> values(std::vector<T>(pitch * rows, T(9)));
        if (waits) {
            HIP_CHECK(fill_now(values.get() + 3, pitch * sizeof(T), value, width, rows));
        } else {
            HIP_CHECK(fill_later(values.get() + 3, pitch * sizeof(T), value, width, rows, stream));
            HIP_CHECK(hipStreamSynchronize(stream));
        }
        const std::vector<T> result = values.read();
        for (std::size_t at = 0; at < result.size(); ++at) {
            const bool inside = at % pitch >= 3 && at % pitch < 3 + width;
            REQUIRE(result[at] == (inside ? value : T(9)));
        }
        // Nothing to fill is no error; a pitch below the row is one.
        HIP_CHECK(fill_now(values.get(), pitch * sizeof(T), value, 0, rows));
        REQUIRE(fill_now(values.get(), (width - 1) * sizeof(T), value, width, rows) == hipErrorInvalidValue);
        REQUIRE(fill_now(nullptr, pitch * sizeof(T), value, width, rows) == hipErrorInvalidValue);
    }
    HIP_CHECK(hipStreamDestroy(stream));
}

CASE(elements_fill_rows) {
    fill_rows<std::uint8_t>("hipMemsetD2D8", 0xA5);
    fill_rows<std::uint16_t>("hipMemsetD2D16", 0xBEEF);
    fill_rows<std::uint32_t>("hipMemsetD2D32", 0xDEADBEEF);
}

// Atomics on device memory and on pinned host memory give the same.
CASE(atomics_on_host_memory) {
    DeviceBuffer<int> device_value(std::vector<int>(1, 10));
    int *const host_value = pinned<int>(1), *const fetched = pinned<int>(10);
    *host_value = 10;
    for (int *const value : {device_value.get(), host_value}) {
        subtract_one<<<1, 10>>>(value, fetched);
        HIP_CHECK(hipDeviceSynchronize());
        int seen = 0;
        for (int lane = 0; lane < 10; ++lane) {
            REQUIRE(fetched[lane] >= 1 && fetched[lane] <= 10);
            seen |= 1 << fetched[lane];
        }
        REQUIRE(seen == 0x7FE);
    }
    REQUIRE(device_value.read()[0] == 0 && *host_value == 0);
}

CASE(atomic_minimum_on_host_memory) {
    constexpr int length = 4096;
    for (const unsigned flags : {unsigned{hipHostMallocCoherent}, unsigned{hipHostMallocNonCoherent}}) {
        int *const accumulators = pinned<int>(64, flags), *const values = pinned<int>(length, flags);
        int want[64];
        std::fill(accumulators, accumulators + 64, 1 << 30);
        std::fill(want, want + 64, 1 << 30);
        sample::Random random(9);
        for (int index = 0; index < length; ++index) {
            values[index] = static_cast<int>(random.next()) >> 1;
            want[index % 64] = std::min(want[index % 64], values[index]);
        }
        minimum<<<length / 256, 256>>>(accumulators, values);
        HIP_CHECK(hipDeviceSynchronize());
        REQUIRE(std::memcmp(accumulators, want, sizeof want) == 0);
        HIP_CHECK(hipHostFree(accumulators));
        HIP_CHECK(hipHostFree(values));
    }
}

CASE(pointer_attributes) {
    DeviceBuffer<int> device(100);
    int *const host = pinned<int>(100);
    hipPointerAttribute_t attributes;
    HIP_CHECK(hipPointerGetAttributes(&attributes, device.get() + 50));
    REQUIRE(attributes.memoryType == hipMemoryTypeDevice);
    REQUIRE(attributes.device == 0);
    REQUIRE(attributes.devicePointer == device.get() + 50);
    HIP_CHECK(hipPointerGetAttributes(&attributes, host + 3));
    REQUIRE(attributes.memoryType == hipMemoryTypeHost);
    REQUIRE(attributes.hostPointer == host + 3);
    int on_stack = 0;
    EXPECT_ERROR(hipPointerGetAttributes(&attributes, &on_stack), hipErrorInvalidValue);
    EXPECT_ERROR(hipPointerGetAttributes(nullptr, host), hipErrorInvalidValue);
    // Of memory that HIP does not know: an error up to HIP 6, the type "unregistered" in HIP 7.
    unsigned type = 99;
    std::vector<int> on_heap(1);
    for (int *const unknown : {&on_stack, on_heap.data()}) {
        EXPECT_ERROR(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown), hipErrorInvalidValue);
    }
    // Several at once: what a pointer does not have is null over its whole width, and the device is -2.
    hipPointer_attribute asked[] = {HIP_POINTER_ATTRIBUTE_HOST_POINTER, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *host_address = &on_stack;
    int ordinal = 99;
    void *places[] = {&host_address, &ordinal};
    HIP_CHECK(hipDrvPointerGetAttributes(2, asked, places, device.get()));
    REQUIRE(host_address == nullptr && ordinal == 0);
    host_address = &on_stack;
    HIP_CHECK(hipDrvPointerGetAttributes(2, asked, places, &on_stack));
    REQUIRE(host_address == nullptr && ordinal == -2);
    // A `bool` is one byte.
    struct {
        bool mapped;
        unsigned char beyond[7];
    } flags = {false, {1, 2, 3, 4, 5, 6, 7}};
    HIP_CHECK(hipPointerGetAttribute(&flags.mapped, HIP_POINTER_ATTRIBUTE_MAPPED, device.get()));
    REQUIRE(flags.mapped && flags.beyond[0] == 1 && flags.beyond[2] == 3);
    EXPECT_ERROR(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_P2P_TOKENS, device.get()), hipErrorNotSupported);
    EXPECT_ERROR(hipDrvPointerGetAttributes(2, asked, places, nullptr), hipErrorInvalidValue);
    hipDeviceptr_t base = nullptr;
    std::size_t size = 0;
    HIP_CHECK(hipMemGetAddressRange(&base, &size, device.get() + 7));
    REQUIRE(base == device.get() && size == 100 * sizeof(int));
}

CASE(memory_information) {
    std::size_t before = 0, after = 0, last = 0, total = 0;
    HIP_CHECK(hipMemGetInfo(&before, &total));
    REQUIRE(before > 0 && before <= total);
    void *block = nullptr;
    HIP_CHECK(hipMalloc(&block, 64u << 20));
    HIP_CHECK(hipMemGetInfo(&after, &total));
    REQUIRE(after + (64u << 20) <= before);
    HIP_CHECK(hipFree(block));
    HIP_CHECK(hipMemGetInfo(&last, &total));
    REQUIRE(last == before);
}

// HIP_HIDDEN_FREE_MEM=16
CASE(hidden_memory_is_not_free) {
    std::size_t available = 0, total = 0;
    HIP_CHECK(hipMemGetInfo(&available, &total));
    REQUIRE(available > 0 && total - available >= 16u << 20 && total - available < 32u << 20);
}

CASE(too_much_memory) {
    std::size_t available = 0, total = 0;
    HIP_CHECK(hipMemGetInfo(&available, &total));
    void *block = &total;
    EXPECT_ERROR(hipMalloc(&block, total * 2), hipErrorOutOfMemory);
    EXPECT_ERROR(hipMalloc(&block, ~std::size_t{0} - 100), hipErrorOutOfMemory);
    HIP_CHECK(hipMalloc(&block, 0));
    REQUIRE(block == nullptr);
    HIP_CHECK(hipMalloc(&block, 100));
    HIP_CHECK(hipFree(block));
    HIP_CHECK(hipFree(nullptr));
}

// On a device of 64 MiB, whatever the host has.
CASE(memory_of_the_size_asked_for) {
    constexpr std::size_t size = 64u << 20, most = 40u << 20;
    std::size_t available = 0, total = 0;
    HIP_CHECK(hipMemGetInfo(&available, &total));
    REQUIRE(total == size && available <= total && available >= most);
    hipDeviceProp_t properties;
    HIP_CHECK(hipGetDeviceProperties(&properties, 0));
    REQUIRE(properties.totalGlobalMem == size);
    void *first = nullptr, *second = nullptr;
    HIP_CHECK(hipMalloc(&first, most));
    EXPECT_ERROR(hipMalloc(&second, most), hipErrorOutOfMemory);
    std::size_t left = 0;
    HIP_CHECK(hipMemGetInfo(&left, &total));
    REQUIRE(left + most <= available);
    HIP_CHECK(hipFree(first));
    HIP_CHECK(hipMalloc(&second, most));
    HIP_CHECK(hipFree(second));
    HIP_CHECK(hipMemGetInfo(&left, &total));
    REQUIRE(left == available);
}

CASE(bad_arguments) {
    EXPECT_ERROR(hipProfilerStart(), hipErrorNotSupported);
    DeviceBuffer<int> device(10);
    int host[10] = {};
    EXPECT_ERROR(hipMalloc(nullptr, 4), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpy(nullptr, host, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpy(device.get(), nullptr, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpy(device.get(), host, 4, static_cast<hipMemcpyKind>(77)), hipErrorInvalidMemcpyDirection);
    EXPECT_ERROR(hipMemcpy(device.get(), device.get() + 1, 100, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemset(nullptr, 0, 4), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemset(device.get(), 0, 4000), hipErrorInvalidValue);
    EXPECT_ERROR(hipFree(host), hipErrorInvalidValue);
    EXPECT_ERROR(hipHostFree(host), hipErrorInvalidValue);
    HIP_CHECK(hipMemcpy(device.get(), host, 0, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(device.get(), host, sizeof host, hipMemcpyHostToDevice));
}

namespace {
// Pages of the program: the first is writable, the second is read-only, the third is not there.
struct Pages {
    static constexpr std::size_t page = 4096;
    char *writable, *read_only, *nothing;
    Pages() {
        void *const start = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(start != MAP_FAILED);
        writable = static_cast<char *>(start);
        read_only = writable + page;
        nothing = read_only + page;
        std::memset(writable, 3, 2 * page);
        REQUIRE(mprotect(read_only, page, PROT_READ) == 0 && munmap(nothing, page) == 0);
    }
};
} // namespace

// Pointers to memory that is not there, or that must not be written: an error, whatever the copy.
CASE(bad_host_pointers) {
    const Pages pages;
    constexpr std::size_t page = Pages::page;
    DeviceBuffer<char> device(4 * page);
    const hipStream_t stream = create_stream();
    const auto to = hipMemcpyHostToDevice, back = hipMemcpyDeviceToHost;
    HIP_CHECK(hipMemcpy(device.get(), pages.writable, 2 * page, to));
    for (char *const bad : {pages.nothing, pages.nothing - 1, reinterpret_cast<char *>(16)}) {
        EXPECT_ERROR(hipMemcpy(device.get(), bad, 64, to), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemcpy(bad, device.get(), 64, back), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemcpyAsync(device.get(), bad, 64, to, stream), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemcpyAsync(bad, device.get(), 64, back, stream), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemcpyHtoD(device.get(), bad, 64), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemcpyDtoH(bad, device.get(), 64), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemcpyToSymbol(HIP_SYMBOL(device_table), bad, 16), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemcpyFromSymbol(bad, HIP_SYMBOL(device_table), 16), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemcpy2D(device.get(), 128, bad, 128, 64, 3, to), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemcpy2DAsync(bad, 128, device.get(), 128, 64, 3, back, stream), hipErrorInvalidValue);
        hipMemcpy3DParms copy{};
        copy.srcPtr = make_hipPitchedPtr(device.get(), 64, 64, 2);
        copy.dstPtr = make_hipPitchedPtr(bad, 64, 64, 2);
        copy.extent = make_hipExtent(64, 2, 2);
        copy.kind = back;
        EXPECT_ERROR(hipMemcpy3D(&copy), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemset(bad, 0, 64), hipErrorInvalidValue);
    }
    // The range begins well, and ends where nothing is.
    EXPECT_ERROR(hipMemcpy(device.get(), pages.writable, 2 * page + 1, to), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpy(pages.read_only, device.get(), 64, back), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpy(pages.writable, device.get(), page + 1, back), hipErrorInvalidValue);
    HIP_CHECK(hipMemcpy(pages.writable, device.get(), page, back));
    // Rows that go around the hole, and rows that do not.
    HIP_CHECK(hipMemcpy2D(device.get(), 64, pages.writable, page, 64, 2, to));
    EXPECT_ERROR(hipMemcpy2D(device.get(), 64, pages.writable, page, 64, 3, to), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpy2D(pages.writable, page, device.get(), 64, 64, 2, back), hipErrorInvalidValue);
    // A graph that copies from memory that is gone by its launch.
    char *const gone = static_cast<char *>(mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    hipGraph_t graph;
    hipGraphNode_t node;
    hipGraphExec_t exec;
    HIP_CHECK(hipGraphCreate(&graph, 0));
    HIP_CHECK(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device.get(), gone, 64, to));
    HIP_CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP_CHECK(hipGraphLaunch(exec, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(munmap(gone, page) == 0);
    EXPECT_ERROR(hipGraphLaunch(exec, stream), hipErrorInvalidValue);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(device.read()[0] == 0);
}

CASE(bad_registrations) {
    const Pages pages;
    EXPECT_ERROR(hipHostRegister(pages.nothing, 64, hipHostRegisterDefault), hipErrorInvalidValue);
    EXPECT_ERROR(hipHostRegister(pages.read_only, 64, hipHostRegisterDefault), hipErrorInvalidValue);
    EXPECT_ERROR(hipHostRegister(pages.writable, Pages::page + 1, hipHostRegisterDefault), hipErrorInvalidValue);
    EXPECT_ERROR(hipHostRegister(reinterpret_cast<void *>(16), 64, hipHostRegisterMapped), hipErrorInvalidValue);
    EXPECT_ERROR(hipHostRegister(pages.writable, ~std::size_t{0}, hipHostRegisterDefault), hipErrorInvalidValue);
    HIP_CHECK(hipHostRegister(pages.writable, Pages::page, hipHostRegisterDefault));
    int *address = nullptr;
    HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void **>(&address), pages.writable, 0));
    fill<<<1, 256>>>(address, 256, 1);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(reinterpret_cast<int *>(pages.writable)[255] == 256);
    HIP_CHECK(hipHostUnregister(pages.writable));
}

// A program with a managed variable on a machine without a GPU.
CASE(no_device) {
    int devices = 7;
    EXPECT_ERROR(hipGetDeviceCount(&devices), hipErrorNoDevice);
    REQUIRE(devices == 0);
    void *block = nullptr;
    EXPECT_ERROR(hipMalloc(&block, 16), hipErrorNoDevice);
    // Also what is not supported on any device.
    EXPECT_ERROR(hipProfilerStart(), hipErrorNoDevice);
}

CASE(copies_of_the_driver_interface) {
    std::vector<int> source(256), back(256, 0);
    std::iota(source.begin(), source.end(), 5);
    DeviceBuffer<int> first(256), second(256);
    HIP_CHECK(hipMemcpyHtoD(first.get(), source.data(), 1024));
    HIP_CHECK(hipMemcpyDtoD(second.get(), first.get(), 1024));
    HIP_CHECK(hipMemcpyDtoH(back.data(), second.get(), 1024));
    REQUIRE(back == source);
    const hipStream_t stream = create_stream();
    HIP_CHECK(hipMemsetAsync(second.get(), 0, 1024, stream));
    HIP_CHECK(hipMemcpyWithStream(back.data(), second.get(), 1024, hipMemcpyDeviceToHost, stream));
    REQUIRE(back == std::vector<int>(256, 0));
    // What is said to be a device's must be memory of HIP, and not end before the copy does.
    hip_Memcpy2D rows = {};
    rows.srcMemoryType = rows.dstMemoryType = hipMemoryTypeDevice;
    rows.srcDevice = first.get();
    rows.dstDevice = second.get();
    rows.srcPitch = rows.dstPitch = 64;
    rows.WidthInBytes = 64;
    rows.Height = 16;
    HIP_CHECK(hipDrvMemcpy2DUnaligned(&rows));
    REQUIRE(second.read() == source);
    rows.Height = 1;
    rows.srcY = 16;
    EXPECT_ERROR(hipDrvMemcpy2DUnaligned(&rows), hipErrorInvalidValue);
    rows.srcY = 0;
    rows.srcDevice = source.data();
    EXPECT_ERROR(hipMemcpyParam2D(&rows), hipErrorInvalidValue);
    rows.srcMemoryType = hipMemoryTypeArray;
    rows.srcArray = nullptr;
    EXPECT_ERROR(hipMemcpyParam2D(&rows), hipErrorInvalidValue);
    // Arrays: only their first row.
    hipArray *array = nullptr;
    const hipChannelFormatDesc format = hipCreateChannelDesc<int>();
    HIP_CHECK(hipMallocArray(&array, &format, 16, 16));
    HIP_CHECK(hipMemcpyHtoA(array, 0, source.data(), 64));
    HIP_CHECK(hipMemcpyAtoH(back.data(), array, 32, 32));
    REQUIRE(back[0] == source[8] && back[7] == source[15]);
    EXPECT_ERROR(hipMemcpyHtoA(array, 0, source.data(), 65), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpyAtoH(back.data(), array, 33, 32), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpyAtoH(back.data(), nullptr, 0, 32), hipErrorInvalidValue);
    unsigned type = 99;
    HIP_CHECK(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<hipDeviceptr_t>(array)));
    REQUIRE(type == hipMemoryTypeArray);
    HIP_CHECK(hipFreeArray(array));
    // A cube has six faces.
    EXPECT_ERROR(hipMallocArray(&array, &format, 16, 16, hipArrayCubemap), hipErrorInvalidValue);
    HIP_CHECK(hipMalloc3DArray(&array, &format, make_hipExtent(16, 16, 6), hipArrayCubemap));
    HIP_CHECK(hipFreeArray(array));
}

// Rows of pageable memory are taken at the call, if they are few: it returns before the stream comes to them, and they may change.
CASE(pageable_rows_are_staged) {
    int *const gate = pinned<int>(1);
    *gate = 0;
    constexpr std::size_t width = 12, rows = 5, pitch = 20;
    std::vector<unsigned char> source(rows * pitch);
    std::iota(source.begin(), source.end(), static_cast<unsigned char>(1));
    const std::vector<unsigned char> kept = source;
    DeviceBuffer<unsigned char> bytes(width * rows);
    const hipStream_t stream = create_stream();
    wait_for_gate<<<1, 1, 0, stream>>>(gate);
    HIP_CHECK(hipMemcpy2DAsync(bytes.get(), width, source.data(), pitch, width, rows, hipMemcpyHostToDevice, stream));
    EXPECT_ERROR(hipStreamQuery(stream), hipErrorNotReady);
    std::fill(source.begin(), source.end(), 0);
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    HIP_CHECK(hipStreamSynchronize(stream));
    const std::vector<unsigned char> got = bytes.read();
    for (std::size_t index = 0; index < width * rows; ++index) {
        REQUIRE(got[index] == kept[index / width * pitch + index % width]);
    }
}

// Bytes are written as bytes: nothing around them changes.
CASE(byte_writes) {
    DeviceBuffer<unsigned char> bytes(std::vector<unsigned char>(200, 0xEE));
    write_bytes<<<1, 100>>>(bytes.get() + 33);
    const std::vector<unsigned char> got = bytes.read();
    for (int index = 0; index < 200; ++index) {
        REQUIRE(got[index] == (index < 33 || index >= 133 ? 0xEE : static_cast<unsigned char>((index - 33) * 7)));
    }
}

// A second free of the same memory is an error.
CASE(double_free) {
    void *block = nullptr;
    HIP_CHECK(hipMalloc(&block, 1000));
    HIP_CHECK(hipFree(block));
    EXPECT_ERROR(hipFree(block), hipErrorInvalidValue);
}

static int static_table[64];

// Memory that HIP was not told of: kernels reach it if the argument says so, and nothing that the program itself does not have.
CASE(kernels_reach_what_the_program_has) {
    const bool reach = std::atoi(sample::argument(0)) != 0;
    constexpr std::size_t pages = 1 << 20;
    int pageable = -1;
    hipDeviceProp_t properties;
    HIP_CHECK(hipDeviceGetAttribute(&pageable, hipDeviceAttributePageableMemoryAccess, 0));
    HIP_CHECK(hipGetDeviceProperties(&properties, 0));
    REQUIRE(pageable == reach && properties.pageableMemoryAccess == reach);
    const auto kernel_writes = [](int *values, bool expected) {
        fill<<<1, 64>>>(values, 64, 100);
        const hipError_t error = hipDeviceSynchronize();
        REQUIRE(error == (expected ? hipSuccess : hipErrorIllegalAddress));
        if (error != hipSuccess) {
            HIP_CHECK(hipDeviceReset());
        } else {
            REQUIRE(values[0] == 100 && values[63] == 163);
        }
    };
    const auto map = [](int protection) {
        void *const memory = mmap(nullptr, pages, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        return static_cast<int *>(memory);
    };
    int *const mapped = map(PROT_READ | PROT_WRITE);
    if (!reach) {
        kernel_writes(mapped, false);
        return;
    }
    int on_stack[64];
    std::vector<int> on_heap(64);
    int *const forbidden = map(PROT_NONE);
    int *const constant = map(PROT_READ);
    for (int *const memory : {on_heap.data(), on_stack, static_table, mapped}) {
        kernel_writes(memory, true);
    }
    int mostly_read = -1;
    HIP_CHECK(hipMemAdvise(mapped, pages, hipMemAdviseSetReadMostly, 0));
    HIP_CHECK(hipMemRangeGetAttribute(&mostly_read, sizeof mostly_read, hipMemRangeAttributeReadMostly, mapped, pages));
    REQUIRE(mostly_read == 1);
    int *const read = pinned<int>(64);
    subtract_one<<<1, 1>>>(mapped, read);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(mapped[0] == 99 && read[0] == 100);
    // What is put where the program has unmapped something is reached as what it is.
    REQUIRE(munmap(mapped, pages) == 0);
    for (int round = 0; round < 4; ++round) {
        int *device = nullptr;
        HIP_CHECK(hipMalloc(&device, pages / 2));
        kernel_writes(device, true);
        if (round == 3) {
            HIP_CHECK(hipFree(device));
            kernel_writes(device, false);
        }
    }
    kernel_writes(forbidden, false);
    kernel_writes(constant, false);
    for (int *const memory : {forbidden, constant}) {
        REQUIRE(mprotect(memory, pages, PROT_READ | PROT_WRITE) == 0);
        kernel_writes(memory, true);
    }
    kernel_writes(nullptr, false);
}
