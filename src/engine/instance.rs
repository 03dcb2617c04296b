//! Which language's rules run a program, which front half compiles it, which functions it has.

use crate::bytecode::Dialect;
use crate::compiler::{Compiled, Unit};
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::{tera, tower};
use crate::function::Registry;
use crate::vm::{Hooks, Run, Session, run, run_checked};

/// What compiling a unit gives: the program, or everything that is wrong.
pub(super) type Answer = std::result::Result<Compiled, Vec<Box<Diagnostic>>>;

/// Compiles a unit of `dialect`.
pub(super) fn compile(dialect: Dialect, unit: &Unit<'_>) -> Answer {
    match dialect {
        Dialect::Tower => tower::compile(unit),
        Dialect::Tera => tera::compile(unit),
    }
}

/// Compiles units of `dialect`, in order; what they share is read once.
pub(super) fn compile_all(dialect: Dialect, units: &[Unit<'_>]) -> Vec<Answer> {
    match dialect {
        Dialect::Tower => units.iter().map(tower::compile).collect(),
        Dialect::Tera => tera::compile_all(units),
    }
}

/// The functions of `dialect`.
pub(super) fn registry(dialect: Dialect) -> Registry {
    match dialect {
        Dialect::Tower => Registry::default(),
        Dialect::Tera => tera::registry(),
    }
}

/// Runs a program by its language's rules.
pub(super) fn render<H: Hooks>(session: &mut Session, what: Run<'_>, out: &mut String, hooks: &mut H) -> Result<()> {
    match what.program.dialect() {
        Dialect::Tower => run::<tower::Rules, H>(session, what, out, hooks),
        Dialect::Tera => run::<tera::Rules, H>(session, what, out, hooks),
    }
}

/// The same with every index checked.
pub(super) fn render_checked(session: &mut Session, what: Run<'_>, out: &mut String) -> Result<()> {
    match what.program.dialect() {
        Dialect::Tower => run_checked::<tower::Rules>(session, what, out),
        Dialect::Tera => run_checked::<tera::Rules>(session, what, out),
    }
}
