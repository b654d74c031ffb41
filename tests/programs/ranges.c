/* Markers and ranges of a program, which a recording shows: with libroctx64 beside the HIP library, declared here as in its header. */
#include <gneiss/hip.h>

#include <stdint.h>
#include <stdio.h>

void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t range);

#define REQUIRE(condition)                                                                 \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);      \
            return 1;                                                                      \
        }                                                                                  \
    } while (0)

int main(void) {
    void *memory = NULL;
    uint64_t across;
    REQUIRE(roctxRangePushA("before the first call") == 0);
    REQUIRE(hipMalloc(&memory, 1000) == hipSuccess);
    REQUIRE(roctxRangePop() == 0);
    REQUIRE(roctxRangePushA("outer") == 0);
    across = roctxRangeStartA("across");
    REQUIRE(across != 0);
    REQUIRE(roctxRangePushA("inner") == 1);
    REQUIRE(hipMemset(memory, 7, 1000) == hipSuccess);
    roctxMarkA("here");
    REQUIRE(roctxRangePop() == 1);
    roctxRangeStop(across);
    REQUIRE(hipFree(memory) == hipSuccess);
    REQUIRE(roctxRangePop() == 0);
    REQUIRE(roctxRangePop() == -1);
    return 0;
}
