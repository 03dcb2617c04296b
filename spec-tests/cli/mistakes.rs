//! Mistakes of newcomers: each has an error that names its place, its cluster, its cause and its fix.
//!
//! A case of `spec-tests/mistakes/*.cases` begins with `=== ` and its name. Its command follows `$ `, with words that have
//! spaces in single quotes. What standard error has to say follows `place:`, `cluster:` (if clusters failed), `cause:` and
//! `fix:`. Each file follows `--- ` and its name. `check` with the same files and options refuses what `stamp` and `render`
//! refuse, unless that depends on values, or the case says `check: accepts`.

use std::fs;

use crate::support::{Sandbox, repository};

struct Mistake<'t> {
    name: &'t str,
    args: Vec<&'t str>,
    marks: Vec<(&'t str, &'t str)>,
    files: Vec<(&'t str, String)>,
}

impl<'t> Mistake<'t> {
    fn read(text: &'t str) -> Self {
        let mut parts = text.split("\n--- ");
        let mut head = parts.next().unwrap().lines();
        let (name, command) = (head.next().unwrap(), head.next().unwrap());
        let args = words(command.strip_prefix("$ ").unwrap_or_else(|| panic!("{name}: no command")));
        let marks = head.filter(|line| !line.is_empty()).map(|line| line.split_once(": ").unwrap()).collect();
        let files = parts.map(|file| {
            let (file, text) = file.split_once('\n').unwrap();
            (file, format!("{}\n", text.trim_end_matches('\n')))
        });
        Self { name, args, marks, files: files.collect() }
    }

    /// Returns what the error lacks.
    fn faults(&self) -> Vec<String> {
        let files: Vec<_> = self.files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let sandbox = Sandbox::with(&files);
        let run = sandbox.run(&self.args);
        let lacks = self.marks.iter().filter(|(mark, wanted)| *mark != "check" && !run.stderr.contains(wanted));
        let mut faults: Vec<_> = lacks.map(|(mark, wanted)| format!("no {mark} `{wanted}`")).collect();
        let names: Vec<_> = self.marks.iter().map(|(mark, _)| *mark).filter(|mark| *mark != "check").collect();
        let is_of_cluster = names.contains(&"cluster") || run.code == 4;
        let needed: &[&str] =
            if is_of_cluster { &["place", "cluster", "cause", "fix"] } else { &["place", "cause", "fix"] };
        faults.extend((names != needed).then(|| format!("the marks are {names:?}, not {needed:?}")));
        faults.extend((run.code == 0).then(|| "no error".to_owned()));
        faults.extend(run.stderr.contains("(os error").then(|| "a number of the system's error".to_owned()));
        faults.extend(self.unchecked(&sandbox, &run.stderr));
        if !faults.is_empty() {
            faults.push(run.stderr);
        }
        faults
    }

    /// Says that `check` accepts what the command refuses with `errors`.
    fn unchecked(&self, sandbox: &Sandbox, errors: &str) -> Option<String> {
        let is_run = matches!(self.args[0], "stamp" | "render") && !self.args.contains(&"--layout");
        let first = errors.split("error[").nth(1).and_then(|rest| rest.get(..5)).unwrap_or_default();
        if !is_run || NEEDS_VALUES.contains(&first) {
            return None;
        }
        let output = self.args.iter().position(|arg| *arg == "-o").unwrap_or(usize::MAX - 1);
        let is_kept = |(at, _): &(usize, &&str)| *at > 0 && *at != output && *at != output + 1;
        let args: Vec<&str> = self.args.iter().enumerate().filter(is_kept).map(|(_, arg)| *arg).collect();
        let checked = sandbox.run(&[&["check"], &*args].concat());
        let accepts = self.marks.contains(&("check", "accepts"));
        ((checked.code == 0) != accepts).then(|| format!("`check` says: {}", checked.stderr))
    }
}

/// The codes of errors that depend on values, and those of outputs, of which a check knows nothing.
const NEEDS_VALUES: [&str; 10] =
    ["E0301", "E0303", "E0305", "E0404", "E0807", "E0902", "E0906", "E0913", "E0917", "E0918"];

/// Splits a command line into words. One in single quotes may have spaces.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}

#[test]
fn errors_name_their_place_cluster_cause_and_fix() {
    let (mut count, mut failed) = (0, Vec::new());
    for file in fs::read_dir(repository().join("spec-tests/mistakes")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for case in format!("\n{text}").split("\n=== ").skip(1).map(Mistake::read) {
            count += 1;
            let faults = case.faults();
            failed.extend((!faults.is_empty()).then(|| format!("{}: {}", case.name, faults.join("; "))));
        }
    }
    assert!(count >= 110, "{count} cases");
    assert!(failed.is_empty(), "{} of {count} fail:\n{}", failed.len(), failed.join("\n"));
}

/// Commands that read a file: `PATH`.
const READ: [&str; 24] = [
    "render PATH",
    "render t.tera -f PATH",
    "render t.tera --set-file a=PATH",
    "render t.tera --schema PATH",
    "render t.tera -I PATH",
    "render t.tftpl --var-types PATH",
    "render chart -f PATH",
    "stamp t.tera --fleet PATH -o out",
    "stamp t.tera --fleet fleet.yaml -o out --kube-schemas PATH",
    "stamp --project PATH",
    "check PATH",
    "test PATH",
    "values PATH",
    "values -f PATH",
    "compile PATH -o t.mpk",
    "inspect PATH",
    "disasm PATH",
    "trace PATH",
    "why PATH:1",
    "eval 1+1 -f PATH",
    "hcl fmt PATH",
    "intent validate PATH",
    "intent resolve intent.yaml --inputs PATH",
    "intent resolve intent.yaml --outputs PATH",
];

#[test]
fn a_file_that_cannot_be_read_is_reported_in_plain_words_by_every_command() {
    let sandbox = Sandbox::with(&[
        ("name.yaml", "a: 1\n"),
        ("t.tera", "x"),
        ("t.tftpl", "x"),
        ("fleet.yaml", "- name: eu-1\n"),
        ("intent.yaml", "spec: {}\n"),
        ("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\n"),
    ]);
    for command in READ {
        for (path, why, fix) in [
            ("nmae.yaml", "it does not exist", Some("did you mean `name.yaml`?")),
            ("name.yaml/x", "`name.yaml` is a file, not a directory", None),
        ] {
            let command = command.replace("PATH", path);
            let run = sandbox.run(&command.split(' ').collect::<Vec<_>>());
            assert!(matches!(run.code, 1 | 2), "{command}: {}: {}", run.code, run.stderr);
            run.says(&[&format!("cannot read `{path}`: {why}")]).says(fix.as_slice());
        }
    }
}
