//! Hover: values in the chosen cluster, types, documentation, schemas.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind, Range};

use super::content::Shift;
use super::context::{self, dialect};
use super::home::{chart_of, from_here};
use super::navigation::{definitions, found, imported, path_at, place_of};
use super::values::{json, short, written};
use super::world::{Place, ShownValues, World};
use crate::functions;
use dropforge::bulk::values::Step;
use dropforge::compiler::{Given, Mark, Named};
use dropforge::text::Span;
use dropforge::value::Data;

/// Maximum length of a value, in characters, and of its lines.
const VALUE: usize = 2_000;
/// Maximum number of lines of a definition that are shown.
const LINES: usize = 8;

/// Answers the request.
pub(super) fn hover(world: &mut World, params: &HoverParams) -> Option<Hover> {
    let at = &params.text_document_position_params;
    let place = world.known_place(&at.text_document.uri, at.position, true)?;
    let Some((mark, span)) = found(&place) else { return keyword(&place) };
    let text = match mark.kind {
        Named::Import(_) => documentation(world, &place, mark)?,
        Named::Input | Named::Variable => value(world, &place, mark)?,
        Named::Macro | Named::Block | Named::Template | Named::Declared => definition(world, &place, mark)?,
        Named::File => file(world, &place, mark)?,
        Named::Namespace => format!("macros of `{}`", imported(&place, &mark.name)?),
    };
    Some(answer(text, place.shift.forward(span).map(|span| place.content.range(span))))
}

fn answer(text: String, range: Option<Range>) -> Hover {
    Hover { contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text }), range }
}

/// Documents a tag, an action or a directive.
fn keyword(place: &Place) -> Option<Hover> {
    let text = place.content.text();
    let (before, after) = text.split_at_checked(place.offset)?;
    let start = before.trim_end_matches(context::is_part).len();
    let end = text.len() - after.trim_start_matches(context::is_part).len();
    let keywords = context::keywords(place.language, text.get(..end)?)?;
    let page = keywords.page(keywords.get(text.get(start..end)?)?);
    let span = Span::new(u32::try_from(start).ok()?, u32::try_from(end).ok()?);
    Some(answer(with_title(&page)?, Some(place.content.range(span))))
}

/// Converts a page for terminals to Markdown: its indented parts are code.
fn with_title(page: &str) -> Option<String> {
    let (title, rest) = page.split_once('\n')?;
    Some(format!("**{title}**\n{}", rest.replace("\n  ", "\n    ")))
}

fn documentation(world: &World, place: &Place, mark: &Mark) -> Option<String> {
    let Named::Import(kind) = mark.kind else { return None };
    let dialect = dialect(place.language)?;
    let (lang, builtin) = functions::all(&world.engine, Some(dialect))
        .into_iter()
        .find(|(_, builtin)| builtin.kind == kind && builtin.name == mark.name)?;
    with_title(&functions::page(lang, builtin))
}

fn value(world: &mut World, place: &Place, mark: &Mark) -> Option<String> {
    let values = world.values(&place.home);
    let Some(path) = path_at(&values, place, mark) else {
        return (mark.kind == Named::Variable).then(|| variable(world, place, mark));
    };
    let mut text = format!("`{}`", written(&path));
    let about = chart_of(&place.path).and_then(|_| context::about_object(&written(&path)));
    let steps = values.steps(&path);
    let found = values.plain_at(&path);
    match &found {
        _ if values.is_secret(&steps) => text.push_str("\n\nsecret"),
        Some(value) => text.push_str(&shown(value)),
        None if about.is_some() => {}
        None => text.push_str("\n\nno value"),
    }
    if let Some(about) = about {
        let _ = write!(text, "\n\n{about}");
    }
    if let Some(cluster) = &values.cluster {
        let _ = write!(text, "\n\ncluster `{cluster}`");
    }
    let schemas: Vec<&Data> = values.schemas().iter().flat_map(|schema| at(schema, &steps)).collect();
    let (kind, description) = described(&schemas);
    if let Some(kind) = kind.or_else(|| found.as_ref().map(|value| value.kind().to_owned())) {
        let _ = write!(text, "\n\ntype: {kind}");
    }
    if let Some(description) = description {
        let _ = write!(text, "\n\n{description}");
    }
    for (source, span) in values.places(&path).into_iter().take(3) {
        let file = from_here(Path::new(source.path()));
        let _ = write!(text, "\n\nfrom {}:{}", file.display(), source.position(span.start));
    }
    Some(text)
}

/// Returns the values that a variable is set to, or else the expression that gives them.
fn variable(world: &World, place: &Place, mark: &Mark) -> String {
    let same = |other: &&Mark| other.is_definition && other.variable.is_some() && other.variable == mark.variable;
    let definitions = place.analysis.marks.iter().filter(same);
    let definition = definitions.take_while(|other| other.span.start <= mark.span.start).last();
    let given = definition.and_then(|definition| given(world, place, definition)).unwrap_or_default();
    format!("variable `{}`{given}", mark.name)
}

fn given(world: &World, place: &Place, definition: &Mark) -> Option<String> {
    let text = place.analysis.content.text();
    let written = |span: Span| text.get(span.range());
    let code = |text: &str| short(text, VALUE).replace('`', "'");
    let of = |shown: Arc<ShownValues>, span| {
        let (content, values) = &*shown;
        let there = Shift::between(text, content.text()).forward(span)?;
        values.get(&there).map(|values| values.join(", "))
    };
    match definition.given? {
        Given::Items(span) => Some(format!(", an item of `{}`", code(written(span)?))),
        Given::Value(span) => {
            let value = world.shared.shown(&place.path).and_then(|shown| of(shown, span));
            Some(format!(" = `{}`", code(value.as_deref().or_else(|| written(span))?)))
        }
    }
}

/// Returns a value as a block of code.
fn shown(value: &Data) -> String {
    match value {
        Data::Map(_) | Data::List(_) => {
            let text = dropforge::value::yaml::to_string(value);
            format!("\n\n```yaml\n{}\n```", short(text.trim_end(), VALUE))
        }
        scalar => format!(" = `{}`", short(&json(scalar), VALUE).replace('`', "'")),
    }
}

fn definition(world: &mut World, place: &Place, mark: &Mark) -> Option<String> {
    let (analysis, found) = definitions(world, place, mark).into_iter().next()?;
    let content = &analysis.content;
    let line = place_of(world, &analysis, found.span)?.range.start.line + 1;
    let name = analysis.path.file_name()?.to_string_lossy().into_owned();
    let head = if found.signature.is_empty() { &found.name } else { &found.signature };
    let sort = match found.kind {
        Named::Macro => "macro",
        Named::Block => "block",
        Named::Template => "template",
        _ => "",
    };
    let text = content.text().get(found.whole.range()).unwrap_or("");
    let lines: Vec<&str> = text.lines().take(LINES).collect();
    let code =
        if found.kind == Named::Declared { format!("\n\n```hcl\n{}\n```", lines.join("\n")) } else { String::new() };
    Some(format!("{sort} `{head}`\n\n{name}:{line}{code}").trim_start().to_owned())
}

fn file(world: &mut World, place: &Place, mark: &Mark) -> Option<String> {
    let path = super::navigation::file(world, place, mark);
    let state = if path.is_some_and(|path| path.is_file()) { "" } else { ", which does not exist" };
    Some(format!("file `{}`{state}", mark.name))
}

/// Maximum number of schemas that are looked at for one value.
const SCHEMAS: usize = 200;
/// Maximum number of values of an `enum` that are named.
const NAMED: usize = 12;

/// Returns the subschemas for the value at a path.
pub(super) fn at<'s>(root: &'s Data, path: &[Step]) -> Vec<&'s Data> {
    path.iter().fold(with_others(root, vec![root]), |schemas, step| {
        let below = schemas.into_iter().flat_map(|schema| members(schema, step)).collect();
        with_others(root, below)
    })
}

/// Returns the names of the properties that schemas declare for members.
pub(super) fn properties<'s>(schemas: &[&'s Data]) -> Vec<&'s str> {
    let of = |schema: &&'s Data| schema.get("properties").and_then(Data::as_map);
    schemas.iter().filter_map(of).flat_map(|map| map.keys().map(String::as_str)).collect()
}

/// Returns what schemas say about a value: its type, and a description.
pub(super) fn described(schemas: &[&Data]) -> (Option<String>, Option<String>) {
    let text = |key: &str| schemas.iter().find_map(|schema| schema.get(key)?.as_str()).map(str::to_owned);
    let kind = schemas.iter().find_map(|schema| {
        let kind = schema.get("type")?;
        let several =
            kind.as_list().map(|kinds| kinds.iter().filter_map(Data::as_str).collect::<Vec<_>>().join(" or "));
        kind.as_str().map(str::to_owned).or(several)
    });
    let list = schemas.iter().find_map(|schema| schema.get("enum")?.as_list());
    let list =
        list.map(|values| format!("one of {}", values.iter().take(NAMED).map(json).collect::<Vec<_>>().join(", ")));
    let kind = match (kind, list) {
        (Some(kind), Some(list)) => Some(format!("{kind}, {list}")),
        (kind, list) => kind.or(list),
    };
    (kind, text("description").or_else(|| text("title")))
}

fn members<'s>(schema: &'s Data, step: &Step) -> Vec<&'s Data> {
    let found = match step {
        Step::Key(key) => {
            let named = schema.get("properties").and_then(|properties| properties.get(key));
            named.or_else(|| schema.get("additionalProperties").filter(|other| other.as_map().is_some()))
        }
        Step::Index(at) => {
            let items = schema.get("items");
            schema.get("prefixItems").or(items).and_then(|list| list.index(*at)).or(items)
        }
    };
    found.into_iter().collect()
}

/// Adds the schemas that others refer to.
fn with_others<'s>(root: &'s Data, mut schemas: Vec<&'s Data>) -> Vec<&'s Data> {
    let mut at = 0;
    while let Some(schema) = schemas.get(at).copied().filter(|_| schemas.len() < SCHEMAS) {
        at += 1;
        let target = schema.get("$ref").and_then(Data::as_str).and_then(|target| resolve(root, target));
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_list());
        let more: Vec<&Data> = target.into_iter().chain(lists.flatten()).collect();
        schemas.extend(more.into_iter().filter(|one| one.as_map().is_some()));
    }
    schemas
}

/// Returns the schema that a pointer within the file names.
fn resolve<'s>(root: &'s Data, target: &str) -> Option<&'s Data> {
    let pointer = target.strip_prefix('#')?;
    // The schemas of a chart's values are below the name of its values.
    let root = root.get("properties").and_then(|own| own.get("Values")).unwrap_or(root);
    let mut names = pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~"));
    names.try_fold(root, |schema, name| schema.get(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_followed_through_references_and_lists() {
        let schema = r##"{
            "$defs": {"port": {"type": "integer", "description": "A port"}},
            "properties": {
                "ports": {"items": {"properties": {"number": {"$ref": "#/$defs/port"}}}},
                "mode": {"allOf": [{"enum": ["a", "b"]}, {"type": ["string", "null"]}]}
            }
        }"##;
        let schema: Data = serde_json::from_str(schema).unwrap();
        let key = |name: &str| Step::Key(name.to_owned());
        let number = at(&schema, &[key("ports"), Step::Index(3), key("number")]);
        assert_eq!(described(&number), (Some("integer".to_owned()), Some("A port".to_owned())));
        assert_eq!(properties(&at(&schema, &[key("ports"), Step::Index(0)])), ["number"]);
        let mode = described(&at(&schema, &[key("mode")])).0;
        assert_eq!(mode.as_deref(), Some("string or null, one of \"a\", \"b\""));
        assert!(at(&schema, &[key("none"), key("x")]).is_empty());
    }
}
