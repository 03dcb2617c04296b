//! Functions of timestamps.

use chrono::{DateTime, FixedOffset, Utc};

use super::{Arguments, FromArguments, functions, string};
use crate::values::machine_int;
use dropforge_base::limits::Limit;
use dropforge_base::stdlib::clock;
use dropforge_base::stdlib::duration::{Form, LayoutError, laid_out, moment, rfc3339, span};
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::Value;

functions! {
    /// Time functions of the standard library and OpenTofu.
    pub(super) static TIMES:
    "formatdate" (format: String, time: String) -> String = format_date,
        "Formats a timestamp by a layout of repeated letters, such as `YYYY-MM-DD'T'hh:mm:ssZ`."
        ["formatdate(\"DD MMM YYYY hh:mm ZZZ\", \"2018-01-04T23:12:01Z\")" => "\"04 Jan 2018 23:12 UTC\""];
}

functions! {
    /// Time functions of the standard library.
    pub(super) static STANDARD_TIMES:
    "timeadd" (timestamp: String, duration: String) -> String or null = time_add [Form::Strict],
        "Adds a duration such as `1h30m` to a timestamp."
        ["timeadd(\"2017-11-22T00:00:00Z\", \"10m1s\")" => "\"2017-11-22T00:10:01Z\""];
}

functions! {
    /// Time functions of OpenTofu.
    pub(super) static OPENTOFU_TIMES:
    "timeadd" (timestamp: String, duration: String) -> String = time_add [Form::Lenient],
        "Adds a duration such as `1h30m` to a timestamp."
        ["timeadd(\"2017-11-22T00:00:00Z\", \"10m1s\")" => "\"2017-11-22T00:10:01Z\""];
    "timecmp" (timestamp_a: String, timestamp_b: String) -> Number = time_compare,
        "Returns -1, 0 or 1 if the first timestamp is before, equal to or after the second."
        ["timecmp(\"2017-11-22T00:00:00Z\", \"2017-11-22T01:00:00+01:00\")" => "0"];
    "timestamp" () -> String = timestamp, needs CLOCK, "Returns the current time in UTC."
        ["timecmp(timestamp(), \"2020-01-01T00:00:00Z\")" => "1"];
    "plantimestamp" () -> String = plan_timestamp, needs CLOCK,
        "Returns the time in UTC at which the engine was given the clock. It is the same in all renders."
        ["plantimestamp() == plantimestamp()" => "true"];
}

fn timestamp_in(text: &str, form: Form) -> Outcome<DateTime<FixedOffset>> {
    moment(text, form).map_err(|why| Fault::wrong(format!("not an RFC 3339 timestamp: {why}")))
}

/// A timestamp as Go's `time.Parse` reads it.
struct Lenient(DateTime<FixedOffset>);

impl FromArguments<'_> for Lenient {
    fn take(arguments: &Arguments<'_, '_>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        timestamp_in(value.as_str().unwrap_or(""), Form::Lenient).map(Self).map_err(|fault| fault.of_argument(at))
    }
}

fn format_date<'v>(cx: &Cx<'v>, layout: &str, timestamp: &str) -> Outcome<Value<'v>> {
    let timestamp = timestamp_in(timestamp, Form::Strict).map_err(|fault| fault.of_argument(1))?;
    // A letter becomes at most nine, as in `EEEE` and `MMMM`.
    let allowed = layout.len().saturating_mul(4).saturating_add(16);
    cx.charge(allowed)?;
    let formatted = laid_out(timestamp, layout, allowed).map_err(|why| match why {
        LayoutError::Unclosed => Fault::argument(0, "a quotation mark is not closed"),
        LayoutError::Letters(letters) => Fault::argument(0, format!("unknown part of a date: `{letters}`")),
        LayoutError::TooLong => Fault::Limit(Limit::Memory.error(allowed as u64)),
    })?;
    string(cx, &formatted)
}

fn time_add<'v>(cx: &Cx<'v>, timestamp: &str, duration: &str, form: Form) -> Outcome<Value<'v>> {
    let timestamp = timestamp_in(timestamp, form)?;
    let duration = span(duration).ok_or_else(|| Fault::wrong(format!("`{duration}` is not a duration")))?;
    let sum = timestamp.checked_add_signed(duration).ok_or_else(|| Fault::wrong("the timestamp is out of range"))?;
    string(cx, &rfc3339(sum))
}

fn time_compare<'v>(cx: &Cx<'v>, Lenient(a): Lenient, Lenient(b): Lenient) -> Outcome<Value<'v>> {
    machine_int(cx, a.cmp(&b) as i64)
}

fn timestamp<'v>(cx: &Cx<'v>) -> Outcome<Value<'v>> {
    string(cx, &rfc3339(DateTime::<Utc>::from(clock::now()).fixed_offset()))
}

fn plan_timestamp<'v>(cx: &Cx<'v>) -> Outcome<Value<'v>> {
    match cx.capabilities().moment() {
        Some(moment) => string(cx, &rfc3339(DateTime::<Utc>::from(moment).fixed_offset())),
        None => timestamp(cx),
    }
}
