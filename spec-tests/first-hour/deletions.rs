//! Files that nothing makes any more are a difference.

use crate::support::{Outcome, Sandbox, clusters};

/// Four stamped clusters with two templates, of which the last is gone since.
fn one_less() -> Sandbox {
    let sandbox = Sandbox::fleet(4);
    sandbox.stamp(&[]).expect(0);
    fleet_of(&sandbox, 3);
    sandbox
}

fn fleet_of(sandbox: &Sandbox, count: usize) {
    sandbox.write("fleet.ndjson", &clusters(count, |_| "\"n\":1".into()));
}

#[track_caller]
fn deletes(outcome: Outcome, paths: &[&str]) {
    let code = if paths.is_empty() { 0 } else { 3 };
    let lines: String = paths.iter().map(|path| format!("delete out/{path}\n")).collect();
    assert_eq!(outcome.expect(code).stdout, lines);
}

#[test]
fn a_check_sees_the_files_of_a_cluster_that_is_gone() {
    let sandbox = one_less();
    deletes(sandbox.stamp(&["--check"]), &["c3/a.yaml", "c3/b.yaml"]);
    deletes(sandbox.stamp(&["--check", "--prune"]), &["c3/a.yaml", "c3/b.yaml"]);
    sandbox.stamp(&["--diff"]).expect(3);
    // A plain run deletes nothing, and a preview of it says so.
    assert_eq!(sandbox.stamp(&["--dry-run"]).expect(0).stdout, "");
    assert!(sandbox.path("out/c3/a.yaml").exists());
    sandbox.stamp(&["--prune"]).expect(0).says(&["2 deleted"]);
    deletes(sandbox.stamp(&["--check"]), &[]);
}

#[test]
fn files_that_are_already_gone_are_no_difference() {
    let sandbox = one_less();
    std::fs::remove_dir_all(sandbox.path("out/c3")).unwrap();
    deletes(sandbox.stamp(&["--check"]), &[]);
    assert!(!sandbox.stamp(&[]).expect(0).stderr.contains("no longer made"));
}

#[test]
fn a_run_tells_of_files_that_only_pruning_deletes() {
    let sandbox = one_less();
    let note = "note: 2 files of former runs are no longer made, such as `c3/a.yaml`; `--prune` removes them\n";
    let stream = ["--stream", "--set", "n=1"];
    for more in [&["--dry-run"][..], &["--check"], &["--diff"], &[], &[]] {
        let outcome = sandbox.stamp(more);
        assert!(outcome.stderr.contains(note), "{more:?}: {}", outcome.stderr);
    }
    // Runs of a part of the fleet, and those with other options or templates, know nothing of these files.
    let one = ["stamp", "t/a.yaml.tera", "--fleet", "fleet.ndjson", "-o", "out"];
    for outcome in [
        sandbox.stamp(&["-l", "name=c0"]),
        sandbox.stamp(&["--set", "n=1"]),
        sandbox.stamp(&stream),
        sandbox.run(&one),
        sandbox.stamp(&["--prune"]),
        sandbox.stamp(&[]),
    ] {
        let outcome = outcome.expect(0);
        assert!(!outcome.stderr.contains("no longer made"), "{}", outcome.stderr);
    }
    // Standard input may hold another part of a fleet each time.
    for count in [3, 1] {
        let fed = ["stamp", "t", "--fleet", "-", "--fleet-format", "ndjson", "-o", "fed"];
        let outcome = sandbox.feed(&fed, &clusters(count, |_| "\"n\":1".into())).expect(0);
        assert!(!outcome.stderr.contains("no longer made"), "{}", outcome.stderr);
    }
    fleet_of(&sandbox, 2);
    std::fs::remove_file(sandbox.path("out/c2/a.yaml")).unwrap();
    sandbox
        .stamp(&["--stream"])
        .expect(0)
        .says(&["1 file of a former run is no longer made: `c2/b.yaml`; `--prune` removes it"]);
}

#[test]
fn the_guards_of_pruning_stop_no_check() {
    let sandbox = one_less();
    fleet_of(&sandbox, 1);
    let gone = ["c1/a.yaml", "c1/b.yaml", "c2/a.yaml", "c2/b.yaml", "c3/a.yaml", "c3/b.yaml"];
    deletes(sandbox.stamp(&["--check"]), &gone);
    deletes(sandbox.stamp(&["--check", "--prune"]), &gone);
    sandbox.stamp(&["--prune"]).expect(2).says(&["E0919", "6 of 8"]);
    fleet_of(&sandbox, 0);
    assert_eq!(sandbox.stamp(&["--check"]).expect(3).stdout.lines().count(), 8);
}

#[test]
fn a_template_that_is_deleted_from_a_given_directory_counts() {
    let sandbox = one_less();
    std::fs::remove_file(sandbox.path("t/b.yaml.tera")).unwrap();
    let gone = ["c0/b.yaml", "c1/b.yaml", "c2/b.yaml", "c3/a.yaml", "c3/b.yaml"];
    deletes(sandbox.stamp(&["--check"]), &gone);
    // A run that is given one file says nothing about others.
    let stamp_a = |more: &[&str]| {
        sandbox.run(&[&["stamp", "t/a.yaml.tera", "--fleet", "fleet.ndjson", "-o", "out"], more].concat())
    };
    deletes(stamp_a(&["--check"]), &["c3/a.yaml"]);
    stamp_a(&["--prune"]).expect(0).says(&["1 deleted"]);
    deletes(sandbox.stamp(&["--check"]), &["c0/b.yaml", "c1/b.yaml", "c2/b.yaml", "c3/b.yaml"]);
}

#[test]
fn a_template_that_others_now_include_counts() {
    let sandbox = Sandbox::fleet(1);
    sandbox.stamp(&[]).expect(0);
    sandbox.write("t/a.yaml.tera", "{% include 'b.yaml.tera' %}");
    let outcome = sandbox.stamp(&["--check", "--no-check-output"]).expect(3);
    assert_eq!(outcome.stdout, "update out/c0/a.yaml\ndelete out/c0/b.yaml\n");
}

#[test]
fn files_of_other_templates_are_left_alone() {
    let sandbox = Sandbox::fleet(2);
    sandbox.write("other/x.yaml.tera", "x: {{ name }}\n");
    let other =
        |more: &[&str]| sandbox.run(&[&["stamp", "other", "--fleet", "fleet.ndjson", "-o", "out"], more].concat());
    sandbox.stamp(&[]).expect(0);
    other(&["--prune"]).expect(0).says(&["2 new"]);
    deletes(sandbox.stamp(&["--check"]), &[]);
    deletes(other(&["--check"]), &[]);
    fleet_of(&sandbox, 1);
    deletes(other(&["--check"]), &["c1/x.yaml"]);
    sandbox.stamp(&["--prune"]).expect(0).says(&["2 deleted"]);
    assert!(sandbox.path("out/c1/x.yaml").exists());
    // From another directory, the paths of templates are the same.
    let both = ["stamp", "t", "other", "--fleet", "fleet.ndjson", "-o", "out", "--layout", "{cluster}/{template}"];
    let outcome = sandbox.run(&[&both[..], &["--check"]].concat()).expect(3);
    assert!(outcome.stdout.contains("delete out/c1/x.yaml"), "{}", outcome.stdout);
}

#[test]
fn an_artifact_is_like_a_directory() {
    let sandbox = one_less();
    sandbox.run(&["compile", "t", "-o", "t.mpk"]).expect(0);
    let stamp = |more: &[&str]| {
        sandbox.run(&[&["stamp", "t.mpk", "--fleet", "fleet.ndjson", "-o", "out2"], more].concat()).expect(0)
    };
    fleet_of(&sandbox, 4);
    stamp(&[]);
    fleet_of(&sandbox, 3);
    stamp(&["--prune"]).says(&["2 deleted"]);
}

#[test]
fn a_selector_leaves_the_files_of_other_clusters_alone() {
    let sandbox = one_less();
    deletes(sandbox.stamp(&["--check", "-l", "name=c0"]), &["c3/a.yaml", "c3/b.yaml"]);
}

#[test]
fn a_cluster_whose_path_is_unknown_keeps_its_files() {
    let sandbox = Sandbox::fleet(0);
    let fleet = |us: &str| {
        sandbox.write(
            "fleet.ndjson",
            &format!("{{\"name\":\"eu\",\"n\":1,\"r\":\"x\"}}\n{{\"name\":\"us\",\"n\":1{us}}}\n"),
        );
    };
    let stamp = |more: &[&str]| sandbox.stamp(&[&["--layout", "{r}/{cluster}/{template}"], more].concat());
    fleet(",\"r\":\"y\"");
    stamp(&[]).expect(0);
    fleet(",\"r\":\"z\"");
    deletes(stamp(&["-l", "name=eu", "--check"]), &["y/us/a.yaml", "y/us/b.yaml"]);
    fleet("");
    stamp(&["-l", "name=eu", "--check"]).expect(0).says(&["note: 2 files of clusters that are not selected"]);
    stamp(&["-l", "name=eu", "--prune", "--prune-force"]).expect(0).says(&["note: 2 files"]);
    assert!(sandbox.path("out/y/us/b.yaml").exists());
}

/// Returns the rows of the state: path, release, template, digest, run.
fn rows(sandbox: &Sandbox) -> Vec<Vec<String>> {
    let state = sandbox.state("out");
    let rows = state.lines().filter(|line| line.contains(" - "));
    rows.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// Stamps with a file for each document.
fn documents(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.stamp(&[&["--layout", "{cluster}/{kind}", "--output-format", "yaml"], more].concat())
}

#[test]
fn what_a_selector_makes_unknowable_is_a_note() {
    let sandbox = Sandbox::with(&[("t/a.cel", "extra ? {'kind': 'B'} : {'kind': 'A'}")]);
    let fleet = |clusters: &str| sandbox.write("fleet.ndjson", clusters);
    fleet("{\"name\":\"eu\",\"extra\":true}\n{\"name\":\"us\",\"extra\":true}\n{\"name\":\"de\",\"extra\":true}\n");
    documents(&sandbox, &[]).expect(0);
    fleet("{\"name\":\"eu\",\"extra\":false}\n{\"name\":\"us\",\"extra\":false}\n");
    let selected = documents(&sandbox, &["--check", "-l", "name=eu"]).expect(3);
    assert_eq!(selected.stdout, "create out/eu/A.yaml\ndelete out/de/B.yaml\ndelete out/eu/B.yaml\n");
    assert_eq!(selected.stderr.matches("note: 1 file of clusters that are not selected").count(), 1);
    documents(&sandbox, &["-l", "name=eu", "--prune", "--prune-force"]).expect(0).says(&["2 deleted", "note: 1 file"]);
    documents(&sandbox, &["--check", "-l", "name=eu"]).expect(0).says(&["note: 1 file of clusters"]);
    let all = documents(&sandbox, &["--check"]).expect(3);
    assert_eq!(all.stdout, "create out/us/A.yaml\ndelete out/us/B.yaml\n");
    assert!(!all.stderr.contains("not selected"), "{}", all.stderr);
    assert_eq!(all.stderr.matches("note: 1 file of a former run is no longer made: `us/B.yaml`").count(), 1);
}

#[test]
fn a_state_of_the_first_version_is_pruned_as_before() {
    let sandbox = one_less();
    let files: Vec<String> = rows(&sandbox).iter().map(|row| format!("\"{}\": \"{}\"", row[0], row[3])).collect();
    let old = format!("{{\"files\": {{{}}}, \"hash\": \"blake3\", \"version\": 1}}", files.join(", "));
    std::fs::remove_dir_all(sandbox.path("out/.dropforge")).unwrap();
    sandbox.write("out/.dropforge-manifest.json", &old);
    deletes(sandbox.stamp(&["--check"]), &[]);
    deletes(sandbox.stamp(&["--check", "--prune"]), &["c3/a.yaml", "c3/b.yaml"]);
    sandbox.stamp(&[]).expect(0);
    // What was stamped has a cluster now, and the rest is still listed.
    assert!(!sandbox.path("out/.dropforge-manifest.json").exists());
    assert_eq!(rows(&sandbox).iter().filter(|row| row[2] == "-").count(), 2);
    sandbox.stamp(&["--prune"]).expect(0).says(&["2 deleted"]);
}

#[test]
fn hostile_states_lead_nowhere() {
    let sandbox = Sandbox::with(&[("t/a.tera", "keep"), ("fleet.ndjson", "{\"name\":\"c0\"}\n"), ("victim", "keep")]);
    sandbox.stamp(&[]).expect(0);
    let [row] = &rows(&sandbox)[..] else { panic!("one row") };
    let (digest, run) = (&row[3], &row[4]);
    let paths = ["../victim", "/etc/hostname", "a%0Ab", ".dropforge/runs", "c0", "..", "c0/a/../../../victim", "c0//a"];
    let line = |path: &&str| format!("{path} - t/a.tera {digest} {run}\n");
    for head in ["# cluster c9\n", "# cluster ../../x\n", "# cluster -\n"] {
        let text = format!("{head}{0}{0}", paths.iter().map(line).collect::<String>());
        sandbox.write("out/.dropforge/clusters/c9.state", &text);
        deletes(sandbox.stamp(&["--check"]), &[]);
        sandbox.stamp(&["--prune", "--prune-force"]).expect(0);
        assert_eq!((&*sandbox.read("victim"), &*sandbox.read("out/c0/a")), ("keep", "keep"));
        assert_eq!(sandbox.tree(".").keys().filter(|path| path.ends_with("x.state")).count(), 0);
    }
    let old = |path: &str| format!("[{},0,\"{digest}\"]", serde_json::json!(path));
    let rows = ["../victim", "/etc/hostname", "a\nb", "", "c0"].map(old).join(",");
    let old = format!("{{\"version\":2,\"templates\":[\"t/a.tera\"],\"clusters\":{{\"c9\":[{rows}]}},\"files\":{{}}}}");
    sandbox.write("out/.dropforge-manifest.json", &old);
    sandbox.stamp(&["--prune", "--prune-force"]).expect(0);
    assert_eq!(sandbox.read("victim"), "keep");
    for bad in ["{\"version\":2,\"files\":{},\"clusters\":[]}", &"[".repeat(100_000), "{\"version\":99,\"files\":{}}"] {
        sandbox.write("out/.dropforge-manifest.json", bad);
        sandbox.stamp(&["--check"]).expect(1).says(&["E0920"]);
    }
}

#[test]
fn files_of_another_fleet_are_counted() {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "name: {{ name }}\n"),
        ("p.csv", "name\np1\np2\n"),
        ("d.csv", "name\nd1\nd2\n"),
    ]);
    let stamp =
        |fleet: &str, more: &[&str]| sandbox.run(&[&["stamp", "t", "--fleet", fleet, "-o", "out"], more].concat());
    stamp("p.csv", &[]).expect(0);
    let others = "2 files came from a run with another fleet: `p.csv`";
    stamp("d.csv", &["--check"]).expect(3).says(&["of the files that nothing makes any more", others]);
    stamp("d.csv", &["--prune"]).expect(2).says(&["E0919", others]);
    stamp("d.csv", &[]).expect(0);
    stamp("d.csv", &["--check", "--prune"]).expect(3).says(&["of the files to be pruned", others]);
    stamp("d.csv", &["--prune"]).expect(0).says(&["2 deleted", "of the files to be pruned", others]);
    // Its own clusters are not those of another fleet.
    sandbox.write("d.csv", "name\nd1\n");
    let own = stamp("d.csv", &["--prune"]).expect(0);
    assert!(own.stderr.contains("1 deleted") && !own.stderr.contains("another fleet"), "{}", own.stderr);
}
