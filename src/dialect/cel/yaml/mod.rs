//! Templates that are YAML: maps with directives (`$let`, `$if`, `$for`, …) and scalars with `${ }`.
//!
//! [`read`] reads a file and everything it includes by a known name into [`Templates`], trees in which every expression is
//! parsed and every name of the file's own is resolved, or answers with everything that is wrong, each at its place in the
//! file, with its path (`items[0].metadata.name`, a field of the diagnostic). [`check`] then says what is wrong with their
//! types.
//!
//! ```
//! use dropforge::compiler::NoLoader;
//! use dropforge::dialect::cel::yaml::{NodeKind, Options, read};
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! let source = Source::new("t.yaml", "$let: {app: \"'web'\"}\nname: ${app}-${env}\n");
//! let templates = read(&source, &NoLoader, &Limits::default(), &Options::default()).unwrap();
//! let file = templates.entry();
//! let name = &file.expressions()[1];
//! assert_eq!((source.slice(name.span), file.path(name.owner)), ("app", "name".to_owned()));
//! assert!(name.free[0].variable.is_some());
//!
//! let source = Source::new("t.yaml", "a:\n  - $fro: x in xs\n  - ${1 +}\n");
//! let errors = read(&source, &NoLoader, &Limits::default(), &Options::default()).unwrap_err();
//! let told: Vec<_> = errors.iter().map(|e| format!("{} {}", e.position().unwrap(), e.fields["path"])).collect();
//! assert_eq!(told, ["2:5 a[0]", "3:10 a[1]"]);
//! ```

mod bare;
mod build;
mod check;
mod conflicts;
mod directives;
mod expressions;
mod files;
pub mod lower;
mod names;
mod schema;
mod tree;

#[cfg(test)]
mod tests;

pub use check::check;
pub use files::{Options, Templates, read, resolve};
pub use lower::{compile, compile_templates};
pub use tree::{
    Assert, Binding, Candidate, Condition, Declared, DeclaredId, Entry, Expression, ExpressionId, File, FileId, For,
    Free, If, Include, Item, Let, LetValue, Map, MapId, Node, NodeId, NodeKind, Part, Run, ScopeId, Step, Target,
    Variable, VariableId, VariableKind, With,
};
