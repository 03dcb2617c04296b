//! Every client against servers that lie: answers that are cut, endless, slow, too long, or no answers at all.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::remote::oci::{self, Reference};
use dropforge::remote::{Bucket, Condition, Kind, Patience, Store, StoreOptions};

use crate::stores::{azure_settings, s3_settings};

/// A part of the secrets that clients send.
const SECRET: &str = "s3cr3t";
/// The most that any client reads of one answer, and what the system keeps for it.
const MOST: u64 = (32 << 20) + (16 << 20);
/// The number of servers that lie to clients of one kind of store at a time.
const LIARS: usize = 4;
/// The time after which a client hangs.
const HANGS: Duration = Duration::from_secs(120);

const STATUSES: [&str; 16] = [
    "200 OK",
    "201 Created",
    "202 Accepted",
    "204 No Content",
    "206 Partial Content",
    "301 Moved Permanently",
    "304 Not Modified",
    "307 Temporary Redirect",
    "400 Bad Request",
    "401 Unauthorized",
    "403 Forbidden",
    "404 Not Found",
    "412 Precondition Failed",
    "416 Range Not Satisfiable",
    "429 Too Many Requests",
    "500 Internal Server Error",
];

const HEADERS: [&str; 14] = [
    "Content-Length: LENGTH",
    "Content-Length: LENGTH\r\nETag: \"e\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
    "Content-Length: 999999999999999999",
    "Content-Length: 3",
    "Content-Length: -1",
    "Content-Length: 1\r\nContent-Length: 2",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Content-Length: LENGTH\r\nLocation: http://ADDRESS/again",
    "Content-Length: LENGTH\r\nLocation: ::::\r\nWWW-Authenticate: Bearer realm=\"http://ADDRESS/token\"",
    "Content-Length: LENGTH\r\nWWW-Authenticate: Bearer realm=\"\"\r\nRetry-After: 99999999999999999999",
    "Content-Length: LENGTH\r\nContent-Range: bytes 5-1/0\r\nDate: nonsense",
    "Content-Length: LENGTH\r\nETag: \u{1}",
    "no colon",
];

const BODIES: [Body; 16] = [
    Body::Text(""),
    Body::Text("null"),
    Body::Text("[]"),
    Body::Text("[1]"),
    Body::Text("1"),
    Body::Text("{}"),
    Body::Text("{\"token\": \"a\\nb\"}"),
    Body::Text("{\"schemaVersion\": 2, \"config\":"),
    Body::Text("<html><body>Sign in</body></html>"),
    Body::Text("<?xml version=\"1.0\"?><ListBucketResult><Contents><Key>a</Key>"),
    Body::Text("<ListBucketResult><NextContinuationToken>t</NextContinuationToken></ListBucketResult>"),
    Body::Text("\u{0}\u{1}\u{fffd}"),
    Body::Text("5\r\nhello\r\nzz\r\n"),
    Body::Deep,
    Body::Endless,
    Body::Drip,
];

/// The body of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Body {
    Text(&'static str),
    /// Brackets in brackets.
    Deep,
    /// The same bytes until nobody reads them.
    Endless,
    /// A byte now and then.
    Drip,
}

/// What the server sends.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    /// A head and a body.
    Http(String, Body),
    /// These bytes.
    Raw(&'static [u8]),
    /// The head of an answer without end.
    EndlessHead,
    /// Nothing, on an open connection.
    Silence,
}

/// Returns the answers: each status with each kind of headers, each kind of headers with each body, and others.
fn answers() -> Vec<Answer> {
    let http =
        |status: &str, headers: &str, body| Answer::Http(format!("HTTP/1.1 {status}\r\n{headers}\r\n\r\n"), body);
    let mut answers = Vec::new();
    for (row, status) in STATUSES.iter().enumerate() {
        // Bodies that take time go with successes and with one failure only.
        let bodies = &BODIES[..if row < 2 || row == 8 { BODIES.len() } else { BODIES.len() - 2 }];
        answers.extend(
            HEADERS.iter().enumerate().map(|(at, headers)| http(status, headers, bodies[(row + at) % bodies.len()])),
        );
    }
    for headers in &HEADERS[..4] {
        answers.extend(BODIES.iter().map(|body| http("200 OK", headers, *body)));
    }
    answers.extend(
        [b"".as_slice(), b"\r\n\r\n", b"HTTP/9.9 200 OK\r\n\r\n", b"SSH-2.0-OpenSSH_9.6\r\n", b"\x16\x03\x01\x02\x00"]
            .map(Answer::Raw),
    );
    answers.extend([b"HTTP/1.1 ".as_slice(), b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Le"].map(Answer::Raw));
    answers.extend([Answer::EndlessHead, Answer::Silence]);
    answers
}

/// A server with one answer to every request. It ends with this value.
struct Liar {
    address: SocketAddr,
    answer: Arc<Mutex<Answer>>,
    end: Arc<AtomicBool>,
    /// The most bytes that one connection took.
    most: Arc<AtomicU64>,
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.end.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

impl Liar {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (answer, end, most) = (Arc::new(Mutex::new(Answer::Silence)), Arc::default(), Arc::default());
        let liar = Self { address, answer, end, most };
        let (answer, end, most) = (liar.answer.clone(), liar.end.clone(), liar.most.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if end.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, end, most) = (answer.lock().expect("an answer").clone(), end.clone(), most.clone());
                thread::spawn(move || {
                    let sent = tell(client, address, &answer, &end);
                    most.fetch_max(sent, Ordering::SeqCst);
                });
            }
        });
        liar
    }

    fn tell(&self, answer: &Answer) {
        *self.answer.lock().expect("an answer") = answer.clone();
    }
}

/// Answers one request. Returns the number of bytes that were sent.
fn tell(mut client: TcpStream, address: SocketAddr, answer: &Answer, end: &AtomicBool) -> u64 {
    let _ = client.set_read_timeout(Some(Duration::from_secs(1)));
    let _ = client.set_write_timeout(Some(Duration::from_secs(1)));
    let _ = client.read(&mut [0; 16 << 10]);
    let mut sent = 0;
    let mut write = |bytes: &[u8]| {
        let written = client.write_all(bytes).is_ok() && !end.load(Ordering::SeqCst);
        sent += bytes.len() as u64;
        written
    };
    match answer {
        Answer::Http(head, body) => {
            let text = match body {
                Body::Text(text) => (*text).to_owned(),
                Body::Deep => "[".repeat(100_000),
                Body::Endless | Body::Drip => "x".repeat(1 << 20),
            };
            let head = head.replace("LENGTH", &text.len().to_string()).replace("ADDRESS", &address.to_string());
            let is_chunked = head.contains("chunked");
            write(head.as_bytes());
            match body {
                Body::Endless if is_chunked => while write(format!("100000\r\n{text}\r\n").as_bytes()) {},
                Body::Endless => while write(text.as_bytes()) {},
                Body::Drip => {
                    while write(b" ") {
                        thread::sleep(Duration::from_millis(20));
                    }
                }
                _ => drop(write(text.as_bytes())),
            }
        }
        Answer::Raw(bytes) => drop(write(bytes)),
        Answer::EndlessHead => {
            write(b"HTTP/1.1 200 OK\r\n");
            while write(&b"X-More: yes\r\n".repeat(1_000)) {}
        }
        Answer::Silence => {
            let _ = client.read(&mut [0; 1]);
        }
    }
    sent
}

fn options(settings: Vec<(String, String)>) -> StoreOptions {
    let (first, longest, total) = (Duration::from_millis(1), Duration::from_millis(2), Duration::from_millis(5));
    let patience = Patience { first, longest, total };
    StoreOptions { patience, timeout: Duration::from_millis(150), connections: 4, settings }
}

fn google_settings(address: SocketAddr) -> Vec<(String, String)> {
    let key = format!(
        "{{\"gcs_base_url\": \"http://{address}\", \"disable_oauth\": true, \"client_email\": \"\", \"private_key\": \"\", \"private_key_id\": \"\"}}"
    );
    vec![("GOOGLE_SERVICE_ACCOUNT_KEY".to_owned(), key)]
}

fn store(kind: Kind, settings: Vec<(String, String)>) -> Result<Store> {
    Store::open_with(&Bucket { kind, name: "fleet".to_owned(), key: "p".to_owned() }, &options(settings))
}

/// Runs `work`, and fails if it does not end.
fn within<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(HANGS).unwrap_or_else(|_| panic!("no end: {what}"))
}

/// Checks an error: it names the place, no secret, and no fault of ours.
#[track_caller]
fn check(error: &Diagnostic, place: &str, answer: &Answer) {
    let message = format!("{} {}", error.message, error.help.as_deref().unwrap_or(""));
    assert!(message.contains(place), "{answer:?}: no `{place}`: {message}");
    assert!(!message.contains(SECRET) && !message.contains("panic"), "{answer:?}: {message}");
    assert!(
        error.code != Code::Internal && (error.help.is_some() || error.code == Code::LimitSourceBytes),
        "{answer:?}: {error}"
    );
    assert!(message.len() < 2_000, "{answer:?}: {} bytes", message.len());
}

/// Runs the operations of a store against all answers. Most of the time is spent waiting, so several servers lie at a time.
fn stores_against(kind: Kind, settings: impl Fn(SocketAddr) -> Vec<(String, String)> + Sync) {
    let (answers, settings) = (answers(), &settings);
    thread::scope(|scope| {
        for part in answers.chunks(answers.len().div_ceil(LIARS)) {
            scope.spawn(move || store_against(kind, settings, part));
        }
    });
}

fn store_against(kind: Kind, settings: impl Fn(SocketAddr) -> Vec<(String, String)>, answers: &[Answer]) {
    let liar = Liar::start();
    let store = store(kind, settings(liar.address)).expect("a store");
    for answer in answers {
        liar.tell(answer);
        let store = store.clone();
        let errors = within(&format!("{answer:?}"), move || {
            let listed = store.list("").and_then(|all| all.take(10_000).collect::<Result<Vec<_>>>());
            let put = store.put("k", "content".into(), Condition::Absent);
            let results = [
                listed.map(|_| ()),
                store.get("k", 1 << 20).map(|found| assert!(found.is_none_or(|found| found.bytes.len() <= 1 << 20))),
                store.head("k").map(|_| ()),
                put.map(|_| ()),
                store.delete("k"),
            ];
            results.into_iter().filter_map(std::result::Result::err).collect::<Vec<_>>()
        });
        errors.iter().for_each(|error| check(error, "://fleet/p", answer));
    }
    assert!(liar.most.load(Ordering::SeqCst) < MOST, "{} bytes", liar.most.load(Ordering::SeqCst));
}

#[test]
fn s3_does_not_trust() {
    assert!(answers().len() > 280);
    stores_against(Kind::S3, |address| {
        let mut settings = s3_settings(address);
        settings.push(("AWS_SECRET_ACCESS_KEY".to_owned(), SECRET.to_owned()));
        settings.push(("AWS_SESSION_TOKEN".to_owned(), SECRET.to_owned()));
        settings
    });
}

#[test]
fn azure_does_not_trust() {
    stores_against(Kind::Azure, azure_settings);
}

#[test]
fn google_does_not_trust() {
    stores_against(Kind::Google, google_settings);
}

#[test]
fn registries_are_not_trusted() {
    let liar = Liar::start();
    let reference: Reference = format!("{}/acme/t:v1", liar.address).parse().expect("a reference");
    for answer in answers() {
        liar.tell(&answer);
        let (reference, place) = (reference.clone(), format!("oci://{reference}"));
        let errors = within(&format!("{answer:?}"), move || {
            let pushed = oci::push_with(&reference, "x".into(), Default::default(), &options(Vec::new()));
            [oci::pull_with(&reference, 1 << 20, &options(Vec::new())).map(|_| ()), pushed.map(|_| ())]
        });
        let [pulled, pushed] = errors;
        check(&pulled.expect_err("no artifact"), &place, &answer);
        pushed.err().iter().for_each(|error| check(error, &place, &answer));
    }
    assert!(liar.most.load(Ordering::SeqCst) < MOST);
}

/// Runs a command of the catalog at `server`. Returns its exit code and its standard error.
fn catalog(server: &str, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new("timeout");
    command.args(["120", env!("CARGO_BIN_EXE_dropforge"), "catalog", "--timeout", "200ms", "--server", server]);
    let output = command.args(args).env("DROPFORGE_KEY", SECRET).output().expect("the command runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn services_are_not_trusted() {
    let liar = Liar::start();
    let server = format!("http://me:{SECRET}@{}", liar.address);
    for (at, answer) in answers().into_iter().enumerate() {
        if matches!(answer, Answer::Http(_, Body::Endless)) {
            // A catalog may have much to say: its bound takes too long to reach here.
            continue;
        }
        liar.tell(&answer);
        let commands: [&[&str]; 4] = [&["show", "web"], &["list"], &["delete", "web@2"], &["stack", "list"]];
        let (code, errors) = catalog(&server, commands[at % 4]);
        assert!(matches!(code, Some(0..=3)), "{answer:?}: {code:?} {errors}");
        assert!(!errors.contains(SECRET) && !errors.contains("panicked"), "{answer:?}: {errors}");
        // An empty list is an answer, too.
        let is_answer = errors.contains("rejected the key") || errors.contains("unknown version");
        let names_it = errors.contains(&liar.address.to_string()) || is_answer;
        assert!(code == Some(0) || names_it, "{answer:?}: {errors}");
    }
}

#[test]
fn addresses_of_services_are_checked_without_their_passwords() {
    for server in
        ["", "localhost:3000", "ftp://me:s3cr3t@x", "http://", "http://me:s3cr3t@", "http://a b", "http://[::1"]
    {
        let (code, errors) = catalog(server, &["list"]);
        assert!(code == Some(2) && errors.contains("--server http://HOST:PORT"), "{server}: {code:?} {errors}");
        assert!(!errors.contains(SECRET), "{server}: {errors}");
    }
    let (_, errors) = catalog("http://me:s3cr3t@no-such-host.invalid", &["list"]);
    assert!(
        errors.contains("`http://no-such-host.invalid/api/v1") && errors.contains("cannot be resolved"),
        "{errors}"
    );
    assert!(!errors.contains(SECRET), "{errors}");
}

/// Settings that some client cannot use, or only in a strange way.
const ODD: [&str; 15] =
    ["", " ", "x", "a\nb", "http://", "ü", "://", "%zz", "[", "http://[", ":0", "a b", "-", "/etc/none", "\u{7f}"];

#[test]
fn no_setting_ends_a_thread() {
    let liar = Liar::start();
    liar.tell(&Answer::Http("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n".to_owned(), Body::Text("")));
    let names = [
        (
            Kind::S3,
            &[
                "ENDPOINT_URL",
                "ENDPOINT_URL_S3",
                "REGION",
                "DEFAULT_REGION",
                "SESSION_TOKEN",
                "ACCESS_KEY_ID",
                "SECRET_ACCESS_KEY",
                "METADATA_ENDPOINT",
                "CONTAINER_CREDENTIALS_FULL_URI",
                "ROLE_ARN",
                "CHECKSUM_ALGORITHM",
                "REQUEST_PAYER",
                "VIRTUAL_HOSTED_STYLE_REQUEST",
                "ALLOW_HTTP",
            ][..],
        ),
        (
            Kind::Azure,
            &[
                "STORAGE_ACCOUNT_NAME",
                "STORAGE_ACCOUNT_KEY",
                "STORAGE_ENDPOINT",
                "STORAGE_SAS_KEY",
                "STORAGE_TOKEN",
                "AUTHORITY_HOST",
                "CLIENT_ID",
                "ALLOW_HTTP",
            ],
        ),
        (Kind::Google, &["SERVICE_ACCOUNT_KEY", "SERVICE_ACCOUNT", "APPLICATION_CREDENTIALS", "BASE_URL"]),
    ];
    for (kind, names) in names {
        for (name, value) in names.iter().flat_map(|name| ODD.map(|value| (name, value))) {
            let (prefix, mut settings) = match kind {
                Kind::S3 => ("AWS", s3_settings(liar.address)),
                Kind::Azure => ("AZURE", azure_settings(liar.address)),
                Kind::Google => ("GOOGLE", google_settings(liar.address)),
            };
            settings.push((format!("{prefix}_{name}"), value.to_owned()));
            let error = within(name, move || store(kind, settings).and_then(|store| store.get("k", 10))).err();
            assert!(error.as_ref().is_none_or(|error| error.code != Code::Internal), "{name}={value:?}: {error:?}");
        }
    }
}
