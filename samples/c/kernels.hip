// The kernels of the C samples, built to a module:
//   hipcc --offload-arch=gfx90a -O3 --genco -o kernels.co kernels.hip
#include <hip/hip_runtime.h>

// values[i] = values[i] * factor + addend.
extern "C" __global__ void scale_and_add(unsigned *values, unsigned factor, unsigned addend, unsigned length) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < length) {
        values[index] = values[index] * factor + addend;
    }
}

// sums[i] = a[i] + b[i].
extern "C" __global__ void add(const unsigned *a, const unsigned *b, unsigned *sums, unsigned length) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < length) {
        sums[index] = a[index] + b[index];
    }
}
