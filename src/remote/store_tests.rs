//! Tests of the client on a store in memory with faults.

use super::*;
use crate::faults::Faulty;

fn code<T>(result: Result<T>) -> Option<Code> {
    result.err().map(|error| error.code)
}

#[test]
fn conditions_hold_or_fail() {
    let store = Store::in_memory();
    let first = store.put("k", "1".into(), Condition::Absent).expect("put");
    assert_eq!(code(store.put("k", "2".into(), Condition::Absent)), Some(Code::StoreChanged));
    let second = store.put("k", "2".into(), Condition::Match(first.clone())).expect("put");
    assert_eq!(code(store.put("k", "3".into(), Condition::Match(first))), Some(Code::StoreChanged));
    assert_eq!(code(store.put("no", "3".into(), Condition::Match(second.clone()))), Some(Code::StoreChanged));
    assert_eq!(store.head("k").expect("head").map(|info| (info.size, info.revision)), Some((1, second)));
}

#[test]
fn missing_objects_are_no_error_and_long_ones_are() {
    let store = Store::in_memory();
    assert_eq!(store.get("k", 10).expect("get"), None);
    assert_eq!(store.head("k").expect("head"), None);
    store.delete("k").expect("deleted");
    store.put("k", "12345".into(), Condition::Always).expect("put");
    assert_eq!(store.get("k", 5).expect("get").map(|object| object.bytes), Some(Bytes::from("12345")));
    let error = store.get("k", 4).expect_err("too long");
    assert_eq!(error.message, "`memory://store/k` is too long: it has 5 bytes, the limit is 4");
}

#[test]
fn ranges_are_of_one_version() {
    let store = Store::in_memory();
    let revision = store.put("k", "12345".into(), Condition::Always).expect("put");
    assert_eq!(store.get_range("k", 1, 3, &revision).expect("read"), "23");
    assert_eq!(store.get_range("k", 3, 99, &revision).expect("read"), "45");
    store.put("k", "67890".into(), Condition::Always).expect("put");
    assert_eq!(code(store.get_range("k", 1, 3, &revision)), Some(Code::StoreChanged));
}

#[test]
fn listings_are_whole_while_requests_fail() {
    let faulty = Arc::new(Faulty::default());
    let store = faulty.store();
    for number in 0..500 {
        store.put(&format!("p/{number:03}"), "x".into(), Condition::Always).expect("put");
    }
    store.put("prefix/1", "x".into(), Condition::Always).expect("put");
    faulty.before.store(10, std::sync::atomic::Ordering::SeqCst);
    let keys: Result<Vec<_>> = store.list("p").expect("a listing").map(|entry| Ok(entry?.key)).collect();
    let expected: Vec<_> = (0..500).map(|number| format!("p/{number:03}")).collect();
    assert_eq!(keys.expect("no error"), expected);
    let below: Result<Vec<_>> = store.below("p").list("").expect("a listing").map(|entry| Ok(entry?.key)).collect();
    assert_eq!(below.expect("no error").first().map(String::as_str), Some("000"));
    // A listing that nobody reads ends.
    drop(store.list("").expect("a listing"));
}

#[test]
fn a_put_whose_response_was_lost_succeeds_and_one_of_another_writer_does_not() {
    let faulty = Arc::new(Faulty { after: 2.into(), ..Faulty::default() });
    let store = faulty.store();
    for number in 0..50 {
        let key = format!("k{number}");
        let revision = store.put(&key, "ours".into(), Condition::Absent).expect("put");
        assert_eq!(store.get(&key, 10).expect("read").map(|object| object.revision), Some(revision));
        assert_eq!(code(store.put(&key, "theirs".into(), Condition::Absent)), Some(Code::StoreChanged));
    }
}

#[test]
fn keys_that_no_object_can_have_are_refused() {
    let store = Store::in_memory();
    for key in ["", "a//b", "../a", "a/..", "/a", "a/", "a\nb", &"x".repeat(1_025), &"/".repeat(1 << 20)] {
        assert_eq!(code(store.get(key, 1)), Some(Code::BadUrl), "{key:.20}");
        assert_eq!(code(store.put(key, "".into(), Condition::Always)), Some(Code::BadUrl), "{key:.20}");
    }
    for key in ["a b", "ä/ö", "%2e%2e/x", "*?#[]", &"x".repeat(1_024)] {
        store.put(key, "1".into(), Condition::Always).expect(key);
        assert_eq!(
            store.list("").expect("a listing").filter(|one| one.as_ref().is_ok_and(|one| one.key == key)).count(),
            1
        );
    }
}

#[test]
fn urls_name_stores() {
    assert_eq!(code(Store::at("dir/x")), Some(Code::BadUrl));
    assert_eq!(code(Store::at("oci://r.io/a:b")), Some(Code::BadUrl));
    let store = Store::in_memory().below("a").below("b/");
    assert_eq!((store.url(), &*store.url_of("k")), ("memory://store/a/b", "memory://store/a/b/k"));
}

/// Returns the number of pages until `next` is refused or ends.
fn pages_of(next: impl Fn(u64) -> Option<String>, is_empty: bool) -> (u64, Option<String>) {
    let (mut pages, mut count) = (Pages::default(), 0);
    loop {
        count += 1;
        match pages.advance(next(count), is_empty) {
            Ok(true) if count < 100_000 => {}
            Ok(_) => return (count, None),
            Err(failure) => return (count, Some(failure.diagnostic("list", "s3://b").message)),
        }
    }
}

#[test]
fn listings_without_end_are_noticed() {
    for circle in [1, 2, 3, 7, 100] {
        let (count, error) = pages_of(|page| Some((page % circle).to_string()), false);
        assert!(count <= 4 * circle + 4 && error.is_some_and(|error| error.contains("no end")), "{circle}: {count}");
    }
    let (count, error) = pages_of(|page| Some(page.to_string()), true);
    assert!(count <= u64::from(EMPTY_PAGES) + 1 && error.is_some());
    assert_eq!(pages_of(|page| (page < 5_000).then(|| page.to_string()), false), (5_000, None));
    assert_eq!(pages_of(|_| Some(String::new()), false), (1, None));
}

#[test]
fn listings_are_bounded() {
    let store = Store::in_memory();
    for key in ["a", "b", "c"] {
        store.put(key, "".into(), Condition::Always).expect("put");
    }
    let listed = |max| {
        let (sender, mut receiver) = mpsc::channel(10);
        let below = store.clone();
        let result = store.threads.wait(async move { below.list_into(&Path::default(), max, &sender).await });
        (std::iter::from_fn(move || receiver.blocking_recv()).count(), result.is_ok())
    };
    assert_eq!((listed(3), listed(2)), ((3, true), (2, false)));
}
