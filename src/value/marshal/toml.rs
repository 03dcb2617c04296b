//! Writes TOML: plain entries of a table first, then its tables, each indented by its level.

use super::{MAX_DEPTH, Plain, Refused, lossy};
use crate::{Map, Value};
use dropforge_base::stdlib::float_format::shortest;

/// Appends `value` to `out`. A value that is not a map is written like the value of an entry. `grow` receives the length
/// of `out` after each entry and may stop the writing.
///
/// # Errors
/// Null, also within lists, values that the view refuses, and values that contain themselves.
pub fn write<'v, E>(
    value: Value<'v>,
    view: &dyn Fn(Value<'v>) -> Plain<'v>,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    match view(value) {
        Plain::Map(map) | Plain::Fields(map) => {
            let start = out.len();
            Writer { view, out, grow, start }.document(map)
        }
        Plain::Null => Err(Refused::Value("reflect: call of reflect.Value.Type on zero Value".to_owned())),
        _ => inline(value, view, out, grow),
    }
}

/// A table to be written, with the keys that lead to it.
struct Table<'v> {
    path: Vec<&'v str>,
    map: &'v Map<'v>,
    in_list: bool,
}

struct Writer<'w, 'v, G> {
    view: &'w dyn Fn(Value<'v>) -> Plain<'v>,
    out: &'w mut String,
    grow: &'w mut G,
    start: usize,
}

impl<'v, E, G: FnMut(usize) -> Result<(), E>> Writer<'_, 'v, G> {
    fn document(&mut self, map: &'v Map<'v>) -> Result<(), Refused<E>> {
        let mut pending = vec![Table { path: Vec::new(), map, in_list: false }];
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

    fn header(&mut self, table: &Table<'v>) {
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
    fn entries(&mut self, table: &Table<'v>) -> Result<Vec<Table<'v>>, Refused<E>> {
        let mut tables = Vec::new();
        for (name, value) in table.map.iter_sorted() {
            let path = || table.path.iter().copied().chain([name]).collect();
            match (self.view)(value) {
                Plain::Null => {}
                Plain::Map(map) | Plain::Fields(map) => tables.push(Table { path: path(), map, in_list: false }),
                Plain::List(items) => match maps(items, self.view).map_err(Refused::Value)? {
                    Some(maps) => {
                        tables.extend(maps.into_iter().map(|map| Table { path: path(), map, in_list: true }));
                    }
                    None => self.entry(table, name, value)?,
                },
                _ => self.entry(table, name, value)?,
            }
        }
        Ok(tables)
    }

    fn entry(&mut self, table: &Table<'v>, name: &str, value: Value<'v>) -> Result<(), Refused<E>> {
        self.indent(table.path.len() + 1);
        key(name, self.out);
        self.out.push_str(" = ");
        inline(value, self.view, self.out, self.grow)?;
        self.out.push('\n');
        (self.grow)(self.out.len())?;
        Ok(())
    }
}

/// Returns the maps of a list that holds only maps, and at least one.
fn maps<'v>(items: &'v [Value<'v>], view: &dyn Fn(Value<'v>) -> Plain<'v>) -> Result<Option<Vec<&'v Map<'v>>>, String> {
    let mut maps = Vec::with_capacity(items.len());
    for item in items {
        match view(*item) {
            Plain::Null => return Err("toml: cannot encode array with nil element".to_owned()),
            Plain::Map(map) | Plain::Fields(map) => maps.push(map),
            _ => {}
        }
    }
    Ok((!maps.is_empty() && maps.len() == items.len()).then_some(maps))
}

/// A part of a value in one line that is still to be written.
enum Part<'v> {
    Text(&'static str),
    Key(&'v str),
    Value(Value<'v>, usize),
}

/// Writes a value in one line.
fn inline<'v, E>(
    value: Value<'v>,
    view: &dyn Fn(Value<'v>) -> Plain<'v>,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    let mut parts = vec![Part::Value(value, 0)];
    while let Some(part) = parts.pop() {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Key(name) => {
                key(name, out);
                out.push_str(" = ");
            }
            Part::Value(_, level) if level > MAX_DEPTH => {
                return Err(Refused::Value("toml: the value contains itself".to_owned()));
            }
            Part::Value(value, level) => match view(value) {
                Plain::List(items) => list(items, view, level, &mut parts).map_err(Refused::Value)?,
                Plain::Map(map) | Plain::Fields(map) => table(map, view, level, &mut parts).map_err(Refused::Value)?,
                plain => scalar(plain, out, grow)?,
            },
        }
        grow(out.len())?;
    }
    Ok(())
}

/// Adds the parts of a list, last one first.
fn list<'v>(
    items: &'v [Value<'v>],
    view: &dyn Fn(Value<'v>) -> Plain<'v>,
    level: usize,
    parts: &mut Vec<Part<'v>>,
) -> Result<(), String> {
    maps(items, view)?;
    parts.push(Part::Text("]"));
    for (at, item) in items.iter().enumerate().rev() {
        parts.push(Part::Value(*item, level + 1));
        parts.extend((at > 0).then_some(Part::Text(", ")));
    }
    parts.push(Part::Text("["));
    Ok(())
}

/// Adds the parts of a table in one line, last one first: plain entries come before tables.
fn table<'v>(
    map: &'v Map<'v>,
    view: &dyn Fn(Value<'v>) -> Plain<'v>,
    level: usize,
    parts: &mut Vec<Part<'v>>,
) -> Result<(), String> {
    let mut groups = [Vec::new(), Vec::new()];
    for (key, value) in map.iter_sorted() {
        let is_table = match view(value) {
            Plain::Map(_) | Plain::Fields(_) => true,
            Plain::List(items) => maps(items, view)?.is_some(),
            Plain::Null => continue,
            _ => false,
        };
        groups[usize::from(is_table)].push((key, value));
    }
    parts.push(Part::Text("}"));
    let entries: Vec<_> = groups.into_iter().flatten().collect();
    for (at, (key, value)) in entries.into_iter().enumerate().rev() {
        parts.extend([Part::Value(value, level + 1), Part::Key(key)]);
        parts.extend((at > 0).then_some(Part::Text(", ")));
    }
    parts.push(Part::Text("{"));
    Ok(())
}

fn scalar<E>(
    value: Plain<'_>,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    match value {
        Plain::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        Plain::Int(n) => out.push_str(itoa::Buffer::new().format(n)),
        Plain::Uint(n) => out.push_str(itoa::Buffer::new().format(n)),
        Plain::Float(n) => out.push_str(&float(n)),
        Plain::Text(bytes) => {
            grow(out.len().saturating_add(bytes.len()))?;
            quoted(&lossy(&bytes), out);
        }
        Plain::Time(time) => out.push_str(&time),
        Plain::Bytes(octets) => {
            let numbers: Vec<_> = octets.iter().map(u8::to_string).collect();
            out.push_str(&format!("[{}]", numbers.join(", ")));
        }
        Plain::Refused(why) => return Err(Refused::Value(why)),
        // Null was refused or left out before.
        Plain::Null | Plain::List(_) | Plain::Map(_) | Plain::Fields(_) => {}
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::super::plain;
    use super::*;
    use crate::Arena;

    fn written(value: Value<'_>) -> Result<String, Refused<Infallible>> {
        let mut out = String::new();
        write(value, &plain, &mut out, &mut |_| Ok(())).map(|()| out)
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
}
