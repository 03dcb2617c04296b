//! The maps that templates begin with: `.Values`, `.Chart`, `.Release` and others.

use super::metadata::{Dependency, Maintainer, Metadata};
use super::plan::Plan;
use crate::diagnostics::Result;
use crate::dialect::helm::objects;
use crate::value::{Data, DataMap, InputBuilder, Numbers, Value};

/// The keys of the map of a chart, without `Template`.
const KEYS: [&str; 6] = ["Capabilities", "Chart", "Files", "Release", "Subcharts", "Values"];

/// The keys of the map of a template.
const KEYS_OF_TEMPLATE: [&str; 7] = ["Capabilities", "Chart", "Files", "Release", "Subcharts", "Values", "Template"];

impl Plan {
    /// Returns the inputs of the program of this plan's templates.
    ///
    /// A program that changes maps gets the map of each chart under the chart's path, and `.Template` of each template
    /// under the template's name. It puts the one into the other. Another program gets the map of each template under the
    /// template's name.
    ///
    /// # Errors
    /// `limit.depth` for values that nest too deep.
    pub fn inputs<'v, 'w: 'v>(&'v self, builder: &InputBuilder<'v, 'w>, changes_maps: bool) -> Result<Value<'v>> {
        let maps = self.top_maps(builder)?;
        let templates = self.templates.iter().filter(|template| !template.is_partial());
        let (mut names, mut inputs): (Vec<&'v str>, Vec<Value<'v>>) = Default::default();
        for template in templates {
            let Some((chart, map)) = self.charts.get(template.chart()).zip(maps.get(template.chart())) else {
                continue;
            };
            let arena = builder.arena();
            let texts = [arena.text(&chart.base_path()), arena.text(template.name())];
            let place = builder.map(&["BasePath", "Name"], &texts);
            let input = match map.as_map() {
                Some(map) if !changes_maps => {
                    let values: Vec<_> = map.values().iter().copied().chain([place]).collect();
                    builder.map(&KEYS_OF_TEMPLATE, &values)
                }
                _ => place,
            };
            names.push(template.name());
            inputs.push(input);
        }
        if changes_maps {
            names.extend(self.charts.iter().map(|chart| chart.path.as_str()));
            inputs.extend(maps);
        }
        Ok(builder.map(&names, &inputs))
    }

    /// Builds the map of each chart, without `Template`. A chart's `.Values` is the same value as the entry in the values
    /// of the chart around it.
    fn top_maps<'v, 'w: 'v>(&'v self, builder: &InputBuilder<'v, 'w>) -> Result<Vec<Value<'v>>> {
        let arena = builder.arena();
        let (capabilities, release) = (objects::capabilities(arena, &self.capabilities), self.release_map(builder));
        let mut values: Vec<Value<'v>> = Vec::new();
        for chart in &self.charts {
            let outer = chart.parent.and_then(|parent| values.get(parent).copied());
            values.push(match outer {
                // Integers come from options only.
                None => Numbers::Sized.all(arena, builder.data_map(&self.values)?),
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
            let inside: Vec<_> = inside.map(|(other, map)| (other.name.as_str(), *map)).collect();
            let map = builder.map(
                &KEYS,
                &[
                    capabilities,
                    builder.data_map(&chart.data)?,
                    objects::files(arena, &chart.files),
                    release,
                    arena.map(&inside),
                    values.get(at).copied().unwrap_or(Value::Null),
                ],
            );
            if let Some(slot) = maps.get_mut(at) {
                *slot = map;
            }
        }
        Ok(maps)
    }

    /// Returns `.Release`. The revision is a plain integer.
    fn release_map<'v, 'w: 'v>(&'v self, builder: &InputBuilder<'v, 'w>) -> Value<'v> {
        let (arena, release) = (builder.arena(), &self.release);
        let keys = ["IsInstall", "IsUpgrade", "Name", "Namespace", "Revision", "Service"];
        let values = [
            Value::Bool(!release.is_upgrade),
            Value::Bool(release.is_upgrade),
            arena.text(&release.name),
            arena.text(&release.namespace),
            Value::Int(release.revision),
            arena.text(&release.service),
        ];
        builder.map(&keys, &values)
    }
}

/// Returns `.Chart`.
pub(super) fn chart_data(metadata: &Metadata, is_root: bool) -> DataMap {
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
