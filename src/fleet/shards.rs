//! Shards: a fleet that several processes stamp, each its own clusters.
//!
//! Every process reads the whole fleet and stamps the clusters of its shard. A cluster belongs to a shard by a hash of its
//! name, so a new cluster moves no other. Instead of the state, a shard writes a part of it:
//! `.dropforge/parts/PLAN/I-of-N.state`, where `PLAN` is a digest of all inputs. Once every part is there,
//! [`finish_shards`](super::finish_shards) makes them into the state.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

/// The directory of the parts of states.
pub const PARTS: &str = ".dropforge/parts";
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
    /// The digest of the run's inputs, as [`PlanDigest::finish`](super::PlanDigest::finish) returns it.
    pub plan: String,
    /// The shard.
    pub shard: Shard,
}

impl PlanShard {
    /// Returns the path of its part of the state.
    pub fn part(&self) -> String {
        self.own("state")
    }

    /// Returns the path of the options of its run.
    pub fn runs(&self) -> String {
        self.own("runs")
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
