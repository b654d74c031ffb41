/* Loads a code object and runs a kernel of it with an AQL packet. usage: dispatch kernels.co */
#include "sample.h"

enum { block = 64, length = 1000 };

/* The explicit arguments of the kernel, as they lie in the kernarg segment. */
typedef struct {
    const float *x;
    float *y;
    float a;
    uint32_t length;
} saxpy_arguments_t;

int main(int argc, char **argv) {
    const uint32_t grid = (length + block - 1) / block * block;
    system_t system;
    hsa_executable_t executable;
    hsa_queue_t *queue;
    hsa_signal_t done;
    kernel_t saxpy;
    saxpy_arguments_t arguments;
    hsa_executable_symbol_t missing;
    float *x, *y;
    void *kernarg;
    unsigned index;

    if (argc != 2) {
        fprintf(stderr, "usage: dispatch CODE_OBJECT\n");
        return EXIT_FAILURE;
    }
    system = open_system();
    executable = load_executable(system.gpu, argv[1]);
    saxpy = find_kernel(executable, system.gpu, "saxpy.kd");
    REQUIRE(hsa_executable_get_symbol_by_name(executable, "no_such_kernel.kd", &system.gpu, &missing) ==
            HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    queue = create_queue(system.gpu);
    done = create_signal(1);

    x = allocate(&system, system.host_pool, grid * sizeof *x);
    y = allocate(&system, system.host_pool, grid * sizeof *y);
    for (index = 0; index < grid; ++index) {
        x[index] = (float)index;
        y[index] = 0.5f;
    }
    arguments.x = x;
    arguments.y = y;
    arguments.a = 2.0f;
    arguments.length = length;
    kernarg = make_kernarg(&system, &saxpy, &arguments, sizeof arguments);

    submit_dispatch(queue, &saxpy, grid, block, kernarg, done);
    wait_until_done(done);
    for (index = 0; index < grid; ++index) {
        REQUIRE(y[index] == (index < length ? 2.0f * (float)index + 0.5f : 0.5f));
    }
    printf("dispatch: saxpy over %d elements\n", (int)length);

    HSA_CHECK(hsa_amd_memory_pool_free(kernarg));
    HSA_CHECK(hsa_amd_memory_pool_free(x));
    HSA_CHECK(hsa_amd_memory_pool_free(y));
    HSA_CHECK(hsa_signal_destroy(done));
    HSA_CHECK(hsa_queue_destroy(queue));
    HSA_CHECK(hsa_executable_destroy(executable));
    HSA_CHECK(hsa_shut_down());
    return passed("dispatch");
}
