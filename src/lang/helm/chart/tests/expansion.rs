//! Small charts that ask for much: what multiplies is counted before it is made.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use dropforge_base::limits::{Deadline, Limits};
use dropforge_machine::vm::Session;

/// Returns `Chart.yaml` of a chart whose dependencies are aliases of `child`.
fn aliases(name: &str, child: &str, count: usize, rest: &str) -> String {
    let one = |at: usize| format!("- {{name: {child}, version: 1.0.0, alias: {child}{at}{rest}}}\n");
    let all: String = (0..count).map(one).collect();
    format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\ndependencies:\n{all}")
}

/// Returns the files of charts in charts: each level has `width` aliases of the next.
fn nested(depth: usize, width: usize, rest: &str) -> Vec<(String, String)> {
    let (mut files, mut folder) = (Vec::new(), String::new());
    for level in 0..depth {
        files.push((
            format!("{folder}Chart.yaml"),
            aliases(&format!("c{level}"), &format!("c{}", level + 1), width, rest),
        ));
        folder += &format!("charts/c{}/", level + 1);
    }
    files.push((format!("{folder}Chart.yaml"), format!("apiVersion: v2\nname: c{depth}\nversion: 1.0.0\n")));
    files.push((format!("{folder}templates/a.yaml"), "a: 1\n".to_owned()));
    files
}

fn load(files: Vec<(String, String)>, bounds: Bounds) -> Result<Chart, Diagnostics> {
    let source = ChartSource::from_files(files.into_iter().map(|(path, text)| (path, text.into_bytes())))?;
    Chart::load(&ChartSource { bounds, ..source })
}

fn planned(chart: &Chart, limits: &Limits) -> Result<Plan, Diagnostics> {
    let session = Session::new();
    let values = UserValues::default();
    chart.plan_within(&session.context(limits), &values, &Release::default(), &Capabilities::default())
}

fn first<T>(result: Result<T, Diagnostics>) -> Box<Diagnostic> {
    result.err().expect("an error").into_vec().swap_remove(0)
}

#[test]
fn aliases_of_aliases_are_counted_before_they_are_made() {
    let bomb = nested(10, 4, "");
    let size: usize = bomb.iter().map(|(_, text)| text.len()).sum();
    let error = first(load(bomb, Bounds::default()));
    assert!(size < 4_000 && error.code == Code::LimitTemplates, "{size}, {error}");
    assert!(error.message.contains("the limit is 10,000 charts"), "{error}");
    let note = error.notes.first().unwrap();
    assert!(note.contains("`c0/c10/c20/c30/"), "{note}");
    assert!(error.help.unwrap().contains("`Bounds::charts`"));
}

#[test]
fn as_many_charts_as_the_bound_are_made() {
    for (depth, width, charts) in [(1, 10, 11), (2, 10, 111), (31, 1, 32)] {
        let bounds = |charts| Bounds { charts, ..Bounds::default() };
        let chart = load(nested(depth, width, ""), bounds(charts)).unwrap();
        assert_eq!(planned(&chart, &Limits::default()).unwrap().charts().len(), charts);
        assert_eq!(chart.whole().charts().len(), charts);
        assert_eq!(first(load(nested(depth, width, ""), bounds(charts - 1))).code, Code::LimitTemplates);
    }
}

#[test]
fn disabled_and_unfit_dependencies_make_no_charts_of_their_own() {
    // The second dependency has another version, so it is no chart.
    let root = aliases("c0", "c1", 1, "") + "- {name: c1, version: 2.0.0, alias: other}\n";
    let mut files = nested(1, 1, "");
    files[0].1 = root;
    let chart = load(files, Bounds { charts: 2, ..Bounds::default() }).unwrap();
    assert_eq!(chart.whole().charts().len(), 2);
}

#[test]
fn templates_and_values_count_for_each_alias() {
    let large = "x".repeat(1 << 20);
    for (path, code) in [("templates/b.yaml", Code::LimitSourceBytes), ("crds/b.yaml", Code::LimitSourceBytes)] {
        let mut files = nested(1, 200, "");
        files.push((format!("charts/c1/{path}"), large.clone()));
        assert_eq!(first(load(files, Bounds::default())).code, code, "{path}");
    }
    let many = (0..100).map(|at| (format!("charts/c1/templates/t{at}.yaml"), String::new()));
    let files = nested(1, 201, "").into_iter().chain(many).collect();
    assert_eq!(first(load(files, Bounds::default())).code, Code::LimitTemplates);
    // Other files are shared.
    let mut files = nested(1, 200, "");
    files.push(("charts/c1/files/b".to_owned(), large));
    assert!(load(files, Bounds::default()).is_ok());
}

#[test]
fn imports_of_imports_are_charged() {
    let imports = ", import-values: [{child: d, parent: d.a}, {child: d, parent: d.b}]";
    let mut files = nested(30, 1, imports);
    let folder: String = (1..=30).map(|at| format!("charts/c{at}/")).collect();
    files.push((format!("{folder}values.yaml"), "d: {x: 1}\n".to_owned()));
    let error = first(planned(&load(files, Bounds::default()).unwrap(), &Limits::default()));
    assert_eq!(error.code, Code::LimitMemory, "{error}");
    assert!(error.notes.iter().any(|note| note.contains("the chart `c0/c10/")), "{error}");
}

#[test]
fn values_of_all_charts_are_charged_for_each_chart() {
    let mut files = nested(1, 2_000, "");
    files.push(("values.yaml".to_owned(), format!("global: {{text: {}}}\n", "x".repeat(1 << 18))));
    let error = first(planned(&load(files, Bounds::default()).unwrap(), &Limits::default()));
    assert_eq!(error.code, Code::LimitMemory, "{error}");
}

#[test]
fn the_checks_of_all_charts_share_the_steps_of_a_render() {
    let mut files = nested(1, 50, "");
    let list = (0..200).map(|at| format!("{at},")).collect::<String>();
    files.push(("charts/c1/values.yaml".to_owned(), format!("a: [{list}]\n")));
    files.push((
        "charts/c1/values.schema.json".to_owned(),
        r#"{"properties": {"a": {"items": {"type": "number"}}}}"#.to_owned(),
    ));
    let chart = load(files, Bounds::default()).unwrap();
    assert!(planned(&chart, &Limits::default()).is_ok());
    let error = first(planned(&chart, &Limits { fuel: 5_000, ..Limits::default() }));
    assert_eq!(error.code, Code::LimitFuel, "{error}");
}

#[test]
fn a_plan_ends_at_the_deadline() {
    let chart = load(nested(1, 5_000, ""), Bounds::default()).unwrap();
    let deadline = Arc::new(Deadline::after(Duration::from_secs(600)));
    deadline.cancel();
    let mut session = Session::new();
    session.set_deadline(Some(deadline));
    let (values, limits) = (UserValues::default(), Limits::default());
    let plan = chart.plan_within(&session.context(&limits), &values, &Release::default(), &Capabilities::default());
    assert_eq!(first(plan).code, Code::LimitTime);
}
