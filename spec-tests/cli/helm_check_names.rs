//! Names in the templates of a chart that nothing gives: what is a mistake, and what is not.

use crate::support::Sandbox;

const VALUES: &str = "\
image: {repository: nginx, tag: v1}
nameOverride: ''
httpsPort: 443
accessModes: [a]
pods: {extraLabels: {}, extraVolumes: []}
podLabels: {}
podAnnotations: {}
serviceAccountName: web
master: {active: true}
isOff: false
";

/// Uses of names that are given.
const USES: &str = "\
kind: A
{{ .Values.nameOverride }}
x: {{ .Values.httpsPort }} {{ .Values.accessModes }} {{ .Values.pods.extraLabels }} {{ .Values.pods.extraVolumes }}
y: {{ .Values.podLabels }} {{ .Values.serviceAccountName }} {{ .Values.master.active }}
";

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("c/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("c/values.yaml", VALUES),
        ("c/templates/_h.tpl", "{{ define \"show\" }}{{ .Values.given.by.others }}{{ end }}"),
        ("c/templates/uses.yaml", USES),
    ])
}

#[test]
fn names_that_may_be_missing_are_no_mistakes() {
    let sandbox = sandbox();
    for text in [
        // Within a condition that does not hold.
        "{{ if .Values.extra }}a: {{ .Values.extra }}{{ end }}",
        "{{ if and .Values.image.tag .Values.image.digest }}a: {{ .Values.image.digest }}{{ end }}",
        "{{ if or .Values.more .Values.extra }}a: {{ .Values.more }}{{ .Values.extra }}{{ end }}",
        "{{ if not .Values.extra }}{{ else }}a: {{ .Values.extra }}{{ end }}",
        "{{ if .Values.isOff }}a: {{ .Values.other }}{{ else if .Values.extra }}a: {{ .Values.extra }}{{ end }}",
        "{{ with .Values.extra }}a: {{ . }}{{ .x }}{{ else }}a: 1{{ end }}",
        "{{ with .Values.image }}{{ if .digest }}a: {{ .digest }}{{ end }}{{ end }}",
        "{{ $x := .Values.extra }}{{ if $x }}a: {{ $x }} {{ .Values.extra }}{{ end }}",
        "{{ if eq .Values.extra \"on\" }}a: {{ .Values.extra }}{{ .Values.other }}{{ end }}",
        "{{ if ne \"on\" .Values.extra }}{{ else }}a: {{ .Values.other }}{{ end }}",
        "{{ if (and .Values.extra (eq .Values.extra.kind \"a\")) }}a: {{ .Values.other }}{{ end }}",
        "{{ if not (kindIs \"invalid\" .Values.extra) }}a: {{ .Values.extra }}{{ end }}",
        "{{ if hasKey .Values \"extra\" }}a: {{ .Values.extra }}{{ end }}",
        "{{ range .Values.extra }}a: {{ .name }}{{ end }}",
        "{{ range $k, $v := .Values.extra }}a: {{ $.Values.other }}{{ end }}",
        "{{ if .Values.extra }}{{ include \"show\" . }}{{ end }}",
        "# a: {{ .Values.extra }}",
        // With an answer.
        "a: {{ default .Release.Namespace .Values.namespaceOverride }}",
        "a: {{ .Values.namespaceOverride | default .Values.nameOverride | quote }}",
        "a: {{ coalesce .Values.image.digest .Values.image.tag }}",
        "a: {{ or .Values.extra 1 }}",
        "a: {{ ternary .Values.extra 1 .Values.isOff }}",
        "a: {{ (.Values.extra).deep }}",
        // Names of other things that resemble ones that are given and used.
        "{{ if .Values.httpPort }}a: {{ .Values.httpPort }}{{ end }}",
        "{{ if .Values.accessMode }}a: {{ .Values.accessMode }}{{ end }}",
        "{{ with .Values.pods.extraVolumeMounts }}{{ toYaml . }}{{ end }}",
        "{{ if .Values.pods.extraLabel }}a: 1{{ end }}",
        "{{ if .Values.Master }}{{ fail \"`Master` is called `master`\" }}{{ end }}",
        "{{ if .Values.pods.extralabels }}{{ fail \"pods.extralabels is called pods.extraLabels\" }}{{ end }}",
    ] {
        sandbox.write("c/templates/x.yaml", &format!("kind: A\n{text}\n"));
        for command in ["check", "render"] {
            let outcome = sandbox.run(&[command, "c"]).expect(0);
            assert!(!outcome.stderr.contains("warning"), "{text}\n{}", outcome.stderr);
        }
    }
}

#[test]
fn mistakes_are_found_where_a_name_may_be_missing() {
    let sandbox = sandbox();
    for (text, name, near) in [
        ("{{ with .Values.podLables }}a: {{ toYaml . }}{{ end }}", "podLables", "podLabels"),
        ("{{ if .Values.podLables }}a: 1{{ end }}", "podLables", "podLabels"),
        ("{{ range $k, $v := .Values.podLables }}a: {{ $v }}{{ end }}", "podLables", "podLabels"),
        ("{{ if not .Values.podLables }}a: 1{{ end }}", "podLables", "podLabels"),
        ("{{ if and .Values.image .Values.podLables }}a: 1{{ end }}", "podLables", "podLabels"),
        ("a: {{ .Values.service_account_name }}", "service_account_name", "serviceAccountName"),
        ("{{ if .Values.service_account_name }}a: 1{{ end }}", "service_account_name", "serviceAccountName"),
        // Nothing uses the name that is given.
        ("{{ if .Values.podAnnotation }}a: 1{{ end }}", "podAnnotation", "podAnnotations"),
        ("a: {{ default 1 .Values.image.repositry }}", "image.repositry", "image.repository"),
        ("a: {{ .Values.image.repositry | quote }}", "image.repositry", "image.repository"),
        ("{{ $image := .Values.image }}a: {{ $image.repositry | quote }}", "image.repositry", "image.repository"),
        ("{{ with .Values.image }}a: {{ .repositry | quote }}{{ end }}", "repositry", "repository"),
    ] {
        sandbox.write("c/templates/x.yaml", &format!("kind: A\n{text}\n"));
        for command in ["check", "render"] {
            let outcome = sandbox.run(&[command, "c"]).expect(0).says(&[near]);
            assert!(
                outcome.stderr.contains("nothing gives") && outcome.stderr.contains(name),
                "{text}: {}",
                outcome.stderr
            );
            assert_eq!(outcome.stderr.matches("nothing gives").count(), 1, "{text}: {}", outcome.stderr);
        }
    }
}

#[test]
fn a_run_warns_of_what_check_finds_and_writes_nothing_if_it_is_strict() {
    let sandbox = sandbox();
    sandbox.write("c/templates/x.yaml", "image: \"{{ .Values.image.repositry }}:{{ .Values.image.tag }}\"\n{{ if .Values.active }}b: {{ .Values.imge }}{{ end }}\n");
    sandbox.write("fleet.ndjson", "{\"name\": \"a\"}\n{\"name\": \"b\"}\n{\"name\": \"c\", \"active\": true}\n");
    let says = [
        "warning[E0201]: nothing gives `.Values.image.repositry`",
        "did you mean `.Values.image.repository`?",
        "c/templates/x.yaml:1:",
    ];
    let outcome = sandbox.run(&["render", "c"]).expect(0).says(&says);
    assert!(outcome.stdout.contains("image: \":v1\""), "{}", outcome.stdout);
    let stamp = ["stamp", "c", "--fleet", "fleet.ndjson", "-o", "out"];
    let outcome = sandbox.run(&stamp).expect(0).says(&says);
    assert_eq!(outcome.stderr.matches("nothing gives").count(), 1, "{}", outcome.stderr);
    assert_eq!(sandbox.run(&["render", "c", "--strict"]).expect(1).says(&says).stdout, "");
    assert_eq!(sandbox.run(&["render", "c", "-q"]).expect(0).stderr, "");
    // All clusters are looked at then.
    let strict = ["stamp", "c", "--fleet", "fleet.ndjson", "-o", "strict", "--strict"];
    sandbox.run(&strict).expect(1).says(&says).says(&[
        "nothing gives `.Values.imge`",
        "cluster: c",
        "nothing is written: 2 warnings",
    ]);
    assert!(!sandbox.path("strict").exists(), "nothing is written");
    sandbox.run(&["compile", "c", "-o", "c.mpk"]).expect(0);
    sandbox.run(&["render", "c.mpk"]).expect(0).says(&says[..2]);
    // Secrets of the values are not shown.
    sandbox.write(
        "c/values.schema.json",
        "{\"properties\": {\"image\": {\"properties\": {\"repository\": {\"writeOnly\": true}}}}}",
    );
    sandbox.write("c/values.yaml", &VALUES.replace("nginx", "hunter22"));
    let outcome = sandbox.run(&["render", "c"]).expect(0).says(&says[..1]);
    assert!(!outcome.stderr.contains("hunter22"), "{}", outcome.stderr);
}

#[test]
fn templates_of_charts_that_are_not_enabled_are_known() {
    let sandbox = sandbox();
    let chart = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n- {name: db, version: 1.0.0, condition: db.active}\n";
    sandbox.write("c/Chart.yaml", chart);
    sandbox.write("c/values.yaml", &format!("{VALUES}db: {{active: false}}\n"));
    sandbox.write("c/charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n");
    sandbox.write("c/charts/db/templates/_h.tpl", "{{ define \"db.name\" }}d{{ end }}");
    sandbox.write("c/templates/x.yaml", "kind: A\n{{ if .Values.db.active }}a: {{ include \"db.name\" . }}{{ end }}\n");
    for args in [&["check", "c"][..], &["check", "c", "--set", "db.active=true"]] {
        sandbox.run(args).expect(0).says(&["no errors"]);
    }
    sandbox.write("c/templates/x.yaml", "kind: A\n{{ if .Values.db.active }}a: {{ include \"db.nmae\" . }}{{ end }}\n");
    sandbox.run(&["check", "c"]).expect(0).says(&["no template is named \"db.nmae\"", "1 warning"]);
}

#[test]
fn documents_that_are_not_shown_and_empty_ones_give_no_warnings() {
    let sandbox = sandbox();
    sandbox.write("c/templates/x.yaml", "kind: A\nkind: B\n");
    sandbox.write("c/templates/license.yaml", "# Licence\n{{ if .Values.isOff }}\nkind: A\n{{ end }}\n");
    let twice = "the key `kind` is given twice";
    let outcome = sandbox.run(&["render", "c", "-s", "templates/uses.yaml"]).expect(0);
    assert_eq!(outcome.stderr, "");
    sandbox.run(&["render", "c", "-s", "templates/x.yaml"]).expect(0).says(&[twice]);
    sandbox.run(&["render", "c", "-s", "templates/*.yaml"]).expect(0).says(&[twice]);
    sandbox.run(&["check", "c"]).expect(0).says(&[twice, "1 warning"]);
}

#[test]
fn values_given_twice_names_of_clusters_and_unknown_hooks_are_warnings() {
    let sandbox = sandbox();
    sandbox.write(
        "c/values.yaml",
        &format!("{VALUES}name: web\ncluster: {{name: x, zone: y}}\nimage: {{tag: v2, repository: r}}\n"),
    );
    sandbox.write("c/templates/x.yaml", "kind: A\nmetadata:\n  name: {{ .Values.name }}-{{ .Values.cluster.name }}\n");
    sandbox.write("c/templates/hook.yaml", "kind: Job\nmetadata:\n  annotations:\n    helm.sh/hook: pre-instal\n");
    sandbox.write("v.yaml", "image: {tag: v3, tag: v4}\n");
    sandbox.write("fleet.ndjson", "{\"name\": \"eu\", \"cluster\": {\"name\": \"eu\"}}\n{\"name\": \"us\"}\n");
    let hook = [
        "no hook is named `pre-instal`, so the document is left out",
        "c/templates/hook.yaml:4:5",
        "did you mean `pre-install`?",
    ];
    let twice = ["the key `tag` is given twice", "v.yaml:1:18", "the key `image` is given twice", "c/values.yaml:13:1"];
    for command in ["render", "check"] {
        sandbox.run(&[command, "c", "-f", "v.yaml"]).expect(0).says(&hook).says(&twice);
    }
    sandbox.write("c/values.yaml", &format!("{VALUES}name: web\ncluster: {{name: x, zone: y}}\n"));
    let replaced = [
        "`name` of the fleet replaces the chart's own value of that name",
        "fleet.ndjson:1:2",
        "c/values.yaml:11:1",
        "`cluster` of the fleet replaces",
        "`--name-key`",
    ];
    for args in
        [&["stamp", "c", "--fleet", "fleet.ndjson", "-o", "out"][..], &["check", "c", "--fleet", "fleet.ndjson"]]
    {
        let outcome = sandbox.run(args).expect(0).says(&hook).says(&replaced);
        assert_eq!(outcome.stderr.matches("of the fleet replaces").count(), 2, "{}", outcome.stderr);
    }
    // The clusters may have a name by another key, and the chart no value of that name.
    sandbox.write("other.ndjson", "{\"id\": \"eu\"}\n");
    let other = sandbox.run(&["stamp", "c", "--fleet", "other.ndjson", "--name-key", "id", "-o", "o"]).expect(0);
    assert!(!other.stderr.contains("of the fleet replaces"), "{}", other.stderr);
    sandbox.write("c/values.yaml", VALUES);
    sandbox.write("c/templates/x.yaml", "kind: A\n");
    let none = sandbox.run(&["stamp", "c", "--fleet", "fleet.ndjson", "-o", "out"]).expect(0);
    assert!(!none.stderr.contains("of the fleet replaces"), "{}", none.stderr);
}

#[test]
fn files_with_the_names_of_other_tools_are_warnings() {
    let sandbox = sandbox();
    sandbox.write("c/template/y.yaml", "kind: A\n");
    sandbox.write("c/charts/d/Chart.yaml", "apiVersion: v2\nname: d\nversion: 1.0.0\n");
    sandbox.write("c/charts/d/values.yml", "a: 1\n");
    sandbox.write("c/charts/d/templates/d.yaml", "kind: A\n");
    let says =
        ["the chart `web` has a folder `template`", "the chart `web/charts/d` has `values.yml`", "`values.yaml`"];
    sandbox.run(&["check", "c"]).expect(0).says(&says).says(&["2 warnings"]);
    sandbox.run(&["render", "c"]).expect(0).says(&says);
    sandbox.run(&["render", "c", "--strict"]).expect(1).says(&says);
}

#[test]
fn tests_are_left_out() {
    let sandbox = sandbox();
    sandbox.write("c/templates/x.yaml", "kind: Pod\nmetadata:\n  annotations:\n    helm.sh/hook: test\n---\nkind: Job\nmetadata:\n  annotations:\n    helm.sh/hook: pre-install\n");
    sandbox.write("fleet.ndjson", "{\"name\": \"a\"}\n{\"name\": \"b\"}\n{\"name\": \"c\"}\n");
    for (more, has) in [(&[][..], [true, true]), (&["--skip-tests"], [false, true]), (&["--no-hooks"], [false, false])]
    {
        let found = |text: &str| [text.contains("kind: Pod"), text.contains("kind: Job")];
        assert_eq!(found(&sandbox.run(&[&["render", "c"], more].concat()).expect(0).stdout), has, "{more:?}");
        let single = ["stamp", "c", "--fleet", "fleet.ndjson", "--layout", "single", "-o", "-"];
        let text = sandbox.run(&[&single[..], more].concat()).expect(0).stdout;
        assert_eq!(text.matches("kind: Pod").count(), if has[0] { 3 } else { 0 }, "{more:?}");
        sandbox
            .run(&[&["stamp", "c", "--fleet", "fleet.ndjson", "-o", "out", "--prune", "--prune-force"], more].concat())
            .expect(0);
        let text: String = sandbox.tree("out").values().cloned().collect();
        assert_eq!(text.matches("kind: Pod").count(), if has[0] { 3 } else { 0 }, "{more:?}");
    }
}

#[test]
fn values_that_pass_through_maps_lists_and_templates_are_followed() {
    let sandbox = sandbox();
    sandbox.write("c/templates/_h.tpl", "{{ define \"d\" }}{{ .root.Values.image.tag }}{{ .k }}{{ end }}{{ define \"l\" }}{{ (index . 0).Values.image.tag }}{{ end }}");
    for text in [
        "{{ include (print $.Template.BasePath \"/uses.yaml\") . | sha256sum }}",
        "{{ include (printf \"%s\" \"d\") . }}",
        "{{ include (ternary \"d\" \"d\" true) . }}",
        "{{ tpl \"text\" . }}",
        "{{ include \"d\" (dict \"root\" . \"k\" 1) }}",
        "{{ include \"d\" (dict \"root\" $ \"k\" .Values.image.tag) }}",
        "{{ $d := dict \"root\" . \"k\" 1 }}{{ template \"d\" $d }}",
        "{{ include \"l\" (list . 1) }}",
        "{{ index .Values \"image\" \"tag\" }}",
    ] {
        // The helper with a list may not be called by a computed name with a map.
        let helpers =
            if text.contains("(print") || text.contains("(ternary") { "{{ define \"d\" }}{{ end }}" } else { "" };
        if !helpers.is_empty() {
            sandbox.write("c/templates/_h.tpl", helpers);
        }
        sandbox.write("c/templates/x.yaml", &format!("kind: A\nx: {text}\n"));
        let outcome = sandbox.run(&["render", "c", "--set", "image.tga=1"]).expect(0);
        outcome.says(&["no template reads `image.tga`", "did you mean `image.tag`?"]);
        sandbox.write("c/templates/_h.tpl", "{{ define \"d\" }}{{ .root.Values.image.tag }}{{ .k }}{{ end }}{{ define \"l\" }}{{ (index . 0).Values.image.tag }}{{ end }}");
    }
}
