//! Causes of failed requests.

use std::io::{self, ErrorKind};

/// The attempts after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The next attempt would fail in the same way.
    Never,
    /// A few attempts: the cause seldom passes.
    Briefly,
    /// As many attempts as the caller has time for.
    Patiently,
}

/// The cause of a failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The attempts that it is worth.
    pub retry: Retry,
    /// What happened, in plain words.
    pub why: String,
    /// What to do.
    pub help: &'static str,
}

const NETWORK: &str = "check the network and the address, then run the command again";
const NAME: &str = "check the spelling of the host, and the network";
const SERVER: &str = "check the address: the server answers, but not as it should";
const REQUEST: &str = "check the address, and the credentials for characters that a header cannot have";

/// Certificates that are refused: a part of the library's text, what it means, and what to do.
const CERTIFICATES: [(&str, &str, &str); 8] = [
    (
        "CaUsedAsEndEntity",
        "its certificate is that of an authority (`CA:TRUE`), which a server cannot use itself",
        "make a certificate for the server, signed by that authority, and trust the authority: for a self-signed one, \
         `openssl req -x509 -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:HOST …`",
    ),
    (
        "UnknownIssuer",
        "its certificate is not signed by an authority that is trusted",
        "trust the authority that signed it: `--ca-file FILE` for a catalog; its certificate in PEM form",
    ),
    (
        "not valid for",
        "its certificate is for another host",
        "use the name that the certificate is for, or make one with `subjectAltName` for this host",
    ),
    ("NotValidForName", "its certificate is for another host", "use the name that the certificate is for"),
    ("xpired", "its certificate has expired", "renew the certificate of the server, or set the clock of this machine"),
    ("not valid yet", "its certificate is not valid yet", "check the clock of this machine and of the server"),
    ("UnsupportedCertVersion", "its certificate is older than X.509 version 3", "make one with `subjectAltName`"),
    (
        "BadSignature",
        "its certificate has a wrong signature",
        "trust the authority that signed it, not another one of its name",
    ),
];

/// Returns the cause of an error.
pub fn cause_of(error: &ureq::Error) -> Cause {
    use ureq::Error as E;
    let is = |retry, why: String, help| Cause { retry, why, help };
    match error {
        E::Io(error) => cause_of_io(error),
        E::HostNotFound | E::Timeout(ureq::Timeout::Resolve) => is(Retry::Briefly, UNRESOLVED.to_owned(), NAME),
        E::Timeout(what) => is(Retry::Patiently, format!("no progress for too long ({what})"), NETWORK),
        E::ConnectionFailed => is(Retry::Patiently, "no connection".to_owned(), NETWORK),
        E::BodyStalled => is(Retry::Briefly, "its answer ends early".to_owned(), NETWORK),
        E::Protocol(why) => is(Retry::Never, format!("its answer is not HTTP: {why}"), SERVER),
        E::LargeResponseHeader(..) => is(Retry::Never, "its answer has too many headers".to_owned(), SERVER),
        E::Tls(why) => tls(why),
        E::Rustls(why) => tls(&why.to_string()),
        E::RequireHttpsOnly(_) => is(Retry::Never, "HTTP without TLS is not allowed".to_owned(), "write `https://`"),
        other => is(Retry::Never, other.to_string(), REQUEST),
    }
}

const UNRESOLVED: &str = "its host name cannot be resolved";

fn cause_of_io(error: &io::Error) -> Cause {
    let text = error.to_string();
    if text.starts_with("failed to lookup address") {
        return Cause { retry: Retry::Briefly, why: UNRESOLVED.to_owned(), help: NAME };
    }
    if error.kind() == ErrorKind::InvalidData {
        return tls(&text);
    }
    let (retry, why) = match error.kind() {
        ErrorKind::ConnectionRefused => (Retry::Patiently, "the connection was refused".to_owned()),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            (Retry::Patiently, "the connection was broken".to_owned())
        }
        ErrorKind::UnexpectedEof => (Retry::Patiently, "the connection was closed before the end".to_owned()),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => (Retry::Patiently, text),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            (Retry::Patiently, "there is no route to it".to_owned())
        }
        ErrorKind::Interrupted | ErrorKind::NotConnected | ErrorKind::AddrNotAvailable => (Retry::Patiently, text),
        // A bound of ours, which the next answer would exceed, too.
        ErrorKind::Other => return Cause { retry: Retry::Never, why: text, help: SERVER },
        _ => (Retry::Briefly, text),
    };
    Cause { retry, why, help: NETWORK }
}

fn tls(text: &str) -> Cause {
    let is = |why: &str, help| Cause { retry: Retry::Never, why: why.to_owned(), help };
    if let Some((_, why, help)) = CERTIFICATES.iter().find(|(part, ..)| text.contains(part)) {
        return is(why, help);
    }
    match text {
        _ if text.contains("corrupt message") => is("it does not speak TLS", "write `http://`, or another port"),
        _ if text.contains("alert") => is(&format!("it refuses the TLS connection: {text}"), SERVER),
        _ => is(&format!("no TLS connection: {text}"), SERVER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for (kind, retry) in [
            (ErrorKind::ConnectionRefused, Retry::Patiently),
            (ErrorKind::ConnectionReset, Retry::Patiently),
            (ErrorKind::UnexpectedEof, Retry::Patiently),
            (ErrorKind::TimedOut, Retry::Patiently),
            (ErrorKind::InvalidData, Retry::Never),
            (ErrorKind::Other, Retry::Never),
            (ErrorKind::PermissionDenied, Retry::Briefly),
        ] {
            assert_eq!(cause_of(&io::Error::from(kind).into()).retry, retry, "{kind}");
        }
        for error in [ureq::Error::BadUri("x".into()), ureq::Error::LargeResponseHeader(1, 2), ureq::Error::Tls("x")] {
            assert_eq!(cause_of(&error).retry, Retry::Never, "{error}");
        }
    }

    #[test]
    fn a_name_that_does_not_resolve_is_tried_briefly() {
        let error = std::net::ToSocketAddrs::to_socket_addrs("no-such-host.invalid:1").expect_err("no such name");
        assert_eq!(cause_of(&error.into()).retry, Retry::Briefly);
        assert_eq!(cause_of(&ureq::Error::HostNotFound).retry, Retry::Briefly);
    }

    #[test]
    fn certificates_are_explained() {
        let told = |text: &str| cause_of(&io::Error::new(ErrorKind::InvalidData, text).into());
        let own = told("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))");
        assert!(own.why.contains("CA:TRUE") && own.help.contains("CA:FALSE"), "{own:?}");
        assert!(told("invalid peer certificate: UnknownIssuer").help.contains("--ca-file"));
        assert!(told("invalid peer certificate: certificate expired: …").why.contains("has expired"));
        assert!(told("received corrupt message of type InvalidContentType").help.contains("http://"));
    }
}
