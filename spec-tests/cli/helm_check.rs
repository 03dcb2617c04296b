//! `dropforge check CHART` with values, fleets and the options of releases.

use crate::support::Sandbox;

const TEMPLATE: &str = "\
kind: Service
metadata:
  name: {{ .Release.Name }}
region: {{ .Values.region }}
{{- if .Values.tls.enabled }}
secret: {{ .Values.tls.secret.name }}
{{- end }}
";

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '<1.40'\n"),
        ("c/values.yaml", "image: nginx\ntls: {enabled: false}\n"),
        ("c/values.schema.json", r#"{"required": ["region"], "properties": {"image": {"type": "string"}}}"#),
        ("c/templates/service.yaml", TEMPLATE),
        ("fleet.ndjson", "{\"name\": \"eu-1\", \"region\": \"eu\"}\n{\"name\": \"us-1\", \"region\": \"us\"}\n"),
    ])
}

const CHECK: [&str; 4] = ["check", "c", "--fleet", "fleet.ndjson"];

#[test]
fn a_chart_is_checked_with_the_values_of_every_cluster() {
    let sandbox = sandbox();
    sandbox.run(&["check", "c"]).expect(0).says(&["missing property 'region'", "1 warning", "`--fleet`"]);
    sandbox.run(&CHECK).expect(0).says(&["checked 1 template: no errors"]);
    sandbox.write(
        "fleet.ndjson",
        "{\"name\": \"eu-1\", \"region\": \"eu\", \"image\": 5}\n\
         {\"name\": \"us-1\", \"region\": \"us\", \"tls\": {\"enabled\": true}}\n{\"name\": \"us-2\", \"region\": \"us\"}\n",
    );
    let found = sandbox.run(&CHECK).expect(1);
    let found = found.says(&["at '/image': got number, want string", "cluster: eu-1"]);
    found.says(&[
        "nil pointer evaluating interface {}.name",
        "c/templates/service.yaml:6:",
        "cluster: us-1",
        "2 errors",
    ]);
    sandbox.run(&[&CHECK[..], &["-l", "name=us-2"]].concat()).expect(0);
    sandbox.run(&[&CHECK[..], &["-l", "name=x"]].concat()).expect(2).says(&["selects none of 3 clusters"]);
    // Values and other templates in the same run.
    sandbox.write("t/a.txt.tera", "{{ image }} {{ regoin }}\n");
    let args = ["check", "c", "t", "--fleet", "fleet.ndjson", "--set", "tls.secret.name=x,image=a"];
    sandbox.run(&args).expect(1).says(&["nothing gives `regoin`", "checked 2 templates: 1 error"]);
    // The project gives the fleet, too.
    sandbox.write("dropforge.toml", "templates = [\"c\"]\nfleet = [\"fleet.ndjson\"]\n");
    sandbox.run(&["check"]).expect(1).says(&["cluster: eu-1", "2 errors"]);
}

#[test]
fn a_chart_is_not_checked_without_its_fleet() {
    let sandbox = sandbox();
    sandbox.write("broken.yaml", "jobName: {{{\n");
    sandbox.run(&["check", "c", "--fleet", "none.yaml"]).expect(1).says(&["cannot read `none.yaml`"]);
    sandbox.run(&["check", "c", "--fleet", "broken.yaml"]).expect(1).says(&["broken.yaml:1:12"]);
    sandbox.write("c/templates/service.yaml", "{{ if }}\n");
    let found = sandbox.run(&CHECK).expect(1).says(&["c/templates/service.yaml:1:", "checked 1 template: 2 errors"]);
    assert!(!found.stderr.contains("2 clusters"), "{}", found.stderr);
    sandbox.write("c/templates/service.yaml", "a: {{ .Values.imge }}\n");
    sandbox.write("empty.ndjson", "");
    sandbox.run(&["check", "c", "--fleet", "empty.ndjson"]).expect(0);
    let found = sandbox.run(&CHECK).expect(0).says(&["nothing gives `.Values.imge`", "cluster: eu-1", "1 warning"]);
    assert_eq!(found.stderr.matches("nothing gives").count(), 1, "{}", found.stderr);
    sandbox.write("c/templates/service.yaml", "kind: A\nkind: B\n");
    sandbox.run(&CHECK).expect(0).says(&["the key `kind` is given twice", "1 warning"]);
}

#[test]
fn options_of_releases_schemas_and_languages_count() {
    let sandbox = sandbox();
    let check = |more: &[&str]| sandbox.run(&[&["check", "c", "--set", "region=eu"], more].concat());
    let newer = check(&["--kube-version", "1.41"]).expect(1);
    newer.says(&["incompatible with Kubernetes v1.41", "for example with `--kube-version"]);
    sandbox.write("schema.json", r#"{"properties": {"region": {"enum": ["us"]}}}"#);
    check(&["--schema", "schema.json"]).expect(1).says(&["`region` does not fit `schema.json`"]);
    let of_fleet = [&CHECK[..], &["--schema", "schema.json"]].concat();
    sandbox.run(&of_fleet).expect(1).says(&["`region` does not fit `schema.json`", "cluster: eu-1"]);
    for option in
        [&["--lang", "tera"][..], &["--include-root", "c"], &["--missing-key", "zero"], &["--schema-defaults"]]
    {
        check(option).expect(2).says(&[&format!("`{}` does not apply to `c`: it is a Helm chart", option[0])]);
    }
    sandbox.write("fleet.ndjson", "{\"name\": \"EU_1\", \"region\": \"eu\"}\n");
    sandbox.run(&CHECK).expect(1).says(&["`EU_1` cannot be the name of a release"]);
    sandbox.run(&[&CHECK[..], &["--name", "web", "-n", "shop"]].concat()).expect(0);
    sandbox.write("t/a.yaml.tera", "a: 1\n");
    sandbox.run(&["check", "t", "-n", "shop"]).expect(2).says(&["`--namespace` does not apply to `t`"]);
}

#[test]
fn schemas_of_charts_and_their_dependencies_are_skipped_on_request() {
    let sandbox = sandbox();
    let dependency = "apiVersion: v2\nname: db\nversion: 1.0.0\n";
    sandbox.write("c/charts/db/Chart.yaml", dependency);
    sandbox.write("c/charts/db/values.schema.json", r#"{"properties": {"size": {"type": "integer"}}}"#);
    sandbox.write("c/charts/db/templates/db.yaml", "kind: Db\nsize: {{ .Values.size }}\n");
    // Two releases of one form: the second one is checked as such.
    let fleet = "{\"name\": \"a\", \"image\": 5}\n{\"name\": \"b\", \"image\": 6}\n{\"name\": \"c\", \"image\": 7}\n";
    sandbox.write("fleet.ndjson", fleet);
    let commands: [&[&str]; 4] = [
        &["render", "c"],
        &["check", "c"],
        &["check", "c", "--fleet", "fleet.ndjson"],
        &["stamp", "c", "--fleet", "fleet.ndjson", "-o", "out"],
    ];
    for command in commands {
        let run = |more: &[&str]| sandbox.run(&[command, &["--set", "db.size=x"], more].concat());
        let refused = run(&[]);
        assert!(refused.code != 0, "{command:?}");
        refused.says(&["missing property 'region'", "got string, want integer"]);
        run(&["--skip-schema-validation"]).expect(0);
        run(&["--no-schema"]).expect(0);
    }
    assert!(sandbox.read("out/c/charts/db/db.yaml").contains("\nsize: x\n"));
    sandbox.write("dropforge.toml", "templates = [\"c\"]\nfleet = [\"fleet.ndjson\"]\n[checks]\nno-schema = true\n");
    sandbox.run(&["check"]).expect(0);
}
