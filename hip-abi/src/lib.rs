//! The HIP C ABI over the command-queue runtime.
