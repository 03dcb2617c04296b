//! TOML documents.

mod mistakes;

use std::sync::Arc;

use ::toml::de::{DeTable, DeValue};
use toml_parser::lexer::TokenKind;

use super::{all_of, failed};
use crate::values::Step;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, DataMap};

/// Maximum number of open brackets and dots of one entry. It is below the parser's own limits for each of them, which
/// multiply.
const MAX_DEPTH: usize = 79;

/// Reads a document as a map in the order of the file. Dates and times are text, as in YAML.
///
/// # Errors
/// All of `input.syntax` and `input.duplicate_key`, with their positions; `limit.depth`.
pub(super) fn toml(source: &Arc<Source>) -> Result<DataMap> {
    check_depth(source)?;
    let (table, errors) = DeTable::parse_recoverable(source.text());
    if !errors.is_empty() {
        return Err(all_of(mistakes::of(source)));
    }
    let mut conversion = Conversion { source, depth: Limits::default().value_depth, errors: Vec::new() };
    let map = conversion.table(table.get_ref(), 1);
    if conversion.errors.is_empty() { Ok(map) } else { Err(all_of(conversion.errors)) }
}

/// Finds the value at `path`. Returns `None` for a document with errors.
pub(super) fn find(source: &Arc<Source>, path: &[Step]) -> Option<Span> {
    at(source, path, |value, _| Span::of(value.span()))
}

/// Calls `found` with the value at `path`, as it is written and read. Returns `None` for a document with errors.
pub(crate) fn at<T>(
    source: &Arc<Source>,
    path: &[Step],
    found: impl FnOnce(&::toml::Spanned<DeValue<'_>>, &Data) -> T,
) -> Option<T> {
    check_depth(source).ok()?;
    let (table, errors) = DeTable::parse_recoverable(source.text());
    let (first, rest) = path.split_first().filter(|_| errors.is_empty())?;
    let value =
        rest.iter().try_fold(table.get_ref().get(first.key()?)?, |value, step| match (step, value.get_ref()) {
            (Step::Key(key), DeValue::Table(table)) => table.get(key.as_str()),
            (Step::Index(at), DeValue::Array(items)) => items.get(*at),
            _ => None,
        })?;
    let mut conversion = Conversion { source, depth: Limits::default().value_depth, errors: Vec::new() };
    let data = conversion.value(value.get_ref(), Span::of(value.span()), path.len());
    Some(found(value, &data))
}

/// Checks the depth of keys and brackets before anything is built, because dropping a deep value takes stack.
fn check_depth(source: &Arc<Source>) -> Result<()> {
    // The depth of each open bracket, and of the current key.
    let (mut open, mut here) = (vec![0], 0);
    for token in toml_parser::Source::new(source.text()).lex() {
        match token.kind() {
            TokenKind::Dot => here += 1,
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                here += 1;
                open.push(here);
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket if open.len() > 1 => {
                open.pop();
                here = open.last().copied().unwrap_or(0);
            }
            TokenKind::Comma | TokenKind::Newline => here = open.last().copied().unwrap_or(0),
            _ => {}
        }
        if here > MAX_DEPTH {
            return Err(too_deep(source, token.span().start(), MAX_DEPTH));
        }
    }
    Ok(())
}

fn too_deep(source: &Arc<Source>, at: usize, most: usize) -> Box<Diagnostic> {
    Limit::ValueDepth.error(most as u64).at(source, Span::of(at..at), "")
}

/// The conversion of a document.
struct Conversion<'s> {
    source: &'s Arc<Source>,
    /// Maximum depth of values.
    depth: usize,
    errors: Vec<Box<Diagnostic>>,
}

impl Conversion<'_> {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> DataMap {
        let entries = table.iter().map(|(key, value)| {
            (key.get_ref().clone().into_owned(), self.value(value.get_ref(), Span::of(value.span()), depth))
        });
        entries.collect()
    }

    fn value(&mut self, value: &DeValue<'_>, span: Span, depth: usize) -> Data {
        match value {
            DeValue::Array(_) | DeValue::Table(_) if depth >= self.depth => {
                self.errors.push(too_deep(self.source, span.range().start, self.depth));
                Data::Null
            }
            DeValue::String(text) => Data::Str(text.clone().into_owned()),
            DeValue::Boolean(truth) => Data::Bool(*truth),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Data::Int(number),
                Err(_) => self.too_large(span),
            },
            DeValue::Float(number) => Data::number(number.as_str())
                .or_else(|| number.as_str().parse().ok().map(Data::Float))
                .unwrap_or_else(|| self.too_large(span)),
            DeValue::Datetime(_) => Data::Str(self.source.slice(span).to_owned()),
            DeValue::Array(items) => {
                let items = items.iter().map(|item| self.value(item.get_ref(), Span::of(item.span()), depth + 1));
                Data::List(items.collect())
            }
            DeValue::Table(table) => Data::Map(self.table(table, depth + 1)),
        }
    }

    fn too_large(&mut self, span: Span) -> Data {
        let message = format!("the number `{}` does not fit 64 bits", self.source.slice(span));
        self.errors.push(failed(self.source, span.range(), message));
        Data::Null
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<String, Vec<String>> {
        match toml(&Source::new("a.toml", text)) {
            Ok(map) => Ok(serde_json::to_string(&Data::Map(map)).unwrap()),
            Err(error) => {
                let all = std::iter::once(&error).chain(&error.also);
                Err(all.map(|error| error.to_string()).collect())
            }
        }
    }

    #[test]
    fn values_keep_their_types_and_order() {
        let text = "z = 0x10\na.b = 1_000\nf = 1.50\nd = 2001-01-01T10:00:00Z # c\nt = true\n[m]\nl = [1, 'x', {y = 2}]\n\
                    [[r]]\n[[r]]\nn = \"\"\n";
        let expected = r#"{"z":16,"a":{"b":1000},"f":1.5,"d":"2001-01-01T10:00:00Z","t":true,"m":{"l":[1,"x",{"y":2}]},"r":[{},{"n":""}]}"#;
        assert_eq!(read(text).as_deref(), Ok(expected));
        assert_eq!(read("\u{feff}").as_deref(), Ok("{}"));
    }

    #[test]
    fn all_errors_have_places() {
        let errors = read("a = 1\nb = \na = 2\nc = [1\n").unwrap_err();
        assert!(errors.iter().any(|error| error.starts_with("E0801: invalid TOML") && error.contains("a.toml:2:")));
        assert!(errors.iter().any(|error| error == "E0805: duplicate key `a` (a.toml:3:1)"), "{errors:?}");
        let errors = read("a = 1\nb = 9223372036854775808\nc = [99999999999999999999]\n").unwrap_err();
        assert!(errors[0].contains("a.toml:2:5") && errors[1].contains("a.toml:3:6"), "{errors:?}");
    }

    #[test]
    fn deep_documents_are_refused() {
        let (many, some) = ("a.".repeat(1_000_000), "a.".repeat(30));
        let nested = format!("{some}a = {{{some}a = {{{some}a = 1}}}}");
        let deep = [
            format!("{many}a = 1"),
            format!("[{many}a]"),
            format!("a = {}", "[".repeat(1_000_000)),
            format!("a = {}1{}", "{a = ".repeat(100_000), "}".repeat(100_000)),
            nested,
            format!("{}a = 1", "a.".repeat(MAX_DEPTH + 1)),
            format!("a = {}", "[".repeat(MAX_DEPTH + 1)),
            format!("[{some}{some}a]\n{some}{some}b.{some}a = 1"),
            format!("[{some}{some}a]\n{some}{some}b.a.a.a.a.a.a.a.a.a = 1"),
        ];
        for text in deep {
            let errors = read(&text).unwrap_err();
            assert!(errors[0].starts_with("E0602"), "{errors:?}");
        }
        let edge = format!("{}a = {}1{}", "a.".repeat(20), "[".repeat(59), "]".repeat(59));
        assert!(read(&edge).is_ok());
        let wide = format!("a = [{}]", "1.5, ".repeat(10_000));
        assert!(read(&wide).is_ok() && read(&"[[a.b.c]]\nd.e = 1.5\n".repeat(1_000)).is_ok());
    }
}
