//! AMD's `libamd_comgr`: its data sets and actions.
//!
//! The library is opened when something is to be compiled, not before. Its handles are 64-bit numbers; every one that is made
//! here is ended here.

use std::{
    ffi::{CStr, CString, c_char, c_void},
    fmt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use parking_lot::{Mutex, MutexGuard};

use crate::{
    clang::code_options,
    compiler::{LIBRARY_FOLDERS, Log, processor, rocm_folders},
    target,
};

pub(crate) const KIND_SOURCE: u32 = 1;
pub(crate) const KIND_INCLUDE: u32 = 2;
pub(crate) const KIND_LOG: u32 = 5;
pub(crate) const KIND_BC: u32 = 6;
pub(crate) const KIND_RELOCATABLE: u32 = 7;
pub(crate) const KIND_EXECUTABLE: u32 = 8;
pub(crate) const LANGUAGE_OPENCL: u32 = 1;
pub(crate) const LANGUAGE_HIP: u32 = 4;
pub(crate) const PREPROCESS: u32 = 0;
pub(crate) const COMPILE_SOURCE_TO_BC: u32 = 2;
pub(crate) const ADD_DEVICE_LIBRARIES: u32 = 3;
pub(crate) const LINK_BC_TO_BC: u32 = 4;
pub(crate) const CODEGEN_BC_TO_RELOCATABLE: u32 = 6;
pub(crate) const LINK_RELOCATABLE_TO_EXECUTABLE: u32 = 9;
pub(crate) const COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC: u32 = 15;

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
pub(crate) struct Loaded {
    functions: Functions,
    /// ISA names that it has code generation for.
    isas: Vec<String>,
    /// The library's actions are not made for several threads in every version.
    turn: Mutex<()>,
}

/// The library as a file.
#[derive(Debug)]
pub(crate) struct Library {
    path: PathBuf,
}

/// A set of data, ended when it goes.
pub(crate) struct Set<'a>(&'a Functions, u64);

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
            "libamd_comgr: amd_comgr_{what} failed with status {status}\n"
        ))
    }
}

fn text(value: &str) -> Result<CString, Log> {
    CString::new(value).map_err(|_| format!("libamd_comgr: {value:?} has a zero byte\n"))
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

    pub(crate) fn add(&self, kind: u32, name: &str, bytes: &[u8]) -> Result<(), Log> {
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

    /// Adds the data of a kind of another set.
    pub(crate) fn add_all(&self, other: &Set<'_>, kind: u32) -> Result<(), Log> {
        let functions = self.0;
        let mut count = 0;
        // SAFETY: places are valid; sets are alive, and keep references of their own.
        unsafe {
            check(
                "action_data_count",
                (functions.action_data_count)(other.1, kind, &raw mut count),
            )?;
            for index in 0..count {
                let mut data = 0;
                check(
                    "action_data_get_data",
                    (functions.action_data_get_data)(other.1, kind, index, &raw mut data),
                )?;
                let added = (functions.data_set_add)(self.1, data);
                (functions.release_data)(data);
                check("data_set_add", added)?;
            }
        }
        Ok(())
    }

    pub(crate) fn get(&self, kind: u32) -> Option<Vec<u8>> {
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

/// The first of some files in the folders where ROCm's libraries are.
pub(crate) fn find(names: &[&str]) -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::var_os("LD_LIBRARY_PATH")
        .map(|paths| std::env::split_paths(&paths).collect())
        .unwrap_or_default();
    folders.extend(rocm_folders().into_iter().map(|folder| folder.join("lib")));
    folders.extend(LIBRARY_FOLDERS.map(PathBuf::from));
    folders
        .iter()
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| path.exists())
}

impl Library {
    /// The library, if it is installed.
    pub(crate) fn find() -> Option<Library> {
        let path = find(&["libamd_comgr.so.3", "libamd_comgr.so.2"])?;
        Some(Library { path })
    }

    /// Its file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The library, which the first call opens.
    ///
    /// # Errors
    /// That it cannot be used.
    pub(crate) fn open(&self) -> Result<&'static Loaded, Log> {
        static LOADED: OnceLock<Option<Loaded>> = OnceLock::new();
        LOADED
            .get_or_init(|| {
                let functions = Functions::load(open(&self.path)?)?;
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
                    turn: Mutex::new(()),
                })
            })
            .as_ref()
            .ok_or_else(|| format!("{} cannot be used\n", self.path.display()))
    }

    /// Whether it makes code for a target ID.
    pub(crate) fn knows(&self, target: &str) -> bool {
        self.open().is_ok_and(|loaded| {
            loaded
                .isas
                .iter()
                .any(|isa| isa.strip_prefix("amdgcn-amd-amdhsa--") == Some(processor(target)))
        })
    }
}

/// What an action is about, besides its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    /// `LANGUAGE_…`.
    pub(crate) language: u32,
    /// Target ID.
    pub(crate) target: &'a str,
}

impl Loaded {
    /// Keeps others from the library's actions.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock()
    }

    /// An empty set.
    pub(crate) fn set(&self) -> Result<Set<'_>, Log> {
        Set::new(&self.functions)
    }

    /// One action; gives the result's data set and adds to the log.
    pub(crate) fn action(
        &self,
        action: u32,
        about: About<'_>,
        input: &Set<'_>,
        options: &[&str],
        log: &mut Log,
    ) -> Result<Set<'_>, Log> {
        let functions = &self.functions;
        let output = Set::new(functions)?;
        let isa = text(&format!("amdgcn-amd-amdhsa--{}", about.target))?;
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
                (functions.action_info_set_language)(info, about.language),
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
                "libamd_comgr: action {action} failed with status {status}\n"
            ))
        } else {
            Err(std::mem::take(log))
        }
    }

    /// A code object from a set with bitcode.
    pub(crate) fn code(
        &self,
        about: About<'_>,
        bitcode: &Set<'_>,
        options: &[String],
        log: &mut Log,
    ) -> Result<Vec<u8>, Log> {
        let mut all = vec!["-O3"];
        all.extend(code_options(options));
        let relocatable = self.action(CODEGEN_BC_TO_RELOCATABLE, about, bitcode, &all, log)?;
        debug_assert!(relocatable.get(KIND_RELOCATABLE).is_some());
        let executable = self.action(
            LINK_RELOCATABLE_TO_EXECUTABLE,
            about,
            &relocatable,
            &[],
            log,
        )?;
        executable
            .get(KIND_EXECUTABLE)
            .ok_or_else(|| "libamd_comgr gave no code object\n".to_owned())
    }
}

/// Opens a library for good.
pub(crate) fn open(path: &Path) -> Option<*mut c_void> {
    let name = text(path.to_str()?).ok()?;
    // SAFETY: the name is terminated. Local: its LLVM must not be mixed with another one of the process.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    (!handle.is_null()).then_some(handle)
}
