//! Writes TOML: plain entries of a table first, then its tables, each indented by its level. Reads TOML: integers have a
//! width of 64 bits, and dates and times are points in time; without an offset, in UTC.

use std::borrow::Cow;

use ::toml::de::{DeTable, DeValue};
use toml_parser::lexer::TokenKind;

use super::{MAX_DEPTH, Refused, lossy};
use crate::output::{Tree, TreeNode, not_plain, time_text};
use crate::{Arena, Extended, Numbers, Value};
use dropforge_base::stdlib::float_format::shortest;
use dropforge_base::stdlib::timestamps::days_of;

/// Appends `tree` to `out`. A value that is not a map is written like the value of an entry. `grow` receives the length
/// of `out` after each entry and may stop the writing.
///
/// # Errors
/// Null, also within lists, values that the tree refuses, and values that contain themselves.
pub fn write<'t, T: Tree<'t>, E>(
    tree: T,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    match tree.node() {
        TreeNode::Map(entries) => {
            let start = out.len();
            TomlWriter { out, grow, start }.document::<T>(entries)
        }
        TreeNode::Null => Err(Refused::Value("reflect: call of reflect.Value.Type on zero Value".to_owned())),
        _ => inline(tree, out, grow),
    }
}

/// A table to be written, with the keys that lead to it.
struct Table<'t, T: Tree<'t>> {
    path: Vec<Cow<'t, str>>,
    entries: T::Entries,
    in_list: bool,
}

struct TomlWriter<'w, G> {
    out: &'w mut String,
    grow: &'w mut G,
    start: usize,
}

impl<E, G: FnMut(usize) -> Result<(), E>> TomlWriter<'_, G> {
    fn document<'t, T: Tree<'t>>(&mut self, entries: T::Entries) -> Result<(), Refused<E>> {
        let mut pending = vec![Table::<T> { path: Vec::new(), entries, in_list: false }];
        while let Some(table) = pending.pop() {
            if table.path.len() > MAX_DEPTH {
                return Err(Refused::Value("toml: the value contains itself".to_owned()));
            }
            self.header(&table);
            let tables = self.entries(&table)?;
            pending.extend(tables.into_iter().rev());
            (self.grow)(self.out.len())?;
        }
        Ok(())
    }

    /// Ends the line before, if there is one.
    fn new_line(&mut self) {
        if self.out.len() > self.start {
            self.out.push('\n');
        }
    }

    fn indent(&mut self, level: usize) {
        (1..level).for_each(|_| self.out.push_str("  "));
    }

    fn header<'t, T: Tree<'t>>(&mut self, table: &Table<'t, T>) {
        let level = table.path.len();
        if level == 0 {
            return;
        }
        if level == 1 || table.in_list {
            self.new_line();
        }
        self.indent(level);
        self.out.push_str(if table.in_list { "[[" } else { "[" });
        for (at, part) in table.path.iter().enumerate() {
            if at > 0 {
                self.out.push('.');
            }
            key(part, self.out);
        }
        self.out.push_str(if table.in_list { "]]\n" } else { "]\n" });
    }

    /// Writes the plain entries of a table. Returns its tables.
    fn entries<'t, T: Tree<'t>>(&mut self, table: &Table<'t, T>) -> Result<Vec<Table<'t, T>>, Refused<E>> {
        let mut tables = Vec::new();
        for (name, value) in sorted::<T>(table.entries.clone()) {
            let path = || table.path.iter().chain([&name]).cloned().collect();
            match value.node() {
                TreeNode::Null => {}
                TreeNode::Map(entries) => tables.push(Table { path: path(), entries, in_list: false }),
                TreeNode::List(items) => match maps::<T>(items).map_err(Refused::Value)? {
                    Some(maps) => {
                        tables.extend(maps.into_iter().map(|entries| Table { path: path(), entries, in_list: true }));
                    }
                    None => self.entry(table.path.len(), &name, value)?,
                },
                _ => self.entry(table.path.len(), &name, value)?,
            }
        }
        Ok(tables)
    }

    fn entry<'t>(&mut self, level: usize, name: &str, value: impl Tree<'t>) -> Result<(), Refused<E>> {
        self.indent(level + 1);
        key(name, self.out);
        self.out.push_str(" = ");
        inline(value, self.out, self.grow)?;
        self.out.push('\n');
        (self.grow)(self.out.len())?;
        Ok(())
    }
}

/// Returns the entries of a map by key.
fn sorted<'t, T: Tree<'t>>(entries: T::Entries) -> Vec<(Cow<'t, str>, T)> {
    let mut entries: Vec<_> = entries.map(|(key, value)| (key.to_text(), value)).collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries
}

/// Returns the maps of a list that holds only maps, and at least one.
fn maps<'t, T: Tree<'t>>(items: T::Items) -> Result<Option<Vec<T::Entries>>, String> {
    let length = items.len();
    let mut maps = Vec::with_capacity(length);
    for item in items {
        match item.node() {
            TreeNode::Null => return Err("toml: cannot encode array with nil element".to_owned()),
            TreeNode::Map(entries) => maps.push(entries),
            _ => {}
        }
    }
    Ok((!maps.is_empty() && maps.len() == length).then_some(maps))
}

/// A piece of a value in one line that is still to be written.
enum Piece<'t, T> {
    Text(&'static str),
    Key(Cow<'t, str>),
    Value(T, usize),
}

/// Writes a value in one line.
fn inline<'t, E>(
    tree: impl Tree<'t>,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    let mut pieces = vec![Piece::Value(tree, 0)];
    while let Some(piece) = pieces.pop() {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Key(name) => {
                key(&name, out);
                out.push_str(" = ");
            }
            Piece::Value(_, level) if level > MAX_DEPTH => {
                return Err(Refused::Value("toml: the value contains itself".to_owned()));
            }
            Piece::Value(tree, level) => match tree.node() {
                TreeNode::List(items) => list(items, level, &mut pieces).map_err(Refused::Value)?,
                TreeNode::Map(entries) => table(entries, level, &mut pieces).map_err(Refused::Value)?,
                node => scalar(node, out, grow)?,
            },
        }
        grow(out.len())?;
    }
    Ok(())
}

/// Adds the pieces of a list, last one first.
fn list<'t, T: Tree<'t>>(items: T::Items, level: usize, pieces: &mut Vec<Piece<'t, T>>) -> Result<(), String> {
    maps::<T>(items.clone())?;
    pieces.push(Piece::Text("]"));
    let items: Vec<_> = items.collect();
    for (at, item) in items.into_iter().enumerate().rev() {
        pieces.push(Piece::Value(item, level + 1));
        pieces.extend((at > 0).then_some(Piece::Text(", ")));
    }
    pieces.push(Piece::Text("["));
    Ok(())
}

/// Adds the pieces of a table in one line, last one first: plain entries come before tables.
fn table<'t, T: Tree<'t>>(entries: T::Entries, level: usize, pieces: &mut Vec<Piece<'t, T>>) -> Result<(), String> {
    let mut groups = [Vec::new(), Vec::new()];
    for (key, value) in sorted::<T>(entries) {
        let is_table = match value.node() {
            TreeNode::Map(_) => true,
            TreeNode::List(items) => maps::<T>(items)?.is_some(),
            TreeNode::Null => continue,
            _ => false,
        };
        groups[usize::from(is_table)].push((key, value));
    }
    pieces.push(Piece::Text("}"));
    let entries: Vec<_> = groups.into_iter().flatten().collect();
    for (at, (key, value)) in entries.into_iter().enumerate().rev() {
        pieces.extend([Piece::Value(value, level + 1), Piece::Key(key)]);
        pieces.extend((at > 0).then_some(Piece::Text(", ")));
    }
    pieces.push(Piece::Text("{"));
    Ok(())
}

fn scalar<'t, T: Tree<'t>, E>(
    node: TreeNode<'t, T>,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    match node {
        TreeNode::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        TreeNode::Int(n) => out.push_str(itoa::Buffer::new().format(n)),
        TreeNode::Uint(n) => out.push_str(itoa::Buffer::new().format(n)),
        TreeNode::Float(n) => out.push_str(&float(n)),
        TreeNode::Text(text) => {
            grow(out.len().saturating_add(text.as_str().len()))?;
            quoted(text.as_str(), out);
        }
        TreeNode::Octets(bytes) => {
            grow(out.len().saturating_add(bytes.len()))?;
            quoted(&lossy(bytes), out);
        }
        TreeNode::Made(text) => quoted(&text, out),
        TreeNode::Time(seconds, nanos) => out.push_str(&time_text(seconds, nanos)),
        TreeNode::Digits(text) => out.push_str(&text),
        TreeNode::Spelled(text) => out.push_str(text),
        TreeNode::Tagged(_, inner) => scalar(inner.node(), out, grow)?,
        TreeNode::Bytes(octets) => {
            let numbers: Vec<_> = octets.iter().map(u8::to_string).collect();
            out.push_str(&format!("[{}]", numbers.join(", ")));
        }
        TreeNode::Refused(kind) => return Err(Refused::Value(not_plain(kind))),
        // Null was refused or left out before.
        TreeNode::Null | TreeNode::List(_) | TreeNode::Map(_) => {}
    }
    Ok(())
}

fn float(n: f64) -> String {
    if !n.is_finite() {
        let name = if n.is_nan() { "nan" } else { "inf" };
        return format!("{}{name}", if n.is_sign_negative() { "-" } else { "" });
    }
    let text = shortest(n);
    if text.contains(['.', 'e']) { text } else { text + ".0" }
}

fn key(name: &str, out: &mut String) {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(is_bare) {
        return out.push_str(name);
    }
    quoted(name, out);
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c.is_ascii_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Maximum number of open brackets and dots of one entry, below the parser's own limits: dropping a deep value takes
/// stack.
const MAX_OPEN: usize = 79;

/// Reads a document.
///
/// # Errors
/// The message of the first error, with its line.
pub fn read<'v>(arena: &'v Arena, text: &str, numbers: Numbers) -> Result<Value<'v>, String> {
    if is_deep(text) {
        return Err(format!("toml: more than {MAX_OPEN} levels"));
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    if let Some(error) = errors.first() {
        let end = error.span().map_or(0, |span| span.start);
        return Err(message(text, end, error.message()));
    }
    table_of(arena, table.get_ref(), numbers)
}

/// Returns the message of an error at `end`, with its line and the key whose value is read there.
fn message(text: &str, end: usize, why: &str) -> String {
    let (before, behind) = text.split_at_checked(end).unwrap_or((text, ""));
    let line = 1 + before.matches('\n').count();
    let entry = before.rsplit('\n').next().unwrap_or("");
    let Some((key, value)) = entry.split_once('=') else { return format!("toml: line {line}: {why}") };
    let is_end = value.trim().is_empty() && behind.trim().is_empty();
    let why = if is_end { "unexpected EOF; expected value" } else { why };
    format!("toml: line {line} (last key \"{}\"): {why}", key.trim())
}

/// Returns `true` if brackets and dots nest too deep.
fn is_deep(text: &str) -> bool {
    // The depth of each open bracket, and of the current key.
    let (mut open, mut here) = (vec![0], 0);
    toml_parser::Source::new(text).lex().any(|token| {
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
        here > MAX_OPEN
    })
}

/// Converts a table. Its depth is bounded, so this may recurse.
fn table_of<'v>(arena: &'v Arena, table: &DeTable<'_>, numbers: Numbers) -> Result<Value<'v>, String> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table.iter() {
        entries.push((arena.copy_str(key.get_ref()), value_of(arena, value.get_ref(), numbers)?));
    }
    Ok(arena.map(&entries))
}

fn value_of<'v>(arena: &'v Arena, value: &DeValue<'_>, numbers: Numbers) -> Result<Value<'v>, String> {
    Ok(match value {
        DeValue::String(text) => arena.text(text),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            numbers.int(arena, number.map_err(|_| "toml: integer is out of the range of int64".to_owned())?)
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Datetime(given) => {
            let date = given.date.map_or(0, |date| days_of(date.year.into(), date.month.into(), date.day.into()));
            let (time, nanos) = given.time.map_or((0, 0), |time| {
                let minutes = i64::from(time.hour) * 60 + i64::from(time.minute);
                (minutes * 60 + i64::from(time.second.unwrap_or(0)), time.nanosecond.unwrap_or(0))
            });
            let offset = given.offset.map_or(0, |given| offset(&given.to_string()));
            arena.extended(Extended::Timestamp { seconds: date * 86_400 + time - offset, nanos })
        }
        DeValue::Array(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(|item| value_of(arena, item.get_ref(), numbers)).collect();
            arena.list(&items?)
        }
        DeValue::Table(table) => table_of(arena, table, numbers)?,
    })
}

/// Returns the seconds of an offset such as `+01:30` or `Z`.
fn offset(text: &str) -> i64 {
    let (hours, minutes) = text.split_once(':').unwrap_or(("0", "0"));
    let size = |digits: &str| digits.trim_start_matches(['+', '-']).parse::<i64>().unwrap_or(0);
    let seconds = size(hours) * 3600 + size(minutes) * 60;
    if text.starts_with('-') { -seconds } else { seconds }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::super::plain;
    use super::*;
    use crate::{Arena, Viewed};

    fn written(value: Value<'_>) -> Result<String, Refused<Infallible>> {
        let mut out = String::new();
        write(Viewed(value, &plain), &mut out, &mut |_| Ok(())).map(|()| out)
    }

    #[test]
    fn tables_follow_plain_entries() {
        let arena = Arena::new();
        let inner = arena.map(&[("c d", Value::Float(5.0))]);
        let rows = arena.list(&[inner, arena.map(&[("t", inner)])]);
        let map = arena.map(&[("m", inner), ("rows", rows), ("a", arena.text("x\"\n\u{1}")), ("n", Value::Null)]);
        let wanted = "a = \"x\\\"\\n\\u0001\"\n\n[m]\n  \"c d\" = 5.0\n\n[[rows]]\n  \"c d\" = 5.0\n\n[[rows]]\n  [rows.t]\n    \"c d\" = 5.0\n";
        assert_eq!(written(map).unwrap(), wanted);
        let mixed = arena.map(&[("l", arena.list(&[Value::Int(1), map]))]);
        let line = "l = [1, {a = \"x\\\"\\n\\u0001\", m = {\"c d\" = 5.0}, rows = [{\"c d\" = 5.0}, {t = {\"c d\" = 5.0}}]}]\n";
        assert_eq!(written(mixed).unwrap(), line);
    }

    #[test]
    fn null_in_a_list_is_refused() {
        let arena = Arena::new();
        let map = arena.map(&[("l", arena.list(&[Value::Null]))]);
        assert_eq!(written(map), Err(Refused::Value("toml: cannot encode array with nil element".to_owned())));
        assert_eq!(written(Value::Float(1e9)).unwrap(), "1e+09");
    }

    #[test]
    fn documents_are_read() {
        let arena = Arena::new();
        let text = "a = 0x1F\nb = 1.5\nd = 1979-05-27T07:32:00.5+01:00\n[c]\nl = [1, {x = true}]\n";
        let data = read(&arena, text, Numbers::Sized).unwrap().to_data();
        assert_eq!(
            serde_json::to_string(&data).unwrap(),
            r#"{"a":31,"b":1.5,"d":"1979-05-27T06:32:00.5Z","c":{"l":[1,{"x":true}]}}"#
        );
        assert!(
            read(&arena, "a = 1\nb = ", Numbers::Sized)
                .unwrap_err()
                .starts_with("toml: line 2 (last key \"b\"): unexpected EOF")
        );
        assert!(read(&arena, &format!("a = {}", "[".repeat(100_000)), Numbers::Sized).unwrap_err().contains("levels"));
        assert_eq!(days_of(1970, 1, 1), 0);
        assert_eq!(days_of(2000, 3, 1), 11_017);
    }
}
