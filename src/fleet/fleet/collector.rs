//! Collecting the clusters of files, and their errors.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use super::{FleetOptions, NameFrom, names};
use crate::cluster::{Cluster, not_a_map};
use crate::input::{self, CsvTypes, Format, Place, Table};
use crate::values::{Gaps, Step};
use crate::view::scalar_text;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted, with_reason};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, DataMap, JsonItems, json_entries};

/// Maximum number of errors to report at once.
pub(super) const MAX_ERRORS: usize = 100;

/// Finds clusters in files.
#[derive(Debug)]
pub(super) struct Collector {
    /// Dotted paths of a cluster's name, in order of precedence.
    name_paths: Vec<String>,
    csv_types: CsvTypes,
    /// What names a cluster that is a file of its own.
    name_from: Option<NameFrom>,
    /// The clusters that were found last.
    pub(super) clusters: Vec<Cluster>,
    /// The number of clusters of the current file, valid or not.
    seen: usize,
    errors: Vec<Box<Diagnostic>>,
    /// The number of clusters of the current file without a name, but for the first one, whose error is reported.
    others_unnamed: Option<usize>,
}

/// What the parts of a file have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct PartState {
    /// The header of a table.
    pub(super) table: Option<Table>,
    /// `true` if the header is not valid, so that the rest of the file is not read.
    pub(super) is_over: bool,
    pub(super) gaps: Gaps,
}

impl Collector {
    pub(super) fn new(options: &FleetOptions<'_>) -> Self {
        let name_paths = ["name", "cluster.name"].into_iter().chain(options.name_key).map(str::to_owned).collect();
        Self { name_from: options.name_from, ..Self::with(name_paths, options.csv_types) }
    }

    /// Creates a collector of clusters that were found before.
    pub(super) fn again(&self) -> Self {
        Self::with(self.name_paths.clone(), self.csv_types)
    }

    fn with(name_paths: Vec<String>, csv_types: CsvTypes) -> Self {
        let (name_from, clusters, errors) = (None, Vec::new(), Vec::new());
        Self { name_paths, csv_types, name_from, clusters, seen: 0, errors, others_unnamed: None }
    }

    /// Checks that there were no errors.
    ///
    /// # Errors
    /// All errors of all files.
    pub(super) fn finish(mut self) -> Result<()> {
        self.note_others();
        if self.errors.is_empty() { Ok(()) } else { Err(input::all_of(self.errors)) }
    }

    /// Returns the dotted paths of a cluster's name, in order of precedence.
    #[cfg(feature = "arrow")]
    pub(super) fn name_paths(&self) -> &[String] {
        &self.name_paths
    }

    /// Begins a file.
    pub(super) fn begin(&mut self) {
        self.note_others();
        self.seen = 0;
    }

    /// Finds the clusters of a whole file.
    pub(super) fn file(&mut self, source: &Arc<Source>, format: Format) {
        self.begin();
        if format.is_of_records() {
            self.part(source, format, &mut PartState::default(), true);
        } else if let Some(clusters) = (format == Format::Json).then(|| self.items(source)).flatten() {
            self.seen = clusters.len();
            self.clusters.extend(clusters);
        } else {
            self.documents(source, format).unwrap_or_else(|error| self.report(error));
        }
    }

    /// Finds the clusters of a part of a file with a cluster a line or row. Returns the number of bytes of whole records,
    /// which is 0 if there is none. The last part is whole.
    pub(super) fn part(&mut self, source: &Arc<Source>, format: Format, state: &mut PartState, is_last: bool) -> usize {
        let length = source.text().len();
        if format == Format::Ndjson {
            let end = if is_last { length } else { source.text().rfind('\n').map_or(0, |end| end + 1) };
            self.lines(source, end);
            return end;
        }
        self.rows(source, format, state, is_last).unwrap_or_else(|error| {
            self.report(error);
            state.is_over = true;
            length
        })
    }

    /// Adds an error and those that it carries.
    pub(super) fn report(&mut self, mut error: Box<Diagnostic>) {
        let others = std::mem::take(&mut error.also);
        error = with_reason(error);
        let room = MAX_ERRORS.saturating_sub(self.errors.len());
        self.errors.extend(std::iter::once(error).chain(others).take(room));
    }

    /// Returns `true` if no more errors are reported.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    fn documents(&mut self, source: &Arc<Source>, format: Format) -> Result<()> {
        let mut documents = input::documents(source, format)?;
        if let ([only], Some(name_from)) = (&mut documents[..], self.name_from) {
            self.name_by_file(only, name_from, source.name());
        }
        for (nth, mut document) in documents.into_iter().enumerate() {
            let (whole, read) = (Place::document(source, format, nth, None), OnceCell::new());
            let item = |at| Place::document(source, format, nth, at);
            let items: Vec<(Data, Place)> = match &mut document {
                Data::Null => Vec::new(),
                Data::List(items) => {
                    std::mem::take(items).into_iter().enumerate().map(|(at, one)| (one, item(Some(at)))).collect()
                }
                Data::Map(map) if matches!(format, Format::Hcl | Format::Toml) => {
                    let place = |path| Place::block(source, format, path);
                    blocks(std::mem::take(map)).into_iter().map(|(one, path)| (one, place(path))).collect()
                }
                cluster => vec![(std::mem::take(cluster), item(None))],
            };
            for (at, (item, place)) in items.into_iter().enumerate() {
                // The items of a list are found in one tree.
                let in_list = || whole.find_with(&read, &[Step::Index(at)]);
                self.add(item, place, &|place| in_list().or_else(|| place.find(&[])).map(start_of));
            }
        }
        Ok(())
    }

    /// Gives the cluster that a file is, if it has no name, that of the file or its folder.
    fn name_by_file(&self, document: &mut Data, name_from: NameFrom, file: &str) {
        let is_named = |path: &String| document.at_path(path).is_some();
        let lists = ["cluster", "clusters"].iter().any(|key| document.get(key).is_some_and(names::holds_clusters));
        if self.name_paths.iter().any(is_named) || lists {
            return;
        }
        let file = Path::new(file);
        let name = match name_from {
            NameFrom::File => file.file_stem(),
            NameFrom::Folder => file.parent().and_then(Path::file_name),
        };
        if let (Data::Map(own), Some(name)) = (document, name.and_then(|name| name.to_str())) {
            own.insert("name".to_owned(), Data::Str(name.to_owned()));
        }
    }

    fn rows(&mut self, source: &Arc<Source>, format: Format, state: &mut PartState, is_last: bool) -> Result<usize> {
        let (mut start, length) = (0, source.text().len());
        let table = match &mut state.table {
            Some(table) => table,
            none => {
                if !is_last && Table::header_end(source, format) == length {
                    return Ok(0);
                }
                let (table, end) = Table::of(source, format, self.csv_types, &self.name_paths)?;
                start = end;
                let has_rows = !is_last || source.text().get(end..).is_some_and(|rest| !rest.is_empty());
                if let Some(error) = names::table(source, &self.name_paths, table.paths()).filter(|_| has_rows) {
                    return Err(error);
                }
                none.insert(table)
            }
        };
        let columns = table.paths().clone();
        let (mut rows, mut errors, last) = table.rows(source, start, &mut state.gaps);
        let end = if is_last { length } else { last };
        // The last record may go on in the next part.
        rows.retain(|(at, _)| *at < end);
        errors.retain(|error| error.primary().is_none_or(|label| label.span.range().start < end));
        errors.into_iter().for_each(|error| self.report(error));
        for (at, map) in rows {
            let place = Place::row(source, format, at, &columns);
            self.add(Data::Map(map), place, &|_| Some(Span::of(at..at)));
        }
        Ok(if self.is_full() { length } else { end })
    }

    /// Finds the clusters of the lines before `end`.
    fn lines(&mut self, source: &Arc<Source>, end: usize) {
        for line in input::lines(source).take_while(|line| line.start < end) {
            let mut names = RawPaths::new(&self.name_paths);
            let text = source.text().get(line.clone()).unwrap_or("");
            let is_object = json_entries(text, |key, value| names.see(key, value)).is_some();
            let name = is_object.then(|| plain_name(names)).flatten();
            match name.and_then(|name| Cluster::of_text(source, &line, name)) {
                Some(cluster) => {
                    self.seen += 1;
                    self.clusters.push(cluster);
                }
                None => match input::json(source, line.clone()) {
                    Ok(cluster) => {
                        let place = Place::text(source, Format::of_lines(source), line.clone());
                        self.add(cluster, place, &|_| Some(Span::of(line.clone())));
                    }
                    Err(error) => {
                        self.seen += 1;
                        self.report(error);
                    }
                },
            }
        }
    }

    /// Finds the clusters of a JSON list, which stay text until a worker needs their inputs. `None` if the list has to be
    /// parsed in full: it is malformed, or the name of a cluster is missing or not written as is.
    fn items(&self, source: &Arc<Source>) -> Option<Vec<Cluster>> {
        let (mut items, mut clusters) = (JsonItems::of(source.text())?, Vec::new());
        loop {
            let mut names = RawPaths::new(&self.name_paths);
            let Some(item) = items.next_item(|key, value| names.see(key, value))? else { return Some(clusters) };
            let name = plain_name(names)?;
            clusters.push(Cluster::of_text(source, &item, name)?);
        }
    }

    /// Adds the cluster `item`. Errors find it with `find`.
    fn add(&mut self, item: Data, place: Place, find: &dyn Fn(&Place) -> Option<Span>) {
        self.seen += 1;
        let name = self.name_paths.iter().find_map(|path| item.at_path(path).and_then(name_of));
        if name.is_none() && item.as_map().is_some() {
            return self.report_unnamed(&item, &place, find);
        }
        match (item.try_into_map(), name) {
            (Ok(own), Some(name)) => self.clusters.push(Cluster::new(name, own).read_from(place)),
            (Err(other), _) if !self.is_full() => {
                let span = find(&place).unwrap_or_default();
                self.report(not_a_map(&other).at(place.source(), span, ""));
            }
            _ => {}
        }
    }

    /// Reports a cluster without a name. The others of its file are only counted.
    fn report_unnamed(&mut self, item: &Data, place: &Place, find: &dyn Fn(&Place) -> Option<Span>) {
        if let Some(others) = &mut self.others_unnamed {
            *others += 1;
            return;
        }
        self.others_unnamed = Some(0);
        let (source, start) = (place.source(), find(place).map(start_of).unwrap_or_default());
        let invalid = self.name_paths.iter().find_map(|path| Some((path, item.at_path(path)?)));
        let error = match invalid {
            Some((path, value)) => {
                let steps: Vec<Step> = path.split('.').map(|key| Step::Key(key.to_owned())).collect();
                let span = place.find(&steps).unwrap_or(start);
                names::invalid(self.seen, path, value, source.slice(span)).at(source, span, "")
            }
            None => names::cluster(self.seen, &self.name_paths, item, place.format()).at(source, start, ""),
        };
        self.report(error);
    }

    /// Adds the number of the other clusters without a name to the error of the first one in a file.
    fn note_others(&mut self) {
        let others = self.others_unnamed.take().filter(|others| *others > 0);
        let first = self.errors.iter_mut().rfind(|error| error.code == Code::UnnamedCluster);
        if let (Some(others), Some(error)) = (others, first) {
            let have = if others == 1 { "has" } else { "have" };
            error.notes.push(format!("{} of this file {have} no name", counted(others, "more cluster")));
        }
    }
}

/// The JSON texts at some dotted paths of an object. The last of repeated keys counts.
struct RawPaths<'p, 't, P> {
    paths: &'p [P],
    /// The text at the first key of each path, and the rest of the path.
    found: Vec<Option<(&'t str, &'p str)>>,
}

impl<'p, 't, P: AsRef<str>> RawPaths<'p, 't, P> {
    fn new(paths: &'p [P]) -> Self {
        Self { paths, found: vec![None; paths.len()] }
    }

    /// Sees an entry of the object.
    fn see(&mut self, key: &str, value: &'t str) {
        for (path, found) in self.paths.iter().zip(&mut self.found) {
            let (first, rest) = path.as_ref().split_once('.').unwrap_or((path.as_ref(), ""));
            if first == key {
                *found = Some((value, rest));
            }
        }
    }

    /// Returns the texts. `None` if a key on the way to one has an escape.
    fn texts(self) -> Option<Vec<Option<&'t str>>> {
        let text = |found: Option<(&'t str, &str)>| match found {
            Some((inner, rest)) if !rest.is_empty() => match inner.starts_with('{') {
                true => Some(raw_at(inner, rest)?),
                false => Some(None),
            },
            found => Some(found.map(|(value, _)| value)),
        };
        self.found.into_iter().map(text).collect()
    }
}

/// Returns the JSON text at a dotted path of an object. `None` if the text is no object, or if a key on the way has an escape.
fn raw_at<'t>(object: &'t str, path: &str) -> Option<Option<&'t str>> {
    let paths = [path];
    let mut below = RawPaths::new(&paths);
    json_entries(object, |key, value| below.see(key, value))?;
    below.texts()?.into_iter().next()
}

/// Returns the first name among JSON texts without building other values. Returns `None` if the cluster has to be parsed in
/// full: its name is missing or not written as is.
fn plain_name<'t>(names: RawPaths<'_, 't, String>) -> Option<&'t str> {
    for raw in names.texts()?.into_iter().flatten() {
        match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some("") => {}
            Some(text) => return (!text.contains('\\')).then_some(text),
            None if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                return (raw.len() < 20 && raw.bytes().all(|b| b.is_ascii_digit())).then_some(raw);
            }
            None => {}
        }
    }
    None
}

/// Returns a name as text: a string that is not empty, or an integer.
fn name_of(data: &Data) -> Option<String> {
    match data {
        Data::Str(text) if !text.is_empty() => Some(text.clone()),
        Data::Int(_) | Data::Uint(_) => Some(scalar_text(data)),
        _ => None,
    }
}

/// Returns the empty span at the start of a span.
fn start_of(span: Span) -> Span {
    let start = span.range().start;
    Span::of(start..start)
}

/// Returns the clusters of an HCL or TOML file and their paths: its list or blocks `clusters` or `cluster`, else its
/// blocks `cluster "name" { … }` or tables `[cluster.name]`, else the file itself.
fn blocks(mut map: DataMap) -> Vec<(Data, Vec<Step>)> {
    if map.len() > 1 {
        return vec![(Data::Map(map), Vec::new())];
    }
    for key in ["clusters", "cluster"] {
        if let Some(Data::List(clusters)) = map.get_mut(key) {
            let clusters = std::mem::take(clusters).into_iter().enumerate();
            return clusters.map(|(at, one)| (one, vec![Step::Key(key.to_owned()), Step::Index(at)])).collect();
        }
    }
    let named = match map.get("cluster") {
        Some(Data::Map(labels)) => labels.iter().map(|(label, blocks)| labelled(label, blocks)).collect(),
        _ => None,
    };
    named.map_or_else(|| vec![(Data::Map(map), Vec::new())], |named: Vec<_>| named.concat())
}

/// Names the blocks of a label by it. Returns `None` if they are not blocks. Several blocks with one label are reported
/// later, as duplicate names.
fn labelled(label: &str, blocks: &Data) -> Option<Vec<(Data, Vec<Step>)>> {
    let (blocks, are_several) = match blocks {
        Data::List(blocks) => (blocks.as_slice(), true),
        block => (std::slice::from_ref(block), false),
    };
    let named = |(at, block): (usize, &Data)| {
        let mut own = DataMap::from_iter([("name".to_owned(), Data::Str(label.to_owned()))]);
        own.extend(block.as_map()?.clone());
        let mut path = ["cluster", label].map(|key| Step::Key(key.to_owned())).to_vec();
        path.extend(are_several.then_some(Step::Index(at)));
        Some((Data::Map(own), path))
    };
    blocks.iter().enumerate().map(named).collect()
}
