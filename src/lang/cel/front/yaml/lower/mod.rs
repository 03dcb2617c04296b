//! Lowering of templates: from template trees to one program, which answers with the list of documents.
//!
//! | module | contents |
//! |---|---|
//! | `program`, `files`, `body` | the program, its files, the code of one file |
//! | `scalars` | constants, text with expressions |
//! | `maps` | maps and lists, keys, merging |
//! | `directives` | `$schema`, `$let`, `$assert`, `$if` |
//! | `loops` | `$for` |
//! | `includes` | `$include` |
//! | `inputs` | the inputs that every render reads |
//!
//! A value is left on the stack. A missing value is undefined, and lists and maps omit it. An included file is a chunk whose
//! parameters are the variables of `$with`; it sees nothing else.

mod body;
mod directives;
mod files;
mod includes;
mod inputs;
mod loops;
mod maps;
mod program;
mod scalars;

pub use program::compile_templates;
