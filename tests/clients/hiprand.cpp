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
};
constexpr Kind kinds[] = {{401, 401}, {402, 402}, {405, 404}}; // xorwow, mrg32k3a, philox4_32_10

Generator create(int type) {
    Generator generator = nullptr;
    CHECK(hiprandCreateGenerator(&generator, type));
    CHECK(hiprandSetPseudoRandomGeneratorSeed(generator, 2024));
    return generator;
}

void same_words(const Kind &kind) {
    const Generator upper = create(kind.upper);
    Generator lower = nullptr;
    CHECK(hiprandSetGeneratorOffset(upper, 1000));
    CHECK(rocrand_create_generator(&lower, kind.lower));
    CHECK(rocrand_set_seed(lower, 2024));
    CHECK(rocrand_set_offset(lower, 1000));
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

void distributions(int type) {
    const Generator generator = create(type);
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
        distributions(kind.upper);
    }
    return 0;
}
