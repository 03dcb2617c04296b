//! Typed bodies: Rust functions whose parameters are converted from the arguments of a call.
//!
//! A body may take the context first. Its other parameters are taken from the arguments in order. A parameter that is an
//! `Option` is `None` for an argument that is missing or undefined, [`Rest`] takes all remaining arguments, and a
//! `&mut String` is the output that the body appends its text to.

use super::context::Cx;
use super::errors::{Fault, Outcome};
use super::text::Written;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::bignum::FULL;
use dropforge_value::{BigNum, Capsule, CapsuleContent, Extended, List, Map, Text, Type, Value};

/// The arguments of a call, taken in order.
#[derive(Debug)]
pub struct Arguments<'a, 'v> {
    cx: &'a Cx<'v>,
    values: &'a [Value<'v>],
    taken: usize,
    out: Option<&'a mut String>,
}

impl<'a, 'v> Arguments<'a, 'v> {
    /// Creates the arguments of a call.
    #[inline]
    pub fn new(cx: &'a Cx<'v>, values: &'a [Value<'v>]) -> Self {
        Self { cx, values, taken: 0, out: None }
    }

    /// Returns the context of the run.
    #[inline]
    pub fn cx(&self) -> &'a Cx<'v> {
        self.cx
    }

    /// Returns the index of the argument that was taken last.
    #[inline]
    pub fn at(&self) -> usize {
        self.taken.saturating_sub(1)
    }

    /// Takes the next argument.
    ///
    /// # Errors
    /// There is none.
    #[inline]
    pub fn value(&mut self) -> Outcome<Value<'v>> {
        let value = self.values.get(self.taken).ok_or_else(|| self.cx.arity())?;
        self.taken += 1;
        Ok(*value)
    }

    /// Takes the next argument as a value of a type that `read` recognizes. `wanted` is the message for others.
    #[inline]
    fn read<T>(&mut self, wanted: &str, read: impl FnOnce(Value<'v>) -> Option<T>) -> Outcome<T> {
        let value = self.value()?;
        read(value).ok_or_else(|| self.refused(wanted))
    }

    /// Returns the error about the argument that was taken last.
    #[cold]
    fn refused(&self, message: &str) -> Fault {
        Fault::argument(self.at(), message)
    }

    /// Fails if an argument was not taken.
    #[inline]
    fn end(&self) -> Outcome<()> {
        if self.taken < self.values.len() { Err(self.cx.arity().into()) } else { Ok(()) }
    }
}

/// All arguments after those of the parameters before it.
#[derive(Debug, Clone, Copy)]
pub struct Rest<'a, 'v>(pub &'a [Value<'v>]);

/// A type that a body takes as an argument. The gate has already matched the argument with the type of the parameter.
pub trait FromArgument<'a, 'v>: Sized {
    /// Takes the next argument.
    ///
    /// # Errors
    /// The value is not of this type, or there is none.
    fn take(arguments: &mut Arguments<'a, 'v>) -> Outcome<Self>;
}

macro_rules! arguments {
    ($($rust:ty: $wanted:literal, $($pattern:pat => $value:expr),*;)*) => {$(
        impl<'v> FromArgument<'_, 'v> for $rust {
            #[inline]
            fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
                arguments.read($wanted, |value| match value {
                    $($pattern => Some($value),)*
                    _ => None,
                })
            }
        }
    )*};
}

arguments! {
    bool: "a boolean is required", Value::Bool(truth) => truth;
    u64: "an integer that is not negative is required", Value::Uint(n) => n, Value::Int(n @ 0..) => n.cast_unsigned();
    &'v Text<'v>: "a string is required", Value::Str(text) => text;
    &'v str: "a string is required", Value::Str(text) => text.as_str();
    &'v List<'v>: "a list is required", Value::List(list) => list;
    &'v [Value<'v>]: "a list is required", Value::List(list) => list.items();
}

impl<'v> FromArgument<'_, 'v> for Value<'v> {
    #[inline]
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        arguments.value()
    }
}

impl<'v> FromArgument<'_, 'v> for f64 {
    #[inline]
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        arguments.read("a number is required", |value| value.as_f64())
    }
}

/// A 64-bit integer, or a number of any size that is one.
impl<'v> FromArgument<'_, 'v> for i64 {
    #[inline]
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        match arguments.value()? {
            Value::Int(n) => Ok(n),
            other => whole(other, arguments.at()),
        }
    }
}

/// Returns argument `at` as a 64-bit integer.
#[cold]
pub fn whole(value: Value<'_>, at: usize) -> Outcome<i64> {
    let wanted = "a whole number between -9223372036854775808 and 9223372036854775807 is required";
    number(value, at)?.to_i64().ok_or_else(|| Fault::wrong(wanted))
}

/// A size. An integer that does not fit exceeds any limit.
impl<'v> FromArgument<'_, 'v> for usize {
    #[inline]
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        u64::take(arguments).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
    }
}

impl<'v> FromArgument<'_, 'v> for BigNum {
    #[inline]
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        let value = arguments.value()?;
        number(value, arguments.at())
    }
}

/// Returns argument `at` as a number.
pub fn number(value: Value<'_>, at: usize) -> Outcome<BigNum> {
    number_of(value).ok_or_else(|| Fault::argument(at, "a number is required"))
}

/// Returns a number of any size.
pub fn number_of(value: Value<'_>) -> Option<BigNum> {
    match (value, value.extended()) {
        (Value::Int(n), _) => Some(BigNum::of_int(n, FULL)),
        (Value::Uint(n), _) => Some(BigNum::of_uint(n, FULL)),
        (Value::Float(n), _) => BigNum::of_shortest_text(n),
        (_, Some(Extended::Number(number))) => Some(*number),
        _ => None,
    }
}

/// The entries of a map, whatever the type of its values.
impl<'v> FromArgument<'_, 'v> for &'v Map<'v> {
    #[inline]
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        arguments.read("a map is required", |value| match (value, value.extended()) {
            (Value::Map(map), _) | (_, Some(&Extended::Typed(_, Value::Map(map)))) => Some(map),
            _ => None,
        })
    }
}

/// The bytes of a string, whether it is UTF-8 or not.
impl<'v> FromArgument<'_, 'v> for &'v [u8] {
    #[inline]
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        arguments.read("a string is required", |value| match (value, value.extended()) {
            (Value::Str(text), _) => Some(text.as_str().as_bytes()),
            (_, Some(Extended::Bytes(bytes))) => Some(bytes),
            _ => None,
        })
    }
}

impl<'v> FromArgument<'_, 'v> for Type<'v> {
    #[inline]
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        arguments.read("a type is required", |value| match value.extended() {
            Some(Extended::Capsule(Capsule { content: CapsuleContent::Type(ty), .. })) => Some(*ty),
            _ => None,
        })
    }
}

impl<'a, 'v, T: FromArgument<'a, 'v>> FromArgument<'a, 'v> for Option<T> {
    #[inline]
    fn take(arguments: &mut Arguments<'a, 'v>) -> Outcome<Self> {
        match arguments.values.get(arguments.taken) {
            None => Ok(None),
            Some(Value::Undefined) => {
                arguments.taken += 1;
                Ok(None)
            }
            Some(_) => T::take(arguments).map(Some),
        }
    }
}

impl<'a, 'v> FromArgument<'a, 'v> for Rest<'a, 'v> {
    #[inline]
    fn take(arguments: &mut Arguments<'a, 'v>) -> Outcome<Self> {
        let rest = arguments.values.get(arguments.taken..).unwrap_or(&[]);
        arguments.taken = arguments.values.len();
        Ok(Rest(rest))
    }
}

/// A point in time: seconds since 1970 and nanoseconds.
impl<'v> FromArgument<'_, 'v> for (i64, u32) {
    #[inline]
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        arguments.read("a time is required", |value| match value.extended() {
            Some(Extended::Timestamp { seconds, nanos }) => Some((*seconds, *nanos)),
            _ => None,
        })
    }
}

/// The output of a body that appends text.
impl<'a, 'v> FromArgument<'a, 'v> for &'a mut String {
    #[inline]
    fn take(arguments: &mut Arguments<'a, 'v>) -> Outcome<Self> {
        Ok(arguments.out.take().ok_or_else(|| arguments.cx.arity())?)
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

/// A function with the parameters `Params`, of which the context may be the first.
pub trait TypedBody<'a, 'v, Params>: Sized {
    /// The result of the function.
    type Answer;

    /// Converts the arguments and calls the function.
    ///
    /// # Errors
    /// The arguments do not match.
    fn call(self, arguments: Arguments<'a, 'v>) -> Outcome<Self::Answer>;
}

/// Calls a body that returns a value.
#[inline]
pub fn value_of<'a, 'v, P, B>(body: B, cx: &'a Cx<'v>, given: &'a [Value<'v>]) -> Result<Value<'v>>
where
    B: TypedBody<'a, 'v, P>,
    B::Answer: IntoValue<'v>,
{
    body.call(Arguments::new(cx, given)).map_err(Fault::into_error)?.into_value(cx)
}

/// Calls a body that appends text.
#[inline]
pub fn text_of<'a, 'v, P>(
    body: impl TypedBody<'a, 'v, P, Answer = Written<'v>>,
    cx: &'a Cx<'v>,
    given: &'a [Value<'v>],
    out: &'a mut String,
) -> Written<'v> {
    body.call(Arguments { out: Some(out), ..Arguments::new(cx, given) }).map_err(Fault::into_error)?
}

macro_rules! bodies {
    ($(($($param:ident)*))*) => {$(
        impl<'a, 'v, F, R, $($param),*> TypedBody<'a, 'v, ($($param,)*)> for F
        where
            F: Fn($($param),*) -> R,
            $($param: FromArgument<'a, 'v>,)*
        {
            type Answer = R;

            #[inline]
            #[allow(non_snake_case)]
            fn call(self, arguments: Arguments<'a, 'v>) -> Outcome<R> {
                let body = |_: &Cx<'v>, $($param: $param),*| self($($param),*);
                TypedBody::<(Cx<'v>, $($param,)*)>::call(body, arguments)
            }
        }

        impl<'a, 'v, F, R, $($param),*> TypedBody<'a, 'v, (Cx<'v>, $($param,)*)> for F
        where
            F: Fn(&Cx<'v>, $($param),*) -> R,
            $($param: FromArgument<'a, 'v>,)*
        {
            type Answer = R;

            #[inline]
            #[allow(non_snake_case, unused_mut)]
            fn call(self, mut arguments: Arguments<'a, 'v>) -> Outcome<R> {
                $(let $param = $param::take(&mut arguments)?;)*
                arguments.end()?;
                Ok(self(arguments.cx, $($param),*))
            }
        }
    )*};
}

bodies! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E G) }
