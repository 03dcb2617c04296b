//! Reading fleets: a list of clusters, one cluster a line or row, or one file each.

mod collector;

use std::collections::HashMap;
use std::sync::Arc;

use self::collector::Collector;
use super::cluster::Cluster;
use super::input::{CsvTypes, Format};
use super::key_hashes::KeyHashes;
use crate::diagnostics::{Code, Diagnostic, Result, thousands};
use crate::text::Source;

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
        fleet.check_names(&[])?;
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
    /// Same as [`Fleet::read`]. The first error carries the others.
    pub fn read_all(
        files: impl IntoIterator<Item = (Arc<Source>, Format)>,
        options: &FleetOptions<'_>,
    ) -> Result<Self> {
        let (mut collector, mut starts) = (Collector::new(options), Vec::new());
        for (source, format) in files {
            starts.push((collector.clusters(), source.clone()));
            collector.file(&source, format);
        }
        let fleet = Self { clusters: collector.finish()? };
        fleet.check_names(&starts)?;
        Ok(fleet)
    }

    /// Returns the clusters, in the order they were read.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// Checks that names are unique. `files` are the files that the clusters were read from, and the index of the first
    /// cluster of each.
    fn check_names(&self, files: &[(usize, Arc<Source>)]) -> Result<()> {
        let names = |add: &mut dyn FnMut(&str)| self.clusters.iter().for_each(|cluster| add(cluster.name()));
        if KeyHashes::distinct(self.clusters.len(), names).is_some() {
            return Ok(());
        }
        let mut seen = HashMap::with_capacity(self.clusters.len());
        let mut duplicates: Vec<String> = Vec::new();
        for (at, cluster) in self.clusters.iter().enumerate() {
            if let Some(first) = seen.insert(cluster.name(), at) {
                duplicates.push(format!("`{}` ({} and {})", cluster.name(), place(files, first), place(files, at)));
            }
        }
        let Some(first) = duplicates.first() else { return Ok(()) };
        let mut error = Diagnostic::new(Code::DuplicateCluster, format!("duplicate cluster name {first}"))
            .with_help("give each cluster a unique name");
        error.notes.extend(duplicates.iter().skip(1).take(MAX_REPORTED).map(|more| format!("also {more}")));
        Err(error)
    }
}

/// Describes the position of the cluster `at`.
fn place(files: &[(usize, Arc<Source>)], at: usize) -> String {
    let file = files.get(files.partition_point(|(start, _)| *start <= at).saturating_sub(1));
    match file.filter(|_| files.len() > 1) {
        Some((start, source)) => format!("cluster {} of `{}`", thousands(at - start + 1), source.name()),
        None => format!("cluster {}", thousands(at + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::collector::MAX_ERRORS;
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
    fn all_errors_of_all_files_are_reported() {
        let files = [
            ("a.json", r#"[{"name": "a"}, {}, 5]"#),
            ("b.ndjson", "{\"x\": 1}\n{]\n{\"name\": \"b\"}\n"),
            ("c.csv", "name,x\n,1\nc\nd\n"),
            ("d.toml", "x = 1\n[cluster.d]\n"),
            ("e.yaml", "name: a\n"),
        ];
        let read = |files: &[(&str, &str)]| {
            let sources = files.iter().map(|(name, text)| (Source::new(*name, *text), Format::of(name, text)));
            let error = Fleet::read_all(sources, &FleetOptions::default()).unwrap_err();
            std::iter::once(&error).chain(&error.also).map(|error| error.to_string()).collect::<Vec<_>>()
        };
        let expected = [
            "E0918: cluster 2 has no name (a.json:1:1)",
            "E0804: expected a cluster as a map, found integer (a.json:1:1)",
            "E0918: cluster 1 has no name (b.ndjson:1:1)",
            "E0801: invalid JSON: key must be a string (b.ndjson:2:2)",
            "E0801: expected 2 cells as in the header, found 1 (c.csv:3:1)",
            "E0801: expected 2 cells as in the header, found 1 (c.csv:4:1)",
            "E0918: cluster 1 has no name (d.toml:1:1)",
        ];
        assert_eq!(read(&files), expected);
        let copied = [("x/a.json", "[{\"name\": \"c\"}, {\"name\": \"a\"}]"), ("x/none.yaml", ""), files[4]];
        let expected = "E0917: duplicate cluster name `a` (cluster 2 of `x/a.json` and cluster 1 of `e.yaml`)";
        assert_eq!(read(&copied), [expected]);
        assert_eq!(read(&[("f.ndjson", &"{}\n".repeat(500))]).len(), MAX_ERRORS);
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
    fn a_line_is_checked_at_once_and_read_when_it_is_needed() {
        let read = |text: &str| Fleet::read(&Source::new("f.ndjson", text), Format::Ndjson, &FleetOptions::default());
        for fault in ["\"\\ud800\"", "1e999", "01", "[1,]", "\"\u{1}\""] {
            let error = read(&format!("{{\"name\":\"a\"}}\n{{\"name\":\"b\",\"x\":{fault}}}\n")).unwrap_err();
            assert_eq!((error.code, error.position().unwrap().line), (Code::InputSyntax, 2), "{fault}");
        }
        let fleet = read("{\"name\":\"a\"}\n{\"name\":\"b\",\"x\":1}\n").unwrap();
        assert_eq!(fleet.clusters()[0].json(), Some(r#"{"name":"a"}"#));
        assert_eq!(fleet.clusters()[0].inputs().unwrap().len(), 1);
        assert_eq!(fleet.clusters()[1].inputs().unwrap().len(), 2);
    }
}
