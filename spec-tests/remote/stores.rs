//! The client of stores on real servers, with and without faults on the way.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use dropforge::diagnostics::{Code, Result};
use dropforge::remote::{
    Bucket, Condition, Kind, LOCK, Lock, LockOptions, Patience, PutOptions, Putter, Store, StoreOptions, TreeLimits,
    fetch_file, fetch_tree,
};

use crate::proxy::{Fault, HANG, Proxy};
use crate::servers::Server;

/// Returns the settings for the server at `address`.
pub fn s3_settings(address: SocketAddr) -> Vec<(String, String)> {
    let endpoint = format!("http://{address}");
    let settings = [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
    ];
    settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// Returns the settings for the server at `address`, with the key that every Azurite has.
pub fn azure_settings(address: SocketAddr) -> Vec<(String, String)> {
    let key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    let settings = [
        ("AZURE_STORAGE_ACCOUNT_NAME", "devstoreaccount1".to_owned()),
        ("AZURE_STORAGE_ACCOUNT_KEY", key.to_owned()),
        ("AZURE_STORAGE_ENDPOINT", format!("http://{address}/devstoreaccount1")),
        ("AZURE_ALLOW_HTTP", "true".to_owned()),
    ];
    settings.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Opens a prefix of the bucket `fleet`. Attempts are quick, and give up hanging requests.
pub fn open(kind: Kind, settings: Vec<(String, String)>, prefix: &str) -> Store {
    let patience = Patience {
        first: Duration::from_millis(5),
        longest: Duration::from_millis(100),
        total: Duration::from_secs(40),
    };
    let options = StoreOptions { patience, timeout: HANG / 3, connections: 16, settings };
    let bucket = Bucket { kind, name: "fleet".to_owned(), key: prefix.to_owned() };
    Store::open_with(&bucket, &options).expect("a store")
}

fn code<T>(result: Result<T>) -> Option<Code> {
    result.err().map(|error| error.code)
}

/// What every store has to do.
fn contract(store: &Store) {
    let first = store.put("a/b c.yaml", "1".into(), Condition::Absent).expect("put");
    assert_eq!(code(store.put("a/b c.yaml", "2".into(), Condition::Absent)), Some(Code::StoreChanged));
    let second = store.put("a/b c.yaml", "22".into(), Condition::Match(first.clone())).expect("put");
    assert_eq!(code(store.put("a/b c.yaml", "3".into(), Condition::Match(first.clone()))), Some(Code::StoreChanged));
    assert_eq!(code(store.put("a/no", "3".into(), Condition::Match(first.clone()))), Some(Code::StoreChanged));
    let object = store.get("a/b c.yaml", 10).expect("read").expect("an object");
    assert_eq!((&object.bytes[..], object.revision.etag()), (&b"22"[..], second.etag()));
    assert_eq!(code(store.get("a/b c.yaml", 1)), Some(Code::LimitSourceBytes));
    assert_eq!(code(store.get_range("a/b c.yaml", 0, 1, &first)), Some(Code::StoreChanged));
    assert_eq!(store.get_range("a/b c.yaml", 1, 9, &second).expect("read"), "2");
    assert_eq!(store.get("a/none", 1).expect("read"), None);
    assert_eq!(store.head("a/none").expect("read"), None);
    store.put("a/empty", "".into(), Condition::Always).expect("put");
    assert_eq!(store.get("a/empty", 0).expect("read").expect("an object").bytes, "");
    store.put("ab/x", "".into(), Condition::Always).expect("put");
    let listed = |below: &str| -> Vec<_> {
        store
            .list(below)
            .expect("a listing")
            .map(|entry| entry.expect("an entry"))
            .map(|one| (one.key, one.size))
            .collect()
    };
    assert_eq!(listed("a"), [("a/b c.yaml".to_owned(), 2), ("a/empty".to_owned(), 0)]);
    assert_eq!(listed("none"), []);
    store.delete("a/empty").expect("deleted");
    store.delete("a/empty").expect("deleted again");
    assert_eq!(store.head("a/empty").expect("read"), None);
}

fn lock_contract(store: &Store) {
    let lock = Lock::acquire(store, LockOptions::default()).expect("the lock");
    lock.renew().expect("renewed");
    assert_eq!(code(Lock::acquire(store, LockOptions::default())), Some(Code::StoreLocked));
    lock.release().expect("released");
    let lock = Lock::acquire(store, LockOptions::default()).expect("the lock");
    Lock::break_lock(store, &dropforge::remote::SystemClock::new()).expect("broken").expect("a lock");
    assert_eq!(code(lock.renew()), Some(Code::LockLost));
    assert!(!lock.is_held() && store.head(LOCK).expect("read").is_some());
}

#[test]
fn s3() {
    let server = Server::shared_s3("stores");
    contract(&open(Kind::S3, s3_settings(server.address), "plain"));
    contract(&open(Kind::S3, s3_settings(server.address), "pre/fix ä%20"));
    lock_contract(&open(Kind::S3, s3_settings(server.address), "lock"));
}

#[test]
fn azure() {
    let server = Server::azure();
    contract(&open(Kind::Azure, azure_settings(server.address), "plain"));
    lock_contract(&open(Kind::Azure, azure_settings(server.address), "lock"));
}

#[test]
fn long_listings_and_trees() {
    let server = Server::shared_s3("stores");
    let store = open(Kind::S3, s3_settings(server.address), "many");
    let mut lane = Putter::new(&store, PutOptions::default()).lane();
    for number in 0..1_100 {
        lane.put(
            number,
            &format!("d{}/{number:04}.tera", number % 3),
            format!("n: {number}").into(),
            Condition::Always,
        );
    }
    assert!(lane.finish().iter().all(|outcome| outcome.result.is_ok()));
    let dir = tempfile::tempdir().expect("a directory");
    // More than a page of the listing.
    assert_eq!(fetch_tree(&store, dir.path(), TreeLimits::default()).expect("fetched"), 1_100);
    assert_eq!(std::fs::read_to_string(dir.path().join("d1/0400.tera")).expect("a file"), "n: 400");
}

#[test]
fn nothing_is_lost_and_nothing_is_half() {
    let server = Server::shared_s3("stores");
    let clean = open(Kind::S3, s3_settings(server.address), "out");
    let proxy = Proxy::start(server.address, |number, _| match number % 5 {
        0 | 2 => Fault::ALL[1 + number / 5 % 7],
        _ => Fault::None,
    });
    let store = open(Kind::S3, s3_settings(proxy.address), "out");
    let text = |number: usize| format!("{number}\n").repeat(1 + number * 7 % 900);
    let mut lane = Putter::new(&store, PutOptions { requests: 8, ..PutOptions::default() }).lane();
    for number in 0..150 {
        lane.put(number, &format!("{number}.yaml"), text(number).into(), Condition::Always);
    }
    let mut tickets: Vec<_> = lane.finish().into_iter().map(|one| (one.ticket, one.result.map(|_| ()))).collect();
    tickets.sort_by_key(|(ticket, _)| *ticket);
    let failed: Vec<_> = tickets.iter().filter_map(|(_, result)| result.as_ref().err()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(tickets.len(), 150);
    for number in 0..150 {
        let key = format!("{number}.yaml");
        let object = clean.get(&key, 1 << 20).expect("read").expect("an object");
        assert!(object.bytes == text(number), "{number}");
    }
    // Reading through the same faults.
    let keys: Result<Vec<_>> = store.list("").expect("a listing").map(|one| Ok(one?.key)).collect();
    assert_eq!(keys.expect("whole").len(), 150);
    for number in (0..150).step_by(5) {
        let mut bytes = Vec::new();
        fetch_file(&store, &format!("{number}.yaml"), 1 << 20, &mut bytes).expect("fetched");
        assert!(bytes == text(number).as_bytes(), "{number}");
    }
    let faults: Vec<_> = proxy.faults.iter().map(|count| count.load(std::sync::atomic::Ordering::SeqCst)).collect();
    assert!(faults.iter().all(|count| *count > 0), "{faults:?}");
}

#[test]
fn conditional_puts_whose_responses_are_lost_count_once() {
    let server = Server::shared_s3("stores");
    for fault in [Fault::BusyAfter, Fault::ResetAfter, Fault::Hang, Fault::Cut] {
        let proxy =
            Proxy::start(
                server.address,
                move |number, line| {
                    if number % 2 == 0 && line.starts_with("PUT") { fault } else { Fault::None }
                },
            );
        let store = open(Kind::S3, s3_settings(proxy.address), &format!("{fault:?}"));
        let first = store.put("manifest", "1".into(), Condition::Absent).expect("put");
        store.get("manifest", 9).expect("moves the number on");
        let second = store.put("manifest", "2".into(), Condition::Match(first.clone())).expect("put");
        assert_eq!(
            store.head("manifest").expect("read").map(|one| one.revision.etag().to_owned()),
            Some(second.etag().to_owned())
        );
        assert_eq!(code(store.put("manifest", "3".into(), Condition::Match(first))), Some(Code::StoreChanged));
        assert_eq!(store.get("manifest", 9).expect("read").expect("an object").bytes, "2");
        lock_contract(&store);
        assert!(proxy.faulty() > 3, "{fault:?}");
    }
}

#[test]
fn errors_say_what_to_do() {
    let server = Server::shared_s3("stores");
    let quick = |mut store: Store| {
        store = store.with_patience(Patience { total: Duration::from_millis(300), ..store.patience() });
        store
    };
    // No server: the port was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let began = Instant::now();
    let error = quick(open(Kind::S3, s3_settings(free), "p")).get("k", 1).expect_err("no server");
    assert_eq!(error.code, Code::StoreUnreachable);
    assert!(error.message.starts_with("cannot read `s3://fleet/p/k`: ") && error.help.is_some(), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10));
    // A bucket that does not exist.
    let bucket = Bucket { kind: Kind::S3, name: "nobody".to_owned(), key: "p".to_owned() };
    let options = StoreOptions { settings: s3_settings(server.address), ..StoreOptions::default() };
    let store = Store::open_with(&bucket, &options).expect("a store");
    assert_eq!(code(store.put("k", "1".into(), Condition::Always)), Some(Code::StoreMissing));
    let error = store.list("").expect("a listing").collect::<Result<Vec<_>>>().expect_err("no bucket");
    let message = "cannot list `s3://nobody/p`: The specified bucket does not exist";
    assert_eq!((error.code, error.message.as_str()), (Code::StoreFailed, message));
    // HTTP without TLS has to be allowed.
    let settings: Vec<_> =
        s3_settings(server.address).into_iter().filter(|(name, _)| name != "AWS_ALLOW_HTTP").collect();
    let error = quick(open(Kind::S3, settings, "p")).get("k", 1).expect_err("refused");
    assert_eq!(error.code, Code::StoreFailed, "{error}");
    // Conditional puts can be switched off.
    let settings = [s3_settings(server.address), vec![("AWS_CONDITIONAL_PUT".into(), "disabled".into())]].concat();
    let error = Lock::acquire(&open(Kind::S3, settings, "p"), LockOptions::default()).expect_err("refused");
    assert_eq!(error.code, Code::NoConditions);
    assert!(error.help.is_some_and(|help| help.contains("--no-lock")));
    // A server that always fails is given up after the total time.
    let proxy = Proxy::start(server.address, |_, _| Fault::Busy);
    let error = quick(open(Kind::S3, s3_settings(proxy.address), "p")).get("k", 1).expect_err("busy");
    assert_eq!(error.code, Code::StoreUnreachable);
    assert!(error.message.contains("the server answers 503") && error.message.contains("attempts)"), "{error}");
}
