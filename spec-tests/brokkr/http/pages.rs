//! Pagination.

use std::io::Write;

use dropforge_catalog::server::Settings;
use serde_json::{Value as Json, json};

use super::client::connect;
use super::server::{Running, text};

/// The entries of all pages, following `Link`, and the number of pages.
fn walked(server: &Running, pak: &str, first: &str) -> (Vec<String>, usize) {
    let (mut ids, mut pages, mut next) = (Vec::new(), 0, Some(first.to_owned()));
    while let Some(path) = next {
        let reply = server.call(pak, "GET", &path);
        ids.extend(reply.has(200).json().as_array().unwrap().iter().map(|row| text(&row["id"])));
        pages += 1;
        next = reply.header("link").map(|link| {
            let cursor = reply.header("x-next-cursor").unwrap();
            assert!(link.ends_with(">; rel=\"next\"") && link.contains(cursor), "{link}");
            link[1..link.find('>').unwrap()].to_owned()
        });
        assert_eq!(reply.header("link").is_some(), reply.header("x-next-cursor").is_some());
        assert!(pages < 100);
    }
    (ids, pages)
}

fn whole(server: &Running, pak: &str, path: &str) -> Vec<String> {
    let list = server.call(pak, "GET", path).has(200).json();
    list.as_array().unwrap().iter().map(|row| text(&row["id"])).collect()
}

#[test]
fn pages_together_are_the_whole_list() {
    let server = Running::new();
    let team = server.team("ci");
    let mut template = String::new();
    for index in 0..7 {
        template = server.template(&server.admin, "many");
        server.template(&team.pak, "a name/with?signs&more");
        server.made("/api/v1/stacks", &json!({ "name": format!("s{index}"), "generator_id": team.id }));
        server.made("/api/v1/generators", &json!({ "name": format!("g{index}") }));
        let path = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
        server.made(&path, &json!({ "yaml_content": format!("a: {index}") }));
    }
    for path in [
        "/api/v1/templates".to_owned(),
        "/api/v1/stacks".to_owned(),
        "/api/v1/generators".to_owned(),
        format!("/api/v1/templates/{template}/versions"),
        format!("/api/v1/stacks/{}/deployment-objects", team.stack),
    ] {
        let all = whole(&server, &server.admin, &path);
        assert!(all.len() >= 7, "{path}");
        for limit in [1, 3, 7, 8, 1000] {
            let (ids, pages) = walked(&server, &server.admin, &format!("{path}?limit={limit}"));
            assert_eq!(ids, all, "{path} by {limit}");
            assert_eq!(pages, all.len().div_ceil(limit), "{path} by {limit}");
        }
    }
    // The link repeats the other query parameters.
    let path = "/api/v1/templates?name=a%20name%2Fwith%3Fsigns%26more";
    let all = whole(&server, &server.admin, path);
    assert_eq!(all.len(), 7);
    assert_eq!(walked(&server, &server.admin, &format!("{path}&limit=2")), (all, 4));
    assert_eq!(
        walked(&server, &team.pak, "/api/v1/templates?limit=5").0,
        whole(&server, &team.pak, "/api/v1/templates")
    );
}

#[test]
fn a_page_continues_after_a_deleted_entry() {
    let server = Running::new();
    let ids: Vec<_> = (0..4).map(|_| server.template(&server.admin, "web")).collect();
    let first = server.call(&server.admin, "GET", "/api/v1/templates?limit=2");
    let cursor = first.header("x-next-cursor").unwrap().to_owned();
    server.call(&server.admin, "DELETE", &format!("/api/v1/templates/{}", ids[1])).has(204);
    let rest = whole(&server, &server.admin, &format!("/api/v1/templates?limit=2&cursor={cursor}"));
    assert_eq!(rest, ids[2..]);
}

#[test]
fn a_search_shows_the_newest_version_of_each_name() {
    let server = Running::new();
    let (team, other) = (server.team("ci"), server.team("other"));
    for name in ["web", "Web-admin", "db"] {
        server.template(&server.admin, name);
    }
    let newest = server.template(&server.admin, "web");
    let own = server.template(&team.pak, "my web");
    let foreign = server.template(&other.pak, "foreign web");
    let names = |pak: &str, path: &str| {
        let list = server.call(pak, "GET", path).has(200).json();
        list.as_array().unwrap().iter().map(|row| text(&row["name"])).collect::<Vec<_>>()
    };
    let path = "/api/v1/templates?search=WEB&latest=true";
    assert_eq!(names(&team.pak, path), ["my web", "web", "Web-admin"]);
    assert_eq!(names(&server.admin, path), ["foreign web", "my web", "web", "Web-admin"]);
    assert_eq!(names(&team.pak, "/api/v1/templates?latest=true"), ["db", "my web", "web", "Web-admin"]);
    assert_eq!(names(&team.pak, "/api/v1/templates?search=web").len(), 4);
    let (ids, pages) = walked(&server, &team.pak, &format!("{path}&limit=1"));
    assert_eq!((ids.len(), pages), (3, 3));
    assert_eq!(ids[..2], [own, newest]);
    assert!(!ids.contains(&foreign));
    let both = server.call(&team.pak, "GET", "/api/v1/templates?name=web&latest=true");
    both.is(400, "invalid_query");
    server.call(&team.pak, "GET", "/api/v1/templates?latest=maybe").is(400, "invalid_query");
}

/// Adds objects of `size` bytes to a stack and returns their IDs, newest first.
fn objects(server: &Running, stack: &str, count: usize, size: usize) -> Vec<String> {
    let path = format!("/api/v1/stacks/{stack}/deployment-objects");
    let body = json!({ "yaml_content": format!("a: {}", "x".repeat(size)) });
    let mut ids: Vec<_> = (0..count).map(|_| text(&server.made(&path, &body)["id"])).collect();
    ids.reverse();
    ids
}

#[test]
fn a_page_ends_at_its_budget_and_has_at_least_one_entry() {
    let server = Running::with(Settings { page_bytes: 10_000, ..Settings::default() });
    let team = server.team("ci");
    let path = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    let mut all = objects(&server, &team.stack, 9, 2800);
    all.splice(..0, objects(&server, &team.stack, 2, 20_000));
    // Two entries that are larger than the budget, then nine, of which three fit.
    assert_eq!(walked(&server, &team.pak, &format!("{path}?limit=100")), (all.clone(), 5));
    assert_eq!(walked(&server, &team.pak, &format!("{path}?limit=2")), (all.clone(), 2 + 5));
    assert_eq!(walked(&server, &team.pak, &format!("{path}?limit=1")), (all.clone(), 11));
    for page in ["?limit=100", "?limit=2"] {
        assert!(server.call(&team.pak, "GET", &format!("{path}{page}")).body.len() < 21_000);
    }
    // Without a limit the list is complete.
    assert_eq!(whole(&server, &team.pak, &path), all);
}

#[test]
fn a_whole_list_is_sent_while_it_is_read() {
    let server = Running::new();
    let team = server.team("ci");
    let path = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    let all = objects(&server, &team.stack, 40, 50_000);
    let reply = server.call(&team.pak, "GET", &path);
    assert_eq!(reply.has(200).header("transfer-encoding"), Some("chunked"));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("link"), None);
    let list = reply.json();
    assert_eq!(list.as_array().unwrap().iter().map(|row| text(&row["id"])).collect::<Vec<_>>(), all);
    assert!(list.as_array().unwrap().iter().all(|row: &Json| row["yaml_content"].as_str().unwrap().len() == 50_003));
    // A short list has a length.
    assert!(server.call(&team.pak, "GET", "/api/v1/stacks").header("content-length").is_some());
    // A client that leaves ends the work, and one that reads nothing holds up nobody.
    let request = server.further("GET", &path).key(&team.pak).bytes();
    let mut slow: Vec<_> = (0..8).map(|_| connect(server.address)).collect();
    for stream in &mut slow {
        stream.write_all(&request).unwrap();
    }
    slow.truncate(4);
    assert_eq!(whole(&server, &team.pak, &path), all);
}

#[test]
fn cursors_of_no_page_are_refused() {
    let server = Running::new();
    let (one, two) = (server.team("g1"), server.team("g2"));
    let template = server.template(&server.admin, "web");
    let other = server.template(&server.admin, "other");
    let object = |stack: &str| {
        let path = format!("/api/v1/stacks/{stack}/deployment-objects");
        text(&server.made(&path, &json!({ "yaml_content": "a: 1" }))["id"])
    };
    let (own, foreign) = (object(&one.stack), object(&two.stack));
    let versions = format!("/api/v1/templates/{template}/versions");
    let objects = format!("/api/v1/stacks/{}/deployment-objects", one.stack);
    let lists = ["/api/v1/templates", "/api/v1/stacks", "/api/v1/generators", &versions, &objects];
    for list in lists {
        for wrong in
            ["", "x", "1", "00000000-0000-0000-0000-000000000000", super::server::NOBODY, "%FF", &"7".repeat(5000)]
        {
            server.call(&server.admin, "GET", &format!("{list}?cursor={wrong}")).is(400, "invalid_query");
        }
    }
    // IDs of something else, and of others.
    let new = dropforge_catalog::store::new_id().to_string();
    for (list, wrong) in
        [(&versions, &other), (&versions, &own), (&versions, &new), (&objects, &foreign), (&objects, &new)]
    {
        server.call(&server.admin, "GET", &format!("{list}?cursor={wrong}")).is(400, "invalid_query");
    }
    server.call(&one.pak, "GET", &format!("{objects}?cursor={foreign}")).is(400, "invalid_query");
    server.call(&one.pak, "GET", &format!("{objects}?cursor={own}")).has(200);
    server.call(&server.admin, "GET", &format!("{versions}?cursor={template}")).has(200);
}
