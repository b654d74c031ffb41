//! `gneiss doctor`: is the installation whole, which HIP and HSA libraries would a program get under `gneiss run`, why, and
//! does its device code fit.
//!
//! What would be loaded is asked of the dynamic linker itself (`ld.so --list`), in the environment that `gneiss run` sets;
//! the program is not started.

use crate::USED_WRONGLY;
use crate::arguments::{Doctor, Hip, Run};
use crate::environment;
use crate::prefix::Prefix;
use crate::run;
use crate::terminal::Terminal;
use gneiss_fatbin::EntryId;
use gneiss_fatbin::elf::{self, Elf};
use gneiss_fatbin::fat_binary::{self, MappedFile};
use gneiss_settings::gpus::{self, is_executed};
use std::ffi::OsString;
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;

/// Collects remarks; a bad one makes the exit code 1.
struct Report<'a> {
    out: BufWriter<std::io::StdoutLock<'a>>,
    terminal: Terminal,
    faults: usize,
}

impl Report<'_> {
    fn head(&mut self, text: &str) -> Result<()> {
        let text = self.terminal.bold(text);
        writeln!(self.out, "{text}")
    }

    fn good(&mut self, text: &str) -> Result<()> {
        let word = self.terminal.good("ok");
        writeln!(self.out, "  {word}       {text}")
    }

    fn note(&mut self, text: &str) -> Result<()> {
        writeln!(self.out, "  -        {text}")
    }

    fn bad(&mut self, text: &str) -> Result<()> {
        self.faults += 1;
        let word = self.terminal.bad("problem");
        writeln!(self.out, "  {word}  {text}")
    }
}

/// Checks the installation and, when one is given, a program.
///
/// # Errors
/// When stdout fails.
pub fn doctor(options: &Doctor, terminal: &Terminal) -> Result<ExitCode> {
    if let Err(fault) = environment::check_gpus(options.gpus.as_deref()) {
        terminal.error(&fault);
        return Ok(ExitCode::from(USED_WRONGLY));
    }
    let prefix = Prefix::of_this_command()?;
    let mut report = Report {
        out: BufWriter::new(std::io::stdout().lock()),
        terminal: *terminal,
        faults: 0,
    };
    installation(&prefix, &mut report)?;
    variables(options, &mut report)?;
    if let Some(name) = options.program.first() {
        report.head(&format!("program {}", name.to_string_lossy()))?;
        match run::find_program(name) {
            Some(file) => program(&file, &prefix, options, &mut report)?,
            None => report.bad(&run::not_in_path(name))?,
        }
    }
    let code = if report.faults == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    };
    report.out.flush()?;
    Ok(code)
}

fn installation(prefix: &Prefix, report: &mut Report<'_>) -> Result<()> {
    report.head("installation")?;
    match prefix.missing() {
        Some(missing) => report.bad(&missing)?,
        None => report.good(&format!("libraries in {}", prefix.lib().display()))?,
    }
    for (name, links) in [
        ("libamdhip64.so", &["", ".5", ".6", ".7"][..]),
        ("libhsa-runtime64.so", &["", ".1"]),
    ] {
        let files: Vec<PathBuf> = links
            .iter()
            .map(|link| prefix.lib().join(format!("{name}{link}")))
            .collect();
        let real: Vec<_> = files
            .iter()
            .map(|file| std::fs::canonicalize(file).ok())
            .collect();
        if let Some(at) = real.iter().position(Option::is_none) {
            report.bad(&format!("{} is missing", files[at].display()))?;
        } else if real.iter().any(|file| *file != real[0]) {
            report.bad(&format!(
                "the links of {name} lead to different files, which would load as two libraries"
            ))?;
        }
    }
    let card = Path::new("/dev/kfd").exists();
    report.note(if card {
        "/dev/kfd is there: an AMD card can be used with GNEISS_HSA"
    } else {
        "no /dev/kfd: only the software GPU can run code here"
    })
}

/// The variables that are set, and what is wrong with them.
fn variables(options: &Doctor, report: &mut Report<'_>) -> Result<()> {
    for name in environment::names() {
        if let Some(value) = std::env::var_os(name) {
            report.note(&format!("{name}={}", value.to_string_lossy()))?;
        }
    }
    let (refused, warnings) = environment::problems(options.gpus.as_deref());
    for text in &warnings {
        report.note(text)?;
    }
    refused.iter().try_for_each(|text| report.bad(text))
}

/// What the dynamic section of a program or library says.
#[derive(Debug, Default)]
struct Dynamic {
    interpreter: Option<String>,
    needed: Vec<String>,
    rpath: Option<String>,
    runpath: Option<String>,
}

fn program(file: &Path, prefix: &Prefix, options: &Doctor, report: &mut Report<'_>) -> Result<()> {
    let map = match MappedFile::open(file) {
        Ok(map) => map,
        Err(error) => return report.bad(&error.to_string()),
    };
    if map.bytes().starts_with(b"#!") {
        let line = map
            .bytes()
            .split(|b| *b == b'\n')
            .next()
            .unwrap_or_default();
        return report.note(&format!(
            "it is a script ({}): give the program that it starts",
            String::from_utf8_lossy(line)
        ));
    }
    let elf = match Elf::parse(map.bytes()) {
        Ok(elf) if elf.machine == run::EM_X86_64 => elf,
        Ok(elf) => {
            return report.bad(&run::other_machine(elf.machine));
        }
        Err(error) => return report.bad(&error.to_string()),
    };
    let Some(dynamic) = dynamic(&elf) else {
        return report.bad("it is linked statically: no library can be put under it");
    };
    let ours = |name: &&String| is_ours(name);
    match dynamic
        .needed
        .iter()
        .filter(ours)
        .cloned()
        .collect::<Vec<_>>()
    {
        needed if needed.is_empty() => report.note(
            "it names no HIP or HSA library itself; one may come through another library or dlopen",
        )?,
        needed => report.good(&format!("it needs {}", needed.join(", ")))?,
    }
    if run::looks_for_driver(file) {
        report.note(&format!(
            "it looks for AMD's kernel driver itself: `gneiss run` preloads {}, which answers in its place",
            prefix.driver_check().display()
        ))?;
    }
    libraries(file, &dynamic, prefix, report)?;
    device_code(&map, options, report)
}

fn is_ours(name: &str) -> bool {
    ["libamdhip64.so", "libhsa-runtime64.so", "libhiprtc.so"]
        .iter()
        .any(|library| name.starts_with(library))
}

/// Asks the dynamic linker what it would load, and says where it differs from what `gneiss run` is for.
fn libraries(
    file: &Path,
    dynamic: &Dynamic,
    prefix: &Prefix,
    report: &mut Report<'_>,
) -> Result<()> {
    let Some(interpreter) = &dynamic.interpreter else {
        return report.note("it has no program interpreter: it is a library, not a program");
    };
    // It is about to be run; a file may name any program here.
    let name = Path::new(interpreter).file_name().unwrap_or_default();
    if !name.as_encoded_bytes().starts_with(b"ld-") {
        return report.bad(&format!(
            "its program interpreter {interpreter} is no dynamic linker that is known: what would be loaded is not asked"
        ));
    }
    let plain = listing(interpreter, file, prefix, false);
    let loaded = match &plain {
        Ok(loaded) => loaded,
        Err(error) => return report.bad(&format!("{interpreter} --list failed: {error}")),
    };
    let preloaded = listing(interpreter, file, prefix, true).unwrap_or_default();
    let lib = std::fs::canonicalize(prefix.lib()).unwrap_or_else(|_| prefix.lib());
    let from_us =
        |path: &Path| std::fs::canonicalize(path).is_ok_and(|real| real.starts_with(&lib));
    for (name, path) in loaded.iter().filter(|(name, _)| is_ours(name)) {
        match path {
            None => report.bad(&format!("{name} is not found"))?,
            Some(path) if from_us(path) => {
                report.good(&format!("{name} is ours: {}", path.display()))?
            }
            Some(path) => {
                let cure = match preloaded.iter().find(|(other, _)| other == name) {
                    Some((_, Some(other)))
                        if !from_us(other)
                            && !preloaded
                                .iter()
                                .any(|(_, p)| p.as_deref().is_some_and(from_us)) =>
                    {
                        "--preload does not help"
                    }
                    _ => "use `gneiss run --preload`",
                };
                report.bad(&format!(
                    "{name} is not ours: {} ({}); {cure}",
                    path.display(),
                    reason(path, file, dynamic)
                ))?;
            }
        }
    }
    for (name, _) in loaded
        .iter()
        .filter(|(name, path)| path.is_none() && !is_ours(name))
    {
        report.bad(&format!("{name} is not found"))?;
    }
    Ok(())
}

/// Why the dynamic linker took a file before ours.
fn reason(library: &Path, program: &Path, dynamic: &Dynamic) -> String {
    let origin = program
        .parent()
        .map(|parent| std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned()))
        .unwrap_or_default();
    let directory = library
        .parent()
        .and_then(|parent| std::fs::canonicalize(parent).ok());
    let lists = |path: &str| {
        path.split(':').any(|entry| {
            let entry = entry
                .replace("${ORIGIN}", "$ORIGIN")
                .replace("$ORIGIN", &origin.to_string_lossy());
            directory.is_some() && std::fs::canonicalize(entry).ok() == directory
        })
    };
    match (&dynamic.runpath, &dynamic.rpath) {
        (None, Some(rpath)) if lists(rpath) => {
            format!("the program's RPATH \"{rpath}\" comes before LD_LIBRARY_PATH")
        }
        _ if std::env::var_os("LD_PRELOAD").is_some() => {
            "LD_PRELOAD or the RPATH of a library comes first".into()
        }
        _ => "the RPATH of a library that it needs, or an absolute path, comes first".into(),
    }
}

/// Name and file of each library, as `ld.so --list` prints them.
fn listing(
    interpreter: &str,
    file: &Path,
    prefix: &Prefix,
    preload: bool,
) -> std::result::Result<Vec<(String, Option<PathBuf>)>, String> {
    let options = Run {
        gpus: None,
        hip: Hip::Gneiss,
        preload,
        program: vec![OsString::new()],
    };
    let mut command = Command::new(interpreter);
    command.arg("--list").arg(file).stdin(Stdio::null());
    for (name, value) in run::variables(&options, prefix, |name| std::env::var_os(name)) {
        command.env(name, value);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.trim().is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(parse_listing(&text))
}

fn parse_listing(text: &str) -> Vec<(String, Option<PathBuf>)> {
    let mut loaded = Vec::new();
    for line in text.lines().map(str::trim) {
        match line.split_once(" => ") {
            Some((name, path)) if path.starts_with("not found") => {
                loaded.push((name.to_owned(), None))
            }
            Some((name, path)) => {
                loaded.push((name.to_owned(), Some(without_address(path).into())))
            }
            // A library that was named by its path has no arrow.
            None if line.starts_with('/') => {
                let path = PathBuf::from(without_address(line));
                let name = path
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned())
                    .unwrap_or_default();
                loaded.push((name, Some(path)));
            }
            None => {}
        }
    }
    loaded
}

fn without_address(path: &str) -> &str {
    path.rsplit_once(" (0x").map_or(path, |(path, _)| path)
}

/// Compares the device code with the GPUs that are asked for, or says which can run it.
fn device_code(map: &MappedFile, options: &Doctor, report: &mut Report<'_>) -> Result<()> {
    let bundles = match fat_binary::entry_ids(map.bytes()) {
        Ok(bundles) => bundles,
        Err(error) => return report.bad(&format!("its device code cannot be read: {error}")),
    };
    if bundles.is_empty() {
        return report.note("it holds no device code itself");
    }
    report.note(&format!("it holds code for {}", held(&bundles)))?;
    let spec = options
        .gpus
        .clone()
        .or_else(|| gneiss_settings::text("GNEISS_GPUS"));
    match spec.as_deref().map(gpus::parse) {
        Some(Ok(gpus)) => {
            let mut seen = Vec::new();
            for gpu in gpus {
                if !seen.contains(&gpu) {
                    seen.push(gpu);
                    match fault_of(&gpu, &bundles) {
                        None => report.good(&format!("{} runs it", gpu.device()))?,
                        Some(fault) => report.bad(&fault)?,
                    }
                }
            }
            Ok(())
        }
        // A variable with a wrong value is reported with the others.
        Some(Err(_)) => Ok(()),
        None => match able(&bundles) {
            able if able.is_empty() => report.bad(&format!(
                "no GPU can run all of its kernels: {}",
                advice(&bundles)
            )),
            able => report.good(&format!("{} can run it", able.join(", "))),
        },
    }
}

/// The targets of the code, each once.
fn held(bundles: &[Vec<EntryId>]) -> String {
    let mut targets = Vec::new();
    for entry in bundles.iter().flatten().filter(|entry| !entry.is_host()) {
        let target = entry
            .target()
            .map_or_else(|| entry.to_string(), ToString::to_string);
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    if targets.is_empty() {
        "no GPU".to_owned()
    } else {
        targets.join(", ")
    }
}

/// The GPUs that can run all of the code, in the order of the code.
fn able(bundles: &[Vec<EntryId>]) -> Vec<String> {
    fat_binary::shared_targets(bundles)
        .iter()
        .filter(|target| is_executed(&target.processor))
        .map(ToString::to_string)
        .collect()
}

/// Why a GPU cannot run all of the code, and what can be done; `None` if it can.
fn fault_of(gpu: &gpus::Gpu, bundles: &[Vec<EntryId>]) -> Option<String> {
    let device = gpu.device();
    if !is_executed(gpu.processor) {
        return Some(format!(
            "code for {device} is not executed: {}",
            advice(bundles)
        ));
    }
    let fits = |entry: &EntryId| {
        entry.is_hip_amdgcn()
            && entry
                .target()
                .is_some_and(|target| target.fit(&device).is_some())
    };
    let without = bundles
        .iter()
        .filter(|bundle| !bundle.iter().any(fits))
        .count();
    (without > 0).then(|| {
        let other = other_gpus(bundles).map_or_else(String::new, |other| format!(", or {other}"));
        format!(
            "{without} of its {} bundles have no code for {device}: compile with --offload-arch={}{other}",
            bundles.len(),
            gpu.processor
        )
    })
}

/// Which GPUs run the code, if any do: only such as there are, and whose code is executed.
fn other_gpus(bundles: &[Vec<EntryId>]) -> Option<String> {
    if let Some(first) = able(bundles).first() {
        return Some(format!("use --gpus {first}"));
    }
    let mut some = Vec::new();
    for bundle in bundles {
        for target in able(std::slice::from_ref(bundle)) {
            if !some.contains(&target) {
                some.push(target);
            }
        }
    }
    (some.len() > 1).then(|| {
        format!(
            "use several, each for a part of it: --gpus {}",
            some.join(",")
        )
    })
}

/// What can be done where the GPUs that were asked for do not matter.
fn advice(bundles: &[Vec<EntryId>]) -> String {
    other_gpus(bundles).unwrap_or_else(|| {
        let targets: Vec<_> = gpus::TARGETS
            .into_iter()
            .filter(|target| is_executed(target))
            .collect();
        format!(
            "compile with --offload-arch for one of {}",
            targets.join(", ")
        )
    })
}

/// Reads the dynamic section; `None` for a file that has none.
fn dynamic(elf: &Elf<'_>) -> Option<Dynamic> {
    let segment = elf
        .segments
        .iter()
        .find(|segment| segment.kind == PT_DYNAMIC)?;
    let words: Vec<u64> = elf
        .segment_data(segment)
        .ok()?
        .chunks_exact(8)
        .filter_map(|word| word.try_into().ok().map(u64::from_le_bytes))
        .collect();
    let entries: Vec<(u64, u64)> = words
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .take_while(|(tag, _)| *tag != 0)
        .collect();
    let strings = entries.iter().find(|(tag, _)| *tag == DT_STRTAB)?.1;
    let segment = elf.segments.iter().find(|s| {
        s.kind == elf::PT_LOAD && s.address <= strings && strings - s.address < s.file_size
    })?;
    let strings = elf
        .segment_data(segment)
        .ok()?
        .get(usize::try_from(strings - segment.address).ok()?..)?;
    let text = |offset: u64| {
        let rest = strings.get(usize::try_from(offset).ok()?..)?;
        let end = rest.iter().position(|b| *b == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    };
    let all = |wanted| {
        entries
            .iter()
            .filter(move |(tag, _)| *tag == wanted)
            .filter_map(|(_, offset)| text(*offset))
    };
    let interpreter = elf
        .segments
        .iter()
        .find(|segment| segment.kind == PT_INTERP)
        .and_then(|s| elf.segment_data(s).ok());
    let interpreter = interpreter
        .map(|name| String::from_utf8_lossy(name.strip_suffix(&[0]).unwrap_or(name)).into_owned());
    Some(Dynamic {
        interpreter,
        needed: all(DT_NEEDED).collect(),
        rpath: all(DT_RPATH).next(),
        runpath: all(DT_RUNPATH).next(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_of_the_dynamic_linker() {
        let text = "\tlinux-vdso.so.1 (0x00007ffe)\n\t/opt/x/libamdhip64.so.5 (0x00007f01)\n\tlibc.so.6 => /lib/libc.so.6 (0x00007f02)\n\tlibgone.so => not found\n";
        let expected = [
            (
                "libamdhip64.so.5".to_owned(),
                Some(PathBuf::from("/opt/x/libamdhip64.so.5")),
            ),
            ("libc.so.6".to_owned(), Some("/lib/libc.so.6".into())),
            ("libgone.so".to_owned(), None),
        ];
        assert_eq!(parse_listing(text), expected);
    }

    #[test]
    fn code_is_compared_with_the_gpus() {
        let bundle = |targets: &[&str]| -> Vec<EntryId> {
            std::iter::once("host-x86_64-unknown-linux--".to_owned())
                .chain(
                    targets
                        .iter()
                        .map(|target| format!("hipv4-amdgcn-amd-amdhsa--{target}")),
                )
                .map(|id| id.parse().expect("an ID"))
                .collect()
        };
        let fault = |gpu: &str, bundles: &[Vec<EntryId>]| {
            fault_of(&gpus::parse(gpu).expect("a GPU")[0], bundles)
        };
        let both = [bundle(&["gfx803", "gfx90a"]), bundle(&["gfx90a"])];
        assert_eq!(held(&both), "gfx803, gfx90a");
        assert_eq!(able(&both), ["gfx90a"]);
        assert_eq!(fault("gfx90a:2", &both), None);
        assert_eq!(
            fault("gfx1030", &both).as_deref(),
            Some(
                "2 of its 2 bundles have no code for gfx1030: compile with --offload-arch=gfx1030, or use --gpus gfx90a"
            )
        );
        let old = [bundle(&["gfx803"])];
        let fault = fault("gfx1030", &old).expect("a fault");
        assert!(
            fault.ends_with("compile with --offload-arch=gfx1030"),
            "{fault}"
        );
        let advice_for_old = advice(&old);
        assert!(
            advice_for_old.contains("one of gfx900, ") && !advice_for_old.contains("gfx803"),
            "{advice_for_old}"
        );
        let xnack = [bundle(&["gfx90a:xnack+"])];
        assert!(fault_of(&gpus::parse("gfx90a").expect("a GPU")[0], &xnack).is_some());
        assert!(fault_of(&gpus::parse("gfx90a:xnack+").expect("a GPU")[0], &xnack).is_none());
        assert_eq!(advice(&xnack), "use --gpus gfx90a:xnack+");
        let apart = [bundle(&["gfx90a"]), bundle(&["gfx1030", "gfx803"])];
        assert!(advice(&apart).ends_with("--gpus gfx90a,gfx1030"));
    }

    #[test]
    fn this_very_program_is_dynamic() {
        let file = std::env::current_exe()
            .ok()
            .and_then(|path| MappedFile::open(&path).ok());
        let Some(file) = file else {
            panic!("the test cannot read itself")
        };
        let dynamic = Elf::parse(file.bytes())
            .ok()
            .and_then(|elf| dynamic(&elf))
            .unwrap_or_default();
        assert!(
            dynamic.needed.iter().any(|name| name == "libc.so.6"),
            "{dynamic:?}"
        );
        assert!(
            dynamic
                .interpreter
                .is_some_and(|name| name.contains("ld-linux"))
        );
    }
}
