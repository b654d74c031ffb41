// A module with a texture reference, for the case references_of_a_module of textures.hip.
#include <hip/hip_runtime.h>

texture<float, hipTextureType2D, hipReadModeElementType> plane;

extern "C" __global__ void read_plane(float *out) {
    const int index = threadIdx.x;
    out[index] = tex2D(plane, index % 8 + 0.5f, index / 8 + 0.5f);
}
