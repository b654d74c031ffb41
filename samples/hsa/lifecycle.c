/* Init and shut down: a reference count, and what the runtime says about itself in between. */
#include "sample.h"

int main(void) {
    uint16_t major = 0, minor = 0;
    uint64_t frequency = 0, earlier = 0, later = 0;
    bool supported = false;
    uint16_t extension_minor = 0;
    const char *text = NULL;
    hsa_signal_t signal;

    REQUIRE(hsa_signal_create(1, 0, NULL, &signal) == HSA_STATUS_ERROR_NOT_INITIALIZED);
    HSA_CHECK(hsa_init());
    HSA_CHECK(hsa_init());
    HSA_CHECK(hsa_shut_down());

    /* One reference is left: the runtime still answers. */
    HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major));
    HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor));
    REQUIRE(major == 1);
    HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
    REQUIRE(frequency >= 1000000 && frequency <= 1000000000);
    HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &earlier));
    HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &later));
    REQUIRE(later >= earlier);
    HSA_CHECK(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, &extension_minor, &supported));
    REQUIRE(supported);
    HSA_CHECK(hsa_status_string(HSA_STATUS_ERROR_OUT_OF_RESOURCES, &text));
    REQUIRE(text != NULL && text[0] != '\0');
    printf("HSA %u.%u, %llu ticks a second\n", major, minor, (unsigned long long)frequency);

    HSA_CHECK(hsa_shut_down());
    REQUIRE(hsa_shut_down() == HSA_STATUS_ERROR_NOT_INITIALIZED);

    /* And it starts again. */
    HSA_CHECK(hsa_init());
    signal = create_signal(7);
    REQUIRE(hsa_signal_load_scacquire(signal) == 7);
    HSA_CHECK(hsa_signal_destroy(signal));
    HSA_CHECK(hsa_shut_down());
    return passed("lifecycle");
}
