//! `index.yaml`: the charts of a repository.
//!
//! Indexes of large repositories have tens of megabytes, of which one chart needs a few lines. So the file is read once, line
//! by line, and only the entries of wanted charts are kept and parsed. Indexes in another form are parsed whole, up to a bound.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::BufRead;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::super::metadata::{Fields, Metadata};
use super::super::read;
use crate::chart::metadata;
use dropforge_base::stdlib::semver::LenientVersion;
use dropforge_value::Data;

/// Maximum length of the text that is parsed.
const MAX_PARSED: u64 = 16 << 20;

/// The versions of wanted charts in a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// The versions of each chart, the newest first.
    entries: BTreeMap<String, Vec<IndexEntry>>,
}

/// A version of a chart in a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexEntry {
    /// The version as it is written.
    pub version: String,
    /// The addresses of the packed chart, absolute or from the URL of the repository.
    pub urls: Vec<String>,
    /// The digest of the packed chart; may be empty.
    pub digest: String,
}

/// The reason why an index cannot be read.
#[derive(Debug)]
pub enum IndexFailure {
    /// The file cannot be read.
    Io(io::Error),
    /// It is not an index.
    Syntax(String),
    /// It is too long, and not in a form of which a part can be read.
    TooLong(u64),
}

impl fmt::Display for IndexFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Syntax(why) => write!(f, "it is not an index of charts: {why}"),
            Self::TooLong(bytes) => write!(f, "the entries of the charts have more than {bytes} bytes"),
        }
    }
}

impl From<io::Error> for IndexFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Index {
    /// Reads the entries of the charts `names`.
    ///
    /// # Errors
    /// The reason why the file is no index.
    pub fn read(mut file: impl Read + Seek, names: &BTreeSet<&str>) -> Result<Self, IndexFailure> {
        file.seek(SeekFrom::Start(0))?;
        let found = match entries(BufReader::with_capacity(1 << 16, &mut file), names)? {
            Entries::Found(text) => of_yaml(&text, names),
            Entries::NoIndex(why) => Err(IndexFailure::Syntax(why.to_owned())),
            Entries::OtherForm => whole(&mut file, names),
        };
        match found {
            // An entry may use an anchor of another one.
            Err(IndexFailure::Syntax(why)) => whole(&mut file, names).map_err(|_| IndexFailure::Syntax(why)),
            found => found,
        }
    }

    /// Returns the versions of a chart, the newest first. `None` if the repository has no such chart.
    pub fn versions(&self, name: &str) -> Option<&[IndexEntry]> {
        self.entries.get(name).map(Vec::as_slice)
    }

    fn add(&mut self, name: &str, list: &Data) -> Result<(), IndexFailure> {
        let items = match list {
            Data::Null => &[],
            Data::List(items) => items.as_slice(),
            _ => return Err(IndexFailure::Syntax(format!("the entries of `{name}` are not a list"))),
        };
        let mut found: Vec<IndexEntry> = items.iter().filter_map(entry).collect();
        found.sort_by(|a, b| order(&b.version, &a.version));
        self.entries.insert(name.to_owned(), found);
        Ok(())
    }
}

/// Returns the order of two versions that can be read.
fn order(a: &str, b: &str) -> std::cmp::Ordering {
    match (LenientVersion::parse(a), LenientVersion::parse(b)) {
        (Ok(a), Ok(b)) => a.version.cmp_version(&b.version),
        (a, b) => a.is_ok().cmp(&b.is_ok()),
    }
}

/// Returns the version that an item of a list describes. Like Helm, it leaves out charts that are not valid.
fn entry(item: &Data) -> Option<IndexEntry> {
    let mut metadata = Metadata::read(item).ok()?;
    // Some servers lose the aliases of dependencies.
    metadata.dependencies.clear();
    if !metadata::problems(&metadata).is_empty() {
        return None;
    }
    let mut fields = Fields::of(item, "ChartVersion").ok()?;
    let found = IndexEntry { version: metadata.version, urls: fields.texts("urls"), digest: fields.text("digest") };
    fields.finish(found).ok()
}

fn of_yaml(text: &str, names: &BTreeSet<&str>) -> Result<Index, IndexFailure> {
    let data = read::first(text).map_err(IndexFailure::Syntax)?;
    let mut index = Index::default();
    if data.as_map().is_none() {
        return Err(IndexFailure::Syntax(format!("it has no map of entries, but {}", data.kind())));
    }
    if let Some(entries) = data.get("entries").and_then(Data::as_map) {
        for (name, list) in entries.iter().filter(|(name, _)| names.contains(name.as_str())) {
            index.add(name, list)?;
        }
    }
    Ok(index)
}

/// Reads an index in JSON, or one in YAML that is not long.
fn whole(file: &mut (impl Read + Seek), names: &BTreeSet<&str>) -> Result<Index, IndexFailure> {
    file.seek(SeekFrom::Start(0))?;
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, &mut *file));
    if let Ok(index) = TopLevel(names).deserialize(&mut json)
        && json.end().is_ok()
    {
        return Ok(index);
    }
    file.seek(SeekFrom::Start(0))?;
    let mut text = String::new();
    file.take(MAX_PARSED + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_PARSED {
        return Err(IndexFailure::TooLong(MAX_PARSED));
    }
    of_yaml(&text, names)
}

/// Reads the map of an index in JSON.
struct TopLevel<'n>(&'n BTreeSet<&'n str>);

impl<'de> DeserializeSeed<'de> for TopLevel<'_> {
    type Value = Index;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Index, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = Index;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an index of charts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Index, A::Error> {
        let mut index = Index::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "entries" => index = map.next_value_seed(OfCharts(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(index)
    }
}

/// Reads the entries of an index in JSON.
struct OfCharts<'n>(&'n BTreeSet<&'n str>);

impl<'de> DeserializeSeed<'de> for OfCharts<'_> {
    type Value = Index;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Index, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OfCharts<'_> {
    type Value = Index;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of charts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Index, A::Error> {
        let mut index = Index::default();
        while let Some(name) = map.next_key::<String>()? {
            if self.0.contains(name.as_str()) {
                let list: Data = map.next_value()?;
                index.add(&name, &list).map_err(serde::de::Error::custom)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(index)
    }
}

/// Returns the place of the first version that fulfils a range. Those that are no versions are left out.
///
/// # Errors
/// The range cannot be read.
pub fn newest<'v>(range: &str, versions: impl IntoIterator<Item = &'v str>) -> Result<Option<usize>, String> {
    // The range is checked even without a version.
    LenientVersion::parse("0")?.version.fulfils(range)?;
    let fulfils = |text: &str| LenientVersion::parse(text).is_ok_and(|one| one.version.fulfils(range) == Ok(true));
    Ok(versions.into_iter().position(fulfils))
}

/// Maximum length of a line.
const MAX_LINE: u64 = 4 << 20;

/// The entries of an index.
enum Entries {
    /// A document with the entries of the wanted charts only.
    Found(String),
    /// The lines do not show which charts they belong to.
    OtherForm,
    /// The file is no index.
    NoIndex(&'static str),
}

/// The part of the document that a line is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A key beside the entries.
    Beside,
    /// The entries, before the first one.
    Begun,
    /// The entries, whose names are indented by so many spaces.
    Entries(usize),
}

/// Copies the lines of wanted charts.
fn entries(mut input: impl BufRead, names: &BTreeSet<&str>) -> Result<Entries, IndexFailure> {
    let (mut part, mut is_wanted, mut has_keys) = (Part::Beside, false, false);
    let (mut found, mut line) = (String::from("entries:\n"), Vec::new());
    while next_line(&mut input, &mut line)? {
        let Ok(text) = std::str::from_utf8(&line) else { return Ok(Entries::NoIndex("it is not UTF-8")) };
        let body = text.trim_start_matches(' ');
        let indent = text.len() - body.len();
        let is_empty = body.trim_end().is_empty() || body.starts_with('#');
        if body.starts_with(['\t', '\u{feff}']) || !has_keys && body.starts_with(['{', '[']) {
            return Ok(Entries::OtherForm);
        }
        match part {
            _ if is_empty => {}
            Part::Begun if indent > 0 => part = Part::Entries(indent),
            Part::Begun | Part::Entries(_) if indent == 0 => (part, is_wanted) = (Part::Beside, false),
            Part::Entries(names) if indent < names => return Ok(Entries::OtherForm),
            _ => {}
        }
        match part {
            Part::Beside if indent == 0 && !is_empty => match top_level(body.trim_end()) {
                Some(true) => (part, has_keys) = (Part::Begun, true),
                Some(false) => has_keys = true,
                None if is_mark(body) => {}
                None => return Ok(Entries::OtherForm),
            },
            Part::Entries(own) if indent == own && !is_empty && !is_item(body) => match name(body.trim_end()) {
                Some(name) => is_wanted = names.contains(name),
                None => return Ok(Entries::OtherForm),
            },
            _ => {}
        }
        if is_wanted {
            found.push_str(text);
            if found.len() as u64 > MAX_PARSED {
                return Err(IndexFailure::TooLong(MAX_PARSED));
            }
        }
    }
    Ok(if has_keys { Entries::Found(found) } else { Entries::NoIndex("it is empty") })
}

/// Reads a line with its end. Returns `false` at the end of the file.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    input.by_ref().take(MAX_LINE).read_until(b'\n', line)?;
    if line.len() as u64 == MAX_LINE {
        return Err(io::Error::other("a line is longer than 4 MiB"));
    }
    Ok(!line.is_empty())
}

/// Returns `true` for the line before the entries, and `false` for another key. `None` for other lines.
fn top_level(line: &str) -> Option<bool> {
    let (key, value) = line.split_once(':')?;
    let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let value = value.trim_start();
    let has_value = !value.is_empty() && !value.starts_with('#');
    match key {
        "entries" if has_value => None,
        _ if !is_plain => None,
        key => Some(key == "entries"),
    }
}

/// Returns `true` for the mark of a document, and an item of a list of a key beside the entries.
fn is_mark(line: &str) -> bool {
    line.starts_with("---") && line.trim_end().len() == 3 || line.starts_with("--- #") || is_item(line)
}

fn is_item(line: &str) -> bool {
    line.strip_prefix('-').is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with(' '))
}

/// Returns the name of a chart in front of its entries.
fn name(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(':')?;
    let name = ['"', '\''].iter().find_map(|quote| name.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(name);
    let is_plain = |c: char| c.is_alphanumeric() || "._-/+".contains(c);
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const INDEX: &str = "apiVersion: v1\nentries:\n  a:\n  - apiVersion: v2\n    name: a\n    version: 1.0.0\n    urls: [a-1.tgz]\n    \
        description: |\n      text\n\n      b: no\n  - name: a\n    version: v2.0.0\n    digest: \"12\"\n    urls:\n    - https://r.io/a-2.tgz\n  \
        - name: a\n    version: none\n  'b':\n    - name: b\n      version: 1.10.0\n    - {name: b, version: 1.9.0}\n# end\n  c: []\n\
        generated: \"2020\"\n";

    fn read(text: &str, names: &[&str]) -> Result<Index, IndexFailure> {
        Index::read(Cursor::new(text.as_bytes()), &names.iter().copied().collect())
    }

    fn versions(index: &Index, name: &str) -> Option<Vec<String>> {
        Some(index.versions(name)?.iter().map(|one| one.version.clone()).collect())
    }

    #[test]
    fn entries_of_wanted_charts_are_read_newest_first() {
        let index = read(INDEX, &["a", "b", "c", "d"]).unwrap();
        assert_eq!(versions(&index, "a").unwrap(), ["v2.0.0", "1.0.0"]);
        assert_eq!(versions(&index, "b").unwrap(), ["1.10.0", "1.9.0"]);
        assert_eq!((versions(&index, "c"), versions(&index, "d")), (Some(vec![]), None));
        assert_eq!(index.versions("a").unwrap()[0].urls, ["https://r.io/a-2.tgz"]);
        assert_eq!(index.versions("a").unwrap()[0].digest, "12");
        assert_eq!(read(INDEX, &["b"]).unwrap().entries.len(), 1);
    }

    #[test]
    fn every_form_has_the_same_entries() {
        let data = read::first(INDEX).unwrap();
        let json = serde_json::to_string(&data).unwrap();
        let indented = INDEX.replace("\n  ", "\n     ").replace("b: no", "  b: no");
        let expected = read(INDEX, &["a", "b"]).unwrap();
        let head = format!("--- # index\n\n{INDEX}");
        let quoted = INDEX.replace("entries:", "\"entries\":");
        let anchored = INDEX.replace("entries:", "entries: &all").replace("  'b':", "  'b': &b");
        let alias = INDEX
            .replace("urls: [a-1.tgz]", "urls: *urls")
            .replace("apiVersion: v1\n", "apiVersion: v1\npublicKeys: &urls [a-1.tgz]\n");
        for text in [&*json, &indented, &head, &quoted, &anchored, &alias, &INDEX.replace('\n', "\r\n")] {
            assert_eq!(read(text, &["a", "b"]).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn other_files_are_no_indexes() {
        for text in ["", "<html>sign in</html>", "entries: [1]", "apiVersion: v1\nentries:\n  a: 1\n", "{\"a\": ", "\0"]
        {
            let index = read(text, &["a"]);
            assert!(index.is_err() || index.unwrap().entries.is_empty(), "{text}");
        }
        for text in ["", "<html>sign in</html>", "{\"a\": "] {
            assert!(read(text, &["a"]).is_err(), "{text}");
        }
    }

    /// Serves an index of many charts without having it anywhere.
    struct Long {
        at: u64,
        charts: u64,
    }

    const ENTRY: usize = 1_000;

    impl Read for Long {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let head = b"apiVersion: v1\nentries:\n";
            let mut count = 0;
            for byte in buffer.iter_mut() {
                let at = self.at;
                let Some(rest) = at.checked_sub(head.len() as u64) else {
                    (*byte, self.at, count) = (head[at as usize], at + 1, count + 1);
                    continue;
                };
                let (chart, inside) = (rest / ENTRY as u64, (rest % ENTRY as u64) as usize);
                if chart == self.charts {
                    break;
                }
                let text =
                    format!("  c{chart:07}:\n  - name: c{chart:07}\n    version: 1.0.{chart}\n    description: ");
                let text = text.as_bytes();
                *byte = text.get(inside).copied().unwrap_or(if inside == ENTRY - 1 { b'\n' } else { b'x' });
                (self.at, count) = (at + 1, count + 1);
            }
            Ok(count)
        }
    }

    impl Seek for Long {
        fn seek(&mut self, from: SeekFrom) -> io::Result<u64> {
            assert!(matches!(from, SeekFrom::Start(0)) && self.at == 0, "a long index is read once");
            Ok(0)
        }
    }

    #[test]
    fn a_long_index_is_read_once_and_not_kept() {
        let names = BTreeSet::from(["c0000003", "c0001999"]);
        let index = Index::read(Long { at: 0, charts: 2_000 }, &names).unwrap();
        assert_eq!(versions(&index, "c0001999").unwrap(), ["1.0.1999"]);
        assert_eq!(index.entries.len(), 2);
    }

    #[test]
    fn the_first_version_of_a_range_is_taken() {
        let all = ["3.0.0-rc.1", "2.1.0", "none", "2.0.0", "1.5.0"];
        for (range, found) in
            [("*", Some(1)), (">=3-0", Some(0)), ("^1", Some(4)), ("~2.0", Some(3)), ("4", None), (">0-0 <3", Some(0))]
        {
            assert_eq!(newest(range, all), Ok(found), "{range}");
        }
        assert!(newest("a b", []).is_err());
    }
}
