//! Probes and metrics: who may read them, and what they cost.

use std::net::Ipv4Addr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dropforge_catalog::server::Settings;
use serde_json::json;

use super::client::{Reply, exchange};
use super::server::{Running, text};

fn with_probes() -> Settings {
    Settings { probe_listen: Some((Ipv4Addr::LOCALHOST, 0).into()), ..Settings::default() }
}

/// Sends a request without a key to the probe listener.
fn probe(server: &Running, method: &str, path: &str) -> Reply {
    let request = format!("{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    exchange(server.probes.expect("a probe listener"), request.as_bytes())
}

fn rows(metrics: &str, kind: &str) -> Option<i64> {
    let start = format!("dropforge_catalog_rows{{kind=\"{kind}\"}} ");
    metrics.lines().find_map(|line| line.strip_prefix(&start)?.parse().ok())
}

/// Reads the metrics until the rows of a kind are counted.
fn counted(server: &Running, kind: &str, expected: i64) {
    let begun = Instant::now();
    while rows(&server.metrics(), kind) != Some(expected) {
        assert!(begun.elapsed() < Duration::from_secs(30), "{}", server.metrics());
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn metrics_need_a_key_and_probes_none() {
    let server = Running::new();
    let team = server.team("ci");
    let key = |role: &str| text(&server.made("/api/v1/keys", &json!({ "role": role }))["pak"]);
    let stranger = server.request("GET", "/metrics").send();
    assert!(stranger.has(401).body.is_empty());
    server.call("brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVWX", "GET", "/metrics").has(401);
    server.call(&team.pak, "GET", "/metrics").is(403, "admin_required");
    server.call(&key("agent"), "GET", "/metrics").is(403, "admin_required");
    for pak in [&server.admin, &key("readonly")] {
        assert!(server.call(pak, "GET", "/metrics").has(200).text().contains("dropforge_http_requests_total"));
    }
    for path in ["/healthz", "/readyz"] {
        server.request("GET", path).send().has(200);
    }
    assert_eq!(server.probes, None);
}

#[test]
fn the_probe_listener_serves_probes_only_and_needs_no_key() {
    let server = Running::with(with_probes());
    assert_eq!(probe(&server, "GET", "/healthz").has(200).text(), "OK");
    probe(&server, "GET", "/readyz").has(200);
    assert!(probe(&server, "GET", "/metrics").has(200).text().contains("dropforge_renders_total 0"));
    for path in ["/", "/api/v1/templates", "/api/v1/openapi.json", "/app.js", "/metrics/"] {
        probe(&server, "GET", path).has(404);
    }
    probe(&server, "POST", "/metrics").has(405);
    // It tells what is wrong when no key can be checked.
    server.wait_for(async { server.catalog.store().close().await });
    // An answer holds for a second.
    let begun = Instant::now();
    while probe(&server, "GET", "/readyz").status != 503 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        sleep(Duration::from_millis(50));
    }
    probe(&server, "GET", "/readyz").is(503, "not_ready");
    probe(&server, "GET", "/healthz").has(200);
    probe(&server, "GET", "/metrics").has(200);
}

#[test]
fn reading_the_metrics_counts_nothing() {
    let server = Running::with(Settings { count_interval: Duration::from_secs(3600), ..with_probes() });
    counted(&server, "templates", 0);
    server.template(&server.admin, "web");
    for _ in 0..20 {
        assert_eq!(rows(&server.metrics(), "templates"), Some(0));
        assert_eq!(rows(probe(&server, "GET", "/metrics").text(), "templates"), Some(0));
    }
}

#[test]
fn rows_are_counted_in_the_background() {
    let server = Running::with(Settings { count_interval: Duration::from_millis(5), ..Settings::default() });
    let team = server.team("ci");
    let template = server.template(&team.pak, "web");
    for _ in 0..2 {
        server.instantiate(&team.pak, &team.stack, &template, json!({ "name": "a", "value": "b" })).has(201);
    }
    for (kind, expected) in [("templates", 1), ("generators", 1), ("stacks", 1), ("objects", 2)] {
        counted(&server, kind, expected);
    }
    server.call(&server.admin, "DELETE", &format!("/api/v1/stacks/{}", team.stack)).has(204);
    server.call(&team.pak, "DELETE", &format!("/api/v1/templates/{template}")).has(204);
    counted(&server, "templates", 0);
    counted(&server, "stacks", 0);
    // The deletion marker is left.
    counted(&server, "objects", 1);
}
