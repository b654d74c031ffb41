/* Signals: atomic values that threads wait on, one or several at a time, with time limits and with handlers. */
#include "sample.h"

#include <pthread.h>

static void *set_to_zero(void *data) {
    hsa_signal_store_screlease(*(hsa_signal_t *)data, 0);
    return NULL;
}

/* Tells the signal that it is given; one call is enough, so it asks not to be kept. */
static bool on_change(hsa_signal_value_t value, void *data) {
    const hsa_signal_t seen = *(hsa_signal_t *)data;
    (void)value;
    hsa_signal_subtract_screlease(seen, 1);
    return false;
}

static void arithmetic(void) {
    const hsa_signal_t signal = create_signal(10);
    hsa_signal_add_scacq_screl(signal, 5);
    hsa_signal_subtract_scacq_screl(signal, 3);
    REQUIRE(hsa_signal_load_scacquire(signal) == 12);
    hsa_signal_and_scacq_screl(signal, 8);
    hsa_signal_or_scacq_screl(signal, 3);
    hsa_signal_xor_scacq_screl(signal, 1);
    REQUIRE(hsa_signal_load_scacquire(signal) == 10);
    REQUIRE(hsa_signal_exchange_scacq_screl(signal, 20) == 10);
    REQUIRE(hsa_signal_cas_scacq_screl(signal, 19, 30) == 20);
    REQUIRE(hsa_signal_load_relaxed(signal) == 20);
    REQUIRE(hsa_signal_cas_scacq_screl(signal, 20, -30) == 20);
    REQUIRE(hsa_signal_load_relaxed(signal) == -30);
    HSA_CHECK(hsa_signal_destroy(signal));
}

static void conditions(void) {
    const hsa_signal_t signal = create_signal(5);
    uint64_t frequency = 0;
    HSA_CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
    REQUIRE(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 5, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 5);
    REQUIRE(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_NE, 4, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 5);
    REQUIRE(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 6, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 5);
    REQUIRE(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_GTE, 5, UINT64_MAX, HSA_WAIT_STATE_ACTIVE) == 5);
    /* A wait that cannot be met ends after its time, a hundredth of a second, and gives back what is there. */
    REQUIRE(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, frequency / 100, HSA_WAIT_STATE_BLOCKED) == 5);
    HSA_CHECK(hsa_signal_destroy(signal));
}

static void another_thread(void) {
    hsa_signal_t signal = create_signal(1);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, set_to_zero, &signal) == 0);
    wait_until_done(signal);
    REQUIRE(pthread_join(thread, NULL) == 0);
    HSA_CHECK(hsa_signal_destroy(signal));
}

static void any_of_several(void) {
    hsa_signal_t signals[3];
    hsa_signal_condition_t wanted[3];
    hsa_signal_value_t values[3], satisfying = -1;
    pthread_t thread;
    unsigned index;
    for (index = 0; index < 3; ++index) {
        signals[index] = create_signal(1);
        wanted[index] = HSA_SIGNAL_CONDITION_EQ;
        values[index] = 0;
    }
    REQUIRE(pthread_create(&thread, NULL, set_to_zero, &signals[2]) == 0);
    REQUIRE(hsa_amd_signal_wait_any(3, signals, wanted, values, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, &satisfying) == 2);
    REQUIRE(satisfying == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
    for (index = 0; index < 3; ++index) {
        HSA_CHECK(hsa_signal_destroy(signals[index]));
    }
}

static void handlers(void) {
    hsa_signal_t seen = create_signal(1);
    const hsa_signal_t watched = create_signal(1);
    HSA_CHECK(hsa_amd_signal_async_handler(watched, HSA_SIGNAL_CONDITION_EQ, 0, on_change, &seen));
    REQUIRE(hsa_signal_load_scacquire(seen) == 1);
    hsa_signal_store_screlease(watched, 0);
    wait_until_done(seen);
    HSA_CHECK(hsa_signal_destroy(watched));
    HSA_CHECK(hsa_signal_destroy(seen));
}

int main(void) {
    HSA_CHECK(hsa_init());
    arithmetic();
    conditions();
    another_thread();
    any_of_several();
    handlers();
    HSA_CHECK(hsa_shut_down());
    return passed("signals");
}
