// Counts bytes: atomics on a histogram of the block's own in LDS, then atomics on the one in memory.
#include "check.hpp"

constexpr int bins = 256;
constexpr int block = 256;

__global__ void histogram(const unsigned char *bytes, unsigned *counts, int length) {
    __shared__ unsigned block_counts[bins];
    block_counts[threadIdx.x] = 0;
    __syncthreads();

    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < length; index += gridDim.x * blockDim.x) {
        atomicAdd(&block_counts[bytes[index]], 1u);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}

int main() {
    static_assert(bins == block, "each thread owns one bin");
    constexpr int length = 150001;
    sample::Random random(4);
    std::vector<unsigned char> bytes(length);
    std::vector<unsigned> want(bins, 0);
    for (unsigned char &byte : bytes) {
        // The smaller of two draws: the bins differ, so that a mix-up of bins shows.
        const unsigned first = random.next() >> 24, second = random.next() >> 24;
        byte = static_cast<unsigned char>(first < second ? first : second);
        ++want[byte];
    }

    sample::DeviceBuffer<unsigned char> device_bytes(bytes);
    sample::DeviceBuffer<unsigned> counts(std::vector<unsigned>(bins, 0));
    histogram<<<20, block>>>(device_bytes.get(), counts.get(), length);
    sample::check_launch();

    std::printf("histogram: %d bytes in %d bins\n", length, bins);
    return sample::verdict("histogram", counts.read() == want);
}
