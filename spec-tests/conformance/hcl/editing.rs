//! Rows for editing files and for printing values.

use std::sync::Arc;

use dropforge::dialect::hcl::edit::{Document, EditBlock, EditBody, EditExpression};
use dropforge::dialect::hcl::syntax::parser::parse_traversal;
use dropforge::dialect::hcl::syntax::tree::StepKind;
use dropforge::dialect::hcl::values::json::Json;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, Value};

use super::encoding::{Check, Row, value};

fn open(row: &Row<'_>) -> Check<Document> {
    let source: Arc<Source> = Source::new("test.hcl", row.text("src")?);
    let document = Document::parse(&source, &Limits::default()).map_err(|errors| errors.to_string())?;
    same(source.text(), &document.to_string())?;
    Ok(document)
}

fn same(want: &str, got: &str) -> Check {
    if want == got { Ok(()) } else { Err(format!("want {want:?}, got {got:?}")) }
}

fn texts<'r>(row: &'r Row<'_>, field: &str) -> Vec<&'r str> {
    row.list(field).iter().filter_map(Json::as_text).collect()
}

fn with<T>(found: std::result::Result<T, Box<dropforge::diagnostics::Diagnostic>>) -> Check<T> {
    found.map_err(|error| error.to_string())
}

fn first(document: &mut Document) -> Check<&mut EditBlock> {
    document.body_mut().blocks_mut().next().ok_or_else(|| "no block".to_owned())
}

pub fn block_type(row: &Row<'_>) -> Check {
    same(row.text("want")?, first(&mut open(row)?)?.name())
}

pub fn block_labels(row: &Row<'_>) -> Check {
    let mut document = open(row)?;
    let (want, got) = (texts(row, "want"), first(&mut document)?.labels());
    if want == got { Ok(()) } else { Err(format!("want {want:?}, got {got:?}")) }
}

pub fn set_block_type(row: &Row<'_>) -> Check {
    let mut document = open(row)?;
    let block = document.body_mut().block_mut(row.text("oldtypename")?, &texts(row, "labels"));
    with(block.ok_or("no block")?.set_name(row.text("newtypename")?))?;
    same(row.text("want")?, &document.to_string())
}

pub fn set_block_labels(row: &Row<'_>) -> Check {
    let mut document = open(row)?;
    let block = document.body_mut().block_mut(row.text("typename")?, &texts(row, "oldlabels"));
    block.ok_or("no block")?.set_labels(&texts(row, "newlabels"));
    same(row.text("want")?, &document.to_string())
}

pub fn attribute(row: &Row<'_>) -> Check {
    let document = open(row)?;
    let got = document.body().attribute(row.text("name")?).map(ToString::to_string);
    same(row.text("want")?, &got.unwrap_or_default())
}

pub fn matching_block(row: &Row<'_>) -> Check {
    let document = open(row)?;
    let got = document.body().block(row.text("typename")?, &texts(row, "labels")).map(ToString::to_string);
    same(row.text("want")?, &got.unwrap_or_default())
}

fn literal(json: &Json<'_>) -> Check<EditExpression> {
    let arena = Arena::new();
    with(EditExpression::value(value(&arena, json)?))
}

fn changed(row: &Row<'_>, name: &str, expression: EditExpression) -> Check {
    let mut document = open(row)?;
    with(document.body_mut().set(name, expression))?;
    same(row.text("want")?, &document.to_string())
}

pub fn set_value(row: &Row<'_>) -> Check {
    changed(row, row.text("name")?, literal(row.field("val")?)?)
}

pub fn set_raw(row: &Row<'_>) -> Check {
    let expression = EditExpression::raw(row.text("tokens")?).map_err(|errors| errors.to_string())?;
    changed(row, row.text("name")?, expression)
}

pub fn set_traversal(row: &Row<'_>) -> Check {
    let parsed = parse_traversal(&Source::new("traversal", row.text("trav")?), &Limits::default());
    let traversal = parsed.root.ok_or("no traversal")?;
    let mut expression = with(EditExpression::variable(parsed.tree.str(traversal.root)))?;
    let arena = Arena::new();
    for step in traversal.steps {
        expression = with(match step.kind {
            Some(StepKind::Attr(name)) => expression.attribute(parsed.tree.str(name)),
            Some(StepKind::Key(key)) => expression.index(arena.text(parsed.tree.str(key))),
            Some(StepKind::Number(digits)) => {
                let number: i64 = parsed.tree.str(digits).parse().map_err(|error| format!("{error}"))?;
                expression.index(Value::Int(number))
            }
            None => return Err("a splat".to_owned()),
        })?;
    }
    changed(row, row.text("name")?, expression)
}

fn set_in(row: &Row<'_>, find: impl FnOnce(&mut EditBody) -> Option<&mut EditBlock>) -> Check {
    let mut document = open(row)?;
    let block = find(document.body_mut()).ok_or("no block")?;
    with(block.body_mut().set(row.text("attr")?, literal(row.field("val")?)?))?;
    same(row.text("want")?, &document.to_string())
}

pub fn set_in_block(row: &Row<'_>) -> Check {
    let (name, labels) = (row.text("typename")?, texts(row, "labels"));
    set_in(row, |body| body.block_mut(name, &labels))
}

pub fn set_in_nested_block(row: &Row<'_>) -> Check {
    let (parent, child) = (row.text("parenttypename")?, row.text("childtypename")?);
    set_in(row, |body| body.block_mut::<&str>(parent, &[])?.body_mut().block_mut::<&str>(child, &[]))
}

pub fn remove(row: &Row<'_>) -> Check {
    let mut document = open(row)?;
    document.body_mut().remove(row.text("name")?);
    same(row.text("want")?, &document.to_string())
}

pub fn rename(row: &Row<'_>) -> Check {
    let mut document = open(row)?;
    with(document.body_mut().rename(row.text("oldname")?, row.text("newname")?))?;
    same(row.text("want")?, &document.to_string())
}

pub fn append_block(row: &Row<'_>) -> Check {
    let mut document = open(row)?;
    with(document.body_mut().append_block(row.text("blocktype")?, &texts(row, "labels")))?;
    same(row.text("want")?, &document.to_string())
}

pub fn of_value(row: &Row<'_>) -> Check {
    same(row.text("want")?, &literal(row.field("value")?)?.to_string())
}

pub fn of_traversal(row: &Row<'_>) -> Check {
    let arena = Arena::new();
    let mut expression = None;
    for step in row.list("traversal") {
        let text = |field: &str| step.get(field).and_then(Json::as_text);
        expression = Some(with(match (expression.take(), text("root"), text("attr"), step.get("index")) {
            (None, Some(name), ..) => EditExpression::variable(name),
            (Some(expression), _, Some(name), _) => EditExpression::attribute(expression, name),
            (Some(expression), .., Some(key)) => expression.index(value(&arena, key)?),
            _ => return Err(format!("a step {step:?}")),
        })?);
    }
    same(row.text("want")?, &expression.ok_or("no step")?.to_string())
}

fn raw(json: &Json<'_>) -> Check<EditExpression> {
    EditExpression::raw(json.as_text().ok_or("no text")?).map_err(|errors| errors.to_string())
}

fn raws(row: &Row<'_>) -> Check<Vec<EditExpression>> {
    row.list("val").iter().map(raw).collect()
}

pub fn of_tuple(row: &Row<'_>) -> Check {
    same(row.text("want")?, &EditExpression::tuple(&raws(row)?).to_string())
}

pub fn of_object(row: &Row<'_>) -> Check {
    let entry = |entry: &Json<'_>| match entry.as_list() {
        Some([key, value]) => Ok((raw(key)?, raw(value)?)),
        _ => Err("no entry".to_owned()),
    };
    let entries = row.list("val").iter().map(entry).collect::<Check<Vec<_>>>()?;
    same(row.text("want")?, &EditExpression::object(&entries).to_string())
}

pub fn of_call(row: &Row<'_>) -> Check {
    same(row.text("want")?, &with(EditExpression::call(row.text("funcname")?, &raws(row)?))?.to_string())
}

/// A tuple or object of literals prints like the literal of the whole.
pub fn consistent(row: &Row<'_>) -> Check {
    let arena = Arena::new();
    if let Some(Json::Object(attributes)) = row.get("attrs") {
        let entries = attributes.iter().map(|(key, json)| Ok((key.to_string(), value(&arena, json)?)));
        let entries = entries.collect::<Check<Vec<_>>>()?;
        let borrowed: Vec<_> = entries.iter().map(|(key, value)| (arena.copy_str(key), *value)).collect();
        let whole = arena.map(&borrowed);
        let parts = entries
            .iter()
            .map(|(key, value)| Ok((with(EditExpression::variable(key))?, with(EditExpression::value(*value))?)));
        return equal(with(EditExpression::value(whole))?, EditExpression::object(&parts.collect::<Check<Vec<_>>>()?));
    }
    let elements = row.list("elems").iter().map(|json| value(&arena, json)).collect::<Check<Vec<_>>>()?;
    let parts = elements.iter().map(|element| with(EditExpression::value(*element))).collect::<Check<Vec<_>>>()?;
    equal(with(EditExpression::value(arena.list(&elements)))?, EditExpression::tuple(&parts))
}

fn equal(whole: EditExpression, parts: EditExpression) -> Check {
    same(&whole.to_string(), &parts.to_string())
}
