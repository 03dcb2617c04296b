//! The time of a release in a fleet of a chart, compared with recorded times of Helm's engine.
//!
//! `CONFORMANCE_DIR=DIR cargo bench -p dropforge-benches --bench chart_fleets [-- --rounds N] [--only CHART…]`
//!
//! `DIR/helm/charts/*.jsonl.xz` hold the charts. The clusters differ in the tag of an image, a number of replicas, a limit, a
//! boolean that switches a document, and a string in a `ConfigMap`. They are stamped on one thread into a stream that is
//! discarded, and that of some clusters is compared with renders one by one. Recorded times are scaled by the time that
//! minijinja takes for W1 in the same run.

use std::fmt::Write;

use dropforge::bulk::Specialise;
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, UserValues};
use dropforge::vm::Session;
use dropforge_benches::arguments::Arguments;
use dropforge_benches::bulk::Scratch;
use dropforge_benches::charts::cases::{Case, cases};
use dropforge_benches::charts::fleet::{ChartFleet, Paths};
use dropforge_benches::charts::recorded::{RECORDED, Recorded};
use dropforge_benches::charts::scale::Scale;
use dropforge_benches::charts::{fixed, folder};
use dropforge_benches::clock::{process_time, thread_time};
use dropforge_benches::processes::numbers;
use dropforge_benches::table::duration;

/// Default number of rounds.
const ROUNDS: usize = 5;

/// Clusters of a fleet.
const CLUSTERS: usize = 1_000;

/// Clusters whose texts are compared with renders one by one.
const COMPARED: usize = 40;

/// Fleets: the name of all releases, if they have one, and the target at the geometric mean.
const FLEETS: [(&str, Option<&str>, f64); 2] = [("one name", Some("fleet"), 100.0), ("own names", None, 30.0)];

/// Samples of the scale in each round.
const SAMPLES: usize = 50;

/// Calls of `tpl` in a template.
const CALLS: usize = 500;

fn main() {
    let arguments = Arguments::read(ROUNDS);
    calls(arguments.rounds);
    let Some(folder) = folder() else { return };
    let cases: Vec<Case> = cases(&folder).into_iter().filter(|case| arguments.wants(&case.chart)).collect();
    cases.iter().for_each(compare);
    let (mut scale, mut times) = (Scale::default(), Vec::new());
    for case in &cases {
        times.push(FLEETS.map(|(_, name, _)| time(case, name, &mut scale, arguments.rounds)));
    }
    print(&cases, &times, scale.factor());
    memory(&cases);
}

/// Checks that releases of a fleet have the same texts as if rendered one by one.
fn compare(case: &Case) {
    for (what, name, _) in FLEETS {
        let fleet = ChartFleet::new(&case.source, Paths::of(&case.chart), COMPARED, name);
        let [shared, alone] = [Specialise::Always, Specialise::Never].map(|specialise| {
            let mut text = Vec::new();
            (fleet.stream(specialise, &mut text), text)
        });
        assert!(shared.1 == alone.1, "{}, {what}: the texts differ", case.chart);
        assert!(shared.0 > COMPARED / 2 && alone.0 == 0, "{}, {what}: {} releases share a plan", case.chart, shared.0);
    }
}

/// Returns the least time of a release in a fleet, in seconds. It includes the time to compile the chart.
fn time(case: &Case, name: Option<&str>, scale: &mut Scale, rounds: usize) -> f64 {
    let paths = Paths::of(&case.chart);
    let round = |_| {
        (0..SAMPLES).for_each(|_| scale.sample());
        let fleet = ChartFleet::new(&case.source, paths, CLUSTERS, name);
        let start = process_time();
        fleet.stream(Specialise::IfItPays, &mut std::io::sink());
        (process_time() - start) / CLUSTERS as f64
    };
    (0..rounds).map(round).fold(f64::INFINITY, f64::min)
}

/// Prints a table of times and ratios.
fn print(cases: &[Case], times: &[[f64; FLEETS.len()]], scale: f64) {
    let names = FLEETS.map(|(what, ..)| what).join(" | ");
    println!("| chart, a release of {CLUSTERS} | {names} |\n|---|{}", "--:|".repeat(FLEETS.len()));
    let mut logs = [0.0; FLEETS.len()];
    for (case, times) in cases.iter().zip(times) {
        let recorded = RECORDED.iter().find(|recorded| recorded.chart == case.chart).map_or(0.0, Recorded::seconds);
        let mut cells = String::new();
        for (time, logs) in times.iter().zip(&mut logs) {
            let ratio = recorded * scale / time;
            *logs += ratio.ln() / cases.len() as f64;
            let _ = write!(cells, "{} ({ratio:.1} ×) | ", duration(*time));
        }
        println!("| {} | {}", case.chart, cells.trim_end());
    }
    for ((what, _, bar), logs) in FLEETS.into_iter().zip(logs) {
        println!("\n{what}: geometric mean {:.1} × (bar {bar} ×)", logs.exp());
    }
}

/// Prints the memory of charts, and of fleets with one name.
fn memory(cases: &[Case]) {
    println!("\n| chart | compiled and rendered once, peak memory | a fleet of {CLUSTERS} |\n|---|--:|--:|");
    for case in cases {
        let scratch = Scratch::new("chart");
        for file in case.source.files() {
            let path = scratch.path().join(file.path());
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, file.bytes()).expect("a file");
        }
        let folder = scratch.path().to_string_lossy();
        let command = [env!("CARGO_BIN_EXE_chart"), &folder, &case.chart, &CLUSTERS.to_string(), "fleet"];
        let (compiled, stamped) = numbers(&command);
        println!("| {} | {:.1} MB | {:.1} MB |", case.chart, compiled / 1e6, stamped / 1e6);
    }
}

/// Prints the times of calls of `tpl`, of one text and of different texts.
fn calls(rounds: usize) {
    let one = "{{ tpl \"{{ .Values.a }}\" $ }}";
    let many = |text: &str| format!("{{{{ range $i, $_ := until {CALLS} }}}}{text}{{{{ end }}}}");
    let other = "{{ tpl (printf \"{{ .Values.a }}%d\" $i) $ }}";
    let [one, same, different] = [one, &many(one), &many(other)].map(|template| render(template, rounds));
    println!("| calls of `tpl` in a render | time | one call |\n|---|--:|--:|");
    for (what, calls, time) in [("one", 1, one), ("of one text", CALLS, same), ("of different texts", CALLS, different)]
    {
        println!("| {calls} ({what}) | {} | {} |", duration(time), duration(time / calls as f64));
    }
    println!();
}

/// Returns the least time of rendering a chart with one template.
fn render(template: &str, rounds: usize) -> f64 {
    let files = [
        ("Chart.yaml", "apiVersion: v2\nname: calls\nversion: 1.0.0\n"),
        ("values.yaml", "a: b\n"),
        ("templates/a.txt", template),
    ];
    let source = ChartSource::from_files(files).expect("a chart");
    let chart = fixed::engine().chart(&source).unwrap_or_else(|errors| panic!("{errors}"));
    let (values, release, mut session) = (UserValues::default(), Release::default(), Session::new());
    let plan =
        chart.chart().plan(&values, &release, &Capabilities::default()).unwrap_or_else(|errors| panic!("{errors}"));
    let round = |_| {
        let plan = plan.clone();
        let start = thread_time();
        chart.render_in(&mut session, plan).unwrap_or_else(|errors| panic!("{errors}"));
        thread_time() - start
    };
    (0..rounds * 20).map(round).fold(f64::INFINITY, f64::min)
}
