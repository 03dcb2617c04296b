//! Filters, tests and functions that need other crates: dates, random numbers, regular expressions, slugs, URLs, sizes.

use chrono::{DateTime, Local, SecondsFormat, Utc};

use super::functions::Asked;
use super::{ANY, WORDS, Written, written, written_in_pieces, wrong};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limit;
use dropforge_base::stdlib::encodings::{self, STRICT, URL_PATH};
use dropforge_base::stdlib::patterns::search_steps;
use dropforge_base::stdlib::time::{Format, Moment, TimeError, zone};
use dropforge_base::stdlib::{float_format, strings, timestamps};
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::{Text, Value};

functions! {
    /// Filters, tests and functions that need other crates.
    pub(super) static EXTERNAL:
    filter "title" (value: Str) => title, total (Str),
        "The first letter of each word as a capital, all others as small letters."
        [r#"{{ "it's MY dog" | title }}"# => "It's My Dog"];
    filter "urlencode" (value: Str) => url_encode, total (Str),
        "For the path of a URL: all but letters, digits and `- . _ ~ / %` percent-encoded."
        [r"{{ '/a b?c=d' | urlencode }}" => "/a%20b%3Fc%3Dd"];
    filter "urlencode_strict" (value: Str) => url_encode_strict, total (Str),
        "All but letters and digits percent-encoded."
        [r"{{ '/a-b' | urlencode_strict }}" => "%2Fa%2Db"];
    filter "slugify" (value: Str) => slugify, total (Str),
        "As a name of lower-case ASCII letters, digits and hyphens; other scripts are transliterated."
        [r"{{ 'Ünïted Kingdom, 1st' | slugify }}" => "united-kingdom-1st"];
    filter "filesizeformat" (value: Size, binary: Bool = false) => file_size_of, total (Size, Bool),
        "A number of bytes for people, in steps of 1024; with `binary` as KiB, MiB …"
        [r"{{ 2048 | filesizeformat }}" => "2 kB", r"{{ 2048 | filesizeformat(binary=true) }}" => "2 KiB"];
    test "matching" (value: Any = absent, pattern: Any = absent, excess: Any = absent) = matching,
        "True if the regular expression `pattern` is found in the text."
        [
            r"{% set s = 'web-01' %}{% if s is matching('-[0-9]+$') %}yes{% endif %}" => "yes",
            r"{% set s = 'a' %}{% if s is matching('(') %}{% endif %}" => "E0403",
        ];
    function "now" (timestamp: Bool = false, utc: Bool = false) = now, needs CLOCK,
        "The time as RFC 3339 text, or as seconds since 1970 if `timestamp`; `utc` or else local."
        [r"{{ now() }}" => "E0405"];
    function "get_random" (start: Int = int 0, end: Int) = get_random, needs RANDOM,
        "A random whole number from `start` up to but not including `end`."
        [r"{{ get_random(end=6) }}" => "E0405"];
}

fn title<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
    written_in_pieces(cx, (text, WORDS), Some(strings::any_case_len(text)), out, strings::title)
}

fn url_encode<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
    escaped(cx, text, URL_PATH, out)
}

fn url_encode_strict<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
    escaped(cx, text, STRICT, out)
}

/// Appends the text with the octets that are not `kept` as `%XX`.
fn escaped<'v>(cx: &Cx<'v>, text: &'v str, kept: &encodings::Kept, out: &mut String) -> Written<'v> {
    let len = encodings::percent_len(text, kept);
    written_in_pieces(cx, (text, ANY), Some(len), out, |text, out| encodings::percent(text, kept, out))
}

fn slugify<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
    written(cx, strings::slug_len(text), out, |out| strings::slug(text, out))
}

/// Maximum bytes of a file size.
const FILE_SIZE: usize = 16;

fn file_size_of<'v>(cx: &Cx<'v>, bytes: u64, binary: bool, out: &mut String) -> Written<'v> {
    written(cx, Some(FILE_SIZE), out, |out| float_format::file_size(bytes, binary, out))
}

fn matching<'v>(cx: &Cx<'v>, value: Value<'v>, pattern: Option<Value<'v>>, excess: Option<Value<'v>>) -> Result<bool> {
    let (text, pattern) = Asked::with(cx, "test `matching`", value, pattern, excess)?.texts("pattern")?;
    let regex = cx.regex(pattern)?;
    cx.spend(search_steps(pattern, text.len()))?;
    Ok(regex.is_match(text))
}

fn now<'v>(cx: &Cx<'v>, timestamp: bool, utc: bool) -> Result<Value<'v>> {
    let moment = DateTime::<Utc>::from(timestamps::now());
    match (timestamp, utc) {
        (true, _) => Ok(Value::Int(moment.timestamp())),
        (false, true) => cx.text(&moment.to_rfc3339_opts(SecondsFormat::AutoSi, false)),
        (false, false) => cx.text(&moment.with_timezone(&Local).to_rfc3339_opts(SecondsFormat::AutoSi, false)),
    }
}

fn get_random<'v>(start: Value<'v>, end: Value<'v>) -> Result<i64> {
    let bound = |param, value| match value {
        Value::Int(n) => Ok(n),
        other => Err(wrong("function `get_random`", param, "an integer of 64 bits", other)),
    };
    let (from, to) = (bound("start", start)?, bound("end", end)?);
    if from >= to {
        return Err(wrong("function `get_random`", "end", &format!("more than `start`, which is {from}"), end));
    }
    Ok(fastrand::i64(from..to))
}

functions! {
    /// Date filters.
    pub(super) static TIME:
    filter "date" (value: Any, format: Str = str "%Y-%m-%d", timezone: Str = absent) => date,
        "Seconds since 1970, an RFC 3339 moment, a date and time or a date, by a strftime `format`, in `timezone`."
        [
            r"{{ 0 | date }}" => "1970-01-01",
            r"{{ '2024-02-29T23:30:00Z' | date(format='%d.%m.%Y %H:%M', timezone='Europe/Berlin') }}" => "01.03.2024 00:30",
            r"{{ '2024-13-01' | date }}" => "E0403",
            r"{{ 0 | date(format='%Q') }}" => "E0403",
            r"{{ 0 | date(format='%z') }}" => "E0403",
            r"{{ 9223372036854775807 | date }}" => "E0403",
        ];
}

const DATE: &str = "filter `date`";

/// Maximum number of bytes for a two-letter directive: a signed year, a zone name, nanoseconds.
const WIDEST: usize = 64;

fn date<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    pattern: &'v Text<'v>,
    timezone: Option<&'v Text<'v>>,
    out: &mut String,
) -> Written<'v> {
    let (format, pattern) = (pattern.as_str(), Value::Str(pattern));
    cx.spend(format.len() as u64)?;
    let Some(checked) = Format::new(format) else {
        return Err(wrong(DATE, "format", "a strftime format", pattern));
    };
    let named = |name: &'v Text<'v>| {
        let wanted = "a name of the IANA time zone database, such as `Europe/Berlin`";
        zone(name.as_str()).ok_or_else(|| wrong(DATE, "timezone", wanted, Value::Str(name)))
    };
    let zone = timezone.map(named).transpose()?;
    let moment = match value {
        Value::Int(seconds) => Moment::from_seconds(seconds, zone),
        Value::Str(text) => Moment::from_text(text.as_str(), zone),
        other => return Err(wrong(DATE, "value", "an integer of 64 bits or a string", other)),
    };
    let allowed = format.len().saturating_mul(WIDEST);
    cx.charge(allowed)?;
    let start = out.len();
    moment.and_then(|moment| moment.format(checked, allowed, out)).map_err(|error| match error {
        TimeError::TooLong => Limit::Memory.error(cx.limits().memory),
        TimeError::NotInMoment => {
            wrong(DATE, "format", "one that the value can fill", pattern).with_note(error.to_string())
        }
        _ => wrong(DATE, "value", "a moment in time", value).with_note(error.to_string()),
    })?;
    cx.charge(out.len() - start + size_of::<Value>())?;
    Ok(None)
}
