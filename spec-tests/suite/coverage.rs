//! Nothing is without a test: every instruction is run by the case files, every builtin has examples and every
//! example is true.

use dropforge::bytecode::{ISA, Op};
use dropforge::diagnostics::Code;
use dropforge::engine::{Dialect, Engine};
use dropforge::function::Capabilities;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::{Hooks, Session};

use crate::{cases, cel_cost, cel_yaml, hcl};

/// Notes which instructions run.
#[derive(Default)]
struct Seen(Vec<bool>);

impl Hooks for Seen {
    fn step(&mut self, _: usize, op: Op) {
        if let Some(seen) = self.0.get_mut(op as usize) {
            *seen = true;
        }
    }
}

#[test]
fn every_instruction_is_run_by_the_case_files() {
    let mut seen = Seen(vec![false; ISA.len()]);
    for (dialect, folder) in
        [(Dialect::Tera, "tera"), (Dialect::Tower, "tower"), (Dialect::Hcl, "hcl"), (Dialect::Cel, "cel")]
    {
        for case in cases::read_folder(folder).iter().flat_map(|(_, cases)| cases) {
            if case.section("cost").is_some() {
                cel_cost::watch(case, &mut seen);
                continue;
            }
            let Ok(template) = cases::compile(dialect, case) else { continue };
            let (arena, context) = (Arena::new(), cases::context(case));
            let shapes = Shapes::new(&arena);
            let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).serialize(&context).expect("inputs"));
            let _ = template.render_hooked(&mut Session::new(), inputs, &mut String::new(), &mut seen);
        }
    }
    hcl::watch_values(&mut seen);
    cel_yaml::watch(&mut seen);
    let left: Vec<_> = ISA.iter().zip(&seen.0).filter(|(_, seen)| !**seen).map(|(row, _)| row.name).collect();
    assert!(left.is_empty(), "instructions that no case runs: {left:?}");
}

#[test]
fn every_instruction_is_in_a_golden_listing() {
    let mut seen = std::collections::BTreeSet::new();
    for folder in ["tera", "tower", "hcl", "hcl/values", "cel", "cel-yaml"] {
        for case in cases::read_folder(folder).iter().flat_map(|(_, cases)| cases) {
            let Some(listing) = case.section("listing") else { continue };
            // Words of lines that begin with the number of a word: the name comes second.
            let numbered = listing.text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            seen.extend(numbered.filter(|words| words[0].parse::<u32>().is_ok()).map(|words| words[1].to_owned()));
        }
    }
    let left: Vec<_> = ISA.iter().map(|row| row.name).filter(|name| !seen.contains(*name)).collect();
    assert!(left.is_empty(), "instructions that no golden listing shows: {left:?}");
}

/// What a template renders to without inputs, or the code of the first error.
fn rendered(engine: &Engine, template: &str) -> String {
    let result = match engine.compile(Dialect::Tera, "example", template) {
        Ok(compiled) => compiled.render(&()).map_err(|error| error.code.id()),
        Err(errors) => Err(errors.first().map_or("", |error| error.code.id())),
    };
    result.unwrap_or_else(str::to_owned)
}

#[test]
fn every_builtin_has_examples_and_every_example_is_true() {
    let (closed, open) = (Engine::new(), Engine::builder().allow(Capabilities::ALL).build());
    let registry = closed.registry(Dialect::Tera);
    let mut wrong = Vec::new();
    for builtin in registry.iter() {
        let name = format!("{} {}", builtin.kind.name(), builtin.name);
        if builtin.examples.is_empty() || builtin.doc.is_empty() {
            wrong.push(format!("{name} has no example or no documentation"));
        }
        for (template, wanted) in &*builtin.examples {
            let got = rendered(&closed, template);
            if got != *wanted {
                wrong.push(format!("{name}: {template} gives {got:?}, not {wanted:?}"));
            }
            // What the outside says is not written into an example; that it says anything is all there is to see.
            if *wanted == Code::CapabilityOff.id() && rendered(&open, template) == *wanted {
                wrong.push(format!("{name}: {template} gives {wanted} though all is allowed"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
