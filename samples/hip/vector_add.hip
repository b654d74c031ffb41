// Adds two vectors. The length is no multiple of the block size: the last block is only partly in use.
#include "check.hpp"

__global__ void vector_add(const float *a, const float *b, float *sum, int length) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < length) {
        sum[index] = a[index] + b[index];
    }
}

int main() {
    constexpr int length = 100003;
    constexpr int block = 256;
    sample::Random random(1);
    const std::vector<float> a = random.uniforms(length, -100.0f, 100.0f);
    const std::vector<float> b = random.uniforms(length, -100.0f, 100.0f);

    sample::DeviceBuffer<float> device_a(a), device_b(b), device_sum(length);
    vector_add<<<(length + block - 1) / block, block>>>(device_a.get(), device_b.get(), device_sum.get(), length);
    sample::check_launch();

    const std::vector<float> sum = device_sum.read();
    bool passed = true;
    for (int index = 0; index < length; ++index) {
        passed = passed && sum[index] == a[index] + b[index];
    }
    std::printf("vector_add: %d elements\n", length);
    return sample::verdict("vector_add", passed);
}
