//! The plans of releases whose values differ in form.

use hashbrown::HashSet;

use super::{FleetChart, own_values};
use crate::layers::Layers;
use crate::selection::Selection;
use dropforge_base::diagnostics::{Diagnostics, Result};
use dropforge_helm::chart::{Plan, form};

/// Maximum number of forms that are planned.
const FORMS: usize = 64;

impl FleetChart {
    /// Calls `each` with the plan of the first release of each form, and the name of its cluster. Values of one form have the
    /// same keys and booleans. Releases without a plan are left out, and so are the forms after many.
    ///
    /// # Errors
    /// Errors of reading clusters; the first error of `each`.
    pub fn each_form(
        &self,
        layers: &Layers,
        clusters: &Selection<'_>,
        each: &mut dyn FnMut(&str, Plan) -> std::result::Result<(), Diagnostics>,
    ) -> std::result::Result<(), Diagnostics> {
        let mut forms = HashSet::new();
        let mut first = Ok(());
        clusters.each(&mut |_, cluster| {
            if first.is_err() || forms.len() >= FORMS {
                return Ok(());
            }
            // A run tells what is wrong with the values of a cluster.
            let own: Result<_> = layers.overlay(cluster).and_then(|own| own_values(cluster, &own));
            let Ok((values, is_table)) = own else { return Ok(()) };
            if forms.insert((form(&values).0, is_table))
                && let Ok(plan) = self.plan(cluster.name(), (values, is_table))
            {
                first = each(cluster.name(), plan);
            }
            Ok(())
        })?;
        first
    }
}
