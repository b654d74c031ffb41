//! `gneiss info`: the agents that our HSA library offers, and the functions that our libraries export.

use crate::USED_WRONGLY;
use crate::arguments::Info;
use crate::environment;
use crate::prefix::Prefix;
use crate::symbols;
use crate::table::Table;
use crate::terminal::Terminal;
use gneiss_hsa_api::*;
use serde::Serialize;
use std::ffi::{CStr, c_void};
use std::io::{BufWriter, Error, Result, Write};
use std::process::ExitCode;

#[derive(Debug, Serialize)]
struct Report {
    library: String,
    hsa_version: String,
    agents: Vec<Agent>,
}

/// One HSA agent.
#[derive(Debug, Serialize)]
struct Agent {
    kind: &'static str,
    name: String,
    product: String,
    vendor: String,
    uuid: String,
    isas: Vec<String>,
    node: u32,
    compute_units: u32,
    simds_per_compute_unit: u32,
    waves_per_compute_unit: u32,
    wavefront_size: u32,
    max_workgroup_size: u32,
    max_clock_mhz: u32,
    max_queues: u32,
    pools: Vec<Pool>,
}

/// A memory pool of an agent.
#[derive(Debug, Serialize)]
struct Pool {
    segment: &'static str,
    flags: Vec<&'static str>,
    size: usize,
    granule: usize,
}

/// Lists devices or functions.
///
/// # Errors
/// When a library is missing or cannot be started, or stdout fails.
pub fn info(options: &Info, terminal: &Terminal) -> Result<ExitCode> {
    let prefix = Prefix::of_this_command()?;
    if let Some(missing) = prefix.missing() {
        return Err(Error::other(missing));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    if options.api {
        symbols::list(&prefix, options.json, terminal, &mut out)?;
    } else {
        let faults = match environment::check_gpus(options.gpus.as_deref()) {
            Err(fault) => vec![fault],
            Ok(()) if options.gpus.is_some() => Vec::new(),
            Ok(()) => environment::problems(None).0,
        };
        if !faults.is_empty() {
            faults.iter().for_each(|fault| terminal.error(fault));
            return Ok(ExitCode::from(USED_WRONGLY));
        }
        if let Some(spec) = &options.gpus {
            // SAFETY: this process has one thread, and the library that reads the variable is not loaded yet.
            unsafe { std::env::set_var("GNEISS_GPUS", spec) };
        }
        let report = report(&prefix)?;
        if options.json {
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
        } else {
            write_text(&report, terminal, &mut out)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn report(prefix: &Prefix) -> Result<Report> {
    let library = prefix.hsa_library();
    // SAFETY: it is the HSA library of this installation; `HsaApi` states its signatures.
    let api = unsafe { HsaApi::load(&library) }.map_err(Error::other)?;
    let hsa = Hsa { api };
    // SAFETY: hsa_init takes no arguments.
    hsa.check("hsa_init", unsafe { (hsa.api.hsa_init)() })?;
    let agents = hsa.agents().and_then(|agents| {
        agents
            .into_iter()
            .map(|agent| hsa.agent(agent))
            .collect::<Result<_>>()
    });
    let version = [HSA_SYSTEM_INFO_VERSION_MAJOR, HSA_SYSTEM_INFO_VERSION_MINOR].map(|attribute| {
        let mut value = 0_u16;
        // SAFETY: both attributes are u16.
        let status = unsafe { (hsa.api.hsa_system_get_info)(attribute, (&raw mut value).cast()) };
        if status == HSA_STATUS_SUCCESS {
            value.to_string()
        } else {
            "?".into()
        }
    });
    // SAFETY: pairs with hsa_init above; nothing is used after it.
    hsa.check("hsa_shut_down", unsafe { (hsa.api.hsa_shut_down)() })?;
    Ok(Report {
        library: library.display().to_string(),
        hsa_version: version.join("."),
        agents: agents?,
    })
}

/// The HSA library while it is initialised.
struct Hsa {
    api: HsaApi,
}

/// Puts a handle that HSA iterates over into the vector behind `data`.
unsafe extern "C" fn collect<T: Copy>(handle: T, data: *mut c_void) -> hsa_status_t {
    // SAFETY: every caller passes a vector of `T` that outlives the iteration and is not used during it.
    unsafe { &mut *data.cast::<Vec<T>>() }.push(handle);
    HSA_STATUS_SUCCESS
}

impl Hsa {
    fn check(&self, function: &str, status: hsa_status_t) -> Result<()> {
        if status == HSA_STATUS_SUCCESS {
            return Ok(());
        }
        let mut text = std::ptr::null();
        // SAFETY: `text` is written with a static string, or left null.
        let _ = unsafe { (self.api.hsa_status_string)(status, &raw mut text) };
        let text = if text.is_null() {
            "unknown status".into()
        } else {
            // SAFETY: a text that is there is a NUL-terminated static string.
            unsafe { CStr::from_ptr(text) }.to_string_lossy()
        };
        Err(Error::other(format!(
            "{function} failed with status {status:?}: {text}"
        )))
    }

    fn agents(&self) -> Result<Vec<hsa_agent_t>> {
        let mut agents: Vec<hsa_agent_t> = Vec::new();
        // SAFETY: `collect` is called with agents and this vector, during this call only.
        let status = unsafe {
            (self.api.hsa_iterate_agents)(Some(collect::<hsa_agent_t>), (&raw mut agents).cast())
        };
        self.check("hsa_iterate_agents", status)?;
        Ok(agents)
    }

    /// An attribute with a fixed size, or its default when the library does not know it.
    fn get<T: Copy + Default>(&self, agent: hsa_agent_t, attribute: u32) -> T {
        let mut value = T::default();
        // SAFETY: every caller names a type of the attribute's size.
        let status =
            unsafe { (self.api.hsa_agent_get_info)(agent, attribute, (&raw mut value).cast()) };
        if status == HSA_STATUS_SUCCESS {
            value
        } else {
            T::default()
        }
    }

    /// A text attribute of up to 64 bytes.
    fn text(&self, agent: hsa_agent_t, attribute: u32) -> String {
        let mut text = [0_u8; 128];
        // SAFETY: text attributes are at most 64 bytes long.
        let status =
            unsafe { (self.api.hsa_agent_get_info)(agent, attribute, text.as_mut_ptr().cast()) };
        let end = text.iter().position(|b| *b == 0).unwrap_or(0);
        if status == HSA_STATUS_SUCCESS {
            String::from_utf8_lossy(&text[..end]).into_owned()
        } else {
            String::new()
        }
    }

    fn agent(&self, agent: hsa_agent_t) -> Result<Agent> {
        let kind: u32 = self.get(agent, HSA_AGENT_INFO_DEVICE);
        Ok(Agent {
            kind: match kind {
                0 => "CPU",
                1 => "GPU",
                _ => "other",
            },
            name: self.text(agent, HSA_AGENT_INFO_NAME),
            product: self.text(agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME),
            vendor: self.text(agent, HSA_AGENT_INFO_VENDOR_NAME),
            uuid: self.text(agent, HSA_AMD_AGENT_INFO_UUID),
            isas: self.isas(agent),
            node: self.get(agent, HSA_AGENT_INFO_NODE),
            compute_units: self.get(agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT),
            simds_per_compute_unit: self.get(agent, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU),
            waves_per_compute_unit: self.get(agent, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU),
            wavefront_size: self.get(agent, HSA_AGENT_INFO_WAVEFRONT_SIZE),
            max_workgroup_size: self.get(agent, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE),
            max_clock_mhz: self.get(agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY),
            max_queues: self.get(agent, HSA_AGENT_INFO_QUEUES_MAX),
            pools: self.pools(agent)?,
        })
    }

    fn isas(&self, agent: hsa_agent_t) -> Vec<String> {
        let mut isas: Vec<hsa_isa_t> = Vec::new();
        // SAFETY: `collect` is called with ISAs and this vector, during this call only. A CPU agent has none.
        let _ = unsafe {
            (self.api.hsa_agent_iterate_isas)(
                agent,
                Some(collect::<hsa_isa_t>),
                (&raw mut isas).cast(),
            )
        };
        let name = |isa: hsa_isa_t| {
            let mut length = 0_u32;
            // SAFETY: the length is a u32.
            let status = unsafe {
                (self.api.hsa_isa_get_info_alt)(
                    isa,
                    HSA_ISA_INFO_NAME_LENGTH,
                    (&raw mut length).cast(),
                )
            };
            // A length is not trusted beyond what a name can be.
            if status != HSA_STATUS_SUCCESS || length > 4096 {
                return None;
            }
            let mut text = vec![0_u8; length as usize + 1];
            // SAFETY: the buffer holds the length just read.
            let status = unsafe {
                (self.api.hsa_isa_get_info_alt)(isa, HSA_ISA_INFO_NAME, text.as_mut_ptr().cast())
            };
            let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
            (status == HSA_STATUS_SUCCESS)
                .then(|| String::from_utf8_lossy(&text[..end]).into_owned())
        };
        isas.into_iter().filter_map(name).collect()
    }

    fn pools(&self, agent: hsa_agent_t) -> Result<Vec<Pool>> {
        let mut pools: Vec<hsa_amd_memory_pool_t> = Vec::new();
        let callback = Some(collect::<hsa_amd_memory_pool_t> as unsafe extern "C" fn(_, _) -> _);
        // SAFETY: `collect` is called with pools and this vector, during this call only.
        let status = unsafe {
            (self.api.hsa_amd_agent_iterate_memory_pools)(agent, callback, (&raw mut pools).cast())
        };
        self.check("hsa_amd_agent_iterate_memory_pools", status)?;
        Ok(pools.into_iter().map(|pool| self.pool(pool)).collect())
    }

    fn pool(&self, pool: hsa_amd_memory_pool_t) -> Pool {
        let (mut segment, mut flags, mut size, mut granule) = (u32::MAX, 0_u32, 0_usize, 0_usize);
        let get = |attribute, value: *mut c_void| {
            // SAFETY: segment and flags are u32, size and granule size_t, as the pointers below. What is not known stays.
            let _ = unsafe { (self.api.hsa_amd_memory_pool_get_info)(pool, attribute, value) };
        };
        get(HSA_AMD_MEMORY_POOL_INFO_SEGMENT, (&raw mut segment).cast());
        get(
            HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
            (&raw mut flags).cast(),
        );
        get(HSA_AMD_MEMORY_POOL_INFO_SIZE, (&raw mut size).cast());
        get(
            HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE,
            (&raw mut granule).cast(),
        );
        let segment = match segment {
            0 => "global",
            1 => "readonly",
            2 => "private",
            3 => "group",
            _ => "unknown",
        };
        let names = [
            (1, "kernarg"),
            (2, "fine-grained"),
            (4, "coarse-grained"),
            (8, "extended-scope"),
        ];
        let flags = names
            .into_iter()
            .filter(|(bit, _)| flags & bit != 0)
            .map(|(_, name)| name)
            .collect();
        Pool {
            segment,
            flags,
            size,
            granule,
        }
    }
}

fn write_text(report: &Report, terminal: &Terminal, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "HSA {} from {}", report.hsa_version, report.library)?;
    let mut table = Table::new(
        0,
        &[
            ">agent", "kind", "name", "product", ">CUs", ">wave", ">MHz", ">memory", "ISA",
        ],
    );
    for (index, agent) in report.agents.iter().enumerate() {
        let memory = agent
            .pools
            .iter()
            .filter(|pool| pool.segment == "global")
            .map(|pool| pool.size)
            .max()
            .unwrap_or(0);
        table.row([
            index.to_string(),
            agent.kind.into(),
            agent.name.clone(),
            agent.product.clone(),
            agent.compute_units.to_string(),
            if agent.kind == "GPU" {
                agent.wavefront_size.to_string()
            } else {
                "-".into()
            },
            agent.max_clock_mhz.to_string(),
            bytes(memory),
            agent.isas.join(" "),
        ]);
    }
    table.write(out)?;
    if !terminal.verbose {
        return Ok(());
    }
    for (index, agent) in report.agents.iter().enumerate() {
        writeln!(
            out,
            "\n{}",
            terminal.bold(&format!("agent {index}: {}", agent.name))
        )?;
        writeln!(
            out,
            "  {}, node {}, {}",
            agent.vendor, agent.node, agent.uuid
        )?;
        writeln!(
            out,
            "  {} SIMDs and {} waves per compute unit, work-groups up to {}, {} queues",
            agent.simds_per_compute_unit,
            agent.waves_per_compute_unit,
            agent.max_workgroup_size,
            agent.max_queues
        )?;
        let mut table = Table::new(2, &["pool", ">size", ">granule", "flags"]);
        for pool in &agent.pools {
            table.row([
                pool.segment.into(),
                bytes(pool.size),
                bytes(pool.granule),
                pool.flags.join(" "),
            ]);
        }
        table.write(out)?;
    }
    Ok(())
}

/// A size in the largest unit that leaves at least one.
fn bytes(size: usize) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (0..units.len())
        .rev()
        .find(|unit| size >> (10 * unit) > 0)
        .unwrap_or(0);
    let whole = size as f64 / (1_u64 << (10 * unit)) as f64;
    if unit == 0 || size.trailing_zeros() as usize >= 10 * unit {
        format!("{} {}", size >> (10 * unit), units[unit])
    } else {
        format!("{whole:.1} {}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let all = [0, 1023, 1024, 65536, 1536 << 20, 64 << 30].map(bytes);
        assert_eq!(
            all,
            ["0 B", "1023 B", "1 KiB", "64 KiB", "1.5 GiB", "64 GiB"]
        );
    }
}
