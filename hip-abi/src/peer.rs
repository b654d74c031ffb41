//! Several devices: access to each other's memory, copies between them.

use std::ffi::c_void;

use gneiss_hip_abi_macros::hip_api;

use crate::{
    copy::{self, Host},
    copy_rect::NULL_STREAM,
    enums::*,
    error::*,
    fail,
    runtime::{self, hip_error},
    types::*,
    version::{self, Major},
};

/// Whether a device can access another's memory. A device is no peer of itself.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceCanAccessPeer(
    canAccessPeer: *mut i32,
    deviceId: i32,
    peerDeviceId: i32,
) -> hipError_t {
    if canAccessPeer.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the answer");
    }
    let (device, peer) = (runtime::device(deviceId)?, runtime::device(peerDeviceId)?);
    let can = device.ordinal != peer.ordinal && device.clr.can_access_peer(&peer.clr);
    // SAFETY: not null; the caller promises a valid place.
    unsafe { canAccessPeer.write(i32::from(can)) };
    Ok(())
}

pub(crate) fn enable(peer: i32, flags: u32) -> HipResult {
    if flags != 0 {
        return fail!(hipErrorInvalidValue, "flags {flags:#x}: must be 0");
    }
    let (device, peer) = (runtime::current()?, runtime::device(peer)?);
    if device.ordinal == peer.ordinal {
        return fail!(hipErrorInvalidDevice, "a device is no peer of itself");
    }
    let mut peers = device.peers.lock();
    if peers.contains(&peer.ordinal) {
        return fail!(
            hipErrorPeerAccessAlreadyEnabled,
            "device {} may already access device {}",
            device.ordinal,
            peer.ordinal
        );
    }
    if !device.clr.can_access_peer(&peer.clr) {
        return fail!(
            hipErrorPeerAccessUnsupported,
            "device {} can't access device {}",
            device.ordinal,
            peer.ordinal
        );
    }
    device
        .clr
        .set_peer_access(&peer.clr, true)
        .map_err(hip_error)?;
    peers.push(peer.ordinal);
    Ok(())
}

pub(crate) fn disable(peer: i32) -> HipResult {
    let (device, peer) = (runtime::current()?, runtime::device(peer)?);
    let mut peers = device.peers.lock();
    let Some(place) = peers.iter().position(|ordinal| *ordinal == peer.ordinal) else {
        return fail!(
            hipErrorPeerAccessNotEnabled,
            "device {} may not access device {}",
            device.ordinal,
            peer.ordinal
        );
    };
    device
        .clr
        .set_peer_access(&peer.clr, false)
        .map_err(hip_error)?;
    peers.swap_remove(place);
    Ok(())
}

/// Lets the current device access another's memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceEnablePeerAccess(peerDeviceId: i32, flags: u32) -> hipError_t {
    enable(peerDeviceId, flags)
}

/// Ends the current device's access to another's memory.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceDisablePeerAccess(peerDeviceId: i32) -> hipError_t {
    disable(peerDeviceId)
}

/// Tells about the link between two devices.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetP2PAttribute(
    value: *mut i32,
    attr: hipDeviceP2PAttr,
    srcDevice: i32,
    dstDevice: i32,
) -> hipError_t {
    if value.is_null() {
        return fail!(hipErrorInvalidValue, "no place for the answer");
    }
    if srcDevice == dstDevice {
        return fail!(hipErrorInvalidDevice, "one device twice: {srcDevice}");
    }
    let (from, to) = (runtime::device(srcDevice)?, runtime::device(dstDevice)?);
    let can = i32::from(from.clr.can_access_peer(&to.clr));
    let answer = match attr {
        hipDevP2PAttrPerformanceRank => 1,
        hipDevP2PAttrAccessSupported
        | hipDevP2PAttrNativeAtomicSupported
        | hipDevP2PAttrHipArrayAccessSupported => can,
        _ => return fail!(hipErrorInvalidValue, "attribute {attr} does not exist"),
    };
    // SAFETY: not null; the caller promises a valid place.
    unsafe { value.write(answer) };
    Ok(())
}

/// Gives the kind of the link between two devices (2: PCIe) and its hops.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtGetLinkTypeAndHopCount(
    device1: i32,
    device2: i32,
    linktype: *mut u32,
    hopcount: *mut u32,
) -> hipError_t {
    const LINK_PCIE: u32 = 2;
    if linktype.is_null() || hopcount.is_null() || device1 == device2 {
        return fail!(
            hipErrorInvalidValue,
            "no place for the answer, or one device twice"
        );
    }
    if device1 < 0 || device2 < 0 {
        return fail!(hipErrorInvalidValue, "devices {device1} and {device2}");
    }
    let (first, second) = (runtime::device(device1)?, runtime::device(device2)?);
    if !first.clr.can_access_peer(&second.clr) {
        return fail!(hipErrorInvalidValue, "the devices have no link");
    }
    // SAFETY: not null; the caller promises valid places.
    unsafe {
        linktype.write(LINK_PCIE);
        hopcount.write(1);
    }
    Ok(())
}

/// Copies between devices' memories; where the memories are follows from the pointers. The copy is in the null stream of the current device. With
/// HIP 5 (5.2.3) the host waits for it; later, what comes in the null stream of the destination's device does (`hip_peer.cpp` of AMD's runtime).
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyPeer(
    dst: *mut c_void,
    dstDeviceId: i32,
    src: *const c_void,
    srcDeviceId: i32,
    sizeBytes: usize,
) -> hipError_t {
    runtime::device(dstDeviceId)?;
    runtime::device(srcDeviceId)?;
    copy::copy(
        dst,
        src,
        sizeBytes,
        hipMemcpyDeviceToDevice,
        NULL_STREAM,
        if version::presented() == Major::Five {
            Host::Waits
        } else {
            Host::OrdersNullStreams
        },
    )
}

/// Copies between devices' memories in stream order.
#[hip_api]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyPeerAsync(
    dst: *mut c_void,
    dstDeviceId: i32,
    src: *const c_void,
    srcDevice: i32,
    sizeBytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    runtime::device(dstDeviceId)?;
    runtime::device(srcDevice)?;
    copy::copy(
        dst,
        src,
        sizeBytes,
        hipMemcpyDeviceToDevice,
        stream,
        Host::GoesOn,
    )
}
