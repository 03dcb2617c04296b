//! Checks of outputs by the schemas of Kubernetes kinds.

mod sources;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use self::sources::{Kind, Sources};
use super::plan_digest::PlanDigest;
use super::schema::{self, draft, strangers};
use crate::lock;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_engine::OutputSyntax;
use dropforge_schema::{Draft, Schema, Violation};
use dropforge_value::yaml::libyaml::{Resolved, resolve};
use dropforge_value::yaml::{self, Node};
use dropforge_value::{Arena, Data, InputBuilder, Shapes};

/// Maximum number of violations to report for one resource. The others are counted.
const REPORTED: usize = 20;
/// Maximum number of steps for validating one resource.
const STEPS: u64 = 8_000_000;
/// Maximum number of kinds without a schema to remember.
const UNKNOWN: usize = 1_000;

/// A compiled schema, or the error of one that cannot be used.
type Compiled = Result<Option<Arc<Schema>>>;

/// The schemas of Kubernetes kinds, read from files.
///
/// Kinds come from OpenAPI documents with `x-kubernetes-group-version-kind` (version 2 or 3), from
/// CustomResourceDefinitions, and from JSON Schemas whose names are those of kubeconform: `deployment-apps-v1.json`.
#[derive(Debug)]
pub struct KubeSchemas {
    sources: Sources,
    compiled: Mutex<HashMap<Kind, Compiled>>,
    /// Kinds without a schema, and the first output of each by name.
    unknown: Mutex<BTreeMap<Kind, String>>,
    /// Kinds without a schema are errors.
    strict: bool,
}

impl KubeSchemas {
    /// Reads the schemas in `files`.
    ///
    /// # Errors
    /// `file.read_failed`, `input.syntax`; `usage` if there are no schemas.
    pub fn read(files: &[PathBuf]) -> Result<Self> {
        let mut sources = Sources::default();
        files.iter().try_for_each(|path| sources.add(path))?;
        if sources.is_empty() {
            return Err(Diagnostic::new(Code::Usage, "there are no schemas of Kubernetes kinds").with_help(
                "give an OpenAPI document, CustomResourceDefinitions, or JSON Schemas named `deployment-apps-v1.json`",
            ));
        }
        Ok(Self { sources, compiled: Mutex::default(), unknown: Mutex::default(), strict: false })
    }

    /// Adds the contents of the files to the digest of a plan.
    ///
    /// # Errors
    /// `file.read_failed`.
    pub fn add_to_digest(&self, digest: &mut PlanDigest) -> Result<()> {
        self.sources.add_to_digest(digest)
    }

    /// Makes a kind without a schema an error instead of a [warning](KubeSchemas::warnings).
    pub fn with_strict(self, strict: bool) -> Self {
        Self { strict, ..self }
    }

    /// Returns the violations by the resources in the text of the file `path`. A file that is named neither as YAML nor as
    /// JSON has none, and so have documents without `apiVersion` and `kind`.
    pub fn errors_of_file(&self, path: &str, text: &str) -> Vec<Box<Diagnostic>> {
        if OutputSyntax::of_file(path).is_none() {
            return Vec::new();
        }
        let source = Source::new(path, text);
        let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
        // The check of syntax reports what cannot be read.
        let documents = yaml::read_with(&source, &limits, yaml::Tags::Kept).unwrap_or_default();
        documents.iter().flat_map(|document| self.document(&source, document)).collect()
    }

    /// Returns a warning for each kind without a schema.
    pub fn warnings(&self) -> Vec<String> {
        let warning = |(kind, path): (&Kind, &String)| format!("{kind} has no schema and was not checked (`{path}`)");
        lock(&self.unknown).iter().map(warning).collect()
    }

    /// Validates a resource, or those in a `List`.
    fn document(&self, source: &Arc<Source>, document: &Node) -> Vec<Box<Diagnostic>> {
        let Some(kind) = Kind::of(document) else { return Vec::new() };
        if let ("List", Some(items)) = (&*kind.kind, document.get("items").and_then(Node::as_list)) {
            return items.iter().flat_map(|item| self.resource(source, item)).collect();
        }
        self.resource(source, document)
    }

    fn resource(&self, source: &Arc<Source>, resource: &Node) -> Vec<Box<Diagnostic>> {
        let Some(kind) = Kind::of(resource) else { return Vec::new() };
        match self.schema(&kind) {
            Ok(Some(schema)) => violations(&kind, &schema, source, resource),
            Ok(None) if self.strict => {
                let span = resource.get("kind").map_or(resource.span, |kind| kind.span);
                let error =
                    Diagnostic::new(Code::UnfitOutput, format!("{kind} has no schema, and warnings are errors"));
                vec![error.at(source, span, "").with_help("add its schema to `--kube-schemas`, or omit `--strict`")]
            }
            Ok(None) => {
                self.note_unknown(kind, source.name());
                Vec::new()
            }
            Err(error) => vec![error],
        }
    }

    /// Remembers a kind without a schema, with the first output by name: the order of threads does not matter.
    fn note_unknown(&self, kind: Kind, output: &str) {
        let mut unknown = lock(&self.unknown);
        if unknown.len() < UNKNOWN || unknown.contains_key(&kind) {
            let first = unknown.entry(kind).or_insert_with(|| output.to_owned());
            if output < first.as_str() {
                output.clone_into(first);
            }
        }
    }

    /// Returns the schema of a kind, compiled once.
    fn schema(&self, kind: &Kind) -> Compiled {
        if let Some(known) = lock(&self.compiled).get(kind) {
            return known.clone();
        }
        let compiled = self.sources.find(kind).and_then(|found| found.map(|found| compile(kind, &found)).transpose());
        let mut all = lock(&self.compiled);
        if all.len() < UNKNOWN {
            all.insert(kind.clone(), compiled.clone());
        }
        compiled
    }
}

fn compile(kind: &Kind, (data, file): &(Data, Option<PathBuf>)) -> Result<Arc<Schema>> {
    // OpenAPI has the boolean `exclusiveMinimum` of draft 4.
    let draft = if file.is_some() { draft(data) } else { Ok(Draft::Draft4) };
    draft.and_then(|draft| Schema::read(data, draft)).map(Arc::new).map_err(|errors| {
        let first = errors.first().map_or(String::new(), |first| format!("{}: {}", first.pointer, first.message));
        let message = format!("the schema of {kind} is not a usable JSON Schema: {first}");
        let error = Diagnostic::new(Code::InputStructure, message);
        file.iter().fold(error, |error, file| error.with_note(format!("file: {}", file.display())))
    })
}

/// Returns the violations of a resource.
fn violations(kind: &Kind, schema: &Schema, source: &Arc<Source>, resource: &Node) -> Vec<Box<Diagnostic>> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let mut data = as_sent(resource);
    remove_nulls(&mut data);
    let value = match InputBuilder::new(&arena, &shapes).data(&data) {
        Ok(value) => value,
        Err(error) => return vec![error],
    };
    let mut left = STEPS;
    let found = schema.violations(value, REPORTED, &mut |steps| {
        left = left.checked_sub(steps).ok_or(())?;
        Ok::<(), ()>(())
    });
    let Ok(found) = found else {
        let message = format!("checking by the schema of {kind} takes too many steps");
        return vec![Diagnostic::new(Code::UnfitOutput, message).at(source, resource.span, "")];
    };
    let name = data.at_path("metadata.name").and_then(Data::as_str);
    let error = |violation: &Violation| {
        let error = unfit(kind, schema, violation).at(source, place(resource, violation), "");
        name.iter().fold(error, |error, name| error.with_note(format!("resource: {name}")))
    };
    let mut errors: Vec<Box<Diagnostic>> = found.violations.iter().map(error).collect();
    if let Some(last) = errors.last_mut().filter(|_| found.more > 0) {
        last.notes.push(format!("not shown: {}", counted(found.more, "further violation")));
    }
    errors
}

fn unfit(kind: &Kind, compiled: &Schema, violation: &Violation) -> Box<Diagnostic> {
    let what = match &violation.path {
        path if path.is_empty() => "the resource".to_owned(),
        path => format!("`{path}`"),
    };
    schema::unfit(Code::UnfitOutput, &format!("{what} does not fit the schema of {kind}"), compiled, violation)
}

/// Returns the span of the value that violates, or of the innermost map around it.
fn place(resource: &Node, violation: &Violation) -> Span {
    if let [first, ..] = strangers(violation)
        && let Some(entry) = resource.at_pointer(&violation.pointer).and_then(|parent| parent.entry(first))
    {
        return entry.key.span;
    }
    resource.at_pointer(&violation.pointer).map_or(resource.span, |node| node.span)
}

/// Returns a resource as clients of Kubernetes send it: they read YAML 1.1, and whole numbers have no fraction in JSON.
fn as_sent(node: &Node) -> Data {
    match &node.kind {
        yaml::Kind::List(items) => Data::List(items.iter().map(as_sent).collect()),
        yaml::Kind::Map(entries) => {
            let pair = |entry: &yaml::Entry| (entry.name.as_ref().to_owned(), as_sent(&entry.value));
            Data::Map(entries.iter().map(pair).collect())
        }
        _ if node.style != yaml::Style::Plain || node.tag.is_some() => node.to_data(),
        _ => match resolve(&node.text) {
            Resolved::Null => Data::Null,
            Resolved::Bool(truth) => Data::Bool(truth),
            Resolved::Int(n) => Data::Int(n),
            Resolved::Uint(n) => Data::uint(n),
            Resolved::Float(n) => whole_number(n).map_or(Data::Float(n), Data::Int),
            Resolved::Time | Resolved::Text | Resolved::Merge | Resolved::List | Resolved::Map => {
                Data::Str(node.text.as_ref().to_owned())
            }
        },
    }
}

/// Returns a number without a fraction that fits.
fn whole_number(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < i64::MAX as f64).then_some(number as i64)
}

/// Removes nulls from maps, as a server does.
fn remove_nulls(data: &mut Data) {
    match data {
        Data::Map(map) => {
            map.retain(|_, value| *value != Data::Null);
            map.values_mut().for_each(remove_nulls);
        }
        Data::List(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}
