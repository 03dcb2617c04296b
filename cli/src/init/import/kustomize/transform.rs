//! Transformers: namespaces, prefixes, labels, annotations, replicas and images.

use dropforge::value::Data;

use super::object::{Object, each_at, map_at, pod_path};

/// Kinds that keep their names.
const KEEP_NAMES: [&str; 3] = ["Namespace", "CustomResourceDefinition", "APIService"];

/// Puts all objects into a namespace.
pub(super) fn namespace(objects: &mut [Object], namespace: &str) {
    for object in objects.iter_mut() {
        if object.kind() == "Namespace" {
            object.set_name(namespace.to_owned());
        } else if object.has_namespace() {
            object.set_namespace(namespace);
        }
        if ["RoleBinding", "ClusterRoleBinding"].contains(&object.kind()) {
            each_at(&mut object.data, &["subjects", "[]"], &mut |subject| set_default_subject(subject, namespace));
        }
    }
}

/// Puts the account `default` into a namespace.
fn set_default_subject(subject: &mut Data, namespace: &str) {
    let text = |key: &str| subject.get(key).and_then(Data::as_str).unwrap_or("").to_owned();
    let is_default = text("kind") == "ServiceAccount" && text("name") == "default";
    if let Data::Map(map) = subject
        && is_default
    {
        map.insert("namespace".to_owned(), Data::Str(namespace.to_owned()));
    }
}

/// Adds a prefix and a suffix to the names of objects.
pub(super) fn affix(objects: &mut [Object], prefix: &str, suffix: &str) {
    for object in objects.iter_mut().filter(|object| !KEEP_NAMES.contains(&object.kind())) {
        object.set_name(format!("{prefix}{}{suffix}", object.name()));
        object.affixes.push(format!("{prefix}|{suffix}"));
    }
}

/// The places that labels go to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    pub(super) selectors: bool,
    pub(super) templates: bool,
}

/// Sets labels.
pub(super) fn labels(objects: &mut [Object], pairs: &[(String, String)], places: Places) {
    for object in objects {
        let kind = object.kind().to_owned();
        set_all(&mut object.data, &["metadata", "labels"], pairs, true);
        let pod = pod_path(&kind).filter(|path| path.len() > 1);
        let template = pod.and_then(|path| path.split_last()).map(|(_, path)| [path, &["metadata", "labels"]].concat());
        if let Some(path) = template.filter(|_| places.templates || places.selectors) {
            set_all(&mut object.data, &path, pairs, true);
        }
        if kind == "CronJob" && (places.templates || places.selectors) {
            set_all(&mut object.data, &["spec", "jobTemplate", "metadata", "labels"], pairs, true);
        }
        if places.templates || places.selectors {
            each_at(&mut object.data, &["spec", "volumeClaimTemplates", "[]"], &mut |claim| {
                if kind == "StatefulSet" {
                    set_all(claim, &["metadata", "labels"], pairs, true);
                }
            });
        }
        if places.selectors {
            selectors(object, &kind, pairs);
        }
    }
}

fn selectors(object: &mut Object, kind: &str, pairs: &[(String, String)]) {
    let data = &mut object.data;
    match kind {
        "Service" | "ReplicationController" => set_all(data, &["spec", "selector"], pairs, kind == "Service"),
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" => {
            set_all(data, &["spec", "selector", "matchLabels"], pairs, true);
        }
        "Job" | "PodDisruptionBudget" => set_all(data, &["spec", "selector", "matchLabels"], pairs, false),
        "CronJob" => set_all(data, &["spec", "jobTemplate", "spec", "selector", "matchLabels"], pairs, false),
        "NetworkPolicy" => {
            set_all(data, &["spec", "podSelector", "matchLabels"], pairs, false);
            for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
                each_at(data, &["spec", rules, "[]", peers, "[]"], &mut |peer| {
                    set_all(peer, &["podSelector", "matchLabels"], pairs, false);
                });
            }
        }
        _ => {}
    }
    if !["Deployment", "StatefulSet", "ReplicaSet", "DaemonSet"].contains(&kind) {
        return;
    }
    let spec = ["spec", "template", "spec"];
    for affinity in ["podAffinity", "podAntiAffinity"] {
        let base = [&spec[..], &["affinity", affinity]].concat();
        let preferred =
            [&base[..], &["preferredDuringSchedulingIgnoredDuringExecution", "[]", "podAffinityTerm"]].concat();
        let required = [&base[..], &["requiredDuringSchedulingIgnoredDuringExecution", "[]"]].concat();
        for path in [preferred, required] {
            each_at(&mut object.data, &path, &mut |term| {
                set_all(term, &["labelSelector", "matchLabels"], pairs, false);
            });
        }
    }
    let spread = [&spec[..], &["topologySpreadConstraints", "[]"]].concat();
    each_at(&mut object.data, &spread, &mut |one| set_all(one, &["labelSelector", "matchLabels"], pairs, false));
}

/// Sets annotations.
pub(super) fn annotations(objects: &mut [Object], pairs: &[(String, String)]) {
    for object in objects {
        set_all(&mut object.data, &["metadata", "annotations"], pairs, true);
        let kind = object.kind().to_owned();
        let pod = pod_path(&kind).filter(|path| path.len() > 1);
        if let Some((_, path)) = pod.and_then(|path| path.split_last()) {
            set_all(&mut object.data, &[path, &["metadata", "annotations"]].concat(), pairs, true);
        }
        if kind == "CronJob" {
            set_all(&mut object.data, &["spec", "jobTemplate", "metadata", "annotations"], pairs, true);
        }
    }
}

/// Sets texts in the map at a path, which is made if it is missing and `is_made`.
pub(super) fn set_all(data: &mut Data, path: &[&str], pairs: &[(String, String)], is_made: bool) {
    if let Some(map) = map_at(data, path, is_made) {
        pairs.iter().for_each(|(key, value)| drop(map.insert(key.clone(), Data::Str(value.clone()))));
    }
}

/// Sets the replicas of the objects with a name. Returns `false` if there are none.
pub(super) fn replicas(objects: &mut [Object], name: &str, count: &Data) -> bool {
    let is_one = |object: &&mut Object| {
        let kinds = ["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"];
        kinds.contains(&object.kind()) && object.is_named(name)
    };
    let mut is_any = false;
    for object in objects.iter_mut().filter(is_one) {
        if let Some(spec) = map_at(&mut object.data, &["spec"], true) {
            spec.insert("replicas".to_owned(), count.clone());
            is_any = true;
        }
    }
    is_any
}

/// Another name, tag or digest of an image.
#[derive(Debug, Default)]
pub(super) struct Image {
    pub(super) name: String,
    pub(super) new_name: Option<String>,
    pub(super) new_tag: Option<String>,
    pub(super) digest: Option<String>,
}

/// Changes an image wherever it is used.
pub(super) fn image(data: &mut Data, image: &Image) {
    match data {
        Data::List(items) => items.iter_mut().for_each(|item| self::image(item, image)),
        Data::Map(map) => {
            for key in ["containers", "initContainers", "ephemeralContainers"] {
                let Some(Data::List(items)) = map.get_mut(key) else { continue };
                for item in items {
                    each_at(item, &["image"], &mut |value| {
                        if let Data::Str(text) = value
                            && let Some(changed) = changed(text, image)
                        {
                            *text = changed;
                        }
                    });
                }
            }
            map.values_mut().for_each(|value| self::image(value, image));
        }
        _ => {}
    }
}

fn changed(text: &str, image: &Image) -> Option<String> {
    let (rest, digest) = text.split_once('@').map_or((text, ""), |(rest, digest)| (rest, digest));
    let colon = rest.rfind(':').filter(|at| !rest.get(*at..).is_some_and(|tag| tag.contains('/')));
    let (name, tag) = colon.map_or((rest, ""), |at| (rest.get(..at).unwrap_or(""), rest.get(at + 1..).unwrap_or("")));
    if name != image.name {
        return None;
    }
    let name = image.new_name.as_deref().unwrap_or(name);
    Some(match (&image.digest, &image.new_tag) {
        (Some(digest), Some(tag)) => format!("{name}:{tag}@{digest}"),
        (Some(digest), None) => format!("{name}@{digest}"),
        (None, Some(tag)) => format!("{name}:{tag}"),
        (None, None) => {
            let tag = if tag.is_empty() { String::new() } else { format!(":{tag}") };
            let digest = if digest.is_empty() { String::new() } else { format!("@{digest}") };
            format!("{name}{tag}{digest}")
        }
    })
}
