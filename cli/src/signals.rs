//! Signals. An interrupt ends a run once clusters in progress are done, and a file size limit is a write error.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

/// Handles `SIGXFSZ`, so that a write beyond the limit fails with `EFBIG` instead of killing the process.
pub(crate) fn survive_file_size_limit() {
    // Without the handler the process is killed, which is the default.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Returns `true` unless the process was started to survive a hangup, as by `nohup`, or that cannot be determined.
pub(crate) fn hangup_counts() -> bool {
    // The mask of ignored signals: bit 0 is signal 1, which is SIGHUP.
    let status = dropforge::files::read_text(Path::new("/proc/self/status"), 1 << 16).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 0)
}

/// The signal that stops a run.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    flag: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Stop {
    /// Starts listening. A second signal ends the process at once.
    pub(crate) fn listen() -> Self {
        let stop = Self::default();
        for signal in [Some(SIGINT), Some(SIGTERM), Some(SIGHUP).filter(|_| hangup_counts())].into_iter().flatten() {
            // In this order the first signal finds the flag unset. If registration fails, the signal keeps its
            // default action.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, stop.flag.clone());
            let number = usize::try_from(signal).unwrap_or(0);
            let _ = flag::register_usize(signal, stop.number.clone(), number);
            let _ = flag::register(signal, stop.flag.clone());
        }
        stop
    }

    /// Returns the flag that the first signal sets.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Returns the number of the received signal.
    pub(crate) fn number(&self) -> u8 {
        u8::try_from(self.number.load(Ordering::SeqCst)).unwrap_or(0)
    }
}
