//! The service under load: instantiations by 1 to 32 concurrent clients, and updates of one template by 32.
//!
//! The tests check that each request is carried out exactly once, and print measurements. `DROPFORGE_LOAD=8 cargo test
//! --profile dist --test catalog http::load -- --nocapture --test-threads 1` takes 8 seconds per row. Without the
//! variable a row takes an instant.

use std::collections::BTreeSet;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use dropforge::engine::{Dialect, Engine};
use serde_json::{Value as Json, json};

use super::client::{Reply, connect, read};
use super::server::{Running, text};

const TEMPLATE: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ name }}
  namespace: {{ namespace }}
  labels:
    app: {{ name }}
    team: {{ team }}
spec:
  replicas: {{ replicas }}
  selector:
    matchLabels:
      app: {{ name }}
  template:
    metadata:
      labels:
        app: {{ name }}
    spec:
      containers:
        - name: {{ name }}
          image: {{ image }}:{{ tag }}
          ports:
            - containerPort: {{ port }}
          resources:
            requests:
              cpu: {{ cpu }}
              memory: {{ memory }}
{% if public %}---
apiVersion: v1
kind: Service
metadata:
  name: {{ name }}
  namespace: {{ namespace }}
spec:
  ports:
    - port: 80
      targetPort: {{ port }}
{% endif %}";

fn parameters() -> Json {
    json!({
        "name": "cart", "namespace": "shop", "team": "checkout", "replicas": 3, "image": "registry/cart", "tag": "1.4.2",
        "port": 8080, "cpu": "100m", "memory": "128Mi", "public": true,
    })
}

fn schema() -> String {
    let text = json!({ "type": "string", "minLength": 1 });
    let replicas = json!({ "type": "integer", "minimum": 1, "maximum": 20 });
    let properties = json!({
        "name": text, "namespace": text, "team": text, "replicas": replicas, "image": text, "tag": text,
        "port": { "type": "integer" }, "cpu": text, "memory": text, "public": { "type": "boolean" },
    });
    json!({ "type": "object", "required": ["name", "image", "replicas"], "properties": properties }).to_string()
}

/// Duration of each row.
fn seconds() -> f64 {
    std::env::var("DROPFORGE_LOAD").map_or(0.2, |seconds| seconds.parse().expect("DROPFORGE_LOAD: seconds"))
}

/// Runs `count` concurrent clients, each with a persistent connection that `work` gets a function for. Returns
/// everything they collected.
fn clients<T: Send>(
    server: &Running,
    count: usize,
    work: impl Fn(&mut dyn FnMut(&[u8]) -> Reply) -> Vec<T> + Sync,
) -> Vec<T> {
    thread::scope(|scope| {
        let client = || {
            let mut stream = connect(server.address);
            stream.set_nodelay(true).unwrap();
            work(&mut |bytes| {
                stream.write_all(bytes).unwrap();
                read(&mut stream).expect("an answer")
            })
        };
        let clients: Vec<_> = (0..count).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

/// The time of a render, including parsing of the parameters as in the service, and the text.
fn direct() -> (Duration, String) {
    let template = Engine::new().compile(Dialect::Tera, "web", TEMPLATE).unwrap();
    let (parameters, mut out) = (parameters().to_string(), String::new());
    let (begun, rounds) = (Instant::now(), 10_000);
    for _ in 0..rounds {
        out.clear();
        let parameters: Json = serde_json::from_str(&parameters).unwrap();
        template.render_into(&parameters, &mut out).unwrap();
    }
    (begun.elapsed() / rounds, out)
}

/// The CPU time of this process's threads. The threads of clients have ended when it is read, and do not count; neither
/// do those of other tests that ran beside, so that it may decrease.
fn cpu() -> Duration {
    let time = |task: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    };
    // Without the kernel's statistics nothing is measured.
    std::fs::read_dir("/proc/self/task").map_or(Duration::ZERO, |tasks| tasks.filter_map(time).sum())
}

/// The median time to sync 4 KiB to disk.
fn sync() -> Duration {
    let mut file = tempfile::tempfile().unwrap();
    let mut once = || {
        let begun = Instant::now();
        file.write_all(&[b'x'; 4096]).and_then(|()| file.sync_data()).unwrap();
        begun.elapsed()
    };
    let mut times: Vec<_> = (0..200).map(|_| once()).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn instantiations_by_many_clients_make_an_object_each() {
    let server = Running::new();
    let team = server.team("bench");
    let template = server.template_of(&server.admin, "web", TEMPLATE, &schema());
    let (render, expected) = direct();
    println!(
        "direct rendering {:.1} us, a synced write of 4 KiB {:.2} ms",
        render.as_secs_f64() * 1e6,
        sync().as_secs_f64() * 1e3
    );
    println!("| clients | instantiations/s | p50 ms | p99 ms | CPU us of the server |\n|--:|--:|--:|--:|--:|");
    let path = format!("/api/v1/stacks/{}/deployment-objects/from-template", team.stack);
    let body = json!({ "template_id": template, "parameters": parameters() });
    let request = server.further("POST", &path).key(&team.pak).json(&body).bytes();
    for count in [1, 4, 16, 32] {
        let (begun, before, seconds) = (Instant::now(), cpu(), seconds());
        let made = clients(&server, count, |send| {
            let mut made = Vec::new();
            while begun.elapsed().as_secs_f64() < seconds {
                let sent = Instant::now();
                let reply = send(&request);
                let took = sent.elapsed();
                let object = reply.has(201).json();
                assert_eq!(object["yaml_content"], expected);
                made.push((text(&object["id"]), took));
            }
            made
        });
        row(count, begun.elapsed(), cpu().saturating_sub(before), made);
    }
}

/// Prints a row and checks that there are as many objects as responses.
fn row(count: usize, took: Duration, cpu: Duration, made: Vec<(String, Duration)>) {
    let (ids, mut times): (BTreeSet<_>, Vec<_>) = made.into_iter().unzip();
    assert_eq!(ids.len(), times.len());
    times.sort_unstable();
    let at = |percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1e3;
    let (rate, cpu) = (times.len() as f64 / took.as_secs_f64(), cpu.as_secs_f64() * 1e6 / times.len() as f64);
    println!("| {count} | {rate:.0} | {:.2} | {:.2} | {cpu:.0} |", at(50), at(99));
}

#[test]
fn updates_by_many_clients_are_numbered_without_gap_or_duplicate() {
    let server = Running::new();
    let id = server.template_of(&server.admin, "web", TEMPLATE, &schema());
    let body = json!({ "template_content": TEMPLATE, "parameters_schema": schema() });
    let request = server.further("PUT", &format!("/api/v1/templates/{id}")).key(&server.admin).json(&body).bytes();
    let updates = if std::env::var_os("DROPFORGE_LOAD").is_some() { 200 } else { 40 };
    let begun = Instant::now();
    let mut versions = clients(&server, 32, |send| {
        (0..updates).map(|_| send(&request).has(200).json()["version"].as_i64().unwrap()).collect()
    });
    let (took, last) = (begun.elapsed().as_secs_f64(), 32 * updates + 1);
    versions.sort_unstable();
    assert_eq!(versions, (2..=last).collect::<Vec<_>>());
    let path = format!("/api/v1/templates/{id}/versions");
    let stored = server.call(&server.admin, "GET", &path).has(200).json();
    let stored = stored.as_array().unwrap().iter().map(|row| row["version"].as_i64().unwrap());
    assert!(stored.eq((1..=last).rev()));
    println!("32 clients x {updates} updates: versions 1 to {last}, without gap or duplicate, in {took:.1} s");
}
