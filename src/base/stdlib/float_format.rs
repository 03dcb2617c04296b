//! Formats floats like C's `%g`, `%f` and `%e`, and sizes of files for people.

use std::fmt::Write;

/// Returns the shortest text that parses back to `number`, with an exponent below 0.0001 and from 1,000,000.
///
/// `shortest(1.0)` is `1`, `shortest(123456789.0)` is `1.23456789e+08`; infinities are `+Inf` and `-Inf`.
pub fn shortest(number: f64) -> String {
    if let Some(name) = not_finite(number) {
        return name.to_owned();
    }
    let text = format!("{number:e}");
    let Some((digits, exponent)) = split_exponent(&text) else { return text };
    if (-4..6).contains(&exponent) { number.to_string() } else { with_exponent(digits, exponent) }
}

/// More digits than any float has. Those that follow are zeros, and `std::fmt` panics from 65,536 on.
const MOST_DIGITS: usize = 1_100;

/// Formats with a fixed number of decimals.
///
/// `fixed(2.5, 0)` is `2`: exact ties go to the even digit.
pub fn fixed(number: f64, digits: usize) -> String {
    if let Some(name) = not_finite(number) {
        return name.to_owned();
    }
    let known = digits.min(MOST_DIGITS);
    format!("{number:.known$}") + &"0".repeat(digits - known)
}

/// Formats with an exponent and a fixed number of decimals.
///
/// `scientific(1234.5, 2)` is `1.23e+03`.
pub fn scientific(number: f64, digits: usize) -> String {
    if let Some(name) = not_finite(number) {
        return name.to_owned();
    }
    let known = digits.min(MOST_DIGITS);
    let text = format!("{number:.known$e}");
    let Some((mantissa, exponent)) = split_exponent(&text) else { return text };
    with_exponent(&(mantissa.to_owned() + &"0".repeat(digits - known)), exponent)
}

const fn not_finite(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        return Some("NaN");
    }
    match (number.is_infinite(), number < 0.0) {
        (true, true) => Some("-Inf"),
        (true, false) => Some("+Inf"),
        (false, _) => None,
    }
}

fn split_exponent(text: &str) -> Option<(&str, i32)> {
    let (digits, exponent) = text.split_once('e')?;
    Some((digits, exponent.parse().ok()?))
}

fn with_exponent(digits: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// Appends a size in steps of 1,024: `1.21 kB`, or with binary units `1.21 KiB`.
pub fn file_size(bytes: u64, binary_names: bool, out: &mut String) {
    const DECIMAL: [&str; 6] = [" B", " kB", " MB", " GB", " TB", " PB"];
    const BINARY: [&str; 6] = [" B", " KiB", " MiB", " GiB", " TiB", " PiB"];
    if bytes >= 1 << 53 {
        let names = if binary_names { humansize::BINARY } else { humansize::WINDOWS };
        // Writing to a string cannot fail.
        let _ = write!(out, "{}", humansize::SizeFormatter::new(bytes, names));
        return;
    }
    // Floats represent such sizes exactly, so hundredths of the unit are rounded as integers: halves to even.
    let step = bytes.max(1).ilog2() / 10;
    let unit = 1_u64 << (10 * step);
    let scaled = bytes * 100;
    let (floor, rest) = (scaled / unit, scaled % unit);
    let up = rest * 2 > unit || rest * 2 == unit && floor % 2 == 1;
    let hundredths = floor + u64::from(up);
    out.push_str(itoa::Buffer::new().format(hundredths / 100));
    if !bytes.is_multiple_of(unit) {
        let digit = |n: u64| char::from(b'0' + (n % 10) as u8);
        out.extend(['.', digit(hundredths / 10), digit(hundredths)]);
    }
    let names = if binary_names { BINARY } else { DECIMAL };
    out.push_str(names.get(step as usize).copied().unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_decides() {
        for (number, text) in [
            (1.0, "1"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (100_000.0, "100000"),
            (123_456.5, "123456.5"),
            (1_000_000.0, "1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (1e21, "1e+21"),
            (1e100, "1e+100"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.5e-7, "-1.5e-07"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(shortest(number), text);
        }
    }

    #[test]
    fn with_so_many_digits() {
        assert_eq!(
            [fixed(2.5, 0), fixed(1.005, 2), fixed(-0.0, 1), fixed(1e21, 0)].join(" "),
            "2 1.00 -0.0 1000000000000000000000"
        );
        assert_eq!(
            [scientific(1234.5, 2), scientific(0.0, 0), scientific(1e-7, 1)].join(" "),
            "1.23e+03 0e+00 1.0e-07"
        );
        assert_eq!([fixed(f64::NAN, 2), scientific(f64::INFINITY, 2)].join(" "), "NaN +Inf");
        // The smallest number has the most digits: 1,074 decimals, of which 767 from the first that is not zero.
        assert!(fixed(5e-324, 70_000).ends_with(&["625", &"0".repeat(70_000 - 1_074)].concat()));
        assert!(scientific(5e-324, 70_000).ends_with(&["625", &"0".repeat(70_000 - 750), "e-324"].concat()));
        assert_eq!((fixed(1.5, 70_000).len(), scientific(-1.5, 70_000).len()), (70_002, 70_007));
    }

    #[test]
    fn the_shortest_text_reads_back() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..20_000 {
            let number = f64::from_bits(random.u64(..));
            if number.is_finite() {
                let text = shortest(number);
                assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()), "{text}");
                assert!(text.len() < 30, "{text}");
            }
        }
    }

    #[test]
    fn sizes_for_people() {
        let file_size = |bytes, binary| {
            let mut out = String::new();
            super::file_size(bytes, binary, &mut out);
            out
        };
        let edges = (0..54).flat_map(|power| [0, 1, 2, 3].map(|less| (1_u64 << power).saturating_sub(less)));
        let halves = (10..50).flat_map(|power| (0..400).map(move |n| (1_u64 << power) + (n << power) / 200));
        let scattered = (0..4000_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (n % 64));
        for bytes in [999, 1000].into_iter().chain(edges).chain(halves).chain(scattered) {
            assert_eq!(file_size(bytes, false), humansize::format_size(bytes, humansize::WINDOWS));
            assert_eq!(file_size(bytes, true), humansize::format_size(bytes, humansize::BINARY));
        }
        assert_eq!(file_size(0, false), "0 B");
        assert_eq!(file_size(1240, false), "1.21 kB");
        assert_eq!(file_size(1240, true), "1.21 KiB");
        assert_eq!(file_size(u64::MAX, true), "16 EiB");
    }
}
