//! What a program has not released, reported at its end when `GNEISS_OPENCL_LEAKS=1` asks for it.

use std::sync::Once;

use crate::{
    context::Context, event::Event, handle::Object, kernel::Kernel, memory::Mem, program::Program,
    queue::Queue, sampler::Sampler,
};

/// Has the report printed at the end of the process, if it is wanted.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if gneiss_settings::switch("GNEISS_OPENCL_LEAKS") == Some(true) {
            // SAFETY: a plain registration of a function of this file, which the process keeps: the library is never unloaded.
            unsafe { libc::atexit(report) };
        }
    });
}

fn count<T: Object>(name: &str) -> Option<String> {
    match T::table().live() {
        0 => None,
        1 => Some(format!("1 {name}")),
        count => Some(format!("{count} {name}s")),
    }
}

extern "C" fn report() {
    let kinds = [
        count::<Context>("context"),
        count::<Queue>("command queue"),
        count::<Mem>("memory object"),
        count::<Sampler>("sampler"),
        count::<Program>("program"),
        count::<Kernel>("kernel"),
        count::<Event>("event"),
    ];
    let list: Vec<String> = kinds.into_iter().flatten().collect();
    if list.is_empty() {
        eprintln!("gneiss: OpenCL: everything was released");
    } else {
        eprintln!("gneiss: OpenCL: not released: {}", list.join(", "));
    }
}
