//! Outputs are old or new, never torn: killed runs, interrupted runs, concurrent runs.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal};

use crate::support::{Sandbox, tree};

const CLUSTERS: usize = 250;

fn spawn(sandbox: &Sandbox, n: &str) -> Child {
    // The tests may run where hangups are ignored, as under `nohup`.
    let stamp = "exec env --default-signal=HUP dropforge stamp t --fleet fleet.ndjson -o out -j 2";
    let mut shell = sandbox.shell("-c", &format!("{stamp} --no-cache --set {n}"));
    shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the output of an undisturbed run.
fn undisturbed(n: &str) -> BTreeMap<String, String> {
    let sandbox = Sandbox::fleet(CLUSTERS);
    sandbox.stamp(&["--set", n]).expect(0);
    sandbox.tree("out")
}

#[test]
fn a_killed_run_leaves_old_or_new_files_and_the_next_one_completes_it() {
    let trees = ["n=1", "n=2"].map(undisturbed);
    let sandbox = Sandbox::fleet(CLUSTERS);
    let mut cut_short = 0;
    for round in 0..30_u64 {
        let mut child = spawn(&sandbox, ["n=1", "n=2"][round as usize % 2]);
        // Moments from before the first write to the end of the run, whatever the machine's speed.
        std::thread::sleep(Duration::from_micros(1_500 * (round + 1)));
        child.kill().unwrap();
        cut_short += usize::from(!child.wait().unwrap().success());
        for (path, content) in tree(&sandbox.path("out")) {
            let is_ours = path.ends_with(".tmp");
            let whole = trees.iter().any(|tree| tree.get(&path) == Some(&content));
            assert!(is_ours || whole || path.starts_with(".dropforge/"), "round {round}: {path} is torn: {content:?}");
        }
        // All files are known as ours, whether the run was killed before its first write, in the middle or at the end.
        let check = sandbox.stamp(&["--check", "--set", "n=3"]).expect(3);
        assert!(!check.stderr.contains("did not write"), "round {round}: {}", check.stderr);
        if round % 10 == 9 {
            sandbox.stamp(&["--set", "n=2"]).expect(0);
            let out = sandbox.tree("out");
            let differs = |path: &&String| out.get(*path) != trees[1].get(*path);
            let wrong: Vec<_> = out.keys().chain(trees[1].keys()).filter(differs).collect();
            assert!(wrong.is_empty(), "round {round}: an undisturbed run makes other files: {wrong:?}");
        }
    }
    assert!(cut_short > 0, "no run was cut short");
}

#[test]
fn an_interrupt_ends_with_130_and_whole_files() {
    stop_with(Signal::INT, 130);
}

#[test]
fn a_hangup_ends_with_129_and_whole_files() {
    stop_with(Signal::HUP, 129);
}

#[test]
fn a_hangup_that_was_ignored_at_the_start_stays_ignored() {
    let sandbox = Sandbox::fleet(CLUSTERS);
    let stamp = "exec dropforge stamp t --fleet fleet.ndjson -o out --no-cache --set n=1";
    let mut shell = sandbox.shell("-c", &format!("trap '' HUP; {stamp}"));
    let mut child = shell.stderr(std::process::Stdio::null()).spawn().unwrap();
    while !sandbox.path("out/c3").exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    rustix::process::kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Sends a signal to a run in progress. It ends with `code` and leaves whole files, and the next run completes it.
fn stop_with(signal: Signal, code: i32) {
    let new = undisturbed("n=1");
    for attempt in 0.. {
        let sandbox = Sandbox::fleet(CLUSTERS);
        let mut child = spawn(&sandbox, "n=1");
        while !sandbox.path("out/c3").exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        rustix::process::kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = child.wait().unwrap().code();
        if ended == Some(0) && attempt < 20 {
            // The run ended before the signal arrived.
            continue;
        }
        assert_eq!(ended, Some(code));
        let files = sandbox.tree("out");
        assert!(files.len() < new.len());
        for (path, content) in files.iter().filter(|(path, _)| !path.starts_with('.')) {
            assert_eq!(new.get(path), Some(content), "{path}");
        }
        assert!(files.keys().all(|path| !path.ends_with(".tmp")));
        sandbox.stamp(&["--set", "n=1"]).expect(0);
        assert!(sandbox.tree("out") == new);
        return;
    }
}

#[test]
fn two_runs_on_one_directory_exclude_each_other() {
    let sandbox = Sandbox::fleet(2);
    sandbox.stamp(&[]).expect(0);
    let held = std::fs::File::open(sandbox.path("out")).unwrap();
    rustix::fs::flock(&held, FlockOperation::LockExclusive).unwrap();
    sandbox.stamp(&["--set", "n=2"]).expect(1).says(&["E0904"]);
    sandbox.stamp(&["--check"]).expect(1).says(&["E0904"]);
    assert_eq!(sandbox.read("out/c0/a.yaml"), "name: c0\nn: 1\n");
    // Closing is not enough: a child that another test has just forked holds the descriptor until it runs its program.
    rustix::fs::flock(&held, FlockOperation::Unlock).unwrap();
    sandbox.stamp(&["--set", "n=2"]).expect(0);
}

#[test]
fn with_fsync_the_result_is_the_same() {
    let sandbox = Sandbox::fleet(5);
    sandbox.stamp(&["--fsync"]).expect(0);
    assert_eq!(sandbox.outputs("out").len(), 10);
    sandbox.stamp(&["--check"]).expect(0);
}
