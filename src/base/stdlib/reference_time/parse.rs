//! Reading a time by a layout.

use super::{Clock, DAYS, Element, MONTHS, days_in, is_leap, next, quoted};

/// The error is the name of a part that is out of range, or `None` for a part that cannot be read.
type Read<T> = Result<T, Option<&'static str>>;

/// The fields that were read. Days, months and days of the year are absent until they are read.
#[derive(Default)]
struct Fields {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: u32,
    /// `true` for the second half of the day.
    half: Option<bool>,
    utc: bool,
    offset: Option<i64>,
    zone: String,
}

/// Reads a time in UTC, or with the offset or the name of a zone that the text has.
///
/// # Errors
/// The text does not fit the layout, or there is no such time.
pub fn parse(layout: &[u8], text: &[u8]) -> Result<Clock, String> {
    let error = |rest: &[u8], notation: &[u8]| {
        let [text, layout, rest, notation] = [text, layout, rest, notation].map(quoted);
        format!("parsing time {text} as {layout}: cannot parse {rest} as {notation}")
    };
    let wrong = |why: String| format!("parsing time {}: {why}", quoted(text));
    let (mut fields, mut template, mut rest) = (Fields::default(), layout, text);
    loop {
        let chunk = next(template);
        rest = skip(rest, chunk.before).map_err(|rest| error(rest, chunk.before))?;
        let Some(element) = chunk.element else { break };
        template = chunk.rest;
        let held = rest;
        fields.read(element, template, &mut rest).map_err(|bad| match bad {
            None => error(held, chunk.notation),
            Some(what) => wrong(format!("{what} out of range")),
        })?;
    }
    if !rest.is_empty() {
        return Err(wrong(format!("extra text: {}", quoted(rest))));
    }
    fields.finished().map_err(|why| wrong(why.to_owned()))
}

/// Skips literal text. One space or more stand for any number of spaces. Fails with the rest of the text.
fn skip<'t>(mut text: &'t [u8], mut literal: &[u8]) -> Result<&'t [u8], &'t [u8]> {
    while let Some((wanted, behind)) = literal.split_first() {
        match text.split_first() {
            Some((found, _)) if *wanted == b' ' && *found != b' ' => return Err(text),
            _ if *wanted == b' ' => (text, literal) = (without_spaces(text), without_spaces(literal)),
            Some((found, rest)) if found == wanted => (text, literal) = (rest, behind),
            _ => return Err(text),
        }
    }
    Ok(text)
}

fn without_spaces(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|byte| **byte == b' ').count();
    text.get(spaces..).unwrap_or_default()
}

impl Fields {
    /// Reads an element, which `template` follows.
    fn read(&mut self, element: Element, template: &[u8], rest: &mut &[u8]) -> Read<()> {
        match element {
            Element::Year => {
                let year = exactly(2, rest)?;
                self.year = if year >= 69 { 1900 + year } else { 2000 + year };
            }
            Element::LongYear => self.year = exactly(4, rest)?,
            Element::Month => self.month = Some(name(&MONTHS, true, rest)? + 1),
            Element::LongMonth => self.month = Some(name(&MONTHS, false, rest)? + 1),
            Element::NumMonth | Element::ZeroMonth => {
                let month = number(element == Element::ZeroMonth, rest)?;
                self.month = Some(within(1..=12, month, "month")?);
            }
            Element::Weekday => drop(name(&DAYS, true, rest)?),
            Element::LongWeekday => drop(name(&DAYS, false, rest)?),
            Element::Day | Element::UnderDay | Element::ZeroDay => {
                if element == Element::UnderDay {
                    *rest = rest.strip_prefix(b" ").unwrap_or(rest);
                }
                self.day = Some(number(element == Element::ZeroDay, rest)?);
            }
            Element::UnderYearDay | Element::ZeroYearDay => self.year_day = Some(year_day(element, rest)?),
            Element::Hour => self.hour = within(0..=23, number(false, rest)?, "hour")?,
            Element::Hour12 | Element::ZeroHour12 => {
                self.hour = within(0..=12, number(element == Element::ZeroHour12, rest)?, "hour")?;
            }
            Element::Minute | Element::ZeroMinute => {
                self.minute = within(0..=59, number(element == Element::ZeroMinute, rest)?, "minute")?;
            }
            Element::Second | Element::ZeroSecond => {
                self.second = within(0..=59, number(element == Element::ZeroSecond, rest)?, "second")?;
                self.unannounced_fraction(template, rest)?;
            }
            Element::UpperHalf => self.half = Some(half(rest, b"PM", b"AM")?),
            Element::LowerHalf => self.half = Some(half(rest, b"pm", b"am")?),
            Element::Offset { zulu, colon, numbers } => self.read_offset(zulu, colon, numbers, rest)?,
            Element::Zone => self.read_zone(rest)?,
            Element::Fraction(_, digits) => self.nanos = nanos(digits + 1, rest)?,
            Element::ShortFraction(..) => {
                if let Some(len) = fraction_len(rest) {
                    self.nanos = nanos(len, rest)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a fraction after seconds, which the layout need not have.
    fn unannounced_fraction(&mut self, template: &[u8], rest: &mut &[u8]) -> Read<()> {
        let announced = matches!(next(template).element, Some(Element::Fraction(..) | Element::ShortFraction(..)));
        if let Some(len) = fraction_len(rest).filter(|_| !announced) {
            self.nanos = nanos(len, rest)?;
        }
        Ok(())
    }

    fn read_offset(&mut self, zulu: bool, colon: bool, numbers: usize, rest: &mut &[u8]) -> Read<()> {
        if let Some(behind) = rest.strip_prefix(b"Z").filter(|_| zulu) {
            (*rest, self.utc) = (behind, true);
            return Ok(());
        }
        let (sign, mut behind) = rest.split_first().ok_or(None)?;
        let mut parts = [0; 3];
        for (at, part) in parts.iter_mut().enumerate().take(numbers) {
            if at > 0 && colon {
                behind = behind.strip_prefix(b":").ok_or(None)?;
            }
            *part = exactly(2, &mut behind)?;
        }
        // Some write offsets of 24 hours or 60 minutes.
        let [hours, minutes, seconds] = parts;
        within(0..=24, hours, "time zone offset hour")?;
        within(0..=60, minutes, "time zone offset minute")?;
        within(0..=60, seconds, "time zone offset second")?;
        let offset = (hours * 60 + minutes) * 60 + seconds;
        self.offset = Some(match sign {
            b'+' => offset,
            b'-' => -offset,
            _ => return Err(None),
        });
        *rest = behind;
        Ok(())
    }

    fn read_zone(&mut self, rest: &mut &[u8]) -> Read<()> {
        if let Some(behind) = rest.strip_prefix(b"UTC") {
            (*rest, self.utc) = (behind, true);
            return Ok(());
        }
        let len = zone_len(rest).ok_or(None)?;
        let (name, behind) = rest.split_at_checked(len).ok_or(None)?;
        self.zone = String::from_utf8_lossy(name).into_owned();
        *rest = behind;
        Ok(())
    }

    /// Checks the fields and returns the time.
    fn finished(mut self) -> Result<Clock, &'static str> {
        match self.half {
            Some(true) if self.hour < 12 => self.hour += 12,
            Some(false) if self.hour == 12 => self.hour = 0,
            _ => {}
        }
        if let Some(year_day) = self.year_day {
            self.check_year_day(year_day)?;
        }
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        if !(1..=days_in(month, self.year)).contains(&day) {
            return Err("day out of range");
        }
        let (offset, zone) = self.place();
        let seconds = self.hour * 3600 + self.minute * 60 + self.second;
        Ok(Clock { year: self.year, month, day, seconds, nanos: self.nanos, offset, zone })
    }

    /// Returns the offset and the name of the zone. The offset of a zone with a name only is unknown: it counts as zero.
    fn place(&mut self) -> (i64, String) {
        let name = std::mem::take(&mut self.zone);
        match self.offset.unwrap_or(0) {
            _ if self.utc => (0, "UTC".to_owned()),
            0 if name.is_empty() => (0, "UTC".to_owned()),
            offset => (offset, name),
        }
    }

    fn check_year_day(&mut self, year_day: i64) -> Result<(), &'static str> {
        let days = if is_leap(self.year) { 366 } else { 365 };
        if !(1..=days).contains(&year_day) {
            return Err("day-of-year out of range");
        }
        let (mut month, mut day) = (1, year_day);
        while day > days_in(month, self.year) {
            day -= days_in(month, self.year);
            month += 1;
        }
        if self.month.is_some_and(|own| own != month) {
            return Err("day-of-year does not match month");
        }
        if self.day.is_some_and(|own| own != day) {
            return Err("day-of-year does not match day");
        }
        (self.month, self.day) = (Some(month), Some(day));
        Ok(())
    }
}

fn within(range: std::ops::RangeInclusive<i64>, number: i64, what: &'static str) -> Read<i64> {
    if range.contains(&number) { Ok(number) } else { Err(Some(what)) }
}

fn digit_count(text: &[u8], most: usize) -> usize {
    text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count()
}

/// Reads a number with exactly `digits` digits.
fn exactly(digits: usize, rest: &mut &[u8]) -> Read<i64> {
    let (number, behind) = rest.split_at_checked(digits).ok_or(None)?;
    if digit_count(number, digits) != digits {
        return Err(None);
    }
    *rest = behind;
    Ok(number.iter().fold(0, |all, digit| all * 10 + i64::from(digit - b'0')))
}

/// Reads a number of two digits, or of one unless it is `fixed`.
fn number(fixed: bool, rest: &mut &[u8]) -> Read<i64> {
    match digit_count(rest, 2) {
        1 if !fixed => exactly(1, rest),
        2 => exactly(2, rest),
        _ => Err(None),
    }
}

fn year_day(element: Element, rest: &mut &[u8]) -> Read<i64> {
    for _ in 0..2 {
        if element == Element::UnderYearDay {
            *rest = rest.strip_prefix(b" ").unwrap_or(rest);
        }
    }
    match digit_count(rest, 3) {
        0 => Err(None),
        count if count < 3 && element == Element::ZeroYearDay => Err(None),
        count => exactly(count, rest),
    }
}

/// Reads a name in any letter case, or its first three letters. Returns its index.
fn name(names: &[&str], short: bool, rest: &mut &[u8]) -> Read<i64> {
    for (at, name) in (0..).zip(names) {
        let name = if short { name.get(..3).unwrap_or(name) } else { name };
        let found = rest.split_at_checked(name.len()).filter(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes()));
        if let Some((_, behind)) = found {
            *rest = behind;
            return Ok(at);
        }
    }
    Err(None)
}

/// Reads a half of the day: `true` for the second one.
fn half(rest: &mut &[u8], second: &[u8; 2], first: &[u8; 2]) -> Read<bool> {
    let (found, behind) = rest.split_at_checked(2).ok_or(None)?;
    if found != second && found != first {
        return Err(None);
    }
    *rest = behind;
    Ok(found == second)
}

/// Returns the length of a fraction with its mark, if there is one.
fn fraction_len(text: &[u8]) -> Option<usize> {
    let digits = text.strip_prefix(b".").or_else(|| text.strip_prefix(b","))?;
    let count = digit_count(digits, usize::MAX);
    (count > 0).then_some(count + 1)
}

/// Reads a fraction of `len` bytes, including its mark, in nanoseconds.
fn nanos(len: usize, rest: &mut &[u8]) -> Read<u32> {
    let (fraction, behind) = rest.split_at_checked(len).ok_or(None)?;
    let digits = fraction.strip_prefix(b".").or_else(|| fraction.strip_prefix(b",")).ok_or(None)?;
    if digit_count(digits, usize::MAX) != digits.len() {
        return Err(None);
    }
    *rest = behind;
    let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(9);
    Ok(padded.fold(0, |all, digit| all * 10 + u32::from(digit - b'0')))
}

/// Returns the length of an abbreviation of a zone: three letters, or up to five with `T` at the end, or `GMT` or nothing
/// with an offset in hours.
fn zone_len(text: &[u8]) -> Option<usize> {
    if text.len() < 3 {
        return None;
    }
    if [b"ChST", b"MeST"].iter().any(|name| text.starts_with(*name)) {
        return Some(4);
    }
    if let Some(behind) = text.strip_prefix(b"GMT") {
        return Some(3 + signed_hours_len(behind));
    }
    if text.starts_with(b"+") || text.starts_with(b"-") {
        return Some(signed_hours_len(text)).filter(|len| *len > 0);
    }
    match text.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count() {
        3 => Some(3),
        4 if text[3] == b'T' || text.starts_with(b"WITA") => Some(4),
        5 if text[4] == b'T' => Some(5),
        _ => None,
    }
}

/// Returns the length of a sign and hours, 0 if there are none.
fn signed_hours_len(text: &[u8]) -> usize {
    let Some((b'+' | b'-', digits)) = text.split_first() else { return 0 };
    let count = digit_count(digits, usize::MAX);
    let hours = digits
        .iter()
        .take(count)
        .fold(0_u64, |all, digit| all.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    if count == 0 || hours > 23 { 0 } else { count + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(layout: &str, text: &str) -> Result<(i64, u32, i64, String), String> {
        let clock = parse(layout.as_bytes(), text.as_bytes())?;
        let (seconds, nanos) = clock.timestamp();
        Ok((seconds, nanos, clock.offset, clock.zone))
    }

    #[test]
    fn times_are_read() {
        let utc = |seconds, nanos| Ok((seconds, nanos, 0, "UTC".to_owned()));
        for (layout, text, expected) in [
            ("2006-01-02", "2024-01-31", utc(1_706_659_200, 0)),
            ("15:04", "10:30", utc(-62_167_219_200 + 37_800, 0)),
            ("2006-01-02T15:04:05Z07:00", "2024-01-31T00:00:00.25Z", utc(1_706_659_200, 250_000_000)),
            ("2006-01-02T15:04:05Z07:00", "2024-01-31T02:00:00+02:00", Ok((1_706_659_200, 0, 7200, String::new()))),
            ("Jan _2 2006  3:04PM", "FEB 29 2024 12:01AM", utc(1_709_164_860, 0)),
            ("2006 002", "2024 060", utc(1_709_164_800, 0)),
            ("02 Jan 06 15:04 MST", "02 Jan 70 01:00 CEST", Ok((90_000, 0, 0, "CEST".to_owned()))),
            ("02 Jan 06 15:04 MST", "02 Jan 70 01:00 GMT+2", Ok((90_000, 0, 0, "GMT+2".to_owned()))),
            ("05.000", "01.5", Err("parsing time \"01.5\" as \"05.000\": cannot parse \".5\" as \".000\"".to_owned())),
            (
                "2006-01-02",
                "bad",
                Err("parsing time \"bad\" as \"2006-01-02\": cannot parse \"bad\" as \"2006\"".to_owned()),
            ),
            ("2006-01-02", "2024-13-02", Err("parsing time \"2024-13-02\": month out of range".to_owned())),
            ("2006-01-02", "2023-02-29", Err("parsing time \"2023-02-29\": day out of range".to_owned())),
            ("2006-01-02", "2024-01-02x", Err("parsing time \"2024-01-02x\": extra text: \"x\"".to_owned())),
            (
                "2006-01-02",
                "2024/01/02",
                Err("parsing time \"2024/01/02\" as \"2006-01-02\": cannot parse \"/01/02\" as \"-\"".to_owned()),
            ),
        ] {
            assert_eq!(read(layout, text), expected, "{layout} {text}");
        }
    }

    #[test]
    fn whatever_was_written_is_read_again() {
        let layout = "Monday, 02-Jan-2006 15:04:05.000000000 -0700";
        for seconds in (-50_000_000_000_i64..50_000_000_000).step_by(1_234_567_891) {
            let clock = Clock::new(seconds, 7, 3600, "");
            let text = super::super::format(&clock, layout.as_bytes());
            assert_eq!(parse(layout.as_bytes(), &text).unwrap().timestamp(), (seconds, 7));
        }
    }
}
