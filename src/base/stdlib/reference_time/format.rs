//! Writing a time by a layout.

use super::chunk::{Element, Offset, next};
use super::{Clock, DAYS, MONTHS};

/// Writes a time by a layout. An element becomes at most nine bytes longer than its notation, or as long as the name of the
/// zone.
pub fn format(clock: &Clock, layout: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(layout.len() + 16), layout);
    loop {
        let chunk = next(rest);
        out.extend_from_slice(chunk.before);
        let Some(element) = chunk.element else { return out };
        push(clock, element, &mut out);
        rest = chunk.rest;
    }
}

fn push(clock: &Clock, element: Element, out: &mut Vec<u8>) {
    let month = usize::try_from(clock.month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or("");
    let weekday = DAYS.get(clock.weekday()).copied().unwrap_or("");
    let half = if clock.hour() >= 12 { "PM" } else { "AM" };
    let hour12 = (clock.hour() + 11) % 12 + 1;
    let text = match element {
        Element::LongMonth => month.to_owned(),
        Element::Month => month.get(..3).unwrap_or("").to_owned(),
        Element::NumMonth => clock.month.to_string(),
        Element::ZeroMonth => format!("{:02}", clock.month),
        Element::LongWeekday => weekday.to_owned(),
        Element::Weekday => weekday.get(..3).unwrap_or("").to_owned(),
        Element::Day => clock.day.to_string(),
        Element::UnderDay => format!("{:2}", clock.day),
        Element::ZeroDay => format!("{:02}", clock.day),
        Element::UnderYearDay => format!("{:3}", clock.year_day()),
        Element::ZeroYearDay => format!("{:03}", clock.year_day()),
        Element::Hour => format!("{:02}", clock.hour()),
        Element::Hour12 => hour12.to_string(),
        Element::ZeroHour12 => format!("{hour12:02}"),
        Element::Minute => clock.minute().to_string(),
        Element::ZeroMinute => format!("{:02}", clock.minute()),
        Element::Second => clock.second().to_string(),
        Element::ZeroSecond => format!("{:02}", clock.second()),
        Element::LongYear => year(clock.year),
        Element::Year => format!("{:02}", clock.year.max(0) % 100),
        Element::UpperHalf => half.to_owned(),
        Element::LowerHalf => half.to_ascii_lowercase(),
        Element::Zone if clock.zone.is_empty() => offset(clock.offset, false, 2),
        Element::Zone => clock.zone.clone(),
        Element::Offset(Offset { zulu: true, .. }) if clock.offset == 0 => "Z".to_owned(),
        Element::Offset(Offset { colon, numbers, .. }) => offset(clock.offset, colon, numbers),
        Element::Fraction(mark, digits) => fraction(clock.nanos, mark, digits),
        Element::ShortFraction(mark, digits) => {
            let all = fraction(clock.nanos, mark, digits);
            let short = all.trim_end_matches('0');
            short.strip_suffix(char::from(mark)).unwrap_or(short).to_owned()
        }
    };
    out.extend_from_slice(text.as_bytes());
}

fn year(year: i64) -> String {
    format!("{}{:04}", if year < 0 { "-" } else { "" }, year.unsigned_abs())
}

fn offset(seconds: i64, colon: bool, numbers: usize) -> String {
    let (sign, seconds) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs());
    let all = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    let shown: Vec<String> = all.iter().take(numbers).map(|number| format!("{number:02}")).collect();
    format!("{sign}{}", shown.join(if colon { ":" } else { "" }))
}

fn fraction(nanos: u32, mark: u8, digits: usize) -> String {
    let all = format!("{nanos:09}");
    let zeros = "0".repeat(digits.saturating_sub(9));
    format!("{}{}{zeros}", char::from(mark), all.get(..digits.min(9)).unwrap_or(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_those_of_the_reference_time() {
        let late = Clock::new(1_700_000_000, 120_000_000, -18_000, "EST").unwrap();
        let early = Clock::new(-1, 0, 0, "UTC").unwrap();
        for (layout, of_late, of_early) in [
            ("Mon Jan _2 15:04:05 MST 2006", "Tue Nov 14 17:13:20 EST 2023", "Wed Dec 31 23:59:59 UTC 1969"),
            (
                "Monday, January 2 06 3:4:5pm",
                "Tuesday, November 14 23 5:13:20pm",
                "Wednesday, December 31 69 11:59:59pm",
            ),
            ("002 __2 _2006", "318 318 _2023", "365 365 _1969"),
            (
                "-0700 -07:00 -07 -070000 -07:00:00",
                "-0500 -05:00 -05 -050000 -05:00:00",
                "+0000 +00:00 +00 +000000 +00:00:00",
            ),
            ("Z0700 Z07:00 Z07", "-0500 -05:00 -05", "Z Z Z"),
            ("05.000 05,00 05.999 .9999999999", "20.120 20,12 20.12 .12", "59.000 59,00 59 "),
            ("Januar Janu Jan1 Monster", "Januar Janu Nov11 Monster", "Januar Janu Dec12 Monster"),
            ("5.0001 é", "20.0011 é", "59.0012 é"),
            ("03:04 PM", "05:13 PM", "11:59 PM"),
        ] {
            let shown = |clock| String::from_utf8(format(clock, layout.as_bytes())).unwrap();
            assert_eq!((shown(&late).as_str(), shown(&early).as_str()), (of_late, of_early), "{layout}");
        }
    }
}
