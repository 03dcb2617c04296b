use super::*;
use crate::builtins::tests::with_cx;
use dropforge_value::BigNum;

fn formatted_as(cx: &Cx<'_>, format: &str, number: &str) -> String {
    let value = cx.arena().number(BigNum::parse(number).unwrap());
    formatted(cx, format, &[value]).unwrap_or_else(|fault| format!("{fault:?}"))
}

#[test]
fn numbers_with_flags_widths_and_precisions() {
    with_cx(|cx| {
        for (format, number, wanted) in [
            ("%+d|", "10", "+10|"),
            ("% d|", "-10", "-10|"),
            ("%05d|", "-7", "-0007|"),
            ("%-5d|", "7", "7    |"),
            ("%-05d|", "7", "7    |"),
            ("%.3d|", "7", "007|"),
            ("%5.3d|", "7", "  007|"),
            ("%.0d|", "0", "|"),
            ("%#x|", "255", "0xff|"),
            ("%#X|", "255", "0XFF|"),
            ("%#o|", "8", "010|"),
            ("%#b|", "5", "0b101|"),
            ("%x|", "-255", "-ff|"),
            ("%08.2f|", "-3.14159", "-0003.14|"),
            ("%8.2f|", "3.14159", "    3.14|"),
            ("%e|", "123456", "1.234560e+05|"),
            ("%.2E|", "0.00012", "1.20E-04|"),
            ("%g|", "1000000", "1e+06|"),
            ("%v|", "0.1", "0.1|"),
            ("%.3g|", "1234.5", "1.23e+03|"),
            ("%-8.1f|", "2", "2.0     |"),
            ("%d", "1e20", "100000000000000000000"),
        ] {
            assert_eq!(formatted_as(cx, format, number), wanted, "{format} {number}");
        }
    });
}

#[test]
fn wrong_formats_are_refused_and_large_ones_reach_a_limit() {
    with_cx(|cx| {
        for format in ["%", "%5", "%.d", "%[0]d", "%[1d", "%☠", "%z", "%[2]d", "%d %d", "no verb", "%5 d"] {
            let fault = formatted(cx, format, &[Value::Int(1)]);
            assert!(matches!(fault, Err(Fault::Wrong(_))), "{format}: {fault:?}");
        }
        for format in [
            "%1000000000s",
            "%1000000000d",
            "%.1000000000d",
            "%.1000000000f",
            "%99999999999999999999v",
            "%.1000000000e",
        ] {
            let fault = formatted(cx, format, &[Value::Int(1)]);
            assert!(matches!(fault, Err(Fault::Limit(_))), "{format}: {fault:?}");
        }
    });
}
