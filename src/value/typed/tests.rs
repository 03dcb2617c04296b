use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::from_value;
use crate::{Arena, Capsule, CapsuleContent, Data, Entries, Extended, Type, Value};
use dropforge_base::diagnostics::Code;
use dropforge_base::stdlib::bignum::BigNum;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Shape {
    Point,
    Circle(f64),
    Line(i8, i8),
    Rect { w: u8, h: u8 },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Either {
    Number(i64),
    Text(String),
    List(Vec<Either>),
    Map(BTreeMap<String, Either>),
}

#[derive(Debug, Deserialize, PartialEq)]
struct Meta {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Data>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Port {
    number: u16,
    #[serde(default)]
    names: Vec<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Wrapped(Option<Inner>);

#[derive(Debug, Deserialize, PartialEq)]
struct Inner(u8);

#[derive(Debug, Deserialize, PartialEq)]
struct Nothing;

fn error<T: DeserializeOwned + std::fmt::Debug>(value: Value<'_>) -> String {
    let error = from_value::<T>(value).unwrap_err();
    assert_eq!(error.code, Code::Unfit);
    error.message
}

fn list<'v>(arena: &'v Arena, numbers: &[i64]) -> Value<'v> {
    arena.list(&numbers.iter().copied().map(Value::Int).collect::<Vec<_>>())
}

fn optional<'v>(arena: &'v Arena, value: Value<'v>) -> Value<'v> {
    arena.extended(Extended::Optional(value))
}

#[test]
fn plain_values_deserialize_unchanged() {
    let arena = Arena::new();
    let text = arena.text("é");
    assert_eq!(from_value::<&str>(text).unwrap(), "é");
    assert_eq!(from_value::<char>(text).unwrap(), 'é');
    assert_eq!(from_value::<(i8, u64, f32)>(list(&arena, &[-1, 2, 3])).unwrap(), (-1, 2, 3.0));
    assert_eq!(from_value::<[i128; 2]>(list(&arena, &[i64::MIN, 0])).unwrap(), [i64::MIN.into(), 0]);
    assert_eq!(from_value::<u128>(Value::Uint(u64::MAX)).unwrap(), u64::MAX.into());
    assert_eq!(from_value::<(bool, f64)>(arena.list(&[Value::Bool(true), Value::Float(0.5)])).unwrap(), (true, 0.5));
    assert!(from_value::<()>(Value::Null).is_ok());
    assert_eq!(from_value::<Option<u8>>(Value::Undefined).unwrap(), None);
    assert_eq!(from_value::<Nothing>(arena.null(Type::Number)).unwrap(), Nothing);
    assert_eq!(from_value::<Wrapped>(Value::Int(7)).unwrap(), Wrapped(Some(Inner(7))));
    from_value::<IgnoredAny>(arena.unknown(Type::Dynamic)).unwrap();
}

#[test]
fn owned_data_is_the_twin() {
    let arena = Arena::new();
    let inner = arena.map(&[("z", Value::Null), ("a", Value::Uint(u64::MAX))]);
    let value = arena.map(&[("k", arena.list(&[inner, Value::Float(-0.5), arena.text("")])), ("", Value::Bool(false))]);
    assert_eq!(from_value::<Data>(value).unwrap(), value.to_data());
    assert_eq!(from_value::<serde_json::Value>(value).unwrap(), serde_json::to_value(value.to_data()).unwrap());
}

#[test]
fn variants_are_names_or_maps_of_one() {
    let arena = Arena::new();
    let of = |value| from_value::<Shape>(value).map_err(|error| error.message);
    let one = |name, value| arena.map(&[(name, value)]);
    assert_eq!(of(arena.text("point")), Ok(Shape::Point));
    assert_eq!(of(one("point", Value::Null)), Ok(Shape::Point));
    assert_eq!(of(one("circle", Value::Int(2))), Ok(Shape::Circle(2.0)));
    assert_eq!(of(one("line", list(&arena, &[1, -1]))), Ok(Shape::Line(1, -1)));
    let sides = arena.map(&[("w", Value::Int(1)), ("h", Value::Uint(2))]);
    assert_eq!(of(optional(&arena, one("rect", sides))), Ok(Shape::Rect { w: 1, h: 2 }));
    assert_eq!(of(one("rect", one("w", Value::Int(1)))), Err("rect: `h` is missing".into()));
    assert_eq!(of(one("line", list(&arena, &[1, 300]))), Err("line[1]: expected i8, found integer `300`".into()));
    assert_eq!(of(sides), Err("expected a variant and its value, found a map of 2".into()));
    assert_eq!(of(arena.map(&[])), Err("expected a variant and its value, found a map of 0".into()));
    assert_eq!(of(Value::Int(0)), Err("expected a variant, found integer".into()));
    let error = from_value::<Shape>(arena.text("pount")).unwrap_err();
    assert_eq!(
        (error.message.as_str(), error.help.as_deref()),
        ("unknown variant \"pount\"", Some("did you mean `point`?"))
    );
    assert_eq!(error.available.unwrap(), ["circle", "line", "point", "rect"]);
}

#[test]
fn buffered_values_keep_their_types() {
    let arena = Arena::new();
    let value = arena.list(&[Value::Int(1), arena.text("a"), arena.map(&[("k", list(&arena, &[2]))])]);
    let inner = Either::Map(BTreeMap::from([("k".into(), Either::List(vec![Either::Number(2)]))]));
    assert_eq!(
        from_value::<Either>(value).unwrap(),
        Either::List(vec![Either::Number(1), Either::Text("a".into()), inner])
    );
    let meta = arena.map(&[("app", Value::Bool(true)), ("name", arena.text("web")), ("n", Value::Int(1))]);
    let rest = BTreeMap::from([("app".into(), Data::Bool(true)), ("n".into(), Data::Int(1))]);
    assert_eq!(from_value::<Meta>(meta).unwrap(), Meta { name: "web".into(), rest });
}

#[test]
fn optionals_are_options() {
    let arena = Arena::new();
    let (none, some) = (optional(&arena, Value::Undefined), optional(&arena, Value::Int(1)));
    assert_eq!(from_value::<[Option<u8>; 3]>(arena.list(&[none, some, Value::Null])).unwrap(), [None, Some(1), None]);
    assert_eq!(from_value::<Option<Option<u8>>>(optional(&arena, none)).unwrap(), Some(None));
    assert_eq!(from_value::<Option<Option<u8>>>(optional(&arena, Value::Null)).unwrap(), Some(None));
    assert_eq!(from_value::<u8>(some).unwrap(), 1);
    assert_eq!(error::<u8>(none), "expected u8, found null");
    let port = arena.map(&[("number", Value::Int(80)), ("names", optional(&arena, arena.list(&[])))]);
    assert_eq!(from_value::<Port>(optional(&arena, port)).unwrap(), Port { number: 80, names: vec![] });
}

#[test]
fn bytes_are_bytes_or_numbers() {
    let arena = Arena::new();
    let bytes = arena.extended(Extended::Bytes(b"\xFFab"));
    assert_eq!(from_value::<&[u8]>(bytes).unwrap(), b"\xFFab");
    assert_eq!(from_value::<Vec<u8>>(bytes).unwrap(), b"\xFFab");
    assert_eq!(from_value::<Vec<u8>>(optional(&arena, bytes)).unwrap(), b"\xFFab");
    assert_eq!(from_value::<[u16; 3]>(bytes).unwrap(), [255, 97, 98]);
    assert_eq!(from_value::<String>(arena.extended(Extended::Bytes(b"ab"))).unwrap(), "ab");
    assert_eq!(error::<String>(bytes), "expected a string, found bytes");
    assert_eq!(error::<(u8, u8)>(bytes), "expected 2 elements in sequence, found 3 items");
    assert_eq!(error::<Vec<i8>>(bytes), "expected i8, found integer `255`");
    assert_eq!(from_value::<&[u8]>(arena.text("ab")).unwrap(), b"ab");
}

#[test]
fn times_are_texts_or_the_types_of_the_standard_library() {
    let arena = Arena::new();
    let span = |nanos| arena.extended(Extended::Duration(nanos));
    let moment = |seconds| arena.extended(Extended::Timestamp { seconds, nanos: 5_000_000 });
    assert_eq!(from_value::<String>(span(-1_500_000_000)).unwrap(), "-1.5s");
    assert_eq!(from_value::<Duration>(span(1_500_000_000)).unwrap(), Duration::from_millis(1500));
    assert_eq!(error::<Duration>(span(-1)), "expected a Duration, found a negative one");
    assert_eq!(from_value::<String>(moment(0)).unwrap(), "1970-01-01T00:00:00.005Z");
    let wanted = SystemTime::UNIX_EPOCH + Duration::from_millis(2005);
    assert_eq!(from_value::<Option<SystemTime>>(optional(&arena, moment(2))).unwrap(), Some(wanted));
    assert_eq!(error::<SystemTime>(moment(-1)), "expected a SystemTime, found a negative one");
    assert_eq!(error::<Duration>(Value::Int(1)), "expected struct Duration, found integer `1`");
}

#[test]
fn keys_deserialize_as_values_or_as_text() {
    let arena = Arena::new();
    let keys = [Value::Int(-1), Value::Uint(2)];
    let of =
        |keys: &[Value<'static>]| arena.entries(Entries::new(&arena, keys, &[Value::Int(10), Value::Int(20)]).unwrap());
    let numbers = of(&keys);
    assert_eq!(from_value::<HashMap<i64, u8>>(numbers).unwrap(), HashMap::from([(-1, 10), (2, 20)]));
    assert_eq!(
        from_value::<BTreeMap<String, u8>>(numbers).unwrap(),
        BTreeMap::from([("-1".into(), 10), ("2".into(), 20)])
    );
    assert_eq!(error::<HashMap<u64, u8>>(numbers), "expected u64, found integer `-1`");
    assert_eq!(from_value::<Data>(numbers).unwrap(), numbers.to_data());
    let truths = of(&[Value::Bool(true), Value::Bool(false)]);
    assert_eq!(from_value::<HashMap<bool, u8>>(truths).unwrap(), HashMap::from([(true, 10), (false, 20)]));
    // A number does not select a field by index.
    assert_eq!(error::<Port>(of(&[Value::Uint(0), Value::Uint(1)])), "unknown field \"0\"");
    let values = arena.map(&[("point", arena.text("x")), ("oval", arena.text("y"))]);
    assert_eq!(error::<HashMap<Name, String>>(values), "unknown variant \"oval\"");
    assert_eq!(error::<HashMap<i64, String>>(values), "expected i64, found string \"point\"");
}

#[derive(Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
enum Name {
    Point,
}

#[test]
fn numbers_are_of_the_first_type_that_they_fit() {
    let arena = Arena::new();
    let number = |text: &str| arena.number(BigNum::parse(text).unwrap());
    assert_eq!(from_value::<i64>(number("-5")).unwrap(), -5);
    assert_eq!(from_value::<u64>(number("18446744073709551615")).unwrap(), u64::MAX);
    assert_eq!(from_value::<f64>(number("0.5")).unwrap(), 0.5);
    assert_eq!(from_value::<f64>(number("1e30")).unwrap(), 1e30);
    assert_eq!(error::<u8>(number("2.5")), "expected u8, found floating point `2.5`");
    assert_eq!(error::<f64>(number("1e400")), "the number is too large");
    let spelled = arena.spelled(Value::Int(8), "8");
    assert_eq!(from_value::<u8>(spelled).unwrap(), 8);
    assert_eq!(from_value::<u8>(arena.tagged(Value::Int(8), "!a", 0)).unwrap(), 8);
}

#[test]
fn mismatches_have_paths() {
    let arena = Arena::new();
    let port =
        |number, name| arena.map(&[("number", Value::Int(number)), ("names", arena.list(&[arena.text("a"), name]))]);
    let ports = |port| arena.map(&[("a b", arena.list(&[port])), ("c", arena.list(&[]))]);
    type Ports = BTreeMap<String, Vec<Port>>;
    assert_eq!(
        error::<Ports>(ports(port(70_000, Value::Null))),
        "[\"a b\"][0].number: expected u16, found integer `70000`"
    );
    assert_eq!(error::<Ports>(ports(port(1, Value::Null))), "[\"a b\"][0].names[1]: expected a string, found null");
    assert_eq!(error::<Ports>(arena.map(&[("c", Value::Null)])), "c: expected a sequence, found null");
    assert_eq!(error::<Port>(arena.map(&[])), "`number` is missing");
    assert_eq!(error::<Port>(list(&arena, &[])), "expected struct Port with 2 elements, found 0 items");
    let unknown = from_value::<Port>(arena.map(&[("nummer", Value::Null)])).unwrap_err();
    assert_eq!(
        (unknown.message.as_str(), unknown.help.as_deref()),
        ("unknown field \"nummer\"", Some("did you mean `number`?"))
    );
    assert_eq!(error::<(u8, u8)>(list(&arena, &[1, 2, 3])), "expected a list of 2, found 3 items");
    assert_eq!(error::<(u8, u8)>(list(&arena, &[1])), "expected a tuple of size 2, found 1 item");
    assert_eq!(error::<u8>(arena.text(&"é".repeat(99))), format!("expected u8, found string \"{}\"…", "é".repeat(30)));
    assert_eq!(error::<u8>(list(&arena, &[])), "expected u8, found a list");
    assert_eq!(error::<u8>(Value::Float(1.0)), "expected u8, found floating point `1.0`");
    assert_eq!(error::<String>(arena.map(&[])), "expected a string, found a map");
    assert_eq!(error::<Data>(arena.list(&[arena.unknown(Type::Dynamic)])), "[0]: the value is not known");
    let capsule = |content| arena.extended(Extended::Capsule(Capsule { name: "net.IP", id: 0, content }));
    assert_eq!(from_value::<String>(capsule(CapsuleContent::Text("::1"))).unwrap(), "::1");
    assert_eq!(error::<String>(capsule(CapsuleContent::Opaque)), "a capsule is not a value of any Rust type");
    assert_eq!(from_value::<String>(arena.extended(Extended::Named("int"))).unwrap(), "int");
}

#[test]
fn marked_values_are_not_revealed() {
    let arena = Arena::new();
    let marked = |value| arena.marked(value, &["secret"]);
    assert_eq!(from_value::<String>(marked(arena.text("x"))).unwrap(), "x");
    assert_eq!(from_value::<Option<u8>>(marked(Value::Null)).unwrap(), None);
    let hidden = "a marked value does not fit";
    assert_eq!(error::<u8>(marked(arena.text("hunter2"))), hidden);
    assert_eq!(error::<Option<u8>>(marked(arena.text("hunter2"))), hidden);
    assert_eq!(error::<Shape>(marked(arena.text("hunter2"))), hidden);
    assert_eq!(error::<Vec<i8>>(marked(arena.extended(Extended::Bytes(b"\xFF")))), hidden);
    assert_eq!(error::<BTreeMap<String, u8>>(arena.map(&[("k", marked(list(&arena, &[1])))])), format!("k: {hidden}"));
    assert_eq!(error::<Vec<u8>>(marked(list(&arena, &[1, 300]))), hidden);
}
