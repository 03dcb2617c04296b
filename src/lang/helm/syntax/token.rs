//! Tokens of actions.

use super::action::Mistake;
use super::tree::{Name, Number};
use dropforge_base::text::Span;

/// A token of the grammar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// White space between two operands.
    Space,
    /// `.`
    Dot,
    /// `.name`, without the point.
    Field(&'a str),
    /// Fields one after another, as the grammar takes them.
    Fields(&'a [Name<'a>]),
    /// `$name`
    Variable(&'a str),
    /// The name of a function.
    Function(&'a str),
    /// A number or a character.
    Number(&'a Number<'a>),
    /// A string, unquoted.
    Str(&'a [u8]),
    /// `true` or `false`
    Bool(bool),
    /// `nil`
    Nil,
    /// `:=`
    Declare,
    /// `=`
    Assign,
    /// `,`
    Comma,
    /// `|`
    Pipe,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `if`
    If,
    /// `else`
    Else,
    /// `end`
    End,
    /// `with`
    With,
    /// `range`
    Range,
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `define`
    Define,
    /// `template`
    Template,
    /// `block`
    Block,
    /// Another character.
    Other,
    /// A broken token. Its error is kept beside the tokens.
    Broken,
}

/// A token and its place.
pub type Spanned<'a> = (Token<'a>, Span);

impl<'a> Token<'a> {
    /// Returns the token of a word.
    pub fn of_word(word: &'a str) -> Self {
        match word {
            "true" => Token::Bool(true),
            "false" => Token::Bool(false),
            "nil" => Token::Nil,
            "if" => Token::If,
            "else" => Token::Else,
            "end" => Token::End,
            "with" => Token::With,
            "range" => Token::Range,
            "break" => Token::Break,
            "continue" => Token::Continue,
            "define" => Token::Define,
            "template" => Token::Template,
            "block" => Token::Block,
            _ => Token::Function(word),
        }
    }

    /// Returns the number of the kind of the token.
    pub fn kind(self) -> u8 {
        match self {
            Token::Space => 0,
            Token::Dot => 1,
            Token::Field(_) => 2,
            Token::Fields(_) => 3,
            Token::Variable(_) => 4,
            Token::Function(_) => 5,
            Token::Number(_) => 6,
            Token::Str(_) => 7,
            Token::Bool(_) => 8,
            Token::Nil => 9,
            Token::Declare => 10,
            Token::Assign => 11,
            Token::Comma => 12,
            Token::Pipe => 13,
            Token::Open => 14,
            Token::Close => 15,
            Token::If => 16,
            Token::Else => 17,
            Token::End => 18,
            Token::With => 19,
            Token::Range => 20,
            Token::Break => 21,
            Token::Continue => 22,
            Token::Define => 23,
            Token::Template => 24,
            Token::Block => 25,
            Token::Other => 26,
            Token::Broken => 27,
        }
    }

    /// Returns `true` for words that cannot be the name of a function, and for `.` alone.
    pub fn is_keyword(self) -> bool {
        matches!(self, Token::Dot | Token::Nil) || self.is_clause()
    }

    /// Returns `true` for the words that begin an action of their own.
    pub(crate) fn is_clause(self) -> bool {
        matches!(
            self,
            Token::If
                | Token::Else
                | Token::End
                | Token::With
                | Token::Range
                | Token::Break
                | Token::Continue
                | Token::Define
                | Token::Template
                | Token::Block
        )
    }

    /// Returns `true` if an operand may begin with the token.
    pub(crate) fn begins_operand(self) -> bool {
        matches!(
            self,
            Token::Open
                | Token::Dot
                | Token::Field(_)
                | Token::Variable(_)
                | Token::Function(_)
                | Token::Number(_)
                | Token::Str(_)
                | Token::Bool(_)
                | Token::Nil
        )
    }

    /// Returns `true` if an operand may end with the token.
    pub fn ends_operand(self) -> bool {
        matches!(self, Token::Close) || !matches!(self, Token::Open) && self.begins_operand()
    }
}

/// The tokens of an action.
#[derive(Debug, Default)]
pub struct Tokens<'a> {
    /// The tokens.
    pub tokens: Vec<Spanned<'a>>,
    /// The errors in them.
    pub mistakes: Vec<Mistake>,
    /// White space after the last token.
    pub space: Option<Span>,
    /// The number of open parentheses.
    pub depth: usize,
    /// The most parentheses that were open.
    pub deepest: usize,
}

impl<'a> Tokens<'a> {
    /// Begins another action.
    pub fn clear(&mut self) {
        self.tokens.clear();
        self.mistakes.clear();
        (self.space, self.depth, self.deepest) = (None, 0, 0);
    }

    /// Adds a token, and the white space before it where that separates two operands.
    pub fn push(&mut self, token: Token<'a>, span: Span) {
        if let Some(space) = self.space.take()
            && token.begins_operand()
            && self.tokens.last().is_some_and(|(last, _)| last.ends_operand())
        {
            self.tokens.push((Token::Space, space));
        }
        self.tokens.push((token, span));
    }

    /// Ends the tokens with a broken one.
    pub fn broken(&mut self, span: Span, message: String) {
        self.tokens.push((Token::Broken, span));
        self.mistakes.push(Mistake { span, message });
    }
}

// `Raw`, from `grammar/tokens/helm.rs`.
include!("tokens.generated");

/// Moves past the closing quote of a literal. Returns `false` if it has none in its line. A loop, because the generated
/// lexer may use the stack for each character of a pattern.
fn closed(lexer: &mut logos::Lexer<'_, Raw>, quote: u8) -> bool {
    let (rest, mut at) = (lexer.remainder().as_bytes(), 0);
    while let Some(&byte) = rest.get(at) {
        match (byte, rest.get(at + 1)) {
            (b'\\', Some(next)) if *next != b'\n' => at += 2,
            (b'\n' | b'\\', _) => return false,
            _ if byte == quote => {
                lexer.bump(at + 1);
                return true;
            }
            _ => at += 1,
        }
    }
    false
}

/// Moves past the closing backquote.
fn verbatim(lexer: &mut logos::Lexer<'_, Raw>) -> bool {
    let end = memchr::memchr(b'`', lexer.remainder().as_bytes());
    end.map(|end| lexer.bump(end + 1)).is_some()
}
