//! Documents with values of every kind survive a round trip through every output format.

use dropforge::diagnostics::Code;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::yaml::{self, Kind, Node, Tags};
use dropforge::value::{Arena, Entries, Extended, InputBuilder, OutputFormat, Shapes, Value, write_documents};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::de::IgnoredAny;

/// The key of an entry.
#[derive(Debug, Clone, PartialEq)]
enum Key {
    Null,
    Bool(bool),
    Number(i128),
    Text(String),
}

/// A value.
#[derive(Debug, Clone)]
enum Tree {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
    Spelled(String),
    Tagged(String, Box<Tree>),
    Bytes(Vec<u8>),
    Moment(i64, u32),
    Span(i64),
    Named(&'static str),
    Optional(Option<Box<Tree>>),
    List(Vec<Tree>),
    Map(Vec<(Key, Tree)>),
}

/// Compares trees. All NaNs are equal, and `serde_json` reads some floats a few units in the last place off.
fn same(a: &Tree, b: &Tree, units: u64) -> bool {
    match (a, b) {
        (Tree::Null, Tree::Null) => true,
        (Tree::Bool(a), Tree::Bool(b)) => a == b,
        (Tree::Int(a), Tree::Int(b)) => a == b,
        (Tree::Uint(a), Tree::Uint(b)) => a == b,
        (Tree::Float(a), Tree::Float(b)) => a.to_bits().abs_diff(b.to_bits()) <= units || a.is_nan() && b.is_nan(),
        (Tree::Text(a), Tree::Text(b)) => a == b,
        (Tree::Tagged(a, one), Tree::Tagged(b, two)) => a == b && same(one, two, units),
        (Tree::List(a), Tree::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, units)),
        (Tree::Map(a), Tree::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((key, a), (other, b))| key == other && same(a, b, units))
        }
        _ => false,
    }
}

/// Strings of characters that are special to some reader.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-+.0-9_xobeE:,a-fA-F]{0,9}",
        "[ \t\n\r:#'\"\\\\|>&*!%@`{}\\[\\],?~=<a-]{0,10}",
        "(yes|no|on|off|true|null|y|n|nan|inf|[.]inf|<<|[0-9]{4}-[0-9]{2}-[0-9]{2})[ :\n]?",
        "[\u{0}-\u{1f}\u{7f}-\u{a0}\u{2028}\u{2029}\u{feff}\u{fffe}\u{1f600}a]{0,4}",
        any::<String>().prop_filter("no more than a line or two", |text| text.len() < 200),
    ]
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        1 => any::<bool>().prop_map(Key::Bool),
        1 => (-3..12_i128).prop_map(Key::Number),
        1 => any::<i64>().prop_map(|n| Key::Number(n.into())),
        1 => any::<u64>().prop_map(|n| Key::Number(n.into())),
        1 => (-3..12_i128).prop_map(|n| Key::Text(n.to_string())),
        1 => Just(Key::Text("true".to_owned())),
        4 => any_text().prop_map(Key::Text),
    ]
}

fn any_scalar() -> impl Strategy<Value = Tree> {
    prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        any::<i64>().prop_map(Tree::Int),
        any::<u64>().prop_map(Tree::Uint),
        any::<f64>().prop_map(Tree::Float),
        prop::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e21, 5e-324, 1e15, 123.0])
            .prop_map(Tree::Float),
        "-?[0-9]{1,3}([.][0-9]{1,4}([eE][-+][0-9]{1,2})?)?".prop_map(Tree::Spelled),
        any_text().prop_map(Tree::Text),
        vec(any::<u8>(), 0..9).prop_map(Tree::Bytes),
        (-62_135_596_800..253_402_300_800_i64, 0..1_000_000_000_u32).prop_map(|(at, nanos)| Tree::Moment(at, nanos)),
        any::<i64>().prop_map(Tree::Span),
        Just(Tree::Named("int")),
        Just(Tree::Optional(None)),
    ]
}

fn any_tree() -> impl Strategy<Value = Tree> {
    any_scalar().prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            3 => vec(inner.clone(), 0..6).prop_map(Tree::List),
            3 => vec((any_key(), inner.clone()), 0..6).prop_map(|mut entries: Vec<(Key, Tree)>| {
                let keys: Vec<_> = entries.iter().map(|(key, _)| key.clone()).collect();
                let mut at = 0..;
                entries.retain(|(key, _)| keys.iter().position(|one| one == key) == at.next());
                Tree::Map(entries)
            }),
            1 => inner.clone().prop_map(|held| Tree::Optional(Some(Box::new(held)))),
            1 => ("![a-zA-Z][a-zA-Z0-9/-]{0,4}", inner).prop_map(|(tag, held)| Tree::Tagged(tag, Box::new(held))),
        ]
    })
}

/// Returns the number with this spelling, as a YAML reader sees it.
fn number(spelling: &str) -> Tree {
    match spelling.parse() {
        Ok(n) => Tree::Int(n),
        Err(_) => Tree::Float(spelling.parse().expect("a float")),
    }
}

fn value<'v>(tree: &Tree, arena: &'v Arena) -> Value<'v> {
    let key = |key: &Key| match key {
        Key::Null => Value::Null,
        Key::Bool(truth) => Value::Bool(*truth),
        Key::Number(n) => i64::try_from(*n).map_or_else(|_| Value::Uint((*n).try_into().expect("64 bits")), Value::Int),
        Key::Text(text) => arena.text(text),
    };
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(truth) => Value::Bool(*truth),
        Tree::Int(n) => Value::Int(*n),
        Tree::Uint(n) => Value::Uint(*n),
        Tree::Float(n) => Value::Float(*n),
        Tree::Text(text) => arena.text(text),
        Tree::Spelled(spelling) => arena.spelled(value(&number(spelling), arena), arena.copy_str(spelling)),
        Tree::Tagged(tag, held) => arena.tagged(value(held, arena), arena.copy_str(tag), 0),
        Tree::Bytes(bytes) => arena.extended(Extended::Bytes(arena.copy_bytes(bytes))),
        Tree::Moment(seconds, nanos) => arena.extended(Extended::Timestamp { seconds: *seconds, nanos: *nanos }),
        Tree::Span(nanos) => arena.extended(Extended::Duration(*nanos)),
        Tree::Named(name) => arena.extended(Extended::Named(name)),
        Tree::Optional(held) => {
            let held = held.as_ref().map_or(Value::Undefined, |held| value(held, arena));
            arena.extended(Extended::Optional(held))
        }
        Tree::List(items) => arena.list(&items.iter().map(|item| value(item, arena)).collect::<Vec<_>>()),
        Tree::Map(entries) => {
            let keys: Vec<_> = entries.iter().map(|(name, _)| key(name)).collect();
            let values: Vec<_> = entries.iter().map(|(_, held)| value(held, arena)).collect();
            match keys.iter().map(|key| key.as_str()).collect::<Option<Vec<_>>>() {
                Some(names) => arena.map(&names.into_iter().zip(values).collect::<Vec<_>>()),
                None => arena.entries(Entries::new(arena, &keys, &values).expect("keys")),
            }
        }
    }
}

/// Returns `true` if the keys of a format are strings.
fn has_text_keys(format: OutputFormat) -> bool {
    format != OutputFormat::Yaml
}

/// Returns `true` if a character may appear unescaped in YAML.
fn is_printable(c: char) -> bool {
    !matches!(c, '\u{7f}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn is_json(format: OutputFormat) -> bool {
    matches!(format, OutputFormat::Json | OutputFormat::Ndjson)
}

/// Returns the tree after a round trip through a format, with values that the format lacks replaced.
fn in_format(tree: &Tree, format: OutputFormat) -> Tree {
    let text_of = |value: Value<'_>| Tree::Text(value.to_data().as_str().expect("a text").to_owned());
    let key = |key: &Key| match key {
        Key::Text(_) => key.clone(),
        Key::Bool(truth) if has_text_keys(format) => Key::Text(truth.to_string()),
        Key::Number(n) if has_text_keys(format) => Key::Text(n.to_string()),
        key => key.clone(),
    };
    match tree {
        Tree::Uint(n) => i64::try_from(*n).map_or(Tree::Uint(*n), Tree::Int),
        Tree::Float(n) if is_json(format) && !n.is_finite() => Tree::Text(
            if n.is_nan() {
                "NaN"
            } else if *n > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            }
            .to_owned(),
        ),
        Tree::Spelled(spelling) => in_format(&number(spelling), format),
        Tree::Tagged(_, held) if is_json(format) => in_format(held, format),
        // A value has one tag, the outermost.
        Tree::Tagged(tag, held) => match in_format(held, format) {
            Tree::Tagged(_, inner) => Tree::Tagged(tag.clone(), inner),
            inner => Tree::Tagged(tag.clone(), Box::new(inner)),
        },
        Tree::Optional(held) => held.as_ref().map_or(Tree::Null, |held| in_format(held, format)),
        Tree::List(items) => Tree::List(items.iter().map(|item| in_format(item, format)).collect()),
        Tree::Map(entries) => {
            Tree::Map(entries.iter().map(|(name, held)| (key(name), in_format(held, format))).collect())
        }
        Tree::Bytes(_) | Tree::Moment(..) | Tree::Span(_) | Tree::Named(_) => text_of(value(tree, &Arena::new())),
        other => other.clone(),
    }
}

/// Returns `true` if two keys of a map have the same text.
fn has_one_text_twice(tree: &Tree) -> bool {
    match tree {
        Tree::List(items) => items.iter().any(has_one_text_twice),
        Tree::Optional(Some(held)) | Tree::Tagged(_, held) => has_one_text_twice(held),
        Tree::Map(entries) => {
            let Tree::Map(texts) = in_format(tree, OutputFormat::Json) else { return false };
            let twice = |at: usize| texts[..at].iter().any(|(key, _)| *key == texts[at].0);
            (0..texts.len()).any(twice) || entries.iter().any(|(_, held)| has_one_text_twice(held))
        }
        _ => false,
    }
}

/// Converts a node of the YAML reader.
fn of_node(node: &Node) -> Tree {
    let bare = match &node.kind {
        Kind::Null => Tree::Null,
        Kind::Bool(truth) => Tree::Bool(*truth),
        Kind::Int(n) => Tree::Int(*n),
        Kind::Uint(n) => Tree::Uint(*n),
        Kind::Float(n) => Tree::Float(*n),
        Kind::Str => Tree::Text(node.text.as_ref().to_owned()),
        Kind::List(items) => Tree::List(items.iter().map(of_node).collect()),
        Kind::Map(entries) => {
            Tree::Map(entries.iter().map(|entry| (of_key(&entry.key), of_node(&entry.value))).collect())
        }
    };
    match &node.tag {
        Some(tag) => Tree::Tagged(tag.as_ref().to_owned(), Box::new(bare)),
        None => bare,
    }
}

fn of_key(node: &Node) -> Key {
    match &node.kind {
        Kind::Null => Key::Null,
        Kind::Bool(truth) => Key::Bool(*truth),
        Kind::Int(n) => Key::Number((*n).into()),
        Kind::Uint(n) => Key::Number((*n).into()),
        _ => Key::Text(node.text.as_ref().to_owned()),
    }
}

/// Converts a value of the JSON reader.
fn of_value(value: Value<'_>) -> Tree {
    match value {
        Value::Bool(truth) => Tree::Bool(truth),
        Value::Int(n) => Tree::Int(n),
        Value::Uint(n) => Tree::Uint(n),
        Value::Float(n) => Tree::Float(n),
        Value::Str(text) => Tree::Text(text.as_str().to_owned()),
        Value::List(list) => Tree::List(list.items().iter().copied().map(of_value).collect()),
        Value::Map(map) => {
            Tree::Map(map.iter().map(|(key, value)| (Key::Text(key.to_owned()), of_value(value))).collect())
        }
        _ => Tree::Null,
    }
}

fn read_yaml(written: &str) -> Result<Vec<Tree>, TestCaseError> {
    let nodes = yaml::read_with(&Source::new("t", written), &Limits::default(), Tags::Kept);
    let nodes = nodes.map_err(|errors| TestCaseError::fail(format!("{errors:?} in {written}")))?;
    Ok(nodes.iter().map(of_node).collect())
}

fn read_json(written: &str) -> Result<Vec<Tree>, TestCaseError> {
    let arena = Arena::new();
    let shapes = Shapes::new(&arena);
    let mut documents = serde_json::Deserializer::from_str(written).into_iter::<IgnoredAny>();
    let (mut trees, mut start) = (Vec::new(), 0);
    while let Some(document) = documents.next() {
        document.map_err(|error| TestCaseError::fail(format!("{error} in {written}")))?;
        let end = documents.byte_offset();
        let text = arena.copy_str(&written[std::mem::replace(&mut start, end)..end]);
        let read = InputBuilder::new(&arena, &shapes).json(text).map(of_value);
        trees.push(read.map_err(|error| TestCaseError::fail(format!("{error} in {written}")))?);
    }
    Ok(trees)
}

proptest! {
    #![proptest_config(crate::cases(1000))]

    #[test]
    fn documents_survive_a_round_trip(documents in vec(any_tree(), 0..3)) {
        let arena = Arena::new();
        let values: Vec<_> = documents.iter().map(|document| value(document, &arena)).collect();
        for format in OutputFormat::ALL {
            let mut written = String::new();
            let outcome = write_documents(values.iter().copied(), format, 1 << 20, &mut written);
            if has_text_keys(format) && documents.iter().any(has_one_text_twice) {
                prop_assert_eq!(outcome.map_err(|error| error.code), Err(Code::DuplicateKey));
                continue;
            }
            prop_assert!(outcome.is_ok(), "{:?}", outcome);
            if documents.iter().any(has_one_text_twice) {
                // The reader treats such keys as duplicates.
                continue;
            }
            let read = if is_json(format) { read_json(&written)? } else { read_yaml(&written)? };
            prop_assert_eq!(read.len(), documents.len(), "{}", written);
            for (document, read) in documents.iter().zip(&read) {
                let wanted = in_format(document, format);
                let units = if is_json(format) { 8 } else { 0 };
                prop_assert!(same(&wanted, read, units), "{wanted:?} comes back as {read:?} from {written}");
                // JSON is also YAML if all its characters are printable.
                if is_json(format) && documents.len() == 1 && written.chars().all(is_printable) {
                    let [read] = &read_yaml(&written)?[..] else { return Err(TestCaseError::fail("one document")) };
                    prop_assert!(same(&wanted, read, 0), "{wanted:?} comes back as {read:?} from {written}");
                }
            }
        }
    }
}
