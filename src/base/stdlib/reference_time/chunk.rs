//! Layouts, split into literal text and elements.

/// An element of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// `January`.
    LongMonth,
    /// `Jan`.
    Month,
    /// `1`.
    NumMonth,
    /// `01`.
    ZeroMonth,
    /// `Monday`.
    LongWeekday,
    /// `Mon`.
    Weekday,
    /// `2`.
    Day,
    /// `_2`.
    UnderDay,
    /// `02`.
    ZeroDay,
    /// `__2`.
    UnderYearDay,
    /// `002`.
    ZeroYearDay,
    /// `15`.
    Hour,
    /// `3`.
    Hour12,
    /// `03`.
    ZeroHour12,
    /// `4`.
    Minute,
    /// `04`.
    ZeroMinute,
    /// `5`.
    Second,
    /// `05`.
    ZeroSecond,
    /// `2006`.
    LongYear,
    /// `06`.
    Year,
    /// `PM`.
    UpperHalf,
    /// `pm`.
    LowerHalf,
    /// `MST`.
    Zone,
    /// `-0700` and its forms.
    Offset(Offset),
    /// `.000`: a mark and so many digits.
    Fraction(u8, usize),
    /// `.999`: a mark and at most so many digits, without final zeros.
    ShortFraction(u8, usize),
}

/// A form of an offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offset {
    /// `Z` instead of an offset of zero.
    pub(super) zulu: bool,
    /// Colons between the numbers.
    pub(super) colon: bool,
    /// The count of numbers: hours, minutes, seconds.
    pub(super) numbers: usize,
}

/// A layout from one element on: text before the element, the element, its notation, the rest.
pub(super) struct Chunk<'l> {
    pub(super) before: &'l [u8],
    /// `None` if there are no more elements.
    pub(super) element: Option<Element>,
    pub(super) notation: &'l [u8],
    pub(super) rest: &'l [u8],
}

/// The notations of elements. Longer ones come before those that they begin with.
const NOTATIONS: [(&str, Element); 20] = [
    ("January", Element::LongMonth),
    ("Monday", Element::LongWeekday),
    ("MST", Element::Zone),
    ("002", Element::ZeroYearDay),
    ("01", Element::ZeroMonth),
    ("02", Element::ZeroDay),
    ("03", Element::ZeroHour12),
    ("04", Element::ZeroMinute),
    ("05", Element::ZeroSecond),
    ("06", Element::Year),
    ("15", Element::Hour),
    ("1", Element::NumMonth),
    ("2006", Element::LongYear),
    ("2", Element::Day),
    ("__2", Element::UnderYearDay),
    ("3", Element::Hour12),
    ("4", Element::Minute),
    ("5", Element::Second),
    ("PM", Element::UpperHalf),
    ("pm", Element::LowerHalf),
];

/// The forms of an offset behind its sign or `Z`. Longer ones come first.
const OFFSETS: [(&str, bool, usize); 5] =
    [("070000", false, 3), ("07:00:00", true, 3), ("0700", false, 2), ("07:00", true, 2), ("07", false, 1)];

/// Splits a layout at its first element.
pub(super) fn next(layout: &[u8]) -> Chunk<'_> {
    let found = (0..layout.len()).find_map(|at| element(layout, at));
    let Some((element, from, to)) = found else {
        return Chunk { before: layout, element: None, notation: &[], rest: &[] };
    };
    let (before, behind) = layout.split_at(from);
    let (notation, rest) = behind.split_at(to - from);
    Chunk { before, element: Some(element), notation, rest }
}

/// Returns the element at a position, with the start and end of its notation.
fn element(layout: &[u8], at: usize) -> Option<(Element, usize, usize)> {
    let rest = layout.get(at..)?;
    let (element, len) = match rest.first()? {
        b'J' if rest.starts_with(b"Jan") && !rest.starts_with(b"January") => (short_name(rest, Element::Month)?, 3),
        b'M' if rest.starts_with(b"Mon") && !rest.starts_with(b"Monday") => (short_name(rest, Element::Weekday)?, 3),
        // An underscore before a year is literal.
        b'_' if rest.starts_with(b"_2006") => return Some((Element::LongYear, at + 1, at + 5)),
        b'_' if rest.starts_with(b"_2") => (Element::UnderDay, 2),
        b'-' | b'Z' => offset(rest)?,
        b'.' | b',' => fraction(rest)?,
        _ => *NOTATIONS
            .iter()
            .find(|(notation, _)| rest.starts_with(notation.as_bytes()))
            .map(|(notation, element)| (*element, notation.len()))
            .as_ref()?,
    };
    Some((element, at, at + len))
}

/// Returns an element with a name of three letters, unless the name goes on.
fn short_name(rest: &[u8], element: Element) -> Option<Element> {
    (!rest.get(3).is_some_and(u8::is_ascii_lowercase)).then_some(element)
}

fn offset(rest: &[u8]) -> Option<(Element, usize)> {
    let (sign, numbers) = rest.split_first()?;
    let found = OFFSETS.iter().find(|(notation, ..)| numbers.starts_with(notation.as_bytes()));
    found.map(|&(notation, colon, numbers)| {
        (Element::Offset(Offset { zulu: *sign == b'Z', colon, numbers }), notation.len() + 1)
    })
}

/// Reads a fraction of a second: a mark and zeros, or a mark and nines, that no digit follows.
fn fraction(rest: &[u8]) -> Option<(Element, usize)> {
    let (mark, digits) = rest.split_first()?;
    let kind = *digits.first().filter(|digit| matches!(digit, b'0' | b'9'))?;
    let count = digits.iter().take_while(|digit| **digit == kind).count();
    if digits.get(count).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let element = if kind == b'0' { Element::Fraction(*mark, count) } else { Element::ShortFraction(*mark, count) };
    Some((element, count + 1))
}
