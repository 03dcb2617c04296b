//! Lowers trees to one program: the entry with every template that it reaches.
//!
//! A template is a chunk with one parameter, the dot, which is also `$`. The entry's dot is the inputs: a path from it is
//! a path from a top-level input, unless the program changes maps. Variables, and the dots of `with` and `range`, are
//! slots. A missing key is judged by [`Semantics::missing`](dropforge_machine::vm::Semantics::missing), which knows how the language
//! is set up by the names of paths (`MissingKey::mark`).
//!
//! | file | content |
//! |---|---|
//! | `program` | the state of lowering, chunks, failures |
//! | `outputs` | a main chunk that renders several templates, without branches that they do not seem to take |
//! | `body` | text, output, conditions, loops, templates; templates that call themselves |
//! | `pipelines` | pipelines, commands, operands; pipelines as conditions; `and`, `or`, `not` |
//! | `calls` | calls of functions; literals by the types of parameters |
//! | `paths` | reads of fields and variables |

mod body;
mod calls;
mod outputs;
mod paths;
mod pipelines;
mod program;

pub(super) use body::recursive;
pub(super) use outputs::lower_all;
pub(super) use program::{Reached, lower, lower_made, mutate};
