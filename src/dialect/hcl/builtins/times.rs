//! Functions of moments in time.

use chrono::{DateTime, FixedOffset, Utc};

use super::arguments::{answer, count, text};
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::limits::Limit;
use crate::positional;
use crate::stdlib::duration::{LayoutError, laid_out, moment, rfc3339, span};
use crate::value::Value;

positional! {
    /// Functions of moments.
    pub(super) static TIMES:
    "formatdate" (format: String, time: String) -> String = format_date,
        "A moment in a layout of repeated letters, such as `YYYY-MM-DD'T'hh:mm:ssZ`."
        ["formatdate(\"DD MMM YYYY hh:mm ZZZ\", \"2018-01-04T23:12:01Z\")" => "\"04 Jan 2018 23:12 UTC\""];
    "timeadd" (timestamp: String, duration: String) -> String = time_add,
        "A moment moved by a span of time, such as `1h30m`."
        ["timeadd(\"2017-11-22T00:00:00Z\", \"10m1s\")" => "\"2017-11-22T00:10:01Z\""];
}

positional! {
    /// Functions of moments that OpenTofu adds.
    pub(super) static OPENTOFU_TIMES:
    "timecmp" (timestamp_a: String, timestamp_b: String) -> Number = time_compare,
        "-1, 0 or 1, as the first moment is before, at or after the second."
        ["timecmp(\"2017-11-22T00:00:00Z\", \"2017-11-22T01:00:00+01:00\")" => "0"];
    "timestamp" () -> String = timestamp, needs CLOCK, "The current time in UTC."
        ["timecmp(timestamp(), \"2020-01-01T00:00:00Z\")" => "1"];
    "plantimestamp" () -> String = plan_timestamp, needs CLOCK,
        "The time in UTC at which the engine was allowed the clock: the same in all of its renders."
        ["plantimestamp() == plantimestamp()" => "true"];
}

fn moment_at(args: &[Value<'_>], at: usize) -> Outcome<DateTime<FixedOffset>> {
    moment(text(args, at)?).map_err(|why| Fault::argument(at, format!("this is no moment by RFC 3339: {why}")))
}

fn format_date<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (layout, moment) = (text(args, 0)?, moment_at(args, 1)?);
    // A letter becomes at most nine: `EEEE`, `MMMM`.
    let allowed = layout.len().saturating_mul(4).saturating_add(16);
    cx.charge(allowed)?;
    let shown = laid_out(moment, layout, allowed).map_err(|why| match why {
        LayoutError::Unclosed => Fault::argument(0, "a quotation mark is not closed"),
        LayoutError::Letters(letters) => Fault::argument(0, format!("`{letters}` is no part of a date")),
        LayoutError::TooLong => Fault::Limit(Limit::Memory.error(allowed as u64)),
    })?;
    answer(cx, &shown)
}

fn time_add<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let unplaced = |fault| match fault {
        Fault::Wrong(wrong) => Fault::wrong(wrong.message),
        limit => limit,
    };
    let (moment, span_text) = (moment_at(args, 0).map_err(unplaced)?, text(args, 1)?);
    let span = span(span_text).ok_or_else(|| Fault::wrong(format!("`{span_text}` is no span of time")))?;
    let moved = moment.checked_add_signed(span).ok_or_else(|| Fault::wrong("the moment is out of range"))?;
    answer(cx, &rfc3339(moved))
}

fn time_compare<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (a, b) = (moment_at(args, 0)?, moment_at(args, 1)?);
    count(cx, a.cmp(&b) as i64)
}

fn timestamp<'v>(cx: &Cx<'v>, _: &[Value<'v>]) -> Outcome<Value<'v>> {
    answer(cx, &rfc3339(Utc::now().fixed_offset()))
}

fn plan_timestamp<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    match cx.capabilities().moment() {
        Some(moment) => answer(cx, &rfc3339(DateTime::<Utc>::from(moment).fixed_offset())),
        None => timestamp(cx, args),
    }
}
