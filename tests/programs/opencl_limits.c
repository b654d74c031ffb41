// What goes a bit too far, and what a device lists.
#include "opencl_case.h"

CASE(a_kernel_reads_a_bit_too_much) {
    const cl_command_queue queue = setup(0);
    const cl_kernel kernel = make_kernel("kernel void k(global const volatile int *from, global int *to) { from[64]; to[0] = 0; }", "k");
    const cl_mem from = buffer(256), to = buffer(4);
    set(kernel, 0, sizeof from, &from);
    set(kernel, 1, sizeof to, &to);
    launch(queue, kernel, 1, 0, NULL);
    cl_int value = 1;
    OK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    REQUIRE(value == 0);
}

CASE(shared_virtual_memory_has_an_end) {
    const cl_command_queue queue = setup(0);
    char *const svm = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
    REQUIRE(svm != NULL);
    FAILS(CL_INVALID_BUFFER_SIZE, (clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 8192, svm, &status), status));
    const cl_kernel kernel = make_kernel("kernel void k(global int *p) { p[0] = 1; }", "k");
    void *pointers[] = {svm};
    OK(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
    // None any more.
    OK(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, pointers));
    clSVMFree(context, svm);
    OK(clFinish(queue));
}

CASE(features_that_are_listed_are_macros) {
    setup(0);
    size_t size;
    OK(clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_FEATURES, 0, NULL, &size));
    cl_name_version *const features = malloc(size);
    OK(clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_FEATURES, size, features, NULL));
    static char source[4096] = "kernel void k(global int *p) { p[0] = memory_scope_all_svm_devices; }\n";
    for (size_t i = 0; i < size / sizeof *features; ++i) {
        const size_t at = strlen(source);
        snprintf(source + at, sizeof source - at, "#if %s != 1\n#error %s\n#endif\n", features[i].name, features[i].name);
    }
    cl_bool images;
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    if (images) {
        strcat(source, "#if __IMAGE_SUPPORT__ != 1\n#error images\n#endif\n");
    }
    build(source, "-cl-std=CL3.0 -Werror");
    build("#if __OPENCL_VERSION__ != 300 || __OPENCL_C_VERSION__ != 120\n#error versions\n#endif\n", "");
}
