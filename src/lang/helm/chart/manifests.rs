//! The output of a render: the text of `helm template`, and its documents with their kinds, hooks and order.

use super::Stage;
use super::documents::Head;
use super::documents::{self, documents};
use super::plan::{Plan, PlannedChart, is_partial};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::go_match::matches;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Text;
use dropforge_value::Scanner;

/// A document of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The name of the template.
    pub source: String,
    /// The kind; empty if the document has none.
    pub kind: String,
    /// The name in the metadata; empty if the document has none.
    pub name: String,
    /// The text.
    pub text: Text,
}

/// A document that is applied at certain events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The document.
    pub manifest: Manifest,
    /// The events.
    pub events: Vec<HookEvent>,
    /// The weight: lighter hooks come first within an event.
    pub weight: i64,
    /// The policies of deletion, as written: `before-hook-creation`.
    pub delete_policies: Vec<String>,
    /// The policies of writing logs, as written.
    pub log_policies: Vec<String>,
}

/// An event in the life of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookEvent {
    /// `pre-install`
    PreInstall,
    /// `post-install`
    PostInstall,
    /// `pre-delete`
    PreDelete,
    /// `post-delete`
    PostDelete,
    /// `pre-upgrade`
    PreUpgrade,
    /// `post-upgrade`
    PostUpgrade,
    /// `pre-rollback`
    PreRollback,
    /// `post-rollback`
    PostRollback,
    /// `test`
    Test,
}

/// The annotation that makes a hook of a document: its events.
pub(super) const HOOK: &str = "helm.sh/hook";

/// The names of events.
pub(super) const EVENTS: [(&str, HookEvent); 10] = [
    ("pre-install", HookEvent::PreInstall),
    ("post-install", HookEvent::PostInstall),
    ("pre-delete", HookEvent::PreDelete),
    ("post-delete", HookEvent::PostDelete),
    ("pre-upgrade", HookEvent::PreUpgrade),
    ("post-upgrade", HookEvent::PostUpgrade),
    ("pre-rollback", HookEvent::PreRollback),
    ("post-rollback", HookEvent::PostRollback),
    ("test", HookEvent::Test),
    ("test-success", HookEvent::Test),
];

impl HookEvent {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        EVENTS.iter().find(|(_, event)| *event == self).map_or("", |(name, _)| name)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        EVENTS.iter().find(|(known, _)| *known == name).map(|(_, event)| *event)
    }
}

/// The kinds in the order in which they are installed. Others come after them, by name.
const ORDER: [&str; 38] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// Returns the position of a kind in the order of installation, and the name of another kind.
pub fn install_rank(kind: &str) -> (usize, &str) {
    match ORDER.iter().position(|known| *known == kind) {
        Some(at) => (at, ""),
        None => (ORDER.len(), kind),
    }
}

/// Calls `see` with the head of each document of a rendered template, its text, and its events if it is a hook. A
/// document with an unknown event is left out.
///
/// # Errors
/// `file.invalid_output` for a document that is not a YAML map.
pub(super) fn each<'t>(
    scanner: &mut Scanner,
    (source, text): (&str, &'t str),
    see: &mut dyn FnMut(Head, &'t str, Option<Vec<HookEvent>>),
) -> Result<()> {
    if is_partial(source) {
        return Ok(());
    }
    for document in documents(text) {
        let head = Head::scan(scanner, document).map_or_else(|| Head::read(source, document), Ok);
        let head = head.map_err(|error| documents::within(error, text, document))?;
        let events = head.annotation(HOOK).map(|events| {
            let events: Option<Vec<HookEvent>> = words(events).map(|word| HookEvent::named(&word)).collect();
            events
        });
        match events {
            Some(None) => {}
            events => see(head, document, events.flatten()),
        }
    }
    Ok(())
}

/// Adds the documents of a rendered template to manifests and hooks.
///
/// # Errors
/// Those of [`each`].
pub(super) fn collect(
    scanner: &mut Scanner,
    (source, whole): (&str, &Text),
    manifests: &mut Vec<Manifest>,
    hooks: &mut Vec<Hook>,
) -> Result<()> {
    let start = whole.as_str().as_ptr().addr();
    each(scanner, (source, whole.as_str()), &mut |head, text, events| {
        let at = text.as_ptr().addr().saturating_sub(start);
        let policies = |key: &str| head.annotation(key).map_or(Vec::new(), |value| words(value).collect());
        let weight = || head.annotation("helm.sh/hook-weight").and_then(|weight| weight.parse().ok());
        let hook = events.map(|events| {
            let delete_policies = policies("helm.sh/hook-delete-policy");
            (events, weight().unwrap_or(0), delete_policies, policies("helm.sh/hook-output-log-policy"))
        });
        let Head { kind, name, .. } = head;
        let manifest = Manifest { source: source.to_owned(), kind, name, text: whole.part(at..at + text.len()) };
        match hook {
            None => manifests.push(manifest),
            Some((events, weight, delete_policies, log_policies)) => {
                hooks.push(Hook { manifest, events, weight, delete_policies, log_policies });
            }
        }
    })
}

/// Returns the words of a list with commas, in lower case.
pub(super) fn words(list: &str) -> impl Iterator<Item = String> {
    list.split(',').map(|word| word.trim().to_lowercase())
}

/// Returns the length of a printed document.
pub(super) fn printed_len(source: &str, text: &str) -> usize {
    "---\n# Source: \n\n".len() + source.len() + text.len()
}

/// Appends a document with its separator and the name of its template.
pub(super) fn print(source: &str, text: &str, to: &mut String) {
    to.extend(["---\n# Source: ", source, "\n", text, "\n"]);
}

impl Manifest {
    /// Returns the length of the document as it is printed.
    pub(super) fn printed_len(&self) -> usize {
        printed_len(&self.source, self.text.as_str())
    }

    /// Appends the document with its separator and the name of its template.
    pub fn print(&self, text: &mut String) {
        print(&self.source, self.text.as_str(), text);
    }
}

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
    /// Whether hooks that are tests are printed, too.
    pub tests: bool,
    /// Whether definitions of resources are printed.
    pub crds: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Self { hooks: true, tests: true, crds: false }
    }
}

impl Selection {
    /// Returns `true` if a hook with these events is printed.
    pub fn has(self, events: &[HookEvent]) -> bool {
        self.hooks && (self.tests || !events.contains(&HookEvent::Test))
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
    manifests.small_sort_by(|a, b| install_rank(&a.kind).cmp(&install_rank(&b.kind)));
    hooks.small_sort_by(|a, b| install_rank(&a.manifest.kind).cmp(&install_rank(&b.manifest.kind)));
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
        let hooks = self.hooks.iter().filter(|hook| selection.has(&hook.events));
        hooks.for_each(|hook| hook.manifest.print(&mut text));
        text
    }

    /// Returns the text of the documents whose templates match one of the patterns (`--show-only`). A pattern is a path
    /// from the chart's directory and may have wildcards.
    ///
    /// # Errors
    /// `template.unknown` for a pattern that matches no document.
    pub fn only<P: AsRef<str>>(&self, patterns: impl IntoIterator<Item = P>, selection: Selection) -> Result<String> {
        let mut text = String::new();
        // Helm splits the text of all documents, in which nothing but a line feed follows the last one before the hooks.
        let before_hooks = self.selected(Selection { hooks: false, ..selection }).last().map(std::ptr::from_ref);
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let is_shown = |manifest: &&Manifest| self.shows(pattern, &manifest.source);
            let before = text.len();
            for manifest in self.selected(selection).filter(is_shown) {
                manifest.print(&mut text);
                if before_hooks == Some(std::ptr::from_ref(manifest)) {
                    text.truncate(text.trim_end().len());
                    text.push('\n');
                }
                text.push('\n');
            }
            if text.len() == before {
                let paths = self.selected(selection).map(|manifest| self.path_in_chart(&manifest.source));
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
        let hooks = self.hooks.iter().filter(move |hook| selection.has(&hook.events)).map(|hook| &hook.manifest);
        crds.chain(&self.manifests).chain(hooks)
    }

    /// Returns `true` if the pattern of `--show-only` selects the template with this name.
    pub fn shows(&self, pattern: &str, template: &str) -> bool {
        let path = self.path_in_chart(template);
        path == pattern || matches(pattern, path).unwrap_or(false)
    }

    fn path_in_chart<'m>(&self, template: &'m str) -> &'m str {
        let rest = template.strip_prefix(self.root.as_str()).and_then(|rest| rest.strip_prefix('/'));
        rest.unwrap_or(template)
    }
}
