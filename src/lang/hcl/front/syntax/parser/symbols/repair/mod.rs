//! Repairs behind refused tokens: what had to stand there, and where reading goes on.
//!
//! All users of the language know these summaries and places from the reference implementation, so they are the same
//! here. An error skips tokens to the end of the innermost construct, then of each construct around it, up to a
//! template or an item; the grammar gets the symbols that complete them.

mod body;
mod constructs;
mod expression;
mod skip;
mod template;
mod wording;
