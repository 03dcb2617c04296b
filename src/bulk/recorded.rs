//! Outputs that are recorded, to tell why a part of them is there.

use super::cluster::Cluster;
use super::job::Stamp as _;
use super::layers::Layers;
use super::origins::Origin;
use super::stamper::Stamper;
use super::values::Step;
use crate::diagnostics::{Diagnostic, Diagnostics, Result};
#[cfg(feature = "helm")]
use crate::engine::chart::{ChartRecording, ChartRender};
use crate::engine::recording::{Flow, Recording, Why};
use crate::value::assign::InputValue;

/// The recorded render of an output for a cluster.
#[derive(Debug)]
pub struct RecordedOutput {
    of: Of,
    /// The error of a template, which ended the recording.
    pub error: Option<Box<Diagnostic>>,
}

#[derive(Debug)]
enum Of {
    /// A template, with the text that it gives.
    Template(String, Box<Recording>),
    /// All templates of a chart.
    #[cfg(feature = "helm")]
    Chart(Box<(ChartRender, ChartRecording)>),
    /// A file that is copied.
    Copied,
}

/// The values that an input was read from.
#[derive(Debug)]
pub struct Given {
    /// The path as the values have it.
    pub path: String,
    /// What gives the value, and then what that overrides.
    pub origins: Vec<Origin>,
    /// The file and line of a default, or the schema that has it.
    pub default: Option<String>,
    /// A schema marks the value secret.
    pub is_secret: bool,
}

impl Stamper<'_> {
    /// Renders all outputs for a cluster. Returns the text of each, or its error.
    ///
    /// # Errors
    /// The inputs of the cluster are invalid.
    pub fn texts(&self, layers: &Layers, cluster: &Cluster) -> Result<Vec<Result<String>>> {
        let own = layers.overlay(cluster)?;
        let (mut text, mut ends, mut rendered) = (String::new(), Vec::new(), Ok(()));
        self.work(&mut |renderer| rendered = renderer.render(cluster, &own, &mut text, &mut ends));
        rendered?;
        let mut start = 0;
        let mut part = |end: usize| text.get(std::mem::replace(&mut start, end)..end).unwrap_or("").to_owned();
        Ok(ends.into_iter().map(|end| end.map(&mut part)).collect())
    }

    /// Renders an output for a cluster again and records it.
    ///
    /// # Errors
    /// The inputs of the cluster are invalid; errors of a chart.
    pub fn recorded(
        &self,
        layers: &Layers,
        cluster: &Cluster,
        output: usize,
    ) -> std::result::Result<RecordedOutput, Diagnostics> {
        let own = layers.overlay(cluster)?;
        #[cfg(feature = "helm")]
        if let Some(chart) = self.chart() {
            let render = chart.rendered(cluster, &own)?;
            let recording = render.record()?;
            return Ok(RecordedOutput { of: Of::Chart(Box::new((render, recording))), error: None });
        }
        Ok(match self.record(&own, output)? {
            Some((text, recording, error)) => RecordedOutput { of: Of::Template(text, Box::new(recording)), error },
            None => RecordedOutput { of: Of::Copied, error: None },
        })
    }
}

impl RecordedOutput {
    /// Returns `true` for a file that is copied as it is.
    pub fn is_copied(&self) -> bool {
        matches!(self.of, Of::Copied)
    }

    /// Returns why byte `at` of a file is there, whose text is the output or documents of it.
    pub fn why(&self, file: &str, at: usize) -> Option<Why> {
        match &self.of {
            Of::Copied => None,
            Of::Template(text, recording) => recording.why(text, found_in(file, at, text)?),
            #[cfg(feature = "helm")]
            Of::Chart(chart) => {
                let (render, recording) = &**chart;
                let source = file.get(..at)?.lines().rev().find_map(|line| line.strip_prefix(SOURCE));
                let named = |(_, (name, _)): &(usize, &(String, _))| Some(name.as_str()) == source;
                let files = || render.files().iter().enumerate();
                let in_order = files().filter(named).chain(files());
                let mut whys = in_order.filter_map(|(nth, (_, text))| {
                    let text = text.as_str();
                    recording.why(nth, text, found_in(file, at, text)?)
                });
                whys.next()
            }
        }
    }

    /// Returns the recording of the run. `None` for a file that is copied.
    pub fn recording(&self) -> Option<&Recording> {
        match &self.of {
            Of::Copied => None,
            Of::Template(_, recording) => Some(recording),
            #[cfg(feature = "helm")]
            Of::Chart(chart) => Some(chart.1.recording()),
        }
    }

    /// Returns what gives an input.
    pub fn given(&self, layers: &Layers, cluster: Option<&Cluster>, flow: &Flow) -> Given {
        let InputValue { name: path, path: values, default, is_secret } = self.value_of(&flow.path);
        let mut origins = Vec::new();
        layers.origins(cluster, &mut |all| {
            origins = all.of(&values).map(|one| one.of_value(&values)).collect::<Vec<_>>()
        });
        let default = default.or_else(|| layers.default_place(&values).filter(|_| origins.is_empty()));
        Given { path, origins, default, is_secret: is_secret || layers.is_secret(&values) }
    }

    /// Returns the value that an input is.
    fn value_of(&self, path: &[Step]) -> InputValue {
        match &self.of {
            #[cfg(feature = "helm")]
            Of::Chart(chart) => chart.0.plan().value_of(path),
            _ => InputValue { name: Step::joined(path), path: path.to_vec(), ..InputValue::default() },
        }
    }
}

/// The comment that names the template of a document of a chart.
const SOURCE: &str = "# Source: ";

/// Returns the byte of an output that byte `at` of a file is: both are the same, the file is a part of the output, or the
/// document around `at` is.
///
/// ```
/// use dropforge::bulk::found_in;
/// assert_eq!(found_in("b: 2\n", 3, "a: 1\n---\nb: 2\n"), Some(12));
/// assert_eq!(found_in("b: 3\n", 3, "a: 1\n---\nb: 2\n"), None);
/// ```
pub fn found_in(file: &str, at: usize, text: &str) -> Option<usize> {
    let whole = text.find(file.trim()).filter(|_| !file.trim().is_empty());
    let (start, document) = match whole {
        _ if file == text => return Some(at),
        Some(_) => (file.len() - file.trim_start().len(), file.trim()),
        None => document(file, at)?,
    };
    let begins = text.find(document)?;
    Some(begins + at.checked_sub(start)?.min(document.len().checked_sub(1)?))
}

/// Returns the document around `at` and its position, without the separator and the comment of a chart.
fn document(file: &str, at: usize) -> Option<(usize, &str)> {
    let is_separator = |line: &str| line.trim_end() == "---" || line.starts_with("--- ");
    let (mut start, mut end) = (0, 0);
    for line in file.split_inclusive('\n') {
        if is_separator(line) {
            if end > at {
                break;
            }
            start = end + line.len();
        } else if line.starts_with(SOURCE) && start == end {
            start = end + line.len();
        }
        end += line.len();
    }
    let text = file.get(start..end)?;
    let indent = text.len() - text.trim_start().len();
    Some((start + indent, text.trim())).filter(|(_, text)| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_a_file_are_found_in_the_text_that_gave_them() {
        let text = "\na: 1\n---\n\nb: 2\nc: 3\n";
        let at = |file: &str, part: &str| found_in(file, file.find(part).unwrap(), text).map(|at| &text[at..]);
        assert_eq!(at(text, "c"), Some("c: 3\n"));
        assert_eq!(at("b: 2\nc: 3\n", "3"), Some("3\n"));
        let stream = "---\n# Source: x/y.yaml\nb: 2\nc: 3\n---\n# Source: x/z.yaml\na: 1\n";
        assert_eq!(at(stream, "c: 3"), Some("c: 3\n"));
        assert_eq!(at(stream, "a: 1"), Some("a: 1\n---\n\nb: 2\nc: 3\n"));
        assert_eq!(at("d: 2\nc: 3\n", "c"), None);
        assert_eq!(at("---\nx: 1\n", "-"), None);
    }
}
