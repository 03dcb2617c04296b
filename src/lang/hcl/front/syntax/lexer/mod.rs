//! The lexer: bytes to tokens, with the reference scanner's boundaries.
//!
//! The lexer is modal: code, quoted text, heredoc text and the text of a template that is a file, on a stack, so
//! that nesting costs memory and not calls. The brace that balances an interpolation closes it, not the first one.
//!
//! ```text
//!   code ──"──▶ quoted ──"──▶ code      code ──<<EOT──▶ heredoc ──EOT──▶ code
//!   quoted, heredoc, template ──${ or %{──▶ code ──}──▶ back
//! ```
//! Invariant: every byte that is not a blank between tokens, nor a byte order mark at the very beginning, is in
//! exactly one token, and the tokens are in the order of the source; the last one is `TokenKind::End`.

mod check;
mod literal;
mod patterns;
mod scanner;
#[cfg(test)]
mod tests;

pub use check::check;
pub use literal::scan_string_literal;
pub(in crate::front::syntax) use literal::{Piece, Wrong, escape_of};
pub use scanner::{is_identifier, lex_config, lex_template};
