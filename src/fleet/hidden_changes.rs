//! The changes of a file without the secrets of its cluster.
//!
//! The old secrets are not known, only the new ones. So what an old line has is hidden where a new one at its place has a
//! secret.

use std::borrow::Cow;
use std::collections::HashSet;

use super::diff::{Replacement, replacements};
use dropforge_base::mask::{HIDDEN, Mask};

/// Stands for the old value of a secret.
const BEFORE: &str = "… (before)";

/// Returns the old and the new content of a file without secrets, for a diff.
pub fn hidden<'t>(mask: &Mask, old: &'t str, new: &'t str) -> (Cow<'t, str>, Cow<'t, str>) {
    if mask.is_empty() {
        return (old.into(), new.into());
    }
    let (olds, news): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let mut shown: Vec<Cow<'_, str>> = olds.iter().map(|line| mask.hidden(line)).collect();
    for Replacement { old, new } in replacements(&olds, &news) {
        let (secret, others): (Vec<&str>, Vec<&str>) =
            news.get(new).unwrap_or(&[]).iter().partition(|line| mask.is_in(line));
        if secret.is_empty() {
            continue;
        }
        let keys = |lines: &[&'t str]| lines.iter().filter_map(|line| key(line)).collect::<HashSet<_>>();
        let (hidden, open) = (keys(&secret), keys(&others));
        for (line, place) in olds.get(old.clone()).unwrap_or(&[]).iter().zip(shown.get_mut(old).unwrap_or(&mut [])) {
            if key(line).is_none_or(|key| hidden.contains(key) || !open.contains(key)) {
                *place = before(line).into();
            }
        }
    }
    (shown.concat().into(), news.iter().map(|line| mask.hidden(line)).collect::<Vec<_>>().concat().into())
}

/// Returns the content of a file that nothing makes any more, whose secrets are not known.
pub(super) fn hidden_deletion(old: &str) -> String {
    if old.is_empty() { String::new() } else { format!("{HIDDEN}\n") }
}

/// Returns the beginning of a line up to its value.
fn key(line: &str) -> Option<&str> {
    line.split_once(": ").map(|(key, _)| key)
}

/// Returns an old line without its value.
fn before(line: &str) -> String {
    let content = line.trim_end_matches(['\n', '\r']);
    let end = line.get(content.len()..).unwrap_or("");
    match key(content) {
        Some(key) => format!("{key}: {BEFORE}{end}"),
        None => {
            let indent = content.len() - content.trim_start().len();
            format!("{}{BEFORE}{end}", content.get(..indent).unwrap_or(""))
        }
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
}
