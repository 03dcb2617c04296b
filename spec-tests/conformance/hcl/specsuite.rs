//! The reference's specification suite: `x.hcl` decoded by `x.hcldec` gives the result in `x.t`.
//!
//! The built binary is run like the reference's runner: once for the value and, if `x.t` has a `traversals` block, once
//! for the variables. Diagnostics are compared as sets of severity and range, values by type and then exactly.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use dropforge::dialect::hcl::body::{Attributes, Body, BodySchema, Context, File};
use dropforge::dialect::hcl::builtins;
use dropforge::dialect::hcl::syntax::parser::parse_expression;
use dropforge::dialect::hcl::typeexpr::{Mode, read};
use dropforge::dialect::hcl::values::convert::convert;
use dropforge::dialect::hcl::values::json::{Json, decode};
use dropforge::dialect::hcl::values::types::conforms;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Type, Value};
use dropforge::vm::Space;

use super::encoding::{Check, same};
use crate::report::Outcome;

/// Runs the tests of a folder, then those of its subfolders.
pub fn run(dir: &Path) -> Vec<(String, Outcome)> {
    let mut outcomes = Vec::new();
    folder(dir, dir, &mut outcomes);
    outcomes
}

fn folder(root: &Path, dir: &Path, outcomes: &mut Vec<(String, Outcome)>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "t")) {
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let outcome = match option_env!("CARGO_BIN_EXE_dropforge") {
            None => Outcome::Skip("the command is not built".into()),
            Some(command) => one(command, path).map_or_else(Outcome::Fail, |()| Outcome::Pass),
        };
        outcomes.push((name, outcome));
    }
    for path in paths.iter().filter(|path| path.is_dir()) {
        folder(root, path, outcomes);
    }
}

/// A diagnostic in comparable form: severity, and the line, column and byte of both ends.
type Said = (String, [i64; 6]);

/// The expectations of a test.
struct Test<'r> {
    result: Option<Value<'r>>,
    ty: Type<'r>,
    diagnostics: Option<Vec<Said>>,
    traversals: bool,
}

fn one(command: &str, path: &Path) -> Check {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (limits, space) = (Limits::default(), Space::new());
    let file = File::native(&Source::new("test", text), &Arc::new(builtins::bare()), &limits);
    let context = Context::new(&space, &limits);
    let test = test(&file, &context)?;
    let mut runs = 0;
    for extension in ["hcl", "hcl.json"] {
        let input = path.with_extension(extension);
        if input.is_file() {
            runs += 1;
            decodes(command, path, &input, &test, &context).map_err(|why| format!("{extension}: {why}"))?;
        }
    }
    if runs == 0 { Err("there is no input".into()) } else { Ok(()) }
}

fn test<'r>(file: &'r File, context: &Context<'r>) -> Check<Test<'r>> {
    let mut faults = file.diagnostics().to_vec();
    let schema = BodySchema::new().optional("result").optional("result_type");
    let schema = schema.block("diagnostics", &[]).block("traversals", &[]);
    let content = file.body().content(&schema, &mut faults);
    let ty = match content.attributes.get("result_type") {
        None => Type::Dynamic,
        Some(attribute) => {
            let place = attribute.expr.location();
            let parsed = parse_expression(&Source::new("type", place.source.slice(place.span)), context.limits());
            context.with_cx(|cx| read(cx, &parsed.tree, parsed.root, Mode::Constraint)).ty
        }
    };
    let result = content.attributes.get("result").map(|attribute| attribute.expr.evaluate(context, &mut faults));
    let result = match result {
        Some(value) => Some(context.with_cx(|cx| convert(cx, value, &ty)).map_err(|why| format!("{why:?}"))?),
        None => None,
    };
    let diagnostics = match content.blocks_of("diagnostics").next() {
        Some(block) => Some(wanted(&block.body, context)?),
        None => None,
    };
    let traversals = content.blocks_of("traversals").next().is_some();
    if faults.is_empty() { Ok(Test { result, ty, diagnostics, traversals }) } else { Err(format!("{faults:?}")) }
}

fn wanted<'r>(body: &Body<'r>, context: &Context<'r>) -> Check<Vec<Said>> {
    let mut faults = Vec::new();
    let ends = BodySchema::new().block("from", &[]).block("to", &[]);
    let content = body.content(&BodySchema::new().block("error", &[]).block("warning", &[]), &mut faults);
    let mut said = Vec::new();
    for block in &content.blocks {
        let parts = block.body.content(&ends, &mut faults);
        let mut place = Vec::new();
        for end in ["from", "to"] {
            let end = parts.blocks_of(end).next().ok_or("a range has two ends")?;
            place.extend(position(&end.body.just_attributes(&mut faults), context)?);
        }
        said.push((block.name.clone(), place.try_into().map_err(|_| "a range has six numbers")?));
    }
    said.sort();
    if faults.is_empty() { Ok(said) } else { Err(format!("{faults:?}")) }
}

fn position<'r>(attributes: &Attributes<'r>, context: &Context<'r>) -> Check<Vec<i64>> {
    let number = |name: &str| {
        let value = attributes.get(name).map(|attribute| attribute.expr.evaluate(context, &mut Vec::new()));
        if let Some(Value::Int(n)) = value { Ok(n) } else { Err(format!("no `{name}`")) }
    };
    ["line", "column", "byte"].into_iter().map(number).collect()
}

fn decodes<'r>(command: &str, path: &Path, input: &Path, test: &Test<'r>, context: &Context<'r>) -> Check {
    let spec = format!("--spec={}", path.with_extension("hcldec").display());
    let run = |flags: &[&str]| -> Check<Output> {
        let mut process = Command::new(command);
        process.args(["hcl", "decode", &spec, "--diags=json"]).args(flags).arg(input);
        process.output().map_err(|error| error.to_string())
    };
    let output = run(&["--with-type", "--keep-nulls"])?;
    match (&test.diagnostics, output.status.success()) {
        (Some(wanted), false) => {
            let got = said(&output, input)?;
            if *wanted != got {
                return Err(format!("want {wanted:?}, got {got:?}"));
            }
        }
        (None, true) => value(&output, test, context)?,
        (_, success) => return Err(format!("success: {success}, {output:?}")),
    }
    if test.traversals {
        let output = run(&["--var-refs"])?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() || Json::read(&text, 64)? != Json::List(Vec::new()) {
            return Err(format!("want no traversals, got {output:?}"));
        }
    }
    Ok(())
}

fn value<'r>(output: &Output, test: &Test<'r>, context: &Context<'r>) -> Check {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let got = context.with_cx(|cx| decode(cx, &text, &Type::Dynamic)).map_err(|why| format!("{why:?} in {text}"))?;
    let ty = got.type_in(context.arena());
    if !conforms(&ty, &test.ty) {
        return Err(format!("{ty:?} is no {:?}", test.ty));
    }
    test.result.map_or(Ok(()), |wanted| same(context.arena(), wanted, got))
}

/// Returns the diagnostics of a failed run. All of them must be in the input file.
fn said(output: &Output, input: &Path) -> Check<Vec<Said>> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = Json::read(&text, 64)?;
    let mut said = Vec::new();
    for one in document.get("diagnostics").and_then(Json::as_list).ok_or("no diagnostics")? {
        let severity = one.get("severity").and_then(Json::as_text).unwrap_or("");
        let subject = one.get("subject").ok_or("a diagnostic without a subject")?;
        let name = subject.get("filename").and_then(Json::as_text);
        if name != input.to_str() || !["error", "warning"].contains(&severity) {
            return Err(format!("{severity} in {name:?}"));
        }
        let mut place = [0; 6];
        let ends = ["start", "end"].into_iter().flat_map(|end| ["line", "column", "byte"].map(|field| (end, field)));
        for (slot, (end, field)) in place.iter_mut().zip(ends) {
            let number = subject.get(end).and_then(|end| end.get(field));
            let Some(Json::Number(digits)) = number else { return Err(format!("no {end} {field}")) };
            *slot = digits.parse().map_err(|_| "no whole number")?;
        }
        said.push((severity.to_owned(), place));
    }
    said.sort();
    said.dedup();
    Ok(said)
}
