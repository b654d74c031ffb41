//! The command-queue runtime: commands, host queues, virtual GPUs.
