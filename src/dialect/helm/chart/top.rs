//! The maps that templates begin with: `.Values`, `.Chart`, `.Release` and others.

use super::capabilities::Capabilities;
use super::files::FileSet;
use super::metadata::{Dependency, Maintainer, Metadata};
use super::plan::{Plan, PlannedTemplate};
use super::release::Release;
use crate::diagnostics::Result;
use crate::value::{Arena, Data, DataMap, Value};

/// A part of the maps that the language represents by values of its own.
#[derive(Debug, Clone, Copy)]
pub enum Object<'p> {
    /// `.Capabilities`
    Capabilities(&'p Capabilities),
    /// `.Chart`: plain data.
    Chart(&'p DataMap),
    /// `.Files`
    Files(&'p FileSet),
    /// `.Release`. The revision is a plain integer.
    Release(&'p Release),
    /// `.Values` of the root chart.
    Values(&'p DataMap),
}

/// The maps of the charts of a plan.
#[derive(Debug, Clone)]
pub struct TopMaps<'v> {
    maps: Vec<Value<'v>>,
}

impl<'v> TopMaps<'v> {
    /// Returns the map for the templates of a chart.
    pub fn of(&self, chart: usize) -> Value<'v> {
        self.maps.get(chart).copied().unwrap_or(Value::Null)
    }
}

impl Plan {
    /// Builds the map of each chart, without `Template`. A chart's `.Values` is the same value as the entry in the values
    /// of the chart around it. `make` builds the values of the language.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn top_maps<'v>(
        &self,
        arena: &'v Arena,
        make: &mut dyn FnMut(Object<'_>) -> Result<Value<'v>>,
    ) -> Result<TopMaps<'v>> {
        let capabilities = make(Object::Capabilities(&self.capabilities))?;
        let release = make(Object::Release(&self.release))?;
        let mut values: Vec<Value<'v>> = Vec::new();
        for chart in &self.charts {
            let outer = chart.parent.and_then(|parent| values.get(parent).copied());
            values.push(match outer {
                None => make(Object::Values(&self.values))?,
                Some(outer) => {
                    let own = outer.as_map().and_then(|outer| outer.get(&chart.name));
                    own.filter(|own| own.as_map().is_some()).unwrap_or_else(|| arena.map(&[]))
                }
            });
        }
        // From the innermost charts outwards: `Subcharts` holds the maps of the charts inside.
        let mut maps = vec![Value::Null; self.charts.len()];
        for (at, chart) in self.charts.iter().enumerate().rev() {
            let inside = self.charts.iter().zip(&maps).filter(|(other, _)| other.parent == Some(at));
            let inside: Vec<_> = inside.map(|(other, map)| (arena.copy_str(&other.name), *map)).collect();
            let map = arena.map(&[
                ("Capabilities", capabilities),
                ("Chart", make(Object::Chart(&chart_data(&chart.metadata, at == 0)))?),
                ("Files", make(Object::Files(&chart.files))?),
                ("Release", release),
                ("Subcharts", arena.map(&inside)),
                ("Values", values.get(at).copied().unwrap_or(Value::Null)),
            ]);
            if let Some(slot) = maps.get_mut(at) {
                *slot = map;
            }
        }
        Ok(TopMaps { maps })
    }

    /// Returns `.Template` of a template.
    pub fn template_map<'v>(&self, arena: &'v Arena, template: &PlannedTemplate) -> Value<'v> {
        let base = self.charts.get(template.chart()).map_or_else(String::new, |chart| chart.base_path());
        arena.map(&[("BasePath", arena.text(&base)), ("Name", arena.text(template.name()))])
    }
}

/// Returns `.Chart`.
fn chart_data(metadata: &Metadata, is_root: bool) -> DataMap {
    let annotations = metadata.annotations.iter().map(|(key, value)| (key.clone(), text(value)));
    map([
        ("APIVersion", text(&metadata.api_version)),
        ("Annotations", Data::Map(annotations.collect())),
        ("AppVersion", text(&metadata.app_version)),
        ("Condition", text(&metadata.condition)),
        ("Dependencies", Data::List(metadata.dependencies.iter().map(dependency).collect())),
        ("Deprecated", Data::Bool(metadata.deprecated)),
        ("Description", text(&metadata.description)),
        ("Home", text(&metadata.home)),
        ("Icon", text(&metadata.icon)),
        ("IsRoot", Data::Bool(is_root)),
        ("Keywords", texts(&metadata.keywords)),
        ("KubeVersion", text(&metadata.kube_version)),
        ("Maintainers", Data::List(metadata.maintainers.iter().map(maintainer).collect())),
        ("Name", text(&metadata.name)),
        ("Sources", texts(&metadata.sources)),
        ("Tags", text(&metadata.tags)),
        ("Type", text(&metadata.kind)),
        ("Version", text(&metadata.version)),
    ])
}

fn dependency(dependency: &Dependency) -> Data {
    Data::Map(map([
        ("Alias", text(&dependency.alias)),
        ("Condition", text(&dependency.condition)),
        ("Enabled", Data::Bool(true)),
        ("ImportValues", Data::List(dependency.import_values.clone())),
        ("Name", text(&dependency.name)),
        ("Repository", text(&dependency.repository)),
        ("Tags", texts(&dependency.tags)),
        ("Version", text(&dependency.version)),
    ]))
}

fn maintainer(maintainer: &Maintainer) -> Data {
    let fields = [("Email", &maintainer.email), ("Name", &maintainer.name), ("URL", &maintainer.url)];
    Data::Map(map(fields.map(|(name, value)| (name, text(value)))))
}

fn map<const N: usize>(entries: [(&str, Data); N]) -> DataMap {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn text(text: &str) -> Data {
    Data::Str(text.to_owned())
}

fn texts(items: &[String]) -> Data {
    Data::List(items.iter().map(|item| text(item)).collect())
}
