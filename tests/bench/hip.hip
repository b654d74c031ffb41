// The HIP peer. usage: hip measure|digest|count [KERNEL...], or one of
//   device_name          print the name of device 0: what a process costs that does nothing else
//   idle                 run a kernel, then print the resident memory and the processor time of half a second of idling
//   idle_streams COUNT   print how much resident memory COUNT streams add that each ran one kernel
#include "check.hpp"
#include "kernels.hpp"
#include "suite.hpp"

#include <fstream>
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
#define X(name)                                                                                                                    \
    template <typename... Arguments> void launch(bench::kernel::name, bench::Grid grid, bench::Grid group, Arguments... arguments) { \
        bench::name##_kernel<<<dim3(grid.x, grid.y), dim3(group.x, group.y)>>>(arguments...);                                      \
    }
    BENCH_KERNELS(X)
#undef X
    void synchronize() { HIP_CHECK(hipDeviceSynchronize()); }
};

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
    } else if (mode == "idle_streams" && rest.size() == 1) {
        idle_streams(hip, std::atoi(rest[0].c_str()));
    } else if (mode == "measure" || mode == "digest" || mode == "count") {
        const bench::Mode how = mode == "measure" ? bench::Mode::measure : mode == "count" ? bench::Mode::count : bench::Mode::digest;
        bench::Suite<Hip>(hip, how, rest).run();
    } else {
        std::fprintf(stderr, "usage: %s measure|digest|count [KERNEL...] | device_name | idle | idle_streams COUNT\n", argv[0]);
        return 2;
    }
    return 0;
}
