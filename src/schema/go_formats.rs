//! The formats that Go's validator asserts, which differ from those of the drafts in detail.

use std::net::Ipv6Addr;
use std::sync::LazyLock;

use super::Draft;
use super::formats::{is_date_time, is_label, is_row, regex};
use dropforge_base::stdlib::urls::reference;
use regex::Regex;

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
