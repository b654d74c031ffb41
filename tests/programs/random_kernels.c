/* Runs the kernels of a code object, each on inputs that are the same in every run, and prints a hash of what each has written.
 *
 * usage: random_kernels FILE COUNT DWORDS
 *
 * The kernels are k0, k1, ...; each takes a pointer to DWORDS dwords for each work-item, replaces them, and has groups of 256. */
#include <gneiss/hip.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define GROUP 256
#define GROUPS 64

#define CHECK(call)                                                                                                                \
    do {                                                                                                                           \
        const hipError_t error = (call);                                                                                           \
        if (error != hipSuccess) {                                                                                                 \
            fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error));                                                          \
            return 1;                                                                                                              \
        }                                                                                                                          \
    } while (0)

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t random_bits(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* One in four is a value at the edge of what floats and integers are. */
static uint32_t value(void) {
    static const uint32_t edges[] = {
        0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00001, 0x7f800001,
        1,          0x80000001, 0x7f7fffff, 0x00800000, 0x7fffffff, 0xffffffff, 0x3c003c00, 0x7c01fc00,
        0x00010001, 0x7bff0400, 0x7ff00000, 0x3ff00000, 0x4f000000, 0x5f800000, 31,         0x40490fdb,
    };
    const uint32_t bits = random_bits();
    return bits % 4 == 0 ? edges[random_bits() % (sizeof edges / sizeof edges[0])] : random_bits();
}

int main(int count_of_arguments, char **arguments) {
    if (count_of_arguments != 4) {
        return 2;
    }
    const int kernels = atoi(arguments[2]);
    const size_t dwords = (size_t)atoi(arguments[3]) * GROUP * GROUPS;
    uint32_t *const values = malloc(dwords * sizeof *values);
    hipModule_t module;
    hipDeviceptr_t memory;
    CHECK(hipModuleLoad(&module, arguments[1]));
    CHECK(hipMalloc(&memory, dwords * sizeof *values));
    for (int number = 0; number < kernels; ++number) {
        char name[16];
        hipFunction_t kernel;
        void *parameters[] = {&memory};
        uint64_t hash = 0xcbf29ce484222325u;
        for (size_t index = 0; index < dwords; ++index) {
            values[index] = value();
        }
        snprintf(name, sizeof name, "k%d", number);
        CHECK(hipModuleGetFunction(&kernel, module, name));
        CHECK(hipMemcpyHtoD(memory, values, dwords * sizeof *values));
        CHECK(hipModuleLaunchKernel(kernel, GROUPS, 1, 1, GROUP, 1, 1, 0, NULL, parameters, NULL));
        CHECK(hipMemcpyDtoH(values, memory, dwords * sizeof *values));
        for (size_t index = 0; index < dwords; ++index) {
            hash = (hash ^ values[index]) * 0x100000001b3u;
        }
        printf("%s %016llx\n", name, (unsigned long long)hash);
    }
    CHECK(hipFree(memory));
    CHECK(hipModuleUnload(module));
    free(values);
    return 0;
}
