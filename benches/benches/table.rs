//! The table of figures: every workload, engine, ratio and target, in one run.
//!
//! `cargo bench -p dropforge-benches --bench table [-- --write] [-- --rounds N] [-- --only WORKLOAD…]`
//!
//! Outputs are compared before anything is timed. Rounds are interleaved, and the minimum CPU time counts. With
//! `--write`, `RESULTS.md`, the tables of `docs/speed.md` and the plot of W7 are updated. Rows of tasks that were not measured stay.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use dropforge_benches::arguments::Arguments;
use dropforge_benches::bulk::{Bulk, Scratch, files_below, plain_files, plain_stream};
use dropforge_benches::engines::{Engine, Ours};
use dropforge_benches::files::workloads;
use dropforge_benches::processes::{cold, instructions, memory, printed};
use dropforge_benches::specialised;
use dropforge_benches::subject::Bar;
use dropforge_benches::table::{self, Row, markdown, rows, thousands, time, updated};
use dropforge_benches::w7::{self, CLUSTERS, Files, Fleet};
use dropforge_benches::{WORKLOADS, clock, config, plot, summary, w1};

/// Default rounds: of tasks that take microseconds, of processes, of tasks that take about a second.
const ROUNDS: usize = 400;
const PROCESSES: usize = 300;
const LONG_ROUNDS: usize = 5;

/// Rounds of tasks that need two CPUs at once. On a busy machine few of them are quiet.
const WALL_ROUNDS: usize = 25;

const THREADS: usize = 2;

/// Maximum growth in memory for ten times the clusters that still counts as flat.
const FLAT: f64 = 1.1;

/// Measurements by id. The short workloads run first; a section may add rows to one.
type Section = (&'static str, fn(&Arguments) -> Vec<Row>);
const SECTIONS: [Section; 11] = [
    ("w6-scalars", evaluations),
    ("w6-cel-scalars", cel_evaluations),
    ("w3-write", cel_documents),
    ("hcl-decode", decode),
    ("hcl-corpus", corpus),
    ("w1-costs", costs),
    ("w7", fleet),
    ("w7-specialised", specialised_fleet),
    ("w7-files", files),
    ("w7-memory", peak_memory),
    ("w8", start),
];

fn main() {
    let arguments = Arguments::read(ROUNDS);
    let mut table = Vec::new();
    for (_, make) in WORKLOADS.into_iter().filter(|(id, _)| arguments.wants(id)) {
        let mut workload = make();
        let times = time(&mut workload, arguments.rounds);
        table.extend(rows(&workload, &times));
    }
    for (_, section) in SECTIONS.into_iter().filter(|(id, _)| arguments.wants(id)) {
        table.extend(section(&arguments));
    }
    println!("{}", markdown(&table));
    if arguments.write {
        write(&markdown(&table));
    }
}

/// A long configuration decoded into Rust types.
fn decode(_: &Arguments) -> Vec<Row> {
    let mut workload = config::decode();
    let times = time(&mut workload, LONG_ROUNDS);
    rows(&workload, &times)
}

/// Real configurations parsed, if available. Printed but never written to the page, because not everyone has them.
fn corpus(arguments: &Arguments) -> Vec<Row> {
    if let (false, Some(mut workload)) = (arguments.write, config::corpus()) {
        let times = time(&mut workload, LONG_ROUNDS);
        return rows(&workload, &times);
    }
    Vec::new()
}

/// Allocations of evaluating single values in HCL.
fn evaluations(_: &Arguments) -> Vec<Row> {
    vec![allocations("w6-scalars", "W6: 30 expressions of HCL about single values, allocations of a further round")]
}

/// Allocations of evaluating single values in CEL.
fn cel_evaluations(_: &Arguments) -> Vec<Row> {
    vec![allocations("w6-cel-scalars", "W6: 30 expressions of CEL about single values, allocations of a further round")]
}

/// Allocations of evaluating a CEL-YAML template and writing its documents.
fn cel_documents(_: &Arguments) -> Vec<Row> {
    vec![allocations("w3-write", "W3: `app` in CEL-YAML evaluated and written, allocations of a further render")]
}

/// Counts dropforge's allocations in a repeated run of a workload.
fn allocations(workload: &str, task: &str) -> Row {
    let printed = printed(&[env!("CARGO_BIN_EXE_allocations"), workload]);
    let ours = printed.lines().find_map(|line| line.strip_prefix("dropforge\t")).expect("a line of ours");
    Row::amount(task, ours.to_owned(), "0", ours == "0")
}

/// Allocations and instructions of a W1 render.
fn costs(_: &Arguments) -> Vec<Row> {
    let mut rows = vec![allocations("w1-render", "W1: `app`, allocations of a further render")];
    if let Some(count) = instructions(env!("CARGO_BIN_EXE_once"), "w1-render", "dropforge") {
        let words = thousands(count as f64, 0);
        rows.push(Row::amount("W1: `app`, instructions (callgrind)", words, "≤ 55,000", count <= 55_000));
    }
    rows
}

/// The fleet rendered into memory with specialised templates.
fn specialised_fleet(_: &Arguments) -> Vec<Row> {
    let fleet = Fleet::generate(CLUSTERS);
    let workloads = [specialised::fleet(fleet), specialised::fleet_deep(fleet)];
    let rows = workloads.into_iter().flat_map(|mut workload| {
        let times = time(&mut workload, LONG_ROUNDS);
        rows(&workload, &times)
    });
    rows.collect()
}

/// The fleet rendered into memory.
fn fleet(arguments: &Arguments) -> Vec<Row> {
    let fleet = Fleet::generate(CLUSTERS);
    let mut workload = w7::render(fleet);
    let times = time(&mut workload, LONG_ROUNDS);
    let mut rows = rows(&workload, &times);
    let mut checked = w7::check(fleet);
    let times_checked = time(&mut checked, LONG_ROUNDS);
    rows.extend(table::rows(&checked, &times_checked));
    let run = |threads| {
        black_box(w7::threads(fleet, threads));
    };
    let [many, one] = clock::wall([&mut || run(THREADS), &mut || run(1)], WALL_ROUNDS);
    rows.push(Row::times("W7: the same, 2 threads (wall)", many, "dropforge, 1 thread", one, Bar::Faster(1.7)));
    if arguments.write {
        let svg = plot::bars("W7: 10,000 clusters × 5 templates, 222 MB, 1 thread, seconds", &times);
        std::fs::write(home().join("w7.svg"), svg).expect("the plot can be written");
    }
    rows
}

/// The fleet written to a file system in memory, compared with loops that only write the same bytes.
fn files(_: &Arguments) -> Vec<Row> {
    let generated = Files::generate(CLUSTERS);
    let bulk = Bulk::new(generated.folder());
    let scratch = |name: &str| Scratch::new(name);
    let (tree, text) = (scratch("tree"), scratch("text"));
    bulk.files(THREADS, false, tree.path());
    let files = files_below(tree.path());
    drop(tree);
    let mut best = [f64::INFINITY; 3];
    for _ in 0..LONG_ROUNDS {
        let (ours, checked, theirs) = (scratch("ours"), scratch("checked"), scratch("theirs"));
        let tasks: [&mut dyn FnMut(); 3] = [
            &mut || bulk.files(THREADS, false, ours.path()),
            &mut || bulk.files(THREADS, true, checked.path()),
            &mut || plain_files(&files, THREADS, theirs.path()),
        ];
        let times = clock::wall(tasks, 1);
        best = std::array::from_fn(|task| best[task].min(times[task]));
        assert!(files_below(theirs.path()) == files && files_below(ours.path()) == files, "the same files");
    }
    drop(files);
    let [ours, theirs] = [text.path().join("ours"), text.path().join("theirs")];
    let stream = || bulk.stream(THREADS, &mut std::fs::File::create(&ours).expect("a file"));
    stream();
    let bytes = std::fs::read(&ours).expect("the stream");
    let streamed = clock::wall([&mut || stream(), &mut || plain_stream(&bytes, &theirs)], WALL_ROUNDS);
    vec![
        Row::ratio(
            "W7: stamped to 50,000 files on tmpfs, 2 threads (wall)",
            best[0],
            "the same texts, ready: written and renamed, 2 threads",
            best[2],
            Bar::AtMost(1.25),
        ),
        Row::ratio("W7: the same, outputs checked (wall)", best[1], "dropforge, unchecked", best[0], Bar::AtMost(1.3)),
        Row::ratio(
            "W7: stamped into one stream on tmpfs, 2 threads (wall)",
            streamed[0],
            "the same bytes, ready: written",
            streamed[1],
            Bar::AtMost(1.8),
        ),
    ]
}

/// Peak memory of a stream, without the text of the fleet.
fn peak_memory(_: &Arguments) -> Vec<Row> {
    let peak = |clusters| {
        let (peak, text) = memory(env!("CARGO_BIN_EXE_fleet"), Files::generate(clusters).folder(), THREADS);
        (peak - text) / 1e6
    };
    let (many, few) = (peak(CLUSTERS), peak(CLUSTERS / 10));
    let task = "W7: peak memory of a stream, the fleet's text aside, 2 threads";
    let row = Row::ratio(task, many, "a tenth of the clusters", few, Bar::AtMost(FLAT));
    vec![Row { ours: format!("{many:.1} MB"), theirs: format!("{few:.1} MB"), bar: "flat".into(), ..row }]
}

/// A process that renders one manifest, from source or from an artifact, compared with an empty process.
fn start(_: &Arguments) -> Vec<Row> {
    let scratch = Scratch::new("artifact");
    let artifact = scratch.path().join("w1.mpk");
    std::fs::write(&artifact, Ours::new(w1::templates::<Ours>()).artifact()).expect("an artifact");
    let [folder, artifact] = [workloads().join("w1/tera1"), artifact].map(|path| path.to_string_lossy().into_owned());
    let inputs = workloads().join("w1/context.json").to_string_lossy().into_owned();
    let [source, loaded] = [&folder, &artifact].map(|from| [env!("CARGO_BIN_EXE_cold"), from, "app.tera", &inputs]);
    let expected = std::fs::read_to_string(workloads().join("w1/expected/app.yaml")).expect("what is expected");
    for command in [&source, &loaded] {
        assert_eq!(printed(command), expected, "the manifest");
    }
    let [source, loaded, empty] = cold([&source, &loaded, &[env!("CARGO_BIN_EXE_empty")]], PROCESSES);
    let row = |task: &str, ours: f64, most: f64| {
        let more = (ours - empty) * 1e3;
        let (ratio, bar) = (format!("+{more:.2} ms"), format!("≤ +{most} ms"));
        let row = Row::times(task, ours, "an empty process", empty, Bar::AtMost(f64::INFINITY));
        Row { ratio, bar, reached: Some(more <= most), ..row }
    };
    vec![
        row("W8: process start to `app`, from source", source, 0.4),
        row("W8: process start to `app`, from an artifact of all five", loaded, 0.15),
    ]
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Updates the table of `RESULTS.md`, and those of `docs/speed.md`, which are read off it.
fn write(table: &str) {
    let (results, page) = (home().join("RESULTS.md"), home().join("../docs/speed.md"));
    let table = replace(&results, |old| updated(old, table));
    replace(&page, |_| summary::page(&table));
}

/// Replaces the table between its marks in a file, and returns it.
fn replace(path: &Path, new: impl FnOnce(&str) -> String) -> String {
    let text = std::fs::read_to_string(path).expect("a file with a table");
    let (head, rest) = text.split_once("<!-- figures -->\n").expect("where the table begins");
    let (old, tail) = rest.split_once("<!-- /figures -->").expect("where the table ends");
    let table = new(old);
    let text = format!("{head}<!-- figures -->\n{table}<!-- /figures -->{tail}");
    std::fs::write(path, text).expect("the file can be written");
    table
}
