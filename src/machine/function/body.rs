//! Bodies of functions as the machine calls them, and closures registered by a user of the library.

use std::error::Error;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::Cx;
use super::errors::Outcome;
use super::linked::MakerBody;
use dropforge_base::diagnostics::Result;
use dropforge_value::{Data, DataMap, Value};

/// A builtin's body with positional arguments, converted and in order.
pub type PositionalBody = for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Value<'v>>;

/// A closure: a function defined by the embedding program or its user, or another template.
pub type ClosureBody = Arc<dyn for<'v> Fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Value<'v>> + Send + Sync>;

/// A builtin's body. It gets one value for each parameter.
pub type NativeBody = for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Result<Value<'v>>;

/// A builtin's body whose result is text. It charges for the text and appends it, or returns a text value that exists.
pub type TextBody = for<'v> fn(&Cx<'v>, &[Value<'v>], &mut String) -> Result<Option<Value<'v>>>;

/// A closure registered by a user of the library.
type HostBody = Arc<dyn Fn(&HostArgs) -> std::result::Result<Data, HostError> + Send + Sync>;

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
    /// A user's closure.
    Host(HostBody),
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

/// The arguments of a call to a registered function.
///
/// ```
/// use dropforge::function::HostArgs;
/// use dropforge::value::Data;
/// let args = HostArgs::new(None, [("team".to_owned(), Data::Str("core".into()))].into_iter().collect());
/// assert_eq!(args.get::<String>("team").unwrap(), "core");
/// assert_eq!(args.get::<Option<u32>>("size").unwrap(), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct HostArgs {
    value: Option<Data>,
    named: DataMap,
}

impl HostArgs {
    /// Creates arguments: the value that a filter or test is applied to, and named ones.
    pub fn new(value: Option<Data>, named: DataMap) -> Self {
        Self { value, named }
    }

    /// Returns the value that a filter or test is applied to, as a `T`.
    pub fn value<T: DeserializeOwned>(&self) -> std::result::Result<T, String> {
        convert("the value", self.value.as_ref())
    }

    /// Returns the argument `name` as a `T`. An `Option` is `None` if the argument is missing.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> std::result::Result<T, String> {
        convert(&format!("argument `{name}`"), self.named.get(name))
    }

    /// Returns all named arguments in order.
    pub fn named(&self) -> &DataMap {
        &self.named
    }
}

fn convert<T: DeserializeOwned>(what: &str, data: Option<&Data>) -> std::result::Result<T, String> {
    let json = serde_json::to_value(data).map_err(|error| format!("{what}: {error}"))?;
    serde_json::from_value(json).map_err(|error| match data {
        Some(_) => format!("{what}: {error}"),
        None => format!("{what} is not given"),
    })
}

/// The error of a registered function.
pub type HostError = Box<dyn Error + Send + Sync>;

/// The result of a registered function: a `Result` of a serializable value, or of an error or a message.
pub trait IntoHostResult {
    /// Converts to owned data.
    ///
    /// # Errors
    /// The error of the function, or that its value does not serialize.
    fn into_result(self) -> std::result::Result<Data, HostError>;
}

impl<T: Serialize, E: Into<HostError>> IntoHostResult for std::result::Result<T, E> {
    fn into_result(self) -> std::result::Result<Data, HostError> {
        let json = serde_json::to_value(self.map_err(Into::into)?)?;
        Ok(serde_json::from_value(json)?)
    }
}
