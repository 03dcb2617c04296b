//! Attempts with growing pauses.

use std::future::Future;
use std::time::{Duration, Instant};

use super::failure::{Failure, Transient};

/// The attempts of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The first pause. Each further one is up to twice as long.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// The time after which no further attempt is made.
    pub total: Duration,
}

impl Default for Patience {
    /// Pauses from 0.1 to 10 seconds, for 2 minutes.
    fn default() -> Self {
        Self { first: Duration::from_millis(100), longest: Duration::from_secs(10), total: Duration::from_secs(120) }
    }
}

impl Patience {
    /// Returns the pause before attempt `attempt`, counted from 1, with a random part: half to all of the bound.
    fn pause(&self, attempt: u32, failure: &Transient) -> Duration {
        let bound = self.first.saturating_mul(1 << attempt.min(20)).min(self.longest);
        let pause = bound.mul_f64(0.5 + fastrand::f64() / 2.0);
        pause.max(failure.after.unwrap_or_default().min(self.longest))
    }

    /// Runs `operation` until it succeeds, fails for good, or the time is up. It gets the number of transient failures
    /// so far: after one, an operation with a condition may already have been carried out.
    pub(super) async fn run<T, F>(&self, mut operation: impl FnMut(u32) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut attempts = Attempts::new(*self);
        loop {
            match operation(attempts.failures).await {
                Err(Failure::Transient(failure)) => tokio::time::sleep(attempts.after(failure)?).await,
                result => return result,
            }
        }
    }

    /// Works like [`Patience::run`], for an operation that blocks.
    pub(super) fn repeat<T>(&self, mut operation: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
        let mut attempts = Attempts::new(*self);
        loop {
            match operation() {
                Err(Failure::Transient(failure)) => std::thread::sleep(attempts.after(failure)?),
                result => return result,
            }
        }
    }
}

/// The attempts of one operation so far.
struct Attempts {
    patience: Patience,
    began: Instant,
    failures: u32,
}

impl Attempts {
    fn new(patience: Patience) -> Self {
        Self { patience, began: Instant::now(), failures: 0 }
    }

    /// Returns the pause after a failure, or the failure if the time is up.
    fn after(&mut self, failure: Transient) -> Result<Duration, Failure> {
        let pause = self.patience.pause(self.failures, &failure);
        self.failures += 1;
        if self.began.elapsed() + pause >= self.patience.total {
            return Err(Failure::Transient(gave_up(failure, self.failures)));
        }
        Ok(pause)
    }
}

fn gave_up(failure: Transient, attempts: u32) -> Transient {
    let plural = if attempts == 1 { "" } else { "s" };
    let why = format!("{} ({attempts} attempt{plural})", failure.why);
    Transient { why, ..failure }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Threads;

    fn transient() -> Failure {
        Failure::Transient(Transient { status: Some(503), why: "busy".into(), after: None })
    }

    const QUICK: Patience = Patience {
        first: Duration::from_micros(10),
        longest: Duration::from_millis(1),
        total: Duration::from_secs(60),
    };

    fn run(patience: Patience, succeeds_after: u32) -> (Option<u32>, String) {
        let threads = Threads::start(1).expect("threads");
        let result = threads.wait(async move {
            let attempt =
                |failures| async move { if failures < succeeds_after { Err(transient()) } else { Ok(failures) } };
            patience.run(attempt).await
        });
        match result.expect("no panic") {
            Ok(failures) => (Some(failures), String::new()),
            Err(failure) => (None, failure.diagnostic("put", "s3://b/k").message),
        }
    }

    #[test]
    fn attempts_go_on_until_one_succeeds() {
        assert_eq!(run(QUICK, 5).0, Some(5));
    }

    #[test]
    fn attempts_end_when_the_time_is_up() {
        let (result, message) = run(Patience { total: Duration::ZERO, ..QUICK }, 1);
        assert_eq!(result, None);
        assert_eq!(message, "cannot put `s3://b/k`: busy (1 attempt)");
    }

    #[test]
    fn pauses_grow_to_a_bound_and_follow_the_server() {
        let patience = Patience::default();
        let failure = Transient { status: None, why: String::new(), after: None };
        let range = |attempt| (0..50).map(move |_| patience.pause(attempt, &failure.clone()));
        assert!(range(0).all(|pause| pause >= Duration::from_millis(50) && pause <= Duration::from_millis(100)));
        let failure = Transient { status: None, why: String::new(), after: Some(Duration::from_secs(4)) };
        assert!(patience.pause(0, &failure) == Duration::from_secs(4));
        assert!(patience.pause(u32::MAX, &failure) <= patience.longest);
    }
}
