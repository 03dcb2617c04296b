//! Tables of quantities.

use super::*;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

#[test]
fn canonical_texts() {
    for (text, canonical) in [
        ("0", "0"),
        ("-0.0", "0"),
        ("1", "1"),
        ("+1.50", "1500m"),
        ("-.5", "-500m"),
        ("1.", "1"),
        ("0.0001", "100u"),
        ("1000m", "1"),
        ("1100m", "1100m"),
        ("12000", "12k"),
        ("1500k", "1500k"),
        ("1E", "1E"),
        ("1000E", "1000E"),
        ("1234567E", "1234567E"),
        ("1e3", "1e3"),
        ("1E4", "10e3"),
        ("12e-3", "12e-3"),
        ("1e+2", "100"),
        ("1Ki", "1Ki"),
        ("1024Ki", "1Mi"),
        ("1025", "1025"),
        ("1025Ki", "1025Ki"),
        ("0.5Ki", "512"),
        ("1.5Gi", "1536Mi"),
        ("0.3Ki", "307200m"),
        ("1.1Ki", "1126400m"),
        ("0.0001Ki", "102400u"),
        // As in Kubernetes, short quantities need no digits.
        ("-", "0"),
        (".", "0"),
        ("Mi", "0"),
        ("-1.5Gi", "-1536Mi"),
        ("8Ei", "9223372036854775807"),
        ("-99Ei", "-9223372036854775807"),
        ("1Ei", "1Ei"),
        ("0.1n", "1n"),
        ("-1.1n", "-2n"),
        ("1e-99999", "1e-9"),
        ("9999999999999999999G", "9999999999999999999G"),
    ] {
        assert_eq!(quantity(text).to_string(), canonical, "{text}");
        assert_eq!(quantity(canonical).cmp_value(&quantity(text)), Ordering::Equal, "{text}");
    }
}

#[test]
fn invalid_quantities() {
    for (text, why) in [
        ("", FORM),
        ("Ei", NUMBER),
        ("Three", FORM),
        ("1,3G", FORM),
        ("1.1.M", FORM),
        ("1+1.0M", FORM),
        (" 1", FORM),
        ("1 ", FORM),
        ("1é", FORM),
        ("200K", SUFFIX),
        ("10Mo", FORM),
        ("0.1mi", SUFFIX),
        ("1i", SUFFIX),
        ("1e", SUFFIX),
        ("-3.01e-", SUFFIX),
        ("1e3Mi", FORM),
        ("1e99999999999", SUFFIX),
    ] {
        assert_eq!(Quantity::parse(text), Err(why), "{text}");
    }
    assert_eq!(Quantity::parse(&"9".repeat(MOST_DIGITS + 1)), Err(DIGITS));
    assert!(DIGITS.contains(&format!(" {MOST_DIGITS} ")));
}

#[test]
fn sums_are_exact_and_keep_the_style() {
    for (a, b, sum, difference) in [
        ("50k", "20k", "70k", "30k"),
        ("1Gi", "512Mi", "1536Mi", "512Mi"),
        ("1Gi", "1", "1073741825", "1073741823"),
        ("0", "1Ki", "1Ki", "-1Ki"),
        ("1Ki", "0", "1Ki", "1Ki"),
        ("0.1", "0.2", "300m", "-100m"),
        ("1e30", "1", "1000000000000000000000000000001", "999999999999999999999999999999"),
        ("1Ki", "100m", "1024100m", "1023900m"),
    ] {
        let (left, right) = (quantity(a), quantity(b));
        assert_eq!(left.add(&right).map(|sum| sum.to_string()).as_deref(), Ok(sum), "{a} + {b}");
        assert_eq!(left.sub(&right).map(|sum| sum.to_string()).as_deref(), Ok(difference), "{a} - {b}");
    }
    assert_eq!(quantity("0").add(&Quantity::of_int(20_000)).unwrap().to_string(), "20e3");
    assert_eq!(quantity("1e2000000000").add(&quantity("1")), Err(DIGITS));
}

#[test]
fn order_is_by_value() {
    let ordered = [
        "-1e2000000000",
        "-8Ei",
        "-1Gi",
        "-1G",
        "-1.5",
        "-1",
        "-1n",
        "0",
        "1n",
        "1m",
        "999m",
        "1",
        "50M",
        "50Mi",
        "1G",
        "1Gi",
        "1e30",
        "1e2000000000",
    ];
    for (at, a) in ordered.iter().enumerate() {
        for (other, b) in ordered.iter().enumerate() {
            assert_eq!(quantity(a).cmp_value(&quantity(b)), at.cmp(&other), "{a} {b}");
        }
    }
    assert_eq!(quantity("200M").cmp_value(&quantity("0.2G")), Ordering::Equal);
    assert_eq!(quantity("-200M").cmp_value(&quantity("-0.3G")), Ordering::Greater);
}

#[test]
fn whole_numbers_and_floats() {
    for (text, whole, float) in [
        ("50k", Some(50_000), 50_000.0),
        ("1500m", None, 1.5),
        ("-1.1", None, -1.1),
        ("0e400", Some(0), 0.0),
        ("1e400", None, f64::INFINITY),
        // Only the digits and the suffix decide, not the value.
        ("1.0", None, 1.0),
        ("0.0", None, 0.0),
        ("1.0Ki", None, 1_024.0),
        ("1.5k", Some(1_500), 1_500.0),
        ("1000m", None, 1.0),
        ("-999999999999999999", Some(-999_999_999_999_999_999), -999_999_999_999_999_999.0),
        ("0001000000000000000000", None, 1.000_000_000_000_000_1e18),
        ("9223372036854775807", None, 9_223_372_036_854_775_808.0),
        ("9E", Some(9_000_000_000_000_000_000), 9e18),
        ("10E", None, 1e19),
        ("99Ti", Some(99 << 40), 108_851_651_149_824.0),
        ("100Ti", None, 109_951_162_777_600.0),
        ("1Pi", None, 1_125_899_906_842_624.0),
        ("12345678901234567890Ti", None, 9_223_372_036_854_775_808.0),
        ("999999999999999999999Ei", None, 9_223_372_036_854_775_808.0),
    ] {
        let quantity = quantity(text);
        assert_eq!((quantity.as_int(), quantity.as_float()), (whole, float), "{text}");
        let again = Quantity::of_form(&quantity.to_string(), quantity.form()).unwrap();
        assert_eq!((&again, again.as_int()), (&quantity, whole), "{text}");
    }
}

#[test]
fn sums_are_integers_as_long_as_all_digits_fit() {
    for (a, b, whole) in [
        ("50k", "20k", Some(70_000)),
        ("1", "1.0", None),
        ("999999999999999999", "1", Some(1_000_000_000_000_000_000)),
        ("9E", "9E", None),
        ("1Pi", "0", None),
        ("0", "1Pi", None),
        ("1Ki", "100m", None),
    ] {
        let sum = quantity(a).add(&quantity(b)).unwrap();
        assert_eq!(sum.as_int(), whole, "{a} + {b}");
        assert_eq!(Quantity::of_form(&sum.to_string(), sum.form()).unwrap().as_int(), whole, "{a} + {b}");
    }
}

#[test]
fn numbers_of_many_digits_are_those_of_few() {
    for text in ["0.0", "7.0", "-1.5", "120.0", "-1200.25", "999999999999999.99", "-0.001", "1000000000000000.5"] {
        let long = format!("{text}{}", "0".repeat(30));
        for suffix in ["", "m", "k", "E", "Ki", "e3"] {
            let [short, long] = [text, &long].map(|text| quantity(&format!("{text}{suffix}")));
            assert_eq!(short.cmp_value(&long), Ordering::Equal, "{text}{suffix}");
            assert_eq!(short.to_string(), long.to_string(), "{text}{suffix}");
            assert_eq!(short.add(&long).unwrap().to_string(), long.add(&short).unwrap().to_string(), "{text}{suffix}");
            assert_eq!(short.sub(&long).unwrap().sign(), 0, "{text}{suffix}");
        }
    }
}
