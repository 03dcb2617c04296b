//! Inputs read from JSON text are those that `serde_json` reads, whatever was read before.

use std::borrow::Cow;
use std::sync::OnceLock;

use dropforge::bulk::{Cluster, Layers, Merge, Overlay, Stamp, Templates};
use dropforge::engine::{Engine, Skipped, TemplateFile, TemplateSet};
use dropforge::value::{Arena, Data, DataMap, InputBuilder, InputSpace, ReadPaths, ReadPosition, Shapes};
use proptest::prelude::*;
use serde_json::Value as Json;

use crate::values::any_json;

/// Templates that write all of their inputs, and names of them.
const TEMPLATES: [(&str, &str); 3] = [
    ("whole.tera", "{{ __tera_context }}{% for k, v in a %}{{ k }}{% endfor %}"),
    ("whole.hcl.tftpl", "${jsonencode(a)}${join(\",\", keys(b))}"),
    ("whole.cel", "[a, b]"),
];

/// The templates, compiled.
fn compiled() -> &'static Templates {
    static COMPILED: OnceLock<Templates> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let temp = tempfile::tempdir().expect("a folder");
        for (name, text) in TEMPLATES {
            std::fs::write(temp.path().join(name), text).expect("a file");
        }
        let file = |name: &str| TemplateFile { name: name.to_owned(), explicit: false, executable: false };
        let files = TEMPLATES.iter().map(|(name, _)| file(name)).collect();
        let set = TemplateSet { root: temp.path().to_owned(), files, skipped: Skipped::default() };
        Templates::compile(&set, None, Engine::builder()).unwrap_or_else(|errors| panic!("{errors}"))
    })
}

/// Returns the texts and errors of each cluster.
fn stamped(layers: &Layers, clusters: &[Overlay<'_>]) -> Vec<String> {
    let mut all = Vec::new();
    let names = TEMPLATES.map(|(name, _)| name);
    compiled().stamper(names, layers).expect("templates").work(&mut |renderer| {
        let cluster = Cluster::new("c", DataMap::default());
        for own in clusters {
            let (mut text, mut results) = (String::new(), Vec::new());
            let read = renderer.render(None, &cluster, own, &mut text, &mut results);
            all.push(format!("{text} {read:?} {results:?}"));
        }
    });
    all
}

/// Any inputs whose names are few, so that templates find some of them.
fn any_inputs() -> impl Strategy<Value = Json> {
    prop::collection::vec(("[a-d]", any_json()), 0..6).prop_map(|entries| Json::Object(entries.into_iter().collect()))
}

fn data(json: &Json) -> DataMap {
    serde_json::from_str::<Data>(&json.to_string()).expect("data").into_map().expect("a map")
}

/// What `serde_json` says of text.
fn expected(text: &str) -> Result<Data, String> {
    serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))
}

/// Returns data with the nearest floats in place of long numbers, as `serde_json` reads them.
fn nearest(data: &Data) -> Data {
    match data {
        Data::Number(text) => Data::Float(text.parse().expect("a number")),
        Data::List(items) => Data::List(items.iter().map(nearest).collect()),
        Data::Map(map) => Data::Map(map.iter().map(|(key, value)| (key.clone(), nearest(value))).collect()),
        other => other.clone(),
    }
}

/// Returns `read` with floats where `like` has them: the digits of `72850108997170348E0` make an integer, which `serde_json` rounds.
fn rounded(read: &Data, like: &Data) -> Data {
    match (read, like) {
        (Data::Int(n), Data::Float(_)) => Data::Float(*n as f64),
        (Data::Uint(n), Data::Float(_)) => Data::Float(*n as f64),
        (Data::List(read), Data::List(like)) if read.len() == like.len() => {
            Data::List(read.iter().zip(like).map(|(read, like)| rounded(read, like)).collect())
        }
        (Data::Map(read), Data::Map(like)) => {
            let below = |key: &str, read| like.get(key).map_or_else(|| Data::clone(read), |like| rounded(read, like));
            Data::Map(read.iter().map(|(key, read)| (key.clone(), below(key, read))).collect())
        }
        _ => read.clone(),
    }
}

/// What a builder says of text.
fn read(builder: &InputBuilder<'_, '_>, text: &str) -> Result<Data, String> {
    let text = builder.arena().copy_str(text);
    builder.json(text).map(|value| nearest(&value.to_data())).map_err(|error| error.message)
}

/// Returns what is read: some names of [`any_inputs`] and names below them.
fn any_paths() -> impl Strategy<Value = ReadPaths> {
    prop::collection::vec(prop::collection::vec("[a-d]|\\[\\]", 1..4), 0..5).prop_map(|found| {
        let mut paths = ReadPaths::default();
        found.iter().for_each(|path| paths.add(path.iter().map(String::as_str)));
        paths
    })
}

/// Returns `true` if `read` is `whole` with empty values in place of those that are not read.
fn agree(read: &Data, whole: &Data, paths: &ReadPaths, at: &ReadPosition) -> bool {
    if paths.is_whole(at) {
        return read == whole;
    }
    let below = |key: Option<&str>, read: &Data, whole: &Data| match paths.step(at, key) {
        Some(at) => agree(read, whole, paths, &at),
        None => read == whole || *read == empty(whole),
    };
    match (read, whole) {
        (Data::Map(read), Data::Map(whole)) => {
            let mut entries = read.iter().zip(whole);
            read.len() == whole.len()
                && entries.all(|((key, read), (same, whole))| key == same && below(Some(key.as_str()), read, whole))
        }
        (Data::List(read), Data::List(whole)) => {
            let mut items = read.iter().zip(whole);
            read.len() == whole.len() && items.all(|(read, whole)| below(None, read, whole))
        }
        _ => read == whole,
    }
}

fn empty(data: &Data) -> Data {
    match data {
        Data::Str(_) => Data::Str(String::new()),
        Data::List(_) => Data::List(Vec::new()),
        Data::Map(_) => Data::Map(DataMap::default()),
        _ => data.clone(),
    }
}

proptest! {
    #[test]
    fn what_is_not_read_is_empty(jsons in prop::collection::vec(any_inputs(), 1..4), paths in any_paths()) {
        let (arena, names) = (Arena::new(), Arena::new());
        let all: Vec<Data> = jsons.iter().map(|json| Data::Map(data(json))).collect();
        let shapes = Shapes::reading(&names, &paths);
        let builder = InputBuilder::new(&arena, &shapes);
        for (json, whole) in jsons.iter().zip(&all).chain(jsons.iter().zip(&all)) {
            let parsed = read(&builder, &json.to_string()).expect("JSON");
            for door in [parsed, builder.data(whole).expect("shallow").to_data()] {
                prop_assert!(agree(&door, whole, &paths, &paths.start()), "{door:?} of {json}");
            }
        }
    }

    #[test]
    fn clusters_as_text_give_what_clusters_as_data_give(
        shared in any_inputs(),
        clusters in prop::collection::vec(any_inputs(), 1..4),
        deep in any::<bool>(),
    ) {
        let merge = if deep { Merge::Deep } else { Merge::Replace };
        let layers = Layers::new([data(&shared)], Vec::new(), merge);
        let texts: Vec<String> = clusters.iter().map(Json::to_string).collect();
        // The second round finds the keys of the first.
        let known: Vec<_> = texts.iter().chain(&texts).map(|text| Overlay::Json(text)).collect();
        let owned: Vec<_> = clusters.iter().chain(&clusters).map(|json| Overlay::Map(Cow::Owned(data(json)))).collect();
        prop_assert_eq!(stamped(&layers, &known), stamped(&layers, &owned));
    }

    #[test]
    fn inputs_are_the_same_however_they_come_and_whatever_came_before(texts in prop::collection::vec(any_json(), 1..8)) {
        let mut space = InputSpace::default();
        for json in texts.iter().chain(&texts) {
            let text = json.to_string();
            let owned = expected(&text).expect("JSON");
            let doors = space.with(|builder| {
                let given = builder.serialize(json).expect("a value").to_data();
                let parsed = builder.deserialize(&mut serde_json::Deserializer::from_str(builder.arena().copy_str(&text)));
                [read(builder, &text).expect("JSON"), given, parsed.expect("JSON").to_data()]
            });
            for door in doors {
                prop_assert_eq!(&door, &owned, "{}", text);
            }
        }
    }

    #[test]
    fn damaged_text_is_refused_with_the_same_words(
        json in any_inputs(),
        at in any::<prop::sample::Index>(),
        with in "[\\[\\]{}:,\"0-9.eE+\\\\u \u{0}é-]{0,3}",
        cut in any::<bool>(),
        paths in any_paths(),
    ) {
        let whole = serde_json::to_string_pretty(&json).expect("JSON");
        let mut at = at.index(whole.len());
        while !whole.is_char_boundary(at) {
            at -= 1;
        }
        let rest = if cut { "" } else { whole[at..].chars().next().map_or("", |c| &whole[at + c.len_utf8()..]) };
        let text = format!("{}{with}{rest}", &whole[..at]);
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        // `serde_json` makes 0 of `1e-9999999999`, which is refused here.
        prop_assume!(!matches!(&read(&builder, &text), Err(message) if message.contains("does not fit 512 bits")));
        // With the keys of the whole text known, and without.
        for text in [&text, &whole, &text] {
            let expected = expected(text);
            let read = read(&builder, text).map(|read| expected.as_ref().map_or(read.clone(), |like| rounded(&read, like)));
            prop_assert_eq!(read, expected, "{}", text);
        }
        let shapes = Shapes::reading(&names, &paths);
        let builder = InputBuilder::new(&arena, &shapes);
        for text in [&text, &whole, &text] {
            prop_assert_eq!(read(&builder, text).map(drop), expected(text).map(drop), "{}", text);
        }
    }
}

#[test]
fn text_is_refused_with_the_words_of_serde_json() {
    let deep = |levels: usize| format!("{{\"z\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let builder = InputBuilder::new(&arena, &shapes);
    assert_eq!(read(&builder, &deep(126)), expected(&deep(126)));
    for text in [deep(127), deep(1 << 20)] {
        assert_eq!(read(&builder, &text).unwrap_err(), "the input nests too deep: the limit is 128 levels");
    }
    for text in [
        r#"{"z": 1e999}"#,
        r#"{"z": 01}"#,
        r#"{"z": -}"#,
        r#"{"z": 1.}"#,
        r#"{"z": "\ud800"}"#,
        r#"{"z": "\ud800\u0041"}"#,
        r#"{"z": "\udc00"}"#,
        r#"{"z": "\x"}"#,
        r#"{"z": "\u12"}"#,
        r#"{"z": "\u+123"}"#,
        "{\"z\": \"\n\"}",
        r#"{"z": {"y": 1,}}"#,
        r#"{"z": [1 2]}"#,
        r#"{"z": [}"#,
        r#"{"z": tru}"#,
        r#"{"z": 1} 2"#,
        r#"{"z": 1"#,
        r#"{"z"#,
        "",
        "\u{feff}{}",
        "{}\u{b}",
    ] {
        let refused = read(&builder, text);
        assert!(refused.is_err(), "{text}");
        assert_eq!(refused, expected(text), "{text}");
    }
}

#[test]
fn the_last_of_a_duplicate_key_counts() {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let builder = InputBuilder::new(&arena, &shapes);
    for _ in 0..2 {
        let shown = |text| serde_json::to_string(&read(&builder, text).unwrap()).unwrap();
        assert_eq!(shown(r#"{"a":{"b":1,"b":2,"x":3},"z":1,"a":{"b":4}}"#), r#"{"a":{"b":4},"z":1}"#);
        assert_eq!(shown(r#"{"\u0061":{"\u0062":-0},"c":"\ud83d\ude00"}"#), r#"{"a":{"b":-0.0},"c":"😀"}"#);
        assert_eq!(shown(r#"{"a":1,"\u0061":2}"#), r#"{"a":2}"#);
    }
}
