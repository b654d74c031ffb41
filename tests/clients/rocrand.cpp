// rocRAND's host interface: every generator, against known answers where the algorithm is public and short, and by the moments of
// its distributions. usage: rocrand NAME
#include "client.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

using Generator = struct rocrand_generator_base *;

extern "C" {
int rocrand_create_generator(Generator *generator, int type);
int rocrand_destroy_generator(Generator generator);
int rocrand_set_seed(Generator generator, unsigned long long seed);
int rocrand_set_quasi_random_generator_dimensions(Generator generator, unsigned dimensions);
int rocrand_generate(Generator generator, unsigned *output, std::size_t count);
int rocrand_generate_uniform(Generator generator, float *output, std::size_t count);
int rocrand_generate_uniform_double(Generator generator, double *output, std::size_t count);
int rocrand_generate_normal(Generator generator, float *output, std::size_t count, float mean, float deviation);
int rocrand_generate_log_normal(Generator generator, float *output, std::size_t count, float mean, float deviation);
int rocrand_generate_poisson(Generator generator, unsigned *output, std::size_t count, double lambda);
}

namespace {

constexpr std::size_t count = 1 << 16;
// Of rocRAND's launches: one stream of numbers for each thread.
constexpr std::size_t threads = 512 * 256;
constexpr unsigned long long seed = 0x123456789ABCDEFull;

struct Kind {
    int type;
    bool pseudo;
};
const std::map<std::string, Kind> kinds = {
    {"xorwow", {401, true}}, {"mrg32k3a", {402, true}}, {"mtgp32", {403, true}}, {"philox4_32_10", {404, true}},
    {"sobol32", {501, false}}, {"sobol64", {504, false}},
};

Generator create(const Kind &kind, unsigned long long own_seed) {
    Generator generator = nullptr;
    CHECK(rocrand_create_generator(&generator, kind.type));
    if (kind.pseudo) {
        CHECK(rocrand_set_seed(generator, own_seed));
    }
    return generator;
}

std::vector<unsigned> words(const Kind &kind, unsigned long long own_seed, std::size_t length) {
    const Generator generator = create(kind, own_seed);
    Device<unsigned> output(length);
    CHECK(rocrand_generate(generator, output.get(), length));
    CHECK(hipDeviceSynchronize());
    CHECK(rocrand_destroy_generator(generator));
    return output.read();
}

// Philox4x32-10 of Salmon, Moraes, Dror and Shaw.
void philox(unsigned counter[4], unsigned long long own_seed) {
    unsigned key[2] = {static_cast<unsigned>(own_seed), static_cast<unsigned>(own_seed >> 32)};
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0], second = std::uint64_t{0xCD9E8D57} * counter[2];
        const unsigned next[4] = {static_cast<unsigned>(second >> 32) ^ counter[1] ^ key[0], static_cast<unsigned>(second),
                                  static_cast<unsigned>(first >> 32) ^ counter[3] ^ key[1], static_cast<unsigned>(first)};
        std::memcpy(counter, next, sizeof next);
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
}

// Four words for each step of the counter.
void known_answers_of_philox(const Kind &kind, const std::vector<unsigned> &got) {
    const unsigned first[4] = {0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}; // of the paper's own tests: all zeros
    const std::vector<unsigned> zero = words(kind, 0, 4);
    REQUIRE(std::memcmp(zero.data(), first, sizeof first) == 0);
    for (std::size_t step = 0; step < got.size() / 4; ++step) {
        unsigned want[4] = {static_cast<unsigned>(step), 0, 0, 0};
        philox(want, seed);
        REQUIRE(std::memcmp(&got[4 * step], want, sizeof want) == 0);
    }
}

// Marsaglia's xorwow; the first thread's numbers are a launch width apart.
void known_answers_of_xorwow(const std::vector<unsigned> &got) {
    const unsigned low = static_cast<unsigned>(seed) ^ 0x2C7F967Fu, high = static_cast<unsigned>(seed >> 32) ^ 0xA03697CBu;
    const unsigned t0 = 1228688033u * low, t1 = 2073658381u * high;
    unsigned x[5] = {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0}, d = 6615241u + t1 + t0;
    for (std::size_t step = 0; step < 4; ++step) {
        const unsigned t = x[0] ^ (x[0] >> 2);
        x[0] = x[1], x[1] = x[2], x[2] = x[3], x[3] = x[4];
        x[4] = (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1));
        d += 362437;
        REQUIRE(got[step * threads] == d + x[4]);
    }
}

// The first dimension of Sobol's sequence in Gray code order: bits reversed.
void known_answers_of_sobol(const std::vector<unsigned> &got) {
    for (unsigned index = 0; index < got.size(); ++index) {
        unsigned reversed = 0;
        const unsigned gray = index ^ (index >> 1);
        for (int bit = 0; bit < 32; ++bit) {
            reversed |= (gray >> bit & 1u) << (31 - bit);
        }
        REQUIRE(got[index] == reversed);
    }
}

template <typename T> void moments(const char *name, const std::vector<T> &values, double mean, double variance, double skewness) {
    double sum = 0, square = 0, cube = 0;
    for (const T value : values) {
        sum += static_cast<double>(value);
    }
    const double average = sum / static_cast<double>(values.size());
    for (const T value : values) {
        const double difference = static_cast<double>(value) - average;
        square += difference * difference;
        cube += difference * difference * difference;
    }
    const double size = static_cast<double>(values.size()), spread = square / size;
    const double skew = cube / size / std::pow(spread, 1.5);
    std::printf("%s: mean %.5f (%.5f), variance %.5f (%.5f), skewness %.3f (%.3f)\n", name, average, mean, spread, variance, skew, skewness);
    // Six standard errors of the mean; the others are looser.
    REQUIRE(std::fabs(average - mean) < 6 * std::sqrt(variance / size));
    REQUIRE(std::fabs(spread - variance) < 0.04 * variance);
    REQUIRE(std::fabs(skew - skewness) < 0.1 + 0.1 * skewness);
}

void distributions(const Kind &kind) {
    const Generator generator = create(kind, 42);
    Device<float> floats(count);
    Device<double> doubles(count);
    Device<unsigned> numbers(count);
    CHECK(rocrand_generate_uniform(generator, floats.get(), count));
    std::vector<float> values = floats.read();
    for (const float value : values) {
        REQUIRE((kind.pseudo ? value > 0.0f : value >= 0.0f) && value <= 1.0f);
    }
    moments("uniform", values, 0.5, 1.0 / 12, 0);
    CHECK(rocrand_generate_uniform_double(generator, doubles.get(), count));
    moments("uniform double", doubles.read(), 0.5, 1.0 / 12, 0);
    CHECK(rocrand_generate_normal(generator, floats.get(), count, 3.0f, 2.0f));
    moments("normal", floats.read(), 3.0, 4.0, 0);
    const double deviation = 0.25, factor = std::exp(deviation * deviation);
    CHECK(rocrand_generate_log_normal(generator, floats.get(), count, 0.5f, static_cast<float>(deviation)));
    moments("log-normal", floats.read(), std::exp(0.5 + deviation * deviation / 2), (factor - 1) * std::exp(1.0) * factor,
            (factor + 2) * std::sqrt(factor - 1));
    CHECK(rocrand_generate_poisson(generator, numbers.get(), count, 7.5));
    moments("poisson", numbers.read(), 7.5, 7.5, 1 / std::sqrt(7.5));
    CHECK(rocrand_destroy_generator(generator));
}

} // namespace

int main(int argc, char **argv) {
    const auto found = argc == 2 ? kinds.find(argv[1]) : kinds.end();
    if (found == kinds.end()) {
        std::fprintf(stderr, "usage: rocrand NAME\n");
        return 2;
    }
    const Kind kind = found->second;
    // MTGP32's and MRG32k3a's own seeding is too long to repeat here: that it repeats itself, and the moments, must do.
    const std::vector<unsigned> numbers = words(kind, seed, 3 * threads + 4);
    if (kind.type == 404) {
        known_answers_of_philox(kind, numbers);
    } else if (kind.type == 401) {
        known_answers_of_xorwow(numbers);
    } else if (kind.type == 501 || kind.type == 504) {
        known_answers_of_sobol(numbers);
    }
    const std::vector<unsigned> again = words(kind, seed, 1000);
    REQUIRE(std::equal(again.begin(), again.end(), numbers.begin()));
    // Debian's librocrand makes floats of the lower half of sobol64's words, which is zero.
    if (kind.type != 504) {
        distributions(kind);
    }
    return 0;
}
