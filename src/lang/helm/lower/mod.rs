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
//! | `outputs` | a main chunk that renders several templates |
//! | `body` | text, output, conditions, loops, templates |
//! | `pipelines` | pipelines, commands, operands |
//! | `calls` | calls of functions |
//! | `conditions` | pipelines as conditions; `and`, `or`, `not` |
//! | `literals` | literals by the types of parameters |
//! | `recursion` | templates that call themselves |
//! | `paths` | reads of fields and variables |
//! | `untaken` | branches that are left out |

mod body;
mod calls;
mod conditions;
mod literals;
mod outputs;
mod paths;
mod pipelines;
mod program;
mod recursion;
mod untaken;

pub(super) use outputs::{Output, lower_all};
pub(super) use program::{Folding, Reached, lower, lower_made};
