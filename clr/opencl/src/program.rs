//! Programs: sources and binaries, and what they become for each device.

use std::sync::Arc;

use gneiss_fatbin::CodeObject;
use gneiss_hiprtc::compiler::Header;
use parking_lot::Mutex;

use crate::{
    compiler,
    constants::*,
    context::{Context, UserData},
    defer,
    device::Device,
    error::{Result, code},
    fail,
    handle::{Handle, Object as _, object},
    options::Options,
    types::*,
};

/// A code object that is loaded; unloaded when no command can use it any more.
#[derive(Debug)]
pub struct Loaded {
    /// The program of the runtime below; there until the end.
    program: Option<Arc<gneiss_clr::Program>>,
    device: Arc<Device>,
}

impl Loaded {
    fn new(device: &Arc<Device>, code_object: &[u8]) -> Result<Arc<Self>, gneiss_clr::Error> {
        Ok(Arc::new(Self {
            program: Some(gneiss_clr::Program::load(&device.clr, code_object, &[])?),
            device: Arc::clone(device),
        }))
    }

    /// Its kernels.
    pub fn kernels(&self) -> &[Arc<gneiss_clr::Kernel>] {
        self.program
            .as_ref()
            .map_or(&[], |program| program.kernels())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let program = self.program.take();
        defer::when_idle(std::slice::from_ref(&self.device), move || drop(program));
    }
}

/// What a program is on one device.
#[derive(Clone, Debug)]
pub struct Build {
    /// `CL_BUILD_…`.
    pub status: cl_int,
    /// What it was built with.
    pub options: Options,
    /// What compiler and linker have said.
    pub log: String,
    /// `CL_PROGRAM_BINARY_TYPE_…`.
    pub kind: cl_uint,
    /// Bitcode of an object or a library, the code object of an executable.
    pub binary: Arc<Vec<u8>>,
    /// The executable.
    pub loaded: Option<Arc<Loaded>>,
}

impl Default for Build {
    fn default() -> Self {
        Self {
            status: CL_BUILD_NONE,
            options: Options::default(),
            log: String::new(),
            kind: CL_PROGRAM_BINARY_TYPE_NONE,
            binary: Arc::default(),
            loaded: None,
        }
    }
}

/// What a program is made from.
#[derive(Debug)]
pub enum Origin {
    /// OpenCL C.
    Source(String),
    /// Binaries, by device.
    Binary,
    /// Other programs, linked.
    Linked,
}

/// A program.
#[derive(Debug)]
pub struct Program {
    handle: Handle<Program>,
    /// Its context.
    pub context: Arc<Context>,
    /// Where it comes from.
    pub origin: Origin,
    /// Its devices: those of the context, or those that there are binaries for.
    pub devices: Vec<Arc<Device>>,
    /// What it is on each of them.
    pub builds: Mutex<Vec<Build>>,
    /// Kernel objects that are alive: with them a program cannot be built again.
    pub kernels: std::sync::atomic::AtomicUsize,
}

object!(Program, CL_INVALID_PROGRAM);

/// What bytes are a binary of.
fn kind_of(binary: &[u8]) -> Option<cl_uint> {
    if binary.starts_with(b"\x7fELF") {
        Some(CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
    } else if binary.starts_with(b"BC\xc0\xde") {
        Some(CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT)
    } else {
        None
    }
}

impl Program {
    /// Makes a program and its handle.
    ///
    /// # Errors
    /// `CL_OUT_OF_HOST_MEMORY`.
    pub fn create(
        context: Arc<Context>,
        origin: Origin,
        devices: Vec<Arc<Device>>,
        builds: Vec<Build>,
    ) -> Result<Arc<Program>> {
        Program::table()
            .insert(|handle| Program {
                handle,
                context,
                origin,
                devices,
                builds: Mutex::new(builds),
                kernels: std::sync::atomic::AtomicUsize::new(0),
            })
            .ok_or(CL_OUT_OF_HOST_MEMORY)
    }

    /// What a binary is before it is built.
    pub fn of_binary(binary: &[u8]) -> Option<Build> {
        Some(Build {
            kind: kind_of(binary)?,
            binary: Arc::new(binary.to_vec()),
            ..Build::default()
        })
    }

    /// Place of a device in the lists.
    pub fn place(&self, device: &Arc<Device>) -> Option<usize> {
        self.devices.iter().position(|own| Arc::ptr_eq(own, device))
    }

    /// What it is on a device.
    ///
    /// # Errors
    /// `CL_INVALID_DEVICE`.
    pub fn build_of(&self, device: &Arc<Device>) -> Result<Build> {
        let place = self.place(device).ok_or(CL_INVALID_DEVICE)?;
        Ok(self.builds.lock()[place].clone())
    }

    fn set(&self, place: usize, build: Build) {
        // The old one may unload code, which is not done with the lock held.
        let old = std::mem::replace(&mut self.builds.lock()[place], build);
        drop(old);
    }

    /// Compiles the source for one device.
    fn compile(&self, device: &Device, headers: &[Header], options: &Options) -> Build {
        let Origin::Source(source) = &self.origin else {
            return Build {
                status: CL_BUILD_ERROR,
                log: "the program has no source\n".to_owned(),
                ..Build::default()
            };
        };
        match compiler::compile(source, headers, options, device.target()) {
            Ok((bitcode, log)) => Build {
                status: CL_BUILD_SUCCESS,
                options: options.clone(),
                log,
                kind: CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
                binary: Arc::new(bitcode),
                loaded: None,
            },
            Err(log) => Build {
                status: CL_BUILD_ERROR,
                options: options.clone(),
                log,
                ..Build::default()
            },
        }
    }

    /// Compiles for some devices.
    ///
    /// # Errors
    /// `CL_COMPILE_PROGRAM_FAILURE`, and the logs say why.
    pub fn compile_for(
        &self,
        devices: &[Arc<Device>],
        headers: &[Header],
        options: &Options,
    ) -> Result {
        let mut result = Ok(());
        for device in devices {
            let place = self.place(device).ok_or(CL_INVALID_DEVICE)?;
            let build = self.compile(device, headers, options);
            if build.status != CL_BUILD_SUCCESS {
                result = Err(CL_COMPILE_PROGRAM_FAILURE);
            }
            self.set(place, build);
        }
        result
    }

    /// Builds for some devices.
    ///
    /// # Errors
    /// `CL_BUILD_PROGRAM_FAILURE`, and the logs say why; `CL_INVALID_BINARY` if there is nothing to build from.
    pub fn build_for(&self, devices: &[Arc<Device>], options: &Options) -> Result {
        let mut result = Ok(());
        for device in devices {
            let place = self.place(device).ok_or(CL_INVALID_DEVICE)?;
            let build = match &self.origin {
                Origin::Source(source) => {
                    let built = compiler::build(source, options, device.target());
                    finish(device, built, options, String::new())
                }
                Origin::Binary | Origin::Linked => {
                    let old = self.builds.lock()[place].clone();
                    match old.kind {
                        CL_PROGRAM_BINARY_TYPE_EXECUTABLE => {
                            load(device, old.binary, options, String::new())
                        }
                        CL_PROGRAM_BINARY_TYPE_NONE => return Err(CL_INVALID_BINARY),
                        _ => link(device, &[old.binary.as_slice()], options, String::new()),
                    }
                }
            };
            if build.status != CL_BUILD_SUCCESS {
                result = Err(CL_BUILD_PROGRAM_FAILURE);
            }
            self.set(place, build);
        }
        result
    }

    /// Bytes of variables in the global address space on a device, those of functions among them. They have no symbols that one can ask for.
    pub fn variables(build: &Build) -> usize {
        if build.loaded.is_none() {
            return 0;
        }
        let Ok(code) = CodeObject::parse(&build.binary) else {
            return 0;
        };
        let sections = [".data", ".bss"].map(|name| code.elf().section(name));
        let sizes = sections
            .iter()
            .flatten()
            .map(|section| section.size as usize);
        sizes.sum()
    }

    /// The program's kernels, by name, of any device that it is built for.
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE` if there is none.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let builds = self.builds.lock();
        let Some(loaded) = builds.iter().find_map(|build| build.loaded.as_ref()) else {
            return fail!(
                CL_INVALID_PROGRAM_EXECUTABLE,
                "the program is built for no device"
            );
        };
        let kernels = loaded.kernels().iter().filter(|kernel| !kernel.is_block());
        Ok(kernels.map(|kernel| kernel.name().to_owned()).collect())
    }
}

/// Links pieces to an executable and loads it.
pub fn link(device: &Arc<Device>, pieces: &[&[u8]], options: &Options, log: String) -> Build {
    let linked = compiler::link(pieces, options, device.target());
    finish(device, linked, options, log)
}

/// Loads a code object that has come out, or says what has gone wrong.
fn finish(
    device: &Arc<Device>,
    made: Result<(Vec<u8>, String), String>,
    options: &Options,
    log: String,
) -> Build {
    match made {
        Ok((code_object, said)) => load(device, Arc::new(code_object), options, log + &said),
        Err(said) => Build {
            status: CL_BUILD_ERROR,
            options: options.clone(),
            log: log + &said,
            ..Build::default()
        },
    }
}

/// Puts pieces together as a library.
pub fn library(pieces: &[&[u8]], options: &Options) -> Build {
    Build {
        status: CL_BUILD_SUCCESS,
        options: options.clone(),
        log: String::new(),
        kind: CL_PROGRAM_BINARY_TYPE_LIBRARY,
        binary: Arc::new(pieces_as_one(pieces)),
        loaded: None,
    }
}

/// Several pieces of bitcode in one binary: each with its length before it. One piece is itself.
fn pieces_as_one(pieces: &[&[u8]]) -> Vec<u8> {
    if let [piece] = pieces {
        return piece.to_vec();
    }
    let mut all = PIECES.to_vec();
    for piece in pieces {
        all.extend((piece.len() as u64).to_le_bytes());
        all.extend_from_slice(piece);
    }
    all
}

/// Begins a binary of several pieces; clang's own magic stands first, so that it is taken for bitcode.
const PIECES: &[u8] = b"BC\xc0\xdegneiss pieces 1\n";

/// The pieces of a binary.
pub fn pieces(binary: &[u8]) -> Vec<&[u8]> {
    let Some(mut rest) = binary.strip_prefix(PIECES) else {
        return vec![binary];
    };
    let mut pieces = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk::<8>() {
        let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let Some((piece, after)) = after.split_at_checked(len) else {
            break;
        };
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn load(device: &Arc<Device>, code_object: Arc<Vec<u8>>, options: &Options, log: String) -> Build {
    match Loaded::new(device, &code_object) {
        Ok(loaded) => Build {
            status: CL_BUILD_SUCCESS,
            options: options.clone(),
            log,
            kind: CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
            binary: code_object,
            loaded: Some(loaded),
        },
        Err(error) => {
            let log = format!("{log}{error}\n");
            code(error);
            Build {
                status: CL_BUILD_ERROR,
                options: options.clone(),
                log,
                ..Build::default()
            }
        }
    }
}

/// Calls the function that is told of a build's end.
pub(crate) fn tell(notify: ProgramNotify, program: cl_program, data: UserData) {
    if let Some(notify) = notify {
        // SAFETY: the program has given the function for this.
        unsafe { notify(program, data.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_and_damaged_ones_end_the_list() {
        let (a, b) = (b"BC\xc0\xde1".as_slice(), b"BC\xc0\xde23".as_slice());
        assert_eq!(pieces(&pieces_as_one(&[a])), [a]);
        let both = pieces_as_one(&[a, b]);
        assert_eq!(pieces(&both), [a, b]);
        assert_eq!(pieces(&both[..both.len() - 1]), [a]);
        assert_eq!(kind_of(&both), Some(CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT));
        assert_eq!(kind_of(b"xyz"), None);
    }
}
