// Programs that are watched from outside: hangs, the live state, and recordings of processes that are killed.
#include "case.hpp"

#include <atomic>
#include <csignal>
#include <unistd.h>

using sample::create_event;
using sample::create_stream;
using sample::Gate;
using sample::pinned;

__global__ void take_number(int *counter, int *number) { *number = atomicAdd(counter, 1); }

__global__ void nothing() {}

// Says that it runs, in the second number, and waits for the first.
__global__ void wait_for_number(volatile int *numbers) {
    numbers[1] = 1;
    while (numbers[0] == 0) {
    }
}

// For the hang report: a callback that never returns. The runtime is told to fail such waits.
CASE(hang) {
    const hipStream_t stream = create_stream();
    static Gate gate; // never opened
    gate.close(stream);
    EXPECT_ERROR(hipStreamSynchronize(stream), hipErrorLaunchTimeOut);
    std::fflush(stdout);
    std::_Exit(0);
}

// For the hang report: a kernel that waits for a number which nobody writes, and one of another stream. With one hardware queue it stands behind.
CASE(stand_behind) {
    const hipStream_t first = create_stream(hipStreamNonBlocking), second = create_stream(hipStreamNonBlocking);
    volatile int *const numbers = pinned<int>(2);
    wait_for_number<<<1, 1, 0, first>>>(numbers);
    while (numbers[1] == 0) {
        std::this_thread::yield();
    }
    nothing<<<1, 1, 0, second>>>();
    EXPECT_ERROR(hipStreamSynchronize(second), hipErrorLaunchTimeOut);
    std::fflush(stdout);
    std::_Exit(0);
}

// For the hang report of those that go on: a callback that waits for a line of input.
CASE(hang_until_input) {
    const hipStream_t stream = create_stream();
    Gate gate;
    gate.close(stream);
    std::thread reader([&gate] {
        std::getchar();
        gate.open();
    });
    HIP_CHECK(hipStreamSynchronize(stream));
    reader.join();
    std::puts("went on");
}

// For the live state: signals itself while a callback waits for a line of input.
CASE(wait_for_input) {
    const hipStream_t stream = create_stream();
    static std::atomic<bool> inside{false};
    HIP_CHECK(hipStreamAddCallback(
        stream,
        [](hipStream_t, hipError_t, void *) {
            inside = true;
            std::getchar();
        },
        nullptr, 0));
    while (!inside) {
        std::this_thread::yield();
    }
    raise(SIGUSR1);
    HIP_CHECK(hipStreamSynchronize(stream));
}

// For recordings: a thousand launches and one wait, then the process is killed.
CASE(launch_and_kill) {
    const hipStream_t stream = create_stream();
    for (int index = 0; index < 1000; ++index) {
        nothing<<<1, 1, 0, stream>>>();
    }
    const hipEvent_t event = create_event();
    HIP_CHECK(hipEventRecord(event, stream));
    HIP_CHECK(hipEventSynchronize(event));
    raise(SIGKILL);
}

// For recordings: all sorts of commands in streams that wait for each other and one that is held back. The process is killed after some of
// them, whatever is in flight then: by this thread between two calls, or by another one that does not look what this one is at.
CASE(launch_until_killed) {
    const long count = std::atol(sample::argument(0));
    const bool by_another = std::strcmp(sample::argument(1), "by-another") == 0;
    static std::atomic<long> enqueued{0};
    if (by_another) {
        std::thread([count] {
            while (enqueued < count) {
                std::this_thread::yield();
            }
            raise(SIGKILL);
        }).detach();
    }
    const auto one_more = [&] {
        if (++enqueued == count && !by_another) {
            raise(SIGKILL);
        }
    };
    const hipStream_t held = create_stream(hipStreamNonBlocking);
    const hipStream_t streams[3] = {create_stream(hipStreamNonBlocking), create_stream(hipStreamNonBlocking), held};
    int *const counter = pinned<int>(1), *const numbers = pinned<int>(3), *const host = pinned<int>(3);
    const hipEvent_t event = create_event();
    static Gate gate; // never opened
    gate.close(held);
    while (enqueued < count + 20000) {
        for (int index = 0; index < 3; ++index) {
            const hipStream_t stream = streams[index];
            take_number<<<1, 1, 0, stream>>>(counter, &numbers[index]);
            HIP_CHECK(hipGetLastError());
            one_more();
            HIP_CHECK(hipMemcpyAsync(&host[index], &numbers[index], sizeof(int), hipMemcpyDefault, stream));
            one_more();
            HIP_CHECK(hipEventRecord(event, stream));
            one_more();
            if (index == 0) {
                HIP_CHECK(hipStreamWaitEvent(streams[1], event, 0));
            }
            HIP_CHECK(hipMemsetAsync(&host[index], 0, sizeof(int), stream));
            one_more();
            HIP_CHECK(hipStreamAddCallback(
                stream, [](hipStream_t, hipError_t, void *) {}, nullptr, 0));
            one_more();
        }
    }
    pause();
}
