//! Shards: a fleet that several processes stamp, each its own clusters.
//!
//! Every process reads the whole fleet and stamps the clusters of its shard. A cluster belongs to a shard by a hash of its
//! name, so a new cluster moves no other. Instead of the manifest, a shard writes a part of it:
//! `.dropforge-parts/PLAN/I-of-N.json`, where `PLAN` is a digest of all inputs. Once every part is there, [`finish_shards`]
//! makes them into the manifest.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use crate::destination::Destination;
use crate::fleet::Fleet;
use crate::job::Job;
use crate::key_set::KeySet;
use crate::layers::Layers;
use crate::manifest::{Manifest, Row, Rows};
use crate::output_dir::OutputDir;
use crate::plan::Plan;
use crate::report::Report;
use crate::stamp::{Before, Made, end, made_twice};
use blake3::Hasher;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted, listed};
use dropforge_value::{Data, DataMap};
use xxhash_rust::xxh3::xxh3_64;

/// The directory of the parts of manifests.
pub const PARTS: &str = ".dropforge-parts";
/// Maximum number of shards.
const MAX_SHARDS: u32 = 100_000;

/// One of several disjoint sets of clusters.
///
/// ```
/// use dropforge::bulk::Shard;
/// let shards: Vec<Shard> = (0..3).map(|index| Shard::new(index, 3).unwrap()).collect();
/// assert_eq!(shards.iter().filter(|shard| shard.has("eu-1")).count(), 1);
/// assert_eq!("2/3".parse(), Ok(shards[2]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// Creates shard `index`, counted from 0, of `count`. Returns `None` if there is no such shard.
    pub fn new(index: u32, count: u32) -> Option<Self> {
        (index < count && count <= MAX_SHARDS).then_some(Self { index, count })
    }

    /// Returns `true` if the cluster called `name` belongs to the shard.
    pub fn has(self, name: &str) -> bool {
        xxh3_64(name.as_bytes()) % u64::from(self.count) == u64::from(self.index)
    }
}

impl fmt::Display for Shard {
    /// Formats the index and the number of shards: `2/3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    /// Parses the index and the number of shards: `2/3`.
    ///
    /// # Errors
    /// A message that says what is expected.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        numbers.and_then(|(index, count)| Self::new(index, count)).ok_or_else(|| {
            "expected I/N: the index of the shard, from 0 to N-1, and the number of shards, at most 100,000".to_owned()
        })
    }
}

/// A shard of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanShard {
    /// The digest of the run's inputs, as [`PlanDigest::finish`] returns it.
    pub plan: String,
    /// The shard.
    pub shard: Shard,
}

impl PlanShard {
    /// Returns the path of its part of the manifest.
    pub fn part(&self) -> String {
        self.own("json")
    }

    /// Returns the path of the record of the files that it may write.
    pub fn record(&self) -> String {
        self.own("run")
    }

    /// Returns the path of the mark of a run that was killed.
    pub fn killed(&self) -> String {
        self.own("killed")
    }

    /// Returns the prefix of its lock in an object store.
    #[cfg(feature = "remote")]
    pub fn lock(&self) -> String {
        self.own("lock")
    }

    fn own(&self, extension: &str) -> String {
        format!("{PARTS}/{}/{}-of-{}.{extension}", self.plan, self.shard.index, self.shard.count)
    }
}

/// Maximum number of shards or outputs to name.
const NAMED: usize = 5;

/// Ends a run of `count` shards in the directory `out`: makes their parts into the manifest, prunes, and removes all
/// parts, also those of other plans. `job` is the run without shards; `plan` is the digest of its inputs.
///
/// # Errors
/// `plan.missing_part`; `plan.duplicate_output` if two shards made the same file; `file.locked`, `file.bad_manifest`,
/// and errors of opening the directory. Errors of pruning are in the report.
pub fn finish_shards(job: &Job<'_>, plan: &str, count: u32, out: &Path) -> Result<Report> {
    let dir = OutputDir::create(out)?;
    dir.lock(true)?;
    finish_shards_of(job, plan, count, &dir)
}

/// Works like [`finish_shards`], for any destination. It must be locked.
///
/// # Errors
/// Same as [`finish_shards`]; errors of the destination.
pub(crate) fn finish_shards_of<D: Destination>(job: &Job<'_>, plan: &str, count: u32, to: &D) -> Result<Report> {
    let manifest = Manifest::of(Some(to))?;
    let parts = parts(plan, count, to)?;
    let (count, files) = files(job, &parts)?;
    let mut report = Report { clusters: job.plan.clusters(), unchanged: count, ..Report::default() };
    // The record of a run that was killed stays: its files may be in no part.
    let before = Before { manifest: &manifest, stale: None, record: None };
    end(job, to, before, Ok(files), &mut report);
    Ok(report)
}

/// Opens the parts of a plan.
fn parts<D: Destination>(plan: &str, count: u32, from: &D) -> Result<Vec<Manifest>> {
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for shard in (0..count).filter_map(|index| Shard::new(index, count)) {
        let part = PlanShard { plan: plan.to_owned(), shard }.part();
        match from.open_own(&part)? {
            Some(file) => parts.push(Manifest::part(part, file)),
            None => missing.push(shard.to_string()),
        }
    }
    if missing.is_empty() { Ok(parts) } else { Err(missing_parts(&missing, count)) }
}

/// Returns the error of shards that are not done.
pub(crate) fn missing_parts(missing: &[String], count: u32) -> Box<Diagnostic> {
    let message = match missing.len() == count as usize {
        true => format!("none of {} has stamped this plan", counted(missing.len(), "shard")),
        false => format!("{} of {count} shards did not finish this plan", missing.len()),
    };
    let help = "run these shards again, then finish; a plan is the same templates, values, fleet, options and version";
    let note = format!("shards: {}", listed(missing, NAMED));
    Diagnostic::new(Code::MissingPart, message).with_note(note).with_help(help)
}

/// Returns the number of files of all parts, and the files.
///
/// # Errors
/// `plan.duplicate_output` if two shards made the same file; errors of reading the parts.
fn files(job: &Job<'_>, parts: &[Manifest]) -> Result<(usize, Made)> {
    let outputs = job.plan.outputs().iter().map(|output| job.options.templates.path(&output.template));
    let templates: HashMap<&str, u32> = outputs.zip(0..).collect();
    let (mut rows, mut paths, mut count) = (Rows::default(), KeySet::default(), 0);
    for part in parts {
        part.each(&mut |entry| {
            let found = entry.maker.and_then(|(cluster, template)| Some((cluster, *templates.get(template)?)));
            let (cluster, template) = found.ok_or_else(|| part.damaged())?;
            count += 1;
            paths.add(entry.path)?;
            rows.add(Row::of(entry, cluster, template))
        })?;
    }
    let paths = paths.sort()?;
    if !paths.are_distinct()
        && let Some(error) = made_twice("shards", &paths, parts)?
    {
        return Err(error);
    }
    Ok((count, (rows, Arc::new(paths))))
}

/// Removes the parts of all plans, and what killed shards left behind.
///
/// # Errors
/// Errors of the destination.
pub(crate) fn remove_parts<D: Destination>(from: &D) -> Result<()> {
    let mut own = Vec::new();
    from.each_own(PARTS, &mut |path| {
        own.push(path.to_owned());
        Ok(())
    })?;
    if own.iter().any(|path| path.ends_with(".killed")) {
        from.sweep()?;
    }
    own.iter().try_for_each(|path| from.remove_own(path))
}

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
        self.map(layers.shared().clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cluster_is_in_one_shard_and_stays_there() {
        for count in [1, 2, 3, 16, 1_000] {
            let shards: Vec<Shard> = (0..count).map(|index| Shard::new(index, count).unwrap()).collect();
            let mut sizes = vec![0; shards.len()];
            for name in (0..4_000).map(|nth| format!("cluster-{nth}")) {
                let of: Vec<usize> = (0..shards.len()).filter(|nth| shards[*nth].has(&name)).collect();
                assert_eq!(of.len(), 1);
                sizes[of[0]] += 1;
            }
            let mean = 4_000 / count as usize;
            assert!(count > 16 || sizes.iter().all(|size| *size > mean / 2 && *size < mean * 2), "{sizes:?}");
        }
        // The division is part of the format of parts.
        let of = |name: &str| (0..16).find(|index| Shard::new(*index, 16).unwrap().has(name));
        assert_eq!(["eu-1", "us-1", ""].map(of), [Some(7), Some(6), Some(2)]);
    }

    #[test]
    fn only_existing_shards_are_parsed() {
        assert_eq!("0/1".parse::<Shard>().map(|shard| shard.to_string()), Ok("0/1".to_owned()));
        for text in ["", "1", "1/1", "0/0", "-1/2", "a/b", "0/100001", "1/2/3", " 0/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
