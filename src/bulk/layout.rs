//! Where an output goes: a layout such as `{cluster}/{template}`, filled in and checked.
//!
//! A path that leaves here is relative, has no `.`, `..`, empty or reserved part, and only characters that
//! mean the same on every system: what a cluster is called cannot lead anywhere else.

use crate::diagnostics::{Code, Diagnostic, Result, nearest};
use crate::value::{Data, DataMap};

use super::select::{lookup, scalar_text};

/// Bytes of one part of a path, and of a whole path.
const MAX_PART: usize = 128;
const MAX_PATH: usize = 1_024;

/// The layout that is used when none is given.
pub const DEFAULT_LAYOUT: &str = "{cluster}/{template}";

/// A path with places for the cluster's name, the template's name and the cluster's inputs.
///
/// ```
/// use dropforge::bulk::Layout;
/// let layout = Layout::parse("{region}/{cluster}/{template}").unwrap();
/// assert_eq!(layout.inputs().collect::<Vec<_>>(), ["region"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Cluster,
    Template,
    /// The value at a dotted path of the cluster's layered inputs.
    Input(String),
    /// The value at a dotted path of the document that the file holds.
    Field(String),
    /// The extension of the template's name, with its dot.
    Extension,
}

/// The fields of a document that a layout may take by their names alone, and maps in it whose fields it may.
const FIELDS: [&str; 5] = ["apiVersion", "kind", "metadata", "name", "namespace"];

/// What stands before any other field of a document.
const DOCUMENT: &str = "document.";

/// The field of a document that a place means, where the layout is one of documents.
fn field(path: &str) -> Option<&str> {
    let top = path.split('.').next().unwrap_or(path);
    path.strip_prefix(DOCUMENT).or_else(|| FIELDS.contains(&top).then_some(path))
}

impl Layout {
    /// Reads a layout. `{cluster}` and `{template}` are the names; any other `{a.b}` is a scalar of the
    /// cluster's layered inputs.
    ///
    /// # Errors
    /// `plan.bad_layout` where braces do not match or a place is empty.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |why: &str| {
            Diagnostic::new(Code::BadLayout, format!("the layout `{text}` {why}"))
                .with_help(format!("the default is `{DEFAULT_LAYOUT}`"))
        };
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((name, behind)) = behind.split_once('}') else { return Err(bad("has a `{` without `}`")) };
            if before.contains('}') || name.contains('{') {
                return Err(bad("has braces that do not match"));
            }
            parts.push(Part::Text(before.to_owned()));
            parts.push(match name.trim() {
                "" => return Err(bad("has an empty place")),
                "cluster" => Part::Cluster,
                "template" => Part::Template,
                path => Part::Input(path.to_owned()),
            });
            rest = behind;
        }
        if rest.contains('}') || parts.is_empty() {
            return Err(bad(if parts.is_empty() {
                "has no place such as `{cluster}`"
            } else {
                "has a `}` without `{`"
            }));
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The layout for templates that give documents: the places `{kind}`, `{apiVersion}`, `{name}`, `{namespace}`,
    /// `{metadata.a}` and `{document.a.b}` are fields of the document that a file holds. Where there is one, each
    /// document goes to a file of its own; the format's extension is added where the layout ends in none.
    ///
    /// # Errors
    /// `plan.bad_layout` where files of two clusters could have one path: fields are known only when a cluster has been
    /// rendered, so the cluster's name has to be a directory.
    ///
    /// ```
    /// use dropforge::bulk::Layout;
    /// let layout = Layout::parse("{region}/{cluster}/{kind}-{name}").unwrap().of_documents().unwrap();
    /// assert_eq!(layout.inputs().collect::<Vec<_>>(), ["region"]);
    /// assert_eq!(layout.fields().collect::<Vec<_>>(), ["kind", "name"]);
    /// ```
    pub fn of_documents(mut self) -> Result<Self> {
        for part in &mut self.parts {
            if let Part::Input(path) = part
                && let Some(field) = field(path)
            {
                *part = Part::Field(field.to_owned());
            }
        }
        if self.fields().next().is_some() {
            self.check_clusters_apart()?;
            self.add_extension();
        }
        Ok(self)
    }

    fn check_clusters_apart(&self) -> Result<()> {
        let text = |at: Option<usize>| match at.and_then(|at| self.parts.get(at)) {
            Some(Part::Text(text)) => text.as_str(),
            _ => "",
        };
        let is_directory = |at: usize| {
            let before = text(at.checked_sub(1));
            let begins = before.ends_with('/') || (before.is_empty() && at <= 1);
            begins && text(Some(at + 1)).starts_with('/')
        };
        let template = self.parts.iter().position(|part| *part == Part::Template).unwrap_or(self.parts.len());
        let cluster = (0..template).any(|at| self.parts.get(at) == Some(&Part::Cluster) && is_directory(at));
        if cluster {
            return Ok(());
        }
        let message =
            format!("the layout `{}` takes fields of documents, and `{{cluster}}` is no directory in it", self.text);
        Err(Diagnostic::new(Code::BadLayout, message)
            .with_note("two clusters could write to one path, which is not known before both are rendered")
            .with_help("begin it with `{cluster}/`"))
    }

    /// Adds the format's extension, unless the layout ends in one or in the template's name, which has it.
    fn add_extension(&mut self) {
        let last = self.parts.iter().rfind(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        let has_one = match last {
            Some(Part::Text(text)) => text.rsplit('/').next().is_some_and(|name| name.contains('.')),
            Some(Part::Template) => true,
            _ => false,
        };
        if !has_one {
            self.parts.push(Part::Extension);
        }
    }

    /// The first place that [would be](Layout::of_documents) a field of a document.
    pub fn names_field(&self) -> Option<&str> {
        self.inputs().find(|path| field(path).is_some())
    }

    /// The paths of fields of documents it uses, in order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field(path) => Some(path.as_str()),
            _ => None,
        })
    }

    /// Whether each document goes to a file of its own.
    pub fn is_of_documents(&self) -> bool {
        self.fields().next().is_some()
    }

    /// The paths of inputs it uses, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Input(path) => Some(path.as_str()),
            _ => None,
        })
    }

    /// The values of [`Layout::inputs`] for one cluster.
    ///
    /// # Errors
    /// `plan.bad_layout` where one is missing or no scalar; `plan.bad_output_name` where it cannot be in a path.
    pub fn values(&self, cluster: &str, shared: &DataMap, own: &DataMap) -> Result<Vec<String>> {
        let one = |path: &str| match lookup(shared, own, path) {
            None | Some(Data::Null) => {
                let top = path.split('.').next().unwrap_or(path);
                if field(path).is_none() && self.is_of_documents() {
                    let help = format!("`{{{DOCUMENT}{path}}}` is a field of the document");
                    return Err(self.bad(cluster, format!("the cluster has no `{path}`")).with_help(help));
                }
                let near =
                    nearest(top, own.keys().chain(shared.keys()).map(String::as_str).chain(["cluster", "template"]));
                let error = self.bad(cluster, format!("the cluster has no `{path}`"));
                Err(near
                    .filter(|near| *near != top)
                    .map_or(error.clone(), |near| error.with_help(format!("did you mean `{near}`?"))))
            }
            Some(other @ (Data::List(_) | Data::Map(_))) => {
                Err(self.bad(cluster, format!("`{path}` is a {}", other.kind())))
            }
            Some(scalar) => {
                let text = scalar_text(scalar);
                check_value(&text, path).map_err(|error| error.for_cluster(cluster))?;
                Ok(text)
            }
        };
        self.inputs().map(one).collect()
    }

    fn bad(&self, cluster: &str, why: String) -> Box<Diagnostic> {
        Diagnostic::new(Code::BadLayout, format!("the layout `{}` cannot be filled in: {why}", self.text))
            .for_cluster(cluster)
    }

    /// Writes the path of one output to `path` (emptied first). `values` are those of [`Layout::values`]; `fields` are
    /// those of the document, in the order of [`Layout::fields`].
    pub fn fill(&self, cluster: &str, template: &str, values: &[String], fields: &[String], path: &mut String) {
        path.clear();
        let (mut values, mut fields) = (values.iter(), fields.iter());
        for part in &self.parts {
            path.push_str(match part {
                Part::Text(text) => text,
                Part::Cluster => cluster,
                Part::Template => template,
                Part::Input(_) => values.next().map_or("", String::as_str),
                // Where no document is known yet, the directories are looked at, and the clusters held apart.
                Part::Field(_) => fields.next().map_or("x", String::as_str),
                Part::Extension => template.rfind('.').and_then(|at| template.get(at..)).unwrap_or(""),
            });
        }
    }
}

/// Checks a name that is to be one part of a path or less: a cluster's, or an input's value.
///
/// # Errors
/// `plan.bad_output_name`.
pub fn check_value(value: &str, what: &str) -> Result<()> {
    let why = match value {
        "" => Some("is empty".to_owned()),
        _ if value.starts_with('.') => Some("begins with a dot".to_owned()),
        _ => fault_of_part(value),
    };
    why.map_or(Ok(()), |why| Err(bad_name(what, value, &why)))
}

/// Checks a whole path, part by part.
///
/// # Errors
/// `plan.bad_output_name`.
pub fn check_path(path: &str) -> Result<()> {
    if path.len() > MAX_PATH {
        return Err(bad_name("output path", path, &format!("is longer than {MAX_PATH} bytes")));
    }
    match path.split('/').find_map(|part| fault_of_part(part).map(|why| (part, why))) {
        Some((part, why)) => {
            Err(bad_name("output path", path, &format!("has the part `{}`, which {why}", shown(part))))
        }
        None => Ok(()),
    }
}

fn bad_name(what: &str, name: &str, why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadOutputName, format!("the {what} `{}` {why}", shown(name)))
        .with_help("names in paths are up to 128 letters, digits, `.`, `_` and `-`")
}

/// A hostile name, fit to be printed.
fn shown(name: &str) -> String {
    let mut text: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    if name.chars().nth(60).is_some() {
        text.push('…');
    }
    text
}

/// Why `part` cannot be one part of a path.
fn fault_of_part(part: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let stem = part.split('.').next().unwrap_or("");
    let why = match part {
        "" => "is empty".to_owned(),
        "." | ".." => "is not a name".to_owned(),
        _ if part.len() > MAX_PART => format!("is longer than {MAX_PART} bytes"),
        _ if !part.chars().all(allowed) => {
            let c = part.chars().find(|c| !allowed(*c)).unwrap_or(' ');
            format!("has the character {c:?}")
        }
        _ if part.starts_with('-') => "begins with `-`".to_owned(),
        _ if part.ends_with('.') => "ends with a dot".to_owned(),
        _ if is_device(stem) => "is a device on some systems".to_owned(),
        _ if part.eq_ignore_ascii_case(".git") => "belongs to git".to_owned(),
        _ if part.to_ascii_lowercase().starts_with(".dropforge-") || super::tree::is_temporary(part) => {
            "is one of our own".to_owned()
        }
        _ => return None,
    };
    Some(why)
}

/// The names that Windows takes for devices, whatever their extension.
fn is_device(stem: &str) -> bool {
    let stem = stem.to_ascii_uppercase();
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL")
        || ["COM", "LPT"]
            .iter()
            .any(|device| stem.strip_prefix(device).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_filled_in() {
        let layout = Layout::parse("{ cluster.env }/x-{cluster}/{template}").unwrap();
        let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
        let shared = map(r#"{"cluster": {"env": "dev"}}"#);
        let values = layout.values("a", &shared, &map(r#"{"cluster": {"env": 7}}"#)).unwrap();
        let mut path = String::from("old");
        layout.fill("a", "t.yaml", &values, &[], &mut path);
        assert_eq!(path, "7/x-a/t.yaml");
        let code = |own| layout.values("a", &DataMap::new(), &map(own)).unwrap_err().code;
        assert_eq!(code("{}"), Code::BadLayout);
        assert_eq!(code(r#"{"cluster": {"env": []}}"#), Code::BadLayout);
        assert_eq!(code(r#"{"cluster": {"env": "../x"}}"#), Code::BadOutputName);
        assert_eq!(code(r#"{"cluster": {"env": ""}}"#), Code::BadOutputName);
    }

    #[test]
    fn layouts_of_documents() {
        let layout = |text: &str| Layout::parse(text).unwrap().of_documents();
        let path = |text: &str, fields: &[&str]| {
            let (layout, mut path) = (layout(text).unwrap(), String::new());
            let fields: Vec<String> = fields.iter().map(|field| field.to_string()).collect();
            layout.fill("eu", "app.json", &[], &fields, &mut path);
            path
        };
        assert_eq!(path("{cluster}/{kind}-{metadata.name}", &["Pod", "a.b"]), "eu/Pod-a.b.json");
        assert_eq!(path("x/{cluster}/{ name }.yml", &["a"]), "x/eu/a.yml");
        assert_eq!(path("{cluster}/{document.spec.x}-{template}", &["7"]), "eu/7-app.json");
        assert_eq!(path("{cluster}/{template}", &[]), "eu/app.json");
        assert!(!layout("{template}").unwrap().is_of_documents());
        for text in
            ["{kind}", "{cluster}-{kind}", "a{cluster}/{kind}", "{template}/{cluster}/{kind}", "{kind}/{cluster}"]
        {
            assert_eq!(layout(text).map_err(|error| error.code), Err(Code::BadLayout), "{text}");
        }
        let none = DataMap::new();
        let error = layout("{cluster}/{spec.x}/{kind}").unwrap().values("eu", &none, &none).unwrap_err();
        assert_eq!(error.help.as_deref(), Some("`{document.spec.x}` is a field of the document"));
    }

    #[test]
    fn malformed_layouts_are_refused() {
        for text in ["", "out", "{", "}", "{}", "{a", "a}", "{{a}}", "{cluster}}", "}{cluster}"] {
            assert_eq!(Layout::parse(text).map_err(|error| error.code), Err(Code::BadLayout), "{text}");
        }
    }

    #[test]
    fn hostile_names_are_refused() {
        let long = "a".repeat(129);
        let bad = [
            "",
            ".",
            "..",
            "../x",
            "/etc/x",
            "a/../../b",
            "a\0b",
            "CON",
            "nul.yaml",
            "com1",
            "LPT9.x",
            "-rf",
            "a.",
            "a b",
            "ä",
            "e\u{301}",
            "a\\b",
            "a:b",
            "a\n",
            ".git",
            ".dropforge-manifest.json",
            "a//b",
            "a/",
            &long,
            ".a.yaml.12.3.dropforge.tmp",
        ];
        for name in bad {
            assert_eq!(check_path(name).map_err(|error| error.code), Err(Code::BadOutputName), "{name:?}");
        }
        for name in [".git/hooks/post-checkout", ".hidden", "a/b", "x/.GIT"] {
            assert_eq!(
                check_value(name, "cluster name").map_err(|error| error.code),
                Err(Code::BadOutputName),
                "{name:?}"
            );
        }
        for name in ["a", "eu-1", "A_b.c", "console", "com10", &long[..128], "a/.gitlab-ci.yml", "x/y.z"] {
            assert!(check_path(name).is_ok(), "{name:?}");
        }
        assert_eq!(check_path(&["abcdefgh"; 120].join("/")).unwrap_err().code, Code::BadOutputName);
    }
}
