/* Asks how many devices there are and what each can do. */
#include "sample.h"

static int attribute(hipDeviceAttribute_t which, int device) {
    int value = 0;
    HIP_CHECK(hipDeviceGetAttribute(&value, which, device));
    return value;
}

int main(void) {
    int devices = 0, runtime = 0, device;
    HIP_CHECK(hipInit(0));
    HIP_CHECK(hipRuntimeGetVersion(&runtime));
    HIP_CHECK(hipGetDeviceCount(&devices));
    REQUIRE(devices >= 1);
    printf("HIP runtime %d, %d device(s)\n", runtime, devices);
    for (device = 0; device < devices; ++device) {
        char name[256];
        size_t memory = 0;
        const int wave = attribute(hipDeviceAttributeWarpSize, device);
        const int block = attribute(hipDeviceAttributeMaxThreadsPerBlock, device);
        HIP_CHECK(hipDeviceGetName(name, sizeof name, device));
        HIP_CHECK(hipDeviceTotalMem(&memory, device));
        REQUIRE(name[0] != '\0');
        REQUIRE(wave == 32 || wave == 64);
        REQUIRE(block >= wave && block % wave == 0);
        REQUIRE(memory > 0);
        REQUIRE(attribute(hipDeviceAttributeMultiprocessorCount, device) > 0);
        printf("device %d: %s, waves of %d, blocks of up to %d, %zu MiB\n", device, name, wave, block, memory >> 20);
    }
    REQUIRE(hipSetDevice(devices) == hipErrorInvalidDevice);
    return passed("device_info");
}
