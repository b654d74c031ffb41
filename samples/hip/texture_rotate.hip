// Turns a picture: a texture object filters between the picture's elements, and everything outside of it is black.
#include "check.hpp"

#include <algorithm>

constexpr int width = 96, height = 64;
constexpr float angle = 0.5f;

__global__ void rotate(hipTextureObject_t picture, float *out, float cosine, float sine) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    // Around the middle; the centre of an element is at half.
    const float right = x + 0.5f - width / 2, down = y + 0.5f - height / 2;
    const float column = right * cosine - down * sine + width / 2, row = right * sine + down * cosine + height / 2;
    out[y * width + x] = tex2D<float>(picture, column, row);
}

// The same on the host, with double precision weights.
double filtered(const std::vector<unsigned char> &picture, double column, double row) {
    const auto element = [&](int x, int y) {
        return x < 0 || y < 0 || x >= width || y >= height ? 0.0 : picture[y * width + x] / 255.0;
    };
    const int x = static_cast<int>(std::floor(column - 0.5)), y = static_cast<int>(std::floor(row - 0.5));
    const double right = column - 0.5 - x, below = row - 0.5 - y;
    return (element(x, y) * (1 - right) + element(x + 1, y) * right) * (1 - below) +
           (element(x, y + 1) * (1 - right) + element(x + 1, y + 1) * right) * below;
}

int main() {
    int images = 0;
    HIP_CHECK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
    if (!images) {
        std::fprintf(stderr, "texture_rotate: this device has no textures\n");
        return EXIT_FAILURE;
    }
    std::vector<unsigned char> picture(width * height);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            picture[y * width + x] = static_cast<unsigned char>((x / 8 + y / 8) % 2 ? 255 - x : 2 * y);
        }
    }

    const hipChannelFormatDesc channel = hipCreateChannelDesc<unsigned char>();
    hipArray_t array;
    HIP_CHECK(hipMallocArray(&array, &channel, width, height));
    HIP_CHECK(hipMemcpy2DToArray(array, 0, 0, picture.data(), width, width, height, hipMemcpyHostToDevice));

    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    hipTextureDesc description{};
    description.addressMode[0] = description.addressMode[1] = description.addressMode[2] = hipAddressModeBorder;
    description.filterMode = hipFilterModeLinear;
    description.readMode = hipReadModeNormalizedFloat;
    hipTextureObject_t texture;
    HIP_CHECK(hipCreateTextureObject(&texture, &resource, &description, nullptr));

    const float cosine = std::cos(angle), sine = std::sin(angle);
    sample::DeviceBuffer<float> out(width * height);
    rotate<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(texture, out.get(), cosine, sine);
    sample::check_launch();
    const std::vector<float> got = out.read();

    // The texture unit has eight bits for each weight.
    double worst = 0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const double right = x + 0.5 - width / 2, down = y + 0.5 - height / 2;
            const double column = right * cosine - down * sine + width / 2, row = right * sine + down * cosine + height / 2;
            worst = std::max(worst, std::fabs(got[y * width + x] - filtered(picture, column, row)));
        }
    }
    std::printf("texture_rotate: %d by %d elements, largest difference %.4f\n", width, height, worst);
    HIP_CHECK(hipDestroyTextureObject(texture));
    HIP_CHECK(hipFreeArray(array));
    return sample::verdict("texture_rotate", worst < 2.0 / 256);
}
