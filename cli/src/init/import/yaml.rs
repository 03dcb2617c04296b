//! YAML that an import reads, with places in the file that was written by hand, and its texts as templates and patterns.

use std::collections::HashMap;
use std::sync::Arc;

use super::project::{Notes, Place};
use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::yaml::{self, Kind, Node, Style, Tags};
use dropforge::value::{Data, DataMap};

/// A node of a file.
#[derive(Debug, Clone)]
pub(super) struct Yaml {
    pub(super) node: Node,
    file: Arc<YamlFile>,
}

/// A file as it was parsed, and as it was written.
#[derive(Debug)]
struct YamlFile {
    read: Arc<Source>,
    /// The file that was rendered to `read`, and for each line of `read` the same line of that file.
    written: Option<(Arc<Source>, Vec<Option<Span>>)>,
}

impl Yaml {
    /// Reads the documents of a file. `written` is the template that was rendered to it.
    ///
    /// # Errors
    /// Errors of reading YAML.
    pub(super) fn documents(
        read: &Arc<Source>,
        written: Option<&Arc<Source>>,
    ) -> Result<Vec<Self>, Vec<Box<dropforge::diagnostics::Diagnostic>>> {
        let nodes = yaml::read_with(read, &Limits::default(), Tags::Kept)?;
        let written = written.map(|written| (written.clone(), same_lines(read.text(), written)));
        let file = Arc::new(YamlFile { read: read.clone(), written });
        Ok(nodes.into_iter().map(|node| Self { node, file: file.clone() }).collect())
    }

    /// Returns the place in the file that was written by hand, or else in what it was rendered to.
    pub(super) fn place(&self) -> Place {
        let file = &self.file;
        let line = |file: &YamlFile| file.read.position(self.node.span.start).line.saturating_sub(1) as usize;
        let same = file.written.as_ref().and_then(|(source, lines)| Some((source, (*lines.get(line(file))?)?)));
        same.map_or_else(|| (file.read.clone(), self.node.span), |(source, span)| (source.clone(), span))
    }

    /// Returns a value of a map that is not null.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.node.get(key).filter(|value| value.kind != Kind::Null)?;
        Some(self.with(value))
    }

    /// Returns the value at a dotted path.
    pub(super) fn at(&self, path: &str) -> Option<Self> {
        path.split('.').try_fold(self.clone(), |here, key| here.get(key))
    }

    fn with(&self, node: &Node) -> Self {
        Self { node: node.clone(), file: self.file.clone() }
    }

    /// Returns the entries of a map: each name with its key and value. Null has none.
    pub(super) fn entries(&self, what: &str, notes: &mut Notes) -> Vec<(Arc<str>, Self, Self)> {
        match (&self.node.kind, self.node.as_map()) {
            (_, Some(entries)) => {
                entries.iter().map(|one| (one.name.clone(), self.with(&one.key), self.with(&one.value))).collect()
            }
            (Kind::Null, None) => Vec::new(),
            (_, None) => {
                notes.wrong(self.place(), format!("`{what}` must be a map, found {}", self.node.kind_name()));
                Vec::new()
            }
        }
    }

    /// Returns the items of a list. Null has none.
    pub(super) fn items(&self, what: &str, notes: &mut Notes) -> Vec<Self> {
        match (&self.node.kind, self.node.as_list()) {
            (_, Some(items)) => items.iter().map(|item| self.with(item)).collect(),
            (Kind::Null, None) => Vec::new(),
            (_, None) => {
                notes.wrong(self.place(), format!("`{what}` must be a list, found {}", self.node.kind_name()));
                Vec::new()
            }
        }
    }

    /// Returns the items of the list at a key.
    pub(super) fn list(&self, key: &str, notes: &mut Notes) -> Vec<Self> {
        self.get(key).map(|list| list.items(key, notes)).unwrap_or_default()
    }

    /// Returns the texts of the list at a key.
    pub(super) fn texts(&self, key: &str, notes: &mut Notes) -> Vec<String> {
        self.list(key, notes).iter().filter_map(|item| item.scalar(key, notes)).collect()
    }

    /// Returns the text of the scalar at a key.
    pub(super) fn text(&self, key: &str, notes: &mut Notes) -> Option<String> {
        self.get(key)?.scalar(key, notes)
    }

    /// Returns the text of a scalar.
    pub(super) fn scalar(&self, what: &str, notes: &mut Notes) -> Option<String> {
        match self.node.kind {
            Kind::Null => None,
            Kind::List(_) | Kind::Map(_) => {
                notes.wrong(self.place(), format!("`{what}` must be a text, found {}", self.node.kind_name()));
                None
            }
            _ => Some(self.node.text.as_ref().to_owned()),
        }
    }

    /// Returns the value of a flag, which may be written as text.
    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        match (&value.node.kind, value.node.as_str()) {
            (Kind::Bool(flag), _) => Some(*flag),
            (_, Some("true" | "yes" | "on")) => Some(true),
            (_, Some("false" | "no" | "off" | "")) => Some(false),
            _ => None,
        }
    }

    /// Returns the value. An integer such as `0644` is octal, as Kubernetes, Helm and Kustomize read it.
    pub(super) fn data(&self) -> Data {
        let text = self.file.read.text();
        data(&self.node, (!text.ends_with('\n')).then_some(text))
    }

    /// Returns the value of a map.
    pub(super) fn map(&self, what: &str, notes: &mut Notes) -> DataMap {
        match self.data() {
            Data::Null => DataMap::default(),
            data => data.into_map().unwrap_or_else(|| {
                notes.wrong(self.place(), format!("`{what}` must be a map, found {}", self.node.kind_name()));
                DataMap::default()
            }),
        }
    }
}

/// Returns the value of a node. `open` is the text of its file, if that does not end with a line break.
fn data(node: &Node, open: Option<&str>) -> Data {
    match &node.kind {
        Kind::List(items) => Data::List(items.iter().map(|item| data(item, open)).collect()),
        Kind::Map(entries) => {
            Data::Map(entries.iter().map(|entry| (entry.name.as_ref().to_owned(), data(&entry.value, open))).collect())
        }
        Kind::Int(_) if node.style == Style::Plain => octal(&node.text).map_or_else(|| node.to_data(), Data::Int),
        Kind::Str if open.is_some_and(|text| is_last_block(node, text)) => {
            Data::Str(node.text.strip_suffix('\n').unwrap_or(&node.text).to_owned())
        }
        _ => node.to_data(),
    }
}

/// Returns `true` for a block of text at the very end of a file: where the file has no last line break, the readers of Go
/// give the text none.
fn is_last_block(node: &Node, file: &str) -> bool {
    let is_block = matches!(node.style, Style::Literal | Style::Folded) && node.text.ends_with('\n');
    let rest = file.get(node.span.start as usize..).unwrap_or("");
    is_block
        && rest.lines().count() == node.text.lines().count()
        && rest.lines().last().map(str::trim) == node.text.lines().last().map(str::trim)
}

/// Returns the value of an integer that YAML 1.1 reads as octal.
fn octal(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('0')?;
    (!digits.is_empty()).then(|| i64::from_str_radix(digits, 8).ok()).flatten()
}

/// Returns for each line of a rendered text the line of its template that has the same text, if there is one: the next
/// one after those of earlier lines, or else the first.
fn same_lines(read: &str, written: &Source) -> Vec<Option<Span>> {
    let mut places: HashMap<&str, Vec<Span>> = HashMap::new();
    let mut at = 0;
    for line in written.text().split_inclusive('\n') {
        let text = line.trim();
        let start = at + (line.len() - line.trim_start().len());
        places.entry(text).or_default().push(Span::of(start..start + text.len()));
        at += line.len();
    }
    let mut last = 0;
    let place = |line: &str| {
        let known = places.get(line.trim())?;
        let after = known.partition_point(|span| span.start < last);
        let next = known.get(after).or(known.first()).copied()?;
        last = last.max(next.start);
        Some(next)
    };
    read.lines().map(place).collect()
}

/// Returns a value in which nothing is an expression or a directive.
pub(super) fn literal(data: &Data) -> Data {
    match data {
        Data::Str(text) => Data::Str(text.replace("${", "$${")),
        Data::List(items) => Data::List(items.iter().map(literal).collect()),
        Data::Map(map) => Data::Map(map.iter().map(|(key, value)| (literal_key(key), literal(value))).collect()),
        other => other.clone(),
    }
}

/// Returns a key that is no directive.
pub(super) fn literal_key(key: &str) -> String {
    let key = key.replace("${", "$${");
    if key.starts_with('$') && !key.starts_with("$${") { format!("${key}") } else { key }
}

/// Returns documents as one file.
pub(super) fn file<'d>(documents: impl IntoIterator<Item = &'d Data>) -> String {
    let texts: Vec<String> = documents.into_iter().map(yaml::to_string).collect();
    texts.join("---\n")
}

/// Returns the text of a file of manifests as a template: as it is, if nothing in it has another meaning there.
///
/// # Errors
/// Errors of reading YAML.
pub(super) fn of_file(source: &std::sync::Arc<Source>) -> Result<String, Vec<Box<dropforge::diagnostics::Diagnostic>>> {
    let documents = Yaml::documents(source, None)?;
    let is_same = !source.text().contains('$') && documents.iter().all(|document| is_plain(&document.node));
    if is_same {
        return Ok(source.text().to_owned());
    }
    let all: Vec<Data> =
        documents.iter().map(|document| literal(&document.data())).filter(|data| *data != Data::Null).collect();
    Ok(file(&all))
}

/// Returns `true` if no part of a document has another value for Kubernetes.
fn is_plain(node: &Node) -> bool {
    match &node.kind {
        Kind::List(items) => items.iter().all(is_plain),
        Kind::Map(entries) => entries.iter().all(|entry| is_plain(&entry.value)),
        Kind::Int(_) => node.style != Style::Plain || !node.text.starts_with('0') || node.text.len() == 1,
        _ => node.tag.is_none(),
    }
}

/// Returns the pattern that matches what an anchored regular expression matches: texts, `.*`, and alternatives of them.
/// `None` for another one.
pub(super) fn pattern(regex: &str) -> Option<String> {
    let plain = regex.strip_prefix('^').unwrap_or(regex);
    let plain = plain.strip_suffix('$').unwrap_or(plain);
    let inner = plain.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(plain);
    let parts: Vec<String> = inner.split('|').map(part).collect::<Option<_>>()?;
    match parts.as_slice() {
        [one] => Some(one.clone()),
        all => Some(format!("{{{}}}", all.join(","))),
    }
}

/// Returns the pattern of an alternative.
fn part(regex: &str) -> Option<String> {
    let text = regex.replace(".*", "*").replace("\\.", ".").replace("\\-", "-");
    let is_plain = |c: char| c.is_alphanumeric() || "-_.*/".contains(c);
    let has_other = text.replace('*', "").is_empty() && text.len() > 1;
    // A star that no point stands before repeats the character before it.
    let is_repeated = regex.replace(".*", "").contains('*');
    (!text.is_empty() && text.chars().all(is_plain) && !is_repeated && !has_other).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge::engine::{Dialect, Engine};
    use dropforge::value::DataMap;

    #[test]
    fn literals_render_as_they_are() {
        let texts = ["${a}", "$${a}", "$$${a}", "$a", "$$", "$$a", "a $ b ${", "${{ x }}", "plain"];
        for text in texts {
            let key = Data::Map(DataMap::from_iter([(text.to_owned(), Data::Str(text.to_owned()))]));
            let printed = yaml::to_string(&literal(&key));
            let template = Engine::new().compile(Dialect::CelYaml, "t.cel.yaml", &printed);
            let rendered = template.unwrap_or_else(|error| panic!("{text}: {error}")).render(&DataMap::default());
            let source = Source::new("t", rendered.unwrap_or_else(|error| panic!("{text}: {error}")));
            assert_eq!(Yaml::documents(&source, None).unwrap()[0].data(), key, "{printed}");
        }
    }
}

#[cfg(test)]
mod targets_tests {
    use super::pattern;

    #[test]
    fn simple_expressions_have_patterns() {
        for (regex, wanted) in [
            ("Deployment", Some("Deployment")),
            ("^web-.*$", Some("web-*")),
            ("Deployment|StatefulSet", Some("{Deployment,StatefulSet}")),
            ("(a|b.*)", Some("{a,b*}")),
            (".*", Some("*")),
            ("a\\.b", Some("a.b")),
            ("we*b", None),
            ("web[0-9]", None),
            ("web-.+", None),
            ("(a)(b)", None),
            ("", None),
            ("a|", None),
        ] {
            assert_eq!(pattern(regex).as_deref(), wanted, "{regex}");
        }
    }
}
