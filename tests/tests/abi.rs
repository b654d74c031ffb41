//! The binary interface of the two libraries beside AMD's own: the same versions, everything that programs need, no other needs.
//! (The command's own tests compare the libraries with their version scripts.)

use std::{collections::BTreeMap, fs, path::Path};

use gneiss_tests::{Prefix, elf::SharedLibrary};

/// What every HIP program needs: compiler-emitted entries and what nearly all of them call.
const ESSENTIAL: [&str; 31] = [
    "__hipPopCallConfiguration",
    "__hipPushCallConfiguration",
    "__hipRegisterFatBinary",
    "__hipRegisterFunction",
    "__hipRegisterManagedVar",
    "__hipRegisterSurface",
    "__hipRegisterTexture",
    "__hipRegisterVar",
    "__hipUnregisterFatBinary",
    "hipDeviceSynchronize",
    "hipEventCreate",
    "hipEventElapsedTime",
    "hipEventRecord",
    "hipEventSynchronize",
    "hipFree",
    "hipGetDevice",
    "hipGetDeviceCount",
    "hipGetDeviceProperties",
    "hipGetDevicePropertiesR0600",
    "hipGetErrorString",
    "hipGetLastError",
    "hipLaunchKernel",
    "hipMalloc",
    "hipMemcpy",
    "hipMemcpyAsync",
    "hipMemsetAsync",
    "hipModuleGetFunction",
    "hipModuleLaunchKernel",
    "hipModuleUnload",
    "hipSetDevice",
    "hipStreamSynchronize",
];

fn hip() -> SharedLibrary {
    SharedLibrary::read(&Prefix::find().lib().join("libamdhip64.so"))
}

fn hsa() -> SharedLibrary {
    SharedLibrary::read(&Prefix::find().lib().join("libhsa-runtime64.so"))
}

/// What we and AMD's library of Debian both export has the same version in both.
fn agrees_with_amd(ours: &SharedLibrary, amd: &str) -> BTreeMap<String, String> {
    let path = Path::new("/usr/lib/x86_64-linux-gnu").join(amd);
    assert!(
        path.exists(),
        "{} is not there: apt install libamdhip64-dev libhsa-runtime-dev",
        path.display()
    );
    let amd = SharedLibrary::read(&path);
    for (name, node) in &ours.exports {
        if let Some(expected) = amd.exports.get(name) {
            assert_eq!(node, expected, "{name}");
        }
    }
    amd.exports
}

#[test]
fn hip_versions_are_those_of_amds_library() {
    let ours = hip();
    let amd = agrees_with_amd(&ours, "libamdhip64.so.5");
    let shared = amd
        .keys()
        .filter(|name| ours.exports.contains_key(*name))
        .count();
    assert!(
        shared >= 100,
        "only {shared} of AMD's {} symbols are exported",
        amd.len()
    );
}

#[test]
fn hip_exports_what_every_program_needs() {
    let exports = hip().exports;
    let missing: Vec<_> = ESSENTIAL
        .iter()
        .filter(|name| !exports.contains_key(**name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn hsa_exports_everything_that_the_hip_library_of_amd_needs() {
    let ours = hsa();
    agrees_with_amd(&ours, "libhsa-runtime64.so.1");
    let path = Path::new("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5");
    let needed = imports(path, "hsa_");
    assert!(
        needed.len() > 50,
        "AMD's library imports {} HSA functions",
        needed.len()
    );
    let missing: Vec<_> = needed
        .iter()
        .filter(|name| !ours.exports.contains_key(*name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn hsa_exports_everything_that_amds_library_does() {
    let ours = hsa();
    let amd = agrees_with_amd(&ours, "libhsa-runtime64.so.1");
    let missing: Vec<_> = amd
        .iter()
        .filter(|(name, node)| ours.exports.get(*name) != Some(node))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(
        amd.len() > 200,
        "AMD's library exports {} symbols",
        amd.len()
    );
}

/// The undefined dynamic symbols of a library that begin with `prefix`.
fn imports(path: &Path, prefix: &str) -> Vec<String> {
    use object::{Object, ObjectSymbol};
    let data =
        fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let file = object::File::parse(&*data).expect("an ELF file");
    let names = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_undefined())
        .filter_map(|symbol| symbol.name().ok());
    names
        .filter(|name| name.starts_with(prefix))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_libraries_need_nothing_but_the_system() {
    let system = [
        "libc.so.6",
        "libm.so.6",
        "libgcc_s.so.1",
        "libdl.so.2",
        "libpthread.so.0",
        "ld-linux-x86-64.so.2",
    ];
    for needed in hip().needed.iter().chain(&hsa().needed) {
        assert!(system.contains(&needed.as_str()), "{needed}");
    }
}
