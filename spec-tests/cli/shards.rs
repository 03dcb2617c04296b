//! Shards: processes that stamp a fleet together, as the pods of an Indexed Job do.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Outcome, Sandbox, outcome};

const SHARDS: u32 = 16;

/// Returns the command of a pod.
fn pod(sandbox: &Sandbox, index: u32, more: &[&str]) -> Command {
    let stamp = ["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out", "-q", "-j", "1", "--shards", "16"];
    let mut command = sandbox.command(&[&stamp, more].concat());
    command.env("JOB_COMPLETION_INDEX", index.to_string());
    command
}

fn start(sandbox: &Sandbox, index: u32) -> Child {
    pod(sandbox, index, &["--prune"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn finish(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.stamp(&[&["--finish", "16", "-q"], more].concat())
}

fn all(sandbox: &Sandbox, more: &[&str]) {
    (0..SHARDS).for_each(|index| _ = outcome(pod(sandbox, index, more)).expect(0));
}

/// Returns the files of an undisturbed run without shards.
fn undisturbed(sandbox: &Sandbox) -> BTreeMap<String, String> {
    sandbox.run(&["stamp", "t", "--fleet", "fleet.ndjson", "-o", "whole"]).expect(0);
    sandbox.tree("whole")
}

#[test]
fn pods_that_are_killed_and_run_again_make_what_one_run_makes() {
    let sandbox = Sandbox::fleet(600);
    let whole = undisturbed(&sandbox);
    // Files of an earlier fleet, which the finishing run prunes, and one that the pods change.
    sandbox.write("old.ndjson", "{\"name\": \"c1\", \"n\": 0}\n{\"name\": \"gone\", \"n\": 0}\n");
    sandbox.run(&["stamp", "t", "--fleet", "old.ndjson", "-o", "out"]).expect(0);
    let (mut waiting, mut killed, mut random) = ((0..SHARDS).collect::<Vec<_>>(), 0, fastrand::Rng::with_seed(7));
    while !waiting.is_empty() {
        let mut pods: Vec<(u32, Child)> = waiting.drain(..).map(|index| (index, start(&sandbox, index))).collect();
        if killed == 0 {
            std::thread::sleep(Duration::from_millis(random.u64(20..120)));
            random.shuffle(&mut pods);
            pods.iter_mut().take(SHARDS as usize / 3).for_each(|(_, pod)| pod.kill().unwrap());
        }
        for (index, mut pod) in pods {
            match pod.wait().unwrap().code() {
                Some(0) => {}
                None => {
                    killed += 1;
                    waiting.push(index);
                }
                Some(code) => panic!("shard {index} ended with {code}"),
            }
        }
    }
    assert!(killed > 0, "no pod was killed");
    finish(&sandbox, &["--prune"]).expect(0);
    assert!(sandbox.tree("out") == whole, "not what an undisturbed run makes");
    // Once more: nothing changes.
    all(&sandbox, &["--prune"]);
    finish(&sandbox, &["--prune"]).expect(0);
    assert!(sandbox.tree("out") == whole);
}

#[test]
fn only_shards_of_the_same_plan_are_finished() {
    let sandbox = Sandbox::fleet(40);
    finish(&sandbox, &[]).expect(2).says(&["E0923", "none of 16 shards"]);
    (0..SHARDS).filter(|index| *index != 5).for_each(|index| _ = outcome(pod(&sandbox, index, &[])).expect(0));
    finish(&sandbox, &[]).expect(2).says(&["E0923", "1 of 16 shards did not finish", "5/16"]);
    outcome(pod(&sandbox, 5, &[])).expect(0);
    // Other options, values, templates and fleets are other plans. Threads are not part of a plan.
    finish(&sandbox, &["--set", "n=2"]).expect(2).says(&["none of 16"]);
    finish(&sandbox, &["--layout", "{template}/{cluster}"]).expect(2);
    let template = sandbox.read("t/a.yaml.tera");
    sandbox.write("t/a.yaml.tera", &format!("{template}# new\n"));
    finish(&sandbox, &[]).expect(2).says(&["none of 16"]);
    sandbox.write("t/a.yaml.tera", &template);
    let fleet = sandbox.read("fleet.ndjson");
    sandbox.write("fleet.ndjson", &format!("{fleet}{{\"name\": \"new\", \"n\": 1}}\n"));
    finish(&sandbox, &[]).expect(2).says(&["none of 16"]);
    sandbox.write("fleet.ndjson", &fleet);
    finish(&sandbox, &["-j", "3"]).expect(0);
    assert!(sandbox.tree("out") == undisturbed(&sandbox));
}

#[test]
fn a_plan_is_what_its_files_contain_however_their_paths_are_written() {
    let sandbox = Sandbox::fleet(40);
    let files = [
        ("v.yaml", "x: 1\n"),
        ("s.json", r#"{"required": ["x"]}"#),
        ("text", "a text"),
        ("k/pod-v1.json", r#"{"properties": {"n": {"type": "integer"}}}"#),
        ("k/crd.yaml", "kind: CustomResourceDefinition\nspec: {group: x.io, names: {kind: Y}, versions: []}\n"),
        ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        ("c/templates/a.yaml", "a: {{ .Values.x }}\n"),
    ];
    files.iter().for_each(|(name, text)| sandbox.write(name, text));
    let run = |at: &str, templates: &str, more: &str| {
        let options = format!(
            "stamp {at}{templates} --fleet {at}fleet.ndjson -f {at}v.yaml --schema {at}s.json --set-file text={at}text \
             --kube-schemas {at}k -o out -q --force {more}"
        );
        sandbox.run(&options.split_whitespace().collect::<Vec<_>>())
    };
    for templates in ["t", "c"] {
        (0..2).for_each(|index| _ = run("", templates, &format!("--shard {index}/2")).expect(0));
        run("", templates, "--finish 2 --set-file other=text").expect(2).says(&["none of 2"]);
        run("", templates, "--finish 2 --order none").expect(2).says(&["none of 2"]);
        for (name, text) in &files[..5] {
            sandbox.write(
                name,
                &text
                    .replace("1", "2")
                    .replace("a text", "b text")
                    .replace("\"x\"]", "\"x\", \"n\"]")
                    .replace("integer", "number")
                    .replace("kind: Y", "kind: Z"),
            );
            run("", templates, "--finish 2").expect(2).says(&["none of 2"]);
            sandbox.write(name, text);
        }
        run("./", templates, "--finish 2").expect(0);
        (0..2).for_each(|index| _ = run("./", templates, &format!("--shard {index}/2")).expect(0));
        let here = format!("{}/", sandbox.path("").display());
        run(&here, templates, "--finish 2").expect(0);
    }
}

#[test]
fn a_new_plan_takes_over_the_files_of_one_that_was_not_finished() {
    let sandbox = Sandbox::fleet(40);
    let fleet = sandbox.read("fleet.ndjson");
    sandbox.write("fleet.ndjson", &format!("{fleet}{{\"name\": \"gone\", \"n\": 1}}\n"));
    all(&sandbox, &[]);
    assert!(sandbox.path("out/gone/a.yaml").exists());
    sandbox.write("fleet.ndjson", &fleet);
    sandbox.write("v.yaml", "x: 1\n");
    let edited = sandbox.read("t/a.yaml.tera").replace("n:", "number:");
    sandbox.write("t/a.yaml.tera", &edited);
    all(&sandbox, &[]);
    finish(&sandbox, &["--prune"]).expect(0);
    assert!(sandbox.tree("out") == undisturbed(&sandbox));
    // A run without shards takes over files in the same way.
    sandbox.write("t/a.yaml.tera", &edited.replace("number:", "n:"));
    all(&sandbox, &[]);
    sandbox.write("t/a.yaml.tera", &edited);
    sandbox.stamp(&["--prune"]).expect(0);
    assert!(sandbox.tree("out") == undisturbed(&sandbox));
}

#[test]
fn a_shard_with_a_cluster_that_fails_is_not_done() {
    let sandbox = Sandbox::fleet(40);
    let fleet = sandbox.read("fleet.ndjson");
    sandbox.write("fleet.ndjson", &fleet.replace("\"c7\",\"n\":1", "\"c7\""));
    let codes: Vec<i32> = (0..SHARDS).map(|index| outcome(pod(&sandbox, index, &[])).code).collect();
    assert_eq!(codes.iter().filter(|code| **code == 4).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, 0 | 4)), "{codes:?}");
    finish(&sandbox, &["--prune"]).expect(2).says(&["1 of 16 shards"]);
    // The files of the failed shard are ours: the next run may change them.
    sandbox.write("fleet.ndjson", &fleet.replace("\"n\":1", "\"n\":2"));
    sandbox.stamp(&[]).expect(0);
    assert!(sandbox.tree("out") == undisturbed(&sandbox));
}

#[test]
fn shards_do_not_overwrite_the_files_of_others() {
    let sandbox = Sandbox::fleet(40);
    sandbox.write("out/c3/a.yaml", "mine\n");
    let codes: Vec<i32> = (0..SHARDS).map(|index| outcome(pod(&sandbox, index, &[])).code).collect();
    assert_eq!(
        (codes.iter().filter(|code| **code == 2).count(), codes.iter().filter(|code| **code == 0).count()),
        (1, 15)
    );
    assert_eq!(sandbox.read("out/c3/a.yaml"), "mine\n");
}

#[test]
fn an_output_that_two_shards_made_is_found() {
    let sandbox = Sandbox::fleet(4);
    ["0/2", "1/2"].iter().for_each(|shard| _ = sandbox.stamp(&["--shard", shard]).expect(0));
    let parts = sandbox.tree("out/.dropforge/parts");
    let part = |shard: &str| parts.keys().find(|path| path.ends_with(shard)).unwrap();
    let (one, other) = (part("0-of-2.state"), part("1-of-2.state"));
    sandbox.write(&format!("out/.dropforge/parts/{other}"), &parts[one].replace("# cluster c", "# cluster d"));
    sandbox.stamp(&["--finish", "2"]).expect(2).says(&["E0914", "different shards made the same output", "cluster `d"]);
}

#[test]
fn what_shards_cannot_do_is_refused() {
    let sandbox = Sandbox::fleet(4);
    sandbox.stamp(&["--shards", "16"]).expect(2).says(&["JOB_COMPLETION_INDEX", "--shard I/N"]);
    outcome(pod(&sandbox, 16, &[])).expect(2).says(&["there is no shard `16` of 16"]);
    sandbox.stamp(&["--shard", "3/3"]).expect(2).says(&["expected I/N"]);
    sandbox
        .stamp(&["--shard", "0/3", "--layout", "single"])
        .expect(2)
        .says(&["`--shard` does not apply to `--layout single`"]);
    sandbox
        .feed(&["stamp", "t", "--fleet", "-", "-o", "out", "--finish", "3"], "")
        .expect(2)
        .says(&["`--finish` does not apply"]);
    sandbox.stamp(&["--shard", "0/3", "--watch"]).expect(2);
    sandbox.stamp(&["--finish", "3", "--check"]).expect(2);
    assert!(!sandbox.path("out").exists());
    // A damaged part is told by its name.
    sandbox.stamp(&["--shard", "0/1"]).expect(0);
    let parts = sandbox.tree("out/.dropforge/parts");
    let part = parts.keys().find(|path| path.ends_with(".state")).unwrap();
    sandbox.write(&format!("out/.dropforge/parts/{part}"), "{}");
    sandbox.stamp(&["--finish", "1"]).expect(1).says(&["E0920", "0-of-1.state"]);
}

#[test]
fn a_shard_shows_what_it_would_change() {
    let sandbox = Sandbox::fleet(40);
    sandbox.stamp(&[]).expect(0);
    let counts = (0..4).map(|index| {
        let shard = format!("{index}/4");
        sandbox.stamp(&["--shard", &shard, "--check", "--set", "n=2"]).expect(3).stdout.lines().count()
    });
    assert_eq!(counts.sum::<usize>(), 80);
}

#[test]
fn shards_of_a_project_know_layers_and_releases() {
    let sandbox = Sandbox::new();
    let clusters: String = (0..40)
        .map(|nth| format!("- {{name: c{nth}, env: {}}}\n", if nth % 2 == 0 { "prod" } else { "dev" }))
        .collect();
    sandbox.write("clusters.yaml", &clusters);
    sandbox.write("base.yaml", "size: 1\nzone: all\n");
    sandbox.write("env/prod.yaml", "size: 5\n");
    sandbox.write("env/dev.yaml", "zone: dev\n");
    sandbox.write("t/a.yaml.tera", "kind: A\nmetadata: {name: {{ name }}{{ end | default(value='') }}}\nspec: {size: {{ size }}, zone: {{ zone }}}\n");
    sandbox.write("prod.yaml", "spec: {patched: true}\n");
    sandbox.write("two.yaml", "end: -two\n");
    sandbox.write(
        "dropforge.toml",
        r#"fleet = ["clusters.yaml"]
layers = ["base.yaml", "env/{env}.yaml"]
[[release]]
name = "one"
templates = ["t"]
patches = [{ target = { kind = "A", name = "c0" }, merge = "{env}.yaml?" }]
[[release]]
name = "two"
templates = ["t"]
values = ["two.yaml"]
when = "env == 'prod'"
"#,
    );
    sandbox.run(&["stamp", "-o", "whole"]).expect(0);
    let whole = sandbox.outputs("whole");
    assert_eq!(whole.len(), 60);
    assert!(whole["c0/one/a.yaml"].contains("patched: true") && whole["c1/one/a.yaml"].contains("zone: dev"));
    for index in 0..4 {
        let mut command = sandbox.command(&["stamp", "-o", "out", "--shards", "4"]);
        command.env("JOB_COMPLETION_INDEX", index.to_string());
        // The patch is for a cluster of one shard, and no other warns of it.
        let stderr = outcome(command).expect(0).stderr;
        assert!(!stderr.contains("warning"), "shard {index}: {stderr}");
    }
    sandbox.run(&["stamp", "-o", "out", "--finish", "4"]).expect(0);
    assert_eq!(sandbox.outputs("out"), whole);
    sandbox.run(&["stamp", "-o", "out", "--check"]).expect(0);
    // A layer that changes between shards changes the run.
    let mut command = sandbox.command(&["stamp", "-o", "out", "--shards", "4"]);
    command.env("JOB_COMPLETION_INDEX", "0");
    outcome(command).expect(0);
    sandbox.replace("env/prod.yaml", "size: 6\n");
    sandbox.run(&["stamp", "-o", "out", "--finish", "4"]).expect(2).says(&["none of 4 shards has stamped this plan"]);
}
