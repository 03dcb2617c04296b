//! The text of expressions: of a value, of a name with steps, or as written.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::format::format;
use crate::syntax::{is_identifier, parse_config};
use crate::values::json::push_quoted;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::bignum::BigNum;
use dropforge_base::text::{Source, Span};
use dropforge_value::{Extended, Value};

/// The text of a valid expression.
///
/// ```
/// use dropforge::hcl::edit::EditExpression;
/// use dropforge::Value;
/// let zone = EditExpression::variable("var")?.attribute("zones")?.index(Value::Int(0))?;
/// let call = EditExpression::call("upper", &[zone])?;
/// assert_eq!(call.to_string(), "upper(var.zones[0])");
/// # Ok::<(), Box<dropforge::diagnostics::Diagnostic>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditExpression {
    text: String,
    /// `true` if the text may have a heredoc, whose lines are not indented.
    verbatim: bool,
}

impl EditExpression {
    /// Creates the literal of a value.
    ///
    /// # Errors
    /// `value.type_mismatch` if the value or one in it has no literal: it is unknown, marked, infinite or a host value.
    pub fn value(value: Value<'_>) -> Result<Self> {
        let mut text = String::new();
        write_literal(value, &mut text)?;
        Ok(Self::laid_out(&text, false))
    }

    /// Creates the expression of a variable.
    ///
    /// # Errors
    /// `syntax.unexpected_token` if the name is not an identifier.
    pub fn variable(name: &str) -> Result<Self> {
        Ok(Self { text: identifier(name)?.to_owned(), verbatim: false })
    }

    /// Appends the access to an attribute.
    ///
    /// # Errors
    /// `syntax.unexpected_token` if the name is not an identifier.
    pub fn attribute(mut self, name: &str) -> Result<Self> {
        self.text.push('.');
        self.text.push_str(identifier(name)?);
        Ok(self)
    }

    /// Appends the access to an element.
    ///
    /// # Errors
    /// See [`EditExpression::value`].
    pub fn index(mut self, key: Value<'_>) -> Result<Self> {
        self.text.push('[');
        write_literal(key, &mut self.text)?;
        self.text.push(']');
        Ok(self)
    }

    /// Creates a tuple constructor.
    pub fn tuple(elements: &[EditExpression]) -> Self {
        Self::list("[", elements, "]")
    }

    /// Creates an object constructor. A key that is a bare name is a string.
    pub fn object(entries: &[(EditExpression, EditExpression)]) -> Self {
        let mut text = String::from(if entries.is_empty() { "{" } else { "{\n" });
        for (key, value) in entries {
            text.extend([key.text.as_str(), " = ", value.text.as_str(), "\n"]);
        }
        text.push('}');
        Self::laid_out(&text, entries.iter().any(|(key, value)| key.verbatim || value.verbatim))
    }

    /// Creates a call.
    ///
    /// # Errors
    /// `syntax.unexpected_token` if the name of the function is not an identifier.
    pub fn call(function: &str, arguments: &[EditExpression]) -> Result<Self> {
        function.split("::").try_for_each(|name| identifier(name).map(|_| ()))?;
        Ok(Self::list(&format!("{function}("), arguments, ")"))
    }

    fn list(open: &str, elements: &[EditExpression], close: &str) -> Self {
        let inside: Vec<&str> = elements.iter().map(|element| element.text.as_str()).collect();
        // A heredoc ends with its line.
        let separator = if elements.iter().any(Self::ends_in_heredoc) { "\n, " } else { ", " };
        let behind = if elements.last().is_some_and(Self::ends_in_heredoc) { "\n" } else { "" };
        let text = [open, &inside.join(separator), behind, close].concat();
        Self::laid_out(&text, elements.iter().any(|element| element.verbatim))
    }

    fn ends_in_heredoc(&self) -> bool {
        self.verbatim && self.text.contains('\n') && !self.text.ends_with([')', ']', '}'])
    }

    fn laid_out(text: &str, verbatim: bool) -> Self {
        Self { text: format(text), verbatim }
    }

    /// Parses an expression, whose text stays as it is.
    ///
    /// # Errors
    /// All syntax errors of an attribute with this value.
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

    /// Returns the text with all lines but the first indented.
    pub(super) fn indented(&self, indent: &str) -> String {
        if self.verbatim { self.text.clone() } else { self.text.replace('\n', &format!("\n{indent}")) }
    }

    /// Creates an expression from the text of a source.
    pub(super) fn of_source(text: &str) -> Self {
        Self { text: text.to_owned(), verbatim: true }
    }

    /// Returns `true` if the text has several lines.
    pub(super) fn has_lines(&self) -> bool {
        self.text.contains('\n')
    }
}

impl fmt::Display for EditExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn not_alone(source: &Arc<Source>, whole: Span) -> Box<Diagnostic> {
    let message = "unexpected text after the expression";
    Diagnostic::new(Code::UnexpectedToken, message).at(source, whole, "")
}

/// Returns the name if it is an identifier.
pub(super) fn identifier(name: &str) -> Result<&str> {
    if is_identifier(name) {
        return Ok(name);
    }
    let message = format!("`{}` is not an identifier", name.escape_debug());
    Err(Diagnostic::new(Code::UnexpectedToken, message).with_help("an identifier has letters, digits, `_` and `-`"))
}

/// The maximum number of digits of a number.
const LONGEST_NUMBER: usize = 1 << 20;

/// Appends the literal of a value. The entries of an object are sorted by key, on a line each.
///
/// The nesting of values is limited, which bounds the recursion.
fn write_literal(value: Value<'_>, text: &mut String) -> Result<()> {
    match value {
        Value::Null | Value::Undefined => text.push_str("null"),
        Value::Bool(truth) => text.push_str(if truth { "true" } else { "false" }),
        Value::Int(n) => text.push_str(itoa::Buffer::new().format(n)),
        Value::Uint(n) => text.push_str(itoa::Buffer::new().format(n)),
        Value::Float(n) if n.is_finite() => {
            // Writing to a String cannot fail.
            let _ = write!(text, "{n}");
        }
        Value::Float(_) => return Err(no_literal("an infinite number")),
        Value::Str(content) => quoted(content.as_str(), text),
        Value::List(elements) => {
            text.push('[');
            for (at, element) in elements.items().iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                write_literal(*element, text)?;
            }
            text.push(']');
        }
        Value::Map(entries) => {
            text.push_str(if entries.iter().len() == 0 { "{" } else { "{\n" });
            for (key, element) in entries.iter_sorted() {
                name_of_entry(key, text);
                text.push_str(" = ");
                write_literal(element, text)?;
                text.push('\n');
            }
            text.push('}');
        }
        Value::Extended(extension) => match extension.kind() {
            Extended::Number(number) => digits(number, text)?,
            Extended::Null(_) => text.push_str("null"),
            Extended::Typed(_, elements) => write_literal(*elements, text)?,
            Extended::Unknown(_) => return Err(no_literal("an unknown value")),
            Extended::Marked(..) => return Err(no_literal("a marked value")),
            Extended::Capsule(_) => return Err(no_literal("a host value")),
            other => return Err(no_literal(&format!("a value of the kind {}", other.name()))),
        },
    }
    Ok(())
}

fn digits(number: &BigNum, text: &mut String) -> Result<()> {
    if !number.is_finite() || number.text_len() > LONGEST_NUMBER {
        return Err(no_literal("an infinite number, or one of more than a million digits,"));
    }
    text.push_str(&number.to_text());
    Ok(())
}

fn no_literal(what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::TypeMismatch, format!("{what} has no literal"))
}

fn name_of_entry(key: &str, text: &mut String) {
    match is_identifier(key) {
        true => text.push_str(key),
        false => quoted(key, text),
    }
}

/// Appends a quoted string. Characters that do not print and template sequences are escaped.
pub(super) fn quoted(content: &str, text: &mut String) {
    let content = content.replace("${", "$${").replace("%{", "%%{");
    push_quoted(text, &content, ("\"\\\n\r\t", "\"\\nrt"), |character| match u32::from(character) {
        _ if prints(character) => None,
        code @ ..0x1_0000 => Some(format!("\\u{code:04x}")),
        code => Some(format!("\\U{code:08x}")),
    });
}

/// Returns `true` if a character is visible or a space: not another blank, a control character or unassigned.
fn prints(character: char) -> bool {
    match character.is_ascii() {
        true => !character.is_ascii_control(),
        // The standard library escapes the others. Behind a letter, it does not escape combining marks.
        false => ['x', character].iter().collect::<String>().escape_debug().nth(1) == Some(character),
    }
}
