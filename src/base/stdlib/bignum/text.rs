//! Formats numbers: their decimal digits, a requested count or the fewest that identify the number, and the layouts.

use super::{BigNum, FULL, NumberClass, limbs};

/// The layout of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `-ddd.ddd`
    Fixed,
    /// `-d.ddde±dd`
    Exponent,
    /// [`Layout::Exponent`] if the exponent is below -4 or at least the number of digits, otherwise [`Layout::Fixed`].
    /// Without trailing zeros.
    General,
}

impl BigNum {
    /// Returns the shortest decimal text without an exponent that parses back to this number at its precision; `+Inf`,
    /// `-Inf`. See [`BigNum::text_len`] for its length.
    pub fn to_text(&self) -> String {
        match self.to_i64() {
            Some(n) if n != 0 && self.precision >= 64 => n.to_string(),
            _ => self.format(Layout::Fixed, None),
        }
    }

    /// Returns an upper bound of the length of the text without an exponent.
    pub fn text_len(&self) -> usize {
        let places = i64::from(self.exponent).unsigned_abs() * 31 / 100;
        usize::try_from(places).unwrap_or(usize::MAX).saturating_add(usize::from(self.precision) * 31 / 100 + 8)
    }

    /// Returns `true` if both numbers have the same text: integers compare by value, fractions by their shortest digits.
    pub fn reads_as(&self, other: &Self) -> bool {
        if self.compare(other).is_eq() && (self.precision == other.precision || self.is_whole() || self.is_zero()) {
            return true;
        }
        let texts = self.is_finite() && other.is_finite() && self.negative == other.negative;
        let fractions = !self.is_whole() && !other.is_whole() && self.precision != other.precision;
        texts && fractions && self.shortest_digits() == other.shortest_digits()
    }

    /// Formats with a number of digits (after the point, or in total for the general layout), or with the fewest that parse
    /// back to this number. Computing all digits takes [`BigNum::digit_steps`].
    pub fn format(&self, layout: Layout, digits: Option<usize>) -> String {
        let sign = if self.negative { "-" } else { "" };
        if self.form == NumberClass::Infinite {
            return if self.negative { "-Inf" } else { "+Inf" }.to_owned();
        }
        let mut text = sign.to_owned();
        match digits {
            None => {
                let shortest = self.shortest_digits();
                let count = shortest.digits.len();
                lay_out(&mut text, &shortest, layout, None, count);
            }
            Some(count) => {
                let first = match layout {
                    Layout::Fixed => usize::MAX,
                    Layout::Exponent => count.saturating_add(1),
                    Layout::General => count.max(1),
                };
                let mut all = self.leading_digits(first);
                let kept = match layout {
                    Layout::Fixed => usize::try_from(all.point.saturating_add_unsigned(count as u64)).ok(),
                    _ => Some(first),
                };
                if let Some(kept) = kept {
                    all.round(kept);
                }
                lay_out(&mut text, &all, layout, Some(count), count.max(1));
            }
        }
        text
    }

    /// Returns the digits of an integer in base 2, 8, 10 or 16. They take [`BigNum::digit_steps`].
    pub fn whole_text(&self, base: u32) -> Option<String> {
        if !self.is_whole() {
            return None;
        }
        let sign = if self.negative && !self.is_zero() { "-" } else { "" };
        if base == 10 {
            let all = self.all_digits();
            let mut text = sign.to_owned();
            push_fixed(&mut text, &all, 0);
            return Some(text);
        }
        let mut whole = self.significand.to_vec();
        if self.scale() >= 0 {
            whole = limbs::shifted_left(&whole, usize::try_from(self.scale()).ok()?);
        } else {
            limbs::shift_right(&mut whole, usize::from(FULL).saturating_sub(usize::try_from(self.exponent).ok()?));
        }
        Some(format!("{sign}{}", bit_digits(limbs::trimmed(&whole), base.trailing_zeros() as usize)))
    }
}

/// Formats digits of `bits` bits each.
fn bit_digits(limbs: &[u64], bits: usize) -> String {
    let length = limbs::bit_len(limbs).div_ceil(bits).max(1);
    let bit = |at: usize| limbs.get(at / 64).is_some_and(|limb| limb >> (at % 64) & 1 == 1);
    let digit = |at: usize| (0..bits).rev().fold(0, |digit, low| digit << 1 | u32::from(bit(at * bits + low)));
    (0..length).rev().filter_map(|at| char::from_digit(digit(at), 16)).collect()
}

/// Lays out digits: `places` after the point (by default all), `total` digits in the general layout.
fn lay_out(text: &mut String, digits: &Digits, layout: Layout, places: Option<usize>, total: usize) {
    let count = digits.digits.len();
    match layout {
        Layout::Fixed => {
            let all = usize::try_from(count as i64 - digits.point).unwrap_or(0);
            push_fixed(text, digits, places.unwrap_or(all));
        }
        Layout::Exponent => push_exponent(text, digits, places.unwrap_or(count.saturating_sub(1))),
        Layout::General => {
            let large = match places {
                None => 6,
                Some(_) if total > count && count as i64 >= digits.point => count as i64,
                Some(_) => total as i64,
            };
            let exponent = digits.point - 1;
            if exponent < -4 || exponent >= large {
                push_exponent(text, digits, total.min(count).saturating_sub(1));
            } else {
                let kept = if total as i64 > digits.point { count } else { total };
                push_fixed(text, digits, usize::try_from(kept as i64 - digits.point).unwrap_or(0));
            }
        }
    }
}

fn push_fixed(text: &mut String, digits: &Digits, places: usize) {
    let digit = |at: i64| {
        let digit = usize::try_from(at).ok().and_then(|at| digits.digits.get(at));
        char::from(digit.copied().unwrap_or(b'0'))
    };
    if digits.point > 0 {
        text.extend((0..digits.point).map(digit));
    } else {
        text.push('0');
    }
    if places > 0 {
        text.push('.');
        text.extend((0..places as i64).map(|at| digit(digits.point + at)));
    }
}

fn push_exponent(text: &mut String, digits: &Digits, places: usize) {
    let digit = |at: usize| char::from(digits.digits.get(at).copied().unwrap_or(b'0'));
    text.push(digit(0));
    if places > 0 {
        text.push('.');
        text.extend((1..=places).map(digit));
    }
    let exponent = if digits.digits.is_empty() { 0 } else { digits.point - 1 };
    let sign = if exponent < 0 { '-' } else { '+' };
    text.push_str(&format!("e{sign}{:02}", exponent.unsigned_abs()));
}

/// The number of decimal digits per step, and the corresponding power of ten.
const STEP: usize = 19;
const STEP_POWER: u64 = 10_000_000_000_000_000_000;

/// Largest scale at which leading digits are computed exactly. Beyond it, numbers are scaled by a rounded power of ten
/// with [`POWER`] limbs. The rounding affects none of the [`FEW`] leading digits, because a decimal that ends near them
/// would need fewer bits.
const NEAR: i64 = 2_048;

/// Maximum number of reliable leading digits of a scaled number.
const FEW: usize = 200;

/// The number of limbs of a power of ten.
const POWER: usize = 24;

/// Decimal digits: the value is `0.digits * 10^point`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Digits {
    /// ASCII digits without leading zeros, and without trailing zeros if they are complete.
    digits: Vec<u8>,
    point: i64,
    /// `true` if these are all digits of the number.
    complete: bool,
}

impl Digits {
    const ZERO: Self = Self { digits: Vec::new(), point: 0, complete: true };

    fn at(&self, at: usize) -> u8 {
        self.digits.get(at).copied().unwrap_or(b'0')
    }

    /// Returns `true` if the number has no nonzero digits from `at`.
    fn ends_at(&self, at: usize) -> bool {
        self.complete && self.digits.len() <= at
    }

    /// Rounds to `count` digits, ties to even.
    fn round(&mut self, count: usize) {
        if count >= self.digits.len() {
            return;
        }
        let tie = self.at(count) == b'5' && self.ends_at(count + 1);
        let odd = count > 0 && self.at(count - 1) & 1 == 1;
        self.cut(count, if tie { odd } else { self.at(count) >= b'5' });
    }

    /// Keeps `count` digits and increments the last one if `up`.
    fn cut(&mut self, count: usize, up: bool) {
        self.digits.truncate(count);
        self.complete = true;
        if up {
            while self.digits.last() == Some(&b'9') {
                self.digits.pop();
            }
            match self.digits.last_mut() {
                Some(last) => *last += 1,
                None => {
                    self.digits.push(b'1');
                    self.point += 1;
                }
            }
        }
        self.trim();
    }

    fn trim(&mut self) {
        let used = self.digits.iter().rposition(|digit| *digit != b'0').map_or(0, |at| at + 1);
        self.digits.truncate(used);
        if used == 0 {
            self.point = 0;
        }
    }
}

impl BigNum {
    /// Returns the number of steps for computing all digits: about one for each pair of limbs multiplied.
    pub fn digit_steps(&self) -> u64 {
        let limbs = (i64::from(self.exponent).unsigned_abs() + u64::from(FULL)) / 64 + 1;
        if self.form == NumberClass::Finite { limbs.saturating_mul(limbs) / 2 } else { 1 }
    }

    /// Computes all digits.
    fn all_digits(&self) -> Digits {
        if self.form != NumberClass::Finite {
            return Digits::ZERO;
        }
        let zeros = usize::from(self.trailing_zeros());
        let mut magnitude = self.significand.to_vec();
        limbs::shift_right(&mut magnitude, zeros);
        Fixed::of(limbs::trimmed(&magnitude), self.scale() + zeros as i64).digits(usize::MAX)
    }

    /// Computes the leading digits, at least `count` of them or all. This is fast for few digits, whatever the exponent.
    fn leading_digits(&self, count: usize) -> Digits {
        if self.form != NumberClass::Finite || self.scale().abs() <= NEAR || count > FEW {
            return self.all_digits();
        }
        let power = Power::of_ten(-decimal_places(self.scale()));
        scaled_digits(&self.significand, self.scale(), Some(&power), count + STEP)
    }

    /// Computes the fewest digits that parse back to the number at its precision.
    fn shortest_digits(&self) -> Digits {
        if self.form != NumberClass::Finite {
            return Digits::ZERO;
        }
        // In units of half the last bit, so that the midpoints to both neighbors are one unit away.
        let spare = usize::from(FULL - self.precision.min(FULL));
        let mut half_units = limbs::shifted_left(&self.significand, 1);
        limbs::shift_right(&mut half_units, spare);
        let scale = self.scale() - 1 + spare as i64;
        let power = (scale.abs() > NEAR).then(|| Power::of_ten(-decimal_places(scale)));
        let wanted = usize::from(self.precision) * 31 / 100 + 5;
        let digits = |magnitude: &[u64]| scaled_digits(magnitude, scale, power.as_ref(), wanted);
        let mut lower = half_units.clone();
        limbs::sub_from(&mut lower, &[1]);
        let mut upper = half_units.clone();
        limbs::add_into(&mut upper, &[1]);
        // The midpoints round to the number if its last bit is even.
        let inclusive = half_units.first().is_some_and(|limb| limb & 2 == 0);
        shortest(digits(&half_units), &digits(&lower), &digits(&upper), inclusive)
    }
}

/// Returns the approximate number of decimal digits of `2^scale`.
fn decimal_places(scale: i64) -> i64 {
    (i128::from(scale) * 30_103 / 100_000) as i64
}

fn scaled_digits(magnitude: &[u64], scale: i64, power: Option<&Power>, wanted: usize) -> Digits {
    let Some(power) = power else {
        return Fixed::of(limbs::trimmed(magnitude), scale).digits(wanted);
    };
    let mut product = vec![0; magnitude.len() + power.limbs.len() + 1];
    limbs::mul_into(&mut product, magnitude, &power.limbs);
    let mut digits = Fixed::of(limbs::trimmed(&product), scale + power.scale).digits(wanted);
    digits.point -= power.exponent;
    digits.complete = false;
    digits
}

/// Returns the shortest digits between two bounds: rounds at the first digit where that does not reach a bound.
fn shortest(mut number: Digits, lower: &Digits, upper: &Digits, inclusive: bool) -> Digits {
    for at in 0..number.digits.len() {
        let (low, digit, high) = (lower.at(at), number.at(at), upper.at(at));
        let down = low != digit || inclusive && lower.ends_at(at + 1);
        let up = digit != high && (inclusive || digit + 1 < high || !upper.ends_at(at + 1));
        match (down, up) {
            (true, true) => number.round(at + 1),
            (true, false) | (false, true) => number.cut(at + 1, up),
            (false, false) => continue,
        }
        break;
    }
    number
}

/// A power of ten, rounded if necessary: `10^exponent = limbs * 2^scale`.
pub(super) struct Power {
    pub(super) limbs: Vec<u64>,
    pub(super) scale: i64,
    exponent: i64,
}

impl Power {
    pub(super) fn of_ten(exponent: i64) -> Self {
        let mut power = Self { limbs: vec![1], scale: 0, exponent };
        let mut square = Self { limbs: vec![5], scale: 1, exponent: 1 };
        let mut left = exponent.unsigned_abs();
        while left > 0 {
            if left & 1 == 1 {
                power = power.times(&square);
            }
            square = square.times(&square);
            left >>= 1;
        }
        if exponent < 0 { power.inverse(exponent) } else { Self { exponent, ..power } }
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = vec![0; self.limbs.len() + other.limbs.len()];
        limbs::mul_into(&mut product, &self.limbs, &other.limbs);
        Self::bounded(product, self.scale + other.scale)
    }

    /// Returns the reciprocal.
    fn inverse(&self, exponent: i64) -> Self {
        let mut one = vec![0; POWER + self.limbs.len()];
        one.push(1);
        let scale = -((one.len() - 1) as i64 * 64) - self.scale;
        let (quotient, _) = limbs::divide(&one, &self.limbs);
        Self { exponent, ..Self::bounded(quotient, scale) }
    }

    /// Drops the lowest limbs.
    fn bounded(limbs: Vec<u64>, scale: i64) -> Self {
        let used = limbs::trimmed(&limbs);
        let dropped = used.len().saturating_sub(POWER);
        let limbs = used.get(dropped..).unwrap_or(used).to_vec();
        Self { limbs, scale: scale + dropped as i64 * 64, exponent: 0 }
    }
}

/// A fixed-point number with an integer part and a fraction.
struct Fixed {
    whole: Vec<u64>,
    fraction: Vec<u64>,
}

impl Fixed {
    /// `magnitude * 2^scale`.
    fn of(magnitude: &[u64], scale: i64) -> Self {
        let shift = usize::try_from(scale.unsigned_abs()).unwrap_or(usize::MAX);
        if scale >= 0 {
            return Self { whole: limbs::shifted_left(magnitude, shift), fraction: Vec::new() };
        }
        let limbs = shift.div_ceil(64);
        let mut fraction = limbs::shifted_left(magnitude, limbs * 64 - shift);
        fraction.resize(fraction.len().max(limbs), 0);
        let whole = fraction.split_off(limbs);
        Self { whole, fraction }
    }

    /// Computes at least `wanted` leading digits, or all.
    fn digits(mut self, wanted: usize) -> Digits {
        let mut digits = self.whole_digits();
        let mut point = digits.len() as i64;
        loop {
            let lowest = self.fraction.iter().take_while(|limb| **limb == 0).count();
            self.fraction.drain(..lowest);
            if self.fraction.is_empty() || digits.len() >= wanted {
                break;
            }
            let group = limbs::mul_small(&mut self.fraction, STEP_POWER, 0);
            let leading = digits.is_empty();
            push_group(&mut digits, group);
            if leading {
                let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
                digits.drain(..zeros);
                point -= zeros as i64;
            }
        }
        let mut digits = Digits { digits, point, complete: self.fraction.is_empty() };
        if digits.complete {
            digits.trim();
        }
        digits
    }

    fn whole_digits(&mut self) -> Vec<u8> {
        let mut groups = Vec::new();
        let mut left = limbs::trimmed(&self.whole).to_vec();
        while !left.is_empty() {
            groups.push(limbs::div_small(&mut left, STEP_POWER));
            left.truncate(limbs::trimmed(&left).len());
        }
        let mut digits = Vec::with_capacity(groups.len() * STEP);
        groups.iter().rev().for_each(|group| push_group(&mut digits, *group));
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..zeros);
        digits
    }
}

/// Appends the 19 digits of a group.
fn push_group(digits: &mut Vec<u8>, mut group: u64) {
    let start = digits.len();
    digits.resize(start + STEP, b'0');
    for digit in digits.iter_mut().skip(start).rev() {
        *digit = b'0' + (group % 10) as u8;
        group /= 10;
    }
}
