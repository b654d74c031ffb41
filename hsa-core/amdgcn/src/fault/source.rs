//! Source lines of device code, from the DWARF that `-g` leaves in a code object.

use addr2line::{
    Context,
    gimli::{Dwarf, EndianSlice, LittleEndian, SectionId},
};
use object::{Object, ObjectSection};

/// File and line of an address in the code object's own address space, if it has debug information that says so. Anything odd in the
/// file only means that there is no line to tell.
pub(super) fn line(elf: &[u8], address: u64) -> Option<String> {
    let file = object::File::parse(elf).ok()?;
    let section = |id: SectionId| -> Result<_, addr2line::gimli::Error> {
        let data = file
            .section_by_name(id.name())
            .and_then(|section| section.data().ok())
            .unwrap_or_default();
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let context = Context::from_dwarf(Dwarf::load(section).ok()?).ok()?;
    let location = context.find_location(address).ok()??;
    let (file, line) = (location.file?, location.line?);
    Some(format!("{file}:{line}"))
}

/// Lowest address of the loadable segments: what the loader's base address stands for.
pub(super) fn lowest_address(elf: &[u8]) -> Option<u64> {
    let object = gneiss_fatbin::code_object::CodeObject::parse(elf).ok()?;
    object.address_span().map(|(start, _)| start)
}
