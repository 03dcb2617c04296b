//! Charts in archives: tar files compressed with gzip; and charts whose packed dependencies are unpacked, the form that
//! artifacts hold.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};

use super::Stage;
use super::source::{Bounds, Budget, ChartFile, ChartSource, Content, file, is_plain, outside};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
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
