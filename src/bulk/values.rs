//! Values from the command line: the grammar of Helm's `--set` family, and the deep merge of `-f` files.
//!
//! An expression is read once into [`Assignment`]s and then applied to any number of maps, because a `--set`
//! counts for the shared layer and for every cluster that brings its own value of the same top-level key.
//!
//! The grammar is Helm's: `a.b=1,c={x,y}`, `a[0].b=2`, `\,` for a literal comma; at most 30 names below one
//! another and indexes up to 65,536. `null` deletes a key.

use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::{Data, DataMap};

/// The largest index of a list.
pub const MAX_INDEX: usize = 65_536;
/// The most names and indexes in one path.
pub const MAX_NESTING: usize = 30;

/// How the text behind `=` becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetKind {
    /// `--set`: booleans, `null` and whole numbers are recognised, all else is text.
    Typed,
    /// `--set-string`: always text.
    Text,
    /// `--set-json`: JSON; a whole object without `name=` is merged deeply.
    Json,
    /// `--set-file`: the text of the file named.
    File,
    /// `--set-literal`: one `name=text`, the text taken as it is.
    Literal,
}

impl SetKind {
    /// The option as it is typed.
    pub fn flag(self) -> &'static str {
        match self {
            SetKind::Typed => "--set",
            SetKind::Text => "--set-string",
            SetKind::Json => "--set-json",
            SetKind::File => "--set-file",
            SetKind::Literal => "--set-literal",
        }
    }
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// What is done at the end of a path.
#[derive(Debug, Clone, PartialEq)]
enum Action {
    Set(Data),
    Delete,
    /// `a[0]` without a value: `a` becomes a list if it is nothing yet.
    MakeList,
    Merge(DataMap),
}

/// One value and where it goes.
///
/// ```
/// use dropforge::bulk::values::{parse_set, SetKind};
/// use dropforge::value::{Data, DataMap};
/// let mut map = DataMap::new();
/// for assignment in parse_set(SetKind::Typed, "image.tag=v2,hosts[1]=b", &mut |_| unreachable!()).unwrap() {
///     assignment.apply(&mut map).unwrap();
/// }
/// assert_eq!(serde_json::to_string(&Data::Map(map)).unwrap(), r#"{"image":{"tag":"v2"},"hosts":[null,"b"]}"#);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    path: Vec<Step>,
    action: Action,
    /// The option and its text, for errors.
    origin: String,
}

/// Reads one expression. `read_file` gives the text of a file for [`SetKind::File`].
///
/// # Errors
/// `input.bad_set` where the text does not follow the grammar; whatever `read_file` returns.
pub fn parse_set(
    kind: SetKind,
    text: &str,
    read_file: &mut dyn FnMut(&str) -> Result<String>,
) -> Result<Vec<Assignment>> {
    if kind == SetKind::Json && text.trim_start().starts_with('{') {
        return whole_object(text);
    }
    let mut parser = Parser { kind, text, rest: text, read_file, path: Vec::new(), found: Vec::new() };
    while !parser.rest.is_empty() {
        parser.assignment()?;
    }
    Ok(parser.found)
}

fn whole_object(text: &str) -> Result<Vec<Assignment>> {
    let data: Data = serde_json::from_str(text).map_err(|error| bad_set(SetKind::Json, text, &error.to_string()))?;
    let map = data.into_map().unwrap_or_default();
    let origin = format!("{} {text}", SetKind::Json.flag());
    let one = |(key, value)| Assignment {
        path: vec![Step::Key(key)],
        action: match value {
            Data::Null => Action::Delete,
            Data::Map(map) => Action::Merge(map),
            other => Action::Set(other),
        },
        origin: origin.clone(),
    };
    Ok(map.into_iter().map(one).collect())
}

fn bad_set(kind: SetKind, text: &str, why: &str) -> Box<Diagnostic> {
    let shown: String = text.chars().take(200).collect();
    Diagnostic::new(Code::BadSet, format!("`{} {shown}`: {why}", kind.flag()))
        .with_help("write name=value; separate several by commas, and write `\\,` for a comma within a value")
}

struct Parser<'t> {
    kind: SetKind,
    text: &'t str,
    rest: &'t str,
    read_file: &'t mut dyn FnMut(&str) -> Result<String>,
    path: Vec<Step>,
    found: Vec<Assignment>,
}

impl Parser<'_> {
    fn fail<T>(&self, why: impl AsRef<str>) -> Result<T> {
        Err(bad_set(self.kind, self.text, why.as_ref()))
    }

    /// The text up to one of `stops`, which is consumed; a backslash takes the next character as it is.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut text = String::new();
        let mut chars = self.rest.chars();
        while let Some(c) = chars.next() {
            if stops.contains(&c) {
                self.rest = chars.as_str();
                return (text, Some(c));
            }
            match c {
                '\\' => text.extend(chars.next()),
                _ => text.push(c),
            }
        }
        self.rest = "";
        (text, None)
    }

    fn assignment(&mut self) -> Result<()> {
        self.path.clear();
        loop {
            let (key, stop) = self.until(&['=', '[', ',', '.']);
            if key.is_empty() {
                return self.fail("a name is empty");
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
                Some(_) => return self.fail(format!("`{key}` has no value (it cannot end with a comma)")),
                None => return self.fail(format!("`{key}` has no value")),
            }
        }
    }

    fn step(&mut self, step: Step) -> Result<()> {
        if self.path.len() > MAX_NESTING {
            return self.fail(format!("names nest deeper than {MAX_NESTING}"));
        }
        self.path.push(step);
        Ok(())
    }

    /// The indexes behind `[`; true when the assignment is complete, false when a name follows.
    fn indexes(&mut self) -> Result<bool> {
        loop {
            let (digits, close) = self.until(&[']']);
            if close.is_none() {
                return self.fail("`[` without `]`");
            }
            let index = match digits.parse::<usize>() {
                Ok(index) if index <= MAX_INDEX => index,
                Ok(_) => return self.fail(format!("index {digits} is greater than {MAX_INDEX}")),
                Err(_) => return self.fail(format!("`{digits}` is not an index")),
            };
            if self.rest.is_empty() {
                self.push(Action::MakeList);
                return Ok(true);
            }
            self.step(Step::Index(index))?;
            let (between, stop) = self.until(&['[', '.', '=']);
            if !between.is_empty() {
                return self.fail(format!("`{between}` after an index"));
            }
            match stop {
                Some('=') => return self.value().map(|()| true),
                Some('.') => return Ok(false),
                _ => {}
            }
        }
    }

    fn push(&mut self, action: Action) {
        let origin = format!("{} {}", self.kind.flag(), self.text);
        self.found.push(Assignment { path: std::mem::take(&mut self.path), action, origin });
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
        // Within a list an item cannot be taken away without moving the others: there null stays.
        let deletes = value == Data::Null && matches!(self.path.last(), Some(Step::Key(_)));
        self.push(if deletes { Action::Delete } else { Action::Set(value) });
        Ok(())
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
            let Some(stop) = stop else { return self.fail("a list must end with `}`") };
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
                Some(Err(error)) => return self.fail(format!("not JSON: {error}")),
                None => Data::Null,
            };
            rest = text.get(values.byte_offset()..).unwrap_or("").trim_start();
        }
        self.rest = rest.strip_prefix(',').unwrap_or(rest);
        Ok(value)
    }
}

/// Text as Helm types it: a number that begins with `0` stays text, so that `00123` keeps its digits.
fn typed(text: String) -> Data {
    match () {
        () if text.eq_ignore_ascii_case("true") => Data::Bool(true),
        () if text.eq_ignore_ascii_case("false") => Data::Bool(false),
        () if text.eq_ignore_ascii_case("null") => Data::Null,
        () if text == "0" => Data::Int(0),
        () if text.starts_with('0') => Data::Str(text),
        () => text.parse().map_or(Data::Str(text), Data::Int),
    }
}

impl Assignment {
    /// The top-level key it changes.
    pub fn top(&self) -> &str {
        match self.path.first() {
            Some(Step::Key(key)) => key,
            _ => "",
        }
    }

    /// Applies it to `map`.
    ///
    /// # Errors
    /// `input.set_conflict` where the path leads through a value that is neither missing, null nor of the
    /// kind the next step needs.
    pub fn apply(&self, map: &mut DataMap) -> Result<()> {
        if self.action == Action::Delete {
            self.delete(map);
            return Ok(());
        }
        let (Some(Step::Key(top)), Some(rest)) = (self.path.first(), self.path.get(1..)) else { return Ok(()) };
        let mut here = map.entry(top.clone()).or_default();
        for (at, step) in rest.iter().enumerate() {
            let inside_list = matches!(self.path.get(at), Some(Step::Index(_)));
            here = match step {
                Step::Key(key) => as_map(here, inside_list).map(|map| map.entry(key.clone()).or_default()),
                Step::Index(index) => item(here, *index),
            }
            .map_err(|kind| self.conflict(at, kind))?;
        }
        self.finish(here)
    }

    /// Takes the key at the end of the path away; makes nothing on the way there.
    fn delete(&self, map: &mut DataMap) {
        let Some((Step::Key(last), way)) = self.path.split_last() else { return };
        let Some((Step::Key(top), way)) = way.split_first() else {
            map.shift_remove(last);
            return;
        };
        let mut here = map.get_mut(top);
        for step in way {
            here = match (step, here) {
                (Step::Key(key), Some(Data::Map(map))) => map.get_mut(key),
                (Step::Index(index), Some(Data::List(items))) => items.get_mut(*index),
                _ => None,
            };
        }
        if let Some(Data::Map(map)) = here {
            map.shift_remove(last);
        }
    }

    fn finish(&self, here: &mut Data) -> Result<()> {
        match &self.action {
            Action::Set(value) => *here = value.clone(),
            Action::Delete => {}
            Action::MakeList => match here {
                Data::Null => *here = Data::List(Vec::new()),
                Data::List(_) => {}
                other => return Err(self.conflict(self.path.len().saturating_sub(1), other.kind())),
            },
            Action::Merge(over) => match here {
                Data::Map(map) => merge(map, over.clone()),
                other => *other = Data::Map(over.clone()),
            },
        }
        Ok(())
    }

    fn conflict(&self, at: usize, kind: &'static str) -> Box<Diagnostic> {
        let mut path = String::new();
        for step in self.path.iter().take(at + 1) {
            match step {
                Step::Key(key) if path.is_empty() => path.push_str(key),
                Step::Key(key) => path.extend([".", key]),
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        Diagnostic::new(Code::SetConflict, format!("`{}`: `{path}` is a {kind}", self.origin))
            .with_help(format!("set `{path}` as a whole, or leave out what follows it"))
    }
}

/// The map to go on in. In a list an item of another kind gives way, as it does in Helm.
fn as_map(here: &mut Data, inside_list: bool) -> std::result::Result<&mut DataMap, &'static str> {
    if *here == Data::Null || (inside_list && here.as_map().is_none()) {
        *here = Data::Map(DataMap::new());
    }
    match here {
        Data::Map(map) => Ok(map),
        other => Err(other.kind()),
    }
}

fn item(here: &mut Data, index: usize) -> std::result::Result<&mut Data, &'static str> {
    if *here == Data::Null {
        *here = Data::List(Vec::new());
    }
    let Data::List(items) = here else { return Err(here.kind()) };
    if items.len() <= index {
        items.resize(index + 1, Data::Null);
    }
    items.get_mut(index).ok_or("list")
}

/// Lays `over` on `base`: maps merge key by key, anything else replaces what was there.
///
/// ```
/// use dropforge::{bulk::values::merge, value::Data};
/// let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
/// let mut base = map(r#"{"a": {"x": 1, "y": 2}, "b": [1, 2]}"#);
/// merge(&mut base, map(r#"{"a": {"y": 3}, "b": [9]}"#));
/// assert_eq!(base, map(r#"{"a": {"x": 1, "y": 3}, "b": [9]}"#));
/// ```
pub fn merge(base: &mut DataMap, over: DataMap) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Data::Map(below)), Data::Map(above)) => merge(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(kind: SetKind, base: &str, text: &str) -> std::result::Result<String, Code> {
        let mut map = serde_json::from_str::<Data>(base).unwrap().into_map().unwrap();
        let mut read = |name: &str| Ok(format!("<{name}>"));
        for assignment in parse_set(kind, text, &mut read).map_err(|error| error.code)? {
            assignment.apply(&mut map).map_err(|error| error.code)?;
        }
        Ok(serde_json::to_string(&Data::Map(map)).unwrap())
    }

    #[test]
    fn typed_values() {
        let cases = [
            ("a=1,b=x", r#"{"a":1,"b":"x"}"#),
            ("a=1,", r#"{"a":1}"#),
            ("a=,b=2", r#"{"a":"","b":2}"#),
            ("a=", r#"{"a":""}"#),
            ("a=TRUE,b=False", r#"{"a":true,"b":false}"#),
            ("a=007,b=0,c=-5,d=+5,e=1.5", r#"{"a":"007","b":0,"c":-5,"d":5,"e":"1.5"}"#),
            ("a=9223372036854775808", r#"{"a":"9223372036854775808"}"#),
            (r"a=x\,y,b=c\\d", r#"{"a":"x,y","b":"c\\d"}"#),
            (r"a\.b=1", r#"{"a.b":1}"#),
            ("a=b=c", r#"{"a":"b=c"}"#),
            ("a={x,1,null},b={}", r#"{"a":["x",1,null],"b":[""]}"#),
            (r"a={x\,y,z}", r#"{"a":["x,y","z"]}"#),
            ("a[0]=x,a[2]=y", r#"{"a":["x",null,"y"]}"#),
            ("a[0].b=1,a[0].c=2", r#"{"a":[{"b":1,"c":2}]}"#),
            ("a[1][0]=1", r#"{"a":[null,[1]]}"#),
            ("a[0]={x}", r#"{"a":[["x"]]}"#),
            ("a[3]", r#"{"a":[]}"#),
            ("a.b.c=1,a.b.d=2", r#"{"a":{"b":{"c":1,"d":2}}}"#),
            ("a=[]", r#"{"a":"[]"}"#),
        ];
        for (text, expected) in cases {
            assert_eq!(set(SetKind::Typed, "{}", text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn malformed_expressions_are_refused() {
        let deep = format!("{}=1", ["a"; 40].join("."));
        let nested = format!("a{}=1", "[0]".repeat(100_000));
        let long = format!("a[{MAX_INDEX}1]=1");
        let cases = [
            "a",
            "a,b=1",
            "a.b",
            "=1",
            "a.=1",
            ".a=1",
            "a={x",
            "a[0",
            "a[x]=1",
            "a[-1]=1",
            "a[0]x=1",
            "a[]=1",
            "a=1,,b=2",
            "a[99999999999999999999999]=1",
            &deep,
            &nested,
            &long,
        ];
        for text in cases {
            assert_eq!(set(SetKind::Typed, "{}", text), Err(Code::BadSet), "{}", text.get(..20).unwrap_or(text));
        }
    }

    #[test]
    fn null_deletes_and_makes_nothing() {
        let base = r#"{"a":{"b":1,"c":2},"d":3,"e":[1,2]}"#;
        assert_eq!(set(SetKind::Typed, base, "a.b=null,d=null").as_deref(), Ok(r#"{"a":{"c":2},"e":[1,2]}"#));
        assert_eq!(set(SetKind::Typed, "{}", "x.y.z=null").as_deref(), Ok("{}"));
        assert_eq!(set(SetKind::Typed, r#"{"e":[1,2]}"#, "e[0]=null").as_deref(), Ok(r#"{"e":[null,2]}"#));
        assert_eq!(set(SetKind::Json, base, "a=,d=null,e= ").as_deref(), Ok("{}"));
    }

    #[test]
    fn what_is_there_is_kept_or_refused() {
        let base = r#"{"a":{"b":1},"l":[{"x":1},5],"s":"t","n":null}"#;
        assert_eq!(set(SetKind::Typed, base, "s.x=1"), Err(Code::SetConflict));
        assert_eq!(set(SetKind::Typed, base, "a[0]=1"), Err(Code::SetConflict));
        assert_eq!(set(SetKind::Typed, base, "s[0]"), Err(Code::SetConflict));
        assert_eq!(set(SetKind::Typed, base, "l[1][0]=1"), Err(Code::SetConflict));
        assert_eq!(
            set(SetKind::Typed, base, "a.c=2,l[0].y=2,l[1].z=3,n.m=4").as_deref(),
            Ok(r#"{"a":{"b":1,"c":2},"l":[{"x":1,"y":2},{"z":3}],"s":"t","n":{"m":4}}"#)
        );
    }

    #[test]
    fn the_other_kinds() {
        assert_eq!(
            set(SetKind::Text, "{}", "a=1,b=true,c={1,2}").as_deref(),
            Ok(r#"{"a":"1","b":"true","c":["1","2"]}"#)
        );
        assert_eq!(set(SetKind::File, "{}", "a=x.txt,b.c=y").as_deref(), Ok(r#"{"a":"<x.txt>","b":{"c":"<y>"}}"#));
        assert_eq!(set(SetKind::Literal, "{}", r"a.b=x,y={\").as_deref(), Ok(r#"{"a":{"b":"x,y={\\"}}"#));
        assert_eq!(
            set(SetKind::Json, "{}", r#"a=[1, {"b": null}] ,c.d="x,y",e[0]=2.5"#).as_deref(),
            Ok(r#"{"a":[1,{"b":null}],"c":{"d":"x,y"},"e":[2.5]}"#)
        );
        assert_eq!(set(SetKind::Json, "{}", "a={"), Err(Code::BadSet));
        assert_eq!(
            set(SetKind::Json, r#"{"a":{"x":1},"b":1}"#, r#"{"a":{"y":2},"b":null}"#).as_deref(),
            Ok(r#"{"a":{"x":1,"y":2}}"#)
        );
    }
}
