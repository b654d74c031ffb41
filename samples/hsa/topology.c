/* Agents and what they say about themselves: names, ISAs, and the limits that a program sizes its work by. */
#include "sample.h"

typedef struct {
    unsigned cpus;
    unsigned gpus;
} counts_t;

static hsa_status_t print_isa(hsa_isa_t isa, void *data) {
    char name[64];
    uint32_t length = 0;
    unsigned *isas = data;
    HSA_CHECK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length));
    REQUIRE(length < sizeof name);
    memset(name, 0, sizeof name);
    HSA_CHECK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name));
    REQUIRE(strncmp(name, "amdgcn-amd-amdhsa--gfx", strlen("amdgcn-amd-amdhsa--gfx")) == 0);
    printf("  ISA %s\n", name);
    ++*isas;
    return HSA_STATUS_SUCCESS;
}

static void print_gpu(hsa_agent_t agent) {
    uint32_t wavefront = 0, workgroup = 0, grid = 0, queue_min = 0, queue_max = 0, compute_units = 0;
    hsa_dim3_t grid_dim;
    uint16_t workgroup_dim[3];
    hsa_agent_feature_t features;
    unsigned isas = 0;
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_FEATURE, &features));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_WAVEFRONT_SIZE, &wavefront));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, &workgroup));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, workgroup_dim));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_GRID_MAX_SIZE, &grid));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_GRID_MAX_DIM, &grid_dim));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_QUEUE_MIN_SIZE, &queue_min));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &queue_max));
    HSA_CHECK(hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &compute_units));
    REQUIRE((features & HSA_AGENT_FEATURE_KERNEL_DISPATCH) != 0);
    REQUIRE(wavefront == 32 || wavefront == 64);
    REQUIRE(workgroup >= 1024 && workgroup_dim[0] >= 1024);
    REQUIRE(grid_dim.x >= workgroup);
    REQUIRE(queue_min > 0 && queue_min <= queue_max && (queue_max & (queue_max - 1)) == 0);
    REQUIRE(compute_units > 0);
    printf("  %u compute units, waves of %u, groups of up to %u, queues of %u to %u packets\n", compute_units, wavefront, workgroup,
           queue_min, queue_max);
    HSA_CHECK(hsa_agent_iterate_isas(agent, print_isa, &isas));
    REQUIRE(isas > 0);
}

static hsa_status_t print_agent(hsa_agent_t agent, void *data) {
    counts_t *counts = data;
    char name[64], vendor[64], product[64];
    hsa_device_type_t type;
    uint32_t node = 0;
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_VENDOR_NAME, vendor));
    HSA_CHECK(hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, product));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_NODE, &node));
    printf("node %u: %s, %s (%s)\n", node, name, product, vendor);
    if (type == HSA_DEVICE_TYPE_CPU) {
        ++counts->cpus;
    } else if (type == HSA_DEVICE_TYPE_GPU) {
        ++counts->gpus;
        print_gpu(agent);
    }
    return HSA_STATUS_SUCCESS;
}

int main(void) {
    counts_t counts = {0, 0};
    HSA_CHECK(hsa_init());
    HSA_CHECK(hsa_iterate_agents(print_agent, &counts));
    REQUIRE(counts.cpus >= 1);
    REQUIRE(counts.gpus >= 1);
    HSA_CHECK(hsa_shut_down());
    return passed("topology");
}
