//! Messages to the person who runs the program: on stderr, never on stdout.
//!
//! `GNEISS_LOG` takes a filter like `debug` or `gneiss_hsa_core=trace`; else `AMD_LOG_LEVEL` 1 to 4 means error to debug; else
//! nothing is printed but what [`complain`] says.

use std::{io, sync::Once};

use tracing_subscriber::{EnvFilter, filter::LevelFilter};

/// Starts logging, once per process, if the environment asks for it and nobody else has.
pub(crate) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let filter = match gneiss_settings::text("GNEISS_LOG") {
            Some(filter) => EnvFilter::new(filter),
            None => {
                let level = match gneiss_settings::text("AMD_LOG_LEVEL")
                    .and_then(|level| gneiss_settings::parse::number(&level))
                {
                    None | Some(0) => return,
                    Some(1) => LevelFilter::ERROR,
                    Some(2) => LevelFilter::WARN,
                    Some(3) => LevelFilter::INFO,
                    Some(_) => LevelFilter::DEBUG,
                };
                EnvFilter::default().add_directive(level.into())
            }
        };
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr)
            .with_ansi(false);
        // A program that links the crate may have a subscriber of its own; then that one is used.
        let _ = subscriber.try_init();
    });
}

/// Says something that the user must know: a setting that cannot be used, a fault.
pub(crate) fn complain(message: &str) {
    eprintln!("gneiss: {message}");
}
