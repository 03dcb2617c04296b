//! The inputs of the construct table: 100 items, all of them different.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

/// Items of a loop.
pub const ITEMS: usize = 100;

/// Syllables of the generated words.
const PARTS: [&str; 10] = ["web", "core", "edge", "mesh", "auth", "pay", "queue", "store", "proxy", "batch"];

/// Returns one of `PARTS` by a number.
fn part(n: usize) -> &'static str {
    PARTS[n % PARTS.len()]
}

/// Returns the items, each with the fields that one of `texts` reads as `x.FIELD`, and the other names that they read.
pub fn inputs(texts: &[&str]) -> Value {
    let read = |name: &str| texts.iter().any(|text| mentions(text, name));
    // The first item has every field.
    let wanted: Vec<&String> = all(0).keys().filter(|name| read(&format!("x.{name}"))).collect();
    let item = |n| {
        let fields = all(n).iter().filter(|(name, _)| wanted.contains(name));
        Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect())
    };
    let mut inputs: Map<String, Value> = globals().into_iter().filter(|(name, _)| read(name)).collect();
    inputs.insert("items".into(), (0..ITEMS).map(item).collect());
    Value::Object(inputs)
}

/// Returns `true` if `text` has `name` as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    text.match_indices(name).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !part(before) && !part(bytes.get(at + name.len()))
    })
}

/// Returns the names beside the items.
fn globals() -> Map<String, Value> {
    let names: Vec<String> = (0..12).map(|n| format!("{}-{n:02}", part(n))).collect();
    let by_name: Map<String, Value> = names.iter().map(|name| (name.clone(), json!(name.len()))).collect();
    let Value::Object(globals) = json!({"names": names, "by_name": by_name, "limit": 50, "prefix": "we"}) else {
        unreachable!("a map")
    };
    globals
}

/// Returns all fields of an item.
pub fn all(n: usize) -> &'static Map<String, Value> {
    static ALL: LazyLock<Vec<Map<String, Value>>> = LazyLock::new(|| (0..ITEMS).map(fields).collect());
    &ALL[n]
}

/// Makes the fields of an item.
fn fields(n: usize) -> Map<String, Value> {
    let word = format!("{}-{n:02}", part(n));
    let (a, b, c) = (part(n), part(n * 3 + 1), part(n * 7 + 2));
    let text = format!("The {a} service number {n} calls {b} and then {c} until it is done");
    let ports: Vec<Value> =
        (0..4).map(|k| json!({"name": format!("{}{k}", part(n + k)), "port": 8000 + (n * 31 + k * 17) % 97})).collect();
    let Value::Object(mut fields) = json!({
        "s": word,
        "text": text,
        "long": format!("{text}; {b} {c} {a}.\n").repeat(4),
        "unicode": format!("Größe {n} für {a} – naïve {b}"),
        "padded": format!("  {a} {n} "),
        "slashed": format!("//{a}/{n}//"),
        "csv": format!("{a},{b},{c},{n}"),
        "lines": format!("{a}: {n}\n{b}:\n  - {c}\n\nend: {n}"),
        "html": format!("<b class=\"{a}\">{n} & {b}<br>\n  <i>{c}<br>"),
        "n": n,
        "m": n % 7 + 1,
        "neg": -(n as i64) - 1,
        "f": n as f64 + 0.256 + (n % 4) as f64 * 0.11,
        "size": n * 7_919 * 1_031,
        "digits": (n * 37).to_string(),
        "decimal": format!("{n}.25"),
        "flag": n.is_multiple_of(3),
        "other": n.is_multiple_of(2),
        "list": [a, b, c, word],
        "nums": [n % 13, n % 7, n % 29, n % 3],
        "filled": if n.is_multiple_of(2) { json!([a, b]) } else { json!([]) },
        "mixed": [a, "Web", b, "web", a],
        "ports": ports,
        "map": {"app": a, "tier": b, "zone": c, "name": word},
        "deep": {"meta": {"labels": {"app": a, "nth": n}}},
        "time": 1_600_000_000 + n * 86_461,
        "stamp": format!("20{:02}-{:02}-{:02}T{:02}:04:05Z", 10 + n % 20, n % 12 + 1, n % 28 + 1, n % 24),
        "version": format!("{}.{}.{}", n % 4 + 1, n % 11, n),
        "ip": format!("10.{}.{}.7", n % 5, n),
        "cidr": format!("10.{}.{n}.0/24", n % 5),
        "name": format!("{a}_{b}.{c}/{n}"),
        "coded": base64(n),
        "json": json!({"app": a, "n": n, "list": [b, c]}).to_string(),
        "yaml": format!("app: {a}\nn: {n}\nlist:\n  - {b}\n  - {c}\n"),
    }) else {
        unreachable!("a map")
    };
    // Missing in half of the items.
    if n.is_multiple_of(2) {
        fields.insert("maybe".into(), json!(word));
    }
    fields
}

/// Returns base64 of a text of twelve digits.
fn base64(n: usize) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(format!("{:012}", n * 7_919))
}
