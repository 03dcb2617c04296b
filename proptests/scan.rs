//! The scanner of outputs never takes text that a full reader refuses, and takes usual text.

use dropforge::engine::{OutputCheck, OutputSyntax};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::marshal::Numbers;
use dropforge::value::yaml::libyaml;
use dropforge::value::yaml::{Tags, read_with};
use dropforge::value::{Arena, Data, DataMap, OutputFormat, Scanner, write_documents};
use proptest::prelude::*;

/// Documents of the usual kind, which mutations make unusual.
const DOCUMENTS: [&str; 7] = [
    "a: {b: c, \"d\": [e, 'f', {g: 1}]}\n---\n- {a: b, c: d}\n- {a: e, c: d, f: g}\n---\n{\"a\": \"b\", \"c\": [{\"d\": e}]}\n",
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: \"a\"\n  labels: {app: a, 'x': b}\nspec:\n  ports:\n  - port: 80\n    name: x\n  - port: 90\n",
    "a: |\n  one\n    two\n\n  three\nb: >-\n  four\n  five\nc: x # comment\n# comment\nd:\n- - 1\n  - 2\n-\n",
    "---\na: [1, \"two\", {b: c}, [\n  d, # e\n  ], ]\n---\n- a: b\n  c:\n    d: e\n- f\n",
    "a: one\n  two\n\n  three\nb: \"x\n  y\"\nc: 'it''s'\nd: \"\\u00e9\\n\"\n",
    "a: &x\n  b: !Ref c\nd: &y [e]\nf: !Sub\n  - \"${g}\"\n",
    "{\n  \"a\": [1, 2.5e3, null, true],\n  \"b\": {\"c\": \"d\\n\"}\n}\n",
];

const TOKENS: [&str; 64] = [
    "a", "b", "a: ", "b: ", "a:", ": ", ":", "- ", "-", "\n", "\n  ", "\n    ", "\n ", " ", "  ", "\"", "'", "''", "|",
    "|-", ">", ">+", "{", "}", "[", "]", ",", ", ", "#", " #", " # c", "&x ", "&x\n", "*x", "!t ", "!!str ", "!", "? ",
    "?", "---", "---\n", "...", "\t", "%", "@", "`", "~", "null", "1", "01", "0x1", "<<: ", "é", "\u{85}", "\u{feff}",
    "\r\n", "\\", "\\n", "\\u00e9", "{{ x }}", "x y", "\"a\": ", "'a': ", "-a",
];

fn tokens() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&TOKENS[..]), 0..14).prop_map(|tokens| tokens.concat())
}

/// One of the documents after some replacements of parts by tokens.
fn mutated() -> impl Strategy<Value = String> {
    let changes =
        prop::collection::vec((any::<prop::sample::Index>(), 0..4usize, prop::sample::select(&TOKENS[..])), 0..4);
    (prop::sample::select(&DOCUMENTS[..]), changes).prop_map(|(document, changes)| {
        let mut text: Vec<char> = document.chars().collect();
        for (at, len, token) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + len).min(text.len());
            text.splice(at..end, token.chars());
        }
        text.into_iter().collect()
    })
}

/// Lines of all documents in any order, some with other values.
fn repeated() -> impl Strategy<Value = String> {
    let values =
        prop::sample::select(&["1", "x y", "\"a\"", "'b", "{a: b}", "[c", "|", "&x", "a: b", "", "# c", "é"][..]);
    let line = (any::<prop::sample::Index>(), prop::option::of(values)).prop_map(|(at, value)| {
        let lines: Vec<&str> = DOCUMENTS.iter().flat_map(|document| document.split_inclusive('\n')).collect();
        let line = at.get(&lines);
        match (value, line.split_once(": ")) {
            (Some(value), Some((key, _))) => format!("{key}: {value}\n"),
            _ => (*line).to_owned(),
        }
    });
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

/// JSON after some replacements.
fn json() -> impl Strategy<Value = String> {
    let token = prop::sample::select(
        &["{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"\\u0061\"", "1", "-", "1e9", ".", "0", "null", " ", "\n"]
            [..],
    );
    prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

/// Usual data: words, numbers, maps and lists.
fn data() -> impl Strategy<Value = Data> {
    let leaf = prop_oneof![
        Just(Data::Null),
        any::<bool>().prop_map(Data::Bool),
        any::<i32>().prop_map(|n| Data::Int(n.into())),
        "[a-z]{1,8}( [a-z0-9./:-]{1,8}){0,30}".prop_map(Data::Str),
        "[ -~\n]{0,20}".prop_map(Data::Str),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Data::List),
            prop::collection::vec(("[a-z][a-zA-Z./-]{1,12}", inner), 0..6)
                .prop_map(|entries| Data::Map(entries.into_iter().collect::<DataMap>())),
        ]
    })
}

/// A list or a map. Documents that are only text are not usual.
fn collection() -> impl Strategy<Value = Data> {
    data().prop_filter("a list or a map", |data| matches!(data, Data::List(_) | Data::Map(_)))
}

fn is_read(text: &str) -> bool {
    read_with(&Source::new("t", text), &Limits::default(), Tags::Kept).is_ok() && all_in(text).is_some()
}

/// Returns all documents as the other reader reads them.
fn all_in(text: &str) -> Option<Vec<Data>> {
    let arena = Arena::new();
    let documents = libyaml::read_all(&arena, text, Numbers::Floats, 128).ok()?;
    Some(documents.iter().map(|document| document.to_data()).collect())
}

proptest! {
    #![proptest_config(crate::cases(1024))]

    #[test]
    fn what_is_taken_is_valid(text in prop_oneof![tokens(), mutated()]) {
        prop_assert!(!Scanner::new().is_yaml(&text) || is_read(&text), "{:?}", text);
    }

    #[test]
    fn lines_that_are_known_change_no_answer(
        texts in prop::collection::vec((prop_oneof![tokens(), mutated(), repeated()], any::<bool>()), 1..24),
    ) {
        let (mut scanner, mut before) = (Scanner::new(), String::new());
        scanner.remember();
        for (text, is_joined) in texts {
            // Documents of one text follow each other in the next one in another order.
            let text = if is_joined { text + "---\n" + &before } else { text };
            prop_assert_eq!(scanner.is_yaml(&text), Scanner::new().is_yaml(&text), "{:?} after {:?}", text, before);
            before = text;
            before.truncate((0..=2_000.min(before.len())).rev().find(|at| before.is_char_boundary(*at)).unwrap_or(0));
        }
    }

    #[test]
    fn entries_are_documents(text in prop_oneof![tokens(), mutated()]) {
        let mut scanner = Scanner::new();
        let Some(entries) = scanner.entries(&text) else { return Ok(()) };
        let mut all = DataMap::default();
        for (key, lines) in entries {
            let read = all_in(lines).and_then(|mut documents| documents.pop()).and_then(|data| data.try_into_map().ok());
            let read = read.unwrap_or_default();
            prop_assert_eq!(read.len(), 1, "{:?} of {:?}", lines, text);
            prop_assert!(read.contains_key(key) || key.len() < 6, "{:?} of {:?}", key, text);
            all.extend(read);
        }
        prop_assert_eq!(all_in(&text), Some(vec![Data::Map(all)]), "{:?}", text);
    }

    #[test]
    fn json_that_is_taken_is_valid(text in json()) {
        if Scanner::new().is_json(&text) {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{:?}", text);
            // The check of a name that was not scanned is the full one.
            let more = text.clone() + "\n";
            prop_assert!(OutputCheck::default().errors(OutputSyntax::Json, "t", &more).is_empty());
        }
    }

    #[test]
    fn what_is_written_is_taken(documents in prop::collection::vec(collection(), 1..3)) {
        let mut scanner = Scanner::new();
        scanner.remember();
        for format in [OutputFormat::Yaml, OutputFormat::Kyaml] {
            let mut text = String::new();
            write_documents(&documents, format, 1 << 20, &mut text).expect("it is written");
            prop_assert!(is_read(&text), "{}", text);
            if format == OutputFormat::Yaml && !text.contains("\": ") {
                prop_assert!(scanner.is_yaml(&text), "{}", text);
            }
        }
        let mut text = String::new();
        write_documents(&documents[..1], OutputFormat::Json, 1 << 20, &mut text).expect("it is written");
        prop_assert!(scanner.is_json(&text), "{}", text);
    }
}
