//! 512-bit numbers compared with a model: the exact result as a fraction of big integers, then rounded.

use dropforge::value::BigNum;
use num_bigint::{BigInt, BigUint, Sign};
use proptest::prelude::*;

/// `magnitude * 2^scale`, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Exact {
    magnitude: BigInt,
    scale: i64,
}

/// Numerals that parse exactly: up to 500 bits and a power of two.
fn exact() -> impl Strategy<Value = Exact> {
    let limbs = prop_oneof![
        3 => prop::collection::vec(any::<u32>(), 1..15),
        1 => prop::collection::vec(prop::sample::select(vec![0, 1, 1 << 31, u32::MAX]), 1..15),
        1 => any::<u8>().prop_map(|small| vec![u32::from(small)]),
    ];
    let scale = prop_oneof![Just(0_i64), -40_i64..40, -1200_i64..1200];
    (limbs, any::<bool>(), scale).prop_map(|(limbs, negative, scale)| {
        let sign = if negative { Sign::Minus } else { Sign::Plus };
        Exact { magnitude: BigInt::from_biguint(sign, BigUint::new(limbs)), scale }
    })
}

fn number(exact: &Exact) -> BigNum {
    BigNum::parse(&format!("{}p{}", exact.magnitude, exact.scale)).expect("a number")
}

/// Returns `number / 2^scale`, which must be an integer.
fn value(number: &BigNum, scale: i64) -> BigInt {
    let shifted = number.mul(&BigNum::parse(&format!("1p{}", -scale)).expect("a number")).expect("a product");
    let text = shifted.whole_text(16).expect("a whole number");
    BigInt::parse_bytes(text.as_bytes(), 16).expect("hexadecimal digits")
}

/// `numerator / denominator * 2^scale` rounded to `bits` bits, in units of `2^unit`.
fn rounded(numerator: &BigInt, denominator: &BigInt, scale: i64, bits: u64, unit: i64) -> BigInt {
    let negative = (numerator.sign() == Sign::Minus) != (denominator.sign() == Sign::Minus);
    let (mut top, bottom) = (numerator.magnitude().clone(), denominator.magnitude().clone());
    top <<= 2048_u32;
    let mut scale = scale - 2048;
    let (mut quotient, rest) = (&top / &bottom, &top % &bottom);
    let sticky = rest != BigUint::ZERO;
    let dropped = quotient.bits().saturating_sub(bits);
    if dropped > 0 {
        let low = &quotient & ((BigUint::from(1_u32) << dropped) - 1_u32);
        let half = BigUint::from(1_u32) << (dropped - 1);
        quotient >>= dropped;
        scale += dropped as i64;
        if low > half || low == half && (sticky || quotient.bit(0)) {
            quotient += 1_u32;
        }
    }
    let exact = if scale >= unit { quotient << (scale - unit) } else { quotient >> (unit - scale) };
    BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, exact)
}

/// The lowest bit that a result here can have.
const UNIT: i64 = -6000;

proptest! {
    #![proptest_config(crate::cases(512))]

    #[test]
    fn results_are_the_exact_ones_rounded(a in exact(), b in exact()) {
        let (x, y) = (number(&a), number(&b));
        let one = BigInt::from(1);
        let low = a.scale.min(b.scale);
        let left = &a.magnitude << (a.scale - low);
        let right = &b.magnitude << (b.scale - low);
        let sums = [(x.add(&y), &left + &right), (x.sub(&y), &left - &right)];
        for (got, want) in sums {
            prop_assert_eq!(value(&got.expect("a sum"), UNIT), rounded(&want, &one, low, 512, UNIT));
        }
        let product = x.mul(&y).expect("a product");
        let want = rounded(&(&a.magnitude * &b.magnitude), &one, a.scale + b.scale, 512, UNIT);
        prop_assert_eq!(value(&product, UNIT), want);
        if y.is_zero() {
            prop_assert_eq!(x.div(&y).is_none(), x.is_zero());
        } else {
            let want = rounded(&a.magnitude, &b.magnitude, a.scale - b.scale, 512, UNIT);
            prop_assert_eq!(value(&x.div(&y).expect("a quotient"), UNIT), want);
        }
        prop_assert_eq!(x.compare(&y), left.cmp(&right));
    }

    /// Parsing is exact while a power of five is. Beyond that, it is as close as the reference's.
    #[test]
    fn decimal_numerals_are_parsed_to_the_nearest(a in exact(), point in 0_u32..240, exponent in -120_i64..120) {
        let (ten, digits) = (BigInt::from(10), a.magnitude.magnitude().to_string());
        let decimal = exponent - i64::from(point);
        prop_assume!(decimal.abs() <= 240);
        let zeros = "0".repeat((point as usize + 1).saturating_sub(digits.len()));
        let (whole, fraction) = (format!("{zeros}{digits}"), point as usize);
        let (whole, fraction) = whole.split_at(whole.len() - fraction);
        let text = format!("{whole}.{fraction}e{exponent}");
        let power = ten.pow(decimal.unsigned_abs() as u32);
        let digits = BigInt::from(a.magnitude.magnitude().clone());
        let (top, bottom) = if decimal < 0 { (digits, power) } else { (digits * power, BigInt::from(1)) };
        let got = BigNum::parse(&text).expect("a number");
        prop_assert_eq!(value(&got, UNIT), rounded(&top, &bottom, 0, 512, UNIT), "{}", text);
    }

    #[test]
    fn lower_precisions_round_to_the_nearest(a in exact(), precision in 1_u16..512) {
        let want = rounded(&a.magnitude, &BigInt::from(1), a.scale, u64::from(precision), UNIT);
        prop_assert_eq!(value(&number(&a).with_precision(precision).with_precision(512), UNIT), want);
    }

    #[test]
    fn the_shortest_text_reads_as_the_number(a in exact()) {
        let x = number(&a);
        let text = x.to_text();
        let again = BigNum::parse(&text).expect("a number");
        // Parsing multiplies by a power of ten that is exact only in this range.
        if a.scale.abs() < 200 {
            prop_assert!(again.compare(&x).is_eq(), "{} is not {:?}", text, a);
        }
        let digits = text.trim_start_matches(['-', '0', '.']).replace('.', "");
        prop_assert!(digits.trim_end_matches('0').len() <= 156, "{}", text);
    }

    #[test]
    fn whole_numbers_keep_all_digits(a in exact()) {
        let (magnitude, scale) = (&a.magnitude, a.scale.unsigned_abs());
        let exact = Exact { magnitude: magnitude.clone(), scale: a.scale.abs() };
        prop_assert_eq!(number(&exact).whole_text(10), Some((magnitude << scale).to_string()));
        let quotient = number(&a).truncate().whole_text(16);
        let want = if a.scale < 0 { magnitude / (BigInt::from(1) << scale) } else { magnitude << scale };
        prop_assert_eq!(quotient, Some(want.to_str_radix(16)));
    }

    #[test]
    fn floats_are_the_nearest(a in exact(), float in any::<f64>()) {
        let text = format!("{}p{}", a.magnitude, a.scale.clamp(-20, 20));
        let decimal = BigNum::parse(&text).expect("a number").format(dropforge::value::Layout::Fixed, None);
        prop_assert_eq!(BigNum::parse(&text).expect("a number").to_f64(), decimal.parse().ok());
        if let Some(number) = BigNum::of_f64(float) {
            prop_assert_eq!(number.to_f64().unwrap_or(float).to_bits(), float.to_bits());
            if float.is_finite() {
                let text = number.to_text();
                prop_assert_eq!(text.parse::<f64>().ok(), Some(float));
            }
        }
    }
}
