//! Which language's rules run a program, and which functions it has.

use crate::bytecode::Dialect;
#[cfg(feature = "compile")]
use crate::diagnostics::Diagnostic;
use crate::diagnostics::Result;
use crate::dialect::{cel, hcl, tera, tower};
use crate::function::Registry;
use crate::vm::{Hooks, Run, Session, run, run_checked};

/// The functions of `dialect`.
pub(super) fn registry(dialect: Dialect) -> Registry {
    match dialect {
        Dialect::Tower => Registry::default(),
        Dialect::Tera => tera::registry(),
        Dialect::Hcl => hcl::registry(),
        Dialect::Cel => cel::registry(),
    }
}

/// Runs a program by its language's rules.
pub(super) fn render<H: Hooks>(session: &mut Session, what: Run<'_>, out: &mut String, hooks: &mut H) -> Result<()> {
    match what.program.dialect() {
        Dialect::Tower => run::<tower::Rules, H>(session, what, out, hooks),
        Dialect::Tera => run::<tera::Rules, H>(session, what, out, hooks),
        Dialect::Hcl => run::<hcl::Rules, H>(session, what, out, hooks),
        Dialect::Cel => run::<cel::Rules, H>(session, what, out, hooks),
    }
}

/// The same with every index checked.
pub(super) fn render_checked(session: &mut Session, what: Run<'_>, out: &mut String) -> Result<()> {
    match what.program.dialect() {
        Dialect::Tower => run_checked::<tower::Rules>(session, what, out),
        Dialect::Tera => run_checked::<tera::Rules>(session, what, out),
        Dialect::Hcl => run_checked::<hcl::Rules>(session, what, out),
        Dialect::Cel => run_checked::<cel::Rules>(session, what, out),
    }
}

/// Adds to an error of a render what the values are that it is about, in languages that tell.
#[cfg(feature = "compile")]
pub(super) fn explain(what: Run<'_>, error: &mut Box<Diagnostic>) {
    let (Dialect::Hcl, Some(source)) = (what.program.dialect(), what.program.sources().first()) else { return };
    hcl::explain::explain_template(source, what.inputs, what.limits, std::slice::from_mut(error));
    hcl::explain::explain_template(source, what.inputs, what.limits, &mut error.also);
}
