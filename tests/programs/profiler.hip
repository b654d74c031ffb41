// What profilers register: callbacks around calls, and records of commands, as AMD's tracers use them. The layouts come from AMD's headers.
#include "case.hpp"

#include <hip/amd_detail/hip_prof_str.h>

#include <atomic>
#include <dlfcn.h>
#include <set>
#include <unistd.h>
#include <vector>

__global__ void add(int *values, int amount) { values[blockIdx.x * blockDim.x + threadIdx.x] += amount; }

namespace {

// activity_record_t of prof_protocol.h, which the runtime's packages do not have.
struct Record {
    std::uint32_t domain, kind, operation;
    std::uint64_t correlation, begin, end;
    int device;
    std::uint64_t queue;
    union {
        std::uint64_t bytes;
        const char *name;
    };
};

// hip_api_trace_data_t since ROCm 5.4: after the data of 5.2 there is one pointer more.
struct TraceData {
    hip_api_data_t data;
    std::uint64_t *phase_data;
    std::uint64_t entered, shared;
    void (*enter)(std::uint32_t id, TraceData *data);
    void (*leave)(std::uint32_t id, TraceData *data);
};

using ApiCallback = void (*)(std::uint32_t domain, std::uint32_t id, hip_api_data_t *data, void *argument);

// The headers do not declare these: tools look them up.
template <typename F> F *lookup(const char *name) {
    void *const found = dlsym(RTLD_DEFAULT, name);
    REQUIRE(found != nullptr);
    return reinterpret_cast<F *>(found);
}

struct Seen {
    std::uint32_t id, phase;
    std::uint64_t correlation;
    hip_api_data_t data;
};

std::vector<Seen> seen;
std::vector<Record> records;
std::vector<std::string> kernel_names;
std::mutex lock;

void see(std::uint32_t id, const hip_api_data_t &data) {
    const std::lock_guard<std::mutex> guard(lock);
    seen.push_back({id, data.phase, data.correlation_id, data});
}

void on_call(std::uint32_t domain, std::uint32_t id, hip_api_data_t *data, void *argument) {
    REQUIRE(domain == 3);
    REQUIRE(argument == &seen);
    see(id, *data);
}

void register_all(ApiCallback callback) {
    auto *const add_callback = lookup<hipError_t(std::uint32_t, void *, void *)>("hipRegisterApiCallback");
    for (std::uint32_t id = HIP_API_ID_FIRST; id <= HIP_API_ID_LAST; ++id) {
        HIP_CHECK(add_callback(id, reinterpret_cast<void *>(callback), &seen));
    }
    REQUIRE(add_callback(0, reinterpret_cast<void *>(callback), nullptr) == hipErrorInvalidValue);
    REQUIRE(add_callback(HIP_API_ID_LAST + 1, reinterpret_cast<void *>(callback), nullptr) == hipErrorInvalidValue);
}

void remove_all() {
    auto *const remove_callback = lookup<hipError_t(std::uint32_t)>("hipRemoveApiCallback");
    for (std::uint32_t id = HIP_API_ID_FIRST; id <= HIP_API_ID_LAST; ++id) {
        HIP_CHECK(remove_callback(id));
    }
}

// Each entry has its exit with the same number, properly nested; no two calls share a number.
void check_pairs() {
    std::vector<Seen> open;
    std::set<std::uint64_t> correlations;
    for (const Seen &event : seen) {
        if (event.phase == 0) {
            REQUIRE(correlations.insert(event.correlation).second);
            open.push_back(event);
        } else {
            REQUIRE(!open.empty());
            REQUIRE(open.back().id == event.id && open.back().correlation == event.correlation);
            open.pop_back();
        }
    }
    REQUIRE(open.empty());
}

const Seen &call(std::uint32_t id, std::uint32_t phase) {
    for (const Seen &event : seen) {
        if (event.id == id && event.phase == phase) {
            return event;
        }
    }
    std::fprintf(stderr, "no call of %s in phase %u\n", hip_api_name(id), phase);
    std::exit(EXIT_FAILURE);
}

int *device = nullptr;
int host[256];

// A small program, whose calls and commands the cases look for.
void program() {
    for (int index = 0; index < 256; ++index) {
        host[index] = index;
    }
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&device), sizeof host));
    HIP_CHECK(hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice));
    add<<<4, 64>>>(device, 5);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost));
    hipEvent_t event;
    HIP_CHECK(hipEventCreate(&event));
    HIP_CHECK(hipEventRecord(event, nullptr));
    HIP_CHECK(hipEventSynchronize(event));
    HIP_CHECK(hipEventDestroy(event));
    HIP_CHECK(hipMemset(device, 1, 128));
    HIP_CHECK(hipDeviceSynchronize());
    for (int index = 0; index < 256; ++index) {
        REQUIRE(host[index] == index + 5);
    }
}

// What a tracer of ROCm 5.2 registers first: it makes the data of each call.
thread_local std::vector<hip_api_data_t> stack;
std::atomic<std::uint64_t> next_correlation{1000};
std::atomic<int> ends{0};

void *make_data(std::uint32_t, void *, const void *, void *argument) {
    if (argument == nullptr) {
        stack.push_back({});
        stack.back().correlation_id = next_correlation++;
        return &stack.back();
    }
    REQUIRE(argument == &ends);
    ++ends;
    stack.pop_back();
    return nullptr;
}

std::map<std::uint64_t, std::uint64_t> own_correlation;

void on_number(std::uint64_t number) {
    REQUIRE(!stack.empty());
    const std::lock_guard<std::mutex> guard(lock);
    own_correlation[number] = stack.back().correlation_id;
}

void on_record(std::uint32_t operation, void *record, void *argument) {
    REQUIRE(argument == &records);
    const std::lock_guard<std::mutex> guard(lock);
    records.push_back(*static_cast<Record *>(record));
    REQUIRE(records.back().operation == operation);
}

// Records of the program's four commands besides the marker, which is where the event was recorded.
void check_records() {
    auto *const name = lookup<const char *(unsigned)>("hipGetCmdName");
    std::map<std::string, std::vector<Record>> by_name;
    for (const Record &record : records) {
        REQUIRE(record.domain == 2);
        REQUIRE(record.begin > 0 && record.begin <= record.end);
        REQUIRE(record.device == 0);
        by_name[name(record.kind)].push_back(record);
    }
    REQUIRE(by_name["KernelExecution"].size() == 1 && by_name["KernelExecution"][0].operation == 0);
    REQUIRE(by_name["CopyHostToDevice"].size() == 1 && by_name["CopyHostToDevice"][0].operation == 1);
    REQUIRE(by_name["CopyDeviceToHost"].size() == 1 && by_name["CopyDeviceToHost"][0].bytes == sizeof host);
    REQUIRE(by_name["CopyHostToDevice"][0].bytes == sizeof host);
    REQUIRE(by_name["FillBuffer"].size() == 1 && by_name["FillBuffer"][0].bytes == 128);
    REQUIRE(!by_name["Marker"].empty() && by_name["Marker"][0].operation == 2);
    REQUIRE(by_name["CopyHostToDevice"][0].end <= by_name["KernelExecution"][0].begin);
    REQUIRE(by_name["KernelExecution"][0].end <= by_name["CopyDeviceToHost"][0].begin);
    REQUIRE(by_name["KernelExecution"][0].queue == by_name["CopyDeviceToHost"][0].queue);
}

} // namespace

// Both ends of every call, with its number, name and arguments.
CASE(api_callbacks) {
    HIP_CHECK(hipInit(0));
    register_all(on_call);
    program();
    remove_all();
    const std::size_t count = seen.size();
    check_pairs();
    const auto &allocation = call(HIP_API_ID_hipMalloc, 0).data.args.hipMalloc;
    REQUIRE(allocation.ptr == reinterpret_cast<void **>(&device) && allocation.size == sizeof host);
    REQUIRE(call(HIP_API_ID_hipMalloc, 1).data.args.hipMalloc.size == sizeof host);
    const auto &copy = call(HIP_API_ID_hipMemcpy, 0).data.args.hipMemcpy;
    REQUIRE(copy.dst == device && copy.src == host && copy.sizeBytes == sizeof host && copy.kind == hipMemcpyHostToDevice);
    const auto &configuration = call(HIP_API_ID___hipPushCallConfiguration, 0).data.args.__hipPushCallConfiguration;
    REQUIRE(configuration.gridDim.x == 4 && configuration.blockDim.x == 64 && configuration.stream == nullptr);
    const auto &launch = call(HIP_API_ID_hipLaunchKernel, 0).data.args.hipLaunchKernel;
    REQUIRE(launch.function_address == reinterpret_cast<const void *>(add));
    REQUIRE(launch.numBlocks.x == 4 && launch.dimBlocks.x == 64 && launch.sharedMemBytes == 0);
    const auto &fill = call(HIP_API_ID_hipMemset, 0).data.args.hipMemset;
    REQUIRE(fill.dst == device && fill.value == 1 && fill.sizeBytes == 128);
    auto *const name = lookup<const char *(std::uint32_t)>("hipApiName");
    for (std::uint32_t id = HIP_API_ID_FIRST; id <= HIP_API_ID_LAST; ++id) {
        REQUIRE(std::strcmp(name(id), hip_api_name(id)) == 0);
    }
    auto *const kernel_name = lookup<const char *(const void *, hipStream_t)>("hipKernelNameRefByPtr");
    REQUIRE(std::strstr(kernel_name(launch.function_address, nullptr), "add") != nullptr);
    HIP_CHECK(hipFree(device));
    REQUIRE(seen.size() == count);
}

// The tracer of ROCm 5.2: data of its own, and commands connected with the calls that enqueued them.
CASE(activity_callbacks) {
    HIP_CHECK(hipInit(0));
    HIP_CHECK(hipDeviceSynchronize());
    auto *const add_callback = lookup<hipError_t(std::uint32_t, void *, void *)>("hipRegisterActivityCallback");
    for (std::uint32_t id = HIP_API_ID_FIRST; id <= HIP_API_ID_LAST; ++id) {
        HIP_CHECK(add_callback(id, reinterpret_cast<void *>(make_data), &ends));
    }
    register_all(on_call);
    lookup<void(void *, void *, void *)>("hipInitActivityCallback")(reinterpret_cast<void *>(on_number),
                                                                    reinterpret_cast<void *>(on_record), &records);
    auto *const enable = lookup<bool(unsigned, bool)>("hipEnableActivityCallback");
    REQUIRE(enable(0, true) && enable(1, true) && enable(2, true) && !enable(3, true));
    program();
    REQUIRE(enable(0, false) && enable(1, false) && enable(2, false));
    remove_all();
    auto *const remove_callback = lookup<hipError_t(std::uint32_t)>("hipRemoveActivityCallback");
    for (std::uint32_t id = HIP_API_ID_FIRST; id <= HIP_API_ID_LAST; ++id) {
        HIP_CHECK(remove_callback(id));
    }
    check_pairs();
    REQUIRE(stack.empty());
    REQUIRE(ends.load() * 2 == static_cast<int>(seen.size()));
    for (const Seen &event : seen) {
        REQUIRE(event.correlation >= 1000);
    }
    check_records();
    for (const Record &record : records) {
        if (record.kind == 0x11f0) {
            REQUIRE(own_correlation[record.correlation] == call(HIP_API_ID_hipLaunchKernel, 0).correlation);
        }
    }
    const std::size_t count = records.size();
    HIP_CHECK(hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice));
    REQUIRE(records.size() == count);
}

// The tracer of ROCm 5.4: one function for everything; it chooses the calls that it wants.
CASE(tracer_callback) {
    HIP_CHECK(hipInit(0));
    HIP_CHECK(hipDeviceSynchronize());
    auto *const add_callback =
        lookup<void(int (*)(std::uint32_t domain, std::uint32_t operation, void *data))>("hipRegisterTracerCallback");
    add_callback([](std::uint32_t domain, std::uint32_t operation, void *data) {
        if (domain == 2) {
            if (data != nullptr) {
                const std::lock_guard<std::mutex> guard(lock);
                const Record &record = *static_cast<Record *>(data);
                kernel_names.emplace_back(operation == 0 ? record.name : "");
                records.push_back(record);
            }
            return 0;
        }
        REQUIRE(domain == 3);
        if (operation == HIP_API_ID_hipMalloc) {
            return 1;
        }
        TraceData &trace = *static_cast<TraceData *>(data);
        trace.data.correlation_id = next_correlation++;
        trace.data.phase = 0;
        trace.enter = [](std::uint32_t id, TraceData *data) {
            see(id, data->data);
            data->shared = 7;
        };
        trace.leave = [](std::uint32_t id, TraceData *data) {
            REQUIRE(data->shared == 7);
            data->data.phase = 1;
            see(id, data->data);
        };
        return 0;
    });
    program();
    add_callback(nullptr);
    check_pairs();
    for (const Seen &event : seen) {
        REQUIRE(event.id != HIP_API_ID_hipMalloc);
    }
    check_records();
    for (std::size_t index = 0; index < records.size(); ++index) {
        if (records[index].operation == 0) {
            REQUIRE(kernel_names[index].find("add") != std::string::npos);
            REQUIRE(records[index].correlation == call(HIP_API_ID_hipLaunchKernel, 0).correlation);
        }
    }
    REQUIRE(call(HIP_API_ID_hipMemset, 1).data.args.hipMemset.dst == device);
}

// Four threads call while callbacks come and go: every call that is told of is told of at both ends, in its thread.
CASE(callbacks_come_and_go) {
    static thread_local std::vector<std::uint64_t> open;
    static std::atomic<std::uint64_t> told{0};
    const ApiCallback callback = [](std::uint32_t, std::uint32_t, hip_api_data_t *data, void *) {
        if (data->phase == 0) {
            open.push_back(data->correlation_id);
            ++told;
        } else {
            REQUIRE(!open.empty() && open.back() == data->correlation_id);
            open.pop_back();
        }
    };
    std::atomic<int> running{4};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&running] {
            for (int turn = 0; turn < 2000; ++turn) {
                int current;
                HIP_CHECK(hipGetDevice(&current));
                HIP_CHECK(hipSetDevice(current));
            }
            REQUIRE(open.empty());
            --running;
        });
    }
    do {
        register_all(callback);
        remove_all();
    } while (running > 0);
    for (std::thread &thread : threads) {
        thread.join();
    }
    register_all(callback);
    HIP_CHECK(hipSetDevice(0));
    REQUIRE(told > 0);
}
