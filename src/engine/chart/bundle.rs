//! Compiling a chart to an artifact.

use std::collections::BTreeMap;

use super::programs;
use crate::bytecode::{Dialect, Entry, FileEntry, Files, encode_with_files};
use crate::diagnostics::{Diagnostic, Diagnostics, Result, without_duplicates};
use crate::dialect::helm::chart::{ChartFile, ChartSource, UserValues};
use crate::engine::{Engine, Template};

/// A compiled chart to write as an artifact.
#[derive(Debug)]
pub struct ChartBundling {
    source: ChartSource,
    name: String,
    programs: BTreeMap<String, Template>,
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
        let name = chart.chart().metadata().name.clone();
        Ok(ChartBundling { source, name, programs, strip: false })
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
        let values: Vec<_> = source.files().iter().map(ChartFile::read).collect();
        let files = source.files().iter().zip(&values);
        let files =
            files.map(|(file, value)| FileEntry { path: file.path(), content: file.bytes(), value: value.as_ref() });
        let files: Vec<_> = files.collect();
        let files = Files { dialect: Dialect::Helm, name: &self.name, files: &files };
        let entries: Vec<Entry<'_>> = self.programs.iter().map(|(name, program)| program.entry(name)).collect();
        encode_with_files(&entries, &files, self.strip)
    }
}
