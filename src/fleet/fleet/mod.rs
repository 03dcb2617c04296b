//! Reading fleets: a list of clusters, one cluster a line or row, or one file each.

mod collector;
mod file;
mod groups;
mod names;
mod records;
mod stream;
#[cfg(feature = "arrow")]
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::collector::Collector;
use self::file::FileContent;
use self::records::Records;
use super::cluster::Cluster;
use super::input::{CsvTypes, Format, refuse_encrypted};
use super::key_set::{KeySet, SortedKeys};
use dropforge_base::diagnostics::{Code, Result, thousands};
use dropforge_base::text::Source;

pub use self::file::{FleetFile, FleetReader};
pub use self::stream::FleetStream;

/// Parquet and Arrow files as fleets, in a build without the feature `arrow`.
#[cfg(not(feature = "arrow"))]
mod table {
    use std::fs::File;

    use super::Collector;
    use dropforge_base::diagnostics::{Code, Diagnostic, Result};

    /// Refuses a table.
    ///
    /// # Errors
    /// `usage`.
    pub(super) fn lines(name: &str, _: File, _: &mut Collector) -> Result<File> {
        let message = format!("cannot read `{name}`: this build of dropforge reads no Parquet and Arrow files");
        Err(Diagnostic::new(Code::Usage, message).with_help(
            "install a build with them: `cargo install --locked --path cli --profile dist --features arrow`",
        ))
    }
}

/// Maximum number of problems with names or paths to report at once.
pub(super) const MAX_REPORTED: usize = 20;

/// Options for reading clusters.
#[derive(Debug, Clone, Copy, Default)]
pub struct FleetOptions<'k> {
    /// The dotted path of a cluster's name, for clusters without `name` and `cluster.name`.
    pub name_key: Option<&'k str>,
    /// The typing of CSV and TSV cells. Names are always text.
    pub csv_types: CsvTypes,
    /// What names a cluster without a name that is a file of its own.
    pub name_from: Option<NameFrom>,
}

/// What a cluster that is a file of its own is named by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameFrom {
    /// Its file, without the extension.
    File,
    /// The folder of its file.
    Folder,
}

impl std::str::FromStr for NameFrom {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "file" => Ok(Self::File),
            "folder" => Ok(Self::Folder),
            _ => Err("expected `file` or `folder`".to_owned()),
        }
    }
}

/// The clusters to stamp templates for. Their names are unique.
///
/// Files with a cluster a line or row are not held in memory: they are read part by part.
///
/// ```
/// use dropforge::bulk::{Fleet, FleetOptions, Format};
/// use dropforge::text::Source;
/// let source = Source::new("fleet.json", r#"[{"name": "eu-1"}, {"cluster": {"name": "us-1"}}]"#);
/// let fleet = Fleet::read(&source, Format::Json, &FleetOptions::default()).unwrap();
/// let mut names = Vec::new();
/// fleet.each(&mut |_, cluster| Ok(names.push(cluster.name().to_owned()))).unwrap();
/// assert_eq!(names, ["eu-1", "us-1"]);
/// ```
#[derive(Debug, Default)]
pub struct Fleet {
    parts: Vec<FleetPart>,
    clusters: usize,
    /// `true` if all values of some clusters are secret.
    has_secrets: bool,
    /// The values files of groups of one cluster that no other cluster has.
    own_files: BTreeMap<usize, Vec<Arc<Source>>>,
}

/// The clusters of a file.
#[derive(Debug)]
struct FleetPart {
    /// The name of the file.
    name: String,
    /// The number of clusters before these.
    first: usize,
    clusters: Clusters,
}

#[derive(Debug)]
enum Clusters {
    Held(Arc<[Cluster]>),
    Records(Box<Records>),
}

impl Fleet {
    /// Creates a fleet from clusters.
    ///
    /// # Errors
    /// `plan.duplicate_cluster` if two have the same name.
    pub fn new(clusters: Vec<Cluster>) -> Result<Self> {
        let has_secrets = clusters.iter().any(Cluster::is_secret);
        let mut fleet = Self { has_secrets, ..Self::default() };
        fleet.add(String::new(), clusters.len(), Clusters::Held(clusters.into()));
        fleet.check_unique().map(|()| fleet)
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
    /// Same as [`Fleet::read`], and errors of reading files. The first error carries the others.
    pub fn read_all<F: Into<FleetFile>>(
        files: impl IntoIterator<Item = F>,
        options: &FleetOptions<'_>,
    ) -> Result<Self> {
        let (mut collector, mut fleet, mut names) = (Collector::new(options), Self::default(), KeySet::default());
        for file in files {
            fleet.read_file(file.into(), &mut collector, &mut names)?;
        }
        collector.finish()?;
        fleet.check_names(&names.sort()?)?;
        Ok(fleet)
    }

    fn read_file(&mut self, file: FleetFile, collector: &mut Collector, names: &mut KeySet) -> Result<()> {
        let FleetFile { name, format, content } = file;
        collector.begin();
        let content = match content {
            FileContent::Table(file) => match table::lines(&name, file, collector) {
                Err(error) if error.code == Code::WriteFailed => return Err(error),
                Err(error) => {
                    collector.report(error);
                    return Ok(());
                }
                Ok(lines) => FileContent::Records(lines),
            },
            content => content,
        };
        let mut add = |clusters: &[Cluster]| clusters.iter().try_for_each(|cluster| names.add(cluster.name()));
        let (count, clusters) = match content {
            FileContent::Text(source) => {
                match refuse_encrypted(&source, format) {
                    Ok(()) => collector.file(&source, format),
                    Err(error) => collector.report(error),
                }
                self.has_secrets |= source.is_secret();
                let clusters = std::mem::take(&mut collector.clusters);
                add(&clusters)?;
                (clusters.len(), Clusters::Held(clusters.into()))
            }
            FileContent::Records(file) | FileContent::Table(file) => {
                let mut records = Records::new(name.clone(), format, file, collector);
                match records.scan(collector, &mut add) {
                    Err(error) if error.code == Code::WriteFailed => return Err(error),
                    scanned => scanned.unwrap_or_else(|error| collector.report(error)),
                }
                (records.len(), Clusters::Records(Box::new(records)))
            }
        };
        self.add(name, count, clusters);
        Ok(())
    }

    fn add(&mut self, name: String, count: usize, clusters: Clusters) {
        self.parts.push(FleetPart { name, first: self.clusters, clusters });
        self.clusters += count;
    }

    /// Returns the number of clusters.
    pub fn len(&self) -> usize {
        self.clusters
    }

    /// Returns the names of the files.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.name.as_str())
    }

    /// Returns `true` if there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.clusters == 0
    }

    /// Returns `true` if all values of some clusters are secret, because their file was decrypted.
    #[doc(hidden)]
    pub fn has_secrets(&self) -> bool {
        self.has_secrets
    }

    /// Returns a reader of single clusters.
    #[doc(hidden)]
    pub fn reader(&self) -> FleetReader<'_> {
        FleetReader::new(self)
    }

    /// Calls `each` with the index of every cluster and the cluster, in the order they were read, until one fails.
    ///
    /// # Errors
    /// `file.read_failed` if a file cannot be read, or was changed; errors of `each`.
    #[doc(hidden)]
    pub fn each(&self, each: &mut dyn FnMut(usize, &Cluster) -> Result<()>) -> Result<()> {
        let mut reader = self.reader();
        (0..self.len()).try_for_each(|at| each(at, reader.cluster(at)?))
    }

    /// Checks that names are unique, for a fleet that is held in memory.
    ///
    /// # Errors
    /// `plan.duplicate_cluster`.
    pub(super) fn check_unique(&self) -> Result<()> {
        let mut names = KeySet::default();
        self.each(&mut |_, cluster| names.add(cluster.name()))?;
        self.check_names(&names.sort()?)
    }

    /// Checks that names are unique.
    fn check_names(&self, names: &SortedKeys) -> Result<()> {
        if names.are_distinct() {
            return Ok(());
        }
        names::repeated(self, names)?.map_or(Ok(()), Err)
    }

    /// Returns the names of the files that do not have the cluster `name`. Returns nothing if no file has it.
    ///
    /// # Errors
    /// Errors of [`Fleet::each`].
    #[doc(hidden)]
    pub fn files_without(&self, name: &str) -> Result<Vec<&str>> {
        let mut own = None;
        self.each(&mut |at, cluster| {
            own = own.or_else(|| self.part_of(at).filter(|_| cluster.name() == name));
            Ok(())
        })?;
        let others = self.parts.iter().filter(|part| own.is_some_and(|own| own.name != part.name));
        Ok(others.map(|part| part.name.as_str()).collect())
    }

    fn part_of(&self, at: usize) -> Option<&FleetPart> {
        // Files without clusters begin where the next ones do.
        self.parts.get(self.parts.partition_point(|part| part.first <= at).checked_sub(1)?)
    }

    /// Describes the position of the cluster `at`.
    fn place(&self, at: usize) -> String {
        match self.part_of(at).filter(|_| self.parts.len() > 1) {
            Some(part) => format!("cluster {} of `{}`", thousands(at - part.first + 1), part.name),
            None => format!("cluster {}", thousands(at + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::collector::MAX_ERRORS;
    use super::*;
    use crate::values::Step;
    use dropforge_value::Data;

    fn names(file: &str, text: &str, key: Option<&str>) -> std::result::Result<Vec<String>, Code> {
        let options = FleetOptions { name_key: key, ..FleetOptions::default() };
        let fleet = Fleet::read(&Source::new(file, text), Format::of(file, text), &options);
        let (fleet, mut names) = (fleet.map_err(|error| error.code)?, Vec::new());
        let push = &mut |_, cluster: &Cluster| {
            names.push(cluster.name().to_owned());
            Ok(())
        };
        fleet.each(push).map_err(|error| error.code)?;
        Ok(names)
    }

    /// The clusters of a file, each with its inputs and the excerpt of one of them.
    fn clusters(file: &str, text: &str) -> std::result::Result<Vec<[String; 3]>, String> {
        let source = Source::new(file, text);
        let fleet = Fleet::read(&source, Format::of(file, text), &FleetOptions::default());
        let (fleet, mut found) = (fleet.map_err(|error| error.to_string())?, Vec::new());
        let each = &mut |_, cluster: &Cluster| {
            let inputs = serde_json::to_string(&Data::Map(cluster.inputs()?.into_owned())).unwrap();
            let path = ["image", "tag"].map(|key| Step::Key(key.to_owned()));
            let span = cluster.place().and_then(|place| place.find(&path));
            let excerpt = span.map(|span| format!("{}: {}", source.position(span.start), source.slice(span)));
            found.push([cluster.name().to_owned(), inputs, excerpt.unwrap_or_default()]);
            Ok(())
        };
        fleet.each(each).map_err(|error| error.to_string())?;
        Ok(found)
    }

    #[test]
    fn lists_of_json_are_those_of_yaml() {
        let items = [
            r#"{"name": "a", "image": {"tag": "v1", "n": [1, 2.50, 12345678901234567890123]}}"#,
            "{\n  \"cluster\": {\"name\": \"b\"},\n  \"image\": {\n    \"tag\": \"é\"}}",
            r#"{"name": 7, "text": "x\ny\u00e9"}"#,
            // The names of these, or some of their keys, are not written as they are.
            r#"{"name": "n\u0061me", "image": {"tag": 1}}"#,
            r#"{"name": "escaped", "im\u0061ge": {"tag": 2}}"#,
        ];
        for count in 0..=items.len() {
            let of = |separator: &str| format!("[{}]\n", items[..count].join(separator));
            for text in [of(","), of(" ,\n  ")] {
                assert_eq!(clusters("f.json", &text), clusters("f.yaml", &text), "{text}");
                assert_eq!(clusters("f.json", &text).unwrap().len(), count);
            }
        }
        let errors = [
            (r#"[{"name":"a","b":{"c":1,"c":2}}]"#, "the key `c` is given twice (f.json:1:27)"),
            (r#"[{"name":"a"},{"b":1}]"#, "(f.json:1:15)"),
            (r#"[{"name":"a"},1]"#, "expected a cluster as a map"),
            (r#"[{"name":"a"},]"#, "f.json:1:14"),
            (r#"[{"name":"a","b":1e999}]"#, "f.json:1:"),
            (r#"[{"name":"a"},{"name":"a"}]"#, "`a`"),
        ];
        for (text, part) in errors {
            let error = clusters("f.json", text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let deep = format!("[{{\"name\":\"a\",\"b\":{}{}}}]", "[".repeat(200), "]".repeat(200));
        assert!(clusters("f.json", &deep).unwrap_err().starts_with("E06"));
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
        let list = format!("[{}]", clusters.join(","));
        // A file may not give a key twice, and in a line the last one counts.
        assert_eq!(names("f.json", &list, Some("id")), Err(Code::DuplicateKey));
        assert_eq!(names("f.json", &list.replace(r#","name":null"#, ""), Some("id")), Ok(expected.clone()));
        assert_eq!(names("f.ndjson", &clusters.join("\n"), Some("id")), Ok(expected));
    }

    #[test]
    fn files_of_other_clusters_are_named() {
        let files = [("a.yaml", "name: a"), ("b.csv", "name\nb\nc\n"), ("none.ndjson", ""), ("d.yaml", "name: d")];
        let sources = files.map(|(name, text)| (Source::new(name, text), Format::of(name, text)));
        let fleet = Fleet::read_all(sources, &FleetOptions::default()).unwrap();
        assert_eq!(fleet.files_without("c").unwrap(), ["a.yaml", "none.ndjson", "d.yaml"]);
        assert_eq!(fleet.files_without("d").unwrap(), ["a.yaml", "b.csv", "none.ndjson"]);
        assert!(fleet.files_without("x").unwrap().is_empty());
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
            "E0918: cluster 2 has no name (a.json:1:17)",
            "E0804: expected a cluster as a map, found integer (a.json:1:21)",
            "E0918: cluster 1 has no name (b.ndjson:1:1)",
            "E0801: invalid JSON: key must be a string (b.ndjson:2:2)",
            "E0801: expected 2 cells as in the header, found 1 (c.csv:3:1)",
            "E0801: expected 2 cells as in the header, found 1 (c.csv:4:1)",
            "E0918: cluster 1 has no name (c.csv:2:1)",
            "E0918: cluster 1 has no name (d.toml:1:1)",
        ];
        assert_eq!(read(&files), expected);
        let copied = [("x/a.json", "[{\"name\": \"c\"}, {\"name\": \"a\"}]"), ("x/none.yaml", ""), files[4]];
        let expected =
            "E0917: duplicate cluster name `a` (cluster 2 of `x/a.json` and cluster 1 of `e.yaml`) (e.yaml:1:7)";
        assert_eq!(read(&copied), [expected]);
        assert_eq!(read(&[("f.ndjson", &"5\n".repeat(500))]).len(), MAX_ERRORS);
        assert_eq!(read(&[("f.ndjson", &"{}\n".repeat(500))]), ["E0918: cluster 1 has no name (f.ndjson:1:1)"]);
    }

    #[test]
    fn a_cluster_without_a_name_is_found_in_every_format() {
        let cases = [
            ("f.yaml", "- name: a\n- nme: b\n", "cluster 2 has no name (f.yaml:2:3)", "did you mean `name`?"),
            ("f.yaml", "name: a\n---\nx: {id: 1}\n", "cluster 2 has no name (f.yaml:3:1)", "--name-key PATH"),
            ("f.json", "[{\"name\": \"a\"},\n {\"Id\": 1}]", "cluster 2 has no name (f.json:2:2)", "is it `Id`?"),
            (
                "f.toml",
                "[[cluster]]\nname = 'a'\n[[cluster]]\nx = true\n",
                "cluster 2 has no name (f.toml:3:1)",
                "give each",
            ),
            ("f.hcl", "cluster {\n  name = \"a\"\n}\ncluster {}\n", "cluster 2 has no name (f.hcl:4:1)", "give each"),
            ("f.csv", "nme,x\na,1\n", "no column has the names of the clusters (f.csv:1:1)", "did you mean `name`?"),
            ("f.yaml", "- name: true\n", "the name of cluster 1 is a boolean (f.yaml:1:9)", "quote it: `\"true\"`"),
            ("f.yaml", "- name: 1.10\n", "the name of cluster 1 is a number (f.yaml:1:9)", "quote it: `\"1.10\"`"),
            ("f.ndjson", "{\"name\":null}\n", "the name of cluster 1 is null (f.ndjson:1:9)", "give each"),
            ("f.toml", "[[cluster]]\nname = ''\n", "the name of cluster 1 is empty (f.toml:2:8)", "give each"),
            ("f.yaml", "clusters:\n- name: a\n", "cluster 1 has no name (f.yaml:1:1)", "write the clusters as a list"),
            ("f.yaml", "a: {x: 1}\nb: {x: 2}\n", "cluster 1 has no name (f.yaml:1:1)", "write the clusters as a list"),
        ];
        for (name, text, expected, help) in cases {
            let source = Source::new(name, text);
            let error = Fleet::read(&source, Format::of(name, text), &FleetOptions::default()).unwrap_err();
            assert_eq!(error.to_string(), format!("E0918: {expected}"));
            assert!(error.help.as_ref().is_some_and(|found| found.contains(help)), "{text}: {:?}", error.help);
        }
    }

    #[test]
    fn blocks_with_one_name_have_their_places() {
        let text = "cluster \"a\" {}\ncluster \"b\" {}\ncluster \"a\" {}\n";
        let error = Fleet::read(&Source::new("f.hcl", text), Format::Hcl, &FleetOptions::default()).unwrap_err();
        let lines: Vec<_> = error.labels.iter().map(|label| label.source.position(label.span.start).line).collect();
        assert_eq!((error.code, lines), (Code::DuplicateCluster, vec![3, 1]));
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
        let mut reader = fleet.reader();
        assert_eq!(reader.cluster(0).unwrap().json(), Some(r#"{"name":"a"}"#));
        assert_eq!(reader.cluster(0).unwrap().inputs().unwrap().len(), 1);
        assert_eq!(reader.cluster(1).unwrap().inputs().unwrap().len(), 2);
        assert_eq!(reader.cluster(2).unwrap_err().code, Code::Internal);
    }
}
