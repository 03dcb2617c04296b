//! The construct table: one use of each filter, test, function, statement and operator, beside other engines.
//!
//! `cargo bench -p dropforge-benches --bench constructs [-- --write] [-- --quick] [-- --only NAME…]`
//!
//! `--only` takes languages and parts of construct names. `--quick` times fewer rounds. `--no-count` leaves the
//! instructions out, which need valgrind. With `--write` the results of a whole run go to `constructs.md`.

use std::path::Path;

use dropforge_benches::bulk::Scratch;
use dropforge_benches::constructs::measure::{Measured, count, instructions, time};
use dropforge_benches::constructs::{LANGUAGES, Language, Row, report};

/// Rounds, and rounds with `--quick`.
const ROUNDS: usize = 150;
const QUICK: usize = 15;

const HEAD: &str = "# What one use of a construct costs

`cargo bench -p dropforge-benches --bench constructs -- --write` writes this file.

A row is a micro-template that runs for 100 different items. `ours`, the peers' figures and the ratios `×` are the time of one use: the
loop with the construct minus the same loop with a plain emission, divided by the items, for every engine alike. Differences below
2 ns count as 2 ns. `instructions` is the same difference, counted by callgrind. `body` is the library call that the engines have in
common, on ready arguments. `with its loop` subtracts nothing. `converted` subtracts nothing and converts the inputs that the row
reads from `serde_json` values each time. Every engine writes the same bytes, which is checked before the rows are timed. Rounds are
interleaved, and the minimum CPU time counts.
";

#[derive(Default)]
struct Arguments {
    write: bool,
    count: bool,
    counting: Option<String>,
    rounds: usize,
    only: Vec<String>,
}

fn main() {
    let arguments = arguments();
    if let Some(name) = &arguments.counting {
        return counting(name, &arguments.only);
    }
    let mut out = HEAD.to_owned();
    for language in LANGUAGES {
        let rows = wanted(language, &arguments.only);
        if !rows.is_empty() {
            out += &report::section(language, &measured(language, &rows, &arguments));
        }
    }
    println!("{out}");
    if arguments.write {
        assert!(arguments.only.is_empty(), "--write writes all rows");
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("constructs.md"), out).expect("the table is written");
    }
}

/// Runs the rows of a language with these names, for callgrind.
fn counting(language: &str, names: &[String]) {
    let language = LANGUAGES.iter().find(|known| known.name == language).expect("a language");
    let rows: Vec<&Row> = language.rows.iter().filter(|row| names.iter().any(|name| name == row.name)).collect();
    count(language, &rows);
}

fn arguments() -> Arguments {
    let mut arguments = Arguments { rounds: ROUNDS, count: true, ..Arguments::default() };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--bench" => (),
            "--write" => arguments.write = true,
            "--quick" => arguments.rounds = QUICK,
            "--no-count" => arguments.count = false,
            "--counting" => arguments.counting = given.next(),
            "--only" => arguments.only.extend(given.by_ref()),
            other => panic!("{other:?} is not known here"),
        }
    }
    arguments
}

/// Returns the rows of a language that `only` selects.
fn wanted(language: &Language, only: &[String]) -> Vec<&'static Row> {
    let is = |row: &Row| {
        only.is_empty() || only.iter().any(|only| only == language.name || only == row.construct() || only == row.name)
    };
    language.rows.iter().filter(|row| is(row)).collect()
}

fn measured(language: &Language, rows: &[&'static Row], arguments: &Arguments) -> Vec<Measured> {
    let mut measured: Vec<Measured> = rows.iter().map(|row| time(language, row, arguments.rounds)).collect();
    if arguments.count {
        let scratch = Scratch::new("constructs");
        let mut again = vec!["--counting", language.name, "--only"];
        again.extend(rows.iter().map(|row| row.name));
        let counts = instructions(rows, &again, scratch.path());
        for (measured, count) in measured.iter_mut().zip(counts.into_iter().flatten()) {
            measured.instructions = Some(count);
        }
    }
    measured
}
