// What processes do around the runtime: fork, exec, exit with work pending, static destructors, threads at exit.
#include "case.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using sample::DeviceBuffer;
using sample::pinned;

__global__ void set(int *value, int to) { *value = to; }

__global__ void wait_for_flag(volatile int *flag) {
    while (*flag == 0) {
        __builtin_amdgcn_s_sleep(1);
    }
}

static void compute() {
    int *const value = pinned<int>(1);
    set<<<1, 1>>>(value, 21);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*value == 21);
}

// Runs `body` in a child and requires that it exits with 0.
template <typename Body> static void in_child(Body body) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        body();
        std::fflush(nullptr);
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

CASE(fork_before_the_first_call) {
    in_child(compute);
    compute();
}

// A child that inherits a started runtime is told so, at every call, and nothing hangs; the parent goes on.
CASE(fork_of_a_started_runtime) {
    compute();
    in_child([] {
        void *block = nullptr;
        EXPECT_ERROR(hipMalloc(&block, 16), hipErrorNotInitialized);
        EXPECT_ERROR(hipDeviceSynchronize(), hipErrorNotInitialized);
        set<<<1, 1>>>(nullptr, 1);
        EXPECT_ERROR(hipGetLastError(), hipErrorNotInitialized);
    });
    compute();
}

// Fork and exec of a program that uses the runtime itself.
CASE(fork_and_exec) {
    compute();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "process", "computes", static_cast<char *>(nullptr));
        _exit(9);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    compute();
}

CASE(computes) { compute(); }

CASE(copies) {
    int value = 5, back = 0, *memory = nullptr;
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&memory), sizeof value));
    HIP_CHECK(hipMemcpy(memory, &value, sizeof value, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(&back, memory, sizeof value, hipMemcpyDeviceToHost));
    REQUIRE(back == value);
    HIP_CHECK(hipFree(memory));
}

// Prints the HSA libraries that the process has loaded.
CASE(hsa_library) {
    compute();
    std::ifstream maps("/proc/self/maps");
    std::set<std::string> paths;
    for (std::string line; std::getline(maps, line);) {
        const std::size_t path = line.find('/');
        if (path != std::string::npos && line.find("hsa-runtime") != std::string::npos) {
            paths.insert(line.substr(path));
        }
    }
    for (const std::string &path : paths) {
        std::printf("%s\n", path.c_str());
    }
}

// The process ends with its own code although kernels are waiting and one never ends.
CASE(exit_with_work_pending) {
    int *const flag = pinned<int>(1, hipHostMallocCoherent), *const value = pinned<int>(1);
    wait_for_flag<<<1, 64>>>(flag);
    for (int launch = 0; launch < 100; ++launch) {
        set<<<1, 1>>>(value, launch);
    }
    HIP_CHECK(hipGetLastError());
    std::exit(33);
}

CASE(quick_exit) {
    compute();
    std::_Exit(34);
}

namespace {
// Freed by the destructors that run after main.
struct Global {
    int *memory = nullptr;
    hipStream_t stream = nullptr;
    ~Global() {
        if (memory != nullptr) {
            // No kernel: the compiler's own exit handler may have unregistered the program's code by now.
            int back = 0;
            HIP_CHECK(hipMemsetAsync(memory, 0x11, sizeof back, stream));
            HIP_CHECK(hipMemcpy(&back, memory, sizeof back, hipMemcpyDeviceToHost));
            REQUIRE(back == 0x11111111);
            HIP_CHECK(hipStreamDestroy(stream));
            HIP_CHECK(hipFree(memory));
            std::printf("the destructor ran\n");
        }
    }
} global;
} // namespace

CASE(static_destructor) {
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&global.memory), sizeof(int)));
    global.stream = sample::create_stream();
}

// A thread that is still copying when main returns.
CASE(thread_in_a_call_at_exit) {
    static DeviceBuffer<int> *const device = new DeviceBuffer<int>(1 << 16);
    static std::vector<int> *const host = new std::vector<int>(1 << 16, 1);
    std::thread([] {
        for (;;) {
            (void)hipMemcpy(device->get(), host->data(), host->size() * sizeof(int), hipMemcpyHostToDevice);
        }
    }).detach();
    compute();
}

// A thread that ends with a stream of its own in use.
CASE(short_threads) {
    for (int round = 0; round < 50; ++round) {
        std::thread thread([] {
            int *const value = pinned<int>(1);
            set<<<1, 1, 0, hipStreamPerThread>>>(value, 5);
            HIP_CHECK(hipStreamSynchronize(hipStreamPerThread));
            REQUIRE(*value == 5);
            HIP_CHECK(hipHostFree(value));
        });
        thread.join();
    }
}

// The program's own signals arrive on its own threads.
namespace {
volatile std::sig_atomic_t alarms = 0;
pthread_t main_thread;
volatile std::sig_atomic_t elsewhere = 0;
void on_alarm(int) {
    alarms = alarms + 1;
    if (!pthread_equal(pthread_self(), main_thread)) {
        elsewhere = 1;
    }
}
} // namespace

CASE(signals_of_the_program) {
    compute(); // the runtime's threads are there
    main_thread = pthread_self();
    struct sigaction action = {};
    action.sa_handler = on_alarm;
    REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
    for (int round = 0; round < 100; ++round) {
        REQUIRE(kill(getpid(), SIGUSR1) == 0);
        compute();
    }
    REQUIRE(alarms > 0);
    REQUIRE(elsewhere == 0);
}

// How often the threads of this process have given up their processor: a thread that sleeps all the time does not.
static unsigned long long context_switches() {
    unsigned long long sum = 0;
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream status(task.path() / "status");
        for (std::string line; std::getline(status, line);) {
            if (line.rfind("voluntary_ctxt_switches:", 0) == 0) {
                sum += std::stoull(line.substr(line.find(':') + 1));
            }
        }
    }
    return sum;
}

// An idle process comes to rest: no thread wakes for half a second. On a busy machine the runtime's threads may take a while to get there.
CASE(idle_costs_nothing) {
    compute();
    const hipStream_t stream = sample::create_stream();
    HIP_CHECK(hipStreamSynchronize(stream));
    unsigned long long woken = 0;
    for (int attempt = 0; attempt < 20; ++attempt) {
        const unsigned long long before = context_switches();
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        woken = context_switches() - before;
        // This thread's own sleep is one.
        if (woken <= 1) {
            break;
        }
    }
    std::printf("%llu context switches in 500 ms of idling\n", woken);
    REQUIRE(woken <= 1);
}

// Subnormal numbers halve exactly on the device although the program, as one built with -ffast-math, flushes them on the host.
__global__ void halve(float *value) { *value *= 0.5f; }

CASE(host_floating_point_mode) {
    const unsigned flush = 0x8040;
    const unsigned control = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(control | flush);
    unsigned *const bits = pinned<unsigned>(1);
    *bits = 0x00400000; // half of the least normal number
    halve<<<1, 1>>>(reinterpret_cast<float *>(bits));
    HIP_CHECK(hipDeviceSynchronize());
    const unsigned after = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(control);
    REQUIRE(*bits == 0x00200000);
    REQUIRE((after & flush) == flush);
}
