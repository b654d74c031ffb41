//! Compiling through AMD's `libamd_comgr`, with the header that `libhiprtc-builtins` holds.
//!
//! The library is opened when something is to be compiled, not before. Its handles are 64-bit numbers; every one that is made
//! here is ended here.

use std::{
    ffi::{CStr, CString, c_char, c_void},
    fmt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use parking_lot::Mutex;

use crate::{
    clang::code_options,
    compiler::{Compiled, Job, LIBRARY_FOLDERS, Log, file_identity, rocm_folders},
    target,
};

const KIND_SOURCE: u32 = 1;
const KIND_INCLUDE: u32 = 2;
const KIND_LOG: u32 = 5;
const KIND_BC: u32 = 6;
const KIND_RELOCATABLE: u32 = 7;
const KIND_EXECUTABLE: u32 = 8;
const LANGUAGE_HIP: u32 = 4;
const ADD_DEVICE_LIBRARIES: u32 = 3;
const LINK_BC_TO_BC: u32 = 4;
const CODEGEN_BC_TO_RELOCATABLE: u32 = 6;
const LINK_RELOCATABLE_TO_EXECUTABLE: u32 = 9;
const COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC: u32 = 15;

/// Name under which source includes AMD's header.
const BUILTIN: &str = "hiprtc_runtime.h";

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*);)*) => {
        /// The functions of the library.
        #[derive(Debug)]
        struct Functions { $( $name: unsafe extern "C" fn($($argument),*) -> u32, )* }

        impl Functions {
            fn load(library: *mut c_void) -> Option<Self> {
                Some(Self { $(
                    $name: {
                        let name = concat!("amd_comgr_", stringify!($name), "\0");
                        let name = CStr::from_bytes_with_nul(name.as_bytes()).ok()?;
                        let address = target::symbol(library, name)?;
                        // SAFETY: the function has this type in every version 2 and 3 of the library.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> u32>(address) }
                    },
                )* })
            }
        }
    };
}

functions! {
    get_isa_count: fn(*mut usize);
    get_isa_name: fn(usize, *mut *const c_char);
    create_data: fn(u32, *mut u64);
    release_data: fn(u64);
    set_data: fn(u64, usize, *const c_char);
    set_data_name: fn(u64, *const c_char);
    get_data: fn(u64, *mut usize, *mut c_char);
    create_data_set: fn(*mut u64);
    destroy_data_set: fn(u64);
    data_set_add: fn(u64, u64);
    action_data_count: fn(u64, u32, *mut usize);
    action_data_get_data: fn(u64, u32, usize, *mut u64);
    create_action_info: fn(*mut u64);
    destroy_action_info: fn(u64);
    action_info_set_isa_name: fn(u64, *const c_char);
    action_info_set_language: fn(u64, u32);
    action_info_set_option_list: fn(u64, *const *const c_char, usize);
    action_info_set_logging: fn(u64, bool);
    do_action: fn(u32, u64, u64, u64);
}

/// The library, opened.
#[derive(Debug)]
struct Loaded {
    functions: Functions,
    /// ISA names that it has code generation for.
    isas: Vec<String>,
    /// AMD's header, with all that it includes.
    header: &'static [u8],
    /// The library's actions are not made for several threads in every version.
    turn: Mutex<()>,
}

/// The library as files.
#[derive(Debug)]
pub struct Comgr {
    library: PathBuf,
    builtins: PathBuf,
}

/// A set of data, ended when it goes.
struct Set<'a>(&'a Functions, u64);

impl Drop for Set<'_> {
    fn drop(&mut self) {
        // SAFETY: the set is alive; this ends it.
        unsafe { (self.0.destroy_data_set)(self.1) };
    }
}

impl fmt::Debug for Set<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Set").field(&self.1).finish()
    }
}

fn check(what: &str, status: u32) -> Result<(), Log> {
    if status == 0 {
        Ok(())
    } else {
        Err(format!(
            "hiprtc: amd_comgr_{what} failed with status {status}\n"
        ))
    }
}

fn text(value: &str) -> Result<CString, Log> {
    CString::new(value).map_err(|_| format!("hiprtc: {value:?} has a zero byte\n"))
}

impl<'a> Set<'a> {
    fn new(functions: &'a Functions) -> Result<Self, Log> {
        let mut set = 0;
        // SAFETY: the place is valid.
        check("create_data_set", unsafe {
            (functions.create_data_set)(&raw mut set)
        })?;
        Ok(Set(functions, set))
    }

    fn add(&self, kind: u32, name: &str, bytes: &[u8]) -> Result<(), Log> {
        let functions = self.0;
        let (name, mut data) = (text(name)?, 0);
        // SAFETY: places and bytes are valid for the calls; the set keeps its own reference.
        unsafe {
            check("create_data", (functions.create_data)(kind, &raw mut data))?;
            let added = check(
                "set_data",
                (functions.set_data)(data, bytes.len(), bytes.as_ptr().cast()),
            )
            .and_then(|()| {
                check(
                    "set_data_name",
                    (functions.set_data_name)(data, name.as_ptr()),
                )
            })
            .and_then(|()| check("data_set_add", (functions.data_set_add)(self.1, data)));
            (functions.release_data)(data);
            added
        }
    }

    fn get(&self, kind: u32) -> Option<Vec<u8>> {
        let functions = self.0;
        let (mut count, mut data, mut size) = (0, 0, 0);
        // SAFETY: places are valid; the buffer has the size that the library has said.
        unsafe {
            (functions.action_data_count)(self.1, kind, &raw mut count);
            if count == 0 || (functions.action_data_get_data)(self.1, kind, 0, &raw mut data) != 0 {
                return None;
            }
            let mut bytes = Vec::new();
            if (functions.get_data)(data, &raw mut size, std::ptr::null_mut()) == 0 {
                bytes.resize(size, 0_u8);
                if (functions.get_data)(data, &raw mut size, bytes.as_mut_ptr().cast()) != 0 {
                    bytes.clear();
                }
            }
            (functions.release_data)(data);
            Some(bytes)
        }
    }
}

impl Comgr {
    /// The library and AMD's header, if both are installed.
    pub fn find() -> Option<Comgr> {
        let mut folders: Vec<PathBuf> = std::env::var_os("LD_LIBRARY_PATH")
            .map(|paths| std::env::split_paths(&paths).collect())
            .unwrap_or_default();
        folders.extend(rocm_folders().into_iter().map(|folder| folder.join("lib")));
        folders.extend(LIBRARY_FOLDERS.map(PathBuf::from));
        let find = |names: &[&str]| {
            folders
                .iter()
                .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
                .find(|path| path.exists())
        };
        Some(Comgr {
            library: find(&["libamd_comgr.so.3", "libamd_comgr.so.2"])?,
            builtins: find(&[
                "libhiprtc-builtins.so.7",
                "libhiprtc-builtins.so.6",
                "libhiprtc-builtins.so.5",
                "libhiprtc-builtins.so",
            ])?,
        })
    }

    /// See [`Compiler::identity`](crate::compiler::Compiler::identity).
    pub fn identity(&self) -> String {
        [&self.library, &self.builtins]
            .map(|path| file_identity(path))
            .join("; ")
    }

    fn loaded(&self) -> Option<&'static Loaded> {
        static LOADED: OnceLock<Option<Loaded>> = OnceLock::new();
        LOADED
            .get_or_init(|| {
                let library = open(&self.library)?;
                let functions = Functions::load(library)?;
                let builtins = open(&self.builtins)?;
                let start = target::symbol(builtins, c"__hipRTC_header")?;
                let size = target::symbol(builtins, c"__hipRTC_header_size")?;
                // SAFETY: the library holds a header of the size that stands beside it; it is never closed.
                let header = unsafe {
                    let size = size.cast::<u32>().read_unaligned() as usize;
                    std::slice::from_raw_parts(start.cast::<u8>(), size)
                };
                let mut count = 0;
                // SAFETY: the place is valid.
                unsafe { (functions.get_isa_count)(&raw mut count) };
                let isas = (0..count).filter_map(|index| {
                    let mut name = std::ptr::null();
                    // SAFETY: the place is valid; names are constant strings of the library.
                    unsafe {
                        let status = (functions.get_isa_name)(index, &raw mut name);
                        (status == 0 && !name.is_null())
                            .then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
                    }
                });
                let isas = isas.collect();
                Some(Loaded {
                    functions,
                    isas,
                    header,
                    turn: Mutex::new(()),
                })
            })
            .as_ref()
    }

    /// Whether it makes code for a target ID.
    pub fn knows(&self, target: &str) -> bool {
        let processor = crate::compiler::processor(target);
        self.loaded().is_some_and(|loaded| {
            loaded
                .isas
                .iter()
                .any(|isa| isa.strip_prefix("amdgcn-amd-amdhsa--") == Some(processor))
        })
    }

    /// One action; gives the result's data set and adds to the log.
    fn action<'a>(
        loaded: &'a Loaded,
        action: u32,
        input: &Set<'_>,
        target: &str,
        options: &[&str],
        log: &mut Log,
    ) -> Result<Set<'a>, Log> {
        let functions = &loaded.functions;
        let output = Set::new(functions)?;
        let isa = text(&format!("amdgcn-amd-amdhsa--{target}"))?;
        let options = options
            .iter()
            .map(|option| text(option))
            .collect::<Result<Vec<_>, _>>()?;
        let list: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut info = 0;
        // SAFETY: places and strings are valid for the calls; sets are alive.
        let status = unsafe {
            check(
                "create_action_info",
                (functions.create_action_info)(&raw mut info),
            )?;
            let prepared = check(
                "action_info_set_language",
                (functions.action_info_set_language)(info, LANGUAGE_HIP),
            )
            .and_then(|()| {
                check(
                    "action_info_set_isa_name",
                    (functions.action_info_set_isa_name)(info, isa.as_ptr()),
                )
            })
            .and_then(|()| {
                check(
                    "action_info_set_option_list",
                    (functions.action_info_set_option_list)(info, list.as_ptr(), list.len()),
                )
            })
            .and_then(|()| {
                check(
                    "action_info_set_logging",
                    (functions.action_info_set_logging)(info, true),
                )
            });
            let status = prepared.map(|()| (functions.do_action)(action, info, input.1, output.1));
            (functions.destroy_action_info)(info);
            status?
        };
        if let Some(bytes) = output.get(KIND_LOG) {
            let said = String::from_utf8_lossy(&bytes);
            log.push_str(said.trim_end_matches('\0'));
        }
        if status == 0 {
            Ok(output)
        } else if log.trim().is_empty() {
            Err(format!(
                "hiprtc: action {action} of libamd_comgr failed with status {status}\n"
            ))
        } else {
            Err(std::mem::take(log))
        }
    }

    fn ready(&self) -> Result<&'static Loaded, Log> {
        self.loaded()
            .ok_or_else(|| format!("hiprtc: {} cannot be used\n", self.library.display()))
    }

    /// Compiles a job.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(&self, job: &Job<'_>) -> Result<Compiled, Log> {
        let loaded = self.ready()?;
        let _turn = loaded.turn.lock();
        let input = Set::new(&loaded.functions)?;
        input.add(KIND_SOURCE, job.name, job.source.as_bytes())?;
        for header in job.headers {
            input.add(KIND_INCLUDE, &header.name, header.text.as_bytes())?;
        }
        let mut options = vec![
            "-O3",
            "-std=c++14",
            "-nogpuinc",
            "-Wno-gnu-line-marker",
            "-Wno-missing-prototypes",
        ];
        if !job.options.no_builtin_header {
            input.add(KIND_INCLUDE, BUILTIN, loaded.header)?;
            options.extend(["-D__HIPCC_RTC__", "-include", BUILTIN]);
        }
        if job.options.rdc {
            options.push("-fgpu-rdc");
        }
        options.extend(job.options.rest.iter().map(String::as_str));
        let mut log = String::new();
        let compiled = Self::action(
            loaded,
            COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC,
            &input,
            job.target,
            &options,
            &mut log,
        )?;
        // For HIP the compiling action leaves the device libraries out, whatever its name says.
        let wave64 = wavefront_is_64(job.target, &job.options.rest);
        let libraries: &[&str] = if wave64 {
            &["code_object_v4", "wavefrontsize64"]
        } else {
            &["code_object_v4"]
        };
        let with_libraries = Self::action(
            loaded,
            ADD_DEVICE_LIBRARIES,
            &compiled,
            job.target,
            libraries,
            &mut log,
        )?;
        let linked = Self::action(
            loaded,
            LINK_BC_TO_BC,
            &with_libraries,
            job.target,
            &[],
            &mut log,
        )?;
        let bitcode = linked.get(KIND_BC).unwrap_or_default();
        let made = Self::code(loaded, &linked, job.target, &job.options.rest, &mut log);
        let executable = job.executable(made)?;
        Ok(Compiled {
            bitcode,
            executable,
            log,
        })
    }

    /// A code object from a set with bitcode.
    fn code(
        loaded: &Loaded,
        bitcode: &Set<'_>,
        target: &str,
        options: &[String],
        log: &mut Log,
    ) -> Result<Vec<u8>, Log> {
        let mut all = vec!["-O3"];
        all.extend(code_options(options));
        let relocatable = Self::action(
            loaded,
            CODEGEN_BC_TO_RELOCATABLE,
            bitcode,
            target,
            &all,
            log,
        )?;
        debug_assert!(relocatable.get(KIND_RELOCATABLE).is_some());
        let executable = Self::action(
            loaded,
            LINK_RELOCATABLE_TO_EXECUTABLE,
            &relocatable,
            target,
            &[],
            log,
        )?;
        executable
            .get(KIND_EXECUTABLE)
            .ok_or_else(|| "hiprtc: libamd_comgr gave no code object\n".to_owned())
    }

    /// Links bitcode.
    ///
    /// # Errors
    /// The linker's messages.
    pub fn link(
        &self,
        pieces: &[Vec<u8>],
        target: &str,
        options: &[String],
    ) -> Result<Compiled, Log> {
        let loaded = self.ready()?;
        let _turn = loaded.turn.lock();
        let input = Set::new(&loaded.functions)?;
        for (index, piece) in pieces.iter().enumerate() {
            input.add(KIND_BC, &format!("{index}.bc"), piece)?;
        }
        let mut log = String::new();
        let linked = Self::action(loaded, LINK_BC_TO_BC, &input, target, &[], &mut log)?;
        let executable = Self::code(loaded, &linked, target, options, &mut log)?;
        Ok(Compiled {
            bitcode: Vec::new(),
            executable,
            log,
        })
    }
}

/// Whether waves have 64 lanes: always before gfx10, later only if the program asks for it.
pub(crate) fn wavefront_is_64(target: &str, options: &[String]) -> bool {
    let processor = crate::compiler::processor(target);
    let number = processor.strip_prefix("gfx").unwrap_or_default();
    // gfx90a is 9.0.10: all but the last two digits are the major version.
    let major = number
        .get(..number.len().saturating_sub(2))
        .and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major < 10)
        || options.iter().any(|option| option == "-mwavefrontsize64")
}

/// Opens a library for good.
fn open(path: &Path) -> Option<*mut c_void> {
    let name = text(path.to_str()?).ok()?;
    // SAFETY: the name is terminated. Local: its LLVM must not be mixed with another one of the process.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    (!handle.is_null()).then_some(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavefront_sizes() {
        assert!(wavefront_is_64("gfx90a:xnack-", &[]));
        assert!(wavefront_is_64("gfx942", &[]));
        assert!(!wavefront_is_64("gfx1030", &[]));
        assert!(!wavefront_is_64("gfx1201", &[]));
        assert!(wavefront_is_64(
            "gfx1100",
            &["-mwavefrontsize64".to_owned()]
        ));
    }
}
