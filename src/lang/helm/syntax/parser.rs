//! Parses one file to the templates that it defines, or to every error in it.

use std::sync::Arc;

use bumpalo::Bump;
use lalrpop_util::ParseError;

use super::action::{Build, Mistake, quoted, unexpected};
use super::blocks::{BlockKind, Blocks, END_OF_FILE};
use super::lexer::{Delimiters, Lexer, Piece, UNCLOSED_ACTION, UNCLOSED_PAREN};
use super::token::{Spanned, Token, Tokens};
use super::tree::{Action, Name, Template};
use super::{KnownAction, KnownActions, Symbol};
use crate::error::{GO_MESSAGE, error};
use crate::hints;
use dropforge_base::diagnostics::{Code, Diagnostic, at_most};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span, unclosed_tag};

/// Returns `true` for the name of a function.
pub type Names<'n> = dyn Fn(&str) -> bool + 'n;

/// Parses one file to trees in `arena`: the templates that it defines, with itself as the last. If there are errors, returns
/// every error of the file (at most [`Limits::diagnostics`]), in order of position.
///
/// # Errors
/// All errors of the file.
///
/// ```
/// use dropforge::{dialect::helm, limits::Limits, text::Source};
/// let arena = bumpalo::Bump::new();
/// let source = Source::new("t", "{{if .a}}\n{{.b ,}}\n{{end}}{{end}}{{x}}");
/// let errors = helm::syntax::parse(&arena, &source, Default::default(), &|_| false, &Limits::default()).unwrap_err();
/// let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
/// assert_eq!(messages, ["unexpected \",\" in operand", "unexpected {{end}}", "function \"x\" not defined"]);
/// ```
pub fn parse<'a>(
    arena: &'a Bump,
    source: &'a Arc<Source>,
    delimiters: Delimiters<'_>,
    functions: &Names<'_>,
    limits: &Limits,
) -> Result<Vec<Template<'a>>, Vec<Box<Diagnostic>>> {
    parse_next(arena, source, delimiters, functions, limits, &mut KnownActions::default())
}

/// Parses one file of several, like [`parse`]. All have the same delimiters and functions.
///
/// # Errors
/// All errors of the file.
pub(crate) fn parse_next<'a>(
    arena: &'a Bump,
    source: &'a Arc<Source>,
    delimiters: Delimiters<'_>,
    functions: &Names<'_>,
    limits: &Limits,
    known: &mut KnownActions<'a>,
) -> Result<Vec<Template<'a>>, Vec<Box<Diagnostic>>> {
    limits.check_size(source).map_err(|error| vec![error])?;
    let text = source.text();
    let mut work = known.work.take().unwrap_or_else(|| Work::new(arena));
    work.blocks.restart();
    let (mistakes, opened) = (Vec::new(), Vec::new());
    let mut parser = Parser { source, delimiters, mistakes, opened, functions, known, base: 0, work };
    let mut lexer = Lexer::new(arena, text, delimiters);
    // Lowering has a limit of its own.
    let parentheses = limits.nesting_of(usize::MAX);
    while let Some(piece) = lexer.piece() {
        match piece {
            Piece::Text(text, span) => parser.work.blocks.text(text, span),
            Piece::Action(start) => parser.read(&mut lexer, start),
            Piece::Mistake(mistake) => parser.mistakes.push(mistake),
        }
        let (place, allowed) =
            match (parser.work.blocks.depth() > limits.nesting, parser.work.tokens.deepest > parentheses) {
                (_, true) => (parser.base, parentheses),
                (true, _) => (u32::try_from(text.len()).unwrap_or(u32::MAX), limits.nesting),
                _ => continue,
            };
        return Err(vec![Limit::Nesting.error(allowed as u64).at(source, Span::new(place, place), "")]);
    }
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    parser.work.blocks.finish(source.name(), end);
    parser.result(source, limits)
}

struct Parser<'a, 'n> {
    source: &'a Arc<Source>,
    delimiters: Delimiters<'n>,
    mistakes: Vec<Mistake>,
    /// The places of what is not closed, by the offsets of the mistakes.
    opened: Vec<(u32, Span)>,
    functions: &'n Names<'n>,
    known: &'n mut KnownActions<'a>,
    /// The offset of the current action after its opening delimiter.
    base: u32,
    work: Work<'a>,
}

/// What the files of one name space use one after another, so that its memory is kept.
#[derive(Debug)]
pub(super) struct Work<'a> {
    build: Build<'a>,
    blocks: Blocks<'a>,
    /// The variables of the current action that are not its own, and its own.
    used: Vec<&'a str>,
    declared: Vec<&'a str>,
    /// The literal names of the templates that the current action may include.
    includes: Vec<&'a str>,
    /// The tokens of the current action.
    tokens: Tokens<'a>,
    /// The symbols of the current action.
    symbols: Vec<Symbol<'a>>,
}

impl<'a> Work<'a> {
    fn new(arena: &'a Bump) -> Self {
        Self {
            build: Build::new(arena),
            blocks: Blocks::new(arena),
            used: Vec::new(),
            declared: Vec::new(),
            includes: Vec::new(),
            tokens: Tokens::default(),
            symbols: Vec::new(),
        }
    }
}

impl<'a> Parser<'a, '_> {
    /// Reads the action that opened at `start` and adds it to the blocks.
    fn read(&mut self, lexer: &mut Lexer<'a, '_>, start: usize) {
        let (ahead, behind) = (lexer.ahead().unwrap_or(""), lexer.at());
        self.base = Span::of(behind..behind).start;
        if let Some(one) = self.known.actions.get(ahead).copied().filter(|one| self.sees(one.used)) {
            lexer.skip(ahead.len(), one.trims);
            return self.repeat(one, Span::of(start..lexer.at()));
        }
        let mut tokens = std::mem::take(&mut self.work.tokens);
        self.work.build.text = self.source.text().get(behind..).unwrap_or("");
        lexer.action(&mut tokens);
        let (span, mistakes) = (Span::of(start..lexer.at()), self.mistakes.len());
        if let Some(mistake) = tokens.mistakes.last() {
            let open = Span::of(start..start + self.delimiters.left.len());
            let open = if mistake.message == UNCLOSED_PAREN { unclosed_paren(&tokens.tokens) } else { Some(open) };
            self.opened.extend(open.map(|open| (mistake.span.start, open)));
        }
        let place = started(self.source, span, &tokens.tokens);
        self.mistakes.extend(tokens.mistakes.drain(..).map(place));
        let action = self.action(&tokens.tokens, span);
        self.work.tokens = tokens;
        let (end, trims) = lexer.closed();
        // An action with the delimiter in a string ends elsewhere.
        if let Some((action, at)) = action.filter(|_| self.mistakes.len() == mistakes && end == behind + ahead.len()) {
            let arena = self.work.build.arena;
            let kept = |names: &[&'a str]| if names.is_empty() { &[][..] } else { &*arena.alloc_slice_copy(names) };
            let (used, declared, includes) =
                (kept(&self.work.used), kept(&self.work.declared), kept(&self.work.includes));
            self.known.keep(arena, ahead, KnownAction { action, at, trims, used, declared, includes });
        }
    }

    /// Returns `true` if the variables are in scope.
    fn sees(&self, variables: &[&str]) -> bool {
        variables.iter().all(|name| self.work.blocks.sees(name))
    }

    /// Adds an action that was parsed before to the blocks.
    fn repeat(&mut self, one: &KnownAction<'a>, span: Span) {
        let known = self.work.blocks.variables.len();
        one.declared.iter().for_each(|name| self.work.blocks.variables.push(name, ()));
        let at = one.at.map_or(span, |at| at.moved(self.base));
        self.work.blocks.action((one.action, self.base), one.includes, at, known);
    }

    /// Returns the templates, or the errors in order of position.
    fn result(mut self, source: &Arc<Source>, limits: &Limits) -> Result<Vec<Template<'a>>, Vec<Box<Diagnostic>>> {
        self.mistakes.append(&mut self.work.blocks.mistakes);
        if self.mistakes.is_empty() {
            let templates = std::mem::take(&mut self.work.blocks.templates);
            self.known.work = Some(self.work);
            return Ok(templates);
        }
        self.mistakes.small_sort_by_key(|mistake| mistake.span);
        let more = self.mistakes.len().saturating_sub(limits.diagnostics.max(1));
        self.mistakes.truncate(limits.diagnostics.max(1));
        let (block, opened) = (self.work.blocks.innermost(), self.opened);
        let mut unclosed = None;
        let diagnose = |mistake: Mistake| {
            let at = mistake.span.start as usize;
            if let (END_OF_FILE, Some((kind, open))) = (mistake.message.as_str(), block) {
                return Some(not_closed(source, &format!("{{{{ {} }}}}", kind.word()), open, mistake));
            }
            let what = match &mistake.message {
                message if message.starts_with(UNCLOSED_PAREN) => Some("("),
                message if message.starts_with(UNCLOSED_ACTION) => Some("{{"),
                _ => None,
            };
            let found = opened.binary_search_by_key(&mistake.span.start, |(at, _)| *at);
            if let (Some(what), Some((_, open))) = (what, found.ok().and_then(|found| opened.get(found))) {
                return Some(not_closed(source, what, *open, mistake));
            }
            if let Some((open, mark)) = unclosed_tag(source.text(), at, &[("{{", "}}")]) {
                // What follows in the action is no mistake of its own.
                let is_new = unclosed.replace(open) != Some(open);
                return is_new.then(|| not_closed(source, mark, Span::of(open..open + mark.len()), mistake));
            }
            Some(diagnosed(source, mistake))
        };
        Err(at_most(self.mistakes.into_iter().filter_map(diagnose).collect(), limits.diagnostics, more))
    }

    /// Parses the tokens of one action and adds it to the blocks. Returns it with its own place for errors, if it has one,
    /// unless there is an error.
    fn action(&mut self, tokens: &[Spanned<'a>], span: Span) -> Option<(&'a Action<'a>, Option<Span>)> {
        let known = self.work.blocks.variables.len();
        self.check_names(tokens);
        if let [(Token::Define, at), ..] = tokens
            && self.work.blocks.is_inside()
        {
            self.mistakes.push(Mistake { span: *at, message: "unexpected <define> in command".into() });
            self.work.blocks.broken(Some(BlockKind::Define), span, known);
            return None;
        }
        let broken = tokens.last().is_some_and(|(token, _)| matches!(token, Token::Broken));
        match self.parse(tokens, span) {
            Ok(action) => {
                let action: &'a Action<'a> = self.work.build.arena.alloc(action);
                let at = own_place(action, tokens);
                self.work.blocks.action((action, self.base), &self.work.includes, at.unwrap_or(span), known);
                Some((action, at.map(|at| at.relative(self.base))))
            }
            Err(mistake) => {
                // The error of a broken token is known.
                let is_known = broken && tokens.last().is_some_and(|(_, last)| last.start == mistake.span.start);
                self.mistakes.extend((!is_known).then_some(mistake));
                self.work.blocks.broken(opening(tokens), span, known);
                None
            }
        }
    }

    fn parse(&mut self, tokens: &[Spanned<'a>], span: Span) -> Result<Action<'a>, Mistake> {
        let (delimiters, base) = (self.delimiters, self.base);
        let arena = self.work.build.arena;
        self.work.symbols.clear();
        add_symbols(&mut self.work.symbols, arena, tokens, self.base);
        let build = &mut self.work.build;
        let parsed = self.known.shapes.get(arena, &self.work.symbols, |symbols| {
            build.restart();
            grammar::ActionParser::new().parse(build, symbols).ok()
        });
        if let Some(action) = parsed {
            return Ok(action);
        }
        self.work.build.restart();
        let parsed = grammar::ActionParser::new().parse(&mut self.work.build, self.work.symbols.iter().copied());
        let width = u32::try_from(delimiters.right.len()).unwrap_or(0);
        let end = Span::new(span.end.saturating_sub(width).max(span.start), span.end);
        parsed.map_err(|error| {
            let place = match error {
                // What is missing is missing at the end.
                ParseError::User { error } if error.span.start == error.span.end => {
                    return Mistake { span: end, ..error };
                }
                ParseError::User { error } => return Mistake { span: error.span.moved(base), ..error },
                ParseError::UnrecognizedToken { token: (start, ..), .. }
                | ParseError::ExtraToken { token: (start, ..) } => {
                    tokens.iter().position(|(_, at)| at.start >= base.saturating_add(start))
                }
                ParseError::UnrecognizedEof { .. } | ParseError::InvalidToken { .. } => None,
            };
            // White space is classified by what follows it.
            let place =
                place.map(|at| at + usize::from(tokens.get(at).is_some_and(|(token, _)| *token == Token::Space)));
            let (at, found) = match place.and_then(|at| Some((at, tokens.get(at)?))) {
                Some((at, (_, found))) => (at, Some(*found)),
                None => (tokens.len(), None),
            };
            let text = found.and_then(|found| self.source.text().get(found.range()));
            let message = unexpected(tokens, at, text, delimiters.right);
            Mistake { span: found.unwrap_or(end), message }
        })
    }

    /// Checks that functions and variables exist, and adds the variables that the action declares.
    fn check_names(&mut self, tokens: &[Spanned<'a>]) {
        let mut begins = true;
        self.work.used.clear();
        self.work.declared.clear();
        self.work.includes.clear();
        for (at, (token, span)) in tokens.iter().enumerate() {
            match token {
                Token::Variable(name) if begins && self.declares(tokens, at) => {
                    self.work.blocks.variables.push(name, ());
                    self.work.declared.push(*name);
                    continue;
                }
                Token::Variable(name) if !self.work.blocks.sees(name) => {
                    self.mistakes
                        .push(Mistake { span: *span, message: format!("undefined variable {}", quoted(name)) });
                }
                Token::Variable(name) if !self.work.declared.contains(name) => self.work.used.push(*name),
                Token::Function(name) if !(self.functions)(name) => {
                    let message = format!("function {} not defined", quoted(name));
                    self.mistakes.push(Mistake { span: *span, message });
                }
                Token::Function("include") => self.work.includes.extend(named(tokens, at + 1)),
                _ => {}
            }
            let named = matches!(token, Token::Str(_)) && matches!(tokens, [(Token::Template | Token::Block, _), ..]);
            begins =
                token.is_clause() || matches!(token, Token::Open) || named && at == 1 || begins && is_quiet(*token);
        }
    }

    /// Returns `true` if the variable `tokens[at]`, at the start of a pipeline, is declared or assigned there.
    fn declares(&self, tokens: &[Spanned<'a>], at: usize) -> bool {
        matches!(tokens.get(at + 1), Some((Token::Declare | Token::Assign | Token::Comma, _)))
    }
}

/// Returns the error of `what` opened at `open` and has no end, where the parser found the `mistake`. Go names that place.
fn not_closed(source: &Arc<Source>, what: &str, open: Span, mistake: Mistake) -> Box<Diagnostic> {
    let help = match what {
        "{{" => "add `}}`",
        "(" => "add the closing `)`",
        _ => "close it with `{{ end }}`",
    };
    let error = Diagnostic::new(Code::Unterminated, format!("`{what}` is not closed")).at(source, open, "");
    let is_known = code(&mistake.message) == Code::Unterminated;
    let label = if is_known { mistake.message.as_str() } else { "read as a part of the action" };
    error.at(source, mistake.span, label).with_help(help).with_field(GO_MESSAGE, mistake.message)
}

/// Returns the place of the innermost parenthesis that is not closed.
fn unclosed_paren(tokens: &[Spanned<'_>]) -> Option<Span> {
    let mut closed = 0_usize;
    tokens.iter().rev().find_map(|(token, span)| match token {
        Token::Close => {
            closed += 1;
            None
        }
        Token::Open if closed == 0 => Some(*span),
        Token::Open => {
            closed -= 1;
            None
        }
        _ => None,
    })
}

/// Returns a mistake as an error.
fn diagnosed(source: &Arc<Source>, mistake: Mistake) -> Box<Diagnostic> {
    let hint = hints::syntax(&mistake.message, source.text(), mistake.span.start as usize);
    let mut error = error(code(&mistake.message), mistake.message).at(source, mistake.span, "");
    error.help = hint.or(error.help);
    error
}

/// Returns a function that adds to the mistake of the broken token, the last one of an action, in which line the action
/// began, if that is another line.
fn started<'s>(source: &'s Source, action: Span, tokens: &[Spanned<'_>]) -> impl Fn(Mistake) -> Mistake + use<'s> {
    let broken = tokens.last().filter(|(token, _)| matches!(token, Token::Broken)).map(|(_, span)| *span);
    move |mistake| {
        let lines = [action, mistake.span].map(|span| source.position(span.start).line);
        if broken != Some(mistake.span) || lines[0] == lines[1] {
            return mistake;
        }
        let action = if mistake.message.ends_with(" action") { "" } else { " in action" };
        let message = format!("{}{action} started at {}:{}", mistake.message, source.name(), lines[0]);
        Mistake { message, ..mistake }
    }
}

/// Adds the symbols of the grammar: the tokens, with fields in a row as one, and places relative to `base`.
fn add_symbols<'a>(symbols: &mut Vec<Symbol<'a>>, arena: &'a Bump, mut tokens: &[Spanned<'a>], base: u32) {
    let name = |(token, span): &Spanned<'a>| {
        let text = if let Token::Field(text) = token { text } else { "" };
        Name { text, span: span.relative(base) }
    };
    while let [(first, at), rest @ ..] = tokens {
        let fields = tokens.iter().take_while(|(token, _)| matches!(token, Token::Field(_))).count();
        let at = at.relative(base);
        let Some((chain, behind)) = tokens.split_at_checked(fields).filter(|_| fields > 0) else {
            symbols.push((at.start, *first, at.end));
            tokens = rest;
            continue;
        };
        let chain: &'a [Name<'a>] = arena.alloc_slice_fill_iter(chain.iter().map(name));
        symbols.push((at.start, Token::Fields(chain), chain.last().map_or(at.end, |last| last.span.end)));
        tokens = behind;
    }
}

/// Returns the string at the start of `tokens[at..]`, after white space.
fn named<'a>(tokens: &[Spanned<'a>], at: usize) -> Option<&'a str> {
    match tokens.get(at..)? {
        [(Token::Space, _), (Token::Str(name), _), ..] => std::str::from_utf8(name).ok(),
        _ => None,
    }
}

/// Returns `true` for tokens that do not end the declarations at the start of a pipeline.
fn is_quiet(token: Token<'_>) -> bool {
    matches!(token, Token::Comma | Token::Space)
}

/// Returns the place of an action for errors about its block, if it is not the whole action: `end`, `else`, and names
/// have their own.
fn own_place(action: &Action<'_>, tokens: &[Spanned<'_>]) -> Option<Span> {
    let own = match action {
        Action::Define(_) | Action::Template(..) | Action::Block(..) => tokens.get(1),
        Action::ElseIf(_) | Action::ElseWith(_) => tokens.get(1),
        Action::End | Action::Else | Action::Break | Action::Continue => tokens.first(),
        _ => None,
    };
    own.map(|(_, at)| *at)
}

/// Returns the block that an action opens, even if it has an error.
fn opening(tokens: &[Spanned<'_>]) -> Option<BlockKind> {
    match tokens.first()?.0 {
        Token::If => Some(BlockKind::If),
        Token::With => Some(BlockKind::With),
        Token::Range => Some(BlockKind::Range),
        Token::Define | Token::Block => Some(BlockKind::Define),
        _ => None,
    }
}

/// Returns the code of a message.
fn code(message: &str) -> Code {
    let starts = |starts: &[&str]| starts.iter().any(|start| message.starts_with(start));
    match message {
        _ if starts(&["function "]) => Code::UnknownFunction,
        _ if starts(&["undefined variable"]) => Code::UndefinedVariable,
        _ if starts(&["unterminated", "unclosed", "unexpected EOF"]) => Code::Unterminated,
        _ if starts(&["integer overflow"]) => Code::NumberOutOfRange,
        _ if starts(&["bad character", "unrecognized character"]) => Code::UnknownCharacter,
        _ if starts(&["template: multiple"]) => Code::DuplicateDefinition,
        _ if starts(&["unexpected {{", "expected end", "{{break", "{{continue"]) => Code::MisplacedTag,
        _ => Code::UnexpectedToken,
    }
}

#[allow(missing_docs, clippy::all, clippy::pedantic, clippy::restriction, unused)]
#[rustfmt::skip]
mod grammar {
    include!("parser.generated");
}
