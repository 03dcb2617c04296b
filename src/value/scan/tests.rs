use super::Scanner;
use crate::Arena;
use crate::marshal::Numbers;
use crate::yaml::libyaml;
use crate::yaml::{Tags, read_with};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;

/// Returns the answer of the scanner. Checks that the readers take what the scanner takes.
fn scans(text: &str) -> bool {
    let scanned = Scanner::new().is_yaml(text);
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    if scanned && let Err(errors) = read_with(&Source::new("t", text), &limits, Tags::Kept) {
        panic!("{text:?}: {}", errors[0]);
    }
    if scanned && let Err(why) = libyaml::read_all(&Arena::new(), text, Numbers::Floats, 128) {
        panic!("{text:?}: {why}");
    }
    scanned
}

#[test]
fn everyday_yaml_is_recognised() {
    let texts = [
        "",
        "\n# nothing\n",
        "a: 1\n",
        "a: 1",
        "--- # first\na: b c\n---\n---\n- x\n",
        "a:\n- 1\n- b: 2\n  c:\n  - 3\nd: e\n",
        "a:\n  - - 1\n    - 2\n  -\n    b: c\n  - # nothing\nd:\n",
        "a: # comment\n  b: c # comment\n# comment\n  d: e\n",
        "a: |\n  text: {{ x }}\n\n    - [\n  # no comment\nb: >-\n  folded\n   more\n# comment\nc: |+\nd: |\n",
        "- |\n  make:\n  \ta\n- >\n\n\n  b\n",
        "a: \"x \\\" \\u00e9 \\n\"\nb: 'it''s'\n\"c d\": 1\n'e': \"two\n  lines\n\n  here\"\n",
        "a: one\n  two\n\n  three # comment\nb: - x\n".get(..35).unwrap(),
        "a: {b: c, \"d\":1, 'e': [f, {g: h}], i: {}, j: []}\nk: [\n  1, # one\n  2,\n]\n".get(..49).unwrap(),
        "a: [\n  1, # one\n  2,\n  ]\nb: {\n    c: d,\n  }\n",
        "{\n  \"a\": [1, 2],\n  \"b\": {}\n}\n",
        "a: &x\n  b: c\nd: !Ref e\nf: &y !Sub \"z\"\ng: !GetAtt\n  h: i\n",
        "url: http://x:80/#top\ntime: 12:30:45\nargs: [--flag=-1, -x, a:b]\nx: -1\ny: a#b\n",
        "1.2.3: a\n10: b\n\"11\": c\ntrue: e\nname: f\nnulls: g\ninf: .info.x\n",
        "a: one of\n  [\"b\", \"c\"], which\n  {d} or [e\nb:\n- c\n  [d\n",
        "ключ: значение – “x”\nnbsp: \u{a0}\n",
    ];
    for text in texts {
        assert!(scans(text), "{text:?}");
    }
}

#[test]
fn what_readers_refuse_is_not_recognised() {
    let texts = [
        "a: 1\na: 2\n",
        "a: {b: 1, b: 2}\n",
        "a: 1\n\"a\": 2\n",
        "1: a\n0x1: b\n",
        "null: a\n~: b\n",
        "a:\n\tb: 1\n",
        "a: b: c\n",
        "a: - b\n",
        "a:\n  b: 1\n c: 2\n",
        "a: [1, 2\n",
        "a: \"x\nb: 1\n",
        "a: 'x\n",
        "a: {{ x }}\n",
        "{{ x }}: a\n",
        "a: x\n- b\n",
        "a: @x\n",
        "a: `x\n",
        "a: %x\n",
        "a: *b\n",
        "a: \"\\q\"\n",
        "a: \"\\ud800\"\n",
        "a: \"b\" c\n",
        "a: [b] c\n",
        "a: \u{0}\n",
        "a: \u{7}\n",
        "- a\nb\n",
        "a: |\n    x\n  y\n",
        "a: |\n      \n  y\n",
        "<<: 1\n",
        // Some readers refuse these.
        "null: a\n",
        "a: {null: b}\n",
        "a: .inf\n",
        "a: [-.Inf]\n",
        "- .NaN\n",
        "a: \"\\/\"\n",
        "a: [b?c]\n",
        "a: [:b]\n",
        "a: :\n",
        "Null: a\nTRUE: b\n",
        // An indicator in a further line of a plain scalar is one elsewhere.
        "a: b\n[c: d\n",
        "a: b\n  [c: d]\n",
        "a: ]b\n",
    ];
    for text in texts {
        assert!(!Scanner::new().is_yaml(text), "{text:?}");
    }
}

#[test]
fn entries_of_a_map_are_documents() {
    let text = "# head\na: |\n  x: 1\n# c\n\n'b c':\n- d: 1\n  e: [f,\n   g]\n\"h\": i\n  j\n";
    let mut scanner = Scanner::new();
    let found: Vec<_> = scanner.entries(text).unwrap().collect();
    let lines = ["a: |\n  x: 1\n# c\n\n", "'b c':\n- d: 1\n  e: [f,\n   g]\n", "\"h\": i\n  j\n"];
    assert_eq!(found, [("a", lines[0]), ("b c", lines[1]), ("h", lines[2])]);
    for text in
        ["", "# a\n", "- a: 1\n", "{a: 1}\n", " a: 1\n", "--- #\na: 1\n", "a: 1\n---\nb: 2\n", "a: 1\na: 2\n", "a\n"]
    {
        assert!(scanner.entries(text).is_none(), "{text:?}");
    }
}

fn remembering() -> Scanner {
    let mut scanner = Scanner::new();
    scanner.remember();
    scanner
}

#[test]
fn memory_of_one_scan_does_not_reach_the_next() {
    let mut scanner = remembering();
    assert!(!scanner.is_yaml("a: {b: [c, {d: \"\n"));
    assert!(scanner.is_yaml("a: 1\n"));
    assert!(!scanner.is_json("{\"a\": [{"));
    assert!(scanner.is_json("{\"a\": 1}"));
}

#[test]
fn lines_that_are_known_are_judged_by_what_is_around_them() {
    let first = "a: |\n  x\nb:\n  c: 1\n  d: &x\n    e: f\ng: [1,\n  2]\n- {}\nh: \"i\n  j\"\n";
    let lines: Vec<&str> = first.split_inclusive('\n').collect();
    let mut scanner = remembering();
    assert!(scanner.is_yaml("a: 1\n"));
    // Each two lines in each order, with more after them that may belong to them.
    for (one, other) in lines.iter().flat_map(|one| lines.iter().map(move |other| (one, other))) {
        for more in
            ["", "  y\n", "    z: 1\n", "\n", "b: 1\n", "b:-- \"1\"\n", " # c\n", "\u{0}\n", "é\u{85}\n", "c: 2", "b:"]
        {
            for text in
                [format!("{one}{other}{more}"), format!("{one}{more}{other}"), format!("b:\n  {one}{other}{more}")]
            {
                assert_eq!(scanner.is_yaml(&text), scans(&text), "{text:?}");
            }
        }
    }
}

#[test]
fn flow_collections_that_are_known_are_judged_by_what_differs() {
    let texts = [
        "a: {b: c, \"d\": [e, 'f', {g: -1}]} # h\ni: 1\n",
        "- {a: b, c: d}\n- [1, [2, x y], {}]\n",
        "{ \"a\": \"b\", \"c\": [ { \"d\": \"e\" } ],\n  \"f\": g }\n---\na: [b,\n  c]\n",
    ];
    for text in texts {
        assert!(scans(text), "{text:?}");
        let mut scanner = remembering();
        for at in 0..text.len() {
            for new in [
                "", "x", "é", "\u{85}", " ", "\n", "\n  ", ":", ": ", ",", "[", "]", "{", "}", "\"", "'", "#", " #",
                "-", "&", "*", "?", "x, a: y",
            ] {
                let other = format!("{}{new}{}", &text[..at], &text[at + 1..]);
                assert!(scanner.is_yaml(text), "{text:?}");
                assert_eq!(scanner.is_yaml(&other), scans(&other), "{other:?}");
                let longer = format!("{}{new}{}", &text[..at], &text[at..]);
                assert_eq!(scanner.is_yaml(&longer), scans(&longer), "{longer:?}");
            }
        }
    }
}

#[test]
fn values_in_known_lines_are_judged_by_what_is_around_them() {
    let constants = [
        "a: ",
        "\nb: ",
        "\n  c: ",
        "\n- ",
        "-x",
        "\n---\n",
        "---\n",
        "kind: ",
        "\nkind: A\n",
        "{a: ",
        ", kind: ",
        "}\n",
        "]\n",
        "[",
        "\"",
        "\"\n",
        "'",
        "\\",
        ":",
        " ",
        " # ",
        "\n",
        "\n\n",
        ": |\n  ",
        "\nd: |\n  e\n f: ",
        "\nd: &x\n  e: ",
        "\n  ",
        "\n# c\n",
        "x: 1\nx: ",
        ": \n",
        "\n    - y: ",
        ".",
        "",
    ];
    let values = [
        "", "", "x", "x", "y-1", "x y", "a: b", "x:y", "#", "x #y", " ", "  ", "\n", "x\n", "\n  y", "-", "- z", "'",
        "\"", "\\", ".inf", "-1", "kind", "kind: B", "|", "&x", "[", "[z]", "{", "é", "\u{85}", "\t", ",", "?", "---",
        "null",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    let (mut all, mut valid) = (0, 0);
    for _ in 0..2_000 {
        let mut scanner = remembering();
        let length = 2 * random.usize(1..5);
        let start: Vec<usize> = (0..length).map(|_| random.usize(..)).collect();
        for _ in 0..60 {
            let mut picks = start.clone();
            for _ in 0..random.usize(0..3) {
                let at = random.usize(..length);
                picks[at] = random.usize(..);
            }
            let part = |(nth, pick): (usize, &usize)| {
                let parts = if nth % 2 == 0 { &values[..] } else { &constants[..] };
                parts[pick % parts.len()]
            };
            let text: String = picks.iter().enumerate().map(part).collect();
            let mut other = Scanner::new();
            let right = other.is_yaml(&text);
            assert_eq!(scanner.is_yaml(&text), right, "{text:?}");
            if right {
                assert_eq!(scanner.marks(), other.marks(), "{text:?}");
            }
            (all, valid) = (all + 1, valid + usize::from(right));
        }
    }
    assert!(valid > all / 20, "{valid} of {all}");
}

#[test]
fn memory_of_lines_is_bounded() {
    let mut scanner = remembering();
    for at in 0..6 {
        let text: String = (0..40_000).map(|key| format!("k{key}: {{v{at}: [{key}]}}\n")).collect();
        assert!(scanner.is_yaml(&text), "{at}");
    }
    let repeats = scanner.repeats.as_ref().unwrap();
    assert!(repeats.nest.len() < 400_000);
    // Many keys of one map, and a text that is too long to be remembered.
    let long = "a: b\n".repeat(1 << 20);
    assert!(!scanner.is_yaml(&long));
    assert!(scanner.is_yaml("a: b\n") && !scanner.is_yaml("a: b\na: b\n"));
}

#[test]
fn duplicates_are_found_in_maps_of_any_size_and_only_there() {
    for n in [2, 12, 13, 5_000] {
        let map = |last: usize| (0..n).map(move |at| format!("k{}: {{a: 1}}\n", if at == n - 1 { last } else { at }));
        assert!(scans(&map(n).collect::<String>()), "{n}");
        assert!(!scans(&map(0).collect::<String>()), "{n}");
    }
    assert!(scans("a: {x: 1}\nb: {x: 1}\nc:\n  - x: 1\n  - x: 1\n---\na: 1\n"));
}

#[test]
fn json_is_recognised() {
    let texts = [
        "{}",
        " [1, -0, 1.5e-3, \"\\u00e9\\n\", true, false, null, {\"a\": {\"b\": []}}]\r\n",
        "\"x\"",
        "{\"a\": 1, \"b\": 2}",
    ];
    for text in texts {
        assert!(Scanner::new().is_json(text) && serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
    }
}

#[test]
fn what_json_readers_refuse_is_not_recognised() {
    let texts = [
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a: 1}",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "1e999",
        "nul",
        "\"\n\"",
        "\"\\q\"",
        "\"\\ud800\"",
        "[1] 2",
        "{\"a\": 1, \"a\": 2}",
        "{\"a\": 1, \"\\u0061\": 2}",
        "[1 2]",
        "[,1]",
        "{\"a\":}",
        "]",
        "'a'",
        "\u{feff}{}",
    ];
    for text in texts {
        assert!(!Scanner::new().is_json(text), "{text}");
    }
}

#[test]
fn hostile_text_is_scanned_in_one_pass_without_recursion() {
    let n = 1 << 20;
    for text in [
        "[".repeat(n),
        "{a: ".repeat(n),
        "- ".repeat(n),
        "a: &x ".repeat(n),
        format!("a: {}", "b ".repeat(n)),
        format!("a: \"{}\"", "b\\n".repeat(n)),
        format!("{}: 1", "k".repeat(n)),
        "'".repeat(n),
        format!("a: |\n{}", "\n".repeat(n)),
        (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(),
    ] {
        scans(text.get(..100_000.min(text.len())).unwrap());
        let mut scanner = remembering();
        scanner.is_yaml(&text);
        scanner.is_json(&text);
        assert!(scanner.nest.depth() <= 127);
    }
    let one_line = format!("a: [{}1]\n", "\"x\", ".repeat(2 * n));
    assert!(Scanner::new().is_yaml(&one_line));
    assert!(!Scanner::new().is_yaml("\u{feff}a: 1\n"));
    assert!(!Scanner::new().is_yaml("a: 1\r\nb: 2\r\n"));
}
