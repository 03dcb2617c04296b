//! YAML as the reference's functions read and write it: words such as `yes` are booleans, and strings are always
//! written in quotes or as blocks. Scalars are resolved by YAML 1.1 words and numbers of YAML 1.2; timestamps are text.

use super::encodings::BASE64;
use super::{string, type_name};
use crate::values::json::push_quoted;
use crate::values::{convert, is_wholly_known, number_of, number_value};
use base64::Engine as _;
use dropforge_base::stdlib::bignum::{FULL, MACHINE};
use dropforge_base::stdlib::duration::{Form, moment, rfc3339};
use dropforge_base::text::Source;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_machine::functions;
use dropforge_value::yaml::libyaml::{self, Resolved};
use dropforge_value::yaml::{Entry, Kind, Node, Style, Tags, read_with};
use dropforge_value::{BigNum, Map, Type, Value};

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
    let documents = read_with(&Source::new("yaml", text), cx.limits(), Tags::Raw).map_err(|errors| {
        let first = errors.first().map_or("cannot read the document", |error| error.message.as_str());
        Fault::wrong(format!("not valid YAML: {first}"))
    })?;
    if let Some(version) = other_version(text) {
        return Err(Fault::wrong(format!("the document is of YAML {version}; YAML 1.1 is read")));
    }
    match &*documents {
        [one] => value_of(cx, one),
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

fn value_of<'v>(cx: &Cx<'v>, node: &Node) -> Outcome<Value<'v>> {
    cx.spend(1)?;
    match &node.kind {
        Kind::List(items) => {
            check_tag(node, "seq")?;
            let items: Vec<_> = items.iter().map(|item| value_of(cx, item)).collect::<Outcome<_>>()?;
            Ok(cx.list(&items)?)
        }
        Kind::Map(entries) => {
            check_tag(node, "map")?;
            let mut all = Vec::with_capacity(entries.len());
            for Entry { key, value, .. } in entries.iter() {
                if &*key.text == "<<" && key.style == Style::Plain && key.tag.is_none() {
                    merge(cx, value_of(cx, value)?, &mut all)?;
                } else {
                    all.push((key_of(cx, key)?, value_of(cx, value)?));
                }
            }
            // The last value of a key counts.
            Ok(cx.map(&all)?)
        }
        _ => scalar(cx, node),
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
    let mut writer = YamlWriter { cx, out: String::new(), paid: 0 };
    writer.node(value, 0, Parent::Document)?;
    if !writer.out.ends_with('\n') {
        let is_plain = value.as_str().is_none() && value.elements().is_none() && value.entries().is_none();
        writer.out.push_str(if is_plain { "\n...\n" } else { "\n" });
    }
    string(cx, &writer.out)
}

/// The construct that contains a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Document,
    /// A list item: the first line continues the line of the `- `.
    Item,
    /// A map key: a collection starts on a new line.
    Key,
}

struct YamlWriter<'c, 'v> {
    cx: &'c Cx<'v>,
    out: String,
    /// Number of bytes of `out` that are charged.
    paid: usize,
}

impl<'v> YamlWriter<'_, 'v> {
    /// Charges for the text written since the last call.
    fn pay(&mut self) -> Outcome<()> {
        self.cx.charge(self.out.len() - self.paid)?;
        self.paid = self.out.len();
        Ok(())
    }

    /// Writes a value whose lines are indented by `indent` spaces.
    fn node(&mut self, value: Value<'v>, indent: usize, parent: Parent) -> Outcome<()> {
        self.cx.spend(1)?;
        if let Some(items) = value.elements().filter(|items| !items.is_empty()) {
            // The items of a list under a key are not indented further than the key.
            let indent = if parent == Parent::Key { indent - 2 } else { indent };
            for (at, item) in items.iter().enumerate() {
                self.line(at, indent, parent);
                self.out.push_str("- ");
                self.node(*item, indent + 2, Parent::Item)?;
            }
            return self.pay();
        }
        if let Some(map) = value.entries().filter(|map| !map.is_empty()) {
            for (at, (key, item)) in map.iter_sorted().enumerate() {
                self.line(at, indent, parent);
                self.quoted(key);
                self.out.push(':');
                if item.elements().is_none_or(<[_]>::is_empty) && item.entries().is_none_or(Map::is_empty) {
                    self.out.push(' ');
                }
                self.node(item, indent + 2, Parent::Key)?;
            }
            return self.pay();
        }
        self.scalar(value, indent.max(2))?;
        self.pay()
    }

    /// Starts the line of entry `at`, unless the first entry continues the line of its parent.
    fn line(&mut self, at: usize, indent: usize, parent: Parent) {
        if at == 0 && parent != Parent::Key {
            return;
        }
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn scalar(&mut self, value: Value<'v>, indent: usize) -> Outcome<()> {
        if value.is_null() {
            self.out.push_str("null");
        } else if let Some(text) = value.as_str() {
            self.cx.charge(text.len())?;
            if is_block(text) { self.block(text, indent) } else { self.quoted(text) }
        } else if let Value::Bool(truth) = value {
            self.out.push_str(if truth { "true" } else { "false" });
        } else if let Some(number) = number_of(value) {
            self.cx.spend(number.digit_steps())?;
            self.cx.charge(number.text_len())?;
            self.out.push_str(&number.to_text());
        } else if value.elements().is_some() {
            self.out.push_str("[]");
        } else if value.entries().is_some() {
            self.out.push_str("{}");
        } else {
            return Err(Fault::argument(0, "the value cannot be written as YAML"));
        }
        Ok(())
    }

    /// Writes a string of several lines as a block scalar.
    fn block(&mut self, text: &str, indent: usize) {
        let content = text.trim_end_matches('\n');
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        match text.len() - content.len() {
            0 => self.out.push('-'),
            1 if !content.is_empty() => {}
            _ => self.out.push('+'),
        }
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.out.extend(std::iter::repeat_n(' ', indent));
                self.out.push_str(line);
            }
        }
        self.out.push('\n');
    }

    /// Writes a string in double quotes.
    fn quoted(&mut self, text: &str) {
        let special = "\"\\\0\u{7}\u{8}\t\n\u{b}\u{c}\r\u{1b}\u{85}\u{2028}\u{2029}";
        push_quoted(&mut self.out, text, (special, "\"\\0abtnvfreNLP"), |c| {
            is_escaped(c).then(|| match u32::from(c) {
                code @ ..=0xFF => format!("\\x{code:02X}"),
                code @ ..=0xFFFF => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            })
        });
    }
}

/// Returns `true` for characters that the reference does not take for printable.
fn is_escaped(c: char) -> bool {
    c.is_control() || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{10000}'..)
}

/// Returns `true` if a string has several lines and a block scalar can hold it.
fn is_block(text: &str) -> bool {
    let special = |c: char| c != '\n' && is_escaped(c) || matches!(c, '\u{2028}' | '\u{2029}');
    text.contains('\n') && !text.contains(special) && !text.contains(" \n") && !text.ends_with(' ')
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
    moment(&text, Form::Lenient).ok().map(rfc3339)
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
