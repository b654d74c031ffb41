// Multiplies two matrices tile by tile: each block loads a tile of both into LDS and every thread of it reads them from there.
#include "check.hpp"

constexpr int tile = 16;

// c (rows x columns) = a (rows x inner) * b (inner x columns), all row-major; no side needs to be a multiple of the tile.
__global__ void multiply(const float *a, const float *b, float *c, int rows, int inner, int columns) {
    __shared__ float tile_a[tile][tile];
    __shared__ float tile_b[tile][tile];
    const int row = blockIdx.y * tile + threadIdx.y;
    const int column = blockIdx.x * tile + threadIdx.x;

    float sum = 0.0f;
    for (int start = 0; start < inner; start += tile) {
        const int a_column = start + threadIdx.x;
        const int b_row = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < rows && a_column < inner ? a[row * inner + a_column] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = b_row < inner && column < columns ? b[b_row * columns + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < tile; ++k) {
            sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < rows && column < columns) {
        c[row * columns + column] = sum;
    }
}

int main() {
    constexpr int rows = 100, inner = 130, columns = 90;
    sample::Random random(2);
    const std::vector<float> a = random.uniforms(rows * inner, -1.0f, 1.0f);
    const std::vector<float> b = random.uniforms(inner * columns, -1.0f, 1.0f);

    sample::DeviceBuffer<float> device_a(a), device_b(b), device_c(rows * columns);
    const dim3 grid((columns + tile - 1) / tile, (rows + tile - 1) / tile);
    multiply<<<grid, dim3(tile, tile)>>>(device_a.get(), device_b.get(), device_c.get(), rows, inner, columns);
    sample::check_launch();

    const std::vector<float> c = device_c.read();
    bool passed = true;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            double want = 0.0;
            for (int k = 0; k < inner; ++k) {
                want += static_cast<double>(a[row * inner + k]) * b[k * columns + column];
            }
            passed = passed && sample::close(c[row * columns + column], want, 1e-5, 1e-4);
        }
    }
    std::printf("matrix_multiply: %d x %d times %d x %d\n", rows, inner, inner, columns);
    return sample::verdict("matrix_multiply", passed);
}
