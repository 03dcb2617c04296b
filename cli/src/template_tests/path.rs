//! Paths to values in documents: `spec.ports[0].name`, `metadata.labels["a.b/c"]` or
//! `spec.containers[?(@.name == "app")].image`.
//!
//! They are JSONPath as helm-unittest has it: the `$` may be left out, names after a dot may have any characters, a
//! filter tests the items of a list or any other value itself, `=~ /x/` matches a regular expression, `~` at the end
//! stands for keys. Beyond that, a backslash escapes a dot in a name, and a filter needs no parentheses.

use std::borrow::Cow;

use serde_json::Value;

use super::conditions::Condition;

/// Maximum number of bytes of a path.
const LONGEST: usize = 4096;
/// Maximum nesting of filters and parentheses. Their parser recurses.
pub(super) const DEEPEST: usize = 16;
/// Maximum number of steps `..`, each of which looks at all values below.
const DESCENTS: usize = 3;

/// A path to values in a document. The empty path is the whole document.
#[derive(Debug, Clone)]
pub(super) struct ValuePath {
    text: String,
    steps: Steps,
}

/// The parts of a path, from left to right.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps(Vec<PathStep>);

/// A part of a path.
#[derive(Debug, Clone)]
enum PathStep {
    /// The values of these keys.
    Names(Vec<String>),
    /// These keys themselves, or all of them.
    Keys(Option<Vec<String>>),
    /// All items of a list, or values of a map.
    All,
    /// Some items of a list.
    Items(Vec<Slice>),
    /// The items of a list that fit, or any other value itself.
    Filter(Condition),
    /// A value and all below it. A filter after it tests each of them.
    Below,
}

/// Items of a list: `1`, `-1`, `1:3`, `::2`.
#[derive(Debug, Clone, Copy)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    step: i64,
    is_single: bool,
}

impl ValuePath {
    /// Returns the path to the whole document.
    pub fn whole() -> Self {
        Self { text: String::new(), steps: Steps::default() }
    }

    /// Parses a path.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain = text.trim();
        if plain.len() > LONGEST {
            return Err(format!("a path has at most {LONGEST} bytes"));
        }
        let mut parser = PathParser { rest: plain.strip_prefix('$').unwrap_or(plain), depth: 0 };
        let steps = parser.steps(Place::Path)?;
        Ok(Self { text: plain.to_owned(), steps })
    }

    /// Returns the path as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the values at the path.
    pub fn find<'d>(&self, document: &'d Value) -> Vec<Cow<'d, Value>> {
        self.steps.find(document, document)
    }
}

impl Steps {
    /// Returns the values that the steps lead to from `start`, a part of the document `root`.
    pub fn find<'d>(&self, start: &'d Value, root: &'d Value) -> Vec<Cow<'d, Value>> {
        let (mut found, mut is_below) = (vec![start], false);
        for step in &self.0 {
            if let PathStep::Keys(names) = step {
                return found.into_iter().flat_map(|value| keys(value, names.as_deref())).map(Cow::Owned).collect();
            }
            found = found.into_iter().flat_map(|value| step.after(value, root, is_below)).collect();
            is_below = matches!(step, PathStep::Below);
        }
        found.into_iter().map(Cow::Borrowed).collect()
    }
}

impl PathStep {
    /// Returns the values that this step leads to. `is_below` is `true` after a step `..`.
    fn after<'d>(&self, value: &'d Value, root: &'d Value, is_below: bool) -> Vec<&'d Value> {
        match (self, value) {
            (Self::Names(names), Value::Object(map)) => names.iter().filter_map(|name| map.get(name)).collect(),
            (Self::All, _) => children(value),
            (Self::Items(slices), Value::Array(items)) => {
                let places = slices.iter().flat_map(|slice| slice.places(items.len()));
                places.filter_map(|at| items.get(at)).collect()
            }
            (Self::Filter(wanted), Value::Array(items)) if !is_below => {
                items.iter().filter(|item| wanted.holds(item, root)).collect()
            }
            (Self::Filter(wanted), _) if wanted.holds(value, root) => vec![value],
            (Self::Below, _) => below(value),
            _ => Vec::new(),
        }
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

/// Returns a value and all in it, each before those in it.
fn below(value: &Value) -> Vec<&Value> {
    let (mut found, mut open) = (Vec::new(), vec![value]);
    while let Some(next) = open.pop() {
        found.push(next);
        open.extend(children(next).into_iter().rev());
    }
    found
}

fn keys(value: &Value, names: Option<&[String]>) -> Vec<Value> {
    let Value::Object(map) = value else { return Vec::new() };
    let is_wanted = |key: &&String| names.is_none_or(|names| names.contains(key));
    map.keys().filter(is_wanted).map(|key| Value::from(key.as_str())).collect()
}

impl Slice {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no index: write names in quotes");
        let number = |part: &str| match part.trim() {
            "" => Ok(None),
            part => part.parse().map(Some).map_err(|_| wrong()),
        };
        let parts = text.split(':').map(number).collect::<Result<Vec<Option<i64>>, _>>()?;
        let (from, to, step) = match parts.as_slice() {
            [Some(at)] => (Some(*at), None, 1),
            [from, to] => (*from, *to, 1),
            [from, to, step] => (*from, *to, step.unwrap_or(1)),
            _ => return Err(wrong()),
        };
        if step == 0 {
            return Err("the step of a slice is zero".to_owned());
        }
        Ok(Self { from, to, step, is_single: parts.len() == 1 })
    }

    /// Returns the indexes in a list of this length.
    fn places(self, length: usize) -> Vec<usize> {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let at = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
        if self.is_single {
            return self.from.and_then(|index| usize::try_from(at(index)).ok()).into_iter().collect();
        }
        let (first, last) = if self.step > 0 { (0, length) } else { (length - 1, -1) };
        let (from, to) = (self.from.map_or(first, at), self.to.map_or(last, at));
        let is_before = |index: i64| if self.step > 0 { index < to.min(length) } else { index > to.max(-1) };
        let start = if self.step > 0 { from.max(0) } else { from.min(length - 1) };
        let steps = std::iter::successors(Some(start), |index| index.checked_add(self.step));
        steps.take_while(|index| is_before(*index)).filter_map(|index| usize::try_from(index).ok()).collect()
    }
}

/// The text around a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing but the path.
    Path,
    /// A filter, whose operators end names.
    Filter,
}

/// Parses paths and, within them, filters.
#[derive(Debug)]
pub(super) struct PathParser<'t> {
    pub rest: &'t str,
    pub depth: usize,
}

impl PathParser<'_> {
    /// Parses the steps of a path, up to its end.
    pub fn steps(&mut self, place: Place) -> Result<Steps, String> {
        let mut steps = Vec::new();
        // The dot of the first name may be left out.
        let mut expects_name = place == Place::Path && !self.rest.is_empty() && !self.rest.starts_with(['.', '[']);
        loop {
            if self.takes("..") {
                steps.push(PathStep::Below);
                expects_name = !self.rest.starts_with('[');
            } else if !expects_name && self.rest.starts_with('[') {
                self.takes("[");
                steps.push(self.bracket()?);
            } else if !expects_name && self.takes(".") {
                expects_name = !self.rest.starts_with('[');
                if let Some(name) = self.bare_name() {
                    steps.push(PathStep::Names(vec![name]));
                }
            } else if expects_name {
                steps.push(self.named(place)?);
                expects_name = false;
            } else if self.rest.is_empty() || place == Place::Filter {
                break;
            } else {
                return Err(format!("expected `.` or `[` before `{}`", self.rest));
            }
        }
        check(&steps)?;
        Ok(Steps(steps))
    }

    /// Parses the step of a name after a dot.
    fn named(&mut self, place: Place) -> Result<PathStep, String> {
        let name = self.name(place);
        let is_last = self.rest.is_empty();
        match name.as_str() {
            "" => Err("a name is missing after a dot".to_owned()),
            "*" => Ok(PathStep::All),
            "*~" if is_last => Ok(PathStep::Keys(None)),
            name => Ok(match name.strip_suffix('~').filter(|_| is_last) {
                Some(key) => PathStep::Keys(Some(vec![key.to_owned()])),
                None => PathStep::Names(vec![name.to_owned()]),
            }),
        }
    }

    /// Takes a name. A backslash escapes the next character.
    fn name(&mut self, place: Place) -> String {
        let (mut name, mut chars) = (String::new(), self.rest.chars());
        loop {
            self.rest = chars.as_str();
            match chars.next() {
                None | Some('.' | '[') => return name,
                Some(' ' | ')' | '&' | '|' | '=' | '!' | '<' | '>' | ']') if place == Place::Filter => return name,
                Some('\\') => name.extend(chars.next()),
                Some(c) => name.push(c),
            }
        }
    }

    /// Parses the step in brackets, after the first.
    fn bracket(&mut self) -> Result<PathStep, String> {
        self.skip_blanks();
        let step = if self.takes("?") {
            PathStep::Filter(self.condition()?)
        } else if self.rest.starts_with(['\'', '"']) {
            PathStep::Names(self.quoted_names()?)
        } else {
            let end = self.rest.find(']').ok_or("a bracket is not closed")?;
            let (inside, after) = self.rest.split_at(end);
            self.rest = after;
            match inside.trim() {
                "*" => PathStep::All,
                inside => PathStep::Items(inside.split(',').map(Slice::parse).collect::<Result<_, _>>()?),
            }
        };
        self.skip_blanks();
        if !self.takes("]") {
            return Err("a bracket is not closed".to_owned());
        }
        match step {
            PathStep::Names(names) if self.rest == "~" => {
                self.rest = "";
                Ok(PathStep::Keys(Some(names)))
            }
            PathStep::All if self.rest == "~" => {
                self.rest = "";
                Ok(PathStep::Keys(None))
            }
            step => Ok(step),
        }
    }

    /// Takes a name without quotes in brackets after a dot, as old tests have it: `data.[a.yaml]`.
    fn bare_name(&mut self) -> Option<String> {
        let (name, rest) = self.rest.strip_prefix('[')?.split_once(']')?;
        let is_other =
            name.starts_with(['\'', '"', '?', '*', '-', ':']) || name.starts_with(|c: char| c.is_ascii_digit());
        if is_other || name.is_empty() {
            return None;
        }
        self.rest = rest;
        Some(name.to_owned())
    }

    fn quoted_names(&mut self) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        loop {
            self.skip_blanks();
            names.push(self.quoted()?);
            self.skip_blanks();
            if !self.takes(",") {
                return Ok(names);
            }
        }
    }

    /// Takes a name in quotes. A backslash escapes the next character.
    fn quoted(&mut self) -> Result<String, String> {
        let (mut name, mut chars) = (String::new(), self.rest.chars());
        let Some(quote @ ('\'' | '"')) = chars.next() else { return Err("a name in quotes is missing".to_owned()) };
        loop {
            match chars.next() {
                None => return Err("a quote is not closed".to_owned()),
                Some('\\') => name.extend(chars.next()),
                Some(c) if c == quote => break,
                Some(c) => name.push(c),
            }
        }
        self.rest = chars.as_str();
        Ok(name)
    }

    /// Takes a text if it comes next.
    pub fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

/// Refuses paths whose search could take very long.
fn check(steps: &[PathStep]) -> Result<(), String> {
    match steps.iter().filter(|step| matches!(step, PathStep::Below)).count() {
        0..=DESCENTS => Ok(()),
        _ => Err(format!("a path has at most {DESCENTS} steps `..`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> Vec<String> {
        let document = serde_json::json!({
            "kind": "K",
            "a": {
                "b-c": [{"name": "x", "n": 1}, {"name": "y", "n": 2}, {"name": "z", "n": 3, "on": true}],
                "k.l/m": "dotted",
                "it's": 3,
                "list": ["p", "q", "r", "s"],
            },
        });
        let path = ValuePath::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        path.find(&document).iter().map(|value| value.to_string()).collect()
    }

    #[test]
    fn paths_are_those_of_helm_unittest() {
        for (path, wanted) in [
            ("a.b-c[0].n", &["1"][..]),
            ("$.a.b-c[1].name", &["\"y\""]),
            ("$['a']['b-c'][1].name", &["\"y\""]),
            ("[\"a\"].b-c[ 0 ].n", &["1"]),
            ("a.b-c[-1].n", &["3"]),
            ("a.b-c[*].n", &["1", "2", "3"]),
            ("a.b-c.*.n", &["1", "2", "3"]),
            ("a[\"k.l/m\"]", &["\"dotted\""]),
            ("a['k.l/m', \"it's\"]", &["\"dotted\"", "3"]),
            ("a['it\\'s']", &["3"]),
            ("a.k\\.l/m", &["\"dotted\""]),
            ("a.[k.l/m]", &["\"dotted\""]),
            ("a.[b-c].[0].n", &["1"]),
            ("a.it's", &["3"]),
            ("a[*][0].n", &["1"]),
            ("a.list[1:3]", &["\"q\"", "\"r\""]),
            ("a.list[:-2]", &["\"p\"", "\"q\""]),
            ("a.list[::2]", &["\"p\"", "\"r\""]),
            ("a.list[::-2]", &["\"s\"", "\"q\""]),
            ("a.list[3, 0]", &["\"s\"", "\"p\""]),
            ("a.list[9:]", &[]),
            ("a.b-c[0]['name']~", &["\"name\""]),
            ("a.b-c[0].n~", &["\"n\""]),
            ("a.b-c[0][*]~", &["\"n\"", "\"name\""]),
            ("a.b-c[0].*~", &["\"n\"", "\"name\""]),
            ("..name", &["\"x\"", "\"y\"", "\"z\""]),
            ("$..list[0]", &["\"p\""]),
            ("a.none", &[]),
            ("a.b-c.name", &[]),
            ("a.b-c[7]", &[]),
            ("a.it's.x[0]", &[]),
        ] {
            assert_eq!(found(path), wanted, "{path}");
        }
        assert_eq!(found("").len(), 1);
        assert_eq!(found("$"), found(""));
    }

    #[test]
    fn filters_are_those_of_helm_unittest() {
        for (path, wanted) in [
            ("a.b-c[?(@.name == \"y\")].n", &["2"][..]),
            ("a.b-c[?(@.name == 'y')].n", &["2"]),
            ("a.b-c[?( @.name=='y' )].n", &["2"]),
            ("a.b-c[?(@['name'] != 'y')].n", &["1", "3"]),
            ("a.b-c[?@.n > 1].name", &["\"y\"", "\"z\""]),
            ("a.b-c[?(@.n >= 2 && @.on)].name", &["\"z\""]),
            ("a.b-c[?(@.n < 2 || @.on == true)].name", &["\"x\"", "\"z\""]),
            ("a.b-c[?(!@.on)].n", &["1", "2"]),
            ("a.b-c[?(!(@.n <= 1.5) && (@.name=='y'))].n", &["2"]),
            ("a.b-c[?(@.name =~ /^[xz]$/)].n", &["1", "3"]),
            ("a.b-c[?(@.none != 'x')].n", &[]),
            ("a.b-c[?(@.n == '1')].n", &[]),
            ("a.b-c[?(@.n == $.a.b-c[1].n)].name", &["\"y\""]),
            ("a.list[?(@ == 'q')]", &["\"q\""]),
            ("a.list[?(@ =~ /[rs]/)]", &["\"r\"", "\"s\""]),
            // A value that is no list is tested itself.
            ("$[?(@.kind == \"K\")].kind", &["\"K\""]),
            ("$[?(@.kind == 'L')].kind", &[]),
            ("[?(@.kind)].a.it's", &["3"]),
            ("a.b-c[0][?(@.n == 1)].name", &["\"x\""]),
            ("$..[?(@.n == 2)].name", &["\"y\""]),
        ] {
            assert_eq!(found(path), wanted, "{path}");
        }
    }

    #[test]
    fn bad_paths_are_refused() {
        let deep = format!("a[?{}@.b{}]", "(".repeat(5_000), ")".repeat(5_000));
        let nested = format!("a{}", "[?(@.b".repeat(600));
        let long = "a.".repeat(3_000) + "b";
        for path in [
            "a.",
            ".",
            "a..",
            "a[",
            "a[0",
            "a['b]",
            "a['b'",
            "a[0]b",
            "a[?(@.b ==)]",
            "a[?(@.b",
            "a[?()]",
            "a[b]",
            "a[]",
            "a[1:2:3:4]",
            "a[::0]",
            "a[?(@.b =~ x)]",
            "a[?(@.b =~ /(/)]",
            "a..b..c..d..e",
            &deep,
            &nested,
            &long,
        ] {
            assert!(ValuePath::parse(path).is_err(), "{path}");
        }
    }
}
