// Streams, events and callbacks: order, states, errors.
#include "case.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

using sample::create_event;
using sample::create_stream;
using sample::Gate;
using sample::pinned;

// Takes the next number of a counter and stores it: the order in which kernels ran.
__global__ void take_number(int *counter, int *number) { *number = atomicAdd(counter, 1); }

__global__ void set(int *value, int to) { *value = to; }

__global__ void add_one(int *values, int length) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < length) {
        values[index] += 1;
    }
}

// Sums in one thread: slow enough to be running while the host goes on.
__global__ void sum_slowly(const int *values, int length, int *sum) {
    int total = 0;
    for (int index = 0; index < length; ++index) {
        total += values[index];
    }
    *sum = total;
}

__global__ void wait_for_flag(volatile int *flag, int *seen) {
    while (*flag == 0) {
        __builtin_amdgcn_s_sleep(1);
    }
    *seen = *flag;
}

__global__ void nothing() {}

// The null stream waits for blocking streams and they for it; non-blocking streams go their own way.
CASE(null_stream_order) {
    int *const numbers = pinned<int>(4), *const counter = pinned<int>(1);
    const hipStream_t blocking = create_stream(), free_stream = create_stream(hipStreamNonBlocking);
    std::fill(numbers, numbers + 4, -1);
    Gate gate;
    gate.close(blocking);
    take_number<<<1, 1, 0, blocking>>>(counter, &numbers[0]);
    take_number<<<1, 1>>>(counter, &numbers[1]);
    take_number<<<1, 1, 0, blocking>>>(counter, &numbers[2]);
    take_number<<<1, 1, 0, free_stream>>>(counter, &numbers[3]);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipStreamSynchronize(free_stream));
    REQUIRE(numbers[3] == 0);
    REQUIRE(numbers[0] == -1 && numbers[1] == -1 && numbers[2] == -1);
    EXPECT_ERROR(hipStreamQuery(blocking), hipErrorNotReady);
    gate.open();
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 3);
}

// Synchronising one stream does not wait for another.
CASE(synchronize_one_stream) {
    const hipStream_t first = create_stream(), second = create_stream();
    Gate first_gate, second_gate;
    first_gate.close(first);
    second_gate.close(second);
    first_gate.open();
    HIP_CHECK(hipStreamSynchronize(first));
    EXPECT_ERROR(hipStreamQuery(second), hipErrorNotReady);
    second_gate.open();
    HIP_CHECK(hipStreamSynchronize(second));
    HIP_CHECK(hipStreamQuery(second));
}

// A stream that waits for an event starts only behind the work before the record.
CASE(wait_event_orders_streams) {
    int *const numbers = pinned<int>(2), *const counter = pinned<int>(1);
    std::fill(numbers, numbers + 2, -1);
    const hipStream_t first = create_stream(hipStreamNonBlocking), second = create_stream(hipStreamNonBlocking);
    const hipEvent_t event = create_event(hipEventDisableTiming);
    Gate gate;
    gate.close(first);
    take_number<<<1, 1, 0, first>>>(counter, &numbers[0]);
    HIP_CHECK(hipEventRecord(event, first));
    HIP_CHECK(hipStreamWaitEvent(second, event, 0));
    take_number<<<1, 1, 0, second>>>(counter, &numbers[1]);
    EXPECT_ERROR(hipEventQuery(event), hipErrorNotReady);
    EXPECT_ERROR(hipStreamQuery(second), hipErrorNotReady);
    REQUIRE(numbers[1] == -1);
    gate.open();
    HIP_CHECK(hipStreamSynchronize(second));
    REQUIRE(numbers[0] == 0 && numbers[1] == 1);
    HIP_CHECK(hipEventQuery(event));
}

// Destroying a stream with work pending neither hangs nor loses the work.
CASE(destroy_a_busy_stream) {
    int *const value = pinned<int>(1);
    const hipStream_t stream = create_stream();
    Gate gate;
    gate.close(stream);
    set<<<1, 1, 0, stream>>>(value, 1);
    std::thread opener([&gate] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        gate.open();
    });
    HIP_CHECK(hipStreamDestroy(stream));
    HIP_CHECK(hipDeviceSynchronize());
    opener.join();
    REQUIRE(*value == 1);
}

// A copy from and to pinned memory returns at once, also behind work that is held back.
CASE(pinned_copies_do_not_block) {
    constexpr int length = 1000;
    int *const source = pinned<int>(length), *const destination = pinned<int>(length);
    for (int index = 0; index < length; ++index) {
        source[index] = index * 3;
    }
    sample::DeviceBuffer<int> device(std::vector<int>(length, -1));
    const hipStream_t stream = create_stream(hipStreamNonBlocking);
    HIP_CHECK(hipDeviceSynchronize());
    Gate gate;
    gate.close(stream);
    HIP_CHECK(hipMemcpyAsync(device.get(), source, length * sizeof(int), hipMemcpyHostToDevice, stream));
    HIP_CHECK(hipMemcpyAsync(destination, device.get(), length * sizeof(int), hipMemcpyDeviceToHost, stream));
    EXPECT_ERROR(hipStreamQuery(stream), hipErrorNotReady);
    REQUIRE(destination[1] == 0);
    gate.open();
    HIP_CHECK(hipStreamSynchronize(stream));
    for (int index = 0; index < length; ++index) {
        REQUIRE(destination[index] == index * 3);
    }
}

CASE(bad_arguments) {
    const hipStream_t stream = create_stream();
    const hipEvent_t event = create_event();
    hipStream_t never;
    hipEvent_t never_event;
    EXPECT_ERROR(hipStreamWaitEvent(stream, event, 0x80), hipErrorInvalidValue);
    EXPECT_ERROR(hipStreamWaitEvent(stream, nullptr, 0), hipErrorInvalidHandle);
    EXPECT_ERROR(hipStreamCreateWithFlags(&never, 0x40), hipErrorInvalidValue);
    EXPECT_ERROR(hipStreamCreateWithFlags(nullptr, hipStreamDefault), hipErrorInvalidValue);
    EXPECT_ERROR(hipEventCreateWithFlags(&never_event, 0x1000), hipErrorInvalidValue);
    EXPECT_ERROR(hipEventCreate(nullptr), hipErrorInvalidValue);
    EXPECT_ERROR(hipEventRecord(nullptr, stream), hipErrorInvalidHandle);
    EXPECT_ERROR(hipEventQuery(nullptr), hipErrorInvalidHandle);
    EXPECT_ERROR(hipEventSynchronize(nullptr), hipErrorInvalidHandle);
    EXPECT_ERROR(hipEventDestroy(nullptr), hipErrorInvalidHandle);
    EXPECT_ERROR(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
    EXPECT_ERROR(hipStreamAddCallback(stream, nullptr, nullptr, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipStreamAddCallback(
                     stream, [](hipStream_t, hipError_t, void *) {}, nullptr, 1),
                 hipErrorInvalidValue);
}

// Handles that are no streams or events any more are refused, and nothing breaks.
CASE(stale_handles) {
    const hipStream_t stream = create_stream();
    const hipEvent_t event = create_event();
    HIP_CHECK(hipStreamDestroy(stream));
    HIP_CHECK(hipEventDestroy(event));
    REQUIRE(hipStreamSynchronize(stream) != hipSuccess);
    REQUIRE(hipStreamQuery(stream) != hipSuccess);
    REQUIRE(hipStreamDestroy(stream) != hipSuccess);
    REQUIRE(hipEventRecord(create_event(), stream) != hipSuccess);
    REQUIRE(hipEventQuery(event) != hipSuccess);
    REQUIRE(hipEventDestroy(event) != hipSuccess);
    int *const value = pinned<int>(1);
    set<<<1, 1>>>(value, 5);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*value == 5);
}

CASE(priorities_and_flags) {
    int least = 100, greatest = 100, priority = 100;
    unsigned flags = 100;
    HIP_CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    REQUIRE(greatest <= least);
    hipStream_t stream;
    HIP_CHECK(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest));
    HIP_CHECK(hipStreamGetPriority(stream, &priority));
    REQUIRE(priority == greatest);
    HIP_CHECK(hipStreamGetFlags(stream, &flags));
    REQUIRE(flags == hipStreamNonBlocking);
    int *const value = pinned<int>(1);
    set<<<1, 1, 0, stream>>>(value, 9);
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(*value == 9);
}

// For one worker thread: of what is ready at the same time, the stream of high priority gets most turns, and the other ones some.
CASE(urgent_streams_go_first) {
    constexpr int COUNT = 300;
    int least = 0, greatest = 0;
    HIP_CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    REQUIRE(greatest < least);
    int *const counter = pinned<int>(1), *const numbers = pinned<int>(2 * COUNT), *const seen = pinned<int>(1);
    int *const flag = pinned<int>(1, hipHostMallocCoherent);
    volatile int *const done = pinned<int>(2, hipHostMallocCoherent);
    const hipStream_t gated = create_stream(hipStreamNonBlocking);
    wait_for_flag<<<1, 64, 0, gated>>>(flag, seen);
    const hipEvent_t open = create_event(hipEventDisableTiming);
    HIP_CHECK(hipEventRecord(open, gated));
    const int priorities[2] = {least, greatest};
    for (int which = 0; which < 2; ++which) {
        hipStream_t stream;
        HIP_CHECK(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, priorities[which]));
        HIP_CHECK(hipStreamWaitEvent(stream, open, 0));
        for (int index = 0; index < COUNT; ++index) {
            take_number<<<1, 1, 0, stream>>>(counter, &numbers[which * COUNT + index]);
        }
        set<<<1, 1, 0, stream>>>(const_cast<int *>(&done[which]), 1);
        HIP_CHECK(hipGetLastError());
        // Everything is with the device before the gate opens.
        EXPECT_ERROR(hipStreamQuery(stream), hipErrorNotReady);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    // A thread that waits in the runtime would lend itself to the device.
    while (done[0] == 0 || done[1] == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    HIP_CHECK(hipDeviceSynchronize());
    int before = 0;
    for (int index = 0; index < COUNT; ++index) {
        before += numbers[index] < numbers[2 * COUNT - 1];
    }
    std::printf("%d of %d kernels of low priority ran before the last one of high priority\n", before, COUNT);
    REQUIRE(before > 0 && before < COUNT / 2);
}

// A kernel of high priority that waits for one of low priority gets what it waits for.
CASE(an_urgent_kernel_waits_for_another) {
    int least = 0, greatest = 0;
    HIP_CHECK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    int *const flags = pinned<int>(8, hipHostMallocCoherent), *const seen = pinned<int>(1);
    hipStream_t urgent[8], other;
    HIP_CHECK(hipStreamCreateWithPriority(&other, hipStreamNonBlocking, least));
    for (int index = 0; index < 8; ++index) {
        HIP_CHECK(hipStreamCreateWithPriority(&urgent[index], hipStreamNonBlocking, greatest));
        wait_for_flag<<<1, 64, 0, urgent[index]>>>(&flags[index], seen);
    }
    for (int index = 0; index < 8; ++index) {
        set<<<1, 1, 0, other>>>(&flags[index], index + 1);
    }
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*seen > 0);
}

// Each thread has a stream of its own under hipStreamPerThread.
CASE(stream_per_thread) {
    int *const values = pinned<int>(2);
    Gate gate;
    std::thread held([&] {
        gate.close(hipStreamPerThread);
        set<<<1, 1, 0, hipStreamPerThread>>>(&values[0], 1);
        HIP_CHECK(hipStreamSynchronize(hipStreamPerThread));
    });
    set<<<1, 1, 0, hipStreamPerThread>>>(&values[1], 2);
    HIP_CHECK(hipStreamSynchronize(hipStreamPerThread));
    REQUIRE(values[1] == 2);
    gate.open();
    held.join();
    REQUIRE(values[0] == 1);
}

// Sixteen threads, each with buffers and a stream of its own.
CASE(many_threads) {
    constexpr int threads = 16, rounds = 20, length = 512;
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([thread] {
            const hipStream_t stream = create_stream(hipStreamNonBlocking);
            std::vector<int> values(length);
            for (int round = 0; round < rounds; ++round) {
                int want = 0, got = -1;
                for (int index = 0; index < length; ++index) {
                    values[index] = thread * 1000 + round * 10 + index;
                    want += values[index];
                }
                int *device = nullptr, *sum = nullptr;
                HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&device), length * sizeof(int)));
                HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&sum), sizeof(int)));
                HIP_CHECK(hipMemcpyAsync(device, values.data(), length * sizeof(int), hipMemcpyHostToDevice, stream));
                sum_slowly<<<1, 1, 0, stream>>>(device, length, sum);
                HIP_CHECK(hipMemcpyAsync(&got, sum, sizeof(int), hipMemcpyDeviceToHost, stream));
                HIP_CHECK(hipStreamSynchronize(stream));
                REQUIRE(got == want);
                HIP_CHECK(hipFree(device));
                HIP_CHECK(hipFree(sum));
            }
            HIP_CHECK(hipStreamDestroy(stream));
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
}

// Many streams that do nothing, and one that works among them.
CASE(many_idle_streams) {
    std::vector<hipStream_t> streams;
    for (int index = 0; index < 1000; ++index) {
        streams.push_back(create_stream());
    }
    int *const value = pinned<int>(1);
    set<<<1, 1, 0, streams[500]>>>(value, 3);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*value == 3);
    for (const hipStream_t stream : streams) {
        HIP_CHECK(hipStreamDestroy(stream));
    }
}

// A kernel that waits for the host: the launch returns, and the kernel sees what the host then writes.
CASE(kernel_waits_for_the_host) {
    int *const flag = pinned<int>(1, hipHostMallocCoherent), *const seen = pinned<int>(1, hipHostMallocCoherent);
    wait_for_flag<<<1, 64>>>(flag, seen);
    HIP_CHECK(hipGetLastError());
    EXPECT_ERROR(hipStreamQuery(nullptr), hipErrorNotReady);
    __atomic_store_n(flag, 42, __ATOMIC_RELEASE);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*seen == 42);
}

// A kernel on one stream waits for what a kernel on another stream writes.
CASE(kernel_waits_for_another_stream) {
    int *const flag = pinned<int>(1, hipHostMallocCoherent), *const seen = pinned<int>(1, hipHostMallocCoherent);
    const hipStream_t waiter = create_stream(hipStreamNonBlocking), setter = create_stream(hipStreamNonBlocking);
    wait_for_flag<<<1, 64, 0, waiter>>>(flag, seen);
    set<<<1, 1, 0, setter>>>(flag, 17);
    HIP_CHECK(hipStreamSynchronize(waiter));
    REQUIRE(*seen == 17);
}

// Streams in a ring: each writes its number and waits for that of every other.
CASE(write_and_wait_values) {
    constexpr int count = 4, rounds = 100;
    uint64_t *signals[count];
    hipStream_t streams[count];
    for (int index = 0; index < count; ++index) {
        HIP_CHECK(hipExtMallocWithFlags(reinterpret_cast<void **>(&signals[index]), sizeof(uint64_t), hipMallocSignalMemory));
        HIP_CHECK(hipMemset(signals[index], 0, sizeof(uint64_t)));
        streams[index] = create_stream(hipStreamNonBlocking);
    }
    HIP_CHECK(hipDeviceSynchronize());
    for (uint64_t round = 1; round <= rounds; ++round) {
        for (int index = 0; index < count; ++index) {
            HIP_CHECK(hipStreamWriteValue64(streams[index], signals[index], round, 0));
            for (int other = 0; other < count; ++other) {
                HIP_CHECK(hipStreamWaitValue64(streams[index], signals[other], round, hipStreamWaitValueGte, ~0ull));
            }
        }
    }
    HIP_CHECK(hipDeviceSynchronize());
    const auto check = [&](uint64_t last) {
        for (uint64_t *const signal : signals) {
            uint64_t value = 0;
            HIP_CHECK(hipMemcpy(&value, signal, sizeof value, hipMemcpyDeviceToHost));
            REQUIRE(value == last);
        }
    };
    check(rounds);
    // A wait for one very value: nobody may be a round ahead.
    for (uint64_t round = 2 * rounds; round < 3 * rounds; ++round) {
        for (int index = 0; index < count; ++index) {
            HIP_CHECK(hipStreamWriteValue64(streams[index], signals[index], round, 0));
            for (int other = 0; other < count; ++other) {
                HIP_CHECK(hipStreamWaitValue64(streams[index], signals[other], round, hipStreamWaitValueEq, ~0ull));
            }
        }
        HIP_CHECK(hipDeviceSynchronize());
    }
    check(3 * rounds - 1);
}

// Streams take turns on the same memory, many times over, through the null stream.
CASE(many_launches) {
    constexpr int launches = 5000;
    int *const counter = pinned<int>(1), *const number = pinned<int>(1);
    const hipStream_t streams[3] = {create_stream(), create_stream(), nullptr};
    for (int launch = 0; launch < launches; ++launch) {
        take_number<<<1, 1, 0, streams[launch % 3]>>>(counter, number);
    }
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*counter == launches);
}

// Threads that allocate, copy, compute and free in streams of their own.
CASE(pool_memory_from_many_threads) {
    constexpr int threads = 16, rounds = 200, length = 100;
    std::atomic<int> wrong{0};
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([thread, &wrong] {
            const hipStream_t stream = create_stream(hipStreamNonBlocking);
            for (int round = 0; round < rounds; ++round) {
                const std::vector<int> values(length, thread + round);
                int *memory = nullptr, *sum = nullptr, result = 0;
                HIP_CHECK(hipMallocAsync(reinterpret_cast<void **>(&memory), length * sizeof(int), stream));
                HIP_CHECK(hipMallocAsync(reinterpret_cast<void **>(&sum), sizeof(int), stream));
                HIP_CHECK(hipMemcpyAsync(memory, values.data(), length * sizeof(int), hipMemcpyHostToDevice, stream));
                sum_slowly<<<1, 1, 0, stream>>>(memory, length, sum);
                HIP_CHECK(hipMemcpyAsync(&result, sum, sizeof(int), hipMemcpyDeviceToHost, stream));
                HIP_CHECK(hipFreeAsync(sum, stream));
                HIP_CHECK(hipFreeAsync(memory, stream));
                HIP_CHECK(hipStreamSynchronize(stream));
                wrong += result != length * (thread + round);
            }
        });
    }
    for (std::thread &thread : all) {
        thread.join();
    }
    REQUIRE(wrong == 0);
}

// Memory of a pool that goes from stream to stream keeps what was written, without a kernel in between.
CASE(pool_memory_across_streams) {
    constexpr int rounds = 600, length = 4096;
    const hipStream_t first = create_stream(hipStreamNonBlocking), second = create_stream(hipStreamNonBlocking);
    const hipEvent_t event = create_event(hipEventDisableTiming);
    int *const in = pinned<int>(length), *const out = pinned<int>(length);
    for (int round = 0; round < rounds; ++round) {
        int *a = nullptr, *b = nullptr;
        std::fill(in, in + length, round);
        HIP_CHECK(hipMallocAsync(reinterpret_cast<void **>(&a), length * sizeof(int), first));
        HIP_CHECK(hipMemcpyAsync(a, in, length * sizeof(int), hipMemcpyHostToDevice, first));
        HIP_CHECK(hipEventRecord(event, first));
        HIP_CHECK(hipStreamWaitEvent(second, event, 0));
        HIP_CHECK(hipMallocAsync(reinterpret_cast<void **>(&b), length * sizeof(int), second));
        HIP_CHECK(hipMemcpyAsync(b, a, length * sizeof(int), hipMemcpyDeviceToDevice, second));
        HIP_CHECK(hipFreeAsync(a, second));
        HIP_CHECK(hipMemcpyAsync(out, b, length * sizeof(int), hipMemcpyDeviceToHost, second));
        HIP_CHECK(hipFreeAsync(b, second));
        HIP_CHECK(hipStreamSynchronize(second));
        REQUIRE(std::all_of(out, out + length, [round](int value) { return value == round; }));
    }
}

// Memory of a pool that is freed goes back to the device at the next synchronisation: nothing is kept by default.
CASE(pool_memory_goes_back) {
    std::size_t before = 0, meanwhile = 0, after = 0, total = 0;
    HIP_CHECK(hipMemGetInfo(&before, &total));
    const std::size_t size = before / 4 * 3;
    const hipStream_t stream = create_stream();
    void *memory = nullptr;
    HIP_CHECK(hipMallocAsync(&memory, size, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    HIP_CHECK(hipMemGetInfo(&meanwhile, &total));
    REQUIRE(meanwhile <= before - size);
    HIP_CHECK(hipFreeAsync(memory, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    HIP_CHECK(hipMemGetInfo(&after, &total));
    REQUIRE(after == before);
    hipMemPool_t pool;
    HIP_CHECK(hipDeviceGetDefaultMemPool(&pool, 0));
    uint64_t threshold = 1, used = 1, reserved = 1;
    HIP_CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
    HIP_CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
    HIP_CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &reserved));
    REQUIRE(threshold == 0 && used == 0 && reserved <= 32u << 20);
}

// A stream that waits for an event recorded after a free gets the memory at once, and so does one that waits for that stream; the free itself is
// still to come then. An event from before the free gives nothing, and neither does any without the attribute.
CASE(pool_memory_follows_events) {
    constexpr std::size_t size = 1 << 20;
    hipMemPool_t pool;
    HIP_CHECK(hipDeviceGetDefaultMemPool(&pool, 0));
    for (const bool follow : {true, false}) {
        int flag = follow;
        HIP_CHECK(hipMemPoolSetAttribute(pool, hipMemPoolReuseFollowEventDependencies, &flag));
        const hipStream_t first = create_stream(hipStreamNonBlocking), second = create_stream(hipStreamNonBlocking),
                          third = create_stream(hipStreamNonBlocking), fourth = create_stream(hipStreamNonBlocking);
        const hipEvent_t before = create_event(hipEventDisableTiming), after = create_event(hipEventDisableTiming),
                         early = create_event(hipEventDisableTiming), late = create_event(hipEventDisableTiming);
        Gate gate;
        const auto taken_by = [](hipStream_t stream) {
            void *memory = nullptr;
            HIP_CHECK(hipMallocAsync(&memory, size, stream));
            return memory;
        };
        void *const memory = taken_by(first);
        gate.close(first);
        HIP_CHECK(hipEventRecord(before, first));
        HIP_CHECK(hipEventRecord(early, second));
        HIP_CHECK(hipFreeAsync(memory, first));
        HIP_CHECK(hipStreamWaitEvent(second, before, 0));
        REQUIRE(taken_by(second) != memory);
        HIP_CHECK(hipEventRecord(after, first));
        HIP_CHECK(hipStreamWaitEvent(second, after, 0));
        HIP_CHECK(hipStreamWaitEvent(fourth, early, 0));
        HIP_CHECK(hipEventRecord(late, second));
        HIP_CHECK(hipStreamWaitEvent(third, late, 0));
        REQUIRE(taken_by(fourth) != memory);
        void *const again = taken_by(third);
        REQUIRE((again == memory) == follow);
        HIP_CHECK(hipMemsetAsync(again, 0x5a, size, third));
        REQUIRE(hipStreamQuery(third) == hipErrorNotReady);
        gate.open();
        HIP_CHECK(hipDeviceSynchronize());
    }
}

// Small blocks of a pool are memory like any other.
CASE(small_blocks_of_a_pool) {
    const hipStream_t stream = create_stream();
    hipMemPool_t pool;
    HIP_CHECK(hipDeviceGetDefaultMemPool(&pool, 0));
    int *blocks[2] = {};
    HIP_CHECK(hipMallocAsync(reinterpret_cast<void **>(&blocks[0]), 64, stream));
    HIP_CHECK(hipMallocFromPoolAsync(reinterpret_cast<void **>(&blocks[1]), 64, pool, stream));
    REQUIRE(blocks[0] != nullptr && blocks[1] != nullptr && blocks[0] != blocks[1]);
    for (int *const block : blocks) {
        int values[16] = {};
        HIP_CHECK(hipMemsetAsync(block, 0, 64, stream));
        add_one<<<1, 16, 0, stream>>>(block, 16);
        HIP_CHECK(hipMemcpyAsync(values, block, 64, hipMemcpyDeviceToHost, stream));
        HIP_CHECK(hipStreamSynchronize(stream));
        REQUIRE(std::all_of(values, values + 16, [](int value) { return value == 1; }));
        HIP_CHECK(hipFreeAsync(block, stream));
    }
    HIP_CHECK(hipStreamSynchronize(stream));
}

// For the rules that depend on the presented version: prints what it meets.
CASE(rules_of_the_version) {
    const hipStream_t stream = create_stream();
    const hipEvent_t event = create_event();
    HIP_CHECK(hipEventRecord(event, stream));
    std::printf("external wait: %s\n", hipGetErrorName(hipStreamWaitEvent(stream, event, 1)));
    (void)hipGetLastError();
    REQUIRE(hipStreamQuery(reinterpret_cast<hipStream_t>(0x1234)) != hipSuccess);
    HIP_CHECK(hipStreamSynchronize(stream));
    std::printf("a failure behind a success: %s\n", hipGetErrorName(hipGetLastError()));
    std::printf("asked again: %s\n", hipGetErrorName(hipGetLastError()));
    int on_stack = 0;
    std::vector<int> on_heap(1);
    const auto type_of = [](const char *whose, int *memory) {
        unsigned type = 99;
        const hipError_t error = hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, memory);
        std::printf("type of the %s's memory: %s, %u\n", whose, hipGetErrorName(error), type);
    };
    type_of("stack", &on_stack);
    type_of("heap", on_heap.data());
    hipArray_t array = nullptr;
    const hipChannelFormatDesc texel = {32, 0, 0, 0, hipChannelFormatKindFloat};
    if (hipMallocArray(&array, &texel, 4, 4, hipArrayDefault) == hipSuccess) {
        HIP_CHECK(hipFreeArray(array));
        std::printf("an array freed twice: %s\n", hipGetErrorName(hipFreeArray(array)));
    }
}

// Asking for a stream asks for its own work; asking for the null stream asks for that of the blocking streams, too.
CASE(a_query_asks_one_stream) {
    const hipStream_t blocking = create_stream();
    Gate gate;
    gate.close(nullptr);
    REQUIRE(hipStreamQuery(nullptr) == hipErrorNotReady);
    REQUIRE(hipStreamQuery(blocking) == hipSuccess);
    gate.open();
    HIP_CHECK(hipStreamSynchronize(nullptr));
    Gate other;
    other.close(blocking);
    REQUIRE(hipStreamQuery(nullptr) == hipErrorNotReady);
    other.open();
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(hipStreamQuery(nullptr) == hipSuccess);
}
