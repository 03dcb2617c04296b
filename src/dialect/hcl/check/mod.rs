//! Checking without data: what is wrong with a template or a configuration whatever its variables are.
//!
//! It is evaluated with variables that are not known, only of a type. A language whose values may be unknown drops what
//! a branch reports as long as it is not known whether it is taken, and never gets into a loop over something unknown.
//! So branches, operands of `&&` and `||`, and the bodies of loops with names whose values are not known are evaluated
//! once more on their own: an error there is one as soon as they are reached. What stands in the arguments of
//! functions that answer for errors (`try`, `can`) is left alone, and so is an operand beside one that decides.

mod config;
mod functions;
mod regions;
#[cfg(test)]
mod tests;
mod types;

pub use config::check_config;
pub use types::VariableTypes;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::body::File;
use super::builtins::complete;
use super::syntax::parser::{Parsed, parse_template};
use super::syntax::tree::{Expr, ExprId, Tree};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::function::{Admits, Answer, Params, Place, Positional, Registry};
use crate::limits::Limits;
use crate::text::Source;
use crate::value::{Arena, Type, Value};
use crate::vm::Space;
use regions::{Checker, Region};

/// What is wrong with a template whatever its variables are: those that `types` declares, and no others; without
/// `types` any, each of any type.
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
/// Everything that is wrong with its syntax; a limit that was reached.
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
    let (registry, space) = (without_outside(registry), Space::new());
    let base = match types {
        Some(types) => types.unknowns(&space.context(limits))?,
        None => anything(space.arena(), &tree),
    };
    let mut checker = Checker::new(&space, &registry, limits, base);
    checker.all(vec![Region { tree: &tree, root, over: Value::Undefined }])?;
    Ok(checker.findings())
}

/// Parses a configuration: in the JSON syntax where the source's name ends in `.json`.
fn parse(source: &Arc<Source>, registry: &Arc<Registry>, limits: &Limits) -> File {
    let make = if is_json(source) { File::json } else { File::native };
    make(source, registry, limits)
}

fn is_json(source: &Source) -> bool {
    source.name().ends_with(".json")
}

/// The functions, where those that need a capability, and those of a host's that take anything, answer with what is not
/// known.
fn without_outside(registry: &Registry) -> Registry {
    let mut all = complete(registry).into_owned();
    for function in registry.iter().filter(|function| !function.needs.is_none()) {
        let Params::Positional(takes) = &function.params else { continue };
        let ty = match takes.answer {
            Answer::Is(ty) => ty,
            _ => Type::Dynamic,
        };
        all.insert_closure(function.name.as_ref(), takes.clone(), move |cx, _| Ok(cx.arena().unknown(ty)));
    }
    for open in registry.iter().filter(|function| matches!(function.params, Params::Open)) {
        let admits = Admits::NULL.and(Admits::UNKNOWN).and(Admits::DYNAMIC).and(Admits::MARKED);
        let rest = Some(Place { name: "argument".into(), ty: Type::Dynamic, admits });
        let takes = Positional { params: [].as_slice().into(), rest, answer: Answer::OfBody, not_null: false };
        all.insert_closure(open.name.as_ref(), takes, |cx, _| Ok(cx.arena().unknown(Type::Dynamic)));
    }
    all
}

/// Every name in a tree that can be a variable's, each of any type.
fn anything<'s>(arena: &'s Arena, tree: &'s Tree) -> Value<'s> {
    let name = |at| match tree.expr(ExprId(at)) {
        Expr::Traversal { root, .. } => Some(tree.str(root)),
        _ => None,
    };
    let names: BTreeSet<&str> = (0..tree.len()).filter_map(name).collect();
    arena.map(&names.into_iter().map(|name| (name, arena.unknown(Type::Dynamic))).collect::<Vec<_>>())
}
