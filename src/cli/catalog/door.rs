//! The way to a catalog: the service behind a URL, or the same service in this process over a local store.

use std::sync::Arc;

use serde_json::Value as Json;
use ureq::http::{HeaderName, Request, Response};

use super::args::CatalogArgs;
use crate::catalog::{Class, Refusal};
use crate::cli::exit::Failed;
use crate::diagnostics::{Code, Diagnostic};
use crate::server::{InProcess, Settings, WARNING_COUNT, WARNINGS};
use crate::text::Source;

/// What a command gets, or why it ends.
pub(super) type Answered<T> = Result<T, Failed>;

/// Requests of the REST interface, wherever the catalog is.
#[derive(Debug)]
pub(super) enum Door {
    /// In this process, as an administrator: who may write the file may do everything.
    Here(Box<InProcess>),
    /// Behind a URL.
    There {
        /// Keeps connections.
        agent: ureq::Agent,
        /// Up to `/api/v1`.
        base: String,
        /// The `Authorization` header.
        key: String,
    },
}

impl Door {
    /// The door to the catalog that the arguments name.
    pub(super) fn open(args: &CatalogArgs) -> Answered<Self> {
        let Some(server) = &args.server else {
            let here = InProcess::open(&args.db, Settings::default())
                .map_err(|refusal| Failed::from(refusal.diagnostics(None)))?;
            return Ok(Door::Here(Box::new(here)));
        };
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let base = format!("{}/api/v1", server.trim_end_matches('/'));
        Ok(Door::There { agent: config.into(), base, key: key(args)? })
    }

    /// What stands at a path.
    pub(super) fn get(&self, path: &str) -> Answered<Json> {
        self.send("GET", path, None)
    }

    /// Makes something.
    pub(super) fn post(&self, path: &str, body: &Json) -> Answered<Json> {
        self.send("POST", path, Some(body))
    }

    /// Deletes something.
    pub(super) fn delete(&self, path: &str) -> Answered<()> {
        self.send("DELETE", path, None).map(|_| ())
    }

    /// Makes something of a template: what is wrong with the template is told at its place.
    pub(super) fn make(&self, method: &str, path: &str, body: &Json, template: &Arc<Source>) -> Answered<Made> {
        let reply = self.ask(method, path, Some(body))?;
        let header = |name: HeaderName| reply.headers().get(name).and_then(|value| value.to_str().ok());
        let warnings = header(WARNINGS).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let count = header(WARNING_COUNT).and_then(|text| text.parse().ok()).unwrap_or_default();
        Ok(Made { answer: read(&reply, Some(template))?, warnings, count })
    }

    fn send(&self, method: &str, path: &str, body: Option<&Json>) -> Answered<Json> {
        read(&self.ask(method, path, body)?, None)
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Json>) -> Answered<Response<Vec<u8>>> {
        match self {
            Door::Here(here) => Ok(here.request(method, &format!("/api/v1{path}"), body)),
            Door::There { agent, base, key } => there(agent, method, &format!("{base}{path}"), key, body),
        }
    }
}

/// What was made of a template.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) answer: Json,
    /// What is odd about it.
    pub(super) warnings: Vec<Json>,
    /// How much is, also where there was no room to say all of it.
    pub(super) count: usize,
}

/// The body of an answer, or why there is none.
fn read(reply: &Response<Vec<u8>>, template: Option<&Arc<Source>>) -> Answered<Json> {
    let (status, text) = (reply.status().as_u16(), reply.body());
    if reply.status().is_success() {
        return Ok(serde_json::from_slice(text).unwrap_or(Json::Null));
    }
    match serde_json::from_slice::<Refusal>(text) {
        Ok(refusal) => {
            let refusal = Refusal { class: Class::of_status(status), ..refusal };
            Err(Failed::from(refusal.diagnostics(template)))
        }
        Err(_) if status == 401 => {
            let error = Diagnostic::new(Code::CatalogRefused, "the service does not know the key");
            Err(error.with_help("give a valid one by `--key-file` or DROPFORGE_KEY").into())
        }
        Err(_) => Err(Diagnostic::new(Code::CatalogUnreachable, format!("the service answers {status}")).into()),
    }
}

fn key(args: &CatalogArgs) -> Answered<String> {
    let text = match &args.key_file {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|error| Diagnostic::new(Code::ReadFailed, format!("cannot read `{}`: {error}", path.display())))?,
        None => std::env::var("DROPFORGE_KEY").map_err(|_| {
            let error = Diagnostic::new(Code::Usage, "the service wants a key");
            error.with_help("give it by `--key-file FILE` or the variable DROPFORGE_KEY")
        })?,
    };
    Ok(text.trim().to_owned())
}

fn there(agent: &ureq::Agent, method: &str, url: &str, key: &str, body: Option<&Json>) -> Answered<Response<Vec<u8>>> {
    let unreachable = |error: &dyn std::fmt::Display| {
        Failed::from(Diagnostic::new(Code::CatalogUnreachable, format!("cannot ask `{url}`: {error}")))
    };
    let request = Request::builder().method(method).uri(url).header("Authorization", key);
    let request = request.header("Content-Type", "application/json");
    let bytes = body.map(ToString::to_string).unwrap_or_default();
    let request = request.body(bytes).map_err(|error| unreachable(&error))?;
    let (head, mut body) = agent.run(request).map_err(|error| unreachable(&error))?.into_parts();
    let text = body.with_config().limit(1 << 30).read_to_vec().map_err(|error| unreachable(&error))?;
    Ok(Response::from_parts(head, text))
}

/// A path with a query.
pub(super) fn path(base: &str, query: &[(&str, &str)]) -> String {
    let written = query.iter().map(|(key, value)| format!("{key}={}", segment(value)));
    format!("{base}?{}", written.collect::<Vec<_>>().join("&"))
}

/// A text as one segment of a path, or one value of a query.
pub(super) fn segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
