//! Measurements of whole processes: time, memory, instructions.

use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Returns the CPU seconds of a process from start to end: the minimum of `rounds` interleaved runs.
///
/// # Panics
/// Panics if a process fails.
pub fn cold<const N: usize>(commands: [&[&str]; N], rounds: usize) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (command, best) in commands.iter().zip(&mut best) {
            let before = children();
            let mut process = Command::new(command[0]);
            let status = process.args(&command[1..]).stdout(Stdio::null()).stderr(Stdio::inherit()).status();
            assert!(status.is_ok_and(|status| status.success()), "{command:?}");
            *best = best.min(children() - before);
        }
    }
    best
}

/// Returns the CPU seconds of our finished child processes.
fn children() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the usage of children");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 * 1e-6
}

/// Runs a program and returns its output.
///
/// # Panics
/// Panics if it fails.
pub fn printed(command: &[&str]) -> String {
    let output = Command::new(command[0]).args(&command[1..]).stderr(Stdio::inherit()).output().expect("it starts");
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the peak memory of stamping the fleet in `folder`, and the size of the fleet's text in it, in bytes.
///
/// # Panics
/// Panics if the program `fleet` fails.
pub fn memory(program: &str, folder: &Path, threads: usize) -> (f64, f64) {
    numbers(&[program, &folder.to_string_lossy(), &threads.to_string()])
}

/// Runs a program and returns the two numbers that it prints.
///
/// # Panics
/// Panics if it fails.
fn numbers(command: &[&str]) -> (f64, f64) {
    let text = printed(command);
    let mut numbers = text.split_whitespace().map(|number| number.parse().expect("a number"));
    (numbers.next().expect("a number"), numbers.next().expect("another one"))
}

/// Returns the peak memory of this process in bytes.
///
/// # Panics
/// Panics on systems other than Linux.
pub fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line of Linux");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

/// Counts the instructions of one run of an engine on a workload with callgrind. Returns `None` without valgrind.
/// Start-up is subtracted: the program runs `TIMES` times and twice as often.
pub fn instructions(program: &str, workload: &str, engine: &str) -> Option<u64> {
    const TIMES: u64 = 20;
    let count = |times: u64| {
        let tool = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
        let times = times.to_string();
        let output = Command::new("valgrind").args(tool).args([program, workload, engine, &times]).output().ok()?;
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        let collected = report.lines().find_map(|line| line.split_once("Collected : "))?.1;
        collected.trim().parse::<u64>().ok()
    };
    Some(count(2 * TIMES)?.saturating_sub(count(TIMES)?) / TIMES)
}
