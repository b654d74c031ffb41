//! Handles: 64-bit values in a structure of their own, as in C. 0 means none. The handle of a signal is the address of its
//! [`amd_signal_t`](crate::amd_signal_t); all others are opaque.

/// Defines handle types.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name {
                /// The value; 0 means none.
                pub handle: u64,
            }
            const _: () = assert!(size_of::<$name>() == 8 && align_of::<$name>() == 8);
        )*
    };
}

handles! {
    /// A CPU or a GPU.
    hsa_agent_t;
    /// A data cache of an agent.
    hsa_cache_t;
    /// A signal: the address of its `amd_signal_t`.
    hsa_signal_t;
    /// A group of signals to wait on.
    hsa_signal_group_t;
    /// A memory region, in the view of the core specification.
    hsa_region_t;
    /// A memory pool: AMD's view of a region.
    hsa_amd_memory_pool_t;
    /// An instruction set architecture.
    hsa_isa_t;
    /// A wavefront size of an instruction set architecture.
    hsa_wavefront_t;
    /// A source of a code object.
    hsa_code_object_reader_t;
    /// A set of loaded code objects.
    hsa_executable_t;
    /// One code object in an executable.
    hsa_loaded_code_object_t;
    /// A symbol of an executable.
    hsa_executable_symbol_t;
    /// A code object of the deprecated interface.
    hsa_code_object_t;
    /// A symbol of a code object of the deprecated interface.
    hsa_code_symbol_t;
    /// What a user's allocation callback is given.
    hsa_callback_data_t;
    /// An image.
    hsa_ext_image_t;
    /// A sampler.
    hsa_ext_sampler_t;
    /// An HSAIL program.
    hsa_ext_program_t;
    /// Physical memory of the virtual memory interface.
    hsa_amd_vmem_alloc_handle_t;
    /// A session of PC sampling.
    hsa_ven_amd_pcs_t;
}
