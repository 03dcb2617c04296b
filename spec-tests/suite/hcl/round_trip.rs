//! Programs of expressions as artifacts: after a round trip they are verified and give the same answers.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use dropforge::bytecode::{Bundle, Entry, Program, encode};
use dropforge::dialect::hcl::lower::lower_expressions;
use dropforge::dialect::hcl::syntax::static_list;
use dropforge::dialect::hcl::{Expression, Rules, registry};
use dropforge::function::Capabilities;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::vm::{Evaluator, Space};
use proptest::prelude::*;

use super::{boxed, cases, said, show, variables};

/// Every valid single-line expression of the case files.
fn expressions() -> &'static [String] {
    static ALL: OnceLock<Vec<String>> = OnceLock::new();
    ALL.get_or_init(|| {
        let cases = cases::read_folder("hcl/values").into_iter().flat_map(|(_, cases)| cases);
        let sections = cases.flat_map(|case| case.sections).filter(|section| section.heading == "expressions");
        let rows = sections.flat_map(|section| {
            let source = |line: &str| line.split(" ⇒").next().unwrap_or(line).to_owned();
            section.text.lines().map(source).collect::<Vec<_>>()
        });
        let reads = |text: &String| list(std::slice::from_ref(text)).is_some();
        rows.filter(reads).collect::<BTreeSet<_>>().into_iter().collect()
    })
}

/// Compiles one program with a chunk for each expression. Returns `None` if they do not form a valid list.
fn list(texts: &[String]) -> Option<Program> {
    let source = Source::new("t", format!("[\n{}\n]", texts.join(",\n")));
    let (registry, limits) = (registry(), Limits::default());
    let parsed = Expression::new(&source, &registry, &limits).ok()?;
    let (tree, root) = parsed.tree();
    let ids = static_list(tree, root).filter(|ids| ids.len() == texts.len())?;
    Some(lower_expressions(tree, ids, &registry, &limits).expect("it compiles"))
}

/// Returns the answer of each chunk with its errors.
fn answers(program: &Program, chunks: usize, places: bool) -> Vec<String> {
    let (space, limits, registry) = (Space::new(), Limits::default(), registry());
    let linked = registry.link(program.imports()).expect("it links");
    let mut evaluator = Evaluator::new(&space, program, &linked, &limits, Capabilities::NONE);
    let inputs = variables(space.arena());
    let mut answer = |chunk| {
        let answer = evaluator.run::<Rules>(chunk, inputs).expect("no limit is reached");
        let wrong = match places {
            true => said(boxed(&answer.errors)),
            false => answer.errors.iter().map(|error| format!("{}: {}", error.code.id(), error.message)).collect(),
        };
        format!("{} {}", show::typed(space.arena(), answer.value), wrong.join("; "))
    };
    (0..).take(chunks).map(&mut answer).collect()
}

/// Returns the program after a round trip through an artifact.
fn read_back(program: &Program, strip: bool) -> Program {
    let entry = Entry { name: "t", program, escape: false, executable: false, reaches: &[], residual: None };
    let bytes = encode(&[entry], strip).expect("an artifact");
    let bundle = Bundle::open(bytes.clone()).expect("it opens");
    let read = bundle.entries()[0].program().clone();
    let entry = Entry { name: "t", program: &read, escape: false, executable: false, reaches: &[], residual: None };
    assert!(encode(&[entry], strip).expect("an artifact") == bytes, "what was read is written as it was");
    read
}

#[test]
fn every_expression_answers_from_an_artifact_as_from_memory() {
    assert!(expressions().len() > 400, "{} expressions", expressions().len());
    for text in expressions() {
        let program = list(std::slice::from_ref(text)).expect("it was read before");
        for strip in [false, true] {
            let read = read_back(&program, strip);
            assert_eq!(answers(&program, 1, !strip), answers(&read, 1, !strip), "{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expressions_of_one_program_answer_from_an_artifact_as_from_memory(
        texts in prop::collection::vec(prop::sample::select(expressions()), 1..24),
        strip in any::<bool>(),
    ) {
        let Some(program) = list(&texts) else { return Ok(()) };
        let read = read_back(&program, strip);
        prop_assert_eq!(answers(&program, texts.len(), !strip), answers(&read, texts.len(), !strip));
        // Apart from error positions, each answers as it does alone.
        let alone = texts.iter().map(|text| answers(&list(std::slice::from_ref(text)).expect("it was read"), 1, false));
        prop_assert_eq!(answers(&read, texts.len(), false), alone.flatten().collect::<Vec<_>>());
    }
}
