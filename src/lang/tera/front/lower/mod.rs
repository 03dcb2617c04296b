//! Lowers trees to one program: the entry template with every template it reaches.
//!
//! Inheritance is resolved here. The root's body is lowered, each block is the nearest child's, and `super()` is the
//! next definition up. Includes are inlined; recursive and very large ones become chunks that read their callers'
//! names. Macros are chunks called with slots. Names become slots and top-level inputs. A read lists every root that
//! may hold its name, innermost first, because a `set` may not have run.
//!
//! The reference reports unknown filters, tests, functions, macros and includes only when a render reaches them. They
//! become a failing instruction and a lint; the program runs. The escape mode is an operand, fixed by the root. Values
//! that are stored or passed are not escaped, so a macro may exist in both modes.
//!
//! | file | content |
//! |---|---|
//! | `program` | the state of lowering, chunks, failures |
//! | `body` | text, output, `set`, conditions, loops, filter sections; blocks, `super()`, includes |
//! | `calls` | functions, filters, tests, macros |
//! | `values`, `conditions` | expressions as values (with reads of variables) and as conditions (with constant folding) |
//! | `variables` | the names of one scope; the slots and inputs that a name may refer to |

mod body;
mod calls;
mod conditions;
mod program;
mod values;
mod variables;

pub(super) use program::lower;
