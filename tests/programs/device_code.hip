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

__global__ void hardware_adds(float *sums, float *olds) {
    olds[0] = unsafeAtomicAdd(&sums[0], 10.0f);
    olds[1] = safeAtomicAdd(&sums[1], 10.0f);
    atomicAdd(reinterpret_cast<int *>(&sums[2]), 10);
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

// The trap for debuggers, and the mode in which a card stops after each instruction.
__global__ void is_debugged(int *result) {
    asm volatile("s_trap 3\n"
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 11, 1), 1\n"
                 "s_trap 3");
    result[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
    unsigned mode = 0;
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_MODE, 11, 1)" : "=s"(mode));
    result[64] = static_cast<int>(mode);
}

__global__ void allocate_one(void **block, std::size_t size) { *block = malloc(size); }

__global__ void free_one(void **block) { free(*block); }

} // namespace

CASE(live_blocks_never_overlap) {
    unsigned *const overlaps = sample::pinned<unsigned>(1);
    for (const int threads : {1, 64, 256}) {
        allocate<<<1, threads>>>(overlaps);
        HIP_CHECK(hipDeviceSynchronize());
        REQUIRE(*overlaps == 0);
    }
}

// What a kernel allocates is the device's memory, too.
CASE(memory_of_kernels_counts) {
    constexpr std::size_t size = 8u << 20;
    std::size_t before = 0, meanwhile = 0, after = 0, total = 0;
    void **const block = sample::pinned<void *>(1);
    allocate_one<<<1, 1>>>(block, 16);
    free_one<<<1, 1>>>(block);
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipMemGetInfo(&before, &total));
    allocate_one<<<1, 1>>>(block, size);
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(*block != nullptr);
    HIP_CHECK(hipMemGetInfo(&meanwhile, &total));
    REQUIRE(meanwhile + size <= before);
    free_one<<<1, 1>>>(block);
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipMemGetInfo(&after, &total));
    REQUIRE(after == before);
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

// Without a debugger both go on.
CASE(debugging_stops_nothing) {
    int *const result = sample::pinned<int>(65);
    is_debugged<<<1, 64>>>(result);
    HIP_CHECK(hipDeviceSynchronize());
    for (int lane = 0; lane < 64; ++lane) {
        REQUIRE(result[lane] == lane + 1);
    }
    REQUIRE(result[64] == 1);
}

// The hardware's float atomics work on coarse-grained memory only, if the argument says so; those that compare and swap, and the integers', work
// on all.
CASE(float_atomics_need_coarse_grained_memory) {
    const bool lossy = std::atoi(sample::argument(0)) != 0;
    float *const olds = sample::pinned<float>(2);
    const auto check = [&](float *host, float *device, bool fine) {
        for (const int index : {0, 1, 2}) {
            host[index] = index < 2 ? 5.0f : 0.0f;
        }
        hardware_adds<<<1, 1>>>(device, olds);
        HIP_CHECK(hipDeviceSynchronize());
        const bool lost = lossy && fine;
        REQUIRE(host[0] == (lost ? 5.0f : 15.0f));
        REQUIRE(olds[0] == (lost ? 0.0f : 5.0f));
        REQUIRE(host[1] == 15.0f);
        REQUIRE(olds[1] == 5.0f);
        REQUIRE(*reinterpret_cast<int *>(&host[2]) == 10);
    };
    struct {
        unsigned flags;
        bool fine;
    } const kinds[] = {{hipHostMallocDefault, true}, {hipHostMallocCoherent, true}, {hipHostMallocNonCoherent, false}};
    for (const auto kind : kinds) {
        float *host = nullptr;
        float *device = nullptr;
        HIP_CHECK(hipHostMalloc(&host, 3 * sizeof(float), kind.flags));
        HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0));
        check(host, device, kind.fine);
        HIP_CHECK(hipHostFree(host));
    }
    float registered[3];
    float *device = nullptr;
    HIP_CHECK(hipHostRegister(registered, sizeof registered, hipHostRegisterDefault));
    HIP_CHECK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), registered, 0));
    check(registered, device, true);
    HIP_CHECK(hipHostUnregister(registered));
    // Device memory is coarse-grained.
    float *sums = nullptr;
    HIP_CHECK(hipMalloc(&sums, 3 * sizeof(float)));
    const float zeros[3] = {};
    HIP_CHECK(hipMemcpy(sums, zeros, sizeof zeros, hipMemcpyDefault));
    hardware_adds<<<1, 1>>>(sums, olds);
    float results[3];
    HIP_CHECK(hipMemcpy(results, sums, sizeof results, hipMemcpyDefault));
    REQUIRE(results[0] == 10.0f && olds[0] == 0.0f);
    HIP_CHECK(hipFree(sums));
}
