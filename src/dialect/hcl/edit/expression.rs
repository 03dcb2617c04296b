//! The text of an expression: of a value, of a name with steps, or as somebody wrote it.

use std::fmt;
use std::sync::Arc;

use super::super::syntax::lexer::is_identifier;
use super::super::syntax::parser::parse_config;
use super::literal;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use crate::limits::Limits;
use crate::text::{Source, Span};
use crate::value::Value;

/// What stands behind `=`: a sound expression.
///
/// ```
/// use dropforge::dialect::hcl::edit::Expression;
/// use dropforge::value::Value;
/// let zone = Expression::variable("var")?.attribute("zones")?.index(Value::Int(0))?;
/// let call = Expression::call("upper", &[zone])?;
/// assert_eq!(call.to_string(), "upper(var.zones[0])");
/// # Ok::<(), Box<dropforge::diagnostics::Diagnostic>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    text: String,
    /// Whether a line of it may begin with anything but blanks that mean nothing: text of a heredoc is not indented.
    verbatim: bool,
}

impl Expression {
    /// A literal for a value.
    ///
    /// # Errors
    /// `value.type_mismatch` where the value, or one in it, has no literal: it is not known, marked, infinite, or the
    /// host's.
    pub fn value(value: Value<'_>) -> Result<Self> {
        let mut text = String::new();
        literal::write(value, &mut text)?;
        Ok(Self::laid_out(&text, false))
    }

    /// A name.
    ///
    /// # Errors
    /// `syntax.unexpected_token` where it is none.
    pub fn variable(name: &str) -> Result<Self> {
        Ok(Self { text: identifier(name)?.to_owned(), verbatim: false })
    }

    /// The attribute `name` of this.
    ///
    /// # Errors
    /// `syntax.unexpected_token` where the name is none.
    pub fn attribute(mut self, name: &str) -> Result<Self> {
        self.text.push('.');
        self.text.push_str(identifier(name)?);
        Ok(self)
    }

    /// The element `key` of this.
    ///
    /// # Errors
    /// As [`Expression::value`].
    pub fn index(mut self, key: Value<'_>) -> Result<Self> {
        self.text.push('[');
        literal::write(key, &mut self.text)?;
        self.text.push(']');
        Ok(self)
    }

    /// A tuple.
    pub fn tuple(elements: &[Expression]) -> Self {
        Self::list("[", elements, "]")
    }

    /// An object. A key that is a bare name stands for its own text.
    pub fn object(entries: &[(Expression, Expression)]) -> Self {
        let mut text = String::from(if entries.is_empty() { "{" } else { "{\n" });
        for (key, value) in entries {
            text.extend([key.text.as_str(), " = ", value.text.as_str(), "\n"]);
        }
        text.push('}');
        Self::laid_out(&text, entries.iter().any(|(key, value)| key.verbatim || value.verbatim))
    }

    /// A call.
    ///
    /// # Errors
    /// `syntax.unexpected_token` where the function's name is none.
    pub fn call(function: &str, arguments: &[Expression]) -> Result<Self> {
        function.split("::").try_for_each(|name| identifier(name).map(|_| ()))?;
        Ok(Self::list(&format!("{function}("), arguments, ")"))
    }

    fn list(open: &str, elements: &[Expression], close: &str) -> Self {
        let inside: Vec<&str> = elements.iter().map(|element| element.text.as_str()).collect();
        // A heredoc needs its line to end.
        let separator = if elements.iter().any(Self::ends_in_heredoc) { "\n, " } else { ", " };
        let behind = if elements.last().is_some_and(Self::ends_in_heredoc) { "\n" } else { "" };
        let text = [open, &inside.join(separator), behind, close].concat();
        Self::laid_out(&text, elements.iter().any(|element| element.verbatim))
    }

    fn ends_in_heredoc(&self) -> bool {
        self.verbatim && self.text.contains('\n') && !self.text.ends_with([')', ']', '}'])
    }

    fn laid_out(text: &str, verbatim: bool) -> Self {
        Self { text: super::super::format::format(text), verbatim }
    }

    /// The expression that `text` is, as it stands.
    ///
    /// # Errors
    /// What is wrong with it as the value of an attribute.
    pub fn raw(text: &str) -> std::result::Result<Self, Diagnostics> {
        const BEFORE: &str = "x = ";
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        let source = Source::new("expression", [BEFORE, text, "\n"].concat());
        let parsed = parse_config(&source, &Limits::default());
        if !parsed.diagnostics.is_empty() {
            return Err(parsed.diagnostics.into());
        }
        let body = parsed.tree.body(parsed.root);
        let attribute = body.filter(|body| body.blocks.is_empty()).and_then(|body| match body.attributes.as_slice() {
            [only] => Some(*only),
            _ => None,
        });
        let whole = Span::of(BEFORE.len()..BEFORE.len() + text.len());
        match attribute.filter(|attribute| parsed.tree.span(attribute.expr) == whole) {
            Some(_) => Ok(Self { text: text.to_owned(), verbatim: true }),
            None => Err(not_alone(&source, whole).into()),
        }
    }

    /// Its text with each line but the first behind `indent`.
    pub(super) fn indented(&self, indent: &str) -> String {
        if self.verbatim { self.text.clone() } else { self.text.replace('\n', &format!("\n{indent}")) }
    }

    /// The text of a value that a source has.
    pub(super) fn of_source(text: &str) -> Self {
        Self { text: text.to_owned(), verbatim: true }
    }

    /// Whether it takes more than one line.
    pub(super) fn has_lines(&self) -> bool {
        self.text.contains('\n')
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn not_alone(source: &Arc<Source>, whole: Span) -> Box<Diagnostic> {
    let message = "this is an expression and something else";
    Diagnostic::new(Code::UnexpectedToken, message).at(source, whole, "")
}

/// `name`, where it is an identifier.
pub(super) fn identifier(name: &str) -> Result<&str> {
    if is_identifier(name) {
        return Ok(name);
    }
    let message = format!("`{}` is no name", name.escape_debug());
    Err(Diagnostic::new(Code::UnexpectedToken, message).with_help("a name has letters, digits, `_` and `-`"))
}
