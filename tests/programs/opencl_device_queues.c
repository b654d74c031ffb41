// Kernels that enqueue kernels: blocks, events, wait lists, local memory, markers, queues.
#include "opencl_case.h"

static cl_command_queue host;

static cl_command_queue device_queue(cl_queue_properties more, cl_uint size) {
    const cl_queue_properties list[] = {
        CL_QUEUE_PROPERTIES,
        CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | more,
        CL_QUEUE_SIZE,
        size,
        0,
    };
    const cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, list, &status);
    OK(status);
    return queue;
}

// The host's queue, which is profiled, and a default queue with room for `commands`.
static cl_command_queue with_default(cl_uint commands) {
    host = setup(CL_QUEUE_PROFILING_ENABLE);
    return device_queue(CL_QUEUE_ON_DEVICE_DEFAULT, 128 * commands);
}

// Runs `run(out)` of a program with a zeroed buffer of 256 numbers; gives them.
static const cl_int *run(const char *source, const char *options, size_t size) {
    static cl_int out[256];
    const cl_kernel kernel = kernel_of(build(source, options), "run");
    const cl_mem memory = buffer(sizeof out);
    const cl_int zero = 0;
    OK(clEnqueueFillBuffer(host, memory, &zero, sizeof zero, 0, sizeof out, 0, NULL, NULL));
    set(kernel, 0, sizeof memory, &memory);
    const cl_event done = launch(host, kernel, size, 0, NULL);
    OK(clWaitForEvents(1, &done));
    OK(clEnqueueReadBuffer(host, memory, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    return out;
}

CASE(device_says_what_its_queues_can) {
    with_default(32);
    cl_device_device_enqueue_capabilities can;
    OK(clGetDeviceInfo(device, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, sizeof can, &can, NULL));
    REQUIRE(can == (CL_DEVICE_QUEUE_SUPPORTED | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT));
    cl_uint preferred, most, queues, events;
    OK(clGetDeviceInfo(device, CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, sizeof preferred, &preferred, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, sizeof most, &most, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_ON_DEVICE_QUEUES, sizeof queues, &queues, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_MAX_ON_DEVICE_EVENTS, sizeof events, &events, NULL));
    // The least that the specification allows.
    REQUIRE(preferred >= 16 << 10 && most >= 256 << 10 && queues >= 1 && events >= 1024);
}

CASE(queues_on_the_device_are_checked_and_described) {
    const cl_command_queue first = with_default(40);
    const cl_command_queue second = device_queue(CL_QUEUE_ON_DEVICE_DEFAULT, 128);
    REQUIRE(second == first);
    cl_uint count, size;
    OK(clGetCommandQueueInfo(first, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL));
    OK(clGetCommandQueueInfo(first, CL_QUEUE_SIZE, sizeof size, &size, NULL));
    REQUIRE(count == 2 && size == 64 * 128);
    FAILS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(host, CL_QUEUE_SIZE, sizeof size, &size, NULL));
    cl_command_queue found;
    OK(clGetCommandQueueInfo(host, CL_QUEUE_DEVICE_DEFAULT, sizeof found, &found, NULL));
    REQUIRE(found == first);
    const cl_command_queue other = device_queue(0, 128);
    OK(clSetDefaultDeviceCommandQueue(context, device, other));
    OK(clGetCommandQueueInfo(first, CL_QUEUE_DEVICE_DEFAULT, sizeof found, &found, NULL));
    REQUIRE(found == other);
    FAILS(CL_INVALID_COMMAND_QUEUE, clSetDefaultDeviceCommandQueue(context, device, host));
    FAILS(CL_INVALID_DEVICE, clSetDefaultDeviceCommandQueue(context, NULL, other));
    FAILS(CL_INVALID_CONTEXT, clSetDefaultDeviceCommandQueue(NULL, device, other));
    // No command of the host's goes there.
    FAILS(CL_INVALID_COMMAND_QUEUE, clFinish(first));
    FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueMarkerWithWaitList(first, 0, NULL, NULL));
    const struct {
        cl_queue_properties bits, size;
        cl_int error;
    } wrong[] = {
        {CL_QUEUE_ON_DEVICE, 128, CL_INVALID_VALUE},
        {CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 128, CL_INVALID_VALUE},
        {CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 128, CL_INVALID_VALUE},
        {CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 1 << 30, CL_INVALID_QUEUE_PROPERTIES},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, wrong[i].bits, CL_QUEUE_SIZE, wrong[i].size, 0};
        REQUIRE(clCreateCommandQueueWithProperties(context, device, list, &status) == NULL);
        REQUIRE(status == wrong[i].error);
    }
    const cl_kernel kernel =
        kernel_of(build("kernel void k(queue_t q, global int *p) { p[0] = q == get_default_queue(); }", "-cl-std=CL3.0"), "k");
    FAILS(CL_INVALID_DEVICE_QUEUE, clSetKernelArg(kernel, 0, sizeof host, &host));
    FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 0, 4, &other));
    OK(clSetKernelArg(kernel, 0, sizeof other, &other));
}

CASE(blocks_run_after_the_kernel_that_enqueues_them) {
    with_default(32);
    const char *const source = "kernel void run(global int *out) {\n"
                               "  int base = 100 + get_global_id(0);\n"
                               "  long far = 1000;\n"
                               "  out[64] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(64, 16), ^{\n"
                               "    size_t id = get_global_id(0);\n"
                               "    out[id] = out[65] + base + (int)far + (int)id + (int)get_local_size(0);\n"
                               "  });\n"
                               "  out[65] = 5;\n"
                               "}\n";
    for (int i = 0; i < 2; ++i) {
        const cl_int *const out = run(source, i == 0 ? "-cl-std=CL3.0" : "-cl-std=CL2.0", 1);
        REQUIRE(out[64] == 0);
        for (int id = 0; id < 64; ++id) {
            REQUIRE(out[id] == 5 + 100 + 1000 + id + 16);
        }
    }
    const cl_program program = build(source, "-cl-std=CL3.0");
    size_t count;
    OK(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
    REQUIRE(count == 1);
}

CASE(every_work_item_may_enqueue) {
    with_default(256);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  int id = get_global_id(0);\n"
            "  int failed = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[id] += id; });\n"
            "  atomic_add(out + 200, failed != CLK_SUCCESS);\n"
            "}\n",
            "-cl-std=CL3.0", 130);
    REQUIRE(out[200] == 0);
    for (int id = 0; id < 130; ++id) {
        REQUIRE(out[id] == id);
    }
}

CASE(a_range_has_offsets_and_three_dimensions) {
    with_default(32);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  const size_t offset[3] = {1, 2, 3}, size[3] = {4, 2, 2}, group[3] = {2, 1, 2};\n"
            "  out[255] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP,\n"
            "    ndrange_3D(offset, size, group), ^{\n"
            "      size_t at = (get_global_id(2) * 10 + get_global_id(1)) * 5 + get_global_id(0) - 100;\n"
            "      out[at] = get_group_id(0) * 100 + get_local_id(2) * 10 + get_global_linear_id();\n"
            "  });\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    REQUIRE(out[255] == 0);
    for (int z = 0; z < 2; ++z) {
        for (int y = 0; y < 2; ++y) {
            for (int x = 0; x < 4; ++x) {
                const int at = ((z + 3) * 10 + y + 2) * 5 + x + 1 - 100;
                REQUIRE(out[at] == x / 2 * 100 + z * 10 + (z * 2 + y) * 4 + x);
            }
        }
    }
}

CASE(events_order_kernels_and_markers) {
    with_default(32);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  queue_t q = get_default_queue();\n"
            "  ndrange_t one = ndrange_1D(1);\n"
            "  clk_event_t a, b, all, last, gate = create_user_event();\n"
            "  int s = 0;\n"
            "  out[10] = is_valid_event(gate);\n"
            "  s |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &gate, &a, ^{ out[0] = out[9] + 1; });\n"
            "  s |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &a, &b, ^{ out[1] = out[0] + 1; });\n"
            "  clk_event_t both[2] = {a, b};\n"
            "  s |= enqueue_marker(q, 2, both, &all);\n"
            "  s |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &all, &last, ^{ out[2] = out[1] + 1; });\n"
            "  retain_event(last);\n"
            "  release_event(last);\n"
            "  s |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &last, 0, ^{ out[3] = out[2] + 1; });\n"
            "  out[9] = 7;\n"
            "  set_user_event_status(gate, CL_COMPLETE);\n"
            "  release_event(gate); release_event(a); release_event(b); release_event(all); release_event(last);\n"
            "  out[11] = s;\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    REQUIRE(out[10] == 1 && out[11] == 0);
    REQUIRE(out[0] == 8 && out[1] == 9 && out[2] == 10 && out[3] == 11);
}

CASE(a_wait_list_in_a_loop_names_every_event) {
    with_default(32);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  queue_t q = get_default_queue();\n"
            "  uint i, n = 12;\n"
            "  clk_event_t gate = create_user_event(), all[12];\n"
            "  int s = 0;\n"
            "  for (i = 0; i < n; ++i)\n"
            "    s |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &gate, &all[i], ^{ out[i] = 1; });\n"
            "  s |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), n, all, 0, ^{\n"
            "    int sum = 0;\n"
            "    for (uint k = 0; k < n; ++k) sum += out[k];\n"
            "    out[13] = sum;\n"
            "  });\n"
            "  for (i = 0; i < n; ++i) release_event(all[i]);\n"
            "  out[14] = s;\n"
            "  set_user_event_status(gate, CL_COMPLETE);\n"
            "  release_event(gate);\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    REQUIRE(out[14] == 0 && out[13] == 12);
}

CASE(a_child_may_open_the_gate_of_another) {
    with_default(32);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  queue_t q = get_default_queue();\n"
            "  ndrange_t one = ndrange_1D(1);\n"
            "  clk_event_t gate = create_user_event(), marked;\n"
            "  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &gate, 0, ^{ out[1] = out[0] + 1; });\n"
            "  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, one, ^{\n"
            "    out[0] = 3;\n"
            "    set_user_event_status(gate, CL_COMPLETE);\n"
            "    release_event(gate);\n"
            "  });\n"
            // Without a wait list: after all that is before it.
            "  enqueue_marker(q, 0, NULL, &marked);\n"
            "  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &marked, 0, ^{ out[2] = out[1] + 1; });\n"
            "  release_event(marked);\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    REQUIRE(out[0] == 3 && out[1] == 4 && out[2] == 5);
}

CASE(a_failed_user_event_ends_what_waits_for_it) {
    with_default(32);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  queue_t q = get_default_queue();\n"
            "  ndrange_t one = ndrange_1D(1);\n"
            "  clk_event_t gate = create_user_event(), first;\n"
            "  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &gate, &first, ^{ out[0] = 1; });\n"
            "  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, 1, &first, 0, ^{ out[1] = 1; });\n"
            "  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, one, ^{ out[2] = 1; });\n"
            "  set_user_event_status(gate, -1);\n"
            "  release_event(gate); release_event(first);\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    REQUIRE(out[0] == 0 && out[1] == 0 && out[2] == 1);
}

CASE(blocks_have_local_memory) {
    with_default(32);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  out[255] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(64, 32),\n"
            "    ^(local void *a, local void *b) {\n"
            "      local int *mine = a; local short *theirs = b;\n"
            "      size_t id = get_local_id(0);\n"
            "      mine[id] = get_global_id(0); theirs[id] = 2 * id;\n"
            "      barrier(CLK_LOCAL_MEM_FENCE);\n"
            "      out[get_global_id(0)] = mine[31 - id] * 100 + theirs[31 - id];\n"
            "    }, 32u * 4, 32u * 2);\n"
            // More than there is.
            "  out[254] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),\n"
            "    ^(local void *a) { out[253] = 1; }, 1u << 20);\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    REQUIRE(out[255] == 0 && out[254] != 0 && out[253] == 0);
    for (int id = 0; id < 64; ++id) {
        const int mirror = 31 - id % 32;
        REQUIRE(out[id] == (id / 32 * 32 + mirror) * 100 + 2 * mirror);
    }
}

CASE(children_enqueue_children) {
    with_default(64);
    const cl_int *const out =
        run("void down(global int *out, int depth) {\n"
            "  out[depth] = out[depth + 1] + 1;\n"
            "  if (depth > 0) {\n"
            "    void (^next)(void) = ^{ down(out, depth - 1); };\n"
            "    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), next);\n"
            "  }\n"
            "}\n"
            "kernel void run(global int *out) { down(out, 40); }\n",
            "-cl-std=CL3.0", 1);
    for (int depth = 0; depth <= 40; ++depth) {
        REQUIRE(out[depth] == 41 - depth);
    }
}

CASE(nested_blocks_see_what_is_around_them) {
    with_default(64);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  int a = 1;\n"
            "  queue_t q = get_default_queue();\n"
            "  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(4), ^{\n"
            "    int id = get_global_id(0), b = 10 * id;\n"
            "    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(2), ^{\n"
            "      out[2 * id + get_global_id(0)] = a + b + 100 * get_global_id(0);\n"
            "    });\n"
            "  });\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    for (int id = 0; id < 8; ++id) {
        REQUIRE(out[id] == 1 + 10 * (id / 2) + 100 * (id % 2));
    }
}

CASE(a_full_queue_says_so_and_is_empty_afterwards) {
    with_default(32);
    for (int i = 0; i < 3; ++i) {
        const cl_int *const out =
            run("kernel void run(global int *out) {\n"
                "  for (int i = 0; i < 40; ++i) {\n"
                "    int s = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ out[i] = 1; });\n"
                "    out[100 + i] = s == CLK_SUCCESS ? 0 : s == CLK_ENQUEUE_FAILURE ? 1 : 2;\n"
                "  }\n"
                "}\n",
                "-cl-std=CL3.0", 1);
        for (int id = 0; id < 40; ++id) {
            REQUIRE(out[id] == (id < 32) && out[100 + id] == (id >= 32));
        }
    }
}

CASE(without_a_default_queue_nothing_is_enqueued) {
    host = setup(0);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  out[0] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ out[1] = 1; });\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    REQUIRE(out[0] != 0 && out[1] == 0);
}

CASE(queues_may_be_arguments) {
    with_default(32);
    const cl_command_queue other = device_queue(0, 128);
    const char *const source =
        "kernel void k(queue_t q, global int *out) {\n"
        "  clk_event_t first;\n"
        "  out[0] = q == get_default_queue();\n"
        "  enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), 0, NULL, &first, ^{ out[1] = 4; });\n"
        // Events of one queue order kernels of another.
        "  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), 1, &first, NULL, ^{ out[2] = out[1] + 1; });\n"
        "  release_event(first);\n"
        "}\n";
    const cl_kernel kernel = kernel_of(build(source, "-cl-std=CL3.0"), "k");
    const cl_mem memory = buffer(12);
    set(kernel, 0, sizeof other, &other);
    set(kernel, 1, sizeof memory, &memory);
    launch(host, kernel, 1, 0, NULL);
    // What is enqueued may use it still.
    OK(clReleaseCommandQueue(other));
    cl_int out[3];
    OK(clEnqueueReadBuffer(host, memory, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    REQUIRE(out[0] == 0 && out[1] == 4 && out[2] == 5);
    const size_t one = 1;
    FAILS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(host, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
}

CASE(times_of_children_can_be_had) {
    with_default(32);
    const char *const source =
        "kernel void k(global ulong *times) {\n"
        "  clk_event_t event;\n"
        "  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), 0, NULL, &event, ^{\n"
        "    for (int i = 0; i < 10000; ++i) { atomic_inc((volatile global int *)times + 8); }\n"
        "    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ times[3] = 1; });\n"
        "  });\n"
        "  capture_event_profiling_info(event, CLK_PROFILING_COMMAND_EXEC_TIME, times);\n"
        "  release_event(event);\n"
        "}\n";
    const cl_kernel kernel = kernel_of(build(source, "-cl-std=CL3.0"), "k");
    const cl_mem memory = buffer(64);
    const cl_ulong zero = 0;
    OK(clEnqueueFillBuffer(host, memory, &zero, sizeof zero, 0, 64, 0, NULL, NULL));
    set(kernel, 0, sizeof memory, &memory);
    const cl_event done = launch(host, kernel, 1, 0, NULL);
    cl_ulong times[8], start, end, complete;
    OK(clEnqueueReadBuffer(host, memory, CL_TRUE, 0, sizeof times, times, 0, NULL, NULL));
    REQUIRE(times[3] == 1 && times[0] > 0 && times[1] > times[0]);
    // The command ends with the kernel, and is complete with its children.
    OK(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    OK(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    OK(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_COMPLETE, sizeof complete, &complete, NULL));
    REQUIRE(start <= end && end + times[1] <= complete);
}

CASE(sizes_for_blocks_can_be_asked_for) {
    with_default(32);
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  void (^block)(void) = ^{ out[5] = 1; };\n"
            "  out[0] = get_kernel_work_group_size(block);\n"
            "  out[1] = get_kernel_preferred_work_group_size_multiple(block);\n"
            "  out[2] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(out[0], out[0]), block);\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    REQUIRE(out[0] == 256 && out[1] == 64 && out[2] == 0 && out[5] == 1);
}

CASE(sub_groups_of_blocks_can_be_asked_for) {
    with_default(32);
    size_t wave = 0;
    const cl_int *const out =
        run("kernel void run(global int *out) {\n"
            "  void (^block)(void) = ^{\n"
            "    if (get_global_id(0) == 0 && get_global_id(1) == 0) {\n"
            "      out[0] = get_num_sub_groups(); out[1] = get_max_sub_group_size();\n"
            "    }\n"
            "  };\n"
            "  const size_t whole[2] = {50, 6}, group[2] = {50, 3};\n"
            "  ndrange_t range = ndrange_2D(whole, group);\n"
            "  out[2] = get_kernel_sub_group_count_for_ndrange(range, block);\n"
            "  out[3] = get_kernel_max_sub_group_size_for_ndrange(range, block);\n"
            "  out[4] = get_kernel_sub_group_count_for_ndrange(ndrange_1D(40, 20), ^(local void *) {});\n"
            "  out[5] = get_kernel_max_sub_group_size_for_ndrange(ndrange_1D(40, 20), ^(local void *) {});\n"
            "  out[6] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, range, block);\n"
            "}\n",
            "-cl-std=CL3.0", 1);
    OK(clGetDeviceInfo(device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof wave, &wave, NULL));
    REQUIRE(out[6] == 0 && out[3] == (cl_int)wave && out[2] == (cl_int)((150 + wave - 1) / wave));
    REQUIRE(out[0] == out[2] && out[1] == out[3]);
    REQUIRE(out[4] == 1 && out[5] == 20);
}

CASE(children_print) {
    with_default(32);
    run("kernel void run(global int *out) {\n"
        "  printf(\"parent\\n\");\n"
        "  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ printf(\"child %d\\n\", 3); });\n"
        "}\n",
        "-cl-std=CL3.0", 1);
    printf("after\n");
}

CASE(an_out_of_order_queue_runs_parents_beside_each_other) {
    with_default(256);
    const cl_command_queue queue = setup(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const char *const source =
        "kernel void run(global int *out, int from) {\n"
        "  for (int i = 0; i < 4; ++i) {\n"
        "    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ out[from + i] = from + i; });\n"
        "  }\n"
        "}\n";
    const cl_kernel kernel = kernel_of(build(source, "-cl-std=CL3.0"), "run");
    const cl_mem memory = buffer(800);
    set(kernel, 0, sizeof memory, &memory);
    cl_event events[50];
    for (cl_int i = 0; i < 50; ++i) {
        const cl_int from = 4 * i;
        set(kernel, 1, sizeof from, &from);
        events[i] = launch(queue, kernel, 1, 0, NULL);
    }
    cl_int out[200];
    OK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof out, out, 50, events, NULL));
    for (cl_int i = 0; i < 200; ++i) {
        REQUIRE(out[i] == i);
    }
}
