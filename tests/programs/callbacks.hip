// Callbacks and host functions: one at a time, in order, behind what is before them and before what is behind them.
#include "case.hpp"

#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <vector>

using sample::create_event;
using sample::create_stream;
using sample::Gate;
using sample::pinned;

__global__ void copy(const volatile int *from, int *to) { *to = *from; }

__global__ void set(volatile int *value, int to) { *value = to; }

namespace {

struct Order {
    std::vector<int> seen;
};

struct Numbered {
    Order *order;
    int number;
};

void note_number(hipStream_t, hipError_t, void *data) {
    const Numbered *const numbered = static_cast<Numbered *>(data);
    numbered->order->seen.push_back(numbered->number);
}

// A callback that sees what the kernel before it has written, and not yet what the kernel behind it writes.
struct Between {
    const volatile int *progress;
    int seen = -1;
};

void look(hipStream_t, hipError_t, void *data) {
    Between *const between = static_cast<Between *>(data);
    std::this_thread::yield();
    between->seen = *between->progress;
}

// What callbacks of two threads share.
struct Log {
    std::atomic<int> active{0}, most_active{0}, bad_status{0};
    // Held by who adds a callback where the order of the calls must be known.
    std::mutex adding;
    int added = 0;
    // Callbacks run one at a time: nothing protects it.
    std::vector<int> order;
    // Seen by kernels.
    volatile int *returned = nullptr;
};

struct Entry {
    Log *log;
    int number;
};

void log_entry(hipStream_t, hipError_t status, void *data) {
    const Entry *const entry = static_cast<Entry *>(data);
    Log &log = *entry->log;
    const int now = ++log.active;
    if (now > log.most_active) {
        log.most_active = now;
    }
    log.bad_status += status != hipSuccess;
    log.order.push_back(entry->number);
    // Time for a kernel or another callback that does not wait for this one.
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    --log.active;
    *log.returned = *log.returned + 1;
}

// HIP 5.2 declares it, and its library lacks it.
using LaunchHostFunction = hipError_t (*)(hipStream_t, hipHostFn_t, void *);
LaunchHostFunction launch_host_function() {
    const auto function = reinterpret_cast<LaunchHostFunction>(dlsym(RTLD_DEFAULT, "hipLaunchHostFunc"));
    REQUIRE(function != nullptr);
    return function;
}

} // namespace

// Each callback of a stream runs behind the kernel before it and before the kernel behind it.
CASE(callbacks_run_in_order) {
    constexpr int count = 50;
    const hipStream_t stream = create_stream(hipStreamNonBlocking);
    int *const progress = pinned<int>(1, hipHostMallocCoherent);
    std::vector<Between> callbacks(count, Between{progress});
    for (int number = 0; number < count; ++number) {
        set<<<1, 1, 0, stream>>>(progress, number + 1);
        HIP_CHECK(hipStreamAddCallback(stream, look, &callbacks[number], 0));
    }
    set<<<1, 1, 0, stream>>>(progress, count + 1);
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(*progress == count + 1);
    for (int number = 0; number < count; ++number) {
        REQUIRE(callbacks[number].seen == number + 1);
    }
}

// Two threads add callbacks to one stream: never two at once, in the order of the calls, and the kernel behind them starts after all.
// Where the calls take turns (`in_turn`), their order is known; where they race, each thread's own two are in order.
static void from_two_threads(bool in_turn) {
    constexpr int rounds = 50;
    const hipStream_t stream = create_stream(hipStreamNonBlocking);
    Log log;
    int *const returned = pinned<int>(1, hipHostMallocCoherent), *const seen = pinned<int>(1, hipHostMallocCoherent);
    log.returned = returned;
    int *const host = pinned<int>(64);
    sample::DeviceBuffer<int> device(64);
    for (int round = 0; round < rounds; ++round) {
        log.order.clear();
        log.added = 0;
        *returned = 0;
        *seen = -1;
        Gate gate;
        gate.close(stream);
        Entry entries[4];
        const auto add = [&](int thread) {
            for (int index = 0; index < 2; ++index) {
                HIP_CHECK(hipMemcpyAsync(device.get(), host, 64 * sizeof(int), hipMemcpyHostToDevice, stream));
                HIP_CHECK(hipMemsetAsync(device.get(), 0, 64 * sizeof(int), stream));
                std::unique_lock<std::mutex> lock(log.adding, std::defer_lock);
                if (in_turn) {
                    lock.lock();
                }
                Entry &entry = entries[2 * thread + index];
                entry = Entry{&log, in_turn ? log.added++ : 2 * thread + index};
                HIP_CHECK(hipStreamAddCallback(stream, log_entry, &entry, 0));
            }
        };
        std::thread first(add, 0), second(add, 1);
        first.join();
        second.join();
        copy<<<1, 1, 0, stream>>>(returned, seen);
        HIP_CHECK(hipGetLastError());
        EXPECT_ERROR(hipStreamQuery(stream), hipErrorNotReady);
        REQUIRE(*static_cast<volatile int *>(seen) == -1 && *static_cast<volatile int *>(returned) == 0);
        gate.open();
        HIP_CHECK(hipStreamSynchronize(stream));
        REQUIRE(*seen == 4); // what the kernel found when it ran
        REQUIRE(log.order.size() == 4);
        std::vector<int> places(4);
        for (int place = 0; place < 4; ++place) {
            places[log.order[place]] = place;
        }
        REQUIRE(places[0] < places[1] && places[2] < places[3]);
        REQUIRE(!in_turn || (log.order == std::vector<int>{0, 1, 2, 3}));
    }
    REQUIRE(log.most_active == 1);
    REQUIRE(log.bad_status == 0);
}

CASE(callbacks_from_two_threads) { from_two_threads(false); }
CASE(callbacks_from_two_threads_in_turn) { from_two_threads(true); }

// Callbacks and events across two streams, over and over.
CASE(callbacks_across_streams) {
    const hipStream_t first = create_stream(), second = create_stream();
    const hipEvent_t event = create_event();
    for (int round = 0; round < 100; ++round) {
        Order order;
        Numbered numbers[10];
        for (int number = 0; number < 10; ++number) {
            numbers[number] = Numbered{&order, number};
        }
        for (int number = 0; number < 5; ++number) {
            HIP_CHECK(hipStreamAddCallback(first, note_number, &numbers[number], 0));
        }
        HIP_CHECK(hipEventRecord(event, first));
        HIP_CHECK(hipStreamWaitEvent(second, event, 0));
        for (int number = 5; number < 10; ++number) {
            HIP_CHECK(hipStreamAddCallback(second, note_number, &numbers[number], 0));
        }
        HIP_CHECK(hipStreamSynchronize(first));
        HIP_CHECK(hipStreamSynchronize(second));
        REQUIRE(order.seen.size() == 10);
        for (int number = 0; number < 10; ++number) {
            REQUIRE(order.seen[number] == number);
        }
    }
}

// A host function of one stream, an event, a host function of the other: in this order each time, with one and with five on the first.
CASE(host_functions_across_streams) {
    const hipStream_t first = create_stream(), second = create_stream();
    const hipEvent_t event = create_event();
    std::vector<int> seen;
    struct Note {
        std::vector<int> *seen;
        int value;
    };
    const LaunchHostFunction launch = launch_host_function();
    const auto note = [](void *data) {
        const Note *const entry = static_cast<Note *>(data);
        entry->seen->push_back(entry->value);
    };
    Note last{&seen, 456};
    for (const std::vector<int> &values : {std::vector<int>{123}, std::vector<int>{1, 2, 3, 4, 5}}) {
        std::vector<Note> notes;
        std::vector<int> wanted = values;
        wanted.push_back(last.value);
        for (const int value : values) {
            notes.push_back(Note{&seen, value});
        }
        for (int round = 0; round < 200; ++round) {
            seen.clear();
            for (Note &entry : notes) {
                HIP_CHECK(launch(first, note, &entry));
            }
            HIP_CHECK(hipEventRecord(event, first));
            HIP_CHECK(hipStreamWaitEvent(second, event, 0));
            HIP_CHECK(launch(second, note, &last));
            HIP_CHECK(hipStreamSynchronize(first));
            HIP_CHECK(hipStreamSynchronize(second));
            REQUIRE(seen == wanted);
        }
    }
}
