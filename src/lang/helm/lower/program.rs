//! The state of lowering: chunks, variables, failures.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::outputs::ValuesOfFiles;
use super::paths::{PathKey, whole_dot};
use crate::compile::{Defined, Set};
use crate::error::quoted;
use crate::hints;
use crate::{DATA, Rules};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, Result, nearest};
use dropforge_base::limits::Limit;
use dropforge_base::stdlib::name_stack::NameStack;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{Failure, ImportKind, Op, Scope};
use dropforge_machine::compiler::{Emitter, Fold, KnownFailure, KnownFunction, KnownPath, LoopMark, MissingKey, Unit};
use dropforge_machine::function::{Builtin, Params, Registry};

/// Maximum nesting of bodies and expressions during lowering.
const DEPTH: usize = 250;

/// The typical number of paths of a template, and the most templates that room is made for.
const PATHS: usize = 8;
const TEMPLATES: usize = 256;

/// Maximum number of unknown templates for which the likely name is searched.
const SUGGESTED: usize = 64;

/// Maximum number of names that are compared with an unknown one.
const COMPARED: usize = 2_000;

/// Constants are not folded.
impl Fold for Rules {}

/// What a program reaches besides its entry.
pub struct Reached {
    /// Findings in code that may never run.
    pub lints: Vec<Box<Diagnostic>>,
    /// The names of the other files, sorted.
    pub files: Vec<String>,
}

/// Lowers the entry of a set, the file with index `entry`, to the chunks of `emitter`.
///
/// # Errors
/// Limits of nesting and of code size.
pub fn lower<'a>(unit: &Unit<'_>, (set, entry): (&Set<'a>, usize), emitter: &mut Emitter<'a>) -> Result<Reached> {
    let mut lower = Lower { file: entry, ..Lower::new(unit, set, emitter) };
    lower.program()?;
    lower.rest()?;
    Ok(lower.reached(Some(entry)))
}

/// Lowers the entry of a set as a template that is made at render time: its dot is the parameter of a chunk, whose index
/// is returned. It may call the templates for which `sees` holds by their names.
///
/// # Errors
/// Limits of nesting and of code size.
pub(crate) fn lower_made<'a>(
    unit: &Unit<'_>,
    set: &Set<'a>,
    emitter: &mut Emitter<'a>,
    sees: &dyn Fn(&str) -> bool,
) -> Result<u32> {
    let mut lower = Lower { sees: Some(sees), ..Lower::new(unit, set, emitter) };
    // Other templates may change maps.
    lower.set_mutable(true);
    let main = lower.emitter.declare_chunk("main", 0);
    lower.file = set.files.len().saturating_sub(1);
    lower.at(Span::default());
    lower.emitter.begin_chunk(main);
    lower.emitter.end_chunk();
    let chunk = lower.chunk_of(unit.entry.name()).unwrap_or(main);
    lower.queued()?;
    // Templates that this one makes see the names that it defines. Its own name is always hidden by theirs.
    lower.name_all(Some(unit.entry.name()))?;
    if lower.calls_by_name {
        lower.name_all(None)?;
    }
    Ok(chunk)
}

/// Returns `true` if one of these templates may change maps.
pub(crate) fn mutate(templates: &HashMap<&str, Defined<'_>>, registry: &Registry) -> bool {
    let changes = |name: &str| {
        let function = registry.get(ImportKind::Function, name);
        // A template made at render time may change maps.
        name == "tpl" || function.is_some_and(|function| function.mutates)
    };
    templates.values().any(|one| super::paths::uses(one.template.body, &changes))
}

/// The value that `.` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Dot<'a> {
    /// The top-level inputs; as a map in this slot, if anything needs it.
    Inputs(Option<u32>),
    /// A top-level input.
    Input(&'a str),
    /// A slot.
    Slot(u32),
}

/// The state of lowering one unit.
pub(super) struct Lower<'l, 'a> {
    pub unit: &'l Unit<'l>,
    pub set: &'l Set<'a>,
    pub emitter: &'l mut Emitter<'a>,
    pub lints: Vec<Box<Diagnostic>>,
    /// The chunks of templates, by name.
    pub chunks: HashMap<&'a str, u32>,
    queue: Vec<(u32, Defined<'a>)>,
    /// `true` if the program may change maps, so that paths are read from one map of the inputs.
    pub mutates: bool,
    /// `true` if templates are called by computed names.
    pub calls_by_name: bool,
    /// `true` if templates are made at render time. They may call others by their names.
    pub makes_templates: bool,
    /// A test for templates of the programs around this one.
    pub sees: Option<&'l dyn Fn(&str) -> bool>,
    pub missing: MissingKey,
    /// The values for which the program is compiled, if branches that they do not take may be left out.
    pub values: Option<&'l ValuesOfFiles<'l>>,

    /// The file being lowered. Spans belong to it.
    pub file: usize,
    /// The offset to which the places of the pipeline being lowered are relative; 0 outside of pipelines.
    pub base: u32,
    /// `true` in the text of the file itself, outside the templates that it defines.
    pub in_file: bool,
    /// The value of `.`.
    pub dot: Dot<'a>,
    /// The value of `$`.
    pub root: Dot<'a>,
    /// The variables in scope and their slots, innermost last.
    pub variables: NameStack<'a, u32>,
    /// The slots of the chunk that have items of loops.
    pub items: HashSet<u32>,
    /// The open loops.
    pub loops: Vec<LoopMark>,
    /// The functions called so far.
    functions: HashMap<*const Builtin, KnownFunction>,
    /// The failure of branches that are left out.
    pub left_out: Option<KnownFailure>,
    /// The paths so far.
    pub paths: HashMap<PathKey<'a>, KnownPath>,
    /// A buffer for the names of paths.
    pub name: String,
    depth: usize,
}

impl<'l, 'a> Lower<'l, 'a> {
    pub fn new(unit: &'l Unit<'l>, set: &'l Set<'a>, emitter: &'l mut Emitter<'a>) -> Self {
        Self {
            unit,
            set,
            emitter,
            lints: Vec::new(),
            chunks: HashMap::new(),
            queue: Vec::new(),
            mutates: false,
            calls_by_name: false,
            makes_templates: false,
            sees: None,
            missing: unit.missing_key,
            values: None,
            file: 0,
            base: 0,
            in_file: false,
            dot: Dot::Inputs(None),
            root: Dot::Inputs(None),
            variables: NameStack::default(),
            items: HashSet::new(),
            loops: Vec::new(),
            functions: HashMap::new(),
            left_out: None,
            paths: HashMap::with_capacity(set.templates.len().min(TEMPLATES) * PATHS),
            name: String::new(),
            depth: 0,
        }
    }

    /// Returns the findings, and the names of the files reached, except that of `entry`.
    pub fn reached(self, entry: Option<usize>) -> Reached {
        let set = self.set;
        let mut files: Vec<usize> = self.chunks.keys().filter_map(|name| set.get(name)).map(|one| one.file).collect();
        files.sort_unstable();
        files.dedup();
        let others = files.into_iter().filter(|file| Some(*file) != entry);
        let mut files: Vec<String> = others.map(|file| set.files[file].name().to_owned()).collect();
        files.sort_unstable();
        Reached { lints: self.lints, files }
    }

    /// Finds out whether the program may change maps.
    pub(crate) fn decide_mutable(&mut self) {
        self.set_mutable(self.set.mutates);
    }

    fn program(&mut self) -> Result<()> {
        self.decide_mutable();
        let main = self.emitter.declare_chunk("main", 0);
        // The entry's source is the first of the program's sources.
        self.at(Span::default());
        self.emitter.begin_chunk(main);
        let body = self.set.get(self.unit.entry.name()).map_or(&[][..], |entry| {
            self.file = entry.file;
            entry.template.body
        });
        self.dot = if self.unit.any_data {
            Dot::Input(DATA)
        } else if self.mutates {
            Dot::Slot(self.inputs_map())
        } else {
            Dot::Inputs(whole_dot(body).then(|| self.inputs_map()))
        };
        self.root = self.dot;
        self.body(body)?;
        self.emitter.end_chunk();
        Ok(())
    }

    fn set_mutable(&mut self, mutates: bool) {
        self.mutates = mutates;
        self.emitter.set_mutable(mutates);
    }

    /// Lowers the templates that are called, and with calls by computed names or made templates all of them.
    pub fn rest(&mut self) -> Result<()> {
        self.queued()?;
        match self.values {
            _ if !self.calls_by_name && !self.makes_templates => Ok(()),
            Some(_) => self.name_reached(),
            None => self.name_all(None),
        }
    }

    fn queued(&mut self) -> Result<()> {
        while let Some((chunk, defined)) = self.queue.pop() {
            self.template(chunk, defined)?;
        }
        Ok(())
    }

    /// Lowers all templates and names their chunks, except that of the template `but`.
    fn name_all(&mut self, but: Option<&str>) -> Result<()> {
        let names = self.set.templates.keys().copied().filter(|name| Some(*name) != but);
        let mut names: Vec<&'a str> = names.collect();
        names.sort_unstable();
        for name in names {
            let chunk = self.chunk_of(name);
            if let Some(chunk) = chunk.filter(|_| !self.set.recursive.contains(name)) {
                self.emitter.name_chunk(name, chunk);
            }
        }
        self.queued()
    }

    /// Names the chunks of the templates that the program reaches by itself.
    fn name_reached(&mut self) -> Result<()> {
        let mut chunks: Vec<(&'a str, u32)> = self.chunks.iter().map(|(name, chunk)| (*name, *chunk)).collect();
        chunks.small_sort_by(Ord::cmp);
        for (name, chunk) in chunks {
            if !self.set.recursive.contains(name) {
                self.emitter.name_chunk(name, chunk);
            }
        }
        Ok(())
    }

    /// Puts a map of all inputs into a slot.
    fn inputs_map(&mut self) -> u32 {
        let slot = self.emitter.new_slot();
        let scope = self.emitter.scope(Scope::INPUTS, &[]);
        self.emitter.op(Op::Scope, &[scope]);
        self.emitter.op(Op::StoreSlot, &[slot]);
        slot
    }

    fn template(&mut self, chunk: u32, defined: Defined<'a>) -> Result<()> {
        self.file = defined.file;
        self.in_file = self.source().name() == defined.template.name;
        self.variables.truncate(0);
        self.loops.clear();
        self.items.clear();
        self.emitter.begin_chunk(chunk);
        (self.dot, self.root, self.base) = (Dot::Slot(0), Dot::Slot(0), 0);
        self.at(defined.template.span);
        self.body(defined.template.body)?;
        self.emitter.end_chunk();
        Ok(())
    }

    /// Returns the chunk of the template `name`. `None` if there is no such template.
    pub(crate) fn chunk_of(&mut self, name: &str) -> Option<u32> {
        let defined = self.set.get(name)?;
        let name = defined.template.name;
        if let Some(chunk) = self.chunks.get(name) {
            return Some(*chunk);
        }
        let chunk = self.emitter.declare_chunk(name, 1);
        self.chunks.insert(name, chunk);
        if self.set.recursive.contains(name) {
            self.emitter.name_chunk(name, chunk);
        }
        self.queue.push((chunk, defined));
        Some(chunk)
    }

    pub fn source(&self) -> &'l Arc<Source> {
        &self.set.files[self.file]
    }

    /// Sets the source position of the following instructions.
    pub fn at(&mut self, span: Span) {
        let (source, span) = (self.source(), span.moved(self.base));
        self.emitter.at(source, span);
    }

    /// Returns the text at a place.
    pub(crate) fn text_at(&self, span: Span) -> &'l str {
        self.source().slice(span.moved(self.base))
    }

    /// Runs `lower` one level deeper.
    ///
    /// # Errors
    /// The nesting is too deep, which fails the whole compilation.
    pub fn deeper<T>(&mut self, span: Span, lower: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEPTH {
            return Err(Limit::Nesting.error(DEPTH as u64).at(self.source(), span.moved(self.base), ""));
        }
        self.emitter.check_size()?;
        self.depth += 1;
        let result = lower(self);
        self.depth -= 1;
        result
    }

    /// Emits an instruction that fails with the message of Go.
    pub fn fail(&mut self, span: Span, code: Code, message: impl Into<String>) {
        self.at(span);
        let message = message.into();
        let help = hints::of(&message);
        self.emitter.fail(&Failure { code, message, available: None, help });
    }

    /// Emits an instruction that fails because there is no template `name`, with the name that is meant.
    pub(crate) fn fail_template(&mut self, span: Span, name: &str, message: String) {
        self.at(span);
        // Names are compared with all others, so only the first ones are.
        let names = (self.lints.len() < SUGGESTED).then(|| self.set.templates.keys().copied().take(COMPARED));
        let near = names.and_then(|names| nearest(name, names));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        let mut lint = Diagnostic::warning(Code::UnknownTemplate, format!("no template is named {}", quoted(name)))
            .with_field(LOOKED_UP, name)
            .at(self.source(), span.moved(self.base), "");
        lint.help.clone_from(&help);
        let help = help.or_else(|| hints::of(&message));
        if let Some(near) = near {
            lint = lint.with_replacement(name, near);
        }
        self.lints.push(lint);
        self.emitter.fail(&Failure { code: Code::UnknownTemplate, message, available: None, help });
    }

    /// Emits an instruction that fails instead of pushing a value.
    pub fn fail_value(&mut self, span: Span, code: Code, message: impl Into<String>) {
        self.fail(span, code, message);
        self.emitter.undefined();
    }

    /// Calls a function with the top `count` values.
    pub fn call(&mut self, function: &Builtin, count: usize) {
        let places: smallvec::SmallVec<[u32; 8]> = smallvec::SmallVec::from_elem(Params::BY_PLACE, count);
        if self.mutates {
            // Results are maps that may be changed, and arguments may have changed since the last call.
            if let Some(known) = self.functions.get(&std::ptr::from_ref(function)) {
                return self.emitter.call_again(*known, &places, false);
            }
            let known = self.emitter.call(function.kind, &function.name, function.signature(), &places, false);
            self.functions.extend(known.map(|known| (std::ptr::from_ref(function), known)));
        } else {
            self.emitter.call_builtin(function, &places);
        }
    }

    /// Calls an operation of the language itself.
    pub fn intrinsic(&mut self, name: &str, count: usize) {
        match self.unit.registry.get(ImportKind::Intrinsic, name) {
            Some(function) => self.call(function, count),
            None => {
                (0..count).for_each(|_| self.emitter.op(Op::Pop, &[]));
                self.emitter.undefined();
            }
        }
    }
}
