//! Nesting just below its limit, of shapes of the languages that need little stack for it even without optimisation, on a
//! thread with 256 KiB of stack. An overflow ends the process, so each shape runs in one of its own.

use std::process::{Command, Stdio};
use std::thread;

use dropforge::bytecode::ImportKind;
use dropforge::engine::{Dialect, Engine};
use dropforge::limits::Limits;
use serde_json::json;

const STACK: usize = 256 << 10;

/// The variable with the index of the shape that a child process runs.
const SHAPE: &str = "DROPFORGE_TEST_SHAPE";

/// A language, text before the nested part, what opens and closes a level around the middle, and text after it.
type Shape = (Dialect, [&'static str; 5]);

const SHAPES: [Shape; 23] = [
    (Dialect::Tera, ["{{ ", "(", "1", ")", " }}"]),
    (Dialect::Tera, ["{{ ", "(1 + ", "1", ")", " }}"]),
    (Dialect::Tera, ["{{ ", "f(a=", "1", ")", " }}"]),
    (Dialect::Tera, ["{% if ", "(not ", "true", ")", " %}{% endif %}"]),
    (Dialect::Tera, ["{% if ", "(true and ", "true", ")", " %}{% endif %}"]),
    (Dialect::Tera, ["", "{% if t %}", "x", "{% endif %}", ""]),
    (Dialect::Tera, ["", "{% if not t %}{% else %}", "x", "{% endif %}", ""]),
    (Dialect::Tera, ["", "{% for x in [1] %}", "{{ x }}", "{% endfor %}", ""]),
    (Dialect::Tera, ["", "{% for x in [] %}{% else %}", "x", "{% endfor %}", ""]),
    (Dialect::Tera, ["", "{% filter upper %}", "x", "{% endfilter %}", ""]),
    (Dialect::Cel, ["", "(", "1", ")", ""]),
    (Dialect::Cel, ["", "(1 + ", "1", ")", ""]),
    (Dialect::Cel, ["", "[", "1", "]", ""]),
    (Dialect::Cel, ["", "{'a': ", "1", "}", ""]),
    (Dialect::Cel, ["", "f(", "1", ")", ""]),
    (Dialect::Cel, ["", "[1].map(x, ", "x", ")", ""]),
    (Dialect::Cel, ["", "(t ? 1 : ", "1", ")", ""]),
    (Dialect::Cel, ["", "m[", "'a'", "]", ""]),
    (Dialect::Cel, ["", "(t && ", "t", ")", ""]),
    (Dialect::CelYaml, ["a: ${", "[", "1", "]", "}\n"]),
    (Dialect::CelYaml, ["a: ", "[", "1", "]", "\n"]),
    (Dialect::CelYaml, ["", "{$if: t, $then: ", "1", "}", "\n"]),
    (Dialect::Tower, ["cd ", "${", "params.a", "}", ""]),
];

/// Compiles a shape and renders it with inputs that nest as deep.
fn run((dialect, [before, open, middle, close, after]): Shape) {
    let depth = Limits::default().nesting - 8;
    let source = format!("{before}{}{middle}{}{after}", open.repeat(depth), close.repeat(depth));
    let engine = Engine::builder().declare(dialect, ImportKind::Function, "f").build();
    let nested = (0..depth / 2).fold(json!(1), |inner, _| json!([{ "a": inner }]));
    let inputs = json!({"t": true, "m": {"a": "a"}, "v": nested});
    for source in [source, written(dialect)] {
        if let Ok(template) = engine.compile(dialect, "t", &source) {
            let _ = template.inputs();
            let _ = template.render(&inputs);
            let bytes = engine.bundle([(dialect, "t")]).ok().and_then(|bundle| bundle.encode().ok());
            drop(bytes);
        }
    }
}

/// Returns a template that writes the nested input.
fn written(dialect: Dialect) -> String {
    match dialect {
        Dialect::Tera => "{{ v }}{{ v | json_encode() }}{{ v == v }}",
        Dialect::Helm => "{{ .v }}",
        Dialect::Hcl => "${jsonencode(v)}",
        Dialect::Cel => "[v, v == v]",
        Dialect::CelYaml => "v: ${v}\n",
        Dialect::Tower => "${v}",
    }
    .to_owned()
}

#[test]
fn nesting_below_its_limit_needs_little_stack() {
    if let Some(shape) = std::env::var(SHAPE).ok().and_then(|at| SHAPES.get(at.parse::<usize>().ok()?).copied()) {
        thread::Builder::new().stack_size(STACK).spawn(move || run(shape)).unwrap().join().unwrap();
        return;
    }
    let name = "stacks::nesting_below_its_limit_needs_little_stack";
    let overflows = |at: &usize| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([name, "--exact"]).env(SHAPE, at.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
        !child.status().unwrap().success()
    };
    let found: Vec<_> = (0..SHAPES.len()).filter(overflows).map(|at| (SHAPES[at].0, SHAPES[at].1[1])).collect();
    assert!(found.is_empty(), "{} of {}: {found:#?}", found.len(), SHAPES.len());
}
