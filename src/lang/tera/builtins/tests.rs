//! Calls builtins directly, without a template, to test their costs and errors. Their results are compared with Tera
//! itself in `proptests/builtins.rs`.

use serde_json::{Value as Json, json};

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::ImportKind::{self, Filter, Function, Test};
use dropforge_machine::function::{Caches, Capabilities, Cx, Params, with_arranged};
use dropforge_value::{Arena, InputBuilder, Inputs, Shapes, Value};

/// Calls a builtin with named arguments; the subject of a filter or test is the first one.
pub(super) fn call(
    limits: &Limits,
    kind: ImportKind,
    name: &str,
    args: &[(&str, Json)],
) -> Result<Json, Box<Diagnostic>> {
    let (arena, names, caches) = (Arena::new(), Arena::new(), Caches::default());
    let shapes = Shapes::new(&names);
    let cx = Cx::new(&arena, Inputs::new(Value::Null), limits, Capabilities::ALL, &caches);
    let registry = super::registry();
    let builtin = registry.get(kind, name).expect("a builtin");
    let Params::Named(params) = builtin.params else { panic!("not native") };
    let place = |name: &str| params.iter().rposition(|param| param.name == name).unwrap_or(usize::MAX) as u32;
    let places: Vec<u32> = args
        .iter()
        .enumerate()
        .map(|(at, (name, _))| if at == 0 && kind != Function { 0 } else { place(name) })
        .collect();
    let given: Vec<_> =
        args.iter().map(|(_, json)| InputBuilder::new(&arena, &shapes).serialize(json).expect("JSON")).collect();
    let answer =
        with_arranged(builtin, params, &places, &given, |given| builtin.body.call(&cx, given).expect("a body"))?;
    Ok(serde_json::to_value(answer.to_data()).expect("JSON"))
}

fn filter(name: &str, args: &[(&str, Json)]) -> Result<Json, Code> {
    call(&Limits::default(), Filter, name, args).map_err(|error| error.code)
}

#[test]
fn whatever_can_grow_is_refused_before_it_grows() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let half = "&".repeat(1 << 19);
    let lines = "\n".repeat(1 << 10);
    let wide = "x".repeat(1 << 12);
    let cases: &[(&str, &[(&str, Json)])] = &[
        ("replace", &[("value", json!(wide)), ("from", json!("x")), ("to", json!(wide))]),
        ("replace", &[("value", json!(wide)), ("from", json!("")), ("to", json!(wide))]),
        ("indent", &[("value", json!(lines)), ("prefix", json!(wide)), ("blank", json!(true))]),
        ("escape", &[("value", json!(half))]),
        ("escape_xml", &[("value", json!(half))]),
        ("urlencode", &[("value", json!(half))]),
        ("urlencode_strict", &[("value", json!(half))]),
        ("linebreaksbr", &[("value", json!("\n".repeat(1 << 19)))]),
        ("addslashes", &[("value", json!("'".repeat(1 << 20)))]),
        ("slugify", &[("value", json!("ü".repeat(1 << 19)))]),
        ("upper", &[("value", json!("ΐ".repeat(1 << 18)))]),
        ("split", &[("value", json!(half)), ("pat", json!(""))]),
        ("split", &[("value", json!(half)), ("pat", json!("&"))]),
        ("join", &[("value", json!(vec![1; 1 << 10])), ("sep", json!(wide))]),
        ("truncate", &[("value", json!("xx")), ("length", json!(1)), ("end", json!("x".repeat(1 << 20)))]),
        ("json_encode", &[("value", json!("\u{1}".repeat(1 << 18)))]),
        ("json_encode", &[("value", json!([[[[vec![1; 1 << 17]]]]])), ("pretty", json!(true))]),
        ("date", &[("value", json!(0)), ("format", json!("%+".repeat(1 << 16)))]),
    ];
    for (name, args) in cases {
        let error = call(&limits, Filter, name, args).map(|_| name).expect_err("a limit");
        assert_eq!(error.code, Code::LimitMemory, "{name}: {error}");
    }
    let endless = [("end", json!(u64::MAX))];
    assert_eq!(call(&limits, Function, "range", &endless).unwrap_err().code, Code::LimitFuel);
    let long = [("end", json!(1 << 20))];
    assert_eq!(call(&limits, Function, "range", &long).unwrap_err().code, Code::LimitMemory);
}

#[test]
fn elements_visited_are_spent() {
    let limits = Limits { fuel: 100, ..Limits::default() };
    let items = json!((0..1000).collect::<Vec<_>>());
    for name in ["sort", "unique", "reverse", "join", "json_encode", "as_str"] {
        assert_eq!(
            call(&limits, Filter, name, &[("value", items.clone())]).unwrap_err().code,
            Code::LimitFuel,
            "{name}"
        );
    }
    for name in ["map", "filter", "group_by"] {
        let args = [("value", items.clone()), ("attribute", json!("a"))];
        assert_eq!(call(&limits, Filter, name, &args).unwrap_err().code, Code::LimitFuel, "{name}");
    }
    let args = [("value", items), ("part", json!(-1))];
    assert_eq!(call(&limits, Test, "containing", &args).unwrap_err().code, Code::LimitFuel);
}

#[test]
fn search_costs_grow_with_the_pattern() {
    let limits = Limits { fuel: 10_000, ..Limits::default() };
    let text = json!("a".repeat(1000));
    let matching =
        |pattern: &str| call(&limits, Test, "matching", &[("value", text.clone()), ("pattern", json!(pattern))]);
    assert_eq!(matching("b$").unwrap(), json!(false));
    assert_eq!(matching("((a{30}){30})b").unwrap_err().code, Code::LimitFuel);
    assert_eq!(matching(&"(a)".repeat(2000)).unwrap_err().code, Code::LimitRegex);
    let large = [("value", json!("a")), ("pattern", json!(r"\w{1000}{1000}"))];
    assert_eq!(call(&Limits::default(), Test, "matching", &large).unwrap_err().code, Code::LimitRegex);
    assert_eq!(matching("(").unwrap_err().code, Code::BadArgument);
}

#[test]
fn errors_name_the_function_the_argument_and_the_value() {
    let error = |name, args: &[(&str, Json)]| call(&Limits::default(), Filter, name, args).unwrap_err().message;
    let message = error("sort", &[("value", json!([1])), ("attribute", json!(true))]);
    assert_eq!(message, "filter `sort`: `attribute` should be a string, but it is `true` (boolean)");
    let message = error("round", &[("value", json!(1)), ("method", json!("top"))]);
    assert_eq!(message, "filter `round`: `method` should be `common`, `ceil` or `floor`, but it is `\"top\"` (string)");
    let message = error("nth", &[("value", json!([1]))]);
    assert_eq!(message, "filter `nth` needs the argument `n`, an integer that is not negative");
    let message = error("date", &[("value", json!("yesterday"))]);
    assert_eq!(message, "filter `date`: `value` should be a moment in time, but it is `\"yesterday\"` (string)");
}

#[test]
fn excess_arguments_of_tests_are_refused() {
    let test = |name, args: &[(&str, Json)]| call(&Limits::default(), Test, name, args).map_err(|error| error.code);
    assert_eq!(test("odd", &[("value", json!(3)), ("excess", json!(1))]), Err(Code::BadArgument));
    let args = [("value", json!(6)), ("divisor", json!(2)), ("excess", json!(3))];
    assert_eq!(test("divisibleby", &args), Err(Code::BadArgument));
    assert_eq!(test("even", &[]), Err(Code::UndefinedVariable));
    assert_eq!(test("defined", &[]), Ok(json!(false)));
}

#[test]
fn reference_panics_and_endless_loops_are_errors() {
    assert_eq!(filter("int", &[("value", json!("1")), ("base", json!(0))]), Err(Code::BadArgument));
    assert_eq!(filter("int", &[("value", json!("1")), ("base", json!(99))]), Err(Code::BadArgument));
    assert_eq!(filter("int", &[("value", json!(7)), ("base", json!(99))]), Ok(json!(7)));
    assert_eq!(filter("abs", &[("value", json!(i64::MIN))]), Ok(json!(i64::MIN)));
    assert_eq!(filter("date", &[("value", json!(i64::MAX))]), Err(Code::BadArgument));
    let function =
        |name, args: &[(&str, Json)]| call(&Limits::default(), Function, name, args).map_err(|error| error.code);
    assert_eq!(function("get_random", &[("start", json!(5)), ("end", json!(5))]), Err(Code::BadArgument));
    assert_eq!(function("range", &[("end", json!(5)), ("step_by", json!(0))]), Err(Code::BadArgument));
    assert_eq!(function("range", &[("end", json!(0)), ("step_by", json!(0))]), Ok(json!([])));
}

#[test]
fn functions_that_read_the_outside() {
    let function =
        |name, args: &[(&str, Json)]| call(&Limits::default(), Function, name, args).map_err(|error| error.code);
    assert!(
        matches!(function("get_random", &[("start", json!(-3)), ("end", json!(3))]), Ok(Json::Number(n)) if (-3..3).contains(&n.as_i64().unwrap()))
    );
    assert_eq!(function("get_env", &[("name", json!("NO=SUCH\0")), ("default", json!([1]))]), Ok(json!([1])));
    assert_eq!(function("get_env", &[("name", json!("NO=SUCH"))]), Err(Code::FunctionFailed));
    assert!(matches!(function("now", &[("timestamp", json!(true))]), Ok(Json::Number(_))));
    let Ok(Json::String(text)) = function("now", &[("utc", json!(true))]) else { panic!("a text") };
    assert!(text.ends_with("+00:00"), "{text}");
    for builtin in super::tables().into_iter().flatten().filter(|builtin| !builtin.needs.is_none()) {
        assert!(!builtin.pure, "{}", builtin.name);
    }
}

#[test]
fn every_builtin_is_documented_and_has_an_example() {
    for builtin in super::tables().into_iter().flatten() {
        assert!(builtin.doc.ends_with('.') || builtin.doc.ends_with('…'), "{}", builtin.name);
        assert!(!builtin.examples.is_empty(), "{}", builtin.name);
    }
}

#[cfg(all(feature = "builtins", feature = "plus", feature = "yaml"))]
#[test]
fn the_functions_of_each_feature_are_listed() {
    use super::{FEATURES, external, plus};
    let tables: [&[&[dropforge_machine::function::Builtin]]; 3] =
        [&[external::TIME, external::EXTERNAL], &[plus::external::EXTERNAL], &[plus::yaml::YAML]];
    for (feature, tables) in FEATURES.iter().zip(tables) {
        let mut names: Vec<&str> = tables.iter().copied().flatten().map(|builtin| &*builtin.name).collect();
        names.sort_unstable();
        assert_eq!(feature.functions, names, "{}", feature.name);
        assert!(feature.present);
    }
}
