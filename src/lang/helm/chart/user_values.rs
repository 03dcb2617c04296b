//! The values that a user gives: files and options, and Helm's own messages about `--set` options.

use std::sync::Arc;

use super::Stage;
use super::read::{json, overlay, to_floats, values};
use crate::error::GO_MESSAGE;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge_base::text::Source;
use dropforge_value::assign::{
    Action, Assignment, Gaps, MAX_INDEX, MAX_NESTING, Rules, SetKind, parse_path, parse_set_in,
};
use dropforge_value::{Data, DataMap, Step, value_at};

/// The values that a user gives, merged. Sources are added in Helm's order: files, `--set-json`, `--set`,
/// `--set-string`, `--set-file`, `--set-literal`.
///
/// Maps merge, any other value replaces the old one. A null stays until the values are merged with a chart's: there it
/// deletes the default.
#[derive(Debug, Default)]
pub struct UserValues {
    values: DataMap,
    gaps: Gaps,
    /// The values of files, below those of a cluster.
    files: Arc<DataMap>,
    /// The texts of the files.
    sources: Arc<[Arc<Source>]>,
    /// Options, above the values of a cluster.
    options: Vec<Given>,
    /// `true` if charts do not check their values.
    pub(super) skips_schemas: bool,
    /// `true` for the render of a test.
    pub(super) is_of_test: bool,
    /// Top-level keys that say something about clusters to the fleet.
    of_fleet: Vec<String>,
    /// Those that the cluster gives.
    pub(super) unchecked: Vec<String>,
}

/// The values of an option.
#[derive(Debug)]
enum Given {
    Map(DataMap),
    Assignment(Assignment),
}

impl UserValues {
    /// Decides whether charts check their values, these and their own, against their schemas. By default they do.
    pub fn skip_schemas(&mut self, skip: bool) {
        self.skips_schemas = skip;
    }

    /// Makes these the values of a test, whose chart is rendered as by helm-unittest: without dependencies that are not in
    /// `charts/`, for any version of Kubernetes, and with the nulls among its defaults, as Helm 3 has them.
    #[doc(hidden)]
    pub fn of_test(&mut self) {
        self.is_of_test = true;
    }

    /// Marks `name`, `cluster` and the first keys of dotted `paths` as keys that tell a fleet about its clusters. If a
    /// cluster gives one, it is no error that the schema of the chart allows no such property. A schema that has it
    /// checks it.
    #[doc(hidden)]
    pub fn of_fleet<'k>(&mut self, paths: impl IntoIterator<Item = &'k str>) {
        let paths = ["name", "cluster"].into_iter().chain(paths);
        let keys = paths.map(|path| path.split_once('.').map_or(path, |(key, _)| key).to_owned());
        self.of_fleet.extend(keys);
    }

    /// Adds a file (`-f`), which may have several documents.
    ///
    /// # Errors
    /// `input.syntax` and other errors of reading; `input.structure` if a document is not a map.
    pub fn file(&mut self, name: &str, text: &str) -> std::result::Result<(), Diagnostics> {
        let failed = |error: Box<Diagnostic>| {
            let why = error.fields.get(GO_MESSAGE).unwrap_or(&error.message);
            let go = format!("failed to parse {name}: cannot unmarshal yaml document: {why}");
            error.with_field(GO_MESSAGE, go)
        };
        let source = Source::new(name.to_owned(), text.to_owned());
        let read = values(&source).map_err(|errors| Stage::Values.all(errors.into_iter().map(failed).collect()))?;
        self.map(read);
        self.sources = self.sources.iter().cloned().chain([source]).collect();
        Ok(())
    }

    /// Adds values that were read elsewhere. Numbers should be floats.
    #[doc(hidden)]
    pub fn map(&mut self, values: DataMap) {
        overlay(Arc::make_mut(&mut self.files), values.clone());
        overlay(&mut self.values, values);
    }

    /// Returns the values with those of a cluster between files and options. Integers become floats, as in files of
    /// values, unless they come from a table, whose cells are typed as options are.
    ///
    /// # Errors
    /// `input.set_conflict`.
    #[doc(hidden)]
    pub fn with_cluster(&self, mut own: DataMap, is_table: bool) -> Result<Self> {
        if !is_table {
            own.values_mut().for_each(to_floats);
        }
        let (mut values, mut gaps) = (DataMap::clone(&self.files), Gaps::default());
        let unchecked = self.of_fleet.iter().filter(|key| own.contains_key(key.as_str())).cloned().collect();
        overlay(&mut values, own);
        for option in &self.options {
            match option {
                Given::Map(map) => overlay(&mut values, map.clone()),
                Given::Assignment(one) => one.apply(&mut values, &mut gaps).map_err(|error| Stage::Values.of(error))?,
            }
        }
        let (files, sources) = (self.files.clone(), self.sources.clone());
        let (skips_schemas, is_of_test) = (self.skips_schemas, self.is_of_test);
        Ok(Self { values, files, sources, skips_schemas, is_of_test, unchecked, ..Self::default() })
    }

    /// Adds a `--set` option.
    ///
    /// # Errors
    /// `input.bad_set`, `input.set_conflict`.
    pub fn set(&mut self, text: &str) -> Result<()> {
        self.assign(SetKind::Typed, text, &mut no_file)
    }

    /// Adds a `--set-string` option.
    ///
    /// # Errors
    /// See [`UserValues::set`].
    pub fn set_string(&mut self, text: &str) -> Result<()> {
        self.assign(SetKind::Text, text, &mut no_file)
    }

    /// Adds a `--set-literal` option.
    ///
    /// # Errors
    /// See [`UserValues::set`].
    pub fn set_literal(&mut self, text: &str) -> Result<()> {
        self.assign(SetKind::Literal, text, &mut no_file)
    }

    /// Adds a `--set-file` option. `read` returns the text of a file.
    ///
    /// # Errors
    /// See [`UserValues::set`]; errors of `read`.
    pub fn set_file(&mut self, text: &str, read: &mut dyn FnMut(&str) -> Result<String>) -> Result<()> {
        self.assign(SetKind::File, text, read)
    }

    /// Adds a `--set-json` option: a JSON object, or assignments of JSON values.
    ///
    /// # Errors
    /// See [`UserValues::set`].
    pub fn set_json(&mut self, text: &str) -> Result<()> {
        if !text.trim_start().starts_with('{') {
            return self.assign(SetKind::Json, text, &mut no_file);
        }
        let failed = |why: String| {
            let error = Diagnostic::new(Code::BadSet, format!("`--set-json {text}`: {why}"));
            Stage::Values.of(error).with_field(GO_MESSAGE, format!("failed parsing --set-json data JSON: {text}"))
        };
        match json(text).map_err(|error| failed(error.to_string()))?.try_into_map() {
            Ok(map) => {
                overlay(&mut self.values, map.clone());
                self.options.push(Given::Map(map));
            }
            Err(other) => return Err(failed(format!("expected an object, found {}", other.kind()))),
        }
        Ok(())
    }

    /// Sets the value at a path with the grammar of `--set`, typed as one of a file. A null stays until the values are
    /// merged with a chart's.
    ///
    /// # Errors
    /// See [`UserValues::set`].
    pub fn set_value(&mut self, path: &str, mut value: Data) -> Result<()> {
        to_floats(&mut value);
        let origin: Arc<str> = format!("set: {path}").into();
        let assigned = parse_path(path, &origin).and_then(|path| {
            let one = Assignment { path, action: Action::Set(value), origin };
            one.apply(&mut self.values, &mut self.gaps).map(|()| self.options.push(Given::Assignment(one)))
        });
        assigned.map_err(|error| Stage::Values.of(error))
    }

    /// Returns the texts of the files, in order.
    #[doc(hidden)]
    pub fn sources(&self) -> Arc<[Arc<Source>]> {
        self.sources.clone()
    }

    /// Returns `true` for the path of a value that no option and no cluster gives.
    pub(super) fn is_from_file(&self, path: &[Step]) -> bool {
        let Some((Step::Key(first), rest)) = path.split_first() else { return false };
        let given = self.values.get(first).and_then(|data| value_at(data, rest));
        given.is_none() || given == self.files.get(first).and_then(|data| value_at(data, rest))
    }

    /// Returns the merged values.
    #[doc(hidden)]
    pub fn values(&self) -> &DataMap {
        &self.values
    }

    fn assign(&mut self, kind: SetKind, text: &str, read: &mut dyn FnMut(&str) -> Result<String>) -> Result<()> {
        let assigned = parse_set_in(Rules::Assigns, kind, text, read).and_then(|mut assignments| {
            if kind == SetKind::Json {
                assignments.iter_mut().filter_map(Assignment::value_mut).for_each(to_floats);
            }
            assignments.iter().try_for_each(|assignment| assignment.apply(&mut self.values, &mut self.gaps))?;
            self.options.extend(assignments.into_iter().map(Given::Assignment));
            Ok(())
        });
        assigned.map_err(|error| {
            let go = message(kind, text, &error);
            Stage::Values.of(error).with_field(GO_MESSAGE, go)
        })
    }
}

fn no_file(_: &str) -> Result<String> {
    Ok(String::new())
}

/// Returns Helm's message about an option with an error of `value::assign`.
pub(super) fn message(kind: SetKind, text: &str, error: &Diagnostic) -> String {
    match kind {
        SetKind::Json => format!("failed parsing --set-json data {text}"),
        _ => format!("failed parsing {} data: {}", kind.flag(), why(error)),
    }
}

fn why(error: &Diagnostic) -> String {
    let field = |name: &'static str| error.fields.get(name).map_or("", String::as_str);
    let part = field("part");
    match field("reason") {
        "no_value" => format!("key {part:?} has no value"),
        "comma" => format!("key {part:?} has no value (cannot end with ,)"),
        "empty_name" => format!("key map {part:?} has no value"),
        "nesting" => {
            format!("value name nested level is greater than maximum supported nested level of {MAX_NESTING}")
        }
        "unclosed_index" => "error parsing index: EOF".to_owned(),
        "unclosed_list" => "list must terminate with '}'".to_owned(),
        "after_index" => {
            let runes: Vec<String> = part.chars().map(|c| format!("{c:?}")).collect();
            format!("unexpected data at end of array index: [{}]", runes.join(" "))
        }
        "index" => index(part),
        _ => match field("found") {
            "" => error.message.clone(),
            found => format!(
                "unable to parse key: interface conversion: interface {{}} is {}, not {}",
                go_type(found),
                go_type(field("expected"))
            ),
        },
    }
}

/// Returns the reason why an index is refused.
fn index(digits: &str) -> String {
    match digits.parse::<i64>() {
        Ok(n) if n < 0 => format!("negative {n} index not allowed"),
        Ok(n) => format!("index of {n} is greater than maximum supported index of {MAX_INDEX}"),
        Err(error) => {
            use std::num::IntErrorKind::{NegOverflow, PosOverflow};
            let is_large = matches!(error.kind(), PosOverflow | NegOverflow);
            let why = if is_large { "value out of range" } else { "invalid syntax" };
            format!("error parsing index: strconv.Atoi: parsing {digits:?}: {why}")
        }
    }
}

/// Returns the type of a value of this kind in Go. Integers come from options only.
fn go_type(kind: &str) -> &str {
    match kind {
        "boolean" => "bool",
        "integer" => "int64",
        "number" => "float64",
        "list" => "[]interface {}",
        "map" => "map[string]interface {}",
        "null" => "nil",
        other => other,
    }
}
