//! Expressions without `${ }`: conditions, headers of loops, and strings of `$let`.

use super::build::FileBuilder;
use super::directives::{check_name, kind};
use super::expressions::ParsedExpression;
use super::{ExpressionId, LetValue, NodeId, NodeKind, VariableId, VariableKind};
use crate::syntax::{ScannedPart, Symbol, Tokens, scan};
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;
use dropforge_value::yaml::{self, Places};

/// The index or key, and the element or value of a loop.
type LoopVariables = [Option<VariableId>; 2];

/// Returns the span between `${` and `}` of a text that is one interpolation, with optional blanks around.
fn unwrapped(text: &str) -> Option<Span> {
    let trimmed = text.trim();
    if !trimmed.starts_with("${") {
        return None;
    }
    let from = Span::of(0..text.len() - text.trim_start().len()).end;
    match scan(trimmed).as_deref() {
        Ok([ScannedPart::Expression { whole, inner }]) if whole.range().len() == trimmed.len() => {
            Some(Span::new(from + inner.start, from + inner.end))
        }
        _ => None,
    }
}

impl FileBuilder<'_> {
    /// Builds the expression of a directive, with or without `${ }`.
    pub fn bare(&mut self, owner: NodeId, name: &str, node: &yaml::Node) -> Option<ExpressionId> {
        let within = unwrapped(&node.text).unwrap_or(Span::of(0..node.text.len()));
        let text = node.text.get(within.range())?;
        let places = self.places(node).part(within);
        self.bare_text(owner, name, text, &places, node.span)
    }

    fn bare_text(
        &mut self,
        owner: NodeId,
        name: &str,
        text: &str,
        places: &Places,
        span: Span,
    ) -> Option<ExpressionId> {
        if text.trim().is_empty() {
            self.error(Code::BadDirective, span, owner, format!("`{name}` has no expression"));
            return None;
        }
        let before = self.errors.len();
        let found = self.expression(owner, text, places);
        if text.contains("${") {
            let help = format!("the expression of `{name}` is written without `${{ }}`, or is wholly within one");
            let new = self.errors.iter_mut().skip(before).filter(|error| error.help.is_none());
            new.for_each(|error| error.help = Some(help.clone()));
        }
        found
    }

    /// Builds `name in expression` or `name, name in expression`. Returns the expression and the variables.
    pub fn header(&mut self, owner: NodeId, node: &yaml::Node) -> Option<(Option<ExpressionId>, LoopVariables)> {
        let Some(text) = node.as_str() else {
            let message = format!("`$for` is `name in list`, not {}", kind(node));
            self.error(Code::BadDirective, node.span, owner, message);
            return None;
        };
        let places = self.places(node);
        let mut names: Vec<Span> = Vec::new();
        let mut tokens = Tokens::new(text, 0);
        let over = loop {
            match (tokens.next(), tokens.next()) {
                (Some(name), Some(next)) if name.symbol == Symbol::Ident => {
                    names.push(name.span);
                    match next.symbol {
                        Symbol::Comma => {}
                        Symbol::In => break next.span.end,
                        _ => return self.bad_header(owner, next.span, &places, text),
                    }
                }
                (Some(token), _) if token.symbol != Symbol::Ident => {
                    return self.bad_header(owner, token.span, &places, text);
                }
                _ => return self.bad_header(owner, Span::of(text.len()..text.len()), &places, text),
            }
        };
        let named = self.loop_names(owner, &names, text, &places)?;
        let within = Span::new(over, Span::of(0..text.len()).end);
        let (inner, at) = (text.get(within.range())?, places.part(within));
        Some((self.bare_text(owner, "$for", inner, &at, node.span), named))
    }

    fn bad_header(
        &mut self,
        owner: NodeId,
        span: Span,
        places: &Places,
        text: &str,
    ) -> Option<(Option<ExpressionId>, LoopVariables)> {
        let found = text
            .get(span.range())
            .filter(|found| !found.is_empty())
            .map_or("the end".to_owned(), |found| format!("`{found}`"));
        let message = format!("`$for` is `name in list` or `name, name in map`, and {found} does not belong there");
        let help = if text.trim_start().starts_with("${") { Some("write it without `${ }`") } else { None };
        self.error_help(Code::BadDirective, places.span(span), owner, message, help);
        None
    }

    fn loop_names(&mut self, owner: NodeId, names: &[Span], text: &str, places: &Places) -> Option<LoopVariables> {
        let slice = |span: &Span| text.get(span.range()).unwrap_or("");
        for span in names {
            if let Err(why) = check_name(slice(span)) {
                let message = format!("`$for`: `{}` {why}", slice(span));
                self.error(Code::BadDirective, places.span(*span), owner, message);
                return None;
            }
        }
        let mut named = |span: &Span, kind| Some(self.variable(slice(span).into(), places.span(*span), kind, owner));
        match names {
            [value] => Some([None, named(value, VariableKind::Value)]),
            [key, value] if slice(key) != slice(value) => {
                Some([named(key, VariableKind::Key), named(value, VariableKind::Value)])
            }
            [_, value] => {
                let message = format!("`$for` has the variable `{}` twice", slice(value));
                self.error(Code::DuplicateDefinition, places.span(*value), owner, message);
                None
            }
            _ => {
                let third = names.get(2).copied().unwrap_or_default();
                let help = Some("a list has an index and an element, a map a key and a value");
                let message = "`$for` has at most two variables";
                self.error_help(Code::BadDirective, places.span(third), owner, message, help);
                None
            }
        }
    }

    /// Builds a string of `$let`: a template if it contains `${ }`, otherwise an expression if it parses as one.
    pub(crate) fn let_text(&mut self, id: NodeId, node: &yaml::Node, text: &str) -> Option<LetValue> {
        if text.contains("${") {
            let kind = self.text(id, node, text, without_quotes(text))?;
            self.set(id, kind);
            return Some(LetValue::Template(id));
        }
        if node.is_marked_text() {
            self.set(id, NodeKind::Scalar(node.clone()));
            return Some(LetValue::Template(id));
        }
        let parsed = match self.parse(text) {
            Ok(parsed) => parsed,
            Err(_) if self.options.strict_let => {
                let places = self.places(node);
                self.expression(id, text, &places);
                return None;
            }
            Err(_) => {
                self.lint_broken(id, node, text);
                self.set(id, NodeKind::Scalar(node.clone()));
                return Some(LetValue::Template(id));
            }
        };
        let places = self.places(node);
        let expression = self.add_expression(id, &parsed, text, &places)?;
        if parsed.double {
            let message = format!("`{text}` is a number here, so its spelling is lost");
            let help = format!("write `\"'{text}'\"` if text is meant");
            self.lint(Code::MaybeText, node.span, id, message, &help);
        }
        if self.options.strict_let || self.is_expression(&parsed) {
            return Some(LetValue::Expression(expression));
        }
        self.set(id, NodeKind::Scalar(node.clone()));
        let name = parsed.free.first().map_or("", |(name, _)| name);
        let message = format!("`{text}` is text here, unless an input is called `{name}`");
        let help = format!("write `\"'{text}'\"` for text, `${{{text}}}` for an expression");
        self.lint(Code::MaybeExpression, node.span, id, message, &help);
        Some(LetValue::Unless { expression, text: id })
    }

    /// Returns `true` if a string that parses as an expression is one whatever the inputs are.
    fn is_expression(&self, parsed: &ParsedExpression) -> bool {
        let defined = |name: &str| self.names.get(name).is_some() || self.names.later(name).is_some();
        parsed.definite || parsed.free.is_empty() || parsed.free.iter().any(|(name, _)| defined(name))
    }

    /// Warns about a string that does not parse but looks like an expression.
    fn lint_broken(&mut self, id: NodeId, node: &yaml::Node, text: &str) {
        let looks_like_expression = Tokens::new(text, 0).any(|token| match token.symbol {
            Symbol::Ident => text.get(token.span.range()).is_some_and(|name| self.names.get(name).is_some()),
            Symbol::Equal | Symbol::NotEqual | Symbol::And | Symbol::Or => true,
            _ => false,
        });
        if looks_like_expression {
            let message = format!("`{text}` is text here: it cannot be read as an expression");
            let help = "write it in `${ }` to see what is wrong with it, or in quotes within the quotes for text";
            self.lint(Code::MaybeExpression, node.span, id, message, help);
        }
    }
}

/// Returns the span of a text without surrounding quotes, unless it has more of these quotes outside expressions.
fn without_quotes(text: &str) -> Span {
    let all = Span::of(0..text.len());
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '\'' | '"')) else { return all };
    let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) else { return all };
    let Ok(parts) = scan(inner) else { return all };
    let plain = |part: &ScannedPart| match part {
        ScannedPart::Text(span) => inner.get(span.range()).is_some_and(|text| !text.contains(quote)),
        ScannedPart::Expression { .. } => true,
    };
    if parts.iter().all(plain) { Span::of(1..text.len() - 1) } else { all }
}
