//! Puts tags together to a tree, with a stack of open blocks instead of recursion, and reports everything a
//! file has wrong. The grammar reads one tag at a time, so reading goes on behind a broken tag.

use std::sync::Arc;

use bumpalo::Bump;

use super::ast::{Expr, ExprKind, Import, Macro, Name, Node, Template};
use super::build::{Build, Tag};
use super::expected;
use super::lexer::{Scanner, Segment, Token, Tokens, Trim};
use super::nesting::{Body, Context, Frame, Open, inherited_blocks};
use super::syntax::SyntaxError;
use crate::diagnostics::{Code, Diagnostic};
use crate::limits::{Limit, Limits};
use crate::text::{Source, Span};

/// Reads one template into `arena`. Where anything is wrong there is no template, but every error of the file
/// (at most [`Limits::diagnostics`]), in order of position.
///
/// ```
/// use dropforge::{dialect::tera, limits::Limits, text::Source};
/// let arena = bumpalo::Bump::new();
/// let source = Source::new("t", "{% if a %}\n{{ b c }}\n{% endfor %}");
/// let (template, errors) = tera::parse(&arena, &source, &Limits::default());
/// assert!(template.is_none());
/// let places: Vec<_> = errors.iter().filter_map(|error| error.position()).map(|at| at.to_string()).collect();
/// assert_eq!(places, ["2:6", "3:1", "3:13"]);
/// ```
pub fn parse<'a>(
    arena: &'a Bump,
    source: &Arc<Source>,
    limits: &Limits,
) -> (Option<Template<'a>>, Vec<Box<Diagnostic>>) {
    if source.text().len() > limits.source_bytes {
        let error = Limit::SourceBytes.error(limits.source_bytes as u64).at(source, Span::new(0, 0), "");
        return (None, vec![error]);
    }
    let mut parser = Parser {
        arena,
        scanner: Scanner::new(arena.alloc_str(source.text())),
        limits,
        errors: Vec::new(),
        frames: Vec::new(),
        body: Body::new(false, true),
        context: Context::Content,
        extends: None,
        imports: Vec::new(),
        macros: Vec::new(),
        stopped: false,
    };
    parser.preamble();
    parser.content();
    parser.close_all(source.text().len());
    parser.finish(source)
}

pub(super) struct Parser<'a, 'l> {
    pub(super) arena: &'a Bump,
    scanner: Scanner<'a>,
    pub(super) limits: &'l Limits,
    errors: Vec<Box<SyntaxError>>,
    pub(super) frames: Vec<Frame<'a>>,
    pub(super) body: Body<'a>,
    pub(super) context: Context,
    extends: Option<Name<'a>>,
    imports: Vec<Import<'a>>,
    pub(super) macros: Vec<Macro<'a>>,
    pub(super) stopped: bool,
}

impl<'a> Parser<'a, '_> {
    pub(super) fn error(&mut self, error: Box<SyntaxError>) {
        self.stopped |= error.code == Code::LimitDepth || self.errors.len() + 1 >= self.limits.diagnostics;
        self.errors.push(error);
    }

    fn next(&mut self) -> Option<(Span, Segment<'a>)> {
        let depth = self.limits.nesting.saturating_sub(self.frames.len());
        if self.stopped { None } else { self.scanner.next(depth) }
    }

    /// Comments, then `extends` and imports in either order, with the white space around them.
    fn preamble(&mut self) {
        while self.scanner.peeks_comment() {
            if let Some((_, Segment::Broken(_, error))) = self.next() {
                self.error(error);
            }
        }
        let extends_first = self.scanner.peeks_tag("extends");
        if extends_first {
            self.preamble_tag();
        }
        let mut imports = false;
        while self.scanner.peeks_tag("import") {
            self.preamble_tag();
            imports = true;
        }
        if imports && !extends_first && self.scanner.peeks_tag("extends") {
            self.preamble_tag();
        }
    }

    fn preamble_tag(&mut self) {
        self.scanner.skip_space();
        let Some((_, segment)) = self.next() else { return };
        match segment {
            Segment::Tag(trim, tokens) => {
                match self.read(&tokens) {
                    Ok(Tag::Extends(file)) => self.extends = Some(file),
                    Ok(Tag::Import(file, namespace)) => self.imports.push(Import { file, namespace }),
                    Ok(_) => {}
                    Err(error) => self.error(error),
                }
                self.body.end_tag(trim.right);
            }
            Segment::Broken(_, error) => self.error(error),
            _ => {}
        }
        self.scanner.skip_space();
    }

    fn read(&self, tokens: &Tokens<'a>) -> Result<Tag<'a>, Box<SyntaxError>> {
        let build = Build::new(self.arena);
        grammar::TagParser::new()
            .parse(&build, tokens.list.iter().copied())
            .map_err(|error| expected::explain(error, tokens))
    }

    fn content(&mut self) {
        while let Some((span, segment)) = self.next() {
            match segment {
                Segment::Text(text) => self.body.text(text),
                Segment::Comment(trim) => self.body.tag(trim, None),
                Segment::Raw(trim, trimmed, whole) => self.raw(trim, trimmed, whole),
                Segment::Super(..) if self.context == Context::Block => self.body.super_tag(span),
                Segment::Super(trim, tokens) | Segment::Tag(trim, tokens) => self.tag(span, trim, &tokens),
                Segment::Bare(trim, bare) => self.bare(span, trim, bare),
                Segment::Broken(tokens, error) => self.broken(span, &tokens, error),
            }
        }
    }

    fn raw(&mut self, trim: Trim, trimmed: &'a str, whole: &'a str) {
        let text = if self.body.trims() { trimmed } else { whole };
        let node = Some(Node::Text(text)).filter(|_| !text.is_empty());
        self.body.tag(trim, node);
    }

    fn tag(&mut self, span: Span, trim: Trim, tokens: &Tokens<'a>) {
        match self.read(tokens) {
            Ok(tag) => self.tag_read(span, trim, tag),
            Err(error) => {
                self.error(error);
                self.recover(span, tokens);
            }
        }
    }

    /// A tag the lexer gave up on; what the grammar finds wrong before that place comes first.
    fn broken(&mut self, span: Span, tokens: &Tokens<'a>, error: Box<SyntaxError>) {
        let earlier = match self.read(tokens) {
            Err(earlier) if !tokens.list.is_empty() && earlier.span.start < error.span.start => {
                let last = tokens.list.last().map_or(0, |(_, _, end)| *end);
                Some(earlier).filter(|earlier| earlier.span.start < last)
            }
            _ => None,
        };
        self.error(earlier.filter(|_| error.code != Code::LimitDepth).unwrap_or(error));
        self.recover(span, tokens);
    }

    /// Opens what a broken tag would have opened, so that its end tag is not an error as well.
    fn recover(&mut self, span: Span, tokens: &Tokens<'a>) {
        let name = Name { text: "", span };
        let nothing = Expr { kind: ExprKind::Bool(false), filters: &[], negated: false, span };
        let open = match tokens.list.first().map(|(_, token, _)| token) {
            Some(Token::If) => Open::If(Vec::new(), Some(nothing)),
            Some(Token::For) => Open::For(None, name, nothing, None),
            Some(Token::Block) => Open::Block(name),
            Some(Token::Macro) => Open::Macro(name, Vec::new()),
            Some(Token::Filter) => Open::Filter(super::ast::Call { name, args: &[], span }),
            _ => return,
        };
        self.open(span, Trim::default(), open);
    }

    fn tag_read(&mut self, span: Span, trim: Trim, tag: Tag<'a>) {
        match tag {
            Tag::Emit(expr) => self.body.tag(trim, Some(Node::Emit(self.arena.alloc(expr)))),
            Tag::Set(name, value, global) => {
                let value = self.arena.alloc(value.expr());
                self.body.tag(trim, Some(Node::Set { name, global, value }));
            }
            Tag::Include(names, ignore) => {
                let (names, ignore_missing) = (self.arena.alloc_slice_copy(&names), ignore.is_some());
                self.body.tag(trim, Some(Node::Include { names, ignore_missing, span }));
            }
            Tag::If(condition) => self.open(span, trim, Open::If(Vec::new(), Some(condition))),
            Tag::For(key, value, container) => self.open(span, trim, Open::For(key, value, container, None)),
            Tag::Filter(filter) => self.open(span, trim, Open::Filter(filter)),
            Tag::Block(name) => self.block_tag(span, trim, name),
            Tag::Macro(name, params) => self.macro_tag(span, trim, Open::Macro(name, params)),
            Tag::Elif(condition) => self.elif(span, trim, condition),
            Tag::Extends(_) | Tag::Import(..) => self.late_preamble(span),
        }
    }

    fn late_preamble(&mut self, span: Span) {
        let help = "move it to the top: only comments and other `extends` or `import` tags may stand before it";
        self.error(SyntaxError::misplaced(span, "`extends` and `import` stand at the top of a file", help));
    }

    fn block_tag(&mut self, span: Span, trim: Trim, name: Name<'a>) {
        if matches!(self.context, Context::Loop | Context::Macro) {
            let place = if self.context == Context::Loop { "loop" } else { "macro" };
            let message = format!("a block cannot stand inside a {place}");
            self.error(SyntaxError::misplaced(span, message, format!("put the {place} inside the block")));
        }
        self.open(span, trim, Open::Block(name));
    }

    fn macro_tag(&mut self, span: Span, trim: Trim, open: Open<'a>) {
        if let Some(frame) = self.frames.last() {
            let error = SyntaxError::misplaced(span, "a macro stands at the top level of a file", "move it there");
            let error = error.related(frame.span, format!("it is inside this `{}`", frame.open.tag()));
            self.error(error);
        }
        self.open(span, trim, open);
    }

    fn finish(mut self, source: &Arc<Source>) -> (Option<Template<'a>>, Vec<Box<Diagnostic>>) {
        let body: &'a [Node<'a>] = self.arena.alloc_slice_copy(&self.body.nodes);
        let blocks = inherited_blocks(body);
        self.duplicates("block", blocks.iter().map(|block| block.name).collect());
        self.duplicates("macro", self.macros.iter().map(|one| one.name).collect());
        if self.errors.is_empty() {
            let template = Template {
                extends: self.extends,
                imports: self.arena.alloc_slice_copy(&self.imports),
                macros: self.arena.alloc_slice_copy(&self.macros),
                blocks: self.arena.alloc_slice_copy(&blocks),
                body,
            };
            return (Some(template), Vec::new());
        }
        self.errors.sort_by_key(|error| error.span);
        let limits = self.limits;
        let diagnose = |error: Box<SyntaxError>| match error.code {
            Code::LimitDepth => Limit::Nesting.error(limits.nesting as u64).at(source, error.span, "here"),
            _ => error.into_diagnostic(source),
        };
        (None, self.errors.into_iter().map(diagnose).collect())
    }

    fn duplicates(&mut self, kind: &str, names: Vec<Name<'a>>) {
        let mut seen = std::collections::HashMap::new();
        for name in names.into_iter().filter(|name| !name.text.is_empty()) {
            match seen.get(name.text) {
                None => {
                    seen.insert(name.text, name.span);
                }
                Some(&first) => {
                    let message = format!("the {kind} `{}` is defined twice", name.text);
                    let error = SyntaxError::new(Code::DuplicateDefinition, name.span, message, "rename one of them");
                    self.error(error.related(first, "the first is here"));
                }
            }
        }
    }
}

#[allow(missing_docs, clippy::all, clippy::pedantic, unused)]
mod grammar {
    lalrpop_util::lalrpop_mod!(
        #[allow(clippy::restriction)]
        inner,
        "/tera.rs"
    );
    pub use inner::TagParser;
}
