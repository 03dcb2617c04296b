//! Editing of configurations. All bytes that are not edited stay.
//!
//! A [`Document`] is its source cut into items and the text between them, so writing it joins the pieces. New items get
//! the canonical layout, with the indentation and the line ends of their body. The text of an expression is that of
//! a value, of a name with steps, or as written.

mod body;

use std::fmt;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use super::format::format;
use super::syntax::is_identifier;
use crate::syntax::{BodyId, Token, TokenKind, Tree, lex_config, parse_config, tree};
use crate::values::json::push_quoted;
use body::{BodyItem, Style};
use dropforge_base::diagnostics;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::bignum::BigNum;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};
use dropforge_value::{Extended, Value};

pub use body::{EditAttribute, EditBlock, EditBody};

/// A configuration to edit.
///
/// ```
/// use dropforge::hcl::edit::{Document, EditExpression};
/// use dropforge::Value;
/// use dropforge::{limits::Limits, text::Source};
/// let source = Source::new("main.tf", "a  =  1 # one\nb \"c\" {\n}\n");
/// let mut document = Document::parse(&source, &Limits::default())?;
/// document.body_mut().set("a", EditExpression::value(Value::Int(2))?)?;
/// if let Some(block) = document.body_mut().block_mut("b", &["c"]) {
///     block.body_mut().set("d", EditExpression::variable("var")?.attribute("d")?)?;
/// }
/// assert_eq!(document.to_string(), "a  =  2 # one\nb \"c\" {\n  d = var.d\n}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    body: EditBody,
}

impl Document {
    /// Creates an empty document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a document.
    ///
    /// # Errors
    /// All syntax errors. A source with errors cannot be edited.
    pub fn parse(source: &Arc<Source>, limits: &Limits) -> Result<Self, Diagnostics> {
        let parsed = parse_config(source, limits);
        if !parsed.diagnostics.is_empty() {
            return Err(parsed.diagnostics.into());
        }
        let (text, tokens) = (source.text(), lex_config(source.text().as_bytes()));
        let crlf = text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r'));
        let body = Builder { tree: &parsed.tree, text, tokens: &tokens, crlf }.file(parsed.root);
        Ok(Self { body })
    }

    /// The root body.
    pub fn body(&self) -> &EditBody {
        &self.body
    }

    /// The root body, to edit.
    pub fn body_mut(&mut self) -> &mut EditBody {
        &mut self.body
    }
}

impl fmt::Display for Document {
    /// Writes the text of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.fmt(f)
    }
}

/// A builder of bodies from a source without errors.
struct Builder<'t> {
    tree: &'t Tree,
    text: &'t str,
    tokens: &'t [Token],
    crlf: bool,
}

/// An item of the tree.
#[derive(Clone, Copy)]
enum EditNode<'t> {
    Attribute(&'t tree::AttributeNode),
    Block(&'t tree::BlockNode),
}

impl EditNode<'_> {
    fn span(self) -> Span {
        match self {
            EditNode::Attribute(attribute) => attribute.span,
            EditNode::Block(block) => block.name_span.to(block.close),
        }
    }
}

impl Builder<'_> {
    /// Builds the body of the file. A byte order mark precedes it.
    fn file(&self, root: BodyId) -> EditBody {
        let start = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let style = Style { crlf: self.crlf, ..Style::default() };
        let mut body = EditBody { open: self.slice(0..start), style, ..EditBody::default() };
        self.fill(&mut body, root, start..self.text.len());
        body
    }

    /// Adds the items in `range` to a body. The parser limits the nesting of blocks, which bounds the recursion.
    fn fill(&self, body: &mut EditBody, id: BodyId, range: Range<usize>) {
        let mut at = range.start;
        for node in self.nodes(id) {
            let (start, end) = (self.start_of(node, at), self.end_of(node, range.end));
            if start > at {
                body.items.push(BodyItem::Other(self.slice(at..start)));
            }
            let item = match node {
                EditNode::Attribute(attribute) => BodyItem::Attribute(self.attribute(attribute, start..end)),
                EditNode::Block(block) => BodyItem::Block(Box::new(self.block(block, start..end, body))),
            };
            body.items.push(item);
            at = end;
        }
        let rest = self.text.get(at..range.end).unwrap_or("");
        let blanks = rest.len() - rest.trim_end_matches([' ', '\t']).len();
        if rest.len() > blanks {
            body.items.push(BodyItem::Other(self.slice(at..range.end - blanks)));
        }
        body.close = self.slice(range.end - blanks..range.end);
    }

    fn nodes(&self, id: BodyId) -> Vec<EditNode<'_>> {
        let Some(body) = self.tree.body(id) else { return Vec::new() };
        let attributes = body.attributes.iter().map(EditNode::Attribute);
        let mut nodes: Vec<_> = attributes.chain(body.blocks.iter().map(EditNode::Block)).collect();
        nodes.small_sort_by_key(|node| node.span().start);
        nodes
    }

    fn slice(&self, range: Range<usize>) -> String {
        self.text.get(range).unwrap_or("").to_owned()
    }

    /// Returns the index of the first token at or after a byte.
    fn token_at(&self, byte: usize) -> usize {
        self.tokens.partition_point(|token| (token.span.start as usize) < byte)
    }

    fn token(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    /// Returns the start of an item, including the blanks and the lines of comments before it, but not before `from`.
    fn start_of(&self, node: EditNode<'_>, from: usize) -> usize {
        let mut index = self.token_at(node.span().start as usize);
        while let Some(before) = index.checked_sub(1).and_then(|index| self.token(index)) {
            let begins_line = index < 2 || self.token(index - 2).is_some_and(|token| self.ends_line(token));
            if before.kind != TokenKind::Comment || !begins_line || (before.span.start as usize) < from {
                break;
            }
            index -= 1;
        }
        let behind =
            index.checked_sub(1).and_then(|index| self.token(index)).map_or(0, |token| token.span.end as usize);
        behind.max(from)
    }

    fn ends_line(&self, token: Token) -> bool {
        match token.kind {
            TokenKind::Newline => true,
            TokenKind::Comment => self.text.get(token.span.range()).is_some_and(|text| text.ends_with('\n')),
            _ => false,
        }
    }

    /// Returns the end of an item, including the comments after it and the end of its line, but not after `to`.
    fn end_of(&self, node: EditNode<'_>, to: usize) -> usize {
        let end = node.span().end as usize;
        self.line_end(end, to).unwrap_or(end)
    }

    /// Returns the end of the line if only comments follow byte `at`, or else the end of the comments.
    fn line_end(&self, at: usize, to: usize) -> Option<usize> {
        let mut end = None;
        let behind = self.tokens.get(self.token_at(at)..).unwrap_or(&[]);
        for token in behind.iter().take_while(|token| token.span.end as usize <= to) {
            if !matches!(token.kind, TokenKind::Comment | TokenKind::Newline) {
                break;
            }
            end = Some(token.span.end as usize);
            if self.ends_line(*token) {
                break;
            }
        }
        end
    }

    fn attribute(&self, attribute: &tree::AttributeNode, range: Range<usize>) -> EditAttribute {
        let (name, value) = (attribute.name_span.range(), self.tree.span(attribute.expr).range());
        EditAttribute {
            lead: self.slice(range.start..name.start),
            name: self.slice(name.clone()),
            equals: self.slice(name.end..value.start),
            value: EditExpression::of_source(self.text.get(value.clone()).unwrap_or("")),
            tail: self.slice(value.end..range.end),
        }
    }

    fn block(&self, block: &tree::BlockNode, range: Range<usize>, around: &EditBody) -> EditBlock {
        let (name, open, close) = (block.name_span.range(), block.open.range(), block.close.range());
        let lead = self.slice(range.start..name.start);
        let outer = lead.rsplit('\n').next().unwrap_or("").to_owned();
        let first_line = self
            .line_end(open.end, close.start)
            .filter(|end| self.text.get(..*end).is_some_and(|text| text.ends_with('\n')));
        let style = Style { indent: outer, ..around.style.clone() }.inner();
        let mut body =
            EditBody { open: self.slice(open.end..first_line.unwrap_or(open.end)), style, ..EditBody::default() };
        self.fill(&mut body, block.body, first_line.unwrap_or(open.end)..close.start);
        if let Some(indent) = body.items.iter().find_map(BodyItem::indent).filter(|_| first_line.is_some()) {
            body.style.indent = indent.to_owned();
        }
        EditBlock {
            lead,
            name: self.slice(name.clone()),
            labels: block.labels.iter().map(|label| self.tree.str(label.text).to_owned()).collect(),
            header: self.slice(name.end..open.start),
            body,
            tail: self.slice(close.end..range.end),
        }
    }
}

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
    pub fn value(value: Value<'_>) -> diagnostics::Result<Self> {
        let mut text = String::new();
        write_literal(value, &mut text)?;
        Ok(Self::laid_out(&text, false))
    }

    /// Creates the expression of a variable.
    ///
    /// # Errors
    /// `syntax.unexpected_token` if the name is not an identifier.
    pub fn variable(name: &str) -> diagnostics::Result<Self> {
        Ok(Self { text: identifier(name)?.to_owned(), verbatim: false })
    }

    /// Appends the access to an attribute.
    ///
    /// # Errors
    /// `syntax.unexpected_token` if the name is not an identifier.
    pub fn attribute(mut self, name: &str) -> diagnostics::Result<Self> {
        self.text.push('.');
        self.text.push_str(identifier(name)?);
        Ok(self)
    }

    /// Appends the access to an element.
    ///
    /// # Errors
    /// See [`EditExpression::value`].
    pub fn index(mut self, key: Value<'_>) -> diagnostics::Result<Self> {
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
    pub fn call(function: &str, arguments: &[EditExpression]) -> diagnostics::Result<Self> {
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
    fn indented(&self, indent: &str) -> String {
        if self.verbatim { self.text.clone() } else { self.text.replace('\n', &format!("\n{indent}")) }
    }

    /// Creates an expression from the text of a source.
    fn of_source(text: &str) -> Self {
        Self { text: text.to_owned(), verbatim: true }
    }

    /// Returns `true` if the text has several lines.
    fn has_lines(&self) -> bool {
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
fn identifier(name: &str) -> diagnostics::Result<&str> {
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
fn write_literal(value: Value<'_>, text: &mut String) -> diagnostics::Result<()> {
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

fn digits(number: &BigNum, text: &mut String) -> diagnostics::Result<()> {
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
fn quoted(content: &str, text: &mut String) {
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

#[cfg(test)]
mod tests;
