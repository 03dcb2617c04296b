//! Code actions: the edits that errors suggest.

use std::collections::HashMap;

use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Diagnostic, WorkspaceEdit};

use super::findings::FixData;

/// Answers the request, from the edits that the client keeps with the diagnostics.
pub(super) fn actions(params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let wanted = params.context.only.as_ref();
    if wanted.is_some_and(|kinds| !kinds.contains(&CodeActionKind::QUICKFIX)) {
        return Vec::new();
    }
    params.context.diagnostics.iter().filter_map(action).collect()
}

fn action(diagnostic: &Diagnostic) -> Option<CodeActionOrCommand> {
    let FixData { uri, edit } = serde_json::from_value(diagnostic.data.clone()?).ok()?;
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
