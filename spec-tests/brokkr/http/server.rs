//! A running server and requests to it. Every response is checked against the server's own description: a status that
//! the route does not declare fails the test.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::Duration;

use dropforge_catalog::server::{Server, Settings};
use dropforge_catalog::store::new_id;
use dropforge_catalog::{Catalog, Quotas, render};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::client::{Reply, exchange};
use crate::databases;

/// The template and schema of the example in the specification.
pub const TEMPLATE: &str = "name: {{ name }}\nvalue: {{ value }}";
pub const SCHEMA: &str = r#"{"type":"object","required":["name","value"],"properties":{"name":{"type":"string"},"value":{"type":"string"}}}"#;

/// A server and its administrator key. The catalog is an SQLite file, or a PostgreSQL database with
/// `DROPFORGE_TEST_HTTP=postgres`.
pub struct Running {
    pub address: SocketAddr,
    /// The address of the probe listener.
    pub probes: Option<SocketAddr>,
    pub admin: String,
    pub catalog: Catalog,
    /// The value of `--db`.
    pub url: String,
    runtime: Option<Runtime>,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
    /// URL of the PostgreSQL server and name of the database.
    database: Option<(&'static str, String)>,
    _directory: Option<TempDir>,
}

/// Creates a PostgreSQL database if requested.
fn postgres(runtime: &Runtime) -> Option<(&'static str, String)> {
    if std::env::var("DROPFORGE_TEST_HTTP").ok()? != "postgres" {
        return None;
    }
    let server = databases::postgres().expect("PostgreSQL");
    let name = format!("df_{}", new_id().simple());
    runtime.block_on(databases::command(server, format!("CREATE DATABASE {name}")));
    Some((server, name))
}

/// A generator, its key and its stack.
pub struct Team {
    pub id: String,
    pub pak: String,
    pub stack: String,
}

/// Limits low enough for tests to reach.
pub fn quick() -> Settings {
    Settings {
        head_timeout: Duration::from_millis(300),
        body_timeout: Duration::from_millis(300),
        keep_alive: Duration::from_millis(300),
        ..Settings::default()
    }
}

/// A slow machine may need more than the usual deadline.
fn two_threads() -> render::Options {
    render::Options { threads: 2, deadline: Duration::from_secs(60), ..render::Options::default() }
}

impl Running {
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    pub fn with(settings: Settings) -> Self {
        Self::rendering(settings, &two_threads())
    }

    /// Starts a server whose generators have these quotas.
    pub fn limited(quotas: Quotas) -> Self {
        Self::start(Settings::default(), &two_threads(), quotas)
    }

    /// Starts a server whose renders have these limits.
    pub fn rendering(settings: Settings, options: &render::Options) -> Self {
        Self::start(settings, options, Quotas::default())
    }

    fn start(settings: Settings, options: &render::Options, quotas: Quotas) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let database = postgres(&runtime);
        let file = directory.path().join("catalog.db").display().to_string();
        let url =
            database.as_ref().map_or(file, |(server, name)| format!("{}/{name}", server.rsplit_once('/').unwrap().0));
        let mut running = Self::at(settings, &url, options, quotas, runtime);
        (running.database, running._directory) = (database, Some(directory));
        running
    }

    /// A server on a database.
    pub fn on(settings: Settings, url: &str) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self::at(settings, url, &two_threads(), Quotas::default(), runtime)
    }

    fn at(settings: Settings, url: &str, options: &render::Options, quotas: Quotas, runtime: Runtime) -> Self {
        let catalog = runtime.block_on(Catalog::open(url, options)).unwrap();
        let admin = runtime.block_on(catalog.initialise(None)).unwrap().unwrap();
        let server = runtime.block_on(Server::bind(settings, catalog.with_quotas(quotas))).unwrap();
        let (address, probes) = (server.address(), server.probe_address());
        let (stop, stopped) = oneshot::channel();
        let handle = runtime.handle().clone();
        let serving = std::thread::spawn(move || {
            let _ = handle.block_on(server.serve(async { drop(stopped.await) }));
        });
        let (runtime, stop, serving) = (Some(runtime), Some(stop), Some(serving));
        let url = url.to_owned();
        Self { address, probes, admin, catalog, url, runtime, stop, serving, database: None, _directory: None }
    }

    /// Runs a future on the server's threads.
    pub fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.as_ref().expect("a runtime").block_on(future)
    }

    /// Starts the shutdown.
    pub fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Waits for the shutdown.
    pub fn join(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.join().unwrap();
        }
    }

    /// A request on a new connection, without a key.
    pub fn request(&self, method: &str, path: &str) -> Request<'_> {
        self.further(method, path).header("Connection", "close")
    }

    /// A request on a persistent connection, without a key.
    pub fn further(&self, method: &str, path: &str) -> Request<'_> {
        Request { running: self, head: format!("{method} {path} HTTP/1.1\r\nHost: test\r\n"), body: None }
    }

    pub fn call(&self, pak: &str, method: &str, path: &str) -> Reply {
        self.request(method, path).key(pak).send()
    }

    pub fn send(&self, pak: &str, method: &str, path: &str, body: &Json) -> Reply {
        self.request(method, path).key(pak).json(body).send()
    }

    /// Sends a request as administrator, checks that it succeeds, and returns the body.
    #[track_caller]
    pub fn made(&self, path: &str, body: &Json) -> Json {
        self.send(&self.admin, "POST", path, body).has(201).json()
    }

    pub fn team(&self, name: &str) -> Team {
        let made = self.made("/api/v1/generators", &json!({ "name": name }));
        let (id, pak) = (text(&made["generator"]["id"]), text(&made["pak"]));
        let stack = self.made("/api/v1/stacks", &json!({ "name": format!("stack of {name}"), "generator_id": id }));
        Team { id, pak, stack: text(&stack["id"]) }
    }

    /// Creates a template and returns its ID.
    #[track_caller]
    pub fn template(&self, pak: &str, name: &str) -> String {
        self.template_of(pak, name, TEMPLATE, SCHEMA)
    }

    #[track_caller]
    pub fn template_of(&self, pak: &str, name: &str, content: &str, schema: &str) -> String {
        let body = json!({ "name": name, "template_content": content, "parameters_schema": schema });
        text(&self.send(pak, "POST", "/api/v1/templates", &body).has(201).json()["id"])
    }

    pub fn instantiate(&self, pak: &str, stack: &str, template: &str, parameters: Json) -> Reply {
        let path = format!("/api/v1/stacks/{stack}/deployment-objects/from-template");
        self.send(pak, "POST", &path, &json!({ "template_id": template, "parameters": parameters }))
    }

    /// The lines of the metrics.
    pub fn metrics(&self) -> String {
        self.request("GET", "/metrics").key(&self.admin).send().has(200).text().to_owned()
    }

    pub fn description(&self) -> &'static Json {
        static DESCRIPTION: OnceLock<Json> = OnceLock::new();
        DESCRIPTION.get_or_init(|| {
            let bytes = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
            exchange(self.address, bytes).json()
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        if !std::thread::panicking() {
            self.join();
        }
        if let Some(runtime) = self.runtime.take() {
            if let Some((server, name)) = self.database.take().filter(|_| !std::thread::panicking()) {
                runtime.block_on(databases::command(server, format!("DROP DATABASE {name} WITH (FORCE)")));
            }
            runtime.shutdown_background();
        }
    }
}

/// A request under construction.
pub struct Request<'a> {
    running: &'a Running,
    head: String,
    body: Option<Vec<u8>>,
}

impl Request<'_> {
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub fn key(self, pak: &str) -> Self {
        if pak.is_empty() { self } else { self.header("Authorization", pak) }
    }

    pub fn json(self, body: &Json) -> Self {
        self.body("application/json", body.to_string())
    }

    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self.header("Content-Type", content_type)
    }

    /// Returns the bytes of the request.
    pub fn bytes(mut self) -> Vec<u8> {
        if let Some(body) = &self.body {
            self.head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        let mut bytes = format!("{}\r\n", self.head).into_bytes();
        bytes.extend_from_slice(&self.body.unwrap_or_default());
        bytes
    }

    pub fn send(self) -> Reply {
        let (running, line) = (self.running, self.head.lines().next().unwrap().to_owned());
        let reply = exchange(running.address, &self.bytes());
        check(running, &line, &reply);
        reply
    }
}

/// Checks a response against the general rules and the description.
fn check(running: &Running, line: &str, reply: &Reply) {
    let mut parts = line.split(' ');
    let (method, path) = (parts.next().unwrap(), parts.next().unwrap().split('?').next().unwrap());
    assert!(reply.header("x-request-id").is_some(), "{line}: {reply:?}");
    assert_ne!(reply.status, 500, "{line}: {}", reply.text());
    if reply.status == 401 {
        assert!(reply.body.is_empty(), "{line}: {}", reply.text());
    } else if reply.status >= 400 {
        let body = reply.json();
        assert!(body["code"].is_string() && body["message"].is_string(), "{line}: {body}");
    }
    if let Some(operation) = operation(running.description(), method, path) {
        let answers = operation["responses"].as_object().unwrap();
        assert!(answers.contains_key(&reply.status.to_string()), "{line} answers {}: {reply:?}", reply.status);
    }
}

/// The description of a request.
pub fn operation<'a>(description: &'a Json, method: &str, path: &str) -> Option<&'a Json> {
    let paths = description["paths"].as_object().unwrap();
    let fits = |known: &str| {
        let (known, path): (Vec<_>, Vec<_>) = (known.split('/').collect(), path.split('/').collect());
        known.len() == path.len()
            && known.iter().zip(&path).all(|(known, given)| known == given || known.starts_with('{'))
    };
    let known = paths.get(path).or_else(|| paths.iter().find(|(known, _)| fits(known)).map(|(_, item)| item))?;
    known.get(method.to_ascii_lowercase())
}

pub fn text(value: &Json) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// An ID that no row has.
pub const NOBODY: &str = "00000000-0000-4000-8000-000000000000";
