//! `Chart.yaml` and `requirements.yaml`, and the checks of their content.

use std::collections::HashSet;
use std::sync::Arc;

use super::Stage;
use super::read::json_kind;
use dropforge_base::diagnostics::{Code, Diagnostic, nearest};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::semver::LenientVersion;
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::Node;
use dropforge_value::{Data, DataMap, yaml};

/// The content of `Chart.yaml`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metadata {
    /// The version of the format: `v1` or `v2`.
    pub api_version: String,
    /// The name of the chart.
    pub name: String,
    /// The version of the chart.
    pub version: String,
    /// The version of the packaged application.
    pub app_version: String,
    /// The constraint on the version of Kubernetes; may be empty.
    pub kube_version: String,
    /// Whether the chart is an application or a library; as written.
    pub kind: String,
    /// A sentence about the chart.
    pub description: String,
    /// The URL of the project.
    pub home: String,
    /// The URL of an image.
    pub icon: String,
    /// The condition of the chart itself.
    pub condition: String,
    /// The tags of the chart itself.
    pub tags: String,
    /// `true` if the chart is deprecated.
    pub deprecated: bool,
    /// Keywords.
    pub keywords: Vec<String>,
    /// The URLs of sources.
    pub sources: Vec<String>,
    /// Maintainers.
    pub maintainers: Vec<Maintainer>,
    /// Annotations, if there is a map of them.
    pub annotations: Option<Vec<(String, String)>>,
    /// The charts that this one depends on.
    pub dependencies: Vec<Dependency>,
    /// `true` if there is a list of them, which may be empty.
    pub has_dependencies: bool,
}

/// The kind of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A chart whose templates are rendered.
    Application,
    /// A chart that only defines templates for others.
    Library,
}

/// A maintainer of a chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Maintainer {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
    /// The home page.
    pub url: String,
}

/// A chart that another one depends on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dependency {
    /// The name of the chart.
    pub name: String,
    /// The constraint on its version.
    pub version: String,
    /// The URL of its repository.
    pub repository: String,
    /// Paths of values that enable the chart, separated by commas.
    pub condition: String,
    /// Tags that enable the chart.
    pub tags: Vec<String>,
    /// A field that has no effect, but is part of the digest of a lock.
    pub enabled: bool,
    /// The name for values and templates; empty if it is the chart's own.
    pub alias: String,
    /// The values to import: names of exports, or maps with `child` and `parent`.
    pub import_values: Vec<Data>,
}

impl Metadata {
    /// Returns the kind of the chart.
    pub fn kind(&self) -> Kind {
        if self.kind == "library" { Kind::Library } else { Kind::Application }
    }

    /// Reads `Chart.yaml`.
    ///
    /// # Errors
    /// The messages of all values of a wrong type.
    pub(super) fn read(data: &Data) -> Result<Metadata, Vec<String>> {
        let mut fields = Fields::of(data, "Metadata").map_err(whys)?;
        let mut metadata = Metadata {
            api_version: fields.text("apiVersion"),
            name: fields.text("name"),
            version: fields.text("version"),
            app_version: fields.text("appVersion"),
            kube_version: fields.text("kubeVersion"),
            kind: fields.text("type"),
            description: fields.text("description"),
            home: fields.text("home"),
            icon: fields.text("icon"),
            condition: fields.text("condition"),
            tags: fields.text("tags"),
            deprecated: fields.flag("deprecated"),
            keywords: fields.texts("keywords"),
            sources: fields.texts("sources"),
            maintainers: fields.list("maintainers", maintainer),
            annotations: fields.get("annotations").is_some().then(|| fields.entries("annotations")),
            dependencies: fields.list("dependencies", dependency),
            has_dependencies: fields.get("dependencies").is_some(),
        };
        if metadata.api_version.is_empty() {
            metadata.api_version = "v1".to_owned();
        }
        fields.finish(metadata).map_err(whys)
    }

    /// Reads the dependencies in `requirements.yaml`. `None` if it has no list of them.
    ///
    /// # Errors
    /// See [`Metadata::read`].
    pub(super) fn read_requirements(data: &Data) -> Result<Option<Vec<Dependency>>, Vec<String>> {
        let mut fields = Fields::of(data, "Metadata").map_err(whys)?;
        let dependencies = fields.list("dependencies", dependency);
        let found = fields.get("dependencies").map(|_| dependencies);
        fields.finish(found).map_err(whys)
    }

    /// Takes the dependencies of `requirements.yaml`, if it has a list of them.
    pub(super) fn require(&mut self, dependencies: Option<Vec<Dependency>>) {
        if let Some(dependencies) = dependencies {
            (self.dependencies, self.has_dependencies) = (dependencies, true);
        }
    }
}

fn whys(refused: Vec<Refused<'_>>) -> Vec<String> {
    refused.into_iter().map(|refused| refused.why).collect()
}

fn maintainer(fields: &mut Fields<'_>) -> Maintainer {
    Maintainer { name: fields.text("name"), email: fields.text("email"), url: fields.text("url") }
}

fn dependency(fields: &mut Fields<'_>) -> Dependency {
    Dependency {
        name: fields.text("name"),
        version: fields.text("version"),
        repository: fields.text("repository"),
        condition: fields.text("condition"),
        tags: fields.texts("tags"),
        enabled: fields.flag("enabled"),
        alias: fields.text("alias"),
        import_values: match fields.get("import-values") {
            Some(Data::List(items)) => items.clone(),
            Some(other) => {
                fields.mismatch("import-values", other, "[]interface {}");
                Vec::new()
            }
            None => Vec::new(),
        },
    }
}

/// A value of a wrong type.
#[derive(Debug)]
pub(super) struct Refused<'d> {
    /// Go's message.
    pub why: String,
    pub value: &'d Data,
    /// The type in Go.
    pub wanted: &'static str,
}

/// The fields of a map, with the errors found so far.
pub(super) struct Fields<'d> {
    map: Option<&'d DataMap>,
    kind: &'static str,
    errors: Vec<Refused<'d>>,
}

impl<'d> Fields<'d> {
    /// Returns the fields of a map, or of nothing.
    pub(super) fn of(data: &'d Data, kind: &'static str) -> Result<Self, Vec<Refused<'d>>> {
        match data {
            Data::Null => Ok(Self { map: None, kind, errors: Vec::new() }),
            Data::Map(map) => Ok(Self { map: Some(map), kind, errors: Vec::new() }),
            other => {
                let why = format!("cannot unmarshal {} into Go value of type {kind}", json_kind(other));
                Err(vec![Refused { why, value: other, wanted: kind }])
            }
        }
    }

    pub(super) fn finish<T>(self, value: T) -> Result<T, Vec<Refused<'d>>> {
        if self.errors.is_empty() { Ok(value) } else { Err(self.errors) }
    }

    /// Returns the value of a field that is not null. Names match regardless of case, the exact one first.
    pub(super) fn get(&self, name: &str) -> Option<&'d Data> {
        let map = self.map?;
        let inexact = || map.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        map.get(name).or_else(inexact).filter(|value| **value != Data::Null)
    }

    fn mismatch(&mut self, name: &str, value: &'d Data, wanted: &'static str) {
        let (found, kind) = (json_kind(value), self.kind);
        let why = format!("cannot unmarshal {found} into Go struct field {kind}.{name} of type {wanted}");
        self.errors.push(Refused { why, value, wanted });
    }

    pub(super) fn text(&mut self, name: &str) -> String {
        let Some(value) = self.get(name) else { return String::new() };
        scalar(value).unwrap_or_else(|| {
            self.mismatch(name, value, "string");
            String::new()
        })
    }

    pub(super) fn flag(&mut self, name: &str) -> bool {
        match self.get(name) {
            Some(Data::Bool(flag)) => *flag,
            Some(other) => {
                self.mismatch(name, other, "bool");
                false
            }
            None => false,
        }
    }

    fn items(&mut self, name: &str, wanted: &'static str) -> &'d [Data] {
        match self.get(name) {
            Some(Data::List(items)) => items,
            Some(other) => {
                self.mismatch(name, other, wanted);
                &[]
            }
            None => &[],
        }
    }

    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        let items = self.items(name, "[]string");
        let text = |item: &'d Data| {
            scalar(item).unwrap_or_else(|| {
                self.mismatch(name, item, "string");
                String::new()
            })
        };
        items.iter().map(text).collect()
    }

    fn list<T>(&mut self, name: &'static str, read: fn(&mut Fields<'_>) -> T) -> Vec<T> {
        let mut found = Vec::new();
        for item in self.items(name, "[]object") {
            if *item == Data::Null {
                let why = format!("{name} must not contain empty or null nodes");
                self.errors.push(Refused { why, value: item, wanted: "object" });
                continue;
            }
            match Fields::of(item, name) {
                Ok(mut fields) => {
                    found.push(read(&mut fields));
                    self.errors.append(&mut fields.errors);
                }
                Err(mut errors) => self.errors.append(&mut errors),
            }
        }
        found
    }

    /// Returns the entries of a map of texts, sorted.
    pub(super) fn entries(&mut self, name: &str) -> Vec<(String, String)> {
        let map = match self.get(name) {
            Some(Data::Map(map)) => map,
            Some(other) => {
                self.mismatch(name, other, "map[string]string");
                return Vec::new();
            }
            None => return Vec::new(),
        };
        let mut entries = Vec::new();
        for (key, value) in map {
            match scalar(value) {
                Some(text) => entries.push((key.clone(), text)),
                None => self.mismatch(name, value, "string"),
            }
        }
        entries.sort_unstable();
        entries
    }
}

/// Returns the text of a scalar where text is wanted. Null is empty.
fn scalar(data: &Data) -> Option<String> {
    match data {
        Data::Null => Some(String::new()),
        Data::Bool(b) => Some(b.to_string()),
        Data::Int(n) => Some(n.to_string()),
        Data::Uint(n) => Some(n.to_string()),
        Data::Float(n) => Some(shortest(*n)),
        Data::Number(text) => text.parse().ok().map(shortest),
        Data::Str(text) => Some(text.clone()),
        Data::List(_) | Data::Map(_) => None,
    }
}

/// Returns the shortest spelling of a float; large and small ones have an exponent of at least two digits.
fn shortest(n: f64) -> String {
    let text = format!("{n:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return n.to_string() };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..21).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => n.to_string(),
    }
}

/// Something that is wrong with the metadata of a chart.
pub(super) struct Problem {
    /// Helm's message.
    message: String,
    /// The key that is wrong or missing.
    key: &'static str,
    help: String,
}

impl Problem {
    fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), key, help: help.into() }
    }

    /// Returns the error, at the value in the file, or at a key that is likely a misspelling of the missing one.
    pub(super) fn error(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let error = Stage::Load.error(Code::InputStructure, self.message);
        let Some(document) = document(source) else {
            return error.at(source, Span::default(), "").with_help(self.help);
        };
        if let Some(entry) = document.entry(self.key) {
            let span = if entry.value.span.start < entry.value.span.end { entry.value.span } else { entry.key.span };
            return error.at(source, span, "").with_help(self.help);
        }
        let keys = || document.as_map().unwrap_or(&[]).iter().map(|entry| &entry.key);
        let near = keys().find(|key| nearest(&key.text, [self.key]).is_some() && !KEYS.contains(&&*key.text));
        match near {
            Some(key) => error.at(source, key.span, "").with_suggestion(&key.text, [self.key]),
            None => error.at(source, Span::default(), "").with_help(self.help),
        }
    }
}

/// The keys that charts must have, or that decide how they are read.
const KEYS: [&str; 5] = ["apiVersion", "name", "version", "type", "dependencies"];

/// Returns everything that is wrong with the metadata.
pub(super) fn problems(metadata: &Metadata) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut wrong = |key, message: &str, help: &str| {
        found.push(Problem::new(key, format!("validation: {message}"), help));
    };
    let name = metadata.name.as_str();
    if name.is_empty() {
        wrong("name", "chart.metadata.name is required", "add a line such as `name: web`");
    } else if name.contains(['/', '\\']) || matches!(name, "." | "..") {
        let last = name.rsplit(['/', '\\']).next().filter(|last| !matches!(*last, "" | "." | ".."));
        let help = format!("write a name without a path: `name: {}`", last.unwrap_or("web"));
        wrong("name", &format!("chart.metadata.name {name:?} is invalid"), &help);
    }
    let help = "versions have three numbers: `version: 1.0.0`";
    if metadata.version.is_empty() {
        wrong("version", "chart.metadata.version is required", "add a line such as `version: 1.0.0`");
    } else if LenientVersion::parse(&metadata.version).is_err() {
        wrong("version", &format!("chart.metadata.version {:?} is invalid", metadata.version), help);
    }
    if !matches!(metadata.kind.as_str(), "" | "application" | "library") {
        let message = "chart.metadata.type must be application or library";
        wrong("type", message, "write `type: application`, or `type: library` for a chart of named templates only");
    }
    for (problem, help) in of_dependencies(&metadata.dependencies) {
        wrong("dependencies", &problem, help);
    }
    found
}

/// Returns the error of a version of the format that Helm does not have.
pub(super) fn unsupported(metadata: &Metadata) -> Option<Problem> {
    let message = match metadata.api_version.as_str() {
        "v1" | "v2" => return None,
        "v3" => "invalid chart apiVersion",
        _ => "unsupported chart version",
    };
    Some(Problem::new("apiVersion", message, "write `apiVersion: v2`"))
}

fn of_dependencies(dependencies: &[Dependency]) -> Vec<(String, &'static str)> {
    let (mut names, mut found) = (HashSet::new(), Vec::new());
    for dependency in dependencies {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !dependency.alias.chars().all(is_plain) {
            let message = format!("dependency {:?} has disallowed characters in the alias", dependency.name);
            found.push((message, "write the alias with letters, digits, `_` and `-`"));
        }
        let key = if dependency.alias.is_empty() { &dependency.name } else { &dependency.alias };
        if !names.insert(key) {
            let message = format!("more than one dependency with name or alias {key:?}");
            found.push((message, "remove one of them, or give it an `alias`"));
        }
    }
    found
}

/// Returns the place of the value of `key`.
pub(super) fn place_of(source: &Arc<Source>, key: &str) -> Option<Span> {
    document(source)?.get(key).map(|value| value.span)
}

/// Returns the place of the name of a dependency.
pub(super) fn place_of_dependency(source: &Arc<Source>, name: &str) -> Option<Span> {
    let document = document(source)?;
    let mut names = document.get("dependencies")?.as_list()?.iter().filter_map(|item| item.get("name"));
    names.find(|one| *one.text == *name).map(|one| one.span)
}

fn document(source: &Arc<Source>) -> Option<Node> {
    yaml::read(source, &Limits::default()).ok()?.into_iter().next()
}
