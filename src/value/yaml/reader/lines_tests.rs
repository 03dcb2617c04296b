//! Texts read line by line are those that the parser reads.

use std::sync::Arc;

use super::Tags;
use super::{read_events, read_lines};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;

/// Pieces of texts, of which most go together.
const PIECES: &[&str] = &[
    "a",
    "b: ",
    "c:",
    "key: value",
    "\n",
    "\n",
    "\n  ",
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    "- ",
    "- ",
    "-",
    "'",
    "\"",
    "'x y'",
    "'it''s'",
    "\"a\\\"b\"",
    "[\n",
    ",\n",
    "\n  | \n",
    "\"x\\n\"",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "{a: 1}",
    "[1, b]",
    "|\n",
    "|-\n",
    "|+\n",
    "#",
    " # x",
    "\n---\n",
    "---",
    "...",
    ": ",
    ":",
    " ",
    "  ",
    "1",
    "null",
    "~",
    "\na: &x",
    "\nb: *x",
    "{a: *x}",
    "&x ",
    "*x",
    "!t ",
    "?",
    "? ",
    "é",
    "<<: ",
    "${x}",
    "\\",
    ">",
    "\t",
    "%",
    "@",
    ",",
    "=",
];

/// Returns numbers that look like chance.
fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    }
}

/// Compares what is read of a text. Returns `true` if it was read line by line.
fn is_same(text: &str) -> bool {
    let (source, limits): (Arc<Source>, _) = (Source::new("in.yaml", text), Limits::default());
    let Some(found) = read_lines(&source, &limits, Tags::Kept) else { return false };
    let expected = read_events(&source, &limits, Tags::Kept).map_err(|errors| format!("{errors:?}"));
    assert_eq!(found.map_err(|errors| format!("{errors:?}")), expected, "{text:?}");
    true
}

/// Pieces of quoted scalars on several lines.
const QUOTED: &[&str] = &[
    "a", "b ", " ", "\n    ", "\n    ", "\n   ", "\n", "\n      ", "\\", "\\\n    ", "\\ ", "\\n", "\\t", "\\\"",
    "\\x41", "\\u00e9", "\\0", "\\e", "''", "é", "\t", "#", ": ", "- ",
];

#[test]
fn quoted_scalars_on_several_lines_are_folded() {
    let count = std::env::var("YAML_TEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let mut next = numbers(0x2545_F491_4F6C_DD1D);
    let mut same = 0;
    for _ in 0..count {
        let length = next(9);
        let text: String = (0..length).map(|_| QUOTED[next(QUOTED.len())]).collect();
        let quote = ["\"", "'"][next(2)];
        let head = ["k: ", "- ", "k:\n  - a: ", "k:\n  ", "", "k: ["][next(6)];
        let tail = ["\n", "\nl: 1\n", " # c\n", "", "]\n"][next(5)];
        same += usize::from(is_same(&format!("{head}{quote}{text}{quote}{tail}")));
    }
    assert!(same * 5 > count, "only {same} texts are read line by line");
}

/// Pieces of plain scalars on several lines.
const PLAIN: &[&str] = &[
    "a",
    "b c",
    " ",
    "\n    ",
    "\n    d",
    "\n   ",
    "\n",
    "\n\n    e",
    "\n      f",
    " # c",
    "#",
    "\n    # c",
    ":",
    ": ",
    "\n    - g",
    "-",
    "\n    \"h\"",
    "\n    [i]",
    "\n    'j",
    "1",
    "null",
    "\n    .inf",
    "\n  k: l",
    "\n    &m",
    "\t",
    "é",
    "\n---\n",
    ",",
    "\n    |",
];

#[test]
fn plain_scalars_on_several_lines_are_folded() {
    let count = std::env::var("YAML_TEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let mut next = numbers(0x1405_7B7E_F767_814F);
    let mut same = 0;
    for _ in 0..count {
        let length = 1 + next(7);
        let text: String = (0..length).map(|_| PLAIN[next(PLAIN.len())]).collect();
        let head = ["k: a", "- a", "k:\n  - a: a", "k:\n  a", "a", "k: &x a", "k: [a"][next(7)];
        let tail = ["\n", "\nl: 1\n", "\n  - n\n", "", "]\n"][next(5)];
        same += usize::from(is_same(&format!("{head}{text}{tail}")));
    }
    assert!(same * 10 > count, "only {same} texts are read line by line");
}

#[test]
fn any_text_is_read_as_the_parser_reads_it() {
    let count = std::env::var("YAML_TEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let mut next = numbers(0x9E37_79B9_7F4A_7C15);
    let mut same = 0;
    for _ in 0..count {
        let length = 1 + next(14);
        let text: String = (0..length).map(|_| PIECES[next(PIECES.len())]).collect();
        same += usize::from(is_same(&text));
    }
    assert!(same * 20 > count, "only {same} texts are read line by line");
}
