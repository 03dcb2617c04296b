//! The state of an output directory in the hands of other tools: git merges it, and kubectl and Kustomize ignore it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Outcome, Sandbox, outcome};

/// A project with a file of values for each of `count` clusters, in a repository of git.
fn repository(count: usize) -> Sandbox {
    let sandbox = Sandbox::with(&[
        (
            "templates/app.yaml.tera",
            "kind: ConfigMap\napiVersion: v1\nmetadata: {name: {{ name }}}\ndata: {size: '{{ size }}'}\n",
        ),
        (
            "templates/more.yaml.tera",
            "{% if more %}kind: ConfigMap\napiVersion: v1\nmetadata: {name: more-{{ name }}}\n{% endif %}",
        ),
        ("values.yaml", "size: 1\nmore: false\n"),
        (
            "dropforge.toml",
            "templates = [\"templates\"]\nvalues = [\"values.yaml\"]\nfleet = [\"clusters/*.yaml\"]\n[output]\ndir = \"out\"\n",
        ),
    ]);
    (0..count).for_each(|nth| cluster(&sandbox, nth, ""));
    git(&sandbox, &["init", "-q", "-b", "main"]).expect(0);
    commit(&sandbox, "first");
    sandbox
}

fn cluster(sandbox: &Sandbox, nth: usize, more: &str) {
    sandbox.write(&format!("clusters/c{nth}.yaml"), &format!("name: c{nth}\n{more}"));
}

fn git(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    let mut command = Command::new("git");
    command.current_dir(sandbox.path("")).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "ci").env(format!("GIT_{who}_EMAIL"), "ci@example.com");
    }
    outcome(command)
}

/// Stamps and commits everything.
fn commit(sandbox: &Sandbox, message: &str) {
    sandbox.run(&["stamp", "--prune"]).expect(0);
    git(sandbox, &["add", "-A"]).expect(0);
    git(sandbox, &["commit", "-q", "--allow-empty", "-m", message]).expect(0);
}

/// Returns `true` if git is missing, which is an error in CI.
pub fn is_missing(tool: &Path) -> bool {
    let is_missing = Command::new(tool).arg("version").output().is_err();
    assert!(!is_missing || std::env::var_os("CI").is_none(), "{} is missing", tool.display());
    if is_missing {
        eprintln!("skipped: {} is missing", tool.display());
    }
    is_missing
}

/// Returns the order in which branches are merged.
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut left: Vec<usize> = (0..count).collect();
    let mut random = seed.wrapping_mul(6_364_136_223_846_793_005) | 1;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    (0..count).map(|_| left.swap_remove(next(left.len()))).collect()
}

#[test]
fn branches_that_change_different_clusters_merge_in_any_order() {
    if is_missing(Path::new("git")) {
        return;
    }
    let sandbox = repository(50);
    // Neighbours in every list, with values, new outputs, new clusters and clusters that go.
    for branch in 0..20 {
        git(&sandbox, &["checkout", "-q", "-b", &format!("b{branch}"), "main"]).expect(0);
        match branch % 4 {
            0 => std::fs::remove_file(sandbox.path(&format!("clusters/c{branch}.yaml"))).unwrap(),
            1 => cluster(&sandbox, branch, "size: 7\n"),
            2 => cluster(&sandbox, branch, "more: true\n"),
            _ => cluster(&sandbox, 50 + branch, ""),
        }
        commit(&sandbox, "a branch");
    }
    for seed in 1..=3 {
        git(&sandbox, &["checkout", "-q", "-B", "all", "main"]).expect(0);
        for branch in shuffled(20, seed) {
            let merged = git(&sandbox, &["merge", "-q", "--no-edit", &format!("b{branch}")]);
            assert_eq!(merged.code, 0, "{seed}, b{branch}: {}{}", merged.stdout, merged.stderr);
        }
        let checked = sandbox.run(&["stamp", "--check"]).expect(0);
        assert_eq!(checked.stdout, "", "{}", checked.stderr);
        // The merged state is the one that a run writes.
        sandbox.run(&["stamp", "--prune"]).expect(0).says(&["unchanged"]);
        assert_eq!(git(&sandbox, &["status", "--porcelain"]).expect(0).stdout, "");
    }
}

#[test]
fn branches_that_change_values_files_of_different_clusters_merge_in_any_order() {
    if is_missing(Path::new("git")) {
        return;
    }
    let sandbox = repository(20);
    let project = sandbox.read("dropforge.toml");
    sandbox.write("dropforge.toml", &format!("layers = [\"own/{{cluster}}.yaml?\", \"all.yaml\"]\n{project}"));
    sandbox.write("all.yaml", "tier: 1\n");
    let own = |nth: usize| format!("own/c{nth}.yaml");
    (0..20).step_by(2).for_each(|nth| sandbox.write(&own(nth), "size: 2\n"));
    commit(&sandbox, "layers");
    for branch in 0..12 {
        git(&sandbox, &["checkout", "-q", "-b", &format!("b{branch}"), "main"]).expect(0);
        match branch % 4 {
            0 => std::fs::remove_file(sandbox.path(&own(branch))).unwrap(),
            _ => sandbox.write(&own(branch), &format!("size: 2{branch}\n")),
        }
        commit(&sandbox, "a branch");
    }
    git(&sandbox, &["checkout", "-q", "-B", "merged", "main"]).expect(0);
    for branch in shuffled(12, 5) {
        let merged = git(&sandbox, &["merge", "-q", "--no-edit", &format!("b{branch}")]);
        assert_eq!(merged.code, 0, "b{branch}: {}{}", merged.stdout, merged.stderr);
    }
    sandbox.run(&["stamp", "--prune"]).expect(0).says(&["unchanged"]);
    assert_eq!(git(&sandbox, &["status", "--porcelain"]).expect(0).stdout, "");
    // A change of such a file is still one of what the run read.
    sandbox.write(&own(1), "size: 9\n");
    sandbox.run(&["why", "out/c1/app.yaml:4"]).says(&["own/c1.yaml", "changed after the run"]);
}

#[test]
fn a_conflict_in_one_cluster_is_mended_by_the_next_run() {
    if is_missing(Path::new("git")) {
        return;
    }
    for style in ["merge", "diff3"] {
        let sandbox = repository(4);
        git(&sandbox, &["config", "merge.conflictStyle", style]).expect(0);
        git(&sandbox, &["checkout", "-q", "-b", "other"]).expect(0);
        cluster(&sandbox, 1, "size: 2\nmore: true\n");
        cluster(&sandbox, 9, "size: 2\n");
        commit(&sandbox, "other");
        git(&sandbox, &["checkout", "-q", "main"]).expect(0);
        cluster(&sandbox, 1, "size: 3\n");
        cluster(&sandbox, 9, "size: 3\n");
        commit(&sandbox, "ours");
        assert_eq!(git(&sandbox, &["merge", "-q", "other"]).code, 1);
        for cluster in [1, 9] {
            assert!(sandbox.read(&format!("out/.dropforge/clusters/c{cluster}.state")).contains("<<<<<<<"));
        }
        assert!(!sandbox.read("out/.dropforge/runs").contains("<<<<<<<"));
        cluster(&sandbox, 1, "size: 3\n");
        cluster(&sandbox, 9, "size: 3\n");
        let checked = sandbox.run(&["stamp", "--check"]).expect(3).says(&["the conflicts of a merge"]);
        assert!(checked.stdout.contains("delete out/c1/more.yaml"), "{}", checked.stdout);
        // The file of the other side is known as written by dropforge.
        sandbox.run(&["stamp", "--prune"]).expect(0).says(&["1 deleted", "2 changed"]);
        assert!(!sandbox.state("out").contains("<<<<<<<") && !sandbox.path("out/c1/more.yaml").exists());
        assert!(sandbox.run(&["stamp", "--check"]).expect(0).stderr.find("conflict").is_none());
        sandbox.run(&["stamp", "--prune"]).expect(0).says(&["5 unchanged"]);
    }
}

#[test]
fn runs_with_conflicts_have_the_files_of_both_sides() {
    let sandbox = Sandbox::fleet(2);
    sandbox.stamp(&[]).expect(0);
    let runs = sandbox.read("out/.dropforge/runs");
    let digest = runs.lines().find(|line| line.contains("t/b.yaml.tera\": ")).unwrap().to_owned();
    let other = digest.replace(": \"", ": \"0");
    let conflict = format!("<<<<<<< HEAD\n{digest}\n||||||| base\nx\n=======\n{other}\n>>>>>>> b");
    sandbox.write("out/.dropforge/runs", &runs.replace(&digest, &conflict));
    sandbox.stamp(&["--check", "--prune"]).expect(0).says(&["the conflicts of a merge"]);
    sandbox.stamp(&["--prune"]).expect(0).says(&["4 unchanged"]);
    assert_eq!(sandbox.read("out/.dropforge/runs"), runs);
}

#[test]
fn the_state_of_earlier_versions_is_replaced() {
    let sandbox = Sandbox::fleet(2);
    // The digest of `old` with a line feed.
    let digest = "87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c";
    let row = |path: &str| format!("[\"{path}\",0,\"{digest}\"]");
    let old = format!(
        "{{\"version\":2,\"hash\":\"blake3\",\"templates\":[\"t/a.yaml.tera\"],\"clusters\":{{\n\"c0\":[{}],\n\"c9\":[{}]\n}},\"files\":{{}}}}\n",
        row("c0/a.yaml"),
        row("c9/a.yaml")
    );
    let write = || {
        sandbox.write("out/.dropforge-manifest.json", &old);
        ["c0", "c9"].iter().for_each(|name| sandbox.write(&format!("out/{name}/a.yaml"), "old\n"));
    };
    write();
    let before = sandbox.tree("out");
    let checked = sandbox.stamp(&["--check"]).expect(3);
    assert!(checked.stdout.contains("update out/c0/a.yaml") && checked.stdout.contains("delete out/c9/a.yaml"));
    assert_eq!(sandbox.tree("out"), before);
    sandbox.stamp(&[]).expect(0).says(&["1 changed"]);
    assert!(!sandbox.path("out/.dropforge-manifest.json").exists());
    // Both, as after a merge with a branch of an earlier version.
    write();
    sandbox.stamp(&["--prune"]).expect(0).says(&["1 deleted", "1 changed"]);
    assert_eq!(sandbox.outputs("out").len(), 4);
    assert!(!sandbox.path("out/.dropforge-manifest.json").exists());
}

#[test]
fn a_cluster_whose_state_did_not_change_keeps_its_file() {
    use std::os::unix::fs::MetadataExt;
    let sandbox = Sandbox::fleet(3);
    sandbox.stamp(&[]).expect(0);
    let files = || {
        let names = ["clusters/c0.state", "clusters/c1.state", "clusters/c2.state", "runs"];
        names.map(|name| std::fs::metadata(sandbox.path(&format!("out/.dropforge/{name}"))).unwrap().ino())
    };
    let before = files();
    sandbox.write("fleet.ndjson", &crate::support::clusters(3, |n| format!("\"n\":{}", 1 + n / 2)));
    sandbox.stamp(&[]).expect(0).says(&["2 changed"]);
    let after = files();
    let changed: Vec<usize> = (0..4).filter(|nth| before[*nth] != after[*nth]).collect();
    assert_eq!(changed, [2]);
    // A cluster that is gone takes its file along.
    sandbox.write("fleet.ndjson", &crate::support::clusters(2, |_| "\"n\":1".to_owned()));
    sandbox.stamp(&["--prune"]).expect(0).says(&["2 deleted"]);
    assert!(!sandbox.path("out/.dropforge/clusters/c2.state").exists());
}

#[test]
fn a_list_of_fleets_that_grows_changes_no_other_cluster() {
    let sandbox = Sandbox::fleet(1);
    let mut fleets = Vec::new();
    let mut before = Vec::new();
    for nth in 0..4 {
        sandbox.write(&format!("f/c{nth}.yaml"), &format!("name: c{nth}\nn: 1\n"));
        fleets.push(format!("--fleet=f/c{nth}.yaml"));
        if nth > 0 {
            let args: Vec<&str> =
                ["stamp", "t", "-o", "out"].into_iter().chain(fleets.iter().map(String::as_str)).collect();
            sandbox.run(&args).expect(0);
            before.push(sandbox.read("out/.dropforge/clusters/c0.state"));
        }
    }
    before.dedup();
    assert_eq!(before.len(), 1, "{before:?}");
}

#[test]
fn without_the_runs_nobody_is_the_owner() {
    let sandbox = Sandbox::fleet(3);
    sandbox.stamp(&[]).expect(0);
    std::fs::remove_file(sandbox.path("out/.dropforge/runs")).unwrap();
    sandbox.write("fleet.ndjson", &crate::support::clusters(2, |_| "\"n\":1".to_owned()));
    sandbox.stamp(&["--prune", "--prune-force"]).expect(0).says(&["4 unchanged"]);
    assert_eq!(sandbox.outputs("out").len(), 6);
    std::fs::remove_file(sandbox.path("out/.dropforge/runs")).unwrap();
    sandbox.stamp(&["--set", "n=5", "--prune"]).expect(2).says(&["E0922"]);
}

pub fn kubectl() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(target).join("kubectl/kubectl")
}

#[test]
fn kubectl_and_kustomize_read_the_folder() {
    let kubectl = kubectl();
    if is_missing(&kubectl) {
        return eprintln!("spec-tests/kubectl/install was not run");
    }
    let sandbox = repository(3);
    // Names that look like files of objects.
    for name in ["x.yaml", "y.json", "runs.yml"] {
        sandbox.write(&format!("clusters/{name}.yaml"), &format!("name: {name}\n"));
    }
    sandbox.run(&["stamp"]).expect(0);
    // A record that a killed run leaves.
    sandbox.write("out/.dropforge/unfinished", "x\n");
    let run = |args: &[&str]| {
        let mut command = Command::new(&kubectl);
        command.current_dir(sandbox.path("")).args(args).env("KUBECONFIG", "/dev/null");
        outcome(command)
    };
    let label = run(&["label", "--local", "-R", "-f", "out/", "a=b", "--dry-run=client", "-o", "name"]).expect(0);
    assert_eq!((label.stdout.lines().count(), &*label.stderr), (6, ""), "{}", label.stdout);
    let resources: Vec<String> = sandbox.outputs("out").into_keys().filter(|path| path.ends_with("app.yaml")).collect();
    sandbox.write("out/kustomization.yaml", &format!("resources: [{}]\n", resources.join(", ")));
    let built = run(&["kustomize", "out"]).expect(0);
    assert_eq!((built.stdout.matches("kind: ConfigMap").count(), &*built.stderr), (6, ""));
}
