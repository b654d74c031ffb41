//! `gneiss disasm`: the machine code of a file's kernels and functions, in LLVM's syntax.

use crate::arguments::Disasm;
use crate::choice;
use crate::demangle::demangle;
use crate::terminal::Terminal;
use gneiss_amdgcn::isa::decode::Decoder;
use gneiss_amdgcn::isa::text::disassemble_section;
use gneiss_amdgcn::target::Target;
use gneiss_fatbin::elf::{Symbol, SymbolKind};
use gneiss_fatbin::fat_binary::{self, Contents, MappedFile};
use gneiss_fatbin::target_id::PROCESSORS;
use gneiss_fatbin::{CodeObject, Metadata, TargetId};
use std::io::{BufWriter, Error, Result, Write};
use std::process::ExitCode;

/// Writes the code of every function that is asked for.
///
/// # Errors
/// When the file cannot be read, holds nothing that was asked for, or is for a target without instruction tables.
pub fn disasm(options: &Disasm, terminal: &Terminal) -> Result<ExitCode> {
    let path = options.file.display();
    let named = |error: &dyn std::fmt::Display| Error::other(format!("{path}: {error}"));
    let file = MappedFile::open(&options.file).map_err(Error::other)?;
    let images = fat_binary::find(file.bytes()).map_err(|error| named(&error))?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut functions = 0;
    for image in &images {
        match &image.contents {
            Contents::CodeObject(code_object) => {
                functions += write_code_object(code_object, options, terminal, &mut out)
                    .map_err(|error| named(&error))?
            }
            Contents::Bundle(bundle) => {
                for entry in bundle
                    .entries()
                    .filter(|entry| entry.id.is_hip_amdgcn() && !entry.data.is_empty())
                {
                    let code_object = CodeObject::parse(entry.data)
                        .map_err(|error| named(&format!("{}: {error}", entry.id)))?;
                    functions += write_code_object(&code_object, options, terminal, &mut out)
                        .map_err(|error| named(&error))?;
                }
            }
        }
    }
    out.flush()?;
    if functions == 0 {
        let why = choice::nothing_found(&images, options.target.as_ref(), options.kernel.as_ref());
        return Err(named(&why));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the wanted functions of a code object; gives their number.
fn write_code_object(
    code_object: &CodeObject<'_>,
    options: &Disasm,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<usize> {
    if !choice::is_wanted(options.target.as_ref(), code_object.target()) {
        return Ok(0);
    }
    let target = decoded_target(code_object.target())?;
    let metadata = code_object.metadata().map_err(Error::other)?;
    let mut symbols = functions(code_object)?;
    symbols.retain(|symbol| choice::is_named(options.kernel.as_ref(), symbol.name));
    if !symbols.is_empty() {
        writeln!(
            out,
            "{}",
            terminal.bold(&format!(
                "; {}, code object v{}",
                code_object.target(),
                code_object.version()
            ))
        )?;
    }
    for symbol in &symbols {
        let wave_size = wave_size(&metadata, symbol, target);
        let decoder = Decoder::new(target, wave_size)
            .map_err(|_| Error::other(format!("there are no instruction tables for {target}")))?;
        write_function(code_object, symbol, &decoder, terminal, out)?;
    }
    Ok(symbols.len())
}

/// The target whose tables decode code for `id`: itself, for a generic one the first that it covers.
///
/// # Errors
/// When the engine does not know it.
pub fn decoded_target(id: &TargetId) -> Result<Target> {
    let first = covered_targets(id)?;
    Ok(first[0])
}

/// The targets that run code for `id`, at least one: itself, for a generic one all that it covers.
///
/// # Errors
/// When the engine does not know one.
pub fn covered_targets(id: &TargetId) -> Result<Vec<Target>> {
    let covered: Vec<&str> = PROCESSORS
        .iter()
        .filter(|processor| processor.generic == Some(id.processor.as_str()))
        .map(|processor| processor.name)
        .collect();
    let names = if covered.is_empty() {
        vec![id.processor.as_str()]
    } else {
        covered
    };
    names
        .into_iter()
        .map(|name| name.parse().map_err(Error::other))
        .collect()
}

/// The kernels and functions of a code object, by address, one for each address.
pub fn functions<'a>(code_object: &CodeObject<'a>) -> Result<Vec<Symbol<'a>>> {
    let mut symbols = code_object.all_symbols().map_err(Error::other)?;
    symbols.retain(|symbol| {
        let code = matches!(symbol.kind, SymbolKind::Function | SymbolKind::HsaKernel);
        code && symbol.is_defined() && symbol.size > 0
    });
    symbols.sort_by_key(|symbol| symbol.value);
    symbols.dedup_by_key(|symbol| symbol.value);
    Ok(symbols)
}

/// The wave size that a function's code is for: its kernel's, for others the target's usual one.
pub fn wave_size(metadata: &Metadata, symbol: &Symbol<'_>, target: Target) -> u32 {
    let kernel = metadata
        .kernels
        .iter()
        .find(|kernel| kernel.name == symbol.name);
    kernel.map_or(target.features().default_wave_size, |kernel| {
        kernel.wavefront_size
    })
}

/// A function's code and the address of its first instruction.
///
/// # Errors
/// When it is not in the loadable segments.
pub fn code_of<'a>(code_object: &CodeObject<'a>, symbol: &Symbol<'_>) -> Result<(&'a [u8], u64)> {
    let code = code_object.elf().at_address(symbol.value, symbol.size);
    let code = code.ok_or_else(|| {
        Error::other(format!(
            "function \"{}\" lies outside the loadable segments",
            symbol.name
        ))
    })?;
    // A kernel of code object v2 begins with 256 bytes of amd_kernel_code_t.
    Ok(match code.get(256..) {
        Some(code) if symbol.kind == SymbolKind::HsaKernel => (code, symbol.value + 256),
        _ => (code, symbol.value),
    })
}

fn write_function(
    code_object: &CodeObject<'_>,
    symbol: &Symbol<'_>,
    decoder: &Decoder,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<()> {
    let (code, start) = code_of(code_object, symbol)?;
    writeln!(
        out,
        "\n{start:016x} <{}>:",
        terminal.bold(&demangle(symbol.name))
    )?;
    for line in disassemble_section(decoder, code, start) {
        let words = line.bytes.chunks(4).map(|word| {
            word.iter()
                .rev()
                .map(|byte| format!("{byte:02X}"))
                .collect::<String>()
        });
        writeln!(
            out,
            "\t{:<60}// {:012X}: {}",
            line.text,
            line.address,
            words.collect::<Vec<_>>().join(" ")
        )?;
    }
    Ok(())
}
