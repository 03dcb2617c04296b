//! What is wrong with an item, an expression or a template that the grammar refuses, and where reading goes on.
//!
//! The grammar says only that something is wrong, and where. To say what it is takes the constructs that are open there,
//! and how many mistakes there are depends on how each of them goes on behind one: all users of the language know these
//! answers from the reference implementation. So a refused item is read once more, by a machine that knows what may
//! follow what and builds nothing. Its frames stand on a stack of its own.

mod body;
mod constructs;
mod expression;
mod template;

use super::reader::Reader;
use crate::diagnostics::{Code, Diagnostic};
use crate::dialect::hcl::syntax::build::{Build, Callee, Chain};
use crate::dialect::hcl::syntax::token::TokenKind;
use crate::dialect::hcl::syntax::tree::{ExprId, Operator, UnaryOp};
use crate::text::Span;
use constructs::ForFrame;
use template::TemplateFrame;

/// Reads what the grammar has refused.
#[derive(Debug)]
pub(super) struct Faults<'f, 't> {
    pub reader: &'f mut Reader<'t>,
    pub build: &'f mut Build<'t>,
    frames: Vec<Frame>,
    /// What was found.
    pub found: Vec<Box<Diagnostic>>,
}

/// What came of an expression.
#[derive(Debug, Clone, Copy)]
struct Got {
    /// Whether anything in it was reported.
    wrong: bool,
    /// What is left of it.
    expr: ExprId,
}

/// A construct that waits for an expression in it.
#[derive(Debug)]
enum Frame {
    /// `condition ? then : otherwise`
    Conditional { start: Span, before: Vec<ExprId>, wrong: bool },
    /// Operands between binary operators: where they begin on their stack, and the operator before the next one.
    Operands { list: usize, op: Option<Operator>, wrong: bool },
    /// A term behind prefix operators, the steps behind it to come.
    Chain { prefixes: Prefixes },
    /// `[key]` behind the part of a chain.
    Index { prefixes: Prefixes, chain: Chain, open: Span, wrong: bool },
    /// `( … )`
    Paren { open: Span },
    /// `name( … )`
    Call { callee: Callee, open: Span, list: usize, wrong: bool },
    /// `[ … ]`
    Tuple { open: Span, list: usize, wrong: bool },
    /// `{ … }`, with the key whose value is read.
    Object { open: Span, list: usize, key: Option<ExprId>, wrong: bool },
    /// `[for … ]` or `{for … }`
    For(Box<ForFrame>),
    /// A template.
    Template(Box<TemplateFrame>),
}

/// Prefix operators and their places, the outermost first.
type Prefixes = Vec<(UnaryOp, Span)>;

/// What to do next.
enum Next {
    /// Read an expression.
    Expression,
    /// Read an operand.
    Operand,
    /// Go on with a template.
    Template(Box<TemplateFrame>),
    /// Give the innermost frame what it waits for.
    Return(Got),
}

/// How many frames a bracket needs: its own, and those of the expression in it.
const FRAMES: usize = 4;

impl<'f, 't> Faults<'f, 't> {
    /// Reads on from where `reader` is, and puts into the tree what is left.
    pub fn new(reader: &'f mut Reader<'t>, build: &'f mut Build<'t>) -> Self {
        Self { reader, build, frames: Vec::new(), found: Vec::new() }
    }

    /// An expression that is a text of its own.
    pub fn whole_expression(&mut self) -> ExprId {
        self.reader.push_lines(false);
        let got = self.expression();
        let next = self.reader.peek();
        if next.kind != TokenKind::End {
            let detail = "An expression was read, and there is more behind it.";
            self.report_first(next.span, None, "Extra characters after expression", detail);
        }
        self.reader.pop_lines();
        got.expr
    }

    /// A template that is a text of its own.
    pub fn whole_template(&mut self) -> ExprId {
        let list = self.build.parts.len();
        let frame = TemplateFrame::new(TokenKind::End, None, self.reader.peek().span, list);
        self.run(Next::Template(Box::new(frame))).expr
    }

    fn expression(&mut self) -> Got {
        self.run(Next::Expression)
    }

    fn run(&mut self, first: Next) -> Got {
        let mut next = first;
        loop {
            if self.frames.len() > FRAMES * (self.build.nesting + 1) {
                self.too_deep();
            }
            if self.build.too_deep.is_some() {
                self.frames.clear();
                return self.nothing(self.reader.previous(), true);
            }
            next = match next {
                Next::Expression => self.begin_expression(),
                Next::Operand => self.begin_operand(),
                Next::Template(frame) => self.parts(frame),
                Next::Return(got) => match self.frames.pop() {
                    None => return got,
                    Some(frame) => self.resume(frame, got),
                },
            };
        }
    }

    fn resume(&mut self, frame: Frame, got: Got) -> Next {
        match frame {
            Frame::Conditional { start, before, wrong } => self.conditional(start, before, wrong, got),
            Frame::Operands { list, op, wrong } => self.operands(list, op, wrong, got),
            Frame::Chain { prefixes } => {
                let chain = self.build.chain(got.expr);
                self.steps(prefixes, chain, got.wrong)
            }
            Frame::Index { prefixes, chain, open, wrong } => self.index(prefixes, chain, open, wrong, got),
            Frame::Paren { open } => self.paren(open, got),
            Frame::Call { callee, open, list, wrong } => self.call(callee, open, list, wrong, got),
            Frame::Tuple { open, list, wrong } => self.tuple(open, list, wrong, got),
            Frame::Object { open, list, key, wrong } => self.object(open, list, key, wrong, got),
            Frame::For(frame) => self.for_part(frame, got),
            Frame::Template(frame) => self.sequence(frame, got),
        }
    }

    /// Ends reading: what nests here is one too many.
    fn too_deep(&mut self) {
        self.build.too_deep = Some((self.reader.previous(), self.build.nesting as u64));
    }

    /// The place of an expression of which nothing is left.
    fn nothing(&mut self, span: Span, wrong: bool) -> Got {
        Got { wrong, expr: self.build.invalid(span) }
    }

    /// Whether `got` is a reason to give up what it stands in.
    fn gives_up(&self, got: Got) -> bool {
        self.reader.recovery && got.wrong
    }

    fn report(&mut self, code: Code, span: Span, context: Option<Span>, summary: &str, detail: impl Into<String>) {
        let build = &*self.build;
        if self.found.len() >= build.most {
            return;
        }
        let place = build.place(span);
        let mut diagnostic = Diagnostic::new(code, summary).at(build.tree.source(), place, "").with_detail(detail);
        diagnostic.context = context.map(|context| build.place(context));
        self.found.push(diagnostic);
    }

    /// Something else had to stand here.
    pub(super) fn unexpected(&mut self, span: Span, context: Option<Span>, summary: &str, detail: impl Into<String>) {
        self.report(Code::UnexpectedToken, span, context, summary, detail);
    }

    /// As [`Faults::unexpected`], unless this may follow from what was reported before. Whether it was reported.
    fn report_first(&mut self, span: Span, context: Option<Span>, summary: &str, detail: &str) -> bool {
        let first = !self.reader.recovery;
        if first {
            self.unexpected(span, context, summary, detail);
        }
        first
    }

    /// The text ends inside of what is at `span`.
    fn unterminated(&mut self, span: Span, summary: &str, detail: &str) {
        self.report(Code::Unterminated, span, None, summary, detail);
    }
}
