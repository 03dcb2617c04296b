//! HTTP for object stores: requests run on threads that block, in the client that the program already has. Clients of
//! stores are configured from the environment.

use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{ClientOptions, RetryConfig};
use tokio::sync::mpsc;

use super::clock::Skew;
use super::failure::{Failure, NoCredentials, Patience, Permanent, Transient};
use super::location::{Bucket, Kind};
use super::settings::settings_of;
use super::task::Client;
use dropforge_base::credentials;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::mask::Mask;
use dropforge_http::ureq::{self, Agent};
use dropforge_http::{
    Bounded, Cause, ClientOptions as HttpOptions, NoCertificate, Retry, Trust, cause_of, client, read_all,
};

/// Time without progress after which a request is given up.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Requests at a time, by default.
const CONNECTIONS: usize = 64;
/// Bodies up to this length are read at once. Longer ones are handed on piece by piece.
const SMALL: u64 = 64 << 10;
/// The length of a piece.
const PIECE: usize = 64 << 10;
/// Pieces that wait for their reader.
const PIECES: usize = 4;
/// Maximum time for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Maximum length of an error's text that is kept.
const MAX_ERROR: u64 = 16 << 10;
/// Maximum length of an answer that is no object: a page of a listing has at most 5,000 entries.
const MAX_ANSWER: u64 = 32 << 20;

/// Maximum length of the object that a request reads. Requests without it have other answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MaxObject(pub(super) u64);

/// The services from which machines in a cloud get credentials. Elsewhere they do not answer.
const METADATA: [&str; 5] =
    ["169.254.169.254", "169.254.170.2", "169.254.170.23", "[fd00:ec2::254]", "metadata.google.internal"];

/// Options of a [`Store`](super::Store).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOptions {
    /// The attempts of operations.
    pub patience: Patience,
    /// The time without progress after which an attempt has failed.
    pub timeout: Duration,
    /// Maximum number of requests at a time.
    pub connections: usize,
    /// Settings that override environment variables of the same names, such as `AWS_ENDPOINT_URL`.
    pub settings: Vec<(String, String)>,
}

impl Default for StoreOptions {
    /// 64 requests at a time, of 30 seconds each.
    fn default() -> Self {
        let (patience, timeout, connections) = (Patience::default(), TIMEOUT, CONNECTIONS);
        Self { patience, timeout, connections, settings: Vec::new() }
    }
}

/// Makes HTTP clients with one set of timeouts.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    /// Maximum time for sending a request, for waiting for the response, and between two pieces of its body.
    pub(super) timeout: Duration,
    /// Maximum number of connections that are kept.
    pub(super) connections: usize,
    /// The difference between the clocks of the store and of this machine.
    pub(super) skew: Arc<Skew>,
}

impl Connector {
    /// Returns a client. `plain` allows HTTP without TLS.
    pub(super) fn agent(&self, plain: bool, connect: Duration) -> Agent {
        // Without certificates there is no error.
        self.agent_with(Trust::default(), plain, connect).unwrap_or_else(|_| Agent::new_with_defaults())
    }

    /// Returns a client with these certificates.
    pub(super) fn agent_with(&self, trust: Trust, plain: bool, connect: Duration) -> Result<Agent, NoCertificate> {
        client(&HttpOptions { connect, idle: self.timeout, connections: self.connections, plain, redirects: 0, trust })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let plain = options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|value| value == "true");
        let agent = self.agent(plain, CONNECT.min(self.timeout));
        Ok(HttpClient::new(Service { agent, skew: self.skew.clone() }))
    }
}

/// Runs requests of object stores.
#[derive(Debug)]
struct Service {
    agent: Agent,
    skew: Arc<Skew>,
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let (agent, skew) = (self.agent.clone(), self.skew.clone());
        let is_metadata = head.uri.host().is_some_and(|host| METADATA.contains(&host));
        let max = head.extensions.get::<MaxObject>().map_or(MAX_ANSWER, |max| max.0);
        let secrets = secrets(&head.headers);
        let task = tokio::task::spawn_blocking(move || {
            let response = send(&agent, Request::from_parts(head, body));
            let response = response.map_err(|error| if is_metadata { no_credentials() } else { error })?;
            if let Some(date) = response.headers().get(header::DATE).and_then(|date| date.to_str().ok()) {
                skew.note(date);
            }
            answer(response, max, &secrets)
        });
        let (response, rest) = task.await.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))??;
        if let Some((reader, sender)) = rest {
            tokio::task::spawn_blocking(move || pass_on(reader, &sender));
        }
        Ok(response)
    }
}

/// The headers of requests that hold secrets, which a server may repeat.
const SECRETS: [&str; 2] = ["authorization", "x-amz-security-token"];

/// Returns the secrets in the headers of a request: values, and those after a scheme such as `Basic`.
fn secrets(headers: &HeaderMap) -> Vec<String> {
    let values = SECRETS.iter().filter_map(|name| headers.get(*name)?.to_str().ok());
    values.map(|value| value.split_once(' ').map_or(value, |(_, secret)| secret).to_owned()).collect()
}

/// Sends a request and waits for the head of the response.
///
/// # Errors
/// A [`Transient`] if the request or the response was cut short.
pub(super) fn send(agent: &Agent, request: Request<Bytes>) -> Result<Response<ureq::Body>, HttpError> {
    let (head, body) = request.into_parts();
    let takes_body = matches!(head.method.as_str(), "PUT" | "POST" | "PATCH");
    let authority = head.uri.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_owned();
    let result = match takes_body || !body.is_empty() {
        true => agent.run(Request::from_parts(head, body.as_ref())),
        false => agent.run(Request::from_parts(head, ())),
    };
    result.map_err(|error| broken_at(&error, &host))
}

type Pieces = Bounded<ureq::BodyReader<'static>>;
type Rest = (Pieces, mpsc::Sender<Result<Bytes, HttpError>>);

/// Returns the response of an object store, and the part of its body that is still to be read: at most `max` bytes.
fn answer(
    response: Response<ureq::Body>,
    max: u64,
    secrets: &[String],
) -> Result<(HttpResponse, Option<Rest>), HttpError> {
    let (head, mut body) = response.into_parts();
    if is_transient(head.status) {
        return Err(overloaded(head.status, &head.headers, body));
    }
    if !head.status.is_success() {
        let mut text = error_text(body);
        // The server may repeat what it was sent. The mask of a signature takes long to make.
        if !text.is_empty() {
            text = credentials::hidden(&Mask::new(secrets.iter().map(String::as_str)), &text);
        }
        return Ok((Response::from_parts(head, HttpResponseBody::from(text.into_bytes())), None));
    }
    if body.content_length().is_none_or(|length| length > SMALL) {
        let (sender, receiver) = mpsc::channel(PIECES);
        let response = Response::from_parts(head, HttpResponseBody::new(Received(receiver)));
        return Ok((response, Some((Bounded::new(body.into_reader(), max), sender))));
    }
    let bytes = read_all(&mut body, SMALL).map_err(|error| broken(&error))?;
    Ok((Response::from_parts(head, HttpResponseBody::from(bytes)), None))
}

/// Reads the first part of an error's text, so that the connection can be used again.
pub(super) fn error_text(mut body: ureq::Body) -> String {
    let mut text = Vec::new();
    // An error without a text, or with half of one, stays that error.
    let _ = body.as_reader().take(MAX_ERROR).read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns `true` for responses that another attempt may mend.
pub(super) fn is_transient(status: StatusCode) -> bool {
    status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
}

/// Returns the error of a response that another attempt may mend.
pub(super) fn overloaded(status: StatusCode, headers: &HeaderMap, body: ureq::Body) -> HttpError {
    error_text(body);
    let after = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let after = after.map(Duration::from_secs);
    let why = format!("the server answers {status}");
    let transient = Transient { status: Some(status.as_u16()), why, after, is_brief: false };
    HttpError::new(HttpErrorKind::Unknown, transient)
}

/// Returns the error of a response that cannot be read.
pub(super) fn broken(error: &ureq::Error) -> HttpError {
    failed(cause_of(error))
}

/// Returns the error of a request to `host` without a response.
fn broken_at(error: &ureq::Error, host: &str) -> HttpError {
    let cause = cause_of(error);
    failed(Cause { why: format!("{} (`{host}`)", cause.why), ..cause })
}

fn failed(cause: Cause) -> HttpError {
    let is_brief = match cause.retry {
        Retry::Never => return HttpError::new(HttpErrorKind::Unknown, Permanent(cause)),
        Retry::Briefly => true,
        Retry::Patiently => false,
    };
    HttpError::new(HttpErrorKind::Unknown, Transient { status: None, why: cause.why, after: None, is_brief })
}

/// Returns the failure of a request that is not one of an object store.
pub(super) fn failure_of(error: HttpError) -> Failure {
    object_store::Error::Generic { store: "HTTP", source: Box::new(error) }.into()
}

fn no_credentials() -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, NoCredentials)
}

/// Reads a body and passes it on, until it ends or nobody reads it.
fn pass_on(mut reader: Pieces, sender: &mpsc::Sender<Result<Bytes, HttpError>>) {
    let mut piece = vec![0; PIECE];
    loop {
        let read = match reader.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => Ok(Bytes::copy_from_slice(piece.get(..read).unwrap_or_default())),
            Err(error) => Err(broken(&ureq::Error::from(error))),
        };
        let failed = read.is_err();
        if sender.blocking_send(read).is_err() || failed {
            return;
        }
    }
}

/// A body that arrives in pieces.
#[derive(Debug)]
struct Received(mpsc::Receiver<Result<Bytes, HttpError>>);

impl Body for Received {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        self.0.poll_recv(context).map(|piece| Some(piece?.map(Frame::data)))
    }
}

/// Sets the options that a builder knows by the names of environment variables.
macro_rules! set {
    ($builder:expr, $settings:expr) => {
        $settings.iter().fold($builder, |builder, (name, value)| match name.to_ascii_lowercase().parse() {
            Ok(key) => builder.with_config(key, value),
            Err(_) => builder,
        })
    };
}

/// Returns the client of a bucket. Requests are not repeated: see [`Patience`](super::Patience).
///
/// # Errors
/// `store.failed` for a configuration that cannot be used.
pub(super) fn open(
    bucket: &Bucket,
    options: &StoreOptions,
    skew: Arc<Skew>,
) -> Result<Arc<dyn Client>, Box<Diagnostic>> {
    let http = Connector { timeout: options.timeout, connections: options.connections, skew };
    let once = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let (name, settings) = (&bucket.name, settings_of(bucket.kind, &options.settings)?);
    let opened: object_store::Result<Arc<dyn Client>> = match bucket.kind {
        Kind::S3 => {
            let builder = set!(AmazonS3Builder::new(), settings).with_bucket_name(name).with_retry(once);
            builder.with_http_connector(http).build().map(|store| Arc::new(store) as _)
        }
        Kind::Google => {
            let builder = set!(GoogleCloudStorageBuilder::new(), settings).with_bucket_name(name).with_retry(once);
            builder.with_http_connector(http).build().map(|store| Arc::new(store) as _)
        }
        Kind::Azure => {
            let builder = set!(MicrosoftAzureBuilder::new(), settings).with_container_name(name).with_retry(once);
            builder.with_http_connector(http).build().map(|store| Arc::new(store) as _)
        }
    };
    opened.map_err(|error| {
        let help = match bucket.kind {
            Kind::S3 => "set AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL if needed",
            Kind::Google => "set GOOGLE_SERVICE_ACCOUNT or GOOGLE_APPLICATION_CREDENTIALS",
            Kind::Azure => "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        };
        Failure::from(error).diagnostic("open", &bucket.to_string()).with_help(help)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_overload_and_faults_of_servers_are_worth_another_attempt() {
        for status in [408, 429, 500, 502, 503, 504] {
            assert!(is_transient(StatusCode::from_u16(status).expect("a status")), "{status}");
        }
        for status in [200, 304, 400, 403, 404, 409, 412, 501] {
            assert!(!is_transient(StatusCode::from_u16(status).expect("a status")), "{status}");
        }
    }
}
