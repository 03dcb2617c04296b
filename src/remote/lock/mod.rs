//! The lock of a prefix: an object that one run at a time holds.
//!
//! The object is made with If-None-Match and renewed with If-Match. After its expiry another run may take it, with
//! If-Match on the version that it has read, so one of several wins. Times are those of the store's clock. A holder
//! stops early: a lock that could not be renewed for most of its lease counts as lost. A thread renews it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use std::{fmt, thread};

use super::clock::{Clock, SystemClock};
use super::failure::Patience;
use super::location::Kind;
use super::store::Store;
use super::task::{Condition, Object, Revision};
use crate::clock::rfc3339;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use serde::{Deserialize, Serialize};

/// The key of the lock object.
pub const LOCK: &str = ".dropforge-lock";
/// Maximum length of a lock object.
const MAX_BYTES: u64 = 64 << 10;
/// Attempts to take a lock that others take and release meanwhile.
const ROUNDS: u32 = 20;
/// The time that the end of a run waits to release its lock.
const RELEASE: Duration = Duration::from_secs(10);

/// The times of a lock.
#[derive(Debug, Clone)]
pub struct LockOptions {
    /// The time after which others may take a lock that is not renewed.
    pub lease: Duration,
    /// The part of the lease in which the holder no longer counts on it.
    pub margin: Duration,
    /// The time between renewals, or `None` to renew only with [`Lock::renew`].
    pub renew: Option<Duration>,
    /// The clock of this machine.
    pub clock: Arc<dyn Clock>,
}

impl Default for LockOptions {
    /// A lease of 2 minutes with a margin of 30 seconds, renewed every 20 seconds.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        let clock = Arc::new(SystemClock::new());
        Self { lease: seconds(120), margin: seconds(30), renew: Some(seconds(20)), clock }
    }
}

/// The lock of a prefix. It is renewed in the background, and released when it is dropped.
///
/// ```
/// use dropforge::remote::{Lock, LockOptions, Store};
/// let store = Store::in_memory();
/// let lock = Lock::acquire(&store, LockOptions::default())?;
/// assert!(lock.guard().is_held());
/// let error = Lock::acquire(&store, LockOptions::default()).unwrap_err();
/// assert_eq!(error.code.name(), "store.locked");
/// drop(lock);
/// assert!(Lock::acquire(&store, LockOptions::default()).is_ok());
/// # Ok::<(), Box<dropforge::Diagnostic>>(())
/// ```
#[derive(Debug)]
pub struct Lock {
    held: Arc<Held>,
    renewal: Option<Renewal>,
}

/// A cheap view of a lock, for many threads.
#[derive(Debug, Clone)]
pub struct Guard(Arc<Held>);

/// The state of a lock that this process took.
struct Held {
    store: Store,
    lease: Duration,
    margin: Duration,
    clock: Arc<dyn Clock>,
    /// The record and its version in the store. Held while the object is written.
    current: Mutex<(LockRecord, Revision)>,
    /// The time of `clock`, in milliseconds, up to which the holder may count on the lock.
    until: AtomicU64,
    lost: AtomicBool,
    /// The reason of the loss, if it is known.
    why: Mutex<Option<String>>,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("store", &self.store.url()).field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Lock {
    /// Takes the lock of the store's prefix.
    ///
    /// # Errors
    /// `store.locked` if another run holds it; `store.no_conditions` if the store has no conditional puts, or ignores
    /// their conditions; errors of the store.
    pub fn acquire(store: &Store, options: LockOptions) -> Result<Self> {
        let store = store.with_patience(Patience { total: options.lease / 4, ..store.patience() });
        let (record, revision, began) = take(&store, &options)?;
        check_conditions(&store)?;
        let until = began.saturating_add(options.lease).saturating_sub(options.margin);
        let held = Arc::new(Held {
            store,
            lease: options.lease,
            margin: options.margin,
            clock: options.clock,
            current: Mutex::new((record, revision)),
            until: AtomicU64::new(millis(until)),
            lost: AtomicBool::new(false),
            why: Mutex::new(None),
        });
        let renewal = options.renew.map(|every| Renewal::start(&held, every)).transpose()?;
        Ok(Self { held, renewal })
    }

    /// Removes the lock of the store's prefix, whoever holds it. The holder stops when it next renews its lock. Returns
    /// the record of the lock, if another run held it.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn break_lock(store: &Store, clock: &dyn Clock) -> Result<Option<LockRecord>> {
        for _ in 0..ROUNDS {
            let Some(object) = store.get(LOCK, MAX_BYTES)? else { return Ok(None) };
            let record = LockRecord::parse(&object.bytes);
            if record.as_ref().is_some_and(|record| record.is_expired(store.time(clock.now()))) {
                return Ok(None);
            }
            let released = record.clone().unwrap_or_else(LockRecord::new).released();
            match store.put(LOCK, released.bytes(), Condition::Match(object.revision)) {
                Ok(_) => return Ok(record),
                Err(error) if error.code == Code::StoreChanged => {}
                Err(error) => return Err(error),
            }
        }
        Err(busy(store))
    }

    /// Checks that no other run holds the lock of the store's prefix.
    ///
    /// # Errors
    /// `store.locked`; errors of the store.
    pub fn check_free(store: &Store, clock: &dyn Clock) -> Result<()> {
        match store.get(LOCK, MAX_BYTES)? {
            None => Ok(()),
            Some(object) => takeover(store, &LockRecord::new(), object, clock.now()).map(|_| ()),
        }
    }

    /// Returns a view of the lock for other threads.
    pub fn guard(&self) -> Guard {
        Guard(self.held.clone())
    }

    /// Returns `true` while this process holds the lock. Cheap. Once `false`, it stays so.
    pub fn is_held(&self) -> bool {
        self.held.is_held()
    }

    /// Returns the record of the lock as it was last written.
    pub fn record(&self) -> LockRecord {
        self.held.current().0.clone()
    }

    /// Renews the lock now.
    ///
    /// # Errors
    /// `store.lock_lost` if another run has taken the lock, or it was not renewed in time; errors of the store, after
    /// which the lock is held for the rest of its lease.
    pub fn renew(&self) -> Result<()> {
        self.held.renew()
    }

    /// Releases the lock: others may take it at once.
    ///
    /// # Errors
    /// `store.lock_lost` if it was lost before; errors of the store, after which others have to wait for its expiry.
    pub fn release(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        let idle = self.renewal.take().is_none_or(|renewal| renewal.stop(RELEASE));
        // A renewal that hangs has the record, and the lock then expires by itself.
        if idle { self.held.release() } else { Ok(()) }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !self.held.lost.load(Ordering::SeqCst) {
            // A lock that cannot be released expires.
            let _ = self.end();
        }
    }
}

impl Guard {
    /// Returns `true` while this process holds the lock. Cheap. Once `false`, it stays so.
    pub fn is_held(&self) -> bool {
        self.0.is_held()
    }

    /// Returns the error of a lost lock.
    pub fn lost(&self) -> Box<Diagnostic> {
        self.0.lost()
    }
}

impl Held {
    fn current(&self) -> MutexGuard<'_, (LockRecord, Revision)> {
        self.current.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn is_held(&self) -> bool {
        let in_time = millis(self.clock.now()) < self.until.load(Ordering::SeqCst);
        if !in_time {
            self.lost.store(true, Ordering::SeqCst);
        }
        !self.lost.load(Ordering::SeqCst)
    }

    fn lose(&self, why: String) -> Box<Diagnostic> {
        self.why.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(why);
        self.lost.store(true, Ordering::SeqCst);
        self.lost()
    }

    fn lost(&self) -> Box<Diagnostic> {
        let why = self.why.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        let why = why.unwrap_or_else(|| "it could not be renewed in time".to_owned());
        Diagnostic::new(Code::LockLost, format!("lost the lock of `{}`: {why}", self.store.url()))
            .with_help("run the command again: it writes what is missing")
    }

    /// Writes the record with a new expiry, if it is still ours.
    fn renew(&self) -> Result<()> {
        let mut current = self.current();
        for _ in 0..2 {
            if !self.is_held() {
                return Err(self.lost());
            }
            let began = self.clock.now();
            let record = current.0.renewed(self.store.time(began), self.lease);
            match self.store.put(LOCK, record.bytes(), Condition::Match(current.1.clone())) {
                Ok(revision) => {
                    *current = (record, revision);
                    let until = began.saturating_add(self.lease).saturating_sub(self.margin);
                    self.until.fetch_max(millis(until), Ordering::SeqCst);
                    return Ok(());
                }
                // A renewal whose response was lost has changed the version.
                Err(error) if error.code == Code::StoreChanged => current.1 = self.still_ours(&current.0)?,
                Err(error) => return Err(error),
            }
        }
        Err(self.lose("another writer changes its object".to_owned()))
    }

    /// Returns the version of the lock object if it is ours.
    fn still_ours(&self, record: &LockRecord) -> Result<Revision> {
        match self.store.get(LOCK, MAX_BYTES)? {
            None => Err(self.lose(format!("`{LOCK}` was deleted"))),
            Some(Object { bytes, revision }) => match LockRecord::parse(&bytes) {
                Some(found) if found.owner == record.owner && found.expires > 0 => Ok(revision),
                Some(found) if found.owner == record.owner => Err(self.lose("it was broken".to_owned())),
                Some(found) => Err(self.lose(format!("{} has taken it", found.holder()))),
                None => Err(self.lose(format!("`{LOCK}` was overwritten"))),
            },
        }
    }

    fn release(&self) -> Result<()> {
        let mut current = self.current();
        if !self.is_held() {
            return Err(self.lost());
        }
        self.lose("it was released".to_owned());
        let store = self.store.with_patience(Patience { total: RELEASE, ..self.store.patience() });
        let released = current.0.released().bytes();
        for _ in 0..2 {
            match store.put(LOCK, released.clone(), Condition::Match(current.1.clone())) {
                // The response to a renewal or to a release was lost.
                Err(error) if error.code == Code::StoreChanged => match self.still_ours(&current.0) {
                    Ok(revision) => current.1 = revision,
                    Err(error) if error.code == Code::LockLost => return Ok(()),
                    Err(error) => return Err(error),
                },
                result => return result.map(|_| ()),
            }
        }
        Ok(())
    }
}

/// Takes the lock. Returns the record, its version and the time of this machine from which the lease counts.
fn take(store: &Store, options: &LockOptions) -> Result<(LockRecord, Revision, Duration)> {
    let ours = LockRecord::new();
    let mut condition = Condition::Absent;
    for _ in 0..ROUNDS {
        let began = options.clock.now();
        let record = ours.renewed(store.time(began), options.lease);
        match store.put(LOCK, record.bytes(), condition) {
            Ok(revision) => return Ok((record, revision, began)),
            Err(error) if error.code == Code::StoreChanged => {}
            Err(error) => return Err(error),
        }
        condition = match store.get(LOCK, MAX_BYTES)? {
            None => Condition::Absent,
            Some(object) => takeover(store, &ours, object, options.clock.now())?,
        };
    }
    Err(busy(store))
}

/// Returns the condition for taking an existing lock.
///
/// # Errors
/// `store.locked` if it has not expired.
fn takeover(store: &Store, ours: &LockRecord, object: Object, now: Duration) -> Result<Condition> {
    let Some(found) = LockRecord::parse(&object.bytes) else {
        let message = format!("`{}` is not a lock that dropforge wrote", store.url_of(LOCK));
        return Err(Diagnostic::new(Code::StoreLocked, message).with_help("remove it with `--break-lock`"));
    };
    // Ours: the response to an attempt of this process was lost.
    if found.owner == ours.owner || found.is_expired(store.time(now)) {
        return Ok(Condition::Match(object.revision));
    }
    let message = format!("`{}` is locked by {} since {}", store.url(), found.holder(), found.made_at());
    let help = "wait until that run ends; if it is dead, use `--break-lock`";
    Err(Diagnostic::new(Code::StoreLocked, message)
        .with_note(format!("the lock expires at {} unless it is renewed", found.expires_at()))
        .with_help(help))
}

fn busy(store: &Store) -> Box<Diagnostic> {
    let message = format!("`{}` is constantly locked and released", store.url());
    Diagnostic::new(Code::StoreLocked, message).with_help("run the command again later")
}

/// Checks that the store heeds conditions: puts whose conditions do not hold have to fail.
///
/// # Errors
/// `store.no_conditions`; errors of the store.
fn check_conditions(store: &Store) -> Result<()> {
    let never = Condition::Match(Revision::of_etag("\"00000000000000000000000000000000\""));
    // Google's store compares generations, not ETags, and has heeded both conditions since it has them.
    let conditions = [Some(Condition::Absent), Some(never).filter(|_| store.kind() != Some(Kind::Google))];
    for condition in conditions.into_iter().flatten() {
        match store.put(LOCK, "a test of conditional puts\n".into(), condition) {
            Err(error) if error.code == Code::StoreChanged => {}
            Err(error) => return Err(error),
            Ok(_) => {
                store.delete(LOCK)?;
                let message = format!("`{}` cannot be locked: the store ignores conditions of puts", store.url());
                let error = Diagnostic::new(Code::NoConditions, message);
                return Err(error.with_help("use `--no-lock` if no other run writes there"));
            }
        }
    }
    Ok(())
}

/// The content of a lock object. Times are milliseconds since the Unix epoch, by the clock of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockRecord {
    /// The random id of the holder.
    pub owner: String,
    /// The name of the holder's machine.
    pub host: String,
    /// The id of the holder's process.
    pub pid: u32,
    /// The time when the lock was taken.
    pub made: u64,
    /// The time when it was renewed last.
    pub renewed: u64,
    /// The time after which others may take it. 0 if it was released.
    pub expires: u64,
}

impl LockRecord {
    /// Returns the record of this process with a new id.
    fn new() -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let owner = format!("{:016x}", fastrand::u64(..));
        Self { owner, host, pid: std::process::id(), made: 0, renewed: 0, expires: 0 }
    }

    /// Returns the record of a lock that is taken or renewed at `now`.
    fn renewed(&self, now: Duration, lease: Duration) -> Self {
        let made = if self.made == 0 { millis(now) } else { self.made };
        Self { made, renewed: millis(now), expires: millis(now.saturating_add(lease)), ..self.clone() }
    }

    /// Returns the record of a lock that others may take at once.
    fn released(&self) -> Self {
        Self { expires: 0, ..self.clone() }
    }

    /// Returns `true` if others may take the lock.
    fn is_expired(&self, now: Duration) -> bool {
        self.expires <= millis(now)
    }

    /// Returns the holder for messages.
    fn holder(&self) -> String {
        format!("process {} on `{}`", self.pid, self.host)
    }

    /// Returns the time when the lock was taken, such as `2026-11-23T12:00:00Z`.
    pub fn made_at(&self) -> String {
        rfc3339(self.made / 1_000)
    }

    /// Returns the time after which others may take the lock.
    pub fn expires_at(&self) -> String {
        rfc3339(self.expires / 1_000)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    fn bytes(&self) -> bytes::Bytes {
        let mut json = serde_json::to_vec(self).unwrap_or_default();
        json.push(b'\n');
        json.into()
    }
}

/// Returns whole milliseconds.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A thread that renews a lock until it is stopped or the lock is lost.
#[derive(Debug)]
struct Renewal {
    stop: Sender<()>,
    /// Disconnected when the thread has ended. The mutex makes locks usable from several threads.
    ended: Mutex<Receiver<()>>,
}

impl Renewal {
    /// Starts the thread.
    ///
    /// # Errors
    /// `internal` if the system gives no thread.
    fn start(held: &Arc<Held>, every: Duration) -> Result<Self> {
        let (stop, stopped) = channel();
        let (alive, ended) = channel();
        let held = Arc::downgrade(held);
        let run = move || {
            let _alive: Sender<()> = alive;
            renew_until(&held, every, &stopped);
        };
        let started = thread::Builder::new().name("dropforge-lock".to_owned()).spawn(run);
        started.map_err(|error| {
            Diagnostic::new(Code::Internal, format!("cannot start a thread: {error}")).caused_by(error)
        })?;
        Ok(Self { stop, ended: Mutex::new(ended) })
    }

    /// Stops the thread. Returns `true` if it ended within `timeout`.
    fn stop(self, timeout: Duration) -> bool {
        drop(self.stop);
        let ended = self.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        matches!(ended.recv_timeout(timeout), Err(RecvTimeoutError::Disconnected))
    }
}

fn renew_until(held: &Weak<Held>, every: Duration, stopped: &Receiver<()>) {
    while matches!(stopped.recv_timeout(every), Err(RecvTimeoutError::Timeout)) {
        let Some(held) = held.upgrade() else { return };
        // Errors of the store may pass before the lease does. A lost lock cannot be renewed.
        if held.renew().is_err_and(|error| error.code == Code::LockLost) {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
