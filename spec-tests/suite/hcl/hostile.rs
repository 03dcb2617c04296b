//! Hostile sources. Each ends in a value or in coded errors, on a thread with 256 KiB of stack and within the limits.

use std::sync::Arc;
use std::thread;

use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::dialect::hcl::body::File;
use dropforge::dialect::hcl::format::format;
use dropforge::dialect::hcl::{Expression, read_data, registry};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::vm::Space;

use super::variables;

const STACK: usize = 256 << 10;
const MANY: usize = 100_000;

fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread").join().expect("no panic")
}

fn limits() -> Limits {
    Limits { fuel: 2_000_000, memory: 64 << 20, output_bytes: 16 << 20, ..Limits::default() }
}

/// Returns the name of the first code, or `fine`.
fn first<'e>(errors: impl IntoIterator<Item = &'e Diagnostic>) -> &'static str {
    errors.into_iter().next().map_or("fine", |error| error.code.name())
}

/// Evaluates an expression. Returns the name of the first code, or `fine`.
fn expression(text: impl Into<String>) -> &'static str {
    ends(Expression::new, text.into())
}

/// Evaluates a template.
fn template(text: impl Into<String>) -> &'static str {
    ends(Expression::template, text.into())
}

type New = fn(&Arc<Source>, &dropforge::function::Registry, &Limits) -> Result<Expression, Diagnostics>;

fn ends(new: New, text: String) -> &'static str {
    on_a_small_stack(move || {
        let (limits, space) = (limits(), Space::new());
        let made = match new(&Source::new("t", text), &registry(), &limits) {
            Ok(made) => made,
            Err(errors) => return first(errors.iter()),
        };
        match made.evaluate(&space, variables(space.arena()), &limits) {
            Ok(answer) => first(answer.errors.iter().map(|error| &**error)),
            Err(error) => error.code.name(),
        }
    })
}

/// Evaluates a configuration as data.
fn config(text: impl Into<String>) -> &'static str {
    let text = text.into();
    on_a_small_stack(move || match read_data(&Source::new("t", text), &limits()) {
        Ok(_) => "fine",
        Err(errors) => first(errors.iter()),
    })
}

/// Evaluates a source in the JSON syntax.
fn json(text: impl Into<String>) -> &'static str {
    json_within(text.into(), limits())
}

fn json_within(text: String, limits: Limits) -> &'static str {
    on_a_small_stack(move || {
        let (space, mut faults) = (Space::new(), Vec::new());
        let file = File::json(&Source::new("t", text), &registry(), &limits);
        let context = dropforge::dialect::hcl::body::Context::new(&space, &limits).evaluating();
        for attribute in file.body().just_attributes(&mut faults).values() {
            attribute.expr.evaluate(&context, &mut faults);
        }
        first(file.diagnostics().iter().chain(&faults).map(|error| &**error))
    })
}

const DEPTH: &str = "limit.depth";

#[test]
fn nesting_ends_in_the_depth_limit() {
    let forms = [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("{a=", "1", "}"),
        ("[for v in [1]: ", "v", "]"),
        ("{for v in [1]: v => ", "v", "}"),
        ("\"${", "1", "}\""),
        ("max(", "1", ")"),
        ("object[", "\"a\"", "]"),
        ("[1][*][", "0", "]"),
        ("-", "1", ""),
        ("!", "true", ""),
        ("true ? ", "1", " : 2"),
        ("false ? 1 : ", "2", ""),
        ("(", "", ""),
        ("[", "", ""),
        ("\"${", "", ""),
        ("{", "", ""),
    ];
    for (open, middle, close) in forms {
        let text = format!("{}{middle}{}", open.repeat(MANY), close.repeat(MANY));
        assert_eq!(expression(text), DEPTH, "{open}");
    }
    assert_eq!(template(format!("{}x{}", "%{if true}".repeat(MANY), "%{endif}".repeat(MANY))), DEPTH);
    assert_eq!(template(format!("{}x{}", "%{for v in [1]}".repeat(MANY), "%{endfor}".repeat(MANY))), DEPTH);
    assert_eq!(template("%{if true}".repeat(MANY)), DEPTH);
    assert_eq!(config(format!("{}{}", "a {\n".repeat(MANY), "}\n".repeat(MANY))), DEPTH);
    assert_eq!(config("a {\n".repeat(MANY)), DEPTH);
    assert_eq!(config(format!("a {}{{}}\n", "\"l\" ".repeat(MANY))), DEPTH);
    assert_eq!(config(format!("a {}{{\n  b {}{{}}\n}}\n", "l ".repeat(100), "l ".repeat(100))), DEPTH);
    assert_eq!(json(format!("{{\"a\": {}{}}}", "[".repeat(MANY), "]".repeat(MANY))), DEPTH);
    assert_eq!(json(format!("{}1{}", "{\"a\":".repeat(MANY), "}".repeat(MANY))), DEPTH);
    assert_eq!(json("[".repeat(MANY)), DEPTH);
    // Values stay limited even if the syntax may be that deep.
    let deep = Limits { nesting: 2 * MANY, ..limits() };
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"${n}\":", "}]")] {
        let text = format!("{{\"a\": {}1{}}}", open.repeat(MANY), close.repeat(MANY));
        assert_eq!(json_within(text, deep.clone()), DEPTH, "{open}");
    }
}

#[test]
fn nesting_below_the_limit_is_evaluated_on_a_small_stack() {
    let n = Limits::default().nesting / 4;
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{a=", "1", "}"),
        ("[for v in [1]: ", "v", "]"),
        ("\"x${", "1", "}\""),
        ("max(", "1", ")"),
        ("-", "1", ""),
        ("true ? ", "1", " : 2"),
        ("false ? 1 : ", "2", ""),
        ("try(", "1", ")"),
    ] {
        let text = format!("{}{middle}{}", open.repeat(n), close.repeat(n));
        assert_eq!(expression(text), "fine", "{open}");
    }
}

#[test]
fn chains_are_flat() {
    let chain = |first: &str, step: &str| expression(format!("{first}{}", step.repeat(MANY)));
    for (first, step) in [
        ("1", " + 1"),
        ("1", " * 1"),
        ("true", " && true"),
        ("false", " || false"),
        ("1", " - 1"),
        ("true", " == true"),
    ] {
        let end = chain(first, step);
        assert!(end == "fine" || end.starts_with("limit."), "{step}: {end}");
    }
    for (first, step) in [("object", ".a"), ("[1]", "[0]"), ("u", ".a"), ("u", "[0]"), ("[]", "[*]"), ("u", ".0")] {
        let end = chain(first, step);
        assert!(end != "internal" && !end.is_empty(), "{step}: {end}");
    }
    assert_eq!(expression(format!("max({}1)", "1, ".repeat(65_534))), "fine");
    assert_eq!(expression(format!("max({}1)", "1, ".repeat(MANY))), "limit.code");
    assert_eq!(expression(format!("[{}]", "1,".repeat(MANY))), "fine");
}

#[test]
fn many_parts_are_taken() {
    let keys: String = (0..MANY).map(|at| format!("k{at} = {at}\n")).collect();
    assert_eq!(config(keys.as_str()), "fine");
    assert_eq!(expression(format!("{{\n{keys}}}")), "fine");
    assert_eq!(template("a${1}".repeat(MANY)), "fine");
    assert_eq!(template("%{if true}a%{endif}".repeat(MANY)), "fine");
    assert_eq!(config("a {}\n".repeat(MANY)), "fine");
    assert_eq!(config(format!("a {}{{}}\n", "\"l\" ".repeat(100))), "fine");
    // Texts of many pieces, which are not adjacent in the source.
    assert_eq!(config(format!("a = <<-E\n{}  E\n", "  xy\n".repeat(MANY))), "fine");
    assert_eq!(config(format!("a = <<E\n{}E\n", "$${x\n".repeat(MANY))), "fine");
    assert_eq!(template("$${x}%%{y}\n".repeat(MANY)), "fine");
    assert_eq!(config(format!("a \"{}\" {{}}\n", "$${x".repeat(MANY))), "fine");
    let names: String = (0..MANY).map(|at| format!("\"k{at}\": {at},")).collect();
    assert_eq!(json(format!("{{{names}\"z\": 1}}")), "fine");
}

#[test]
fn long_numbers() {
    let digits = "9".repeat(1_000_000);
    for text in [
        digits.clone(),
        format!("0.{digits}"),
        format!("1e{digits}"),
        format!("-{digits}"),
        "1e999999999".to_owned(),
        "1e-999999999".to_owned(),
        "1e999999999 + 1e-999999999".to_owned(),
        "1e999999999 % 3".to_owned(),
        "1e300000000 * 1e300000000 - 1".to_owned(),
        "1 % 0".to_owned(),
        "0 / 0".to_owned(),
        "-9223372036854775808 % -1".to_owned(),
        "pow(10, 1000000000)".to_owned(),
        "pow(2, 0.5)".to_owned(),
        "format(\"%d\", 1e999999)".to_owned(),
        "tostring(1e999999999)".to_owned(),
        "\"${1e999999999}x\"".to_owned(),
        "[1][1e999999999]".to_owned(),
        "parseint(join(\"\", [for i in range(1000): \"9\"]), 10)".to_owned(),
        format!("tonumber(\"{digits}\")"),
        format!("jsondecode(\"{digits}\")"),
    ] {
        let end = expression(text.as_str());
        assert!(end != "internal", "{}: {end}", &text[..text.len().min(60)]);
    }
    assert_eq!(json(format!("{{\"a\": {digits}}}")), "fine");
}

#[test]
fn growth_ends_in_a_limit() {
    let double = |start: &str, step: &str| {
        let mut text = start.to_owned();
        for _ in 0..60 {
            text = step.replace("HERE", &text);
        }
        text
    };
    // 2^60 elements that share a few values.
    let shared = double("[1]", "[for x in [HERE]: [x, x]][0]");
    for text in
        [format!("[{shared}][unumber]"), format!("sensitive({shared})"), format!("merge({{a = {shared}}}, {{}})")]
    {
        assert_eq!(expression(text), "fine");
    }
    let mut wrong = Vec::new();
    for text in [
        "[for a in range(1000): [for b in range(1000): [for c in range(1000): c]]]".to_owned(),
        format!("jsonencode({shared})"),
        format!("{shared} == {shared}"),
        format!("[nope, {shared} == 1]"),
        format!("tolist({shared})"),
        format!("true ? {shared} : [1]"),
        format!("flatten({shared})"),
        format!("toset([{shared}])"),
        format!("contains([{shared}], 1)"),
        format!("yamlencode({shared})"),
        format!("unumber + {shared}"),
        double("\"ab\"", "[for x in [HERE]: \"${x}${x}\"][0]"),
        double("\"ab\"", "[for x in [HERE]: join(x, [x, x])][0]"),
        double("\"ab\"", "[for x in [HERE]: format(\"%s%s\", x, x)][0]"),
        double("\"ab\"", "[for x in [HERE]: replace(x, \"\", x)][0]"),
        double("[1]", "[for x in [HERE]: concat(x, x)][0]"),
        double("[1]", "[for x in [HERE]: flatten([x, x])][0]"),
        format!("jsonencode({})", double("{a = 1}", "[for x in [HERE]: {a = x, b = x}][0]")),
        "jsonencode([for a in range(1000): [for b in range(1000): range(1000)]])".to_owned(),
        "setproduct(range(1000), range(1000), range(1000))".to_owned(),
        "format(\"%1000000000s\", \"a\")".to_owned(),
        "indent(1000000000, \"a\\nb\")".to_owned(),
        "join(\"\", [for a in range(1000): join(\"a\", range(a, a + 1000))])".to_owned(),
    ] {
        let end = expression(text.as_str());
        if !end.starts_with("limit.") {
            wrong.push(format!("{}: {end}", &text[..text.len().min(80)]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let loops = "%{for a in range(1000)}".repeat(3) + "a" + &"%{endfor}".repeat(3);
    assert!(template(loops).starts_with("limit."));
}

#[test]
fn every_cut_and_change_of_a_source_ends() {
    let sample = "a \"l\" b {\n  c = [for k, v in { x = 1, \"y\" : null }: \"é${k ~}\\n %{ if !v == -1.5e3 }${v...}%{ endif }\" if true]\n\
        }\nd = <<-E\n  ${f::g(x.*.y[0].0, z[*])}\n  E\n/* c */ # e\n";
    for cut in (0..sample.len()).filter(|&cut| sample.is_char_boundary(cut)) {
        let rest: String = sample[cut..].chars().skip(1).collect();
        let mut texts = vec![sample[..cut].to_owned()];
        texts.extend(
            ["\0", "\n", "\"", "${", "}", "<<E\n", "*/", "\u{301}"].map(|new| format!("{}{new}{rest}", &sample[..cut])),
        );
        for text in texts {
            let _ = (read_data(&Source::new("t", text.as_str()), &limits()), format(&text));
            let _ = Expression::new(&Source::new("t", text.as_str()), &registry(), &limits());
            let _ = Expression::template(&Source::new("t", text.as_str()), &registry(), &limits());
            File::json(&Source::new("t", text), &Default::default(), &limits());
        }
    }
}

#[test]
fn the_formatter_accepts_invalid_syntax() {
    for text in ["(", "[", "{", "\"${", "a {\n", "<<E\n", "-", "%{", "=", ".*", "[*]", "/*", "}", "\n"] {
        let text = text.repeat(MANY);
        let len = text.len();
        assert!(on_a_small_stack(move || format(&text).len()) >= len / 2);
    }
}

#[test]
fn many_faults_are_as_many_as_the_limit_lets_through() {
    let most = limits().diagnostics;
    for line in ["a = 'b'\n", "a = [\n", "@", "a b c\n", "}\n", "a = 1\n"] {
        let text = line.repeat(MANY);
        let count = on_a_small_stack(move || {
            read_data(&Source::new("t", text), &limits()).map_or_else(|errors| errors.iter().count(), |_| 0)
        });
        assert!(count <= most + 1, "{count}: {line}");
    }
    let long = "x".repeat(Limits::default().source_bytes + 1);
    assert_eq!(expression(long.as_str()), Code::LimitSourceBytes.name());
}
