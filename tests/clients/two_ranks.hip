// Two ranks under MPI, each with a GPU of its own: the second copies from the first's memory and back, by its handle, device to device.
#include "check.hpp" // of the samples

#include <mpi.h>

#include <string>

namespace {

__global__ void add(int *values, int amount, int length) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < length) {
        values[index] += amount;
    }
}

void require(bool condition, const char *what) {
    if (!condition) {
        std::fprintf(stderr, "not true: %s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

} // namespace

int main(int argc, char **argv) {
    constexpr int length = 100000;
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    require(ranks == 2, "there are two ranks");
    setenv("HIP_VISIBLE_DEVICES", std::to_string(rank).c_str(), 1);
    int devices = 0;
    HIP_CHECK(hipGetDeviceCount(&devices));
    require(devices == 1, "a rank sees one device");
    sample::DeviceBuffer<int> own(std::vector<int>(length, 10 * (rank + 1)));
    hipIpcMemHandle_t handle;
    if (rank == 0) {
        add<<<length / 256 + 1, 256>>>(own.get(), 5, length);
        HIP_CHECK(hipDeviceSynchronize());
        HIP_CHECK(hipIpcGetMemHandle(&handle, own.get()));
        MPI_Send(&handle, sizeof handle, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        require(own.read() == std::vector<int>(length, 15 + 20), "the second rank has added its own numbers");
    } else {
        MPI_Recv(&handle, sizeof handle, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int *other = nullptr;
        HIP_CHECK(hipIpcOpenMemHandle(reinterpret_cast<void **>(&other), handle, hipIpcMemLazyEnablePeerAccess));
        HIP_CHECK(hipMemcpy(own.get(), other, length * sizeof(int), hipMemcpyDeviceToDevice));
        require(own.read() == std::vector<int>(length, 15), "the first rank's numbers");
        add<<<length / 256 + 1, 256>>>(own.get(), 20, length);
        HIP_CHECK(hipMemcpy(other, own.get(), length * sizeof(int), hipMemcpyDeviceToDevice));
        HIP_CHECK(hipDeviceSynchronize());
        HIP_CHECK(hipIpcCloseMemHandle(other));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (rank == 0) {
        std::printf("PASSED\n");
    }
    return 0;
}
