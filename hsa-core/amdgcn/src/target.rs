//! The gfx targets and what they have.

/// An instruction set family: the targets that share encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// GFX900, 902, 904, 906, 908, 909, 90c.
    Gfx9,
    /// GFX90A.
    Gfx90a,
    /// GFX940, 941, 942, 950.
    Gfx940,
    /// GFX1010 to 1013.
    Gfx10,
    /// GFX1030 to 1036.
    Gfx10_3,
    /// GFX1100 to 1153.
    Gfx11,
    /// GFX1200, 1201.
    Gfx12,
}

/// A processor: `gfx90a` is major 9, minor 0, stepping 0xa.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// 9, 10, 11, 12.
    pub major: u8,
    /// Minor.
    pub minor: u8,
    /// Stepping; printed in hexadecimal.
    pub stepping: u8,
}
