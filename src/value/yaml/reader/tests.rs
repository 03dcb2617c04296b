//! YAML parsing, with hostile inputs, and the notation of numbers.

use std::sync::Arc;

use crate::yaml::{Kind, Node, Tags, read, read_data, read_one, read_with, to_string};
use crate::{Data, DataMap};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};

fn source(text: &str) -> Arc<Source> {
    Source::new("in.yaml", text)
}

fn json(text: &str) -> String {
    serde_json::to_string(&read_data(&source(text), &Limits::default()).expect("readable")).expect("json")
}

fn errors(text: &str) -> Vec<Box<Diagnostic>> {
    read(&source(text), &Limits::default()).expect_err("an error")
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    let table = [
        ("yes", "\"yes\""),
        ("No", "\"No\""),
        ("on", "\"on\""),
        ("true", "true"),
        ("FALSE", "false"),
        ("tRue", "\"tRue\""),
        ("~", "null"),
        ("NULL", "null"),
        ("012", "12"),
        ("0o14", "12"),
        ("0x1F", "31"),
        ("0x", "\"0x\""),
        ("-0x1", "\"-0x1\""),
        ("+7", "7"),
        ("1_000", "\"1_000\""),
        ("12:30:45", "\"12:30:45\""),
        ("2024-01-02", "\"2024-01-02\""),
        ("1e3", "1000.0"),
        (".5", "0.5"),
        ("5.", "5.0"),
        (".", "\".\""),
        ("1.2.3", "\"1.2.3\""),
        ("e3", "\"e3\""),
        ("1e", "\"1e\""),
        ("-", "[null]"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809"),
        // Beyond 64 bits no digit is lost.
        ("0x10000000000000800", "18446744073709553664"),
        ("0x10000000000000801", "18446744073709553665"),
        ("0x100000000000008000000000000000001", "340282366920938501242306470388929921025"),
        ("0o2000000000000000004001", "18446744073709553665"),
        ("012345678901234567890123", "12345678901234567890123"),
        ("+.12345678901234567890", "0.12345678901234567890"),
        ("inf", "\"inf\""),
        ("'1'", "\"1\""),
        ("!!str 1", "\"1\""),
        ("!!int '1'", "1"),
        ("!!float 1", "1.0"),
        ("! 1", "\"1\""),
        ("!!str", "\"\""),
    ];
    for (text, wanted) in table {
        assert_eq!(json(text).replace("e18", "e+18"), wanted, "{text}");
    }
    assert_eq!(read_data(&source("-.inf"), &Limits::default()).unwrap(), Data::Float(f64::NEG_INFINITY));
}

#[test]
fn keys_become_text_and_keep_their_order() {
    assert_eq!(
        json("z: 1\n0x10: 2\ntrue: 3\n~: 4\n'': 5\n1.50: 6\n"),
        r#"{"z":1,"16":2,"true":3,"null":4,"":5,"1.5":6}"#
    );
    assert_eq!(errors("[a]: 1\n")[0].position().unwrap().to_string(), "1:1");
}

#[test]
fn duplicate_keys_are_errors_with_both_places() {
    let found = errors("a: 1\nb: {x: 1, 'x': 2}\n1: x\n0x1: y\na: 2\n");
    let places: Vec<Vec<String>> =
        found.iter().map(|e| e.labels.iter().map(|label| label.position().to_string()).collect()).collect();
    assert_eq!(places, [["2:11", "2:5"], ["4:1", "3:1"], ["5:1", "1:1"]]);
    assert!(found.iter().all(|e| e.code == Code::DuplicateKey));
    let many: String = (0..1000).map(|n| format!("k{n}: 1\n")).collect();
    assert_eq!(errors(&format!("{many}k7: 2\n")).len(), 1);
}

#[test]
fn merge_keys_are_unfolded_where_they_stand() {
    let text = "base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\nm:\n  first: 0\n  <<: [*b, *o]\n  x: 9\n";
    let merged = read_data(&source(text), &Limits::default()).unwrap();
    assert_eq!(serde_json::to_string(merged.get("m").unwrap()).unwrap(), r#"{"first":0,"y":2,"z":4,"x":9}"#);
    assert_eq!(json("'<<': 1"), r#"{"<<":1}"#);
    assert_eq!(errors("<<: 1")[0].code, Code::InputSyntax);
    assert_eq!(errors("a: &a {x: 1}\nb: {<<: *a, <<: *a}")[0].code, Code::DuplicateKey);
}

#[test]
fn streams_empty_files_and_marks() {
    let count = |text: &str| read(&source(text), &Limits::default()).unwrap().len();
    assert_eq!([count(""), count("# x"), count("---\n"), count("a\n---\nb\n...\n")], [0, 0, 1, 2]);
    assert_eq!(json("\u{feff}a: 1\r\nb: |\r\n  x\r\n  y\r\n"), r#"{"a":1,"b":"x\ny\n"}"#);
    assert_eq!(
        read_one(&source("a\n---\nb"), &Limits::default()).unwrap_err()[0].position().unwrap().to_string(),
        "3:1"
    );
    assert_eq!(errors("a:\n\tb: 1\n")[0].position().unwrap().to_string(), "2:1");
}

#[test]
fn faults_say_where() {
    for (text, place) in [
        ("a: [1\nb: 2", "1:4"),
        ("a: *nope", "1:4"),
        ("a: &x [*x]", "1:8"),
        ("a: !secret x", "1:12"),
        ("a: !!int x", "1:10"),
        ("a: @x", "1:4"),
        ("a: \"x", "1:4"),
        ("%FOO", "1:5"),
    ] {
        let found = errors(text);
        assert_eq!(found[0].position().map(|at| at.to_string()).as_deref(), Some(place), "{text}: {found:?}");
    }
}

#[test]
fn positions_within_scalars_are_exact() {
    let file = "a: pre X post\nb: 'it''s X'\nc: \"t\\t\\u00e9\\x41 é X\"\nd: |\n\n  one\n    two X\n  é X three\n  \
                |X\ne: >\n  folded X\nf: multi\n  X\ng: |2\n    lead X\n";
    let source = source(file);
    let root = read_one(&source, &Limits::default()).unwrap();
    for (key, exact) in [("a", true), ("b", true), ("c", true), ("d", true), ("e", true), ("f", true), ("g", true)] {
        let node = root.get(key).unwrap();
        for (at, _) in node.text.match_indices('X') {
            let found = node.locate(&source, Span::of(at..at + 1));
            assert_eq!(source.slice(found) == "X", exact, "{key} {at}");
            assert!(exact || found == node.span);
        }
        let end = node.text.len();
        let _ = node.locate(&source, Span::of(end..end + 5));
    }
    let d = root.get("d").unwrap();
    let lines: Vec<u32> = d
        .text
        .match_indices('X')
        .map(|(at, _)| source.position(d.locate(&source, Span::of(at..at + 1)).start).line)
        .collect();
    assert_eq!(lines, [7, 8, 9]);
}

#[test]
fn each_place_of_a_text_is_found_whatever_its_style() {
    for file in [
        "X a X",
        "X\n  X\n\n  X\n\n\n  X",
        "'X ''X''\n\n   \n  X  \n X'",
        "\"X\\\n   X\\n\\\n  \\  X\\u00e9X\\\" \\\n\n\n X \\xe9\\U0001F600X\\N\\LX\n\n X\"",
        "|\n\n  X\n    X\n\n\n  X",
        "|1\n   X\n \n X\n",
        "|+\n  X\n\n  é X\n\n",
        "|\r\n  X\r\n\r\n  X\r\n",
        ">\n  X X\n  X\n\n  X\n    X\n    X\n  X\n\n\n  X\n",
        ">-\n\n\n  X\n  X\n",
        ">\n   X\n \n\n   X\n",
        ">+\n  X\r\n  X\n\n",
    ] {
        let source = source(&format!("k: {file}"));
        let root = read_one(&source, &Limits::default()).unwrap();
        let node = root.get("k").unwrap();
        let places = node.places(&source).unwrap_or_else(|| panic!("{file:?} {node:?}"));
        let found: Vec<u32> = node.text.match_indices('X').map(|(at, _)| places.offset(at as u32)).collect();
        let wholes = node.text.match_indices('X').map(|(at, _)| source.slice(places.span(Span::of(at..at + 1))));
        assert!(
            file.starts_with('"') || wholes.clone().all(|whole| whole == "X"),
            "{file:?} {:?}",
            wholes.collect::<Vec<_>>()
        );
        let wanted: Vec<u32> = source.text().match_indices('X').map(|(at, _)| at as u32).collect();
        assert_eq!(found, wanted, "{file:?} {:?}", node.text);
        let cut = |from: usize| places.part(Span::of(from..node.text.len())).offset(0);
        assert!(node.text.match_indices('X').map(|(at, _)| cut(at)).eq(wanted), "{file:?}");
    }
}

#[test]
fn unknown_tags_are_kept_on_request() {
    let source = source("a: !x 1\nb: !y {c: !z 'q'}\nd: !!str 1\ne: !w [1]\n");
    let root = read_with(&source, &Limits::default(), Tags::Kept).unwrap().remove(0);
    let at = |path: &[&str]| path.iter().fold(&root, |node, key| node.get(key).unwrap()).clone();
    let tag = |path: &[&str]| at(path).tag.map(|tag| tag.to_string());
    assert_eq!([tag(&["a"]), tag(&["b"]), tag(&["b", "c"])], ["!x", "!y", "!z"].map(|tag| Some(tag.to_owned())));
    assert_eq!([tag(&["d"]), tag(&["e"])], ["!!str", "!w"].map(|tag| Some(tag.to_owned())));
    assert_eq!((at(&["a"]).kind, at(&["b", "c"]).kind), (Kind::Int(1), Kind::Str));
}

#[test]
fn an_alias_is_placed_where_it_stands() {
    let source = source("a: &x some text\nb: *x\n");
    let root = read_one(&source, &Limits::default()).unwrap();
    assert_eq!(source.slice(root.get("b").unwrap().locate(&source, Span::new(5, 9))), "*x");
}

#[test]
fn bombs_end_in_a_limit() {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..30 {
        let refs = vec![format!("*a{}", n - 1); 10].join(", ");
        laughs.push_str(&format!("a{n}: &a{n} [{refs}]\n"));
    }
    assert_eq!(errors(&laughs).last().unwrap().code, Code::LimitMemory);
    let mut merges = "m0: &m0 {a: 1}\n".to_owned();
    for n in 1..200 {
        merges.push_str(&format!("m{n}: &m{n} {{<<: *m{}, k{n}: {{<<: *m{}}}}}\n", n - 1, n - 1));
    }
    assert_eq!(errors(&merges).last().unwrap().code, Code::LimitMemory);
    let text = "x".repeat(100_000);
    let quadratic = format!("t: &t {text}\nl: [{}]\n", vec!["*t"; 1000].join(","));
    assert_eq!(errors(&quadratic).last().unwrap().code, Code::LimitMemory);
    for deep in ["[".repeat(100_000), "{a: ".repeat(50_000), "- ".repeat(100_000), "? ".repeat(100_000)] {
        assert_eq!(errors(&deep).last().unwrap().code, Code::LimitDepth, "{}", &deep[..4]);
    }
    let wide = format!("[{}]", "1,".repeat(100_000));
    assert!(read(&source(&wide), &Limits::default()).is_ok());
    let many = format!("a: &a {{x: 1}}\nl:\n{}", "  - *a\n".repeat(3000));
    assert!(read(&source(&many), &Limits::default()).is_ok());
}

#[test]
fn every_truncation_and_substitution_gives_an_answer() {
    let file = "a: &b {x: [1, 'q', \"d\\n\"]}\nc: !!str |+\n  t\n\n? *b\n: - 1\n  - <<: *b\n--- # é\n{k: v}\n";
    for end in (0..=file.len()).filter(|&end| file.is_char_boundary(end)) {
        let _ = read(&source(&file[..end]), &Limits::default());
    }
    for (at, old) in file.char_indices() {
        for new in ["\0", "\n", "\"", "\t", "{", "}", "&", "*", "\u{feff}", "é", ":", "%"] {
            let changed = format!("{}{new}{}", &file[..at], &file[at + old.len_utf8()..]);
            if let Ok(documents) = read(&source(&changed), &Limits::default()) {
                documents.iter().for_each(|node| drop(node.to_data()));
            }
        }
    }
}

#[test]
fn numbers_have_one_spelling() {
    let table = [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e21, "1.0e+21"),
        (1.5e-9, "1.5e-9"),
        (0.1, "0.1"),
        (1e300, "1.0e+300"),
        (f64::MAX, "1.7976931348623157e+308"),
        (5e-324, "5.0e-324"),
        (f64::INFINITY, ".inf"),
        (f64::NEG_INFINITY, "-.inf"),
        (f64::NAN, ".nan"),
    ];
    for (n, wanted) in table {
        let written = to_string(&Data::Float(n));
        assert_eq!(written, format!("{wanted}\n"));
        let Node { kind: Kind::Float(back), .. } = read_one(&source(&written), &Limits::default()).unwrap() else {
            panic!("{written} is not a float")
        };
        assert!(back.to_bits() == n.to_bits() || n.is_nan());
    }
    assert_eq!(to_string(&Data::Uint(u64::MAX)), "18446744073709551615\n");
    assert_eq!(to_string(&Data::List(vec![])), "[]\n");
    assert_eq!(
        to_string(&Data::List(vec![Data::Map(DataMap::default()), Data::List(vec![Data::Null])])),
        "- {}\n- - null\n"
    );
}

#[test]
fn places_end_with_the_file() {
    for text in ["x: |\n  l", "x: |+\n  l", "x: >\n  l\n  m", "- |\n    l", "x: |-\n  l\n ", "x: |\n  l\n  "] {
        let source = Source::new("in.yaml", text);
        let root = read_one(&source, &Limits::default()).unwrap();
        let node = root.get("x").or_else(|| root.as_list()?.first()).unwrap();
        let length = Span::of(0..text.len()).end;
        let whole = Span::of(0..node.text.len());
        assert!(node.span.end <= length && node.locate(&source, whole).end <= length, "{text:?} {:?}", node.span);
        for at in 0..=node.text.len() {
            assert!(node.locate(&source, Span::of(at..at)).end <= length, "{text:?} {at}");
        }
    }
}

#[test]
fn duplicate_keys_beyond_the_limit_are_counted() {
    let text = "a: 1\n".repeat(5_000) + &format!("{}: 1\n", "k".repeat(1_000)).repeat(2);
    let found = errors(&text);
    assert_eq!(found.len(), Limits::default().diagnostics);
    assert_eq!(found.last().unwrap().notes, ["and 4,900 more diagnostics: the limit is 100"]);
    let long = format!("{}: 1\n", "k".repeat(1_000)).repeat(2);
    let printed = errors(&long).iter().map(|error| error.render(false)).collect::<String>();
    assert!(printed.lines().all(|line| line.len() < 500), "{printed}");
}

#[test]
fn tabs_in_indentation_are_named_at_their_place() {
    for (text, place) in [
        ("a: 1\nb:\n\tc: 2\n", "3:1"),
        ("a:\n  b: 1\n\tc: 2\n", "3:1"),
        ("a:\n  - b: 1\n  \t c: 2\n", "3:3"),
        ("a:\n\t- 1\n\t- 2\n", "2:1"),
        ("\ta: 1\n\tb: 2\n", "1:1"),
    ] {
        let errors = read(&Source::new("t", text), &Limits::default()).expect_err(text);
        let error = errors.first().expect("an error");
        let found = error.position().map(|at| format!("{}:{}", at.line, at.column));
        assert_eq!(found.as_deref(), Some(place), "{text:?}: {error}");
        assert_eq!(error.help.as_deref(), Some("indent with spaces, not with tabs"), "{text:?}");
    }
    for other in ["a: [1\nb: {\n", "a: |\n  \tx\nb: @x"] {
        let errors = read(&Source::new("t", other), &Limits::default()).expect_err("no YAML");
        assert!(errors[0].help.as_ref().is_none_or(|help| !help.contains("tabs")), "{other:?}");
    }
}

#[test]
fn reading_takes_no_more_memory_and_time_than_allowed() {
    let text = format!("[{}]", "1,".repeat(50_000));
    let code = |limits: &Limits| read(&source(&text), limits).map(|read| read.len()).map_err(|errors| errors[0].code);
    assert_eq!(code(&Limits::default()), Ok(1));
    assert_eq!(code(&Limits { memory: 1 << 20, ..Limits::default() }), Err(Code::LimitMemory));
    assert_eq!(code(&Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() }), Err(Code::LimitTime));
}

#[test]
fn a_long_key_is_not_repeated_in_its_error() {
    let text = format!("? {0}\n: 1\n? {0}\n: 2\n", "é".repeat(10_000));
    let message = &errors(&text)[0].message;
    assert!(message.starts_with("the key `éé") && message.ends_with("…` is given twice") && message.len() < 200);
}

#[test]
fn mistakes_have_the_place_and_the_fix() {
    for (text, place, what, fix) in [
        ("a:\n  b: \"x\n  c: 'y'\nd: 1\n", "2:6", "the quote is not closed", "add the closing \""),
        ("a:\n    b: 1\n  c: 2\n", "3:3", "the indentation of this line, 2 spaces,", "indent it by 0 or 4 spaces"),
        ("a: %{x}\n", "1:4", "an unquoted value cannot begin with `%`", "put it in quotes: `\"%{x}\"`"),
        ("a: b: c\n", "1:5", "needs quotes", "`a: \"b: c\"`"),
        ("a:1\nb: 2\n", "1:1", "a key needs a space after its `:`", "write `a: 1`"),
        ("x: 1\nl: [1,\n  2\nb: 3\n", "2:4", "`[` is not closed", "add the closing `]`"),
        ("a: *x\n", "1:4", "an anchor `&x`", "`\"*x\"`"),
        ("a: - 1\n", "1:4", "a list cannot begin after a key", "on a line of its own"),
        ("a: \"x\\q\"\n", "1:4", "unknown escape", "single quotes"),
        ("a: 'x' y\n", "1:8", "continues after its closing quote", "quotes of the other kind"),
        ("a: 1\n- b\n", "2:1", "a list item stands between keys", "below a key of its own"),
        ("a: 1\nb\nc: 2\n", "2:1", "`b` is neither a key nor an item", "write `key: value`"),
    ] {
        let found = errors(text);
        let error = &found[0];
        assert_eq!(error.position().map(|at| at.to_string()).as_deref(), Some(place), "{text}: {error}");
        assert!(error.message.contains(what), "{text}: {error}");
        assert!(error.help.as_ref().is_some_and(|help| help.contains(fix)), "{text}: {:?}", error.help);
    }
}

#[test]
fn mistakes_in_long_and_broken_texts_are_found_without_harm() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..3_000 {
        let pieces = ["a", ": ", "\n", "  ", "- ", "[", "}", "\"", "'", "é", "#", "*", "&", "|", "\t", "{{", "%", ","];
        let text: String = (0..random.usize(0..40)).map(|_| pieces[random.usize(..pieces.len())]).collect();
        for error in read(&source(&text), &Limits::default()).err().into_iter().flatten() {
            let label = error.primary().expect("a place");
            assert!(text.get(label.span.range()).is_some(), "{text:?}: {error}");
        }
    }
}
