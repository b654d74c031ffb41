// Sums integers in two launches: each wave folds its lanes with shuffles, each block its waves in LDS, one block the blocks.
#include "check.hpp"

#include <cstdint>

constexpr int block = 256;
constexpr int smallest_wave = 32;

// Adds up `value` over the lanes of a wave of 32 or 64; lane 0 holds the sum.
__device__ unsigned wave_sum(unsigned value) {
    for (int distance = warpSize / 2; distance > 0; distance /= 2) {
        value += __shfl_down(value, distance);
    }
    return value;
}

// Each block sums its share of `values` and writes it to `sums[blockIdx.x]`.
__global__ void sum(const unsigned *values, unsigned *sums, int length) {
    __shared__ unsigned wave_sums[block / smallest_wave];

    unsigned total = 0;
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < length; index += gridDim.x * blockDim.x) {
        total += values[index];
    }
    total = wave_sum(total);

    const int lane = threadIdx.x % warpSize;
    const int wave = threadIdx.x / warpSize;
    if (lane == 0) {
        wave_sums[wave] = total;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned block_total = 0;
        for (int index = 0; index < block / static_cast<int>(warpSize); ++index) {
            block_total += wave_sums[index];
        }
        sums[blockIdx.x] = block_total;
    }
}

int main() {
    constexpr int length = 200001;
    constexpr int blocks = 40;
    sample::Random random(3);
    std::vector<unsigned> values(length);
    unsigned want = 0;
    for (unsigned &value : values) {
        value = random.next();
        want += value; // modulo 2^32, as on the device
    }

    sample::DeviceBuffer<unsigned> device_values(values), block_sums(blocks), total(1);
    sum<<<blocks, block>>>(device_values.get(), block_sums.get(), length);
    sum<<<1, block>>>(block_sums.get(), total.get(), blocks);
    sample::check_launch();

    const unsigned got = total.read()[0];
    std::printf("reduction: %d values, sum %u, expected %u\n", length, got, want);
    return sample::verdict("reduction", got == want);
}
