//! Tools that put themselves between a program and the runtime.
//!
//! `HSA_TOOLS_LIB` names libraries, separated by spaces, commas or colons; a loaded object that exports `HSA_AMD_TOOL_PRIORITY` is a tool,
//! too, and comes first, by that number. Each tool's `OnLoad` gets the tables of functions ([`crate::interface`]) and may change them;
//! `OnUnload` is called at the last shutdown, in the reverse order. A tool that cannot be loaded, or that says false, is reported if
//! `HSA_TOOLS_REPORT_LOAD_FAILURE` is 1, and the program goes on without it, as in ROCr.

use std::{
    env,
    ffi::{CStr, CString, c_char, c_void},
    path::Path,
};

use crate::{
    interface::{self, Tables},
    log::complain,
    objects,
};

type OnLoad = unsafe extern "C" fn(
    table: *mut Tables,
    runtime_version: u64,
    failed_tool_count: u64,
    failed_tool_names: *const *const c_char,
) -> bool;
type OnUnload = unsafe extern "C" fn();

/// A tool that was loaded, and the tables that it was given.
#[derive(Debug)]
struct Tool {
    handle: *mut c_void,
}

/// The tools of a runtime.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    loaded: Vec<Tool>,
}

// SAFETY: handles of libraries are addresses that any thread may pass to the dynamic linker.
unsafe impl Send for Tools {}

/// A version of the interface that `OnLoad` is told: 1.1 of HSA.
const RUNTIME_VERSION: u64 = 1;

/// The names in `HSA_TOOLS_LIB`.
fn names(list: &str) -> Vec<String> {
    list.split([' ', ',', ':'])
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Objects of the process that say that they are tools, with their priorities, lowest number first.
fn present() -> Vec<(u32, CString)> {
    let mut tools = Vec::new();
    for name in objects::loaded() {
        // SAFETY: the object is loaded already, so nothing is initialised; the symbol, if there, is a 32-bit number by convention.
        unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
            if handle.is_null() {
                continue;
            }
            let priority = libc::dlsym(handle, c"HSA_AMD_TOOL_PRIORITY".as_ptr()).cast::<u32>();
            if !priority.is_null() {
                tools.push((priority.read_unaligned(), name));
            }
            libc::dlclose(handle);
        }
    }
    tools.sort_by_key(|(priority, _)| *priority);
    tools
}

fn report(text: &str) {
    if env::var("HSA_TOOLS_REPORT_LOAD_FAILURE").is_ok_and(|value| value == "1") {
        complain(text);
    } else {
        tracing::warn!(text, "tool not loaded");
    }
}

/// The message of the dynamic linker.
fn linker_error() -> String {
    // SAFETY: the text is valid until this thread's next call of the dynamic linker.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            "no reason given".to_owned()
        } else {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }
}

impl Tools {
    /// Loads the tools that there are. The runtime is usable, for tools call it in `OnLoad`.
    pub(crate) fn load() -> Self {
        let mut wanted: Vec<CString> = present().into_iter().map(|(_, name)| name).collect();
        for name in names(&env::var("HSA_TOOLS_LIB").unwrap_or_default()) {
            let same = |other: &CString| Path::new(&*other.to_string_lossy()) == Path::new(&name);
            if !wanted.iter().any(same) {
                wanted.extend(CString::new(name));
            }
        }
        let mut tools = Tools::default();
        if wanted.is_empty() {
            return tools;
        }
        // Tools keep the address.
        let tables: &'static mut Tables = Box::leak(Box::new(Tables::filled()));
        for name in wanted {
            tools.load_one(&name, tables);
        }
        tools
    }

    fn load_one(&mut self, name: &CStr, tables: *mut Tables) {
        let text = name.to_string_lossy();
        // SAFETY: the user names a tool: its initialisers run. Its functions have the signatures of the convention.
        unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_LAZY);
            if handle.is_null() {
                report(&format!(
                    "HSA tool {text} cannot be loaded: {}",
                    linker_error()
                ));
                return;
            }
            let function = libc::dlsym(handle, c"OnLoad".as_ptr());
            if function.is_null() {
                report(&format!("HSA tool {text} has no function OnLoad"));
                libc::dlclose(handle);
                return;
            }
            let function: OnLoad = std::mem::transmute(function);
            if function(tables, RUNTIME_VERSION, 0, std::ptr::null()) {
                tracing::info!(tool = %text, "tool loaded");
                self.loaded.push(Tool { handle });
            } else {
                report(&format!("HSA tool {text} does not want to be used"));
                libc::dlclose(handle);
            }
        }
    }

    /// Tells the tools that it is over, and takes them out.
    pub(crate) fn unload(self) {
        let any = !self.loaded.is_empty();
        for tool in self.loaded.iter().rev() {
            // SAFETY: the tool is loaded, and the function has this signature by convention.
            unsafe {
                let function = libc::dlsym(tool.handle, c"OnUnload".as_ptr());
                if !function.is_null() {
                    let function: OnUnload = std::mem::transmute(function);
                    function();
                }
            }
        }
        if any {
            interface::clear();
        }
        // The libraries stay: a thread may be in one of their functions at this moment.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_may_be_separated_in_three_ways() {
        assert_eq!(
            names("a.so b.so,c.so:d.so"),
            ["a.so", "b.so", "c.so", "d.so"]
        );
        assert!(names(" ,: ").is_empty());
    }
}
