//! The order of keys: letters after other characters, and runs of digits as numbers.

use std::cmp::Ordering;

/// Compares two keys. With `digits_first` a letter comes before other characters right after a digit.
pub(super) fn compare(a: &str, b: &str, digits_first: bool) -> Ordering {
    let shared = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let start = (0..=shared).rev().find(|&at| a.is_char_boundary(at) && b.is_char_boundary(at)).unwrap_or(0);
    let (head, rest_a) = a.split_at_checked(start).unwrap_or(("", a));
    let rest_b = b.get(start..).unwrap_or(b);
    let (Some(first_a), Some(first_b)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.len().cmp(&rest_b.len());
    };
    match (first_a.is_alphabetic(), first_b.is_alphabetic()) {
        (true, true) => return first_a.cmp(&first_b),
        (letter, other) if letter != other => {
            let after_digit = digits_first && head.ends_with(|c: char| c.is_ascii_digit());
            return if letter == after_digit { Ordering::Less } else { Ordering::Greater };
        }
        _ => {}
    }
    // Behind other digits of the same number, zeros count as digits.
    let within = (first_a == '0' || first_b == '0')
        && head.bytes().rev().take_while(u8::is_ascii_digit).any(|digit| digit != b'0');
    let ((number_a, length_a), (number_b, length_b)) = (leading(rest_a, within), leading(rest_b, within));
    number_a.cmp(&number_b).then(length_a.cmp(&length_b)).then(first_a.cmp(&first_b))
}

/// Returns the number that a text begins with, behind a one if it stands within a number, and its length.
fn leading(text: &str, within: bool) -> (i64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((i64::from(within), 0), |(number, length), digit| {
        (number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), length + 1)
    })
}

/// Sorts stably by merging. Unlike the standard sort it accepts that an order is none: numbers may overflow.
pub(super) fn sort<T: Copy>(items: &mut Vec<T>, is_less: impl Fn(&T, &T) -> bool) {
    if items.windows(2).all(|pair| matches!(pair, [a, b] if !is_less(b, a))) {
        return;
    }
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for part in items.chunks(2 * width) {
            let (left, right) = part.split_at(width.min(part.len()));
            merge(left, right, &is_less, &mut merged);
        }
        *items = merged;
        width *= 2;
    }
}

fn merge<T: Copy>(mut left: &[T], mut right: &[T], is_less: &impl Fn(&T, &T) -> bool, merged: &mut Vec<T>) {
    while let (Some((a, rest_a)), Some((b, rest_b))) = (left.split_first(), right.split_first()) {
        if is_less(b, a) {
            merged.push(*b);
            right = rest_b;
        } else {
            merged.push(*a);
            left = rest_a;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
}
