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
