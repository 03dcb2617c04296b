//! The JSON writer against another one, with deep trees and with limits.

use std::convert::Infallible;

use super::*;
use crate::output::plain;
use crate::{Arena, Data, Extended, InputBuilder, Shapes};

fn written(value: Value<'_>, style: JsonStyle) -> String {
    // Behind other text, the writer has a buffer of its own.
    let (mut out, mut behind) = (String::new(), "before".to_owned());
    for out in [&mut out, &mut behind] {
        assert_eq!(write_json(value, style, out, &mut Ok::<_, ()>), Ok(()));
    }
    assert_eq!(behind, format!("before{out}"));
    out
}

/// Returns data of at most `depth` levels.
fn random(random: &mut fastrand::Rng, depth: u32) -> Data {
    let text = |random: &mut fastrand::Rng| {
        let letters = ["a", "Z", " ", "é", "\"", "\\", "\n", "\u{1}", "long and clean text behind "];
        (0..random.usize(0..12)).map(|_| random.choice(letters).unwrap_or("")).collect::<String>()
    };
    match random.u8(if depth == 0 { 2 } else { 0 }..9) {
        0 => Data::List((0..random.usize(0..5)).map(|_| self::random(random, depth - 1)).collect()),
        1 => {
            let entries = (0..random.usize(0..5)).map(|_| (text(random), self::random(random, depth - 1)));
            Data::Map(entries.collect())
        }
        2 => Data::Null,
        3 => Data::Bool(random.bool()),
        4 => Data::Int(random.i64(-20_000..20_000)),
        5 => Data::Uint(u64::MAX - random.u64(0..9)),
        6 => Data::Float(f64::from(random.i32(-900..900)) / 8.0),
        _ => Data::Str(text(random)),
    }
}

#[test]
fn texts_are_those_of_another_writer() {
    let mut rng = fastrand::Rng::with_seed(11);
    for _ in 0..2000 {
        let data = random(&mut rng, 4);
        let (arena, kept) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&kept);
        let value = InputBuilder::new(&arena, &shapes).serialize(&data).unwrap();
        // Its maps are sorted as well.
        let sorted = serde_json::to_value(&data).unwrap();
        assert_eq!(written(value, JsonStyle::Compact), sorted.to_string());
        assert_eq!(written(value, JsonStyle::Pretty), serde_json::to_string_pretty(&sorted).unwrap());
    }
}

#[test]
fn any_depth_is_written() {
    const DEPTH: usize = 200_000;
    let arena = Arena::new();
    let deep = (0..DEPTH).fold(arena.list(&[]), |inner, _| arena.list(&[inner]));
    let text = written(deep, JsonStyle::Compact);
    assert_eq!(text, format!("{}{}", "[".repeat(DEPTH + 1), "]".repeat(DEPTH + 1)));
}

#[test]
fn every_length_is_asked_about() {
    let arena = Arena::new();
    let long = arena.text(&"x\n".repeat(200));
    let empty = arena.list(&vec![arena.list(&[]); 1000]);
    let entries = arena.list(&vec![arena.map(&[("k", Value::Bool(true))]); 300]);
    for value in [long, empty, entries, arena.list(&[long; 9]), arena.list(&vec![Value::Float(0.5); 700])] {
        let whole = written(value, JsonStyle::Compact).len();
        for limit in [0, 1, 100, whole - 1, whole] {
            let (mut out, mut most) = (String::new(), 0);
            let result = write_json(value, JsonStyle::Compact, &mut out, &mut |len| {
                most = most.max(len);
                if len > limit { Err(()) } else { Ok(len) }
            });
            assert_eq!(result.is_ok(), limit >= whole, "{limit} of {whole}");
            assert!(out.len() <= limit + 32 && most >= limit.min(whole), "{} at {limit}", out.len());
        }
    }
}

const COMPACT: JsonStyle = JsonStyle::Exchanged { pretty: false, markup: true };

/// Returns a value as services exchange it.
fn exchanged(value: Value<'_>, style: JsonStyle) -> Result<String, Refused<Infallible>> {
    let mut out = String::new();
    exchange_json(Viewed(value, &plain), style, &mut out, &mut |_| Ok(())).map(|()| out)
}

#[test]
fn texts_are_escaped_for_web_pages_or_not() {
    let arena = Arena::new();
    let text = arena.text("<a>&\u{2028}\u{e9}\"\\\n\t\u{1}\u{8}\u{7f}");
    assert_eq!(exchanged(text, COMPACT).unwrap(), "\"\\u003ca\\u003e\\u0026\\u2028é\\\"\\\\\\n\\t\\u0001\\b\u{7f}\"");
    let raw = JsonStyle::Exchanged { pretty: false, markup: false };
    assert_eq!(exchanged(arena.text("<&>"), raw).unwrap(), "\"<&>\"");
    let bytes = arena.extended(Extended::Bytes(b"h\xc3("));
    assert_eq!(exchanged(bytes, raw).unwrap(), "\"h\u{fffd}(\"");
}

#[test]
fn keys_are_sorted_and_levels_indented() {
    let arena = Arena::new();
    let list = arena.list(&[Value::Float(1.0), Value::Null, arena.list(&[])]);
    let map = arena.map(&[("b", list), ("B", Value::Bool(true)), ("a", arena.map(&[]))]);
    assert_eq!(exchanged(map, COMPACT).unwrap(), r#"{"B":true,"a":{},"b":[1,null,[]]}"#);
    let wanted = "{\n  \"B\": true,\n  \"a\": {},\n  \"b\": [\n    1,\n    null,\n    []\n  ]\n}";
    assert_eq!(exchanged(map, JsonStyle::Exchanged { pretty: true, markup: true }).unwrap(), wanted);
}

#[test]
fn what_json_cannot_hold_is_refused() {
    for (n, name) in [(f64::NAN, "NaN"), (f64::INFINITY, "+Inf"), (f64::NEG_INFINITY, "-Inf")] {
        let refused = Refused::Value(format!("json: unsupported value: {name}"));
        assert_eq!(exchanged(Value::Float(n), COMPACT), Err(refused));
    }
    let arena = Arena::new();
    let stopped = exchange_json(Viewed(arena.text("long"), &plain), COMPACT, &mut String::new(), &mut |_| Err("full"));
    assert_eq!(stopped, Err(Refused::Stopped("full")));
}
