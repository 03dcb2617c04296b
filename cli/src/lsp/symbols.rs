//! Symbols: what a file defines.

use dropforge::compiler::{Mark, Named};
use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, OneOf, SymbolKind, WorkspaceSymbol,
    WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

use super::content::{Content, Shift, path_of};
use super::navigation::place_of;
use super::world::{Analysis, World};

/// Maximum number of symbols of a workspace.
const MOST: usize = 1_000;

/// Answers `textDocument/documentSymbol`.
pub(super) fn of_document(world: &mut World, params: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
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
    let mut seen = std::collections::HashSet::new();
    let definitions = analysis.marks.iter().filter(|mark| mark.is_definition);
    definitions.filter(move |mark| mark.variable.is_none_or(|number| seen.insert(number)))
}

fn kind(kind: Named) -> SymbolKind {
    match kind {
        Named::Macro | Named::Template | Named::Import(_) => SymbolKind::FUNCTION,
        Named::Block | Named::Namespace => SymbolKind::NAMESPACE,
        Named::File => SymbolKind::FILE,
        Named::Declared => SymbolKind::OBJECT,
        Named::Variable | Named::Input => SymbolKind::VARIABLE,
    }
}

fn symbol(mark: &Mark, content: &Content, shift: Shift) -> Option<DocumentSymbol> {
    let selection_range = content.range(shift.forward(mark.span)?);
    // A text that was changed within has the name only.
    let range = shift.forward(mark.whole).map_or(selection_range, |whole| content.range(whole));
    let contains = range.start <= selection_range.start && selection_range.end <= range.end;
    #[allow(deprecated)] // the field has to be given
    Some(DocumentSymbol {
        name: mark.name.clone(),
        detail: Some(mark.signature.clone()).filter(|text| !text.is_empty()),
        kind: kind(mark.kind),
        tags: None,
        deprecated: None,
        range: if contains { range } else { selection_range },
        selection_range,
        children: None,
    })
}

/// Answers `workspace/symbol`: in the projects of the open documents.
pub(super) fn of_workspace(world: &mut World, params: &WorkspaceSymbolParams) -> WorkspaceSymbolResponse {
    let query = params.query.to_lowercase();
    let (mut all, mut seen) = (Vec::new(), std::collections::HashSet::new());
    let open: Vec<_> = world.documents.keys().cloned().collect();
    for path in open {
        world.analysis(&path);
        for file in world.analyses(&path) {
            if !seen.insert(file.path.clone()) {
                continue;
            }
            let matching = symbols(&file).filter(|mark| mark.name.to_lowercase().contains(&query));
            all.extend(matching.filter_map(|mark| of_file(world, &file, mark)).take(MOST.saturating_sub(all.len())));
        }
    }
    WorkspaceSymbolResponse::Nested(all)
}

fn of_file(world: &World, file: &Analysis, mark: &Mark) -> Option<WorkspaceSymbol> {
    let Location { uri, range } = place_of(world, file, mark.span)?;
    Some(WorkspaceSymbol {
        name: mark.name.clone(),
        kind: kind(mark.kind),
        tags: None,
        container_name: file.path.file_name().map(|name| name.to_string_lossy().into_owned()),
        location: OneOf::Left(Location::new(uri, range)),
        data: None,
    })
}
