//! YAML readers of other languages read our output back: a table of hostile strings in every position, numbers, keys,
//! and streams of documents, in every format.
//!
//! `spec-tests/yaml-readers/install` installs the readers. If they are missing, the test prints a message and is
//! skipped; in CI it fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use dropforge::value::{Arena, Entries, Extended, Key, OutputFormat, Tree, TreeNode, Value, write_documents};
use serde_json::{Value as Json, json};

const STRINGS: &str = include_str!("../yaml-readers/strings.json");

/// A stream of documents in a format, and its output.
struct Case<'v> {
    documents: &'v [Value<'v>],
    format: OutputFormat,
    text: String,
}

fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(target).join("yaml-readers")
}

fn script(program: &str, name: &str, arguments: &[&Path]) -> Option<String> {
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("spec-tests/yaml-readers").join(name);
    let output = Command::new(program)
        .env("PYTHONPATH", folder().join("python"))
        .env("PYTHONUTF8", "1")
        .env("NODE_PATH", folder().join("node_modules"))
        .arg(script)
        .args(arguments)
        .output()
        .ok()?;
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// A string as a value, as a key, nested, and as a whole document.
fn with_text<'v>(arena: &'v Arena, text: &str) -> [Value<'v>; 2] {
    let (key, text) = (arena.copy_str(text), arena.text(text));
    let pair = arena.map(&[(key, text), ("the key", text)]);
    let lists = arena.list(&[arena.list(&[text, pair]), text, arena.list(&[])]);
    [arena.map(&[("first", text), (key, text), ("nested", pair), ("lists", lists), ("last", text)]), text]
}

/// Numbers of every kind, and keys that are not strings.
fn numbers(arena: &Arena) -> [Value<'_>; 3] {
    let floats = [0.0, -0.0, 1.0, 1.5, 0.1, 1e21, -1e21, 1e-7, 123_456_789.0, f64::MAX, 5e-324, f64::MIN_POSITIVE];
    let odd = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let ints = [0, 1, -1, 12, 8080, i64::MAX, i64::MIN];
    let mut all: Vec<Value<'_>> = floats.into_iter().chain(odd).map(Value::Float).collect();
    all.extend(ints.into_iter().map(Value::Int));
    all.extend([Value::Uint(u64::MAX), Value::Bool(true), Value::Bool(false), Value::Null]);
    for (number, spelling) in [(1.1, "1.10"), (1000.0, "1e3"), (1500.0, "1.50E+003"), (0.5, ".5"), (-2.0, "-2.000")] {
        all.push(arena.spelled(Value::Float(number), spelling));
    }
    all.push(arena.spelled(Value::Int(12), "012"));
    // Two maps, because some readers treat `true` and 1 as one key.
    let keys = [[Value::Int(1), Value::Int(-5)], [Value::Bool(true), Value::Bool(false)]];
    let keyed = keys.map(|keys| arena.extended(Extended::Entries(Entries::new(arena, &keys, &all).expect("keys"))));
    let all = arena.list(&all);
    let empty = arena.map(&[("a", arena.map(&[])), ("b", arena.list(&[arena.list(&[]), arena.map(&[])]))]);
    [all, arena.list(&keyed), arena.list(&[arena.map(&[("numbers", all)]), empty])]
}

fn cases(arena: &Arena) -> Vec<Case<'_>> {
    let strings: Vec<String> = serde_json::from_str(STRINGS).expect("a table of texts");
    assert!(strings.len() >= 1000);
    let mut streams: Vec<Vec<Value<'_>>> = strings.iter().map(|text| with_text(arena, text).to_vec()).collect();
    streams.push(numbers(arena).to_vec());
    streams.push(strings.iter().map(|text| arena.text(text)).collect());
    let mut cases = Vec::new();
    for documents in streams {
        let documents = arena.list(&documents).as_list().expect("a list");
        for format in [OutputFormat::Yaml, OutputFormat::Kyaml, OutputFormat::Ndjson] {
            let mut text = String::new();
            write_documents(documents.iter().copied(), format, 1 << 20, &mut text).expect("it is written");
            cases.push(Case { documents, format, text });
        }
    }
    cases
}

/// Returns `true` if a reader's answer equals the value.
fn same(value: Value<'_>, answer: &Json, format: OutputFormat) -> bool {
    let number = |key: &str| answer.get(key).and_then(Json::as_str);
    match value.node() {
        TreeNode::Null => answer.is_null(),
        TreeNode::Bool(b) => answer == b,
        TreeNode::Text(text) => answer == text.as_str(),
        TreeNode::Int(n) => same_int(n.into(), answer),
        TreeNode::Uint(n) => same_int(n.into(), answer),
        TreeNode::Float(n) if n.is_finite() || format != OutputFormat::Ndjson => {
            let read = number("num").and_then(|text| text.parse::<f64>().ok());
            read.is_some_and(|read| (read.is_nan() && n.is_nan()) || read.to_bits() == n.to_bits())
        }
        TreeNode::Float(n) => {
            *answer
                == if n.is_nan() {
                    "NaN"
                } else if n > 0.0 {
                    "Infinity"
                } else {
                    "-Infinity"
                }
        }
        TreeNode::Spelled(_) => {
            let Some(Extended::Written(value, _)) = value.extended() else { return false };
            same(*value, answer, format)
        }
        TreeNode::List(items) => {
            let Some(answers) = answer.as_array() else { return false };
            answers.len() == items.len() && items.zip(answers).all(|(item, answer)| same(item, answer, format))
        }
        TreeNode::Map(entries) => {
            let Some(answers) = answer.get("map").and_then(Json::as_array) else { return false };
            answers.len() == entries.len()
                && entries.into_iter().all(|(key, value)| {
                    answers.iter().any(|pair| same_key(key, &pair[0]) && same(value, &pair[1], format))
                })
        }
        _ => false,
    }
}

fn same_int(n: i128, answer: &Json) -> bool {
    let number = |key: &str| answer.get(key).and_then(Json::as_str);
    let near = |text: &str| text.parse::<f64>().is_ok_and(|read| read == n as f64);
    number("int").map_or_else(|| number("num").is_some_and(near), |text| text == n.to_string())
}

/// Compares keys. Some readers and formats turn other keys into strings.
fn same_key(key: Key<'_>, answer: &Json) -> bool {
    match key {
        Key::Text(text) => answer == text.as_str(),
        Key::Bool(b) if answer == b => true,
        Key::Int(n) if same_int(n.into(), answer) => true,
        Key::Uint(n) if same_int(n.into(), answer) => true,
        other => answer.as_str() == Some(&*other.to_text()),
    }
}

fn compare(cases: &[Case<'_>], answers: &str, readers: &[&str], wrong: &mut Vec<String>) {
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    let mut answers = answers.lines().map(|line| serde_json::from_str::<Json>(line).expect("an answer"));
    for case in cases {
        let of_format = if case.format == OutputFormat::Ndjson { 1 } else { readers.len() };
        for answer in answers.by_ref().take(of_format) {
            let reader = answer[0].as_str().expect("a name");
            *asked.entry(reader.to_owned()).or_default() += 1;
            let read = answer[1].as_array();
            let right = read.is_some_and(|read| {
                let pairs = || case.documents.iter().zip(read);
                read.len() == case.documents.len() && pairs().all(|(want, got)| same(*want, got, case.format))
            });
            if !right {
                let text: String = case.text.chars().take(200).collect();
                let found: String = answer.to_string().chars().take(400).collect();
                wrong.push(format!("{reader} of {}: {text:?} is read as {found}", case.format.name()));
            }
        }
    }
    assert!(answers.next().is_none());
    assert!(readers.iter().all(|reader| asked.contains_key(*reader)), "{asked:?}");
}

#[test]
fn readers_of_other_languages_read_our_output_back() {
    if !folder().join("installed").exists() {
        let what = "the readers of other languages are missing: run `spec-tests/yaml-readers/install`";
        assert!(std::env::var_os("CI").is_none(), "{what}");
        eprintln!("skipped: {what}");
        return;
    }
    let arena = Arena::new();
    let cases = cases(&arena);
    let lines: String =
        cases.iter().map(|case| json!({"format": case.format.name(), "text": case.text}).to_string() + "\n").collect();
    let scratch = tempfile::tempdir().expect("a folder");
    let file = scratch.path().join("cases.jsonl");
    std::fs::write(&file, lines).expect("it is written");
    let (python, node) = std::thread::scope(|scope| {
        let python = scope.spawn(|| script("python3", "read.py", &[&file]).expect("python3 runs"));
        let node = script("node", "read.cjs", &[&file]).expect("node runs");
        (python.join().expect("an answer"), node)
    });
    let mut wrong = Vec::new();
    compare(&cases, &python, &["PyYAML with libyaml", "PyYAML", "ruamel.yaml"], &mut wrong);
    compare(&cases, &node, &["yaml as 1.2", "yaml as 1.1", "js-yaml"], &mut wrong);
    assert!(wrong.is_empty(), "{} misread:\n{}", wrong.len(), wrong.join("\n"));
}
