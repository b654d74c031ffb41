//! What a wave finds in its registers, bit by bit of the kernel descriptor.

mod support;

use support::*;

const TARGETS: [&str; 8] = [
    "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200",
];

/// Bytes that a group stores.
const GROUP: usize = 128;

/// Whether scratch is found without a register (AMDGPUUsage, "Target Properties").
fn architected_flat_scratch(target: &str) -> bool {
    ["gfx94", "gfx11", "gfx12"]
        .iter()
        .any(|family| target.starts_with(family))
}

/// Code that stores SGPRs at 4 times their number from the group's place on, which v1 holds. s[40:41] is the buffer.
fn store_sgprs(count: usize) -> String {
    (0..count)
        .map(|number| {
            format!(
                "v_mov_b32 v2, s{number}\nglobal_store_dword v1, v2, s[40:41] offset:{}\n",
                4 * number
            )
        })
        .collect()
}

/// The instruction that waits for scalar loads.
fn wait(target: &str) -> &'static str {
    if target.starts_with("gfx12") {
        "s_wait_kmcnt 0x0"
    } else {
        "s_waitcnt lgkmcnt(0)"
    }
}

/// Each user SGPR has its place by those before it, and the system SGPRs follow.
#[test]
fn scalar_registers_follow_the_descriptor() {
    const DISPATCH: u64 = 0x1122_3344_5566;
    const QUEUE: u64 = 0x2233_4455_6677;
    const ID: u64 = 0x0123_4567_89ab_cdef;
    for target in TARGETS {
        let with_registers = !architected_flat_scratch(target);
        // All of them, then all but one: the others move up.
        let properties: &[(&str, usize)] = if with_registers {
            &[
                ("private_segment_buffer", 4),
                ("dispatch_ptr", 2),
                ("queue_ptr", 2),
                ("kernarg_segment_ptr", 2),
                ("dispatch_id", 2),
                ("flat_scratch_init", 2),
                ("private_segment_size", 1),
            ]
        } else {
            &[
                ("dispatch_ptr", 2),
                ("queue_ptr", 2),
                ("kernarg_segment_ptr", 2),
                ("dispatch_id", 2),
                ("private_segment_size", 1),
            ]
        };
        let without = properties.iter().map(|&(name, _)| Some(name));
        for left_out in std::iter::once(None).chain(without) {
            if left_out == Some("kernarg_segment_ptr") {
                continue;
            }
            let mut places = Vec::new();
            let mut at = 0;
            for &(name, size) in properties
                .iter()
                .filter(|(name, _)| left_out != Some(*name))
            {
                places.push((name, at));
                at += size;
            }
            let user = at;
            let place = |wanted: &str| {
                let found = places.iter().find(|(name, _)| *name == wanted);
                found.map(|&(_, at)| at)
            };
            let kernarg = place("kernarg_segment_ptr").expect("there is one");
            let mut directives = String::from(
                ".amdhsa_private_segment_fixed_size 96\n.amdhsa_system_sgpr_workgroup_id_x 1\n\
                 .amdhsa_system_sgpr_workgroup_id_y 1\n.amdhsa_system_sgpr_workgroup_id_z 1\n\
                 .amdhsa_system_sgpr_workgroup_info 1\n",
            );
            for (name, _) in &places {
                if *name != "kernarg_segment_ptr" {
                    directives += &format!(".amdhsa_user_sgpr_{name} 1\n");
                }
            }
            directives += if with_registers {
                ".amdhsa_system_sgpr_private_segment_wavefront_offset 1\n"
            } else {
                ".amdhsa_enable_private_segment 1\n"
            };
            let group = if target.starts_with("gfx12") {
                "ttmp9".to_owned()
            } else {
                format!("s{user}")
            };
            let code = format!(
                "s_load_dwordx2 s[40:41], s[{kernarg}:{}], 0x0\n{}\ns_mul_i32 s42, {group}, {GROUP}\nv_mov_b32 v1, s42\n{}",
                kernarg + 1,
                wait(target),
                store_sgprs(user + 5)
            );
            let Some(elf) = assemble(target, &kernel(target, &directives, &code)) else {
                break;
            };
            let gpu = gpu(target);
            let module = Module::load(&gpu, &elf);
            let buffer = Buffer::new(&gpu, 3 * GROUP);
            let arguments = Buffer::from(&gpu, &[buffer.address()]);
            module
                .run_changed(
                    "k",
                    [3, 1, 1],
                    [1, 1, 1],
                    arguments.address(),
                    0,
                    |dispatch| {
                        dispatch.dispatch_ptr = DISPATCH;
                        dispatch.queue_ptr = QUEUE;
                        dispatch.dispatch_id = ID;
                    },
                )
                .unwrap_or_else(|fault| panic!("{target}: {fault}"));
            let stored: Vec<[u32; GROUP / 4]> = buffer.read();
            for (number, registers) in stored.iter().enumerate() {
                let what = format!("{target} without {left_out:?}, group {number}");
                let pair =
                    |at: usize| u64::from(registers[at]) | u64::from(registers[at + 1]) << 32;
                for (name, expected) in [
                    ("dispatch_ptr", DISPATCH),
                    ("queue_ptr", QUEUE),
                    ("kernarg_segment_ptr", arguments.address()),
                    ("dispatch_id", ID),
                ] {
                    if let Some(at) = place(name) {
                        assert_eq!(pair(at), expected, "{name}: {what}");
                    }
                }
                if let Some(at) = place("private_segment_size") {
                    assert_eq!(registers[at], 96, "{what}");
                }
                if let Some(at) = place("private_segment_buffer") {
                    // Swizzled, by the number of the lane, as long as can be.
                    assert!(
                        registers[at + 1] >> 31 == 1 && registers[at + 3] >> 23 & 1 == 1,
                        "{what}"
                    );
                    assert_eq!(registers[at + 2], u32::MAX, "{what}");
                }
                if !target.starts_with("gfx12") {
                    // The first wave of one.
                    let system = [number as u32, 0, 0, 1 << 31 | 1];
                    assert_eq!(registers[user..user + 4], system, "{what}");
                    if with_registers {
                        assert_eq!(registers[user + 4], 0, "{what}");
                    }
                }
            }
        }
    }
}

/// Every field of MODE comes from its bits of the descriptor.
#[test]
fn mode_follows_the_descriptor() {
    // Directive, the field's first bit in MODE, its largest value.
    const FIELDS: [(&str, u32, u32); 4] = [
        ("float_round_mode_32", 0, 3),
        ("float_round_mode_16_64", 2, 3),
        ("float_denorm_mode_32", 4, 3),
        ("float_denorm_mode_16_64", 6, 3),
    ];
    const BITS_BEFORE_GFX12: [(&str, u32, u32); 9] = [
        ("dx10_clamp", 8, 1),
        ("ieee_mode", 9, 1),
        ("exception_fp_ieee_invalid_op", 12, 1),
        ("exception_fp_denorm_src", 13, 1),
        ("exception_fp_ieee_div_zero", 14, 1),
        ("exception_fp_ieee_overflow", 15, 1),
        ("exception_fp_ieee_underflow", 16, 1),
        ("exception_fp_ieee_inexact", 17, 1),
        ("exception_int_div_zero", 18, 1),
    ];
    for target in TARGETS {
        let mut fields = FIELDS.to_vec();
        let gfx12 = target.starts_with("gfx12");
        if !gfx12 {
            fields.extend(BITS_BEFORE_GFX12);
        }
        fields.push(("fp16_overflow", 23, 1));
        let places: u32 = fields.iter().map(|&(_, at, most)| most << at).sum();
        // By the bits of their numbers all fields are told apart; then those of two bits have each bit alone.
        let patterns = (0..4).map(|bit| {
            let of =
                |(number, &(_, _, most)): (usize, &(_, _, u32))| (number >> bit & 1) as u32 * most;
            fields.iter().enumerate().map(of).collect::<Vec<_>>()
        });
        let single = [1, 2].map(|value| fields.iter().map(|&(_, _, most)| value & most).collect());
        for values in patterns.chain(single) {
            let set = || fields.iter().zip(&values);
            let directives: String = set()
                .map(|((name, ..), value)| format!(".amdhsa_{name} {value}\n"))
                .collect();
            let code = "s_getreg_b32 s8, hwreg(HW_REG_MODE)\nv_mov_b32 v1, 0\nv_mov_b32 v2, s8\n\
                        global_store_dword v1, v2, s[2:3]";
            let Some(stored) = run_bytes(target, &directives, code, 1, &[0; 4]) else {
                break;
            };
            let expected: u32 = set().map(|(&(_, at, _), value)| value << at).sum();
            assert_eq!(
                dwords_of(&stored)[0] & places,
                expected,
                "{target}:\n{directives}"
            );
        }
    }
}
