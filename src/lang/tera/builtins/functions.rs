//! The functions, and the tests of `is`. Functions that read more than the inputs need a capability, which the machine
//! checks before it calls them. The first parameter of a test is its value, which may be undefined. The last one,
//! `excess`, only rejects further arguments.

use super::arguments::{missing, natural, wrong};
use dropforge_base::diagnostics::{CULPRIT, Code, Diagnostic, Result};
use dropforge_base::stdlib::numbers::remainder;
use dropforge_base::stdlib::strings;
use dropforge_machine::builtins;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

builtins! {
    /// The tests.
    pub(super) static TESTERS:
    test "defined" (value: Any = absent, excess: Any = absent) = defined, total (Any, Absent),
        "True if there is such a variable; null counts."
        [r"{% if nothing is defined %}yes{% else %}no{% endif %}" => "no"];
    test "undefined" (value: Any = absent, excess: Any = absent) = undefined, total (Any, Absent),
        "True if there is no such variable."
        [r"{% if nothing is undefined %}yes{% else %}no{% endif %}" => "yes"];
    test "odd" (value: Any = absent, excess: Any = absent) = odd, total (Number, Absent),
        "True if the number leaves a remainder when divided by 2."
        [
            r"{% set n = 3 %}{% if n is odd %}yes{% endif %}" => "yes",
            r"{% if nothing is odd %}{% endif %}" => "E0201",
            r"{% set n = 3 %}{% if n is odd(1) %}{% endif %}" => "E0403",
        ];
    test "even" (value: Any = absent, excess: Any = absent) = even, total (Number, Absent),
        "True if the number leaves no remainder when divided by 2."
        [r"{% set n = 4 %}{% if n is even %}yes{% endif %}" => "yes"];
    test "divisibleby" (value: Any = absent, divisor: Any = absent, excess: Any = absent) = divisible_by, total (Number, Number, Absent),
        "True if the number leaves no remainder when divided by `divisor`."
        [r"{% set n = 9 %}{% if n is divisibleby(3) %}yes{% endif %}" => "yes"];
    test "string" (value: Any = absent, excess: Any = absent) = string, total (Present, Absent),
        "True if it is text."
        [r"{% set s = 'a' %}{% if s is string %}yes{% endif %}" => "yes"];
    test "number" (value: Any = absent, excess: Any = absent) = number, total (Present, Absent),
        "True if it is a number."
        [r"{% set s = '1' %}{% if s is not number %}no{% endif %}" => "no"];
    test "iterable" (value: Any = absent, excess: Any = absent) = iterable, total (Present, Absent),
        "True if it is a list or a map."
        [r"{% set l = [1] %}{% if l is iterable %}yes{% endif %}" => "yes"];
    test "object" (value: Any = absent, excess: Any = absent) = object, total (Present, Absent),
        "True if it is a map."
        [r"{% set l = [1] %}{% if l is object %}yes{% else %}no{% endif %}" => "no"];
    test "starting_with" (value: Any = absent, start: Any = absent, excess: Any = absent) = starting_with, total (Str, Str, Absent),
        "True if the text begins with `start`."
        [r"{% set s = 'abc' %}{% if s is starting_with('ab') %}yes{% endif %}" => "yes"];
    test "ending_with" (value: Any = absent, end: Any = absent, excess: Any = absent) = ending_with, total (Str, Str, Absent),
        "True if the text ends with `end`."
        [r"{% set s = 'abc' %}{% if s is ending_with('bc') %}yes{% endif %}" => "yes"];
    test "containing" (value: Any = absent, part: Any = absent, excess: Any = absent) = containing, total (Str, Str, Absent) or (Map, Str, Absent),
        "True if the text has the part, the list the item, or the map the key `part`."
        [
            r"{% set l = [1, 2] %}{% if l is containing(2) %}yes{% endif %}" => "yes",
            r"{% set l = [1, 2] %}{% if l is containing %}{% endif %}" => "E0402",
        ];
}

/// The value of a test and, if the test takes one, its argument.
pub(super) struct Asked<'v> {
    of: &'static str,
    value: Value<'v>,
    argument: Value<'v>,
}

impl<'v> Asked<'v> {
    /// Reads the arguments of a test that takes `takes` (0 or 1) of them, and rejects further ones.
    fn new(cx: &Cx<'v>, of: &'static str, takes: usize, args: &[Value<'v>]) -> Result<Self> {
        let (value, rest) = args.split_first().ok_or_else(|| cx.arity())?;
        match rest.get(takes) {
            Some(Value::Undefined) | None => {}
            Some(excess) => return Err(too_many(of, takes, *excess)),
        }
        let argument = if takes == 0 { Value::Undefined } else { rest.first().copied().unwrap_or_default() };
        Ok(Self { of, value: *value, argument })
    }

    /// Reads the arguments of a test whose value must be defined.
    pub(super) fn defined(cx: &Cx<'v>, of: &'static str, takes: usize, args: &[Value<'v>]) -> Result<Self> {
        let asked = Self::new(cx, of, takes, args)?;
        if asked.value.is_undefined() {
            let message = format!("{CULPRIT}: {of} needs a variable that is defined");
            let error = cx.fault(Code::UndefinedVariable, message);
            return Err(error.with_help("ask `is defined` first"));
        }
        Ok(asked)
    }

    fn number(&self) -> Result<f64> {
        self.value.as_f64().ok_or_else(|| wrong(self.of, "value", "a number", self.value))
    }

    /// Returns the value and the argument, which must both be strings.
    pub(super) fn texts(&self, param: &str) -> Result<(&'v str, &'v str)> {
        let text = self.value.as_str().ok_or_else(|| wrong(self.of, "value", "a string", self.value))?;
        Ok((text, self.text_argument(param)?))
    }

    fn text_argument(&self, param: &str) -> Result<&'v str> {
        match self.argument {
            Value::Undefined => Err(missing_argument(self.of, param, "a string")),
            argument => argument.as_str().ok_or_else(|| wrong(self.of, param, "a string", argument)),
        }
    }
}

#[cold]
fn too_many(of: &str, takes: usize, excess: Value<'_>) -> Box<Diagnostic> {
    let most = if takes == 0 { "no argument" } else { "one argument" };
    wrong(of, "excess", &format!("left out, as the test takes {most}"), excess)
}

/// Returns the error of a missing argument of a test, which has no name in templates.
#[cold]
fn missing_argument(of: &str, param: &str, wanted: &str) -> Box<Diagnostic> {
    let mut error = missing(of, param, wanted);
    error.help = Some("add it in parentheses".to_owned());
    error
}

/// Answers a test without arguments.
fn ask<'v>(
    cx: &Cx<'v>,
    of: &'static str,
    args: &[Value<'v>],
    holds: impl FnOnce(&Asked<'v>) -> Result<bool>,
) -> Result<Value<'v>> {
    holds(&Asked::defined(cx, of, 0, args)?).map(Value::Bool)
}

fn defined<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Asked::new(cx, "test `defined`", 0, args).map(|asked| Value::Bool(!asked.value.is_undefined()))
}

fn undefined<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Asked::new(cx, "test `undefined`", 0, args).map(|asked| Value::Bool(asked.value.is_undefined()))
}

fn odd<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, "test `odd`", args, |asked| Ok(remainder(asked.number()?, 2.0) != 0.0))
}

fn even<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, "test `even`", args, |asked| Ok(remainder(asked.number()?, 2.0) == 0.0))
}

fn divisible_by<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let asked = Asked::defined(cx, "test `divisibleby`", 1, args)?;
    let number = asked.number()?;
    match (asked.argument.as_f64(), asked.argument) {
        // Nothing is divisible by zero: the remainder is NaN.
        (Some(divisor), _) => Ok(Value::Bool(remainder(number, divisor) == 0.0)),
        (None, Value::Undefined) => Err(missing_argument(asked.of, "divisor", "a number")),
        (None, other) => Err(wrong(asked.of, "divisor", "a number", other)),
    }
}

fn string<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, "test `string`", args, |asked| Ok(matches!(asked.value, Value::Str(_))))
}

fn number<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, "test `number`", args, |asked| Ok(asked.value.as_f64().is_some()))
}

fn iterable<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, "test `iterable`", args, |asked| Ok(matches!(asked.value, Value::List(_) | Value::Map(_))))
}

fn object<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    ask(cx, "test `object`", args, |asked| Ok(matches!(asked.value, Value::Map(_))))
}

fn starting_with<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let (text, start) = Asked::defined(cx, "test `starting_with`", 1, args)?.texts("start")?;
    Ok(Value::Bool(text.starts_with(start)))
}

fn ending_with<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let (text, end) = Asked::defined(cx, "test `ending_with`", 1, args)?.texts("end")?;
    Ok(Value::Bool(text.ends_with(end)))
}

fn containing<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let asked = Asked::defined(cx, "test `containing`", 1, args)?;
    Ok(Value::Bool(match asked.value {
        Value::Str(_) => {
            let (text, part) = asked.texts("part")?;
            cx.spend(text.len() as u64 / 64)?;
            strings::contains(text, part)
        }
        Value::List(_) if asked.argument.is_undefined() => {
            return Err(missing_argument(asked.of, "part", "an item"));
        }
        Value::List(list) => has_item(cx, list.items(), asked.argument)?,
        Value::Map(map) => map.get(asked.text_argument("part")?).is_some(),
        other => return Err(wrong(asked.of, "value", "a string, a list or a map", other)),
    }))
}

/// Returns `true` if one of `items` equals `wanted`.
pub(crate) fn has_item<'v>(cx: &Cx<'v>, items: &[Value<'v>], wanted: Value<'v>) -> Result<bool> {
    // Most items are texts and integers. Each is a step, as for the others.
    let found = match wanted {
        Value::Str(wanted) => items.iter().position(|item| item.as_str() == Some(wanted.as_str())),
        Value::Int(wanted) => items.iter().position(|item| matches!(item, Value::Int(n) if *n == wanted)),
        _ => return has_equal(cx, items, wanted),
    };
    cx.spend(found.map_or(items.len(), |at| at + 1) as u64)?;
    Ok(found.is_some())
}

fn has_equal<'v>(cx: &Cx<'v>, items: &[Value<'v>], wanted: Value<'v>) -> Result<bool> {
    for item in items {
        if cx.equal(*item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

builtins! {
    /// The functions.
    pub(super) static FUNCTIONS:
    function "range" (start: Size = int 0, end: Size, step_by: Size = int 1) = range,
        "The whole numbers from `start` up to but not including `end`, every `step_by`th."
        [
            r"{{ range(end=3) }}" => "[0, 1, 2]",
            r"{{ range(start=1, end=6, step_by=2) }}" => "[1, 3, 5]",
            r"{{ range(start=2, end=1) }}" => "E0403",
            r"{{ range(end=1, step_by=0) }}" => "E0403",
            r"{{ range(start=1) }}" => "E0402",
        ];
    function "throw" (message: Str) = throw,
        "Stops the render with the error `message`."
        [r"{{ throw(message='no owner') }}" => "E0404", r"{{ throw() }}" => "E0402"];
    function "get_env" (name: Str, default: Any = absent) = get_env, needs ENVIRONMENT,
        "The environment variable `name`, else `default`, else an error."
        [r"{{ get_env(name='HOME') }}" => "E0405"];
}

fn range<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [start, end, step] = args else { return Err(cx.arity()) };
    let (from, to, step_by) = (natural(cx, *start)?, natural(cx, *end)?, natural(cx, *step)?);
    if from > to {
        return Err(wrong("function `range`", "start", &format!("at most `end`, which is {to}"), *start));
    }
    if step_by == 0 && from < to {
        return Err(wrong("function `range`", "step_by", "at least 1", *step));
    }
    let count = (to - from).div_ceil(step_by.max(1));
    cx.spend(count)?;
    let bytes = count.saturating_add(2).saturating_mul(size_of::<Value>() as u64);
    cx.charge(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    let numbers = (0..usize::try_from(count).unwrap_or(0)).map(|at| Value::uint(from + at as u64 * step_by));
    Ok(cx.arena().borrowed_list(cx.arena().bump().alloc_slice_fill_iter(numbers)))
}

pub(super) fn throw<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Str(message)] = args else { return Err(cx.arity()) };
    Err(cx.fault(Code::FunctionFailed, message.as_str()))
}

fn get_env<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Str(name), default] = args else { return Err(cx.arity()) };
    match (std::env::var(name.as_str()), default) {
        (Ok(found), _) => cx.text(&found),
        (Err(_), Value::Undefined) => {
            let message = format!("function `get_env`: there is no environment variable `{}`", name.as_str());
            Err(cx.fault(Code::FunctionFailed, message))
        }
        (Err(_), default) => Ok(*default),
    }
}
