/* Pools of every agent, and memory from them: access, fill, copy, and what a pointer is. */
#include "sample.h"

static hsa_status_t print_pool(hsa_amd_memory_pool_t pool, void *data) {
    unsigned *pools = data;
    hsa_amd_segment_t segment;
    size_t size = 0, granule = 0;
    uint32_t flags = 0;
    bool allowed = false;
    HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed));
    if (segment == HSA_AMD_SEGMENT_GLOBAL) {
        HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    }
    if (allowed) {
        HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &granule));
        REQUIRE(granule > 0);
    }
    REQUIRE(size > 0);
    printf("  segment %d, flags 0x%x, %zu KiB, granule %zu\n", (int)segment, flags, size / 1024, granule);
    ++*pools;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t print_agent(hsa_agent_t agent, void *data) {
    char name[64];
    unsigned pools = 0;
    (void)data;
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name));
    printf("%s\n", name);
    HSA_CHECK(hsa_amd_agent_iterate_memory_pools(agent, print_pool, &pools));
    REQUIRE(pools > 0);
    return HSA_STATUS_SUCCESS;
}

int main(void) {
    enum { words = 5000 };
    const system_t system = open_system();
    hsa_amd_pointer_info_t info;
    size_t device_size = 0;
    uint32_t *host, *device;
    void *too_much = NULL;
    unsigned index;

    HSA_CHECK(hsa_iterate_agents(print_agent, NULL));

    host = allocate(&system, system.host_pool, words * sizeof *host);
    device = allocate(&system, system.device_pool, words * sizeof *device);
    for (index = 0; index < words; ++index) {
        host[index] = index * 2654435761u;
    }
    HSA_CHECK(hsa_memory_copy(device, host, words * sizeof *host));
    HSA_CHECK(hsa_amd_memory_fill(device + 100, 0xABCD1234u, 50));
    memset(host, 0, words * sizeof *host);
    HSA_CHECK(hsa_memory_copy(host, device, words * sizeof *host));
    for (index = 0; index < words; ++index) {
        REQUIRE(host[index] == (index >= 100 && index < 150 ? 0xABCD1234u : index * 2654435761u));
    }

    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    HSA_CHECK(hsa_amd_pointer_info(device + 1000, &info, NULL, NULL, NULL));
    REQUIRE(info.type == HSA_EXT_POINTER_TYPE_HSA);
    REQUIRE(info.agentBaseAddress == device);
    REQUIRE(info.sizeInBytes >= words * sizeof *device);
    REQUIRE(info.agentOwner.handle == system.gpu.handle);

    /* More than the pool holds is an error, not a crash. */
    HSA_CHECK(hsa_amd_memory_pool_get_info(system.device_pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &device_size));
    REQUIRE(hsa_amd_memory_pool_allocate(system.device_pool, device_size * 2, 0, &too_much) != HSA_STATUS_SUCCESS);
    REQUIRE(hsa_amd_memory_pool_allocate(system.device_pool, 0, 0, &too_much) == HSA_STATUS_ERROR_INVALID_ARGUMENT);

    HSA_CHECK(hsa_amd_memory_pool_free(host));
    HSA_CHECK(hsa_amd_memory_pool_free(device));
    HSA_CHECK(hsa_shut_down());
    return passed("memory_pools");
}
