//! Positions of values in input files. They are found by reading the file again, so that reading values costs nothing
//! for them.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use super::cells::{cell, delimiter};
use super::{Format, env, limits, toml};
use crate::values::Step;
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::Node;
use dropforge_value::{DataMap, node_at, yaml};

/// The place of a map in an input file.
#[derive(Debug, Clone)]
pub struct Place {
    source: Arc<Source>,
    format: Format,
    part: PlacePart,
}

/// The part of a file that holds a map.
#[derive(Debug, Clone)]
enum PlacePart {
    /// A document, counted from 0, or an item of a list in it.
    Document(usize, Option<usize>),
    /// The text of a JSON value, or the position of a row of a Parquet or Arrow file.
    Text(Range<usize>),
    /// The position of a row of a CSV or TSV file, and the paths of its columns.
    Row(usize, Arc<[Vec<Step>]>),
    /// The path of a block in an HCL or TOML file.
    Block(Vec<Step>),
}

impl Place {
    /// The place of a file with one map.
    pub fn file(source: &Arc<Source>, format: Format) -> Self {
        Self { source: source.clone(), format, part: PlacePart::Document(0, None) }
    }

    /// The place of a document, or of an item of the list that it is.
    pub fn document(source: &Arc<Source>, format: Format, nth: usize, item: Option<usize>) -> Self {
        Self { source: source.clone(), format, part: PlacePart::Document(nth, item) }
    }

    /// The place of a line.
    pub fn text(source: &Arc<Source>, format: Format, range: Range<usize>) -> Self {
        Self { source: source.clone(), format, part: PlacePart::Text(range) }
    }

    /// The place of a row of a CSV or TSV file. `columns` are the paths of its columns.
    pub fn row(source: &Arc<Source>, format: Format, at: usize, columns: &Arc<[Vec<Step>]>) -> Self {
        Self { source: source.clone(), format, part: PlacePart::Row(at, columns.clone()) }
    }

    /// The place of the block at a path of an HCL or TOML file.
    pub fn block(source: &Arc<Source>, format: Format, path: Vec<Step>) -> Self {
        Self { source: source.clone(), format, part: PlacePart::Block(path) }
    }

    /// Returns the format of the source.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the source that holds the map.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Reads the map of a whole file again. Returns an empty map for any other place.
    pub fn map(&self) -> DataMap {
        match self.part {
            PlacePart::Document(0, None) => super::map(&self.source, self.format).unwrap_or_default(),
            _ => DataMap::default(),
        }
    }

    /// Finds the name of the cluster that the map is, or else the start of the map.
    pub fn name(&self) -> Option<Span> {
        let (key, read) = (|key: &str| Step::Key(key.to_owned()), OnceCell::new());
        let paths = [vec![key("name")], vec![key("cluster"), key("name")], Vec::new()];
        let found = paths.iter().find_map(|path| self.find_with(&read, path))?.range();
        Some(Span::of(found.start..found.start))
    }

    /// Finds the value at `path` in the map. Rows of Parquet and Arrow files have one position for all their values.
    ///
    /// ```
    /// use dropforge::bulk::{Format, input::Place, values::Step};
    /// use dropforge::text::Source;
    /// let source = Source::new("v.yaml", "app:\n  tag: v1\n");
    /// let path = ["app", "tag"].map(|name| Step::Key(name.to_owned()));
    /// let span = Place::file(&source, Format::Yaml).find(&path).unwrap();
    /// assert_eq!(source.slice(span), "v1");
    /// ```
    pub fn find(&self, path: &[Step]) -> Option<Span> {
        self.find_with(&OnceCell::new(), path)
    }

    /// Finds the value at `path` in the map. A YAML or JSON map is read once and kept in `read`.
    pub(crate) fn find_with(&self, read: &OnceCell<Option<Node>>, path: &[Step]) -> Option<Span> {
        match (&self.format, &self.part) {
            (format, PlacePart::Block(block)) => {
                let path = [block, path].concat();
                if *format == Format::Toml { toml::find(&self.source, &path) } else { hcl(&self.source, &path) }
            }
            (format, PlacePart::Row(at, columns)) => Some(self.cell(*format, *at, columns, path)),
            (Format::Parquet | Format::Arrow, PlacePart::Text(row)) => Some(Span::of(row.clone())),
            (Format::Toml, _) => toml::find(&self.source, path),
            (Format::Env, _) => env::find(&self.source, path),
            (Format::Hcl, _) => hcl(&self.source, path),
            (_, part) => {
                let start = if let PlacePart::Text(text) = part { text.start } else { 0 };
                let span = node_at(read.get_or_init(|| self.node()).as_ref()?, path)?.span.range();
                Some(Span::of(start + span.start..start + span.end))
            }
        }
    }

    /// Finds the cell of `path` in a row, or the first one below it. Falls back to the start of the row.
    fn cell(&self, format: Format, at: usize, columns: &[Vec<Step>], path: &[Step]) -> Span {
        let nth = columns.iter().position(|column| !path.is_empty() && column.starts_with(path));
        let cell = nth.and_then(|nth| cell(self.source.text(), at, nth, delimiter(format)));
        Span::of(cell.unwrap_or(at..at))
    }

    /// Reads the map as YAML, of which JSON is a part. A line is a source of its own.
    fn node(&self) -> Option<Node> {
        match &self.part {
            PlacePart::Block(_) | PlacePart::Row(..) => None,
            PlacePart::Text(text) => {
                let line = Source::new(self.source.name(), self.source.text().get(text.clone())?);
                yaml::read_one(&line, &limits()).ok()
            }
            &PlacePart::Document(nth, item) => {
                let documents = yaml::read(&self.source, &limits()).ok()?;
                // An empty document is none.
                let document = documents.get(nth)?;
                item.map_or(Some(document), |item| document.as_list()?.get(item)).cloned()
            }
        }
    }
}

fn hcl(source: &Arc<Source>, path: &[Step]) -> Option<Span> {
    let name = |step: &Step| match step {
        Step::Key(key) => key.clone(),
        Step::Index(at) => at.to_string(),
    };
    let names: Vec<String> = path.iter().map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    dropforge_hcl::find_data(source, &limits(), &names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line and the text of the value at a dotted path.
    fn find(name: &str, text: &str, path: &str) -> Option<(u32, String)> {
        let source = Source::new(name, text);
        let step = |name: &str| name.parse().map_or_else(|_| Step::Key(name.to_owned()), Step::Index);
        let path: Vec<Step> = path.split('.').map(step).collect();
        let span = Place::file(&source, Format::of(name, text)).find(&path)?;
        Some((source.position(span.start).line, source.slice(span).to_owned()))
    }

    #[test]
    fn values_are_found_in_every_format() {
        let found = |line, text: &str| Some((line, text.to_owned()));
        assert_eq!(find("a.yaml", "a:\n  b: [x, {c: 1}]\n", "a.b.1.c"), found(2, "1"));
        assert_eq!(find("a.json", "{\n\"a\": {\"b\": true}}", "a.b"), found(2, "true"));
        assert_eq!(find("a.toml", "x = 1\n[a.b]\nc = [1, 2]\n", "a.b.c.1"), found(3, "2"));
        assert_eq!(find(".env", "X=1\n\nexport Y=2\n", "Y"), found(3, "export Y=2"));
        assert_eq!(find("a.hcl", "x = 1\na \"b\" {\n  c = 2 + 1\n}\n", "a.b.c"), found(3, "2 + 1"));
        for name in ["a.yaml", "a.json", "a.toml", ".env", "a.hcl"] {
            assert_eq!(find(name, "", "a.b"), None, "{name}");
        }
    }
}
