//! The lines of an index in block form that belong to wanted charts.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read};

use super::{IndexFailure, MAX_PARSED};

/// Maximum length of a line.
const MAX_LINE: u64 = 4 << 20;

/// The entries of an index.
pub(super) enum Entries {
    /// A document with the entries of the wanted charts only.
    Found(String),
    /// The lines do not show which charts they belong to.
    OtherForm,
    /// The file is no index.
    NoIndex(&'static str),
}

/// The part of the document that a line is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A key beside the entries.
    Beside,
    /// The entries, before the first one.
    Begun,
    /// The entries, whose names are indented by so many spaces.
    Entries(usize),
}

/// Copies the lines of wanted charts.
pub(super) fn entries(mut input: impl BufRead, names: &BTreeSet<&str>) -> Result<Entries, IndexFailure> {
    let (mut part, mut is_wanted, mut has_keys) = (Part::Beside, false, false);
    let (mut found, mut line) = (String::from("entries:\n"), Vec::new());
    while next_line(&mut input, &mut line)? {
        let Ok(text) = std::str::from_utf8(&line) else { return Ok(Entries::NoIndex("it is not UTF-8")) };
        let body = text.trim_start_matches(' ');
        let indent = text.len() - body.len();
        let is_empty = body.trim_end().is_empty() || body.starts_with('#');
        if body.starts_with(['\t', '\u{feff}']) || !has_keys && body.starts_with(['{', '[']) {
            return Ok(Entries::OtherForm);
        }
        match part {
            _ if is_empty => {}
            Part::Begun if indent > 0 => part = Part::Entries(indent),
            Part::Begun | Part::Entries(_) if indent == 0 => (part, is_wanted) = (Part::Beside, false),
            Part::Entries(names) if indent < names => return Ok(Entries::OtherForm),
            _ => {}
        }
        match part {
            Part::Beside if indent == 0 && !is_empty => match top_level(body.trim_end()) {
                Some(true) => (part, has_keys) = (Part::Begun, true),
                Some(false) => has_keys = true,
                None if is_mark(body) => {}
                None => return Ok(Entries::OtherForm),
            },
            Part::Entries(own) if indent == own && !is_empty && !is_item(body) => match name(body.trim_end()) {
                Some(name) => is_wanted = names.contains(name),
                None => return Ok(Entries::OtherForm),
            },
            _ => {}
        }
        if is_wanted {
            found.push_str(text);
            if found.len() as u64 > MAX_PARSED {
                return Err(IndexFailure::TooLong(MAX_PARSED));
            }
        }
    }
    Ok(if has_keys { Entries::Found(found) } else { Entries::NoIndex("it is empty") })
}

/// Reads a line with its end. Returns `false` at the end of the file.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    input.by_ref().take(MAX_LINE).read_until(b'\n', line)?;
    if line.len() as u64 == MAX_LINE {
        return Err(io::Error::other("a line is longer than 4 MiB"));
    }
    Ok(!line.is_empty())
}

/// Returns `true` for the line before the entries, and `false` for another key. `None` for other lines.
fn top_level(line: &str) -> Option<bool> {
    let (key, value) = line.split_once(':')?;
    let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let value = value.trim_start();
    let has_value = !value.is_empty() && !value.starts_with('#');
    match key {
        "entries" if has_value => None,
        _ if !is_plain => None,
        key => Some(key == "entries"),
    }
}

/// Returns `true` for the mark of a document, and an item of a list of a key beside the entries.
fn is_mark(line: &str) -> bool {
    line.starts_with("---") && line.trim_end().len() == 3 || line.starts_with("--- #") || is_item(line)
}

fn is_item(line: &str) -> bool {
    line.strip_prefix('-').is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with(' '))
}

/// Returns the name of a chart in front of its entries.
fn name(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(':')?;
    let name = ['"', '\''].iter().find_map(|quote| name.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(name);
    let is_plain = |c: char| c.is_alphanumeric() || "._-/+".contains(c);
    (!name.is_empty() && name.chars().all(is_plain)).then_some(name)
}
