//! Closures as host functions.

use super::HostFault;
use super::args::HostArgs;
use super::parameter::{Parameter, Taking};
use super::params::HostParams;
use super::result::HostResult;
use crate::function::context::Cx;
use dropforge_value::Value;

/// A closure with up to ten parameters, each a [`Parameter`], that returns a [`HostResult`].
///
/// ```
/// use dropforge::{Dialect, Engine};
/// let engine = Engine::builder()
///     .filter(Dialect::Tera, "repeat(times)", str::repeat)
///     .function(Dialect::Cel, "port", |name: &str, base: Option<u16>| match name {
///         "http" => Ok(base.unwrap_or(0) + 80),
///         _ => Err(format!("there is no port `{name}`")),
///     })
///     .build();
/// let template = engine.compile(Dialect::Tera, "t", "{{ 'ab' | repeat(times=2) }}")?;
/// assert_eq!(template.render(&())?, "abab");
/// # Ok::<(), dropforge::Error>(())
/// ```
pub trait HostFunction<P>: Send + Sync + 'static {
    /// Returns the parameters.
    #[doc(hidden)]
    fn params() -> HostParams;

    /// Calls the closure.
    ///
    /// # Errors
    /// The arguments do not fit; the error of the function; a limit of the render.
    #[doc(hidden)]
    fn call<'v>(&self, cx: &Cx<'v>, args: &HostArgs<'_>) -> Result<Value<'v>, HostFault>;
}

macro_rules! closures {
    ($(($($param:ident)*))*) => {$(
        impl<F, R, $($param: Parameter),*> HostFunction<($($param,)*)> for F
        where
            F: Fn($($param),*) -> R + for<'a> Fn($($param::Of<'a>),*) -> R + Send + Sync + 'static,
            R: HostResult,
        {
            #[allow(unused_mut)]
            fn params() -> HostParams {
                let mut params = HostParams::default();
                $($param::declare(&mut params);)*
                params
            }

            #[allow(non_snake_case, unused_mut, unused_variables, clippy::too_many_arguments)]
            fn call<'v>(&self, cx: &Cx<'v>, args: &HostArgs<'_>) -> Result<Value<'v>, HostFault> {
                // Of the two signatures of the closure, this is the one for the lifetime of the call.
                fn run<R, $($param),*>(function: impl Fn($($param),*) -> R, $($param: $param),*) -> R {
                    function($($param),*)
                }
                let mut from = Taking::new(args);
                $(let $param = $param::take(&mut from)?;)*
                run(self, $($param),*).into_value(cx)
            }
        }
    )*};
}

closures! {
    () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E G) (A B C D E G H) (A B C D E G H I) (A B C D E G H I J)
    (A B C D E G H I J K)
}
