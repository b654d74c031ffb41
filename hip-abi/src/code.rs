//! Device code in memory: where it ends, and which part of it a device runs.
//!
//! Programs hand over pointers without lengths (the fat binary of an executable, the image of `hipModuleLoadData`). Nothing is read
//! past the end of the readable mapping that holds the pointer, and inside it the parsers of `gneiss_fatbin` check everything.

use std::{borrow::Cow, fmt::Write as _};

use gneiss_fatbin::{Bundle, CodeObject, EntryId, TargetId, elf::Elf};

use crate::{error::*, fail, log_error};

/// End of the readable memory around an address: mappings that follow each other without a gap count as one.
pub fn readable_end(address: usize) -> Option<usize> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let mut end = None;
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (range, rights) = (words.next()?, words.next()?);
        let (start, stop) = range.split_once('-')?;
        let (start, stop) = (
            usize::from_str_radix(start, 16).ok()?,
            usize::from_str_radix(stop, 16).ok()?,
        );
        let readable = rights.starts_with('r');
        match end {
            None if (start..stop).contains(&address) && readable => end = Some(stop),
            Some(reached) if reached == start && readable => end = Some(stop),
            Some(_) => break,
            None => {}
        }
    }
    end
}

/// The readable bytes from a pointer on.
///
/// # Safety
/// The memory must stay mapped and unchanged while the slice is used.
pub unsafe fn bytes_at<'a>(pointer: *const u8) -> HipResult<&'a [u8]> {
    match readable_end(pointer.addr()) {
        // SAFETY: the range up to `end` is readable; the caller promises that it stays so.
        Some(end) => Ok(unsafe { std::slice::from_raw_parts(pointer, end - pointer.addr()) }),
        None => fail!(hipErrorInvalidImage, "{pointer:p} is not readable memory"),
    }
}

/// The code object in `bytes` that a device runs: an entry of a bundle, or the bytes themselves if they are an ELF file.
///
/// # Errors
/// `hipErrorNoBinaryForGpu` if there is none for the device, `hipErrorInvalidImage` if the bytes are neither bundle nor ELF.
pub fn select<'a>(bytes: &'a [u8], device_isa: &str) -> HipResult<Cow<'a, [u8]>> {
    let device = match TargetId::from_isa_name(device_isa) {
        Ok(device) => device,
        Err(error) => return fail!(hipErrorInvalidDevice, "the device's ISA: {error}"),
    };
    if Bundle::starts_at(bytes) {
        let bundle = match Bundle::parse(bytes) {
            Ok(bundle) => bundle,
            Err(error) => return fail!(hipErrorInvalidImage, "offload bundle: {error}"),
        };
        return match bundle.select(&device) {
            Some(entry) => Ok(Cow::Owned(entry.data.to_vec())),
            None => {
                let ids: Vec<EntryId> = bundle.entries().map(|entry| entry.id.clone()).collect();
                let message = missing_target(device_isa, &ids);
                log_error!("{message}");
                report_once(&message);
                Err(hipErrorNoBinaryForGpu)
            }
        };
    }
    if !Elf::starts_at(bytes) {
        return fail!(
            hipErrorInvalidImage,
            "the image is neither an offload bundle nor an ELF file"
        );
    }
    let code_object = match CodeObject::parse(bytes) {
        Ok(code_object) => code_object,
        Err(error) => return fail!(hipErrorInvalidImage, "code object: {error}"),
    };
    if code_object.fit(&device).is_none() {
        return fail!(
            hipErrorNoBinaryForGpu,
            "the code object is for {}, the device is {device}",
            code_object.target()
        );
    }
    let length = file_length(bytes);
    Ok(Cow::Borrowed(&bytes[..length]))
}

/// Length of the ELF file at the start of `bytes`: the end of its last table, segment or section.
fn file_length(bytes: &[u8]) -> usize {
    let number = |at: usize, size: usize| {
        let mut value = [0; 8];
        match bytes.get(at..at + size) {
            Some(found) => value[..size].copy_from_slice(found),
            None => return 0,
        }
        usize::try_from(u64::from_le_bytes(value)).unwrap_or(usize::MAX)
    };
    let mut end = 64_usize;
    let (ph_at, ph_size, ph_count) = (number(32, 8), number(54, 2), number(56, 2));
    let (sh_at, sh_size, sh_count) = (number(40, 8), number(58, 2), number(60, 2));
    end = end
        .max(ph_at.saturating_add(ph_size * ph_count))
        .max(sh_at.saturating_add(sh_size * sh_count));
    for index in 0..ph_count {
        let header = ph_at.saturating_add(index * ph_size).min(bytes.len());
        end = end.max(number(header + 8, 8).saturating_add(number(header + 32, 8)));
    }
    for index in 0..sh_count {
        const SHT_NOBITS: usize = 8;
        let header = sh_at.saturating_add(index * sh_size).min(bytes.len());
        if number(header + 4, 4) != SHT_NOBITS {
            end = end.max(number(header + 24, 8).saturating_add(number(header + 32, 8)));
        }
    }
    end.min(bytes.len())
}

/// One line for a program that holds no code for the device.
fn missing_target(device_isa: &str, entries: &[EntryId]) -> String {
    let processor = device_isa.rsplit("--").next().unwrap_or(device_isa);
    let bare = processor.split(':').next().unwrap_or(processor);
    let mut line = format!("no device code for {processor}; the binary holds ");
    let targets: Vec<String> = entries
        .iter()
        .filter(|entry| !entry.is_host())
        .filter_map(|entry| entry.target().map(ToString::to_string))
        .collect();
    if targets.is_empty() {
        line.push_str("none");
    } else {
        line.push_str(&targets.join(", "));
    }
    let _ = write!(line, "; compile with --offload-arch={bare}");
    let executed = entries
        .iter()
        .filter(|entry| entry.is_hip_amdgcn())
        .filter_map(|entry| entry.target().map(ToString::to_string))
        .find(|target| gneiss_settings::gpus::parse(target).is_ok());
    if let Some(target) = executed {
        let _ = write!(line, ", or run with GNEISS_GPUS={target}");
    }
    line
}

/// A program often shows only the number of an error: the line goes to stderr, too, once for each text.
fn report_once(message: &str) {
    static REPORTED: parking_lot::Mutex<Vec<String>> = parking_lot::Mutex::new(Vec::new());
    let mut reported = REPORTED.lock();
    if !reported.iter().any(|earlier| earlier == message) {
        eprintln!("gneiss: {message}");
        reported.push(message.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_memory_ends_after_the_data() {
        static DATA: [u8; 64] = [7; 64];
        let end = readable_end(DATA.as_ptr().addr()).unwrap();
        assert!(end >= DATA.as_ptr().addr() + DATA.len());
        assert_eq!(readable_end(8), None);
    }

    #[test]
    fn images_that_are_nothing_are_refused() {
        let isa = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
        assert_eq!(
            select(b"not an image", isa).err(),
            Some(hipErrorInvalidImage)
        );
        assert_eq!(select(b"", isa).err(), Some(hipErrorInvalidImage));
        assert_eq!(
            select(b"__CLANG_OFFLOAD_BUNDLE__\xff\xff", isa).err(),
            Some(hipErrorInvalidImage)
        );
        assert_eq!(select(b"\x7fELF", isa).err(), Some(hipErrorInvalidImage));
    }

    #[test]
    fn a_bundle_without_the_target_names_what_it_has() {
        let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        let ids = [
            "host-x86_64-unknown-linux--",
            "hipv4-amdgcn-amd-amdhsa--gfx1030",
        ];
        bundle.extend_from_slice(&(ids.len() as u64).to_le_bytes());
        let table: usize = 32 + ids.iter().map(|id| 24 + id.len()).sum::<usize>();
        for (index, id) in ids.iter().enumerate() {
            bundle.extend_from_slice(&(table as u64).to_le_bytes());
            bundle.extend_from_slice(&(if index == 0 { 0_u64 } else { 4 }).to_le_bytes());
            bundle.extend_from_slice(&(id.len() as u64).to_le_bytes());
            bundle.extend_from_slice(id.as_bytes());
        }
        bundle.extend_from_slice(b"code");
        assert_eq!(
            select(&bundle, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-").err(),
            Some(hipErrorNoBinaryForGpu)
        );
        assert_eq!(
            select(&bundle, "amdgcn-amd-amdhsa--gfx1030")
                .unwrap()
                .as_ref(),
            b"code"
        );
        let ids: Vec<EntryId> = ids.iter().map(|id| id.parse().unwrap()).collect();
        assert_eq!(
            missing_target("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", &ids),
            "no device code for gfx90a:sramecc+:xnack-; the binary holds gfx1030; compile with --offload-arch=gfx90a, \
             or run with GNEISS_GPUS=gfx1030"
        );
    }

    #[test]
    fn the_gpu_to_run_with_has_the_features_that_the_code_is_for() {
        let device = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
        for (target, gpu) in [
            ("gfx90a:sramecc-", Some("gfx90a:sramecc-")),
            ("gfx90a:xnack+", Some("gfx90a:xnack+")),
            ("gfx90a:sramecc-:xnack+", Some("gfx90a:sramecc-:xnack+")),
            ("gfx908+sram-ecc+xnack", Some("gfx908:sramecc+:xnack+")),
            ("gfx1250", None),
            ("gfx11-generic", None),
        ] {
            let id: EntryId = format!("hipv4-amdgcn-amd-amdhsa--{target}")
                .parse()
                .expect(target);
            let message = missing_target(device, std::slice::from_ref(&id));
            let named = message.split_once("GNEISS_GPUS=").map(|(_, gpu)| gpu);
            assert_eq!(named, gpu, "{message}");
            let Some(named) = named else {
                continue;
            };
            let asked = gneiss_settings::gpus::parse(named).expect(named);
            let code = id.target().expect(target);
            assert!(code.fit(&asked[0].device()).is_some(), "{message}");
        }
    }
}
