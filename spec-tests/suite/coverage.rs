//! Everything is tested: the case files run every instruction, and every builtin has examples, all of them true.

use dropforge::bytecode::{Control, ISA, ImportKind, Op, OpInfo, Operand, Place, Places, Pops};
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::engine::{Dialect, Engine};
use dropforge::function::Capabilities;
use dropforge::limits::Limits;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::{Audit, Contents, Moment, Observer, Session, Transition};

use crate::{cases, cel_cost, cel_yaml, hcl};

/// Runs all case files, observed by `hooks`. An observer may read the whole state before each instruction, so endless calls
/// nest less deep than usual.
pub fn run_case_files(hooks: &mut dyn Observer) {
    let limits = Limits { named_calls: 200, ..Limits::default() };
    for (dialect, folder) in [
        (Dialect::Tera, "tera"),
        (Dialect::Tower, "tower"),
        (Dialect::Hcl, "hcl"),
        (Dialect::Cel, "cel"),
        (Dialect::Helm, "helm"),
    ] {
        for case in cases::read_folder(folder).iter().flat_map(|(_, cases)| cases) {
            if case.section("cost").is_some() {
                cel_cost::watch(case, hooks);
                continue;
            }
            let Ok(template) = cases::compile_within(limits.clone(), dialect, case) else { continue };
            let (arena, context) = (Arena::new(), cases::context(case));
            let shapes = Shapes::new(&arena);
            let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(&context).expect("inputs"));
            let _ = template.render_observed(&mut Session::new(), inputs, &mut String::new(), hooks);
        }
    }
    hcl::watch_values(hooks);
    cel_yaml::watch(hooks);
}

/// Records which instructions run, and forwards events.
struct Seen<O>(Vec<bool>, O);

impl<O: Observer> Observer for Seen<O> {
    fn step(&mut self, at: usize, op: Op, moment: &Moment<'_>) {
        self.0[op as usize] = true;
        self.1.step(at, op, moment);
    }

    fn contents(&mut self, contents: &dyn Fn() -> Contents) {
        self.1.contents(contents);
    }

    fn failed(&mut self, error: &Diagnostic) {
        self.1.failed(error);
    }
}

/// A table row, and the outcomes that have not been observed yet.
struct Claim(OpInfo, u8);

impl Claim {
    fn new(row: OpInfo) -> Self {
        Self(row, Transition::outcomes(row.control))
    }

    /// Returns `false` if an instruction with this row cannot make this transition.
    fn fits(&mut self, transition: &Transition<'_>) -> bool {
        let outcome = transition.outcome(&self.0);
        self.1 &= !outcome.unwrap_or(0);
        outcome.is_some()
    }
}

/// Returns wrong variants of `row`: other numbers of values, other control flow, more operands.
fn lies(row: &OpInfo) -> Vec<Claim> {
    let mut lies = Vec::new();
    if row.control == Control::Fail {
        return Vec::new(); // no instruction follows
    }
    if row.control != Control::Return {
        let pops = match (row.pops, row.operands) {
            (Pops::Fixed(pops), _) => vec![Pops::Fixed(pops + 1), Pops::Fixed(pops.wrapping_sub(1))],
            (Pops::Operand, [Operand::Path, ..]) => vec![Pops::Fixed(1)],
            (Pops::Operand, _) => vec![Pops::Fixed(0), Pops::Fixed(1)],
        };
        lies.extend(pops.into_iter().map(|pops| OpInfo { pops, ..*row }));
        lies.extend([1, u8::MAX].map(|more| OpInfo { pushes: row.pushes.wrapping_add(more), ..*row }));
        let operands = &[Operand::Count; 5][..row.operands.len().max(1) + 1];
        lies.push(OpInfo { operands, ..*row });
    }
    let controls = Control::ALL.into_iter().filter(|control| *control != row.control);
    lies.extend(controls.map(|control| OpInfo { control, ..*row }));
    lies.into_iter().map(Claim::new).collect()
}

#[test]
fn every_instruction_is_run_by_the_case_files_and_does_what_its_row_says() {
    let mut truths: Vec<_> = ISA.iter().map(|row| Claim::new(*row)).collect();
    let mut lies: Vec<_> = ISA.iter().map(lies).collect();
    let mut wrong = std::collections::BTreeSet::new();
    let audit = Audit::new(|transition: &Transition<'_>| {
        let op = transition.op();
        if !truths[op as usize].fits(transition) && wrong.len() < 10 {
            wrong.insert(format!("`{}`: {transition:?}", op.info().name));
        }
        lies[op as usize].retain_mut(|lie| lie.fits(transition));
    });
    let mut seen = Seen(vec![false; ISA.len()], audit);
    run_case_files(&mut seen);
    let Seen(seen, _) = seen;
    assert!(wrong.is_empty(), "instructions that do not do what their rows say: {wrong:#?}");
    let left: Vec<_> = ISA.iter().zip(&seen).filter(|(_, seen)| !**seen).map(|(row, _)| row.name).collect();
    assert!(left.is_empty(), "instructions that no case runs: {left:?}");
    let unseen: Vec<_> = truths.iter().filter(|claim| claim.1 != 0).map(|claim| claim.0.name).collect();
    assert!(unseen.is_empty(), "instructions that no case runs with every outcome: {unseen:?}");
    let believed = lies.iter().flatten().filter(|lie| lie.1 == 0);
    let believed: Vec<_> = believed.map(|Claim(row, _)| format!("{row:?}")).collect();
    assert!(believed.is_empty(), "wrong rows that no case gives away: {believed:#?}");
}

#[test]
fn every_instruction_writes_and_fails_as_its_row_says() {
    let mut written = vec![Places::NONE; ISA.len()];
    let mut audit = Audit::new(|transition: &Transition<'_>| {
        let all = &mut written[transition.op() as usize];
        *all = transition.changes().unwrap_or_default().iter().fold(*all, Places::with);
    });
    run_case_files(&mut audit);
    let raised = audit.raised().to_vec();
    let mut wrong = Vec::new();
    for ((row, written), raised) in ISA.iter().zip(written).zip(raised) {
        // A row holds for every language: only some of them record errors.
        if !row.writes.includes(written) || !written.with(Place::Notes).includes(row.writes) {
            wrong.push(format!("`{}` writes {written}, its row says {}", row.name, row.writes));
        }
        if raised > row.fails {
            wrong.push(format!("`{}` raises {raised:?}, its row says {:?}", row.name, row.fails));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_instruction_is_in_a_golden_listing() {
    let mut seen = std::collections::BTreeSet::new();
    for folder in ["tera", "tower", "hcl", "hcl/values", "cel", "cel-yaml", "helm"] {
        for case in cases::read_folder(folder).iter().flat_map(|(_, cases)| cases) {
            let Some(listing) = case.section("listing") else { continue };
            // Lines that begin with a word number. The instruction's name is second.
            let numbered = listing.text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            seen.extend(numbered.filter(|words| words[0].parse::<u32>().is_ok()).map(|words| words[1].to_owned()));
        }
    }
    let left: Vec<_> = ISA.iter().map(|row| row.name).filter(|name| !seen.contains(*name)).collect();
    assert!(left.is_empty(), "instructions that no golden listing shows: {left:?}");
}

/// Renders a template without inputs, or returns the code of the first error.
fn rendered(engine: &Engine, dialect: Dialect, template: &str) -> String {
    let result = match engine.compile(dialect, "example", template) {
        Ok(compiled) => compiled.render(&()).map_err(|error| error.code.id()),
        Err(errors) => Err(errors.first().map_or("", |error| error.code.id())),
    };
    result.unwrap_or_else(str::to_owned)
}

#[test]
fn every_builtin_has_examples_and_every_example_is_true() {
    let (closed, open) = (Engine::new(), Engine::builder().allow(Capabilities::ALL).build());
    let mut wrong = Vec::new();
    for dialect in [Dialect::Tera, Dialect::Helm] {
        for builtin in closed.registry(dialect).iter().filter(|builtin| builtin.kind != ImportKind::Intrinsic) {
            let name = format!("{} {} {}", dialect.id(), builtin.kind.name(), builtin.name);
            // The results of some functions that read more than their arguments cannot be told.
            let needs_example = builtin.pure || dialect == Dialect::Tera;
            if builtin.doc.is_empty() || builtin.examples.is_empty() && needs_example {
                wrong.push(format!("{name} has no example or no documentation"));
            }
            for (template, wanted) in &*builtin.examples {
                let is_refused = *wanted == Code::CapabilityOff.id();
                let engine = if builtin.needs.is_none() || is_refused { &closed } else { &open };
                let got = rendered(engine, dialect, template);
                if got != *wanted {
                    wrong.push(format!("{name}: {template} gives {got:?}, not {wanted:?}"));
                }
                // Examples do not fix values from outside, so check only that there is a value.
                if is_refused && rendered(&open, dialect, template) == *wanted {
                    wrong.push(format!("{name}: {template} gives {wanted} though all is allowed"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
