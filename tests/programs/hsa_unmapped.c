/* Unmaps pinned memory while an asynchronous copy is still to read it: the process dies of SIGSEGV, and the runtime says why.
   With an argument, the program's own handler is installed first; it must be called, and ends the program with 42. */
#include "../../samples/hsa/sample.h"

#include <signal.h>
#include <sys/mman.h>

static void own_handler(int number) {
    (void)number;
    _exit(42);
}

int main(int argc, char **argv) {
    const size_t bytes = 1 << 20;
    const system_t system = open_system();
    void *target = allocate(&system, system.device_pool, bytes), *pinned = NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hsa_signal_t gate = create_signal(1), done = create_signal(1);
    (void)argv;
    REQUIRE(memory != MAP_FAILED);
    if (argc > 1) {
        signal(SIGSEGV, own_handler);
    }
    HSA_CHECK(hsa_amd_memory_lock(memory, bytes, NULL, 0, &pinned));
    HSA_CHECK(hsa_amd_memory_async_copy(target, system.gpu, pinned, system.cpu, bytes, 1, &gate, done));
    munmap(memory, bytes);
    hsa_signal_store_screlease(gate, 0);
    /* Not a wait: a waiting thread would help, and the fault is to be a worker's. */
    while (hsa_signal_load_scacquire(done) == 1) {
        usleep(1000);
    }
    return EXIT_SUCCESS;
}
