//! Mistakes of newcomers: each has an error that names its place, its cluster, its cause and its fix.
//!
//! A case of `spec-tests/mistakes/*.cases` begins with `=== ` and its name. Its command follows `$ `, what standard error has
//! to say follows `place:`, `cluster:` (of runs for clusters), `cause:` and `fix:`, and each file follows `--- ` and its name.

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
        let args = command.strip_prefix("$ ").unwrap_or_else(|| panic!("{name}: no command")).split(' ').collect();
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
        let run = Sandbox::with(&files).run(&self.args);
        let lacks = self.marks.iter().filter(|(_, wanted)| !run.stderr.contains(wanted));
        let mut faults: Vec<_> = lacks.map(|(mark, wanted)| format!("no {mark} `{wanted}`")).collect();
        let names: Vec<_> = self.marks.iter().map(|(mark, _)| *mark).collect();
        let needed: &[&str] = match self.args[0] {
            "stamp" => &["place", "cluster", "cause", "fix"],
            _ => &["place", "cause", "fix"],
        };
        faults.extend((names != needed).then(|| format!("the marks are {names:?}, not {needed:?}")));
        faults.extend((run.code == 0).then(|| "no error".to_owned()));
        faults.extend(run.stderr.contains("(os error").then(|| "a number of the system's error".to_owned()));
        if !faults.is_empty() {
            faults.push(run.stderr);
        }
        faults
    }
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
    assert!(count >= 50, "{count} cases");
    assert!(failed.is_empty(), "{} of {count} fail:\n{}", failed.len(), failed.join("\n"));
}
