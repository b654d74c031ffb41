// What every HIP sample needs: a check around each HIP call, device buffers that free themselves, and a verdict.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(call) sample::check((call), #call, __FILE__, __LINE__)

namespace sample {

inline void check(hipError_t error, const char *call, const char *file, int line) {
    if (error == hipSuccess) {
        return;
    }
    std::fprintf(stderr, "%s:%d: %s failed: %s (%s)\n", file, line, call, hipGetErrorName(error), hipGetErrorString(error));
    std::exit(EXIT_FAILURE);
}

// A kernel launch returns nothing: this asks for what it left behind.
inline void check_launch() { HIP_CHECK(hipGetLastError()); }

// A typed array in device memory, freed at the end of its scope.
template <typename T> class DeviceBuffer {
  public:
    explicit DeviceBuffer(std::size_t length) : length_(length) {
        HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&data_), length * sizeof(T)));
    }
    explicit DeviceBuffer(const std::vector<T> &values) : DeviceBuffer(values.size()) {
        HIP_CHECK(hipMemcpy(data_, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    }
    ~DeviceBuffer() { HIP_CHECK(hipFree(data_)); }
    DeviceBuffer(const DeviceBuffer &) = delete;
    DeviceBuffer &operator=(const DeviceBuffer &) = delete;

    T *get() const { return data_; }

    // Waits for the null stream and copies everything back.
    std::vector<T> read() const {
        std::vector<T> values(length_);
        HIP_CHECK(hipMemcpy(values.data(), data_, length_ * sizeof(T), hipMemcpyDeviceToHost));
        return values;
    }

  private:
    T *data_ = nullptr;
    std::size_t length_;
};

// A small repeatable generator, so that every run computes on the same numbers.
class Random {
  public:
    explicit Random(unsigned seed) : state_(seed) {}
    unsigned next() {
        state_ = state_ * 1664525u + 1013904223u;
        return state_;
    }
    // In [low, high), a multiple of 2^-24 of the range.
    float uniform(float low, float high) { return low + (high - low) * static_cast<float>(next() >> 8) / 16777216.0f; }
    std::vector<float> uniforms(std::size_t count, float low, float high) {
        std::vector<float> values(count);
        for (float &value : values) {
            value = uniform(low, high);
        }
        return values;
    }

  private:
    unsigned state_;
};

inline bool close(double got, double want, double relative, double absolute) {
    return std::fabs(got - want) <= absolute + relative * std::fabs(want);
}

// Prints the verdict of a sample and returns its exit code.
inline int verdict(const char *name, bool passed) {
    if (passed) {
        std::printf("%s: PASSED\n", name);
        return EXIT_SUCCESS;
    }
    std::fprintf(stderr, "%s: FAILED, the device's result is wrong\n", name);
    return EXIT_FAILURE;
}

} // namespace sample
