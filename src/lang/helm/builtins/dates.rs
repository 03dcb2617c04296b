//! Functions of times and durations. Times are in UTC, which also is the local zone.

use std::time::UNIX_EPOCH;

use crate::error::failed;
use crate::print::duration_text;
use crate::semantics::wrong_type;
use crate::values::{int64, text_bytes};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::duration::{NoSpan, checked_span};
use dropforge_base::stdlib::reference_time::{Clock, format, parse, quoted};
use dropforge_base::stdlib::timestamps;
use dropforge_base::stdlib::zones::zone;
use dropforge_machine::function::{Capabilities, Cx, Target};
use dropforge_machine::functions;
use dropforge_value::{Capsule, CapsuleContent, Extended, Sized, Value, Width};

functions! {
    /// Functions of times.
    pub(super) static DATES:
    "now" [] = now, needs CLOCK, "Returns the current time." [r#"{{ now | date "2006" | len }}"# => "4"];
    "date" [Str, Any] = date, reads Notes,
        "Formats a time, or a number of seconds since 1970, by a layout: the time `Mon Jan 2 15:04:05 MST 2006` as it would be shown."
        [r#"{{ date "2006-01-02" 1700000000 }}"# => "2023-11-14"];
    "dateInZone" [Str, Any, Str] = date_in_zone, reads Notes, "Formats a time like `date`, as a zone shows it."
        [r#"{{ dateInZone "15:04 MST" 1700000000 "America/New_York" }}"# => "17:13 EST"];
    "date_in_zone" [Str, Any, Str] = date_in_zone, reads Notes, "Formats a time like `dateInZone`."
        [r#"{{ date_in_zone "15:04" 0 "UTC" }}"# => "00:00"];
    "htmlDate" [Any] = html_date, reads Notes, "Formats a time as `2006-01-02`, for a date input of HTML."
        [r#"{{ htmlDate 0 }}"# => "1970-01-01"];
    "htmlDateInZone" [Any, Str] = html_date_in_zone, reads Notes, "Formats a time like `htmlDate`, as a zone shows it."
        [r#"{{ htmlDateInZone 1700000000 "Asia/Tokyo" }}"# => "2023-11-15"];
    "dateModify" [Str, Time] = date_modify, "Adds a duration such as `-1.5h` to a time. Ignores an invalid duration."
        [r#"{{ toDate "2006-01-02" "2024-01-01" | dateModify "1h30m" }}"# => "2024-01-01 01:30:00 +0000 UTC"];
    "date_modify" [Str, Time] = date_modify, "Adds a duration to a time, like `dateModify`."
        [r#"{{ toDate "2006-01-02" "2024-01-01" | date_modify "24h" }}"# => "2024-01-02 00:00:00 +0000 UTC"];
    "mustDateModify" [Str, Time] = must_date_modify, "Adds a duration to a time. Fails if the duration is invalid."
        [r#"{{ toDate "2006-01-02" "2024-01-01" | mustDateModify "1d" }}"# => "E0404"];
    "must_date_modify" [Str, Time] = must_date_modify, "Adds a duration to a time, like `mustDateModify`."
        [r#"{{ toDate "2006-01-02" "2024-01-01" | must_date_modify "1s" }}"# => "2024-01-01 00:00:01 +0000 UTC"];
    "toDate" [Str, Str] = to_date, "Reads a time by a layout. An invalid one is the first day of the year 1."
        [r#"{{ toDate "2006-01-02" "2024-01-31" | date "02/01/2006" }}"# => "31/01/2024"];
    "mustToDate" [Str, Str] = must_to_date, "Reads a time by a layout. Fails if it is invalid."
        [r#"{{ mustToDate "2006-01-02" "2024-01-31" | unixEpoch }}"# => "1706659200"];
    "unixEpoch" [Time] = unix_epoch, "Returns the seconds of a time since 1970, as text."
        [r#"{{ toDate "2006-01-02" "2024-01-01" | unixEpoch }}"# => "1704067200"];
    "ago" [Any] = ago, needs CLOCK, "Returns the duration since a time, or since a number of seconds after 1970."
        [r#"{{ ago now }}"# => "0s"];
    "duration" [Any] = duration, "Returns a duration in seconds, given as text or as an `int64`, as text."
        [r#"{{ duration "95" }}"# => "1m35s"];
    "durationRound" [Any] = duration_round, reads Notes, "Returns a duration, or that since a time, in its largest unit only."
        [r#"{{ durationRound "2400h10m5s" }}"# => "3mo"];
}

/// Seconds since 1970 and nanoseconds.
type Instant = (i64, u32);

/// The zero time: the first day of the year 1.
const ZERO: Instant = (-62_135_596_800, 0);

/// The layout of `htmlDate`.
const HTML: &[u8] = b"2006-01-02";

fn time<'v>(cx: &Cx<'v>, (seconds, nanos): Instant) -> Result<Value<'v>> {
    cx.extended(Extended::Timestamp { seconds, nanos })
}

/// Returns the current time. The engine may have fixed it.
fn current(cx: &Cx<'_>) -> Result<Instant> {
    if !cx.capabilities().include(Capabilities::CLOCK) {
        return Err(no_clock());
    }
    let moment = cx.capabilities().moment().unwrap_or_else(timestamps::now);
    let seconds = |passed: std::time::Duration| i64::try_from(passed.as_secs()).unwrap_or(i64::MAX);
    Ok(match moment.duration_since(UNIX_EPOCH) {
        Ok(passed) => (seconds(passed), passed.subsec_nanos()),
        Err(before) => (-seconds(before.duration()), 0),
    })
}

#[cold]
fn no_clock() -> Box<Diagnostic> {
    let message = "a value that is not a time stands for the current time, which is not allowed by default";
    Diagnostic::new(Code::CapabilityOff, message)
        .with_help("it needs the capability clock: use `--allow clock`, or grant it in your program")
}

/// Returns the time that a `time.Time` is.
fn instant(value: Value<'_>) -> Option<Instant> {
    match value.extended() {
        Some(Extended::Timestamp { seconds, nanos }) => Some((*seconds, *nanos)),
        _ => None,
    }
}

/// Returns the time that any value stands for: a time, a number of seconds since 1970, otherwise the current time.
fn any_instant(cx: &Cx<'_>, value: Value<'_>, has_int32: bool) -> Result<Instant> {
    match (value, value.extended()) {
        (Value::Int(seconds), _) => Ok((seconds, 0)),
        (_, Some(Extended::Timestamp { seconds, nanos })) => Ok((*seconds, *nanos)),
        (_, Some(Extended::Sized(Sized::Signed(width, seconds)))) if is_seconds(*width, has_int32) => Ok((*seconds, 0)),
        _ => current(cx),
    }
}

/// Returns `true` if integers of a width count seconds: `int64`, and for some functions `int32`.
fn is_seconds(width: Width, has_int32: bool) -> bool {
    width == Width::W64 || has_int32 && width == Width::W32
}

/// Formats a time by a layout, as a zone shows it. An unknown zone is UTC.
fn formatted<'v>(cx: &Cx<'v>, layout: &[u8], (seconds, nanos): Instant, zone_name: &[u8]) -> Result<Value<'v>> {
    // The name of a month takes six bytes more than its notation, other elements less.
    cx.charge(layout.len().saturating_mul(4))?;
    let named = std::str::from_utf8(zone_name).ok().and_then(zone);
    let local = named.and_then(|zone| zone.local_time(seconds));
    let (offset, name) = local.map_or((0, "UTC"), |local| (i64::from(local.offset), local.abbreviation));
    let clock = Clock::new(seconds, nanos, offset, name);
    cx.string(&format(&clock, layout))
}

fn now<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
    time(cx, current(cx)?)
}

fn html_date<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    formatted(cx, HTML, any_instant(cx, value, true)?, b"")
}

fn date<'v>(cx: &Cx<'v>, layout: &'v [u8], value: Value<'v>) -> Result<Value<'v>> {
    formatted(cx, layout, any_instant(cx, value, true)?, b"")
}

fn date_in_zone<'v>(cx: &Cx<'v>, layout: &'v [u8], value: Value<'v>, zone: &'v [u8]) -> Result<Value<'v>> {
    formatted(cx, layout, any_instant(cx, value, true)?, zone)
}

fn html_date_in_zone<'v>(cx: &Cx<'v>, value: Value<'v>, zone: &'v [u8]) -> Result<Value<'v>> {
    formatted(cx, HTML, any_instant(cx, value, true)?, zone)
}

/// Parses a duration in nanoseconds, or returns the message of the error.
fn nanos_of(text: &[u8]) -> std::result::Result<i64, String> {
    let valid = String::from_utf8_lossy(text);
    let span = checked_span(&valid).map_err(|why| match why {
        NoSpan::Invalid => format!("time: invalid duration {}", quoted(text)),
        NoSpan::NoUnit => format!("time: missing unit in duration {}", quoted(text)),
        NoSpan::Unit(unit) => {
            format!("time: unknown unit {} in duration {}", quoted(unit.as_bytes()), quoted(text))
        }
    });
    span.map(|span| span.num_nanoseconds().unwrap_or(0))
}

/// Adds nanoseconds to a time.
fn later(cx: &Cx<'_>, (seconds, nanos): Instant, by: i64) -> Result<Instant> {
    let sum = i128::from(seconds) * 1_000_000_000 + i128::from(nanos) + i128::from(by);
    let (seconds, nanos) = (sum.div_euclid(1_000_000_000), sum.rem_euclid(1_000_000_000));
    match (i64::try_from(seconds), u32::try_from(nanos)) {
        (Ok(seconds), Ok(nanos)) => Ok((seconds, nanos)),
        _ => Err(cx.arity()),
    }
}

fn date_modify<'v>(cx: &Cx<'v>, duration: &'v [u8], moment: Instant) -> Result<Value<'v>> {
    let by = nanos_of(duration).unwrap_or(0);
    time(cx, later(cx, moment, by)?)
}

fn must_date_modify<'v>(cx: &Cx<'v>, duration: &'v [u8], moment: Instant) -> Result<Value<'v>> {
    let by = nanos_of(duration).map_err(failed)?;
    time(cx, later(cx, moment, by)?)
}

fn to_date<'v>(cx: &Cx<'v>, layout: &'v [u8], text: &'v [u8]) -> Result<Value<'v>> {
    let parsed = parse(layout, text);
    time(cx, parsed.map_or(ZERO, |clock| clock.timestamp()))
}

fn must_to_date<'v>(cx: &Cx<'v>, layout: &'v [u8], text: &'v [u8]) -> Result<Value<'v>> {
    let parsed = parse(layout, text).map_err(failed)?;
    time(cx, parsed.timestamp())
}

fn unix_epoch((seconds, _): Instant) -> String {
    seconds.to_string()
}

/// Returns the nanoseconds since a time, at most those of the longest duration.
fn since(cx: &Cx<'_>, (seconds, nanos): Instant) -> Result<i64> {
    let all = |(seconds, nanos): Instant| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let passed = all(current(cx)?) - all((seconds, nanos));
    Ok(i64::try_from(passed).unwrap_or(if passed < 0 { i64::MIN } else { i64::MAX }))
}

fn ago<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    const SECOND: i64 = 1_000_000_000;
    let passed = since(cx, any_instant(cx, value, false)?)?;
    let rest = passed % SECOND;
    let away = if rest.abs() * 2 < SECOND { 0 } else { SECOND * rest.signum() };
    // The longest durations are not rounded.
    cx.text(&duration_text((passed - rest).checked_add(away).unwrap_or(passed)))
}

fn duration<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    let seconds = match (text_bytes(value), value.extended()) {
        (Some(text), _) => seconds_of(text),
        (_, Some(Extended::Sized(Sized::Signed(width, seconds)))) if is_seconds(*width, false) => *seconds,
        _ => 0,
    };
    cx.text(&duration_text(seconds.wrapping_mul(1_000_000_000)))
}

/// Parses a decimal integer. One that is too large counts as the largest, any other text as zero.
fn seconds_of(text: &[u8]) -> i64 {
    let text = String::from_utf8_lossy(text);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
    match text.parse() {
        Ok(seconds) => seconds,
        Err(_) if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) => 0,
        Err(_) => {
            if text.starts_with('-') {
                i64::MIN
            } else {
                i64::MAX
            }
        }
    }
}

fn duration_round<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    const HOUR: u64 = 3_600_000_000_000;
    let nanos = match (text_bytes(value), value.extended()) {
        (Some(text), _) => nanos_of(text).unwrap_or(0),
        (_, Some(Extended::Timestamp { seconds, nanos })) => since(cx, (*seconds, *nanos))?,
        (_, Some(Extended::Sized(Sized::Signed(width, nanos)))) if is_seconds(*width, false) => *nanos,
        _ => 0,
    };
    let all = nanos.unsigned_abs();
    let units = [(HOUR * 24 * 365, "y"), (HOUR * 24 * 30, "mo"), (HOUR * 24, "d"), (HOUR, "h")];
    let units = units.into_iter().chain([(HOUR / 60, "m"), (HOUR / 3600, "s")]);
    match units.into_iter().find(|(unit, _)| all > *unit) {
        Some((unit, name)) => cx.text(&format!("{}{name}", all / unit)),
        None => cx.borrowed("0s"),
    }
}

/// Returns the result of a method of a time without arguments, which a template reads like a field. `None` if the value is
/// no time or has no such method.
pub fn field<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str) -> Option<Value<'v>> {
    let Some(Extended::Timestamp { seconds, nanos }) = value.extended() else { return None };
    let clock = Clock::new(*seconds, *nanos, 0, "UTC");
    let [year, month, day] = clock.date();
    let of_unit = |units: i64, nanos: u32| int64(cx, seconds.wrapping_mul(units).wrapping_add(nanos.into())).ok();
    Some(match name {
        "Year" => Value::Int(year),
        "Day" => Value::Int(day),
        "Hour" => Value::Int(clock.hour()),
        "Minute" => Value::Int(clock.minute()),
        "Second" => Value::Int(clock.second()),
        "Nanosecond" => Value::Int((*nanos).into()),
        "YearDay" => Value::Int(clock.year_day()),
        "Month" => return named(cx, "time.Month", month, &format(&clock, b"January")),
        "Weekday" => return named(cx, "time.Weekday", 0, &format(&clock, b"Monday")),
        "Unix" => return of_unit(1, 0),
        "UnixMilli" => return of_unit(1_000, nanos / 1_000_000),
        "UnixMicro" => return of_unit(1_000_000, nanos / 1_000),
        "UnixNano" => return of_unit(1_000_000_000, *nanos),
        "IsZero" => Value::Bool((*seconds, *nanos) == ZERO),
        "UTC" | "Local" => value,
        "String" => return cx.string(&format(&clock, b"2006-01-02 15:04:05.999999999 -0700 MST")).ok(),
        _ => return None,
    })
}

/// Returns a value of a named integer type that is shown by its name.
fn named<'v>(cx: &Cx<'v>, ty: &'static str, number: i64, name: &[u8]) -> Option<Value<'v>> {
    let name = cx.arena().copy_str(std::str::from_utf8(name).ok()?);
    cx.charge(name.len()).ok()?;
    let capsule = Capsule { name: ty, id: number.cast_unsigned(), content: CapsuleContent::Text(name) };
    cx.extended(Extended::Capsule(capsule)).ok()
}

/// Returns `true` if a value is a time that has a method of this name with an argument.
pub(crate) fn has_method(value: Value<'_>, name: &str) -> bool {
    matches!(value.extended(), Some(Extended::Timestamp { .. }))
        && matches!(name, "Format" | "Before" | "After" | "Equal")
}

/// Returns the result of a method of a time with an argument. `None` if the value is no time or has no such method.
pub fn method<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str, args: &[Value<'v>]) -> Result<Option<Value<'v>>> {
    if !has_method(value, name) {
        return Ok(None);
    }
    let [argument] = args else {
        return Err(failed(format!("wrong number of args for {name}: want 1 got {}", args.len())));
    };
    let wanted = if name == "Format" { Target::Str } else { Target::Time };
    if !wanted.admits(argument) {
        return Err(wrong_type(wanted, *argument));
    }
    let (Some(time), other) = (instant(value), instant(*argument)) else { return Ok(None) };
    Ok(Some(match name {
        "Format" => formatted(cx, text_bytes(*argument).unwrap_or(b""), time, b"")?,
        "Before" => Value::Bool(Some(time) < other),
        "After" => Value::Bool(Some(time) > other),
        _ => Value::Bool(Some(time) == other),
    }))
}
