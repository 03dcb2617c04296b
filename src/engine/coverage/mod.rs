//! Coverage of templates by renders: the lines that ran, and the outcomes of conditions and loops.
//!
//! | module | content |
//! |---|---|
//! | `table` | the lines and branches of a program |
//! | `watch` | the hooks that observe a run |

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::Template;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{Control, Instruction, Jumps, Op, Operand, Program};
use dropforge_machine::vm::{Moment, Observer};

/// Collects what renders cover of the templates that were [added](Coverage::add).
///
/// ```
/// use dropforge::engine::coverage::Coverage;
/// use dropforge::{Dialect, Engine};
/// use dropforge::{Arena, Inputs, Value};
/// use dropforge::Session;
/// let template = Engine::new().compile(Dialect::Tera, "a.tera", "a\n{% if x %}\nb\n{% endif %}\n")?;
/// let (coverage, arena) = (Coverage::new(), Arena::new());
/// let inputs = Inputs::new(arena.map(&[("x", Value::Bool(false))]));
/// template.render_covered(&mut Session::new(), inputs, &mut String::new(), &coverage)?;
/// let file = &coverage.files()[0];
/// assert_eq!(file.missed_lines(), [3]);
/// assert_eq!(file.branches[0].missed(), ["true"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Coverage(Rc<RefCell<Covered>>);

/// The templates, and what ran.
#[derive(Debug, Default)]
struct Covered {
    files: Vec<FileCoverage>,
    places: HashMap<String, usize>,
    /// The steps of the programs that ran in the latest render, by the address of the program.
    programs: HashMap<usize, Rc<HashMap<u32, Step>>>,
}

/// The coverage of a source.
#[derive(Debug, Clone)]
pub struct FileCoverage {
    /// The source.
    pub source: Arc<Source>,
    /// The lines with code or text, from 1, and `true` for those that ran.
    pub lines: BTreeMap<u32, bool>,
    /// The conditions and loops, in source order.
    pub branches: Vec<BranchCoverage>,
}

/// The outcomes of a condition or loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchCoverage {
    /// The place of the condition, or of the value that is looped over.
    pub span: Span,
    /// The kind.
    pub kind: BranchKind,
    /// `true` for each outcome that occurred, as [`BranchKind::outcomes`] names them.
    pub seen: [bool; 2],
}

/// The kind of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BranchKind {
    /// A condition.
    Condition,
    /// A loop, which may have nothing to loop over.
    Loop,
    /// A value that may be missing.
    Presence,
}

impl BranchKind {
    /// Returns the names of the outcomes.
    pub fn outcomes(self) -> [&'static str; 2] {
        match self {
            Self::Condition => ["true", "false"],
            Self::Loop => ["filled", "empty"],
            Self::Presence => ["present", "missing"],
        }
    }
}

impl BranchCoverage {
    /// Returns the names of the outcomes that never occurred.
    pub fn missed(&self) -> Vec<&'static str> {
        self.kind.outcomes().into_iter().zip(self.seen).filter(|(_, seen)| !seen).map(|(name, _)| name).collect()
    }
}

impl FileCoverage {
    /// Returns the lines that never ran.
    pub fn missed_lines(&self) -> Vec<u32> {
        self.lines.iter().filter(|(_, ran)| !**ran).map(|(line, _)| *line).collect()
    }

    /// Returns the number of lines that ran, and of all.
    pub fn line_counts(&self) -> (usize, usize) {
        (self.lines.values().filter(|ran| **ran).count(), self.lines.len())
    }

    /// Returns the number of outcomes that occurred, and of all.
    pub fn outcome_counts(&self) -> (usize, usize) {
        (self.branches.iter().flat_map(|branch| branch.seen).filter(|seen| *seen).count(), 2 * self.branches.len())
    }

    /// Returns the branch at a place.
    fn branch(&mut self, span: Span, kind: BranchKind) -> &mut BranchCoverage {
        let key = |branch: &BranchCoverage| (branch.span, branch.kind);
        let at = self.branches.partition_point(|branch| key(branch) < (span, kind));
        if self.branches.get(at).map(key) != Some((span, kind)) {
            self.branches.insert(at, BranchCoverage { span, kind, seen: [false; 2] });
        }
        &mut self.branches[at]
    }
}

impl Coverage {
    /// Returns a coverage of no templates.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the sources of a template, and of those that it includes and calls. What did not run yet counts as missed.
    pub fn add(&self, template: &Template) {
        self.0.borrow_mut().add(template.program());
        template.callees().for_each(|called| self.add(called));
    }

    /// Returns the coverage of each source, sorted by name.
    pub fn files(&self) -> Vec<FileCoverage> {
        let mut files = self.0.borrow().files.clone();
        files.small_sort_by(|a, b| a.source.name().cmp(b.source.name()));
        files
    }

    /// Returns hooks for a render.
    pub(super) fn watch(&self) -> Watch {
        Watch::of(self.clone())
    }

    /// Forgets the addresses of programs: those made by the last render are gone.
    fn begin(&self) {
        self.0.borrow_mut().programs.clear();
    }
}

impl Covered {
    /// Adds the lines and branches of a program.
    fn add(&mut self, program: &Program) {
        for source in program.sources().iter().filter(|source| !source.is_made() && !source.text().is_empty()) {
            let next = self.files.len();
            if *self.places.entry(source.path().to_owned()).or_insert(next) == next {
                self.files.push(FileCoverage { source: source.clone(), lines: BTreeMap::new(), branches: Vec::new() });
            }
        }
        for step in steps(program, &|source| self.place(source)).values() {
            let Some(file) = self.files.get_mut(step.file) else { continue };
            step.lines.iter().for_each(|line| {
                file.lines.entry(*line).or_default();
            });
            if let Some(jump) = &step.jump {
                file.branch(jump.span, jump.kind);
            }
        }
    }

    /// Returns the number of the file with a source.
    fn place(&self, source: &Source) -> Option<usize> {
        let at = self.places.get(source.path()).copied()?;
        self.files.get(at).filter(|file| file.source.text() == source.text()).map(|_| at)
    }

    /// Returns the steps of a program that runs.
    fn steps(&mut self, program: &Program) -> Rc<HashMap<u32, Step>> {
        let address = std::ptr::from_ref(program).addr();
        if let Some(known) = self.programs.get(&address) {
            return known.clone();
        }
        let found = Rc::new(steps(program, &|source| self.place(source)));
        self.programs.insert(address, found.clone());
        found
    }
}

/// Observes a run.
pub(crate) struct Watch {
    coverage: Coverage,
    /// The program of the last step, by its address.
    program: usize,
    steps: Rc<HashMap<u32, Step>>,
    /// The last step, if it was a branch: its program, its file and the branch.
    pending: Option<(usize, usize, Jump)>,
}

impl Watch {
    pub(crate) fn of(coverage: Coverage) -> Self {
        Self { coverage, program: 0, steps: Rc::default(), pending: None }
    }
}

impl Observer for Watch {
    fn step(&mut self, at: usize, _: Op, moment: &Moment<'_>) {
        let program: &Program = &moment.code;
        let (address, at) = (std::ptr::from_ref(program).addr(), u32::try_from(at).unwrap_or(u32::MAX));
        let mut found = self.coverage.0.borrow_mut();
        if address != self.program {
            self.steps = found.steps(program);
            self.program = address;
        }
        if let Some((of, file, jump)) = self.pending.take()
            && of == address
            && let Some(outcome) = jump.outcome(at)
            && let Some(file) = found.files.get_mut(file)
        {
            file.branch(jump.span, jump.kind).seen[outcome] = true;
        }
        let Some(step) = self.steps.get(&at) else { return };
        if let Some(file) = found.files.get_mut(step.file) {
            step.lines.iter().for_each(|line| {
                file.lines.insert(*line, true);
            });
        }
        self.pending = step.jump.map(|jump| (address, step.file, jump));
    }

    fn failed(&mut self, _: &Diagnostic) {
        self.pending = None;
    }
}

thread_local! {
    /// The coverage of the render that this thread does.
    static CURRENT: RefCell<Option<Coverage>> = const { RefCell::new(None) };
}

/// Returns the coverage of the render that this thread does, for renders within it.
pub(crate) fn current() -> Option<Coverage> {
    CURRENT.with_borrow(Clone::clone)
}

/// Makes a coverage the current one while `render` runs.
pub(crate) fn during<R>(coverage: &Coverage, render: impl FnOnce(&mut dyn Observer) -> R) -> R {
    coverage.begin();
    let before = CURRENT.replace(Some(coverage.clone()));
    let mut watch = coverage.watch();
    let result = render(&mut watch);
    CURRENT.set(before);
    result
}

/// An instruction with its place.
#[derive(Debug, Clone)]
struct Step {
    /// The number of the file.
    pub file: usize,
    /// The lines that it stands for.
    pub lines: Vec<u32>,
    pub jump: Option<Jump>,
}

/// A branch.
#[derive(Debug, Clone, Copy)]
struct Jump {
    pub span: Span,
    pub kind: BranchKind,
    /// The word that it may jump to, and the outcome if it does.
    pub target: u32,
    pub taken: usize,
    /// The word after it.
    pub next: u32,
}

impl Jump {
    /// Returns the outcome that leads to the word `at`.
    fn outcome(&self, at: u32) -> Option<usize> {
        match at {
            _ if self.target == self.next => None,
            at if at == self.target => Some(self.taken),
            at if at == self.next => Some(1 - self.taken),
            _ => None,
        }
    }
}

/// Returns the instructions of a program that have a place in a file, by their words. `file_of` numbers the files.
fn steps(program: &Program, file_of: &dyn Fn(&Source) -> Option<usize>) -> HashMap<u32, Step> {
    let code = program.code();
    let all = program.chunks().flat_map(|chunk| code.instructions(chunk));
    all.filter_map(|one| Some((one.at, step(program, one, file_of)?))).collect()
}

fn step(program: &Program, one: Instruction<'_>, file_of: &dyn Fn(&Source) -> Option<usize>) -> Option<Step> {
    let moves =
        matches!(one.op.info().control, Control::Jump | Control::Return | Control::NextItem | Control::CloseLoop);
    let place = program.whole_place(one.at).filter(|_| !moves)?;
    let source = program.source(place)?;
    let file = file_of(source)?;
    let lines = match program.text_written(one.at) {
        Some((text, true)) => lines_of(source, text, place.span, true),
        // The value has a line of its own.
        Some((text, false)) => {
            let mut lines = lines_of(source, text, place.span, false);
            lines.push(source.position(place.span.start).line);
            lines
        }
        None => vec![source.position(place.span.start).line],
    };
    Some(Step { file, lines, jump: jump(one, place.span) })
}

fn jump(one: Instruction<'_>, span: Span) -> Option<Jump> {
    let (kind, taken) = match (one.truth_if_taken(), one.op.info().jumps) {
        (Some(truth), _) => (BranchKind::Condition, usize::from(!truth)),
        (None, Jumps::Literal) => (BranchKind::Presence, 1),
        (None, Jumps::Present) => (BranchKind::Presence, 0),
        (None, Jumps::Empty) => (BranchKind::Loop, 1),
        (None, Jumps::Never | Jumps::Always | Jumps::True | Jumps::False | Jumps::Test | Jumps::More) => return None,
    };
    Some(Jump { span, kind, target: one.operand(Operand::Label)?, taken, next: one.end() })
}

/// Returns the lines of a text that are not blank. It begins at `place`, or stands before it.
fn lines_of(source: &Source, text: &str, place: Span, is_behind: bool) -> Vec<u32> {
    let (whole, start) = (source.text(), place.start as usize);
    let find = |text: &str| match is_behind {
        true => whole.get(start..)?.find(text).map(|found| start + found),
        false => whole.get(..start)?.rfind(text),
    };
    let is_blank = text.trim().is_empty();
    let found = find(text).or_else(|| find(text.trim()).filter(|_| !is_blank));
    let Some(found) = found.filter(|_| !is_blank) else { return Vec::new() };
    let first = source.position(u32::try_from(found).unwrap_or(u32::MAX)).line;
    let written = if whole.get(found..).is_some_and(|rest| rest.starts_with(text)) { text } else { text.trim() };
    let numbered = (first..).zip(written.split('\n'));
    numbered.filter(|(_, line)| !line.trim().is_empty()).map(|(number, _)| number).collect()
}
