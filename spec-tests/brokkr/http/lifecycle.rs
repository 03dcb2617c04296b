//! Startup and shutdown: accepted requests finish, limits hold, and one key does not starve the others.

use std::io::Write;
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dropforge_catalog::server::{Log, Settings};
use serde_json::json;

use super::client::{connect, read};
use super::server::{Running, text};

/// Starts a request without sending its body.
pub fn begun(server: &Running, body: &str) -> TcpStream {
    let mut stream = connect(server.address);
    let (key, length) = (&server.admin, body.len());
    let head = format!("Authorization: {key}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n");
    write!(stream, "POST /api/v1/generators HTTP/1.1\r\nHost: t\r\n{head}Expect: 100-continue\r\n\r\n").unwrap();
    let mut line = [0; 25];
    std::io::Read::read_exact(&mut stream, &mut line).unwrap();
    assert_eq!(&line[..], b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

/// Waits until the server refuses connections.
pub fn closed(server: &Running) {
    for _ in 0..1000 {
        if TcpStream::connect(server.address).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the server still accepts");
}

#[test]
fn accepted_requests_are_finished() {
    let mut server = Running::new();
    let body = r#"{"name":"late"}"#;
    let mut streams: Vec<_> = (0..4).map(|_| begun(&server, body)).collect();
    server.stop();
    closed(&server);
    let mut answers: Vec<_> = streams
        .iter_mut()
        .map(|stream| {
            stream.write_all(body.as_bytes()).unwrap();
            read(stream).unwrap().status
        })
        .collect();
    answers.sort_unstable();
    assert_eq!(answers, [201, 409, 409, 409]);
    // These connections get no further responses.
    assert!(streams.iter_mut().all(|stream| read(stream).is_none()));
    server.join();
}

#[test]
fn unfinished_requests_do_not_delay_shutdown() {
    let mut server = Running::with(Settings { drain: Duration::from_millis(100), ..Settings::default() });
    let mut stream = begun(&server, "{}");
    server.stop();
    server.join();
    assert!(read(&mut stream).is_none());
}

#[test]
fn connections_that_are_idle_do_not_hold_up_the_end() {
    let mut server = Running::with(Settings { drain: Duration::from_secs(3600), ..Settings::default() });
    let mut stream = connect(server.address);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n").unwrap();
    read(&mut stream).unwrap().has(200);
    server.stop();
    server.join();
    assert!(read(&mut stream).is_none());
}

#[test]
fn a_key_that_asks_too_often_waits_and_others_do_not() {
    let rate = NonZeroU32::new(1);
    let server = Running::with(Settings { rate, ..Settings::default() });
    let ask = || server.call(&server.admin, "POST", "/api/v1/auth/pak");
    let refused = (0..100).map(|_| ask()).find(|reply| reply.status != 200).expect("a refusal");
    refused.is(429, "too_many_requests");
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    // Routes without a key, and other keys, still work.
    server.request("GET", "/healthz").send().has(200);
    let other = (0..200).find_map(|_| {
        let made = server.send(&server.admin, "POST", "/api/v1/keys", &json!({ "role": "readonly" }));
        let waits = made.status == 429;
        waits.then(|| std::thread::sleep(Duration::from_millis(20)));
        (!waits).then(|| text(&made.has(201).json()["pak"]))
    });
    server.call(&other.unwrap(), "POST", "/api/v1/auth/pak").has(200);
    let metrics = (0..200).find_map(|_| {
        let metrics = server.call(&server.admin, "GET", "/metrics");
        let waits = metrics.status == 429;
        waits.then(|| std::thread::sleep(Duration::from_millis(20)));
        (!waits).then(|| metrics.has(200).text().to_owned())
    });
    let metrics = metrics.unwrap();
    let limited = metrics.lines().find_map(|line| line.strip_prefix("dropforge_http_limited_total "));
    assert!(limited.unwrap().parse::<u64>().unwrap() >= 1);
}

#[test]
fn more_clients_than_places_are_all_served() {
    let server = Running::with(Settings { connections: 2, ..Settings::default() });
    std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..24).map(|_| scope.spawn(|| server.request("GET", "/healthz").send().status)).collect();
        for client in clients {
            assert_eq!(client.join().unwrap(), 200);
        }
    });
}

#[test]
fn a_client_that_takes_nothing_loses_its_connection() {
    let settings = Settings { write_timeout: Duration::from_millis(200), stamps: 1, ..Settings::default() };
    let server = Running::with(settings);
    let template = server.template_of(&server.admin, "t", "{% for i in range(end=200000) %}x{{ p }}{% endfor %}", "{}");
    let path = format!("/api/v1/templates/{template}/stamp");
    let sets = vec![json!({ "parameters": { "p": "0123456789" } }); 64];
    let request = server.request("POST", &path).key(&server.admin).json(&json!({ "sets": sets }));
    let mut stream = connect(server.address);
    stream.write_all(&request.bytes()).unwrap();
    // The permit is released before anything has been read.
    let few = json!({ "sets": [] });
    let free = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        let status = server.send(&server.admin, "POST", &path, &few).status;
        assert!([200, 503].contains(&status), "{status}");
        status == 200
    });
    assert!(free);
    drop(stream);
}

#[test]
fn a_disconnected_client_stops_the_work() {
    let server = Running::with(Settings { stamps: 1, ..Settings::default() });
    let template = server.template_of(&server.admin, "t", "{% for i in range(end=200000) %}x{{ p }}{% endfor %}", "{}");
    let path = format!("/api/v1/templates/{template}/stamp");
    let sets = vec![json!({ "parameters": { "p": "0123456789" } }); 5000];
    let request = server.request("POST", &path).key(&server.admin).json(&json!({ "sets": sets }));
    let mut stream = connect(server.address);
    stream.write_all(&request.bytes()).unwrap();
    // The response has started.
    std::io::Read::read_exact(&mut stream, &mut [0; 64]).unwrap();
    drop(stream);
    let few = json!({ "sets": [] });
    let free = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        server.send(&server.admin, "POST", &path, &few).status == 200
    });
    assert!(free);
    let stamped =
        server.metrics().lines().find_map(|line| line.strip_prefix("dropforge_stamped_total ").map(str::to_owned));
    assert!(stamped.unwrap().parse::<u64>().unwrap() < 5000);
}

#[test]
fn every_response_is_logged() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let write = told.clone();
    let log = Log::new(move |exchange| {
        let line = format!("{} {} {} {}", exchange.id, exchange.method, exchange.path, exchange.status);
        write.lock().unwrap().push(line);
    });
    let server = Running::with(Settings { log: Some(log), ..Settings::default() });
    server.request("GET", "/healthz?secret=1").header("X-Request-Id", "a").send().has(200);
    server.request("GET", "/api/v1/templates").header("X-Request-Id", "b").send().has(401);
    let told = told.lock().unwrap().clone();
    assert!(told.contains(&"a GET /healthz 200".to_owned()), "{told:?}");
    assert!(told.contains(&"b GET /api/v1/templates 401".to_owned()), "{told:?}");
}
