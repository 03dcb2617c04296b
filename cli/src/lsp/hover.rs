//! Hover: values in the chosen cluster, types, documentation.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind, Range};

use super::content::Shift;
use super::context::{self, dialect};
use super::home::{chart_of, from_here};
use super::navigation::{definitions, found, imported, path_at, place_of};
use super::schemas;
use super::values::{json, short, written};
use super::world::{Place, ShownValues, World};
use crate::{functions, keywords};
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
    let about = chart_of(&place.path).and_then(|_| keywords::about_object(&written(&path)));
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
    let schemas: Vec<&Data> = values.schemas().iter().flat_map(|schema| schemas::at(schema, &steps)).collect();
    let (kind, description) = schemas::described(&schemas);
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
