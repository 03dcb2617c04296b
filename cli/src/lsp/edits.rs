//! Edits: renaming of macros, blocks, templates, variables and declarations; formatting of configurations in HCL, as
//! `dropforge hcl fmt` does (other languages have no formatter); and the edits that errors suggest.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Diagnostic, DocumentFormattingParams,
    PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};

use super::content::path_of;
use super::home::Language;
use super::navigation::{found, occurrences, place_of};
use super::world::World;
use crate::options::limits;
use dropforge::bytecode::Dialect;
use dropforge::compiler::Named;
use dropforge::dialect::hcl::format::format as formatted;
use dropforge::dialect::hcl::syntax::parse_config;
use dropforge::text::Source;

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
