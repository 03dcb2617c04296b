//! Rows of the JSON syntax.

use std::sync::Arc;

use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::hcl::body::{
    Attributes, Block, BodyExpression, BodySchema, Content, Context, DiagnosticList, File,
};
use dropforge::dialect::hcl::json::scan::{TokenKind, scan};
use dropforge::dialect::hcl::json::{self, JsonDocument, JsonId, keyword_suggestion};
use dropforge::dialect::hcl::values::json::Json;
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::vm::Space;

use super::encoding::{Check, Row, diagnostics, numbers, range, want};
use super::evaluation::{self, functions};

fn source(row: &Row<'_>) -> Check<Arc<Source>> {
    Ok(Source::new("test.json", String::from_utf8(row.input()?).map_err(|_| "the input is not UTF-8")?))
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, wanted: &T, got: &T) -> Check {
    if wanted == got { Ok(()) } else { Err(format!("{what}: want {wanted:?}, got {got:?}")) }
}

/// Compares tokens. The reference's token type is a character, and its end token is U+2404.
pub fn tokens(row: &Row<'_>) -> Check {
    let source = source(row)?;
    let got = scan(source.text());
    let wanted = row.list("want");
    equal("tokens", &wanted.len(), &got.len())?;
    for (wanted, got) in wanted.iter().zip(got) {
        let wanted = Row(wanted.clone());
        let text = source.slice(got.span);
        let kind = match got.kind {
            TokenKind::Keyword => 'K',
            TokenKind::String => 'S',
            TokenKind::Number => 'N',
            TokenKind::End => '␄',
            TokenKind::Invalid => '\0',
            _ => text.chars().next().unwrap_or(' '),
        };
        equal("type", &wanted.number("Type"), &i64::from(u32::from(kind)))?;
        equal("text", &wanted.text("Bytes")?, &text)?;
        equal("range", &numbers(wanted.get("Range")), &range(&source, got.span))?;
    }
    Ok(())
}

/// Compares the suggested keyword.
pub fn keyword(row: &Row<'_>) -> Check {
    equal("keyword", &row.text("want")?, &keyword_suggestion(row.text("input")?).unwrap_or(""))
}

/// Compares the tree of a document. If the row starts in the middle of a text, positions are shifted.
pub fn tree(row: &Row<'_>) -> Check {
    let parsed = json::parse_expression(&source(row)?, &Limits::default());
    let start = numbers(row.get("start"));
    let moved = if let [line, column, byte] = start[..] { [line - 1, column - 1, byte] } else { [0; 3] };
    same_node(&parsed.document, parsed.document.root(), row.field("tree")?, moved)?;
    diagnostics(row, boxed(&parsed.diagnostics))
}

fn boxed(faults: &[Box<Diagnostic>]) -> impl Iterator<Item = &Diagnostic> {
    faults.iter().map(|fault| &**fault)
}

fn same_node(document: &JsonDocument, id: JsonId, wanted: &Json<'_>, moved: [i64; 3]) -> Check {
    let node = document.node(id);
    let place = |span: Span| {
        let [line, column, byte] = moved;
        let place = range(document.source(), span).into_iter().zip([line, column, byte].into_iter().cycle());
        place.map(|(at, more)| at + more).collect::<Vec<_>>()
    };
    equal("range", &numbers(wanted.get("range")), &place(node.span))?;
    let same = match node.json {
        json::JsonContent::Invalid => wanted.get("invalid").is_some(),
        json::JsonContent::Null => wanted.get("null").is_some(),
        json::JsonContent::Bool(truth) => wanted.get("bool") == Some(&Json::Bool(truth)),
        json::JsonContent::String(text) => wanted.get("string").and_then(Json::as_text) == Some(document.str(text)),
        json::JsonContent::Number(digits) => match wanted.get("number") {
            Some(Json::Number(wanted)) => {
                number(wanted).zip(number(document.str(digits))).is_some_and(|(a, b)| a.compare(&b).is_eq())
            }
            _ => false,
        },
        json::JsonContent::Array(items) => {
            let wanted = wanted.get("array").and_then(Json::as_list).ok_or("an array was not wanted")?;
            equal("items", &wanted.len(), &items.len())?;
            let items = document.items(items).iter().zip(wanted);
            return items.into_iter().try_for_each(|(&item, wanted)| same_node(document, item, wanted, moved));
        }
        json::JsonContent::Object(properties) => {
            let wanted = wanted.get("object").and_then(Json::as_list).ok_or("an object was not wanted")?;
            equal("properties", &wanted.len(), &properties.len())?;
            for (property, wanted) in document.properties(properties).iter().zip(wanted) {
                equal("name", &wanted.get("name").and_then(Json::as_text), &Some(document.str(property.name)))?;
                equal("name range", &numbers(wanted.get("name_range")), &place(property.name_span))?;
                same_node(document, property.value, wanted.get("value").ok_or("no value")?, moved)?;
            }
            true
        }
    };
    if same { Ok(()) } else { Err(format!("want {wanted:?}, got {:?}", node.json)) }
}

fn number(digits: &str) -> Option<dropforge::value::BigNum> {
    dropforge::value::BigNum::parse(digits)
}

/// Runs `body` with the row's input as a file, and with the file's diagnostics.
fn with_file(row: &Row<'_>, body: impl FnOnce(&File, DiagnosticList) -> Check) -> Check {
    let file = File::json(&source(row)?, &functions(row.get("functions"))?, &Limits::default());
    let faults = file.diagnostics().to_vec();
    body(&file, faults)
}

/// Compares the content of a body by a schema.
pub fn content(row: &Row<'_>) -> Check {
    with_file(row, |file, mut faults| {
        let content = file.body().content(&schema(row)?, &mut faults);
        same_content(row.field("want")?, &content)?;
        diagnostics(row, boxed(&faults))
    })
}

/// Compares the content of a body by a schema, and the remainder.
pub fn partial_content(row: &Row<'_>) -> Check {
    with_file(row, |file, mut faults| {
        let (content, rest) = file.body().partial_content(&schema(row)?, &mut faults);
        same_content(row.field("want")?, &content)?;
        diagnostics(row, boxed(&faults))?;
        let mut faults = DiagnosticList::new();
        same_attributes(row.field("remain_attributes")?, &rest.just_attributes(&mut faults))?;
        same_places(row.field("remain_diags")?, &faults)
    })
}

/// Compares all properties of a body, read as attributes.
pub fn just_attributes(row: &Row<'_>) -> Check {
    with_file(row, |file, mut faults| {
        let attributes = file.body().just_attributes(&mut faults);
        same_attributes(row.field("want")?, &attributes)?;
        diagnostics(row, boxed(&faults))
    })
}

fn schema(row: &Row<'_>) -> Check<BodySchema> {
    let schema = Row(row.field("schema")?.clone());
    let mut wanted = BodySchema::new();
    for attribute in schema.list("attributes") {
        let attribute = Row(attribute.clone());
        wanted = wanted.attribute(attribute.text("name")?, attribute.flag("required"));
    }
    for block in schema.list("blocks") {
        let block = Row(block.clone());
        let labels: Vec<_> = block.list("labels").iter().filter_map(Json::as_text).collect();
        wanted = wanted.block(block.text("type")?, &labels);
    }
    Ok(wanted)
}

fn same_content(wanted: &Json<'_>, content: &Content<'_>) -> Check {
    let wanted = Row(wanted.clone());
    same_attributes(wanted.field("attributes")?, &content.attributes)?;
    let missing = content.missing_item.ok_or("no place of what is missing")?;
    equal("missing item", &numbers(wanted.get("missing_item_range")), &range(missing.source, missing.span))?;
    equal("blocks", &wanted.list("blocks").len(), &content.blocks.len())?;
    wanted.list("blocks").iter().zip(&content.blocks).try_for_each(|(wanted, block)| same_block(wanted, block))
}

fn same_block(wanted: &Json<'_>, block: &Block<'_>) -> Check {
    let wanted = Row(wanted.clone());
    equal("type", &wanted.text("type")?, &block.name.as_str())?;
    let labels: Vec<_> = wanted.list("labels").iter().filter_map(Json::as_text).collect();
    equal("labels", &labels, &block.labels.iter().map(|label| label.text.as_str()).collect())?;
    let ranges: Vec<_> = wanted.list("label_ranges").iter().map(|label| numbers(Some(label))).collect();
    equal("label ranges", &ranges, &block.labels.iter().map(|label| range(block.source, label.range)).collect())?;
    equal("definition", &numbers(wanted.get("def_range")), &range(block.source, block.def_range))?;
    equal("type range", &numbers(wanted.get("type_range")), &range(block.source, block.type_range))?;
    let mut faults = DiagnosticList::new();
    same_attributes(wanted.field("just_attributes")?, &block.body.just_attributes(&mut faults))?;
    same_places(wanted.field("just_attributes_diags")?, &faults)
}

/// Compares the subjects of diagnostics.
fn same_places(wanted: &Json<'_>, got: &[Box<Diagnostic>]) -> Check {
    let wanted: Vec<_> = wanted.as_list().unwrap_or(&[]).iter().map(|wanted| numbers(wanted.get("subject"))).collect();
    let place = |fault: &Diagnostic| fault.primary().map(|label| range(&label.source, label.span));
    equal("diagnostics", &wanted, &got.iter().map(|fault| place(fault).unwrap_or_default()).collect())
}

fn same_attributes(wanted: &Json<'_>, got: &Attributes<'_>) -> Check {
    let Json::Object(wanted) = wanted else { return Err("attributes are an object".into()) };
    equal("attributes", &wanted.len(), &got.len())?;
    let (limits, space) = (Limits::default(), Space::new());
    for (name, wanted) in wanted {
        let attribute = got.get(name.as_ref()).ok_or_else(|| format!("no attribute {name}"))?;
        let (wanted, source) = (Row(wanted.clone()), attribute.expr.location().source);
        equal("range", &numbers(wanted.get("range")), &range(source, attribute.range))?;
        equal("name range", &numbers(wanted.get("name_range")), &range(source, attribute.name_range))?;
        equal("value's range", &numbers(wanted.get("expr_range")), &range(source, attribute.expr.range()))?;
        same_value(&wanted, &attribute.expr, &Context::new(&space, &limits), DiagnosticList::new())?;
    }
    Ok(())
}

/// Compares the value of an expression, and its diagnostics together with earlier ones.
fn same_value<'r>(
    row: &Row<'_>,
    expr: &BodyExpression<'r>,
    context: &Context<'r>,
    mut faults: DiagnosticList,
) -> Check {
    let value = expr.evaluate(context, &mut faults);
    want(context.arena(), row, "want", Some(value))?;
    diagnostics(row, boxed(&faults))
}

/// Compares the value of a document that is an expression.
pub fn expression(row: &Row<'_>) -> Check {
    let limits = Limits::default();
    let file = File::json_expression(&source(row)?, &functions(row.get("functions"))?, &limits);
    let space = Space::new();
    let context = context(row, &space, &limits)?;
    same_value(row, &file.expression().ok_or("no expression")?, &context, file.diagnostics().to_vec())
}

/// Compares the value of the attribute `v`.
pub fn attribute(row: &Row<'_>) -> Check {
    with_file(row, |file, mut faults| {
        let (limits, space) = (Limits::default(), Space::new());
        let attributes = file.body().just_attributes(&mut faults);
        let attribute = attributes.get("v").ok_or("no attribute v")?;
        same_value(row, &attribute.expr, &context(row, &space, &limits)?, faults)
    })
}

/// Compares the values of all attributes, and the number of errors in each.
pub fn config(row: &Row<'_>) -> Check {
    with_file(row, |file, mut faults| {
        let (limits, space) = (Limits::default(), Space::new());
        let context = context(row, &space, &limits)?;
        let attributes = file.body().just_attributes(&mut faults);
        diagnostics(row, boxed(&faults))?;
        let Json::Object(wanted) = row.field("want")? else { return Err("attributes are an object".into()) };
        equal("attributes", &wanted.len(), &attributes.len())?;
        for (name, wanted) in wanted {
            let attribute = attributes.get(name.as_ref()).ok_or_else(|| format!("no attribute {name}"))?;
            let (wanted, mut faults) = (Row(wanted.clone()), DiagnosticList::new());
            let value = attribute.expr.evaluate(&context, &mut faults);
            want(context.arena(), &wanted, "want", Some(value))?;
            equal("errors", &wanted.list("errors").len(), &faults.len())?;
        }
        Ok(())
    })
}

fn context<'r>(row: &Row<'_>, space: &'r Space, limits: &'r Limits) -> Check<Context<'r>> {
    let context = Context::new(space, limits);
    if row.flag("ctx_nil") {
        return Ok(context);
    }
    Ok(context.with_variables(evaluation::variables(space.arena(), row.get("variables"))?))
}

/// Compares the variables of the attribute `a`.
pub fn variables(row: &Row<'_>) -> Check {
    with_file(row, |file, mut faults| {
        let attributes = file.body().just_attributes(&mut faults);
        let attribute = attributes.get("a").ok_or("no attribute a")?;
        let found = attribute.expr.variables();
        equal("variables", &row.list("want").len(), &found.len())?;
        for (wanted, reference) in row.list("want").iter().zip(found) {
            let [root] = wanted.as_list().unwrap_or(&[]) else { return Err("a name alone".into()) };
            equal("name", &root.get("root").and_then(Json::as_text), &Some(reference.root()))?;
            let place = reference.location();
            equal("range", &numbers(root.get("range")), &range(place.source, place.span))?;
        }
        Ok(())
    })
}
