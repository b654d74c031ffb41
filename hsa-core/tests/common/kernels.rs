//! A code object with a few kernels. Needs clang-19 and lld for amdgcn; without them there is none.

use std::{
    ffi::CString,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use gneiss_hsa_api::*;

use super::Client;

const SOURCE: &str = r#"
__attribute__((visibility("default"))) __global int answer = 7;
__attribute__((visibility("default"))) extern __global int given;

__kernel void add(__global const int *a, __global const int *b, __global int *c, int n) {
    __constant ushort *packet = (__constant ushort *)__builtin_amdgcn_dispatch_ptr();
    uint i = __builtin_amdgcn_workgroup_id_x() * (uint)packet[2] + __builtin_amdgcn_workitem_id_x();
    if (i < n) c[i] = a[i] + b[i] + answer + given;
}

__kernel void wild(__global int *p) { p[1l << 34] = 1; }

__kernel void spin(__global volatile int *flag) {
    while (*flag == 0) __builtin_amdgcn_s_sleep(1);
    flag[1] = 2;
}

__kernel void ring(__global volatile ulong *doorbell, ulong value, __global volatile int *flag) {
    *doorbell = value;
    while (*flag == 0) __builtin_amdgcn_s_sleep(1);
}
"#;

/// The kernels, compiled for gfx90a.
pub fn code() -> Option<&'static Path> {
    static CODE: OnceLock<Option<PathBuf>> = OnceLock::new();
    CODE.get_or_init(|| {
        compile(
            "clang-19",
            "kernels",
            SOURCE,
            ["-mcpu=gfx90a", "-Wl,-z,undefs"],
        )
    })
    .as_deref()
}

/// A code object of OpenCL C; `None`, with a word about it, without the compiler.
pub fn compile(compiler: &str, name: &str, text: &str, options: [&str; 2]) -> Option<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, output) = (
        directory.join(format!("{name}.cl")),
        directory.join(format!("{name}.co")),
    );
    std::fs::write(&source, text).expect("a writable directory");
    let run = Command::new(compiler)
        .args([
            "-x",
            "cl",
            "-cl-std=CL2.0",
            "-Xclang",
            "-finclude-default-header",
            "-O2",
            "-nogpulib",
            "--target=amdgcn-amd-amdhsa",
        ])
        .args(options)
        .arg("-o")
        .args([&output, &source])
        .output();
    match run {
        Err(error) => {
            eprintln!("{compiler} cannot be started ({error}): nothing is tested");
            None
        }
        Ok(run) => {
            assert!(
                run.status.success(),
                "{}",
                String::from_utf8_lossy(&run.stderr)
            );
            Some(output)
        }
    }
}

/// An executable with the kernels.
pub struct Kernels<'a> {
    client: &'a Client,
    pub executable: hsa_executable_t,
    pub given: *mut i32,
}

impl<'a> Kernels<'a> {
    pub fn create(client: &'a Client) -> hsa_executable_t {
        let mut executable = hsa_executable_t::default();
        // SAFETY: the out-parameter fits.
        unsafe {
            (client.api.hsa_executable_create_alt)(
                HSA_PROFILE_FULL,
                0,
                std::ptr::null(),
                &mut executable,
            )
            .ok()
            .expect("executable");
        }
        executable
    }

    pub fn load_bytes(
        client: &Client,
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        bytes: &[u8],
    ) -> hsa_status_t {
        let mut reader = hsa_code_object_reader_t::default();
        // SAFETY: the bytes live until the code object is loaded.
        unsafe {
            (client.api.hsa_code_object_reader_create_from_memory)(
                bytes.as_ptr().cast(),
                bytes.len(),
                &mut reader,
            )
            .ok()
            .expect("reader");
            let status = (client.api.hsa_executable_load_agent_code_object)(
                executable,
                agent,
                reader,
                std::ptr::null(),
                std::ptr::null_mut(),
            );
            (client.api.hsa_code_object_reader_destroy)(reader)
                .ok()
                .expect("destroy");
            status
        }
    }

    pub fn load(client: &'a Client, path: &Path) -> Self {
        let executable = Self::create(client);
        let pool = client.pool(
            client.gpus[0],
            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
        );
        let given = client.allocate(pool, 4).cast::<i32>();
        // SAFETY: the variable lives as long as the executable.
        unsafe {
            given.write(1000);
            (client.api.hsa_executable_agent_global_variable_define)(
                executable,
                client.gpus[0],
                c"given".as_ptr(),
                given.cast(),
            )
            .ok()
            .expect("define");
        }
        let bytes = std::fs::read(path).expect("compiled");
        Self::load_bytes(client, executable, client.gpus[0], &bytes)
            .ok()
            .expect("load");
        // SAFETY: a live executable.
        unsafe { (client.api.hsa_executable_freeze)(executable, std::ptr::null()) }
            .ok()
            .expect("freeze");
        Self {
            client,
            executable,
            given,
        }
    }

    pub fn symbol(&self, name: &str) -> Result<hsa_executable_symbol_t, hsa_status_t> {
        let name = CString::new(name).expect("no NUL");
        let mut symbol = hsa_executable_symbol_t::default();
        // SAFETY: the out-parameter fits.
        unsafe {
            (self.client.api.hsa_executable_get_symbol_by_name)(
                self.executable,
                name.as_ptr(),
                &self.client.gpus[0],
                &mut symbol,
            )
        }
        .ok()?;
        Ok(symbol)
    }

    pub fn info<T: Default>(&self, symbol: hsa_executable_symbol_t, attribute: u32) -> T {
        let mut value = T::default();
        // SAFETY: callers name the type of the attribute.
        unsafe {
            (self.client.api.hsa_executable_symbol_get_info)(
                symbol,
                attribute,
                (&raw mut value).cast(),
            )
        }
        .ok()
        .expect("attribute");
        value
    }

    /// A packet for a kernel of 64-wide work-groups.
    pub fn packet(
        &self,
        kernel: &str,
        items: u32,
        arguments: *mut u8,
        completion: hsa_signal_t,
    ) -> hsa_kernel_dispatch_packet_t {
        let symbol = self.symbol(kernel).expect("kernel");
        hsa_kernel_dispatch_packet_t {
            header: HSA_PACKET_TYPE_KERNEL_DISPATCH as u16
                | 1 << HSA_PACKET_HEADER_BARRIER
                | 2 << 9
                | 2 << 11,
            setup: 1,
            workgroup_size_x: 64,
            workgroup_size_y: 1,
            workgroup_size_z: 1,
            reserved0: 0,
            grid_size_x: items,
            grid_size_y: 1,
            grid_size_z: 1,
            private_segment_size: self.info(
                symbol,
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
            ),
            group_segment_size: self
                .info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE),
            kernel_object: self.info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT),
            kernarg_address: arguments.cast(),
            reserved2: 0,
            completion_signal: completion,
        }
    }
}

impl Drop for Kernels<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: a live executable.
            unsafe { (self.client.api.hsa_executable_destroy)(self.executable) }
                .ok()
                .expect("destroy");
            self.client.free(self.given.cast());
        }
    }
}

/// Memory for the arguments of a kernel.
pub fn arguments(client: &Client) -> *mut u8 {
    let flags =
        HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    client.allocate(client.pool(client.cpu, flags), 256)
}
