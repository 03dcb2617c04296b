//! Inlay hints: the values of expressions in the chosen cluster.

use lsp_types::{InlayHint, InlayHintLabel, InlayHintParams, InlayHintTooltip};

use super::content::{Shift, path_of};
use super::values::short;
use super::world::World;

/// Maximum number of characters of a value in a hint.
const SHORT: usize = 32;
/// Maximum number of characters of the values in a tooltip.
const LONG: usize = 400;

/// Answers the request.
pub(super) fn hints(world: &World, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let path = path_of(&params.text_document.uri)?;
    let content = world.documents.get(&path)?.content.clone();
    let shown = world.shared.shown(&path)?;
    let shift = Shift::between(shown.content.text(), content.text());
    let wanted = content.span(params.range);
    let mut hints = Vec::new();
    for (&span, found) in &shown.values {
        let Some(place) = shift.forward(span).filter(|span| wanted.start <= span.end && span.start <= wanted.end)
        else {
            continue;
        };
        let more = if found.len() > 1 { format!(" … ({})", found.len()) } else { String::new() };
        let first = found.first().map_or("", String::as_str).trim();
        let one_line = first.replace(['\n', '\r'], "⏎");
        hints.push(InlayHint {
            position: content.position(place.end as usize),
            label: InlayHintLabel::String(format!("= {}{more}", short(&one_line, SHORT))),
            kind: None,
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(short(&found.join("\n"), LONG))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        });
    }
    Some(hints)
}
