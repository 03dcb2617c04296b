//! The facts of the instruction table about values, against runs of all case files: where values come from, when jumps are
//! taken, and what probes follow.

use dropforge::bytecode::{Control, ISA, Jumps, Op, OpInfo, Operand, Place, Pops, Program, Provenance};
use dropforge::diagnostics::{Diagnostic, Result};
use dropforge::dialect::helm::Helm;
use dropforge::dialect::tera::Tera;
use dropforge::engine::Engine;
use dropforge::function::{Capabilities, Linked};
use dropforge::language::Language;
use dropforge::limits::Limits;
use dropforge::value::{Arena, Inputs, Type, Value};
use dropforge::vm::{self, Moment, Observer, Session};
use serde_json::Value as Json;

use crate::{cases, coverage::run_case_files};

/// The identity of a value: its kind, and its content or address.
type Token = (u8, u64);

fn token(value: Value<'_>) -> Token {
    match value {
        Value::Undefined => (0, 0),
        Value::Null => (1, 0),
        Value::Bool(truth) => (2, truth.into()),
        Value::Int(n) => (3, n.cast_unsigned()),
        Value::Uint(n) => (4, n),
        Value::Float(n) => (5, n.to_bits()),
        Value::Str(text) => (6, text.as_str().as_ptr().addr() as u64),
        Value::List(list) => (7, std::ptr::from_ref(list).addr() as u64),
        Value::Map(map) => (8, std::ptr::from_ref(map).addr() as u64),
        Value::Extended(rare) => (9, std::ptr::from_ref(rare).addr() as u64),
    }
}

/// Returns `true` for a value that is known by its address.
fn is_address((kind, _): Token) -> bool {
    kind >= 6
}

/// Returns `true` if so many items may be the popped values without those that are undefined. A rare value may become
/// undefined in the role of a value: an optional one that is empty.
fn is_some_of(popped: &[Token], items: usize) -> bool {
    let [undefined, rare] = [0, 9].map(|kind| popped.iter().filter(|token| token.0 == kind).count());
    (popped.len() - undefined - rare..=popped.len() - undefined).contains(&items)
}

/// An instruction that has begun, and the values that it pops.
struct Begun {
    row: &'static OpInfo,
    place: (u32, usize),
    /// The top of the stack without the popped values, and the slot that it sets.
    below: usize,
    slot: Option<usize>,
    gathered: usize,
    output: usize,
    /// The text of the only popped value.
    text: Option<String>,
    label: Option<usize>,
    next: usize,
    popped: Vec<Token>,
}

/// The claims about an opcode that no run has refuted.
#[derive(Clone, Copy)]
struct Claims {
    runs: usize,
    popped: bool,
    items: bool,
    some_items: bool,
    /// `true` if a value by address was passed on.
    passes: bool,
    undefined: bool,
    if_true: bool,
    if_false: bool,
}

impl Claims {
    const ALL: Self = Self {
        runs: 0,
        popped: true,
        items: true,
        some_items: true,
        passes: false,
        undefined: false,
        if_true: true,
        if_false: true,
    };

    /// Returns the provenance that fits what was observed: the first that says the most.
    fn provenance(&self) -> Provenance {
        let claims = [
            (self.popped, Provenance::Popped),
            (self.items, Provenance::Items),
            (self.some_items, Provenance::SomeItems),
            (self.passes, Provenance::Converted),
        ];
        claims.into_iter().find(|(holds, _)| *holds).map_or(Provenance::Computed, |(_, provenance)| provenance)
    }

    /// Takes note of a value that was made of the popped ones.
    fn made(&mut self, popped: &[Token], value: Value<'_>) {
        let items: Option<Vec<_>> = match value {
            Value::List(list) => Some(list.items().iter().map(|item| token(*item)).collect()),
            _ => None,
        };
        self.runs += 1;
        self.popped &= popped == [token(value)];
        self.items &= items.as_deref() == Some(popped);
        self.some_items &= items.is_some_and(|items| is_some_of(popped, items.len()));
        self.passes |= popped.len() == 1 && popped[0] == token(value) && is_address(popped[0]);
        self.undefined |= value.is_undefined();
    }

    /// Takes note of values that were gathered, or not.
    fn gathered(&mut self, popped: &[Token], gathered: usize) {
        self.runs += 1;
        self.popped = false;
        self.items &= gathered == popped.len();
        self.some_items &= is_some_of(popped, gathered);
    }
}

/// Returns `true` if an instruction pops values and writes output.
fn writes_popped(row: &OpInfo) -> bool {
    row.writes.contains(Place::Output) && row.pops != Pops::Fixed(0) && row.first() != Some(Operand::Path)
}

/// Compares the values that instructions make with those that they pop.
struct Values {
    begun: Option<Begun>,
    claims: Vec<Claims>,
}

impl Values {
    fn begin(moment: &Moment<'_>, at: usize) -> Option<Begun> {
        let instruction = moment.code.instruction(u32::try_from(at).ok()?)?;
        let row = instruction.op.info();
        let first = instruction.operands().next().map_or(0, |(_, operand)| operand);
        let below = moment.top.checked_sub(moment.code.pops(row, first) as usize)?;
        let slots = instruction.slots_set();
        Some(Begun {
            row,
            place: (moment.unit, moment.heights.frames),
            below,
            slot: (!slots.is_empty()).then_some(moment.base + slots.start as usize),
            gathered: moment.heights.gathered,
            output: moment.output.len(),
            text: moment
                .values
                .get(below)
                .and_then(|value| value.as_str())
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            label: instruction.operand(Operand::Label).map(|label| label as usize),
            next: instruction.end() as usize,
            popped: moment.values.get(below..moment.top)?.iter().map(|value| token(*value)).collect(),
        })
    }

    fn end(&mut self, begun: &Begun, at: usize, now: &Moment<'_>) {
        let claims = &mut self.claims[begun.row.op as usize];
        let jumped = begun.label == Some(at);
        match begun.row.control {
            Control::Gather => claims.gathered(&begun.popped, now.heights.gathered - begun.gathered),
            Control::Branch | Control::BranchWithTop if begun.label != Some(begun.next) => {
                if let [(2, truth)] = begun.popped[..] {
                    claims.runs += 1;
                    claims.if_true &= jumped == (truth == 1);
                    claims.if_false &= jumped == (truth == 0);
                }
                if now.top > begun.below {
                    claims.popped &= token(now.values[begun.below]) == begun.popped[0];
                }
            }
            _ if writes_popped(begun.row) => {
                claims.runs += 1;
                claims.passes |= begun.text.is_some() && now.output.get(begun.output..) == begun.text.as_deref();
            }
            Control::Plain if begun.row.pushes == 1 => claims.made(&begun.popped, now.values[begun.below]),
            Control::Plain => begun.slot.into_iter().for_each(|slot| claims.made(&begun.popped, now.values[slot])),
            _ => {}
        }
    }
}

impl Observer for Values {
    fn step(&mut self, at: usize, _: Op, now: &Moment<'_>) {
        if let Some(begun) = self.begun.take().filter(|begun| begun.place == (now.unit, now.heights.frames)) {
            // Other programs may begin with the same place.
            let continues = at == begun.next || begun.label == Some(at);
            if continues && now.top + 1 >= begun.below {
                self.end(&begun, at, now);
            }
        }
        self.begun = Self::begin(now, at);
    }

    fn failed(&mut self, _: &Diagnostic) {
        self.begun = None;
    }
}

#[test]
fn every_value_comes_from_where_its_row_says() {
    let mut values = Values { begun: None, claims: vec![Claims::ALL; ISA.len()] };
    run_case_files(&mut values);
    let mut wrong = Vec::new();
    for (row, claims) in ISA.iter().zip(&values.claims).filter(|(_, claims)| claims.runs > 0) {
        let found = claims.provenance();
        // The others follow from other columns of the row.
        let is_observed = matches!(
            row.provenance,
            Provenance::Popped
                | Provenance::Items
                | Provenance::SomeItems
                | Provenance::Converted
                | Provenance::Computed
        );
        if writes_popped(row) && claims.passes != (row.provenance == Provenance::Popped) {
            wrong.push(format!("`{}` makes something else of text than its row says", row.name));
        }
        if is_observed
            && !writes_popped(row)
            && row.pops != Pops::Fixed(0)
            && !row.control.decides()
            && row.provenance != found
        {
            wrong.push(format!("`{}` makes {found:?}, its row says {:?}", row.name, row.provenance));
        }
        if row.provenance == Provenance::Computed && claims.undefined {
            wrong.push(format!("`{}` makes an undefined value, its row says that it computes one", row.name));
        }
        if row.provenance == Provenance::Popped && row.control.decides() && !claims.popped {
            wrong.push(format!("`{}` changes the value that it tests", row.name));
        }
        let jumps = (claims.if_true, claims.if_false);
        if matches!(row.jumps, Jumps::True | Jumps::False)
            && jumps != (row.jumps == Jumps::True, row.jumps == Jumps::False)
        {
            wrong.push(format!("`{}` does not jump {}", row.name, row.jumps.name()));
        }
    }
    let made = |row: &OpInfo| row.control == Control::Gather || row.pushes > 0 && row.control == Control::Plain;
    let unseen = ISA.iter().zip(&values.claims).filter(|(row, claims)| made(row) && claims.runs == 0);
    wrong.extend(unseen.map(|(row, _)| format!("no value of `{}` was seen", row.name)));
    wrong.extend(ISA.iter().filter(|row| row.pushes > 1).map(|row| format!("`{}` makes several values", row.name)));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Builds inputs in which the text, number or list with number `open` is not known. `open` stays if there are fewer.
fn opened<'v>(arena: &'v Arena, json: &Json, open: &mut Option<usize>) -> Value<'v> {
    if let Some(left) = open.filter(|_| matches!(json, Json::String(_) | Json::Number(_) | Json::Array(_))) {
        *open = left.checked_sub(1);
        if left == 0 {
            return arena.unknown(Type::Dynamic);
        }
    }
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(n) => n.as_i64().map_or(Value::Float(n.as_f64().unwrap_or(0.0)), Value::Int),
        Json::String(text) => arena.text(text),
        Json::Object(map) => {
            let entry = |(key, value): (&String, &Json)| (arena.copy_str(key), opened(arena, value, open));
            let entries: Vec<_> = map.iter().map(entry).collect();
            arena.map(&entries)
        }
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| opened(arena, item, open)).collect();
            arena.list(&items)
        }
    }
}

fn run(
    language: &dyn Language,
    probes: bool,
    program: &Program,
    linked: &Linked,
    context: &Json,
    open: &mut Option<usize>,
) -> Result<String> {
    let (arena, limits, mut text) = (Arena::new(), Limits::default(), String::new());
    let inputs = Inputs::new(opened(&arena, context, open));
    let run = vm::Run { program, linked, inputs, limits: &limits, capabilities: Capabilities::NONE, budgets: None };
    let mut session = Session::new();
    language.machine().end(&mut session, run, probes, &mut text, &mut |_, _| ())?;
    Ok(text)
}

/// Probes the cases of a folder with each of their inputs unknown. Returns the number of probes that did not depend on it.
fn probe(language: &dyn Language, folder: &str) -> usize {
    let (engine, dialect, mut followed) = (Engine::new(), language.dialect(), 0);
    for case in cases::read_folder(folder).iter().flat_map(|(_, cases)| cases) {
        let Ok(template) = cases::compile(dialect, case) else { continue };
        let Ok(linked) = engine.registry(dialect).link(template.program().imports()) else { continue };
        let context = cases::context(case);
        for nth in 0.. {
            let mut open = Some(nth);
            let probed = run(language, true, template.program(), &linked, &context, &mut open);
            if open.is_some() {
                break;
            }
            let Ok(probed) = probed else { continue };
            followed += 1;
            let found = run(language, false, template.program(), &linked, &context, &mut None);
            assert_eq!(
                found.as_ref().ok(),
                Some(&probed),
                "a probe of {folder}: {}, value {nth} of {context}",
                case.name
            );
        }
    }
    followed
}

#[test]
fn a_probe_that_succeeds_gives_what_every_run_gives() {
    // Most templates use all of their inputs.
    let followed = [probe(&Helm, "helm"), probe(&Tera, "tera")];
    assert!(followed.iter().all(|followed| *followed > 0), "no probes: {followed:?}");
}
