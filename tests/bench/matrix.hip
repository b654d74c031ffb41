// Matrix instructions and volatile memory, on whichever target it is built for. usage: matrix
//
// Rows "matrix_f16", "matrix_fp8" and "matrix_fp8_deep" are processor time of one matrix instruction; "volatile" is that of 512 groups of one wave, of which
// each loads, changes and stores a value 256 times through a volatile pointer.
#include "../../samples/hip/check.hpp"
#include "workload.hpp"

namespace {

constexpr unsigned groups = 512;
constexpr unsigned products = 512;
constexpr unsigned loads = 256;

using half4 = _Float16 __attribute__((ext_vector_type(4)));
using half8 = _Float16 __attribute__((ext_vector_type(8)));
using half16 = _Float16 __attribute__((ext_vector_type(16)));
using float4v = float __attribute__((ext_vector_type(4)));
using float8 = float __attribute__((ext_vector_type(8)));
using float16 = float __attribute__((ext_vector_type(16)));
using int2v = int __attribute__((ext_vector_type(2)));

// What an instruction multiplies: A, B and sums of a lane, rows and depth.
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
struct F16 {
    using Factor = half4;
    using Sum = float16;
    static __device__ Sum multiply(Factor a, Factor b, Sum c) { return __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0); }
};
#elif defined(__GFX11__)
struct F16 {
    using Factor = half16;
    using Sum = float8;
    static __device__ Sum multiply(Factor a, Factor b, Sum c) { return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c); }
};
#elif defined(__GFX12__)
struct F16 {
    using Factor = half8;
    using Sum = float8;
    static __device__ Sum multiply(Factor a, Factor b, Sum c) { return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c); }
};
#endif

#if defined(__gfx942__) || defined(__gfx950__)
#define HAS_FP8 1
using Fp8Sum = float4v;
__device__ Fp8Sum multiply_fp8(long a, long b, Fp8Sum c) { return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, c, 0, 0, 0); }
#elif defined(__GFX12__)
#define HAS_FP8 1
using Fp8Sum = float8;
__device__ Fp8Sum multiply_fp8(long a, long b, Fp8Sum c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(__builtin_bit_cast(int2v, a), __builtin_bit_cast(int2v, b), c);
}
#endif

#if defined(__gfx950__)
#define HAS_DEEP_FP8 1
using int8v = int __attribute__((ext_vector_type(8)));
#endif

// The instructions' own numbers.
__device__ unsigned lane() { return __builtin_amdgcn_workitem_id_x(); }
__device__ unsigned group() { return __builtin_amdgcn_workgroup_id_x(); }

// The value of a lane's elements: 1, 2, 3 or 4, by row or column.
__device__ unsigned factor() { return lane() % 4 + 1; }

template <typename Sum> __device__ void add_up(float *total, Sum sums) {
    float sum = 0;
    for (unsigned index = 0; index < sizeof(Sum) / sizeof(float); ++index) {
        sum += sums[index];
    }
    atomicAdd(&total[group()], sum);
}

__global__ void f16_kernel(float *total) {
#ifdef __HIP_DEVICE_COMPILE__
    F16::Factor a, b;
    for (unsigned index = 0; index < sizeof(a) / 2; ++index) {
        a[index] = static_cast<_Float16>(factor());
        b[index] = static_cast<_Float16>(factor());
    }
    F16::Sum sums = {};
    for (unsigned count = 0; count < products; ++count) {
        sums = F16::multiply(a, b, sums);
    }
    add_up(total, sums);
#endif
}

// `one` is 1 as the target's FP8 has it; the exponent's lowest bit is bit 3, so that 2 and 4 follow by one and two of it.
__global__ void fp8_kernel(float *total) {
#ifdef HAS_FP8
#ifdef __gfx942__
    constexpr unsigned one = 0x40;
#else
    constexpr unsigned one = 0x38;
#endif
    const unsigned values[] = {one, one + 8, one + 12, one + 16};
    const unsigned byte = values[lane() % 4];
    const long a = static_cast<long>(byte * 0x0101010101010101ul);
    Fp8Sum sums = {};
    for (unsigned count = 0; count < products; ++count) {
        sums = multiply_fp8(a, a, sums);
    }
    add_up(total, sums);
#else
    total[group()] = -1; // no such instruction
#endif
}

// Sixteen rows and columns of 128 k values, with scales of 1.
__global__ void deep_fp8_kernel(float *total) {
#ifdef HAS_DEEP_FP8
    const unsigned values[] = {0x38, 0x40, 0x44, 0x48};
    const int four = static_cast<int>(values[lane() % 4] * 0x01010101u);
    const int8v a = four;
    const int scale = 0x7f7f7f7f;
    float4v sums = {};
    for (unsigned count = 0; count < products; ++count) {
        sums = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, a, sums, 0, 0, 0, scale, 0, scale);
    }
    add_up(total, sums);
#else
    total[group()] = -1; // no such instruction
#endif
}

__global__ void volatile_kernel(volatile float *memory, unsigned wave) {
    volatile float *const place = memory + group() * wave + lane();
    for (unsigned count = 0; count < loads; ++count) {
        const float value = *place;
        *place = value * 0.5f + 1.0f;
    }
}

// Times launches of a kernel of matrix instructions and checks the sum of all results: that of a row's sum of 1, 2, 3, 4 and so on, times
// that of a column, for each k.
template <typename Kernel> void products_of(const char *name, const char *target, unsigned wave, Kernel kernel, unsigned size, unsigned depth) {
    float *total = nullptr;
    HIP_CHECK(hipMalloc(&total, groups * sizeof(float)));
    std::vector<float> sums(groups);
    const auto run = [&] {
        HIP_CHECK(hipMemset(total, 0, groups * sizeof(float)));
        kernel<<<groups, wave>>>(total);
        HIP_CHECK(hipGetLastError());
        HIP_CHECK(hipDeviceSynchronize());
    };
    run();
    HIP_CHECK(hipMemcpy(sums.data(), total, groups * sizeof(float), hipMemcpyDeviceToHost));
    if (sums[0] >= 0) {
        bench::Times times = bench::timed(run);
        for (double &ms : times.processor) {
            ms = ms * 1e3 / (groups * products);
        }
        const float line = static_cast<float>(size / 4 * (1 + 2 + 3 + 4));
        bool correct = true;
        for (const float sum : sums) {
            correct = correct && sum == line * line * static_cast<float>(depth * products);
        }
        bench::report(name, target, "us_per_instr", times.processor, correct ? "ok" : "wrong");
    }
    HIP_CHECK(hipFree(total));
}

void volatile_memory(const char *target, unsigned wave) {
    const unsigned count = groups * wave;
    float *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, count * sizeof(float)));
    const auto run = [&] {
        HIP_CHECK(hipMemset(memory, 0, count * sizeof(float)));
        volatile_kernel<<<groups, wave>>>(memory, wave);
        HIP_CHECK(hipGetLastError());
        HIP_CHECK(hipDeviceSynchronize());
    };
    const bench::Times times = bench::timed(run);
    std::vector<float> values(count);
    HIP_CHECK(hipMemcpy(values.data(), memory, count * sizeof(float), hipMemcpyDeviceToHost));
    bool correct = true;
    for (const float value : values) {
        correct = correct && value == 2.0f; // 2 - 2^-255, rounded
    }
    bench::report("volatile", target, times, correct);
    HIP_CHECK(hipFree(memory));
}

} // namespace

int main() {
    hipDeviceProp_t device;
    HIP_CHECK(hipGetDeviceProperties(&device, 0));
    const std::string name(device.gcnArchName, std::strcspn(device.gcnArchName, ":"));
    const unsigned wave = static_cast<unsigned>(device.warpSize);
    // CDNA multiplies 32x32x8 of f16 and 16x16x32 of FP8, RDNA 16x16x16 of both.
    const bool cdna = wave == 64;
    products_of("matrix_f16", name.c_str(), wave, f16_kernel, cdna ? 32 : 16, cdna ? 8 : 16);
    products_of("matrix_fp8", name.c_str(), wave, fp8_kernel, 16, cdna ? 32 : 16);
    products_of("matrix_fp8_deep", name.c_str(), wave, deep_fp8_kernel, 16, 128);
    volatile_memory(name.c_str(), wave);
    return 0;
}
