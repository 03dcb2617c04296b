//! The lexer of expressions, and the values of literals.
//!
//! Logos finds where tokens begin. Loops measure tokens of any length (names, numbers, strings, comments), so that no
//! source can exhaust the stack. The minus sign of a number is part of its token: it is the only minus at a position where
//! an operand is expected.

use logos::{Lexer, Logos};

use super::SyntaxError;
use super::token::{Symbol, Token};
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;

// `Raw`, from `grammar/tokens/cel.rs`.
include!("tokens.generated");

fn run(rest: &str, wanted: impl Fn(u8) -> bool) -> usize {
    rest.bytes().position(|byte| !wanted(byte)).unwrap_or(rest.len())
}

fn space(lex: &mut Lexer<'_, Raw>) {
    lex.bump(run(lex.remainder(), |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0C')));
}

fn comment(lex: &mut Lexer<'_, Raw>) {
    let rest = lex.remainder();
    lex.bump(memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len()));
}

fn name(lex: &mut Lexer<'_, Raw>) -> Symbol {
    lex.bump(run(lex.remainder(), is_name));
    match lex.slice() {
        "true" => Symbol::True,
        "false" => Symbol::False,
        "null" => Symbol::Null,
        "in" => Symbol::In,
        _ => Symbol::Ident,
    }
}

/// Returns `true` for a byte that can continue a name.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Lexes a name in backticks. A backtick without a name is an unknown character.
fn backtick(lex: &mut Lexer<'_, Raw>) -> Symbol {
    let rest = lex.remainder();
    let inside = run(rest, |byte| is_name(byte) || matches!(byte, b'.' | b'-' | b'/' | b' '));
    let closed = rest.as_bytes().get(inside) == Some(&b'`');
    lex.bump(if closed { inside + 1 } else { 0 });
    if inside == 0 || !closed {
        return Symbol::Bad;
    }
    Symbol::Escaped
}

fn digits(rest: &str) -> usize {
    run(rest, |byte| byte.is_ascii_digit())
}

fn behind(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or("")
}

/// Returns the length of the exponent at the beginning of `rest`, 0 if there is none.
fn exponent(rest: &str) -> usize {
    let Some(after) = rest.strip_prefix(['e', 'E']) else { return 0 };
    let unsigned = after.strip_prefix(['+', '-']).unwrap_or(after);
    match digits(unsigned) {
        0 => 0,
        count => rest.len() - unsigned.len() + count,
    }
}

fn start(lex: &Lexer<'_, Raw>) -> u32 {
    Span::of(lex.span()).start
}

fn dot(lex: &mut Lexer<'_, Raw>) -> Symbol {
    let at = start(lex);
    let rest = lex.remainder();
    match digits(rest) {
        0 => Symbol::Dot,
        count => {
            lex.bump(count + exponent(behind(rest, count)));
            Symbol::Double(at)
        }
    }
}

fn number(lex: &mut Lexer<'_, Raw>) -> Symbol {
    let (at, rest) = (start(lex), lex.remainder());
    if lex.slice() == "0" && rest.starts_with('x') {
        let hex = run(behind(rest, 1), |byte| byte.is_ascii_hexdigit());
        if hex > 0 {
            return whole(lex, at, hex + 1);
        }
    }
    let whole_digits = digits(rest);
    let after = behind(rest, whole_digits);
    let fraction = after.strip_prefix('.').map_or(0, digits);
    let fraction = if fraction > 0 { fraction + 1 } else { 0 };
    let tail = fraction + exponent(behind(after, fraction));
    if tail == 0 {
        return whole(lex, at, whole_digits);
    }
    lex.bump(whole_digits + tail);
    Symbol::Double(at)
}

/// Lexes an integer with `length` more digits, and the suffix of an unsigned one.
fn whole(lex: &mut Lexer<'_, Raw>, at: u32, length: usize) -> Symbol {
    lex.bump(length);
    if lex.remainder().starts_with(['u', 'U']) {
        lex.bump(1);
        return Symbol::Uint;
    }
    Symbol::Int(at)
}

/// Lexes a string or bytes literal: [`Symbol::Invalid`] if it is unterminated.
fn quoted(lex: &mut Lexer<'_, Raw>) -> Symbol {
    let prefix = lex.slice();
    let (one, two, three) = if prefix.ends_with('"') { ("\"", "\"\"", "\"\"\"") } else { ("'", "''", "'''") };
    let raw = prefix.contains(['r', 'R']);
    let bytes = prefix.starts_with(['b', 'B']);
    let rest = lex.remainder();
    let (length, closed) = match rest.strip_prefix(two).map(|inside| until(inside, three, raw)) {
        Some((length, true)) => (length + two.len(), true),
        // Without an end, the first two quotes are an empty string, as in the reference.
        _ => until(rest, one, raw),
    };
    lex.bump(length);
    match (closed, bytes) {
        (false, _) => Symbol::Invalid,
        (true, true) => Symbol::Bytes,
        (true, false) => Symbol::String,
    }
}

/// Returns the length of a literal after its opening `quotes`, and `true` if it is closed. One quote closes on its line.
fn until(rest: &str, quotes: &str, raw: bool) -> (usize, bool) {
    let (bytes, one_line) = (rest.as_bytes(), quotes.len() == 1);
    let ends = |byte: u8| one_line && matches!(byte, b'\n' | b'\r');
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            byte if ends(byte) => return (at, false),
            b'\\' if !raw => at += 1 + usize::from(bytes.get(at + 1).is_some_and(|next| !ends(*next))),
            _ if bytes.get(at..at + quotes.len()) == Some(quotes.as_bytes()) => return (at + quotes.len(), true),
            _ => at += 1,
        }
    }
    (rest.len(), false)
}

/// Iterates over the tokens of a text. Signs are tokens of their own; unterminated literals are [`Symbol::Invalid`].
pub struct Tokens<'t>(Lexer<'t, Raw>);

impl<'t> Tokens<'t> {
    /// Starts at the byte offset `from`.
    pub fn new(text: &'t str, from: usize) -> Self {
        let mut lexer = Raw::lexer(text);
        lexer.bump(from);
        Self(lexer)
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let symbol = match self.0.next()? {
                Ok(Raw::Skipped) => continue,
                Ok(Raw::Token(symbol) | Raw::Quoted(symbol)) => symbol,
                Err(()) => Symbol::Bad,
            };
            return Some(Token { symbol, span: Span::of(self.0.span()) });
        }
    }
}

/// The tokens of an expression.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    /// The tokens, up to the first bracket that nests too deep.
    pub tokens: Vec<Token>,
    /// The lexical errors.
    pub errors: Vec<SyntaxError>,
    /// The error of brackets that nest too deep.
    pub too_deep: Option<SyntaxError>,
}

/// Lexes an expression whose brackets nest at most `nesting` levels.
pub(super) fn lex(text: &str, nesting: usize) -> Lexed {
    let mut lexed = Lexed::default();
    let (mut depth, mut signs) = (0_usize, Signs::default());
    for mut token in Tokens::new(text, 0) {
        token.symbol = checked(text, token, &mut lexed.errors);
        if signs.belongs_to(token.symbol)
            && let Some(minus) = lexed.tokens.pop()
        {
            token.span = minus.span.to(token.span);
        }
        signs.see(token.symbol);
        depth = match token.symbol {
            symbol if symbol.closer().is_some() => depth + 1,
            symbol if symbol.closes() => depth.saturating_sub(1),
            _ => depth,
        };
        if depth > nesting {
            lexed.too_deep = Some(SyntaxError::too_deep(token.span, nesting));
            break;
        }
        lexed.tokens.push(token);
    }
    lexed
}

/// The effect of the previous token on a following minus or number.
#[derive(Debug, Default)]
struct Signs {
    /// The token ends an operand.
    operand: bool,
    /// The token is a prefix minus.
    negates: bool,
    /// It is the only prefix minus, so it is the sign of a following number. Two cancel each other out.
    sign: bool,
}

impl Signs {
    fn belongs_to(&self, symbol: Symbol) -> bool {
        self.sign && matches!(symbol, Symbol::Int(_) | Symbol::Double(_))
    }

    fn see(&mut self, symbol: Symbol) {
        let negates = symbol == Symbol::Minus && !self.operand;
        *self = Self { operand: symbol.ends_operand(), negates, sign: negates && !self.negates };
    }
}

/// Returns the macro that calls the internal function whose name goes on with a text after `@`.
fn extreme(rest: &str) -> Option<&'static str> {
    [("max", "greatest"), ("min", "least")].into_iter().find(|(name, _)| rest.starts_with(name)).map(|(_, name)| name)
}

/// Returns the symbol of a token, or the one that was probably meant. Records lexical errors.
fn checked(text: &str, token: Token, errors: &mut Vec<SyntaxError>) -> Symbol {
    let slice = text.get(token.span.range()).unwrap_or("");
    match token.symbol {
        Symbol::Invalid => {
            let quote = Span::of(slice.find(['"', '\'']).unwrap_or(0)..slice.len()).start;
            let span = Span::new(token.span.start + quote, token.span.end);
            errors.push(SyntaxError::new(Code::Unterminated, span, "a string does not end"));
        }
        Symbol::Bad => {
            let message = format!("no token begins with `{}`", slice.escape_debug());
            let error = SyntaxError::new(Code::UnknownCharacter, token.span, message);
            let (meant, symbol) = match slice {
                "=" => ("==", Symbol::Equal),
                "&" => ("&&", Symbol::And),
                "|" => ("||", Symbol::Or),
                _ => {
                    let internal = text.get(token.span.end as usize..).filter(|_| slice == "@").and_then(extreme);
                    errors.push(match internal {
                        Some(name) => error.with_help(format!("did you mean `math.{name}`?")),
                        None => error,
                    });
                    return Symbol::Bad;
                }
            };
            errors.push(error.with_help(format!("did you mean `{meant}`?")));
            return symbol;
        }
        _ => {}
    }
    token.symbol
}

/// Decodes an integer such as `-0x1F`.
pub(super) fn int(negative: bool, digits: &str) -> Option<i64> {
    let size = unsigned(digits)?;
    if negative { 0_i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() }
}

/// Decodes an unsigned integer with its suffix.
pub(super) fn uint(text: &str) -> Option<u64> {
    unsigned(text.strip_suffix(['u', 'U'])?)
}

fn unsigned(digits: &str) -> Option<u64> {
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// Decodes a double. Returns `None` if it is too large.
pub(super) fn double(negative: bool, digits: &str) -> Option<f64> {
    let size: f64 = digits.parse().ok()?;
    size.is_finite().then_some(if negative { -size } else { size })
}

/// An invalid escape, and its position in the literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadEscape {
    /// The offset at which the reference reports it: the last opening quote, or the literal if the escape only has no
    /// meaning.
    pub from: usize,
    /// The offset of the end of the escape.
    pub to: usize,
    /// The error message.
    pub why: &'static str,
}

/// Decodes a string literal.
///
/// # Errors
/// An invalid escape.
pub(super) fn string(literal: &str) -> Result<String, BadEscape> {
    // Without byte escapes, it is UTF-8.
    decode(literal, false).map(|text| String::from_utf8(text).unwrap_or_default())
}

/// Decodes a bytes literal.
///
/// # Errors
/// An invalid escape, or one of a character.
pub(super) fn bytes(literal: &str) -> Result<Vec<u8>, BadEscape> {
    decode(literal, true)
}

fn decode(literal: &str, bytes: bool) -> Result<Vec<u8>, BadEscape> {
    let quotes = literal.find(['"', '\'']).unwrap_or(0);
    let raw = literal.get(..quotes).is_some_and(|prefix| prefix.contains(['r', 'R']));
    let width = if is_triple(literal.get(quotes..).unwrap_or("")) { 3 } else { 1 };
    let from = quotes + width;
    let inside = literal.get(from..literal.len().saturating_sub(width)).unwrap_or("");
    decode_inside(inside, raw, bytes).map_err(|(at, escape)| {
        let Refused { len, why, form } = escape;
        BadEscape { from: if form { from - 1 } else { 0 }, to: from + at + len, why }
    })
}

fn is_triple(quotes: &str) -> bool {
    quotes.len() >= 6 && (quotes.starts_with("\"\"\"") || quotes.starts_with("'''"))
}

/// An escape without a value.
struct Refused {
    len: usize,
    why: &'static str,
    /// Set if it does not have the form of an escape.
    form: bool,
}

/// Decodes the text between the quotes. A carriage return, alone or before a line feed, becomes a line feed. An error has
/// the offset of the escape.
fn decode_inside(inside: &str, raw: bool, bytes: bool) -> Result<Vec<u8>, (usize, Refused)> {
    let (mut decoded, mut at) = (Vec::with_capacity(inside.len()), 0);
    while at < inside.len() {
        let rest = inside.get(at..).unwrap_or("");
        let (plain, special) = rest.split_at(rest.find(['\\', '\r']).unwrap_or(rest.len()));
        decoded.extend_from_slice(plain.as_bytes());
        at += plain.len();
        match special.as_bytes() {
            [] | [b'\r', b'\n', ..] => at += 1,
            [b'\r', ..] => {
                decoded.push(b'\n');
                at += 1;
            }
            _ if raw => {
                decoded.push(b'\\');
                at += 1;
            }
            _ => {
                let (code, used) = escape(special, bytes).map_err(|refused| (at, refused))?;
                match u8::try_from(code) {
                    Ok(byte) if bytes => decoded.push(byte),
                    _ => decoded.extend_from_slice(code.encode_utf8(&mut [0; 4]).as_bytes()),
                }
                at += used;
            }
        }
    }
    Ok(decoded)
}

/// Decodes the escape at the beginning of `text`, and returns its length.
fn escape(text: &str, bytes: bool) -> Result<(char, usize), Refused> {
    const UNKNOWN: &str = "this escape does not exist";
    let Some(kind) = text.chars().nth(1) else { return Err(malformed(1, UNKNOWN)) };
    let short = match kind {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0C',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0B',
        '\\' | '\'' | '"' | '`' | '?' => kind,
        'x' | 'X' => return character(hex(text, 2)?),
        'u' | 'U' => {
            let (char, used) = character(hex(text, if kind == 'u' { 4 } else { 8 })?)?;
            let refused = Err(meaningless(used, "bytes have no `\\u`; write the bytes as `\\xHH`"));
            return if bytes { refused } else { Ok((char, used)) };
        }
        '0'..='3' => return octal(text),
        _ => return Err(malformed(1 + kind.len_utf8(), UNKNOWN)),
    };
    Ok((short, 2))
}

const fn malformed(len: usize, why: &'static str) -> Refused {
    Refused { len, why, form: true }
}

const fn meaningless(len: usize, why: &'static str) -> Refused {
    Refused { len, why, form: false }
}

/// Decodes the `count` hexadecimal digits of an escape, and returns its length.
fn hex(text: &str, count: usize) -> Result<(u32, usize), Refused> {
    let digits = text.get(2..2 + count).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    number.map(|number| (number, 2 + count)).ok_or(malformed(2, "this escape has too few hexadecimal digits"))
}

fn character((code, used): (u32, usize)) -> Result<(char, usize), Refused> {
    char::from_u32(code).map(|char| (char, used)).ok_or(meaningless(used, "there is no character of this number"))
}

fn octal(text: &str) -> Result<(char, usize), Refused> {
    let digits = text.get(1..4).filter(|digits| digits.bytes().all(|byte| matches!(byte, b'0'..=b'7')));
    let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
    byte.map(|byte| (char::from(byte), 4))
        .ok_or(malformed(2, "this escape has three octal digits, the first of them 0 to 3"))
}
