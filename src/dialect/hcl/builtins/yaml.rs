//! YAML as the reference's functions read and write it: words such as `yes` are booleans, and strings are always
//! written in quotes or as blocks.

use super::{functions, string};
use crate::dialect::hcl::values::json::push_quoted;
use crate::dialect::hcl::values::{is_wholly_known, number_of, number_value};
use crate::function::{Cx, Fault, Outcome};
use crate::stdlib::strings::nfc;
use crate::text::Source;
use crate::value::yaml::{Entry, Kind, Node, Style, read_one};
use crate::value::{BigNum, Map, Type, Value};

functions! {
    /// YAML functions of OpenTofu.
    pub(super) static YAML:
    "yamldecode" (src: String) -> Any or null = decode, "Decodes a YAML document."
        ["yamldecode(\"a: [1, x]\")" => "{a = [1, \"x\"]}"];
    "yamlencode" (value: Any [null unknown dynamic]) -> String = encode, "Encodes a value as a YAML document."
        ["yamlencode({a = [1]})" => "\"\\\"a\\\":\\n- 1\\n\""];
}

/// Maximum number of bytes that reading one byte of YAML takes.
const GROWTH: usize = 64;

fn decode<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    cx.charge(text.len().saturating_mul(GROWTH))?;
    let node = read_one(&Source::new("yaml", text), cx.limits()).map_err(|errors| {
        let first = errors.first().map_or("cannot read the document", |error| error.message.as_str());
        Fault::argument(0, format!("not valid YAML: {first}"))
    })?;
    value_of(cx, &node)
}

fn value_of<'v>(cx: &Cx<'v>, node: &Node) -> Outcome<Value<'v>> {
    cx.spend(1)?;
    match &node.kind {
        Kind::List(items) => {
            let items: Vec<_> = items.iter().map(|item| value_of(cx, item)).collect::<Outcome<_>>()?;
            Ok(cx.list(&items)?)
        }
        Kind::Map(entries) => {
            let entry = |entry: &Entry| {
                cx.charge(entry.name.len())?;
                Ok((cx.arena().copy_str(&nfc(&entry.name)), value_of(cx, &entry.value)?))
            };
            let entries: Vec<_> = entries.iter().map(entry).collect::<Outcome<_>>()?;
            Ok(cx.map(&entries)?)
        }
        Kind::Null => Ok(Value::Null),
        Kind::Bool(truth) => Ok(Value::Bool(*truth)),
        Kind::Int(_) | Kind::Uint(_) | Kind::Float(_) => number(cx, &node.text),
        Kind::Str if node.style == Style::Plain => plain(cx, &node.text),
        Kind::Str => string(cx, &node.text),
    }
}

/// Reads a number. Spellings that the reference does not know are strings.
fn number<'v>(cx: &Cx<'v>, spelling: &str) -> Outcome<Value<'v>> {
    if spelling.eq_ignore_ascii_case(".nan") {
        return Err(Fault::argument(0, "NaN is not supported"));
    }
    let infinite = spelling.trim_start_matches(['-', '+']).eq_ignore_ascii_case(".inf");
    let infinity = || BigNum::infinity(spelling.starts_with('-'), crate::stdlib::bignum::FULL);
    match infinite.then(infinity).or_else(|| BigNum::parse(spelling)) {
        Some(number) => number_value(cx, number),
        None => string(cx, spelling),
    }
}

/// Reads a plain scalar: the reference takes some words for booleans, and digits with underscores for numbers.
fn plain<'v>(cx: &Cx<'v>, word: &str) -> Outcome<Value<'v>> {
    match word {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Ok(Value::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let numeric = word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') && word.contains('_');
    match BigNum::parse(&word.replace('_', "")).filter(|_| numeric) {
        Some(number) => number_value(cx, number),
        None => string(cx, word),
    }
}

fn encode<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if !is_wholly_known(cx, value)? {
        return Ok(cx.arena().unknown(Type::String));
    }
    let mut writer = Writer { cx, out: String::new(), paid: 0 };
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

struct Writer<'c, 'v> {
    cx: &'c Cx<'v>,
    out: String,
    /// Number of bytes of `out` that are charged.
    paid: usize,
}

impl<'v> Writer<'_, 'v> {
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
        let special = "\"\\\0\u{7}\u{8}\t\n\u{b}\u{c}\r\u{1b}\u{85}\u{a0}\u{2028}\u{2029}";
        push_quoted(&mut self.out, text, (special, "\"\\0abtnvfreN_LP"), |c| match c {
            '\u{feff}' => Some("\\uFEFF".to_owned()),
            c => c.is_control().then(|| format!("\\x{:02X}", u32::from(c))),
        });
    }
}

/// Returns `true` if a string has several lines and a block scalar can hold it.
fn is_block(text: &str) -> bool {
    let special = |c: char| c != '\n' && c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    text.contains('\n') && !text.contains(special) && !text.contains(" \n") && !text.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::hcl::test_support::with_cx;

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
    fn words_are_what_the_reference_takes_them_for() {
        with_cx(|cx| {
            let read = |text: &str| encode(cx, decode(cx, text).unwrap()).unwrap();
            for (yaml, wanted) in [
                ("yes", "true\n...\n"),
                ("'yes'", "\"yes\"\n"),
                ("off", "false\n...\n"),
                ("1_000", "1000\n...\n"),
                ("a_b", "\"a_b\"\n"),
                ("0x10", "\"0x10\"\n"),
                ("123456789012345678901234567890", "123456789012345678901234567890\n...\n"),
            ] {
                assert_eq!(read(yaml).as_str(), Some(wanted), "{yaml}");
            }
            for bad in ["[", "a: 1\na: 2", "--- 1\n--- 2\n", ".nan"] {
                assert!(decode(cx, bad).is_err(), "{bad}");
            }
        });
    }
}
