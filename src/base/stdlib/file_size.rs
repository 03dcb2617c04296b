//! Sizes of files for people.

use std::fmt::Write;

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
