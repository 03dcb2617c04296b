//! What a compiled template reads and calls, and where.

use std::collections::BTreeMap;

use crate::bytecode::{CodeView, ImportKind, Op, Operand, Program, Root, Segment, Spanned};
use crate::function::{Capabilities, Registry};
use crate::text::Position;

/// What a template reads and calls.
#[derive(Debug, Default)]
pub(super) struct Reads<'p> {
    /// The paths it reads that begin with an input, as names, and where it does first.
    pub paths: BTreeMap<Vec<&'p str>, Option<Position>>,
    /// The functions it calls that it may not call, what they need, and where it does first.
    pub forbidden: BTreeMap<(&'static str, &'p str), (String, Option<Position>)>,
    /// Whether it takes all inputs at once.
    pub everything: bool,
}

impl<'p> Reads<'p> {
    /// What `program` reads and calls, of the functions in `registry`.
    pub(super) fn of(program: &'p Program, registry: &Registry) -> Self {
        let (code, mut reads) = (program.code(), Self::default());
        let imports: Vec<(ImportKind, &str)> = program.imports().map(|import| (import.kind, import.name)).collect();
        for chunk in program.chunks() {
            let mut at = chunk.entry;
            while at < chunk.end {
                let Some(&word) = code.words.get(at as usize) else { return reads };
                let op = Op::of(word);
                for (nth, operand) in op.info().operands.iter().enumerate() {
                    let behind = || code.words.get(at as usize + nth).copied().unwrap_or(0);
                    let value = if nth == 0 { word >> 8 } else { behind() };
                    match operand {
                        Operand::Path => reads.path(&code, program, at, value),
                        Operand::Site => {
                            let import = imports.get(code.call_site(value).import as usize);
                            reads.call(program, at, import.copied(), registry);
                        }
                        Operand::Import => reads.call(program, at, imports.get(value as usize).copied(), registry),
                        Operand::Scope if op == Op::Scope => reads.everything |= code.scope(value).sees_inputs(),
                        _ => {}
                    }
                }
                at += u32::try_from(op.words()).unwrap_or(1);
            }
        }
        reads
    }

    fn path(&mut self, code: &CodeView<'p>, program: &'p Program, at: u32, path: u32) {
        let path = code.path(path);
        // What the template itself may have set first is not asked of the schema.
        let Some(Root::Global(input)) = path.roots().next() else { return };
        let Some(input) = code.globals().get(input as usize).copied() else { return };
        let steps = path.segments().map_while(|(segment, _)| match segment {
            Segment::Attr(name) => Some(code.str(name)),
            Segment::Index(_) => None,
        });
        let names = std::iter::once(code.str(input)).chain(steps).collect();
        first(self.paths.entry(names).or_default(), position(program, program.place(at)));
    }

    fn call(&mut self, program: &'p Program, at: u32, import: Option<(ImportKind, &'p str)>, registry: &Registry) {
        let Some((kind, name)) = import else { return };
        let Some(needs) = registry.get(kind, name).map(|builtin| builtin.needs) else { return };
        if !Capabilities::NONE.include(needs) {
            let entry = self
                .forbidden
                .entry((kind.name(), name))
                .or_insert_with(|| (needs.names().collect::<Vec<_>>().join(" and "), None));
            first(&mut entry.1, position(program, program.place(at)));
        }
    }
}

fn position(program: &Program, place: Option<Spanned>) -> Option<Position> {
    let place = place?;
    Some(program.source(place)?.position(place.span.start))
}

/// Keeps the first of two places.
fn first(kept: &mut Option<Position>, found: Option<Position>) {
    let key = |at: &Position| (at.line, at.column);
    *kept = kept.take().into_iter().chain(found).min_by_key(key);
}
