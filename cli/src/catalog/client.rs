//! The client of a catalog: HTTP requests to a service, or the same requests in this process over a local store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::Value as Json;

use dropforge::credentials;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::mask::Mask;
use dropforge::text::Source;
use dropforge_catalog::server::{InProcess, Settings, WARNING_COUNT, WARNINGS};
use dropforge_catalog::store::{address, without_password};
use dropforge_catalog::{CatalogError, ErrorKind};
use dropforge_http::ureq::Agent;
use dropforge_http::ureq::http::{HeaderName, Request, Response, Uri};
use dropforge_http::{ClientOptions, Trust, cause_of, client, read_all};

use crate::duration::duration;
use crate::exit::Failed;
use crate::input::InputFiles;

/// The result of a request or a command.
pub(crate) type ClientResult<T> = Result<T, Failed>;

/// The catalog to use.
#[derive(Debug, Args)]
pub(crate) struct ConnectionArgs {
    /// Use this SQLite file or `postgres://` database
    #[arg(
        long,
        global = true,
        value_name = "DB",
        default_value = "dropforge.db",
        env = "DROPFORGE_DB",
        hide_env_values = true
    )]
    db: String,
    /// Use the service at this URL instead: `http://127.0.0.1:3000`
    #[arg(long, global = true, value_name = "URL", env = "DROPFORGE_SERVER", hide_env_values = true)]
    server: Option<String>,
    /// Read the key for the service from this file [default: $DROPFORGE_KEY is the key]
    #[arg(long, global = true, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Trust the certificates in this PEM file, instead of the public authorities
    #[arg(long, global = true, value_name = "FILE", env = "DROPFORGE_CA_FILE")]
    ca_file: Option<PathBuf>,
    /// Give up on a service that sends nothing for this long
    #[arg(long, global = true, value_name = "TIME", default_value = "5m", value_parser = duration)]
    timeout: Duration,
}

/// Maximum time for a connection to a service.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum length of an answer of a service.
const MAX_ANSWER: u64 = 256 << 20;

/// A client of the REST interface.
#[derive(Debug)]
pub(crate) enum Client {
    /// A local store. The user is an administrator, as anyone who can write the store.
    Local(Box<InProcess>),
    /// A service.
    Remote(Service),
}

/// A service, and how to talk to it.
pub(crate) struct Service {
    agent: Agent,
    /// The URL up to `/api/v1`. It may have a password.
    base: String,
    /// The `Authorization` header.
    key: String,
}

impl std::fmt::Debug for Service {
    /// Leaves out the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("base", &address(&self.base)).finish_non_exhaustive()
    }
}

impl ConnectionArgs {
    /// Returns the path of the SQLite file, for the command `what`, which works on files.
    pub(crate) fn file(&self, what: &str) -> ClientResult<&str> {
        if self.server.is_some() {
            let error =
                Diagnostic::new(Code::Usage, format!("`{what}` works on the file of a catalog, not on a service"));
            return Err(error.with_help("run it where the file is, with `--db FILE` and without `--server`").into());
        }
        let file = dropforge_catalog::store::file(&self.db);
        let file = file.map_err(|error| Diagnostic::new(Code::Usage, error.to_string()))?;
        file.ok_or_else(|| {
            let error = Diagnostic::new(Code::Usage, format!("`{what}` works on SQLite files, not on PostgreSQL"));
            error.with_help("use `pg_dump --format=custom` and `pg_restore`: see docs/operating.md").into()
        })
    }
}

impl Client {
    /// Opens the catalog.
    pub(crate) fn open(args: &ConnectionArgs, files: &mut InputFiles) -> ClientResult<Self> {
        let Some(server) = &args.server else {
            let local = InProcess::open(&args.db, Settings::default());
            return Ok(Client::Local(Box::new(local.map_err(|error| error.diagnostics(None))?)));
        };
        check_url(server)?;
        let agent = agent(args, files)?;
        let base = format!("{}/api/v1", server.trim_end_matches('/'));
        Ok(Client::Remote(Service { agent, base, key: key(args, files)? }))
    }

    /// Gets a resource, which is an object.
    pub(crate) fn row(&self, path: &str) -> ClientResult<Json> {
        let row = self.send("GET", path, None)?;
        if row.is_object() { Ok(row) } else { Err(self.nonsense(path, "no object")) }
    }

    /// Gets a list.
    pub(crate) fn rows(&self, path: &str) -> ClientResult<Json> {
        let rows = self.send("GET", path, None)?;
        match rows.as_array().is_some_and(|rows| rows.iter().all(Json::is_object)) {
            true => Ok(rows),
            false => Err(self.nonsense(path, "no list of objects")),
        }
    }

    /// Posts a request.
    pub(crate) fn post(&self, path: &str, body: &Json) -> ClientResult<Json> {
        self.send("POST", path, Some(body))
    }

    /// Deletes a resource.
    pub(crate) fn delete(&self, path: &str) -> ClientResult<()> {
        self.send("DELETE", path, None).map(|_| ())
    }

    /// Creates a resource from a template. Errors and warnings have their positions in the template, if it is a text.
    pub(crate) fn create(
        &self,
        method: &str,
        path: &str,
        body: &Json,
        template: Option<&Arc<Source>>,
    ) -> ClientResult<Created> {
        let reply = self.request(method, path, Some(body))?;
        let header = |name: HeaderName| reply.headers().get(name).and_then(|value| value.to_str().ok());
        let warnings = header(WARNINGS).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let count = header(WARNING_COUNT).and_then(|text| text.parse().ok()).unwrap_or_default();
        let resource = self.read(path, &reply, template)?;
        if resource.is_object() {
            Ok(Created { resource, warnings, count })
        } else {
            Err(self.nonsense(path, "no object"))
        }
    }

    fn send(&self, method: &str, path: &str, body: Option<&Json>) -> ClientResult<Json> {
        self.read(path, &self.request(method, path, body)?, None)
    }

    /// Returns an error of a request without the credentials, which a service may repeat.
    fn without_key(&self, mut failed: Failed) -> Failed {
        if let Client::Remote(service) = self {
            let mask = Mask::new([service.key.as_str()]);
            failed.diagnostics.iter_mut().for_each(|error| credentials::hide(&mask, error));
        }
        failed
    }

    fn request(&self, method: &str, path: &str, body: Option<&Json>) -> ClientResult<Response<Vec<u8>>> {
        match self {
            Client::Local(local) => Ok(local.request(method, &format!("/api/v1{path}"), body)),
            Client::Remote(service) => service.request(method, path, body).map_err(|error| self.without_key(error)),
        }
    }

    /// Returns the body of a successful response.
    fn read(&self, path: &str, reply: &Response<Vec<u8>>, template: Option<&Arc<Source>>) -> ClientResult<Json> {
        if !reply.status().is_success() {
            return Err(self.without_key(self.refused(reply, template)));
        }
        match reply.body().as_slice() {
            [] => Ok(Json::Null),
            text => serde_json::from_slice(text).map_err(|_| self.nonsense(path, "no JSON")),
        }
    }

    fn refused(&self, reply: &Response<Vec<u8>>, template: Option<&Arc<Source>>) -> Failed {
        let status = reply.status().as_u16();
        let text = String::from_utf8_lossy(reply.body());
        match serde_json::from_str::<CatalogError>(&text) {
            Ok(error) => {
                let error = CatalogError { kind: ErrorKind::from_status(status), ..error };
                Failed::from(error.diagnostics(template))
            }
            Err(_) if status == 401 => {
                let error = Diagnostic::new(Code::CatalogRefused, "the service rejected the key");
                error.with_help("use a valid key with `--key-file` or DROPFORGE_KEY").into()
            }
            Err(_) => self.nonsense("", &format!("status {status}")),
        }
    }

    /// Returns the error of an answer that no catalog gives.
    fn nonsense(&self, path: &str, what: &str) -> Failed {
        let place = match self {
            Client::Remote(service) => address(&format!("{}{}", service.base, path.split('?').next().unwrap_or(""))),
            Client::Local(_) => path.to_owned(),
        };
        let message = format!("`{place}` answers with {what}, as no catalog does");
        let error = Diagnostic::new(Code::CatalogUnreachable, message);
        error.with_help("check the address: is there a service of `dropforge serve`?").into()
    }
}

impl Service {
    fn request(&self, method: &str, path: &str, body: Option<&Json>) -> ClientResult<Response<Vec<u8>>> {
        let url = format!("{}{path}", self.base);
        let unreachable = |why: &str, help: &'static str| {
            let why = without_password(&self.base, why);
            let message = format!("cannot reach `{}`: {why}", address(&url));
            Failed::from(Diagnostic::new(Code::CatalogUnreachable, message).with_help(help))
        };
        let request = Request::builder().method(method).uri(&url).header("Authorization", &self.key);
        let request = request.header("Content-Type", "application/json");
        let bytes = body.map(ToString::to_string).unwrap_or_default();
        let request = request.body(bytes).map_err(|error| unreachable(&error.to_string(), "check the URL"))?;
        let failed = |error| {
            let cause = cause_of(&error);
            unreachable(&cause.why, cause.help)
        };
        let (head, mut body) = self.agent.run(request).map_err(failed)?.into_parts();
        let text = read_all(&mut body, MAX_ANSWER).map_err(failed)?;
        Ok(Response::from_parts(head, text))
    }
}

/// Checks that an address is the URL of a service: `http://` or `https://`, and a host.
fn check_url(server: &str) -> ClientResult<()> {
    let url: Option<Uri> = server.parse().ok();
    let is_http = |url: &Uri| matches!(url.scheme_str(), Some("http" | "https"));
    match url.filter(is_http).and_then(|url| url.host().map(str::is_empty)) {
        Some(false) => Ok(()),
        _ => {
            let error = Diagnostic::new(Code::Usage, format!("`{}` is no URL of a service", address(server)));
            Err(error.with_help("write `--server http://HOST:PORT` or `--server https://HOST`").into())
        }
    }
}

/// Returns a client of HTTP that trusts the certificates of `--ca-file`.
fn agent(args: &ConnectionArgs, files: &mut InputFiles) -> ClientResult<Agent> {
    let authorities = match &args.ca_file {
        Some(path) => Some(files.read(path, "--ca-file -")?.text().as_bytes().to_vec()),
        None => None,
    };
    let (connect, idle) = (CONNECT.min(args.timeout), args.timeout);
    let trust = Trust { authorities, ..Trust::default() };
    let options = ClientOptions { connect, idle, connections: 2, plain: true, redirects: 5, trust };
    client(&options).map_err(|_| {
        let path = args.ca_file.clone().unwrap_or_default();
        let message = format!("`{}` has no certificate in PEM form", path.display());
        Diagnostic::new(Code::Usage, message)
            .with_help("a certificate is between `-----BEGIN CERTIFICATE-----` and `-----END …`")
            .into()
    })
}

/// A resource that was created from a template.
#[derive(Debug)]
pub(crate) struct Created {
    pub(crate) resource: Json,
    /// Warnings about the template.
    pub(crate) warnings: Vec<Json>,
    /// The number of all warnings. The response may contain only the first ones.
    pub(crate) count: usize,
}

fn key(args: &ConnectionArgs, files: &mut InputFiles) -> ClientResult<String> {
    let key = given_key(args, files)?;
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let error = Diagnostic::new(Code::Usage, "the key for the service is empty, or has characters that no key has");
        return Err(error.with_help("write the key alone, on one line").into());
    }
    Ok(key)
}

fn given_key(args: &ConnectionArgs, files: &mut InputFiles) -> ClientResult<String> {
    if let Some(path) = &args.key_file {
        return Ok(files.read(path, "--key-file -")?.text().trim().to_owned());
    }
    let text = std::env::var("DROPFORGE_KEY").map_err(|_| {
        let error = Diagnostic::new(Code::Usage, "the key for the service is missing");
        error.with_help("use `--key-file FILE` or the variable DROPFORGE_KEY")
    })?;
    Ok(text.trim().to_owned())
}

/// Adds a query to a path.
pub(crate) fn path(base: &str, query: &[(&str, &str)]) -> String {
    let written = query.iter().map(|(key, value)| format!("{key}={}", segment(value)));
    format!("{base}?{}", written.collect::<Vec<_>>().join("&"))
}

/// Encodes a text as a path segment or a query value.
pub(crate) fn segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
