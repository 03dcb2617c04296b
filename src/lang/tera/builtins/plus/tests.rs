//! Calls builtins beyond Tera directly, to test their costs, results and errors.

use serde_json::{Value as Json, json};

use crate::builtins::tests::call;
use dropforge_base::diagnostics::Code;
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::ImportKind::Filter;

fn filter(name: &str, args: &[(&str, Json)]) -> Result<Json, Code> {
    call(&Limits::default(), Filter, name, args).map_err(|error| error.code)
}

#[test]
fn whatever_can_grow_is_refused_before_it_grows() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let half = "\u{1}".repeat(1 << 19);
    let lines = "\n".repeat(1 << 10);
    let deep = (0..50).fold(json!("x".repeat(1 << 14)), |below, _| json!([below]));
    let many = json!(vec![json!({"a": half.get(..1 << 10)}); 1 << 10]);
    let map = |prefix: &str| {
        json!((0..1 << 13).map(|n| (format!("{prefix}{n}"), json!(n))).collect::<serde_json::Map<_, _>>())
    };
    let cases: &[(&str, &[(&str, Json)])] = &[
        ("quote", &[("value", json!(half))]),
        ("squote", &[("value", json!("'".repeat(1 << 20)))]),
        ("nindent", &[("value", json!(lines)), ("n", json!(1 << 20))]),
        ("nindent", &[("value", json!("a")), ("n", json!(u64::MAX))]),
        ("to_yaml", &[("value", many.clone())]),
        ("to_yaml", &[("value", json!([1, 2])), ("indent", json!(1_u64 << 40))]),
        ("to_yaml", &[("value", json!([1, 2])), ("indent", json!(u64::MAX))]),
        ("to_yaml", &[("value", json!(vec!["a\nb"; 1 << 10])), ("indent", json!(1 << 10))]),
        ("to_json", &[("value", many)]),
        ("from_json", &[("value", json!(format!("[{}1]", "1,".repeat(1 << 19))))]),
        (
            "from_json",
            &[(
                "value",
                json!(format!("{{{}\"z\":1}}", (0..1 << 16).map(|n| format!("\"{n}\":1,")).collect::<String>())),
            )],
        ),
        ("b64encode", &[("value", json!("x".repeat(1 << 20)))]),
        ("b64decode", &[("value", json!("QUFB".repeat(1 << 19)))]),
        ("merge", &[("value", map("a")), ("with", map("b"))]),
        ("merge_deep", &[("value", json!({"m": map("a")})), ("with", json!({"m": map("b")}))]),
        ("semver_compare", &[("value", json!(format!("1.2.3-{}0", "0.".repeat(1 << 19)))), ("constraint", json!("1"))]),
        ("from_yaml", &[("value", json!(format!("[{}1]", "1,".repeat(1 << 17))))]),
        ("from_yaml", &[("value", json!("x".repeat(1 << 18)))]),
        (
            "regex_replace",
            &[("value", json!("a".repeat(1 << 12))), ("pattern", json!("a")), ("to", json!("x".repeat(1 << 12)))],
        ),
    ];
    for (name, args) in cases {
        assert_eq!(call(&limits, Filter, name, args).map_err(|error| error.code), Err(Code::LimitMemory), "{name}");
    }
    assert!(call(&limits, Filter, "to_yaml", &[("value", deep)]).is_ok());
}

#[test]
fn work_costs_steps() {
    let limits = Limits { fuel: 1_000, ..Limits::default() };
    let long = json!("a".repeat(1 << 18));
    let cases: &[(&str, &[(&str, Json)])] = &[
        ("squote", &[("value", long.clone())]),
        ("nindent", &[("value", long.clone()), ("n", json!(0))]),
        ("trunc", &[("value", long.clone()), ("length", json!(-1))]),
        ("dns_label", &[("value", long.clone())]),
        ("from_json", &[("value", long.clone())]),
        ("coalesce", &[("value", json!(0)), ("with", json!(vec![0; 2_000]))]),
        ("ip_in", &[("value", json!("1.2.3.4")), ("cidr", json!(vec!["5.0.0.0/8"; 2_000]))]),
        ("semver_compare", &[("value", json!("1.2.3-a.b.c.d.e.f.g.h")), ("constraint", json!("1,".repeat(1 << 14)))]),
        ("sha256", &[("value", long.clone())]),
        ("regex_match", &[("value", long.clone()), ("pattern", json!("b"))]),
        ("regex_replace", &[("value", long.clone()), ("pattern", json!("b")), ("to", json!(""))]),
    ];
    for (name, args) in cases {
        assert_eq!(call(&limits, Filter, name, args).map_err(|error| error.code), Err(Code::LimitFuel), "{name}");
    }
}

#[test]
fn deep_documents_end_in_a_limit_or_an_error() {
    let open = |text: &str| json!(text.repeat(100_000));
    assert_eq!(filter("from_json", &[("value", open("["))]), Err(Code::BadArgument));
    let limits = Limits { value_depth: 5, ..Limits::default() };
    let nested = json!("[[[[[[[1]]]]]]]");
    let code = |name| call(&limits, Filter, name, &[("value", nested.clone())]).unwrap_err().code;
    assert_eq!(code("from_json"), Code::LimitDepth);
    {
        assert_eq!(code("from_yaml"), Code::LimitDepth);
        assert!(filter("from_yaml", &[("value", open("["))]).is_err());
        let bomb = "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\n".to_owned()
            + &(0..20).map(|n| format!("d{n}: [{}*c]\n", "*c, ".repeat(300))).collect::<String>();
        assert!(filter("from_yaml", &[("value", json!(bomb))]).is_err());
    }
}

#[test]
fn quoted_text_is_read_back_as_it_was() {
    let text = "a \"b\" \\ \n\t\u{0} \u{7f}\u{85}\u{2028}\u{feff} é 'c' ${x} {{ y }}";
    let quoted = filter("quote", &[("value", json!(text))]).unwrap();
    assert_eq!(filter("from_yaml", &[("value", quoted.clone())]), Ok(json!(text)));
    assert!(quoted.as_str().unwrap().is_ascii() || quoted.as_str().unwrap().contains('é'));
    assert_eq!(filter("quote", &[("value", Json::Null)]), Ok(json!("")));
    assert_eq!(filter("quote", &[("value", json!(1.0))]), Ok(json!("\"1\"")));
    assert_eq!(filter("quote", &[("value", json!({}))]), Err(Code::BadArgument));
    assert_eq!(filter("squote", &[("value", json!("a\u{7}"))]), Err(Code::BadArgument));
    assert_eq!(filter("squote", &[("value", json!(true))]), Ok(json!("'true'")));
}

#[test]
fn yaml_written_into_a_block_is_read_back() {
    let value =
        json!({"b": {"x": "l1\n\nl2\n", "list": [[1, 2], {"k": "v"}]}, "a": "no", "e": {}, "n": null, "f": 1.0});
    let text = filter("to_yaml", &[("value", value.clone()), ("indent", json!(4))]).unwrap();
    let document = format!("top:\n    {}\n", text.as_str().unwrap());
    assert!(document.contains("\n    b:\n") && document.starts_with("top:\n    a: \"no\"\n"), "{document}");
    assert_eq!(filter("from_yaml", &[("value", json!(document))]), Ok(json!({"top": value})));
    let nested = filter("nindent", &[("value", json!("a:\n\n  b")), ("n", json!(2))]);
    assert_eq!(nested, Ok(json!("\n  a:\n  \n    b")));
}

#[test]
fn fallbacks_and_required_values() {
    let required = |value: Json| filter("required", &[("value", value), ("message", json!("give it"))]);
    assert_eq!(required(json!(false)), Ok(json!(false)));
    assert_eq!([required(Json::Null), required(json!(""))], [Err(Code::FunctionFailed), Err(Code::FunctionFailed)]);
    let coalesce = |value: Json, with: Json| filter("coalesce", &[("value", value), ("with", with)]);
    assert_eq!(coalesce(json!(0), json!([false, "", [], {}, Json::Null, 7])), Ok(json!(7)));
    assert_eq!(coalesce(json!(0), json!({"a": 1})), Ok(json!({"a": 1})));
    assert_eq!(coalesce(json!(0), json!([])), Ok(Json::Null));
}

#[test]
fn maps_are_merged_by_key() {
    let [a, b] = [json!({"x": {"p": 1, "q": [1]}, "y": 1}), json!({"x": {"q": [2], "r": null}, "z": null})];
    let merged = |name| filter(name, &[("value", a.clone()), ("with", b.clone())]).unwrap();
    assert_eq!(merged("merge"), json!({"x": {"q": [2], "r": null}, "y": 1, "z": null}));
    assert_eq!(merged("merge_deep"), json!({"x": {"p": 1, "q": [2], "r": null}, "y": 1, "z": null}));
}
#[test]
fn patterns_are_bounded_and_invalid_ones_are_errors() {
    for name in ["regex_match", "regex_replace"] {
        let args = |pattern: &str| [("value", json!("a")), ("pattern", json!(pattern)), ("to", json!("x"))];
        for wrong in ["(", "a{2,1}", "(?<=a)b", r"\1", "[z-a]"] {
            assert_eq!(filter(name, &args(wrong)), Err(Code::BadArgument), "{name} {wrong}");
        }
        assert_eq!(filter(name, &args(&"(a)".repeat(20_000))), Err(Code::LimitRegex));
        assert!(filter(name, &args(r"\w{1000}{1000}")).is_err(), "{name}");
    }
    let replace = |to: &str| {
        filter(
            "regex_replace",
            &[("value", json!("a-b")), ("pattern", json!("(?P<l>[a-z])-([a-z])")), ("to", json!(to))],
        )
    };
    assert_eq!(replace("$2-$l $$ $9 ${l}x $lx"), Ok(json!("b-a $  ax ")));
}
#[test]
fn hosts_of_networks() {
    let host = |network: &str, n: Json| filter("cidr_host", &[("value", json!(network)), ("n", n)]);
    assert_eq!(host("fd00:1::/64", json!(16)), Ok(json!("fd00:1::10")));
    assert_eq!(host("10.0.0.0/30", json!(-1)), Ok(json!("10.0.0.3")));
    for (network, n) in [
        ("10.0.0.0/30", json!(4)),
        ("10.0.0.0/30", json!(-5)),
        ("10.0.0.0/30", json!(u64::MAX)),
        ("10.0.0.0", json!(1)),
        ("", json!(1)),
    ] {
        assert_eq!(host(network, n.clone()), Err(Code::BadArgument), "{network} {n}");
    }
}

#[test]
fn every_builtin_is_documented_and_has_an_example() {
    let marks = crate::builtins::marks();
    for builtin in super::tables().into_iter().flatten().chain(marks) {
        assert!(builtin.doc.ends_with('.'), "{}", builtin.name);
        assert!(!builtin.examples.is_empty() && builtin.pure, "{}", builtin.name);
    }
}
