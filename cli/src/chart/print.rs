//! Warnings about the documents of a chart.

use dropforge::diagnostics::{Code, Diagnostic, Severity};
use dropforge::dialect::helm::chart::Output;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Scanner, yaml};

/// Returns a warning for each key that a document has twice. Helm uses the last one.
pub(super) fn duplicates(output: &Output) -> Vec<Box<Diagnostic>> {
    let mut scanner = Scanner::default();
    let hooks = output.hooks.iter().map(|hook| &hook.manifest);
    let unusual = output.manifests.iter().chain(hooks).filter(|manifest| !scanner.is_yaml(&manifest.text));
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    let errors = unusual.flat_map(|manifest| {
        let source = Source::new(manifest.source.as_str(), manifest.text.as_str());
        yaml::read(&source, &limits).err().unwrap_or_default()
    });
    let mut duplicates: Vec<_> = errors.filter(|error| error.code == Code::DuplicateKey).collect();
    duplicates.iter_mut().for_each(|error| error.severity = Severity::Warning);
    duplicates
}
