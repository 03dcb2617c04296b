//! Releases: many charts and sets of templates for every cluster, in one run.

use crate::support::Sandbox;

const PROJECT: &str = r#"id = "p"
fleet = ["clusters.yaml"]
layers = ["base.yaml", "env/{env}.yaml"]
[output]
dir = "out"

[[release]]
name = "web"
chart = "charts/app"
namespace = "web-{env}"
kube-version = "{kube|v1.34.0}"
values = ["web.yaml", "web-{env}.yaml?"]

[[release]]
name = "api"
chart = "charts/app"
values = ["sizes.yaml.tera"]
when = "cluster.features.api"
labels = { team = "core" }

[[release]]
name = "tools-{env}"
templates = ["tools"]
values = ["tools.yaml"]
labels = { team = "core" }
"#;

const APP: &str = "kind: Pod\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
values: {{ .Values | toJson }}\nkube: {{ .Capabilities.KubeVersion.Version }}\n";

/// A project with three clusters, a chart that two releases have, and a set of templates.
fn project() -> Sandbox {
    Sandbox::with(&[
        ("dropforge.toml", PROJECT),
        (
            "clusters.yaml",
            "- {name: eu, env: prod, releases: {web: {size: 9, gone: null}}}\n- {name: us, env: dev, features: {api: false}}
- {name: ap, env: dev, kube: v1.30.1}\n",
        ),
        ("base.yaml", "features: {api: true}\nregistry: r.example\ntag: v1\nreleases: {web: {note: base}}\n"),
        ("env/prod.yaml", "cpu: 8\nreleases: {api: {env: live}}\n"),
        ("env/dev.yaml", "cpu: 2\n"),
        ("web.yaml", "size: 1\nfile: web\n"),
        ("web-prod.yaml", "size: 3\n"),
        ("sizes.yaml.tera", "size: {{ cpu * 10 }}\nhost: {{ name }}.{{ registry }}\n"),
        ("tools.yaml", "tag: v2\n"),
        ("charts/app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
        ("charts/app/values.yaml", "size: 0\ngone: {a: 1}\n"),
        ("charts/app/templates/pod.yaml", APP),
        ("tools/run.sh.tera", "{{ name }} {{ registry }} {{ tag }} {{ cpu }}\n"),
    ])
}

/// The files below the output folder.
fn files(sandbox: &Sandbox) -> Vec<String> {
    sandbox.tree("out").into_keys().filter(|name| !name.starts_with(".dropforge")).collect()
}

/// The values that a release got, and the version of Kubernetes.
fn pod(sandbox: &Sandbox, cluster: &str, release: &str) -> (String, String) {
    let text = sandbox.read(&format!("out/{cluster}/{release}/pod.yaml"));
    let line = |start: &str| text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or("").to_owned();
    (line("metadata: "), line("values: ") + " " + &line("kube: "))
}

#[test]
fn each_cluster_has_its_releases_with_their_values() {
    let sandbox = project();
    sandbox.run(&["stamp", "--strict"]).expect(0).says(&["8 files for 3 clusters"]);
    let expected = [
        "ap/api/pod.yaml",
        "ap/tools-dev/run.sh",
        "ap/web/pod.yaml",
        "eu/api/pod.yaml",
        "eu/tools-prod/run.sh",
        "eu/web/pod.yaml",
        "us/tools-dev/run.sh",
        "us/web/pod.yaml",
    ];
    assert_eq!(files(&sandbox), expected);
    let (names, values) = pod(&sandbox, "eu", "web");
    assert_eq!(names, "{name: web, namespace: web-prod}");
    assert_eq!(values, r#"{"file":"web","note":"base","size":9} v1.34.0"#);
    assert_eq!(pod(&sandbox, "us", "web").1, r#"{"file":"web","gone":{"a":1},"note":"base","size":1} v1.34.0"#);
    assert!(pod(&sandbox, "ap", "web").1.ends_with("v1.30.1"));
    let (names, values) = pod(&sandbox, "eu", "api");
    assert_eq!(names, "{name: api, namespace: default}");
    assert!(values.starts_with(r#"{"env":"live","gone":{"a":1},"host":"eu.r.example","size":80}"#), "{values}");
    assert!(pod(&sandbox, "ap", "api").1.starts_with(r#"{"gone":{"a":1},"host":"ap.r.example","size":20}"#));
    assert_eq!(sandbox.read("out/eu/tools-prod/run.sh"), "eu r.example v2 8\n");
    // The same bytes whichever way they are rendered.
    sandbox.run(&["stamp", "--check", "--no-specialise"]).expect(0);
    sandbox.run(&["stamp", "--check", "-j1"]).expect(0);
}

#[test]
fn options_of_one_release_are_named_by_it() {
    let sandbox = project();
    sandbox.run(&["stamp", "--set", "web:size=5", "--set-string", "tools-{env}:tag=7", "--set", "cpu=1"]).expect(0);
    assert!(pod(&sandbox, "eu", "web").1.contains("\"size\":5"));
    assert!(pod(&sandbox, "eu", "api").1.contains("\"size\":10"));
    assert_eq!(sandbox.read("out/eu/tools-prod/run.sh"), "eu r.example 7 1\n");
    sandbox.run(&["stamp", "--set", "releases.web.note=set"]).expect(0);
    assert!(pod(&sandbox, "us", "web").1.contains("\"note\":\"set\""));
    assert!(!pod(&sandbox, "ap", "api").1.contains("note"));
}

#[test]
fn releases_are_selected_by_name_and_label() {
    let sandbox = project();
    sandbox.run(&["stamp", "-r", "web"]).expect(0).says(&["3 files"]);
    sandbox.run(&["stamp", "-r", "team=core", "-l", "env=dev"]).expect(0).says(&["3 files for 2 clusters"]);
    sandbox
        .run(&["stamp", "-r", "none"])
        .expect(2)
        .says(&["no release is named `none`", "available: api, tools-{env}, web"]);
    sandbox
        .run(&["stamp", "--no-project", "tools", "--fleet=clusters.yaml", "-oout", "-r", "web"])
        .expect(2)
        .says(&["there are no releases", "[[release]]"]);
}

#[test]
fn a_layout_has_the_release() {
    let sandbox = project();
    sandbox.run(&["stamp", "--layout", "{release}/{cluster}/{template}"]).expect(0);
    assert!(sandbox.path("out/tools-prod/eu/run.sh").exists());
    let outcome = sandbox.run(&["stamp", "--layout", "{cluster}/{template}"]).expect(2);
    assert!(outcome.stderr.contains("`eu/pod.yaml`"), "{}", outcome.stderr);
    let stream = sandbox.run(&["stamp", "--layout", "single", "-r", "web", "-r", "web"]).expect(0).stdout;
    assert_eq!(stream.matches("kind: Pod").count(), 3, "{stream}");
    sandbox.run(&["stamp", "--layout", "{cluster}/{kind}-{name}", "-r", "web"]).expect(0);
    assert!(sandbox.path("out/eu/Pod-web.yaml").exists(), "{:?}", files(&sandbox));
}

#[test]
fn why_knows_the_values_of_releases() {
    let sandbox = project();
    sandbox.run(&["stamp"]).expect(0);
    sandbox.replace("charts/app/templates/pod.yaml", "size: {{ .Values.size }}\nfile: {{ .Values.file }}\n");
    sandbox.run(&["stamp"]).expect(0);
    let why = |place: &str| sandbox.run(&["why", place]).expect(0).stdout;
    let web = why("out/eu/web/pod.yaml:3:7");
    let places = ["clusters.yaml:1:", "web-prod.yaml:1:7", "web.yaml:1:7", "charts/app/values.yaml:1:7"];
    let found: Vec<_> = places.iter().filter_map(|place| web.find(place)).collect();
    assert!(found.len() >= 3 && found.is_sorted(), "{web}");
    let api = why("out/eu/api/pod.yaml:3:7");
    assert!(api.contains("sizes.yaml (rendered):1:7"), "{api}");
    let tools = why("out/eu/tools-prod/run.sh:1:15");
    assert!(tools.contains("tools.yaml:1:6") && tools.contains("base.yaml:3:6"), "{tools}");
}

#[test]
fn errors_name_release_cluster_and_files() {
    let sandbox = project();
    let with = |from: &str, to: &str| sandbox.replace("dropforge.toml", &PROJECT.replace(from, to));
    let cases: &[(&str, &str, &[&str], i32)] = &[
        ("chart = \"charts/app\"\nnamespace", "chart = \"charts/ap\"\nnamespace", &["`charts/ap`", "charts/app"], 1),
        ("templates = [\"tools\"]\n", "", &["either `chart` or `templates`", "dropforge.toml:21:1"], 2),
        ("name = \"web\"\n", "", &["the release has no `name`", "dropforge.toml:7:1"], 2),
        ("name = \"web\"", "name = \"api\"", &["two releases are named `api`", "the first one"], 2),
        ("namespace = ", "namspace = ", &["unknown key `namspace`", "did you mean `namespace`?"], 2),
        ("when = \"cluster", "when = \"cluster.", &["dropforge.toml:18:17"], 1),
        (
            "cluster.features.api",
            "cluster.feature.api",
            &["no such key: feature", "dropforge.toml:18:17", "release: api", "has("],
            1,
        ),
        (
            "cluster.features.api",
            "cluster.env",
            &["must be true or false, found", "cluster: ", "dropforge.toml:18:8"],
            1,
        ),
        ("\"web.yaml\"", "\"wep.yaml\"", &["`wep.yaml`", "did you mean `web.yaml`?"], 1),
        ("\"tools-{env}\"", "\"tools-{envi}\"", &["the cluster has no `envi`", "did you mean `env`?"], 2),
        ("kube|v1.34.0", "kube|x", &["release: web"], 4),
        ("labels = { team = \"core\" }\n\n", "labels = \"core\"\n\n", &["`labels` must be a table"], 2),
        ("namespace = \"web-{env}\"", "include-crds = \"yes\"", &["`include-crds` must be `true` or `false`"], 2),
        ("namespace = \"web-{env}\"", "namespace = 5", &["`namespace` must be a string, found integer"], 2),
    ];
    for (from, to, parts, code) in cases {
        with(from, to);
        let outcome = sandbox.run(&["stamp"]);
        let text = outcome.stderr.clone();
        assert!(parts.iter().all(|part| text.contains(part)), "{from} -> {to}: {parts:?}\n{text}");
        outcome.expect(*code);
    }
    // A template of values that fails, and one that renders no map.
    with("", "");
    sandbox.replace("sizes.yaml.tera", "size: {{ cpus }}\n");
    sandbox.run(&["stamp"]).expect(4).says(&["sizes.yaml.tera:1:10", "release: api", "cluster: eu, ap"]);
    sandbox.replace("sizes.yaml.tera", "- {{ cpu }}\n");
    sandbox.run(&["stamp"]).expect(4).says(&[
        "sizes.yaml (rendered)",
        "it is what `sizes.yaml.tera` renders",
        "release: api",
    ]);
    // The values of a release that are no map, and those that its schema refuses.
    let sandbox = project();
    sandbox.replace("clusters.yaml", "- {name: eu, env: prod, releases: {web: 5}}\n");
    sandbox.run(&["stamp"]).expect(4).says(&["`releases.web` is an integer, not a map", "release: web"]);
    sandbox.replace("clusters.yaml", "- {name: eu, env: prod, releases: {web: {size: big}}}\n");
    let schema = r#"{"properties": {"size": {"type": "integer"}}}"#;
    sandbox.write("charts/app/values.schema.json", schema);
    sandbox.run(&["stamp"]).expect(4).says(&["clusters.yaml:1:", "given here", "release: web"]);
    for key in ["no-schema", "skip-schema-validation"] {
        sandbox.replace("dropforge.toml", &PROJECT.replace("kube-version =", &format!("{key} = true\nkube-version =")));
        sandbox.run(&["stamp"]).expect(0);
    }
}

#[test]
fn releases_lie_in_files_of_their_own() {
    let sandbox = project();
    let (head, releases) = PROJECT.split_once("[[release]]").unwrap();
    let releases = format!("[[release]]{releases}");
    let moved = releases
        .replace("\"charts/app\"", "\"../../charts/app\"")
        .replace("[\"web.yaml\", \"web-{env}.yaml?\"]", "[\"../../web.yaml\", \"../../web-{env}.yaml?\"]")
        .replace("[\"sizes.yaml.tera\"]", "[\"../../sizes.yaml.tera\"]")
        .replace("[\"tools\"]", "[\"../../tools\"]")
        .replace("[\"tools.yaml\"]", "[\"../../tools.yaml\"]");
    sandbox.run(&["stamp"]).expect(0);
    sandbox.write("releases/all/release.toml", &moved);
    sandbox.replace("dropforge.toml", &format!("include = [\"releases/*/release.toml\"]\n{head}"));
    sandbox.run(&["stamp", "--check"]).expect(0);
    sandbox.replace("releases/all/release.toml", &format!("{moved}\n[output]\ndir = \"x\"\n"));
    sandbox.run(&["stamp"]).expect(2).says(&["unknown key `output`", "releases/all/release.toml:"]);
}

#[test]
fn many_releases_fit_on_the_stack() {
    let sandbox = project();
    let mut project = PROJECT.split_once("[[release]]").unwrap().0.to_owned();
    for at in 0..200 {
        project += &format!("[[release]]\nname = \"r{at}\"\nchart = \"charts/app\"\n");
    }
    sandbox.replace("dropforge.toml", &project);
    sandbox.run(&["stamp"]).expect(0).says(&["600 files"]);
}

/// A project whose release `old` is renamed, removed or not selected, with the number of files that a run finds stale.
#[test]
fn files_of_releases_are_stale_only_to_runs_that_know_them() {
    let sandbox = project();
    sandbox.run(&["stamp"]).expect(0).says(&["8 files"]);
    // A release that is not selected is neither stale nor pruned, though another has the same chart.
    sandbox.run(&["stamp", "-r", "web", "--check"]).expect(0);
    sandbox.run(&["stamp", "-r", "web", "--prune"]).expect(0).says(&["3 unchanged"]);
    sandbox.run(&["stamp", "-r", "team=core", "--prune", "--prune-force"]).expect(0).says(&["5 unchanged"]);
    assert_eq!(files(&sandbox).len(), 8);
    // A cluster that does not want a release any more.
    sandbox.replace("base.yaml", "features: {api: false}\nregistry: r.example\ntag: v1\n");
    sandbox.run(&["stamp", "-r", "api", "--check"]).expect(3).says(&[]);
    sandbox.run(&["stamp", "-r", "api", "--prune", "--prune-force"]).expect(0).says(&["2 deleted"]);
    sandbox.replace("base.yaml", "features: {api: true}\nregistry: r.example\ntag: v1\n");
    sandbox.run(&["stamp", "-r", "api"]).expect(0).says(&["2 new"]);
    // A renamed release, a chart of another version in another folder, and a release that is removed.
    let renamed = PROJECT.replace("name = \"web\"", "name = \"front\"");
    sandbox.replace("dropforge.toml", &renamed);
    sandbox.run(&["stamp", "-r", "front", "--prune"]).expect(0).says(&["3 new"]);
    sandbox.run(&["stamp", "--check"]).expect(3);
    sandbox.run(&["stamp", "--prune"]).expect(0).says(&["3 deleted"]);
    for (name, text) in sandbox.tree("charts/app") {
        sandbox.write(&format!("charts/app-2/{name}"), &text);
    }
    sandbox.replace("charts/app-2/templates/pod.yaml", "");
    sandbox.write("charts/app-2/templates/job.yaml", "kind: Job\nmetadata: {name: {{ .Release.Name }}}\n");
    sandbox.replace("dropforge.toml", &renamed.replace("charts/app\"", "charts/app-2\""));
    sandbox.run(&["stamp", "-r", "front", "--prune", "--prune-force"]).expect(0).says(&["3 new", "3 deleted"]);
    let (head, rest) = renamed.split_once("[[release]]\nname = \"api\"").unwrap();
    let (_, tools) = rest.split_once("[[release]]").unwrap();
    sandbox.replace("dropforge.toml", &format!("{head}[[release]]{tools}"));
    sandbox.run(&["stamp", "--prune", "--prune-force"]).expect(0).says(&["5 deleted"]);
    assert_eq!(files(&sandbox).len(), 6);
    sandbox.run(&["stamp", "--check"]).expect(0);
    // Another project in the same folder keeps its files.
    sandbox.write("other/dropforge.toml", "id = \"o\"\nfleet = [\"../clusters.yaml\"]\n[output]\ndir = \"../out\"\n[[release]]\nname = \"web\"\ntemplates = [\"t\"]\n");
    sandbox.write("other/t/x.txt.tera", "{{ name }}\n");
    sandbox.run(&["-C", "other", "stamp", "--prune", "--prune-force"]).expect(0).says(&["3 new"]);
    sandbox.run(&["stamp", "--prune", "--prune-force"]).expect(0).says(&["6 unchanged"]);
    assert_eq!(files(&sandbox).len(), 9);
}

#[test]
fn check_renders_the_releases_of_all_clusters() {
    let sandbox = project();
    sandbox.run(&["check"]).expect(0).says(&["no errors"]);
    assert!(!sandbox.path("out").exists());
    sandbox.replace("env/dev.yaml", "cpus: 2\n");
    sandbox.run(&["check"]).expect(1).says(&["sizes.yaml.tera:1:10", "tools/run.sh.tera:1:", "release: api", "ap"]);
    sandbox.run(&["check", "-l", "env=prod"]).expect(0);
    sandbox.replace("env/dev.yaml", "cpu: 2\ntga: v1\n");
    sandbox.run(&["check"]).expect(0).says(&["env/dev.yaml:2:6", "`tga`", "tag"]);
    sandbox.run(&["check", "--strict"]).expect(1);
}

#[test]
fn an_object_that_two_releases_make_is_told() {
    let sandbox = project();
    let object = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: same, namespace: n}\n";
    sandbox.write("tools/own.yaml.tera", object);
    sandbox.write("charts/app/templates/same.yaml", &object.replace("apps/v1", "apps/v2"));
    sandbox.write("charts/app/templates/same.yaml", &object.replace("apps/v1", "apps/v2"));
    let found =
        ["two releases make the object `Deployment.apps same` in the namespace `n`", "release `web`", "cluster: "];
    let outcome = sandbox.run(&["stamp"]).expect(0).says(&found);
    // Once for each two releases, with the clusters.
    assert_eq!(outcome.stderr.matches("E0914").count(), 3, "{}", outcome.stderr);
    sandbox.run(&["stamp", "--strict"]).expect(4).says(&["error[E0914]", "3 clusters failed"]);
    // One cluster refuses the whole run before anything is written.
    sandbox.write("tools/own.yaml.tera", &format!("{{% if name == 'us' %}}{object}{{% endif %}}"));
    let of_web = format!("{{{{ if eq .Release.Name \"web\" }}}}{object}{{{{ end }}}}");
    sandbox.write("charts/app/templates/same.yaml", &of_web);
    sandbox
        .run(&["stamp", "--strict", "-o", "fresh"])
        .expect(4)
        .says(&["1 of 3 clusters failed", "nothing was written"]);
    assert!(!sandbox.path("fresh/eu").exists() && !sandbox.path("fresh/us").exists());
    // Without `--strict`, too, it is found in a cluster with the same releases as others before it.
    sandbox.run(&["stamp", "-o", "fresh"]).expect(0).says(&["two releases make the object", "cluster: us"]);
    sandbox.run(&["stamp", "--strict", "-o", "fresh", "-l", "name!=us"]).expect(0);
    assert!(sandbox.path("fresh/eu").exists());
    sandbox.write("tools/own.yaml.tera", object);
    sandbox.write("charts/app/templates/same.yaml", &object.replace("apps/v1", "apps/v2"));
    sandbox.run(&["stamp", "-r", "web"]).expect(0);
    sandbox.run(&["check", "--strict"]).expect(1).says(&found);
    // Objects without a namespace are in that of the release.
    sandbox.replace("tools/own.yaml.tera", "kind: A\nmetadata: {name: same}\n");
    sandbox.replace("charts/app/templates/same.yaml", "kind: A\nmetadata: {name: same}\n");
    let outcome = sandbox.run(&["stamp"]).expect(0);
    assert!(!outcome.stderr.contains("E0914"), "{}", outcome.stderr);
}

#[test]
fn templates_take_the_place_of_releases_only_on_the_command_line() {
    let sandbox = project();
    sandbox.run(&["stamp"]).expect(0).says(&["8 files"]);
    // Such a run knows nothing of releases.
    sandbox.run(&["stamp", "tools", "--set", "tag=v2", "--prune", "--prune-force"]).expect(0).says(&["3 new"]);
    assert!(sandbox.path("out/eu/run.sh").exists());
    assert_eq!(files(&sandbox).len(), 11);
    sandbox.run(&["check", "tools/run.sh.tera"]).expect(0);
    sandbox.replace("dropforge.toml", &format!("templates = [\"tools\"]\n{PROJECT}"));
    sandbox.run(&["stamp"]).expect(2).says(&["either templates or releases", "[[release]]"]);
}

#[test]
fn values_that_no_release_reads_are_found_wherever_they_are_given() {
    let project = "fleet = ['f.yaml']\n[output]\ndir = 'out'\n[[release]]\nname = 'web'\nchart = 'charts/web'\nvalues = ['web.yaml', 'both.yaml']\n[[release]]\nname = 'apps'\ntemplates = ['t']\nvalues = ['apps.yaml', 'both.yaml']\n";
    let sandbox = Sandbox::with(&[
        ("dropforge.toml", project),
        ("f.yaml", "- {name: c1, releases: {web: {replics: 3}}}\n"),
        ("web.yaml", "imgae: {tag: b}\n"),
        ("apps.yaml", "siez: 2\nsize: 3\n"),
        // One of the two releases reads each of these, but none the last.
        ("both.yaml", "replicas: 2\nname: x\nnone: 1\n"),
        ("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("charts/web/values.yaml", "image: {tag: a}\nreplicas: 1\n"),
        ("charts/web/templates/a.yaml", "kind: A\nof: {{ .Values.image.tag }} {{ .Values.replicas }}\n"),
        ("t/a.yaml.tera", "kind: B\nof: {{ size }} {{ name }}\n"),
    ]);
    let found =
        ["web.yaml:1:", "`image.tag`", "apps.yaml:1:", "`size`", "both.yaml:3:", "f.yaml:1:", "releases.web.replicas"];
    for args in [&["stamp"][..], &["check"]] {
        let told = sandbox.run(args).says(&found).stderr;
        assert_eq!(told.matches("E0809").count(), 4, "{args:?}: {told}");
        // The releases that are left out may read them.
        let told = sandbox.run(&[args, &["-r", "web"]].concat()).stderr;
        assert_eq!(told.matches("E0809").count(), 0, "{args:?}: {told}");
    }
    sandbox.run(&["stamp", "--strict"]).expect(1).says(&["nothing is written"]);
}

#[test]
fn clusters_give_the_apis_that_charts_see() {
    let sandbox = project();
    let apis = "api-versions = [\"fixed/v1\", \"{apis}\", \"{monitoring.group|none}/v1\"]\nkube-version =";
    sandbox.replace("dropforge.toml", &PROJECT.replace("kube-version =", apis));
    sandbox.write(
        "charts/app/templates/apis.yaml",
        "has:\n{{- range list \"fixed/v1\" \"a.example/v1\" \"b.example/v2\" \"none/v1\" \"coreos.com/v1\" \"apps/v1\" }}\n  - {{ . }}={{ $.Capabilities.APIVersions.Has . }}\n{{- end }}\n",
    );
    sandbox.replace(
        "clusters.yaml",
        "- {name: eu, env: prod, apis: [a.example/v1, b.example/v2]}
- {name: eu2, env: prod, apis: [a.example/v1]}
- {name: eu3, env: prod, apis: [a.example/v1]}
- {name: us, env: dev, apis: 'a.example/v1, b.example/v2', monitoring: {group: coreos.com}}
- {name: ap, env: dev, apis: '', kube: v1.30.1}\n",
    );
    sandbox.run(&["stamp"]).expect(0);
    for (cluster, wanted) in [
        ("eu", [true, true, true, true, false, true]),
        ("eu2", [true, true, false, true, false, true]),
        ("eu3", [true, true, false, true, false, true]),
        ("us", [true, true, true, false, true, true]),
        ("ap", [true, false, false, true, false, true]),
    ] {
        let made = sandbox.read(&format!("out/{cluster}/web/apis.yaml"));
        let found: Vec<bool> =
            made.lines().filter(|line| line.contains('=')).map(|line| line.ends_with("=true")).collect();
        assert_eq!(found, wanted, "{cluster}: {made}");
    }
    // A cluster without the value, and one with a value that is no list of texts.
    for (apis, said) in [
        ("", "the cluster has no `apis`"),
        (", apis: {a: 1}", "`apis` is a map"),
        (", apis: [[a]]", "an item of `apis` is a list"),
    ] {
        sandbox.replace("clusters.yaml", &format!("- {{name: eu, env: prod{apis}}}\n"));
        sandbox.run(&["stamp"]).expect(4).says(&[said, "release: web"]);
    }
}

#[test]
fn why_of_a_pack_knows_the_release() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "kind: A\nmetadata: {name: {{ name }}}\nspec: {{ v }}\n"),
        ("clusters.yaml", "- {name: eu}\n- {name: us}\n"),
        ("one.yaml", "v: 1\n"),
        ("two.yaml", "v: 2\n"),
        (
            "dropforge.toml",
            "fleet = [\"clusters.yaml\"]\n[[release]]\nname = \"one\"\ntemplates = [\"t\"]\nvalues = [\"one.yaml\"]\n[[release]]\nname = \"two\"\ntemplates = [\"t\"]\nvalues = [\"two.yaml\"]\n",
        ),
    ]);
    sandbox.run(&["stamp", "-o", "out", "--pack", "tar.zst"]).expect(0);
    for (release, values) in [("one", "one.yaml:1:4"), ("two", "two.yaml:1:4")] {
        let outcome = sandbox.run(&["why", &format!("out/us/{release}/a.yaml:3")]).expect(0);
        assert!(outcome.stdout.contains(values), "no {values} in {}", outcome.stdout);
        assert!(!outcome.stdout.contains("writes it like this now"), "{}", outcome.stdout);
    }
}
