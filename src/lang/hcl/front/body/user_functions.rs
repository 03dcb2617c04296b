//! Functions that a configuration defines.

use std::borrow::Cow;
use std::sync::Arc;

use super::errors::structure;
use super::{Body, BodySchema, DiagnosticList, Expression};
use crate::compile::Executable;
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{
    Admits, Body as FunctionBody, Builtin, Capabilities, Cx, Looks, Outcome, Params, Positional, PositionalParam,
    ResultType,
};
use dropforge_value::{Type, Value};

/// Returns the functions that the blocks of type `block_type` define, and the body of the rest.
///
/// ```text
/// function "greet" {
///   params         = [name]
///   variadic_param = others
///   result         = "Hello, ${name}."
/// }
/// ```
/// `result` sees its parameters and the functions that the file was parsed with, and nothing else.
pub fn user_functions<'r>(
    body: &Body<'r>,
    block_type: &str,
    diagnostics: &mut DiagnosticList,
) -> (Vec<Builtin>, Body<'r>) {
    let (content, rest) = body.partial_content(&BodySchema::new().block(block_type, &["name"]), diagnostics);
    let functions = content.blocks.iter().filter_map(|block| {
        let name = &block.labels.first()?.text;
        function(name, &block.body, diagnostics)
    });
    (functions.collect(), rest)
}

fn function(name: &str, body: &Body<'_>, diagnostics: &mut DiagnosticList) -> Option<Builtin> {
    let schema = BodySchema::new().required("params").optional("variadic_param").required("result");
    let before = diagnostics.len();
    let content = body.content(&schema, diagnostics);
    if diagnostics.len() > before {
        return None;
    }
    let params = params(&content.attributes.get("params")?.expr, diagnostics)?;
    let rest = match content.attributes.get("variadic_param") {
        Some(attribute) => Some(param(&attribute.expr, "Invalid variadic_param", diagnostics)?),
        None => None,
    };
    let compiled = content.attributes.get("result")?.expr.compiled();
    let (executable, limits) = compiled.map_err(|error| diagnostics.push(error)).ok()?;
    let function = UserFunction { executable, limits, params: params.clone(), rest: rest.clone() };
    let place = |name: String| PositionalParam { name: name.into(), ty: Type::Dynamic, admits: Admits::NONE };
    Some(Builtin {
        kind: ImportKind::Function,
        name: name.to_owned().into(),
        params: Params::Positional(Positional {
            params: params.into_iter().map(place).collect(),
            rest: rest.map(place),
            result: ResultType::OfBody,
            not_null: false,
        }),
        doc: "Defined by a configuration.".into(),
        examples: Cow::Borrowed(&[]),
        needs: Capabilities::NONE,
        total: &[],
        pure: true,
        local: false,
        looks: Looks::All,
        body: FunctionBody::Closure(Arc::new(move |cx, given| function.call(cx, given))),
    })
}

fn params(expr: &Expression<'_>, diagnostics: &mut DiagnosticList) -> Option<Vec<String>> {
    let Some(params) = expr.static_list() else {
        let error = structure("Invalid expression", "The parameters must be a list of names.");
        diagnostics.push(expr.location().label(error));
        return None;
    };
    params.iter().map(|of| param(of, "Invalid param element", diagnostics)).collect()
}

fn param(expr: &Expression<'_>, summary: &str, diagnostics: &mut DiagnosticList) -> Option<String> {
    let name = expr.keyword();
    if name.is_none() {
        diagnostics.push(expr.location().label(structure(summary, "A parameter must be a single name.")));
    }
    name
}

/// A function of a configuration.
struct UserFunction {
    executable: Executable,
    limits: Limits,
    params: Vec<String>,
    rest: Option<String>,
}

impl UserFunction {
    /// Evaluates the result.
    fn call<'v>(&self, cx: &Cx<'v>, given: &[Value<'v>]) -> Outcome<Value<'v>> {
        let (named, rest) = given.split_at_checked(self.params.len()).unwrap_or((given, &[]));
        let mut variables: Vec<(&str, Value<'_>)> =
            self.params.iter().map(String::as_str).zip(named.iter().copied()).collect();
        if let Some(name) = &self.rest {
            variables.push((name, cx.list(rest)?));
        }
        self.executable.evaluate_nested(cx, &variables, &self.limits, cx.capabilities())
    }
}
