//! The encodings of the families: what of them is fixed, and what is random.

use crate::testing::Random;

/// `s_nop 0`.
const NOP: u32 = 0xbf80_0000;

/// First bit and number of bits.
type Field = (u32, u32);

/// The fields of a format of two dwords. Bits that are in none are 0.
pub(super) struct Fields {
    opcode: Field,
    /// Other fields of the first and of the second dword.
    others: [&'static [Field]; 2],
}

/// A format.
pub(super) struct Format {
    pub(super) name: &'static str,
    /// The fixed bits at the top of the first dword.
    fixed: &'static str,
    /// Dwords of its longest instruction.
    longest: usize,
    fields: Option<Fields>,
}

impl Format {
    /// Dwords of a place: the longest instruction, and what brings the disassembler back into step after a wrong one.
    pub(super) fn size(&self) -> usize {
        self.longest + 2
    }

    /// Appends the place of a random encoding.
    fn place(&self, random: &mut Random, words: &mut Vec<u32>) {
        let (mut first, second) = match &self.fields {
            Some(fields) => {
                let (low, count) = fields.opcode;
                let opcode = (random.dword() & ones(count)) << low;
                let [first, second] = fields.others;
                (
                    opcode | often_zero(first, random),
                    often_zero(second, random),
                )
            }
            // The opcode lies in the middle of the first dword: any.
            None => (random.dword(), often_small(random)),
        };
        let high = 32 - self.fixed.len() as u32;
        let bits = u32::from_str_radix(self.fixed, 2).expect("binary digits");
        first = first & ones(high) | bits << high;
        words.extend([first, second]);
        words.extend((2..self.longest).map(|_| often_small(random)));
        words.extend([NOP; 2]);
    }

    /// The places of random encodings, the same in every run.
    pub(super) fn places(&self, count: usize) -> Vec<u32> {
        let seed = self
            .name
            .bytes()
            .fold(1, |seed, byte| seed << 7 ^ u64::from(byte));
        let mut random = Random::new(seed);
        let mut words = Vec::with_capacity(count * self.size());
        for _ in 0..count {
            self.place(&mut random, &mut words);
        }
        words
    }
}

fn ones(count: u32) -> u32 {
    u32::MAX >> (32 - count)
}

/// Random bits, but each of the fields is 0 half of the time.
fn often_zero(fields: &[Field], random: &mut Random) -> u32 {
    fields.iter().fold(0, |word, &(low, count)| {
        let value = random.dword() & ones(count);
        if random.dword() & 1 == 0 {
            word
        } else {
            word | value << low
        }
    })
}

/// Random bits: operand fields are often small, and fields that nothing uses are often 0.
fn often_small(random: &mut Random) -> u32 {
    match random.dword() % 4 {
        0 => random.dword(),
        1 => random.dword() & random.dword(),
        2 => random.dword() & random.dword() & random.dword(),
        _ => random.dword() & 0x3f3f_3f3f,
    }
}

const fn any(name: &'static str, fixed: &'static str) -> Format {
    Format {
        name,
        fixed,
        longest: 3,
        fields: None,
    }
}

/// Addresses of images may be in registers apart, whose numbers are in up to three more dwords.
const fn images(name: &'static str, fixed: &'static str) -> Format {
    Format {
        longest: 5,
        ..any(name, fixed)
    }
}

const fn listed(
    name: &'static str,
    fixed: &'static str,
    opcode: Field,
    first: &'static [Field],
    second: &'static [Field],
) -> Format {
    Format {
        name,
        fixed,
        longest: 2,
        fields: Some(Fields {
            opcode,
            others: [first, second],
        }),
    }
}

#[rustfmt::skip]
pub(super) const GFX9: &[Format] = &[
    listed("sop2", "10", (23, 7), &[(16, 7), (8, 8), (0, 8)], &[(0, 32)]),
    listed("sopk", "1011", (23, 5), &[(16, 7), (0, 16)], &[(0, 32)]),
    listed("sop1", "101111101", (8, 8), &[(16, 7), (0, 8)], &[(0, 32)]),
    listed("sopc", "101111110", (16, 7), &[(8, 8), (0, 8)], &[(0, 32)]),
    listed("sopp", "101111111", (16, 7), &[(0, 16)], &[(0, 32)]),
    listed("smem", "110000", (18, 8), &[(0, 6), (6, 7), (14, 1), (16, 1), (17, 1)], &[(0, 21), (25, 7)]),
    listed("vop2", "0", (25, 6), &[(0, 9), (9, 8), (17, 8)], &[(0, 8), (8, 11), (19, 5), (24, 8)]),
    listed("vop1", "0111111", (9, 8), &[(0, 9), (17, 8)], &[(0, 8), (8, 11), (19, 5), (24, 8)]),
    listed("vopc", "0111110", (17, 8), &[(0, 9), (9, 8)], &[(0, 8), (8, 8), (16, 8), (24, 8)]),
    listed("vop3", "110100", (16, 10), &[(0, 8), (8, 3), (11, 4), (15, 1)], &[(0, 9), (9, 9), (18, 9), (27, 2), (29, 3)]),
    listed("vop3p", "110100111", (16, 7), &[(0, 8), (8, 3), (11, 4), (15, 1)], &[(0, 9), (9, 9), (18, 9), (27, 2), (29, 3)]),
    listed("ds", "110110", (17, 8), &[(0, 16), (16, 1), (25, 1)], &[(0, 8), (8, 8), (16, 8), (24, 8)]),
    listed("flat", "110111", (18, 7), &[(0, 12), (13, 1), (14, 2), (16, 1), (17, 1), (25, 1)], &[(0, 8), (8, 8), (16, 7), (23, 1), (24, 8)]),
    listed("mubuf", "111000", (18, 7), &[(0, 12), (12, 2), (14, 1), (15, 1), (16, 1), (17, 1)], &[(0, 8), (8, 8), (16, 5), (23, 1), (24, 8)]),
    listed("mtbuf", "111010", (15, 4), &[(0, 12), (12, 2), (14, 1), (19, 7)], &[(0, 8), (8, 8), (16, 5), (21, 3), (24, 8)]),
];

/// Of GFX10 and later.
pub(super) const COMMON: &[Format] = &[
    any("sop2", "10"),
    any("sopk", "1011"),
    any("sop1", "101111101"),
    any("sopc", "101111110"),
    any("sopp", "101111111"),
    any("vop2", "0"),
    any("vop1", "0111111"),
    any("vopc", "0111110"),
    any("vop3", "110101"),
    any("vop3p", "110011"),
    any("smem", "111101"),
    any("ds", "110110"),
    any("exp", "111110"),
];

/// Of GFX10 alone.
pub(super) const INTERPOLATION: &[Format] = &[any("vintrp", "110010")];

/// Of GFX11 and later.
pub(super) const DUAL: &[Format] = &[any("vopd", "110010")];

/// Of GFX10 and GFX11.
pub(super) const MEMORY: &[Format] = &[
    any("flat", "110111"),
    any("mubuf", "111000"),
    any("mtbuf", "111010"),
    images("mimg", "111100"),
];

pub(super) const MEMORY_OF_GFX12: &[Format] = &[
    any("vbuffer", "110001"),
    any("vimage", "110100"),
    any("vsample", "111001"),
    any("vflat", "111011"),
];
