// Graphs: capture and its errors, explicit construction, every kind of node, changes of executable graphs.
#include "case.hpp"

#include <dlfcn.h>

__device__ int variable[4] = {1, 2, 3, 4};

namespace {

__global__ void add(int *p, int n) { *p += n; }
__global__ void scale(int *p, int n) { *p *= n; }
__global__ void fill_kernel(int *p, int n, int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        p[i] += n;
    }
}

using sample::create_event;
using sample::create_stream;

// Functions that HIP 5.2's headers do not have yet.
template <typename F> F function(const char *name) {
    F found = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    REQUIRE(found != nullptr);
    return found;
}

int value(const int *memory) {
    int result = 0;
    HIP_CHECK(hipMemcpy(&result, memory, sizeof result, hipMemcpyDeviceToHost));
    return result;
}

int *device_int(int initial = 0) {
    int *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, sizeof(int)));
    HIP_CHECK(hipMemcpy(memory, &initial, sizeof initial, hipMemcpyHostToDevice));
    return memory;
}

hipGraphExec_t instantiate(hipGraph_t graph) {
    hipGraphExec_t exec = nullptr;
    HIP_CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
}

std::size_t node_count(hipGraph_t graph) {
    std::size_t count = 0;
    HIP_CHECK(hipGraphGetNodes(graph, nullptr, &count));
    return count;
}

hipKernelNodeParams kernel_params(void (*kernel)(int *, int), void **arguments) {
    hipKernelNodeParams params{};
    params.func = reinterpret_cast<void *>(kernel);
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
    return params;
}

hipStreamCaptureStatus status(hipStream_t stream) {
    hipStreamCaptureStatus result;
    HIP_CHECK(hipStreamIsCapturing(stream, &result));
    return result;
}

// A fresh capture on the stream works.
void capture_works(hipStream_t stream, int *memory) {
    hipGraph_t graph = nullptr;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    add<<<1, 1, 0, stream>>>(memory, 1);
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    REQUIRE(node_count(graph) == 1);
    HIP_CHECK(hipGraphDestroy(graph));
}

void count_call(void *counter) { ++*static_cast<int *>(counter); }

} // namespace

CASE(captured_work_runs_at_launches_only) {
    int *memory = device_int();
    hipStream_t stream = create_stream();
    hipGraph_t graph = nullptr;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    REQUIRE(status(stream) == hipStreamCaptureStatusActive);
    add<<<1, 1, 0, stream>>>(memory, 5);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    REQUIRE(status(stream) == hipStreamCaptureStatusNone);
    REQUIRE(node_count(graph) == 1);
    REQUIRE(value(memory) == 0);
    hipGraphExec_t exec = instantiate(graph);
    HIP_CHECK(hipGraphDestroy(graph));
    for (int i = 0; i < 3; ++i) {
        HIP_CHECK(hipGraphLaunch(exec, stream));
    }
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(value(memory) == 15);
    HIP_CHECK(hipGraphExecDestroy(exec));
    EXPECT_ERROR(hipGraphLaunch(exec, stream), hipErrorInvalidValue);
    EXPECT_ERROR(hipGraphDestroy(graph), hipErrorInvalidValue);
}

CASE(capture_errors) {
    int *memory = device_int();
    hipStream_t stream = create_stream(), other = create_stream();
    hipEvent_t event = create_event();
    hipGraph_t graph = nullptr;
    EXPECT_ERROR(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
    EXPECT_ERROR(hipStreamBeginCapture(stream, static_cast<hipStreamCaptureMode>(7)), hipErrorInvalidValue);
    EXPECT_ERROR(hipStreamEndCapture(nullptr, &graph), hipErrorIllegalState);
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);

    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    EXPECT_ERROR(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed), hipErrorIllegalState);
    HIP_CHECK(hipEventRecord(event, stream));
    HIP_CHECK(hipStreamWaitEvent(other, event, 0));
    REQUIRE(status(other) == hipStreamCaptureStatusActive);
    add<<<1, 1, 0, other>>>(memory, 1);
    EXPECT_ERROR(hipStreamEndCapture(other, &graph), hipErrorStreamCaptureUnmatched);
    // The other stream's work does not lead back.
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureUnjoined);
    REQUIRE(graph == nullptr);
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);
    REQUIRE(status(other) == hipStreamCaptureStatusNone);
    capture_works(stream, memory);

    // An event of work that is not captured.
    hipEvent_t outside = create_event();
    HIP_CHECK(hipEventRecord(outside, other));
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    EXPECT_ERROR(hipStreamWaitEvent(stream, outside, 0), hipErrorStreamCaptureIsolation);
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    capture_works(stream, memory);

    // Two captures can't become one.
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    HIP_CHECK(hipStreamBeginCapture(other, hipStreamCaptureModeRelaxed));
    HIP_CHECK(hipEventRecord(event, stream));
    EXPECT_ERROR(hipStreamWaitEvent(other, event, 0), hipErrorStreamCaptureMerge);
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    EXPECT_ERROR(hipStreamEndCapture(other, &graph), hipErrorStreamCaptureInvalidated);
    capture_works(stream, memory);
}

CASE(a_failed_capture_leaves_nothing_behind) {
    int *memory = device_int();
    hipStream_t stream = create_stream();
    hipGraph_t graph = nullptr;
    int host = 0;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    add<<<1, 1, 0, stream>>>(memory, 1);
    EXPECT_ERROR(hipMemcpy(&host, memory, sizeof host, hipMemcpyDeviceToHost), hipErrorStreamCaptureImplicit);
    REQUIRE(status(stream) == hipStreamCaptureStatusInvalidated);
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    REQUIRE(graph == nullptr);
    capture_works(stream, memory);

    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    EXPECT_ERROR(hipStreamSynchronize(stream), hipErrorStreamCaptureUnsupported);
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);
    capture_works(stream, memory);

    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    void *more = nullptr;
    EXPECT_ERROR(hipMalloc(&more, 16), hipErrorStreamCaptureUnsupported);
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    HIP_CHECK(hipMalloc(&more, 16));
    capture_works(stream, memory);

    // An event of the capture can't be waited for.
    hipEvent_t event = create_event();
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    HIP_CHECK(hipEventRecord(event, stream));
    EXPECT_ERROR(hipEventQuery(event), hipErrorCapturedEvent);
    EXPECT_ERROR(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    HIP_CHECK(hipEventRecord(event, stream));
    HIP_CHECK(hipEventSynchronize(event));
    REQUIRE(value(memory) == 0);
}

CASE(other_threads_mind_a_capture_by_their_mode) {
    hipStream_t capturing = create_stream(), unrelated = create_stream();
    hipEvent_t event = create_event();
    HIP_CHECK(hipEventRecord(event, unrelated));
    HIP_CHECK(hipStreamSynchronize(unrelated));
    for (const hipStreamCaptureMode mode :
         {hipStreamCaptureModeRelaxed, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeGlobal}) {
        HIP_CHECK(hipStreamBeginCapture(capturing, hipStreamCaptureModeGlobal));
        const bool minds = mode == hipStreamCaptureModeGlobal;
        std::thread([&] {
            hipStreamCaptureMode wanted = mode;
            HIP_CHECK(hipThreadExchangeStreamCaptureMode(&wanted));
            REQUIRE(wanted == hipStreamCaptureModeGlobal);
            EXPECT_ERROR(hipEventQuery(event), minds ? hipErrorStreamCaptureUnsupported : hipSuccess);
            EXPECT_ERROR(hipEventSynchronize(event), minds ? hipErrorStreamCaptureUnsupported : hipSuccess);
        }).join();
        hipGraph_t graph = nullptr;
        EXPECT_ERROR(hipStreamEndCapture(capturing, &graph), minds ? hipErrorStreamCaptureInvalidated : hipSuccess);
    }
    // Another thread can't end it, unless the mode is relaxed.
    HIP_CHECK(hipStreamBeginCapture(capturing, hipStreamCaptureModeThreadLocal));
    hipGraph_t graph = nullptr;
    std::thread([&] { EXPECT_ERROR(hipStreamEndCapture(capturing, &graph), hipErrorStreamCaptureWrongThread); }).join();
    HIP_CHECK(hipStreamEndCapture(capturing, &graph));
    HIP_CHECK(hipStreamBeginCapture(capturing, hipStreamCaptureModeRelaxed));
    std::thread([&] { HIP_CHECK(hipStreamEndCapture(capturing, &graph)); }).join();
}

CASE(forks_and_joins_are_captured) {
    int *a = device_int(), *b = device_int();
    hipStream_t stream = create_stream(), side = create_stream(hipStreamNonBlocking);
    hipEvent_t fork = create_event(), join = create_event();
    hipGraph_t graph = nullptr;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(a, 3);
    HIP_CHECK(hipEventRecord(fork, stream));
    HIP_CHECK(hipStreamWaitEvent(side, fork, 0));
    HIP_CHECK(hipMemcpyAsync(b, a, sizeof(int), hipMemcpyDeviceToDevice, side));
    scale<<<1, 1, 0, side>>>(b, 7);
    add<<<1, 1, 0, stream>>>(a, 1);
    HIP_CHECK(hipEventRecord(join, side));
    HIP_CHECK(hipStreamWaitEvent(stream, join, 0));
    scale<<<1, 1, 0, stream>>>(a, 10);
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    REQUIRE(node_count(graph) == 5);
    std::size_t edges = 0, roots = 0;
    HIP_CHECK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
    HIP_CHECK(hipGraphGetRootNodes(graph, nullptr, &roots));
    REQUIRE(edges == 5 && roots == 1);
    hipGraphExec_t exec = instantiate(graph);
    HIP_CHECK(hipGraphLaunch(exec, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(value(a) == 40 && value(b) == 21);
    HIP_CHECK(hipGraphLaunch(exec, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(value(a) == 440 && value(b) == 301);
}

CASE(host_functions_are_captured) {
    int *memory = device_int();
    int *host = sample::pinned<int>(1);
    struct Call {
        int *host;
        int seen[2];
        int count;
    } call{host, {}, 0};
    hipStream_t stream = create_stream();
    hipGraph_t graph = nullptr;
    // HIP 5.2 exports the function, and its header does not declare it.
    const auto launch = function<hipError_t (*)(hipStream_t, void (*)(void *), void *)>("hipLaunchHostFunc");
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(memory, 1);
    HIP_CHECK(hipMemcpyAsync(host, memory, sizeof(int), hipMemcpyDeviceToHost, stream));
    HIP_CHECK(launch(
        stream,
        [](void *data) {
            Call *call = static_cast<Call *>(data);
            call->seen[call->count++] = *call->host;
        },
        &call));
    add<<<1, 1, 0, stream>>>(memory, 10);
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    REQUIRE(call.count == 0);
    hipGraphExec_t exec = instantiate(graph);
    HIP_CHECK(hipGraphLaunch(exec, stream));
    HIP_CHECK(hipGraphLaunch(exec, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(call.count == 2 && call.seen[0] == 1 && call.seen[1] == 12);
    REQUIRE(value(memory) == 22);
}

CASE(kernel_nodes_copy_their_parameters) {
    int *memory = device_int(1);
    hipGraph_t graph;
    HIP_CHECK(hipGraphCreate(&graph, 0));
    hipGraphNode_t node;
    {
        int n = 2;
        void *arguments[] = {&memory, &n};
        const hipKernelNodeParams params = kernel_params(add, arguments);
        HIP_CHECK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
        n = 1000;
    }
    {
        int n = 41;
        int *place = memory;
        void *arguments[] = {&place, &n};
        const hipKernelNodeParams params = kernel_params(add, arguments);
        HIP_CHECK(hipGraphKernelNodeSetParams(node, &params));
        n = 1000;
        place = nullptr;
    }
    hipKernelNodeParams got{};
    HIP_CHECK(hipGraphKernelNodeGetParams(node, &got));
    REQUIRE(got.func == reinterpret_cast<void *>(add) && *static_cast<int *>(got.kernelParams[1]) == 41);
    hipGraphNodeType type;
    HIP_CHECK(hipGraphNodeGetType(node, &type));
    REQUIRE(type == hipGraphNodeTypeKernel);
    hipGraphExec_t exec = instantiate(graph);
    HIP_CHECK(hipGraphLaunch(exec, nullptr));
    HIP_CHECK(hipGraphDestroy(graph));
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(value(memory) == 42);

    hipKernelNodeParams bad = kernel_params(add, nullptr);
    HIP_CHECK(hipGraphCreate(&graph, 0));
    EXPECT_ERROR(hipGraphAddKernelNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
    EXPECT_ERROR(hipGraphAddKernelNode(&node, graph, nullptr, 0, &bad), hipErrorInvalidValue);
    bad.func = nullptr;
    EXPECT_ERROR(hipGraphAddKernelNode(&node, graph, nullptr, 0, &bad), hipErrorInvalidValue);
    EXPECT_ERROR(hipGraphAddKernelNode(&node, nullptr, nullptr, 0, &bad), hipErrorInvalidValue);
}

CASE(every_sort_of_node) {
    constexpr int length = 256;
    int *a = nullptr, *b = nullptr;
    HIP_CHECK(hipMalloc(&a, length * sizeof(int)));
    HIP_CHECK(hipMalloc(&b, length * sizeof(int)));
    int *host = sample::pinned<int>(length);
    int called = 0;
    hipEvent_t event = create_event();
    hipGraph_t graph, child;
    HIP_CHECK(hipGraphCreate(&graph, 0));
    HIP_CHECK(hipGraphCreate(&child, 0));
    hipGraphNode_t set, kernel, copy, empty, function, record, wait, back, symbol_in, symbol_out, inner, child_node;

    hipMemsetParams fill{};
    fill.dst = a;
    fill.elementSize = 4;
    fill.value = 7;
    fill.width = length;
    fill.height = 1;
    HIP_CHECK(hipGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
    int one = 1, n = length;
    void *arguments[] = {&a, &one, &n};
    hipKernelNodeParams params{};
    params.func = reinterpret_cast<void *>(fill_kernel);
    params.gridDim = dim3(2);
    params.blockDim = dim3(128);
    params.kernelParams = arguments;
    HIP_CHECK(hipGraphAddKernelNode(&kernel, graph, &set, 1, &params));
    HIP_CHECK(hipGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, b, a, length * sizeof(int), hipMemcpyDeviceToDevice));
    HIP_CHECK(hipGraphAddEmptyNode(&empty, graph, &copy, 1));
    hipHostNodeParams call{count_call, &called};
    HIP_CHECK(hipGraphAddHostNode(&function, graph, &empty, 1, &call));
    HIP_CHECK(hipGraphAddEventRecordNode(&record, graph, &function, 1, event));
    HIP_CHECK(hipGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    // The child adds 1 to the copy.
    arguments[0] = &b;
    HIP_CHECK(hipGraphAddKernelNode(&inner, child, nullptr, 0, &params));
    HIP_CHECK(hipGraphAddChildGraphNode(&child_node, graph, &wait, 1, child));
    HIP_CHECK(hipGraphDestroy(child));
    HIP_CHECK(hipGraphAddMemcpyNodeToSymbol(&symbol_in, graph, &child_node, 1, HIP_SYMBOL(variable), b, 2 * sizeof(int),
                                            sizeof(int), hipMemcpyDeviceToDevice));
    HIP_CHECK(hipGraphAddMemcpyNodeFromSymbol(&symbol_out, graph, &symbol_in, 1, host, HIP_SYMBOL(variable), 4 * sizeof(int), 0,
                                              hipMemcpyDeviceToHost));
    hipMemcpy3DParms rows{};
    rows.srcPtr = make_hipPitchedPtr(b, 16 * sizeof(int), 16 * sizeof(int), 16);
    rows.dstPtr = make_hipPitchedPtr(host + 16, 16 * sizeof(int), 16 * sizeof(int), 15);
    rows.extent = make_hipExtent(16 * sizeof(int), 15, 1);
    rows.kind = hipMemcpyDeviceToHost;
    HIP_CHECK(hipGraphAddMemcpyNode(&back, graph, &symbol_out, 1, &rows));
    REQUIRE(node_count(graph) == 11);

    hipGraphExec_t exec = instantiate(graph);
    hipStream_t stream = create_stream();
    for (int round = 1; round <= 2; ++round) {
        HIP_CHECK(hipGraphLaunch(exec, stream));
        HIP_CHECK(hipStreamSynchronize(stream));
        REQUIRE(called == round);
        HIP_CHECK(hipEventQuery(event));
        REQUIRE(host[0] == 1 && host[1] == 9 && host[2] == 9 && host[3] == 4);
        for (int i = 16; i < length; ++i) {
            REQUIRE(host[i] == 9);
        }
        std::memset(host, 0, length * sizeof(int));
    }

    hipGraph_t inside;
    HIP_CHECK(hipGraphChildGraphNodeGetGraph(child_node, &inside));
    REQUIRE(node_count(inside) == 1);
    EXPECT_ERROR(hipGraphChildGraphNodeGetGraph(set, &inside), hipErrorInvalidValue);
    hipEvent_t got;
    HIP_CHECK(hipGraphEventRecordNodeGetEvent(record, &got));
    REQUIRE(got == event);
    const hipGraphNodeType types[] = {hipGraphNodeTypeMemset,    hipGraphNodeTypeKernel, hipGraphNodeTypeMemcpy1D,
                                      hipGraphNodeTypeEmpty,     hipGraphNodeTypeHost,   hipGraphNodeTypeEventRecord,
                                      hipGraphNodeTypeWaitEvent, hipGraphNodeTypeGraph};
    const hipGraphNode_t nodes[] = {set, kernel, copy, empty, function, record, wait, child_node};
    for (int i = 0; i < 8; ++i) {
        hipGraphNodeType type;
        HIP_CHECK(hipGraphNodeGetType(nodes[i], &type));
        REQUIRE(type == types[i]);
    }
}

CASE(edges_and_clones) {
    hipGraph_t graph, clone;
    HIP_CHECK(hipGraphCreate(&graph, 0));
    hipGraphNode_t a, b, c, found;
    HIP_CHECK(hipGraphAddEmptyNode(&a, graph, nullptr, 0));
    HIP_CHECK(hipGraphAddEmptyNode(&b, graph, nullptr, 0));
    HIP_CHECK(hipGraphAddEmptyNode(&c, graph, &a, 1));
    HIP_CHECK(hipGraphAddDependencies(graph, &a, &b, 1));
    EXPECT_ERROR(hipGraphAddDependencies(graph, &a, &b, 1), hipErrorInvalidValue);
    EXPECT_ERROR(hipGraphAddDependencies(graph, &a, &a, 1), hipErrorInvalidValue);
    hipGraphNode_t list[4];
    std::size_t count = 4;
    HIP_CHECK(hipGraphNodeGetDependentNodes(a, list, &count));
    REQUIRE(count == 2 && list[0] == b && list[1] == c && list[2] == nullptr);
    HIP_CHECK(hipGraphClone(&clone, graph));
    HIP_CHECK(hipGraphNodeFindInClone(&found, c, clone));
    REQUIRE(found != c);
    EXPECT_ERROR(hipGraphNodeFindInClone(&found, c, graph), hipErrorInvalidValue);
    HIP_CHECK(hipGraphRemoveDependencies(graph, &a, &b, 1));
    EXPECT_ERROR(hipGraphRemoveDependencies(graph, &a, &b, 1), hipErrorInvalidValue);
    HIP_CHECK(hipGraphDestroyNode(a));
    EXPECT_ERROR(hipGraphDestroyNode(a), hipErrorInvalidValue);
    count = 0;
    HIP_CHECK(hipGraphGetRootNodes(graph, nullptr, &count));
    REQUIRE(count == 2);
    HIP_CHECK(hipGraphGetEdges(clone, nullptr, nullptr, &count));
    REQUIRE(count == 2 && node_count(clone) == 3);
}

CASE(executable_graphs_change) {
    int *a = device_int(), *b = device_int(100), *c = device_int(100);
    hipGraph_t graph, other;
    HIP_CHECK(hipGraphCreate(&graph, 0));
    hipGraphNode_t node, copy;
    int n = 1;
    void *arguments[] = {&a, &n};
    hipKernelNodeParams params = kernel_params(add, arguments);
    HIP_CHECK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    int host = 5;
    HIP_CHECK(hipGraphAddMemcpyNode1D(&copy, graph, &node, 1, b, a, sizeof(int), hipMemcpyDeviceToDevice));
    hipGraphExec_t exec = instantiate(graph);
    HIP_CHECK(hipGraphLaunch(exec, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(value(a) == 1 && value(b) == 1);
    n = 10;
    HIP_CHECK(hipGraphExecKernelNodeSetParams(exec, node, &params));
    HIP_CHECK(hipGraphExecMemcpyNodeSetParams1D(exec, copy, c, a, sizeof(int), hipMemcpyDeviceToDevice));
    HIP_CHECK(hipGraphLaunch(exec, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(value(a) == 11 && value(c) == 11 && value(b) == 1);

    // A whole graph of the same shape.
    HIP_CHECK(hipGraphCreate(&other, 0));
    hipGraphNode_t first, second, failed = nullptr;
    n = 100;
    HIP_CHECK(hipGraphAddKernelNode(&first, other, nullptr, 0, &params));
    HIP_CHECK(hipGraphAddMemcpyNode1D(&second, other, &first, 1, b, a, sizeof(int), hipMemcpyDeviceToDevice));
    hipGraphExecUpdateResult result = hipGraphExecUpdateError;
    HIP_CHECK(hipGraphExecUpdate(exec, other, &failed, &result));
    REQUIRE(result == hipGraphExecUpdateSuccess);
    HIP_CHECK(hipGraphLaunch(exec, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(value(a) == 111 && value(b) == 111);

    // Another shape, another type.
    hipGraphNode_t third;
    HIP_CHECK(hipGraphAddEmptyNode(&third, other, nullptr, 0));
    EXPECT_ERROR(hipGraphExecUpdate(exec, other, &failed, &result), hipErrorGraphExecUpdateFailure);
    REQUIRE(result == hipGraphExecUpdateErrorTopologyChanged);
    HIP_CHECK(hipGraphDestroyNode(third));
    HIP_CHECK(hipGraphDestroyNode(second));
    HIP_CHECK(hipGraphAddEmptyNode(&second, other, &first, 1));
    EXPECT_ERROR(hipGraphExecUpdate(exec, other, &failed, &result), hipErrorGraphExecUpdateFailure);
    REQUIRE(result == hipGraphExecUpdateErrorNodeTypeChanged && failed == second);

    // A symbol copy in place of a copy between buffers.
    HIP_CHECK(hipGraphMemcpyNodeSetParamsToSymbol(copy, HIP_SYMBOL(variable), &host, sizeof(int), 0, hipMemcpyHostToDevice));
    hipGraphExec_t symbol = instantiate(graph);
    host = 77;
    HIP_CHECK(hipGraphLaunch(symbol, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    int got = 0;
    HIP_CHECK(hipMemcpyFromSymbol(&got, HIP_SYMBOL(variable), sizeof got));
    REQUIRE(got == 77);
}

CASE(nodes_can_be_left_out) {
    const auto set = function<hipError_t (*)(hipGraphExec_t, hipGraphNode_t, unsigned)>("hipGraphNodeSetEnabled");
    const auto get = function<hipError_t (*)(hipGraphExec_t, hipGraphNode_t, unsigned *)>("hipGraphNodeGetEnabled");
    int *memory = device_int();
    hipGraph_t graph;
    HIP_CHECK(hipGraphCreate(&graph, 0));
    hipGraphNode_t node, empty;
    int n = 3;
    void *arguments[] = {&memory, &n};
    hipKernelNodeParams params = kernel_params(add, arguments);
    HIP_CHECK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    HIP_CHECK(hipGraphAddEmptyNode(&empty, graph, &node, 1));
    hipGraphExec_t exec = instantiate(graph);
    unsigned enabled = 7;
    HIP_CHECK(get(exec, node, &enabled));
    REQUIRE(enabled == 1);
    HIP_CHECK(set(exec, node, 0));
    HIP_CHECK(hipGraphLaunch(exec, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(value(memory) == 0);
    HIP_CHECK(set(exec, node, 1));
    HIP_CHECK(hipGraphLaunch(exec, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    REQUIRE(value(memory) == 3);
    EXPECT_ERROR(set(exec, empty, 0), hipErrorInvalidValue);
}

CASE(graph_memory) {
    hipStream_t stream = create_stream();
    int *host = sample::pinned<int>(1);
    hipGraph_t graph;
    int *memory = nullptr;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP_CHECK(hipMallocAsync(reinterpret_cast<void **>(&memory), sizeof(int), stream));
    HIP_CHECK(hipMemsetAsync(memory, 0, sizeof(int), stream));
    add<<<1, 1, 0, stream>>>(memory, 6);
    HIP_CHECK(hipMemcpyAsync(host, memory, sizeof(int), hipMemcpyDeviceToHost, stream));
    HIP_CHECK(hipFreeAsync(memory, stream));
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    REQUIRE(node_count(graph) == 5);
    hipGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 3; ++i) {
        *host = 0;
        HIP_CHECK(hipGraphLaunch(exec, stream));
        HIP_CHECK(hipStreamSynchronize(stream));
        REQUIRE(*host == 6);
    }
    HIP_CHECK(hipGraphExecDestroy(exec));
    HIP_CHECK(hipGraphDestroy(graph));

    // Without the free the second launch is refused until the program frees it.
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    HIP_CHECK(hipMallocAsync(reinterpret_cast<void **>(&memory), sizeof(int), stream));
    HIP_CHECK(hipMemsetAsync(memory, 1, sizeof(int), stream));
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    exec = instantiate(graph);
    HIP_CHECK(hipGraphLaunch(exec, stream));
    EXPECT_ERROR(hipGraphLaunch(exec, stream), hipErrorInvalidValue);
    HIP_CHECK(hipStreamSynchronize(stream));
    REQUIRE(value(memory) == 0x01010101);
    HIP_CHECK(hipFree(memory));
    EXPECT_ERROR(hipFree(memory), hipErrorInvalidValue);
    HIP_CHECK(hipGraphLaunch(exec, stream));
    HIP_CHECK(hipStreamSynchronize(stream));
    // It outlives its graphs until it is freed.
    HIP_CHECK(hipGraphExecDestroy(exec));
    HIP_CHECK(hipGraphDestroy(graph));
    REQUIRE(value(memory) == 0x01010101);
    HIP_CHECK(hipFreeAsync(memory, stream));
}

CASE(user_objects_live_as_long_as_their_graphs) {
    using Object = struct hipUserObject *;
    const auto create = function<hipError_t (*)(Object *, void *, void (*)(void *), unsigned, unsigned)>("hipUserObjectCreate");
    const auto retain = function<hipError_t (*)(hipGraph_t, Object, unsigned, unsigned)>("hipGraphRetainUserObject");
    const auto release = function<hipError_t (*)(Object, unsigned)>("hipUserObjectRelease");
    int ended = 0;
    Object object = nullptr;
    EXPECT_ERROR(create(&object, &ended, count_call, 1, 0), hipErrorInvalidValue);
    HIP_CHECK(create(&object, &ended, count_call, 1, 1));
    hipGraph_t graph;
    HIP_CHECK(hipGraphCreate(&graph, 0));
    HIP_CHECK(retain(graph, object, 1, 1));
    hipGraphExec_t exec = instantiate(graph);
    HIP_CHECK(hipGraphDestroy(graph));
    REQUIRE(ended == 0);
    HIP_CHECK(hipGraphLaunch(exec, nullptr));
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipGraphExecDestroy(exec));
    REQUIRE(ended == 1);
    // References that are not there have no effect, and are no error.
    HIP_CHECK(release(object, 1));
    EXPECT_ERROR(release(nullptr, 1), hipErrorInvalidValue);
    EXPECT_ERROR(release(object, 0), hipErrorInvalidValue);
    HIP_CHECK(create(&object, &ended, count_call, 2, 1));
    HIP_CHECK(release(object, 3));
    REQUIRE(ended == 1);
    HIP_CHECK(hipGraphCreate(&graph, 0));
    HIP_CHECK(retain(graph, object, 9, 1));
    HIP_CHECK(hipGraphDestroy(graph));
    REQUIRE(ended == 2);
}

CASE(drawing) {
    const auto print = function<hipError_t (*)(hipGraph_t, const char *, unsigned)>("hipGraphDebugDotPrint");
    int *memory = device_int();
    hipGraph_t graph;
    hipStream_t stream = create_stream();
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(memory, 1);
    HIP_CHECK(hipMemsetAsync(memory, 0, 4, stream));
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    HIP_CHECK(print(graph, sample::argument(0), 1));
    EXPECT_ERROR(print(graph, "/nowhere/graph.dot", 0), hipErrorOperatingSystem);
    EXPECT_ERROR(print(nullptr, sample::argument(0), 0), hipErrorInvalidValue);
}

CASE(copies_between_kernels_keep_their_order) {
    constexpr int length = 1 << 18;
    int *a = nullptr, *b = nullptr;
    HIP_CHECK(hipMalloc(&a, length * sizeof(int)));
    HIP_CHECK(hipMalloc(&b, length * sizeof(int)));
    HIP_CHECK(hipMemset(a, 0, length * sizeof(int)));
    int *host = sample::pinned<int>(length);
    hipStream_t stream = create_stream(), side = create_stream();
    hipEvent_t fork = create_event(), join = create_event();
    hipGraph_t graph;
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    fill_kernel<<<length / 256, 256, 0, stream>>>(a, 1, length);
    HIP_CHECK(hipEventRecord(fork, stream));
    HIP_CHECK(hipStreamWaitEvent(side, fork, 0));
    HIP_CHECK(hipMemcpyAsync(host, a, length * sizeof(int), hipMemcpyDeviceToHost, side));
    HIP_CHECK(hipEventRecord(join, side));
    HIP_CHECK(hipMemcpyAsync(b, a, length * sizeof(int), hipMemcpyDeviceToDevice, stream));
    fill_kernel<<<length / 256, 256, 0, stream>>>(b, 10, length);
    HIP_CHECK(hipStreamWaitEvent(stream, join, 0));
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    // Two records, one after the other, beside all of that.
    hipEvent_t first = create_event(), second = create_event();
    hipGraphNode_t records[2];
    HIP_CHECK(hipGraphAddEventRecordNode(&records[0], graph, nullptr, 0, first));
    HIP_CHECK(hipGraphAddEventRecordNode(&records[1], graph, &records[0], 1, second));
    hipGraphExec_t exec = instantiate(graph);
    std::vector<int> got(length);
    for (int round = 1; round <= 3; ++round) {
        HIP_CHECK(hipGraphLaunch(exec, stream));
        HIP_CHECK(hipStreamSynchronize(stream));
        float milliseconds = -1;
        HIP_CHECK(hipEventElapsedTime(&milliseconds, first, second));
        REQUIRE(milliseconds >= 0);
        HIP_CHECK(hipMemcpy(got.data(), b, length * sizeof(int), hipMemcpyDeviceToHost));
        for (int i = 0; i < length; ++i) {
            REQUIRE(host[i] == round && got[i] == round + 10);
        }
    }
}

CASE(many_nodes_give_what_eager_work_gives) {
    constexpr int count = 1000;
    int *eager = device_int(1), *graphed = device_int(1);
    hipStream_t stream = create_stream();
    hipGraph_t graph;
    auto work = [&](int *memory) {
        for (int i = 0; i < count; ++i) {
            if (i % 3 == 0) {
                scale<<<1, 1, 0, stream>>>(memory, 3);
            } else {
                add<<<1, 1, 0, stream>>>(memory, i);
            }
        }
    };
    HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    work(graphed);
    HIP_CHECK(hipStreamEndCapture(stream, &graph));
    hipGraphExec_t exec = instantiate(graph);
    for (int round = 0; round < 5; ++round) {
        HIP_CHECK(hipGraphLaunch(exec, stream));
        work(eager);
        HIP_CHECK(hipStreamSynchronize(stream));
        REQUIRE(value(eager) == value(graphed));
    }
}

// Edges may close a circle while a graph is built; it cannot be executed until one is taken away.
CASE(a_circle_is_refused_at_instantiation) {
    hipGraph_t graph;
    hipGraphNode_t first, second, third;
    hipGraphExec_t exec;
    HIP_CHECK(hipGraphCreate(&graph, 0));
    HIP_CHECK(hipGraphAddEmptyNode(&first, graph, nullptr, 0));
    HIP_CHECK(hipGraphAddEmptyNode(&second, graph, &first, 1));
    HIP_CHECK(hipGraphAddEmptyNode(&third, graph, &second, 1));
    HIP_CHECK(hipGraphAddDependencies(graph, &third, &first, 1));
    EXPECT_ERROR(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
    HIP_CHECK(hipGraphRemoveDependencies(graph, &third, &first, 1));
    exec = instantiate(graph);
    HIP_CHECK(hipGraphLaunch(exec, nullptr));
    HIP_CHECK(hipStreamSynchronize(nullptr));
}

// A copy of an executable graph may get other ends, but not go another way.
CASE(an_executable_copy_keeps_its_direction) {
    int host = 5, other = 7, *const memory = device_int(1);
    hipGraph_t graph;
    hipGraphNode_t node;
    HIP_CHECK(hipGraphCreate(&graph, 0));
    HIP_CHECK(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, &host, sizeof host, hipMemcpyHostToDevice));
    const hipGraphExec_t exec = instantiate(graph);
    EXPECT_ERROR(hipGraphExecMemcpyNodeSetParams1D(exec, node, &other, memory, sizeof other, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    HIP_CHECK(hipGraphExecMemcpyNodeSetParams1D(exec, node, memory, &other, sizeof other, hipMemcpyHostToDevice));
    HIP_CHECK(hipGraphLaunch(exec, nullptr));
    HIP_CHECK(hipStreamSynchronize(nullptr));
    REQUIRE(value(memory) == 7);
}
