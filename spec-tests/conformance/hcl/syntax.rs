//! Rows of the native syntax: parse errors, bodies with their values, traversals, suggestions.

use std::sync::Arc;

use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::hcl::body::{Body as FileBody, BodySchema, Context, File};
use dropforge::dialect::hcl::name_suggestion;
use dropforge::dialect::hcl::syntax::parser::{
    Parsed, parse_config, parse_expression, parse_template, parse_traversal,
};
use dropforge::dialect::hcl::syntax::tree::{BlockNode, BodyId, BodyNode, StepKind, TraversalStep, Tree};
use dropforge::dialect::hcl::values::json::Json;
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::Value;
use dropforge::vm::Space;

use super::encoding::{Check, Row, diagnostics, numbers, range, want};
use super::evaluation::{functions, variables};

fn source(row: &Row<'_>) -> Check<std::sync::Arc<Source>> {
    let text = String::from_utf8(row.input()?).map_err(|error| error.to_string())?;
    Ok(Source::new(format!("input.{}", row.text("kind")?), text))
}

fn errors(row: &Row<'_>, got: &[Box<Diagnostic>], want: i64) -> Check {
    if got.len() as i64 == want {
        return Ok(());
    }
    let texts: Vec<_> = got.iter().map(|error| format!("{error}: {:?}", error.detail)).collect();
    Err(format!("want {want} errors {:?}, got {texts:?}", row.get("errors")))
}

/// Compares the number of parse errors of an expression or a template, and the errors themselves if there are no
/// others.
pub fn parse(row: &Row<'_>) -> Check {
    let source = source(row)?;
    let limits = Limits::default();
    let parsed = match row.text("kind")? {
        "template" => parse_template(&source, &limits),
        _ => parse_expression(&source, &limits),
    };
    let want = row.number("parse_error_count");
    errors(row, &parsed.diagnostics, want)?;
    if want == row.number("error_count") && want > 0 { places(row, &parsed.diagnostics) } else { Ok(()) }
}

/// Compares the positions of errors. The row lists all of them.
fn places(row: &Row<'_>, got: &[Box<Diagnostic>]) -> Check {
    let Some(wanted) = row.get("diags").and_then(Json::as_list) else { return Ok(()) };
    let mut wanted: Vec<_> = wanted
        .iter()
        .map(|diagnostic| (numbers(diagnostic.get("subject")), numbers(diagnostic.get("context"))))
        .collect();
    let place = |diagnostic: &Diagnostic| {
        let label = diagnostic.primary()?;
        let context = diagnostic.context.map_or(Vec::new(), |context| range(&label.source, context));
        Some((range(&label.source, label.span), context))
    };
    let mut got: Vec<_> = got.iter().filter_map(|diagnostic| place(diagnostic)).collect();
    wanted.sort();
    got.sort();
    if wanted == got { Ok(()) } else { Err(format!("want {wanted:?}, got {got:?}")) }
}

/// Parses a configuration: compares its errors, and its body with all positions.
pub fn config(row: &Row<'_>) -> Check {
    let source = source(row)?;
    let parsed = parse_config(&source, &Limits::default());
    errors(row, &parsed.diagnostics, row.number("error_count"))?;
    places(row, &parsed.diagnostics)?;
    let Some(wanted) = row.get("body") else { return Ok(()) };
    same_body(&parsed, parsed.root, wanted)?;
    let (limits, space) = (Limits::default(), Space::new());
    let file = File::native(&source, &Arc::new(functions(row.get("functions"))?), &limits);
    let context = match variables(space.arena(), row.get("variables"))? {
        Value::Undefined => Context::new(&space, &limits),
        variables => Context::new(&space, &limits).with_variables(variables),
    };
    same_values(&context, &file.body(), wanted)
}

/// Compares the values of the arguments, and the errors of their evaluation.
fn same_values<'r>(context: &Context<'r>, body: &FileBody<'r>, wanted: &Json<'_>) -> Check {
    let Some(Json::Object(attributes)) = wanted.get("attributes") else { return Err("no attributes".into()) };
    let blocks = wanted.get("blocks").and_then(Json::as_list).unwrap_or(&[]);
    let labels = |block: &Json<'_>| block.get("labels").and_then(Json::as_list).map_or(0, <[_]>::len);
    let schema = attributes.iter().fold(BodySchema::new(), |schema, (name, _)| schema.optional(name.as_ref()));
    let schema = blocks.iter().fold(schema, |schema, block| {
        schema.block(block.get("type").and_then(Json::as_text).unwrap_or(""), &vec![""; labels(block)])
    });
    let content = body.content(&schema, &mut Vec::new());
    for (name, wanted) in attributes {
        let attribute = content.attributes.get(name.as_ref()).ok_or(format!("no attribute {name}"))?;
        let (mut faults, row) = (Vec::new(), Row(wanted.clone()));
        let value = attribute.expr.evaluate(context, &mut faults);
        let errors = diagnostics(&row, faults.iter().map(Box::as_ref));
        errors
            .and_then(|()| want(context.arena(), &row, "want", Some(value)))
            .map_err(|why| format!("{name}: {why}"))?;
    }
    if content.blocks.len() != blocks.len() {
        return Err(format!("want {} blocks, got {}", blocks.len(), content.blocks.len()));
    }
    content.blocks.iter().zip(blocks).try_for_each(|(block, wanted)| {
        same_values(context, &block.body, wanted.get("body").ok_or("a block without a body")?)
    })
}

fn same_body(parsed: &Parsed<BodyId>, id: BodyId, wanted: &Json<'_>) -> Check {
    let tree = &parsed.tree;
    let body = tree.body(id).ok_or("no body")?;
    place(tree, wanted, "range", body.span)?;
    place(tree, wanted, "end_range", body.end)?;
    attributes(tree, body, wanted)?;
    let blocks = wanted.get("blocks").and_then(Json::as_list).unwrap_or(&[]);
    if blocks.len() != body.blocks.len() {
        return Err(format!("want {} blocks, got {}", blocks.len(), body.blocks.len()));
    }
    for (block, wanted) in body.blocks.iter().zip(blocks) {
        same_block(tree, block, wanted)?;
        same_body(parsed, block.body, wanted.get("body").ok_or("a block without a body")?)?;
    }
    Ok(())
}

fn attributes(tree: &Tree, body: &BodyNode, wanted: &Json<'_>) -> Check {
    let Some(Json::Object(attributes)) = wanted.get("attributes") else { return Err("no attributes".into()) };
    if attributes.len() != body.attributes.len() {
        return Err(format!("want {} attributes, got {}", attributes.len(), body.attributes.len()));
    }
    for (name, wanted) in attributes {
        let got =
            body.attributes.iter().find(|got| tree.str(got.name) == name).ok_or(format!("no attribute {name}"))?;
        place(tree, wanted, "range", got.span)?;
        place(tree, wanted, "name_range", got.name_span)?;
        place(tree, wanted, "equals_range", got.equals)?;
        place(tree, wanted, "expr_range", tree.span(got.expr))?;
    }
    Ok(())
}

fn same_block(tree: &Tree, block: &BlockNode, wanted: &Json<'_>) -> Check {
    place(tree, wanted, "range", block.name_span.to(block.close))?;
    place(tree, wanted, "type_range", block.name_span)?;
    place(tree, wanted, "open_brace", block.open)?;
    place(tree, wanted, "close_brace", block.close)?;
    let labels = wanted.get("labels").and_then(Json::as_list).unwrap_or(&[]);
    let labels: Vec<_> = labels.iter().filter_map(Json::as_text).collect();
    let got: Vec<_> = block.labels.iter().map(|label| tree.str(label.text)).collect();
    if labels != got {
        return Err(format!("want labels {labels:?}, got {got:?}"));
    }
    let ranges = wanted.get("label_ranges").and_then(Json::as_list).unwrap_or(&[]);
    for (label, wanted) in block.labels.iter().zip(ranges) {
        let got = range(tree.source(), label.span);
        if numbers(Some(wanted)) != got {
            return Err(format!("want label at {wanted:?}, got {got:?}"));
        }
    }
    Ok(())
}

/// Compares a position with a field of the row, if the row has it.
fn place(tree: &Tree, wanted: &Json<'_>, name: &str, got: Span) -> Check {
    let Some(field) = wanted.get(name) else { return Ok(()) };
    let (wanted, got) = (numbers(Some(field)), range(tree.source(), got));
    // The original has no position for the end of an unclosed call.
    let nowhere = wanted.ends_with(&[0, 0, 0]) && wanted.get(..3) == got.get(..3);
    if wanted == got || nowhere { Ok(()) } else { Err(format!("want {name} {wanted:?}, got {got:?}")) }
}

/// Parses a traversal: compares its errors, and its steps with their positions.
pub fn traversal(row: &Row<'_>) -> Check {
    let parsed = parse_traversal(&source(row)?, &Limits::default());
    diagnostics(row, parsed.diagnostics.iter().map(Box::as_ref))?;
    let wanted = row.list("want");
    let Some(got) = parsed.root else {
        return if wanted.is_empty() { Ok(()) } else { Err("no traversal".into()) };
    };
    let [root, steps @ ..] = wanted else { return Err("a traversal where none is wanted".into()) };
    let tree = &parsed.tree;
    place(tree, root, "range", got.root_span)?;
    if steps.len() != got.steps.len() {
        return Err(format!("want {} steps, got {}", steps.len(), got.steps.len()));
    }
    steps.iter().zip(&got.steps).try_for_each(|(wanted, got)| same_step(tree, wanted, got))
}

fn same_step(tree: &Tree, wanted: &Json<'_>, got: &TraversalStep) -> Check {
    place(tree, wanted, "range", got.span)?;
    let index = wanted.get("index").and_then(|index| index.get("value"));
    let same = match got.kind {
        Some(StepKind::Attr(name)) => wanted.get("attr").and_then(Json::as_text) == Some(tree.str(name)),
        Some(StepKind::Key(key)) => index.and_then(Json::as_text) == Some(tree.str(key)),
        Some(StepKind::Number(digits)) => matches!(index, Some(Json::Number(number)) if *number == tree.str(digits)),
        None => wanted.get("splat").is_some(),
    };
    if same { Ok(()) } else { Err(format!("want {wanted:?}, got {got:?}")) }
}

/// Compares the suggested word.
pub fn suggestion(row: &Row<'_>) -> Check {
    const KEYWORDS: [&str; 3] = ["false", "true", "null"];
    let got = name_suggestion(row.text("input")?, KEYWORDS).unwrap_or("");
    let want = row.text("want")?;
    if got == want { Ok(()) } else { Err(format!("want {want:?}, got {got:?}")) }
}
