// The kernels in OpenCL C: the same algorithms, group sizes and local memory use as in kernels.hpp.
#define BLOCK 256
#define TILE 16
#define RADIUS 4
#define GROUP(x, y) __attribute__((reqd_work_group_size(x, y, 1)))

kernel void empty_kernel(global int *word) {}

kernel GROUP(BLOCK, 1) void vecadd_kernel(global const float *a, global const float *b, global float *sum) {
    const int index = get_global_id(0);
    sum[index] = a[index] + b[index];
}

kernel GROUP(BLOCK, 1) void saxpy_kernel(float factor, global const float *x, global float *y) {
    const int index = get_global_id(0);
    y[index] = factor * x[index] + y[index];
}

kernel GROUP(TILE, TILE) void sgemm_naive_kernel(global const float *a, global const float *b, global float *product, int side) {
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int inner = 0; inner < side; ++inner) {
        sum += a[row * side + inner] * b[inner * side + column];
    }
    product[row * side + column] = sum;
}

#define GEMM_TILED(NAME, T)                                                                                                        \
    kernel GROUP(TILE, TILE) void NAME(global const T *a, global const T *b, global T *product, int side) {                        \
        local T tile_a[TILE][TILE], tile_b[TILE][TILE];                                                                            \
        const int x = get_local_id(0), y = get_local_id(1);                                                                        \
        const int column = get_group_id(0) * TILE + x, row = get_group_id(1) * TILE + y;                                           \
        T sum = 0;                                                                                                                 \
        for (int start = 0; start < side; start += TILE) {                                                                         \
            tile_a[y][x] = a[row * side + start + x];                                                                              \
            tile_b[y][x] = b[(start + y) * side + column];                                                                         \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                                          \
            for (int inner = 0; inner < TILE; ++inner) {                                                                           \
                sum += tile_a[y][inner] * tile_b[inner][x];                                                                        \
            }                                                                                                                      \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                                          \
        }                                                                                                                          \
        product[row * side + column] = sum;                                                                                        \
    }
GEMM_TILED(sgemm_tiled_kernel, float)
GEMM_TILED(dgemm_tiled_kernel, double)

kernel GROUP(BLOCK, 1) void nbody_kernel(global const float4 *positions, global float4 *accelerations, int bodies) {
    local float4 others[BLOCK];
    const int index = get_global_id(0), thread = get_local_id(0);
    const float4 here = positions[index];
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < bodies; start += BLOCK) {
        others[thread] = positions[start + thread];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int other = 0; other < BLOCK; ++other) {
            const float4 there = others[other];
            const float dx = there.x - here.x, dy = there.y - here.y, dz = there.z - here.z;
            const float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
            const float pull = there.w * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    accelerations[index] = (float4)(ax, ay, az, 0);
}

kernel GROUP(BLOCK, 1) void reduce_kernel(global const float *in, global float *out, int count, int total) {
    local float partial[BLOCK];
    const int thread = get_local_id(0);
    float sum = 0;
    for (int index = get_global_id(0); index < count; index += total) {
        sum += in[index];
    }
    partial[thread] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = BLOCK / 2; width > 0; width >>= 1) {
        if (thread < width) {
            partial[thread] += partial[thread + width];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0) {
        out[get_group_id(0)] = partial[0];
    }
}

kernel GROUP(BLOCK, 1) void histogram_kernel(global const uint *in, global uint *counts, int count, int total) {
    local uint group_counts[256];
    const int thread = get_local_id(0);
    group_counts[thread] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int index = get_global_id(0); index < count; index += total) {
        atomic_add(&group_counts[in[index] >> 24], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[thread], group_counts[thread]);
}

kernel GROUP(BLOCK, 1) void bitonic_step_kernel(global uint *values, uint distance, uint run) {
    const uint index = get_global_id(0), other = index ^ distance;
    if (other > index) {
        const uint a = values[index], b = values[other];
        const int ascending = (index & run) == 0;
        if ((a > b) == ascending) {
            values[index] = b;
            values[other] = a;
        }
    }
}

float normal(float value) { return 0.5f * (1.0f + erf(value * 0.70710678f)); }

kernel GROUP(BLOCK, 1) void black_scholes_kernel(global const float *price, global const float *strike, global const float *years,
                                                 global float *call, global float *put) {
    const float rate = 0.02f, volatility = 0.30f;
    const int index = get_global_id(0);
    const float root = sqrt(years[index]);
    const float first = (log(price[index] / strike[index]) + (rate + 0.5f * volatility * volatility) * years[index]) /
                        (volatility * root);
    const float second = first - volatility * root;
    const float discounted = strike[index] * exp(-rate * years[index]);
    call[index] = price[index] * normal(first) - discounted * normal(second);
    put[index] = discounted * normal(-second) - price[index] * normal(-first);
}

kernel GROUP(TILE, TILE) void mandelbrot_kernel(global int *image, int side, int iterations) {
    const int column = get_global_id(0), row = get_global_id(1);
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

kernel GROUP(BLOCK, 1) void stencil_kernel(global const float *in, global float *out) {
    local float window[BLOCK + 2 * RADIUS];
    const int index = get_global_id(0), thread = get_local_id(0);
    window[thread] = in[index];
    if (thread < 2 * RADIUS) {
        window[BLOCK + thread] = in[index + BLOCK];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int offset = 0; offset <= 2 * RADIUS; ++offset) {
        sum += window[thread + offset];
    }
    out[index] = sum;
}

kernel GROUP(TILE, TILE) void transpose_kernel(global const float *in, global float *out, int side) {
    local float part[TILE][TILE + 1];
    const int x = get_local_id(0), y = get_local_id(1), column = get_group_id(0) * TILE, row = get_group_id(1) * TILE;
    part[y][x] = in[(row + y) * side + column + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(column + y) * side + row + x] = part[x][y];
}
