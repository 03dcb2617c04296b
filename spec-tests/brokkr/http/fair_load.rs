//! A light caller beside a greedy one, which renders slowly, posts large bodies, checks large templates and lists, on 64
//! connections.
//!
//! The test checks that every request of the light caller succeeds, and prints measurements: the light caller alone and
//! beside the greedy one, whose clients get what the server and the light one leave of the cores, and `/healthz`. `DROPFORGE_LOAD=8 cargo test --profile dist --test catalog http::fair_load --
//! --nocapture` takes 8 seconds per row, three times, and prints the best. Without the variable a row takes an instant.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{connect, read};
use super::server::{Running, TEMPLATE, Team};

/// Connections of the greedy caller.
const GREEDY: usize = 64;

/// A render of some hundred thousand steps.
const SLOW: &str = "{% for i in range(end=300000) %}{% endfor %}a: 1";

/// Digits that are another number in each request, so that no template is compiled before.
const NUMBER: &str = "0123456789";

fn seconds() -> f64 {
    std::env::var("DROPFORGE_LOAD").map_or(0.3, |seconds| seconds.parse().expect("DROPFORGE_LOAD: seconds"))
}

/// Number of measurements, of which the best counts.
fn rounds() -> usize {
    if std::env::var_os("DROPFORGE_LOAD").is_some() { 3 } else { 1 }
}

/// A time in milliseconds.
struct Times {
    p50: f64,
    p99: f64,
    count: usize,
}

impl Times {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
        Self { p50: at(50), p99: at(99), count: times.len() }
    }
}

/// Sends one request again and again on a persistent connection, at least five times.
fn repeat(server: &Running, request: &[u8], status: u16, pause: Duration) -> Times {
    let (mut stream, begun, mut times) = (connect(server.address), Instant::now(), Vec::new());
    stream.set_nodelay(true).unwrap();
    while begun.elapsed().as_secs_f64() < seconds() || times.len() < 5 {
        let sent = Instant::now();
        stream.write_all(request).unwrap();
        read(&mut stream).expect("an answer").has(status);
        times.push(sent.elapsed());
        thread::sleep(pause);
    }
    Times::of(times)
}

/// The requests of the greedy caller.
fn greedy_requests(server: &Running, team: &Team) -> Vec<Vec<u8>> {
    let slow = server.template_of(&server.admin, "slow", SLOW, "{}");
    let render = format!("/api/v1/stacks/{}/deployment-objects/from-template", team.stack);
    let objects = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
    let body = "- {name: x, value: 'y'}\n".repeat(40_000);
    let content = format!("{{# {NUMBER} #}}{}", "{% if a %}{{ b }}{% endif %}".repeat(10_000));
    let check = json!({ "template_content": content, "parameters_schema": "{}" });
    let post = |path: &str| server.further("POST", path).key(&team.pak);
    vec![
        post(&render).json(&json!({ "template_id": slow, "parameters": {} })).bytes(),
        post(&objects).body("application/yaml", body).bytes(),
        post("/api/v1/templates/check").json(&check).bytes(),
        server.further("GET", "/api/v1/templates?limit=500").key(&team.pak).bytes(),
    ]
}

/// Sends requests until `stop` is set.
fn press(server: &Running, request: &[u8], stop: &AtomicBool, answered: &AtomicUsize) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // The greedy caller has machines of its own.
    #[cfg(target_os = "linux")]
    rustix::process::nice(15).unwrap();
    let (mut stream, mut request) = (connect(server.address), request.to_vec());
    let number = request.windows(NUMBER.len()).position(|part| part == NUMBER.as_bytes());
    while !stop.load(Ordering::Relaxed) {
        if let Some(at) = number {
            let digits = format!("{:010}", NEXT.fetch_add(1, Ordering::Relaxed));
            request[at..at + NUMBER.len()].copy_from_slice(digits.as_bytes());
        }
        // A refused large body ends the connection.
        let reply = stream.write_all(&request).ok().and_then(|()| read(&mut stream));
        match reply {
            Some(reply) => {
                assert!([200, 201, 503].contains(&reply.status), "{}", reply.text());
                answered.fetch_add(1, Ordering::Relaxed);
                if reply.status == 503 {
                    thread::sleep(Duration::from_millis(20));
                }
            }
            None => stream = connect(server.address),
        }
    }
}

/// The light caller and the probe, alone or beside the greedy one.
fn measure(server: &Running, light: &[u8], greedy: &[Vec<u8>]) -> (Times, Times, usize) {
    let (stop, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for at in 0..if greedy.is_empty() { 0 } else { GREEDY } {
            let (stop, answered) = (&stop, &answered);
            scope.spawn(move || press(server, &greedy[at % greedy.len()], stop, answered));
        }
        let probe = server.further("GET", "/healthz").bytes();
        let health = scope.spawn(move || repeat(server, &probe, 200, Duration::from_millis(5)));
        let times = repeat(server, light, 201, Duration::from_millis(1));
        let health = health.join().unwrap();
        stop.store(true, Ordering::Relaxed);
        (times, health, answered.load(Ordering::Relaxed))
    })
}

/// The largest resident memory of this process in MiB: the server, and all its clients.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    peak.unwrap_or(0) / 1024
}

#[test]
fn a_light_caller_beside_a_greedy_one() {
    let server = Running::new();
    let (light, greedy) = (server.team("light"), server.team("greedy"));
    for n in 0..200 {
        server.template(&greedy.pak, &format!("t{n}"));
    }
    let id = server.template_of(&server.admin, "quick", TEMPLATE, "{}");
    let path = format!("/api/v1/stacks/{}/deployment-objects/from-template", light.stack);
    let body = json!({ "template_id": id, "parameters": { "name": "a", "value": "b" } });
    let request = server.further("POST", &path).key(&light.pak).json(&body).bytes();
    let greedy = greedy_requests(&server, &greedy);
    println!("{} cores; peak memory includes the clients", thread::available_parallelism().map_or(0, usize::from));
    println!("| | light p50 ms | p99 ms | requests | /healthz p50 ms | p99 ms | greedy answers | peak MiB |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (name, greedy) in [("alone", &[][..]), ("beside a greedy one", &greedy)] {
        let best = (0..rounds()).map(|_| measure(&server, &request, greedy));
        let (times, health, answered) = best.min_by(|a, b| a.0.p99.total_cmp(&b.0.p99)).unwrap();
        let (Times { p50, p99, count }, Times { p50: health50, p99: health99, .. }) = (times, health);
        println!(
            "| {name} | {p50:.2} | {p99:.2} | {count} | {health50:.2} | {health99:.2} | {answered} | {} |",
            memory()
        );
    }
}
