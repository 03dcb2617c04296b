//! Small charts: loading, values, dependencies, plans and output.

mod expansion;
mod schemas;
mod sources;

use super::*;
use dropforge_base::diagnostics::{Code, Diagnostics};
use dropforge_value::{Arena, Data, InputBuilder, Shapes, Value};

const ROOT: &str = "apiVersion: v2\nname: app\nversion: 1.0.0\n";

fn chart(files: &[(&str, &str)]) -> Result<Chart, Diagnostics> {
    let root = [("Chart.yaml", ROOT)].into_iter().filter(|_| !files.iter().any(|(path, _)| *path == "Chart.yaml"));
    let files = root.chain(files.iter().copied()).map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    Chart::load(&ChartSource::from_files(files)?)
}

fn plan_with(files: &[(&str, &str)], values: &UserValues) -> Result<Plan, Diagnostics> {
    chart(files)?.plan(values, &Release::default(), &Capabilities::default())
}

fn given(text: &str) -> UserValues {
    let mut values = UserValues::default();
    values.file("values.yaml", text).unwrap();
    values
}

fn plan(files: &[(&str, &str)], values: &str) -> Result<Plan, Diagnostics> {
    plan_with(files, &given(values))
}

fn json(plan: &Plan) -> String {
    let mut sorted: Vec<_> = plan.values().clone().into_iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    serde_json::to_string(&Data::Map(sorted.into_iter().collect())).unwrap().replace(".0", "")
}

/// Returns the stage and the text of the first error.
fn failure<T>(result: Result<T, Diagnostics>) -> (String, String) {
    let errors = result.err().expect("an error");
    let error = errors.first().unwrap();
    let text = error.fields.get("go_message").unwrap_or(&error.message);
    (error.fields.get("stage").cloned().unwrap_or_default(), text.clone())
}

#[test]
fn every_error_of_a_chart_is_reported() {
    let files = [
        ("Chart.yaml", "name: a/b\nversion: nonsense\ntype: other\n"),
        ("values.yaml", "a: b: c\n"),
        ("charts/sub/Chart.yaml", "name: sub\n"),
    ];
    let errors = chart(&files).err().unwrap().into_vec();
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(messages.len(), 5, "{messages:?}");
    assert!(messages.contains(&"validation: chart.metadata.version is required"), "{messages:?}");
    assert!(errors.iter().all(|error| error.fields.get("stage").is_some_and(|stage| stage == "load")));
    assert_eq!(failure(chart(&[("Chart.yaml", "- 1\n")])).0, "load");
    assert_eq!(failure(chart(&[("values.yaml", "- 1\n")])).0, "load");
    assert_eq!(failure(chart(&[("values.yaml", "a: .inf\n")])).0, "load");
    let none = ChartSource::from_files([("values.yaml", "")]).unwrap();
    assert_eq!(failure(Chart::load(&none)).1, "Chart.yaml file is missing");
}

#[test]
fn metadata_is_read_as_text() {
    let text =
        "name: app\nversion: 1.2.3\nappVersion: 1.10\ndeprecated: true\nkeywords: [1, a]\nAnnotations: {b: true}\n";
    let chart = chart(&[("Chart.yaml", text)]).unwrap();
    let metadata = chart.metadata();
    assert_eq!((metadata.api_version.as_str(), metadata.app_version.as_str()), ("v1", "1.1"));
    assert_eq!(metadata.keywords, ["1", "a"]);
    assert_eq!(metadata.annotations, Some(vec![("b".to_owned(), "true".to_owned())]));
}

#[test]
fn nulls_delete_defaults_and_only_those() {
    let defaults = ("values.yaml", "a: 1\nm: {x: 1, w: 2, z: null}\nl: [1, 2]\nnothing: null\n");
    for (values, expected) in [
        ("{}", r#"{"a":1,"l":[1,2],"m":{"x":1,"w":2}}"#),
        ("a: null", r#"{"l":[1,2],"m":{"x":1,"w":2}}"#),
        ("m: {x: null}", r#"{"a":1,"l":[1,2],"m":{"w":2}}"#),
        ("m: null\nl: [3]", r#"{"a":1,"l":[3]}"#),
        // There is no default that these could remove.
        ("m: {z: null, v: null}", r#"{"a":1,"l":[1,2],"m":{"z":null,"v":null,"x":1,"w":2}}"#),
        ("nothing: null", r#"{"a":1,"l":[1,2],"m":{"x":1,"w":2}}"#),
        ("new: {deep: null}\nm: 5", r#"{"a":1,"l":[1,2],"m":5,"new":{"deep":null}}"#),
    ] {
        assert_eq!(json(&plan(&[defaults], values).unwrap()), expected, "{values}");
    }
    let mut values = given("m: null\n---\nm: {x: 3}\n");
    values.file("second.yaml", "l: null").unwrap();
    assert_eq!(json(&plan_with(&[defaults], &values).unwrap()), r#"{"a":1,"m":{"x":3,"w":2}}"#);
}

#[test]
fn options_win_over_files() {
    let mut values = given("a: {b: 1, c: 1}\nl: [1, 2]\n");
    values.set_json(r#"{"a": {"b": 2.5}}"#).unwrap();
    values.set(r"a.c=7,l[1]=x,d\.e=true,n=null,=ignored").unwrap();
    values.set_string("s=7").unwrap();
    values.set_file("f=name", &mut |name| Ok(format!("<{name}>"))).unwrap();
    values.set_literal("lit=a,b=c").unwrap();
    let expected = r#"{"a":{"b":2.5,"c":7},"l":[1.0,"x"],"d.e":true,"n":null,"s":"7","f":"<name>","lit":"a,b=c"}"#;
    assert_eq!(serde_json::to_string(&Data::Map(values.values().clone())).unwrap(), expected);
    assert_eq!(values.values().get("a").unwrap().get("c"), Some(&Data::Int(7)));
    for wrong in ["a", "a[x]=1", "a..b=1", "a.b.c=1"] {
        let error = values.set(wrong).unwrap_err();
        assert_eq!(error.fields.get("stage").map(String::as_str), Some("values"), "{wrong}");
    }
    assert!(values.set_json("[1]").is_err() && values.set_json("{").is_err());
}

const SUB: &str = "apiVersion: v2\nname: sub\nversion: 1.0.7\n";

#[test]
fn values_of_charts_inside() {
    let files = [
        ("values.yaml", "sub: {a: outer, gone: null}\nglobal: {g: 1}\n"),
        ("charts/sub/Chart.yaml", SUB),
        ("charts/sub/values.yaml", "a: inner\nb: inner\ngone: here\nglobal: {g: 0, h: 2}\n"),
    ];
    let sub = |values: &str| {
        let plan = plan(&files, values).unwrap();
        let mut map: Vec<_> = plan.values().get("sub").unwrap().as_map().unwrap().clone().into_iter().collect();
        map.sort_by(|a, b| a.0.cmp(&b.0));
        serde_json::to_string(&Data::Map(map.into_iter().collect())).unwrap().replace(".0", "")
    };
    assert_eq!(sub("{}"), r#"{"a":"outer","b":"inner","global":{"g":1,"h":2},"gone":"here"}"#);
    assert_eq!(sub("sub: {b: user}"), r#"{"a":"outer","b":"user","global":{"g":1,"h":2}}"#);
    assert_eq!(sub("sub: {a: null}"), r#"{"b":"inner","global":{"g":1,"h":2}}"#);
    assert_eq!(sub("sub: null"), r#"{"a":"inner","b":"inner","global":{"g":1,"h":2},"gone":"here"}"#);
    assert_eq!(failure(plan(&files, "sub: []")), ("schema".to_owned(), "type mismatch on sub: []".to_owned()));
}

fn with_dependency(more: &str) -> String {
    format!("{ROOT}dependencies:\n- name: sub\n  version: ~1.0\n  repository: ''\n{more}")
}

#[test]
fn conditions_tags_and_aliases() {
    let named = |more: &str, values: &str| {
        let root = with_dependency(more);
        let template = ("charts/sub/templates/a.yaml", "x");
        let plan = plan(&[("Chart.yaml", &root), ("charts/sub/Chart.yaml", SUB), template], values).unwrap();
        plan.templates().iter().map(|template| template.name().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let there = "app/charts/sub/templates/a.yaml";
    assert_eq!(named("", "{}"), there);
    assert_eq!(named("  condition: x.no,sub.on\n", "sub: {\"on\": false}"), "");
    assert_eq!(named("  condition: sub.on\n", "sub: {\"on\": 0}"), there);
    assert_eq!(named("  tags: [t]\n", "tags: {t: false}"), "");
    assert_eq!(named("  tags: [t, u]\n", "tags: {t: false, u: true}"), there);
    assert_eq!(named("  condition: sub.on\n  tags: [t]\n", "tags: {t: false}\nsub: {\"on\": true}"), there);
    assert_eq!(named("  alias: one\n- {name: sub, version: 1.x, alias: two}\n", "{}"), {
        "app/charts/two/templates/a.yaml app/charts/one/templates/a.yaml"
    });
    // A chart outside the range is not the declared one.
    assert_eq!(named("  alias: one\n", "{}"), "app/charts/one/templates/a.yaml");
    let missing = failure(plan(&[("Chart.yaml", &with_dependency(""))], "{}"));
    assert_eq!(missing.1, "found in Chart.yaml, but missing in charts/ directory: sub");
    let library = failure(plan(&[("Chart.yaml", &format!("{ROOT}type: library\n"))], "{}"));
    assert_eq!(library, ("installable".to_owned(), "library charts are not installable".to_owned()));
}

#[test]
fn imported_values_are_below_the_chart_s_own() {
    let root = with_dependency("  import-values:\n  - data\n  - {child: m.w, parent: a.b}\n  - nothing\n");
    let files = [
        ("Chart.yaml", root.as_str()),
        ("values.yaml", "own: 1\n"),
        ("charts/sub/Chart.yaml", SUB),
        ("charts/sub/values.yaml", "exports: {data: {own: 2, imported: 3}}\nm: {w: {q: 4}}\n"),
    ];
    let plan = plan(&files, "a: {c: 5}").unwrap();
    let get = |path: &str| Data::Map(plan.values().clone()).at_path(path).cloned();
    assert_eq!(get("own"), Some(Data::Float(1.0)));
    assert_eq!(get("imported"), Some(Data::Float(3.0)));
    assert_eq!((get("a.b.q"), get("a.c")), (Some(Data::Float(4.0)), Some(Data::Float(5.0))));
}

#[test]
fn values_have_to_fit_schemas_and_the_cluster() {
    let schema = r#"{"$schema": "http://json-schema.org/draft-07/schema#", "required": ["name"],
        "properties": {"port": {"type": "integer", "maximum": 65535}, "on": {"const": true}}}"#;
    let files = [("values.schema.json", schema), ("values.yaml", "port: 80\n")];
    assert!(plan(&files, "name: x").is_ok());
    let (stage, text) = failure(plan(&files, "port: 70000\n\"on\": false\n"));
    assert_eq!(stage, "schema");
    for line in ["missing property 'name'", "maximum: got 70,000, want 65,535", "'/on': value must be true"] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(failure(plan(&[("values.schema.json", "")], "{}")).0, "schema");
    let root = format!("{ROOT}kubeVersion: '>=1.30.0'\n");
    let chart = chart(&[("Chart.yaml", &root)]).unwrap();
    let of = |version: &str| {
        let cluster = Capabilities::default().with_kube_version(version).unwrap();
        chart.plan(&UserValues::default(), &Release::default(), &cluster)
    };
    assert!(of("v1.30.1-gke.100").is_ok());
    let message = "chart requires kubeVersion: >=1.30.0 which is incompatible with Kubernetes v1.29.4-eks";
    assert_eq!(failure(of("1.29.4-eks")), ("kubeversion".to_owned(), message.to_owned()));
    assert!(KubeVersion::parse("x").is_err() && KubeVersion::parse("").is_err());
}

#[test]
fn templates_are_ordered_from_the_inside_out() {
    let files = [
        ("templates/b.yaml", ""),
        ("templates/_h.tpl", ""),
        ("templates/d/a.yaml", ""),
        ("charts/lib/Chart.yaml", "name: lib\nversion: 1.0.0\ntype: library\n"),
        ("charts/lib/templates/_l.tpl", ""),
        ("charts/lib/templates/no.yaml", ""),
        ("charts/sub/Chart.yaml", SUB),
        ("charts/sub/templates/a.yaml", ""),
    ];
    let plan = plan(&files, "{}").unwrap();
    let names: Vec<_> = plan.templates().iter().map(|one| (one.name(), one.is_partial())).collect();
    assert_eq!(
        names,
        [
            ("app/charts/sub/templates/a.yaml", false),
            ("app/charts/lib/templates/_l.tpl", true),
            ("app/templates/d/a.yaml", false),
            ("app/templates/b.yaml", false),
            ("app/templates/_h.tpl", true),
        ]
    );
}

#[test]
fn charts_share_the_maps_in_shared_maps_and_what_they_import() {
    let files = [
        ("values.yaml", "global: {a: {b: {x: 1}, c: 1}}\n"),
        ("charts/one/Chart.yaml", "apiVersion: v2\nname: one\nversion: 1.0.0\n"),
        ("charts/sub/Chart.yaml", SUB),
        ("charts/sub/values.yaml", "global: {a: {b: {z: 2, x: 9}, d: 3}}\n"),
    ];
    let plan = plan(&files, "{}").unwrap();
    let get = |plan: &Plan, path: &str| {
        serde_json::to_string(Data::Map(plan.values().clone()).at_path(path).unwrap()).unwrap()
    };
    assert_eq!(get(&plan, "global.a"), r#"{"b":{"x":1.0,"z":2.0},"c":1.0}"#);
    assert_eq!(get(&plan, "one.global.a.b"), r#"{"x":1.0,"z":2.0}"#);
    assert_eq!(get(&plan, "sub.global.a"), r#"{"b":{"x":1.0,"z":2.0},"c":1.0,"d":3.0}"#);
    // The second import changes the map that the first one has moved, in its own chart, too.
    let root = with_dependency(
        "  import-values:\n  - {child: m, parent: to}\n  - {child: o, parent: to}\n  - {child: m, parent: again}\n",
    );
    let files = [
        ("Chart.yaml", root.as_str()),
        ("charts/sub/Chart.yaml", SUB),
        ("charts/sub/values.yaml", "m: {a: 1}\no: {b: 2}\n"),
    ];
    let imported = super::tests::plan(&files, "{}").unwrap();
    assert_eq!(get(&imported, "again"), r#"{"a":1.0,"b":2.0}"#);
    assert_eq!(get(&imported, "sub.m"), r#"{"a":1.0,"b":2.0}"#);
    // A map that has nothing is no such map.
    let files = [
        ("Chart.yaml", root.as_str()),
        ("charts/sub/Chart.yaml", SUB),
        ("charts/sub/values.yaml", "m: {}\no: {b: 2}\n"),
    ];
    let imported = super::tests::plan(&files, "{}").unwrap();
    assert_eq!(get(&imported, "to"), r#"{"b":2.0}"#);
    assert_eq!((get(&imported, "again"), get(&imported, "sub.m")), ("{}".to_owned(), "{}".to_owned()));
    // A map that contains itself has no end.
    let root = with_dependency("  import-values:\n  - {child: m.k, parent: to}\n  - {child: m, parent: to}\n");
    let files =
        [("Chart.yaml", root.as_str()), ("charts/sub/Chart.yaml", SUB), ("charts/sub/values.yaml", "m: {k: {b: 2}}\n")];
    let (stage, text) = failure(super::tests::plan(&files, "{}"));
    assert!(stage == "dependencies" && text.contains("in one another"), "{stage}: {text}");
}

#[test]
fn of_two_charts_with_one_path_the_last_one_is_rendered() {
    let meta = "dependencies: [{name: sub, version: 1.1.0}]\n";
    let files = [
        ("Chart.yaml", &*format!("apiVersion: v2\nname: app\nversion: 1.0.0\n{meta}")),
        ("charts/old/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
        ("charts/old/templates/a.yaml", "old"),
        ("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.1.0\n"),
        ("charts/sub/templates/a.yaml", "new"),
    ];
    let plan = plan(&files, "{}").unwrap();
    let texts: Vec<_> = plan.templates().iter().map(|one| (one.name(), one.text().as_str())).collect();
    assert_eq!(texts, [("app/charts/sub/templates/a.yaml", "new")]);
}

#[test]
fn top_maps_share_values() {
    let files = [("charts/sub/Chart.yaml", SUB), ("charts/sub/values.yaml", "a: 1\n"), ("conf/x.txt", "x")];
    let plan = plan(&files, "{}").unwrap();
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = plan.inputs(&InputBuilder::new(&arena, &shapes), true).unwrap();
    fn map<'v>(value: Option<Value<'v>>, key: &str) -> Option<Value<'v>> {
        value.and_then(|value| value.as_map()?.get(key))
    }
    let (root, sub) = (map(Some(inputs), "app"), map(Some(inputs), "app/charts/sub"));
    let own = map(map(root, "Values"), "sub");
    let same = |a: Option<Value<'_>>, b: Option<Value<'_>>| {
        std::ptr::eq(a.unwrap().as_map().unwrap(), b.unwrap().as_map().unwrap())
    };
    assert!(same(own, map(sub, "Values")));
    assert!(same(sub, map(map(root, "Subcharts"), "sub")));
    let data = |value: Option<Value<'_>>| value.unwrap().to_data();
    assert_eq!(data(map(map(sub, "Chart"), "IsRoot")), Data::Bool(false));
    assert_eq!(data(map(map(root, "Chart"), "Name")), Data::Str("app".into()));
}

#[test]
fn files_that_templates_read() {
    let files = [("a.txt", "1\n2\n"), ("conf/b.txt", "3"), ("conf/d/b.yaml", ""), ("crds/c.yaml", "kind: C\n")];
    let chart = chart(&files).unwrap();
    let files = chart.files();
    let paths = |pattern: &str| files.glob(pattern).iter().map(|(path, _)| path.to_owned()).collect::<Vec<_>>();
    assert_eq!(paths("*.txt"), ["a.txt"]);
    assert_eq!(paths("conf/**"), ["conf/b.txt", "conf/d/b.yaml"]);
    assert_eq!(paths("[").len(), 4);
    assert_eq!(files.lines("a.txt"), Ok(vec![&b"1"[..], b"2"]));
    assert_eq!((files.lines("no"), files.lines("conf/d/b.yaml")), (Ok(Vec::new()), Err(EmptyFile)));
    assert_eq!((files.get("conf/../a.txt"), files.get("Chart.yaml")), (None, None));
}

#[test]
fn documents_hooks_and_notes() {
    let plan = plan(&[("crds/c.yaml", "kind: CustomResourceDefinition\n")], "{}").unwrap();
    let hook = |name: &str, events: &str| {
        format!(
            "kind: Job\nmetadata:\n  name: {name}\n  annotations:\n    helm.sh/hook: {events}\n    helm.sh/hook-weight: -3\n"
        )
    };
    let rendered = [
        ("app/templates/a.yaml", "kind: Zebra\n---\nkind: Service\nmetadata: {name: s}\n".to_owned()),
        ("app/templates/b.yaml", hook("x", "post-install, test-success")),
        ("app/templates/c.yaml", hook("x", "unheard-of")),
        ("app/templates/empty.yaml", " \n".to_owned()),
        ("app/templates/NOTES.txt", "notes: : :".to_owned()),
        ("app/charts/sub/templates/NOTES.txt", "others".to_owned()),
    ];
    let output = plan.assemble(rendered.map(|(name, text)| (name.to_owned(), text))).unwrap();
    let kinds: Vec<_> = output.manifests.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!((kinds, output.notes.as_deref()), (vec!["Service", "Zebra"], Some("notes: : :")));
    let [hook] = output.hooks.as_slice() else { panic!("{:?}", output.hooks) };
    assert_eq!((hook.weight, hook.events.as_slice()), (-3, &[HookEvent::PostInstall, HookEvent::Test][..]));
    let bare = Selection { hooks: false, tests: true, crds: true };
    let text = "---\n# Source: app/crds/c.yaml\nkind: CustomResourceDefinition\n\n---\n# Source: app/templates/a.yaml\n\
                kind: Service\nmetadata: {name: s}\n\n---\n# Source: app/templates/a.yaml\nkind: Zebra\n";
    assert_eq!(output.text_of(bare), text);
    assert_eq!(output.only(["templates/a.yaml"], bare).unwrap().matches("# Source").count(), 2);
    assert_eq!(output.only(["templates/no.yaml"], bare).unwrap_err().code, Code::UnknownTemplate);
    let paths: Vec<_> = output.files(Selection::default()).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["app/templates/a.yaml", "app/templates/b.yaml"]);
    let error = plan.assemble([("app/templates/l.yaml".to_owned(), "- 1\n".to_owned())]).unwrap_err();
    assert_eq!((error.code, error.fields["stage"].as_str()), (Code::InvalidOutput, "sort"));
}
