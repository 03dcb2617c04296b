//! The functions that a configuration defines, as far as a check knows them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::parse;
use crate::dialect::hcl::body::{self, Body, Expression, Faults, Schema, user_functions};
use crate::function::{Body as FunctionBody, Builtin, Registry};
use crate::limits::Limits;
use crate::text::Source;
use crate::value::Type;

/// The functions with those that the file defines, and what is wrong with these. Of a function that names variables,
/// and of what functions call of one another, the answers are not known: whether it sees them is the program's
/// business, and functions may call one another in a circle.
pub(super) fn with_own_functions(source: &Arc<Source>, registry: Registry, limits: &Limits) -> (Arc<Registry>, Faults) {
    let registry = Arc::new(registry);
    let defined = |registry: &Arc<Registry>| {
        let (mut faults, file) = (Vec::new(), parse(source, registry, limits));
        let (functions, _) = user_functions(&file.body(), "function", &mut faults);
        let open = definitions(&file.body()).into_iter().filter(Definition::names_variables).map(|of| of.name);
        (functions, open.collect::<BTreeSet<_>>(), faults)
    };
    let (functions, _, faults) = defined(&registry);
    if functions.is_empty() {
        return (registry, faults);
    }
    let (functions, open, faults) = defined(&with(&registry, functions.into_iter().map(opaque)));
    let known = |of: Builtin| if open.contains(of.name.as_ref()) { opaque(of) } else { of };
    (with(&registry, functions.into_iter().map(known)), faults)
}

/// The function, of whose answer nothing is known.
fn opaque(function: Builtin) -> Builtin {
    let body = FunctionBody::Closure(Arc::new(|cx, _| Ok(cx.arena().unknown(Type::Dynamic))));
    Builtin { body, ..function }
}

/// A function as the file says it.
pub(super) struct Definition<'r> {
    name: String,
    /// What its parameters are called, the last one of any number among them.
    pub params: Vec<String>,
    /// What it answers with.
    pub result: Option<Expression<'r>>,
}

impl Definition<'_> {
    /// Whether its result names more than its parameters.
    fn names_variables(&self) -> bool {
        let known = |name: &str| self.params.iter().any(|param| param == name);
        self.result.iter().any(|result| result.variables().iter().any(|of| !known(of.root())))
    }
}

/// The functions that a file defines. What is wrong with them is told where they are made.
pub(super) fn definitions<'r>(body: &Body<'r>) -> Vec<Definition<'r>> {
    let (content, _) = body.partial_content(&Schema::new().block("function", &["name"]), &mut Vec::new());
    let definition = |block: &body::Block<'r>| {
        let schema = Schema::new().optional("params").optional("variadic_param").optional("result");
        let (mut said, _) = block.body.partial_content(&schema, &mut Vec::new());
        let mut take = |name| said.attributes.shift_remove(name).map(|attribute| attribute.expr);
        let params = take("params").and_then(|params| params.static_list()).unwrap_or_default();
        let params = params.into_iter().chain(take("variadic_param")).filter_map(|param| param.keyword());
        let name = block.labels.first().map(|label| label.text.clone()).unwrap_or_default();
        Definition { name, params: params.collect(), result: take("result") }
    };
    content.blocks.iter().map(definition).collect()
}

fn with(registry: &Registry, more: impl IntoIterator<Item = Builtin>) -> Arc<Registry> {
    let mut all = registry.clone();
    more.into_iter().for_each(|function| all.insert(function));
    Arc::new(all)
}
