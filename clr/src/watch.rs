//! Looking at the runtime while it runs: the hang watch (`GNEISS_HANG_TIMEOUT`) and the live state (`GNEISS_LIVE=1`, then `SIGUSR1`).
//!
//! The hang watch is a thread that sleeps while no thread waits. When threads wait and no command has ended for the timeout, it prints for
//! each active queue the front command, what that waits for, and who waits for it; then it goes on watching, or fails the devices'
//! outstanding work, or ends the process, as [`HangAction`] says.
//!
//! Neither costs anything when off: [`Waiting::new`] is one load.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use crate::{Runtime, event::State, worker::with_signals_blocked};

/// What the hang watch does after its report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HangAction {
    /// Nothing: the program goes on waiting, and one more report follows if something has moved since.
    #[default]
    GoOn,
    /// All outstanding work fails, and waiting calls return the error.
    Fail,
    /// The process is aborted.
    Abort,
}

/// Commands that have ended, while the watch is on.
static PROGRESS: AtomicU64 = AtomicU64::new(0);
static WATCHING: AtomicBool = AtomicBool::new(false);

struct Waiter {
    thread: i32,
    since: Instant,
    event: Arc<State>,
}

#[derive(Default)]
struct Waiters {
    list: Mutex<Vec<Waiter>>,
    changed: Condvar,
}

fn waiters() -> &'static Waiters {
    static WAITERS: OnceLock<Waiters> = OnceLock::new();
    WAITERS.get_or_init(Waiters::default)
}

/// A thread that waits for an event, for as long as this lives.
pub(crate) struct Waiting(i32);

impl Waiting {
    pub(crate) fn new(event: &Arc<State>) -> Option<Self> {
        if !WATCHING.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: no preconditions.
        let thread = unsafe { libc::gettid() };
        let waiters = waiters();
        waiters.list.lock().push(Waiter {
            thread,
            since: Instant::now(),
            event: event.clone(),
        });
        waiters.changed.notify_one();
        Some(Self(thread))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut list = waiters().list.lock();
        if let Some(at) = list.iter().rposition(|waiter| waiter.thread == self.0) {
            list.swap_remove(at);
        }
    }
}

/// How long a waiter sleeps before it looks whether its queue was given up; for ever if nobody gives up queues.
pub(crate) fn look_again() -> Option<Duration> {
    WATCHING
        .load(Ordering::Relaxed)
        .then_some(Duration::from_millis(50))
}

/// Some command has ended.
#[inline]
pub(crate) fn progress() {
    if WATCHING.load(Ordering::Relaxed) {
        PROGRESS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Starts the hang watch.
pub(crate) fn start(runtime: Weak<Runtime>, timeout: Duration, action: HangAction) {
    WATCHING.store(true, Ordering::Relaxed);
    let spawned = with_signals_blocked(|| {
        std::thread::Builder::new()
            .name("gneiss-watch".into())
            .spawn(move || watch(&runtime, timeout, action))
    });
    if let Err(error) = spawned {
        tracing::error!("GNEISS_HANG_TIMEOUT has no effect: no thread: {error}");
    }
}

fn watch(runtime: &Weak<Runtime>, timeout: Duration, action: HangAction) {
    let waiters = waiters();
    let mut seen = PROGRESS.load(Ordering::Relaxed);
    let mut moved = Instant::now();
    let mut told = None;
    loop {
        let oldest = {
            let mut list = waiters.list.lock();
            while list.is_empty() {
                waiters.changed.wait(&mut list);
                moved = Instant::now();
            }
            waiters
                .changed
                .wait_for(&mut list, (timeout / 8).max(Duration::from_millis(1)));
            list.iter().map(|waiter| waiter.since).min()
        };
        let now = PROGRESS.load(Ordering::Relaxed);
        if now != seen {
            seen = now;
            moved = Instant::now();
            continue;
        }
        let Some(oldest) = oldest else { continue };
        if oldest.max(moved).elapsed() < timeout || told == Some((now, oldest)) {
            continue;
        }
        let Some(runtime) = runtime.upgrade() else {
            return;
        };
        told = Some((now, oldest));
        let mut text = format!(
            "gneiss: no command has ended for {} while threads wait\n",
            seconds(timeout)
        );
        state(&runtime, &mut text);
        eprint!("{text}");
        match action {
            HangAction::GoOn => {}
            HangAction::Fail => {
                for device in runtime.devices() {
                    device.fail_hang(timeout);
                }
            }
            HangAction::Abort => std::process::abort(),
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// The live state of all queues, one line for each fact.
pub(crate) fn state(runtime: &Runtime, text: &mut String) {
    let waiting: Vec<(i32, Duration, Arc<State>)> = waiters()
        .list
        .lock()
        .iter()
        .map(|waiter| (waiter.thread, waiter.since.elapsed(), waiter.event.clone()))
        .collect();
    let mut shown = 0;
    for device in runtime.devices() {
        let _ = writeln!(
            text,
            "device {} ({}): {} active queues",
            device.index(),
            device.properties().gfx_name,
            device.active_cores().len()
        );
        let mut sharing: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for core in device.active_cores() {
            if let Some(hw) = core.describe(text) {
                sharing.entry(hw).or_default().push(core.title());
            }
            for (thread, since, _) in waiting.iter().filter(|(_, _, event)| event.is_of(&core)) {
                shown += 1;
                let _ = writeln!(
                    text,
                    "    thread {thread} has waited for it for {:.1} s",
                    since.as_secs_f64()
                );
            }
        }
        for (hw, titles) in sharing.iter().filter(|(_, titles)| titles.len() > 1) {
            let _ = writeln!(
                text,
                "  hardware queue {hw} is shared by {}: their packets run one after the other (GPU_MAX_HW_QUEUES sets how many there are)",
                titles.join(", ")
            );
        }
    }
    if waiting.len() > shown {
        let _ = writeln!(
            text,
            "  {} threads wait for user events or other runtimes",
            waiting.len() - shown
        );
    }
}

/// The pipe that the signal handler writes to.
static LIVE_PIPE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn on_signal(_: libc::c_int) {
    let pipe = LIVE_PIPE.load(Ordering::Relaxed);
    // SAFETY: write is async-signal-safe; the byte is a constant. errno is put back.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(pipe, [1_u8].as_ptr().cast(), 1);
        *libc::__errno_location() = errno;
    }
}

/// Prints the live state at each `SIGUSR1`.
pub(crate) fn start_live(runtime: Weak<Runtime>) {
    let mut ends = [0; 2];
    // SAFETY: the array has room for two descriptors; the handler is async-signal-safe; the action is fully initialised.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            tracing::error!("GNEISS_LIVE has no effect: no pipe");
            return;
        }
        LIVE_PIPE.store(ends[1], Ordering::Relaxed);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
    }
    let read = ends[0];
    let spawned = with_signals_blocked(|| {
        std::thread::Builder::new()
            .name("gneiss-live".into())
            .spawn(move || {
                loop {
                    let mut byte = [0_u8; 1];
                    // SAFETY: the buffer has one byte.
                    let count = unsafe { libc::read(read, byte.as_mut_ptr().cast(), 1) };
                    if count == 1 {
                        let Some(runtime) = runtime.upgrade() else {
                            return;
                        };
                        let mut text = String::from("gneiss: live state\n");
                        state(&runtime, &mut text);
                        eprint!("{text}");
                    } else if count == 0 {
                        return;
                    }
                }
            })
    });
    if let Err(error) = spawned {
        tracing::error!("GNEISS_LIVE has no effect: no thread: {error}");
    }
}
