//! The values of releases, and the conditions on clusters.

use std::borrow::Cow;
use std::sync::Arc;

use super::{RELEASES, Release};
use crate::cluster::Cluster;
use crate::input::{self, Format, Place};
use crate::layer_files::{LayerGroups, ValuesFile};
use crate::layers::{Layers, Overlay};
use crate::values::{Assignment, Gaps, Step, merge};
use crate::why::ReleaseGivens;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result, with_article};
use dropforge_base::text::{Source, Span};
use dropforge_engine::{Dialect, Engine, Template};
use dropforge_helm::chart::overlay;
use dropforge_machine::vm::Session;
use dropforge_value::{Arena, Data, DataMap, InputBuilder, Inputs, Shapes};

/// The values of a release, apart from those that clusters give below `releases`.
#[derive(Debug, Default)]
pub struct ReleaseValues {
    /// The files, low to high.
    pub files: LayerGroups,
    /// `true` for a chart, which has the first files, up to a template, and the assignments already.
    pub in_chart: bool,
    /// The assignments above all values.
    pub sets: Vec<Assignment>,
}

impl ReleaseValues {
    /// Returns the templates among the files.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.files.files().flatten().filter_map(|file| match file {
            ValuesFile::Template(template) => Some(template),
            ValuesFile::Map(..) | ValuesFile::Text(_) => None,
        })
    }

    /// Returns the paths of the values of clusters in the paths of files.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        self.files.inputs().iter().map(String::as_str)
    }

    /// Calls `each` with the values of each file of a cluster, low to high. The first ones, up to a template, are left out if
    /// the chart has them.
    fn each(
        &self,
        cluster: &Cluster,
        merged: &dyn Fn() -> Result<DataMap>,
        each: &mut dyn FnMut(DataMap),
    ) -> Result<()> {
        let is_map = |file: &&ValuesFile| matches!(file, ValuesFile::Map(..));
        let mut files = self.files.files_of(cluster).peekable();
        while self.in_chart && files.next_if(is_map).is_some() {}
        files.try_for_each(|file| file.values(merged).map(|(map, _)| each(map)))
    }
}

/// Renders a template of values or of a patch with the merged values of a cluster.
pub(crate) fn rendered(template: &Template, merged: &DataMap) -> Result<Arc<Source>> {
    let text = with_inputs(merged, |inputs| {
        let mut text = String::new();
        let rendered = template.render_inputs(&mut Session::new(), inputs, &mut text);
        rendered.map(|()| text).map_err(|mut error| {
            template.explain(inputs, &mut error);
            error
        })
    })?;
    let name = crate::output_names::output_name(template.name(), &dropforge_engine::language_extensions());
    Ok(Source::new(format!("{name}{RENDERED}"), text))
}

/// The end of the names of texts that templates of values render.
const RENDERED: &str = " (rendered)";

/// Reads what a template of values renders.
fn rendered_values(template: &Template, merged: &DataMap) -> Result<(DataMap, Place)> {
    let source = rendered(template, merged)?;
    let name = source.name().strip_suffix(RENDERED).unwrap_or(source.name());
    let format = match Format::of_name(name) {
        Some(format @ (Format::Json | Format::Toml | Format::Env)) => format,
        _ => Format::Yaml,
    };
    let map = input::map(&source, format);
    let map = map.map_err(|error| error.with_note(format!("it is what `{}` renders", template.name())))?;
    Ok((map, Place::file(&source, format)))
}

impl ValuesFile {
    /// Returns the values with their place. A template is rendered with the merged values of a cluster.
    fn values(&self, merged: &dyn Fn() -> Result<DataMap>) -> Result<(DataMap, Place)> {
        match self {
            Self::Map(map, place) => Ok((map.clone(), place.clone())),
            Self::Template(template) => rendered_values(template, &merged()?),
            Self::Text(source) => Ok((DataMap::default(), Place::file(source, Format::Yaml))),
        }
    }
}

/// Calls `run` with values as inputs.
fn with_inputs<T>(values: &DataMap, run: impl FnOnce(Inputs<'_>) -> Result<T>) -> Result<T> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    run(Inputs::new(InputBuilder::new(&arena, &shapes).data_map(values)?))
}

/// The name of all values of the cluster in a condition.
pub(super) const CLUSTER: &str = "cluster";

/// A condition on clusters: a CEL expression. Its names are the merged values of the cluster. `cluster` is the value of that
/// name with all others beside it.
#[derive(Debug, Clone)]
pub struct Condition {
    expression: Template,
    /// Where the expression is written.
    source: Arc<Source>,
    span: Span,
}

impl Condition {
    /// Compiles the expression `text`, which is the string at `span` of a file.
    ///
    /// # Errors
    /// Errors of the expression, at their places in the file.
    pub fn parse(text: &str, source: &Arc<Source>, span: Span) -> std::result::Result<Self, Diagnostics> {
        let own = Source::new("when", text);
        let compiled = Engine::new().compile_source(Dialect::Cel, &own, None);
        let expression = compiled.map_err(|errors| {
            let errors = errors.into_vec().into_iter().map(|error| in_file(error, source, span));
            Diagnostics::from(errors.collect::<Vec<_>>())
        })?;
        Ok(Self { expression, source: source.clone(), span })
    }

    pub(super) fn template(&self) -> &Template {
        &self.expression
    }

    /// Returns `true` if the condition holds for a cluster with these [`names`].
    ///
    /// # Errors
    /// Errors of the expression; `input.type` for a value that is not a boolean.
    fn holds(&self, names: Inputs<'_>) -> Result<bool> {
        let mut text = String::new();
        self.expression.render_inputs(&mut Session::new(), names, &mut text).map_err(|error| {
            let error = in_file(error, &self.source, self.span);
            let is_missing = matches!(error.code, Code::BadIndex | Code::UndefinedVariable);
            if is_missing {
                error.with_help("test what may be missing: `has(cluster.a) && cluster.a.b`")
            } else {
                error
            }
        })?;
        match text.trim() {
            "true" => Ok(true),
            "false" => Ok(false),
            other => {
                let message = format!("the condition of a release must be true or false, found `{other}`");
                Err(Diagnostic::new(Code::InputType, message).at(&self.source, self.span, ""))
            }
        }
    }
}

/// Returns the names of conditions on a cluster with these merged values.
fn names(merged: DataMap) -> DataMap {
    let (mut names, mut all) = (merged.clone(), merged);
    if let Some(own) = all.shift_remove(CLUSTER).and_then(|own| own.try_into_map().ok()) {
        all.extend(own);
    }
    names.insert(CLUSTER.to_owned(), Data::Map(all));
    names
}

/// Moves the labels of an error about an expression to the string at `span` of a file, which is the expression.
fn in_file(mut error: Box<Diagnostic>, source: &Arc<Source>, span: Span) -> Box<Diagnostic> {
    for label in &mut error.labels {
        // A string with escapes has other positions.
        let start = span.start + 1;
        let is_plain = source.text().get(start as usize..).is_some_and(|rest| rest.starts_with(label.source.text()));
        label.span = if is_plain { Span::new(start + label.span.start, start + label.span.end) } else { span };
        label.source = source.clone();
    }
    error
}

/// Tells which releases a cluster has.
///
/// # Errors
/// Errors of conditions, with the release.
pub(super) fn enabled(releases: &[Release], layers: &Layers, cluster: &Cluster) -> Result<Vec<bool>> {
    if releases.iter().all(|release| release.when.is_none()) {
        return Ok(vec![true; releases.len()]);
    }
    with_inputs(&names(layers.merged(cluster)?), |names| {
        let holds = |release: &Release| match &release.when {
            None => Ok(true),
            Some(when) => when.holds(names).map_err(|error| of_release(error, release)),
        };
        releases.iter().map(holds).collect()
    })
}

/// Adds the release to an error.
pub(super) fn of_release(error: Box<Diagnostic>, release: &Release) -> Box<Diagnostic> {
    error.with_note(format!("release: {}", release.name.text()))
}

impl Release {
    /// Returns the inputs of the release for a cluster: of a chart those above its defaults and files, of templates all.
    ///
    /// # Errors
    /// Errors of values files that are templates, and of merging.
    pub(super) fn overlay<'c>(&self, layers: &Layers, cluster: &'c Cluster) -> Result<Overlay<'c>> {
        let merged = || layers.merged(cluster);
        if self.chart().is_some() {
            let mut own = DataMap::default();
            self.values.each(cluster, &merged, &mut |map| overlay(&mut own, map))?;
            overlay(&mut own, layers.release_values(cluster, &self.name_for(layers, cluster)?)?);
            return Ok(Overlay::Map(Cow::Owned(own)));
        }
        let mut files = Vec::new();
        self.values.each(cluster, &merged, &mut |map| files.push(map))?;
        if files.is_empty() && self.values.sets.is_empty() {
            return layers.overlay(cluster);
        }
        let mut all = merged()?;
        files.into_iter().for_each(|map| merge(&mut all, map));
        let mut gaps = Gaps::default();
        self.values.sets.iter().try_for_each(|set| set.apply(&mut all, &mut gaps))?;
        Ok(Overlay::Whole { all, own: cluster.inputs()? })
    }

    /// Returns the name of the release for a cluster.
    fn name_for(&self, layers: &Layers, cluster: &Cluster) -> Result<String> {
        self.name.text_for(cluster.name(), &layers.view(cluster)?)
    }

    /// Returns what gives values to the release for a cluster.
    ///
    /// # Errors
    /// Same as [`Release::overlay`].
    pub(super) fn givens(&self, layers: &Layers, cluster: &Cluster) -> Result<ReleaseGivens> {
        let merged = || layers.merged(cluster);
        let files = self.values.files.files_of(cluster).map(|file| file.values(&merged)).collect::<Result<_>>()?;
        let mut below = Vec::new();
        if self.chart().is_some() {
            below = vec![Step::Key(RELEASES.to_owned()), Step::Key(self.name_for(layers, cluster)?)];
        }
        Ok(ReleaseGivens { files, sets: self.values.sets.clone(), below })
    }
}

impl Layers {
    /// Returns the values that the layers and the cluster give to a release. Nulls are values.
    ///
    /// # Errors
    /// Errors of reading the cluster and of assignments; `input.type` for values that are no map.
    fn release_values(&self, cluster: &Cluster, name: &str) -> Result<DataMap> {
        let shared = self.of(cluster);
        let of = |map: &DataMap| match map.get(RELEASES).and_then(|all| all.get(name)) {
            None | Some(Data::Null) => Ok(None),
            Some(Data::Map(own)) => Ok(Some(own.clone())),
            Some(other) => {
                let message = format!("`{RELEASES}.{name}` is {}, not a map", with_article(other.kind()));
                Err(Diagnostic::new(Code::InputType, message))
            }
        };
        let sets: Vec<_> = shared.sets().iter().filter(|set| set.top() == RELEASES).collect();
        let mut below = DataMap::default();
        for map in shared.releases() {
            of(map)?.into_iter().for_each(|own| overlay(&mut below, own));
        }
        of(&*cluster.inputs()?)?.into_iter().for_each(|own| overlay(&mut below, own));
        if !sets.is_empty() {
            let releases = DataMap::from_iter([(name.to_owned(), Data::Map(below))]);
            let mut all = DataMap::from_iter([(RELEASES.to_owned(), Data::Map(releases))]);
            let mut gaps = Gaps::default();
            sets.into_iter().try_for_each(|set| set.apply(&mut all, &mut gaps))?;
            below = of(&all)?.unwrap_or_default();
        }
        Ok(below)
    }
}
