//! The CEL libraries of Kubernetes.

use kube_cel::{KubeCelExt, cel};
use proptest::prelude::*;
use proptest::sample::select;

use super::tables::{GROUPS, Group, LIST_TEXTS, LISTS};
use super::values::{old, ours};
use super::{Case, Comparison, Known, guarded};

/// Differences between the crate and Kubernetes. We follow Kubernetes.
const KNOWN: &[Known] = &[
    Known {
        why: "it takes blanks off quantities",
        is: |case| case.has("uantity(") && case.texts().iter().any(|text| text.trim() != text),
    },
    Known {
        why: "signs may stand within the numbers of quantities",
        is: |case| {
            let sign = |text: &String| {
                text.char_indices().any(|(at, c)| at > 0 && "+-".contains(c) && !text[..at].ends_with(['e', 'E']))
            };
            case.has("uantity(") && case.texts().iter().any(sign)
        },
    },
    Known {
        why: "a quantity without digits is 0",
        is: |case| {
            let has_none =
                |text: &String| !text.trim_start_matches(['+', '-', '.']).starts_with(|c: char| c.is_ascii_digit());
            case.has("uantity(") && case.texts().iter().any(has_none)
        },
    },
    Known {
        why: "quantities that Kubernetes does not keep as a 64-bit integer and an exponent are integers to it",
        is: |case| case.has("asInteger()") && case.ours.is_err() && case.theirs.is_ok(),
    },
    Known {
        why: "it does not stop at 2^63 - 1 with suffixes of base 2",
        is: |case| case.has("uantity(") && case.texts().iter().any(|text| is_capped(text)),
    },
    Known {
        why: "it does not round up to a billionth",
        is: |case| case.has("uantity(") && case.texts().iter().any(|text| is_finer_than_nano(text)),
    },
    Known {
        why: "it adds floats where quantities are exact",
        is: |case| {
            let [ours, theirs] = case.floats();
            case.has("asApproximateFloat") && (ours - theirs).abs() <= theirs.abs() * 1e-12
        },
    },
    Known {
        why: "whole quantities beyond 64 bits are integers to it",
        is: |case| case.has("isInteger()") && case.are(Ok("false"), Ok("true")),
    },
    Known {
        why: "it panics where quantities are far apart",
        is: |case| case.has("quantity(") && *case.theirs == Err("panic".to_owned()),
    },
    Known {
        why: "normalised versions begin with V, have four numbers, or are short with a suffix",
        is: |case| {
            case.has("emver(") && case.has(", true)") && (case.ours.is_err() || case.are(Ok("false"), Ok("true")))
        },
    },
    Known {
        why: "it compares the builds of versions",
        is: |case| case.has("semver(") && case.texts().iter().any(|text| text.contains('+')) && case.ours.is_ok(),
    },
    Known {
        why: "numbers of versions above 2^63 - 1 come out negative",
        is: |case| {
            case.has("major()") && case.ours.is_err() && case.theirs.as_ref().is_ok_and(|value| value.contains('-'))
        },
    },
    Known {
        why: "prefixes and octets of networks may begin with 0",
        is: |case| (case.has("cidr(") || case.has("isCIDR(")) && case.texts().iter().any(|text| has_leading_zero(text)),
    },
    Known {
        why: "its URLs are those of browsers: only plain ones are the same",
        is: |case| (case.has("url(") || case.has("isURL(")) && !case.texts().iter().all(|text| is_plain_url(text)),
    },
    Known {
        why: "its regular expressions are not RE2's: `a++`, `{1001}`, `a{b`, `[[]`, `\\Q`, `\\C`, `\\141`, `(?P<a.b>)`, `(?P<é>)`, classes of Unicode",
        is: |case| {
            let texts = case.texts();
            let pattern = texts.last().map_or("", String::as_str);
            let unicode = !case.text.is_ascii() && (pattern.contains('\\') || pattern.contains("(?i)"));
            let repeated =
                pattern.as_bytes().windows(2).any(|pair| b"*+?}".contains(&pair[0]) && b"*+?{".contains(&pair[1]));
            let other = ["\\Q", "\\E", "\\C", "1001", "\\u", "\\z", "{"].iter().any(|part| pattern.contains(part));
            let octal = pattern.split('\\').skip(1).any(|escape| escape.starts_with(|c: char| c.is_ascii_digit()));
            let named = pattern.split("<").skip(1).filter_map(|behind| behind.split_once('>'));
            let odd_name =
                named.into_iter().any(|(name, _)| name.contains(|c: char| c != '_' && !c.is_ascii_alphanumeric()));
            let nested = pattern.split_once('[').is_some_and(|(_, inside)| inside.contains('['));
            case.has(".find")
                && (repeated || other || octal || odd_name || unicode || nested || pattern.contains("\\d-"))
        },
    },
    Known {
        why: "it looks at the character before a hyphen at the end of a prefix",
        is: |case| case.has("Prefix()") && case.texts()[0].ends_with('-') && case.are(Ok("false"), Ok("true")),
    },
    Known {
        why: "a version whose third number is missing has no suffix",
        is: |case| {
            case.has(", true)") && case.has("emver(") && (case.theirs.is_err() || case.are(Ok("true"), Ok("false")))
        },
    },
    Known {
        why: "labels of subdomains are 63 characters long at most",
        is: |case| {
            case.has("Subdomain") && case.texts().iter().any(|text| text.split('.').any(|label| label.len() > 63))
        },
    },
    Known {
        why: "the empty text is the beginning of a label",
        is: |case| case.has("dns1035LabelPrefix") && case.texts() == [""],
    },
    Known {
        why: "a path alone is no URI to it, and others are those of browsers",
        is: |case| case.has("format.uri()") && !case.texts().iter().all(|text| is_plain_url(text)),
    },
    Known { why: "UUIDs need hyphens", is: |case| case.has("format.uuid()") && case.are(Ok("false"), Ok("true")) },
    Known { why: "base64 needs no padding", is: |case| case.has("format.byte()") && case.are(Ok("true"), Ok("false")) },
    Known {
        why: "leap seconds are times",
        is: |case| case.has("format.datetime()") && case.texts().iter().any(|text| text.contains(":60")),
    },
    Known {
        why: "a format by its name is no optional",
        is: |case| {
            case.has("format.named(") && case.theirs.as_ref().is_err_and(|error| error.contains("optional_type"))
        },
    },
    Known { why: "it has no order of bytes", is: |case| case.has("[b'") && case.theirs.is_err() },
    Known {
        why: "it sums no spans of time",
        is: |case| case.has("duration(") && case.has("sum()") && case.theirs.is_err(),
    },
    Known {
        why: "null and text have an order and a sum",
        is: |case| (case.has("[null]") || case.has("['']")) && case.ours.is_err(),
    },
    Known {
        why: "its lists compare types of numbers",
        is: |case| case.has("==") && case.has("u]") && case.are(Ok("true"), Ok("false")),
    },
];

/// Returns `true` if a quantity has a binary suffix and is at least 2^63.
fn is_capped(text: &str) -> bool {
    let Some(power) = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().position(|suffix| text.ends_with(suffix)) else {
        return false;
    };
    let number: f64 = text[..text.len() - 2].parse().unwrap_or(0.0);
    number.abs() * 1024_f64.powi(power as i32 + 1) >= 9.2e18
}

/// Returns `true` if a quantity has digits below 10^-9.
fn is_finer_than_nano(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c)).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let fraction = number.split_once('.').map_or("", |(_, fraction)| fraction).trim_end_matches('0');
    let exponent = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        _ => suffix.get(1..).and_then(|exponent| exponent.parse::<i64>().ok()).unwrap_or(0),
    };
    let zeros = number.len() - number.trim_end_matches('0').len();
    let digits = if fraction.is_empty() { -(zeros as i64) } else { fraction.len() as i64 };
    digits - exponent > 9
}

fn has_leading_zero(text: &str) -> bool {
    text.split(['.', '/', '+'])
        .any(|part| part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit()))
        || text.contains("/+")
}

/// Returns `true` if browsers and Go's standard library agree on a URL.
fn is_plain_url(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://").filter(|(scheme, _)| ["http", "https", "ftp"].contains(scheme)) else {
        return false;
    };
    let Some((host, rest)) = rest.split_once('/') else { return false };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let host = host.strip_suffix(":8080").unwrap_or(host);
    let label = |label: &str| plain(label) && label.starts_with(|c: char| c.is_ascii_lowercase());
    host.split('.').all(label)
        && path.split('/').all(plain)
        && query.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"=&+".contains(&byte))
}

fn theirs(text: &str) -> super::Outcome {
    thread_local! {
        static CONTEXT: cel::Context<'static> = cel::Context::default().with_all();
    }
    CONTEXT.with(|context| guarded(|| old::evaluated(text, context)))
}

fn with(expression: &str, a: &str, b: &str) -> String {
    expression.replace("$a", a).replace("$b", b)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn compare(comparison: &mut Comparison, text: &str) {
    comparison.add(KNOWN, text, ours(text), theirs(text));
}

/// Number of strings that each string is paired with.
const PAIRS: usize = 10;

/// Evaluates every expression with every string, and those of two strings with a sample of pairs.
fn table(comparison: &mut Comparison, expressions: &[&str], texts: &[String]) {
    for expression in expressions {
        for (at, a) in texts.iter().enumerate() {
            let pairs = if expression.contains("$b") { PAIRS } else { 1 };
            let others = texts.iter().cycle().skip(at).step_by(7).take(pairs);
            others.for_each(|b| compare(comparison, &with(expression, a, b)));
        }
    }
}

#[test]
fn tables() {
    let mut comparison = Comparison::default();
    for group in &GROUPS {
        let texts: Vec<_> = group.texts.iter().map(|text| quoted(text)).collect();
        table(&mut comparison, group.expressions, &texts);
    }
    let lists: Vec<_> = LIST_TEXTS.iter().map(|text| (*text).to_owned()).collect();
    table(&mut comparison, LISTS.expressions, &lists);
    comparison.settle(KNOWN, true);
}

/// A string of the group with some letters changed.
fn changed(group: &'static Group) -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0..2usize, select(group.letters));
    (select(group.texts), prop::collection::vec(edit, 0..3)).prop_map(|(text, edits)| {
        let mut letters: Vec<String> = text.chars().map(String::from).collect();
        for (at, taken, put) in edits {
            let at = at.index(letters.len() + 1);
            let end = (at + taken).min(letters.len());
            letters.splice(at..end, [put.to_owned()]);
        }
        quoted(&letters.concat())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_texts((expression, a, b) in (0..GROUPS.len()).prop_flat_map(|at| {
        let group = &GROUPS[at];
        (select(group.expressions), changed(group), changed(group))
    })) {
        let text = with(expression, &a, &b);
        let (here, there) = (ours(&text), theirs(&text));
        let same = match (&here, &there) {
            (Ok(a), Ok(b)) => a == b,
            (a, b) => a.is_err() && b.is_err(),
        };
        let known = || KNOWN.iter().any(|known| (known.is)(&Case { text: &text, ours: &here, theirs: &there }));
        prop_assert!(same || known(), "{text}: {here:?} here, {there:?} there");
    }
}
