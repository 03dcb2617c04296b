//! Functions of the embedding program: closures whose parameters are declared by their Rust types.
//!
//! | module | contents |
//! |---|---|
//! | `params` | the declared parameters, and how the arguments of a call fit them |
//! | `args` | the arguments of a call |
//! | `parameter` | Rust types of parameters |
//! | `result` | Rust types of results |
//! | `closure` | closures with such parameters and results |

mod args;
mod closure;
mod parameter;
mod params;
mod result;

use super::body::Body;
use super::context::Cx;
use super::spec::{Builtin, Params};
use crate::bytecode::ImportKind;
use dropforge_base::diagnostics::{Code, Diagnostic, caught};
use dropforge_value::Value;

pub use args::{ArgKey, HostArgs};
pub use closure::HostFunction;
pub use parameter::{Deserialized, Further, Parameter};
pub use params::{HostParam, HostParams, Misfit};
pub use result::{HostError, HostResult};

/// The closure of a host function, which takes arranged arguments.
type Call = dyn for<'a, 'v> Fn(&Cx<'v>, &'a HostArgs<'a>) -> Result<Value<'v>, HostFault> + Send + Sync;

/// A function of the embedding program: its parameters and its closure.
pub struct Host {
    params: HostParams,
    call: Box<Call>,
}

/// The failure of a call.
#[derive(Debug)]
pub enum HostFault {
    /// A limit of the render was reached.
    Limit(Box<Diagnostic>),
    /// The arguments do not fit the parameters.
    Misfit(Misfit),
    /// The error of the function.
    Failed(HostError),
}

impl Host {
    /// Returns the parameters.
    pub fn params(&self) -> &HostParams {
        &self.params
    }

    /// Calls the function. A panic is an error of the call.
    ///
    /// # Errors
    /// The arguments do not fit; the error of the function; a limit of the render.
    pub fn call<'v>(
        &self,
        cx: &Cx<'v>,
        positional: &[Value<'v>],
        named: &[(&str, Value<'v>)],
    ) -> Result<Value<'v>, HostFault> {
        let values = self.params.arrange(positional, named).map_err(HostFault::Misfit)?;
        let args = HostArgs::arranged(&self.params, &values, named);
        // The text of a panic may have values of the user, so it is left out.
        caught(|| (self.call)(cx, &args)).unwrap_or_else(|_| Err(HostFault::Failed("it panicked".into())))
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Host").field(&self.params).finish()
    }
}

impl HostFault {
    /// Converts the error of a call of `function` for languages without words of their own.
    #[cold]
    pub fn into_error(self, function: &Builtin, misfit: impl FnOnce(&Misfit) -> Box<Diagnostic>) -> Box<Diagnostic> {
        match self {
            HostFault::Limit(limit) => limit,
            HostFault::Misfit(of) => misfit(&of),
            HostFault::Failed(why) => {
                let message = format!("{} `{}` failed: {why}", function.kind.name(), function.name);
                Diagnostic::new(Code::FunctionFailed, message).caused_by(why)
            }
        }
    }
}

impl Builtin {
    /// Creates a function of the embedding program. `declared` is its name, which names of parameters may follow:
    /// `"probe"` or `"probe(n, s?)"`.
    ///
    /// ```
    /// use dropforge::ImportKind;
    /// use dropforge::function::Builtin;
    /// let probe = Builtin::host(ImportKind::Function, "probe(n, s)", |n: i64, s: &str| format!("{n}{s}"));
    /// assert_eq!(probe.name, "probe");
    /// assert_eq!(probe.host_params().map(|params| params.to_string()).as_deref(), Some("n: integer, s: string"));
    /// ```
    pub fn host<P, F: HostFunction<P>>(kind: ImportKind, declared: &str, function: F) -> Self {
        let (name, names) = params::names(declared);
        let mut params = F::params();
        params.name(kind, &names);
        let call: Box<Call> = Box::new(move |cx, args| function.call(cx, args));
        let body = Body::Host(std::sync::Arc::new(Host { params, call }));
        Self::registered(kind, name.to_owned(), Params::Open, body)
    }

    /// Returns the parameters of a function of the embedding program.
    pub fn host_params(&self) -> Option<&HostParams> {
        match &self.body {
            Body::Host(host) => Some(host.params()),
            _ => None,
        }
    }
}
