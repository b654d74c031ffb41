// Compiling at run time: programs, headers, name expressions, errors, bitcode, links.
#include "case.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <hip/hiprtc.h>
#include <unistd.h>

namespace {

#define RTC_CHECK(call)                                                                                                           \
    do {                                                                                                                           \
        const hiprtcResult result_ = (call);                                                                                       \
        if (result_ != HIPRTC_SUCCESS) {                                                                                           \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hiprtcGetErrorString(result_));                     \
            std::exit(EXIT_FAILURE);                                                                                               \
        }                                                                                                                          \
    } while (0)

std::string arch() {
    hipDeviceProp_t properties;
    HIP_CHECK(hipGetDeviceProperties(&properties, 0));
    return std::string("--offload-arch=") + properties.gcnArchName;
}

std::string log(hiprtcProgram program) {
    std::size_t size = 99;
    RTC_CHECK(hiprtcGetProgramLogSize(program, &size));
    std::string text(size, '\0');
    if (size > 0) {
        RTC_CHECK(hiprtcGetProgramLog(program, &text[0]));
        REQUIRE(text.back() == '\0');
        text.pop_back();
    }
    return text;
}

hiprtcProgram create(const char *source, const char *name = "source.hip") {
    hiprtcProgram program = nullptr;
    RTC_CHECK(hiprtcCreateProgram(&program, source, name, 0, nullptr, nullptr));
    return program;
}

hiprtcResult compile(hiprtcProgram program, std::vector<std::string> options = {}) {
    options.push_back(arch());
    std::vector<const char *> pointers;
    for (const std::string &option : options) {
        pointers.push_back(option.c_str());
    }
    return hiprtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
}

std::vector<char> code(hiprtcProgram program) {
    std::size_t size = 0;
    RTC_CHECK(hiprtcGetCodeSize(program, &size));
    REQUIRE(size > 0);
    std::vector<char> bytes(size);
    RTC_CHECK(hiprtcGetCode(program, bytes.data()));
    return bytes;
}

int run(hipModule_t module, const char *name, int argument) {
    hipFunction_t function;
    HIP_CHECK(hipModuleGetFunction(&function, module, name));
    int *memory = nullptr;
    HIP_CHECK(hipMalloc(&memory, sizeof(int)));
    HIP_CHECK(hipMemset(memory, 0, sizeof(int)));
    void *arguments[] = {&memory, &argument};
    HIP_CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    int result = 0;
    HIP_CHECK(hipMemcpy(&result, memory, sizeof result, hipMemcpyDeviceToHost));
    HIP_CHECK(hipFree(memory));
    return result;
}

int run(const std::vector<char> &image, const char *name, int argument) {
    hipModule_t module;
    HIP_CHECK(hipModuleLoadData(&module, image.data()));
    const int result = run(module, name, argument);
    HIP_CHECK(hipModuleUnload(module));
    return result;
}

template <typename F> F function(const char *name) {
    F found = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    REQUIRE(found != nullptr);
    return found;
}

} // namespace

CASE(compiles_and_runs) {
    hiprtcProgram program = create("extern \"C\" __global__ void f(int *p, int n) { *p = n * n + warpSize * 0; }");
    RTC_CHECK(compile(program));
    REQUIRE(run(code(program), "f", 12) == 144);
    RTC_CHECK(hiprtcDestroyProgram(&program));
    std::size_t size = 7;
    REQUIRE(hiprtcGetCodeSize(program, &size) == HIPRTC_ERROR_INVALID_PROGRAM);
    REQUIRE(size == 0);
}

// Device memory of a kernel that was compiled at run time.
CASE(kernels_allocate) {
    hiprtcProgram program = create("extern \"C\" __global__ void f(int *p, int n) {\n"
                                   "    int *const block = static_cast<int *>(malloc(64 * sizeof(int)));\n"
                                   "    block[63] = n;\n"
                                   "    *p = block[63] + 1;\n"
                                   "    free(block);\n"
                                   "}");
    RTC_CHECK(compile(program));
    REQUIRE(run(code(program), "f", 12) == 13);
}

CASE(headers_and_options) {
    const char *texts[] = {"#define TWICE(x) (2 * (x))\n", "static __device__ int plus(int x) { return x + OFFSET; }\n"};
    const char *names[] = {"twice.h", "folder/plus.h"};
    hiprtcProgram program = nullptr;
    RTC_CHECK(hiprtcCreateProgram(&program,
                                  "#include \"twice.h\"\n#include <folder/plus.h>\n"
                                  "extern \"C\" __global__ void f(int *p, int n) { *p = TWICE(plus(n)); }",
                                  nullptr, 2, texts, names));
    RTC_CHECK(compile(program, {"-DOFFSET=5", "--std=c++17"}));
    REQUIRE(run(code(program), "f", 10) == 30);
}

CASE(name_expressions) {
    hiprtcProgram program = create("template <typename A, typename B> struct pair {};\n"
                                   "namespace n { template <typename T> __global__ void f(int *p, int n) { *p = n + sizeof(T); } }\n"
                                   "__global__ void g(int *p, int n) { *p = n; }\n"
                                   "__device__ int counter;\n__constant__ float table[4];\n");
    const char *expressions[] = {"n::f<int>", "n::f<pair<int, pair<char, int> > >", "&g", "&counter", "&table"};
    for (const char *expression : expressions) {
        RTC_CHECK(hiprtcAddNameExpression(program, expression));
    }
    const char *name = nullptr;
    REQUIRE(hiprtcGetLoweredName(program, "&g", &name) == HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    RTC_CHECK(compile(program));
    REQUIRE(hiprtcAddNameExpression(program, "h") == HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
    REQUIRE(hiprtcGetLoweredName(program, "h", &name) == HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    std::map<std::string, std::string> lowered;
    for (const char *expression : expressions) {
        RTC_CHECK(hiprtcGetLoweredName(program, expression, &name));
        lowered[expression] = name;
        std::printf("%s\n", name);
    }
    REQUIRE(lowered["n::f<int>"] == "_ZN1n1fIiEEvPii");
    REQUIRE(lowered["&g"] == "_Z1gPii");
    REQUIRE(lowered["&counter"] == "counter");
    REQUIRE(lowered["&table"] == "table");
    const std::vector<char> image = code(program);
    REQUIRE(run(image, lowered["n::f<int>"].c_str(), 5) == 9);
    REQUIRE(run(image, lowered["n::f<pair<int, pair<char, int> > >"].c_str(), 5) == 6);
    hipModule_t module;
    HIP_CHECK(hipModuleLoadData(&module, image.data()));
    hipDeviceptr_t address = nullptr;
    std::size_t bytes = 0;
    HIP_CHECK(hipModuleGetGlobal(&address, &bytes, module, lowered["&table"].c_str()));
    REQUIRE(address != nullptr && bytes == 16);
}

CASE(failures_have_a_log) {
    hiprtcProgram program = create("extern \"C\" __global__ void f(int *p) { *p = missing; }", "broken.hip");
    REQUIRE(log(program).empty());
    REQUIRE(compile(program) == HIPRTC_ERROR_COMPILATION);
    const std::string text = log(program);
    REQUIRE(text.find("missing") != std::string::npos && text.find("broken.hip") != std::string::npos);
    std::size_t size = 9;
    RTC_CHECK(hiprtcGetCodeSize(program, &size));
    REQUIRE(size == 0);

    hiprtcProgram none = nullptr;
    REQUIRE(hiprtcCreateProgram(&none, nullptr, "x", 0, nullptr, nullptr) == HIPRTC_ERROR_INVALID_INPUT);
    REQUIRE(hiprtcCreateProgram(&none, "", "x", 0, nullptr, nullptr) == HIPRTC_ERROR_INVALID_INPUT);
    REQUIRE(hiprtcCreateProgram(&none, "x", "x", 1, nullptr, nullptr) == HIPRTC_ERROR_INVALID_INPUT);
    REQUIRE(hiprtcCreateProgram(nullptr, "x", "x", 0, nullptr, nullptr) == HIPRTC_ERROR_INVALID_PROGRAM);
    REQUIRE(hiprtcCompileProgram(nullptr, 0, nullptr) == HIPRTC_ERROR_INVALID_PROGRAM);
    REQUIRE(hiprtcDestroyProgram(nullptr) == HIPRTC_ERROR_INVALID_INPUT);
}

// Prints the log of a compilation that must fail.
CASE(prints_the_log) {
    hiprtcProgram program = create("extern \"C\" __global__ void f(int *p) { *p = 1; }");
    REQUIRE(compile(program) == HIPRTC_ERROR_COMPILATION);
    std::printf("%s", log(program).c_str());
}

CASE(bitcode_links) {
    const auto bitcode_size = function<hiprtcResult (*)(hiprtcProgram, std::size_t *)>("hiprtcGetBitcodeSize");
    const auto bitcode = function<hiprtcResult (*)(hiprtcProgram, char *)>("hiprtcGetBitcode");
    const auto link_create = function<hiprtcResult (*)(unsigned, int *, void **, void **)>("hiprtcLinkCreate");
    const auto link_add =
        function<hiprtcResult (*)(void *, int, void *, std::size_t, const char *, unsigned, int *, void **)>("hiprtcLinkAddData");
    const auto link_complete = function<hiprtcResult (*)(void *, void **, std::size_t *)>("hiprtcLinkComplete");
    const auto link_destroy = function<hiprtcResult (*)(void *)>("hiprtcLinkDestroy");

    void *link = nullptr;
    RTC_CHECK(link_create(0, nullptr, nullptr, &link));
    const char *sources[] = {"__device__ int square(int x);\nextern \"C\" __global__ void f(int *p, int n) { *p = square(n) + 1; }",
                             "__device__ int square(int x) { return x * x; }"};
    for (const char *source : sources) {
        hiprtcProgram program = create(source);
        RTC_CHECK(compile(program, {"-fgpu-rdc"}));
        std::size_t size = 0;
        RTC_CHECK(hiprtcGetCodeSize(program, &size));
        REQUIRE(size == 0);
        RTC_CHECK(bitcode_size(program, &size));
        std::vector<char> bytes(size);
        RTC_CHECK(bitcode(program, bytes.data()));
        RTC_CHECK(link_add(link, 100, bytes.data(), bytes.size(), "piece", 0, nullptr, nullptr));
        REQUIRE(link_add(link, 0, bytes.data(), bytes.size(), "piece", 0, nullptr, nullptr) == HIPRTC_ERROR_INVALID_INPUT);
    }
    void *image = nullptr;
    std::size_t size = 0;
    RTC_CHECK(link_complete(link, &image, &size));
    const char *bytes = static_cast<const char *>(image);
    REQUIRE(run(std::vector<char>(bytes, bytes + size), "f", 7) == 50);
    RTC_CHECK(link_destroy(link));
    REQUIRE(link_destroy(link) == HIPRTC_ERROR_INVALID_INPUT);
}

// The same linker under the runtime's names (HIP 6.4), from memory and from a file; the module is loaded by the runtime.
CASE(the_runtime_links) {
    const auto bitcode_size = function<hiprtcResult (*)(hiprtcProgram, std::size_t *)>("hiprtcGetBitcodeSize");
    const auto bitcode = function<hiprtcResult (*)(hiprtcProgram, char *)>("hiprtcGetBitcode");
    const auto create_link = function<hipError_t (*)(unsigned, unsigned *, void **, void **)>("hipLinkCreate");
    const auto add_data =
        function<hipError_t (*)(void *, unsigned, void *, std::size_t, const char *, unsigned, unsigned *, void **)>("hipLinkAddData");
    const auto add_file = function<hipError_t (*)(void *, unsigned, const char *, unsigned, unsigned *, void **)>("hipLinkAddFile");
    const auto complete = function<hipError_t (*)(void *, void **, std::size_t *)>("hipLinkComplete");
    const auto destroy = function<hipError_t (*)(void *)>("hipLinkDestroy");
    const auto bitcode_of = [&](const char *source) {
        hiprtcProgram program = create(source);
        RTC_CHECK(compile(program, {"-fgpu-rdc"}));
        std::size_t size = 0;
        RTC_CHECK(bitcode_size(program, &size));
        std::vector<char> bytes(size);
        RTC_CHECK(bitcode(program, bytes.data()));
        return bytes;
    };
    std::vector<char> kernel = bitcode_of("__device__ int square(int x);\nextern \"C\" __global__ void f(int *p, int n) { *p = square(n) + 1; }");
    const std::vector<char> callee = bitcode_of("__device__ int square(int x) { return x * x; }");
    char path[] = "/tmp/linked-XXXXXX";
    const int file = mkstemp(path);
    REQUIRE(file >= 0 && write(file, callee.data(), callee.size()) == static_cast<ssize_t>(callee.size()));
    close(file);

    constexpr unsigned is_bitcode = 100;
    void *link = nullptr, *image = nullptr;
    std::size_t size = 0;
    HIP_CHECK(create_link(0, nullptr, nullptr, &link));
    HIP_CHECK(add_data(link, is_bitcode, kernel.data(), kernel.size(), "kernel", 0, nullptr, nullptr));
    EXPECT_ERROR(add_data(link, 0, kernel.data(), kernel.size(), "kernel", 0, nullptr, nullptr), hipErrorInvalidValue);
    REQUIRE(add_file(link, is_bitcode, "/no/such/file", 0, nullptr, nullptr) != hipSuccess);
    HIP_CHECK(add_file(link, is_bitcode, path, 0, nullptr, nullptr));
    unlink(path);
    HIP_CHECK(complete(link, &image, &size));
    const char *bytes = static_cast<const char *>(image);
    REQUIRE(run(std::vector<char>(bytes, bytes + size), "f", 7) == 50);
    HIP_CHECK(destroy(link));
    EXPECT_ERROR(destroy(link), hipErrorInvalidValue);
    EXPECT_ERROR(create_link(0, nullptr, nullptr, nullptr), hipErrorInvalidValue);
}
