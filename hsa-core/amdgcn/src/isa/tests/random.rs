//! The decoder and the disassembler take any bytes.

use proptest::prelude::*;

use crate::isa::decode::{DecodeError, Decoder};
use crate::isa::table::Level;
use crate::isa::text::{disassemble, disassemble_section};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_bytes_decode_or_give_an_error(level in 0..Level::ALL.len(), wave32: bool, bytes in prop::collection::vec(any::<u8>(), 0..24)) {
        let decoder = Decoder::with_level(Level::ALL[level], if wave32 { 32 } else { 64 });
        match decoder.decode(&bytes) {
            Ok(inst) => {
                prop_assert!(usize::from(inst.len) <= bytes.len());
                prop_assert_eq!(inst.len % 4, 0);
                prop_assert!(disassemble(&decoder, &inst).starts_with(inst.op.name()) || inst.vopd.is_some());
                // What follows does not matter, and what is cut off is missed.
                let len = usize::from(inst.len);
                prop_assert_eq!(decoder.decode(&bytes[..len]), Ok(inst));
                let cut = decoder.decode(&bytes[..len - 1]);
                let truncated = matches!(cut, Err(DecodeError::Truncated { .. }));
                prop_assert!(truncated, "{:?}", cut);
            }
            Err(DecodeError::Truncated { needed, available }) => {
                prop_assert!(needed > available);
                prop_assert_eq!(available, bytes.len());
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn sections_are_covered_without_gaps(level in 0..Level::ALL.len(), bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let decoder = Decoder::with_level(Level::ALL[level], 64);
        let mut address = 0x1000;
        for line in disassemble_section(&decoder, &bytes, address) {
            prop_assert_eq!(line.address, address);
            prop_assert!(!line.bytes.is_empty());
            address += line.bytes.len() as u64;
        }
        prop_assert_eq!(address, 0x1000 + bytes.len() as u64);
    }
}
