//! `hcl`: the case files of `spec-tests/hcl/values`, its functions, its bodies, and hostile sources.
//!
//! A case file holds the cases of one section of the specification. A section `expressions` or `templates` has a row
//! `SOURCE ⇒ RESULT` for each source. A section `expression`, `template`, `config` or `json` has one source and is
//! followed by a section `result`. A result is a value and its type, or errors of the form `! CODE LINE:COLUMN
//! summary`. The result of a `config` or `json` is the map of its values. The variables are those of [`variables`].
//!
//! `UPDATE=1 cargo test --test suite` writes the actual results. Read the difference before you commit it.

mod files;
mod functions;
mod hostile;
mod round_trip;
mod show;

use std::sync::Arc;

use dropforge::bytecode::disassemble;
use dropforge::diagnostics::{Diagnostic, Diagnostics};
use dropforge::dialect::hcl::body::{Context, File};
use dropforge::dialect::hcl::{Expression, Rules, read_data, registry};
use dropforge::function::Capabilities;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, Data, Inputs, Type, Value};
use dropforge::vm::{Evaluator, Observer, Space};

use crate::cases::{self, Case};

/// The variables of every case. Most are unknown values, with or without a known type.
pub fn variables(arena: &Arena) -> Inputs<'_> {
    Inputs::new(arena.map(&[
        ("u", arena.unknown(Type::Dynamic)),
        ("ubool", arena.unknown(Type::Bool)),
        ("unumber", arena.unknown(Type::Number)),
        ("ustring", arena.unknown(Type::String)),
        ("ulist", arena.unknown(arena.list_type(Type::String))),
        ("uset", arena.unknown(arena.set_type(Type::String))),
        ("umap", arena.unknown(arena.map_type(Type::Number))),
        ("utuple", arena.unknown(arena.tuple_type(&[Type::Number, Type::String]))),
        ("object", arena.map(&[("a", Value::Int(1)), ("b", arena.list(&[arena.text("x")]))])),
        ("for", Value::Int(4)),
    ]))
}

/// Formats each error as `! CODE LINE:COLUMN summary`.
fn said<'e>(errors: impl IntoIterator<Item = &'e Diagnostic>) -> Vec<String> {
    let line = |error: &Diagnostic| {
        let place = error.position().map_or("nowhere".to_owned(), |place| place.to_string());
        format!("! {} {place} {}", error.code.id(), error.message)
    };
    errors.into_iter().map(line).collect()
}

fn boxed(errors: &[Box<Diagnostic>]) -> impl Iterator<Item = &Diagnostic> {
    errors.iter().map(|error| &**error)
}

type Outcome = Result<String, Vec<String>>;

fn refused(errors: Diagnostics) -> Vec<String> {
    said(errors.iter())
}

fn evaluated(made: Result<Expression, Diagnostics>) -> Outcome {
    evaluated_allowing(Capabilities::NONE, made)
}

fn evaluated_allowing(capabilities: Capabilities<'_>, made: Result<Expression, Diagnostics>) -> Outcome {
    let (limits, space) = (Limits::default(), Space::new());
    let expression = made.map_err(refused)?;
    let answer = expression.evaluate_allowing(capabilities, &space, variables(space.arena()), &limits);
    let answer = answer.map_err(|error| said([&*error]))?;
    if answer.errors.is_empty() {
        Ok(show::typed(space.arena(), answer.value))
    } else {
        Err(said(boxed(&answer.errors)))
    }
}

fn json(source: &Arc<Source>) -> Outcome {
    let (limits, space, mut faults) = (Limits::default(), Space::new(), Vec::new());
    let file = File::json(source, &registry(), &limits);
    if !file.diagnostics().is_empty() {
        return Err(said(boxed(file.diagnostics())));
    }
    let context = Context::new(&space, &limits).with_variables(space.arena().map(&[("n", Value::Int(2))]));
    let attributes = file.body().just_attributes(&mut faults);
    let mut lines = Vec::new();
    for (name, attribute) in &attributes {
        let value = attribute.expr.evaluate(&context, &mut faults);
        lines.push(format!("{name} = {}", show::typed(space.arena(), value)));
    }
    if faults.is_empty() { Ok(lines.join("\n")) } else { Err(said(boxed(&faults))) }
}

/// Evaluates a source of this kind. Errors are one per line.
fn result(kind: &str, text: &str) -> String {
    let (limits, source) = (Limits::default(), Source::new("t", text));
    let outcome = match kind {
        "expression" | "expressions" => evaluated(Expression::new(&source, &registry(), &limits)),
        "template" | "templates" => evaluated(Expression::template(&source, &registry(), &limits)),
        "config" => read_data(&source, &limits)
            .map_err(refused)
            .map(|map| serde_json::to_string_pretty(&Data::Map(map)).expect("a map is JSON")),
        "json" => json(&source),
        other => panic!("no kind of source: {other}"),
    };
    outcome.unwrap_or_else(|lines| lines.join("\n"))
}

/// Runs the rows of a section. Collects mismatches, and updates the section with the actual results.
fn rows(kind: &str, text: &mut String, wrong: &mut Vec<String>) {
    let mut lines = Vec::new();
    for line in text.lines() {
        let (source, wanted) = line.split_once(" ⇒").unwrap_or((line, ""));
        let got = result(kind, source).replace('\n', " ");
        if wanted.trim() != got {
            wrong.push(format!("{source}: want {:?}, got {got:?}", wanted.trim()));
        }
        lines.push(format!("{source} ⇒ {got}"));
    }
    *text = lines.join("\n");
}

/// Returns the listing of an expression.
fn listing(text: &str) -> String {
    let expression = Expression::new(&Source::new("t", text), &registry(), &Limits::default()).expect("an expression");
    disassemble(expression.program()).trim_end().to_owned()
}

fn run(case: &mut Case) -> Vec<String> {
    let mut wrong = Vec::new();
    let (mut source, mut results) = (("", String::new()), 0);
    for section in &mut case.sections {
        let got = match section.heading.as_str() {
            kind @ ("expressions" | "templates") => {
                rows(kind, &mut section.text, &mut wrong);
                results += 1;
                continue;
            }
            "result" => result(source.0, &source.1),
            "listing" => listing(&source.1),
            kind => {
                let kinds = ["expression", "template", "config", "json"];
                source.0 = kinds.into_iter().find(|known| *known == kind).expect("a kind of source");
                source.1.clone_from(&section.text);
                continue;
            }
        };
        results += 1;
        if got != section.text {
            wrong.push(format!("{}: want {:?}, got {got:?}", section.heading, section.text));
            section.text = got;
        }
    }
    if results == 0 {
        wrong.push("a source without a result".to_owned());
    }
    wrong
}

/// Evaluates every expression and template of the case files, observed by `hooks`.
pub fn watch_values(mut hooks: &mut dyn Observer) {
    let limits = Limits::default();
    for section in
        cases::read_folder("hcl/values").into_iter().flat_map(|(_, cases)| cases).flat_map(|case| case.sections)
    {
        let sources: Vec<_> = match section.heading.as_str() {
            "expressions" => section.text.lines().map(|line| line.split(" ⇒").next().unwrap_or(line)).collect(),
            "expression" => vec![section.text.as_str()],
            _ => continue,
        };
        for text in sources {
            let Ok(expression) = Expression::new(&Source::new("t", text), &registry(), &limits) else { continue };
            let (space, program) = (Space::new(), expression.program());
            let linked = registry().link(program.imports()).expect("it links");
            let mut evaluator = Evaluator::new(&space, program, &linked, &limits, Capabilities::NONE);
            let _ = evaluator.run_hooked::<Rules, _>(0, variables(space.arena()), &mut hooks);
        }
    }
}

#[test]
fn cases_of_values() {
    cases::run_each("hcl/values", &run);
}
