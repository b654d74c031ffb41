/* What the HSA samples share: checked calls, the agents, pools and queues that they use, code objects and packets. */
#ifndef GNEISS_SAMPLES_HSA_SAMPLE_H
#define GNEISS_SAMPLES_HSA_SAMPLE_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HSA_CHECK(call) check_status((call), #call, __FILE__, __LINE__)
#define REQUIRE(condition) require((condition), #condition, __FILE__, __LINE__)

static inline void check_status(hsa_status_t status, const char *call, const char *file, int line) {
    const char *text = "unknown status";
    if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) {
        return;
    }
    hsa_status_string(status, &text);
    fprintf(stderr, "%s:%d: %s failed: 0x%x (%s)\n", file, line, call, (unsigned)status, text);
    exit(EXIT_FAILURE);
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

/* The first agent of a type. */
typedef struct {
    hsa_device_type_t type;
    hsa_agent_t agent;
} agent_search_t;

static inline hsa_status_t match_agent(hsa_agent_t agent, void *data) {
    agent_search_t *search = data;
    hsa_device_type_t type;
    HSA_CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type != search->type) {
        return HSA_STATUS_SUCCESS;
    }
    search->agent = agent;
    return HSA_STATUS_INFO_BREAK;
}

static inline hsa_agent_t first_agent(hsa_device_type_t type) {
    agent_search_t search = {type, {0}};
    HSA_CHECK(hsa_iterate_agents(match_agent, &search));
    if (search.agent.handle == 0) {
        fprintf(stderr, "there is no agent of type %d\n", (int)type);
        exit(EXIT_FAILURE);
    }
    return search.agent;
}

/* The first global pool of an agent that has the wanted flag and allows allocation. */
typedef struct {
    uint32_t flag;
    hsa_amd_memory_pool_t pool;
} pool_search_t;

static inline hsa_status_t match_pool(hsa_amd_memory_pool_t pool, void *data) {
    pool_search_t *search = data;
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    bool allowed = false;
    HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL) {
        return HSA_STATUS_SUCCESS;
    }
    HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    HSA_CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed));
    if ((flags & search->flag) == 0 || !allowed) {
        return HSA_STATUS_SUCCESS;
    }
    search->pool = pool;
    return HSA_STATUS_INFO_BREAK;
}

static inline hsa_amd_memory_pool_t first_pool(hsa_agent_t agent, uint32_t flag) {
    pool_search_t search = {flag, {0}};
    HSA_CHECK(hsa_amd_agent_iterate_memory_pools(agent, match_pool, &search));
    if (search.pool.handle == 0) {
        fprintf(stderr, "the agent has no global pool with flag %u\n", flag);
        exit(EXIT_FAILURE);
    }
    return search.pool;
}

/* What most samples start with. */
typedef struct {
    hsa_agent_t cpu;
    hsa_agent_t gpu;
    hsa_amd_memory_pool_t host_pool;    /* fine-grained, both agents see it */
    hsa_amd_memory_pool_t kernarg_pool; /* kernel arguments */
    hsa_amd_memory_pool_t device_pool;  /* coarse-grained, on the GPU */
} system_t;

static inline system_t open_system(void) {
    system_t system;
    HSA_CHECK(hsa_init());
    system.cpu = first_agent(HSA_DEVICE_TYPE_CPU);
    system.gpu = first_agent(HSA_DEVICE_TYPE_GPU);
    system.host_pool = first_pool(system.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    system.kernarg_pool = first_pool(system.cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
    system.device_pool = first_pool(system.gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    return system;
}

/* Memory that the CPU and the GPU may both touch. */
static inline void *allocate(const system_t *system, hsa_amd_memory_pool_t pool, size_t bytes) {
    const hsa_agent_t agents[2] = {system->cpu, system->gpu};
    void *memory = NULL;
    HSA_CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
    HSA_CHECK(hsa_amd_agents_allow_access(2, agents, NULL, memory));
    return memory;
}

static inline hsa_signal_t create_signal(hsa_signal_value_t value) {
    hsa_signal_t signal;
    HSA_CHECK(hsa_signal_create(value, 0, NULL, &signal));
    return signal;
}

/* Waits until a completion signal has fallen to 0; a negative value is how a failure shows. */
static inline void wait_until_done(hsa_signal_t signal) {
    const hsa_signal_value_t value =
        hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    if (value != 0) {
        fprintf(stderr, "a completion signal ended at %lld: the work failed\n", (long long)value);
        exit(EXIT_FAILURE);
    }
}

static inline void report_queue_error(hsa_status_t status, hsa_queue_t *queue, void *data) {
    const char *text = "unknown status";
    (void)data;
    hsa_status_string(status, &text);
    fprintf(stderr, "queue %llu: 0x%x (%s)\n", (unsigned long long)queue->id, (unsigned)status, text);
    exit(EXIT_FAILURE);
}

static inline hsa_queue_t *create_queue(hsa_agent_t gpu) {
    hsa_queue_t *queue = NULL;
    HSA_CHECK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, report_queue_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
    return queue;
}

/* A frozen executable from a code object in a file. */
static inline hsa_executable_t load_executable(hsa_agent_t gpu, const char *path) {
    hsa_executable_t executable;
    hsa_code_object_reader_t reader;
    const int file = open(path, O_RDONLY);
    if (file < 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    HSA_CHECK(hsa_code_object_reader_create_from_file(file, &reader));
    HSA_CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    HSA_CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    HSA_CHECK(hsa_executable_freeze(executable, NULL));
    HSA_CHECK(hsa_code_object_reader_destroy(reader));
    close(file);
    return executable;
}

typedef struct {
    uint64_t object;
    uint32_t kernarg_size;
    uint32_t group_size;
    uint32_t private_size;
} kernel_t;

/* `name` is that of the kernel descriptor: the function's name followed by ".kd". */
static inline kernel_t find_kernel(hsa_executable_t executable, hsa_agent_t gpu, const char *name) {
    hsa_executable_symbol_t symbol;
    kernel_t kernel;
    HSA_CHECK(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
    HSA_CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel.object));
    HSA_CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
                                             &kernel.kernarg_size));
    HSA_CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group_size));
    HSA_CHECK(
        hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &kernel.private_size));
    return kernel;
}

/* A zeroed kernarg segment that starts with `arguments`; the rest are hidden arguments, unused by these kernels. */
static inline void *make_kernarg(const system_t *system, const kernel_t *kernel, const void *arguments, size_t bytes) {
    void *kernarg;
    REQUIRE(bytes <= kernel->kernarg_size);
    kernarg = allocate(system, system->kernarg_pool, kernel->kernarg_size);
    memset(kernarg, 0, kernel->kernarg_size);
    memcpy(kernarg, arguments, bytes);
    return kernarg;
}

/* The 64 bytes of a packet: the body first, the header last, so that the packet processor never sees half a packet. */
static inline void submit_packet(hsa_queue_t *queue, const void *packet, uint16_t header, uint16_t setup) {
    const uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
    uint32_t *slot = (uint32_t *)queue->base_address + (index % queue->size) * 16;
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {
        usleep(100);
    }
    memcpy(slot + 1, (const uint32_t *)packet + 1, 60);
    __atomic_store_n(slot, header | ((uint32_t)setup << 16), __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* A header with system-scope fences on both ends. */
static inline uint16_t packet_header(hsa_packet_type_t type, bool barrier) {
    return (uint16_t)((type << HSA_PACKET_HEADER_TYPE) | ((barrier ? 1 : 0) << HSA_PACKET_HEADER_BARRIER) |
                      (HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE) |
                      (HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE));
}

/* One dimension: `grid` work-items in groups of `group`. A handle of 0 means no completion signal. */
static inline void submit_dispatch(hsa_queue_t *queue, const kernel_t *kernel, uint32_t grid, uint16_t group, void *kernarg,
                                   hsa_signal_t completion) {
    hsa_kernel_dispatch_packet_t packet;
    memset(&packet, 0, sizeof packet);
    packet.workgroup_size_x = group;
    packet.workgroup_size_y = 1;
    packet.workgroup_size_z = 1;
    packet.grid_size_x = grid;
    packet.grid_size_y = 1;
    packet.grid_size_z = 1;
    packet.private_segment_size = kernel->private_size;
    packet.group_segment_size = kernel->group_size;
    packet.kernel_object = kernel->object;
    packet.kernarg_address = kernarg;
    packet.completion_signal = completion;
    submit_packet(queue, &packet, packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, false),
                  1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
}

/* Barrier-AND or barrier-OR over up to five signals. */
static inline void submit_barrier(hsa_queue_t *queue, hsa_packet_type_t type, const hsa_signal_t *dependencies, unsigned count,
                                  hsa_signal_t completion) {
    hsa_barrier_and_packet_t packet; /* a barrier-OR packet has the same layout */
    unsigned index;
    REQUIRE(count <= 5);
    memset(&packet, 0, sizeof packet);
    for (index = 0; index < count; ++index) {
        packet.dep_signal[index] = dependencies[index];
    }
    packet.completion_signal = completion;
    submit_packet(queue, &packet, packet_header(type, true), 0);
}

#endif
