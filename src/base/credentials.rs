//! Credentials in the texts of servers, which may repeat the headers and the URL of a request.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::diagnostics::Diagnostic;
use crate::mask::{HIDDEN, Mask};

/// A scheme of `Authorization` and what follows it; a part of a signed request; the user and password of a URL.
static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let parts = [
        r"(?P<scheme>\b(?:basic|bearer|negotiate|digest)[ :]+)(?P<token>[\w+/=.~-]{6,})",
        r#"(?P<name>\b(?:signature|sig|credential|x-amz-security-token|x-amz-signature|x-amz-credential|access_token|refresh_token)["']?\s*[=:]\s*["']?)[^&\s"'<>,]+"#,
        r"(?P<user>://[^/\s:@`'<>]*):[^/\s@`'<>]+@",
    ];
    Regex::new(&format!("(?i){}", parts.join("|"))).ok()
});

/// Replaces the credentials of a request in the error that a server or the connection gave: those of `mask`, and whatever
/// looks like some.
///
/// ```
/// use dropforge::{Diagnostic, diagnostics::Code};
/// use dropforge::{credentials, mask::Mask};
/// let mut error = Diagnostic::new(Code::StoreFailed, "bad Authorization: Basic dTpodW50ZXIy, token s3cret-7");
/// credentials::hide(&Mask::new(["s3cret-7"]), &mut error);
/// assert_eq!(error.message, "bad Authorization: Basic …, token …");
/// ```
pub fn hide(mask: &Mask, error: &mut Diagnostic) {
    error.each_text(&mut |text| *text = hidden(mask, text));
    let cause = error.cause.as_ref().map(ToString::to_string);
    if cause.is_some_and(|cause| mask.is_in(&cause) || matches!(without(&cause), Cow::Owned(_))) {
        error.cause = None;
    }
    error.also.iter_mut().for_each(|other| hide(mask, other));
}

/// Returns a text of a server without the credentials of `mask`, and without what looks like some.
///
/// ```
/// use dropforge::{credentials, mask::Mask};
/// let text = credentials::hidden(&Mask::new(["s3cret-7"]), "bad header: Basic bWU6cHc9, s3cret-7");
/// assert_eq!(text, "bad header: Basic …, …");
/// ```
pub fn hidden(mask: &Mask, text: &str) -> String {
    mask.hidden(&without(text)).into_owned()
}

/// Returns a text without what looks like credentials.
fn without(text: &str) -> Cow<'_, str> {
    let Some(pattern) = PATTERN.as_ref() else { return HIDDEN.into() };
    let kept = |found: &Captures<'_>| {
        let part = |name| found.name(name).map_or("", |part| part.as_str());
        // A word after the name of a scheme is no token: `basic authentication`.
        match part("token") {
            "" => format!("{}{}{HIDDEN}{}", part("name"), part("user"), if part("user").is_empty() { "" } else { "@" }),
            word if is_word(word) => found.get(0).map_or("", |all| all.as_str()).to_owned(),
            _ => format!("{}{HIDDEN}", part("scheme")),
        }
    };
    pattern.replace_all(text, kept)
}

/// Returns `true` for letters of one case, but for the first.
fn is_word(text: &str) -> bool {
    let rest = text.get(1..).unwrap_or("").trim_end_matches(['.', '-']);
    text.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'-'))
        && !rest.bytes().any(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_credentials_is_hidden() {
        for (text, shown) in [
            ("Authorization: Bearer eyJhbGciOi.J9-_x, sorry", "Authorization: Bearer …, sorry"),
            ("{\"authorization\":\"basic dTpwYXNzd29yZA==\"}", "{\"authorization\":\"basic …\"}"),
            ("cannot reach `http://u:pa%20ss@host/x`", "cannot reach `http://u…@host/x`"),
            ("?X-Amz-Signature=0af3&X-Amz-Security-Token=Fw//x&y=1", "?X-Amz-Signature=…&X-Amz-Security-Token=…&y=1"),
            ("Credential=AKIA/2020/x, Signature=ab12", "Credential=…, Signature=…"),
            ("the server wants basic authentication.", "the server wants basic authentication."),
            ("see https://host:443/a@b", "see https://host:443/a@b"),
        ] {
            assert_eq!(without(text), shown);
        }
    }
}
