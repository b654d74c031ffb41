// A pipeline over two streams: one copies, one computes; events carry the order between them, so that chunk n is
// computed while chunk n + 1 is copied in. Two device buffers take turns.
#include "check.hpp"

constexpr int chunks = 6;
constexpr int chunk_length = 1 << 14;
constexpr int buffers = 2;
constexpr int block = 256;

// Some steps of a linear congruence: only the right chunk, computed exactly once, gives the right words.
__global__ void scramble(unsigned *words, unsigned chunk) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned word = words[index] ^ chunk;
    for (int round = 0; round < 8; ++round) {
        word = word * 1664525u + 1013904223u;
    }
    words[index] = word;
}

static unsigned scrambled(unsigned word, unsigned chunk) {
    word ^= chunk;
    for (int round = 0; round < 8; ++round) {
        word = word * 1664525u + 1013904223u;
    }
    return word;
}

int main() {
    constexpr std::size_t chunk_bytes = chunk_length * sizeof(unsigned);
    unsigned *input = nullptr, *output = nullptr; // pinned, so that the copies are asynchronous
    HIP_CHECK(hipHostMalloc(reinterpret_cast<void **>(&input), chunks * chunk_bytes, hipHostMallocDefault));
    HIP_CHECK(hipHostMalloc(reinterpret_cast<void **>(&output), chunks * chunk_bytes, hipHostMallocDefault));
    sample::Random random(6);
    for (int index = 0; index < chunks * chunk_length; ++index) {
        input[index] = random.next();
        output[index] = 0;
    }

    hipStream_t copy, compute;
    HIP_CHECK(hipStreamCreateWithFlags(&copy, hipStreamNonBlocking));
    HIP_CHECK(hipStreamCreateWithFlags(&compute, hipStreamNonBlocking));
    hipEvent_t started, stopped;
    HIP_CHECK(hipEventCreate(&started));
    HIP_CHECK(hipEventCreate(&stopped));
    sample::DeviceBuffer<unsigned> first(chunk_length), second(chunk_length);
    unsigned *const device[buffers] = {first.get(), second.get()};
    hipEvent_t filled[buffers], computed[buffers];
    for (int buffer = 0; buffer < buffers; ++buffer) {
        HIP_CHECK(hipEventCreateWithFlags(&filled[buffer], hipEventDisableTiming));
        HIP_CHECK(hipEventCreateWithFlags(&computed[buffer], hipEventDisableTiming));
    }

    HIP_CHECK(hipEventRecord(started, copy));
    for (int chunk = 0; chunk <= chunks; ++chunk) {
        if (chunk < chunks) { // fill a buffer and compute on it as soon as it is full
            const int buffer = chunk % buffers;
            HIP_CHECK(hipMemcpyAsync(device[buffer], input + chunk * chunk_length, chunk_bytes, hipMemcpyHostToDevice, copy));
            HIP_CHECK(hipEventRecord(filled[buffer], copy));
            HIP_CHECK(hipStreamWaitEvent(compute, filled[buffer], 0));
            scramble<<<chunk_length / block, block, 0, compute>>>(device[buffer], chunk);
            sample::check_launch();
            HIP_CHECK(hipEventRecord(computed[buffer], compute));
        }
        if (chunk > 0) { // empty the buffer before that one, behind its kernel
            const int before = chunk - 1, buffer = before % buffers;
            HIP_CHECK(hipStreamWaitEvent(copy, computed[buffer], 0));
            HIP_CHECK(hipMemcpyAsync(output + before * chunk_length, device[buffer], chunk_bytes, hipMemcpyDeviceToHost, copy));
        }
    }
    HIP_CHECK(hipEventRecord(stopped, copy));
    HIP_CHECK(hipEventSynchronize(stopped));

    float milliseconds = -1.0f;
    HIP_CHECK(hipEventElapsedTime(&milliseconds, started, stopped));
    bool passed = milliseconds >= 0.0f;
    for (int index = 0; index < chunks * chunk_length; ++index) {
        passed = passed && output[index] == scrambled(input[index], index / chunk_length);
    }

    for (int buffer = 0; buffer < buffers; ++buffer) {
        HIP_CHECK(hipEventDestroy(filled[buffer]));
        HIP_CHECK(hipEventDestroy(computed[buffer]));
    }
    HIP_CHECK(hipEventDestroy(started));
    HIP_CHECK(hipEventDestroy(stopped));
    HIP_CHECK(hipStreamDestroy(copy));
    HIP_CHECK(hipStreamDestroy(compute));
    HIP_CHECK(hipHostFree(input));
    HIP_CHECK(hipHostFree(output));
    std::printf("stream_pipeline: %d chunks of %d words through two streams\n", chunks, chunk_length);
    return sample::verdict("stream_pipeline", passed);
}
