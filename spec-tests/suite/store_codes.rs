//! Provokes the codes of object stores and registries. Servers are threads that give every request the same answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use dropforge::diagnostics::{Code, Result};
use dropforge::remote::{
    Bucket, Condition, Kind, Lock, LockOptions, Patience, Store, StoreOptions, SystemClock, fetch_file, oci,
};

fn code<T>(result: Result<T>) -> Vec<Code> {
    vec![result.err().expect("an error").code]
}

/// Reads a request.
fn request(stream: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(false);
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            std::io::copy(&mut stream.take(length), &mut std::io::sink())?;
            return Ok(true);
        }
    }
}

/// Starts a server that gives every request the same answer.
fn server(status: &'static str) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut stream = BufReader::new(stream);
                while let Ok(true) = request(&mut stream) {
                    let answer = format!("HTTP/1.1 {status}\r\nETag: \"0\"\r\nContent-Length: 2\r\n\r\n{{}}");
                    if stream.get_mut().write_all(answer.as_bytes()).is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

/// Opens a store of S3 at an address. Its operations end soon.
fn store(address: SocketAddr) -> Store {
    store_with(address, "etag")
}

/// Works like [`store`], with a setting for conditional puts.
fn store_with(address: SocketAddr, conditional_put: &str) -> Store {
    let settings = [
        ("AWS_ENDPOINT_URL", format!("http://{address}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "key".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ("AWS_CONDITIONAL_PUT", conditional_put.to_owned()),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let patience = Patience { total: Duration::from_millis(10), ..Patience::default() };
    let options = StoreOptions { settings, patience, ..StoreOptions::default() };
    let bucket = Bucket { kind: Kind::S3, name: "bucket".into(), key: "prefix".into() };
    Store::open_with(&bucket, &options).expect("a store")
}

fn put(store: &Store, condition: Condition) -> Result<()> {
    store.put("a", "x".into(), condition).map(|_| ())
}

pub(crate) fn unreachable() -> Vec<Code> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    code(put(&store(free.expect("a port")), Condition::Always))
}

pub(crate) fn denied() -> Vec<Code> {
    code(put(&store(server("403 Forbidden")), Condition::Always))
}

pub(crate) fn failed() -> Vec<Code> {
    code(put(&store(server("400 Bad Request")), Condition::Always))
}

pub(crate) fn missing() -> Vec<Code> {
    code(fetch_file(&Store::in_memory(), "none", 1 << 20, &mut Vec::new()))
}

pub(crate) fn changed() -> Vec<Code> {
    let store = Store::in_memory();
    put(&store, Condition::Always).expect("put");
    code(put(&store, Condition::Absent))
}

pub(crate) fn locked() -> Vec<Code> {
    let store = Store::in_memory();
    let _lock = Lock::acquire(&store, LockOptions::default()).expect("a lock");
    code(Lock::acquire(&store, LockOptions::default()))
}

pub(crate) fn lock_lost() -> Vec<Code> {
    let store = Store::in_memory();
    let lock = Lock::acquire(&store, LockOptions::default()).expect("a lock");
    Lock::break_lock(&store, &SystemClock::default()).expect("broken");
    code(lock.renew())
}

pub(crate) fn no_conditions() -> Vec<Code> {
    code(Lock::acquire(&store_with(server("404 Not Found"), "disabled"), LockOptions::default()))
}

pub(crate) fn bad_url() -> Vec<Code> {
    code(Store::at("bucket/prefix"))
}

pub(crate) fn wrong_digest() -> Vec<Code> {
    let reference = format!("{}/app@sha256:{}", server("200 OK"), "0".repeat(64));
    code(oci::pull(&reference.parse().expect("a reference"), 1 << 20))
}
