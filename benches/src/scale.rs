//! Runs of large fleets and a busy catalog, computed from measured costs: the tables of `docs/scale.md`.
//!
//! ```
//! use dropforge_benches::scale::{Run, Target};
//! let run = Run { clusters: 1e7, shards: 16.0, target: Target::Packs };
//! assert!(run.times().wall() < 3_600.0);
//! ```

use std::fmt::Write;

/// A number that the tables are computed from.
pub struct Input {
    pub name: &'static str,
    pub value: f64,
    pub unit: &'static str,
    /// The command that measures it, or the origin of an assumption.
    pub from: &'static str,
}

macro_rules! inputs {
    ($($list:ident { $($id:ident = $value:literal, $unit:literal, $name:literal, $from:literal;)* })*) => {
        $($(const $id: f64 = $value;)*)*
        $(pub const $list: &[Input] = &[$(Input { name: $name, value: $value, unit: $unit, from: $from },)*];)*
    };
}

inputs! {
    MEASURED {
    TO_DIRECTORY = 33.6, "µs", "CPU time of an output to a directory", "`time dropforge -j1 stamp TEMPLATES --fleet 10k.ndjson -f VALUES -o out -q`";
    TO_STREAM = 7.4, "µs", "CPU time of an output to a stream", "`time dropforge -j1 stamp TEMPLATES --fleet 10k.ndjson -f VALUES --layout single -q`";
    PLAN = 5.0, "µs", "CPU time of a cluster that is read, named and planned, but not stamped", "`time dropforge -j1 stamp TEMPLATES --fleet 100k.ndjson -f VALUES -o one -q -l name=us-lakes-prod-0000`";
    ENTRY = 1.0, "µs", "CPU time of an entry of the state that is read", "the command for a planned cluster with `10k.ndjson` and `-o out`, less the same with `-o one`";
    PACKING = 3.8, "µs", "CPU time of an output in a pack", "`tar -C out --exclude=.dropforge -cf out.tar . && time zstd -k -3 out.tar`";
    OUTPUT = 1705.0, "bytes", "an output", "`find out -name '*.yaml' -printf '%s\\n' \\| awk '{s+=$1} END {print s/NR}'`";
    IN_TAR = 2540.0, "bytes", "an output in a tar file", "`wc -c < out.tar`, a 50,000th";
    IN_PACK = 39.0, "bytes", "an output in a pack", "`wc -c < out.tar.zst`, a 50,000th";
    IN_STATE = 166.0, "bytes", "an output in the state", "`cat out/.dropforge/clusters/* \\| wc -c`, a 50,000th";
    REPLICA = 1265.0, "requests/s", "instantiations of a catalog replica over PostgreSQL", "[the catalog's load test](catalog.md#throughput), 16 clients";
    SYNC = 0.3, "ms", "a synced write of 4 KiB", "[the same page](catalog.md#throughput)";
    }

    ASSUMED {
    CORES = 2.0, "cores", "a shard", "the resources in `deploy/kubernetes/fleet-job.yaml`";
    OUTPUTS = 5.0, "outputs", "a cluster", "the templates of `examples/fleet`";
    PUTS = 3500.0, "puts/s", "a prefix of a bucket", "the limit that Amazon publishes for S3; November 2026, from memory";
    CONNECTIONS = 64.0, "puts", "underway in a shard", "`CONNECTIONS` in `src/remote/store.rs`";
    PUT = 50.0, "ms", "a put", "a usual time within a region; November 2026, from memory";
    PACK = 256.0, "MiB", "the tar file in a pack", "chosen";
    CORE_HOUR = 0.04, "USD", "a core-hour", "virtual machines on demand; November 2026, from memory of public price lists";
    THOUSAND_PUTS = 0.005, "USD", "1,000 puts", "S3 Standard; November 2026, from memory of public price lists";
    GIGABYTE = 0.023, "USD", "a GB for a month", "S3 Standard; November 2026, from memory of public price lists";
    }
}

const MICRO: f64 = 1e-6;
const MILLI: f64 = 1e-3;

/// The place that outputs are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Disk,
    Objects,
    Packs,
}

impl Target {
    const ALL: [Self; 3] = [Self::Disk, Self::Objects, Self::Packs];

    fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Objects => "bucket, an object each",
            Self::Packs => "bucket, packs",
        }
    }

    /// Returns the CPU time of an output in seconds, without that of planning its cluster.
    fn cpu(self) -> f64 {
        let with_plan = match self {
            Self::Disk => TO_DIRECTORY,
            Self::Objects => TO_STREAM,
            Self::Packs => TO_STREAM + PACKING,
        };
        (with_plan - PLAN / OUTPUTS) * MICRO
    }
}

/// A fleet stamped in shards, each of which reads the whole fleet and stamps its part of it.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub clusters: f64,
    pub shards: f64,
    pub target: Target,
}

/// The parts of a run, in seconds of the wall clock. Stamping and puts overlap. Every shard reads the names of the whole
/// fleet, and one process reads the states of all shards.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub names: f64,
    pub stamp: f64,
    pub puts: f64,
    pub state: f64,
}

impl Times {
    /// Returns the seconds until the state is written.
    pub fn wall(&self) -> f64 {
        self.names + self.stamp.max(self.puts) + self.state
    }

    /// Returns the longest part, and its remedy.
    pub fn limit(&self) -> (&'static str, &'static str) {
        let parts = [
            (self.stamp, ("CPU", "more shards")),
            (self.puts, ("puts", "packs, or a prefix for each shard")),
            (self.names, ("names", "a fleet file for each shard")),
            (self.state, ("state", "a state for each shard")),
        ];
        let longest = parts.into_iter().reduce(|longest, part| if part.0 > longest.0 { part } else { longest });
        longest.map_or(("", ""), |(_, limit)| limit)
    }
}

impl Run {
    fn outputs(&self) -> f64 {
        self.clusters * OUTPUTS
    }

    /// Returns the number of objects put, state aside.
    pub fn puts(&self) -> f64 {
        match self.target {
            Target::Disk => 0.0,
            Target::Objects => self.outputs(),
            // A shard has at least one pack.
            Target::Packs => (self.outputs() * IN_TAR / (PACK * 1024.0 * 1024.0)).ceil().max(self.shards),
        }
    }

    /// Returns the bytes that stay in the bucket.
    pub fn stored(&self) -> f64 {
        match self.target {
            Target::Disk => 0.0,
            Target::Objects => self.outputs() * (OUTPUT + IN_STATE),
            Target::Packs => self.outputs() * (IN_PACK + IN_STATE),
        }
    }

    pub fn times(&self) -> Times {
        // All shards write below one prefix.
        let rate = (self.shards * CONNECTIONS / (PUT * MILLI)).min(PUTS);
        Times {
            names: self.clusters * PLAN * MICRO,
            stamp: self.outputs() * self.target.cpu() / (self.shards * CORES),
            puts: self.puts() / rate,
            state: self.outputs() * ENTRY * MICRO,
        }
    }

    /// Returns the core-hours that the run holds. Shards hold theirs until the last output, the finishing job its own
    /// for the state.
    pub fn core_hours(&self) -> f64 {
        let times = self.times();
        CORES * (self.shards * (times.names + times.stamp.max(times.puts)) + times.state) / 3_600.0
    }

    /// Returns the cost in USD of the cores and the puts, and of a month in the bucket.
    pub fn cost(&self) -> (f64, f64) {
        let run = self.core_hours() * CORE_HOUR + self.puts() / 1_000.0 * THOUSAND_PUTS;
        (run, self.stored() / 1e9 * GIGABYTE)
    }

    /// Returns a row with the length of each part.
    fn parts(&self) -> String {
        let times = self.times();
        let parts = [times.names, times.stamp, times.puts, times.state].map(duration).join(" | ");
        format!("| {} | {} | {parts} |\n", count(self.clusters), self.target.name())
    }

    fn row(&self) -> String {
        let (times, (run, month)) = (self.times(), self.cost());
        let (limit, remedy) = times.limit();
        let cells = [
            count(self.clusters),
            number(self.shards),
            self.target.name().to_owned(),
            duration(times.wall()),
            number(self.core_hours()),
            money(run),
            if self.target == Target::Disk { "–".to_owned() } else { money(month) },
            limit.to_owned(),
            remedy.to_owned(),
        ];
        format!("| {} |\n", cells.join(" | "))
    }
}

const SIZES: [f64; 3] = [1e5, 1e7, 1e9];
const SHARDS: [f64; 3] = [1.0, 16.0, 256.0];
const REPLICAS: [f64; 3] = [1.0, 4.0, 16.0];

/// Returns the text between the markers of `docs/scale.md`.
pub fn tables() -> String {
    let mut out = String::from(
        "| clusters | shards | target | wall time | core-hours | run, USD | month, USD | longest part | remedy |\n\
         |--:|--:|---|--:|--:|--:|--:|---|---|\n",
    );
    for clusters in SIZES {
        for shards in SHARDS {
            Target::ALL.into_iter().for_each(|target| out.push_str(&Run { clusters, shards, target }.row()));
        }
    }
    out.push_str("\n| clusters | target | names | stamping | puts | state |\n|--:|---|--:|--:|--:|--:|\n");
    for clusters in SIZES {
        Target::ALL.into_iter().for_each(|target| out.push_str(&Run { clusters, shards: SHARDS[1], target }.parts()));
    }
    out.push_str("\n| instantiations | replicas | wall time | longest part | remedy |\n|--:|--:|--:|---|---|\n");
    for requests in SIZES {
        REPLICAS.into_iter().for_each(|replicas| out.push_str(&catalog(requests, replicas)));
    }
    for (title, list) in [("measured", MEASURED), ("assumed", ASSUMED)] {
        let _ = write!(out, "\n| {title} | value | from |\n|---|--:|---|\n");
        for Input { name, value, unit, from } in list {
            let value = if *value < 1_000.0 { value.to_string() } else { number(*value) };
            let _ = writeln!(out, "| {name} | {value} {unit} | {from} |");
        }
    }
    out
}

/// Returns the row of a catalog with `replicas` over one database. Each request is a transaction, which is synced alone
/// at worst.
fn catalog(requests: f64, replicas: f64) -> String {
    let (cpu, syncs) = (replicas * REPLICA, 1.0 / (SYNC * MILLI));
    let (limit, remedy) = match cpu <= syncs {
        true => ("CPU", "more replicas"),
        false => ("the database's log", "a database for each part of the objects"),
    };
    let wall = duration(requests / cpu.min(syncs));
    format!("| {} | {} | {wall} | {limit} | {remedy} |\n", count(requests), number(replicas))
}

/// Prints a power of ten.
fn count(number: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    format!("10{}", DIGITS[number.log10().round() as usize % 10])
}

/// Prints two significant digits, or a whole number with separators.
fn number(number: f64) -> String {
    if number < 9.95 && number.fract() != 0.0 {
        let places = (1.0 - number.log10().floor()).max(1.0) as usize;
        return format!("{number:.places$}");
    }
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn money(amount: f64) -> String {
    if amount < 0.01 { "< 0.01".to_owned() } else { number(amount) }
}

fn duration(seconds: f64) -> String {
    match seconds {
        0.0 => "–".to_owned(),
        s if s < 0.01 => "< 0.01 s".to_owned(),
        s if s < 120.0 => format!("{} s", number(s)),
        s if s < 7_200.0 => format!("{} min", number((s / 60.0).round())),
        s if s < 172_800.0 => format!("{} h", number(s / 3_600.0)),
        s => format!("{} days", number(s / 86_400.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE=1 cargo test -p dropforge-benches --lib scale` writes the tables.
    #[test]
    fn the_page_has_these_tables() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/scale.md");
        let text = std::fs::read_to_string(page).expect("the page");
        let (before, rest) = text.split_once("<!-- scale -->\n").expect("where the tables begin");
        let (found, after) = rest.split_once("<!-- /scale -->").expect("where the tables end");
        if std::env::var_os("UPDATE").is_some() {
            let text = format!("{before}<!-- scale -->\n{}<!-- /scale -->{after}", tables());
            std::fs::write(page, text).expect("written");
        } else {
            assert_eq!(found, tables());
        }
    }

    #[test]
    fn each_part_can_be_the_longest() {
        let limit = |clusters, shards, target| Run { clusters, shards, target }.times().limit().0;
        assert_eq!(limit(1e5, 1.0, Target::Disk), "CPU");
        assert_eq!(limit(1e7, 16.0, Target::Objects), "puts");
        assert_eq!(limit(1e9, 256.0, Target::Packs), "names");
        let times = Times { names: 1.0, stamp: 2.0, puts: 3.0, state: 4.0 };
        assert_eq!((times.limit().0, times.wall()), ("state", 8.0));
    }

    #[test]
    fn more_shards_take_less_time_and_more_of_them_all() {
        for target in Target::ALL {
            let [one, many] = [1.0, 256.0].map(|shards| Run { clusters: 1e9, shards, target });
            assert!(many.times().wall() < one.times().wall() && many.core_hours() > one.core_hours());
            assert_eq!(one.outputs(), 5e9);
        }
        let packs = Run { clusters: 1e5, shards: 256.0, target: Target::Packs };
        assert_eq!(packs.puts(), 256.0);
        assert_eq!(Run { target: Target::Objects, ..packs }.cost().0 as u64, 3);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0123, 3.75, 4.0, 12.4, 1234.5].map(number), ["0.012", "3.8", "4", "12", "1,234"]);
        assert_eq!([3.0, 119.0, 7_000.0, 80_000.0, 1e6].map(duration), ["3 s", "119 s", "117 min", "22 h", "12 days"]);
        assert_eq!((count(1e7), money(0.001)), ("10⁷".to_owned(), "< 0.01".to_owned()));
    }
}
