//! Inlay hints: the values that the expressions of open documents have in the chosen cluster. The thread that checks
//! finds them ([`shown_values`]).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{InlayHint, InlayHintLabel, InlayHintParams, InlayHintTooltip};

use super::check::Ready;
use super::content::{Shift, path_of};
use super::home::Language;
use super::values::{ProjectValues, bounded, file_of, short};
use super::world::{ShownValues, Snapshot, World};
use dropforge::bulk::values::Step;
use dropforge::bytecode::Dialect;
use dropforge::diagnostics::Diagnostics;
use dropforge::dialect::helm::chart::Plan;
use dropforge::engine::Template;
use dropforge::engine::chart::ChartTemplate;
use dropforge::engine::recording::{Recorder, Recording, ShownValue};
use dropforge::function::Registry;
use dropforge::limits::Deadline;
use dropforge::mask::Mask;
use dropforge::text::Span;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

/// Maximum number of characters of a value in a hint.
const SHORT: usize = 32;
/// Maximum number of characters of the values in a tooltip.
const LONG: usize = 400;

/// Answers the request.
pub(super) fn hints(world: &World, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let path = path_of(&params.text_document.uri)?;
    let content = world.documents.get(&path)?.content.clone();
    let shown = world.shared.shown(&path)?;
    let (text, values) = &*shown;
    let shift = Shift::between(text.text(), content.text());
    let wanted = content.span(params.range);
    let mut hints = Vec::new();
    let whole = values.iter().filter(|(span, _)| is_whole(text.text(), **span));
    for (&span, found) in whole {
        let Some(place) = shift.forward(span).filter(|span| wanted.start <= span.end && span.start <= wanted.end)
        else {
            continue;
        };
        let more = if found.len() > 1 { format!(" … ({})", found.len()) } else { String::new() };
        let first = found.first().map_or("", String::as_str).trim();
        let one_line = first.replace(['\n', '\r'], "⏎");
        hints.push(InlayHint {
            position: content.position(place.end as usize),
            label: InlayHintLabel::String(format!("= {}{more}", short(&one_line, SHORT))),
            kind: None,
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(short(&found.join("\n"), LONG))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        });
    }
    Some(hints)
}

/// Returns the texts around a span without white space and trim marks.
fn around(text: &str, span: Span) -> (&str, &str) {
    let marks = [' ', '\t', '-', '~', '\n', '\r'];
    let before = text.get(..span.start as usize).unwrap_or("").trim_end_matches(marks);
    (before, text.get(span.end as usize..).unwrap_or("").trim_start_matches(marks))
}

/// Returns `true` for the span of a whole expression between delimiters. Other values are parts of one.
fn is_whole(text: &str, span: Span) -> bool {
    let (before, after) = around(text, span);
    let inside = text.get(span.range()).unwrap_or("");
    let opens = before.ends_with("{{") || before.ends_with("${");
    (opens && after.starts_with('}')) || inside.starts_with("${") && inside.ends_with('}')
}

/// Returns the values of the expressions of documents of one home. A render ends at the deadline.
pub(super) fn shown_values(
    ready: &Ready,
    paths: &[PathBuf],
    snapshot: &Snapshot,
    deadline: &Arc<Deadline>,
) -> Vec<(PathBuf, ShownValues)> {
    let session = &mut Session::new();
    session.set_deadline(Some(deadline.clone()));
    let mask = &ready.values.mask();
    let of_chart = ready.values.planned.as_ref().map(|planned| of_chart(planned, ready.home.chart(), session, mask));
    let mut all = Vec::new();
    for path in paths {
        let Some((_, _, content)) = snapshot.documents.get(path) else { continue };
        let shown: Vec<ShownValue> = match (ready.home.language(path), &of_chart) {
            (Language::Template(Dialect::Helm), Some(found)) => {
                let own = found.iter().filter(|(file, _)| file == path);
                own.map(|(_, value)| value.clone()).collect()
            }
            (Language::Template(_), _) => of_template(ready, path, snapshot, session, mask).unwrap_or_default(),
            _ => continue,
        };
        let values = of_expressions(&shown, &ready.values, mask);
        all.push((path.clone(), (content.clone(), values)));
    }
    all
}

/// Returns the values of a render: those that a second one has, too, if the template uses random numbers.
fn stable<E>(
    template: &Template,
    registry: &Registry,
    mut render: impl FnMut() -> Result<Vec<ShownValue>, E>,
) -> Result<Vec<ShownValue>, E> {
    let mut values = render()?;
    let mut imports = template.program().imports();
    if imports.any(|one| registry.get(one.kind, one.name).is_some_and(|one| !one.needs.is_none())) {
        let again = render()?;
        let key = |one: &ShownValue| (Arc::as_ptr(&one.source), one.span, one.text.clone());
        let again: HashSet<_> = again.iter().map(key).collect();
        values.retain(|one| again.contains(&key(one)));
    }
    Ok(values)
}

/// Returns the values of a recording that are shown.
fn of_recording(recording: &Recording) -> Vec<ShownValue> {
    let mut values = recording.values();
    values.extend(recording.assigned());
    values
}

fn of_template(
    ready: &Ready,
    path: &Path,
    snapshot: &Snapshot,
    session: &mut Session,
    mask: &Mask,
) -> Option<Vec<ShownValue>> {
    let template = ready.compiled(path, snapshot, &bounded)?;
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).data_map(&ready.values.merged).ok()?);
    let engine = ready.args.language.engine().build();
    let recorder = || Recorder::default().hiding(mask.clone());
    let render = || Ok::<_, Infallible>(of_recording(&template.record_with(recorder(), session, inputs).0));
    let Ok(mut values) = stable(&template, engine.registry(template.dialect()), render);
    values.retain(|value| file_of(&value.source, None).is_some_and(|file| file == path));
    Some(values)
}

/// Renders a chart. Returns the values with their files.
fn of_chart(
    (chart, plan): &(ChartTemplate, Plan),
    root: Option<&Path>,
    session: &mut Session,
    mask: &Mask,
) -> Vec<(PathBuf, ShownValue)> {
    let recording = render(chart, plan.clone(), session, mask);
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

fn render(chart: &ChartTemplate, plan: Plan, session: &mut Session, mask: &Mask) -> Option<Vec<ShownValue>> {
    let template = chart.compile(&plan).ok()?;
    let made = chart.render_in(session, plan).ok()?;
    let recorder = || Recorder::default().hiding(mask.clone());
    let render = || Ok::<_, Diagnostics>(of_recording(made.record(session, recorder())?.recording()));
    stable(&template, chart.engine().registry(Dialect::Helm), render).ok()
}

/// Returns the distinct values of each expression, without secrets.
fn of_expressions(shown: &[ShownValue], values: &ProjectValues, mask: &Mask) -> BTreeMap<Span, Vec<String>> {
    let mut hidden: HashMap<&[Step], bool> = HashMap::new();
    let mut all: BTreeMap<Span, Option<Vec<String>>> = BTreeMap::new();
    for one in shown {
        let mut hides = |path| *hidden.entry(path).or_insert_with(|| values.hides(path));
        let is_secret =
            mask.is_in(&one.text) || one.inputs.iter().any(|flow| flow.is_secret || hides(flow.path.as_slice()));
        match all.entry(one.span).or_insert_with(|| Some(Vec::new())) {
            place if is_secret => *place = None,
            Some(found) if !found.iter().any(|known| known == plain(&one.text)) => {
                found.push(plain(&one.text).to_owned())
            }
            _ => {}
        }
    }
    all.into_iter().filter_map(|(span, found)| Some((span, found?))).collect()
}

/// Returns a text without the marks of code, which excerpts of values have.
fn plain(text: &str) -> &str {
    text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_expressions_have_hints() {
        let text = "{{- a.b | f }} ${ c } {{ d }}";
        let whole = |part: &str| {
            let at = text.find(part).unwrap();
            is_whole(text, Span::of(at..at + part.len()))
        };
        assert!(whole("a.b | f") && whole("c") && whole("d"));
        assert!(!whole("a.b") && !whole("f"));
    }
}
