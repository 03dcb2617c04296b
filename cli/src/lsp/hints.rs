//! Inlay hints: the values of expressions in the chosen cluster.

use std::collections::BTreeMap;

use dropforge::text::Span;
use lsp_types::{InlayHint, InlayHintLabel, InlayHintParams, InlayHintTooltip};

use super::content::{Shift, path_of};
use super::values::{Values, short};
use super::world::{Shown, World};

/// Maximum number of characters of a value in a hint.
const SHORT: usize = 32;
/// Maximum number of characters of the values in a tooltip.
const LONG: usize = 400;

/// Answers the request.
pub(super) fn hints(world: &mut World, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let path = path_of(&params.text_document.uri)?;
    let content = world.documents.get(&path)?.content.clone();
    let shown = world.shared.shown(&path)?;
    let home = world.home(&path);
    let values = world.values(&home);
    let shift = Shift::between(shown.content.text(), content.text());
    let wanted = content.span(params.range);
    let mut hints = Vec::new();
    for (span, found) in of_expressions(&shown, &values) {
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

/// Returns the distinct values of each expression, without secrets.
fn of_expressions(shown: &Shown, values: &Values) -> BTreeMap<Span, Vec<String>> {
    let text = shown.content.text();
    let mut all: BTreeMap<Span, Option<Vec<String>>> = BTreeMap::new();
    for one in shown.values.iter().filter(|one| is_whole(text, one.span)) {
        let is_secret = one.inputs.iter().any(|flow| values.hides(&flow.path));
        match all.entry(one.span).or_insert_with(|| Some(Vec::new())) {
            place if is_secret => *place = None,
            Some(found) if !found.iter().any(|known| known == plain(&one.text)) => {
                found.push(plain(&one.text).to_owned())
            }
            _ => {}
        }
    }
    all.into_iter().filter_map(|(span, found)| Some((span, found?))).collect()
}

/// Returns a text without the marks of code, which excerpts of values have.
fn plain(text: &str) -> &str {
    text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text)
}

/// Returns `true` for the span of a whole expression between delimiters. Other values are parts of one.
fn is_whole(text: &str, span: Span) -> bool {
    let before = text.get(..span.start as usize).unwrap_or("").trim_end_matches([' ', '\t', '-', '~', '\n', '\r']);
    let behind = text.get(span.end as usize..).unwrap_or("").trim_start_matches([' ', '\t', '-', '~', '\n', '\r']);
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
