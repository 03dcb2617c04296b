//! Signals: an interrupt ends a run after the clusters under way; a file size limit is an error, not death.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

/// With a handler in place, a write beyond the limit fails with `EFBIG` instead of killing the process.
pub(super) fn survive_file_size_limit() {
    // Where it cannot be set, the limit kills, as it does every program by default.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Whether a signal has asked to stop, and which.
#[derive(Debug, Default)]
pub(super) struct Stop {
    flag: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Stop {
    /// Listens from now on. A second signal ends the process at once.
    pub(super) fn listen() -> Self {
        let stop = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // Registered in this order: the first signal finds the flag unset. A signal that cannot be listened
            // to keeps its usual meaning.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, stop.flag.clone());
            let number = usize::try_from(signal).unwrap_or(0);
            let _ = flag::register_usize(signal, stop.number.clone(), number);
            let _ = flag::register(signal, stop.flag.clone());
        }
        stop
    }

    /// Set once a signal has come.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// The number of the signal that came.
    pub(super) fn number(&self) -> u8 {
        u8::try_from(self.number.load(Ordering::SeqCst)).unwrap_or(0)
    }
}
