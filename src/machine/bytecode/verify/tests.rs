//! Hand-made programs for each rule, which only that rule rejects.

use super::super::header::Dialect;
use super::super::isa::Op;
use super::super::operands::LoopField;
use super::super::records::{Gate, Root, Scope, pack_path, pack_root};
use super::super::rows::{ChunkInfo, Handler, ImportKind, Number, Signature};
use super::super::sections::{Parts, Properties};
use super::{Maxima, Rule, Rules, verify};
use dropforge_base::diagnostics::Code;

const INPUT: u32 = 0;
const SLOT: u32 = 5;
const LOOP: u32 = 10;

fn op(op: Op, operand: u32) -> u32 {
    operand << 8 | op as u32
}

/// Returns a program of one chunk with this code, and a few rows in every table: strings 0 to 2, number 0, three paths,
/// one call of a filter with one parameter, one scope at 1, one failure, two slots.
fn program(words: &[u32]) -> Parts {
    let end = u32::try_from(words.len()).unwrap();
    let path = |root: Root| {
        let mut words = pack_path(1, 0, &[root], 0, 0).to_vec();
        words.push(pack_root(root));
        words
    };
    Parts {
        dialect: Dialect::ALL[1],
        properties: Properties { memos: 1, ..Properties::default() },
        pool: "mainaé".into(),
        words: words.to_vec(),
        paths: [path(Root::Global(0)), path(Root::Slot(1)), path(Root::Loop(0, LoopField::Index))].concat(),
        sites: vec![0, 1, Gate::new(&[0], Some(1), 0).word(), 0],
        keys: vec![2, 1, 2],
        scopes: vec![0, Scope::INPUTS, 1, 1, pack_root(Root::Slot(0))],
        strings: vec![[0, 4], [4, 5], [5, 7]],
        numbers: vec![Number::Int(7).row(), Number::Float(f64::NAN).row()],
        chunks: vec![ChunkInfo { name: 0, entry: 0, end, slots: 2, ..ChunkInfo::default() }.row()],
        globals: vec![1],
        imports: vec![[ImportKind::Filter as u32, 2, Signature::of(1, 9).word()]],
        failures: vec![Code::TypeMismatch.number(), 1, 3, 2, 2],
        handlers: Vec::new(),
        spans: vec![[0, 0, 1, 2]],
        details: vec![[0, 1, 0, 2], [0, 2, 2, 3]],
        inlined: vec![[0, 1, 0, 0, 3]],
        regions: vec![[0, 1, 1, 0], [0, 1, 0, 1]],
        sources: vec![[0, 0, 10]],
        names: vec![[1, 0], [0, 0]],
    }
}

/// Returns the same program in a language that gathers values.
fn gathering(words: &[u32]) -> Parts {
    Parts { dialect: Dialect::ALL[2], ..program(words) }
}

/// Returns the same program in a language that calls chunks by name.
fn naming(words: &[u32]) -> Parts {
    Parts { dialect: Dialect::ALL[5], ..program(words) }
}

fn plain() -> Parts {
    program(&[op(Op::Text, 1), op(Op::Return, 0)])
}

/// Applies a change to `plain`.
fn but(change: impl FnOnce(&mut Parts)) -> Parts {
    let mut parts = plain();
    change(&mut parts);
    parts
}

/// Builds `load_path`, a protected part from word 1 to 3 with these heights, `pop`s and `return`.
fn guarded(inside: [u32; 2], handler: Handler, pops: usize) -> Parts {
    let mut words = vec![op(Op::LoadPath, INPUT), inside[0], inside[1]];
    words.extend(std::iter::repeat_n(op(Op::Pop, 0), pops));
    words.push(op(Op::Return, 0));
    let mut parts = program(&words);
    parts.handlers.push(handler.row());
    parts
}

const GUARD: Handler = Handler { from: 1, to: 3, height: 1, iters: 0, captures: 0 };

/// Returns a loop over an input whose body writes a string.
fn looping(names: u32, first: u32, slot: u32, back: u32) -> Parts {
    let words = [op(Op::LoadPath, INPUT), op(Op::Iter, names), first, 7, op(Op::Text, 1), op(Op::Next, slot), back];
    program(&[&words[..], &[op(Op::Return, 0)]].concat())
}

fn check(parts: &Parts, texts_in_pool: bool, rules: Rules) -> Result<(), String> {
    let checked = verify(&parts.tables(), texts_in_pool, rules, Maxima::Measure(&mut Vec::new()));
    checked.map_err(|error| error.fields.get("rule").cloned().unwrap_or_default())
}

#[test]
fn programs_of_every_construct_pass() {
    #[rustfmt::skip]
    let whole = program(&[
        op(Op::LoadPath, INPUT),
        op(Op::Iter, 2), 0, 18,
        op(Op::Capture, 0),
        op(Op::TextPath, LOOP), 0, 2,
        op(Op::EndCapture, 0),
        op(Op::CallMemo, 0), 0,
        op(Op::JumpTest, SLOT), 2, 2, 15,
        op(Op::Pop, 0),
        op(Op::Next, 0), 4,
        op(Op::CallChunk, 0), 1,
        op(Op::LoadPath, INPUT),
        op(Op::JumpIf, 23),
        op(Op::Fail, 0),
        op(Op::Return, 0),
    ]);
    for parts in [
        whole,
        naming(&[
            op(Op::LoadPath, INPUT),
            op(Op::CallNamed, 1),
            1,
            op(Op::LoadPath, INPUT),
            op(Op::CallMade, 1),
            0,
            op(Op::Return, 0),
        ]),
        plain(),
        looping(1, 1, 1, 4),
        looping(2, 0, 0, 4),
        guarded([op(Op::LoadPath, 0), op(Op::Not, 0)], GUARD, 2),
    ] {
        assert_eq!(check(&parts, false, Rules::ALL), Ok(()));
    }
}

#[test]
#[rustfmt::skip]
fn each_rule_refuses_programs_that_break_it() {
    let ret = op(Op::Return, 0);
    let load = op(Op::LoadPath, INPUT);
    let broken: Vec<(Rule, &str, Parts)> = vec![
        (Rule::V1, "an opcode that does not exist", program(&[0xFF])),
        (Rule::V1, "another language's opcode", {
            let mut parts = program(&[op(Op::Int, 1), op(Op::Pop, 0), ret]);
            parts.dialect = Dialect::ALL[0];
            parts
        }),
        (Rule::V2, "an operand of an instruction without one", program(&[op(Op::Return, 1)])),
        (Rule::V2, "a literal without a meaning", program(&[op(Op::Lit, 9), op(Op::Pop, 0), ret])),
        (Rule::V2, "an escape mode without a meaning", program(&[op(Op::EmitPath, INPUT), 4, ret])),
        (Rule::V2, "a loop with no name", looping(0, 1, 1, 4)),
        (Rule::V3, "a jump into an instruction", program(&[load, op(Op::JumpIf, 3), op(Op::EmitPath, INPUT), 0, ret])),
        (Rule::V3, "a jump into its own operands", program(&[op(Op::JumpTest, INPUT), 0, 0, 2, ret])),
        (Rule::V3, "a jump out of the code", program(&[load, op(Op::JumpIf, 0xFF_FFFF), ret])),
        (Rule::V3, "a jump into another chunk", {
            let mut parts = program(&[load, op(Op::JumpIf, 3), ret, ret]);
            parts.chunks = vec![ChunkInfo { end: 3, ..ChunkInfo::of(&parts.chunks[0]) }.row(), [0, 3, 4, 0, 0, 0, 0, 0]];
            parts.words[1] = op(Op::JumpIf, 4);
            parts.words.push(ret);
            parts.chunks[1][2] = 5;
            parts.words[3] = op(Op::Text, 1);
            parts
        }),
        (Rule::V3, "a handler that begins in an instruction", {
            let mut parts = program(&[op(Op::EmitPath, INPUT), 0, load, op(Op::Pop, 0), ret]);
            parts.handlers.push(Handler { from: 1, to: 3, height: 0, ..GUARD }.row());
            parts
        }),
        (Rule::V4, "a chunk that runs past its end", program(&[op(Op::Text, 1)])),
        (Rule::V4, "two chunks with one code", but(|parts| parts.chunks.push(parts.chunks[0]))),
        (Rule::V4, "a chunk that begins inside of another", {
            let mut parts = program(&[op(Op::Text, 1), op(Op::Text, 1), ret]);
            parts.chunks.push(ChunkInfo { entry: 1, ..ChunkInfo::of(&parts.chunks[0]) }.row());
            parts
        }),
        (Rule::V4, "words that no chunk has", but(|parts| parts.words.push(ret))),
        (Rule::V5, "a string that does not exist", program(&[op(Op::Text, 99), ret])),
        (Rule::V5, "a string that leaves the text", but(|parts| parts.strings[1] = [7, 8])),
        (Rule::V5, "a string that ends in a character", but(|parts| parts.strings[2] = [5, 6])),
        (Rule::V5, "a number of no kind", but(|parts| parts.numbers[0][0] = 2)),
        (Rule::V5, "another NaN", but(|parts| parts.numbers[1][1] = 1)),
        (Rule::V5, "a number that does not exist", program(&[op(Op::Num, 2), op(Op::Pop, 0), ret])),
        (Rule::V5, "a path between paths", program(&[op(Op::EmitPath, 1), 0, ret])),
        (Rule::V5, "a path with steps that are not there", but(|parts| *parts.paths.last_mut().unwrap() |= 1 << 2)),
        (Rule::V5, "another common case", but(|parts| parts.paths[0] += 1)),
        (Rule::V5, "a root that names no input", but(|parts| parts.globals.clear())),
        (Rule::V5, "a scope that is not whole", but(|parts| parts.scopes[2] = 2)),
        (Rule::V5, "a failure with no code", but(|parts| parts.failures[0] = 1)),
        (Rule::V6, "a slot that the chunk does not have", program(&[load, op(Op::StoreSlot, 2), ret])),
        (Rule::V6, "a run of slots that it does not have", program(&[op(Op::ClearSlots, 1), 2, ret])),
        (Rule::V6, "a root that it does not have", {
            let mut parts = program(&[op(Op::EmitPath, SLOT), 0, ret]);
            parts.chunks[0][3] = 1;
            parts
        }),
        (Rule::V6, "inline caches of no path", but(|parts| parts.properties.caches = 1)),
        (Rule::V6, "a place for no answer", program(&[load, op(Op::CallMemo, 0), 1, op(Op::Pop, 0), ret])),
        (Rule::V7, "less on the stack than is taken", program(&[op(Op::Pop, 0), ret])),
        (Rule::V7, "branches that meet with different heights", program(&[load, op(Op::JumpIf, 3), load, ret])),
        (Rule::V7, "a value that is left", program(&[load, ret])),
        (Rule::V7, "code that nothing leads to", program(&[ret, ret])),
        (Rule::V7, "a handler with another height", guarded([load, op(Op::Not, 0)], Handler { height: 0, ..GUARD }, 2)),
        (Rule::V7, "a handler's code that takes what is not its own", guarded([op(Op::Not, 0), load], GUARD, 2)),
        (Rule::V8, "a second slot that is not there", looping(2, 1, 1, 4)),
        (Rule::V8, "an iteration that begins elsewhere", looping(1, 1, 1, 5)),
        (Rule::V9, "a loop is closed where none is open", program(&[op(Op::EndIter, 0), ret])),
        (Rule::V9, "a capture is closed where a loop is open", program(&[load, op(Op::Iter, 1), 0, 6, op(Op::EndCapture, 0), op(Op::Pop, 0), ret])),
        (Rule::V9, "a capture is open at the end", program(&[op(Op::Capture, 0), ret])),
        (Rule::V9, "values are kept where text is captured", gathering(&[op(Op::Capture, 0), load, op(Op::Keep, 0), op(Op::EndCapture, 0), op(Op::Pop, 0), ret])),
        (Rule::V9, "text is captured where values are gathered", gathering(&[op(Op::Gather, 0), op(Op::EndCapture, 0), op(Op::Pop, 0), ret])),
        (Rule::V9, "a fact of a loop that is not open", program(&[op(Op::EmitPath, LOOP), 0, ret])),
        (Rule::V9, "a handler in another loop", guarded([load, op(Op::Not, 0)], Handler { iters: 1, ..GUARD }, 2)),
        (Rule::V10, "a chunk that does not exist", program(&[op(Op::CallChunk, 1), 0, ret])),
        (Rule::V2, "a delivery without a meaning", naming(&[load, op(Op::CallNamed, 1), 2, ret])),
        (Rule::V7, "less on the stack than a call by name takes", naming(&[load, op(Op::CallNamed, 2), 0, ret])),
        (Rule::V10, "a template made by no function", naming(&[load, op(Op::CallMade, 1), 1, ret])),
        (Rule::V5, "a name of a chunk that is no text", but(|parts| parts.names = vec![[3, 0]])),
        (Rule::V10, "a name of no chunk", but(|parts| parts.names[0][1] = 1)),
        (Rule::V14, "names of chunks out of order", but(|parts| parts.names.reverse())),
        (Rule::V14, "two chunks of one name", but(|parts| parts.names = vec![[0, 0]; 2])),
        (Rule::V6, "a second number of errors that is not there", gathering(&[load, load, op(Op::And, 1), op(Op::Pop, 0), ret])),
        (Rule::V5, "keys that do not exist", gathering(&[op(Op::Map, 1), op(Op::Pop, 0), ret])),
        (Rule::V5, "keys that are not whole", but(|parts| parts.keys[0] = 3)),
        (Rule::V5, "a key without a name", but(|parts| parts.keys[1] = 3)),
        (Rule::V7, "fewer values than keys", gathering(&[load, op(Op::Map, 0), op(Op::Pop, 0), ret])),
        (Rule::V10, "a function that does not exist", gathering(&[load, op(Op::Apply, 1), 1, op(Op::Pop, 0), ret])),
        (Rule::V10, "an argument for no parameter", but(|parts| parts.sites[3] = 1)),
        (Rule::V10, "arguments in another order than recorded", but(|parts| parts.sites[2] = Gate::default().word())),
        (Rule::V10, "a call of nothing", but(|parts| parts.sites[0] = 1)),
        (Rule::V10, "an import of no kind", but(|parts| parts.imports[0][0] = 5)),
        (Rule::V11, "a circle that uses no fuel", program(&[op(Op::Text, 1), op(Op::Jump, 0)])),
        (Rule::V12, "nothing to begin with", but(|parts| parts.chunks[0][4] = 1)),
        (Rule::V13, "a place in no source", but(|parts| parts.spans[0][1] = 1)),
        (Rule::V13, "a place past its source", but(|parts| parts.spans[0][3] = 11)),
        (Rule::V13, "places out of order", but(|parts| parts.spans.push([0, 0, 0, 0]))),
        (Rule::V13, "an operand's place that ends before it begins", but(|parts| parts.details[0][2] = 3)),
        (Rule::V13, "operands out of order", but(|parts| parts.details[1][1] = 1)),
        (Rule::V13, "a call's place past its source", but(|parts| parts.inlined[0][4] = 11)),
        (Rule::V13, "a step without a name", but(|parts| parts.regions[0][2] = 9)),
        (Rule::V13, "code of a step that is not there", but(|parts| parts.regions[1][1] = 9)),
        (Rule::V13, "a name of no text", but(|parts| parts.regions[1] = [0, 1, 9, 3])),
        (Rule::V13, "a note of no text", but(|parts| parts.regions[1] = [0, 1, 9, 2])),
        (Rule::V15, "more answers than calls", but(|parts| parts.properties.memos = 3)),
        (Rule::V15, "strings that share their text", but(|parts| parts.strings.extend([[0, 7]; 4]))),
    ];
    let mut wrong = Vec::new();
    for (rule, what, parts) in &broken {
        let refused = check(parts, false, Rules::ALL);
        if refused != Err(rule.to_string()) {
            wrong.push(format!("{rule}: {what}: {refused:?}"));
        }
        let without = check(parts, false, Rules::without(*rule));
        if without != Ok(()) {
            wrong.push(format!("{rule} off: {what}: {without:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for number in (1..=15).filter(|number| *number != 14) {
        assert!(broken.iter().any(|(rule, ..)| rule.to_string() == format!("V{number}")), "V{number}");
    }
}

#[test]
fn a_text_of_a_loaded_source_is_a_piece_of_the_pool() {
    let parts = plain();
    assert_eq!(check(&parts, true, Rules::ALL), Err("V13".into()));
    assert_eq!(check(&parts, true, Rules::without(Rule::V13)), Ok(()));
}

#[test]
fn a_chunk_declares_the_heights_it_has() {
    let mut parts = program(&[op(Op::LoadPath, INPUT), op(Op::Pop, 0), op(Op::Return, 0)]);
    let compare = |parts: &Parts, rules| verify(&parts.tables(), false, rules, Maxima::Compare);
    let error = compare(&parts, Rules::ALL).unwrap_err();
    assert_eq!(error.code, Code::CorruptProgram);
    assert_eq!(error.fields.get("rule").map(String::as_str), Some("V7"));
    assert!(compare(&parts, Rules::without(Rule::V7)).is_ok());
    parts.chunks[0][5] = 1;
    assert!(compare(&parts, Rules::ALL).is_ok());
}
