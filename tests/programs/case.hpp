// Programs with many small cases: one source, one compilation, the case is the first argument.
//
//     CASE(name) { REQUIRE(1 + 1 == 2); }
//
// A case passes when it returns; REQUIRE and HIP_CHECK end the process with exit code 1 and say what was wrong.
#pragma once

#include "check.hpp"

#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#define REQUIRE(condition) sample::require((condition), #condition, __FILE__, __LINE__)

// The call must return exactly this error.
#define EXPECT_ERROR(call, error) sample::expect_error((call), (error), #call, __FILE__, __LINE__)

#define CASE(name)                                                                                                                 \
    static void case_##name();                                                                                                     \
    static const sample::Case registered_##name(#name, case_##name);                                                               \
    static void case_##name()

namespace sample {

// Where the case's own arguments are.
struct Arguments {
    int count = 0;
    char **values = nullptr;
};
inline Arguments &arguments() {
    static Arguments all;
    return all;
}

// argv[2 + index].
inline const char *argument(int index) {
    if (2 + index >= arguments().count) {
        std::fprintf(stderr, "the case needs argument %d\n", index);
        std::exit(2);
    }
    return arguments().values[2 + index];
}

inline std::map<std::string, void (*)()> &cases() {
    static std::map<std::string, void (*)()> all;
    return all;
}

struct Case {
    Case(const char *name, void (*body)()) { cases()[name] = body; }
};

inline void require(bool condition, const char *text, const char *file, int line) {
    if (!condition) {
        std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, text);
        std::exit(EXIT_FAILURE);
    }
}

inline void expect_error(hipError_t got, hipError_t want, const char *call, const char *file, int line) {
    if (got != want) {
        std::fprintf(stderr, "%s:%d: %s returned %s, not %s\n", file, line, call, hipGetErrorName(got), hipGetErrorName(want));
        std::exit(EXIT_FAILURE);
    }
}

// Holds a stream back: what is submitted behind `close` waits until the host calls `open`.
class Gate {
  public:
    void close(hipStream_t stream) { HIP_CHECK(hipStreamAddCallback(stream, wait, this, 0)); }

    void open() {
        const std::lock_guard<std::mutex> lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

  private:
    static void wait(hipStream_t, hipError_t, void *gate) {
        Gate *const self = static_cast<Gate *>(gate);
        std::unique_lock<std::mutex> lock(self->mutex_);
        self->changed_.wait(lock, [self] { return self->open_; });
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};

inline hipStream_t create_stream(unsigned flags = hipStreamDefault) {
    hipStream_t stream;
    HIP_CHECK(hipStreamCreateWithFlags(&stream, flags));
    return stream;
}

inline hipEvent_t create_event(unsigned flags = hipEventDefault) {
    hipEvent_t event;
    HIP_CHECK(hipEventCreateWithFlags(&event, flags));
    return event;
}

// Pinned host memory that the device sees, zeroed.
template <typename T> T *pinned(std::size_t length, unsigned flags = hipHostMallocDefault) {
    T *memory = nullptr;
    HIP_CHECK(hipHostMalloc(reinterpret_cast<void **>(&memory), length * sizeof(T), flags));
    std::memset(memory, 0, length * sizeof(T));
    return memory;
}

} // namespace sample

int main(int argc, char **argv) {
    sample::arguments().count = argc;
    sample::arguments().values = argv;
    const auto found = argc > 1 ? sample::cases().find(argv[1]) : sample::cases().end();
    if (found == sample::cases().end()) {
        std::fprintf(stderr, "usage: %s CASE; the cases are:\n", argv[0]);
        for (const auto &entry : sample::cases()) {
            std::fprintf(stderr, "  %s\n", entry.first.c_str());
        }
        return 2;
    }
    found->second();
    // For what must not change the exit code of main.
    const char *const code = std::getenv("CASE_CODE");
    return code == nullptr ? EXIT_SUCCESS : std::atoi(code);
}
