//! Definitions and references.

use std::path::PathBuf;
use std::sync::Arc;

use dropforge::compiler::{Key, Mark, Named};
use lsp_types::{GotoDefinitionParams, GotoDefinitionResponse, Location, Position, Range, ReferenceParams};

use super::home::Home;
use super::hover::{found, path};
use super::values::file_of;
use super::world::{Analysis, Place, World};

/// Answers `textDocument/definition`.
pub(super) fn definition(world: &mut World, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
    let at = &params.text_document_position_params;
    let place = world.place(&at.text_document.uri, at.position)?;
    let (mark, _) = found(&place)?;
    let places = match mark.kind {
        Named::File => {
            let path = file(world, &place, mark)?;
            vec![start_of(world, path)?]
        }
        Named::Input => of_value(world, &place, mark)?,
        Named::Variable if mark.variable.is_some() && mark.span.end < place.known? as u32 => {
            of_value(world, &place, mark)?
        }
        _ => definitions(world, &place, mark).iter().filter_map(|(file, mark)| location(world, file, mark)).collect(),
    };
    Some(GotoDefinitionResponse::Array(places))
}

/// Answers `textDocument/references`.
pub(super) fn references(world: &mut World, params: &ReferenceParams) -> Option<Vec<Location>> {
    let at = &params.text_document_position;
    let place = world.place(&at.text_document.uri, at.position)?;
    let (mark, _) = found(&place)?;
    let all = match mark.kind {
        Named::Input => return of_input(world, &place, mark),
        _ => occurrences(world, &place, mark),
    };
    let wanted = all.iter().filter(|(_, mark)| params.context.include_declaration || !mark.is_definition);
    Some(wanted.filter_map(|(file, mark)| location(world, file, mark)).collect())
}

/// Returns the place of a name in the current text.
fn location(world: &World, file: &Analysis, mark: &Mark) -> Option<Location> {
    place_of(world, file, mark.span)
}

/// Returns a place in the current text of a file.
pub(super) fn place_of(world: &World, file: &Analysis, span: dropforge::text::Span) -> Option<Location> {
    let uri = world.uri(&file.path)?;
    let Some(document) = world.documents.get(&file.path) else {
        return Some(Location::new(uri, file.content.range(span)));
    };
    let shift = super::content::Shift::between(file.content.text(), document.content.text());
    Some(Location::new(uri, document.content.range(shift.forward(span)?)))
}

fn start_of(world: &World, path: PathBuf) -> Option<Location> {
    let start = Range::new(Position::default(), Position::default());
    Some(Location::new(world.uri(&path).filter(|_| path.is_file())?, start))
}

/// Returns the path of the file that a name of a file means.
pub(super) fn file(world: &World, place: &Place, mark: &Mark) -> Option<PathBuf> {
    roots(world, place).into_iter().map(|root| root.join(&mark.name)).find(|path| path.is_file())
}

/// Returns the folders that names of files may lead from: the root of the templates, then those between it and the file.
fn roots(world: &World, place: &Place) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    if let (Home::Project(_), Ok((args, _))) = (&place.home, place.home.arguments(&world.settings)) {
        roots.extend(args.language.include_root.clone());
        roots.extend(args.templates.iter().filter(|path| path.is_dir()).cloned());
    }
    roots.extend(place.path.ancestors().skip(1).take_while(|folder| folder.starts_with(&world.root)).map(Into::into));
    if roots.is_empty() {
        roots.extend(place.path.parent().map(Into::into));
    }
    roots.iter().map(|root| super::content::canonical(root)).collect()
}

/// Returns the places that give the value of an input.
fn of_value(world: &mut World, place: &Place, mark: &Mark) -> Option<Vec<Location>> {
    let values = world.values(&place.home);
    let path = path(&values, place, mark)?;
    let chart = place.home.chart();
    let of = |(source, span): (Arc<dropforge::text::Source>, dropforge::text::Span)| {
        let uri = world.uri(&file_of(&source, chart)?)?;
        let content = super::content::Content::new(source.text().to_owned());
        Some(Location::new(uri, content.range(span)))
    };
    Some(values.places(&path).into_iter().filter_map(of).collect())
}

/// Returns the places in templates that lead to the same input.
fn of_input(world: &mut World, place: &Place, mark: &Mark) -> Option<Vec<Location>> {
    let wanted = wanted_input(place, mark)?;
    let mut all = Vec::new();
    for file in world.analyses(&place.path) {
        for mark in file.marks.iter().filter(|mark| mark.input.is_some()) {
            let spans = std::iter::once(mark.span).chain(mark.steps.iter().map(|(_, span)| *span));
            let leads = |span: &dropforge::text::Span| {
                !is_item(mark, *span) && mark.input_at(span.start).is_some_and(|(path, _)| path == wanted)
            };
            all.extend(spans.filter(leads).filter_map(|span| place_of(world, &file, span)));
        }
    }
    Some(all)
}

/// Returns `true` for the name of a variable, which has the input but not its name.
fn is_item(mark: &Mark, span: dropforge::text::Span) -> bool {
    mark.kind == Named::Variable && span == mark.span
}

fn wanted_input(place: &Place, mark: &Mark) -> Option<Vec<Key>> {
    Some(mark.input_at(u32::try_from(place.known?).ok()?)?.0)
}

/// A file and a name in it.
pub(super) type Occurrence = (Arc<Analysis>, Mark);

/// Returns the definitions of what a name means.
pub(super) fn definitions(world: &mut World, place: &Place, mark: &Mark) -> Vec<Occurrence> {
    let mut all = occurrences(world, place, mark);
    all.retain(|(_, mark)| mark.is_definition);
    // The blocks of a chain of templates: those that this one replaces come first.
    if mark.kind == Named::Block && mark.is_definition {
        all.sort_by_key(|(file, _)| file.path == place.path);
    }
    all
}

/// Returns all places of a name.
pub(super) fn occurrences(world: &mut World, place: &Place, mark: &Mark) -> Vec<Occurrence> {
    let own = place.analysis.clone();
    if let (Named::Variable, Some(number)) = (mark.kind, mark.variable) {
        let same = own.marks.iter().filter(|other| other.variable == Some(number));
        return same.map(|other| (own.clone(), other.clone())).collect();
    }
    if mark.kind == Named::Namespace {
        let same = own.marks.iter().filter(|other| other.kind == mark.kind && other.name == mark.name);
        return same.map(|other| (own.clone(), other.clone())).collect();
    }
    let home = Origin::of(&own, mark);
    let mut all = Vec::new();
    for file in world.analyses(&place.path) {
        let is_beside = file.path.parent() == own.path.parent();
        let same = |other: &&Mark| match mark.kind {
            Named::Macro => other.kind == mark.kind && other.name == mark.name && Origin::of(&file, other) == home,
            Named::Declared => other.kind == mark.kind && other.name == mark.name && is_beside,
            kind => other.kind == kind && other.name == mark.name,
        };
        all.extend(file.marks.iter().filter(same).map(|mark| (file.clone(), mark.clone())));
    }
    all
}

/// The file with the definition of a macro, as far as it can be told from one file.
#[derive(Debug)]
enum Origin {
    File(PathBuf),
    /// A name relative to the root of the templates.
    Named(String),
    Unknown,
}

impl Origin {
    fn of(file: &Analysis, mark: &Mark) -> Self {
        match &mark.file {
            None => Self::File(file.path.clone()),
            Some(name) if name.ends_with("::") => Self::Unknown,
            Some(name) => Self::Named(name.clone()),
        }
    }
}

impl PartialEq for Origin {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => one == other,
            (Self::Named(one), Self::Named(other)) => one == other,
            (Self::File(path), Self::Named(name)) | (Self::Named(name), Self::File(path)) => path.ends_with(name),
            _ => true,
        }
    }
}
