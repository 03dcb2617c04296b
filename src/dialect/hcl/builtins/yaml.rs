//! Values as YAML, and YAML as values, as the reference's functions have them: words such as `yes` are booleans,
//! texts always stand in quotation marks or in blocks.

use super::arguments::{answer, text};
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known, number_of};
use crate::function::Cx;
use crate::positional;
use crate::stdlib::strings::nfc;
use crate::text::Source;
use crate::value::yaml::{Kind, Node, Style, read_one};
use crate::value::{BigNum, Type, Value};

positional! {
    /// Functions of YAML, all of them OpenTofu's.
    pub(super) static YAML:
    "yamldecode" (src: String) -> {type_of_yaml} or null = decode, "The value that a YAML document says."
        ["yamldecode(\"a: [1, x]\")" => "{a = [1, \"x\"]}"];
    "yamlencode" (value: Any [null unknown dynamic]) -> String = encode, "The value as a YAML document."
        ["yamlencode({a = [1]})" => "\"\\\"a\\\":\\n- 1\\n\""];
}

/// Bytes that a byte of YAML becomes at most while it is read.
const GROWTH: usize = 64;

/// What a document is says itself.
fn type_of_yaml<'v>(_: &Cx<'v>, _: &[Value<'v>]) -> Outcome<Type<'v>> {
    Ok(Type::Dynamic)
}

fn decode<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let text = text(args, 0)?;
    cx.charge(text.len().saturating_mul(GROWTH))?;
    let node = read_one(&Source::new("yaml", text), cx.limits()).map_err(|errors| {
        let first = errors.first().map_or("it cannot be read", |error| error.message.as_str());
        Fault::argument(0, format!("this is no YAML: {first}"))
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
            let entry = |entry: &crate::value::yaml::Entry| {
                cx.charge(entry.name.len())?;
                Ok((cx.arena().copy_str(&nfc(&entry.name)), value_of(cx, &entry.value)?))
            };
            let entries: Vec<_> = entries.iter().map(entry).collect::<Outcome<_>>()?;
            Ok(cx.map(&entries)?)
        }
        Kind::Null => Ok(Value::Null),
        Kind::Bool(truth) => Ok(Value::Bool(*truth)),
        Kind::Int(_) | Kind::Uint(_) | Kind::Float(_) => number(cx, &node.text),
        Kind::Str if node.style == Style::Plain => word(cx, &node.text),
        Kind::Str => answer(cx, &node.text),
    }
}

/// A number; in a spelling that the reference does not know, a text.
fn number<'v>(cx: &Cx<'v>, spelling: &str) -> Outcome<Value<'v>> {
    let infinite = spelling.trim_start_matches(['-', '+']).eq_ignore_ascii_case(".inf");
    let number = if infinite {
        Some(BigNum::infinity(spelling.starts_with('-'), crate::stdlib::bignum::FULL))
    } else if spelling.eq_ignore_ascii_case(".nan") {
        return Err(Fault::argument(0, "there is no number that is none"));
    } else {
        BigNum::parse(spelling)
    };
    match number {
        Some(number) => super::arguments::answer_number(cx, number),
        None => answer(cx, spelling),
    }
}

/// A text without quotation marks: the reference takes some for booleans, and some with underscores for numbers.
fn word<'v>(cx: &Cx<'v>, word: &str) -> Outcome<Value<'v>> {
    match word {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Ok(Value::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let numeric = word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') && word.contains('_');
    match BigNum::parse(&word.replace('_', "")).filter(|_| numeric) {
        Some(number) => super::arguments::answer_number(cx, number),
        None => answer(cx, word),
    }
}

fn encode<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let value = args.first().copied().unwrap_or(Value::Null);
    if !is_wholly_known(cx, value)? {
        return Ok(cx.arena().unknown(Type::String));
    }
    let mut writer = Writer { cx, out: String::new(), paid: 0 };
    writer.node(value, 0, Place::Document)?;
    if !writer.out.ends_with('\n') {
        let is_plain = value.as_str().is_none() && value.elements().is_none() && value.entries().is_none();
        writer.out.push_str(if is_plain { "\n...\n" } else { "\n" });
    }
    answer(cx, &writer.out)
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Document,
    /// Behind `- `: the first line goes on.
    Item,
    /// Behind `key:`.
    Key,
}

struct Writer<'c, 'v> {
    cx: &'c Cx<'v>,
    out: String,
    paid: usize,
}

impl<'v> Writer<'_, 'v> {
    /// Pays for what was written since.
    fn pay(&mut self) -> Outcome<()> {
        self.cx.charge(self.out.len() - self.paid)?;
        self.paid = self.out.len();
        Ok(())
    }

    /// A value whose lines begin behind `indent` spaces.
    fn node(&mut self, value: Value<'v>, indent: usize, place: Place) -> Outcome<()> {
        self.cx.spend(1)?;
        if let Some(items) = value.elements().filter(|items| !items.is_empty()) {
            // The items of a list that is the value of a key stand as far left as the key.
            let indent = if place == Place::Key { indent - 2 } else { indent };
            for (at, item) in items.iter().enumerate() {
                self.line(at, indent, place);
                self.out.push_str("- ");
                self.node(*item, indent + 2, Place::Item)?;
            }
            return self.pay();
        }
        if let Some(map) = value.entries().filter(|map| !map.is_empty()) {
            for (at, (key, item)) in map.iter_sorted().enumerate() {
                self.line(at, indent, place);
                self.quoted(key);
                self.out.push(':');
                let nested = item.elements().is_some_and(|items| !items.is_empty())
                    || item.entries().is_some_and(|map| !map.is_empty());
                if !nested {
                    self.out.push(' ');
                }
                self.node(item, indent + 2, Place::Key)?;
            }
            return self.pay();
        }
        self.scalar(value, indent.max(2))?;
        self.pay()
    }

    /// Begins the line of entry `at`, unless it goes on behind what the entry is in.
    fn line(&mut self, at: usize, indent: usize, place: Place) {
        if at == 0 && place != Place::Key {
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
            return Err(Fault::argument(0, "the value has no form in YAML"));
        }
        Ok(())
    }

    /// A text of several lines, as it is.
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

    /// A text in quotation marks.
    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\0' => self.out.push_str("\\0"),
                '\u{7}' => self.out.push_str("\\a"),
                '\u{8}' => self.out.push_str("\\b"),
                '\t' => self.out.push_str("\\t"),
                '\n' => self.out.push_str("\\n"),
                '\u{b}' => self.out.push_str("\\v"),
                '\u{c}' => self.out.push_str("\\f"),
                '\r' => self.out.push_str("\\r"),
                '\u{1b}' => self.out.push_str("\\e"),
                '\u{85}' => self.out.push_str("\\N"),
                '\u{a0}' => self.out.push_str("\\_"),
                '\u{2028}' => self.out.push_str("\\L"),
                '\u{2029}' => self.out.push_str("\\P"),
                c if c.is_control() => self.out.push_str(&format!("\\x{:02X}", u32::from(c))),
                '\u{feff}' => self.out.push_str("\\uFEFF"),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}

/// Whether a text has several lines that a block can hold as they are.
fn is_block(text: &str) -> bool {
    let special = |c: char| c != '\n' && c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    text.contains('\n') && !text.contains(special) && !text.contains(" \n") && !text.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::hcl::testing::with_cx;

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
                let value = decode(cx, &[cx.arena().text(yaml)]).unwrap();
                let again = encode(cx, &[value]).unwrap();
                assert_eq!(again.as_str(), Some(wanted), "{yaml}");
                let back = decode(cx, &[again]).unwrap();
                assert_eq!(encode(cx, &[back]).unwrap().as_str(), Some(wanted), "{yaml}");
            }
        });
    }

    #[test]
    fn words_are_what_the_reference_takes_them_for() {
        with_cx(|cx| {
            let read = |text: &str| encode(cx, &[decode(cx, &[cx.arena().text(text)]).unwrap()]).unwrap();
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
                assert!(decode(cx, &[cx.arena().text(bad)]).is_err(), "{bad}");
            }
        });
    }
}
