//! Requests to a registry, with its authentication: challenges (`WWW-Authenticate`), and credentials from Docker's
//! configuration.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, Uri, header};
use serde::Deserialize;

use super::login;
use super::login::{Config, Credentials, basic, find_credentials};
use crate::clock::Skew;
use crate::failure;
use crate::failure::{Failure, Patience};
use crate::http::{Connector, StoreOptions, broken, error_text, failure_of, is_transient, overloaded, send};
use crate::location::Reference;
use dropforge_base::credentials;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::mask::Mask;
use dropforge_http::read_all;
use dropforge_http::ureq::Agent;

/// Maximum length of a token's response.
const MAX_REPLY: u64 = 1 << 20;
/// Maximum number of redirects of one request.
const REDIRECTS: usize = 5;

/// A registry, for one repository.
#[derive(Debug)]
pub(super) struct Registry<'r> {
    reference: &'r Reference,
    agent: Agent,
    /// The client for other hosts, which do not get its certificates.
    others: Agent,
    base: String,
    credentials: Option<Credentials>,
    /// The value of `Authorization` that the registry has asked for.
    authorization: Option<String>,
    /// What errors must not repeat.
    mask: Mask,
    patience: Patience,
}

/// A response with its body, which is as long as the request allowed or shorter.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) location: Option<String>,
    /// The next page of a list.
    pub(super) next: Option<String>,
    pub(super) body: Vec<u8>,
}

/// A request that can be sent several times.
#[derive(Debug, Clone)]
pub(super) struct Call<'c> {
    pub(super) method: Method,
    /// A path below the API's root, or a URL.
    pub(super) target: &'c str,
    pub(super) accept: &'c str,
    pub(super) content_type: &'c str,
    pub(super) body: Bytes,
    /// Maximum length of the response's body.
    pub(super) max: u64,
}

impl<'r> Registry<'r> {
    /// Reaches the registry of `reference`: with TLS, unless it is on this machine and has no certificates.
    ///
    /// # Errors
    /// Errors of the files with certificates.
    pub(super) fn new(reference: &'r Reference, options: &StoreOptions) -> Result<Self> {
        Self::with(reference, options, find_credentials(reference.registry(), &[Config::Docker]))
    }

    /// Reaches the registry with these credentials.
    ///
    /// # Errors
    /// Errors of the files with certificates.
    pub(super) fn with(
        reference: &'r Reference,
        options: &StoreOptions,
        credentials: Option<Credentials>,
    ) -> Result<Self> {
        let (patience, timeout) = (options.patience, options.timeout);
        let connector = Connector { timeout, connections: 4, skew: Skew::default().into() };
        let trust = login::find(reference.registry())?;
        let (plain, connect) = (reference.is_loopback() && trust.is_none(), timeout.min(Duration::from_secs(5)));
        let host = if reference.registry() == "docker.io" { "registry-1.docker.io" } else { reference.registry() };
        let base = format!("{}://{host}", if plain { "http" } else { "https" });
        let others = connector.agent(plain, connect);
        let agent = trust.map_or_else(|| Ok(others.clone()), |trust| connector.agent_with(trust, plain, connect));
        let agent = agent.map_err(|why| {
            let message = format!("cannot use the certificates for the registry `{}`: {why}", reference.registry());
            Diagnostic::new(Code::StoreFailed, message).with_help("check the files in `certs.d` of Docker or Podman")
        })?;
        let mask = credentials.as_ref().map_or_else(Mask::none, Credentials::mask);
        Ok(Self { reference, agent, others, base, credentials, authorization: None, mask, patience })
    }

    /// Returns an error of a request without the credentials, which a registry may repeat.
    pub(super) fn without_credentials(&self, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let token =
            Mask::new(self.authorization.as_deref().and_then(|text| text.split_once(' ')).map(|(_, text)| text));
        [&self.mask, &token].into_iter().for_each(|mask| credentials::hide(mask, &mut error));
        error
    }

    /// Sends a request to the API of the repository, with as many attempts as it takes. `what` is a verb for errors.
    ///
    /// # Errors
    /// `store.unreachable`; `store.denied` if the registry wants other credentials. Other responses are returned.
    pub(super) fn call(&mut self, what: &str, call: &Call<'_>) -> Result<Reply> {
        let reply = self.send(what, call)?;
        let Some(challenge) = reply.1.filter(|_| reply.0.status == StatusCode::UNAUTHORIZED) else {
            return self.allowed(what, reply.0);
        };
        self.authorization = self.authorize(what, &challenge)?;
        let reply = self.send(what, call)?.0;
        self.allowed(what, reply)
    }

    fn allowed(&self, what: &str, reply: Reply) -> Result<Reply> {
        match reply.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(self.denied(what)),
            _ => Ok(reply),
        }
    }

    fn denied(&self, what: &str) -> Box<Diagnostic> {
        let who = if self.credentials.is_some() { "with the credentials" } else { "without credentials" };
        let message = format!("cannot {what} `oci://{}`: the registry denies access {who}", self.reference);
        let file = Config::Docker.path().map_or_else(String::new, |path| format!(" in `{}`", path.display()));
        Diagnostic::new(Code::StoreDenied, message)
            .with_help(format!("log in with `docker login {}`", self.reference.registry()))
            .with_note(format!("credentials are read from `auths`{file}; credential helpers are not asked"))
    }

    fn send(&self, what: &str, call: &Call<'_>) -> Result<(Reply, Option<Challenge>)> {
        let waiting = format!("waiting for `{}` to {what} `oci://{}`", self.base, self.reference);
        let result = failure::watch(&waiting, || self.patience.repeat(|| self.attempt(call)));
        result.map_err(|failure| failure.diagnostic(what, &format!("oci://{}", self.reference)))
    }

    /// Sends a request once and follows redirects.
    fn attempt(&self, call: &Call<'_>) -> std::result::Result<(Reply, Option<Challenge>), Failure> {
        let mut url = self.url(call.target)?;
        for _ in 0..REDIRECTS {
            let (reply, challenge) = self.request(call, &url)?;
            let location = reply.location.as_deref().filter(|_| reply.status.is_redirection());
            match location.filter(|_| call.method == Method::GET) {
                Some(location) => url = self.resolve(&url, location)?,
                None => return Ok((reply, challenge)),
            }
        }
        Err(self.refused("it redirects in circles"))
    }

    fn request(&self, call: &Call<'_>, url: &Uri) -> std::result::Result<(Reply, Option<Challenge>), Failure> {
        let mut request = Request::builder().method(call.method.clone()).uri(url.clone());
        for (name, value) in [(header::ACCEPT, call.accept), (header::CONTENT_TYPE, call.content_type)] {
            if !value.is_empty() {
                request = request.header(name, value);
            }
        }
        // Other hosts, to which registries redirect, must not see the secret.
        if let Some(authorization) = self.authorization.as_ref().filter(|_| self.is_registry(url)) {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let request = request.body(call.body.clone()).map_err(|error| self.refused(&error.to_string()))?;
        self.exchange(request, call.max)
    }

    /// Sends a request once and reads the response, of at most `max` bytes.
    fn exchange(&self, request: Request<Bytes>, max: u64) -> std::result::Result<(Reply, Option<Challenge>), Failure> {
        let agent = if self.is_registry(request.uri()) { &self.agent } else { &self.others };
        let response = send(agent, request).map_err(failure_of)?;
        let (head, mut body) = response.into_parts();
        if is_transient(head.status) {
            return Err(failure_of(overloaded(head.status, &head.headers, body)));
        }
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let (challenge, location) = (text(header::WWW_AUTHENTICATE).and_then(parse_challenge), text(header::LOCATION));
        let bytes = match head.status.is_success() {
            true => read_all(&mut body, max).map_err(|error| failure_of(broken(&error)))?,
            false => error_text(body).into_bytes(),
        };
        let (location, next) = (location.map(str::to_owned), text(header::LINK).and_then(next_page));
        Ok((Reply { status: head.status, location, next, body: bytes }, challenge))
    }

    fn is_registry(&self, url: &Uri) -> bool {
        url.authority().is_some_and(|authority| self.base.split_once("://").is_some_and(|(_, host)| authority == host))
    }

    /// Returns the URL of a path of the API. URLs of the registry stay.
    pub(super) fn url(&self, target: &str) -> std::result::Result<Uri, Failure> {
        let base: std::result::Result<Uri, _> = format!("{}/", self.base).parse();
        let base = base.map_err(|error| self.refused(&error.to_string()))?;
        self.resolve(&base, target)
    }

    fn resolve(&self, base: &Uri, location: &str) -> std::result::Result<Uri, Failure> {
        let absolute = match location.starts_with('/') && !location.starts_with("//") {
            true => format!(
                "{}://{}{location}",
                base.scheme_str().unwrap_or("https"),
                base.authority().map_or("", |host| host.as_str())
            ),
            false => location.to_owned(),
        };
        let url: Uri = absolute.parse().map_err(|_| self.refused("it redirects to something that is no URL"))?;
        match url.scheme_str() {
            Some("https") => Ok(url),
            // Only the registry itself, and only on this machine, is reached without TLS.
            Some("http") if self.reference.is_loopback() && self.is_registry(&url) => Ok(url),
            _ => Err(self.refused("it redirects to a URL without TLS")),
        }
    }

    fn refused(&self, why: &str) -> Failure {
        let message = format!("cannot use the registry of `oci://{}`: {why}", self.reference);
        Failure::Ours(Diagnostic::new(Code::StoreFailed, message).with_help("check the reference"))
    }

    /// Returns the value of `Authorization` for a challenge.
    fn authorize(&self, what: &str, challenge: &Challenge) -> Result<Option<String>> {
        match (challenge, &self.credentials) {
            (Challenge::Basic, Some(Credentials::Password { user, password })) => Ok(Some(basic(user, password))),
            (Challenge::Basic, _) => Err(self.denied(what)),
            (Challenge::Bearer { realm, service, scope }, credentials) => {
                self.token(what, realm, service, scope, credentials.as_ref()).map(Some)
            }
        }
    }

    /// Gets a token from the service at `realm`.
    fn token(
        &self,
        what: &str,
        realm: &str,
        service: &str,
        scope: &str,
        credentials: Option<&Credentials>,
    ) -> Result<String> {
        let query = format!("service={}&scope={}", escaped(service), escaped(scope));
        let separator = if realm.contains('?') { '&' } else { '?' };
        let (method, url, body) = match credentials {
            Some(Credentials::Identity(token)) => {
                let grant = format!("grant_type=refresh_token&client_id=dropforge&refresh_token={}", escaped(token));
                (Method::POST, realm.to_owned(), format!("{grant}&{query}"))
            }
            _ => (Method::GET, format!("{realm}{separator}{query}"), String::new()),
        };
        // A registry of this machine may have its service there, too.
        let uri = self.patience.repeat(|| self.resolve_realm(&url));
        let fail = |failure: Failure| failure.diagnostic(what, &format!("oci://{}", self.reference));
        let mut request = Request::builder().method(method).uri(uri.map_err(fail)?);
        if let Some(Credentials::Password { user, password }) = credentials {
            request = request.header(header::AUTHORIZATION, basic(user, password));
        }
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        }
        let request = request.body(Bytes::from(body)).map_err(|error| fail(self.refused(&error.to_string())))?;
        let reply = self.patience.repeat(|| self.exchange(request.clone(), MAX_REPLY)).map_err(fail)?;
        let (status, bytes) = (reply.0.status, reply.0.body);
        if !status.is_success() {
            return Err(self.denied(what));
        }
        let token: Option<Token> = serde_json::from_slice(&bytes).ok();
        let token = token.and_then(|token| token.token.or(token.access_token));
        let is_visible = |token: &String| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        match token.filter(is_visible) {
            Some(token) => Ok(format!("Bearer {token}")),
            None => Err(fail(self.refused("its service of tokens sends no token"))),
        }
    }

    fn resolve_realm(&self, url: &str) -> std::result::Result<Uri, Failure> {
        let uri: Uri = url.parse().map_err(|_| self.refused("its service of tokens has no URL"))?;
        let is_loopback = |uri: &Uri| {
            let host = uri.host().unwrap_or("").trim_matches(['[', ']']);
            host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        };
        match uri.scheme_str() {
            Some("https") => Ok(uri),
            Some("http") if self.reference.is_loopback() && is_loopback(&uri) => Ok(uri),
            _ => Err(self.refused("its service of tokens has no TLS")),
        }
    }
}

/// Returns the target of a header such as `</v2/a/tags/list?last=b>; rel="next"`.
fn next_page(link: &str) -> Option<String> {
    let (target, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
    rest.replace([' ', '"'], "").contains("rel=next").then(|| target.to_owned())
}

#[derive(Debug, Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

fn escaped(text: &str) -> impl std::fmt::Display {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
}

/// The way in which a registry wants to know who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Challenge {
    /// A user name and a password with each request.
    Basic,
    /// A token from the service at `realm`.
    Bearer { realm: String, service: String, scope: String },
}

/// Parses the header `WWW-Authenticate`. Returns `None` for other ways.
fn parse_challenge(header: &str) -> Option<Challenge> {
    let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
    match scheme.to_ascii_lowercase().as_str() {
        "basic" => Some(Challenge::Basic),
        "bearer" => {
            let (mut realm, mut service, mut scope) = (None, String::new(), String::new());
            for (key, value) in parameters(rest) {
                match key.to_ascii_lowercase().as_str() {
                    "realm" => realm = Some(value.to_owned()),
                    "service" => service = value.to_owned(),
                    "scope" => scope = value.to_owned(),
                    _ => {}
                }
            }
            Some(Challenge::Bearer { realm: realm?, service, scope })
        }
        _ => None,
    }
}

/// Splits `a="x",b="y,z",c=w` into pairs.
fn parameters(mut text: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    while let Some((key, rest)) = text.split_once('=') {
        let (value, rest) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(',').unwrap_or((rest, "")),
        };
        pairs.push((key.trim_matches([' ', ',']), value));
        text = rest;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges() {
        let text = r#"Bearer realm="https://auth.io/token",service="r.io",scope="repository:a/b:pull,push""#;
        let (realm, service, scope) = ("https://auth.io/token", "r.io", "repository:a/b:pull,push");
        let bearer = Challenge::Bearer { realm: realm.into(), service: service.into(), scope: scope.into() };
        assert_eq!(parse_challenge(text), Some(bearer));
        assert_eq!(parse_challenge("Basic realm=\"r\""), Some(Challenge::Basic));
        assert_eq!(parse_challenge("basic"), Some(Challenge::Basic));
        for none in ["", "Negotiate", "Bearer", "Bearer service=\"x\"", "Bearer =", "Bearer realm"] {
            assert_eq!(parse_challenge(none), None, "{none}");
        }
        assert!(parse_challenge(&format!("Bearer realm=\"{}", "a=\"".repeat(100_000))).is_some());
    }

    /// Starts a registry that repeats the head of each request in an error, and returns its address.
    fn echo() -> std::net::SocketAddr {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = String::new();
                let mut reader = std::io::BufReader::new(stream.try_clone().unwrap());
                while !head.ends_with("\r\n\r\n") && std::io::BufRead::read_line(&mut reader, &mut head).unwrap() > 0 {}
                let is_known = head.to_lowercase().contains("authorization");
                let status = if is_known { "400 Bad Request" } else { "401 Unauthorized" };
                let body = format!("{{\"request\": {:?}, \"login\": \"robot-7:s3cret-Pw\"}}", head);
                let answer = format!(
                    "HTTP/1.1 {status}\r\nWWW-Authenticate: Basic realm=\"r\"\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                std::io::Write::write_all(&mut stream, answer.as_bytes()).unwrap();
            }
        });
        address
    }

    #[test]
    fn errors_do_not_repeat_the_credentials() {
        let reference: Reference = format!("{}/a:1", echo()).parse().unwrap();
        let (user, password) = ("robot-7".to_owned(), "s3cret-Pw".to_owned());
        let credentials = Some(Credentials::Password { user, password });
        let mut registry = Registry::with(&reference, &StoreOptions::default(), credentials).unwrap();
        let error = super::super::pull_all(&mut registry, &reference, 1 << 20).unwrap_err();
        let told = error.message.clone();
        let text = basic("robot-7", "s3cret-Pw");
        let secrets = ["robot-7", "s3cret-Pw", text.strip_prefix("Basic ").unwrap()];
        assert!(secrets.iter().all(|secret| told.contains(secret)), "{told}");
        let error = registry.without_credentials(error);
        assert!(error.message.contains("400 Bad Request"), "{error}");
        assert!(!secrets.iter().any(|secret| error.message.contains(secret)), "{error}");
    }
}
