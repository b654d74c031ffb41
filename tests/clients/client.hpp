// What the clients share: the few HIP functions that they call, declared here so that a library's runtime package alone is enough.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
int hipMalloc(void **memory, std::size_t size);
int hipFree(void *memory);
int hipMemcpy(void *destination, const void *source, std::size_t size, int kind);
int hipDeviceSynchronize();
}

#define REQUIRE(condition)                                                                                                         \
    do {                                                                                                                           \
        if (!(condition)) {                                                                                                        \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                         \
            std::exit(1);                                                                                                          \
        }                                                                                                                          \
    } while (false)

// Every function of these interfaces gives 0 for success.
#define CHECK(call)                                                                                                                \
    do {                                                                                                                           \
        const int status_ = static_cast<int>(call);                                                                                \
        if (status_ != 0) {                                                                                                        \
            std::fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, status_);                                       \
            std::exit(1);                                                                                                          \
        }                                                                                                                          \
    } while (false)

template <typename T> class Device {
  public:
    explicit Device(std::size_t length) : length_(length) { CHECK(hipMalloc(reinterpret_cast<void **>(&data_), length * sizeof(T))); }
    explicit Device(const std::vector<T> &values) : Device(values.size()) {
        CHECK(hipMemcpy(data_, values.data(), length_ * sizeof(T), 1));
    }
    ~Device() { CHECK(hipFree(data_)); }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    T *get() const { return data_; }
    std::vector<T> read() const {
        std::vector<T> values(length_);
        CHECK(hipMemcpy(values.data(), data_, length_ * sizeof(T), 2));
        return values;
    }

  private:
    T *data_ = nullptr;
    std::size_t length_;
};
