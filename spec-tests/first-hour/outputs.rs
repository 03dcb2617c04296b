//! Outputs named as YAML or JSON are checked before they are written.

use crate::support::Sandbox;

const APP: &str = "kind: App\nname: {{ name }}\nimage: {{ image }}\n";

/// Three clusters, the first two with an image that breaks YAML.
fn broken() -> Sandbox {
    Sandbox::with(&[
        ("t/app.yaml.tera", APP),
        ("t/motd.txt.tera", "image: {{ image }}\n"),
        ("fleet.yaml", "- {name: eu, image: 'web: 1'}\n- {name: us, image: 'web: 2'}\n- {name: ap, image: web}\n"),
    ])
}

fn stamp(sandbox: &Sandbox, more: &[&str]) -> crate::support::Outcome {
    sandbox.run(&[&["stamp", "t", "--fleet", "fleet.yaml", "-o", "out"], more].concat())
}

#[test]
fn a_broken_output_fails_its_cluster_and_names_both_places() {
    let sandbox = broken();
    let outcome = stamp(&sandbox, &[]).expect(4).says(&[
        "error[E0906]: 2 clusters: the output is not valid YAML",
        "--> eu/app.yaml:3:11",
        "3 | image: web: 1",
        "::: t/app.yaml.tera:3:11",
        "3 | image: {{ image }}",
        "written here",
        "cluster: eu, us",
        "2 clusters failed",
    ]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1, "{}", outcome.stderr);
    let files: Vec<_> = sandbox.tree("out").into_keys().filter(|path| !path.starts_with('.')).collect();
    assert_eq!(files, ["ap/app.yaml", "ap/motd.txt"]);
}

#[test]
fn the_check_can_be_turned_off() {
    let sandbox = broken();
    stamp(&sandbox, &["--no-check-output"]).expect(0);
    assert_eq!(sandbox.read("out/eu/app.yaml"), "kind: App\nname: eu\nimage: web: 1\n");
}

#[test]
fn an_old_file_stays_where_the_new_one_is_broken() {
    let sandbox = broken();
    sandbox.write("out/eu/app.yaml", "old\n");
    stamp(&sandbox, &["--fail-fast", "-j", "1"]).expect(1);
    assert_eq!(sandbox.read("out/eu/app.yaml"), "old\n");
}

#[test]
fn previews_and_streams_are_checked_too() {
    let sandbox = broken();
    for more in [["--check"], ["--diff"], ["--dry-run"]] {
        stamp(&sandbox, &more).expect(4).says(&["E0906", "eu/app.yaml:3:11"]);
    }
    let single = ["stamp", "t", "--fleet", "fleet.yaml", "--layout", "single"];
    let outcome = sandbox.run(&single).expect(4).says(&["E0906"]);
    assert!(outcome.stdout.contains("# Source: ap/app.yaml") && !outcome.stdout.contains("web: 1"));
}

#[test]
fn errors_are_json_with_both_places() {
    let json = stamp(&broken(), &["--error-format", "json"]).expect(4).json();
    let error = &json[0];
    assert_eq!((&error["code"], &error["name"]), (&"E0906".into(), &"file.invalid_output".into()));
    assert_eq!((&error["file"], &error["line"]), (&"eu/app.yaml".into(), &3.into()));
    assert_eq!((&error["spans"][1]["file"], &error["spans"][1]["line"]), (&"t/app.yaml.tera".into(), &3.into()));
    assert_eq!((&error["clusters"], &error["template"]), (&serde_json::json!(["eu", "us"]), &"app.yaml.tera".into()));
}

/// Renders one template for one cluster. Returns standard error.
#[track_caller]
fn fails(name: &str, template: &str, more: &[(&str, &str)], parts: &[&str]) {
    let sandbox = Sandbox::with(more);
    sandbox.write(&format!("t/{name}"), template);
    sandbox.write("fleet.ndjson", "{\"name\": \"eu\", \"n\": 1, \"list\": [1, 2], \"params\": {\"x\": \"a: b\"}}\n");
    sandbox.stamp(&[]).expect(4).says(&["E0906"]).says(parts);
    assert!(!sandbox.path("out/eu").exists());
}

#[test]
fn duplicate_keys_and_tabs_are_broken() {
    let twice = "a: {{ n }}\n# c\nb: 1\na: 2\n";
    fails(
        "x.yaml.tera",
        twice,
        &[],
        &["the key `a` is given twice", "x.yaml:4:1", "again here", "first here", "x.yaml.tera:4:1"],
    );
    fails("x.yml.tera", "a:\n\tb: {{ n }}\n", &[], &["not valid YAML", "eu/x.yml:2:", "x.yml.tera:"]);
    fails("x.yaml.tera", "a: {{ n }}\n---\nb: c: d\n", &[], &["x.yaml:3:5", "x.yaml.tera:3:1", "b: c: d"]);
}

#[test]
fn json_is_checked() {
    fails("x.json.tera", "{\"a\": {{ n }},\n \"b\": [1,]}\n", &[], &["not valid JSON", "x.json:2:", "x.json.tera:2:"]);
    fails("x.json.tera", "{\"a\": {{ n }}, \"a\": 2}\n", &[], &["not valid JSON: the key `a` is given twice"]);
    let sandbox = Sandbox::with(&[
        ("t/x.json.tera", "{\"a\": {{ n }}}\n"),
        ("t/empty.json.tera", "{% if n == 2 %}{}{% endif %}\n"),
        ("fleet.ndjson", "{\"name\": \"eu\", \"n\": 1}\n"),
    ]);
    sandbox.stamp(&[]).expect(0);
}

#[test]
fn the_line_is_found_in_loops_includes_macros_and_other_languages() {
    let list = "a:\n{% for x in list %}  - {{ x }}\n  - c: d: e\n{% endfor %}";
    fails("x.yaml.tera", list, &[], &["x.yaml:3:", "x.yaml.tera:3:"]);
    let parts = ("t/_part.tera", "b: 1\nc: d: e\n");
    fails("x.yaml.tera", "a: 1\n{% include '_part.tera' %}", &[parts], &["x.yaml:3:", "_part.tera:2:1", "c: d: e"]);
    let macros = ("t/_m.tera", "{% macro m(x) %}c: d: {{ x }}{% endmacro %}");
    fails("x.yaml.tera", "{% import '_m.tera' as m %}{{ m::m(x=n) }}\n", &[macros], &["x.yaml:1:", "_m.tera:1:"]);
    fails("x.yaml.tower", "a: 1\nb: ${params.x}\n", &[], &["x.yaml:2:5", "x.yaml.tower:2:"]);
    fails("x.yaml.tftpl", "a: 1\n%{ for i in list ~}\nb: ${params.x}\n%{ endfor ~}\n", &[], &["x.yaml.tftpl:3:"]);
}

#[test]
fn without_positions_only_the_template_is_named() {
    let sandbox = broken();
    sandbox.run(&["compile", "t", "--strip", "-o", "t.mpk"]).expect(0);
    let stamp = ["stamp", "t.mpk", "--fleet", "fleet.yaml", "-o", "out"];
    let outcome =
        sandbox.run(&stamp).expect(4).says(&["E0906", "2 clusters: ", "app.yaml:3:11", "template: app.yaml.tera"]);
    assert!(!outcome.stderr.contains("written here"));
    let sandbox = Sandbox::with(&[
        ("t/x.yaml.tera", "a: {{ get_random(end=1000000000000) }}\nb: c: d\n"),
        ("fleet.ndjson", "{\"name\": \"eu\"}\n"),
    ]);
    let outcome = sandbox.stamp(&["--allow", "random"]).expect(4).says(&["x.yaml:2:5", "template: x.yaml.tera"]);
    assert!(!outcome.stderr.contains("written here"));
}

#[test]
fn render_checks_on_request() {
    let sandbox = Sandbox::with(&[("app.yaml.tera", APP), ("motd.txt.tera", APP)]);
    let render = |template: &str, more: &[&str]| {
        sandbox.run(&[&["render", template, "--set", "name=eu,image=web: 1"], more].concat())
    };
    render("app.yaml.tera", &[]).expect(0);
    let parts = ["app.yaml:3:11", "app.yaml.tera:3:11", "written here"];
    let outcome = render("app.yaml.tera", &["--check-output"]).expect(1).says(&parts);
    assert_eq!(outcome.stdout, "");
    render("motd.txt.tera", &["--check-output"]).expect(0);
    render("motd.txt.tera", &["--check-output", "-o", "o.yml"]).expect(1).says(&["o.yml:3:11", "motd.txt.tera:3:11"]);
    assert!(!sandbox.path("o.yml").exists());
    render("app.yaml.tera", &["--check-output", "-o", "o.txt"]).expect(0);
}

#[test]
fn hostile_outputs_are_judged_soon() {
    let sandbox = Sandbox::with(&[
        ("t/deep.yaml.tera", "{% for i in range(end=100000) %}[{% endfor %}"),
        (
            "t/long.yaml.tera",
            "a: [{% for i in range(end=100000) %}\"0123456789012345678901234567890123456789\", {% endfor %}]\n",
        ),
        ("t/dos.yaml.tera", "a: 1\r\nb: |\r\n  c\r\n"),
        ("t/bom.yaml.tera", "\u{feff}a: 1\n"),
        ("t/anchors.yaml.tera", "{% for i in range(end=10000) %}k{{ i }}: &a{{ i }} x\n{% endfor %}z: [*a1, *a9999]\n"),
        ("fleet.ndjson", "{\"name\": \"eu\"}\n"),
    ]);
    let outcome = sandbox.stamp(&[]).expect(4).says(&["deep.yaml:1:", "nests too deep"]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1, "{}", outcome.stderr);
}
