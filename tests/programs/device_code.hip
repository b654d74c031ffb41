// What device code may count on: the wave's width, the heap, control flow.
#include "case.hpp"

namespace {

struct Block {
    unsigned long long words[6];
};

// A freed block between two live ones: what is allocated next may take its place, and no other.
__global__ void allocate(unsigned *overlaps) {
    Block *const first = new Block;
    Block *const second = new Block[2];
    const unsigned long long mark = 0x1111111111111111ull * (1 + threadIdx.x % 14);
    for (int word = 0; word < 6; ++word) {
        second[0].words[word] = second[1].words[word] = mark;
    }
    delete first;
    char **const third = new char *[10];
    for (int index = 0; index < 10; ++index) {
        third[index] = nullptr;
    }
    for (int word = 0; word < 6; ++word) {
        if (second[0].words[word] != mark || second[1].words[word] != mark) {
            atomicAdd(overlaps, 1u);
        }
    }
    delete[] third;
    delete[] second;
}

__global__ void ballots(unsigned long long *result) {
    const unsigned long long all = __ballot(1);
    const int last = __shfl(static_cast<int>(threadIdx.x), warpSize - 1);
    if (threadIdx.x == 0) {
        result[0] = all;
        result[1] = __popcll(all);
        result[2] = last;
        result[3] = warpSize;
    }
}

// Leaves two loops at once, from the middle of the inner one.
__global__ void leave_loops(int *result, int limit) {
    int count = 0;
    for (int outer = 0; outer < limit; ++outer) {
        for (int inner = 0; inner < limit; ++inner) {
            if (++count == 10) {
                goto done;
            }
        }
    }
done:
    result[threadIdx.x] = count;
}

} // namespace

CASE(live_blocks_never_overlap) {
    unsigned *const overlaps = sample::pinned<unsigned>(1);
    for (const int threads : {1, 64, 256}) {
        allocate<<<1, threads>>>(overlaps);
        HIP_CHECK(hipDeviceSynchronize());
        REQUIRE(*overlaps == 0);
    }
}

CASE(ballots_are_as_wide_as_the_wave) {
    int width = 0;
    HIP_CHECK(hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0));
    REQUIRE(width == std::atoi(sample::argument(0)));
    unsigned long long *const result = sample::pinned<unsigned long long>(4);
    ballots<<<1, 64>>>(result);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(result[0] == (width == 64 ? ~0ull : 0xFFFFFFFFull));
    for (const int index : {1, 3}) {
        REQUIRE(result[index] == static_cast<unsigned long long>(width));
    }
    REQUIRE(result[2] == static_cast<unsigned long long>(width - 1));
}

CASE(jumps_leave_nested_loops) {
    int *const result = sample::pinned<int>(64);
    leave_loops<<<1, 64>>>(result, 7);
    HIP_CHECK(hipDeviceSynchronize());
    for (int lane = 0; lane < 64; ++lane) {
        REQUIRE(result[lane] == 10);
    }
}
