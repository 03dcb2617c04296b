//! Objects that two releases of a cluster make: the second one replaces the first when both are applied.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use super::Release;
use crate::cluster::Cluster;
use crate::documents::{documents_of, read};
use crate::layers::Layers;
use crate::lock;
use dropforge_base::diagnostics::{Code, Diagnostic, Severity, at_most, listed_of};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::{Data, find_word};

/// Maximum number of findings to report, and to keep.
const REPORTED: usize = 20;
const KEPT: usize = 1_000;
/// Maximum number of clusters to name.
const NAMED: usize = 5;

/// A check of the objects of clusters.
#[derive(Debug, Default)]
pub(super) struct ObjectCheck {
    is_strict: bool,
    /// The findings by their messages and releases.
    found: Mutex<BTreeMap<[String; 3], Finding>>,
}

#[derive(Debug)]
struct Finding {
    warning: Box<Diagnostic>,
    /// The first clusters with their places in the fleet, and the number of all.
    clusters: BTreeMap<usize, String>,
    count: usize,
}

/// What tells objects of a cluster apart: the group of the API, the kind, the namespace and the name.
type Object<'t> = [Cow<'t, str>; 4];

impl ObjectCheck {
    /// Creates a check. If it is strict, findings are errors.
    pub fn new(is_strict: bool) -> Self {
        Self { is_strict, ..Self::default() }
    }

    /// Returns `true` if findings are errors.
    pub fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// Checks the outputs of the cluster at a place in the fleet. `texts` are the texts of all outputs of each release. Returns the
    /// errors.
    pub fn check(
        &self,
        releases: &[Release],
        layers: &Layers,
        (at, cluster): (usize, &Cluster),
        texts: &[Vec<&str>],
    ) -> Vec<Box<Diagnostic>> {
        let (mut seen, mut errors): (HashMap<Object<'_>, (usize, &str)>, _) = (HashMap::new(), Vec::new());
        let namespaces: Vec<String> = releases.iter().map(|release| release.namespace(layers, cluster)).collect();
        for (number, (release, (texts, namespace))) in releases.iter().zip(texts.iter().zip(&namespaces)).enumerate() {
            for (output, text) in release.outputs.all.iter().zip(texts) {
                each_object(&output.name, text, namespace, &mut |object| {
                    let finding = match seen.get(&object) {
                        Some((first, template)) if *first != number => {
                            let first = releases.get(*first).map_or("", |release| release.name.text());
                            Some(self.finding(&object, [(first, *template), (release.name.text(), &output.template)]))
                        }
                        _ => None,
                    };
                    seen.insert(object, (number, &output.template));
                    match finding {
                        Some(finding) if self.is_strict => errors.push(finding.for_cluster(cluster.name())),
                        Some(finding) => self.keep(finding, (at, cluster.name())),
                        None => {}
                    }
                });
            }
        }
        errors
    }

    /// Keeps a finding of a cluster.
    fn keep(&self, warning: Box<Diagnostic>, (at, cluster): (usize, &str)) {
        let mut found = lock(&self.found);
        let note = |nth: usize| warning.notes.get(nth).cloned().unwrap_or_default();
        let key = [warning.message.clone(), note(0), note(1)];
        if found.len() == KEPT && !found.contains_key(&key) {
            return;
        }
        let known = found.entry(key).or_insert_with(|| Finding { warning, clusters: BTreeMap::new(), count: 0 });
        known.count += 1;
        known.clusters.insert(at, cluster.to_owned());
        if known.clusters.len() > NAMED {
            known.clusters.pop_last();
        }
    }

    fn finding(&self, [group, kind, namespace, name]: &Object<'_>, both: [(&str, &str); 2]) -> Box<Diagnostic> {
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

    /// Returns the warnings, in the order of their first clusters.
    pub fn warnings(&self) -> Vec<Box<Diagnostic>> {
        let found = lock(&self.found);
        let mut found: Vec<&Finding> = found.values().collect();
        found.small_sort_by_key(|finding| finding.clusters.first_key_value().map(|(at, _)| *at));
        let warnings = found.into_iter().map(|finding| {
            let names: Vec<String> = finding.clusters.values().cloned().collect();
            let mut warning = finding.warning.clone();
            warning.cluster = Some(listed_of(&names, finding.count, NAMED));
            warning
        });
        at_most(warnings.collect(), REPORTED, 0)
    }
}

/// Calls `see` with the objects in the text of an output. One without a namespace is in that of the release.
fn each_object<'t>(name: &str, text: &'t str, namespace: &'t str, see: &mut dyn FnMut(Object<'t>)) {
    for document in documents_of(name, text).into_iter().flatten() {
        let word = |path| find_word(document, path);
        let words = (word("kind"), word("metadata.name"), word("apiVersion"), word("metadata.namespace"));
        let object = match words {
            (Some(kind), Some(name), Some(version), Some(own)) => {
                let own = Cow::Borrowed(own.unwrap_or(namespace));
                kind.zip(name).map(|(kind, name)| [group(version).into(), kind.into(), own, name.into()])
            }
            _ => read_object(&read(document), namespace),
        };
        object.into_iter().for_each(&mut *see);
    }
}

/// Returns the group of a version of an API.
fn group(version: Option<&str>) -> &str {
    version.and_then(|version| version.split_once('/')).map_or("", |(group, _)| group)
}

fn read_object<'t>(document: &Data, namespace: &'t str) -> Option<Object<'t>> {
    let text = |path: &str| document.at_path(path).and_then(Data::as_str).map(|text| Cow::Owned(text.to_owned()));
    let version = text("apiVersion");
    let own = text("metadata.namespace").unwrap_or(Cow::Borrowed(namespace));
    Some([group(version.as_deref()).to_owned().into(), text("kind")?, own, text("metadata.name")?])
}
