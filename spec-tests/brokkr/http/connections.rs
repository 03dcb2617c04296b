//! Connections: places, timeouts, limits of heads, and the order of a shutdown.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use dropforge_catalog::server::{MAX_HEAD_BYTES, MAX_HEADERS, Settings};

use super::client::{Reply, connect, exchange, read};
use super::lifecycle::{begun, closed};
use super::server::Running;

/// Longer than any test.
const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(200);

const PING: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n";

/// Sends a request on an open connection.
fn ping(stream: &mut TcpStream) -> Option<Reply> {
    // The server may have closed the connection.
    let _ = stream.write_all(PING);
    read(stream)
}

#[test]
fn idle_connections_do_not_shut_others_out() {
    let places = Settings { connections: 64, connections_per_address: 64, ..Settings::default() };
    let address = Settings { connections: 1024, connections_per_address: 64, ..Settings::default() };
    for settings in [places, address] {
        let server = Running::with(Settings { head_timeout: LONG, keep_alive: LONG, ..settings });
        let mut idle: Vec<_> = (0..64).map(|_| connect(server.address)).collect();
        // Some have sent nothing, some a part of a head, and some are kept alive. The last ones are the newest.
        for (at, stream) in idle.iter_mut().enumerate() {
            match at {
                0..20 => {}
                20..40 => stream.write_all(b"GET /healthz HT").unwrap(),
                _ => assert_eq!(ping(stream).unwrap().status, 200),
            }
        }
        // New connections have a second for their first request.
        std::thread::sleep(Duration::from_millis(1200));
        for _ in 0..30 {
            let mut newcomer = connect(server.address);
            assert_eq!(ping(&mut newcomer).expect("an answer").status, 200);
            idle.push(newcomer);
        }
        // The 30 oldest were closed, and no others.
        assert!(idle[..20].iter_mut().all(|stream| read(stream).is_none()));
        for stream in &mut idle[20..30] {
            assert!(read(stream).is_none());
        }
        assert!(idle[40..].iter_mut().all(|stream| ping(stream).is_some_and(|reply| reply.status == 200)));
    }
}

#[test]
fn connections_with_requests_keep_their_places() {
    let server = Running::with(Settings { connections: 2, connections_per_address: 8, ..Settings::default() });
    let body = r#"{"name":"late"}"#;
    let mut busy = begun(&server, body);
    let mut idle = connect(server.address);
    assert_eq!(ping(&mut idle).unwrap().status, 200);
    let mut newcomer = connect(server.address);
    assert_eq!(ping(&mut newcomer).unwrap().status, 200);
    assert!(read(&mut idle).is_none());
    busy.write_all(body.as_bytes()).unwrap();
    read(&mut busy).unwrap().has(201);
}

#[test]
fn an_address_whose_connections_all_have_requests_gets_no_further_one() {
    let server = Running::with(Settings { connections: 8, connections_per_address: 2, ..Settings::default() });
    let body = r#"{"name":"late"}"#;
    let mut busy = [begun(&server, body), begun(&server, body)];
    for _ in 0..3 {
        assert!(ping(&mut connect(server.address)).is_none());
    }
    busy[0].write_all(body.as_bytes()).unwrap();
    read(&mut busy[0]).unwrap().has(201);
    // The client may have the response before the server knows that it is sent.
    assert!((0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        ping(&mut connect(server.address)).is_some_and(|reply| reply.status == 200)
    }));
}

#[test]
fn the_time_between_requests_has_a_limit_of_its_own() {
    let server = Running::with(Settings { head_timeout: LONG, keep_alive: SHORT, ..Settings::default() });
    let mut stream = connect(server.address);
    assert_eq!(ping(&mut stream).unwrap().status, 200);
    assert!(read(&mut stream).is_none());

    let server = Running::with(Settings { head_timeout: SHORT, keep_alive: LONG, ..Settings::default() });
    let mut stream = connect(server.address);
    assert_eq!(ping(&mut stream).unwrap().status, 200);
    std::thread::sleep(3 * SHORT);
    assert_eq!(ping(&mut stream).expect("the connection is kept").status, 200);
    // A head that has begun has the limit of heads, however slowly it goes on.
    for part in [&b"GET /he"[..], b"al", b"th", b"z "] {
        let _ = stream.write_all(part);
        std::thread::sleep(SHORT / 2);
    }
    assert!(read(&mut stream).is_none());
    assert!(read(&mut connect(server.address)).is_none());
}

#[test]
fn connections_are_not_kept_if_told_so() {
    let server = Running::with(Settings { keep_alive: Duration::ZERO, ..Settings::default() });
    let mut stream = connect(server.address);
    assert_eq!(ping(&mut stream).unwrap().header("connection"), Some("close"));
    assert!(read(&mut stream).is_none());
}

#[test]
fn a_head_may_have_exactly_as_many_headers() {
    let server = Running::new();
    let with = |count: usize| {
        let headers: String = (0..count).map(|at| format!("X-{at}: y\r\n")).collect();
        exchange(server.address, format!("GET /healthz HTTP/1.1\r\n{headers}\r\n").as_bytes()).status
    };
    assert_eq!([1, MAX_HEADERS - 1, MAX_HEADERS].map(with), [200; 3]);
    assert_eq!([MAX_HEADERS + 1, MAX_HEADERS + 36, 10 * MAX_HEADERS].map(with), [431; 3]);
}

#[test]
fn a_head_may_have_exactly_as_many_bytes() {
    let server = Running::new();
    let with = |length: usize| {
        let (begin, end) = ("GET /healthz HTTP/1.1\r\nX: ", "\r\n\r\n");
        let filler = "y".repeat(length - begin.len() - end.len());
        let head = format!("{begin}{filler}{end}");
        let once = exchange(server.address, head.as_bytes()).status;
        // In pieces, as from a slow network.
        let mut stream = connect(server.address);
        for piece in head.as_bytes().chunks(10_000) {
            // The server may answer before the end.
            let _ = stream.write_all(piece);
        }
        (once, read(&mut stream).map(|reply| reply.status))
    };
    assert_eq!(with(MAX_HEAD_BYTES), (200, Some(200)));
    assert_eq!(with(MAX_HEAD_BYTES + 1), (431, Some(431)));
    let path = |length: usize| {
        let head = format!("GET /{} HTTP/1.1\r\n\r\n", "p".repeat(length));
        exchange(server.address, head.as_bytes()).status
    };
    assert_eq!([path(60_000), path(MAX_HEAD_BYTES)], [404, 431]);
}

#[test]
fn a_service_that_ends_is_not_ready_before_it_refuses() {
    let not_ready = Duration::from_secs(2);
    let mut server = Running::with(Settings { not_ready, drain: LONG, ..Settings::default() });
    server.request("GET", "/readyz").send().has(200);
    server.stop();
    let mut seen = 0;
    while let Ok(mut stream) = TcpStream::connect(server.address) {
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n").unwrap();
        let Some(reply) = read(&mut stream) else { break };
        if reply.status == 503 {
            reply.is(503, "not_ready");
            assert!(reply.header("retry-after").is_some());
            seen += 1;
        } else {
            assert_eq!((reply.status, seen), (200, 0));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(seen > 0);
    closed(&server);
    server.join();
}

#[test]
fn a_half_sent_head_does_not_hold_up_the_end() {
    let mut server = Running::with(Settings { drain: LONG, head_timeout: LONG, ..Settings::default() });
    let mut unused = connect(server.address);
    let mut half = connect(server.address);
    half.write_all(b"POST /api/v1/generators HTTP/1.1\r\nHost: t\r\nX-Y").unwrap();
    let mut second = connect(server.address);
    assert_eq!(ping(&mut second).unwrap().status, 200);
    second.write_all(b"GET /he").unwrap();
    // All have arrived.
    std::thread::sleep(SHORT);
    server.stop();
    server.join();
    assert!([&mut unused, &mut half, &mut second].into_iter().all(|stream| read(stream).is_none()));
}

#[test]
fn a_shutdown_ends_in_time_while_it_is_not_ready() {
    let settings = Settings { not_ready: LONG, drain: SHORT, ..Settings::default() };
    let mut server = Running::with(settings);
    let mut busy = begun(&server, "{}");
    server.stop();
    server.join();
    assert!(read(&mut busy).is_none());
}
