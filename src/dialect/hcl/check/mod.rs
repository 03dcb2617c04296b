//! Checks without data: the errors of a template or a configuration that do not depend on its variables.
//!
//! A source is evaluated with variables of which only the types are known. Evaluation with unknown values drops the
//! errors of branches that may not be taken, and never enters a loop over an unknown collection. So branches, operands
//! of `&&` and `||`, and the bodies of loops with unknown variables are evaluated again on their own: an error there
//! occurs as soon as they are reached. The arguments of functions that handle errors (`try`, `can`) are not checked,
//! nor are operands next to one that decides.

mod checker;
mod config;
mod functions;
#[cfg(test)]
mod tests;
mod variable_types;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::compile::Compiler;
use super::syntax::{Expr, ExprId, Parsed, Tree, parse_template};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::function::Registry;
use crate::limits::Limits;
use crate::text::Source;
use crate::value::{Arena, Type, Value};
use crate::vm::Space;
use checker::{Checker, Region};
use functions::without_capabilities;

pub use config::check_config;
pub use variable_types::VariableTypes;

/// Returns the errors of a template that do not depend on the values of its variables. The variables are those in
/// `types`, or any of any type.
///
/// ```
/// use dropforge::dialect::hcl::check::{VariableTypes, check_template};
/// use dropforge::dialect::hcl::registry;
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
///
/// let limits = Limits::default();
/// let types = Source::new("types.hcl", "ports = list(object({ name = string, number = number }))\n");
/// let types = VariableTypes::read(&types, &limits)?;
/// let template = Source::new("svc.tftpl", "%{ for p in ports }${p.nmae}: ${p.number + 1}\n%{ endfor }");
/// let found = check_template(&template, &registry(), Some(&types), &limits)?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].position().unwrap().column, 23);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// All syntax errors, or a limit.
pub fn check_template(
    source: &Arc<Source>,
    registry: &Registry,
    types: Option<&VariableTypes>,
    limits: &Limits,
) -> Result<Vec<Box<Diagnostic>>, Diagnostics> {
    let Parsed { tree, root, diagnostics } = parse_template(source, limits);
    if !diagnostics.is_empty() {
        return Err(diagnostics.into());
    }
    let (compiler, space) = (Compiler::new(&without_capabilities(registry), limits), Space::new());
    let variables = match types {
        Some(types) => types.unknowns(&space.context(limits))?,
        None => untyped_variables(space.arena(), &tree),
    };
    let mut checker = Checker::new(&space, &compiler, variables);
    checker.pending.push(Region { tree: &tree, root, locals: Value::Undefined });
    Ok(checker.run()?)
}

/// Returns unknown variables for all names in a tree that can be variables.
pub(super) fn untyped_variables<'s>(arena: &'s Arena, tree: &'s Tree) -> Value<'s> {
    let name = |at| match tree.expr(ExprId(at)) {
        Expr::Traversal { root, .. } => Some(tree.str(root)),
        _ => None,
    };
    let names: BTreeSet<&str> = (0..tree.len()).filter_map(name).collect();
    arena.map(&names.into_iter().map(|name| (name, arena.unknown(Type::Dynamic))).collect::<Vec<_>>())
}
