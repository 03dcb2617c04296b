//! Go templates outside charts: files named `*.gotmpl`.

use crate::support::{Sandbox, outcome};

const APP: &str = "name: {{ .name | quote }}\nimage: {{ printf \"%s:%v\" .image.name .image.tag }}\n\
                   {{- range $key, $value := .labels }}\n{{ $key }}: {{ $value | upper }}\n{{- end }}\n";

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("app.yaml.gotmpl", APP),
        ("values.yaml", "name: api\nimage: {name: web, tag: 3}\nlabels: {b: x, a: y}\n"),
        ("fleet.ndjson", "{\"name\": \"eu-1\"}\n{\"name\": \"us-1\", \"image\": {\"tag\": 4}}\n"),
    ])
}

#[test]
fn files_render_with_values_as_the_dot() {
    let sandbox = sandbox();
    let args = ["render", "app.yaml.gotmpl", "-f", "values.yaml", "--set", "image.tag=v2"];
    let text = sandbox.run(&args).expect(0).stdout;
    assert_eq!(text, "name: \"api\"\nimage: web:v2\na: Y\nb: X\n");
    // Templates beside each other share their definitions.
    sandbox.write("t/app.gotmpl", "{{ template \"name\" . }}{{ include \"name\" . | upper }}");
    sandbox.write("t/lib.gotmpl", "{{ define \"name\" }}n-{{ .name }}{{ end }}");
    assert_eq!(sandbox.run(&["render", "t/app.gotmpl", "-I", "t", "--set", "name=x"]).expect(0).stdout, "n-xN-X");
}

#[test]
fn fleets_artifacts_and_checks_take_them() {
    let sandbox = sandbox();
    let stamp = |template: &str, out: &str| {
        sandbox.run(&["stamp", template, "--fleet", "fleet.ndjson", "-f", "values.yaml", "-o", out]).expect(0);
        sandbox.tree(out).into_iter().filter(|(name, _)| !name.starts_with('.')).collect::<Vec<_>>()
    };
    let made = stamp("app.yaml.gotmpl", "out");
    assert_eq!(made[1].0, "us-1/app.yaml");
    assert_eq!(made[1].1, "name: \"us-1\"\nimage: web:4\na: Y\nb: X\n");
    sandbox.run(&["compile", "app.yaml.gotmpl", "-o", "app.mpk"]).expect(0);
    assert_eq!(stamp("app.mpk", "again"), made);
    sandbox.run(&["check", "app.yaml.gotmpl"]).expect(0).says(&["checked 1 template: no errors"]);
    let found = sandbox.run(&["check", "app.yaml.gotmpl", "--set", "name=a", "--set", "image.nme=b"]);
    found.says(&["nothing gives `.image.name`", "did you mean `.image.nme`?"]);
    sandbox.write("bad.gotmpl", "{{ if }}{{ end }}\n{{ quot .x }}\n");
    sandbox.run(&["check", "bad.gotmpl"]).expect(1).says(&["bad.gotmpl:1:7", "did you mean `quote`?", "2 errors"]);
}

#[test]
fn missing_keys_are_what_the_option_says() {
    let sandbox = sandbox();
    sandbox.write("a.gotmpl", "[{{ .nme }}]");
    sandbox.write("b.gotmpl", "[{{ .nme.x }}]");
    let render = |file: &str, mode: &[&str]| sandbox.run(&[&["render", file, "-f", "values.yaml"], mode].concat());
    let with = |mode: &'static str| ["--missing-key", mode];
    assert_eq!(render("a.gotmpl", &[]).expect(0).stdout, "[]");
    for mode in ["default", "zero"] {
        assert_eq!(render("a.gotmpl", &with(mode)).expect(0).stdout, "[<no value>]");
    }
    assert_eq!(render("b.gotmpl", &with("default")).expect(0).stdout, "[<no value>]");
    for mode in [&[][..], &with("zero")] {
        let says = ["nil pointer evaluating interface {}.x", "`.` has no `nme`", "did you mean `.name`?"];
        render("b.gotmpl", mode).expect(1).says(&says);
    }
    let says = ["map has no entry for key \"nme\"", "did you mean `.name`?", "available: image, labels, name"];
    render("a.gotmpl", &with("error")).expect(1).says(&says);
    sandbox.write("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    sandbox.run(&["render", "c", "--missing-key", "zero"]).expect(2).says(&["`--missing-key` does not apply to `c`"]);
    sandbox.write("dropforge.toml", "[helm]\nmissing-key = \"error\"\n");
    render("a.gotmpl", &["--project", "dropforge.toml"]).expect(1).says(&["map has no entry"]);
}

#[test]
fn the_clock_stands_where_a_reproducible_build_sets_it() {
    let sandbox = sandbox();
    sandbox.write("a.gotmpl", "{{ now | date \"2006-01-02\" }} {{ now.Unix }}");
    sandbox.write("a.tera", "{{ now(timestamp=true) }}");
    sandbox.write("a.hcl.tpl", "${timestamp()}");
    sandbox.write("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    sandbox.write("c/templates/a.yaml", "at: {{ now.Unix }}\n");
    let at = |args: &[&str]| {
        let mut command = sandbox.command(&[args, &["--allow", "clock"]].concat());
        command.env("SOURCE_DATE_EPOCH", "1700000000").env("TZ", "UTC");
        outcome(command).expect(0).stdout
    };
    assert_eq!(at(&["render", "a.gotmpl"]), "2023-11-14 1700000000");
    assert_eq!(at(&["render", "a.tera"]), "1700000000");
    assert_eq!(at(&["render", "a.hcl.tpl", "--lang", "hcl"]), "2023-11-14T22:13:20Z");
    assert!(at(&["render", "c"]).contains("at: 1700000000\n"));
}
