// Plain C++ on one thread: what this machine allows. usage: native measure [KERNEL...]
// Built with -O3 -march=native -ffast-math; the tiled products and the Mandelbrot set are blocked by hand for the vector units.
#include "workload.hpp"

using namespace bench;

namespace {

std::vector<std::string> wanted_kernels;

bool wanted(const char *name) {
    return wanted_kernels.empty() || std::find(wanted_kernels.begin(), wanted_kernels.end(), name) != wanted_kernels.end();
}

#ifdef __AVX512F__
constexpr unsigned vector_bytes = 64, product_rows = 8;
#else
constexpr unsigned vector_bytes = 32, product_rows = 4;
#endif
typedef float Floats __attribute__((vector_size(vector_bytes)));
typedef int Ints __attribute__((vector_size(vector_bytes)));
constexpr unsigned lanes = vector_bytes / sizeof(float);

// Rows of `side` in i, k, j order, as one would first write it.
void multiply_plain(const float *a, const float *b, float *product, unsigned side) {
    for (unsigned row = 0; row < side; ++row) {
        float *const out = product + std::size_t{row} * side;
        std::fill(out, out + side, 0.0f);
        for (unsigned inner = 0; inner < side; ++inner) {
            const float factor = a[std::size_t{row} * side + inner];
            const float *const in = b + std::size_t{inner} * side;
            for (unsigned column = 0; column < side; ++column) {
                out[column] += factor * in[column];
            }
        }
    }
}

// A few rows by two vectors of sums stay in registers.
template <typename T> void multiply_blocked(const T *a, const T *b, T *product, unsigned side) {
    typedef T Vector __attribute__((vector_size(vector_bytes), aligned(4)));
    constexpr unsigned width = vector_bytes / sizeof(T), rows = product_rows;
    for (unsigned row = 0; row < side; row += rows) {
        for (unsigned column = 0; column < side; column += 2 * width) {
            Vector sums[rows][2] = {};
            for (unsigned inner = 0; inner < side; ++inner) {
                const T *const in = b + std::size_t{inner} * side + column;
                const Vector first = *reinterpret_cast<const Vector *>(in), second = *reinterpret_cast<const Vector *>(in + width);
#pragma GCC unroll 8
                for (unsigned offset = 0; offset < rows; ++offset) {
                    const T factor = a[std::size_t{row + offset} * side + inner];
                    sums[offset][0] += factor * first;
                    sums[offset][1] += factor * second;
                }
            }
#pragma GCC unroll 8
            for (unsigned offset = 0; offset < rows; ++offset) {
                T *const out = product + std::size_t{row + offset} * side + column;
                *reinterpret_cast<Vector *>(out) = sums[offset][0];
                *reinterpret_cast<Vector *>(out + width) = sums[offset][1];
            }
        }
    }
}

template <typename T, typename Multiply> void gemm(const char *name, unsigned side, Multiply multiply) {
    const std::vector<T> a = random_matrix<T>(side, 3), b = random_matrix<T>(side, 4);
    std::vector<T> product(a.size());
    const Times times = timed([&] { multiply(a.data(), b.data(), product.data(), side); });
    report(name, std::to_string(side), times, near(product, multiplied(a, b, side), 1e-4, 1e-4));
}

void vecadd(const Sizes &sizes) {
    const std::vector<float> a = randoms(sizes.elements, 1), b = randoms(sizes.elements, 2);
    std::vector<float> sum(sizes.elements);
    const Times times = timed([&] {
        for (unsigned index = 0; index < sizes.elements; ++index) {
            sum[index] = a[index] + b[index];
        }
    });
    std::vector<float> want(a);
    for (unsigned index = 0; index < sizes.elements; ++index) {
        want[index] += b[index];
    }
    report("vecadd", std::to_string(sizes.elements), times, sum == want);
}

void saxpy(const Sizes &sizes) {
    const std::vector<float> x = randoms(sizes.elements, 1), start = randoms(sizes.elements, 2);
    std::vector<float> y(start);
    const auto run = [&] {
        const float *const in = x.data();
        float *const out = y.data();
        for (unsigned index = 0; index < sizes.elements; ++index) {
            out[index] = saxpy_factor * in[index] + out[index];
        }
    };
    const Times times = timed(run);
    y = start;
    run();
    std::vector<float> want(start);
    for (unsigned index = 0; index < sizes.elements; ++index) {
        want[index] += saxpy_factor * x[index];
    }
    report("saxpy", std::to_string(sizes.elements), times, near(y, want, 1e-6));
}

void nbody(const Sizes &sizes) {
    const std::vector<float> bodies = random_bodies(sizes.bodies);
    std::vector<float> parts[4], out(bodies.size());
    for (std::size_t index = 0; index < bodies.size(); ++index) {
        parts[index % 4].push_back(bodies[index]);
    }
    const float *const x = parts[0].data(), *const y = parts[1].data(), *const z = parts[2].data(), *const mass = parts[3].data();
    const Times times = timed([&] {
        for (unsigned body = 0; body < sizes.bodies; ++body) {
            const float here_x = x[body], here_y = y[body], here_z = z[body];
            float ax = 0, ay = 0, az = 0;
            for (unsigned other = 0; other < sizes.bodies; ++other) {
                const float dx = x[other] - here_x, dy = y[other] - here_y, dz = z[other] - here_z;
                const float inverse = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + softening);
                const float pull = mass[other] * inverse * inverse * inverse;
                ax += dx * pull;
                ay += dy * pull;
                az += dz * pull;
            }
            out[4 * body] = ax;
            out[4 * body + 1] = ay;
            out[4 * body + 2] = az;
            out[4 * body + 3] = 0.0f;
        }
    });
    report("nbody", std::to_string(sizes.bodies), times, accelerations_are_right(out, bodies));
}

void reduce(const Sizes &sizes) {
    const std::vector<float> values = randoms(sizes.elements, 5);
    double want = 0.0;
    for (const float value : values) {
        want += value;
    }
    float sum = 0.0f;
    const Times times = timed([&] {
        float total = 0.0f;
        for (unsigned index = 0; index < sizes.elements; ++index) {
            total += values[index];
        }
        sum = total;
    });
    report("reduce", std::to_string(sizes.elements), times, std::fabs(sum - want) < 1e-3 * want);
}

void histogram(const Sizes &sizes) {
    const std::vector<std::uint32_t> words = random_words(sizes.elements, 9);
    std::vector<std::uint32_t> counts(bins);
    const Times times = timed([&] {
        std::uint32_t parts[4][bins] = {}; // four, so that equal neighbours do not wait for each other
        for (unsigned index = 0; index < sizes.elements; index += 4) {
            for (unsigned part = 0; part < 4; ++part) {
                ++parts[part][words[index + part] >> 24];
            }
        }
        for (unsigned bin = 0; bin < bins; ++bin) {
            counts[bin] = parts[0][bin] + parts[1][bin] + parts[2][bin] + parts[3][bin];
        }
    });
    report("histogram", std::to_string(sizes.elements), times, counts == counted(words));
}

void bitonic(const Sizes &sizes) {
    const std::vector<std::uint32_t> words = random_words(sizes.sorted, 11);
    std::vector<std::uint32_t> values, want(words);
    std::sort(want.begin(), want.end());
    const Times times = timed([&] {
        values = words;
        for (unsigned run = 2; run <= sizes.sorted; run *= 2) {
            for (unsigned distance = run / 2; distance > 0; distance /= 2) {
                for (unsigned start = 0; start < sizes.sorted; start += 2 * distance) {
                    std::uint32_t *const low = values.data() + start, *const high = low + distance;
                    if ((start & run) == 0) {
                        for (unsigned index = 0; index < distance; ++index) {
                            const std::uint32_t a = low[index], b = high[index];
                            low[index] = std::min(a, b);
                            high[index] = std::max(a, b);
                        }
                    } else {
                        for (unsigned index = 0; index < distance; ++index) {
                            const std::uint32_t a = low[index], b = high[index];
                            low[index] = std::max(a, b);
                            high[index] = std::min(a, b);
                        }
                    }
                }
            }
        }
    });
    report("bitonic", std::to_string(sizes.sorted), times, values == want);
}

void black_scholes(const Sizes &sizes) {
    const Options options = random_options(sizes.options);
    std::vector<float> calls(sizes.options), puts(sizes.options);
    const float *const prices = options.price.data(), *const strikes = options.strike.data(), *const years = options.years.data();
    float *const call = calls.data(), *const put = puts.data();
    const Times times = timed([&] {
        const float rate = 0.02f, volatility = 0.30f, root_half = 0.70710678f;
        for (unsigned index = 0; index < sizes.options; ++index) {
            const float root = std::sqrt(years[index]);
            const float first = (std::log(prices[index] / strikes[index]) + (rate + 0.5f * volatility * volatility) * years[index]) /
                                (volatility * root);
            const float second = first - volatility * root, discounted = strikes[index] * std::exp(-rate * years[index]);
            const float first_normal = 0.5f * (1.0f + std::erf(first * root_half));
            const float second_normal = 0.5f * (1.0f + std::erf(second * root_half));
            call[index] = prices[index] * first_normal - discounted * second_normal;
            put[index] = discounted * (1.0f - second_normal) - prices[index] * (1.0f - first_normal);
        }
    });
    report("black_scholes", std::to_string(sizes.options), times, prices_are_right(options, calls, puts, 1e-3));
}

void mandelbrot(const Sizes &sizes) {
    const unsigned side = sizes.image;
    std::vector<int> image(std::size_t{side} * side);
    const Times times = timed([&] {
        const float step = 3.0f / static_cast<float>(side);
        for (unsigned row = 0; row < side; ++row) {
            for (unsigned column = 0; column < side; column += lanes) {
                Floats real, x = {}, y = {};
                Ints counts = {};
                for (unsigned lane = 0; lane < lanes; ++lane) {
                    real[lane] = -2.0f + static_cast<float>(column + lane) * step;
                }
                const float imaginary = -1.5f + static_cast<float>(row) * step;
                for (int iteration = 0; iteration < mandelbrot_iterations; ++iteration) {
                    const Floats x_square = x * x, y_square = y * y;
                    const Ints inside = x_square + y_square <= 4.0f; // -1 while inside; a point that is out only grows
                    counts -= inside;
                    bool any = false;
                    for (unsigned lane = 0; lane < lanes; ++lane) {
                        any |= inside[lane] != 0;
                    }
                    if (!any) {
                        break;
                    }
                    y = 2.0f * x * y + imaginary;
                    x = x_square - y_square + real;
                }
                std::memcpy(&image[std::size_t{row} * side + column], &counts, sizeof counts);
            }
        }
    });
    report("mandelbrot", std::to_string(side), times, mandelbrot_is_right(image, side));
}

void stencil(const Sizes &sizes) {
    const std::vector<float> values = randoms(sizes.elements + 2 * radius, 31);
    std::vector<float> sums(sizes.elements);
    const float *const in = values.data();
    float *const out = sums.data();
    const Times times = timed([&] {
        for (unsigned index = 0; index < sizes.elements; ++index) {
            float sum = 0.0f;
            for (unsigned offset = 0; offset <= 2 * radius; ++offset) {
                sum += in[index + offset];
            }
            out[index] = sum;
        }
    });
    report("stencil", std::to_string(sizes.elements), times, stencil_is_right(sums, values));
}

void transpose(const Sizes &sizes) {
    const std::size_t side = sizes.matrix;
    const std::vector<float> in = randoms(side * side, 41);
    std::vector<float> out(in.size());
    const Times times = timed([&] {
        for (std::size_t row = 0; row < side; row += tile) {
            for (std::size_t column = 0; column < side; column += tile) {
                for (std::size_t inner = column; inner < column + tile; ++inner) {
                    for (std::size_t outer = row; outer < row + tile; ++outer) {
                        out[inner * side + outer] = in[outer * side + inner];
                    }
                }
            }
        }
    });
    report("transpose", std::to_string(side), times, transpose_is_right(out, in, side));
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 2 || std::strcmp(argv[1], "measure") != 0) {
        std::fprintf(stderr, "usage: %s measure [KERNEL...]\n", argv[0]);
        return 2;
    }
    wanted_kernels.assign(argv + 2, argv + argc);
    const Sizes sizes = full_sizes();
    const auto run = [&](const char *name, void (*kernel)(const Sizes &)) {
        if (wanted(name)) {
            kernel(sizes);
        }
    };
    run("vecadd", vecadd);
    run("saxpy", saxpy);
    for (const unsigned side : sizes.gemm) {
        if (side == sizes.gemm.front() && wanted("sgemm_naive")) {
            gemm<float>("sgemm_naive", side, multiply_plain);
        }
        if (side == sizes.gemm.front() && wanted("dgemm_tiled")) {
            gemm<double>("dgemm_tiled", side, multiply_blocked<double>);
        }
        if (wanted("sgemm_tiled")) {
            gemm<float>("sgemm_tiled", side, multiply_blocked<float>);
        }
    }
    run("nbody", nbody);
    run("reduce", reduce);
    run("histogram", histogram);
    run("bitonic", bitonic);
    run("black_scholes", black_scholes);
    run("mandelbrot", mandelbrot);
    run("stencil", stencil);
    run("transpose", transpose);
    return 0;
}
