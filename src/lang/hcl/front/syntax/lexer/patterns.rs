//! The logos patterns of each mode. They match bytes, not characters: a source need not be UTF-8 to have tokens.
//!
//! Logos finds the kind of a token. Functions measure the length of tokens without a limit, because the state machine
//! that logos generates needs stack for each step where calls are not optimised away.

use logos::{Lexer, Logos};
use unicode_id_start::{is_id_continue, is_id_start};

use crate::syntax::TokenKind;

/// The state of comments.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Comments {
    /// `true` if no `*/` follows. An unclosed `/*` is two operators, and the next one is not searched for its end.
    no_end: bool,
}

// `Code`, `Quoted` and `Literal`, from `grammar/tokens/hcl.rs`.
include!("tokens.generated");

/// A piece of text outside of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// The start of a sequence: the kind, and the length after its first character.
    Sequence(TokenKind, usize),
    /// Text with a line end.
    Line,
    /// Text before something else.
    Part,
    /// A byte that is not UTF-8.
    BadUtf8,
    /// Text that cannot be read any further: a lone `\r`, or a sign at the end.
    Stuck,
}

/// The sequence or text that begins with `$` or `%`, with the length after that character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
    /// `${`, `${~`, `%{`, `%{~`
    Open(TokenKind, usize),
    /// `$${` or `%%{`, with a `~` that follows.
    Escape(usize),
    /// Itself.
    Character,
    /// Itself, at the end of the source.
    Dangling,
}

fn sequence(rest: &[u8], mark: u8) -> Sequence {
    let trim = |at: usize| at + usize::from(rest.get(at) == Some(&b'~'));
    match rest {
        [] => Sequence::Dangling,
        [b'{', ..] if mark == b'$' => Sequence::Open(TokenKind::OpenInterpolation, trim(1)),
        [b'{', ..] => Sequence::Open(TokenKind::OpenDirective, trim(1)),
        [first, b'{', ..] if *first == mark => Sequence::Escape(trim(2)),
        _ => Sequence::Character,
    }
}

fn quoted_text(lex: &mut Lexer<'_, Quoted>) -> TokenKind {
    let from = lex.source().get(lex.span().start..).unwrap_or(&[]);
    match text_len(from, true) {
        0 if from.first().is_some_and(u8::is_ascii) => TokenKind::Invalid,
        0 => TokenKind::BadUtf8,
        len => {
            lex.bump(len - 1);
            TokenKind::QuotedText
        }
    }
}

fn literal(lex: &mut Lexer<'_, Literal>) -> Piece {
    let from = lex.source().get(lex.span().start..).unwrap_or(&[]);
    let text = text_len(from, false);
    let (kind, len) = match from.get(text..).unwrap_or(&[]) {
        [b'\n', ..] => (Piece::Line, text + 1),
        [b'\r', b'\n', ..] => (Piece::Line, text + 2),
        _ if text > 0 => (Piece::Part, text),
        [b'\r', ..] => (Piece::Stuck, 1),
        _ => (Piece::BadUtf8, 1),
    };
    lex.bump(len - 1);
    kind
}

/// The piece that begins with `$` or `%`.
fn literal_sequence(lex: &mut Lexer<'_, Literal>, mark: u8) -> Piece {
    let rest = lex.remainder();
    let (piece, len) = match sequence(rest, mark) {
        Sequence::Open(kind, len) => return Piece::Sequence(kind, len),
        Sequence::Dangling => return Piece::Stuck,
        Sequence::Escape(len) => match rest.get(len..).unwrap_or(&[]) {
            [b'\n', ..] => (Piece::Line, len + 1),
            [b'\r', b'\n', ..] => (Piece::Line, len + 2),
            _ => (Piece::Part, len),
        },
        // Before a line end the reference scanner takes one byte more: the whole `\n`, or the `\r` of `\r\n`.
        Sequence::Character => match rest.get(1) {
            Some(b'\n') => (Piece::Line, 1),
            Some(b'\r') => (Piece::Part, 1),
            _ => (Piece::Part, 0),
        },
    };
    lex.bump(len);
    piece
}

fn number(lex: &mut Lexer<'_, Code>) -> TokenKind {
    lex.bump(number_len(lex.remainder()));
    TokenKind::Number
}

fn identifier(lex: &mut Lexer<'_, Code>) -> TokenKind {
    loop {
        lex.bump(name_len(lex.remainder()));
        match first_char(lex.remainder()) {
            Some(char) if !char.is_ascii() && is_id_continue(char) && !is_newer(char) => lex.bump(char.len_utf8()),
            _ => return TokenKind::Identifier,
        }
    }
}

/// Returns `true` for joiners and middle dots, which newer versions of Unicode than the reference's allow in identifiers.
fn is_newer(char: char) -> bool {
    matches!(char, '\u{200C}' | '\u{200D}' | '\u{30FB}' | '\u{FF65}')
}

fn wide_start(lex: &mut Lexer<'_, Code>) -> TokenKind {
    if first_char(lex.slice()).is_some_and(is_id_start) { identifier(lex) } else { TokenKind::Invalid }
}

/// Returns the character that `bytes` begin with. `None` if they are not UTF-8.
fn first_char(bytes: &[u8]) -> Option<char> {
    bytes.get(..bytes.len().min(4))?.utf8_chunks().next()?.valid().chars().next()
}

fn line_comment(lex: &mut Lexer<'_, Code>) -> TokenKind {
    let rest = lex.remainder();
    lex.bump(memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1));
    TokenKind::Comment
}

fn slash(lex: &mut Lexer<'_, Code>) -> TokenKind {
    match lex.remainder().first() {
        Some(b'/') => line_comment(lex),
        Some(b'*') if !lex.extras.no_end => block_comment(lex),
        _ => TokenKind::Slash,
    }
}

fn block_comment(lex: &mut Lexer<'_, Code>) -> TokenKind {
    let inside = lex.remainder().get(1..).unwrap_or(&[]);
    match memchr::memmem::find(inside, b"*/") {
        Some(end) => {
            lex.bump(1 + end + 2);
            TokenKind::Comment
        }
        None => {
            lex.extras.no_end = true;
            TokenKind::Slash
        }
    }
}

fn less(lex: &mut Lexer<'_, Code>) -> TokenKind {
    match heredoc_intro(lex.remainder()) {
        Some(len) => {
            lex.bump(len);
            TokenKind::OpenHeredoc
        }
        None => TokenKind::Less,
    }
}

/// The length of `<EOT` and its line end, after a first `<`.
fn heredoc_intro(rest: &[u8]) -> Option<usize> {
    let name = rest.strip_prefix(b"<")?;
    let name = name.strip_prefix(b"-").unwrap_or(name);
    let begins = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || !byte.is_ascii());
    let behind = name.get(if begins { first_identifier(name)? } else { return None }..)?;
    let end = behind.strip_prefix(b"\r").unwrap_or(behind).strip_prefix(b"\n")?;
    Some(rest.len() - end.len())
}

/// The length of the identifier that `text` begins with.
pub(super) fn first_identifier(text: &[u8]) -> Option<usize> {
    let mut lexer = Code::lexer(text);
    let first = lexer.next()?.ok()?;
    (first == Code::Plain(TokenKind::Identifier) && lexer.span().start == 0).then(|| lexer.span().end)
}

/// The length of the literal text that `bytes` begin with: up to `$`, `%` and line ends, inside quotes also to a quote.
fn text_len(bytes: &[u8], quoted: bool) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = |from: usize| bytes.get(from..).unwrap_or(&[]);
        let len = match byte {
            b'$' | b'%' | b'\r' | b'\n' => 0,
            b'"' if quoted => 0,
            b'\\' if quoted => match escaped(rest(at + 1)) {
                0 => 0,
                len => 1 + len,
            },
            0x80.. => wide(rest(at)),
            _ => 1,
        };
        if len == 0 {
            break;
        }
        at += len;
    }
    at
}

/// The length of the character after a backslash. A line end is none.
fn escaped(bytes: &[u8]) -> usize {
    match bytes.first() {
        None | Some(b'\r' | b'\n') => 0,
        Some(byte) if byte.is_ascii() => 1,
        Some(_) => wide(bytes),
    }
}

/// The length of the character beyond ASCII that `bytes` begin with, as the reference reads it: a first byte and
/// as many others as it asks for, whatever their values. Zero where there are fewer.
fn wide(bytes: &[u8]) -> usize {
    let len = match bytes.first() {
        Some(0xC0..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF7) => 4,
        _ => return 0,
    };
    let others = bytes.get(1..len).unwrap_or(&[]);
    if others.len() == len - 1 && others.iter().all(|byte| (0x80..=0xBF).contains(byte)) { len } else { 0 }
}

/// The length of the ASCII characters that an identifier goes on with.
fn name_len(bytes: &[u8]) -> usize {
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    bytes.iter().position(|byte| !goes_on(byte)).unwrap_or(bytes.len())
}

/// The length of a number after its first digit: digits, exponents, and dots before one of those.
fn number_len(bytes: &[u8]) -> usize {
    let mut end = 0;
    loop {
        let rest = bytes.get(end..).unwrap_or(&[]);
        let dots = rest.iter().position(|&byte| byte != b'.').unwrap_or(rest.len());
        end += match rest.get(dots..).unwrap_or(&[]) {
            [digit, ..] if digit.is_ascii_digit() => dots + 1,
            [b'e' | b'E', digit, ..] if digit.is_ascii_digit() => dots + 2,
            [b'e' | b'E', b'+' | b'-', digit, ..] if digit.is_ascii_digit() => dots + 3,
            _ => return end,
        };
    }
}
