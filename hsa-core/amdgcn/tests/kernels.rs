//! Real hipcc output on the engine: for gfx90a and gfx1030, unoptimised and optimised.

mod support;

use gneiss_amdgcn::engine::FaultKind;
use support::*;

/// Compiles the source for each target and level and calls the test with the loaded module.
fn each(source: &str, test: impl Fn(&Module, &str)) {
    for target in ["gfx90a", "gfx1030"] {
        for level in ["-O0", "-O3"] {
            let Some(elf) = hip(target, level, source) else {
                return;
            };
            let module = Module::load(&gpu(target), &elf);
            test(&module, &format!("{target} {level}"));
        }
    }
}

#[test]
fn vector_add_with_a_ragged_end() {
    let source = r#"
        extern "C" __global__ void vadd(const float* a, const float* b, float* c, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) c[i] = a[i] + b[i];
        }"#;
    each(source, |module, what| {
        let n = 100_003usize;
        let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
        let b: Vec<f32> = (0..n).map(|i| 1e-3 * i as f32 - 7.0).collect();
        let (da, db, dc) = (
            Buffer::from(&module.gpu, &a),
            Buffer::from(&module.gpu, &b),
            Buffer::new(&module.gpu, n * 4),
        );
        let args = Args::new()
            .buffer(&da)
            .buffer(&db)
            .buffer(&dc)
            .u32(n as u32);
        let grid = (n as u32).next_multiple_of(256);
        module
            .run("vadd", [grid, 1, 1], [256, 1, 1], args.bytes(), 0)
            .unwrap_or_else(|f| panic!("{what}: {f}"));
        let c: Vec<f32> = dc.read();
        for i in 0..n {
            assert_eq!(c[i], a[i] + b[i], "{what}: element {i}");
        }
    });
}

#[test]
fn reduction_in_lds_with_barriers() {
    let source = r#"
        extern "C" __global__ void reduce(const int* in, int* out) {
            extern __shared__ int part[];
            int t = threadIdx.x;
            part[t] = in[blockIdx.x * blockDim.x + t];
            __syncthreads();
            for (int s = blockDim.x / 2; s > 0; s /= 2) {
                if (t < s) part[t] += part[t + s];
                __syncthreads();
            }
            if (t == 0) out[blockIdx.x] = part[0];
        }"#;
    each(source, |module, what| {
        let input: Vec<i32> = (0..64 * 512).map(|i| (i * 7919) % 1001 - 500).collect();
        let (din, dout) = (
            Buffer::from(&module.gpu, &input),
            Buffer::new(&module.gpu, 64 * 4),
        );
        let args = Args::new().buffer(&din).buffer(&dout);
        module
            .run(
                "reduce",
                [64 * 512, 1, 1],
                [512, 1, 1],
                args.bytes(),
                512 * 4,
            )
            .unwrap_or_else(|f| panic!("{what}: {f}"));
        let expected: Vec<i32> = input.chunks(512).map(|chunk| chunk.iter().sum()).collect();
        assert_eq!(dout.read::<i32>(), expected, "{what}");
    });
}

#[test]
fn histogram_with_atomics_in_lds_and_memory() {
    let source = r#"
        extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
            __shared__ unsigned local[256];
            local[threadIdx.x] = 0;
            __syncthreads();
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                atomicAdd(&local[in[i]], 1u);
            __syncthreads();
            atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
        }"#;
    each(source, |module, what| {
        let input: Vec<u8> = (0..50_000u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let (din, dout) = (
            Buffer::from(&module.gpu, &input),
            Buffer::new(&module.gpu, 256 * 4),
        );
        let args = Args::new()
            .buffer(&din)
            .buffer(&dout)
            .u32(input.len() as u32);
        module
            .run("histogram", [16 * 256, 1, 1], [256, 1, 1], args.bytes(), 0)
            .unwrap_or_else(|f| panic!("{what}: {f}"));
        let mut expected = vec![0u32; 256];
        input.iter().for_each(|&b| expected[usize::from(b)] += 1);
        assert_eq!(dout.read::<u32>(), expected, "{what}");
    });
}

#[test]
fn scratch_arrays_indexed_at_run_time() {
    let source = r#"
        __device__ __noinline__ int pick(int* table, int i) { return table[i & 15]; }
        extern "C" __global__ void scratch(const int* in, int* out) {
            int table[16];
            int t = blockIdx.x * blockDim.x + threadIdx.x;
            for (int i = 0; i < 16; i++) table[i] = in[(t + i) & 255] * (i + 1);
            int sum = 0;
            for (int i = 0; i < 16; i++) sum = sum * 3 + pick(table, in[(t * 5 + i) & 255]);
            out[t] = sum;
        }"#;
    each(source, |module, what| {
        let input: Vec<i32> = (0..256).map(|i| (i * 37) ^ 0x55).collect();
        let (din, dout) = (
            Buffer::from(&module.gpu, &input),
            Buffer::new(&module.gpu, 512 * 4),
        );
        let args = Args::new().buffer(&din).buffer(&dout);
        module
            .run("scratch", [512, 1, 1], [128, 1, 1], args.bytes(), 0)
            .unwrap_or_else(|f| panic!("{what}: {f}"));
        let expected: Vec<i32> = (0..512)
            .map(|t| {
                let table: Vec<i32> = (0..16)
                    .map(|i| input[(t + i) & 255] * (i as i32 + 1))
                    .collect();
                (0..16).fold(0i32, |sum, i| {
                    sum.wrapping_mul(3)
                        .wrapping_add(table[input[(t * 5 + i) & 255] as usize & 15])
                })
            })
            .collect();
        assert_eq!(dout.read::<i32>(), expected, "{what}");
    });
}

#[test]
fn groups_that_wait_for_each_other_all_finish() {
    // A lock between groups, then a barrier of the whole grid that spins.
    let source = r#"
        extern "C" __global__ void spin(unsigned* lock, unsigned* count, unsigned* arrived, unsigned* out) {
            if (threadIdx.x == 0) {
                while (atomicCAS(lock, 0u, 1u) != 0u) {}
                *(volatile unsigned*)count = *(volatile unsigned*)count + 1;
                __threadfence();
                atomicExch(lock, 0u);
                atomicAdd(arrived, 1u);
                while (*(volatile unsigned*)arrived < gridDim.x) __builtin_amdgcn_s_sleep(1);
                out[blockIdx.x] = *(volatile unsigned*)count;
            }
        }"#;
    each(source, |module, what| {
        let gpu = &module.gpu;
        let words: Vec<Buffer> = [4, 4, 4, 100 * 4].map(|len| Buffer::new(gpu, len)).into();
        let args = words
            .iter()
            .fold(Args::new(), |args, word| args.buffer(word));
        module
            .run("spin", [100 * 64, 1, 1], [64, 1, 1], args.bytes(), 0)
            .unwrap_or_else(|f| panic!("{what}: {f}"));
        assert_eq!(words[3].read::<u32>(), [100; 100], "{what}");
    });
}

#[test]
fn a_trap_stops_the_dispatch_and_says_where() {
    let source = r#"
        extern "C" __global__ void trap(int* p) { if (p[threadIdx.x] == 5) __builtin_trap(); p[threadIdx.x] = 1; }"#;
    each(source, |module, what| {
        let words: Vec<i32> = (0..64).collect();
        let buffer = Buffer::from(&module.gpu, &words);
        let fault = module
            .run(
                "trap",
                [64, 1, 1],
                [64, 1, 1],
                Args::new().buffer(&buffer).bytes(),
                0,
            )
            .expect_err(what);
        assert_eq!(fault.kind, FaultKind::Trap(2), "{what}");
        assert_eq!(fault.kernel, "trap", "{what}");
    });
}

/// The ids of a grid's items: x in bits 7:0, y in bits 15:8, z above; x runs fastest.
fn ids(nx: u32, ny: u32, nz: u32) -> Vec<u32> {
    (0..nz)
        .flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| x | y << 8 | z << 16)))
        .collect()
}

#[test]
fn ids_of_a_three_dimensional_grid_with_ragged_edges() {
    let source = r#"
        extern "C" __global__ void ids(unsigned* out, int nx, int ny, int nz) {
            int x = blockIdx.x * blockDim.x + threadIdx.x;
            int y = blockIdx.y * blockDim.y + threadIdx.y;
            int z = blockIdx.z * blockDim.z + threadIdx.z;
            if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = x | y << 8 | z << 16;
        }"#;
    each(source, |module, what| {
        let [nx, ny, nz] = [21u32, 11, 5];
        let buffer = Buffer::new(&module.gpu, (nx * ny * nz * 4) as usize);
        let args = Args::new().buffer(&buffer).u32(nx).u32(ny).u32(nz);
        module
            .run("ids", [24, 12, 6], [8, 4, 2], args.bytes(), 0)
            .unwrap_or_else(|f| panic!("{what}: {f}"));
        assert_eq!(buffer.read::<u32>(), ids(nx, ny, nz), "{what}");
    });
}

#[test]
fn generic_pointers_reach_lds_scratch_and_memory() {
    let source = r#"
        __device__ __noinline__ int sum(const int* p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
        extern "C" __global__ void generic(const int* in, int* out) {
            __shared__ int shared[8];
            int own[8];
            for (int i = 0; i < 8; i++) { own[i] = in[i] * (int)threadIdx.x; }
            if (threadIdx.x < 8) shared[threadIdx.x] = in[threadIdx.x] * 100;
            __syncthreads();
            const int* p = threadIdx.x % 3 == 0 ? in : threadIdx.x % 3 == 1 ? (const int*)shared : (const int*)own;
            out[threadIdx.x] = sum(p, 8);
        }"#;
    each(source, |module, what| {
        let input: Vec<i32> = (1..=8).collect();
        let (din, dout) = (
            Buffer::from(&module.gpu, &input),
            Buffer::new(&module.gpu, 128 * 4),
        );
        module
            .run(
                "generic",
                [128, 1, 1],
                [128, 1, 1],
                Args::new().buffer(&din).buffer(&dout).bytes(),
                0,
            )
            .unwrap_or_else(|f| panic!("{what}: {f}"));
        let expected: Vec<i32> = (0..128).map(|t| 36 * [1, 100, t][t as usize % 3]).collect();
        assert_eq!(dout.read::<i32>(), expected, "{what}");
    });
}

#[test]
fn ids_of_partial_groups_that_follow_each_other() {
    let source = r#"
        extern "C" __global__ void ids(unsigned* out, int nx, int ny) {
            int x = blockIdx.x * 8 + threadIdx.x;
            int y = blockIdx.y * 4 + threadIdx.y;
            int z = blockIdx.z * 2 + threadIdx.z;
            out[(z * ny + y) * nx + x] += x | y << 8 | z << 16;
        }"#;
    each(source, |module, what| {
        // Partial groups at the end of each dimension, between whole ones.
        let [nx, ny, nz] = [45u32, 22, 13];
        let buffer = Buffer::new(&module.gpu, (nx * ny * nz * 4) as usize);
        let args = Args::new().buffer(&buffer).u32(nx).u32(ny);
        module
            .run("ids", [nx, ny, nz], [8, 4, 2], args.bytes(), 0)
            .unwrap_or_else(|f| panic!("{what}: {f}"));
        assert_eq!(buffer.read::<u32>(), ids(nx, ny, nz), "{what}");
    });
}

#[test]
fn arguments_that_cannot_be_read_are_a_fault_of_a_wave() {
    let source = r#"
        extern "C" __global__ void copy(const int* from, int* to) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            to[i] = from[i];
        }"#;
    each(source, |module, what| {
        let nowhere = 0x7fff_0000_0000;
        for groups in [1, 64] {
            let fault = module
                .run_with("copy", [64 * groups, 1, 1], [64, 1, 1], nowhere, 0)
                .expect_err(what);
            let expected = FaultKind::Memory {
                address: nowhere,
                write: false,
            };
            assert_eq!(fault.kind, expected, "{what}, {groups} groups");
            assert_eq!(fault.kernel, "copy", "{what}, {groups} groups");
        }
    });
}
