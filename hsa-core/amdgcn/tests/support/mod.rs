//! Loads code objects by hand and runs kernels on the engine: no HSA runtime in between.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use gneiss_amdgcn::{
    engine::{
        DispatchClient, DispatchInfo, Engine, Gpu, LoadedCode, Outcome, Priority, Semaphores,
    },
    memory::{GuestMap, Mapping, Rights},
    target::Target,
};
use gneiss_fatbin::{code_object::CodeObject, kernel_descriptor::KernelDescriptor};

/// Memory that the GPU sees.
pub struct Buffer {
    map: Arc<Gpu>,
    storage: Box<[Page]>,
    len: usize,
}

#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

static ALLOCATIONS: AtomicU64 = AtomicU64::new(1);

impl Buffer {
    pub fn new(gpu: &Arc<Gpu>, len: usize) -> Self {
        let mut storage = vec![Page([0; 4096]); len.div_ceil(4096).max(1)].into_boxed_slice();
        let host: *mut u8 = storage.as_mut_ptr().cast();
        let mapping = Mapping {
            base: host as u64,
            len: len as u64,
            host,
            rights: Rights::READ | Rights::WRITE | Rights::EXECUTE,
            allocation: ALLOCATIONS.fetch_add(1, Ordering::Relaxed),
        };
        // SAFETY: the storage lives until `drop` has removed the mapping.
        unsafe { gpu.map.insert(mapping) }.expect("no overlap");
        Self {
            map: gpu.clone(),
            storage,
            len,
        }
    }

    pub fn from<T: Copy>(gpu: &Arc<Gpu>, values: &[T]) -> Self {
        let buffer = Self::new(gpu, size_of_val(values));
        // SAFETY: as many bytes as the buffer has.
        unsafe {
            std::ptr::copy_nonoverlapping(
                values.as_ptr().cast::<u8>(),
                buffer.address() as *mut u8,
                buffer.len,
            );
        }
        buffer
    }

    pub fn address(&self) -> u64 {
        self.storage.as_ptr() as u64
    }

    /// A copy of the contents.
    pub fn read<T: Copy>(&self) -> Vec<T> {
        let count = self.len / size_of::<T>();
        // SAFETY: initialised memory, any bits are a value of the types that tests use; no kernel runs now.
        unsafe { std::slice::from_raw_parts(self.address() as *const T, count) }.to_vec()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.map.map.remove(self.address());
    }
}

/// A code object in memory.
pub struct Module {
    memory: Buffer,
    base: u64,
    kernels: HashMap<String, (u64, KernelDescriptor)>,
    sizes: HashMap<String, u32>,
    pub gpu: Arc<Gpu>,
}

pub fn gpu(target: &str) -> Arc<Gpu> {
    let target: Target = target.parse().expect("a known target");
    Arc::new(Gpu {
        target,
        map: GuestMap::default(),
        compute_units: 8,
        semaphores: Semaphores::default(),
    })
}

impl Module {
    pub fn load(gpu: &Arc<Gpu>, elf: &[u8]) -> Self {
        let object = CodeObject::parse(elf).expect("a code object");
        let (start, end) = object.address_span().expect("segments");
        let memory = Buffer::new(gpu, (end - start) as usize);
        let base = memory.address() - start;
        for segment in object.load_segments() {
            let from = &elf[segment.offset as usize..][..segment.file_size as usize];
            // SAFETY: the segment lies in the span.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    from.as_ptr(),
                    (base + segment.address) as *mut u8,
                    from.len(),
                );
            }
        }
        for relocation in object.relocations().expect("relocations") {
            // R_AMDGPU_RELATIVE64 is all that these objects need.
            assert_eq!(relocation.kind, 13, "relocation {relocation:?}");
            // SAFETY: within the span.
            unsafe {
                ((base + relocation.offset) as *mut u64)
                    .write_unaligned(base.wrapping_add_signed(relocation.addend));
            }
        }
        let mut kernels = HashMap::new();
        for symbol in object.kernel_symbols().expect("symbols") {
            let descriptor = object.kernel_descriptor(&symbol).expect("a descriptor");
            kernels.insert(
                symbol.name.trim_end_matches(".kd").to_owned(),
                (base + symbol.value, descriptor),
            );
        }
        let symbols = object.symbols().expect("symbols");
        let symbols = symbols.iter().filter(|s| s.is_defined());
        Engine::global().code_loaded(LoadedCode {
            base: memory.address(),
            len: end - start,
            symbols: symbols
                .map(|s| (base + s.value, s.size, s.name.to_owned()))
                .collect(),
            elf: elf.into(),
        });
        let metadata = object.metadata().ok();
        let sizes = metadata
            .map(|m| {
                m.kernels
                    .iter()
                    .map(|k| (k.name.clone(), k.kernarg_segment_size))
                    .collect()
            })
            .unwrap_or_default();
        Self {
            base,
            memory,
            kernels,
            sizes,
            gpu: gpu.clone(),
        }
    }

    /// Runs a kernel and waits for it. `args` are the explicit arguments, laid out by the caller.
    pub fn run(
        &self,
        kernel: &str,
        grid: [u32; 3],
        group: [u16; 3],
        args: &[u8],
        dynamic_lds: u32,
    ) -> Outcome {
        let size = self.sizes.get(kernel).copied().unwrap_or(0) as usize;
        // Compilers load whole aligned blocks of arguments, past the end of the segment.
        let mut kernarg = vec![0u8; size.max(args.len()).max(8).next_multiple_of(64)];
        kernarg[..args.len()].copy_from_slice(args);
        self.hidden_arguments(kernel, &mut kernarg, args.len(), grid, group, dynamic_lds);
        let kernarg = Buffer::from(&self.gpu, &kernarg);
        self.run_with(kernel, grid, group, kernarg.address(), dynamic_lds)
    }

    /// Runs a kernel with its arguments at an address, and waits for it.
    pub fn run_with(
        &self,
        kernel: &str,
        grid: [u32; 3],
        group: [u16; 3],
        kernarg: u64,
        dynamic_lds: u32,
    ) -> Outcome {
        self.run_changed(kernel, grid, group, kernarg, dynamic_lds, |_| {})
    }

    /// Runs a kernel as `change` leaves its dispatch, and waits for it.
    pub fn run_changed(
        &self,
        kernel: &str,
        grid: [u32; 3],
        group: [u16; 3],
        kernarg: u64,
        dynamic_lds: u32,
        change: impl FnOnce(&mut DispatchInfo),
    ) -> Outcome {
        let &(kernel_object, descriptor) = self.kernels.get(kernel).unwrap_or_else(|| {
            panic!("no kernel {kernel} among {:?}", self.kernels.keys());
        });
        let mut packet = [0u8; 64];
        packet[2..4].copy_from_slice(&3u16.to_le_bytes());
        for dim in 0..3 {
            packet[4 + 2 * dim..][..2].copy_from_slice(&group[dim].to_le_bytes());
            packet[12 + 4 * dim..][..4].copy_from_slice(&grid[dim].to_le_bytes());
        }
        let packet = Buffer::from(&self.gpu, &packet);
        let queue = Buffer::new(&self.gpu, 256);
        let mut info = DispatchInfo {
            gpu: self.gpu.clone(),
            kernel_object,
            descriptor,
            grid,
            workgroup: group,
            group_segment: descriptor.group_segment_fixed_size + dynamic_lds,
            private_segment: descriptor.private_segment_fixed_size,
            kernarg,
            dispatch_ptr: packet.address(),
            queue_ptr: queue.address(),
            dispatch_id: 0,
            priority: Priority::default(),
        };
        change(&mut info);
        run_dispatch(info)
    }

    /// Fills the hidden arguments of code object v5, which lie after the explicit ones; v4's are all zero or unused here.
    fn hidden_arguments(
        &self,
        _: &str,
        kernarg: &mut [u8],
        explicit: usize,
        grid: [u32; 3],
        group: [u16; 3],
        dynamic_lds: u32,
    ) {
        let at = explicit.next_multiple_of(8);
        if kernarg.len() < at + 256 {
            return;
        }
        for dim in 0..3 {
            let size = u32::from(group[dim]);
            kernarg[at + 4 * dim..][..4].copy_from_slice(&(grid[dim] / size).to_le_bytes());
            kernarg[at + 12 + 2 * dim..][..2].copy_from_slice(&group[dim].to_le_bytes());
            kernarg[at + 18 + 2 * dim..][..2]
                .copy_from_slice(&((grid[dim] % size) as u16).to_le_bytes());
        }
        kernarg[at + 64] = 3;
        kernarg[at + 120..][..4].copy_from_slice(&dynamic_lds.to_le_bytes());
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        Engine::global().code_unloaded(self.memory.address());
    }
}

#[derive(Default)]
struct Client {
    outcome: Mutex<Option<Outcome>>,
    came: Condvar,
}

impl DispatchClient for Client {
    fn finished(&self, token: u64, outcome: Outcome) {
        assert_eq!(token, 7);
        let mut slot = self.outcome.lock().unwrap();
        assert!(slot.is_none(), "finished came twice");
        *slot = Some(outcome);
        self.came.notify_all();
    }

    fn interrupt(&self, _: u32) {}
}

/// Runs a dispatch and waits for it, helping.
pub fn run_dispatch(info: DispatchInfo) -> Outcome {
    let engine = Engine::global();
    let client = Arc::new(Client::default());
    let dynamic: Arc<dyn DispatchClient> = client.clone();
    engine.dispatch(info, &dynamic, 7);
    engine.help(&mut || client.outcome.lock().unwrap().is_some());
    let slot = client.outcome.lock().unwrap();
    let (mut slot, timeout) = client
        .came
        .wait_timeout_while(slot, Duration::from_secs(120), |slot| slot.is_none())
        .unwrap();
    assert!(!timeout.timed_out(), "the dispatch hangs");
    slot.take().unwrap()
}

/// A place for generated files.
fn scratch_dir() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    fs::create_dir_all(&dir).unwrap();
    dir
}

fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Whether a tool is there; says so if not, because the test then proves nothing.
pub fn have(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: {tool} is not installed");
    }
    found
}

/// Compiles HIP for one target; none without hipcc. Results are kept by the source's hash.
pub fn hip(target: &str, level: &str, source: &str) -> Option<Vec<u8>> {
    if !have("hipcc") {
        return None;
    }
    let stem = format!("{target}{level}-{:016x}", fnv(source));
    let (input, output) = (
        scratch_dir().join(format!("{stem}.hip")),
        scratch_dir().join(format!("{stem}.co")),
    );
    if !output.exists() {
        let text = format!("#include <hip/hip_runtime.h>\n{source}");
        let part = scratch_dir().join(format!("{stem}.{}.part", std::process::id()));
        fs::write(&input, text).unwrap();
        run(Command::new("hipcc")
            .args(["--genco", "--no-gpu-bundle-output", "-g", level])
            .arg(format!("--offload-arch={target}"))
            .arg(&input)
            .arg("-o")
            .arg(&part));
        fs::rename(&part, &output).unwrap();
    }
    Some(fs::read(output).unwrap())
}

/// LLVM's assembler for a target: 19's, and 22's for what came later.
fn assembler_of(target: &str) -> &'static str {
    if target == "gfx950" {
        "llvm-mc-22"
    } else {
        "llvm-mc-19"
    }
}

/// Assembles and links a code object; none without the LLVM that knows the target.
pub fn assemble(target: &str, source: &str) -> Option<Vec<u8>> {
    let assembler = assembler_of(target);
    if !have(assembler) || !have("ld.lld-19") {
        eprintln!(
            "left out: {assembler} and ld.lld-19, which make code for {target}, are not installed"
        );
        return None;
    }
    let stem = format!("{target}-{:016x}-{}", fnv(source), std::process::id());
    let path = |ext: &str| scratch_dir().join(format!("{stem}.{ext}"));
    fs::write(path("s"), source).unwrap();
    run(Command::new(assembler)
        .args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj"])
        .arg(format!("-mcpu={target}"))
        .args(
            source
                .contains(".amdhsa_wavefront_size32 0")
                .then_some("-mattr=-wavefrontsize32,+wavefrontsize64"),
        )
        .arg(path("s"))
        .arg("-o")
        .arg(path("o")));
    run(Command::new("ld.lld-19")
        .arg("-shared")
        .arg(path("o"))
        .arg("-o")
        .arg(path("so")));
    Some(fs::read(path("so")).unwrap())
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// A kernel in assembly: the descriptor's directives, then the code.
pub fn kernel(target: &str, directives: &str, code: &str) -> String {
    let accum = if matches!(target, "gfx90a" | "gfx942" | "gfx950") {
        ".amdhsa_accum_offset 128"
    } else {
        ""
    };
    format!(
        "
.amdgcn_target \"amdgcn-amd-amdhsa--{target}\"
.text
.globl k
.p2align 8
.type k,@function
k:
{code}
s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.amdhsa_next_free_vgpr 128
.amdhsa_next_free_sgpr 96
{accum}
{directives}
.end_amdhsa_kernel
"
    )
}

/// Packs kernel arguments.
#[derive(Default)]
pub struct Args(Vec<u8>);

impl Args {
    pub fn new() -> Self {
        Self::default()
    }

    fn put(mut self, bytes: &[u8]) -> Self {
        let at = self.0.len().next_multiple_of(bytes.len());
        self.0.resize(at, 0);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn buffer(self, buffer: &Buffer) -> Self {
        self.put(&buffer.address().to_le_bytes())
    }

    pub fn u64(self, value: u64) -> Self {
        self.put(&value.to_le_bytes())
    }

    pub fn u32(self, value: u32) -> Self {
        self.put(&value.to_le_bytes())
    }

    pub fn f32(self, value: f32) -> Self {
        self.put(&value.to_le_bytes())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Runs assembly with one group of `items` work-items and one buffer as the argument; gives the buffer's bytes. s[0:1] is the
/// kernarg pointer; the code begins with s[2:3] holding the buffer's address.
pub fn run_bytes(
    target: &str,
    directives: &str,
    code: &str,
    items: u32,
    initial: &[u8],
) -> Option<Vec<u8>> {
    let wait = if target.starts_with("gfx12") {
        "s_wait_kmcnt 0x0"
    } else {
        "s_waitcnt lgkmcnt(0)"
    };
    let code = format!("s_load_dwordx2 s[2:3], s[0:1], 0x0\n{wait}\n{code}");
    let elf = assemble(target, &kernel(target, directives, &code))?;
    let gpu = gpu(target);
    let module = Module::load(&gpu, &elf);
    let buffer = Buffer::from(&gpu, initial);
    let args = Args::new().buffer(&buffer);
    module
        .run("k", [items, 1, 1], [items as u16, 1, 1], args.bytes(), 0)
        .unwrap_or_else(|f| panic!("{f}"));
    Some(buffer.read())
}

/// As [`run_bytes`], in dwords.
pub fn run_dwords(target: &str, code: &str, items: u32, initial: &[u32]) -> Option<Vec<u32>> {
    let directives = ".amdhsa_group_segment_fixed_size 1024";
    let result = run_bytes(target, directives, code, items, &bytes_of(initial))?;
    Some(dwords_of(&result))
}

pub fn bytes_of(dwords: &[u32]) -> Vec<u8> {
    dwords
        .iter()
        .flat_map(|dword| dword.to_le_bytes())
        .collect()
}

pub fn dwords_of(bytes: &[u8]) -> Vec<u32> {
    let (dwords, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    dwords.iter().copied().map(u32::from_le_bytes).collect()
}

/// Code that sets v1 to where a lane's dword is, in dwords from `at` bytes of the buffer on; s20 changes too.
fn address_of_lane(at: usize) -> String {
    format!("s_movk_i32 s20, {at}\nv_lshl_add_u32 v1, v0, 2, s20\n")
}

/// Code that loads a register of each lane from the dwords at `at` bytes of the buffer of [`run_bytes`]. v1 and s20 change; v0 is the lane.
pub fn load_lanes(register: usize, at: usize) -> String {
    address_of_lane(at) + &format!("global_load_dword v{register}, v1, s[2:3]\n")
}

/// As [`load_lanes`], the other way.
pub fn store_lanes(register: usize, at: usize) -> String {
    address_of_lane(at) + &format!("global_store_dword v1, v{register}, s[2:3]\n")
}
