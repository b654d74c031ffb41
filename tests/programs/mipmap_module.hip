// A module with a texture reference, for the case references_of_a_module_are_bound_to_mipmapped_arrays of mipmaps.hip.
#include <hip/hip_runtime.h>

texture<float, hipTextureType2D, hipReadModeElementType> levels;

extern "C" __global__ void read_levels(float *out) {
    const int index = threadIdx.x;
    out[index] = tex2DLod(levels, 0.0f, 0.0f, static_cast<float>(index));
}
