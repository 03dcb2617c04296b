//! Bodies of functions as the machine calls them.

use std::sync::Arc;

use super::context::Cx;
use super::errors::Outcome;
use super::host::Host;
use super::linked::MakerBody;
use dropforge_base::diagnostics::Result;
use dropforge_value::Value;

/// A builtin's body with positional arguments, converted and in order.
pub type PositionalBody = for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Value<'v>>;

/// A closure: a function defined by the embedding program or its user, or another template.
pub type ClosureBody = Arc<dyn for<'v> Fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Value<'v>> + Send + Sync>;

/// A builtin's body. It gets one value for each parameter.
pub type NativeBody = for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Result<Value<'v>>;

/// A builtin's body whose result is text. It charges for the text and appends it, or returns a text value that exists.
pub type TextBody = for<'v> fn(&Cx<'v>, &[Value<'v>], &mut String) -> Result<Option<Value<'v>>>;

/// The implementation of a function.
#[derive(Clone)]
pub enum Body {
    /// A builtin's body.
    Native(NativeBody),
    /// A builtin's body whose result is text.
    Text(TextBody),
    /// A builtin's body with positional arguments.
    Positional(PositionalBody),
    /// A closure with one value for each parameter.
    Closure(ClosureBody),
    /// A function of the embedding program.
    Host(Arc<Host>),
    /// The bodies of its overloads.
    Overloaded,
    /// The compiler of templates made at render time. It takes their text.
    Maker(MakerBody),
}

impl Body {
    /// Calls a builtin's body outside a run of a program, with one value for each parameter. Returns `None` if it has no
    /// body that takes values.
    pub fn call<'v>(&self, cx: &Cx<'v>, given: &[Value<'v>]) -> Option<Result<Value<'v>>> {
        match self {
            Body::Native(body) => Some(body(cx, given)),
            Body::Text(body) => {
                let mut out = String::new();
                let result = body(cx, given, &mut out);
                Some(result.map(|value| value.unwrap_or_else(|| cx.arena().text(&out))))
            }
            _ => None,
        }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Body::Native(_) => "Native",
            Body::Text(_) => "Text",
            Body::Positional(_) => "Positional",
            Body::Closure(_) => "Closure",
            Body::Host(_) => "Host",
            Body::Overloaded => "Overloaded",
            Body::Maker(_) => "Maker",
        })
    }
}
