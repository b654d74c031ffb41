// The HIP peer. usage: hip measure|digest|count [KERNEL...], or one of
//   device_name          print the name of device 0: what a process costs that does nothing else
//   idle                 run a kernel, then print the resident memory and the processor time of half a second of idling
//   graph                time launches of a graph of 100 kernels, and 100 launches
//   calls                time calls that do no device work
//   queues               time records, waits and queries of events beside 1 and 1000 idle streams, and launches of 1 and 8 threads
//   idle_streams COUNT   print how much resident memory COUNT streams add that each ran one kernel
#include "check.hpp"
#include "kernels.hpp"
#include "suite.hpp"

#include <fstream>
#include <mutex>
#include <thread>

namespace {

class Hip {
  public:
    template <typename T> using Buffer = T *;

    template <typename T> T *allocate(std::size_t count) {
        void *memory = nullptr;
        HIP_CHECK(hipMalloc(&memory, count * sizeof(T)));
        return static_cast<T *>(memory);
    }
    void release(void *buffer) { HIP_CHECK(hipFree(buffer)); }
    template <typename T> void upload(T *buffer, const T *values, std::size_t count) {
        HIP_CHECK(hipMemcpy(buffer, values, count * sizeof(T), hipMemcpyHostToDevice));
    }
    template <typename T> void download(T *values, const T *buffer, std::size_t count) {
        HIP_CHECK(hipMemcpy(values, buffer, count * sizeof(T), hipMemcpyDeviceToHost));
    }
    template <typename T> void copy(T *to, const T *from, std::size_t count) {
        HIP_CHECK(hipMemcpy(to, from, count * sizeof(T), hipMemcpyDeviceToDevice));
        synchronize(); // a copy within the device may return before it is done
    }
    void events();
#define X(name)                                                                                                                    \
    template <typename... Arguments> void launch(bench::kernel::name, bench::Grid grid, bench::Grid group, Arguments... arguments) { \
        bench::name##_kernel<<<dim3(grid.x, grid.y), dim3(group.x, group.y)>>>(arguments...);                                      \
    }
    BENCH_KERNELS(X)
#undef X
    void synchronize() { HIP_CHECK(hipDeviceSynchronize()); }
};

// Microseconds of one call in a burst of them, in five bursts after one to warm up; `end` waits for the burst.
template <typename Call, typename End> void report_burst(const char *name, unsigned count, Call call, End end) {
    std::vector<double> values;
    for (int repeat = 0; repeat < 6; ++repeat) {
        const double start = bench::wall_ms();
        for (unsigned index = 0; index < count; ++index) {
            call();
        }
        end();
        if (repeat > 0) {
            values.push_back((bench::wall_ms() - start) * 1e3 / count);
        }
    }
    bench::report(name, std::to_string(count), "us", values, "-");
}

void Hip::events() {
    hipStream_t one, other;
    hipEvent_t event;
    HIP_CHECK(hipStreamCreate(&one));
    HIP_CHECK(hipStreamCreate(&other));
    HIP_CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    const auto wait = [this] { synchronize(); };
    const auto nothing = [] {};
    report_burst("event_record", 1000, [&] { HIP_CHECK(hipEventRecord(event, one)); }, wait);
    report_burst("event_query", 1000, [&] { HIP_CHECK(hipEventQuery(event)); }, nothing);
    report_burst(
        "event_sync", 1000,
        [&] {
            HIP_CHECK(hipEventRecord(event, one));
            HIP_CHECK(hipEventSynchronize(event));
        },
        nothing);
    // A kernel, and one in the other stream that waits for it.
    report_burst(
        "event_wait", 500,
        [&] {
            bench::empty_kernel<<<1, 64, 0, one>>>(nullptr);
            HIP_CHECK(hipEventRecord(event, one));
            HIP_CHECK(hipStreamWaitEvent(other, event, 0));
            bench::empty_kernel<<<1, 64, 0, other>>>(nullptr);
        },
        wait);
    HIP_CHECK(hipEventDestroy(event));
    HIP_CHECK(hipStreamDestroy(other));
    HIP_CHECK(hipStreamDestroy(one));
}

// Resident memory of this process, in KiB.
long resident_kib() {
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

void print_device_name() {
    hipDeviceProp_t properties;
    HIP_CHECK(hipGetDeviceProperties(&properties, 0));
    std::printf("%s\n", properties.name);
}

void launch_once(Hip &hip, hipStream_t stream) {
    bench::empty_kernel<<<1, 64, 0, stream>>>(nullptr);
    HIP_CHECK(hipGetLastError());
    hip.synchronize();
}

// What the host pays for a graph of 100 empty kernels and for 100 launches: until the calls are back, and until the work has ended.
void graph(Hip &hip) {
    constexpr int kernels = 100, repeats = 200;
    launch_once(hip, nullptr);
    hipStream_t stream;
    HIP_CHECK(hipStreamCreate(&stream));
    const auto launches = [stream] {
        for (int kernel = 0; kernel < kernels; ++kernel) {
            bench::empty_kernel<<<1, 64, 0, stream>>>(nullptr);
        }
    };
    hipGraph_t captured;
    hipGraphExec_t exec;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    launches();
    HIP_CHECK(hipStreamEndCapture(stream, &captured));
    HIP_CHECK(hipGraphInstantiate(&exec, captured, nullptr, nullptr, 0));
    const auto measure = [stream](const char *called, const char *ended, const std::function<void()> &work) {
        std::vector<double> calls, ends;
        for (int repeat = 0; repeat < repeats + 20; ++repeat) {
            const double start = bench::wall_ms();
            work();
            const double back = bench::wall_ms();
            HIP_CHECK(hipStreamSynchronize(stream));
            if (repeat >= 20) {
                calls.push_back((back - start) * 1e3);
                ends.push_back((bench::wall_ms() - start) * 1e3);
            }
        }
        bench::report(called, std::to_string(kernels), "us", calls, "-");
        bench::report(ended, std::to_string(kernels), "us", ends, "-");
    };
    measure("launch_graph", "launch_graph_end", [=] { HIP_CHECK(hipGraphLaunch(exec, stream)); });
    measure("launch_each", "launch_each_end", launches);
}

// Median, least and most of 1,000 means of 100 calls each.
template <typename Call> void time_call(const char *name, Call call) {
    std::vector<double> values;
    for (int sample = 0; sample < 1100; ++sample) {
        const double start = bench::wall_ms();
        for (int repeat = 0; repeat < 100; ++repeat) {
            call();
        }
        if (sample >= 100) {
            values.push_back((bench::wall_ms() - start) * 1e6 / 100);
        }
    }
    bench::report((std::string("call_") + name).c_str(), "100000", "ns", values, "-");
}

void calls(Hip &hip) {
    launch_once(hip, nullptr);
    hipStream_t stream;
    hipEvent_t event, later;
    void *memory = nullptr, *host = nullptr, *base = nullptr, *symbol = nullptr;
    HIP_CHECK(hipStreamCreate(&stream));
    HIP_CHECK(hipEventCreate(&event));
    HIP_CHECK(hipEventCreate(&later));
    HIP_CHECK(hipMalloc(&memory, 1 << 20));
    HIP_CHECK(hipHostMalloc(&host, 4096));
    HIP_CHECK(hipEventRecord(event, stream));
    HIP_CHECK(hipEventRecord(later, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    const void *const kernel = reinterpret_cast<const void *>(bench::empty_kernel);
    int number = 0;
    unsigned flags = 0;
    std::size_t first = 0, second = 0;
    float milliseconds = 0;
    hipDeviceProp_t properties;
    hipPointerAttribute_t pointer;
    hipFuncAttributes function;
    hipStreamCaptureStatus capture;
#define TIME(call_name, ...) time_call(#call_name, [&] { (void)call_name(__VA_ARGS__); })
    TIME(hipGetDevice, &number);
    TIME(hipSetDevice, 0);
    TIME(hipGetDeviceCount, &number);
    TIME(hipGetLastError);
    TIME(hipPeekAtLastError);
    TIME(hipGetErrorString, hipErrorInvalidValue);
    TIME(hipRuntimeGetVersion, &number);
    TIME(hipDeviceGetAttribute, &number, hipDeviceAttributeWarpSize, 0);
    TIME(hipGetDeviceProperties, &properties, 0);
    TIME(hipDeviceGetStreamPriorityRange, &number, &number);
    TIME(hipDeviceSynchronize);
    TIME(hipStreamSynchronize, stream);
    TIME(hipStreamQuery, stream);
    TIME(hipStreamGetFlags, stream, &flags);
    TIME(hipStreamGetPriority, stream, &number);
    TIME(hipStreamIsCapturing, stream, &capture);
    TIME(hipStreamWaitEvent, stream, event, 0);
    TIME(hipEventQuery, event);
    TIME(hipEventSynchronize, event);
    TIME(hipEventElapsedTime, &milliseconds, event, later);
    TIME(hipPointerGetAttributes, &pointer, memory);
    TIME(hipMemGetAddressRange, &base, &first, memory);
    TIME(hipMemGetInfo, &first, &second);
    TIME(hipHostGetDevicePointer, &base, host, 0);
    TIME(hipHostGetFlags, &flags, host);
    TIME(hipFuncGetAttributes, &function, kernel);
    TIME(hipOccupancyMaxActiveBlocksPerMultiprocessor, &number, kernel, 256, 0);
    TIME(hipGetSymbolSize, &first, HIP_SYMBOL(bench::bench_symbol));
    TIME(hipGetSymbolAddress, &symbol, HIP_SYMBOL(bench::bench_symbol));
    TIME(hipMalloc, &base, 0);
    TIME(hipFree, nullptr);
#undef TIME
    time_call("hipEventCreate_and_Destroy", [&] {
        hipEvent_t made;
        (void)hipEventCreate(&made);
        (void)hipEventDestroy(made);
    });
}

// What an event costs beside idle streams, and whether threads with streams of their own stand in each other's way.
void queues(Hip &hip) {
    launch_once(hip, nullptr);
    const auto least_of = [](int repeats, int times, const std::function<void()> &prepare, const std::function<void()> &work) {
        std::vector<double> values;
        for (int repeat = 0; repeat < repeats; ++repeat) {
            prepare();
            const double start = bench::wall_ms();
            for (int index = 0; index < times; ++index) {
                work();
            }
            values.push_back((bench::wall_ms() - start) * 1e6 / times);
        }
        return values;
    };
    hipStream_t stream, other;
    hipEvent_t event;
    HIP_CHECK(hipStreamCreate(&stream));
    HIP_CHECK(hipStreamCreate(&other));
    HIP_CHECK(hipEventCreate(&event));
    for (const int idle : {1, 1000}) {
        std::vector<hipStream_t> streams(static_cast<std::size_t>(idle));
        for (hipStream_t &one : streams) {
            HIP_CHECK(hipStreamCreate(&one));
            launch_once(hip, one);
        }
        const auto settle = [&] { hip.synchronize(); };
        const auto record_behind_a_kernel = [&] {
            hip.synchronize();
            bench::empty_kernel<<<1, 64, 0, stream>>>(nullptr);
            HIP_CHECK(hipEventRecord(event, stream));
        };
        const std::string size = std::to_string(idle);
        const auto times = [&](const char *name, const std::function<void()> &prepare, const std::function<void()> &work) {
            bench::report(name, size, "ns", least_of(50, 200, prepare, work), "-");
        };
        times("event_record", settle, [&] { HIP_CHECK(hipEventRecord(event, stream)); });
        times("event_record_null_stream", settle, [&] { HIP_CHECK(hipEventRecord(event, nullptr)); });
        times("event_wait", record_behind_a_kernel, [&] { HIP_CHECK(hipStreamWaitEvent(other, event, 0)); });
        times("event_query", record_behind_a_kernel, [&] { (void)hipEventQuery(event); });
        hip.synchronize();
        for (const hipStream_t one : streams) {
            HIP_CHECK(hipStreamDestroy(one));
        }
    }
    // Nanoseconds of a launch, all threads together, each with a stream of its own that a callback holds back: the device takes no part.
    for (const int count : {1, 8}) {
        constexpr int launches = 2000;
        std::vector<double> values;
        for (int repeat = 0; repeat < 20; ++repeat) {
            std::vector<std::thread> threads;
            std::vector<hipStream_t> streams(static_cast<std::size_t>(count));
            for (hipStream_t &one : streams) {
                HIP_CHECK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
            }
            std::mutex gate;
            std::unique_lock<std::mutex> closed(gate);
            const auto pass = [](hipStream_t, hipError_t, void *data) {
                const std::lock_guard<std::mutex> lock(*static_cast<std::mutex *>(data));
            };
            for (const hipStream_t one : streams) {
                HIP_CHECK(hipStreamAddCallback(one, pass, &gate, 0));
            }
            const double start = bench::wall_ms();
            for (const hipStream_t one : streams) {
                threads.emplace_back([one] {
                    for (int launch = 0; launch < launches; ++launch) {
                        bench::empty_kernel<<<1, 64, 0, one>>>(nullptr);
                    }
                });
            }
            for (std::thread &thread : threads) {
                thread.join();
            }
            values.push_back((bench::wall_ms() - start) * 1e6 / (launches * count));
            closed.unlock();
            hip.synchronize();
            for (const hipStream_t one : streams) {
                HIP_CHECK(hipStreamDestroy(one));
            }
        }
        bench::report("launch_from_threads", std::to_string(count), "ns", values, "-");
    }
}

void idle(Hip &hip) {
    launch_once(hip, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double before = bench::processor_ms();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    bench::report("idle", "500ms", "cpu_ms", {bench::processor_ms() - before}, "-");
    bench::report("idle", "1", "resident_mib", {static_cast<double>(resident_kib()) / 1024.0}, "-");
}

void idle_streams(Hip &hip, int count) {
    launch_once(hip, nullptr);
    const long before = resident_kib();
    std::vector<hipStream_t> streams(static_cast<std::size_t>(count));
    for (hipStream_t &stream : streams) {
        HIP_CHECK(hipStreamCreate(&stream));
        launch_once(hip, stream);
    }
    bench::report("idle_streams", std::to_string(count), "resident_mib", {static_cast<double>(resident_kib() - before) / 1024.0}, "-");
}

} // namespace

int main(int argc, char **argv) {
    const std::string mode = argc > 1 ? argv[1] : "measure";
    const std::vector<std::string> rest(argv + std::min(argc, 2), argv + argc);
    Hip hip;
    if (mode == "device_name") {
        print_device_name();
    } else if (mode == "idle") {
        idle(hip);
    } else if (mode == "graph") {
        graph(hip);
    } else if (mode == "calls") {
        calls(hip);
    } else if (mode == "queues") {
        queues(hip);
    } else if (mode == "idle_streams" && rest.size() == 1) {
        idle_streams(hip, std::atoi(rest[0].c_str()));
    } else if (mode == "measure" || mode == "digest" || mode == "count") {
        const bench::Mode how = mode == "measure" ? bench::Mode::measure : mode == "count" ? bench::Mode::count : bench::Mode::digest;
        bench::Suite<Hip>(hip, how, rest).run();
    } else {
        std::fprintf(stderr, "usage: %s measure|digest|count [KERNEL...] | device_name | idle | graph | calls | queues | idle_streams COUNT\n", argv[0]);
        return 2;
    }
    return 0;
}
