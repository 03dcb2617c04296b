//! `--stream`: clusters are stamped as they come.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Outcome, Sandbox};

/// Batches have some 4 MiB.
const BATCH: usize = 4 << 20;

fn sandbox() -> Sandbox {
    Sandbox::with(&[("t/a.yaml.tera", "name: {{ name }}\nn: {{ n }}\n")])
}

/// Returns clusters `c0`, `c1` … of several batches, each with a long value.
fn fleet(batches: usize) -> String {
    let filler = "x".repeat(60_000);
    let count = batches * BATCH / filler.len();
    (0..count).map(|nth| format!("{{\"name\": \"c{nth}\", \"n\": {nth}, \"filler\": \"{filler}\"}}\n")).collect()
}

fn stream(sandbox: &Sandbox, fleet: &str, more: &[&str]) -> Outcome {
    sandbox.feed(&[&["stamp", "t", "--fleet", "-", "--stream", "-o", "out"], more].concat(), fleet)
}

#[test]
fn a_stream_makes_what_the_fleet_makes() {
    let (sandbox, fleet) = (sandbox(), fleet(3));
    sandbox.write("fleet.ndjson", &fleet);
    sandbox.run(&["stamp", "t", "--fleet", "fleet.ndjson", "-o", "whole", "-q"]).expect(0);
    let count = fleet.lines().count();
    stream(&sandbox, &fleet, &[])
        .expect(0)
        .says(&[&format!("stamped {count} files for {count} clusters: {count} new")]);
    assert!(sandbox.tree("out") == sandbox.tree("whole"));
    stream(&sandbox, &fleet, &["--prune"]).expect(0).says(&[&format!("{count} unchanged")]);
    let one = ["stamp", "t", "--layout", "single", "-q", "--fleet"];
    let whole = sandbox.run(&[&one[..], &["fleet.ndjson"]].concat()).expect(0).stdout;
    assert!(sandbox.feed(&[&one[..], &["-", "--stream"]].concat(), &fleet).expect(0).stdout == whole);
    // Files that no cluster makes any more are pruned at the end.
    let half: String = fleet.lines().take(count / 2 + 1).map(|line| format!("{line}\n")).collect();
    stream(&sandbox, &half, &["--prune"]).expect(0).says(&[&format!("{} deleted", count - count / 2 - 1)]);
    assert_eq!(sandbox.outputs("out").len(), count / 2 + 1);
}

#[test]
fn clusters_are_stamped_before_the_stream_ends() {
    let sandbox = sandbox();
    let mut command = sandbox.command(&["stamp", "t", "--fleet", "-", "--stream", "-o", "out", "-q"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(fleet(2).as_bytes()).unwrap();
    let mut waits = 0;
    while !sandbox.path("out/c3/a.yaml").exists() {
        assert!(waits < 600, "nothing is stamped");
        std::thread::sleep(Duration::from_millis(100));
        waits += 1;
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// The signal may end the program that writes the pipe first, and the clusters that are missing are not gone.
#[test]
fn an_interrupted_stream_prunes_nothing() {
    let sandbox = sandbox();
    stream(&sandbox, "{\"name\": \"a\", \"n\": 1}\n{\"name\": \"b\", \"n\": 1}\n", &["-q"]).expect(0);
    let mut command = sandbox.command(&["stamp", "t", "--fleet", "-", "--stream", "-o", "out", "--prune"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"name\": \"a\", \"n\": 2}\n").unwrap();
    let started = sandbox.path("out/.dropforge/unfinished");
    let mut waits = 0;
    while !started.exists() {
        assert!(waits < 600, "the run does not start");
        std::thread::sleep(Duration::from_millis(100));
        waits += 1;
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    // It does not wait for the end of the pipe.
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(sandbox.path("out/b/a.yaml").exists());
}

#[test]
fn a_fault_ends_the_stream_and_what_was_written_stays() {
    let (sandbox, fleet) = (sandbox(), fleet(3));
    let count = fleet.lines().count();
    stream(&sandbox, "{\"name\": \"old\", \"n\": 1}\n", &["-q"]).expect(0);
    let broken = format!("{fleet}{{\"name\": \"bad\", \"n\": }}\n");
    stream(&sandbox, &broken, &["--prune"]).expect(1).says(&["E0801", &format!("-:{}:", count + 1), "pruned nothing"]);
    let files = sandbox.tree("out");
    assert!(files.contains_key("c0/a.yaml") && files.contains_key("old/a.yaml"));
    let state = sandbox.state("out");
    assert!(
        state.contains("\"incomplete\": true") && state.contains("# cluster c0\n") && state.contains("# cluster old\n")
    );
    sandbox.write("fleet.ndjson", &fleet);
    let check = ["stamp", "t", "--fleet", "fleet.ndjson", "-o", "out", "--check"];
    sandbox.run(&check).expect(3).says(&["the state is incomplete"]);
    // The next run mends it.
    stream(&sandbox, &fleet, &["--prune", "-q"]).expect(0);
    assert!(!sandbox.state("out").contains("incomplete"));
    assert_eq!(sandbox.outputs("out").len(), count);
    assert_eq!(sandbox.run(&check).expect(0).stdout, "");
}

#[test]
fn repeated_names_and_paths_are_found() {
    let (sandbox, fleet) = (sandbox(), fleet(2));
    let again = "{\"name\": \"c0\", \"n\": 1}\n";
    stream(&sandbox, &format!("{again}{again}"), &[]).expect(2).says(&["E0917", "`c0` (cluster 1 and cluster 2)"]);
    stream(&sandbox, &format!("{fleet}{again}"), &[]).expect(2).says(&["E0917", "`c0`, in another batch"]);
    let layout = ["--layout", "{n}/{template}"];
    stream(&sandbox, &format!("{fleet}{{\"name\": \"x\", \"n\": 0}}\n"), &layout).expect(2).says(&[
        "E0914",
        "different batches",
        "`0/a.yaml`: cluster `c0`, template `t/a.yaml.tera`; cluster `x`",
    ]);
}

#[test]
fn files_of_others_stay() {
    let sandbox = sandbox();
    sandbox.write("out/c1/a.yaml", "mine\n");
    let two = "{\"name\": \"c0\", \"n\": 1}\n{\"name\": \"c1\", \"n\": 1}\n";
    stream(&sandbox, two, &[]).expect(2).says(&["E0922"]);
    assert_eq!(sandbox.read("out/c1/a.yaml"), "mine\n");
    stream(&sandbox, two, &["--force", "-q"]).expect(0);
    assert_eq!(sandbox.read("out/c1/a.yaml"), "name: c1\nn: 1\n");
}

#[test]
fn clusters_that_fail_are_told_once_for_all_batches() {
    let (sandbox, fleet) = (sandbox(), fleet(3));
    let broken = fleet.replace("\"n\":", "\"m\":");
    let outcome = stream(&sandbox, &broken, &[]).expect(4);
    assert_eq!(outcome.stderr.matches("error[").count(), 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("clusters: "), "{}", outcome.stderr);
}

#[test]
fn what_streams_cannot_do_is_refused() {
    let sandbox = sandbox();
    let refused = |more: &[&str], text: &str, says: &str| _ = stream(&sandbox, text, more).expect(2).says(&[says]);
    refused(&[], "- name: a\n- name: b\n", "cannot be read batch by batch");
    refused(&["--fleet-format", "yaml"], "name: a\n", "cannot be read batch by batch");
    refused(&["--prune", "-l", "n=1"], "", "`--prune` cannot be combined with `--stream` and `--selector`");
    refused(&["--check"], "", "--check");
    refused(&["--shard", "0/2"], "", "--shard");
    assert!(!sandbox.path("out").exists());
    // CSV needs its name.
    stream(&sandbox, "name,n\na,1\n", &["--fleet-format", "csv", "-q"]).expect(0);
    assert_eq!(sandbox.read("out/a/a.yaml"), "name: a\nn: 1\n");
}
