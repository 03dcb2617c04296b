//! Partial evaluation of CEL: values, and residual expressions.

use dropforge::diagnostics::Code;
use dropforge::dialect::cel::check::Environment;
use dropforge::dialect::cel::syntax::{Options, parse};
use dropforge::dialect::cel::{Expression, Names, Partial, Pattern, Settings, registry};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, InputBuilder, Inputs, OutputFormat, Shapes, Value, write_documents};
use dropforge::vm::Space;

use crate::same_tree::same_tree;

/// The known inputs.
const INPUTS: &str = r#"{
    "zero": 0, "one": 1, "two": 2, "yes": true, "no": false, "name": "ada", "half": 0.5, "big": 18446744073709551615,
    "nums": [1, 2, 3], "empty": [], "dict": {"a": 1, "b": {"c": 2}}, "nothing": null, "key": "a", "at": 1,
    "request": {"method": "GET", "auth": {"user": "ada"}, "items": [{"n": 1}, {"n": 2}]},
    "user": "ada", "when": "2024-01-02T03:04:05Z", "address": "10.0.0.1"
}"#;

/// Expression; unknown attributes; value, or residual and the attributes it needs, or error code.
const TABLE: &[(&str, &str, &str)] = &[
    // The expression reads nothing unknown.
    ("one + two", "x", "= 3"),
    ("request.method", "request.auth", r#"= "GET""#),
    ("dict.b.c", "dict.a", "= 2"),
    ("[one, two].size()", "x", "= 2"),
    // An unknown attribute, everything below it, and everything that contains it.
    ("x", "x", "x ? x"),
    ("x.y.z", "x", "x.y.z ? x"),
    ("x.y.z", "x.y", "x.y.z ? x.y"),
    ("request", "request.auth", "request ? request"),
    ("request.auth.user", "request.auth.user", "request.auth.user ? request.auth.user"),
    ("request.auth.user", "request.*", "request.auth.user ? request.auth"),
    ("request.auth.user", "request.*.user", "request.auth.user ? request.auth.user"),
    ("request.auth.user", "request.*.id", r#"= "ada""#),
    ("size(request) == 3", "request.auth", "size(request) == 3 ? request"),
    ("has(request.auth)", "request.auth", "has(request.auth) ? request.auth"),
    ("has(request.auth)", "request.other", "= true"),
    ("has(request.other)", "request.other", "has(request.other) ? request.other"),
    ("request.?auth.?id", "request.auth.id", "request.?auth.?id ? request.auth.id"),
    ("request[?'auth'].orValue(1)", "request.auth", r#"request[?"auth"].orValue(1) ? request.auth"#),
    // Keys.
    ("dict['a']", "dict.a", r#"dict["a"] ? dict.a"#),
    ("dict[key]", "dict.a", r#"dict["a"] ? dict.a"#),
    ("dict[key]", "dict.b", "= 1"),
    ("dict[key]", "dict.*", r#"dict["a"] ? dict.a"#),
    ("dict[x]", "x", r#"{"a": 1, "b": {"c": 2}}[x] ? x"#),
    ("dict[x]", "x dict.a", "dict[x] ? dict.a x"),
    ("nums[at]", "nums[1]", "nums[1] ? nums[1]"),
    ("nums[at + 1]", "nums[1]", "= 3"),
    ("nums[1u]", "nums[1]", "nums[1u] ? nums[1]"),
    ("nums[1.0]", "nums[1]", "nums[1.0] ? nums[1]"),
    ("nums[at] + nums[0]", "nums[0]", "2 + nums[0] ? nums[0]"),
    ("request.items[at].n", "request.items[0].n", "= 2"),
    ("request.items[at - 1].n", "request.items[0].n", "request.items[0].n ? request.items[0].n"),
    ("request.items[x].n", "x", r#"[{"n": 1}, {"n": 2}][x].n ? x"#),
    // A key after a step that fails is not computed.
    ("nums[at + 7][zero + 2u]", "nums[1]", "! E0202"),
    ("request.items[at + 7][1 / zero]", "request.items[1].n", "! E0202"),
    ("dict.?nope[1 / zero]", "dict.nope.n", "dict.?nope[1 / 0] ? dict.nope.n"),
    ("dict[1 / zero].n", "dict.a.n", "! E0302"),
    ("dict[dict[key] == 1 ? 'b' : 'a'].c", "dict.a", r#"dict[dict["a"] == 1 ? "b" : "a"].c ? dict.a"#),
    // `&&` and `||`: an operand that decides the result is enough. One that cannot change it is dropped.
    ("x && no", "x", "= false"),
    ("no && x", "x", "= false"),
    ("x || yes", "x", "= true"),
    ("x.a == 1 && yes", "x", "x.a == 1 ? x"),
    ("yes && x.a == 1", "x", "x.a == 1 ? x"),
    ("no || x > 1 || no", "x", "x > 1 ? x"),
    ("yes && x", "x", "true && x ? x"),
    ("x || no", "x", "x || false ? x"),
    ("(yes && x) || y", "x y", "x || y ? x y"),
    ("!(yes && x)", "x", "!x ? x"),
    ("yes && x ? one : two", "x", "x ? 1 : 2 ? x"),
    ("yes && x && one == 1 && y && name == 'ada' && z", "x y z", "x && y && z ? x y z"),
    ("x && (yes && (y && z))", "x y z", "x && y && z ? x y z"),
    ("one && x", "x", "1 && x ? x"),
    ("x && 1 / zero == 1", "x", "x && 1 / 0 == 1 ? x"),
    ("1 / zero == 1 || x", "x", "1 / 0 == 1 || x ? x"),
    ("1 / zero == 1 || x || yes", "x", "= true"),
    ("1 / zero == 1 && x && no", "x", "= false"),
    ("1 / zero == 1 || no", "x", "! E0302"),
    // `?:`
    ("x ? one : two", "x", "x ? 1 : 2 ? x"),
    ("yes ? x : y", "x y", "x ? x"),
    ("no ? x : y + one", "x y", "y + 1 ? y"),
    ("x ? y : z", "x y z", "x ? y : z ? x"),
    ("x ? 1 / zero : nums[7]", "x", "x ? 1 / 0 : [1, 2, 3][7] ? x"),
    ("one ? x : y", "x y", "! E0301"),
    ("x || yes ? one : y", "x y", "= 1"),
    // Strict operators: the first operand without a value determines the result.
    ("x + one * two", "x", "x + 2 ? x"),
    ("one + two + x", "x", "3 + x ? x"),
    ("x + y", "x y", "x + y ? x y"),
    ("1 / zero + x", "x", "! E0302"),
    ("x + 1 / zero", "x", "x + 1 / 0 ? x"),
    ("[one, x, two + 1].size()", "x", "[1, x, 3].size() ? x"),
    ("[1, x, 3][0]", "x", "[1, x, 3][0] ? x"),
    ("{'a': one, key + 'b': x}", "x", r#"{"a": 1, "ab": x} ? x"#),
    ("-x + -one", "x", "-x + -1 ? x"),
    ("x - -one", "x", "x - -1 ? x"),
    ("x in nums", "x", "x in [1, 2, 3] ? x"),
    ("size(x) + size(name)", "x", "size(x) + 3 ? x"),
    ("x.startsWith(name.upperAscii())", "x", r#"x.startsWith("ADA") ? x"#),
    ("name.startsWith(x)", "x", r#""ada".startsWith(x) ? x"#),
    ("math.greatest(one, x, two)", "x", "math.greatest(1, x, 2) ? x"),
    ("sets.contains(nums, x)", "x", "sets.contains([1, 2, 3], x) ? x"),
    ("nofunction(x)", "x", "! E0401"),
    ("missing + x", "x", "! E0201"),
    ("x + missing", "x", "x + missing ? x"),
    // Loops.
    ("nums.exists(i, i == two || x)", "x", "= true"),
    ("nums.all(i, i < two && x)", "x", "= false"),
    ("nums.exists(i, i == 7 || x == i)", "x", "[1, 2, 3].exists(i, i == 7 || x == i) ? x"),
    ("nums.exists(i, i == one + 7 || x == i)", "x", "[1, 2, 3].exists(i, i == 8 || x == i) ? x"),
    ("nums.all(i, yes && x == i)", "x", "[1, 2, 3].all(i, x == i) ? x"),
    ("empty.all(i, x)", "x", "= true"),
    ("nums.map(i, i > 0 ? i : x)", "x", "= [1,2,3]"),
    ("nums.map(i, i * two + x)", "x", "[1, 2, 3].map(i, i * 2 + x) ? x"),
    ("nums.filter(i, i > x)", "x", "[1, 2, 3].filter(i, i > x) ? x"),
    ("x.map(i, i + one)", "x", "x.map(i, i + 1) ? x"),
    ("x.exists_one(i, i == two)", "x", "x.exists_one(i, i == 2) ? x"),
    ("x.all(i, i in dict && y)", "x y", r#"x.all(i, i in {"a": 1, "b": {"c": 2}} && y) ? x"#),
    ("nums.map(i, nums[i - 1])", "nums[7]", "nums.map(i, nums[i - 1]) ? nums"),
    ("[0, 1].map(i, nums[i])", "nums[2]", "= [1,2]"),
    ("[0, 1].map(i, nums[i])", "nums[1]", "[0, 1].map(i, nums[i]) ? nums[1]"),
    ("one.map(i, x)", "x", "! E0303"),
    ("nums.map(x, x + one)", "x", "= [2,3,4]"),
    ("nums.map(i, x.map(j, i + j + one))", "x", "[1, 2, 3].map(i, x.map(j, i + j + 1)) ? x"),
    ("dict.transformList(k, v, k + x)", "x", r#"{"a": 1, "b": {"c": 2}}.transformList(k, v, k + x) ? x"#),
    ("x.transformMap(k, v, v > one, v * two)", "x", "x.transformMap(k, v, v > 1, v * 2) ? x"),
    ("x.sortBy(e, e.n + zero)", "x", "x.sortBy(e, e.n + 0) ? x"),
    // Bound names.
    ("cel.bind(v, one + two, v + x)", "x", "3 + x ? x"),
    ("cel.bind(v, one, cel.bind(w, v + 1, v + w + x))", "x", "3 + x ? x"),
    ("cel.bind(v, x + one, v + two)", "x", "cel.bind(v, x + 1, v + 2) ? x"),
    ("cel.bind(v, x, 1)", "x", "= 1"),
    ("cel.bind(v, 1 / zero, x)", "x", "x ? x"),
    ("cel.bind(v, 1 / zero, x + v)", "x", "cel.bind(v, 1 / 0, x + v) ? x"),
    ("cel.bind(v, ip(address), v.family() == 4 && x == v)", "x", r#"cel.bind(v, ip("10.0.0.1"), x == v) ? x"#),
    (
        "cel.block([one + 1, x, cel.index(0) * 2], cel.index(1) + cel.index(2))",
        "x",
        "cel.block([2, x, 4], cel.index(1) + 4) ? x",
    ),
    ("optional.of(one).optMap(v, v + x)", "x", "optional.of(1).optMap(v, v + x) ? x"),
    ("x.optMap(v, v + one + two)", "x", "x.optMap(v, v + 1 + 2) ? x"),
    ("optional.none().optMap(v, v + x).hasValue()", "x", "= false"),
    // Values as expressions.
    (
        "[x, when, half, big, nothing, uint(1)]",
        "x",
        r#"[x, "2024-01-02T03:04:05Z", 0.5, 18446744073709551615u, null, 1u] ? x"#,
    ),
    ("x == timestamp(when)", "x", r#"x == timestamp("2024-01-02T03:04:05Z") ? x"#),
    ("x < timestamp(when) - timestamp('2024-01-01T00:00:00Z')", "x", r#"x < duration("97445s") ? x"#),
    ("x == bytes(name)", "x", r#"x == b"ada" ? x"#),
    ("x == 1.0 / half / 0.0", "x", r#"x == double("+Inf") ? x"#),
    ("x == 0.0 / (half - half)", "x", r#"x == double("NaN") ? x"#),
    ("type(x) == type(one)", "x", "type(x) == int ? x"),
    ("type(x) == type(timestamp(when))", "x", "type(x) == google.protobuf.Timestamp ? x"),
    ("x == optional.of(one)", "x", "x == optional.of(1) ? x"),
    ("x == dict.?nope", "x", "x == optional.none() ? x"),
    ("x == {one: name, true: half}", "x", r#"x == {1: "ada", true: 0.5} ? x"#),
    ("ip(address) == x", "x", r#"ip("10.0.0.1") == x ? x"#),
    ("ip(address).family() + x", "x", "4 + x ? x"),
    ("quantity(name == 'ada' ? '1Gi' : '2Gi') == x", "x", r#"quantity("1Gi") == x ? x"#),
    (r"x == name + '\n\'\u0001'", "x", r#"x == "ada\n'\u0001" ? x"#),
    ("x == -9223372036854775808 + zero", "x", "x == -9223372036854775808 ? x"),
];

/// Parses the known inputs from JSON.
fn inputs<'v>(space: &'v Space, shapes: &'v Shapes<'_>, json: &'v str) -> Inputs<'v> {
    Inputs::new(InputBuilder::new(space.arena(), shapes).json(json).expect("JSON"))
}

fn json(value: Value<'_>) -> String {
    let mut text = String::new();
    write_documents([value], OutputFormat::Ndjson, 1 << 20, &mut text).expect("a value that can be written");
    text.trim_end().to_owned()
}

fn patterns(text: &str) -> Vec<Pattern> {
    text.split(' ').map(|pattern| pattern.parse().expect("a pattern")).collect()
}

/// Formats the result of an expression as in the table.
fn said(expression: &Expression, known: &str, unknown: &[Pattern], limits: &Limits) -> String {
    let names = Arena::new();
    let (shapes, space) = (Shapes::new(&names), Space::new());
    let partial = expression.partial(&space, inputs(&space, &shapes, known), unknown, limits);
    match partial {
        Err(error) => format!("! {}", error.code.id()),
        Ok(Partial::Value(value)) => format!("= {}", json(value)),
        Ok(Partial::Unknown { unknowns, residual }) => {
            let text = residual.to_string();
            let again = parse(&Source::new("left", text.as_str()), &Options::default()).expect("it can be read");
            assert!(same_tree(&again, residual.tree()), "{text} is read as another tree");
            residual.compile(limits).expect("it can be compiled");
            let mut needed: Vec<_> = unknowns.iter().map(|needed| needed.attribute.to_string()).collect();
            needed.dedup();
            format!("{text} ? {}", needed.join(" "))
        }
    }
}

fn compiled(text: &str) -> Expression {
    Expression::new(&Source::new("e", text), &registry(), &Limits::default()).expect("it compiles")
}

#[test]
fn known_values_are_embedded_in_the_residual() {
    let mut wrong = Vec::new();
    for (text, unknown, wanted) in TABLE {
        let found = said(&compiled(text), INPUTS, &patterns(unknown), &Limits::default());
        if found != *wanted {
            wrong.push(format!("{text}  [{unknown}]\n  wanted {wanted}\n  found  {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn presence_tests_of_the_residual_are_as_lenient_as_the_expression() {
    let (registry, limits, unknown) = (registry(), Limits::default(), patterns("x"));
    for (text, lenient, strict) in [
        ("has(nothing.a) || x", "false || x ? x", "has(null.a) || x ? x"),
        ("[nothing.?a.orValue(x), one]", "[optional.none().orValue(x), 1] ? x", "! E0202"),
        ("x ? nothing.?a.hasValue() : no", "x ? false : false ? x", "x ? null.?a.hasValue() : false ? x"),
    ] {
        for (lenient, wanted) in [(true, lenient), (false, strict)] {
            let settings = Settings { lenient, ..Settings::default() };
            let expression = Expression::with(&Source::new("e", text), &settings, &registry, &limits).expect(text);
            assert_eq!(said(&expression, INPUTS, &unknown, &limits), wanted, "{text}");
        }
    }
    let settings = Settings { lenient: false, ..Settings::default() };
    let expression = Expression::with(&Source::new("e", "x.?a"), &settings, &registry, &limits).expect("it is right");
    let (space, shapes) = (Space::new(), Arena::new());
    let shapes = Shapes::new(&shapes);
    let known = inputs(&space, &shapes, INPUTS);
    let Ok(Partial::Unknown { residual, .. }) = expression.partial(&space, known, &unknown, &limits) else {
        panic!("it depends on `x`")
    };
    let rest = residual.compile(&limits).expect("it compiles");
    assert!(rest.evaluate(&space, inputs(&space, &shapes, r#"{"x": null}"#), &limits).is_err());
}

/// Returns the codes of asking for a value while it is unknown.
pub fn waiting() -> Vec<Code> {
    let (expression, space, limits) = (compiled("x + 1"), Space::new(), Limits::default());
    let partial = expression.partial(&space, Inputs::default(), &patterns("x"), &limits);
    let error = partial.and_then(Partial::value).expect_err("`x` is not known");
    assert_eq!(error.message, "the value depends on unknown values: `x`");
    assert_eq!(error.position().map(|at| at.to_string()), Some("1:1".to_owned()));
    vec![error.code]
}

/// Returns the residual of an expression whose names are declared with these types.
fn checked(text: &str, declared: &[(&str, &str)], unknown: &str) -> String {
    let (registry, limits) = (registry(), Limits::default());
    let mut environment = Environment::new(&registry);
    for (name, ty) in declared {
        environment.declare(name, ty).expect("a type");
    }
    let expression = Expression::with(&Source::new("e", text), &Settings::checked(&environment), &registry, &limits);
    said(&expression.expect("it compiles"), INPUTS, &patterns(unknown), &limits)
}

#[test]
fn types_that_were_found_allow_more_to_be_left_out() {
    assert_eq!(checked("yes && x", &[("yes", "dyn"), ("x", "bool")], "x"), "x ? x");
    assert_eq!(checked("yes && x", &[("yes", "dyn"), ("x", "dyn")], "x"), "true && x ? x");
}

#[test]
fn names_of_namespaces_are_one_variable() {
    assert_eq!(
        checked("ns.x.y + ns.z", &[("ns.x", "dyn"), ("ns.z", "dyn")], "ns.x.y ns.z"),
        "ns.x.y + ns.z ? ns.x.y ns.z"
    );
    let declared = |name: &str| ["app.ns.x", "one"].contains(&name);
    let names = Names { container: "app.ns", declared: Some(&declared) };
    let (source, limits) =
        (Source::new("e", "x.y + one + timestamp('2024-01-01T00:00:00Z').getFullYear()"), Limits::default());
    let expression = Expression::with(&source, &Settings::naming(names), &registry(), &limits).expect("it compiles");
    assert_eq!(
        said(&expression, INPUTS, &[Pattern::new("app.ns.x").field("y")], &limits),
        "x.y + 1 + 2024 ? app.ns.x.y"
    );
}

/// Without declarations, a variable may shadow a type name.
#[test]
fn variables_named_like_types_may_be_unknown() {
    for (text, known, unknown, wanted) in [
        ("omit.a + 1", "{}", "omit", "omit.a + 1 ? omit"),
        ("net.IP + 1", "{}", "net.IP", "net.IP + 1 ? net.IP"),
        ("[type(1), x]", "{}", "x", "[int, x] ? x"),
        ("[type(1), x]", r#"{"int": 1}"#, "x", "[type(1), x] ? x"),
        ("[type(1), x]", "{}", "x int", "[type(1), x] ? x"),
    ] {
        let found = said(&compiled(text), known, &patterns(unknown), &Limits::default());
        assert_eq!(found, wanted, "{text} {known} {unknown}");
    }
}

#[test]
fn a_name_that_is_shadowed_is_no_constant_of_that_name() {
    // Here `int` and `optional` are loop variables and hide the type and the function.
    for (text, wanted) in [
        ("x.map(int, type(one) == x)", "x.map(int, type(1) == x) ? x"),
        ("x.map(optional, dict.?nope == x)", r#"x.map(optional, {"a": 1, "b": {"c": 2}}.?nope == x) ? x"#),
        ("x.map(one, one + two)", "x.map(one, one + 2) ? x"),
    ] {
        assert_eq!(said(&compiled(text), INPUTS, &patterns("x"), &Limits::default()), wanted);
    }
}

#[test]
fn read_positions_are_in_the_source() {
    let (expression, space, limits) = (compiled("one + x.a * (yes ? x.b : 1)"), Space::new(), Limits::default());
    let names = Arena::new();
    let shapes = Shapes::new(&names);
    let partial = expression.partial(&space, inputs(&space, &shapes, INPUTS), &patterns("x.*"), &limits);
    let Ok(Partial::Unknown { unknowns, residual }) = partial else { panic!("{partial:?}") };
    let places: Vec<_> = unknowns.iter().map(|of| (of.attribute.to_string(), of.span.start, of.span.end)).collect();
    assert_eq!(places, [("x.a".to_owned(), 6, 9), ("x.b".to_owned(), 19, 22)]);
    // The same holds for errors in the residual.
    let rest = residual.compile(&limits).expect("it compiles");
    let error = rest.evaluate(&space, inputs(&space, &shapes, r#"{"x": {"a": 1}}"#), &limits).expect_err("no `x.b`");
    assert_eq!(error.position().map(|at| at.to_string()), Some("1:22".to_owned()));
}

#[test]
fn large_values_are_not_embedded() {
    let list: Vec<_> = (0..100_000).collect();
    let json = serde_json::json!({"huge": list, "few": [1], "text": "a".repeat(200_000)}).to_string();
    for (text, wanted) in [
        ("huge.exists(i, i == x)", "huge.exists(i, i == x) ? x"),
        ("huge.size() + x", "100000 + x ? x"),
        ("text + x", "text + x ? x"),
        ("x.map(i, huge[i] + few[0])", "x.map(i, huge[i] + 1) ? x"),
        ("x ? lists.range(99999 + few[0]) : few", "x ? lists.range(100000) : [1] ? x"),
    ] {
        assert_eq!(said(&compiled(text), &json, &patterns("x"), &Limits::default()), wanted);
    }
    // Many small values exceed the limit together.
    let many = format!("[x, {}]", vec!["text"; 1_000].join(", "));
    let json = serde_json::json!({"text": "a".repeat(1_000)}).to_string();
    let left = said(&compiled(&many), &json, &patterns("x"), &Limits::default());
    assert!(left.len() < 100_000 && left.contains("aaa") && left.contains("text"), "{}", left.len());
}

#[test]
fn deep_and_wide_residuals_are_handled() {
    let limits = Limits::default();
    let nested = |open: &str, close: &str, times: usize| format!("{}x{}", open.repeat(times), close.repeat(times));
    for text in [
        nested("[one, ", "]", 200),
        nested("one + (", ")", 200),
        nested("dict[", "]", 200),
        nested("nums.map(i, ", ")", 60),
        nested("cel.bind(v, one, ", ")", 200),
        nested("x ? 1 / zero : (", ")", 200),
        nested("yes && !(", ")", 100),
        format!("x{}", "[one]".repeat(200)),
        format!("x{}", " && yes".repeat(10_000)),
        format!("x{}", " || 1 / zero == 1".repeat(2_000)),
        format!("[x{}]", ", one".repeat(10_000)),
    ] {
        let found = said(&compiled(&text), INPUTS, &patterns("x"), &limits);
        assert!(found.ends_with("? x"), "{}: {}", &text[..20], &found[..found.len().min(80)]);
    }
}

#[test]
fn embedded_constants_keep_residuals_within_the_depth_limit() {
    // The deepest expression that parses, with a variable at the bottom whose value is itself deep.
    let deep = format!("{}{}", "[".repeat(20), "]".repeat(20));
    let text = format!("{}[x, deep]{}", "[".repeat(245), "]".repeat(245));
    let found = said(&compiled(&text), &format!(r#"{{"deep": {deep}}}"#), &patterns("x"), &Limits::default());
    assert!(found.contains("[x, deep]"), "{found}");
}

#[test]
fn many_patterns_are_handled() {
    let limits = Limits::default();
    let many: Vec<_> = (0..100_000).map(|n| Pattern::new("dict").field(&format!("k{n}"))).collect();
    assert_eq!(said(&compiled("dict.a + dict.b.c"), INPUTS, &many, &limits), "= 3");
    assert_eq!(said(&compiled("dict.k7"), INPUTS, &many, &limits), "dict.k7 ? dict.k7");
    // With this many patterns, a computed key is not looked up.
    assert_eq!(said(&compiled("dict[key]"), INPUTS, &many, &limits), "dict[key] ? dict.*");
    let stars: Vec<_> = (0..1 << 12)
        .map(|bits| {
            (0..12)
                .fold(Pattern::new("dict"), |of, bit| if bits >> bit & 1 == 0 { of.wildcard() } else { of.field("a") })
        })
        .collect();
    assert_eq!(said(&compiled(&format!("dict{}", ".a".repeat(12))), INPUTS, &stars, &limits).split(" ? ").count(), 2);
    let long = (0..100_000).fold(Pattern::new("dict"), |of, _| of.field("a"));
    assert_eq!(said(&compiled("dict.b.c"), INPUTS, std::slice::from_ref(&long), &limits), "= 2");
    assert!(long.to_string().parse::<Pattern>().is_err());
}

#[test]
fn exceeded_limits_are_errors_unless_the_part_may_not_run() {
    let limits = Limits { fuel: 10_000, ..Limits::default() };
    let left = said(&compiled("x ? lists.range(100000000).size() : one"), INPUTS, &patterns("x"), &limits);
    assert_eq!(left, "x ? lists.range(100000000).size() : 1 ? x");
    assert_eq!(said(&compiled("lists.range(100000000).size() + x"), INPUTS, &patterns("x"), &limits), "! E0604");
}

#[test]
fn patterns_are_read_and_written() {
    for (text, written) in [
        ("x", "x"),
        ("x.y[0].*", "x.y[0].*"),
        (r#"x[*]['a b']["c"][true][7u].`d-e`"#, r#"x.*["a b"].c[true][7]["d-e"]"#),
        (r"x['it\'s ]'].a", r#"x["it's ]"].a"#),
        ("x[18446744073709551615u][-1]", "x[18446744073709551615u][-1]"),
    ] {
        assert_eq!(text.parse::<Pattern>().map(|pattern| pattern.to_string()).ok().as_deref(), Some(written));
    }
    for text in
        ["", ".", "x.", "x..y", "x[", "x[]", "x[1", "x[1.5]", "x[y]", "x[0]y", "1", "x y", "*", "x.`a", "x[null]"]
    {
        assert!(text.parse::<Pattern>().is_err(), "{text}");
    }
}
