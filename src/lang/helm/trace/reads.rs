//! The values that a call reads.

use super::node::Piece;
use crate::syntax::tree::{Call, Command, Operand, Pipeline, Term};

/// The key of the values in the data of a template.
const VALUES: &str = "Values";

/// Returns the paths below `.Values` that a part of a tree reads, or else those of the commands before it, whose value is
/// piped to it.
pub(super) fn values(piece: Option<Piece<'_>>, around: Option<Pipeline<'_>>) -> Vec<Vec<String>> {
    let (own, end) = match piece {
        Some(Piece::Call(Call { data: Some(data), .. })) => (of_commands(data.pipeline.commands), None),
        Some(Piece::Command(command)) => (of_commands(&[command]), Some(command.span.start)),
        Some(Piece::Operand(operand)) => (of_operands(&[operand]), None),
        Some(Piece::Pipeline(pipeline)) => (of_commands(pipeline.commands), None),
        _ => return Vec::new(),
    };
    match (own.is_empty(), end, around) {
        (true, Some(end), Some(around)) => {
            let before = around.commands.iter().take_while(|command| command.span.start < end);
            of_commands(&before.copied().collect::<Vec<_>>())
        }
        _ => own,
    }
}

/// Returns the functions that the commands of a pipeline call.
pub(super) fn functions(pipeline: Option<Pipeline<'_>>) -> Vec<String> {
    let commands = pipeline.map_or(&[][..], |pipeline| pipeline.commands);
    let first = commands.iter().filter_map(|command| command.operands.first());
    first
        .filter_map(|operand| match operand.term {
            Term::Function(name) => Some(name.to_owned()),
            _ => None,
        })
        .collect()
}

fn of_commands(commands: &[Command<'_>]) -> Vec<Vec<String>> {
    commands.iter().flat_map(|command| of_operands(command.operands)).collect()
}

fn of_operands(operands: &[Operand<'_>]) -> Vec<Vec<String>> {
    let (mut open, mut found) = (operands.to_vec(), Vec::new());
    while let Some(operand) = open.pop() {
        match (operand.term, operand.fields) {
            (Term::Dot | Term::Variable("$"), [first, rest @ ..]) if first.text == VALUES && !rest.is_empty() => {
                found.push(rest.iter().map(|field| field.text.to_owned()).collect());
            }
            (Term::Pipeline(inner), _) => {
                open.extend(inner.commands.iter().flat_map(|command| command.operands));
            }
            _ => {}
        }
    }
    found
}
