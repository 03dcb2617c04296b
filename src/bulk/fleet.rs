//! Reading fleets: a list of clusters, one cluster a line or row, or one file each.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::cluster::{Cluster, not_a_map};
use super::input::{self, CsvTypes, Format, Place};
use super::key_hashes::KeyHashes;
use super::selector::scalar_text;
use crate::diagnostics::{Code, Diagnostic, Result, thousands};
use crate::text::{Source, Span};
use crate::value::{Data, DataMap};

/// Maximum number of problems with names or paths to report at once.
pub(super) const MAX_REPORTED: usize = 20;

/// Options for reading clusters.
#[derive(Debug, Clone, Copy, Default)]
pub struct FleetOptions<'k> {
    /// The dotted path of a cluster's name, for clusters without `name` and `cluster.name`.
    pub name_key: Option<&'k str>,
    /// The typing of CSV and TSV cells. Names are always text.
    pub csv_types: CsvTypes,
}

/// The clusters to stamp templates for. Their names are unique.
///
/// ```
/// use dropforge::bulk::{Fleet, FleetOptions, Format};
/// use dropforge::text::Source;
/// let source = Source::new("fleet.json", r#"[{"name": "eu-1"}, {"cluster": {"name": "us-1"}}]"#);
/// let fleet = Fleet::read(&source, Format::Json, &FleetOptions::default()).unwrap();
/// assert_eq!(fleet.clusters().iter().map(|c| c.name()).collect::<Vec<_>>(), ["eu-1", "us-1"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    clusters: Vec<Cluster>,
}

impl Fleet {
    /// Creates a fleet from clusters.
    ///
    /// # Errors
    /// `plan.duplicate_cluster` if two have the same name.
    pub fn new(clusters: Vec<Cluster>) -> Result<Self> {
        let fleet = Self { clusters };
        fleet.check_names()?;
        Ok(fleet)
    }

    /// Reads the clusters of one file. A document is one cluster (a map) or a list of them. A cluster's name is
    /// `name`, else `cluster.name`, else the value at the name key of `options`.
    ///
    /// # Errors
    /// `input.syntax`, `input.bad_fleet`, `plan.unnamed_cluster`, `plan.duplicate_cluster`.
    pub fn read(source: &Arc<Source>, format: Format, options: &FleetOptions<'_>) -> Result<Self> {
        Self::read_all([(source.clone(), format)], options)
    }

    /// Reads the clusters of several files, in order.
    ///
    /// # Errors
    /// Same as [`Fleet::read`].
    pub fn read_all(
        files: impl IntoIterator<Item = (Arc<Source>, Format)>,
        options: &FleetOptions<'_>,
    ) -> Result<Self> {
        let name_paths = ["name", "cluster.name"].into_iter().chain(options.name_key).collect();
        let mut collector = Collector { name_paths, csv_types: options.csv_types, clusters: Vec::new() };
        for (source, format) in files {
            match format {
                Format::Ndjson => collector.lines(&source)?,
                Format::Csv | Format::Tsv => collector.rows(&source, format)?,
                _ => collector.documents(&source, format)?,
            }
        }
        Self::new(collector.clusters)
    }

    /// Returns the clusters, in the order they were read.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    fn check_names(&self) -> Result<()> {
        let names = |add: &mut dyn FnMut(&str)| self.clusters.iter().for_each(|cluster| add(cluster.name()));
        if KeyHashes::distinct(self.clusters.len(), names).is_some() {
            return Ok(());
        }
        let mut seen = HashMap::with_capacity(self.clusters.len());
        let mut duplicates: Vec<String> = Vec::new();
        for (at, cluster) in self.clusters.iter().enumerate() {
            if let Some(first) = seen.insert(cluster.name(), at) {
                let (first, second) = (thousands(first + 1), thousands(at + 1));
                duplicates.push(format!("`{}` (clusters {first} and {second})", cluster.name()));
            }
        }
        let Some(first) = duplicates.first() else { return Ok(()) };
        let mut error = Diagnostic::new(Code::DuplicateCluster, format!("duplicate cluster name {first}"))
            .with_help("give each cluster a unique name");
        error.notes.extend(duplicates.iter().skip(1).take(MAX_REPORTED).map(|more| format!("also {more}")));
        Err(error)
    }
}

/// A fleet while its files are read.
struct Collector<'k> {
    /// Dotted paths of a cluster's name, in order of precedence.
    name_paths: Vec<&'k str>,
    csv_types: CsvTypes,
    clusters: Vec<Cluster>,
}

impl Collector<'_> {
    fn documents(&mut self, source: &Arc<Source>, format: Format) -> Result<()> {
        for (nth, mut document) in input::documents(source, format)?.into_iter().enumerate() {
            let (items, is_list) = match &mut document {
                Data::Null => (Vec::new(), false),
                Data::List(items) => (std::mem::take(items), true),
                Data::Map(map) if matches!(format, Format::Hcl | Format::Toml) => (blocks(std::mem::take(map)), false),
                cluster => (vec![std::mem::take(cluster)], false),
            };
            for (at, item) in items.into_iter().enumerate() {
                let place = match format {
                    Format::Hcl | Format::Toml => Place::somewhere(source, format),
                    _ => Place::document(source, format, nth, is_list.then_some(at)),
                };
                self.add(0..0, item, place)?;
            }
        }
        Ok(())
    }

    fn rows(&mut self, source: &Arc<Source>, format: Format) -> Result<()> {
        let rows = input::rows(source, format, self.csv_types, &self.name_paths)?;
        rows.into_iter().try_for_each(|row| {
            let range = row.at..row.at;
            self.add(range.clone(), Data::Map(row.map), Place::text(source, format, range))
        })
    }

    fn lines(&mut self, source: &Arc<Source>) -> Result<()> {
        for line in input::lines(source) {
            let text = source.text().get(line.clone()).unwrap_or("");
            let name = self.plain_name(text).unwrap_or_default().map(|name| {
                let start = name.as_ptr() as usize - text.as_ptr() as usize;
                start..start + name.len()
            });
            match name.and_then(|name| Cluster::of_line(source, &line, name)) {
                Some(cluster) => self.clusters.push(cluster),
                None => {
                    let place = Place::text(source, Format::Ndjson, line.clone());
                    self.add(line.clone(), input::json(source, line)?, place)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the cluster `item`, which was read from `range`.
    fn add(&mut self, range: Range<usize>, item: Data, place: Place) -> Result<()> {
        let source = place.source();
        let name = self.name_paths.iter().find_map(|path| item.at_path(path).and_then(name_of));
        let own = item.try_into_map().map_err(|item| not_a_map(&item).at(source, Span::of(range.clone()), ""))?;
        let name = name.ok_or_else(|| self.unnamed().at(source, Span::of(range.start..range.start), ""))?;
        self.clusters.push(Cluster::new(name, own).read_from(place));
        Ok(())
    }

    fn unnamed(&self) -> Box<Diagnostic> {
        let paths: Vec<String> = self.name_paths.iter().map(|path| format!("`{path}`")).collect();
        Diagnostic::new(Code::UnnamedCluster, format!("cluster {} has no name", thousands(self.clusters.len() + 1)))
            .with_note(format!("expected a string or an integer at {}", paths.join(" or ")))
            .with_help("name another path with `--name-key PATH`")
    }

    /// Finds the name in a line of JSON without building its other values. Returns `None` or an error if the line
    /// has to be parsed in full: it is malformed, or its name is missing or not written as is.
    fn plain_name<'t>(&self, line: &'t str) -> serde_json::Result<Option<&'t str>> {
        let object = serde_json::from_str(line)?;
        for path in &self.name_paths {
            let raw = raw_at(&object, path)?.unwrap_or("null");
            match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                Some("") => {}
                Some(text) => return Ok((!text.contains('\\')).then_some(text)),
                None if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                    return Ok((raw.len() < 20 && raw.bytes().all(|b| b.is_ascii_digit())).then_some(raw));
                }
                None => {}
            }
        }
        Ok(None)
    }
}

/// The unparsed values of a JSON object. The last of repeated keys counts.
type RawObject<'t> = HashMap<&'t str, &'t RawValue>;

/// Returns the JSON text at a dotted path. Fails if a key on the way contains escapes.
fn raw_at<'t>(object: &RawObject<'t>, path: &str) -> serde_json::Result<Option<&'t str>> {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let value = object.get(key).map(|raw| raw.get());
    match (value, rest) {
        (Some(inner), Some(rest)) if inner.starts_with('{') => raw_at(&serde_json::from_str(inner)?, rest),
        (_, Some(_)) => Ok(None),
        (value, None) => Ok(value),
    }
}

/// Returns a name as text: a string that is not empty, or an integer.
fn name_of(data: &Data) -> Option<String> {
    match data {
        Data::Str(text) if !text.is_empty() => Some(text.clone()),
        Data::Int(_) | Data::Uint(_) => Some(scalar_text(data)),
        _ => None,
    }
}

/// Returns the clusters of an HCL or TOML file: its list or blocks `clusters` or `cluster`, else its blocks
/// `cluster "name" { … }` or tables `[cluster.name]`, else the file itself.
fn blocks(mut map: DataMap) -> Vec<Data> {
    if map.len() > 1 {
        return vec![Data::Map(map)];
    }
    for key in ["clusters", "cluster"] {
        if let Some(Data::List(clusters)) = map.get_mut(key) {
            return std::mem::take(clusters);
        }
    }
    let named = match map.get("cluster") {
        Some(Data::Map(labels)) => labels.iter().map(|(label, blocks)| labelled(label, blocks)).collect(),
        _ => None,
    };
    named.map_or_else(|| vec![Data::Map(map)], |named: Vec<_>| named.concat())
}

/// Names the blocks of a label by it. Returns `None` if they are not blocks. Several blocks with one label are reported
/// later, as duplicate names.
fn labelled(label: &str, blocks: &Data) -> Option<Vec<Data>> {
    let blocks = match blocks {
        Data::List(blocks) => blocks.as_slice(),
        block => std::slice::from_ref(block),
    };
    let named = |block: &Data| {
        let mut own = DataMap::from_iter([("name".to_owned(), Data::Str(label.to_owned()))]);
        own.extend(block.as_map()?.clone());
        Some(Data::Map(own))
    };
    blocks.iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(file: &str, text: &str, key: Option<&str>) -> std::result::Result<Vec<String>, Code> {
        let options = FleetOptions { name_key: key, ..FleetOptions::default() };
        let fleet = Fleet::read(&Source::new(file, text), Format::of(file, text), &options);
        let fleet = fleet.map_err(|error| error.code)?;
        Ok(fleet.clusters().iter().map(|cluster| cluster.name().to_owned()).collect())
    }

    #[test]
    fn lists_and_lines_give_the_same_names() {
        let clusters = [
            r#"{"name":"a","cluster":{"name":"x"},"id":"y"}"#,
            r#"{"cluster":{"env":["q"],"name":"b"},"id":"z"}"#,
            r#"{"name":"","cluster":7,"id":12}"#,
            r#"{"name":null,"id":"d","name":null,"deep":[[[1,{"name":"no"}]]]}"#,
        ];
        let expected = ["a", "b", "12", "d"].map(String::from).to_vec();
        assert_eq!(names("f.json", &format!("[{}]", clusters.join(",")), Some("id")), Ok(expected.clone()));
        assert_eq!(names("f.ndjson", &clusters.join("\n"), Some("id")), Ok(expected));
    }

    #[test]
    fn invalid_fleets_are_refused() {
        for file in ["f.json", "f.ndjson"] {
            assert_eq!(names(file, r#"{"id":"a"}"#, None), Err(Code::UnnamedCluster));
            assert_eq!(names(file, "5", None), Err(Code::BadFleet));
            assert_eq!(names(file, r#"{"name":"a"} x"#, None), Err(Code::InputSyntax));
        }
        assert_eq!(names("f.json", r#"[{"name":"a"},[1]]"#, None), Err(Code::BadFleet));
        assert_eq!(names("f.ndjson", "{\"name\":\"a\"}\n{\"name\":\"a\"}", None), Err(Code::DuplicateCluster));
        assert_eq!(names("f.csv", "name,x\na,1\nb,2\n", None), Ok(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn blocks_and_tables_are_named_alike() {
        let cases = [
            ("f.toml", "[[cluster]]\nname = 'a'\n[[cluster]]\nname = 'b'\n", Ok(vec!["a", "b"])),
            ("f.toml", "[[clusters]]\nname = 'a'\n", Ok(vec!["a"])),
            ("f.toml", "[cluster.b]\nx = 1\n[cluster.a]\n", Ok(vec!["b", "a"])),
            ("f.toml", "[[cluster.a]]\n[[cluster.a]]\n", Err(Code::DuplicateCluster)),
            ("f.toml", "name = 'a'\n[cluster]\nenv = 'x'\n", Ok(vec!["a"])),
            ("f.toml", "[cluster]\nname = 'a'\n", Ok(vec!["a"])),
            ("f.toml", "x = 1", Err(Code::UnnamedCluster)),
            ("f.hcl", "cluster \"b\" {\n  x = 1\n}\ncluster \"a\" {}\n", Ok(vec!["b", "a"])),
            ("f.hcl", "cluster {\n  name = \"b\"\n}\ncluster {\n  name = \"a\"\n}\n", Ok(vec!["b", "a"])),
            ("f.hcl", "clusters = [{name = \"a\"}]", Ok(vec!["a"])),
        ];
        for (file, text, expected) in cases {
            let found = names(file, text, None);
            assert_eq!(found, expected.map(|names| names.into_iter().map(String::from).collect()), "{text}");
        }
    }

    #[test]
    fn names_of_rows_are_text_whatever_column_they_are_in() {
        assert_eq!(names("f.csv", "name,x\n007,1\n", None), Ok(vec!["007".into()]));
        assert_eq!(names("f.csv", "name,cluster.name\n,true\n", None), Ok(vec!["true".into()]));
        assert_eq!(
            names("f.tsv", "meta.id\tx\n1e3\t1\nnull\t2\n", Some("meta.id")),
            Ok(vec!["1e3".into(), "null".into()])
        );
        let unnamed = Fleet::read(&Source::new("f.csv", "name,x\na,1\n,2\n"), Format::Csv, &FleetOptions::default());
        assert_eq!(unnamed.unwrap_err().position().unwrap().to_string(), "3:1");
    }

    #[test]
    fn names_resolve_the_same_in_every_spelling() {
        let text = "{\"name\":\"\\u0061b\"}\n {\"x\":1,\"name\":12}\n{\"name\":\"x\",\"cluster\":{\"name\":\"y\"}}\n{\"name\":\"\",\"cluster\":{\"name\":\"z\"}}";
        assert_eq!(names("f.ndjson", text, None), Ok(["ab", "12", "x", "z"].map(String::from).to_vec()));
        assert_eq!(names("f.ndjson", "{\"name\":\"\\u0061\"}\n{\"name\":\"a\"}", None), Err(Code::DuplicateCluster));
        assert!(size_of::<Cluster>() <= 32, "a fleet is long");
    }

    #[test]
    fn a_line_is_read_when_it_is_needed() {
        let source = Source::new("f.ndjson", "{\"name\":\"a\"}\n{\"name\":\"b\",\"x\":\"\\ud800\"}\n");
        let fleet = Fleet::read(&source, Format::Ndjson, &FleetOptions::default()).unwrap();
        assert_eq!(fleet.clusters()[0].json(), Some(r#"{"name":"a"}"#));
        assert_eq!(fleet.clusters()[0].inputs().unwrap().len(), 1);
        assert_eq!(fleet.clusters()[1].inputs().unwrap_err().code, Code::InputSyntax);
    }
}
