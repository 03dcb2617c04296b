//! Declared variables: their defaults, their types and the conditions that their values have to meet.

use std::sync::{Arc, OnceLock};

use super::check::config;
use crate::argument_gate::reason;
use crate::body::{Attribute, Block, BodyExpression, BodySchema, Context, DiagnosticList, File, Location};
use crate::builtins::registry;
use crate::check::{VariableTypes, arguments};
use crate::typeexpr::Mode;
use crate::values::convert::convert;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked, at_most};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_machine::vm::Space;
use dropforge_value::{Arena, Data, DataMap, InputBuilder, ReadPaths, Shapes, Step, Type, Value};

/// Declarations of variables: blocks `variable "name" { … }` with `type`, `default`, `nullable` and `validation`, and
/// arguments `name = TYPE`. Blocks of other types are ignored, unless their type resembles `variable`.
///
/// ```
/// use dropforge::hcl::Variables;
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::value::{Data, DataMap};
/// let text = "variable \"port\" {\n  type = number\n  default = \"80\"\n}\n";
/// let variables = Variables::read(&Source::new("variables.tf", text), &Limits::default())?;
/// let mut values = DataMap::default();
/// variables.complete(&mut values);
/// assert_eq!(values.get("port"), Some(&Data::Int(80)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Variables {
    file: File,
    types: VariableTypes,
    limits: Limits,
    schema: OnceLock<Data>,
}

/// Adds the paths of what a value of a type keeps.
fn add_kept(ty: &Type<'_>, path: &mut Vec<String>, kept: &mut Vec<Vec<String>>) {
    let mut below = |name: &str, ty: &Type<'_>| {
        path.push(name.to_owned());
        add_kept(ty, path, kept);
        path.pop();
    };
    match ty {
        Type::Object(attributes) if !attributes.is_empty() => {
            attributes.iter().for_each(|attribute| below(attribute.name, &attribute.ty));
        }
        Type::List(element) | Type::Set(element) | Type::Map(element) => below(ReadPaths::ITEM, element),
        Type::Tuple(elements) if !elements.is_empty() => {
            elements.iter().enumerate().for_each(|(at, ty)| below(&at.to_string(), ty));
        }
        _ => kept.push(path.clone()),
    }
}

/// A declared variable.
struct Variable<'r> {
    name: String,
    location: Location<'r>,
    ty: Option<BodyExpression<'r>>,
    default: Option<BodyExpression<'r>>,
    nullable: Option<BodyExpression<'r>>,
    /// The arguments that can mark its value secret: `sensitive` and `ephemeral`.
    marks: [Option<BodyExpression<'r>>; 2],
    /// The condition and the message of each validation.
    validations: Vec<(BodyExpression<'r>, Option<BodyExpression<'r>>)>,
    /// `true` for a block, whose variable needs a value.
    is_block: bool,
}

impl Variables {
    /// Reads the declarations in `source`.
    ///
    /// # Errors
    /// All syntax errors, and all errors of types and defaults.
    pub fn read(source: &Arc<Source>, limits: &Limits) -> Result<Self, Diagnostics> {
        let types = VariableTypes::read(source, limits)?;
        let variables = Self {
            file: File::parse(source, &registry(), limits),
            types,
            limits: limits.clone(),
            schema: OnceLock::new(),
        };
        let errors = variables.evaluate(&DataMap::default(), |evaluation, declared, mut errors| {
            errors.extend(declared.iter().filter_map(|variable| evaluation.value(variable).err()));
            errors
        });
        if errors.is_empty() { Ok(variables) } else { Err(at_most(errors, limits.diagnostics, 0).into()) }
    }

    /// Adds the defaults of missing variables to `values`, and converts values to the types of their variables. A value that
    /// cannot be converted stays.
    #[doc(hidden)]
    pub fn complete(&self, values: &mut DataMap) {
        let completed = self.evaluate(values, |evaluation, declared, _| {
            let value = |variable| Some((variable, evaluation.value(variable).ok().flatten()?));
            let completed = declared.iter().filter_map(value);
            completed.map(|(variable, value)| (variable.name.clone(), value.to_data())).collect::<Vec<_>>()
        });
        values.extend(completed);
    }

    /// Returns the errors of completed values, each with the path of the value: missing values, values that do not fit
    /// their types, and conditions that do not hold.
    #[doc(hidden)]
    pub fn errors(&self, values: &DataMap) -> Vec<(Vec<Step>, Box<Diagnostic>)> {
        let whole = |variable: &Variable<'_>| vec![Step::Key(variable.name.clone())];
        self.evaluate(values, |evaluation, declared, _| {
            let (mut errors, mut known) = (Vec::new(), Vec::new());
            for variable in declared {
                match evaluation.attempt(variable) {
                    Ok(Some(value)) => known.push((variable.name.as_str(), value)),
                    Ok(None) if variable.is_block => errors.push((whole(variable), missing(variable))),
                    Ok(None) => {}
                    Err(misfit) => errors.push((misfit.path, misfit.error)),
                }
            }
            let arena = evaluation.context.arena();
            let context = evaluation.context.with_variables(arena.map(&[("var", arena.map(&known))]));
            for variable in declared.iter().filter(|variable| known.iter().any(|(name, _)| *name == variable.name)) {
                let found = validate(variable, &context);
                errors.extend(found.into_iter().map(|error| (whole(variable), error)));
            }
            errors
        })
    }

    /// Returns the names of the variables, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.types.names()
    }

    /// Returns the paths of all that the values of variables keep when they are converted: a value whose type is an object
    /// keeps its attributes. [`ReadPaths::ITEM`] stands for any item or element.
    #[doc(hidden)]
    pub fn kept(&self) -> Vec<Vec<String>> {
        let (space, mut kept) = (Space::new(), Vec::new());
        let cx = space.context(&self.limits);
        for name in self.names() {
            let ty = self.types.of(&cx, name).unwrap_or(Type::Dynamic);
            add_kept(&ty, &mut vec![name.to_owned()], &mut kept);
        }
        kept
    }

    /// Returns a JSON Schema that marks the variables secret that are `sensitive` or `ephemeral`.
    ///
    /// ```
    /// use dropforge::bulk::values::Step;
    /// use dropforge::hcl::Variables;
    /// use dropforge::limits::Limits;
    /// use dropforge::schema::is_secret;
    /// use dropforge::text::Source;
    /// let text = "variable \"token\" {\n  sensitive = true\n}\nvariable \"port\" {}\n";
    /// let variables = Variables::read(&Source::new("variables.tf", text), &Limits::default())?;
    /// let secret = |name: &str| is_secret(variables.schema(), &[Step::Key(name.to_owned())]);
    /// assert!(secret("token") && !secret("port"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn schema(&self) -> &Data {
        let map = |entries: Vec<(String, Data)>| Data::Map(entries.into_iter().collect());
        self.schema.get_or_init(|| {
            self.evaluate(&DataMap::default(), |evaluation, declared, _| {
                // What cannot be evaluated may be true.
                let is_false = |mark| matches!(constant(&evaluation.context, mark), Ok(Value::Bool(false)));
                let secret = declared.iter().filter(|one| one.marks.iter().flatten().any(|mark| !is_false(mark)));
                let mark = || map(vec![("writeOnly".to_owned(), Data::Bool(true))]);
                let properties = map(secret.map(|one| (one.name.clone(), mark())).collect());
                map(vec![("properties".to_owned(), properties)])
            })
        })
    }

    /// Returns the place of the default of a variable.
    #[doc(hidden)]
    pub fn default_place(&self, name: &str) -> Option<(Arc<Source>, Span)> {
        let declared = self.declared(&mut Vec::new());
        let Location { source, span } = declared.iter().find(|one| one.name == name)?.default.as_ref()?.location();
        Some((source.clone(), span))
    }

    /// Calls `work` with the declared variables, and the errors of their structure.
    fn evaluate<T>(
        &self,
        given: &DataMap,
        work: impl for<'r> FnOnce(&Evaluation<'r, '_>, &'r [Variable<'r>], DiagnosticList) -> T,
    ) -> T {
        let (mut errors, names, space) = (Vec::new(), Arena::new(), Space::new());
        let (declared, shapes) = (self.declared(&mut errors), Shapes::new(&names));
        let context = Context::new(&space, &self.limits);
        let builder = InputBuilder::new(context.arena(), &shapes);
        work(&Evaluation { variables: self, given, context, space: &space, builder }, &declared, errors)
    }

    fn declared<'r>(&'r self, diagnostics: &mut DiagnosticList) -> Vec<Variable<'r>> {
        let schema = BodySchema::new().block("variable", &["name"]);
        let (content, rest) = self.file.body().partial_content(&schema, diagnostics);
        let attributes = arguments(&self.file, &rest, diagnostics);
        let mut all: Vec<_> = attributes.into_iter().map(of_argument).collect();
        all.extend(content.blocks.iter().filter_map(|block| of_block(block, diagnostics)));
        all
    }
}

fn of_argument(argument: Attribute<'_>) -> Variable<'_> {
    let (name, location) = (argument.name.to_owned(), argument.name_location());
    let ty = Some(argument.expr);
    let (default, nullable, marks) = (None, None, [None, None]);
    Variable { name, location, ty, default, nullable, marks, validations: Vec::new(), is_block: false }
}

fn of_block<'r>(block: &Block<'r>, diagnostics: &mut DiagnosticList) -> Option<Variable<'r>> {
    let label = block.labels.first()?;
    let (content, _) = block.body.partial_content(&config::variable(), diagnostics);
    let expr = |name: &str| content.attributes.get(name).map(|attribute| attribute.expr.clone());
    let mut validations = Vec::new();
    for validation in content.blocks_of("validation") {
        let (content, _) = validation.body.partial_content(&config::validation(), diagnostics);
        let expr = |name: &str| content.attributes.get(name).map(|attribute| attribute.expr.clone());
        validations.extend(expr("condition").map(|condition| (condition, expr("error_message"))));
    }
    Some(Variable {
        name: label.text.clone(),
        location: Location { source: block.source, span: label.range },
        ty: expr("type"),
        default: expr("default"),
        nullable: expr("nullable"),
        marks: ["sensitive", "ephemeral"].map(expr),
        validations,
        is_block: true,
    })
}

/// The evaluation of declarations with given values.
struct Evaluation<'r, 'w> {
    variables: &'r Variables,
    given: &'r DataMap,
    context: Context<'r>,
    space: &'r Space,
    builder: InputBuilder<'r, 'w>,
}

impl<'r> Evaluation<'r, '_> {
    /// Returns the given value of a variable or its default, converted to its type. It does not depend on other variables:
    /// each has budgets of its own.
    fn value(&self, variable: &Variable<'r>) -> Checked<Option<Value<'r>>> {
        self.attempt(variable).map_err(|misfit| misfit.error)
    }

    /// Works like [`Evaluation::value`]. The error names the part of the value that it is about.
    fn attempt(&self, variable: &Variable<'r>) -> Result<Option<Value<'r>>, Misfit> {
        let mut path = vec![Step::Key(variable.name.clone())];
        self.converted_value(variable, &mut path).map_err(|error| Misfit { path, error })
    }

    /// Returns the value of a variable. `path` is its path, and after an error that of the part that does not fit.
    fn converted_value(&self, variable: &Variable<'r>, path: &mut Vec<Step>) -> Checked<Option<Value<'r>>> {
        let context = &Context::new(self.space, &self.variables.limits);
        let given = self.given.get(&variable.name);
        let value = match (given, &variable.default) {
            (Some(Data::Null), Some(default)) if !is_nullable(context, variable)? => constant(context, default)?,
            (Some(given), _) => self.builder.data(given)?,
            (None, Some(default)) => constant(context, default)?,
            (None, None) => return Ok(None),
        };
        context.with_cx(|cx| self.converted(context, cx, variable, value, path)).map(Some).map_err(
            |fault| match fault {
                Fault::Limit(limit) => limit,
                Fault::Wrong(wrong) => {
                    let part = Step::expression(path.iter());
                    let message = format!("the value of `{part}` does not fit its type: {}", reason(&wrong));
                    let place = variable.ty.as_ref().map_or(variable.location, BodyExpression::location);
                    declared_at(Diagnostic::new(Code::UnfitValues, message), place)
                }
            },
        )
    }

    fn converted(
        &self,
        context: &Context<'r>,
        cx: &Cx<'r>,
        variable: &Variable<'r>,
        value: Value<'r>,
        path: &mut Vec<Step>,
    ) -> Outcome<Value<'r>> {
        let native = self.variables.file.as_native();
        let (Some(native), Some(ty)) = (native, &variable.ty) else {
            let ty = self.variables.types.of(cx, &variable.name).map_err(Fault::Limit)?;
            return convert_part(cx, value, &ty, path);
        };
        let mut default = |id| {
            let mut errors = Vec::new();
            let value = native.evaluate(id, context, &mut errors);
            if errors.is_empty() { Ok(value) } else { Err(errors) }
        };
        // `VariableTypes` has reported the errors of the type.
        let Some(read) = ty.type_expr(cx, Mode::Defaults(&mut default)) else { return Ok(value) };
        let value = read.defaults.map_or(Ok(value), |defaults| defaults.apply(cx, value))?;
        convert_part(cx, value, &read.ty, path)
    }
}

/// A value that does not fit its type.
struct Misfit {
    /// The path of the innermost part that does not fit.
    path: Vec<Step>,
    error: Box<Diagnostic>,
}

/// Converts a value. If that fails, the error is that of the innermost part that does not convert, whose steps are added
/// to `path`.
fn convert_part<'r>(cx: &Cx<'r>, value: Value<'r>, ty: &Type<'r>, path: &mut Vec<Step>) -> Outcome<Value<'r>> {
    let converted = convert(cx, value, ty);
    if !matches!(converted, Err(Fault::Wrong(_))) {
        return converted;
    }
    for (step, part, ty) in parts(value, ty) {
        path.push(step);
        convert_part(cx, part, &ty, path)?;
        path.pop();
    }
    converted
}

/// Returns the parts of a value and the types that they are converted to.
fn parts<'r>(value: Value<'r>, ty: &Type<'r>) -> Vec<(Step, Value<'r>, Type<'r>)> {
    let of = |name: Option<&str>, at: usize| match ty {
        Type::List(element) | Type::Set(element) | Type::Map(element) => Some(**element),
        Type::Tuple(elements) => elements.get(at).copied(),
        Type::Object(_) => ty.attribute(name?).map(|attribute| attribute.ty),
        _ => None,
    };
    if let Some(items) = value.elements().filter(|_| !matches!(ty, Type::Map(_) | Type::Object(_))) {
        let items = items.iter().enumerate();
        return items.filter_map(|(at, item)| Some((Step::Index(at), *item, of(None, at)?))).collect();
    }
    let entries = value.entries().filter(|_| matches!(ty, Type::Map(_) | Type::Object(_)));
    let entries = entries.into_iter().flat_map(|entries| entries.iter_sorted());
    entries.filter_map(|(name, item)| Some((Step::Key(name.to_owned()), item, of(Some(name), 0)?))).collect()
}

fn is_nullable<'r>(context: &Context<'r>, variable: &Variable<'r>) -> Checked<bool> {
    let value = variable.nullable.as_ref().map(|nullable| constant(context, nullable)).transpose()?;
    Ok(!matches!(value, Some(Value::Bool(false))))
}

/// Evaluates an expression without variables.
fn constant<'r>(context: &Context<'r>, expr: &BodyExpression<'r>) -> Checked<Value<'r>> {
    let mut errors = Vec::new();
    let value = expr.evaluate(context, &mut errors);
    errors.into_iter().next().map_or(Ok(value), Err)
}

fn missing(variable: &Variable<'_>) -> Box<Diagnostic> {
    let name = &variable.name;
    let error = Diagnostic::new(Code::UnfitValues, format!("the variable `{name}` has neither a value nor a default"));
    declared_at(error, variable.location).with_help(format!("give it with `-f` or `--set {name}=…`"))
}

/// Returns the errors of the conditions that do not hold. `var` in `context` has all values.
fn validate<'r>(variable: &Variable<'r>, context: &Context<'r>) -> DiagnosticList {
    let mut errors = Vec::new();
    for (condition, message) in &variable.validations {
        let before = errors.len();
        let holds = condition.evaluate(context, &mut errors);
        if errors.len() > before || matches!(holds.unmarked().0, Value::Bool(true)) {
            continue;
        }
        let message = message.as_ref().map(|message| message.evaluate(context, &mut errors).to_data());
        let why = match (holds.unmarked().0, message.as_ref().and_then(Data::as_str)) {
            (Value::Bool(false), Some(message)) => message,
            (Value::Bool(false), None) => "its condition does not hold",
            _ => "its condition is neither true nor false",
        };
        let error = Diagnostic::new(Code::UnfitValues, format!("invalid value of `{}`: {why}", variable.name));
        errors.push(declared_at(error, condition.location()));
    }
    errors
}

fn declared_at(error: Box<Diagnostic>, place: Location<'_>) -> Box<Diagnostic> {
    error.at(place.source, place.span, "expected here")
}
