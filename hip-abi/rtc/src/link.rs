//! A link: pieces of bitcode that become one code object.

use gneiss_fatbin::{Bundle, TargetId};

use crate::{compiler, result::*, target};

/// Kinds of input, as the header numbers them.
pub const INPUT_LLVM_BITCODE: u32 = 100;
/// A clang offload bundle of bitcode.
pub const INPUT_LLVM_BUNDLED_BITCODE: u32 = 101;
/// An `ar` archive of such bundles.
pub const INPUT_LLVM_ARCHIVES_OF_BUNDLED_BITCODE: u32 = 102;

/// A link state.
#[derive(Debug, Default)]
pub struct Link {
    pieces: Vec<Vec<u8>>,
    options: Vec<String>,
    /// What the compiler said.
    pub log: String,
    /// The code object, whose address is given out.
    pub executable: Vec<u8>,
}

fn device() -> Result<String> {
    target::current_device().ok_or(HIPRTC_ERROR_INVALID_INPUT)
}

/// The members of an `ar` archive.
fn members(archive: &[u8]) -> Option<Vec<&[u8]>> {
    let mut rest = archive.strip_prefix(b"!<arch>\n")?;
    let mut members = Vec::new();
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(60)?;
        let size = std::str::from_utf8(&header[48..58])
            .ok()?
            .trim()
            .parse()
            .ok()?;
        let (data, after) = after.split_at_checked(size)?;
        // The index and the table of long names are no members.
        if !header.starts_with(b"/ ") && !header.starts_with(b"//") {
            members.push(data);
        }
        rest = after.strip_prefix(b"\n").unwrap_or(after);
    }
    Some(members)
}

/// Refuses what cannot be linked, before anything of it is read.
pub fn check_kind(kind: u32) -> Result {
    match kind {
        INPUT_LLVM_BITCODE
        | INPUT_LLVM_BUNDLED_BITCODE
        | INPUT_LLVM_ARCHIVES_OF_BUNDLED_BITCODE => Ok(()),
        _ => Err(HIPRTC_ERROR_INVALID_INPUT),
    }
}

impl Link {
    /// A link with options for code generation (`HIPRTC_JIT_IR_TO_ISA_OPT_EXT`).
    pub fn new(options: Vec<String>) -> Self {
        Link {
            options,
            ..Link::default()
        }
    }

    /// Adds input.
    ///
    /// # Errors
    /// [`HIPRTC_ERROR_INVALID_INPUT`] for kinds other than bitcode, [`HIPRTC_ERROR_PROGRAM_CREATION_FAILURE`] for bytes that are not what
    /// the kind says.
    pub fn add(&mut self, kind: u32, bytes: &[u8]) -> Result {
        check_kind(kind)?;
        match kind {
            INPUT_LLVM_BITCODE => {
                // Raw bitcode, or bitcode in its wrapper.
                if !bytes.starts_with(b"BC\xc0\xde")
                    && !bytes.starts_with(&[0xde, 0xc0, 0x17, 0x0b])
                {
                    return Err(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE);
                }
                self.pieces.push(bytes.to_vec());
                Ok(())
            }
            INPUT_LLVM_BUNDLED_BITCODE => self.add_bundle(bytes),
            INPUT_LLVM_ARCHIVES_OF_BUNDLED_BITCODE => {
                let members = members(bytes).ok_or(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE)?;
                members
                    .into_iter()
                    .try_for_each(|member| self.add_bundle(member))
            }
            _ => Err(HIPRTC_ERROR_INVALID_INPUT),
        }
    }

    fn add_bundle(&mut self, bytes: &[u8]) -> Result {
        let bundle = Bundle::parse(bytes).map_err(|_| HIPRTC_ERROR_PROGRAM_CREATION_FAILURE)?;
        let device = TargetId::from_isa_name(&format!("amdgcn-amd-amdhsa--{}", device()?))
            .map_err(|_| HIPRTC_ERROR_INVALID_INPUT)?;
        let entry = bundle
            .select(&device)
            .ok_or(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE)?;
        self.pieces.push(entry.data.to_vec());
        Ok(())
    }

    /// Links.
    ///
    /// # Errors
    /// [`HIPRTC_ERROR_LINKING`].
    pub fn complete(&mut self) -> Result {
        let linked = device()
            .map_err(|_| "hiprtc: linking needs a HIP device\n".to_owned())
            .and_then(|target| {
                if self.pieces.is_empty() {
                    return Err("hiprtc: nothing to link\n".to_owned());
                }
                compiler::choose(&compiler::candidates()?, &target)?.link(
                    &self.pieces,
                    &target,
                    &self.options,
                )
            });
        match linked {
            Ok(linked) => {
                self.log = linked.log;
                self.executable = linked.executable;
                Ok(())
            }
            Err(log) => {
                eprintln!("gneiss: {}", log.trim_end());
                self.log = log;
                Err(HIPRTC_ERROR_LINKING)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bitcode_is_taken() {
        let mut link = Link::default();
        assert_eq!(link.add(0, b"BC\xc0\xde"), Err(HIPRTC_ERROR_INVALID_INPUT));
        assert_eq!(
            link.add(INPUT_LLVM_BITCODE, b"\x7fELF"),
            Err(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE)
        );
        assert_eq!(link.add(INPUT_LLVM_BITCODE, b"BC\xc0\xde...."), Ok(()));
        assert_eq!(
            link.add(INPUT_LLVM_BUNDLED_BITCODE, b"nothing"),
            Err(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE)
        );
    }

    #[test]
    fn archives_are_walked_within_their_bounds() {
        let mut archive = b"!<arch>\n".to_vec();
        archive.extend(
            format!(
                "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
                "a.o/", 0, 0, 0, 644, 3
            )
            .bytes(),
        );
        archive.extend(b"abc\n");
        assert_eq!(members(&archive), Some(vec![b"abc".as_slice()]));
        archive.truncate(70);
        assert_eq!(members(&archive), None);
        assert_eq!(members(b"no archive"), None);
    }
}
