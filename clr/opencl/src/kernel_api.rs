//! The functions of kernels.

use std::{ffi::c_void, sync::Arc};

use gneiss_fatbin::{Access, AddressSpace, ArgumentMetadata, ValueKind};

use crate::{
    cl_api,
    constants::*,
    device::Device,
    error::Result,
    fail,
    handle::{Object as _, get},
    info::Query,
    kernel::{Argument, Kernel, OnDevice, is_svm},
    types::*,
};

/// The device of a query: the only one if none is given.
fn select(kernel: &Kernel, device: cl_device_id) -> Result<&OnDevice> {
    if device.is_null() {
        return match kernel.devices.as_slice() {
            [only] => Ok(only),
            _ => fail!(
                CL_INVALID_DEVICE,
                "the kernel has several devices: say which"
            ),
        };
    }
    let device: Arc<Device> = get(device)?;
    match kernel.on(&device) {
        Some(on) => Ok(on),
        None => fail!(CL_INVALID_DEVICE, "the kernel is not built for the device"),
    }
}

fn address_qualifier(argument: &ArgumentMetadata) -> cl_uint {
    match (argument.value_kind, argument.address_space) {
        // A number in the program's eyes, though kernels find it in constant memory.
        (ValueKind::Sampler, _) => CL_KERNEL_ARG_ADDRESS_PRIVATE,
        // In global memory by the specification, though compilers place their descriptors in constant memory.
        (ValueKind::Image, _) => CL_KERNEL_ARG_ADDRESS_GLOBAL,
        (_, Some(AddressSpace::Constant)) => CL_KERNEL_ARG_ADDRESS_CONSTANT,
        (_, Some(AddressSpace::Local)) => CL_KERNEL_ARG_ADDRESS_LOCAL,
        (ValueKind::GlobalBuffer | ValueKind::Pipe, _) => CL_KERNEL_ARG_ADDRESS_GLOBAL,
        (ValueKind::DynamicSharedPointer, _) => CL_KERNEL_ARG_ADDRESS_LOCAL,
        _ => CL_KERNEL_ARG_ADDRESS_PRIVATE,
    }
}

fn argument_info(kernel: &Kernel, index: cl_uint, name: cl_name, query: &Query) -> Result {
    let argument = kernel.argument(index)?;
    let Some(type_name) = &argument.type_name else {
        return fail!(
            CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
            "the code object does not say what the arguments are"
        );
    };
    match name {
        CL_KERNEL_ARG_ADDRESS_QUALIFIER => query.value(address_qualifier(argument)),
        CL_KERNEL_ARG_ACCESS_QUALIFIER => query.value(match argument.access {
            Some(Access::ReadOnly) => CL_KERNEL_ARG_ACCESS_READ_ONLY,
            Some(Access::WriteOnly) => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
            Some(Access::ReadWrite) => CL_KERNEL_ARG_ACCESS_READ_WRITE,
            // Images are for reading if the source does not say.
            None if argument.value_kind == ValueKind::Image => CL_KERNEL_ARG_ACCESS_READ_ONLY,
            None => CL_KERNEL_ARG_ACCESS_NONE,
        }),
        CL_KERNEL_ARG_TYPE_NAME => query.text(type_name),
        CL_KERNEL_ARG_TYPE_QUALIFIER => {
            let constant = argument.value_kind != ValueKind::Sampler
                && (argument.is_const
                    || address_qualifier(argument) == CL_KERNEL_ARG_ADDRESS_CONSTANT);
            let flags = [
                (constant, CL_KERNEL_ARG_TYPE_CONST),
                (argument.is_restrict, CL_KERNEL_ARG_TYPE_RESTRICT),
                (argument.is_volatile, CL_KERNEL_ARG_TYPE_VOLATILE),
                (argument.is_pipe, CL_KERNEL_ARG_TYPE_PIPE),
            ];
            query.value(
                flags
                    .iter()
                    .filter(|(on, _)| *on)
                    .fold(0 as cl_bitfield, |sum, (_, flag)| sum | flag),
            )
        }
        CL_KERNEL_ARG_NAME => match &argument.name {
            Some(name) => query.text(name),
            None => fail!(
                CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
                "the code object does not name the arguments"
            ),
        },
        name => query.unknown(name),
    }
}

/// Rows of three sizes that a sub-group count asks about.
fn sub_groups(
    on: &OnDevice,
    name: cl_name,
    input: In<usize>,
    input_size: usize,
    query: &Query,
) -> Result {
    let wave = on.clr.metadata().wavefront_size.max(1) as usize;
    let most = Kernel::max_group(on);
    match name {
        CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE | CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => {
            let dimensions = input_size / size_of::<usize>();
            if input.is_null()
                || !matches!(dimensions, 1..=3)
                || !input_size.is_multiple_of(size_of::<usize>())
            {
                return fail!(
                    CL_INVALID_VALUE,
                    "a work-group of {input_size} bytes of sizes"
                );
            }
            let size: usize = input.list(dimensions).iter().product();
            query.value(if name == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE {
                size.min(wave)
            } else {
                size.div_ceil(wave)
            })
        }
        CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
            let Some(count) = input.get().filter(|_| input_size == size_of::<usize>()) else {
                return fail!(CL_INVALID_VALUE, "no number of sub-groups");
            };
            let dimensions = query.size / size_of::<usize>();
            if !query.value.is_null() && !matches!(dimensions, 1..=3) {
                return fail!(CL_INVALID_VALUE, "no place for a work-group");
            }
            let size = count.saturating_mul(wave);
            let sizes = if count != 0 && size <= most {
                [size, 1, 1]
            } else {
                [0; 3]
            };
            query.list(&sizes[..dimensions.clamp(1, 3)])
        }
        CL_KERNEL_MAX_NUM_SUB_GROUPS => query.value(most.div_ceil(wave)),
        CL_KERNEL_COMPILE_NUM_SUB_GROUPS => query.value(0_usize),
        name => query.unknown(name),
    }
}

cl_api! {
    /// Makes a kernel of a program.
    create fn clCreateKernel(program: cl_program, kernel_name: Text) -> cl_kernel {
        let program = get(program)?;
        let Some(name) = kernel_name.get() else {
            return fail!(CL_INVALID_VALUE, "no name");
        };
        Ok(Kernel::create(&program, &name, None)?.handle().raw())
    }

    /// Makes all kernels of a program.
    fn clCreateKernelsInProgram(program: cl_program, num_kernels: cl_uint, kernels: Out<cl_kernel>, num_kernels_ret: Out<cl_uint>) {
        let program = get(program)?;
        let names = program.kernel_names()?;
        if !kernels.is_null() {
            if (num_kernels as usize) < names.len() {
                return fail!(CL_INVALID_VALUE, "{} kernels, and place for {num_kernels}", names.len());
            }
            let made: Result<Vec<_>> = names.iter().map(|name| Kernel::create(&program, name, None)).collect();
            for (index, kernel) in made?.into_iter().enumerate() {
                kernels.put(index, kernel.handle().raw());
            }
        }
        num_kernels_ret.set(names.len() as cl_uint);
        Ok(())
    }

    /// Makes a kernel with the arguments of another one.
    create fn clCloneKernel(source_kernel: cl_kernel) -> cl_kernel {
        let kernel = get(source_kernel)?;
        let arguments = kernel.arguments.lock().clone();
        Ok(Kernel::create(&kernel.program, &kernel.name, Some(arguments))?.handle().raw())
    }

    /// One more reference.
    fn clRetainKernel(kernel: cl_kernel) {
        Kernel::table().retain(kernel)
    }

    /// One reference less.
    fn clReleaseKernel(kernel: cl_kernel) {
        Kernel::table().release(kernel).map(drop)
    }

    /// Sets an argument.
    fn clSetKernelArg(kernel: cl_kernel, arg_index: cl_uint, arg_size: usize, arg_value: *const c_void) {
        let kernel = get(kernel)?;
        let argument = kernel.check(arg_index, arg_size, arg_value)?;
        kernel.arguments.lock()[arg_index as usize] = Some(argument);
        Ok(())
    }

    /// Sets an argument to an address in shared virtual memory.
    fn clSetKernelArgSVMPointer(kernel: cl_kernel, arg_index: cl_uint, arg_value: *const c_void) {
        let kernel = get(kernel)?;
        let argument = kernel.argument(arg_index)?;
        if argument.value_kind != ValueKind::GlobalBuffer {
            return fail!(CL_INVALID_ARG_VALUE, "argument {arg_index} is no pointer to global memory");
        }
        let address = arg_value.expose_provenance();
        if !is_svm(address) {
            return fail!(CL_INVALID_ARG_VALUE, "{arg_value:p} is not in shared virtual memory");
        }
        kernel.arguments.lock()[arg_index as usize] = Some(Argument::Address(address as u64));
        Ok(())
    }

    /// Says what else a kernel uses: all shared virtual memory can be used by all kernels in any case.
    fn clSetKernelExecInfo(kernel: cl_kernel, param_name: cl_name, param_value_size: usize, param_value: *const c_void) {
        get(kernel)?;
        if param_name == CL_KERNEL_EXEC_INFO_SVM_PTRS && param_value_size == 0 && param_value.is_null() {
            // No pointers any more; kernels may use all of it anyway.
            return Ok(());
        }
        if param_value.is_null() {
            return fail!(CL_INVALID_VALUE, "no value");
        }
        match param_name {
            CL_KERNEL_EXEC_INFO_SVM_PTRS => {
                if param_value_size == 0 || !param_value_size.is_multiple_of(size_of::<usize>()) {
                    return fail!(CL_INVALID_VALUE, "{param_value_size} bytes of pointers");
                }
                let pointers: In<usize> = In::new(param_value.cast());
                let pointers = pointers.list(param_value_size / size_of::<usize>());
                match pointers.into_iter().find(|pointer| !is_svm(*pointer)) {
                    Some(pointer) => fail!(CL_INVALID_VALUE, "{pointer:#x} is not in shared virtual memory"),
                    None => Ok(()),
                }
            }
            CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
                let wanted: In<cl_bool> = In::new(param_value.cast());
                if param_value_size != size_of::<cl_bool>() {
                    return Err(CL_INVALID_VALUE);
                }
                if wanted.get().unwrap_or(0) != 0 {
                    return fail!(CL_INVALID_OPERATION, "kernels cannot use memory that is not allocated for them");
                }
                Ok(())
            }
            name => fail!(CL_INVALID_VALUE, "there is no parameter {name:#x} here"),
        }
    }

    /// Says what a kernel is.
    fn clGetKernelInfo(
        kernel: cl_kernel, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let found = get(kernel)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_KERNEL_FUNCTION_NAME => query.text(&found.name),
            CL_KERNEL_NUM_ARGS => query.value(found.explicit().len() as cl_uint),
            CL_KERNEL_REFERENCE_COUNT => query.value(Kernel::table().references(kernel)),
            CL_KERNEL_CONTEXT => query.value(found.program.context.handle().raw()),
            CL_KERNEL_PROGRAM => query.value(found.program.handle().raw()),
            CL_KERNEL_ATTRIBUTES => query.text(&attributes(&found)),
            name => query.unknown(name),
        }
    }

    /// Says what an argument of a kernel is.
    fn clGetKernelArgInfo(
        kernel: cl_kernel, arg_indx: cl_uint, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let kernel = get(kernel)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        argument_info(&kernel, arg_indx, param_name, &query)
    }

    /// Says what a kernel is on a device.
    fn clGetKernelWorkGroupInfo(
        kernel: cl_kernel, device: cl_device_id, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let kernel = get(kernel)?;
        let on = select(&kernel, device)?;
        let metadata = on.clr.metadata();
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_KERNEL_WORK_GROUP_SIZE => query.value(Kernel::max_group(on)),
            CL_KERNEL_COMPILE_WORK_GROUP_SIZE => {
                query.list(&metadata.reqd_workgroup_size.unwrap_or_default().map(|size| size as usize))
            }
            CL_KERNEL_LOCAL_MEM_SIZE => query.value(kernel.local_memory(on)),
            CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => query.value(metadata.wavefront_size as usize),
            CL_KERNEL_PRIVATE_MEM_SIZE => query.value(cl_ulong::from(metadata.private_segment_fixed_size)),
            CL_KERNEL_GLOBAL_WORK_SIZE => fail!(CL_INVALID_VALUE, "only built-in kernels have a largest grid"),
            name => query.unknown(name),
        }
    }

    /// Says what sub-groups a kernel has on a device.
    fn clGetKernelSubGroupInfo(
        kernel: cl_kernel, device: cl_device_id, param_name: cl_name, input_value_size: usize, input_value: In<usize>,
        param_value_size: usize, param_value: *mut c_void, param_value_size_ret: Out<usize>,
    ) {
        let kernel = get(kernel)?;
        let on = select(&kernel, device)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        sub_groups(on, param_name, input_value, input_value_size, &query)
    }
}

/// The attributes of a kernel's source, as the metadata have them.
fn attributes(kernel: &Kernel) -> String {
    let metadata = kernel.devices[0].clr.metadata();
    let sizes = |name: &str, sizes: Option<[u32; 3]>| {
        sizes.map(|[x, y, z]| format!("__attribute__(({name}({x},{y},{z})))"))
    };
    let hint = metadata.vec_type_hint.as_ref();
    let all = [
        sizes("reqd_work_group_size", metadata.reqd_workgroup_size),
        sizes("work_group_size_hint", metadata.workgroup_size_hint),
        hint.map(|hint| format!("__attribute__((vec_type_hint({hint})))")),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    all.join(" ")
}
