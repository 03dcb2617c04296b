//! YAML as the reference's functions read and write it: words such as `yes` are booleans, and strings are always
//! written in quotes or as blocks. Scalars are resolved by YAML 1.1 words and numbers of YAML 1.2; timestamps are text.

use super::encodings::BASE64;
use std::cell::RefCell;

use super::{string, type_name};
use crate::values::{convert, is_wholly_known, number_of, number_value};
use base64::Engine as _;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::stdlib::bignum::{FULL, MACHINE};
use dropforge_base::stdlib::duration::{self, moment, rfc3339};
use dropforge_base::text::{Source, Span};
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_machine::functions;
use dropforge_value::marshal::Refused;
use dropforge_value::yaml::libyaml::{self, Form, Resolved};
use dropforge_value::yaml::{Entry, Kind, Node, Style, Tags, read_with};
use dropforge_value::{BigNum, ByKey, TreeNode, Type, Value, View as _, Viewed};

functions! {
    /// YAML functions of OpenTofu.
    pub(super) static YAML:
    "yamldecode" (src: String) -> Any or null = decode, "Decodes a YAML document."
        ["yamldecode(\"a: [1, x]\")" => "{a = [1, \"x\"]}"];
    "yamlencode" (value: Any [null unknown dynamic]) -> String or null = encode, "Encodes a value as a YAML document."
        ["yamlencode({a = [1]})" => "\"\\\"a\\\":\\n- 1\\n\""];
}

/// Maximum number of bytes that reading one byte of YAML takes.
const GROWTH: usize = 64;

fn decode<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    cx.charge(text.len().saturating_mul(GROWTH))?;
    let source = Source::new("yaml", text);
    // The reader below accepts more, such as tabs that indent.
    if let Some((why, line, column)) = libyaml::problem(text, cx.limits().nesting) {
        return Err(Fault::wrong(format!("not valid YAML: line {line}, column {column}: {why}")));
    }
    let documents = read_with(&source, cx.limits(), Tags::Raw).map_err(|errors| {
        let first = errors.first().map_or("cannot read the document", |error| error.message.as_str());
        let at = errors.first().and_then(|error| error.position());
        let at = at.map(|at| format!("line {}, column {}: ", at.line, at.column)).unwrap_or_default();
        Fault::wrong(format!("not valid YAML: {at}{first}"))
    })?;
    if let Some(version) = other_version(text) {
        return Err(Fault::wrong(format!("the document is of YAML {version}; YAML 1.1 is read")));
    }
    match &*documents {
        [one] => value_of(cx, &source, one),
        [] => Err(Fault::wrong("there is no YAML document; `null` or `{}` is one")),
        _ => Err(Fault::wrong("there are several YAML documents; only one is allowed")),
    }
}

/// Returns the version in the directive `%YAML`, if it is not 1.1.
fn other_version(text: &str) -> Option<&str> {
    let mut head = text.lines().take_while(|line| line.trim().is_empty() || line.starts_with(['#', '%']));
    let version = head.find_map(|line| line.strip_prefix("%YAML"))?.split_whitespace().next()?;
    (version != "1.1").then_some(version)
}

fn value_of<'v>(cx: &Cx<'v>, source: &Source, node: &Node) -> Outcome<Value<'v>> {
    cx.spend(1)?;
    let at = |node: &Node| {
        let span = node.span;
        move |fault| placed(source, span, fault)
    };
    match &node.kind {
        Kind::List(items) => {
            check_tag(node, "seq").map_err(at(node))?;
            let items: Vec<_> = items.iter().map(|item| value_of(cx, source, item)).collect::<Outcome<_>>()?;
            Ok(cx.list(&items)?)
        }
        Kind::Map(entries) => {
            check_tag(node, "map").map_err(at(node))?;
            let mut all = Vec::with_capacity(entries.len());
            for Entry { key, value, .. } in entries.iter() {
                if &*key.text == "<<" && key.style == Style::Plain && key.tag.is_none() {
                    merge(cx, value_of(cx, source, value)?, &mut all).map_err(at(value))?;
                } else {
                    all.push((key_of(cx, key).map_err(at(key))?, value_of(cx, source, value)?));
                }
            }
            // The last value of a key counts.
            Ok(cx.map(&all)?)
        }
        _ => scalar(cx, node).map_err(at(node)),
    }
}

/// Adds the place in the document to a fault.
fn placed(source: &Source, span: Span, fault: Fault) -> Fault {
    match fault {
        Fault::Wrong(wrong) => {
            let at = source.position(span.start);
            Fault::wrong(format!("line {}, column {} of the document: {}", at.line, at.column, wrong.message))
        }
        limit => limit,
    }
}

/// Checks the tag of a collection.
fn check_tag(node: &Node, fitting: &str) -> Outcome<()> {
    match &node.tag {
        Some(tag) if tag.strip_prefix(CORE) != Some(fitting) => {
            Err(Fault::wrong(format!("a {} cannot have the tag `{tag}`", node.kind_name())))
        }
        _ => Ok(()),
    }
}

fn key_of<'v>(cx: &Cx<'v>, key: &Node) -> Outcome<&'v str> {
    let text = convert(cx, scalar(cx, key)?, &Type::String)?;
    text.as_str().ok_or_else(|| Fault::wrong("null cannot be a key"))
}

/// Adds the entries of a map, or of all maps in a list, in the place of a key `<<`.
fn merge<'v>(cx: &Cx<'v>, value: Value<'v>, all: &mut Vec<(&'v str, Value<'v>)>) -> Outcome<()> {
    for map in value.elements().unwrap_or(&[value]) {
        let Some(entries) = map.entries() else {
            return Err(Fault::wrong(format!("`<<` takes a map or a list of maps, not {}", type_name(cx, *map)?)));
        };
        cx.charge(entries.len() * size_of::<(&str, Value)>())?;
        all.extend(entries.iter_sorted());
    }
    Ok(())
}

fn encode<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if !is_wholly_known(cx, value)? {
        return Ok(cx.arena().unknown(Type::String));
    }
    // A view cannot fail: the writer stops at the next node.
    let (failed, mut paid, mut out) = (RefCell::new(None), 0, String::new());
    let view = |value: Value<'v>| node_of(cx, value, &failed);
    let mut grow = |length: usize| {
        if let Some(limit) = failed.take() {
            return Err(limit);
        }
        cx.spend(1)?;
        cx.charge(length.saturating_sub(paid))?;
        paid = paid.max(length);
        Ok(())
    };
    libyaml::write(Viewed(value, &view), Form::Quoted, &mut out, &mut grow).map_err(|refused| match refused {
        Refused::Value(why) => Fault::argument(0, format!("the value cannot be written as YAML: {why}")),
        Refused::Stopped(limit) => Fault::Limit(limit),
    })?;
    string(cx, &out)
}

/// Returns the node of a value. Digits are charged before they are written.
fn node_of<'v>(cx: &Cx<'v>, value: Value<'v>, failed: &RefCell<Option<Box<Diagnostic>>>) -> TreeNode<'v, Value<'v>> {
    let Some(number) = number_of(value).filter(|_| !matches!(value, Value::Int(_))) else { return ByKey.node(value) };
    match cx.spend(number.digit_steps()).and_then(|()| cx.charge(number.text_len())) {
        Ok(()) => TreeNode::Digits(number.to_text()),
        Err(limit) => {
            failed.replace(Some(limit));
            TreeNode::Null
        }
    }
}

/// The prefix of the tags of YAML itself.
const CORE: &str = "tag:yaml.org,2002:";

/// Returns the value of a scalar.
fn scalar<'v>(cx: &Cx<'v>, node: &Node) -> Outcome<Value<'v>> {
    cx.spend(node.text.len() as u64 / 16)?;
    let text = &*node.text;
    match (&node.tag, node.style) {
        (None, Style::Plain) => plain(cx, text),
        // A block is text, but its content is read like a plain scalar first.
        (None, Style::Literal | Style::Folded) => convert(cx, plain(cx, text)?, &Type::String),
        (None, Style::SingleQuoted | Style::DoubleQuoted) => string(cx, text),
        (Some(tag), style) => {
            let unknown = || Fault::wrong(format!("the tag `{tag}` is not supported"));
            let tag = tag.strip_prefix(CORE).ok_or_else(unknown)?;
            let quoted = matches!(style, Style::SingleQuoted | Style::DoubleQuoted);
            tagged(cx, tag, text, quoted)?.ok_or_else(unknown)
        }
    }
}

/// Reads a scalar without a tag and quotes.
fn plain<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    if let Some(value) = word(cx, text)? {
        return Ok(value);
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(Fault::wrong("NaN is not supported"));
    }
    if let Some(moment) = timestamp(text) {
        return string(cx, &moment);
    }
    if let Some(number) = number(text) {
        return number_value(cx, number);
    }
    if !has_radix(text) {
        return string(cx, text);
    }
    number_value(cx, integer(text).ok_or_else(|| Fault::wrong(format!("the number `{text}` is too large")))?)
}

/// Reads a scalar with a tag of YAML. `None` for an unknown tag.
fn tagged<'v>(cx: &Cx<'v>, tag: &str, text: &str, quoted: bool) -> Outcome<Option<Value<'v>>> {
    let unfit = || Fault::wrong(format!("{text:?} is not of the type `!!{tag}`"));
    if !matches!(tag, "str" | "binary" | "null" | "bool" | "int" | "float" | "timestamp") {
        return Ok(None);
    }
    if tag == "binary" && BASE64.decode(text).is_err() {
        return Err(unfit());
    }
    // Like the reference, the content decides where it starts like a number or a word.
    let telling = text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit() || "+-.yYnNtTfFoO~".contains(c));
    if matches!(tag, "str" | "binary") || quoted && telling {
        return string(cx, text).map(Some);
    }
    if let Some(value) = word(cx, text)?.filter(|_| telling) {
        return Ok(Some(value));
    }
    let moment = if tag == "timestamp" { timestamp(text) } else { None };
    let digits = text.replace('_', "");
    let value = match (tag, moment, number(text)) {
        (_, Some(moment), _) => string(cx, &moment)?,
        (_, None, Some(number)) => number_value(cx, number)?,
        ("null", ..) => Value::Null,
        ("int" | "float", ..) => {
            let number = BigNum::parse(&digits).or_else(|| integer(&digits)).ok_or_else(unfit)?;
            number_value(cx, number)?
        }
        _ => return Err(unfit()),
    };
    Ok(Some(value))
}

/// Returns the value of a word.
fn word<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Option<Value<'v>>> {
    match libyaml::word(text) {
        Some(Resolved::Bool(truth)) => Ok(Some(Value::Bool(truth))),
        Some(Resolved::Null) => Ok(Some(Value::Null)),
        Some(Resolved::Float(n)) if !n.is_nan() => number_value(cx, BigNum::infinity(n < 0.0, FULL)).map(Some),
        _ => Ok(text.is_empty().then_some(Value::Null)),
    }
}

/// Reads a decimal number: digits with an optional sign, point and exponent.
fn number(text: &str) -> Option<BigNum> {
    let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    let number = BigNum::parse(text)?;
    text.bytes().all(is_number).then_some(number)
}

/// Returns `true` for `0x1F` and `0o17`.
fn has_radix(text: &str) -> bool {
    let all = |digits: &str, radix| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    text.strip_prefix("0x").is_some_and(|digits| all(digits, 16))
        || text.strip_prefix("0o").is_some_and(|digits| all(digits, 8))
}

/// Reads a 64-bit integer with a prefix for its radix.
fn integer(text: &str) -> Option<BigNum> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text).to_ascii_lowercase();
    let radix = |prefix| unsigned.strip_prefix(prefix);
    let parsed = match (radix("0x"), radix("0o"), radix("0b")) {
        (Some(digits), ..) => u64::from_str_radix(digits, 16),
        (_, Some(digits), _) => u64::from_str_radix(digits, 8),
        (.., Some(digits)) => u64::from_str_radix(digits, 2),
        _ => return None,
    };
    let number = parsed.ok()?;
    match negative {
        false => Some(BigNum::of_uint(number, MACHINE)),
        true => Some(BigNum::of_int(0_i64.checked_sub_unsigned(number)?, MACHINE)),
    }
}

/// Reads a date, or a date and a time, with fields of one or two digits, as text in RFC 3339.
fn timestamp(text: &str) -> Option<String> {
    let at = text.find(['T', 't', ' ']).unwrap_or(text.len());
    let (date, time) = text.split_at_checked(at)?;
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (date.next()?, field(date.next()?)?, field(date.next()?)?);
    let time = if time.is_empty() { "T0:0:0" } else { time };
    let zone = if time.starts_with(' ') || text.len() == at { "Z" } else { "" };
    let mut time = time.get(1..)?.splitn(3, ':');
    let (hour, minute, second) = (field(time.next()?)?, field(time.next()?)?, time.next()?);
    let (second, rest) = second.split_at(second.bytes().take_while(u8::is_ascii_digit).count());
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{}{rest}{zone}", field(second)?);
    moment(&text, duration::Form::Lenient).ok().map(rfc3339)
}

/// Pads a field to two digits.
fn field(digits: &str) -> Option<String> {
    let is_field = matches!(digits.len(), 1 | 2) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_field.then(|| format!("{digits:0>2}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::tests::with_cx;

    #[test]
    fn documents_come_back() {
        with_cx(|cx| {
            for (yaml, wanted) in [
                ("true", "true\n...\n"),
                ("'x'", "\"x\"\n"),
                ("[]", "[]\n"),
                ("a: [1, [2, {b: c}], {}]", "\"a\":\n- 1\n- - 2\n  - \"b\": \"c\"\n- {}\n"),
                ("a: {b: {c: [x]}, d: ~}", "\"a\":\n  \"b\":\n    \"c\":\n    - \"x\"\n  \"d\": null\n"),
                ("{a: \"x\\ny\\n\", b: [\"p\\nq\"]}", "\"a\": |\n  x\n  y\n\"b\":\n- |-\n  p\n  q\n"),
            ] {
                let again = encode(cx, decode(cx, yaml).unwrap()).unwrap().as_str().unwrap();
                assert_eq!(again, wanted, "{yaml}");
                let back = decode(cx, again).unwrap();
                assert_eq!(encode(cx, back).unwrap().as_str(), Some(wanted), "{yaml}");
            }
        });
    }

    #[test]
    fn texts_are_folded_and_long_keys_are_marked() {
        with_cx(|cx| {
            let words = |count: usize| vec!["word"; count].join(" ");
            let (long, key) = (words(30), "k".repeat(129));
            let folded = format!("\"a\": \"{}\n  {}\"\n", words(16), words(14));
            for (entries, wanted) in [
                (vec![("a", cx.arena().text(&long))], folded),
                (vec![(key.as_str(), Value::Int(1))], format!("? \"{key}\"\n: 1\n")),
                (vec![("a\nb", cx.list(&[Value::Int(1)]).unwrap())], "? |-\n  a\n  b\n: - 1\n".to_owned()),
                (vec![("a", cx.arena().text("\u{feff}b"))], "\"a\": \"\\uFEFF\\x62\"\n".to_owned()),
                (
                    vec![("B", Value::Int(1)), ("a10", Value::Int(2)), ("a2", Value::Int(3))],
                    "\"B\": 1\n\"a10\": 2\n\"a2\": 3\n".to_owned(),
                ),
            ] {
                let entries: Vec<_> =
                    entries.into_iter().map(|(name, value)| (cx.arena().copy_str(name), value)).collect();
                let map = cx.map(&entries).unwrap();
                assert_eq!(encode(cx, map).unwrap().as_str(), Some(wanted.as_str()));
            }
        });
    }

    #[test]
    fn errors_name_their_line_and_column() {
        with_cx(|cx| {
            for (yaml, wanted) in [
                ("a: 1\nb:\n- c: |\n  text\n", "not valid YAML: line 5, column 1: could not find expected ':'"),
                ("a: [1\nb: 2\n", "not valid YAML: line 2, column 2: did not find expected ',' or ']'"),
                ("\ta: 1\n", "not valid YAML: line 1, column 1: found character that cannot start any token"),
                ("a: 1\nb: .nan\n", "line 2, column 4 of the document: NaN is not supported"),
                ("a: 1\nb: !x y\n", "line 2, column"),
                ("a: 1\n~: 2\n", "line 2, column 1 of the document: null cannot be a key"),
            ] {
                let Err(Fault::Wrong(wrong)) = decode(cx, yaml) else { panic!("{yaml}") };
                assert!(wrong.message.starts_with(wanted), "{yaml}: {}", wrong.message);
            }
        });
    }

    #[test]
    fn scalars_are_what_the_reference_takes_them_for() {
        with_cx(|cx| {
            for (yaml, wanted) in [
                ("yes", "true\n...\n"),
                ("'yes'", "\"yes\"\n"),
                ("off", "false\n...\n"),
                ("1_000", "\"1_000\"\n"),
                ("!!int 1_000", "1000\n...\n"),
                ("0x1F", "31\n...\n"),
                ("-0x1F", "\"-0x1F\"\n"),
                ("0o17", "15\n...\n"),
                ("017", "17\n...\n"),
                ("0b11", "\"0b11\"\n"),
                ("!!int 0b11", "3\n...\n"),
                ("+.5e3", "500\n...\n"),
                ("123456789012345678901234567890", "123456789012345678901234567890\n...\n"),
                ("2018-1-2", "\"2018-01-02T00:00:00Z\"\n"),
                ("2018-01-02 3:04:05.5", "\"2018-01-02T03:04:05Z\"\n"),
                ("2018-01-02t03:04:05+01:00", "\"2018-01-02T03:04:05+01:00\"\n"),
                ("2018-02-30", "\"2018-02-30\"\n"),
                ("!!binary aGk=", "\"aGk=\"\n"),
                ("!!int \"5\"", "\"5\"\n"),
                ("!!str 5", "\"5\"\n"),
                ("!!null x", "null\n...\n"),
                ("|-\n  1.50\n", "\"1.5\"\n"),
                ("{0x10: 1, yes: 2, 1.50: 3}", "\"1.5\": 3\n\"16\": 1\n\"true\": 2\n"),
                ("{a: 1, a: 2}", "\"a\": 2\n"),
                ("{a: 1, <<: {a: 2, b: 3}, b: 4}", "\"a\": 2\n\"b\": 4\n"),
                ("[&a yes, *a]", "- true\n- true\n"),
                ("\"\\U0001F600 \\xa0\"", "\"\\U0001F600 \u{a0}\"\n"),
            ] {
                let again = encode(cx, decode(cx, yaml).unwrap_or_else(|_| panic!("{yaml}"))).unwrap();
                assert_eq!(again.as_str(), Some(wanted), "{yaml}");
            }
            for bad in [
                "",
                " # nothing\n",
                "[",
                "--- 1\n--- 2\n",
                ".nan",
                "null: 1",
                "[1]: 2",
                "!!bool x",
                "!!int x",
                "!x a",
                "!!seq {}",
                "!!binary x",
                "%YAML 1.2\n---\nx",
                "{<<: 1}",
            ] {
                assert!(decode(cx, bad).is_err(), "{bad}");
            }
        });
    }
}
