//! Repairs after refused tokens: what had to stand there, and where reading continues.
//!
//! All users of the language know these summaries and places from the reference implementation, so they are the same
//! here. An error skips tokens to the end of the innermost construct, then of each construct around it, up to a
//! template or an item; the grammar gets the symbols that complete them.

mod body;
mod expression;

use super::{Symbol, Symbols};
use crate::syntax::build::{MISSING_ATTRIBUTE, MISSING_NAME, MISSING_PAREN};
use crate::syntax::{Token, TokenKind};
use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;

impl Symbols<'_> {
    // Reports

    /// Reports an error in the current operand.
    fn report(&mut self, span: Span, context: Option<Span>, wording: Wording) {
        self.report_as(wording.code, span, context, wording.summary, wording.detail);
    }

    /// Reports an error, unless it may follow from one that was reported before.
    fn report_first(&mut self, span: Span, context: Option<Span>, wording: Wording) {
        if !self.recovery {
            self.report(span, context, wording);
        }
    }

    /// Reports an error in other words.
    fn report_as(&mut self, code: Code, span: Span, context: Option<Span>, summary: &str, detail: impl Into<String>) {
        self.reports.report(code, span, context, summary, detail);
        self.level_mut().wrong_operand = true;
    }

    // Skipping

    /// Skips the next token, whatever it is.
    fn skip(&mut self) -> Token {
        let end = Token { kind: TokenKind::End, span: self.previous };
        let token = self.tokens.get(self.at).copied().unwrap_or(end);
        self.take(token);
        token
    }

    /// Skips tokens up to and with `close`, over pairs of it and its opposite. Returns the place of the last token.
    fn skip_to(&mut self, close: TokenKind) -> Span {
        self.recovery = true;
        let mut open = 0_usize;
        loop {
            let token = self.skip();
            match token.kind {
                TokenKind::End => return token.span,
                kind if kind == close && open == 0 => return token.span,
                kind if kind == close => open -= 1,
                kind if closer(kind) == Some(close) => open += 1,
                _ => {}
            }
        }
    }

    /// Skips tokens up to the next parenthesis, and its contents.
    fn skip_over_parens(&mut self) {
        while !matches!(self.skip().kind, TokenKind::OpenParen | TokenKind::End) {}
        self.skip_to(TokenKind::CloseParen);
    }

    /// Skips tokens up to the end of a line that is outside of all brackets opened on the way. Returns its place.
    fn skip_item(&mut self) -> Span {
        self.recovery = true;
        let mut open: Vec<TokenKind> = Vec::new();
        loop {
            let token = self.skip();
            if token.kind == TokenKind::End || open.is_empty() && self.is_line_end(token) {
                return token.span;
            }
            match closer(token.kind) {
                Some(close) => open.push(close),
                None if is_closer(token.kind) => while open.pop().is_some_and(|top| top != token.kind) {},
                None => {}
            }
        }
    }

    // Symbols

    /// Gives the grammar a symbol that stands for no token.
    fn insert(&mut self, symbol: Symbol) {
        let at = self.previous.end;
        self.give(symbol, Span::new(at, at));
    }

    /// Gives the grammar a symbol in the place of the tokens at `span`.
    fn give(&mut self, symbol: Symbol, span: Span) {
        self.repairs.push_back((span.start, symbol, span.end));
        self.remember(symbol, span);
    }

    /// Skips the rest of the innermost construct and closes it.
    fn skip_and_close(&mut self) {
        let close = self.level().close;
        let end = self.skip_to(close);
        self.close_with(Symbol::Token(close), end);
    }

    /// The same, where the grammar has to drop the contents.
    fn skip_and_drop(&mut self) {
        let end = self.skip_to(self.level().close);
        self.close_with(Symbol::BadEnd, end);
    }

    /// Closes the innermost construct.
    fn close_with(&mut self, symbol: Symbol, span: Span) {
        let close = self.level().close;
        self.pop();
        self.repairs.push_back((span.start, symbol, span.end));
        self.remember(Symbol::Token(close), span);
    }
}

/// Tokens that open something, with those that close it.
const PAIRS: [(TokenKind, TokenKind); 7] = [
    (TokenKind::OpenBrace, TokenKind::CloseBrace),
    (TokenKind::OpenBracket, TokenKind::CloseBracket),
    (TokenKind::OpenParen, TokenKind::CloseParen),
    (TokenKind::OpenQuote, TokenKind::CloseQuote),
    (TokenKind::OpenHeredoc, TokenKind::CloseHeredoc),
    (TokenKind::OpenInterpolation, TokenKind::CloseSequence),
    (TokenKind::OpenDirective, TokenKind::CloseSequence),
];

/// The kind of token that closes what a token opens.
fn closer(open: TokenKind) -> Option<TokenKind> {
    PAIRS.into_iter().find(|pair| pair.0 == open).map(|pair| pair.1)
}

fn is_closer(kind: TokenKind) -> bool {
    PAIRS.into_iter().any(|pair| pair.1 == kind)
}

/// The words of a diagnostic.
#[derive(Debug, Clone, Copy)]
struct Wording {
    pub code: Code,
    pub summary: &'static str,
    pub detail: &'static str,
}

/// Defines a [`Wording`] for each row.
macro_rules! wordings {
    ($($name:ident = $code:ident $summary:expr, $detail:expr;)*) => {
        $(const $name: Wording = Wording { code: Code::$code, summary: $summary, detail: $detail };)*
    };
}

const ITEM: &str = "Argument or block definition required";
const SINGLE: &str = "Invalid single-argument block definition";
const BLOCK: &str = "Invalid block definition";
const LITERAL: &str = "Invalid string literal";
const SEPARATOR: &str = "Missing key/value separator";
const FOR: &str = "Invalid 'for' expression";
const ATTRIBUTE: &str = "Attribute name required";
const BRACKET: &str = "The text ends before the closing bracket.";
const FOR_DIRECTIVE: &str = "Invalid 'for' directive";

// Items
wordings! {
    NO_ITEM = UnexpectedToken ITEM, "Expected an argument or a block.";
    NO_ARGUMENT = UnexpectedToken ITEM, "Expected an argument.";
    ONLY_A_NAME = UnexpectedToken ITEM, "Expected `=` and a value, or the rest of a block header, after this name.";
    QUOTED_NAME = UnexpectedToken "Invalid argument name", "Argument names are not quoted.";
    UNCLOSED_BLOCK = Unterminated "Unclosed configuration block",
        "The file ends before the closing brace of this block. A brace may be missing inside the block.";
    HEADER_EQUALS = UnexpectedToken BLOCK, "Unexpected `=` in a block header. Only arguments are set with `=`.";
    HEADER_LINE = UnexpectedToken BLOCK, "The opening brace of a block must be on the same line as its header.";
    HEADER = UnexpectedToken BLOCK, "Expected a label or an opening brace.";
    BLOCK_LINE = UnexpectedToken "Missing newline after block definition", "Expected a new line after the block.";
    ARGUMENT_COMMA = UnexpectedToken "Unexpected comma after argument",
        "Arguments are separated by new lines, not by commas.";
    ARGUMENT_LINE = UnexpectedToken "Missing newline after argument", "Expected a new line after the argument.";
    SINGLE_BLOCK = UnexpectedToken "Argument definition required",
        "A single-line block can hold only one argument. To nest a block, use several lines.";
    SINGLE_COMMA = UnexpectedToken SINGLE,
        "A single-line block can hold only one argument. For more, use several lines.";
    SINGLE_LINE = UnexpectedToken SINGLE, "A block with an argument on its first line must end on that line.";
    SINGLE_END = UnexpectedToken SINGLE, "Expected a closing brace after the argument of a single-line block.";
}

// Labels
wordings! {
    LABEL_SEQUENCE = UnexpectedToken LITERAL,
        "Template sequences are not allowed in this string. To write the sign itself, double it: `$${` or `%%{`.";
    LABEL = UnexpectedToken LITERAL, "This character is not allowed in a string.";
    UNCLOSED_LABEL = Unterminated "Unterminated string literal", "The text ends before the closing quote.";
}

// Expressions
wordings! {
    MORE = UnexpectedToken "Extra characters after expression", "Expected the end after the expression.";
    NO_EXPRESSION = UnexpectedToken "Missing expression", "The text ends where an expression is expected.";
    BAD_EXPRESSION = UnexpectedToken "Invalid expression", "Expected an expression.";
    NO_ELSE = UnexpectedToken "Missing false expression in conditional",
        "Expected `:` and the value for a false condition.";
    NO_ATTRIBUTE = UnexpectedToken MISSING_ATTRIBUTE, "Expected an attribute name after the dot.";
    NESTED_SPLAT = UnexpectedToken "Nested splat expression not allowed",
        "`.*` cannot follow another `.*`. Write `[*]` for the outer one.";
    UNCLOSED_SPLAT = UnexpectedToken "Missing close bracket on splat index", "Expected `]` after `[*`.";
    UNCLOSED_INDEX = UnexpectedToken "Missing close bracket on index", "Expected `]` after the index.";
    UNCLOSED_PAREN = UnexpectedToken "Unbalanced parentheses", "Expected a closing parenthesis.";
    NUMBER = NumberOutOfRange "Invalid number literal",
        "A number has at most one dot and one exponent, which must be in range.";
}

// Calls
wordings! {
    NO_FUNCTION = UnexpectedToken MISSING_NAME, "Expected a function name after `::`.";
    NO_PAREN = UnexpectedToken MISSING_PAREN, "Expected `(` after the name of a namespaced function.";
    ELLIPSIS = UnexpectedToken "Missing closing parenthesis", "Expected `)` after an argument that `...` expands.";
    UNCLOSED_CALL = Unterminated "Unterminated function call",
        "The text ends before the closing parenthesis of this call.";
    ARGUMENTS = UnexpectedToken "Missing argument separator", "Expected a comma between arguments.";
}

// Collections
wordings! {
    UNCLOSED_TUPLE = Unterminated "Unterminated tuple constructor expression", BRACKET;
    ELEMENTS = UnexpectedToken "Missing item separator", "Expected a comma between elements.";
    UNCLOSED_OBJECT = Unterminated "Unterminated object constructor expression", BRACKET;
    NO_VALUE = UnexpectedToken "Missing attribute value", "Expected `=` and a value.";
    KEY = UnexpectedToken SEPARATOR, "Expected `=` before the value.";
    KEY_NAME = UnexpectedToken SEPARATOR,
        "Expected `=` before the value. A name with dots or spaces must be quoted.";
    ENTRIES = UnexpectedToken "Missing attribute separator", "Expected a comma or a new line between attributes.";
    FOR_END = UnexpectedToken FOR, "Expected the end of the `for` expression.";
    FOR_KEY = UnexpectedToken FOR, "A `for` expression that returns a tuple cannot have a key.";
    FOR_NO_KEY = UnexpectedToken FOR, "A `for` expression that returns an object needs a key before `=>`.";
    FOR_GROUP = UnexpectedToken FOR, "A `for` expression that returns a tuple cannot group with `...`.";
    FOR_NAME = UnexpectedToken FOR, "Expected a variable name after `for`.";
    FOR_SECOND_NAME = UnexpectedToken FOR, "Expected the name of the value's variable after the comma.";
    FOR_IN = UnexpectedToken FOR, "Expected `in` after the variable names.";
    FOR_COLON = UnexpectedToken FOR, "Expected `:` after the collection.";
}

// Templates
wordings! {
    UNCLOSED_TEMPLATE = UnexpectedToken "Unterminated template string", "The text ends before this string does.";
    UNCLOSED_INTERPOLATION = Unterminated "Unclosed template interpolation sequence",
        "The string ends before the closing brace of the interpolation.";
    INTERPOLATION = UnexpectedToken "Extra characters after interpolation expression",
        "Expected the closing brace of the interpolation. To write `${` itself, use `$${`.";
    NO_DIRECTIVE = UnexpectedToken "Invalid template directive", "Expected a keyword such as `if` or `for`.";
}

// Traversals
wordings! {
    NO_ROOT = UnexpectedToken "Variable name required", "A traversal must begin with a variable name.";
    NO_SPLAT = UnexpectedToken ATTRIBUTE, "Splats are not allowed here.";
    NO_STEP = UnexpectedToken ATTRIBUTE, "Expected an attribute name after the dot.";
    NO_KEY = UnexpectedToken "Index value required", "Expected a number or a literal string.";
    STEP = UnexpectedToken "Invalid character", "Expected a dot or an opening bracket.";
    UNCLOSED_KEY = UnexpectedToken "Unclosed index brackets", "Expected `]` after the index.";
}
