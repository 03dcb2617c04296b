//! Completion.

use std::collections::{BTreeMap, BTreeSet};

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionResponse, Documentation,
    MarkupContent, MarkupKind,
};

use super::context::{self, Context, dialect};
use super::home::{Home, Language, chart_of};
use super::hover;
use super::navigation::imported;
use super::values::{ProjectValues, written};
use super::world::{Place, World};
use crate::functions;
use crate::keywords::{self, Keyword};
use dropforge::bytecode::{Dialect, ImportKind};
use dropforge::compiler::{Key, Mark, Named};
use dropforge::function::Builtin;
use dropforge::value::Data;

/// Maximum number of items of one kind.
const MOST: usize = 1_000;

/// Answers the request.
pub(super) fn complete(world: &mut World, params: &CompletionParams) -> Option<CompletionResponse> {
    let at = &params.text_document_position;
    let place = world.known_place(&at.text_document.uri, at.position, false)?;
    let before = place.content.text().get(..place.offset)?;
    let mut items = match context::of(place.language, before)? {
        Context::Path(steps) if steps.is_empty() => names(world, &place, before),
        Context::Path(steps) => members(world, &place, before, &steps),
        Context::Filter => imports(world, &place, ImportKind::Filter),
        Context::Test => imports(world, &place, ImportKind::Test),
        Context::Macro(space) => macros(world, &place, &space),
        Context::File => files(world, &place),
        Context::Template => defined(world, &place, Named::Template, CompletionItemKind::FUNCTION),
        Context::Block => defined(world, &place, Named::Block, CompletionItemKind::MODULE),
        Context::Keyword => Vec::new(),
    };
    if let Some(keywords) = context::keywords(place.language, before) {
        items.extend(keywords.rows.iter().map(|word| keyword(word, word.0, CompletionItemKind::KEYWORD)));
    }
    Some(CompletionResponse::List(CompletionList { is_incomplete: false, items }))
}

fn item(label: &str, kind: CompletionItemKind, detail: &str) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail: Some(detail.to_owned()).filter(|text| !text.is_empty()),
        ..CompletionItem::default()
    }
}

fn keyword((_, form, about): &Keyword, label: &str, kind: CompletionItemKind) -> CompletionItem {
    let documentation = Some(Documentation::String((*about).to_owned()));
    CompletionItem { documentation, ..item(label, kind, form) }
}

/// Returns the names that can begin an expression.
fn names(world: &mut World, place: &Place, before: &str) -> Vec<CompletionItem> {
    let values = world.values(&place.home);
    let mut items = variables(&values, place, before);
    if place.language != Language::Template(Dialect::Helm) {
        let is_tera = place.language == Language::Template(Dialect::Tera);
        items.extend(keys(&values, &[]).into_iter().filter(|item| !is_tera || item.label.is_ascii()));
        items.extend(namespaces(place));
    }
    if place.language == Language::Configuration {
        items.extend(keywords::ROOTS.rows.iter().map(|word| keyword(word, word.0, CompletionItemKind::MODULE)));
    }
    items.extend(imports(world, place, ImportKind::Function));
    items
}

/// Returns the variables that are defined before a place, the last of each name. Those of Go templates are in scope.
fn variables(values: &ProjectValues, place: &Place, text: &str) -> Vec<CompletionItem> {
    let mut found: Vec<(String, Option<Vec<Key>>)> = match place.language {
        Language::Template(Dialect::Helm) => context::scope(text).variables,
        _ => {
            let own = before(place).filter(|mark| mark.kind == Named::Variable && mark.variable.is_some());
            own.map(|mark| (mark.name.clone(), mark.input.clone())).collect()
        }
    };
    found.reverse();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found.dedup_by(|(a, _), (b, _)| a == b);
    let variable = |(name, input): &(String, Option<Vec<Key>>)| {
        let shown = input.as_ref().and_then(|input| values.shown(&values.path(&place.path, input)));
        item(name, CompletionItemKind::VARIABLE, shown.as_deref().unwrap_or("variable"))
    };
    found.iter().map(variable).collect()
}

/// Returns the definitions before a place.
fn before(place: &Place) -> impl Iterator<Item = &Mark> {
    let end = place.known.unwrap_or(place.analysis.content.text().len()) as u32;
    place.analysis.marks.iter().filter(move |mark| mark.is_definition && mark.span.end <= end)
}

/// Returns the namespaces of macros.
fn namespaces(place: &Place) -> Vec<CompletionItem> {
    let definitions = place.analysis.marks.iter().filter(|mark| mark.is_definition);
    let name = |mark: &Mark| match mark.kind {
        Named::Namespace => Some(mark.name.clone()),
        Named::Macro => Some("self".to_owned()),
        _ => None,
    };
    let names: BTreeSet<String> = definitions.filter_map(name).collect();
    names.iter().map(|name| item(name, CompletionItemKind::MODULE, "macros")).collect()
}

/// Returns the members of the value at a path.
fn members(world: &mut World, place: &Place, before: &str, steps: &[String]) -> Vec<CompletionItem> {
    if place.language == Language::Configuration {
        return declared(world, place, steps);
    }
    if place.language == Language::Template(Dialect::Tera) && steps == ["loop"] {
        let field = |word: &Keyword| Some(keyword(word, word.0.strip_prefix("loop.")?, CompletionItemKind::FIELD));
        return keywords::LOOP.rows.iter().filter_map(field).collect();
    }
    let values = world.values(&place.home);
    let Some(path) = input(place, before, steps) else { return Vec::new() };
    let mut items = keys(&values, &values.path(&place.path, &path));
    if place.language == Language::Template(Dialect::Helm) && chart_of(&place.path).is_some() {
        add_objects(&mut items, &written(&path));
    }
    items
}

/// Adds the objects of a chart, or the members of one, with their documentation.
fn add_objects(items: &mut Vec<CompletionItem>, path: &str) {
    for (name, about) in context::object_members(path) {
        let documentation = Some(Documentation::String(about.to_owned()));
        match items.iter_mut().find(|known| known.label == name) {
            Some(known) => known.documentation = known.documentation.take().or(documentation),
            None => items.push(CompletionItem { documentation, ..item(name, CompletionItemKind::FIELD, "") }),
        }
    }
}

/// Returns the input that a path in a text leads to.
fn input(place: &Place, text: &str, steps: &[String]) -> Option<Vec<Key>> {
    let (first, rest) = steps.split_first()?;
    let mut path = match (first.as_str(), place.language) {
        ("$", _) => Vec::new(),
        ("", Language::Template(Dialect::Helm)) => context::scope(text).dot?,
        (name, Language::Template(Dialect::Helm)) => context::scope(text).variable(name)?,
        ("", _) => Vec::new(),
        (name, _) => {
            let variable = before(place).filter(|mark| mark.kind == Named::Variable && mark.name == name).last();
            match variable {
                Some(mark) => mark.input.clone()?,
                None => vec![Key::Name(name.to_owned())],
            }
        }
    };
    path.extend(rest.iter().map(|step| if step == "[]" { Key::Any } else { Key::Name(step.clone()) }));
    Some(path)
}

/// Returns the keys of the map at a path, and those that schemas declare.
fn keys(values: &ProjectValues, path: &[Key]) -> Vec<CompletionItem> {
    let steps = values.steps(path);
    let own = if path.is_empty() { Some(&values.merged) } else { values.get(path).and_then(Data::as_map) };
    let given = own.into_iter().flat_map(|map| map.keys()).map(String::as_str);
    let schemas: Vec<&Data> = values.schemas().iter().flat_map(|schema| hover::at(schema, &steps)).collect();
    let mut names: Vec<&str> = given.chain(hover::properties(&schemas)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().take(MOST).map(|name| key(values, path, name)).collect()
}

fn key(values: &ProjectValues, path: &[Key], name: &str) -> CompletionItem {
    let path: Vec<Key> = path.iter().cloned().chain([Key::Name(name.to_owned())]).collect();
    let steps = values.steps(&path);
    let schemas: Vec<&Data> = values.schemas().iter().flat_map(|schema| hover::at(schema, &steps)).collect();
    let (kind, description) = hover::described(&schemas);
    let detail = values.shown(&path).or(kind).unwrap_or_default();
    let documentation = description.map(Documentation::String);
    CompletionItem { documentation, ..item(name, CompletionItemKind::FIELD, &detail) }
}

/// Returns the next names of the addresses that a configuration declares.
fn declared(world: &mut World, place: &Place, steps: &[String]) -> Vec<CompletionItem> {
    let prefix = format!("{}.", steps.join("."));
    let mut found = BTreeMap::new();
    for file in world.analyses(&place.path) {
        let beside = file.path.parent() == place.path.parent();
        let own = file.marks.iter().filter(|mark| beside && mark.is_definition && mark.kind == Named::Declared);
        for rest in own.filter_map(|mark| mark.name.strip_prefix(&prefix)) {
            let name = rest.split('.').next().unwrap_or(rest).to_owned();
            found.insert(name.clone(), item(&name, CompletionItemKind::FIELD, "declared"));
        }
    }
    found.into_values().collect()
}

/// Returns the functions of one kind with their documentation.
fn imports(world: &World, place: &Place, kind: ImportKind) -> Vec<CompletionItem> {
    let Some(dialect) = dialect(place.language).filter(|dialect| *dialect != Dialect::Tower) else { return Vec::new() };
    let all = functions::all(&world.engine, Some(dialect)).into_iter();
    all.filter(|(_, builtin)| builtin.kind == kind).map(|(_, builtin)| import(builtin)).collect()
}

fn import(builtin: &Builtin) -> CompletionItem {
    let documentation = MarkupContent { kind: MarkupKind::Markdown, value: builtin.doc.clone().into_owned() };
    CompletionItem {
        documentation: Some(Documentation::MarkupContent(documentation)),
        ..item(&builtin.name, CompletionItemKind::FUNCTION, &functions::signatures(builtin).join("; "))
    }
}

fn macros(world: &mut World, place: &Place, space: &str) -> Vec<CompletionItem> {
    let imported = imported(place, space);
    let mut items = Vec::new();
    for file in world.analyses(&place.path) {
        let is_it = match &imported {
            Some(name) => file.path.ends_with(name),
            None => space == "self" && file.path == place.path,
        };
        let own = file.marks.iter().filter(|mark| is_it && mark.is_definition && mark.kind == Named::Macro);
        items.extend(own.map(|mark| item(&mark.name, CompletionItemKind::FUNCTION, &mark.signature)));
    }
    items
}

fn files(world: &mut World, place: &Place) -> Vec<CompletionItem> {
    let root = match &place.home {
        Home::Project(_) => world.templates_root(place),
        _ => place.path.parent().map(Into::into),
    };
    let Some(root) = root else { return Vec::new() };
    let own = world.analyses(&place.path);
    let names = own.iter().filter(|file| file.path != place.path).filter_map(|file| file.path.strip_prefix(&root).ok());
    let names = names.filter_map(|name| name.to_str()).take(MOST);
    names.map(|name| item(name, CompletionItemKind::FILE, "")).collect()
}

/// Returns the names that the files of a project define.
fn defined(world: &mut World, place: &Place, kind: Named, sort: CompletionItemKind) -> Vec<CompletionItem> {
    let mut found = BTreeMap::new();
    for file in world.analyses(&place.path) {
        let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        for mark in file.marks.iter().filter(|mark| mark.is_definition && mark.kind == kind) {
            found.entry(mark.name.clone()).or_insert_with(|| item(&mark.name, sort, &name));
        }
    }
    found.into_values().take(MOST).collect()
}
