//! Values of another kind than a chart expects: a map where it has none by default, a scalar in place of a map, or a condition that
//! is no boolean. Helm renders with them, and says so in its log.

use std::sync::Arc;

use super::explain::GLOBAL;
use super::imports::source_and_target;
use super::metadata::Dependency;
use super::plan::Plan;
use dropforge_base::diagnostics::{Code, Diagnostic, kind_change, with_article};
use dropforge_base::text::Source;
use dropforge_value::yaml::{Entry, Kind, Node};
use dropforge_value::{Data, DataMap, Step};

/// Maximum number of warnings.
const REPORTED: usize = 20;

/// The default values of a map, the outermost chart's first, each in its file.
type Defaults<'p> = Vec<(&'p Arc<Source>, &'p Node)>;

impl Plan {
    /// Returns a warning for each value of another kind than its default, for conditions of dependencies that are no booleans,
    /// and for imports of values that are no maps.
    pub fn kind_changes(&self) -> Vec<Box<Diagnostic>> {
        let mut found = Vec::new();
        for (at, chart) in self.charts.iter().enumerate() {
            if let Some(values) = self.values_of(at) {
                self.compare(at, (values, self.defaults_of(at)), &mut Vec::new(), &mut found);
                let of_dependencies = chart.metadata.dependencies.iter().flat_map(|one| self.of_dependency(at, one));
                found.extend(of_dependencies);
            }
        }
        found.truncate(REPORTED);
        found
    }

    /// Returns the maps of all default values of the chart `at`.
    fn defaults_of(&self, at: usize) -> Defaults<'_> {
        let around = self.around(at);
        let maps = around.iter().enumerate().filter_map(|(depth, (_, chart))| {
            let (file, documents) = chart.defaults()?;
            let names = around.iter().skip(depth + 1).map(|(_, chart)| chart.name.as_str());
            let mut names = names.collect::<Vec<_>>().into_iter();
            Some((file, names.try_fold(documents.last()?, |node, name| node.get(name))?))
        });
        maps.collect()
    }

    fn compare(
        &self,
        at: usize,
        (values, defaults): (&DataMap, Defaults<'_>),
        path: &mut Vec<Step>,
        found: &mut Vec<Box<Diagnostic>>,
    ) {
        let is_apart = |key: &str| path.is_empty() && (key == GLOBAL || self.has_chart(at, key));
        let keys: Vec<&String> = values.keys().filter(|key| !is_apart(key)).collect();
        for key in keys {
            let below: Defaults<'_> = defaults.iter().filter_map(|(file, map)| Some((*file, map.get(key)?))).collect();
            let (Some(value), Some((file, default))) = (values.get(key), below.first()) else { continue };
            path.push(Step::Key(key.clone()));
            match (value, &default.kind) {
                (Data::Map(map), Kind::Map(_)) if found.len() < REPORTED => self.compare(at, (map, below), path, found),
                (value, kind) if is_change(value, kind) => {
                    let own = defaults.iter().find_map(|(_, map)| map.entry(key));
                    found.push(self.change(at, path, value, (file, default, own)));
                }
                _ => {}
            }
            path.pop();
        }
    }

    fn has_chart(&self, at: usize, name: &str) -> bool {
        self.charts.iter().any(|chart| chart.parent == Some(at) && chart.name == name)
    }

    fn change(
        &self,
        at: usize,
        path: &[Step],
        value: &Data,
        (file, default, entry): (&Arc<Source>, &Node, Option<&Entry>),
    ) -> Box<Diagnostic> {
        let (kinds, name) = ([default.kind_name(), value.kind()], Step::joined(&self.whole(at, path)));
        let [old, new] = kinds.map(with_article);
        let key = default.as_map().and_then(<[Entry]>::first).map(|entry| &*entry.name);
        let help = format!("give {old}, as the chart expects");
        let warning = kind_change((&name, " of the chart"), kinds, key.ok_or(help));
        let own = entry.map(|entry| entry.key.span);
        let given = self.place(at, path).filter(|(source, span)| source.name() != file.name() || Some(*span) != own);
        let warning = given.iter().fold(warning, |warning, (source, span)| warning.at(source, *span, new.as_str()));
        own.iter().fold(warning, |warning, span| warning.at(file, *span, old.as_str()))
    }

    fn of_dependency(&self, at: usize, dependency: &Dependency) -> Vec<Box<Diagnostic>> {
        let steps = |path: &str| path.split('.').map(|key| Step::Key(key.to_owned())).collect::<Vec<_>>();
        let name = if dependency.alias.is_empty() { &dependency.name } else { &dependency.alias };
        let conditions = dependency.condition.split(',').map(|path| steps(path.trim()));
        let mut given = conditions.filter_map(|path| Some((self.value(at, &path)?, path)));
        let condition = given.next().filter(|(value, _)| !matches!(value, Data::Bool(_) | Data::Null));
        let of_condition = condition.map(|(value, path)| {
            let shown = Step::joined(&self.whole(at, &path));
            let message =
                format!("`{shown}` is {}, so it does not enable or disable `{name}`", with_article(value.kind()));
            let warning = Diagnostic::warning(Code::KindChange, message).with_help("a condition is `true` or `false`");
            self.place(at, &path).iter().fold(warning, |warning, (source, span)| warning.at(source, *span, ""))
        });
        let child = self.charts.iter().position(|chart| chart.parent == Some(at) && chart.name == *name);
        let imports = dependency.import_values.iter().filter_map(source_and_target).filter_map(|(from, _)| {
            let is_map = matches!(self.value(child?, &steps(&from)), Some(Data::Map(_)));
            (!is_map).then(|| {
                let message = format!("`import-values` of `{name}` imports nothing: it has no map `{from}`");
                let file = self.charts.get(at).map_or("", |chart| &chart.path);
                let warning =
                    Diagnostic::warning(Code::KindChange, message).with_note(format!("in `{file}/Chart.yaml`"));
                warning.with_help("name a map among the values of the dependency")
            })
        });
        of_condition.into_iter().chain(imports).collect()
    }
}

/// Returns `true` if one is a map with entries and the other a value that is none.
fn is_change(value: &Data, default: &Kind) -> bool {
    match (value, default) {
        (Data::Null, _) | (_, Kind::Null) | (Data::Map(_), Kind::Map(_)) => false,
        (Data::Map(map), _) => !map.is_empty(),
        (_, Kind::Map(entries)) => !entries.is_empty(),
        _ => false,
    }
}
