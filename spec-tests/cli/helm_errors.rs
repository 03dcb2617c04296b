//! Errors of charts: what was looked up, what is there, and the lines of templates and values.

use crate::support::{Outcome, Sandbox};

/// A chart in `c` with a chart in it, and values of a user.
fn sandbox(template: &str) -> Sandbox {
    Sandbox::with(&[
        (
            "c/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: db, version: 1.0.0, repository: ''}]\n",
        ),
        (
            "c/values.yaml",
            "# The image.\nimage:\n  repository: nginx\n  tag: v1\nport: 80\nhosts:\n- {name: a, paths: [x]}\nempty: ''\n",
        ),
        ("c/charts/db/Chart.yaml", "apiVersion: v2\nname: db\nversion: 1.0.0\n"),
        ("c/charts/db/values.yaml", "storage:\n  size: 1Gi\n"),
        ("c/templates/x.yaml", template),
        ("prod.yaml", "port: 8080\ndb:\n  storage:\n    size: 5Gi\n    class: fast\n"),
    ])
}

#[track_caller]
fn fails(sandbox: &Sandbox, more: &[&str], says: &[&str]) -> serde_json::Value {
    let args = [&["render", "c"], more].concat();
    sandbox.run(&args).expect(1).says(says);
    let mut told = sandbox.run(&[&args[..], &["--error-format", "json"]].concat()).expect(1).json();
    told.remove(0)
}

#[test]
fn a_misspelled_value_names_the_right_one_and_its_line() {
    let told = fails(
        &sandbox("tag: {{ .Values.imge.tag }}\n"),
        &[],
        &[
            "nil pointer evaluating interface {}.tag",
            "c/templates/x.yaml:1:16",
            "c/values.yaml:2:1",
            "`.Values.image` is given here",
            "`.Values` has no `imge`",
            "available: db, empty, hosts, image, port",
            "help: did you mean `.Values.image`?",
        ],
    );
    let go = "web/templates/x.yaml:1:15\n  executing \"web/templates/x.yaml\" at <.Values.imge.tag>:\n    \
              nil pointer evaluating interface {}.tag";
    assert_eq!(told["go_message"], go);
    assert_eq!([&told["looked_up"], &told["looked_in"]], ["imge", "[\"Values\"]"]);
    assert_eq!(told["spans"][1]["file"], "c/values.yaml");
}

#[test]
fn files_have_their_paths_whatever_their_chart_is_called() {
    let sandbox = sandbox("a: 1\n");
    sandbox.write("c/Chart.yaml", &sandbox.read("c/Chart.yaml").replace("{name: db,", "{name: db, alias: store,"));
    sandbox.write("c/charts/db/templates/a.yaml", "a: {{ fail .Template.Name }}\n");
    let annotation = sandbox.run(&["render", "c", "--error-format", "github"]).expect(1);
    annotation.says(&["::error file=c/charts/db/templates/a.yaml,line=1,", "web/charts/store/templates/a.yaml"]);
    sandbox.write("c/charts/db/values.yaml", "storage: [\n");
    sandbox.run(&["render", "c", "--error-format", "short"]).expect(1).says(&["c/charts/db/values.yaml:1:"]);
    let from_within = sandbox.run(&["-C", "c", "render", ".", "--error-format", "short"]).expect(1);
    from_within.says(&["charts/db/values.yaml:1:"]);
}

#[test]
fn the_message_of_helm_has_the_texts_of_every_tpl_around_the_error() {
    let inner = "{{ .x.y }}";
    let outer = "{{ include `r` (dict `text` `{{ .x.y }}`) }}".replace('`', "\"");
    let quoted = format!("{outer:?}");
    let template = format!(
        "{{{{ define \"r\" }}}}{{{{ tpl .text . }}}}{{{{ end }}}}\na: {{{{ include \"r\" (dict \"text\" {quoted}) }}}}\n"
    );
    let told = fails(&sandbox(&template), &[], &["gotpl:1:", "nil pointer evaluating interface {}.y"]);
    let tpl = |text: &str| {
        format!(
            "error calling include: template: web/templates/x.yaml:1:19: executing \"r\" at <tpl .text .>: error calling tpl: \
             error during tpl function execution for {text:?}: template: gotpl:1:"
        )
    };
    let go = [
        "template: web/templates/x.yaml:2:6: executing \"web/templates/x.yaml\" at <include \"r\" (dict \"text\" ",
        &format!("{quoted})>: {}3: executing \"gotpl\" at <include \"r\" (dict \"text\" {inner:?})>: ", tpl(&outer)),
        &format!("{}5: executing \"gotpl\" at <.x.y>: nil pointer evaluating interface {{}}.y", tpl(inner)),
    ];
    assert_eq!(told["go_message"], go.concat());
}

#[test]
fn the_map_is_found_whatever_its_name_is_there() {
    let within = "{{ with .Values.image }}{{ .tga.x }}{{ end }}\n";
    let says = ["`.` has no `tga`", "did you mean `.tag`?", "c/values.yaml:4:3", "`.Values.image.tag` is given here"];
    fails(&sandbox(within), &[], &says);
    let item = "{{ range $host := .Values.hosts }}{{ $host.pths.x }}{{ end }}\n";
    let says = [
        "`$host` has no `pths`",
        "did you mean `$host.paths`?",
        "`.Values.hosts[0].paths` is given here",
        "values.yaml:7:",
    ];
    fails(&sandbox(item), &[], &says);
    let told = fails(&sandbox("{{ .Release.Nmae.x }}\n"), &[], &["did you mean `.Release.Name`?"]);
    assert_eq!(told["looked_in"], "[\"Release\"]");
    fails(&sandbox("{{ .Value.x }}\n"), &[], &["`.` has no `Value`", "did you mean `.Values`?"]);
    fails(&sandbox("{{ .Values.port.x }}\n"), &[], &["can't evaluate field x", "`.Values.port` is `80"]);
}

#[test]
fn values_of_the_user_and_of_charts_in_the_chart_have_their_lines() {
    let sandbox = sandbox("a: 1\n");
    sandbox.write("c/charts/db/templates/y.yaml", "{{ .Values.storge.size }}\n");
    fails(&sandbox, &[], &["c/charts/db/values.yaml:1:1", "`.Values.storage` is given here"]);
    fails(&sandbox, &["-f", "prod.yaml"], &["prod.yaml:3:3", "`.Values.storage` is given here"]);
    sandbox.write("c/charts/db/templates/y.yaml", "{{ .Values.storage.clas.x }}\n");
    fails(&sandbox, &["-f", "prod.yaml"], &["prod.yaml:5:5", "did you mean `.Values.storage.class`?"]);
}

#[test]
fn calls_name_the_value_that_is_missing() {
    let required = "{{ required \"give an image\" .Values.image.tga }}\n";
    let told = fails(
        &sandbox(required),
        &[],
        &["give an image", "`.Values.image` has no `tga`", "did you mean `.Values.image.tag`?", "c/values.yaml:4:3"],
    );
    assert_eq!(told["go_message"], "execution error at (web/templates/x.yaml:1:3): give an image");
    let piped = "{{ .Values.image.tga | required \"give\\nan image\" }}\n";
    let told = fails(&sandbox(piped), &[], &["did you mean `.Values.image.tag`?"]);
    assert!(told["go_message"].as_str().unwrap().ends_with(": give\nan image"), "{told}");
    let empty = "{{ required \"no\" .Values.empty }}\n";
    fails(&sandbox(empty), &[], &["`.Values.empty` is empty", "c/values.yaml:8:1"]);
    let index = "{{ index .Values \"imge\" \"tag\" }}\n";
    let says = ["index of nil pointer", "did you mean `image`?", "c/values.yaml:2:1"];
    fails(&sandbox(index), &[], &says);
    fails(&sandbox("{{ index .Values.hosts 3 }}\n"), &[], &["index out of range: 3", "the list has 1 item"]);
    fails(&sandbox("{{ index .Values.host 3 }}\n"), &[], &["index of untyped nil", "did you mean `.Values.hosts`?"]);
    let told = fails(&sandbox("{{ fail \"never\" }}\n"), &[], &["never"]);
    assert_eq!(told["notes"], serde_json::json!([]));
}

#[test]
fn unknown_functions_and_templates_name_the_likely_one() {
    let sandbox = sandbox("{{ .Values.port | quot }}\n");
    fails(&sandbox, &[], &["function \"quot\" not defined", "did you mean `quote`?"]);
    sandbox.write("c/templates/_h.tpl", "{{ define \"web.labels\" }}{{ end }}{{ define \"other\" }}{{ end }}");
    for call in ["include \"web.lables\" .", "template \"web.lables\" .", "include (print \"web\" \".lables\") ."] {
        sandbox.write("c/templates/x.yaml", &format!("{{{{ {call} }}}}\n"));
        fails(&sandbox, &[], &["web.lables", "did you mean `web.labels`?"]);
    }
    sandbox.write("c/templates/x.yaml", "{{ if false }}{{ include \"web.lables\" . }}{{ end }}a: 1\n");
    let says =
        ["warning", "no template is named \"web.lables\"", "did you mean `web.labels`?", "c/templates/x.yaml:1:18"];
    sandbox.run(&["check", "c"]).expect(0).says(&says);
}

#[test]
fn check_tells_names_that_neither_values_nor_schema_have() {
    let sandbox = sandbox("a: {{ .Values.image.tga }}\nb: {{ .Values.replicas }}\nc: {{ .Values.more | default 1 }}\n");
    let check = || sandbox.run(&["check", "c"]);
    let found = check().expect(0).says(&[
        "nothing gives `.Values.image.tga`",
        "c/templates/x.yaml:1:20",
        "c/values.yaml:4:3",
        "did you mean `.Values.image.tag`?",
        "nothing gives `.Values.replicas`, so nothing is written",
        "c/templates/x.yaml:2:",
        "2 warnings",
    ]);
    assert!(!found.stderr.contains(".Values.more"), "{}", found.stderr);
    sandbox.run(&["check", "c", "--set", "replicas=1"]).expect(0).says(&["1 warning"]);
    sandbox.write(
        "c/values.schema.json",
        "{\"properties\": {\"replicas\": {}, \"image\": {\"properties\": {\"tag\": {}}}}}",
    );
    check().expect(0).says(&["`.Values.image.tga`", "1 warning"]);
    // A render that fails tells more, once.
    sandbox.write("c/templates/x.yaml", "{{ .Values.imge.tag }}\n");
    check().expect(1).says(&["nil pointer evaluating interface {}.tag", "did you mean `.Values.image`?", "1 error"]);
    // A chart that may change maps is looked at, too.
    sandbox.write("c/templates/x.yaml", "a: {{ .Values.image.tga }}\nb: {{ tpl \"x\" . }}\n");
    check().expect(0).says(&["nothing gives `.Values.image.tga`", "1 warning"]);
    sandbox.write("c/templates/x.yaml", "{{ $_ := merge (dict \"a\" 1) . }}a: {{ .Values.image.tga }}\n");
    check().expect(0).says(&["nothing gives `.Values.image.tga`", "1 warning"]);
    for map in ["(dict \"tga\" 1)", "(fromYaml \"tga: 1\")", ".Values.old"] {
        let text = format!("{{{{ $_ := merge .Values.image {map} }}}}a: {{{{ .Values.image.tga }}}}\n");
        sandbox.write("c/templates/x.yaml", &text);
        let given: &[&str] = if map == ".Values.old" { &["--set", "old.tga=1"] } else { &[] };
        sandbox.run(&[&["check", "c"], given].concat()).expect(0).says(&["no errors"]);
    }
    // A template may set what it reads.
    sandbox.write("c/templates/x.yaml", "{{ $_ := set .Values \"own\" 1 }}a: {{ .Values.own }}\n");
    check().expect(0).says(&["no errors"]);
}

#[test]
fn documents_that_are_no_yaml_have_the_line_of_the_template() {
    let template =
        "{{/* c */}}\nkind: Service\n{{- if true }}\nmetadata:\n  name: x\n {{ .Values.port }}: [\n{{- end }}\n";
    let sandbox = sandbox(template);
    let told = fails(
        &sandbox,
        &[],
        &[
            "the output of `web/templates/x.yaml` is not valid YAML",
            "c/templates/x.yaml:6:",
            "written here",
            "of the rendered text:",
            "  name: x",
        ],
    );
    assert!(told["go_message"].as_str().unwrap().starts_with("YAML parse error on web/templates/x.yaml: "), "{told}");
    assert_eq!(told["line"], 6);
    // A text that a template included is at its own line, and at that of the call.
    sandbox.write("c/templates/_h.tpl", "{{ define \"l\" }}a: b: c{{ end }}");
    sandbox.write("c/templates/x.yaml", "kind: Service\nmetadata:\n  {{- include \"l\" . | nindent 2 }}\n");
    let told = fails(&sandbox, &[], &["c/templates/_h.tpl:1:17", "c/templates/x.yaml:3:", "passed on here"]);
    assert_eq!((told["file"].as_str(), &told["line"]), (Some("c/templates/_h.tpl"), &serde_json::json!(1)));
    sandbox.write("c/templates/x.yaml", "{{/* c\n*/}}\nkind: A\n---\nx: {{ .Values.nothing }}\nmetadata: [\n");
    fails(&sandbox, &[], &["c/templates/x.yaml:6:"]);
    sandbox.write("c/templates/x.yaml", "- a\n");
    fails(&sandbox, &[], &["a document of `web/templates/x.yaml` is not a Kubernetes object: found list"]);
}

#[test]
fn fields_that_no_object_has_are_named() {
    let sandbox = sandbox("");
    for (text, line, says) in [
        (
            "kind: A\nmetadata:\n  annotations:\n    a: b\n    x.y/lk: {}\n",
            5,
            "`metadata.annotations.x.y/lk` has to be a string, found map",
        ),
        ("kind: A\nmetadata:\n  annotations: [a]\n", 3, "`metadata.annotations` has to be a map, found list"),
        ("kind: A\nmetadata:\n  Name: {a: 1}\n", 3, "`metadata.Name` has to be a string, found map"),
        ("a: 1\nmetadata: web\n", 2, "`metadata` has to be a map, found string"),
        ("a: 1\n\nkind: [A]\n", 3, "`kind` has to be a string, found list"),
    ] {
        sandbox.write("c/templates/x.yaml", text);
        let message = format!("a document of `web/templates/x.yaml` is not a Kubernetes object: {says}");
        let told = fails(&sandbox, &[], &[&message, &format!("c/templates/x.yaml:{line}:")]);
        assert!(told["go_message"].as_str().unwrap().contains("cannot unmarshal"), "{told}");
    }
}

#[test]
fn unusual_documents_are_warnings_and_errors_if_wanted() {
    let sandbox = sandbox("kind: A\nx: {{ .Values.port }}\n---\n# none\n---\nkind: B\nkind: C\n");
    sandbox.write("fleet.ndjson", "{\"name\": \"a\"}\n{\"name\": \"b\"}\n");
    let says = ["the key `kind` is given twice", "c/templates/x.yaml:7:1"];
    let warns = |outcome: Outcome, code: i32, word: &str| {
        let outcome = outcome.expect(code).says(&says).says(&[word]);
        assert_eq!(outcome.stderr.matches("is given twice").count(), 1, "{}", outcome.stderr);
    };
    warns(sandbox.run(&["render", "c"]), 0, "warning");
    warns(sandbox.run(&["render", "c", "--check-output", "strict"]), 1, "error");
    warns(sandbox.run(&["render", "--check-output=strict", "c"]), 1, "error");
    warns(sandbox.run(&["check", "c"]), 0, "warning");
    sandbox.run(&["render", "--check-output", "c"]).expect(0).says(&says);
    let stamp = ["stamp", "c", "--fleet", "fleet.ndjson", "-o", "out"];
    warns(sandbox.run(&stamp), 0, "warning");
    let strict = [&stamp[..], &["--check-output", "strict"]].concat();
    sandbox.run(&strict).expect(4).says(&says).says(&["error", "2 clusters"]);
    sandbox.write("t/a.yaml.tera", "a: 1\n");
    let other = ["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out", "--check-output", "strict"];
    sandbox.run(&other).expect(2).says(&["`--check-output` does not apply to `t`"]);
}

#[test]
fn what_is_not_closed_is_shown_where_it_opens() {
    let sandbox = sandbox("a: 1\n");
    for (text, message, place, go) in [
        ("a: 1\n{{ range .x }}\nb: 1\n\n", "`{{ range }}` is not closed", (2, 1), "5): unexpected EOF"),
        ("{{ with .x }}{{ if .y }}\n{{ end }}\nb: 1", "`{{ with }}` is not closed", (1, 1), "3): unexpected EOF"),
        ("a\n{{- if .x }}\nb\n{{ else }}\nc\n", "`{{ if }}` is not closed", (2, 1), "6): unexpected EOF"),
        ("\n{{ define \"x\" }}\nb: 1\n", "`{{ define }}` is not closed", (2, 11), "4): unexpected EOF"),
        ("\n{{ block \"x\" . }}\nb: 1\n", "`{{ block }}` is not closed", (2, 10), "4): unexpected EOF"),
        ("a: 1\nb: {{ .Values.x", "`{{` is not closed", (2, 4), "2): unclosed action"),
        ("b: {{ .Values.x\n\n", "`{{` is not closed", (1, 4), "3): unclosed action started at web/templates/x.yaml:1"),
        ("a: {{ .Values.x\nb: 1\n", "`{{` is not closed", (1, 4), "2): function \"b\" not defined"),
        ("a: {{ (add (add 1 2) 3 }}\n", "`(` is not closed", (1, 7), "1): unclosed left paren"),
        ("a: {{/* x\nb: 1\n", "unclosed comment", (1, 6), "1): unclosed comment"),
        ("a: {{ \"x }}\nb: 1\n", "unterminated quoted string", (1, 7), "1): unterminated quoted string"),
        ("a: {{ `x }}\nb: 1\n", "unterminated raw quoted string", (1, 7), "1): unterminated raw quoted string"),
    ] {
        sandbox.write("c/templates/x.yaml", text);
        let told = fails(&sandbox, &[], &[message]);
        assert_eq!((&told["line"], &told["column"]), (&place.0.into(), &place.1.into()), "{text:?}: {told}");
        assert_eq!(told["go_message"], format!("parse error at (web/templates/x.yaml:{go}"), "{text:?}");
        sandbox.write("x.yaml.gotmpl", text);
        let at = format!("x.yaml.gotmpl:{}:{}", place.0, place.1);
        sandbox.run(&["check", "x.yaml.gotmpl"]).expect(1).says(&[message, &at]);
        sandbox.run(&["check", "c"]).expect(1).says(&[message, &format!("x.yaml:{}:{}", place.0, place.1)]);
    }
}

#[test]
fn long_chains_of_calls_keep_the_outermost_place() {
    let sandbox = sandbox("a: 1\nb: {{ include \"t0\" . }}\n");
    let step = |at: usize| format!("{{{{ define \"t{at}\" }}}}{{{{ include \"t{}\" . }}}}{{{{ end }}}}\n", at + 1);
    let chain: String = (0..30).map(step).collect();
    sandbox
        .write("c/templates/_h.tpl", &format!("{chain}{{{{ define \"t30\" }}}}{{{{ fail \"deep\" }}}}{{{{ end }}}}"));
    let told = fails(&sandbox, &[], &["deep", "c/templates/x.yaml:2:7", "more places"]);
    assert_eq!(told["go_message"], "execution error at (web/templates/x.yaml:2:6): deep");
    assert!(told["notes"].to_string().contains("calls between them are not listed"), "{told}");
}

#[test]
fn causes_that_messages_of_helm_do_not_tell() {
    let sandbox = sandbox("a: 1\n{{- if true }}\nb: {{ range .Values.x }}1{{ end }}\n");
    let says = |parts: &[&str]| sandbox.run(&["render", "c"]).expect(1).says(parts);
    says(&["`{{ if }}` is not closed\n --> c/templates/x.yaml:2:1\n", "- unexpected EOF", "close it with `{{ end }}`"]);
    sandbox.write("c/templates/x.yaml", "a:\n\tb: 1\n");
    says(&["E0906", "a tab indents this line", "help: indent with spaces, not with tabs"]);
    sandbox.write("c/templates/x.yaml", "a: @\n");
    let outcome = says(&["an unquoted value cannot begin with `@`"]);
    assert!(!outcome.stderr.contains("tabs"), "{}", outcome.stderr);
    sandbox.write("c/values.yaml", "a:\n\tb: 1\n");
    says(&["c/values.yaml:2:1", "a tab indents this line", "help: indent with spaces, not with tabs"]);
    std::fs::remove_file(sandbox.path("c/Chart.yaml")).unwrap();
    let outcome = sandbox.run(&["render", "c"]).expect(2);
    outcome.says(&["there is no template in `c`", "a Helm chart has a `Chart.yaml` beside `templates`"]);
}
