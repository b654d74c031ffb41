/* A tool for HSA programs, as HSA_TOOLS_LIB loads it: makes each queue one whose packets it sees, counts kernels, and puts a barrier
   packet before each of them. The tables are used by position, as a tool built long ago would. */
#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*function_t)(void);

typedef struct {
    uint32_t major, minor, step, reserved;
    function_t functions[256];
} table_t;

typedef struct {
    uint32_t major, minor, step, reserved;
    table_t *core, *amd;
} tables_t;

/* Positions in the tables of ROCm 6.3. */
enum { core_queue_create = 7, core_queue_destroy = 9, amd_intercept_create = 37, amd_intercept_register = 38 };

typedef void (*writer_t)(const void *packets, uint64_t count);
typedef void (*handler_t)(const void *packets, uint64_t count, uint64_t index, void *data, writer_t writer);
typedef hsa_status_t (*create_t)(hsa_agent_t, uint32_t, hsa_queue_type32_t, void (*)(hsa_status_t, hsa_queue_t *, void *), void *,
                                 uint32_t, uint32_t, hsa_queue_t **);
typedef hsa_status_t (*register_t)(hsa_queue_t *, handler_t, void *);

static create_t intercept_create;
static register_t intercept_register;
static unsigned queues, kernels, outer_calls;

/* Sees the packets last: adds a barrier before each kernel. */
static void inner(const void *packets, uint64_t count, uint64_t index, void *data, writer_t writer) {
    const char *packet = packets;
    (void)index;
    (void)data;
    for (; count > 0; --count, packet += 64) {
        uint16_t header;
        memcpy(&header, packet, sizeof header);
        if ((header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
            hsa_barrier_and_packet_t barrier;
            memset(&barrier, 0, sizeof barrier);
            barrier.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER;
            writer(&barrier, 1);
            ++kernels;
        }
        writer(packet, 1);
    }
}

/* Sees them first, and passes them on as they are. */
static void outer(const void *packets, uint64_t count, uint64_t index, void *data, writer_t writer) {
    (void)index;
    ++*(unsigned *)data;
    writer(packets, count);
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t private_size,
                                 uint32_t group_size, hsa_queue_t **queue) {
    hsa_status_t status = intercept_create(agent, size, type, callback, data, private_size, group_size, queue);
    if (status == HSA_STATUS_SUCCESS) {
        ++queues;
        status = intercept_register(*queue, inner, NULL);
    }
    return status == HSA_STATUS_SUCCESS ? intercept_register(*queue, outer, &outer_calls) : status;
}

bool OnLoad(tables_t *tables, uint64_t runtime_version, uint64_t failed_tool_count, const char *const *failed_tool_names) {
    uint16_t major = 0;
    (void)runtime_version;
    (void)failed_tool_count;
    (void)failed_tool_names;
    if (tables->major != 3 || tables->core->minor < 16 + 8 * 100 || tables->amd->minor < 16 + 8 * 39) {
        return false;
    }
    /* The runtime is in use already. */
    if (hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) != HSA_STATUS_SUCCESS || major != 1) {
        return false;
    }
    intercept_create = (create_t)tables->amd->functions[amd_intercept_create];
    intercept_register = (register_t)tables->amd->functions[amd_intercept_register];
    tables->core->functions[core_queue_create] = (function_t)queue_create;
    return true;
}

void OnUnload(void) {
    fprintf(stderr, "tool: %u queues, %u kernels, %s\n", queues, kernels, outer_calls > 0 ? "in order" : "no packets");
}
