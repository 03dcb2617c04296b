//! `cel`: the Common Expression Language, without protobuf messages; and [`yaml`]: YAML templates with CEL expressions.
//!
//! | module | contents |
//! |---|---|
//! | [`syntax`] | lexer, parser, tree, macros, unparser |
//! | [`check`] | types, overloads, cost estimates |
//! | `lower` | bytecode |
//! | `partial`, `attributes` | partial evaluation with unknown attributes |
//! | [`builtins`] | functions |
//! | [`dialects`] | implementations of CEL, and what differs in them |
//! | [`values`], [`cost`], `semantics` | operations on values, their costs, the rules of the machine and the choice of overloads |
//!
//! [`Expression`] compiles and evaluates expressions; [`compile()`] compiles a template that is one expression.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

#[doc(hidden)]
pub mod builtins;
pub mod cost;
pub mod dialects;
#[cfg(feature = "compile")]
mod front;
mod semantics;
#[doc(hidden)]
pub mod values;

#[doc(hidden)]
pub use builtins::kubernetes as registry;
#[cfg(feature = "compile")]
pub use front::*;
#[doc(hidden)]
pub use semantics::Rules;

use dropforge_machine::bytecode::Dialect;
use dropforge_machine::function::Registry;
use dropforge_machine::language::{Language, Machine, MachineOf};
use dropforge_value::OutputFormat;

/// The language of expressions.
#[derive(Debug)]
pub struct Cel;

/// The machine. A static, so that its code is made in this package and not in those that ask for it.
static MACHINE: &dyn Machine = &MachineOf::<Rules>::INSTANCE;

impl Language for Cel {
    fn dialect(&self) -> Dialect {
        Dialect::Cel
    }

    fn machine(&self) -> &'static dyn Machine {
        MACHINE
    }

    fn answers_documents(&self) -> bool {
        true
    }

    #[cfg(feature = "compile")]
    fn front(&self) -> Option<&'static dyn dropforge_machine::language::Front> {
        Some(&Cel)
    }

    fn registry(&self) -> Registry {
        registry()
    }

    fn variant(&self, all: &Registry, name: &str) -> Registry {
        dialects::functions(all, name)
    }

    fn default_format(&self) -> OutputFormat {
        OutputFormat::Ndjson
    }
}

/// The language of YAML with expressions.
#[derive(Debug)]
pub struct CelYaml;

impl Language for CelYaml {
    fn dialect(&self) -> Dialect {
        Dialect::CelYaml
    }

    fn machine(&self) -> &'static dyn Machine {
        MACHINE
    }

    fn answers_documents(&self) -> bool {
        true
    }

    #[cfg(feature = "compile")]
    fn front(&self) -> Option<&'static dyn dropforge_machine::language::Front> {
        Some(&CelYaml)
    }

    fn registry(&self) -> Registry {
        registry()
    }

    fn variant(&self, all: &Registry, name: &str) -> Registry {
        dialects::functions(all, name)
    }
}
