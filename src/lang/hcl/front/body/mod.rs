//! The content of configurations by a schema, in either syntax.
//!
//! A [`File`] is a parsed source. Its [`Body`] returns the [`Content`] that a [`BodySchema`] describes. The expressions
//! in it are evaluated in a [`Context`], which holds variables and keeps compiled programs. Nothing stops at the first
//! error: diagnostics are collected, and the content is as complete as possible.
//!
//! ```
//! use dropforge::hcl::body::{BodySchema, Context, File};
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! use dropforge::Space;
//!
//! let source = Source::new("service.hcl", "port = 8000 + 80\nroute \"/a\" {}\n");
//! let (limits, space, mut diagnostics) = (Limits::default(), Space::new(), Vec::new());
//! let file = File::native(&source, &Default::default(), &limits);
//! assert!(file.diagnostics().is_empty());
//! let schema = BodySchema::new().required("port").block("route", &["path"]);
//! let content = file.body().content(&schema, &mut diagnostics);
//! assert_eq!(content.blocks[0].labels[0].text, "/a");
//! let context = Context::new(&space, &limits);
//! let port = content.attributes["port"].expr.evaluate(&context, &mut diagnostics);
//! assert_eq!(port.to_data(), dropforge::value::Data::Int(8080));
//! assert!(diagnostics.is_empty());
//! ```

mod content;
mod de;
mod expand;
mod expression;
mod file;
mod sources;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::Rules;
use crate::compile::Executable;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{
    Admits, Body as FunctionBody, Budgets, Builtin, Capabilities, Cx, Fault, Looks, Outcome, Params, Positional,
    PositionalParam, ResultType, Wrong,
};
use dropforge_machine::vm::{Evaluator, Space};
use dropforge_value::{Arena, Inputs, Type, Value};

pub use content::{
    Attribute, AttributeSchema, Attributes, Block, BlockSchema, Body, BodySchema, Content, DiagnosticList, Label,
    Location, locate, mistyped, structure,
};
pub use de::from_body;
pub use expand::expand;
pub(crate) use expand::{DYNAMIC, check_dynamic, not_a_label, not_iterable};
pub use expression::{BodyExpression, DynamicNode, Reference, ReferenceStep, visit_dynamic};
pub use file::{File, FileSet};
pub(crate) use sources::NativeFile;

/// Variables, the space of their values, and one budget of steps and memory for all evaluations. Cheap to clone.
///
/// A new context has no variables. Then naming a variable is an error, and strings of the JSON syntax are literal. With
/// variables, even an empty set of them, strings of the JSON syntax are templates.
#[derive(Debug, Clone)]
pub struct Context<'r> {
    shared: Rc<Shared<'r>>,
    literal: bool,
    base: Value<'r>,
    over: Value<'r>,
}

/// The state that a context shares with its children.
struct Shared<'r> {
    space: &'r Space,
    limits: &'r Limits,
    capabilities: Capabilities<'r>,
    budgets: Cell<Budgets>,
    /// `true` after a limit was reached, which is reported once.
    stopped: Cell<bool>,
    /// The evaluators by program id.
    evaluators: RefCell<HashMap<u64, Evaluator<'r>>>,
}

impl fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("budgets", &self.budgets).finish_non_exhaustive()
    }
}

impl<'r> Context<'r> {
    /// Creates a context without variables, whose values live in `space`.
    pub fn new(space: &'r Space, limits: &'r Limits) -> Self {
        Self::with_capabilities(space, limits, Capabilities::NONE)
    }

    /// Creates a context without variables, whose functions may use `capabilities`.
    pub fn with_capabilities(space: &'r Space, limits: &'r Limits, capabilities: Capabilities<'r>) -> Self {
        let shared = Shared {
            space,
            limits,
            capabilities,
            budgets: Cell::new(Budgets::of(limits)),
            stopped: Cell::new(false),
            evaluators: RefCell::default(),
        };
        Self { shared: Rc::new(shared), literal: true, base: Value::Undefined, over: Value::Undefined }
    }

    /// Returns the context with other variables, a map.
    pub fn with_variables(&self, variables: Value<'r>) -> Self {
        Self { shared: self.shared.clone(), literal: false, base: variables, over: Value::Undefined }
    }

    /// Returns the context with strings of the JSON syntax as templates.
    #[doc(hidden)]
    pub fn evaluating(&self) -> Self {
        Self { literal: false, ..self.clone() }
    }

    /// Returns the context with more variables, which hide those of the same name.
    pub fn child(&self, more: impl IntoIterator<Item = (&'r str, Value<'r>)>) -> Self {
        let mut entries: Vec<(&str, Value<'_>)> = self.over.as_map().into_iter().flat_map(|over| over.iter()).collect();
        entries.extend(more);
        Self { literal: false, over: self.arena().map(&entries), ..self.clone() }
    }

    /// The arena of the values.
    pub fn arena(&self) -> &'r Arena {
        self.shared.space.arena()
    }

    /// The limits.
    pub fn limits(&self) -> &'r Limits {
        self.shared.limits
    }

    /// The variables.
    pub fn variables(&self) -> Inputs<'r> {
        Inputs::layered(self.base, self.over)
    }

    /// Returns `true` if strings of the JSON syntax are literal.
    fn is_literal(&self) -> bool {
        self.literal
    }

    /// Evaluates a chunk. Without one, the value is unknown.
    fn run(&self, chunk: Result<Option<(&'r Executable, u32)>>, diagnostics: &mut DiagnosticList) -> Value<'r> {
        let value = match chunk {
            Ok(chunk) => chunk.and_then(|(executable, chunk)| self.run_chunk(executable, chunk, diagnostics)),
            Err(limit) => {
                self.stop(limit, diagnostics);
                None
            }
        };
        value.unwrap_or_else(|| self.arena().faulty(Type::Dynamic))
    }

    fn run_chunk(&self, executable: &'r Executable, chunk: u32, diagnostics: &mut DiagnosticList) -> Option<Value<'r>> {
        let shared = &*self.shared;
        if shared.stopped.get() {
            return None;
        }
        let mut evaluators = shared.evaluators.try_borrow_mut().ok()?;
        let evaluator = evaluators
            .entry(executable.program().id())
            .or_insert_with(|| executable.evaluator(shared.space, shared.limits, shared.capabilities));
        evaluator.set_budgets(shared.budgets.get());
        let outcome = evaluator.run::<Rules>(chunk, self.variables());
        shared.budgets.set(evaluator.budgets());
        let evaluation = outcome.map_err(|limit| self.stop(limit, diagnostics)).ok()?;
        diagnostics.extend(evaluation.errors);
        Some(evaluation.value)
    }

    /// Stops all evaluation after a limit was reached.
    #[doc(hidden)]
    pub fn stop(&self, limit: Box<Diagnostic>, diagnostics: &mut DiagnosticList) {
        if !self.shared.stopped.replace(true) {
            diagnostics.push(limit);
        }
    }

    /// Runs `work` on values within the budgets of the context.
    #[doc(hidden)]
    pub fn with_cx<T>(&self, work: impl FnOnce(&Cx<'r>) -> T) -> T {
        let Shared { space, limits, capabilities, budgets, .. } = &*self.shared;
        let cx = Cx::new(space.arena(), self.variables(), limits, *capabilities, &space.caches);
        cx.set_budgets(budgets.get());
        let result = work(&cx);
        budgets.set(cx.budgets());
        result
    }

    /// Runs `work` on values. `error` formats a fault of the values, and a limit stops all evaluation.
    #[doc(hidden)]
    pub fn attempt<T>(
        &self,
        diagnostics: &mut DiagnosticList,
        work: impl FnOnce(&Cx<'r>) -> Outcome<T>,
        error: impl FnOnce(&Wrong) -> Box<Diagnostic>,
    ) -> Option<T> {
        match self.with_cx(work) {
            Ok(value) => return Some(value),
            Err(Fault::Wrong(wrong)) => diagnostics.push(error(&wrong)),
            Err(Fault::Limit(limit)) => self.stop(limit, diagnostics),
        }
        None
    }
}

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
        mutates: false,
        compiles_to: None,
        body: FunctionBody::Closure(Arc::new(move |cx, given| function.call(cx, given))),
    })
}

fn params(expr: &BodyExpression<'_>, diagnostics: &mut DiagnosticList) -> Option<Vec<String>> {
    let Some(params) = expr.static_list() else {
        let error = structure("Invalid expression", "The parameters must be a list of names.");
        diagnostics.push(expr.location().label(error));
        return None;
    };
    params.iter().map(|of| param(of, "Invalid param element", diagnostics)).collect()
}

fn param(expr: &BodyExpression<'_>, summary: &str, diagnostics: &mut DiagnosticList) -> Option<String> {
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
