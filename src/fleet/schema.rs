//! Schemas of merged values: `values.schema.json` beside the templates.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use super::input::{self, Format};
use super::origins::Origins;
use super::values::{Step, value_at};
use dropforge_base::diagnostics::{Code, Diagnostic, PROBLEM, Result, counted, listed, nearest};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_hcl::Variables;
use dropforge_schema::{
    Detail, Draft, Findings, Schema, SchemaError, Violation, each_secret, each_secret_name, has_secrets, is_secret,
};
use dropforge_value::yaml::{self, Node};
use dropforge_value::{Arena, Data, DataMap, InputBuilder, Shapes};

/// The name of a schema beside templates. A file of this name in a directory of templates is no template.
pub const SCHEMA_FILE: &str = "values.schema.json";

/// Maximum number of steps of a validation.
const STEPS: u64 = 8_000_000;
/// Maximum number of violations to report for one set of values. The others are counted.
const REPORTED: usize = 100;
/// Maximum number of unexpected properties to name.
const STRANGERS: usize = 5;
/// Maximum number of violations whose origins one thread finds. Finding one may read a fleet again.
const EXPLAINED: usize = 100;

/// A JSON Schema for merged values.
///
/// ```
/// use dropforge::bulk::schema::{ValuesSchema, validate};
/// use dropforge::bulk::{Format, Origins, input::{self, Place}};
/// use dropforge::text::Source;
/// let schema = Source::new("values.schema.json", r#"{"properties": {"replicas": {"type": "integer"}}}"#);
/// let schema = ValuesSchema::read(&schema)?;
/// let file = Source::new("values.yaml", "name: web\nreplicas: two\n");
/// let values = input::map(&file, Format::Yaml)?;
/// let mut origins = Origins::default();
/// origins.add_file(&values, Place::file(&file, Format::Yaml));
/// let errors = validate(&[schema], &values, &origins);
/// assert_eq!(
///     errors[0].to_string(),
///     "E0808: `replicas` does not fit `values.schema.json`: expected an integer, found the string \"two\" (type) (values.yaml:2:11)"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ValuesSchema {
    source: Arc<Source>,
    document: Data,
    compiled: Schema,
    /// The schema with positions, read for the first violation.
    places: OnceLock<Option<Node>>,
}

impl ValuesSchema {
    /// Reads a schema: JSON or YAML, in the draft of its `$schema`, or else draft 7.
    ///
    /// # Errors
    /// `input.syntax`; `input.structure` for anything but a schema. The first error carries the others.
    pub fn read(source: &Arc<Source>) -> Result<Self> {
        let format = Format::of_name(source.name()).unwrap_or(Format::Yaml);
        let [document] = <[Data; 1]>::try_from(input::documents(source, format)?).map_err(|documents| {
            let message = format!("expected one schema, found {}", counted(documents.len(), "document"));
            Diagnostic::new(Code::InputSyntax, message).at(source, Span::new(0, 0), "")
        })?;
        let places = OnceLock::new();
        let compiled = draft(&document).and_then(|draft| Schema::read(&document, draft));
        match compiled {
            Ok(compiled) => Ok(Self { source: source.clone(), document, compiled, places }),
            Err(errors) => {
                let node = places.get_or_init(|| node(source)).as_ref();
                Err(input::all_of(errors.iter().map(|error| invalid(source, node, error)).collect()))
            }
        }
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// Adds the defaults of missing properties to `values`.
    ///
    /// # Errors
    /// `input.structure` for a schema whose defaults have no end.
    pub fn fill(&self, values: &mut DataMap) -> Result<()> {
        let mut data = Data::Map(std::mem::take(values));
        self.compiled.fill(&mut data).map_err(|error| invalid(&self.source, None, &error))?;
        *values = data.into_map().unwrap_or_default();
        Ok(())
    }

    /// Returns the violations of `values` with their paths. Their origins are not known yet.
    fn violations(&self, values: &DataMap) -> Vec<FoundViolation> {
        match self.findings(values) {
            Ok(Findings { violations, more }) => {
                let mut found: Vec<FoundViolation> =
                    violations.into_iter().map(|one| self.found(one, values)).collect();
                if let Some(FoundViolation { error, .. }) = found.last_mut().filter(|_| more > 0) {
                    error.notes.push(format!("not shown: {}", counted(more, "further violation")));
                }
                found
            }
            Err(error) => vec![FoundViolation { error, path: Vec::new(), is_whole: false }],
        }
    }

    fn findings(&self, values: &DataMap) -> Result<Findings> {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let value = InputBuilder::new(&arena, &shapes).data_map(values)?;
        let mut left = STEPS;
        self.compiled
            .violations(value, REPORTED, &mut |steps| {
                left = left.checked_sub(steps).ok_or(())?;
                Ok(())
            })
            .map_err(|()| {
                Diagnostic::new(Code::UnfitValues, format!("validation by `{}` takes too many steps", self.name()))
            })
    }

    fn found(&self, violation: Violation, values: &DataMap) -> FoundViolation {
        let what = match &violation.path {
            path if path.is_empty() => "the values do".to_owned(),
            path => format!("`{path}` does"),
        };
        let what = format!("{what} not fit `{}`", self.name());
        let mut error = unfit(Code::UnfitValues, &what, &self.compiled, &violation);
        if let Some(span) = self.span(&violation) {
            error = error.at(&self.source, span, "expected here");
        }
        let mut path = Step::of_pointer(&violation.pointer, values);
        path.extend(strangers(&violation).first().map(|name| Step::Key(name.clone())));
        if let Some(near) = self.misspelled(&violation, value_of(values, &path)) {
            let missing = violation.names().first().map_or("", String::as_str);
            error = error.with_help(format!("did you mean `{missing}` by `{near}`?"));
            path.push(Step::Key(near));
        }
        let Violation { keyword, limit, value, .. } = violation;
        error.fields.extend([("keyword", keyword.to_owned()), ("limit", limit)]);
        error.fields.extend(value.map(|value| ("value", value)));
        FoundViolation { error, path, is_whole: false }
    }

    /// Returns the property that is likely a misspelling of a missing one: it is near, and the schema does not know it.
    fn misspelled(&self, violation: &Violation, value: Option<&DataMap>) -> Option<String> {
        let missing = violation.names().first().filter(|_| violation.keyword == "required")?;
        let known = self.compiled.properties_at(violation.node);
        let strange = value?.keys().map(String::as_str).filter(|name| !known.contains(name));
        nearest(missing, strange).map(str::to_owned)
    }

    /// Returns the span of the violated keyword, or of the schema that has it.
    fn span(&self, violation: &Violation) -> Option<Span> {
        let node = self.places.get_or_init(|| node(&self.source)).as_ref()?;
        violation.place(node)
    }
}

/// Returns the error of a violation: `what` does not fit, the reason, and the likely fix. Names unexpected properties.
pub(super) fn unfit(code: Code, what: &str, schema: &Schema, violation: &Violation) -> Box<Diagnostic> {
    let (mut error, help) = match strangers(violation) {
        [] => {
            let error = Diagnostic::new(code, format!("{what}: {}", violation.what()));
            (error.with_field(PROBLEM, format!("{what}: {}", violation.problem())), None)
        }
        [first, ..] => {
            let names = listed_properties(strangers(violation));
            let known = schema.properties_at(violation.node);
            let near = nearest(first, known.iter().copied());
            let error = Diagnostic::new(code, format!("{what}: unexpected {names} ({})", violation.keyword));
            let error = if known.is_empty() { error } else { error.with_available(known) };
            (error, near.map(|near| format!("did you mean `{near}`?")))
        }
    };
    error.help = help.or_else(|| violation.help.clone()).or_else(|| quotes(violation));
    error.with_field("pointer", violation.pointer.as_str())
}

/// Returns the fix of a value that is of the right type with, or without, quotes.
fn quotes(violation: &Violation) -> Option<String> {
    let is = |types: &[&str]| violation.keyword == "type" && types.contains(&violation.limit.trim_matches('"'));
    let value = violation.value.as_deref()?;
    let text = value.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match text {
        Some(text) if is(&["integer", "number"]) && text.parse::<f64>().is_ok() => {
            Some("write it without quotes".to_owned())
        }
        Some("true" | "false") if is(&["boolean"]) => Some("write it without quotes".to_owned()),
        None if is(&["string"]) && !value.starts_with(['[', '{', 'n']) => {
            Some("put it in quotes; use `--set-string` for an option, and `--csv-types strings` for a table".to_owned())
        }
        _ => None,
    }
}

/// Returns the map at a path.
fn value_of<'d>(values: &'d DataMap, path: &[Step]) -> Option<&'d DataMap> {
    let Some((first, rest)) = path.split_first() else { return Some(values) };
    value_at(values.get(first.key()?)?, rest)?.as_map()
}

/// Returns the names of the properties that are not allowed.
pub(super) fn strangers(violation: &Violation) -> &[String] {
    match (&violation.detail, violation.keyword) {
        (Detail::Names(names), "additionalProperties" | "unevaluatedProperties") => names,
        _ => &[],
    }
}

fn listed_properties(names: &[String]) -> String {
    let noun = if names.len() == 1 { "property" } else { "properties" };
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{noun} {}", listed(&names, STRANGERS))
}

/// A violation and the path of the value.
struct FoundViolation {
    error: Box<Diagnostic>,
    path: Vec<Step>,
    /// `true` if the error may be about any part of the value.
    is_whole: bool,
}

impl FoundViolation {
    /// Adds the origin of the value as the first place of the error.
    fn explained(mut self, origins: &Origins<'_>) -> Box<Diagnostic> {
        let schema = std::mem::take(&mut self.error.labels);
        let mut error = self.noted(origins);
        error.labels.extend(schema);
        error
    }

    /// Adds the origin of the value: a label, or a note.
    fn noted(self, origins: &Origins<'_>) -> Box<Diagnostic> {
        let found = match self.is_whole {
            true => origins.of_parts(&self.path),
            false => origins.of(&self.path).next().map(|origin| (origin, false)).into_iter().collect(),
        };
        found.into_iter().fold(self.error, |error, (origin, is_part)| match origin.place() {
            Some((source, span)) => error.at(source, span, "given here"),
            None if is_part => error.with_note(format!("a part is given by {origin}")),
            None => error.with_note(format!("given by {origin}")),
        })
    }
}

/// Returns the violations of merged values, with the origins of the values that violate.
pub fn validate(schemas: &[ValuesSchema], values: &DataMap, origins: &Origins<'_>) -> Vec<Box<Diagnostic>> {
    let found = schemas.iter().flat_map(|schema| schema.violations(values));
    found.map(|found| found.explained(origins)).collect()
}

/// The schemas of a run, and the declarations of its variables.
#[derive(Debug, Default)]
pub struct Schemas {
    /// The schemas. Values have to fit all of them.
    pub schemas: Vec<ValuesSchema>,
    /// Fill in the defaults of missing values.
    pub defaults: bool,
    /// The declared variables of HCL templates. Their defaults are always filled in.
    pub variables: Option<Variables>,
}

impl Schemas {
    /// Returns `true` if there is nothing to check and to fill in.
    pub(super) fn is_empty(&self) -> bool {
        self.schemas.is_empty() && !self.has_variables()
    }

    /// Returns `true` if values are filled in or converted.
    pub(super) fn fills(&self) -> bool {
        self.defaults || self.has_variables()
    }

    fn has_variables(&self) -> bool {
        self.variables.is_some()
    }

    /// Fills in defaults of schemas, if that was requested, and those of variables.
    ///
    /// # Errors
    /// Those of [`ValuesSchema::fill`].
    pub(super) fn fill(&self, values: &mut DataMap) -> Result<()> {
        if self.defaults {
            self.schemas.iter().try_for_each(|schema| schema.fill(values))?;
        }
        self.variables.iter().for_each(|variables| variables.complete(values));
        Ok(())
    }

    /// Returns the names of the values that variables convert.
    pub(super) fn converted(&self) -> Vec<&str> {
        self.variables.iter().flat_map(Variables::names).collect()
    }

    /// Returns the paths of values that schemas declare.
    pub(super) fn declared(&self) -> Vec<Vec<&str>> {
        self.schemas.iter().flat_map(|schema| schema.compiled.declared()).collect()
    }

    /// Returns the paths of what the values of variables keep when they are converted to their types.
    pub(super) fn kept(&self) -> Vec<Vec<String>> {
        self.variables.iter().flat_map(Variables::kept).collect()
    }

    /// Returns the place of the default that gave the value at `path`: that of a variable, or else the schemas.
    pub(super) fn default_place(&self, path: &[Step]) -> String {
        let place = self.variables.as_ref().zip(path.first().and_then(Step::key));
        if let Some((source, span)) = place.and_then(|(variables, name)| variables.default_place(name)) {
            return format!("{}:{}", source.name(), source.position(span.start));
        }
        self.schemas.iter().map(ValuesSchema::name).collect::<Vec<_>>().join(", ")
    }

    /// Returns `true` if a schema or the declaration of a variable marks the value at `path` secret.
    pub(super) fn is_secret(&self, path: &[Step]) -> bool {
        self.secret_schemas().any(|schema| is_secret(schema, path))
    }

    /// Returns `true` if any value is marked secret.
    pub(super) fn have_secrets(&self) -> bool {
        self.secret_schemas().any(has_secrets)
    }

    fn secret_schemas(&self) -> impl Iterator<Item = &Data> {
        let schemas = self.schemas.iter().map(|schema| &schema.document);
        schemas.chain(self.variables.iter().map(Variables::schema))
    }

    /// Calls `each` with the name of every property or variable that is marked secret.
    pub(super) fn each_secret_name(&self, each: &mut dyn FnMut(&str)) {
        self.secret_schemas().for_each(|schema| each_secret_name(schema, each));
    }

    /// Calls `each` with the text of every value that a schema or the declaration of a variable marks secret.
    pub(super) fn each_secret(&self, values: &DataMap, each: &mut dyn FnMut(&str)) {
        for schema in self.secret_schemas() {
            each_secret(schema, values, &mut |text| each(&text));
        }
    }

    /// Returns the violations of schemas, and the errors of variables.
    fn found(&self, values: &DataMap) -> Vec<FoundViolation> {
        let found = self.schemas.iter().flat_map(|schema| schema.violations(values));
        let found = found.chain(
            self.variables.iter().flat_map(|variables| variables.errors(values)).map(|(path, error)| FoundViolation {
                is_whole: path.len() == 1,
                error,
                path,
            }),
        );
        found.collect()
    }

    /// Returns the violations of `values`. `origins` calls its argument with the origins of the values. `explained` holds
    /// the violations whose origins were found.
    pub(super) fn violations(
        &self,
        values: &DataMap,
        origins: impl FnOnce(&mut dyn FnMut(&Origins<'_>)),
        explained: &mut Explained,
    ) -> Vec<Box<Diagnostic>> {
        let all = self.found(values);
        let is_new: Vec<bool> = all.iter().map(|found| explained.is_new(&found.error)).collect();
        if !is_new.contains(&true) {
            return all.into_iter().map(|found| found.error).collect();
        }
        let (mut all, mut errors) = (Some(all), Vec::new());
        origins(&mut |origins| {
            let all = all.take().into_iter().flatten().zip(&is_new);
            errors.extend(all.map(|(found, is_new)| if *is_new { found.explained(origins) } else { found.error }));
        });
        errors
    }
}

/// Adds the origins of values to errors of `$schema` directives, which name values by their JSON pointers.
pub(super) fn explain(error: &mut Box<Diagnostic>, values: &DataMap, origins: &Origins<'_>) {
    if let Some(path) = pointer(error).map(|pointer| Step::of_pointer(pointer, values)) {
        let found = FoundViolation {
            error: std::mem::replace(error, Diagnostic::new(Code::Internal, "")),
            path,
            is_whole: false,
        };
        *error = found.noted(origins);
    }
    error.also.iter_mut().for_each(|error| explain(error, values, origins));
}

/// Returns `true` if a value of the inputs does not fit a `$schema`.
pub(super) fn is_unfit_input(error: &Diagnostic) -> bool {
    pointer(error).is_some() || error.also.iter().any(|error| is_unfit_input(error))
}

/// Returns the JSON pointer of the value that an error of a `$schema` is about.
fn pointer(error: &Diagnostic) -> Option<&str> {
    let is_input = matches!(error.code, Code::InputType | Code::InputStructure);
    error.fields.get("pointer").filter(|_| is_input).map(String::as_str)
}

/// The violations whose origins a thread has found. A run shows only the first violation of a cause.
#[derive(Debug, Default)]
pub(super) struct Explained(HashSet<String>);

impl Explained {
    /// Returns `true` for an error with a new problem, unless there are too many.
    pub(super) fn is_new(&mut self, error: &Diagnostic) -> bool {
        self.0.len() < EXPLAINED && self.0.insert(error.problem().to_owned())
    }
}

/// Returns the draft that a schema names, or draft 7.
pub(super) fn draft(document: &Data) -> std::result::Result<Draft, Vec<SchemaError>> {
    let Some(named) = document.get("$schema") else { return Ok(Draft::Draft7) };
    named.as_str().and_then(Draft::of_uri).ok_or_else(|| {
        let named = serde_json::to_string(named).unwrap_or_default();
        let message = format!("{named} is not a known draft of JSON Schema");
        let help = Some("the drafts are 4, 6, 7, 2019-09 and 2020-12".to_owned());
        vec![SchemaError { pointer: "/$schema".to_owned(), message, help, unloaded: false }]
    })
}

/// Converts an error of a schema.
fn invalid(source: &Arc<Source>, node: Option<&Node>, error: &SchemaError) -> Box<Diagnostic> {
    let span = node.and_then(|node| node.at_pointer(&error.pointer)).map_or(Span::new(0, 0), |node| node.span);
    let message = format!("`{}` is not a usable JSON Schema: {}", source.name(), error.message);
    let mut diagnostic = Diagnostic::new(Code::InputStructure, message).at(source, span, "");
    diagnostic.help.clone_from(&error.help);
    diagnostic
}

/// Reads a schema as YAML, of which JSON is a part, for its positions.
fn node(source: &Arc<Source>) -> Option<Node> {
    yaml::read_one(source, &Limits { source_bytes: usize::MAX, ..Limits::default() }).ok()
}
