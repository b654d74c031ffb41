// The kernels in HIP: the same algorithms, group sizes and LDS use as in kernels.cl. The launch geometry is known at compile
// time, so that the kernels read no hidden arguments.
#pragma once

#include <hip/hip_runtime.h>

#include "workload.hpp"

namespace bench {

__device__ inline int global_index() { return static_cast<int>(blockIdx.x * block + threadIdx.x); }

// For the time of calls that ask about a variable.
__device__ int bench_symbol;

__global__ __launch_bounds__(64) void empty_kernel(int *) {}

__global__ __launch_bounds__(block) void vecadd_kernel(const float *a, const float *b, float *sum) {
    const int index = global_index();
    sum[index] = a[index] + b[index];
}

__global__ __launch_bounds__(block) void saxpy_kernel(float factor, const float *x, float *y) {
    const int index = global_index();
    y[index] = factor * x[index] + y[index];
}

__global__ __launch_bounds__(tile *tile) void sgemm_naive_kernel(const float *a, const float *b, float *product, int side) {
    const int column = blockIdx.x * tile + threadIdx.x, row = blockIdx.y * tile + threadIdx.y;
    float sum = 0;
    for (int inner = 0; inner < side; ++inner) {
        sum += a[row * side + inner] * b[inner * side + column];
    }
    product[row * side + column] = sum;
}

template <typename T> __device__ inline void gemm_tiled(const T *a, const T *b, T *product, int side) {
    __shared__ T tile_a[tile][tile];
    __shared__ T tile_b[tile][tile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * tile + x, row = blockIdx.y * tile + y;
    T sum = 0;
    for (int start = 0; start < side; start += tile) {
        tile_a[y][x] = a[row * side + start + x];
        tile_b[y][x] = b[(start + y) * side + column];
        __syncthreads();
        for (int inner = 0; inner < static_cast<int>(tile); ++inner) {
            sum += tile_a[y][inner] * tile_b[inner][x];
        }
        __syncthreads();
    }
    product[row * side + column] = sum;
}
__global__ __launch_bounds__(tile *tile) void sgemm_tiled_kernel(const float *a, const float *b, float *product, int side) {
    gemm_tiled(a, b, product, side);
}
__global__ __launch_bounds__(tile *tile) void dgemm_tiled_kernel(const double *a, const double *b, double *product, int side) {
    gemm_tiled(a, b, product, side);
}

__global__ __launch_bounds__(block) void nbody_kernel(const float *positions, float *accelerations, int bodies) {
    __shared__ float4 others[block];
    const float4 *const position = reinterpret_cast<const float4 *>(positions);
    const int index = global_index();
    const float4 here = position[index];
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < bodies; start += block) {
        others[threadIdx.x] = position[start + threadIdx.x];
        __syncthreads();
        for (int other = 0; other < static_cast<int>(block); ++other) {
            const float4 there = others[other];
            const float dx = there.x - here.x, dy = there.y - here.y, dz = there.z - here.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            const float pull = there.w * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }
    reinterpret_cast<float4 *>(accelerations)[index] = make_float4(ax, ay, az, 0.0f);
}

// `total` is the number of threads in the grid.
__global__ __launch_bounds__(block) void reduce_kernel(const float *in, float *out, int count, int total) {
    __shared__ float partial[block];
    const int thread = threadIdx.x;
    float sum = 0;
    for (int index = global_index(); index < count; index += total) {
        sum += in[index];
    }
    partial[thread] = sum;
    __syncthreads();
    for (int width = block / 2; width > 0; width >>= 1) {
        if (thread < width) {
            partial[thread] += partial[thread + width];
        }
        __syncthreads();
    }
    if (thread == 0) {
        out[blockIdx.x] = partial[0];
    }
}

__global__ __launch_bounds__(block) void histogram_kernel(const uint32_t *in, uint32_t *counts, int count, int total) {
    __shared__ uint32_t group_counts[bins];
    group_counts[threadIdx.x] = 0;
    __syncthreads();
    for (int index = global_index(); index < count; index += total) {
        atomicAdd(&group_counts[in[index] >> 24], 1u);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], group_counts[threadIdx.x]);
}

__global__ __launch_bounds__(block) void bitonic_step_kernel(uint32_t *values, unsigned distance, unsigned run) {
    const unsigned index = global_index(), other = index ^ distance;
    if (other > index) {
        const uint32_t a = values[index], b = values[other];
        const bool ascending = (index & run) == 0;
        if ((a > b) == ascending) {
            values[index] = b;
            values[other] = a;
        }
    }
}

__device__ inline float normal(float value) { return 0.5f * (1.0f + erff(value * 0.70710678f)); }

__global__ __launch_bounds__(block) void black_scholes_kernel(const float *price, const float *strike, const float *years,
                                                              float *call, float *put) {
    const float rate = 0.02f, volatility = 0.30f;
    const int index = global_index();
    const float root = sqrtf(years[index]);
    const float first = (logf(price[index] / strike[index]) + (rate + 0.5f * volatility * volatility) * years[index]) /
                        (volatility * root);
    const float second = first - volatility * root;
    const float discounted = strike[index] * expf(-rate * years[index]);
    call[index] = price[index] * normal(first) - discounted * normal(second);
    put[index] = discounted * normal(-second) - price[index] * normal(-first);
}

__global__ __launch_bounds__(tile *tile) void mandelbrot_kernel(int *image, int side, int iterations) {
    const int column = blockIdx.x * tile + threadIdx.x, row = blockIdx.y * tile + threadIdx.y;
    const float step = 3.0f / side, real = -2.0f + column * step, imaginary = -1.5f + row * step;
    float x = 0, y = 0;
    int iteration = 0;
    for (; iteration < iterations; ++iteration) {
        const float x_square = x * x, y_square = y * y;
        if (x_square + y_square > 4.0f) {
            break;
        }
        y = 2.0f * x * y + imaginary;
        x = x_square - y_square + real;
    }
    image[row * side + column] = iteration;
}

__global__ __launch_bounds__(block) void stencil_kernel(const float *in, float *out) {
    __shared__ float window[block + 2 * radius];
    const int index = global_index(), thread = threadIdx.x;
    window[thread] = in[index];
    if (thread < static_cast<int>(2 * radius)) {
        window[block + thread] = in[index + block];
    }
    __syncthreads();
    float sum = 0;
    for (int offset = 0; offset <= static_cast<int>(2 * radius); ++offset) {
        sum += window[thread + offset];
    }
    out[index] = sum;
}

__global__ __launch_bounds__(tile *tile) void transpose_kernel(const float *in, float *out, int side) {
    __shared__ float part[tile][tile + 1]; // one more column, so that a column's words lie in different banks
    const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * tile, row = blockIdx.y * tile;
    part[y][x] = in[(row + y) * side + column + x];
    __syncthreads();
    out[(column + y) * side + row + x] = part[x][y];
}

} // namespace bench
