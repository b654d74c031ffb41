// The driver interface and what stands beside it: contexts, functions by name, launches described by records, several launches, copies or values
// by one call, masks of compute units, values that streams wait for and write, pools, boxes, libraries, and which devices there are.
#include "case.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <dlfcn.h>
#include <hip/hip_ext.h>
#include <numeric>
#include <vector>

using sample::create_stream;
using sample::DeviceBuffer;
using sample::Gate;
using sample::pinned;

__global__ void add(int *values, int amount) { values[blockIdx.x * blockDim.x + threadIdx.x] += amount; }

__global__ void set(int *value, int to) { *value = to; }

// Sums in one thread: slow enough to be running when a launch that does not wait is back.
__global__ void count_slowly(volatile int *value, int to) {
    for (int step = 0; step < to; ++step) {
        *value = *value + 1;
    }
}

// Functions that HIP 5.2's headers do not have yet.
template <typename F> static F function(const char *name) {
    const F found = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    REQUIRE(found != nullptr);
    return found;
}

static hipFunction_t function_of(const void *kernel) {
    hipFunction_t found = nullptr;
    HIP_CHECK(function<hipError_t (*)(hipFunction_t *, const void *)>("hipGetFuncBySymbol")(&found, kernel));
    return found;
}

CASE(contexts_are_a_stack_of_each_thread) {
    hipCtx_t first = nullptr, second = nullptr, current = nullptr;
    hipDevice_t device = 9;
    HIP_CHECK(hipCtxCreate(&second, 0, 1));
    HIP_CHECK(hipCtxGetDevice(&device));
    REQUIRE(device == 1);
    HIP_CHECK(hipCtxCreate(&first, 0, 0));
    HIP_CHECK(hipCtxGetCurrent(&current));
    REQUIRE(current == first && first != second);
    HIP_CHECK(hipCtxPushCurrent(second));
    int ordinal = 9;
    HIP_CHECK(hipGetDevice(&ordinal));
    REQUIRE(ordinal == 1);
    DeviceBuffer<int> values(std::vector<int>(64, 1));
    hipPointerAttribute_t attributes;
    HIP_CHECK(hipPointerGetAttributes(&attributes, values.get()));
    REQUIRE(attributes.device == 1);
    HIP_CHECK(hipCtxPopCurrent(&current));
    REQUIRE(current == second);
    HIP_CHECK(hipGetDevice(&ordinal));
    REQUIRE(ordinal == 0);
    HIP_CHECK(hipCtxSetCurrent(second));
    add<<<1, 64>>>(values.get(), 4);
    HIP_CHECK(hipCtxSynchronize());
    REQUIRE(values.read() == std::vector<int>(64, 5));
    // Another thread has a stack of its own, and the first device.
    std::thread([] {
        int own = 9;
        HIP_CHECK(hipGetDevice(&own));
        REQUIRE(own == 0);
    }).join();
    unsigned flags = 9;
    int active = 9, version = 0;
    HIP_CHECK(hipCtxGetApiVersion(first, &version));
    REQUIRE(version != 0);
    hipCtx_t primary = nullptr;
    HIP_CHECK(hipDevicePrimaryCtxRetain(&primary, 0));
    REQUIRE(primary != nullptr);
    // The current device's is active.
    HIP_CHECK(hipDevicePrimaryCtxGetState(0, &flags, &active));
    REQUIRE(active == 0);
    HIP_CHECK(hipDevicePrimaryCtxGetState(1, &flags, &active));
    REQUIRE(active == 1);
    HIP_CHECK(hipDevicePrimaryCtxRelease(0));
    EXPECT_ERROR(hipCtxCreate(nullptr, 0, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipCtxCreate(&primary, 0, 2), hipErrorInvalidDevice);
    EXPECT_ERROR(hipCtxGetDevice(nullptr), hipErrorInvalidValue);
    HIP_CHECK(hipCtxDestroy(first));
    HIP_CHECK(hipCtxDestroy(second));
}

// A program that asks for a function of HIP 5 gets that of HIP 5, whatever it links.
CASE(functions_by_name) {
    using GetProcAddress = hipError_t (*)(const char *, void **, int, std::uint64_t, int *);
    const auto get = function<GetProcAddress>("hipGetProcAddress");
    const auto find = [&](const char *name, int version) {
        void *found = nullptr;
        int status = 9;
        HIP_CHECK(get(name, &found, version, 0, &status));
        REQUIRE(found != nullptr && status == 0);
        return found;
    };
    REQUIRE(find("hipFree", 502) == dlsym(RTLD_DEFAULT, "hipFree"));
    REQUIRE(find("hipGetDeviceProperties", 502) == dlsym(RTLD_DEFAULT, "hipGetDeviceProperties"));
    REQUIRE(find("hipGetDeviceProperties", 600) == dlsym(RTLD_DEFAULT, "hipGetDevicePropertiesR0600"));
    void *memory = nullptr;
    HIP_CHECK(reinterpret_cast<hipError_t (*)(void **, std::size_t)>(find("hipMalloc", 502))(&memory, 64));
    HIP_CHECK(hipFree(memory));
    void *nothing = &memory;
    int status = 9;
    REQUIRE(get("hipNoSuchFunction", &nothing, 600, 0, &status) != hipSuccess);
    REQUIRE(nothing == nullptr && status != 0);
    EXPECT_ERROR(get(nullptr, &nothing, 600, 0, &status), hipErrorInvalidValue);
    EXPECT_ERROR(get("hipFree", nullptr, 600, 0, &status), hipErrorInvalidValue);
}

// What is missing in a list of arguments: the log names it.
CASE(a_missing_argument) {
    int *const values = pinned<int>(64);
    int *place = values;
    const hipFunction_t kernel = function_of(reinterpret_cast<const void *>(add));
    void *list[] = {&place, nullptr};
    EXPECT_ERROR(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, list, nullptr), hipErrorInvalidValue);
    EXPECT_ERROR(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr), hipErrorInvalidValue);
    std::size_t size = sizeof place;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &place, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    EXPECT_ERROR(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra), hipErrorInvalidValue);
    size -= 1;
    EXPECT_ERROR(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra), hipErrorInvalidValue);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(std::all_of(values, values + 64, [](int value) { return value == 0; }));
}

// argument 0: the version's first digit
CASE(the_version) {
    int runtime = 0, driver = 0;
    HIP_CHECK(hipRuntimeGetVersion(&runtime));
    HIP_CHECK(hipDriverGetVersion(&driver));
    REQUIRE(runtime / 10000000 == std::atoi(sample::argument(0)) && driver == runtime);
}

namespace {
// As HIP 7 has them.
struct Attribute {
    unsigned id, padding;
    std::uint64_t value[8];
};
struct Configuration {
    dim3 grid, block;
    std::size_t lds;
    hipStream_t stream;
    Attribute *attributes;
    unsigned count;
};
struct DriverConfiguration {
    unsigned grid[3], block[3], lds;
    hipStream_t stream;
    Attribute *attributes;
    unsigned count;
};
constexpr unsigned cooperative = 2, priority = 8;
} // namespace

CASE(launches_described_by_records) {
    const auto launch = function<hipError_t (*)(const Configuration *, const void *, void **)>("hipLaunchKernelExC");
    const auto driver = function<hipError_t (*)(const DriverConfiguration *, hipFunction_t, void **, void **)>("hipDrvLaunchKernelEx");
    const void *const kernel = reinterpret_cast<const void *>(add);
    DeviceBuffer<int> values(std::vector<int>(128, 0));
    int *place = values.get(), amount = 3;
    void *arguments[] = {&place, &amount};
    Attribute attributes[] = {{cooperative, 0, {1}}, {priority, 0, {0}}};
    const hipStream_t stream = create_stream();
    Configuration configuration{dim3(2), dim3(64), 0, stream, attributes, 2};
    HIP_CHECK(launch(&configuration, kernel, arguments));
    configuration.attributes = nullptr;
    configuration.count = 0;
    HIP_CHECK(launch(&configuration, kernel, arguments));
    DriverConfiguration other{{2, 1, 1}, {64, 1, 1}, 0, stream, attributes, 1};
    HIP_CHECK(driver(&other, function_of(kernel), arguments, nullptr));
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(values.read() == std::vector<int>(128, 9));
    // More blocks than fit at once.
    other.grid[0] = 1 << 20;
    EXPECT_ERROR(driver(&other, function_of(kernel), arguments, nullptr), hipErrorCooperativeLaunchTooLarge);
    EXPECT_ERROR(launch(nullptr, kernel, arguments), hipErrorInvalidConfiguration);
    configuration.count = 1;
    EXPECT_ERROR(launch(&configuration, kernel, arguments), hipErrorInvalidValue);
    attributes[0].id = 77;
    configuration.attributes = attributes;
    EXPECT_ERROR(launch(&configuration, kernel, arguments), hipErrorInvalidValue);
}

// One launch on each of two devices by one call.
CASE(launches_on_several_devices) {
    constexpr int devices = 2, length = 128;
    std::vector<DeviceBuffer<int> *> values;
    int *places[devices], amounts[devices] = {5, 7};
    void *arguments[devices][2];
    hipLaunchParams list[devices] = {};
    for (int device = 0; device < devices; ++device) {
        HIP_CHECK(hipSetDevice(device));
        values.push_back(new DeviceBuffer<int>(std::vector<int>(length, device)));
        places[device] = values[device]->get();
        arguments[device][0] = &places[device];
        arguments[device][1] = &amounts[device];
        list[device] = {reinterpret_cast<void *>(add), dim3(2), dim3(length / 2), arguments[device], 0, create_stream()};
    }
    HIP_CHECK(hipExtLaunchMultiKernelMultiDevice(list, devices, 0));
    for (int device = 0; device < devices; ++device) {
        HIP_CHECK(hipSetDevice(device));
        HIP_CHECK(hipDeviceSynchronize());
        REQUIRE(values[device]->read() == std::vector<int>(length, device + amounts[device]));
    }
    EXPECT_ERROR(hipExtLaunchMultiKernelMultiDevice(list, devices + 1, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipExtLaunchMultiKernelMultiDevice(nullptr, devices, 0), hipErrorInvalidValue);
}

CASE(streams_have_masks_of_compute_units) {
    int units = 0;
    HIP_CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
    const std::uint32_t words = static_cast<std::uint32_t>(units + 31) / 32;
    std::vector<std::uint32_t> mask(words, 0), got(words + 1, 0xEEEEEEEE);
    mask[0] = 0xF0;
    hipStream_t stream = nullptr;
    HIP_CHECK(hipExtStreamCreateWithCUMask(&stream, words, mask.data()));
    HIP_CHECK(hipExtStreamGetCUMask(stream, words + 1, got.data()));
    REQUIRE(std::equal(mask.begin(), mask.end(), got.begin()) && got[words] == 0);
    int *const value = pinned<int>(1);
    set<<<1, 1, 0, stream>>>(value, 6);
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(*value == 6);
    // Any other stream has all of them.
    HIP_CHECK(hipExtStreamGetCUMask(create_stream(), words, got.data()));
    int count = 0;
    for (std::uint32_t word = 0; word < words; ++word) {
        count += __builtin_popcount(got[word]);
    }
    REQUIRE(count == units);
    EXPECT_ERROR(hipExtStreamCreateWithCUMask(&stream, 0, mask.data()), hipErrorInvalidValue);
    EXPECT_ERROR(hipExtStreamCreateWithCUMask(&stream, words, nullptr), hipErrorInvalidValue);
    EXPECT_ERROR(hipExtStreamGetCUMask(stream, 0, got.data()), hipErrorInvalidValue);
    EXPECT_ERROR(hipExtStreamGetCUMask(stream, words - 1, got.data()), hipErrorInvalidValue);
}

// Each condition holds a stream back until the masked value fulfils it; what the stream writes comes behind what is before it.
CASE(streams_wait_for_values) {
    int possible = 0;
    HIP_CHECK(hipDeviceGetAttribute(&possible, hipDeviceAttributeCanUseStreamWaitValue, 0));
    REQUIRE(possible == 1);
    struct {
        unsigned condition;
        std::uint32_t wanted, mask, at_first, afterwards;
    } const waits[] = {
        {hipStreamWaitValueGte, 5, ~0u, 4, 6},
        {hipStreamWaitValueEq, 5, ~0u, 6, 5},
        {hipStreamWaitValueEq, 5, 0xFF, 0x504, 0x605},
        {hipStreamWaitValueAnd, 0xF0, ~0u, 0x0F, 0x1F},
        {hipStreamWaitValueNor, 0xFFFFFF0F, ~0u, 0xF0, 0xE0},
    };
    const hipStream_t stream = create_stream(hipStreamNonBlocking);
    auto *const value = pinned<std::uint32_t>(1, hipHostMallocCoherent), *const written = pinned<std::uint32_t>(1, hipHostMallocCoherent);
    for (const auto &wait : waits) {
        *value = wait.at_first;
        *written = 0;
        HIP_CHECK(hipStreamWaitValue32(stream, value, wait.wanted, wait.condition, wait.mask));
        HIP_CHECK(hipStreamWriteValue32(stream, written, wait.wanted, 0));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        EXPECT_ERROR(hipStreamQuery(stream), hipErrorNotReady);
        REQUIRE(__atomic_load_n(written, __ATOMIC_ACQUIRE) == 0);
        __atomic_store_n(value, wait.afterwards, __ATOMIC_RELEASE);
        HIP_CHECK(hipStreamSynchronize(stream));
        REQUIRE(*written == wait.wanted);
    }
    EXPECT_ERROR(hipStreamWaitValue32(stream, value, 0, 9, ~0u), hipErrorInvalidValue);
    EXPECT_ERROR(hipStreamWaitValue32(stream, nullptr, 0, hipStreamWaitValueEq, ~0u), hipErrorInvalidValue);
    EXPECT_ERROR(hipStreamWriteValue32(stream, nullptr, 0, 0), hipErrorInvalidValue);
}

// What a pool keeps for later, by its threshold, and what it gives back when it is asked to.
CASE(pools_keep_and_trim) {
    constexpr std::size_t size = 8u << 20;
    hipMemPoolProps properties{};
    properties.allocType = hipMemAllocationTypePinned;
    properties.location.type = hipMemLocationTypeDevice;
    hipMemPool_t pool = nullptr;
    HIP_CHECK(hipMemPoolCreate(&pool, &properties));
    const auto ask = [&](hipMemPoolAttr attribute) {
        std::uint64_t answer = 99;
        HIP_CHECK(hipMemPoolGetAttribute(pool, attribute, &answer));
        return answer;
    };
    std::size_t before = 0, kept = 0, after = 0, total = 0;
    HIP_CHECK(hipMemGetInfo(&before, &total));
    std::uint64_t threshold = ~std::uint64_t{0};
    HIP_CHECK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
    REQUIRE(ask(hipMemPoolAttrReleaseThreshold) == threshold);
    const hipStream_t stream = create_stream();
    void *memory = nullptr;
    HIP_CHECK(hipMallocFromPoolAsync(&memory, size, pool, stream));
    REQUIRE(ask(hipMemPoolAttrUsedMemCurrent) >= size && ask(hipMemPoolAttrUsedMemHigh) >= size);
    HIP_CHECK(hipFreeAsync(memory, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    HIP_CHECK(hipMemGetInfo(&kept, &total));
    REQUIRE(ask(hipMemPoolAttrUsedMemCurrent) == 0 && ask(hipMemPoolAttrReservedMemCurrent) >= size && kept + size <= before);
    // The same memory again, without asking the device for more.
    void *again = nullptr;
    HIP_CHECK(hipMallocFromPoolAsync(&again, size, pool, stream));
    REQUIRE(again == memory);
    HIP_CHECK(hipFreeAsync(again, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    HIP_CHECK(hipMemPoolTrimTo(pool, size));
    REQUIRE(ask(hipMemPoolAttrReservedMemCurrent) >= size);
    HIP_CHECK(hipMemPoolTrimTo(pool, 0));
    HIP_CHECK(hipMemGetInfo(&after, &total));
    REQUIRE(ask(hipMemPoolAttrReservedMemCurrent) == 0 && after == before);
    std::uint64_t zero = 0, one = 1;
    HIP_CHECK(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &zero));
    REQUIRE(ask(hipMemPoolAttrUsedMemHigh) == 0);
    EXPECT_ERROR(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &one), hipErrorInvalidValue);
    HIP_CHECK(hipMemPoolDestroy(pool));
    EXPECT_ERROR(hipMemPoolTrimTo(pool, 0), hipErrorInvalidValue);
}

namespace {

// The record of `hipDrvMemcpy3D` since HIP 6, and the numbers of its kinds of memory.
struct WideBox {
    std::size_t srcXInBytes, srcY, srcZ, srcLOD;
    unsigned srcMemoryType;
    const void *srcHost;
    void *srcDevice;
    void *srcArray;
    std::size_t srcPitch, srcHeight;
    std::size_t dstXInBytes, dstY, dstZ, dstLOD;
    unsigned dstMemoryType;
    void *dstHost;
    void *dstDevice;
    void *dstArray;
    std::size_t dstPitch, dstHeight;
    std::size_t WidthInBytes, Height, Depth;
};

// A box of 3 x 2 x 2 bytes at (1, 1, 0) of 8 x 4 x 2 on the device, to (2, 0, 0) of 6 x 3 x 2 at the host.
template <typename Box, typename Kind> void copy_box(Kind host_kind, Kind device_kind) {
    std::vector<unsigned char> source(64), back(36, 0xEE);
    std::iota(source.begin(), source.end(), static_cast<unsigned char>(1));
    DeviceBuffer<unsigned char> device(source);
    Box box{};
    box.srcMemoryType = device_kind;
    box.srcDevice = device.get();
    box.srcPitch = 8;
    box.srcHeight = 4;
    box.srcXInBytes = box.srcY = 1;
    box.dstMemoryType = host_kind;
    box.dstHost = back.data();
    box.dstPitch = 6;
    box.dstHeight = 3;
    box.dstXInBytes = 2;
    box.WidthInBytes = 3;
    box.Height = box.Depth = 2;
    HIP_CHECK(function<hipError_t (*)(const Box *)>("hipDrvMemcpy3D")(&box));
    for (unsigned z = 0; z < 2; ++z) {
        for (unsigned y = 0; y < 3; ++y) {
            for (unsigned x = 0; x < 6; ++x) {
                const bool inside = x >= 2 && x < 5 && y < 2;
                REQUIRE(back[18 * z + 6 * y + x] == (inside ? source[32 * z + 8 * (y + 1) + (x - 1)] : 0xEE));
            }
        }
    }
}

} // namespace

// argument 0: the version that is presented
CASE(boxes_of_the_version) {
    if (*sample::argument(0) == '5') {
        copy_box<HIP_MEMCPY3D>(hipMemoryTypeHost, hipMemoryTypeDevice);
    } else {
        copy_box<WideBox>(1u, 2u);
    }
}

// A box of rows from one device to another, placed by positions, by the call that waits and by the one in a stream.
CASE(boxes_between_devices) {
    struct Box {
        void *source_array;
        hipPos source_place;
        hipPitchedPtr source;
        int source_device;
        void *array;
        hipPos place;
        hipPitchedPtr destination;
        int device;
        hipExtent extent;
    };
    constexpr std::size_t side = 8, bytes = side * side * side;
    std::vector<unsigned char> values(bytes);
    std::iota(values.begin(), values.end(), static_cast<unsigned char>(1));
    DeviceBuffer<unsigned char> from(values);
    HIP_CHECK(hipSetDevice(1));
    for (const bool in_a_stream : {false, true}) {
        DeviceBuffer<unsigned char> to(std::vector<unsigned char>(bytes, 0xEE));
        Box box{};
        box.source = make_hipPitchedPtr(from.get(), side, side, side);
        box.source_place = make_hipPos(1, 2, 3);
        box.destination = make_hipPitchedPtr(to.get(), side, side, side);
        box.place = make_hipPos(4, 0, 1);
        box.device = 1;
        box.extent = make_hipExtent(3, 4, 2);
        if (in_a_stream) {
            const hipStream_t stream = create_stream();
            HIP_CHECK(function<hipError_t (*)(Box *, hipStream_t)>("hipMemcpy3DPeerAsync")(&box, stream));
            HIP_CHECK(hipStreamSynchronize(stream));
        } else {
            HIP_CHECK(function<hipError_t (*)(Box *)>("hipMemcpy3DPeer")(&box));
        }
        const std::vector<unsigned char> got = to.read();
        for (std::size_t index = 0; index < bytes; ++index) {
            const std::size_t x = index % side, y = index / side % side, z = index / side / side;
            const bool inside = x >= 4 && x < 7 && y < 4 && z >= 1 && z < 3;
            REQUIRE(got[index] == (inside ? values[(z + 2) * side * side + (y + 2) * side + (x - 3)] : 0xEE));
        }
        box.device = 2;
        EXPECT_ERROR(function<hipError_t (*)(Box *)>("hipMemcpy3DPeer")(&box), hipErrorInvalidDevice);
    }
}

// Waits and writes of one call are in order, as those of several calls.
CASE(batches_of_values) {
    struct Operation {
        unsigned kind, padding;
        void *address;
        std::uint64_t value;
        unsigned flags, padding2;
        void *alias;
        std::uint64_t padding3;
    };
    constexpr unsigned wait_32 = 1, write_32 = 2, wait_64 = 4, write_64 = 5;
    const auto batch = function<hipError_t (*)(hipStream_t, unsigned, Operation *, unsigned)>("hipStreamBatchMemOp");
    const hipStream_t stream = create_stream(hipStreamNonBlocking);
    auto *const values = pinned<std::uint64_t>(4, hipHostMallocCoherent);
    Operation operations[] = {
        {write_32, 0, &values[0], 7, 0, 0, nullptr, 0},
        {wait_64, 0, &values[1], std::uint64_t{1} << 40, hipStreamWaitValueEq, 0, nullptr, 0},
        {write_64, 0, &values[2], std::uint64_t{3} << 40, 0, 0, nullptr, 0},
        {wait_32, 0, &values[2], 0, hipStreamWaitValueEq, 0, nullptr, 0},
        {write_32, 0, &values[3], 9, 0, 0, nullptr, 0},
    };
    HIP_CHECK(batch(stream, 5, operations, 0));
    while (__atomic_load_n(&values[0], __ATOMIC_ACQUIRE) != 7) {
    }
    EXPECT_ERROR(hipStreamQuery(stream), hipErrorNotReady);
    REQUIRE(__atomic_load_n(&values[2], __ATOMIC_ACQUIRE) == 0);
    __atomic_store_n(&values[1], std::uint64_t{1} << 40, __ATOMIC_RELEASE);
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(values[2] == std::uint64_t{3} << 40 && values[3] == 9);
    EXPECT_ERROR(batch(stream, 0, operations, 0), hipErrorInvalidValue);
    EXPECT_ERROR(batch(stream, 5, operations, 1), hipErrorInvalidValue);
    operations[0].kind = 77;
    EXPECT_ERROR(batch(stream, 5, operations, 0), hipErrorInvalidValue);
}

// Several ranges by one call; the number of the one that fails is told.
CASE(batches_of_copies) {
    using Copy = hipError_t (*)(void **, void **, std::size_t *, std::size_t, void *, std::size_t *, std::size_t, std::size_t *, hipStream_t);
    const auto copy = function<Copy>("hipMemcpyBatchAsync");
    std::vector<int> source(300), back(300, -1);
    std::iota(source.begin(), source.end(), 10);
    DeviceBuffer<int> device(300);
    const hipStream_t stream = create_stream();
    std::size_t sizes[] = {100 * sizeof(int), sizeof(int), 200 * sizeof(int)}, failed = 99;
    void *in[] = {source.data(), source.data(), source.data() + 100}, *on[] = {device.get(), device.get(), device.get() + 100};
    HIP_CHECK(copy(on, in, sizes, 3, nullptr, nullptr, 0, &failed, stream));
    void *out[] = {back.data(), back.data(), back.data() + 100};
    HIP_CHECK(copy(out, on, sizes, 3, nullptr, nullptr, 0, &failed, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(back == source);
    sizes[1] = 1 << 20;
    REQUIRE(copy(on, in, sizes, 3, nullptr, nullptr, 0, &failed, stream) != hipSuccess);
    REQUIRE(failed == 1);
    EXPECT_ERROR(copy(on, in, sizes, 0, nullptr, nullptr, 0, &failed, stream), hipErrorInvalidValue);
}

// argument 0: a module of the C samples. A library is loaded once for all devices, and its kernels are found by name.
CASE(libraries_of_kernels) {
    using Library = struct OpaqueLibrary *;
    using Kernel = struct OpaqueKernel *;
    using Load = hipError_t (*)(Library *, const char *, unsigned *, void **, unsigned, unsigned *, void **, unsigned);
    Library library = nullptr;
    HIP_CHECK(function<Load>("hipLibraryLoadFromFile")(&library, sample::argument(0), nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    HIP_CHECK(function<hipError_t (*)(unsigned *, Library)>("hipLibraryGetKernelCount")(&count, library));
    REQUIRE(count == 2);
    Kernel kernel = nullptr;
    const auto get = function<hipError_t (*)(Kernel *, Library, const char *)>("hipLibraryGetKernel");
    HIP_CHECK(get(&kernel, library, "scale_and_add"));
    const char *name = nullptr;
    HIP_CHECK(function<hipError_t (*)(const char **, Kernel)>("hipKernelGetName")(&name, kernel));
    REQUIRE(std::strcmp(name, "scale_and_add") == 0);
    std::size_t offset = 0, size = 0;
    const auto parameter = function<hipError_t (*)(Kernel, std::size_t, std::size_t *, std::size_t *)>("hipKernelGetParamInfo");
    HIP_CHECK(parameter(kernel, 2, &offset, &size));
    REQUIRE(offset == 12 && size == 4);
    EXPECT_ERROR(parameter(kernel, 4, &offset, &size), hipErrorInvalidValue);
    for (const int device : {0, 1}) {
        HIP_CHECK(hipSetDevice(device));
        hipFunction_t found = nullptr;
        HIP_CHECK(function<hipError_t (*)(hipFunction_t *, Kernel)>("hipKernelGetFunction")(&found, kernel));
        DeviceBuffer<unsigned> values(std::vector<unsigned>(100, 3));
        unsigned *memory = values.get(), factor = 5, addend = 7, length = 100;
        void *arguments[] = {&memory, &factor, &addend, &length};
        HIP_CHECK(hipModuleLaunchKernel(found, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
        REQUIRE(values.read() == std::vector<unsigned>(100, 22));
    }
    EXPECT_ERROR(get(&kernel, library, "no_such_kernel"), hipErrorNotFound);
    const auto unload = function<hipError_t (*)(Library)>("hipLibraryUnload");
    HIP_CHECK(unload(library));
    EXPECT_ERROR(unload(library), hipErrorInvalidHandle);
}

// With HIP_LAUNCH_BLOCKING=1 or AMD_SERIALIZE_KERNEL=2: a launch is back when its kernel has ended.
CASE(launches_wait_for_their_kernels) {
    constexpr int steps = 20000;
    volatile int *const value = pinned<int>(1, hipHostMallocCoherent);
    const hipStream_t stream = create_stream(hipStreamNonBlocking);
    for (int round = 1; round <= 5; ++round) {
        count_slowly<<<1, 1, 0, stream>>>(value, steps);
        REQUIRE(*value == round * steps);
        HIP_CHECK(hipStreamQuery(stream));
    }
}

// With AMD_SERIALIZE_KERNEL=1: a kernel is enqueued when what is before it has ended.
CASE(launches_wait_for_what_is_before) {
    int *const value = pinned<int>(1);
    const hipStream_t stream = create_stream(hipStreamNonBlocking);
    Gate gate;
    gate.close(stream);
    std::atomic<bool> opened{false};
    std::thread opener([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        opened = true;
        gate.open();
    });
    set<<<1, 1, 0, stream>>>(value, 3);
    REQUIRE(opened);
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(*value == 3);
    opener.join();
}

// Prints the devices that there are.
CASE(devices) {
    int count = 0;
    const hipError_t error = hipGetDeviceCount(&count);
    REQUIRE(error == hipSuccess || (error == hipErrorNoDevice && count == 0));
    for (int device = 0; device < count; ++device) {
        hipDeviceProp_t properties;
        HIP_CHECK(hipGetDeviceProperties(&properties, device));
        const std::string name = properties.gcnArchName;
        std::printf("%s ", name.substr(0, name.find(':')).c_str());
    }
}

// What recording an event takes beside a thousand streams that do nothing is what it takes alone.
CASE(records_cost_the_same_beside_idle_streams) {
    const hipStream_t stream = create_stream(hipStreamNonBlocking);
    const hipEvent_t event = sample::create_event(hipEventDisableTiming);
    const auto record = [&] {
        std::vector<double> times;
        for (int repeat = 0; repeat < 9; ++repeat) {
            const auto start = std::chrono::steady_clock::now();
            for (int count = 0; count < 1000; ++count) {
                HIP_CHECK(hipEventRecord(event, stream));
            }
            times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
            HIP_CHECK(hipStreamSynchronize(stream));
        }
        return *std::min_element(times.begin(), times.end());
    };
    const double alone = record();
    int *const value = pinned<int>(1);
    for (int other = 0; other < 1000; ++other) {
        set<<<1, 1, 0, create_stream()>>>(value, other);
    }
    HIP_CHECK(hipDeviceSynchronize());
    const double beside = record();
    std::printf("%.2f us alone, %.2f us beside\n", 1e3 * alone, 1e3 * beside);
    REQUIRE(beside < 3 * alone);
}
