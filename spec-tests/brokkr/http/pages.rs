//! Pagination.

use serde_json::json;

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
