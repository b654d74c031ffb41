/* A queue that fails, in the ways that a program without handlers sees. usage: hsa_queue_errors CASE kernels.co
     fault     a kernel writes to memory that is not there, and nobody handles it
     handled   the same, with a handler of system events: the callback of the queue is told, the program ends with 43
     packet    a packet of no kind, and a queue without a callback */
#include "../../samples/hsa/sample.h"

#define NOWHERE ((unsigned *)0x123456789000)

static hsa_status_t take(const hsa_amd_event_t *event, void *data) {
    REQUIRE(event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT);
    REQUIRE(event->memory_fault.virtual_address == (uint64_t)NOWHERE);
    REQUIRE(event->memory_fault.agent.handle == *(const uint64_t *)data);
    return HSA_STATUS_SUCCESS;
}

static void told(hsa_status_t status, hsa_queue_t *queue, void *data) {
    (void)queue;
    (void)data;
    REQUIRE((int)status == HSA_STATUS_ERROR_MEMORY_FAULT);
    _exit(43);
}

int main(int argc, char **argv) {
    const system_t system = open_system();
    hsa_queue_t *queue;
    void (*callback)(hsa_status_t, hsa_queue_t *, void *) = NULL;
    if (argc != 3) {
        return EXIT_FAILURE;
    }
    if (strcmp(argv[1], "handled") == 0) {
        HSA_CHECK(hsa_amd_register_system_event_handler(take, (void *)&system.gpu.handle));
        callback = told;
    }
    HSA_CHECK(hsa_queue_create(system.gpu, 64, HSA_QUEUE_TYPE_MULTI, callback, NULL, UINT32_MAX, UINT32_MAX, &queue));
    if (strcmp(argv[1], "packet") == 0) {
        const uint32_t packet[16] = {0};
        submit_packet(queue, packet, 7, 0);
    } else {
        const hsa_executable_t executable = load_executable(system.gpu, argv[2]);
        const kernel_t kernel = find_kernel(executable, system.gpu, "count_up.kd");
        unsigned *const target = NOWHERE;
        void *const kernarg = make_kernarg(&system, &kernel, &target, sizeof target);
        submit_dispatch(queue, &kernel, 64, 64, kernarg, create_signal(1));
    }
    for (;;) {
        pause();
    }
}
