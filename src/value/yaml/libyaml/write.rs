//! Writes values as YAML documents.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::emit::{Analysis, Emitter, WrittenStyle};
use super::is_allowed;
use super::resolve::{Resolved, is_base_60, resolve};
use crate::marshal::{MAX_DEPTH, Plain, Refused, json, lossy};
use crate::{Map, Value};
use dropforge_base::stdlib::encodings::base64;
use dropforge_base::stdlib::float_format::shortest;

/// Maximum length of a key in the line of its value.
const LONGEST_KEY: usize = 128;

/// Maximum number of characters of a key that went through JSON.
const LONGEST_JSON_KEY: usize = 1024;

/// The column from which text is folded.
const WIDTH: usize = 80;

/// A form of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The form of values that went through JSON: whole floats as integers, lists not indented in maps, long lines
    /// folded.
    Json,
    /// The form for people: floats as floats, lists indented, lines not folded.
    Pretty,
}

/// Appends `value` to `out` as a document with a final newline. `grow` receives the length of `out` after each node and
/// before each long text, and may stop the writing.
///
/// # Errors
/// What the form cannot hold: non-finite floats and control characters of values that went through JSON, values that
/// the view refuses, values that contain themselves.
pub fn write<'v, E>(
    value: Value<'v>,
    view: &impl Fn(Value<'v>) -> Plain<'v>,
    form: Form,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    let width = if form == Form::Json { WIDTH } else { usize::MAX };
    let mut writer = DocumentWriter { emitter: Emitter::new(out, width), form, open: Vec::new() };
    writer.node(view(value), Parent::Document)?;
    grow(writer.emitter.out.len())?;
    while let Some((next, parent)) = writer.next()? {
        let plain = view(next);
        if let Plain::Text(text) = &plain {
            grow(writer.emitter.out.len().saturating_add(text.len()))?;
        }
        writer.node(plain, parent)?;
        grow(writer.emitter.out.len())?;
    }
    writer.emitter.indent(0);
    Ok(())
}

/// The construct that contains a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Document,
    Item,
    /// The value of a key.
    Value,
}

/// A list or map that is being written.
struct OpenCollection<'v> {
    indent: usize,
    at: usize,
    content: CollectionItems<'v>,
}

enum CollectionItems<'v> {
    List(&'v [Value<'v>]),
    /// The entries in output order.
    Map(Vec<(&'v str, Value<'v>)>),
    /// The octets of a list of numbers.
    Octets(&'v [u8]),
}

struct DocumentWriter<'o, 'v> {
    emitter: Emitter<'o>,
    form: Form,
    open: Vec<OpenCollection<'v>>,
}

impl<'v> DocumentWriter<'_, 'v> {
    /// Returns the indentation of the innermost collection.
    fn indent(&self) -> Option<usize> {
        self.open.last().map(|open| open.indent)
    }

    /// Writes up to the next node and returns it. `None` at the end.
    fn next<E>(&mut self) -> Result<Option<(Value<'v>, Parent)>, Refused<E>> {
        while let Some(open) = self.open.last_mut() {
            let (at, indent) = (open.at, open.indent);
            open.at += 1;
            match &open.content {
                CollectionItems::List(items) => {
                    if let Some(item) = items.get(at).copied() {
                        self.begin_item(indent);
                        return Ok(Some((item, Parent::Item)));
                    }
                }
                CollectionItems::Octets(octets) => {
                    if let Some(octet) = octets.get(at).copied() {
                        self.begin_item(indent);
                        return Ok(Some((Value::Int(octet.into()), Parent::Item)));
                    }
                }
                CollectionItems::Map(entries) => {
                    if let Some((key, value)) = entries.get(at).copied() {
                        self.key(key, indent)?;
                        return Ok(Some((value, Parent::Value)));
                    }
                }
            }
            self.open.pop();
        }
        Ok(None)
    }

    fn begin_item(&mut self, indent: usize) {
        self.emitter.indent(indent);
        self.emitter.indicator("-", true, true);
    }

    /// Writes a key and its colon.
    fn key<E>(&mut self, key: &'v str, indent: usize) -> Result<(), Refused<E>> {
        let text = match self.form {
            Form::Json => through_json_key(key)?,
            Form::Pretty => Cow::Borrowed(key),
        };
        let analysis = Analysis::of(&text, self.form == Form::Pretty);
        let is_simple = !analysis.multiline && text.len() <= LONGEST_KEY;
        self.emitter.indent(indent);
        if !is_simple {
            self.emitter.indicator("?", true, true);
        }
        let style = analysis.style(wanted_style(&text), is_simple);
        self.emitter.scalar(&text, style, indent + 2, is_simple);
        if !is_simple {
            self.emitter.indent(indent);
        }
        self.emitter.indicator(":", !is_simple, !is_simple);
        Ok(())
    }

    /// Writes a scalar, or opens a collection.
    fn node<E>(&mut self, node: Plain<'v>, parent: Parent) -> Result<(), Refused<E>> {
        match node {
            Plain::List(items) if !items.is_empty() => self.open(CollectionItems::List(items), parent),
            Plain::Bytes(octets) if !octets.is_empty() && self.form == Form::Pretty => {
                self.open(CollectionItems::Octets(octets), parent)
            }
            Plain::Map(map) | Plain::Fields(map) if !map.is_empty() => {
                self.open(CollectionItems::Map(sorted(map, self.form)), parent)
            }
            other => self.scalar(other),
        }
    }

    fn open<E>(&mut self, content: CollectionItems<'v>, parent: Parent) -> Result<(), Refused<E>> {
        // A list in the line of its key is not indented further than the key.
        let level = parent == Parent::Value
            && self.form == Form::Json
            && !matches!(content, CollectionItems::Map(_))
            && !self.emitter.indention;
        let indent = match self.indent() {
            None => 0,
            Some(indent) if level => indent,
            Some(indent) => indent + 2,
        };
        if self.open.len() >= MAX_DEPTH {
            return Err(Refused::Value("the value contains itself".to_owned()));
        }
        self.open.push(OpenCollection { indent, at: 0, content });
        Ok(())
    }

    fn scalar<E>(&mut self, node: Plain<'v>) -> Result<(), Refused<E>> {
        match node {
            Plain::Null => self.emitter.word("null"),
            Plain::Bool(truth) => self.emitter.word(if truth { "true" } else { "false" }),
            Plain::Int(n) => self.emitter.word(itoa::Buffer::new().format(n)),
            Plain::Uint(n) => self.emitter.word(itoa::Buffer::new().format(n)),
            Plain::Float(n) => {
                let text = float(n, self.form).map_err(Refused::Value)?;
                self.emitter.word(&text);
            }
            Plain::Text(bytes) => match (self.form, std::str::from_utf8(&bytes)) {
                (Form::Pretty, Ok(text)) => self.text(text),
                (Form::Pretty, Err(_)) => self.emitter.word(&format!("!!binary {}", base64(&bytes))),
                (Form::Json, _) => self.text(&through_json(lossy(&bytes))?),
            },
            Plain::Time(time) if self.form == Form::Pretty => self.emitter.word(&time),
            Plain::Time(time) => self.text(&time),
            Plain::Bytes(octets) if self.form == Form::Json => self.text(&base64(octets)),
            Plain::List(_) | Plain::Bytes(_) => self.emitter.word("[]"),
            Plain::Map(_) | Plain::Fields(_) => self.emitter.word("{}"),
            Plain::Refused(why) => return Err(Refused::Value(why)),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        let style = Analysis::of(text, self.form == Form::Pretty).style(wanted_style(text), false);
        let indent = self.indent().unwrap_or(0) + 2;
        self.emitter.scalar(text, style, indent, false);
    }
}

/// Returns the entries of a map in output order.
fn sorted<'v>(map: &Map<'v>, form: Form) -> Vec<(&'v str, Value<'v>)> {
    let mut entries: Vec<_> = map.iter_sorted().collect();
    sort_keys(&mut entries, |a, b| compare_keys(a.0, b.0, form == Form::Pretty).is_lt());
    entries
}

/// Returns the preferred style of a text.
fn wanted_style(text: &str) -> WrittenStyle {
    if text.contains('\n') {
        WrittenStyle::Literal
    } else if resolve(text) == Resolved::Text && !is_base_60(text) {
        WrittenStyle::Plain
    } else {
        WrittenStyle::Double
    }
}

/// Returns the text of a float.
fn float(n: f64, form: Form) -> Result<String, String> {
    if !n.is_finite() {
        return match form {
            Form::Json => Err(format!("json: unsupported value: {}", json::not_finite(n))),
            Form::Pretty if n.is_nan() => Ok(".nan".to_owned()),
            Form::Pretty => Ok(if n > 0.0 { ".inf" } else { "-.inf" }.to_owned()),
        };
    }
    if form == Form::Pretty {
        return Ok(shortest(n));
    }
    let text = json::float(n).unwrap_or_default();
    Ok(match resolve(&text) {
        // Also -0.
        Resolved::Int(n) => n.to_string(),
        Resolved::Uint(n) => n.to_string(),
        _ => shortest(n),
    })
}

/// Returns a key as it is after it went through JSON.
fn through_json_key<E>(key: &str) -> Result<Cow<'_, str>, Refused<E>> {
    let text = through_json(Cow::Borrowed(key))?;
    let mut written = String::new();
    if key.len() > LONGEST_JSON_KEY / 6 {
        json::quoted(key.as_bytes(), true, &mut written);
    }
    if written.chars().count() > LONGEST_JSON_KEY || key.contains('\u{85}') {
        return Err(Refused::Value("yaml: did not find expected ',' or '}'".to_owned()));
    }
    Ok(text)
}

/// Returns text as it is after it went through JSON and a reader of YAML: a next-line character is a line break between
/// quotes, and some characters are refused.
fn through_json<E>(text: Cow<'_, str>) -> Result<Cow<'_, str>, Refused<E>> {
    if text.is_ascii() && !text.contains('\u{7f}') {
        return Ok(text);
    }
    if text.chars().any(|c| c >= ' ' && !is_allowed(c)) {
        return Err(Refused::Value("yaml: control characters are not allowed".to_owned()));
    }
    if !text.contains('\u{85}') {
        return Ok(text);
    }
    Ok(Cow::Owned(folded(&text)))
}

/// Replaces next-line characters and the spaces around them as a reader does between double quotes.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\u{85}') {
        out.push_str(line.trim_end_matches(' '));
        let next = after.trim_start_matches([' ', '\u{85}']);
        let more = after.get(..after.len() - next.len()).unwrap_or("").matches('\u{85}').count();
        match more {
            0 => out.push(' '),
            more => out.extend(std::iter::repeat_n('\n', more)),
        }
        rest = next;
    }
    out.push_str(rest);
    out
}

// The order of keys: letters after other characters, and runs of digits as numbers.

/// Compares two keys. With `digits_first` a letter comes before other characters right after a digit.
fn compare_keys(a: &str, b: &str, digits_first: bool) -> Ordering {
    let shared = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let start = (0..=shared).rev().find(|&at| a.is_char_boundary(at) && b.is_char_boundary(at)).unwrap_or(0);
    let (head, rest_a) = a.split_at_checked(start).unwrap_or(("", a));
    let rest_b = b.get(start..).unwrap_or(b);
    let (Some(first_a), Some(first_b)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.len().cmp(&rest_b.len());
    };
    match (first_a.is_alphabetic(), first_b.is_alphabetic()) {
        (true, true) => return first_a.cmp(&first_b),
        (letter, other) if letter != other => {
            let after_digit = digits_first && head.ends_with(|c: char| c.is_ascii_digit());
            return if letter == after_digit { Ordering::Less } else { Ordering::Greater };
        }
        _ => {}
    }
    // Behind other digits of the same number, zeros count as digits.
    let within = (first_a == '0' || first_b == '0')
        && head.bytes().rev().take_while(u8::is_ascii_digit).any(|digit| digit != b'0');
    let ((number_a, length_a), (number_b, length_b)) = (leading(rest_a, within), leading(rest_b, within));
    number_a.cmp(&number_b).then(length_a.cmp(&length_b)).then(first_a.cmp(&first_b))
}

/// Returns the number that a text begins with, after a one if it stands within a number, and its length.
fn leading(text: &str, within: bool) -> (i64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((i64::from(within), 0), |(number, length), digit| {
        (number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), length + 1)
    })
}

/// Sorts stably by merging. Unlike the standard sort it accepts that an order is none: numbers may overflow.
fn sort_keys<T: Copy>(items: &mut Vec<T>, is_less: impl Fn(&T, &T) -> bool) {
    if items.windows(2).all(|pair| matches!(pair, [a, b] if !is_less(b, a))) {
        return;
    }
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for part in items.chunks(2 * width) {
            let (left, right) = part.split_at(width.min(part.len()));
            merge_sorted(left, right, &is_less, &mut merged);
        }
        *items = merged;
        width *= 2;
    }
}

fn merge_sorted<T: Copy>(mut left: &[T], mut right: &[T], is_less: &impl Fn(&T, &T) -> bool, merged: &mut Vec<T>) {
    while let (Some((a, rest_a)), Some((b, rest_b))) = (left.split_first(), right.split_first()) {
        if is_less(b, a) {
            merged.push(*b);
            right = rest_b;
        } else {
            merged.push(*a);
            left = rest_a;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
}
