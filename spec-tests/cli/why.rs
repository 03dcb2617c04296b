//! `dropforge why`.

use crate::support::{Outcome, Sandbox};

const TEMPLATE: &str = "{% macro label(k, v) %}  {{ k }}: {{ v }}{% endmacro label -%}
kind: Deployment
metadata:
  name: {{ app.name }}
{{ self::label(k=\"region\", v=region) }}
spec:
  replicas: {{ replicas }}
  {%- if ports %}
  ports:
  {%- for port in ports %}
  - {{ port }}
  {%- endfor %}
  {%- endif %}
";

/// A fleet of two clusters, stamped to `out`.
fn fleet() -> Sandbox {
    let sandbox = Sandbox::with(&[
        ("templates/app.yaml.tera", TEMPLATE),
        ("values.yaml", "app:\n  name: web\nreplicas: 2\nregion: none\nports: [80, 443]\n"),
        ("fleet.csv", "name,region,replicas\neu-1,eu,3\nus-1,us,2\n"),
    ]);
    stamp(&sandbox, &[]).expect(0);
    sandbox
}

fn stamp(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    let args = ["stamp", "templates", "--fleet", "fleet.csv", "-f", "values.yaml", "-o", "out"];
    sandbox.run(&[&args, more].concat())
}

/// Returns the answer without the lines of places and origins.
fn told(sandbox: &Sandbox, args: &[&str]) -> String {
    sandbox.run(&[&["why"], args].concat()).expect(0).stdout
}

#[test]
fn a_line_leads_to_its_template_and_its_values() {
    let sandbox = fleet();
    let expected = "out/eu-1/app.yaml:6:13 (cluster `eu-1`)
    replicas: 3
              ^
written by  replicas
              at templates/app.yaml.tera:7:16
value of    replicas = `3`
              from cluster `eu-1` (fleet.csv:2:9)
              over values.yaml:3:11
";
    assert_eq!(told(&sandbox, &["out/eu-1/app.yaml:6"]), expected);
    let expected = "out/us-1/app.yaml:9:5 (cluster `us-1`)
    - 443
      ^
written by  port
              at templates/app.yaml.tera:11:8
in the loop ports, item [1]
              at templates/app.yaml.tera:10:19
            ports[1] = `443`
              from values.yaml:5:13
because     ports is true
              at templates/app.yaml.tera:8:10
            ports = `[80,443]`
              from values.yaml:5:8
value of    ports[1] = `443`
              from values.yaml:5:13
";
    assert_eq!(told(&sandbox, &["out/us-1/app.yaml:9"]), expected);
    let expected = "out/eu-1/app.yaml:4:11 (cluster `eu-1`)
    region: eu
            ^
written by  v
              at templates/app.yaml.tera:1:38
called by   self::label(k=\"region\", v=region)
              at templates/app.yaml.tera:5:4
value of    region = `\"eu\"`
              from cluster `eu-1` (fleet.csv:2:6)
              over values.yaml:4:9
";
    assert_eq!(told(&sandbox, &["out/eu-1/app.yaml:4"]), expected);
}

#[test]
fn the_answer_can_be_json() {
    let sandbox = fleet();
    let answer: serde_json::Value = serde_json::from_str(&told(&sandbox, &["out/us-1/app.yaml:9", "--json"])).unwrap();
    assert_eq!(answer["cluster"], "us-1");
    assert_eq!(answer["written"][0]["file"], "templates/app.yaml.tera");
    assert_eq!(answer["within"][0]["kind"], "condition");
    assert_eq!(answer["within"][1]["item"], "[1]");
    assert_eq!(answer["inputs"][0]["origins"][0], "values.yaml:5:13");
}

#[test]
fn it_runs_from_elsewhere_and_tells_what_changed() {
    let sandbox = fleet();
    sandbox.write("other/x", "");
    let why = |place: &str| {
        let mut command = sandbox.command(&["why", place]);
        command.current_dir(sandbox.path("other"));
        crate::support::outcome(command)
    };
    assert!(why("../out/eu-1/app.yaml:6").expect(0).stdout.contains("from cluster `eu-1` (fleet.csv:2:9)"));
    // The line is found in what the run would write now.
    sandbox.write("values.yaml", "app: {name: api}\nreplicas: 2\nregion: none\nports: [79, 80, 443]\n");
    let text = why("../out/eu-1/app.yaml:9").expect(0).stdout;
    assert!(text.contains("the run writes it as line 10 now") && text.contains("item [2]"), "{text}");
    let text = why("../out/eu-1/app.yaml:3").expect(0).stdout;
    assert!(text.contains("  name: api\n") && text.contains("the run writes it like this now\n"), "{text}");
    sandbox.write("out/eu-1/app.yaml", "kind: Deployment\nown\n");
    why("../out/eu-1/app.yaml:1").expect(0).says(&["was changed after it was written"]);
    why("../out/eu-1/app.yaml:2").expect(2).says(&["line 2 of ../out/eu-1/app.yaml is not what the run writes now"]);
}

#[test]
fn values_of_options_are_neither_kept_nor_shown() {
    let sandbox = fleet();
    stamp(&sandbox, &["--set", "app.name=hunter2,app.x=1", "--set-string", "region=eu"]).expect(0);
    let state = sandbox.state("out");
    assert!(!state.contains("hunter2") && state.contains("app.name,app.x"), "{state}");
    let place = "out/us-1/app.yaml:3";
    let outcome = sandbox.run(&["why", place]).expect(0);
    assert!(outcome.stdout.contains("the run writes it like this now\n"), "{}", outcome.stdout);
    outcome.says(&["2 values that the state does not keep", "--set app.name,app.x=…"]);
    let sets = ["--set", "app.name=hunter2,app.x=1", "--set-string", "region=eu"];
    let outcome = sandbox.run(&[&["why", place], &sets[..]].concat()).expect(0);
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("from --set app.name\n"), "{}", outcome.stdout);
    let other = ["--set", "app.name=hunter2,app.x=2", "--set-string", "region=eu"];
    sandbox
        .run(&[&["why", place], &other[..]].concat())
        .expect(0)
        .says(&["the run set `app.name,app.x` to another value"]);
}

#[test]
fn secrets_of_schemas_are_not_shown() {
    let sandbox = Sandbox::with(&[
        (
            "t/a.yaml.tera",
            "host: {{ db.host }}\npassword: {{ db.password }}\n{% if db.password == \"hunter2\" %}a: 1\n{% endif %}{% for k, v in db %}m-{{ k }}: {{ v | upper }}\n{% endfor %}",
        ),
        ("t/values.schema.json", r#"{"properties": {"db": {"properties": {"password": {"writeOnly": true}}}}}"#),
        ("v.yaml", "db: {host: h, password: hunter2}\n"),
    ]);
    sandbox.run(&["render", "t", "-f", "v.yaml", "-o", "out"]).expect(0);
    let line = |line: usize| told(&sandbox, &[&format!("out/a.yaml:{line}")]);
    assert!(line(1).contains("`\"h\"`"));
    for secret in [2, 3, 5] {
        let text = line(secret);
        assert!(text.contains("db.password, which the schema marks secret\n"), "{text}");
        assert!(!text.to_lowercase().contains("hunter2"), "{text}");
    }
    assert!(line(2).contains("  password: …\n"));
}

#[test]
fn sensitive_variables_are_not_shown() {
    let sandbox = Sandbox::with(&[
        ("a.tftpl", "token: ${token}\nport: ${port}\n"),
        ("variables.tf", "variable \"token\" {\n  sensitive = true\n}\nvariable \"port\" {}\n"),
        ("v.yaml", "token: hunter2\nport: 80\n"),
    ]);
    let render = ["--", "render", "a.tftpl", "-f", "v.yaml", "--var-types", "variables.tf"];
    let line = |line: &str| told(&sandbox, &[&[line], &render[..]].concat());
    let secret = line(":1");
    assert!(secret.contains("token: …\n") && secret.contains("secret") && !secret.contains("hunter2"), "{secret}");
    assert!(line(":2").contains("port = `80`"));
}

#[test]
fn conditions_are_shown_with_their_comparisons() {
    for (name, text, condition) in [
        ("a.tera", "{% if env == \"prod\" %}a{% else %}b{% endif %}\n", "env == \"prod\" is false"),
        ("a.tera", "{% if not env != 'prod' %}a{% else %}b{% endif %}\n", "not env != 'prod' is false"),
        ("a.tera", "{% if not n > 3 or not env in ['x'] %}a{% else %}b{% endif %}\n", "env in ['x'] is false"),
        ("a.tftpl", "%{ if env == \"prod\" }a%{ else }b%{ endif }\n", "env == \"prod\" is false"),
        ("a.gotmpl", "{{ if eq .env \"prod\" }}a{{ else }}b{{ end }}\n", "eq .env \"prod\" is false"),
        ("a.cel.yaml", "a:\n  $if: env != 'prod'\n  $then: 1\n", "env != 'prod' is true"),
    ] {
        let sandbox = Sandbox::with(&[(name, text)]);
        let trace = sandbox.run(&["trace", name, "--set", "env=dev,n=9", "-q"]).expect(0).stdout;
        assert!(trace.contains(&format!("{condition}: env = `\"dev\"`")), "{trace}");
    }
}

#[test]
fn templates_among_the_values_are_named() {
    let sandbox = Sandbox::with(&[
        ("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("web/values.yaml", "port: 81\nconf: |\n  a: {{ .Values.port }}\n  b: 2\n"),
        ("web/templates/a.yaml", "d:\n  {{- tpl .Values.conf . | nindent 2 }}\n"),
        ("bad.yaml", "conf: '{{ fail \"no\" }}'\n"),
        ("fleet.ndjson", "{\"name\": \"eu\"}\n"),
    ]);
    let stamp = ["stamp", "web", "--fleet", "fleet.ndjson", "-o", "out"];
    sandbox.run(&stamp).expect(0);
    let text = told(&sandbox, &["out/eu/a.yaml:5"]);
    assert!(text.contains("at gotpl:2:1\n") && text.contains("text of     .Values.conf\n"), "{text}");
    assert!(text.ends_with("from web/values.yaml:2:1\n"), "{text}");
    let failed = sandbox.run(&[&stamp[..], &["-f", "bad.yaml"]].concat()).expect(4).stderr;
    assert!(failed.contains("`web/templates/a.yaml` failed for"), "{failed}");
}

#[test]
fn whole_numbers_of_charts_have_no_fraction() {
    let sandbox = Sandbox::with(&[
        ("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("web/values.yaml", "port: 81\nratio: 2.5\nports: [1]\n"),
        (
            "web/templates/a.yaml",
            "{{ if and (gt .Values.port 80.0) .Values.ratio }}{{ range .Values.ports }}a: {{ . }}{{ end }}{{ end }}\n",
        ),
    ]);
    let text = sandbox.run(&["trace", "web"]).expect(0).stdout;
    for part in [".Values.port = `81`\n", ".Values.ratio = `2.5`\n", ".Values.ports[0] = `1`\n"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn charts_lead_to_values_of_files_clusters_and_defaults() {
    let sandbox = Sandbox::of_example("helm");
    sandbox.run(&["stamp", "web", "--fleet", "fleet.ndjson", "-f", "prod.yaml", "-o", "out"]).expect(0);
    let text = sandbox.read("out/eu-1/ingress.yaml");
    let line = text.lines().position(|line| line.contains("secretName")).unwrap() + 1;
    let text = told(&sandbox, &[&format!("out/eu-1/ingress.yaml:{line}")]);
    for part in [
        "passed by   include \"web.fullname\" .\n",
        "because     contains .Chart.Name .Release.Name is false\n              at web/templates/_helpers.tpl:",
        "            .Values.ingress.enabled = `true`\n              from cluster `eu-1` (fleet.ndjson:1:41)\n              over prod.yaml:",
        "made from   .Release.Name = `\"eu-1\"`\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let text = sandbox.read("out/eu-1/deployment.yaml");
    let line = text.lines().position(|line| line.contains("memory")).unwrap() + 1;
    let text = told(&sandbox, &[&format!("out/eu-1/deployment.yaml:{line}")]);
    assert!(
        text.contains("value of    .Values.resources.limits.memory\n              from web/values.yaml:"),
        "{text}"
    );
    for (line, text) in [(1, "---"), (2, "# Source: web/templates/deployment.yaml")] {
        let told = told(&sandbox, &[&format!("out/eu-1/deployment.yaml:{line}")]);
        assert!(told.contains(&format!("  {text}\n")), "{told}");
        assert!(told.ends_with("begins      a document of web/templates/deployment.yaml\n"), "{told}");
    }
    // What the command prints has no state.
    let rendered = sandbox.run(&["render", "web", "-f", "prod.yaml", "--name", "x"]).expect(0).stdout;
    let line = rendered.lines().position(|line| line.contains("memory")).unwrap() + 1;
    let text = told(&sandbox, &[&format!(":{line}"), "--", "render", "web", "-f", "prod.yaml", "--name", "x"]);
    assert!(text.contains(".Values."), "{text}");
}

#[test]
fn documents_in_files_of_their_own_are_found() {
    let sandbox = Sandbox::with(&[
        ("t/all.yaml.tera", "kind: A\nname: a\n---\nkind: B\nname: {{ name }}\n"),
        ("t/doc.cel.yaml", "kind: C\nname:\n  $if: \"true\"\n  $then:\n    x: 1\nvalue: ${name + \"-x\"}\n"),
        ("fleet.yaml", "- {name: eu}\n- {name: us}\n"),
    ]);
    let layout = "{cluster}/{kind}.yaml";
    sandbox.run(&["stamp", "t", "--fleet", "fleet.yaml", "-o", "out", "--layout", layout]).expect(0);
    let tree = sandbox.tree("out");
    assert!(tree.contains_key("us/B.yaml") || tree.contains_key("us/b.yaml"), "{:?}", tree.keys());
    let file = tree.keys().find(|path| path.eq_ignore_ascii_case("us/b.yaml")).unwrap();
    assert!(told(&sandbox, &[&format!("out/{file}:2")]).contains("from cluster `us` (fleet.yaml:2:"));
    let file = tree.keys().find(|path| path.eq_ignore_ascii_case("eu/c.yaml")).unwrap();
    let map = told(&sandbox, &[&format!("out/{file}:2")]);
    assert!(map.contains("written by  x: 1\n"), "{map}");
    let text = told(&sandbox, &[&format!("out/{file}:4")]);
    assert!(text.contains("written by  name + \"-x\"") && text.contains("made from   name = `\"eu\"`"), "{text}");
}

#[test]
fn mistakes_are_named() {
    let sandbox = fleet();
    let why = |place: &str| sandbox.run(&["why", place]);
    why("out/eu-1/app.yaml").expect(2).says(&["E0921", "names no line", "FILE:LINE"]);
    why("out/eu-1/app.yaml:0").expect(2).says(&["names no line"]);
    why("out/eu-1/app.yaml:99").expect(2).says(&["so no line 99"]);
    why("out/eu-1/app.yaml:1:99").expect(2).says(&["so no column 99"]);
    why("out/none.yaml:1").expect(1).says(&["out/none.yaml"]);
    why("values.yaml:1").expect(2).says(&["no directory above `values.yaml` has a state"]);
    why(":1").expect(2).says(&["no file and no command"]);
    sandbox.write("out/extra.yaml", "a: 1\n");
    why("out/extra.yaml:1").expect(2).says(&["does not list `extra.yaml`"]);
    sandbox.run(&["why", ":1", "--", "check", "templates"]).expect(2).says(&["only `stamp` and `render`"]);
    sandbox.run(&["why", ":1", "--", "render", "none.tera"]).expect(1).says(&["none.tera"]);
}

#[test]
fn a_trace_is_cut_after_its_limit() {
    let sandbox = Sandbox::with(&[("t.tera", "{% for i in range(end=n) %}x{% endfor %}")]);
    for (turns, is_cut) in [(20_000, false), (20_001, true)] {
        let trace = sandbox.run(&["trace", "t.tera", "--all", "--set", &format!("n={turns}")]).expect(0).stdout;
        assert_eq!(trace.matches("loop").count(), 20_000);
        assert_eq!(trace.contains("the run goes on"), is_cut, "{turns}");
    }
}

#[test]
fn a_trace_shows_conditions_loops_and_calls_with_their_values() {
    let sandbox = fleet();
    let trace = |more: &[&str]| {
        let args = ["trace", "templates/app.yaml.tera", "-f", "values.yaml"];
        sandbox.run(&[&args, more].concat())
    };
    let expected = "app.yaml.tera
  templates/app.yaml.tera:5:4 call self::label(k=\"region\", v=region)
  templates/app.yaml.tera:8:10 ports is true: ports = `[80,443]`
    templates/app.yaml.tera:10:19 loop ports, item [0]: ports[0] = `80`, and 1 more that went the same way
";
    assert_eq!(trace(&[]).expect(0).stdout, expected);
    let all = trace(&["--all"]).expect(0).stdout;
    assert!(all.ends_with("    templates/app.yaml.tera:10:19 loop ports, item [1]: ports[1] = `443`\n"), "{all}");
    let rows: Vec<serde_json::Value> =
        trace(&["--json"]).expect(0).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), &rows[2]["depth"], &rows[2]["times"]), (3, &1.into(), &2.into()));
    assert_eq!(rows[1]["inputs"][0]["origins"][0], "values.yaml:5:8");
    let steps = trace(&["--step"]).expect(0).stdout;
    assert!(steps.contains("load_path region  ; `\"none\"`\n"), "{steps}");
    // Up to the error.
    sandbox.write("bad.tera", "{% for n in [1, 2, 0] %}{% if n > 1 %}a{% endif %}{{ n }}{% endfor %}{{ x.y }}");
    let outcome = sandbox.run(&["trace", "bad.tera"]).expect(1).says(&["E0201", "`x`"]);
    assert_eq!(outcome.stdout.matches("loop").count(), 3, "{}", outcome.stdout);
    let chart = Sandbox::of_example("helm");
    let text = chart.run(&["trace", "web", "-f", "prod.yaml"]).expect(0).stdout;
    assert!(text.contains(".Values.ingress.enabled is true: .Values.ingress.enabled = `true`\n"), "{text}");
    chart.run(&["trace", "none"]).expect(1).says(&["none"]);
}
