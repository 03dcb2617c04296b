//! Charts with default values.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use dropforge::dialect::helm::chart::{ChartSource, Release};
use serde_json::Value;

use super::recorded::RECORDED;

/// A chart with default values, and the digest of its output.
#[derive(Debug)]
pub struct Case {
    /// The name of the chart.
    pub chart: String,
    /// The files of the chart.
    pub source: ChartSource,
    /// The release.
    pub release: Release,
    /// The SHA-256 of the text of `helm template`, in hexadecimal.
    pub digest: String,
}

/// Returns the cases of the charts in [`RECORDED`], in its order, from a folder.
///
/// # Panics
/// Panics if the folder cannot be read, or if a chart is not there.
pub fn cases(folder: &Path) -> Vec<Case> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "xz")).collect();
    files.sort();
    let mut found: Vec<Case> = files.iter().flat_map(|path| cases_of(path)).collect();
    let place = |chart: &str| {
        let place = found.iter().position(|case| case.chart == chart);
        place.unwrap_or_else(|| panic!("there is no case `{chart}/default`"))
    };
    let order = RECORDED.map(|one| place(one.chart));
    let mut found: Vec<Option<Case>> = found.drain(..).map(Some).collect();
    order.into_iter().filter_map(|at| found.get_mut(at)?.take()).collect()
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
