//! Values survive a round trip, and comparing and printing agree with `serde_json`.

use dropforge::bulk::values::merge;
use dropforge::value::{Arena, Data, InputBuilder, Inputs, JsonStyle, Shapes, equal, write_json};
use proptest::prelude::*;
use serde_json::Value as Json;

/// Any JSON value, a few levels deep, with few distinct keys so that maps share shapes and collide.
pub fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("JSON has no such number", |n| n.is_finite()).prop_map(Json::from),
        "[ -~é\u{1F600}\n\t\"\\\\]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 48, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Json::from),
            prop::collection::vec(("[a-dé]{0,2}", inner), 0..12)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

/// Any JSON object with few distinct keys, so that two of them share most of theirs.
fn any_object() -> impl Strategy<Value = Json> {
    prop::collection::vec(("[a-d]", any_json()), 0..6).prop_map(|entries| Json::Object(entries.into_iter().collect()))
}

fn compact(value: dropforge::value::Value<'_>) -> String {
    let mut text = String::new();
    write_json(value, JsonStyle::Compact, &mut text, &mut Ok::<_, ()>).expect("it does not refuse");
    text
}

proptest! {
    #[test]
    fn json_text_serialize_and_data_make_the_same_value(json in any_json()) {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        // `serde_json` reads some floats one unit in the last place off, so compare with its reading.
        let written = serde_json::to_string(&json).expect("JSON");
        let json: Json = serde_json::from_str(&written).expect("JSON");
        let text = serde_json::to_string(&json).expect("JSON");
        let parsed = builder.json(arena.copy_str(&written)).expect("it reads");
        let serialized = builder.serialize(&json).expect("it serialises");
        let data = parsed.to_data();
        let from_data = builder.data(&data).unwrap();
        prop_assert_eq!(&compact(parsed), &text);
        prop_assert_eq!(&compact(serialized), &text);
        prop_assert_eq!(&compact(from_data), &text);
        prop_assert!(equal(parsed, serialized, &mut || Ok::<_, ()>(())).expect("no refusal"));
        let mut pretty = String::new();
        write_json(parsed, JsonStyle::Pretty, &mut pretty, &mut Ok::<_, ()>).expect("no refusal");
        prop_assert_eq!(pretty, serde_json::to_string_pretty(&json).expect("JSON"));
    }

    #[test]
    fn equality_is_that_of_serde_json(a in any_json(), b in any_json()) {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let (x, y) = (builder.serialize(&a).expect("a"), builder.serialize(&b).expect("b"));
        prop_assert_eq!(equal(x, y, &mut || Ok::<_, ()>(())).expect("no refusal"), a == b);
    }

    #[test]
    fn layers_answer_as_the_merged_map(base in any_json(), over in any_json()) {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let inputs = Inputs::layered(builder.serialize(&base).expect("a"), builder.serialize(&over).expect("b"));
        let mut merged = base.as_object().cloned().unwrap_or_default();
        merged.extend(over.as_object().cloned().unwrap_or_default());
        let mut seen: Vec<_> = inputs.iter().map(|(name, value)| (name.to_owned(), compact(value))).collect();
        seen.sort();
        let wanted: Vec<_> = merged.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        prop_assert_eq!(seen, wanted);
        for (name, value) in &merged {
            prop_assert_eq!(inputs.get(name).map(compact), Some(value.to_string()));
        }
    }

    #[test]
    fn merged_values_are_those_of_merged_data(base in any_object(), over in any_object()) {
        let data = |json: &Json| serde_json::from_value::<Data>(json.clone()).expect("data").into_map().expect("a map");
        let mut all = data(&base);
        merge(&mut all, data(&over));
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let inputs = builder.merged(builder.serialize(&base).expect("a"), builder.serialize(&over).expect("b"));
        let mut seen: Vec<_> = inputs.iter().map(|(name, value)| (name.to_owned(), compact(value))).collect();
        let json = |value: &Data| serde_json::to_value(value).expect("JSON").to_string();
        let mut wanted: Vec<_> = all.iter().map(|(name, value)| (name.clone(), json(value))).collect();
        seen.sort();
        wanted.sort();
        prop_assert_eq!(seen, wanted);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in "\\PC{0,40}|[\\[\\]{}:,\"0-9.eE+-]{0,60}") {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let ours = builder.json(&bytes).map(compact).ok();
        let theirs = serde_json::from_str::<Json>(&bytes).ok().map(|json| json.to_string());
        prop_assert_eq!(ours, theirs);
    }
}
