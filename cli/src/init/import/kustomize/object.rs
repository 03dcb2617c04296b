//! Objects of Kubernetes in the making, and references between them, which follow changed names.

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

/// References of pods: the kind that is meant, and the path in their specification.
const OF_PODS: [(&str, &[&str]); 17] = [
    ("ConfigMap", &["volumes", "[]", "configMap", "name"]),
    ("ConfigMap", &["volumes", "[]", "projected", "sources", "[]", "configMap", "name"]),
    ("ConfigMap", &["containers", "[]", "env", "[]", "valueFrom", "configMapKeyRef", "name"]),
    ("ConfigMap", &["containers", "[]", "envFrom", "[]", "configMapRef", "name"]),
    ("ConfigMap", &["initContainers", "[]", "env", "[]", "valueFrom", "configMapKeyRef", "name"]),
    ("ConfigMap", &["initContainers", "[]", "envFrom", "[]", "configMapRef", "name"]),
    ("Secret", &["volumes", "[]", "secret", "secretName"]),
    ("Secret", &["volumes", "[]", "projected", "sources", "[]", "secret", "name"]),
    ("Secret", &["volumes", "[]", "csi", "nodePublishSecretRef", "name"]),
    ("Secret", &["containers", "[]", "env", "[]", "valueFrom", "secretKeyRef", "name"]),
    ("Secret", &["containers", "[]", "envFrom", "[]", "secretRef", "name"]),
    ("Secret", &["initContainers", "[]", "env", "[]", "valueFrom", "secretKeyRef", "name"]),
    ("Secret", &["initContainers", "[]", "envFrom", "[]", "secretRef", "name"]),
    ("Secret", &["imagePullSecrets", "[]", "name"]),
    ("ServiceAccount", &["serviceAccountName"]),
    ("PersistentVolumeClaim", &["volumes", "[]", "persistentVolumeClaim", "claimName"]),
    ("PriorityClass", &["priorityClassName"]),
];

/// Other references: the kind of the object, the kind that is meant, and the path.
const OF_OTHERS: [(&str, &str, &[&str]); 16] = [
    ("StatefulSet", "Service", &["spec", "serviceName"]),
    ("Ingress", "Service", &["spec", "rules", "[]", "http", "paths", "[]", "backend", "service", "name"]),
    ("Ingress", "Service", &["spec", "rules", "[]", "http", "paths", "[]", "backend", "serviceName"]),
    ("Ingress", "Service", &["spec", "defaultBackend", "service", "name"]),
    ("Ingress", "Secret", &["spec", "tls", "[]", "secretName"]),
    ("Ingress", "IngressClass", &["spec", "ingressClassName"]),
    ("APIService", "Service", &["spec", "service", "name"]),
    ("ValidatingWebhookConfiguration", "Service", &["webhooks", "[]", "clientConfig", "service", "name"]),
    ("MutatingWebhookConfiguration", "Service", &["webhooks", "[]", "clientConfig", "service", "name"]),
    ("ServiceAccount", "Secret", &["imagePullSecrets", "[]", "name"]),
    ("ServiceAccount", "Secret", &["secrets", "[]", "name"]),
    ("PersistentVolumeClaim", "PersistentVolume", &["spec", "volumeName"]),
    ("PersistentVolumeClaim", "StorageClass", &["spec", "storageClassName"]),
    ("PersistentVolume", "StorageClass", &["spec", "storageClassName"]),
    ("StatefulSet", "StorageClass", &["spec", "volumeClaimTemplates", "[]", "spec", "storageClassName"]),
    ("PodDisruptionBudget", "PriorityClass", &["spec", "priorityClassName"]),
];

/// References that name the kind beside the name: the kind of the object, and the path of the reference.
const WITH_KIND: [(&str, &[&str]); 4] = [
    ("HorizontalPodAutoscaler", &["spec", "scaleTargetRef"]),
    ("RoleBinding", &["roleRef"]),
    ("ClusterRoleBinding", &["roleRef"]),
    ("VerticalPodAutoscaler", &["spec", "targetRef"]),
];

/// Lets all references follow the names of what they mean.
pub(super) fn follow(objects: &mut [Object]) {
    let known: Vec<Object> = objects.to_vec();
    for object in objects {
        let kind = object.kind().to_owned();
        let from = object.clone();
        if let Some(pods) = pod_path(&kind) {
            for (meant, path) in OF_PODS {
                let path = [pods, path].concat();
                each_at(&mut object.data, &path, &mut |name| rename(name, meant, &from, &known));
            }
        }
        for (_, meant, path) in OF_OTHERS.iter().filter(|(own, ..)| *own == kind) {
            each_at(&mut object.data, path, &mut |name| rename(name, meant, &from, &known));
        }
        for (_, path) in WITH_KIND.iter().filter(|(own, _)| *own == kind) {
            each_at(&mut object.data, path, &mut |reference| rename_with_kind(reference, &from, &known));
        }
        if ["RoleBinding", "ClusterRoleBinding"].contains(&kind.as_str()) {
            each_at(&mut object.data, &["subjects", "[]"], &mut |subject| rename_subject(subject, &from, &known));
        }
    }
}

fn rename(name: &mut Data, kind: &str, from: &Object, known: &[Object]) {
    let Data::Str(text) = name else { return };
    if let Some(target) = meant(text, None, kind, from, known) {
        *text = target.name().to_owned();
    }
}

fn rename_with_kind(reference: &mut Data, from: &Object, known: &[Object]) {
    let kind = reference.get("kind").and_then(Data::as_str).unwrap_or("").to_owned();
    if let Data::Map(map) = reference
        && let Some(name) = map.get_mut("name")
    {
        rename(name, &kind, from, known);
    }
}

fn rename_subject(subject: &mut Data, from: &Object, known: &[Object]) {
    let Data::Map(map) = subject else { return };
    let text = |key: &str| map.get(key).and_then(Data::as_str).map(str::to_owned);
    let (Some("ServiceAccount"), Some(name)) = (text("kind").as_deref(), text("name")) else { return };
    let namespace = text("namespace");
    let Some(target) = meant(&name, namespace.as_deref(), "ServiceAccount", from, known) else { return };
    map.insert("name".to_owned(), Data::Str(target.name().to_owned()));
    if !target.namespace().is_empty() {
        map.insert("namespace".to_owned(), Data::Str(target.namespace().to_owned()));
    }
}

/// Returns the object that a name means: of that kind, of the same namespace, and with the same prefixes if there are more.
fn meant<'k>(
    name: &str,
    namespace: Option<&str>,
    kind: &str,
    from: &Object,
    known: &'k [Object],
) -> Option<&'k Object> {
    let is_one = |object: &&Object| {
        let within = match namespace {
            Some(namespace) => object.is_within(namespace),
            None => !object.has_namespace() || !from.has_namespace() || object.namespace() == from.namespace(),
        };
        object.kind() == kind && object.was_named(name) && within
    };
    let mut found: Vec<&Object> = known.iter().filter(is_one).collect();
    if found.len() > 1 {
        found.retain(|object| object.affixes == from.affixes);
    }
    if let [only] = found.as_slice() { Some(only) } else { None }
}
