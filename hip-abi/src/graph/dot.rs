//! Graphs as drawings for Graphviz.

use std::{
    ffi::{CStr, OsStr, c_char},
    fmt::Write as _,
    os::unix::ffi::OsStrExt as _,
};

use gneiss_hip_abi_macros::hip_api;

use super::{Graph, operation::Operation, types::hipGraph_t};
use crate::{error::*, fail};

const VERBOSE: u32 = 1;
const KERNEL_PARAMS: u32 = 1 << 2;
const COPY_PARAMS: u32 = 1 << 3;
const FILL_PARAMS: u32 = 1 << 4;
const HOST_PARAMS: u32 = 1 << 5;
const EVENT_PARAMS: u32 = 1 << 6;
const HANDLES: u32 = 1 << 10;

/// Text for a label: quotes and newlines cannot end it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// What a node does, as far as the flags ask for it.
fn label(operation: &Operation, flags: u32) -> String {
    let wants = |flag| flags & (flag | VERBOSE) != 0;
    match operation {
        Operation::Kernel(kernel) => {
            let mut text = kernel.kernel.name().to_owned();
            if wants(KERNEL_PARAMS) {
                let (grid, block) = (kernel.grid, kernel.block);
                let _ = write!(
                    text,
                    "\ngrid {} {} {}\nblock {} {} {}\nshared {}",
                    grid.x, grid.y, grid.z, block.x, block.y, block.z, kernel.shared
                );
            }
            text
        }
        Operation::Copy(copy) if wants(COPY_PARAMS) => format!(
            "MEMCPY\n{:#x} to {:#x}\n{} bytes",
            copy.src, copy.dst, copy.size
        ),
        Operation::CopyRect(copy) if wants(COPY_PARAMS) => format!(
            "MEMCPY\n{:p} to {:p}\n{:?} bytes, rows, slices",
            copy.src.base, copy.dst.base, copy.extent
        ),
        Operation::Fill(fill) if wants(FILL_PARAMS) => format!(
            "MEMSET\n{:p}\nvalue {:#x}\n{} x {} elements of {} bytes",
            fill.params.dst,
            fill.params.value,
            fill.params.width,
            fill.params.height,
            fill.params.elementSize
        ),
        Operation::Host(host) if wants(HOST_PARAMS) => {
            format!("HOST\nfn {:p}\ndata {:#x}", host.function, host.data)
        }
        Operation::Record(event) | Operation::Wait(event) if wants(EVENT_PARAMS) => {
            format!("{}\nevent {:#x}", operation.word(), event.handle)
        }
        Operation::Allocate(allocation) => {
            format!(
                "MEM ALLOC\n{:#x}\n{} bytes",
                allocation.address, allocation.size
            )
        }
        Operation::Free(address) => format!("MEM FREE\n{address:#x}"),
        other => other.word().to_owned(),
    }
}

fn write(graph: &Graph, flags: u32, out: &mut String) {
    let id = graph.id;
    let _ = writeln!(
        out,
        "subgraph cluster_{id} {{\nlabel=\"graph_{id}\" graph[style=\"dashed\"];"
    );
    let mut children = Vec::new();
    for node in graph.nodes() {
        let operation = node.operation();
        let mut text = label(&operation, flags);
        if flags & (HANDLES | VERBOSE) != 0 {
            let _ = write!(text, "\nnode {:#x}", node.handle().addr());
        }
        let shape = match operation {
            Operation::Kernel(_) => "octagon",
            Operation::Copy(_) | Operation::CopyRect(_) => "trapezium",
            Operation::Fill(_) => "invtrapezium",
            _ => "rectangle",
        };
        let _ = writeln!(
            out,
            "\"graph_{id}_node_{}\"[style=\"bold\" shape=\"{shape}\" label=\"{}\"];",
            node.id,
            escaped(&text).replace('\n', "\\n")
        );
        if let Operation::Graph(child) = operation {
            children.push(child);
        }
    }
    for (from, to) in graph.edges() {
        let _ = writeln!(
            out,
            "\"graph_{id}_node_{}\" -> \"graph_{id}_node_{}\";",
            from.id, to.id
        );
    }
    out.push_str("}\n");
    for child in children {
        write(&child, flags, out);
    }
}

/// The drawing of a graph.
pub fn drawing(graph: &Graph, flags: u32) -> String {
    let mut out = String::from("digraph dot {\n");
    write(graph, flags, &mut out);
    out.push_str("}\n");
    out
}

/// Writes a graph as a drawing for Graphviz.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphDebugDotPrint(
    graph: hipGraph_t,
    path: *const c_char,
    flags: u32,
) -> hipError_t {
    if path.is_null() {
        return fail!(hipErrorInvalidValue, "no path");
    }
    let graph = super::find(graph)?;
    // SAFETY: not null; the caller promises a terminated string.
    let path = OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes());
    match std::fs::write(path, drawing(&graph, flags)) {
        Ok(()) => Ok(()),
        Err(error) => fail!(hipErrorOperatingSystem, "{}: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_edges_are_drawn() {
        let graph = Graph::new(false, None);
        let a = graph.add(Operation::Empty, &[]).unwrap();
        let b = graph
            .add(Operation::Empty, std::slice::from_ref(&a))
            .unwrap();
        let text = drawing(&graph, 0);
        let edge = format!(
            "\"graph_{0}_node_{1}\" -> \"graph_{0}_node_{2}\";",
            graph.id, a.id, b.id
        );
        assert!(text.starts_with("digraph dot {\n"), "{text}");
        assert!(text.contains(&edge), "{text}");
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert_eq!(escaped("a\"b"), "a\\\"b");
    }
}
