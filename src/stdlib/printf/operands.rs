//! Operands of any kind. Lists and maps are written with a stack on the heap.

use std::borrow::Cow;

use super::flags::Flags;
use super::{Content, Operand, Output, floats, integers, texts};

/// Maximum nesting of what is written. Only a map that contains itself is deeper.
const MAX_DEPTH: usize = 1000;

/// A part that is still to be written.
enum Part<'a, N> {
    Piece(Cow<'a, str>),
    Key(Cow<'a, str>),
    Operand(N, usize),
}

/// Writes an operand by a verb.
pub(super) fn operand<'a, N: Operand<'a>, E, G: FnMut(usize) -> Result<(), E>>(
    operand: N,
    verb: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<(), E> {
    match (operand.content(), verb) {
        (Content::Nil, 'T' | 'v') => flags.pad(b"<nil>", out),
        (Content::Nil, _) => bad(verb, "<nil>", out),
        (_, 'T') => texts::text(operand.type_name().as_bytes(), 's', flags, out).map(drop),
        (_, 'p' | 'w') => {
            begin_bad(verb, &operand.type_name(), out)?;
            tree(operand, 'v', flags, out)?;
            out.push(b")")
        }
        _ => tree(operand, verb, flags, out),
    }
}

fn bad<E, G: FnMut(usize) -> Result<(), E>>(verb: char, why: &str, out: &mut Output<'_, G>) -> Result<(), E> {
    out.push(format!("%!{verb}({why})").as_bytes())
}

fn begin_bad<E, G: FnMut(usize) -> Result<(), E>>(
    verb: char,
    type_name: &str,
    out: &mut Output<'_, G>,
) -> Result<(), E> {
    out.push(format!("%!{verb}({type_name}=").as_bytes())
}

fn tree<'a, N: Operand<'a>, E, G: FnMut(usize) -> Result<(), E>>(
    root: N,
    verb: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<(), E> {
    let mut parts = vec![Part::Operand(root, 0)];
    while let Some(part) = parts.pop() {
        match part {
            Part::Piece(piece) => out.push(piece.as_bytes())?,
            Part::Key(key) => scalar(&Content::<N>::Text(Cow::Borrowed(key.as_bytes())), "string", verb, flags, out)?,
            Part::Operand(_, level) if level > MAX_DEPTH => out.push(b"...")?,
            Part::Operand(operand, level) => match operand.content() {
                Content::Nil if flags.source => out.push(b"interface {}(nil)")?,
                Content::Nil => out.push(b"<nil>")?,
                Content::List(items) => list(&operand.type_name(), &items, flags, level, &mut parts),
                Content::Map(entries) => map(&operand.type_name(), entries, flags, level, &mut parts),
                content => scalar(&content, &operand.type_name(), verb, flags, out)?,
            },
        }
    }
    Ok(())
}

/// Adds the parts of a list, last one first.
fn list<'a, N: Copy>(type_name: &str, items: &[N], flags: Flags, level: usize, parts: &mut Vec<Part<'a, N>>) {
    let (open, between, close) = brackets(type_name, flags, "[");
    parts.push(Part::Piece(close));
    for (at, item) in items.iter().enumerate().rev() {
        parts.push(Part::Operand(*item, level + 1));
        parts.extend((at > 0).then(|| Part::Piece(between.clone())));
    }
    parts.push(Part::Piece(open));
}

/// Adds the parts of a map, last one first.
fn map<'a, N: Copy>(
    type_name: &str,
    entries: Vec<(Cow<'a, str>, N)>,
    flags: Flags,
    level: usize,
    parts: &mut Vec<Part<'a, N>>,
) {
    let (open, between, close) = brackets(type_name, flags, "map[");
    parts.push(Part::Piece(close));
    for (at, (key, value)) in entries.into_iter().enumerate().rev() {
        parts.extend([Part::Operand(value, level + 1), Part::Piece(Cow::Borrowed(":")), Part::Key(key)]);
        parts.extend((at > 0).then(|| Part::Piece(between.clone())));
    }
    parts.push(Part::Piece(open));
}

/// Returns what stands before, between and behind the parts of a list or map.
fn brackets<'a>(type_name: &str, flags: Flags, open: &'static str) -> (Cow<'a, str>, Cow<'a, str>, Cow<'a, str>) {
    if flags.source {
        return (format!("{type_name}{{").into(), ", ".into(), "}".into());
    }
    (open.into(), " ".into(), "]".into())
}

/// Writes an operand that contains no others.
fn scalar<'a, N, E, G: FnMut(usize) -> Result<(), E>>(
    content: &Content<'a, N>,
    type_name: &str,
    verb: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<(), E> {
    if write(content, type_name, verb, flags, out)? {
        return Ok(());
    }
    begin_bad(verb, type_name, out)?;
    write(content, type_name, 'v', flags, out)?;
    out.push(b")")
}

/// Writes an operand by a verb. Returns `false` if the verb does not fit.
fn write<'a, N, E, G: FnMut(usize) -> Result<(), E>>(
    content: &Content<'a, N>,
    type_name: &str,
    verb: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<bool, E> {
    match content {
        Content::Bool(truth) if matches!(verb, 't' | 'v') => {
            flags.pad(if *truth { b"true" } else { b"false" }, out)?;
            Ok(true)
        }
        Content::Signed(n) => integers::integer((*n).into(), true, verb, flags, out),
        Content::Unsigned(n) => integers::integer((*n).into(), false, verb, flags, out),
        Content::Float(n) => floats::float(*n, verb, flags, out),
        Content::Text(text) => texts::text(text, verb, flags, out),
        Content::Shown(text) => texts::text(text.as_bytes(), verb, Flags { source: false, ..flags }, out),
        Content::Octets(octets) if matches!(verb, 's' | 'x' | 'X' | 'q') => texts::text(octets, verb, flags, out),
        Content::Octets(octets) => self::octets(octets, type_name, verb, flags, out).map(|()| true),
        _ => Ok(false),
    }
}

/// Writes octets as a list of numbers.
fn octets<E, G: FnMut(usize) -> Result<(), E>>(
    octets: &[u8],
    type_name: &str,
    verb: char,
    flags: Flags,
    out: &mut Output<'_, G>,
) -> Result<(), E> {
    let source = flags.source && verb == 'v';
    out.push(if source { format!("{}{{", type_name.replace("uint8", "byte")) } else { "[".to_owned() }.as_bytes())?;
    for (at, octet) in octets.iter().enumerate() {
        if at > 0 {
            out.push(if source { b", " } else { b" " })?;
        }
        scalar(&Content::<()>::Unsigned((*octet).into()), "uint8", verb, flags, out)?;
    }
    out.push(if source { b"}" } else { b"]" })
}
