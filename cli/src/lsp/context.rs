//! The context of a completion: what can be written at a place of a text that may not parse, and the data, variables and
//! objects at a place of a Go template.

use super::home::Language;
use crate::keywords::{self, Keywords, OBJECTS};
use dropforge::bytecode::Dialect;
use dropforge::compiler::Key;

/// What can be written at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Context {
    /// A name, or a path of which the steps before the last are given. Variables of Go begin with `$`, and paths from the
    /// current data with an empty name.
    Path(Vec<String>),
    /// A filter.
    Filter,
    /// A test.
    Test,
    /// The name of a macro of a namespace.
    Macro(String),
    /// The name of a file.
    File,
    /// The name of a template.
    Template,
    /// The name of a block.
    Block,
    /// A tag or a directive, and nothing else.
    Keyword,
}

/// Returns what can be written at the end of `before`. `None` outside of expressions.
pub(super) fn of(language: Language, before: &str) -> Option<Context> {
    let line = before.rsplit('\n').next().unwrap_or("");
    match language {
        Language::Template(Dialect::Tera) => {
            let text = inside(before, &["{{", "{%"], &["}}", "%}"])?;
            if keywords(language, before).is_some() { Some(Context::Keyword) } else { tera(text) }
        }
        Language::Template(Dialect::Helm) => helm(inside(before, &["{{"], &["}}"])?),
        Language::Template(Dialect::Hcl) if keywords(language, before).is_some() => Some(Context::Keyword),
        Language::Template(Dialect::Hcl) => path(inside(before, &["${", "%{"], &["}"])?),
        Language::Template(Dialect::Tower) => path(inside(before, &["${"], &["}"])?),
        Language::Template(Dialect::CelYaml) => cel_yaml(before, line),
        Language::Template(Dialect::Cel) => path(before),
        Language::Configuration => configuration(line),
        Language::Other => None,
    }
}

/// Returns the language whose functions a file has.
pub(super) fn dialect(language: Language) -> Option<Dialect> {
    match language {
        Language::Template(Dialect::CelYaml) => Some(Dialect::Cel),
        Language::Template(dialect) => Some(dialect),
        Language::Configuration => Some(Dialect::Hcl),
        Language::Other => None,
    }
}

/// Returns the words of which one can end here, if a tag, an action or a directive begins with the last word.
pub(super) fn keywords(language: Language, before: &str) -> Option<&'static Keywords> {
    let Language::Template(dialect) = language else { return None };
    let (keywords, opens, closes) = match dialect {
        Dialect::Tera => (&keywords::TAGS, "{%", &["%}"]),
        Dialect::Helm => (&keywords::ACTIONS, "{{", &["}}"]),
        Dialect::Hcl => (&keywords::SEQUENCES, "%{", &["}"]),
        Dialect::CelYaml => return begins_directive(before).then_some(&keywords::DIRECTIVES),
        _ => return None,
    };
    let head = word(inside(before, &[opens], closes)?).0.trim_start_matches(['-', '~']).trim();
    (head.is_empty() || (dialect == Dialect::Helm && head == "else")).then_some(keywords)
}

/// Returns `true` if the last word is a key of a map that begins with `$`.
fn begins_directive(before: &str) -> bool {
    let (head, last) = word(before.rsplit('\n').next().unwrap_or(""));
    let head = head.trim();
    last.starts_with('$')
        && inside(before, &["${"], &["}"]).is_none()
        && (head.is_empty() || head.ends_with(['-', '{', ',']))
}

/// Returns the part after the last opening delimiter, if no closing one follows.
fn inside<'t>(before: &'t str, opens: &[&str], closes: &[&str]) -> Option<&'t str> {
    let start = opens.iter().filter_map(|open| Some(before.rfind(open)? + open.len())).max()?;
    let inside = before.get(start..)?;
    let is_closed = closes.iter().any(|close| inside.contains(close));
    (!is_closed).then_some(inside)
}

/// Returns `true` for a character of a name.
pub(super) fn is_part(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphanumeric()
}

/// Returns the unfinished name at the end and what is before it.
fn word(text: &str) -> (&str, &str) {
    let head = text.trim_end_matches(is_part);
    (head, text.get(head.len()..).unwrap_or(""))
}

/// Returns the last word before a place, without white space.
fn last_word(text: &str) -> &str {
    word(text.trim_end()).1
}

/// Returns the path at the end, without its unfinished last step.
fn path(text: &str) -> Option<Context> {
    let (mut head, _) = word(text);
    let mut steps = Vec::new();
    while let Some(before) = head.strip_suffix('.').or_else(|| head.strip_suffix(".?")) {
        let (rest, name) = word(before);
        let (rest, name) = match name {
            // An index, whatever it is.
            "" if rest.ends_with(']') => match rest.rfind('[') {
                Some(open) => {
                    let (rest, name) = word(rest.get(..open).unwrap_or(""));
                    steps.push("[]".to_owned());
                    (rest, name)
                }
                None => return None,
            },
            name => (rest, name),
        };
        steps.push(name.to_owned());
        head = rest;
        if name.is_empty() {
            break;
        }
    }
    steps.reverse();
    let is_text = head.ends_with(['"', '\'']) || head.matches('"').count() % 2 == 1;
    (!is_text).then_some(Context::Path(steps))
}

/// Returns the text before the quotation mark of an unfinished string at the end.
fn quoted(text: &str) -> Option<&str> {
    let at = text.rfind(['"', '\'', '`'])?;
    let (before, mark) = (text.get(..at)?, text.get(at..=at)?);
    before.matches(mark).count().is_multiple_of(2).then_some(before)
}

fn tera(text: &str) -> Option<Context> {
    if let Some(before) = quoted(text) {
        let names = ["include", "extends", "import"];
        let list = before.trim_end().trim_end_matches(['[', ',']);
        let first = before.trim_start_matches(['-', ' ']).split_whitespace().next().unwrap_or("");
        let is_file = names.contains(&last_word(before)) || names.contains(&first) || names.contains(&last_word(list));
        return is_file.then_some(Context::File);
    }
    let (head, _) = word(text);
    if let Some(space) = head.strip_suffix("::").or_else(|| head.strip_suffix(':')) {
        return Some(Context::Macro(word(space).1.to_owned()));
    }
    let trimmed = head.trim_end();
    let words: Vec<&str> = trimmed.split_whitespace().rev().take(2).collect();
    match words.as_slice() {
        _ if trimmed.ends_with('|') => Some(Context::Filter),
        ["is", ..] | ["not", "is"] => Some(Context::Test),
        ["block" | "endblock"] => Some(Context::Block),
        ["filter"] | ["filter", "-"] => Some(Context::Filter),
        _ => path(text),
    }
}

fn helm(text: &str) -> Option<Context> {
    if let Some(before) = quoted(text) {
        let is_name = ["include", "template", "block"].contains(&last_word(before));
        return is_name.then_some(Context::Template);
    }
    path(text)
}

fn cel_yaml(before: &str, line: &str) -> Option<Context> {
    if let Some(text) = inside(before, &["${"], &["}"]) {
        return path(text);
    }
    if begins_directive(before) {
        return Some(Context::Keyword);
    }
    let content = line.trim_start().trim_start_matches("- ");
    match content.split_once(':') {
        Some(("$include", _)) => Some(Context::File),
        Some(("$if" | "$assert", rest)) => path(rest),
        Some(("$for", rest)) => rest.split_once(" in ").and_then(|(_, over)| path(over)),
        _ => None,
    }
}

fn configuration(line: &str) -> Option<Context> {
    let (_, value) = line.split_once('=')?;
    let text = match value.matches('"').count() % 2 {
        0 => value,
        _ => inside(value, &["${", "%{"], &["}"])?,
    };
    path(text)
}

/// What the names at a place lead to.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// The input that `.` is, if it is known. An empty path is the data of the file.
    pub(super) dot: Option<Vec<Key>>,
    /// The variables with the inputs that they are, the innermost last.
    pub(super) variables: Vec<(String, Option<Vec<Key>>)>,
}

/// Returns what the names at the end of `before` lead to. The data of a `define` is taken for that of the file.
pub(super) fn scope(before: &str) -> Scope {
    let mut now = Scope { dot: Some(Vec::new()), variables: Vec::new() };
    let mut open: Vec<(Option<Vec<Key>>, usize)> = Vec::new();
    for action in before.split("{{").skip(1) {
        let Some((text, _)) = action.split_once("}}") else { continue };
        let text = text.trim_matches(['-', ' ', '\t', '\n', '\r']);
        let (head, rest) = first_word(text);
        match head {
            "if" | "with" | "range" | "define" | "block" => {
                open.push((now.dot.clone(), now.variables.len()));
                now.enter(head, rest);
            }
            "else" => {
                let (word, rest) = first_word(rest);
                now.dot = open.last().map_or(Some(Vec::new()), |(dot, _)| dot.clone());
                now.enter(word, rest);
            }
            "end" => {
                let Some((dot, variables)) = open.pop() else { continue };
                now.dot = dot;
                now.variables.truncate(variables);
            }
            _ => drop(now.declare(text, false)),
        }
    }
    now
}

fn first_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

impl Scope {
    /// Returns the input that a variable is.
    pub(super) fn variable(&self, name: &str) -> Option<Vec<Key>> {
        self.variables.iter().rfind(|(known, _)| known == name).and_then(|(_, input)| input.clone())
    }

    /// Begins a block.
    fn enter(&mut self, word: &str, text: &str) {
        match word {
            "if" => drop(self.declare(text, false)),
            "with" | "range" => self.dot = self.declare(text, word == "range"),
            "define" | "block" => self.dot = Some(Vec::new()),
            _ => {}
        }
    }

    /// Adds the variables that a pipeline declares. Returns the input that it is, or that its items are.
    fn declare(&mut self, text: &str, is_each: bool) -> Option<Vec<Key>> {
        let (names, pipeline) = text.split_once(":=").unwrap_or(("", text));
        let mut input = self.input(pipeline.trim());
        if is_each {
            input.iter_mut().for_each(|input| input.push(Key::Any));
        }
        let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| name.starts_with('$')).collect();
        for (at, name) in names.iter().enumerate() {
            let is_last = at + 1 == names.len();
            self.variables.push(((*name).to_owned(), input.clone().filter(|_| is_last)));
        }
        input
    }

    /// Returns the input that a pipeline is, if it is only a path.
    fn input(&self, pipeline: &str) -> Option<Vec<Key>> {
        let is_part = |c: char| matches!(c, '_' | '.' | '$') || c.is_alphanumeric();
        let mut steps = pipeline.split('.').filter(|_| pipeline.chars().all(is_part));
        let mut input = match steps.next()? {
            "" => self.dot.clone().filter(|_| !pipeline.is_empty())?,
            "$" => Vec::new(),
            name => self.variable(name)?,
        };
        input.extend(steps.filter(|step| !step.is_empty()).map(|step| Key::Name(step.to_owned())));
        Some(input)
    }
}

/// Returns the documentation of an object of a chart, or of a field or method of one.
pub(super) fn about_object(path: &str) -> Option<&'static str> {
    OBJECTS.get(path).map(|(.., about)| *about)
}

/// Returns the names of the objects, or of the members of one, with their documentation.
pub(super) fn object_members(path: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let below = move |known: &'static str| match path {
        "" => Some(known),
        path => known.strip_prefix(path)?.strip_prefix('.'),
    };
    let members = OBJECTS.rows.iter().filter_map(move |(name, _, about)| Some((below(name)?, *about)));
    members.filter(|(name, _)| !name.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(steps: &[&str]) -> Option<Context> {
        Some(Context::Path(steps.iter().map(|step| (*step).to_owned()).collect()))
    }

    #[test]
    fn contexts_of_tera() {
        let of = |before: &str| of(Language::Template(Dialect::Tera), before);
        assert_eq!(of("a {{ im"), path(&[]));
        assert_eq!(of("a {{ image.t"), path(&["image"]));
        assert_eq!(of("{% if a.b[0].c."), path(&["a", "b", "[]", "c"]));
        assert_eq!(of("{{ a | up"), Some(Context::Filter));
        assert_eq!(of("{% if a is not def"), Some(Context::Test));
        assert_eq!(of("{{ m::bu"), Some(Context::Macro("m".to_owned())));
        assert_eq!(of("{% include \"pa"), Some(Context::File));
        assert_eq!(of("{% block he"), Some(Context::Block));
        assert_eq!([of("{% "), of("{%- se"), of("{%")], [const { Some(Context::Keyword) }; 3]);
        assert_eq!([of("{% if "), of("{{ % ")], [path(&[]), path(&[])]);
        assert_eq!(of("{% filter up"), Some(Context::Filter));
        assert_eq!([of("a"), of("{{ a }} b"), of("{{ 'x")], [None, None, None]);
    }

    #[test]
    fn contexts_of_other_languages() {
        let helm = |before: &str| of(Language::Template(Dialect::Helm), before);
        assert_eq!(helm("{{ .Values.im"), path(&["", "Values"]));
        assert_eq!(helm("{{ $x.a.b"), path(&["$x", "a"]));
        assert_eq!(helm("{{ include \"a."), Some(Context::Template));
        let yaml = |before: &str| of(Language::Template(Dialect::CelYaml), before);
        assert_eq!(yaml("a: ${b.c"), path(&["b"]));
        assert_eq!(yaml("a:\n  $if: b."), path(&["b"]));
        assert_eq!(yaml("$for: x in y."), path(&["y"]));
        assert_eq!([yaml("$inc"), yaml("$include: p")], [Some(Context::Keyword), Some(Context::File)]);
        assert_eq!(yaml("a: b"), None);
        let config = |before: &str| of(Language::Configuration, before);
        assert_eq!(config("a = var."), path(&["var"]));
        assert_eq!(config("a = \"x-${var."), path(&["var"]));
        assert_eq!(config("a = \"x"), None);
        assert_eq!(of(Language::Template(Dialect::Tower), "x ${params."), path(&["params"]));
    }

    #[test]
    fn words_that_begin_tags_and_directives() {
        let is_keyword = |dialect, before| keywords(Language::Template(dialect), before).is_some();
        for (dialect, before, wanted) in [
            (Dialect::Tera, "a {%- en", true),
            (Dialect::Tera, "{% if a %}b", false),
            (Dialect::Tera, "{% if a", false),
            (Dialect::Tera, "{{ if", false),
            (Dialect::Helm, "{{- ran", true),
            (Dialect::Helm, "{{ else wi", true),
            (Dialect::Helm, "{{ .if", false),
            (Dialect::Helm, "{{/* if", false),
            (Dialect::Helm, "{{ if }} if", false),
            (Dialect::Hcl, "%{~ fo", true),
            (Dialect::Hcl, "${ fo", false),
            (Dialect::CelYaml, "a:\n  - $fo", true),
            (Dialect::CelYaml, "a: { $for: 'x in y', $do", true),
            (Dialect::CelYaml, "a: ${ $x", false),
            (Dialect::CelYaml, "a: $x", false),
            (Dialect::Tower, "${pa", false),
        ] {
            assert_eq!(is_keyword(dialect, before), wanted, "{dialect:?}: {before}");
        }
    }

    fn written(input: Option<Vec<Key>>) -> String {
        let key = |key: Key| match key {
            Key::Name(name) => name,
            Key::Any => "*".to_owned(),
        };
        input.map_or("?".to_owned(), |input| input.into_iter().map(key).collect::<Vec<_>>().join("."))
    }

    #[test]
    fn the_data_of_a_block() {
        let dot = |text: &str| written(scope(text).dot);
        assert_eq!(dot("{{ range .Values.a }}{{ . }}"), "Values.a.*");
        assert_eq!(dot("{{ range $i, $x := .Values.a }}{{ if .b }}"), "Values.a.*");
        assert_eq!(dot("{{ with .Values.a }}{{ with .b }}"), "Values.a.b");
        assert_eq!(dot("{{ with .Values.a }}{{ else }}"), "");
        assert_eq!(dot("{{ with .Values.a }}{{- else with $.Values.b -}}"), "Values.b");
        assert_eq!(dot("{{ with .a }}{{ end }}"), "");
        assert_eq!(dot("{{ with .a }}{{ define \"x\" }}"), "");
        assert_eq!([dot("{{ with .a | f }}"), dot("{{ with f }}"), dot("{{ with .a }}{{ with")], ["?", "?", "a"]);
    }

    #[test]
    fn variables_in_scope() {
        let names = |text: &str| {
            scope(text)
                .variables
                .into_iter()
                .map(|(name, input)| format!("{name}={}", written(input)))
                .collect::<Vec<_>>()
        };
        assert_eq!(names("{{ range $k, $v := .Values.a }}"), ["$k=?", "$v=Values.a.*"]);
        assert_eq!(names("{{ $x := .a }}{{ range $y := $x.b }}{{ $z := .c }}"), ["$x=a", "$y=a.b.*", "$z=a.b.*.c"]);
        assert_eq!(names("{{ $x := 1 }}{{ if $y := .b }}{{ end }}"), ["$x=?"]);
        assert_eq!(names("{{ with $y := .b }}{{ $y }}{{ $x := "), ["$y=b"]);
    }
}

#[cfg(test)]
mod object_tests {
    use super::*;

    #[test]
    fn members_are_one_step_below() {
        let names = |path| object_members(path).map(|(name, _)| name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(""), "Values Release Chart Capabilities Files Template Subcharts");
        assert_eq!(names("Capabilities"), "APIVersions KubeVersion HelmVersion");
        assert_eq!(names("Template"), "Name BasePath");
        assert_eq!(
            (names("Files.Get"), about_object("Files.Lines").is_some(), about_object("Files.lines")),
            (String::new(), true, None)
        );
    }
}
