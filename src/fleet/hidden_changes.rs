//! The changes of a file without the secrets of its cluster.
//!
//! The new secrets are known, and where they went if the output was recorded. The old ones are not known. So the value of an
//! old line that goes is shown only if the new text has open values at its place, and no secret.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::cluster::Cluster;
use super::diff::{CONTEXT, Replacement, replacements};
use super::job::{Job, Stamp};
use super::line_paths::{before_value, places};
use crate::why::RecordedOutput;
use dropforge_base::mask::{HIDDEN, Mask};

/// Stands for the old value of a secret.
const BEFORE: &str = "… (before)";
/// Maximum number of lines of a file that are followed to their inputs. Others have no value.
const FOLLOWED: usize = 400;

/// Returns the old and the new content of a file without secrets, for a diff.
pub fn hidden<'t>(mask: &Mask, old: &'t str, new: &'t str) -> (Cow<'t, str>, Cow<'t, str>) {
    if mask.is_empty() { (old.into(), new.into()) } else { Hiding::by(mask).hidden(old, new) }
}

/// Returns the content of a file that nothing makes any more, whose secrets are not known.
pub(super) fn hidden_deletion(old: &str) -> String {
    if old.is_empty() { String::new() } else { format!("{HIDDEN}\n") }
}

/// The secrets of a cluster, and the recordings of its outputs.
pub(super) struct ClusterSecrets<'s> {
    stamp: &'s dyn Stamp,
    job: &'s Job<'s>,
    cluster: &'s Cluster,
    /// `None` if no input is secret.
    mask: Option<Mask>,
    recorded: HashMap<usize, Option<RecordedOutput>>,
}

impl<'s> ClusterSecrets<'s> {
    pub(super) fn of(stamp: &'s dyn Stamp, job: &'s Job<'s>, cluster: &'s Cluster) -> Self {
        let mask = job.has_secrets(stamp).then(|| stamp.mask(job.layers, cluster));
        Self { stamp, job, cluster, mask, recorded: HashMap::new() }
    }

    /// Returns the old and the new content of a file of an output without secrets.
    pub(super) fn hidden<'t>(&mut self, output: usize, old: &'t str, new: &'t str) -> (Cow<'t, str>, Cow<'t, str>) {
        let Some(mask) = &self.mask else { return (old.into(), new.into()) };
        let (stamp, layers, cluster) = (self.stamp, self.job.layers, self.cluster);
        let key = stamp.recording_of(output);
        let recorded = self.recorded.entry(key).or_insert_with(|| stamp.record(layers, cluster, output));
        let Some(recorded) = recorded else { return Hiding::by(mask).hidden(old, new) };
        let mut names = HashSet::new();
        stamp.each_secret_name(layers, cluster, &mut |name| _ = names.insert(name.to_owned()));
        let secrets = recorded.secrets(layers, cluster, names);
        let shown = |at: usize| secrets.shown_line(new, at);
        Hiding { mask, shown: Some(&shown) }.hidden(old, new)
    }
}

/// Hides secrets by their texts, and by what came from them.
struct Hiding<'h> {
    mask: &'h Mask,
    /// Returns the new line at a byte without what came from secrets, and `true` if its place may have had one.
    shown: Option<&'h dyn Fn(usize) -> (String, bool)>,
}

/// A new line without secrets.
struct Shown<'t> {
    text: Cow<'t, str>,
    /// Its place has a secret, or may have had one.
    is_secret: bool,
}

impl<'h> Hiding<'h> {
    fn by(mask: &'h Mask) -> Self {
        Self { mask, shown: None }
    }

    fn hidden<'t>(&self, old: &'t str, new: &'t str) -> (Cow<'t, str>, Cow<'t, str>) {
        let (olds, news): (Vec<&str>, Vec<&str>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let changes = replacements(&olds, &news);
        let shown = self.new_lines(&news, &changes);
        let old = self.old_lines(&olds, &news, &changes, &shown);
        (old.concat().into(), shown.into_iter().map(|line| line.text).collect::<Vec<_>>().concat().into())
    }

    /// Returns the new lines without secrets. Those that a diff shows are followed to their inputs.
    fn new_lines<'t>(&self, news: &[&'t str], changes: &[Replacement]) -> Vec<Shown<'t>> {
        let by_text = |line: &&'t str| {
            let text = self.mask.hidden(line);
            Shown { is_secret: text != *line, text }
        };
        let mut lines: Vec<Shown<'_>> = news.iter().map(by_text).collect();
        let Some(shown) = self.shown else { return lines };
        let starts = news.iter().scan(0, |at, line| Some(std::mem::replace(at, *at + line.len())));
        let (mut followed, mut next) = (0, changes.iter().peekable());
        for (nth, ((start, text), line)) in starts.zip(news).zip(&mut lines).enumerate() {
            while next.next_if(|change| change.new.end + CONTEXT <= nth).is_some() {}
            if next.peek().is_none_or(|change| nth + CONTEXT < change.new.start) {
                continue;
            }
            followed += 1;
            if followed > FOLLOWED {
                *line = Shown { text: without_value(text, HIDDEN).into(), is_secret: true };
                continue;
            }
            let (found, may_hide) = shown(start);
            let end = text.get(text.trim_end_matches(['\n', '\r']).len()..).unwrap_or("");
            let found = self.mask.hidden(&found).into_owned() + end;
            *line = Shown { is_secret: may_hide || found != *text, text: found.into() };
        }
        lines
    }

    fn old_lines<'t>(
        &self,
        olds: &[&'t str],
        news: &[&'t str],
        changes: &[Replacement],
        shown: &[Shown<'t>],
    ) -> Vec<Cow<'t, str>> {
        let (mut secret, mut open) = (HashSet::new(), HashSet::new());
        for (place, line) in places(news).into_iter().zip(shown) {
            // A comment or a line of a text says nothing about another one.
            let is_one_value = !place.ends_with(['#', '|']);
            match line.is_secret {
                true => _ = secret.insert(place),
                false => open.extend(is_one_value.then_some(place)),
            }
        }
        let (mut lines, mut kept) = (Vec::with_capacity(olds.len()), 0);
        let old_places = places(olds);
        let text = |line: &Shown<'t>| line.text.clone();
        for Replacement { old, new } in changes {
            let before = old.start - lines.len();
            lines.extend(shown.iter().skip(kept).take(before).map(text));
            for (line, place) in olds.iter().zip(&old_places).take(old.end).skip(old.start) {
                let is_open = open.contains(place) && !secret.contains(place);
                lines.push(if is_open { self.mask.hidden(line) } else { without_value(line, BEFORE).into() });
            }
            kept = new.end;
        }
        lines.extend(shown.iter().skip(kept).map(text));
        lines
    }
}

/// Returns a line with `mark` in place of its value, or of a comment.
fn without_value(line: &str, mark: &str) -> String {
    let content = line.trim_end_matches(['\n', '\r']);
    let end = line.get(content.len()..).unwrap_or("");
    let text = content.trim_start();
    match before_value(content) {
        // A line of a text is hidden as a whole.
        Some((before, _)) if before.trim_end().ends_with([':', '=']) => format!("{before}{mark}{end}"),
        None if !text.starts_with('#') => line.to_owned(),
        _ => format!("{}{mark}{end}", content.get(..content.len() - text.len()).unwrap_or("")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unified_diff;

    #[test]
    fn neither_the_new_nor_the_old_secret_is_in_a_diff() {
        let mask = Mask::new(["hunter22"]);
        let old = "a: 1\npassword: swordfish\nreplicas: 2\nb:\n- swordfish\nc: hunter22\n";
        let new = "a: 1\npassword: hunter22\nreplicas: 3\nb:\n- hunter22\nc: hunter22\nd: 1\n";
        let (old, new) = hidden(&mask, old, new);
        let diff = unified_diff("a", "b", &old, &new);
        assert!(!diff.contains("hunter") && !diff.contains("swordf"), "{diff}");
        for line in
            ["-password: … (before)", "+password: …", "-replicas: 2", "+replicas: 3", "-… (before)", "+- …", " c: …"]
        {
            assert!(diff.lines().any(|other| other == line), "{line}\n{diff}");
        }
        assert_eq!(hidden(&Mask::none(), "x", "y"), ("x".into(), "y".into()));
    }

    #[test]
    fn old_values_without_an_open_one_at_their_place_are_hidden() {
        let mask = Mask::new(["hunter22"]);
        for (old, new) in [
            // The line is gone, or its place has another secret, or the item moved.
            ("a: 1\ntoken: swordfish\nb: 2\n", "a: 1\nb: 2\n"),
            ("dsn: x:swordfish@h\n", "url: y\npassword: hunter22\n"),
            ("env:\n- name: p\n  value: swordfish\n", "env:\n- name: f\n  value: f\n- name: p\n  value: hunter22\n"),
            ("f: |\n  A=1\n  P=swordfish\n", "f: |\n  A=1\n  Q=2\n"),
            ("# swordfish\na: 1\n", "a: 1\n"),
            ("f: |\n  swordfish\n", "f: x\n"),
            ("f: |\n  swordfish\n", "f: |\n  x\n"),
            ("# swordfish\na: 1\n", "# x\na: 1\n"),
        ] {
            let (shown, _) = hidden(&mask, old, new);
            assert!(!shown.contains("swordfish") && shown.contains(BEFORE), "{shown}");
        }
        let (shown, _) = hidden(&mask, "a: 1\nb:\n  c: 2\n", "a: 3\nb:\n  c: 2\n");
        assert_eq!(shown, "a: 1\nb:\n  c: 2\n");
    }
}
