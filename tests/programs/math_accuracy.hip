// How far the math functions of HIP's device library are from the truth, over the ranges for which HIP documents bounds.
//
//     math_accuracy POINTS
//
// prints one line for each function: its name, the documented bound (`none`), and for each device the error where the absolute error is
// largest and the largest error, in units in the last place. The reference is glibc's long double on x87, whose own error is below 1/500 of a
// unit of a double.
#include "check.hpp"

#include <cmath>
#include <hip/hip_fp16.h>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr long double pi = M_PIl;
constexpr int none = -1;

struct Measured {
    double at_absolute, largest;
};

struct Row {
    const char *name;
    int bound;
    // One for each device.
    std::vector<Measured> (*measure)(int points);
};

std::vector<Row> &rows() {
    static std::vector<Row> all;
    return all;
}

struct Registered {
    explicit Registered(const Row &row) { rows().push_back(row); }
};

// A point of a range, from a counter.
double point(unsigned index, unsigned salt, double low, double high) {
    unsigned long long bits = (index + 1) * 0x9e3779b97f4a7c15ull + salt * 0xd1b54a32d192ed03ull;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
    bits ^= bits >> 31;
    return low + (high - low) * (static_cast<double>(bits >> 11) * 0x1p-53);
}

template <typename T> struct Format;
template <> struct Format<float> {
    static constexpr int mantissa = 23, least = -126;
};
template <> struct Format<double> {
    static constexpr int mantissa = 52, least = -1022;
};
template <> struct Format<_Float16> {
    static constexpr int mantissa = 10, least = -14;
};

// The unit in the last place of numbers like this one.
template <typename T> long double unit(long double x) {
    const int exponent = x == 0 ? Format<T>::least : std::max(std::ilogb(x), Format<T>::least);
    return ldexpl(1, exponent - Format<T>::mantissa);
}

// One Newton step from an estimate that is good to eight digits takes it to sixteen, a second to the end of long double.
[[maybe_unused]] long double erf_inverse(long double x) {
    long double y = 0;
    for (int step = 0; step < 60; ++step) {
        const long double error = x > 0.5L ? (1 - x) - erfcl(y) : x < -0.5L ? -((1 + x) - erfcl(-y)) : erfl(y) - x;
        const long double change = error / (2 / sqrtl(pi) * expl(-y * y));
        y -= change;
        if (fabsl(change) < 1e-18L * (1 + fabsl(y))) {
            break;
        }
    }
    return y;
}

template <typename T> struct Errors {
    long double largest = 0, absolute = 0;
    double at_absolute = 0;

    void add(T got, long double reference) {
        if (std::isnan(static_cast<double>(got)) != std::isnan(reference)) {
            largest = at_absolute = std::numeric_limits<double>::infinity();
            absolute = largest;
            return;
        }
        const long double difference = fabsl(static_cast<long double>(got) - reference);
        const long double units = difference / unit<T>(reference);
        if (difference > absolute) {
            absolute = difference;
            at_absolute = static_cast<double>(units);
        }
        largest = std::max(largest, units);
    }
};

template <typename T, typename Launch, typename Reference>
std::vector<Measured> measured(int points, double x0, double x1, double y0, double y1, Launch launch, Reference reference) {
    std::vector<T> x(points), y(points), z(points);
    std::vector<long double> truth(points);
    for (int n = 0; n < points; ++n) {
        x[n] = static_cast<T>(point(n, 1, x0, x1));
        y[n] = static_cast<T>(point(n, 2, y0, y1));
        truth[n] = reference(x[n], y[n]);
    }
    const size_t bytes = points * sizeof(T);
    int devices = 0;
    HIP_CHECK(hipGetDeviceCount(&devices));
    std::vector<Measured> result;
    for (int number = 0; number < devices; ++number) {
        HIP_CHECK(hipSetDevice(number));
        T *device = nullptr;
        HIP_CHECK(hipMalloc(&device, 3 * bytes));
        HIP_CHECK(hipMemcpy(device, x.data(), bytes, hipMemcpyHostToDevice));
        HIP_CHECK(hipMemcpy(device + points, y.data(), bytes, hipMemcpyHostToDevice));
        launch(device, device + points, device + 2 * points);
        HIP_CHECK(hipMemcpy(z.data(), device + 2 * points, bytes, hipMemcpyDeviceToHost));
        HIP_CHECK(hipFree(device));
        Errors<T> errors;
        for (int n = 0; n < points; ++n) {
            errors.add(z[n], truth[n]);
        }
        result.push_back({errors.at_absolute, static_cast<double>(errors.largest)});
    }
    return result;
}

#define FUNCTION(name, T, expression, reference, argument, x0, x1, y0, y1, bound)                                                \
    __global__ void device_##name(const T *from, const T *second, T *to, int points) {                                            \
        const int n = blockIdx.x * blockDim.x + threadIdx.x;                                                                      \
        if (n < points) {                                                                                                         \
            const T x = from[n];                                                                                                  \
            [[maybe_unused]] const T y = second[n];                                                                               \
            to[n] = expression;                                                                                                   \
        }                                                                                                                         \
    }                                                                                                                             \
    std::vector<Measured> measure_##name(int points) {                                                                            \
        return measured<T>(                                                                                                       \
            points, x0, x1, y0, y1,                                                                                               \
            [=](const T *from, const T *second, T *to) {                                                                          \
                device_##name<<<(points + 255) / 256, 256>>>(from, second, to, points);                                           \
                HIP_CHECK(hipGetLastError());                                                                                     \
            },                                                                                                                    \
            [](argument x, [[maybe_unused]] argument y) -> long double { return reference; });                                    \
    }                                                                                                                             \
    const Registered registered_##name({#name, bound, measure_##name});

#define UNARY(name, T, expression, reference, low, high, bound)                                                                  \
    FUNCTION(name, T, expression, reference, long double, low, high, 0, 1, bound)
#define BINARY(name, T, expression, reference, x0, x1, y0, y1, bound)                                                            \
    FUNCTION(name, T, expression, reference, long double, x0, x1, y0, y1, bound)

UNARY(sinf, float, sinf(x), sinl(x), -M_PI, M_PI, 1)
UNARY(sin, double, sin(x), sinl(x), -M_PI, M_PI, 1)
UNARY(cosf, float, cosf(x), cosl(x), -M_PI, M_PI, 1)
UNARY(cos, double, cos(x), cosl(x), -M_PI, M_PI, 1)
UNARY(tanf, float, tanf(x), tanl(x), -1.47*M_PI, 1.47*M_PI, 1)
UNARY(tan, double, tan(x), tanl(x), -1.47*M_PI, 1.47*M_PI, 1)
UNARY(asinf, float, asinf(x), asinl(x), -1, 1, 2)
UNARY(asin, double, asin(x), asinl(x), -1, 1, 1)
UNARY(acosf, float, acosf(x), acosl(x), -1, 1, 1)
UNARY(acos, double, acos(x), acosl(x), -1, 1, 1)
UNARY(atanf, float, atanf(x), atanl(x), -10, 10, 2)
UNARY(atan, double, atan(x), atanl(x), -10, 10, 1)
UNARY(sinhf, float, sinhf(x), sinhl(x), -5, 5, 1)
UNARY(sinh, double, sinh(x), sinhl(x), -5, 5, 1)
UNARY(coshf, float, coshf(x), coshl(x), -5, 5, 1)
UNARY(cosh, double, cosh(x), coshl(x), -5, 5, 1)
UNARY(tanhf, float, tanhf(x), tanhl(x), -5, 5, 2)
UNARY(tanh, double, tanh(x), tanhl(x), -5, 5, 1)
UNARY(asinhf, float, asinhf(x), asinhl(x), -10, 10, 1)
UNARY(asinh, double, asinh(x), asinhl(x), -10, 10, 1)
UNARY(acoshf, float, acoshf(x), acoshl(x), 1, 100, 1)
UNARY(acosh, double, acosh(x), acoshl(x), 1, 100, 1)
UNARY(atanhf, float, atanhf(x), atanhl(x), -0.9, 0.9, 1)
UNARY(atanh, double, atanh(x), atanhl(x), -0.9, 0.9, 1)
UNARY(sinpif, float, sinpif(x), sinl(pi * x), -0.625, 0.625, 2)
UNARY(sinpi, double, sinpi(x), sinl(pi * x), -0.625, 0.625, 2)
UNARY(cospif, float, cospif(x), cosl(pi * x), -0.3, 0.3, 1)
UNARY(cospi, double, cospi(x), cosl(pi * x), -0.3, 0.3, 2)
UNARY(expf, float, expf(x), expl(x), -10, 10, 1)
UNARY(exp, double, exp(x), expl(x), -10, 10, 1)
UNARY(exp2f, float, exp2f(x), exp2l(x), -10, 10, 1)
UNARY(exp2, double, exp2(x), exp2l(x), -10, 10, 1)
UNARY(exp10f, float, exp10f(x), exp10l(x), -4, 4, 1)
UNARY(exp10, double, exp10(x), exp10l(x), -4, 4, 1)
UNARY(expm1f, float, expm1f(x), expm1l(x), -10, 10, 1)
UNARY(expm1, double, expm1(x), expm1l(x), -10, 10, 1)
UNARY(logf, float, logf(x), logl(x), 1e-6, 1e6, 2)
UNARY(log, double, log(x), logl(x), 1e-6, 1e6, 1)
UNARY(log2f, float, log2f(x), log2l(x), 1e-6, 1e6, 1)
UNARY(log2, double, log2(x), log2l(x), 1e-6, 1e6, 1)
UNARY(log10f, float, log10f(x), log10l(x), 1e-6, 1e6, 2)
UNARY(log10, double, log10(x), log10l(x), 1e-6, 1e6, 1)
UNARY(log1pf, float, log1pf(x), log1pl(x), -0.9, 10, 1)
UNARY(log1p, double, log1p(x), log1pl(x), -0.9, 10, 1)
UNARY(cbrtf, float, cbrtf(x), cbrtl(x), -100, 100, 2)
UNARY(cbrt, double, cbrt(x), cbrtl(x), -100, 100, 1)
UNARY(rcbrtf, float, rcbrtf(x), 1 / cbrtl(x), -100, 100, 1)
UNARY(rcbrt, double, rcbrt(x), 1 / cbrtl(x), -100, 100, 1)
UNARY(sqrtf, float, sqrtf(x), sqrtl(x), 0, 100, 1)
UNARY(sqrt, double, sqrt(x), sqrtl(x), 0, 100, 1)
UNARY(rsqrtf, float, rsqrtf(x), 1 / sqrtl(x), 0.01, 100, 1)
UNARY(rsqrt, double, rsqrt(x), 1 / sqrtl(x), 0.01, 100, 1)
UNARY(erff, float, erff(x), erfl(x), -4, 4, 4)
UNARY(erf, double, erf(x), erfl(x), -4, 4, 4)
UNARY(erfcf, float, erfcf(x), erfcl(x), -4, 4, 2)
UNARY(erfc, double, erfc(x), erfcl(x), -4, 4, 2)
UNARY(erfcxf, float, erfcxf(x), expl(x * x) * erfcl(x), -2, 2, 5)
UNARY(erfcx, double, erfcx(x), expl(x * x) * erfcl(x), -2, 2, 5)
UNARY(tgammaf, float, tgammaf(x), tgammal(x), 0.5, 15, 6)
UNARY(tgamma, double, tgamma(x), tgammal(x), 0.5, 15, 6)
UNARY(lgammaf, float, lgammaf(x), lgammal(x), 0.5, 20, 4)
UNARY(lgamma, double, lgamma(x), lgammal(x), 0.5, 20, 2)
UNARY(j0f, float, j0f(x), j0l(x), 0.1, 20, none)
UNARY(j0, double, j0(x), j0l(x), 0.1, 20, none)
UNARY(j1f, float, j1f(x), j1l(x), 0.1, 20, none)
UNARY(j1, double, j1(x), j1l(x), 0.1, 20, none)
UNARY(y0f, float, y0f(x), y0l(x), 0.1, 20, none)
UNARY(y0, double, y0(x), y0l(x), 0.1, 20, none)
UNARY(y1f, float, y1f(x), y1l(x), 0.1, 20, none)
UNARY(y1, double, y1(x), y1l(x), 0.1, 20, none)
UNARY(erfinvf, float, erfinvf(x), erf_inverse(x), -0.99, 0.99, none)
UNARY(erfinv, double, erfinv(x), erf_inverse(x), -0.99, 0.99, none)
UNARY(erfcinvf, float, erfcinvf(x), erf_inverse(1 - x), 0.01, 1.99, none)
UNARY(erfcinv, double, erfcinv(x), erf_inverse(1 - x), 0.01, 1.99, none)
UNARY(normcdff, float, normcdff(x), erfcl(-x / sqrtl(2)) / 2, -4, 4, none)
UNARY(normcdf, double, normcdf(x), erfcl(-x / sqrtl(2)) / 2, -4, 4, none)
UNARY(normcdfinvf, float, normcdfinvf(x), sqrtl(2) * erf_inverse(2 * x - 1), 0.01, 0.99, none)
UNARY(normcdfinv, double, normcdfinv(x), sqrtl(2) * erf_inverse(2 * x - 1), 0.01, 0.99, none)
UNARY(floorf, float, floorf(x), floorl(x), -4, 4, 0)
UNARY(floor, double, floor(x), floorl(x), -4, 4, 0)
UNARY(ceilf, float, ceilf(x), ceill(x), -4, 4, 0)
UNARY(ceil, double, ceil(x), ceill(x), -4, 4, 0)
UNARY(truncf, float, truncf(x), truncl(x), -4, 4, 0)
UNARY(trunc, double, trunc(x), truncl(x), -4, 4, 0)
UNARY(rintf, float, rintf(x), rintl(x), -4, 4, 0)
UNARY(rint, double, rint(x), rintl(x), -4, 4, 0)
UNARY(roundf, float, roundf(x), roundl(x), -4, 4, 0)
UNARY(round, double, round(x), roundl(x), -4, 4, 0)
UNARY(logbf, float, logbf(x), logbl(x), 1e-6, 1e6, 0)
UNARY(logb, double, logb(x), logbl(x), 1e-6, 1e6, 0)
BINARY(atan2f, float, atan2f(x, y), atan2l(x, y), -4, 4, -2, 2, 1)
BINARY(atan2, double, atan2(x, y), atan2l(x, y), -4, 4, -2, 2, 1)
BINARY(powf, float, powf(x, y), powl(x, y), 0.001, 4, -2, 2, 1)
BINARY(pow, double, pow(x, y), powl(x, y), 0.001, 4, -2, 2, 1)
BINARY(hypotf, float, hypotf(x, y), hypotl(x, y), -10, 10, 0, 10, 1)
BINARY(hypot, double, hypot(x, y), hypotl(x, y), -10, 10, 0, 10, 1)
BINARY(rhypotf, float, rhypotf(x, y), 1 / hypotl(x, y), -100, 100, -10, 100, 1)
BINARY(rhypot, double, rhypot(x, y), 1 / hypotl(x, y), -100, 100, -10, 100, 1)
BINARY(fmodf, float, fmodf(x, y), fmodl(x, y), -10, 10, -3, 3, 0)
BINARY(fmod, double, fmod(x, y), fmodl(x, y), -10, 10, -3, 3, 0)
BINARY(remainderf, float, remainderf(x, y), remainderl(x, y), -10, 10, -3, 3, 0)
BINARY(remainder, double, remainder(x, y), remainderl(x, y), -10, 10, -3, 3, 0)
BINARY(fdimf, float, fdimf(x, y), fdiml(x, y), -10, 10, -3, 3, 0)
BINARY(fdim, double, fdim(x, y), fdiml(x, y), -10, 10, -3, 3, 0)
BINARY(dividef, float, x / y, x / y, -100, 100, -100, 100, 0)
BINARY(divide, double, x / y, x / y, -100, 100, -100, 100, 0)
BINARY(fmaf, float, fmaf(x, y, x), fmal(x, y, x), -100, 100, -10, 10, 0)
BINARY(fma, double, fma(x, y, x), fmal(x, y, x), -100, 100, -10, 10, 0)
// Near a zero of the function the rounding of the argument decides; __sincosf has this bound for this range.
UNARY(__sinf, float, __sinf(x), sinl(x), -3, 3, 18)
UNARY(__cosf, float, __cosf(x), cosl(x), -M_PI, M_PI, 4)
UNARY(__tanf, float, __tanf(x), tanl(x), -1.47*M_PI, 1.47*M_PI, 1)
UNARY(__expf, float, __expf(x), expl(x), -10, 10, 6)
UNARY(__exp10f, float, __exp10f(x), exp10l(x), -4, 4, 18)
UNARY(__logf, float, __logf(x), logl(x), 1e-6, 1e6, 2)
UNARY(__log2f, float, __log2f(x), log2l(x), 1e-6, 1e6, 1)
UNARY(__log10f, float, __log10f(x), log10l(x), 1e-6, 1e6, 2)
UNARY(__frsqrt_rn, float, __frsqrt_rn(x), 1 / sqrtl(x), 0.01, 100, 1)
UNARY(__fsqrt_rn, float, __fsqrt_rn(x), sqrtl(x), 0, 100, 1)
UNARY(__frcp_rn, float, __frcp_rn(x), 1 / x, 0.01, 100, 0)
// hsin is left out: __ocml_sin_f16 of device libraries 5.2 gives NaN for every finite number, on a card too.
UNARY(hcos, _Float16, hcos(x), cosl(x), -M_PI, M_PI, none)
UNARY(hexp, _Float16, hexp(x), expl(x), -8, 8, none)
UNARY(hexp2, _Float16, hexp2(x), exp2l(x), -10, 10, none)
UNARY(hexp10, _Float16, hexp10(x), exp10l(x), -4, 4, none)
UNARY(hlog, _Float16, hlog(x), logl(x), 0.001, 1000, none)
UNARY(hlog2, _Float16, hlog2(x), log2l(x), 0.001, 1000, none)
UNARY(hlog10, _Float16, hlog10(x), log10l(x), 0.001, 1000, none)
UNARY(hsqrt, _Float16, hsqrt(x), sqrtl(x), 0, 100, none)
UNARY(hrsqrt, _Float16, hrsqrt(x), 1 / sqrtl(x), 0.01, 100, none)

} // namespace

int main(int count, char **arguments) {
    const int points = count > 1 ? std::atoi(arguments[1]) : 2048;
    for (const Row &row : rows()) {
        std::printf("%s\t%s", row.name, row.bound == none ? "none" : std::to_string(row.bound).c_str());
        for (const Measured &measured : row.measure(points)) {
            std::printf("\t%.3f\t%.3f", measured.at_absolute, measured.largest);
        }
        std::printf("\n");
    }
    return 0;
}
