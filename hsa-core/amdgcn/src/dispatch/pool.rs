//! The pool of dispatch objects.

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use crossbeam_queue::ArrayQueue;
use parking_lot::Mutex;

use crate::{
    engine::{DispatchClient, DispatchInfo, Engine},
    fault::{Fault, FaultKind},
    launch::LaunchPlan,
    wave_sync::GridBarrier,
};

use super::{Dispatch, Job};

/// `GNEISS_KERNEL_TIMEOUT`.
static TIMEOUT: LazyLock<Option<Duration>> = LazyLock::new(|| {
    gneiss_settings::text("GNEISS_KERNEL_TIMEOUT")
        .and_then(|text| gneiss_settings::parse::time(&text))
        .filter(|time| !time.is_zero())
});

/// All dispatch objects of the engine.
#[derive(Debug)]
pub(crate) struct Dispatches {
    /// Closed objects. One that does not fit is dropped.
    free: ArrayQueue<Arc<Dispatch>>,
    /// Every object that was ever made, for `cancel`. Changes only when the pool grows.
    all: Mutex<Vec<Arc<Dispatch>>>,
}

impl Default for Dispatches {
    fn default() -> Self {
        Self {
            free: ArrayQueue::new(4096),
            all: Mutex::default(),
        }
    }
}

impl Dispatches {
    /// Makes a dispatch ready to run. One that cannot run is made all the same, stopped with the reason.
    pub(crate) fn start(
        &self,
        engine: &Arc<Engine>,
        info: DispatchInfo,
        client: Arc<dyn DispatchClient>,
        token: u64,
    ) {
        let (plan, refused) = match LaunchPlan::new(engine, &info) {
            Ok(plan) => (plan, None),
            Err(fault) => (LaunchPlan::nothing(), Some(fault)),
        };
        let deadline = TIMEOUT.map(|timeout| Instant::now() + timeout);
        let dispatch = self.free.pop().unwrap_or_else(|| {
            let dispatch = Arc::new(Dispatch::closed());
            self.all.lock().push(dispatch.clone());
            dispatch
        });
        // SAFETY: objects in the pool are closed, and this one was just taken from it.
        unsafe {
            dispatch.open(Job {
                info,
                plan,
                grid_barriers: std::array::from_fn(|_| GridBarrier::default()),
                client,
                token,
                #[cfg(feature = "counters")]
                instructions: std::sync::atomic::AtomicU64::new(0),
                deadline,
            })
        };
        if let Some(fault) = refused {
            dispatch.stop(fault);
        }
        dispatch.enqueue(engine);
        dispatch.leave(engine);
    }

    /// Stops the dispatches with this client and token.
    pub(crate) fn cancel(
        &self,
        engine: &Arc<Engine>,
        client: &Arc<dyn DispatchClient>,
        token: u64,
    ) {
        let all = self.all.lock().clone();
        for dispatch in all {
            if !dispatch.enter() {
                continue;
            }
            let job = dispatch.job();
            if job.token == token
                && std::ptr::addr_eq(Arc::as_ptr(&job.client), Arc::as_ptr(client))
            {
                dispatch.stop(Fault::of_dispatch(FaultKind::Cancelled, ""));
            }
            dispatch.leave(engine);
        }
    }

    /// Takes a closed object back.
    pub(crate) fn recycle(&self, dispatch: Arc<Dispatch>) {
        if let Err(surplus) = self.free.push(dispatch) {
            self.all
                .lock()
                .retain(|other| !Arc::ptr_eq(other, &surplus));
        }
    }
}
