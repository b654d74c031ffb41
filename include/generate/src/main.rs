//! Writes `include/gneiss/hip.h` anew.

use std::process::ExitCode;

fn main() -> ExitCode {
    let path = gneiss_headers::header_path();
    match gneiss_headers::header().and_then(|text| std::fs::write(&path, text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
