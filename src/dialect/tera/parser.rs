//! Puts tags together to a tree, with a stack of open blocks instead of recursion, and reports everything a
//! file has wrong. The grammar reads one tag at a time, so reading goes on behind a broken tag.

use std::sync::Arc;

use bumpalo::Bump;

use super::ast::{Block, Branch, Expr, ExprKind, For, Import, Macro, Name, Node, Template};
use super::build::{Build, Tag, last_of_each};
use super::expected;
use super::lexer::{Bare, Scanner, Segment, Token, Tokens, Trim};
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
/// assert_eq!(places, ["2:6", "3:1"]);
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

struct Parser<'a, 'l> {
    arena: &'a Bump,
    scanner: Scanner<'a>,
    limits: &'l Limits,
    errors: Vec<Box<SyntaxError>>,
    frames: Vec<Frame<'a>>,
    body: Body<'a>,
    context: Context,
    extends: Option<Name<'a>>,
    imports: Vec<Import<'a>>,
    macros: Vec<Macro<'a>>,
    stopped: bool,
}

impl<'a> Parser<'a, '_> {
    fn error(&mut self, error: Box<SyntaxError>) {
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

    fn open(&mut self, span: Span, trim: Trim, open: Open<'a>) {
        if self.frames.len() >= self.limits.nesting {
            self.error(SyntaxError::too_deep(span));
            return;
        }
        self.body.begin_tag(trim.left);
        let inner = Body::new(trim.right, self.body.trims());
        let around = std::mem::replace(&mut self.body, inner);
        let inside = open.context(self.context);
        let context = std::mem::replace(&mut self.context, inside);
        self.frames.push(Frame { open, span, around, context });
    }

    fn elif(&mut self, span: Span, trim: Trim, next: Expr<'a>) {
        let Some(Frame { open: Open::If(branches, condition), .. }) = self.frames.last_mut() else {
            return self.misplaced(span, "elif", "if");
        };
        let Some(condition) = condition.replace(next) else {
            let error = SyntaxError::misplaced(span, "`elif` cannot follow `else`", "put `else` last");
            return self.error(error);
        };
        self.body.begin_tag(trim.left);
        let trims = self.body.trims();
        let body = std::mem::replace(&mut self.body, Body::new(trim.right, trims));
        branches.push(Branch { condition, body: self.arena.alloc_slice_copy(&body.nodes) });
    }

    fn bare(&mut self, span: Span, trim: Trim, bare: Bare) {
        match bare {
            Bare::Else => self.otherwise(span, trim),
            Bare::Break | Bare::Continue if self.context != Context::Loop => {
                let tag = if bare == Bare::Break { "break" } else { "continue" };
                let message = format!("`{tag}` stands only in a loop");
                self.error(SyntaxError::misplaced(span, message, "a filter section inside a loop is not the loop"));
            }
            Bare::Break => self.body.tag(trim, Some(Node::Break)),
            Bare::Continue => self.body.tag(trim, Some(Node::Continue)),
            Bare::EndIf => self.close(span, trim, "if"),
            Bare::EndFor => self.close(span, trim, "for"),
            Bare::EndFilter => self.close(span, trim, "filter"),
            Bare::EndBlock => self.close(span, trim, "block"),
            Bare::EndMacro => self.close(span, trim, "macro"),
        }
    }

    fn otherwise(&mut self, span: Span, trim: Trim) {
        match self.frames.last_mut().map(|frame| &mut frame.open) {
            Some(Open::If(branches, condition)) => {
                let Some(condition) = condition.take() else {
                    let error = SyntaxError::misplaced(span, "this `if` already has an `else`", "remove one of them");
                    return self.error(error);
                };
                self.body.begin_tag(trim.left);
                let trims = self.body.trims();
                let body = std::mem::replace(&mut self.body, Body::new(trim.right, trims));
                branches.push(Branch { condition, body: self.arena.alloc_slice_copy(&body.nodes) });
            }
            // The last `else` of a loop wins, and no marker means anything behind the first.
            Some(Open::For(_, _, _, main)) => {
                let body = std::mem::replace(&mut self.body, Body::new(false, false));
                main.get_or_insert(body);
            }
            _ => self.misplaced(span, "else", "if"),
        }
    }

    fn misplaced(&mut self, span: Span, tag: &str, wanted: &str) {
        let error = match self.frames.last() {
            None => {
                let help = format!("remove it, or add the `{{% {wanted} … %}}`");
                SyntaxError::misplaced(span, format!("there is no `{{% {wanted} %}}` before this `{tag}`"), help)
            }
            Some(frame) => {
                let inner = frame.open.tag();
                let message = format!("`{tag}` stands inside a `{inner}` that is not closed");
                SyntaxError::misplaced(span, message, format!("add `{{% end{inner} %}}` before it"))
                    .related(frame.span, format!("this `{inner}` is open"))
            }
        };
        self.error(error);
    }

    /// An end tag. Blocks opened inside it and not closed are reported and closed as well.
    fn close(&mut self, span: Span, trim: Trim, tag: &'static str) {
        if !self.frames.iter().any(|frame| frame.open.tag() == tag) {
            return self.misplaced(span, &format!("end{tag}"), tag);
        }
        while let Some(frame) = self.frames.pop() {
            let found = frame.open.tag() == tag;
            if !found {
                let inner = frame.open.tag();
                let message = format!("`{{% end{inner} %}}` is missing before this `end{tag}`");
                let error = SyntaxError::misplaced(span, message, format!("add `{{% end{inner} %}}`"));
                self.error(error.related(frame.span, format!("this `{inner}` is not closed")));
            }
            self.close_frame(frame, trim);
            if found {
                break;
            }
        }
    }

    fn close_frame(&mut self, frame: Frame<'a>, trim: Trim) {
        let mut inner = std::mem::replace(&mut self.body, frame.around);
        self.context = frame.context;
        let keeps = |body: &Body<'a>| -> &'a [Node<'a>] { self.arena.alloc_slice_copy(&body.nodes) };
        let node = match frame.open {
            Open::For(key, value, container, main) => {
                let (mut body, otherwise) = match main {
                    Some(main) => (main, Some(keeps(&inner))),
                    None => (inner, None),
                };
                body.begin_tag(trim.left);
                Some(Node::For(self.arena.alloc(For { key, value, container, body: keeps(&body), otherwise })))
            }
            open => {
                inner.begin_tag(trim.left);
                let body = keeps(&inner);
                self.node(open, body)
            }
        };
        self.body.nodes.extend(node);
        self.body.end_tag(trim.right);
    }

    fn node(&mut self, open: Open<'a>, body: &'a [Node<'a>]) -> Option<Node<'a>> {
        match open {
            Open::If(mut branches, condition) => {
                let otherwise = match condition {
                    Some(condition) => {
                        branches.push(Branch { condition, body });
                        &[]
                    }
                    None => body,
                };
                Some(Node::If { branches: self.arena.alloc_slice_copy(&branches), otherwise })
            }
            Open::Filter(filter) => Some(Node::Filter { filter: self.arena.alloc(filter), body }),
            Open::Block(name) => Some(Node::Block(self.arena.alloc(Block { name, body }))),
            Open::Macro(name, params) => {
                let params = last_of_each(params, |param| param.name.text);
                self.macros.push(Macro { name, params: self.arena.alloc_slice_copy(&params), body });
                None
            }
            Open::For(..) => None,
        }
    }

    fn close_all(&mut self, end: usize) {
        while let Some(frame) = self.frames.pop() {
            if !self.stopped {
                let tag = frame.open.tag();
                let message = format!("the file ends, but `{{% end{tag} %}}` is missing");
                let error = SyntaxError::unterminated(Span::of(end..end), message, format!("add `{{% end{tag} %}}`"));
                self.error(error.related(frame.span, format!("this `{tag}` is not closed")));
            }
            self.close_frame(frame, Trim::default());
        }
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
