//! Functions, filters, tests and macros.

use smallvec::{SmallVec, smallvec};

use super::variables::{Frame, Outside};
use super::{Lower, MacroKey, Pending};
use crate::builtins::RAW_FILE;
use crate::compile::{Id, unknown_template};
use crate::syntax::tree::{Arg, Call, Expr, ExprKind, Macro, Name, Path};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, Result, nearest};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{ImportKind, Op};
use dropforge_machine::compiler::Constant;
use dropforge_machine::function::{Builtin, Default, Params};

/// Maximum number of parameters to name and to compare an unknown one with.
const COMPARED: usize = 1_000;

/// The parameter of each argument.
type Targets = SmallVec<[u32; 8]>;

impl<'a> Lower<'_, 'a> {
    /// Applies a filter to the top of the stack.
    pub(super) fn apply_filter(&mut self, call: &'a Call<'a>) -> Result<()> {
        match self.function(ImportKind::Filter, call.name) {
            Some(filter) => self.call(filter, call, smallvec![0]),
            None => Ok(()),
        }
    }

    /// Returns `true` if a filter may come first on a missing variable: its subject has a default.
    pub(super) fn takes_missing(&self, call: &Call<'_>) -> bool {
        let filter = self.unit.registry.get(ImportKind::Filter, call.name.text);
        filter.is_some_and(|filter| match filter.params {
            Params::Named([subject, ..]) => subject.default != Default::Required,
            _ => filter.host_params().and_then(|params| params.iter().next()).is_some_and(|subject| subject.optional),
        })
    }

    /// Pushes the result of a function.
    pub(super) fn call_function(&mut self, call: &'a Call<'a>) -> Result<()> {
        if call.name.text == RAW_FILE
            && self.unit.registry.get(ImportKind::Function, RAW_FILE).is_some()
            && let [Arg { name: Name { text: "path", .. }, value: Expr { kind: ExprKind::Str(path), span, .. } }] =
                call.args
        {
            return self.raw_file(path, *span);
        }
        let Some(function) = self.function(ImportKind::Function, call.name) else {
            self.emitter.undefined();
            return Ok(());
        };
        self.call(function, call, Targets::new())
    }

    /// Pushes the text of a file, which is read when the template is compiled, from where includes are.
    fn raw_file(&mut self, path: &'a str, span: Span) -> Result<()> {
        let error = match self.unit.loader.load(path) {
            Ok(Some(source)) => {
                self.unit.limits.check_size(&source)?;
                self.at(span);
                self.emitter.constant(Constant::Str(source.text().to_owned().into()));
                self.raw_files.insert(path.to_owned());
                return Ok(());
            }
            Ok(None) => unknown_template(self.unit, path, "this reads"),
            Err(error) => error,
        };
        self.fail(span, error);
        self.emitter.undefined();
        Ok(())
    }

    /// Pushes the named arguments after those already in `targets`, and calls.
    fn call(&mut self, builtin: &Builtin, call: &'a Call<'a>, mut targets: Targets) -> Result<()> {
        for arg in in_order(builtin, call) {
            let target = parameter(builtin, arg.name.text);
            self.emitter.defaults(builtin, &mut targets, target.unwrap_or(0));
            self.unescaped(|lower| lower.value(&arg.value))?;
            match (&builtin.params, target) {
                (Params::Named(_), Some(target)) => targets.push(target),
                // The reference evaluates and ignores an argument without a parameter.
                (Params::Named(_), None) => self.emitter.op(Op::Pop, &[]),
                _ => targets.push(Params::by_name(self.emitter.string(arg.name.text))),
            }
        }
        self.lint_arguments(builtin, call);
        self.lint_host(builtin, call);
        self.at(call.span);
        self.emitter.defaults(builtin, &mut targets, u32::MAX);
        self.emitter.call_builtin(builtin, &targets);
        Ok(())
    }

    fn lint_arguments(&mut self, builtin: &Builtin, call: &Call<'a>) {
        let Params::Named(params) = builtin.params else { return };
        self.lint_ignored(builtin, call);
        let first = usize::from(builtin.kind != ImportKind::Function);
        let (kind, name) = (builtin.kind.name(), call.name.text);
        for param in params.iter().skip(first) {
            if param.default == Default::Required && call.arg(param.name).is_none() {
                let message = format!("{kind} `{name}` needs the argument `{}`, {}", param.name, param.ty.name());
                let error = Diagnostic::new(Code::MissingArgument, message).with_field(LOOKED_UP, param.name);
                let error = error.with_help(format!("add `{}=…`", param.name));
                self.lints.push(error.at(self.source(), call.span, ""));
            }
        }
    }

    /// Warns of arguments of a function without a parameter.
    pub(super) fn lint_ignored(&mut self, builtin: &Builtin, call: &Call<'_>) {
        let Params::Named(params) = builtin.params else { return };
        let first = usize::from(builtin.kind != ImportKind::Function);
        let names = params.iter().skip(first).map(|param| param.name);
        self.lint_unknown(builtin.kind.name(), call, names.clone(), &|name| names.clone().any(|param| param == name));
    }

    /// Warns of arguments that are not `known`, which are those of `params`. The reference evaluates and ignores them.
    fn lint_unknown<'n>(
        &mut self,
        kind: &str,
        call: &Call<'_>,
        params: impl Iterator<Item = &'n str> + Clone,
        known: &dyn Fn(&str) -> bool,
    ) {
        let function = call.name.text;
        for name in call.args.iter().map(|arg| arg.name).filter(|name| !known(name.text)) {
            // Warnings beyond the limit are only counted, so they need no names.
            let most = if self.lints.len() < self.unit.limits.diagnostics { COMPARED } else { 0 };
            let names = || params.clone().take(most);
            let (span, name) = (name.span, name.text);
            let message = match params.clone().next() {
                Some(_) => format!("{kind} `{function}` has no argument `{name}`, so it is ignored"),
                None => format!("{kind} `{function}` takes no arguments, so `{name}` is ignored"),
            };
            let is_longer = |other: &&str| name.starts_with(other) || other.starts_with(name);
            let lint = Diagnostic::warning(Code::BadArgument, message).with_field(LOOKED_UP, name);
            let lint = if names().next().is_some() { lint.with_available(names()) } else { lint };
            let lint = match names().find(is_longer) {
                Some(meant) => lint.with_help(format!("did you mean `{meant}`?")).with_replacement(name, meant),
                None => lint.with_suggestion(name, names()),
            };
            self.lints.push(lint.at(self.source(), span, ""));
        }
    }

    /// Pushes the result of a test of a variable, which may be missing.
    pub(super) fn test(
        &mut self,
        path: &'a Path<'a>,
        name: Name<'a>,
        args: &'a [Expr<'a>],
        negated: bool,
        span: Span,
    ) -> Result<()> {
        let Some(builtin) = self.function(ImportKind::Test, name) else {
            self.emitter.undefined();
            return Ok(());
        };
        self.at(path.span);
        self.peek_path(path)?;
        let mut targets: Targets = smallvec![0];
        for (at, arg) in (1..).zip(args) {
            self.unescaped(|lower| lower.value(arg))?;
            targets.push(match builtin.params {
                Params::Named(_) => at,
                _ => Params::BY_PLACE,
            });
        }
        let allowed = match builtin.params {
            Params::Named(params) => params.len().saturating_sub(1),
            _ => usize::MAX,
        };
        if args.len() > allowed {
            let message = format!("test `{}` takes {allowed} arguments, but {} are given", name.text, args.len());
            self.fail(span, Diagnostic::new(Code::BadArgument, message));
        } else if let Some(misfit) = builtin.host_params().and_then(|params| params.misfit_of(args.len() + 1)) {
            self.fail(span, misfit.error(builtin));
        }
        self.at(span);
        self.emitter.defaults(builtin, &mut targets, u32::MAX);
        self.emitter.call_builtin(builtin, &targets);
        if negated {
            self.emitter.op(Op::Not, &[]);
        }
        Ok(())
    }

    /// Pushes the output of a macro.
    pub(super) fn capture_macro(&mut self, namespace: Name<'a>, call: &'a Call<'a>) -> Result<()> {
        self.at(call.span);
        self.emitter.begin_capture();
        self.call_macro(namespace, call)?;
        self.emitter.end_capture();
        Ok(())
    }

    /// Writes the output of a macro.
    pub(super) fn call_macro(&mut self, namespace: Name<'a>, call: &'a Call<'a>) -> Result<()> {
        let Some((file, one)) = self.find_macro(namespace, call) else { return Ok(()) };
        let names = one.params.iter().map(|param| param.name.text);
        // Macros may have thousands of parameters.
        let (params, args) = (sorted(names.clone()), sorted(call.args.iter().map(|arg| arg.name.text)));
        self.lint_unknown("macro", call, names, &|name| place(&params, name).is_some());
        let strange = || call.args.iter().map(|arg| arg.name.text).find(|name| place(&params, name).is_none());
        for param in one.params {
            let given = place(&args, param.name.text).and_then(|at| call.args.get(at)).map(|arg| &arg.value);
            match (given, &param.default) {
                (Some(given), _) => self.unescaped(|lower| lower.value(given))?,
                (None, Some(default)) => {
                    let here = std::mem::replace(&mut self.file, file);
                    let result = self.unescaped(|lower| lower.value(default));
                    self.file = here;
                    result?;
                }
                (None, None) => {
                    let (name, param) = (call.name.text, param.name.text);
                    let message = format!("macro `{name}` is missing the argument `{param}`");
                    let error = Diagnostic::new(Code::MissingArgument, message).with_field(LOOKED_UP, param);
                    let error = match strange().filter(|strange| nearest(strange, [param]).is_some()) {
                        Some(strange) => error
                            .with_note(format!("the macro has no parameter `{strange}`"))
                            .with_suggestion(strange, [param]),
                        None => error.with_help(format!("add `{param}=…`, or give the parameter a default")),
                    };
                    self.fail(call.span, error);
                    self.emitter.undefined();
                }
            }
        }
        let key = MacroKey { file, name: one.name.span, escape: self.escape, resolver: self.resolver() };
        let chunk = match self.macros.get(&key) {
            Some(chunk) => *chunk,
            None => {
                let params = u32::try_from(one.params.len()).unwrap_or(u32::MAX);
                let chunk = self.emitter.declare_chunk(&format!("{}::{}", namespace.text, one.name.text), params);
                self.macros.insert(key, chunk);
                self.queue.push((chunk, Pending::Macro(key)));
                chunk
            }
        };
        self.at(namespace.span.to(call.span));
        self.emitter.op(Op::CallChunk, &[chunk, 0]);
        Ok(())
    }

    /// Returns the template in which macro calls are resolved, if it is not the active one: that of the last block
    /// entered, else the root of an inheritance chain.
    pub(super) fn resolver(&self) -> Option<Id> {
        self.entered.last().map(|entered| entered.file).or(self.templates.root())
    }

    fn find_macro(&mut self, namespace: Name<'a>, call: &'a Call<'a>) -> Option<(Id, &'a Macro<'a>)> {
        let id = self.resolver().unwrap_or(self.active);
        let template = &self.templates.list[id];
        let in_template = template.source.name();
        let Some(&file) = template.namespaces.get(namespace.text) else {
            let names = || template.namespaces.keys().copied();
            let message = format!("there is no macro namespace `{}` in `{in_template}`", namespace.text);
            let error =
                Diagnostic::new(Code::UnknownMacro, message).with_help("import the file that defines the macro");
            let error = error.with_suggestion(namespace.text, names()).with_available(names());
            self.fail(namespace.span, error.with_field(LOOKED_UP, namespace.text));
            return None;
        };
        let found = self.templates.list[file].macro_named(call.name.text);
        if found.is_none() {
            // Errors beyond the limit are only counted, so they need no names.
            let full = self.lints.len() >= self.unit.limits.diagnostics;
            let macros = if full { &[] } else { self.templates.list[file].tree.macros };
            let names = || macros.iter().map(|one| one.name.text);
            let message = format!("there is no macro `{}::{}`", namespace.text, call.name.text);
            let error = Diagnostic::new(Code::UnknownMacro, message).with_field(LOOKED_UP, call.name.text);
            let error = error.with_suggestion(call.name.text, names()).with_available(names());
            self.fail(call.name.span, error);
        }
        found.map(|one| (file, one))
    }

    /// Emits the chunk of a macro.
    pub(super) fn macro_chunk(&mut self, chunk: u32, key: MacroKey) -> Result<()> {
        let macros = self.templates.list[key.file].tree.macros;
        let Some(one) = starting_at(macros, key.name.start, |one| one.name.span.start) else { return Ok(()) };
        self.emitter.begin_chunk(chunk);
        self.enter_chunk(key.file, key.escape, Outside::Macro, key.resolver);
        let mut frame = Frame::default();
        for (slot, param) in (0..).zip(one.params) {
            frame.add(param.name.text, slot);
        }
        self.frame_around(frame, one.body)?;
        self.emitter.end_chunk();
        Ok(())
    }
}

/// Returns names with their places, in the order of the names.
fn sorted<'n>(names: impl Iterator<Item = &'n str>) -> Vec<(&'n str, usize)> {
    let mut names: Vec<(&str, usize)> = names.zip(0..).collect();
    names.small_sort_by_key(|(name, _)| *name);
    names
}

/// Returns the place of a name.
fn place(sorted: &[(&str, usize)], name: &str) -> Option<usize> {
    let at = sorted.binary_search_by_key(&name, |(other, _)| other).ok()?;
    sorted.get(at).map(|(_, place)| *place)
}

/// Returns the arguments in the order of the parameters, unless a template could see the difference: literals have no
/// effect, so all but one may be moved.
fn in_order<'a>(builtin: &Builtin, call: &'a Call<'a>) -> SmallVec<[&'a Arg<'a>; 4]> {
    let mut args: SmallVec<[&Arg<'_>; 4]> = call.args.iter().collect();
    let is_literal = |arg: &&Arg<'_>| {
        let kind = &arg.value.kind;
        let literal = matches!(kind, ExprKind::Str(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_));
        literal && arg.value.filters.is_empty() && !arg.value.negated
    };
    let known = |args: &[&Arg<'_>]| args.iter().all(|arg| parameter(builtin, arg.name.text).is_some());
    if args.len() > 1 && known(&args) && args.iter().filter(|arg| !is_literal(arg)).count() <= 1 {
        args.small_sort_by_key(|arg| parameter(builtin, arg.name.text));
    }
    args
}

/// Returns the index of a function's parameter `name`. The subject of a filter or test does not count.
pub(super) fn parameter(builtin: &Builtin, name: &str) -> Option<u32> {
    let Params::Named(params) = builtin.params else { return None };
    let first = usize::from(builtin.kind != ImportKind::Function);
    let at = params.iter().skip(first).position(|param| param.name == name)?;
    u32::try_from(at + first).ok()
}

/// Returns the item that starts at `start`, of items in source order.
fn starting_at<T>(items: &[T], start: u32, start_of: impl FnMut(&T) -> u32) -> Option<&T> {
    items.binary_search_by_key(&start, start_of).ok().and_then(|at| items.get(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_macro_is_found_in_few_steps() {
        let starts: Vec<u32> = (0..100_000).map(|at| at * 7).collect();
        let mut steps = 0;
        for start in &starts {
            let start_of = |one: &u32| {
                steps += 1;
                *one
            };
            assert_eq!(starting_at(&starts, *start, start_of), Some(start));
        }
        assert!(steps < 20 * starts.len(), "{steps}");
        assert_eq!(starting_at(&starts, 6, |one| *one), None);
    }
}
