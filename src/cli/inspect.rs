//! `dropforge inspect`: what an artifact holds.

use std::io::Write;

use humansize::{DECIMAL, format_size};
use serde_json::{Value, json};

use super::args::InspectArgs;
use super::exit::{Exit, Failed};
use super::opened;
use super::values::{Stdin, stdout_error};
use crate::bytecode::{Bundle, BundleEntry, ChunkInfo, Import, Program};

/// Runs the command.
pub(super) fn run(args: &InspectArgs) -> Result<Exit, Failed> {
    let bundle = opened::bundle(&args.file, &mut Stdin::default())?;
    let text = if args.json { format!("{:#}\n", to_json(&bundle)) } else { to_text(&bundle) };
    std::io::stdout().lock().write_all(text.as_bytes()).map_err(|error| stdout_error(&error))?;
    Ok(Exit::Ok)
}

/// What one render of a program takes at most, apart from what its calls take.
struct Needs {
    words: usize,
    chunks: usize,
    slots: u32,
    stack: u32,
    loops: u32,
    captures: u32,
}

impl Needs {
    fn of(program: &Program) -> Self {
        let most = |of: fn(ChunkInfo) -> u32| program.chunks().map(of).max().unwrap_or(0);
        Self {
            words: program.words().len(),
            chunks: program.chunks().len(),
            slots: most(|chunk| chunk.slots),
            stack: most(|chunk| chunk.stack),
            loops: most(|chunk| chunk.loops),
            captures: most(|chunk| chunk.captures),
        }
    }
}

fn sources(program: &Program) -> Vec<&str> {
    program.sources().iter().map(|source| source.name()).collect()
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn to_json(bundle: &Bundle) -> Value {
    json!({
        "format": bundle.format(),
        "engine": bundle.engine(),
        "isa": format!("{:016x}", bundle.fingerprint()),
        "digest": hex(bundle.digest()),
        "bytes": bundle.len(),
        "stripped": bundle.stripped(),
        "templates": bundle.entries().iter().map(template_json).collect::<Vec<_>>(),
    })
}

fn template_json(entry: &BundleEntry) -> Value {
    let Needs { words, chunks, slots, stack, loops, captures } = Needs::of(entry.program());
    let import = |import: Import<'_>| {
        let parameters = import.signature.count();
        json!({"kind": import.kind.name(), "name": import.name, "parameters": parameters})
    };
    json!({
        "name": entry.name(),
        "language": entry.dialect().id(),
        "escapes": entry.escape(),
        "digest": hex(entry.digest()),
        "inputs": entry.inputs(),
        "imports": entry.program().imports().map(import).collect::<Vec<_>>(),
        "reaches": entry.reaches(),
        "sources": sources(entry.program()),
        "limits": {
            "words": words, "chunks": chunks, "slots": slots, "stack": stack, "loops": loops, "captures": captures,
        },
    })
}

fn to_text(bundle: &Bundle) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: &str| text.push_str(&format!("{key:<10}{value}\n"));
    line("format", &format!("{} of dropforge {}", bundle.format(), bundle.engine()));
    line("isa", &format!("{:016x}", bundle.fingerprint()));
    line("digest", &hex(bundle.digest()));
    line("size", &format_size(bundle.len(), DECIMAL));
    line("sources", if bundle.stripped() { "left out, with all places in them" } else { "included" });
    line("templates", &bundle.entries().len().to_string());
    bundle.entries().iter().for_each(|entry| template_text(entry, &mut text));
    text
}

fn template_text(entry: &BundleEntry, text: &mut String) {
    let Needs { words, chunks, slots, stack, loops, captures } = Needs::of(entry.program());
    let escapes = if entry.escape() { ", escaped" } else { "" };
    text.push_str(&format!("\n{} ({}{escapes})\n", entry.name(), entry.dialect().id()));
    let mut line = |key: &str, value: &str| text.push_str(&format!("  {key:<8}{value}\n"));
    line("digest", &hex(entry.digest()));
    line("inputs", &listed(entry.inputs()));
    line("calls", &listed(entry.program().imports().map(|import| format!("{} {}", import.kind.name(), import.name))));
    line("reaches", &listed(entry.reaches()));
    line("code", &format!("{words} words in {chunks} chunks"));
    line("needs", &format!("{slots} slots, {stack} values, {loops} loops, {captures} captures in a call at most"));
}

fn listed<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    let names: Vec<S> = names.into_iter().collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}
