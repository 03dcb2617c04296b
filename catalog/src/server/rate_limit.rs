//! Rate limits per key.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Number of checks between sweeps of idle keys.
const SWEEP: u32 = 4096;

/// A rate limiter that counts the requests of each key.
pub(super) struct Limiter {
    limiter: DefaultKeyedRateLimiter<String>,
    clock: DefaultClock,
    checks: AtomicU32,
}

impl Limiter {
    /// Allows `rate` requests per second and key, and bursts of the same size.
    pub(super) fn new(rate: NonZeroU32) -> Self {
        let limiter = RateLimiter::hashmap(Quota::per_second(rate));
        Self { limiter, clock: DefaultClock::default(), checks: AtomicU32::new(0) }
    }

    /// Checks a request of a key. Returns the seconds to wait if it is over the limit.
    pub(super) fn check(&self, key: &String) -> Result<(), u64> {
        if self.checks.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            self.limiter.retain_recent();
        }
        self.limiter.check_key(key).map_err(|not_until| {
            let wait = not_until.wait_time_from(self.clock.now());
            wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
        })
    }
}
