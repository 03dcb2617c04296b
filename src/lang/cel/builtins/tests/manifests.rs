//! Functions for manifests.

use super::*;

#[test]
fn maps() {
    check(&[
        (".merge", json!([{"a": 1, "b": {"x": 1}}, {"b": {"y": 2}, "c": 3}]), json!({"a": 1, "b": {"y": 2}, "c": 3})),
        (
            ".merge",
            json!([{"entries": [[1, "a"], ["x", 0]]}, {"entries": [["u:1", "b"], [true, 1]]}]),
            json!({"entries": [[1, "b"], ["x", 0], [true, 1]]}),
        ),
        (".merge", json!([{}, {}]), json!({})),
        (".merge", json!([{}, [1]]), json!("E0403 no such overload: map.merge(list)")),
        (
            ".deepMerge",
            json!([{"a": {"x": {"p": 1}, "y": [1]}, "b": 1}, {"a": {"x": {"q": 2}, "y": [2]}, "b": {"z": 1}}]),
            json!({"a": {"x": {"p": 1, "q": 2}, "y": [2]}, "b": {"z": 1}}),
        ),
        (".deepMerge", json!([1, {}]), json!("E0403 no such overload: int.deepMerge(map)")),
    ]);
}

/// A key of both maps keeps its position in the first.
#[test]
fn the_order_of_merged_maps() {
    with_cx(&Limits::default(), |cx| {
        let map = |keys: &str| {
            let entries: Vec<_> =
                keys.chars().map(|key| (cx.arena().copy_str(&key.to_string()), Value::Null)).collect();
            cx.map(&entries).unwrap()
        };
        let registry = registry();
        let merge = registry.get(ImportKind::Function, "merge").unwrap();
        let merged = call(cx, merge, true, &[map("cab"), map("dac")]).unwrap();
        let keys: String = merged.as_map().unwrap().iter().map(|(key, _)| key).collect();
        assert_eq!(keys, "cabd");
    });
}

#[test]
fn documents_in_texts() {
    let nested = |depth: usize| json!(["[".repeat(depth) + &"]".repeat(depth)]);
    check(&[
        (
            "json.marshal",
            json!([{"b": [1, "u:2", 1.5, null, true], "a": "x\"é"}]),
            json!(r#"{"a":"x\"é","b":[1,2,1.5,null,true]}"#),
        ),
        ("json.marshal", json!(["b:aGk="]), json!("\"aGk=\"")),
        (
            "json.marshal",
            json!([{"v": "<a&b>\u{2028}", "n": 1.0, "m": 1e21, "s": 1e-7}]),
            json!(r#"{"m":1e+21,"n":1,"s":1e-7,"v":"\u003ca\u0026b\u003e\u2028"}"#),
        ),
        ("json.marshal", json!(["d:90s"]), json!("\"90s\"")),
        ("json.marshal", json!([{"entries": [[1, "a"], [true, "b"]]}]), json!(r#"{"1":"a","true":"b"}"#)),
        (
            "json.unmarshal",
            json!([r#" {"a": [1, -1, 1.0, 1e2, null, false, "é\n"], "a b": {}} "#]),
            json!({"a": [1, -1, 1.0, 100.0, null, false, "é\n"], "a b": {}}),
        ),
        ("json.unmarshal", json!(["18446744073709551615"]), json!("u:18446744073709551615")),
        ("json.unmarshal", json!([r#"{"a": 1, "a": 2}"#]), json!({"a": 2})),
        ("json.unmarshal", json!([""]), json!("E0403 json.unmarshal failed to parse JSON: EOF")),
        ("json.unmarshal", json!(["1 2"]), json!("E0403 json.unmarshal failed to parse JSON: trailing")),
        ("json.unmarshal", json!(["{\"a\": NaN}"]), json!("E0403 json.unmarshal failed to parse JSON")),
        ("json.unmarshal", nested(100_000), json!("E0403 json.unmarshal failed to parse JSON: recursion")),
    ]);
    let small = Limits { value_depth: 3, memory: 10_000, ..Limits::default() };
    for (given, code) in [(nested(4), "E0602"), (json!([format!("[{}1]", "1,".repeat(1000))]), "E0604")] {
        let got = with_cx(&small, |cx| {
            let text = cx.arena().text(given[0].as_str().unwrap());
            let registry = registry();
            call(cx, registry.get(ImportKind::Function, "json.unmarshal").unwrap(), false, &[text]).map(written)
        });
        assert_eq!(got.unwrap_err().code.id(), code);
    }
}

#[test]
fn hashes_and_seeds() {
    check(&[
        ("hash.fnv64a", json!(["hello"]), json!("b:pDDYRoCqvQs=")),
        ("hash.md5", json!([""]), json!("b:1B2M2Y8AsgTpgAmY7PhCfg==")),
        ("hash.sha256", json!(["hello world"]), json!("b:uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=")),
        ("random.seededString", json!([0, "a"]), json!("E0403 random.seededString length must be positive")),
        ("random.seededString", json!([i64::MAX, "a"]), json!("E0604")),
        ("random.seededInt", json!([5, 6, "a"]), json!(5)),
        ("random.seededInt", json!([6, 5, "a"]), json!("E0403 random.seededInt min must be less than max")),
        // The first eight bytes of the hash of "abc" are ba7816bf8f01cfea.
        (
            "random.seededInt",
            json!([0, i64::MAX, "abc"]),
            json!((0xba78_16bf_8f01_cfea_u64 % (i64::MAX as u64)) as i64),
        ),
        (
            "random.seededInt",
            json!([i64::MIN, i64::MAX, "abc"]),
            json!(i64::MIN.wrapping_add_unsigned(0xba78_16bf_8f01_cfea)),
        ),
        // Each four bytes of the hash say a letter: ba7816bf 8f01cfea 414140de …
        (
            "random.seededString",
            json!([3, "abc"]),
            json!(
                [0xba78_16bf_u32, 0x8f01_cfea, 0x4141_40de]
                    .map(|n| char::from_digit(n % 36, 36).unwrap())
                    .iter()
                    .collect::<String>()
            ),
        ),
    ]);
    let got = with_cx(&Limits::default(), |cx| called(cx, "random.seededString", &[json!(20), json!("seed")])).unwrap();
    let text = got.as_str().unwrap();
    assert!(text.len() == 20 && text[..8] == text[8..16] && text[..4] == text[16..], "{text}");
}

#[test]
fn lists() {
    check(&[
        ("lists.setAtIndex", json!([[1, 2, 3], 1, 99]), json!([1, 99, 3])),
        ("lists.setAtIndex", json!([[1], 1, 9]), json!("E0403 lists.setAtIndex: index 1 out of bounds [0, 1)")),
        ("lists.setAtIndex", json!([[1], -1, 9]), json!("E0403 lists.setAtIndex: index -1 out of bounds [0, 1)")),
        ("lists.insertAtIndex", json!([[1, 2], 2, 9]), json!([1, 2, 9])),
        ("lists.insertAtIndex", json!([[], 0, 9]), json!([9])),
        ("lists.insertAtIndex", json!([[1], 2, 9]), json!("E0403 lists.insertAtIndex: index 2 out of bounds [0, 1]")),
        ("lists.removeAtIndex", json!([[1, 2, 3], 0]), json!([2, 3])),
        ("lists.removeAtIndex", json!([[], 0]), json!("E0403 lists.removeAtIndex: index 0 out of bounds [0, 0)")),
        ("range", json!([0]), json!([])),
        ("range", json!([-1]), json!([])),
        ("range", json!([2, 5]), json!([2, 3, 4])),
        ("range", json!([5, 2]), json!([])),
        ("range", json!([0, 7, 3]), json!([0, 3, 6])),
        ("range", json!([0, 6, 3]), json!([0, 3])),
        ("range", json!([5, 0, -2]), json!([5, 3, 1])),
        ("range", json!([0, 5, -1]), json!([])),
        ("range", json!([i64::MIN, i64::MAX, i64::MAX]), json!([i64::MIN, -1, i64::MAX - 1])),
        ("range", json!([i64::MAX - 1, i64::MAX]), json!([i64::MAX - 1])),
        ("range", json!([1, 1, 0]), json!("E0403 range: the step must not be 0")),
        ("range", json!([1_000_000_000]), json!("E0604")),
        ("range", json!([i64::MIN, i64::MAX]), json!("E0604")),
    ]);
}

#[test]
fn places_left_out() {
    check(&[
        ("omit", json!([]), json!("omit:")),
        ("type", json!(["omit:"]), json!("type:omit")),
        ("string", json!(["omit:"]), json!("E0403 no such overload: string(omit)")),
    ]);
    with_cx(&Limits::default(), |cx| {
        assert!(values::is_omit(value(cx, &json!("omit:"))));
        assert!(!values::is_omit(value(cx, &json!("none"))) && !values::is_omit(Value::Null));
    });
}
