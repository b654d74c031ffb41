// Fifty kernels of many kinds, forked over two streams and joined again: launched one by one, and as a graph.
#include "case.hpp"

#include <cstdint>

namespace {

constexpr int block = 64, length = 16 * block, count = 50;

__global__ void saxpy(float *y, const float *x, float a) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}

__global__ void waves(float *y, const float *x, float a) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = sinf(y[i]) + expf(-fabsf(a * x[i]));
}

// Each block's sum through LDS, added to the block's elements.
__global__ void sums(float *y, const float *x, float a) {
    __shared__ float part[block];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = x[i] * a;
    __syncthreads();
    for (int half = block / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
        __syncthreads();
    }
    y[i] += part[0] / block;
}

// The block turned round, lanes through the wave's shuffles.
__global__ void turn(float *y, const float *x, float a) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __shfl_xor(y[i], 5) + a * x[blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x)];
}

// Integer atomics: the order of the lanes does not show in the sum.
__global__ void tally(unsigned *counts, const float *x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&counts[__float_as_uint(x[i]) % block], __float_as_uint(x[i]) >> 7);
}

struct Buffers {
    float *left = nullptr, *right = nullptr;
    unsigned *counts = nullptr;

    Buffers() {
        std::vector<float> values = sample::Random(7).uniforms(2 * length, -2.0f, 2.0f);
        HIP_CHECK(hipMalloc(&left, length * sizeof(float)));
        HIP_CHECK(hipMalloc(&right, length * sizeof(float)));
        HIP_CHECK(hipMalloc(&counts, block * sizeof(unsigned)));
        HIP_CHECK(hipMemcpy(left, values.data(), length * sizeof(float), hipMemcpyHostToDevice));
        HIP_CHECK(hipMemcpy(right, values.data() + length, length * sizeof(float), hipMemcpyHostToDevice));
        HIP_CHECK(hipMemset(counts, 0, block * sizeof(unsigned)));
    }

    // FNV-1a of all bytes.
    std::uint64_t hash() const {
        std::vector<unsigned char> bytes((2 * length + block) * 4);
        HIP_CHECK(hipMemcpy(bytes.data(), left, length * 4, hipMemcpyDeviceToHost));
        HIP_CHECK(hipMemcpy(bytes.data() + length * 4, right, length * 4, hipMemcpyDeviceToHost));
        HIP_CHECK(hipMemcpy(bytes.data() + 2 * length * 4, counts, block * 4, hipMemcpyDeviceToHost));
        std::uint64_t hash = 0xcbf29ce484222325u;
        for (const unsigned char byte : bytes) {
            hash = (hash ^ byte) * 0x100000001b3u;
        }
        return hash;
    }
};

// Ten rounds of five kernels: the tally on the side stream beside two on the main one, then what needs both.
void submit(const Buffers &buffers, hipStream_t stream, hipStream_t side, hipEvent_t fork, hipEvent_t join) {
    constexpr int blocks = length / block;
    for (int round = 0; round < count / 5; ++round) {
        const float a = 0.125f * static_cast<float>(round + 1);
        HIP_CHECK(hipEventRecord(fork, stream));
        HIP_CHECK(hipStreamWaitEvent(side, fork, 0));
        tally<<<blocks, block, 0, side>>>(buffers.counts, buffers.right);
        saxpy<<<blocks, block, 0, stream>>>(buffers.left, buffers.right, a);
        waves<<<blocks, block, 0, stream>>>(buffers.left, buffers.right, a);
        HIP_CHECK(hipEventRecord(join, side));
        HIP_CHECK(hipStreamWaitEvent(stream, join, 0));
        sums<<<blocks, block, 0, stream>>>(buffers.right, buffers.left, a);
        turn<<<blocks, block, 0, stream>>>(buffers.left, buffers.right, a);
    }
}

} // namespace

// Prints the hash of what the kernels left after each of three launches: one by one, then by the graph.
CASE(eager_and_graph) {
    const Buffers eager, graphed;
    const hipStream_t stream = sample::create_stream(), side = sample::create_stream();
    const hipEvent_t fork = sample::create_event(hipEventDisableTiming), join = sample::create_event(hipEventDisableTiming);
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    submit(graphed, stream, side, fork, join);
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    std::size_t nodes = 0;
    HIP_CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
    REQUIRE(nodes == count);
    HIP_CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int launch = 0; launch < 3; ++launch) {
        submit(eager, stream, side, fork, join);
        HIP_CHECK(hipGraphLaunch(exec, stream));
        HIP_CHECK(hipStreamSynchronize(stream));
        std::printf("%016llx %016llx\n", static_cast<unsigned long long>(eager.hash()), static_cast<unsigned long long>(graphed.hash()));
    }
    HIP_CHECK(hipGraphExecDestroy(exec));
    HIP_CHECK(hipGraphDestroy(graph));
}
