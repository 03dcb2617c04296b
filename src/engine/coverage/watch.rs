//! The hooks that observe a run, and the way to the renders within it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Coverage;
use super::table::{Jump, Step};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_machine::bytecode::{Op, Program};
use dropforge_machine::vm::{Moment, Observer};

/// Observes a run.
pub struct Watch {
    coverage: Coverage,
    /// The program of the last step, by its address.
    program: usize,
    steps: Rc<HashMap<u32, Step>>,
    /// The last step, if it was a branch: its program, its file and the branch.
    pending: Option<(usize, usize, Jump)>,
}

impl Watch {
    pub fn of(coverage: Coverage) -> Self {
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
pub fn current() -> Option<Coverage> {
    CURRENT.with_borrow(Clone::clone)
}

/// Makes a coverage the current one while `render` runs.
pub fn during<R>(coverage: &Coverage, render: impl FnOnce(&mut dyn Observer) -> R) -> R {
    coverage.begin();
    let before = CURRENT.replace(Some(coverage.clone()));
    let mut watch = coverage.watch();
    let result = render(&mut watch);
    CURRENT.set(before);
    result
}
