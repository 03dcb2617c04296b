//! `helm/rows_values.jsonl`: small charts with values, and the texts or the error of each.

use dropforge::diagnostics::{Diagnostic, Diagnostics};
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, HelmLine, Output, Release, UserValues};
use dropforge::engine::chart::{ChartRender, ChartTemplate};
use serde_json::Value;

use crate::helm_fixed::engine;
use crate::report::{Outcome, Row};

/// The length of messages that were cut without a mark when the rows were made.
const CUT: usize = 3000;

/// Renders the chart of a row with its values.
pub fn run_row(row: &Row) -> Outcome {
    let row = &row.row;
    let rendered = source(row).and_then(|source| engine().chart(&source)).and_then(|chart| render(&chart, row));
    judged(&row["expect"], rendered)
}

/// Returns the files of a chart: texts, and bytes in base64.
pub fn source(row: &Value) -> Result<ChartSource, Diagnostics> {
    let files = |key: &str| row[key].as_object().into_iter().flatten();
    let plain = files("files").map(|(path, text)| (path.clone(), text.as_str().unwrap_or("").as_bytes().to_vec()));
    let bytes = files("files_b64").map(|(path, text)| (path.clone(), base64(text.as_str().unwrap_or(""))));
    Ok(ChartSource::from_files(plain.chain(bytes))?)
}

fn base64(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).expect("a file in base64")
}

/// Renders a chart with the values, the release and the cluster of a row.
pub fn render(chart: &ChartTemplate, row: &Value) -> Result<ChartRender, Diagnostics> {
    let release = Release {
        name: row["release"].as_str().unwrap_or("release-name").to_owned(),
        namespace: row["namespace"].as_str().unwrap_or("default").to_owned(),
        is_upgrade: row["is_upgrade"].as_bool().unwrap_or(false),
        ..Release::default()
    };
    chart.render(&values(row)?, &release, &capabilities(row)?)
}

fn texts<'r>(row: &'r Value, key: &str) -> impl Iterator<Item = &'r str> {
    row[key].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn values(row: &Value) -> Result<UserValues, Diagnostics> {
    let mut values = UserValues::default();
    for (at, text) in texts(row, "values").enumerate() {
        values.file(&format!("values[{at}]"), text)?;
    }
    texts(row, "set_json").try_for_each(|text| values.set_json(text))?;
    texts(row, "set").try_for_each(|text| values.set(text))?;
    texts(row, "set_string").try_for_each(|text| values.set_string(text))?;
    texts(row, "set_literal").try_for_each(|text| values.set_literal(text))?;
    Ok(values)
}

fn capabilities(row: &Value) -> Result<Capabilities, Box<Diagnostic>> {
    let mut capabilities = Capabilities::of_helm(HelmLine::V4_2).with_apis(texts(row, "api_versions"));
    let text = str::to_owned;
    let helm = &mut capabilities.helm_version;
    (helm.version, helm.git_commit, helm.go_version) = (text("v4.2.4"), text("fixed"), text("go1.27.3"));
    match row["kube_version"].as_str() {
        Some(version) => capabilities.with_kube_version(version),
        None => Ok(capabilities),
    }
}

fn judged(expect: &Value, rendered: Result<ChartRender, Diagnostics>) -> Outcome {
    match (expect["rendered"].as_object(), rendered) {
        (None, Err(errors)) => judge_errors(expect, &errors),
        (None, Ok(_)) => Outcome::Fail(format!("want the error {}", expect["message"])),
        (Some(_), Err(errors)) => Outcome::Fail(format!("got the errors {errors}")),
        (Some(want), Ok(render)) => {
            let differs = render
                .files()
                .iter()
                .find(|(name, text)| want.get(name).and_then(Value::as_str) != Some(text.as_str()));
            if let Some((name, text)) = differs {
                return Outcome::Fail(format!(
                    "{name}: want {:?}, got {text:?}",
                    want.get(name).and_then(Value::as_str)
                ));
            }
            if render.files().len() != want.len() {
                return Outcome::Fail(format!("want {} files, got {}", want.len(), render.files().len()));
            }
            judge_output(expect, render.output())
        }
    }
}

fn judge_output(expect: &Value, output: Result<Output, Box<Diagnostic>>) -> Outcome {
    let want = expect["helm_template"].as_str();
    match (expect["sort_error"].as_str(), output) {
        (Some(want), Err(error)) => same_message(want, &error),
        (Some(want), Ok(_)) => Outcome::Fail(format!("want the error {want}")),
        (None, Err(_)) if want.is_none() && expect["order"].is_null() => Outcome::Pass,
        (None, Err(error)) => Outcome::Fail(format!("got the error {error}")),
        (None, Ok(output)) => {
            if let Some(want) = want.filter(|want| *want != output.text()) {
                return Outcome::Fail(format!("want {want:?}, got {:?}", output.text()));
            }
            let got = order(&output);
            match expect["order"].as_array() {
                Some(want) if *want != got => Outcome::Fail(format!("want the order {want:?}, got {got:?}")),
                _ => Outcome::Pass,
            }
        }
    }
}

/// Returns the documents of an output as the rows list them.
fn order(output: &Output) -> Vec<Value> {
    let entry = |source: &str, kind: &str, name: &str| {
        let mut entry = serde_json::json!({ "source": source });
        for (key, text) in [("kind", kind), ("name", name)] {
            if !text.is_empty() {
                entry[key] = text.into();
            }
        }
        entry
    };
    let manifests = output.manifests.iter().map(|one| entry(&one.source, &one.kind, &one.name));
    let hooks = output.hooks.iter().map(|hook| {
        let mut entry = entry(&hook.manifest.source, &hook.manifest.kind, &hook.manifest.name);
        entry["hook"] = hook.events.iter().map(|event| event.name()).collect();
        if hook.weight != 0 {
            entry["weight"] = hook.weight.into();
        }
        entry
    });
    manifests.chain(hooks).collect()
}

/// Checks that the first error is the reference's.
pub fn judge_errors(expect: &Value, errors: &Diagnostics) -> Outcome {
    let Some(first) = errors.first() else { return Outcome::Fail("there is no error".into()) };
    let stage = first.fields.get("stage").map(String::as_str);
    if stage != expect["stage"].as_str() {
        return Outcome::Fail(format!("want the stage {}, got {stage:?}: {errors}", expect["stage"]));
    }
    match expect["message"].as_str() {
        Some(want) if expect.get("message_truncated").is_some() || want.len() == CUT => begins_alike(want, first),
        Some(want) => same_message(want, first),
        // The message depends on the order of a map.
        None => Outcome::Pass,
    }
}

/// Returns Helm's own message of an error.
pub fn message(error: &Diagnostic) -> &str {
    error.fields.get("go_message").unwrap_or(&error.message)
}

fn same_message(want: &str, error: &Diagnostic) -> Outcome {
    if message(error) == want {
        Outcome::Pass
    } else {
        Outcome::Fail(format!("want {want:?}, got {:?}", message(error)))
    }
}

fn begins_alike(want: &str, error: &Diagnostic) -> Outcome {
    let begins = message(error).starts_with(want);
    if begins { Outcome::Pass } else { Outcome::Fail(format!("want {want:?}…, got {:?}", message(error))) }
}
