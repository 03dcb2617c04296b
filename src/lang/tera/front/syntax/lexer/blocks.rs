//! The names of tags, and open blocks: the pairing of opening and closing tags, and the tags that only some blocks may
//! hold.
//!
//! The grammar nests blocks and relies on balanced ones. An unmatched closing tag is dropped here, a missing one is
//! added, and both are reported.

use hashbrown::HashMap;

use super::bytes::{Body, Trim};
use super::tag::Lexed;
use super::{Spanned, Token, push};
use crate::front::hints;
use crate::syntax::SyntaxError;
use dropforge_base::diagnostics::{Code, nearest};
use dropforge_base::text::Span;

/// An open block.
#[derive(Debug)]
struct OpenBlock {
    kind: BlockKind,
    /// The opening tag.
    span: Span,
    /// The body around the block.
    around: Body,
    /// The body before the first `else`.
    before_else: Option<Body>,
}

/// The tokens of a source so far, and the open blocks.
#[derive(Debug)]
pub(super) struct Blocks<'s> {
    pub tokens: Vec<Spanned<'s>>,
    pub errors: Vec<Box<SyntaxError>>,
    open: Vec<OpenBlock>,
    /// The names of blocks and macros.
    defined: HashMap<(BlockKind, &'s str), Span>,
    /// The innermost body.
    body: Body,
    /// Maximum number of open blocks.
    limit: usize,
}

impl<'s> Blocks<'s> {
    /// Creates an empty list with room for `tokens` tokens and at most `limit` open blocks.
    pub fn new(tokens: usize, limit: usize) -> Self {
        let (tokens, errors, open) = (Vec::with_capacity(tokens), Vec::new(), Vec::new());
        Self { tokens, errors, open, defined: HashMap::new(), body: Body::START, limit }
    }

    /// Returns the number of open blocks.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns `true` if the innermost block, conditions aside, is one of `kind`.
    pub fn inside(&self, kind: BlockKind) -> bool {
        self.open.iter().rev().map(|block| block.kind).find(|kind| *kind != BlockKind::If) == Some(kind)
    }

    /// Adds the text between two tags.
    pub fn text(&mut self, text: &'s str, start: usize) {
        self.body.text(text, start, &mut self.tokens);
    }

    /// Adds a raw block. `outer` and `inner` are its markers.
    pub fn raw(&mut self, [outer, inner]: [Trim; 2], text: &'s str, start: usize) {
        self.begin_tag(outer.left);
        self.body.raw(inner, text, start, &mut self.tokens);
        self.end_tag(outer.right);
    }

    /// Adds `{{ super() }}`.
    pub(crate) fn super_tag(&mut self, range: std::ops::Range<usize>) {
        self.body.super_tag();
        push(&mut self.tokens, range, Token::Super);
    }

    /// Passes a comment or a tag that is not part of a block.
    pub fn whole(&mut self, trim: Trim) {
        self.begin_tag(trim.left);
        self.end_tag(trim.right);
    }

    fn begin_tag(&mut self, left: bool) {
        self.body.begin_tag(left, &mut self.tokens);
    }

    /// Sets the right marker of the tag before.
    pub(crate) fn end_tag(&mut self, right: bool) {
        self.body.end_tag(right);
    }

    /// Passes a tag. Its tokens come next, except those of a closing tag, which is added here.
    ///
    /// # Errors
    /// The tag is not allowed here, so its tokens must not come.
    pub fn tag(&mut self, tag: Tag, span: Span, trim: Trim) -> Lexed<()> {
        match tag {
            Tag::Open(kind) => return self.open(kind, span, trim),
            Tag::Close(kind) => return self.close(kind, span, trim),
            Tag::Content(Token::Elif) => return self.elif(span, trim),
            Tag::Bare(Token::Else) => return self.otherwise(span, trim),
            Tag::Bare(_) if !self.inside(BlockKind::For) => {
                let tag = if matches!(tag, Tag::Bare(Token::Break)) { "break" } else { "continue" };
                let message = format!("`{tag}` stands only in a loop");
                return Err(SyntaxError::misplaced(span, message, "a filter section inside a loop is not the loop"));
            }
            Tag::Bare(_) | Tag::Content(_) | Tag::Raw => self.whole(trim),
        }
        Ok(())
    }

    fn open(&mut self, kind: BlockKind, span: Span, trim: Trim) -> Lexed<()> {
        if self.depth() >= self.limit {
            return Err(SyntaxError::too_deep(span));
        }
        match (kind, self.open.last()) {
            (BlockKind::Block, Some(_)) => self.block_inside(span),
            (BlockKind::Macro, Some(outer)) => {
                let error = SyntaxError::misplaced(span, "a macro stands at the top level of a file", "move it there");
                let related = format!("it is inside this `{}`", outer.kind.name());
                self.errors.push(error.related(outer.span, related));
            }
            _ => {}
        }
        self.begin_tag(trim.left);
        let inner = self.body.inner(trim.right);
        let around = std::mem::replace(&mut self.body, inner);
        self.open.push(OpenBlock { kind, span, around, before_else: None });
        Ok(())
    }

    fn block_inside(&mut self, span: Span) {
        for (kind, place) in [(BlockKind::For, "loop"), (BlockKind::Macro, "macro")] {
            if self.inside(kind) {
                let message = format!("a block cannot stand inside a {place}");
                self.errors.push(SyntaxError::misplaced(span, message, format!("put the {place} inside the block")));
            }
        }
    }

    /// Reports the block or macro that a tag opens if its name is taken. A block inside another kind of block takes no
    /// part in inheritance and reserves no name.
    pub fn define(&mut self, kind: BlockKind, tag: &[Spanned<'s>]) {
        let Some(&(start, Token::Name(name), end)) = tag.get(1) else { return };
        if kind == BlockKind::Block && self.open.iter().any(|block| block.kind != kind) {
            return;
        }
        let span = Span::new(start, end);
        let first = *self.defined.entry((kind, name)).or_insert(span);
        if first != span {
            let message = format!("the {} `{name}` is defined twice", kind.name());
            let error = SyntaxError::new(Code::DuplicateDefinition, span, message, "rename one of them");
            self.errors.push(error.related(first, "the first is here"));
        }
    }

    fn elif(&mut self, span: Span, trim: Trim) -> Lexed<()> {
        match self.open.last() {
            Some(OpenBlock { kind: BlockKind::If, before_else: None, .. }) => {
                self.next_body(trim);
                Ok(())
            }
            Some(OpenBlock { kind: BlockKind::If, .. }) => {
                Err(SyntaxError::misplaced(span, "`elif` cannot follow `else`", "put `else` last"))
            }
            _ => Err(self.misplaced(span, "elif", BlockKind::If)),
        }
    }

    /// Begins the next body of the innermost block.
    fn next_body(&mut self, trim: Trim) {
        self.begin_tag(trim.left);
        self.body = self.body.inner(trim.right);
    }

    fn otherwise(&mut self, span: Span, trim: Trim) -> Lexed<()> {
        let body = self.body;
        match self.open.last_mut() {
            Some(OpenBlock { kind: BlockKind::If, before_else: Some(_), .. }) => {
                return Err(SyntaxError::misplaced(span, "this `if` already has an `else`", "remove one of them"));
            }
            Some(OpenBlock { kind: BlockKind::If, before_else, .. }) => {
                *before_else = Some(body);
                self.next_body(trim);
            }
            // No marker has an effect here or later in the loop.
            Some(OpenBlock { kind: BlockKind::For, before_else, .. }) => {
                before_else.get_or_insert(body);
                self.body = Body::UNTRIMMED;
            }
            _ => return Err(self.misplaced(span, "else", BlockKind::If)),
        }
        Ok(())
    }

    fn misplaced(&self, span: Span, tag: &str, wanted: BlockKind) -> Box<SyntaxError> {
        let Some(block) = self.open.last() else {
            let wanted = wanted.name();
            let help = format!("remove it, or add the `{{% {wanted} … %}}`");
            return SyntaxError::misplaced(span, format!("there is no `{{% {wanted} %}}` before this `{tag}`"), help);
        };
        let inner = block.kind.name();
        let message = format!("`{tag}` stands inside a `{inner}` that is not closed");
        SyntaxError::misplaced(span, message, format!("add `{{% end{inner} %}}` before it"))
            .related(block.span, format!("this `{inner}` is open"))
    }

    /// Closes the innermost block of a kind, and the unclosed blocks inside it.
    fn close(&mut self, kind: BlockKind, span: Span, trim: Trim) -> Lexed<()> {
        let name = kind.name();
        let Some(at) = self.open.iter().rposition(|block| block.kind == kind) else {
            return Err(self.misplaced(span, &format!("end{name}"), kind));
        };
        for unclosed in self.open.iter().skip(at + 1).rev() {
            let inner = unclosed.kind.name();
            let message = format!("`{{% end{inner} %}}` is missing before this `end{name}`");
            let error = SyntaxError::misplaced(span, message, format!("add `{{% end{inner} %}}`"));
            self.errors.push(error.related(unclosed.span, format!("this `{inner}` is not closed")));
        }
        self.close_to(at, span, trim);
        Ok(())
    }

    /// Closes blocks until `depth` are open.
    fn close_to(&mut self, depth: usize, span: Span, trim: Trim) {
        for block in self.open.drain(depth..).rev() {
            let mut last = match (block.kind, block.before_else) {
                // The marker of the closing tag trims the text before the `else`.
                (BlockKind::For, Some(body)) => body,
                _ => self.body,
            };
            last.begin_tag(trim.left, &mut self.tokens);
            self.body = block.around;
            self.body.end_tag(trim.right);
            self.tokens.push((span.start, block.kind.end(), span.end));
        }
    }

    /// Closes all blocks at the end of a source. Reports them if the whole source was read, but not that of a last tag that is
    /// cut: it is no second mistake.
    pub(crate) fn close_all(&mut self, end: usize, is_whole: bool, is_cut: bool) {
        let span = Span::of(end..end);
        let is_mistake = |block: &&OpenBlock| is_whole && !(is_cut && block.span.range().end == end);
        for block in self.open.iter().rev().filter(is_mistake) {
            let tag = block.kind.name();
            let message = format!("`{{% {tag} %}}` is not closed");
            let error = SyntaxError::unterminated(block.span, message, format!("add `{{% end{tag} %}}`"));
            self.errors.push(error.related(span, "the file ends here"));
        }
        self.close_to(0, span, Trim::default());
    }
}

/// A kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BlockKind {
    If,
    For,
    Filter,
    Block,
    Macro,
}

impl BlockKind {
    /// Returns the name of the opening tag, and the tokens of the opening and the closing tag.
    fn tags(self) -> (&'static str, Token<'static>, Token<'static>) {
        match self {
            BlockKind::If => ("if", Token::If, Token::EndIf),
            BlockKind::For => ("for", Token::For, Token::EndFor),
            BlockKind::Filter => ("filter", Token::Filter, Token::EndFilter),
            BlockKind::Block => ("block", Token::Block, Token::EndBlock),
            BlockKind::Macro => ("macro", Token::Macro, Token::EndMacro),
        }
    }

    /// Returns the name of the opening tag.
    pub fn name(self) -> &'static str {
        self.tags().0
    }

    /// Returns the token of the closing tag.
    pub fn end(self) -> Token<'static> {
        self.tags().2
    }
}

/// A kind of tag.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tag {
    /// A tag with content that opens a block.
    Open(BlockKind),
    /// Another tag with content.
    Content(Token<'static>),
    /// A tag that is only a name.
    Bare(Token<'static>),
    /// A tag that closes a block.
    Close(BlockKind),
    /// `raw`
    Raw,
}

/// The names of tags.
const NAMES: &str = "if, elif, else, endif, for, endfor, break, continue, set, set_global, filter, endfilter, block, \
                     endblock, macro, endmacro, include, extends, import, raw";

impl Tag {
    /// Returns the tag called `name`. A name may directly follow `endblock` and `endmacro`.
    pub fn named(name: &str) -> Option<Self> {
        let glued = |end| name.strip_prefix(end).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        Some(match name {
            "if" => Tag::Open(BlockKind::If),
            "elif" => Tag::Content(Token::Elif),
            "else" => Tag::Bare(Token::Else),
            "endif" => Tag::Close(BlockKind::If),
            "for" => Tag::Open(BlockKind::For),
            "endfor" => Tag::Close(BlockKind::For),
            "break" => Tag::Bare(Token::Break),
            "continue" => Tag::Bare(Token::Continue),
            "set" => Tag::Content(Token::Set),
            "set_global" => Tag::Content(Token::SetGlobal),
            "filter" => Tag::Open(BlockKind::Filter),
            "endfilter" => Tag::Close(BlockKind::Filter),
            "block" => Tag::Open(BlockKind::Block),
            "macro" => Tag::Open(BlockKind::Macro),
            "include" => Tag::Content(Token::Include),
            "extends" => Tag::Content(Token::Extends),
            "import" => Tag::Content(Token::Import),
            "raw" => Tag::Raw,
            _ if glued("endblock") => Tag::Close(BlockKind::Block),
            _ if glued("endmacro") => Tag::Close(BlockKind::Macro),
            _ => return None,
        })
    }

    /// Returns the token of a tag with content.
    pub fn content(self) -> Option<Token<'static>> {
        match self {
            Tag::Open(kind) => Some(kind.tags().1),
            Tag::Content(head) => Some(head),
            Tag::Bare(_) | Tag::Close(_) | Tag::Raw => None,
        }
    }
}

/// Returns the error of an unknown tag at `span`.
pub(super) fn unknown_tag(span: Span, name: &str) -> Box<SyntaxError> {
    if name.is_empty() {
        return SyntaxError::unexpected(span, "a tag needs a name", "write `{{ … }}` to print a value");
    }
    if let Some(hint) = hints::statement(name) {
        return SyntaxError::unexpected(span, format!("there is no tag `{name}`"), hint);
    }
    let help = match nearest(name, NAMES.split(", ").chain(["endraw"])) {
        _ if name == "endraw" => "there is no `{% raw %}` before it".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the tags are {NAMES}"),
    };
    SyntaxError::unexpected(span, format!("there is no tag `{name}`"), help)
}
