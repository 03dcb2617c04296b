//! The clusters: read from a list, from lines or from one file each; named, and chosen by selectors.
//!
//! Names are unique in a fleet. Clusters of an NDJSON file stay text until a worker needs them, so that a
//! fleet costs the memory of its file and not that of its values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::input::{self, Format};
use super::unique::Hashes;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::text::{Source, Span};
use crate::value::{Data, DataMap};

/// Problems with names that are reported at once.
const REPORTED: usize = 20;

/// One cluster: its name and its own inputs.
#[derive(Debug, Clone)]
pub struct Cluster(Kept);

/// What is kept of a cluster; of a line of JSON it is only where it stands, since fleets are long.
#[derive(Debug, Clone)]
enum Kept {
    /// The name and the inputs.
    Map(Box<(String, DataMap)>),
    /// A line of JSON, and where in it the name stands.
    Line { source: Arc<Source>, start: usize, length: u32, name_start: u32, name_length: u32 },
    /// A line of JSON, and a name that does not stand in it as it is.
    Named(Box<(String, Arc<Source>, Range<usize>)>),
}

impl Cluster {
    /// A cluster called `name` with the inputs `own`.
    pub fn new(name: impl Into<String>, own: DataMap) -> Self {
        Self(Kept::Map(Box::new((name.into(), own))))
    }

    /// A cluster whose inputs are the JSON in `range`; `name` may be a part of that text.
    fn of_line(source: &Arc<Source>, range: Range<usize>, name: Cow<'_, str>) -> Self {
        let text = source.text().get(range.clone()).unwrap_or("");
        let place = match &name {
            Cow::Borrowed(name) => (name.as_ptr() as usize).checked_sub(text.as_ptr() as usize),
            Cow::Owned(_) => None,
        };
        let short = |n: usize| u32::try_from(n).ok();
        let line = || {
            let (name_start, name_length) = (place.and_then(short)?, short(name.len())?);
            let (source, start, length) = (source.clone(), range.start, short(range.len())?);
            let line = Self(Kept::Line { source, start, length, name_start, name_length });
            (line.name() == name).then_some(line)
        };
        line()
            .unwrap_or_else(|| Self(Kept::Named(Box::new((name.clone().into_owned(), source.clone(), range.clone())))))
    }

    /// The name, unique in its fleet.
    pub fn name(&self) -> &str {
        match &self.0 {
            Kept::Map(kept) => &kept.0,
            Kept::Named(kept) => &kept.0,
            Kept::Line { source, start, name_start, name_length, .. } => {
                let start = start + *name_start as usize;
                source.text().get(start..start + *name_length as usize).unwrap_or("")
            }
        }
    }

    /// Where its line of JSON is.
    fn line(&self) -> Option<(&Arc<Source>, Range<usize>)> {
        match &self.0 {
            Kept::Map(_) => None,
            Kept::Named(kept) => Some((&kept.1, kept.2.clone())),
            Kept::Line { source, start, length, .. } => Some((source, *start..*start + *length as usize)),
        }
    }

    /// The cluster's own inputs, one JSON object as text, where that is what was read.
    pub fn json(&self) -> Option<&str> {
        self.line().and_then(|(source, range)| source.text().get(range))
    }

    /// The cluster's own inputs.
    ///
    /// # Errors
    /// `input.syntax` or `limit.depth` where they are text that holds no map after all.
    pub fn inputs(&self) -> Result<Cow<'_, DataMap>> {
        if let Kept::Map(kept) = &self.0 {
            return Ok(Cow::Borrowed(&kept.1));
        }
        let Some((source, range)) = self.line() else { return Ok(Cow::Owned(DataMap::new())) };
        match input::json(source, range.clone())? {
            Data::Map(map) => Ok(Cow::Owned(map)),
            other => Err(not_a_map(source, Some(range), other.kind())),
        }
    }
}

/// The clusters that templates are stamped for.
///
/// ```
/// use dropforge::bulk::{Fleet, Format};
/// use dropforge::text::Source;
/// let source = Source::new("fleet.json", r#"[{"name": "eu-1"}, {"cluster": {"name": "us-1"}}]"#);
/// let fleet = Fleet::read(&source, Format::Json, None).unwrap();
/// assert_eq!(fleet.clusters().iter().map(|c| c.name()).collect::<Vec<_>>(), ["eu-1", "us-1"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    clusters: Vec<Cluster>,
}

impl Fleet {
    /// A fleet of clusters that have their names.
    ///
    /// # Errors
    /// `plan.duplicate_cluster` where two have the same name.
    pub fn new(clusters: Vec<Cluster>) -> Result<Self> {
        let fleet = Self { clusters };
        fleet.check_names()?;
        Ok(fleet)
    }

    /// The clusters of one file. A document is a map (one cluster) or a list of maps. The name is `name`,
    /// else `cluster.name`, else what is at the dotted path `name_key`.
    ///
    /// # Errors
    /// `input.syntax`, `input.bad_fleet`, `plan.unnamed_cluster`, `plan.duplicate_cluster`.
    pub fn read(source: &Arc<Source>, format: Format, name_key: Option<&str>) -> Result<Self> {
        Self::read_all([(source.clone(), format)], name_key)
    }

    /// The clusters of several files, in order.
    ///
    /// # Errors
    /// As [`Fleet::read`].
    pub fn read_all(files: impl IntoIterator<Item = (Arc<Source>, Format)>, name_key: Option<&str>) -> Result<Self> {
        let mut clusters = Vec::new();
        for (source, format) in files {
            match format {
                Format::Ndjson => read_lines(&source, name_key, &mut clusters)?,
                _ => read_documents(&source, format, name_key, &mut clusters)?,
            }
        }
        Self::new(clusters)
    }

    /// The clusters, in the order they were read.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    fn check_names(&self) -> Result<()> {
        let names = |add: &mut dyn FnMut(&str)| self.clusters.iter().for_each(|cluster| add(cluster.name()));
        if Hashes::of_different(self.clusters.len(), names).is_some() {
            return Ok(());
        }
        let mut seen = HashMap::with_capacity(self.clusters.len());
        let mut twice: Vec<String> = Vec::new();
        for (at, cluster) in self.clusters.iter().enumerate() {
            if let Some(first) = seen.insert(cluster.name(), at) {
                twice.push(format!("`{}`: clusters {} and {}", cluster.name(), first + 1, at + 1));
            }
        }
        let Some(first) = twice.first() else { return Ok(()) };
        let message = format!("two clusters have the same name, {first}");
        let mut error = Diagnostic::new(Code::DuplicateCluster, message).with_help("names must be unique in a fleet");
        for more in twice.iter().skip(1).take(REPORTED) {
            error = error.with_note(format!("also {more}"));
        }
        Err(error)
    }
}

fn read_documents(source: &Arc<Source>, format: Format, name_key: Option<&str>, to: &mut Vec<Cluster>) -> Result<()> {
    for document in input::documents(source, format)? {
        match document {
            Data::List(items) => {
                for item in items {
                    to.push(from_data(source, item, name_key, to.len())?);
                }
            }
            Data::Null => {}
            Data::Map(map) if format == Format::Hcl => {
                for item in labelled(map) {
                    to.push(from_data(source, item, name_key, to.len())?);
                }
            }
            other => to.push(from_data(source, other, name_key, to.len())?),
        }
    }
    Ok(())
}

/// The clusters of a configuration of HCL: its blocks `cluster "name" { … }`, each with its label as its name, or the
/// list under `clusters`; else it is one cluster.
fn labelled(mut map: DataMap) -> Vec<Data> {
    if map.len() > 1 {
        return vec![Data::Map(map)];
    }
    if let Some(Data::List(clusters)) = map.get_mut("clusters") {
        return std::mem::take(clusters);
    }
    match map.get_mut("cluster") {
        Some(Data::Map(clusters)) if clusters.values().all(is_block) => {
            std::mem::take(clusters).into_iter().flat_map(named).collect()
        }
        _ => vec![Data::Map(map)],
    }
}

/// Whether this is what a label stands for: a block, or several.
fn is_block(data: &Data) -> bool {
    match data {
        Data::List(blocks) => blocks.iter().all(|block| block.as_map().is_some()),
        data => data.as_map().is_some(),
    }
}

/// The clusters of one label, which is their name: several are one too many, as whoever reads the names finds.
fn named((label, clusters): (String, Data)) -> Vec<Data> {
    let clusters = match clusters {
        Data::List(clusters) => clusters,
        cluster => vec![cluster],
    };
    let named = |cluster: Data| {
        let mut own = DataMap::from_iter([("name".to_owned(), Data::Str(label.clone()))]);
        own.extend(cluster.into_map().unwrap_or_default());
        Data::Map(own)
    };
    clusters.into_iter().map(named).collect()
}

fn from_data(source: &Arc<Source>, item: Data, name_key: Option<&str>, at: usize) -> Result<Cluster> {
    let Data::Map(own) = item else { return Err(not_a_map(source, None, item.kind())) };
    let item = Data::Map(own);
    let found = ["name", "cluster.name"].into_iter().chain(name_key).map(|path| item.at_path(path).and_then(name_of));
    let Some(name) = found.into_iter().flatten().next() else { return Err(unnamed(source, None, name_key, at)) };
    let Data::Map(own) = item else { return Err(not_a_map(source, None, "value")) };
    Ok(Cluster::new(name, own))
}

/// A name as text: text that is not empty, or a whole number.
fn name_of(data: &Data) -> Option<String> {
    match data {
        Data::Str(text) if !text.is_empty() => Some(text.clone()),
        Data::Int(_) | Data::Uint(_) => Some(super::select::scalar_text(data)),
        _ => None,
    }
}

fn read_lines(source: &Arc<Source>, name_key: Option<&str>, to: &mut Vec<Cluster>) -> Result<()> {
    let paths: Vec<Vec<&str>> =
        ["name", "cluster.name"].into_iter().chain(name_key).map(|path| path.split('.').collect()).collect();
    for range in input::lines(source) {
        let text = source.text().get(range.clone()).unwrap_or("");
        let mut found = vec![None; paths.len()];
        let wanted: Vec<_> = paths.iter().map(Vec::as_slice).enumerate().collect();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let probe = Probe { wanted: &wanted, found: &mut found };
        let read = probe.deserialize(&mut deserializer).and_then(|kind| deserializer.end().map(|()| kind));
        match read {
            Err(error) => return Err(input::json_error(source, range.start, text, &error)),
            Ok(Kind::Other) => return Err(not_a_map(source, Some(range), "value")),
            Ok(Kind::Map) => {}
        }
        let Some(name) = found.into_iter().flatten().next() else {
            return Err(unnamed(source, Some(range), name_key, to.len()));
        };
        to.push(Cluster::of_line(source, range, name));
    }
    Ok(())
}

fn not_a_map(source: &Arc<Source>, range: Option<Range<usize>>, kind: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadFleet, format!("a cluster is a map, this is a {kind}"))
        .at(source, range.map_or(Span::default(), Span::of), "")
        .with_help("a fleet is a list of maps, several documents, one JSON object a line, or CSV with a header")
}

fn unnamed(source: &Arc<Source>, range: Option<Range<usize>>, name_key: Option<&str>, at: usize) -> Box<Diagnostic> {
    let looked = name_key.map_or(String::new(), |key| format!(" nor `{key}`"));
    Diagnostic::new(Code::UnnamedCluster, format!("cluster {} has neither `name` nor `cluster.name`{looked}", at + 1))
        .at(source, range.map_or(Span::default(), |range| Span::of(range.start..range.start)), "")
        .with_help("say where the name is: `--name-key PATH`")
}

/// What a JSON text turned out to be.
enum Kind {
    Map,
    Other,
}

/// Reads a JSON text for what is at a few paths and skips the rest without building it.
struct Probe<'p, 'f, 'de> {
    /// Which path, and what is left of it.
    wanted: &'p [(usize, &'p [&'p str])],
    found: &'f mut Vec<Option<Cow<'de, str>>>,
}

impl<'de> Probe<'_, '_, 'de> {
    fn note(self, data: &Data) -> Kind {
        self.note_name(name_of(data).map(Cow::Owned))
    }

    fn note_name(self, name: Option<Cow<'de, str>>) -> Kind {
        for (path, _) in self.wanted.iter().filter(|(_, rest)| rest.is_empty()) {
            if let Some(slot) = self.found.get_mut(*path) {
                slot.clone_from(&name);
            }
        }
        Kind::Other
    }
}

impl<'de> DeserializeSeed<'de> for Probe<'_, '_, 'de> {
    type Value = Kind;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Kind, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Probe<'_, '_, 'de> {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> std::result::Result<Kind, A::Error> {
        while let Some(key) = access.next_key::<Cow<'de, str>>()? {
            let below: Vec<(usize, &[&str])> = self
                .wanted
                .iter()
                .filter_map(|(path, rest)| {
                    rest.split_first().filter(|(first, _)| **first == key).map(|(_, rest)| (*path, rest))
                })
                .collect();
            if below.is_empty() {
                access.next_value::<IgnoredAny>()?;
            } else {
                access.next_value_seed(Probe { wanted: &below, found: &mut *self.found })?;
            }
        }
        Ok(Kind::Map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> std::result::Result<Kind, A::Error> {
        while access.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Kind::Other)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Kind, E> {
        Ok(self.note_name((!text.is_empty()).then_some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Kind, E> {
        Ok(self.note(&Data::Str(text.to_owned())))
    }

    fn visit_i64<E>(self, n: i64) -> std::result::Result<Kind, E> {
        Ok(self.note(&Data::Int(n)))
    }

    fn visit_u64<E>(self, n: u64) -> std::result::Result<Kind, E> {
        Ok(self.note(&Data::uint(n)))
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Kind, E> {
        Ok(self.note(&Data::Null))
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Kind, E> {
        Ok(self.note(&Data::Null))
    }

    fn visit_unit<E>(self) -> std::result::Result<Kind, E> {
        Ok(self.note(&Data::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(file: &str, text: &str, key: Option<&str>) -> std::result::Result<Vec<String>, Code> {
        let fleet = Fleet::read(&Source::new(file, text), Format::of(file, text), key).map_err(|error| error.code)?;
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
    fn what_is_not_a_fleet_is_refused() {
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
    fn names_are_what_they_mean_however_they_are_written() {
        let text = "{\"name\":\"\\u0061b\"}\n {\"x\":1,\"name\":12}\n{\"name\":\"x\",\"cluster\":{\"name\":\"y\"}}\n{\"name\":\"\",\"cluster\":{\"name\":\"z\"}}";
        assert_eq!(names("f.ndjson", text, None), Ok(["ab", "12", "x", "z"].map(String::from).to_vec()));
        assert_eq!(names("f.ndjson", "{\"name\":\"\\u0061\"}\n{\"name\":\"a\"}", None), Err(Code::DuplicateCluster));
        assert!(size_of::<Cluster>() <= 32, "a fleet is long");
    }

    #[test]
    fn a_line_is_read_when_it_is_needed() {
        let source = Source::new("f.ndjson", "{\"name\":\"a\"}\n{\"name\":\"b\",\"x\":\"\\ud800\"}\n");
        let fleet = Fleet::read(&source, Format::Ndjson, None).unwrap();
        assert_eq!(fleet.clusters()[0].json(), Some(r#"{"name":"a"}"#));
        assert_eq!(fleet.clusters()[0].inputs().unwrap().len(), 1);
        assert_eq!(fleet.clusters()[1].inputs().unwrap_err().code, Code::InputSyntax);
    }
}
