//! Outages of the store: every request is answered, the service says why it is not ready, and goes on by itself.

use std::io::{Read, Write};
use std::sync::mpsc::channel;
use std::time::Duration;

use dropforge_catalog::server::{Log, Settings};
use serde_json::json;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Executor};

use super::client::{Reply, connect};
use super::server::Running;
use super::size::execute;
use crate::databases::OwnServer;

fn create(server: &Running) -> Reply {
    let body = json!({ "name": "g", "description": "d" });
    server.send(&server.admin, "POST", "/api/v1/generators", &body)
}

/// Waits for an answer of readiness.
fn ready(server: &Running, key: &str, status: u16) -> Reply {
    loop {
        let reply = server.call(key, "GET", "/readyz");
        if reply.status == status {
            return reply;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Checks what is said during an outage, to strangers and to the holder of a key.
fn is_out(server: &Running, why: &str) {
    let told = create(server);
    assert!(told.is(503, "store_unavailable").text().contains(why), "{}", told.text());
    assert!(told.header("retry-after").is_some_and(|seconds| seconds.parse::<u64>().is_ok()));
    let told = ready(server, &server.admin, 503);
    assert!(told.is(503, "not_ready").text().contains(why), "{}", told.text());
    assert!(told.header("retry-after").is_some());
    for stranger in ["", "nonsense", "brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVWX"] {
        let told = ready(server, stranger, 503);
        assert_eq!(told.json()["message"], "the service is not ready", "{stranger}");
        let told = server.call(stranger, "GET", "/api/v1/templates");
        assert!([401, 503].contains(&told.status) && !told.text().contains(why), "{}", told.text());
    }
    server.request("GET", "/healthz").send().has(200);
}

#[test]
fn a_service_on_a_locked_file_reads_and_goes_on_when_it_can_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db").display().to_string();
    let server = Running::on(Settings::default(), &path);
    let team = server.team("ci");
    ready(&server, "", 200);
    let mut other = server.wait_for(SqliteConnection::connect(&format!("sqlite://{path}"))).unwrap();
    server.wait_for(other.execute("BEGIN IMMEDIATE")).unwrap();
    is_out(&server, "is locked by another process");
    // Reading works, also with a key whose use cannot be recorded.
    server.call(&server.admin, "GET", "/api/v1/generators").has(200);
    server.call(&team.pak, "GET", "/api/v1/templates").has(200);
    server.wait_for(other.execute("ROLLBACK")).unwrap();
    create(&server).has(201);
    ready(&server, "", 200);
}

#[test]
fn a_service_whose_database_is_stopped_goes_on_when_it_is_back() {
    let Some(own) = OwnServer::start() else { return };
    let server = Running::on(Settings::default(), &own.url);
    ready(&server, &server.admin, 200);
    server.call(&server.admin, "GET", "/api/v1/generators").has(200);
    for (down, up) in [("stop", "start"), ("freeze", "thaw")] {
        own.control(down);
        is_out(&server, "cannot be reached");
        // Many at once.
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..40).map(|_| scope.spawn(|| create(&server).status)).collect();
            assert!(all.into_iter().all(|one| one.join().unwrap() == 503));
        });
        own.control(up);
        ready(&server, "", 200);
        let body = json!({ "name": up });
        while server.send(&server.admin, "POST", "/api/v1/generators", &body).status != 201 {}
    }
}

#[test]
fn a_list_that_cannot_be_read_to_its_end_is_cut_off_and_told_to_the_log() {
    let (sender, told) = channel();
    let log = Log::new(move |exchange| {
        let cause = exchange.cause.map(str::to_owned);
        drop(sender.send((exchange.id.to_owned(), exchange.status, exchange.cut_off, cause)));
    });
    let server = Running::with(Settings { log: Some(log), ..Settings::default() });
    for n in 0..12 {
        server.template_of(&server.admin, &format!("web{n}"), &"x".repeat(60_000), "{}");
    }
    // A row that cannot be read, in a later part of the list.
    let spoil = match server.url.starts_with("postgres") {
        true => "ALTER TABLE stack_templates ALTER checksum DROP NOT NULL; UPDATE stack_templates SET checksum = NULL",
        false => "UPDATE stack_templates SET checksum = x'ff' || checksum",
    };
    server.wait_for(execute(&server.url, format!("{spoil} WHERE name = 'web11'")));
    let mut stream = connect(server.address);
    let request = server.request("GET", "/api/v1/templates").key(&server.admin).header("X-Request-Id", "list-1");
    stream.write_all(&request.bytes()).unwrap();
    let mut answer = Vec::new();
    // The connection may end in a reset.
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.starts_with(b"HTTP/1.1 200 OK") && !answer.ends_with(b"\r\n0\r\n\r\n"));
    let next = || loop {
        let (id, status, cut_off, cause) = told.recv_timeout(Duration::from_secs(60)).unwrap();
        if id == "list-1" {
            return (status, cut_off, cause);
        }
    };
    assert_eq!(next(), (200, false, None));
    let (status, cut_off, cause) = next();
    assert!(status == 200 && cut_off && cause.as_ref().is_some_and(|cause| cause.contains("checksum")), "{cause:?}");
}
