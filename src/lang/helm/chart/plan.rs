//! The plan of a render: the templates in order and the data of each chart.

use std::sync::{Arc, OnceLock};

use super::builtin_objects::{Capabilities, FileSet, Release};
use super::dependencies::Tree;
use super::explain::documents;
use super::load::{Chart, path_below};
use super::merging::{Merging, Nulls};
use super::metadata::{Kind, Metadata};
use super::schema::ChartSchema;
use super::top::chart_data;
use super::user_values::UserValues;
use super::{Stage, dependencies, imports, merging, metadata, schema};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Text};
use dropforge_machine::function::Cx;
use dropforge_machine::vm::Space;
use dropforge_value::yaml::Node;
use dropforge_value::{Data, DataMap};

/// A template file of a plan.
#[derive(Debug, Clone)]
pub struct PlannedTemplate {
    name: String,
    /// Where the path from the chart's directory begins in the name.
    path_at: usize,
    text: Text,
    chart: usize,
    is_partial: bool,
}

impl PlannedTemplate {
    /// Returns the name: `chart/charts/sub/templates/x.yaml`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the source text.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Returns the index of the chart among [`Plan::charts`].
    pub fn chart(&self) -> usize {
        self.chart
    }

    /// Returns `true` for a file that only defines templates.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }
}

/// An enabled chart of a plan.
#[derive(Debug, Clone)]
pub struct PlannedChart {
    /// The name for values: the alias, or the chart's own.
    pub(super) name: String,
    /// The path in the names of templates: `chart/charts/sub`.
    pub(super) path: String,
    /// The place of the chart among all charts of its source.
    pub(super) number: usize,
    pub(super) metadata: Metadata,
    /// `.Chart`
    pub(super) data: DataMap,
    pub(super) files: FileSet,
    /// The text of `values.yaml`.
    defaults: Option<Text>,
    /// `values.yaml`, read for the places of values.
    read: OnceLock<Option<(Arc<Source>, Vec<Node>)>>,
    /// The path of the chart's directory in diagnostics.
    folder: Option<Arc<str>>,
    /// `values.schema.json`
    pub(super) schema: Option<Arc<ChartSchema>>,
    /// The index of the chart in which this one is.
    pub(super) parent: Option<usize>,
}

impl PlannedChart {
    /// Returns the path in the names of templates: `chart/charts/sub`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the content of `Chart.yaml`, with the name for values and the enabled dependencies.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns a text file of the chart, which has a path from the chart's directory, as a source.
    pub(super) fn source(&self, path: &str, text: Text) -> Arc<Source> {
        let place = self.folder.as_deref().map(|folder| path_below(folder, path));
        Source::found_at(place, format!("{}/{path}", self.path), text)
    }

    /// Returns `values.yaml` and its documents, which are read once. `None` for a file that is missing or invalid.
    pub(super) fn defaults(&self) -> Option<&(Arc<Source>, Vec<Node>)> {
        let read = || {
            let file = self.values_file()?;
            let documents = documents(&file)?;
            Some((file, documents))
        };
        self.read.get_or_init(read).as_ref()
    }

    /// Returns `values.yaml` as a source.
    pub fn values_file(&self) -> Option<Arc<Source>> {
        Some(self.source("values.yaml", self.defaults.clone()?))
    }

    /// Returns `.Template.BasePath` of the chart's templates.
    pub fn base_path(&self) -> String {
        format!("{}/templates", self.path)
    }

    /// Returns the place of the chart among all charts of its source.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the files that templates can read.
    pub fn files(&self) -> &FileSet {
        &self.files
    }

    /// Returns the names and contents of the definitions of resources.
    pub(super) fn crds(&self) -> impl Iterator<Item = (String, &[u8])> {
        let is_crd = |name: &str| {
            name.starts_with("crds/") && [".yaml", ".yml", ".json"].into_iter().any(|ending| name.ends_with(ending))
        };
        let crds = self.files.iter().filter(move |(name, _)| is_crd(name));
        crds.map(|(name, bytes)| (format!("{}/{name}", self.path), bytes))
    }
}

/// The templates to render, in order, and the data for them.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) templates: Vec<PlannedTemplate>,
    /// The root chart comes first, and each chart before those in it.
    pub(super) charts: Vec<PlannedChart>,
    pub(super) values: DataMap,
    /// The user's files of values.
    pub(super) given: Arc<[Arc<Source>]>,
    pub(super) release: Release,
    pub(super) capabilities: Capabilities,
}

impl Chart {
    /// Merges values, enables dependencies, checks schemas and the version of Kubernetes, and orders the templates, within the
    /// default limits of a render.
    ///
    /// # Errors
    /// Those of [`Chart::plan_within`].
    pub fn plan(
        &self,
        values: &UserValues,
        release: &Release,
        capabilities: &Capabilities,
    ) -> std::result::Result<Plan, Diagnostics> {
        let limits = Limits::default();
        Space::of_thread(|space| self.plan_within(&space.context(&limits), values, release, capabilities))
    }

    /// Works like [`Chart::plan`] within the limits and the deadline of a context.
    ///
    /// # Errors
    /// `plan.no_templates` for a library chart; `input.structure` for missing dependencies; `input.set_conflict`;
    /// `input.schema`; `value.assertion` if the chart needs another version of Kubernetes; `limit.memory`, `limit.fuel` and
    /// `limit.time`.
    pub fn plan_within(
        &self,
        cx: &Cx<'_>,
        values: &UserValues,
        release: &Release,
        capabilities: &Capabilities,
    ) -> std::result::Result<Plan, Diagnostics> {
        let (tree, merged) = self.merged(cx, values)?;
        // Without values of the user, these are the same values as ever.
        let is_known = values.values().is_empty() && schema::fits_by_default(&tree);
        let is_checked = !is_known && !values.skips_schemas;
        let unfit = if is_checked { schema::check(cx, &tree, &merged, &values.unchecked)? } else { Vec::new() };
        let plan = Plan { given: values.sources(), ..Plan::of(&tree, merged, release, capabilities) };
        let unfit = schema::error(&unfit, |chart, path| plan.place_in_files(chart, path, values));
        let of_version = self.kube_version_error(capabilities).filter(|_| !values.is_of_test);
        let errors: Vec<_> = unfit.into_iter().chain(of_version).collect();
        if errors.is_empty() { Ok(plan) } else { Err(errors.into()) }
    }

    /// Calls `each` with the text of every value that a schema of a chart marks secret. The values need not fit.
    pub fn each_secret(&self, values: &UserValues, each: &mut dyn FnMut(&str)) {
        let limits = Limits::default();
        Space::of_thread(|space| {
            if let Ok((tree, merged)) = self.merged(&space.context(&limits), values) {
                Plan::of(&tree, merged, &Release::default(), &Capabilities::default()).each_secret(each);
            }
        });
    }

    /// Calls `each` with the name of every property that a schema of the chart or of one in it marks secret.
    pub fn each_secret_name(&self, each: &mut dyn FnMut(&str)) {
        let whole = self.whole();
        whole.charts.iter().filter_map(|chart| chart.schema.as_ref()).for_each(|schema| schema.each_secret_name(each));
    }

    /// Returns `true` if a schema of the chart or of one in it marks a value secret.
    pub fn has_secrets(&self) -> bool {
        self.whole().charts.iter().any(|chart| chart.schema.as_ref().is_some_and(|schema| schema.has_secrets()))
    }

    /// Returns a plan to compile, not to render: it has the charts that the values enable, but no values, which are not
    /// checked.
    ///
    /// # Errors
    /// Those of [`Chart::plan_within`] about dependencies, library charts and limits.
    pub fn outline(&self, cx: &Cx<'_>, values: &UserValues) -> std::result::Result<Plan, Diagnostics> {
        let tree = self.enabled(cx, values)?;
        Ok(Plan::of(&tree, DataMap::default(), &Release::default(), &Capabilities::default()))
    }

    /// Merges values and enables dependencies.
    ///
    /// # Errors
    /// Those of [`Chart::plan_within`], except for schemas and the version of Kubernetes.
    pub(super) fn merged(
        &self,
        cx: &Cx<'_>,
        values: &UserValues,
    ) -> std::result::Result<(Tree<'_>, DataMap), Diagnostics> {
        let mut tree = self.enabled(cx, values)?;
        let merging = Merging::new(cx);
        imports::import(merging, &mut tree).map_err(|error| self.of_dependencies(error))?;
        let mut all = merging::shared(values.values());
        let nulls = if values.is_of_test { Nulls::DeleteDefaults } else { Nulls::Delete };
        let coalesced = merging.coalesce(&tree, &mut all, nulls);
        let all = coalesced.and_then(|()| merging.to_data(&all));
        let all = all.map_err(|error| Merging::at_chart(Stage::Schema.of(error), &self.metadata.name))?;
        Ok((tree, all))
    }

    /// Returns `true` if the values fit the schemas of all charts without values of a user.
    pub fn fits_by_default(&self) -> bool {
        let limits = Limits::default();
        Space::of_thread(|space| {
            let cx = space.context(&limits);
            let merged = self.merged(&cx, &UserValues::default());
            merged
                .is_ok_and(|(tree, values)| schema::check(&cx, &tree, &values, &[]).is_ok_and(|unfit| unfit.is_empty()))
        })
    }

    /// Returns the charts that the values enable.
    fn enabled(&self, cx: &Cx<'_>, values: &UserValues) -> std::result::Result<Tree<'_>, Diagnostics> {
        if self.metadata.kind() == Kind::Library {
            return Err(Stage::Installable.error(Code::NoTemplates, "library charts are not installable").into());
        }
        let mut tree = Tree::of(self);
        if let Some(missing) = dependencies::missing(&tree).filter(|_| !values.is_of_test) {
            return Err(missing.into());
        }
        let enabled = dependencies::enable(Merging::new(cx), &mut tree, &merging::shared(values.values()), "");
        enabled.map_err(|error| self.of_dependencies(error))?;
        Ok(tree)
    }

    fn of_dependencies(&self, error: Box<Diagnostic>) -> Box<Diagnostic> {
        Merging::at_chart(Stage::Dependencies.of(error), &self.metadata.name)
    }

    /// Returns the names of all files that a render may write documents for, sorted: templates of the chart and of all
    /// charts in it, enabled or not, and definitions of resources (`crds/`).
    pub fn sources(&self) -> Vec<String> {
        let plan = self.whole();
        let templates = plan.templates.iter().filter(|template| !template.is_partial);
        let names = templates.map(|template| template.name.clone()).filter(|name| !name.ends_with("NOTES.txt"));
        let crds = plan.charts.iter().flat_map(|chart| chart.crds()).map(|(name, _)| name);
        let mut sources: Vec<String> = names.chain(crds).collect();
        sources.sort_unstable();
        sources
    }

    /// Returns a plan to compile, not to render: it has all charts, enabled or not, under their aliases, and no values.
    pub fn whole(&self) -> Plan {
        let mut tree = Tree::of(self);
        dependencies::enable_all(&mut tree);
        Plan::of(&tree, DataMap::default(), &Release::default(), &Capabilities::default())
    }

    pub(super) fn kube_version_error(&self, capabilities: &Capabilities) -> Option<Box<Diagnostic>> {
        let (wanted, given) = (&self.metadata.kube_version, &capabilities.kube_version);
        if wanted.is_empty() || dependencies::is_compatible(wanted, &given.normalized) {
            return None;
        }
        let message =
            format!("chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {}", given.version);
        let error = Stage::KubeVersion.error(Code::Assertion, message);
        let place = |source| Some((source, metadata::place_of(source, "kubeVersion")?));
        let error = match self.declared.as_ref().and_then(place) {
            Some((source, span)) => error.at(source, span, ""),
            None => error,
        };
        Some(error.with_help("set the version of the cluster, for example with `--kube-version`"))
    }
}

impl Plan {
    pub(super) fn of(tree: &Tree<'_>, values: DataMap, release: &Release, capabilities: &Capabilities) -> Self {
        let mut plan = Plan {
            templates: Vec::new(),
            charts: Vec::new(),
            values,
            given: Arc::default(),
            release: release.clone(),
            capabilities: capabilities.clone(),
        };
        plan.add(tree, None);
        // Later definitions win over earlier ones, so the outermost come last.
        let depth = |name: &str| name.bytes().filter(|byte| *byte == b'/').count();
        plan.templates.small_sort_by(|a, b| (depth(&b.name), &b.name).cmp(&(depth(&a.name), &a.name)));
        // Of files of charts with one path, the last one counts.
        plan.templates.dedup_by(|next, kept| {
            let is_same = next.name == kept.name;
            if is_same {
                std::mem::swap(next, kept);
            }
            is_same
        });
        plan
    }

    /// Adds a chart and those in it. Loading bounds the nesting.
    fn add(&mut self, tree: &Tree<'_>, parent: Option<usize>) {
        let path = match parent.and_then(|parent| self.charts.get(parent)) {
            Some(parent) => format!("{}/charts/{}", parent.path, tree.name),
            None => tree.name.clone(),
        };
        let (chart, index) = (tree.chart, self.charts.len());
        let is_library = chart.metadata.kind() == Kind::Library;
        for template in &chart.templates {
            let is_partial = is_partial(&template.path);
            if is_partial || !is_library {
                let (name, path_at) = ([&*path, "/", &*template.path].concat(), path.len() + 1);
                let text = template.text.clone();
                self.templates.push(PlannedTemplate { name, path_at, text, chart: index, is_partial });
            }
        }
        let metadata = Metadata { dependencies: tree.dependencies.clone(), ..chart.metadata.clone() };
        let metadata = Metadata { name: tree.name.clone(), ..metadata };
        let (files, data) = (chart.files.clone(), chart_data(&metadata, parent.is_none()));
        self.charts.push(PlannedChart {
            name: tree.name.clone(),
            path,
            number: chart.number,
            metadata,
            data,
            files,
            defaults: chart.defaults.clone(),
            read: OnceLock::new(),
            folder: chart.folder.clone(),
            schema: chart.schema.clone(),
            parent,
        });
        tree.children.iter().for_each(|child| self.add(child, Some(index)));
    }

    /// Returns a template as a source, which shares its text.
    pub fn source(&self, template: &PlannedTemplate) -> Arc<Source> {
        let chart = self.charts.get(template.chart);
        let path = template.name.get(template.path_at..);
        let found = chart.zip(path).map(|(chart, path)| chart.source(path, template.text.clone()));
        found.unwrap_or_else(|| Source::new(template.name(), template.text.clone()))
    }

    /// Removes the templates that `keeps` refuses.
    pub fn retain(&mut self, keeps: impl Fn(&PlannedTemplate) -> bool) {
        self.templates.retain(keeps);
    }

    /// Replaces the versions in the metadata of the chart and of those right in it.
    pub fn set_versions(&mut self, version: Option<&str>, app_version: Option<&str>) {
        let near = self.charts.iter_mut().filter(|chart| chart.parent.is_none_or(|parent| parent == 0));
        for chart in near {
            for (key, given) in [("Version", version), ("AppVersion", app_version)] {
                if let Some(given) = given {
                    chart.data.insert(key.to_owned(), Data::Str(given.to_owned()));
                }
            }
        }
    }

    /// Returns the templates in the order of parsing and rendering. The last definition of a name wins.
    pub fn templates(&self) -> &[PlannedTemplate] {
        &self.templates
    }

    /// Returns the enabled charts. The root chart comes first, and each chart before those in it.
    pub fn charts(&self) -> &[PlannedChart] {
        &self.charts
    }

    /// Returns the merged values of the root chart, with those of all enabled charts in it.
    pub fn values(&self) -> &DataMap {
        &self.values
    }

    /// Returns the release.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// Returns the cluster.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Turns rendered texts, by the names of their templates, into documents, hooks and notes.
    ///
    /// # Errors
    /// `file.invalid_output` for a document that is not a YAML map.
    pub fn assemble<N: AsRef<str>, T: Into<dropforge_base::text::Text>>(
        &self,
        rendered: impl IntoIterator<Item = (N, T)>,
    ) -> Result<super::Output> {
        super::manifests::assemble(self, rendered)
    }
}

/// Returns `true` for the path of a file that only defines templates.
pub(super) fn is_partial(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
}
