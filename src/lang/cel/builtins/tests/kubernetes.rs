//! The libraries of Kubernetes.

use super::*;

#[test]
fn quantities() {
    let quantity = |text: &str| json!(format!("kubernetes.Quantity:{text}"));
    check(&[
        ("quantity", json!(["1.5Gi"]), quantity("1536Mi")),
        ("quantity", json!(["200K"]), json!("E0403 unable to parse quantity's suffix")),
        ("quantity", json!(["Mo"]), json!("E0403 quantities must match the regular expression")),
        ("quantity", json!(["Ei"]), json!("E0403 unable to parse numeric part of quantity")),
        ("quantity", json!(["9".repeat(5000)]), json!("E0403 the quantity has more than 4096 digits")),
        ("isQuantity", json!(["10000k"]), json!(true)),
        ("isQuantity", json!(["Three"]), json!(false)),
        (".add", json!([quantity("50k"), 20]), quantity("50020")),
        (".add", json!([quantity("0"), 20_000]), quantity("20e3")),
        (".add", json!([quantity("1"), 1.5]), json!("E0403 no such overload: kubernetes.Quantity.add(double)")),
        (
            ".add",
            json!([quantity("1e2000000000"), quantity("1")]),
            json!("E0403 the quantity has more than 4096 digits"),
        ),
        (".sub", json!([quantity("50020"), quantity("100k")]), quantity("-49980")),
        (".sign", json!([quantity("-1n")]), json!(-1)),
        ("sign", json!([quantity("0")]), json!(0)),
        (".isLessThan", json!([quantity("50M"), quantity("50Mi")]), json!(true)),
        (".isGreaterThan", json!([quantity("50Mi"), quantity("100Mi")]), json!(false)),
        (".compareTo", json!([quantity("200M"), quantity("0.2G")]), json!(0)),
        (".compareTo", json!([quantity("1"), "kubernetes.Semver:1.0.0"]), json!("E0403 no such overload")),
        (".asInteger", json!([quantity("50k")]), json!(50_000)),
        (
            ".asInteger",
            json!([quantity("9999999999999999999999999999999999999G")]),
            json!("E0403 cannot convert value to integer"),
        ),
        (".isInteger", json!([quantity("9999999999999999999999999999999999999G")]), json!(false)),
        (".asApproximateFloat", json!([quantity("-1500m")]), json!(-1.5)),
        ("_==_", json!([quantity("1Ki"), quantity("1024")]), json!(true)),
        ("_!=_", json!([quantity("1Ki"), quantity("1k")]), json!(true)),
        ("string", json!([quantity("1Ki")]), json!("1Ki")),
    ]);
}

#[test]
fn versions() {
    let semver = |text: &str| json!(format!("kubernetes.Semver:{text}"));
    check(&[
        ("semver", json!(["0.1.0-alpha.1+b"]), semver("0.1.0-alpha.1+b")),
        ("semver", json!(["v1", true]), semver("1.0.0")),
        ("semver", json!(["v1", false]), json!("E0403 No Major.Minor.Patch elements found")),
        ("isSemver", json!(["01.01.01", true]), json!(true)),
        ("isSemver", json!(["hello"]), json!(false)),
        (".minor", json!([semver("1.2.3")]), json!(2)),
        (".major", json!([semver("18446744073709551615.0.0")]), json!("E0302 integer overflow")),
        (".isLessThan", json!([semver("1.0.0-rc.2"), semver("1.0.0-rc.10")]), json!(true)),
        (".compareTo", json!([semver("1.2.3"), semver("0.1.2")]), json!(1)),
        ("_==_", json!([semver("1.0.0+a"), semver("1.0.0+b")]), json!(true)),
        ("_==_", json!([semver("1.0.0"), semver("1.0.1")]), json!(false)),
    ]);
}

#[test]
fn urls() {
    let url = json!("kubernetes.URL:https://user@[::1]:80/a%20b?k=1&k=2&x#f");
    check(&[
        ("url", json!(["HTTPS://Example.com/a b"]), json!("kubernetes.URL:https://Example.com/a%20b")),
        ("url", json!(["../a"]), json!("E0403 URL parse error during conversion from string: invalid URI for request")),
        ("isURL", json!(["https://a:b:c/"]), json!(false)),
        (".getScheme", json!([url]), json!("https")),
        (".getHost", json!([url]), json!("[::1]:80")),
        (".getHostname", json!([url]), json!("::1")),
        (".getPort", json!([url]), json!("80")),
        (".getEscapedPath", json!([url]), json!("/a%20b")),
        (".getQuery", json!([url]), json!({"k": ["1", "2"], "x": [""]})),
    ]);
}

#[test]
fn searching_and_lists() {
    check(&[
        (".find", json!(["abc 123", "[0-9]+"]), json!("123")),
        (".find", json!(["abc", "["]), json!("E0403 `[` is not a regular expression")),
        (".findAll", json!(["1 a 2", "[0-9]", -1]), json!(["1", "2"])),
        (".findAll", json!(["1 a 2", "[0-9]", 0]), json!([])),
        (".isSorted", json!([["d:1s", "d:1m"]]), json!(true)),
        (".isSorted", json!([[1, "a"]]), json!("E0403 no such overload")),
        (".isSorted", json!([[null]]), json!("E0403 no such overload")),
        (".sum", json!([["u:1", "u:18446744073709551615"]]), json!("E0302 unsigned integer overflow")),
        (".sum", json!([["d:1m", "d:1s"]]), json!("d:61s")),
        (".sum", json!([["a"]]), json!("E0301 no such overload")),
        (".min", json!([["t:2020-01-01T00:00:00Z", "t:2019-01-01T00:00:00Z"]]), json!("t:2019-01-01T00:00:00Z")),
        (".max", json!([["f:NaN", 1.0]]), json!("f:NaN")),
        (".max", json!([[]]), json!("E0403 max called on empty list")),
        (".max", json!([["b:aQ==", "b:ag=="]]), json!("b:ag==")),
        (".indexOf", json!([[1, [2], "u:1"], "u:1"]), json!(0)),
        (".indexOf", json!(["abc", "c"]), json!(2)),
        (".lastIndexOf", json!([[1, [2], "u:1"], 1]), json!(2)),
        (".lastIndexOf", json!([[], null]), json!(-1)),
        (".includes", json!([[[1]], [1]]), json!(true)),
        (".includes", json!([{"a": 1}, "a"]), json!(false)),
    ]);
}

#[test]
fn formats_and_patches() {
    check(&[
        ("format.named", json!(["uuid"]), json!({"some": "kubernetes.NamedFormat:uuid"})),
        ("format.named", json!(["DNS1123Label"]), json!("none")),
        ("format.byte", json!([]), json!("kubernetes.NamedFormat:byte")),
        (".validate", json!(["kubernetes.NamedFormat:byte", "aGVsbG8="]), json!("none")),
        (".validate", json!(["kubernetes.NamedFormat:byte", "?"]), json!({"some": ["invalid base64"]})),
        (".validate", json!(["kubernetes.NamedFormat:x", "?"]), json!("E0403 there is no such format")),
        ("jsonpatch.escapeKey", json!(["k8s.io/my~label~1"]), json!("k8s.io~1my~0label~01")),
    ]);
}
