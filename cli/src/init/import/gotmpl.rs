//! Go templates of other tools: rendering them with the functions of Helmfile and Argo CD, and turning templates of values
//! into those of a project.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use dropforge::diagnostics::Diagnostic;
use dropforge::engine::{Dialect, Engine, EngineBuilder, HelmOptions, MissingKey};
use dropforge::files::Files;
use dropforge::function::HostArgs;
use dropforge::text::Source;
use dropforge::value::{Data, DataMap};

/// What a template asked for that an import does not have, such as environment variables.
pub(super) type Asked = Vec<String>;

/// Renders a Go template with a map of data. Also returns what it asked for.
///
/// # Errors
/// Errors of the template; a missing key, if `is_strict`.
pub(super) fn render(
    source: &Arc<Source>,
    data: &Data,
    is_strict: bool,
    reach: Option<&Reach>,
) -> std::result::Result<(String, Asked), Vec<Box<Diagnostic>>> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let missing_key = if is_strict { MissingKey::Error } else { MissingKey::default() };
    let options = HelmOptions { missing_key, ..HelmOptions::default() };
    let builder = functions(Engine::builder().helm(options), &asked);
    let engine = match reach {
        Some(reach) => reading(builder, reach, &asked),
        None => builder,
    };
    let engine = engine.build();
    let template = engine.compile_source(Dialect::Helm, source, None).map_err(|errors| errors.into_vec())?;
    let text = template.render(data).map_err(|error| vec![error])?;
    let asked = std::mem::take(&mut *asked.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((text, asked))
}

/// The files that templates may read: those below a folder, by paths from another one.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    pub(super) root: Files,
    pub(super) folder: PathBuf,
}

impl Reach {
    fn text(&self, path: &str) -> Option<String> {
        let found = self.root.find(self.folder.join(path).to_str()?).ok()?;
        dropforge::files::read_text(&found, MAX_BYTES).ok()
    }
}

/// The maximum size of a file that a template reads.
const MAX_BYTES: u64 = 16 << 20;

/// Lets `readFile` and `isFile` read files.
fn reading(builder: EngineBuilder, reach: &Reach, asked: &Arc<Mutex<Asked>>) -> EngineBuilder {
    let (asked, reading, testing) = (asked.clone(), reach.clone(), reach.clone());
    builder
        .function(Dialect::Helm, "readFile", move |path: &str| {
            reading.text(path).unwrap_or_else(|| {
                asked.lock().unwrap_or_else(PoisonError::into_inner).push(format!("the file `{path}`"));
                format!("TODO-{path}")
            })
        })
        .function(Dialect::Helm, "isFile", move |path: &str| testing.text(path).is_some())
}

/// The functions that read from outside, and what each reads.
const OUTSIDE: [(&str, &str); 9] = [
    ("requiredEnv", "the environment variable"),
    ("env", "the environment variable"),
    ("exec", "the output of the command"),
    ("envExec", "the output of the command"),
    ("readFile", "the file"),
    ("readDir", "the folder"),
    ("readDirEntries", "the folder"),
    ("fetchSecretValue", "the secret"),
    ("expandSecretRefs", "the secrets"),
];

/// Adds the functions that Helmfile has beyond Helm. Those that read from outside note it: an optional one gives nothing,
/// and a needed one a text that is easy to find.
fn functions(mut builder: EngineBuilder, asked: &Arc<Mutex<Asked>>) -> EngineBuilder {
    for (name, what) in OUTSIDE {
        let asked = asked.clone();
        builder = builder.function(Dialect::Helm, name, move |args: &HostArgs| {
            let argument = args.positional().iter().find_map(|value| value.as_str()).unwrap_or_default();
            let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(format!("{what} `{argument}`"));
            match name {
                "env" => Data::Str(String::new()),
                "readDir" | "readDirEntries" => Data::List(Vec::new()),
                _ => Data::Str(format!("TODO-{argument}")),
            }
        });
    }
    pure(builder)
}

/// Adds the functions of Helmfile and Argo CD that read nothing.
fn pure(builder: EngineBuilder) -> EngineBuilder {
    builder
        .function(Dialect::Helm, "normalize", |text: &str| {
            super::project::file_name(&text.to_lowercase().replace(['_', '.'], "-"))
        })
        .function(Dialect::Helm, "isFile", |_: &str| false)
        .function(Dialect::Helm, "isDir", |_: &str| false)
        .function(Dialect::Helm, "get", |path: &str, second: Data, third: Option<Data>| {
            let (default, object) = match third {
                Some(object) => (Some(second), object),
                None => (None, second),
            };
            let found = at_path(&object, path).cloned().or(default);
            found.ok_or_else(|| format!("there is no value at `{path}`"))
        })
        .function(Dialect::Helm, "sprigGet", |map: Data, key: &str| {
            map.get(key).cloned().unwrap_or_else(|| Data::Str(String::new()))
        })
        .function(Dialect::Helm, "getOrNil", |path: &str, object: Data| at_path(&object, path).cloned())
        .function(Dialect::Helm, "setValueAtPath", |path: &str, value: Data, object: Data| {
            let mut map = object.as_map().cloned().unwrap_or_default();
            super::fold::put(&mut map, path, value);
            Data::Map(map)
        })
}

/// Returns the value at a dotted path, or at the path as one key.
pub(super) fn at_path<'d>(data: &'d Data, path: &str) -> Option<&'d Data> {
    data.get(path).or_else(|| data.at_path(path))
}

/// The names of a release, if they are the same for all clusters.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) name: Option<String>,
    pub(super) namespace: Option<String>,
}

/// Turns a template of values of Helmfile into one of a project, whose data are the values of the cluster. `None` if it
/// uses something that a project does not have.
pub(super) fn rewritten(text: &str, known: &Known) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, action) = rest.split_at(at);
        out.push_str(before);
        let end = end_of_action(action)?;
        out.push_str(&action_rewritten(action.get(..end)?, known)?);
        rest = action.get(end..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// Returns the length of the action that a text begins with.
fn end_of_action(text: &str) -> Option<usize> {
    let opened = text.trim_start_matches("{{").trim_start_matches('-').trim_start();
    if opened.starts_with("/*") {
        let end = text.find("*/")?;
        return text.get(end..)?.find("}}").map(|more| end + more + 2);
    }
    let mut at = 2;
    while at < text.len() {
        let rest = text.get(at..)?;
        if rest.starts_with("}}") {
            return Some(at + 2);
        }
        at += literal(rest).unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
    }
    None
}

/// Returns the length of the string that a text begins with.
fn literal(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|c| "\"`'".contains(*c))?;
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if quote != '`' => is_escaped = true,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

fn action_rewritten(action: &str, known: &Known) -> Option<String> {
    let opened = action.trim_start_matches("{{").trim_start_matches('-').trim_start();
    if opened.starts_with("/*") {
        return Some(action.to_owned());
    }
    let (mut out, mut at) = (String::new(), 0);
    while let Some(rest) = action.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next()?;
        let is_start = |c: char| !(c.is_alphanumeric() || "_)$.".contains(c));
        let is_field = (first == '.' || rest.starts_with("$.")) && out.chars().next_back().is_none_or(is_start);
        let taken = match literal(rest) {
            Some(length) => {
                out.push_str(rest.get(..length)?);
                length
            }
            None if is_field => {
                let chain = |c: char| c.is_alphanumeric() || "_.$".contains(c);
                let length = rest.find(|c| !chain(c)).unwrap_or(rest.len());
                out.push_str(&field(rest.get(..length)?, known)?);
                length
            }
            None => {
                out.push(first);
                first.len_utf8()
            }
        };
        at += taken;
    }
    Some(out)
}

/// Rewrites a chain of fields such as `.Values.a.b`.
fn field(chain: &str, known: &Known) -> Option<String> {
    let (root, path) = chain.strip_prefix('$').map_or((".", chain), |path| ("$.", path));
    let names: Vec<&str> = path.split('.').skip(1).collect();
    let value = |rest: &[&str]| (!rest.is_empty()).then(|| format!("{root}{}", rest.join(".")));
    let quoted = |text: &Option<String>| text.as_ref().map(|text| format!("{text:?}"));
    match names.as_slice() {
        ["Values" | "StateValues", rest @ ..] | ["Environment", "Values", rest @ ..] => value(rest),
        ["Environment", "Name"] => Some(format!("{root}env")),
        ["Release", "Name"] => quoted(&known.name),
        ["Release", "Namespace"] | ["Namespace"] => quoted(&known.namespace),
        ["Environment" | "Release" | "Chart" | "HelmDefaults" | "KubeContext", ..] => None,
        _ => Some(chain.to_owned()),
    }
}

/// Returns what a rewritten template gives for the merged values of a cluster, as a project renders it.
pub(super) fn rendered(text: &str, values: &DataMap) -> Option<String> {
    let engine = Engine::new();
    let template = engine.compile(Dialect::Helm, "values.yaml.gotmpl", text).ok()?;
    template.render(&Data::Map(values.clone())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_of_values_are_rewritten() {
        let known = Known { name: Some("web".to_owned()), namespace: None };
        let cases = [
            ("a: {{ .Values.a.b }}", Some("a: {{ .a.b }}")),
            ("{{ $.Values.a | quote }} {{- .Environment.Name -}}", Some("{{ $.a | quote }} {{- .env -}}")),
            ("{{ .StateValues.x }}{{ .Environment.Values.y }}", Some("{{ .x }}{{ .y }}")),
            ("{{ printf \".Values.%s }}\" .Values.a }}", Some("{{ printf \".Values.%s }}\" .a }}")),
            ("{{/* .Values }} */}}{{ .Release.Name }}", Some("{{/* .Values }} */}}{{ \"web\" }}")),
            ("{{ (index .Values.xs 0).Values }}", Some("{{ (index .xs 0).Values }}")),
            (
                "{{ range $k, $v := .Values.m }}{{ $v.Values }}{{ .x }}{{ end }}",
                Some("{{ range $k, $v := .m }}{{ $v.Values }}{{ .x }}{{ end }}"),
            ),
            ("{{ toYaml .Values }}", None),
            ("{{ .Release.Namespace }}", None),
            ("{{ .Chart.Name }}", None),
            ("{{ .Values.a ", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(rewritten(text, &known).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn functions_of_helmfile_see_their_arguments() {
        let data = Data::of_json(r#"{"Values": {"a": {"b": 1}}}"#).unwrap();
        let source = Source::new(
            "t",
            r#"{{ .Values | get "a.b" }} {{ .Values | get "a.c" "d" }} {{ .Values | getOrNil "x.y" | default "n" }} {{ requiredEnv "X" }}{{ env "Y" | default "y" }}"#,
        );
        let (text, asked) = render(&source, &data, true, None).unwrap();
        assert_eq!(text, "1 d n TODO-Xy");
        assert_eq!(asked, ["the environment variable `X`", "the environment variable `Y`"]);
        assert!(render(&Source::new("t", "{{ .Values.x }}"), &data, true, None).is_err());
    }
}
