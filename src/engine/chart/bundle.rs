//! Compiling a chart to an artifact.

use std::collections::BTreeMap;

use super::programs;
use crate::{Engine, Template};
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, Result, without_duplicates};
use dropforge_helm::chart::{ChartSource, UserValues};
use dropforge_machine::bytecode::{Dialect, Entry, FileEntry, Files, encode_with_files};

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
    /// use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Release, UserValues};
    /// use dropforge::engine::Engine;
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
            let plan = chart.chart().outline(values)?;
            programs.insert(programs::name(&plan), chart.compile(&plan)?);
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
    pub fn programs(&self) -> impl ExactSizeIterator<Item = &Template> {
        self.programs.values()
    }

    /// Returns lints about templates that may still render, without duplicates.
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
        let files = Files { dialect: Dialect::Helm, name: &self.name, files: &files };
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
