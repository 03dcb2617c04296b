//! `values.schema.json`: the JSON Schema of a chart's values.

use std::sync::{Arc, OnceLock};

use super::Stage;
use super::builtin_objects::FileSet;
use super::dependencies::Tree;
use super::explain::{documents, is_global};
use super::merging::Merging;
use super::schema_read::{Broken, Fetched, compile};
use crate::error::GO_MESSAGE;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::stdlib::paths;
use dropforge_base::text::{Source, Span};
use dropforge_machine::function::Cx;
use dropforge_schema::{Detail, NodeId, Schema, Violation, each_secret, each_secret_name, has_secrets, is_secret};
use dropforge_value::yaml::Node;
use dropforge_value::{Arena, Data, DataMap, InputBuilder, Numbers, Shapes, Step};

/// Maximum number of violations of one chart.
const VIOLATIONS: usize = 100;
/// Maximum number of places of values in one error.
const PLACES: usize = 5;
/// Maximum number of steps of checking the values of one chart.
const STEPS: u64 = 100_000_000;
/// The beginning of Helm's message.
const HEAD: &str = "values don't meet the specifications of the schema(s) in the following chart(s):\n";

/// The schema of a chart, compiled when it is first used.
#[derive(Debug)]
pub(super) struct ChartSchema {
    source: Arc<Source>,
    /// The files of the chart that it may refer to.
    files: FileSet,
    /// The documents of other servers that it may refer to.
    fetched: Fetched,
    /// `true` if the chart's values are known to fit without any of a user.
    fits_by_default: bool,
    compiled: OnceLock<Result<Schema, Broken>>,
    /// The parsed text, if it is JSON.
    data: OnceLock<Option<Data>>,
    /// The text, read for the places of keywords.
    places: OnceLock<Option<Node>>,
}

impl ChartSchema {
    pub(super) fn new(source: Arc<Source>, (files, fetched): (FileSet, Fetched), fits_by_default: bool) -> Self {
        let (compiled, data, places) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { source, files, fetched, fits_by_default, compiled, data, places }
    }

    /// Returns the URLs of documents that it refers to and that are not there.
    pub(super) fn missing(&self) -> &[String] {
        self.compiled().err().map_or(&[], |broken| &broken.missing)
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> &str {
        self.source.text()
    }

    /// Returns `true` if it marks the value at a path secret.
    pub(super) fn hides(&self, path: &[Step]) -> bool {
        self.data().is_some_and(|schema| is_secret(schema, path))
    }

    /// Calls `each` with the text of every value that it marks secret.
    pub(super) fn each_secret(&self, values: &DataMap, each: &mut dyn FnMut(&str)) {
        if let Some(schema) = self.data() {
            each_secret(schema, values, &mut |text| each(&text));
        }
    }

    /// Calls `each` with the name of every property that it marks secret.
    pub(super) fn each_secret_name(&self, each: &mut dyn FnMut(&str)) {
        self.data().iter().for_each(|schema| each_secret_name(schema, each));
    }

    /// Returns `true` if it marks any value secret.
    pub(super) fn has_secrets(&self) -> bool {
        self.data().is_some_and(has_secrets)
    }

    fn data(&self) -> Option<&Data> {
        self.data.get_or_init(|| serde_json::from_str(self.text()).ok()).as_ref()
    }

    fn compiled(&self) -> Result<&Schema, &Broken> {
        self.compiled.get_or_init(|| compile(self.source.text(), &self.files, &self.fetched)).as_ref()
    }

    /// Returns the paths of the properties that it declares ([`Schema::declared`]).
    pub(super) fn declared(&self) -> Vec<Vec<&str>> {
        self.compiled().map(Schema::declared).unwrap_or_default()
    }

    /// Returns the schemas of the value at a path, if it matters to no other value ([`Schema::at_path`]).
    pub(super) fn at_path(&self, path: &[&str]) -> Option<Vec<NodeId>> {
        self.compiled().ok()?.at_path(path)
    }

    /// Returns `true` if a value fits schemas of this one.
    pub(super) fn admits(&self, schemas: &[NodeId], value: &Data) -> bool {
        let Ok(schema) = self.compiled() else { return false };
        let (arena, names, mut spend) = (Arena::new(), Arena::new(), budget());
        let shapes = Shapes::once(&names);
        // Deeper data is refused where it is read.
        let Ok(value) = InputBuilder::new(&arena, &shapes).with_numbers(Numbers::Whole).data(value) else {
            return false;
        };
        schemas.iter().all(|id| schema.validate_part(*id, value, 1, &mut spend).is_ok_and(|found| found.is_empty()))
    }

    /// Returns the messages about values that do not fit, each with a line end; that of a broken schema has none. The keys
    /// `unchecked` may be unknown.
    ///
    /// # Errors
    /// The limits of a render.
    fn problems(&self, cx: &Cx<'_>, values: &DataMap, unchecked: &[String]) -> Result<Vec<Problem>, Box<Diagnostic>> {
        let schema = match self.compiled() {
            Ok(schema) => schema,
            Err(broken) => return Ok(vec![Problem::of(broken)]),
        };
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::once(&names);
        let builder = InputBuilder::new(&arena, &shapes).with_numbers(Numbers::Whole);
        // Deeper values are refused where they are read.
        let Ok(value) = builder.data_map(values) else { return Ok(Vec::new()) };
        let mut own = budget();
        let mut spend = |steps| own(steps).map_err(|()| None).and_then(|()| cx.spend(steps).map_err(Some));
        Ok(match schema.validate_part(Schema::ROOT, value, VIOLATIONS, &mut spend) {
            Ok(found) => {
                let found = found.into_iter().filter_map(|found| without(found, unchecked));
                let problem = |found: Violation| Problem {
                    text: format!("- at '{}': {}\n", found.pointer, what(schema, &found)),
                    help: help(schema, &found, unchecked),
                    path: path(&found, values),
                    violation: Some(found),
                    unloaded: false,
                };
                found.map(problem).collect()
            }
            Err(None) => {
                vec![Problem { text: "- at '': checking the values takes too long\n".to_owned(), ..Problem::default() }]
            }
            Err(Some(limit)) => return Err(limit),
        })
    }

    /// Returns the place of the keyword that a value violates. If it is not known, that is the beginning of the file.
    fn place(&self, violation: Option<&Violation>) -> Span {
        let document = || documents(&self.source)?.into_iter().next();
        let found = violation.and_then(|violation| violation.place(self.places.get_or_init(document).as_ref()?));
        found.unwrap_or_default()
    }
}

/// A message about values that do not fit, and the likely fix.
#[derive(Default)]
struct Problem {
    text: String,
    help: Option<String>,
    /// The path of the value among those of the chart.
    path: Vec<Step>,
    violation: Option<Violation>,
    /// `true` if the schema could not be loaded.
    unloaded: bool,
}

impl Problem {
    fn of(broken: &Broken) -> Self {
        let help =
            "`dropforge deps build --schemas` fetches it, `--skip-schema-validation` renders without the schemas";
        let help = broken.unloaded.then(|| help.to_owned());
        Self { text: broken.text.clone(), help, unloaded: broken.unloaded, ..Self::default() }
    }
}

/// Returns the path of the value that violates, or of the first property that may not be there.
fn path(violation: &Violation, values: &DataMap) -> Vec<Step> {
    let mut path = Step::of_pointer(&violation.pointer, values);
    if let (Detail::Names(names), "additionalProperties") = (&violation.detail, violation.keyword) {
        path.extend(names.first().map(|name| Step::Key(name.clone())));
    }
    path
}

/// Returns a counter of the steps of checking that fails when they are used up.
fn budget() -> impl FnMut(u64) -> Result<(), ()> {
    let mut left = STEPS;
    move |steps| {
        left = left.checked_sub(steps).ok_or(())?;
        Ok(())
    }
}

/// Returns `true` if the values of all charts are known to fit their schemas without values of a user.
pub(super) fn fits_by_default(tree: &Tree<'_>) -> bool {
    tree.chart.schema.as_ref().is_none_or(|schema| schema.fits_by_default) && tree.children.iter().all(fits_by_default)
}

/// Returns the charts whose values do not fit their schema. That of the outermost one need not know the keys `unchecked`.
///
/// # Errors
/// The limits of a render.
pub(super) fn check(
    cx: &Cx<'_>,
    tree: &Tree<'_>,
    values: &DataMap,
    unchecked: &[String],
) -> Result<Vec<Unfit>, Box<Diagnostic>> {
    let mut found = Vec::new();
    let checked = collect(cx, tree, &mut vec![&tree.name], (values, unchecked), &mut found);
    checked.map(|()| found).map_err(|error| Merging::at_chart(Stage::Schema.of(error), &tree.name))
}

/// Returns the error about charts whose values do not fit their schema. `place` returns that of a value of a chart.
pub(super) fn error(
    found: &[Unfit],
    place: impl Fn(&str, &[Step]) -> Option<(Arc<Source>, Span)>,
) -> Option<Box<Diagnostic>> {
    let first = found.first()?;
    let title = match first.problems.iter().any(|problem| problem.unloaded) {
        true => "the schema of a chart cannot be loaded",
        false => "values do not fit the schema of their chart",
    };
    let mut error = Stage::Schema.of(Diagnostic::new(Code::UnfitValues, title));
    let problems = || found.iter().flat_map(|unfit| unfit.problems.iter().map(move |problem| (unfit, problem)));
    let places = problems().filter_map(|(unfit, problem)| place(&unfit.charts.join("/charts/"), &problem.path));
    for (source, span) in places.take(PLACES) {
        error = error.at(&source, span, "given here");
    }
    let violated = first.problems.first().and_then(|problem| problem.violation.as_ref());
    error = error.at(&first.schema.source, first.schema.place(violated), "expected here");
    let mut text = HEAD.to_owned();
    for Unfit { charts, problems, .. } in found {
        let name = charts.last().map_or("", String::as_str);
        text.push_str(&format!("{name}:\n"));
        for problem in problems {
            text.push_str(&problem.text);
            error = error.with_note(format!("{name}: {}", problem.text.trim_start_matches("- ").trim_end()));
        }
    }
    error.fields.extend(first.problems.first().map(|problem| ("pointer", first.pointer(&problem.path))));
    if let Some(help) = problems().find_map(|(_, problem)| problem.help.as_deref()) {
        error = error.with_help(help);
    }
    Some(error.with_field(GO_MESSAGE, text))
}

/// A chart whose values do not fit its schema.
pub(super) struct Unfit {
    /// The names of the charts around it, the outermost first, and its own.
    charts: Vec<String>,
    schema: Arc<ChartSchema>,
    problems: Vec<Problem>,
}

impl Unfit {
    /// Returns the JSON pointer of a value of the chart among those of the outermost one.
    fn pointer(&self, path: &[Step]) -> String {
        let mut found = String::new();
        self.charts.iter().skip(1).filter(|_| !is_global(path)).for_each(|name| paths::push(&mut found, name));
        path.iter().for_each(|step| match step {
            Step::Key(key) => paths::push(&mut found, key),
            Step::Index(at) => paths::push(&mut found, &at.to_string()),
        });
        found
    }
}

/// Checks the last of `charts` and the charts in it. Loading bounds the nesting.
fn collect<'t>(
    cx: &Cx<'_>,
    tree: &'t Tree<'_>,
    charts: &mut Vec<&'t str>,
    (values, unchecked): (&DataMap, &[String]),
    found: &mut Vec<Unfit>,
) -> Result<(), Box<Diagnostic>> {
    cx.spend(1)?;
    if let Some(schema) = &tree.chart.schema {
        let problems = schema.problems(cx, values, unchecked)?;
        if !problems.is_empty() {
            cx.charge(problems.iter().map(|problem| size_of::<Problem>() + 2 * problem.text.len()).sum())?;
            let charts = charts.iter().map(|name| (*name).to_owned()).collect();
            found.push(Unfit { charts, schema: schema.clone(), problems });
        }
    }
    for child in &tree.children {
        if let Some(Data::Map(values)) = values.get(&child.name) {
            charts.push(&child.name);
            let checked = collect(cx, child, charts, (values, &[]), found);
            checked.map_err(|error| Merging::in_chart(error, &child.name))?;
            charts.pop();
        }
    }
    Ok(())
}

/// Returns the message about a violation, in the words of Helm's validator.
fn what(schema: &Schema, violation: &Violation) -> String {
    let got = || kind_of(violation.value.as_deref().unwrap_or("null"));
    let number = |text: &str| with_commas(text);
    let keyword = violation.keyword;
    match keyword {
        "type" => format!("got {}, want {}", got(), alternatives(&violation.limit)),
        "required" => match names(violation) {
            (1, names) => format!("missing property {names}"),
            (_, names) => format!("missing properties {names}"),
        },
        "additionalProperties" => format!("additional properties {} not allowed", names(violation).1),
        "enum" => match schema.node(violation.node).and_then(|node| node.values.as_deref()).unwrap_or(&[]) {
            values if values.iter().any(is_composite) => "'enum' failed".to_owned(),
            [value] => format!("value must be {}", shown(value)),
            values => format!("value must be one of {}", values.iter().map(shown).collect::<Vec<_>>().join(", ")),
        },
        "const" => match schema.node(violation.node).and_then(|node| node.limit(keyword)) {
            Some(value) if is_composite(&value) => "'const' failed".to_owned(),
            Some(value) => format!("value must be {}", shown(&value)),
            None => violation.what(),
        },
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            format!("{keyword}: got {}, want {}", number(&violation.found), number(&violation.limit))
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            let value = violation.value.as_deref().unwrap_or("");
            format!("{keyword}: got {}, want {}", number(value), number(&violation.limit))
        }
        "uniqueItems" => match violation.detail {
            Detail::Equal(first, second) => format!("items at {first} and {second} are equal"),
            _ => violation.what(),
        },
        "contains" => "no items match contains schema".to_owned(),
        "propertyNames" => match &violation.detail {
            Detail::Name(name) => {
                let name: String =
                    name.value.as_deref().and_then(|name| serde_json::from_str(name).ok()).unwrap_or_default();
                format!("invalid propertyName {}", quoted(&name))
            }
            _ => violation.what(),
        },
        "$ref" => "the reference leads back to itself, causing reference cycle".to_owned(),
        "format" => {
            let unquoted = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.to_owned());
            let value = unquoted(violation.value.as_deref().unwrap_or(""));
            format!("{} is not valid {}", quoted(&value), unquoted(&violation.limit))
        }
        "anyOf" | "allOf" | "not" => format!("'{keyword}' failed"),
        "oneOf" if violation.detail == Detail::Several => "'oneOf' failed, more than one subschema matched".to_owned(),
        "oneOf" => "'oneOf' failed, none matched".to_owned(),
        "pattern" => {
            let unquoted = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.to_owned());
            let value = unquoted(violation.value.as_deref().unwrap_or(""));
            format!("{} does not match pattern {}", quoted(&value), quoted(&unquoted(&violation.limit)))
        }
        _ => violation.what(),
    }
}

/// Returns the likely fix of names that the schema does not have: a near one, or for a cluster, which gives keys that are
/// not checked, a place for what only the fleet needs.
fn help(schema: &Schema, violation: &Violation, unchecked: &[String]) -> Option<String> {
    let Detail::Names(names) = &violation.detail else { return None };
    if violation.keyword != "additionalProperties" {
        return None;
    }
    let node = schema.node(violation.node)?;
    if let Some(near) = names.iter().find_map(|name| node.nearest_property(name)) {
        return Some(format!("did you mean `{near}`?"));
    }
    let name = names.first().filter(|_| violation.pointer.is_empty() && !unchecked.is_empty())?;
    Some(format!("a key that only the fleet needs belongs below `cluster`: `cluster.{name}`"))
}

/// Returns a violation without those names of unknown properties at the top that may be unknown. `None` if none are left.
fn without(mut violation: Violation, unchecked: &[String]) -> Option<Violation> {
    if let (Detail::Names(names), "additionalProperties", "") =
        (&mut violation.detail, violation.keyword, violation.pointer.as_str())
    {
        names.retain(|name| !unchecked.contains(name));
        if names.is_empty() {
            return None;
        }
    }
    Some(violation)
}

fn names(violation: &Violation) -> (usize, String) {
    match &violation.detail {
        Detail::Names(names) => (names.len(), names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")),
        _ => (0, String::new()),
    }
}

/// Returns the kind of a value in JSON.
fn kind_of(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'"') => "string",
        Some(b'[') => "array",
        Some(b'{') => "object",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}

/// Returns the types in JSON for a sentence.
fn alternatives(json: &str) -> String {
    match &serde_json::from_str(json) {
        Ok(Data::Str(name)) => name.clone(),
        Ok(Data::List(names)) => names.iter().filter_map(Data::as_str).collect::<Vec<_>>().join(" or "),
        _ => json.to_owned(),
    }
}

fn is_composite(data: &Data) -> bool {
    matches!(data, Data::List(_) | Data::Map(_))
}

/// Returns text in quotes, with escapes.
fn quoted(text: &str) -> String {
    let text = format!("{text:?}").replace("\\\"", "\"").replace("\\'", "'").replace('\'', "\\'");
    format!("'{}'", text.get(1..text.len() - 1).unwrap_or(""))
}

fn shown(data: &Data) -> String {
    match data {
        Data::Str(text) => quoted(text),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// Returns a number with commas between groups of three digits.
fn with_commas(number: &str) -> String {
    let (sign, digits) = number.split_at(usize::from(number.starts_with('-')));
    let (whole, rest) = digits.split_at(digits.find(['.', 'e']).unwrap_or(digits.len()));
    let mut text = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}
