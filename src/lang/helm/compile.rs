//! The entry points. Each parses a set of files that share one name space and lowers the entry, every file to render,
//! or a text of `tpl`, with the templates that it reaches.

use std::sync::Arc;

use bumpalo::Bump;
use hashbrown::{HashMap, HashSet};

use super::chart::Plan;
use super::error::{GO_MESSAGE, quoted};
use super::hints;
use super::lower::{self, Reached, lower_made};
use super::semantics::Rules;
use super::syntax::tree::Template;
use super::syntax::{Delimiters, KnownActions, parse_next};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, Result, at_most, without_duplicates};
use dropforge_base::text::Source;
use dropforge_machine::bytecode::{Dialect, ImportKind};
use dropforge_machine::compiler::{self, Compilation, Compiled, Emitter, MissingKey, NoLoader, Unit};
use dropforge_machine::function::{Made, Making, Request};

/// Compiles units of the language `helm`: each is an entry, together with the files that share its name space, which are the
/// same for all. These are parsed once for all entries among them whose templates no other file defines, too.
pub fn compile_all(units: &[Unit<'_>]) -> Vec<Compilation> {
    let (arena, shared) = (Bump::new(), units.first().filter(|_| units.len() > 1));
    let set = shared.and_then(|unit| Set::parse(&arena, unit.together, unit).ok());
    let places: HashMap<&str, usize> = set.iter().flat_map(|set| set.files).map(|file| file.name()).zip(0..).collect();
    compiler::compile_all(units, |unit| {
        let place = places.get(unit.entry.name()).copied();
        match place.zip(set.as_ref()).filter(|(place, set)| set.serves(*place, unit.entry)) {
            Some((place, set)) => compile_entry(unit, set, place),
            None => compile(unit),
        }
    })
}

/// Compiles a unit of the language `helm`: the entry, together with the files that share its name space.
///
/// # Errors
/// Every syntax error of every file, or a limit.
pub fn compile(unit: &Unit<'_>) -> Compilation {
    let (arena, files) = (Bump::new(), Set::files(unit));
    let set = Set::parse(&arena, &files, unit)?;
    compile_entry(unit, &set, files.len().saturating_sub(1))
}

/// Compiles the entry, which is the file with index `entry` of `set`.
fn compile_entry(unit: &Unit<'_>, set: &Set<'_>, entry: usize) -> Compilation {
    let mut emitter = Emitter::new(Dialect::Helm, &Rules, unit.limits.code_words).lenient(unit.lenient);
    let reaches = lower::lower(unit, (set, entry), &mut emitter).map_err(|error| vec![error])?;
    finished(unit, emitter, reaches)
}

/// Compiles the templates of a chart to one program, whose answer is the list of the ends of their texts in the order of rendering.
/// Its inputs are [`Plan::inputs`]. The unit's sources are the templates in that order, and its entry has the name of the
/// chart. A `partial` program leaves out branches that the plan's values do not seem to take; a run that reaches one fails
/// with `template.unknown`.
///
/// # Errors
/// Every syntax error of every file, or a limit.
pub fn compile_chart(unit: &Unit<'_>, plan: &Plan, partial: bool) -> Compilation {
    let arena = Bump::new();
    let set = Set::parse(&arena, unit.together, unit)?;
    let mut emitter = Emitter::new(Dialect::Helm, &Rules, unit.limits.code_words).lenient(unit.lenient);
    // Most of a chart is text, and many of its branches are left out.
    let bytes = unit.together.iter().map(|file| file.text().len()).sum::<usize>();
    emitter.reserve(bytes / 8);
    emitter.reserve_text(bytes);
    let reaches = lower::lower_all(unit, &set, &mut emitter, plan, partial).map_err(|error| vec![error])?;
    finished(unit, emitter, reaches)
}

fn finished(unit: &Unit<'_>, mut emitter: Emitter<'_>, reaches: Reached) -> Compilation {
    let lints = at_most(without_duplicates(reaches.lints), unit.limits.diagnostics, 0);
    let program = emitter.finish().map_err(|error| vec![error])?;
    Ok(Compiled { program, lints, reaches: reaches.files, tree: None })
}

/// A template and its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Defined<'a> {
    /// The tree.
    pub template: Template<'a>,
    /// Index of the file.
    pub file: usize,
}

/// The templates of a unit.
#[derive(Debug)]
pub(super) struct Set<'a> {
    /// The files in the order in which they were parsed.
    pub files: &'a [Arc<Source>],
    /// The templates by name.
    pub templates: HashMap<&'a str, Defined<'a>>,
    /// The templates that may call themselves. They are called by name, which may nest deeper.
    pub recursive: HashSet<&'a str>,
    /// `true` if a template may change maps.
    pub mutates: bool,
    /// The files with a template that another file defines, too.
    shadowed: HashSet<usize>,
}

impl<'a> Set<'a> {
    /// Returns the files of a unit, with the entry as the last.
    pub fn files(unit: &Unit<'_>) -> Vec<Arc<Source>> {
        let others = unit.together.iter().filter(|file| file.name() != unit.entry.name());
        others.chain([unit.entry]).cloned().collect()
    }

    /// Parses files in their order. The last definition of a name wins, but a blank one replaces no other.
    pub fn parse(
        arena: &'a Bump,
        files: &'a [Arc<Source>],
        unit: &Unit<'_>,
    ) -> std::result::Result<Self, Vec<Box<Diagnostic>>> {
        let (mut templates, mut shadowed) = (HashMap::new(), HashSet::new());
        let bytes = files.iter().map(|file| file.text().len()).sum();
        let (mut errors, mut actions) = (Vec::new(), KnownActions::for_bytes(bytes));
        let known = |name: &str| unit.registry.get(ImportKind::Function, name).is_some();
        let delimiters = unit.delimiters.map_or_else(Delimiters::default, |[left, right]| Delimiters::new(left, right));
        for (file, source) in files.iter().enumerate() {
            match parse_next(arena, source, delimiters, &known, unit.limits, &mut actions) {
                Ok(found) => {
                    for template in found {
                        add(&mut templates, Defined { template, file }, &mut shadowed);
                    }
                }
                Err(found) => errors.extend(found.into_iter().map(|error| likely(error, unit))),
            }
        }
        if !errors.is_empty() {
            return Err(at_most(errors, unit.limits.diagnostics, 0));
        }
        let mutates = lower::mutate(&templates, unit.registry);
        Ok(Self { files, recursive: lower::recursive(&templates), mutates, templates, shadowed })
    }

    /// Returns `true` if the set is that of the file `entry` at this place as an entry: it would be the last file.
    fn serves(&self, place: usize, entry: &Source) -> bool {
        let is_it = self.files.get(place).is_some_and(|file| file.text() == entry.text());
        is_it && !self.shadowed.contains(&place)
    }

    /// Returns the template `name`.
    pub fn get(&self, name: &str) -> Option<Defined<'a>> {
        self.templates.get(name).copied()
    }
}

/// Adds the name and the likely one to the error of an unknown function.
fn likely(error: Box<Diagnostic>, unit: &Unit<'_>) -> Box<Diagnostic> {
    if error.code != Code::UnknownFunction {
        return error;
    }
    let name = error.primary().map_or("", |at| at.source.slice(at.span)).to_owned();
    let is_habit = hints::is_habit(&name);
    let error = if is_habit { error } else { error.with_suggestion(&name, unit.registry.names(ImportKind::Function)) };
    error.with_field(LOOKED_UP, name)
}

/// Adds a template, and the file of the one that does not count if another file has one of this name.
fn add<'a>(templates: &mut HashMap<&'a str, Defined<'a>>, defined: Defined<'a>, shadowed: &mut HashSet<usize>) {
    let name = defined.template.name;
    let is_kept = defined.template.is_blank() && templates.contains_key(name);
    let other = if is_kept { Some(defined) } else { templates.insert(name, defined) };
    shadowed.extend(other.map(|other| other.file));
}

/// Compiles a text as a template. Its errors are those of the render that makes it.
///
/// # Errors
/// The first syntax error of the text, or a limit.
pub(super) fn make(request: &Request<'_>) -> Result<Making> {
    compiled(request, false)
}

/// Works like [`make`] for a template in which a missing key is an error.
pub(super) fn make_strict(request: &Request<'_>) -> Result<Making> {
    compiled(request, true)
}

fn compiled(request: &Request<'_>, strict: bool) -> Result<Making> {
    if !request.text.contains("{{") {
        return Ok(Making::AsItIs);
    }
    let entry = Source::made(request.text);
    let unit = Unit {
        entry: &entry,
        loader: &NoLoader,
        registry: request.registry,
        limits: request.limits,
        escape: false,
        strict: false,
        lenient: true,
        variant: "",
        together: &[],
        missing_key: if strict { MissingKey::Error } else { MissingKey::default() },
        delimiters: None,
        any_data: false,
        keeps_tree: false,
        memo: None,
    };
    let (arena, files) = (Bump::new(), Set::files(&unit));
    let set = Set::parse(&arena, &files, &unit).map_err(|mut errors| {
        if errors.is_empty() {
            Diagnostic::new(Code::Internal, "no error")
        } else {
            unparsed(request.text, errors.swap_remove(0))
        }
    })?;
    let mut emitter = Emitter::new(Dialect::Helm, &Rules, unit.limits.code_words).lenient(true);
    let chunk = lower_made(&unit, &set, &mut emitter, &|name| request.sees(name))?;
    let program = emitter.finish()?;
    let linked = request.registry.link(program.imports())?;
    Ok(Making::Made(Made { program, linked, chunk }))
}

/// Adds the message of Go to a syntax error of a text.
fn unparsed(text: &str, error: Box<Diagnostic>) -> Box<Diagnostic> {
    let message = error.fields.get(GO_MESSAGE).unwrap_or(&error.message);
    let line = error.labels.last().map_or(1, |label| label.position().line);
    let go = format!("cannot parse template {}: template: gotpl:{line}: {message}", quoted(text));
    error.with_field(GO_MESSAGE, go)
}
