//! The changes that a preview finds: a line each, a patch, groups of clusters with the same change, or the comment of a pull
//! request.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use clap::{Args, ValueEnum};

use dropforge::bulk::{Change, ChangeGroup, ChangeGroups, FilePreview, FoldedChange, Volatile, unified_diff};
use dropforge::diagnostics::{counted, listed_of};

use crate::project::key;
use crate::stderr::Stderr;
use crate::usage;

/// Maximum number of lines of an example.
const MAX_LINES: usize = 20;

/// Options of previews and diffs.
#[derive(Debug, Default, Args)]
pub(crate) struct ChangeArgs {
    /// Print the files that would change, write nothing
    #[arg(long)]
    dry_run: bool,
    /// Like --dry-run, and exit with 3 if files would change
    #[arg(long)]
    check: bool,
    /// Print a diff, exit with 3 if it is not empty
    #[arg(long)]
    diff: bool,
    /// Print a diff as text (clusters with the same change together), unified (a patch), markdown (a comment for a pull
    /// request) or json (a line for each group) [default: text]
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true, requires = "diff", add = key("output"), hide_short_help = true)]
    diff_format: Option<DiffFormat>,
    /// Fold changes of a volatile key, path or line, as those of `checksum/*` annotations are
    #[arg(long, value_name = "PATTERN", value_parser = pattern, add = key("diff"), hide_short_help = true)]
    volatile: Vec<String>,
}

/// Checks a pattern.
fn pattern(text: &str) -> Result<String, String> {
    let wrong = |_| "expected a pattern with `*`, `**`, `?` and `[a-z]`".to_owned();
    Volatile::new(&[text.to_owned()]).map(|_| text.to_owned()).map_err(wrong)
}

/// The format of a diff.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// Clusters with the same change together
    #[default]
    #[value(alias = "summary")]
    Text,
    /// A patch
    Unified,
    /// A comment for a pull request
    Markdown,
    /// A JSON object per line for clusters with the same change
    Json,
}

impl ChangeArgs {
    /// Returns the option that asks for a preview, so that nothing is written.
    pub(crate) fn preview(&self) -> Option<&'static str> {
        usage::first(&[("--diff", self.diff), ("--check", self.check), ("--dry-run", self.dry_run)])
    }

    /// Returns `true` if changes end the command with exit code 3.
    pub(crate) fn compare(&self) -> bool {
        self.check || self.diff
    }

    /// Creates a printer of changes to files below `out`: as a diff, or as lines.
    pub(crate) fn printer<'a>(&self, out: &'a Path, stderr: &Stderr) -> ChangePrinter<'a> {
        ChangePrinter {
            out,
            format: self.diff.then(|| self.diff_format.unwrap_or_default()),
            groups: ChangeGroups::folding(Volatile::new(&self.volatile).unwrap_or_default()),
            paint: Paint(stderr.colors_stdout()),
            is_verbose: stderr.verbose,
            to: BufWriter::new(io::stdout()),
        }
    }
}

/// Prints changes to standard output.
pub(crate) struct ChangePrinter<'a> {
    out: &'a Path,
    /// The format of the diff, or `None` for a line for each file.
    format: Option<DiffFormat>,
    groups: ChangeGroups,
    paint: Paint,
    /// Print the names of all clusters, and all lines.
    is_verbose: bool,
    to: BufWriter<Stdout>,
}

impl ChangePrinter<'_> {
    /// Prints the change of a file, or keeps it for [`ChangePrinter::finish`].
    ///
    /// # Errors
    /// Errors of writing.
    pub(crate) fn print(&mut self, file: &FilePreview<'_>) -> io::Result<()> {
        let path = self.out.join(file.path).display().to_string();
        match self.format {
            None => writeln!(self.to, "{} {path}", verb(file.change)),
            Some(DiffFormat::Unified) => {
                let (old, new) = match file.change {
                    Some(Change::Create) => ("/dev/null", path.as_str()),
                    None => (path.as_str(), "/dev/null"),
                    Some(_) => (path.as_str(), path.as_str()),
                };
                self.lines(&unified_diff(old, new, file.old, file.new), "")
            }
            Some(_) => {
                self.groups.add(&FilePreview { path: &path, ..*file });
                Ok(())
            }
        }
    }

    /// Prints the groups of a diff.
    ///
    /// # Errors
    /// Errors of writing.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let groups = std::mem::take(&mut self.groups);
        match self.format {
            Some(DiffFormat::Json) => self.json(&groups)?,
            Some(DiffFormat::Markdown) => self.to.write_all(comment(&groups).as_bytes())?,
            _ => self.text(&groups)?,
        }
        self.to.flush()
    }

    fn json(&mut self, groups: &ChangeGroups) -> io::Result<()> {
        for (nth, group) in (1..).zip(groups.groups()) {
            let mut line = group.to_json();
            line.as_object_mut().into_iter().for_each(|line| _ = line.insert("group".to_owned(), nth.into()));
            writeln!(self.to, "{line}")?;
        }
        groups.folded().iter().try_for_each(|folded| writeln!(self.to, "{}", folded.to_json()))?;
        match groups.left_out() {
            0 => Ok(()),
            left_out => writeln!(self.to, "{}", serde_json::json!({ "left_out": left_out })),
        }
    }

    fn text(&mut self, groups: &ChangeGroups) -> io::Result<()> {
        groups.groups().iter().try_for_each(|group| self.group(group))?;
        for folded in groups.folded() {
            let title = format!("{} changed in {}", folded.key, who_changes(folded));
            writeln!(self.to, "{}", self.paint.bold(&title))?;
            if self.is_verbose && folded.clusters.len() > 1 {
                writeln!(self.to, "  clusters: {}", folded.clusters.join(", "))?;
            }
        }
        match groups.left_out() {
            0 => Ok(()),
            left_out => {
                let more = counted(left_out, "more change");
                writeln!(self.to, "{more} of other groups: `--diff-format unified` prints all")
            }
        }
    }

    fn group(&mut self, group: &ChangeGroup) -> io::Result<()> {
        let who = who(group);
        let template = if group.template.is_empty() { String::new() } else { format!(" ({})", group.template) };
        writeln!(self.to, "{}{template}", self.paint.bold(&format!("{who}: {}", group.title())))?;
        if self.is_verbose && group.clusters.len() > 1 {
            writeln!(self.to, "  clusters: {}", group.clusters.join(", "))?;
        }
        writeln!(self.to, "  {}", group.path)?;
        if group.change.is_none() {
            return Ok(());
        }
        let example = group.hunks.concat();
        let cut = example.match_indices('\n').nth(MAX_LINES - 1).filter(|_| !self.is_verbose);
        let end = cut.map_or(example.len(), |(end, _)| end + 1);
        self.lines(example.get(..end).unwrap_or(""), "  ")?;
        let hidden = example.get(end..).map_or(0, |rest| rest.lines().count());
        match (hidden, group.cut) {
            (0, false) => Ok(()),
            (0, true) => writeln!(self.to, "  …"),
            (hidden, _) => writeln!(self.to, "  … {} (`-v` prints them)", counted(hidden, "more line")),
        }
    }

    /// Prints lines of a diff in color.
    fn lines(&mut self, diff: &str, indent: &str) -> io::Result<()> {
        diff.lines().try_for_each(|line| writeln!(self.to, "{indent}{}", self.paint.diff_line(line)))
    }
}

/// Returns the clusters of a group, and how many files or objects change.
fn who(group: &ChangeGroup) -> String {
    let files = counted(group.files, if group.object.is_some() { "object" } else { "file" });
    match group.clusters.as_slice() {
        [] => files,
        [cluster] if group.files == 1 => cluster.clone(),
        [cluster] => format!("{cluster}, {files}"),
        clusters if clusters.len() == group.files => counted(clusters.len(), "cluster"),
        clusters => format!("{}, {files}", counted(clusters.len(), "cluster")),
    }
}

/// Returns how many clusters have a change of a volatile value.
fn who_changes(folded: &FoldedChange) -> String {
    match folded.clusters.as_slice() {
        [] => counted(folded.files, "place"),
        clusters => counted(clusters.len(), "cluster"),
    }
}

fn verb(change: Option<Change>) -> &'static str {
    match change {
        Some(Change::Create) => "create",
        Some(Change::Update) => "update",
        Some(Change::Unchanged) => "keep",
        None => "delete",
    }
}

/// Adds ANSI escapes if colors are on.
struct Paint(bool);

impl Paint {
    fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    fn diff_line(&self, line: &str) -> String {
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => "1",
            [b'-', ..] => "31",
            [b'+', ..] => "32",
            [b'@', ..] => "36",
            _ => return line.to_owned(),
        };
        self.with(style, line)
    }

    fn with(&self, style: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

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
fn comment(groups: &ChangeGroups) -> String {
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
