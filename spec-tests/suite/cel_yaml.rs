//! `cel-yaml`: runs its cases in `spec-tests/cel-yaml`, and hostile templates.

use std::sync::Arc;

use dropforge::compiler::Loader;
use dropforge::diagnostics::{Code, Diagnostics};
use dropforge::engine::{Dialect, Engine, Template};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, Data, InputBuilder, Inputs, Shapes};
use dropforge::vm::{Observer, Session};

use crate::cases::{self, Case, Rendered};

/// Compiles the template of a case with its files.
fn compiled(case: &Case) -> Result<Template, Diagnostics> {
    cases::compile(Dialect::CelYaml, case)
}

/// Returns the context of a case with its keys in order.
fn context(case: &Case) -> Data {
    let context = case.section("context").map_or("{}", |section| section.text.as_str());
    serde_json::from_str(context).expect("the context is JSON")
}

fn render(case: &Case) -> Result<Rendered, Diagnostics> {
    let template = compiled(case)?;
    let text = template.render(&context(case))?;
    let output = text.trim_end_matches('\n').to_owned();
    Ok(Rendered { output, listing: template.disassemble(), cost: None })
}

#[test]
fn cases() {
    cases::run_cases("cel-yaml", &render);
}

/// Runs every case, observed by `hooks`.
pub fn watch(hooks: &mut dyn Observer) {
    for case in cases::read_folder("cel-yaml").iter().flat_map(|(_, cases)| cases) {
        let Ok(template) = compiled(case) else { continue };
        let (arena, context) = (Arena::new(), context(case));
        let shapes = Shapes::new(&arena);
        let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(&context).expect("inputs"));
        let _ = template.render_observed(&mut Session::new(), inputs, &mut String::new(), hooks);
    }
}

/// The machine that checks every index renders every case in the same way.
#[test]
fn the_checked_machine_gives_the_same_output() {
    let mut count = 0;
    for case in cases::read_folder("cel-yaml").iter().flat_map(|(_, cases)| cases) {
        let Ok(template) = compiled(case) else { continue };
        let (arena, context) = (Arena::new(), context(case));
        let shapes = Shapes::new(&arena);
        let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(&context).expect("inputs"));
        let (mut quick, mut checked) = (String::new(), String::new());
        let outcome = template.render_inputs(&mut Session::new(), inputs, &mut quick);
        let other = template.render_checked(&mut Session::new(), inputs, &mut checked);
        let told = |outcome: dropforge::diagnostics::Result<()>| outcome.err().map(|error| error.to_string());
        assert_eq!((told(outcome), quick), (told(other), checked), "{}", case.name);
        count += 1;
    }
    assert!(count > 50, "{count}");
}

/// Renders a single template without inputs.
fn alone(template: &str, limits: Limits) -> Result<String, Diagnostics> {
    let engine = Engine::builder().limits(limits).build();
    Ok(engine.compile(Dialect::CelYaml, "t.cel.yaml", template)?.render(&())?)
}

/// Returns the error codes of a template.
pub fn codes(template: &str) -> Vec<Code> {
    let errors = alone(template, Limits::default()).err();
    errors.iter().flat_map(|errors| errors.iter().map(|error| error.code)).collect()
}

/// Returns the first error code of a template with one tightened limit.
fn end(template: &str, tighten: fn(&mut Limits)) -> Option<Code> {
    let mut limits = Limits::default();
    tighten(&mut limits);
    alone(template, limits).err().and_then(|errors| errors.first().map(|error| error.code))
}

#[test]
fn growth_ends_in_a_limit() {
    let none: fn(&mut Limits) = |_| {};
    let few: fn(&mut Limits) = |limits| limits.fuel = 10_000;
    let small: fn(&mut Limits) = |limits| limits.memory = 100_000;
    let short: fn(&mut Limits) = |limits| limits.output_bytes = 1000;
    for (template, tighten, wanted) in [
        ("- $for: i in lists.range(100000)\n  $do: 1\n", few, Code::LimitFuel),
        ("$for: i in lists.range(100000)\n$do: {'${i}': 1}\n", few, Code::LimitFuel),
        ("- $for: i in lists.range(3000)\n  $do: [1, 2, 3]\n", small, Code::LimitMemory),
        ("$for: i in lists.range(3000)\n$do: {a: 1, '${i}': 2}\n", small, Code::LimitMemory),
        ("$for: i in lists.range(3000)\n$do: {same: '${i}'}\n", small, Code::LimitMemory),
        ("- $for: i in lists.range(300)\n  $do: some text\n", short, Code::LimitOutputBytes),
        (
            "- $for: i in lists.range(2000)\n  $do:\n    - $for: j in lists.range(2000)\n      $do:\n        - $for: k in lists.range(2000)\n          $do: {}\n",
            none,
            Code::LimitMemory,
        ),
    ] {
        assert_eq!(end(template, tighten), Some(wanted), "{template}");
    }
}

/// Constant evaluation of a template has a shared limit. Parts beyond it are left to the run, with the same result.
#[test]
fn parts_that_are_constant_are_computed_up_to_a_limit() {
    let listing = |count: usize, item: &str| {
        let engine = Engine::new();
        let template = engine.compile(Dialect::CelYaml, "t.cel.yaml", &format!("- ${{{item}}}\n").repeat(count));
        let template = template.unwrap_or_else(|errors| panic!("{errors}"));
        (template.disassemble(), template.render(&()).unwrap_or_else(|errors| panic!("{errors}")))
    };
    let (few, text) = listing(100, "'abc'.size()");
    assert!(!few.contains("size"));
    assert_eq!(text, "- 3\n".repeat(100));
    let (many, text) = listing(3000, "'abc'.size()");
    assert!((1000..3000).contains(&many.matches(" size").count()), "{}", many.matches(" size").count());
    assert_eq!(text, "- 3\n".repeat(3000));
    // A part that takes too many steps uses up the budget of the others.
    let (long, text) = listing(100, "lists.range(9000).all(i, i >= 0) && 1 + 2 == 3");
    assert!(long.contains(" lit true") && long.contains(" iter "));
    assert_eq!(text, "- true\n".repeat(100));
}

#[test]
fn aliases_of_aliases_are_a_limit_of_the_template_or_of_its_code() {
    let mut template = "a0: &a0 ['${x}', '${x}']\n".to_owned();
    for at in 1..40 {
        template.push_str(&format!("a{at}: &a{at} [*a{before}, *a{before}, *a{before}]\n", before = at - 1));
    }
    let end = end(&template, |_| {});
    assert!(end.is_some_and(Code::is_limit), "{end:?}");
    let lots: String = (0..3000).map(|at| format!("k{at}: ['${{x.a{at} + 1}}', 'a ${{x}}']\n")).collect();
    assert_eq!(self::end(&lots, |limits| limits.code_words = 10_000), Some(Code::LimitCode));
}

#[test]
fn deep_templates_end_in_a_value_or_a_limit() {
    let alone = |template: &str| alone(template, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"));
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(alone(&nested(100)).trim(), "- ".repeat(100) + "1");
    assert!(end(&nested(1000), |_| {}).is_some_and(Code::is_limit));
    let maps: String = (0..1000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert!(end(&maps, |_| {}).is_some_and(Code::is_limit));
    let ifs = |depth: usize| format!("{}1{}", "{$if: true, $then: ".repeat(depth), "}".repeat(depth));
    assert_eq!(alone(&ifs(100)), "1\n");
    assert!(end(&ifs(1000), |_| {}).is_some_and(Code::is_limit));
    let loops = format!("{}1{}", "[{$for: 'i in [1]', $do: ".repeat(40), "}]".repeat(40));
    assert_eq!(alone(&loops).trim(), "- ".repeat(40) + "1");
}

/// Each of many documents is rendered separately.
#[test]
fn many_documents_and_long_lists() {
    let documents: String = (0..500).map(|n| format!("---\n$let: {{v: '{n}'}}\nn: ${{v + 1}}\n")).collect();
    let text = alone(&documents, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(text.matches("---").count(), 499);
    assert!(text.ends_with("---\n\"n\": 500\n"), "{}", &text[text.len() - 20..]);
    let list: String = (0..5000).map(|n| format!("- ${{{n} + 1}}\n- $if: '{n} > 2'\n  $then: {n}\n")).collect();
    let text = alone(&list, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(text.lines().count(), 5000 + 5000 - 3);
}

/// An error that `&&` holds back and raises later gets its position, path and includes once.
#[test]
fn deferred_errors_are_positioned_once() {
    let engine = Engine::builder()
        .template("t.cel.yaml", "a:\n  b: {$include: f.yaml, $with: {n: 0}}\n")
        .template("f.yaml", "c: ${1 / n == 1 && true}\n")
        .build();
    let template = engine.load(Dialect::CelYaml, "t.cel.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    let error = template.render(&()).expect_err("a division by zero");
    let labels: Vec<_> = error.labels.iter().map(|label| format!("{} {}", label.source.name(), label.text)).collect();
    assert_eq!(labels, ["f.yaml in `c`", "t.cel.yaml included here"]);
    assert_eq!(error.fields.get("path").map(String::as_str), Some("c"));
}

/// A loader that cannot list its files.
#[derive(Debug)]
struct Unlisted;

impl Loader for Unlisted {
    fn load(&self, _: &str) -> dropforge::diagnostics::Result<Option<Arc<Source>>> {
        Ok(None)
    }
}

#[test]
fn paths_that_are_made_need_a_list_of_the_files() {
    let engine = Engine::builder().loader(Unlisted).build();
    let template = "a:\n  - {$include: 'a/${x}.yaml'}\n";
    let errors = engine.compile(Dialect::CelYaml, "t.cel.yaml", template).expect_err("an error");
    let error = errors.first().expect("an error");
    assert!(error.message.contains("the loader has no list of the files"), "{error}");
    assert_eq!(
        (error.position().map(|at| at.to_string()), error.fields["path"].as_str()),
        (Some("2:16".into()), "a[0].$include")
    );
}
