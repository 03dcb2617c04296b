//! The digest of everything that decides what a run writes.

use super::fleet::Fleet;
use super::layers::Layers;
use super::plan::Plan;
use blake3::Hasher;
use dropforge_base::diagnostics::Result;
use dropforge_value::{Data, DataMap};

/// The digest of everything that decides what a run writes: version, templates, copied files, values, fleet, options.
///
/// ```
/// use dropforge::bulk::{Cluster, Fleet, Layers, PlanDigest};
/// let digest = |names: &[&str]| {
///     let clusters = names.iter().map(|name| Cluster::new(*name, Default::default())).collect();
///     let mut digest = PlanDigest::default();
///     digest.fleet(&Fleet::new(clusters)?)?;
///     digest.layers(&Layers::default());
///     Ok::<_, Box<dropforge::Diagnostic>>(digest.finish())
/// };
/// assert_eq!(digest(&["a", "b"])?, digest(&["a", "b"])?);
/// assert_ne!(digest(&["a", "b"])?, digest(&["b", "a"])?);
/// # Ok::<(), Box<dropforge::Diagnostic>>(())
/// ```
#[derive(Debug)]
pub struct PlanDigest(Hasher);

impl Default for PlanDigest {
    /// Starts a digest with the version.
    fn default() -> Self {
        let mut digest = Self(Hasher::new());
        digest.text(env!("CARGO_PKG_VERSION"));
        digest
    }
}

impl PlanDigest {
    /// Adds a text, such as an option.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Adds bytes, such as the content of a file.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // The length, so that no two lists of texts are alike.
        self.0.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }

    /// Adds the outputs of a plan.
    pub fn plan(&mut self, plan: &Plan) {
        self.bytes(&(plan.outputs().len() as u64).to_le_bytes());
        for output in plan.outputs() {
            self.text(&output.template);
            self.text(&output.name);
            self.bytes(&[output.executable.into()]);
        }
    }

    /// Adds the shared values.
    pub fn layers(&mut self, layers: &Layers) {
        layers.all().for_each(|one| self.map(one.shared().clone()));
        self.text(layers.merge().name());
    }

    /// Adds the clusters.
    ///
    /// # Errors
    /// Errors of reading them.
    pub fn fleet(&mut self, fleet: &Fleet) -> Result<()> {
        self.bytes(&(fleet.len() as u64).to_le_bytes());
        fleet.each(&mut |_, cluster| {
            self.text(cluster.name());
            self.bytes(&cluster.group().to_le_bytes());
            match cluster.json() {
                Some(json) => self.text(json),
                None => self.map(cluster.inputs()?.into_owned()),
            }
            Ok(())
        })
    }

    fn map(&mut self, map: DataMap) {
        // MessagePack keeps integers, NaN and infinities apart. Writing to a hasher never fails.
        let _ = rmp_serde::encode::write(&mut self.0, &Data::Map(map));
    }

    /// Returns the digest: 32 hexadecimal digits.
    pub fn finish(&self) -> String {
        self.0.finalize().to_hex().chars().take(32).collect()
    }
}
