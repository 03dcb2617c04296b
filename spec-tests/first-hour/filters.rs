//! Filters that Kubernetes manifests need in `tera`, the list of functions, and hints for habits from Helm.

use serde_json::Value;

use crate::support::Sandbox;

const DEPLOYMENT: &str = "labels:\n  {{ labels | to_yaml(indent=2) }}\nport: {{ port | quote }}\ntag: {{ image.tag | coalesce(with='latest') }}\n";

const VALUES: &str = "labels: {on: 'yes', app: web}\nport: 8080\nimage: {name: web}\n";

fn sandbox() -> Sandbox {
    Sandbox::with(&[("t/a.yaml.tera", DEPLOYMENT), ("v.yaml", VALUES), ("fleet.ndjson", "{\"name\":\"eu\"}\n")])
}

#[test]
fn manifests_have_the_filters_they_need() {
    let sandbox = sandbox();
    let wanted = "labels:\n  app: web\n  \"on\": \"yes\"\nport: \"8080\"\ntag: latest\n";
    assert_eq!(sandbox.run(&["render", "t/a.yaml.tera", "-f", "v.yaml"]).expect(0).stdout, wanted);
    sandbox.stamp(&["-f", "v.yaml"]).expect(0);
    assert_eq!(sandbox.read("out/eu/a.yaml"), wanted);
}

#[test]
fn a_required_value_fails_with_the_message_of_the_template_at_its_place() {
    let sandbox = Sandbox::with(&[("a.tera", "name: x\ntag: {{ image.tag | required(message='set image.tag') }}\n")]);
    sandbox.run(&["render", "a.tera"]).expect(1).says(&["E0404", "set image.tag", "a.tera:2:", "is missing"]);
    sandbox.run(&["render", "a.tera", "--set", "image.tag="]).expect(1).says(&["set image.tag", "an empty string"]);
    assert_eq!(sandbox.run(&["render", "a.tera", "--set", "image.tag=v1"]).expect(0).stdout, "name: x\ntag: v1\n");
}

#[test]
fn plain_tera_is_checked_with_all_that_is_beyond_it() {
    let sandbox = sandbox();
    sandbox.run(&["check", "t"]).expect(0);
    let checked = sandbox.run(&["check", "t", "--tera", "plain"]).expect(1);
    checked.says(&[
        "`to_yaml` is a filter beyond Tera",
        "a.yaml.tera:2:",
        "`quote` is a filter beyond Tera",
        "a.yaml.tera:3:",
        "`coalesce` is a filter beyond Tera",
        "a.yaml.tera:4:",
        "3 errors",
    ]);
    let plain = ["render", "t/a.yaml.tera", "-f", "v.yaml", "--tera", "plain"];
    sandbox.run(&plain).expect(1).says(&["E0401", "`to_yaml`", "--tera plus"]);
    sandbox.stamp(&["-f", "v.yaml", "--tera", "plain"]).expect(1).says(&["E0401"]);
    sandbox.write("t/a.yaml.tera", "{{ port | upper | default(value=1) }}");
    sandbox.run(&["check", "t", "--tera", "plain"]).expect(0);
    sandbox.run(&["check", "t", "--tera", "simple"]).expect(2).says(&["plain"]);
}

#[test]
fn an_artifact_keeps_the_filters_it_was_compiled_with() {
    let sandbox = sandbox();
    sandbox.run(&["compile", "t", "-o", "p.mpk", "--tera", "plain"]).expect(1).says(&["`to_yaml` not found"]);
    sandbox.run(&["compile", "t", "-o", "a.mpk"]).expect(0);
    let rendered = sandbox.run(&["render", "a.mpk", "-f", "v.yaml"]).expect(0);
    assert!(rendered.stdout.contains("tag: latest"), "{}", rendered.stdout);
    let refused = sandbox.run(&["render", "a.mpk", "-f", "v.yaml", "--tera", "plain"]).expect(2);
    refused.says(&["`--tera` does not apply to the artifact", "dropforge compile"]);
}

#[test]
fn the_cache_keeps_plain_templates_apart() {
    let sandbox = Sandbox::with(&[("a.tera", "{% if false %}{{ 1 | to_yaml }}{% endif %}{{ 1 }}")]);
    let render = |more: &[&str]| sandbox.run(&[&["render", "a.tera", "--cache-dir", "cache", "-v"][..], more].concat());
    render(&[]).expect(0).says(&["compiled"]);
    render(&[]).expect(0).says(&["loaded from the cache"]);
    render(&["--tera", "plain"]).expect(1).says(&["`to_yaml` not found"]);
    render(&["--tera", "plus"]).expect(0).says(&["loaded from the cache"]);
}

#[test]
fn a_declared_filter_wins_over_the_builtin_of_its_name() {
    let sandbox = Sandbox::with(&[("a.tera", "{{ name | quote(style='x') }}")]);
    sandbox.run(&["check", "a.tera", "--declare", "filter:quote", "--tera", "plain"]).expect(0);
    let rendered = sandbox.run(&["render", "a.tera", "--declare", "filter:quote", "--set", "name=a"]).expect(1);
    rendered.says(&["`quote` is declared here, not defined"]);
}

#[test]
fn functions_of_every_language_are_listed_and_documented() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["functions"]).expect(0).stdout;
    for part in [
        "tera  filter   value | to_yaml(indent=0)",
        "hcl   function cidrhost(prefix: string, hostnum: number) → string",
        "string.charAt(int) → string",
    ] {
        assert!(list.contains(part), "no {part:?} in {list}");
    }
    let hcl = sandbox.run(&["functions", "--lang", "hcl"]).expect(0).stdout;
    assert!(hcl.lines().count() > 50 && hcl.lines().all(|line| line.starts_with("hcl ")), "{hcl}");
    let page = sandbox.run(&["functions", "merge"]).expect(0).stdout;
    for part in [
        "filter `merge` (tera)",
        "value | merge(with)",
        "Not in Tera itself",
        "function `merge` (hcl)",
        "function `merge` (cel)",
        "→ ",
    ] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    let default = sandbox.run(&["functions", "default", "--lang", "tera"]).expect(0).stdout;
    assert!(default.contains("variable | default(value)"), "{default}");
    let test = sandbox.run(&["functions", "divisibleby"]).expect(0).stdout;
    assert!(test.contains("value is divisibleby(divisor") && !test.contains("excess"), "{test}");
    let now = sandbox.run(&["functions", "now", "--lang", "tera"]).expect(0).stdout;
    assert!(now.contains("Needs `--allow clock`"), "{now}");
}

#[test]
fn functions_are_listed_as_json() {
    let sandbox = Sandbox::new();
    let json = |args: &[&str]| -> Vec<Value> {
        let printed = sandbox.run(&[&["functions", "--json"][..], args].concat()).expect(0).stdout;
        serde_json::from_str(&printed).unwrap()
    };
    let all = json(&[]);
    for (lang, least) in [("tera", 80), ("helm", 200), ("hcl", 100), ("cel", 100)] {
        assert!(all.iter().filter(|row| row["language"] == lang).count() >= least, "{lang}");
    }
    for row in &all {
        let has = |key: &str| row[key].as_array().is_some_and(|list| !list.is_empty());
        assert!(has("signatures") && row["doc"].as_str().is_some_and(|doc| !doc.is_empty()), "{row}");
    }
    assert_eq!(json(&["ternary"]).len(), 2, "of Tera and of Helm");
    let [one] = &json(&["ternary", "--lang", "tera"])[..] else { panic!("one filter") };
    assert_eq!((&one["kind"], &one["beyond_tera"]), (&"filter".into(), &true.into()));
    assert_eq!(one["signatures"][0], "value | ternary(yes, no)");
    assert!(one["examples"][0]["source"].as_str().unwrap().contains("ternary(yes="));
    assert_eq!(json(&["upper", "--lang", "tera"])[0]["beyond_tera"], false);
}

#[test]
fn an_unknown_function_is_answered_with_near_names() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["functions", "to_yml"])
        .expect(2)
        .says(&["no function, filter or test `to_yml`", "did you mean `to_yaml`?"]);
    sandbox.run(&["functions", "toYaml", "--lang", "tera"]).expect(2).says(&["did you mean `to_yaml`?"]);
    sandbox.run(&["functions", "qqqqqqqq"]).expect(2).says(&["`dropforge functions` lists them"]);
    sandbox.run(&["functions", "--lang", "go"]).expect(2);
    assert_eq!(sandbox.run(&["functions", "--lang", "tower"]).expect(0).stdout, "");
}

#[test]
fn habits_from_helm_are_answered_with_what_to_write() {
    let sandbox = Sandbox::new();
    for (template, hint) in [
        ("{{ toYaml .Values.labels | nindent 4 }}", "write `x | to_yaml`"),
        ("{{ labels | toYaml }}", "write `x | to_yaml`"),
        ("{{ labels | nindent 4 }}", "`nindent(n=…)`"),
        ("{{ .Values.image.tag }}", "write `image.tag`"),
        ("{{ Values.image.tag }}", "write `image.tag`"),
        ("{{ include \"labels\" . }}", "{% include \"file\" %}"),
        ("{{- with .Values.labels }}", "{% set x = … %}"),
        ("{% for x in [1] %}{{ loop.length }}{% endfor %}", "`list | length`"),
        ("{{ now() }}", "`--allow clock`"),
    ] {
        sandbox.write("a.tera", template);
        sandbox.run(&["render", "a.tera"]).expect(1).says(&["a.tera:1:", hint]);
    }
}

#[test]
fn a_tab_in_yaml_is_named_at_its_line() {
    let sandbox = Sandbox::with(&[("a.tera", "{{ a }}"), ("v.yaml", "a: 1\nb:\n\tc: 2\n")]);
    sandbox.run(&["render", "a.tera", "-f", "v.yaml"]).expect(1).says(&["v.yaml:3:", "spaces"]);
}
