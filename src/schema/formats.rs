//! The formats of strings, and regular expressions. Those that Go's validator asserts differ from those of the drafts in detail.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{LazyLock, OnceLock};

use super::Draft;
use dropforge_base::stdlib::patterns::translated_ecma;
use dropforge_base::stdlib::re2::translated;
use dropforge_base::stdlib::urls::reference;
use regex::{Regex, RegexBuilder};

/// Returns the check of a format.
pub(super) fn check(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name {
        "date" => |text| is_row("date", text),
        "date-time" => is_date_time,
        "duration" => is_duration,
        "email" => is_email,
        "hostname" => is_hostname,
        "ipv4" => is_ipv4,
        "ipv6" => is_ipv6,
        "json-pointer" => |text| is_row("json-pointer", text),
        "period" => is_period,
        "regex" => |text| regex(text, Draft::Template).is_ok(),
        "relative-json-pointer" => |text| is_row("relative-json-pointer", text),
        "semver" => is_semver,
        "time" => |text| is_row("time", text),
        "uri" | "iri" => |text| is_url(text).is_some_and(|is_absolute| is_absolute),
        "uri-reference" | "iri-reference" => |text| !text.contains('\\') && is_url(text).is_some(),
        "uri-template" => is_template,
        "uuid" => |text| is_row("uuid", text),
        _ => return None,
    })
}

/// A duration whose units are in order, even if one between two of them is missing.
static DURATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let units = |units: [char; 3]| {
        let [a, b, c] = units.map(|unit| format!("[0-9]+{unit}"));
        format!("(?:{a}(?:{b})?(?:{c})?|{b}(?:{c})?|{c})")
    };
    let (days, hours) = (units(['Y', 'M', 'D']), units(['H', 'M', 'S']));
    Regex::new(&format!("^P(?:[0-9]+W|{days}(?:T{hours})?|T{hours})$")).ok()
});

/// A semantic version.
static SEMVER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let number = "(?:0|[1-9][0-9]*)";
    let part = format!("(?:{number}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)");
    Regex::new(&format!(
        r"^{number}\.{number}\.{number}(?:-{part}(?:\.{part})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$"
    ))
    .ok()
});

fn is_duration(text: &str) -> bool {
    DURATION.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

fn is_semver(text: &str) -> bool {
    SEMVER.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

fn is_hostname(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    plain && text.len() <= 253 && text.split('.').all(is_label)
}

fn is_ipv4(text: &str) -> bool {
    let is_octet = |group: &str| {
        let digits = !(group.len() > 1 && group.starts_with('0'));
        digits && group.parse::<i64>().is_ok_and(|octet| (0..=255).contains(&octet))
    };
    text.split('.').count() == 4 && text.split('.').all(is_octet)
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@').filter(|(local, _)| text.len() <= 254 && local.len() <= 64)
    else {
        return false;
    };
    let quoted = local.strip_prefix('"').filter(|_| local.len() > 1);
    let is_local = match quoted.map(|quoted| quoted.strip_suffix(|_: char| true).unwrap_or("")) {
        Some(quoted) => !quoted.contains(['\\', '"']),
        None => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+-/=?^_`{|}~".contains(&byte);
            !local.starts_with('.') && !local.ends_with('.') && !local.contains("..") && local.bytes().all(is_plain)
        }
    };
    let address = domain.strip_prefix('[').and_then(|address| address.strip_suffix(']'));
    is_local
        && match address {
            Some(address) => address.strip_prefix("IPv6:").map_or_else(|| is_ipv4(address), is_ipv6),
            None => is_hostname(domain),
        }
}

fn is_period(text: &str) -> bool {
    let Some((start, end)) = text.split_once('/') else { return false };
    match (start.starts_with('P'), end.starts_with('P')) {
        (true, _) => is_duration(start) && is_date_time(end),
        (false, true) => is_date_time(start) && is_duration(end),
        (false, false) => is_date_time(start) && is_date_time(end),
    }
}

/// Returns `true` for an absolute URL, `false` for a relative one, `None` for neither.
fn is_url(text: &str) -> Option<bool> {
    let url = reference::parse(text).ok()?;
    let is_address = url.hostname.contains(':') || url.host.starts_with('[');
    let is_fit = !is_address || url.host.starts_with('[') && is_ipv6(&url.hostname);
    is_fit.then_some(!url.scheme.is_empty())
}

/// Accepts a URL in whose path braces are in pairs.
fn is_template(text: &str) -> bool {
    let Ok(url) = reference::parse(text) else { return false };
    if !text.contains(['{', '}']) {
        return is_url(text).is_some();
    }
    let path = String::from_utf8_lossy(&url.path);
    is_url(text).is_some()
        && path.split('/').all(|part| {
            let mut is_open = false;
            let paired = part.chars().filter(|c| matches!(c, '{' | '}')).all(|brace| {
                let fits = (brace == '{') != is_open;
                is_open = brace == '{';
                fits
            });
            paired && !is_open
        })
}

/// A compiled format: a pattern and a check of what a pattern cannot express.
#[derive(Debug, Clone)]
pub struct Format {
    pub(super) name: String,
    regex: Option<Regex>,
    check: fn(&str) -> bool,
}

impl Format {
    /// Returns the format `name`, if `draft` defines it.
    pub(super) fn named(name: &str, draft: Draft) -> Option<Self> {
        let at = FORMATS.iter().position(|(known, since, ..)| *known == name && *since <= draft)?;
        Some(Self { name: name.to_owned(), regex: Some(compiled(at)?.clone()), check: FORMATS.get(at)?.3 })
    }

    /// Returns `true` if `text` has this format.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.as_ref().is_none_or(|regex| regex.is_match(text)) && (self.check)(text)
    }
}

/// Returns the format `name` as Go's validator asserts it: before draft 2019-09 only, and then all that it knows.
pub(super) fn go_format(name: &str, draft: Draft) -> Option<Format> {
    let check = check(name).filter(|_| draft <= Draft::Draft7)?;
    Some(Format { name: name.to_owned(), regex: None, check })
}

/// Returns `true` if `text` has the format of a row, whatever the draft.
fn is_row(name: &str, text: &str) -> bool {
    let at = FORMATS.iter().position(|(known, ..)| *known == name);
    let row = at.and_then(|at| Some((compiled(at)?, FORMATS.get(at)?.3)));
    row.is_some_and(|(regex, check)| regex.is_match(text) && check(text))
}

fn is_date_time(text: &str) -> bool {
    is_row("date-time", text)
}

/// Returns the pattern of a row.
fn compiled(at: usize) -> Option<&'static Regex> {
    let (.., regex, _) = FORMATS.get(at)?;
    let compile = || {
        let pattern = format!("^(?:{regex})$");
        Regex::new(&MACROS.iter().rev().fold(pattern, |text, (name, of)| text.replace(name, of))).ok()
    };
    COMPILED.get(at)?.get_or_init(compile).as_ref()
}

type Row = (&'static str, Draft, &'static str, fn(&str) -> bool);

/// The patterns of the formats, compiled when a schema first uses them, and shared by all schemas.
static COMPILED: [OnceLock<Option<Regex>>; FORMATS.len()] = [const { OnceLock::new() }; FORMATS.len()];

/// The formats: the first draft that defines each of them, its pattern and its check.
const FORMATS: &[Row] = &[
    ("date", Draft::Draft4, "<DATE>", is_date),
    ("date-time", Draft::Draft4, "<DATE>[Tt]<TIME>", |text| is_date(text) && is_time(text.get(11..).unwrap_or(""))),
    ("duration", Draft::Draft201909, "P(?:<N>W|<DAYS>(?:T<HOURS>)?|T<HOURS>)", any),
    ("email", Draft::Draft4, "<MAILBOX>", |text| text.is_ascii() && is_schema_email(text)),
    ("hostname", Draft::Draft4, "[0-9A-Za-z.-]+", is_schema_hostname),
    ("idn-email", Draft::Draft4, "<MAILBOX>", is_schema_email),
    ("idn-hostname", Draft::Draft7, r"[\p{L}\p{M}\p{N}.-]+", is_schema_hostname),
    ("ipv4", Draft::Draft4, "[0-9.]+", |text| text.parse::<Ipv4Addr>().is_ok()),
    ("ipv6", Draft::Draft4, "[0-9A-Fa-f:.]+", |text| text.parse::<Ipv6Addr>().is_ok()),
    ("iri", Draft::Draft7, "<SCHEME><REFERENCE>", any),
    ("iri-reference", Draft::Draft7, "<SCHEME>?<REFERENCE>", any),
    ("json-pointer", Draft::Draft6, "<POINTER>", any),
    ("regex", Draft::Draft4, "(?s).*", |text| regex(text, Draft::Draft7).is_ok()),
    ("relative-json-pointer", Draft::Draft7, "(?:0|[1-9][0-9]*)(?:#|<POINTER>)", any),
    ("time", Draft::Draft4, "<TIME>", is_time),
    ("uri", Draft::Draft4, "<SCHEME><REFERENCE>", str::is_ascii),
    ("uri-reference", Draft::Draft6, "<SCHEME>?<REFERENCE>", str::is_ascii),
    ("uri-template", Draft::Draft6, r"(?:[^\x00-\x20\x22'%<>\\^`{|}]|<HEX>|\{[+#./;?&=,!@|]?<VAR>(?:,<VAR>)*\})*", any),
    ("uuid", Draft::Draft201909, "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}", any),
];

/// Parts of patterns. Each may refer to those before it.
const MACROS: &[(&str, &str)] = &[
    ("<N>", "[0-9]+"),
    ("<HEX>", "%[0-9A-Fa-f]{2}"),
    ("<P>", r"(?:[0-9A-Za-z._~!$&'()*+,;=:@\x2D]|[^\x00-\x7F]|<HEX>)"),
    ("<SCHEME>", "(?:[A-Za-z][0-9A-Za-z+.-]*:)"),
    ("<HOST>", r"(?:\[[0-9A-Fa-f:.vV]+\]|(?:[0-9A-Za-z._~!$&'()*+,;=\x2D]|[^\x00-\x7F]|<HEX>)*)"),
    ("<AUTHORITY>", "(?:<P>*@)?<HOST>(?::[0-9]*)?"),
    ("<REFERENCE>", r"(?://<AUTHORITY>(?:/<P>*)*|/?<P>+(?:/<P>*)*|/)?(?:\?(?:<P>|[/?])*)?(?:#(?:<P>|[/?])*)?"),
    ("<POINTER>", "(?:/(?:[^/~]|~[01])*)*"),
    ("<VAR>", r"(?:[0-9A-Za-z_.]|<HEX>)+(?::[1-9][0-9]{0,3}|\*)?"),
    ("<ATOM>", r#"[^\s@"(),:;<>\[\]\\.]+"#),
    ("<MAILBOX>", r#"(?:<ATOM>(?:\.<ATOM>)*|"(?:[^"\\]|\\.)*")@(?:\[.+\]|[\p{L}\p{M}\p{N}.\x2D]+)"#),
    ("<DATE>", "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    ("<HOUR>", "(?:[01][0-9]|2[0-3])"),
    ("<TIME>", r"<HOUR>:[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-]<HOUR>:[0-5][0-9])"),
    ("<DAYS>", "(?:<N>Y(?:<N>M(?:<N>D)?)?|<N>M(?:<N>D)?|<N>D)"),
    ("<HOURS>", "(?:<N>H(?:<N>M(?:<N>S)?)?|<N>M(?:<N>S)?|<N>S)"),
];

fn any(_: &str) -> bool {
    true
}

/// Returns the number in the two digits at `at`.
fn two_digits(text: &str, at: usize) -> i32 {
    text.get(at..at + 2).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn is_date(text: &str) -> bool {
    let (year, month, day) =
        (two_digits(text, 0) * 100 + two_digits(text, 2), two_digits(text, 5), two_digits(text, 8));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i32::from(leap),
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Accepts a leap second only at the end of a day in UTC.
fn is_time(text: &str) -> bool {
    let minutes = |at: usize| two_digits(text, at) * 60 + two_digits(text, at + 3);
    let offset = match text.rfind(['+', '-']) {
        Some(at) if text.as_bytes().get(at) == Some(&b'-') => -minutes(at + 1),
        Some(at) => minutes(at + 1),
        None => 0,
    };
    two_digits(text, 6) < 60 || (minutes(0) - offset).rem_euclid(1440) == 1439
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
}

fn is_schema_hostname(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_schema_email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(local, domain)| {
        let address = domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']'));
        let address = address.map(|address| address.strip_prefix("IPv6:").unwrap_or(address));
        let is_address = |text: &str| text.parse::<Ipv4Addr>().is_ok() || text.parse::<Ipv6Addr>().is_ok();
        local.len() <= 64 && address.map_or_else(|| is_schema_hostname(domain), is_address)
    })
}

/// Maximum length of a pattern in bytes.
const MAX_PATTERN_LENGTH: usize = 4 << 10;

/// Maximum sizes of a compiled pattern in bytes. The smallest one that it fits is the measure of its memory.
const PATTERN_SIZES: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// Compiles a pattern: RE2 for template values, ECMA 262 as far as it is regular otherwise. Also returns the bytes that it
/// takes at most, with the memory of its searches.
pub(super) fn regex(text: &str, draft: Draft) -> Result<(Regex, usize), String> {
    if text.len() > MAX_PATTERN_LENGTH {
        return Err(format!("the pattern is too long: the limit is {MAX_PATTERN_LENGTH} bytes"));
    }
    let translated = match draft {
        Draft::Template => translated(text).map_err(|refused| refused.to_string()),
        _ => Ok(translated_ecma(text)),
    };
    let compiled = translated.and_then(|pattern| {
        let mut refused = String::new();
        for size in PATTERN_SIZES {
            let mut builder = RegexBuilder::new(&pattern);
            match builder.size_limit(size).dfa_size_limit(size).nest_limit(50).build() {
                Ok(regex) => return Ok((regex, 2 * size)),
                Err(error @ regex::Error::CompiledTooBig(_)) => refused = error.to_string(),
                // The reason is the last line, below a drawing of the position.
                Err(error) => return Err(error.to_string().lines().last().unwrap_or("").replace("error: ", "")),
            }
        }
        Err(refused)
    });
    compiled.map_err(|reason| format!("`{text}` is not a regular expression: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::super::formats::go_format;
    use super::*;

    #[test]
    fn every_format_accepts_and_rejects() {
        for (name, good, bad) in [
            ("date", &["2024-02-29"][..], &["2024-13-01", "2024-1-1"][..]),
            ("date-time", &["2024-02-29T00:00:00Z", "1990-12-31t15:59:60-08:00"], &["2024-02-29", "x"]),
            (
                "duration",
                &["P4DT12H30M5S", "P2W", "PT1S", "P1Y2D", "P1DT1H1S"],
                &["x", "P", "PT", "P1Y2W", "P1D2H", "P1D2Y"],
            ),
            (
                "email",
                &["a@b.c", "\"a b\"@example.com", "a@[127.0.0.1]", "a@b."],
                &["x", ".a@b.c", "a..b@c.d", "a@-b.c", "ü@b.c"],
            ),
            ("hostname", &["www.example.com", "a."], &["-a-", "a..b", "a_b", ""]),
            ("ipv4", &["192.168.0.1"], &["300.1.1.1", "1.2.3", "01.2.3.4", "1.2.3.4.5"]),
            ("ipv6", &["::1", "::ffff:1.2.3.4"], &["zz", "1.2.3.4", "fe80::1%eth0"]),
            ("iri", &["http://é/"], &["/abc"]),
            ("json-pointer", &["", "/a/~0b~1"], &["a", "/~2"]),
            ("period", &["2024-01-01T00:00:00Z/P1D", "P1D/2024-01-01T00:00:00Z"], &["x", "P1D/P1D", "/"]),
            ("regex", &["^\\p{L}+$"], &["(", "(?=a)"]),
            ("relative-json-pointer", &["0#", "1/a"], &["/a", "01"]),
            ("semver", &["1.0.0", "1.2.3-rc.1+b.01"], &["x", "1.0", "01.0.0", "1.0.0-01", "1.0.0+", "v1.0.0"]),
            ("time", &["08:30:06Z"], &["25:00", "08:30:06"]),
            (
                "uri",
                &["http://a.b/c d", "urn:x"],
                &["not a uri", "//a", "http://a:b/", "http://a/%zz", "http://[zz]/", "http://[x]"],
            ),
            ("uri-reference", &["/abc", "", "not a uri"], &["%%", "a\\b", "1a:b"]),
            ("uri-template", &["http://a/{b}/{c}", "a%7Bb"], &["http://a/{", "{{a}}", "}{"]),
            ("uuid", &["2EB8AA08-aa98-11ea-b4aa-73b441d16380"], &["x", "2eb8aa08aa9811eab4aa73b441d16380"]),
        ] {
            let format = go_format(name, Draft::Draft7).expect(name);
            good.iter().for_each(|text| assert!(format.is_match(text), "{name} {text:?}"));
            bad.iter().for_each(|text| assert!(!format.is_match(text), "{name} {text:?}"));
            assert!(go_format(name, Draft::Draft201909).is_none() && go_format(name, Draft::Draft4).is_some());
        }
        assert!(go_format("idn-email", Draft::Draft7).is_none());
    }
}

#[cfg(test)]
mod formats_tests {
    use super::*;

    #[test]
    fn every_format_accepts_and_rejects() {
        for (name, good, bad) in [
            ("date", &["2024-02-29", "1970-01-01"][..], &["2023-02-29", "2024-13-01", "2024-1-1", "2024-01-01T"][..]),
            (
                "date-time",
                &["2024-02-29T00:00:00Z", "1990-12-31T15:59:60-08:00", "1963-06-19t08:30:06.28z"],
                &["2024-02-29", "1998-12-31T22:59:60Z", "2024-01-01T24:00:00Z"],
            ),
            ("duration", &["P4DT12H30M5S", "P2W", "PT1S", "P1Y2M3D"], &["P", "P1", "PT", "P1Y2W", "P1D2H", "4D"]),
            (
                "email",
                &["joe.bloggs@example.com", "\"a b\"@example.com", "te~st@[127.0.0.1]"],
                &["2962", ".a@b.c", "a..b@c.d", "a@-b.c", "ü@b.c"],
            ),
            ("hostname", &["www.example.com", "a", "1host"], &["-a", "a-", "a..b", "a_b", ""]),
            ("idn-email", &["실례@실례.테스트"], &["2962"]),
            ("idn-hostname", &["실례.테스트"], &["a b"]),
            ("ipv4", &["192.168.0.1"], &["256.0.0.0", "1.2.3", "01.2.3.4"]),
            ("ipv6", &["::1", "::ffff:1.2.3.4"], &["12345::", ":::", "1::%eth0"]),
            ("iri", &["http://ƒøø.ßår/?∂éœ=πîx#πîüx"], &["/abc", "http://a b"]),
            ("iri-reference", &["//ƒøø.ßår/", "âππ", "#frag", ""], &["\\\\a\\b"]),
            ("json-pointer", &["", "/a/~0b~1", "/"], &["a", "/~2", "/~"]),
            ("regex", &["^[a-z]+$", "\\d{1,2000}", ""], &["(", "(?=a)"]),
            ("relative-json-pointer", &["0#", "1/a", "120/~0"], &["/a", "01/a", "-1/a", "0##"]),
            ("time", &["08:30:06Z", "23:59:60Z", "08:30:06.2+05:30"], &["08:30:06", "24:00:00Z", "22:59:60Z"]),
            (
                "uri",
                &["http://user@example.com:80/a?b#c", "urn:x:y", "mailto:a@b.c", "http://[::1]/"],
                &["//a", "a", "http://a:b/", "http://a/%zz", "é:b", "http:// a"],
            ),
            ("uri-reference", &["/abc", "//foo.bar/?a=b#c", "", "a:b"], &["\\\\a", "#a#b"]),
            ("uri-template", &["http://example.com/{term:1}/{term}", "{?a,b*}"], &["{", "}", "{a b}", "{}"]),
            ("uuid", &["2EB8AA08-aa98-11ea-b4aa-73b441d16380"], &["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08"]),
        ] {
            let format = Format::named(name, Draft::Draft202012).expect(name);
            assert!(good.iter().all(|text| format.is_match(text)), "{name} {good:?}");
            assert!(!bad.iter().any(|text| format.is_match(text)), "{name} {bad:?}");
        }
        assert_eq!(FORMATS.len(), 19);
        assert!(Format::named("uuid", Draft::Draft7).is_none() && Format::named("color", Draft::Draft7).is_none());
    }
}
