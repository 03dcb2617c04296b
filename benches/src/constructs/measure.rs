//! Measuring of rows: seconds and instructions of one use.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use super::shared::Calls;
use super::{Language, Make, PEERS, Row, Task};
use crate::clock::measure;
use crate::subject::Subject;

/// Seconds of one use of a construct by one engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// The use alone: the loop with the construct without the loop with the plain emission.
    pub net: f64,
    /// The use with its share of the loop.
    pub gross: f64,
    /// The same, inputs converted each time.
    pub converted: f64,
}

/// The figures of a row.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The row.
    pub row: &'static Row,
    /// Our cost.
    pub ours: Cost,
    /// Instructions of one use by us, if they were counted.
    pub instructions: Option<f64>,
    /// Seconds of the call that all engines have in common.
    pub shared: Option<f64>,
    /// The costs of the peers.
    pub peers: [Option<Cost>; PEERS],
}

/// Times a row. All rounds of all engines are interleaved.
///
/// # Panics
/// Panics if the engines differ in what they write.
pub fn time(language: &Language, row: &'static Row, rounds: usize) -> Measured {
    let mut subjects = all(language, row);
    check(language, row, &mut subjects);
    let mut each: Vec<Box<dyn Subject>> = subjects.into_iter().flat_map(|(_, tasks)| tasks).collect();
    each.extend(row.shared.map(|call| Box::new(Calls::new(call)) as Box<dyn Subject>));
    let times = measure(&mut each, rounds);
    let mut costs = times.chunks_exact(TASKS.len()).map(|times| cost(row, times));
    let ours = costs.next().unwrap_or_default();
    let peers = std::array::from_fn(|at| row.peers[at].and_then(|_| costs.next()));
    let shared = row.shared.and(times.last()).map(|seconds| seconds / super::data::ITEMS as f64);
    Measured { row, ours, instructions: None, shared, peers }
}

const TASKS: [Task; 3] = [Task::Use, Task::Plain, Task::Converted];

fn cost(row: &Row, times: &[f64]) -> Cost {
    let [gross, plain, converted] = [0, 1, 2].map(|at| times[at] / row.uses());
    Cost { net: gross - plain, gross, converted }
}

/// Subjects of every engine of a row, ours first: the engine's name and a subject for each task.
type Subjects = Vec<(&'static str, Vec<Box<dyn Subject>>)>;

fn all(language: &Language, row: &Row) -> Subjects {
    let tasks = |text: &str, make: Make| TASKS.iter().map(|task| subject(text, *task, row, make)).collect();
    let peers = language.peers.iter().zip(&row.peers);
    let peers = peers.filter_map(|((name, _, make), text)| Some((*name, tasks((*text)?, *make))));
    [("dropforge", tasks(row.text, language.ours))].into_iter().chain(peers).collect()
}

fn subject(text: &str, task: Task, row: &Row, make: Make) -> Box<dyn Subject> {
    make(if task == Task::Plain { row.plain } else { text }, task, row)
}

/// Compares what the engines of a row write, for every task.
fn check(language: &Language, row: &Row, subjects: &mut Subjects) {
    let mut expected: Vec<String> = Vec::new();
    for (engine, tasks) in subjects {
        let written: Vec<String> = tasks.iter_mut().map(|subject| subject.output()).collect();
        assert_eq!(written[0], written[2], "{}, {}: {engine} with conversion", language.name, row.name);
        if expected.is_empty() {
            expected = written;
        } else {
            assert_eq!(expected, written, "{}, {}: dropforge, then {engine}", language.name, row.name);
        }
    }
}

/// Checks a row without timing it.
///
/// # Panics
/// Panics if the engines differ in what they write.
pub fn verify(language: &Language, row: &'static Row) {
    check(language, row, &mut all(language, row));
}

/// Rounds before a counted one.
const WARM: usize = 3;

/// Runs our subjects of `rows` once, each in [`counted`]: the process that [`instructions`] watches.
pub fn count(language: &Language, rows: &[&Row]) {
    for row in rows {
        for task in [Task::Use, Task::Plain] {
            let mut subject = subject(row.text, task, row, language.ours);
            (0..WARM).for_each(|_| subject.run());
            counted(&mut *subject);
        }
    }
}

/// Runs a subject once. Callgrind finds this function by its name, and begins a part of its output where it is entered.
#[inline(never)]
fn counted(subject: &mut dyn Subject) {
    measured(subject);
    black_box(subject);
}

/// Runs a subject once. Callgrind ends the part where this function is left: it takes one of the two for a function.
#[inline(never)]
fn measured(subject: &mut dyn Subject) {
    subject.run();
    black_box(subject);
}

/// Counts our instructions of one use for each of `rows`, with this program below callgrind: `arguments` make it call
/// [`count`]. Returns `None` without valgrind.
pub fn instructions(rows: &[&Row], arguments: &[&str], folder: &Path) -> Option<Vec<f64>> {
    let program = std::env::current_exe().ok()?;
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--dump-before=*constructs::measure::counted*"])
        .args([
            "--dump-after=*constructs::measure::measured*",
            &format!("--callgrind-out-file={}/counts", folder.display()),
        ])
        .arg(program)
        .args(arguments)
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.ok()?.success(), "valgrind fails");
    // Each call makes two parts: what ran before it, and the call.
    let counts: Vec<f64> = (1..=2 * rows.len()).map(|call| total(folder, 2 * call)).collect();
    Some(rows.iter().zip(counts.chunks_exact(2)).map(|(row, pair)| (pair[0] - pair[1]) / row.uses()).collect())
}

/// Reads the instructions of one part of callgrind's output.
fn total(folder: &Path, part: usize) -> f64 {
    let path = folder.join(format!("counts.{part}"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let total = text.lines().find_map(|line| line.strip_prefix("summary: ").or(line.strip_prefix("totals: ")));
    total.and_then(|total| total.trim().parse().ok()).expect("a sum")
}
