/* Memory and a signal shared by two processes: handles go through a pipe, data through the memory, the order through the signal. */
#define _GNU_SOURCE
#include "sample.h"

#include <sys/wait.h>

enum { length = 5000 };

typedef struct {
    hsa_amd_ipc_memory_t memory;
    hsa_amd_ipc_signal_t signal;
} message_t;

static void send_all(int file, const void *data, size_t bytes) {
    REQUIRE(write(file, data, bytes) == (ssize_t)bytes);
}

static void receive_all(int file, void *data, size_t bytes) {
    REQUIRE(read(file, data, bytes) == (ssize_t)bytes);
}

/* Waits for a value that the other process sets. */
static void wait_for(hsa_signal_t signal, hsa_signal_value_t value) {
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, value, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != value) {
    }
}

/* The other process: attaches both, doubles the numbers once the signal says that they are there. */
static int child(int input) {
    const size_t bytes = length * sizeof(uint32_t);
    const system_t system = open_system();
    hsa_signal_t signal;
    uint32_t *numbers;
    message_t message;
    void *memory = NULL;
    unsigned index;

    receive_all(input, &message, sizeof message);
    HSA_CHECK(hsa_amd_ipc_memory_attach(&message.memory, bytes, 1, &system.gpu, &memory));
    HSA_CHECK(hsa_amd_ipc_signal_attach(&message.signal, &signal));
    numbers = memory;
    wait_for(signal, 1);
    for (index = 0; index < length; ++index) {
        REQUIRE(numbers[index] == index);
        numbers[index] *= 2;
    }
    hsa_signal_store_screlease(signal, 2);
    HSA_CHECK(hsa_amd_ipc_memory_detach(memory));
    HSA_CHECK(hsa_signal_destroy(signal));
    HSA_CHECK(hsa_shut_down());
    return EXIT_SUCCESS;
}

int main(void) {
    const size_t bytes = length * sizeof(uint32_t);
    int ends[2], status = 0;
    hsa_amd_pointer_info_t info;
    system_t system;
    hsa_signal_t signal;
    uint32_t *numbers;
    message_t message;
    unsigned index;
    pid_t other;

    /* A process forks before it starts the runtime: a child does not inherit it. */
    REQUIRE(pipe(ends) == 0);
    other = fork();
    REQUIRE(other >= 0);
    if (other == 0) {
        close(ends[1]);
        exit(child(ends[0]));
    }
    close(ends[0]);

    system = open_system();
    numbers = allocate(&system, system.device_pool, bytes);
    HSA_CHECK(hsa_amd_signal_create(0, 0, NULL, HSA_AMD_SIGNAL_IPC, &signal));
    HSA_CHECK(hsa_amd_ipc_memory_create(numbers, bytes, &message.memory));
    HSA_CHECK(hsa_amd_ipc_signal_create(signal, &message.signal));
    /* The memory is still where it was. */
    info.size = sizeof info;
    HSA_CHECK(hsa_amd_pointer_info(numbers, &info, NULL, NULL, NULL));
    REQUIRE(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == numbers && info.sizeInBytes == bytes);
    send_all(ends[1], &message, sizeof message);

    for (index = 0; index < length; ++index) {
        numbers[index] = index;
    }
    hsa_signal_store_screlease(signal, 1);
    wait_for(signal, 2);
    for (index = 0; index < length; ++index) {
        REQUIRE(numbers[index] == 2 * index);
    }
    REQUIRE(waitpid(other, &status, 0) == other && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
    printf("ipc: %zu bytes shared with process %d\n", bytes, (int)other);

    /* What is no handle, and a part of an allocation, are refused. */
    memset(&message, 0, sizeof message);
    REQUIRE(hsa_amd_ipc_signal_attach(&message.signal, &signal) == HSA_STATUS_ERROR_INVALID_ARGUMENT);
    REQUIRE(hsa_amd_ipc_memory_create(numbers + 1, bytes - 4, &message.memory) == HSA_STATUS_ERROR_INVALID_ARGUMENT);

    HSA_CHECK(hsa_signal_destroy(signal));
    HSA_CHECK(hsa_amd_memory_pool_free(numbers));
    HSA_CHECK(hsa_shut_down());
    return passed("ipc");
}
