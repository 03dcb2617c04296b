//! The output of a render: the text of `helm template`, and its parts.

use super::error::Stage;
use super::manifests::{Hook, Manifest, collect, rank};
use super::plan::{Plan, PlannedChart};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::globs::PathGlob;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Text;
use dropforge_value::Scanner;

/// The sorted documents of a render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Documents in the order of installation.
    pub manifests: Vec<Manifest>,
    /// Documents that are applied at events, in the same order.
    pub hooks: Vec<Hook>,
    /// The notes of the root chart.
    pub notes: Option<String>,
    /// Definitions of resources: the files of `crds/`.
    pub crds: Vec<Manifest>,
    /// The name of the root chart.
    root: String,
}

/// The parts of the output to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// Whether hooks are printed.
    pub hooks: bool,
    /// Whether definitions of resources are printed.
    pub crds: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Self { hooks: true, crds: false }
    }
}

/// Splits and sorts rendered texts.
pub(super) fn assemble<N: AsRef<str>, T: Into<Text>>(
    plan: &Plan,
    rendered: impl IntoIterator<Item = (N, T)>,
) -> Result<Output> {
    let root = plan.charts().first().map_or_else(String::new, |chart| chart.path().to_owned());
    let (mut manifests, mut hooks, mut notes) = (Vec::new(), Vec::new(), None);
    let mut rendered: Vec<(N, Text)> = rendered.into_iter().map(|(name, text)| (name, text.into())).collect();
    rendered.small_sort_by(|(a, _), (b, _)| a.as_ref().cmp(b.as_ref()));
    let mut scanner = Scanner::new();
    for (name, text) in &rendered {
        let name = name.as_ref();
        if name.ends_with("NOTES.txt") {
            if name == format!("{root}/templates/NOTES.txt") {
                notes = Some(text.as_str().to_owned());
            }
        } else {
            collect(&mut scanner, (name, text), &mut manifests, &mut hooks)?;
        }
    }
    manifests.small_sort_by(|a, b| rank(&a.kind).cmp(&rank(&b.kind)));
    hooks.small_sort_by(|a, b| rank(&a.manifest.kind).cmp(&rank(&b.manifest.kind)));
    let crds = plan.charts().iter().flat_map(crds).collect();
    Ok(Output { manifests, hooks, notes, crds, root })
}

/// Returns the definitions of resources of a chart.
fn crds(chart: &PlannedChart) -> impl Iterator<Item = Manifest> {
    chart.crds().map(|(source, bytes)| Manifest {
        source,
        kind: "CustomResourceDefinition".to_owned(),
        name: String::new(),
        text: Text::from(String::from_utf8_lossy(bytes)),
    })
}

impl Output {
    /// Returns the text of `helm template`.
    pub fn text(&self) -> String {
        self.text_of(Selection::default())
    }

    /// Returns the text of `helm template` with or without hooks and definitions of resources.
    pub fn text_of(&self, selection: Selection) -> String {
        let mut text = String::with_capacity(self.selected(selection).map(Manifest::printed_len).sum());
        let crds = self.crds.iter().filter(|_| selection.crds);
        crds.chain(&self.manifests).for_each(|manifest| manifest.print(&mut text));
        // The tool trims the manifests, but not the hooks. The first one begins with its separator.
        text.truncate(text.trim_end().len());
        text.push('\n');
        if selection.hooks {
            self.hooks.iter().for_each(|hook| hook.manifest.print(&mut text));
        }
        text
    }

    /// Returns the text of the documents whose templates match one of the patterns (`--show-only`). A pattern is a path
    /// from the chart's directory and may have wildcards.
    ///
    /// # Errors
    /// `template.unknown` for a pattern that matches no document.
    pub fn only<P: AsRef<str>>(&self, patterns: impl IntoIterator<Item = P>, selection: Selection) -> Result<String> {
        let mut text = String::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let glob = PathGlob::parse(pattern);
            let matches = |manifest: &&Manifest| {
                let path = self.path_in_chart(manifest);
                path == pattern || glob.as_ref().is_some_and(|glob| glob.matches(path))
            };
            let before = text.len();
            self.selected(selection).filter(matches).for_each(|manifest| manifest.print(&mut text));
            if text.len() == before {
                let paths = self.selected(selection).map(|manifest| self.path_in_chart(manifest));
                let error =
                    Stage::Sort.error(Code::UnknownTemplate, format!("could not find template {pattern} in chart"));
                return Err(error.with_suggestion(pattern, paths.clone()).with_available(paths));
            }
        }
        Ok(text)
    }

    /// Returns the texts of files below an output directory (`--output-dir`), by path, sorted.
    pub fn files(&self, selection: Selection) -> Vec<(String, String)> {
        let mut files = std::collections::BTreeMap::new();
        for manifest in self.selected(selection) {
            manifest.print(files.entry(manifest.source.clone()).or_default());
        }
        files.into_iter().collect()
    }

    /// Returns the selected documents in the order of printing.
    pub fn selected(&self, selection: Selection) -> impl Iterator<Item = &Manifest> + Clone {
        let crds = self.crds.iter().filter(move |_| selection.crds);
        let hooks = self.hooks.iter().filter(move |_| selection.hooks).map(|hook| &hook.manifest);
        crds.chain(&self.manifests).chain(hooks)
    }

    fn path_in_chart<'m>(&self, manifest: &'m Manifest) -> &'m str {
        let rest = manifest.source.strip_prefix(self.root.as_str()).and_then(|rest| rest.strip_prefix('/'));
        rest.unwrap_or(&manifest.source)
    }
}
