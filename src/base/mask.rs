//! Texts that are not shown, wherever something is printed that may repeat them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::diagnostics::Diagnostic;
use crate::text::Source;

/// Stands for what is not shown.
pub const HIDDEN: &str = "…";

/// The length from which a text is looked for. Shorter ones are everywhere.
const SHORTEST: usize = 4;
/// Parts of this length are looked for in any case, and shorter ones only if they are most of a secret.
const PART: usize = 16;
/// Parts shorter than this are looked for only as a whole.
const SHORT_PART: usize = 9;
/// Maximum length of a text whose parts are looked for at every byte. In longer ones they begin at every ninth.
const DENSE: usize = 512;
/// Maximum length of all secrets together.
const LONGEST: usize = 4 << 20;
/// Words that are not looked for.
const COMMON: [&str; 10] = ["true", "false", "null", "none", "yes", "no", "nil", "undefined", "default", "localhost"];

/// The secrets of a run, by their texts. They are found as they are and in other letter case, reversed, in base64, as
/// hexadecimal digits, with the escapes of JSON, YAML, HTML and URLs, and by a long part of any of these.
///
/// ```
/// use dropforge::mask::Mask;
/// let mask = Mask::new(["hunter2"]);
/// assert_eq!(mask.hidden("password: HUNTER2!"), "password: …!");
/// assert_eq!(mask.hidden("Basic dTpodW50ZXIy"), "Basic dTp…");
/// assert_eq!(mask.hidden("hunter"), "hunter");
/// ```
#[derive(Clone, Default)]
pub struct Mask {
    finder: Option<Arc<AhoCorasick>>,
    /// There are too many secrets to look for.
    hides_all: bool,
}

impl fmt::Debug for Mask {
    /// Leaves out the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mask")
    }
}

impl Mask {
    /// Creates a mask of these secrets. Texts of fewer than four bytes and common words are not looked for.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let (mut patterns, mut length) = (HashSet::new(), 0);
        for secret in secrets {
            length += secret.len();
            if length > LONGEST {
                return Self::all();
            }
            // A text of several lines may be indented.
            let lines = secret.lines().filter(|_| secret.contains('\n'));
            [secret, secret.trim()].into_iter().chain(lines.map(str::trim)).for_each(|text| add(text, &mut patterns));
        }
        if patterns.is_empty() {
            return Self::default();
        }
        let finder = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(&patterns);
        Self { hides_all: finder.is_err(), finder: finder.ok().map(Arc::new) }
    }

    /// Creates a mask of no secrets.
    pub const fn none() -> Self {
        Self { finder: None, hides_all: false }
    }

    /// Creates a mask that hides every text.
    pub const fn all() -> Self {
        Self { finder: None, hides_all: true }
    }

    /// Creates a mask of the secrets that `all` passes on.
    pub fn of_each(all: impl FnOnce(&mut dyn FnMut(&str))) -> Self {
        let mut secrets = HashSet::new();
        all(&mut |secret| _ = secrets.insert(secret.to_owned()));
        Self::new(secrets.iter().map(String::as_str))
    }

    /// Returns `true` if there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.finder.is_none() && !self.hides_all
    }

    /// Returns `true` if a text has a secret in it.
    pub fn is_in(&self, text: &str) -> bool {
        self.hides_all || self.finder.as_ref().is_some_and(|finder| finder.is_match(text))
    }

    /// Returns a text with `…` in place of each secret.
    pub fn hidden<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.hidden_as(text, HIDDEN)
    }

    /// Returns a text with `mark` in place of each secret.
    pub fn hidden_as<'t>(&self, text: &'t str, mark: &'static str) -> Cow<'t, str> {
        let hidden = |part: &str| if part.trim().is_empty() { part.to_owned() } else { mark.to_owned() };
        self.replaced(text, |secret| match secret.contains('\n') {
            // Lines stay lines.
            true => secret.split('\n').map(hidden).collect::<Vec<_>>().join("\n").into(),
            false => mark.into(),
        })
    }

    /// Replaces each secret in a text by `…`.
    pub fn hide(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.hidden(text) {
            *text = hidden;
        }
    }

    /// Returns a text with another one of the same length in place of each secret.
    fn covered<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replaced(text, |secret| secret.chars().map(cover).collect())
    }

    /// Replaces each secret in the texts and excerpts of a diagnostic.
    pub fn hide_in(&self, diagnostic: &mut Diagnostic) {
        if self.is_empty() {
            return;
        }
        diagnostic.each_text(&mut |text| self.hide(text));
        for label in &mut diagnostic.labels {
            if let Cow::Owned(covered) = self.covered(label.source.text()) {
                label.source = Source::with_text(&label.source, covered);
            }
        }
        // Its text is often that of the message.
        if diagnostic.cause.as_ref().is_some_and(|cause| self.is_in(&cause.to_string())) {
            diagnostic.cause = None;
        }
        diagnostic.also.iter_mut().for_each(|other| self.hide_in(other));
    }

    /// Replaces each secret in the texts and excerpts of diagnostics.
    pub fn hide_in_all<'d>(&self, diagnostics: impl IntoIterator<Item = &'d mut Box<Diagnostic>>) {
        diagnostics.into_iter().for_each(|diagnostic| self.hide_in(diagnostic));
    }

    fn replaced<'t>(&self, text: &'t str, by: impl Fn(&str) -> Cow<'static, str>) -> Cow<'t, str> {
        let places = self.places(text);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut end) = (String::with_capacity(text.len()), 0);
        for place in places {
            out.push_str(text.get(end..place.start).unwrap_or(""));
            out.push_str(&by(text.get(place.clone()).unwrap_or("")));
            end = place.end;
        }
        out.push_str(text.get(end..).unwrap_or(""));
        Cow::Owned(out)
    }

    /// Returns the places of secrets in a text. Those that overlap or touch are one.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        if self.hides_all && !text.is_empty() {
            places.push(0..text.len());
            return places;
        }
        let Some(finder) = &self.finder else { return places };
        for found in finder.find_overlapping_iter(text) {
            // They come in the order of their ends.
            let mut place = found.range();
            while let Some(last) = places.pop_if(|last| last.end >= place.start) {
                place.start = place.start.min(last.start);
                place.end = place.end.max(last.end);
            }
            places.push(place);
        }
        places
    }
}

/// Returns a character of as many bytes.
pub(crate) fn cover(secret: char) -> char {
    match secret {
        '\n' | '\r' => secret,
        _ => ['*', '·', '•', '\u{1f512}'].get(secret.len_utf8() - 1).copied().unwrap_or('*'),
    }
}

/// Returns a line with another text of the same length after its key.
pub(crate) fn covered_line(line: &str) -> String {
    let indent = line.len() - line.trim_start_matches([' ', '-']).len();
    let is_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-./\"'".contains(c));
    let key = |mark: &str| {
        line.get(indent..)?.split_once(mark).filter(|(key, _)| is_key(key)).map(|(key, _)| key.len() + mark.len())
    };
    let (shown, secret) = line.split_at(indent + key(": ").or_else(|| key(":\n")).or_else(|| key("=")).unwrap_or(0));
    shown.chars().chain(secret.chars().map(cover)).collect()
}

/// Adds a text, its encodings, and their parts.
fn add(text: &str, patterns: &mut HashSet<String>) {
    let is_common = COMMON.iter().any(|word| word.eq_ignore_ascii_case(text));
    if text.trim().len() < SHORTEST || is_common || patterns.contains(text) {
        return;
    }
    for encoded in encodings(text) {
        add_parts(&encoded, patterns);
    }
    for skipped in 0..3 {
        add_base64(text.as_bytes(), skipped, patterns);
    }
    patterns.insert(text.to_owned());
}

/// Returns a text in the encodings that have one text.
fn encodings(text: &str) -> Vec<String> {
    let hex = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let json = serde_json::to_string(text).unwrap_or_default();
    let url = utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    // Encoders of URLs keep different sets of characters.
    let kept = ["-_.~", "-_.~/", "-_.~!*'()"].map(|kept| {
        kept.chars().fold(url.clone(), |url, kept| url.replace(&format!("%{:02X}", kept as u32), &kept.to_string()))
    });
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let marks = [("&quot;", "&#x27;", "&#x2F;"), ("&#34;", "&#39;", "/"), ("&quot;", "&#39;", "/")];
    let html = marks.map(|(double, single, slash)| html.replace('"', double).replace('\'', single).replace('/', slash));
    let mut all = vec![
        text.to_owned(),
        text.chars().rev().collect(),
        text.to_uppercase(),
        text.to_lowercase(),
        hex,
        json.get(1..json.len().saturating_sub(1)).unwrap_or("").to_owned(),
        text.replace('\'', "''"),
        url.replace("%20", "+"),
        url,
    ];
    all.extend(kept.iter().map(|url| url.replace("%20", "+")));
    all.extend(kept);
    all.extend(html);
    all
}

/// Adds the base64 of a text that follows `skipped` other bytes: the digits that it alone decides.
fn add_base64(bytes: &[u8], skipped: usize, patterns: &mut HashSet<String>) {
    let padded: Vec<u8> = std::iter::repeat_n(0, skipped).chain(bytes.iter().copied()).collect();
    for encoder in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        let digits = encoder.encode(&padded);
        let (start, end) = ((skipped * 8).div_ceil(6), padded.len() * 8 / 6);
        let own = digits.get(start..end).unwrap_or("");
        // Few digits may be those of any text.
        if own.len() > SHORTEST {
            add_parts(own, patterns);
        }
        if skipped == 0 {
            patterns.insert(digits);
        }
    }
}

/// Adds a text and its parts that are long enough to tell.
fn add_parts(text: &str, patterns: &mut HashSet<String>) {
    if text.len() < SHORTEST || !patterns.insert(text.to_owned()) {
        return;
    }
    let part = (text.len() * 3).div_ceil(4).clamp(SHORT_PART, PART);
    let step = if text.len() > DENSE { SHORT_PART } else { 1 };
    for start in (0..text.len().saturating_sub(part)).step_by(step).chain([text.len().saturating_sub(part)]) {
        patterns.extend(text.get(start..start + part).map(str::to_owned));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Code;
    use crate::text::Span;

    #[test]
    fn encodings_and_long_parts_are_found() {
        let secret = "S3cret-Väl'ue \"q\"/x&y";
        let mask = Mask::new([secret]);
        let base64 = |text: &str| STANDARD_NO_PAD.encode(text);
        let escaped = serde_json::to_string(secret).unwrap();
        for text in [
            secret.to_owned(),
            secret.to_uppercase(),
            secret.to_lowercase(),
            secret.chars().rev().collect(),
            escaped,
            secret.replace('\'', "''"),
            utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
            format!("{secret}{secret}"),
            secret.get(..17).unwrap().to_owned(),
        ] {
            let hidden = mask.hidden(&text).replace(HIDDEN, "");
            assert!(hidden.len() < 6, "{text}: {hidden}");
        }
        for before in ["", "u:", "user:", "u:x"] {
            let text = base64(&format!("{before}{secret}!"));
            assert!(mask.hidden(&text).len() < 14, "{}", mask.hidden(&text));
        }
    }

    #[test]
    fn short_and_common_texts_are_not_looked_for() {
        let mask = Mask::new(["", "a", "123", "true", "NULL", "  b  "]);
        assert!(mask.is_empty() && !mask.is_in("a true 123 b"));
        assert_eq!(Mask::new(["password1"]).hidden("password: password1"), "password: …");
        assert!(Mask::new(["x".repeat(LONGEST + 1).as_str()]).is_in("anything"));
    }

    #[test]
    fn lines_of_a_long_text_are_found_where_they_are_indented() {
        let mask = Mask::new(["-----BEGIN KEY-----\nabcdefgh\nMIIE1234567890/+\n-----END KEY-----\n"]);
        let hidden = mask.hidden("key: |\n    abcdefgh\n    MIIE1234567890/+\n").into_owned();
        assert_eq!(hidden, "key: |\n    …\n    …\n");
    }

    #[test]
    fn diagnostics_keep_their_places() {
        let source = Source::new("v.yaml", "é: hünter22, b: x\n");
        let at = source.text().find("b: x").unwrap();
        let mut error = Diagnostic::new(Code::UnfitValues, "`hünter22` is bad")
            .at(&source, Span::of(at..at + 4), "not hünter22")
            .with_note("HüNTER22")
            .with_help("x")
            .with_field("value", "\"hünter22\"");
        error.also.push(Diagnostic::new(Code::UnfitValues, "hünter22"));
        let position = error.position();
        Mask::new(["hünter22"]).hide_in(&mut error);
        assert_eq!(error.position(), position);
        let text = format!("{}{}", error.render(false), error.to_json());
        assert!(!text.to_lowercase().contains("ünter22") && text.contains("é: *·******, b: x"), "{text}");
    }

    #[test]
    fn a_secret_text_is_shown_with_its_keys_only() {
        let text = "a:\n  b: 7é\n- c: x\n  pass word: y\n{\"d\": \"z\"}\nE=z\n";
        let source = Source::secret("v.yaml", text);
        assert_eq!(source.shown(), "a:\n  b: *·\n- c: *\n  ************\n**********\nE=*\n");
        assert_eq!((source.text(), Source::new("v.yaml", text).shown()), (text, text));
    }
}
