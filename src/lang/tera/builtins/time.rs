//! The filter that formats dates.

use super::arguments::{Written, wrong};
use dropforge_base::limits::Limit;
use dropforge_base::stdlib::time::{Format, Moment, TimeError, zone};
use dropforge_machine::builtins;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

builtins! {
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

fn date<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let [value, pattern, timezone] = args else { return Err(cx.arity()) };
    let format = pattern.as_str().ok_or_else(|| cx.arity())?;
    cx.spend(format.len() as u64)?;
    let Some(checked) = Format::new(format) else {
        return Err(wrong(DATE, "format", "a strftime format", *pattern));
    };
    let zone = match timezone {
        Value::Str(name) => Some(zone(name.as_str()).ok_or_else(|| {
            wrong(DATE, "timezone", "a name of the IANA time zone database, such as `Europe/Berlin`", *timezone)
        })?),
        _ => None,
    };
    let moment = match *value {
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
            wrong(DATE, "format", "one that the value can fill", *pattern).with_note(error.to_string())
        }
        _ => wrong(DATE, "value", "a moment in time", *value).with_note(error.to_string()),
    })?;
    cx.charge(out.len() - start + size_of::<Value>())?;
    Ok(None)
}
