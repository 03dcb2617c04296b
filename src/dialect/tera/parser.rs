//! Puts tags together to a tree, with a stack of open blocks instead of recursion, and reports everything a
//! file has wrong. The grammar reads one tag at a time, so reading goes on behind a broken tag.

use std::sync::Arc;

use bumpalo::Bump;

use super::ast::{Call, Expr, ExprKind, Import, Macro, Name, Node, Template};
use super::build::Tag;
use super::lexer::{Scanner, Segment, Spanned, Token, Tokens, Trim};
use super::nesting::{Body, Context, Frame, Open, inherited_blocks};
use super::syntax::SyntaxError;
use super::tags::{self, Read};
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
    let text = arena.alloc_str(source.text());
    let cut = cut(text, limits.nesting);
    let mut parser = Parser {
        arena,
        text,
        limits,
        errors: Vec::new(),
        tags: tags::read(arena, &cut.tokens, limits.diagnostics).into_iter(),
        tokens: &cut.tokens,
        frames: Vec::new(),
        body: Body::new(false, true, Vec::with_capacity(cut.segments.len())),
        spare: Vec::new(),
        context: Context::Content,
        extends: None,
        imports: Vec::new(),
        macros: Vec::new(),
        sets: false,
        stopped: false,
    };
    for (at, (span, segment)) in cut.segments.into_iter().enumerate() {
        if parser.stopped {
            break;
        }
        let segment = parser.shallow(span, segment);
        if at < cut.preamble { parser.preamble(segment) } else { parser.content(span, segment) }
    }
    parser.close_all(source.text().len());
    parser.finish(source)
}

/// How many nodes most bodies have at most.
const NODES: usize = 16;

/// A source in pieces.
struct Cut<'a> {
    segments: Vec<(Span, Segment<'a>)>,
    /// How many of them stand before the content.
    preamble: usize,
    /// The tokens of all sound tags.
    tokens: Vec<Spanned<'a>>,
}

/// How many bytes of source there are for each piece.
const BYTES_OF_SEGMENT: usize = 16;

fn cut<'a>(source: &'a str, depth: usize) -> Cut<'a> {
    let mut scanner = Scanner::new(source, 0, depth);
    scanner.reserve();
    let mut segments = preamble(&mut scanner);
    let preamble = segments.len();
    segments.reserve(source.len() / BYTES_OF_SEGMENT);
    while let Some(segment) = scanner.next() {
        segments.push(segment);
    }
    Cut { segments, preamble, tokens: scanner.into_tokens() }
}

/// Comments, then `extends` and imports in either order; white space around them is skipped.
fn preamble<'a>(scanner: &mut Scanner<'a>) -> Vec<(Span, Segment<'a>)> {
    let mut segments = Vec::new();
    while scanner.peeks_comment() {
        segments.extend(scanner.next());
    }
    let mut tag = |scanner: &mut Scanner<'a>| {
        scanner.skip_space();
        segments.extend(scanner.next());
        scanner.skip_space();
    };
    let extends_first = scanner.peeks_tag("extends");
    if extends_first {
        tag(scanner);
    }
    let mut imports = false;
    while scanner.peeks_tag("import") {
        tag(scanner);
        imports = true;
    }
    if imports && !extends_first && scanner.peeks_tag("extends") {
        tag(scanner);
    }
    segments
}

pub(super) struct Parser<'a, 'l> {
    pub(super) arena: &'a Bump,
    text: &'a str,
    pub(super) limits: &'l Limits,
    errors: Vec<Box<SyntaxError>>,
    /// What the grammar makes of each sound tag.
    tags: std::vec::IntoIter<Read<'a>>,
    tokens: &'l [Spanned<'a>],
    pub(super) frames: Vec<Frame<'a>>,
    pub(super) body: Body<'a>,
    /// Room that closed bodies have left.
    spare: Vec<Vec<Node<'a>>>,
    pub(super) context: Context,
    extends: Option<Name<'a>>,
    imports: Vec<Import<'a>>,
    pub(super) macros: Vec<Macro<'a>>,
    sets: bool,
    pub(super) stopped: bool,
}

impl<'a> Parser<'a, '_> {
    /// An empty body behind a tag that trims as `trim_next` says; see [`Body::new`].
    pub(super) fn new_body(&mut self, trim_next: bool, trims: bool) -> Body<'a> {
        Body::new(trim_next, trims, self.spare.pop().unwrap_or_else(|| Vec::with_capacity(NODES)))
    }

    /// The nodes of a complete body, whose room goes to the next one.
    pub(super) fn keep(&mut self, body: Body<'a>) -> &'a [Node<'a>] {
        let mut nodes = body.nodes;
        let kept = self.arena.alloc_slice_copy(&nodes);
        nodes.clear();
        self.spare.push(nodes);
        kept
    }

    pub(super) fn error(&mut self, error: Box<SyntaxError>) {
        self.stopped |= error.code == Code::LimitDepth || self.errors.len() + 1 >= self.limits.diagnostics;
        self.errors.push(error);
    }

    /// The segment as it is where open blocks leave only some of the allowed depth to its brackets.
    fn shallow(&mut self, span: Span, segment: Segment<'a>) -> Segment<'a> {
        let depth = self.limits.nesting.saturating_sub(self.frames.len());
        let as_it_is = match &segment {
            Segment::Tag(_, tokens) | Segment::Super(_, tokens) => tokens.deepest <= depth,
            Segment::Broken(..) => self.frames.is_empty(),
            _ => true,
        };
        let again = (!as_it_is).then(|| Scanner::new(self.text, span.range().start, depth).next()).flatten();
        again.map_or(segment, |(_, segment)| segment)
    }

    fn preamble(&mut self, segment: Segment<'a>) {
        match segment {
            Segment::Tag(trim, _) => {
                match self.tags.next() {
                    Some(Ok(Tag::Extends(file))) => self.extends = Some(file),
                    Some(Ok(Tag::Import(file, namespace))) => self.imports.push(Import { file, namespace }),
                    Some(Err(error)) => self.error(error),
                    _ => {}
                }
                self.body.end_tag(trim.right);
            }
            Segment::Broken(_, error) => self.error(error),
            _ => {}
        }
    }

    fn content(&mut self, span: Span, segment: Segment<'a>) {
        match segment {
            Segment::Text(text) => self.body.text(text),
            Segment::Comment(trim) => self.body.tag(trim, None),
            Segment::Raw(trim, trimmed, whole) => self.raw(trim, trimmed, whole),
            Segment::Super(..) if self.context == Context::Block => {
                self.tags.next();
                self.body.super_tag(span);
            }
            Segment::Super(trim, tokens) | Segment::Tag(trim, tokens) => self.tag(span, trim, tokens),
            Segment::Bare(trim, bare) => self.bare(span, trim, bare),
            Segment::Broken(tokens, error) => self.broken(span, tokens, error),
        }
    }

    fn raw(&mut self, trim: Trim, trimmed: &'a str, whole: &'a str) {
        let text = if self.body.trims() { trimmed } else { whole };
        let node = Some(Node::Text(text)).filter(|_| !text.is_empty());
        self.body.tag(trim, node);
    }

    fn tag(&mut self, span: Span, trim: Trim, tokens: Tokens) {
        match self.tags.next() {
            Some(Ok(tag)) => self.tag_read(span, trim, tag),
            Some(Err(error)) => {
                self.error(error);
                self.recover(span, self.tokens.get(tokens.first));
            }
            None => {}
        }
    }

    /// A tag the lexer gave up on; what the grammar finds wrong before that place comes first.
    fn broken(&mut self, span: Span, tokens: Vec<Spanned<'a>>, error: Box<SyntaxError>) {
        let (head, last) = (tokens.first().copied(), tokens.last().map_or(0, |(_, _, end)| *end));
        let earlier = tags::fault(self.arena, tokens);
        let earlier = earlier.filter(|earlier| earlier.span.start < error.span.start.min(last));
        self.error(earlier.filter(|_| error.code != Code::LimitDepth).unwrap_or(error));
        self.recover(span, head.as_ref());
    }

    /// Opens what a broken tag would have opened, so that its end tag is not an error as well.
    fn recover(&mut self, span: Span, head: Option<&Spanned<'a>>) {
        let name = Name { text: "", span };
        let nothing = Expr { kind: ExprKind::Bool(false), filters: &[], negated: false, span };
        let open = match head.map(|(_, token, _)| token) {
            Some(Token::If) => Open::If(Vec::new(), Some(nothing)),
            Some(Token::For) => Open::For(None, name, nothing, None),
            Some(Token::Block) => Open::Block(name),
            Some(Token::Macro) => Open::Macro(name, &[]),
            Some(Token::Filter) => Open::Filter(self.arena.alloc(Call { name, args: &[], span })),
            _ => return,
        };
        self.open(span, Trim::default(), open);
    }

    fn tag_read(&mut self, span: Span, trim: Trim, tag: Tag<'a>) {
        match tag {
            Tag::Emit(expr) => self.body.tag(trim, Some(Node::Emit(expr))),
            Tag::Set(name, value, global) => {
                self.sets = true;
                self.body.tag(trim, Some(Node::Set { name, global, value }));
            }
            Tag::Include(names, ignore_missing) => {
                self.body.tag(trim, Some(Node::Include { names, ignore_missing, span }));
            }
            Tag::If(condition) => self.open(span, trim, Open::If(Vec::new(), Some(*condition))),
            Tag::For(key, value, container) => self.open(span, trim, Open::For(key, value, *container, None)),
            Tag::Filter(filter) => self.open(span, trim, Open::Filter(filter)),
            Tag::Block(name) => self.block_tag(span, trim, name),
            Tag::Macro(name, params) => self.macro_tag(span, trim, Open::Macro(name, params)),
            Tag::Elif(condition) => self.elif(span, trim, *condition),
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
                sets: self.sets,
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
