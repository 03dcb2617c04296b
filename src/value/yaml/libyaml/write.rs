//! Writes values as YAML documents.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::{slice, vec};

use super::emit::{Analysis, Emitter};
use super::is_allowed;
use super::resolve::{Resolved, is_base_60, resolve};
use crate::json::{exchanged_float, exchanged_text, not_finite};
use crate::marshal::{MAX_DEPTH, lossy};
use crate::output::{Refused, Tree, TreeNode, not_plain, time_text};
use crate::yaml::Style;
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
    /// The form that needs no resolution of words: every text in quotes or as a block, keys in the order of their bytes,
    /// lists not indented in maps, long lines folded.
    Quoted,
}

/// Appends `tree` to `out` as a document with a final newline. `grow` receives the length of `out` after each node and
/// before each long text, and may stop the writing.
///
/// # Errors
/// What the form cannot hold: non-finite floats and control characters of values that went through JSON, values that
/// the tree refuses, values that contain themselves.
pub fn write<'t, E>(
    tree: impl Tree<'t>,
    form: Form,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    let width = if form == Form::Pretty { usize::MAX } else { WIDTH };
    let mut writer = DocumentWriter { emitter: Emitter::new(out, width), form, open: Vec::new() };
    let root = tree.node();
    // A plain scalar could go on in the next line.
    let is_open = form == Form::Quoted && is_word(&root);
    writer.node(root, false)?;
    grow(writer.emitter.out.len())?;
    while let Some((node, is_value)) = writer.next()? {
        let text = match &node {
            TreeNode::Text(text) => Some(text.as_str().len()),
            TreeNode::Octets(bytes) => Some(bytes.len()),
            _ => None,
        };
        if let Some(length) = text {
            grow(writer.emitter.out.len().saturating_add(length))?;
        }
        writer.node(node, is_value)?;
        grow(writer.emitter.out.len())?;
    }
    writer.emitter.indent(0);
    if is_open {
        out.push_str("...\n");
    }
    Ok(())
}

/// Returns `true` for nodes that are never in quotes.
const fn is_word<'t, T: Tree<'t>>(node: &TreeNode<'t, T>) -> bool {
    !matches!(node, TreeNode::List(_) | TreeNode::Map(_) | TreeNode::Text(_) | TreeNode::Made(_) | TreeNode::Octets(_))
}

/// The rest of a list or map that is being written.
enum OpenCollection<'t, T: Tree<'t>> {
    List(T::Items),
    /// The entries in output order.
    Map(vec::IntoIter<(Cow<'t, str>, T)>),
    /// The octets of a list of numbers.
    Octets(slice::Iter<'t, u8>),
}

struct DocumentWriter<'o, 't, T: Tree<'t>> {
    emitter: Emitter<'o>,
    form: Form,
    /// The open collections and their indentations.
    open: Vec<(usize, OpenCollection<'t, T>)>,
}

impl<'t, T: Tree<'t>> DocumentWriter<'_, 't, T> {
    /// Returns the indentation of the innermost collection.
    fn indent(&self) -> Option<usize> {
        self.open.last().map(|open| open.0)
    }

    /// Writes up to the next node and returns it, with `true` for the value of a key. `None` at the end.
    fn next<E>(&mut self) -> Result<Option<(TreeNode<'t, T>, bool)>, Refused<E>> {
        while let Some((indent, open)) = self.open.last_mut() {
            let indent = *indent;
            let item = match open {
                OpenCollection::List(items) => items.next().map(Tree::node),
                OpenCollection::Octets(octets) => octets.next().map(|octet| TreeNode::Int((*octet).into())),
                OpenCollection::Map(entries) => match entries.next() {
                    None => None,
                    Some((key, value)) => {
                        self.key(&key, indent)?;
                        return Ok(Some((value.node(), true)));
                    }
                },
            };
            if let Some(item) = item {
                self.begin_item(indent);
                return Ok(Some((item, false)));
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
    fn key<E>(&mut self, key: &str, indent: usize) -> Result<(), Refused<E>> {
        let text = match self.form {
            Form::Json => through_json_key(key)?,
            Form::Pretty | Form::Quoted => Cow::Borrowed(key),
        };
        let analysis = Analysis::of(&text, self.form == Form::Pretty);
        let is_simple = !analysis.multiline && text.len() <= LONGEST_KEY;
        self.emitter.indent(indent);
        if !is_simple {
            self.emitter.indicator("?", true, true);
        }
        let style = analysis.style(self.form.wanted_style(&text), is_simple);
        self.emitter.scalar(&text, style, indent + 2, is_simple);
        if !is_simple {
            self.emitter.indent(indent);
        }
        self.emitter.indicator(":", !is_simple, !is_simple);
        Ok(())
    }

    /// Writes a scalar, or opens a collection. `is_value` is `true` for the value of a key.
    fn node<E>(&mut self, node: TreeNode<'t, T>, is_value: bool) -> Result<(), Refused<E>> {
        match node {
            TreeNode::List(items) if items.len() > 0 => self.open(OpenCollection::List(items), is_value),
            TreeNode::Bytes(octets) if !octets.is_empty() && self.form == Form::Pretty => {
                self.open(OpenCollection::Octets(octets.iter()), is_value)
            }
            TreeNode::Map(entries) if entries.len() > 0 => {
                self.open(OpenCollection::Map(sorted::<T>(entries, self.form).into_iter()), is_value)
            }
            other => self.scalar(other),
        }
    }

    fn open<E>(&mut self, content: OpenCollection<'t, T>, is_value: bool) -> Result<(), Refused<E>> {
        // A list in the line of its key is not indented further than the key.
        let level = is_value
            && self.form != Form::Pretty
            && !matches!(content, OpenCollection::Map(_))
            && !self.emitter.indention;
        let indent = match self.indent() {
            None => 0,
            Some(indent) if level => indent,
            Some(indent) => indent + 2,
        };
        if self.open.len() >= MAX_DEPTH {
            return Err(Refused::Value("the value contains itself".to_owned()));
        }
        self.open.push((indent, content));
        Ok(())
    }

    fn scalar<E>(&mut self, node: TreeNode<'t, T>) -> Result<(), Refused<E>> {
        match node {
            TreeNode::Null => self.emitter.word("null"),
            TreeNode::Bool(truth) => self.emitter.word(if truth { "true" } else { "false" }),
            TreeNode::Int(n) => self.emitter.word(itoa::Buffer::new().format(n)),
            TreeNode::Uint(n) => self.emitter.word(itoa::Buffer::new().format(n)),
            TreeNode::Float(n) => {
                let text = float(n, self.form).map_err(Refused::Value)?;
                self.emitter.word(&text);
            }
            TreeNode::Text(text) => return self.any_text(text.as_str()),
            TreeNode::Made(text) => return self.any_text(&text),
            TreeNode::Octets(bytes) => match std::str::from_utf8(bytes) {
                Err(_) if self.form == Form::Pretty => self.emitter.word(&format!("!!binary {}", base64(bytes))),
                _ => return self.any_text(&lossy(bytes)),
            },
            TreeNode::Time(seconds, nanos) => match self.form {
                Form::Pretty => self.emitter.word(&time_text(seconds, nanos)),
                Form::Json | Form::Quoted => self.text(&time_text(seconds, nanos)),
            },
            TreeNode::Bytes(octets) if self.form != Form::Pretty => self.text(&base64(octets)),
            TreeNode::Spelled(text) => self.emitter.word(text),
            TreeNode::Digits(text) => self.emitter.word(&text),
            TreeNode::Tagged(_, inner) => return self.scalar(inner.node()),
            TreeNode::List(_) | TreeNode::Bytes(_) => self.emitter.word("[]"),
            TreeNode::Map(_) => self.emitter.word("{}"),
            TreeNode::Refused(kind) => return Err(Refused::Value(not_plain(kind))),
        }
        Ok(())
    }

    fn any_text<E>(&mut self, text: &str) -> Result<(), Refused<E>> {
        match self.form {
            Form::Pretty | Form::Quoted => self.text(text),
            Form::Json => self.text(&through_json(Cow::Borrowed(text))?),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        let style = Analysis::of(text, self.form == Form::Pretty).style(self.form.wanted_style(text), false);
        let indent = self.indent().unwrap_or(0) + 2;
        self.emitter.scalar(text, style, indent, false);
    }
}

/// Returns the entries of a map in output order.
fn sorted<'t, T: Tree<'t>>(entries: T::Entries, form: Form) -> Vec<(Cow<'t, str>, T)> {
    let mut entries: Vec<_> = entries.map(|(key, value)| (key.to_text(), value)).collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    if form == Form::Quoted {
        return entries;
    }
    sort_keys(&mut entries, |a, b| compare_keys(&a.0, &b.0, form == Form::Pretty).is_lt());
    entries
}

impl Form {
    /// Returns the preferred style of a text.
    fn wanted_style(self, text: &str) -> Style {
        if text.contains('\n') {
            Style::Literal
        } else if self != Form::Quoted && resolve(text) == Resolved::Text && !is_base_60(text) {
            Style::Plain
        } else {
            Style::DoubleQuoted
        }
    }
}

/// Returns the text of a float.
fn float(n: f64, form: Form) -> Result<String, String> {
    if !n.is_finite() {
        return match form {
            Form::Json => Err(format!("json: unsupported value: {}", not_finite(n))),
            Form::Pretty | Form::Quoted if n.is_nan() => Ok(".nan".to_owned()),
            Form::Pretty | Form::Quoted => Ok(if n > 0.0 { ".inf" } else { "-.inf" }.to_owned()),
        };
    }
    if form != Form::Json {
        return Ok(shortest(n));
    }
    let text = exchanged_float(n);
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
        exchanged_text(key, &mut written);
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
fn sort_keys<T: Clone>(items: &mut Vec<T>, is_less: impl Fn(&T, &T) -> bool) {
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

fn merge_sorted<T: Clone>(mut left: &[T], mut right: &[T], is_less: &impl Fn(&T, &T) -> bool, merged: &mut Vec<T>) {
    while let (Some((a, rest_a)), Some((b, rest_b))) = (left.split_first(), right.split_first()) {
        if is_less(b, a) {
            merged.push(b.clone());
            right = rest_b;
        } else {
            merged.push(a.clone());
            left = rest_a;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
}
