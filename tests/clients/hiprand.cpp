// hipRAND's host interface, which is a thin layer over rocRAND: the same words as the library below for the same seed and offset, and
// the moments of its distributions.
#include "client.hpp"

#include <cmath>

using Generator = void *;

extern "C" {
int hiprandCreateGenerator(Generator *generator, int type);
int hiprandDestroyGenerator(Generator generator);
int hiprandSetPseudoRandomGeneratorSeed(Generator generator, unsigned long long seed);
int hiprandSetGeneratorOffset(Generator generator, unsigned long long offset);
int hiprandGenerate(Generator generator, unsigned *output, std::size_t count);
int hiprandGenerateUniform(Generator generator, float *output, std::size_t count);
int hiprandGenerateNormal(Generator generator, float *output, std::size_t count, float mean, float deviation);
int hiprandGeneratePoisson(Generator generator, unsigned *output, std::size_t count, double lambda);
int rocrand_create_generator(Generator *generator, int type);
int rocrand_destroy_generator(Generator generator);
int rocrand_set_seed(Generator generator, unsigned long long seed);
int rocrand_set_offset(Generator generator, unsigned long long offset);
int rocrand_generate(Generator generator, unsigned *output, std::size_t count);
}

namespace {

constexpr std::size_t count = 1 << 15;

// A generator's number in each library.
struct Kind {
    int upper, lower;
    bool seed, offset;
};
// xorwow, mrg32k3a, philox4_32_10, mtgp32, sobol32
constexpr Kind kinds[] = {{401, 401, true, true}, {402, 402, true, true}, {405, 404, true, true}, {403, 403, true, false}, {501, 501, false, true}};

Generator create(const Kind &kind) {
    Generator generator = nullptr;
    CHECK(hiprandCreateGenerator(&generator, kind.upper));
    if (kind.seed) {
        CHECK(hiprandSetPseudoRandomGeneratorSeed(generator, 2024));
    }
    return generator;
}

void same_words(const Kind &kind) {
    const Generator upper = create(kind);
    Generator lower = nullptr;
    CHECK(rocrand_create_generator(&lower, kind.lower));
    if (kind.seed) {
        CHECK(rocrand_set_seed(lower, 2024));
    }
    if (kind.offset) {
        CHECK(hiprandSetGeneratorOffset(upper, 1000));
        CHECK(rocrand_set_offset(lower, 1000));
    }
    Device<unsigned> first(count), second(count);
    CHECK(hiprandGenerate(upper, first.get(), count));
    CHECK(rocrand_generate(lower, second.get(), count));
    CHECK(hipDeviceSynchronize());
    const std::vector<unsigned> words = first.read();
    REQUIRE(words == second.read());
    REQUIRE(words[0] != words[1]);
    CHECK(rocrand_destroy_generator(lower));
    CHECK(hiprandDestroyGenerator(upper));
}

// Six standard errors of the mean; the variance is looser.
template <typename T> void moments(const std::vector<T> &values, double mean, double variance) {
    double sum = 0, square = 0;
    for (const T value : values) {
        sum += static_cast<double>(value);
        square += static_cast<double>(value) * static_cast<double>(value);
    }
    const double size = static_cast<double>(values.size()), average = sum / size;
    REQUIRE(std::fabs(average - mean) < 6 * std::sqrt(variance / size));
    REQUIRE(std::fabs(square / size - average * average - variance) < 0.06 * variance);
}

void distributions(const Kind &kind) {
    const Generator generator = create(kind);
    Device<float> floats(count);
    Device<unsigned> numbers(count);
    CHECK(hiprandGenerateUniform(generator, floats.get(), count));
    moments(floats.read(), 0.5, 1.0 / 12);
    CHECK(hiprandGenerateNormal(generator, floats.get(), count, 3.0f, 2.0f));
    moments(floats.read(), 3, 4);
    CHECK(hiprandGeneratePoisson(generator, numbers.get(), count, 6.5));
    moments(numbers.read(), 6.5, 6.5);
    CHECK(hiprandDestroyGenerator(generator));
}

} // namespace

int main() {
    for (const Kind &kind : kinds) {
        same_words(kind);
        distributions(kind);
    }
    return 0;
}
