//! Documents of a render: their kinds, hooks and order.

use super::documents::documents;
use super::head::Head;
use super::invalid;
use super::plan::is_partial;
use dropforge_base::diagnostics::Result;
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

/// The names of events.
const EVENTS: [(&str, HookEvent); 10] = [
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

    fn named(name: &str) -> Option<Self> {
        EVENTS.iter().find(|(known, _)| *known == name).map(|(_, event)| *event)
    }
}

/// The kinds in the order in which they are installed. Others come behind them, by name.
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

/// The position of a kind in the order, and the name of another kind.
pub(super) fn rank(kind: &str) -> (usize, &str) {
    match ORDER.iter().position(|known| *known == kind) {
        Some(at) => (at, ""),
        None => (ORDER.len(), kind),
    }
}

/// A document of a rendered text.
pub(super) struct Found<'t> {
    pub head: Head,
    pub text: &'t str,
    /// The events of a hook.
    pub events: Option<Vec<HookEvent>>,
}

/// Calls `see` with the documents of a rendered template. A document with an unknown event is left out.
///
/// # Errors
/// `file.invalid_output` for a document that is not a YAML map.
pub(super) fn each<'t>(
    scanner: &mut Scanner,
    (source, text): (&str, &'t str),
    see: &mut dyn FnMut(Found<'t>),
) -> Result<()> {
    if is_partial(source) {
        return Ok(());
    }
    for document in documents(text) {
        let head = Head::scan(scanner, document).map_or_else(|| Head::read(source, document), Ok);
        let head = head.map_err(|error| invalid::within(error, text, document))?;
        let events = head.annotation("helm.sh/hook").map(|events| {
            let events: Option<Vec<HookEvent>> = words(events).map(|word| HookEvent::named(&word)).collect();
            events
        });
        match events {
            Some(None) => {}
            events => see(Found { head, text: document, events: events.flatten() }),
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
    each(scanner, (source, whole.as_str()), &mut |Found { head, text, events }| {
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
fn words(list: &str) -> impl Iterator<Item = String> {
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
