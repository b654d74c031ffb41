/* What the C samples share: the HIP C ABI and a check around each call. */
#ifndef GNEISS_SAMPLES_C_SAMPLE_H
#define GNEISS_SAMPLES_C_SAMPLE_H

#include <gneiss/hip.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define HIP_CHECK(call) check_error((call), #call, __FILE__, __LINE__)
#define REQUIRE(condition) require((condition), #condition, __FILE__, __LINE__)

static inline void check_error(hipError_t error, const char *call, const char *file, int line) {
    if (error != hipSuccess) {
        fprintf(stderr, "%s:%d: %s failed: %s (%s)\n", file, line, call, hipGetErrorName(error), hipGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

static inline void require(bool condition, const char *text, const char *file, int line) {
    if (!condition) {
        fprintf(stderr, "%s:%d: not true: %s\n", file, line, text);
        exit(EXIT_FAILURE);
    }
}

static inline int passed(const char *name) {
    printf("%s: PASSED\n", name);
    return EXIT_SUCCESS;
}

#endif
