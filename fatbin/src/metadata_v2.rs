//! Metadata of code object v2, told in the terms of the later versions: other names, words in CamelCase, and argument
//! offsets that follow from sizes and alignments. Source: LLVM, AMDGPUUsage, "Code Object V2 Metadata".

use crate::error::{Error, Result};
use crate::message_pack::Value;
use crate::metadata::{
    Access, AddressSpace, ArgumentMetadata, Fields, KernelMetadata, Metadata, ValueKind,
};
use crate::yaml;

/// Parses the YAML of a v2 metadata note.
pub(crate) fn parse(note: &[u8]) -> Result<Metadata> {
    let text = std::str::from_utf8(note).map_err(|_| Error::Yaml {
        line: 1,
        reason: "it is not text",
    })?;
    let tree = yaml::parse(text.trim_end_matches('\0'))?;
    let root = Fields::new("", &tree)?;
    let kernel =
        |(index, kernel)| kernel_metadata(&Fields::new(&format!("Kernels[{index}]"), kernel)?);
    let kernels = root
        .array("Kernels")?
        .iter()
        .enumerate()
        .map(kernel)
        .collect::<Result<_>>()?;
    let format = |format: &Value<'_>| match format {
        Value::Str(text) => Ok((*text).to_owned()),
        _ => root.error("Printf", "holds something that is no string"),
    };
    let printf = root
        .array("Printf")?
        .iter()
        .map(format)
        .collect::<Result<_>>()?;
    Ok(Metadata {
        version: root.numbers("Version")?.unwrap_or_default(),
        target: None,
        printf,
        kernels,
    })
}

fn kernel_metadata(fields: &Fields<'_, '_>) -> Result<KernelMetadata> {
    let attributes = fields.child("Attrs")?;
    let code = fields.child("CodeProps")?;
    let kernarg_segment_size = code.required_number("KernargSegmentSize")?;
    let mut args = Vec::new();
    let mut offset = 0_u32;
    for (index, arg) in fields.array("Args")?.iter().enumerate() {
        let arg = Fields::new(&format!("{}.Args[{index}]", fields.path()), arg)?;
        let align = arg.required_number("Align")?;
        if !align.is_power_of_two() {
            return arg.error("Align", "is no power of two");
        }
        let size = arg.required_number("Size")?;
        let place = offset
            .checked_next_multiple_of(align)
            .and_then(|start| Some((start, start.checked_add(size)?)));
        let Some((start, end)) = place.filter(|(_, end)| *end <= kernarg_segment_size) else {
            return arg.error("", "lies outside the kernel argument segment");
        };
        args.push(argument_metadata(&arg, start, size)?);
        offset = end;
    }
    Ok(KernelMetadata {
        name: fields.required_string("Name")?,
        symbol: fields.required_string("SymbolName")?,
        language: fields.string("Language")?,
        language_version: fields.numbers("LanguageVersion")?,
        args,
        reqd_workgroup_size: attributes.numbers("ReqdWorkGroupSize")?,
        workgroup_size_hint: attributes.numbers("WorkGroupSizeHint")?,
        vec_type_hint: attributes.string("VecTypeHint")?,
        device_enqueue_symbol: attributes.string("RuntimeHandle")?,
        kernarg_segment_size,
        kernarg_segment_align: code.required_number("KernargSegmentAlign")?,
        group_segment_fixed_size: code.required_number("GroupSegmentFixedSize")?,
        private_segment_fixed_size: code.required_number("PrivateSegmentFixedSize")?,
        uses_dynamic_stack: code.flag("IsDynamicCallStack")?.unwrap_or_default(),
        wavefront_size: code.required_number("WavefrontSize")?,
        sgpr_count: code.required_number("NumSGPRs")?,
        vgpr_count: code.required_number("NumVGPRs")?,
        sgpr_spill_count: code.number("NumSpilledSGPRs")?.unwrap_or_default(),
        vgpr_spill_count: code.number("NumSpilledVGPRs")?.unwrap_or_default(),
        max_flat_workgroup_size: code.required_number("MaxFlatWorkGroupSize")?,
        ..KernelMetadata::default()
    })
}

fn argument_metadata(fields: &Fields<'_, '_>, offset: u32, size: u32) -> Result<ArgumentMetadata> {
    let value_kind = fields.word("ValueKind", |text| ValueKind::from_text(&snake_case(text)))?;
    let access = |name| {
        let access = fields.word(name, |text| {
            if text == "Default" {
                Some(None)
            } else {
                Access::from_text(&snake_case(text)).map(Some)
            }
        })?;
        Ok(access.flatten())
    };
    Ok(ArgumentMetadata {
        name: fields.string("Name")?,
        type_name: fields.string("TypeName")?,
        offset,
        size,
        value_kind: value_kind.map_or_else(|| fields.error("ValueKind", "is missing"), Ok)?,
        pointee_align: fields.number("PointeeAlign")?,
        address_space: fields.word("AddrSpaceQual", |text| {
            AddressSpace::from_text(&snake_case(text))
        })?,
        access: access("AccQual")?,
        actual_access: access("ActualAccQual")?,
        is_const: fields.flag("IsConst")?.unwrap_or_default(),
        is_restrict: fields.flag("IsRestrict")?.unwrap_or_default(),
        is_volatile: fields.flag("IsVolatile")?.unwrap_or_default(),
        is_pipe: fields.flag("IsPipe")?.unwrap_or_default(),
    })
}

/// `HiddenGlobalOffsetX` to `hidden_global_offset_x`.
fn snake_case(text: &str) -> String {
    let mut snake = String::new();
    for (index, c) in text.chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
