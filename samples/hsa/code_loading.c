/* Code objects: read from memory, loaded, frozen; symbols iterated; a variable of the device read and changed by the host.
   usage: code_loading kernels.co */
#include "sample.h"

#include <hsa/hsa_ven_amd_loader.h>

enum { block = 64, length = 256 };

typedef struct {
    unsigned kernels;
    unsigned variables;
} symbols_t;

static hsa_status_t count_symbol(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol, void *data) {
    symbols_t *symbols = data;
    hsa_symbol_kind_t kind;
    uint32_t bytes = 0;
    char name[256];
    (void)executable;
    (void)agent;
    HSA_CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
    HSA_CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &bytes));
    REQUIRE(bytes < sizeof name);
    HSA_CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name));
    name[bytes] = 0;
    printf("code_loading: %s %s\n", kind == HSA_SYMBOL_KIND_KERNEL ? "kernel" : "variable", name);
    symbols->kernels += kind == HSA_SYMBOL_KIND_KERNEL;
    symbols->variables += kind == HSA_SYMBOL_KIND_VARIABLE;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t check_object(hsa_executable_t executable, hsa_loaded_code_object_t object, void *data) {
    hsa_ven_amd_loader_1_01_pfn_t *loader = data;
    uint32_t bytes = 0;
    char uri[512];
    (void)executable;
    HSA_CHECK(loader->hsa_ven_amd_loader_loaded_code_object_get_info(
        object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH, &bytes));
    REQUIRE(bytes < sizeof uri);
    HSA_CHECK(
        loader->hsa_ven_amd_loader_loaded_code_object_get_info(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri));
    uri[bytes] = 0;
    REQUIRE(strncmp(uri, "memory://", 9) == 0);
    printf("code_loading: loaded from %s\n", uri);
    return HSA_STATUS_SUCCESS;
}

/* A file's bytes, which must stay where they are until the code object is loaded. */
static void *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    void *contents;
    long size;
    REQUIRE(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size = ftell(file);
    REQUIRE(size > 0 && fseek(file, 0, SEEK_SET) == 0);
    contents = malloc((size_t)size);
    REQUIRE(contents != NULL && fread(contents, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    *bytes = (size_t)size;
    return contents;
}

int main(int argc, char **argv) {
    hsa_ven_amd_loader_1_01_pfn_t loader;
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    symbols_t symbols = {0, 0};
    system_t system;
    hsa_queue_t *queue;
    hsa_signal_t done;
    kernel_t add_offset;
    uint32_t *values, *offset, result = 1, size = 0;
    size_t bytes;
    void *contents, *kernarg;
    unsigned index;

    if (argc != 2) {
        fprintf(stderr, "usage: code_loading CODE_OBJECT\n");
        return EXIT_FAILURE;
    }
    system = open_system();
    contents = read_file(argv[1], &bytes);
    HSA_CHECK(hsa_code_object_reader_create_from_memory(contents, bytes, &reader));
    HSA_CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    HSA_CHECK(hsa_executable_load_agent_code_object(executable, system.gpu, reader, NULL, NULL));
    /* A second object that defines the same names is refused. */
    REQUIRE(hsa_executable_load_agent_code_object(executable, system.gpu, reader, NULL, NULL) ==
            HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
    HSA_CHECK(hsa_executable_freeze(executable, NULL));
    REQUIRE(hsa_executable_freeze(executable, NULL) == HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    HSA_CHECK(hsa_executable_validate(executable, &result));
    REQUIRE(result == 0);
    HSA_CHECK(hsa_code_object_reader_destroy(reader));
    free(contents);

    HSA_CHECK(hsa_executable_iterate_agent_symbols(executable, system.gpu, count_symbol, &symbols));
    REQUIRE(symbols.kernels == 5 && symbols.variables >= 1);
    HSA_CHECK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader));
    HSA_CHECK(loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, check_object, &loader));

    /* The variable lies in memory that the host reaches by the address in its symbol. */
    HSA_CHECK(hsa_executable_get_symbol_by_name(executable, "offset", &system.gpu, &symbol));
    HSA_CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &offset));
    HSA_CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &size));
    REQUIRE(size == sizeof *offset);
    HSA_CHECK(hsa_memory_copy(&result, offset, sizeof result));
    REQUIRE(result == 5);
    result = 37;
    HSA_CHECK(hsa_memory_copy(offset, &result, sizeof result));

    add_offset = find_kernel(executable, system.gpu, "add_offset.kd");
    queue = create_queue(system.gpu);
    done = create_signal(1);
    values = allocate(&system, system.host_pool, length * sizeof *values);
    for (index = 0; index < length; ++index) {
        values[index] = index;
    }
    kernarg = make_kernarg(&system, &add_offset, &values, sizeof values);
    submit_dispatch(queue, &add_offset, length, block, kernarg, done);
    wait_until_done(done);
    for (index = 0; index < length; ++index) {
        REQUIRE(values[index] == index + 37);
    }

    HSA_CHECK(hsa_queue_destroy(queue));
    HSA_CHECK(hsa_signal_destroy(done));
    HSA_CHECK(hsa_amd_memory_pool_free(kernarg));
    HSA_CHECK(hsa_amd_memory_pool_free(values));
    HSA_CHECK(hsa_executable_destroy(executable));
    HSA_CHECK(hsa_shut_down());
    return passed("code_loading");
}
