//! `dropforge why` and the digests of the files that a run read.

use std::os::unix::fs::MetadataExt;

use crate::support::{Outcome, Sandbox, outcome};

pub const RUNS: &str = "out/.dropforge/runs";

/// A fleet with a template that imports another, a copied file, a schema and values.
pub fn sandbox() -> Sandbox {
    Sandbox::with(&[
        (
            "t/app.yaml.tera",
            "{% import \"lib/_m.tera\" as m %}name: {{ name }}\nreplicas: {{ replicas }}\nx: {{ m::x(a=1) }}\n",
        ),
        ("t/lib/_m.tera", "{% macro x(a) %}{{ a }}{% endmacro x %}"),
        ("t/other.yaml.tera", "other: {{ name }}\n"),
        ("t/plain.yaml", "plain: 1\n"),
        ("t/values.schema.json", "{}\n"),
        ("values.yaml", "replicas: 2\n"),
        ("fleet.csv", "name,replicas\neu-1,3\nus-1,4\n"),
    ])
}

const STAMP: [&str; 8] = ["stamp", "t", "--fleet", "fleet.csv", "-f", "values.yaml", "-o", "out"];

pub fn stamped() -> Sandbox {
    let sandbox = sandbox();
    sandbox.run(&STAMP).expect(0);
    sandbox
}

/// Asks for the second line of the first cluster.
pub fn why(sandbox: &Sandbox) -> Outcome {
    sandbox.run(&["why", "out/eu-1/app.yaml:2"])
}

/// Returns the warnings.
fn warnings(outcome: &Outcome) -> Vec<&str> {
    outcome.stderr.lines().filter_map(|line| line.strip_prefix("warning: ")).collect()
}

fn append(sandbox: &Sandbox, name: &str) {
    sandbox.write(name, &(sandbox.read(name) + "\n"));
}

#[test]
fn files_that_changed_are_named_and_others_are_not() {
    let sandbox = stamped();
    let outcome = why(&sandbox).expect(0);
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
    // Other templates, and files beside them, say nothing about this output.
    append(&sandbox, "t/other.yaml.tera");
    append(&sandbox, "t/plain.yaml");
    assert_eq!(warnings(&why(&sandbox).expect(0)), Vec::<&str>::new());
    let outcome = sandbox.run(&["why", "out/eu-1/plain.yaml:1"]).expect(0);
    assert_eq!(warnings(&outcome), ["`t/plain.yaml` was changed after the run"]);
    let outcome = sandbox.run(&["why", "out/eu-1/other.yaml:1"]).expect(0);
    assert_eq!(warnings(&outcome), ["`t/other.yaml.tera` was changed after the run"]);
    // Another cluster of its file says nothing, either.
    sandbox.write("fleet.csv", "name,replicas\neu-1,3\nus-1,5\n");
    assert_eq!(warnings(&why(&sandbox).expect(0)), Vec::<&str>::new());
    sandbox.write("fleet.csv", "name,replicas,zone\neu-1,3,a\nus-1,4,b\n");
    append(&sandbox, "values.yaml");
    let expected = ["`fleet.csv` was changed after the run", "`values.yaml` was changed after the run"];
    let outcome = why(&sandbox).expect(0);
    assert_eq!(warnings(&outcome), expected);
    assert!(outcome.stdout.contains("over values.yaml:1:11\n"), "{}", outcome.stdout);
    std::fs::remove_file(sandbox.path("t/values.schema.json")).unwrap();
    append(&sandbox, "t/app.yaml.tera");
    append(&sandbox, "t/lib/_m.tera");
    let expected = [
        "`fleet.csv` was changed after the run",
        "`t/app.yaml.tera` was changed after the run",
        "`t/lib/_m.tera` was changed after the run",
        "`t/values.schema.json` is missing",
        "`values.yaml` was changed after the run",
    ];
    assert_eq!(warnings(&why(&sandbox).expect(0)), expected);
    // The next run brings all of them up to date.
    sandbox.run(&STAMP).expect(0);
    assert_eq!(warnings(&why(&sandbox).expect(0)), Vec::<&str>::new());
}

#[test]
fn missing_files_are_named_beside_the_error() {
    let sandbox = stamped();
    std::fs::remove_file(sandbox.path("values.yaml")).unwrap();
    let outcome = why(&sandbox).expect(1).says(&["cannot read `values.yaml`"]);
    assert_eq!(warnings(&outcome), ["`values.yaml` is missing"]);
    sandbox.write("values.yaml", "replicas: 2\n");
    std::fs::remove_file(sandbox.path("t/lib/_m.tera")).unwrap();
    let outcome = why(&sandbox).expect(1).says(&["E0501"]);
    assert_eq!(warnings(&outcome), ["`t/lib/_m.tera` is missing"]);
}

#[test]
fn of_many_files_a_handful_is_named() {
    let sandbox = sandbox();
    let names: Vec<String> = (0..9).map(|nth| format!("v{nth}.yaml")).collect();
    let mut args = STAMP.to_vec();
    for name in &names {
        sandbox.write(name, "replicas: 2\n");
        args.extend(["-f", name]);
    }
    sandbox.run(&args).expect(0);
    names.iter().for_each(|name| append(&sandbox, name));
    let outcome = why(&sandbox).expect(0);
    let warnings = warnings(&outcome);
    assert_eq!((warnings.len(), warnings[5]), (6, "and 4 more files"), "{warnings:?}");
}

#[test]
fn a_project_file_that_appears_later_is_not_read() {
    let sandbox = stamped();
    let project = "templates = [\"t\"]\nvalues = [\"values.yaml\"]\nfleet = [\"fleet.csv\"]\n[output]\ndir = \"out\"\n";
    sandbox.write("dropforge.toml", project);
    let outcome = why(&sandbox).expect(0);
    assert_eq!(outcome.stdout.matches("values.yaml:1:11").count(), 1, "{}", outcome.stdout);
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
}

#[test]
fn the_options_of_the_project_are_those_of_the_run() {
    let sandbox = sandbox();
    let project = "templates = [\"t\"]\nvalues = [\"values.yaml\"]\nfleet = [\"fleet.csv\"]\n[output]\ndir = \"out\"\n";
    sandbox.write("dropforge.toml", project);
    sandbox.run(&["stamp"]).expect(0);
    assert!(why(&sandbox).expect(0).stderr.is_empty());
    // The run read the values once, whatever the project says now.
    sandbox.write("dropforge.toml", &project.replace("values.yaml", "none.yaml"));
    let outcome = why(&sandbox).expect(0);
    assert_eq!(warnings(&outcome), ["`dropforge.toml` was changed after the run"]);
    assert_eq!(outcome.stdout.matches("values.yaml:1:11").count(), 1, "{}", outcome.stdout);
    std::fs::remove_file(sandbox.path("dropforge.toml")).unwrap();
    let outcome = why(&sandbox).expect(0);
    assert_eq!(warnings(&outcome), ["`dropforge.toml` is missing"]);
    assert!(outcome.stdout.contains("over values.yaml:1:11\n"), "{}", outcome.stdout);
}

#[test]
fn a_state_without_digests_is_read() {
    let sandbox = stamped();
    let mut runs: serde_json::Value = serde_json::from_str(&sandbox.read(RUNS)).unwrap();
    for run in runs["runs"].as_object_mut().unwrap().values_mut() {
        ["read", "templates"].iter().for_each(|key| assert!(run.as_object_mut().unwrap().remove(*key).is_some()));
    }
    sandbox.write(RUNS, &runs.to_string());
    append(&sandbox, "values.yaml");
    let outcome = why(&sandbox).expect(0);
    assert!(outcome.stderr.is_empty() && outcome.stdout.contains("over values.yaml:1:11\n"), "{}", outcome.stderr);
    // Such a run read the project file, and so does `why`.
    sandbox.write("dropforge.toml", "selector = [\"name=us-1\"]\n");
    why(&sandbox).expect(2).says(&["is not what the run writes now"]);
    std::fs::remove_file(sandbox.path("dropforge.toml")).unwrap();
    sandbox.run(&STAMP).expect(0);
    assert!(sandbox.read(RUNS).contains("\"templates\": {"));
}

#[test]
fn a_run_that_changes_nothing_leaves_the_state_alone() {
    let sandbox = stamped();
    let state = || {
        let meta = std::fs::metadata(sandbox.path(RUNS)).unwrap();
        (meta.ino(), meta.mtime_nsec())
    };
    let before = state();
    sandbox.run(&STAMP).expect(0);
    assert_eq!(state(), before);
    // No output changes, so the check passes, and the next run notes the new file.
    append(&sandbox, "values.yaml");
    sandbox.run(&[&STAMP[..], &["--check"]].concat()).expect(0);
    assert_eq!(state(), before);
    sandbox.run(&STAMP).expect(0).says(&["6 unchanged"]);
    assert_ne!(state(), before);
}

#[test]
fn a_state_is_the_same_wherever_and_however_it_is_written() {
    let state = |args: &[&str]| {
        let sandbox = stamped();
        std::fs::remove_dir_all(sandbox.path("out")).unwrap();
        sandbox.run(&[&STAMP[..], args].concat()).expect(0);
        let text = sandbox.state("out");
        assert!(!text.contains(&sandbox.path("").display().to_string()), "{text}");
        text
    };
    let plain = state(&[]);
    assert!(plain.contains("\"templates\": {") && plain.contains("\n# values "), "{plain}");
    assert_eq!(state(&["--stream"]), plain);
    assert_eq!(state(&["-j1", "--cache-dir", "cache"]), plain);
    let sandbox = stamped();
    std::fs::remove_dir_all(sandbox.path("out")).unwrap();
    for share in [["--shard", "0/2"], ["--shard", "1/2"], ["--finish", "2"]] {
        sandbox.run(&[&STAMP[..], &share].concat()).expect(0);
    }
    assert_eq!(sandbox.state("out"), plain);
    // From the cache of compiled templates.
    let sandbox = sandbox_with_long_template();
    let cached = [&STAMP[..], &["--cache-dir", "cache"]].concat();
    sandbox.run(&cached).expect(0);
    let first = sandbox.state("out");
    std::fs::remove_dir_all(sandbox.path("out")).unwrap();
    sandbox.run(&[&cached[..], &["-v"]].concat()).expect(0).says(&["cache"]);
    assert_eq!(sandbox.state("out"), first);
    assert!(first.contains("\"t/lib/_m.tera\": \""), "{first}");
}

#[test]
fn files_of_other_clusters_are_not_compared() {
    let sandbox = sandbox();
    ["eu-1", "us-1"].iter().for_each(|name| sandbox.write(&format!("fleet/{name}.yaml"), &format!("name: {name}\n")));
    sandbox.run(&["stamp", "t", "--fleet", "fleet", "-f", "values.yaml", "-o", "out"]).expect(0);
    sandbox.write("fleet/us-1.yaml", "name: us-1\nzone: b\n");
    assert!(why(&sandbox).expect(0).stderr.is_empty());
    let outcome = sandbox.run(&["why", "out/us-1/app.yaml:2"]).expect(0);
    assert_eq!(warnings(&outcome), ["`fleet/us-1.yaml` was changed after the run"]);
}

#[test]
fn templates_without_outputs_are_not_compared() {
    let sandbox = sandbox();
    sandbox.write("t/empty.yaml.tera", "{% if nothing is defined %}a: 1{% endif %}\n");
    sandbox.run(&STAMP).expect(0);
    assert!(!sandbox.state("out").contains("/empty.yaml "));
    append(&sandbox, "t/empty.yaml.tera");
    assert!(why(&sandbox).expect(0).stderr.is_empty());
}

#[test]
fn a_state_of_an_enemy_does_no_harm() {
    let sandbox = stamped();
    let pipe = std::process::Command::new("mkfifo").arg(sandbox.path("pipe")).status().unwrap();
    assert!(pipe.success());
    let runs = sandbox.read(RUNS);
    let files = |read: &str| sandbox.write(RUNS, &runs.replace("\"read\": {", &format!("\"read\": {{{read},")));
    // Files that have no end, and names that are no text for a terminal.
    files("\"/dev/zero\":\"0000\",\"pipe\":\"0000\",\"t\":\"0000\",\"a\\u001b[2Jb\":\"0000\",\"s3://b/x\":\"\"");
    let outcome = why(&sandbox).expect(0);
    assert_eq!(warnings(&outcome), ["`a [2Jb` is missing"]);
    for read in ["\"x\":1", "\"x\":null", "\"x\":{}"] {
        files(read);
        why(&sandbox).expect(1).says(&["E0920"]);
    }
    for templates in ["7", "[]", "[1]", "null"] {
        let (before, rest) = runs.split_once("\"templates\": {").unwrap();
        let after = rest.split_once('}').unwrap().1;
        sandbox.write(RUNS, &format!("{before}\"templates\": {templates}{after}"));
        why(&sandbox).expect(1).says(&["E0920"]);
    }
}

/// Short templates are not kept in the cache.
fn sandbox_with_long_template() -> Sandbox {
    let sandbox = sandbox();
    let long = sandbox.read("t/app.yaml.tera") + &"# {{ name }}\n".repeat(20_000);
    sandbox.write("t/app.yaml.tera", &long);
    sandbox
}

#[test]
fn several_runs_in_one_directory_have_files_of_their_own() {
    let sandbox = stamped();
    sandbox.write("u/extra.yaml.tera", "extra: {{ replicas }}\n");
    sandbox.write("more.yaml", "replicas: 9\n");
    let more = ["stamp", "u", "--fleet", "fleet.csv", "-f", "more.yaml", "-o", "out"];
    sandbox.run(&more).expect(0);
    append(&sandbox, "more.yaml");
    assert_eq!(warnings(&why(&sandbox).expect(0)), Vec::<&str>::new());
    let outcome = sandbox.run(&["why", "out/eu-1/extra.yaml:1"]).expect(0);
    assert_eq!(warnings(&outcome), ["`more.yaml` was changed after the run"]);
    // A run of some clusters is another run of the same templates.
    sandbox.run(&[&STAMP[..], &["-l", "name=us-1"]].concat()).expect(0);
    append(&sandbox, "values.yaml");
    let outcome = sandbox.run(&["why", "out/us-1/app.yaml:2"]).expect(0);
    assert_eq!(warnings(&outcome), ["`values.yaml` was changed after the run"]);
}

#[test]
fn charts_and_artifacts_are_compared() {
    let sandbox = Sandbox::of_example("helm");
    sandbox.run(&["stamp", "web", "--fleet", "fleet.ndjson", "-f", "prod.yaml", "-o", "out"]).expect(0);
    let place = ["why", "out/eu-1/service.yaml:4"];
    assert!(sandbox.run(&place).expect(0).stderr.is_empty());
    append(&sandbox, "web/values.yaml");
    append(&sandbox, "web/templates/service.yaml");
    append(&sandbox, "web/templates/_helpers.tpl");
    let expected = [
        "`web/templates/_helpers.tpl` was changed after the run",
        "`web/templates/service.yaml` was changed after the run",
        "`web/values.yaml` was changed after the run",
    ];
    assert_eq!(warnings(&sandbox.run(&place).expect(0)), expected);
    let sandbox = self::sandbox();
    sandbox.run(&["compile", "t", "-o", "t.mpk"]).expect(0);
    let args = ["stamp", "t.mpk", "--fleet", "fleet.csv", "-f", "values.yaml", "-o", "out"];
    sandbox.run(&args).expect(0);
    assert!(why(&sandbox).expect(0).stderr.is_empty());
    append(&sandbox, "t/app.yaml.tera");
    sandbox.run(&["compile", "t", "-o", "t.mpk"]).expect(0);
    assert_eq!(warnings(&why(&sandbox).expect(0)), ["`t.mpk` was changed after the run"]);
}

#[test]
fn standard_input_is_compared_too() {
    let sandbox = sandbox();
    let args = ["stamp", "t", "--fleet", "fleet.csv", "-f", "-", "-o", "out"];
    sandbox.feed(&args, "replicas: 2\n").expect(0);
    let why = |input: &str| sandbox.feed(&["why", "out/eu-1/app.yaml:1"], input).expect(0);
    assert!(why("replicas: 2\n").stderr.is_empty());
    assert_eq!(warnings(&why("replicas: 7\n")), ["standard input is not what the run read"]);
    let args = ["stamp", "t", "--fleet", "-", "--stream", "--fleet-format", "csv", "-f", "values.yaml", "-o", "out"];
    sandbox.feed(&args, "name,replicas\neu-1,3\n").expect(0);
    assert!(why("name,replicas\neu-1,3\n").stderr.is_empty());
    assert_eq!(warnings(&why("name,replicas\neu-1,5\n")), ["standard input is not what the run read"]);
}

#[test]
fn a_watching_run_notes_what_it_read_last() {
    let sandbox = stamped();
    let mut command = sandbox.command(&[&STAMP[..], &["--watch"]].concat());
    let mut child = command.stderr(std::fs::File::create(sandbox.path("log")).unwrap()).spawn().unwrap();
    let begun = std::time::Instant::now();
    let wait_for = |is_done: &dyn Fn() -> bool| {
        while !is_done() && begun.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    wait_for(&|| sandbox.read("log").contains("watching"));
    // A change of one template, which is all that is stamped again.
    append(&sandbox, "t/other.yaml.tera");
    let is_current = || outcome(sandbox.command(&["why", "out/eu-1/other.yaml:1"])).stderr.is_empty();
    wait_for(&is_current);
    let _ = std::process::Command::new("kill").arg(child.id().to_string()).status();
    child.wait().unwrap();
    assert!(is_current() && why(&sandbox).expect(0).stderr.is_empty());
    assert_eq!(sandbox.read(RUNS).matches("\"arguments\"").count(), 1);
}

/// Two environments in one directory, each with its own values.
fn environments() -> Sandbox {
    let sandbox = Sandbox::with(&[
        ("t/a.yaml.tera", "size: {{ size }}\n"),
        ("t/b.yaml.tera", "name: {{ name }}\n"),
        ("prod.yaml", "size: 9\n"),
        ("dev.yaml", "size: 1\n"),
        ("fleet.csv", "name,env\np1,prod\np2,prod\nd1,dev\n"),
        ("more.csv", "name,env\nm1,dev\n"),
    ]);
    environment(&sandbox, "fleet.csv", "prod");
    environment(&sandbox, "fleet.csv", "dev");
    sandbox
}

fn environment(sandbox: &Sandbox, fleet: &str, env: &str) {
    let (values, selector) = (format!("{env}.yaml"), format!("env={env}"));
    sandbox.run(&["stamp", "t", "--fleet", fleet, "-f", &values, "-l", &selector, "-o", "out"]).expect(0);
}

/// Returns the number of runs in the state.
fn runs(sandbox: &Sandbox) -> usize {
    sandbox.read(RUNS).matches("\"arguments\":").count()
}

#[test]
fn a_file_belongs_to_the_run_that_wrote_it() {
    let sandbox = environments();
    environment(&sandbox, "more.csv", "dev");
    let from = |file: &str, place: &str| {
        let outcome = sandbox.run(&["why", &format!("out/{file}:1")]).expect(0);
        assert!(outcome.stderr.is_empty() && outcome.stdout.contains(place), "{}{}", outcome.stdout, outcome.stderr);
    };
    from("p1/a.yaml", "from prod.yaml:1:7");
    from("d1/a.yaml", "from dev.yaml:1:7");
    from("d1/b.yaml", "(fleet.csv:4:1)");
    from("m1/b.yaml", "(more.csv:2:1)");
    // A file that changed is told for the run that read it.
    append(&sandbox, "prod.yaml");
    let told = |file: &str| warnings(&sandbox.run(&["why", &format!("out/{file}:1")]).expect(0)).len();
    assert_eq!((told("p2/a.yaml"), told("d1/a.yaml")), (1, 0));
}

#[test]
fn a_run_without_files_is_forgotten() {
    let sandbox = environments();
    assert_eq!(runs(&sandbox), 2);
    let before = sandbox.state("out");
    environment(&sandbox, "fleet.csv", "prod");
    assert_eq!(sandbox.state("out"), before, "the order of the runs does not matter");
    sandbox.run(&["stamp", "t", "--fleet", "fleet.csv", "-f", "prod.yaml", "-o", "out"]).expect(0);
    assert_eq!(runs(&sandbox), 1);
    assert_eq!(sandbox.read(RUNS).matches("t/a.yaml.tera").count(), 1);
}

#[test]
fn a_run_of_some_clusters_after_one_of_all_keeps_both() {
    let sandbox = stamped();
    sandbox.run(&[&STAMP[..], &["-l", "name=us-1", "--set", "replicas=8"]].concat()).expect(0);
    let outcome = why(&sandbox).expect(0);
    assert!(outcome.stdout.contains("(fleet.csv:2:6)") && outcome.stderr.is_empty(), "{}", outcome.stderr);
    let outcome = sandbox.run(&["why", "out/us-1/app.yaml:2", "--set", "replicas=8"]).expect(0);
    assert!(outcome.stdout.contains("from --set replicas\n") && outcome.stderr.is_empty(), "{}", outcome.stderr);
}
