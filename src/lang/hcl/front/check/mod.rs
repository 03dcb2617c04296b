//! Checks without data: the errors of a template or a configuration that do not depend on its variables.
//!
//! A source is evaluated with variables of which only the types are known. Evaluation with unknown values drops the
//! errors of branches that may not be taken, and never enters a loop over an unknown collection. So branches, operands
//! of `&&` and `||`, and the bodies of loops with unknown variables are evaluated again on their own: an error there
//! occurs as soon as they are reached. The arguments of functions that handle errors (`try`, `can`) are not checked,
//! nor are operands next to one that decides.

mod certain;
mod checker;
pub(super) mod config;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::body::{Attribute, Block, Body, BodyExpression, BodySchema, DiagnosticList, File, Location, user_functions};
use crate::compile::Compiler;
use crate::syntax::{Expr, ExprId, Parsed, Tree, parse_template};
use crate::typeexpr::Mode;
use crate::values::json::{Json, decode_type, encode_type};
use crate::values::without_optional;
use checker::{Checker, Region};
use config::{report_misspelled, report_variable};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked, at_most};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::function::{
    Body as FunctionBody, Builtin, Capabilities, Cx, Fault, Outcome, Params, Registry, ResultType,
};
use dropforge_machine::vm::Space;
use dropforge_value::{Arena, Type, Value};

pub use config::{check_config, is_module};

/// Returns the errors of a template that do not depend on the values of its variables. The variables are those in
/// `types`, or any of any type.
///
/// ```
/// use dropforge::dialect::hcl::check::{VariableTypes, check_template};
/// use dropforge::dialect::hcl::registry;
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
///
/// let limits = Limits::default();
/// let types = Source::new("types.hcl", "ports = list(object({ name = string, number = number }))\n");
/// let types = VariableTypes::read(&types, &limits)?;
/// let template = Source::new("svc.tftpl", "%{ for p in ports }${p.nmae}: ${p.number + 1}\n%{ endfor }");
/// let found = check_template(&template, &registry(), Some(&types), &limits)?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].position().unwrap().column, 23);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// All syntax errors, or a limit.
pub fn check_template(
    source: &Arc<Source>,
    registry: &Registry,
    types: Option<&VariableTypes>,
    limits: &Limits,
) -> Result<Vec<Box<Diagnostic>>, Diagnostics> {
    let parsed = parse_template(source, limits);
    if parsed.diagnostics.is_empty() {
        return Ok(check_parsed(&parsed, registry, types, None, limits)?);
    }
    Err(parsed.diagnostics.into())
}

/// Checks a template like [`check_template`], given its tree. It has no syntax errors. `capabilities` are those of the run,
/// if they are known: a function is then refused as in a run, and files are read.
///
/// ```
/// use dropforge::dialect::hcl::syntax::parser::parse_template;
/// use dropforge::dialect::hcl::{check::check_parsed, registry};
/// use dropforge::{limits::Limits, text::Source};
/// let limits = Limits::default();
/// let parsed = parse_template(&Source::new("svc.tftpl", "port: ${80 + true}"), &limits);
/// assert!(parsed.diagnostics.is_empty());
/// assert_eq!(check_parsed(&parsed, &registry(), None, None, &limits)?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A limit.
pub fn check_parsed(
    parsed: &Parsed<ExprId>,
    registry: &Registry,
    types: Option<&VariableTypes>,
    capabilities: Option<Capabilities<'_>>,
    limits: &Limits,
) -> Checked<Vec<Box<Diagnostic>>> {
    let Parsed { tree, root, .. } = parsed;
    let space = Space::new();
    let compiler = Compiler::new(&without_capabilities(registry, capabilities), limits);
    let variables = match types {
        Some(types) => types.unknowns(&space.context(limits))?,
        None => untyped_variables(space.arena(), tree, &[]),
    };
    let mut checker = Checker::new(&space, &compiler, variables).allowing(capabilities.unwrap_or_default());
    checker.pending.push(Region::new(tree, *root, Value::Undefined));
    Ok(at_most(checker.run()?, limits.diagnostics, 0))
}

/// Returns unknown variables for all names in a tree that can be variables, and those that are `known`.
pub(super) fn untyped_variables<'s>(arena: &'s Arena, tree: &'s Tree, known: &[(&'s str, Value<'s>)]) -> Value<'s> {
    let name = |at| match tree.expr(ExprId(at)) {
        Expr::Traversal { root, .. } => Some(tree.str(root)),
        _ => None,
    };
    let mut names = BTreeSet::new();
    names.extend((0..tree.node_count()).filter_map(name));
    let unknown = names.into_iter().map(|name| (name, arena.unknown(Type::Dynamic)));
    arena.map(&unknown.chain(known.iter().copied()).collect::<Vec<_>>())
}

/// Returns `true` if a check can call a function that needs a capability: the run refuses it whatever its arguments are, or
/// it only reads files by their paths.
fn is_checked(function: &Builtin, capabilities: Capabilities<'_>) -> bool {
    let takes_paths = match &function.params {
        Params::Positional(takes) => takes.params.iter().chain(&takes.rest).all(|param| param.ty == Type::String),
        _ => false,
    };
    !capabilities.include(function.needs) || (takes_paths && function.needs == Capabilities::FILES)
}

/// Returns the functions with unknown results for those that need a capability, and for those of the
/// embedding program. Those that need a capability stay if a check with these `capabilities` can call them.
pub(super) fn without_capabilities(registry: &Registry, capabilities: Option<Capabilities<'_>>) -> Registry {
    let mut all = registry.clone();
    let stays = |function: &Builtin| {
        !function.needs.is_none() && capabilities.is_some_and(|capabilities| is_checked(function, capabilities))
    };
    for function in registry.iter().filter(|function| !stays(function)) {
        let takes = match &function.params {
            Params::Positional(takes) if !function.needs.is_none() || function.host_params().is_some() => takes.clone(),
            _ => continue,
        };
        let ty = match takes.result {
            ResultType::Is(ty) => ty,
            _ => Type::Dynamic,
        };
        all.insert_closure(function.name.as_ref(), takes, move |cx, _| Ok(cx.arena().unknown(ty)));
    }
    all
}

/// Parses a file, whose expressions call the functions of `registry` and those that it defines. Returns them all, and the
/// errors of the latter. The results of functions that name variables,
/// and of calls between them, are unknown: the program may let them see variables, and they may call each other in a
/// cycle.
pub(super) fn with_own_functions(
    source: &Arc<Source>,
    registry: Registry,
    limits: &Limits,
) -> (Registry, File, DiagnosticList) {
    let defined = |registry: &Registry| {
        let (mut diagnostics, file) = (Vec::new(), File::parse(source, registry, limits));
        let (functions, _) = user_functions(&file.body(), "function", &mut diagnostics);
        let open = definitions(&file.body()).into_iter().filter(Definition::names_variables).map(|of| of.name);
        let open = open.collect::<BTreeSet<_>>();
        (file, functions, open, diagnostics)
    };
    let (file, functions, _, diagnostics) = defined(&registry);
    if functions.is_empty() {
        return (registry, file, diagnostics);
    }
    let (_, functions, open, diagnostics) = defined(&with(&registry, functions.into_iter().map(opaque)));
    let functions = functions.into_iter().map(|of| if open.contains(of.name.as_ref()) { opaque(of) } else { of });
    let registry = with(&registry, functions);
    let file = File::parse(source, &registry, limits);
    (registry, file, diagnostics)
}

/// Returns the function with an unknown result.
fn opaque(function: Builtin) -> Builtin {
    let body = FunctionBody::Closure(Arc::new(|cx, _| Ok(cx.arena().unknown(Type::Dynamic))));
    Builtin { body, ..function }
}

/// A function definition of a file.
pub(super) struct Definition<'r> {
    name: String,
    /// The names of the parameters, including the variadic one.
    pub params: Vec<String>,
    /// The result.
    pub result: Option<BodyExpression<'r>>,
}

impl Definition<'_> {
    /// Returns `true` if the result names anything but its parameters.
    fn names_variables(&self) -> bool {
        let is_param = |name: &str| self.params.iter().any(|param| param == name);
        self.result.iter().any(|result| result.variables().iter().any(|of| !is_param(of.root())))
    }
}

/// Returns the function definitions of a file. Their errors are reported when the functions are made.
pub(super) fn definitions<'r>(body: &Body<'r>) -> Vec<Definition<'r>> {
    let (content, _) = body.partial_content(&BodySchema::new().block("function", &["name"]), &mut Vec::new());
    let definition = |block: &Block<'r>| {
        let schema = BodySchema::new().optional("params").optional("variadic_param").optional("result");
        let (mut content, _) = block.body.partial_content(&schema, &mut Vec::new());
        let mut take = |name| content.attributes.shift_remove(name).map(|attribute| attribute.expr);
        let params = take("params").and_then(|params| params.static_list()).unwrap_or_default();
        let params = params.into_iter().chain(take("variadic_param")).filter_map(|param| param.keyword());
        let name = block.labels.first().map(|label| label.text.clone()).unwrap_or_default();
        Definition { name, params: params.collect(), result: take("result") }
    };
    content.blocks.iter().map(definition).collect()
}

fn with(registry: &Registry, more: impl IntoIterator<Item = Builtin>) -> Registry {
    let mut all = registry.clone();
    more.into_iter().for_each(|function| all.insert(function));
    all
}

/// The types of variables, declared in a file: `name = TYPE`, or `variable "name" { type = TYPE }`. Other content of
/// such a block, and blocks of other types, are ignored. A type is, for example, `list(object({ port = number }))`.
///
/// In a file whose name ends in `.json`, a type is a string with such a type, or the type of a JSON value:
/// `["list", "string"]`, `["object", {"port": "number"}]`, `"dynamic"`.
///
/// ```
/// use dropforge::dialect::hcl::check::VariableTypes;
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
///
/// let text = r#"{"hosts": "list(string)", "ports": ["set", "number"], "variable": {"free": {}}}"#;
/// let types = VariableTypes::read(&Source::new("types.json", text), &Limits::default())?;
/// assert_eq!(types.names().collect::<Vec<_>>(), ["free", "hosts", "ports"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct VariableTypes {
    /// The types as JSON, by name.
    types: BTreeMap<String, String>,
}

/// The name of a variable, its location, and its type. Without a type, any type fits.
type Declared<'r> = (String, Location<'r>, Option<BodyExpression<'r>>);

impl VariableTypes {
    /// Reads the declarations in `source`.
    ///
    /// # Errors
    /// All syntax errors, all errors of types, and duplicate declarations.
    pub fn read(source: &Arc<Source>, limits: &Limits) -> Result<Self, Diagnostics> {
        let file = File::parse(source, &Registry::default(), limits);
        if !file.diagnostics().is_empty() {
            return Err(file.diagnostics().to_vec().into());
        }
        let mut diagnostics = Vec::new();
        let mut types = BTreeMap::new();
        for (name, location, expr) in declared(&file, &mut diagnostics) {
            // The type is kept as text, so its space is freed.
            let space = Space::new();
            let json = file.as_native().is_none();
            let ty = expr.map(|expr| read_type(&space.context(limits), &expr, json, &mut diagnostics));
            let ty = ty.unwrap_or_else(|| encode_type(&Type::Dynamic)).map_err(|fault| match fault {
                Fault::Limit(limit) => limit,
                Fault::Wrong(wrong) => location.label(not_a_type(&wrong.message)),
            })?;
            if types.insert(name.clone(), ty).is_some() {
                let error = Diagnostic::new(Code::InputSyntax, format!("`{name}` is declared twice"));
                diagnostics.push(location.label(error));
            }
        }
        if diagnostics.is_empty() {
            Ok(Self { types })
        } else {
            Err(at_most(diagnostics, limits.diagnostics, 0).into())
        }
    }

    /// Adds the variables that the `variable` blocks of a configuration declare, in place of those of the same names. The
    /// type of a wrong declaration is any: a check of the configuration tells what is wrong with it. Returns `false` for a
    /// configuration with syntax errors, which may declare more.
    ///
    /// ```
    /// use dropforge::dialect::hcl::check::VariableTypes;
    /// use dropforge::limits::Limits;
    /// use dropforge::text::Source;
    ///
    /// let mut types = VariableTypes::read(&Source::new("types.hcl", "port = number\n"), &Limits::default())?;
    /// types.add_blocks(&Source::new("main.tf", "variable \"host\" {}\nregion = 1\n"), &Limits::default());
    /// assert_eq!(types.names().collect::<Vec<_>>(), ["host", "port"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_blocks(&mut self, source: &Arc<Source>, limits: &Limits) -> bool {
        let file = File::parse(source, &Registry::default(), limits);
        let mut ignored = Vec::new();
        let (blocks, _) = blocks(&file, &mut ignored);
        for (name, _, expr) in blocks {
            let space = Space::new();
            let json = file.as_native().is_none();
            let mut wrong = Vec::new();
            let read = expr.and_then(|expr| read_type(&space.context(limits), &expr, json, &mut wrong).ok());
            let any = || encode_type(&Type::Dynamic).ok();
            if let Some(ty) = read.filter(|_| wrong.is_empty()).or_else(any) {
                self.types.insert(name, ty);
            }
        }
        file.diagnostics().is_empty()
    }

    /// The names of the variables, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// Returns unknown variables of these types.
    fn unknowns<'s>(&'s self, cx: &Cx<'s>) -> Checked<Value<'s>> {
        let mut unknowns = Vec::with_capacity(self.types.len());
        for name in self.types.keys() {
            unknowns.push((name.as_str(), cx.arena().unknown(self.of(cx, name)?)));
        }
        Ok(cx.arena().map(&unknowns))
    }

    /// Returns the type of a variable: any type if it is not declared.
    pub fn of<'v>(&self, cx: &Cx<'v>, name: &str) -> Checked<Type<'v>> {
        let Some(ty) = self.types.get(name) else { return Ok(Type::Dynamic) };
        match Json::read(ty, usize::MAX).map_err(Fault::wrong).and_then(|json| decode_type(cx, &json)) {
            Ok(ty) => Ok(ty),
            Err(Fault::Limit(limit)) => Err(limit),
            // `read` encoded it.
            Err(Fault::Wrong(_)) => Ok(Type::Dynamic),
        }
    }
}

fn declared<'r>(file: &'r File, diagnostics: &mut DiagnosticList) -> Vec<Declared<'r>> {
    report_misspelled(file, &["variable"], diagnostics);
    let (blocks, rest) = blocks(file, diagnostics);
    let attributes = arguments(file, &rest, diagnostics);
    let attributes = attributes.into_iter().map(|of| (of.name.to_owned(), of.name_location(), Some(of.expr)));
    attributes.chain(blocks).collect()
}

/// Returns the declarations in `variable` blocks, and the rest of the body.
fn blocks<'r>(file: &'r File, diagnostics: &mut DiagnosticList) -> (Vec<Declared<'r>>, Body<'r>) {
    let schema = BodySchema::new().block("variable", &["name"]);
    let (content, rest) = file.body().partial_content(&schema, diagnostics);
    let mut all = Vec::new();
    for block in &content.blocks {
        let Some(label) = block.labels.first() else { continue };
        let (inner, _) = block.body.partial_content(&BodySchema::new().optional("type"), &mut Vec::new());
        report_variable(&block.body, diagnostics);
        let location = Location { source: block.source, span: label.range };
        let ty = inner.attributes.get("type").map(|attribute| attribute.expr.clone());
        all.push((label.text.clone(), location, ty));
    }
    (all, rest)
}

/// Returns the arguments beside blocks of any type. In JSON, an object is a block.
pub fn arguments<'r>(file: &'r File, body: &Body<'r>, diagnostics: &mut DiagnosticList) -> Vec<Attribute<'r>> {
    match file.as_native().and_then(|native| Some((native.tree(), native.tree().body(native.root())?))) {
        Some((tree, root)) => {
            let names = root.attributes.iter().map(|attribute| tree.str(attribute.name));
            let schema = names.fold(BodySchema::new(), |schema, name| schema.optional(name));
            body.partial_content(&schema, diagnostics).0.attributes.into_values().collect()
        }
        None => body.just_attributes(diagnostics).into_values().filter(|of| of.expr.static_map().is_none()).collect(),
    }
}

/// Reads a type and encodes it as JSON.
fn read_type(cx: &Cx<'_>, expr: &BodyExpression<'_>, json: bool, diagnostics: &mut DiagnosticList) -> Outcome<String> {
    let text = expr.location().source.slice(expr.range());
    if json && (expr.static_list().is_some() || text == "\"dynamic\"") {
        let ty = Json::read(text, cx.limits().value_depth).map_err(Fault::wrong).and_then(|ty| decode_type(cx, &ty));
        return match ty {
            Ok(ty) => encode_type(&without_optional(cx.arena(), ty)),
            Err(Fault::Wrong(wrong)) => {
                diagnostics.push(expr.location().label(not_a_type(&wrong.message)));
                encode_type(&Type::Dynamic)
            }
            Err(limit) => Err(limit),
        };
    }
    // Defaults of attributes do not affect the type.
    let mut default = |_| Ok(Value::Null);
    let Some(read) = expr.type_expr(cx, Mode::Defaults(&mut default)) else {
        diagnostics.push(expr.location().label(not_a_type("expected a list, or a string with a type")));
        return encode_type(&Type::Dynamic);
    };
    diagnostics.extend(read.diagnostics);
    encode_type(&without_optional(cx.arena(), read.ty))
}

fn not_a_type(why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::UnexpectedToken, "Invalid type specification").with_detail(why)
}

#[cfg(test)]
mod tests;
