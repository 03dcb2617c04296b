//! Analysis of programs: the inputs that a program reads and the functions that it calls, found without running it.
//!
//! ```
//! use dropforge::bytecode::analysis::Reads;
//! use dropforge::{Dialect, Engine};
//! let source = "{% for port in service.ports %}{{ port.number }}{% endfor %}";
//! let template = Engine::new().compile(Dialect::Tera, "ports", source)?;
//! let reads = Reads::of(template.program());
//! let paths: Vec<_> = reads.paths.keys().map(ToString::to_string).collect();
//! assert_eq!(paths, ["service.ports", "service.ports[].number"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod control;
mod effects;
mod lookup;
mod slots;
mod walk;

pub use control::ControlDependence;
pub use lookup::{Lack, missing};
pub use walk::{Effect, Miss};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::bytecode::program::Program;
use crate::bytecode::rows::ImportKind;
use dropforge_base::text::Position;
use dropforge_value::ReadPaths;
use slots::Origin;
use walk::{FactWalk, STEPS};

impl Program {
    /// Adds the paths that the program reads to `paths`.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::value::ReadPaths;
    /// let source = "{% for port in ports %}{{ port.number }}{% endfor %}";
    /// let template = Engine::new().compile(Dialect::Tera, "t", source)?;
    /// let mut paths = ReadPaths::default();
    /// template.program().add_reads(&mut paths);
    /// assert!(paths.reads([Some("ports"), None, Some("number")]));
    /// assert!(!paths.reads([Some("ports"), None, Some("nmuber")]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_reads(&self, paths: &mut ReadPaths) {
        let is_whole = FactWalk::new(self, paths, None, STEPS).run();
        paths.everything |= !is_whole;
    }
}

/// A path from an input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputPath<'p> {
    /// The input, and the steps from it.
    pub names: Vec<String>,
    /// The inputs that are read instead if the path has no value.
    pub or: Vec<&'p str>,
}

impl fmt::Display for InputPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&display_path(&self.names))
    }
}

/// Formats the names of a path: `containers[].ports`.
pub fn display_path(names: &[String]) -> String {
    names.join(".").replace(&format!(".{}", ReadPaths::ITEM), ReadPaths::ITEM)
}

/// The inputs that a program reads and the functions that it calls, each with its first position in the sources.
#[derive(Debug, Default)]
pub struct Reads<'p> {
    /// The paths from inputs, without those of variables that may hold one of several.
    pub paths: BTreeMap<InputPath<'p>, Option<Position>>,
    /// The functions, by kind and name.
    pub calls: BTreeMap<(ImportKind, &'p str), Option<Position>>,
    /// `true` if the program may read all inputs.
    pub everything: bool,
}

impl<'p> Reads<'p> {
    /// Walks over `program`.
    pub fn of(program: &'p Program) -> Self {
        let (mut tree, mut reads) = (ReadPaths::default(), Self { calls: calls(program), ..Self::default() });
        let mut walk = FactWalk::new(program, &mut tree, None, STEPS);
        walk.reads = Some(BTreeSet::new());
        let is_whole = walk.run();
        let looked_up = walk.reads.take().unwrap_or_default();
        reads.everything = tree.everything || !is_whole;
        for (Origin { node, or }, at) in looked_up {
            let path = InputPath { names: tree.path(node), or };
            keep_first(reads.paths.entry(path).or_default(), position(program, at));
        }
        reads
    }
}

/// A path that a program reads, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedRead {
    /// The path.
    pub path: String,
    /// The place in the sources: `app.tera:3:10`.
    pub place: String,
    /// `true` if the program handles that the path has no value.
    pub is_optional: bool,
}

/// Returns the paths that a program reads, with their places. Programs without sources have none.
pub fn places_of_reads(program: &Program) -> Vec<PlacedRead> {
    let mut tree = ReadPaths::default();
    let mut walk = FactWalk::new(program, &mut tree, None, STEPS);
    walk.reads = Some(BTreeSet::new());
    walk.run();
    let found = walk.reads.take().unwrap_or_default().into_iter();
    let shown = |(origin, at): (Origin<'_>, u32)| {
        let place = program.place(at)?;
        let source = program.source(place)?;
        let place = format!("{}:{}", source.path(), source.position(place.span.start));
        let provenance = program.code().instruction(at).map(|instruction| instruction.op.info().provenance);
        let is_optional = provenance == Some(super::Provenance::OptionalPath);
        Some(PlacedRead { path: display_path(&tree.path(origin.node)), place, is_optional })
    };
    found.filter_map(shown).collect()
}

/// Returns the top-level inputs that a program reads, sorted: without the names that only variables of the program have.
///
/// ```
/// use dropforge::bytecode::analysis::inputs;
/// use dropforge::{Dialect, Engine};
/// let source = "{% for port in ports %}{{ port.name }}{{ host }}{% endfor %}";
/// let template = Engine::new().compile(Dialect::Tera, "t", source)?;
/// assert_eq!(inputs(template.program()), ["host", "ports"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn inputs(program: &Program) -> Vec<&str> {
    let mut tree = ReadPaths::default();
    let mut walk = FactWalk::new(program, &mut tree, None, STEPS);
    let is_whole = walk.run();
    let begun = std::mem::take(&mut walk.begun);
    // A dump of all names, or a program that is too large to walk over, may read any.
    if is_whole && !tree.everything { begun.into_iter().collect() } else { program.inputs() }
}

/// Returns all functions that the code calls, with those in code that is never reached.
fn calls(program: &Program) -> BTreeMap<(ImportKind, &str), Option<Position>> {
    let (code, mut calls) = (program.code(), BTreeMap::new());
    let imports: Vec<_> = program.imports().map(|import| (import.kind, import.name)).collect();
    for instruction in program.chunks().flat_map(|chunk| code.instructions(chunk)) {
        if let Some(import) = code.import(instruction).and_then(|import| imports.get(import as usize)) {
            keep_first(calls.entry(*import).or_default(), position(program, instruction.at));
        }
    }
    calls
}

fn position(program: &Program, at: u32) -> Option<Position> {
    let place = program.place(at)?;
    Some(program.source(place)?.position(place.span.start))
}

/// Keeps the first of two positions.
fn keep_first(kept: &mut Option<Position>, found: Option<Position>) {
    let key = |at: &Position| (at.line, at.column);
    *kept = kept.take().into_iter().chain(found).min_by_key(key);
}
