//! The lists of Kubernetes objects that a patch merges item by item, with the keys that tell items apart. A patch replaces
//! all other lists. These are the facts of `x-kubernetes-patch-strategy`, as Kustomize knows them.

use super::tree::Tree;

/// What is known of a map.
#[derive(Debug)]
pub(super) struct Type(&'static [(&'static str, Field)]);

/// What is known of the value under a key.
#[derive(Debug)]
pub(super) enum Field {
    /// A map.
    Map(&'static Type),
    /// A list whose items are merged: the keys that tell them apart, the first of which every item has. Without keys, items
    /// are scalars.
    List(&'static [&'static str], &'static Type),
}

use Field::{List, Map};

const NAME: &[&str] = &["name"];
const NOTHING: &Type = &Type(&[]);

const METADATA: &Type = &Type(&[("finalizers", List(&[], NOTHING)), ("ownerReferences", List(&["uid"], NOTHING))]);

const CONTAINER: &Type = &Type(&[
    ("env", List(NAME, NOTHING)),
    ("ports", List(&["containerPort", "protocol"], NOTHING)),
    ("volumeDevices", List(&["devicePath"], NOTHING)),
    ("volumeMounts", List(&["mountPath"], NOTHING)),
]);

const EPHEMERAL_CONTAINER: &Type = &Type(&[
    ("env", List(NAME, NOTHING)),
    ("volumeDevices", List(&["devicePath"], NOTHING)),
    ("volumeMounts", List(&["mountPath"], NOTHING)),
]);

const POD_SPEC: &Type = &Type(&[
    ("containers", List(NAME, CONTAINER)),
    ("ephemeralContainers", List(NAME, EPHEMERAL_CONTAINER)),
    ("hostAliases", List(&["ip"], NOTHING)),
    ("imagePullSecrets", List(NAME, NOTHING)),
    ("initContainers", List(NAME, CONTAINER)),
    ("topologySpreadConstraints", List(&["topologyKey", "whenUnsatisfiable"], NOTHING)),
    ("volumes", List(NAME, NOTHING)),
]);

const TEMPLATE: &Type = &Type(&[("metadata", Map(METADATA)), ("spec", Map(POD_SPEC))]);
const WORKLOAD: &Type = &Type(&[("template", Map(TEMPLATE))]);
const JOB_TEMPLATE: &Type = &Type(&[("metadata", Map(METADATA)), ("spec", Map(WORKLOAD))]);
const CRON_JOB: &Type = &Type(&[("jobTemplate", Map(JOB_TEMPLATE))]);

const CONDITIONS: &Type = &Type(&[("conditions", List(&["type"], NOTHING))]);
const NODE_STATUS: &Type = &Type(&[("addresses", List(&["type"], NOTHING)), ("conditions", List(&["type"], NOTHING))]);
const POD_STATUS: &Type = &Type(&[("conditions", List(&["type"], NOTHING)), ("podIPs", List(&["ip"], NOTHING))]);

/// The kinds of groups with lists of their own. The groups are `apps`, `batch` and so on.
const KINDS: &[(&str, &[&str], &Type)] = &[
    ("", &["Pod"], &Type(&[("metadata", Map(METADATA)), ("spec", Map(POD_SPEC)), ("status", Map(POD_STATUS))])),
    ("", &["PodTemplate"], &Type(&[("metadata", Map(METADATA)), ("template", Map(TEMPLATE))])),
    ("", &["ReplicationController"], WITH_TEMPLATE),
    ("apps", &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"], WITH_TEMPLATE),
    ("batch", &["Job"], WITH_TEMPLATE),
    ("batch", &["CronJob"], &Type(&[("metadata", Map(METADATA)), ("spec", Map(CRON_JOB))])),
    (
        "",
        &["Service"],
        &Type(&[
            ("metadata", Map(METADATA)),
            ("spec", Map(&Type(&[("ports", List(&["port", "protocol"], NOTHING))]))),
            ("status", Map(CONDITIONS)),
        ]),
    ),
    ("", &["ServiceAccount"], &Type(&[("metadata", Map(METADATA)), ("secrets", List(NAME, NOTHING))])),
    (
        "",
        &["Node"],
        &Type(&[
            ("metadata", Map(METADATA)),
            ("spec", Map(&Type(&[("podCIDRs", List(&[], NOTHING))]))),
            ("status", Map(NODE_STATUS)),
        ]),
    ),
    ("", &["Namespace", "PersistentVolumeClaim"], WITH_CONDITIONS),
    ("policy", &["PodDisruptionBudget"], WITH_CONDITIONS),
    ("apiregistration.k8s.io", &["APIService"], WITH_CONDITIONS),
    (
        "admissionregistration.k8s.io",
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
        &Type(&[("metadata", Map(METADATA)), ("webhooks", List(NAME, NOTHING))]),
    ),
    (
        "storage.k8s.io",
        &["CSINode"],
        &Type(&[("metadata", Map(METADATA)), ("spec", Map(&Type(&[("drivers", List(NAME, NOTHING))])))]),
    ),
];

const WITH_TEMPLATE: &Type =
    &Type(&[("metadata", Map(METADATA)), ("spec", Map(WORKLOAD)), ("status", Map(CONDITIONS))]);
const WITH_CONDITIONS: &Type = &Type(&[("metadata", Map(METADATA)), ("status", Map(CONDITIONS))]);
const OTHER: &Type = &Type(&[("metadata", Map(METADATA))]);

/// The groups of Kubernetes itself. Of other kinds nothing is known: a patch replaces all their lists.
const GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

impl Type {
    /// Returns what is known of an object.
    pub fn of(object: &Tree) -> &'static Self {
        let version = object.text_at("apiVersion").unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let kind = object.text_at("kind").unwrap_or_default();
        let own = KINDS.iter().find(|(own, kinds, _)| *own == group && kinds.contains(&kind));
        match own {
            Some((.., own)) => own,
            None if GROUPS.contains(&group) && !version.is_empty() => OTHER,
            None => NOTHING,
        }
    }

    /// Returns what is known of the value under a key.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, field)| field)
    }
}

impl Field {
    /// Returns what is known of the map.
    pub fn map(field: Option<&'static Self>) -> &'static Type {
        match field {
            Some(Map(known)) => known,
            _ => NOTHING,
        }
    }
}
