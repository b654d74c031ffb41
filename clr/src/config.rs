//! Settings, read once from the environment. The names and meanings of AMD's variables are kept.

use std::{path::PathBuf, time::Duration};

use gneiss_settings::parse;

use crate::HangAction;

/// Settings of a [`Runtime`](crate::Runtime).
#[derive(Clone, Debug)]
pub struct Config {
    /// `AMD_DIRECT_DISPATCH`: the enqueuing thread submits, instead of the worker pool. Default false.
    pub direct_dispatch: bool,
    /// `GPU_MAX_HW_QUEUES`: hardware queues of each priority. Default 4, at least 1.
    pub max_hw_queues: usize,
    /// `ROC_AQL_QUEUE_SIZE`: packets of a hardware queue, a power of two from 64. Default 4096.
    pub aql_queue_size: u32,
    /// `DEBUG_CLR_MAX_BATCH_SIZE`: commands in a batch. Default 1000.
    pub max_batch_size: usize,
    /// `ROC_CPU_WAIT_FOR_SIGNAL`: a dependency on submitted work of another queue is waited for by the host, instead of becoming a barrier
    /// packet. Default false.
    pub cpu_wait: bool,
    /// `AMD_SERIALIZE_KERNEL`: 1 waits before a kernel is enqueued, 2 after, 3 both. Default 0. `HIP_LAUNCH_BLOCKING` sets 2.
    pub serialize_kernel: u32,
    /// `AMD_SERIALIZE_COPY`: the same for copies.
    pub serialize_copy: u32,
    /// `ROC_ENABLE_LARGE_BAR`: use the host's access to device memory, where there is one. Default true.
    pub large_bar: bool,
    /// `HIP_HIDDEN_FREE_MEM`: MiB less than there are that count as free, in bytes here. Default 0.
    pub hidden_memory: usize,
    /// `HIP_VISIBLE_DEVICES` (else `CUDA_VISIBLE_DEVICES`): the text, if it is set and not empty.
    pub visible_devices: Option<String>,
    /// Profiling times for all commands, not only markers (`GPU_FORCE_QUEUE_PROFILING`). Default false.
    pub profile_all: bool,
    /// `ROC_GLOBAL_CU_MASK`: compute units that any queue may use, 32 to a word; empty: all.
    pub global_cu_mask: Vec<u32>,
    /// `GNEISS_HANG_TIMEOUT`: seconds without the end of any command after which waiting threads lead to a report; none: never. A suffix
    /// `ms`, `s` or `m` is understood, and `,fail` or `,abort` behind it says what follows the report.
    pub hang_timeout: Option<Duration>,
    /// What follows the report.
    pub hang_action: HangAction,
    /// `GNEISS_LIVE`: print the state of all queues at each `SIGUSR1`. Default false.
    pub live: bool,
    /// `GNEISS_TRACE`: a file to record into; `%p` stands for the process's number.
    pub trace: Option<PathBuf>,
    /// `GNEISS_TRACE_TIMES`: while recording, every command gets times of its own. Default true.
    pub trace_times: bool,
    /// No threads: somebody calls for each step (replay).
    #[doc(hidden)]
    pub manual: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            direct_dispatch: false,
            max_hw_queues: 4,
            aql_queue_size: 4096,
            max_batch_size: 1000,
            cpu_wait: false,
            serialize_kernel: 0,
            serialize_copy: 0,
            large_bar: true,
            hidden_memory: 0,
            visible_devices: None,
            profile_all: false,
            global_cu_mask: Vec::new(),
            hang_timeout: None,
            hang_action: HangAction::GoOn,
            live: false,
            trace: None,
            trace_times: true,
            manual: false,
        }
    }
}

impl Config {
    /// The settings that the environment asks for. A value that makes no sense counts as none: whoever must not go on with one asks
    /// [`gneiss_settings::check`] first, as the HIP and the HSA library do when they start.
    pub fn from_env() -> Self {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// As [`from_env`](Self::from_env), with the variables from a function.
    pub fn from_lookup(variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut config = Self::default();
        let number = |name: &str| -> Option<u64> { parse::number(&variable(name)?) };
        if let Some(value) = number("AMD_DIRECT_DISPATCH") {
            config.direct_dispatch = value != 0;
        }
        if let Some(value) = number("GPU_MAX_HW_QUEUES") {
            config.max_hw_queues = usize::try_from(value).unwrap_or(usize::MAX).clamp(1, 64);
        }
        if let Some(value) = number("ROC_AQL_QUEUE_SIZE") {
            config.aql_queue_size = u32::try_from(value.clamp(64, 131_072))
                .unwrap_or(4096)
                .next_power_of_two();
        }
        if let Some(value) = number("DEBUG_CLR_MAX_BATCH_SIZE") {
            config.max_batch_size = usize::try_from(value)
                .unwrap_or(usize::MAX)
                .clamp(1, 1 << 20);
        }
        if let Some(value) = number("ROC_CPU_WAIT_FOR_SIGNAL") {
            config.cpu_wait = value != 0;
        }
        if let Some(value) = number("AMD_SERIALIZE_KERNEL") {
            config.serialize_kernel |= (value & 3) as u32;
        }
        if let Some(value) = number("HIP_LAUNCH_BLOCKING").filter(|value| *value != 0) {
            let _ = value;
            config.serialize_kernel |= 2;
        }
        if let Some(value) = number("AMD_SERIALIZE_COPY") {
            config.serialize_copy |= (value & 3) as u32;
        }
        if let Some(value) = number("ROC_ENABLE_LARGE_BAR") {
            config.large_bar = value != 0;
        }
        if let Some(value) = number("HIP_HIDDEN_FREE_MEM") {
            config.hidden_memory = usize::try_from(value)
                .unwrap_or(usize::MAX)
                .saturating_mul(1 << 20);
        }
        if let Some(value) = number("GPU_FORCE_QUEUE_PROFILING") {
            config.profile_all = value != 0;
        }
        if let Some(text) = variable("ROC_GLOBAL_CU_MASK").filter(|text| !text.is_empty()) {
            config.global_cu_mask = parse::unit_bits(&text).unwrap_or_default();
        }
        if let Some((timeout, hang)) =
            variable("GNEISS_HANG_TIMEOUT").and_then(|text| parse::hang(&text))
        {
            config.hang_timeout = (!timeout.is_zero()).then_some(timeout);
            config.hang_action = match hang {
                parse::Hang::Continue => HangAction::GoOn,
                parse::Hang::Fail => HangAction::Fail,
                parse::Hang::Abort => HangAction::Abort,
            };
        }
        if let Some(value) = variable("GNEISS_LIVE").and_then(|text| parse::switch(&text)) {
            config.live = value;
        }
        if let Some(text) = variable("GNEISS_TRACE").filter(|text| !text.is_empty()) {
            config.trace = Some(text.replace("%p", &std::process::id().to_string()).into());
        }
        if let Some(value) = variable("GNEISS_TRACE_TIMES").and_then(|text| parse::switch(&text)) {
            config.trace_times = value;
        }
        config.visible_devices = variable("HIP_VISIBLE_DEVICES")
            .filter(|text| !text.is_empty())
            .or_else(|| variable("CUDA_VISIBLE_DEVICES").filter(|text| !text.is_empty()));
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hang_timeouts_have_units_and_an_action() {
        let hang = |text| {
            let config = config(&[("GNEISS_HANG_TIMEOUT", text)]);
            (config.hang_timeout, config.hang_action)
        };
        assert_eq!(
            hang("10s"),
            (Some(Duration::from_secs(10)), HangAction::GoOn)
        );
        assert_eq!(
            hang("250ms,fail"),
            (Some(Duration::from_millis(250)), HangAction::Fail)
        );
        assert_eq!(
            hang("2m,abort"),
            (Some(Duration::from_secs(120)), HangAction::Abort)
        );
        assert_eq!(hang("0"), (None, HangAction::GoOn));
        assert_eq!(hang("-1s"), (None, HangAction::GoOn));
        assert_eq!(hang("soon"), (None, HangAction::GoOn));
    }

    #[test]
    fn a_cu_mask_is_read_from_its_last_digit() {
        let mask = |text| config(&[("ROC_GLOBAL_CU_MASK", text)]).global_cu_mask;
        assert_eq!(mask("0xff"), [0xff]);
        assert_eq!(mask("1000000ff"), [0xff, 1]);
        assert_eq!(mask("0x0"), [0_u32; 0]);
        assert_eq!(mask("none"), [0_u32; 0]);
    }

    fn config(variables: &[(&str, &str)]) -> Config {
        Config::from_lookup(|name| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn values_out_of_range_are_clamped_and_nonsense_is_ignored() {
        let config = config(&[
            ("GPU_MAX_HW_QUEUES", "0"),
            ("ROC_AQL_QUEUE_SIZE", "100"),
            ("AMD_DIRECT_DISPATCH", "yes"),
            ("HIP_HIDDEN_FREE_MEM", "3"),
        ]);
        assert_eq!(config.max_hw_queues, 1);
        assert_eq!(config.aql_queue_size, 128);
        assert!(!config.direct_dispatch);
        assert_eq!(config.hidden_memory, 3 << 20);
    }

    #[test]
    fn launch_blocking_waits_after_kernels() {
        assert_eq!(config(&[("HIP_LAUNCH_BLOCKING", "1")]).serialize_kernel, 2);
        assert_eq!(
            config(&[("AMD_SERIALIZE_KERNEL", "1"), ("HIP_LAUNCH_BLOCKING", "1")]).serialize_kernel,
            3
        );
    }

    #[test]
    fn an_empty_visible_list_falls_back_to_cuda() {
        let config = config(&[("HIP_VISIBLE_DEVICES", ""), ("CUDA_VISIBLE_DEVICES", "1,0")]);
        assert_eq!(config.visible_devices.as_deref(), Some("1,0"));
    }
}
