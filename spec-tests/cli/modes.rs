//! Runs that write nothing, and pruning.

use crate::support::{Sandbox, clusters};

#[test]
fn check_dry_run_and_diff_write_nothing() {
    let sandbox = Sandbox::fleet(3);
    let would = sandbox.stamp(&["--dry-run"]).expect(0).says(&["would stamp 6 files for 3 clusters: 6 new"]).stdout;
    assert_eq!(would.lines().next(), Some("create out/c0/a.yaml"));
    sandbox.stamp(&["--check"]).expect(3);
    assert!(!sandbox.path("out").exists());
    sandbox.stamp(&[]).expect(0);
    assert_eq!(sandbox.stamp(&["--check"]).expect(0).stdout, "");
    assert_eq!(sandbox.stamp(&["--diff"]).expect(0).stdout, "");
    let before = sandbox.tree("out");
    let diff = sandbox.stamp(&["--diff", "--diff-format", "unified", "--set", "n=2"]).expect(3).stdout;
    let first = "--- out/c0/a.yaml\n+++ out/c0/a.yaml\n@@ -1,2 +1,2 @@\n name: c0\n-n: 1\n+n: 2\n--- out/c0/b.yaml\n";
    assert!(diff.starts_with(first), "{diff}");
    assert_eq!(sandbox.stamp(&["--check", "--set", "n=2"]).expect(3).stdout.lines().count(), 6);
    assert_eq!(sandbox.tree("out"), before);
}

#[test]
fn a_failing_cluster_shows_in_a_check() {
    let sandbox = Sandbox::fleet(3);
    sandbox.stamp(&[]).expect(0);
    sandbox.write("fleet.ndjson", &clusters(3, |n| if n == 1 { "\"m\":1".into() } else { "\"n\":1".into() }));
    sandbox.stamp(&["--check"]).expect(4).says(&["cluster: c1"]);
}

#[test]
fn unchanged_files_are_left_alone() {
    use std::os::unix::fs::MetadataExt;
    let sandbox = Sandbox::fleet(2);
    sandbox.stamp(&[]).expect(0);
    let node = |name: &str| std::fs::metadata(sandbox.path(name)).unwrap().ino();
    let before =
        ["out/c0/a.yaml", "out/c1/b.yaml", "out/.dropforge/runs", "out/.dropforge/clusters/c1.state"].map(node);
    sandbox.stamp(&[]).expect(0).says(&["4 unchanged"]);
    assert_eq!(
        ["out/c0/a.yaml", "out/c1/b.yaml", "out/.dropforge/runs", "out/.dropforge/clusters/c1.state"].map(node),
        before
    );
}

#[test]
fn pruning_removes_stale_files_of_earlier_runs() {
    let sandbox = Sandbox::fleet(4);
    sandbox.stamp(&[]).expect(0);
    sandbox.write("out/c3/mine.txt", "keep");
    sandbox.write("out/c2/b.yaml", "edited");
    sandbox.write("fleet.ndjson", &clusters(2, |_| "\"n\":1".into()));
    sandbox.stamp(&[]).expect(0);
    assert!(sandbox.path("out/c3/a.yaml").exists());
    assert_eq!(sandbox.stamp(&["--prune", "--check"]).expect(3).stdout.matches("delete out/").count(), 4);
    sandbox.stamp(&["--prune"]).expect(0).says(&["3 deleted", "kept 1 stale file"]);
    let left: Vec<String> = sandbox.tree("out").into_keys().filter(|path| path.starts_with(['c'])).collect();
    assert_eq!(left, ["c0/a.yaml", "c0/b.yaml", "c1/a.yaml", "c1/b.yaml", "c2/b.yaml", "c3/mine.txt"]);
    sandbox.stamp(&["--prune"]).expect(0);
    assert_eq!(sandbox.read("out/c2/b.yaml"), "edited");
}

#[test]
fn pruning_waits_for_a_run_without_failures() {
    let sandbox = Sandbox::fleet(4);
    sandbox.stamp(&[]).expect(0);
    sandbox.write("fleet.ndjson", &clusters(3, |n| if n == 1 { "\"m\":1".into() } else { "\"n\":2".into() }));
    sandbox.stamp(&["--prune"]).expect(4).says(&["pruned nothing"]);
    assert!(sandbox.path("out/c3/a.yaml").exists());
    sandbox.write("fleet.ndjson", &clusters(3, |_| "\"n\":2".into()));
    sandbox.stamp(&["--prune"]).expect(0).says(&["2 deleted"]);
    assert!(!sandbox.path("out/c3").exists());
}

#[test]
fn pruning_most_of_it_must_be_meant() {
    let sandbox = Sandbox::fleet(4);
    sandbox.stamp(&[]).expect(0);
    sandbox.write("fleet.ndjson", &clusters(1, |_| "\"n\":2".into()));
    let before = sandbox.tree("out");
    sandbox.stamp(&["--prune"]).expect(2).says(&["E0919", "6 of 8", "--prune-force"]);
    assert_eq!(sandbox.tree("out"), before);
    sandbox.stamp(&["--prune", "--prune-force"]).expect(0).says(&["6 deleted"]);
}

#[test]
fn clusters_that_are_not_selected_are_not_pruned() {
    let sandbox = Sandbox::fleet(4);
    sandbox.stamp(&[]).expect(0);
    sandbox.stamp(&["-l", "name=c0", "--set", "n=5", "--prune"]).expect(0).says(&["2 changed"]);
    assert_eq!(sandbox.outputs("out").len(), 8);
    assert!(sandbox.read("out/c1/a.yaml").contains("n: 1"));
}

#[test]
fn a_list_that_is_not_ours_is_refused() {
    let sandbox = Sandbox::fleet(1);
    sandbox.write("out/.dropforge-manifest.json", "{\"files\": [\"../../x\"]}");
    sandbox.stamp(&[]).expect(1).says(&["E0920"]);
}
