//! The run queue: items that wait for a thread, by priority, and of one priority first in, first out.
//!
//! A hardware queue's priority decides who gets the next free thread, as it decides on a GPU who gets the next free wave slot. What is
//! more urgent comes first, but not always: every few turns a thread looks at the less urgent first. So a kernel of a high priority that
//! waits for one of a low priority gets what it waits for, and nothing starves.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crossbeam_queue::ArrayQueue;
use parking_lot::Mutex;

use super::Task;
use crate::dispatch::Dispatch;

/// How urgent work is; the priority of the hardware queue that it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Runs where others leave room.
    Low,
    /// What is not said to be anything else.
    #[default]
    Normal,
    /// Gets a thread before others do.
    High,
}

/// What stands in the run queue.
pub(crate) enum Item {
    /// A task that is to be polled.
    Task(Arc<dyn Task>),
    /// A dispatch that wants one more thread.
    Dispatch(Arc<Dispatch>),
}

impl Item {
    fn priority(&self) -> Priority {
        match self {
            Item::Task(task) => task.priority(),
            Item::Dispatch(dispatch) => dispatch.priority(),
        }
    }
}

/// Items of each priority, from low to high, that the lock-free part of the queue holds. Few programs use any but the normal one, and a ring's
/// memory is touched when it is made.
const CAPACITIES: [usize; 3] = [256, 4096, 256];

/// Items of one priority. A bounded lock-free ring; what does not fit waits under a lock.
struct Level {
    ring: ArrayQueue<Item>,
    overflow: Mutex<VecDeque<Item>>,
    overflowed: AtomicBool,
}

impl Level {
    fn new(capacity: usize) -> Self {
        Self {
            ring: ArrayQueue::new(capacity),
            overflow: Mutex::default(),
            overflowed: AtomicBool::new(false),
        }
    }

    fn push(&self, item: Item) {
        let Err(item) = self.ring.push(item) else {
            return;
        };
        let mut overflow = self.overflow.lock();
        overflow.push_back(item);
        self.overflowed.store(true, Ordering::SeqCst);
    }

    fn pop(&self) -> Option<Item> {
        if let Some(item) = self.ring.pop() {
            return Some(item);
        }
        if !self.overflowed.load(Ordering::SeqCst) {
            return None;
        }
        let mut overflow = self.overflow.lock();
        let item = overflow.pop_front();
        if overflow.is_empty() {
            self.overflowed.store(false, Ordering::SeqCst);
        }
        item
    }

    fn is_empty(&self) -> bool {
        self.ring.is_empty() && !self.overflowed.load(Ordering::SeqCst)
    }
}

/// Counts the items that a thread has taken: it tells when the less urgent come first.
#[derive(Default)]
pub(crate) struct Turn(u32);

impl Turn {
    /// One of 8 turns begins with the items of normal priority, another one of 16 with those of a low one.
    const ORDERS: u32 = 16;

    /// In which order this turn looks at the priorities.
    fn order(&self) -> [Priority; 3] {
        use Priority::{High, Low, Normal};
        match self.0 % Self::ORDERS {
            3 | 11 => [Normal, Low, High],
            7 => [Low, Normal, High],
            _ => [High, Normal, Low],
        }
    }
}

/// See the module's documentation.
pub(crate) struct RunQueue([Level; 3]);

impl RunQueue {
    pub(super) fn new() -> Self {
        Self(CAPACITIES.map(Level::new))
    }

    pub(super) fn push(&self, item: Item) {
        self.0[item.priority() as usize].push(item);
    }

    pub(super) fn pop(&self, turn: &mut Turn) -> Option<Item> {
        for priority in turn.order() {
            let level = &self.0[priority as usize];
            // A look first: most levels are empty most of the time, and a look is cheaper.
            if level.is_empty() {
                continue;
            }
            if let Some(item) = level.pop() {
                turn.0 = turn.0.wrapping_add(1);
                return Some(item);
            }
        }
        None
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Level::is_empty)
    }

    /// Whether something more urgent than this waits.
    pub(super) fn has_above(&self, priority: Priority) -> bool {
        self.0[priority as usize + 1..]
            .iter()
            .any(|level| !level.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Engine, Poll, TaskState},
        *,
    };

    struct Of(Priority, TaskState);

    impl Task for Of {
        fn state(&self) -> &TaskState {
            &self.1
        }

        fn priority(&self) -> Priority {
            self.0
        }

        fn poll(self: Arc<Self>, _: &Arc<Engine>) -> Poll {
            Poll::Idle
        }
    }

    fn queue_with(counts: [(Priority, usize); 3]) -> RunQueue {
        let queue = RunQueue::new();
        for (priority, count) in counts {
            for _ in 0..count {
                queue.push(Item::Task(Arc::new(Of(priority, TaskState::default()))));
            }
        }
        queue
    }

    fn order(queue: &RunQueue) -> Vec<Priority> {
        let mut turn = Turn::default();
        std::iter::from_fn(|| queue.pop(&mut turn))
            .map(|item| item.priority())
            .collect()
    }

    #[test]
    fn what_is_more_urgent_comes_first_and_nothing_starves() {
        use Priority::{High, Low, Normal};
        let queue = queue_with([(Low, 100), (Normal, 100), (High, 100)]);
        let order = order(&queue);
        assert_eq!(order.len(), 300);
        assert!(queue.is_empty());
        let last = |priority| order.iter().rposition(|&other| other == priority).unwrap();
        assert!(last(High) < 128 && last(High) < last(Normal) && last(Normal) < last(Low));
        for sixteen in order[..112].chunks(16) {
            let count = |priority| sixteen.iter().filter(|&&other| other == priority).count();
            assert_eq!([count(Low), count(Normal), count(High)], [1, 2, 13]);
        }
    }

    #[test]
    fn only_what_is_more_urgent_is_above() {
        use Priority::{High, Low, Normal};
        let queue = queue_with([(Low, 0), (Normal, 1), (High, 0)]);
        assert!(queue.has_above(Low));
        assert!(!queue.has_above(Normal) && !queue.has_above(High));
    }

    #[test]
    fn a_level_takes_more_items_than_its_ring_holds() {
        use Priority::{High, Low, Normal};
        let queue = queue_with([(Low, 5000), (Normal, 9096), (High, 5000)]);
        assert_eq!(order(&queue).len(), 5000 + 9096 + 5000);
        assert!(queue.is_empty());
    }
}
