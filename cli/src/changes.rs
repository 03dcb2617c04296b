//! The changes that a preview finds: a line each, a patch, or groups of clusters with the same change.

mod markdown;

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use clap::{Args, ValueEnum};

use dropforge::bulk::{Change, ChangeGroup, ChangeGroups, FilePreview, FoldedChange, Volatile, unified_diff};
use dropforge::diagnostics::counted;

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
            Some(DiffFormat::Markdown) => self.to.write_all(markdown::comment(&groups).as_bytes())?,
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
