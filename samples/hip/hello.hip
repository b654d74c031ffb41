// Hello from the GPU: every thread prints a line and leaves a mark that the host checks.
#include "check.hpp"

constexpr int blocks = 2;
constexpr int threads = 4;

__global__ void hello(int *marks) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    printf("Hello from the GPU: block %d of %d, thread %d of %d\n", static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
           static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
    marks[index] = index + 1;
}

int main() {
    hipDeviceProp_t properties;
    HIP_CHECK(hipGetDeviceProperties(&properties, 0));
    std::printf("Hello from the host: device 0 is %s (%s)\n", properties.name, properties.gcnArchName);

    sample::DeviceBuffer<int> marks(std::vector<int>(blocks * threads, 0));
    hello<<<blocks, threads>>>(marks.get());
    sample::check_launch();
    HIP_CHECK(hipDeviceSynchronize());

    bool passed = true;
    const std::vector<int> result = marks.read();
    for (int index = 0; index < blocks * threads; ++index) {
        passed = passed && result[index] == index + 1;
    }
    return sample::verdict("hello", passed);
}
