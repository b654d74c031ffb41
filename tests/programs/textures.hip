// Textures and surfaces against values that the host computes. Targets differ: gfx90a has neither gathers nor levels of detail.
#include "case.hpp"

#include <cstdint>

using sample::DeviceBuffer;

namespace {

bool is_gfx90a() {
    hipDeviceProp_t properties;
    HIP_CHECK(hipGetDeviceProperties(&properties, 0));
    return std::strncmp(properties.gcnArchName, "gfx90a", 6) == 0;
}

// A texture object that destroys itself.
class Texture {
  public:
    Texture(const hipResourceDesc &resource, const hipTextureDesc &texture, const hipResourceViewDesc *view = nullptr) {
        HIP_CHECK(hipCreateTextureObject(&object_, &resource, &texture, view));
    }
    ~Texture() { HIP_CHECK(hipDestroyTextureObject(object_)); }
    Texture(const Texture &) = delete;
    Texture &operator=(const Texture &) = delete;
    hipTextureObject_t get() const { return object_; }

  private:
    hipTextureObject_t object_ = nullptr;
};

hipTextureDesc point(hipTextureReadMode mode = hipReadModeElementType) {
    hipTextureDesc texture{};
    texture.addressMode[0] = texture.addressMode[1] = texture.addressMode[2] = hipAddressModeClamp;
    texture.filterMode = hipFilterModePoint;
    texture.readMode = mode;
    return texture;
}

hipTextureDesc linear(hipTextureReadMode mode = hipReadModeElementType) {
    hipTextureDesc texture = point(mode);
    texture.filterMode = hipFilterModeLinear;
    return texture;
}

// An array filled from packed host values. Sizes of 0 are dimensions that it does not have.
template <typename T> class Array {
  public:
    Array(const std::vector<T> &values, std::size_t width, std::size_t height = 0, std::size_t depth = 0, unsigned flags = 0,
          const hipChannelFormatDesc &desc = hipCreateChannelDesc<T>()) {
        const std::size_t rows = height ? height : 1, slices = depth ? depth : 1;
        REQUIRE(values.size() == width * rows * slices);
        if (depth == 0) {
            HIP_CHECK(hipMallocArray(&array_, &desc, width, height, flags));
            HIP_CHECK(hipMemcpy2DToArray(array_, 0, 0, values.data(), width * sizeof(T), width * sizeof(T), rows, hipMemcpyHostToDevice));
            return;
        }
        HIP_CHECK(hipMalloc3DArray(&array_, &desc, make_hipExtent(width, height, depth), flags));
        hipMemcpy3DParms copy{};
        copy.srcPtr = make_hipPitchedPtr(const_cast<T *>(values.data()), width * sizeof(T), width, rows);
        copy.dstArray = array_;
        copy.extent = make_hipExtent(width, rows, slices);
        copy.kind = hipMemcpyHostToDevice;
        HIP_CHECK(hipMemcpy3D(&copy));
    }
    ~Array() { HIP_CHECK(hipFreeArray(array_)); }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    hipArray_t get() const { return array_; }
    hipResourceDesc resource() const {
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeArray;
        resource.res.array.array = array_;
        return resource;
    }

  private:
    hipArray_t array_ = nullptr;
};

template <typename T> __global__ void fetch(hipTextureObject_t texture, T *out, int first, int count) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) {
        out[index] = tex1Dfetch<T>(texture, first + index);
    }
}

// Reads at given coordinates; `dimensions` is 1, 2, 3, or 10 and 20 for layers of 1 and 2 dimensions, whose layer is in z.
template <typename T> __global__ void sample_at(hipTextureObject_t texture, T *out, const float3 *at, int count, int dimensions) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count) {
        return;
    }
    const float3 p = at[index];
    if (dimensions == 1) {
        out[index] = tex1D<T>(texture, p.x);
    } else if (dimensions == 2) {
        out[index] = tex2D<T>(texture, p.x, p.y);
    } else if (dimensions == 3) {
        out[index] = tex3D<T>(texture, p.x, p.y, p.z);
    } else if (dimensions == 10) {
        out[index] = tex1DLayered<T>(texture, p.x, static_cast<int>(p.z));
    } else {
        out[index] = tex2DLayered<T>(texture, p.x, p.y, static_cast<int>(p.z));
    }
}

template <typename T> std::vector<T> read(hipTextureObject_t texture, const std::vector<float3> &at, int dimensions) {
    DeviceBuffer<float3> coordinates(at);
    DeviceBuffer<T> out(at.size());
    const int count = static_cast<int>(at.size());
    sample_at<T><<<(count + 63) / 64, 64>>>(texture, out.get(), coordinates.get(), count, dimensions);
    sample::check_launch();
    return out.read();
}

// Every element's centre.
std::vector<float3> centres(int width, int height, int depth) {
    std::vector<float3> at;
    for (int z = 0; z < depth; ++z) {
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                at.push_back(make_float3(x + 0.5f, y + 0.5f, z + 0.5f));
            }
        }
    }
    return at;
}

template <typename T> bool same(const std::vector<T> &left, const std::vector<T> &right) {
    return left.size() == right.size() && std::memcmp(left.data(), right.data(), left.size() * sizeof(T)) == 0;
}

template <typename T> std::vector<T> random_values(std::size_t count, unsigned seed) {
    std::vector<T> values(count);
    sample::Random random(seed);
    unsigned char *bytes = reinterpret_cast<unsigned char *>(values.data());
    for (std::size_t at = 0; at < count * sizeof(T); ++at) {
        // Small bytes, so that floats are finite.
        bytes[at] = static_cast<unsigned char>(random.next() >> 26);
    }
    return values;
}

template <typename T> void array_and_memory_read_back(unsigned seed) {
    constexpr int width = 19, height = 7;
    const std::vector<T> values = random_values<T>(width * height, seed);
    const Array<T> array(values, width, height);
    const Texture texture(array.resource(), point());
    REQUIRE(same(read<T>(texture.get(), centres(width, height, 1), 2), values));

    DeviceBuffer<T> buffer(values);
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = buffer.get();
    resource.res.linear.desc = hipCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = values.size() * sizeof(T);
    const Texture flat(resource, point());
    DeviceBuffer<T> out(values.size());
    fetch<T><<<3, 64>>>(flat.get(), out.get(), 0, width * height);
    sample::check_launch();
    REQUIRE(same(out.read(), values));
}

// What the texture unit does in one dimension: two elements and the weight of the second, in 256ths.
struct Axis {
    int first, second;
    float weight;
};
Axis axis(float coordinate, int size) {
    const int fixed = static_cast<int>(std::nearbyint((coordinate - 0.5f) * 256.0f));
    const int first = fixed >> 8;
    const auto clamp = [size](int at) { return at < 0 ? 0 : at >= size ? size - 1 : at; };
    return {clamp(first), clamp(first + 1), static_cast<float>(fixed & 255) / 256.0f};
}

std::vector<float> iota(std::size_t count, float scale) {
    std::vector<float> values(count);
    for (std::size_t at = 0; at < count; ++at) {
        values[at] = static_cast<float>((at * 7919) % 1000) * scale;
    }
    return values;
}

} // namespace

CASE(every_format_reads_back) {
    array_and_memory_read_back<char>(1);
    array_and_memory_read_back<unsigned char>(2);
    array_and_memory_read_back<short>(3);
    array_and_memory_read_back<unsigned short>(4);
    array_and_memory_read_back<int>(5);
    array_and_memory_read_back<unsigned>(6);
    array_and_memory_read_back<float>(7);
    array_and_memory_read_back<char2>(8);
    array_and_memory_read_back<uchar4>(9);
    array_and_memory_read_back<short2>(10);
    array_and_memory_read_back<ushort4>(11);
    array_and_memory_read_back<int2>(12);
    array_and_memory_read_back<uint4>(13);
    array_and_memory_read_back<float2>(14);
    array_and_memory_read_back<float4>(15);
}

CASE(halves_read_as_floats) {
    const std::vector<unsigned short> halves = {0x3c00, 0xc000, 0x3800, 0x7bff, 0x0001, 0x8000, 0x7c00, 0x3555};
    const std::vector<float> want = {1.0f, -2.0f, 0.5f, 65504.0f, 5.9604645e-8f, -0.0f, INFINITY, 0.333251953125f};
    const hipChannelFormatDesc desc = hipCreateChannelDesc(16, 0, 0, 0, hipChannelFormatKindFloat);
    hipArray_t array;
    HIP_CHECK(hipMallocArray(&array, &desc, halves.size(), 1, hipArrayDefault));
    HIP_CHECK(hipMemcpy2DToArray(array, 0, 0, halves.data(), 16, 16, 1, hipMemcpyHostToDevice));
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    {
        const Texture texture(resource, point());
        REQUIRE(same(read<float>(texture.get(), centres(8, 1, 1), 2), want));
    }
    HIP_CHECK(hipFreeArray(array));
}

CASE(normalised_reads_give_fractions) {
    const std::vector<unsigned char> bytes = {0, 1, 51, 127, 128, 254, 255};
    const Array<unsigned char> unsigned_array(bytes, bytes.size(), 1);
    const Texture unsigned_texture(unsigned_array.resource(), point(hipReadModeNormalizedFloat));
    const std::vector<float> fractions = read<float>(unsigned_texture.get(), centres(7, 1, 1), 2);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        REQUIRE(fractions[at] == bytes[at] / 255.0f);
    }
    const std::vector<short> shorts = {-32768, -32767, -16384, 0, 1, 32766, 32767};
    const Array<short> signed_array(shorts, shorts.size());
    const Texture signed_texture(signed_array.resource(), point(hipReadModeNormalizedFloat));
    const std::vector<float> signed_fractions = read<float>(signed_texture.get(), centres(7, 1, 1), 1);
    for (std::size_t at = 0; at < shorts.size(); ++at) {
        REQUIRE(signed_fractions[at] == std::fmax(shorts[at] / 32767.0f, -1.0f));
    }
}

CASE(memory_is_fetched_by_index) {
    const std::vector<float> values = iota(1000, 0.25f);
    DeviceBuffer<float> buffer(values);
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = buffer.get();
    resource.res.linear.desc = hipCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 900 * sizeof(float);
    const Texture texture(resource, point());
    DeviceBuffer<float> out(1000);
    fetch<float><<<16, 64>>>(texture.get(), out.get(), 0, 900);
    sample::check_launch();
    const std::vector<float> got = out.read();
    for (int at = 0; at < 900; ++at) {
        REQUIRE(got[at] == values[at]);
    }
    // Bytes as fractions.
    const std::vector<uchar4> colours = random_values<uchar4>(64, 3);
    DeviceBuffer<uchar4> colour_buffer(colours);
    resource.res.linear.devPtr = colour_buffer.get();
    resource.res.linear.desc = hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
    resource.res.linear.sizeInBytes = 64 * sizeof(uchar4);
    const Texture colour_texture(resource, point(hipReadModeNormalizedFloat));
    DeviceBuffer<float4> fractions(64);
    fetch<float4><<<1, 64>>>(colour_texture.get(), fractions.get(), 0, 64);
    sample::check_launch();
    const std::vector<float4> got_fractions = fractions.read();
    for (int at = 0; at < 64; ++at) {
        REQUIRE(got_fractions[at].x == colours[at].x / 255.0f && got_fractions[at].w == colours[at].w / 255.0f);
    }
}

// Indexes out of range give 0.
CASE(fetches_past_the_end_give_zero) {
    const std::vector<float> values = iota(256, 1.0f);
    DeviceBuffer<float> buffer(values);
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = buffer.get();
    resource.res.linear.desc = hipCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 100 * sizeof(float);
    const Texture texture(resource, point());
    DeviceBuffer<float> out(64);
    fetch<float><<<1, 64>>>(texture.get(), out.get(), 68, 64);
    sample::check_launch();
    const std::vector<float> got = out.read();
    for (int at = 0; at < 64; ++at) {
        REQUIRE(got[at] == (at < 32 ? values[68 + at] : 0.0f));
    }
}

CASE(linear_filters_weigh_by_distance) {
    constexpr int width = 13, height = 9;
    const std::vector<float> values = iota(width * height, 0.5f);
    const Array<float> array(values, width, height);
    const Texture texture(array.resource(), linear());
    std::vector<float3> at;
    sample::Random random(11);
    for (int index = 0; index < 500; ++index) {
        at.push_back(make_float3(random.uniform(-2.0f, width + 2.0f), random.uniform(-2.0f, height + 2.0f), 0.0f));
    }
    const std::vector<float> got = read<float>(texture.get(), at, 2);
    for (std::size_t index = 0; index < at.size(); ++index) {
        const Axis x = axis(at[index].x, width), y = axis(at[index].y, height);
        const auto value = [&](int column, int row) { return values[row * width + column]; };
        const float top = value(x.first, y.first) * (1 - x.weight) + value(x.second, y.first) * x.weight;
        const float bottom = value(x.first, y.second) * (1 - x.weight) + value(x.second, y.second) * x.weight;
        REQUIRE(sample::close(got[index], top * (1 - y.weight) + bottom * y.weight, 1e-5, 1e-4));
    }
    // One dimension, normalised coordinates, bytes as fractions.
    const std::vector<unsigned char> bytes = {0, 255, 0, 51};
    const Array<unsigned char> row(bytes, 4);
    hipTextureDesc desc = linear(hipReadModeNormalizedFloat);
    desc.normalizedCoords = 1;
    const Texture row_texture(row.resource(), desc);
    const std::vector<float> half_way =
        read<float>(row_texture.get(), {make_float3(0.25f, 0, 0), make_float3(0.4375f, 0, 0), make_float3(0.0f, 0, 0)}, 1);
    REQUIRE(half_way[0] == 0.5f && half_way[1] == 0.75f && half_way[2] == 0.0f);
}

CASE(address_modes_bring_coordinates_into_range) {
    constexpr int size = 8;
    const std::vector<float> values = iota(size * size, 1.0f);
    const Array<float> array(values, size, size);
    const hipTextureAddressMode modes[] = {hipAddressModeWrap, hipAddressModeClamp, hipAddressModeMirror, hipAddressModeBorder};
    for (const hipTextureAddressMode mode : modes) {
        for (const int normalised : {0, 1}) {
            hipTextureDesc desc = point();
            desc.addressMode[0] = desc.addressMode[1] = desc.addressMode[2] = mode;
            desc.normalizedCoords = normalised;
            const Texture texture(array.resource(), desc);
            std::vector<float3> at;
            std::vector<float> want;
            for (int y = -20; y < 28; y += 3) {
                for (int x = -20; x < 28; ++x) {
                    const float scale = normalised ? 1.0f / size : 1.0f;
                    at.push_back(make_float3((x + 0.5f) * scale, (y + 0.5f) * scale, 0.0f));
                    const auto place = [&](int position) {
                        // Wrapping and mirroring need normalised coordinates.
                        if (mode == hipAddressModeWrap && normalised) {
                            return ((position % size) + size) % size;
                        }
                        if (mode == hipAddressModeMirror && normalised) {
                            const int turn = ((position % (2 * size)) + 2 * size) % (2 * size);
                            return turn < size ? turn : 2 * size - 1 - turn;
                        }
                        if (mode == hipAddressModeBorder) {
                            return position < 0 || position >= size ? -1 : position;
                        }
                        return position < 0 ? 0 : position >= size ? size - 1 : position;
                    };
                    const int column = place(x), row = place(y);
                    want.push_back(column < 0 || row < 0 ? 0.0f : values[row * size + column]);
                }
            }
            REQUIRE(same(read<float>(texture.get(), at, 2), want));
        }
    }
}

// Each dimension has its own mode. AMD's runtimes before ROCm 7 use that of the first.
CASE(each_dimension_has_its_address_mode) {
    constexpr int size = 4;
    const std::vector<float> values = iota(size * size, 1.0f);
    const Array<float> array(values, size, size);
    hipTextureDesc desc = point();
    desc.normalizedCoords = 1;
    desc.addressMode[0] = hipAddressModeWrap;
    desc.addressMode[1] = hipAddressModeBorder;
    const Texture texture(array.resource(), desc);
    const std::vector<float> got = read<float>(texture.get(), {make_float3(1.375f, 0.375f, 0), make_float3(0.375f, 1.375f, 0)}, 2);
    REQUIRE(got[0] == values[1 * size + 1] && got[1] == 0.0f);
}

CASE(volumes_and_layers) {
    constexpr int width = 6, height = 5, depth = 4;
    const std::vector<float> values = iota(width * height * depth, 1.0f);
    const Array<float> volume(values, width, height, depth);
    const Texture volume_texture(volume.resource(), point());
    REQUIRE(same(read<float>(volume_texture.get(), centres(width, height, depth), 3), values));

    const Array<float> layers(values, width, height, depth, hipArrayLayered);
    const Texture layers_texture(layers.resource(), point());
    REQUIRE(same(read<float>(layers_texture.get(), centres(width, height, depth), 20), values));

    if (!is_gfx90a()) {
        const Texture filtered(volume.resource(), linear());
        const std::vector<float> got = read<float>(filtered.get(), {make_float3(2.5f, 1.5f, 2.0f), make_float3(3.0f, 2.0f, 1.0f)}, 3);
        const auto value = [&](int x, int y, int z) { return values[(z * height + y) * width + x]; };
        REQUIRE(got[0] == (value(2, 1, 1) + value(2, 1, 2)) / 2);
        float sum = 0;
        for (int corner = 0; corner < 8; ++corner) {
            sum += value(2 + (corner & 1), 1 + (corner >> 1 & 1), corner >> 2);
        }
        REQUIRE(sample::close(got[1], sum / 8, 1e-6, 1e-5));
        // Layers are not filtered.
        const Texture flat(layers.resource(), linear());
        const std::vector<float> between = read<float>(flat.get(), {make_float3(3.0f, 1.5f, 2.0f)}, 20);
        REQUIRE(between[0] == (value(2, 1, 2) + value(3, 1, 2)) / 2);
    }
}

CASE(layers_of_one_dimension) {
    constexpr int width = 9, layers = 3;
    const std::vector<float> values = iota(width * layers, 1.0f);
    const hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
    hipArray_t array;
    HIP_CHECK(hipMalloc3DArray(&array, &desc, make_hipExtent(width, 0, layers), hipArrayLayered));
    hipMemcpy3DParms copy{};
    copy.srcPtr = make_hipPitchedPtr(const_cast<float *>(values.data()), width * sizeof(float), width, 1);
    copy.dstArray = array;
    copy.extent = make_hipExtent(width, 1, layers);
    copy.kind = hipMemcpyHostToDevice;
    HIP_CHECK(hipMemcpy3D(&copy));
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    {
        const Texture texture(resource, point());
        REQUIRE(same(read<float>(texture.get(), centres(width, 1, layers), 10), values));
    }
    HIP_CHECK(hipFreeArray(array));
}

CASE(rows_of_memory) {
    constexpr int width = 21, height = 10;
    const std::vector<float2> values = random_values<float2>(width * height, 5);
    float2 *memory = nullptr;
    std::size_t pitch = 0;
    HIP_CHECK(hipMallocPitch(reinterpret_cast<void **>(&memory), &pitch, width * sizeof(float2), height));
    REQUIRE(pitch % 256 == 0);
    HIP_CHECK(hipMemcpy2D(memory, pitch, values.data(), width * sizeof(float2), width * sizeof(float2), height, hipMemcpyHostToDevice));
    hipResourceDesc resource{};
    resource.resType = hipResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.desc = hipCreateChannelDesc<float2>();
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    {
        const Texture texture(resource, point());
        REQUIRE(same(read<float2>(texture.get(), centres(width, height, 1), 2), values));
    }
    HIP_CHECK(hipFree(memory));
}

// A view with another format of the same size.
CASE(views_change_the_format) {
    const std::vector<float> values = {1.0f, -2.0f, 0.5f, 3.0f};
    const Array<float> array(values, 4, 1);
    hipResourceViewDesc view{};
    view.format = hipResViewFormatUnsignedInt1;
    view.width = 4;
    view.height = 1;
    const Texture texture(array.resource(), point(), &view);
    const std::vector<unsigned> got = read<unsigned>(texture.get(), centres(4, 1, 1), 2);
    REQUIRE(std::memcmp(got.data(), values.data(), 16) == 0);
}

CASE(srgb_is_decoded) {
    const std::vector<uchar4> values = {make_uchar4(0, 255, 188, 128), make_uchar4(10, 11, 100, 255)};
    // The header of HIP 5 calls uchar4 signed.
    const Array<uchar4> array(values, 2, 1, 0, hipArrayDefault, hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned));
    hipTextureDesc desc = point(hipReadModeNormalizedFloat);
    desc.sRGB = 1;
    const Texture texture(array.resource(), desc);
    const std::vector<float4> got = read<float4>(texture.get(), centres(2, 1, 1), 2);
    const auto decode = [](int byte) {
        const double value = byte / 255.0;
        return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    for (int at = 0; at < 2; ++at) {
        REQUIRE(sample::close(got[at].x, decode(values[at].x), 1e-5, 1e-6));
        REQUIRE(sample::close(got[at].y, decode(values[at].y), 1e-5, 1e-6));
        REQUIRE(sample::close(got[at].z, decode(values[at].z), 1e-5, 1e-6));
        REQUIRE(got[at].w == values[at].w / 255.0f);
    }
}

#if !defined(__HIP_DEVICE_COMPILE__) || !defined(__gfx90a__)
#define WITH_LEVELS 1
#endif

__global__ void gather(hipTextureObject_t texture, float4 *out, float x, float y) {
#ifdef WITH_LEVELS
    // The headers of HIP count components from 1.
    *out = tex2Dgather<float4>(texture, x, y, 1);
#endif
}

__global__ void levels(hipTextureObject_t texture, float *out, float x, float y) {
#ifdef WITH_LEVELS
    out[0] = tex2DLod<float>(texture, x, y, 0.0f);
    out[1] = tex2DGrad<float>(texture, x, y, make_float2(0.1f, 0.2f), make_float2(0.3f, 0.4f));
#endif
}

CASE(gathers_levels_and_gradients) {
    if (is_gfx90a()) {
        return;
    }
    constexpr int size = 8;
    const std::vector<float> values = iota(size * size, 1.0f);
    const Array<float> array(values, size, size);
    const Texture texture(array.resource(), point());
    DeviceBuffer<float4> corners(1);
    gather<<<1, 1>>>(texture.get(), corners.get(), 3.0f, 5.0f);
    sample::check_launch();
    const float4 got = corners.read()[0];
    const auto value = [&](int x, int y) { return values[y * size + x]; };
    REQUIRE(got.x == value(2, 5) && got.y == value(3, 5) && got.z == value(3, 4) && got.w == value(2, 4));
    DeviceBuffer<float> out(2);
    levels<<<1, 1>>>(texture.get(), out.get(), 3.5f, 5.5f);
    sample::check_launch();
    REQUIRE(out.read()[0] == value(3, 5) && out.read()[1] == value(3, 5));
}

template <typename T> __global__ void copy_surface(hipSurfaceObject_t from, hipSurfaceObject_t to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    T value;
    surf2Dread(&value, from, x * static_cast<int>(sizeof(T)), y);
    surf2Dwrite(value, to, (width - 1 - x) * static_cast<int>(sizeof(T)), y);
}

template <typename T> void surfaces_mirror(unsigned seed, unsigned flags) {
    constexpr int width = 20, height = 6;
    const std::vector<T> values = random_values<T>(width * height, seed);
    const Array<T> from(values, width, height, 0, flags), to(std::vector<T>(width * height), width, height, 0, flags);
    hipSurfaceObject_t read_surface, write_surface;
    const hipResourceDesc from_resource = from.resource(), to_resource = to.resource();
    HIP_CHECK(hipCreateSurfaceObject(&read_surface, &from_resource));
    HIP_CHECK(hipCreateSurfaceObject(&write_surface, &to_resource));
    // More threads than elements: writes out of range are dropped.
    copy_surface<T><<<dim3(1, height + 2), 64>>>(read_surface, write_surface, width, height);
    sample::check_launch();
    std::vector<T> got(width * height);
    const std::size_t row = width * sizeof(T);
    HIP_CHECK(hipMemcpy2DFromArray(got.data(), row, to.get(), 0, 0, row, height, hipMemcpyDeviceToHost));
    // An array ends where its elements do, wherever the next row begins.
    EXPECT_ERROR(hipMemcpy2DToArray(to.get(), sizeof(T), 0, got.data(), row, row, 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpy2DToArray(to.get(), 0, 1, got.data(), row, row, height, hipMemcpyHostToDevice), hipErrorInvalidValue);
    EXPECT_ERROR(hipMemcpy2DFromArray(got.data(), row, to.get(), sizeof(T), 0, row, 1, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            REQUIRE(std::memcmp(&got[y * width + x], &values[y * width + width - 1 - x], sizeof(T)) == 0);
        }
    }
    HIP_CHECK(hipDestroySurfaceObject(read_surface));
    HIP_CHECK(hipDestroySurfaceObject(write_surface));
}

CASE(surfaces_are_read_and_written) {
    surfaces_mirror<float>(1, hipArrayDefault);
    surfaces_mirror<float2>(2, hipArrayDefault);
    surfaces_mirror<float4>(3, hipArrayDefault);
}

// AMD's runtime of HIP 5.2 does not make such arrays.
CASE(arrays_for_surfaces) {
    surfaces_mirror<float>(4, hipArraySurfaceLoadStore);
    const Array<float> gathered(iota(4, 1.0f), 2, 2, 0, hipArrayTextureGather);
    const hipResourceDesc resource = gathered.resource();
    hipSurfaceObject_t surface = nullptr;
    EXPECT_ERROR(hipCreateSurfaceObject(&surface, &resource), hipErrorInvalidValue);
}

__global__ void fill_volume(hipSurfaceObject_t surface, hipSurfaceObject_t line, float *out) {
    const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    surf3Dwrite(100.0f * z + 10.0f * y + x, surface, x * 4, y, z);
    if (y == 0 && z == 0) {
        surf1Dwrite(7.0f + x, line, x * 4);
        surf1Dread(&out[x], line, x * 4);
    }
}

CASE(surfaces_of_one_and_three_dimensions) {
    constexpr int width = 4, height = 3, depth = 2;
    const Array<float> volume(std::vector<float>(width * height * depth), width, height, depth);
    const Array<float> line(std::vector<float>(width), width);
    hipSurfaceObject_t volume_surface, line_surface;
    const hipResourceDesc volume_resource = volume.resource(), line_resource = line.resource();
    HIP_CHECK(hipCreateSurfaceObject(&volume_surface, &volume_resource));
    HIP_CHECK(hipCreateSurfaceObject(&line_surface, &line_resource));
    DeviceBuffer<float> out(width);
    fill_volume<<<dim3(height, depth), width>>>(volume_surface, line_surface, out.get());
    sample::check_launch();
    REQUIRE((out.read() == std::vector<float>{7, 8, 9, 10}));
    // The same array as a texture.
    const Texture texture(volume.resource(), point());
    const std::vector<float> got = read<float>(texture.get(), centres(width, height, depth), 3);
    for (int at = 0; at < width * height * depth; ++at) {
        const int x = at % width, y = at / width % height, z = at / width / height;
        REQUIRE(got[at] == 100.0f * z + 10.0f * y + x);
    }
    HIP_CHECK(hipDestroySurfaceObject(volume_surface));
    HIP_CHECK(hipDestroySurfaceObject(line_surface));
}

texture<float, hipTextureType1D, hipReadModeElementType> line_reference;
texture<float, hipTextureType2D, hipReadModeElementType> plane_reference;
texture<unsigned char, hipTextureType2D, hipReadModeNormalizedFloat> fraction_reference;

__global__ void read_references(float *out, int count, bool rows) {
    const int index = threadIdx.x;
    if (index < count) {
        out[index] = rows ? tex2D(plane_reference, index % 8 + 0.5f, index / 8 + 0.5f) : tex1Dfetch(line_reference, index);
    }
}

__global__ void read_fractions(float *out) { out[threadIdx.x] = tex2D(fraction_reference, threadIdx.x + 0.5f, 0.5f); }

CASE(references_are_bound_to_memory_and_arrays) {
    const std::vector<float> values = iota(64, 1.0f);
    DeviceBuffer<float> buffer(values), out(64);
    std::size_t offset = 77;
    HIP_CHECK(hipBindTexture(&offset, &line_reference, buffer.get(), &line_reference.channelDesc, 64 * sizeof(float)));
    REQUIRE(offset == 0 && line_reference.textureObject != nullptr);
    read_references<<<1, 64>>>(out.get(), 64, false);
    sample::check_launch();
    REQUIRE(out.read() == values);

    float *rows = nullptr;
    std::size_t pitch = 0;
    HIP_CHECK(hipMallocPitch(reinterpret_cast<void **>(&rows), &pitch, 8 * sizeof(float), 8));
    HIP_CHECK(hipMemcpy2D(rows, pitch, values.data(), 32, 32, 8, hipMemcpyHostToDevice));
    HIP_CHECK(hipBindTexture2D(&offset, &plane_reference, rows, &plane_reference.channelDesc, 8, 8, pitch));
    read_references<<<1, 64>>>(out.get(), 64, true);
    sample::check_launch();
    REQUIRE(out.read() == values);

    std::vector<float> reversed(values.rbegin(), values.rend());
    {
        const Array<float> array(reversed, 8, 8);
        HIP_CHECK(hipBindTextureToArray(&plane_reference, array.get(), &plane_reference.channelDesc));
        read_references<<<1, 64>>>(out.get(), 64, true);
        sample::check_launch();
        REQUIRE(out.read() == reversed);
        HIP_CHECK(hipUnbindTexture(&plane_reference));
        REQUIRE(plane_reference.textureObject == nullptr);
    }
    {
        const std::vector<unsigned char> bytes = {0, 51, 255, 102};
        const Array<unsigned char> array(bytes, 4, 1);
        HIP_CHECK(hipBindTextureToArray(fraction_reference, array.get()));
        read_fractions<<<1, 4>>>(out.get());
        sample::check_launch();
        const std::vector<float> got = out.read();
        REQUIRE(got[0] == 0.0f && got[1] == 0.2f && got[2] == 1.0f && got[3] == 0.4f);
        HIP_CHECK(hipUnbindTexture(&fraction_reference));
    }
    const textureReference *found = nullptr;
    HIP_CHECK(hipGetTextureReference(&found, &line_reference));
    REQUIRE(found == &line_reference);
    HIP_CHECK(hipUnbindTexture(&line_reference));
    HIP_CHECK(hipFree(rows));
}

CASE(descriptions_are_given_back) {
    const Array<float> array(iota(12, 1.0f), 4, 3);
    hipTextureDesc desc = linear();
    desc.addressMode[1] = desc.addressMode[2] = desc.addressMode[0] = hipAddressModeBorder;
    desc.normalizedCoords = 1;
    const Texture texture(array.resource(), desc);
    hipResourceDesc resource{};
    HIP_CHECK(hipGetTextureObjectResourceDesc(&resource, texture.get()));
    REQUIRE(resource.resType == hipResourceTypeArray && resource.res.array.array == array.get());
    hipTextureDesc back{};
    HIP_CHECK(hipGetTextureObjectTextureDesc(&back, texture.get()));
    REQUIRE(std::memcmp(&back, &desc, sizeof desc) == 0);
    hipResourceViewDesc view{};
    HIP_CHECK(hipGetTextureObjectResourceViewDesc(&view, texture.get()));
    REQUIRE(view.format == hipResViewFormatNone);

    // The driver's descriptions.
    HIP_RESOURCE_DESC driver_resource{};
    driver_resource.resType = HIP_RESOURCE_TYPE_ARRAY;
    driver_resource.res.array.hArray = array.get();
    HIP_TEXTURE_DESC driver_texture{};
    driver_texture.addressMode[0] = driver_texture.addressMode[1] = driver_texture.addressMode[2] = HIP_TR_ADDRESS_MODE_CLAMP;
    driver_texture.filterMode = HIP_TR_FILTER_MODE_POINT;
    driver_texture.flags = HIP_TRSF_READ_AS_INTEGER;
    hipTextureObject_t object = nullptr;
    HIP_CHECK(hipTexObjectCreate(&object, &driver_resource, &driver_texture, nullptr));
    REQUIRE(same(read<float>(object, centres(4, 3, 1), 2), iota(12, 1.0f)));
    HIP_TEXTURE_DESC driver_back{};
    HIP_CHECK(hipTexObjectGetTextureDesc(&driver_back, object));
    REQUIRE(driver_back.flags == HIP_TRSF_READ_AS_INTEGER && driver_back.addressMode[0] == HIP_TR_ADDRESS_MODE_CLAMP);
    HIP_RESOURCE_DESC resource_back{};
    HIP_CHECK(hipTexObjectGetResourceDesc(&resource_back, object));
    REQUIRE(resource_back.res.array.hArray == array.get());
    HIP_CHECK(hipTexObjectDestroy(object));
}

CASE(attributes_tell_the_limits) {
    const auto attribute = [](hipDeviceAttribute_t which) {
        int value = -1;
        HIP_CHECK(hipDeviceGetAttribute(&value, which, 0));
        return value;
    };
    REQUIRE(attribute(hipDeviceAttributeImageSupport) == 1);
    REQUIRE(attribute(hipDeviceAttributeMaxTexture1DWidth) == 16384);
    REQUIRE(attribute(hipDeviceAttributeMaxTexture2DWidth) == 16384);
    REQUIRE(attribute(hipDeviceAttributeMaxTexture2DHeight) == 16384);
    REQUIRE(attribute(hipDeviceAttributeMaxTexture3DWidth) == 16384);
    REQUIRE(attribute(hipDeviceAttributeMaxTexture3DDepth) == 8192);
    REQUIRE(attribute(hipDeviceAttributeTextureAlignment) == 256);
    REQUIRE(attribute(hipDeviceAttributeTexturePitchAlignment) == 256);
    const hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
    hipArray_t array = nullptr;
    EXPECT_ERROR(hipMallocArray(&array, &desc, 16385, 1, hipArrayDefault), hipErrorInvalidValue);
    EXPECT_ERROR(hipMalloc3DArray(&array, &desc, make_hipExtent(2, 2, 8193), hipArrayDefault), hipErrorInvalidValue);
}

// References of a module, whose file is the case's argument.
CASE(references_of_a_module) {
    hipModule_t module;
    HIP_CHECK(hipModuleLoad(&module, sample::argument(0)));
    hipFunction_t kernel;
    HIP_CHECK(hipModuleGetFunction(&kernel, module, "read_plane"));
    textureReference *reference = nullptr;
    EXPECT_ERROR(hipModuleGetTexRef(&reference, module, "no_such_texture"), hipErrorNotFound);
    HIP_CHECK(hipModuleGetTexRef(&reference, module, "plane"));
    HIP_CHECK(hipTexRefSetFormat(reference, HIP_AD_FORMAT_FLOAT, 1));
    hipArray_Format format;
    int channels = 0;
    HIP_CHECK(hipTexRefGetFormat(&format, &channels, reference));
    REQUIRE(format == HIP_AD_FORMAT_FLOAT && channels == 1);
    HIP_CHECK(hipTexRefSetAddressMode(reference, 0, hipAddressModeClamp));
    HIP_CHECK(hipTexRefSetAddressMode(reference, 1, hipAddressModeClamp));
    HIP_CHECK(hipTexRefSetFilterMode(reference, hipFilterModePoint));
    HIP_CHECK(hipTexRefSetFlags(reference, HIP_TRSF_READ_AS_INTEGER));

    const std::vector<float> values = iota(64, 1.0f);
    DeviceBuffer<float> out(64);
    float *out_pointer = out.get();
    void *arguments[] = {&out_pointer};
    {
        const Array<float> array(values, 8, 8);
        HIP_CHECK(hipTexRefSetArray(reference, array.get(), HIP_TRSA_OVERRIDE_FORMAT));
        HIP_CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
        REQUIRE(out.read() == values);
        hipResourceDesc bound{};
        HIP_CHECK(hipGetTextureObjectResourceDesc(&bound, reference->textureObject));
        REQUIRE(bound.res.array.array == array.get());
    }
    std::vector<float> reversed(values.rbegin(), values.rend());
    float *rows = nullptr;
    std::size_t pitch = 0;
    HIP_CHECK(hipMallocPitch(reinterpret_cast<void **>(&rows), &pitch, 32, 8));
    HIP_CHECK(hipMemcpy2D(rows, pitch, reversed.data(), 32, 32, 8, hipMemcpyHostToDevice));
    const HIP_ARRAY_DESCRIPTOR desc = {8, 8, HIP_AD_FORMAT_FLOAT, 1};
    HIP_CHECK(hipTexRefSetAddress2D(reference, &desc, rows, pitch));
    HIP_CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
    REQUIRE(out.read() == reversed);
    hipDeviceptr_t address = nullptr;
    HIP_CHECK(hipTexRefGetAddress(&address, reference));
    REQUIRE(address == rows);
    HIP_CHECK(hipModuleUnload(module));
    HIP_CHECK(hipFree(rows));
}

CASE(bad_textures_are_refused) {
    const Array<float> array(iota(12, 1.0f), 4, 3);
    hipResourceDesc resource = array.resource();
    hipTextureDesc desc = point();
    hipTextureObject_t object = nullptr;
    EXPECT_ERROR(hipCreateTextureObject(nullptr, &resource, &desc, nullptr), hipErrorInvalidValue);
    EXPECT_ERROR(hipCreateTextureObject(&object, nullptr, &desc, nullptr), hipErrorInvalidValue);
    EXPECT_ERROR(hipCreateTextureObject(&object, &resource, nullptr, nullptr), hipErrorInvalidValue);
    resource.res.array.array = nullptr;
    EXPECT_ERROR(hipCreateTextureObject(&object, &resource, &desc, nullptr), hipErrorInvalidValue);
    resource = array.resource();
    desc.maxAnisotropy = 4;
    EXPECT_ERROR(hipCreateTextureObject(&object, &resource, &desc, nullptr), hipErrorNotSupported);
    desc = point();

    DeviceBuffer<float> buffer(256);
    hipResourceDesc memory{};
    memory.resType = hipResourceTypeLinear;
    memory.res.linear.devPtr = buffer.get() + 1;
    memory.res.linear.desc = hipCreateChannelDesc<float>();
    memory.res.linear.sizeInBytes = 64;
    EXPECT_ERROR(hipCreateTextureObject(&object, &memory, &desc, nullptr), hipErrorInvalidValue);
    hipResourceViewDesc view{};
    view.format = hipResViewFormatFloat1;
    memory.res.linear.devPtr = buffer.get();
    EXPECT_ERROR(hipCreateTextureObject(&object, &memory, &desc, &view), hipErrorInvalidValue);
    memory.resType = hipResourceTypePitch2D;
    memory.res.pitch2D.devPtr = buffer.get();
    memory.res.pitch2D.desc = hipCreateChannelDesc<float>();
    memory.res.pitch2D.width = 4;
    memory.res.pitch2D.height = 2;
    memory.res.pitch2D.pitchInBytes = 100;
    EXPECT_ERROR(hipCreateTextureObject(&object, &memory, &desc, nullptr), hipErrorInvalidValue);
    HIP_CHECK(hipDestroyTextureObject(nullptr));

    hipSurfaceObject_t surface = nullptr;
    EXPECT_ERROR(hipCreateSurfaceObject(nullptr, &resource), hipErrorInvalidValue);
    EXPECT_ERROR(hipCreateSurfaceObject(&surface, &memory), hipErrorInvalidValue);
    EXPECT_ERROR(hipGetTextureObjectTextureDesc(&desc, nullptr), hipErrorInvalidValue);
}

// What AMD's runtime does not look at.
CASE(memory_that_is_too_short_is_refused) {
    DeviceBuffer<float> buffer(256);
    hipResourceDesc memory{};
    memory.resType = hipResourceTypeLinear;
    memory.res.linear.devPtr = buffer.get();
    memory.res.linear.desc = hipCreateChannelDesc<float>();
    memory.res.linear.sizeInBytes = 257 * sizeof(float);
    hipTextureDesc desc = point();
    hipTextureObject_t object = nullptr;
    EXPECT_ERROR(hipCreateTextureObject(&object, &memory, &desc, nullptr), hipErrorInvalidValue);
    memory.res.linear.sizeInBytes = 256 * sizeof(float);
    HIP_CHECK(hipCreateTextureObject(&object, &memory, &desc, nullptr));
    HIP_CHECK(hipDestroyTextureObject(object));
    EXPECT_ERROR(hipDestroyTextureObject(object), hipErrorInvalidValue);
    const Array<float> array(iota(12, 1.0f), 4, 3);
    hipResourceViewDesc view{};
    view.format = hipResViewFormatFloat2;
    const hipResourceDesc resource = array.resource();
    EXPECT_ERROR(hipCreateTextureObject(&object, &resource, &desc, &view), hipErrorInvalidValue);
    if (is_gfx90a()) {
        const Array<float> volume(iota(8, 1.0f), 2, 2, 2);
        const hipResourceDesc volume_resource = volume.resource();
        desc = linear();
        EXPECT_ERROR(hipCreateTextureObject(&object, &volume_resource, &desc, nullptr), hipErrorNotSupported);
    }
}

// A surface reference, as the compiler knows one; HIP's headers have no such template.
template <typename T, int type> struct __attribute__((device_builtin_surface_type)) surface : surfaceReference {};
surface<void, 2> plane;

__global__ void number_plane() { surf2Dwrite(float(threadIdx.x + 10 * threadIdx.y), plane.surfaceObject, threadIdx.x * 4, threadIdx.y); }

// Nothing of HIP binds a surface reference, but it is a variable of the program: a handle that is copied into it is there for kernels.
CASE(a_surface_reference_holds_a_handle) {
    constexpr int width = 8, height = 4;
    void *address = nullptr;
    std::size_t size = 0;
    HIP_CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(plane)));
    HIP_CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(plane)));
    REQUIRE(size == sizeof(surfaceReference) && address != nullptr);
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    const hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
    HIP_CHECK(hipMallocArray(&resource.res.array.array, &desc, width, height, hipArrayDefault));
    hipSurfaceObject_t object = nullptr;
    HIP_CHECK(hipCreateSurfaceObject(&object, &resource));
    HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(plane), &object, sizeof object));
    number_plane<<<1, dim3(width, height)>>>();
    HIP_CHECK(hipDeviceSynchronize());
    std::vector<float> values(width * height);
    HIP_CHECK(hipMemcpy2DFromArray(values.data(), width * 4, resource.res.array.array, 0, 0, width * 4, height, hipMemcpyDeviceToHost));
    for (int at = 0; at < width * height; ++at) {
        REQUIRE(values[at] == at % width + 10 * (at / width));
    }
    HIP_CHECK(hipDestroySurfaceObject(object));
    HIP_CHECK(hipFreeArray(resource.res.array.array));
}

CASE(a_surface_reference_is_no_texture_reference) {
    const textureReference *reference = nullptr;
    EXPECT_ERROR(hipGetTextureReference(&reference, &plane), hipErrorInvalidValue);
}
