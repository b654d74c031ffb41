//! `gneiss inspect`: what device code a file holds, as tables or as JSON.

use crate::arguments::Inspect;
use crate::choice;
use crate::demangle::demangle;
use crate::table::Table;
use crate::terminal::Terminal;
use gneiss_fatbin::elf::SymbolKind;
use gneiss_fatbin::fat_binary::{self, Contents, Image, MappedFile};
use gneiss_fatbin::{ArgumentMetadata, Bundle, BundleEntry, CodeObject, KernelMetadata};
use serde::Serialize;
use std::io::{BufWriter, Result, Write};
use std::process::ExitCode;

/// Everything that is listed of a file.
#[derive(Debug, Serialize)]
struct File {
    file: String,
    size: usize,
    images: Vec<ImageReport>,
}

/// A bundle or a code object that stands alone.
#[derive(Debug, Serialize)]
struct ImageReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    section: Option<String>,
    offset: u64,
    kind: &'static str,
    size: u64,
    compression: Option<Compression>,
    entries: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Compression {
    version: u16,
    method: &'static str,
    unpacked_size: u64,
}

/// A bundle's entry; a code object that stands alone is shown as one.
#[derive(Debug, Serialize)]
struct Entry {
    id: Option<String>,
    kind: Option<String>,
    target: Option<String>,
    offset: u64,
    size: usize,
    code_object: Option<CodeObjectReport>,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct CodeObjectReport {
    version: u8,
    target: String,
    generic_version: u8,
    flags: u32,
    relocatable: bool,
    relocations: usize,
    memory_size: u64,
    kernels: Vec<Kernel>,
    variables: Vec<Variable>,
    printf: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Kernel {
    name: String,
    mangled: String,
    symbol: String,
    vgprs: u32,
    agprs: Option<u32>,
    sgprs: u32,
    vgpr_spills: u32,
    sgpr_spills: u32,
    lds: u32,
    scratch: u32,
    dynamic_stack: bool,
    wavefront_size: u32,
    max_workgroup_size: u32,
    required_workgroup_size: Option<[u32; 3]>,
    uniform_workgroup_size: bool,
    kernarg_size: u32,
    kernarg_align: u32,
    arguments: Vec<Argument>,
}

#[derive(Debug, Serialize)]
struct Argument {
    offset: u32,
    size: u32,
    kind: &'static str,
    hidden: bool,
    name: Option<String>,
    #[serde(rename = "type")]
    type_name: Option<String>,
    address_space: Option<&'static str>,
    access: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Variable {
    name: String,
    size: u64,
    address: u64,
}

/// Lists a file. Entries that cannot be read are shown with their fault, and make the exit code 1.
///
/// # Errors
/// When the file cannot be read or holds no device code, or stdout fails.
pub fn inspect(options: &Inspect, terminal: &Terminal) -> Result<ExitCode> {
    let path = options.file.display().to_string();
    let file = MappedFile::open(&options.file).map_err(std::io::Error::other)?;
    let images = fat_binary::find(file.bytes())
        .map_err(|error| std::io::Error::other(format!("{path}: {error}")))?;
    let reports: Vec<_> = images
        .iter()
        .map(|image| image_report(image, options))
        .collect();
    // What cannot be read is shown: it may be what was asked for.
    let chosen = |entry: &Entry| {
        entry.error.is_some()
            || match &entry.code_object {
                Some(code_object) => options.kernel.is_none() || !code_object.kernels.is_empty(),
                None => options.kernel.is_none() && entry.size > 0,
            }
    };
    let asked = options.target.is_some() || options.kernel.is_some();
    if asked && !reports.iter().flat_map(|image| &image.entries).any(chosen) {
        let why = choice::nothing_found(&images, options.target.as_ref(), options.kernel.as_ref());
        return Err(std::io::Error::other(format!("{path}: {why}")));
    }
    let faulty = reports
        .iter()
        .flat_map(|image| &image.entries)
        .any(|entry| entry.error.is_some());
    let report = File {
        file: path,
        size: file.bytes().len(),
        images: reports,
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    if options.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        write_text(&report, terminal, &mut out)?;
    }
    out.flush()?;
    Ok(if faulty {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn image_report(image: &Image<'_>, options: &Inspect) -> ImageReport {
    let (kind, size, compression, entries) = match &image.contents {
        Contents::Bundle(bundle) => (
            "bundle",
            bundle.len(),
            compression(bundle),
            bundle
                .entries()
                .filter_map(|e| bundle_entry(&e, options))
                .collect(),
        ),
        Contents::CodeObject(code_object) => {
            let size = code_object.elf().data().len();
            (
                "code object",
                size as u64,
                None,
                if choice::is_wanted(options.target.as_ref(), code_object.target()) {
                    vec![entry(None, code_object, image.offset, size, options)]
                } else {
                    Vec::new()
                },
            )
        }
    };
    ImageReport {
        member: image.member.clone(),
        section: image.section.map(str::to_owned),
        offset: image.offset,
        kind,
        size,
        compression,
        entries,
    }
}

fn compression(bundle: &Bundle<'_>) -> Option<Compression> {
    let header = bundle.compression()?;
    Some(Compression {
        version: header.version,
        method: header.method.name(),
        unpacked_size: header.unpacked_size,
    })
}

/// An entry of a bundle, unless only another target is asked for.
fn bundle_entry(found: &BundleEntry<'_>, options: &Inspect) -> Option<Entry> {
    if options.target.is_some() && !choice::is_wanted(options.target.as_ref(), found.id.target()?) {
        return None;
    }
    let empty = |error| Entry {
        id: Some(found.id.to_string()),
        kind: Some(found.id.kind().to_owned()),
        target: found.id.target().map(ToString::to_string),
        offset: found.offset,
        size: found.data.len(),
        code_object: None,
        error,
    };
    if found.data.is_empty() || !found.id.is_hip_amdgcn() {
        return Some(empty(None));
    }
    match CodeObject::parse(found.data) {
        Ok(code_object) => Some(entry(
            Some(found),
            &code_object,
            found.offset,
            found.data.len(),
            options,
        )),
        Err(error) => Some(empty(Some(error.to_string()))),
    }
}

fn entry(
    found: Option<&BundleEntry<'_>>,
    code_object: &CodeObject<'_>,
    offset: u64,
    size: usize,
    options: &Inspect,
) -> Entry {
    let (code_object, error) = match code_object_report(code_object, options) {
        Ok(report) => (Some(report), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let target = found
        .and_then(|entry| entry.id.target())
        .map(ToString::to_string);
    Entry {
        id: found.map(|entry| entry.id.to_string()),
        kind: found.map(|entry| entry.id.kind().to_owned()),
        target: target.or_else(|| code_object.as_ref().map(|c| c.target.clone())),
        offset,
        size,
        code_object,
        error,
    }
}

fn code_object_report(
    code_object: &CodeObject<'_>,
    options: &Inspect,
) -> gneiss_fatbin::Result<CodeObjectReport> {
    let metadata = code_object.metadata()?;
    let wanted = |kernel: &&KernelMetadata| choice::is_named(options.kernel.as_ref(), &kernel.name);
    let variables = code_object.symbols()?.into_iter().filter(|symbol| {
        symbol.is_defined()
            && !symbol.is_local()
            && symbol.kind == SymbolKind::Object
            && !code_object.is_kernel(symbol)
    });
    Ok(CodeObjectReport {
        version: code_object.version(),
        target: code_object.target().to_string(),
        generic_version: code_object.generic_version(),
        flags: code_object.elf().flags,
        relocatable: code_object.is_relocatable(),
        relocations: code_object.relocations()?.len(),
        memory_size: code_object
            .address_span()
            .map_or(0, |(start, end)| end - start),
        kernels: metadata.kernels.iter().filter(wanted).map(kernel).collect(),
        variables: variables
            .map(|s| Variable {
                name: demangle(s.name),
                size: s.size,
                address: s.value,
            })
            .collect(),
        printf: metadata.printf.clone(),
    })
}

fn kernel(kernel: &KernelMetadata) -> Kernel {
    Kernel {
        name: demangle(&kernel.name),
        mangled: kernel.name.clone(),
        symbol: kernel.symbol.clone(),
        vgprs: kernel.vgpr_count,
        agprs: kernel.agpr_count,
        sgprs: kernel.sgpr_count,
        vgpr_spills: kernel.vgpr_spill_count,
        sgpr_spills: kernel.sgpr_spill_count,
        lds: kernel.group_segment_fixed_size,
        scratch: kernel.private_segment_fixed_size,
        dynamic_stack: kernel.uses_dynamic_stack,
        wavefront_size: kernel.wavefront_size,
        max_workgroup_size: kernel.max_flat_workgroup_size,
        required_workgroup_size: kernel.reqd_workgroup_size,
        uniform_workgroup_size: kernel.uniform_work_group_size,
        kernarg_size: kernel.kernarg_segment_size,
        kernarg_align: kernel.kernarg_segment_align,
        arguments: kernel.args.iter().map(argument).collect(),
    }
}

fn argument(argument: &ArgumentMetadata) -> Argument {
    Argument {
        offset: argument.offset,
        size: argument.size,
        kind: argument.value_kind.as_str(),
        hidden: argument.value_kind.is_hidden(),
        name: argument.name.clone(),
        type_name: argument.type_name.clone(),
        address_space: argument.address_space.map(|space| space.as_str()),
        access: argument
            .actual_access
            .or(argument.access)
            .map(|access| access.as_str()),
    }
}

fn write_text(report: &File, terminal: &Terminal, out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "{}: {} bytes",
        terminal.bold(&report.file),
        report.size
    )?;
    for image in &report.images {
        let member = image
            .member
            .as_ref()
            .map(|name| format!("{name}: "))
            .unwrap_or_default();
        let section = image
            .section
            .as_ref()
            .map(|name| format!("{name}, "))
            .unwrap_or_default();
        write!(
            out,
            "\n{member}{section}{} at {:#x}, {} bytes",
            image.kind, image.offset, image.size
        )?;
        if let Some(c) = &image.compression {
            write!(
                out,
                ", {} (CCOB {}), unpacked {} bytes",
                c.method, c.version, c.unpacked_size
            )?;
        }
        writeln!(out)?;
        for entry in &image.entries {
            write_entry(entry, terminal, out)?;
        }
    }
    Ok(())
}

fn write_entry(entry: &Entry, terminal: &Terminal, out: &mut dyn Write) -> Result<()> {
    let name = entry
        .id
        .as_deref()
        .or(entry.target.as_deref())
        .unwrap_or("code object");
    if entry.size == 0 {
        return writeln!(out, "  {name}: empty");
    }
    writeln!(
        out,
        "  {}: {} bytes at {:#x}",
        terminal.bold(name),
        entry.size,
        entry.offset
    )?;
    if let Some(error) = &entry.error {
        return writeln!(out, "    {}: {error}", terminal.bad("unreadable"));
    }
    let Some(code_object) = &entry.code_object else {
        return writeln!(out, "    no amdgcn code for HIP");
    };
    let generic = if code_object.generic_version > 0 {
        format!(", generic version {}", code_object.generic_version)
    } else {
        String::new()
    };
    let state = if code_object.relocatable {
        ", not linked yet"
    } else {
        ""
    };
    writeln!(
        out,
        "    code object v{} for {}{generic}{state}: {} kernels, {} variables, {} relocations, {} bytes loaded",
        code_object.version,
        code_object.target,
        code_object.kernels.len(),
        code_object.variables.len(),
        code_object.relocations,
        code_object.memory_size
    )?;
    let heads = [
        ">VGPR",
        ">AGPR",
        ">SGPR",
        ">spills",
        ">LDS",
        ">scratch",
        ">kernarg",
        ">wave",
        ">max group",
        "kernel",
    ];
    let mut table = Table::new(4, &heads);
    for kernel in &code_object.kernels {
        let scratch = format!(
            "{}{}",
            kernel.scratch,
            if kernel.dynamic_stack { "+" } else { "" }
        );
        table.row([
            kernel.vgprs.to_string(),
            kernel
                .agprs
                .map_or_else(|| "-".into(), |count| count.to_string()),
            kernel.sgprs.to_string(),
            (kernel.vgpr_spills + kernel.sgpr_spills).to_string(),
            kernel.lds.to_string(),
            scratch,
            kernel.kernarg_size.to_string(),
            kernel.wavefront_size.to_string(),
            kernel.max_workgroup_size.to_string(),
            kernel.name.clone(),
        ]);
    }
    if !table.is_empty() {
        table.write(out)?;
    }
    for kernel in &code_object.kernels {
        write_arguments(kernel, terminal, out)?;
    }
    if !code_object.variables.is_empty() {
        let mut table = Table::new(4, &[">bytes", ">address", "variable"]);
        for variable in &code_object.variables {
            table.row([
                variable.size.to_string(),
                format!("{:#x}", variable.address),
                variable.name.clone(),
            ]);
        }
        table.write(out)?;
    }
    Ok(())
}

fn write_arguments(kernel: &Kernel, terminal: &Terminal, out: &mut dyn Write) -> Result<()> {
    let hidden = kernel
        .arguments
        .iter()
        .filter(|argument| argument.hidden)
        .count();
    writeln!(
        out,
        "    {}: {} arguments, {hidden} hidden",
        kernel.name,
        kernel.arguments.len() - hidden
    )?;
    let mut table = Table::new(6, &[">offset", ">size", "kind", "name"]);
    for argument in kernel
        .arguments
        .iter()
        .filter(|argument| !argument.hidden || terminal.verbose)
    {
        let mut kind = argument.kind.to_owned();
        if let Some(space) = argument.address_space {
            kind = format!("{kind} ({space})");
        }
        let words = [
            argument.access,
            argument.type_name.as_deref(),
            argument.name.as_deref(),
        ];
        let name = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
        table.row([
            argument.offset.to_string(),
            argument.size.to_string(),
            kind,
            name,
        ]);
    }
    if table.is_empty() {
        Ok(())
    } else {
        table.write(out)
    }
}
