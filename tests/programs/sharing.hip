// Memory and events of several processes, memory pools among them, and virtual memory management.
#include "case.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <dlfcn.h>
#include <functional>
#include <hip/hip_cooperative_groups.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

__global__ void add(int *p, int n, int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        p[i] += n;
    }
}

__global__ void count_in_rounds(unsigned *counters, unsigned *wrong, unsigned total) {
    const cooperative_groups::multi_grid_group all = cooperative_groups::this_multi_grid();
    if (all.size() != total || all.thread_rank() >= total) {
        atomicAdd_system(wrong, 1u);
    }
    for (int round = 0; round < 4; ++round) {
        atomicAdd_system(&counters[round], 1u);
        all.sync();
        if (__atomic_load_n(&counters[round], __ATOMIC_RELAXED) != total) {
            atomicAdd_system(wrong, 1u);
        }
        all.sync();
    }
}

// Ends the process unless the other one ended well.
void wait_for(pid_t child) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Two processes: the child was forked before any HIP call. With the argument "apart" it is the first process of a PID namespace of its own.
struct Peer {
    int in[2], out[2];
    pid_t child;

    Peer(const std::function<void(Peer &)> &body) {
        REQUIRE(pipe(in) == 0 && pipe(out) == 0);
        child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            std::swap(in, out);
            if (sample::arguments().count > 2 && std::strcmp(sample::argument(0), "apart") == 0) {
                REQUIRE(unshare(CLONE_NEWPID) == 0);
                const pid_t first = fork();
                REQUIRE(first >= 0);
                if (first != 0) {
                    wait_for(first);
                    _exit(0);
                }
                REQUIRE(getpid() == 1);
            }
            body(*this);
            std::fflush(nullptr);
            _exit(0);
        }
    }

    // Both ends: what one writes, the other reads.
    template <typename T> void send(const T &value) { REQUIRE(write(out[1], &value, sizeof value) == sizeof value); }
    template <typename T> T receive() {
        T value;
        REQUIRE(read(in[0], &value, sizeof value) == sizeof value);
        return value;
    }

    void join() { wait_for(child); }
};

} // namespace

CASE(memory_of_another_process) {
    constexpr int length = 1 << 19;
    Peer peer([](Peer &parent) {
        const auto handle = parent.receive<hipIpcMemHandle_t>();
        HIP_CHECK(hipSetDevice(1));
        int *memory = nullptr;
        HIP_CHECK(hipIpcOpenMemHandle(reinterpret_cast<void **>(&memory), handle, hipIpcMemLazyEnablePeerAccess));
        std::vector<int> values(length - 16);
        HIP_CHECK(hipMemcpy(values.data(), memory, values.size() * sizeof(int), hipMemcpyDeviceToHost));
        for (std::size_t i = 0; i < values.size(); ++i) {
            REQUIRE(values[i] == static_cast<int>(i) + 16);
        }
        add<<<(length - 16) / 256 + 1, 256>>>(memory, 1000, length - 16);
        HIP_CHECK(hipDeviceSynchronize());
        HIP_CHECK(hipIpcCloseMemHandle(memory));
        EXPECT_ERROR(hipIpcCloseMemHandle(memory), hipErrorInvalidValue);
        hipIpcMemHandle_t nothing{};
        EXPECT_ERROR(hipIpcOpenMemHandle(reinterpret_cast<void **>(&memory), nothing, hipIpcMemLazyEnablePeerAccess),
                     hipErrorInvalidValue);
        parent.send(1);
    });
    HIP_CHECK(hipSetDevice(1));
    int *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, length * sizeof(int)));
    std::vector<int> values(length);
    for (int i = 0; i < length; ++i) {
        values[i] = i;
    }
    HIP_CHECK(hipMemcpy(memory, values.data(), length * sizeof(int), hipMemcpyHostToDevice));
    hipIpcMemHandle_t handle;
    EXPECT_ERROR(hipIpcGetMemHandle(&handle, values.data()), hipErrorInvalidValue);
    // A pointer into the allocation.
    HIP_CHECK(hipIpcGetMemHandle(&handle, memory + 16));
    void *again = nullptr;
    EXPECT_ERROR(hipIpcOpenMemHandle(&again, handle, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidContext);
    peer.send(handle);
    REQUIRE(peer.receive<int>() == 1);
    peer.join();
    HIP_CHECK(hipMemcpy(values.data(), memory, length * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < length; ++i) {
        REQUIRE(values[i] == (i < 16 ? i : i + 1000));
    }
    HIP_CHECK(hipFree(memory));
}

namespace {

// The parent records an event behind a gate, round after round; the child opens it once, or in every round.
void event_rounds(bool every_round) {
    constexpr int rounds = 40;
    Peer peer([every_round](Peer &parent) {
        const auto handle = parent.receive<hipIpcEventHandle_t>();
        hipEvent_t event = nullptr;
        hipStream_t stream = sample::create_stream();
        int *seen = sample::pinned<int>(1);
        for (int round = 0; round < rounds; ++round) {
            REQUIRE(parent.receive<int>() == round);
            if (round == 0 || every_round) {
                HIP_CHECK(hipIpcOpenEventHandle(&event, handle));
            }
            EXPECT_ERROR(hipEventQuery(event), hipErrorNotReady);
            HIP_CHECK(hipStreamWaitEvent(stream, event, 0));
            add<<<1, 1, 0, stream>>>(seen, 1, 1);
            EXPECT_ERROR(hipStreamQuery(stream), hipErrorNotReady);
            REQUIRE(*static_cast<volatile int *>(seen) == round);
            parent.send(round);
            HIP_CHECK(hipEventSynchronize(event));
            HIP_CHECK(hipEventQuery(event));
            HIP_CHECK(hipStreamSynchronize(stream));
            REQUIRE(*seen == round + 1);
            if (every_round) {
                HIP_CHECK(hipEventDestroy(event));
            }
            parent.send(round);
        }
        if (!every_round) {
            HIP_CHECK(hipEventDestroy(event));
        }
    });
    hipEvent_t event, plain = sample::create_event();
    EXPECT_ERROR(hipEventCreateWithFlags(&event, hipEventInterprocess), hipErrorInvalidValue);
    HIP_CHECK(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
    hipIpcEventHandle_t handle;
    EXPECT_ERROR(hipIpcGetEventHandle(&handle, plain), hipErrorInvalidConfiguration);
    HIP_CHECK(hipIpcGetEventHandle(&handle, event));
    hipEvent_t again;
    EXPECT_ERROR(hipIpcOpenEventHandle(&again, handle), hipErrorInvalidContext);
    HIP_CHECK(hipEventQuery(event));
    peer.send(handle);
    hipStream_t stream = sample::create_stream();
    for (int round = 0; round < rounds; ++round) {
        sample::Gate gate;
        gate.close(stream);
        HIP_CHECK(hipEventRecord(event, stream));
        peer.send(round);
        REQUIRE(peer.receive<int>() == round);
        gate.open();
        HIP_CHECK(hipStreamSynchronize(stream));
        REQUIRE(peer.receive<int>() == round);
    }
    peer.join();
}

} // namespace

CASE(event_of_another_process) { event_rounds(false); }
CASE(event_opened_again_and_again) { event_rounds(true); }

CASE(peer_access_is_enabled_once) {
    int possible = 0;
    HIP_CHECK(hipDeviceCanAccessPeer(&possible, 0, 1));
    REQUIRE(possible == 1);
    HIP_CHECK(hipDeviceEnablePeerAccess(1, 0));
    EXPECT_ERROR(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
    EXPECT_ERROR(hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
    HIP_CHECK(hipDeviceDisablePeerAccess(1));
    EXPECT_ERROR(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
    EXPECT_ERROR(hipDeviceGetP2PAttribute(&possible, hipDevP2PAttrAccessSupported, 1, 1), hipErrorInvalidDevice);
}

// A copy from one device to another is in the null stream of the current one. Prints whether the host waits for it; what comes later in the null
// stream of the destination's device finds it done.
CASE(copy_to_a_peer) {
    constexpr int length = 4096;
    int *memory[2];
    for (int device = 0; device < 2; ++device) {
        HIP_CHECK(hipSetDevice(device));
        HIP_CHECK(hipMalloc(&memory[device], length * sizeof(int)));
        HIP_CHECK(hipMemset(memory[device], 0, length * sizeof(int)));
        HIP_CHECK(hipDeviceSynchronize());
    }
    HIP_CHECK(hipSetDevice(0));
    sample::Gate gate;
    gate.close(nullptr);
    add<<<(length + 255) / 256, 256>>>(memory[0], 5, length);
    std::thread opener([&gate] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        gate.open();
    });
    HIP_CHECK(hipMemcpyPeer(memory[1], 1, memory[0], 0, length * sizeof(int)));
    std::printf("the host waits: %s\n", hipStreamQuery(nullptr) == hipSuccess ? "yes" : "no");
    HIP_CHECK(hipSetDevice(1));
    add<<<(length + 255) / 256, 256>>>(memory[1], 1, length);
    HIP_CHECK(hipStreamSynchronize(nullptr));
    opener.join();
    std::vector<int> values(length);
    HIP_CHECK(hipMemcpy(values.data(), memory[1], length * sizeof(int), hipMemcpyDeviceToHost));
    REQUIRE(std::all_of(values.begin(), values.end(), [](int value) { return value == 6; }));
    EXPECT_ERROR(hipMemcpyPeer(memory[1], 2, memory[0], 0, 4), hipErrorInvalidDevice);
}

// Copies between the host and memory of another device than the current one come after what that device's streams are doing to it, and the
// stream that they were given to has them in its order.
CASE(copies_of_another_devices_memory_wait_for_its_streams) {
    constexpr int length = 4096;
    constexpr std::size_t bytes = length * sizeof(int);
    HIP_CHECK(hipSetDevice(0));
    int *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, bytes));
    HIP_CHECK(hipMemset(memory, 0, bytes));
    HIP_CHECK(hipDeviceSynchronize());
    const hipStream_t first = sample::create_stream();
    HIP_CHECK(hipSetDevice(1));
    const hipStream_t second = sample::create_stream();
    int *const values = sample::pinned<int>(length, hipHostMallocDefault);
    std::vector<int> pageable(length);
    const auto all = [](const int *from, int wanted) {
        return std::all_of(from, from + length, [wanted](int value) { return value == wanted; });
    };
    // A kernel that adds 5 in the first device's stream, once the gate is open; meanwhile a copy is asked for.
    const auto while_it_adds = [&](const std::function<void()> &copy) {
        HIP_CHECK(hipSetDevice(0));
        sample::Gate gate;
        gate.close(first);
        add<<<(length + 255) / 256, 256, 0, first>>>(memory, 5, length);
        HIP_CHECK(hipSetDevice(1));
        std::thread opener([&gate] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            gate.open();
        });
        copy();
        opener.join();
    };
    while_it_adds([&] { HIP_CHECK(hipMemcpy(pageable.data(), memory, bytes, hipMemcpyDeviceToHost)); });
    REQUIRE(all(pageable.data(), 5));
    while_it_adds([&] {
        HIP_CHECK(hipMemcpyAsync(values, memory, bytes, hipMemcpyDeviceToHost, second));
        HIP_CHECK(hipStreamSynchronize(second));
    });
    REQUIRE(all(values, 10));
    while_it_adds([&] {
        std::fill(pageable.begin(), pageable.end(), 1);
        HIP_CHECK(hipMemcpyAsync(memory, pageable.data(), bytes, hipMemcpyHostToDevice, second));
        std::fill(pageable.begin(), pageable.end(), 2);
        HIP_CHECK(hipMemcpyAsync(values, memory, bytes, hipMemcpyDeviceToHost, second));
        HIP_CHECK(hipStreamSynchronize(second));
    });
    REQUIRE(all(values, 1));
    // Rows as well, from pinned memory and from memory that HIP does not know.
    constexpr std::size_t row = 64 * sizeof(int);
    while_it_adds([&] { HIP_CHECK(hipMemcpy2D(pageable.data(), row, memory, row, row, length / 64, hipMemcpyDeviceToHost)); });
    REQUIRE(all(pageable.data(), 6));
    while_it_adds([&] {
        HIP_CHECK(hipMemcpy2DAsync(values, row, memory, row, row, length / 64, hipMemcpyDeviceToHost, second));
        HIP_CHECK(hipStreamSynchronize(second));
    });
    REQUIRE(all(values, 11));
    while_it_adds([&] {
        std::fill(pageable.begin(), pageable.end(), 1);
        HIP_CHECK(hipMemcpy2DAsync(memory, row, pageable.data(), row, row, length / 64, hipMemcpyHostToDevice, second));
        std::fill(pageable.begin(), pageable.end(), 2);
        HIP_CHECK(hipMemcpy2DAsync(values, row, memory, row, row, length / 64, hipMemcpyDeviceToHost, second));
        HIP_CHECK(hipStreamSynchronize(second));
    });
    REQUIRE(all(values, 1));
    // What is before a copy in its own stream is done first, and what is behind it waits.
    int *own = nullptr;
    HIP_CHECK(hipMalloc(&own, bytes));
    HIP_CHECK(hipMemset(own, 0, bytes));
    HIP_CHECK(hipDeviceSynchronize());
    sample::Gate gate;
    gate.close(second);
    add<<<(length + 255) / 256, 256, 0, second>>>(own, 7, length);
    HIP_CHECK(hipMemcpyAsync(values, own, bytes, hipMemcpyDeviceToHost, second));
    HIP_CHECK(hipMemcpyAsync(memory, values, bytes, hipMemcpyHostToDevice, second));
    HIP_CHECK(hipMemcpyAsync(values, memory, bytes, hipMemcpyDeviceToHost, second));
    REQUIRE(hipStreamQuery(second) == hipErrorNotReady);
    gate.open();
    HIP_CHECK(hipStreamSynchronize(second));
    REQUIRE(all(values, 7));
    HIP_CHECK(hipFree(own));
    HIP_CHECK(hipFree(memory));
}

// A file that another interface might have exported, and memory of our own by descriptor.
CASE(external_memory) {
    constexpr int length = 4096;
    constexpr std::size_t size = length * sizeof(int);
    const int file = memfd_create("of another interface", 0);
    REQUIRE(file >= 0 && ftruncate(file, size) == 0);
    int *const host = static_cast<int *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    REQUIRE(host != MAP_FAILED);
    for (int i = 0; i < length; ++i) {
        host[i] = i;
    }
    hipExternalMemoryHandleDesc wanted{};
    wanted.type = hipExternalMemoryHandleTypeOpaqueFd;
    wanted.handle.fd = file;
    wanted.size = size + 1;
    hipExternalMemory_t memory;
    EXPECT_ERROR(hipImportExternalMemory(&memory, &wanted), hipErrorInvalidValue);
    EXPECT_ERROR(hipImportExternalMemory(nullptr, &wanted), hipErrorInvalidValue);
    wanted.size = size;
    wanted.type = hipExternalMemoryHandleTypeD3D12Heap;
    EXPECT_ERROR(hipImportExternalMemory(&memory, &wanted), hipErrorNotSupported);
    wanted.type = hipExternalMemoryHandleTypeOpaqueFd;
    HIP_CHECK(hipImportExternalMemory(&memory, &wanted));
    hipExternalMemoryBufferDesc part{};
    part.offset = 64 * sizeof(int);
    part.size = size;
    int *device = nullptr;
    EXPECT_ERROR(hipExternalMemoryGetMappedBuffer(reinterpret_cast<void **>(&device), memory, &part), hipErrorInvalidValue);
    part.size = size - part.offset;
    HIP_CHECK(hipExternalMemoryGetMappedBuffer(reinterpret_cast<void **>(&device), memory, &part));
    REQUIRE(close(file) == 0);
    HIP_CHECK(hipDestroyExternalMemory(memory));
    EXPECT_ERROR(hipDestroyExternalMemory(memory), hipErrorInvalidValue);
    add<<<length / 256, 256>>>(device, 1000, length - 64);
    HIP_CHECK(hipDeviceSynchronize());
    for (int i = 0; i < length; ++i) {
        REQUIRE(host[i] == (i < 64 ? i : i + 1000));
    }
    int value = 0;
    HIP_CHECK(hipMemcpy(&value, device + 1, sizeof value, hipMemcpyDeviceToHost));
    REQUIRE(value == 1065);
    HIP_CHECK(hipFree(device));
    EXPECT_ERROR(hipFree(device), hipErrorInvalidValue);

    using GetHandle = hipError_t (*)(void *, void *, std::size_t, unsigned, unsigned long long);
    const auto get_handle = reinterpret_cast<GetHandle>(dlsym(RTLD_DEFAULT, "hipMemGetHandleForAddressRange"));
    REQUIRE(get_handle != nullptr);
    int *own = nullptr, descriptor = -1;
    HIP_CHECK(hipMalloc(&own, size));
    HIP_CHECK(hipMemset(own, 0, size));
    EXPECT_ERROR(get_handle(&descriptor, own, 2 * size, 1, 0), hipErrorInvalidValue);
    HIP_CHECK(get_handle(&descriptor, own, size, 1, 0));
    wanted.handle.fd = descriptor;
    HIP_CHECK(hipImportExternalMemory(&memory, &wanted));
    part.offset = 0;
    part.size = size;
    HIP_CHECK(hipExternalMemoryGetMappedBuffer(reinterpret_cast<void **>(&device), memory, &part));
    REQUIRE(device != own);
    add<<<length / 256, 256>>>(device, 7, length);
    HIP_CHECK(hipMemcpy(&value, own + length - 1, sizeof value, hipMemcpyDeviceToHost));
    REQUIRE(value == 7);
    HIP_CHECK(hipDestroyExternalMemory(memory));
    HIP_CHECK(hipFree(device));
    HIP_CHECK(hipFree(own));
    REQUIRE(close(descriptor) == 0);
}

// Kernels on two devices that count in rounds: after each, all of them see what all have added.
CASE(cooperative_launch_on_two_devices) {
    constexpr int devices = 2, blocks = 3, threads = 64, rounds = 4;
    unsigned *const counters = sample::pinned<unsigned>(rounds, hipHostMallocCoherent);
    unsigned *const wrong = sample::pinned<unsigned>(1, hipHostMallocCoherent);
    unsigned *counters_argument = counters, *wrong_argument = wrong;
    unsigned total = devices * blocks * threads;
    for (const hipDeviceAttribute_t attribute :
         {hipDeviceAttributeCooperativeMultiDeviceLaunch, hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc}) {
        int possible = 0;
        HIP_CHECK(hipDeviceGetAttribute(&possible, attribute, 1));
        REQUIRE(possible == 1);
    }
    void *arguments[] = {&counters_argument, &wrong_argument, &total};
    hipLaunchParams list[devices] = {};
    for (int device = 0; device < devices; ++device) {
        HIP_CHECK(hipSetDevice(device));
        list[device].func = reinterpret_cast<void *>(count_in_rounds);
        list[device].gridDim = dim3(blocks);
        list[device].blockDim = dim3(threads);
        list[device].args = arguments;
        list[device].stream = sample::create_stream();
    }
    EXPECT_ERROR(hipLaunchCooperativeKernelMultiDevice(list, 3, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipLaunchCooperativeKernelMultiDevice(list, devices, 4), hipErrorInvalidValue);
    EXPECT_ERROR(hipLaunchCooperativeKernelMultiDevice(nullptr, devices, 0), hipErrorInvalidValue);
    hipLaunchParams twice[devices] = {list[0], list[0]};
    EXPECT_ERROR(hipLaunchCooperativeKernelMultiDevice(twice, devices, 0), hipErrorInvalidDevice);
    twice[1].stream = nullptr;
    EXPECT_ERROR(hipLaunchCooperativeKernelMultiDevice(twice, devices, 0), hipErrorInvalidResourceHandle);
    HIP_CHECK(hipLaunchCooperativeKernelMultiDevice(list, devices, 0));
    for (int round = 0; round < rounds; ++round) {
        REQUIRE(counters[round] == total);
    }
    REQUIRE(*wrong == 0);
}

CASE(pool_for_another_device) {
    constexpr int length = 1000;
    hipMemPoolProps props{};
    props.allocType = hipMemAllocationTypePinned;
    props.location = {hipMemLocationTypeDevice, 0};
    hipMemPool_t pool = nullptr;
    HIP_CHECK(hipMemPoolCreate(&pool, &props));
    const hipStream_t owner = sample::create_stream();
    int *before = nullptr, *after = nullptr;
    HIP_CHECK(hipMallocFromPoolAsync(reinterpret_cast<void **>(&before), length * sizeof(int), pool, owner));
    hipMemLocation other{hipMemLocationTypeDevice, 1};
    hipMemAccessFlags flags = hipMemAccessFlagsProtReadWrite;
    HIP_CHECK(hipMemPoolGetAccess(&flags, pool, &other));
    REQUIRE(flags == hipMemAccessFlagsProtNone);
    const hipMemAccessDesc access{other, hipMemAccessFlagsProtReadWrite};
    HIP_CHECK(hipMemPoolSetAccess(pool, &access, 1));
    HIP_CHECK(hipMemPoolGetAccess(&flags, pool, &other));
    REQUIRE(flags == hipMemAccessFlagsProtReadWrite);
    HIP_CHECK(hipMallocFromPoolAsync(reinterpret_cast<void **>(&after), length * sizeof(int), pool, owner));
    for (int *const memory : {before, after}) {
        HIP_CHECK(hipMemsetAsync(memory, 0, length * sizeof(int), owner));
    }
    HIP_CHECK(hipStreamSynchronize(owner));
    HIP_CHECK(hipSetDevice(1));
    for (int *const memory : {before, after}) {
        add<<<length / 250, 250>>>(memory, 7, length);
        HIP_CHECK(hipDeviceSynchronize());
        std::vector<int> values(length);
        HIP_CHECK(hipMemcpy(values.data(), memory, length * sizeof(int), hipMemcpyDeviceToHost));
        REQUIRE(values == std::vector<int>(length, 7));
    }
    HIP_CHECK(hipFreeAsync(before, owner));
    HIP_CHECK(hipFreeAsync(after, owner));
    HIP_CHECK(hipStreamSynchronize(owner));
    HIP_CHECK(hipMemPoolDestroy(pool));
}

CASE(mapped_memory) {
    hipMemAllocationProp properties{};
    properties.type = hipMemAllocationTypePinned;
    properties.location.type = hipMemLocationTypeDevice;
    properties.location.id = 0;
    std::size_t granularity = 0;
    HIP_CHECK(hipMemGetAllocationGranularity(&granularity, &properties, hipMemAllocationGranularityMinimum));
    REQUIRE(granularity >= 4096);
    const std::size_t size = 2 * granularity;
    const int length = static_cast<int>(size / sizeof(int));
    void *range = nullptr;
    EXPECT_ERROR(hipMemAddressReserve(&range, size + 1, 0, nullptr, 0), hipErrorOutOfMemory);
    HIP_CHECK(hipMemAddressReserve(&range, 2 * size, 0, nullptr, 0));
    hipMemGenericAllocationHandle_t first, second;
    EXPECT_ERROR(hipMemCreate(&first, size + 1, &properties, 0), hipErrorInvalidValue);
    HIP_CHECK(hipMemCreate(&first, size, &properties, 0));
    HIP_CHECK(hipMemCreate(&second, size, &properties, 0));
    char *const high = static_cast<char *>(range) + size;
    HIP_CHECK(hipMemMap(range, size, 0, first, 0));
    HIP_CHECK(hipMemMap(high, size, 0, second, 0));
    hipMemAccessDesc access{};
    access.location = properties.location;
    access.flags = hipMemAccessFlagsProtReadWrite;
    HIP_CHECK(hipMemSetAccess(range, size, &access, 1));
    HIP_CHECK(hipMemSetAccess(high, size, &access, 1));
    unsigned long long flags = 0;
    HIP_CHECK(hipMemGetAccess(&flags, &properties.location, range));
    REQUIRE(flags == hipMemAccessFlagsProtReadWrite);

    int *values = static_cast<int *>(range);
    HIP_CHECK(hipMemset(values, 0, size));
    HIP_CHECK(hipMemset(high, 0, size));
    add<<<2 * length / 256, 256>>>(values, 7, 2 * length);
    std::vector<int> host(2 * length);
    HIP_CHECK(hipMemcpy(host.data(), values, size, hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(host.data() + length, high, size, hipMemcpyDeviceToHost));
    for (const int value : host) {
        REQUIRE(value == 7);
    }
    // The second allocation in place of the first one: its contents stay.
    add<<<length / 256, 256>>>(reinterpret_cast<int *>(high), 10, length);
    HIP_CHECK(hipMemUnmap(range, size));
    HIP_CHECK(hipMemUnmap(high, size));
    EXPECT_ERROR(hipMemUnmap(high, size), hipErrorInvalidValue);
    HIP_CHECK(hipMemMap(range, size, 0, second, 0));
    HIP_CHECK(hipMemSetAccess(range, size, &access, 1));
    HIP_CHECK(hipMemcpy(host.data(), range, size, hipMemcpyDeviceToHost));
    REQUIRE(host.front() == 17 && host[length - 1] == 17);
    EXPECT_ERROR(hipMemAddressFree(range, 2 * size), hipErrorInvalidValue);
    HIP_CHECK(hipMemUnmap(range, size));
    HIP_CHECK(hipMemRelease(first));
    HIP_CHECK(hipMemRelease(second));
    EXPECT_ERROR(hipMemRelease(second), hipErrorInvalidValue);
    HIP_CHECK(hipMemAddressFree(range, 2 * size));
}

CASE(pool_of_another_process) {
    // The descriptor goes to the child by being opened before the fork: memory is exported afterwards by pointer.
    Peer peer([](Peer &parent) {
        const auto data = parent.receive<hipMemPoolPtrExportData>();
        const int descriptor = parent.receive<int>();
        const pid_t process = getppid();
        char path[64];
        std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(process), descriptor);
        FILE *const file = std::fopen(path, "r");
        REQUIRE(file != nullptr);
        const int own = fileno(file);
        hipMemPool_t pool;
        // The descriptor stands in place of a pointer, in its lower 32 bits.
        void *const handle = reinterpret_cast<void *>(static_cast<std::intptr_t>(own) | std::intptr_t{1} << 40);
        HIP_CHECK(hipMemPoolImportFromShareableHandle(&pool, handle, hipMemHandleTypePosixFileDescriptor, 0));
        void *memory = nullptr;
        EXPECT_ERROR(hipMallocFromPoolAsync(&memory, 64, pool, nullptr), hipErrorInvalidValue);
        auto copy = data;
        HIP_CHECK(hipMemPoolImportPointer(&memory, pool, &copy));
        int value = 0;
        HIP_CHECK(hipMemcpy(&value, memory, sizeof value, hipMemcpyDeviceToHost));
        REQUIRE(value == 42);
        HIP_CHECK(hipFree(memory));
        parent.send(1);
    });
    hipMemPoolProps properties{};
    properties.allocType = hipMemAllocationTypePinned;
    properties.handleTypes = hipMemHandleTypePosixFileDescriptor;
    properties.location.type = hipMemLocationTypeDevice;
    hipMemPool_t pool;
    HIP_CHECK(hipMemPoolCreate(&pool, &properties));
    int *memory = nullptr;
    HIP_CHECK(hipMallocFromPoolAsync(reinterpret_cast<void **>(&memory), sizeof(int), pool, nullptr));
    const int value = 42;
    HIP_CHECK(hipMemcpy(memory, &value, sizeof value, hipMemcpyHostToDevice));
    hipMemPoolPtrExportData data;
    HIP_CHECK(hipMemPoolExportPointer(&data, memory));
    int descriptor = -1;
    HIP_CHECK(hipMemPoolExportToShareableHandle(&descriptor, pool, hipMemHandleTypePosixFileDescriptor, 0));
    peer.send(data);
    peer.send(descriptor);
    REQUIRE(peer.receive<int>() == 1);
    peer.join();
}

// Physical memory that the parent has mapped is mapped by the child, too, by a descriptor.
CASE(mapped_memory_of_another_process) {
    const auto map = [](hipMemGenericAllocationHandle_t memory, std::size_t size) {
        void *range = nullptr;
        HIP_CHECK(hipMemAddressReserve(&range, size, 0, nullptr, 0));
        HIP_CHECK(hipMemMap(range, size, 0, memory, 0));
        hipMemAccessDesc access{};
        access.location.type = hipMemLocationTypeDevice;
        access.flags = hipMemAccessFlagsProtReadWrite;
        HIP_CHECK(hipMemSetAccess(range, size, &access, 1));
        return static_cast<int *>(range);
    };
    Peer peer([&map](Peer &parent) {
        const auto size = parent.receive<std::size_t>();
        const int descriptor = parent.receive<int>();
        char path[64];
        std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(getppid()), descriptor);
        FILE *const file = std::fopen(path, "r+");
        REQUIRE(file != nullptr);
        int own = fileno(file), wrong = -1;
        hipMemGenericAllocationHandle_t memory;
        EXPECT_ERROR(hipMemImportFromShareableHandle(&memory, &wrong, hipMemHandleTypePosixFileDescriptor), hipErrorInvalidValue);
        EXPECT_ERROR(hipMemImportFromShareableHandle(&memory, nullptr, hipMemHandleTypePosixFileDescriptor), hipErrorInvalidValue);
        HIP_CHECK(hipMemImportFromShareableHandle(&memory, &own, hipMemHandleTypePosixFileDescriptor));
        const int length = static_cast<int>(size / sizeof(int));
        int *const values = map(memory, size);
        add<<<length / 256, 256>>>(values, 30, length);
        HIP_CHECK(hipDeviceSynchronize());
        HIP_CHECK(hipMemUnmap(values, size));
        HIP_CHECK(hipMemRelease(memory));
        HIP_CHECK(hipMemAddressFree(values, size));
        parent.send(1);
    });
    hipMemAllocationProp properties{};
    properties.type = hipMemAllocationTypePinned;
    properties.location.type = hipMemLocationTypeDevice;
    properties.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
    std::size_t size = 0;
    HIP_CHECK(hipMemGetAllocationGranularity(&size, &properties, hipMemAllocationGranularityMinimum));
    hipMemGenericAllocationHandle_t memory;
    HIP_CHECK(hipMemCreate(&memory, size, &properties, 0));
    const int length = static_cast<int>(size / sizeof(int));
    int *const values = map(memory, size);
    HIP_CHECK(hipMemset(values, 0, size));
    add<<<length / 256, 256>>>(values, 12, length);
    HIP_CHECK(hipDeviceSynchronize());
    int descriptor = -1;
    EXPECT_ERROR(hipMemExportToShareableHandle(nullptr, memory, hipMemHandleTypePosixFileDescriptor, 0), hipErrorInvalidValue);
    HIP_CHECK(hipMemExportToShareableHandle(&descriptor, memory, hipMemHandleTypePosixFileDescriptor, 0));
    peer.send(size);
    peer.send(descriptor);
    REQUIRE(peer.receive<int>() == 1);
    peer.join();
    std::vector<int> host(length);
    HIP_CHECK(hipMemcpy(host.data(), values, size, hipMemcpyDeviceToHost));
    REQUIRE(host == std::vector<int>(length, 42));
    REQUIRE(close(descriptor) == 0);
    HIP_CHECK(hipMemUnmap(values, size));
    HIP_CHECK(hipMemRelease(memory));
    HIP_CHECK(hipMemAddressFree(values, size));
}
