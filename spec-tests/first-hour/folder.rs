//! A folder is rendered without a fleet, as `helm template` does.

use std::os::unix::fs::symlink;

use crate::support::{Outcome, Sandbox};

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("t/app.yaml.tera", "kind: Deployment\nmetadata:\n  name: {{ name }} # ours\n{% include '_labels.tera' %}"),
        ("t/_labels.tera", "tier: {{ tier | default(value='small') }}\n"),
        (
            "t/sub/base.yml.tftpl",
            "---\n# the namespace\nkind: Namespace\n---\nkind: ConfigMap\ndata: {n: \"${name}\"}\n",
        ),
        ("t/motd.tera", "hello {{ name }}\n"),
        ("prod.yaml", "name: web\n"),
    ])
}

fn render(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.run(&[&["render", "t", "-f", "prod.yaml"], more].concat())
}

const APP: &str = "kind: Deployment\nmetadata:\n  name: web # ours\ntier: small\n";

#[test]
fn all_outputs_go_to_one_stream_in_the_order_of_installation() {
    let outcome = render(&sandbox(), &[]).expect(0);
    let wanted = [
        "---\n# Source: sub/base.yml\n# the namespace\nkind: Namespace\n",
        "---\n# Source: sub/base.yml\nkind: ConfigMap\ndata: {n: \"web\"}\n",
        &format!("---\n# Source: app.yaml\n{APP}"),
        "---\n# Source: motd\nhello web\n",
    ];
    assert_eq!((outcome.stdout, outcome.stderr), (wanted.concat(), String::new()));
}

#[test]
fn order_none_keeps_the_order_of_the_templates() {
    let out = render(&sandbox(), &["--order", "none", "--set", "tier=big"]).expect(0).stdout;
    let sources: Vec<&str> = out.lines().filter(|line| line.starts_with("# Source")).collect();
    assert_eq!(sources, ["# Source: app.yaml", "# Source: motd", "# Source: sub/base.yml"]);
    assert!(out.contains("tier: big\n"));
    render(&sandbox(), &["--order", "size"]).expect(2).says(&["expected `install` or `none`"]);
}

#[test]
fn all_outputs_go_into_a_folder() {
    let sandbox = sandbox();
    let outcome = render(&sandbox, &["-o", "out"]).expect(0).says(&["rendered 3 files: 3 new, 0 unchanged"]);
    assert!(outcome.stdout.is_empty() && !outcome.stderr.contains("cluster"), "{}", outcome.stderr);
    let files: Vec<_> = sandbox.outputs("out").into_keys().collect();
    assert_eq!(files, ["app.yaml", "motd", "sub/base.yml"]);
    assert_eq!(sandbox.read("out/app.yaml"), APP);
    render(&sandbox, &["-o", "out", "-q"]).expect(0).says(&[]);
    render(&sandbox, &["-o", "out", "--set", "name=api"]).expect(0).says(&["rendered 3 files: 3 changed"]);
    assert_eq!(sandbox.read("out/motd"), "hello api\n");
}

#[test]
fn a_file_of_someone_else_is_overwritten_only_by_force() {
    let sandbox = sandbox();
    sandbox.write("out/motd", "mine\n");
    render(&sandbox, &["-o", "out"]).expect(2).says(&["1 file in the output directory", "files: motd", "`--force`"]);
    assert_eq!(sandbox.read("out/motd"), "mine\n");
    render(&sandbox, &["-o", "out", "--force"]).expect(0).says(&["2 new, 1 changed"]);
    render(&sandbox, &["-o", "out"]).expect(0).says(&["3 unchanged"]);
}

#[test]
fn errors_name_no_cluster_and_nothing_is_written() {
    let sandbox = sandbox();
    for more in [&["-o", "out"][..], &[]] {
        let outcome = sandbox.run(&[&["render", "t"], more].concat()).expect(1);
        let outcome = outcome.says(&["`name`", "app.yaml.tera:3:", "base.yml.tftpl:", "motd.tera:1:"]);
        assert!(!outcome.stderr.contains("cluster") && outcome.stdout.is_empty(), "{}", outcome.stderr);
    }
    assert!(!sandbox.path("out/motd").exists());
    let json = sandbox.run(&["render", "t", "--error-format", "json"]).expect(1).json();
    assert!(json.iter().all(|error| error.get("cluster").is_none_or(serde_json::Value::is_null)), "{json:?}");
}

#[test]
fn outputs_are_checked_unless_that_is_turned_off() {
    let sandbox = sandbox();
    let broken = ["--set-string", "name=a: b"];
    for more in [&["-o", "out"][..], &[]] {
        let outcome = render(&sandbox, &[&broken, more].concat()).expect(4);
        let outcome = outcome.says(&["E0906", "app.yaml:3:", "app.yaml.tera:3:", "written here"]);
        assert!(outcome.stdout.is_empty());
    }
    assert!(!sandbox.path("out/motd").exists());
    let out = render(&sandbox, &[&broken[..], &["--no-check-output"]].concat()).expect(0).stdout;
    assert!(out.contains("name: a: b # ours\n"));
}

#[test]
fn a_layout_places_the_documents_of_a_folder() {
    let sandbox = sandbox();
    std::fs::remove_file(sandbox.path("t/motd.tera")).unwrap();
    render(&sandbox, &["-o", "out", "--layout", "{name}/{document.kind}.yaml", "--set", "x=1"]).expect(1).says(&[
        "document 1: ",
        "the document has no `metadata.name`",
        "sub/base.yml.tftpl",
    ]);
    render(&sandbox, &["-o", "out", "--layout", "{tier}/{kind}", "--set", "tier=big"]).expect(0);
    let files: Vec<_> = sandbox.tree("out").into_keys().filter(|path| !path.starts_with('.')).collect();
    assert_eq!(files, ["big/ConfigMap.yml", "big/Deployment.yaml", "big/Namespace.yml"]);
    render(&sandbox, &["--layout", "{cluster}/{template}"]).expect(2).says(&["`{cluster}`", "there is no fleet"]);
}

#[test]
fn a_folder_with_a_chart_yaml_is_a_chart() {
    let sandbox = sandbox();
    sandbox.write("t/Chart.yaml", "name: x\n");
    render(&sandbox, &[]).expect(1).says(&["validation: chart.metadata.version is required", "Chart.yaml"]);
}

#[test]
fn options_of_folders_are_refused_for_one_template() {
    let sandbox = sandbox();
    for more in [&["--layout", "{kind}"][..], &["--order", "none"], &["--keep-empty"]] {
        let outcome = sandbox.run(&[&["render", "t/motd.tera", "-f", "prod.yaml"], more].concat()).expect(2);
        outcome.says(&[&format!("`{}` does not apply", more[0]), "one template", "name a folder"]);
    }
    render(&sandbox, &["-t", "x"]).expect(2).says(&["`--template` does not apply to `t`"]);
    sandbox.write("empty/readme.md", "");
    sandbox.run(&["render", "empty"]).expect(2).says(&["there is no template in `empty`"]);
}

#[test]
fn files_of_a_folder_are_compared_with_existing_ones() {
    let sandbox = sandbox();
    let out = |more: &[&str]| render(&sandbox, &[&["-o", "out"], more].concat());
    let outcome = out(&["--check"]).expect(3).says(&["would render 3 files: 3 new, 0 unchanged"]);
    assert_eq!(outcome.stdout, "create out/app.yaml\ncreate out/motd\ncreate out/sub/base.yml\n");
    assert!(!sandbox.path("out").exists());
    out(&[]).expect(0);
    assert_eq!(out(&["--check"]).expect(0).stdout, "");
    assert_eq!(out(&["--dry-run", "--set", "name=api"]).expect(0).stdout.lines().count(), 3);
    let diff = out(&["--diff", "--diff-format", "unified", "--set", "tier=big"]).expect(3).stdout;
    assert!(
        diff.contains("--- out/app.yaml\n+++ out/app.yaml\n") && diff.contains("-tier: small\n+tier: big\n"),
        "{diff}"
    );
    // A file that nothing makes any more is a difference.
    std::fs::remove_file(sandbox.path("t/motd.tera")).unwrap();
    assert_eq!(out(&["--check"]).expect(3).says(&["2 unchanged"]).stdout, "delete out/motd\n");
    assert_eq!(sandbox.read("out/app.yaml"), APP);
    render(&sandbox, &["--diff"]).expect(2).says(&["`--diff` needs an output directory (`-o DIR`)"]);
    sandbox
        .run(&["render", "t/app.yaml.tera", "--check"])
        .expect(2)
        .says(&["`--check` does not apply", "name a folder"]);
}

#[test]
fn a_mounted_config_map_is_a_folder_of_templates() {
    let sandbox = Sandbox::with(&[("cm/..2024_1/app.yaml.tera", "{{ name }}\n"), ("o/x.yaml.tera", "x\n")]);
    symlink("..2024_1", sandbox.path("cm/..data")).unwrap();
    symlink("..data/app.yaml.tera", sandbox.path("cm/app.yaml.tera")).unwrap();
    sandbox.write("f.ndjson", "{\"name\":\"a\"}\n");
    let stamp = ["stamp", "cm", "--fleet", "f.ndjson", "-o", "out"];
    sandbox.run(&stamp).expect(0).says(&["stamped 1 file"]);
    assert_eq!(sandbox.read("out/a/app.yaml"), "a\n");
    symlink("../o/x.yaml.tera", sandbox.path("cm/x.yaml.tera")).unwrap();
    sandbox.run(&stamp).expect(1).says(&["E0505", "cm/x.yaml.tera` leads out of the include root", "-I DIR"]);
    sandbox.run(&[&stamp[..], &["-I", "."]].concat()).expect(0).says(&["stamped 2 files"]);
}
