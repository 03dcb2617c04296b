//! From tokens to a document, with the errors and the recovery of the reference's parser.
//!
//! What is open stands on a stack of its own, so that depth costs memory and not calls; how deep it may be is a limit.

mod faults;

use std::sync::Arc;

use super::document::{Document, Json, JsonId, Node, Property};
use super::scan::{Token, TokenKind, scan};
use super::string::decode;
use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::syntax::tree::{Run, Str};
use crate::limits::{Limit, Limits};
use crate::stdlib::bignum::BigNum;
use crate::text::{Source, Span};
use logos::Logos;

/// A document, and what is wrong with its source.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// What could be read.
    pub document: Document,
    /// Everything that is wrong.
    pub diagnostics: Vec<Box<Diagnostic>>,
}

/// What was read of a document so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub nodes: Vec<Node>,
    pub items: Vec<JsonId>,
    pub properties: Vec<Property>,
    pub pool: String,
}

/// Parses a file: a JSON object, or an array of objects, that stands for a body. Where its root is neither, that is
/// an error and the document an empty object.
///
/// ```
/// use dropforge::{dialect::hcl::json::parse_file, limits::Limits, text::Source};
/// let parsed = parse_file(&Source::new("a.tf.json", r#"{"a": flase}"#), &Limits::default());
/// assert_eq!(parsed.diagnostics[0].help.as_deref(), Some("did you mean `false`?"));
/// ```
pub fn parse_file(source: &Arc<Source>, limits: &Limits) -> Parsed {
    let mut parsed = parse_expression(source, limits);
    let root = parsed.document.node(parsed.document.root());
    if !matches!(root.json, Json::Object(_) | Json::Array(_)) {
        let mut found = Found::default();
        let nothing = found.add(Json::Object(Run::default()), Span::default());
        parsed.document = Document::new(source, found, nothing);
        if !parsed.diagnostics.iter().any(|diagnostic| is_limit(diagnostic)) {
            parsed.diagnostics.push(faults::root(source, root.start()));
        }
    }
    parsed
}

fn is_limit(diagnostic: &Diagnostic) -> bool {
    diagnostic.code.name().starts_with("limit.")
}

/// Parses a JSON value and nothing else.
pub fn parse_expression(source: &Arc<Source>, limits: &Limits) -> Parsed {
    let too_long = source.text().len() > limits.source_bytes;
    let tokens = if too_long { scan("") } else { scan(source.text()) };
    let mut parser = Parser {
        source,
        tokens,
        at: 0,
        open: Vec::new(),
        items: Vec::new(),
        properties: Vec::new(),
        found: Found::default(),
        diagnostics: Vec::new(),
        limits,
    };
    let root = if too_long {
        let limit = Limit::SourceBytes.error(limits.source_bytes as u64);
        parser.diagnostics.push(limit.at_if_nowhere(source, Span::default()));
        parser.found.add(Json::Invalid, Span::default())
    } else {
        parser.document()
    };
    Parsed { document: Document::new(source, parser.found, root), diagnostics: parser.diagnostics }
}

impl Found {
    fn add(&mut self, json: Json, span: Span) -> JsonId {
        let id = JsonId(Span::of(0..self.nodes.len()).end);
        self.nodes.push(Node { json, span });
        id
    }

    pub fn node(&self, id: JsonId) -> Node {
        let invalid = Node { json: Json::Invalid, span: Span::default() };
        self.nodes.get(id.0 as usize).copied().unwrap_or(invalid)
    }
}

/// What comes next in an open array or object.
#[derive(Debug, Clone, Copy)]
enum Wants {
    Item,
    Name,
    Value { name: Str, name_span: Span, key: JsonId },
}

/// An open array or object: its bracket, and which of the collected items or properties is its first one.
#[derive(Debug, Clone, Copy)]
struct Open {
    bracket: Span,
    first: usize,
    wants: Wants,
}

struct Parser<'s> {
    source: &'s Arc<Source>,
    tokens: Vec<Token>,
    at: usize,
    open: Vec<Open>,
    /// Items and properties of what is open.
    items: Vec<JsonId>,
    properties: Vec<Property>,
    found: Found,
    diagnostics: Vec<Box<Diagnostic>>,
    limits: &'s Limits,
}

/// What became of an open array or object.
enum Next {
    /// It wants a further value.
    More,
    /// It is closed, or given up.
    Done(JsonId),
}

impl Parser<'_> {
    fn document(&mut self) -> JsonId {
        let root = self.value();
        if self.diagnostics.is_empty() && self.peek().kind != TokenKind::End {
            self.report(faults::extraneous(self.source, self.peek().span));
        }
        root
    }

    /// Reads a value. What it holds is read in turn, without a call for each level.
    fn value(&mut self) -> JsonId {
        loop {
            let token = self.peek();
            let mut whole = match token.kind {
                TokenKind::OpenBrace | TokenKind::OpenBracket if self.open.len() >= self.limits.nesting => {
                    return self.too_deep(token.span);
                }
                TokenKind::OpenBrace | TokenKind::OpenBracket => match self.open(token) {
                    Next::More => continue,
                    Next::Done(empty) => empty,
                },
                _ => self.scalar(token),
            };
            loop {
                let Some(open) = self.open.pop() else { return whole };
                match self.take(open, whole) {
                    Next::More => break,
                    Next::Done(done) => whole = done,
                }
            }
        }
    }

    fn open(&mut self, token: Token) -> Next {
        self.read();
        let (first, wants) = match token.kind {
            TokenKind::OpenBrace => (self.properties.len(), Wants::Name),
            _ => (self.items.len(), Wants::Item),
        };
        let open = Open { bracket: token.span, first, wants };
        let close = if matches!(wants, Wants::Name) { TokenKind::CloseBrace } else { TokenKind::CloseBracket };
        if self.peek().kind == close {
            return Next::Done(self.close(open));
        }
        self.open.push(open);
        Next::More
    }

    /// Puts `value` into what is open.
    fn take(&mut self, open: Open, value: JsonId) -> Next {
        match open.wants {
            Wants::Name => match self.name(value) {
                Ok(wants) => {
                    self.open.push(Open { wants, ..open });
                    Next::More
                }
                Err(fault) => self.give_up(open, fault),
            },
            Wants::Value { name, name_span, key } => {
                self.properties.push(Property { name, name_span, key, value });
                self.behind_property(open)
            }
            Wants::Item => {
                self.items.push(value);
                self.behind_item(open)
            }
        }
    }

    /// The name that `value` is, with the colon behind it.
    fn name(&mut self, key: JsonId) -> Result<Wants, Box<Diagnostic>> {
        let node = self.found.node(key);
        let Json::String(name) = node.json else { return Err(faults::name(self.source, node.start())) };
        let colon = self.read();
        if colon.kind == TokenKind::Colon {
            return Ok(Wants::Value { name, name_span: node.span, key });
        }
        self.recover(colon, TokenKind::OpenBrace, TokenKind::CloseBrace);
        Err(faults::colon(self.source, colon))
    }

    fn behind_property(&mut self, open: Open) -> Next {
        let fault = match self.peek().kind {
            TokenKind::Comma => {
                let comma = self.read();
                if self.peek().kind != TokenKind::CloseBrace {
                    self.open.push(Open { wants: Wants::Name, ..open });
                    return Next::More;
                }
                faults::trailing_comma(self.source, comma.span, "object")
            }
            TokenKind::CloseBrace => return Next::Done(self.close(open)),
            TokenKind::End => faults::unclosed(self.source, open.bracket, "object"),
            TokenKind::CloseBracket => {
                self.read();
                faults::mismatched(self.source, self.peek().span, "object")
            }
            _ => {
                let token = self.read();
                self.recover(token, TokenKind::OpenBrace, TokenKind::CloseBrace);
                faults::comma(self.source, self.peek().span, "properties of an object")
            }
        };
        self.give_up(open, fault)
    }

    fn behind_item(&mut self, open: Open) -> Next {
        let kind = self.peek().kind;
        let fault = match kind {
            TokenKind::Comma => {
                let comma = self.read();
                if self.peek().kind != TokenKind::CloseBracket {
                    self.open.push(open);
                    return Next::More;
                }
                faults::trailing_comma(self.source, comma.span, "array")
            }
            TokenKind::CloseBracket => return Next::Done(self.close(open)),
            TokenKind::End => faults::unclosed(self.source, open.bracket, "array"),
            _ => {
                let token = self.read();
                self.recover(token, TokenKind::OpenBracket, TokenKind::CloseBracket);
                let behind = self.peek().span;
                match kind {
                    TokenKind::Colon => faults::colon_in_array(self.source, behind),
                    TokenKind::CloseBrace => faults::mismatched(self.source, behind, "array"),
                    _ => faults::comma(self.source, behind, "values of an array"),
                }
            }
        };
        self.give_up(open, fault)
    }

    /// Takes the closing bracket.
    fn close(&mut self, open: Open) -> JsonId {
        let span = open.bracket.to(self.read().span);
        let json = if matches!(open.wants, Wants::Item) {
            Json::Array(moved(&mut self.items, open.first, &mut self.found.items))
        } else {
            Json::Object(moved(&mut self.properties, open.first, &mut self.found.properties))
        };
        self.found.add(json, span)
    }

    fn give_up(&mut self, open: Open, fault: Box<Diagnostic>) -> Next {
        self.report(fault);
        match open.wants {
            Wants::Item => self.items.truncate(open.first),
            _ => self.properties.truncate(open.first),
        }
        Next::Done(self.found.add(Json::Invalid, open.bracket))
    }

    /// Goes to what seems to be the end of the array or object that `token` stands in. The counting is the
    /// reference's: it stops at the first bracket that closes, or, where one was opened before that, at its own.
    fn recover(&mut self, mut token: Token, opening: TokenKind, closing: TokenKind) {
        let mut open = 1_usize;
        loop {
            if token.kind == opening {
                open += 1;
            } else if token.kind == closing {
                open = open.saturating_sub(1);
                if open <= 1 {
                    return;
                }
            } else if token.kind == TokenKind::End {
                return;
            }
            token = self.read();
        }
    }

    /// Reports that the syntax nests too deep, and reads no further.
    fn too_deep(&mut self, span: Span) -> JsonId {
        self.at = self.tokens.len().saturating_sub(1);
        let limit = Limit::Nesting.error(self.limits.nesting as u64);
        self.diagnostics.push(limit.at_if_nowhere(self.source, span));
        self.found.add(Json::Invalid, span)
    }

    fn scalar(&mut self, token: Token) -> JsonId {
        let text = self.source.slice(token.span);
        let read = match token.kind {
            TokenKind::Keyword => keyword(text).ok_or_else(|| faults::keyword(self.source, token.span)),
            TokenKind::Number if is_number(text) => Ok(Json::Number(Str::of(token.span))),
            TokenKind::Number => Err(faults::number(self.source, token.span)),
            TokenKind::String => self.string(token.span),
            _ => {
                self.report(faults::start(self.source, token));
                return self.found.add(Json::Invalid, token.span);
            }
        };
        self.read();
        let json = read.unwrap_or_else(|fault| {
            self.report(fault);
            Json::Invalid
        });
        self.found.add(json, token.span)
    }

    fn string(&mut self, span: Span) -> Result<Json, Box<Diagnostic>> {
        let text = decode(self.source.slice(span)).map_err(|behind| faults::string(self.source, span, behind))?;
        if text.len() + 2 == span.range().len() {
            return Ok(Json::String(Str::of(Span::new(span.start + 1, span.end - 1))));
        }
        let start = self.found.pool.len();
        self.found.pool.push_str(&text);
        let Span { start, end } = Span::of(start..self.found.pool.len());
        Ok(Json::String(Str { start, end, pooled: true }))
    }

    fn peek(&self) -> Token {
        let end = Token { kind: TokenKind::End, span: Span::default() };
        self.tokens.get(self.at).copied().unwrap_or(end)
    }

    /// Takes the next token; the end is never passed.
    fn read(&mut self) -> Token {
        let token = self.peek();
        self.at += usize::from(token.kind != TokenKind::End);
        token
    }

    fn report(&mut self, fault: Box<Diagnostic>) {
        if self.diagnostics.len() < self.limits.diagnostics {
            self.diagnostics.push(fault);
        }
    }
}

/// Moves what is in `from` from `first` on to the end of `to`.
fn moved<T>(from: &mut Vec<T>, first: usize, to: &mut Vec<T>) -> Run {
    let start = to.len();
    to.extend(from.drain(first.min(from.len())..));
    let Span { start, end } = Span::of(start..to.len());
    Run { start, end }
}

fn keyword(text: &str) -> Option<Json> {
    Some(match text {
        "null" => Json::Null,
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        _ => return None,
    })
}

/// A number as JSON has them.
#[derive(Logos)]
enum Number {
    #[regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")]
    Plain,
    #[regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?[eE][-+]?[0-9]+")]
    Scientific,
}

/// Whether `text` is a number of JSON whose exponent is within all bounds.
fn is_number(text: &str) -> bool {
    let mut lexer = Number::lexer(text);
    let first = lexer.next();
    lexer.remainder().is_empty()
        && match first {
            Some(Ok(Number::Plain)) => true,
            Some(Ok(Number::Scientific)) => BigNum::parse(text).is_some(),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Parsed {
        parse_expression(&Source::new("t.json", text), &Limits::default())
    }

    /// The value in a short notation, and the messages with their places.
    fn shown(text: &str) -> String {
        let parsed = parse(text);
        let place = |d: &Diagnostic| d.primary().map(|label| label.span).unwrap_or_default();
        let show = |d: &Diagnostic| format!("{} {}-{}", d.message, place(d).start, place(d).end);
        let faults: Vec<_> = parsed.diagnostics.iter().map(|error| show(error)).collect();
        format!("{} {}", value(&parsed.document, parsed.document.root()), faults.join("; "))
    }

    fn value(document: &Document, id: JsonId) -> String {
        let list = |items: Vec<String>| items.join(",");
        let node = document.node(id);
        let json = match node.json {
            Json::Invalid => "!".into(),
            Json::Null => "null".into(),
            Json::Bool(truth) => truth.to_string(),
            Json::Number(digits) => document.str(digits).into(),
            Json::String(text) => format!("{:?}", document.str(text)),
            Json::Array(items) => {
                format!("[{}]", list(document.items(items).iter().map(|&id| value(document, id)).collect()))
            }
            Json::Object(properties) => {
                let show = |of: &Property| format!("{}={}", document.str(of.name), value(document, of.value));
                format!("{{{}}}", list(document.properties(properties).iter().map(show).collect()))
            }
        };
        format!("{json}@{}-{}", node.span.start, node.span.end)
    }

    #[test]
    fn values_have_their_places() {
        let cases = [
            (r#"{"a":1,"a":[],"b":{}}"#, r#"{a=1@5-6,a=[]@11-13,b={}@18-20}@0-21 "#),
            (r#" [true, false,null , "a\"b"]"#, r#"[true@2-6,false@8-13,null@14-18,"a\"b"@21-27]@1-28 "#),
            (
                "[-0, 1.50, 1E+5, 123456789012345678901234567890]",
                "[-0@1-3,1.50@5-9,1E+5@11-15,123456789012345678901234567890@17-47]@0-48 ",
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(shown(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_reported_where_the_reference_reports_it() {
        let cases = [
            ("", "!@0-0 Missing value 0-0"),
            ("}", "!@0-1 Missing JSON value 0-1"),
            ("[,]", "!@0-1 Invalid start of value 1-2; Trailing comma in array 1-2"),
            ("[}", "!@0-1 Missing JSON value 1-2; Mismatched brackets 2-2"),
            ("[1 2]", "!@0-1 Missing separator comma 5-5"),
            ("[1:2]", "!@0-1 Invalid array value 5-5"),
            ("[[1}, 2]", "!@0-1 Mismatched brackets 8-8; Unclosed array 0-1"),
            ("{", "!@0-1 Missing value 1-1; Invalid object property name 1-1"),
            ("{1:2}", "!@0-1 Invalid object property name 1-2"),
            ("{{}:1}", "!@0-1 Invalid object property name 1-2"),
            (r#"{"a"}"#, "!@0-1 Missing object value 4-5"),
            (r#"{"a" 1}"#, "!@0-1 Missing property value colon 5-6"),
            (r#"{"a":1 "b":2}"#, "!@0-1 Missing separator comma 13-13"),
            (r#"{"a":1,}"#, "!@0-1 Trailing comma in object 6-7"),
            (r#"{"a":{"b"={}},"c":1}"#, "{a=!@5-6}@0-13 Missing property value colon 9-10"),
            ("01", "!@0-2 Invalid JSON number 0-2"),
            ("1.", "!@0-2 Invalid JSON number 0-2"),
            ("1e", "!@0-2 Invalid JSON number 0-2"),
            ("1-2", "!@0-3 Invalid JSON number 0-3"),
            ("2e5000000000", "!@0-12 Invalid JSON number 0-12"),
            ("Infinity", "!@0-8 Invalid JSON keyword 0-8"),
            ("\"a\n\"", "!@0-2 Invalid JSON string 2-3"),
            ("{} {}", "{}@0-2 Extraneous data after value 3-4"),
            ("[1] &", "[1@1-2]@0-3 Extraneous data after value 4-5"),
            ("\u{feff}{}", "!@0-1 Invalid start of value 0-1"),
        ];
        for (text, wanted) in cases {
            assert_eq!(shown(text), wanted, "{text}");
        }
    }

    #[test]
    fn the_root_of_a_file_is_an_object_or_an_array() {
        let limits = Limits::default();
        for (text, wanted) in [("[]", 0), ("{}", 0), ("1", 1), ("", 2), ("\"a", 2), ("{a:1}", 3)] {
            let parsed = parse_file(&Source::new("t.json", text), &limits);
            assert_eq!(parsed.diagnostics.len(), wanted, "{text}");
            let root = parsed.document.node(parsed.document.root());
            assert!(matches!(root.json, Json::Object(_) | Json::Array(_)), "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_refused_by_name() {
        let parsed = parse("\u{feff}{}");
        assert!(parsed.diagnostics[0].detail.as_deref().is_some_and(|detail| detail.contains("byte order mark")));
        assert!(parsed.diagnostics[0].render(false).contains("t.json:1:1"));
    }

    #[test]
    fn depth_is_limited_and_costs_no_calls() {
        for open in ["[", "{\"a\":", "[{\"a\":", "{"] {
            for close in ["", "]", "}"] {
                let text = open.repeat(100_000) + &close.repeat(100_000);
                let parsed = parse_file(&Source::new("t.json", text), &Limits::default());
                assert!(parsed.diagnostics.iter().any(|d| d.code.name() == "limit.depth"), "{open} {close}");
                assert!(parsed.diagnostics.len() <= 100, "{open} {close}");
            }
        }
        let deep = Limits { nesting: 200_000, ..Limits::default() };
        let text = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(parse_file(&Source::new("t.json", text), &deep).diagnostics.is_empty());
    }

    #[test]
    fn a_source_that_is_too_long_is_not_read() {
        let limits = Limits { source_bytes: 4, ..Limits::default() };
        let parsed = parse_file(&Source::new("t.json", "[1,2]"), &limits);
        let codes: Vec<_> = parsed.diagnostics.iter().map(|d| d.code.name()).collect();
        assert_eq!(codes, ["limit.source_bytes"]);
    }

    #[test]
    fn many_errors_are_cut_and_a_long_string_is_one_token() {
        let text = format!("[{}tru]", "tru,".repeat(10_000));
        assert_eq!(parse(&text).diagnostics.len(), Limits::default().diagnostics);
        let text = format!("\"{}\"", "aé\\n".repeat(500_000));
        let parsed = parse(&text);
        let Json::String(found) = parsed.document.node(parsed.document.root()).json else { panic!() };
        assert_eq!(parsed.document.str(found).len(), 2_000_000);
    }

    #[test]
    fn a_text_cut_anywhere_is_an_error_that_can_be_shown() {
        let text = r#"{"//": "é\ud83d\ude00", "a": [1.5e3, -0, null, {"b": ["${x}", true]}], "c": {"d": {}}}"#;
        assert!(parse(text).diagnostics.is_empty());
        for (at, _) in text.char_indices() {
            let parsed = parse_file(&Source::new("t.json", &text[..at]), &Limits::default());
            assert!(!parsed.diagnostics.is_empty(), "{at}");
            for diagnostic in &parsed.diagnostics {
                assert!(diagnostic.render(false).contains("t.json:1:"), "{at}");
            }
        }
    }
}
