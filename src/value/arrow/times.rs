//! The texts of dates, times and timestamps by RFC 3339.

use arrow_array::Array;
use arrow_array::types::*;
use arrow_schema::{DataType, TimeUnit};

use super::column::primitive;
use dropforge_base::stdlib::timestamps::utc_text;

const DAY: i64 = 86_400;

/// Returns the texts of an array of dates, times of day or timestamps. `None` for other types. A text is `None` if the
/// time is outside the calendar.
pub(super) fn texts(array: &dyn Array) -> Option<Box<dyn Fn(usize) -> Option<String> + '_>> {
    Some(match array.data_type() {
        DataType::Date32 => primitive::<Date32Type, _>(array, |days| date(i64::from(days))),
        DataType::Date64 => primitive::<Date64Type, _>(array, |millis| date(millis.div_euclid(DAY * 1_000))),
        DataType::Time32(TimeUnit::Second) => primitive::<Time32SecondType, _>(array, |n| time(n.into(), 1)),
        DataType::Time32(_) => primitive::<Time32MillisecondType, _>(array, |n| time(n.into(), 1_000)),
        DataType::Time64(TimeUnit::Microsecond) => primitive::<Time64MicrosecondType, _>(array, |n| time(n, 1_000_000)),
        DataType::Time64(_) => primitive::<Time64NanosecondType, _>(array, |n| time(n, 1_000_000_000)),
        DataType::Timestamp(unit, zone) => {
            let zoned = zone.is_some();
            match unit {
                TimeUnit::Second => primitive::<TimestampSecondType, _>(array, move |n| moment(n, 1, zoned)),
                TimeUnit::Millisecond => {
                    primitive::<TimestampMillisecondType, _>(array, move |n| moment(n, 1_000, zoned))
                }
                TimeUnit::Microsecond => {
                    primitive::<TimestampMicrosecondType, _>(array, move |n| moment(n, 1_000_000, zoned))
                }
                TimeUnit::Nanosecond => {
                    primitive::<TimestampNanosecondType, _>(array, move |n| moment(n, 1_000_000_000, zoned))
                }
            }
        }
        _ => return None,
    })
}

/// Returns the text of `count` units since 1970, of which a second has `per_second`.
fn moment(count: i64, per_second: i64, zoned: bool) -> Option<String> {
    let nanos = count.rem_euclid(per_second) * (1_000_000_000 / per_second);
    let mut text = utc_text(count.div_euclid(per_second), u32::try_from(nanos).ok()?)?;
    if !zoned {
        text.pop();
    }
    Some(text)
}

/// Returns the text of a number of days since 1970.
fn date(days: i64) -> Option<String> {
    let mut text = moment(days.checked_mul(DAY)?, 1, false)?;
    text.truncate(text.find('T')?);
    Some(text)
}

/// Returns the text of a time of day.
fn time(count: i64, per_second: i64) -> Option<String> {
    let is_of_day = (0..DAY * per_second).contains(&count);
    is_of_day.then(|| moment(count, per_second, false))?.map(|text| text.split('T').skip(1).collect())
}
