//! References between objects: they follow the names that transformers change.

use dropforge::value::Data;

use super::object::{Object, each_at, pod_path};

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
