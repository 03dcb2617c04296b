//! Stamps a fleet of releases of the chart in a folder into a discarded stream. Prints by how many bytes the peak memory of
//! the process grows until the chart is compiled, and until the fleet is stamped. `chart FOLDER CHART CLUSTERS [NAME]`.

use std::path::Path;

use dropforge::bulk::Specialise;
use dropforge::dialect::helm::chart::ChartSource;
use dropforge_benches::charts::fleet::{ChartFleet, Paths};
use dropforge_benches::processes::peak;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, chart, clusters, name @ ..] = arguments.as_slice() else {
        panic!("chart FOLDER CHART CLUSTERS [NAME]")
    };
    let source = ChartSource::open(Path::new(folder)).expect("a chart");
    let (paths, clusters) = (Paths::of(chart), clusters.parse().expect("a number of clusters"));
    let name = name.first().map(String::as_str);
    let before = peak();
    ChartFleet::new(&source, paths, 1, name).stream(Specialise::Never, &mut std::io::sink());
    let compiled = peak();
    ChartFleet::new(&source, paths, clusters, name).stream(Specialise::Always, &mut std::io::sink());
    println!("{} {}", compiled - before, peak() - before);
}
