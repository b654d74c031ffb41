// The OpenCL peer, on the first CPU device of the first platform. usage: opencl KERNELS.CL measure|digest [KERNEL...]
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "suite.hpp"

#include <fstream>
#include <iterator>

#define CL_CHECK(call) check((call), #call, __LINE__)

namespace {

void check(cl_int error, const char *call, int line) {
    if (error != CL_SUCCESS) {
        std::fprintf(stderr, "line %d: %s failed: %d\n", line, call, error);
        std::exit(EXIT_FAILURE);
    }
}

class OpenCl {
  public:
    template <typename> struct Memory {
        cl_mem handle;
    };
    template <typename T> using Buffer = Memory<T>;

    explicit OpenCl(const char *source_path) {
        cl_platform_id platform;
        cl_device_id device;
        cl_int error;
        CL_CHECK(clGetPlatformIDs(1, &platform, nullptr));
        CL_CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
        context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
        CL_CHECK(error);
        queue_ = clCreateCommandQueue(context_, device, 0, &error);
        CL_CHECK(error);
        std::ifstream file(source_path);
        const std::string source((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        const char *text = source.c_str();
        const cl_program program = clCreateProgramWithSource(context_, 1, &text, nullptr, &error);
        CL_CHECK(error);
        CL_CHECK(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
#define X(name)                                                                                                                    \
    name##_ = clCreateKernel(program, #name "_kernel", &error);                                                                    \
    CL_CHECK(error);
        BENCH_KERNELS(X)
#undef X
    }

    template <typename T> Memory<T> allocate(std::size_t count) {
        cl_int error;
        const Memory<T> memory{clCreateBuffer(context_, CL_MEM_READ_WRITE, count * sizeof(T), nullptr, &error)};
        CL_CHECK(error);
        return memory;
    }
    template <typename T> void release(Memory<T> memory) { CL_CHECK(clReleaseMemObject(memory.handle)); }
    template <typename T> void upload(Memory<T> memory, const T *values, std::size_t count) {
        CL_CHECK(clEnqueueWriteBuffer(queue_, memory.handle, CL_TRUE, 0, count * sizeof(T), values, 0, nullptr, nullptr));
    }
    template <typename T> void download(T *values, Memory<T> memory, std::size_t count) {
        CL_CHECK(clEnqueueReadBuffer(queue_, memory.handle, CL_TRUE, 0, count * sizeof(T), values, 0, nullptr, nullptr));
    }
    template <typename T> void copy(Memory<T> to, Memory<T> from, std::size_t count) {
        CL_CHECK(clEnqueueCopyBuffer(queue_, from.handle, to.handle, 0, 0, count * sizeof(T), 0, nullptr, nullptr));
        synchronize();
    }
    void events() {} // every command has one: nothing to compare
#define X(name)                                                                                                                    \
    template <typename... Arguments> void launch(bench::kernel::name, bench::Grid grid, bench::Grid group, Arguments... arguments) { \
        enqueue(name##_, grid, group, arguments...);                                                                               \
    }
    BENCH_KERNELS(X)
#undef X
    void synchronize() { CL_CHECK(clFinish(queue_)); }

  private:
    template <typename T> void set_argument(cl_kernel kernel, cl_uint index, Memory<T> memory) {
        CL_CHECK(clSetKernelArg(kernel, index, sizeof memory.handle, &memory.handle));
    }
    template <typename T> void set_argument(cl_kernel kernel, cl_uint index, T value) {
        CL_CHECK(clSetKernelArg(kernel, index, sizeof value, &value));
    }
    template <typename... Arguments> void enqueue(cl_kernel kernel, bench::Grid grid, bench::Grid group, Arguments... arguments) {
        cl_uint index = 0;
        (set_argument(kernel, index++, arguments), ...);
        const std::size_t global[2] = {std::size_t{grid.x} * group.x, std::size_t{grid.y} * group.y}, local[2] = {group.x, group.y};
        CL_CHECK(clEnqueueNDRangeKernel(queue_, kernel, group.y > 1 ? 2 : 1, nullptr, global, local, 0, nullptr, nullptr));
    }

    cl_context context_;
    cl_command_queue queue_;
#define X(name) cl_kernel name##_;
    BENCH_KERNELS(X)
#undef X
};

} // namespace

int main(int argc, char **argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s KERNELS.CL measure|digest [KERNEL...]\n", argv[0]);
        return 2;
    }
    OpenCl backend(argv[1]);
    const bench::Mode mode = std::strcmp(argv[2], "measure") == 0 ? bench::Mode::measure : bench::Mode::digest;
    bench::Suite<OpenCl>(backend, mode, std::vector<std::string>(argv + 3, argv + argc)).run();
    return 0;
}
