//! Errors of a chart's templates, with the values that they are about: their names, and the lines that give them.

use super::plan::Plan;
use crate::lookups::{LOOKED_IN, among};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, nearest};
use dropforge_value::assign::Step;
use dropforge_value::{Data, DataMap};

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

    /// Returns `true` for the missing name that the schema of the chart declares, or that a template names in quotes, so
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
            || ((merges || missing.help.is_none()) && self.writes(&format!("\"{name}\"")))
            || (merges && (self.writes(&format!("{name}:")) || has_key(&self.values, name)))
    }

    /// Returns `true` if the text of a template has this part.
    fn writes(&self, part: &str) -> bool {
        self.templates.iter().any(|template| template.text().as_str().contains(part))
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
                let place: Vec<Step> = [Step::Key(VALUES.to_owned())].into_iter().chain(way.iter().cloned()).collect();
                return self.with_place(error.with_field(LOOKED_IN, json(&place)), at, way, name);
            }
        }
        let is_refused = error.code == Code::Assertion;
        match self.value(at, &path) {
            Some(value) if is_refused && is_empty(value) => {
                let error = error.with_note(format!("`{}` is empty", written(&path)));
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
