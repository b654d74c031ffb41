// What every peer of the bench shares: sizes, inputs, references on the host, timing, and the lines that the driver reads.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace bench {

constexpr unsigned block = 256;
constexpr unsigned tile = 16;
constexpr unsigned radius = 4;         // of the stencil
constexpr float softening = 1e-3f;     // of the n-body
constexpr float saxpy_factor = 1.5f;
constexpr unsigned reduce_groups = 1024;
constexpr unsigned histogram_groups = 256;
constexpr unsigned bins = 256;
constexpr int mandelbrot_iterations = 256;

// How much work each kernel does: `full` is what is timed, `small` is for comparing results between settings.
struct Sizes {
    unsigned elements;   // vecadd, saxpy, reduce, histogram, stencil
    unsigned sorted;     // bitonic
    unsigned options;    // black_scholes
    unsigned bodies;     // nbody
    unsigned image;      // side of the mandelbrot
    unsigned matrix;     // side of the transpose
    std::vector<unsigned> gemm;
    unsigned launches;   // empty kernels in one burst
};
inline Sizes full_sizes() { return {1u << 24, 1u << 20, 1u << 22, 4096, 1024, 4096, {512, 1024}, 100000}; }
inline Sizes small_sizes() { return {1u << 16, 1u << 12, 1u << 14, 512, 128, 128, {64}, 100}; }

// ---- time ----

inline double wall_ms() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Processor time of all threads of the process.
inline double processor_ms() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

struct Times {
    std::vector<double> wall, processor;
};

// Runs once to warm up, then five times, and on up to fifteen while a second and a half lasts.
inline Times timed(const std::function<void()> &run) {
    run();
    Times times;
    const double start = wall_ms();
    while (times.wall.size() < 5 || (times.wall.size() < 15 && wall_ms() - start < 1500.0)) {
        const double wall = wall_ms(), processor = processor_ms();
        run();
        times.wall.push_back(wall_ms() - wall);
        times.processor.push_back(processor_ms() - processor);
    }
    return times;
}

// One line for the driver: kernel, size, metric, median, least, most, repeats, check.
inline void report(const char *kernel, const std::string &size, const char *metric, std::vector<double> values, const char *check) {
    std::sort(values.begin(), values.end());
    std::printf("%s\t%s\t%s\t%.9g\t%.9g\t%.9g\t%zu\t%s\n", kernel, size.c_str(), metric, values[values.size() / 2], values.front(),
                values.back(), values.size(), check);
    std::fflush(stdout);
}

inline void report(const char *kernel, const std::string &size, const Times &times, bool correct) {
    const char *const check = correct ? "ok" : "wrong";
    report(kernel, size, "cpu_ms", times.processor, check);
    report(kernel, size, "ms", times.wall, check);
}

// FNV-1a over the bits of a result.
template <typename T> std::uint64_t digest(const std::vector<T> &values) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto *bytes = reinterpret_cast<const unsigned char *>(values.data());
    for (std::size_t index = 0; index < values.size() * sizeof(T); ++index) {
        hash = (hash ^ bytes[index]) * 0x100000001b3u;
    }
    return hash;
}

// ---- inputs ----

inline std::vector<float> randoms(std::size_t count, std::uint32_t seed, float low = 0.0f, float high = 1.0f) {
    std::vector<float> values(count);
    std::uint32_t state = seed * 2654435761u + 12345u;
    for (float &value : values) {
        state = state * 1664525u + 1013904223u;
        value = low + (high - low) * static_cast<float>(state >> 8) / 16777216.0f;
    }
    return values;
}

inline std::vector<std::uint32_t> random_words(std::size_t count, std::uint32_t seed) {
    std::vector<std::uint32_t> values(count);
    std::uint32_t state = seed;
    for (std::uint32_t &value : values) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        value = state;
    }
    return values;
}

template <typename T> std::vector<T> random_matrix(unsigned side, std::uint32_t seed) {
    const std::vector<float> values = randoms(static_cast<std::size_t>(side) * side, seed, -1.0f, 1.0f);
    return std::vector<T>(values.begin(), values.end());
}

// x, y, z and a positive mass for each body.
inline std::vector<float> random_bodies(unsigned count) {
    std::vector<float> values = randoms(std::size_t{count} * 4, 7, -1.0f, 1.0f);
    for (std::size_t mass = 3; mass < values.size(); mass += 4) {
        values[mass] = std::fabs(values[mass]) + 0.1f;
    }
    return values;
}

struct Options {
    std::vector<float> price, strike, years;
};
inline Options random_options(unsigned count) {
    return {randoms(count, 21, 5.0f, 30.0f), randoms(count, 22, 1.0f, 100.0f), randoms(count, 23, 0.25f, 10.0f)};
}

// ---- references: the plain algorithm on the host, in double precision where rounding matters ----

template <typename T> bool near(const std::vector<T> &got, const std::vector<T> &want, double relative, double absolute = 1e-6) {
    for (std::size_t index = 0; index < want.size(); ++index) {
        const double difference = std::fabs(static_cast<double>(got[index]) - static_cast<double>(want[index]));
        if (!(difference <= absolute + relative * std::fabs(static_cast<double>(want[index])))) {
            std::fprintf(stderr, "element %zu is %g, not %g\n", index, static_cast<double>(got[index]),
                         static_cast<double>(want[index]));
            return false;
        }
    }
    return got.size() == want.size();
}

template <typename T> std::vector<T> multiplied(const std::vector<T> &a, const std::vector<T> &b, unsigned side) {
    std::vector<double> product(a.size(), 0.0);
    for (std::size_t row = 0; row < side; ++row) {
        for (std::size_t inner = 0; inner < side; ++inner) {
            const double factor = a[row * side + inner];
            for (std::size_t column = 0; column < side; ++column) {
                product[row * side + column] += factor * b[inner * side + column];
            }
        }
    }
    return std::vector<T>(product.begin(), product.end());
}
template <typename T> bool product_is_right(const std::vector<T> &got, const std::vector<T> &a, const std::vector<T> &b, unsigned side) {
    const bool single = sizeof(T) == sizeof(float);
    return near(got, multiplied(a, b, side), single ? 1e-4 : 1e-12, single ? 1e-4 : 1e-11);
}

inline bool accelerations_are_right(const std::vector<float> &got, const std::vector<float> &bodies) {
    std::vector<float> want(bodies.size());
    for (std::size_t body = 0; body < bodies.size(); body += 4) {
        double sum[3] = {};
        for (std::size_t other = 0; other < bodies.size(); other += 4) {
            double distance[3], square = softening;
            for (int axis = 0; axis < 3; ++axis) {
                distance[axis] = static_cast<double>(bodies[other + axis]) - bodies[body + axis];
                square += distance[axis] * distance[axis];
            }
            const double pull = bodies[other + 3] / (square * std::sqrt(square));
            for (int axis = 0; axis < 3; ++axis) {
                sum[axis] += distance[axis] * pull;
            }
        }
        for (int axis = 0; axis < 3; ++axis) {
            want[body + axis] = static_cast<float>(sum[axis]);
        }
    }
    return near(got, want, 2e-3, 2e-1);
}

inline bool prices_are_right(const Options &options, const std::vector<float> &call, const std::vector<float> &put, double tolerance) {
    const double rate = 0.02, volatility = 0.30;
    const auto normal = [](double value) { return 0.5 * (1.0 + std::erf(value * 0.70710678118654752)); };
    std::vector<float> calls(call.size()), puts(put.size());
    for (std::size_t index = 0; index < call.size(); ++index) {
        const double price = options.price[index], strike = options.strike[index], years = options.years[index];
        const double spread = volatility * std::sqrt(years);
        const double first = (std::log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread;
        const double second = first - spread, discounted = strike * std::exp(-rate * years);
        calls[index] = static_cast<float>(price * normal(first) - discounted * normal(second));
        puts[index] = static_cast<float>(discounted * normal(-second) - price * normal(-first));
    }
    return near(call, calls, tolerance, tolerance) && near(put, puts, tolerance, tolerance);
}

// The same steps in single precision; a peer that fuses multiply and add may round a few pixels to another count.
inline bool mandelbrot_is_right(const std::vector<int> &got, unsigned side) {
    std::size_t different = 0;
    const float step = 3.0f / static_cast<float>(side);
    for (unsigned row = 0; row < side; ++row) {
        for (unsigned column = 0; column < side; ++column) {
            const float real = -2.0f + static_cast<float>(column) * step, imaginary = -1.5f + static_cast<float>(row) * step;
            float x = 0.0f, y = 0.0f;
            int iteration = 0;
            for (; iteration < mandelbrot_iterations; ++iteration) {
                const float x_square = x * x, y_square = y * y;
                if (x_square + y_square > 4.0f) {
                    break;
                }
                y = 2.0f * x * y + imaginary;
                x = x_square - y_square + real;
            }
            different += got[row * side + column] != iteration;
        }
    }
    return different <= got.size() / 200;
}

// `in` has `radius` more elements at each end.
inline bool stencil_is_right(const std::vector<float> &got, const std::vector<float> &in) {
    std::vector<float> want(in.size() - 2 * radius);
    for (std::size_t index = 0; index < want.size(); ++index) {
        for (std::size_t offset = 0; offset <= 2 * radius; ++offset) {
            want[index] += in[index + offset];
        }
    }
    return near(got, want, 1e-5);
}

inline bool transpose_is_right(const std::vector<float> &got, const std::vector<float> &in, std::size_t side) {
    for (std::size_t row = 0; row < side; ++row) {
        for (std::size_t column = 0; column < side; ++column) {
            if (got[column * side + row] != in[row * side + column]) {
                return false;
            }
        }
    }
    return true;
}

inline std::vector<std::uint32_t> counted(const std::vector<std::uint32_t> &words) {
    std::vector<std::uint32_t> counts(bins, 0);
    for (const std::uint32_t word : words) {
        ++counts[word >> 24];
    }
    return counts;
}

} // namespace bench
