//! Device variables of loaded programs, by address: memory that no allocation function gave, but that copies and queries know.

use std::collections::BTreeMap;

use gneiss_clr::Program;
use parking_lot::RwLock;

/// A variable of a loaded program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Address of its first byte.
    pub base: usize,
    /// Bytes.
    pub size: usize,
    /// Ordinal of the device that it is on.
    pub device: usize,
}

static VARIABLES: RwLock<BTreeMap<usize, Variable>> = RwLock::new(BTreeMap::new());

/// Adds the variables of a program that was just loaded.
pub fn add(program: &Program) {
    let device = program.device().index();
    let mut variables = VARIABLES.write();
    for global in program.globals() {
        let base = global.address as usize;
        variables.insert(
            base,
            Variable {
                base,
                size: global.size,
                device,
            },
        );
    }
}

/// Removes the variables of a program that is about to be unloaded.
pub fn remove(program: &Program) {
    let mut variables = VARIABLES.write();
    for global in program.globals() {
        variables.remove(&(global.address as usize));
    }
}

/// The variable that holds an address.
pub fn find(address: usize) -> Option<Variable> {
    let variables = VARIABLES.read();
    let (_, variable) = variables.range(..=address).next_back()?;
    (address - variable.base < variable.size).then_some(*variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_variables_are_found() {
        let variable = Variable {
            base: 0x10_0000,
            size: 16,
            device: 0,
        };
        VARIABLES.write().insert(variable.base, variable);
        assert_eq!(find(0x10_0000), Some(variable));
        assert_eq!(find(0x10_000f), Some(variable));
        assert_eq!(find(0x10_0010), None);
        assert_eq!(find(0xf_ffff), None);
    }
}
