//! Tests of locks: one holder at a time, whatever is lost on the way. The clock is moved, not waited for.

use std::sync::atomic::{AtomicU32, AtomicUsize};
use std::thread;

use super::*;
use crate::ManualClock;
use crate::faults::Faulty;

struct World {
    faulty: Arc<Faulty>,
    clock: Arc<ManualClock>,
}

impl World {
    fn new(faulty: Faulty) -> Self {
        Self { faulty: Arc::new(faulty), clock: Arc::new(ManualClock::at(1_000_000)) }
    }

    fn store(&self) -> Store {
        self.faulty.store()
    }

    fn acquire(&self) -> Result<Lock> {
        Lock::acquire(&self.store(), LockOptions { renew: None, clock: self.clock.clone(), ..LockOptions::default() })
    }

    fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

fn code<T>(result: Result<T>) -> Option<Code> {
    result.err().map(|error| error.code)
}

#[test]
fn the_second_run_is_told_who_holds_the_lock_since_when() {
    let world = World::new(Faulty::default());
    let _first = world.acquire().expect("the lock");
    let error = world.acquire().expect_err("locked");
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let holder = format!("process {} on `{host}` since 1970-01-12T13:46:40Z", std::process::id());
    assert_eq!((error.code, error.message), (Code::StoreLocked, format!("`memory://store` is locked by {holder}")));
    assert_eq!(error.notes, ["the lock expires at 1970-01-12T13:48:40Z unless it is renewed"]);
    assert!(error.help.is_some_and(|help| help.contains("--break-lock")));
}

#[test]
fn a_lock_is_released_and_taken_again() {
    let world = World::new(Faulty::default());
    drop(world.acquire().expect("the lock"));
    world.acquire().expect("the lock").release().expect("released");
    let third = world.acquire().expect("the lock");
    assert!(third.is_held());
}

#[test]
fn an_expired_lock_is_taken_and_its_holder_notices_before() {
    let world = World::new(Faulty::default());
    let first = world.acquire().expect("the lock");
    world.pass(89);
    assert!(first.is_held());
    assert_eq!(code(world.acquire()), Some(Code::StoreLocked));
    world.pass(2);
    assert!(!first.is_held(), "the last 30 seconds of the lease do not count");
    assert_eq!(code(world.acquire()), Some(Code::StoreLocked));
    world.pass(29);
    let second = world.acquire().expect("the lock has expired");
    assert_eq!(code(first.renew()), Some(Code::LockLost));
    drop(first);
    assert!(second.is_held());
    second.renew().expect("releasing a lost lock changes nothing");
}

#[test]
fn renewals_extend_the_lease() {
    let world = World::new(Faulty::default());
    let lock = world.acquire().expect("the lock");
    let made = lock.record().made;
    for _ in 0..20 {
        world.pass(60);
        lock.renew().expect("renewed");
        assert!(lock.is_held());
        assert_eq!(code(world.acquire()), Some(Code::StoreLocked));
    }
    assert_eq!(lock.record().made, made);
    assert_eq!(lock.record().renewed, made + 20 * 60_000);
}

#[test]
fn a_lock_that_could_not_be_renewed_stays_lost() {
    let world = World::new(Faulty::default());
    let lock = world.acquire().expect("the lock");
    world.faulty.down.store(true, Ordering::SeqCst);
    let quick = Patience { total: Duration::from_millis(5), ..world.store().patience() };
    let held = &lock.held;
    let broken = Held {
        store: held.store.with_patience(quick),
        lease: held.lease,
        margin: held.margin,
        clock: held.clock.clone(),
        current: Mutex::new(held.current().clone()),
        until: AtomicU64::new(held.until.load(Ordering::SeqCst)),
        lost: AtomicBool::new(false),
        why: Mutex::new(None),
    };
    assert_eq!(code(broken.renew()), Some(Code::StoreUnreachable));
    assert!(broken.is_held(), "the lease goes on");
    world.pass(90);
    assert!(!broken.is_held());
    world.faulty.down.store(false, Ordering::SeqCst);
    let error = broken.renew().expect_err("lost");
    assert!(error.message.ends_with("it could not be renewed in time"), "{error}");
}

#[test]
fn a_broken_or_deleted_lock_is_lost_at_the_next_renewal() {
    let world = World::new(Faulty::default());
    let lock = world.acquire().expect("the lock");
    let broken = Lock::break_lock(&world.store(), &*world.clock).expect("broken").expect("a record");
    assert_eq!(broken, lock.record());
    assert_eq!(Lock::break_lock(&world.store(), &*world.clock).expect("nothing to break"), None);
    let second = world.acquire().expect("the lock is free");
    let error = lock.renew().expect_err("lost");
    assert!(error.message.contains("has taken it"), "{error}");
    assert!(!lock.is_held());
    world.store().delete(LOCK).expect("deleted");
    let error = second.renew().expect_err("lost");
    assert!(error.message.contains("was deleted"), "{error}");
}

#[test]
fn an_object_that_is_no_lock_is_not_overwritten_unasked() {
    let world = World::new(Faulty::default());
    for bytes in ["", "{}", "[1,2", "\u{0}\u{1}"] {
        world.store().put(LOCK, bytes.into(), Condition::Always).expect("put");
        assert_eq!(code(world.acquire()), Some(Code::StoreLocked), "{bytes:?}");
    }
    world.store().put(LOCK, vec![b'['; 1 << 20].into(), Condition::Always).expect("put");
    assert_eq!(code(world.acquire()), Some(Code::LimitSourceBytes));
    world.store().put(LOCK, "{}".into(), Condition::Always).expect("put");
    Lock::break_lock(&world.store(), &*world.clock).expect("broken");
    assert!(world.acquire().is_ok());
}

#[test]
fn stores_without_conditions_are_refused() {
    let world = World::new(Faulty { plain: true, ..Faulty::default() });
    assert_eq!(code(world.acquire()), Some(Code::NoConditions));
    let world = World::new(Faulty { blind: true, ..Faulty::default() });
    let error = world.acquire().expect_err("refused");
    assert!(error.message.contains("ignores conditions"), "{error}");
    assert_eq!(world.store().get(LOCK, 1 << 20).expect("read"), None, "nothing is left behind");
}

#[test]
fn lost_responses_do_not_lose_the_lock() {
    let world = World::new(Faulty { before: 3.into(), after: 3.into(), ..Faulty::default() });
    for _ in 0..30 {
        let lock = world.acquire().expect("the lock");
        for _ in 0..5 {
            lock.renew().expect("renewed");
        }
        assert_eq!(code(world.acquire()), Some(Code::StoreLocked));
        lock.release().expect("released");
    }
}

/// Threads take, renew and release one lock, while time passes and responses are lost. Some holders die.
#[test]
fn there_is_one_holder_at_a_time() {
    let world = World::new(Faulty { before: AtomicU32::new(20), after: AtomicU32::new(20), ..Faulty::default() });
    let (holders, turns) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let began = std::time::Instant::now();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while turns.load(Ordering::SeqCst) < 60 && began.elapsed() < Duration::from_secs(60) {
                    match world.acquire() {
                        Ok(lock) => hold(&world, lock, &holders, &turns),
                        Err(error) => assert_eq!(error.code, Code::StoreLocked, "{error}"),
                    }
                }
            });
        }
    });
    assert!(turns.load(Ordering::SeqCst) >= 60);
}

fn hold(world: &World, lock: Lock, holders: &AtomicUsize, turns: &AtomicUsize) {
    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two holders");
    turns.fetch_add(1, Ordering::SeqCst);
    for _ in 0..fastrand::usize(..4) {
        world.pass(10);
        lock.renew().expect("renewed in time");
    }
    thread::sleep(Duration::from_millis(1));
    assert!(lock.is_held());
    assert_eq!(holders.fetch_sub(1, Ordering::SeqCst), 1, "two holders");
    if fastrand::bool() {
        lock.release().expect("released");
    } else {
        // Dies: others have to wait until the lease is over.
        std::mem::forget(lock);
        world.pass(121);
    }
}

#[test]
fn the_background_thread_renews_and_ends() {
    let store = Store::in_memory();
    let options = LockOptions { renew: Some(Duration::from_millis(5)), ..LockOptions::default() };
    let lock = Lock::acquire(&store, options).expect("the lock");
    let first = lock.record().renewed;
    let began = std::time::Instant::now();
    while lock.record().renewed == first {
        assert!(began.elapsed() < Duration::from_secs(20), "never renewed");
        thread::sleep(Duration::from_millis(2));
    }
    lock.release().expect("released");
    let object = store.get(LOCK, 1 << 20).expect("read").expect("the object");
    thread::sleep(Duration::from_millis(20));
    assert_eq!(store.get(LOCK, 1 << 20).expect("read"), Some(object), "no renewal after the release");
}
