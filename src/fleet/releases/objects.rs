//! Objects that two releases of a cluster make: the second one replaces the first when both are applied.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use super::Release;
use crate::cluster::Cluster;
use crate::layers::Layers;
use crate::lock;
use dropforge_base::diagnostics::{Code, Diagnostic, Severity};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_engine::OutputSyntax;
use dropforge_value::{Data, yaml};

/// A check of the objects of clusters.
#[derive(Debug, Default)]
pub(super) struct ObjectCheck {
    is_strict: bool,
    /// The releases of the clusters that were checked. Clusters with the same releases resemble each other.
    checked: Mutex<HashSet<Vec<bool>>>,
    found: Mutex<Vec<Box<Diagnostic>>>,
}

/// What tells objects of a cluster apart: the group of the API, the kind, the namespace and the name.
type Object = [String; 4];

impl ObjectCheck {
    /// Creates a check. If it is strict, every cluster is checked, and findings are errors.
    pub fn new(is_strict: bool) -> Self {
        Self { is_strict, ..Self::default() }
    }

    /// Returns `true` if findings are errors.
    pub fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// Returns `true` if the next cluster that has these releases has to be checked.
    pub fn wants(&self, enabled: &[bool]) -> bool {
        let are_several = enabled.iter().filter(|one| **one).count() > 1;
        are_several && (lock(&self.checked).insert(enabled.to_vec()) || self.is_strict)
    }

    /// Checks the outputs of a cluster. `texts` are the texts of all outputs of each. Returns the
    /// errors.
    pub fn check(
        &self,
        releases: &[Release],
        (layers, cluster): (&Layers, &Cluster),
        texts: &[Vec<&str>],
    ) -> Vec<Box<Diagnostic>> {
        let (mut seen, mut found): (HashMap<Object, (usize, &str)>, _) = (HashMap::new(), Vec::new());
        for (at, (release, texts)) in releases.iter().zip(texts).enumerate() {
            let namespace = release.namespace(layers, cluster);
            for (output, text) in release.outputs.all.iter().zip(texts) {
                for object in objects(&output.name, text, &namespace) {
                    match seen.get(&object) {
                        Some((first, template)) if *first != at => {
                            let first = releases.get(*first).map_or("", |release| release.name.text());
                            let both = [(first, *template), (release.name.text(), &output.template)];
                            found.push(self.finding(&object, both).for_cluster(cluster.name()));
                        }
                        Some(_) => {}
                        None => {
                            seen.insert(object, (at, &output.template));
                        }
                    }
                }
            }
        }
        if self.is_strict {
            return found;
        }
        lock(&self.found).extend(found);
        Vec::new()
    }

    fn finding(&self, [group, kind, namespace, name]: &Object, both: [(&str, &str); 2]) -> Box<Diagnostic> {
        let dotted = if group.is_empty() { String::new() } else { format!(".{group}") };
        let place = if namespace.is_empty() { String::new() } else { format!(" in the namespace `{namespace}`") };
        let message = format!("two releases make the object `{kind}{dotted} {name}`{place}");
        let mut found = Diagnostic::warning(Code::DuplicateOutput, message);
        for (release, template) in both {
            found = found.with_note(format!("release `{release}`, template `{template}`"));
        }
        found.severity = if self.is_strict { Severity::Error } else { Severity::Warning };
        found.with_help("rename one of them, or make it in one release only")
    }

    /// Returns the warnings.
    pub fn warnings(&self) -> Vec<Box<Diagnostic>> {
        lock(&self.found).clone()
    }
}

/// Returns the objects in the text of an output. A text that is not YAML has none: another check tells.
fn objects(name: &str, text: &str, namespace: &str) -> Vec<Object> {
    if OutputSyntax::of_file(name).is_none() || text.trim().is_empty() {
        return Vec::new();
    }
    let read = yaml::read(&Source::new(name, text), &Limits::default()).unwrap_or_default();
    let of = |data: &Data| {
        let text = |path: &str| data.at_path(path).and_then(|value| value.as_str()).map(str::to_owned);
        let version = text("apiVersion").unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group).to_owned();
        Some([
            group,
            text("kind")?,
            text("metadata.namespace").unwrap_or_else(|| namespace.to_owned()),
            text("metadata.name")?,
        ])
    };
    read.iter().filter_map(|document| of(&document.to_data())).collect()
}
