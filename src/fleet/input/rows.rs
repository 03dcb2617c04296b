//! Rows of CSV and TSV as maps.
//!
//! A header is a path as in `--set`: `cluster.env` makes a map, `zones[0]` a list, and `\.` is a literal dot. An empty
//! cell is absent.

use std::str::FromStr;
use std::sync::Arc;

use super::cells::{QuoteFault, cell, delimiter, quote_fault};
use super::{Format, all_of, failed, limits};
use crate::values::{Column, Gaps, Step, conflicts, typed};
use dropforge_base::diagnostics::{Diagnostic, Result, counted, thousands};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, DataMap};

/// Typing of the cells of CSV and TSV files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvTypes {
    /// Recognises booleans, `null` and integers as `--set` does. Everything else is text.
    #[default]
    Set,
    /// Every cell is text.
    Strings,
}

impl FromStr for CsvTypes {
    type Err = String;

    /// Finds the typing called `set` or `strings`.
    ///
    /// # Errors
    /// A message that lists both.
    fn from_str(name: &str) -> std::result::Result<Self, String> {
        match name {
            "set" => Ok(Self::Set),
            "strings" => Ok(Self::Strings),
            _ => Err("expected `set` or `strings`".to_owned()),
        }
    }
}

/// A row, with the position of its first byte.
type TableRow = (usize, DataMap);

/// The header of a CSV or TSV file.
#[derive(Debug, Clone)]
pub struct Table {
    delimiter: u8,
    columns: Vec<Column>,
    /// The paths of the columns.
    paths: Arc<[Vec<Step>]>,
    /// `true` for the columns whose cells are typed.
    is_typed: Vec<bool>,
}

impl Table {
    /// Parses the header at the start of `source`. The columns `names` are always text. Also returns the position after
    /// the header.
    ///
    /// # Errors
    /// All errors of the header: `input.syntax` with the position of the column.
    pub fn of(
        source: &Arc<Source>,
        format: Format,
        types: CsvTypes,
        names: &[impl AsRef<str>],
    ) -> Result<(Self, usize)> {
        let delimiter = delimiter(format);
        let places = Places::new(source, None);
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(places.rest());
        let header = reader.headers().map_err(|error| places.invalid(&error))?.clone();
        let end = places.of(Some(reader.position()));
        places.check_quotes(places.of(header.position()), end, delimiter)?;
        let columns = places.columns(&header, delimiter)?;
        let is_name = |column: &str| names.iter().any(|name| name.as_ref() == column);
        let is_typed = header.iter().map(|name| types == CsvTypes::Set && !is_name(name)).collect();
        let paths = columns.iter().map(|column| column.path().to_vec()).collect();
        Ok((Self { delimiter, columns, paths, is_typed }, end))
    }

    /// Returns the position after the first record, which is the end of `source` if the record may go on after it.
    pub(crate) fn header_end(source: &Arc<Source>, format: Format) -> usize {
        let delimiter = delimiter(format);
        let places = Places::new(source, None);
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(places.rest());
        let _ = reader.read_byte_record(&mut csv::ByteRecord::new());
        places.of(Some(reader.position()))
    }

    /// Returns the paths of the columns.
    pub fn paths(&self) -> &Arc<[Vec<Step>]> {
        &self.paths
    }

    /// Parses the rows from `start` on. `gaps` are the skipped items of lists in the file. Also returns the errors of invalid
    /// rows, and the position of the last row, valid or not, or `start` if there is none.
    pub fn rows(
        &mut self,
        source: &Arc<Source>,
        start: usize,
        gaps: &mut Gaps,
    ) -> (Vec<TableRow>, Vec<Box<Diagnostic>>, usize) {
        let places = Places::new(source, Some((start, self.columns.len())));
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(places.rest());
        let (mut rows, mut errors, mut last) = (Vec::new(), Vec::new(), start);
        let mut record = csv::StringRecord::new();
        while errors.len() < limits().diagnostics {
            let read = reader.read_record(&mut record);
            let position = match &read {
                Ok(false) => break,
                Ok(true) => record.position(),
                Err(error) => error.position(),
            };
            last = places.of(position);
            let quotes = places.check_quotes(last, places.start + byte(reader.position()), self.delimiter);
            let row = match read {
                Ok(_) => quotes.and_then(|()| {
                    places.row(&record, self.delimiter, self.columns.iter_mut().zip(&self.is_typed), gaps)
                }),
                Err(error) => Err(places.invalid(&error)),
            };
            match row {
                Ok(row) => rows.push(row),
                Err(error) => errors.push(error),
            }
        }
        (rows, errors, last)
    }
}

/// Parses the rows of a CSV or TSV file. The columns `names` are always text.
///
/// # Errors
/// All errors of the header, or else those of the rows: `input.syntax` with the position of the column or row.
pub fn rows(source: &Arc<Source>, format: Format, types: CsvTypes, names: &[&str]) -> Result<Vec<TableRow>> {
    let (mut table, start) = Table::of(source, format, types, names)?;
    let (rows, errors, _) = table.rows(source, start, &mut Gaps::default());
    if errors.is_empty() { Ok(rows) } else { Err(all_of(errors)) }
}

/// Positions in a CSV file.
struct Places<'s> {
    source: &'s Arc<Source>,
    /// The start of the first record.
    start: usize,
    /// The number of cells that a record has to have.
    cells: Option<usize>,
}

impl<'s> Places<'s> {
    /// Begins with a record that has to have so many cells, or else with the header after the byte order mark.
    fn new(source: &'s Arc<Source>, rows: Option<(usize, usize)>) -> Self {
        let mark = if source.text().starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { source, start: rows.map_or(mark, |(start, _)| start), cells: rows.map(|(_, cells)| cells) }
    }

    fn rest(&self) -> &'s [u8] {
        self.source.text().get(self.start..).unwrap_or("").as_bytes()
    }

    /// Parses the header.
    fn columns(&self, header: &csv::StringRecord, delimiter: u8) -> Result<Vec<Column>> {
        let start = self.of(header.position());
        let place = |nth: usize| cell(self.source.text(), start, nth, delimiter).unwrap_or(0..0);
        let (mut columns, mut errors) = (Vec::new(), Vec::new());
        for (at, name) in header.iter().enumerate() {
            match column(at, name) {
                Ok(column) => columns.push((at, column)),
                Err(why) => errors.push(failed(self.source, place(at), why).with_help(HEADERS)),
            }
        }
        errors.extend(conflicts(columns.iter().map(|(at, column)| (*at, column))).into_iter().map(
            |(first, second)| {
                let (one, other) = (header.get(first).unwrap_or(""), header.get(second).unwrap_or(""));
                let message = match one == other {
                    true => format!("duplicate column `{one}`"),
                    false => format!("column `{other}` conflicts with column `{one}`"),
                };
                failed(self.source, place(second), message).at(self.source, Span::of(place(first)), "the other column")
            },
        ));
        match errors.is_empty() {
            true => Ok(columns.into_iter().map(|(_, column)| column).collect()),
            false => Err(all_of(errors)),
        }
    }

    /// Checks the quotes of the record between two positions.
    fn check_quotes(&self, start: usize, end: usize, delimiter: u8) -> Result<()> {
        let record = self.source.text().get(start..end).unwrap_or("");
        let Some(fault) = quote_fault(record, delimiter) else { return Ok(()) };
        let invalid = |at: usize, message: &str| {
            let place = self.source.character(start + at).range();
            failed(self.source, place, format!("invalid CSV: {message}")).with_help(QUOTES)
        };
        Err(match fault {
            QuoteFault::Unclosed(at) => invalid(at, "the quote is not closed"),
            QuoteFault::Behind { open, at } => {
                let open = Span::of(start + open..start + open);
                invalid(at, "the cell goes on after its closing quote").at(self.source, open, "the cell begins here")
            }
        })
    }

    /// Builds a row. Each column is given with `true` if its cells are typed.
    fn row<'c>(
        &self,
        record: &csv::StringRecord,
        delimiter: u8,
        columns: impl Iterator<Item = (&'c mut Column, &'c bool)>,
        gaps: &mut Gaps,
    ) -> Result<TableRow> {
        let (at, mut map) = (self.of(record.position()), DataMap::default());
        if let Some(cells) = self.cells.filter(|cells| *cells != record.len()) {
            let message = format!("expected {} as in the header, found {}", counted(cells, "cell"), record.len());
            let help = match (record.len() > cells, delimiter) {
                (true, b',') => "put a cell with a comma in quotes",
                (true, _) => "put a cell with a tab in quotes",
                (false, _) => "write every cell of the header: an empty one has nothing before its separator",
            };
            return Err(failed(self.source, self.source.character(at).range(), message).with_help(help));
        }
        gaps.allow(record.len());
        for (nth, ((column, is_typed), text)) in
            columns.zip(record).enumerate().filter(|(_, (_, text))| !text.is_empty())
        {
            let value = if *is_typed { typed(text.to_owned()) } else { Data::Str(text.to_owned()) };
            column.put(value, &mut map, gaps).map_err(|error| {
                let place = cell(self.source.text(), at, nth, delimiter);
                failed(self.source, place.unwrap_or(at..at), error.message)
            })?;
        }
        Ok((at, map))
    }

    /// Returns the position of a record in the source. The reader counts from the end of the record before, whose line
    /// break it may not have read completely.
    fn of(&self, position: Option<&csv::Position>) -> usize {
        let at = self.start + position.map_or(0, byte);
        let rest = self.source.text().get(at..).unwrap_or("");
        at + rest.len() - rest.trim_start_matches(['\r', '\n']).len()
    }

    fn invalid(&self, error: &csv::Error) -> Box<Diagnostic> {
        let at = self.of(error.position());
        let message = format!("invalid CSV: {error}");
        failed(self.source, self.source.character(at).range(), message)
    }
}

/// Returns the number of bytes before a position.
fn byte(position: &csv::Position) -> usize {
    usize::try_from(position.byte()).unwrap_or(usize::MAX)
}

/// Parses the header of the column `at`.
fn column(at: usize, name: &str) -> std::result::Result<Column, String> {
    match name.trim() {
        "" => Err(format!("column {} has no name", thousands(at + 1))),
        trimmed if trimmed != name => {
            Err(format!("column `{name}` begins or ends with a space, and cells keep theirs, too"))
        }
        _ => Column::parse(name).map_err(|error| format!("column {}", error.message)),
    }
}

const QUOTES: &str =
    "a cell that begins with a quote ends with one, before the separator; a quote inside it is doubled: `\"\"`";

const HEADERS: &str =
    "a header is a path such as `env`, `image.tag` or `zones[0]`; write `\\.` and `\\[` for literal ones";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, types: CsvTypes, text: &str) -> std::result::Result<String, Vec<String>> {
        let source = Source::new("f", text);
        match rows(&source, format, types, &["name"]) {
            Ok(rows) => {
                let rows: Vec<Data> = rows.into_iter().map(|(_, map)| Data::Map(map)).collect();
                Ok(serde_json::to_string(&rows).unwrap())
            }
            Err(error) => {
                let all = std::iter::once(&error).chain(&error.also);
                Err(all.map(|error| error.to_string()).collect())
            }
        }
    }

    fn csv(text: &str) -> std::result::Result<String, Vec<String>> {
        read(Format::Csv, CsvTypes::Set, text)
    }

    #[test]
    fn cells_are_typed_as_set_types_them() {
        let text = "name,a,b,c,d,e,f\n007,true,FALSE,null,12,012,1.5\n1,-5,+5,0,\"{x,y}\",a\\b, 1\n";
        let expected = r#"[{"name":"007","a":true,"b":false,"c":null,"d":12,"e":"012","f":"1.5"},{"name":"1","a":-5,"b":5,"c":0,"d":"{x,y}","e":"a\\b","f":" 1"}]"#;
        assert_eq!(csv(text).as_deref(), Ok(expected));
        let strings = read(Format::Csv, CsvTypes::Strings, "a,b,c\ntrue,1,\n");
        assert_eq!(strings.as_deref(), Ok(r#"[{"a":"true","b":"1"}]"#));
        assert_eq!(read(Format::Tsv, CsvTypes::Set, "a\tb\n1,2\t3\n").as_deref(), Ok(r#"[{"a":"1,2","b":3}]"#));
    }

    #[test]
    fn headers_are_paths_and_empty_cells_are_absent() {
        let text =
            "\u{feff}name,a.b,a.c,l[0],l[1],m[0].x,m[0].y,d\\.e/f,\"g=1,2\"\r\nx,1,,,q,1,2,3,4\r\n\r\ny,,,,,,,,\r\n";
        let expected =
            r#"[{"name":"x","a":{"b":1},"l":[null,"q"],"m":[{"x":1,"y":2}],"d.e/f":3,"g=1,2":4},{"name":"y"}]"#;
        assert_eq!(csv(text).as_deref(), Ok(expected));
        assert_eq!(csv("").as_deref(), Ok("[]"));
    }

    #[test]
    fn bad_headers_are_errors_with_the_place_of_the_column() {
        let cases = [
            ("a,b,a\n1,2,3\n", "duplicate column `a` (f:1:5)"),
            ("\u{feff}\"a\",\"b\"\"\",a\n", "duplicate column `a` (f:1:"),
            ("a,,b\n1,2,3\n", "column 2 has no name (f:1:3)"),
            ("a, \n", "column 2 has no name (f:1:3)"),
            ("\n\nx,a,a.b\n", "column `a.b` conflicts with column `a` (f:3:5)"),
            ("a.b,a\n", "column `a` conflicts with column `a.b` (f:1:5)"),
            ("a, b\n1, 2\n", "column ` b` begins or ends with a space, and cells keep theirs, too (f:1:3)"),
            ("a,\"b\nc,d\n", "the quote is not closed (f:1:3)"),
            ("a[0],a.b\n", "column `a.b` conflicts with column `a[0]` (f:1:6)"),
            ("a[0][0],a[0].b\n", "column `a[0].b` conflicts with column `a[0][0]` (f:1:9)"),
            ("a,b[x]\n", "column `b[x]`: invalid index `x` (f:1:3)"),
            ("a,b[65537]\n", "index 65537 is greater than 65,536 (f:1:3)"),
            ("a,b[0\n", "unclosed `[` (f:1:3)"),
            ("a,b[0]x\n", "unexpected `x` after an index (f:1:3)"),
            ("a,No.\n", "column `No.`: empty name (f:1:3)"),
        ];
        for (text, expected) in cases {
            let errors = csv(text).unwrap_err();
            assert!(errors.len() == 1 && errors[0].contains(expected), "{text:?}: {errors:?}");
        }
        assert!(csv(&format!("{}a\n", "a.".repeat(40))).unwrap_err()[0].contains("more than 30 nested names"));
        assert_eq!(csv(",b,a..b,b\n").unwrap_err().len(), 3);
    }

    #[test]
    fn all_rows_of_another_length_are_errors_with_their_lines() {
        let errors = csv("a,b\r\n1\r\n1,2\r\n\r\n1,2,3\r\n").unwrap_err();
        assert_eq!(
            errors,
            [
                "E0801: expected 2 cells as in the header, found 1 (f:2:1)",
                "E0801: expected 2 cells as in the header, found 3 (f:5:1)"
            ]
        );
    }

    #[test]
    fn faults_of_quotes_are_errors_with_their_places() {
        let errors = csv("name,env,note\na,p,x\nc,p,\"z\nd,p,w").unwrap_err();
        assert_eq!(errors, ["E0801: invalid CSV: the quote is not closed (f:3:5)"]);
        let errors = csv("a,b\n\"x\"y,\"1\nü\"\n1,\"2\"\"\"\n\"ü\" ,2\n3,\"4").unwrap_err();
        let behind = "E0801: invalid CSV: the cell goes on after its closing quote";
        let expected = [format!("{behind} (f:2:4)"), format!("{behind} (f:5:4)")];
        assert_eq!(errors, [&expected[0], &expected[1], "E0801: invalid CSV: the quote is not closed (f:6:3)"]);
    }

    #[test]
    fn skipped_list_items_are_bounded_for_the_whole_file() {
        let text = format!("name,a[65536]\n{}", "x,1\n".repeat(10));
        let errors = csv(&text).unwrap_err();
        assert!(errors[0].contains("262,144") && errors[0].contains("(f:6:3)"), "{errors:?}");
        let holes = format!("name,a[0],a[1]\n{}", "x,,1\n".repeat(300_000));
        assert!(csv(&holes).is_ok());
    }
}
