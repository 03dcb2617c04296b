//! The time of rendering a chart, step by step, compared with recorded times of Helm's engine.
//!
//! `CONFORMANCE_DIR=DIR cargo bench -p dropforge-benches --bench charts [-- --rounds N] [--only CHART…]`
//!
//! `DIR/helm/charts/*.jsonl.xz` hold the charts and the digests of their outputs. The recorded times are scaled by the time
//! that minijinja takes for W1 in the same run.

use dropforge::diagnostics::Diagnostics;
use dropforge::dialect::helm::chart::{Capabilities, UserValues};
use dropforge::engine::Engine as Forge;
use dropforge::vm::Session;
use dropforge_benches::arguments::Arguments;
use dropforge_benches::charts::cases::{Case, cases};
use dropforge_benches::charts::recorded::{RECORDED, Recorded};
use dropforge_benches::charts::scale::Scale;
use dropforge_benches::charts::{fixed, folder};
use dropforge_benches::clock::thread_time;
use dropforge_benches::table::duration;
use sha2::{Digest, Sha256};

/// Default number of rounds.
const ROUNDS: usize = 60;

/// Targets at the geometric mean and, where there is one, for each chart: the whole, the render alone, from an artifact.
const TARGETS: [(&str, f64, f64); 3] =
    [("whole", 10.0, 5.0), ("render again", 20.0, 10.0), ("from an artifact", 25.0, 0.0)];

fn main() {
    let Some(folder) = folder() else { return };
    let arguments = Arguments::read(ROUNDS);
    let (mut scale, mut measured) = (Scale::default(), Vec::new());
    for (recorded, case) in RECORDED.iter().zip(cases(&folder)).filter(|(one, _)| arguments.wants(one.chart)) {
        match time(&case, &mut scale, arguments.rounds) {
            Ok(times) => measured.push((recorded, times)),
            Err(errors) => println!("{} is not measured: {errors}", case.chart),
        }
    }
    print(&measured, scale.factor());
}

/// The steps of rendering a chart.
const STEPS: [&str; 8] = ["load", "values", "compile", "render", "output", "whole", "render again", "from an artifact"];

/// Least times of the steps in seconds.
type Times = [f64; STEPS.len()];

/// Checks the output of a case, then times its steps. Each round does everything, as a new process would, except that the
/// session keeps its memory, renders once more, and then does everything but compiling, from an artifact.
///
/// # Errors
/// The errors of the chart.
fn time(case: &Case, scale: &mut Scale, rounds: usize) -> Result<Times, Diagnostics> {
    let (engine, mut session) = (fixed::engine(), Session::new());
    let artifact = engine.bundle_chart(&case.source, &[UserValues::default()])?.encode()?;
    let text = round(case, &artifact, &engine, &mut session)?.1;
    let digest: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, case.digest, "{}: the text of {} bytes differs", case.chart, text.len());
    let mut best = [f64::INFINITY; STEPS.len()];
    for _ in 0..rounds {
        scale.sample();
        let times = round(case, &artifact, &engine, &mut session)?.0;
        best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
    }
    Ok(best)
}

/// Renders a case once from its files, once again, and once from its artifact. Returns the times of the steps, and the text.
fn round(case: &Case, artifact: &[u8], engine: &Forge, session: &mut Session) -> Result<(Times, String), Diagnostics> {
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
    let bytes = artifact.to_vec();
    let open = thread_time();
    let chart = engine.open(bytes)?.chart()?;
    let plan = chart.chart().plan(&values, &case.release, &capabilities)?;
    let same = chart.render_in(session, plan)?.output()?.text() == text;
    let opened = thread_time() - open;
    assert!(same, "{}: the text from the artifact differs", case.chart);
    let whole = end - copied + (compiled - start);
    let [load, values, compile] = [loaded - start, planned - loaded, compiled - planned];
    let [render, output] = [rendered - copied, end - rendered];
    Ok(([load, values, compile, render, output, whole, rerendered - warm, opened], text))
}

/// Prints a table of times and ratios.
fn print(measured: &[(&Recorded, Times)], scale: f64) {
    println!("| chart | {} |\n|---|{}", STEPS.join(" | "), "--:|".repeat(STEPS.len()));
    let mut ratios = TARGETS.map(|_| Vec::new());
    for (recorded, times) in measured {
        let cells = times
            .iter()
            .zip(of_steps(recorded))
            .map(|(ours, theirs)| format!("{} ({:.1} ×)", duration(*ours), theirs * 1e-3 * scale / ours));
        println!("| {} | {} |", recorded.chart, cells.collect::<Vec<_>>().join(" | "));
        let [.., whole, again, opened] = times;
        let pairs = [(recorded.total, whole), (recorded.exec, again), (recorded.total, opened)];
        ratios.iter_mut().zip(pairs).for_each(|(ratios, (theirs, ours))| ratios.push(theirs * 1e-3 * scale / ours));
    }
    for ((what, most, each), ratios) in TARGETS.into_iter().zip(ratios) {
        let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let (mean, least) = ((logs / ratios.len() as f64).exp(), ratios.iter().copied().fold(f64::INFINITY, f64::min));
        let each = if each > 0.0 { format!(" (bar {each} ×)") } else { String::new() };
        println!("\n{what}: geometric mean {mean:.1} × (bar {most} ×), least {least:.1} ×{each}");
    }
}

/// Returns the recorded times of our steps.
fn of_steps(recorded: &Recorded) -> Times {
    let Recorded { load, values, parse, exec, sort, total, .. } = *recorded;
    [load, values, parse, exec, sort, total, exec, total]
}
