//! The client of a catalog: HTTP requests to a service, or the same requests in this process over a local store.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::Value as Json;
use ureq::http::{HeaderName, Request, Response};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use dropforge::credentials;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::mask::Mask;
use dropforge::text::Source;
use dropforge_catalog::server::{InProcess, Settings, WARNING_COUNT, WARNINGS};
use dropforge_catalog::{CatalogError, ErrorKind};

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
    #[arg(long, global = true, value_name = "URL", env = "DROPFORGE_SERVER")]
    server: Option<String>,
    /// Read the key for the service from this file [default: $DROPFORGE_KEY is the key]
    #[arg(long, global = true, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Trust the certificates in this PEM file, instead of the public authorities
    #[arg(long, global = true, value_name = "FILE", env = "DROPFORGE_CA_FILE")]
    ca_file: Option<PathBuf>,
}

/// A client of the REST interface.
#[derive(Debug)]
pub(crate) enum Client {
    /// A local store. The user is an administrator, as anyone who can write the store.
    Local(Box<InProcess>),
    /// A service.
    Remote {
        agent: ureq::Agent,
        /// The URL up to `/api/v1`.
        base: String,
        /// The `Authorization` header.
        key: String,
    },
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
        let config = ureq::Agent::config_builder().http_status_as_error(false).tls_config(tls(args, files)?).build();
        let base = format!("{}/api/v1", server.trim_end_matches('/'));
        Ok(Client::Remote { agent: config.into(), base, key: key(args, files)? })
    }

    /// Gets a resource.
    pub(crate) fn get(&self, path: &str) -> ClientResult<Json> {
        self.send("GET", path, None)
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
        let reply = self.request(method, path, Some(body)).map_err(|error| self.without_key(error))?;
        let header = |name: HeaderName| reply.headers().get(name).and_then(|value| value.to_str().ok());
        let warnings = header(WARNINGS).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let count = header(WARNING_COUNT).and_then(|text| text.parse().ok()).unwrap_or_default();
        let resource = read(&reply, template).map_err(|error| self.without_key(error))?;
        Ok(Created { resource, warnings, count })
    }

    fn send(&self, method: &str, path: &str, body: Option<&Json>) -> ClientResult<Json> {
        let reply = self.request(method, path, body).and_then(|reply| read(&reply, None));
        reply.map_err(|error| self.without_key(error))
    }

    /// Returns an error of a request without the credentials, which a service may repeat.
    fn without_key(&self, mut failed: Failed) -> Failed {
        if let Client::Remote { key, .. } = self {
            let mask = Mask::new([key.as_str()]);
            failed.diagnostics.iter_mut().for_each(|error| credentials::hide(&mask, error));
        }
        failed
    }

    fn request(&self, method: &str, path: &str, body: Option<&Json>) -> ClientResult<Response<Vec<u8>>> {
        match self {
            Client::Local(local) => Ok(local.request(method, &format!("/api/v1{path}"), body)),
            Client::Remote { agent, base, key } => remote(agent, method, &format!("{base}{path}"), key, body),
        }
    }
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

/// Returns the body of a successful response.
fn read(reply: &Response<Vec<u8>>, template: Option<&Arc<Source>>) -> ClientResult<Json> {
    let (status, text) = (reply.status().as_u16(), reply.body());
    if reply.status().is_success() {
        return Ok(serde_json::from_slice(text).unwrap_or(Json::Null));
    }
    match serde_json::from_slice::<CatalogError>(text) {
        Ok(error) => {
            let error = CatalogError { kind: ErrorKind::from_status(status), ..error };
            Err(Failed::from(error.diagnostics(template)))
        }
        Err(_) if status == 401 => {
            let error = Diagnostic::new(Code::CatalogRefused, "the service rejected the key");
            Err(error.with_help("use a valid key with `--key-file` or DROPFORGE_KEY").into())
        }
        Err(_) => {
            Err(Diagnostic::new(Code::CatalogUnreachable, format!("the service returned status {status}")).into())
        }
    }
}

/// The certificates that the client trusts.
fn tls(args: &ConnectionArgs, files: &mut InputFiles) -> ClientResult<TlsConfig> {
    let Some(path) = &args.ca_file else { return Ok(TlsConfig::default()) };
    let text = files.read(path, "--ca-file -")?;
    let certificate = |item: Result<PemItem<'static>, _>| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let trusted: Vec<_> = parse_pem(text.text().as_bytes()).filter_map(certificate).collect();
    if trusted.is_empty() {
        let message = format!("`{}` has no certificate in PEM form", path.display());
        return Err(Diagnostic::new(Code::Usage, message).into());
    }
    Ok(TlsConfig::builder().root_certs(RootCerts::new_with_certs(&trusted)).build())
}

fn key(args: &ConnectionArgs, files: &mut InputFiles) -> ClientResult<String> {
    if let Some(path) = &args.key_file {
        return Ok(files.read(path, "--key-file -")?.text().trim().to_owned());
    }
    let text = std::env::var("DROPFORGE_KEY").map_err(|_| {
        let error = Diagnostic::new(Code::Usage, "the key for the service is missing");
        error.with_help("use `--key-file FILE` or the variable DROPFORGE_KEY")
    })?;
    Ok(text.trim().to_owned())
}

fn remote(
    agent: &ureq::Agent,
    method: &str,
    url: &str,
    key: &str,
    body: Option<&Json>,
) -> ClientResult<Response<Vec<u8>>> {
    let unreachable = |error: &dyn std::fmt::Display| {
        Failed::from(Diagnostic::new(Code::CatalogUnreachable, format!("cannot reach `{url}`: {error}")))
    };
    let request = Request::builder().method(method).uri(url).header("Authorization", key);
    let request = request.header("Content-Type", "application/json");
    let bytes = body.map(ToString::to_string).unwrap_or_default();
    let request = request.body(bytes).map_err(|error| unreachable(&error))?;
    let (head, mut body) = agent.run(request).map_err(|error| unreachable(&error))?.into_parts();
    let text = body.with_config().limit(1 << 30).read_to_vec().map_err(|error| unreachable(&error))?;
    Ok(Response::from_parts(head, text))
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
