// The kernels of the HSA samples, built to a plain code object:
//   hipcc --offload-arch=gfx90a -O3 --genco --no-gpu-bundle-output -o kernels.co kernels.hip
// The block size is a constant, so that the kernels read no hidden arguments.
#include <hip/hip_runtime.h>

#define BLOCK 64

// y[i] = a * x[i] + y[i] for the first `length` elements.
extern "C" __global__ __launch_bounds__(BLOCK) void saxpy(const float *x, float *y, float a, unsigned length) {
    const unsigned index = blockIdx.x * BLOCK + threadIdx.x;
    if (index < length) {
        y[index] = a * x[index] + y[index];
    }
}

// values[i] = i.
extern "C" __global__ __launch_bounds__(BLOCK) void count_up(unsigned *values) {
    const unsigned index = blockIdx.x * BLOCK + threadIdx.x;
    values[index] = index;
}

// squares[i] = values[i] * values[i].
extern "C" __global__ __launch_bounds__(BLOCK) void square(const unsigned *values, unsigned *squares) {
    const unsigned index = blockIdx.x * BLOCK + threadIdx.x;
    squares[index] = values[index] * values[index];
}

// A table in scratch memory, for its index is known only at run time: values[i] = where 3 lies in the multiples of `stride`, modulo 64.
extern "C" __global__ __launch_bounds__(BLOCK) void permute(unsigned *values, unsigned stride) {
    const unsigned index = blockIdx.x * BLOCK + threadIdx.x;
    unsigned table[BLOCK];
    for (unsigned i = 0; i < BLOCK; ++i) {
        table[(i * stride + threadIdx.x) % BLOCK] = i;
    }
    values[index] = table[(index + 3) % BLOCK];
}

// A variable of the device: the host finds it by its name.
extern "C" __device__ unsigned offset = 5;

// values[i] += offset.
extern "C" __global__ __launch_bounds__(BLOCK) void add_offset(unsigned *values) {
    values[blockIdx.x * BLOCK + threadIdx.x] += offset;
}
