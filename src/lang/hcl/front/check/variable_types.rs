//! Declared types of variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::body::{Attribute, Body, BodySchema, DiagnosticList, Expression, File, Location};
use crate::typeexpr::Mode;
use crate::values::json::{Json, decode_type, encode_type};
use crate::values::without_optional;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked, at_most};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::function::{Cx, Fault, Outcome, Registry};
use dropforge_machine::vm::Space;
use dropforge_value::{Type, Value};

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
#[derive(Debug, Clone)]
pub struct VariableTypes {
    /// The types as JSON, by name.
    types: BTreeMap<String, String>,
}

/// The name of a variable, its location, and its type. Without a type, any type fits.
type Declared<'r> = (String, Location<'r>, Option<Expression<'r>>);

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
    /// type of a wrong declaration is any: a check of the configuration tells what is wrong with it.
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
    pub fn add_blocks(&mut self, source: &Arc<Source>, limits: &Limits) {
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
    }

    /// The names of the variables, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// Returns unknown variables of these types.
    pub(super) fn unknowns<'s>(&'s self, cx: &Cx<'s>) -> Checked<Value<'s>> {
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
        let (inner, _) = block.body.partial_content(&BodySchema::new().optional("type"), diagnostics);
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
fn read_type(cx: &Cx<'_>, expr: &Expression<'_>, json: bool, diagnostics: &mut DiagnosticList) -> Outcome<String> {
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
