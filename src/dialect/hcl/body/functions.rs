//! Functions that a configuration defines.

use std::sync::Arc;

use super::faults::structure;
use super::{Body, Expression, Faults, Schema};
use crate::bytecode::{ImportKind, Program};
use crate::dialect::hcl::apart::evaluate_apart;
use crate::function::{Admits, Answer, Builtin, Capabilities, Cx, Linked, Outcome, Params, Place, Positional};
use crate::limits::Limits;
use crate::value::{Type, Value};

/// The functions that the blocks of type `block_type` in a body define, and the body of the rest.
///
/// ```text
/// function "greet" {
///   params         = [name]
///   variadic_param = others
///   result         = "Hello, ${name}."
/// }
/// ```
/// `result` sees its parameters and the functions that the file was parsed with, and nothing else.
pub fn user_functions<'r>(body: &Body<'r>, block_type: &str, faults: &mut Faults) -> (Vec<Builtin>, Body<'r>) {
    let (content, rest) = body.partial_content(&Schema::new().block(block_type, &["name"]), faults);
    let functions = content.blocks.iter().filter_map(|block| {
        let name = &block.labels.first()?.text;
        function(name, &block.body, faults)
    });
    (functions.collect(), rest)
}

fn function(name: &str, body: &Body<'_>, faults: &mut Faults) -> Option<Builtin> {
    let schema = Schema::new().required("params").optional("variadic_param").required("result");
    let before = faults.len();
    let content = body.content(&schema, faults);
    if faults.len() > before {
        return None;
    }
    let params = params(&content.attributes.get("params")?.expr, faults)?;
    let rest = match content.attributes.get("variadic_param") {
        Some(attribute) => Some(param(&attribute.expr, "Invalid variadic_param", faults)?),
        None => None,
    };
    let result = &content.attributes.get("result")?.expr;
    let (program, linked, limits) = match result.compiled() {
        Ok(compiled) => compiled,
        Err(error) => {
            faults.push(error);
            return None;
        }
    };
    let defined = Defined { program, linked, limits, params: params.clone(), rest: rest.clone() };
    let place = |name: String| Place { name: name.into(), ty: Type::Dynamic, admits: Admits::NONE };
    Some(Builtin {
        kind: ImportKind::Function,
        name: name.to_owned().into(),
        params: Params::Positional(Positional {
            params: params.into_iter().map(place).collect(),
            rest: rest.map(place),
            answer: Answer::OfBody,
            not_null: false,
        }),
        doc: "Defined by a configuration.".into(),
        examples: std::borrow::Cow::Borrowed(&[]),
        needs: Capabilities::NONE,
        pure: true,
        body: crate::function::Body::Closure(Arc::new(move |cx, given| defined.call(cx, given))),
    })
}

fn params(expr: &Expression<'_>, faults: &mut Faults) -> Option<Vec<String>> {
    let Some(params) = expr.static_list() else {
        faults.push(expr.place().put(structure("Invalid expression", "The parameters are a list of names.")));
        return None;
    };
    params.iter().map(|of| param(of, "Invalid param element", faults)).collect()
}

fn param(expr: &Expression<'_>, summary: &str, faults: &mut Faults) -> Option<String> {
    let name = expr.keyword();
    if name.is_none() {
        faults.push(expr.place().put(structure(summary, "The name of a parameter is a name alone.")));
    }
    name
}

/// A function of a configuration.
struct Defined {
    program: Program,
    linked: Linked,
    limits: Limits,
    params: Vec<String>,
    rest: Option<String>,
}

impl Defined {
    /// The value of the result.
    fn call<'v>(&self, cx: &Cx<'v>, given: &[Value<'v>]) -> Outcome<Value<'v>> {
        let (named, rest) = given.split_at_checked(self.params.len()).unwrap_or((given, &[]));
        let mut variables: Vec<(&str, Value<'_>)> =
            self.params.iter().map(String::as_str).zip(named.iter().copied()).collect();
        if let Some(name) = &self.rest {
            variables.push((name, cx.list(rest)?));
        }
        evaluate_apart(cx, (&self.program, &self.linked), &self.limits, &variables, cx.capabilities())
    }
}
