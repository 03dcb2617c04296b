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
    std::fs::remove_file(sandbox.path("out/.dropforge-manifest.json")).unwrap();
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
    sandbox.write("out/.dropforge-run.tmp", "c0/a.yaml\nc1/a.yaml\nc2/a.ya");
    sandbox.write("out/c2/a.yaml", "mine too\n");
    sandbox.stamp(&["--check"]).expect(3).says(&["1 file that dropforge did not write"]);
    sandbox.stamp(&[]).expect(2).says(&["files: c2/a.yaml"]);
    std::fs::remove_file(sandbox.path("out/c2/a.yaml")).unwrap();
    sandbox.stamp(&[]).expect(0).says(&["1 changed"]);
    assert!(!sandbox.path("out/.dropforge-run.tmp").exists());
    for hostile in ["\n\n/\n!\n", "../../x\n", "\u{0}\n"] {
        sandbox.write("out/.dropforge-run.tmp", hostile);
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
    sandbox.write("out/.dropforge-run.tmp", "c1/\nc2/\n!c2/A.yaml\n");
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

const MANIFEST: &str = "out/.dropforge-manifest.json";

/// Stamps with these values and clusters after a common start. Returns the manifest.
fn branch(values: &str, fleet: &str) -> (Sandbox, String) {
    let files = [
        ("t/a.yaml.tera", "name: {{ name }}\nsize: {{ size }}\n"),
        ("v.yaml", "size: 1\n"),
        ("f.csv", "name\nc1\nc2\n"),
    ];
    let sandbox = Sandbox::with(&files);
    stamp_branch(&sandbox).expect(0);
    sandbox.write("v.yaml", values);
    sandbox.write("f.csv", fleet);
    stamp_branch(&sandbox).expect(0);
    let manifest = sandbox.read(MANIFEST);
    (sandbox, manifest)
}

fn stamp_branch(sandbox: &Sandbox) -> crate::support::Outcome {
    sandbox.run(&["stamp", "t", "--fleet", "f.csv", "-f", "v.yaml", "-o", "out"])
}

/// Returns what a merge leaves: what both begin and end with, and a conflict between.
fn merged(ours: &str, theirs: &str) -> String {
    let (mut one, mut two): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
    let mut end = Vec::new();
    while one.last().is_some_and(|last| two.last() == Some(last)) {
        end.extend(one.pop());
        two.pop();
    }
    end.reverse();
    let parts = ["<<<<<<< HEAD"].into_iter().chain(one).chain(["======="]).chain(two).chain([">>>>>>> b"]).chain(end);
    parts.map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_manifest_with_the_conflict_of_a_merge_has_the_files_of_both_sides() {
    let (sandbox, ours) = branch("size: 2\n", "name\nc1\nc2\n");
    let (other, theirs) = branch("size: 1\n", "name\nc1\nc2\nc9\n");
    sandbox.write("f.csv", &other.read("f.csv"));
    sandbox.write("out/c9/a.yaml", &other.read("out/c9/a.yaml"));
    sandbox.write(MANIFEST, &merged(&ours, &theirs));
    let check = ["stamp", "t", "--fleet", "f.csv", "-f", "v.yaml", "-o", "out", "--check"];
    let checked = sandbox.run(&check).expect(3);
    assert_eq!(checked.stdout, "update out/c9/a.yaml\n");
    checked.says(&["the manifest has the conflicts of a merge"]);
    stamp_branch(&sandbox).expect(0).says(&["1 changed"]);
    assert_eq!(sandbox.read("out/c9/a.yaml"), "name: c9\nsize: 2\n");
    assert!(!sandbox.read(MANIFEST).contains("<<<<"));
    assert_eq!(sandbox.run(&check).expect(0).stderr.matches("conflict").count(), 0);
}

#[test]
fn a_manifest_that_cannot_be_merged_says_what_to_do() {
    let (sandbox, ours) = branch("size: 2\n", "name\nc1\nc2\n");
    sandbox.write(MANIFEST, &merged(&ours, &ours.replace("t/a.yaml.tera", "t/b.yaml.tera")));
    stamp_branch(&sandbox).expect(1).says(&["E0920", "different templates", "take one side"]);
    sandbox.write(MANIFEST, "{");
    stamp_branch(&sandbox).expect(1).says(&["E0920", "delete it"]);
    // Files with the content that the run writes are listed again.
    std::fs::remove_file(sandbox.path(MANIFEST)).unwrap();
    stamp_branch(&sandbox).expect(0).says(&["2 unchanged"]);
    assert_eq!(sandbox.read(MANIFEST), ours);
}
