//! Values that are given to a chart and that nothing in it reads.

use crate::support::{Outcome, Sandbox};

const CHART: &str = "\
apiVersion: v2
name: web
version: 1.0.0
dependencies:
- {name: db, version: 1.0.0, alias: store, condition: 'store.on,global.store', tags: [data], import-values: [sizes]}
- {name: cache, version: 1.0.0}
";

const TEMPLATE: &str = "\
kind: Service
image: {{ .Values.image.tag }}
name: {{ include \"name\" . }}
labels: {{ toYaml .Values.labels | nindent 2 }}
{{- range .Values.ports }}
port: {{ .port }}
{{- end }}
{{- with .Values.tls }}
secret: {{ .secret }}
{{- end }}
size: {{ .Values.small }}
store: {{ .Subcharts.store.Values.inner }}
";

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("web/Chart.yaml", CHART),
        (
            "web/values.yaml",
            "image: {tag: a, pull: Always}\nopen: {}\nlist: []\nempty:\nlabels: {a: b}\ntitle: {short: s}\n",
        ),
        ("web/values.schema.json", r#"{"properties": {"declared": {"properties": {"x": {}}}}}"#),
        ("web/templates/service.yaml", TEMPLATE),
        ("web/templates/_name.tpl", "{{ define \"name\" }}{{ .Values.title.full }}{{ end }}"),
        ("web/charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
        ("web/charts/db/values.yaml", "disk: {size: 1}\nexports: {sizes: {small: 1}}\n"),
        ("web/charts/db/templates/db.yaml", "kind: Db\nzone: {{ .Values.global.zone }}\nuser: {{ .Values.user }}\n"),
        ("web/charts/cache/Chart.yaml", "apiVersion: v2\nname: cache\nversion: 1.0.0\n"),
        ("web/charts/cache/templates/c.yaml", "kind: Cache\nall: {{ tpl (print \"x\") . }}\n"),
        ("fleet.ndjson", "{\"name\": \"a\", \"image\": {\"tga\": 1}}\n{\"name\": \"b\", \"rack\": 7}\n"),
    ])
}

/// Values of which each is known.
const KNOWN: &str = "\
image: {tag: b, pull: Never}
open: {x: 1}
list: [{x: 1}]
empty: {x: {y: 1}}
labels: {c: d}
title: {full: n}
ports: [{port: 1}]
tls: {secret: s}
declared: {x: 1}
small: 3
store: {on: true, disk: {size: 2}, user: u, inner: i, exports: {sizes: {small: 2}}, global: {zone: z}}
cache: {anything: {x: 1}}
global: {zone: z, store: true}
tags: {data: true}
x-own: {a: 1}
";

fn render(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.run(&[&["render", "web"], more].concat())
}

/// Returns the names that are told.
fn names(outcome: &Outcome) -> Vec<&str> {
    let lines = outcome.stderr.lines().filter(|line| line.starts_with("warning[E0809]"));
    lines.filter_map(|line| line.split("no template reads `").nth(1)?.split('`').next()).collect()
}

#[test]
fn what_a_chart_knows_is_not_told() {
    let sandbox = sandbox();
    sandbox.write("v.yaml", KNOWN);
    assert_eq!(names(&render(&sandbox, &["-f", "v.yaml", "--strict"]).expect(0)), [""; 0]);
    sandbox.run(&["check", "web", "-f", "v.yaml", "--strict"]).expect(0);
    sandbox
        .run(&["stamp", "web", "--fleet", "fleet.ndjson", "-l", "name=b", "-f", "v.yaml", "-o", "o", "--strict"])
        .expect(0);
    // Without values nothing is looked at.
    assert_eq!(render(&sandbox, &[]).expect(0).stderr, "");
}

#[test]
fn values_that_nothing_reads_are_told_by_each_command() {
    let sandbox = sandbox();
    sandbox.write("v.yaml", "imge:\n  tag: v2\nstore:\n  disk: {sice: 1}\nglobal: {zoen: 1}\n");
    let expected = ["imge.tag", "store.disk.sice", "image.tga", "declared.z", "tags.dta"];
    let args = ["-f", "v.yaml", "--set", "image.tga=1,declared.z=1,tags.dta=true"];
    let outcome = render(&sandbox, &args).expect(0);
    // Templates of `cache` may read any global value.
    assert_eq!(names(&outcome), expected);
    outcome.says(&["v.yaml:2:8", "did you mean `image.tag`?", "did you mean `store.disk.size`?"]);
    let outcome = sandbox.run(&[&["check", "web"], &args[..]].concat()).expect(0);
    assert_eq!(names(&outcome), expected);
    outcome.says(&["checked 4 templates: 8 warnings"]);
    let written = render(&sandbox, &[&args[..], &["-o", "out"]].concat()).expect(0);
    assert_eq!(names(&written), expected);
    assert_eq!(render(&sandbox, &[&args[..], &["-q"]].concat()).expect(0).stderr, "");
    assert_eq!(render(&sandbox, &[&args[..], &["--strict"]].concat()).expect(1).stdout, "");
    sandbox.run(&["compile", "web", "-o", "web.mpk"]).expect(0);
    assert_eq!(names(&sandbox.run(&[&["render", "web.mpk"], &args[..]].concat()).expect(0)), expected);
}

#[test]
fn a_clusters_value_is_told_if_it_looks_like_a_mistake() {
    let sandbox = sandbox();
    for command in [&["stamp", "web", "-o", "out"][..], &["check", "web"]] {
        let outcome = sandbox.run(&[command, &["--fleet", "fleet.ndjson", "--set", "imge=1"]].concat()).expect(0);
        assert_eq!(names(&outcome), ["imge", "image.tga"], "{command:?}");
        outcome.says(&["cluster: a", "fleet.ndjson:1:", "did you mean `image.tag`?"]);
    }
}

#[test]
fn nothing_is_told_of_a_chart_that_may_read_everything() {
    let sandbox = sandbox();
    sandbox.write("web/templates/all.yaml", "kind: All\nx: {{ tpl (.Values.text | default \"\") . }}\n");
    assert_eq!(names(&render(&sandbox, &["--set", "imge=1,store.imge=1"]).expect(0)), [""; 0]);
    // Broken charts have other errors.
    sandbox.write("web/templates/all.yaml", "{{ if }}");
    let outcome = render(&sandbox, &["--set", "imge=1"]).expect(1);
    assert_eq!(names(&outcome), [""; 0]);
}

#[test]
fn values_of_another_kind_than_the_chart_expects_are_warnings() {
    let sandbox = Sandbox::with(&[
        (
            "ch/Chart.yaml",
            "apiVersion: v2\nname: ch\nversion: 0.1.0\ndependencies:\n- {name: sub, version: 0.1.0, condition: sub.enabled, import-values: [{child: nope, parent: x}, {child: data, parent: y}]}\n",
        ),
        (
            "ch/values.yaml",
            "image: {repo: r}\nport: 80\nlist: [1]\nopen: {}\nnone:\nsub: {enabled: true, level: {a: 1}}\n",
        ),
        ("ch/templates/a.yaml", "v: {{ toJson .Values }}\n"),
        ("ch/charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 0.1.0\n"),
        ("ch/charts/sub/values.yaml", "log: {level: info}\nlevel: low\ndata: {k: 1}\n"),
        ("ch/charts/sub/templates/a.yaml", "v: {{ toJson .Values }}\n"),
        (
            "u.yaml",
            "image: nginx\nport: {http: 80}\nlist: {a: 1}\nopen: [1]\nnone: {a: 1}\nsub: {enabled: \"false\", log: debug}\n",
        ),
        ("f.yaml", "- {name: eu, image: x}\n- {name: us}\n"),
    ]);
    // The chart's own values are no mistake of its user, but for what is never imported.
    let alone = sandbox.run(&["render", "ch"]).expect(0).stderr;
    assert_eq!(alone.matches("warning[").count(), 1, "{alone}");
    let given = sandbox.run(&["render", "ch", "-f", "u.yaml"]).expect(0).says(&[
        "a string replaces the map `image` of the chart",
        "u.yaml:1:1",
        "ch/values.yaml:1:1",
        "`image: {repo: …}`",
        "a map replaces the integer `port`",
        "a map replaces the list `list`",
        "`sub.enabled` is a string, so it does not enable or disable `sub`",
        "a string replaces the map `sub.log`",
        "imports nothing: it has no map `nope`",
    ]);
    assert_eq!(given.stderr.matches("warning[").count(), 6, "{}", given.stderr);
    sandbox.run(&["render", "ch", "-f", "u.yaml", "--strict"]).expect(1);
    // A cluster's value has no place among the files.
    sandbox
        .run(&["stamp", "ch", "--fleet", "f.yaml", "-o", "out"])
        .expect(0)
        .says(&["a string replaces the map `image`", "cluster: eu"]);
    sandbox.run(&["render", "ch", "--set", "image=x"]).expect(0).says(&["a string replaces the map `image`"]);
}
