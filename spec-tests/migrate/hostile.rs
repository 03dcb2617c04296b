//! Damaged and hostile files: an import ends with an error or a note, and reads nothing outside.

use super::add_chart;
use crate::support::Sandbox;

/// The tools, each with the file that is imported.
const TOOLS: [(&str, &str); 3] =
    [("helmfile", "helmfile.yaml"), ("kustomize", "kustomization.yaml"), ("applicationset", "set.yaml")];

fn run(tool: &str, file: &str, text: &str) -> (Sandbox, crate::support::Outcome) {
    let sandbox = Sandbox::with(&[(file, text), ("secret.txt", "do not copy\n")]);
    let outcome = sandbox.run(&["init", "new", "--from", tool, file]);
    (sandbox, outcome)
}

#[test]
fn damaged_files_are_errors_with_a_place() {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let bombs = (0..40).fold("a0: &a0 [x, x]\n".to_owned(), |text, at| {
        format!("{text}a{}: &a{} [*a{at}, *a{at}, *a{at}]\n", at + 1, at + 1)
    });
    for (tool, file) in TOOLS {
        for text in [
            "",
            "\n",
            "- a\n",
            "5\n",
            "{",
            "a: [",
            &deep,
            &bombs,
            "\u{feff}: {",
            "releases: {a: 1}\nresources: 5\nspec: []\nkind: ApplicationSet\n",
        ] {
            let (sandbox, outcome) = run(tool, file, text);
            assert!([1, 2].contains(&outcome.code), "{tool} {text:.40}: {} {}", outcome.code, outcome.stderr);
            assert!(outcome.stderr.contains("error[E0") && !outcome.stderr.contains("panicked"), "{}", outcome.stderr);
            assert!(!sandbox.path("new").exists(), "{tool}: {text:.40}");
        }
        let sandbox = Sandbox::new();
        sandbox.write(file, "");
        std::fs::write(sandbox.path(file), b"a: \xff\xfe\n").unwrap();
        sandbox.run(&["init", "new", "--from", tool, file]).expect(1).says(&["E0107", file]);
        sandbox.run(&["init", "new", "--from", tool, "none"]).expect(1).says(&["E0901", "none"]);
    }
}

#[test]
fn all_errors_of_a_file_are_told_at_once() {
    let cases = [
        ("helmfile", "helmfile.yaml", "environments: [a]\nreleases: 5\nrepositories: x\ntemplates: []\n", 4),
        ("kustomize", "kustomization.yaml", "resources: 5\npatches: x\nimages: {a: b}\nlabels: 1\n", 4),
        (
            "applicationset",
            "set.yaml",
            "kind: ApplicationSet\nspec: {generators: 5, template: {spec: {sources: x}}}\n",
            1,
        ),
    ];
    for (tool, file, text, count) in cases {
        let (_, outcome) = run(tool, file, text);
        assert_eq!((outcome.code, outcome.stderr.matches("error[E0806]").count()), (1, count), "{}", outcome.stderr);
    }
}

#[test]
fn files_that_name_themselves_end() {
    let helmfile = "bases: [helmfile.yaml]\nhelmfiles: [helmfile.yaml, more.yaml]\nreleases: [{name: w, chart: ./c, inherit: [{template: t}]}]\ntemplates: {t: {inherit: [{template: t}]}}\n";
    let (sandbox, _) = run("helmfile", "helmfile.yaml", helmfile);
    sandbox.write("more.yaml", "helmfiles: [helmfile.yaml]\nbases: [more.yaml]\n");
    add_chart(&sandbox, "c");
    let outcome = sandbox.run(&["init", "two", "--from", "helmfile", "helmfile.yaml"]).expect(0);
    assert!(
        outcome.stderr.contains("includes itself") && outcome.stderr.contains("inherits itself"),
        "{}",
        outcome.stderr
    );
    let sandbox = Sandbox::with(&[
        ("a/kustomization.yaml", "resources: [../b]\n"),
        ("b/kustomization.yaml", "resources: [../a]\ncomponents: [../b]\n"),
    ]);
    let outcome = sandbox.run(&["init", "new", "--from", "kustomize", "."]);
    assert!(outcome.stderr.contains("uses itself"), "{}", outcome.stderr);
}

#[test]
fn nothing_outside_of_the_folder_is_read() {
    let sandbox = Sandbox::with(&[
        ("secret.yaml", "kind: Secret\nmetadata: {name: secret-of-others}\n"),
        (
            "in/helmfile.yaml",
            "environments: {default: {values: [../secret.yaml, /etc/hostname, link.yaml, '../*.yaml']}}\nreleases: [{name: w, chart: ../chart, values: ['../secret.yaml', 'x{{ readFile \"../secret.yaml\" }}']}]\n",
        ),
        (
            "in/kustomization.yaml",
            "resources: [../secret.yaml, link.yaml, ok.yaml]\nconfigMapGenerator: [{name: c, files: [../secret.yaml, /etc/hostname, link.yaml]}]\n",
        ),
        ("in/ok.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ok}\n"),
        (
            "in/set.yaml",
            "kind: ApplicationSet\nspec: {generators: [{git: {files: [{path: '../*.yaml'}]}}, {list: {elements: [{x: '..'}]}}], template: {metadata: {name: a}, spec: {source: {path: '{{x}}'}, destination: {name: '../../../c'}}}}\n",
        ),
    ]);
    add_chart(&sandbox, "chart");
    std::os::unix::fs::symlink("../secret.yaml", sandbox.path("in/link.yaml")).unwrap();
    for (tool, file) in TOOLS {
        let new = format!("new-{tool}");
        let outcome = sandbox.run(&["-C", "in", "init", &new, "--from", tool, file]);
        assert!(!outcome.stderr.contains("panicked") && outcome.code < 3, "{tool}: {}", outcome.stderr);
        let written = sandbox.tree(&format!("in/{new}"));
        assert!(written.values().all(|text| !text.contains("secret-of-others")), "{tool}: {written:?}");
        assert!(outcome.stderr.contains("lies outside of") || tool == "applicationset", "{tool}: {}", outcome.stderr);
        assert_eq!(
            sandbox.tree("").keys().filter(|name| !name.starts_with("in/") && !name.starts_with("chart/")).count(),
            1
        );
    }
}

#[test]
fn names_that_are_no_file_names_stay_within_the_project() {
    let names = ["../../up", "a/b", "..", "", "{x}", "${y}", "a\u{0}b", "nul\n", "é è", "-x", "\"q\"", "x'; y"];
    for name in names {
        let quoted = serde_json::to_string(name).unwrap();
        let sandbox = Sandbox::with(&[
            (
                "in/helmfile.yaml",
                &format!(
                    "environments: {{{quoted}: {{values: [{{a: 1}}]}}, other: {{}}}}\nreleases: [{{name: {quoted}, namespace: {quoted}, chart: ./c, values: [{{a: 1}}]}}]\n"
                ),
            ),
            ("in/kustomization.yaml", "resources: [o.yaml]\n"),
            ("in/o.yaml", &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {quoted}}}\n")),
            (
                "in/set.yaml",
                &format!(
                    "kind: ApplicationSet\nspec: {{generators: [{{list: {{elements: [{{n: {quoted}}}, {{n: o}}]}}}}], template: {{metadata: {{name: '{{{{n}}}}'}}, spec: {{source: {{path: c}}, destination: {{name: '{{{{n}}}}', namespace: '{{{{n}}}}'}}}}}}}}\n"
                ),
            ),
        ]);
        add_chart(&sandbox, "in/c");
        for (tool, file) in TOOLS {
            let new = format!("new-{tool}");
            let outcome = sandbox.run(&["-C", "in", "init", &new, "--from", tool, file]);
            assert!(!outcome.stderr.contains("panicked") && outcome.code < 3, "{tool} {name:?}: {}", outcome.stderr);
            assert!(sandbox.tree("").keys().all(|name| name.starts_with("in/")), "{tool} {name:?}");
            if outcome.code == 0 {
                // The project can be read: names that releases cannot have are errors of clusters.
                let checked = sandbox.run(&["-C", &format!("in/{new}"), "check"]);
                assert!(
                    !checked.stderr.contains("E0801") && !checked.stderr.contains("panicked"),
                    "{tool} {name:?}: {}",
                    checked.stderr
                );
            }
        }
    }
}
