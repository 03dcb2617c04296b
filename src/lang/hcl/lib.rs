//! `hcl`: the native syntax, the JSON syntax and the information model of HCL, compatible with the reference
//! implementation.
//!
//! | module | contents |
//! |---|---|
//! | [`syntax`], [`json`] | lexers, parsers and trees of the two syntaxes |
//! | [`lower`] | trees to bytecode |
//! | [`values`] | the information model: operators, conversions, types |
//! | `evaluation`, `semantics`, `argument_gate` | evaluation whose errors are diagnostics beside a value |
//! | [`builtins`] | the functions |
//! | `compile`, [`Expression`] | the entrance: templates and expressions |
//! | [`body`], [`decode`], [`typeexpr`] | configurations by a schema, by a specification, and type expressions |
//! | [`check`] | errors that do not depend on data |
//! | `variables` | defaults, types and validation of `variable` blocks |
//! | [`edit`], [`format`](mod@format) | changing and formatting sources |

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod argument_gate;
#[doc(hidden)]
pub mod builtins;
mod evaluation;
#[cfg(feature = "compile")]
mod front;
mod semantics;
pub mod values;

#[doc(hidden)]
pub use argument_gate::invoke;
#[doc(hidden)]
pub use builtins::registry;
#[cfg(feature = "compile")]
pub use front::*;
#[doc(hidden)]
pub use semantics::Rules;

use dropforge_machine::bytecode::Dialect;
use dropforge_machine::function::Registry;
use dropforge_machine::language::{Language, Machine, MachineOf};

/// The language of templates and expressions.
#[derive(Debug)]
pub struct Hcl;

impl Language for Hcl {
    fn dialect(&self) -> Dialect {
        Dialect::Hcl
    }

    fn machine(&self) -> &'static dyn Machine {
        &MachineOf::<Rules>::INSTANCE
    }

    #[cfg(feature = "compile")]
    fn front(&self) -> Option<&'static dyn dropforge_machine::language::Front> {
        Some(&HclFront)
    }

    fn registry(&self) -> Registry {
        registry()
    }
}
