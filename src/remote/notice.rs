//! Notices about requests that take long, for the person who waits.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// The time after which a notice is given.
pub(super) const AFTER: Duration = Duration::from_secs(2);
/// The time between two notices. Many requests may wait for one server.
const BETWEEN: Duration = Duration::from_secs(20);

type Say = Box<dyn Fn(&str) + Send + Sync>;

static SAY: OnceLock<Say> = OnceLock::new();
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// Sets the function that gives notices, such as `waiting for oci://ghcr.io/acme/fleet:v3`. Only the first call has an
/// effect. Without one nothing is said.
pub fn on_wait(say: impl Fn(&str) + Send + Sync + 'static) {
    let _ = SAY.set(Box::new(say));
}

/// Gives a notice, unless one was given just before.
pub(super) fn say(text: &str) {
    let Some(say) = SAY.get() else { return };
    let mut last = LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if last.is_none_or(|last| last.elapsed() >= BETWEEN) {
        *last = Some(Instant::now());
        say(text);
    }
}

/// Runs `work`, and gives the notice `text` if it takes long.
pub(super) fn watch<T>(text: &str, work: impl FnOnce() -> T) -> T {
    if SAY.get().is_none() {
        return work();
    }
    thread::scope(|scope| {
        let (done, waiting) = channel::<()>();
        scope.spawn(move || {
            if waiting.recv_timeout(AFTER) == Err(RecvTimeoutError::Timeout) {
                say(text);
            }
        });
        let result = work();
        drop(done);
        result
    })
}
