//! Operators, operands and the steps behind them.

use super::{Faults, Frame, Got, Next, Prefixes};
use crate::diagnostics::Code;
use crate::dialect::hcl::syntax::build::{Chain, is_number};
use crate::dialect::hcl::syntax::token::{Token, TokenKind};
use crate::dialect::hcl::syntax::tree::{ExprId, Operator, UnaryOp};
use crate::text::Span;

impl Faults<'_, '_> {
    pub(super) fn begin_expression(&mut self) -> Next {
        let start = self.reader.peek().span;
        self.frames.push(Frame::Conditional { start, before: Vec::new(), wrong: false });
        self.frames.push(Frame::Operands { list: self.build.terms.len(), op: None, wrong: false });
        Next::Operand
    }

    /// A part of a conditional, behind those in `before`. Where another one fails, the condition is what is left.
    pub(super) fn conditional(&mut self, start: Span, mut before: Vec<ExprId>, wrong: bool, got: Got) -> Next {
        let condition = before.first().copied().unwrap_or(got.expr);
        let mut wrong = wrong | got.wrong;
        let next = self.reader.peek();
        match (before.as_slice(), next.kind) {
            _ if self.gives_up(got) => {}
            (&[condition, then], _) => {
                let expr = self.build.conditional(condition, then, got.expr);
                return Next::Return(Got { wrong, expr });
            }
            ([], TokenKind::Question) | ([_], TokenKind::Colon) => {
                self.reader.read();
                before.push(got.expr);
                self.frames.push(Frame::Conditional { start, before, wrong });
                return Next::Expression;
            }
            ([], _) => {}
            _ => {
                wrong = true;
                let detail = "A conditional has a second value, behind a colon.";
                let context = Some(start.to(next.span));
                self.unexpected(next.span, context, "Missing false expression in conditional", detail);
            }
        }
        Next::Return(Got { wrong, expr: condition })
    }

    pub(super) fn operands(&mut self, list: usize, op: Option<Operator>, wrong: bool, got: Got) -> Next {
        let wrong = wrong | got.wrong;
        if let Some(op) = op.filter(|_| self.gives_up(got)) {
            let expr = self.build.abandoned(list, op);
            return Next::Return(Got { wrong, expr });
        }
        let next = operator(self.reader.peek().kind).filter(|_| !self.gives_up(got));
        if let (None, None) = (op, next) {
            return Next::Return(Got { wrong, ..got });
        }
        self.build.terms.push((op.or(next).unwrap_or(Operator::Or), got.expr));
        if next.is_none() {
            let expr = self.build.operation(list);
            return Next::Return(Got { wrong, expr });
        }
        self.reader.read();
        self.frames.push(Frame::Operands { list, op: next, wrong });
        Next::Operand
    }

    pub(super) fn begin_operand(&mut self) -> Next {
        let mut prefixes = Vec::new();
        loop {
            let next = self.reader.peek();
            let op = match next.kind {
                TokenKind::Minus => UnaryOp::Negate,
                TokenKind::Bang => UnaryOp::Not,
                _ => break,
            };
            self.reader.read();
            prefixes.push((op, next.span));
        }
        if prefixes.len() > self.build.nesting {
            self.too_deep();
        }
        self.frames.push(Frame::Chain { prefixes });
        let start = self.reader.peek();
        match start.kind {
            TokenKind::OpenParen => {
                self.reader.read();
                self.reader.push_lines(false);
                self.frames.push(Frame::Paren { open: start.span });
                Next::Expression
            }
            TokenKind::Number => {
                self.reader.read();
                let wrong = self.number(start.span);
                let expr = self.build.number(start.span);
                Next::Return(Got { wrong, expr })
            }
            TokenKind::Identifier => {
                self.reader.read();
                match self.reader.peek().kind {
                    TokenKind::OpenParen | TokenKind::DoubleColon => self.begin_call(start.span),
                    _ => Next::Return(Got { wrong: false, expr: self.build.variable(start.span) }),
                }
            }
            TokenKind::OpenQuote => self.begin_template(TokenKind::CloseQuote),
            TokenKind::OpenHeredoc => self.begin_template(TokenKind::CloseHeredoc),
            TokenKind::OpenBracket => self.begin_tuple(),
            TokenKind::OpenBrace => self.begin_object(),
            _ => self.no_operand(start),
        }
    }

    fn no_operand(&mut self, start: Token) -> Next {
        let wrong = if start.kind == TokenKind::End {
            let detail = "An expression was to begin here, but the text ends.";
            self.report_first(start.span, None, "Missing expression", detail)
        } else {
            let detail = "No expression begins with this.";
            self.report_first(start.span, None, "Invalid expression", detail)
        };
        self.reader.recovery = true;
        Next::Return(self.nothing(start.span, wrong))
    }

    /// Whether a number is none.
    pub(in super::super) fn number(&mut self, span: Span) -> bool {
        let wrong = !is_number(self.reader.slice(span));
        if wrong {
            let detail = "Its exponent is out of bounds.";
            self.report(Code::NumberOutOfRange, span, None, "Invalid number literal", detail);
        }
        wrong
    }

    /// The steps behind a part of a chain.
    pub(super) fn steps(&mut self, prefixes: Prefixes, mut chain: Chain, mut wrong: bool) -> Next {
        loop {
            match self.reader.peek().kind {
                TokenKind::Dot => self.dot_step(&mut chain, &mut wrong),
                TokenKind::OpenBracket => {
                    let open = self.reader.read().span;
                    if self.reader.peek().kind != TokenKind::Star {
                        self.reader.push_lines(false);
                        self.frames.push(Frame::Index { prefixes, chain, open, wrong });
                        return Next::Expression;
                    }
                    wrong |= self.full_splat();
                    let marker = open.to(self.reader.previous());
                    chain = self.build.full_splat(chain, marker);
                    if chain.waiting() > self.build.nesting {
                        self.too_deep();
                    }
                }
                _ => break,
            }
        }
        let mut expr = self.build.finish(chain);
        for (op, symbol) in prefixes.into_iter().rev() {
            expr = self.build.unary(op, symbol, expr);
        }
        Next::Return(Got { wrong, expr })
    }

    fn dot_step(&mut self, chain: &mut Chain, wrong: &mut bool) {
        let dot = self.reader.read().span;
        let name = self.reader.peek();
        match name.kind {
            TokenKind::Identifier => {
                self.reader.read();
                *chain = self.build.attribute_step(*chain, dot.start, name.span);
            }
            TokenKind::Number => {
                self.reader.read();
                *wrong |= self.legacy_index(name.span, name.span);
                *chain = self.build.legacy_index(*chain, dot.start, name.span);
            }
            TokenKind::Star => {
                self.reader.read();
                *chain = self.build.attribute_splat(*chain, dot.to(name.span));
                *wrong |= self.attribute_splat(chain, name.span);
                *chain = self.build.end_attributes(*chain);
            }
            _ => {
                let (summary, detail) = ("Invalid attribute name", "Behind a dot stands the name of an attribute.");
                self.unexpected(name.span, None, summary, detail);
                self.reader.recovery = true;
                *wrong = true;
                *chain = self.build.broken_step(*chain, dot.end, name.span, summary);
            }
        }
    }

    /// `.0`, reported at `at` if it is `.0.1`.
    fn legacy_index(&mut self, digits: Span, at: Span) -> bool {
        let Some((first, second)) = self.reader.slice(digits).split_once('.') else {
            return self.number(digits);
        };
        let detail = format!("Two indexes behind dots cannot follow each other; write [{first}][{second}].");
        self.unexpected(at, None, "Invalid legacy index syntax", detail);
        true
    }

    fn attribute_splat(&mut self, chain: &mut Chain, star: Span) -> bool {
        let mut wrong = false;
        while let Some(dot) = self.reader.read_if(TokenKind::Dot) {
            let name = self.reader.peek();
            match name.kind {
                TokenKind::Identifier => {
                    self.reader.read();
                    *chain = self.build.attribute_step(*chain, dot.span.start, name.span);
                    continue;
                }
                TokenKind::Number => {
                    self.reader.read();
                    wrong |= self.legacy_index(name.span, star);
                    *chain = self.build.legacy_index(*chain, dot.span.start, name.span);
                    continue;
                }
                TokenKind::Star => {
                    let detail = "A splat cannot stand in a splat of attributes; write [*] for the outer one.";
                    wrong |= self.report_first(name.span, None, "Nested splat expression not allowed", detail);
                }
                _ => {
                    let detail = "Behind a dot stands the name of an attribute.";
                    wrong |= self.report_first(star, None, "Invalid attribute name", detail);
                }
            }
            self.reader.recovery = true;
            break;
        }
        wrong
    }

    /// The star and the bracket behind it; whether that is missing.
    fn full_splat(&mut self) -> bool {
        self.reader.read();
        let close = self.reader.read();
        if close.kind == TokenKind::CloseBracket {
            return false;
        }
        let detail = "Behind the star of a splat stands a closing bracket.";
        let wrong = self.report_first(close.span, None, "Missing close bracket on splat index", detail);
        if wrong {
            self.reader.recover(TokenKind::CloseBracket);
        }
        wrong
    }

    pub(super) fn index(&mut self, prefixes: Prefixes, chain: Chain, open: Span, wrong: bool, got: Got) -> Next {
        let mut wrong = wrong | got.wrong;
        if self.gives_up(got) {
            self.reader.recover(TokenKind::CloseBracket);
        } else {
            let close = self.reader.read();
            if close.kind != TokenKind::CloseBracket {
                let detail = "An index ends with a closing bracket.";
                if self.report_first(close.span, None, "Missing close bracket on index", detail) {
                    wrong = true;
                    self.reader.recover(TokenKind::CloseBracket);
                }
            }
        }
        self.reader.pop_lines();
        let chain = self.build.index(chain, got.expr, open.to(self.reader.previous()));
        self.steps(prefixes, chain, wrong)
    }
}

/// The operator that a token is between operands.
fn operator(kind: TokenKind) -> Option<Operator> {
    Some(match kind {
        TokenKind::Or => Operator::Or,
        TokenKind::And => Operator::And,
        TokenKind::EqualEqual => Operator::Equal,
        TokenKind::NotEqual => Operator::NotEqual,
        TokenKind::Greater => Operator::Greater,
        TokenKind::GreaterEqual => Operator::GreaterEqual,
        TokenKind::Less => Operator::Less,
        TokenKind::LessEqual => Operator::LessEqual,
        TokenKind::Plus => Operator::Add,
        TokenKind::Minus => Operator::Sub,
        TokenKind::Star => Operator::Mul,
        TokenKind::Slash => Operator::Div,
        TokenKind::Percent => Operator::Rem,
        _ => return None,
    })
}
