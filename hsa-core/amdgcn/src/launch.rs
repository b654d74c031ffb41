//! Launch state: what the command processor of a GPU puts into the registers of a wave before its first instruction.
//!
//! Sources: LLVM AMDGPUUsage, "Kernel Descriptor", "Initial Kernel Execution State" and "Kernel Prolog". `LaunchPlan` is made once per
//! dispatch; it validates everything that comes from the packet and the descriptor.

mod preload;
mod workitem_ids;

use std::sync::Arc;

use crate::{
    engine::{DispatchInfo, Engine},
    fault::{Fault, FaultKind},
    interp::wave::{Beginning, ScalarImage, Wave, mode, slot},
    ir::{
        common::LaunchRegisters,
        program::{LowerConfig, Place, Program},
    },
    target::Features,
};

use preload::Preload;
use workitem_ids::IdLayout;
pub(crate) use workitem_ids::WorkitemIds;

/// High dword of the LDS aperture in the flat address space; what `src_shared_base` reads. `amd_queue_t` says the same at offset 64.
pub const SHARED_APERTURE_HI: u32 = 0x1_0000;

/// High dword of the scratch aperture; what `src_private_base` reads. `amd_queue_t` says the same at offset 68.
pub const PRIVATE_APERTURE_HI: u32 = 0x2_0000;

/// Base that the scratch resource of a wave names. It is past every user address of an x86-64 process and within the 48 bits of
/// a buffer resource; buffer instructions with such a base access the wave's own scratch. FLAT_SCRATCH holds it too.
pub const SCRATCH_RESOURCE_BASE: u64 = 0x8000_0000_0000;

/// Most work-items of a group.
pub const MAX_GROUP: u32 = 1024;

/// Most bytes of scratch of a work-item: what fits the wave's size field in the hardware, 262128 bytes.
pub const MAX_SCRATCH: u32 = 262_128;

/// Bits of `kernel_code_properties`.
mod property {
    pub const PRIVATE_SEGMENT_BUFFER: u16 = 1 << 0;
    pub const DISPATCH_PTR: u16 = 1 << 1;
    pub const QUEUE_PTR: u16 = 1 << 2;
    pub const KERNARG_SEGMENT_PTR: u16 = 1 << 3;
    pub const DISPATCH_ID: u16 = 1 << 4;
    pub const FLAT_SCRATCH_INIT: u16 = 1 << 5;
    pub const PRIVATE_SEGMENT_SIZE: u16 = 1 << 6;
    pub const WAVE32: u16 = 1 << 10;
}

/// User SGPRs at most.
const MAX_USER_SGPRS: usize = 16;

/// What every wave of a dispatch begins with, and the shape of the grid.
#[derive(Debug)]
pub(crate) struct LaunchPlan {
    /// Lowered code; none if the dispatch cannot run.
    pub(crate) program: Option<Arc<Program>>,
    /// Groups in each dimension.
    pub(crate) groups: [u32; 3],
    /// Groups in all.
    pub(crate) groups_total: u64,
    /// Groups that may have begun and not ended at one time: what the hardware would hold.
    pub(crate) resident_limit: u64,
    /// Bytes of LDS of a group.
    pub(crate) lds_size: u32,
    /// Bytes of scratch of a lane, a multiple of 4.
    pub(crate) scratch_size: u32,
    wave_size: u32,
    mode: u32,
    /// What the waves begin with, user SGPRs included.
    pub(crate) beginning: Beginning,
    user_sgpr_count: usize,
    /// Where the waves stop doing the same, if they begin so.
    pub(crate) common_end: Option<Place>,
    /// Which values follow the user SGPRs: the group's id along each dimension in bits 2:0, the wave's place in the group in bit 3, the offset of
    /// its scratch in bit 4.
    system_sgprs: u32,
    rsrc2: u32,
    features: Features,
}

/// A group, as its waves see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupShape {
    /// Its id.
    pub(crate) id: [u32; 3],
    /// Work-items.
    pub(crate) items: u32,
    /// Waves.
    pub(crate) waves: u32,
}

/// Part of a group along each dimension: less than the work-group size at the end of a grid that is no multiple of it.
pub(crate) type Extent = [u32; 3];

impl LaunchPlan {
    /// A plan for a dispatch that does not run.
    pub(crate) fn nothing() -> Self {
        Self {
            program: None,
            groups: [0; 3],
            groups_total: 0,
            resident_limit: 0,
            lds_size: 0,
            scratch_size: 0,
            wave_size: 64,
            mode: 0,
            beginning: Beginning {
                scalars: ScalarImage::default(),
                entry: Place::NONE,
            },
            user_sgpr_count: 0,
            common_end: None,
            system_sgprs: 0,
            rsrc2: 0,
            features: crate::target::KNOWN[0].0.features(),
        }
    }

    /// Checks a dispatch and prepares it.
    pub(crate) fn new(engine: &Engine, info: &DispatchInfo) -> Result<Self, Box<Fault>> {
        let invalid = |note: String| Fault::of_dispatch(FaultKind::InvalidDispatch, note);
        let target = info.gpu.target;
        target
            .check_executable()
            .map_err(|error| Fault::of_dispatch(FaultKind::Unsupported, error.to_string()))?;
        let features = target.features();
        let descriptor = &info.descriptor;

        let size = info.workgroup.map(u32::from);
        if size.contains(&0) || info.grid.contains(&0) {
            return Err(invalid(format!(
                "grid {:?} with work-groups of {size:?}: a dimension is zero",
                info.grid
            )));
        }
        let items = size.iter().map(|&n| u64::from(n)).product::<u64>();
        if items > u64::from(MAX_GROUP) {
            return Err(invalid(format!(
                "a work-group of {items} work-items; the limit is {MAX_GROUP}"
            )));
        }
        if info.group_segment > features.lds {
            return Err(invalid(format!(
                "{} bytes of LDS for a work-group; the limit is {}",
                info.group_segment, features.lds
            )));
        }
        if info.private_segment > MAX_SCRATCH {
            return Err(invalid(format!(
                "{} bytes of scratch for a work-item; the limit is {MAX_SCRATCH}",
                info.private_segment
            )));
        }
        let mut groups = [0; 3];
        for dim in 0..3 {
            groups[dim] = info.grid[dim].div_ceil(size[dim]);
        }
        // Each factor has 32 bits; a third factor may pass 64 bits in all.
        let groups_total = groups
            .iter()
            .try_fold(1u64, |total, &n| total.checked_mul(u64::from(n)));
        let groups_total =
            groups_total.ok_or_else(|| invalid(format!("a grid of {groups:?} work-groups")))?;

        let wave64 = !features.wave32 || descriptor.kernel_code_properties & property::WAVE32 == 0;
        let (vgprs, agprs) = registers(descriptor, &features, wave64);
        if vgprs > 256 || agprs > 256 {
            return Err(invalid(format!(
                "the kernel descriptor asks for {vgprs} VGPRs and {agprs} AGPRs; the limit is 256"
            )));
        }
        let config = LowerConfig {
            target,
            wave64,
            vgprs,
            agprs,
            exceptions: descriptor.compute_pgm_rsrc2 >> 24 & 0x7f != 0,
        };
        let entry = info
            .kernel_object
            .wrapping_add_signed(descriptor.kernel_code_entry_byte_offset);
        let preload = Preload::of(descriptor, &features);
        let entry = entry.wrapping_add(preload.skipped());
        let program = engine.code.program(&info.gpu, entry, config);
        let program = program
            .map_err(|error| Fault::of_dispatch(FaultKind::Unsupported, error.to_string()))?;

        let wave_size = if wave64 { 64 } else { 32 };
        let waves = u64::from((items as u32).div_ceil(wave_size));
        program.count_waves(groups_total.saturating_mul(waves));
        let rsrc1 = descriptor.compute_pgm_rsrc1;
        let beginning = Beginning {
            scalars: scalars(rsrc1, &features),
            entry: program.entry(),
        };
        let mut plan = Self {
            program: Some(program),
            groups,
            groups_total,
            resident_limit: resident_limit(info, &features, vgprs + agprs, waves, wave64),
            lds_size: info.group_segment,
            scratch_size: info.private_segment.next_multiple_of(4),
            wave_size,
            mode: initial_mode(rsrc1, descriptor.compute_pgm_rsrc2, target.major),
            beginning,
            user_sgpr_count: 0,
            common_end: None,
            system_sgprs: system_sgprs(descriptor.compute_pgm_rsrc2, &features),
            rsrc2: descriptor.compute_pgm_rsrc2,
            features,
        };
        plan.set_user_sgprs(info, preload)?;
        Ok(plan)
    }

    /// Lanes of a wave.
    pub(crate) fn wave_size(&self) -> u32 {
        self.wave_size
    }

    /// User SGPRs, packed from s0 in the order of the property bits.
    fn set_user_sgprs(&mut self, info: &DispatchInfo, preload: Preload) -> Result<(), Box<Fault>> {
        let properties = info.descriptor.kernel_code_properties;
        let lanes = self.wave_size;
        let mut at = 0;
        // Those to memory that does not change while the dispatch runs.
        let mut pointers = [None; 2];
        let mut put = |bit: u16, dwords: &[u32]| {
            if properties & bit == 0 {
                return true;
            }
            match bit {
                property::DISPATCH_PTR => pointers[0] = Some(at as u32),
                property::KERNARG_SEGMENT_PTR => pointers[1] = Some(at as u32),
                _ => {}
            }
            let Some(place) =
                self.beginning.scalars.slots[..MAX_USER_SGPRS].get_mut(at..at + dwords.len())
            else {
                return false;
            };
            place.copy_from_slice(dwords);
            at += dwords.len();
            true
        };
        let split = |value: u64| [value as u32, (value >> 32) as u32];
        let properties_fit = put(property::PRIVATE_SEGMENT_BUFFER, &scratch_resource(lanes, info.gpu.target.major))
            && put(property::DISPATCH_PTR, &split(info.dispatch_ptr))
            && put(property::QUEUE_PTR, &split(info.queue_ptr))
            && put(property::KERNARG_SEGMENT_PTR, &split(info.kernarg))
            && put(property::DISPATCH_ID, &split(info.dispatch_id))
            // Only scalar scratch instructions ask for it; the others find a wave's scratch without.
            && put(property::FLAT_SCRATCH_INIT, &split(SCRATCH_RESOURCE_BASE))
            && put(property::PRIVATE_SEGMENT_SIZE, &[info.private_segment]);
        let arguments = preload.read(info)?;
        let fits = properties_fit
            && match self.beginning.scalars.slots[..MAX_USER_SGPRS]
                .get_mut(at..at + arguments.len())
            {
                Some(place) => {
                    place.copy_from_slice(&arguments);
                    true
                }
                None => false,
            };
        at += arguments.len();
        // The descriptor's own count is where the system SGPRs begin.
        self.user_sgpr_count = ((self.rsrc2 >> 1) & 0x1f) as usize;
        if !fits || self.user_sgpr_count > MAX_USER_SGPRS || at > self.user_sgpr_count {
            return Err(Fault::of_dispatch(
                FaultKind::InvalidDispatch,
                format!(
                    "the kernel descriptor has {} user SGPRs for {at} dwords of properties",
                    self.user_sgpr_count
                ),
            ));
        }
        let registers = LaunchRegisters {
            user: self.user_sgpr_count as u32,
            system: self.system_sgprs.count_ones(),
            allocated: self.beginning.scalars.sgprs as u32,
            pointers,
        };
        self.common_end = self
            .program
            .as_ref()
            .and_then(|program| program.common_end(&registers));
        Ok(())
    }

    /// Id of the group with a number: x runs fastest.
    pub(crate) fn group_id(&self, number: u64) -> [u32; 3] {
        if let Ok(number) = u32::try_from(number) {
            // Divisions of 64 bits are slow, and most grids have one dimension.
            let [x, y, _] = self.groups;
            if number < x {
                return [number, 0, 0];
            }
            return [number % x, number / x % y, number / x / y];
        }
        let [x, y, _] = self.groups.map(u64::from);
        [
            (number % x) as u32,
            (number / x % y) as u32,
            (number / x / y) as u32,
        ]
    }

    /// Id of the group with the next number.
    pub(crate) fn id_after(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        if x + 1 < self.groups[0] {
            [x + 1, y, z]
        } else if y + 1 < self.groups[1] {
            [0, y + 1, z]
        } else {
            [0, 0, z + 1]
        }
    }

    /// Work-items of a group in each dimension.
    pub(crate) fn extent(&self, info: &DispatchInfo, id: [u32; 3]) -> Extent {
        std::array::from_fn(|dim| {
            let size = u32::from(info.workgroup[dim]);
            size.min(info.grid[dim] - id[dim] * size)
        })
    }

    /// Makes a slot one for waves of this dispatch.
    pub(crate) fn bind_wave(&self, wave: &mut Wave) {
        let program = self
            .program
            .as_deref()
            .expect("only dispatches with a program start waves");
        wave.bind(program, self.mode);
    }

    /// Sets the registers of a wave in a slot that is bound, inside of a function with the level's features: `first` is the number of its
    /// first work-item in the group. `ids` are those of the group.
    #[inline(always)]
    pub(crate) fn begin_wave(
        &self,
        wave: &mut Wave,
        beginning: &Beginning,
        group: &GroupShape,
        first: u32,
        ids: &WorkitemIds,
    ) {
        let &GroupShape { id, items, waves } = group;
        wave.begin(self.mode, beginning);
        if self.features.workgroup_id_in_ttmp {
            // The wave's number in the group in bits 29:25 of ttmp8.
            wave.sgpr[slot::TTMP0 + 8] = ((first / self.wave_size) & 0x1f) << 25;
            wave.sgpr[slot::TTMP0 + 9] = id[0];
            wave.sgpr[slot::TTMP0 + 7] = id[1] & 0xffff | id[2] << 16;
        } else {
            // Work-group info: first wave in bit 31, waves in bits 5:0.
            let info = u32::from(first == 0) << 31 | waves & 0x3f;
            let mut at = self.user_sgpr_count;
            for (number, value) in [id[0], id[1], id[2], info, 0].into_iter().enumerate() {
                if self.system_sgprs >> number & 1 != 0 {
                    wave.sgpr[at] = value;
                    at += 1;
                }
            }
        }
        let active = (items - first).min(self.wave_size);
        wave.set_exec(if active == 64 {
            u64::MAX
        } else {
            (1 << active) - 1
        });
        ids.copy_to(wave, first);
    }

    /// Makes the ids of the work-items of a group of this extent.
    pub(crate) fn fill_workitem_ids(&self, ids: &mut WorkitemIds, extent: Extent) {
        let layout = IdLayout {
            wave_size: self.wave_size,
            packed: self.features.packed_workitem_id,
            // ENABLE_VGPR_WORKITEM_ID: the id in x alone, in x and y, or in all three.
            dimensions: (self.rsrc2 >> 11 & 3).min(2) as usize + 1,
        };
        ids.fill(extent, layout);
    }
}

/// The scalar file of a wave before user SGPRs: zeros and the apertures.
fn scalars(rsrc1: u32, features: &Features) -> ScalarImage {
    let mut image = ScalarImage::default();
    if !features.wave32 {
        // GRANULATED_WAVEFRONT_SGPR_COUNT: pairs of granules of eight (GFX9). Later targets have all SGPRs always.
        let allocated = ((rsrc1 >> 6 & 0xf) / 2 + 1) * 16;
        image.sgprs = (allocated as usize).clamp(MAX_USER_SGPRS, slot::VCC);
    }
    let slots = &mut image.slots;
    if features.architected_flat_scratch && !features.wave32 {
        // GFX9 has FLAT_SCRATCH among the SGPRs.
        slots[slot::FLAT_SCRATCH] = SCRATCH_RESOURCE_BASE as u32;
        slots[slot::FLAT_SCRATCH + 1] = (SCRATCH_RESOURCE_BASE >> 32) as u32;
    }
    slots[slot::SHARED_BASE + 1] = SHARED_APERTURE_HI;
    slots[slot::SHARED_LIMIT] = u32::MAX;
    slots[slot::SHARED_LIMIT + 1] = SHARED_APERTURE_HI;
    slots[slot::PRIVATE_BASE + 1] = PRIVATE_APERTURE_HI;
    slots[slot::PRIVATE_LIMIT] = u32::MAX;
    slots[slot::PRIVATE_LIMIT + 1] = PRIVATE_APERTURE_HI;
    image
}

/// See [`LaunchPlan::system_sgprs`]. Each wave has its own storage for scratch: the offset is always 0.
fn system_sgprs(rsrc2: u32, features: &Features) -> u32 {
    if features.workgroup_id_in_ttmp {
        return 0;
    }
    let scratch = if features.architected_flat_scratch {
        0
    } else {
        rsrc2 & 1
    };
    (rsrc2 >> 7 & 0xf) | scratch << 4
}

/// VGPRs and AGPRs of a wave.
fn registers(
    descriptor: &gneiss_fatbin::kernel_descriptor::KernelDescriptor,
    features: &Features,
    wave64: bool,
) -> (u32, u32) {
    let granule = features.vgpr_granule[usize::from(wave64)];
    let total = ((descriptor.compute_pgm_rsrc1 & 0x3f) + 1) * granule;
    if features.unified_agprs {
        let vgprs = (((descriptor.compute_pgm_rsrc3 & 0x3f) + 1) * 4).min(total);
        (vgprs, total - vgprs)
    } else if features.agprs {
        (total, total)
    } else {
        (total, 0)
    }
}

/// MODE as `compute_pgm_rsrc1` and `compute_pgm_rsrc2` initialise it.
fn initial_mode(rsrc1: u32, rsrc2: u32, major: u8) -> u32 {
    // GFX12 has other fields in the place of the two bits, and always behaves as with them set.
    let rsrc1 = if major >= 12 {
        rsrc1 | 1 << 21 | 1 << 23
    } else {
        rsrc1
    };
    let bit = |from: u32, to: u32| if rsrc1 >> from & 1 != 0 { to } else { 0 };
    // Rounding in bits 3:0 and denormals in bits 7:4, in the descriptor's own order; exception enables in bits 18:12.
    (rsrc1 >> 12 & 0xff)
        | bit(21, mode::DX10_CLAMP)
        | bit(23, mode::IEEE)
        | bit(26, mode::FP16_OVFL)
        | (rsrc2 >> 24 & 0x7f) << 12
}

/// The scratch resource of a wave: swizzled by dwords over the lanes. Word 3 is as AMD's runtime fills it (32-bit float data,
/// add-thread-id, index stride of the wave size).
fn scratch_resource(lanes: u32, major: u8) -> [u32; 4] {
    let base_hi = (SCRATCH_RESOURCE_BASE >> 32) as u32;
    let index_stride = if lanes == 64 { 3 } else { 2 };
    let word3 = if major >= 10 {
        // Format 32_FLOAT (20) in bits 18:12, index stride 22:21, add-tid 23, resource level 24, OOB select 2 in 29:28.
        20 << 12 | index_stride << 21 | 1 << 23 | 1 << 24 | 2 << 28
    } else {
        // Number format float (7) in bits 14:12, data format 32 (4) in 18:15, element size 4 bytes (1) in 20:19.
        7 << 12 | 4 << 15 | 1 << 19 | index_stride << 21 | 1 << 23
    };
    [
        SCRATCH_RESOURCE_BASE as u32,
        base_hi | 1 << 31,
        u32::MAX,
        word3,
    ]
}

/// Groups that the hardware would hold at one time.
fn resident_limit(
    info: &DispatchInfo,
    features: &Features,
    registers: u32,
    waves: u64,
    wave64: bool,
) -> u64 {
    let granule = features.vgpr_granule[usize::from(wave64)];
    let simd_vgprs = features.simd_vgprs * if wave64 || !features.wave32 { 1 } else { 2 };
    let by_registers = simd_vgprs / registers.next_multiple_of(granule).max(1);
    let waves_of_cu =
        u64::from(by_registers.clamp(1, features.waves_per_simd) * features.simds_per_cu);
    let by_waves = (waves_of_cu / waves).max(1);
    let by_lds = u64::from(
        features
            .lds
            .checked_div(info.group_segment)
            .unwrap_or(u32::MAX)
            .max(1),
    );
    by_waves.min(by_lds) * u64::from(info.gpu.compute_units.max(1))
}
