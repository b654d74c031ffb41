// Events: what they stand for, their flags, their times, and their ends.
#include "case.hpp"

#include <chrono>
#include <vector>

using sample::create_event;
using sample::create_stream;
using sample::Gate;
using sample::pinned;

// Takes the next number of a counter and stores it: the order in which kernels ran.
__global__ void take_number(int *counter, int *number) { *number = atomicAdd(counter, 1); }

__global__ void set(int *value, int to) { *value = to; }

__global__ void copy(const int *from, int *to) { *to = *from; }

__global__ void add_one(int *values, int length) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < length) {
        values[index] += 1;
    }
}

__global__ void nothing() {}

// A wait takes the event as it is at the call: a later record does not move it.
CASE(wait_takes_the_event_at_the_call) {
    int *const flag = pinned<int>(1);
    const hipStream_t first = create_stream(hipStreamNonBlocking), second = create_stream(hipStreamNonBlocking);
    const hipStream_t third = create_stream(hipStreamNonBlocking);
    const hipEvent_t event = create_event();
    Gate gate, last_gate;
    gate.close(first);
    HIP_CHECK(hipEventRecord(event, first));
    HIP_CHECK(hipStreamWaitEvent(second, event, 0));
    set<<<1, 1, 0, second>>>(flag, 7);
    last_gate.close(third);
    HIP_CHECK(hipEventRecord(event, third));
    gate.open();
    HIP_CHECK(hipStreamSynchronize(second)); // the gate of the second record is still closed
    REQUIRE(*flag == 7);
    EXPECT_ERROR(hipEventQuery(event), hipErrorNotReady);
    last_gate.open();
    HIP_CHECK(hipEventSynchronize(event));
}

// Ten events in a chain over ten streams, a hundred times.
CASE(chain_over_streams) {
    constexpr int streams = 10, rounds = 100, length = 300;
    std::vector<hipStream_t> chain;
    std::vector<hipEvent_t> events;
    for (int index = 0; index < streams; ++index) {
        chain.push_back(create_stream(hipStreamNonBlocking));
        events.push_back(create_event(hipEventDisableTiming));
    }
    sample::DeviceBuffer<int> values(std::vector<int>(length, 0));
    HIP_CHECK(hipDeviceSynchronize());
    for (int round = 0; round < rounds; ++round) {
        for (int index = 0; index < streams; ++index) {
            HIP_CHECK(hipStreamWaitEvent(chain[index], events[(index + streams - 1) % streams], 0));
            add_one<<<2, 256, 0, chain[index]>>>(values.get(), length);
            HIP_CHECK(hipEventRecord(events[index], chain[index]));
        }
    }
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(values.read() == std::vector<int>(length, streams * rounds));
}

// An event that was never recorded counts as done, and has no time.
CASE(event_never_recorded) {
    const hipEvent_t first = create_event(), second = create_event();
    float milliseconds = 0.0f;
    HIP_CHECK(hipEventQuery(first));
    HIP_CHECK(hipEventSynchronize(first));
    EXPECT_ERROR(hipEventElapsedTime(&milliseconds, first, second), hipErrorInvalidHandle);
    HIP_CHECK(hipStreamWaitEvent(create_stream(), first, 0));
}

CASE(elapsed_time) {
    const hipStream_t stream = create_stream();
    const hipEvent_t start = create_event(), stop = create_event(), untimed = create_event(hipEventDisableTiming);
    float milliseconds = -1.0f;
    for (int round = 0; round < 1000; ++round) {
        HIP_CHECK(hipEventRecord(start, stream));
        nothing<<<1, 1, 0, stream>>>();
        HIP_CHECK(hipEventRecord(stop, stream));
        HIP_CHECK(hipEventSynchronize(stop));
        HIP_CHECK(hipEventElapsedTime(&milliseconds, start, stop));
        REQUIRE(milliseconds >= 0.0f);
    }
    HIP_CHECK(hipEventElapsedTime(&milliseconds, start, start));
    REQUIRE(milliseconds == 0.0f);
    EXPECT_ERROR(hipEventElapsedTime(nullptr, start, stop), hipErrorInvalidValue);
    HIP_CHECK(hipEventRecord(untimed, stream));
    HIP_CHECK(hipEventSynchronize(untimed));
    EXPECT_ERROR(hipEventElapsedTime(&milliseconds, start, untimed), hipErrorInvalidHandle);
    Gate gate;
    gate.close(stream);
    HIP_CHECK(hipEventRecord(stop, stream));
    EXPECT_ERROR(hipEventElapsedTime(&milliseconds, start, stop), hipErrorNotReady);
    gate.open();
    HIP_CHECK(hipStreamSynchronize(stream));
}

// A time that passes on the host between two records shows in the elapsed time.
CASE(elapsed_time_covers_the_work) {
    const hipStream_t stream = create_stream();
    const hipEvent_t start = create_event(), stop = create_event();
    float milliseconds = 0.0f;
    auto sleep = [](hipStream_t, hipError_t, void *) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    HIP_CHECK(hipEventRecord(start, stream));
    HIP_CHECK(hipStreamAddCallback(stream, sleep, nullptr, 0));
    HIP_CHECK(hipEventRecord(stop, stream));
    HIP_CHECK(hipEventSynchronize(stop));
    HIP_CHECK(hipEventElapsedTime(&milliseconds, start, stop));
    REQUIRE(milliseconds >= 20.0f);
}

// An event recorded on the handle of the legacy stream orders a non-blocking stream behind it.
CASE(event_of_the_legacy_handle) {
    const hipStream_t legacy = reinterpret_cast<hipStream_t>(1), stream = create_stream(hipStreamNonBlocking);
    int *const numbers = pinned<int>(2), *const counter = pinned<int>(1);
    const hipEvent_t event = create_event();
    Gate gate;
    gate.close(nullptr);
    take_number<<<1, 1>>>(counter, &numbers[0]);
    HIP_CHECK(hipEventRecord(event, legacy));
    HIP_CHECK(hipStreamWaitEvent(stream, event, 0));
    take_number<<<1, 1, 0, stream>>>(counter, &numbers[1]);
    HIP_CHECK(hipGetLastError());
    EXPECT_ERROR(hipStreamQuery(stream), hipErrorNotReady);
    gate.open();
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(numbers[0] == 0 && numbers[1] == 1);
}

// An event outlives its stream: it still stands for the work, whether that has ended or not.
CASE(event_outlives_its_stream) {
    for (const bool pending : {false, true}) {
        int *const value = pinned<int>(1), *const seen = pinned<int>(1);
        const hipStream_t stream = create_stream(hipStreamNonBlocking), other = create_stream(hipStreamNonBlocking);
        const hipEvent_t event = create_event();
        Gate gate;
        gate.close(stream);
        set<<<1, 1, 0, stream>>>(value, 1);
        HIP_CHECK(hipEventRecord(event, stream));
        if (!pending) {
            gate.open();
            HIP_CHECK(hipEventSynchronize(event));
        }
        HIP_CHECK(hipStreamDestroy(stream));
        if (pending) {
            EXPECT_ERROR(hipEventQuery(event), hipErrorNotReady);
        }
        HIP_CHECK(hipStreamWaitEvent(other, event, 0));
        copy<<<1, 1, 0, other>>>(value, seen);
        if (pending) {
            EXPECT_ERROR(hipStreamQuery(other), hipErrorNotReady);
            REQUIRE(*static_cast<volatile int *>(value) == 0);
            gate.open();
        }
        HIP_CHECK(hipEventSynchronize(event));
        REQUIRE(*static_cast<volatile int *>(value) == 1);
        HIP_CHECK(hipStreamSynchronize(other));
        REQUIRE(*seen == 1);
        HIP_CHECK(hipEventQuery(event));
        HIP_CHECK(hipEventDestroy(event));
    }
}

// Destroying an event while its record is pending neither waits nor loses what waits for it.
CASE(destroy_a_pending_event) {
    int *const numbers = pinned<int>(2), *const counter = pinned<int>(1);
    const hipStream_t first = create_stream(hipStreamNonBlocking), second = create_stream(hipStreamNonBlocking);
    for (int round = 0; round < 20; ++round) {
        std::fill(numbers, numbers + 2, -1);
        *counter = 0;
        const hipEvent_t event = create_event();
        Gate gate;
        gate.close(first);
        take_number<<<1, 1, 0, first>>>(counter, &numbers[0]);
        HIP_CHECK(hipEventRecord(event, first));
        HIP_CHECK(hipStreamWaitEvent(second, event, 0));
        take_number<<<1, 1, 0, second>>>(counter, &numbers[1]);
        EXPECT_ERROR(hipEventQuery(event), hipErrorNotReady);
        HIP_CHECK(hipEventDestroy(event)); // the gate is still closed
        REQUIRE(hipEventQuery(event) != hipSuccess && hipEventQuery(event) != hipErrorNotReady);
        REQUIRE(hipEventDestroy(event) != hipSuccess);
        // An event made now is another one, although the old record is still pending.
        const hipEvent_t next = create_event();
        HIP_CHECK(hipEventQuery(next));
        EXPECT_ERROR(hipStreamQuery(second), hipErrorNotReady);
        REQUIRE(*static_cast<volatile int *>(&numbers[1]) == -1);
        gate.open();
        HIP_CHECK(hipStreamSynchronize(second));
        REQUIRE(numbers[0] == 0 && numbers[1] == 1);
        HIP_CHECK(hipStreamSynchronize(first));
        HIP_CHECK(hipEventDestroy(next));
    }
}

// Whatever the flags: not ready before the work has ended; then the host and other streams see what the work wrote.
CASE(event_flags) {
    constexpr unsigned disable_system_fence = 0x20000000; // hipEventDisableSystemFence, which old headers lack
    const hipStream_t first = create_stream(hipStreamNonBlocking), second = create_stream(hipStreamNonBlocking);
    for (const unsigned memory : std::initializer_list<unsigned>{hipHostMallocCoherent, hipHostMallocNonCoherent}) {
        int *const value = pinned<int>(1, memory), *const seen = pinned<int>(1, memory);
        for (const unsigned release : std::initializer_list<unsigned>{0, hipEventReleaseToDevice, hipEventReleaseToSystem, disable_system_fence}) {
            for (const unsigned other : std::initializer_list<unsigned>{0, hipEventBlockingSync, hipEventDisableTiming, hipEventBlockingSync | hipEventDisableTiming}) {
                const hipEvent_t start = create_event(other | release), event = create_event(other | release);
                *value = *seen = 0;
                HIP_CHECK(hipEventRecord(start, first));
                Gate gate;
                gate.close(first);
                set<<<1, 1, 0, first>>>(value, 7);
                HIP_CHECK(hipEventRecord(event, first));
                HIP_CHECK(hipStreamWaitEvent(second, event, 0));
                copy<<<1, 1, 0, second>>>(value, seen);
                EXPECT_ERROR(hipEventQuery(event), hipErrorNotReady);
                std::thread opener([&gate] { gate.open(); });
                HIP_CHECK(hipEventSynchronize(event));
                REQUIRE(*static_cast<volatile int *>(value) == 7);
                HIP_CHECK(hipEventQuery(event));
                opener.join();
                HIP_CHECK(hipStreamSynchronize(second));
                REQUIRE(*seen == 7);
                float milliseconds = -1.0f;
                if ((other & hipEventDisableTiming) != 0) {
                    EXPECT_ERROR(hipEventElapsedTime(&milliseconds, start, event), hipErrorInvalidHandle);
                } else {
                    HIP_CHECK(hipEventElapsedTime(&milliseconds, start, event));
                    REQUIRE(milliseconds >= 0.0f);
                }
                HIP_CHECK(hipEventDestroy(start));
                HIP_CHECK(hipEventDestroy(event));
            }
        }
    }
    hipEvent_t never;
    EXPECT_ERROR(hipEventCreateWithFlags(&never, hipEventReleaseToDevice | hipEventReleaseToSystem), hipErrorInvalidValue);
    EXPECT_ERROR(hipEventCreateWithFlags(&never, hipEventReleaseToSystem | disable_system_fence), hipErrorInvalidValue);
    EXPECT_ERROR(hipEventCreateWithFlags(&never, hipEventBlockingSync | 0x100), hipErrorInvalidValue);
}
