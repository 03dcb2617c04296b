//! Overload bodies as plain Rust functions. An [`overloads!`](crate::overloads) table converts the arguments to the
//! types of the function's parameters, and its result to a value.
//!
//! A body may take the context first. A trailing `Option` is `None` for overloads without that parameter.

use super::context::Cx;
use dropforge_base::diagnostics::Result;
use dropforge_value::Value;

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
