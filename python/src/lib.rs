//! The Python package `dropforge`: the engine, stamping of Arrow tables, and the command.
//!
//! | module | content |
//! |---|---|
//! | `engine`, `template`, `inputs` | `Engine`, `Artifact`, `Template`, `Inputs` |
//! | `mapping` | Python objects as a serde deserializer |
//! | `kept` | inputs that threads share |
//! | `stamp`, `table` | stamping of Arrow tables |
//! | `capsules` | Arrow's C interface |
//! | `errors` | diagnostics as exceptions |
//!
//! Nothing renders while it holds the interpreter's lock.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

mod capsules;
mod engine;
mod errors;
mod inputs;
mod kept;
mod mapping;
mod stamp;
mod table;
mod template;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The native part of the package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::engine::{Artifact, Engine, compile, is_artifact};
    #[pymodule_export]
    use super::inputs::Inputs;
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::stamp::{Stamper, values};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::template::Template;
}

/// Runs a command line and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = dropforge_cli::run_with(args);
        // Nobody else flushes it when the interpreter ends. A closed pipe was reported by whoever wrote.
        let _ = std::io::Write::flush(&mut std::io::stdout());
        code
    })
}
