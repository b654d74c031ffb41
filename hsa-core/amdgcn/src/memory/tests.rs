//! Tests of the guest map, its caches and its waiting for readers.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::*;

fn mapping(base: u64, len: u64) -> Mapping {
    let host = std::ptr::without_provenance_mut((base + 0x1000_0000) as usize);
    Mapping {
        base,
        len,
        host,
        rights: Rights::READ | Rights::WRITE,
        allocation: base,
    }
}

fn insert(map: &GuestMap, mapping: Mapping) -> Result<(), Mapping> {
    // SAFETY: no test dereferences what these mappings resolve to, unless it owns the memory.
    unsafe { map.insert(mapping) }
}

#[test]
fn finds_exactly_the_bytes_of_each_mapping() {
    let map = GuestMap::default();
    for i in [7u64, 1, 30, 2, 11, 12, 3, 29, 0, 18, 4, 22, 5] {
        insert(&map, mapping(0x1000 * i, 0x10 + i)).unwrap();
    }
    assert_eq!(map.len(), 13);
    for i in [7u64, 1, 30, 2, 11, 12, 3, 29, 0, 18, 4, 22, 5] {
        let base = 0x1000 * i;
        assert_eq!(map.find(base).unwrap().base, base);
        assert_eq!(map.find(base + 0xf + i).unwrap().base, base);
        assert_eq!(
            map.find(base + 0x10 + i),
            None,
            "one past the end of {base:#x}"
        );
        if i > 0 {
            assert_eq!(map.find(base - 1), None);
        }
    }
    for i in [1u64, 0, 30, 12, 11, 7, 2, 3, 4, 5, 18, 22, 29] {
        assert_eq!(map.remove(0x1000 * i).unwrap().len, 0x10 + i);
        assert_eq!(map.remove(0x1000 * i), None);
    }
    assert!(map.is_empty());
}

#[test]
fn refuses_overlaps_and_nonsense() {
    let map = GuestMap::default();
    insert(&map, mapping(0x1000, 0x1000)).unwrap();
    assert_eq!(insert(&map, mapping(0x1fff, 1)).unwrap_err().base, 0x1000);
    assert_eq!(insert(&map, mapping(0x0fff, 2)).unwrap_err().base, 0x1000);
    assert_eq!(
        insert(&map, mapping(0x0800, 0x4000)).unwrap_err().base,
        0x1000
    );
    assert!(insert(&map, mapping(0x5000, 0)).is_err());
    assert!(
        insert(
            &map,
            Mapping {
                base: u64::MAX - 3,
                ..mapping(0, 8)
            }
        )
        .is_err()
    );
    insert(&map, mapping(0x0fff, 1)).unwrap();
    insert(&map, mapping(0x2000, 1)).unwrap();
}

#[test]
fn remembers_what_was_around_and_what_was_freed() {
    let map = GuestMap::default();
    for base in [0x1000, 0x3000, 0x5000] {
        insert(&map, mapping(base, 0x100)).unwrap();
    }
    map.remove(0x3000).unwrap();
    let around = map.neighbourhood(0x3010);
    assert_eq!(around.before.unwrap().base, 0x1000);
    assert_eq!(around.after.unwrap().base, 0x5000);
    assert_eq!(around.freed.unwrap().base, 0x3000);
    assert_eq!(map.neighbourhood(0x10).before, None);
    assert_eq!(map.neighbourhood(0x10).after.unwrap().base, 0x1000);
    assert_eq!(map.neighbourhood(0x9000).after, None);
}

#[test]
fn knows_host_addresses_that_the_device_has_elsewhere() {
    let map = GuestMap::default();
    let at = |base: u64, host: usize| Mapping {
        host: std::ptr::without_provenance_mut(host),
        ..mapping(base, 0x100)
    };
    insert(&map, at(0x1000, 0x1000)).unwrap();
    insert(&map, at(0x3000, 0x8000)).unwrap();
    assert_eq!(map.neighbourhood(0x80ff).pinned.unwrap().base, 0x3000);
    assert_eq!(map.neighbourhood(0x8100).pinned, None);
    assert_eq!(map.neighbourhood(0x1010).pinned, None);
}

#[test]
fn a_cache_sees_changes_at_the_next_slice_and_checks_rights() {
    let map = GuestMap::default();
    insert(&map, mapping(0x1000, 0x100)).unwrap();
    insert(
        &map,
        Mapping {
            rights: Rights::READ,
            ..mapping(0x2000, 0x100)
        },
    )
    .unwrap();
    let mut cache = MapCache::default();
    {
        let slice = cache.begin(&map);
        assert_eq!(
            slice.cache.read(1, 0x1010, 0xf0).unwrap().addr(),
            0x1000_1010
        );
        assert_eq!(
            slice.cache.read(1, 0x1010, 0xf1).unwrap_err().address,
            0x1100
        );
        assert_eq!(slice.cache.write(1, 0x10f8, 8).unwrap().addr(), 0x1000_10f8);
        assert_eq!(
            slice.cache.write(1, 0x10f9, 8).unwrap_err(),
            MemoryFault {
                address: 0x1100,
                size: 8,
                write: true
            }
        );
        slice.cache.read(2, 0x2000, 4).unwrap();
        assert_eq!(slice.cache.write(2, 0x2000, 4).unwrap_err().address, 0x2000);
        assert_eq!(
            slice.cache.read(3, u64::MAX, 4).unwrap_err().address,
            u64::MAX
        );
    }
    map.remove(0x1000).unwrap();
    assert_eq!(
        map.set_rights(0x2000, Rights::READ | Rights::WRITE),
        Some(Rights::READ)
    );
    let slice = cache.begin(&map);
    assert!(slice.cache.read(1, 0x1010, 4).is_err());
    slice.cache.write(2, 0x2000, 4).unwrap();
}

#[test]
fn one_cache_serves_two_maps() {
    let maps = [GuestMap::default(), GuestMap::default()];
    insert(&maps[0], mapping(0x1000, 0x100)).unwrap();
    let mut cache = MapCache::default();
    cache.begin(&maps[0]).cache.read(0, 0x1000, 4).unwrap();
    assert!(cache.begin(&maps[1]).cache.read(0, 0x1000, 4).is_err());
    cache.begin(&maps[0]).cache.read(0, 0x1000, 4).unwrap();
}

#[test]
fn removal_waits_for_readers() {
    let map = Arc::new(GuestMap::default());
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (map, stop) = (map.clone(), stop.clone());
            std::thread::spawn(move || {
                let mut cache = MapCache::default();
                let mut hits = 0u64;
                while !stop.load(Ordering::Relaxed) {
                    let slice = cache.begin(&map);
                    for _ in 0..50 {
                        if let Ok(host) = slice.cache.read(0, 0x1000, 8) {
                            // SAFETY: the memory lives until `remove` returns, and that waits for this slice.
                            let value = unsafe { host.cast::<u64>().read_volatile() };
                            assert_eq!(value, 0x5a5a);
                            hits += 1;
                        }
                    }
                }
                hits
            })
        })
        .collect();
    for _ in 0..300 {
        let mut cell = Box::new(0x5a5a_u64);
        let host = (&raw mut *cell).cast::<u8>();
        let mapping = Mapping {
            base: 0x1000,
            len: 8,
            host,
            rights: Rights::READ,
            allocation: 1,
        };
        // SAFETY: the box outlives the mapping.
        unsafe { map.insert(mapping) }.unwrap();
        std::thread::yield_now();
        map.remove(0x1000).unwrap();
        // SAFETY: as long as the box lives; a reader that is still there would see this and fail.
        unsafe { host.cast::<u64>().write_volatile(0xdead) };
    }
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.join().unwrap();
    }
}
