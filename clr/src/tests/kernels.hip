// The kernels of the model's tests. They are launched with 64 work-items, the first of which does the work.

#define FIRST if (threadIdx.x == 0 && blockIdx.x == 0)

// *place becomes 2 * *place + bit: the result tells the order of several.
extern "C" __global__ void double_and_add(volatile unsigned long long *place, unsigned long long bit) {
    FIRST { *place = 2 * *place + bit; }
}

extern "C" __global__ void wait_for_flag(volatile unsigned long long *place) {
    FIRST {
        while (*place == 0) {
            __builtin_amdgcn_s_sleep(1);
        }
    }
}

// Says that it runs, then waits as above.
extern "C" __global__ void say_and_wait(volatile unsigned long long *runs, volatile unsigned long long *place) {
    FIRST {
        *runs = 1;
        while (*place == 0) {
            __builtin_amdgcn_s_sleep(1);
        }
    }
}

// Not atomic: the queue's order protects it.
extern "C" __global__ void count(volatile unsigned long long *place) {
    FIRST { *place = *place + 1; }
}

// `count` numbers become `value`.
extern "C" __global__ void write_all(unsigned long long *place, unsigned long long count, unsigned long long value) {
    for (unsigned long long index = threadIdx.x; index < count; index += blockDim.x) {
        place[index] = value;
    }
}

// Writes where no memory is.
extern "C" __global__ void fault() {
    FIRST { *reinterpret_cast<volatile int *>(0x10) = 1; }
}

extern "C" __global__ void fault_with_two(unsigned long long *, unsigned long long) {
    FIRST { *reinterpret_cast<volatile int *>(0x10) = 1; }
}

