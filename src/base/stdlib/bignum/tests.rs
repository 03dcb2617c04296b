use super::text::Layout;
use super::{BigNum, FULL, MACHINE};

fn number(text: &str) -> BigNum {
    BigNum::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
}

#[test]
fn texts_read_and_written_are_those_of_the_reference() {
    let rows = [
        ("0", "0"),
        ("007", "7"),
        ("1e3", "1000"),
        ("+1", "1"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1p3", "8"),
        ("-0", "-0"),
        ("0.1", "0.1"),
        ("1.50", "1.5"),
        ("-12.25e1", "-122.5"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        (
            "3.14159265358979323846264338327950288419716939937510582097494459",
            "3.14159265358979323846264338327950288419716939937510582097494459",
        ),
        ("1e-1000000000", "0"),
        ("1.5e1000000000", "+Inf"),
        ("-1.5e1000000000", "-Inf"),
        ("0e9223372036854775807", "0"),
        ("Inf", "+Inf"),
    ];
    for (text, want) in rows {
        assert_eq!(number(text).to_text(), want, "{text}");
    }
}

#[test]
fn invalid_numerals_are_none() {
    let rows = ["", "+", ".", "1e", "1e+", " 1", "1 ", "0x10", "1_0", "--1", "1.2.3", "e5", "2e5000000000", "NaN", "é"];
    for text in rows.into_iter().chain(["0e9223372036854775808", "1e9223372036854775807", "1e-9223372036854775808"]) {
        assert!(BigNum::parse(text).is_none(), "{text}");
    }
}

#[test]
fn arithmetic_rounds_as_the_reference_does() {
    let difference = number("0.3").sub(&number("0.1")).unwrap().to_text();
    assert!(difference.starts_with("0.2000") && difference.ends_with('2') && difference.len() == 157, "{difference}");
    let sum = number("0.1").add(&number("0.2")).unwrap();
    assert_eq!(sum.to_text(), "0.3");
    let third = number("1").div(&number("3")).unwrap();
    assert_eq!(third.to_text(), format!("0.{}5", "3".repeat(154)));
    assert_eq!(third.mul(&number("3")).unwrap().to_text(), "1");
    assert_eq!(number("1e400").div(&number("3e-400")).unwrap().to_text().len(), 800);
}

#[test]
fn remainders_have_the_sign_of_the_dividend() {
    let rows = [("-7", "3", "-1"), ("7", "-3", "1"), ("5", "0", "5"), ("-5", "0", "-5"), ("5", "1.5", "0.5")];
    for (a, b, want) in rows.into_iter().chain([("-9223372036854775808", "-1", "0"), ("1e300", "7", "0")]) {
        let got = number(a).rem(&number(b)).unwrap();
        if a == "1e300" {
            assert!(got.abs().compare(&number("1e200")).is_lt());
        } else {
            assert_eq!(got.to_text(), want, "{a} % {b}");
        }
    }
}

#[test]
fn operations_without_a_result_return_none() {
    let (zero, inf) = (number("0"), number("Inf"));
    assert!(zero.div(&zero).is_none());
    assert!(inf.div(&inf).is_none());
    assert!(inf.sub(&inf).is_none());
    assert!(zero.mul(&inf).is_none());
    assert!(inf.rem(&zero).is_none());
    assert_eq!(number("-5").div(&zero).unwrap().to_text(), "-Inf");
}

#[test]
fn floats_come_and_go_unchanged() {
    let rows = [0.0, 1.0, -0.1, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.5e-310, 123456.789e-200, 2f64.powi(1023)];
    for float in rows {
        assert_eq!(BigNum::of_f64(float).unwrap().to_f64(), Some(float), "{float}");
        let text = format!("{float:?}");
        assert_eq!(number(&text).to_f64(), Some(float), "{text}");
    }
    assert!(BigNum::of_f64(f64::NAN).is_none());
    assert_eq!(number("1e400").to_f64(), Some(f64::INFINITY));
    assert_eq!(number("1e-400").to_f64(), Some(0.0));
    assert_eq!(number("2.4703282292062328e-324").to_f64(), Some(5e-324));
    assert_eq!(number("2.4703282292062327e-324").to_f64(), Some(0.0));
    assert_eq!(number("9007199254740993").to_f64(), Some(9007199254740992.0));
}

#[test]
fn integers_come_and_go_unchanged() {
    for n in [0, 1, -1, 63, 64, i64::MAX, i64::MIN, 1 << 62, -(1 << 40)] {
        for precision in [FULL, MACHINE] {
            assert_eq!(BigNum::of_int(n, precision).to_i64(), Some(n));
            assert_eq!(BigNum::of_int(n, precision).to_text(), n.to_string());
        }
    }
    assert_eq!(number("18446744073709551615").to_u64(), Some(u64::MAX));
    assert_eq!(number("18446744073709551616").to_u64(), None);
    assert_eq!(number("9223372036854775808").to_i64(), None);
    assert_eq!(number("-9223372036854775808").as_plain_int(), Some(i64::MIN));
    assert_eq!(number("1.5").to_i64(), None);
    assert_eq!(number("-0").as_plain_int(), None);
}

#[test]
fn whole_numbers_beside_a_fraction() {
    let rows = [("1.5", "1", "2", "1"), ("-1.5", "-2", "-1", "-1"), ("0.2", "0", "1", "0"), ("-7", "-7", "-7", "-7")];
    for (text, floor, ceil, truncated) in rows {
        let number = number(text);
        let got = [number.floor(), number.ceil(), number.truncate()].map(|n| n.to_text());
        assert_eq!(got, [floor, ceil, truncated], "{text}");
    }
}

#[test]
fn layouts_with_and_without_a_number_of_digits() {
    let rows = [
        ("1234.5678", Layout::Fixed, Some(2), "1234.57"),
        ("0.125", Layout::Fixed, Some(2), "0.12"),
        ("0.375", Layout::Fixed, Some(2), "0.38"),
        ("0.0001", Layout::Fixed, Some(2), "0.00"),
        ("0.006", Layout::Fixed, Some(2), "0.01"),
        ("99.99", Layout::Fixed, Some(1), "100.0"),
        ("0", Layout::Fixed, Some(3), "0.000"),
        ("1234.5", Layout::Exponent, Some(1), "1.2e+03"),
        ("0", Layout::Exponent, Some(2), "0.00e+00"),
        ("0.00012", Layout::Exponent, None, "1.2e-04"),
        ("100000", Layout::General, None, "100000"),
        ("10000000", Layout::General, None, "1e+07"),
        ("0.00001", Layout::General, None, "1e-05"),
        ("3.14159", Layout::General, Some(3), "3.14"),
        ("1234567", Layout::General, Some(3), "1.23e+06"),
        ("100", Layout::General, Some(5), "100"),
        ("-Inf", Layout::General, None, "-Inf"),
    ];
    for (text, layout, digits, want) in rows {
        assert_eq!(number(text).format(layout, digits), want, "{text} {layout:?} {digits:?}");
    }
}

#[test]
fn numbers_of_two_precisions_are_the_same_where_their_texts_are() {
    let tenth = number("0.1");
    let short = tenth.with_precision(MACHINE);
    assert!(tenth.reads_as(&short) && !tenth.compare(&short).is_eq());
    assert!(number("5").reads_as(&BigNum::of_int(5, MACHINE)));
    assert!(number("-0").reads_as(&number("0")));
    assert!(!tenth.reads_as(&-tenth) && !tenth.reads_as(&number("1")));
    assert!(number("Inf").reads_as(&BigNum::of_f64(f64::INFINITY).unwrap().with_precision(FULL)));
    assert!(!BigNum::of_f64(0.1).unwrap().reads_as(&number("0.1000000000000000055511151231257827")));
    assert!(BigNum::of_f64(0.1).unwrap().reads_as(&tenth));
}

#[test]
fn whole_numbers_in_other_bases() {
    let rows =
        [("0", 2, "0"), ("10", 2, "1010"), ("-255", 16, "-ff"), ("8", 8, "10"), ("1e30", 10, "1".to_owned().leak())];
    for (text, base, want) in rows {
        let got = number(text).whole_text(base).unwrap();
        assert_eq!(got.trim_end_matches(|c| base == 10 && c == '0'), want, "{text} in {base}");
    }
    assert_eq!(number("1p600").whole_text(16).unwrap(), format!("1{}", "0".repeat(150)));
    assert_eq!(number("0.5").whole_text(2), None);
    let rows =
        [("ff", 16, "255"), ("FF", 16, "255"), ("-101", 2, "-5"), ("z", 36, "35"), ("Z", 62, "61"), ("+7", 8, "7")];
    for (text, base, want) in rows {
        let number = BigNum::parse_whole(text, base).unwrap();
        assert_eq!((number.to_text().as_str(), number.precision()), (want, MACHINE));
    }
    for (text, base) in [("", 10), ("8", 8), ("1.5", 10), ("-", 10), ("1", 63), ("é", 62)] {
        assert!(BigNum::parse_whole(text, base).is_none(), "{text} in {base}");
    }
    let long = BigNum::parse_whole(&"f".repeat(20), 16).unwrap();
    assert_eq!((long.to_text().as_str(), long.precision()), ("1208925819614629174706175", 80));
}

#[test]
fn extreme_numbers_cost_little() {
    let long = format!("1.{}", "7".repeat(1_000_000));
    assert_eq!(number(&long).to_text(), format!("1.{}8", "7".repeat(153)));
    let zeros = format!("1{}", "0".repeat(1_000_000));
    assert_eq!(number(&zeros).compare(&number("1e1000000")), std::cmp::Ordering::Equal);
    let digits = BigNum::parse_whole(&"9".repeat(1_000_000), 10).unwrap();
    assert!(digits.is_finite() && digits.text_len() > 1_000_000);
    let tiny = number("1e-100000000");
    assert!(tiny.text_len() > 100_000_000);
    assert_eq!(tiny.format(Layout::Exponent, None), "1e-100000000");
    assert_eq!(number("1e500000000").format(Layout::Exponent, None), "1e+500000000");
    assert_eq!(number("123456789e-100000000").format(Layout::General, Some(4)), "1.235e-99999992");
    assert_eq!(number("16e500000000").format(Layout::Exponent, Some(0)), "2e+500000001");
    assert_eq!(number("123456789e-5000").format(Layout::Exponent, None), "1.23456789e-4992");
}

#[test]
fn order_is_by_value() {
    let sorted = ["-Inf", "-1e50", "-2", "-1.5", "0", "1e-50", "0.1", "1", "1.5", "1e50", "Inf"].map(number);
    for (at, a) in sorted.iter().enumerate() {
        for (other, b) in sorted.iter().enumerate() {
            assert_eq!(a.compare(b), at.cmp(&other));
        }
    }
    assert!(number("-0").compare(&number("0")).is_eq());
}

#[test]
fn floats_are_the_numbers_that_their_shortest_texts_say() {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    let dyadic = (0..2_000).map(|_| random() as i64 % 1_000_000).collect::<Vec<_>>();
    let dyadic = dyadic.into_iter().enumerate().map(|(at, n)| n as f64 / f64::from(1_u32 << (at % 25)));
    let any: Vec<f64> = (0..2_000).map(|_| f64::from_bits(random() << 11 | random() & 0x7ff)).collect();
    let odd = [
        0.0,
        -0.0,
        0.1,
        0.75,
        -2.5,
        1e15,
        999_999_999_999_999.0,
        0.5_f64.powi(60),
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
    ];
    for n in dyadic.chain(any).chain(odd).filter(|n| n.is_finite()) {
        let text = zmij::Buffer::new().format(n).to_owned();
        let of = BigNum::of_shortest_text(n).unwrap();
        assert_eq!(format!("{of:?}"), format!("{:?}", number(&text)), "{text}");
    }
    assert!(BigNum::of_shortest_text(f64::NAN).is_none());
    assert_eq!(format!("{:?}", BigNum::of_shortest_text(f64::INFINITY)), format!("{:?}", BigNum::parse("inf")));
}
