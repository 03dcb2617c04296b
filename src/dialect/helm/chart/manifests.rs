//! Documents of a render: their kinds, hooks and order.

use super::documents::documents;
use super::invalid;
use super::metadata::Fields;
use super::plan::is_partial;
use super::read::{first, head, json_kind};
use crate::diagnostics::Result;
use crate::text::Source;
use crate::value::{Data, Scanner};

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
    pub text: String,
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

/// Adds the documents of a rendered template to manifests and hooks. A document with an unknown event is left out.
///
/// # Errors
/// `file.invalid_output` for a document that is not a YAML map.
pub(super) fn collect(
    scanner: &mut Scanner,
    (source, text): (&str, &str),
    manifests: &mut Vec<Manifest>,
    hooks: &mut Vec<Hook>,
) -> Result<()> {
    if is_partial(source) {
        return Ok(());
    }
    for document in documents(text) {
        let head = Head::scan(scanner, document).map_or_else(|| Head::read(source, document), Ok);
        let head = head.map_err(|error| invalid::within(error, text, document));
        let Head { kind, name, annotations } = head?;
        let manifest = Manifest { source: source.to_owned(), kind, name, text: document.to_owned() };
        let find = |key: &str| annotations.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
        let Some(events) = find("helm.sh/hook") else {
            manifests.push(manifest);
            continue;
        };
        let events: Option<Vec<HookEvent>> = words(events).map(|word| HookEvent::named(&word)).collect();
        let policies = |key: &str| find(key).map_or(Vec::new(), |value| words(value).collect());
        hooks.extend(events.map(|events| Hook {
            manifest,
            events,
            weight: find("helm.sh/hook-weight").and_then(|weight| weight.parse().ok()).unwrap_or(0),
            delete_policies: policies("helm.sh/hook-delete-policy"),
            log_policies: policies("helm.sh/hook-output-log-policy"),
        }));
    }
    Ok(())
}

/// Returns the words of a list with commas, in lower case.
fn words(list: &str) -> impl Iterator<Item = String> {
    list.split(',').map(|word| word.trim().to_lowercase())
}

/// The beginning of a document.
struct Head {
    kind: String,
    name: String,
    annotations: Vec<(String, String)>,
}

/// The metadata of a document without any.
static NOTHING: Data = Data::Null;

/// The keys of the beginning of a document.
const KEYS: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Head {
    /// Reads the beginning of a usual document, without building the rest of it. `None` says nothing.
    fn scan(scanner: &mut Scanner, document: &str) -> Option<Head> {
        let mut text = String::new();
        for (key, lines) in scanner.entries(document)? {
            if KEYS.iter().any(|known| known.eq_ignore_ascii_case(key)) {
                text.push_str(lines);
            }
        }
        Self::of(&first(&text).ok()?).ok()
    }

    fn read(source: &str, document: &str) -> Result<Head> {
        let text = Source::new(source.to_owned(), document.to_owned());
        let data = head(&text).map_err(|errors| invalid::not_yaml(source, &text, errors.into_iter().next()))?;
        Self::of(&data).map_err(|why| invalid::no_object(source, &text, data.kind(), &why))
    }

    fn of(data: &Data) -> std::result::Result<Head, String> {
        if data.as_map().is_none() && *data != Data::Null {
            return Err(format!("cannot unmarshal {} into Go value of type util.SimpleHead", json_kind(data)));
        }
        let first = |errors: Vec<String>| errors.into_iter().next().unwrap_or_default();
        let mut fields = Fields::of(data, "SimpleHead").map_err(first)?;
        let (_, kind) = (fields.text("apiVersion"), fields.text("kind"));
        let metadata = fields.get("metadata").unwrap_or(&NOTHING);
        fields.finish(()).map_err(first)?;
        let mut metadata = Fields::of(metadata, "SimpleHead.metadata").map_err(first)?;
        let (name, annotations) = (metadata.text("name"), metadata.entries("annotations"));
        metadata.finish(Head { kind, name, annotations }).map_err(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_finds_what_a_reader_reads() {
        let usual = "kind: Pod\nmetadata:\n  name: a\n  annotations: {helm.sh/hook: test}\nspec: {b: c}\n";
        for text in
            [usual, "# c\nkind: y\n", "Kind: A\nmetadata:\n  Name: 012\n  annotations:\n    a: no\n    b:\n", "a: 1\n"]
        {
            let (scanned, read) = (Head::scan(&mut Scanner::new(), text).unwrap(), Head::read("t", text).unwrap());
            assert_eq!(
                (scanned.kind, scanned.name, scanned.annotations),
                (read.kind, read.name, read.annotations),
                "{text}"
            );
        }
        for text in [
            "",
            "- a\n",
            "{kind: Pod}\n",
            "kind: [A]\n",
            "metadata: a\n",
            "kind: A\nkind: B\n",
            "a: .inf\n",
            "a: b: c\n",
        ] {
            assert!(Head::scan(&mut Scanner::new(), text).is_none(), "{text}");
        }
        assert_eq!(Head::read("t", "kind: A\nkind: B\n").map(|head| head.kind).ok(), Some("B".to_owned()));
    }
}
