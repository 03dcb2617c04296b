//! Evaluation of a line.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::commands::type_of;
use super::{Session, TAKE, alone, between, has_tags, is_declaration, keep, taking, writing};
use crate::eval::{cel_expression, cel_text, hcl_value};
use crate::exit::Failed;
use crate::options::limits;
use crate::render::explained;
use dropforge::bulk::engine;
use dropforge::diagnostics::{Code, Diagnostic, Label};
use dropforge::dialect::helm::chart::ChartSource;
use dropforge::engine::{Dialect, EngineBuilder, Template};
use dropforge::function::HostArgs;
use dropforge::text::{Source, Span};
use dropforge::value::{Arena, Data, InputBuilder, Inputs, OutputFormat, Shapes};
use dropforge::vm::{Session as Machine, Space};
use serde_json::value::RawValue;

/// The name of what is typed, in errors.
pub(super) const NAME: &str = "<console>";
/// The file of a chart that what is typed stands in.
pub(super) const CHART_FILE: &str = "templates/console.txt";
/// The longest value that is printed on one line, in bytes.
const ONE_LINE: usize = 100;

/// Integers below this are exact as floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A value as JSON on one line, and its type.
type Shown = (String, String);

/// Returns a value as JSON, on several lines if it is long.
fn wrapped(json: String) -> String {
    let long = Some(&json).filter(|json| json.len() > ONE_LINE);
    let pretty = long.and_then(|json| Data::of_json(json).ok());
    pretty.map_or(json, |value| crate::values::json(&value, true)) + "\n"
}

/// The place where the value of an expression is put.
type Slot = Arc<Mutex<Option<Data>>>;

impl Session<'_> {
    /// Returns the output of an expression or a template.
    ///
    /// # Errors
    /// The errors of the line, and of reading the values.
    pub(super) fn evaluate(&mut self, line: &str) -> Result<String, Failed> {
        match is_declaration(self.language, line) || self.is_template(line) {
            true => self.template(line),
            false => Ok(wrapped(self.value(line)?.0)),
        }
    }

    /// Returns `true` for a line with tags that is no expression, as it is if a string has the tags.
    fn is_template(&self, line: &str) -> bool {
        let is_expression = || {
            let [before, after] = alone(self.language);
            let source = Source::new(NAME, [&self.kept, before, line, after].concat());
            let Ok(engine) = self.builder(&Slot::default()) else { return false };
            let start = self.kept.len() + before.len();
            // Helm's parser stops at an unknown function. If that stands after a `|` or `(`, and the tags are in strings
            // before it, the line is no text.
            let is_call = |error: &Diagnostic| {
                let at = error.primary().and_then(|label| (label.span.start as usize).checked_sub(start));
                let (before, name) = at.and_then(|at| line.split_at_checked(at)).unwrap_or_default();
                error.code == Code::UnknownFunction
                    && before.trim_end().ends_with(['|', '('])
                    && !has_tags(self.language, name)
            };
            let found = engine.build().marks(self.language, &source);
            found.map_or_else(|errors| errors.iter().all(is_call), |_| true)
        };
        has_tags(self.language, line) && !is_expression()
    }

    /// Renders a template, or a declaration without tags. One that writes nothing stays in force.
    ///
    /// # Errors
    /// The errors of the template.
    pub(super) fn template(&mut self, line: &str) -> Result<String, Failed> {
        let around = if is_declaration(self.language, line) { writing(self.language) } else { ["", ""] };
        let text = self.render(line, around, &Slot::default())?;
        let template = [around[0], line, around[1]].concat();
        if text.trim().is_empty() && has_tags(self.language, &template) {
            keep(self.language, &mut self.kept, &template);
            return Ok(String::new());
        }
        Ok(if text.ends_with('\n') { text } else { text + "\n" })
    }

    /// Evaluates an expression. Returns the value as JSON on one line, and its type.
    ///
    /// # Errors
    /// The errors of the expression.
    pub(super) fn value(&mut self, expression: &str) -> Result<Shown, Failed> {
        match self.language {
            Dialect::Hcl => self.hcl(expression),
            Dialect::Cel | Dialect::CelYaml => self.cel(expression),
            _ => {
                let value = self.data(expression)?;
                Ok((crate::values::json(&value, false), type_of(&value)))
            }
        }
    }

    /// Evaluates an expression of a language whose expressions stand in templates.
    ///
    /// # Errors
    /// The errors of the expression.
    pub(super) fn data(&mut self, expression: &str) -> Result<Data, Failed> {
        let slot = Slot::default();
        let Some([before, after]) = taking(self.language) else {
            return self.render(expression, writing(self.language), &slot).map(Data::Str);
        };
        if let Err(error) = self.render(expression, [&before, &after], &slot) {
            return Err(self.syntax_errors(expression).unwrap_or(error));
        }
        let mut value = slot.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        if self.language == Dialect::Helm {
            print_as_go(&mut value);
        }
        Ok(value)
    }

    /// Returns the syntax errors of an expression, in the short template that writes its value.
    fn syntax_errors(&self, expression: &str) -> Option<Failed> {
        let failed = self.compile(expression, writing(self.language)).err()?;
        failed.diagnostics.iter().all(|error| error.code.name().starts_with("syntax.")).then_some(failed)
    }

    /// Compiles the template that writes the value of an expression, or renders as a template if it has tags.
    ///
    /// # Errors
    /// The errors of the expression.
    pub(super) fn compiled(&self, line: &str) -> Result<Template, Failed> {
        self.compile(line, if self.is_template(line) { ["", ""] } else { writing(self.language) })
    }

    fn compile(&self, line: &str, [before, after]: [&str; 2]) -> Result<Template, Failed> {
        let text = [&self.kept, before, line, after].concat();
        self.compile_text(&text, &Slot::default()).map_err(|failed| self.typed(line, before).moved(failed))
    }

    /// Returns a line after `before` and the lines that stay in force.
    fn typed<'t>(&'t self, line: &'t str, before: &str) -> Placed<'t> {
        Placed { language: self.language, kept: &self.kept, start: self.kept.len() + before.len(), line }
    }

    /// Renders a line within a template, with the values of the session.
    fn render(&mut self, line: &str, [before, after]: [&str; 2], slot: &Slot) -> Result<String, Failed> {
        let text = [&self.kept, before, line, after].concat();
        self.render_text(&text, slot).map_err(|failed| self.typed(line, before).moved(failed))
    }

    fn hcl(&mut self, expression: &str) -> Result<Shown, Failed> {
        let inputs = self.inputs()?;
        let (space, names) = (Space::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let given = Inputs::new(InputBuilder::new(space.arena(), &shapes).data_map(&inputs.merged)?);
        let source = Source::new(NAME, expression);
        let text = hcl_value(&self.args.values.allow, &source, &space, given, true)?;
        let fields: BTreeMap<&str, &RawValue> = serde_json::from_str(&text)
            .map_err(|error| Diagnostic::new(Code::TypeMismatch, format!("cannot show the value: {error}")))?;
        let field = |name| fields.get(name).map_or("null", |field| field.get());
        Ok((field("value").to_owned(), hcl_type(&serde_json::from_str(field("type")).unwrap_or_default())))
    }

    fn cel(&mut self, expression: &str) -> Result<Shown, Failed> {
        let inputs = self.inputs()?;
        let (space, names) = (Space::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let given = Inputs::new(InputBuilder::new(space.arena(), &shapes).data_map(&inputs.merged)?);
        let (source, limits) = (Source::new(NAME, expression), limits());
        let known = given.iter().map(|(name, _)| name);
        let compiled = cel_expression(&source, known, false, &self.args.language.cel, &limits)?;
        let (value, _) = compiled.evaluate_metered(&space, given, &limits);
        let json = cel_text(value?, OutputFormat::Ndjson, &limits)?;
        Ok((json, compiled.ty().unwrap_or_default()))
    }

    fn render_text(&mut self, text: &str, slot: &Slot) -> Result<String, Failed> {
        if let Some(path) = self.chart().map(Path::to_owned) {
            return self.render_in_chart(&path, text, slot);
        }
        let template = self.compile_text(text, slot)?;
        let inputs = self.inputs()?;
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let given = Inputs::new(InputBuilder::new(&arena, &shapes).data_map(&inputs.merged)?);
        let (mut machine, mut out) = (Machine::new(), String::new());
        match template.render_inputs(&mut machine, given, &mut out) {
            Ok(()) => Ok(out),
            Err(error) => Err(explained(&template, given, (&inputs.layers, inputs.cluster.as_ref()), error).into()),
        }
    }

    fn compile_text(&self, text: &str, slot: &Slot) -> Result<Template, Failed> {
        let engine = engine(&self.root, self.builder(slot)?)?;
        Ok(engine.compile_source(self.language, &Source::new(NAME, text), None)?)
    }

    /// Renders a template as a file of the chart. Its other files define templates, and write nothing.
    fn render_in_chart(&mut self, path: &Path, text: &str, slot: &Slot) -> Result<String, Failed> {
        let source = crate::chart::source(path, self.files)?;
        let files = source.files().iter().filter(|file| !writes_only(file.path(), file.bytes()));
        let files = files.map(|file| (file.path().to_owned(), file.bytes().to_vec()));
        let typed = (CHART_FILE.to_owned(), text.as_bytes().to_vec());
        let source = ChartSource::from_files(files.chain([typed]))?;
        self.files.forget_files();
        let mut values = crate::chart::args::user_values(&self.args.values, &[], self.files)?;
        values.skip_schemas(self.args.schema.is_off());
        let chart = self.builder(slot)?.build().chart(&source)?;
        let (release, capabilities) = (self.args.chart.release(), self.args.chart.capabilities()?);
        let render = chart.render(&values, &release, &capabilities)?;
        let file = render.files().iter().find(|(name, _)| name.ends_with(CHART_FILE));
        Ok(file.map(|(_, text)| text.as_str().to_owned()).unwrap_or_default())
    }

    /// Returns an engine with the options of the session, whose function [`TAKE`] fills the slot.
    fn builder(&self, slot: &Slot) -> Result<EngineBuilder, Failed> {
        let builder = self.args.values.allow.grant(self.args.language.engine())?;
        let add = |builder: EngineBuilder, language| {
            let slot = slot.clone();
            builder.function(language, TAKE, move |args: &HostArgs| {
                let value =
                    args.positional().iter().copied().chain(args.named().iter().map(|(_, value)| *value)).next();
                let value = value.map(|value| value.to_data());
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = value;
                Ok::<_, String>("")
            })
        };
        Ok([Dialect::Tera, Dialect::Helm].into_iter().fold(builder, add))
    }
}

/// Replaces floats that Go prints without a fraction: all numbers of values files are floats.
fn print_as_go(value: &mut Data) {
    match value {
        Data::Float(float) if float.fract() == 0.0 && float.abs() < EXACT => *value = Data::Int(*float as i64),
        Data::List(elements) => elements.iter_mut().for_each(print_as_go),
        Data::Map(map) => map.values_mut().for_each(print_as_go),
        _ => {}
    }
}

/// Returns `true` for a template of a chart that defines no others.
fn writes_only(path: &str, bytes: &[u8]) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_template = folder == "templates" || folder.ends_with("/templates") || folder.contains("templates/");
    is_template && !name.starts_with('_') && !String::from_utf8_lossy(bytes).contains("define")
}

/// Returns a type in the notation of type constraints: `list(string)`.
fn hcl_type(ty: &serde_json::Value) -> String {
    match ty {
        serde_json::Value::String(name) if name == "dynamic" => "any".to_owned(),
        serde_json::Value::String(name) => name.clone(),
        serde_json::Value::Array(parts) => match parts.as_slice() {
            [serde_json::Value::String(kind), serde_json::Value::Array(types)] if kind == "tuple" => {
                format!("tuple([{}])", types.iter().map(hcl_type).collect::<Vec<_>>().join(", "))
            }
            [kind, of] => format!("{}({})", hcl_type(kind), hcl_type(of)),
            _ => ty.to_string(),
        },
        serde_json::Value::Object(fields) => {
            let fields = fields.iter().map(|(name, ty)| format!("{name} = {}", hcl_type(ty)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A typed line within the template that is compiled for it.
pub(super) struct Placed<'t> {
    pub(super) language: Dialect,
    /// The lines before it that stay in force.
    pub(super) kept: &'t str,
    /// The start of the line in the template.
    pub(super) start: usize,
    pub(super) line: &'t str,
}

impl Placed<'_> {
    /// Moves errors to their places in the line, or in an earlier one that stays in force.
    pub(super) fn moved(&self, mut failed: Failed) -> Failed {
        failed.diagnostics.iter_mut().for_each(|error| self.move_error(error));
        failed
    }

    fn move_error(&self, error: &mut Diagnostic) {
        let is_typed = |label: &Label| label.source.name() == NAME || label.source.name().ends_with(CHART_FILE);
        if let Some(first) = error.labels.first().filter(|label| is_typed(label)) {
            let part = self.part(first.span);
            error.context = error.context.map(|context| within(context, part));
        }
        for label in error.labels.iter_mut().filter(|label| is_typed(label)) {
            let part = self.part(label.span);
            label.span = within(label.span, part);
            label.source = Source::new(NAME, part.1);
        }
        error.also.iter_mut().for_each(|other| self.move_error(other));
    }

    /// Returns the typed line that a span is in, and where it starts.
    fn part(&self, span: Span) -> (usize, &str) {
        let (at, end) = (span.start as usize, between(self.language));
        let Some((before, behind)) = self.kept.split_at_checked(at).filter(|(_, behind)| !behind.is_empty()) else {
            return (self.start, self.line);
        };
        let start = before.rfind(end).map_or(0, |found| found + end.len());
        let length = behind.find(end).map_or(self.kept.len(), |found| at + found) - start;
        (start, self.kept.get(start..start + length).unwrap_or(""))
    }
}

/// Returns a span within a part that starts there. What is around the part is at its edges.
fn within(span: Span, (start, text): (usize, &str)) -> Span {
    let [first, last] = [span.start, span.end].map(|at| (at as usize).saturating_sub(start).min(text.len()));
    Span::of(first..last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_constraints() {
        let of = |text: &str| hcl_type(&serde_json::from_str(text).unwrap());
        assert_eq!(of(r#"["list","string"]"#), "list(string)");
        assert_eq!(of(r#"["object",{"a":"number","b":["set","bool"]}]"#), "object({a = number, b = set(bool)})");
        assert_eq!(of(r#"["tuple",["string","number","bool"]]"#), "tuple([string, number, bool])");
        assert_eq!(of(r#"["tuple",["number",["list","bool"]]]"#), "tuple([number, list(bool)])");
        assert_eq!(of(r#""dynamic""#), "any");
    }

    #[test]
    fn templates_of_a_chart_that_define_others_are_run() {
        assert!(writes_only("templates/a.yaml", b"x") && writes_only("charts/b/templates/c/d.yaml", b"x"));
        assert!(!writes_only("templates/_h.tpl", b"x") && !writes_only("templates/a.yaml", b"{{ define \"a\" }}"));
        assert!(!writes_only("values.yaml", b"x"));
    }
}
