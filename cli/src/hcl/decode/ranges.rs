//! Positions in sources as JSON.

use std::sync::Arc;

use dropforge::dialect::hcl::syntax::lexer::lex_config;
use dropforge::dialect::hcl::syntax::position::{Position, PositionIndex};
use dropforge::text::{Source, Span};

use super::json::{Doc, number, object, text};

/// The source name of a JSON argument of `--vars`.
pub(crate) fn argument_name(at: usize) -> String {
    format!("<vars argument {at}>")
}

/// Returns `true` for the source name of a JSON argument.
pub(crate) fn is_argument(name: &str) -> bool {
    name.starts_with("<vars argument ")
}

/// Converts spans to ranges. Keeps the positions of each source.
#[derive(Default)]
pub(crate) struct Ranges {
    known: Vec<(Arc<Source>, PositionIndex)>,
}

impl Ranges {
    /// Returns a range as `{"filename", "start", "end"}`.
    pub(crate) fn range(&mut self, source: &Arc<Source>, span: Span) -> Doc {
        let at = self.known.iter().position(|(known, _)| Arc::ptr_eq(known, source)).unwrap_or_else(|| {
            self.known.push((source.clone(), places(source)));
            self.known.len() - 1
        });
        let ends = self.known.get(at).map(|(_, places)| places.of(span));
        let end = |place: Option<Position>| {
            let place = place.unwrap_or(Position { line: 1, column: 1, byte: 0 });
            object([("line", number(place.line)), ("column", number(place.column)), ("byte", number(place.byte))])
        };
        let (start, stop) = (ends.as_ref().map(|ends| ends.start), ends.as_ref().map(|ends| ends.end));
        object([("filename", text(source.name())), ("start", end(start)), ("end", end(stop))])
    }
}

fn places(source: &Source) -> PositionIndex {
    let name = source.name();
    match name.ends_with(".json") || is_argument(name) {
        true => PositionIndex::of_text(source.text()),
        false => PositionIndex::new(source.text().as_bytes(), &lex_config(source.text().as_bytes())),
    }
}
