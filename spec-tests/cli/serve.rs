//! `serve`: the first key, limits, signals, and errors at startup.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use crate::support::{Outcome, Sandbox, outcome};

/// A service that stops at the end of the test.
struct Service {
    child: Child,
    address: String,
    /// The lines before the address.
    notes: Vec<String>,
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Service {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut notes = Vec::new();
        // The rest of standard error is read by nobody and small.
        for line in BufReader::new(child.stderr.take().unwrap()).lines() {
            let line = line.unwrap();
            let address = line.strip_prefix("listening on http://").or(line.strip_prefix("listening on https://"));
            if let Some(address) = address {
                return Self { child, address: address.to_owned(), notes };
            }
            notes.push(line);
        }
        panic!("no address, {:?}: {notes:?}", child.wait());
    }

    fn of(sandbox: &Sandbox, args: &[&str]) -> Self {
        Self::start(sandbox.command(&[&["serve", "--listen", "127.0.0.1:0", "--db", "c.db"], args].concat()))
    }

    /// The head of the response to a request.
    fn asked(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        let _ = stream.read_to_string(&mut reply);
        reply
    }

    /// The status of a request with a key.
    fn status(&self, key: &str) -> String {
        let head = format!("Authorization: {}\r\nConnection: close\r\n", key.trim());
        let reply = self.asked(&format!("POST /api/v1/auth/pak HTTP/1.1\r\nHost: t\r\n{head}\r\n"));
        reply.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn ended(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

#[test]
fn the_first_key_is_written_to_a_new_file_and_never_again() {
    let sandbox = Sandbox::new();
    let first = Service::of(&sandbox, &["--init", "admin.key"]);
    let key = sandbox.read("admin.key");
    let mode = std::fs::metadata(sandbox.path("admin.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(first.status(&key), "200");
    assert!(first.notes.iter().any(|note| note.contains("wrote the administrator key to `admin.key`")));
    drop(first);
    // The same line again leaves the file as it is, and so does another name.
    for file in ["admin.key", "other.key"] {
        let again = Service::of(&sandbox, &["--init", file]);
        assert_eq!(again.status(&key), "200");
        assert!(again.notes.iter().any(|note| note.contains("has an administrator key")), "{:?}", again.notes);
    }
    assert_eq!(sandbox.read("admin.key"), key);
    assert!(!sandbox.path("other.key").exists());
}

#[test]
fn a_file_that_exists_is_not_overwritten_with_a_key() {
    let sandbox = Sandbox::with(&[("admin.key", "the only copy of another key\n")]);
    let refused = sandbox.run(&["serve", "--listen", "127.0.0.1:0", "--db", "c.db", "--init", "admin.key"]);
    refused.expect(1).says(&["`admin.key`: the file exists", "--init-key-file admin.key"]);
    assert_eq!(sandbox.read("admin.key"), "the only copy of another key\n");
    let missing = sandbox.run(&["serve", "--listen", "127.0.0.1:0", "--db", "c.db", "--init", "no/admin.key"]);
    missing.expect(1).says(&["cannot write the administrator key to `no/admin.key`"]);
    // The catalog has no key that nobody knows.
    let service = Service::of(&sandbox, &["--init", "new.key"]);
    assert_eq!(service.status(&sandbox.read("new.key")), "200");
}

#[test]
fn a_printed_key_is_the_only_output() {
    let sandbox = Sandbox::new();
    let printed = |sandbox: &Sandbox| {
        let mut service = Service::of(sandbox, &["--init"]);
        service.child.kill().unwrap();
        let mut text = String::new();
        service.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        text
    };
    assert!(printed(&sandbox).starts_with("brokkr_BR"));
    assert_eq!(printed(&sandbox), "");
}

#[test]
fn every_signal_to_end_ends_it_alike() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let sandbox = Sandbox::new();
        let service = Service::of(&sandbox, &["--not-ready", "0"]);
        service.signal(signal);
        assert_eq!(service.ended(), Some(0), "{signal:?}");
    }
}

#[test]
fn a_hangup_ends_a_service_that_was_started_to_ignore_it() {
    let sandbox = Sandbox::new();
    let line = "trap '' HUP; exec dropforge serve --listen 127.0.0.1:0 --db c.db --not-ready 0";
    let service = Service::start(sandbox.shell("-c", line));
    service.signal(Signal::HUP);
    assert_eq!(service.ended(), Some(0));
}

#[test]
fn a_request_that_never_ends_does_not_hold_up_the_end() {
    let sandbox = Sandbox::new();
    let service = Service::of(&sandbox, &["--drain", "100ms", "--init", "admin.key"]);
    let mut stream = TcpStream::connect(&service.address).unwrap();
    let head =
        format!("Authorization: {}\r\nExpect: 100-continue\r\nContent-Length: 9\r\n", sandbox.read("admin.key").trim());
    write!(stream, "POST /api/v1/generators HTTP/1.1\r\nHost: t\r\n{head}\r\n").unwrap();
    stream.read_exact(&mut [0; 12]).unwrap();
    service.signal(Signal::TERM);
    assert_eq!(service.ended(), Some(0));
}

#[test]
fn a_handshake_that_never_ends_does_not_hold_up_the_end_nor_others() {
    let sandbox = Sandbox::new();
    for name in ["first.pem", "first.key"] {
        let path = format!("{}/../spec-tests/cli/tls/{name}", env!("CARGO_MANIFEST_DIR"));
        sandbox.write(name, &std::fs::read_to_string(path).unwrap());
    }
    let mut command = sandbox.command(&["serve", "--db", "c.db", "--listen", "127.0.0.1:0", "--not-ready", "0"]);
    command.args(["--tls-cert", "first.pem", "--tls-key", "first.key", "--connections", "4"]);
    command.args(["--head-timeout", "1h", "--drain", "1h"]);
    let service = Service::start(command);
    // Each newcomer takes the place of the oldest one.
    let mut open: Vec<_> = (0..6).map(|_| TcpStream::connect(&service.address).unwrap()).collect();
    for stream in &mut open[..2] {
        assert_eq!(stream.read(&mut [0; 1]).unwrap_or(0), 0);
    }
    service.signal(Signal::TERM);
    assert_eq!(service.ended(), Some(0));
}

#[test]
fn limits_come_from_options_and_else_from_the_environment() {
    let sandbox = Sandbox::new();
    let serve = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.command(&["serve", "--db", "c.db", "--listen", "127.0.0.1:0", "--init", "admin.key"]);
        command.args(args).envs(variables.iter().copied());
        Service::start(command)
    };
    let posted = |service: &Service| {
        let key = sandbox.read("admin.key");
        let head = format!("Authorization: {}\r\nContent-Type: application/json\r\n", key.trim());
        let body = format!("{{\"name\":\"{}\"}}", service.address);
        let head = format!("{head}Content-Length: {}\r\nConnection: close\r\n", body.len());
        service.asked(&format!("POST /api/v1/generators HTTP/1.1\r\nHost: t\r\n{head}\r\n{body}"))
    };
    assert!(posted(&serve(&[], &[])).contains(" 201 "));
    assert!(posted(&serve(&["--max-body", "10"], &[])).contains(" 413 "));
    assert!(posted(&serve(&[], &[("DROPFORGE_MAX_BODY", "10")])).contains(" 413 "));
    assert!(posted(&serve(&["--max-body", "1MiB"], &[("DROPFORGE_MAX_BODY", "10")])).contains(" 201 "));
    let kept = serve(&["--keep-alive", "0"], &[]);
    assert!(kept.asked("GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n").to_ascii_lowercase().contains("connection: close"));
    let half = serve(&[], &[("DROPFORGE_HEAD_TIMEOUT", "50ms")]);
    assert_eq!(half.asked("GET /healthz HT"), "");
    for (option, value) in [("--connections", "0"), ("--keep-alive", "soon"), ("--max-body", "-1"), ("--drain", "1w")] {
        let args = ["serve", "--db", "c.db", &format!("{option}={value}")];
        outcome(sandbox.command(&args)).expect(2).says(&[option]);
    }
}

#[test]
fn a_full_disk_is_told_and_writes_resume_alone() {
    let sandbox = Sandbox::new();
    let limits = "ulimit -S -f 2048; exec dropforge serve --listen 127.0.0.1:0 --db c.db --init admin.key";
    let service = Service::start(sandbox.shell("-c", limits));
    let key = sandbox.read("admin.key");
    let asked = |method: &str, path: &str, body: &str| {
        let head = format!("Authorization: {}\r\nContent-Type: application/json\r\nConnection: close\r\n", key.trim());
        let length = body.len();
        service.asked(&format!("{method} {path} HTTP/1.1\r\nHost: t\r\n{head}Content-Length: {length}\r\n\r\n{body}"))
    };
    let create = |size: usize| {
        let content = "x".repeat(size);
        let body = format!(r#"{{"name":"t","template_content":"{content}","parameters_schema":"{{}}"}}"#);
        asked("POST", "/api/v1/templates", &body)
    };
    let fill = |size| (0..200).map(|_| create(size)).find(|reply| !reply.contains(" 201 ")).expect("a full disk");
    fill(200_000);
    // No room for what readiness writes, either.
    let told = fill(10_000);
    assert!(told.starts_with("HTTP/1.1 503 ") && told.to_ascii_lowercase().contains("retry-after: "), "{told}");
    assert!(told.contains("store_unavailable") && told.contains("disk") | told.contains("full"), "{told}");
    // The service still reads.
    assert!(asked("GET", "/api/v1/templates?limit=1", "").contains(" 200 "));
    let told = asked("GET", "/readyz", "");
    assert!(told.starts_with("HTTP/1.1 503 ") && told.contains("not_ready"), "{told}");
    let any = Rlimit { current: None, maximum: None };
    prlimit(Some(Pid::from_child(&service.child)), Resource::Fsize, any).unwrap();
    assert!(create(200_000).contains(" 201 "));
    while !asked("GET", "/readyz", "").contains(" 200 ") {}
}

/// Starts the service with a database that cannot be used.
fn refused(sandbox: &Sandbox, db: &str) -> Outcome {
    sandbox.run(&["serve", "--listen", "127.0.0.1:0", "--db", db]).expect(1)
}

#[test]
fn a_service_that_cannot_start_tells_the_cause_and_no_password() {
    let sandbox = Sandbox::new();
    for db in [
        "postgres://me:s3cret@127.0.0.1:1/db",
        "postgres://me:s3cret@x@127.0.0.1:1/db",
        "postgres://me:x%40s3cret@127.0.0.1:1/db",
        "postgres://127.0.0.1:1/db?user=me&password=s3cret",
        "postgresql://127.0.0.1:1/db?user=me&password=x@s3cret",
        "postgres://me:s3cret@127.0.0.1:1/db?password=s3cret@x",
    ] {
        let told = refused(&sandbox, db);
        assert!(!told.stderr.contains("s3cret"), "{db}: {}", told.stderr);
        told.says(&["E1002", "refused"]);
    }
    for db in [
        "postgres://me:s3cret",
        "postgres://me:s3/cret@127.0.0.1:1/db",
        "postgres://me:s3cret@:x/db",
        "mysql://me:s3cret@h/d",
    ] {
        let told = refused(&sandbox, db);
        assert!(!told.stderr.contains("cret"), "{db}: {}", told.stderr);
        told.says(&["E1002"]);
    }
    refused(&sandbox, "no/such/folder/c.db").says(&["cannot create `no/such/folder/c.db`: No such file"]);
    refused(&sandbox, ".").says(&["E1002", "unable to open database file"]);
    sandbox.write("a@b.db", "this is no database, however long it may be, and it stays as it is");
    refused(&sandbox, "a@b.db").says(&["`a@b.db` is not a catalog", "file is not a database"]);
}

#[test]
fn the_help_shows_no_password_of_the_environment() {
    let sandbox = Sandbox::new();
    for command in ["serve", "catalog"] {
        let mut help = sandbox.command(&[command, "--help"]);
        help.env("DROPFORGE_DB", "postgres://me:s3cret@host/db").env("DROPFORGE_KEY", "s3cret");
        let told = outcome(help).expect(0);
        assert!(!told.stdout.contains("s3cret"), "{}", told.stdout);
    }
}
