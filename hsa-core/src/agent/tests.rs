//! Agents and pools of a machine with several NUMA nodes.

use super::*;
use crate::pool::{PoolId, PoolKind};

/// A value of an attribute.
fn info<T: Default>(agents: &Agents, id: AgentId, attribute: hsa_agent_info_t) -> T {
    let mut value = T::default();
    // SAFETY: callers name the type of the attribute.
    unsafe { agents.info(id, attribute, (&raw mut value).cast()) }
        .expect("an attribute of the agent");
    value
}

/// Hops and distance from an agent to a pool.
fn way(agents: &Agents, from: AgentId, to: PoolId) -> (u32, u32, u32) {
    let mut hops = u32::MAX;
    let mut link = hsa_amd_memory_pool_link_info_t {
        min_latency: 0,
        max_latency: 0,
        min_bandwidth: 0,
        max_bandwidth: 0,
        atomic_support_32bit: false,
        atomic_support_64bit: false,
        coherent_support: false,
        link_type: u32::MAX,
        numa_distance: u32::MAX,
    };
    // SAFETY: both values have the type of their attribute.
    unsafe {
        to.agent_info(
            agents,
            from,
            HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS,
            (&raw mut hops).cast(),
        )
        .expect("hops");
        to.agent_info(
            agents,
            from,
            HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO,
            (&raw mut link).cast(),
        )
        .expect("a link");
    }
    (hops, link.link_type, link.numa_distance)
}

#[test]
fn every_numa_node_is_an_agent() {
    let folder = numa::tests::two_nodes();
    let agents = Agents::discover(folder.path()).expect("agents");
    let ids: Vec<AgentId> = agents.ids().collect();
    let gpu = AgentId::of_gpu(0);
    assert_eq!(ids[..3], [AgentId::of_node(0), AgentId::of_node(1), gpu]);
    for (place, &id) in ids.iter().enumerate() {
        assert_eq!(agents.id(id.handle()), Ok(id));
        assert_eq!(info::<u32>(&agents, id, HSA_AGENT_INFO_NODE), place as u32);
    }
    let cores = |id| info::<u32>(&agents, id, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
    assert_eq!((cores(ids[0]), cores(ids[1])), (8, 4));
    let nearest = info::<hsa_agent_t>(&agents, gpu, HSA_AMD_AGENT_INFO_NEAREST_CPU);
    assert_eq!(nearest, ids[0].handle());
    assert_eq!(
        agents.id(AgentId::of_node(2).handle()),
        Err(HSA_STATUS_ERROR_INVALID_AGENT)
    );
}

#[test]
fn every_numa_node_has_its_pools() {
    let folder = numa::tests::two_nodes();
    let agents = Agents::discover(folder.path()).expect("agents");
    let limit = agents.system_memory;
    for (node, bytes) in [(0, 1u64 << 30), (1, 2 << 30)] {
        let pools: Vec<PoolId> = agents.pools(AgentId::of_node(node)).collect();
        let kinds: Vec<PoolKind> = pools.iter().map(|pool| pool.kind).collect();
        assert_eq!(kinds, [PoolKind::Fine, PoolKind::Kernarg, PoolKind::Coarse]);
        for pool in pools {
            assert_eq!(pool.size(&agents), bytes.min(limit));
            assert_eq!(PoolId::from_handle(&agents, pool.handle()), Some(pool));
        }
    }
    assert_eq!(agents.pools(AgentId::of_node(2)).count(), 0);
}

#[test]
fn distances_come_from_the_system() {
    let folder = numa::tests::two_nodes();
    let agents = Agents::discover(folder.path()).expect("agents");
    let pool = |agent| PoolId {
        agent,
        kind: PoolKind::Fine,
    };
    let (near, far, gpu) = (AgentId::of_node(0), AgentId::of_node(1), AgentId::of_gpu(0));
    assert_eq!(way(&agents, near, pool(near)).0, 0);
    assert_eq!(
        way(&agents, near, pool(far)),
        (1, HSA_AMD_LINK_INFO_TYPE_QPI, 21)
    );
    assert_eq!(
        way(&agents, gpu, pool(near)),
        (1, HSA_AMD_LINK_INFO_TYPE_PCIE, 20)
    );
    assert_eq!(
        way(&agents, gpu, pool(far)),
        (1, HSA_AMD_LINK_INFO_TYPE_PCIE, 31)
    );
}
