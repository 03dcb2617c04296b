//! Bodies of functions: native ones, typed ones, and closures registered by a user of the library.

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

/// A closure with positional arguments: a function defined by the embedding program or its user.
pub type ClosureBody = Arc<dyn for<'v> Fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Value<'v>> + Send + Sync>;

/// A builtin's body. It gets one value for each parameter.
pub type NativeBody = for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Result<Value<'v>>;

/// A builtin's body whose result is text. It charges for the text and appends it, or returns a text value that exists.
pub type TextBody = for<'v> fn(&Cx<'v>, &[Value<'v>], &mut String) -> Result<Option<Value<'v>>>;

/// A closure registered by a user of the library.
type HostBody = Arc<dyn Fn(&HostArgs) -> std::result::Result<Data, HostError> + Send + Sync>;

/// A body that renders another template.
pub type TemplateBody = Arc<dyn for<'v> Fn(&Cx<'v>, Value<'v>) -> Result<Value<'v>> + Send + Sync>;

/// The implementation of a function.
#[derive(Clone)]
pub enum Body {
    /// A builtin's body.
    Native(NativeBody),
    /// A builtin's body whose result is text.
    Text(TextBody),
    /// A builtin's body with positional arguments.
    Positional(PositionalBody),
    /// A closure with positional arguments.
    Closure(ClosureBody),
    /// A user's closure.
    Host(HostBody),
    /// The bodies of its overloads.
    Overloaded,
    /// Another template, which takes a map of inputs and returns text.
    Template(TemplateBody),
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
            Body::Template(_) => "Template",
            Body::Maker(_) => "Maker",
        })
    }
}

// A body may take the context first. A trailing `Option` is `None` for overloads without that parameter.

/// A type that an argument converts to. The gate has already matched the argument with the overload's type.
pub trait FromArgument<'v>: Sized {
    /// Converts an argument.
    ///
    /// # Errors
    /// The value is not of this type.
    fn from_argument(cx: &Cx<'v>, value: Value<'v>) -> Result<Self>;

    /// Returns the value of a parameter that the overload lacks.
    ///
    /// # Errors
    /// The parameter is not optional.
    fn absent(cx: &Cx<'v>) -> Result<Self> {
        Err(cx.arity())
    }
}

/// A type that converts to the result of a call.
pub trait IntoValue<'v> {
    /// Converts it.
    ///
    /// # Errors
    /// The body's own error; a limit of the render.
    fn into_value(self, cx: &Cx<'v>) -> Result<Value<'v>>;
}

/// A function with the parameters `Params`, called with the arguments of an overload.
pub trait TypedBody<'v, Params> {
    /// Converts the arguments and calls the function.
    ///
    /// # Errors
    /// The arguments do not match, or the function fails.
    fn call(self, cx: &Cx<'v>, arguments: &[Value<'v>]) -> Result<Value<'v>>;
}

/// Marks the parameters of a body that takes the context.
#[derive(Debug)]
pub struct InContext;

macro_rules! arguments {
    ($($rust:ty: $pattern:pat => $value:expr;)*) => {$(
        impl<'v> FromArgument<'v> for $rust {
            #[inline]
            fn from_argument(cx: &Cx<'v>, value: Value<'v>) -> Result<Self> {
                if let $pattern = value { Ok($value) } else { Err(cx.arity()) }
            }
        }
    )*};
}

arguments! {
    bool: Value::Bool(truth) => truth;
    i64: Value::Int(number) => number;
    u64: Value::Uint(number) => number;
    &'v str: Value::Str(text) => text.as_str();
    &'v [Value<'v>]: Value::List(list) => list.items();
}

impl<'v> FromArgument<'v> for Value<'v> {
    #[inline]
    fn from_argument(_: &Cx<'v>, value: Value<'v>) -> Result<Self> {
        Ok(value)
    }
}

impl<'v> FromArgument<'v> for f64 {
    #[inline]
    fn from_argument(cx: &Cx<'v>, value: Value<'v>) -> Result<Self> {
        value.as_f64().ok_or_else(|| cx.arity())
    }
}

impl<'v, T: FromArgument<'v>> FromArgument<'v> for Option<T> {
    #[inline]
    fn from_argument(cx: &Cx<'v>, value: Value<'v>) -> Result<Self> {
        T::from_argument(cx, value).map(Some)
    }

    fn absent(_: &Cx<'v>) -> Result<Self> {
        Ok(None)
    }
}

macro_rules! results {
    ($($rust:ty: |$cx:pat_param, $result:ident| $value:expr;)*) => {$(
        impl<'v> IntoValue<'v> for $rust {
            #[inline]
            fn into_value(self, $cx: &Cx<'v>) -> Result<Value<'v>> {
                let $result = self;
                $value
            }
        }
    )*};
}

results! {
    Value<'v>: |_, value| Ok(value);
    bool: |_, truth| Ok(Value::Bool(truth));
    i64: |_, number| Ok(Value::Int(number));
    u64: |_, number| Ok(Value::Uint(number));
    f64: |_, number| Ok(Value::Float(number));
    &'v str: |cx, text| cx.borrowed(text);
    String: |cx, text| cx.text(&text);
    Vec<Value<'v>>: |cx, items| cx.list(&items);
}

impl<'v, T: IntoValue<'v>> IntoValue<'v> for Result<T> {
    #[inline]
    fn into_value(self, cx: &Cx<'v>) -> Result<Value<'v>> {
        self?.into_value(cx)
    }
}

/// Converts the next argument.
#[inline]
fn next<'v, T: FromArgument<'v>>(cx: &Cx<'v>, rest: &mut std::slice::Iter<'_, Value<'v>>) -> Result<T> {
    match rest.next() {
        Some(value) => T::from_argument(cx, *value),
        None => T::absent(cx),
    }
}

macro_rules! bodies {
    ($(($($param:ident)*))*) => {$(
        impl<'v, F, R, $($param),*> TypedBody<'v, ($($param,)*)> for F
        where
            F: Fn($($param),*) -> R,
            R: IntoValue<'v>,
            $($param: FromArgument<'v>,)*
        {
            #[inline]
            #[allow(non_snake_case)]
            fn call(self, cx: &Cx<'v>, arguments: &[Value<'v>]) -> Result<Value<'v>> {
                let body = |_: &Cx<'v>, $($param: $param),*| self($($param),*);
                TypedBody::<(InContext, $($param,)*)>::call(body, cx, arguments)
            }
        }

        impl<'v, F, R, $($param),*> TypedBody<'v, (InContext, $($param,)*)> for F
        where
            F: Fn(&Cx<'v>, $($param),*) -> R,
            R: IntoValue<'v>,
            $($param: FromArgument<'v>,)*
        {
            #[inline]
            #[allow(non_snake_case, unused_mut)]
            fn call(self, cx: &Cx<'v>, arguments: &[Value<'v>]) -> Result<Value<'v>> {
                let mut rest = arguments.iter();
                $(let $param = next::<$param>(cx, &mut rest)?;)*
                if rest.len() > 0 {
                    return Err(cx.arity());
                }
                self(cx, $($param),*).into_value(cx)
            }
        }
    )*};
}

bodies! { () (A) (A B) (A B C) (A B C D) }

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
