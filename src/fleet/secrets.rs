//! The inputs that schemas and variables mark secret, and what is printed without them.

use super::cluster::Cluster;
use super::fleet::Fleet;
use super::layers::Layers;
use super::report::Failure;
use crate::values::Step;
use dropforge_base::diagnostics::Result;
use dropforge_base::mask::Mask;

/// Maximum number of clusters of a failure whose lines it may show.
const NAMED: usize = 8;

impl Layers {
    /// Returns `true` if a schema marks the value at `path` secret ([`is_secret`](dropforge_schema::is_secret)), or the
    /// declaration of an HCL variable does (`sensitive`, `ephemeral`).
    pub fn is_secret(&self, path: &[Step]) -> bool {
        self.schemas().is_some_and(|schemas| schemas.is_secret(path))
    }

    /// Returns `true` if a schema or a variable marks any value secret.
    pub fn has_secrets(&self) -> bool {
        self.schemas().is_some_and(|schemas| schemas.have_secrets())
    }

    /// Calls `each` with the text of every secret among the inputs of a cluster and the shared ones ([`Layers::is_secret`]).
    pub fn each_secret(&self, cluster: Option<&Cluster>, each: &mut dyn FnMut(&str)) {
        let Some(schemas) = self.schemas().filter(|_| self.has_secrets()) else { return };
        let merged = cluster.and_then(|cluster| self.merged(cluster).ok());
        // An excerpt may show a value that others override.
        let own = cluster.and_then(|cluster| cluster.inputs().ok());
        let shared = match cluster {
            Some(cluster) => vec![self.of(cluster)],
            None => self.all().collect(),
        };
        let shared = shared.into_iter().flat_map(|shared| [shared.base(), shared.files()]);
        let all = shared.chain(&merged).chain(own.as_deref());
        all.for_each(|values| schemas.each_secret(values, each));
    }

    /// Returns the secrets among the inputs of a cluster and the shared ones, for printers.
    pub fn mask(&self, cluster: Option<&Cluster>) -> Mask {
        Mask::of_each(|each| self.each_secret(cluster, each))
    }

    /// Replaces the secrets in failures: those of the clusters that they name first, and the shared ones.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub fn hide_in_failures(&self, fleet: &Fleet, failures: &mut [Failure]) -> Result<()> {
        if !self.has_secrets() {
            return Ok(());
        }
        self.mask(None).hide_in_all(failures.iter_mut().map(|failure| &mut failure.diagnostic));
        fleet.each(&mut |_, cluster| {
            let is_of = |failure: &&mut Failure| failure.clusters.iter().take(NAMED).any(|name| name == cluster.name());
            let mut of_cluster = failures.iter_mut().filter(is_of).peekable();
            if of_cluster.peek().is_some() {
                self.mask(Some(cluster)).hide_in_all(of_cluster.map(|failure| &mut failure.diagnostic));
            }
            Ok(())
        })
    }
}
