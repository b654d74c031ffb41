// Source of the files beside this one; build.sh says how each was made.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))

__device__ int counter = 3;
__constant__ float table[4];

extern "C" __global__ void scale(const float *__restrict__ in, float *out, float factor, int n) {
    int i = (int)__builtin_amdgcn_workgroup_id_x() * 64 + (int)__builtin_amdgcn_workitem_id_x();
    if (i < n) out[i] = in[i] * factor + table[i & 3];
}

extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(1, 128))) gather(long *out, short a, double b) {
    __shared__ int tile[32];
    tile[__builtin_amdgcn_workitem_id_x() & 31] = counter;
    __builtin_amdgcn_s_barrier();
    out[a] = tile[0] + (long)b;
}
