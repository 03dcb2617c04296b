//! Files of web servers: indexes of charts and packed charts.
//!
//! Servers are not trusted: an answer has a bounded length and a bounded time, and credentials are sent to one host only.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};

use crate::failure;
use crate::failure::{Failure, Patience, Permanent};
use crate::http::{StoreOptions, broken, error_text, failure_of, is_transient, overloaded, send};
use crate::oci::basic;
use dropforge_base::credentials;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge_base::mask::Mask;
use dropforge_http::ureq::{self, Agent};
use dropforge_http::{Bounded, Cause, ClientOptions, Trust, client};

/// Maximum number of redirects of one request.
const REDIRECTS: usize = 5;
/// Maximum time of one attempt, however fast the server is.
const LONGEST: Duration = Duration::from_secs(600);
/// Length of the pieces in which a body is read.
const PIECE: usize = 64 << 10;

/// A user name and a password for one origin.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user name.
    pub user: String,
    /// The password.
    pub password: String,
    /// Other origins may see the password as well, if they are asked directly. Redirects never lead it there.
    pub everywhere: bool,
}

impl std::fmt::Debug for Login {
    /// Leaves out the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Login")
    }
}

/// A client of web servers.
#[derive(Debug, Clone)]
pub struct WebFiles {
    /// The client for the origin of the repository.
    agent: Agent,
    /// The client for other origins: they do not see the certificate of the client, and have to show their own.
    others: Agent,
    origin: String,
    login: Option<Login>,
    patience: Patience,
}

/// A function that gets the length of what has come so far.
type Progress<'p> = &'p dyn Fn(u64);

impl WebFiles {
    /// Returns a client of the files at `origin` and elsewhere. It logs in with `login`. The certificate of the client, and the
    /// trust in any certificate, are for the origin only.
    ///
    /// # Errors
    /// `store.failed` if certificates cannot be used.
    pub fn new(origin: &str, login: Option<Login>, trust: Trust, store: &StoreOptions) -> Result<Self> {
        let agent = |trust| {
            let options = ClientOptions {
                connect: Duration::from_secs(5),
                idle: store.timeout,
                connections: 8,
                plain: true,
                redirects: 0,
                trust,
            };
            client(&options).map_err(|why| Diagnostic::new(Code::StoreFailed, why.to_string()))
        };
        let others = agent(Trust { authorities: trust.authorities.clone(), ..Trust::default() })?;
        Ok(Self { agent: agent(trust)?, others, origin: origin.to_owned(), login, patience: store.patience })
    }

    /// Writes the file at `url`, of at most `max` bytes, to the empty file `to`. `what` is a verb and a noun for errors,
    /// such as `read the index`. `progress` is called with the length of what has come so far.
    ///
    /// # Errors
    /// `store.bad_url`, `store.missing`, `store.denied`, `store.unreachable`, `store.failed`; `limit.source_bytes`;
    /// `file.write_failed`.
    pub fn fetch(&self, what: &str, url: &str, max: u64, (to, progress): (&mut File, Progress<'_>)) -> Result<()> {
        let start: Uri = url.parse().map_err(|_| bad_url(url))?;
        if !matches!(start.scheme_str(), Some("http" | "https")) || start.host().is_none_or(str::is_empty) {
            return Err(bad_url(url));
        }
        let attempt = || self.attempt(&start, max, (to, progress));
        let waiting = credentials::hidden(&Mask::none(), &format!("waiting for `{url}`"));
        let result = failure::watch(&waiting, || self.patience.repeat(attempt));
        result.map_err(|failure| {
            let is_ours = matches!(failure, Failure::Ours(_));
            let mut error = failure.diagnostic(what, url);
            if is_ours {
                error.message = format!("cannot {what}: {}", error.message);
            }
            let login = self.login.as_ref();
            let secrets =
                login.map(|one| [one.password.clone(), basic(&one.user, &one.password)]).into_iter().flatten();
            let secrets: Vec<String> = secrets.collect();
            credentials::hide(&Mask::new(secrets.iter().map(String::as_str)), &mut error);
            error
        })
    }

    /// Makes one attempt and follows redirects.
    fn attempt(
        &self,
        start: &Uri,
        max: u64,
        (to, progress): (&mut File, Progress<'_>),
    ) -> std::result::Result<(), Failure> {
        let began = Instant::now();
        let (mut url, mut may_log_in) = (start.clone(), self.may_log_in(start));
        for _ in 0..=REDIRECTS {
            let response = self.request(&url, may_log_in)?;
            let Some(location) = redirect(&response) else {
                return self.body(&url, response, (max, began), (to, progress));
            };
            let next = resolve(&url, &location)?;
            may_log_in &= origin(&url) == origin(&next);
            url = next;
        }
        Err(refused(&format!("it redirects more than {REDIRECTS} times")))
    }

    fn may_log_in(&self, url: &Uri) -> bool {
        self.login.as_ref().is_some_and(|login| login.everywhere || self.is_own(url))
    }

    /// Returns `true` for a URL of the origin.
    fn is_own(&self, url: &Uri) -> bool {
        self.origin.parse().is_ok_and(|own: Uri| origin(&own) == origin(url))
    }

    fn request(&self, url: &Uri, may_log_in: bool) -> std::result::Result<http::Response<ureq::Body>, Failure> {
        let mut request = Request::get(url).header(header::ACCEPT_ENCODING, "identity");
        if let Some(login) = self.login.as_ref().filter(|_| may_log_in) {
            request = request.header(header::AUTHORIZATION, basic(&login.user, &login.password));
        }
        let request = request.body(Bytes::new()).map_err(|error| refused(&error.to_string()))?;
        send(if self.is_own(url) { &self.agent } else { &self.others }, request).map_err(failure_of)
    }

    /// Writes the body of a response.
    fn body(
        &self,
        url: &Uri,
        response: http::Response<ureq::Body>,
        (max, began): (u64, Instant),
        (to, progress): (&mut File, Progress<'_>),
    ) -> std::result::Result<(), Failure> {
        let (head, body) = response.into_parts();
        if is_transient(head.status) {
            return Err(failure_of(overloaded(head.status, &head.headers, body)));
        }
        if head.status != StatusCode::OK {
            return Err(answered(url, head.status, body));
        }
        let unwritable = |error: std::io::Error| {
            Failure::Ours(Diagnostic::new(Code::WriteFailed, format!("cannot keep `{url}`: {error}")).caused_by(error))
        };
        // An earlier attempt may have written a part.
        to.set_len(0).and_then(|()| to.seek(SeekFrom::Start(0))).map_err(unwritable)?;
        if body.content_length().is_some_and(|length| length > max) {
            return Err(too_long(url, max));
        }
        let (expected, mut written) = (body.content_length(), 0_u64);
        let mut reader = Bounded::new(body.into_reader(), max);
        let mut piece = vec![0; PIECE];
        loop {
            let count = match reader.read(&mut piece) {
                Ok(count) => count,
                Err(error) if error.get_ref().is_some_and(|inner| inner.is::<dropforge_http::TooLong>()) => {
                    return Err(too_long(url, max));
                }
                Err(error) => return Err(failure_of(broken(&ureq::Error::from(error)))),
            };
            if count == 0 {
                break;
            }
            if began.elapsed() > LONGEST {
                return Err(refused(&format!("it takes longer than {} s", LONGEST.as_secs())));
            }
            written += count as u64;
            progress(written);
            to.write_all(piece.get(..count).unwrap_or_default()).map_err(unwritable)?;
        }
        match expected {
            Some(expected) if expected != written => {
                Err(refused(&format!("the server sent {written} bytes instead of {expected}")))
            }
            _ => to.flush().map_err(unwritable),
        }
    }
}

/// Returns the target of a redirect.
fn redirect(response: &http::Response<ureq::Body>) -> Option<String> {
    let statuses = [301, 302, 303, 307, 308];
    let is_one = statuses.contains(&response.status().as_u16());
    let location = response.headers().get(header::LOCATION).filter(|_| is_one)?;
    location.to_str().ok().map(str::to_owned)
}

/// Returns the target of a redirect. One that leaves TLS is refused.
fn resolve(base: &Uri, location: &str) -> std::result::Result<Uri, Failure> {
    let to = join(&base.to_string(), location, false);
    let url: Uri = to.parse().map_err(|_| refused("it redirects to something that is no URL"))?;
    match (base.scheme_str(), url.scheme_str()) {
        (_, Some("https")) | (Some("http"), Some("http")) => Ok(url),
        (_, Some("http")) => Err(refused("it redirects to a URL without TLS")),
        _ => Err(refused("it redirects to something that is no URL")),
    }
}

/// Returns the scheme, the host and the port.
fn origin(url: &Uri) -> (String, String, u16) {
    let scheme = url.scheme_str().unwrap_or("").to_ascii_lowercase();
    let port = url.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    (scheme, url.host().unwrap_or("").to_ascii_lowercase(), port)
}

/// Returns the URL that `reference` means in a file of the folder `base`, or in the file `base` itself.
///
/// ```
/// use dropforge::remote::join_url;
/// assert_eq!(join_url("https://r.io/charts", "a-1.0.0.tgz"), "https://r.io/charts/a-1.0.0.tgz");
/// assert_eq!(join_url("https://r.io/charts/?t=1", "../b/a.tgz"), "https://r.io/b/a.tgz?t=1");
/// assert_eq!(join_url("https://r.io/charts", "https://s.io/a.tgz"), "https://s.io/a.tgz");
/// ```
pub fn join_url(base: &str, reference: &str) -> String {
    join(base, reference, true)
}

fn join(base: &str, reference: &str, is_folder: bool) -> String {
    let is_absolute = reference.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if is_absolute {
        return reference.to_owned();
    }
    let base = base.split('#').next().unwrap_or(base);
    let (base, query) = base.split_once('?').map_or((base, None), |(base, query)| (base, Some(query)));
    let (scheme, rest) = base.split_once("://").unwrap_or(("https", base));
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{scheme}://{rest}");
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let folder = match is_folder {
        true => path.trim_end_matches('/'),
        false => path.rsplit_once('/').map_or("", |(folder, _)| folder),
    };
    let (own, own_query) = reference.split_once('?').map_or((reference, None), |(own, query)| (own, Some(query)));
    let whole = if own.starts_with('/') { own.to_owned() } else { format!("{folder}/{own}") };
    // The queries of repositories hold tokens that their files need, too.
    let query = if is_folder { query } else { own_query };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{scheme}://{authority}{}{query}", without_dots(&whole))
}

/// Returns an absolute path without `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let all: Vec<&str> = path.split('/').skip(1).collect();
    for (at, part) in all.iter().enumerate() {
        match *part {
            "." | ".." => {
                if *part == ".." {
                    parts.pop();
                }
                if at + 1 == all.len() {
                    parts.push("");
                }
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn bad_url(url: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadUrl, format!("`{url}` is not a URL of a web server"))
        .with_help("write `https://HOST/PATH`")
}

fn refused(why: &str) -> Failure {
    let help = "check the address: the server answers, but not as it should";
    Failure::Permanent(Permanent(Cause { retry: dropforge_http::Retry::Never, why: why.to_owned(), help }))
}

fn too_long(url: &Uri, max: u64) -> Failure {
    let limit = thousands(usize::try_from(max).unwrap_or(usize::MAX));
    Failure::Ours(Diagnostic::new(Code::LimitSourceBytes, format!("`{url}` is longer than {limit} bytes")))
}

/// Returns the failure of a response without the file.
fn answered(url: &Uri, status: StatusCode, body: ureq::Body) -> Failure {
    let text = error_text(body);
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
    let (code, help) = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            (Code::StoreDenied, "log in with `helm repo add NAME URL --username USER --password-stdin`")
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => (Code::StoreMissing, "check the URL"),
        _ => (Code::StoreFailed, "check the URL"),
    };
    let message = format!("the server answers {status} for `{url}`: {text}");
    Failure::Ours(Diagnostic::new(code, message.trim_end_matches([':', ' '])).with_help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_joined_as_in_go() {
        for (base, reference, joined) in [
            ("http://h", "a.tgz", "http://h/a.tgz"),
            ("http://h/", "a.tgz", "http://h/a.tgz"),
            ("http://h:1/x/y/", "/a.tgz", "http://h:1/a.tgz"),
            ("http://h/x", "./a/../b.tgz", "http://h/x/b.tgz"),
            ("http://h/x", "../../../b.tgz", "http://h/b.tgz"),
            ("https://h/x?k=v", "a.tgz?z=1", "https://h/x/a.tgz?k=v"),
            ("https://h/x", "//i/a.tgz", "https://i/a.tgz"),
            ("https://h/x", "oci://i/a:1", "oci://i/a:1"),
        ] {
            assert_eq!(join_url(base, reference), joined, "{base} {reference}");
        }
        assert_eq!(join("https://h/x/y?q=1", "z?w", false), "https://h/x/z?w");
    }

    #[test]
    fn only_the_origin_sees_the_password() {
        let login = |everywhere| Login { user: "u".to_owned(), password: "s3cret".to_owned(), everywhere };
        let files = |everywhere| {
            let (origin, login) = ("https://h/charts", Some(login(everywhere)));
            WebFiles::new(origin, login, Trust::default(), &StoreOptions::default()).unwrap()
        };
        let may = |everywhere, url: &str| files(everywhere).may_log_in(&url.parse().unwrap());
        for (url, is_own) in [
            ("https://h/x", true),
            ("https://H:443/x", true),
            ("https://h:444/x", false),
            ("http://h/x", false),
            ("https://h.evil/x", false),
            ("https://i/x", false),
        ] {
            assert_eq!((may(false, url), may(true, url)), (is_own, true), "{url}");
        }
        assert!(!format!("{:?}", files(false)).contains("s3cret"));
    }
}
