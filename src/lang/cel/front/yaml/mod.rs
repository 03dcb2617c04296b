//! `cel-yaml`: YAML templates, in which maps have directives (`$let`, `$if`, `$for`, …) and scalars have `${ }`.
//!
//! [`read`] parses a file and everything that it includes by a constant name into [`Templates`]: trees with parsed
//! expressions and resolved names. The module `check` finds type errors. Errors have a position in the file, and a path
//! (`items[0].metadata.name`) as a field of the diagnostic.
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
//! let reported: Vec<_> = errors.iter().map(|e| format!("{} {}", e.position().unwrap(), e.fields["path"])).collect();
//! assert_eq!(reported, ["2:5 a[0]", "3:10 a[1]"]);
//! ```

mod check;
mod compile;
mod load;
mod lower;
mod marks;
mod recent;
mod syntax;
mod syntax_help;
#[cfg(test)]
mod tests;

pub use check::check;
pub use compile::compile;
pub use load::{Templates, read, resolve};
pub use lower::compile_templates;
pub use marks::marks;
pub use syntax::BuildOptions as Options;
pub use syntax::tree::{Assert, Binding, Free, LetValue, VariableKind};
pub use syntax::tree::{
    Candidate, Condition, Declared, DeclaredId, Directives, Entry, Expression, ExpressionId, File, FileId, For, If,
    Include, Item, Let, Map, MapId, Node, NodeId, NodeKind, Part, Run, Step, Target, Variable, VariableId, With,
};
