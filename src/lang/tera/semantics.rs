//! The language's rules for the machine: missing values, truth, operators, iteration, values as text.

use unicode_segmentation::UnicodeSegmentation;

use super::arithmetic::{Num, calculate, calculate_common};
use super::builtins::{has_item, write_text};
use super::hints;
use dropforge_base::diagnostics::{CULPRIT, Code, Diagnostic, Result, with_article};
use dropforge_base::stdlib::markup::HTML;
use dropforge_base::stdlib::numbers::{with_plain_float, write_json_float};
use dropforge_base::stdlib::strings;
use dropforge_machine::bytecode::{BinaryOp, EscapeMode, Role};
use dropforge_machine::function::Cx;
use dropforge_machine::vm::{Items, Missing, Output, Semantics};
use dropforge_value::Value;

/// The semantics of `tera`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Semantics for Rules {
    fn forgets(&self) -> bool {
        true
    }

    #[cold]
    fn missing<'v>(&self, cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        let Missing { path, name, parent, index, .. } = *missing;
        let Some(parent) = parent else {
            let names: Vec<&str> = cx.inputs().iter().map(|(name, _)| name).collect();
            let what = if path == name { String::new() } else { format!(" (in `{path}`)") };
            let error = Diagnostic::new(Code::UndefinedVariable, format!("the variable `{name}` is not defined{what}"));
            let error = error.with_suggestion(name, names.iter().copied()).with_inputs(names);
            return Err(hints::missing(error, (path, name), name, cx.inputs().iter().map(|(name, _)| name)));
        };
        let step = index.map_or_else(|| format!("`{name}`"), |index| format!("`{}`", key_text(index)));
        let message = format!("`{path}` is not defined: {} has no {step} here", with_article(parent.kind()));
        let error = Diagnostic::new(Code::UndefinedVariable, message);
        let until = hints::until(path, name);
        Err(match parent {
            Value::Map(map) => {
                let keys = || map.iter().map(|(key, _)| key);
                let error = error.with_suggestion(name, keys()).with_available(keys());
                hints::missing(error, (path, until), name, keys())
            }
            Value::List(list) => hints::no_item(error, path, until, list.items().len()),
            _ => hints::no_fields(error, until, name).with_note(format!("it is {}", named(parent))),
        })
    }

    fn present(&self, value: Value<'_>) -> bool {
        !matches!(value, Value::Undefined | Value::Null)
    }

    fn truth<'v>(&self, _: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        Ok(match value {
            Value::Undefined | Value::Null => false,
            Value::Bool(b) => b,
            Value::Int(n) => n != 0,
            Value::Uint(n) => n != 0,
            Value::Float(n) => n != 0.0 && !n.is_nan(),
            Value::Str(text) => !text.as_str().is_empty(),
            Value::List(list) => !list.items().is_empty(),
            Value::Map(map) => !map.is_empty(),
            Value::Extended(_) => true,
        })
    }

    fn binary<'v>(&self, cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => arithmetic(cx, op, a, b),
            BinaryOp::Eq => equals(cx, a, b, true),
            BinaryOp::Ne => equals(cx, a, b, false),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => order(cx, op, a, b),
            BinaryOp::In => contains(cx, a, b),
        }
        .map(Into::into)
    }

    #[inline(always)]
    fn common<'v>(&self, op: BinaryOp, a: &Value<'v>, b: &Value<'v>) -> Option<Value<'v>> {
        calculate_common(op, a, b)
    }

    fn in_role<'v>(&self, cx: &Cx<'v>, value: Value<'v>, role: Role) -> Result<Value<'v>> {
        match (role, value) {
            (Role::Value, Value::Float(n)) if n.is_nan() => cx.borrowed("NaN"),
            (Role::Html, Value::Str(text)) if HTML.needed(text.as_str()) => {
                cx.charge(HTML.escaped_len(text.as_str()))?;
                cx.text(&HTML.escape(text.as_str()))
            }
            (Role::Answer, Value::Bool(_)) | (Role::Text, Value::Str(_)) => Ok(value),
            (Role::Answer, _) => Err(wrong(cx, "is a condition, so it has to give a boolean", value)),
            (Role::Text, _) => Err(wrong(cx, "is a condition, so it has to give text", value)),
            _ => Ok(value),
        }
    }

    fn attr<'v>(&self, _: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>> {
        let list = value.as_list()?;
        position(key).and_then(|at| list.get(at).copied())
    }

    fn index<'v>(&self, cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        let key = match index {
            Value::Str(text) if text.as_str().is_empty() => return Ok(Some(value)),
            Value::Str(text) => return Ok(by_key(cx, value, text.as_str())),
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => key_text(index),
            _ => {
                let message = format!("only text and numbers can be an index, but in {CULPRIT} it is {}", named(index));
                return Err(cx.fault(Code::BadIndex, message));
            }
        };
        Ok(key.split('.').try_fold(value, |value, key| by_key(cx, value, key)))
    }

    fn iterate<'v>(&self, cx: &Cx<'v>, value: Value<'v>, names: u32) -> Result<Items<'v>> {
        match (value, names) {
            (Value::List(list), 1) => Ok(Items::List(list.items())),
            (Value::Map(map), 2) => Ok(Items::Sorted(map)),
            (Value::Str(text), 1) => graphemes(cx, text.as_str()),
            (Value::Map(_), _) => Err(cx
                .fault(Code::NotIterable, format!("{CULPRIT} is a map, but the loop has no name for its keys"))
                .with_help("write `{% for key, value in … %}`")),
            (Value::List(_) | Value::Str(_), _) => {
                let message = format!("the loop has a name for keys, but {CULPRIT} is {}, not a map", named(value));
                Err(cx.fault(Code::NotIterable, message).with_help("write `{% for value in … %}`"))
            }
            _ => {
                let error =
                    cx.fault(Code::NotIterable, format!("{CULPRIT} cannot be looped over: it is {}", named(value)));
                Err(error.with_help(match value {
                    Value::Int(_) | Value::Uint(_) => format!("give a list, or count with `range(end={CULPRIT})`"),
                    _ => "give a list, a map or text".to_owned(),
                }))
            }
        }
    }

    #[inline]
    fn write_simple(&self, value: Value<'_>, mode: EscapeMode, out: &mut Output<'_>) -> Result<bool> {
        match value {
            // In a concatenation a boolean is an error, and a float has another text.
            Value::Bool(truth) if mode != EscapeMode::Piece => out.push(if truth { "true" } else { "false" })?,
            Value::Float(n) if mode != EscapeMode::Piece => with_plain_float(n, |text| out.push(text))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn to_text<'v>(&self, cx: &Cx<'v>, value: Value<'v>, mode: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        match (mode, value) {
            (EscapeMode::Html, Value::Str(text)) if !HTML.needed(text.as_str()) => out.push_text(text),
            (EscapeMode::Html, Value::Str(text)) => HTML.pieces(text.as_str(), |piece| out.push(piece)),
            (EscapeMode::Piece, Value::Float(n)) if n.is_finite() => number(out, |out| write_json_float(n, out)),
            (EscapeMode::Piece, Value::Str(_) | Value::Int(_) | Value::Uint(_)) => plain(value, out),
            (EscapeMode::Piece, Value::Float(n)) => with_plain_float(n, |text| out.push(text)),
            (EscapeMode::Piece, _) => Err(wrong(cx, "joins text and numbers only, but one operand", value)),
            (_, Value::Float(n)) => with_plain_float(n, |text| out.push(text)),
            _ => plain(value, out),
        }
    }
}

/// The result of an operator.
enum Outcome {
    Num(Num),
    Bool(bool),
}

impl From<Outcome> for Value<'_> {
    #[inline]
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Num(Num::Int(n)) => Value::Int(n),
            Outcome::Num(Num::Uint(n)) => Value::Uint(n),
            Outcome::Num(Num::Float(n)) => Value::Float(n),
            Outcome::Bool(b) => Value::Bool(b),
        }
    }
}

fn num(value: Value<'_>) -> Option<Num> {
    match value {
        Value::Int(n) => Some(Num::Int(n)),
        Value::Uint(n) => Some(Num::Uint(n)),
        Value::Float(n) => Some(Num::Float(n)),
        _ => None,
    }
}

#[inline]
fn arithmetic<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Outcome> {
    let (Some(x), Some(y)) = (num(a), num(b)) else { return Err(not_numbers(cx, a, b)) };
    let answer = calculate(op, x, y);
    answer.map(Outcome::Num).map_err(|why| cx.fault(Code::Arithmetic, format!("{CULPRIT}: {why}")))
}

#[cold]
fn not_numbers<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Box<Diagnostic> {
    let (side, value) = if num(a).is_none() { ("left", a) } else { ("right", b) };
    let message = format!("{CULPRIT} takes numbers, but its {side} side is {}", named(value));
    cx.fault(Code::TypeMismatch, message).with_help(match value {
        Value::Str(_) => "`| int` or `| float` makes a number of a text, and `~` joins texts",
        _ => "give it a number",
    })
}

/// Applies `==` (`wanted` is true) or `!=`. A number and a value of another type are neither equal nor unequal.
fn equals<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, wanted: bool) -> Result<Outcome> {
    let equal = match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        (None, None) => cx.equal(a, b)?,
        _ => return Ok(Outcome::Bool(false)),
    };
    Ok(Outcome::Bool(equal == wanted))
}

fn order<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Outcome> {
    let (Some(x), Some(y)) = (a.as_f64(), b.as_f64()) else { return Err(not_numbers(cx, a, b)) };
    let Some(ordering) = x.partial_cmp(&y) else {
        return Err(cx.fault(Code::Arithmetic, format!("{CULPRIT} compares with something that is not a number (NaN)")));
    };
    Ok(Outcome::Bool(match op {
        BinaryOp::Lt => ordering.is_lt(),
        BinaryOp::Le => ordering.is_le(),
        BinaryOp::Gt => ordering.is_gt(),
        _ => ordering.is_ge(),
    }))
}

fn contains<'v>(cx: &Cx<'v>, needle: Value<'v>, haystack: Value<'v>) -> Result<Outcome> {
    let found = match (haystack, needle) {
        (Value::List(list), _) => has_item(cx, list.items(), needle)?,
        (Value::Str(text), Value::Str(part)) => {
            cx.spend(text.as_str().len() as u64 / 64)?;
            strings::contains(text.as_str(), part.as_str())
        }
        (Value::Map(map), Value::Str(key)) => map.get(key.as_str()).is_some(),
        (Value::Str(_) | Value::Map(_), _) => {
            return Err(wrong(cx, "looks for text, but what is looked for", needle));
        }
        _ => return Err(wrong(cx, "looks into text, lists and maps only, but what follows `in`", haystack)),
    };
    Ok(Outcome::Bool(found))
}

/// Returns the error `CULPRIT WHAT: it is VALUE`.
#[cold]
fn wrong<'v>(cx: &Cx<'v>, what: &str, value: Value<'v>) -> Box<Diagnostic> {
    cx.fault(Code::TypeMismatch, format!("{CULPRIT} {what}: it is {}", named(value)))
}

/// Describes a value: its type with an article, and its text if it is short.
fn named(value: Value<'_>) -> String {
    let shown = match value {
        Value::Bool(b) => format!(" `{b}`"),
        Value::Int(_) | Value::Uint(_) | Value::Float(_) => format!(" `{}`", key_text(value)),
        Value::Str(text) if text.as_str().chars().count() <= 40 => format!(" `{}`", text.as_str()),
        _ => String::new(),
    };
    let kind = value.kind();
    let kind = if matches!(value, Value::Undefined) { kind.to_owned() } else { with_article(kind) };
    format!("{kind}{shown}")
}

/// Returns the list index in a path: digits without a sign or leading zeros.
fn position(key: &str) -> Option<usize> {
    let plain = key.bytes().all(|byte| byte.is_ascii_digit()) && (key.len() == 1 || !key.starts_with('0'));
    if plain { key.parse().ok() } else { None }
}

fn by_key<'v>(cx: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>> {
    match value {
        Value::Map(map) => map.get(key),
        _ => Rules.attr(cx, value, key),
    }
}

/// Returns the map key for a number, or a string unchanged.
fn key_text(value: Value<'_>) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::Uint(n) => n.to_string(),
        Value::Float(n) => {
            let mut text = String::new();
            let _ = write_json_float(n, &mut text);
            text
        }
        Value::Str(text) => text.as_str().to_owned(),
        other => other.kind().to_owned(),
    }
}

/// Returns the grapheme clusters of a text. Each has to be one code point: the reference counts code points, and fails when
/// it runs out of clusters.
fn graphemes<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Items<'v>> {
    cx.charge(text.len().saturating_mul(2 * size_of::<Value>()))?;
    let several = if text.is_ascii() && !text.contains('\r') { None } else { several_code_points(text) };
    if let Some(cluster) = several {
        let points: Vec<_> = cluster.chars().take(8).map(|c| format!("U+{:04X}", u32::from(c))).collect();
        let message = format!(
            "{CULPRIT} cannot be looped over: its character `{}` has several code points, {}",
            cluster.escape_debug(),
            points.join(" ")
        );
        return Err(cx.fault(Code::NotIterable, message).with_help("loop over a list instead, as `split` gives"));
    }
    let items = cx.arena().list(&text.graphemes(true).map(|one| cx.arena().borrowed_text(one)).collect::<Vec<_>>());
    Ok(Items::List(items.as_list().unwrap_or(&[])))
}

/// Returns the first grapheme cluster of several code points.
fn several_code_points(text: &str) -> Option<&str> {
    text.graphemes(true).find(|cluster| cluster.chars().nth(1).is_some())
}

/// Writes a value as output.
fn plain(value: Value<'_>, out: &mut Output<'_>) -> Result<()> {
    write_text(value, &mut |piece| out.push(piece))
}

/// Appends a number. Writing to a string cannot fail.
fn number(out: &mut Output<'_>, write: impl FnOnce(&mut String) -> std::fmt::Result) -> Result<()> {
    out.push_with(|out| {
        let _ = write(out);
    })
}
