//! A diff as the comment of a pull request: a table, and the example of each group in a section that is closed.

use dropforge::bulk::{ChangeGroup, ChangeGroups};
use dropforge::diagnostics::{counted, listed_of};

use super::{who, who_changes};

/// Maximum size of a comment in bytes. GitHub takes 65,536 characters.
const SIZE: usize = 60_000;
/// The part of it that the table may have.
const TABLE: usize = SIZE / 3;
/// What the last lines need.
const REST: usize = 2_000;
/// Maximum number of clusters that are named.
const NAMED: usize = 50;
/// Maximum number of lines of an example.
const LINES: usize = 60;

/// Returns a comment with the groups, as many as there is room for.
pub(super) fn comment(groups: &ChangeGroups) -> String {
    let all = groups.groups();
    let mut text = format!("### {}\n\n", head(groups));
    let shown = table(all, &mut text);
    if shown < all.len() {
        text.push_str(&format!("\n{} not in this table.\n", more(all.len() - shown)));
    }
    let mut open = all.len();
    for group in all {
        let section = section(group);
        if text.len() + section.len() > SIZE - REST {
            break;
        }
        text.push_str(&section);
        open -= 1;
    }
    if open > 0 {
        text.push_str(&format!("\n**{}**: `--diff` prints all.\n", more(open)));
    }
    end(groups, &mut text);
    text
}

fn head(groups: &ChangeGroups) -> String {
    match groups.groups().len() {
        0 if groups.folded().is_empty() => "No changes".to_owned(),
        0 => "Only volatile changes".to_owned(),
        count => counted(count, "change"),
    }
}

fn more(count: usize) -> String {
    counted(count, "more group")
}

/// Adds a row for each group, and returns how many have one.
fn table(groups: &[ChangeGroup], text: &mut String) -> usize {
    if groups.is_empty() {
        return 0;
    }
    text.push_str("| clusters | object | change |\n|---|---|---|\n");
    for (nth, group) in groups.iter().enumerate() {
        let object = group.object.as_ref().map_or_else(|| group.template.clone(), |object| object.title());
        let row = format!("| {} | {} | {} |\n", code(&who(group)), code(&object), code(&group.changes()));
        if text.len() + row.len() > TABLE {
            return nth;
        }
        text.push_str(&row);
    }
    groups.len()
}

/// Returns the section of a group.
fn section(group: &ChangeGroup) -> String {
    let mut text = format!("\n<details><summary>{}: {}</summary>\n\n", code(&who(group)), code(&group.title()));
    if group.clusters.len() > 1 {
        text.push_str(&format!("{}\n\n", code(&listed_of(&group.clusters, group.clusters.len(), NAMED))));
    }
    text.push_str(&format!("{}\n", code(&group.path)));
    if group.change.is_some() {
        text.push_str(&example(group));
    }
    text + "\n</details>\n"
}

/// Returns the hunks of a group in a fence that is longer than any in them.
fn example(group: &ChangeGroup) -> String {
    let hunks = group.hunks.concat();
    let (mut lines, mut rest) = (hunks.lines(), 0);
    let shown: String = lines.by_ref().take(LINES).flat_map(|line| [line, "\n"]).collect();
    rest += lines.count();
    if shown.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&shown).max(2) + 1);
    let mut text = format!("\n{fence}diff\n{shown}{fence}\n");
    if rest > 0 || group.cut {
        let rest = if group.cut { "more lines".to_owned() } else { counted(rest, "more line") };
        text.push_str(&format!("\n… {rest}\n"));
    }
    text
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Adds the volatile changes, and the number of changes that are in no group.
fn end(groups: &ChangeGroups, text: &mut String) {
    for (nth, folded) in groups.folded().iter().enumerate() {
        let line = format!("\n{} changed in {}\n", code(&folded.key), who_changes(folded));
        if text.len() + line.len() > SIZE {
            text.push_str(&format!("\n… {}\n", counted(groups.folded().len() - nth, "more volatile change")));
            break;
        }
        text.push_str(&line);
    }
    if groups.left_out() > 0 {
        text.push_str(&format!("\n… {} of other groups\n", counted(groups.left_out(), "more change")));
    }
}

/// Returns a text as code of one line, in which nothing means markup: neither of Markdown and its tables nor of HTML.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let escaped = |c: char| match c {
        '\n' | '\r' | '\t' => " ".to_owned(),
        c if c.is_ascii_punctuation() && !".,-/:".contains(c) => format!("&#{};", u32::from(c)),
        // Links begin without a mark, too.
        ':' => "&#58;".to_owned(),
        c => c.to_string(),
    };
    format!("<code>{}</code>", text.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge::bulk::{Change, FilePreview};

    fn groups(changes: usize, line: &str) -> ChangeGroups {
        let mut groups = ChangeGroups::default();
        for nth in 0..changes {
            let (old, new) = (format!("a{nth}: 1\n"), format!("a{nth}: 2 # {line}\n"));
            let change = Some(Change::Update);
            groups.add(&FilePreview { path: "c/a.yaml", cluster: "c", template: "t|x", change, old: &old, new: &new });
        }
        groups
    }

    #[test]
    fn content_does_not_leave_its_fence_or_cell() {
        let text = comment(&groups(1, "````\u{0} </details> | @all [x](y) <b>"));
        assert_eq!(text.matches("</details>").count(), 2, "{text}");
        assert!(text.contains("\n`````diff\n") && text.contains("\n`````\n"), "{text}");
        let row = text.lines().nth(4).unwrap();
        assert_eq!(row.matches('|').count(), 4, "{row}");
        assert!(!row.contains('@') && !row.contains("<b>") && !row.contains('['), "{row}");
    }

    #[test]
    fn a_comment_has_a_size_and_counts_what_is_left_out() {
        let text = comment(&groups(900, &"x".repeat(150)));
        assert!(text.len() < SIZE, "{}", text.len());
        let (sections, rows) = (text.matches("<details>").count(), text.matches("| <code>c").count());
        assert!(sections > 10 && rows > 10);
        assert!(text.contains(&format!("**{} more groups**", 900 - sections)), "{sections}");
        assert!(text.contains(&format!("\n{} more groups not in this table", 900 - rows)), "{rows}");
        assert_eq!(comment(&ChangeGroups::default()), "### No changes\n\n");
    }
}
