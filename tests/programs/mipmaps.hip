// Mipmapped arrays and cube maps against values that the host computes. gfx90a has neither levels of detail nor samples of cubes: there the cases
// that need them do nothing.
#include "case.hpp"

#include <cmath>
#include <cstdint>

// HIP's header declares it, and the library that hipcc 5.2 links does not have it.
#pragma weak hipTexRefGetMipMappedArray

using sample::DeviceBuffer;

// Whether the code is for a card that has levels of detail.
#if defined(__gfx90a__)
#define SAMPLES 0
#else
#define SAMPLES 1
#endif

namespace {

bool is_gfx90a() {
    hipDeviceProp_t properties;
    HIP_CHECK(hipGetDeviceProperties(&properties, 0));
    return std::strncmp(properties.gcnArchName, "gfx90a", 6) == 0;
}

// Elements of a level of a dimension: 0 where there is none.
std::size_t part(std::size_t extent, unsigned level) { return extent == 0 ? 0 : (extent >> level ? extent >> level : 1); }

// An element: no two of an array are the same.
float element(unsigned level, std::size_t slice, std::size_t y, std::size_t x) {
    return 10000.0f * level + 1000.0f * slice + 100.0f * y + x;
}

hipMemcpy3DParms copy_of(hipArray_t array, std::vector<float> &values, const hipExtent &extent, hipMemcpyKind kind) {
    const std::size_t rows = extent.height ? extent.height : 1, slices = extent.depth ? extent.depth : 1;
    hipMemcpy3DParms copy{};
    const hipPitchedPtr host = make_hipPitchedPtr(values.data(), extent.width * sizeof(float), extent.width, rows);
    copy.extent = make_hipExtent(extent.width, rows, slices);
    copy.kind = kind;
    if (kind == hipMemcpyHostToDevice) {
        copy.srcPtr = host;
        copy.dstArray = array;
    } else {
        copy.srcArray = array;
        copy.dstPtr = host;
    }
    return copy;
}

// Fills an array with the elements of a level.
void fill(hipArray_t array, unsigned level, const hipExtent &extent) {
    std::vector<float> values;
    for (std::size_t z = 0; z < (extent.depth ? extent.depth : 1); ++z) {
        for (std::size_t y = 0; y < (extent.height ? extent.height : 1); ++y) {
            for (std::size_t x = 0; x < extent.width; ++x) {
                values.push_back(element(level, z, y, x));
            }
        }
    }
    const hipMemcpy3DParms copy = copy_of(array, values, extent, hipMemcpyHostToDevice);
    HIP_CHECK(hipMemcpy3D(&copy));
}

std::vector<float> read_array(hipArray_t array, const hipExtent &extent) {
    std::vector<float> values(extent.width * (extent.height ? extent.height : 1) * (extent.depth ? extent.depth : 1));
    const hipMemcpy3DParms copy = copy_of(array, values, extent, hipMemcpyDeviceToHost);
    HIP_CHECK(hipMemcpy3D(&copy));
    return values;
}

// A mipmapped array of floats whose levels are filled.
class Mipmaps {
  public:
    Mipmaps(std::size_t width, std::size_t height, std::size_t depth, unsigned levels, unsigned flags = hipArrayDefault)
        : extent_(make_hipExtent(width, height, depth)), levels_(levels), layered_((flags & (hipArrayLayered | hipArrayCubemap)) != 0) {
        const hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
        HIP_CHECK(hipMallocMipmappedArray(&array_, &desc, extent_, levels, flags));
        for (unsigned at = 0; at < levels; ++at) {
            const hipArray_t array = level(at);
            fill(array, at, extent(at));
            HIP_CHECK(hipFreeArray(array));
        }
    }
    ~Mipmaps() { HIP_CHECK(hipFreeMipmappedArray(array_)); }
    Mipmaps(const Mipmaps &) = delete;
    Mipmaps &operator=(const Mipmaps &) = delete;

    hipMipmappedArray_t get() const { return array_; }
    unsigned levels() const { return levels_; }
    hipArray_t level(unsigned at) const {
        hipArray_t array = nullptr;
        HIP_CHECK(hipGetMipmappedArrayLevel(&array, array_, at));
        return array;
    }
    hipExtent extent(unsigned at) const {
        return make_hipExtent(part(extent_.width, at), part(extent_.height, at), layered_ ? extent_.depth : part(extent_.depth, at));
    }
    hipResourceDesc resource() const {
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeMipmappedArray;
        resource.res.mipmap.mipmap = array_;
        return resource;
    }

  private:
    hipMipmappedArray_t array_ = nullptr;
    hipExtent extent_;
    unsigned levels_;
    bool layered_;
};

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

hipTextureDesc settings(hipTextureFilterMode filter = hipFilterModePoint, hipTextureFilterMode between = hipFilterModePoint) {
    hipTextureDesc texture{};
    texture.addressMode[0] = texture.addressMode[1] = texture.addressMode[2] = hipAddressModeClamp;
    texture.filterMode = filter;
    texture.mipmapFilterMode = between;
    texture.normalizedCoords = 1;
    return texture;
}

enum Kind { line, plane, volume, lines, planes, cube, cubes };

// Where a lane samples: coordinates, the layer, and the level of detail.
struct At {
    float x, y, z;
    int layer;
    float level;
};

template <Kind kind> __global__ void sample_levels(hipTextureObject_t textureObject, float *out, const At *at, int count) {
#if SAMPLES
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count) {
        return;
    }
    const At p = at[index];
    if (kind == line) {
        out[index] = tex1DLod<float>(textureObject, p.x, p.level);
    } else if (kind == plane) {
        out[index] = tex2DLod<float>(textureObject, p.x, p.y, p.level);
    } else if (kind == volume) {
        out[index] = tex3DLod<float>(textureObject, p.x, p.y, p.z, p.level);
    } else if (kind == lines) {
        // tex1DLayeredLod and tex2DLayeredLod of HIP's headers drop the level.
        TEXTURE_OBJECT_PARAMETERS_INIT
        out[index] = mapFrom<float>(__ockl_image_sample_lod_1Da(i, s, float2(p.x, p.layer).data, p.level));
    } else if (kind == planes) {
        TEXTURE_OBJECT_PARAMETERS_INIT
        out[index] = mapFrom<float>(__ockl_image_sample_lod_2Da(i, s, float4(p.x, p.y, p.layer, 0.0f).data, p.level));
    } else if (kind == cube) {
        out[index] = texCubemapLod<float>(textureObject, p.x, p.y, p.z, p.level);
    } else {
        out[index] = texCubemapLayeredLod<float>(textureObject, p.x, p.y, p.z, p.layer, p.level);
    }
#endif
}

template <Kind kind> std::vector<float> read(hipTextureObject_t texture, const std::vector<At> &at) {
    DeviceBuffer<At> places(at);
    DeviceBuffer<float> out(at.size());
    const int count = static_cast<int>(at.size());
    sample_levels<kind><<<(count + 63) / 64, 64>>>(texture, out.get(), places.get(), count);
    sample::check_launch();
    return out.read();
}

// Samples the centre of every element of every level.
template <Kind kind> void every_element(const Mipmaps &array) {
    const Texture texture(array.resource(), settings());
    const bool layered = kind == lines || kind == planes;
    std::vector<At> at;
    std::vector<float> want;
    for (unsigned level = 0; level < array.levels(); ++level) {
        const hipExtent extent = array.extent(level);
        const std::size_t rows = extent.height ? extent.height : 1, slices = extent.depth ? extent.depth : 1;
        for (std::size_t z = 0; z < slices; ++z) {
            for (std::size_t y = 0; y < rows; ++y) {
                for (std::size_t x = 0; x < extent.width; ++x) {
                    at.push_back({(x + 0.5f) / extent.width, (y + 0.5f) / rows, layered ? 0.0f : (z + 0.5f) / slices, static_cast<int>(z),
                                  static_cast<float>(level)});
                    want.push_back(element(level, z, y, x));
                }
            }
        }
    }
    REQUIRE(read<kind>(texture.get(), at) == want);
}

// The direction to a place of a face, whose coordinates are from -1 to 1.
At toward(int face, float s, float t, int layer = 0, float level = 0.0f) {
    const float3 directions[] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
    // Not of length 1: only the direction counts.
    const float3 d = directions[face];
    return {3 * d.x, 3 * d.y, 3 * d.z, layer, level};
}

} // namespace

CASE(levels_are_arrays) {
    const Mipmaps array(20, 6, 0, 5);
    for (unsigned at = 0; at < array.levels(); ++at) {
        const hipArray_t level = array.level(at);
        const hipExtent extent = array.extent(at);
        const std::vector<float> values = read_array(level, extent);
        for (std::size_t index = 0; index < values.size(); ++index) {
            REQUIRE(values[index] == element(at, 0, index / extent.width, index % extent.width));
        }
        REQUIRE(level->width == extent.width && level->height == extent.height && level->depth == 0);
        HIP_CHECK(hipFreeArray(level));
        REQUIRE(hipFreeArray(level) != hipSuccess);
        // Past the end of the level, where the next one is.
        const hipArray_t again = array.level(at);
        float value = 0;
        EXPECT_ERROR(hipMemcpy2DToArray(again, 0, extent.height, &value, 4, 4, 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
    }
}

CASE(the_driver_interface_makes_mipmapped_arrays) {
    HIP_ARRAY3D_DESCRIPTOR shape{};
    shape.Width = 8;
    shape.Height = 8;
    shape.Depth = 3;
    shape.Format = HIP_AD_FORMAT_FLOAT;
    shape.NumChannels = 1;
    shape.Flags = hipArrayLayered;
    hipMipmappedArray_t array = nullptr;
    HIP_CHECK(hipMipmappedArrayCreate(&array, &shape, 4));
    REQUIRE(array->width == 8 && array->max_mipmap_level == 3);
    hipArray_t level = nullptr;
    HIP_CHECK(hipMipmappedArrayGetLevel(&level, array, 2));
    const hipExtent extent = make_hipExtent(2, 2, 3);
    fill(level, 2, extent);
    REQUIRE(read_array(level, extent)[11] == element(2, 2, 1, 1));
    HIP_CHECK(hipMipmappedArrayDestroy(array));
    // Its levels go with it.
    REQUIRE(hipFreeArray(level) != hipSuccess);
}

CASE(every_level_is_sampled) {
    if (is_gfx90a()) {
        return;
    }
    every_element<line>(Mipmaps(37, 0, 0, 6));
    every_element<plane>(Mipmaps(20, 6, 0, 5));
    every_element<volume>(Mipmaps(8, 4, 6, 4));
    every_element<lines>(Mipmaps(12, 0, 5, 4, hipArrayLayered));
    every_element<planes>(Mipmaps(9, 8, 3, 4, hipArrayLayered));
}

CASE(levels_are_mixed_by_the_level_of_detail) {
    if (is_gfx90a()) {
        return;
    }
    const Mipmaps array(16, 8, 0, 5);
    const std::vector<At> at = {{0, 0, 0, 0, 0.0f},  {0, 0, 0, 0, 0.25f}, {0, 0, 0, 0, 0.5f},  {0, 0, 0, 0, 1.75f},
                                {0, 0, 0, 0, 3.5f},  {0, 0, 0, 0, 4.0f},  {0, 0, 0, 0, 9.0f},  {0, 0, 0, 0, -2.0f},
                                {1, 1, 0, 0, 0.75f}, {1, 1, 0, 0, 2.5f}};
    // At the origin a level is 10000 times its number, and in the last corner 100 times the last row and the last column more.
    const Texture mixed(array.resource(), settings(hipFilterModePoint, hipFilterModeLinear));
    const auto corner = [&](unsigned level) {
        const hipExtent extent = array.extent(level);
        return element(level, 0, extent.height - 1, extent.width - 1);
    };
    REQUIRE((read<plane>(mixed.get(), at) == std::vector<float>{0, 2500, 5000, 17500, 35000, 40000, 40000, 0,
                                                                0.25f * corner(0) + 0.75f * corner(1),
                                                                0.5f * corner(2) + 0.5f * corner(3)}));
    const Texture nearest(array.resource(), settings(hipFilterModePoint, hipFilterModePoint));
    REQUIRE((read<plane>(nearest.get(), at) ==
             std::vector<float>{0, 0, 10000, 20000, 40000, 40000, 40000, 0, corner(1), corner(3)}));
    // Between elements and between levels: in the middle of four elements of level 1, and of two by two of level 2.
    const Texture smooth(array.resource(), settings(hipFilterModeLinear, hipFilterModeLinear));
    const float first = element(1, 0, 1, 3) + 50.5f, second = element(2, 0, 0, 1) + 50.5f;
    REQUIRE((read<plane>(smooth.get(), {{0.5f, 0.5f, 0, 0, 1.0f}, {0.5f, 0.5f, 0, 0, 2.0f}, {0.5f, 0.5f, 0, 0, 1.5f}}) ==
             std::vector<float>{first, second, 0.5f * (first + second)}));
}

__global__ void by_gradients(hipTextureObject_t texture, float *out, const float4 *gradients) {
#if SAMPLES
    const float4 g = gradients[threadIdx.x];
    out[threadIdx.x] = tex2DGrad<float>(texture, 0.0f, 0.0f, make_float2(g.x, g.y), make_float2(g.z, g.w));
#endif
}

CASE(gradients_choose_the_level) {
    if (is_gfx90a()) {
        return;
    }
    const Mipmaps array(16, 8, 0, 5);
    const Texture texture(array.resource(), settings(hipFilterModePoint, hipFilterModeLinear));
    // One, two and eight columns along x; four rows along y; the longer of both; by far too much.
    const std::vector<float4> gradients = {{1 / 16.0f, 0, 0, 0}, {2 / 16.0f, 0, 0, 0},          {8 / 16.0f, 0, 0, 0},
                                           {0, 0, 0, 4 / 8.0f},  {2 / 16.0f, 0, 0, 4 / 8.0f}, {100, 0, 0, 0}};
    DeviceBuffer<float4> given(gradients);
    DeviceBuffer<float> out(gradients.size());
    by_gradients<<<1, gradients.size()>>>(texture.get(), out.get(), given.get());
    sample::check_launch();
    REQUIRE((out.read() == std::vector<float>{0, 10000, 30000, 20000, 20000, 40000}));
}

CASE(limits_and_bias_move_the_level) {
    if (is_gfx90a()) {
        return;
    }
    const Mipmaps array(16, 8, 0, 5);
    const std::vector<At> at = {{0, 0, 0, 0, 0.0f}, {0, 0, 0, 0, 2.0f}, {0, 0, 0, 0, 4.0f}};
    hipTextureDesc desc = settings(hipFilterModePoint, hipFilterModeLinear);
    desc.minMipmapLevelClamp = 1.0f;
    desc.maxMipmapLevelClamp = 2.5f;
    const Texture limited(array.resource(), desc);
    REQUIRE((read<plane>(limited.get(), at) == std::vector<float>{10000, 20000, 25000}));
    desc = settings(hipFilterModePoint, hipFilterModeLinear);
    desc.mipmapLevelBias = 1.5f;
    const Texture biased(array.resource(), desc);
    REQUIRE((read<plane>(biased.get(), at) == std::vector<float>{15000, 35000, 40000}));
    desc.mipmapLevelBias = -1.0f;
    const Texture sharper(array.resource(), desc);
    REQUIRE((read<plane>(sharper.get(), at) == std::vector<float>{0, 10000, 30000}));
}

CASE(a_view_begins_at_its_first_level) {
    if (is_gfx90a()) {
        return;
    }
    const Mipmaps array(16, 8, 0, 5);
    hipResourceViewDesc view{};
    view.format = hipResViewFormatFloat1;
    view.firstMipmapLevel = 1;
    view.lastMipmapLevel = 3;
    const Texture texture(array.resource(), settings(), &view);
    REQUIRE((read<plane>(texture.get(), {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 2}, {0, 0, 0, 0, 3}}) ==
             std::vector<float>{10000, 20000, 30000, 30000}));
    hipResourceViewDesc back{};
    HIP_CHECK(hipGetTextureObjectResourceViewDesc(&back, texture.get()));
    REQUIRE(back.firstMipmapLevel == 1 && back.lastMipmapLevel == 3);
    hipResourceDesc resource{};
    HIP_CHECK(hipGetTextureObjectResourceDesc(&resource, texture.get()));
    REQUIRE(resource.resType == hipResourceTypeMipmappedArray && resource.res.mipmap.mipmap == array.get());
}

// Halves a level: each element is the sum of four of the level before.
__global__ void next_level(hipSurfaceObject_t from, hipSurfaceObject_t to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width && y < height) {
        float sum = 0;
        for (int at = 0; at < 4; ++at) {
            float value;
            surf2Dread(&value, from, (2 * x + at % 2) * 4, 2 * y + at / 2);
            sum += value;
        }
        surf2Dwrite(sum, to, x * 4, y);
    }
}

CASE(surfaces_write_levels) {
    const Mipmaps array(32, 16, 0, 5);
    std::vector<float> want;
    for (unsigned at = 0; at + 1 < array.levels(); ++at) {
        const hipExtent from_extent = array.extent(at), to_extent = array.extent(at + 1);
        const std::vector<float> from = read_array(array.level(at), from_extent);
        hipSurfaceObject_t surfaces[2];
        for (unsigned which = 0; which < 2; ++which) {
            hipResourceDesc resource{};
            resource.resType = hipResourceTypeArray;
            resource.res.array.array = array.level(at + which);
            HIP_CHECK(hipCreateSurfaceObject(&surfaces[which], &resource));
        }
        next_level<<<dim3(1, to_extent.height), 64>>>(surfaces[0], surfaces[1], to_extent.width, to_extent.height);
        sample::check_launch();
        const std::vector<float> to = read_array(array.level(at + 1), to_extent);
        for (std::size_t index = 0; index < to.size(); ++index) {
            const std::size_t x = index % to_extent.width * 2, y = index / to_extent.width * 2;
            const float *const row = &from[y * from_extent.width + x];
            REQUIRE(to[index] == row[0] + row[1] + row[from_extent.width] + row[from_extent.width + 1]);
        }
        HIP_CHECK(hipDestroySurfaceObject(surfaces[0]));
        HIP_CHECK(hipDestroySurfaceObject(surfaces[1]));
    }
}

texture<float, hipTextureType2D, hipReadModeElementType> levels_reference;

__global__ void read_reference(float *out) {
#if SAMPLES
    out[threadIdx.x] = tex2DLod(levels_reference, 0.0f, 0.0f, static_cast<float>(threadIdx.x));
#endif
}

CASE(references_are_bound_to_mipmapped_arrays) {
    if (is_gfx90a()) {
        return;
    }
    const Mipmaps array(16, 8, 0, 5);
    levels_reference.normalized = 1;
    HIP_CHECK(hipBindTextureToMipmappedArray(levels_reference, array.get()));
    DeviceBuffer<float> out(5);
    read_reference<<<1, 5>>>(out.get());
    sample::check_launch();
    REQUIRE((out.read() == std::vector<float>{0, 10000, 20000, 30000, 40000}));
    HIP_CHECK(hipUnbindTexture(&levels_reference));
}

// The module is the case's argument.
CASE(references_of_a_module_are_bound_to_mipmapped_arrays) {
    hipModule_t module;
    HIP_CHECK(hipModuleLoad(&module, sample::argument(0)));
    hipFunction_t kernel;
    HIP_CHECK(hipModuleGetFunction(&kernel, module, "read_levels"));
    textureReference *reference = nullptr;
    HIP_CHECK(hipModuleGetTexRef(&reference, module, "levels"));
    HIP_CHECK(hipTexRefSetFlags(reference, HIP_TRSF_READ_AS_INTEGER | HIP_TRSF_NORMALIZED_COORDINATES));
    HIP_CHECK(hipTexRefSetMipmapFilterMode(reference, hipFilterModeLinear));
    HIP_CHECK(hipTexRefSetMipmapLevelBias(reference, 0.5f));
    HIP_CHECK(hipTexRefSetMipmapLevelClamp(reference, 0.0f, 3.25f));
    const Mipmaps array(16, 8, 0, 5);
    EXPECT_ERROR(hipTexRefSetMipmappedArray(reference, array.get(), 0), hipErrorInvalidValue);
    HIP_CHECK(hipTexRefSetMipmappedArray(reference, array.get(), HIP_TRSA_OVERRIDE_FORMAT));
    hipMipmappedArray_t bound = nullptr;
    HIP_CHECK(hipTexRefGetMipMappedArray(&bound, reference));
    REQUIRE(bound == array.get());
    DeviceBuffer<float> out(5);
    float *pointer = out.get();
    void *arguments[] = {&pointer};
    HIP_CHECK(hipModuleLaunchKernel(kernel, 1, 1, 1, 5, 1, 1, 0, nullptr, arguments, nullptr));
    REQUIRE((out.read() == std::vector<float>{5000, 15000, 25000, 32500, 32500}));
    HIP_CHECK(hipModuleUnload(module));
}

CASE(bad_mipmapped_arrays_are_refused) {
    const hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
    hipMipmappedArray_t array = nullptr;
    const hipExtent plane_extent = make_hipExtent(8, 4, 0);
    EXPECT_ERROR(hipMallocMipmappedArray(nullptr, &desc, plane_extent, 2, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipMallocMipmappedArray(&array, nullptr, plane_extent, 2, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipMallocMipmappedArray(&array, &desc, make_hipExtent(0, 4, 0), 1, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipMallocMipmappedArray(&array, &desc, plane_extent, 0, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipMallocMipmappedArray(&array, &desc, plane_extent, 5, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipMallocMipmappedArray(&array, &desc, make_hipExtent(8, 4, 16), 5, hipArrayLayered), hipErrorInvalidValue);
    EXPECT_ERROR(hipMallocMipmappedArray(&array, &desc, plane_extent, 1, 0x80), hipErrorInvalidValue);
    EXPECT_ERROR(hipMallocMipmappedArray(&array, &desc, make_hipExtent(8, 4, 6), 1, hipArrayCubemap), hipErrorInvalidValue);
    EXPECT_ERROR(hipFreeMipmappedArray(nullptr), hipErrorInvalidValue);

    HIP_CHECK(hipMallocMipmappedArray(&array, &desc, plane_extent, 4, 0));
    hipArray_t level = nullptr;
    EXPECT_ERROR(hipGetMipmappedArrayLevel(&level, array, 4), hipErrorInvalidValue);
    EXPECT_ERROR(hipGetMipmappedArrayLevel(nullptr, array, 0), hipErrorInvalidValue);
    EXPECT_ERROR(hipGetMipmappedArrayLevel(&level, nullptr, 0), hipErrorInvalidHandle);

    hipResourceDesc resource{};
    resource.resType = hipResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = array;
    hipTextureDesc texture = settings();
    hipTextureObject_t object = nullptr;
    texture.normalizedCoords = 0;
    EXPECT_ERROR(hipCreateTextureObject(&object, &resource, &texture, nullptr), hipErrorInvalidValue);
    texture = settings();
    texture.minMipmapLevelClamp = 2.0f;
    texture.maxMipmapLevelClamp = 1.0f;
    EXPECT_ERROR(hipCreateTextureObject(&object, &resource, &texture, nullptr), hipErrorInvalidValue);
    texture = settings();
    hipResourceViewDesc view{};
    view.format = hipResViewFormatFloat1;
    view.lastMipmapLevel = 4;
    EXPECT_ERROR(hipCreateTextureObject(&object, &resource, &texture, &view), hipErrorInvalidValue);
    // A surface has one level.
    hipSurfaceObject_t surface = nullptr;
    EXPECT_ERROR(hipCreateSurfaceObject(&surface, &resource), hipErrorInvalidValue);
    HIP_CHECK(hipFreeMipmappedArray(array));
    REQUIRE(hipFreeMipmappedArray(array) != hipSuccess);
    EXPECT_ERROR(hipCreateTextureObject(&object, &resource, &texture, nullptr), hipErrorInvalidValue);
}

namespace {

// A cube map, or layers of them, whose faces are filled.
class Cube {
  public:
    explicit Cube(std::size_t width, std::size_t layers = 0) : extent_(make_hipExtent(width, width, 6 * (layers ? layers : 1))) {
        const hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
        HIP_CHECK(hipMalloc3DArray(&array_, &desc, extent_, hipArrayCubemap | (layers ? hipArrayLayered : 0) | hipArraySurfaceLoadStore));
        fill(array_, 0, extent_);
    }
    ~Cube() { HIP_CHECK(hipFreeArray(array_)); }
    Cube(const Cube &) = delete;
    Cube &operator=(const Cube &) = delete;

    hipResourceDesc resource() const {
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeArray;
        resource.res.array.array = array_;
        return resource;
    }
    std::vector<float> values() const { return read_array(array_, extent_); }

  private:
    hipArray_t array_ = nullptr;
    hipExtent extent_;
};

template <bool layered> __global__ void sample_cube(hipTextureObject_t texture, float *out, const At *at, int count) {
#if SAMPLES
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) {
        const At p = at[index];
        out[index] = layered ? texCubemapLayered<float>(texture, p.x, p.y, p.z, p.layer) : texCubemap<float>(texture, p.x, p.y, p.z);
    }
#endif
}

template <bool layered> std::vector<float> read_cube(hipTextureObject_t texture, const std::vector<At> &at) {
    DeviceBuffer<At> places(at);
    DeviceBuffer<float> out(at.size());
    const int count = static_cast<int>(at.size());
    sample_cube<layered><<<(count + 63) / 64, 64>>>(texture, out.get(), places.get(), count);
    sample::check_launch();
    return out.read();
}

// From the number of an element to the coordinate of its centre in a face, -1 to 1. ROCm's device library divides by the major axis of the
// direction with its sign, so that the faces of negative directions are seen turned by half.
float centre(std::size_t at, std::size_t width, std::size_t slice) {
    const float coordinate = 2 * (at + 0.5f) / width - 1;
    return slice % 2 == 1 ? -coordinate : coordinate;
}

} // namespace

CASE(directions_choose_the_face_and_its_element) {
    if (is_gfx90a()) {
        return;
    }
    constexpr std::size_t width = 8, layers = 3;
    const Cube single(width), layered(width, layers);
    const Texture single_texture(single.resource(), settings()), layered_texture(layered.resource(), settings());
    std::vector<At> at;
    std::vector<float> want;
    for (std::size_t slice = 0; slice < 6 * layers; ++slice) {
        for (std::size_t index = 0; index < width * width; ++index) {
            const std::size_t x = index % width, y = index / width;
            at.push_back(toward(slice % 6, centre(x, width, slice), centre(y, width, slice), slice / 6));
            want.push_back(element(0, slice, y, x));
        }
    }
    REQUIRE(read_cube<true>(layered_texture.get(), at) == want);
    at.resize(6 * width * width);
    want.resize(at.size());
    REQUIRE(read_cube<false>(single_texture.get(), at) == want);
    // Straight along an axis: the middle of a face. And edges of faces, which stay in their face.
    REQUIRE((read_cube<false>(single_texture.get(), {{0, 2, 0, 0, 0}, {0, 0, -5, 0, 0}, toward(0, 0.999f, 0.999f), toward(5, 0.999f, -0.999f)}) ==
             std::vector<float>{element(0, 2, 4, 4), element(0, 5, 4, 4), element(0, 0, 7, 7), element(0, 5, 7, 0)}));
}

CASE(faces_are_filtered_to_their_edges) {
    if (is_gfx90a()) {
        return;
    }
    const Cube cube(4);
    const Texture texture(cube.resource(), settings(hipFilterModeLinear));
    // In the middle of four elements, in the middle of two at an edge, and in a corner.
    REQUIRE((read_cube<false>(texture.get(), {toward(1, 0, 0), toward(4, 0, 0.999f), toward(2, -0.999f, -0.999f)}) ==
             std::vector<float>{element(0, 1, 1, 1) + 50.5f, element(0, 4, 3, 1) + 0.5f, element(0, 2, 0, 0)}));
}

namespace {

// Samples the centre of every element of every level of a cube map.
template <Kind kind> void every_element_of_faces(const Mipmaps &array) {
    const Texture texture(array.resource(), settings());
    std::vector<At> at;
    std::vector<float> want;
    for (unsigned level = 0; level < array.levels(); ++level) {
        const hipExtent extent = array.extent(level);
        for (std::size_t slice = 0; slice < extent.depth; ++slice) {
            for (std::size_t index = 0; index < extent.width * extent.width; ++index) {
                const std::size_t x = index % extent.width, y = index / extent.width;
                at.push_back(toward(slice % 6, centre(x, extent.width, slice), centre(y, extent.width, slice), slice / 6, level));
                want.push_back(element(level, slice, y, x));
            }
        }
    }
    REQUIRE(read<kind>(texture.get(), at) == want);
}

} // namespace

CASE(cube_maps_have_levels) {
    if (is_gfx90a()) {
        return;
    }
    every_element_of_faces<cube>(Mipmaps(8, 8, 6, 4, hipArrayCubemap));
    every_element_of_faces<cubes>(Mipmaps(4, 4, 12, 3, hipArrayCubemap | hipArrayLayered));
}

__global__ void turn_faces(hipSurfaceObject_t from, hipSurfaceObject_t to) {
    const int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
    float value;
    surfCubemapread(&value, from, x * 4, y, face);
    surfCubemapwrite(value, to, x * 4, y, (face + 1) % 6);
}

CASE(surfaces_write_faces) {
    constexpr int width = 5;
    const Cube from(width), to(width);
    hipSurfaceObject_t surfaces[2];
    const hipResourceDesc resources[] = {from.resource(), to.resource()};
    HIP_CHECK(hipCreateSurfaceObject(&surfaces[0], &resources[0]));
    HIP_CHECK(hipCreateSurfaceObject(&surfaces[1], &resources[1]));
    turn_faces<<<6, dim3(width, width)>>>(surfaces[0], surfaces[1]);
    sample::check_launch();
    const std::vector<float> values = to.values();
    for (int at = 0; at < 6 * width * width; ++at) {
        const int face = at / (width * width);
        REQUIRE(values[at] == element(0, (face + 5) % 6, at / width % width, at % width));
    }
    HIP_CHECK(hipDestroySurfaceObject(surfaces[0]));
    HIP_CHECK(hipDestroySurfaceObject(surfaces[1]));
}

CASE(bad_cubes_are_refused) {
    const hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
    hipArray_t array = nullptr;
    EXPECT_ERROR(hipMallocArray(&array, &desc, 8, 8, hipArrayCubemap), hipErrorInvalidValue);
    EXPECT_ERROR(hipMalloc3DArray(&array, &desc, make_hipExtent(8, 8, 12), hipArrayCubemap), hipErrorInvalidValue);
    EXPECT_ERROR(hipMalloc3DArray(&array, &desc, make_hipExtent(8, 7, 6), hipArrayCubemap), hipErrorInvalidValue);
    EXPECT_ERROR(hipMalloc3DArray(&array, &desc, make_hipExtent(8, 8, 13), hipArrayCubemap | hipArrayLayered), hipErrorInvalidValue);
}
