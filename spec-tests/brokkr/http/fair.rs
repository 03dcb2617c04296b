//! One caller cannot slow another down: turns, bounds and clients that leave. Slow renders take hours unless they are
//! ended, so that nothing depends on the speed of the machine.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use dropforge_catalog::render::Options;
use dropforge_catalog::server::Settings;
use serde_json::{Value as Json, json};

use super::client::{connect, read};
use super::server::{Running, TEMPLATE, Team, text};

/// A template that renders for hours.
const ENDLESS: &str = "{% for i in range(end=100000) %}{% for j in range(end=100000) %}{% endfor %}{% endfor %}x";

/// Two generators and the templates they use.
struct Tenants {
    greedy: Team,
    light: Team,
    endless: String,
    quick: String,
}

fn tenants(server: &Running) -> Tenants {
    let endless = server.template_of(&server.admin, "endless", ENDLESS, "{}");
    let quick = server.template_of(&server.admin, "quick", TEMPLATE, "{}");
    Tenants { greedy: server.team("greedy"), light: server.team("light"), endless, quick }
}

/// A server whose renders end only when their client leaves.
fn patient(threads: usize, own_queue: usize) -> Running {
    let deadline = Duration::from_secs(3600);
    let options = Options { threads, own_queue, deadline, fuel: u64::MAX, ..Options::default() };
    Running::rendering(Settings::default(), &options)
}

fn instantiation(team: &Team, template: &str) -> (String, Json) {
    let path = format!("/api/v1/stacks/{}/deployment-objects/from-template", team.stack);
    (path, json!({ "template_id": template, "parameters": { "name": "a", "value": "b" } }))
}

/// Sends an endless render and waits until it is running or waiting.
fn occupy(server: &Running, team: &Team, template: &str) -> TcpStream {
    let before = busy(server);
    let stream = ask(server, team, template);
    wait_until(|| busy(server) > before);
    stream
}

/// Sends a render.
fn ask(server: &Running, team: &Team, template: &str) -> TcpStream {
    let (path, body) = instantiation(team, template);
    let mut stream = connect(server.address);
    stream.write_all(&server.further("POST", &path).key(&team.pak).json(&body).bytes()).unwrap();
    stream
}

fn busy(server: &Running) -> usize {
    let load = server.catalog.renderer().stats().load;
    load.running + load.waiting
}

/// Waits until something holds, for two minutes at most.
fn wait_until(mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(120), "it never holds");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn renders_that_never_end_take_no_turn_of_another_caller() {
    let server = patient(2, 64);
    let Tenants { greedy, light, endless, quick } = tenants(&server);
    let clients: Vec<_> = (0..24).map(|_| occupy(&server, &greedy, &endless)).collect();
    for _ in 0..5 {
        // A render, a compilation, a check of YAML and a body that is parsed by a thread: each would wait for ever.
        server.instantiate(&light.pak, &light.stack, &quick, json!({ "name": "a", "value": "b" })).has(201);
        let check = json!({ "template_content": "n: {{ n }}", "parameters_schema": "{}" });
        server.send(&light.pak, "POST", "/api/v1/templates/check", &check).has(200);
        let objects = format!("/api/v1/stacks/{}/deployment-objects", light.stack);
        let large = json!({ "yaml_content": format!("a: {}", "x".repeat(40_000)) });
        server.send(&light.pak, "POST", &objects, &large).has(201);
        server.request("GET", "/healthz").send().has(200);
    }
    // The thread of an answered request is counted until it takes the next one.
    wait_until(|| server.catalog.renderer().stats().load.running == 2);
    let load = server.catalog.renderer().stats().load;
    assert_eq!((load.waiting, load.waiting_callers), (22, 1), "nothing of the greedy one has ended");
    drop(clients);
    wait_until(|| busy(&server) == 0);
}

#[test]
fn a_full_queue_refuses_its_owner_and_nobody_else() {
    let server = patient(1, 2);
    let Tenants { greedy, light, endless, quick } = tenants(&server);
    let _clients: Vec<_> = (0..3).map(|_| occupy(&server, &greedy, &endless)).collect();
    let (path, body) = instantiation(&greedy, &quick);
    let refused = server.send(&greedy.pak, "POST", &path, &body);
    assert!(refused.is(503, "renders_busy").header("retry-after").is_some());
    let check = json!({ "template_content": "n", "parameters_schema": "{}" });
    server.send(&greedy.pak, "POST", "/api/v1/templates/check", &check).is(503, "renders_busy");
    assert_eq!(server.catalog.renderer().stats().refused, 2);
    server.instantiate(&light.pak, &light.stack, &quick, json!({ "name": "a", "value": "b" })).has(201);
    // Requests that compute nothing need no place.
    server.call(&greedy.pak, "GET", "/api/v1/stacks").has(200);
}

#[test]
fn a_client_that_leaves_ends_its_render() {
    let server = patient(1, 8);
    let Tenants { greedy, endless, quick, .. } = tenants(&server);
    let (running, waiting) = (occupy(&server, &greedy, &endless), occupy(&server, &greedy, &endless));
    drop(waiting);
    wait_until(|| busy(&server) == 1);
    drop(running);
    wait_until(|| busy(&server) == 0);
    server.instantiate(&greedy.pak, &greedy.stack, &quick, json!({ "name": "a", "value": "b" })).has(201);
}

#[test]
fn the_deadline_covers_waiting_and_running() {
    // The second render has to come before the first one ends, so nothing is waited for between them.
    let options = Options { threads: 1, deadline: Duration::from_secs(3), fuel: u64::MAX, ..Options::default() };
    let server = Running::rendering(Settings::default(), &options);
    let Tenants { greedy, endless, .. } = tenants(&server);
    let mut clients = [occupy(&server, &greedy, &endless), ask(&server, &greedy, &endless)];
    let [first, second] = clients.each_mut().map(|stream| read(stream).unwrap());
    first.is(400, "template_render_failed");
    assert!(second.is(503, "renders_busy").header("retry-after").is_some());
}

#[test]
fn the_check_of_a_text_belongs_to_its_render() {
    let server = Running::new();
    let team = server.team("ci");
    let template = "{% for i in range(end=60000) %}a: 1\n{% endfor %}";
    let id = server.template_of(&server.admin, "bomb", template, "{}");
    let object = server.instantiate(&team.pak, &team.stack, &id, json!({}));
    let count: usize = object.has(201).header("x-dropforge-warning-count").unwrap().parse().unwrap();
    assert!((1..=20).contains(&count), "{count} warnings");
    let head: usize = object.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!(head < 8000, "{head} bytes of headers");
    let stamp = format!("/api/v1/templates/{id}/stamp");
    let lines = server.send(&team.pak, "POST", &stamp, &json!({ "sets": [{ "parameters": {} }] }));
    assert!(lines.has(200).body.len() < 50_000, "{} bytes", lines.body.len());
    let line: Json = serde_json::from_str(lines.text().trim()).unwrap();
    assert_eq!((&line["status"], &line["errors"][0]["code"]), (&json!(400), &json!("template_output_invalid")));
    assert!(line["errors"][0]["details"]["diagnostics"].as_array().unwrap().len() <= 20);
}

#[test]
fn a_message_of_a_template_is_not_repeated_at_length() {
    let server = Running::new();
    let team = server.team("ci");
    let id = server.template_of(&server.admin, "loud", "{{ throw(message=m) }}", "{}");
    let reply = server.instantiate(&team.pak, &team.stack, &id, json!({ "m": "x".repeat(500_000) }));
    assert!(reply.is(400, "template_render_failed").body.len() < 10_000, "{} bytes", reply.body.len());
}

/// The head of a stamp request and the first bytes of its body.
fn half_sent(server: &Running, pak: &str, template: &str) -> TcpStream {
    let mut stream = connect(server.address);
    let path = format!("/api/v1/templates/{template}/stamp");
    let head = server.further("POST", &path).key(pak).header("Content-Length", "1000");
    let mut bytes = head.header("Content-Type", "application/json").bytes();
    bytes.extend_from_slice(b"{\"sets\":");
    stream.write_all(&bytes).unwrap();
    stream
}

#[test]
fn a_stamp_takes_a_place_when_it_is_allowed_and_whole() {
    let server = Running::with(Settings { stamps: 1, body_timeout: Duration::from_secs(600), ..Settings::default() });
    let (owner, other) = (server.team("owner"), server.team("other"));
    let id = server.template(&owner.pak, "mine");
    // Whoever may not read the template is told before sending anything.
    let refused = read(&mut half_sent(&server, &other.pak, &id)).unwrap();
    refused.is(403, "template_not_accessible");
    let slow = [half_sent(&server, &owner.pak, &id), half_sent(&server, &owner.pak, &id)];
    let stamp = format!("/api/v1/templates/{id}/stamp");
    for _ in 0..3 {
        let sets = json!({ "sets": [{ "parameters": { "name": "a", "value": "b" } }] });
        let lines = server.send(&owner.pak, "POST", &stamp, &sets);
        assert!(lines.has(200).text().contains("\"status\":200"));
    }
    drop(slow);
}

#[test]
fn stamps_of_one_caller_leave_places_for_others() {
    let server = patient(2, 64);
    let Tenants { greedy, light, endless, quick } = tenants(&server);
    let stamp = |template: &str| format!("/api/v1/templates/{template}/stamp");
    let sets = json!({ "sets": [{ "parameters": { "name": "a", "value": "b" } }] });
    let mut clients = Vec::new();
    for at in 1..=4 {
        let mut stream = connect(server.address);
        let request = server.further("POST", &stamp(&endless)).key(&greedy.pak).json(&sets);
        stream.write_all(&request.bytes()).unwrap();
        wait_until(|| busy(&server) == at);
        clients.push(stream);
    }
    server.send(&greedy.pak, "POST", &stamp(&quick), &sets).is(503, "busy");
    let lines = server.send(&light.pak, "POST", &stamp(&quick), &sets);
    assert!(lines.has(200).text().contains("\"status\":200"));
    // Clients that leave give their places back.
    drop(clients);
    wait_until(|| busy(&server) == 0);
    wait_until(|| server.send(&greedy.pak, "POST", &stamp(&quick), &sets).status == 200);
}

#[test]
fn bodies_of_one_caller_leave_memory_for_others() {
    let settings = Settings { body_memory: 200 << 10, body_timeout: Duration::from_secs(600), ..Settings::default() };
    let server = Running::with(settings);
    let (greedy, light) = (server.team("greedy"), server.team("light"));
    let post = |team: &Team, size: usize| {
        let path = format!("/api/v1/stacks/{}/deployment-objects", team.stack);
        server.request("POST", &path).key(&team.pak).body("application/yaml", format!("a: {}", "x".repeat(size)))
    };
    // A body of which the last byte is missing is in memory.
    let mut bytes = post(&greedy, 60 << 10).bytes();
    let last = bytes.pop().unwrap();
    let mut slow = (1..).find_map(|attempt| {
        let mut slow = connect(server.address);
        slow.write_all(&bytes).unwrap();
        // If it has not been read yet, the other request may be the one that fits.
        std::thread::sleep(Duration::from_millis(20) * attempt);
        (post(&greedy, 50 << 10).send().status == 503).then_some(slow)
    });
    let slow = slow.as_mut().unwrap();
    post(&light, 60 << 10).send().has(201);
    slow.write_all(&[last]).unwrap();
    let object = read(slow).unwrap();
    assert_eq!(text(&object.has(201).json()["stack_id"]), greedy.stack);
    post(&greedy, 60 << 10).send().has(201);
}

#[test]
fn pools_and_queues_are_measured() {
    let server = patient(2, 3);
    let Tenants { greedy, endless, quick, .. } = tenants(&server);
    let clients: Vec<_> = (0..5).map(|_| occupy(&server, &greedy, &endless)).collect();
    let (path, body) = instantiation(&greedy, &quick);
    server.send(&greedy.pak, "POST", &path, &body).is(503, "renders_busy");
    let metrics = server.metrics();
    for line in [
        "dropforge_pool_running{pool=\"renders\"} 2",
        "dropforge_pool_waiting{pool=\"renders\"} 3",
        "dropforge_pool_waiting_callers{pool=\"renders\"} 1",
        "dropforge_pool_waiting{pool=\"store\"} 0",
        "dropforge_renders_refused_total 1",
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line} in\n{metrics}");
    }
    let cached = metrics.lines().find_map(|line| line.strip_prefix("dropforge_templates_cached_bytes ")).unwrap();
    assert!(cached.parse::<u64>().unwrap() > 0);
    drop(clients);
    wait_until(|| server.metrics().contains("dropforge_pool_running{pool=\"renders\"} 0"));
}
