// Printing from kernels. The cases that end in _device and _host print the same lines from a kernel and from the host:
// the test compares the two outputs.
#include "case.hpp"

#include <cassert>

// Everything printf knows, for the host and for the device.
#define PRINT_FORMATS()                                                                                                            \
    do {                                                                                                                           \
        printf("integers: %d %i %u %x %X %o %c %%\n", -5, 123456, 4000000000u, 0xbeef, 0xBEEF, 8, 'q');                            \
        printf("widths: [%8d] [%-8d] [%08d] [%+d] [% d] [%#x] [%.5d]\n", 42, 42, 42, 42, 42, 255, 42);                            \
        printf("long: %ld %lld %llu %lx %zu\n", -1234567890123L, -5LL, 18446744073709551615ULL, 0x123456789abcL, sizeof(int));     \
        printf("short: %hd %hhd %hu\n", static_cast<short>(-3), static_cast<signed char>(-4), static_cast<unsigned short>(65535));  \
        printf("floats: %f %.2f %10.3f %-10.1f| %e %.3E %g %G %a\n", 1.5, 3.14159, 2.71828, 9.99, 12345.678, 0.00012, 1e20, 1e-7, \
               0.5);                                                                                                               \
        printf("special: %f %f %f %g\n", 1.0 / 0.0, -1.0 / 0.0, -0.0, 5e-324);                                                     \
        printf("stars: [%*d] [%.*f] [%-*d]\n", 6, 7, 2, 1.23456, 5, 3);                                                            \
        printf("strings: %s|%10s|%-10s|%.3s|\n", "plain", "right", "left", "truncated");                                           \
        printf("  %10s %i\n", "123", 1);                                                                                           \
        printf("  %10s %i\n", "12345678", 1);                                                                                      \
        printf("mixed: %d %s %f %s %lld\n", 1, "two", 3.0, "four", 5LL);                                                           \
        printf("no arguments\n");                                                                                                  \
        printf("%s", "");                                                                                                          \
        printf("unfinished line, ");                                                                                               \
        printf("finished line\n");                                                                                                 \
    } while (false)

__global__ void print_formats() { PRINT_FORMATS(); }

__global__ void print_pointer(const void *pointer) { printf("pointer: %p\n", pointer); }

__global__ void print_value(int value) { printf("device %d\n", value); }

__global__ void print_index(const char *text) {
    printf("line of block %d thread %d: %s\n", static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), text);
}

__global__ void print_text(const char *text) { printf("[%s]\n", text); }

__global__ void print_some(int *lengths) {
    if (threadIdx.x % 3 == 0) {
        lengths[threadIdx.x] = printf("%d\n", static_cast<int>(threadIdx.x));
    }
}

__global__ void check_condition(int limit) { assert(static_cast<int>(threadIdx.x) < limit && "the limit of the test"); }

CASE(formats_device) {
    print_formats<<<1, 1>>>();
    HIP_CHECK(hipDeviceSynchronize());
}

CASE(formats_host) { PRINT_FORMATS(); }

CASE(pointer) {
    int *const pointer = sample::pinned<int>(1);
    printf("pointer: %p\n", static_cast<void *>(pointer));
    print_pointer<<<1, 1>>>(pointer);
    HIP_CHECK(hipDeviceSynchronize());
}

// Host and device take turns; every synchronisation brings out what the device printed before it.
CASE(interleaving) {
    for (int turn = 0; turn < 20; ++turn) {
        printf("host %d\n", turn);
        print_value<<<1, 1>>>(turn);
        HIP_CHECK(hipDeviceSynchronize());
    }
}

// Kernels of one stream print in their order, without a synchronisation between them.
CASE(order_of_launches) {
    for (int launch = 0; launch < 50; ++launch) {
        print_value<<<1, 1>>>(launch);
    }
    HIP_CHECK(hipDeviceSynchronize());
}

CASE(many_threads) {
    char *const text = sample::pinned<char>(16);
    std::strcpy(text, "whole");
    print_index<<<8, 96>>>(text);
    HIP_CHECK(hipDeviceSynchronize());
}

// Strings far longer than a packet of the host call, of every length around its limits.
CASE(long_strings) {
    char *const text = sample::pinned<char>(5001);
    for (const int length : {0, 1, 7, 8, 55, 56, 57, 63, 64, 112, 113, 1000, 5000}) {
        for (int index = 0; index < length; ++index) {
            text[index] = static_cast<char>('a' + (index * 7 + length) % 26);
        }
        text[length] = '\0';
        print_text<<<1, 1>>>(text);
        HIP_CHECK(hipDeviceSynchronize());
    }
}

// What printf returns on the device: the length on success.
CASE(returned_length) {
    int *const lengths = sample::pinned<int>(64);
    print_some<<<1, 64>>>(lengths);
    HIP_CHECK(hipDeviceSynchronize());
    for (int thread = 0; thread < 64; ++thread) {
        REQUIRE(lengths[thread] == (thread % 3 != 0 ? 0 : thread < 10 ? 2 : 3));
    }
}

// What is printed before the end comes out without a synchronisation too: hipFree waits, the exit flushes.
CASE(printed_before_exit) {
    void *block = nullptr;
    HIP_CHECK(hipMalloc(&block, 16));
    print_value<<<1, 1>>>(77);
    HIP_CHECK(hipFree(block));
}

CASE(assertion_holds) {
    check_condition<<<1, 64>>>(64);
    HIP_CHECK(hipDeviceSynchronize());
}

CASE(assertion_fails) {
    check_condition<<<1, 64>>>(63);
    HIP_CHECK(hipDeviceSynchronize());
    std::fprintf(stderr, "the program went on after a failed assertion\n");
}
