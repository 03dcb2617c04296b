//! Natural numbers as slices of 64-bit limbs, least significant first. No function allocates more than the size of its
//! operands.

use std::cmp::Ordering;

/// The number of limbs of a [`Window`].
pub(super) const WINDOW: usize = 11;

/// The highest bits of a number, normalized so that the top bit is set.
pub(super) type Window = [u64; WINDOW];

/// `limbs` without high zero limbs.
pub(super) fn trimmed(limbs: &[u64]) -> &[u64] {
    let used = limbs.iter().rposition(|limb| *limb != 0).map_or(0, |at| at + 1);
    limbs.get(..used).unwrap_or(limbs)
}

/// Returns the number of significant bits.
pub(super) fn bit_len(limbs: &[u64]) -> usize {
    let used = trimmed(limbs);
    used.last().map_or(0, |top| used.len() * 64 - top.leading_zeros() as usize)
}

/// Compares two numbers with equally many limbs.
pub(super) fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

/// `a += b`, returning the carry. `b` is no longer than `a`.
pub(super) fn add_into(a: &mut [u64], b: &[u64]) -> bool {
    let mut carry = false;
    let rest = b.iter().copied().chain(std::iter::repeat(0));
    for (limb, other) in a.iter_mut().zip(rest) {
        let (sum, over) = limb.overflowing_add(other);
        let (sum, over_again) = sum.overflowing_add(u64::from(carry));
        (*limb, carry) = (sum, over | over_again);
    }
    carry
}

/// `a -= b`, where `b` is no longer and no larger than `a`.
pub(super) fn sub_from(a: &mut [u64], b: &[u64]) {
    let mut borrow = false;
    let rest = b.iter().copied().chain(std::iter::repeat(0));
    for (limb, other) in a.iter_mut().zip(rest) {
        let (difference, under) = limb.overflowing_sub(other);
        let (difference, under_again) = difference.overflowing_sub(u64::from(borrow));
        (*limb, borrow) = (difference, under | under_again);
    }
}

/// `a = a * factor + carry`, returning the overflow.
pub(super) fn mul_small(a: &mut [u64], factor: u64, mut carry: u64) -> u64 {
    for limb in a {
        let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
        (*limb, carry) = (product as u64, (product >> 64) as u64);
    }
    carry
}

/// `a /= divisor`, returning the remainder. The divisor is not zero.
pub(super) fn div_small(a: &mut [u64], divisor: u64) -> u64 {
    let mut rest = 0;
    for limb in a.iter_mut().rev() {
        let dividend = u128::from(rest) << 64 | u128::from(*limb);
        *limb = (dividend / u128::from(divisor)) as u64;
        rest = (dividend % u128::from(divisor)) as u64;
    }
    rest
}

/// `out += a * b`. `out` is as long as both together, and the result fits.
pub(super) fn mul_into(out: &mut [u64], a: &[u64], b: &[u64]) {
    for (at, &factor) in a.iter().enumerate().filter(|(_, factor)| **factor != 0) {
        let Some(part) = out.get_mut(at..) else { return };
        let carry = mul_add(part, b, factor);
        if let Some(rest) = part.get_mut(b.len()..) {
            add_into(rest, &[carry]);
        }
    }
}

/// `a += b * factor` over the limbs of `b`, returning the overflow.
fn mul_add(a: &mut [u64], b: &[u64], factor: u64) -> u64 {
    let mut carry = 0;
    for (limb, &other) in a.iter_mut().zip(b) {
        let sum = u128::from(*limb) + u128::from(other) * u128::from(factor) + u128::from(carry);
        (*limb, carry) = (sum as u64, (sum >> 64) as u64);
    }
    carry
}

/// `a -= b * factor` over the limbs of `b`, returning the borrow.
fn mul_sub(a: &mut [u64], b: &[u64], factor: u64) -> u64 {
    let mut borrow = 0;
    for (limb, &other) in a.iter_mut().zip(b) {
        let product = u128::from(other) * u128::from(factor) + u128::from(borrow);
        let (difference, under) = limb.overflowing_sub(product as u64);
        (*limb, borrow) = (difference, (product >> 64) as u64 + u64::from(under));
    }
    borrow
}

/// Shifts left.
pub(super) fn shifted_left(limbs: &[u64], bits: usize) -> Vec<u64> {
    let (whole, part) = (bits / 64, bits % 64);
    let mut shifted = vec![0; whole];
    let mut low = 0;
    for &limb in limbs {
        shifted.push(limb << part | low);
        low = if part == 0 { 0 } else { limb >> (64 - part) };
    }
    shifted.push(low);
    shifted
}

/// Shifts right. Returns `true` if a set bit was lost.
pub(super) fn shift_right(limbs: &mut [u64], bits: usize) -> bool {
    let (whole, part) = (bits / 64, bits % 64);
    let lost_limbs = limbs.iter().take(whole).any(|limb| *limb != 0);
    let lowest = limbs.get(whole).copied().unwrap_or(0);
    let lost_bits = part != 0 && lowest << (64 - part) != 0;
    for at in 0..limbs.len() {
        let limb = |at: usize| limbs.get(at).copied().unwrap_or(0);
        let high = if part == 0 { 0 } else { limb(at + whole + 1) << (64 - part) };
        let moved = limb(at + whole) >> part | high;
        if let Some(limb) = limbs.get_mut(at) {
            *limb = moved;
        }
    }
    lost_limbs || lost_bits
}

/// Returns the highest bits of a nonzero number, and `true` if a lower bit is set.
pub(super) fn window(limbs: &[u64]) -> (Window, bool) {
    let used = trimmed(limbs);
    let shift = used.last().map_or(0, |top| top.leading_zeros());
    let mut window = [0; WINDOW];
    let mut sources = used.iter().rev();
    let mut high = sources.next().copied().unwrap_or(0);
    for target in window.iter_mut().rev() {
        let low = sources.next().copied().unwrap_or(0);
        *target = if shift == 0 { high } else { high << shift | low >> (64 - shift) };
        high = low;
    }
    let lost = high << shift != 0 || sources.any(|limb| *limb != 0);
    (window, lost)
}

/// Rounds to the highest `precision` bits, ties to even; `sticky` means that bits below the window are set. Returns `true`
/// if the result overflowed to the next power of two, which is then normalized.
pub(super) fn round(window: &mut Window, precision: usize, sticky: bool) -> bool {
    let dropped = (WINDOW * 64).saturating_sub(precision.max(1));
    if dropped == 0 {
        return false;
    }
    let bit = |at: usize| window.get(at / 64).is_some_and(|limb| limb >> (at % 64) & 1 == 1);
    let half = bit(dropped - 1);
    let odd = bit(dropped);
    let (whole, part) = ((dropped - 1) / 64, (dropped - 1) % 64);
    let below = |at: usize, limb: u64| if at < whole { limb != 0 } else { limb & ((1 << part) - 1) != 0 };
    let rest = sticky || window.iter().take(whole + 1).enumerate().any(|(at, limb)| below(at, *limb));
    clear_low(window, dropped);
    if !half || !(rest || odd) {
        return false;
    }
    let mut unit = [0; WINDOW];
    if let Some(limb) = unit.get_mut(dropped / 64) {
        *limb = 1 << (dropped % 64);
    }
    let carry = add_into(window, &unit);
    if carry && let Some(top) = window.last_mut() {
        *top = 1 << 63;
    }
    carry
}

/// Clears the lowest `bits` bits.
pub(super) fn clear_low(limbs: &mut [u64], bits: usize) {
    limbs.iter_mut().take(bits / 64).for_each(|limb| *limb = 0);
    if let Some(limb) = limbs.get_mut(bits / 64) {
        *limb &= u64::MAX << (bits % 64);
    }
}

/// Returns the quotient, and `true` if there is a remainder. The divisor is not zero.
pub(super) fn divide(numerator: &[u64], divisor: &[u64]) -> (Vec<u64>, bool) {
    let divisor = trimmed(divisor);
    let zeros = divisor.iter().take_while(|limb| **limb == 0).count();
    let divisor = divisor.get(zeros..).unwrap_or(divisor);
    let low = numerator.iter().take(zeros).any(|limb| *limb != 0);
    let numerator = numerator.get(zeros..).unwrap_or(&[]);
    let (quotient, rest) = match divisor {
        [] => (Vec::new(), false),
        [only] => {
            let mut quotient = numerator.to_vec();
            let rest = div_small(&mut quotient, *only);
            (quotient, rest != 0)
        }
        _ => divide_long(numerator, divisor),
    };
    (quotient, rest || low)
}

/// Schoolbook division by at least two limbs. Each limb of the quotient is estimated from the highest limbs, at most two
/// too large, and corrected.
fn divide_long(numerator: &[u64], divisor: &[u64]) -> (Vec<u64>, bool) {
    let shift = divisor.last().map_or(0, |top| top.leading_zeros() as usize);
    let divisor = shifted_left(divisor, shift);
    let divisor = trimmed(&divisor);
    let mut rest = shifted_left(numerator, shift);
    let steps = rest.len().saturating_sub(divisor.len());
    let mut quotient = vec![0; steps];
    for at in (0..steps).rev() {
        let Some(part) = rest.get_mut(at..=at + divisor.len()) else { continue };
        let guess = estimate(part, divisor);
        let missing = mul_sub(part, divisor, guess);
        let digit = correct(part, divisor, guess, missing);
        if let Some(limb) = quotient.get_mut(at) {
            *limb = digit;
        }
    }
    (quotient, rest.iter().any(|limb| *limb != 0))
}

/// Estimates a limb of the quotient, never too small.
fn estimate(part: &[u64], divisor: &[u64]) -> u64 {
    let ([.., third, second, first], [.., next, top]) = (part, divisor) else { return 0 };
    if first >= top {
        return u64::MAX;
    }
    let dividend = u128::from(*first) << 64 | u128::from(*second);
    let (mut guess, mut rest) = (dividend / u128::from(*top), dividend % u128::from(*top));
    while rest >> 64 == 0 && guess * u128::from(*next) > (rest << 64 | u128::from(*third)) {
        guess -= 1;
        rest += u128::from(*top);
    }
    guess as u64
}

/// Corrects an estimate that was too large.
fn correct(part: &mut [u64], divisor: &[u64], mut guess: u64, missing: u64) -> u64 {
    let Some((top, low)) = part.split_last_mut() else { return guess };
    let (left, mut under) = top.overflowing_sub(missing);
    *top = left;
    while under {
        guess = guess.wrapping_sub(1);
        let carry = u64::from(add_into(low, divisor));
        let (sum, over) = top.overflowing_add(carry);
        *top = sum;
        under = !over;
    }
    guess
}
