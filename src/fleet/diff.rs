//! Unified diffs of texts.
//!
//! Not a library because the diff has to be deterministic and bounded: this is Myers' greedy algorithm on the lines
//! between the common prefix and suffix, and beyond [`MAX_EDITS`] edits all these lines count as replaced.

use dropforge_base::stdlib::small_sort::SmallSort as _;
use std::borrow::Cow;
use std::ops::Range;

/// Lines of context around a change.
pub(super) const CONTEXT: usize = 3;
/// Maximum length of an edit script to search for.
const MAX_EDITS: usize = 1_000;

/// An edit of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Keep,
    Delete,
    Insert,
}

/// Returns the unified diff from `old` to `new`, with `old_name` and `new_name` in its header. It is empty if the texts
/// are equal.
///
/// ```
/// use dropforge::bulk::unified_diff;
/// let diff = unified_diff("a", "b", "x\ny\n", "x\nz\n");
/// assert_eq!(diff, "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n");
/// ```
pub fn unified_diff(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    hunks_of(old, new, (0, 0)).iter().for_each(|hunk| hunk.write(&mut text));
    text
}

/// A run of changed lines: positions in the old and in the new text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Returns the runs of changed lines between two texts.
pub(super) fn replacements(old: &[&str], new: &[&str]) -> Vec<Replacement> {
    let (mut all, mut x, mut y) = (Vec::new(), 0, 0);
    for run in edits(old, new).chunk_by(|a, b| (*a == Edit::Keep) == (*b == Edit::Keep)) {
        let before = (x, y);
        x += run.iter().filter(|edit| **edit != Edit::Insert).count();
        y += run.iter().filter(|edit| **edit != Edit::Delete).count();
        if run.first() != Some(&Edit::Keep) {
            all.push(Replacement { old: before.0..x, new: before.1..y });
        }
    }
    all
}

/// Groups edits into ranges, one for each hunk.
fn hunks(edits: &[Edit]) -> Vec<(usize, usize)> {
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for (at, _) in edits.iter().enumerate().filter(|(_, edit)| **edit != Edit::Keep) {
        let (from, to) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(edits.len()));
        match hunks.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            _ => hunks.push((from, to)),
        }
    }
    hunks
}

/// A hunk: its `@@` line, and its lines with their signs.
pub(super) struct Hunk<'t> {
    pub(super) head: String,
    pub(super) lines: Vec<(char, Cow<'t, str>)>,
}

impl<'t> Hunk<'t> {
    fn of(
        old: &[&'t str],
        new: &[&'t str],
        edits: &[Edit],
        (from, to): (usize, usize),
        before: (usize, usize),
    ) -> Self {
        let count = |range: &[Edit], not: Edit| range.iter().filter(|edit| **edit != not).count();
        let (above, inside) = (edits.get(..from).unwrap_or(&[]), edits.get(from..to).unwrap_or(&[]));
        let (mut x, mut y) = (count(above, Edit::Insert), count(above, Edit::Delete));
        let range = |start: usize, lines: usize| format!("{},{lines}", if lines == 0 { start } else { start + 1 });
        let (old_lines, new_lines) = (count(inside, Edit::Insert), count(inside, Edit::Delete));
        let head = format!("@@ -{} +{} @@\n", range(before.0 + x, old_lines), range(before.1 + y, new_lines));
        let mut line = |edit: &Edit| {
            let (sign, line) = match edit {
                Edit::Keep => (' ', old.get(x)),
                Edit::Delete => ('-', old.get(x)),
                Edit::Insert => ('+', new.get(y)),
            };
            x += usize::from(*edit != Edit::Insert);
            y += usize::from(*edit != Edit::Delete);
            (sign, Cow::Borrowed(line.copied().unwrap_or("")))
        };
        Self { head, lines: inside.iter().map(&mut line).collect() }
    }

    /// Appends the hunk.
    pub(super) fn write(&self, text: &mut String) {
        text.push_str(&self.head);
        for (sign, line) in &self.lines {
            text.push(*sign);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

/// Returns the hunks of the diff between two parts of files, each with the number of lines `before` it.
pub(super) fn hunks_of<'t>(old: &'t str, new: &'t str, before: (usize, usize)) -> Vec<Hunk<'t>> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let edits = edits(&old, &new);
    hunks(&edits).into_iter().map(|range| Hunk::of(&old, &new, &edits, range, before)).collect()
}

fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (old.get(head..).unwrap_or(&[]), new.get(head..).unwrap_or(&[]));
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let old = old.get(..old.len() - tail).unwrap_or(&[]);
    let new = new.get(..new.len() - tail).unwrap_or(&[]);
    let mut all = vec![Edit::Keep; head];
    all.extend(shortest(old, new).unwrap_or_else(|| {
        let deletions = std::iter::repeat_n(Edit::Delete, old.len());
        deletions.chain(std::iter::repeat_n(Edit::Insert, new.len())).collect()
    }));
    all.extend(std::iter::repeat_n(Edit::Keep, tail));
    // In a run of changes, deletions come before insertions.
    all.split_mut(|edit| *edit == Edit::Keep).for_each(|run| run.small_sort_by_key(|edit| *edit == Edit::Insert));
    all
}

/// The furthest `x` reached on each diagonal.
type Reached = Vec<Option<usize>>;

/// Returns a shortest edit script, or `None` if it is longer than [`MAX_EDITS`].
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Edit>> {
    let most = (old.len() + new.len()).min(MAX_EDITS);
    let mut trace: Vec<Reached> = Vec::new();
    for edits in 0..=most {
        let mut now: Reached = vec![None; 2 * edits + 1];
        for at in (0..=2 * edits).step_by(2) {
            let Some(mut x) = start(trace.last(), edits, at) else { continue };
            // Diagonal k = x - y, stored at k + edits.
            let Some(mut y) = (x + edits).checked_sub(at) else { continue };
            if x > old.len() || y > new.len() {
                continue;
            }
            while x < old.len() && y < new.len() && old.get(x) == new.get(y) {
                (x, y) = (x + 1, y + 1);
            }
            if let Some(slot) = now.get_mut(at) {
                *slot = Some(x);
            }
            if x == old.len() && y == new.len() {
                trace.push(now);
                return Some(walk_back(&trace, old.len(), new.len()));
            }
        }
        trace.push(now);
    }
    None
}

/// Returns the start of the diagonal stored at `at` after `edits` edits: down from the diagonal above, or right from
/// below.
fn start(before: Option<&Reached>, edits: usize, at: usize) -> Option<usize> {
    let Some(before) = before else { return Some(0) };
    // The row before stores diagonal k at k + edits - 1.
    let from = |at: Option<usize>| at.and_then(|at| before.get(at).copied().flatten());
    let insert = from(Some(at)).filter(|_| at < 2 * edits);
    let delete = from(at.checked_sub(2)).map(|x| x + 1);
    insert.max(delete)
}

fn walk_back(trace: &[Reached], x: usize, y: usize) -> Vec<Edit> {
    let (mut x, mut y) = (x, y);
    let mut edits = Vec::with_capacity(x + y);
    for count in (0..trace.len()).rev() {
        let at = (x + count).saturating_sub(y);
        let before = count.checked_sub(1).and_then(|count| trace.get(count));
        let begin = start(before, count, at).unwrap_or(0);
        let from = |at: Option<usize>| at.and_then(|at| before?.get(at).copied().flatten());
        while x > begin {
            edits.push(Edit::Keep);
            (x, y) = (x - 1, y.saturating_sub(1));
        }
        if count == 0 {
            break;
        }
        if from(at.checked_sub(2)).is_some_and(|reached| reached + 1 == x) {
            edits.push(Edit::Delete);
            x -= 1;
        } else {
            edits.push(Edit::Insert);
            y = y.saturating_sub(1);
        }
    }
    edits.reverse();
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Applies the edits and gives both sides back.
    fn sides(old: &[&str], new: &[&str]) -> (Vec<String>, Vec<String>, usize) {
        let (mut x, mut y, mut changed) = (0, 0, 0);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for edit in edits(old, new) {
            match edit {
                Edit::Keep => {
                    assert_eq!(old[x], new[y]);
                    left.push(old[x].to_owned());
                    right.push(new[y].to_owned());
                    (x, y) = (x + 1, y + 1);
                }
                Edit::Delete => {
                    left.push(old[x].to_owned());
                    (x, changed) = (x + 1, changed + 1);
                }
                Edit::Insert => {
                    right.push(new[y].to_owned());
                    (y, changed) = (y + 1, changed + 1);
                }
            }
        }
        (left, right, changed)
    }

    /// Length of the longest common subsequence, by the table.
    fn common(old: &[&str], new: &[&str]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for a in old {
            let mut corner = 0;
            for (at, b) in new.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if a == b { corner + 1 } else { above.max(row[at]) };
                corner = above;
            }
        }
        row[new.len()]
    }

    proptest! {
        #[test]
        fn edits_rebuild_both_sides_and_are_shortest(
            old in proptest::collection::vec("[abc]", 0..20), new in proptest::collection::vec("[abc]", 0..20),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let (left, right, changed) = sides(&old, &new);
            prop_assert_eq!(&left, &old);
            prop_assert_eq!(&right, &new);
            prop_assert_eq!(changed, old.len() + new.len() - 2 * common(&old, &new));
        }
    }

    #[test]
    fn the_form() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n3\n", "\nx\n").replace("18\n", "").replace("20\n", "20");
        let diff = unified_diff("a", "b", &old, &new);
        let heads: Vec<&str> = diff.lines().filter(|line| line.starts_with("@@")).collect();
        assert_eq!(heads, ["@@ -1,6 +1,6 @@", "@@ -15,6 +15,5 @@"], "{diff}");
        assert!(diff.ends_with("\\ No newline at end of file\n"), "{diff}");
        assert_eq!(unified_diff("a", "b", "same", "same"), "");
        assert_eq!(unified_diff("/dev/null", "b", "", "x\n"), "--- /dev/null\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
        assert_eq!(unified_diff("a", "b", "x\n", ""), "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-x\n");
    }

    #[test]
    fn changed_lines_are_runs() {
        let lines = |text: &'static str| text.split(' ').collect::<Vec<_>>();
        let runs = replacements(&lines("a b c d e"), &lines("a x c d y z e"));
        let ranges: Vec<_> = runs.into_iter().map(|run| (run.old, run.new)).collect();
        assert_eq!(ranges, [(1..2, 1..2), (4..4, 4..6)]);
        assert!(replacements(&["a"], &["a"]).is_empty());
    }

    #[test]
    fn wholly_different_texts_are_replaced() {
        let side = |mark: &str| (0..5_000).map(|n| format!("{mark}{n}\n")).collect::<String>();
        let diff = unified_diff("a", "b", &side("x"), &side("y"));
        assert!(diff.starts_with("--- a\n+++ b\n@@ -1,5000 +1,5000 @@\n-x0\n"));
    }
}
