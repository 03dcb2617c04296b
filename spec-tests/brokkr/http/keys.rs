//! Keys: those of inactive generators, those revoked elsewhere, and the last one of an administrator.

use std::thread;
use std::time::Duration;

use dropforge_catalog::{Actor, Catalog, render};
use serde_json::json;

use super::server::{Running, text};

#[test]
fn the_key_of_an_inactive_generator_stops_at_once() {
    let server = Running::new();
    let team = server.team("ci");
    let path = format!("/api/v1/generators/{}", team.id);
    let set = |active: bool| server.send(&server.admin, "PUT", &path, &json!({ "is_active": active })).has(200).json();
    let ask = || server.call(&team.pak, "GET", "/api/v1/templates").status;
    assert_eq!(ask(), 200);
    assert_eq!(set(false)["is_active"], false);
    assert_eq!([ask(), ask()], [401, 401]);
    // Uses do not make it active again.
    assert_eq!(server.call(&server.admin, "GET", &path).json()["is_active"], false);
    let rotated = text(&server.made(&format!("{path}/rotate-pak"), &json!({}))["pak"]);
    server.call(&rotated, "GET", "/api/v1/templates").has(401);
    assert_eq!(set(true)["is_active"], true);
    server.call(&rotated, "GET", "/api/v1/templates").has(200);
    assert_eq!(ask(), 401);
}

#[test]
fn a_generator_that_makes_itself_inactive_needs_an_administrator() {
    let server = Running::new();
    let team = server.team("ci");
    let path = format!("/api/v1/generators/{}", team.id);
    server.send(&team.pak, "PUT", &path, &json!({ "is_active": false })).has(200);
    server.send(&team.pak, "PUT", &path, &json!({ "is_active": true })).has(401);
    server.send(&server.admin, "PUT", &path, &json!({ "is_active": true })).has(200);
    server.call(&team.pak, "GET", &path).has(200);
}

#[test]
fn a_key_that_another_process_revokes_stops_after_a_while() {
    let server = Running::new();
    let made = server.made("/api/v1/keys", &json!({ "role": "readonly" }));
    let (id, pak) = (text(&made["key"]["id"]).parse().unwrap(), text(&made["pak"]));
    server.call(&pak, "GET", "/api/v1/templates").has(200);
    let other = server.wait_for(Catalog::open(&server.url, &render::Options::default())).unwrap();
    server.wait_for(other.revoke_key(Actor::Admin, id, false)).unwrap();
    while server.call(&pak, "GET", "/api/v1/templates").status != 401 {
        thread::sleep(Duration::from_millis(100));
    }
    server.wait_for(other.store().close());
}

#[test]
fn the_last_live_key_of_an_administrator_is_revoked_only_by_force() {
    let server = Running::new();
    let keys = server.call(&server.admin, "GET", "/api/v1/keys").json();
    let first = format!("/api/v1/keys/{}", text(&keys[0]["id"]));
    server.made("/api/v1/keys", &json!({ "role": "readonly" }));
    let refused = server.call(&server.admin, "DELETE", &first);
    assert!(refused.is(409, "last_admin_key").text().contains("?force=true"));
    server.call(&server.admin, "DELETE", &format!("{first}?force=false")).is(409, "last_admin_key");
    let made = server.made("/api/v1/keys", &json!({ "role": "admin" }));
    let (second, pak) = (format!("/api/v1/keys/{}", text(&made["key"]["id"])), text(&made["pak"]));
    server.call(&server.admin, "DELETE", &first).has(204);
    server.call(&server.admin, "GET", "/api/v1/keys").has(401);
    server.call(&pak, "DELETE", &second).is(409, "last_admin_key");
    server.call(&pak, "DELETE", &format!("{second}?force=maybe")).is(400, "invalid_query");
    server.call(&pak, "DELETE", &format!("{second}?force=true")).has(204);
    server.call(&pak, "GET", "/api/v1/keys").has(401);
}
