//! The words of syntax errors. The summaries are those of the reference implementation.

use crate::syntax::build::{MISSING_ATTRIBUTE, MISSING_NAME, MISSING_PAREN};
use dropforge_base::diagnostics::Code;

/// The words of a diagnostic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wording {
    pub code: Code,
    pub summary: &'static str,
    pub detail: &'static str,
}

/// Defines a [`Wording`] for each row.
macro_rules! wordings {
    ($($name:ident = $code:ident $summary:expr, $detail:expr;)*) => {
        $(pub(super) const $name: Wording = Wording { code: Code::$code, summary: $summary, detail: $detail };)*
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
pub(super) const FOR_DIRECTIVE: &str = "Invalid 'for' directive";

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
