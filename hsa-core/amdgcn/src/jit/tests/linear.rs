//! Runs with loads and stores against the interpreter: the same registers, masks, memory and faults.

use std::{ops::Range, sync::Arc};

use crate::{
    interp::{
        run::{Exit, run},
        testing::{self, Listing, sopp},
    },
    ir::program::Program,
    memory::{GuestMap, MapCache, Mapping, Rights},
};

use super::*;

/// Dwords of the memory that the listings may access.
const DWORDS: usize = 2048;
/// Scalar registers: the base address, and a summand of the element's number.
const BASE: u8 = 18;
const BLOCK: u8 = 20;
/// Vector registers of addresses. Those below may be overwritten by arithmetic.
const ELEMENT: u16 = 24;
const LOW: u16 = 26;
const HIGH: u16 = 27;
const NUMBER: u16 = 28;

/// How compilers write the address of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    /// The base in scalar registers, the offset in a vector register.
    Scalar,
    /// A pair of vector registers: the element's number with its sign, shifted to the left.
    Extended,
    /// The same, the number in the high half and shifted to the right.
    Lowered,
}

const ADDRESSES: [Address; 3] = [Address::Scalar, Address::Extended, Address::Lowered];

/// A part of a listing.
#[derive(Clone, Debug)]
enum Part {
    /// A load or store of a register.
    Access {
        store: bool,
        address: Address,
        register: u16,
        offset: i32,
        /// Which way the element's number is computed.
        how: u8,
    },
    /// A load of a scalar register, with BLOCK as the offset or without.
    Scalar {
        register: u8,
        offset: i32,
        indexed: bool,
    },
    Arithmetic(Draw),
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let access = (
        any::<bool>(),
        prop::sample::select(ADDRESSES.to_vec()),
        0..20u16,
        prop::sample::select(vec![0, 4, 256, -64, 2]),
        any::<u8>(),
    )
        .prop_map(|(store, address, register, offset, how)| Part::Access {
            store,
            address,
            register,
            offset,
            how,
        });
    let scalar = (
        // A mask or value, the high half of a mask, the base's high half, the summand of the element's number, and one nobody reads.
        prop::sample::select(vec![16u8, 17, BASE + 1, BLOCK, 2]),
        prop::sample::select(vec![0, 4, 64, 1030, -64]),
        any::<bool>(),
    )
        .prop_map(|(register, offset, indexed)| Part::Scalar {
            register,
            offset,
            indexed,
        });
    let arithmetic = draws(2).prop_map(|draws| Part::Arithmetic(draws[0].clone()));
    vec(prop_oneof![2 => access, 1 => scalar, 3 => arithmetic], 1..8)
}

fn vop3(op: M, dst: u16, sources: &[OperandSlot]) -> Inst {
    inst(op, Format::Vop3, v(dst, B32), sources)
}

fn int(value: i32) -> OperandSlot {
    OperandSlot {
        operand: Operand::Int(value),
        ty: B32,
    }
}

/// The element's number: the block's part and the lane's.
fn element(how: u8, to: &mut Vec<Inst>) {
    let (block, number) = (s(BLOCK, B32), v(NUMBER, B32));
    let it = v(ELEMENT, B32);
    match how % 8 {
        0 | 1 => to.push(vop3(M::v_lshl_or_b32, ELEMENT, &[block, int(6), number])),
        2 => to.push(vop3(M::v_lshl_add_u32, ELEMENT, &[number, int(1), block])),
        3 => {
            to.push(vop3(M::v_and_b32, ELEMENT, &[int(63), number]));
            to.push(vop3(M::v_add_u32, ELEMENT, &[it, block]));
        }
        4 => {
            to.push(vop3(M::v_mul_lo_u32, ELEMENT, &[block, number]));
            to.push(vop3(M::v_add3_u32, ELEMENT, &[it, number, block]));
        }
        5 => {
            to.push(vop3(M::v_sub_u32, ELEMENT, &[number, block]));
            to.push(vop3(M::v_subrev_u32, ELEMENT, &[int(-5), it]));
        }
        6 => {
            to.push(vop3(M::v_lshlrev_b32, ELEMENT, &[int(6), block]));
            to.push(vop3(M::v_or_b32, ELEMENT, &[it, number]));
        }
        _ => to.push(vop3(M::v_add_lshl_u32, ELEMENT, &[number, block, int(0)])),
    }
}

fn access(store: bool, form: Address, register: u16, offset: i32, how: u8, to: &mut Vec<Inst>) {
    element(how, to);
    let base = s(BASE, Type::B(64));
    let address = if form != Address::Scalar {
        let pair = v(ELEMENT, Type::B(64));
        let carry = s(106, MASK);
        if form == Address::Extended {
            let number = v(ELEMENT, B32);
            to.push(vop3(M::v_ashrrev_i32, ELEMENT + 1, &[int(31), number]));
            to.push(inst(M::v_lshlrev_b64, Format::Vop3, pair, &[int(2), pair]));
        } else {
            to.push(vop3(M::v_mov_b32, ELEMENT + 1, &[v(ELEMENT, B32)]));
            to.push(vop3(M::v_mov_b32, ELEMENT, &[int(0)]));
            to.push(inst(M::v_ashrrev_i64, Format::Vop3, pair, &[int(30), pair]));
        }
        to.push(vop3(M::v_mov_b32, HIGH, &[s(BASE + 1, B32)]));
        let mut low = inst(
            M::v_add_co_u32,
            Format::Vop3b,
            v(LOW, B32),
            &[s(BASE, B32), v(ELEMENT, B32)],
        );
        low.dst2 = carry;
        to.push(low);
        let mut high = inst(
            M::v_addc_co_u32,
            Format::Vop3b,
            v(HIGH, B32),
            &[v(HIGH, B32), v(ELEMENT + 1, B32), carry],
        );
        high.dst2 = carry;
        to.push(high);
        [v(LOW, Type::B(64)), OperandSlot::NONE]
    } else {
        to.push(vop3(M::v_lshlrev_b32, LOW, &[int(2), v(ELEMENT, B32)]));
        [v(LOW, B32), base]
    };
    let data = v(register, B32);
    let [vector, scalar] = address;
    let (op, dst, data) = if store {
        (M::global_store_dword, OperandSlot::NONE, data)
    } else {
        (M::global_load_dword, data, OperandSlot::NONE)
    };
    let mut made = inst(op, Format::Global, dst, &[vector, data, scalar]);
    made.mem.offset = offset;
    to.push(made);
}

fn scalar_load(register: u8, offset: i32, indexed: bool) -> Inst {
    let index = if indexed {
        s(BLOCK, B32)
    } else {
        OperandSlot::NONE
    };
    let none = OperandSlot::NONE;
    let sources = [s(BASE, Type::B(64)), none, none, index];
    let mut made = inst(M::s_load_dword, Format::Smem, s(register, B32), &sources);
    made.mem.offset = offset;
    made
}

fn listing(parts: &[Part]) -> Vec<Inst> {
    let mut to = Vec::new();
    for part in parts {
        match *part {
            Part::Access {
                store,
                address,
                register,
                offset,
                how,
            } => access(store, address, register, offset, how, &mut to),
            Part::Scalar {
                register,
                offset,
                indexed,
            } => to.push(scalar_load(register, offset, indexed)),
            Part::Arithmetic(ref draw) => to.push(build(draw)),
        }
    }
    to
}

/// What the lanes hold as their number.
#[derive(Clone, Copy, Debug)]
enum Numbers {
    Ascending(u32),
    Descending,
    Uniform,
    OneOut(usize),
}

impl Numbers {
    fn lane(self, lane: usize) -> u32 {
        let n = lane as u32;
        match self {
            Self::Ascending(from) => n.wrapping_add(from),
            Self::Descending => 63 - n,
            Self::Uniform => 9,
            Self::OneOut(at) => n + u32::from(lane == at),
        }
    }
}

fn numbers() -> impl Strategy<Value = Numbers> {
    prop_oneof![
        6 => Just(Numbers::Ascending(0)),
        2 => prop::sample::select(vec![1u32, 64, 0x7fff_ffe0, 0xffff_ffe0, 0x4000_0000 - 16])
            .prop_map(Numbers::Ascending),
        1 => Just(Numbers::Descending),
        1 => Just(Numbers::Uniform),
        1 => (0usize..64).prop_map(Numbers::OneOut),
    ]
}

/// Where the guest sees the memory.
#[derive(Clone, Copy, Debug)]
struct Placement {
    guest: u64,
    /// Added to it for the base address in the scalar registers.
    shift: i64,
    rights: Rights,
}

fn placements() -> impl Strategy<Value = Placement> {
    let guest = prop::sample::select(vec![
        0x7f12_3456_7000u64,
        // The middle lies on a multiple of 4 GiB.
        0x3_0000_0000 - DWORDS as u64 * 2,
        0x2_8000_0000 - 64,
    ]);
    let shift = prop::sample::select(vec![
        512i64,
        0,
        DWORDS as i64 * 2 - 128,
        DWORDS as i64 * 4 - 128,
        -0x1000,
        513,
    ]);
    let rights = prop_oneof![
        9 => Just(Rights::READ | Rights::WRITE),
        1 => Just(Rights::READ),
    ];
    (guest, shift, rights).prop_map(|(guest, shift, rights)| Placement {
        guest,
        shift,
        rights,
    })
}

#[derive(Clone, Debug)]
struct Setting {
    wave64: bool,
    exec: u64,
    mode: u32,
    block: u32,
    numbers: Numbers,
    placement: Placement,
    /// The program ends right behind the listing: its registers are nobody's business then.
    ends: bool,
}

fn settings() -> impl Strategy<Value = Setting> {
    (
        any::<bool>(),
        prop_oneof![5 => Just(u64::MAX), 1 => masks()],
        prop::sample::select(vec![MODE, MODE, MODE & !0x30]),
        prop::sample::select(vec![0u32, 1, 2, 7, 4, 0x80_0000]),
        numbers(),
        placements(),
        any::<bool>(),
    )
        .prop_map(
            |(wave64, exec, mode, block, numbers, placement, ends)| Setting {
                wave64,
                exec,
                mode,
                block,
                numbers,
                placement,
                ends,
            },
        )
}

/// Registers, scalars, memory and end of each of some waves of one program, which share memory and map cache.
type Outcome = Vec<(Vec<Vec<u32>>, Vec<u32>, Vec<u32>, Exit)>;

fn outcome(
    listing: &[Inst],
    setting: &Setting,
    dwords: &[u32],
    (level, native): BackEnd,
) -> Outcome {
    const WAVES: Range<u32> = 0..3;
    let config = config(GFX90A, setting.wave64);
    let program = if setting.ends {
        let mut listing = listing.to_vec();
        listing.push(sopp(M::s_endpgm, 0));
        Program::with_level(Arc::new(Listing(listing)), testing::BASE, config, level)
    } else {
        program(listing.to_vec(), config, level)
    };
    if native {
        program.make_native();
    }
    let mut memory: Vec<u32> = dwords.iter().copied().cycle().take(DWORDS).collect();
    let map = GuestMap::default();
    // SAFETY: the vector outlives the map and is touched by the waves alone meanwhile.
    unsafe {
        map.insert(Mapping {
            base: setting.placement.guest,
            len: DWORDS as u64 * 4,
            host: memory.as_mut_ptr().cast(),
            rights: setting.placement.rights,
            allocation: 1,
        })
    }
    .expect("free");
    let mut cache = MapCache::default();
    let slice = cache.begin(&map);
    let mut all = Vec::new();
    for number in WAVES {
        let mut wave = Box::new(Wave::new());
        wave.reset(&program, setting.mode);
        wave.context = (&raw mut *slice.cache).cast();
        let mut next = dwords.iter().copied().cycle().skip(number as usize);
        for n in 0..usize::from(NUMBER) {
            for to in wave.vgpr_lanes(n) {
                *to = next.next().expect("cycles");
            }
        }
        for (lane, to) in wave.vgpr_lanes(NUMBER.into()).iter_mut().enumerate() {
            *to = setting.numbers.lane(lane);
        }
        for n in 0..usize::from(SCALARS) + 1 {
            wave.sgpr[n] = next.next().expect("cycles");
        }
        let base = setting
            .placement
            .guest
            .wrapping_add_signed(setting.placement.shift);
        wave.set_pair(BASE.into(), base);
        wave.sgpr[usize::from(BLOCK)] = setting.block + number;
        wave.set_exec(setting.exec);
        // SAFETY: reset for a program that is alive, inside a slice.
        let exit = unsafe { run(&mut wave, 1000) };
        // After a fault nobody looks at the registers: how far the operation got is not defined, and carries that nobody reads are
        // left out.
        let (registers, scalars) = if exit == Exit::EndProgram && !setting.ends {
            state(&mut wave)
        } else {
            Default::default()
        };
        all.push((registers, scalars, memory.clone(), exit));
    }
    all
}

fn memory_agrees(parts: &[Part], setting: &Setting, dwords: &[u32]) {
    let listing = listing(parts);
    let back_ends = back_ends();
    let expected = outcome(&listing, setting, dwords, back_ends[0]);
    for back_end in &back_ends[1..] {
        let got = outcome(&listing, setting, dwords, *back_end);
        for (number, (expected, got)) in expected.iter().zip(&got).enumerate() {
            let place = format!("wave {number} on {back_end:?}");
            assert_eq!(expected.3, got.3, "end of {place}");
            let differs = |a: &[u32], b: &[u32]| a.iter().zip(b).position(|(a, b)| a != b);
            assert_eq!(differs(&expected.1, &got.1), None, "scalars of {place}");
            for (n, (expected, got)) in expected.0.iter().zip(&got.0).enumerate() {
                let lane = differs(expected, got);
                assert_eq!(lane, None, "lane of v{n} of {place}");
            }
            let dword = differs(&expected.2, &got.2);
            assert_eq!(dword, None, "dword of memory after {place}");
        }
    }
}

proptest! {
    #![proptest_config(Config::with_cases(600))]

    #[test]
    fn runs_with_memory_have_the_interpreter_s_bits(
        parts in parts(),
        setting in settings(),
        dwords in vec(dword(), 301),
    ) {
        memory_agrees(&parts, &setting, &dwords);
    }

    #[test]
    fn runs_with_memory_and_without_nans_have_the_interpreter_s_bits(
        parts in parts(),
        setting in settings(),
        dwords in vec(calm_dword(), 301),
    ) {
        memory_agrees(&parts, &setting, &dwords);
    }
}

fn simple(store: bool, address: Address) -> Part {
    Part::Access {
        store,
        address,
        register: 3,
        offset: 0,
        how: 0,
    }
}

/// Runs that are native in the listing of a vector addition: all of it is one, with its parts as others.
#[test]
fn the_addresses_of_a_vector_addition_are_linear() {
    if Level::detect() < Level::Avx2 {
        return;
    }
    for address in ADDRESSES {
        let add = inst(
            M::v_add_f32,
            Format::Vop3,
            v(3, F32),
            &[v(3, F32), v(4, F32)],
        );
        let mut whole = listing(&[simple(false, address)]);
        whole.push(add.clone());
        whole.extend(listing(&[simple(true, address)]));
        let native = program(whole.clone(), config(GFX90A, true), Level::Avx2);
        native.make_native();
        // Before the load, between load and store, and all of it.
        assert_eq!(native.native_runs(), 3, "{address:?}");
        assert_eq!(native.native_memory_runs(), 1, "{address:?}");
        // A loaded address is not linear: the store is not part of the run.
        let last = whole.len() - 1;
        whole[last].src[0] = v(
            3,
            if address != Address::Scalar {
                Type::B(64)
            } else {
                B32
            },
        );
        let native = program(whole, config(GFX90A, true), Level::Avx2);
        native.make_native();
        assert_eq!(native.native_memory_runs(), 1, "{address:?}");
    }
}

/// A scalar load between vector loads does not part a run; what is computed from a scalar that it has loaded is part of it.
#[test]
fn a_scalar_load_is_part_of_a_run() {
    if Level::detect() < Level::Avx2 {
        return;
    }
    let load = simple(false, Address::Scalar);
    let mut whole = listing(std::slice::from_ref(&load));
    whole.push(scalar_load(0, 4, false));
    whole.push(inst(
        M::v_mul_f32,
        Format::Vop3,
        v(3, F32),
        &[v(3, F32), s(0, F32)],
    ));
    whole.extend(listing(&[simple(true, Address::Scalar)]));
    let native = |listing: Vec<Inst>| {
        let native = program(listing, config(GFX90A, true), Level::Avx2);
        native.make_native();
        native.native_memory_runs()
    };
    assert_eq!(native(whole.clone()), 1);
    // One whose base the run has loaded begins another.
    whole.insert(4, scalar_load(BASE, 0, false));
    assert_eq!(native(whole), 2);
}
