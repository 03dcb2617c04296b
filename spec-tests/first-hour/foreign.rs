//! Files that dropforge did not write are not overwritten.

use crate::support::{Outcome, Sandbox, clusters};

fn kept(sandbox: &Sandbox) {
    assert_eq!(sandbox.read("out/c1/a.yaml"), "mine\n");
}

/// Three clusters, and a file of the user at a planned path.
fn with_mine() -> Sandbox {
    let sandbox = Sandbox::fleet(3);
    sandbox.write("out/c1/a.yaml", "mine\n");
    sandbox
}

#[test]
fn nothing_is_written_over_a_foreign_file() {
    let sandbox = with_mine();
    let outcome = sandbox.stamp(&[]).expect(2).says(&[
        "error[E0922]: 1 file in the output directory would be overwritten, but dropforge did not write it",
        "files: c1/a.yaml",
        "--force",
    ]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1);
    assert_eq!(sandbox.tree("out").len(), 1);
    kept(&sandbox);
    sandbox.stamp(&["--force"]).expect(0).says(&["5 new, 1 changed"]);
    sandbox.stamp(&["--set", "n=2"]).expect(0).says(&["6 changed"]);
}

#[test]
fn many_foreign_files_are_one_error() {
    let sandbox = Sandbox::fleet(40);
    (0..40).for_each(|n| sandbox.write(&format!("out/c{n}/b.yaml"), "mine\n"));
    let outcome = sandbox.stamp(&[]).expect(2).says(&["40 files in the output", "c0/b.yaml, c1/b.yaml", "and 35 more"]);
    assert_eq!(outcome.stderr.matches("error[").count(), 1);
}

#[test]
fn previews_show_foreign_files_as_differences() {
    let sandbox = with_mine();
    let warning = "1 file that dropforge did not write would change: a run needs `--force`";
    let outcome = sandbox.stamp(&["--check"]).expect(3).says(&[warning]);
    assert!(outcome.stdout.contains("update out/c1/a.yaml\n"));
    sandbox.stamp(&["--diff"]).expect(3).says(&[warning]);
    sandbox.stamp(&["--dry-run"]).expect(0).says(&[warning]);
    assert!(!sandbox.stamp(&["--check", "--force"]).expect(3).stderr.contains("a run needs"));
    kept(&sandbox);
}

#[test]
fn equal_files_are_adopted() {
    let sandbox = Sandbox::fleet(2);
    sandbox.stamp(&[]).expect(0);
    let stamped = sandbox.tree("out");
    std::fs::remove_dir_all(sandbox.path("out/.dropforge")).unwrap();
    sandbox.stamp(&["--check"]).expect(0);
    sandbox.stamp(&[]).expect(0).says(&["4 unchanged"]);
    assert_eq!(sandbox.tree("out"), stamped);
    sandbox.stamp(&["--set", "n=2"]).expect(0).says(&["4 changed"]);
}

#[test]
fn an_edited_file_of_ours_is_overwritten() {
    let sandbox = Sandbox::fleet(2);
    sandbox.stamp(&[]).expect(0);
    sandbox.write("out/c1/a.yaml", "edited\n");
    sandbox.stamp(&[]).expect(0).says(&["1 changed"]);
    assert_eq!(sandbox.read("out/c1/a.yaml"), "name: c1\nn: 1\n");
}

#[test]
fn only_the_selected_clusters_count() {
    let sandbox = with_mine();
    sandbox.stamp(&["-l", "name=c0"]).expect(0);
    sandbox.stamp(&["-l", "name=c1"]).expect(2).says(&["E0922"]);
    kept(&sandbox);
    // A cluster that fails writes nothing, so its files are in no danger.
    sandbox.write("fleet.ndjson", &clusters(3, |n| if n == 1 { "\"m\":1".into() } else { "\"n\":1".into() }));
    sandbox.stamp(&[]).expect(4).says(&["E0201"]);
    kept(&sandbox);
}

#[test]
fn a_killed_run_has_recorded_its_files() {
    let sandbox = with_mine();
    sandbox.write("out/.dropforge/unfinished", "c0/a.yaml\nc1/a.yaml\nc2/a.ya");
    sandbox.write("out/c2/a.yaml", "mine too\n");
    sandbox.stamp(&["--check"]).expect(3).says(&["1 file that dropforge did not write"]);
    sandbox.stamp(&[]).expect(2).says(&["files: c2/a.yaml"]);
    std::fs::remove_file(sandbox.path("out/c2/a.yaml")).unwrap();
    sandbox.stamp(&[]).expect(0).says(&["1 changed"]);
    assert!(!sandbox.path("out/.dropforge/unfinished").exists());
    for hostile in ["\n\n/\n!\n", "../../x\n", "\u{0}\n"] {
        sandbox.write("out/.dropforge/unfinished", hostile);
        sandbox.stamp(&[]).expect(0);
    }
}

fn documents(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.stamp(&[&["--layout", "{cluster}/{kind}", "--output-format", "yaml"], more].concat())
}

#[test]
fn files_of_documents_are_known_before_the_first_write() {
    let sandbox = Sandbox::fleet(3);
    sandbox.write("t/a.yaml.tera", "");
    std::fs::remove_file(sandbox.path("t/a.yaml.tera")).unwrap();
    std::fs::remove_file(sandbox.path("t/b.yaml.tera")).unwrap();
    sandbox.write("t/x.cel", "{'kind': 'A', 'name': name, 'n': n}");
    sandbox.write("out/c2/A.yaml", "mine\n");
    sandbox.write("out/c2/notes.md", "mine\n");
    documents(&sandbox, &[]).expect(2).says(&["E0922", "files: c2/A.yaml"]);
    assert_eq!(sandbox.tree("out").len(), 2);
    documents(&sandbox, &["--check"]).expect(3).says(&["1 file that dropforge did not write"]);
    // A killed run leaves its directories, and the files that were there before it.
    sandbox.write("out/.dropforge/unfinished", "c1/\nc2/\n!c2/A.yaml\n");
    sandbox.write("out/c1/A.yaml", "from the killed run\n");
    documents(&sandbox, &[]).expect(2).says(&["1 file in", "files: c2/A.yaml"]);
    documents(&sandbox, &["--force"]).expect(0).says(&["1 new, 2 changed"]);
    documents(&sandbox, &["--set", "n=2"]).expect(0).says(&["3 changed"]);
    assert_eq!(sandbox.read("out/c2/notes.md"), "mine\n");
}

#[test]
fn a_folder_without_a_fleet_is_no_different() {
    let sandbox = Sandbox::with(&[("t/a.yaml.tera", "kind: A\nn: {{ n }}\n"), ("out/A.yaml", "mine\n")]);
    let render = |more: &[&str]| sandbox.run(&[&["render", "t", "-o", "out", "--layout", "{kind}"], more].concat());
    render(&["--set", "n=1"]).expect(2).says(&["E0922", "files: A.yaml"]);
    assert_eq!(sandbox.read("out/A.yaml"), "mine\n");
    render(&["--set", "n=1", "--force"]).expect(0).says(&["1 changed"]);
    render(&["--set", "n=2"]).expect(0).says(&["1 changed"]);
    sandbox.run(&["render", "t/a.yaml.tera", "--set", "n=1", "--force"]).expect(2).says(&["name a folder"]);
}

#[test]
fn one_file_for_all_is_replaced() {
    let sandbox = Sandbox::fleet(2);
    sandbox.write("all.yaml", "mine\n");
    let single = ["stamp", "t/a.yaml.tera", "--fleet", "fleet.ndjson", "--layout", "single", "-o", "all.yaml"];
    sandbox.run(&single).expect(0);
    assert!(sandbox.read("all.yaml").starts_with("---\n# Source: c0/a.yaml\n"));
}
