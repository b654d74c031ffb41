/* Scratch memory: a kernel with a private array says how many bytes a work-item needs; the packet must ask for as many.
   usage: scratch kernels.co */
#include "sample.h"

enum { block = 64, length = 1024 };

typedef struct {
    uint32_t *values;
    uint32_t stride;
} permute_arguments_t;

/* Without the padding at the end of the structure. */
enum { argument_bytes = sizeof(uint32_t *) + sizeof(uint32_t) };

/* Remembers what the queue's callback was told. */
static hsa_status_t queue_status = HSA_STATUS_SUCCESS;

static void remember(hsa_status_t status, hsa_queue_t *queue, void *data) {
    (void)queue;
    queue_status = status;
    hsa_signal_store_screlease(*(hsa_signal_t *)data, 0);
}

int main(int argc, char **argv) {
    system_t system;
    hsa_executable_t executable;
    hsa_queue_t *queue, *failing = NULL;
    hsa_signal_t done, failed;
    kernel_t permute, greedy;
    permute_arguments_t arguments;
    uint32_t *values;
    void *kernarg;
    unsigned index;

    if (argc != 2) {
        fprintf(stderr, "usage: scratch CODE_OBJECT\n");
        return EXIT_FAILURE;
    }
    system = open_system();
    executable = load_executable(system.gpu, argv[1]);
    permute = find_kernel(executable, system.gpu, "permute.kd");
    printf("scratch: %u bytes for a work-item\n", permute.private_size);
    REQUIRE(permute.private_size >= block * sizeof(uint32_t));

    queue = create_queue(system.gpu);
    done = create_signal(1);
    values = allocate(&system, system.host_pool, length * sizeof *values);
    arguments.values = values;
    arguments.stride = 5;
    kernarg = make_kernarg(&system, &permute, &arguments, argument_bytes);
    submit_dispatch(queue, &permute, length, block, kernarg, done);
    wait_until_done(done);
    for (index = 0; index < length; ++index) {
        REQUIRE(values[index] == 39); /* 39 * 5 = 3 * 64 + 3 */
    }
    arguments.stride = 1;
    memcpy(kernarg, &arguments, argument_bytes);
    hsa_signal_store_screlease(done, 1);
    submit_dispatch(queue, &permute, length, block, kernarg, done);
    wait_until_done(done);
    REQUIRE(values[length - 1] == 3);

    /* More scratch than a work-item can have: the packet is refused, and the queue's callback says so. */
    failed = create_signal(1);
    HSA_CHECK(hsa_queue_create(system.gpu, 64, HSA_QUEUE_TYPE_MULTI, remember, &failed, UINT32_MAX, UINT32_MAX, &failing));
    greedy = permute;
    greedy.private_size = 1u << 20;
    submit_dispatch(failing, &greedy, length, block, kernarg, done);
    wait_until_done(failed);
    REQUIRE(queue_status == HSA_STATUS_ERROR_OUT_OF_RESOURCES);

    HSA_CHECK(hsa_queue_destroy(failing));
    HSA_CHECK(hsa_queue_destroy(queue));
    HSA_CHECK(hsa_signal_destroy(failed));
    HSA_CHECK(hsa_signal_destroy(done));
    HSA_CHECK(hsa_amd_memory_pool_free(kernarg));
    HSA_CHECK(hsa_amd_memory_pool_free(values));
    HSA_CHECK(hsa_executable_destroy(executable));
    HSA_CHECK(hsa_shut_down());
    return passed("scratch");
}
