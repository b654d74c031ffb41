// Compiled to a code object before the program runs, without OpenCL's library.
kernel void triple(global int *values, int add) {
    const size_t place = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
    values[place] = 3 * values[place] + add;
}
