//! The course of a run: its conditions, loops and calls in order, each within others.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Recording;
use super::event::Event;
use super::flow::Flow;
use super::frames::OUTERMOST;
use super::why::{Within, Writer};
use dropforge_base::mask::HIDDEN;
use dropforge_machine::bytecode::{Control, instruction_text};

/// A condition, an iteration of a loop, or a call.
#[derive(Debug, Clone)]
pub struct TraceRow {
    /// The number of rows around it.
    pub depth: usize,
    /// What happened.
    pub what: Within,
    /// The number of iterations in a row that went the same way, including this one.
    pub times: usize,
}

impl Recording {
    /// Returns the conditions, iterations and calls of the run in order, at most `most`, and `true` if these are all. With
    /// `folds`, iterations of a loop that went the same way as the one before are counted instead.
    pub fn trace(&self, folds: bool, most: usize) -> (Vec<TraceRow>, bool) {
        let mut rows = self.rows(most.saturating_add(1));
        let are_all = rows.len() <= most && !self.is_cut();
        rows.truncate(most);
        (if folds { folded(rows) } else { rows }, are_all)
    }

    fn rows(&self, most: usize) -> Vec<TraceRow> {
        let (mut rows, mut depths) = (Vec::new(), HashMap::new());
        for (number, event) in (0..).zip(&self.events) {
            if rows.len() >= most {
                break;
            }
            let Some(what) = Some(number).filter(|_| is_told(event)).and_then(|number| self.around(number)) else {
                continue;
            };
            let depth = self.parent(event, &depths).map_or(0, |depth| depth + 1);
            depths.insert(number, depth);
            rows.push(TraceRow { depth, what, times: 1 });
        }
        rows
    }

    /// Returns the depth of the innermost row around an event.
    fn parent(&self, event: &Event, depths: &HashMap<u32, usize>) -> Option<usize> {
        let mut context = event.context;
        while context != OUTERMOST {
            let of = self.contexts.get(context as usize)?;
            if let Some(depth) = depths.get(&of.event) {
                return Some(*depth);
            }
            context = of.around;
        }
        None
    }

    /// Calls `each` with every instruction that pushed, wrote, called or decided something: its word, its listing, and what
    /// it pushed, wrote or tested, with `…` in place of values that come from a secret input.
    pub fn steps(&self, is_secret: &dyn Fn(&Flow) -> bool, each: &mut dyn FnMut(u32, &str, Option<&str>)) {
        for (number, event) in (0..).zip(&self.events) {
            let code = self.program(event.unit).map(|program| program.code());
            let text = code.and_then(|code| Some(instruction_text(code, code.instruction(event.at)?)));
            // A template that the run compiled may be made of secrets.
            let is_made = self.texts(event).iter().any(is_secret);
            let text = text.map_or_else(String::new, |text| if is_made { HIDDEN.to_owned() } else { text });
            let is_secret = || is_made || self.flows_of(number).iter().any(is_secret);
            let shown =
                event.shown.as_deref().map(|shown| if is_secret() { HIDDEN.into() } else { self.mask.hidden(shown) });
            each(event.at, &self.mask.hidden(&text), shown.as_deref());
        }
    }
}

/// Returns `true` for a condition, an iteration or a call.
fn is_told(event: &Event) -> bool {
    match event.op.info().control {
        Control::NextItem => event.jumped,
        control => control.calls() || control.decides(),
    }
}

/// Leaves out the iterations of loops that went the same way as the one before.
fn folded(rows: Vec<TraceRow>) -> Vec<TraceRow> {
    let ways = ways(&rows);
    let mut kept: Vec<TraceRow> = Vec::new();
    // The last row of each depth that was kept, and its way.
    let mut last: Vec<(usize, u64)> = Vec::new();
    let mut skipped = usize::MAX;
    for (row, way) in rows.into_iter().zip(ways) {
        if row.depth > skipped {
            continue;
        }
        skipped = usize::MAX;
        let before = last.get(row.depth).copied().filter(|(_, before)| *before == way);
        if let (Within::Turn { .. }, Some((at, _))) = (&row.what, before) {
            if let Some(same) = kept.get_mut(at) {
                same.times += 1;
            }
            skipped = row.depth;
            continue;
        }
        last.truncate(row.depth);
        last.resize(row.depth, (0, 0));
        last.push((kept.len(), way));
        kept.push(row);
    }
    kept
}

/// Returns a digest for each row of its place, its outcome and the rows in it.
fn ways(rows: &[TraceRow]) -> Vec<u64> {
    let mut ways = vec![0; rows.len()];
    let mut open: Vec<(usize, DefaultHasher)> = Vec::new();
    for at in (0..=rows.len()).map(|at| rows.get(at).map(|row| (at, row))) {
        let depth = at.map_or(0, |(_, row)| row.depth);
        while open.len() > depth {
            let Some((done, hasher)) = open.pop() else { break };
            let way = hasher.finish();
            if let Some(place) = ways.get_mut(done) {
                *place = way;
            }
            if let Some((_, around)) = open.last_mut() {
                way.hash(around);
            }
        }
        if let Some((at, row)) = at {
            let mut hasher = DefaultHasher::new();
            let (Writer { source, span }, outcome) = match &row.what {
                Within::Call(at) | Within::Turn { at, .. } => (at, false),
                Within::Branch { at, holds, .. } => (at, *holds),
            };
            (source.name(), span.start, span.end, outcome).hash(&mut hasher);
            open.push((at, hasher));
        }
    }
    ways
}
