//! Rows that evaluate an expression or a template.

use dropforge::bytecode::ImportKind;
use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::hcl::syntax::parser::{Parsed, parse_expression, parse_template};
use dropforge::dialect::hcl::syntax::tree::ExprId;
use dropforge::dialect::hcl::values::json::Json;
use dropforge::dialect::hcl::{Expression, builtins};
use dropforge::engine::{Dialect, Engine};
use dropforge::function::{
    Admits, Body, Builtin, Capabilities, Fault, Looks, Params, Positional, PositionalBody, PositionalParam, Registry,
    ResultType,
};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, Inputs, Type, Value};
use dropforge::vm::Space;

use super::encoding::{Check, Row, diagnostics, value, want};
use crate::specialised::agrees_for;

/// Evaluates an expression.
pub fn expression(row: &Row<'_>) -> Check {
    evaluates(row, parse_expression)
}

/// Evaluates a template.
pub fn template(row: &Row<'_>) -> Check {
    evaluates(row, parse_template)
}

/// Compares the text of a row with that of the specialised row, if it is a template of ours.
pub fn specialised(row: &Row<'_>) -> Check {
    let Ok(text) = String::from_utf8(row.input()?) else { return Ok(()) };
    let text = if row.text("kind")? == "expression" { format!("-${{{text}}}") } else { text };
    let space = Space::new();
    match (Engine::new().compile(Dialect::Hcl, "row", &text), inputs(space.arena(), row)) {
        (Ok(template), Ok(inputs)) => agrees_for(&template, inputs),
        _ => Ok(()),
    }
}

/// Calls a function with values. Its source position does not matter.
pub fn call(row: &Row<'_>) -> Check {
    let space = Space::new();
    let args = row.list("args").iter().map(|arg| value(space.arena(), arg)).collect::<Check<Vec<_>>>()?;
    let names: Vec<_> = (0..args.len()).map(|at| format!("a{at}")).collect();
    let spread = if row.flag("expand_final") { "..." } else { "" };
    let source = Source::new("row", format!("{}({}{spread})", row.text("call_name")?, names.join(", ")));
    let limits = Limits::default();
    let parsed = parse_expression(&source, &limits);
    let expression =
        Expression::compile(parsed, &functions(row.get("functions"))?, &limits).map_err(|e| e.to_string())?;
    let entries: Vec<_> = names.iter().map(String::as_str).zip(args).collect();
    let inputs = Inputs::new(space.arena().map(&entries));
    let answer = expression.evaluate(&space, inputs, &limits).map_err(|e| e.to_string())?;
    let count = i64::try_from(answer.errors.len()).unwrap_or(-1);
    if count != row.number("error_count") {
        return Err(format!("{count} errors: {}", said(&answer.errors)));
    }
    want(space.arena(), row, "want", Some(answer.value))
}

type Parser = fn(&std::sync::Arc<Source>, &Limits) -> Parsed<ExprId>;

fn evaluates(row: &Row<'_>, parse: Parser) -> Check {
    let input = String::from_utf8(row.input()?).map_err(|_| "the input is not UTF-8")?;
    let source = Source::new(format!("row.{}", row.text("kind")?), input);
    let limits = Limits::default();
    let parsed = parse(&source, &limits);
    let (wanted, found) = (row.number("parse_error_count"), parsed.diagnostics.len());
    if wanted > 0 {
        return if i64::try_from(found) == Ok(wanted) {
            Ok(())
        } else {
            Err(format!("{found} parse errors, not {wanted}: {}", said(&parsed.diagnostics)))
        };
    }
    if found > 0 {
        return Err(format!("does not parse: {}", said(&parsed.diagnostics)));
    }
    let space = Space::new();
    let mut registry = functions(row.get("functions"))?;
    if source.text().starts_with("misbehave(") && source.text().contains("...") {
        registry.insert(misbehaving(true));
    }
    let expression = Expression::compile(parsed, &registry, &limits).map_err(|e| e.to_string())?;
    let inputs = inputs(space.arena(), row)?;
    let answer = expression.evaluate(&space, inputs, &limits).map_err(|e| e.to_string())?;
    let errors = diagnostics(row, answer.errors.iter().map(|error| &**error));
    let values = want(space.arena(), row, "want", Some(answer.value));
    both(errors, values)
}

/// Combines two checks and their messages.
fn both(a: Check, b: Check) -> Check {
    match (a, b) {
        (Err(a), Err(b)) => Err(format!("{a}; {b}")),
        (a, b) => a.and(b),
    }
}

fn said(errors: &[Box<Diagnostic>]) -> String {
    let said: Vec<_> = errors.iter().map(|e| format!("{e} ({})", e.detail.as_deref().unwrap_or(""))).collect();
    said.join("; ")
}

/// Returns the variables of a row. Its own override those of the parent context.
fn inputs<'v>(arena: &'v Arena, row: &Row<'_>) -> Check<Inputs<'v>> {
    let own = variables(arena, row.get("variables"))?;
    let around = row.get("parent_ctx").and_then(|ctx| ctx.get("variables"));
    Ok(Inputs::layered(variables(arena, around)?, own))
}

/// Decodes variables by name. Returns an empty map if there is no context.
pub fn variables<'v>(arena: &'v Arena, json: Option<&Json<'_>>) -> Check<Value<'v>> {
    let Some(Json::Object(entries)) = json else { return Ok(Value::Undefined) };
    let entries: Check<Vec<_>> =
        entries.iter().map(|(name, json)| Ok((arena.copy_str(name), value(arena, json)?))).collect();
    Ok(arena.map(&entries?))
}

/// Returns the functions that a row names.
pub fn functions(json: Option<&Json<'_>>) -> Check<Registry> {
    match json {
        None => Ok(builtins::bare()),
        Some(Json::Text(name)) if name == "opentofu" => Ok(builtins::opentofu()),
        Some(Json::Text(_)) => Ok(builtins::stdlib()),
        Some(names) => {
            let (mut registry, all) = (builtins::bare(), builtins::stdlib());
            for name in names.as_list().unwrap_or(&[]).iter().filter_map(Json::as_text) {
                let (name, of) = name.split_once('=').unwrap_or((name, name));
                let function = if of == "custom" {
                    custom(name)?
                } else {
                    all.get(ImportKind::Function, of).map(|f| (**f).clone()).ok_or_else(|| format!("no `{of}`"))?
                };
                registry.insert(Builtin { name: name.to_owned().into(), ..function });
            }
            Ok(registry)
        }
    }
}

/// Returns a function defined by the reference's own tests.
fn custom(name: &str) -> Check<Builtin> {
    match name {
        "misbehave" => Ok(misbehaving(false)),
        "argerrorexpand" => Ok(failing(name, true, |_, _| Err(Fault::argument(1, "blah blah")))),
        "zap" | "boop" => Ok(failing(name, false, |_, _| Err(Fault::wrong("the expected error")))),
        _ => Err(format!("no custom function `{name}`")),
    }
}

/// Returns a function that always reports an error in its second argument, even if it has no parameters.
fn misbehaving(variadic: bool) -> Builtin {
    failing("misbehave", variadic, |_, _| Err(Fault::argument(1, "out of range")))
}

fn failing(name: &str, variadic: bool, body: PositionalBody) -> Builtin {
    let text = PositionalParam { name: "foo".into(), ty: Type::String, admits: Admits::NONE };
    let rest = variadic.then_some(text);
    let answer = ResultType::Is(Type::Dynamic);
    let params = Positional { params: std::borrow::Cow::Borrowed(&[]), rest, result: answer, not_null: false };
    Builtin {
        kind: ImportKind::Function,
        name: name.to_owned().into(),
        params: Params::Positional(params),
        doc: "".into(),
        examples: [].as_slice().into(),
        needs: Capabilities::NONE,
        pure: true,
        local: true,
        looks: Looks::All,
        mutates: false,
        compiles_to: None,
        total: &[],
        body: Body::Positional(body),
    }
}
