//! The edges of types, and what is large, deep or much work.

use super::*;

/// Results that grow too large are refused before they are made: the calls end at once, by the limit.
#[test]
fn growth_is_bounded() {
    let big = "a".repeat(1 << 20);
    let small = Limits { memory: 24 << 20, ..Limits::default() };
    let list: Vec<_> = std::iter::repeat_n(json!("a"), 40).collect();
    let bytes = format!("b:{}", encodings::base64(big.as_bytes()));
    let (many, mixed) = (vec![&big; 14], [vec![&big; 5], vec![&bytes; 5]].concat());
    for (name, given) in [
        (".replace", json!([big, "a", "a".repeat(1000)])),
        (".replace", json!([big, "", "a".repeat(1000)])),
        (".split", json!([big, ""])),
        (".split", json!([big, "a"])),
        (".join", json!([list, big])),
        (".format", json!(["%s".repeat(14), many])),
        (".format", json!(["%x".repeat(10), mixed])),
        ("lists.range", json!([1 << 24])),
    ] {
        let got = with_cx(&small, |cx| called(cx, name, given.as_array().unwrap()));
        assert!(matches!(&got, Err(error) if error.starts_with("E0604")), "{name}: {:?}", got.map(|_| "an answer"));
    }
}

/// Comparisons that there are many of end by the limit of steps.
#[test]
fn work_is_bounded() {
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    let numbers = |from: i64| (from..from + 1000).collect::<Vec<_>>();
    for (name, given) in [
        (".distinct", json!([numbers(0)])),
        ("sets.contains", json!([numbers(0), numbers(500)])),
        ("sets.equivalent", json!([numbers(0), numbers(500)])),
        ("sets.intersects", json!([numbers(0), numbers(5000)])),
    ] {
        let got = with_cx(&limits, |cx| called(cx, name, given.as_array().unwrap()));
        assert!(matches!(&got, Err(error) if error.starts_with("E0603")), "{name}");
    }
}

/// Values at the edges of a type.
fn extremes<'v>(cx: &Cx<'v>, ty: &Ty) -> Vec<Value<'v>> {
    let all = |given: Json| given.as_array().unwrap().iter().map(|given| value(cx, given)).collect();
    match ty {
        Ty::Int => all(json!([0, -1, 1, 63, 64, 65_536, i32::MIN, u32::MAX, 1_i64 << 32, i64::MIN, i64::MAX])),
        Ty::Uint => all(json!(["u:0", "u:1", "u:4294967296", "u:18446744073709551615"])),
        Ty::Double => all(json!([0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, "f:NaN", "f:inf", "f:-inf", 9.3e18])),
        Ty::String => all(json!([
            "",
            "é",
            "a\u{0}b",
            "%s%d%.3f%",
            "+23:59",
            "-00:00",
            ":",
            "(?i)x*",
            "a,b",
            "9999999999999999999"
        ])),
        Ty::Bytes => all(json!(["b:", "b:/w==", "b:AAECAwQ="])),
        Ty::Timestamp => all(json!(["t:0001-01-01T00:00:00Z", "t:9999-12-31T23:59:59.999999999Z"])),
        Ty::Duration => all(json!(["d:-9223372036854775808ns", "d:9223372036854775807ns", "d:0s"])),
        Ty::List(_) => {
            all(json!([[], [null], [1, "a", 2.5], [[[]], {}], ["f:NaN", 1.0], ["", "é"], ["none", {"some": 1}]]))
        }
        Ty::Map(..) => all(json!([{}, {"": null}, {"entries": [[true, 1], [1, "a"], ["u:7", []]]}])),
        Ty::Optional(_) => {
            all(json!(["none", {"some": null}, {"some": {"some": []}}, {"some": [1]}, {"some": {"": 0}}]))
        }
        Ty::Dyn | Ty::Param(_) => {
            all(json!([null, i64::MIN, "f:NaN", "é", [], {"entries": [[-1, 0]]}, "none", "type:type"]))
        }
        ty => vec![sample(cx, ty)],
    }
}

/// No combination of values that an overload takes, each at the edge of its type, does more than answer or fail.
#[test]
fn every_overload_takes_the_edges_of_its_types() {
    let limits = Limits { fuel: 1 << 20, memory: 1 << 20, ..Limits::default() };
    let mut calls = 0;
    for (name, overload) in overloads() {
        let arguments = with_cx(&Limits::default(), |cx| {
            overload.params.iter().map(|ty| extremes(cx, ty).len()).collect::<Vec<_>>()
        });
        for chosen in combinations(&arguments) {
            with_cx(&limits, |cx| {
                let choose = |(ty, at): (&Ty, &usize)| extremes(cx, ty)[*at];
                let given: Vec<_> = overload.params.iter().zip(&chosen).map(choose).collect();
                match (overload.body)(cx, &given) {
                    Ok(answer) => drop(written(answer)),
                    Err(error) => assert!(!error.message.is_empty(), "{name} {chosen:?}"),
                }
                calls += 1;
            });
        }
    }
    assert!(calls > 3000, "{calls}");
}

/// Each way to choose one of so many in each place.
fn combinations(counts: &[usize]) -> Vec<Vec<usize>> {
    counts.iter().fold(vec![Vec::new()], |chosen, count| {
        let further = |chosen: Vec<usize>| (0..*count).map(move |at| [chosen.as_slice(), &[at]].concat());
        chosen.into_iter().flat_map(further).collect()
    })
}

/// Looking through a text or bytes is paid for by their length, whatever becomes of it.
#[test]
fn looking_through_a_text_takes_steps() {
    let text = "9".repeat(1 << 20);
    let bytes = format!("b:{}", encodings::base64(text.as_bytes()));
    let registry = registry();
    for (name, given) in [
        ("int", json!([text])),
        ("double", json!([text])),
        ("duration", json!([text])),
        ("string", json!([bytes])),
        ("size", json!([text])),
        ("_==_", json!([text, text])),
        ("_==_", json!([bytes, bytes])),
        ("_<_", json!([bytes, bytes])),
        (".contains", json!([text, "1"])),
        (".charAt", json!([text, 1])),
        (".indexOf", json!([text, "1"])),
        (".matches", json!([text, "1"])),
        (".trim", json!([text])),
        (".sort", json!([[bytes, "b:"]])),
    ] {
        with_cx(&Limits::default(), |cx| {
            let given: Vec<_> = given.as_array().unwrap().iter().map(|given| value(cx, given)).collect();
            let (member, name) = name.strip_prefix('.').map_or((false, name), |name| (true, name));
            let before = cx.fuel();
            let _ = call(cx, registry.get(ImportKind::Function, name).unwrap(), member, &given);
            assert!(before - cx.fuel() >= (1 << 20) / 64, "{name}: {}", before - cx.fuel());
        });
    }
}

/// Values are as deep as the limit and not deeper, so that what walks over them does not run out of stack.
#[test]
fn depth_is_bounded() {
    with_cx(&Limits::default(), |cx| {
        let (mut list, mut held) = (Value::Null, Value::Null);
        while let Ok(deeper) = cx.list(&[list]) {
            list = deeper;
        }
        while let Ok(deeper) = optional_of(cx, held) {
            held = deeper;
        }
        assert_eq!((list.depth(), held.depth()), (128, 128));
        let mut map = Value::Null;
        while let Ok(deeper) = access::map(cx, &[Value::Int(1)], &[map]) {
            map = deeper;
        }
        assert_eq!(map.depth(), 128);
        let registry = registry();
        for value in [list, held, map] {
            let equals = registry.get(ImportKind::Function, "_==_").unwrap();
            assert!(matches!(call(cx, equals, false, &[value, value]), Ok(Value::Bool(true))));
        }
        let flatten = registry.get(ImportKind::Function, "flatten").unwrap();
        assert!(call(cx, flatten, true, &[list, Value::Int(i64::MAX)]).is_ok());
    });
}
