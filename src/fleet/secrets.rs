//! The inputs that schemas, variables and encrypted files make secret, and what is printed without them.

use super::cluster::Cluster;
use super::fleet::Fleet;
use super::input::marks;
use super::layers::Layers;
use super::report::Failure;
use crate::values::Step;
use dropforge_base::diagnostics::Result;
use dropforge_base::mask::Mask;
use dropforge_schema::{each_secret, each_secret_name, each_text, is_secret};
use dropforge_value::{Data, value_at};

/// Maximum number of clusters of a failure whose lines it may show.
const NAMED: usize = 8;

impl Layers {
    /// Returns `true` if a schema marks the value at `path` secret ([`is_secret`](dropforge_schema::is_secret)), the
    /// declaration of an HCL variable does (`sensitive`, `ephemeral`), or a decrypted file gives it.
    #[doc(hidden)]
    pub fn is_secret(&self, path: &[Step]) -> bool {
        self.schemas().is_some_and(|schemas| schemas.is_secret(path)) || self.marks().any(|mark| is_secret(mark, path))
    }

    /// Returns `true` if the value at `path` is secret for a cluster, which may come from a decrypted file.
    #[doc(hidden)]
    pub fn is_secret_of(&self, cluster: Option<&Cluster>, path: &[Step]) -> bool {
        self.is_secret(path)
            || cluster.filter(|cluster| cluster.is_secret()).is_some_and(|cluster| {
                let own = cluster.inputs().ok();
                let first = path.first().and_then(Step::key);
                // Inputs of no known path may be any of these.
                first.is_none_or(|first| own.is_none_or(|own| has(own.get(first), path.get(1..).unwrap_or(&[]))))
            })
    }

    /// Returns `true` if a schema, a variable or a decrypted file makes any value secret. Clusters may be secret, too:
    /// [`Fleet::has_secrets`].
    #[doc(hidden)]
    pub fn has_secrets(&self) -> bool {
        self.schemas().is_some_and(|schemas| schemas.have_secrets()) || !self.decrypted.is_empty()
    }

    /// Returns `true` if a file was decrypted.
    pub(crate) fn has_decrypted(&self) -> bool {
        !self.decrypted.is_empty()
    }

    /// Returns schemas that mark the values of decrypted files secret, with those of a cluster.
    #[doc(hidden)]
    pub fn secret_schemas(&self, cluster: Option<&Cluster>) -> Vec<Data> {
        let own = cluster.filter(|cluster| cluster.is_secret()).and_then(|cluster| cluster.inputs().ok());
        self.marks().cloned().chain(own.map(|own| marks(&own))).collect()
    }

    fn marks(&self) -> impl Iterator<Item = &Data> {
        self.decrypted.iter().map(|(_, marks)| marks)
    }

    /// Calls `each` with the text of every secret among the inputs of a cluster and the shared ones ([`Layers::is_secret`]).
    #[doc(hidden)]
    pub fn each_secret(&self, cluster: Option<&Cluster>, each: &mut dyn FnMut(&str)) {
        if let Some(own) = cluster.filter(|cluster| cluster.is_secret()).and_then(|cluster| cluster.inputs().ok()) {
            // Paths and messages have the name of the cluster.
            let name = cluster.map_or("", Cluster::name);
            own.values().for_each(|value| {
                each_text(value, &mut |text| {
                    if text != name {
                        each(&text)
                    }
                })
            });
        }
        if !self.has_secrets() {
            return;
        }
        let merged = cluster.and_then(|cluster| self.merged(cluster).ok());
        // An excerpt may show a value that others override.
        let own = cluster.and_then(|cluster| cluster.inputs().ok());
        let decrypted = self.decrypted.iter().map(|(map, _)| map);
        let shared = match cluster {
            Some(cluster) => vec![self.of(cluster)],
            None => self.all().collect(),
        };
        let shared = shared.into_iter().flat_map(|shared| [shared.base(), shared.files()]);
        for values in shared.chain(&merged).chain(own.as_deref()).chain(decrypted) {
            self.schemas().iter().for_each(|schemas| schemas.each_secret(values, each));
            self.marks().for_each(|mark| each_secret(mark, values, &mut |text| each(&text)));
        }
    }

    /// Calls `each` with the name of every secret. Texts of templates that have one may show it for other values.
    #[doc(hidden)]
    pub fn each_secret_name(&self, cluster: Option<&Cluster>, each: &mut dyn FnMut(&str)) {
        self.schemas().iter().for_each(|schemas| schemas.each_secret_name(each));
        self.secret_schemas(cluster).iter().for_each(|schema| each_secret_name(schema, each));
    }

    /// Returns the secrets among the inputs of a cluster and the shared ones, for printers.
    #[doc(hidden)]
    pub fn mask(&self, cluster: Option<&Cluster>) -> Mask {
        Mask::of_each(|each| self.each_secret(cluster, each))
    }

    /// Replaces the secrets in failures: those of the clusters that they name first, and the shared ones.
    ///
    /// # Errors
    /// Errors of reading clusters.
    #[doc(hidden)]
    pub fn hide_in_failures(&self, fleet: &Fleet, failures: &mut [Failure]) -> Result<()> {
        if !self.has_secrets() && !fleet.has_secrets() {
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

/// Returns `true` if a value has something at a path, or is a scalar above it.
fn has(value: Option<&Data>, path: &[Step]) -> bool {
    let Some(value) = value else { return false };
    let is_above = |depth: usize| path.get(..depth).and_then(|path| value_at(value, path)).is_some_and(is_scalar);
    value_at(value, path).is_some() || (0..path.len()).any(is_above)
}

fn is_scalar(value: &Data) -> bool {
    value.as_map().is_none() && value.as_list().is_none()
}
