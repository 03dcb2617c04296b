//! Outages of the store: every request is answered, the service says why it is not ready, and goes on by itself.

use dropforge_catalog::server::Settings;
use serde_json::json;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Executor};

use super::client::Reply;
use super::server::Running;
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
        std::thread::sleep(std::time::Duration::from_millis(50));
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
