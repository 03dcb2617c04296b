//! The types of variables, as a file declares them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{is_json, parse};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked};
use crate::dialect::hcl::body::{Attribute, Body, Expression, Faults, File, Place, Schema};
use crate::dialect::hcl::typeexpr::Mode;
use crate::dialect::hcl::values::json::{Json, decode_type, encode_type};
use crate::dialect::hcl::values::types::without_optional;
use crate::function::{Cx, Fault, Outcome};
use crate::limits::Limits;
use crate::text::Source;
use crate::value::{Type, Value};
use crate::vm::Space;

/// Types of variables, as a file declares them: `name = TYPE`, or `variable "name" { type = TYPE }` (what else such a
/// block says, and blocks of other types, mean nothing here). A type is as in `list(object({ port = number }))`.
///
/// In a file whose name ends in `.json` a type is a string that says one in the same way, or a type as values in JSON
/// carry it: `["list", "string"]`, `["object", {"port": "number"}]`, `"dynamic"`.
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
    /// The type of each, as JSON.
    types: BTreeMap<String, String>,
}

/// A name, where it stands, and the type behind it; nothing for any type.
type Declared<'r> = (String, Place<'r>, Option<Expression<'r>>);

impl VariableTypes {
    /// Reads the declarations in `source`.
    ///
    /// # Errors
    /// Everything that is wrong with its syntax and with its types; a variable that is declared twice.
    pub fn read(source: &Arc<Source>, limits: &Limits) -> Result<Self, Diagnostics> {
        let file = parse(source, &Arc::default(), limits);
        if !file.diagnostics().is_empty() {
            return Err(file.diagnostics().to_vec().into());
        }
        let mut faults = Vec::new();
        let mut types = BTreeMap::new();
        for (name, place, expr) in declared(&file, &mut faults) {
            // What a type takes is given back when it has become text.
            let space = Space::new();
            let ty = expr.map(|expr| read_type(&space.context(limits), &expr, is_json(source), &mut faults));
            let ty = ty.unwrap_or_else(|| encode_type(&Type::Dynamic)).map_err(|fault| stopped(fault, place))?;
            if types.insert(name.clone(), ty).is_some() {
                faults.push(place.put(Diagnostic::new(Code::InputSyntax, format!("`{name}` is declared twice"))));
            }
        }
        if faults.is_empty() { Ok(Self { types }) } else { Err(faults.into()) }
    }

    /// The names of the variables, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// A variable of each type, whose value is not known.
    pub(super) fn unknowns<'s>(&'s self, cx: &Cx<'s>) -> Checked<Value<'s>> {
        let mut unknowns = Vec::with_capacity(self.types.len());
        for (name, ty) in &self.types {
            let ty = match Json::read(ty, usize::MAX).map_err(Fault::wrong).and_then(|json| decode_type(cx, &json)) {
                Ok(ty) => ty,
                Err(Fault::Limit(limit)) => return Err(limit),
                // It was written by the encoding that is read here.
                Err(Fault::Wrong(_)) => Type::Dynamic,
            };
            unknowns.push((name.as_str(), cx.arena().unknown(ty)));
        }
        Ok(cx.arena().map(&unknowns))
    }
}

/// What ends the reading.
fn stopped(fault: Fault, place: Place<'_>) -> Diagnostics {
    match fault {
        Fault::Limit(limit) => limit.into(),
        Fault::Wrong(why) => place.put(not_a_type(&why.message)).into(),
    }
}

fn declared<'r>(file: &'r File, faults: &mut Faults) -> Vec<Declared<'r>> {
    let (content, rest) = file.body().partial_content(&Schema::new().block("variable", &["name"]), faults);
    let attributes = arguments(file, &rest, faults);
    let mut all: Vec<_> =
        attributes.into_iter().map(|of| (of.name.to_owned(), of.name_place(), Some(of.expr))).collect();
    for block in &content.blocks {
        let Some(label) = block.labels.first() else { continue };
        let (inner, _) = block.body.partial_content(&Schema::new().optional("type"), faults);
        let place = Place { source: block.source, span: label.range };
        let ty = inner.attributes.get("type").map(|attribute| attribute.expr.clone());
        all.push((label.text.clone(), place, ty));
    }
    all
}

/// The arguments beside blocks of any type. In JSON an object is a block: it is no type.
fn arguments<'r>(file: &'r File, body: &Body<'r>, faults: &mut Faults) -> Vec<Attribute<'r>> {
    match file.root().and_then(|root| file.tree().body(root)) {
        Some(root) => {
            let names = root.attributes.iter().map(|attribute| file.tree().str(attribute.name));
            let schema = names.fold(Schema::new(), |schema, name| schema.optional(name));
            body.partial_content(&schema, faults).0.attributes.into_values().collect()
        }
        None => body.just_attributes(faults).into_values().filter(|of| of.expr.static_map().is_none()).collect(),
    }
}

/// A type as JSON.
fn read_type(cx: &Cx<'_>, expr: &Expression<'_>, json: bool, faults: &mut Faults) -> Outcome<String> {
    let text = expr.place().source.slice(expr.range());
    if json && (expr.static_list().is_some() || text == "\"dynamic\"") {
        let ty = Json::read(text, cx.limits().value_depth).map_err(Fault::wrong).and_then(|ty| decode_type(cx, &ty));
        return match ty {
            Ok(ty) => encode_type(&without_optional(cx.arena(), ty)),
            Err(Fault::Wrong(why)) => {
                faults.push(expr.place().put(not_a_type(&why.message)));
                encode_type(&Type::Dynamic)
            }
            Err(limit) => Err(limit),
        };
    }
    // What an attribute is that is not given does not matter for its type.
    let mut default = |_| Ok(Value::Null);
    let Some(read) = expr.type_expr(cx, Mode::Defaults(&mut default)) else {
        faults.push(expr.place().put(not_a_type("a string that says a type, or a list, is wanted")));
        return encode_type(&Type::Dynamic);
    };
    faults.extend(read.diagnostics);
    encode_type(&without_optional(cx.arena(), read.ty))
}

fn not_a_type(why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::UnexpectedToken, "Invalid type specification").with_detail(why)
}
