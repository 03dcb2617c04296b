//! The compiled programs of a chart, one for each set of enabled charts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::template::ChartTemplate;
use crate::{Artifact, Engine, Origin, Template};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result, without_duplicates};
use dropforge_base::text::Span;
use dropforge_helm::chart::{ChartSource, Plan, UserValues};
use dropforge_machine::bytecode::{Dialect, Entry, FileEntry, FileSet, Resources, encode_with_files};

/// Maximum number of programs that are kept.
const KEPT: usize = 16;

/// The enabled charts: the path of each and its number in the source.
type Enabled = Vec<(String, usize)>;

/// The part of the templates that a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// What some values seem to need.
    Partial,
    /// Everything.
    Whole,
}

/// Returns the name that the program of a plan has in an artifact: that of the chart and a digest of the enabled charts.
pub(super) fn name(plan: &Plan) -> String {
    let mut key = Vec::new();
    for (path, number) in enabled(plan) {
        key.extend_from_slice(path.as_bytes());
        key.push(0);
        key.extend_from_slice(&(number as u64).to_le_bytes());
    }
    let chart = plan.charts().first().map_or("", |chart| chart.path());
    format!("{chart}@{:016x}", xxhash_rust::xxh3::xxh3_64(&key))
}

fn enabled(plan: &Plan) -> Enabled {
    plan.charts().iter().map(|chart| (chart.path().to_owned(), chart.number())).collect()
}

/// Programs, the most recently used last.
#[derive(Debug, Default)]
pub(super) struct Programs {
    kept: Mutex<Vec<(Enabled, Extent, Template)>>,
}

impl Programs {
    /// Returns the program of a plan, of at least this extent, which `compile` makes if there is none.
    ///
    /// # Errors
    /// Those of `compile`.
    #[doc(hidden)]
    pub fn get<E>(
        &self,
        plan: &Plan,
        extent: Extent,
        compile: impl FnOnce() -> std::result::Result<Template, E>,
    ) -> std::result::Result<(Template, Extent), E> {
        let enabled = enabled(plan);
        if let Some(known) = self.take(&enabled, extent) {
            return Ok(known);
        }
        // Other renders go on meanwhile.
        let template = compile()?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // A whole program replaces a partial one.
        kept.retain(|(known, had, _)| *known != enabled || *had > extent);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((enabled, extent, template.clone()));
        Ok((template, extent))
    }

    fn take(&self, enabled: &Enabled, extent: Extent) -> Option<(Template, Extent)> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, had, _)| known == enabled && *had >= extent)?;
        let found = kept.remove(at);
        let answer = (found.2.clone(), found.1);
        kept.push(found);
        Some(answer)
    }

    /// Returns the number of programs.
    #[cfg(test)]
    #[doc(hidden)]
    pub fn len(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Artifact {
    /// Returns `true` if the artifact holds a chart, with the programs of its templates.
    pub fn holds_chart(&self) -> bool {
        self.resources_of_chart().is_some()
    }

    /// Returns the chart of the artifact. It renders as it does from its files.
    ///
    /// # Errors
    /// `template.unknown` if the artifact holds no chart; the errors of [`Engine::chart`](crate::Engine::chart) for
    /// damaged files.
    pub fn chart(&self) -> std::result::Result<ChartTemplate, Diagnostics> {
        let Some(resources) = self.resources_of_chart() else {
            return Err(Diagnostic::new(Code::UnknownTemplate, "the artifact holds no chart").into());
        };
        let source = ChartSource::of_resources(resources)?;
        ChartTemplate::new(&source, self.engine(), Some(self.clone()))
    }

    fn resources_of_chart(&self) -> Option<&Resources> {
        self.bundle().resources().filter(|resources| resources.dialect() == Dialect::Helm)
    }
}

impl ChartTemplate {
    /// Returns the program that the artifact has for a plan, or compiles the sources in it.
    ///
    /// # Errors
    /// `template.unknown` if there are none, or this build has no compiler; errors of linking and compiling.
    pub(super) fn of_artifact(&self, artifact: &Artifact, plan: &Plan) -> std::result::Result<Template, Diagnostics> {
        let name = name(plan);
        if artifact.bundle().entry(&name).is_some() {
            return Ok(artifact.template(&name)?);
        }
        match artifact.bundle().stripped() {
            true => Err(no_program(plan, "and no sources to compile one").into()),
            false => self.compiled(plan, Extent::Whole),
        }
    }

    /// Returns lints about the templates of a plan. An artifact's are compiled again, from its sources: a stripped one has
    /// no lints.
    ///
    /// # Errors
    /// Those of [`ChartTemplate::compile`].
    #[doc(hidden)]
    pub fn lints(&self, plan: &Plan) -> std::result::Result<Vec<Box<Diagnostic>>, Diagnostics> {
        let mut lints = self.all_lints(plan)?;
        let whole = self.chart().whole();
        // What charts define that are not enabled is only called if they are.
        if !lints.is_empty()
            && whole.charts().len() > plan.charts().len()
            && let Ok(of_whole) = self.all_lints(&whole)
        {
            let places: Vec<_> = of_whole.iter().map(|lint| place_of(lint)).collect();
            lints.retain(|lint| places.contains(&place_of(lint)));
        }
        Ok(lints)
    }

    fn all_lints(&self, plan: &Plan) -> std::result::Result<Vec<Box<Diagnostic>>, Diagnostics> {
        let template = self.compile(plan)?;
        match template.origin() {
            Origin::Artifact => Ok(self.compiled(plan, Extent::Whole)?.lints().to_vec()),
            _ => Ok(template.lints().to_vec()),
        }
    }
}

/// Returns the file and the place of a lint.
fn place_of(lint: &Diagnostic) -> Option<(&str, Span)> {
    lint.primary().map(|label| (label.source.name(), label.span))
}

/// Returns the error of a set of enabled charts without a program.
#[cold]
fn no_program(plan: &Plan, why: &str) -> Box<Diagnostic> {
    let charts: Vec<_> = plan.charts().iter().map(|chart| format!("`{}`", chart.path())).collect();
    let message = format!("the artifact has no program for the enabled charts ({}), {why}", charts.join(", "));
    Diagnostic::new(Code::UnknownTemplate, message)
        .with_help("compile the chart with the values that enable them: `dropforge compile CHART -f VALUES -o FILE`")
}

/// A compiled chart to write as an artifact.
#[derive(Debug)]
pub struct ChartBundling {
    source: ChartSource,
    name: String,
    programs: BTreeMap<String, Template>,
    /// `true` if the chart fits its schemas without values of a user.
    fits_by_default: bool,
    strip: bool,
}

impl Engine {
    /// Compiles a chart with the charts in it to an artifact, which also holds its files. There is a program for the charts
    /// that each of `variants` enables; for others, the artifact compiles its sources when it is rendered. The bytes do
    /// not depend on the machine.
    ///
    /// # Errors
    /// The errors of [`Engine::chart`]; every syntax error of every template; `input.structure` for a missing dependency.
    ///
    /// ```
    /// use dropforge::chart::{Capabilities, ChartSource, Release, UserValues};
    /// use dropforge::Engine;
    /// let source = ChartSource::from_files([
    ///     ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
    ///     ("templates/service.yaml", "kind: {{ .Values.kind }}\n"),
    /// ])?;
    /// let bytes = Engine::new().bundle_chart(&source, &[UserValues::default()])?.encode()?;
    ///
    /// let chart = Engine::new().open(bytes)?.chart()?;
    /// let mut values = UserValues::default();
    /// values.set("kind=Service")?;
    /// let render = chart.render(&values, &Release::default(), &Capabilities::default())?;
    /// assert_eq!(render.files()[0].1.as_str(), "kind: Service\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bundle_chart(
        &self,
        source: &ChartSource,
        variants: &[UserValues],
    ) -> std::result::Result<ChartBundling, Diagnostics> {
        let source = source.unpacked()?;
        let chart = self.chart(&source)?;
        let mut programs = BTreeMap::new();
        for values in variants {
            let plan = chart.outline(values)?;
            programs.insert(name(&plan), chart.compile(&plan)?);
        }
        let (name, fits_by_default) = (chart.chart().metadata().name.clone(), chart.chart().fits_by_default());
        Ok(ChartBundling { source, name, programs, fits_by_default, strip: false })
    }
}

impl ChartBundling {
    /// Leaves out the templates' sources and positions. Errors then name the template, but no line, and other sets of enabled
    /// charts cannot be rendered.
    pub fn strip(mut self, strip: bool) -> Self {
        self.strip = strip;
        self
    }

    /// Returns the name of the chart.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the programs, one for each set of enabled charts.
    #[doc(hidden)]
    pub fn programs(&self) -> impl ExactSizeIterator<Item = &Template> {
        self.programs.values()
    }

    /// Returns lints about templates that may still render, without duplicates.
    #[doc(hidden)]
    pub fn lints(&self) -> Vec<Box<Diagnostic>> {
        without_duplicates(self.programs().flat_map(|program| program.lints().iter().cloned()).collect())
    }

    /// Encodes the artifact.
    ///
    /// # Errors
    /// `artifact.name` for a path that an artifact cannot hold, or that the chart has twice; `limit.code` if the chart is
    /// too large for one.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let emptied = self.strip.then(|| self.source.without_templates());
        let source = emptied.as_ref().unwrap_or(&self.source);
        let values: Vec<_> = source.files().iter().map(|file| file.read(self.fits_by_default)).collect();
        let files = source.files().iter().zip(&values);
        let files =
            files.map(|(file, value)| FileEntry { path: file.path(), content: file.bytes(), value: value.as_ref() });
        let files: Vec<_> = files.collect();
        let files = FileSet { dialect: Dialect::Helm, name: &self.name, files: &files };
        let entries: Vec<Entry<'_>> = self.programs.iter().map(|(name, program)| program.entry(name)).collect();
        encode_with_files(&entries, &files, self.strip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_helm::chart::{Capabilities, Release};
    use dropforge_machine::bytecode::ResourceFile;
    use dropforge_value::Data;

    /// Returns the value that the artifact has of the schema, and the answers for some values of the user.
    fn of_artifact(defaults: &str, sets: [&str; 3]) -> (Option<Data>, [bool; 3]) {
        let source = ChartSource::from_files([
            ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
            ("values.yaml", defaults),
            ("values.schema.json", r#"{"required": ["port"], "properties": {"port": {"maximum": 65535}}}"#),
            ("templates/a.yaml", "kind: A\nport: {{ .Values.port }}\n"),
        ]);
        let engine = Engine::new();
        let bytes = engine.bundle_chart(&source.unwrap(), &[UserValues::default()]).unwrap().encode().unwrap();
        let artifact = engine.open(bytes).unwrap();
        let mut files = artifact.bundle().resources().unwrap().files();
        let schema = files.find(|file| file.path() == "values.schema.json").as_ref().and_then(ResourceFile::value);
        let chart = artifact.chart().unwrap();
        let fits = sets.map(|set| {
            let mut values = UserValues::default();
            values.set(set).unwrap();
            chart.render(&values, &Release::default(), &Capabilities::default()).is_ok()
        });
        (schema.map(|value| value.data().unwrap()), fits)
    }

    #[test]
    fn an_artifact_knows_if_a_chart_fits_its_schemas_by_default() {
        let sets = ["", "port=1", "port=70000"];
        assert_eq!(of_artifact("port: 80\n", sets), (Some(Data::Bool(true)), [true, true, false]));
        assert_eq!(of_artifact("port: 70000\n", sets), (None, [false, true, false]));
        assert_eq!(of_artifact("", sets), (None, [false, true, false]));
    }
}
