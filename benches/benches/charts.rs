//! The time of rendering a chart, step by step, compared with recorded times of Helm's engine.
//!
//! `CONFORMANCE_DIR=DIR cargo bench -p dropforge-benches --bench charts [-- --rounds N] [--only CHART…]`
//!
//! `DIR/helm/charts/*.jsonl.xz` hold the charts and the digests of their outputs. The recorded times are scaled by the time
//! that minijinja takes for W1 in the same run.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use dropforge::diagnostics::Diagnostics;
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, UserValues};
use dropforge::engine::Engine as Forge;
use dropforge::vm::Session;
use dropforge_benches::clock::thread_time;
use dropforge_benches::engines::{Engine, Minijinja};
use dropforge_benches::table::duration;
use dropforge_benches::w1;
use serde_json::Value;
use sha2::{Digest, Sha256};

#[path = "../../spec-tests/conformance/helm_fixed.rs"]
mod helm_fixed;

/// Default number of rounds.
const ROUNDS: usize = 60;

/// The time of minijinja for W1 `app` on the machine of the recorded times, in seconds.
const MINIJINJA: f64 = 48.6e-6;

/// Renders of minijinja in each round.
const SCALE_RUNS: u32 = 20;

/// Targets of the whole and of the render alone: at the geometric mean, and for each chart.
const WHOLE: [f64; 2] = [10.0, 5.0];
const RENDER: [f64; 2] = [20.0, 10.0];

/// Recorded times of Helm 4.2.4 in milliseconds, for default values: its engine as a Go program, CPU time of the process,
/// the best of 15 runs in a warm process (`helm/README.md` beside the charts, "Speed of the Go engine").
struct Recorded {
    chart: &'static str,
    load: f64,
    values: f64,
    parse: f64,
    exec: f64,
    sort: f64,
    total: f64,
}

/// The charts. The recorded chart of Cilium is a smaller version than the one among the cases.
const RECORDED: [Recorded; 5] = [
    Recorded {
        chart: "kube-prometheus-stack",
        load: 14.82,
        values: 3.68,
        parse: 47.10,
        exec: 46.29,
        sort: 43.15,
        total: 159.21,
    },
    Recorded { chart: "cilium-cilium", load: 6.67, values: 1.29, parse: 7.78, exec: 16.99, sort: 4.50, total: 40.90 },
    Recorded { chart: "datadog", load: 6.86, values: 3.76, parse: 12.55, exec: 8.39, sort: 55.48, total: 93.07 },
    Recorded { chart: "consul", load: 3.75, values: 0.22, parse: 12.57, exec: 8.08, sort: 54.89, total: 86.85 },
    Recorded { chart: "wordpress", load: 5.36, values: 14.67, parse: 7.74, exec: 10.23, sort: 2.39, total: 44.24 },
];

fn main() {
    let Some(folder) = std::env::var_os("CONFORMANCE_DIR") else {
        return println!("CONFORMANCE_DIR is not set: it names the folder that has `helm/charts`");
    };
    let arguments = arguments();
    let wanted = |chart: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == chart);
    let cases = cases(&Path::new(&folder).join("helm/charts"));
    let (mut scale, mut measured) = (Scale::new(), Vec::new());
    for recorded in RECORDED.iter().filter(|recorded| wanted(recorded.chart)) {
        let case = cases.iter().find(|case| case.chart == recorded.chart);
        let case = case.unwrap_or_else(|| panic!("there is no case `{}/default`", recorded.chart));
        match time(case, &mut scale, arguments.rounds) {
            Ok(times) => measured.push((recorded, times)),
            Err(errors) => println!("{} is not measured: {errors}", case.chart),
        }
    }
    print(&measured, scale.best / MINIJINJA);
}

struct Arguments {
    rounds: usize,
    only: Vec<String>,
}

fn arguments() -> Arguments {
    let mut arguments = Arguments { rounds: ROUNDS, only: Vec::new() };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--bench" => (),
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

/// A chart with default values, and the digest of its output.
struct Case {
    chart: String,
    source: ChartSource,
    release: Release,
    digest: String,
}

/// Returns the cases of the charts in [`RECORDED`].
fn cases(folder: &Path) -> Vec<Case> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "xz")).collect();
    files.sort();
    files.iter().flat_map(|path| cases_of(path)).collect()
}

fn cases_of(path: &Path) -> Vec<Case> {
    let file = std::fs::File::open(path).expect("the cases can be read");
    let mut text = Vec::new();
    lzma_rs::xz_decompress(&mut BufReader::new(file), &mut text).expect("the cases are compressed by xz");
    let text = String::from_utf8(text).expect("cases are UTF-8");
    let (mut found, mut pack) = (Vec::new(), None);
    for line in text.lines() {
        let is_needed = |head: &str| RECORDED.iter().any(|one| line.starts_with(&format!("{head}{}", one.chart)));
        if line.starts_with("{\"pack\"") {
            let row: Value = serde_json::from_str(line).expect("a row is JSON");
            pack = Some(row).filter(|row| RECORDED.iter().any(|one| row["pack"]["chart"] == one.chart));
        } else if let (Some(pack), true) =
            (&pack, is_needed("{\"case\": {\"id\": \"") || is_needed("{\"case\":{\"id\":\""))
        {
            let row: Value = serde_json::from_str(line).expect("a row is JSON");
            found.extend(case(&pack["pack"], &row["case"]));
        }
    }
    found
}

/// Returns a case with default values.
fn case(pack: &Value, case: &Value) -> Option<Case> {
    let chart = pack["chart"].as_str()?.to_owned();
    let text = |key: &str| case[key].as_str().unwrap_or("default").to_owned();
    let digest = case["expect"]["helm_template_sha256"].as_str()?.to_owned();
    let release = Release { name: text("release"), namespace: text("namespace"), ..Release::default() };
    let is_default = case["id"].as_str() == Some(&format!("{chart}/default"));
    is_default.then(|| Case { chart, source: source(pack), release, digest })
}

/// Returns the files of a chart: texts, and bytes in base64.
fn source(pack: &Value) -> ChartSource {
    use base64::Engine as _;
    let files = |key: &str| pack[key].as_object().into_iter().flatten();
    let bytes = |text: &str| base64::engine::general_purpose::STANDARD.decode(text).expect("a file in base64");
    let plain = files("files").map(|(path, text)| (path.clone(), text.as_str().unwrap_or("").as_bytes().to_vec()));
    let packed = files("files_b64").map(|(path, text)| (path.clone(), bytes(text.as_str().unwrap_or(""))));
    ChartSource::from_files(plain.chain(packed)).expect("the files of a chart")
}

/// The least time of minijinja for W1 so far.
struct Scale {
    minijinja: Minijinja,
    inputs: <Minijinja as Engine>::Ready,
    text: String,
    best: f64,
}

impl Scale {
    fn new() -> Self {
        let mut minijinja = Minijinja::new(w1::templates::<Minijinja>());
        minijinja.compile();
        let inputs = minijinja.ready(&w1::inputs());
        Self { minijinja, inputs, text: String::new(), best: f64::INFINITY }
    }

    fn sample(&mut self) {
        let start = thread_time();
        for _ in 0..SCALE_RUNS {
            self.text.clear();
            self.minijinja.render(0, &self.inputs, &mut self.text);
        }
        self.best = self.best.min((thread_time() - start) / f64::from(SCALE_RUNS));
    }
}

/// The steps of rendering a chart.
const STEPS: [&str; 7] = ["load", "values", "compile", "render", "output", "whole", "render again"];

/// Least times of the steps in seconds.
type Times = [f64; STEPS.len()];

/// Checks the output of a case, then times its steps. Each round does everything, as a new process would, except that the
/// session keeps its memory, and then renders once more.
///
/// # Errors
/// The errors of the chart.
fn time(case: &Case, scale: &mut Scale, rounds: usize) -> Result<Times, Diagnostics> {
    let (engine, mut session) = (helm_fixed::engine(), Session::new());
    let text = round(case, &engine, &mut session)?.1;
    let digest: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, case.digest, "{}: the text of {} bytes differs", case.chart, text.len());
    let mut best = [f64::INFINITY; STEPS.len()];
    for _ in 0..rounds {
        scale.sample();
        let times = round(case, &engine, &mut session)?.0;
        best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
    }
    Ok(best)
}

/// Renders a case once. Returns the times of the steps, and the text.
fn round(case: &Case, engine: &Forge, session: &mut Session) -> Result<(Times, String), Diagnostics> {
    let (values, mut capabilities) = (UserValues::default(), Capabilities::default());
    capabilities.helm_version.git_commit = "fixed".to_owned();
    let start = thread_time();
    let chart = engine.chart(&case.source)?;
    let loaded = thread_time();
    let plan = chart.chart().plan(&values, &case.release, &capabilities)?;
    let planned = thread_time();
    chart.compile_for(&plan)?;
    let compiled = thread_time();
    let again = plan.clone();
    let copied = thread_time();
    let render = chart.render_in(session, plan)?;
    let rendered = thread_time();
    let text = render.output()?.text();
    let end = thread_time();
    drop(render);
    let warm = thread_time();
    let render = chart.render_in(session, again)?;
    let rerendered = thread_time();
    drop(render);
    let whole = end - copied + (compiled - start);
    let [load, values, compile] = [loaded - start, planned - loaded, compiled - planned];
    let [render, output] = [rendered - copied, end - rendered];
    Ok(([load, values, compile, render, output, whole, rerendered - warm], text))
}

/// Prints a table of times and ratios.
fn print(measured: &[(&Recorded, Times)], scale: f64) {
    println!("minijinja W1 here ÷ {:.1} µs: {scale:.3}\n", MINIJINJA * 1e6);
    println!("| chart | {} |\n|---|{}", STEPS.join(" | "), "--:|".repeat(STEPS.len()));
    let mut ratios = [Vec::new(), Vec::new()];
    for (recorded, times) in measured {
        let cells = times
            .iter()
            .zip(of_steps(recorded))
            .map(|(ours, theirs)| format!("{} ({:.1} ×)", duration(*ours), theirs * 1e-3 * scale / ours));
        println!("| {} | {} |", recorded.chart, cells.collect::<Vec<_>>().join(" | "));
        let [.., whole, again] = times;
        ratios[0].push(recorded.total * 1e-3 * scale / whole);
        ratios[1].push(recorded.exec * 1e-3 * scale / again);
    }
    for ((what, bars), ratios) in [("whole", WHOLE), ("render again", RENDER)].into_iter().zip(ratios) {
        let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let (mean, least) = ((logs / ratios.len() as f64).exp(), ratios.iter().copied().fold(f64::INFINITY, f64::min));
        let [most, each] = bars;
        println!("\n{what}: geometric mean {mean:.1} × (bar {most} ×), least {least:.1} × (bar {each} ×)");
    }
}

/// Returns the recorded times of our steps.
fn of_steps(recorded: &Recorded) -> Times {
    let Recorded { load, values, parse, exec, sort, total, .. } = *recorded;
    [load, values, parse, exec, sort, total, exec]
}
