//! The names in a field, for editors.

use std::sync::Arc;

use bumpalo::Bump;

use crate::syntax::parse;
use crate::syntax::tree::Reference;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::compiler::{Key, Mark, MarkList};

/// Returns the names in a field.
///
/// # Errors
/// The leftmost malformed expression.
pub fn marks(source: &Arc<Source>, limits: &Limits) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
    limits.check_size(source).map_err(|error| vec![error])?;
    let (arena, mut list) = (Bump::new(), MarkList::default());
    let field =
        parse(source.text(), &arena).map_err(|error| vec![error.diagnostic(source.text(), source, error.span)])?;
    for Reference { span, scope, name } in field.references() {
        let (root, start) = (scope.name(), span.start + 2);
        let root_span = Span::new(start, start + root.len() as u32);
        let mut at = root_span.end + 1;
        let step = |part: &str| {
            let span = Span::new(at, at + part.len() as u32);
            at = span.end + 1;
            (Key::Name(part.to_owned()), span)
        };
        let steps = name.split('.').map(step).collect();
        list.path(root, root_span, *span, steps);
    }
    Ok(list.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_field() {
        let source = Source::new("t.tower", "a ${params.x} ${steps.b.outputs.c}");
        let found = marks(&source, &Limits::default()).unwrap();
        let texts: Vec<_> = found.iter().map(|mark| (source.slice(mark.span), source.slice(mark.whole))).collect();
        assert_eq!(texts, [("params", "${params.x}"), ("steps", "${steps.b.outputs.c}")]);
        let steps: Vec<_> = found.iter().flat_map(|mark| &mark.steps).map(|(_, span)| source.slice(*span)).collect();
        assert_eq!(steps, ["x", "b", "outputs", "c"]);
    }
}
