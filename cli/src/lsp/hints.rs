//! Inlay hints: the values of expressions in the chosen cluster.

use dropforge::text::Span;
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
    let whole = shown.values.iter().filter(|(span, _)| is_whole(shown.content.text(), **span));
    for (&span, found) in whole {
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

/// Returns the texts around a span without white space and trim marks.
fn around(text: &str, span: Span) -> (&str, &str) {
    let marks = [' ', '\t', '-', '~', '\n', '\r'];
    let before = text.get(..span.start as usize).unwrap_or("").trim_end_matches(marks);
    (before, text.get(span.end as usize..).unwrap_or("").trim_start_matches(marks))
}

/// Returns `true` for the span of a whole expression between delimiters. Other values are parts of one.
fn is_whole(text: &str, span: Span) -> bool {
    let (before, behind) = around(text, span);
    let inside = text.get(span.range()).unwrap_or("");
    let opens = before.ends_with("{{") || before.ends_with("${");
    (opens && behind.starts_with('}')) || inside.starts_with("${") && inside.ends_with('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_expressions_have_hints() {
        let text = "{{- a.b | f }} ${ c } {{ d }}";
        let whole = |part: &str| {
            let at = text.find(part).unwrap();
            is_whole(text, Span::of(at..at + part.len()))
        };
        assert!(whole("a.b | f") && whole("c") && whole("d"));
        assert!(!whole("a.b") && !whole("f"));
    }
}
