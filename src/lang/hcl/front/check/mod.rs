//! Checks without data: the errors of a template or a configuration that do not depend on its variables.
//!
//! A source is evaluated with variables of which only the types are known. Evaluation with unknown values drops the
//! errors of branches that may not be taken, and never enters a loop over an unknown collection. So branches, operands
//! of `&&` and `||`, and the bodies of loops with unknown variables are evaluated again on their own: an error there
//! occurs as soon as they are reached. The arguments of functions that handle errors (`try`, `can`) are not checked,
//! nor are operands next to one that decides.

mod certain;
mod checker;
mod config;
#[cfg(test)]
mod tests;
mod variable_types;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::body::{Block, Body, BodySchema, DiagnosticList, Expression, File, user_functions};
use crate::compile::Compiler;
use crate::syntax::{Expr, ExprId, Parsed, Tree, parse_template};
use checker::{Checker, Region};
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, Result as Checked, at_most};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::function::{
    Admits, Body as FunctionBody, Builtin, Params, Positional, PositionalParam, Registry, ResultType,
};
use dropforge_machine::vm::Space;
use dropforge_value::{Arena, Type, Value};

pub use config::{check_config, is_module};
pub use variable_types::VariableTypes;
pub(super) use variable_types::arguments;

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
    let parsed = parse_template(source, limits);
    if parsed.diagnostics.is_empty() {
        return Ok(check_parsed(&parsed, registry, types, limits)?);
    }
    Err(parsed.diagnostics.into())
}

/// Checks a template like [`check_template`], given its tree. It has no syntax errors.
///
/// ```
/// use dropforge::dialect::hcl::syntax::parser::parse_template;
/// use dropforge::dialect::hcl::{check::check_parsed, registry};
/// use dropforge::{limits::Limits, text::Source};
/// let limits = Limits::default();
/// let parsed = parse_template(&Source::new("svc.tftpl", "port: ${80 + true}"), &limits);
/// assert!(parsed.diagnostics.is_empty());
/// assert_eq!(check_parsed(&parsed, &registry(), None, &limits)?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A limit.
pub fn check_parsed(
    parsed: &Parsed<ExprId>,
    registry: &Registry,
    types: Option<&VariableTypes>,
    limits: &Limits,
) -> Checked<Vec<Box<Diagnostic>>> {
    let Parsed { tree, root, .. } = parsed;
    let (compiler, space) = (Compiler::new(&without_capabilities(registry), limits), Space::new());
    let variables = match types {
        Some(types) => types.unknowns(&space.context(limits))?,
        None => untyped_variables(space.arena(), tree, &[]),
    };
    let mut checker = Checker::new(&space, &compiler, variables);
    checker.pending.push(Region::new(tree, *root, Value::Undefined));
    Ok(at_most(checker.run()?, limits.diagnostics, 0))
}

/// Returns unknown variables for all names in a tree that can be variables, and those that are `known`.
pub(super) fn untyped_variables<'s>(arena: &'s Arena, tree: &'s Tree, known: &[(&'s str, Value<'s>)]) -> Value<'s> {
    let name = |at| match tree.expr(ExprId(at)) {
        Expr::Traversal { root, .. } => Some(tree.str(root)),
        _ => None,
    };
    let mut names = BTreeSet::new();
    names.extend((0..tree.node_count()).filter_map(name));
    let unknown = names.into_iter().map(|name| (name, arena.unknown(Type::Dynamic)));
    arena.map(&unknown.chain(known.iter().copied()).collect::<Vec<_>>())
}

/// Returns the functions with unknown results for those that need a capability, and for those of a host with open
/// parameters.
pub(super) fn without_capabilities(registry: &Registry) -> Registry {
    let mut all = registry.clone();
    for function in registry.iter() {
        let takes = match &function.params {
            Params::Positional(takes) if !function.needs.is_none() => takes.clone(),
            Params::Open => {
                let admits = Admits::NULL.and(Admits::UNKNOWN).and(Admits::DYNAMIC).and(Admits::MARKED);
                let rest = Some(PositionalParam { name: "argument".into(), ty: Type::Dynamic, admits });
                Positional { params: [].as_slice().into(), rest, result: ResultType::OfBody, not_null: false }
            }
            _ => continue,
        };
        let ty = match takes.result {
            ResultType::Is(ty) => ty,
            _ => Type::Dynamic,
        };
        all.insert_closure(function.name.as_ref(), takes, move |cx, _| Ok(cx.arena().unknown(ty)));
    }
    all
}

/// Parses a file, whose expressions call the functions of `registry` and those that it defines. Returns them all, and the
/// errors of the latter. The results of functions that name variables,
/// and of calls between them, are unknown: the program may let them see variables, and they may call each other in a
/// cycle.
pub(super) fn with_own_functions(
    source: &Arc<Source>,
    registry: Registry,
    limits: &Limits,
) -> (Registry, File, DiagnosticList) {
    let defined = |registry: &Registry| {
        let (mut diagnostics, file) = (Vec::new(), File::parse(source, registry, limits));
        let (functions, _) = user_functions(&file.body(), "function", &mut diagnostics);
        let open = definitions(&file.body()).into_iter().filter(Definition::names_variables).map(|of| of.name);
        let open = open.collect::<BTreeSet<_>>();
        (file, functions, open, diagnostics)
    };
    let (file, functions, _, diagnostics) = defined(&registry);
    if functions.is_empty() {
        return (registry, file, diagnostics);
    }
    let (_, functions, open, diagnostics) = defined(&with(&registry, functions.into_iter().map(opaque)));
    let functions = functions.into_iter().map(|of| if open.contains(of.name.as_ref()) { opaque(of) } else { of });
    let registry = with(&registry, functions);
    let file = File::parse(source, &registry, limits);
    (registry, file, diagnostics)
}

/// Returns the function with an unknown result.
fn opaque(function: Builtin) -> Builtin {
    let body = FunctionBody::Closure(Arc::new(|cx, _| Ok(cx.arena().unknown(Type::Dynamic))));
    Builtin { body, ..function }
}

/// A function definition of a file.
pub(super) struct Definition<'r> {
    name: String,
    /// The names of the parameters, including the variadic one.
    pub params: Vec<String>,
    /// The result.
    pub result: Option<Expression<'r>>,
}

impl Definition<'_> {
    /// Returns `true` if the result names anything but its parameters.
    fn names_variables(&self) -> bool {
        let is_param = |name: &str| self.params.iter().any(|param| param == name);
        self.result.iter().any(|result| result.variables().iter().any(|of| !is_param(of.root())))
    }
}

/// Returns the function definitions of a file. Their errors are reported when the functions are made.
pub(super) fn definitions<'r>(body: &Body<'r>) -> Vec<Definition<'r>> {
    let (content, _) = body.partial_content(&BodySchema::new().block("function", &["name"]), &mut Vec::new());
    let definition = |block: &Block<'r>| {
        let schema = BodySchema::new().optional("params").optional("variadic_param").optional("result");
        let (mut content, _) = block.body.partial_content(&schema, &mut Vec::new());
        let mut take = |name| content.attributes.shift_remove(name).map(|attribute| attribute.expr);
        let params = take("params").and_then(|params| params.static_list()).unwrap_or_default();
        let params = params.into_iter().chain(take("variadic_param")).filter_map(|param| param.keyword());
        let name = block.labels.first().map(|label| label.text.clone()).unwrap_or_default();
        Definition { name, params: params.collect(), result: take("result") }
    };
    content.blocks.iter().map(definition).collect()
}

fn with(registry: &Registry, more: impl IntoIterator<Item = Builtin>) -> Registry {
    let mut all = registry.clone();
    more.into_iter().for_each(|function| all.insert(function));
    all
}
