//! Parsing `--set` expressions: one pass, without recursion.

use std::sync::Arc;

use super::{Action, Assignment, MAX_INDEX, MAX_NESTING, SetKind};
use crate::mistake::Mistake;
use crate::{Data, Step, json_mistake};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};

/// Parses one expression. `read_file` returns the text of a file, for [`SetKind::File`].
///
/// # Errors
/// `input.bad_set` if the text does not follow the grammar; errors of `read_file`.
pub fn parse_set(
    kind: SetKind,
    text: &str,
    read_file: &mut dyn FnMut(&str) -> Result<String>,
) -> Result<Vec<Assignment>> {
    parse_set_in(Rules::Deletes, kind, text, read_file)
}

/// The rules in which users of the grammar differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// A null deletes the key, an empty name is an error, and a whole JSON object is merged.
    Deletes,
    /// A null is a value like any other, and an assignment to or below an empty name does nothing.
    Assigns,
}

/// Works like [`parse_set`], by these rules.
///
/// # Errors
/// See [`parse_set`].
pub fn parse_set_in(
    rules: Rules,
    kind: SetKind,
    text: &str,
    read_file: &mut dyn FnMut(&str) -> Result<String>,
) -> Result<Vec<Assignment>> {
    if rules == Rules::Deletes && kind == SetKind::Json && text.trim_start().starts_with('{') {
        return whole_object(text);
    }
    let ends = if kind == SetKind::Literal { LITERAL } else { ASSIGNMENT };
    let mut parser = SetParser::new((rules, kind), ends, kind.shown(text), text, read_file);
    while !parser.rest.is_empty() {
        parser.assignment()?;
    }
    Ok(parser.found)
}

impl Assignment {
    /// Returns the assignment of a value to a path with the grammar of `--set`. A null deletes a key. `origin` names the
    /// assignment in errors.
    ///
    /// ```
    /// use dropforge::bulk::values::{Assignment, Gaps};
    /// use dropforge::value::{Data, DataMap};
    /// let mut map = DataMap::default();
    /// let ports = Data::List(vec![Data::Int(80)]);
    /// Assignment::of_value("a\\.b.ports", ports, "`set`").unwrap().apply(&mut map, &mut Gaps::default()).unwrap();
    /// assert_eq!(serde_json::to_string(&Data::Map(map)).unwrap(), r#"{"a.b":{"ports":[80]}}"#);
    /// ```
    ///
    /// # Errors
    /// `input.bad_set` if the path does not follow the grammar.
    pub fn of_value(path: &str, value: Data, origin: &str) -> Result<Self> {
        let origin: Arc<str> = origin.into();
        Ok(set_to(parse_path(path, &origin)?, value, origin))
    }
}

/// Parses the path of an assignment alone. `=` and `,` in it are literal.
///
/// # Errors
/// `input.bad_set` if the text does not follow the grammar.
pub fn parse_path(text: &str, origin: &Arc<str>) -> Result<Vec<Step>> {
    let (kind, mut no_file) = (SetKind::Literal, |_: &str| Ok(String::new()));
    let mut parser = SetParser::new((Rules::Deletes, kind), PATH, origin.clone(), text, &mut no_file);
    parser.assignment().map(|()| parser.path)
}

fn whole_object(text: &str) -> Result<Vec<Assignment>> {
    let origin = SetKind::Json.shown(text);
    let data = Data::of_json(text).map_err(|error| bad_json(&origin, text, &error))?;
    let map = data.into_map().unwrap_or_default();
    let one = |(key, value): (String, Data)| Assignment {
        path: vec![Step::Key(key)],
        action: match value.try_into_map() {
            Ok(map) => Action::Merge(map),
            Err(Data::Null) => Action::Delete,
            Err(other) => Action::Set(other),
        },
        origin: origin.clone(),
    };
    Ok(map.into_iter().map(one).collect())
}

fn bad_set(origin: &str, why: &str) -> Box<Diagnostic> {
    let help = "use NAME=VALUE, separate assignments with commas, and write `\\,` for a literal comma";
    Diagnostic::new(Code::BadSet, format!("`{origin}`: {why}")).with_help(help)
}

/// Returns the error of a text that is not JSON.
fn bad_json(origin: &str, text: &str, error: &serde_json::Error) -> Box<Diagnostic> {
    let Mistake { what, help, .. } = json_mistake(text, error);
    let error = bad_set(origin, &format!("invalid JSON: {what}"));
    error.with_help(
        help.unwrap_or_else(|| "give a value as JSON: `--set-json 'NAME={\"key\": [1, \"text\"]}'`".to_owned()),
    )
}

/// Characters that end a name of an assignment.
const ASSIGNMENT: &[char] = &['=', '[', ',', '.'];
/// Characters that end a name before a literal text, and what follows an index.
const LITERAL: &[char] = &['=', '[', '.'];
/// Characters that end a name of a path without a value.
const PATH: &[char] = &['[', '.'];

struct SetParser<'t> {
    rules: Rules,
    kind: SetKind,
    /// The characters that end a name.
    ends: &'static [char],
    origin: Arc<str>,
    rest: &'t str,
    read_file: &'t mut dyn FnMut(&str) -> Result<String>,
    path: Vec<Step>,
    found: Vec<Assignment>,
}

impl<'t> SetParser<'t> {
    fn new(
        (rules, kind): (Rules, SetKind),
        ends: &'static [char],
        origin: Arc<str>,
        rest: &'t str,
        read_file: &'t mut dyn FnMut(&str) -> Result<String>,
    ) -> Self {
        Self { rules, kind, ends, origin, rest, read_file, path: Vec::new(), found: Vec::new() }
    }

    /// Fails. The fields `reason` and `part` are for programs: the kind of fault and the text that has it.
    fn fail<T>(&self, reason: &'static str, part: &str, why: impl AsRef<str>) -> Result<T> {
        Err(bad_set(&self.origin, why.as_ref()).with_field("reason", reason).with_field("part", part))
    }

    /// Reads up to one of `stops`, which is consumed. A backslash escapes the next character, but not before a literal
    /// text.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let escapes = self.ends != LITERAL;
        let mut text = String::new();
        let mut chars = self.rest.chars();
        while let Some(c) = chars.next() {
            if stops.contains(&c) {
                self.rest = chars.as_str();
                return (text, Some(c));
            }
            match c {
                '\\' if escapes => text.extend(chars.next()),
                _ => text.push(c),
            }
        }
        self.rest = "";
        (text, None)
    }

    fn assignment(&mut self) -> Result<()> {
        self.path.clear();
        loop {
            let (key, stop) = self.until(self.ends);
            if key.is_empty() && stop != Some(',') {
                match (self.rules, self.path.last()) {
                    // What follows is read, and assigned to nothing.
                    (Rules::Assigns, None) if matches!(stop, Some('=' | '.')) => {}
                    (Rules::Assigns, Some(_)) if stop.is_none() => return Ok(()),
                    (_, outer) => {
                        let outer = outer.and_then(Step::key).unwrap_or_default().to_owned();
                        return self.fail("empty_name", &outer, "empty name");
                    }
                }
            }
            self.step(Step::Key(key.clone()))?;
            match stop {
                Some('=') => return self.value(),
                Some('.') => {}
                Some('[') => {
                    if self.indexes()? {
                        return Ok(());
                    }
                }
                Some(_) => return self.fail("comma", &key, format!("`{key}` has no value before the comma")),
                None if self.ends == PATH => return Ok(()),
                None => return self.fail("no_value", &key, format!("`{key}` has no value")),
            }
        }
    }

    fn step(&mut self, step: Step) -> Result<()> {
        if self.path.len() > MAX_NESTING {
            return self.fail("nesting", "", format!("more than {MAX_NESTING} nested names"));
        }
        self.path.push(step);
        Ok(())
    }

    /// Reads indexes after `[`. Returns `true` if the assignment is complete, `false` if a name follows.
    fn indexes(&mut self) -> Result<bool> {
        let ends = if self.ends == PATH { PATH } else { LITERAL };
        loop {
            let index = self.index()?;
            if self.rest.is_empty() && self.ends != PATH {
                self.assign(Action::MakeList);
                return Ok(true);
            }
            self.step(Step::Index(index))?;
            if self.rest.is_empty() {
                return Ok(true);
            }
            let (between, stop) = self.until(ends);
            if !between.is_empty() {
                return self.fail("after_index", &between, format!("unexpected `{between}` after an index"));
            }
            match stop {
                Some('=') => return self.value().map(|()| true),
                Some('.') => return Ok(false),
                _ => {}
            }
        }
    }

    /// Reads an index and `]`.
    fn index(&mut self) -> Result<usize> {
        let (digits, close) = self.until(&[']']);
        if close.is_none() {
            return self.fail("unclosed_index", &digits, "unclosed `[`");
        }
        match digits.parse::<usize>() {
            Ok(index) if index <= MAX_INDEX => Ok(index),
            Ok(_) => self.fail("index", &digits, format!("index {digits} is greater than {}", thousands(MAX_INDEX))),
            Err(_) => self.fail("index", &digits, format!("invalid index `{digits}`")),
        }
    }

    fn value(&mut self) -> Result<()> {
        let value = match self.kind {
            SetKind::Json => self.json()?,
            SetKind::Literal => Data::Str(std::mem::take(&mut self.rest).to_owned()),
            _ => match self.rest.strip_prefix('{') {
                Some(rest) => {
                    self.rest = rest;
                    self.list()?
                }
                None => {
                    let (text, _) = self.until(&[',']);
                    self.scalar(text)?
                }
            },
        };
        self.assign(match self.rules {
            Rules::Deletes => set_or_delete(&self.path, value),
            Rules::Assigns => Action::Set(value),
        });
        Ok(())
    }

    /// Adds the assignment to the path, unless it is below an empty name.
    fn assign(&mut self, action: Action) {
        let path = std::mem::take(&mut self.path);
        if path.first().and_then(Step::key) != Some("") {
            self.found.push(Assignment { path, action, origin: self.origin.clone() });
        }
    }

    fn scalar(&mut self, text: String) -> Result<Data> {
        match self.kind {
            SetKind::File => (self.read_file)(&text).map(Data::Str),
            SetKind::Typed => Ok(typed(text)),
            _ => Ok(Data::Str(text)),
        }
    }

    fn list(&mut self) -> Result<Data> {
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.until(&[',', '}']);
            let Some(stop) = stop else { return self.fail("unclosed_list", "", "unclosed `{`") };
            items.push(self.scalar(text)?);
            if stop == '}' {
                self.rest = self.rest.strip_prefix(',').unwrap_or(self.rest);
                return Ok(Data::List(items));
            }
        }
    }

    fn json(&mut self) -> Result<Data> {
        let text = self.rest.trim_start();
        let mut value = Data::Null;
        let mut rest = text;
        if !text.is_empty() && !text.starts_with(',') {
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<Data>();
            value = match values.next() {
                Some(Ok(value)) => value,
                Some(Err(error)) => {
                    return Err(bad_json(&self.origin, text, &error)
                        .with_field("reason", "json")
                        .with_field("part", ""));
                }
                None => Data::Null,
            };
            let (json, after) = text.split_at(values.byte_offset());
            value = Data::of_json(json).unwrap_or(value);
            rest = after.trim_start();
        }
        self.rest = rest.strip_prefix(',').unwrap_or(rest);
        Ok(value)
    }
}

/// Returns the assignment of a value, which deletes if it is null.
pub fn set_to(path: Vec<Step>, value: Data, origin: Arc<str>) -> Assignment {
    let action = set_or_delete(&path, value);
    Assignment { path, action, origin }
}

/// Null deletes a key, but stays in a list: deleting an item would move the others.
fn set_or_delete(path: &[Step], value: Data) -> Action {
    match path.last() {
        Some(Step::Key(_)) if value == Data::Null => Action::Delete,
        _ => Action::Set(value),
    }
}

/// Types text as `--set` does. A number that begins with `0` stays a string, so `00123` keeps its digits.
pub fn typed(text: String) -> Data {
    match () {
        () if text.eq_ignore_ascii_case("true") => Data::Bool(true),
        () if text.eq_ignore_ascii_case("false") => Data::Bool(false),
        () if text.eq_ignore_ascii_case("null") => Data::Null,
        () if text == "0" => Data::Int(0),
        () if text.starts_with('0') => Data::Str(text),
        () => text.parse().map_or(Data::Str(text), Data::Int),
    }
}
