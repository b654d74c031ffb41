//! SIMD levels: which instantiation of the handlers runs, chosen once per process.

use std::sync::OnceLock;

/// A SIMD level of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Baseline x86-64.
    Portable,
    /// AVX2, FMA, F16C, BMI.
    Avx2,
    /// AVX-512 F, BW, DQ, VL.
    Avx512,
}

impl Level {
    /// The best level that this host has.
    pub fn detect() -> Self {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        match (avx512, avx2) {
            (true, _) => Self::Avx512,
            (false, true) => Self::Avx2,
            _ => Self::Portable,
        }
    }

    /// The level in use: what `GNEISS_SIMD` says (`portable`, `avx2`, `avx512`), but never above what the host has.
    pub fn current() -> Self {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let best = Self::detect();
            match gneiss_settings::text("GNEISS_SIMD").as_deref() {
                Some("portable") => Self::Portable,
                Some("avx2") => best.min(Self::Avx2),
                _ => best,
            }
        })
    }
}
