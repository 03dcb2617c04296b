//! The table of figures: every workload, every peer, ratio and bar, in one run.
//!
//! `cargo bench -p dropforge-benches --bench table [-- --write] [-- --rounds N] [-- --only WORKLOAD…]`
//!
//! Outputs are compared before anything is timed; rounds are interleaved; the minimum of the processor's time
//! counts. With `--write` the table in the README takes what was measured.

use std::hint::black_box;
use std::path::Path;

use dropforge_benches::table::{Row, markdown, row, rows};
use dropforge_benches::w7::{CLUSTERS, Fleet};
use dropforge_benches::{WORKLOADS, clock, subject::Bar, w7};

/// Rounds of what takes microseconds, unless said; and of what takes a second.
const ROUNDS: usize = 400;
const LONG_ROUNDS: usize = 5;

struct Arguments {
    write: bool,
    rounds: usize,
    only: Vec<String>,
}

fn main() {
    let arguments = arguments();
    let wanted = |id: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == id);
    let mut table = Vec::new();
    for (id, make) in WORKLOADS {
        if wanted(id) {
            table.extend(rows(make(), arguments.rounds));
        }
    }
    if wanted("w7") {
        table.extend(fleet());
    }
    let table = markdown(&table);
    println!("{table}");
    if arguments.write {
        write(&table);
    }
}

fn arguments() -> Arguments {
    let mut arguments = Arguments { write: false, rounds: ROUNDS, only: Vec::new() };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--bench" => (),
            "--write" => arguments.write = true,
            "--rounds" => {
                let rounds = given.next().and_then(|rounds| rounds.parse().ok());
                arguments.rounds = rounds.expect("--rounds takes a number");
            }
            "--only" => arguments.only.extend(given.by_ref()),
            other => panic!("{other:?} is not known here"),
        }
    }
    arguments
}

fn fleet() -> Vec<Row> {
    let fleet = Fleet::generate(CLUSTERS);
    let mut rows = rows(w7::render(fleet), LONG_ROUNDS);
    let run = |threads| {
        black_box(w7::threads(fleet, threads));
    };
    let [two, one] = clock::wall([&mut || run(2), &mut || run(1)], LONG_ROUNDS);
    rows.push(row("W7: the same, 2 threads", two, "dropforge, 1 thread", one, Bar::Faster(1.7)));
    rows
}

/// Puts the table between its marks in the README.
fn write(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(&path).expect("the README");
    let (head, rest) = readme.split_once("<!-- figures -->\n").expect("where the table begins");
    let (_, tail) = rest.split_once("<!-- /figures -->").expect("where the table ends");
    let readme = format!("{head}<!-- figures -->\n{table}<!-- /figures -->{tail}");
    std::fs::write(&path, readme).expect("the README can be written");
}
