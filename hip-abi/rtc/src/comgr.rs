//! Compiling HIP through AMD's `libamd_comgr`, with the header that `libhiprtc-builtins` holds.

use std::{path::PathBuf, sync::OnceLock};

use crate::{
    compiler::{Compiled, Job, Log, file_identity},
    target,
};

pub(crate) mod library;

use library::{
    ADD_DEVICE_LIBRARIES, About, COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC, KIND_BC, KIND_INCLUDE,
    KIND_SOURCE, LANGUAGE_HIP, LINK_BC_TO_BC, Library,
};

/// Name under which source includes AMD's header.
const BUILTIN: &str = "hiprtc_runtime.h";

/// The library and AMD's header, as files.
#[derive(Debug)]
pub struct Comgr {
    library: Library,
    builtins: PathBuf,
}

impl Comgr {
    /// The library and AMD's header, if both are installed.
    pub fn find() -> Option<Comgr> {
        Some(Comgr {
            library: Library::find()?,
            builtins: library::find(&[
                "libhiprtc-builtins.so.7",
                "libhiprtc-builtins.so.6",
                "libhiprtc-builtins.so.5",
                "libhiprtc-builtins.so",
            ])?,
        })
    }

    /// See [`Compiler::identity`](crate::compiler::Compiler::identity).
    pub fn identity(&self) -> String {
        [self.library.path(), &self.builtins]
            .map(file_identity)
            .join("; ")
    }

    /// AMD's header, with all that it includes.
    fn header(&self) -> Result<&'static [u8], Log> {
        static HEADER: OnceLock<Option<&'static [u8]>> = OnceLock::new();
        let header = HEADER.get_or_init(|| {
            let builtins = library::open(&self.builtins)?;
            let start = target::symbol(builtins, c"__hipRTC_header")?;
            let size = target::symbol(builtins, c"__hipRTC_header_size")?;
            // SAFETY: the library holds a header of the size that stands beside it; it is never closed.
            Some(unsafe {
                let size = size.cast::<u32>().read_unaligned() as usize;
                std::slice::from_raw_parts(start.cast::<u8>(), size)
            })
        });
        header.ok_or_else(|| format!("{} cannot be used\n", self.builtins.display()))
    }

    /// Whether it makes code for a target ID.
    pub fn knows(&self, target: &str) -> bool {
        self.header().is_ok() && self.library.knows(target)
    }

    /// Compiles a job.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(&self, job: &Job<'_>) -> Result<Compiled, Log> {
        let loaded = self.library.open()?;
        let _turn = loaded.turn();
        let input = loaded.set()?;
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
            input.add(KIND_INCLUDE, BUILTIN, self.header()?)?;
            options.extend(["-D__HIPCC_RTC__", "-include", BUILTIN]);
        }
        if job.options.rdc {
            options.push("-fgpu-rdc");
        }
        options.extend(job.options.rest.iter().map(String::as_str));
        let about = About {
            language: LANGUAGE_HIP,
            target: job.target,
        };
        let mut log = String::new();
        let compiled = loaded.action(
            COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC,
            about,
            &input,
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
        let with_libraries =
            loaded.action(ADD_DEVICE_LIBRARIES, about, &compiled, libraries, &mut log)?;
        let linked = loaded.action(LINK_BC_TO_BC, about, &with_libraries, &[], &mut log)?;
        let bitcode = linked.get(KIND_BC).unwrap_or_default();
        let made = loaded.code(about, &linked, &job.options.rest, &mut log);
        let executable = job.executable(made)?;
        Ok(Compiled {
            bitcode,
            executable,
            log,
        })
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
        let loaded = self.library.open()?;
        let _turn = loaded.turn();
        let input = loaded.set()?;
        for (index, piece) in pieces.iter().enumerate() {
            input.add(KIND_BC, &format!("{index}.bc"), piece)?;
        }
        let about = About {
            language: LANGUAGE_HIP,
            target,
        };
        let mut log = String::new();
        let linked = loaded.action(LINK_BC_TO_BC, about, &input, &[], &mut log)?;
        let executable = loaded.code(about, &linked, options, &mut log)?;
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
