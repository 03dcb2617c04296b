//! Lowers trees to one program: the entry template with every template it reaches.
//!
//! Inheritance is resolved here. The root's body is lowered, each block is the nearest child's, and `super()` is the
//! next definition up. Includes are inlined; recursive and very large ones become chunks that read their callers'
//! names. Macros are chunks called with slots. Names become slots and top-level inputs. A read lists every root that
//! may hold its name, innermost first, because a `set` may not have run.
//!
//! The reference reports unknown filters, tests, functions, macros and includes only when a render reaches them. They
//! become a failing instruction and a lint; the program runs. The escape mode is an operand, fixed by the root. Values
//! that are stored or passed are not escaped, so a macro may exist in both modes.
//!
//! This file has the state of lowering, chunks, failures, and checks of calls to functions of the embedding program.
//!
//! | file | content |
//! |---|---|
//! | `body` | text, output, `set`, conditions, loops, filter sections; blocks, `super()`, includes |
//! | `calls` | functions, filters, tests, macros |
//! | `values`, `conditions` | expressions as values (with reads of variables) and as conditions (with constant folding) |
//! | `variables` | the names of one scope; the slots and inputs that a name may refer to |

mod body;
mod calls;
mod conditions;
mod values;
mod variables;

use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::compile::{Id, Templates};
use crate::front::hints;
use crate::syntax::tree::{Arg, Block, Call, Expr, ExprKind, Name};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limit;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{Failure, ImportKind};
use dropforge_machine::compiler::{Emitter, Unit};
use dropforge_machine::function::{Builtin, HostParams, Misfit};
use dropforge_value::{Arena, Value};
use variables::{Frame, Outside};

/// Maximum nesting of bodies and expressions during lowering, including includes and blocks.
const DEPTH: usize = 500;

/// Lowers the templates of a unit to the chunks of `emitter`. Returns lints, and the names of the files whose text is part of
/// the program.
///
/// # Errors
/// Limits of nesting and of code size.
pub(super) fn lower<'a>(
    unit: &Unit<'_>,
    templates: &Templates<'a>,
    emitter: &mut Emitter<'a>,
) -> Result<(Vec<Box<Diagnostic>>, BTreeSet<String>)> {
    let mut lower = Lower::new(unit, templates, emitter);
    lower.program()?;
    Ok((lower.lints, lower.raw_files))
}

/// A chunk that is declared but not yet emitted.
enum Pending {
    Macro(MacroKey),
    Include(IncludeKey),
}

/// One macro in one escape mode. `resolver` is the template in which its own macro calls are resolved, if it differs
/// from its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct MacroKey {
    pub file: Id,
    pub name: Span,
    pub escape: bool,
    pub resolver: Option<Id>,
}

/// One included template in one escape mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct IncludeKey {
    pub file: Id,
    pub escape: bool,
    pub resolver: Option<Id>,
}

/// A block definition that was entered: its name, its template, and its level in the chain.
#[derive(Debug, Clone, Copy)]
struct Entered<'a> {
    pub name: &'a str,
    pub file: Id,
    pub level: usize,
}

/// The state of lowering one unit.
struct Lower<'l, 'a> {
    pub unit: &'l Unit<'l>,
    pub templates: &'l Templates<'a>,
    pub emitter: &'l mut Emitter<'a>,
    pub lints: Vec<Box<Diagnostic>>,
    /// Files whose text is part of the program.
    pub raw_files: BTreeSet<String>,
    pub queue: Vec<(u32, Pending)>,
    pub macros: HashMap<MacroKey, u32>,
    pub includes: HashMap<IncludeKey, u32>,

    /// The template being lowered. Spans belong to it.
    pub file: Id,
    /// The template whose blocks are used: the entry or an included template.
    pub active: Id,
    /// `true` if written text is escaped here.
    pub escape: bool,
    /// The scope around the frames of this chunk.
    pub outside: Outside,
    pub frames: Vec<Frame<'a>>,
    /// Entered block definitions. The reference does not leave them at their end, and resolves macros by the last one.
    pub entered: Vec<Entered<'a>>,
    /// Blocks and includes being inlined, to prevent endless nesting.
    pub open_blocks: Vec<*const Block<'a>>,
    pub open_includes: Vec<Id>,
    pub depth: usize,
}

impl<'l, 'a> Lower<'l, 'a> {
    fn new(unit: &'l Unit<'l>, templates: &'l Templates<'a>, emitter: &'l mut Emitter<'a>) -> Self {
        Self {
            unit,
            templates,
            emitter,
            lints: Vec::new(),
            raw_files: BTreeSet::new(),
            queue: Vec::new(),
            macros: HashMap::new(),
            includes: HashMap::new(),
            file: 0,
            active: 0,
            escape: unit.escape,
            outside: Outside::Inputs,
            frames: Vec::new(),
            entered: Vec::new(),
            open_blocks: Vec::new(),
            open_includes: Vec::new(),
            depth: 0,
        }
    }

    fn program(&mut self) -> Result<()> {
        let main = self.emitter.declare_chunk("main", 0);
        // The entry's source is the first of the program's sources.
        self.at(Span::default());
        self.emitter.begin_chunk(main);
        let root = self.templates.root().unwrap_or(0);
        self.file = root;
        self.open_includes.push(0);
        self.frame_around(Frame::default(), self.templates.list[root].tree.body)?;
        self.emitter.end_chunk();
        while let Some((chunk, pending)) = self.queue.pop() {
            self.entered.clear();
            match pending {
                Pending::Macro(key) => self.macro_chunk(chunk, key)?,
                Pending::Include(key) => self.include_chunk(chunk, key)?,
            }
        }
        Ok(())
    }

    pub fn source(&self) -> &'l Arc<Source> {
        &self.templates.list[self.file].source
    }

    /// Sets the source position of the following instructions.
    pub fn at(&mut self, span: Span) {
        let source = self.source();
        self.emitter.at(source, span);
    }

    /// Runs `lower` one level deeper.
    ///
    /// # Errors
    /// The nesting is too deep, which fails the whole compilation.
    pub fn deeper<T>(&mut self, span: Span, lower: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEPTH {
            return Err(Limit::Nesting.error(DEPTH as u64).at(
                self.source(),
                span,
                "blocks and includes nest too deep here",
            ));
        }
        self.emitter.check_size()?;
        self.depth += 1;
        let result = lower(self);
        self.depth -= 1;
        result
    }

    /// Runs `lower` with escaping off.
    pub fn unescaped<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        let escape = std::mem::replace(&mut self.escape, false);
        let result = lower(self);
        self.escape = escape;
        result
    }

    /// Emits an instruction that fails, and reports it as a lint.
    pub fn fail(&mut self, span: Span, error: Box<Diagnostic>) {
        self.at(span);
        self.fail_quietly(&error);
        self.lints.push(error.at(self.source(), span, ""));
    }

    /// Emits an instruction that fails.
    pub(crate) fn fail_quietly(&mut self, error: &Diagnostic) {
        let Diagnostic { code, message, available, help, .. } = error.clone();
        self.emitter.fail(&Failure { code, message, available, help });
    }

    /// Emits an instruction that fails instead of pushing a value.
    pub fn fail_value(&mut self, span: Span, code: Code, message: impl Into<String>) {
        self.at(span);
        self.fail_quietly(&Diagnostic::new(code, message));
        self.emitter.undefined();
    }

    /// Returns the function of this kind and name, or emits a failing instruction.
    pub fn function(&mut self, kind: ImportKind, name: Name<'a>) -> Option<&'l Builtin> {
        let found = self.unit.registry.get(kind, name.text);
        if found.is_none() {
            let error = hints::unknown(self.unit.registry.unknown(kind, name.text), kind, name.text);
            self.fail(name.span, error);
        }
        found.map(|found| &**found)
    }
}

/// An error of a call and its place.
type Found = (Box<Diagnostic>, Span);

impl<'a> Lower<'_, 'a> {
    /// Reports arguments that do not fit the parameters of a function of the embedding program: unknown names, missing
    /// arguments, and literals of another type.
    fn lint_host(&mut self, builtin: &Builtin, call: &Call<'a>) {
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
