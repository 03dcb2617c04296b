//! Listings: a program as a person reads it.

use std::fmt::Write as _;

use super::isa::{Claim, EscapeMode, Operand, Role, Test};
use super::program::Program;
use super::rows::{ChunkInfo, Number, Root, Segment};
use super::views::CodeView;

/// The listing of `program`: each chunk with its instructions, operands spelled out.
pub fn disassemble(program: &Program) -> String {
    listing(program, &mut |_, _| {})
}

/// The listing of `program`, each instruction below the line of the source that it comes from.
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

/// The listing; `before` may write something in front of the instruction at a word.
fn listing(program: &Program, before: &mut dyn FnMut(u32, &mut String)) -> String {
    let mut listing = String::new();
    for chunk in program.chunks() {
        chunk_listing(program.code(), chunk, before, &mut listing);
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
        let _ = write!(listing, "{:>5}  {}", instruction.at, instruction.op.info().name);
        for (operand, value) in instruction.operands() {
            listing.push(' ');
            operand_text(program, operand, value, listing);
        }
        listing.push('\n');
    }
}

fn operand_text(program: CodeView<'_>, operand: Operand, raw: u32, listing: &mut String) {
    let _ = match operand {
        Operand::Str => write!(listing, "{:?}", program.str(raw)),
        Operand::Num => match program.number(raw) {
            Some(Number::Int(n)) => write!(listing, "{n}"),
            Some(Number::Float(n)) => write!(listing, "{n:?}"),
            None => write!(listing, "?"),
        },
        Operand::Int => write!(listing, "{}", (raw << 8).cast_signed() >> 8),
        Operand::Lit => write!(listing, "{}", ["undefined", "null", "false", "true"].get(raw as usize).unwrap_or(&"?")),
        Operand::Slot => write!(listing, "%{raw}"),
        Operand::Memo => write!(listing, "#{raw}"),
        Operand::Path => write!(listing, "{}", path_text(program, raw)),
        Operand::Site => write!(listing, "{}", site_text(program, raw)),
        Operand::Import => write!(listing, "{}", import_name(program, raw)),
        Operand::Keys => {
            let keys: Vec<_> = program.keys(raw).iter().map(|&key| program.str(key)).collect();
            write!(listing, "{keys:?}")
        }
        Operand::Scope => write!(listing, "{}", scope_text(program, raw)),
        Operand::Chunk => {
            write!(listing, "{:?}", program.chunk(raw).map_or("?", |chunk| program.str(chunk.name)))
        }
        Operand::Fail => {
            write!(listing, "{:?}", program.failure(raw).map_or("?".to_owned(), |failure| failure.message))
        }
        Operand::Mode => write!(listing, "{}", EscapeMode::of(raw).name()),
        Operand::Role => write!(listing, "{}", Role::of(raw).name()),
        Operand::Test => write!(listing, "{}", Test::of(raw).name()),
        Operand::Claim => write!(listing, "{}", Claim::of(raw).name()),
        Operand::Count => write!(listing, "{raw}"),
        Operand::Label => write!(listing, "@{raw}"),
    };
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

fn site_text(program: CodeView<'_>, at: u32) -> String {
    let site = program.call_site(at);
    format!("{}{:?}", import_name(program, site.import), site.params)
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
