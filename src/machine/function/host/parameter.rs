//! Rust types that host functions take.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::HostFault;
use super::args::HostArgs;
use super::params::{HostParams, Misfit};
use crate::function::spec::Type;
use dropforge_value::{Data, Value, from_argument};

/// The arguments of a call that are not yet taken.
#[derive(Debug)]
pub struct Taking<'a> {
    args: &'a HostArgs<'a>,
    at: usize,
}

impl<'a> Taking<'a> {
    pub(super) fn new(args: &'a HostArgs<'a>) -> Self {
        Self { args, at: 0 }
    }

    /// Takes the next argument. One that was left out is undefined.
    fn next(&mut self) -> (usize, Value<'a>) {
        let at = self.at;
        self.at += 1;
        (at, self.args.positional().get(at).copied().unwrap_or_default())
    }

    /// Takes the next argument as a `T`.
    fn read<T: Deserialize<'a>>(&mut self) -> Result<T, HostFault> {
        let (at, value) = self.next();
        from_argument(value).map_err(|error| {
            let ty = self.args.params().type_of(at).unwrap_or(Type::Any);
            HostFault::Misfit(Misfit::of_type(at, ty, value, &error.message))
        })
    }
}

/// A Rust type that a host function takes: a number, a boolean, text, a list, a map, [`Value`], [`Deserialized`] for any
/// other type, an `Option` of these, [`Further`] for all further arguments, or [`HostArgs`] for all of them.
pub trait Parameter {
    /// The type, with the lifetime of a call.
    #[doc(hidden)]
    type Of<'a>;

    /// Adds the parameter to those of the function.
    #[doc(hidden)]
    fn declare(params: &mut HostParams);

    /// Takes the argument of a call.
    ///
    /// # Errors
    /// The argument has another type.
    #[doc(hidden)]
    fn take<'a>(from: &mut Taking<'a>) -> Result<Self::Of<'a>, HostFault>;
}

macro_rules! parameters {
    ($($(@[$($generic:tt)*])? $rust:ty $(as $of:ty)?: $ty:ident;)*) => {$(
        impl$(<$($generic)*>)? Parameter for $rust {
            type Of<'a> = parameters!(@of $rust $(, $of)?);

            fn declare(params: &mut HostParams) {
                params.add(Type::$ty);
            }

            fn take<'a>(from: &mut Taking<'a>) -> Result<Self::Of<'a>, HostFault> {
                from.read()
            }
        }
    )*};
    (@of $rust:ty) => { $rust };
    (@of $rust:ty, $of:ty) => { $of };
}

parameters! {
    bool: Bool;
    char: Str;
    i8: Int; i16: Int; i32: Int; i64: Int; i128: Int; isize: Int;
    u8: Size; u16: Size; u32: Size; u64: Size; u128: Size; usize: Size;
    f32: Number; f64: Number;
    String: Str;
    &str as &'a str: Str;
    @[T: DeserializeOwned] Vec<T>: List;
    @[T: DeserializeOwned] BTreeMap<String, T>: Map;
    @[T: DeserializeOwned] HashMap<String, T>: Map;
    serde_json::Value: Any;
    Data: Any;
}

/// A parameter of any type that deserializes.
///
/// ```
/// use dropforge::function::Deserialized;
/// use dropforge::{Dialect, Engine};
/// #[derive(serde::Deserialize)]
/// struct Port { name: String, number: u16 }
/// let show = |Deserialized(port): Deserialized<Port>| format!("{}:{}", port.name, port.number);
/// let engine = Engine::builder().filter(Dialect::Tera, "show", show).build();
/// let template = engine.compile(Dialect::Tera, "t", "{{ port | show }}")?;
/// assert_eq!(template.render(&serde_json::json!({"port": {"name": "http", "number": 80}}))?, "http:80");
/// # Ok::<(), dropforge::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Deserialized<T>(pub T);

impl<T: DeserializeOwned> Parameter for Deserialized<T> {
    type Of<'a> = Self;

    fn declare(params: &mut HostParams) {
        params.add(Type::Any);
    }

    fn take<'a>(from: &mut Taking<'a>) -> Result<Self, HostFault> {
        from.read().map(Deserialized)
    }
}

/// All further positional arguments, as a last parameter.
///
/// ```
/// use dropforge::function::Further;
/// use dropforge::{Dialect, Engine};
/// let sum = |first: i64, Further(more): Further<i64>| first + more.iter().sum::<i64>();
/// let engine = Engine::builder().function(Dialect::Hcl, "total", sum).build();
/// let template = engine.compile(Dialect::Hcl, "t", "${total(1, [2, 3]...)}")?;
/// assert_eq!(template.render(&())?, "6");
/// # Ok::<(), dropforge::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Further<T>(pub Vec<T>);

impl<T: Parameter> Parameter for Further<T> {
    type Of<'a> = Further<T::Of<'a>>;

    fn declare(params: &mut HostParams) {
        let mut of = HostParams::default();
        T::declare(&mut of);
        params.admit_rest(of.type_of(0).unwrap_or(Type::Any));
    }

    fn take<'a>(from: &mut Taking<'a>) -> Result<Self::Of<'a>, HostFault> {
        let mut taken = Vec::new();
        while from.at < from.args.positional().len() {
            taken.push(T::take(from)?);
        }
        Ok(Further(taken))
    }
}

/// A view of the argument, without a conversion.
impl Parameter for Value<'_> {
    type Of<'a> = Value<'a>;

    fn declare(params: &mut HostParams) {
        params.add(Type::Any);
    }

    fn take<'a>(from: &mut Taking<'a>) -> Result<Value<'a>, HostFault> {
        Ok(from.next().1)
    }
}

/// `None` for an argument that is null or was left out.
impl<T: Parameter> Parameter for Option<T> {
    type Of<'a> = Option<T::Of<'a>>;

    fn declare(params: &mut HostParams) {
        let from = params.iter().len();
        T::declare(params);
        params.make_optional(from);
    }

    fn take<'a>(from: &mut Taking<'a>) -> Result<Self::Of<'a>, HostFault> {
        match from.args.positional().get(from.at) {
            Some(value) if !value.is_undefined() && !value.is_null() => T::take(from).map(Some),
            _ => {
                from.at += 1;
                Ok(None)
            }
        }
    }
}

/// All arguments. The function takes any.
impl Parameter for &HostArgs<'_> {
    type Of<'a> = &'a HostArgs<'a>;

    fn declare(params: &mut HostParams) {
        params.admit_all();
    }

    fn take<'a>(from: &mut Taking<'a>) -> Result<&'a HostArgs<'a>, HostFault> {
        Ok(from.args)
    }
}
