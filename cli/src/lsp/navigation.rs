//! Definitions, references and symbols, the names at a place, and edits: renaming, formatting of HCL, suggestions of errors.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Diagnostic, DocumentFormattingParams,
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, GotoDefinitionParams, GotoDefinitionResponse,
    Location, OneOf, Position, PrepareRenameResponse, Range, ReferenceParams, RenameParams, SymbolKind,
    TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit, WorkspaceSymbol, WorkspaceSymbolParams,
    WorkspaceSymbolResponse,
};

use super::content::{DocumentText, Shift, canonical, path_of};
use super::home::{Home, Language};
use super::values::{ProjectValues, file_of};
use super::world::{Analysis, Place, World};
use crate::options::limits;
use dropforge::bytecode::Dialect;
use dropforge::compiler::{Key, Mark, Named};
use dropforge::dialect::hcl::format::format as formatted;
use dropforge::dialect::hcl::syntax::parse_config;
use dropforge::text::{Source, Span};

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
    let mut places = Places::new(world);
    Some(wanted.filter_map(|(file, mark)| places.of(file, mark.span)).collect())
}

/// Returns the name at a place, with the span of the name or of its step there.
pub(super) fn found(place: &Place) -> Option<(&Mark, Span)> {
    let at = u32::try_from(place.known?).ok()?;
    let hits = |span: &Span| span.start <= at && at <= span.end;
    let span_in = |mark: &Mark| {
        let steps = mark.steps.iter().map(|(_, span)| *span);
        std::iter::once(mark.span).chain(steps).find(hits)
    };
    let marks = place.analysis.marks.iter().filter_map(|mark| Some((mark, span_in(mark)?)));
    // What a configuration declares is more than the input of that name.
    marks.min_by_key(|(mark, span)| (span.end - span.start, mark.kind != Named::Declared))
}

/// Returns the path among the values of the part of a name at a place.
pub(super) fn path_at(values: &ProjectValues, place: &Place, mark: &Mark) -> Option<Vec<Key>> {
    let at = u32::try_from(place.known?).ok()?;
    let (input, _) = mark.input_at(at)?;
    Some(values.path(&place.path, &input))
}

/// Returns the file that a namespace of macros is imported from: the file before the name.
pub(super) fn imported(place: &Place, space: &str) -> Option<String> {
    let marks = &place.analysis.marks;
    let at = marks.iter().position(|mark| mark.kind == Named::Namespace && mark.is_definition && mark.name == space)?;
    let file = marks.get(at.checked_sub(1)?)?;
    (file.kind == Named::File).then(|| file.name.clone())
}

/// Returns the place of a name in the current text.
fn location(world: &World, file: &Analysis, mark: &Mark) -> Option<Location> {
    place_of(world, file, mark.span)
}

/// Returns a place in the current text of a file.
pub(super) fn place_of(world: &World, file: &Analysis, span: Span) -> Option<Location> {
    Places::new(world).of(file, span)
}

/// Places in the current texts of files. Texts are compared once for all places in a row of one file.
struct Places<'w> {
    world: &'w World,
    last: Option<CurrentFile<'w>>,
}

/// A file with its current text, if that may be another one.
struct CurrentFile<'w> {
    path: PathBuf,
    uri: Uri,
    now: Option<(&'w DocumentText, Shift)>,
}

impl<'w> Places<'w> {
    fn new(world: &'w World) -> Self {
        Self { world, last: None }
    }

    fn of(&mut self, file: &Analysis, span: Span) -> Option<Location> {
        if self.last.as_ref().is_none_or(|last| last.path != file.path) {
            let document = self.world.documents.get(&file.path).map(|document| &*document.content);
            let now = document.map(|now| (now, Shift::between(file.content.text(), now.text())));
            self.last = Some(CurrentFile { path: file.path.clone(), uri: self.world.uri(&file.path)?, now });
        }
        let CurrentFile { uri, now, .. } = self.last.as_ref()?;
        let range = match now {
            Some((now, shift)) => now.range(shift.forward(span)?),
            None => file.content.range(span),
        };
        Some(Location::new(uri.clone(), range))
    }
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
    roots.iter().map(|root| canonical(root)).collect()
}

/// Returns the places that give the value of an input.
fn of_value(world: &mut World, place: &Place, mark: &Mark) -> Option<Vec<Location>> {
    let values = world.values(&place.home);
    let path = path_at(&values, place, mark)?;
    let chart = place.home.chart();
    let of = |(source, span): (Arc<Source>, Span)| {
        let uri = world.uri(&file_of(&source, chart)?)?;
        let content = DocumentText::new(source.text().to_owned());
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
            let leads = |span: &Span| {
                !is_item(mark, *span) && mark.input_at(span.start).is_some_and(|(path, _)| path == wanted)
            };
            all.extend(spans.filter(leads).map(|span| (file.clone(), span)));
        }
    }
    let mut places = Places::new(world);
    Some(all.iter().filter_map(|(file, span)| places.of(file, *span)).collect())
}

/// Returns `true` for the name of a variable, which has the input but not its name.
fn is_item(mark: &Mark, span: Span) -> bool {
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
    let mut all = Vec::new();
    for file in world.analyses(&place.path) {
        let is_beside = file.path.parent() == own.path.parent();
        let same = |other: &&Mark| match mark.kind {
            Named::Macro if !may_be_same((&own, mark), (&file, other)) => false,
            Named::Declared if !is_beside => false,
            kind => other.kind == kind && other.name == mark.name,
        };
        all.extend(file.marks.iter().filter(same).map(|mark| (file.clone(), mark.clone())));
    }
    all
}

/// Returns `true` unless the files of two macros show that they are defined in different ones.
fn may_be_same((file, mark): (&Analysis, &Mark), (other, other_mark): (&Analysis, &Mark)) -> bool {
    match (mark.file.as_deref(), other_mark.file.as_deref()) {
        // The name leads through another macro.
        (Some(name), _) | (_, Some(name)) if name.ends_with("::") => true,
        (None, None) => file.path == other.path,
        (Some(one), Some(other)) => one == other,
        // A name is relative to the root of the templates.
        (None, Some(name)) => file.path.ends_with(name),
        (Some(name), None) => other.path.ends_with(name),
    }
}

/// Maximum number of symbols of a workspace.
const SYMBOLS: usize = 1_000;

/// Answers `textDocument/documentSymbol`.
pub(super) fn document_symbols(world: &mut World, params: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let path = path_of(&params.text_document.uri)?;
    let content = world.documents.get(&path)?.content.clone();
    let analysis = world.analysis(&path)?;
    let shift = Shift::between(analysis.content.text(), content.text());
    let mut open: Vec<(u32, DocumentSymbol)> = Vec::new();
    let mut top = Vec::new();
    for mark in symbols(&analysis) {
        close(&mut open, &mut top, mark.span.start);
        open.extend(symbol(mark, &content, shift).map(|symbol| (mark.whole.end, symbol)));
    }
    close(&mut open, &mut top, u32::MAX);
    Some(DocumentSymbolResponse::Nested(top))
}

/// Puts the symbols that end before `at` into those around them.
fn close(open: &mut Vec<(u32, DocumentSymbol)>, top: &mut Vec<DocumentSymbol>, at: u32) {
    while let Some((_, done)) = open.pop_if(|(end, _)| *end <= at) {
        match open.last_mut() {
            Some((_, around)) => around.children.get_or_insert_default().push(done),
            None => top.push(done),
        }
    }
}

/// Returns the names that a file defines: of variables, the first definition.
fn symbols(analysis: &Analysis) -> impl Iterator<Item = &Mark> {
    let mut seen = HashSet::new();
    let definitions = analysis.marks.iter().filter(|mark| mark.is_definition);
    definitions.filter(move |mark| mark.variable.is_none_or(|number| seen.insert(number)))
}

fn symbol_kind(kind: Named) -> SymbolKind {
    match kind {
        Named::Macro | Named::Template | Named::Import(_) => SymbolKind::FUNCTION,
        Named::Block | Named::Namespace => SymbolKind::NAMESPACE,
        Named::File => SymbolKind::FILE,
        Named::Declared => SymbolKind::OBJECT,
        Named::Variable | Named::Input => SymbolKind::VARIABLE,
    }
}

fn symbol(mark: &Mark, content: &DocumentText, shift: Shift) -> Option<DocumentSymbol> {
    let selection_range = content.range(shift.forward(mark.span)?);
    // A text that was changed within has the name only.
    let range = shift.forward(mark.whole).map_or(selection_range, |whole| content.range(whole));
    let contains = range.start <= selection_range.start && selection_range.end <= range.end;
    #[allow(deprecated)] // the field has to be given
    Some(DocumentSymbol {
        name: mark.name.clone(),
        detail: Some(mark.signature.clone()).filter(|text| !text.is_empty()),
        kind: symbol_kind(mark.kind),
        tags: None,
        deprecated: None,
        range: if contains { range } else { selection_range },
        selection_range,
        children: None,
    })
}

/// Answers `workspace/symbol`: in the projects of the open documents.
pub(super) fn workspace_symbols(world: &mut World, params: &WorkspaceSymbolParams) -> WorkspaceSymbolResponse {
    let query = params.query.to_lowercase();
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    let open: Vec<_> = world.documents.keys().cloned().collect();
    for path in open {
        world.analysis(&path);
        for file in world.analyses(&path) {
            if !seen.insert(file.path.clone()) {
                continue;
            }
            let matching = symbols(&file).filter(|mark| mark.name.to_lowercase().contains(&query));
            all.extend(
                matching
                    .filter_map(|mark| workspace_symbol(world, &file, mark))
                    .take(SYMBOLS.saturating_sub(all.len())),
            );
        }
    }
    WorkspaceSymbolResponse::Nested(all)
}

fn workspace_symbol(world: &World, file: &Analysis, mark: &Mark) -> Option<WorkspaceSymbol> {
    let Location { uri, range } = place_of(world, file, mark.span)?;
    Some(WorkspaceSymbol {
        name: mark.name.clone(),
        kind: symbol_kind(mark.kind),
        tags: None,
        container_name: file.path.file_name().map(|name| name.to_string_lossy().into_owned()),
        location: OneOf::Left(Location::new(uri, range)),
        data: None,
    })
}

/// Answers `textDocument/prepareRename`.
pub(super) fn prepare_rename(world: &mut World, params: &TextDocumentPositionParams) -> Option<PrepareRenameResponse> {
    let place = world.place(&params.text_document.uri, params.position)?;
    let (mark, span) = found(&place)?;
    if !can_rename(mark.kind) || span != mark.span {
        return None;
    }
    let range = place.content.range(place.shift.forward(span)?);
    let placeholder = place.content.text().get(place.content.span(range).range())?.to_owned();
    Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
}

/// Answers `textDocument/rename`.
///
/// # Errors
/// The reason if the name cannot be changed, or the new one is not a name.
pub(super) fn rename(world: &mut World, params: &RenameParams) -> Result<Option<WorkspaceEdit>, String> {
    let at = &params.text_document_position;
    let Some(place) = world.place(&at.text_document.uri, at.position) else { return Ok(None) };
    let Some((mark, span)) = found(&place) else { return Ok(None) };
    if !can_rename(mark.kind) || span != mark.span {
        return Err("only variables, macros, blocks, templates and declarations can be renamed".to_owned());
    }
    let new = new_name(place.language, mark.kind, &params.new_name)?;
    #[allow(clippy::mutable_key_type)] // the key of the protocol's own type
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (file, mark) in occurrences(world, &place, mark) {
        if let Some(found) = place_of(world, &file, mark.span) {
            let edits = changes.entry(found.uri).or_default();
            // A `block` of Go defines a template and calls it.
            if !edits.iter().any(|edit| edit.range == found.range) {
                edits.push(TextEdit::new(found.range, new.clone()));
            }
        }
    }
    Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
}

/// Inputs have the names that values files give them, and functions those of their language.
fn can_rename(kind: Named) -> bool {
    use Named::{Block, Declared, Macro, Namespace, Template, Variable};
    matches!(kind, Variable | Macro | Namespace | Block | Template | Declared)
}

/// Checks a new name. A variable of Go begins with `$`, whether or not it is given.
fn new_name(language: Language, kind: Named, name: &str) -> Result<String, String> {
    let is_go_variable = language == Language::Template(Dialect::Helm) && kind == Named::Variable;
    let plain = if is_go_variable { name.trim_start_matches('$') } else { name };
    let is_part = |c: char| c == '_' || c.is_alphanumeric() || (c == '-' && language == Language::Configuration);
    let is_name = match kind {
        Named::Template => !plain.is_empty() && !plain.contains(['"', '`', '\\', '\n', '{', '}']),
        _ => !plain.starts_with(|c: char| c.is_ascii_digit()) && !plain.is_empty() && plain.chars().all(is_part),
    };
    if !is_name {
        return Err(format!("`{name}` is not a name"));
    }
    Ok(if is_go_variable { format!("${plain}") } else { plain.to_owned() })
}

/// Answers the request. A text with syntax errors stays as it is.
pub(super) fn format(world: &mut World, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
    let path = path_of(&params.text_document.uri)?;
    let content = world.documents.get(&path)?.content.clone();
    let is_native = world.home(&path).language(&path) == Language::Configuration
        && path.extension().is_none_or(|extension| extension != "json");
    let source = Source::new(path.display().to_string(), content.text());
    if !is_native || !parse_config(&source, &limits()).diagnostics.is_empty() {
        return None;
    }
    let new = formatted(content.text());
    let is_changed = new != content.text();
    Some(is_changed.then(|| TextEdit::new(content.whole(), new)).into_iter().collect())
}

/// Answers the request, from the edits that the client keeps with the diagnostics.
pub(super) fn actions(params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let wanted = params.context.only.as_ref();
    if wanted.is_some_and(|kinds| !kinds.contains(&CodeActionKind::QUICKFIX)) {
        return Vec::new();
    }
    params.context.diagnostics.iter().filter_map(action).collect()
}

fn action(diagnostic: &Diagnostic) -> Option<CodeActionOrCommand> {
    let field = |name| diagnostic.data.as_ref()?.get(name).cloned();
    let uri: Uri = serde_json::from_value(field("uri")?).ok()?;
    let edit: TextEdit = serde_json::from_value(field("edit")?).ok()?;
    #[allow(clippy::mutable_key_type)] // the key of the protocol's own type
    let changes = HashMap::from([(uri, vec![edit.clone()])]);
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: format!("Change to `{}`", edit.new_text),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic.clone()]),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        is_preferred: Some(true),
        ..CodeAction::default()
    }))
}
