//! Invalid, oversized, slow and malicious requests. Each gets a 4xx or is cut off, and the server keeps working.

use std::io::Write;

use serde_json::{Value as Json, json};

use super::client::{Reply, connect, exchange, read};
use super::server::{NOBODY, Running, quick};

/// An authenticated request to a path of the API, in bytes.
fn raw(server: &Running, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
    let key = &server.admin;
    let head = format!(
        "{method} /api/v1{path} HTTP/1.1\r\nHost: t\r\nAuthorization: {key}\r\nConnection: close\r\n{headers}\r\n"
    );
    exchange(server.address, &[head.as_bytes(), body].concat())
}

fn json_body(server: &Running, path: &str, body: &[u8]) -> Reply {
    let headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    raw(server, "POST", path, &headers, body)
}

#[test]
fn bodies_that_are_no_json_are_refused() {
    let server = Running::new();
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    let objects = "{\"a\":".repeat(50_000);
    for body in [
        &b"{\"name\":"[..],
        b"",
        b"{\"name\": \"x\"} {}",
        b"\xef\xbb\xbf{}",
        b"{\"name\": \"\xff\"}",
        b"{\"name\": \"\\ud800\"}",
        b"{'name': 1}",
        b"\0",
        b"{\"name\": \"a\nb\"}",
        objects.as_bytes(),
    ] {
        let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
        let reply = json_body(&server, "/generators", body);
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_json"), "{shown}: {}", reply.text());
    }
    for body in
        [&b"[]"[..], b"null", b"1e999", b"{\"name\": 1}", b"{\"name\": null}", b"\"x\"", b"{}", &deep, &deep[..99_999]]
    {
        let reply = json_body(&server, "/generators", body);
        assert!([400, 422].contains(&reply.status), "{}", reply.text());
    }
    json_body(&server, "/generators", br#"{"name": "a", "name": "b"}"#).is(422, "invalid_body");
}

#[test]
fn parameters_of_any_form_are_no_fault_of_the_server() {
    let server = Running::new();
    let team = server.team("ci");
    let template = server.template_of(&server.admin, "t", "a: {{ p }}", "{}");
    let path = format!("/stacks/{}/deployment-objects/from-template", team.stack);
    let nested = |depth: usize| format!("{{\"p\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    for parameters in [
        nested(100),
        nested(10_000),
        nested(400_000),
        "1e999999".into(),
        "-0".into(),
        "\"text\"".into(),
        "{\"p\": \"\\ud800\"}".into(),
        "{\"p\": \"\\u0000\"}".into(),
        "{\"p\": 1e400}".into(),
        format!("{{\"p\": {}}}", "9".repeat(100_000)),
        format!("{{\"{}\": 1}}", "k".repeat(500_000)),
        "{\"p\": 1, \"p\": 2}".into(),
        "{\"__proto__\": {}, \"\": 0}".into(),
    ] {
        let body = format!("{{\"template_id\":\"{template}\",\"parameters\":{parameters}}}");
        let reply = json_body(&server, &path, body.as_bytes());
        let shown: String = parameters.chars().take(40).collect();
        assert!((200..500).contains(&reply.status), "{shown}: {}", reply.text());
    }
}

#[test]
fn templates_of_any_form_are_no_fault_of_the_server() {
    let server = Running::new();
    let schema = |depth: usize| format!("{}{}{}", "{\"not\":".repeat(depth), "{}", "}".repeat(depth));
    for (content, schema) in [
        ("{{".repeat(100_000), "{}".into()),
        ("{% if a %}".repeat(20_000), "{}".into()),
        (format!("{{{{ {}a{} }}}}", "(".repeat(50_000), ")".repeat(50_000)), "{}".into()),
        (format!("{{{{ {} }}}}", "a.".repeat(50_000)), "{}".into()),
        ("a".into(), schema(100)),
        ("a".into(), schema(100_000)),
        ("a".into(), r##"{"$ref": "#"}"##.into()),
        ("a".into(), r#"{"$ref": "http://127.0.0.1:1/x"}"#.into()),
        ("a".into(), r#"{"pattern": "(a+)+$"}"#.into()),
        ("a".into(), r#"{"pattern": "(?=a)"}"#.into()),
        ("a".into(), format!("{{\"pattern\": \"{}\"}}", "(a{1000}){1000}")),
        ("a".into(), "true".into()),
        ("a".into(), "[]".into()),
        ("a".into(), format!("{{\"minLength\": {}}}", "9".repeat(400))),
    ] {
        let body = json!({ "name": "x", "template_content": content, "parameters_schema": schema }).to_string();
        let reply = json_body(&server, "/templates", body.as_bytes());
        let shown: String = content.chars().chain(schema.chars()).take(60).collect();
        assert!((200..500).contains(&reply.status), "{shown}: {}", reply.text());
        json_body(&server, "/templates/check?strict=true", body.as_bytes());
    }
    server.request("GET", "/healthz").send().has(200);
}

#[test]
fn bodies_that_are_too_large_are_refused() {
    let server = Running::new();
    let large = format!("{{\"name\":\"{}\"}}", "x".repeat(1 << 20));
    json_body(&server, "/generators", large.as_bytes()).is(413, "payload_too_large");
    // Without a length, and with a declared body that is never sent.
    let chunk = format!(
        "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n{:x}\r\n{large}\r\n0\r\n",
        large.len()
    );
    raw(&server, "POST", "/generators", &chunk, b"").is(413, "payload_too_large");
    let announced = "Content-Type: application/json\r\nContent-Length: 99999999999\r\nExpect: 100-continue\r\n";
    raw(&server, "POST", "/generators", announced, b"").is(413, "payload_too_large");
    let fits = format!("{{\"name\":\"x\",\"other\":\"{}\"}}", "x".repeat((1 << 20) - 24));
    assert!(fits.len() <= 1 << 20);
    json_body(&server, "/generators", fits.as_bytes()).has(201);
}

/// Returns the name of the first diagnostic of an error.
fn name(error: &Json) -> &Json {
    &error["details"]["diagnostics"][0]["name"]
}

#[test]
fn every_limit_of_a_template_ends_in_its_code_at_every_door() {
    let server = Running::new();
    let kept = server.template_of(&server.admin, "kept", "a", "{}");
    let doors =
        [("POST", "/templates".to_owned()), ("PUT", format!("/templates/{kept}")), ("POST", "/templates/check".into())];
    let send = |(method, path): &(&str, String), content: &str| {
        let body = json!({ "name": "x", "template_content": content, "parameters_schema": "{}" });
        server.send(&server.admin, method, &format!("/api/v1{path}"), &body)
    };
    for (content, limit) in [
        (format!("{{{{ {}", "(".repeat(10_000)), "limit.depth"),
        ("{% if a %}".repeat(10_000), "limit.depth"),
        (format!("{{{{ x{} }}}}", ".a".repeat(70_000)), "limit.code"),
    ] {
        for door in &doors {
            let reply = send(door, &content);
            assert_eq!(name(&reply.is(400, "invalid_template_syntax").json()), limit, "{door:?}");
        }
    }
    for door in &doors {
        send(door, &"x".repeat(1 << 20)).is(413, "payload_too_large");
    }
}

#[test]
fn every_limit_of_a_render_ends_in_its_code_at_every_door() {
    let server = Running::new();
    let team = server.team("ci");
    let doubled = |step: &str| format!("{{% set x = 'xxxx' %}}{}{{{{ x }}}}", step.repeat(60));
    let (fuel, memory) = ("{% for i in range(end=1000000000) %}{% endfor %}", doubled("{% set x = x ~ x %}"));
    let deep = format!("{{% set x = [] %}}{}", "{% set x = [x] %}".repeat(200));
    let recursive = "{% macro m() %}{{ self::m() }}{% endmacro %}{{ self::m() }}";
    for (at, (content, limit)) in [
        (fuel, "limit.fuel"),
        (&memory, "limit.memory"),
        (&deep, "limit.depth"),
        (recursive, "limit.recursion"),
        ("{% for i in range(end=20000) %}{{ p }}{% endfor %}", "limit.output_bytes"),
        ("{{ p is matching('((a{100}){100}){100}') }}", "limit.regex"),
    ]
    .into_iter()
    .enumerate()
    {
        let template = server.template_of(&server.admin, &format!("t{at}"), content, "{}");
        let parameters = json!({ "p": "x".repeat(1_000) });
        let made = server.instantiate(&team.pak, &team.stack, &template, parameters.clone());
        assert_eq!(name(&made.is(400, "template_render_failed").json()), limit, "{content}");
        let body = json!({ "sets": [{ "parameters": parameters }] });
        let path = format!("/api/v1/templates/{template}/stamp");
        let stamped = server.send(&team.pak, "POST", &path, &body).has(200).json();
        assert_eq!(name(&stamped["errors"][0]), limit, "{content}: {stamped}");
    }
}

#[test]
fn the_large_body_of_a_stamp_has_a_bound_of_its_own() {
    let settings = dropforge_catalog::server::Settings { stamp_bytes: 2 << 20, ..Default::default() };
    let server = Running::with(settings);
    let template = server.template_of(&server.admin, "t", "a: {{ p }}", "{}");
    let path = format!("/templates/{template}/stamp");
    let body = |length: usize| json!({ "sets": [{ "parameters": { "p": "x".repeat(length) } }] }).to_string();
    json_body(&server, &path, body(1 << 20).as_bytes()).has(200);
    json_body(&server, &path, body(2 << 20).as_bytes()).is(413, "payload_too_large");
}

#[test]
fn other_types_are_not_expected() {
    let server = Running::new();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json", ""] {
        let headers = format!("Content-Type: {kind}\r\nContent-Length: 2\r\n");
        raw(&server, "POST", "/generators", &headers, b"{}").is(415, "unsupported_media_type");
    }
    raw(&server, "POST", "/generators", "Content-Length: 2\r\n", b"{}").is(415, "unsupported_media_type");
    for kind in ["application/json; charset=utf-8", "Application/JSON", "application/merge-patch+json"] {
        let headers = format!("Content-Type: {kind}\r\nContent-Length: 2\r\n");
        raw(&server, "POST", "/generators", &headers, b"{}").is(422, "invalid_body");
    }
}

#[test]
fn unknown_paths_and_unsupported_methods() {
    let server = Running::new();
    for path in [
        "/api/v1/nothing",
        "/api/v1",
        "/api/v2/templates",
        "/nothing",
        "/api/v1/templates/",
        "//",
        "/%2e%2e/etc/passwd",
    ] {
        server.call(&server.admin, "GET", path).is(404, "not_found");
    }
    for (method, path) in [
        ("PATCH", "/api/v1/templates"),
        ("PUT", "/api/v1/templates"),
        ("DELETE", "/healthz"),
        ("POST", "/"),
        ("GET", "/api/v1/auth/pak"),
        ("TRACE", "/api/v1/stacks"),
        ("BREW", "/api/v1/stacks"),
        ("OPTIONS", "/api/v1/stacks"),
    ] {
        let reply = server.call(&server.admin, method, path);
        reply.is(405, "method_not_allowed");
        assert!(reply.header("allow").is_some_and(|allow| !allow.is_empty()), "{method} {path}: {reply:?}");
    }
}

#[test]
fn paths_and_queries_that_cannot_be_read() {
    let server = Running::new();
    for path in [
        "/templates/abc",
        "/templates/%00",
        "/stacks/1",
        "/stacks/x/labels",
        "/deployment-objects/%FF",
        "/generators/%20",
    ] {
        server.call(&server.admin, "GET", &format!("/api/v1{path}")).is(400, "invalid_path");
    }
    for query in
        ["limit=0", "limit=1001", "limit=x", "limit=-1", "limit=99999999999999999999", "cursor=x", "limit=1&limit=2"]
    {
        server.call(&server.admin, "GET", &format!("/api/v1/templates?{query}")).is(400, "invalid_query");
    }
    let template = server.template(&server.admin, "web");
    for label in ["%00", "%FF", "%F0%9F%98%80", "%2e%2e", "%0d%0aX:%20y", &"x".repeat(5000)] {
        let reply = server.call(&server.admin, "DELETE", &format!("/api/v1/templates/{template}/labels/{label}"));
        assert!([400, 404].contains(&reply.status), "{label}: {reply:?}");
    }
    for query in ["name=%FF", "name=a%C3", "%FF=a", "name=%C0%80", "name=%ED%A0%80"] {
        for list in ["templates", "templates/newest", "stacks", "generators"] {
            server.call(&server.admin, "GET", &format!("/api/v1/{list}?{query}")).is(400, "invalid_query");
        }
    }
    for name in ["%00", "%FF", "", &"n".repeat(5000), "'%20OR%201=1--"] {
        let reply = server.call(&server.admin, "GET", &format!("/api/v1/templates?name={name}"));
        assert!([200, 400].contains(&reply.status), "{name}: {reply:?}");
        let reply = server.call(&server.admin, "GET", &format!("/api/v1/templates/newest?name={name}"));
        assert!([400, 404].contains(&reply.status), "{name}: {reply:?}");
    }
    server.call(&server.admin, "GET", "/api/v1/templates/newest").is(400, "invalid_query");
    server.call(&server.admin, "GET", "/api/v1/templates/newest?name=a&owner=b").is(400, "invalid_owner");
}

#[test]
fn requests_that_are_no_http() {
    let server = Running::new();
    let many = format!("GET /healthz HTTP/1.1\r\nHost: t\r\n{}\r\n", "X: y\r\n".repeat(200));
    let long = format!("GET /healthz HTTP/1.1\r\nHost: t\r\nX: {}\r\n\r\n", "y".repeat(200_000));
    let path = format!("GET /{} HTTP/1.1\r\nHost: t\r\n\r\n", "p".repeat(100_000));
    for bytes in [
        "\r\n\r\n\r\nnothing\r\n\r\n",
        "GET\r\n\r\n",
        "GET /healthz HTTP/9.9\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost t\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nX: a\0b\r\n\r\n",
        "POST /api/v1/generators HTTP/1.1\r\nHost: t\r\nContent-Length: x\r\n\r\n",
        "POST /api/v1/generators HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n",
        &many,
        &long,
        &path,
    ] {
        let mut stream = connect(server.address);
        let _ = stream.write_all(bytes.as_bytes());
        if let Some(reply) = read(&mut stream) {
            let shown: String = bytes.chars().take(60).collect();
            assert!((400..500).contains(&reply.status), "{shown}: {reply:?}");
        }
    }
    server.request("GET", "/healthz").send().has(200);
}

#[test]
fn chunks_that_are_none() {
    let server = Running::new();
    for body in ["zz\r\n{}\r\n0\r\n\r\n", "ffffffffffffffffff\r\n{}", "-1\r\n{}\r\n", "2\r\n{}xx\r\n0\r\n\r\n"] {
        let headers = "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n";
        raw(&server, "POST", "/generators", headers, body.as_bytes()).is(400, "unreadable_body");
    }
}

#[test]
fn slow_clients_are_cut_off() {
    let server = Running::with(quick());
    let mut stream = connect(server.address);
    stream.write_all(b"GET /healthz HT").unwrap();
    assert!(read(&mut stream).is_none_or(|reply| reply.status == 408));
    let mut stream = connect(server.address);
    let head = format!("Authorization: {}\r\nContent-Type: application/json\r\nContent-Length: 100", server.admin);
    write!(stream, "POST /api/v1/generators HTTP/1.1\r\nHost: t\r\n{head}\r\n\r\n{{\"name\"").unwrap();
    read(&mut stream).unwrap().is(408, "request_timeout");
    // An idle connection is closed.
    let mut stream = connect(server.address);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n").unwrap();
    read(&mut stream).unwrap().has(200);
    assert!(read(&mut stream).is_none());
}

#[test]
fn every_route_takes_rubbish() {
    let server = Running::new();
    let bodies: [&[u8]; 6] = [b"", b"{", b"null", b"[[[]]]", b"\"\\u0000\"", b"\xff"];
    let description = server.description();
    for (path, item) in description["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let filled = path.replace("{id}", NOBODY).replace("{label}", "%00").replace("{key}", "%00");
            for body in bodies {
                let request = server.request(&method.to_uppercase(), &filled).key(&server.admin);
                let reply = request.body("application/json", body).send();
                assert!(reply.status < 500, "{method} {path}: {reply:?}");
            }
        }
    }
    let panics =
        server.metrics().lines().find(|line| line.starts_with("dropforge_http_panics_total ")).map(str::to_owned);
    assert_eq!(panics.as_deref(), Some("dropforge_http_panics_total 0"));
}

#[test]
fn a_name_of_a_request_is_kept_if_it_can_be_shown() {
    let server = Running::new();
    let named = |id: &str| server.request("GET", "/healthz").header("X-Request-Id", id).send();
    assert_eq!(named("build-7.a_B").header("x-request-id"), Some("build-7.a_B"));
    for wrong in ["a b", "<script>", &"x".repeat(65), ""] {
        assert_ne!(named(wrong).header("x-request-id"), Some(wrong));
    }
}

#[test]
fn secrets_are_never_stored() {
    let server = Running::new();
    let made = server.send(&server.admin, "POST", "/api/v1/generators", &json!({ "name": "ci" }));
    assert_eq!(made.has(201).header("cache-control"), Some("no-store"));
    let keys: Json = server.call(&server.admin, "GET", "/api/v1/keys").has(200).json();
    assert!(!keys.to_string().contains("hash"), "{keys}");
}
