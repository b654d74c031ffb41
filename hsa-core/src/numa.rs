//! The NUMA nodes of the host, from the system's folder about them (`/sys/devices/system/node`).
//!
//! Each node with processors is a CPU agent, as in ROCr, where the driver's topology lists the same nodes; a node with memory alone has no
//! agent there either. A machine that says nothing about nodes has one. What the files say is text of the system: what cannot be read
//! counts as not said, and never as an error.

use std::{fs, path::Path};

/// Where the system describes its nodes.
pub(crate) const SYSFS: &str = "/sys/devices/system/node";

/// Most nodes that become agents; more are left out.
pub(crate) const MAX_NODES: usize = 64;

/// Distance of a node to itself, by the convention of ACPI.
pub(crate) const LOCAL: u32 = 10;
/// Distance of a node to another one, where the system does not say.
const REMOTE: u32 = 20;

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Hardware threads that this process may use.
    pub(crate) cores: u32,
    /// Bytes of memory that this process may use.
    pub(crate) memory: u64,
    /// Distance to each node, in the order of the agents.
    pub(crate) distances: Vec<u32>,
}

/// The nodes below `folder`. `cores` and `memory` are what the process may use of the whole machine.
pub(crate) fn nodes(folder: &Path, cores: u32, memory: u64) -> Vec<Node> {
    let read = |path: &str| fs::read_to_string(folder.join(path)).unwrap_or_default();
    // Distances stand in the order of all nodes that are online, memory without processors included.
    let online = numbers(&read("online"));
    let found: Vec<(usize, Node)> = online
        .iter()
        .enumerate()
        .filter_map(|(at, number)| {
            let processors = numbers(&read(&format!("node{number}/cpulist"))).len();
            let bytes = total(&read(&format!("node{number}/meminfo")))?;
            let node = Node {
                cores: u32::try_from(processors).ok()?,
                memory: bytes.min(memory),
                distances: read(&format!("node{number}/distance"))
                    .split_whitespace()
                    .map_while(|text| text.parse().ok())
                    .collect(),
            };
            (processors > 0).then_some((at, node))
        })
        .take(MAX_NODES)
        .collect();
    if found.len() < 2 {
        return vec![Node {
            cores,
            memory,
            distances: vec![LOCAL],
        }];
    }
    let places: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
    found
        .into_iter()
        .map(|(own, node)| Node {
            distances: places
                .iter()
                .map(|&at| match node.distances.get(at) {
                    _ if at == own => LOCAL,
                    Some(&distance) => distance,
                    None => REMOTE,
                })
                .collect(),
            ..node
        })
        .collect()
}

/// The numbers of a list like `0-3,8`; of what is no list, none.
fn numbers(list: &str) -> Vec<u32> {
    /// More than any machine has; keeps a broken file from filling memory.
    const MOST: u32 = 1 << 16;
    let mut all = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            all.extend(first..=last.min(MOST));
        }
    }
    all
}

/// Bytes of a node's memory, from its `meminfo`.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.contains("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().rev().nth(1)?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A folder like the system's, with two nodes that have processors and one, between them, with memory alone.
    pub(crate) fn two_nodes() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("online", "0-2\n");
        for (number, processors, kilobytes, distance) in [
            (0, "0-3,8-11", 1 << 20, "10 17 21"),
            (1, "", 1 << 22, "17 10 28"),
            (2, "4-7", 1 << 21, "21 28 10"),
        ] {
            write(&format!("node{number}/cpulist"), &format!("{processors}\n"));
            write(&format!("node{number}/distance"), &format!("{distance}\n"));
            write(
                &format!("node{number}/meminfo"),
                &format!(
                    "Node {number} MemTotal:       {kilobytes} kB\nNode {number} MemFree: 1 kB\n"
                ),
            );
        }
        folder
    }

    #[test]
    fn nodes_with_processors_are_read() {
        let folder = two_nodes();
        let nodes = nodes(folder.path(), 12, 3 << 30);
        let expected = [(8, 1 << 30, vec![10, 21]), (4, 2 << 30, vec![21, 10])];
        let expected = expected.map(|(cores, memory, distances)| Node {
            cores,
            memory,
            distances,
        });
        assert_eq!(nodes, expected);
    }

    #[test]
    fn a_limit_of_the_process_holds_for_each_node() {
        let folder = two_nodes();
        let memory: Vec<u64> = nodes(folder.path(), 12, 1 << 29)
            .iter()
            .map(|node| node.memory)
            .collect();
        assert_eq!(memory, [1 << 29, 1 << 29]);
    }

    #[test]
    fn a_machine_that_says_nothing_has_one_node() {
        let one = [Node {
            cores: 6,
            memory: 1 << 32,
            distances: vec![LOCAL],
        }];
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(nodes(folder.path(), 6, 1 << 32), one);
        fs::write(folder.path().join("online"), "0-\n").expect("a file");
        assert_eq!(nodes(folder.path(), 6, 1 << 32), one);
    }

    #[test]
    fn distances_that_are_not_told_are_remote() {
        let folder = two_nodes();
        fs::write(folder.path().join("node0/distance"), "10\n").expect("a file");
        let nodes = nodes(folder.path(), 12, 3 << 30);
        assert_eq!(nodes[0].distances, [LOCAL, REMOTE]);
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(numbers("0-2,5,7-8\n"), [0, 1, 2, 5, 7, 8]);
        assert_eq!(numbers(""), []);
        assert_eq!(numbers("3-1,x,-,4"), [4]);
        assert_eq!(numbers("0-4000000000").len(), (1 << 16) + 1);
    }
}
