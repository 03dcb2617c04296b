//! Exit codes that are the same in every language and command.

use crate::support::Sandbox;

/// A template of each language that cannot be parsed, and the name by which it is rendered.
const UNPARSED: [(&str, &str, &str); 7] = [
    ("t.tower", "t.tower", "${params.x"),
    ("t.tera", "t.tera", "{{ x"),
    ("t.tftpl", "t.tftpl", "${x"),
    ("t.cel", "t.cel", "x +"),
    ("t.cel.yaml", "t.cel.yaml", "a: ${x"),
    ("t.gotmpl", "t.gotmpl", "{{ .x"),
    ("t/templates/a.yaml", "t", "{{ .x"),
];

const TEST: &str = "tests:\n  - it: renders\n    asserts:\n      - hasDocuments: {count: 1}\n";

#[test]
fn a_template_that_cannot_be_parsed_has_one_exit_code() {
    for (file, name, text) in UNPARSED {
        let chart = ("t/Chart.yaml", "apiVersion: v2\nname: t\nversion: 0.1.0\n");
        let is_chart = file != name;
        let test = if is_chart { "t/tests/t.test.yaml" } else { "t.test.yaml" };
        let mut files = vec![(file, text), ("fleet.yaml", "- name: eu-1\n- name: us-1\n"), (test, TEST)];
        files.extend(is_chart.then_some(chart));
        let sandbox = Sandbox::with(&files);
        let target = if is_chart { "t" } else { "." };
        for command in [
            &["render", name][..],
            &["stamp", name, "--fleet", "fleet.yaml", "-o", "out"],
            &["stamp", name, "--fleet", "fleet.yaml", "--layout", "single"],
            &["check", name],
            &["check", name, "--fleet", "fleet.yaml"],
            &["test", target],
            &["compile", name, "-o", "t.mpk"],
        ] {
            let run = sandbox.run(command);
            assert_eq!(run.code, 1, "{file}: {command:?}: {}", run.stderr);
            assert!(!sandbox.path("out/eu-1").exists() && !sandbox.path("t.mpk").exists(), "{file}: {command:?}");
        }
    }
}
