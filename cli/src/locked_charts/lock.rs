//! `dropforge.lock`: the versions and the digests of the charts of a project, and the digests of schemas at URLs.

use std::path::{Path, PathBuf};

use dropforge::bulk::{Format, input};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::engine::path_from_here;
use dropforge::files;
use dropforge::text::{Source, Span};
use dropforge::value::Data;

use super::RemoteChart;

/// The name of the file, beside the project file.
const FILE: &str = "dropforge.lock";
/// Maximum length of the file.
const MAX: u64 = 16 << 20;

/// The lock of a project.
#[derive(Debug)]
pub(crate) struct ProjectLock {
    path: PathBuf,
    /// The charts, sorted by what the project says.
    pub(crate) charts: Vec<LockedChart>,
    /// The schemas, sorted by their URLs.
    pub(crate) schemas: Vec<LockedSchema>,
}

/// A schema of a lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedSchema {
    /// The URL.
    pub(crate) url: String,
    /// The digest of the document: `sha256:…`.
    pub(crate) digest: String,
}

/// A chart of a lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedChart {
    /// The text of the project.
    pub(crate) chart: String,
    /// The version or the range of the project; may be empty.
    pub(crate) range: String,
    /// The name of the chart.
    pub(crate) name: String,
    /// The version of the chart.
    pub(crate) version: String,
    /// The digest of the packed chart: `sha256:…`.
    pub(crate) digest: String,
    /// The URL that the chart was fetched from.
    pub(crate) source: String,
}

impl ProjectLock {
    /// Reads the lock beside a project file. Without one, it is empty.
    ///
    /// # Errors
    /// `file.read_failed`, `input.syntax`, `input.structure`.
    pub(crate) fn read(project: &Path) -> Result<Self> {
        let path = project.parent().unwrap_or(Path::new("")).join(FILE);
        if !path.exists() {
            return Ok(Self { path, charts: Vec::new(), schemas: Vec::new() });
        }
        let text = files::read_text(&path, MAX).map_err(|error| files::unreadable(&path, error))?;
        let source = Source::new(path_from_here(&path), text);
        let map = input::map(&source, Format::Toml)?;
        let wrong = || {
            Diagnostic::new(Code::InputStructure, format!("`{}` is not a lock of charts", path_from_here(&path)))
                .at(&source, Span::default(), "")
                .with_help("write it again: `dropforge deps update`")
        };
        let items = |key| match map.get(key) {
            None => Ok(&[][..]),
            Some(items) => items.as_list().ok_or_else(wrong),
        };
        let charts: Option<Vec<LockedChart>> = items("chart")?.iter().map(LockedChart::read).collect();
        let schemas: Option<Vec<LockedSchema>> = items("schema")?.iter().map(LockedSchema::read).collect();
        Ok(Self { charts: charts.ok_or_else(wrong)?, schemas: schemas.ok_or_else(wrong)?, path })
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path for messages.
    pub(crate) fn shown(&self) -> String {
        path_from_here(&self.path)
    }

    /// Returns the entry of a chart.
    pub(crate) fn find(&self, chart: &RemoteChart) -> Option<&LockedChart> {
        self.charts.iter().find(|one| one.chart == chart.chart && one.range == chart.range)
    }

    /// Writes the lock.
    ///
    /// # Errors
    /// `file.write_failed`.
    #[cfg(feature = "remote")]
    pub(crate) fn write(&mut self) -> Result<()> {
        self.charts.sort();
        self.charts.dedup();
        self.schemas.sort();
        let charts = self.charts.iter().map(LockedChart::text);
        let all: String = charts.chain(self.schemas.iter().map(LockedSchema::text)).collect();
        let text = format!("# Written by `dropforge deps update`. Do not edit.\n{all}");
        dropforge::bulk::write_file(&self.path, text.as_bytes(), false).map(|_| ())
    }
}

impl LockedChart {
    fn read(item: &Data) -> Option<Self> {
        let text = |key| item.get(key)?.as_str().map(str::to_owned);
        let digest = text("digest").filter(|text| is_digest(text))?;
        let range = text("range").unwrap_or_default();
        Some(Self {
            chart: text("chart")?,
            range,
            name: text("name")?,
            version: text("version")?,
            digest,
            source: text("source")?,
        })
    }

    /// Returns the table of the entry.
    #[cfg(feature = "remote")]
    fn text(&self) -> String {
        let fields = [
            ("chart", &self.chart),
            ("range", &self.range),
            ("name", &self.name),
            ("version", &self.version),
            ("digest", &self.digest),
            ("source", &self.source),
        ];
        entry("chart", fields)
    }
}

impl LockedSchema {
    fn read(item: &Data) -> Option<Self> {
        let text = |key| item.get(key)?.as_str().map(str::to_owned);
        Some(Self { url: text("url")?, digest: text("digest").filter(|text| is_digest(text))? })
    }

    /// Returns the table of the entry.
    #[cfg(feature = "remote")]
    fn text(&self) -> String {
        entry("schema", [("url", &self.url), ("digest", &self.digest)])
    }
}

/// Returns the table of an entry, with a key in each line.
#[cfg(feature = "remote")]
fn entry<const N: usize>(name: &str, fields: [(&str, &String); N]) -> String {
    let line = |(key, value): (&str, &String)| format!("{key} = {}\n", serde_json::Value::from(value.as_str()));
    let lines: String = fields.into_iter().filter(|(_, value)| !value.is_empty()).map(line).collect();
    format!("\n[[{name}]]\n{lines}")
}

fn is_digest(text: &str) -> bool {
    let is_hex = |text: &str| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    text.strip_prefix("sha256:").is_some_and(is_hex)
}

#[cfg(all(test, feature = "remote"))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_sorted_and_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("dropforge.toml");
        let mut lock = ProjectLock::read(&project).unwrap();
        assert!(lock.charts.is_empty());
        let chart = |chart: &str, range: &str| LockedChart {
            chart: chart.to_owned(),
            range: range.to_owned(),
            name: "a\"b".to_owned(),
            version: "1.0.0".to_owned(),
            digest: format!("sha256:{}", "0f".repeat(32)),
            source: "https://r.io/a.tgz".to_owned(),
        };
        lock.charts = vec![chart("z/a", ""), chart("r/a", "^1"), chart("r/a", "\u{1}"), chart("z/a", "")];
        lock.schemas = vec![LockedSchema { url: "https://e.x/a.json".to_owned(), digest: chart("", "").digest }];
        lock.write().unwrap();
        let again = ProjectLock::read(&project).unwrap();
        assert_eq!(again.schemas, lock.schemas);
        assert_eq!(again.charts, [chart("r/a", "\u{1}"), chart("r/a", "^1"), chart("z/a", "")]);
        for wrong in ["chart = 1", "[[chart]]\nchart = \"a\"", "[[chart]]\nchart = 1", "[[schema]]\nurl = \"a\"", "x"] {
            std::fs::write(dir.path().join(FILE), wrong).unwrap();
            assert!(ProjectLock::read(&project).is_err(), "{wrong}");
        }
    }
}
