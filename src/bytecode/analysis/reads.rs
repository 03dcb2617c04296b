//! The inputs that a program reads, and the functions that it calls.

use std::collections::BTreeMap;

use super::super::isa::Op;
use super::super::operands::Operand;
use super::super::program::Program;
use super::super::rows::ImportKind;
use super::origins::{InputPath, Origins};
use crate::text::Position;

/// The inputs that a program reads and the functions that it calls, each with its first position in the sources.
#[derive(Debug, Default)]
pub struct Reads<'p> {
    /// The paths from inputs.
    pub paths: BTreeMap<InputPath<'p>, Option<Position>>,
    /// The functions, by kind and name.
    pub calls: BTreeMap<(ImportKind, &'p str), Option<Position>>,
    /// `true` if the program reads all inputs at once.
    pub everything: bool,
}

impl<'p> Reads<'p> {
    /// Reads the code of `program`.
    pub fn of(program: &'p Program) -> Self {
        let (code, mut reads) = (program.code(), Self::default());
        let imports: Vec<_> = program.imports().map(|import| (import.kind, import.name)).collect();
        for chunk in program.chunks() {
            let mut origins = Origins::of(code, chunk);
            for instruction in code.instructions(chunk) {
                for (operand, value) in instruction.operands() {
                    let import = match operand {
                        Operand::Path => {
                            // Other paths do not start at an input.
                            if let Some(path) = origins.read(value).0 {
                                keep_first(reads.paths.entry(path).or_default(), position(program, instruction.at));
                            }
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
                    if let Some(import) = imports.get(import as usize) {
                        keep_first(reads.calls.entry(*import).or_default(), position(program, instruction.at));
                    }
                }
                origins.follow(instruction);
            }
        }
        reads
    }
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
