//! Patches beside those of Kustomize: the same objects for the same patches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Data, yaml};
use serde_json::{Map, Value, json};

use crate::support::{Sandbox, outcome};

fn kubectl() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(target).join("kubectl/kubectl")
}

/// The number of cases, unless `PATCH_CASES` has another one.
const CASES: usize = 100;

/// Cases that are built together.
const BATCH: usize = 100;

#[test]
fn patches_make_the_objects_that_kustomize_makes() {
    let kubectl = kubectl();
    if !kubectl.exists() {
        assert!(std::env::var_os("CI").is_none(), "spec-tests/kubectl/install was not run");
        return eprintln!("spec-tests/kubectl/install was not run");
    }
    let cases = std::env::var("PATCH_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(CASES);
    let seed = std::env::var("PATCH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_260_701);
    let mut random = Random(seed);
    for batch in 0..cases.div_ceil(BATCH) {
        let count = BATCH.min(cases - batch * BATCH);
        let all: Vec<Case> = (0..count).map(|nth| Case::new(&mut random, nth)).collect();
        compare(&kubectl, &all);
    }
}

/// An object and its patches.
struct Case {
    name: String,
    object: Value,
    patches: Vec<(bool, Value)>,
}

fn compare(kubectl: &Path, cases: &[Case]) {
    let sandbox = Sandbox::with(&[("fleet.yaml", "name: a\n"), ("base/none.txt.tera", "")]);
    let mut project = String::from(
        "fleet = [\"fleet.yaml\"]\n[output]\ndir = \"out\"\n[[release]]\nname = \"all\"\ntemplates = [\"base\"]\n",
    );
    let mut patches = Vec::new();
    for case in cases {
        let text = |value: &Value| yaml::to_string(&serde_json::from_value::<Data>(value.clone()).unwrap());
        sandbox.write(&format!("base/{}.yaml", case.name), &text(&case.object));
        for (nth, (is_merge, patch)) in case.patches.iter().enumerate() {
            let (file, kind) = (format!("patches/{}-{nth}.yaml", case.name), case.object["kind"].as_str().unwrap());
            sandbox.write(&file, &text(patch));
            let key = if *is_merge { "merge" } else { "json" };
            project += &format!(
                "[[release.patches]]\ntarget = {{ kind = \"{kind}\", name = \"{}\" }}\n{key} = \"{file}\"\n",
                case.name
            );
            patches.push(json!({"path": file, "target": {"kind": kind, "name": case.name}}));
        }
    }
    let resources: Vec<String> = cases.iter().map(|case| format!("base/{}.yaml", case.name)).collect();
    sandbox.write("kustomization.yaml", &json!({"resources": resources, "patches": patches}).to_string());
    sandbox.write("dropforge.toml", &project);
    let mut build = Command::new(kubectl);
    build.current_dir(sandbox.path("")).args(["kustomize", "."]);
    let expected = objects(&outcome(build).expect(0).stdout);
    sandbox.run(&["stamp"]).expect(0);
    let found = sandbox.outputs("out").into_values().flat_map(|text| objects(&text)).collect::<BTreeMap<_, _>>();
    for case in cases {
        let (found, expected) = (found.get(&case.name), expected.get(&case.name));
        let text = |value: Option<&Value>| serde_json::to_string_pretty(&value).unwrap();
        assert!(
            found == expected,
            "object: {}\npatches: {}\nfound: {}\nexpected: {}",
            text(Some(&case.object)),
            case.patches.iter().map(|(_, patch)| text(Some(patch))).collect::<Vec<_>>().join("\n"),
            text(found),
            text(expected)
        );
    }
}

/// Returns the objects of a stream by their names, without empty annotations, which Kustomize drops.
fn objects(text: &str) -> BTreeMap<String, Value> {
    let nodes = yaml::read(&Source::new("out.yaml", text), &Limits::default()).unwrap();
    let mut objects: Vec<Value> = nodes.iter().map(|node| serde_json::to_value(node.to_data()).unwrap()).collect();
    objects.retain(|object| !object.is_null());
    for metadata in objects.iter_mut().filter_map(|object| object["metadata"].as_object_mut()) {
        metadata.retain(|key, value| key != "annotations" || *value != json!({}));
    }
    objects.into_iter().map(|one| (text_of(&one["metadata"]["name"]), one)).collect()
}

/// A generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % most as u64).unwrap()
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn word(&mut self) -> &'static str {
        ["a", "b", "c", "d", "on", "1.10", "x y", "012"][self.below(8)]
    }

    fn key(&mut self) -> &'static str {
        ["a", "b", "c", "d", "example.com/e"][self.below(5)]
    }

    fn scalar(&mut self) -> Value {
        match self.below(4) {
            0 => json!(self.below(9)),
            1 => json!(self.one_in(2)),
            2 => json!("line\nother\n"),
            _ => json!(self.word()),
        }
    }
}

/// The forms of values.
enum Form {
    Scalar,
    /// A map of any keys.
    Words,
    /// Labels or annotations. Kustomize makes the text `null` of nulls in them, and drops empty ones.
    Labels,
    Fields(&'static [(&'static str, Form)]),
    /// A list of maps with keys that tell them apart, some with values, and the other fields.
    Keyed(&'static [(&'static str, &'static [&'static str])], &'static Form),
    /// A list of texts. Kustomize drops those that a list of finalizers has twice.
    Texts,
    /// A list of maps that is replaced as a whole.
    Items,
}

use Form::{Fields, Items, Keyed, Labels, Scalar, Texts, Words};

const NAMES: &[(&str, &[&str])] = &[("name", &["a", "b", "c", "d"])];
const NUMBERS: &[&str] = &["80", "81", "82"];

const METADATA: Form = Fields(&[
    ("labels", Labels),
    ("annotations", Labels),
    ("finalizers", Texts),
    ("ownerReferences", Keyed(&[("uid", &["u1", "u2"])], &Fields(&[("name", Scalar)]))),
]);
const ENV: Form = Keyed(NAMES, &Fields(&[("value", Scalar), ("valueFrom", Fields(&[("fieldRef", Words)]))]));
const MOUNTS: Form = Keyed(&[("mountPath", &["/a", "/b", "/c"])], &Fields(&[("name", Scalar), ("subPath", Scalar)]));
const PORTS: Form = Keyed(&[("containerPort", NUMBERS)], &Fields(&[("name", Scalar)]));
const CONTAINER: Form = Fields(&[
    ("image", Scalar),
    ("env", ENV),
    ("args", Texts),
    ("ports", PORTS),
    ("volumeMounts", MOUNTS),
    ("volumeDevices", Keyed(&[("devicePath", &["/x", "/y"])], &Fields(&[("name", Scalar)]))),
    ("resources", Fields(&[("limits", Words), ("requests", Words)])),
    ("envFrom", Items),
]);
const POD: Form = Fields(&[
    ("containers", Keyed(NAMES, &CONTAINER)),
    ("initContainers", Keyed(NAMES, &CONTAINER)),
    ("volumes", Keyed(NAMES, &Fields(&[("emptyDir", Words), ("secret", Fields(&[("secretName", Scalar)]))]))),
    ("hostAliases", Keyed(&[("ip", &["1.1.1.1", "2.2.2.2"])], &Fields(&[("hostnames", Texts)]))),
    ("imagePullSecrets", Keyed(NAMES, &Fields(&[]))),
    (
        "topologySpreadConstraints",
        Keyed(
            &[("topologyKey", &["zone", "node"]), ("whenUnsatisfiable", &["x", "y"])],
            &Fields(&[("maxSkew", Scalar)]),
        ),
    ),
    ("tolerations", Items),
    ("nodeSelector", Words),
]);
const TEMPLATE: Form = Fields(&[("metadata", METADATA), ("spec", POD)]);
const KINDS: &[(&str, &str, Form)] = &[
    (
        "apps/v1",
        "Deployment",
        Fields(&[
            ("metadata", METADATA),
            ("spec", Fields(&[("replicas", Scalar), ("strategy", Words), ("template", TEMPLATE)])),
        ]),
    ),
    (
        "apps/v1",
        "StatefulSet",
        Fields(&[("metadata", METADATA), ("spec", Fields(&[("template", TEMPLATE), ("volumeClaimTemplates", Items)]))]),
    ),
    (
        "batch/v1",
        "CronJob",
        Fields(&[(
            "spec",
            Fields(&[("jobTemplate", Fields(&[("metadata", METADATA), ("spec", Fields(&[("template", TEMPLATE)]))]))]),
        )]),
    ),
    (
        "v1",
        "Service",
        Fields(&[
            ("metadata", METADATA),
            (
                "spec",
                Fields(&[
                    (
                        "ports",
                        Keyed(&[("port", NUMBERS), ("protocol", &["TCP", "UDP"])], &Fields(&[("targetPort", Scalar)])),
                    ),
                    ("selector", Words),
                ]),
            ),
        ]),
    ),
    ("networking.k8s.io/v1", "Ingress", Fields(&[("metadata", METADATA), ("spec", Fields(&[("rules", Items)]))])),
    (
        "example.com/v1",
        "Widget",
        Fields(&[
            ("metadata", Fields(&[("labels", Labels), ("finalizers", Texts)])),
            ("spec", Fields(&[("containers", Items), ("ports", Items), ("list", Texts), ("map", Words)])),
        ]),
    ),
    ("v1", "ConfigMap", Fields(&[("metadata", METADATA), ("data", Words)])),
    ("v1", "ServiceAccount", Fields(&[("metadata", METADATA), ("secrets", Keyed(NAMES, &Fields(&[])))])),
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        Fields(&[("webhooks", Keyed(NAMES, &Fields(&[("rules", Items), ("clientConfig", Words)])))]),
    ),
];

impl Case {
    fn new(random: &mut Random, nth: usize) -> Self {
        let name = format!("case-{nth}");
        let (version, kind, form) = &KINDS[random.below(KINDS.len())];
        let mut object = value(random, form, None);
        object["apiVersion"] = json!(version);
        object["kind"] = json!(kind);
        object["metadata"]["name"] = json!(name);
        let mut patches = Vec::new();
        for nth in 0..1 + random.below(2) {
            if random.one_in(4) {
                continue;
            }
            // The first one may have removed what the second one is for.
            let patched = if nth == 0 { &object } else { &Value::Null };
            let mut patch = value(random, form, Some(patched));
            patch["apiVersion"] = json!(version);
            patch["kind"] = json!(kind);
            if patch["metadata"].is_null() {
                patch["metadata"] = json!({});
            }
            patch["metadata"]["name"] = json!(if random.one_in(2) { "any" } else { &name });
            patches.push((true, patch));
        }
        if patches.is_empty() {
            patches.push((false, operations(random, &object)));
        }
        Self { name, object, patches }
    }
}

/// The value that is patched, for a patch.
type Patched<'p> = Option<&'p Value>;

/// Makes a value of a form: a part of it for a patch, perhaps with nulls and directives.
fn value(random: &mut Random, form: &Form, patched: Patched<'_>) -> Value {
    let is_patch = patched.is_some();
    match form {
        Scalar => random.scalar(),
        Words => {
            let count = random.below(4);
            let mut map: Map<String, Value> =
                (0..count).map(|_| (random.key().to_owned(), json!(random.word()))).collect();
            if is_patch {
                for (_, value) in map.iter_mut().filter(|_| random.one_in(4)) {
                    *value = Value::Null;
                }
                directive(random, &mut map);
            }
            Value::Object(map)
        }
        Labels => (0..1 + random.below(3)).map(|_| (random.key().to_owned(), json!(random.word()))).collect(),
        Texts => {
            let words: BTreeSet<&str> = (0..random.below(4)).map(|_| random.word()).collect();
            json!(words)
        }
        Items => (0..random.below(3)).map(|_| json!({"name": random.word(), "b": [random.scalar()]})).collect(),
        Fields(fields) => {
            let mut map = Map::new();
            for (name, form) in *fields {
                if random.one_in(2) {
                    // Kustomize keeps labels.
                    let is_null = is_patch && random.one_in(12) && !matches!(form, Labels);
                    let patched = patched.map(|value| &value[*name]);
                    map.insert((*name).to_owned(), if is_null { Value::Null } else { value(random, form, patched) });
                }
            }
            Value::Object(map)
        }
        Keyed(keys, form) => keyed(random, keys, form, patched),
    }
}

fn keyed(random: &mut Random, keys: &[(&str, &[&str])], form: &Form, patched: Patched<'_>) -> Value {
    let (mut items, mut seen, is_patch) = (Vec::new(), Vec::new(), patched.is_some());
    for _ in 0..random.below(4) {
        let all: Vec<&str> = keys.iter().map(|(_, values)| values[random.below(values.len())]).collect();
        if seen.contains(&all) {
            continue;
        }
        let same = |item: &&Value| keys.iter().zip(&all).all(|((key, _), value)| text_of(&item[*key]) == *value);
        let own =
            patched.map(|items| items.as_array().and_then(|items| items.iter().find(same)).unwrap_or(&Value::Null));
        let mut item = value(random, form, own);
        for ((key, _), value) in keys.iter().zip(&all) {
            item[*key] = value.parse::<u32>().map_or_else(|_| json!(value), |number| json!(number));
        }
        seen.push(all);
        if is_patch && random.one_in(8) {
            // Kustomize ignores `replace` here.
            item["$patch"] = json!((["delete", "merge"][random.below(2)]));
        }
        items.push(item);
    }
    // Kustomize leaves the directive in a list that it adds, and ignores it behind that of an item.
    let has_directive = items.iter().any(|item| !item["$patch"].is_null());
    if patched.is_some_and(Value::is_array) && !has_directive && random.one_in(12) {
        items.insert(random.below(items.len() + 1), json!({"$patch": (["delete", "replace"][random.below(2)])}));
    }
    Value::Array(items)
}

/// Returns a scalar as text.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn directive(random: &mut Random, map: &mut Map<String, Value>) {
    if random.one_in(10) {
        map.insert("$patch".to_owned(), json!((["delete", "replace", "merge"][random.below(3)])));
    }
}

/// Makes operations that fit an object.
fn operations(random: &mut Random, object: &Value) -> Value {
    let mut paths = Vec::new();
    places(object, String::new(), &mut paths);
    paths.retain(|(path, _)| {
        !["/apiVersion", "/kind", "/metadata", "/metadata/name", "/metadata/annotations"].contains(&path.as_str())
    });
    let mut all = vec![json!({"op": "test", "path": "/metadata/name", "value": object["metadata"]["name"]})];
    let new = |random: &mut Random| json!({"a~b/c": [random.scalar(), {"n": random.scalar()}], "t": random.scalar()});
    all.push(json!({"op": "add", "path": "/new~1key", "value": new(random)}));
    all.push(json!({"op": "copy", "from": "/new~1key/a~0b~1c", "path": "/metadata/copied~0"}));
    all.push(json!({"op": "add", "path": "/metadata/copied~0/-", "value": random.scalar()}));
    all.push(json!({"op": "add", "path": "/metadata/copied~0/1", "value": random.scalar()}));
    all.push(json!({"op": "move", "from": "/new~1key/t", "path": "/metadata/copied~0/0"}));
    let Some((path, found)) = (!paths.is_empty()).then(|| paths[random.below(paths.len())].clone()) else {
        return Value::Array(all);
    };
    all.push(match random.below(4) {
        0 => json!({"op": "remove", "path": path}),
        1 if !found.is_object() && !found.is_array() => {
            json!({"op": "replace", "path": path, "value": (random.word())})
        }
        1 | 2 => json!({"op": "test", "path": path, "value": found}),
        _ => json!({"op": "move", "from": path, "path": "/moved"}),
    });
    Value::Array(all)
}

/// Finds the pointers of all values.
fn places(value: &Value, above: String, to: &mut Vec<(String, Value)>) {
    let mut below = |name: String, value: &Value| {
        let path = format!("{above}/{}", name.replace('~', "~0").replace('/', "~1"));
        to.push((path.clone(), value.clone()));
        places(value, path, to);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| below(key.clone(), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(nth, value)| below(nth.to_string(), value)),
        _ => {}
    }
}
