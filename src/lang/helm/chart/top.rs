//! The maps that templates begin with: `.Values`, `.Chart`, `.Release` and others.

use super::builtin_objects::Release;
use super::metadata::{Dependency, Maintainer, Metadata};
use super::plan::{Plan, PlannedChart, PlannedTemplate};
use crate::objects;
use crate::values::{NIL_STRING_MAP, STRING_MAP};
use dropforge_base::diagnostics::Result;
use dropforge_value::{Arena, Data, DataMap, Extended, InputBuilder, Numbers, Value};

/// The keys of the map of a chart. In a program that changes maps `Template` follows.
const KEYS: [&str; 6] = ["Capabilities", "Chart", "Files", "Release", "Subcharts", "Values"];

/// The keys of the map of a template.
const KEYS_OF_TEMPLATE: [&str; 7] = ["Capabilities", "Chart", "Files", "Release", "Subcharts", "Values", "Template"];

impl PlannedTemplate {
    /// Returns the name of the input that leaves out the template if it is true.
    pub fn skip(&self) -> String {
        format!("skip {}", self.name())
    }
}

impl Plan {
    /// Returns the inputs of the program of this plan's templates.
    ///
    /// A program that changes maps gets the map of each chart under the chart's path, and the name of each template under
    /// itself, which it puts into `.Template` of the chart. Another program gets the map of each template under the
    /// template's name.
    ///
    /// # Errors
    /// `limit.depth` for values that nest too deep.
    pub fn inputs<'v, 'w: 'v>(&'v self, builder: &InputBuilder<'v, 'w>, changes_maps: bool) -> Result<Value<'v>> {
        let base = Base::new(self, builder, changes_maps)?;
        let tops = base.tops(builder, self.root_values(builder)?, self.release.map(builder), (changes_maps, &[]));
        let values = base.inputs(builder, &tops, changes_maps, &[]);
        Ok(builder.map(&base.input_names(changes_maps, false), &values))
    }

    /// Returns the data of [`Plan::inputs`] without what is no data: capabilities, files and the data of other charts are
    /// null.
    pub fn data(&self, changes_maps: bool) -> DataMap {
        let names = self.charts.iter().enumerate().map(|(at, chart)| (chart.path.clone(), self.data_of(at, None)));
        let templates = self.templates.iter().filter(|template| !template.is_partial());
        let templates = templates.map(|template| {
            let data = if changes_maps { Data::Null } else { self.data_of(template.chart(), Some(template.name())) };
            (template.name().to_owned(), data)
        });
        names.filter(|_| changes_maps).chain(templates).collect()
    }

    fn data_of(&self, at: usize, template: Option<&str>) -> Data {
        let chart = self.charts.get(at);
        let values = self.values_of(at).cloned().unwrap_or_default();
        let name = template.map_or(Data::Null, text);
        let base = text(&chart.map(PlannedChart::base_path).unwrap_or_default());
        let release = map([
            ("IsInstall", Data::Bool(!self.release.is_upgrade)),
            ("IsUpgrade", Data::Bool(self.release.is_upgrade)),
            ("Name", text(&self.release.name)),
            ("Namespace", text(&self.release.namespace)),
            ("Revision", Data::Int(self.release.revision)),
            ("Service", text(&self.release.service)),
        ]);
        Data::Map(map([
            ("Capabilities", Data::Null),
            ("Chart", Data::Map(chart.map(|chart| chart.data.clone()).unwrap_or_default())),
            ("Files", Data::Null),
            ("Release", Data::Map(release)),
            ("Subcharts", Data::Null),
            ("Values", Data::Map(values)),
            ("Template", Data::Map(map([("BasePath", base), ("Name", name)]))),
        ]))
    }

    /// Returns `.Values` of the root chart.
    ///
    /// # Errors
    /// `limit.depth` for values that nest too deep.
    pub(super) fn root_values<'v, 'w: 'v>(&'v self, builder: &InputBuilder<'v, 'w>) -> Result<Value<'v>> {
        // Integers come from options only.
        Ok(Numbers::Sized.all(builder.arena(), builder.data_map(&self.values)?))
    }
}

impl Release {
    /// Returns `.Release`. The revision is a plain integer.
    pub(super) fn map<'v, 'w: 'v>(&'v self, builder: &InputBuilder<'v, 'w>) -> Value<'v> {
        let arena = builder.arena();
        self.map_of(builder, arena.text(&self.name), arena.text(&self.namespace))
    }

    /// Returns `.Release` with this name and namespace.
    pub(super) fn map_of<'v, 'w: 'v>(
        &'v self,
        builder: &InputBuilder<'v, 'w>,
        name: Value<'v>,
        namespace: Value<'v>,
    ) -> Value<'v> {
        let keys = ["IsInstall", "IsUpgrade", "Name", "Namespace", "Revision", "Service"];
        let values = [
            Value::Bool(!self.is_upgrade),
            Value::Bool(self.is_upgrade),
            name,
            namespace,
            Value::Int(self.revision),
            builder.arena().text(&self.service),
        ];
        builder.map(&keys, &values)
    }
}

/// The inputs of a program as far as they depend neither on values nor on the release.
#[derive(Debug)]
pub(super) struct Base<'v> {
    plan: &'v Plan,
    /// `.Capabilities`, `.Chart` and `.Files` of each chart.
    charts: Vec<[Value<'v>; 3]>,
    /// The templates to render, with `.Template` of each, or its name for a program that changes maps.
    templates: Vec<(&'v PlannedTemplate, Value<'v>)>,
    /// The names of the inputs that leave out templates.
    skips: Vec<&'v str>,
}

impl<'v> Base<'v> {
    /// # Errors
    /// `limit.depth` for metadata that nests too deep.
    pub fn new<'w: 'v>(plan: &'v Plan, builder: &InputBuilder<'v, 'w>, changes_maps: bool) -> Result<Self> {
        let arena = builder.arena();
        let known = plan.capabilities.objects.iter().map(|object| builder.data(object)).collect::<Result<Vec<_>>>()?;
        let capabilities = objects::capabilities(arena, &plan.capabilities, &known);
        let of_chart = |chart: &'v PlannedChart| -> Result<_> {
            Ok([capabilities, typed(arena, builder.data_map(&chart.data)?), objects::files(arena, &chart.files)])
        };
        let of_template = |template: &'v PlannedTemplate| {
            let name = arena.text(template.name());
            let of_chart = plan.charts.get(template.chart()).filter(|_| !changes_maps);
            (template, of_chart.map_or(name, |chart| place(builder, chart, name)))
        };
        let rendered = || plan.templates.iter().filter(|template| !template.is_partial());
        Ok(Self {
            plan,
            charts: plan.charts.iter().map(of_chart).collect::<Result<_>>()?,
            templates: rendered().map(of_template).collect(),
            skips: rendered().map(|template| arena.copy_str(&template.skip())).collect(),
        })
    }

    /// Returns the map of each chart, with some entries `more`. A chart's `.Values` is the same value as the entry in the
    /// values of the chart around it.
    pub(crate) fn tops<'r, 'w: 'r>(
        &self,
        builder: &InputBuilder<'r, 'w>,
        values: Value<'r>,
        release: Value<'r>,
        (changes_maps, more): (bool, &[(&'r str, Value<'r>)]),
    ) -> Vec<Value<'r>>
    where
        'v: 'r,
    {
        let template = changes_maps.then_some("Template");
        let keys: Vec<&'r str> = KEYS.into_iter().chain(template).chain(more.iter().map(|(key, _)| *key)).collect();
        let (arena, charts) = (builder.arena(), &self.plan.charts);
        let mut own: Vec<Value<'r>> = Vec::with_capacity(charts.len());
        for chart in charts {
            let outer = chart.parent.and_then(|parent| own.get(parent).copied());
            own.push(match outer {
                None => values,
                Some(outer) => {
                    let inner = outer.as_map().and_then(|outer| outer.get(&chart.name));
                    inner.filter(|inner| inner.as_map().is_some()).unwrap_or_else(|| arena.map(&[]))
                }
            });
        }
        // From the innermost charts outwards: `Subcharts` holds the maps of the charts inside.
        let mut maps = vec![Value::Null; charts.len()];
        let mut inside: Vec<Vec<(&str, Value<'r>)>> = vec![Vec::new(); charts.len()];
        for (at, (fixed, own)) in self.charts.iter().zip(&own).enumerate().rev() {
            let mut inside_this = inside.get_mut(at).map(std::mem::take).unwrap_or_default();
            inside_this.reverse();
            let [capabilities, data, files] = *fixed;
            let of_chart = [capabilities, data, files, release, arena.map(&inside_this), *own];
            let template = charts.get(at).filter(|_| changes_maps).map(|chart| place(builder, chart, arena.text("")));
            let more = more.iter().map(|(_, value)| *value);
            let values: Vec<_> = of_chart.into_iter().chain(template).chain(more).collect();
            let map = builder.map(&keys, &values);
            if let Some(slot) = maps.get_mut(at) {
                *slot = map;
            }
            let place = charts.get(at).and_then(|chart| Some((chart, inside.get_mut(chart.parent?)?)));
            place.into_iter().for_each(|(chart, around)| around.push((&chart.name, map)));
        }
        maps
    }

    /// Returns the names of the inputs, in order. With `skips`, templates may be left out.
    pub(crate) fn input_names(&self, changes_maps: bool, skips: bool) -> Vec<&'v str> {
        let plan = self.plan;
        let charts = plan.charts.iter().filter(|_| changes_maps).map(|chart| chart.path.as_str());
        self.names().chain(charts).chain(self.skips.iter().copied().filter(|_| skips)).collect()
    }

    /// Returns the inputs in the order of their names. `tops` are the maps of the charts; `skips` says which templates are
    /// left out.
    pub fn inputs<'r, 'w: 'r>(
        &self,
        builder: &InputBuilder<'r, 'w>,
        tops: &[Value<'r>],
        changes_maps: bool,
        skips: &[bool],
    ) -> Vec<Value<'r>>
    where
        'v: 'r,
    {
        let mut values: Vec<Value<'r>> = Vec::with_capacity(2 * self.templates.len() + tops.len());
        for (template, place) in &self.templates {
            // Without changes, each template has a map of its own.
            let top = tops.get(template.chart()).and_then(|top| top.as_map()).filter(|_| !changes_maps);
            values.push(match top {
                Some(top) => {
                    let values: Vec<_> = top.values().iter().copied().chain([*place]).collect();
                    builder.map(&KEYS_OF_TEMPLATE, &values)
                }
                None => *place,
            });
        }
        if changes_maps {
            values.extend(tops);
        }
        values.extend(skips.iter().map(|skip| Value::Bool(*skip)));
        values
    }

    /// Returns the values that all releases share.
    pub fn shared(&self) -> impl Iterator<Item = Value<'v>> {
        self.charts.iter().flatten().copied().chain(self.templates.iter().map(|(_, place)| *place))
    }

    /// Returns the names of the templates to render, in order.
    pub fn names(&self) -> impl Iterator<Item = &'v str> {
        self.templates.iter().map(|(template, _)| template.name())
    }
}

/// Returns `.Template` of a template with this name.
fn place<'v>(builder: &InputBuilder<'v, '_>, chart: &PlannedChart, name: Value<'v>) -> Value<'v> {
    builder.map(&["BasePath", "Name"], &[builder.arena().text(&chart.base_path()), name])
}

/// The field of `.Chart` that is a `map[string]string`.
const ANNOTATIONS: &str = "Annotations";

/// Returns `.Chart` with its type of annotations, which are nil if there are none.
fn typed<'v>(arena: &'v Arena, chart: Value<'v>) -> Value<'v> {
    let of = |value| match value {
        Value::Null => arena.extended(Extended::Typed(NIL_STRING_MAP, arena.map(&[]))),
        annotations => arena.extended(Extended::Typed(STRING_MAP, annotations)),
    };
    let entries = chart.as_map().into_iter().flat_map(|map| map.iter());
    let entries: Vec<_> =
        entries.map(|(key, value)| (key, if key == ANNOTATIONS { of(value) } else { value })).collect();
    arena.map(&entries)
}

/// Returns the fields of `.Chart` as data.
pub(super) fn chart_data(metadata: &Metadata, is_root: bool) -> DataMap {
    let of = |all: &Vec<(String, String)>| all.iter().map(|(key, value)| (key.clone(), text(value))).collect();
    map([
        ("APIVersion", text(&metadata.api_version)),
        (ANNOTATIONS, metadata.annotations.as_ref().map_or(Data::Null, |all| Data::Map(of(all)))),
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
