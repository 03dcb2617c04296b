//! What a compiled template reads and calls, and where.

use std::collections::BTreeMap;

use super::origins::{Origins, Way};
use crate::bytecode::{ImportKind, Op, Operand, Program, Spanned};
use crate::function::{Capabilities, Registry};
use crate::text::Position;

/// What a template reads and calls.
#[derive(Debug, Default)]
pub(super) struct Reads<'p> {
    /// The ways from inputs that it goes, and where it does first.
    pub paths: BTreeMap<Way<'p>, Option<Position>>,
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
            let mut origins = Origins::of(code, chunk);
            for instruction in code.instructions(chunk) {
                let place = || position(program, program.place(instruction.at));
                for (operand, value) in instruction.operands() {
                    let import = match operand {
                        Operand::Path => {
                            reads.path(origins.read(value).0, place());
                            continue;
                        }
                        Operand::Scope if instruction.op == Op::Scope => {
                            reads.everything |= code.scope(value).sees_inputs();
                            continue;
                        }
                        Operand::Site => code.call_site(value).import,
                        Operand::Import => value,
                        _ => continue,
                    };
                    reads.call(imports.get(import as usize).copied(), registry, place());
                }
                origins.pass(instruction);
            }
        }
        reads
    }

    fn path(&mut self, way: Option<Way<'p>>, at: Option<Position>) {
        // What does not come from an input is not asked of the schema.
        if let Some(way) = way {
            first(self.paths.entry(way).or_default(), at);
        }
    }

    fn call(&mut self, import: Option<(ImportKind, &'p str)>, registry: &Registry, at: Option<Position>) {
        let Some((kind, name)) = import else { return };
        let Some(needs) = registry.get(kind, name).map(|builtin| builtin.needs) else { return };
        if !Capabilities::NONE.include(needs) {
            let entry = self
                .forbidden
                .entry((kind.name(), name))
                .or_insert_with(|| (needs.names().collect::<Vec<_>>().join(" and "), None));
            first(&mut entry.1, at);
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
