//! From trees to one program: the entry template with everything it reaches.
//!
//! Inheritance is resolved here: the root's body is lowered, each block is the nearest child's, `super()` the
//! next one up. Includes are put in place (recursive and very large ones become chunks of their own that read
//! their callers' names); macros are chunks called with slots. Names become slots and top-level inputs: a read
//! lists every place its name may be found, innermost first, because a `set` may not have run.
//!
//! What the reference only finds wrong when it gets there (unknown filters, tests, functions, macros, includes)
//! becomes a failing instruction and a lint; the program runs. The escape mode is an operand, fixed by the
//! root; what is stored or passed is evaluated without escaping, so a macro may exist in both modes.
//!
//! Invariant: recursion here is bounded by [`DEPTH`], whatever the templates; code by
//! [`Limits::code_words`](crate::limits::Limits::code_words).

mod body;
mod calls;
mod conditions;
mod frames;
mod inherit;
mod values;

use std::sync::Arc;

use bumpalo::Bump;
use hashbrown::HashMap;

use super::ast::{Block, Name};
use super::semantics::Rules;
use super::templates::{Id, Parsed, Templates};
use crate::bytecode::{Dialect, Failure, ImportKind};
use crate::compiler::{Compiled, Emitter, Unit};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::Builtin;
use crate::limits::Limit;
use crate::text::{Source, Span};
use frames::{Frame, Outside};

/// How deep bodies and expressions may nest while they are lowered, includes and blocks counted in.
const DEPTH: usize = 500;

/// Compiles a unit of the language `tera`.
pub fn compile(unit: &Unit<'_>) -> Answer {
    let arena = Bump::new();
    compile_one(&mut Parsed::new(&arena), &mut emitter(), unit)
}

/// Compiles units of the language `tera`, in order; a source that several of them reach is parsed once.
pub fn compile_all(units: &[Unit<'_>]) -> Vec<Answer> {
    let arena = Bump::new();
    let (mut parsed, mut emitter) = (Parsed::new(&arena), emitter());
    units.iter().map(|unit| compile_one(&mut parsed, &mut emitter, unit)).collect()
}

fn emitter<'a>() -> Emitter<'a> {
    Emitter::new(Dialect::Tera, &Rules, 0)
}

type Answer = std::result::Result<Compiled, Vec<Box<Diagnostic>>>;

fn compile_one<'a>(parsed: &mut Parsed<'a>, emitter: &mut Emitter<'a>, unit: &Unit<'_>) -> Answer {
    let templates = Templates::load(parsed, unit)?;
    emitter.restart(unit.limits.code_words);
    emitter.reserve(templates.list.iter().map(|one| one.source.text().len()).sum());
    let mut lower = Lower::new(unit, &templates, emitter);
    lower.program().map_err(|error| vec![error])?;
    let lints = lower.lints;
    let program = emitter.finish().map_err(|error| vec![error])?;
    Ok(Compiled { program, lints, reaches: templates.reaches() })
}

/// A chunk that is named but not emitted yet.
enum Pending {
    Macro(MacroKey),
    Include(IncludeKey),
}

/// One macro in one escape mode; `resolver` is the template in which its own macro calls are resolved, where
/// that is not its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct MacroKey {
    file: Id,
    name: Span,
    escape: bool,
    resolver: Option<Id>,
}

/// One included template in one escape mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct IncludeKey {
    file: Id,
    escape: bool,
    resolver: Option<Id>,
}

/// A block definition that was entered: its name, its template, how far up the chain it is.
#[derive(Debug, Clone, Copy)]
struct Entered<'a> {
    name: &'a str,
    file: Id,
    level: usize,
}

/// The state of lowering one unit.
struct Lower<'l, 'a> {
    unit: &'l Unit<'l>,
    templates: &'l Templates<'a>,
    emitter: &'l mut Emitter<'a>,
    lints: Vec<Box<Diagnostic>>,
    queue: Vec<(u32, Pending)>,
    macros: HashMap<MacroKey, u32>,
    includes: HashMap<IncludeKey, u32>,

    /// The template whose text is lowered: places in the source.
    file: Id,
    /// The template whose blocks are found: the entry, or what is included.
    active: Id,
    /// Whether text that is written is escaped here.
    escape: bool,
    /// What lies outside the frames of this chunk.
    outside: Outside,
    frames: Vec<Frame<'a>>,
    /// Entered block definitions. The reference does not leave them at their end, and macros are resolved by
    /// the last one, so neither does this.
    entered: Vec<Entered<'a>>,
    /// Blocks and includes that are being put in place, against endless nesting.
    open_blocks: Vec<*const Block<'a>>,
    open_includes: Vec<Id>,
    depth: usize,
}

impl<'l, 'a> Lower<'l, 'a> {
    fn new(unit: &'l Unit<'l>, templates: &'l Templates<'a>, emitter: &'l mut Emitter<'a>) -> Self {
        Self {
            unit,
            templates,
            emitter,
            lints: Vec::new(),
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
        // The entry's source comes first among the program's sources.
        self.at(Span::default());
        self.emitter.begin_chunk(main);
        let root = self.templates.list[0].parents.last().copied().unwrap_or(0);
        self.file = root;
        self.open_includes.push(0);
        self.frame_around(Frame::default(), self.templates.list[root].ast.body)?;
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

    fn source(&self) -> &'l Arc<Source> {
        &self.templates.list[self.file].source
    }

    /// Says where the following instructions come from.
    fn at(&mut self, span: Span) {
        let source = self.source();
        self.emitter.at(source, span);
    }

    /// Runs `lower` one level deeper; too deep is an error of the whole compilation.
    fn deeper<T>(&mut self, span: Span, lower: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
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

    /// Runs `lower` where nothing is escaped.
    fn unescaped<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        let escape = std::mem::replace(&mut self.escape, false);
        let result = lower(self);
        self.escape = escape;
        result
    }

    /// An instruction that fails, and a lint that says so.
    fn fail(&mut self, span: Span, error: Box<Diagnostic>) {
        self.at(span);
        self.fail_quietly(&error);
        self.lints.push(error.at(self.source(), span, ""));
    }

    /// An instruction that fails.
    fn fail_quietly(&mut self, error: &Diagnostic) {
        let Diagnostic { code, message, available, help, .. } = error.clone();
        self.emitter.fail(&Failure { code, message, available, help });
    }

    /// An instruction that fails in the place of a value.
    fn fail_value(&mut self, span: Span, code: Code, message: impl Into<String>) {
        self.at(span);
        self.fail_quietly(&Diagnostic::new(code, message));
        self.emitter.undefined();
    }

    /// The function of this kind and name; where there is none, a failing instruction.
    fn known(&mut self, kind: ImportKind, name: Name<'a>) -> Option<&'l Builtin> {
        let known = self.unit.registry.get(kind, name.text);
        if known.is_none() {
            let error = self.unit.registry.unknown(kind, name.text);
            self.fail(name.span, error);
        }
        known.map(|known| &**known)
    }
}
