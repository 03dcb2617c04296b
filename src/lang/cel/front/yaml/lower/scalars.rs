//! Constants, and text with expressions.

use super::body::Body;
use crate::yaml::syntax::tree::{NodeId, NodeKind, Part, Run};
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Span;
use dropforge_machine::compiler::Constant;
use dropforge_value::yaml::{self, Kind, keeps_spelling};

impl<'t> Body<'_, 't> {
    /// Pushes the value of a node, undefined if it is missing.
    pub(super) fn value(&mut self, id: NodeId) -> Result<()> {
        let Some(node) = self.file.node(id) else { return Ok(()) };
        self.at(node.span);
        match &node.kind {
            NodeKind::Scalar(scalar) => self.scalar(scalar),
            NodeKind::Expression(expression) => self.expression(*expression)?,
            NodeKind::Text(run) => self.text(*run, node.span)?,
            NodeKind::List(run) => self.list(*run)?,
            NodeKind::Map(map) => self.map(*map)?,
        }
        if let Some(tag) = &node.tag {
            self.at(tag_span(self.file.source.text(), node.span, tag));
            self.emitter().constant(Constant::Str((&**tag).into()));
            self.intrinsic("tagged", 2);
        }
        self.emitter().check_size()
    }

    /// Pushes a constant with its spelling.
    pub(super) fn scalar(&mut self, scalar: &'t yaml::Node) {
        match scalar.kind {
            Kind::Null | Kind::List(_) | Kind::Map(_) => self.emitter().constant(Constant::Null),
            Kind::Bool(truth) => self.emitter().constant(Constant::Bool(truth)),
            Kind::Int(n) => {
                self.emitter().constant(Constant::Int(n));
                self.spelled(scalar, &n.to_string());
            }
            Kind::Uint(n) => {
                self.emitter().constant(Constant::Int(n.cast_signed()));
                self.intrinsic("uint", 1);
            }
            Kind::Float(n) => {
                self.emitter().constant(Constant::Float(n));
                self.spelled(scalar, &format!("{n:?}"));
            }
            Kind::Str => self.emitter().constant(Constant::Str((&*scalar.text).into())),
        }
    }

    /// Attaches the spelling to the number on top, if it differs from the plain form.
    fn spelled(&mut self, scalar: &'t yaml::Node, plain: &str) {
        if &*scalar.text != plain && keeps_spelling(&scalar.text) {
            self.emitter().constant(Constant::Str((&*scalar.text).into()));
            self.intrinsic("spelled", 2);
        }
    }

    fn text(&mut self, run: Run, span: Span) -> Result<()> {
        let file = self.file;
        let parts = file.parts(run);
        for part in parts {
            match part {
                Part::Text(text) => self.emitter().constant(Constant::Str((&**text).into())),
                Part::Expression(id) => self.expression(*id)?,
            }
        }
        self.at(span);
        self.emitter().join(Span::of(0..parts.len()).end);
        let position = |part: &Part| match part {
            Part::Text(_) => span,
            Part::Expression(id) => file.expression(*id).map_or(span, |expression| expression.span),
        };
        self.emitter().details(parts.iter().map(position));
        Ok(())
    }
}

/// The maximum number of bytes between a tag and its node.
const NEAR: usize = 200;

/// Returns the span of the tag before a node, or of the node if the tag is elsewhere, as that of an alias is.
fn tag_span(text: &str, node: Span, tag: &str) -> Span {
    let (end, near) = (node.start as usize, tag.len() + NEAR);
    let from = (end.saturating_sub(near)..=end).find(|at| text.is_char_boundary(*at)).unwrap_or(end);
    let before = text.get(from..end).unwrap_or("");
    let only_space = |rest: &str| rest.get(tag.len()..).is_some_and(|rest| rest.split_whitespace().all(is_property));
    let found = before.rfind(tag).filter(|at| before.get(*at..).is_some_and(only_space));
    found.map_or(node, |at| Span::of(from + at..from + at + tag.len()))
}

/// Returns `true` for an anchor.
fn is_property(word: &str) -> bool {
    word.starts_with('&')
}
