//! Templates that are values.

use std::sync::LazyLock;

use crate::dialect::hcl::Expression;
use crate::dialect::hcl::apart::evaluate_apart;
use crate::dialect::hcl::syntax::parser::parse_template;
use crate::dialect::hcl::values::Outcome;
use crate::function::{Cx, Fault, Registry};
use crate::positional;
use crate::text::Source;
use crate::value::{Type, Value};

positional! {
    /// Templates that are values.
    pub(super) static TEMPLATES:
    "templatestring" (template: String, vars: Any [dynamic marked]) -> {any} or null = rendered,
        "The value of a template with the entries of a map as its variables."
        ["templatestring(\"Hello, $${name}!\", { name = \"Jodie\" })" => "\"Hello, Jodie!\""];
}

fn any<'v>(_: &Cx<'v>, _: &[Value<'v>]) -> Outcome<Type<'v>> {
    Ok(Type::Dynamic)
}

/// The functions that a template may call: all but the one that it is rendered by.
static FUNCTIONS: LazyLock<Registry> = LazyLock::new(super::without_templates);

fn rendered<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let &[Value::Str(template), vars] = args else { return Err(cx.arity().into()) };
    let (plain, marks) = vars.unmarked();
    if !plain.is_known() {
        return Ok(cx.arena().marked(cx.arena().unknown(Type::Dynamic), marks));
    }
    let entries = plain.entries().ok_or_else(|| Fault::argument(1, "an object or a map is required"))?;
    cx.charge(template.as_str().len())?;
    let source = Source::new("<templatestring>", template.as_str());
    let expression = Expression::with(parse_template(&source, cx.limits()), &FUNCTIONS, cx.limits());
    let expression = expression.map_err(|errors| Fault::argument(0, errors.to_string()))?;
    let variables: Vec<_> = entries.iter().collect();
    let value = evaluate_apart(cx, expression.linked(), cx.limits(), &variables)?;
    Ok(cx.arena().marked(value, marks))
}
