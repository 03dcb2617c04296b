//! The libraries `regex` and `network`.

use super::*;

#[test]
fn replacing() {
    check(&[
        ("regex.replace", json!(["abc", "^", "start_"]), json!("start_abc")),
        ("regex.replace", json!(["a-b", r"\b", "|"]), json!("|a|-|b|")),
        ("regex.replace", json!(["foo", "foo", r"\\"]), json!(r"\")),
        ("regex.replace", json!(["abab", "(a)(x)?", r"<\0\1\2>"]), json!("<aa>b<aa>b")),
        ("regex.replace", json!(["baaac", "a*", "-"]), json!("-b-c-")),
        ("regex.replace", json!(["aaa", "a", "x", 0]), json!("aaa")),
        ("regex.replace", json!(["aaa", "a", "x", -7]), json!("xxx")),
        ("regex.replace", json!(["aaa", "(", "x", 0]), json!("aaa")),
        ("regex.replace", json!(["aaa", "b", r"\9"]), json!("aaa")),
        (
            "regex.replace",
            json!(["☃", "☃", r"\é"]),
            json!("E0403 invalid replacement string: '\\é' \\ must be followed"),
        ),
        (
            "regex.replace",
            json!(["a", "a", "x\\"]),
            json!("E0403 invalid replacement string: 'x\\' \\ not allowed at end"),
        ),
        (
            "regex.replace",
            json!(["a", "(.)", r"\2"]),
            json!("E0403 replacement string references group 2 but regex has only 1 group(s)"),
        ),
        ("regex.replace", json!(["a", "a**", "x"]), json!("E0403 `a**` is not a regular expression")),
    ]);
}

#[test]
fn extracting() {
    check(&[
        ("regex.extract", json!(["hello world", "hello(.*)"]), json!({"some": " world"})),
        ("regex.extract", json!(["4122345432", "22"]), json!({"some": "22"})),
        ("regex.extract", json!(["HELLO", "hello"]), json!("none")),
        ("regex.extract", json!(["ac", "a(b)?c"]), json!("none")),
        ("regex.extract", json!(["abc", ""]), json!({"some": ""})),
        (
            "regex.extract",
            json!(["a", "(?:a)(a)(b)"]),
            json!("E0403 regular expression has more than one capturing group"),
        ),
        ("regex.extractAll", json!(["val=a, val=, val=c", "val=([^,]*)"]), json!(["a", "c"])),
        ("regex.extractAll", json!(["ab", "x*"]), json!(["", "", ""])),
        ("regex.extractAll", json!(["", "x"]), json!([])),
        ("regex.extractAll", json!(["٣3", r"\d"]), json!(["3"])),
        ("regex.extractAll", json!(["a", "[a-z"]), json!("E0403 `[a-z` is not a regular expression")),
    ]);
}

#[test]
fn addresses() {
    check(&[
        ("ip", json!(["2001:DB8::68"]), json!("net.IP:2001:db8::68")),
        ("ip", json!(["2001:db8:::68"]), json!("E0403 IP Address \"2001:db8:::68\" parse error during conversion")),
        (
            "ip",
            json!(["::ffff:192.168.0.1"]),
            json!("E0403 IPv4-mapped IPv6 address \"::ffff:192.168.0.1\" is not allowed"),
        ),
        ("ip", json!(["fe80::1%en0"]), json!("E0403 IP address \"fe80::1%en0\" with zone value is not allowed")),
        ("ip", json!(["a".repeat(100_000)]), json!("E0403 IP Address \"aaa")),
        (".ip", json!(["net.CIDR:192.168.0.1/24"]), json!("net.IP:192.168.0.1")),
        ("isIP", json!(["net.CIDR:192.168.0.1/24"]), json!("E0403 no such overload: isIP(net.CIDR)")),
        ("isIP", json!(["::ffff:1.2.3.4"]), json!(false)),
        ("ip", json!(["::FFFF:c0a8:1"]), json!("net.IP:::ffff:192.168.0.1")),
        ("_==_", json!(["net.IP:::ffff:c0a8:1", "net.IP:192.168.0.1"]), json!(false)),
        (".family", json!(["net.IP:::1"]), json!(6)),
        ("ip.isCanonical", json!(["2001:db8:0:0::1"]), json!(false)),
        (".isGlobalUnicast", json!(["net.IP:255.255.255.255"]), json!(false)),
        (".isLinkLocalMulticast", json!(["net.IP:ff02::1"]), json!(true)),
        (".isLinkLocalUnicast", json!(["net.IP:fd80::1"]), json!(false)),
        ("string", json!(["net.IP:::1"]), json!("::1")),
        ("type", json!(["net.IP:::1"]), json!("type:net.IP")),
        ("_==_", json!(["net.IP:::1", "net.IP:::1"]), json!(true)),
        ("_==_", json!(["net.IP:::1", "::1"]), json!(false)),
    ]);
}

#[test]
fn blocks() {
    check(&[
        (
            "cidr",
            json!(["192.168.0.0/"]),
            json!("E0403 network address \"192.168.0.0/\" parse error during conversion"),
        ),
        ("cidr", json!(["::ffff:192.168.0.1/24"]), json!("E0403 IPv4-mapped")),
        ("isCIDR", json!(["10.0.0.0/08"]), json!(false)),
        (".containsIP", json!(["net.CIDR:10.0.0.0/8", "net.IP:10.255.255.255"]), json!(true)),
        (".containsIP", json!(["net.CIDR:10.0.0.0/8", "11.0.0.0"]), json!(false)),
        (".containsIP", json!(["net.CIDR:10.0.0.0/8", "x"]), json!("E0403 IP Address \"x\"")),
        (".containsCIDR", json!(["net.CIDR:10.0.0.0/8", "10.0.0.0/7"]), json!(false)),
        (".containsCIDR", json!(["net.CIDR:10.0.0.0/8", "net.CIDR:10.9.9.9/9"]), json!(true)),
        (".prefixLength", json!(["net.CIDR:::/0"]), json!(0)),
        (".masked", json!(["net.CIDR:192.168.0.1/24"]), json!("net.CIDR:192.168.0.0/24")),
        (".isMask", json!(["net.CIDR:2001:db8::1/32"]), json!(false)),
        ("string", json!(["net.CIDR:192.168.0.1/24"]), json!("192.168.0.1/24")),
    ]);
}

/// Patterns that look at all that is left for each match end by the limit of steps.
#[test]
fn searches_are_bounded() {
    let (text, limits) = ("A".repeat(1 << 17), Limits { fuel: 300_000, ..Limits::default() });
    let got = with_cx(&limits, |cx| called(cx, "regex.extractAll", &[json!(text), json!(".*[^A-Z]|[A-Z]")]));
    assert!(matches!(&got, Err(error) if error.starts_with("E0603")));
    let small = Limits { memory: 24 << 20, ..Limits::default() };
    let replaced = json!([text, "A", r"\0".repeat(1000)]);
    let got = with_cx(&small, |cx| called(cx, "regex.replace", replaced.as_array().unwrap()));
    assert!(matches!(&got, Err(error) if error.starts_with("E0604")));
}
