//! `gneiss coverage`: which instructions of files, or of a target's whole instruction set, are executed, and how exactly.
//!
//! What is exact, approximate or unsupported comes from the instruction tables and the lowering itself (`gneiss_amdgcn::ir::coverage`), so
//! the report cannot differ from what happens at run time. In files, every instruction is asked with its operands and modifiers; an
//! operation counts once for each target, with the worst status of its instructions.
//!
//! The exit code is for CI: 0 if everything in the files runs (for a whole target: if everything that does not run has a reason), else 1.

use crate::arguments::Coverage;
use crate::choice;
use crate::disasm::{code_of, covered_targets, decoded_target, functions, wave_size};
use crate::table::Table;
use crate::terminal::Terminal;
use gneiss_amdgcn::ir::coverage::{self, Status};
use gneiss_amdgcn::isa::decode::Decoder;
use gneiss_amdgcn::isa::text::disassemble_section;
use gneiss_fatbin::fat_binary::{self, Contents, MappedFile};
use gneiss_fatbin::{CodeObject, TargetId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{BufWriter, Error, Result, Write};
use std::path::Path;
use std::process::ExitCode;

/// What is known of one target.
#[derive(Debug, Default)]
struct Target {
    kernels: usize,
    functions: usize,
    operations: BTreeMap<String, Status>,
}

/// The same, as JSON has it.
#[derive(Debug, Serialize)]
struct Report<'a> {
    target: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernels: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    functions: Option<usize>,
    /// Counts.
    opcodes: usize,
    exact: usize,
    approximate: usize,
    unsupported: usize,
    unexplained: usize,
    lists: Lists<'a>,
}

#[derive(Debug, Default, Serialize)]
struct Lists<'a> {
    exact: Vec<&'a str>,
    approximate: Vec<Remark<'a>>,
    unsupported: Vec<Remark<'a>>,
    unexplained: Vec<Remark<'a>>,
}

/// An operation with its bound, or the reason why it is not executed.
#[derive(Debug, Serialize)]
struct Remark<'a> {
    opcode: &'a str,
    remark: &'a str,
}

/// Writes the report.
///
/// # Errors
/// When a file cannot be read or holds no device code, when a target is unknown, or stdout fails.
pub fn coverage(options: &Coverage, terminal: &Terminal) -> Result<ExitCode> {
    let mut targets = BTreeMap::new();
    for file in &options.files {
        add_file(file, options, &mut targets)?;
    }
    let whole = options.files.is_empty();
    if let (true, Some(target)) = (whole, &options.target) {
        let target = Target {
            operations: instruction_set(target)?,
            ..Target::default()
        };
        targets.insert(
            options
                .target
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            target,
        );
    }
    let reports: Vec<Report<'_>> = targets
        .iter()
        .map(|(name, target)| report(name, target, whole))
        .collect();
    let mut out = BufWriter::new(std::io::stdout().lock());
    if options.json {
        serde_json::to_writer_pretty(&mut out, &reports)?;
        writeln!(out)?;
    } else {
        write_text(&reports, terminal, &mut out)?;
    }
    out.flush()?;
    let complete = reports
        .iter()
        .all(|report| report.unexplained == 0 && (whole || report.unsupported == 0));
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The operations of a target; of a generic one those that all targets have which it covers, and that mean the same on all: the
/// 8-bit floats of gfx942 are others than those of gfx950.
///
/// # Errors
/// When there are no tables for it.
fn instruction_set(id: &TargetId) -> Result<BTreeMap<String, Status>> {
    let targets = covered_targets(id)?;
    let ocp = targets[0].has_ocp_floats();
    let same_floats = targets.iter().all(|target| target.has_ocp_floats() == ocp);
    let mut common: Option<BTreeMap<_, _>> = None;
    for target in targets {
        let operations = coverage::of_target(target)
            .ok_or_else(|| Error::other(format!("there are no instruction tables for {target}")))?;
        match &mut common {
            None => common = Some(operations),
            Some(common) => common.retain(|op, _| operations.contains_key(op)),
        }
    }
    let operations = common.unwrap_or_default().into_iter();
    Ok(operations
        .map(|(op, status)| (op.name().to_owned(), status))
        .filter(|(name, _)| same_floats || !name.contains("fp8") && !name.contains("bf8"))
        .collect())
}

/// Adds what a file holds to its targets.
///
/// # Errors
/// When it cannot be read, or holds nothing that was asked for.
fn add_file(path: &Path, options: &Coverage, targets: &mut BTreeMap<String, Target>) -> Result<()> {
    let named =
        |error: &dyn std::fmt::Display| Error::other(format!("{}: {error}", path.display()));
    let file = MappedFile::open(path).map_err(Error::other)?;
    let images = fat_binary::find(file.bytes()).map_err(|error| named(&error))?;
    let mut found = false;
    for image in &images {
        match &image.contents {
            Contents::CodeObject(code_object) => {
                found |= add_code_object(code_object, options, targets)
                    .map_err(|error| named(&error))?;
            }
            Contents::Bundle(bundle) => {
                let device = |entry: &gneiss_fatbin::BundleEntry<'_>| {
                    entry.id.is_hip_amdgcn() && !entry.data.is_empty()
                };
                for entry in bundle.entries().filter(device) {
                    let code_object = CodeObject::parse(entry.data)
                        .map_err(|error| named(&format!("{}: {error}", entry.id)))?;
                    found |= add_code_object(&code_object, options, targets)
                        .map_err(|error| named(&error))?;
                }
            }
        }
    }
    if found {
        Ok(())
    } else {
        Err(named(&choice::nothing_found(
            &images,
            options.target.as_ref(),
            None,
        )))
    }
}

/// Adds a code object; whether it was asked for.
fn add_code_object(
    code_object: &CodeObject<'_>,
    options: &Coverage,
    targets: &mut BTreeMap<String, Target>,
) -> Result<bool> {
    let id = code_object.target();
    if !choice::is_wanted(options.target.as_ref(), id) {
        return Ok(false);
    }
    let metadata = code_object.metadata().map_err(Error::other)?;
    let known = targets.entry(id.to_string()).or_default();
    known.kernels += metadata.kernels.len();
    let target = decoded_target(id)?;
    let symbols = functions(code_object)?;
    known.functions += symbols.len();
    for symbol in &symbols {
        let wave_size = wave_size(&metadata, symbol, target);
        let Ok(decoder) = Decoder::new(target, wave_size) else {
            let why = format!("there are no instruction tables for {target}");
            known
                .operations
                .insert("all of them".to_owned(), Status::Unexplained(why));
            return Ok(true);
        };
        let (code, start) = code_of(code_object, symbol)?;
        for line in disassemble_section(&decoder, code, start) {
            let (name, status) = match &line.inst {
                Ok(inst) => (
                    inst.op.name().to_owned(),
                    coverage::status(inst, target, wave_size == 64),
                ),
                Err(error) => (line.text.clone(), Status::Unexplained(error.to_string())),
            };
            let known = known.operations.entry(name).or_insert(Status::Exact);
            if status > *known {
                *known = status;
            }
        }
    }
    Ok(true)
}

fn report<'a>(name: &'a str, target: &'a Target, whole: bool) -> Report<'a> {
    let mut lists = Lists::default();
    for (opcode, status) in &target.operations {
        let remark = |remark: &'a str| Remark { opcode, remark };
        match status {
            Status::Exact => lists.exact.push(opcode),
            Status::Approximate(bound) => lists.approximate.push(remark(bound)),
            Status::Unsupported(reason) => lists.unsupported.push(remark(reason)),
            Status::Unexplained(what) => lists.unexplained.push(remark(what)),
        }
    }
    Report {
        target: name,
        kernels: (!whole).then_some(target.kernels),
        functions: (!whole).then_some(target.functions),
        opcodes: target.operations.len(),
        exact: lists.exact.len(),
        approximate: lists.approximate.len(),
        unsupported: lists.unsupported.len(),
        unexplained: lists.unexplained.len(),
        lists,
    }
}

fn write_text(reports: &[Report<'_>], terminal: &Terminal, out: &mut dyn Write) -> Result<()> {
    let mut table = Table::new(
        0,
        &[
            "target",
            ">kernels",
            ">opcodes",
            ">exact",
            ">approximate",
            ">unsupported",
            ">unexplained",
        ],
    );
    for report in reports {
        let kernels = report.kernels.map_or("-".to_owned(), |n| n.to_string());
        let counts = [
            report.opcodes,
            report.exact,
            report.approximate,
            report.unsupported,
            report.unexplained,
        ];
        let counts = counts.map(|count| count.to_string());
        table.row(
            [report.target.to_owned(), kernels]
                .into_iter()
                .chain(counts),
        );
    }
    table.write(out)?;
    for report in reports {
        let lists = [
            ("approximate", &report.lists.approximate),
            ("unsupported", &report.lists.unsupported),
            ("unexplained", &report.lists.unexplained),
        ];
        for (title, list) in lists {
            if list.is_empty() {
                continue;
            }
            writeln!(
                out,
                "\n{}",
                terminal.bold(&format!("{}: {title}", report.target))
            )?;
            let mut table = Table::new(2, &["opcode", "remark"]);
            for entry in list {
                table.row([entry.opcode.to_owned(), entry.remark.to_owned()]);
            }
            table.write(out)?;
        }
    }
    Ok(())
}
