// What clang calls for the queries of blocks about sub-groups (OpenCL C 3.0, 6.15.14.5) and the device libraries do not have. Included before
// sources that ask.
#pragma clang system_header
#if __OPENCL_C_VERSION__ >= 200 && (defined(__opencl_c_device_enqueue) || __OPENCL_C_VERSION__ == 200)

#define BLOCK_QUERY __attribute__((weak, visibility("hidden"))) uint
#define NDRANGE const private ndrange_t *

extern const constant bool __oclc_wavefrontsize64;

// Waves of each work-group of the range but a smaller last one.
BLOCK_QUERY __get_kernel_sub_group_count_for_ndrange_impl(NDRANGE range, void *code, void *block) {
    const ulong wave = __oclc_wavefrontsize64 ? 64 : 32;
    return (range->localWorkSize[0] * range->localWorkSize[1] * range->localWorkSize[2] + wave - 1) / wave;
}

// Work-items of the largest sub-group of the range.
BLOCK_QUERY __get_kernel_max_sub_group_size_for_ndrange_impl(NDRANGE range, void *code, void *block) {
    const ulong wave = __oclc_wavefrontsize64 ? 64 : 32;
    return min(range->localWorkSize[0] * range->localWorkSize[1] * range->localWorkSize[2], wave);
}

#undef BLOCK_QUERY
#undef NDRANGE
#endif
