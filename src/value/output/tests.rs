//! Documents of hostile strings survive a round trip through every format, and writers stop at the limit.

use crate::yaml::{Kind, Node, keeps_spelling, read, read_one};
use crate::{Arena, Data, DataMap, Entries, Extended, OutputFormat, Tree, Value, write_documents};
use dropforge_base::diagnostics::Code;
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;

fn source(text: &str) -> std::sync::Arc<Source> {
    Source::new("in.yaml", text)
}

fn written<'t, T: Tree<'t>>(documents: impl IntoIterator<Item = T>, format: OutputFormat) -> String {
    let mut out = String::new();
    write_documents(documents, format, 1 << 20, &mut out).expect("it is written");
    out
}

/// Reads documents in a format. Returns `None` if they are invalid.
fn read_back(written: &str, format: OutputFormat) -> Option<Vec<Data>> {
    if matches!(format, OutputFormat::Json | OutputFormat::Ndjson) {
        return serde_json::Deserializer::from_str(written).into_iter().collect::<Result<_, _>>().ok();
    }
    Some(read(&source(written), &Limits::default()).ok()?.iter().map(Node::to_data).collect())
}

/// Strings that some parser misreads as another type. Parsers of other languages are tested with them too.
const STRINGS: &str = include_str!("../../../spec-tests/yaml-readers/strings.json");

#[test]
fn tricky_texts_come_back_as_they_were_in_every_position() {
    for text in serde_json::from_str::<Vec<String>>(STRINGS).expect("a table of texts") {
        let string = Data::Str(text.clone());
        let map: DataMap =
            [(text.clone(), string.clone()), ("other key".to_owned(), string.clone())].into_iter().collect();
        let nested = Data::List(vec![Data::List(vec![string.clone(), Data::Map(map.clone())]), string.clone()]);
        let documents = [string, Data::Map(map), nested];
        for format in OutputFormat::ALL {
            let written = written(&documents, format);
            assert_eq!(read_back(&written, format).as_deref(), Some(documents.as_slice()), "{text:?} as {written:?}");
        }
    }
}

#[test]
fn numbers_keep_a_spelling_that_no_reader_misreads() {
    let arena = Arena::new();
    let kept = [
        "1.10",
        "0.50",
        "-2.000",
        "1.5e+3",
        "1.50E-07",
        "0.0",
        "-0.0",
        "123456789.12345000",
        "1.00000000000000000000",
        "0.12345678901234567890123",
        "9223372036854775808",
        "12345678901234567890123",
    ];
    for spelling in kept {
        let number = arena.spelled(Value::Float(spelling.parse().unwrap()), spelling);
        for format in OutputFormat::ALL {
            let written = written([number], format);
            assert_eq!(written.trim_start_matches("---\n"), format!("{spelling}\n"));
            let back = match format {
                OutputFormat::Json | OutputFormat::Ndjson => Data::of_json(&written).ok().map(|data| vec![data]),
                _ => read_back(&written, format),
            };
            assert_eq!(back, Some(vec![number.to_data()]));
        }
    }
    let changed = [
        ("012", "12"),
        ("0o14", "12"),
        ("0x1F", "31"),
        ("+7", "7"),
        ("1e3", "1000.0"),
        ("1.5e3", "1500.0"),
        (".5", "0.5"),
        ("5.", "5.0"),
        ("01.5", "1.5"),
        ("+1.5", "1.5"),
        ("1.0e+999", ".inf"),
        ("-.INF", "-.inf"),
        (".NaN", ".nan"),
        ("-0", "0"),
    ];
    for (spelling, wanted) in changed {
        assert!(!keeps_spelling(spelling), "{spelling}");
        let number = match read_one(&source(spelling), &Limits::default()).unwrap().kind {
            Kind::Int(n) => Value::Int(n),
            Kind::Float(n) => Value::Float(n),
            other => panic!("{other:?}"),
        };
        assert_eq!(written([arena.spelled(number, spelling)], OutputFormat::Yaml), format!("{wanted}\n"));
    }
    for none in ["", "-", ".", "1.", "1_0.5", "1.5e", "1.5e+", "1.5e3", "1.5e+3x", "1e+3", "0x1"] {
        assert!(!keeps_spelling(none), "{none}");
    }
}

#[test]
fn whole_numbers_of_every_length_are_written_in_full() {
    let ends = (0..19).map(|digits| 10_i64.pow(digits));
    let around = ends.flat_map(|n| [n - 1, n, n + 1]).chain([65_535, 65_536, 70_000, i64::MAX]);
    for n in around.flat_map(|n| [n, -n]).chain([i64::MIN]) {
        for format in OutputFormat::ALL {
            assert_eq!(written([Value::Int(n)], format).trim_start_matches("---\n"), format!("{n}\n"));
        }
    }
    assert_eq!(written([Value::Uint(u64::MAX)], OutputFormat::Yaml), "18446744073709551615\n");
}

/// The writer copies pieces of fixed length. Longer strings and deeper indentation must give the same lines.
#[test]
fn long_lines_and_deep_nesting_are_written_alike() {
    let arena = Arena::new();
    let text = |len| arena.copy_str(&"abc".repeat(20)[..len]);
    for (depth, len) in [0, 1, 2, 14, 15, 16, 17, 33]
        .into_iter()
        .flat_map(|depth| [1, 15, 16, 17, 31, 32, 33, 60].map(|len| (depth, len)))
    {
        let values = [arena.text(text(len)), arena.borrowed_text(text(len)), Value::Int(7), Value::Null];
        let leaf = arena.map(&[(text(len), values[0]), ("b", values[1]), ("c", arena.list(&values))]);
        let indent = " ".repeat(2 * depth);
        let key = text(len);
        let lines = [format!("{key}: {key}"), format!("b: {key}"), "c:".to_owned()].into_iter();
        let items = [key, key, "7", "null"].map(|item| format!("  - {item}"));
        let lines = lines.chain(items).map(|line| format!("{indent}{line}\n"));
        let above = (0..depth).map(|level| format!("{}k:\n", " ".repeat(2 * level)));
        let tree = (0..depth).fold(leaf, |inner, _| arena.map(&[("k", inner)]));
        assert_eq!(written([tree], OutputFormat::Yaml), above.chain(lines).collect::<String>());
        let items = (0..depth).fold(leaf, |inner, _| arena.list(&[inner]));
        let first = format!("{}{key}: {key}\n{indent}b: {key}\n", "- ".repeat(depth));
        assert!(written([items], OutputFormat::Yaml).starts_with(&first));
        for format in OutputFormat::ALL {
            assert_eq!(read_back(&written([tree, items], format), format), Some(vec![tree.to_data(), items.to_data()]));
        }
    }
}

#[test]
fn tags_stand_in_yaml_alone() {
    let arena = Arena::new();
    let tagged = |value, tag| arena.tagged(value, tag, 0);
    let map = arena.map(&[
        ("a", tagged(arena.text("x y"), "!Ref")),
        ("b", tagged(arena.list(&[Value::Int(1), tagged(arena.map(&[("k", Value::Null)]), "!m")]), "!l")),
        ("c", tagged(arena.list(&[]), "!e")),
        ("d", tagged(arena.text("l\nm\n"), "!t")),
        ("e", tagged(arena.spelled(Value::Float(1.1), "1.10"), "!!x")),
        ("f", tagged(Value::Null, "!a b")),
    ]);
    let yaml =
        "!top\na: !Ref x y\nb: !l\n  - 1\n  - !m\n    k: null\nc: !e []\nd: !t |\n  l\n  m\ne: !!x 1.10\nf: null\n";
    assert_eq!(written([tagged(map, "!top")], OutputFormat::Yaml), yaml);
    let json = "{\"a\":\"x y\",\"b\":[1,{\"k\":null}],\"c\":[],\"d\":\"l\\nm\\n\",\"e\":1.10,\"f\":null}\n";
    assert_eq!(written([tagged(map, "!top")], OutputFormat::Ndjson), json);
    let list = tagged(arena.list(&[tagged(arena.text("x"), "!a"), tagged(arena.map(&[]), "!b")]), "!l");
    assert_eq!(written([list], OutputFormat::Kyaml), "---\n!l [\n  !a \"x\",\n  !b {},\n]\n");
    assert_eq!(arena.list(&[tagged(Value::Null, "!a"), arena.list(&[list])]).tagged_collection(), Some(("!l", 0)));
    assert_eq!(arena.list(&[tagged(Value::Null, "!a")]).tagged_collection(), None);
    for none in ["", "!", "!!", "x", "!a b", "!a\nb", "!a,", "!a[", "!a{", "!é", "!a!b"] {
        assert!(tagged(Value::Null, none).extended().is_none(), "{none}");
    }
}

/// Returns a map of nulls.
fn keyed<'v>(arena: &'v Arena, keys: &[Value<'v>]) -> Value<'v> {
    arena.extended(Extended::Entries(Entries::new(arena, keys, &vec![Value::Null; keys.len()]).expect("keys")))
}

#[test]
fn keys_that_are_no_text_are_text_where_they_have_to_be() {
    let arena = Arena::new();
    let map = keyed(&arena, &[Value::Int(1), Value::Bool(true), arena.text("no"), arena.text("a")]);
    assert_eq!(written([map], OutputFormat::Yaml), "1: null\ntrue: null\n\"no\": null\na: null\n");
    assert_eq!(written([map], OutputFormat::Ndjson), "{\"1\":null,\"true\":null,\"no\":null,\"a\":null}\n");
    let kyaml = "---\n{\n  \"1\": null,\n  \"true\": null,\n  \"no\": null,\n  a: null,\n}\n";
    assert_eq!(written([map], OutputFormat::Kyaml), kyaml);
    let twice = keyed(&arena, &[Value::Int(1), arena.text("1")]);
    assert_eq!(written([twice], OutputFormat::Yaml), "1: null\n\"1\": null\n");
    for format in [OutputFormat::Json, OutputFormat::Kyaml, OutputFormat::Ndjson] {
        let error = write_documents([twice], format, 100, &mut String::new()).unwrap_err();
        assert_eq!(error.code, Code::DuplicateKey, "{error:?}");
    }
}

#[test]
fn kyaml_follows_the_kubernetes_definition() {
    let data: Data = serde_json::from_str(
        r#"{"apiVersion": "v1", "a-b.c/d": [1, "x"], "-a": {}, "y": [], "1a": null, "1-y": 1, "t": true, "a_": 1.0, "é": 1,
            "list": [{"a": 1}, {"b": [[]]}], "two": "a\n  b\n\n\tc\"\\", "end": "a\n", "esc": "\u0000\u001b\u3000\u00a0\t"}"#,
    )
    .unwrap();
    let wanted = r#"---
{
  apiVersion: "v1",
  a-b.c/d: [
    1,
    "x",
  ],
  "-a": {},
  "y": [],
  "1a": null,
  1-y: 1,
  "t": true,
  a_: 1.0,
  "é": 1,
  list: [{
    a: 1,
  }, {
    b: [[]],
  }],
  two: "\
     a\n\
    \  b\n\
     \n\
     \tc\"\\\
    ",
  end: "\
     a\n\
    ",
  esc: "\0\e\u3000\_\t",
}
"#;
    let written = written([&data], OutputFormat::Kyaml);
    assert_eq!(written, wanted);
    assert_eq!(read_back(&written, OutputFormat::Kyaml), Some(vec![data]));
}

#[test]
fn output_stops_at_its_limit_wherever_it_is() {
    let arena = Arena::new();
    let mut shared = arena.text("text of\nsome lines\n");
    for _ in 0..100 {
        shared = arena.list(&[shared, arena.map(&[("key", shared)])]);
    }
    for format in OutputFormat::ALL {
        let mut out = "before".to_owned();
        let error = write_documents([shared], format, 10_000, &mut out).unwrap_err();
        assert_eq!(error.code, Code::LimitOutputBytes);
        assert!(out.len() < 12_000, "{} has {}", format.name(), out.len());
        let long = arena.text(&"x\n".repeat(20_000));
        for value in [long, arena.list(&[long]), arena.map(&[(long.as_str().unwrap_or(""), Value::Null)])] {
            let mut out = String::new();
            let error = write_documents([value], format, 10_000, &mut out).unwrap_err();
            assert_eq!(error.code, Code::LimitOutputBytes);
            assert!(out.len() < 12_000, "{} has {}", format.name(), out.len());
        }
        let small = [Value::Int(1), arena.map(&[("a", arena.text("b"))])];
        let whole = written(small, format);
        for limit in 0..whole.len() {
            assert!(write_documents(small, format, limit, &mut String::new()).is_err(), "{limit} of {whole:?}");
        }
        assert!(write_documents(small, format, whole.len(), &mut String::new()).is_ok());
    }
}

#[test]
fn formats_have_names_and_json_names_non_finite_floats() {
    for format in OutputFormat::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert_eq!("toml".parse::<OutputFormat>(), Err("the formats are `yaml`, `json`, `kyaml`, `ndjson`".to_owned()));
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(Value::Float);
    assert_eq!(written(odd, OutputFormat::Ndjson), "\"NaN\"\n\"Infinity\"\n\"-Infinity\"\n");
    assert_eq!(written(odd, OutputFormat::Kyaml), "---\n.nan\n---\n.inf\n---\n-.inf\n");
    let none: [Value<'_>; 0] = [];
    assert!(OutputFormat::ALL.into_iter().all(|format| written(none, format).is_empty()));
    let pretty: Data = serde_json::from_str(r#"{"b": [1, {}], "a": []}"#).unwrap();
    let wanted = "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": []\n}\nnull\n";
    assert_eq!(written([&pretty, &Data::Null], OutputFormat::Json), wanted);
}
