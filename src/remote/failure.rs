//! Errors of stores and registries: which are worth another attempt, the pauses between attempts, diagnostics, and
//! notices about requests that take long.

use std::error::Error as StdError;
use std::future::Future;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{LazyLock, Mutex, OnceLock};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use object_store::Error;

use dropforge_base::credentials;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::mask::Mask;
use dropforge_http::Cause;

/// The credentials of stores in the environment: `AWS_SECRET_ACCESS_KEY`, `AZURE_STORAGE_SAS_KEY` and the like.
static OF_ENVIRONMENT: LazyLock<Mask> = LazyLock::new(|| {
    let stores = ["AWS_", "AZURE_", "GOOGLE_"];
    let kinds = ["SECRET", "TOKEN", "KEY", "PASSWORD", "SAS"];
    let is_one = |name: &str| {
        let is_path = name.ends_with("_FILE") || name.ends_with("_PATH");
        stores.iter().any(|store| name.starts_with(store)) && kinds.iter().any(|kind| name.contains(kind)) && !is_path
    };
    let all: Vec<String> = std::env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(is_one))
        .filter_map(|(_, value)| value.into_string().ok())
        .collect();
    Mask::new(all.iter().map(String::as_str))
});

/// A response or a broken connection that another attempt may mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transient {
    /// The status of the response, or `None` without one.
    pub(super) status: Option<u16>,
    /// The reason.
    pub(super) why: String,
    /// The time to wait that the server asks for.
    pub(super) after: Option<Duration>,
    /// Only a few attempts are worth it.
    pub(super) is_brief: bool,
}

impl fmt::Display for Transient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl StdError for Transient {}

/// A failed request that another attempt cannot mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Permanent(pub(super) Cause);

impl fmt::Display for Permanent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.why)
    }
}

impl StdError for Permanent {}

/// There are no credentials in the environment, and this machine has no service that gives some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoCredentials;

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are no credentials in the environment, and no service on this machine gives some")
    }
}

impl StdError for NoCredentials {}

/// The reasons why an operation of a store failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another attempt may succeed. The operation may have been carried out.
    Transient(Transient),
    /// The object does not exist.
    Missing(Error),
    /// The object exists, or is not the expected version.
    Condition(Error),
    /// The credentials do not suffice, or are missing.
    Denied(Error),
    /// The store has no such operation.
    Unsupported(Error),
    /// The store refuses the request.
    Refused(Error),
    /// The store cannot be reached, or sends nonsense.
    Permanent(Permanent),
    /// A diagnostic of ours.
    Ours(Box<Diagnostic>),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if let Some(transient) = find::<Transient>(&error) {
            return Failure::Transient(transient.clone());
        }
        if let Some(permanent) = find::<Permanent>(&error) {
            return Failure::Permanent(permanent.clone());
        }
        if find::<NoCredentials>(&error).is_some() {
            return Failure::Denied(error);
        }
        match error {
            Error::NotFound { .. } => Failure::Missing(error),
            Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. } => {
                Failure::Condition(error)
            }
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Failure::Denied(error),
            Error::NotImplemented { .. } | Error::NotSupported { .. } => Failure::Unsupported(error),
            _ => Failure::Refused(error),
        }
    }
}

/// Returns the first cause of type `T`.
fn find<'e, T: StdError + 'static>(error: &'e (dyn StdError + 'static)) -> Option<&'e T> {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        current = error.source();
    }
    None
}

/// Returns the message of the innermost cause, which says most in the fewest words. Stores answer in XML.
fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut current = error;
    while let Some(cause) = current.source() {
        current = cause;
    }
    let text = current.to_string();
    let message = text.split_once("<Message>").and_then(|(_, rest)| rest.split_once("</Message>"));
    let text = message.map_or(text.as_str(), |(message, _)| message);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Failure {
    /// Returns the diagnostic of the failed operation `what`, such as `read`, on `url`.
    pub(super) fn diagnostic(self, what: &str, url: &str) -> Box<Diagnostic> {
        let mut diagnostic = self.worded(what, url);
        // A server may repeat the request.
        credentials::hide(&OF_ENVIRONMENT, &mut diagnostic);
        diagnostic
    }

    fn worded(self, what: &str, url: &str) -> Box<Diagnostic> {
        let (code, help, error) = match self {
            Failure::Ours(diagnostic) => return diagnostic,
            Failure::Transient(transient) => return unreachable(what, url, &transient),
            Failure::Permanent(Permanent(cause)) => {
                let message = format!("cannot {what} `{url}`: {}", cause.why);
                return Diagnostic::new(Code::StoreFailed, message).with_help(cause.help);
            }
            Failure::Missing(error) => (Code::StoreMissing, "check the bucket and the key", error),
            Failure::Condition(error) => (Code::StoreChanged, "run the command again", error),
            Failure::Denied(error) => {
                (Code::StoreDenied, "check the credentials in the environment, and their permissions", error)
            }
            Failure::Unsupported(error) => (Code::NoConditions, "use `--no-lock` if no other run writes there", error),
            Failure::Refused(error) => (Code::StoreFailed, "check the URL, the region and the endpoint", error),
        };
        let message = match code {
            Code::StoreMissing => format!("cannot {what} `{url}`: it does not exist"),
            Code::StoreChanged => format!("cannot {what} `{url}`: another writer has changed it"),
            Code::NoConditions => format!("cannot {what} `{url}`: the store has no conditional puts"),
            _ => format!("cannot {what} `{url}`: {}", innermost(&error)),
        };
        Diagnostic::new(code, message).with_help(help).caused_by(error)
    }
}

fn unreachable(what: &str, url: &str, transient: &Transient) -> Box<Diagnostic> {
    let message = format!("cannot {what} `{url}`: {}", transient.why);
    let help = match transient.status {
        Some(_) => "the store is overloaded or out of order: run the command again later",
        None if transient.is_brief => "check the spelling of the host, and the network",
        None => "check the network and the endpoint, then run the command again",
    };
    Diagnostic::new(Code::StoreUnreachable, message).with_help(help).caused_by(transient.clone())
}

/// The time for causes that seldom pass, such as a name that does not resolve.
const BRIEF: Duration = Duration::from_secs(5);

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
        let total = if failure.is_brief { self.patience.total.min(BRIEF) } else { self.patience.total };
        let elapsed = self.began.elapsed();
        if elapsed + pause >= total {
            return Err(Failure::Transient(gave_up(failure, self.failures)));
        }
        if elapsed + pause >= AFTER {
            say(&format!("{}; trying again for up to {} s", failure.why, (total - elapsed).as_secs().max(1)));
        }
        Ok(pause)
    }
}

fn gave_up(failure: Transient, attempts: u32) -> Transient {
    let plural = if attempts == 1 { "" } else { "s" };
    let why = format!("{} ({attempts} attempt{plural})", failure.why);
    Transient { why, ..failure }
}

/// The time after which a notice is given.
const AFTER: Duration = Duration::from_secs(2);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Threads;

    fn transient() -> Transient {
        Transient { status: Some(503), why: "status 503".into(), after: None, is_brief: false }
    }

    #[test]
    fn a_transient_failure_is_found_below_other_errors() {
        let inner = Error::Generic { store: "S3", source: Box::new(transient()) };
        let outer = Error::NotFound { path: "p".into(), source: Box::new(inner) };
        assert!(matches!(Failure::from(outer), Failure::Transient(found) if found == transient()));
    }

    #[test]
    fn every_failure_has_a_code_and_help() {
        let source = || "why".into();
        let path = || "p".to_owned();
        let failures = [
            (Failure::Transient(transient()), Code::StoreUnreachable),
            (Error::NotFound { path: path(), source: source() }.into(), Code::StoreMissing),
            (Error::AlreadyExists { path: path(), source: source() }.into(), Code::StoreChanged),
            (Error::Generic { store: "S3", source: Box::new(NoCredentials) }.into(), Code::StoreDenied),
            (Error::PermissionDenied { path: path(), source: source() }.into(), Code::StoreDenied),
            (Error::NotImplemented { operation: path(), implementer: path() }.into(), Code::NoConditions),
            (Error::Generic { store: "S3", source: source() }.into(), Code::StoreFailed),
        ];
        for (failure, code) in failures {
            let diagnostic = failure.diagnostic("read", "s3://b/k");
            assert_eq!(diagnostic.code, code);
            assert!(diagnostic.message.contains("`s3://b/k`") && diagnostic.help.is_some(), "{diagnostic}");
        }
    }

    const QUICK: Patience = Patience {
        first: Duration::from_micros(10),
        longest: Duration::from_millis(1),
        total: Duration::from_secs(60),
    };

    fn run(patience: Patience, succeeds_after: u32) -> (Option<u32>, String) {
        let threads = Threads::start(1).expect("threads");
        let result = threads.wait(async move {
            let attempt = |failures| async move {
                if failures < succeeds_after { Err(Failure::Transient(transient())) } else { Ok(failures) }
            };
            patience.run(attempt).await
        });
        match result {
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
        assert_eq!(message, "cannot put `s3://b/k`: status 503 (1 attempt)");
    }

    #[test]
    fn pauses_grow_to_a_bound_and_follow_the_server() {
        let patience = Patience::default();
        let failure = Transient { status: None, why: String::new(), after: None, is_brief: false };
        let range = |attempt| (0..50).map(move |_| patience.pause(attempt, &failure.clone()));
        assert!(range(0).all(|pause| pause >= Duration::from_millis(50) && pause <= Duration::from_millis(100)));
        let failure =
            Transient { status: None, why: String::new(), after: Some(Duration::from_secs(4)), is_brief: false };
        assert!(patience.pause(0, &failure) == Duration::from_secs(4));
        assert!(patience.pause(u32::MAX, &failure) <= patience.longest);
    }
}
