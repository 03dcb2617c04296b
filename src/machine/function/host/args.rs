//! The arguments of a call to a host function.

use serde::Deserialize;

use super::params::HostParams;
use dropforge_value::{Value, from_argument};

/// The arguments of a call: positional ones in order, of which the first is the value that a filter or test is applied
/// to, or the receiver of a method, and named ones.
///
/// ```
/// use dropforge::function::HostArgs;
/// use dropforge::{Dialect, Engine};
/// let join = |args: &HostArgs| Ok::<_, String>(args.get::<String>(0)? + &args.get::<String>("with")?);
/// let engine = Engine::builder().filter(Dialect::Tera, "join_to", join).build();
/// let template = engine.compile(Dialect::Tera, "t", "{{ 'a' | join_to(with='b') }}")?;
/// assert_eq!(template.render(&())?, "ab");
/// # Ok::<(), dropforge::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HostArgs<'a> {
    params: &'a HostParams,
    values: &'a [Value<'a>],
    named: &'a [(&'a str, Value<'a>)],
}

/// An index or a name of an argument.
pub trait ArgKey {
    /// Returns the argument.
    #[doc(hidden)]
    fn find<'a>(&self, args: &HostArgs<'a>) -> Option<Value<'a>>;

    /// Returns the name for messages.
    #[doc(hidden)]
    fn name(&self) -> String;
}

impl ArgKey for usize {
    fn find<'a>(&self, args: &HostArgs<'a>) -> Option<Value<'a>> {
        args.values.get(*self).copied()
    }

    fn name(&self) -> String {
        format!("argument {}", self + 1)
    }
}

impl ArgKey for &str {
    fn find<'a>(&self, args: &HostArgs<'a>) -> Option<Value<'a>> {
        // The last of duplicate names wins.
        let named = || args.named.iter().rev().find(|(name, _)| name == self).map(|(_, value)| *value);
        args.params.position(self).and_then(|at| args.values.get(at).copied()).or_else(named)
    }

    fn name(&self) -> String {
        format!("argument `{self}`")
    }
}

impl<'a> HostArgs<'a> {
    /// Creates arguments that are arranged by the parameters.
    pub(super) fn arranged(params: &'a HostParams, values: &'a [Value<'a>], named: &'a [(&'a str, Value<'a>)]) -> Self {
        Self { params, values, named }
    }

    /// Returns the parameters of the function.
    pub(super) fn params(&self) -> &'a HostParams {
        self.params
    }

    /// Returns an argument, by its index or its name, as a `T`. An `Option` is `None` if it is missing.
    ///
    /// # Errors
    /// The argument is missing, or is not a `T`.
    pub fn get<T: Deserialize<'a>>(&self, at: impl ArgKey) -> Result<T, String> {
        let value = at.find(self).unwrap_or(Value::Undefined);
        from_argument(value).map_err(|error| match value {
            Value::Undefined => format!("{} is not given", at.name()),
            _ => format!("{}: {}", at.name(), error.message),
        })
    }

    /// Returns the value that a filter or test is applied to, or the receiver of a method, as a `T`: argument 0.
    ///
    /// # Errors
    /// The value is not a `T`.
    pub fn value<T: Deserialize<'a>>(&self) -> Result<T, String> {
        self.get(0)
    }

    /// Returns the arguments in order: those of the parameters, undefined if left out, and all further positional ones.
    pub fn positional(&self) -> &'a [Value<'a>] {
        self.values
    }

    /// Returns the named arguments, in order.
    pub fn named(&self) -> &'a [(&'a str, Value<'a>)] {
        self.named
    }
}
