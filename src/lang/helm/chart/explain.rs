//! Errors of a chart's templates, with the values that they are about: their names, and the lines of the files that
//! give them.

use std::sync::Arc;

use super::imports::source_and_target;
use super::plan::{Plan, PlannedChart};
use super::user_values::UserValues;
use crate::error::{LOOKED_IN, among, give};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, nearest};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_value::assign::InputValue;
use dropforge_value::yaml::{self, Node};
use dropforge_value::{Data, DataMap, Step, node_at, value_at};

/// The key of the values that all charts share.
pub(super) const GLOBAL: &str = "global";

impl Plan {
    /// Returns the place of a value among the values of the chart `at`: in the last file of the user that gives it, or else
    /// in the values of the outermost chart that does.
    pub(super) fn place(&self, at: usize, path: &[Step]) -> Option<(Arc<Source>, Span)> {
        let around = self.around(at);
        for file in self.given.iter().rev() {
            let whole = around.iter().skip(1).map(|(_, chart)| Step::Key(chart.name.clone()));
            let whole: Vec<Step> = whole.chain(path.iter().cloned()).collect();
            if let Some(span) = documents(file).and_then(|documents| place_in(&documents, &whole, path)) {
                return Some((file.clone(), span));
            }
        }
        self.default_place(at, path)
    }

    /// Returns the place of a value among those of the chart with this path, unless an option or a cluster gives it.
    pub(super) fn place_in_files(&self, chart: &str, path: &[Step], user: &UserValues) -> Option<(Arc<Source>, Span)> {
        let at = self.charts.iter().position(|known| known.path == chart)?;
        if user.is_from_file(&self.whole(at, path)) { self.place(at, path) } else { None }
    }

    /// Returns the path among the values of the outermost chart of a value of the chart `at`.
    pub(super) fn whole(&self, at: usize, path: &[Step]) -> Vec<Step> {
        let around = self.around(at);
        let above = around.iter().skip(1).map(|(_, chart)| Step::Key(chart.name.clone()));
        above.filter(|_| !is_global(path)).chain(path.iter().cloned()).collect()
    }

    /// Returns the place of a value in the values of the outermost chart that has it.
    fn default_place(&self, at: usize, path: &[Step]) -> Option<(Arc<Source>, Span)> {
        self.default_place_in(None, at, path)
    }

    /// Returns the place that the chart `importer` imports from, if it is given: what is outside, and its own imports, do not
    /// count.
    fn default_place_in(&self, importer: Option<usize>, at: usize, path: &[Step]) -> Option<(Arc<Source>, Span)> {
        let mut around = self.around(at);
        let outside = importer.and_then(|importer| around.iter().position(|(at, _)| *at == importer));
        around.drain(..outside.unwrap_or(0));
        for (depth, (at, chart)) in around.iter().enumerate() {
            let inner = around.iter().skip(depth + 1).map(|(_, chart)| Step::Key(chart.name.clone()));
            let whole: Vec<Step> = inner.chain(path.iter().cloned()).collect();
            let own =
                chart.defaults().and_then(|(file, documents)| Some((file.clone(), place_in(documents, &whole, path)?)));
            let imported = || if importer == Some(*at) { None } else { self.imported_place(*at, &whole) };
            if let Some(found) = own.or_else(imported) {
                return Some(found);
            }
        }
        None
    }

    /// Returns the place of a value that the chart `at` imports from a chart in it.
    fn imported_place(&self, at: usize, path: &[Step]) -> Option<(Arc<Source>, Span)> {
        let dependencies = &self.charts.get(at)?.metadata.dependencies;
        let imports = dependencies.iter().flat_map(|one| one.import_values.iter().map(|item| (&one.name, item)));
        imports.filter_map(|(name, item)| Some((name, source_and_target(item)?))).find_map(|(name, (from, to))| {
            let steps = |path: &str| path.split('.').map(|key| Step::Key(key.to_owned())).collect::<Vec<_>>();
            let rest = if to == "." { path } else { path.strip_prefix(&*steps(&to))? };
            let child = self.charts.iter().position(|chart| chart.parent == Some(at) && chart.name == *name)?;
            self.default_place_in(Some(at), child, &[&steps(&from), rest].concat())
        })
    }

    /// Returns the value that an input is, with its path among the values of the outermost chart.
    pub fn value_of(&self, input: &[Step]) -> InputValue {
        let at = input.first().and_then(Step::key).and_then(|name| self.chart_named(name));
        let (Some(at), [_, path @ ..]) = (at, input) else {
            return InputValue { name: Step::joined(input), ..InputValue::default() };
        };
        let name = format!(".{}", Step::joined(path));
        let [Step::Key(first), path @ ..] = path else { return InputValue { name, ..InputValue::default() } };
        if first != VALUES {
            return InputValue { name, ..InputValue::default() };
        }
        self.value_in(at, name, path)
    }

    /// Returns what is known of the value at a path among those of the outermost chart.
    pub fn outermost_value(&self, path: &[Step]) -> InputValue {
        self.value_in(0, Step::joined(path), path)
    }

    fn value_in(&self, at: usize, name: String, path: &[Step]) -> InputValue {
        let whole = self.whole(at, path);
        let default = self.default_place(at, path);
        let default = default.map(|(source, span)| format!("{}:{}", source.path(), source.position(span.start)));
        let schema = self.charts.get(at).and_then(|chart| chart.schema.as_ref());
        InputValue { name, path: whole, default, is_secret: schema.is_some_and(|schema| schema.hides(path)) }
    }

    /// Calls `each` with the text of every value that a schema marks secret.
    pub fn each_secret(&self, each: &mut dyn FnMut(&str)) {
        for (at, chart) in self.charts.iter().enumerate() {
            if let Some((schema, values)) = chart.schema.as_ref().zip(self.values_of(at)) {
                schema.each_secret(values, each);
            }
        }
    }

    /// Returns the values of the chart `at`.
    pub fn values_of(&self, at: usize) -> Option<&DataMap> {
        let around = self.around(at);
        around.iter().skip(1).try_fold(&self.values, |map, (_, chart)| map.get(&chart.name)?.as_map())
    }

    /// Returns the value at a path among those of the chart `at`.
    pub(super) fn value(&self, at: usize, path: &[Step]) -> Option<&Data> {
        let map = self.values_of(at)?;
        let (first, rest) = path.split_first()?;
        value_at(map.get(first.key()?)?, rest)
    }

    /// Returns the keys among the values of the chart `at`, at a path of keys. `None` if there is no map.
    pub(super) fn keys(&self, at: usize, path: &[Step]) -> Option<Vec<&str>> {
        let map = match path {
            [] => self.values_of(at),
            _ => self.value(at, path)?.as_map(),
        };
        Some(map?.keys().map(String::as_str).collect())
    }

    /// Returns the charts around the chart `at` and itself, the outermost first.
    pub(super) fn around(&self, at: usize) -> Vec<(usize, &PlannedChart)> {
        let mut around = Vec::new();
        let mut next = Some(at);
        while let Some((at, chart)) = next.and_then(|at| Some((at, self.charts.get(at)?))) {
            around.push((at, chart));
            next = chart.parent;
        }
        around.reverse();
        around
    }
}

pub(super) fn is_global(path: &[Step]) -> bool {
    path.first().and_then(Step::key) == Some(GLOBAL)
}

/// Reads a file of values. `None` if it is invalid.
pub(super) fn documents(file: &Arc<Source>) -> Option<Vec<Node>> {
    yaml::read(file, &Limits { source_bytes: usize::MAX, ..Limits::default() }).ok()
}

/// Returns the place of the key or item at the end of the path `whole`, in the last document that has it. Global values may
/// be at the path `within_chart`.
fn place_in(documents: &[Node], whole: &[Step], within_chart: &[Step]) -> Option<Span> {
    let find = |path: &[Step]| documents.iter().rev().find_map(|document| within(document, path));
    find(whole).or_else(|| find(within_chart).filter(|_| is_global(within_chart)))
}

fn within(document: &Node, path: &[Step]) -> Option<Span> {
    let (last, way) = path.split_last()?;
    let parent = node_at(document, way)?;
    match last {
        Step::Key(key) => parent.entry(key).map(|entry| entry.key.span),
        Step::Index(at) => parent.as_list()?.get(*at).map(|item| item.span),
    }
}

/// The key of the values in the data of a template.
pub(super) const VALUES: &str = "Values";

impl Plan {
    /// Adds to the error of a template the line of the value that was meant, or of the map in which it was looked up.
    /// `reads` are the paths below `.Values` that the failing call reads, for errors that do not tell which is missing.
    pub fn explain(&self, mut error: Box<Diagnostic>, reads: &[Vec<String>]) -> Box<Diagnostic> {
        let found = error.fields.remove(LOOKED_IN).and_then(|place| self.looked_in(&place));
        if let Some((at, place)) = found {
            error = error.with_field(LOOKED_IN, json(&place));
            let Some((Step::Key(first), path)) = place.split_first() else { return error };
            let name = error.fields.get(LOOKED_UP).filter(|_| first == VALUES).cloned();
            return match name {
                Some(name) => self.with_place(error, at, path, &name),
                None => error,
            };
        }
        let knows_names = error.available.is_some() || error.code.is_limit();
        match self.chart_of(&error).filter(|_| !knows_names) {
            Some(at) => reads.iter().fold(error, |error, read| self.with_read(error, at, read)),
            None => error,
        }
    }

    /// Returns `true` for the missing name that the schema of the chart declares, or that a template has in a text, so
    /// that it may set or test it; and for names that are not below `.Values`. If the templates merge maps (`merges`), also
    /// for any key of the values and of texts, which may come into another map.
    pub fn knows(&self, missing: &Diagnostic, merges: bool) -> bool {
        let (place, name) = (missing.fields.get(LOOKED_IN), missing.fields.get(LOOKED_UP));
        let (Some((at, place)), Some(name)) = (place.and_then(|place| self.looked_in(place)), name) else {
            return true;
        };
        let Some((Step::Key(first), path)) = place.split_first() else { return true };
        let mut path: Vec<&str> = path.iter().filter_map(Step::key).collect();
        path.push(name);
        first != VALUES
            || self.charts.get(at).and_then(|chart| chart.schema.as_ref()).is_some_and(|one| one.declares(&path))
            || (path.len() > 1 && self.mentions(&path.join(".")))
            || ((merges || missing.help.is_none()) && self.writes(&format!("\"{name}\"")))
            || (merges && (self.writes(&format!("{name}:")) || has_key(&self.values, name)))
    }

    /// Returns `true` if the text of a template has this part.
    fn writes(&self, part: &str) -> bool {
        self.templates.iter().any(|template| template.text().as_str().contains(part))
    }

    /// Returns `true` if the text of a template has a path of values that is not read there: a message or a comment.
    fn mentions(&self, path: &str) -> bool {
        let is_mention = |text: &str, at: usize| {
            let word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '$');
            let (before, rest) = text.split_at(at);
            !before.ends_with(word) && !rest.strip_prefix(path).is_some_and(|rest| rest.starts_with(word))
        };
        self.templates.iter().any(|template| {
            let text = template.text().as_str();
            text.match_indices(path).any(|(at, _)| is_mention(text, at))
        })
    }

    /// Returns the chart of a place among the inputs, and the place among the data of its templates.
    fn looked_in(&self, place: &str) -> Option<(usize, Vec<Step>)> {
        let steps: Vec<serde_json::Value> = serde_json::from_str(place).ok()?;
        let step = |step: &serde_json::Value| match step {
            serde_json::Value::String(key) => Some(Step::Key(key.clone())),
            other => Some(Step::Index(usize::try_from(other.as_u64()?).ok()?)),
        };
        let (first, rest) = steps.split_first()?;
        let at = self.chart_named(first.as_str()?)?;
        Some((at, rest.iter().map(step).collect::<Option<_>>()?))
    }

    /// Returns the chart with this path, or with a template of this name.
    pub(super) fn chart_named(&self, name: &str) -> Option<usize> {
        let template = self.templates.iter().find(|template| template.name() == name);
        template.map(|one| one.chart()).or_else(|| self.charts.iter().position(|chart| chart.path == name))
    }

    /// Returns the chart of the template that was rendered: that of the outermost place.
    fn chart_of(&self, error: &Diagnostic) -> Option<usize> {
        error.labels.last().and_then(|label| self.chart_named(label.source.name()))
    }

    /// Adds the line of the key that `name` resembles in the map at `path`, or else that of the map.
    fn with_place(&self, error: Box<Diagnostic>, at: usize, path: &[Step], name: &str) -> Box<Diagnostic> {
        let near = nearest(name, error.available.iter().flatten().map(String::as_str));
        let target: Vec<Step> = path.iter().cloned().chain(near.map(|near| Step::Key(near.to_owned()))).collect();
        self.given_at(error, at, &target)
    }

    /// Adds the line that gives a value.
    fn given_at(&self, error: Box<Diagnostic>, at: usize, path: &[Step]) -> Box<Diagnostic> {
        match self.place(at, path) {
            Some((source, span)) => error.at(&source, span, format!("`{}` is given here", written(path))),
            None => error,
        }
    }

    /// Adds what is missing of a path below `.Values`, or that its value is empty.
    fn with_read(&self, error: Box<Diagnostic>, at: usize, read: &[String]) -> Box<Diagnostic> {
        let path: Vec<Step> = read.iter().cloned().map(Step::Key).collect();
        for (nth, name) in read.iter().enumerate() {
            let way = path.get(..nth).unwrap_or(&[]);
            let Some(keys) = self.keys(at, way) else { return error };
            if !keys.contains(&name.as_str()) {
                let error = among(error, name, &keys, Some(&written(way)));
                let missing = written(path.get(..=nth).unwrap_or(&path));
                let error = give(error, Some(&missing), None);
                let place: Vec<Step> = [Step::Key(VALUES.to_owned())].into_iter().chain(way.iter().cloned()).collect();
                return self.with_place(error.with_field(LOOKED_IN, json(&place)), at, way, name);
            }
        }
        let is_refused = error.code == Code::Assertion;
        match self.value(at, &path) {
            Some(value) if is_refused && is_empty(value) => {
                let error = error.with_note(format!("`{}` is empty", written(&path)));
                let error = give(error, Some(&written(&path)), None);
                self.given_at(error, at, &path)
            }
            _ => error,
        }
    }
}

/// Returns `true` if a map among the values has this key.
fn has_key(values: &DataMap, key: &str) -> bool {
    let mut maps = vec![values];
    while let Some(map) = maps.pop() {
        if map.contains_key(key) {
            return true;
        }
        let mut values: Vec<&Data> = map.values().collect();
        while let Some(value) = values.pop() {
            match value {
                Data::Map(map) => maps.push(map),
                Data::List(items) => values.extend(items),
                _ => {}
            }
        }
    }
    false
}

/// Returns `true` for the values that count as not given.
fn is_empty(value: &Data) -> bool {
    match value {
        Data::Null => true,
        Data::Str(text) => text.is_empty(),
        _ => false,
    }
}

/// Returns a path below `.Values` as a template writes it.
fn written(path: &[Step]) -> String {
    let name = std::iter::once(Step::Key(format!(".{VALUES}")));
    Step::joined(&name.chain(path.iter().cloned()).collect::<Vec<_>>())
}

fn json(place: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => serde_json::Value::from(key.as_str()),
        Step::Index(at) => serde_json::Value::from(*at),
    };
    serde_json::Value::from(place.iter().map(step).collect::<Vec<_>>()).to_string()
}
