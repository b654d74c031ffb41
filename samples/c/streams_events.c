/* Streams and events in plain C: two streams work side by side, a third joins them, the host is called back at the end.
 * usage: streams_events kernels.co */
#include "sample.h"

enum { length = 10000, block = 256 };

/* Launches a kernel of `length` threads; the arguments lie one after the other, as hipModuleLaunchKernel wants them. */
static void launch(hipFunction_t kernel, hipStream_t stream, void **arguments) {
    HIP_CHECK(hipModuleLaunchKernel(kernel, (length + block - 1) / block, 1, 1, block, 1, 1, 0, stream, arguments, NULL));
}

static void finished(hipStream_t stream, hipError_t status, void *data) {
    (void)stream;
    *(hipError_t *)data = status;
}

int main(int argc, char **argv) {
    const size_t bytes = length * sizeof(unsigned);
    unsigned *host_a, *host_b, *host_sum;
    void *a, *b, *sum;
    hipModule_t module;
    hipFunction_t scale_and_add, add;
    hipStream_t streams[3];
    hipEvent_t started, a_done, b_done, joined;
    hipError_t callback_status = hipErrorNotReady;
    float milliseconds = -1.0f;
    unsigned index, count = length;

    if (argc != 2) {
        fprintf(stderr, "usage: streams_events MODULE\n");
        return EXIT_FAILURE;
    }
    HIP_CHECK(hipInit(0));
    HIP_CHECK(hipModuleLoad(&module, argv[1]));
    HIP_CHECK(hipModuleGetFunction(&scale_and_add, module, "scale_and_add"));
    HIP_CHECK(hipModuleGetFunction(&add, module, "add"));
    {
        hipFunction_t missing;
        REQUIRE(hipModuleGetFunction(&missing, module, "no_such_kernel") == hipErrorNotFound);
    }

    HIP_CHECK(hipHostMalloc((void **)&host_a, bytes, hipHostMallocDefault));
    HIP_CHECK(hipHostMalloc((void **)&host_b, bytes, hipHostMallocDefault));
    HIP_CHECK(hipHostMalloc((void **)&host_sum, bytes, hipHostMallocDefault));
    HIP_CHECK(hipMalloc(&a, bytes));
    HIP_CHECK(hipMalloc(&b, bytes));
    HIP_CHECK(hipMalloc(&sum, bytes));
    for (index = 0; index < length; ++index) {
        host_a[index] = index;
        host_b[index] = index * index;
        host_sum[index] = 0;
    }
    for (index = 0; index < 3; ++index) {
        HIP_CHECK(hipStreamCreateWithFlags(&streams[index], hipStreamNonBlocking));
    }
    HIP_CHECK(hipEventCreate(&started));
    HIP_CHECK(hipEventCreateWithFlags(&a_done, hipEventDisableTiming));
    HIP_CHECK(hipEventCreateWithFlags(&b_done, hipEventDisableTiming));
    HIP_CHECK(hipEventCreate(&joined));

    {
        unsigned factor_a = 3, addend_a = 1, factor_b = 5, addend_b = 2;
        void *arguments_a[] = {&a, &factor_a, &addend_a, &count};
        void *arguments_b[] = {&b, &factor_b, &addend_b, &count};
        void *arguments_sum[] = {&a, &b, &sum, &count};

        HIP_CHECK(hipEventRecord(started, streams[0]));
        HIP_CHECK(hipMemcpyAsync(a, host_a, bytes, hipMemcpyHostToDevice, streams[0]));
        launch(scale_and_add, streams[0], arguments_a);
        HIP_CHECK(hipEventRecord(a_done, streams[0]));

        HIP_CHECK(hipMemcpyAsync(b, host_b, bytes, hipMemcpyHostToDevice, streams[1]));
        launch(scale_and_add, streams[1], arguments_b);
        HIP_CHECK(hipEventRecord(b_done, streams[1]));

        HIP_CHECK(hipStreamWaitEvent(streams[2], a_done, 0));
        HIP_CHECK(hipStreamWaitEvent(streams[2], b_done, 0));
        launch(add, streams[2], arguments_sum);
        HIP_CHECK(hipMemcpyAsync(host_sum, sum, bytes, hipMemcpyDeviceToHost, streams[2]));
        HIP_CHECK(hipEventRecord(joined, streams[2]));
        HIP_CHECK(hipStreamAddCallback(streams[2], finished, &callback_status, 0));
    }
    HIP_CHECK(hipStreamSynchronize(streams[2]));

    REQUIRE(callback_status == hipSuccess);
    REQUIRE(hipEventQuery(a_done) == hipSuccess && hipEventQuery(b_done) == hipSuccess);
    HIP_CHECK(hipEventElapsedTime(&milliseconds, started, joined));
    REQUIRE(milliseconds >= 0.0f);
    for (index = 0; index < length; ++index) {
        REQUIRE(host_sum[index] == (index * 3 + 1) + (index * index * 5 + 2));
    }
    printf("streams_events: %d elements through three streams\n", (int)length);

    HIP_CHECK(hipEventDestroy(started));
    HIP_CHECK(hipEventDestroy(a_done));
    HIP_CHECK(hipEventDestroy(b_done));
    HIP_CHECK(hipEventDestroy(joined));
    for (index = 0; index < 3; ++index) {
        HIP_CHECK(hipStreamDestroy(streams[index]));
    }
    HIP_CHECK(hipFree(a));
    HIP_CHECK(hipFree(b));
    HIP_CHECK(hipFree(sum));
    HIP_CHECK(hipHostFree(host_a));
    HIP_CHECK(hipHostFree(host_b));
    HIP_CHECK(hipHostFree(host_sum));
    HIP_CHECK(hipModuleUnload(module));
    return passed("streams_events");
}
