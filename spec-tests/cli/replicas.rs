//! Two services on one PostgreSQL database behind a proxy: one is killed under load, then the database is.
//!
//! Skipped where PostgreSQL is not installed, or fails if `CI` is set.

use std::io::copy;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use crate::service::{KEY, Service};
use crate::support::Sandbox;

/// More tries than any failure here takes, so that a test fails instead of hanging.
const TRIES: usize = 600;
const PAUSE: Duration = Duration::from_millis(50);

/// A PostgreSQL server of this test.
struct Postgres {
    dir: PathBuf,
    url: String,
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
        drop(std::fs::remove_dir_all(&self.dir));
    }
}

impl Postgres {
    fn start() -> Option<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("dropforge-pg-cli-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(name);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec-tests/brokkr/postgres/start");
        let mut start = Command::new(script);
        start.arg(&dir).arg(std::process::id().to_string()).stdin(Stdio::null()).stderr(Stdio::inherit());
        let started = start.output().unwrap();
        if started.status.code() == Some(3) && std::env::var_os("CI").is_none() {
            eprintln!("skipped: there is no PostgreSQL here");
            return None;
        }
        assert!(started.status.success());
        Some(Self { dir, url: String::from_utf8(started.stdout).unwrap().trim().to_owned() })
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.dir.join("data").join(name)).ok()
    }

    /// Ends the server at once, without a shutdown.
    fn kill(&self) {
        let id = self.read("postmaster.pid").and_then(|text| text.lines().next()?.parse().ok());
        let Some(id) = id.and_then(Pid::from_raw) else { return };
        let _ = kill_process(id, Signal::QUIT);
        until(|| self.read("postmaster.pid").is_none());
    }

    /// Starts the server again, with the command line that it had.
    fn again(&self) {
        let command = self.read("postmaster.opts").unwrap();
        let user = "exec setpriv --reuid=$(stat -c %u data) --regid=$(stat -c %g data) --clear-groups";
        let prefix = format!("[ $(id -u) != 0 ] && exec {command}\n{user} {command}");
        let mut shell = Command::new("bash");
        shell.args(["-c", &prefix]).current_dir(&self.dir).stdout(Stdio::null()).stderr(Stdio::null());
        drop(shell.spawn().unwrap());
    }
}

/// Waits until something holds.
#[track_caller]
fn until(mut holds: impl FnMut() -> bool) {
    for _ in 0..TRIES {
        if holds() {
            return;
        }
        thread::sleep(PAUSE);
    }
    panic!("it never happened");
}

/// A proxy that gives each connection to the next server, skipping those that refuse it.
fn proxy(servers: Arc<Mutex<Vec<SocketAddr>>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (n, client) in listener.incoming().map_while(Result::ok).enumerate() {
            let servers = servers.lock().unwrap().clone();
            thread::spawn(move || {
                let mut order = servers.iter().cycle().skip(n % servers.len()).take(servers.len());
                let Some(server) = order.find_map(|server| TcpStream::connect(server).ok()) else { return };
                let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
                let (mut from, mut to) = (server, client);
                let _ = copy(&mut from, &mut to);
                let _ = to.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    address
}

/// Sends a request on a connection of its own. `None` if there is no whole response.
fn send(method: &str, url: &str, token: &str, body: &Json) -> Option<(u16, Json)> {
    let config = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0);
    let agent = ureq::Agent::from(config.timeout_global(Some(Duration::from_secs(60))).build());
    let request = ureq::http::Request::builder().method(method).uri(url).header("Authorization", KEY);
    let request = request.header("Idempotency-Key", token).header("Content-Type", "application/json");
    let text = if method == "GET" { String::new() } else { body.to_string() };
    let mut response = agent.run(request.body(text).unwrap()).ok()?;
    let text = response.body_mut().read_to_string().ok()?;
    Some((response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Json::Null)))
}

fn version() -> Json {
    json!({ "name": "web", "template_content": "a: 1", "parameters_schema": "{}" })
}

/// Creates a version, and tries again until that is acknowledged.
fn create(base: &str, token: &str) -> i64 {
    for _ in 0..TRIES {
        match send("POST", &format!("{base}/api/v1/templates"), token, &version()) {
            Some((201, made)) => return made["version"].as_i64().unwrap(),
            Some((status, why)) => assert!(status >= 500, "{status} {why}"),
            None => {}
        }
        thread::sleep(PAUSE);
    }
    panic!("no answer");
}

fn serve(sandbox: &Sandbox, database: &Postgres) -> Service {
    sandbox.write("admin.key", KEY);
    let args = ["serve", "--init-key-file", "admin.key", "--listen", "127.0.0.1:0", "--rate-limit", "off", "--db"];
    Service::of(sandbox.command(&[&args[..], &[&database.url]].concat()))
}

fn address(service: &Service) -> SocketAddr {
    service.url.trim_start_matches("http://").parse().unwrap()
}

#[test]
fn one_of_two_replicas_may_die_and_no_write_is_lost_or_doubled() {
    let Some(database) = Postgres::start() else { return };
    let sandbox = Sandbox::new();
    let (first, second) = (serve(&sandbox, &database), serve(&sandbox, &database));
    let servers = Arc::new(Mutex::new(vec![address(&first), address(&second)]));
    let base = format!("http://{}", proxy(servers.clone()));
    const CLIENTS: usize = 6;
    const EACH: usize = 20;
    let acknowledged = AtomicUsize::new(0);
    let mut versions: Vec<i64> = thread::scope(|scope| {
        let (base, acknowledged) = (&base, &acknowledged);
        let client = |client| {
            let write = move |n| {
                let version = create(base, &format!("{client}-{n}"));
                acknowledged.fetch_add(1, Ordering::Relaxed);
                version
            };
            scope.spawn(move || (0..EACH).map(write).collect::<Vec<_>>())
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        until(|| acknowledged.load(Ordering::Relaxed) >= CLIENTS * EACH / 3);
        drop(first);
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    versions.sort_unstable();
    let all: Vec<i64> = (1..).take(CLIENTS * EACH).collect();
    assert_eq!(versions, all);
    // The trail has one entry for each, whichever replica wrote it.
    let trail = send("GET", &format!("{base}/api/v1/audit?limit=1000"), "-", &Json::Null).unwrap().1;
    let created = trail.as_array().unwrap().iter().filter(|entry| entry["action"] == "template.create");
    assert_eq!(created.count(), CLIENTS * EACH);
    // Another replica takes the place.
    let third = serve(&sandbox, &database);
    servers.lock().unwrap()[0] = address(&third);
    drop(second);
    assert_eq!(create(&base, "after"), all.len() as i64 + 1);
}

#[test]
fn replicas_outlive_their_database() {
    let Some(database) = Postgres::start() else { return };
    let sandbox = Sandbox::new();
    let replicas = [serve(&sandbox, &database), serve(&sandbox, &database)];
    let status = |service: &Service, path: &str| {
        send("GET", &format!("{}{path}", service.url), "-", &Json::Null).map(|(status, _)| status)
    };
    assert_eq!(create(&replicas[0].url, "1"), 1);
    assert_eq!(create(&replicas[1].url, "2"), 2);
    database.kill();
    for replica in &replicas {
        until(|| status(replica, "/readyz") == Some(503));
        assert_eq!(status(replica, "/healthz"), Some(200));
        let refused = send("POST", &format!("{}/api/v1/templates", replica.url), "3", &version()).unwrap();
        assert!(refused.0 >= 500 && refused.1["code"].is_string(), "{refused:?}");
    }
    database.again();
    for replica in &replicas {
        until(|| status(replica, "/readyz") == Some(200));
    }
    // The write that was refused is carried out once.
    assert_eq!(create(&replicas[0].url, "3"), 3);
    assert_eq!(create(&replicas[1].url, "3"), 3);
    assert_eq!(create(&replicas[1].url, "4"), 4);
}
