//! The languages. A language's rules stay in its own module; no language imports another.

#[cfg(feature = "cel")]
pub mod cel;
#[cfg(feature = "hcl")]
pub mod hcl;
#[cfg(feature = "helm")]
#[doc(hidden)]
pub mod helm;
#[cfg(feature = "tera")]
#[doc(hidden)]
pub mod tera;
#[cfg(feature = "tower")]
pub mod tower;
