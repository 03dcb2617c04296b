//! Charts in archives: tar files compressed with gzip; and charts whose packed dependencies are unpacked, the form that
//! artifacts hold. Charts in directories, and the files that `.helmignore` excludes.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};

use super::Stage;
use super::source::{Bounds, Budget, ChartFile, ChartSource, Content, file, is_plain, outside};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::files;
use dropforge_base::stdlib::go_match::matches;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_machine::bytecode::{ResourceFile, Resources};

/// The bytes of tar headers that an archive may have for each file, at most.
const HEADER: u64 = 4096;

/// Returns the files below the top-level directory of an archive.
pub(super) fn unpacked_files(bytes: &[u8], budget: &mut Budget) -> Result<Vec<ChartFile>> {
    // Headers do not count as files, so the stream itself is bounded, too.
    let most = budget.bounds.total_bytes.saturating_add(HEADER.saturating_mul(budget.bounds.files as u64));
    let mut archive = Archive::new(MultiGzDecoder::new(bytes).take(most));
    let (mut files, mut entries) = (Vec::new(), 0);
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        entries += 1;
        if entries > budget.bounds.files.saturating_mul(2) {
            return Err(Stage::Load.error(Code::LimitTemplates, "the archive has too many entries"));
        }
        if let Some(path) = path_of(&entry)? {
            let content = content(&mut entry, &path, budget)?;
            files.push(file(path, &content)?);
        }
    }
    if files.is_empty() {
        return Err(Stage::Load.error(Code::InputSyntax, "no files in chart archive"));
    }
    Ok(files)
}

/// Returns the path of an entry below the top-level directory. `None` for directories and for metadata of the archive.
fn path_of<R: Read>(entry: &Entry<'_, R>) -> Result<Option<String>> {
    let bytes = entry.path_bytes();
    let path = std::str::from_utf8(&bytes).map_err(|_| outside(&String::from_utf8_lossy(&bytes)))?;
    match entry.header().entry_type() {
        EntryType::Directory | EntryType::XGlobalHeader | EntryType::XHeader => return Ok(None),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {}
        _ => {
            let message = format!("`{path}` in the chart archive is neither a file nor a directory");
            return Err(Stage::Load.error(Code::OutsideRoot, message).with_help("pack files instead of links"));
        }
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.ends_with('/') {
        return Ok(None);
    }
    match path.split_once('/') {
        Some(("" | "..", _)) => Err(outside(path)),
        Some((_, rest)) => Ok(Some(rest.to_owned())),
        None => Err(Stage::Load.error(Code::InputStructure, "chart illegally has no base directory")),
    }
}

fn content<R: Read>(entry: &mut Entry<'_, R>, path: &str, budget: &mut Budget) -> Result<Vec<u8>> {
    // A header may claim any size: what is read counts.
    let mut content = Vec::new();
    let most = budget.next_file().saturating_add(1);
    entry.take(most).read_to_end(&mut content).map_err(unreadable)?;
    budget.take(path, content.len() as u64)?;
    Ok(content)
}

fn unreadable(error: io::Error) -> Box<Diagnostic> {
    let message = format!("cannot unpack the chart archive: {error}");
    Stage::Load.of(Diagnostic::new(Code::InputSyntax, message).caused_by(error))
}

impl ChartSource {
    /// Returns the chart with the files of packed dependencies in place of their archives: `charts/a-1.0.0.tgz` becomes a
    /// directory of this name.
    ///
    /// # Errors
    /// `input.syntax` for an archive that cannot be unpacked; `template.outside_root`; `limit.*`.
    #[doc(hidden)]
    pub fn unpacked(&self) -> Result<Self> {
        let mut budget = Budget::new(self.bounds);
        self.files.iter().try_for_each(|file| budget.take(&file.path, file.bytes().len() as u64))?;
        let (mut files, mut open) = (Vec::new(), self.files.clone());
        while let Some(file) = open.pop() {
            let (depth, path) = place(&file.path);
            if !is_packed(path) {
                files.push(file);
                continue;
            }
            if depth >= self.bounds.depth {
                let message = format!("charts nest deeper than {} levels", self.bounds.depth);
                return Err(Stage::Load.error(Code::LimitDepth, message));
            }
            let inside = unpacked_files(file.bytes(), &mut budget);
            let inside = inside.map_err(|error| error.with_note(format!("the archive is `{}`", file.path)))?;
            open.extend(inside.into_iter().map(|one| one.within(&file.path)));
        }
        files.small_sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files, is_unpacked: true, ..self.like() })
    }

    /// Returns the [unpacked](Self::unpacked) chart in an artifact. Texts share the memory of the artifact.
    ///
    /// # Errors
    /// `template.outside_root` for a path that leads out of the chart; `limit.*`.
    pub fn of_resources(resources: &Resources) -> Result<Self> {
        let bounds = Bounds::default();
        let mut budget = Budget::new(bounds);
        let file = |file: ResourceFile<'_>| {
            let (path, bytes) = (file.path(), file.bytes());
            budget.take(path, bytes.len() as u64)?;
            if !is_plain(path) {
                return Err(outside(path));
            }
            let content = file.text().map_or_else(|| Content::of(bytes), Content::Text);
            Ok(ChartFile { path: path.to_owned(), content, value: file.value() })
        };
        let files = resources.files().map(file).collect::<Result<_>>()?;
        Ok(Self { files, bounds, is_unpacked: true, folder: None })
    }

    /// Returns the chart with empty templates. Their names tell what a compiled program renders.
    pub fn without_templates(&self) -> Self {
        let emptied = |file: &ChartFile| match place(&file.path).1.starts_with("templates/") {
            true => ChartFile { content: Content::default(), ..file.clone() },
            false => file.clone(),
        };
        Self { files: self.files.iter().map(emptied).collect(), ..self.like() }
    }
}

/// Returns the number of charts around a file, and its path in the innermost one.
pub(super) fn place(path: &str) -> (usize, &str) {
    let (mut depth, mut own) = (0, path);
    while let Some((name, below)) = own.strip_prefix("charts/").and_then(|rest| rest.split_once('/'))
        && !name.starts_with(['_', '.'])
    {
        (depth, own) = (depth + 1, below);
    }
    (depth, own)
}

/// Returns `true` for the path of a packed dependency in its chart.
fn is_packed(path: &str) -> bool {
    let name = path.strip_prefix("charts/").filter(|name| !name.contains('/') && !name.starts_with(['_', '.']));
    name.is_some_and(|name| name.ends_with(".tgz"))
}

/// Maximum nesting of directories. Links may lead in circles.
const DEPTH: usize = 64;

/// Returns the files below `root` that `.helmignore` does not exclude.
/// Links may lead to the folders `follow`, too.
pub(super) fn files(root: &Path, follow: &[PathBuf], budget: &mut Budget) -> Result<Vec<ChartFile>> {
    let real = |path: &Path| fs::canonicalize(path).map_err(|error| unreadable_folder(path, error));
    let root = real(root)?;
    let allowed = follow.iter().map(|path| real(path)).collect::<Result<Vec<_>>>()?;
    let allowed = [std::slice::from_ref(&root), &allowed].concat();
    let ignored = ignored(&root, &allowed, budget.bounds.file_bytes)?;
    // Directories without links, their paths from the root with a slash at the end, and their depths.
    let (mut files, mut open) = (Vec::new(), vec![(root.clone(), String::new(), 0)]);
    while let Some((at, folder, depth)) = open.pop() {
        if depth > DEPTH {
            let message = format!("the directories of the chart nest deeper than {DEPTH} levels");
            return Err(Stage::Load.error(Code::LimitDepth, message).with_help("links may lead in a circle"));
        }
        for entry in fs::read_dir(&at).map_err(|error| unreadable_folder(&at, error))? {
            let entry = entry.map_err(|error| unreadable_folder(&at, error))?;
            let Ok(name) = entry.file_name().into_string() else { return Err(outside(&at.to_string_lossy())) };
            let path = format!("{folder}{name}");
            let target = within(&allowed, &entry.path(), &path)?;
            if excludes(&ignored, &path, target.is_dir()) {
                continue;
            }
            if target.is_dir() {
                open.push((target, path + "/", depth + 1));
            } else {
                let bytes = read_file(&target, budget.next_file().saturating_add(1))
                    .map_err(|error| unreadable_folder(&target, error))?;
                budget.take(&path, bytes.len() as u64)?;
                files.push(file(path, &bytes)?);
            }
        }
    }
    Ok(files)
}

/// Returns a path without links. A link that leads to none of the folders `allowed` is an error.
fn within(allowed: &[PathBuf], at: &Path, path: &str) -> Result<PathBuf> {
    let target = fs::canonicalize(at).map_err(|error| unreadable_folder(at, error))?;
    if allowed.iter().any(|folder| target.starts_with(folder)) {
        return Ok(target);
    }
    let folder = if target.is_dir() { target.as_path() } else { target.parent().unwrap_or(&target) };
    let error = outside(path).with_note(format!("the link leads to `{}`", target.display()));
    Err(error.with_help(format!("allow the folder that it leads to: `--follow-links {}`", folder.display())))
}

fn ignored(root: &Path, allowed: &[PathBuf], most: u64) -> Result<Vec<Rule>> {
    let path = root.join(".helmignore");
    if !path.exists() {
        return rules("");
    }
    let target = within(allowed, &path, ".helmignore")?;
    let bytes = read_file(&target, most).map_err(|error| unreadable_folder(&path, error))?;
    rules(&String::from_utf8_lossy(&bytes))
}

/// Reads at most `most` bytes of a regular file.
pub(super) fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    files::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable_folder(path: &Path, error: io::Error) -> Box<Diagnostic> {
    Stage::Load.of(files::unreadable(path, error))
}

/// The rule that every chart has: hidden files among templates.
const DEFAULT: &str = "templates/.?*";

/// A pattern of a `.helmignore` file.
#[derive(Debug)]
struct Rule {
    pattern: String,
    /// The rule begins with `!`: what does not match is excluded.
    is_negated: bool,
    /// The rule ends with `/`: only directories match.
    only_directories: bool,
    /// The pattern has a slash and is compared with the whole path, not only with the last component.
    whole_path: bool,
}

/// Parses the lines of a `.helmignore` file.
///
/// # Errors
/// `input.syntax` for `**` and malformed patterns.
fn rules(text: &str) -> Result<Vec<Rule>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.chain([DEFAULT]).map(rule).collect()
}

/// Returns `true` if the file or directory at `path` does not belong to the chart.
fn excludes(rules: &[Rule], path: &str, is_dir: bool) -> bool {
    rules.iter().any(|rule| rule.excludes(path, is_dir))
}

impl Rule {
    fn excludes(&self, path: &str, is_dir: bool) -> bool {
        match self.only_directories && !is_dir {
            true => self.is_negated,
            false => self.matches(path) != self.is_negated,
        }
    }

    fn matches(&self, path: &str) -> bool {
        let last = path.rsplit('/').next().unwrap_or(path);
        matches(&self.pattern, if self.whole_path { path } else { last }).unwrap_or(false)
    }
}

fn rule(line: &str) -> Result<Rule> {
    let malformed = |why: &str| Stage::Load.error(Code::InputSyntax, format!(".helmignore: `{line}`: {why}"));
    if line.contains("**") {
        return Err(malformed("double-star (**) syntax is not supported"));
    }
    // Helm tries each pattern once, with this name.
    matches(line, "abc").map_err(|_| malformed("syntax error in pattern"))?;
    let (is_negated, pattern) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (only_directories, pattern) = pattern.strip_suffix('/').map_or((false, pattern), |rest| (true, rest));
    let whole_path = pattern.contains('/');
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern).to_owned();
    Ok(Rule { pattern, is_negated, only_directories, whole_path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_innermost_chart() {
        for (path, expected) in [
            ("templates/charts/a", (0, "templates/charts/a")),
            ("charts/a.tgz", (0, "charts/a.tgz")),
            ("charts/a.tgz/templates/x", (1, "templates/x")),
            ("charts/a/charts/b/charts/c.tgz", (2, "charts/c.tgz")),
            ("charts/_a/templates/x", (0, "charts/_a/templates/x")),
        ] {
            assert_eq!(place(path), expected);
        }
        assert!(is_packed("charts/a.tgz") && !is_packed("charts/.a.tgz") && !is_packed("charts/a.tgz/x.tgz"));
    }
}

#[cfg(test)]
mod directory_tests {
    use super::*;

    #[test]
    fn rules_of_a_file() {
        let ignored = rules("# comment\n\n*.txt\n/top.yaml\ndir/\na/*.md\nx[ab]\n").unwrap();
        for (path, is_dir, excluded) in [
            ("a.txt", false, true),
            ("deep/a.txt", false, true),
            ("top.yaml", false, true),
            ("deep/top.yaml", false, false),
            ("dir", true, true),
            ("dir", false, false),
            ("deep/dir", true, true),
            ("a/b.md", false, true),
            ("a/b/c.md", false, false),
            ("xa", false, true),
            ("templates/.hidden", false, true),
            ("templates/.h", true, true),
            ("templates/a.yaml", false, false),
            (".hidden", false, false),
        ] {
            assert_eq!(excludes(&ignored, path, is_dir), excluded, "{path}");
        }
        assert!(excludes(&rules("!a.txt\n").unwrap(), "b.txt", false));
        assert!(!excludes(&rules("!a.txt\n").unwrap(), "a.txt", false));
        assert!(rules("a/**\n").is_err() && rules("[").is_err() && rules("[a-]").is_err() && rules("b*[").is_ok());
        // `!` is no negation in a class, and empty parts of a path are parts.
        for (rule, path, excluded) in [
            ("[!a]", "a", true),
            ("[!a]", "b", false),
            ("dir//a", "dir/a", false),
            ("//a", "a", false),
            ("dir//", "dir", false),
        ] {
            assert_eq!(excludes(&rules(rule).unwrap(), path, true), excluded, "{rule}");
        }
    }
}
