/* Barrier packets: work held back by the host, an order between two queues, all of several or any of several signals.
 * usage: barriers kernels.co */
#include "sample.h"

enum { block = 64, length = 512 };

static bool still_waiting(hsa_signal_t signal) { return hsa_signal_load_scacquire(signal) == 1; }

int main(int argc, char **argv) {
    system_t system;
    hsa_executable_t executable;
    hsa_queue_t *producer, *consumer;
    kernel_t count_up, square;
    hsa_signal_t gate, counted, squared, either[2], any, all[3], every;
    uint32_t *values, *squares;
    void *count_up_kernarg, *square_kernarg;
    unsigned index;

    if (argc != 2) {
        fprintf(stderr, "usage: barriers CODE_OBJECT\n");
        return EXIT_FAILURE;
    }
    system = open_system();
    executable = load_executable(system.gpu, argv[1]);
    count_up = find_kernel(executable, system.gpu, "count_up.kd");
    square = find_kernel(executable, system.gpu, "square.kd");
    producer = create_queue(system.gpu);
    consumer = create_queue(system.gpu);
    values = allocate(&system, system.device_pool, length * sizeof *values);
    squares = allocate(&system, system.host_pool, length * sizeof *squares);
    memset(squares, 0, length * sizeof *squares);
    HSA_CHECK(hsa_amd_memory_fill(values, 0, length));
    {
        uint32_t *const count_up_arguments[1] = {values};
        uint32_t *const square_arguments[2] = {values, squares};
        count_up_kernarg = make_kernarg(&system, &count_up, count_up_arguments, sizeof count_up_arguments);
        square_kernarg = make_kernarg(&system, &square, square_arguments, sizeof square_arguments);
    }

    /* The consumer is submitted first and waits for the producer, which waits for the host's gate. */
    gate = create_signal(1);
    counted = create_signal(1);
    squared = create_signal(1);
    submit_barrier(consumer, HSA_PACKET_TYPE_BARRIER_AND, &counted, 1, (hsa_signal_t){0});
    submit_dispatch(consumer, &square, length, block, square_kernarg, squared);
    submit_barrier(producer, HSA_PACKET_TYPE_BARRIER_AND, &gate, 1, (hsa_signal_t){0});
    submit_dispatch(producer, &count_up, length, block, count_up_kernarg, counted);
    REQUIRE(still_waiting(counted) && still_waiting(squared));
    hsa_signal_store_screlease(gate, 0);
    wait_until_done(squared);
    for (index = 0; index < length; ++index) {
        REQUIRE(squares[index] == index * index);
    }

    /* Barrier-OR: one of two is enough. */
    either[0] = create_signal(1);
    either[1] = create_signal(1);
    any = create_signal(1);
    submit_barrier(producer, HSA_PACKET_TYPE_BARRIER_OR, either, 2, any);
    REQUIRE(still_waiting(any));
    hsa_signal_store_screlease(either[1], 0);
    wait_until_done(any);
    REQUIRE(still_waiting(either[0]));

    /* Barrier-AND: the last of three opens it. */
    for (index = 0; index < 3; ++index) {
        all[index] = create_signal(1);
    }
    every = create_signal(1);
    submit_barrier(consumer, HSA_PACKET_TYPE_BARRIER_AND, all, 3, every);
    for (index = 0; index < 3; ++index) {
        REQUIRE(still_waiting(every));
        hsa_signal_subtract_screlease(all[index], 1);
    }
    wait_until_done(every);
    printf("barriers: an order across two queues, any of 2, all of 3\n");

    for (index = 0; index < 3; ++index) {
        HSA_CHECK(hsa_signal_destroy(all[index]));
    }
    HSA_CHECK(hsa_signal_destroy(every));
    HSA_CHECK(hsa_signal_destroy(any));
    HSA_CHECK(hsa_signal_destroy(either[0]));
    HSA_CHECK(hsa_signal_destroy(either[1]));
    HSA_CHECK(hsa_signal_destroy(squared));
    HSA_CHECK(hsa_signal_destroy(counted));
    HSA_CHECK(hsa_signal_destroy(gate));
    HSA_CHECK(hsa_amd_memory_pool_free(square_kernarg));
    HSA_CHECK(hsa_amd_memory_pool_free(count_up_kernarg));
    HSA_CHECK(hsa_amd_memory_pool_free(squares));
    HSA_CHECK(hsa_amd_memory_pool_free(values));
    HSA_CHECK(hsa_queue_destroy(consumer));
    HSA_CHECK(hsa_queue_destroy(producer));
    HSA_CHECK(hsa_executable_destroy(executable));
    HSA_CHECK(hsa_shut_down());
    return passed("barriers");
}
