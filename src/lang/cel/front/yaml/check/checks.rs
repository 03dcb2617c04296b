//! The types of expressions, which the next check can use again.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::check::{Environment, TypeId};
use crate::syntax::tree::Tree;
use crate::yaml::recent::Recent;
use dropforge_base::diagnostics::Diagnostics;
use dropforge_machine::function::Registry;
use dropforge_schema::Schema;

/// The number of types after which a check begins without those of earlier ones.
const TYPES: usize = 1 << 16;

/// An expression, by the address of its tree, and the types of its names.
pub(super) type TypedNames = (usize, SmallVec<[Option<TypeId>; 4]>);

/// The result of a check of an expression.
pub(super) struct Checked {
    pub found: Result<TypeId, Diagnostics>,
    /// The steps that it took.
    pub steps: u64,
    /// Keeps the address in use.
    pub _tree: Arc<Tree>,
}

/// An environment, and the types that were found in it.
#[derive(Default)]
pub(in crate::front::yaml) struct Checks {
    /// The functions of the environment.
    registry: Option<Registry>,
    pub(super) env: Environment,
    /// The types of schemas, by the address of each, which is kept in use.
    pub(super) schemas: Recent<usize, (Arc<Schema>, TypeId)>,
    /// The types of expressions.
    pub(super) expressions: Recent<TypedNames, Checked>,
}

impl Checks {
    /// Begins a check with the functions of `registry`.
    pub(super) fn next_round(&mut self, registry: &Registry) {
        let is_same = self.registry.as_ref().is_some_and(|known| known.is(registry));
        if !is_same || self.env.types().len() > TYPES {
            let env = Environment::new(registry).with_hidden_namespaces();
            *self = Self { registry: Some(registry.clone()), env, ..Self::default() };
        }
        self.schemas.next_round();
        self.expressions.next_round();
    }
}
