//! Programs that call templates, assembled by hand, so that the tests depend on no language's includes.

use crate::{Capabilities, Engine, Template};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_cel as cel;
use dropforge_machine::bytecode::{Dialect, Entry, ImportKind, Op, Program, encode};
use dropforge_machine::compiler::{Constant, Emitter, PathSpec, RootSpec};
use dropforge_machine::vm::Session;
use dropforge_value::{Arena, Inputs, Value};

/// Returns a program called `name` that renders the templates `calls` with `{n: n}`, as YAML: one document for each, or
/// as one list if it is itself called.
fn calling(name: &str, calls: &[&str]) -> Program {
    let mut e = Emitter::new(Dialect::CelYaml, &cel::Rules, 1 << 20);
    let registry = cel::registry();
    let main = e.declare_chunk(name, 0);
    e.begin_chunk(main);
    e.at(&Source::new(name, "$include: there"), Span::new(10, 15));
    for called in calls {
        e.load(&PathSpec { name: "n", roots: &[RootSpec::Global("n")], segments: &[] });
        e.map(&["n"]);
        e.call_template(called);
        e.constant(Constant::Str((*called).into()));
        let yaml = registry.get(ImportKind::Intrinsic, "yaml").unwrap();
        e.apply(ImportKind::Intrinsic, "yaml", yaml.signature(), 2);
    }
    e.op(Op::List, &[u32::try_from(calls.len()).unwrap()]);
    if name != "a" {
        e.op(Op::List, &[1]);
    }
    e.op(Op::Answer, &[]);
    e.end_chunk();
    e.finish().unwrap()
}

/// Compiles a Tera template.
fn tera(name: &str, text: &str) -> Program {
    Engine::new().compile(Dialect::Tera, name, text).unwrap().program().clone()
}

fn artifact(programs: &[Program]) -> Vec<u8> {
    let entry = |program| Entry {
        name: Program::name(program),
        program,
        escape: false,
        executable: false,
        reaches: &[],
        residual: None,
    };
    encode(&programs.iter().map(entry).collect::<Vec<_>>(), false).unwrap()
}

fn open(programs: &[Program], limits: Limits) -> Result<Template> {
    Engine::builder().limits(limits).build().open(artifact(programs)).unwrap().template("a")
}

fn render(template: &Template) -> Result<String> {
    template.render(&serde_json::json!({ "n": 3 }))
}

#[test]
fn a_template_of_another_language_is_rendered_with_a_map() {
    let template = open(
        &[calling("a", &["b.tera", "c", "b.tera"]), tera("b.tera", "x: {{ n + 1 }}\n"), calling("c", &["b.tera"])],
        Limits::default(),
    );
    let template = template.unwrap();
    assert_eq!(template.reaches(), ["b.tera", "c"]);
    assert_eq!(render(&template).unwrap(), "x: 4\n---\n- x: 4\n---\nx: 4\n");
    let (arena, mut session, mut out) = (Arena::new(), Session::new(), String::new());
    let inputs = Inputs::new(arena.map(&[("n", Value::Int(1))]));
    template.render_checked(&mut session, inputs, &mut out).unwrap();
    assert_eq!(out, "x: 2\n---\n- x: 2\n---\nx: 2\n");
}

#[test]
fn cycles_and_missing_templates_do_not_link() {
    let cycle = [calling("a", &["b"]), calling("b", &["c"]), calling("c", &["b"])];
    let error = open(&cycle, Limits::default()).unwrap_err();
    assert_eq!((error.code, &*error.message), (Code::IncludeCycle, "include cycle: `b` includes `c` includes `b`"));
    let error = open(&[calling("a", &["a"])], Limits::default()).unwrap_err();
    assert_eq!(error.message, "include cycle: `a` includes `a`");
    let error = open(&[calling("a", &["bb"]), calling("b", &[])], Limits::default()).unwrap_err();
    assert_eq!(error.code, Code::UnknownTemplate);
    assert!(error.help.unwrap().contains("`b`") && error.notes == ["`a` includes it"], "{:?}", error.notes);
    let deep: Vec<_> = (0..40).map(|n| calling(&level(n), &[&level(n + 1)])).collect();
    assert_eq!(open(&deep, Limits::default()).unwrap_err().code, Code::LimitRecursion);
}

fn level(n: u32) -> String {
    if n == 0 { "a".to_owned() } else { format!("n{n:02}") }
}

#[test]
fn shared_callees_are_linked_once() {
    // Following every path would take 2^14 calls.
    let wide: Vec<_> = (0..14).map(|n| calling(&level(n), &[&level(n + 1), &level(n + 1)])).collect();
    let last = tera("n14", "{{ n }}");
    let template = open(&[wide, vec![last]].concat(), Limits::default()).unwrap();
    assert_eq!(template.reaches().len(), 14);
    let error = open_limited(&template, 20_000);
    assert_eq!(error.code, Code::LimitFuel);
}

/// Renders with this much fuel and returns the error.
fn open_limited(template: &Template, fuel: u64) -> Box<dropforge_base::diagnostics::Diagnostic> {
    let engine = Engine::builder().limits(Limits { fuel, ..Limits::default() }).build();
    let bytes = encode(&template.entries("a"), false).unwrap();
    render(&engine.open(bytes).unwrap().template("a").unwrap()).unwrap_err()
}

#[test]
fn budgets_and_capabilities_are_those_of_the_caller() {
    let programs = |text: &str| [calling("a", &["b", "b"]), tera("b", text)];
    let long = "{% for i in range(end=100) %}{{ i }}{% endfor %}";
    let spent = |times: u64| Limits { fuel: times, ..Limits::default() };
    assert!(render(&open(&programs(long), spent(2_000)).unwrap()).is_ok());
    assert_eq!(render(&open(&programs(long), spent(200)).unwrap()).unwrap_err().code, Code::LimitFuel);
    let memory = Limits { memory: 5_000, ..Limits::default() };
    assert_eq!(render(&open(&programs(long), memory).unwrap()).unwrap_err().code, Code::LimitMemory);

    let clock = "{{ now() | date(format='x') }}";
    assert_eq!(render(&open(&programs(clock), Limits::default()).unwrap()).unwrap_err().code, Code::CapabilityOff);
    let engine = Engine::builder().allow(Capabilities::CLOCK).build();
    let template = engine.open(artifact(&programs(clock))).unwrap().template("a").unwrap();
    assert_eq!(render(&template).unwrap(), "x\n---\nx\n");
}

#[test]
fn errors_have_their_place_and_that_of_the_call() {
    let error = |text: &str| {
        let programs = [calling("a", &["c"]), calling("c", &["b.tera"]), tera("b.tera", text)];
        render(&open(&programs, Limits::default()).unwrap()).unwrap_err()
    };
    let places = |error: &dropforge_base::diagnostics::Diagnostic| -> Vec<String> {
        let place =
            |label: &dropforge_base::diagnostics::Label| format!("{}:{}", label.source.name(), label.position());
        error.labels.iter().map(place).collect()
    };
    let missing = error("x: {{ m }}");
    assert_eq!(missing.code, Code::UndefinedVariable);
    assert_eq!(places(&missing), ["b.tera:1:7", "c:1:11", "a:1:11"]);
    let yaml = error("x: 1\ny: [\n");
    assert_eq!((yaml.code, &*yaml.notes[0]), (Code::InputSyntax, "it is what `b.tera` gave"));
    assert_eq!(places(&yaml)[1..], ["c:1:11", "a:1:11"]);
    assert!(places(&yaml)[0].starts_with("b.tera (rendered):"), "{yaml:?}");
    let several = error("---\na: 1\n---\nb: 2\n");
    assert!(several.message.contains("one document"), "{several:?}");
    assert_eq!(places(&several)[0], "b.tera (rendered):4:1");
}

#[test]
fn yaml_text_keeps_its_keys_and_tags() {
    let text = "---\n1: a\ntrue: 012\nx: !Ref y\n~: 18446744073709551615\nl: [1.50, no, *x]\n---\n";
    let template = |text: &str| open(&[calling("a", &["b"]), tera("b", text)], Limits::default()).unwrap();
    let with_anchor = text.replace("!Ref y", "!Ref y\nz: &x {k: 2024-01-01}");
    let wanted = "1: a\ntrue: 12\nx: !Ref \"y\"\nz:\n  k: \"2024-01-01\"\n\"null\": 18446744073709551615\nl:\n  - 1.5\n  - \"no\"\n  - k: \"2024-01-01\"\n";
    assert_eq!(render(&template(&with_anchor)).unwrap(), wanted);
    assert_eq!(render(&template("")).unwrap(), "null\n");
    assert_eq!(render(&template("a: 1\na: 2\n")).unwrap_err().code, Code::DuplicateKey);
}
