// The workload, written once for every peer that launches kernels. A Backend supplies
//
//     template <typename T> using Buffer;                          device memory
//     Buffer<T> allocate<T>(count), release(buffer)
//     upload(buffer, pointer, count), download(pointer, buffer, count)      both wait
//     copy(to, from, count)                                         on the device, waits
//     launch(Kernel, Grid, Grid, arguments...), synchronize()
//     events()                                                      reports what events cost, if it has them
#pragma once

#include "workload.hpp"

#define BENCH_KERNELS(X)                                                                                                           \
    X(empty) X(vecadd) X(saxpy) X(sgemm_naive) X(sgemm_tiled) X(dgemm_tiled) X(nbody) X(reduce) X(histogram) X(bitonic_step)       \
    X(black_scholes) X(mandelbrot) X(stencil) X(transpose)

namespace bench {

namespace kernel {
#define X(name) struct name {};
BENCH_KERNELS(X)
#undef X
} // namespace kernel

struct Grid {
    unsigned x, y;
};

enum class Mode {
    measure, // time each kernel and check its result
    digest,  // run each kernel once and print a hash of its result
    count,   // run each kernel once at full size, an empty kernel before it, for a runtime that counts instructions
};

template <typename Backend> class Suite {
  public:
    Suite(Backend &backend, Mode mode, std::vector<std::string> wanted)
        : backend_(backend), mode_(mode), sizes_(mode == Mode::digest ? small_sizes() : full_sizes()), wanted_(std::move(wanted)) {}

    void run() {
        each("launch", [this] { launches(); });
        each("event", [this] {
            if (mode_ == Mode::measure) {
                backend_.events();
            }
        });
        each("copy", [this] { copies(); });
        each("vecadd", [this] { vecadd(); });
        each("saxpy", [this] { saxpy(); });
        for (const unsigned side : sizes_.gemm) {
            if (side == sizes_.gemm.front()) {
                each("sgemm_naive", [=] { gemm<float>("sgemm_naive", kernel::sgemm_naive{}, side); });
                each("dgemm_tiled", [=] { gemm<double>("dgemm_tiled", kernel::dgemm_tiled{}, side); });
            }
            each("sgemm_tiled", [=] { gemm<float>("sgemm_tiled", kernel::sgemm_tiled{}, side); });
        }
        each("nbody", [this] { nbody(); });
        each("reduce", [this] { reduce(); });
        each("histogram", [this] { histogram(); });
        each("bitonic", [this] { bitonic(); });
        each("black_scholes", [this] { black_scholes(); });
        each("mandelbrot", [this] { mandelbrot(); });
        each("stencil", [this] { stencil(); });
        each("transpose", [this] { transpose(); });
    }

  private:
    template <typename T> using Buffer = typename Backend::template Buffer<T>;
    static constexpr Grid line{block, 1}, square{tile, tile};

    template <typename Body> void each(const char *name, Body body) {
        if (wanted_.empty() || std::find(wanted_.begin(), wanted_.end(), name) != wanted_.end()) {
            body();
            for (const std::function<void()> &release : releases_) {
                release();
            }
            releases_.clear();
        }
    }

    // Device memory that is released at the end of the kernel's turn.
    template <typename T> Buffer<T> make(std::size_t count) {
        const Buffer<T> buffer = backend_.template allocate<T>(count);
        releases_.push_back([this, buffer] { backend_.release(buffer); });
        return buffer;
    }
    template <typename T> Buffer<T> make(const std::vector<T> &values) {
        const Buffer<T> buffer = make<T>(values.size());
        backend_.upload(buffer, values.data(), values.size());
        return buffer;
    }
    template <typename T> std::vector<T> read(Buffer<T> buffer, std::size_t count) {
        std::vector<T> values(count);
        backend_.download(values.data(), buffer, count);
        return values;
    }

    // `run` starts from the same state each time; `result` reads it back; `correct` judges it.
    template <typename Run, typename Result, typename Correct>
    void evaluate(const char *name, unsigned size, Run run, Result result, Correct correct) {
        if (mode_ == Mode::measure) {
            const Times times = timed(run);
            report(name, std::to_string(size), times, correct(result()));
        } else if (mode_ == Mode::count) {
            backend_.launch(kernel::empty{}, Grid{1, 1}, Grid{64, 1}, make<int>(1));
            run();
            backend_.synchronize();
            std::printf("%s\t%u\n", name, size);
        } else {
            run();
            const auto values = result();
            std::printf("%s\t%u\t%016llx\t%s\n", name, size, static_cast<unsigned long long>(digest(values)),
                        correct(values) ? "ok" : "wrong");
        }
    }

    void launches() {
        if (mode_ != Mode::measure) {
            return;
        }
        constexpr unsigned latencies = 1000;
        const Buffer<int> word = make<int>(1);
        const auto launch = [&] { backend_.launch(kernel::empty{}, Grid{1, 1}, Grid{64, 1}, word); };
        std::vector<double> async, synchronous;
        for (int repeat = 0; repeat < 6; ++repeat) {
            double start = wall_ms();
            for (unsigned index = 0; index < sizes_.launches; ++index) {
                launch();
            }
            backend_.synchronize();
            const double burst = (wall_ms() - start) * 1e3 / sizes_.launches;
            start = wall_ms();
            for (unsigned index = 0; index < latencies; ++index) {
                launch();
                backend_.synchronize();
            }
            const double latency = (wall_ms() - start) * 1e3 / latencies;
            if (repeat > 0) { // the first is to warm up
                async.push_back(burst);
                synchronous.push_back(latency);
            }
        }
        report("launch_async", std::to_string(sizes_.launches), "us", async, "-");
        report("launch_sync", "1", "us", synchronous, "-");
    }

    void copies() {
        if (mode_ != Mode::measure) {
            return;
        }
        for (const std::size_t bytes : {std::size_t{64}, std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20, std::size_t{16} << 20,
                                        std::size_t{256} << 20}) {
            const unsigned repeats = bytes <= 65536 ? 500 : bytes <= (1u << 20) ? 50 : 1;
            std::vector<unsigned char> source(bytes, 0x5A), destination(bytes, 0);
            const Buffer<unsigned char> buffer = make<unsigned char>(bytes), other = make<unsigned char>(bytes);
            const auto each_us = [repeats](std::vector<double> values) {
                for (double &value : values) {
                    value = value * 1e3 / repeats;
                }
                return values;
            };
            const Times in = timed([&] {
                for (unsigned index = 0; index < repeats; ++index) {
                    backend_.upload(buffer, source.data(), bytes);
                }
            });
            const Times across = timed([&] {
                for (unsigned index = 0; index < repeats; ++index) {
                    backend_.copy(other, buffer, bytes);
                }
            });
            const Times out = timed([&] {
                for (unsigned index = 0; index < repeats; ++index) {
                    backend_.download(destination.data(), other, bytes);
                }
            });
            const char *const check = source == destination ? "ok" : "wrong";
            report("copy_h2d", std::to_string(bytes), "us", each_us(in.wall), check);
            report("copy_d2d", std::to_string(bytes), "us", each_us(across.wall), check);
            report("copy_d2h", std::to_string(bytes), "us", each_us(out.wall), check);
        }
    }

    void vecadd() {
        const unsigned count = sizes_.elements;
        const std::vector<float> a = randoms(count, 1), b = randoms(count, 2);
        const Buffer<float> device_a = make(a), device_b = make(b), sum = make<float>(count);
        evaluate(
            "vecadd", count,
            [&] {
                backend_.launch(kernel::vecadd{}, Grid{count / block, 1}, line, device_a, device_b, sum);
                backend_.synchronize();
            },
            [&] { return read<float>(sum, count); },
            [&](const std::vector<float> &got) {
                bool correct = true;
                for (unsigned index = 0; index < count; ++index) {
                    correct = correct && got[index] == a[index] + b[index];
                }
                return correct;
            });
    }

    void saxpy() {
        const unsigned count = sizes_.elements;
        const std::vector<float> x = randoms(count, 1), y = randoms(count, 2);
        const Buffer<float> device_x = make(x), device_y = make(y);
        const auto run = [&] {
            backend_.launch(kernel::saxpy{}, Grid{count / block, 1}, line, saxpy_factor, device_x, device_y);
            backend_.synchronize();
        };
        evaluate(
            "saxpy", count, run,
            [&] { // the timed runs add up: judge one from a fresh start
                backend_.upload(device_y, y.data(), count);
                run();
                return read<float>(device_y, count);
            },
            [&](const std::vector<float> &got) {
                std::vector<float> want(y);
                for (unsigned index = 0; index < count; ++index) {
                    want[index] += saxpy_factor * x[index];
                }
                return near(got, want, 1e-6);
            });
    }

    template <typename T, typename Kernel> void gemm(const char *name, Kernel which, unsigned side) {
        const std::vector<T> a = random_matrix<T>(side, 3), b = random_matrix<T>(side, 4);
        const Buffer<T> device_a = make(a), device_b = make(b), product = make<T>(a.size());
        evaluate(
            name, side,
            [&] {
                backend_.launch(which, Grid{side / tile, side / tile}, square, device_a, device_b, product, static_cast<int>(side));
                backend_.synchronize();
            },
            [&] { return read<T>(product, a.size()); }, [&](const std::vector<T> &got) { return product_is_right(got, a, b, side); });
    }

    void nbody() {
        const unsigned count = sizes_.bodies;
        const std::vector<float> bodies = random_bodies(count);
        const Buffer<float> positions = make(bodies), accelerations = make<float>(bodies.size());
        evaluate(
            "nbody", count,
            [&] {
                backend_.launch(kernel::nbody{}, Grid{count / block, 1}, line, positions, accelerations, static_cast<int>(count));
                backend_.synchronize();
            },
            [&] { return read<float>(accelerations, bodies.size()); },
            [&](const std::vector<float> &got) { return accelerations_are_right(got, bodies); });
    }

    void reduce() {
        const unsigned count = sizes_.elements;
        const std::vector<float> values = randoms(count, 5);
        const Buffer<float> in = make(values), partial = make<float>(reduce_groups), total = make<float>(1);
        evaluate(
            "reduce", count,
            [&] {
                backend_.launch(kernel::reduce{}, Grid{reduce_groups, 1}, line, in, partial, static_cast<int>(count),
                                static_cast<int>(reduce_groups * block));
                backend_.launch(kernel::reduce{}, Grid{1, 1}, line, partial, total, static_cast<int>(reduce_groups),
                                static_cast<int>(block));
                backend_.synchronize();
            },
            [&] { return read<float>(total, 1); },
            [&](const std::vector<float> &got) {
                double want = 0.0;
                for (const float value : values) {
                    want += value;
                }
                return std::fabs(got[0] - want) < 1e-4 * want;
            });
    }

    void histogram() {
        const unsigned count = sizes_.elements;
        const std::vector<std::uint32_t> words = random_words(count, 9), zeros(bins, 0);
        const Buffer<std::uint32_t> in = make(words), counts = make(zeros);
        evaluate(
            "histogram", count,
            [&] {
                backend_.upload(counts, zeros.data(), zeros.size());
                backend_.launch(kernel::histogram{}, Grid{histogram_groups, 1}, line, in, counts, static_cast<int>(count),
                                static_cast<int>(histogram_groups * block));
                backend_.synchronize();
            },
            [&] { return read<std::uint32_t>(counts, bins); },
            [&](const std::vector<std::uint32_t> &got) { return got == counted(words); });
    }

    void bitonic() {
        const unsigned count = sizes_.sorted;
        const std::vector<std::uint32_t> words = random_words(count, 11);
        const Buffer<std::uint32_t> values = make(words);
        evaluate(
            "bitonic", count,
            [&] {
                backend_.upload(values, words.data(), count);
                for (unsigned run = 2; run <= count; run *= 2) {
                    for (unsigned distance = run / 2; distance > 0; distance /= 2) {
                        backend_.launch(kernel::bitonic_step{}, Grid{count / block, 1}, line, values, distance, run);
                    }
                }
                backend_.synchronize();
            },
            [&] { return read<std::uint32_t>(values, count); },
            [&](const std::vector<std::uint32_t> &got) {
                std::vector<std::uint32_t> want(words);
                std::sort(want.begin(), want.end());
                return got == want;
            });
    }

    void black_scholes() {
        const unsigned count = sizes_.options;
        const Options options = random_options(count);
        const Buffer<float> price = make(options.price), strike = make(options.strike), years = make(options.years);
        const Buffer<float> call = make<float>(count), put = make<float>(count);
        evaluate(
            "black_scholes", count,
            [&] {
                backend_.launch(kernel::black_scholes{}, Grid{count / block, 1}, line, price, strike, years, call, put);
                backend_.synchronize();
            },
            [&] {
                std::vector<float> both = read<float>(call, count);
                const std::vector<float> puts = read<float>(put, count);
                both.insert(both.end(), puts.begin(), puts.end());
                return both;
            },
            [&](const std::vector<float> &got) {
                return prices_are_right(options, {got.begin(), got.begin() + count}, {got.begin() + count, got.end()}, 1e-4);
            });
    }

    void mandelbrot() {
        const unsigned side = sizes_.image;
        const std::size_t pixels = std::size_t{side} * side;
        const Buffer<int> image = make<int>(pixels);
        evaluate(
            "mandelbrot", side,
            [&] {
                backend_.launch(kernel::mandelbrot{}, Grid{side / tile, side / tile}, square, image, static_cast<int>(side),
                                mandelbrot_iterations);
                backend_.synchronize();
            },
            [&] { return read<int>(image, pixels); }, [&](const std::vector<int> &got) { return mandelbrot_is_right(got, side); });
    }

    void stencil() {
        const unsigned count = sizes_.elements;
        const std::vector<float> values = randoms(count + 2 * radius, 31);
        const Buffer<float> in = make(values), out = make<float>(count);
        evaluate(
            "stencil", count,
            [&] {
                backend_.launch(kernel::stencil{}, Grid{count / block, 1}, line, in, out);
                backend_.synchronize();
            },
            [&] { return read<float>(out, count); }, [&](const std::vector<float> &got) { return stencil_is_right(got, values); });
    }

    void transpose() {
        const unsigned side = sizes_.matrix;
        const std::vector<float> values = randoms(std::size_t{side} * side, 41);
        const Buffer<float> in = make(values), out = make<float>(values.size());
        evaluate(
            "transpose", side,
            [&] {
                backend_.launch(kernel::transpose{}, Grid{side / tile, side / tile}, square, in, out, static_cast<int>(side));
                backend_.synchronize();
            },
            [&] { return read<float>(out, values.size()); },
            [&](const std::vector<float> &got) { return transpose_is_right(got, values, side); });
    }

    Backend &backend_;
    const Mode mode_;
    const Sizes sizes_;
    const std::vector<std::string> wanted_;
    std::vector<std::function<void()>> releases_;
};

} // namespace bench
