//! The functions of programs.

use std::{
    ffi::c_void,
    sync::{Arc, atomic::Ordering},
};

use gneiss_hiprtc::compiler::Header;

use crate::{
    cl_api, compiler,
    constants::*,
    context::UserData,
    device_info,
    error::Result,
    fail,
    handle::{Object as _, get},
    info::Query,
    options::Options,
    program::{self, Build, Origin, Program, tell},
    types::*,
};

/// Options of a call.
fn options(text: Text, link: bool, program_images: bool) -> Result<Options> {
    let wrong = if link {
        CL_INVALID_LINKER_OPTIONS
    } else {
        CL_INVALID_BUILD_OPTIONS
    };
    Options::parse(&text.get().unwrap_or_default(), link, program_images)
        .or_else(|option| fail!(wrong, "there is no option {option}"))
}

fn check_notify(notify: &ProgramNotify, user_data: *mut c_void) -> Result {
    if notify.is_none() && !user_data.is_null() {
        return fail!(CL_INVALID_VALUE, "user data without a function");
    }
    Ok(())
}

fn check_unused(program: &Program) -> Result {
    if program.kernels.load(Ordering::Acquire) != 0 {
        return fail!(CL_INVALID_OPERATION, "the program has kernel objects");
    }
    Ok(())
}

cl_api! {
    /// Makes a program of source.
    create fn clCreateProgramWithSource(
        context: cl_context, count: cl_uint, strings: In<Text>, lengths: In<usize>,
    ) -> cl_program {
        let context = get(context)?;
        if count == 0 || strings.is_null() {
            return fail!(CL_INVALID_VALUE, "a program of no strings");
        }
        let lengths = lengths.list(count as usize);
        let mut source = Vec::new();
        for (index, string) in strings.list(count as usize).into_iter().enumerate() {
            let length = lengths.get(index).copied().unwrap_or(0);
            match string.first(length) {
                Some(bytes) => source.extend_from_slice(bytes),
                None => return fail!(CL_INVALID_VALUE, "string {index} is null"),
            }
        }
        let source = String::from_utf8_lossy(&source).into_owned();
        let devices = context.devices.clone();
        let builds = vec![Build::default(); devices.len()];
        Ok(Program::create(context, Origin::Source(source), devices, builds)?.handle().raw())
    }

    /// Makes a program of binaries.
    create fn clCreateProgramWithBinary(
        context: cl_context, num_devices: cl_uint, device_list: In<cl_device_id>, lengths: In<usize>, binaries: In<In<u8>>,
        binary_status: Out<cl_int>,
    ) -> cl_program {
        let context = get(context)?;
        if num_devices == 0 || device_list.is_null() || lengths.is_null() || binaries.is_null() {
            return fail!(CL_INVALID_VALUE, "no devices, lengths or binaries");
        }
        let devices = context.select(num_devices, device_list)?;
        let lengths = lengths.list(devices.len());
        let binaries = binaries.list(devices.len());
        let (mut builds, mut result) = (Vec::new(), Ok(()));
        for (index, (length, binary)) in lengths.into_iter().zip(binaries).enumerate() {
            if length == 0 || binary.is_null() {
                binary_status.put(index, CL_INVALID_VALUE);
                result = result.and(Err(CL_INVALID_VALUE));
                continue;
            }
            match Program::of_binary(&binary.list(length)) {
                Some(build) => {
                    binary_status.put(index, CL_SUCCESS);
                    builds.push(build);
                }
                None => {
                    binary_status.put(index, CL_INVALID_BINARY);
                    result = result.and(fail!(CL_INVALID_BINARY, "binary {index} is neither an ELF file nor bitcode"));
                }
            }
        }
        result?;
        Ok(Program::create(context, Origin::Binary, devices, builds)?.handle().raw())
    }

    /// Refuses built-in kernels: there are none.
    create fn clCreateProgramWithBuiltInKernels(
        context: cl_context, num_devices: cl_uint, device_list: In<cl_device_id>, kernel_names: Text,
    ) -> cl_program {
        let context = get(context)?;
        if num_devices == 0 || device_list.is_null() {
            return fail!(CL_INVALID_VALUE, "no devices");
        }
        context.select(num_devices, device_list)?;
        fail!(CL_INVALID_VALUE, "there are no built-in kernels ({:?})", kernel_names.get())
    }

    /// Refuses intermediate language: no device takes any.
    create fn clCreateProgramWithIL(context: cl_context, il: In<u8>, length: usize) -> cl_program {
        get(context)?;
        fail!(CL_INVALID_OPERATION, "clCreateProgramWithIL: no SPIR-V ({length} bytes at {:?})", il.pointer())
    }

    /// Refuses specialization constants: they are SPIR-V's.
    fn clSetProgramSpecializationConstant(program: cl_program, _spec_id: cl_uint, _spec_size: usize, _spec_value: *const c_void) {
        get(program)?;
        fail!(CL_INVALID_OPERATION, "clSetProgramSpecializationConstant: no SPIR-V")
    }

    /// Refuses release callbacks: they are for constructors of programs in C++ for OpenCL.
    fn clSetProgramReleaseCallback(program: cl_program, _pfn_notify: ProgramNotify, _user_data: *mut c_void) {
        get(program)?;
        fail!(CL_INVALID_OPERATION, "clSetProgramReleaseCallback: no program-scope destructors")
    }

    /// One more reference.
    fn clRetainProgram(program: cl_program) {
        Program::table().retain(program)
    }

    /// One reference less.
    fn clReleaseProgram(program: cl_program) {
        Program::table().release(program).map(drop)
    }

    /// Compiles and links a program.
    fn clBuildProgram(
        program: cl_program, num_devices: cl_uint, device_list: In<cl_device_id>, options_: Text, pfn_notify: ProgramNotify,
        user_data: *mut c_void,
    ) {
        let found = get(program)?;
        check_notify(&pfn_notify, user_data)?;
        let devices = found.context.select(num_devices, device_list)?;
        let devices: Vec<_> = devices.into_iter().filter(|device| num_devices != 0 || found.place(device).is_some()).collect();
        check_unused(&found)?;
        let options = options(options_, false, found.devices.iter().all(|device| device.images()))?;
        if matches!(found.origin, Origin::Source(_)) && !compiler::available() {
            // The log says what to install; a program may show only that.
            let result = found.build_for(&devices, &options);
            tell(pfn_notify, program, UserData(user_data));
            return result.and(Err(CL_COMPILER_NOT_AVAILABLE));
        }
        let result = found.build_for(&devices, &options);
        tell(pfn_notify, program, UserData(user_data));
        result
    }

    /// Compiles a program, without linking it.
    fn clCompileProgram(
        program: cl_program, num_devices: cl_uint, device_list: In<cl_device_id>, options_: Text, num_input_headers: cl_uint,
        input_headers: In<cl_program>, header_include_names: In<Text>, pfn_notify: ProgramNotify, user_data: *mut c_void,
    ) {
        let found = get(program)?;
        check_notify(&pfn_notify, user_data)?;
        if (num_input_headers == 0) != input_headers.is_null() || (num_input_headers == 0) != header_include_names.is_null() {
            return fail!(CL_INVALID_VALUE, "{num_input_headers} headers, but not as many programs and names");
        }
        let devices = found.context.select(num_devices, device_list)?;
        check_unused(&found)?;
        if !matches!(found.origin, Origin::Source(_)) {
            return fail!(CL_INVALID_OPERATION, "the program has no source");
        }
        let options = options(options_, false, found.devices.iter().all(|device| device.images()))
            .map_err(|_| CL_INVALID_COMPILER_OPTIONS)?;
        let mut headers = Vec::new();
        let names = header_include_names.list(num_input_headers as usize);
        for (header, name) in input_headers.list(num_input_headers as usize).into_iter().zip(names) {
            let header = get(header)?;
            let (Origin::Source(text), Some(name)) = (&header.origin, name.get()) else {
                return fail!(CL_INVALID_VALUE, "a header without source or name");
            };
            headers.push(Header { name, text: text.clone() });
        }
        let result = found.compile_for(&devices, &headers, &options);
        tell(pfn_notify, program, UserData(user_data));
        result
    }

    /// Links compiled programs.
    create fn clLinkProgram(
        context: cl_context, num_devices: cl_uint, device_list: In<cl_device_id>, options_: Text, num_input_programs: cl_uint,
        input_programs: In<cl_program>, pfn_notify: ProgramNotify, user_data: *mut c_void,
    ) -> cl_program {
        let context = get(context)?;
        check_notify(&pfn_notify, user_data)?;
        let devices = context.select(num_devices, device_list)?;
        if num_input_programs == 0 || input_programs.is_null() {
            return fail!(CL_INVALID_VALUE, "no programs to link");
        }
        let programs: Result<Vec<_>> = input_programs.list(num_input_programs as usize).into_iter().map(get).collect();
        let programs = programs?;
        let options = options(options_, true, devices.iter().all(|device| device.images()))?;
        let (mut builds, mut kept) = (Vec::new(), Vec::new());
        for device in &devices {
            let mut objects = Vec::new();
            for program in &programs {
                let build = program.build_of(device)?;
                if matches!(build.kind, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT | CL_PROGRAM_BINARY_TYPE_LIBRARY) {
                    objects.push(build);
                }
            }
            if objects.is_empty() {
                // All of them or none: a device that none is compiled for has no executable.
                continue;
            }
            if objects.len() != programs.len() {
                return fail!(CL_INVALID_OPERATION, "not all programs are compiled for a device");
            }
            let pieces: Vec<&[u8]> = objects.iter().flat_map(|build| program::pieces(&build.binary)).collect();
            // How each piece was compiled decides how it calculates.
            let mut options = options.clone();
            options.standard = objects.iter().map(|build| build.options.standard).max().unwrap_or(120);
            options.uniform = objects.iter().all(|build| build.options.uniform);
            for build in &objects {
                options.math.correctly_rounded |= build.options.math.correctly_rounded;
            }
            builds.push(if options.library {
                program::library(&pieces, &options)
            } else {
                program::link(device, &pieces, &options, String::new())
            });
            kept.push(Arc::clone(device));
        }
        if kept.is_empty() {
            return fail!(CL_INVALID_OPERATION, "no program is compiled for any of the devices");
        }
        let failed = builds.iter().any(|build| build.status != CL_BUILD_SUCCESS);
        if failed {
            for build in &builds {
                context.tell(&build.log);
            }
            let logs: String = builds.iter().map(|build| build.log.as_str()).collect();
            tell(pfn_notify, std::ptr::null_mut(), UserData(user_data));
            return fail!(CL_LINK_PROGRAM_FAILURE, "{logs}");
        }
        let program = Program::create(context, Origin::Linked, kept, builds)?;
        tell(pfn_notify, program.handle().raw(), UserData(user_data));
        Ok(program.handle().raw())
    }

    /// Says what a program is.
    fn clGetProgramInfo(
        program: cl_program, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let found = get(program)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_PROGRAM_REFERENCE_COUNT => query.value(Program::table().references(program)),
            CL_PROGRAM_CONTEXT => query.value(found.context.handle().raw()),
            CL_PROGRAM_NUM_DEVICES => query.value(found.devices.len() as cl_uint),
            CL_PROGRAM_DEVICES => {
                let handles: Vec<_> = found.devices.iter().map(|device| device_info::handle(device)).collect();
                query.list(&handles)
            }
            CL_PROGRAM_SOURCE => query.text(match &found.origin {
                Origin::Source(source) => source,
                Origin::Binary | Origin::Linked => "",
            }),
            CL_PROGRAM_IL => query.bytes(&[]),
            CL_PROGRAM_BINARY_SIZES => {
                let sizes: Vec<usize> = found.builds.lock().iter().map(|build| build.binary.len()).collect();
                query.list(&sizes)
            }
            CL_PROGRAM_BINARIES => {
                let binaries: Vec<_> = found.builds.lock().iter().map(|build| Arc::clone(&build.binary)).collect();
                let size = binaries.len() * size_of::<*mut u8>();
                if !query.value.is_null() {
                    if query.size < size {
                        return fail!(CL_INVALID_VALUE, "no place for {} pointers", binaries.len());
                    }
                    let places: In<Out<u8>> = In::new(query.value.cast());
                    for (place, binary) in places.list(binaries.len()).into_iter().zip(&binaries) {
                        place.copy(binary);
                    }
                }
                query.needed.set(size);
                Ok(())
            }
            CL_PROGRAM_NUM_KERNELS => query.value(found.kernel_names()?.len()),
            CL_PROGRAM_KERNEL_NAMES => query.text(&found.kernel_names()?.join(";")),
            CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => query.truth(false),
            name => query.unknown(name),
        }
    }

    /// Says what a program is on a device.
    fn clGetProgramBuildInfo(
        program: cl_program, device: cl_device_id, param_name: cl_name, param_value_size: usize, param_value: *mut c_void,
        param_value_size_ret: Out<usize>,
    ) {
        let found = get(program)?;
        let build = found.build_of(&get(device)?)?;
        let query = Query { size: param_value_size, value: param_value, needed: param_value_size_ret };
        match param_name {
            CL_PROGRAM_BUILD_STATUS => query.value(build.status),
            CL_PROGRAM_BUILD_OPTIONS => query.text(&build.options.text),
            CL_PROGRAM_BUILD_LOG => query.text(&build.log),
            CL_PROGRAM_BINARY_TYPE => query.value(build.kind),
            CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => query.value(Program::variables(&build)),
            name => query.unknown(name),
        }
    }
}
