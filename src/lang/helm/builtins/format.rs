//! `print`, `println`, `printf` and its verbs.

mod numbers;

pub(super) use numbers::Spec;

use crate::print::print as print_value;
use crate::values::{GoKind, complex_parts, items, kind, map_of, string, text_bytes, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Cx, Rest};
use dropforge_machine::functions;
use dropforge_value::{Extended, Value};
use numbers::{bool_text, float_text, integer_text, pad, text_verb};

functions! {
    /// Formatting.
    pub(super) static FORMAT:
    "print" [... Any] = print, "The texts of values, with a space between two that are not strings."
        [r#"{{ print 1 2 "a" 3 }}"# => "1 2a3"];
    "println" [... Any] = println, "The texts of values with spaces between them, and a line end."
        [r#"{{ println "a" 1 }}"# => "a 1\n"];
    "printf" [Str, ... Any] = printf, "Values formatted by the verbs of a text."
        [r#"{{ printf "%s-%03d" "a" 7 }}"# => "a-007", r#"{{ printf "%d" "a" }}"# => "%!d(string=a)"];
}

fn print<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    if let [Value::Str(_)] = args {
        return Ok(args.first().copied().unwrap_or_default());
    }
    let mut out = Vec::new();
    let is_text = |value: &Value<'_>| kind(*value) == GoKind::Str;
    for (at, value) in args.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| args.get(at));
        if before.is_some_and(|before| !is_text(before)) && !is_text(value) {
            out.push(b' ');
        }
        print_value(cx, *value, &mut out)?;
    }
    string(cx, &out)
}

fn println<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    let mut out = Vec::new();
    for (at, value) in args.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        print_value(cx, *value, &mut out)?;
    }
    out.push(b'\n');
    string(cx, &out)
}

fn printf<'v>(cx: &Cx<'v>, format: &'v [u8], Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    string(cx, &formatted(cx, format, args)?)
}

/// The largest width and precision.
const WIDEST: usize = 1_000_000;

/// Bytes that most results have room in.
const ROOM: usize = 128;

/// Formats values by the verbs in `format`.
pub(super) fn formatted<'v>(cx: &Cx<'v>, format: &[u8], args: &[Value<'v>]) -> Result<Vec<u8>> {
    let mut one = Formatter { cx, args, next: 0, reordered: false, good: true, out: Vec::with_capacity(ROOM) };
    let mut rest = format;
    while let Some(at) = memchr::memchr(b'%', rest) {
        one.out.extend_from_slice(rest.get(..at).unwrap_or(&[]));
        rest = one.verb(rest.get(at + 1..).unwrap_or(&[]))?;
        cx.spend(1)?;
    }
    one.out.extend_from_slice(rest);
    one.extra()?;
    cx.charge(one.out.len())?;
    Ok(one.out)
}

struct Formatter<'f, 'v> {
    cx: &'f Cx<'v>,
    args: &'f [Value<'v>],
    next: usize,
    /// `true` if the verb chose its arguments.
    reordered: bool,
    /// `true` if the chosen argument exists.
    good: bool,
    out: Vec<u8>,
}

impl<'v> Formatter<'_, 'v> {
    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Formats by the verb at the start of `rest`, after its `%`. Returns what follows.
    fn verb<'f>(&mut self, rest: &'f [u8]) -> Result<&'f [u8]> {
        let (mut spec, mut rest) = Spec::flags(rest);
        self.good = true;
        let mut chosen;
        (rest, chosen) = self.choose(rest);
        (spec.width, rest) = match rest.split_first() {
            Some((b'*', behind)) => {
                let width = self.star();
                if width.is_none() {
                    self.push("%!(BADWIDTH)");
                }
                let width = width.inspect(|width| spec.minus |= *width < 0);
                spec.zero &= !spec.minus;
                chosen = false;
                (width.map(|width| width.unsigned_abs() as usize), behind)
            }
            _ => {
                let (width, behind) = digits(rest);
                if chosen && width.is_some() {
                    self.good = false;
                }
                (width, behind)
            }
        };
        if let Some((b'.', behind)) = rest.split_first() {
            if chosen {
                self.good = false;
            }
            let behind = {
                let (behind, again) = self.choose(behind);
                chosen = again;
                behind
            };
            (spec.precision, rest) = match behind.split_first() {
                Some((b'*', behind)) => {
                    let precision = self.star().filter(|precision| *precision >= 0);
                    if precision.is_none() {
                        self.push("%!(BADPREC)");
                    }
                    chosen = false;
                    (precision.map(|precision| precision.unsigned_abs() as usize), behind)
                }
                _ => {
                    let (precision, behind) = digits(behind);
                    (Some(precision.unwrap_or(0)), behind)
                }
            };
        }
        if !chosen {
            (rest, _) = self.choose(rest);
        }
        self.apply(&spec, rest)
    }

    fn apply<'f>(&mut self, spec: &Spec, rest: &'f [u8]) -> Result<&'f [u8]> {
        let Some((verb, behind)) = character(rest) else {
            self.push("%!(NOVERB)");
            return Ok(rest);
        };
        if spec.width.is_some_and(|width| width > WIDEST) || spec.precision.is_some_and(|precision| precision > WIDEST)
        {
            self.cx.charge(WIDEST)?;
        }
        match verb {
            '%' => self.push("%"),
            _ if !self.good => self.push(&format!("%!{verb}(BADINDEX)")),
            _ => match self.args.get(self.next).copied() {
                None => self.push(&format!("%!{verb}(MISSING)")),
                Some(value) => {
                    self.next += 1;
                    self.cx.charge(spec.width.unwrap_or(0).max(spec.precision.unwrap_or(0)))?;
                    value_text(self.cx, value, verb, &spec.of_verb(verb), 0, &mut self.out)?;
                }
            },
        }
        Ok(behind)
    }

    /// Reads an index of an argument: `[2]`.
    fn choose<'f>(&mut self, rest: &'f [u8]) -> (&'f [u8], bool) {
        let Some((b'[', inner)) = rest.split_first() else { return (rest, false) };
        self.reordered = true;
        let Some(end) = memchr::memchr(b']', inner) else {
            self.good = false;
            return (inner, false);
        };
        let (index, behind) = (inner.get(..end).unwrap_or(&[]), inner.get(end + 1..).unwrap_or(&[]));
        let index = std::str::from_utf8(index).ok().and_then(|index| index.parse::<usize>().ok());
        match index.and_then(|index| index.checked_sub(1)).filter(|index| *index < self.args.len()) {
            Some(index) => {
                self.next = index;
                (behind, true)
            }
            None => {
                self.good = false;
                (behind, true)
            }
        }
    }

    /// Takes a width or precision from the arguments.
    fn star(&mut self) -> Option<i64> {
        let value = self.args.get(self.next).copied();
        self.next += usize::from(value.is_some());
        let n = match value? {
            Value::Int(n) => n,
            value => match value.extended() {
                Some(Extended::Sized(n)) => i64::try_from(n.number()).ok()?,
                _ => return None,
            },
        };
        (n.unsigned_abs() as usize <= WIDEST).then_some(n)
    }

    /// Tells of arguments that no verb took.
    fn extra(&mut self) -> Result<()> {
        if self.reordered || self.next >= self.args.len() {
            return Ok(());
        }
        self.push("%!(EXTRA ");
        for (at, value) in self.args.iter().enumerate().skip(self.next) {
            if at > self.next {
                self.push(", ");
            }
            if matches!(value, Value::Null | Value::Undefined) {
                self.push("<nil>");
                continue;
            }
            self.push(&type_name(*value));
            self.push("=");
            print_value(self.cx, *value, &mut self.out)?;
        }
        self.push(")");
        Ok(())
    }
}

/// Splits a number off the start.
fn digits(text: &[u8]) -> (Option<usize>, &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = std::str::from_utf8(digits).ok().filter(|digits| !digits.is_empty());
    (number.map(|digits| digits.parse().unwrap_or(usize::MAX)), rest)
}

/// Splits a character off the start.
fn character(text: &[u8]) -> Option<(char, &[u8])> {
    if let Some((first, behind)) = text.split_first().filter(|(first, _)| first.is_ascii()) {
        return Some((char::from(*first), behind));
    }
    let first = text.utf8_chunks().next()?;
    match first.valid().chars().next() {
        Some(c) => Some((c, text.get(c.len_utf8()..)?)),
        None => Some(('\u{FFFD}', text.get(1..)?)),
    }
}

/// Appends a value that is `depth` levels deep by a verb.
pub(in crate::builtins) fn value_text<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    verb: char,
    spec: &Spec,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    cx.spend(1)?;
    if depth > cx.limits().value_depth {
        return Err(cx.too_deep());
    }
    if verb == 'T' {
        pad(type_name(value).as_bytes(), spec, out);
        return Ok(());
    }
    let text = match kind(value) {
        // This verb is for errors alone.
        kind if verb == 'w' && kind != GoKind::Nil => None,
        GoKind::Nil if verb == 'v' => {
            pad(b"<nil>", spec, out);
            return Ok(());
        }
        GoKind::Nil => {
            out.extend_from_slice(format!("%!{verb}(<nil>)").as_bytes());
            return Ok(());
        }
        GoKind::Bool => bool_text(matches!(value, Value::Bool(true)), verb, spec),
        GoKind::Int | GoKind::Int64 | GoKind::Uint8 | GoKind::Uint => integer_text(value, verb, spec),
        GoKind::Float => float_text(value.as_f64().unwrap_or(0.0), verb, spec),
        GoKind::Str if text_bytes(value).is_some_and(|text| text_verb(text, verb, spec, out)) => return Ok(()),
        GoKind::Str => None,
        GoKind::List => return list(cx, value, verb, spec, depth, out),
        GoKind::Map => return map(cx, value, verb, spec, depth, out),
        GoKind::Bytes => match (value.extended(), verb) {
            (Some(Extended::Typed(_, bytes)), 's' | 'x' | 'X' | 'q') => {
                if text_bytes(*bytes).is_some_and(|text| text_verb(text, verb, spec, out)) {
                    return Ok(());
                }
                None
            }
            _ => printed(cx, value, verb, spec)?,
        },
        GoKind::Duration if verb == 'd' => match value.extended() {
            Some(Extended::Duration(n)) => integer_text(Value::Int(*n), verb, spec),
            _ => None,
        },
        GoKind::Time | GoKind::Duration => {
            let mut text = Vec::new();
            print_value(cx, value, &mut text)?;
            if text_verb(&text, if verb == 'v' { 's' } else { verb }, spec, out) {
                return Ok(());
            }
            None
        }
        GoKind::Object => object(cx, value, verb, spec)?,
    };
    match text {
        Some(text) => out.extend_from_slice(&text),
        None => {
            out.extend_from_slice(format!("%!{verb}({}=", type_name(value)).as_bytes());
            value_text(cx, value, 'v', spec, depth + 1, out)?;
            out.push(b')');
        }
    }
    Ok(())
}

/// Returns the text of an object: that of a complex number has the verbs of floats.
fn object<'v>(cx: &Cx<'v>, value: Value<'v>, verb: char, spec: &Spec) -> Result<Option<Vec<u8>>> {
    let Some([re, im]) = complex_parts(value) else { return printed(cx, value, verb, spec) };
    let (first, second) = (float_text(re, verb, spec), float_text(im, verb, &Spec { plus: true, ..*spec }));
    Ok(first.zip(second).map(|(first, second)| [b"(", &*first, &*second, b"i)"].concat()))
}

fn printed<'v>(cx: &Cx<'v>, value: Value<'v>, verb: char, spec: &Spec) -> Result<Option<Vec<u8>>> {
    if !matches!(verb, 'v' | 's' | 'd') {
        return Ok(None);
    }
    let (mut text, mut out) = (Vec::new(), Vec::new());
    print_value(cx, value, &mut text)?;
    pad(&text, spec, &mut out);
    Ok(Some(out))
}

fn list<'v>(cx: &Cx<'v>, value: Value<'v>, verb: char, spec: &Spec, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    let is_syntax = spec.syntax;
    if is_syntax {
        out.extend_from_slice(type_name(value).as_bytes());
    }
    out.push(if is_syntax { b'{' } else { b'[' });
    for (at, item) in items(value).unwrap_or(&[]).iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(if is_syntax { b", " } else { b" " });
        }
        nested(cx, *item, verb, spec, depth, out)?;
    }
    out.push(if is_syntax { b'}' } else { b']' });
    Ok(())
}

fn map<'v>(cx: &Cx<'v>, value: Value<'v>, verb: char, spec: &Spec, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    let is_syntax = spec.syntax;
    out.extend_from_slice(if is_syntax { type_name(value).into_owned() } else { "map".to_owned() }.as_bytes());
    out.push(if is_syntax { b'{' } else { b'[' });
    for (at, (key, value)) in map_of(cx, value).into_iter().flat_map(|map| map.iter_sorted()).enumerate() {
        if at > 0 {
            out.extend_from_slice(if is_syntax { b", " } else { b" " });
        }
        nested(cx, cx.text(key)?, verb, spec, depth, out)?;
        out.push(b':');
        nested(cx, value, verb, spec, depth, out)?;
    }
    out.push(if is_syntax { b'}' } else { b']' });
    Ok(())
}

/// Appends an element. Nil in Go's syntax has a type.
fn nested<'v>(cx: &Cx<'v>, value: Value<'v>, verb: char, spec: &Spec, depth: usize, out: &mut Vec<u8>) -> Result<()> {
    if matches!(value, Value::Null | Value::Undefined) {
        out.extend_from_slice(if spec.syntax { b"interface {}(nil)" } else { b"<nil>" });
        return Ok(());
    }
    value_text(cx, value, verb, spec, depth + 1, out)
}
