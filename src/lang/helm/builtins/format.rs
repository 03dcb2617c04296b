//! `print`, `println`, `printf` and its verbs.

mod numbers;

pub(super) use numbers::Spec;

use crate::print::print as print_value;
use crate::values::{GoKind, complex_parts, is_nil_of_type, items, kind, map_of, text_bytes, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Cx, Growing, Rest};
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
    let mut out = Growing::new(cx);
    let is_text = |value: &Value<'_>| kind(*value) == GoKind::Str;
    for (at, value) in args.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| args.get(at));
        if before.is_some_and(|before| !is_text(before)) && !is_text(value) {
            out.push(b" ")?;
        }
        print_value(cx, *value, &mut out)?;
    }
    cx.string(out.bytes())
}

fn println<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    let mut out = Growing::new(cx);
    for (at, value) in args.iter().enumerate() {
        if at > 0 {
            out.push(b" ")?;
        }
        print_value(cx, *value, &mut out)?;
    }
    out.push(b"\n")?;
    cx.string(out.bytes())
}

fn printf<'v>(cx: &Cx<'v>, format: &'v [u8], Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    cx.string(formatted(cx, format, args)?.bytes())
}

/// The largest width and precision among the arguments, and the largest number that gets one more digit in a format.
const WIDEST: usize = 1_000_000;

/// Texts of the size of the width or the precision that formatting a scalar takes.
const DRAFTS: usize = 4;

/// Formats values by the verbs in `format`.
fn formatted<'c, 'v>(cx: &'c Cx<'v>, format: &[u8], args: &[Value<'v>]) -> Result<Growing<'c, 'v>> {
    let mut one = Formatter { cx, args, next: 0, reordered: false, good: true, out: Growing::new(cx) };
    let mut rest = format;
    while let Some(at) = memchr::memchr(b'%', rest) {
        one.out.push(rest.get(..at).unwrap_or(&[]))?;
        rest = one.verb(rest.get(at + 1..).unwrap_or(&[]))?;
        cx.spend(1)?;
    }
    one.out.push(rest)?;
    one.extra()?;
    Ok(one.out)
}

struct Formatter<'f, 'c, 'v> {
    cx: &'c Cx<'v>,
    args: &'f [Value<'v>],
    next: usize,
    /// `true` if the verb chose its arguments.
    reordered: bool,
    /// `true` if the chosen argument exists.
    good: bool,
    out: Growing<'c, 'v>,
}

impl<'v> Formatter<'_, '_, 'v> {
    fn push(&mut self, text: &str) -> Result<()> {
        self.out.push(text.as_bytes())
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
                    self.push("%!(BADWIDTH)")?;
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
        // A point at the end is a verb that there is not.
        if let Some((b'.', behind)) = rest.split_first().filter(|(_, behind)| !behind.is_empty()) {
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
                        self.push("%!(BADPREC)")?;
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
            self.push("%!(NOVERB)")?;
            return Ok(rest);
        };
        match verb {
            '%' => self.push("%")?,
            _ if !self.good => self.push(&format!("%!{verb}(BADINDEX)"))?,
            _ => match self.args.get(self.next).copied() {
                None => self.push(&format!("%!{verb}(MISSING)"))?,
                Some(value) => {
                    self.next += 1;
                    let longest = spec.width.unwrap_or(0).max(spec.precision.unwrap_or(0));
                    let _drafts = self.cx.hold(longest.saturating_mul(DRAFTS))?;
                    value_text(self.cx, value, &spec.of_verb(verb), 0, &mut self.out)?;
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
        self.push("%!(EXTRA ")?;
        for (at, value) in self.args.iter().enumerate().skip(self.next) {
            if at > self.next {
                self.push(", ")?;
            }
            if matches!(value, Value::Null | Value::Undefined) {
                self.push("<nil>")?;
                continue;
            }
            self.push(&type_name(*value))?;
            self.push("=")?;
            print_value(self.cx, *value, &mut self.out)?;
        }
        self.push(")")
    }
}

/// Splits a number off the start. Like Go, gives up at one that is far too large, and skips all that follows.
fn digits(text: &[u8]) -> (Option<usize>, &[u8]) {
    let mut number = None;
    for (at, byte) in text.iter().enumerate() {
        if !byte.is_ascii_digit() {
            return (number, text.get(at..).unwrap_or(&[]));
        }
        let before = number.unwrap_or(0);
        if before > WIDEST {
            return (None, &[]);
        }
        number = Some(before * 10 + usize::from(byte - b'0'));
    }
    (number, &[])
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

/// Appends a value that is `depth` levels deep by its verb.
pub(in crate::builtins) fn value_text<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    spec: &Spec,
    depth: usize,
    out: &mut Growing<'_, 'v>,
) -> Result<()> {
    let verb = spec.verb;
    cx.spend(1)?;
    if depth > cx.limits().value_depth {
        return Err(cx.too_deep());
    }
    if verb == 'T' {
        return pad(type_name(value).as_bytes(), spec, out);
    }
    let done = match kind(value) {
        // This verb is for errors alone.
        kind if verb == 'w' && kind != GoKind::Nil => false,
        GoKind::Nil if verb == 'v' => return pad(b"<nil>", spec, out),
        GoKind::Nil => return out.push(format!("%!{verb}(<nil>)").as_bytes()),
        GoKind::Bool => scalar(bool_text(matches!(value, Value::Bool(true)), spec), out)?,
        GoKind::Int | GoKind::Int64 | GoKind::Uint8 | GoKind::Uint => scalar(integer_text(value, spec), out)?,
        GoKind::Float => scalar(float_text(value.as_f64().unwrap_or(0.0), spec), out)?,
        GoKind::Str => text_verb(cx, text_bytes(value).unwrap_or(b""), spec, out)?,
        GoKind::List | GoKind::Map if spec.syntax && is_nil_of_type(value) => {
            return out.push(format!("{}(nil)", type_name(value)).as_bytes());
        }
        GoKind::List => return list(cx, value, spec, depth, out),
        GoKind::Map => return map(cx, value, spec, depth, out),
        GoKind::Bytes => match (value.extended(), verb) {
            (Some(Extended::Typed(_, bytes)), 's' | 'x' | 'X' | 'q') => {
                text_verb(cx, text_bytes(*bytes).unwrap_or(b""), spec, out)?
            }
            _ => printed(cx, value, spec, out)?,
        },
        GoKind::Duration if verb == 'd' => match value.extended() {
            Some(Extended::Duration(n)) => scalar(integer_text(Value::Int(*n), spec), out)?,
            _ => false,
        },
        GoKind::Time | GoKind::Duration => {
            let mut text = Growing::new(cx);
            print_value(cx, value, &mut text)?;
            text_verb(cx, text.bytes(), &Spec { verb: if verb == 'v' { 's' } else { verb }, ..*spec }, out)?
        }
        GoKind::Object => object(cx, value, spec, out)?,
    };
    if !done {
        out.push(format!("%!{verb}({}=", type_name(value)).as_bytes())?;
        value_text(cx, value, &Spec { verb: 'v', ..*spec }, depth + 1, out)?;
        out.push(b")")?;
    }
    Ok(())
}

/// Appends the text of a scalar. Returns `false` if there is none by this verb.
fn scalar(text: Option<Vec<u8>>, out: &mut Growing<'_, '_>) -> Result<bool> {
    text.map_or(Ok(false), |text| out.push(&text).map(|()| true))
}

/// Appends the text of an object: that of a complex number has the verbs of floats.
fn object<'v>(cx: &Cx<'v>, value: Value<'v>, spec: &Spec, out: &mut Growing<'_, 'v>) -> Result<bool> {
    let Some([re, im]) = complex_parts(value) else { return printed(cx, value, spec, out) };
    let (first, second) = (float_text(re, spec), float_text(im, &Spec { plus: true, ..*spec }));
    scalar(first.zip(second).map(|(first, second)| [b"(", &*first, &*second, b"i)"].concat()), out)
}

fn printed<'v>(cx: &Cx<'v>, value: Value<'v>, spec: &Spec, out: &mut Growing<'_, 'v>) -> Result<bool> {
    if !matches!(spec.verb, 'v' | 's' | 'd') {
        return Ok(false);
    }
    let mut text = Growing::new(cx);
    print_value(cx, value, &mut text)?;
    pad(text.bytes(), spec, out).map(|()| true)
}

fn list<'v>(cx: &Cx<'v>, value: Value<'v>, spec: &Spec, depth: usize, out: &mut Growing<'_, 'v>) -> Result<()> {
    let is_syntax = spec.syntax;
    if is_syntax {
        out.push(type_name(value).as_bytes())?;
    }
    out.push(if is_syntax { b"{" } else { b"[" })?;
    for (at, item) in items(value).unwrap_or(&[]).iter().enumerate() {
        if at > 0 {
            out.push(if is_syntax { b", " } else { b" " })?;
        }
        nested(cx, *item, spec, depth, out)?;
    }
    out.push(if is_syntax { b"}" } else { b"]" })
}

fn map<'v>(cx: &Cx<'v>, value: Value<'v>, spec: &Spec, depth: usize, out: &mut Growing<'_, 'v>) -> Result<()> {
    let is_syntax = spec.syntax;
    out.push(if is_syntax { type_name(value) } else { "map".into() }.as_bytes())?;
    out.push(if is_syntax { b"{" } else { b"[" })?;
    for (at, (key, value)) in map_of(cx, value).into_iter().flat_map(|map| map.iter_sorted()).enumerate() {
        if at > 0 {
            out.push(if is_syntax { b", " } else { b" " })?;
        }
        if !text_verb(cx, key.as_bytes(), spec, out)? {
            nested(cx, cx.borrowed(key)?, spec, depth, out)?;
        }
        out.push(b":")?;
        nested(cx, value, spec, depth, out)?;
    }
    out.push(if is_syntax { b"}" } else { b"]" })
}

/// Appends an element. Nil in Go's syntax has a type.
fn nested<'v>(cx: &Cx<'v>, value: Value<'v>, spec: &Spec, depth: usize, out: &mut Growing<'_, 'v>) -> Result<()> {
    if matches!(value, Value::Null | Value::Undefined) {
        return out.push(if spec.syntax { b"interface {}(nil)" } else { b"<nil>" });
    }
    value_text(cx, value, spec, depth + 1, out)
}
