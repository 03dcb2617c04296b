//! Helmfiles.

use super::{add_chart, import};
use crate::support::Sandbox;

const ENVIRONMENTS: &str = "environments:
  dev:
    values: [env/common.yaml, env/dev.yaml]
  prod:
    values: [env/common.yaml, env/prod.yaml, {zone: eu}]
---
";

/// A helmfile with releases, and the files that all of these name.
fn sandbox(releases: &str) -> Sandbox {
    let sandbox = Sandbox::with(&[
        ("hf/env/common.yaml", "domain: acme.example\ningress: {enabled: false}\n"),
        ("hf/env/dev.yaml", "size: 1\nzone: us\n"),
        ("hf/env/prod.yaml", "size: 3\ningress: {enabled: true}\n"),
        ("hf/helmfile.yaml", &format!("{ENVIRONMENTS}{releases}")),
    ]);
    add_chart(&sandbox, "hf/charts/web");
    sandbox
}

/// Returns what `render` prints for the chart, without its head.
fn rendered(sandbox: &Sandbox, args: &[&str]) -> String {
    sandbox.run(&[&["render", "hf/charts/web"], args].concat()).expect(0).stdout
}

#[test]
fn releases_render_as_their_charts_with_their_values() {
    let sandbox = sandbox(
        "kubeVersion: v1.33.0
templates:
  common:
    namespace: '{{`{{ .Release.Name }}`}}-{{ .Environment.Name }}'
    chart: ./charts/web
    values: [values/all.yaml]
releases:
  - name: web
    inherit: [{template: common}]
    values:
      - values/web.yaml.gotmpl
      - values/{{ .Environment.Name }}.yaml
      - zones: [{{ .Values.zone }}]
    set:
      - {name: image.tag, value: v1}
      - {name: list, values: [a, b]}
      - {name: text, file: values/text.txt}
    setString: [{name: number, value: '5'}]
",
    );
    sandbox.write("hf/values/all.yaml", "all: 1\nmode: 0644\n");
    sandbox.write(
        "hf/values/web.yaml.gotmpl",
        "host: {{ .Release.Name }}.{{ .Environment.Name }}.{{ .Values.domain }}\nsize: {{ .Values.size }}\n{{ if .Values.ingress.enabled }}open: true{{ end }}\n",
    );
    sandbox.write("hf/values/dev.yaml", "own: dev\n");
    sandbox.write("hf/values/prod.yaml", "own: prod\n");
    sandbox.write("hf/values/text.txt", "a, b");
    import(&sandbox, "helmfile", "hf/helmfile.yaml");
    for (env, size, zone, open) in [("dev", "1", "us", None), ("prod", "3", "eu", Some("open=true"))] {
        let (host, size) = (format!("host=web.{env}.acme.example"), format!("size={size}"));
        let (own, zone) = (format!("own={env}"), format!("zones={{{zone}}}"));
        let namespace = format!("web-{env}");
        let mut args = vec!["--name", "web", "-n", &namespace, "--kube-version", "v1.33.0", "--set", "all=1,mode=420"];
        for set in [&host, &size, &own, &zone] {
            args.extend(["--set", set]);
        }
        args.extend(["--set", "image.tag=v1,list={a,b}", "--set-string", "number=5,text=a\\, b"]);
        args.extend(open.iter().flat_map(|set| ["--set", set]));
        let made = sandbox.read(&format!("new/out/{env}/web/web.yaml"));
        assert_eq!(made.trim_end(), rendered(&sandbox, &args).trim_end(), "{env}");
    }
    // The template of values stays one, and the project has no copy for each environment.
    let template = sandbox.read("new/releases/web/web.yaml.gotmpl");
    assert!(template.starts_with("host: {{ \"web\" }}.{{ .env }}.{{ .domain }}\n"), "{template}");
    let project = sandbox.read("new/dropforge.toml");
    for part in
        ["namespace = \"web-{env}\"", "\"values/{env}.yaml\"", "layers = [\"env/common.yaml\", \"env/{env}.yaml\""]
    {
        assert!(project.contains(part), "{part}\n{project}");
    }
}

#[test]
fn conditions_and_branches_choose_the_environments() {
    let sandbox = sandbox(
        "releases:
  - {name: ingress, chart: ./charts/web, condition: ingress.enabled}
  - {name: off, chart: ./charts/web, installed: false}
  - {name: big, chart: ./charts/web, installed: {{ gt (int .Values.size) 2 }}}
  - {name: 'job-{{ .Environment.Name }}', chart: ./charts/web}
{{- if eq .Environment.Name \"dev\" }}
  - {name: debug, chart: ./charts/web}
{{- end }}
  - {name: other, chart: '{{ if eq .Environment.Name \"dev\" }}./charts/web{{ else }}./charts/two{{ end }}'}
",
    );
    add_chart(&sandbox, "hf/charts/two");
    sandbox.write("hf/charts/two/templates/more.yaml", "kind: A\nmetadata: {name: two}\n");
    import(&sandbox, "helmfile", "hf/helmfile.yaml");
    let files: Vec<String> = sandbox.outputs("new/out").into_keys().collect();
    let wanted = [
        "dev/debug/web.yaml",
        "dev/job-dev/web.yaml",
        "dev/other/web.yaml",
        "prod/big/web.yaml",
        "prod/ingress/web.yaml",
        "prod/job-prod/web.yaml",
        "prod/other/more.yaml",
        "prod/other/web.yaml",
    ];
    assert_eq!(files, wanted);
    let project = sandbox.read("new/dropforge.toml");
    for part in ["when = \"cluster.ingress.enabled\"", "name = \"job-{env}\"", "when = \"env == 'dev'\""] {
        assert!(project.contains(part), "{part}\n{project}");
    }
}

#[test]
fn templates_that_cannot_be_rewritten_keep_what_they_render() {
    let sandbox = sandbox(
        "releases:
  - name: web
    chart: ./charts/web
    values: [values/dump.yaml.gotmpl, values/get.yaml.gotmpl]
",
    );
    sandbox.write("hf/values/dump.yaml.gotmpl", "dump: {{ .Values | toJson }}\n");
    sandbox.write(
        "hf/values/get.yaml.gotmpl",
        "deep: {{ .Values | get \"a.b\" \"none\" }}\nzone: {{ .Values | getOrNil \"zone\" }}\n",
    );
    import(&sandbox, "helmfile", "hf/helmfile.yaml");
    let prod = sandbox.read("new/out/prod/web/web.yaml");
    let dump = r#""dump":{"domain":"acme.example","ingress":{"enabled":true},"size":3,"zone":"eu"}"#;
    assert!(prod.contains(dump) && prod.contains(r#""deep":"none""#) && prod.contains(r#""zone":"eu"}"#), "{prod}");
    assert!(!sandbox.path("new/releases/web/dump.yaml.gotmpl").exists());
}

#[test]
fn bases_further_files_and_parts_count() {
    let sandbox = sandbox(
        "bases: [bases/defaults.yaml]
helmfiles:
  - path: more/*.yaml
    values: [{given: yes-please}]
releases:
  - {name: web, chart: ./charts/web, values: [{x: '{{ .Values.base }}'}]}
",
    );
    sandbox.write(
        "hf/bases/defaults.yaml",
        "values: [{base: low, size: 0}]\nhelmDefaults: {skipSchemaValidation: true}\n",
    );
    sandbox.write(
        "hf/more/api.yaml",
        "releases:\n  - {name: api, chart: ../charts/web, values: [{given: '{{ .Values.given }}'}]}\n",
    );
    import(&sandbox, "helmfile", "hf/helmfile.yaml");
    assert!(sandbox.read("new/out/dev/web/web.yaml").contains(r#""x":"low""#));
    assert!(sandbox.read("new/out/dev/api/web.yaml").contains(r#""given":"yes-please""#));
    assert!(sandbox.read("new/dropforge.toml").contains("no-schema = true"));
}

#[test]
fn what_is_left_out_is_told_with_its_place() {
    let sandbox = sandbox(
        "repositories: [{name: stable, url: 'https://charts.example'}]
helmDefaults: {wait: true, timeout: 60}
releases:
  - name: web
    chart: ./charts/web
    atomic: true
    needs: [db]
    hooks: [{events: [presync], command: ./run.sh}]
    strategicMergePatches: [{kind: A}]
    values:
      - values/none.yaml
      - {password: '{{ requiredEnv \"PASSWORD\" }}', debug: '{{ env \"DEBUG\" }}'}
      - {missing: '{{ .Values.nothing }}'}
    set: [{name: 'list[0]', value: x}]
    secrets: ['vault://x']
  - {name: db, chart: stable/postgres, version: 1.2.3}
  - {name: git, chart: 'git::https://git.example/x'}
unknown: {a: 1}
",
    );
    let outcome =
        sandbox.run(&["init", "new", "--from", "helmfile", "hf/helmfile.yaml", "--error-format", "short"]).expect(0);
    let told = [
        "helmfile.yaml:8:1: warning[E0951]: `wait`, `timeout`, `atomic`: no rendered output depends on this",
        "helmfile.yaml:13:5: warning[E0951]: `needs` is not translated",
        "helmfile.yaml:14:5: warning[E0951]: `hooks` is not translated",
        "a merge that names no object is left out",
        "`values/none.yaml` does not exist",
        "the environment variable `PASSWORD` is not read",
        "the environment variable `DEBUG` is not read",
        "map has no entry for key \"nothing\"",
        "`list[0]` of `set` is not translated",
        "`vault://x` are not read",
        "`helm pull postgres --repo https://charts.example --version '1.2.3' --untar --untardir charts`",
        "the chart `git::https://git.example/x` is not in the repository",
        "helmfile.yaml:24:1: warning[E0951]: `unknown` is not translated",
    ];
    let text = &outcome.stderr;
    told.iter().for_each(|part| assert!(text.contains(part), "no {part:?} in {text}"));
    assert!(outcome.stdout.contains("parts not translated: see `TODO` in new/dropforge.toml"), "{}", outcome.stdout);
    // The same list is in the project, at the releases.
    let project = sandbox.read("new/dropforge.toml");
    assert_eq!(project.matches("# TODO ").count(), text.matches("E0951").count(), "{project}\n{text}");
    let (head, web) = project.split_once("name = \"web\"").unwrap();
    assert!(head.rsplit("\n\n").next().unwrap().contains("`hooks` is not translated"), "{head}");
    assert!(web.contains("chart = \"charts/postgres\""), "{web}");
    // Nothing of it keeps the project from working, once the chart is there.
    add_chart(&sandbox, "new/charts/postgres");
    sandbox.run(&["-C", "new", "stamp"]).expect(0);
    assert!(sandbox.read("new/out/dev/web/web.yaml").contains(r#""password":"TODO-PASSWORD""#));
}

#[test]
fn a_project_beside_its_helmfile_uses_the_files_as_they_are() {
    let sandbox = sandbox("releases:\n  - {name: web, chart: ./charts/web, values: [values/web.yaml, {b: 2}]}\n");
    sandbox.write("hf/values/web.yaml", "a: 1 # kept\n");
    // Files that are there, and that nothing names.
    sandbox.write("hf/releases/web/values.yaml", "c: 3\n");
    sandbox.write("hf/values/prod-3.yaml", "c: 3\n");
    sandbox.run(&["-C", "hf", "init", "--from", "helmfile", "helmfile.yaml"]).expect(0);
    assert!(!sandbox.path("hf/new").exists() && sandbox.path("hf/clusters.yaml").exists());
    for (name, text) in [("values/web.yaml", "a: 1 # kept\n"), ("releases/web/values.yaml", "c: 3\n")] {
        assert_eq!(sandbox.read(&format!("hf/{name}")), text);
    }
    sandbox.run(&["-C", "hf", "stamp"]).expect(0).says(&["2 files for 2 clusters"]);
    assert!(sandbox.read("hf/out/prod/web/web.yaml").contains(r#"{"a":1,"b":2,"replicas":1}"#));
    sandbox
        .run(&["-C", "hf", "init", "--from", "helmfile", "helmfile.yaml"])
        .expect(2)
        .says(&["exists and is not overwritten"]);
    for (args, says) in [
        (&["init", "--from", "helmfile"][..], "needs the path to import"),
        (&["init", "--from", "helmfil"], "did you mean `helmfile`?"),
        (&["init", "x", "--from", "tera", "y"], "no tool to import from"),
        (&["init", "x", "--from", "helmfile", "none.yaml"], "none.yaml"),
    ] {
        let outcome = sandbox.run(args);
        assert!(outcome.code != 0 && outcome.stderr.contains(says), "{args:?}: {}", outcome.stderr);
    }
}

/// A release with patches of both forms, and the same as a folder of Kustomize for what its chart renders.
#[test]
fn patches_of_releases_become_patches_of_the_project() {
    let sandbox = sandbox(
        "releases:
  - name: web
    namespace: shop
    chart: ./charts/web
    strategicMergePatches:
      - apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        spec: {zone: '{{ .Values.zone }}', all: null}
      - patches/merge.yaml.gotmpl
    jsonPatches:
      - target: {kind: Deployment|StatefulSet, name: we.*}
        patch:
          - {op: add, path: /spec/first, value: '0644'}
      - target: {version: v1, kind: Deployment}
        patch: |
          - op: move
            from: /spec/first
            path: /spec/second
      - patches/json.yaml
    values: [{all: 1}]
",
    );
    sandbox.write(
        "hf/charts/web/templates/web.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}}\nspec: {{ .Values | toJson }}\n",
    );
    sandbox.write(
        "hf/patches/merge.yaml.gotmpl",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {size: {{ .Values.size }}}\n",
    );
    sandbox.write(
        "hf/patches/json.yaml",
        "target: {kind: Deployment, labelSelector: '!none'}\npatch: [{op: test, path: /spec/second, value: '0644'}]\n",
    );
    import(&sandbox, "helmfile", "hf/helmfile.yaml");
    let project = sandbox.read("new/dropforge.toml");
    for part in [
        "{ merge = \"releases/web/patches/{cluster}.yaml\" },",
        "{ target = { kind = \"{Deployment,StatefulSet}\", name = \"we*\" }, json = ",
        "{ target = { kind = \"Deployment\", labels = \"!none\" }, json = ",
    ] {
        assert!(project.contains(part), "no {part} in {project}");
    }
    for (cluster, zone, size) in [("dev", "us", 1), ("prod", "eu", 3)] {
        let made = sandbox.read(&format!("new/out/{cluster}/web/web.yaml"));
        for part in ["second: \"0644\"".to_owned(), format!("zone: {zone}"), format!("size: {size}")] {
            assert!(made.contains(&part), "no {part} in {made}");
        }
        assert!(!made.contains("all:") && !made.contains("first:"), "{made}");
    }
}

#[test]
fn a_target_without_a_pattern_is_left_out_with_its_patch() {
    let sandbox = sandbox(
        "releases:
  - name: web
    chart: ./charts/web
    jsonPatches:
      - target: {kind: Deployment, name: 'web-[0-9]+'}
        patch: [{op: remove, path: /spec}]
    transformers: [{kind: LabelTransformer}]
",
    );
    let outcome =
        sandbox.run(&["init", "new", "--from", "helmfile", "hf/helmfile.yaml", "--error-format", "short"]).expect(0);
    for part in ["`web-[0-9]+` has no pattern, and its patch is left out", "`transformers` is not translated"] {
        assert!(outcome.stderr.contains(part), "no {part:?} in {}", outcome.stderr);
    }
    assert!(!sandbox.read("new/dropforge.toml").contains("json ="));
    sandbox.run(&["-C", "new", "stamp"]).expect(0);
}
