//! Objects of Kubernetes in the making.

use dropforge::bulk::{ObjectPatch, WrittenObject};
use dropforge::diagnostics::Diagnostic;
use dropforge::value::{Data, DataMap};

use crate::init::import::yaml::Yaml;

/// An object, with what is known of its origin.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) data: Data,
    /// The object with the notation of its scalars, as it was read or patched last.
    written: WrittenObject,
    /// The names and namespaces that it had, first to last, without the present ones.
    pub(super) before: Vec<(String, String)>,
    /// The prefixes and suffixes that it got, in order.
    pub(super) affixes: Vec<String>,
    /// Its name gets a hash of its content.
    pub(super) has_hash: bool,
}

/// Kinds that have no namespace.
const CLUSTER_KINDS: [&str; 28] = [
    "APIService",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterTrustBundle",
    "ComponentStatus",
    "CSIDriver",
    "CSINode",
    "CustomResourceDefinition",
    "DeviceClass",
    "FlowSchema",
    "IPAddress",
    "IngressClass",
    "MutatingAdmissionPolicy",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PodSecurityPolicy",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "RuntimeClass",
    "SelfSubjectReview",
    "ServiceCIDR",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
];

impl Object {
    /// Creates an object that a file has.
    pub(super) fn of(document: &Yaml) -> Self {
        let data = document.data();
        Self { written: WrittenObject::of_node(&document.node, &data), ..Self::new(data) }
    }

    /// Creates an object that a generator makes.
    pub(super) fn new(data: Data) -> Self {
        let written = WrittenObject::of_data(&data);
        Self { data, written, before: Vec::new(), affixes: Vec::new(), has_hash: false }
    }

    /// Sets if the name gets a hash of the content.
    pub(super) fn with_hash(self, has_hash: bool) -> Self {
        Self { has_hash, ..self }
    }

    /// Applies a patch. Returns `false` if the patch removes the object.
    ///
    /// # Errors
    /// A patch that does not fit.
    pub(super) fn patch(&mut self, patch: &ObjectPatch) -> Result<bool, Box<Diagnostic>> {
        self.written.set(&self.data);
        let Some(patched) = patch.apply(&self.written)? else { return Ok(false) };
        (self.data, self.written) = (patched.to_data(), patched);
        Ok(true)
    }

    fn text(&self, path: &str) -> &str {
        self.data.at_path(path).and_then(Data::as_str).unwrap_or("")
    }

    pub(super) fn kind(&self) -> &str {
        self.text("kind")
    }

    pub(super) fn name(&self) -> &str {
        self.text("metadata.name")
    }

    pub(super) fn namespace(&self) -> &str {
        self.text("metadata.namespace")
    }

    /// Returns the group and the version.
    pub(super) fn group_version(&self) -> (&str, &str) {
        let version = self.text("apiVersion");
        version.split_once('/').unwrap_or(("", version))
    }

    /// Returns the name and the namespace in the file that it comes from.
    pub(super) fn first_name(&self) -> (&str, &str) {
        self.before.first().map_or((self.name(), self.namespace()), |(name, namespace)| (name, namespace))
    }

    /// Returns `true` if it has the name now, or had it.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.name() == name || self.before.iter().any(|(before, _)| before == name)
    }

    /// Returns `true` if it had the name. An object whose name and namespace nothing changed had none before.
    pub(super) fn was_named(&self, name: &str) -> bool {
        self.before.iter().any(|(before, _)| before == name)
    }

    /// Returns `true` if it is in the namespace now, or was.
    pub(super) fn is_within(&self, namespace: &str) -> bool {
        let same = |own: &str| own == namespace || (own.is_empty() && namespace == "default");
        same(self.namespace()) || self.before.iter().any(|(_, before)| same(before))
    }

    /// Returns `true` unless its kind has no namespace.
    pub(super) fn has_namespace(&self) -> bool {
        !CLUSTER_KINDS.contains(&self.kind())
    }

    /// Remembers the present name before it changes.
    pub(super) fn remember(&mut self) {
        let names = (self.name().to_owned(), self.namespace().to_owned());
        if self.before.last() != Some(&names) {
            self.before.push(names);
        }
    }

    pub(super) fn set_name(&mut self, name: String) {
        self.remember();
        if let Some(metadata) = map_at(&mut self.data, &["metadata"], true) {
            metadata.insert("name".to_owned(), Data::Str(name));
        }
    }

    pub(super) fn set_namespace(&mut self, namespace: &str) {
        self.remember();
        if let Some(metadata) = map_at(&mut self.data, &["metadata"], true) {
            metadata.insert("namespace".to_owned(), Data::Str(namespace.to_owned()));
        }
    }
}

/// Returns the map at a path. Missing ones are made, if `is_made`.
pub(super) fn map_at<'d>(data: &'d mut Data, path: &[&str], is_made: bool) -> Option<&'d mut DataMap> {
    let mut here = data;
    for key in path {
        if is_made && matches!(here, Data::Null) {
            *here = Data::Map(DataMap::default());
        }
        let Data::Map(map) = here else { return None };
        here = if is_made { map.entry((*key).to_owned()).or_default() } else { map.get_mut(*key)? };
    }
    if is_made && matches!(here, Data::Null) {
        *here = Data::Map(DataMap::default());
    }
    if let Data::Map(map) = here { Some(map) } else { None }
}

/// Calls `each` with every value at a path, in which `[]` stands for the items of a list.
pub(super) fn each_at(data: &mut Data, path: &[&str], each: &mut dyn FnMut(&mut Data)) {
    let Some((first, rest)) = path.split_first() else { return each(data) };
    match (*first, data) {
        ("[]", Data::List(items)) => items.iter_mut().for_each(|item| each_at(item, rest, each)),
        (key, Data::Map(map)) => {
            if let Some(below) = map.get_mut(key) {
                each_at(below, rest, each);
            }
        }
        _ => {}
    }
}

/// Returns the paths of the specification of pods in an object of a kind.
pub(super) fn pod_path(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "Pod" => Some(&["spec"]),
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" | "Job" | "ReplicationController" => {
            Some(&["spec", "template", "spec"])
        }
        "CronJob" => Some(&["spec", "jobTemplate", "spec", "template", "spec"]),
        "PodTemplate" => Some(&["template", "spec"]),
        _ => None,
    }
}
