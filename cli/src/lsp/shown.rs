//! The values that the expressions of open documents have in the chosen cluster.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dropforge::bytecode::Dialect;
use dropforge::engine::chart::ChartTemplate;
use dropforge::engine::recording::ShownValue;
use dropforge::limits::Limits;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

use super::home::Language;
use super::quick::Ready;
use super::values::{Planned, file_of};
use super::world::{Shown, Snapshot};
use crate::options::limits;

/// The time that a render for the values may take.
const TIME: Duration = Duration::from_millis(300);
/// The number of steps that it may take.
const FUEL: u64 = 2_000_000;

/// Returns the values of the expressions of documents of one home.
pub(super) fn of(ready: &Ready, paths: &[PathBuf], snapshot: &Snapshot) -> Vec<(PathBuf, Shown)> {
    let of_chart = ready.values.planned.as_ref().map(|planned| chart(planned, ready.home.chart()));
    let mut all = Vec::new();
    for path in paths {
        let Some((_, _, content)) = snapshot.documents.get(path) else { continue };
        let values = match (ready.home.language(path), &of_chart) {
            (Language::Template(Dialect::Helm), Some(found)) => {
                let own = found.iter().filter(|(file, _)| file == path);
                own.map(|(_, value)| value.clone()).collect()
            }
            (Language::Template(_), _) => template(ready, path, snapshot).unwrap_or_default(),
            _ => continue,
        };
        all.push((path.clone(), Shown { content: content.clone(), values }));
    }
    all
}

/// Returns the limits of a render for the values.
pub(super) fn bounded() -> Limits {
    Limits { time: Some(TIME), fuel: FUEL, ..limits() }
}

fn template(ready: &Ready, path: &Path, snapshot: &Snapshot) -> Option<Vec<ShownValue>> {
    let template = ready.compiled(path, snapshot, &|engine| engine.limits(bounded()))?;
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = InputBuilder::new(&arena, &shapes).data_map(&ready.values.merged).ok()?;
    let (recording, _) = template.record(&mut Session::new(), Inputs::new(inputs));
    let own = |value: &ShownValue| file_of(&value.source, None).is_some_and(|file| file == path);
    Some(recording.values().into_iter().filter(own).collect())
}

/// Renders a chart. Returns the values with their files.
fn chart(Planned { chart, plan }: &Planned, root: Option<&Path>) -> Vec<(PathBuf, ShownValue)> {
    let recording = render(chart, plan.clone());
    let values = recording.unwrap_or_default().into_iter();
    let mut known: Option<(String, Option<PathBuf>)> = None;
    let mut file = |value: &ShownValue| match &known {
        Some((name, path)) if name == value.source.name() => path.clone(),
        _ => {
            let path = file_of(&value.source, root);
            known = Some((value.source.name().to_owned(), path.clone()));
            path
        }
    };
    values.filter_map(|value| Some((file(&value)?, value))).collect()
}

fn render(chart: &ChartTemplate, plan: dropforge::dialect::helm::chart::Plan) -> Option<Vec<ShownValue>> {
    let render = chart.render_in(&mut Session::new(), plan).ok()?;
    Some(render.record().ok()?.recording().values())
}
