//! The beginning of a rendered document: its kind, its name, its annotations.

use super::documents;
use super::metadata::{Fields, Refused};
use super::read::{first, head};
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Source;
use dropforge_value::{Data, Scanner};

/// The beginning of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The kind; empty if it has none.
    pub kind: String,
    /// The name in the metadata; empty if it has none.
    pub name: String,
    /// The annotations in the metadata.
    pub annotations: Vec<(String, String)>,
}

/// The metadata of a document without any.
static NOTHING: Data = Data::Null;

/// The keys of the beginning of a document.
const KEYS: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Head {
    /// Returns an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Reads the beginning of a usual document, without building the rest of it. `None` says nothing.
    pub fn scan(scanner: &mut Scanner, document: &str) -> Option<Head> {
        let entries = scanner.entries(document)?;
        let needed: Vec<_> =
            entries.filter(|(key, _)| KEYS.iter().any(|known| known.eq_ignore_ascii_case(key))).collect();
        plain(&needed).or_else(|| {
            let text: String = needed.iter().map(|(_, lines)| *lines).collect();
            Self::of(&first(&text).ok()?).ok()
        })
    }

    /// Reads the beginning of a document.
    ///
    /// # Errors
    /// `file.invalid_output` for a document that is not a YAML map, or that is no object.
    pub fn read(source: &str, document: &str) -> Result<Head> {
        let text = Source::new(source.to_owned(), document.to_owned());
        let data = head(&text).map_err(|errors| documents::not_yaml(source, &text, errors.into_iter().next()))?;
        Self::of(&data).map_err(|refused| documents::no_object(source, &text, &data, &refused))
    }

    fn of(data: &Data) -> std::result::Result<Head, Vec<Refused<'_>>> {
        let kind = if data.as_map().is_some() { "SimpleHead" } else { "util.SimpleHead" };
        let mut fields = Fields::of(data, kind)?;
        let (_, kind) = (fields.text("apiVersion"), fields.text("kind"));
        let metadata = fields.get("metadata").unwrap_or(&NOTHING);
        fields.finish(())?;
        let mut metadata = Fields::of(metadata, "SimpleHead.metadata")?;
        let (name, annotations) = (metadata.text("name"), metadata.entries("annotations"));
        metadata.finish(Head { kind, name, annotations })
    }
}

/// Returns the beginning of a valid document in plain notation, from its entries with the names of [`KEYS`]. `None` says
/// nothing.
fn plain(entries: &[(&str, &str)]) -> Option<Head> {
    let mut found = Head::default();
    for (key, text) in entries {
        let mut lines = lines(text);
        let (_, value) = entry(lines.next()?.1)?;
        match *key {
            "kind" => found.kind = scalar(value)?.to_owned(),
            "apiVersion" => _ = scalar(value)?,
            "metadata" if value.is_empty() => {
                metadata(lines, &mut found)?;
                continue;
            }
            _ => return None,
        }
        // A further line belongs to the scalar.
        if lines.next().is_some() {
            return None;
        }
    }
    found.annotations.sort_unstable();
    Some(found)
}

/// The entry of the metadata whose lines are read.
enum Inside {
    /// One with a scalar.
    Scalar,
    /// The annotations, and the column of their keys.
    Annotations(Option<usize>),
    /// One that does not count.
    Other,
}

/// Reads the metadata from its lines. `None` for another notation.
fn metadata<'t>(lines: impl Iterator<Item = (usize, &'t str)>, found: &mut Head) -> Option<()> {
    let (mut keys, mut inside) = (None, Inside::Scalar);
    for (column, line) in lines {
        let keys = *keys.get_or_insert(column);
        let is_below = column > keys || line.starts_with('-');
        match &mut inside {
            Inside::Scalar if is_below => return None,
            Inside::Other if is_below => closed(line)?,
            Inside::Annotations(None) if line == "{}" => inside = Inside::Scalar,
            Inside::Annotations(names) if is_below => {
                let (key, value) = entry(line).filter(|_| *names.get_or_insert(column) == column)?;
                found.annotations.push((key.to_owned(), scalar(value)?.to_owned()));
            }
            _ if column < keys => return None,
            _ => inside = below(line, found)?,
        }
    }
    Some(())
}

/// Reads the line of an entry of the metadata.
fn below(line: &str, found: &mut Head) -> Option<Inside> {
    let (key, value) = entry(line)?;
    Some(match key {
        "name" => {
            scalar(value)?.clone_into(&mut found.name);
            Inside::Scalar
        }
        "annotations" if value.is_empty() => Inside::Annotations(None),
        "annotations" if value == "{}" => Inside::Scalar,
        _ if key.eq_ignore_ascii_case("name") || key.eq_ignore_ascii_case("annotations") => return None,
        _ => {
            closed(value)?;
            Inside::Other
        }
    })
}

/// Returns the lines of a text without indentation, and their columns. Blank lines and comments are left out.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(|line| (line, line.trim_start_matches(' ')));
    let lines = lines.filter(|(_, content)| !content.is_empty() && !content.starts_with('#'));
    lines.map(|(line, content)| (line.len() - content.len(), content.trim_end_matches(' ')))
}

/// Returns the key of a line, plain or quoted, and the rest of the line after the colon.
fn entry(line: &str) -> Option<(&str, &str)> {
    let is_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
    let quote = line.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''));
    let start = usize::from(quote.is_some());
    let end = start + line.bytes().skip(start).position(|byte| !is_key(byte))?;
    let key = line.get(start..end)?;
    let rest = match quote {
        Some(quote) => line.get(end..)?.strip_prefix(char::from(quote))?,
        None => line.get(end..).filter(|_| is_text(key))?,
    };
    let value = rest.strip_prefix(':')?;
    (value.is_empty() || value.starts_with(' ')).then(|| (key, value.trim_start_matches(' ')))
}

/// Returns the text of a plain or quoted scalar in one line. `None` for other notations, and for scalars of other types.
fn scalar(value: &str) -> Option<&str> {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.strip_suffix(quote).filter(|text| !text.contains([quote, '\\']));
        }
    }
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'@' | b'+' | b',' | b'=' | b' ')
    };
    (value.bytes().all(is_plain) && is_text(value)).then_some(value)
}

/// Returns `true` if a plain scalar is a text, not a number or a word with a meaning.
fn is_text(plain: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    plain.starts_with(|first: char| first.is_ascii_alphabetic())
        && !WORDS.iter().any(|word| plain.eq_ignore_ascii_case(word))
}

/// `None` if a quote or a bracket may be open at the end of a line. Then the next one may have any column.
fn closed(line: &str) -> Option<()> {
    let (mut quotes, mut brackets) = ([0_usize; 2], [0_isize; 2]);
    for byte in line.bytes() {
        match byte {
            b'"' => quotes[0] += 1,
            b'\'' => quotes[1] += 1,
            b'{' => brackets[0] += 1,
            b'}' => brackets[0] -= 1,
            b'[' => brackets[1] += 1,
            b']' => brackets[1] -= 1,
            _ => {}
        }
    }
    (quotes.iter().all(|count| count.is_multiple_of(2)) && brackets == [0, 0]).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_finds_what_a_reader_reads() {
        let usual = "kind: Pod\nmetadata:\n  name: a\n  annotations: {helm.sh/hook: test}\nspec: {b: c}\n";
        for text in
            [usual, "# c\nkind: y\n", "Kind: A\nmetadata:\n  Name: 012\n  annotations:\n    a: no\n    b:\n", "a: 1\n"]
        {
            let (scanned, read) = (Head::scan(&mut Scanner::new(), text).unwrap(), Head::read("t", text).unwrap());
            assert_eq!(
                (scanned.kind, scanned.name, scanned.annotations),
                (read.kind, read.name, read.annotations),
                "{text}"
            );
        }
        for text in [
            "",
            "- a\n",
            "{kind: Pod}\n",
            "kind: [A]\n",
            "metadata: a\n",
            "kind: A\nkind: B\n",
            "a: .inf\n",
            "a: b: c\n",
        ] {
            assert!(Head::scan(&mut Scanner::new(), text).is_none(), "{text}");
        }
        assert_eq!(Head::read("t", "kind: A\nkind: B\n").map(|head| head.kind).ok(), Some("B".to_owned()));
    }

    /// Lines of metadata.
    const LINES: [&str; 31] = [
        "  name: web",
        "  name: \"web-1\"",
        "  name: 'web'",
        "  name: no",
        "  name: 012",
        "  name: a b",
        "  name:",
        "  name: web # c",
        "  Name: web",
        "  \"name\": web",
        "    more",
        "  # c",
        "",
        "  labels:",
        "  labels: {a: b}",
        "  labels: {a: b,",
        "    app: web",
        "    app: \"a",
        "    b\"",
        "    on: \"it's\"",
        "    text: |",
        "      name: x",
        "  - a",
        "  annotations:",
        "  annotations: {}",
        "    {}",
        "    helm.sh/hook: test",
        "    \"helm.sh/hook-weight\": \"-5\"",
        "    checksum: 'a: b'",
        "      deep: a",
        "   odd: a",
    ];

    #[test]
    fn plain_notation_means_what_a_reader_reads() {
        let (mut scanner, mut plainly, mut seed) = (Scanner::new(), 0, 7_u64);
        for _ in 0..20_000 {
            let mut text = "apiVersion: v1\nkind: Pod\nmetadata:\n".to_owned();
            for _ in 0..1 + seed % 6 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(LINES[(seed >> 33) as usize % LINES.len()]);
                text.push('\n');
            }
            let Some(entries) = scanner.entries(&text).map(Iterator::collect::<Vec<_>>) else { continue };
            if let Some(head) = plain(&entries) {
                assert_eq!(Some(head), Head::read("t", &text).ok(), "{text}");
                plainly += 1;
            }
        }
        assert!(plainly > 1000, "{plainly}");
    }
}
