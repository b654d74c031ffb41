/* Asynchronous copies: host to device, device to device and back, each waiting for the one before it by its signal. */
#include "sample.h"

enum { length = 40000 };

int main(void) {
    const size_t bytes = length * sizeof(uint32_t);
    const system_t system = open_system();
    uint32_t *input = allocate(&system, system.host_pool, bytes);
    uint32_t *output = allocate(&system, system.host_pool, bytes);
    uint32_t *first = allocate(&system, system.device_pool, bytes);
    uint32_t *second = allocate(&system, system.device_pool, bytes);
    const hsa_signal_t gate = create_signal(1), in = create_signal(1), across = create_signal(1), out = create_signal(1);
    hsa_amd_profiling_async_copy_time_t times[2];
    unsigned index;

    for (index = 0; index < length; ++index) {
        input[index] = index ^ 0x5A5A5A5Au;
        output[index] = 0;
    }
    HSA_CHECK(hsa_amd_profiling_async_copy_enable(true));

    /* Nothing starts before the gate opens, although all three copies are submitted. */
    HSA_CHECK(hsa_amd_memory_async_copy(first, system.gpu, input, system.cpu, bytes, 1, &gate, in));
    HSA_CHECK(hsa_amd_memory_async_copy(second, system.gpu, first, system.gpu, bytes, 1, &in, across));
    HSA_CHECK(hsa_amd_memory_async_copy(output, system.cpu, second, system.gpu, bytes, 1, &across, out));
    REQUIRE(hsa_signal_load_scacquire(in) == 1 && hsa_signal_load_scacquire(out) == 1);
    REQUIRE(output[length - 1] == 0);

    hsa_signal_store_screlease(gate, 0);
    wait_until_done(out);
    REQUIRE(hsa_signal_load_scacquire(in) == 0 && hsa_signal_load_scacquire(across) == 0);
    for (index = 0; index < length; ++index) {
        REQUIRE(output[index] == (index ^ 0x5A5A5A5Au));
    }
    HSA_CHECK(hsa_amd_profiling_get_async_copy_time(in, &times[0]));
    HSA_CHECK(hsa_amd_profiling_get_async_copy_time(out, &times[1]));
    REQUIRE(times[0].start <= times[0].end && times[0].end <= times[1].start && times[1].start <= times[1].end);
    printf("async_copy: %zu bytes in, across and out\n", bytes);

    HSA_CHECK(hsa_signal_destroy(gate));
    HSA_CHECK(hsa_signal_destroy(in));
    HSA_CHECK(hsa_signal_destroy(across));
    HSA_CHECK(hsa_signal_destroy(out));
    HSA_CHECK(hsa_amd_memory_pool_free(input));
    HSA_CHECK(hsa_amd_memory_pool_free(output));
    HSA_CHECK(hsa_amd_memory_pool_free(first));
    HSA_CHECK(hsa_amd_memory_pool_free(second));
    HSA_CHECK(hsa_shut_down());
    return passed("async_copy");
}
