//! Checks of calls to functions of the embedding program.

use super::Lower;
use crate::syntax::tree::{Arg, Call, Expr, ExprKind};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Builtin, HostParams, Misfit};
use dropforge_value::{Arena, Value};

/// An error of a call and its place.
type Found = (Box<Diagnostic>, Span);

impl<'a> Lower<'_, 'a> {
    /// Reports arguments that do not fit the parameters of a function of the embedding program: unknown names, missing
    /// arguments, and literals of another type.
    pub(super) fn lint_host(&mut self, builtin: &Builtin, call: &Call<'a>) {
        let Some(params) = builtin.host_params() else { return };
        let subjects = usize::from(builtin.kind != ImportKind::Function);
        let found = match params.places(subjects, call.args.iter().map(|arg| arg.name.text)) {
            Ok(places) => {
                let mut found = missing(builtin, params, &places, call.span);
                let literals =
                    places.iter().zip(call.args).filter_map(|(at, arg)| wrong_type(builtin, params, (*at)?, arg));
                found.extend(literals);
                found
            }
            Err(misfit) => {
                let unknown = |arg: &&Arg<'_>| matches!(&misfit, Misfit::Unknown(name) if name == arg.name.text);
                let span = call.args.iter().find(unknown).map_or(call.span, |arg| arg.name.span);
                vec![(misfit.error(builtin), span)]
            }
        };
        for (error, span) in found {
            self.lints.push(error.at(self.source(), span, ""));
        }
    }
}

/// Returns the errors of missing arguments.
fn missing(builtin: &Builtin, params: &HostParams, places: &[Option<usize>], span: Span) -> Vec<Found> {
    let subjects = usize::from(builtin.kind != ImportKind::Function);
    let params = params.iter().enumerate().skip(subjects);
    let lacking = params.filter(|(at, param)| !param.optional && !places.contains(&Some(*at)));
    lacking.map(|(at, _)| (Misfit::Missing(at).error(builtin), span)).collect()
}

/// Returns the error of a literal of another type than that of its parameter.
fn wrong_type(builtin: &Builtin, params: &HostParams, at: usize, arg: &Arg<'_>) -> Option<Found> {
    let (arena, ty) = (Arena::new(), params.type_of(at)?);
    let value = literal(&arena, &arg.value).filter(|value| !ty.admits(value))?;
    Some((Misfit::of_type(at, ty, value, "").error(builtin), arg.value.span))
}

/// Returns the value of a literal.
fn literal<'v>(arena: &'v Arena, of: &Expr<'_>) -> Option<Value<'v>> {
    if !of.filters.is_empty() || of.negated {
        return None;
    }
    match of.kind {
        ExprKind::Str(text) => Some(arena.text(text)),
        ExprKind::Int(n) => Some(Value::Int(n)),
        ExprKind::Float(n) => Some(Value::Float(n)),
        ExprKind::Bool(truth) => Some(Value::Bool(truth)),
        _ => None,
    }
}
