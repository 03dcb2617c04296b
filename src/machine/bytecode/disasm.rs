//! Listings of programs for people.

use std::fmt::Write as _;

use super::code::{CodeView, Instruction};
use super::operands::Operand;
use super::program::Program;
use super::records::{Root, Segment};
use super::rows::{ChunkInfo, Number};

/// Lists `program`: each chunk with its instructions, operands spelled out.
pub fn disassemble(program: &Program) -> String {
    listing(program, &mut |_, _| {})
}

/// Lists `program`, each instruction below its source line.
pub fn disassemble_with_lines(program: &Program) -> String {
    let mut shown = None;
    listing(program, &mut |at, listing| {
        let Some(place) = program.place(at) else { return };
        let Some(source) = program.source(place) else { return };
        let line = source.position(place.span.start).line;
        if shown.replace((place.source, line)) != Some((place.source, line)) {
            let _ = writeln!(listing, "; {}:{line}  {}", source.name(), source.line(line).trim());
        }
    })
}

/// Lists a program. `before` may write a line before the instruction at a word.
fn listing(program: &Program, before: &mut dyn FnMut(u32, &mut String)) -> String {
    let mut listing = String::new();
    for chunk in program.chunks() {
        chunk_listing(program.code(), chunk, before, &mut listing);
    }
    for (name, chunk) in program.named_chunks() {
        let chunk = program.chunks().nth(chunk as usize).map_or("?", |chunk| program.str(chunk.name));
        let _ = writeln!(listing, "name {name:?} chunk {chunk:?}");
    }
    for handler in program.handlers() {
        let _ = writeln!(listing, "handler {}..{} height {}", handler.from, handler.to, handler.height);
    }
    listing
}

fn chunk_listing(
    program: CodeView<'_>,
    chunk: ChunkInfo,
    before: &mut dyn FnMut(u32, &mut String),
    listing: &mut String,
) {
    let (name, slots, params) = (program.str(chunk.name), chunk.slots, chunk.params);
    let _ = writeln!(listing, "chunk {name:?} slots {slots} params {params}");
    for instruction in program.instructions(chunk) {
        before(instruction.at, listing);
        let _ = writeln!(listing, "{:>5}  {}", instruction.at, instruction_text(program, instruction));
    }
}

/// Lists an instruction: its name and its operands, spelled out.
pub fn instruction_text(program: CodeView<'_>, instruction: Instruction<'_>) -> String {
    let mut text = instruction.op.info().name.to_owned();
    for (operand, value) in instruction.operands() {
        let _ = write!(text, " {}", operand_text(program, operand, value));
    }
    text
}

fn operand_text(program: CodeView<'_>, operand: Operand, raw: u32) -> String {
    match operand {
        Operand::Str => format!("{:?}", program.str(raw)),
        Operand::Num => match program.number(raw) {
            Some(Number::Int(n)) => n.to_string(),
            Some(Number::Float(n)) => format!("{n:?}"),
            None => "?".to_owned(),
        },
        Operand::Int => ((raw << 8).cast_signed() >> 8).to_string(),
        Operand::Slot | Operand::SlotPair | Operand::SlotRun | Operand::LoopSlots => format!("%{raw}"),
        Operand::Memo => format!("#{raw}"),
        Operand::Path => path_text(program, raw),
        Operand::Site => {
            let site = program.call_site(raw);
            format!("{}{:?}", import_name(program, site.import), site.params)
        }
        Operand::Import => import_name(program, raw),
        Operand::Keys => format!("{:?}", program.keys(raw).iter().map(|&key| program.str(key)).collect::<Vec<_>>()),
        Operand::Scope => scope_text(program, raw),
        Operand::Chunk => format!("{:?}", program.chunk(raw).map_or("?", |chunk| program.str(chunk.name))),
        Operand::Fail => format!("{:?}", program.failure(raw).map_or("?".to_owned(), |failure| failure.message)),
        Operand::Lit | Operand::Mode | Operand::Role | Operand::Test | Operand::Claim | Operand::Delivery => {
            (*operand.choices().get(raw as usize).unwrap_or(&"?")).to_owned()
        }
        Operand::Names | Operand::Count | Operand::Values => raw.to_string(),
        Operand::Label => format!("@{raw}"),
    }
}

fn path_text(program: CodeView<'_>, at: u32) -> String {
    let path = program.path(at);
    let roots: Vec<_> = path.roots().map(|root| root_text(program, root)).collect();
    let mut text = roots.join("|");
    for (segment, _) in path.segments() {
        let _ = match segment {
            Segment::Attr(name) => write!(text, ".{}", program.str(name)),
            Segment::Index(nth) => write!(text, "[{nth}]"),
        };
    }
    text
}

fn root_text(program: CodeView<'_>, root: Root) -> String {
    match root {
        Root::Slot(slot) => format!("%{slot}"),
        Root::Global(global) => {
            program.globals().get(global as usize).map_or("?", |&name| program.str(name)).to_owned()
        }
        Root::Loop(level, field) => format!("loop{level}.{}", field.name()),
        Root::Callers(name) => format!("callers.{}", program.str(name)),
    }
}

fn import_name(program: CodeView<'_>, import: u32) -> String {
    program.imports().nth(import as usize).map_or("?", |import| import.name).to_owned()
}

fn scope_text(program: CodeView<'_>, at: u32) -> String {
    if at == 0 {
        return "none".to_owned();
    }
    let entries = program.scope(at).entries().map(|(name, root)| {
        let name = program.str(name);
        format!("{name}={}", root_text(program, root))
    });
    format!("{{{}}}", entries.collect::<Vec<_>>().join(" "))
}
