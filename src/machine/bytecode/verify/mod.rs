//! The verifier: one linear pass over a program's tables and code, before it runs.
//!
//! The machine runs verified programs without further checks: every index is in range, every string is within the pool,
//! every jump leads to an instruction of the same chunk, the heights of the stacks are known at every instruction, and
//! every cycle uses fuel. Freshly compiled programs are verified like loaded ones.
//!
//! | rule | requirement |
//! |---|---|
//! | V1 | every opcode exists and belongs to the language |
//! | V2 | every instruction is complete, its choices exist, unused bits are zero |
//! | V3 | jumps and handlers lead to instructions of the same chunk, handlers nest |
//! | V4 | chunks are adjacent and fill the code; none runs past its end |
//! | V5 | strings, numbers, paths, scopes and failures exist and are well formed |
//! | V6 | slots, inline caches and memos exist |
//! | V7 | the height of the stack is the same where branches meet, never negative, 0 at the end, and as the chunk declares; all code is reachable |
//! | V8 | a loop has slots for its names, and jumps back to its start |
//! | V9 | loops and captures nest, are the same where branches meet, and are closed at the end; a handler's code closes only its own; properties of loops belong to open loops |
//! | V10 | callees exist, and have the parameters of the arguments; chunks that can be called by name exist |
//! | V11 | only the next item of a loop jumps back, which uses fuel |
//! | V12 | the first chunk has no parameters |
//! | V13 | positions are sorted and within the sources |
//! | V14 | names of templates are valid, sorted and unique (bundles only); names of chunks are sorted and unique |
//! | V15 | tables are no larger than operands can address |
//!
//! V6 needs no definite assignment, because slots start unset. V8 needs no kinds of stack entries, because values,
//! loops and captures have stacks of their own. V10 does not compare signatures: linking does. Calls of chunks are
//! bounded by the machine's limits on frames. A call by name finds its chunk when it runs, so the machine compares its
//! arguments with the parameters.

mod check;
mod instruction;
mod records;
mod rules;
mod tables;
#[cfg(test)]
mod tests;
mod walk;

/// Maximum number of a program's strings that share a byte of the text, on average.
pub(super) const SHARED: usize = 4;

pub(super) use check::{Maxima, Texts, verify};
pub use rules::{Rule, Rules};
