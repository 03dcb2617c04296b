//! Everything written as YAML is read back, and no input causes a panic.

use dropforge::limits::Limits;
use dropforge::text::{Source, Span};
use dropforge::value::yaml::{self, Node};
use dropforge::value::{Arena, Data, DataMap, InputBuilder, OutputFormat, Shapes, write_documents};
use proptest::prelude::*;

/// Strings of characters that are special to some YAML reader.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-+.0-9_xobeE:,a-fA-F]{0,9}",
        "[ \t\n:#'\"\\\\|>&*!%@`{}\\[\\],?~=<a-]{0,10}",
        "(yes|no|on|off|true|null|y|n|nan|inf|[.]inf|<<)[ :\n]?",
        any::<String>().prop_filter("no more than a line or two", |text| text.len() < 200),
    ]
}

fn any_data() -> impl Strategy<Value = Data> {
    let leaf = prop_oneof![
        Just(Data::Null),
        any::<bool>().prop_map(Data::Bool),
        any::<i64>().prop_map(Data::Int),
        any::<u64>().prop_map(Data::uint),
        any::<f64>().prop_filter("not equal to itself", |n| !n.is_nan()).prop_map(Data::Float),
        any_text().prop_map(Data::Str),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Data::List),
            prop::collection::vec((any_text(), inner), 0..6)
                .prop_map(|entries| Data::Map(entries.into_iter().collect::<DataMap>())),
        ]
    })
}

/// Checks that the source at every scalar's position is the scalar.
fn check_places(node: &Node, source: &Source) {
    for entry in node.as_map().into_iter().flatten() {
        check_places(&entry.value, source);
    }
    node.as_list().into_iter().flatten().for_each(|item| check_places(item, source));
    let Some(text) = node.as_str() else { return };
    for (at, c) in text.char_indices().take(20) {
        let found = source.slice(node.locate(source, Span::of(at..at + c.len_utf8())));
        let exact = found.chars().eq([c]) || found.starts_with(['\\', '\'', '\r']) || c == '\n';
        let exact = exact || c == ' ' && found.trim().is_empty(); // a folded line end
        assert!(exact || found == source.slice(node.span), "{c:?} of {text:?} is at {found:?}");
    }
}

/// Returns the documents after a round trip through a format. JSON has no non-finite numbers.
fn expected(data: &Data, format: OutputFormat) -> Data {
    let json = matches!(format, OutputFormat::Json | OutputFormat::Ndjson);
    match data {
        Data::Float(n) if json && !n.is_finite() => {
            Data::Str(if *n > 0.0 { "Infinity" } else { "-Infinity" }.to_owned())
        }
        Data::List(items) => Data::List(items.iter().map(|item| expected(item, format)).collect()),
        Data::Map(map) => Data::Map(map.iter().map(|(key, value)| (key.clone(), expected(value, format))).collect()),
        other => other.clone(),
    }
}

fn read_back(written: &str, format: OutputFormat) -> Option<Vec<Data>> {
    if matches!(format, OutputFormat::Json | OutputFormat::Ndjson) {
        return serde_json::Deserializer::from_str(written).into_iter().collect::<Result<_, _>>().ok();
    }
    let nodes = yaml::read(&Source::new("t", written.to_owned()), &Limits::default()).ok()?;
    Some(nodes.iter().map(Node::to_data).collect())
}

/// Compares documents. `serde_json` reads some floats a few units in the last place off.
fn same(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (Data::Float(a), Data::Float(b)) => a.to_bits().abs_diff(b.to_bits()) <= 8,
        (Data::List(a), Data::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Data::Map(a), Data::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((key, a), (other, b))| key == other && same(a, b))
        }
        (a, b) => a == b,
    }
}

proptest! {
    #[test]
    fn documents_come_back_from_every_format(documents in prop::collection::vec(any_data(), 0..4)) {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let values: Vec<_> = documents.iter().map(|document| builder.data(document).unwrap()).collect();
        for format in OutputFormat::ALL {
            let mut written = String::new();
            write_documents(&documents, format, 1 << 20, &mut written).expect("it is written");
            let mut of_values = String::new();
            write_documents(values.iter().copied(), format, 1 << 20, &mut of_values).expect("it is written");
            prop_assert_eq!(&of_values, &written);
            let read = read_back(&written, format);
            let read = read.ok_or_else(|| TestCaseError::fail(format!("{} is not read: {written}", format.name())))?;
            prop_assert_eq!(read.len(), documents.len());
            for (document, read) in documents.iter().zip(&read) {
                let wanted = expected(document, format);
                prop_assert!(same(&wanted, read), "{:?} comes back as {:?} from {}", wanted, read, written);
            }
            if format == OutputFormat::Ndjson {
                prop_assert_eq!(written.matches('\n').count(), documents.len());
            }
        }
    }

    #[test]
    fn written_yaml_is_read_back(data in any_data()) {
        let source = Source::new("t", yaml::to_string(&data));
        let read = yaml::read_one(&source, &Limits::default());
        let node = read.map_err(|errors| TestCaseError::fail(format!("{errors:?} in {}", source.text())))?;
        prop_assert_eq!(node.to_data(), data);
        check_places(&node, &source);
    }

    #[test]
    fn any_text_gives_an_answer(text in "[-a:,&*!|>'\"{}\\[\\] \n\t#<~%@0.]{0,40}") {
        let source = Source::new("t", text);
        if let Ok(documents) = yaml::read(&source, &Limits::default()) {
            for node in documents {
                check_places(&node, &source);
                let data = node.to_data();
                let again = yaml::read_data(&Source::new("t", yaml::to_string(&data)), &Limits::default());
                prop_assert_eq!(again.ok(), Some(data));
            }
        }
    }
}
