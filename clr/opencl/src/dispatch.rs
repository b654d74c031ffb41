//! The dispatch table that the ICD loader reads from every handle, and the functions by name.
//!
//! One list makes both. Its order is that of `cl_icd.h`; `-` keeps the place of functions for other systems than this one (Direct3D), which
//! the loaders of this system do not call.

use std::ffi::{CStr, c_char, c_void};

use crate::{
    context::*, device::*, event::*, image_api::*, kernel_api::*, launch::*, memory::*, pipe::*,
    platform::*, program_api::*, queue::*, sampler::*, svm::*, transfer::*, types::cl_platform_id,
    unsupported::*,
};

/// A function pointer, or none.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Function(*const c_void);

// SAFETY: addresses of functions.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

macro_rules! list {
    (@function -) => { Function(std::ptr::null()) };
    (@function $name:ident) => { Function($name as *const c_void) };
    ($($name:tt)*) => {
        /// Places of the table.
        pub const LEN: usize = [$(stringify!($name)),*].len();

        /// The table.
        #[derive(Debug)]
        #[repr(C)]
        pub struct Dispatch([Function; LEN]);

        /// The only table.
        pub static DISPATCH: Dispatch = Dispatch([$(list!(@function $name)),*]);

        /// The names of the table, in its order.
        pub const NAMES: [&str; LEN] = [$(stringify!($name)),*];
    };
}

list! {
    clGetPlatformIDs clGetPlatformInfo clGetDeviceIDs clGetDeviceInfo clCreateContext clCreateContextFromType clRetainContext
    clReleaseContext clGetContextInfo clCreateCommandQueue clRetainCommandQueue clReleaseCommandQueue clGetCommandQueueInfo
    clSetCommandQueueProperty clCreateBuffer clCreateImage2D clCreateImage3D clRetainMemObject clReleaseMemObject
    clGetSupportedImageFormats clGetMemObjectInfo clGetImageInfo clCreateSampler clRetainSampler clReleaseSampler clGetSamplerInfo
    clCreateProgramWithSource clCreateProgramWithBinary clRetainProgram clReleaseProgram clBuildProgram clUnloadCompiler
    clGetProgramInfo clGetProgramBuildInfo clCreateKernel clCreateKernelsInProgram clRetainKernel clReleaseKernel clSetKernelArg
    clGetKernelInfo clGetKernelWorkGroupInfo clWaitForEvents clGetEventInfo clRetainEvent clReleaseEvent clGetEventProfilingInfo
    clFlush clFinish clEnqueueReadBuffer clEnqueueWriteBuffer clEnqueueCopyBuffer clEnqueueReadImage clEnqueueWriteImage
    clEnqueueCopyImage clEnqueueCopyImageToBuffer clEnqueueCopyBufferToImage clEnqueueMapBuffer clEnqueueMapImage
    clEnqueueUnmapMemObject clEnqueueNDRangeKernel clEnqueueTask clEnqueueNativeKernel clEnqueueMarker clEnqueueWaitForEvents
    clEnqueueBarrier clGetExtensionFunctionAddress clCreateFromGLBuffer clCreateFromGLTexture2D clCreateFromGLTexture3D
    clCreateFromGLRenderbuffer clGetGLObjectInfo clGetGLTextureInfo clEnqueueAcquireGLObjects clEnqueueReleaseGLObjects
    clGetGLContextInfoKHR
    - - - - - -
    clSetEventCallback clCreateSubBuffer clSetMemObjectDestructorCallback clCreateUserEvent clSetUserEventStatus
    clEnqueueReadBufferRect clEnqueueWriteBufferRect clEnqueueCopyBufferRect
    clCreateSubDevicesEXT clRetainDeviceEXT clReleaseDeviceEXT
    clCreateEventFromGLsyncKHR
    clCreateSubDevices clRetainDevice clReleaseDevice clCreateImage clCreateProgramWithBuiltInKernels clCompileProgram clLinkProgram
    clUnloadPlatformCompiler clGetKernelArgInfo clEnqueueFillBuffer clEnqueueFillImage clEnqueueMigrateMemObjects
    clEnqueueMarkerWithWaitList clEnqueueBarrierWithWaitList clGetExtensionFunctionAddressForPlatform clCreateFromGLTexture
    - - - - - - -
    - - -
    clCreateFromEGLImageKHR clEnqueueAcquireEGLObjectsKHR clEnqueueReleaseEGLObjectsKHR
    clCreateEventFromEGLSyncKHR
    clCreateCommandQueueWithProperties clCreatePipe clGetPipeInfo clSVMAlloc clSVMFree clEnqueueSVMFree clEnqueueSVMMemcpy
    clEnqueueSVMMemFill clEnqueueSVMMap clEnqueueSVMUnmap clCreateSamplerWithProperties clSetKernelArgSVMPointer
    clSetKernelExecInfo
    clGetKernelSubGroupInfoKHR
    clCloneKernel clCreateProgramWithIL clEnqueueSVMMigrateMem clGetDeviceAndHostTimer clGetHostTimer clGetKernelSubGroupInfo
    clSetDefaultDeviceCommandQueue
    clSetProgramReleaseCallback clSetProgramSpecializationConstant
    clCreateBufferWithProperties clCreateImageWithProperties clSetContextDestructorCallback
}

/// Another name of `clGetKernelSubGroupInfo`, of the extension `cl_khr_subgroups`.
pub use crate::kernel_api::clGetKernelSubGroupInfo as clGetKernelSubGroupInfoKHR;

fn find(name: *const c_char) -> *mut c_void {
    if name.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller gives a string that ends with a zero.
    let name = unsafe { CStr::from_ptr(name) };
    let extensions: [(&CStr, *const c_void); 2] = [
        (
            c"clIcdGetPlatformIDsKHR",
            clIcdGetPlatformIDsKHR as *const c_void,
        ),
        (
            c"clCreateCommandQueueWithPropertiesKHR",
            clCreateCommandQueueWithProperties as *const c_void,
        ),
    ];
    if let Some((_, function)) = extensions.iter().find(|(known, _)| *known == name) {
        return function.cast_mut();
    }
    let place = NAMES
        .iter()
        .position(|known| known.as_bytes() == name.to_bytes());
    place.map_or(std::ptr::null_mut(), |place| DISPATCH.0[place].0.cast_mut())
}

/// A function by its name; null if there is none.
///
/// # Safety
///
/// The name must be null or end with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetExtensionFunctionAddress(func_name: *const c_char) -> *mut c_void {
    find(func_name)
}

/// A function by its name; null if there is none.
///
/// # Safety
///
/// The name must be null or end with a zero.
pub unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(
    platform: cl_platform_id,
    func_name: *const c_char,
) -> *mut c_void {
    if check(platform).is_err() {
        return std::ptr::null_mut();
    }
    find(func_name)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// Functions that always give an error though they look at their arguments, and why.
    const REFUSED: [(&str, &str); 7] = [
        (
            "clSetCommandQueueProperty",
            "of OpenCL 1.0; a queue's properties stay",
        ),
        (
            "clCreateProgramWithBuiltInKernels",
            "there are no built-in kernels",
        ),
        ("clCreateProgramWithIL", "no SPIR-V"),
        ("clSetProgramSpecializationConstant", "no SPIR-V"),
        (
            "clSetProgramReleaseCallback",
            "no program-scope destructors",
        ),
        ("clCreateSubDevices", "devices cannot be parted"),
        ("clGetGLContextInfoKHR", "no sharing with OpenGL"),
    ];

    fn page() -> String {
        let mut text = "# OpenCL functions\n\nMade from the dispatch table of `clr/opencl`. Functions that are not supported give the \
                        specification's error, and the log (`AMD_LOG_LEVEL=1`) names them. Functions for Direct3D are not there.\n\n\
                        | function | |\n| --- | --- |\n"
            .to_owned();
        for name in NAMES.iter().filter(|name| **name != "-") {
            let refused = REFUSED.iter().find(|(known, _)| known == name);
            let state = match refused {
                Some((_, why)) => format!("not supported: {why}"),
                None if crate::unsupported::NAMES.contains(name) => "not supported".to_owned(),
                None => "works".to_owned(),
            };
            let _ = writeln!(text, "| `{name}` | {state} |");
        }
        text
    }

    #[test]
    fn the_page_of_the_documentation_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/opencl-api.md");
        if std::env::var_os("GNEISS_BLESS").is_some() {
            std::fs::write(path, page()).expect("written");
        }
        assert!(
            std::fs::read_to_string(path).unwrap_or_default() == page(),
            "{path} differs from the table: run this test with GNEISS_BLESS=1"
        );
        for (name, _) in REFUSED {
            assert!(NAMES.contains(&name), "{name}");
        }
    }

    #[test]
    fn functions_are_found_by_name() {
        // SAFETY: the names end with a zero.
        unsafe {
            assert_eq!(
                clGetExtensionFunctionAddress(c"clGetPlatformIDs".as_ptr()).cast_const(),
                clGetPlatformIDs as *const c_void
            );
            assert!(!clGetExtensionFunctionAddress(c"clIcdGetPlatformIDsKHR".as_ptr()).is_null());
            assert!(clGetExtensionFunctionAddress(c"clNothing".as_ptr()).is_null());
            assert!(clGetExtensionFunctionAddress(c"-".as_ptr()).is_null());
            assert!(clGetExtensionFunctionAddress(std::ptr::null()).is_null());
        }
    }

    /// `cl_icd.h` where it is installed: each function must stand in its place.
    #[test]
    fn the_order_is_that_of_the_header() {
        let Ok(header) = std::fs::read_to_string("/usr/include/CL/cl_icd.h") else {
            assert_eq!(LEN, 147);
            return;
        };
        let (_, body) = header
            .split_once("struct _cl_icd_dispatch {")
            .expect("the table");
        let (body, _) = body.split_once('}').expect("its end");
        let words = body
            .split_whitespace()
            .filter_map(|word| word.strip_suffix(';'));
        let names: Vec<_> = words.filter(|word| word.starts_with("cl")).collect();
        assert_eq!(names.len(), LEN);
        for (name, ours) in names.iter().zip(NAMES) {
            assert!(
                ours == "-" || ours == *name,
                "{name} in the header, {ours} here"
            );
        }
    }
}
