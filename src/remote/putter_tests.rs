//! Tests of concurrent puts: every outcome is reported once, whatever fails.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::faults::{Faulty, QUICK};
use crate::{Lock, LockOptions, ManualClock, Patience};

/// Puts `count` objects from each of four threads. Returns all outcomes.
fn put_all(putter: &Putter, count: usize) -> Vec<Outcome<String>> {
    let lane = |thread: usize| {
        let mut lane = putter.lane();
        let mut outcomes = Vec::new();
        for number in 0..count {
            let key = format!("{thread}/{number}.yaml");
            lane.put(key.clone(), &key, format!("x: {key}\n").into(), Condition::Always);
            outcomes.extend(lane.ready());
        }
        outcomes.extend(lane.finish());
        assert_eq!(lane.pending(), 0);
        outcomes
    };
    let mut outcomes: Vec<_> = thread::scope(|scope| {
        let lanes: Vec<_> = (0..4).map(|thread| scope.spawn(move || lane(thread))).collect();
        lanes.into_iter().flat_map(|lane| lane.join().expect("no panic")).collect()
    });
    outcomes.sort_by(|a, b| a.ticket.cmp(&b.ticket));
    outcomes.dedup_by(|a, b| a.ticket == b.ticket);
    outcomes
}

#[test]
fn nothing_is_lost_while_a_quarter_of_the_requests_fails() {
    let faulty = Arc::new(Faulty { before: 8.into(), after: 8.into(), ..Faulty::default() });
    let store = faulty.store();
    let outcomes = put_all(&Putter::new(&store, PutOptions::default()), 200);
    assert_eq!(outcomes.len(), 800);
    for Outcome { ticket, result } in outcomes {
        let revision = result.expect("put").expect("a version");
        let object = store.get(&ticket, 1 << 20).expect("read").expect("an object");
        assert_eq!(object.bytes, format!("x: {ticket}\n"));
        assert_eq!(object.revision, revision, "{ticket}");
    }
}

#[test]
fn requests_and_bytes_underway_are_bounded() {
    let faulty = Arc::new(Faulty::default());
    let options = PutOptions { requests: 5, ..PutOptions::default() };
    put_all(&Putter::new(&faulty.store(), options), 50);
    assert!((2..=5).contains(&faulty.most.load(Ordering::SeqCst)));
    let faulty = Arc::new(Faulty::default());
    let options = PutOptions { bytes: 1, ..PutOptions::default() };
    let outcomes = put_all(&Putter::new(&faulty.store(), options), 10);
    assert_eq!((faulty.most.load(Ordering::SeqCst), outcomes.len()), (1, 40));
}

#[test]
fn a_store_that_is_down_stops_all_puts_after_the_time_of_one() {
    let faulty = Arc::new(Faulty { down: true.into(), ..Faulty::default() });
    let total = Duration::from_millis(300);
    let store = faulty.store().with_patience(Patience { total, ..QUICK });
    let began = Instant::now();
    let outcomes = put_all(&Putter::new(&store, PutOptions { requests: 2, ..PutOptions::default() }), 100);
    assert!(began.elapsed() < total * 10, "{:?}", began.elapsed());
    assert_eq!(outcomes.len(), 400);
    assert!(outcomes.iter().all(|one| one.result.as_ref().is_err_and(|error| error.code == Code::StoreUnreachable)));
    assert_eq!(faulty.puts.load(Ordering::SeqCst), 0);
}

#[test]
fn nothing_is_written_after_the_lock_is_lost() {
    let faulty = Arc::new(Faulty::default());
    let clock = Arc::new(ManualClock::at(1_000));
    let lock =
        Lock::acquire(&faulty.store(), LockOptions { renew: None, clock: clock.clone(), ..LockOptions::default() });
    let lock = lock.expect("the lock");
    let putter = Putter::new(&faulty.store(), PutOptions { guard: Some(lock.guard()), ..PutOptions::default() });
    assert!(put_all(&putter, 5).iter().all(|outcome| outcome.result.is_ok()));
    clock.advance(Duration::from_secs(91));
    let before = faulty.puts.load(Ordering::SeqCst);
    let outcomes = put_all(&putter, 5);
    assert!(outcomes.iter().all(|one| one.result.as_ref().is_err_and(|error| error.code == Code::LockLost)));
    assert_eq!(faulty.puts.load(Ordering::SeqCst), before);
}

#[test]
fn bad_keys_failed_conditions_and_deletions_are_reported() {
    let store = Arc::new(Faulty::default()).store();
    store.put("there", "1".into(), Condition::Absent).expect("put");
    let mut lane = Putter::new(&store, PutOptions::default()).lane();
    lane.put(1, "a//b", "x".into(), Condition::Always);
    lane.put(2, &"x".repeat(2_000), "x".into(), Condition::Always);
    lane.put(3, "there", "x".into(), Condition::Absent);
    lane.delete(4, "nowhere");
    let mut outcomes = lane.finish();
    outcomes.sort_by_key(|outcome| outcome.ticket);
    let codes: Vec<_> = outcomes.iter().map(|one| one.result.as_ref().err().map(|error| error.code)).collect();
    assert_eq!(codes, [Some(Code::BadUrl), Some(Code::BadUrl), Some(Code::StoreChanged), None]);
    lane.delete(5, "there");
    assert!(lane.finish().iter().all(|outcome| outcome.result.is_ok()));
    assert_eq!(store.get("there", 10).expect("read"), None);
}
