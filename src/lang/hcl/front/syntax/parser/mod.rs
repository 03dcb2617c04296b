//! The parser: text to a [`Tree`](super::tree::Tree) and diagnostics.
//!
//! The grammar (`grammar/hcl.lalrpop`) reads the symbols that `symbols/` makes of tokens. Where it refuses one, the
//! item is read again, and the error at that symbol is reported and repaired. Sources with and without errors share this
//! one parser. Help tells where a construct that is not closed begins, and what to write in place of what other programs have
//! in templates.

pub(super) mod symbols;

use std::cell::RefCell;
use std::sync::Arc;

use super::build::{Build, Origin};
use super::{BodyId, ExprId, Token, TokenKind, Traversal, Tree, is_identifier, lexer};
use dropforge_base::diagnostics::{Code, Diagnostic, Expansion, Operation, at_most};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::{Source, Span};
use symbols::{Symbol, Symbols};

/// The result of a parse. With errors, it is what could be read.
#[derive(Debug, Clone)]
pub struct Parsed<T> {
    /// The nodes.
    pub tree: Tree,
    /// The root in the tree.
    pub root: T,
    /// The errors in the order of reading. Without any, the tree holds the whole text.
    pub diagnostics: Vec<Box<Diagnostic>>,
}

/// Reads a configuration.
///
/// ```
/// use dropforge::dialect::hcl::syntax::parser::parse_config;
/// use dropforge::{limits::Limits, text::Source};
/// let source = Source::new("main.hcl", "a = 1\nb \"c\" {\n  d = [2, 3]\n}\n");
/// let parsed = parse_config(&source, &Limits::default());
/// assert!(parsed.diagnostics.is_empty());
/// let body = parsed.tree.body(parsed.root).unwrap();
/// assert_eq!((body.attributes.len(), body.blocks.len()), (1, 1));
/// assert_eq!(parsed.tree.str(body.blocks[0].labels[0].text), "c");
/// ```
pub fn parse_config(source: &Arc<Source>, limits: &Limits) -> Parsed<BodyId> {
    parse(source, limits, Symbol::Config, |build, _| {
        build.close_file(build.file);
        BodyId(0)
    })
}

/// Reads an expression that is a text of its own. Line ends mean nothing in it.
///
/// ```
/// use dropforge::dialect::hcl::syntax::{parser::parse_expression, tree::Expr};
/// use dropforge::{limits::Limits, text::Source};
/// let parsed = parse_expression(&Source::new("e", "a.b + 1"), &Limits::default());
/// assert!(matches!(parsed.tree.expr(parsed.root), Expr::Binary { .. }));
/// ```
pub fn parse_expression(source: &Arc<Source>, limits: &Limits) -> Parsed<ExprId> {
    parse(source, limits, Symbol::Expression, expression)
}

/// Reads a template that is a text of its own.
///
/// ```
/// use dropforge::dialect::hcl::syntax::{parser::parse_template, tree::Expr};
/// use dropforge::{limits::Limits, text::Source};
/// let parsed = parse_template(&Source::new("t", "Hello ${name}!"), &Limits::default());
/// let Expr::Template(parts) = parsed.tree.expr(parsed.root) else { panic!() };
/// assert_eq!(parts.len(), 3);
/// ```
pub fn parse_template(source: &Arc<Source>, limits: &Limits) -> Parsed<ExprId> {
    parse(source, limits, Symbol::Template, expression)
}

/// Reads a traversal. The root is `None` if the text does not begin with a name.
///
/// ```
/// use dropforge::dialect::hcl::syntax::parser::parse_traversal;
/// use dropforge::{limits::Limits, text::Source};
/// let parsed = parse_traversal(&Source::new("t", "a.b[0]"), &Limits::default());
/// assert_eq!(parsed.root.unwrap().steps.len(), 2);
/// ```
pub fn parse_traversal(source: &Arc<Source>, limits: &Limits) -> Parsed<Option<Traversal>> {
    parse(source, limits, Symbol::Traversal { splats: false }, |build, _| build.pending.traversal.take())
}

/// Reads a traversal whose steps may also be `[*]`.
pub fn parse_partial_traversal(source: &Arc<Source>, limits: &Limits) -> Parsed<Option<Traversal>> {
    parse(source, limits, Symbol::Traversal { splats: true }, |build, _| build.pending.traversal.take())
}

/// Reads a template that stands at byte `start` of another source, that of `tree`, and adds it to the tree. `text` is
/// its decoded text; places after an escape are off by the length that decoding removed.
pub fn parse_template_at(tree: &mut Tree, text: &str, start: u32, limits: &Limits) -> (ExprId, Vec<Box<Diagnostic>>) {
    parse_at(tree, text, start, limits, Symbol::Template)
}

/// Reads an expression in another source like [`parse_template_at`].
pub(crate) fn parse_expression_at(
    tree: &mut Tree,
    text: &str,
    start: u32,
    limits: &Limits,
) -> (ExprId, Vec<Box<Diagnostic>>) {
    parse_at(tree, text, start, limits, Symbol::Expression)
}

fn parse_at(tree: &mut Tree, text: &str, start: u32, limits: &Limits, kind: Symbol) -> (ExprId, Vec<Box<Diagnostic>>) {
    let source = tree.source().clone();
    let as_written = source.text().get(start as usize..).is_some_and(|rest| rest.starts_with(text));
    let pool = if as_written { None } else { Some(tree.pooled(text).start) };
    Text { source: &source, text, origin: Origin { start, pool }, kind, limits }.parse(tree, expression)
}

/// Parses a whole source. `root` takes the result out of what the actions built; the grammar returns the root of an expression.
fn parse<R>(
    source: &Arc<Source>,
    limits: &Limits,
    kind: Symbol,
    root: impl FnOnce(&mut Build<'_>, Option<ExprId>) -> R,
) -> Parsed<R> {
    let mut tree = Tree::new(source);
    let text = Text { source, text: source.text(), origin: Origin::default(), kind, limits };
    let (root, diagnostics) = text.parse(&mut tree, root);
    Parsed { tree, root, diagnostics }
}

fn expression(build: &mut Build<'_>, root: Option<ExprId>) -> ExprId {
    root.unwrap_or_else(|| build.invalid(build.file))
}

/// A text to parse.
struct Text<'t> {
    source: &'t Arc<Source>,
    text: &'t str,
    origin: Origin,
    kind: Symbol,
    limits: &'t Limits,
}

impl Text<'_> {
    /// The tokens, and the diagnostics of tokens that no source may have.
    fn tokens(&self) -> (Vec<Token>, Vec<Box<Diagnostic>>) {
        if self.text.len() > self.limits.source_bytes {
            let end = Token { kind: TokenKind::End, span: Span::default() };
            let error = Limit::SourceBytes.error(self.limits.source_bytes as u64);
            return (vec![end], vec![error.at(self.source, self.place(Span::default()), "")]);
        }
        let bytes = self.text.as_bytes();
        let tokens = match self.kind {
            Symbol::Template => lexer::lex_template(bytes),
            _ => lexer::lex_config(bytes),
        };
        let placed = tokens.iter().map(|token| Token { span: self.place(token.span), ..*token });
        let diagnostics = lexer::check(self.source, placed, self.limits.diagnostics);
        (tokens, diagnostics)
    }

    fn place(&self, span: Span) -> Span {
        Span::new(span.start + self.origin.start, span.end + self.origin.start)
    }

    /// Runs the grammar, again after each error.
    fn parse<R>(
        &self,
        tree: &mut Tree,
        root: impl FnOnce(&mut Build<'_>, Option<ExprId>) -> R,
    ) -> (R, Vec<Box<Diagnostic>>) {
        let (tokens, found) = self.tokens();
        let reports = Reports::new(self.source, self.origin.start, found, self.limits.diagnostics);
        let mut build = Build::new(tree, self.text, self.origin, &reports, &tokens);
        let mut symbols = Symbols::new(self.text, &tokens, &reports, self.kind, self.limits.nesting);
        let read = loop {
            match grammar::RootParser::new().parse(&mut build, &mut symbols) {
                Ok(read) => break read,
                Err(_) if symbols.too_deep.is_none() && symbols.refuse() => build.forget(),
                Err(error) => {
                    if reports.len() == 0 && symbols.too_deep.is_none() {
                        reports.report(Code::UnexpectedToken, place(&error, build.file), None, "Invalid syntax", "");
                    }
                    break None;
                }
            }
        };
        let root = root(&mut build, read.filter(|_| symbols.too_deep.is_none()));
        let mut diagnostics = at_most(reports.take(), self.limits.diagnostics, 0);
        if let Some((span, allowed)) = symbols.too_deep {
            diagnostics.push(Limit::Nesting.error(allowed).at(self.source, self.place(span), ""));
        }
        diagnostics.iter_mut().for_each(|error| add(self.source, error));
        (root, diagnostics)
    }
}

/// The place that the grammar refuses.
fn place(error: &lalrpop_util::ParseError<u32, Symbol, ()>, file: Span) -> Span {
    use lalrpop_util::ParseError::{ExtraToken, InvalidToken, UnrecognizedEof, UnrecognizedToken, User};
    match *error {
        InvalidToken { location } | UnrecognizedEof { location, .. } => Span::new(location, location),
        UnrecognizedToken { token, .. } | ExtraToken { token } => Span::new(token.0, token.2),
        User { .. } => file,
    }
}

#[allow(missing_docs, clippy::all, clippy::pedantic, clippy::restriction, unused)]
#[rustfmt::skip]
mod grammar {
    include!("../parser.generated");
}

/// Diagnostics in the order of reading, up to a limit.
#[derive(Debug)]
pub(super) struct Reports<'t> {
    source: &'t Arc<Source>,
    /// The offset in the source of the text that is parsed.
    start: u32,
    most: usize,
    found: RefCell<Vec<Box<Diagnostic>>>,
}

impl<'t> Reports<'t> {
    /// Further diagnostics after those in `found`, `most` of them in all.
    pub fn new(source: &'t Arc<Source>, start: u32, found: Vec<Box<Diagnostic>>, most: usize) -> Self {
        Self { source, start, most, found: RefCell::new(found) }
    }

    /// The number of diagnostics.
    pub fn len(&self) -> usize {
        self.found.borrow().len()
    }

    /// Returns `true` if the limit is reached.
    pub fn is_full(&self) -> bool {
        self.len() >= self.most
    }

    /// Removes all but the first `len` diagnostics.
    pub fn truncate(&self, len: usize) {
        self.found.borrow_mut().truncate(len);
    }

    /// Adds a diagnostic, unless the limit is reached.
    pub fn push(&self, diagnostic: Box<Diagnostic>) {
        if !self.is_full() {
            self.found.borrow_mut().push(diagnostic);
        }
    }

    /// Adds a diagnostic about a span of the text.
    pub fn report(&self, code: Code, span: Span, context: Option<Span>, summary: &str, detail: impl Into<String>) {
        let place = |span: Span| Span::new(span.start + self.start, span.end + self.start);
        let mut diagnostic = Diagnostic::new(code, summary).at(self.source, place(span), "").with_detail(detail);
        diagnostic.context = context.map(place);
        self.push(diagnostic);
    }

    /// Moves the diagnostics from `from` on in front of those from `to` on.
    pub(crate) fn bring_forward(&self, from: usize, to: usize) {
        let mut found = self.found.borrow_mut();
        let len = found.len();
        if let Some(moved) = found.get_mut(to..) {
            moved.rotate_right(len.saturating_sub(from));
        }
    }

    /// All diagnostics.
    pub fn take(&self) -> Vec<Box<Diagnostic>> {
        self.found.take()
    }
}

/// Adds the likely fix to a syntax error.
fn add(source: &Source, error: &mut Box<Diagnostic>) {
    let Some(label) = error.labels.first_mut().filter(|_| error.help.is_none()) else { return };
    if let Some(found) = Expansion::before(source, label.span.start) {
        // A `#` begins a comment, so that the error is where the comment ends.
        if found.span.end <= label.span.start {
            label.span = Span::new(found.span.start + 2, found.span.end - 1);
            error.context = None;
        }
        error.help = Some(format!("`{}` is an expansion of a shell; {}", source.slice(found.span), instead(&found)));
    } else if let Some(word) = directive(source, label.span) {
        error.help = Some(format!("to write `%{{{word}` itself, use `%%{{{word}`"));
    } else {
        let at = label.span.start;
        error.help = fix(source, &error.message, at);
    }
}

/// Returns the fix of an error with this summary at a place.
fn fix(source: &Source, summary: &str, at: u32) -> Option<String> {
    let (before, behind) = source.text().split_at_checked(at as usize)?;
    let opened = |what: &str, start: usize, close: &str| {
        let position = source.position(u32::try_from(start).unwrap_or(at));
        format!("close the {what} of line {}, column {} with `{close}`", position.line, position.column)
    };
    match summary {
        "Extra characters after interpolation expression" => {
            let start =
                before.rfind("${").filter(|start| before.get(*start..).is_some_and(|rest| rest.contains('\n')))?;
            Some(opened("interpolation", start, "}"))
        }
        "Unclosed template interpolation sequence" => Some(opened("interpolation", before.len(), "}")),
        "Invalid multi-line string" | "Unterminated template string" => {
            Some(opened("string", before.trim_end_matches('\n').rfind('"')?, "\""))
        }
        "Unclosed configuration block" => Some(opened("block", before.len(), "}")),
        "Unexpected end of template" => {
            let (start, name) = open_directive(before)?;
            Some(opened(&format!("`{name}`"), start, &format!("%{{ end{name} }}")))
        }
        "Unexpected endif directive" | "Unexpected else directive" => {
            Some("`%{ if … }` has to stand before it".to_owned())
        }
        "Unexpected endfor directive" => Some("`%{ for … in … }` has to stand before it".to_owned()),
        "Argument or block definition required" => {
            let name = behind.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).next()?;
            let is_colon = behind.get(name.len()..)?.trim_start_matches(' ').starts_with(':');
            (is_colon && !name.is_empty()).then(|| format!("write `{name} = …`"))
        }
        _ => None,
    }
}

/// Returns the last directive `if` or `for` that is not closed.
fn open_directive(text: &str) -> Option<(usize, &str)> {
    let mut open = Vec::new();
    for (at, _) in text.match_indices("%{").filter(|(at, _)| !text.get(..*at).is_some_and(|text| text.ends_with('%'))) {
        let rest = text.get(at + 2..)?.trim_start_matches(['~', ' ']);
        let word = rest.split(|c: char| !c.is_alphanumeric()).next()?;
        match word {
            "if" | "for" => open.push((at, word)),
            "endif" | "endfor" => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

/// Says what to write instead of an expansion.
fn instead(Expansion { name, operation, .. }: &Expansion<'_>) -> String {
    match *operation {
        Operation::Default(value) => format!("write `${{try({name}, {value:?})}}`"),
        Operation::Alternative(value) => format!("write `${{can({name}) ? {value:?} : \"\"}}`"),
        Operation::Required => format!("write `${{{name}}}`: a value that is missing is an error"),
        Operation::Length => format!("write `${{length({name})}}`"),
        Operation::WithoutSuffix(pattern) if is_literal(pattern) => {
            format!("write `${{trimsuffix({name}, {pattern:?})}}`")
        }
        Operation::WithoutPrefix(pattern) if is_literal(pattern) => {
            format!("write `${{trimprefix({name}, {pattern:?})}}`")
        }
        Operation::WithoutSuffix(pattern) => {
            format!("write `${{replace({name}, \"/{}$/\", \"\")}}`", expression_help(pattern))
        }
        Operation::WithoutPrefix(pattern) => {
            format!("write `${{replace({name}, \"/^{}/\", \"\")}}`", expression_help(pattern))
        }
        Operation::Slice(from, count) => format!("write `${{substr({name}, {from}, {})}}`", count.unwrap_or("-1")),
        Operation::Upper => format!("write `${{upper({name})}}`"),
        Operation::Lower => format!("write `${{lower({name})}}`"),
    }
}

fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '['])
}

/// Returns the regular expression of a pattern of a shell, as it is written in a string.
fn expression_help(pattern: &str) -> String {
    let mut out = String::new();
    for c in pattern.chars() {
        match c {
            '*' => out.push_str("[^.]*"),
            '?' => out.push('.'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '[' | ']') => out.push(c),
            '/' => out.push_str("\\/"),
            c => out.extend(['\\', '\\', c]),
        }
    }
    out
}

/// Returns the word of `%{WORD` before or at a place, if it is not one of a directive.
fn directive(source: &Source, at: Span) -> Option<&str> {
    let text = source.text();
    let end = text.get(..at.start as usize)?;
    let start = end.rfind("%{").filter(|start| !end.get(*start..).is_some_and(|rest| rest.contains('}')))?;
    let rest = text.get(start + 2..)?;
    let word = rest.get(..rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '@' | '.'))?)?;
    let is_keyword = matches!(word, "if" | "else" | "endif" | "for" | "endfor");
    (!word.is_empty() && !is_keyword && (is_identifier(word) || word.contains(['@', '.']))).then_some(word)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod help_tests {
    use crate::syntax::{parse_config, parse_template};
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;

    #[test]
    fn syntax_errors_have_their_likely_fix() {
        for (name, text, wanted) in [
            ("t", "a: ${PORT:-8080}", "write `${try(PORT, \"8080\")}`"),
            ("t", "a: ${N:+x}", "write `${can(N) ? \"x\" : \"\"}`"),
            ("t", "n: ${#NAME}\n", "write `${length(NAME)}`"),
            ("t", "n: ${N%.*}", "write `${replace(N, \"/\\\\.[^.]*$/\", \"\")}`"),
            ("t", "n: ${N:0:3}", "write `${substr(N, 0, 3)}`"),
            ("t", "n: ${N^^}", "write `${upper(N)}`"),
            ("t", "%{HOST} %{USER}", "use `%%{HOST`"),
            ("t", "a: ${b\nc: 1\n", "close the interpolation of line 1, column 4 with `}`"),
            ("t", "a\n%{ if b }%{ for c in d }%{ endfor }\n", "close the `if` of line 2, column 1 with `%{ endif }`"),
            ("t", "%{~ for c in d }", "close the `for` of line 1, column 1 with `%{ endfor }`"),
            ("t", "a %{ endif }", "`%{ if … }` has to stand before it"),
            ("t", "${upper(\"x)}\nb", "close the string of line 1, column 9 with `\"`"),
            ("a.hcl", "a {\n  b = 1\n", "close the block of line 1, column 3 with `}`"),
            ("a.hcl", "a: 1\n", "write `a = …`"),
            ("a.hcl", "a = \"b\nc = 1\n", "close the string of line 1, column 5 with `\"`"),
        ] {
            let (source, limits) = (Source::new(name, text), Limits::default());
            let diagnostics = match name {
                "t" => parse_template(&source, &limits).diagnostics,
                _ => parse_config(&source, &limits).diagnostics,
            };
            let help = diagnostics.first().and_then(|error| error.help.as_deref()).unwrap_or_default();
            assert!(help.ends_with(wanted), "{text}: {help}");
        }
        let source = Source::new("t", "n: ${#NAME}\n");
        let error = parse_template(&source, &Limits::default()).diagnostics.remove(0);
        assert_eq!(error.position().unwrap().column, 6);
    }
}
