//! The functions, and the tests of `is`. Functions that read more than the inputs need a capability, which the machine
//! checks before it calls them. The first parameter of a test is its value, which may be undefined. The last one,
//! `excess`, only rejects further arguments.

use super::{missing, wrong};
use dropforge_base::diagnostics::{CULPRIT, Code, Diagnostic, Result};
use dropforge_base::stdlib::numbers::remainder;
use dropforge_base::stdlib::strings;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
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
    test "string" (value: Any = absent, excess: Any = absent) = of_kind("test `string`", |value| matches!(value, Value::Str(_))), total (Present, Absent),
        "True if it is text."
        [r"{% set s = 'a' %}{% if s is string %}yes{% endif %}" => "yes"];
    test "number" (value: Any = absent, excess: Any = absent) = of_kind("test `number`", |value| value.as_f64().is_some()), total (Present, Absent),
        "True if it is a number."
        [r"{% set s = '1' %}{% if s is not number %}no{% endif %}" => "no"];
    test "iterable" (value: Any = absent, excess: Any = absent) = of_kind("test `iterable`", |value| matches!(value, Value::List(_) | Value::Map(_))), total (Present, Absent),
        "True if it is a list or a map."
        [r"{% set l = [1] %}{% if l is iterable %}yes{% endif %}" => "yes"];
    test "object" (value: Any = absent, excess: Any = absent) = of_kind("test `object`", |value| matches!(value, Value::Map(_))), total (Present, Absent),
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

/// The value of a test and, if the test takes one, its argument. Both may be missing.
pub(super) struct Asked<'v> {
    of: &'static str,
    value: Value<'v>,
    argument: Option<Value<'v>>,
}

impl<'v> Asked<'v> {
    /// Checks that the value of a test without an argument is defined, and that there is no `excess` argument.
    fn new(cx: &Cx<'v>, of: &'static str, value: Value<'v>, excess: Option<Value<'v>>) -> Result<Self> {
        none_in_excess(of, "no argument", excess)?;
        Self { of, value, argument: None }.defined(cx)
    }

    /// Checks that the value of a test with an argument is defined, and that there is no `excess` argument.
    pub(super) fn with(
        cx: &Cx<'v>,
        of: &'static str,
        value: Value<'v>,
        argument: Option<Value<'v>>,
        excess: Option<Value<'v>>,
    ) -> Result<Self> {
        none_in_excess(of, "one argument", excess)?;
        Self { of, value, argument }.defined(cx)
    }

    fn defined(self, cx: &Cx<'v>) -> Result<Self> {
        if self.value.is_undefined() {
            let message = format!("{CULPRIT}: {} needs a variable that is defined", self.of);
            let error = cx.fault(Code::UndefinedVariable, message);
            return Err(error.with_help("ask `is defined` first"));
        }
        Ok(self)
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
        let argument = self.argument.ok_or_else(|| missing_argument(self.of, param, "a string"))?;
        argument.as_str().ok_or_else(|| wrong(self.of, param, "a string", argument))
    }
}

/// Rejects further arguments of a test that takes at most `most`.
fn none_in_excess(of: &str, most: &str, excess: Option<Value<'_>>) -> Result<()> {
    match excess {
        None => Ok(()),
        Some(excess) => Err(wrong(of, "excess", &format!("left out, as the test takes {most}"), excess)),
    }
}

/// Returns the error of a missing argument of a test, which has no name in templates.
#[cold]
fn missing_argument(of: &str, param: &str, wanted: &str) -> Box<Diagnostic> {
    let mut error = missing(of, param, wanted);
    error.help = Some("add it in parentheses".to_owned());
    error
}

fn defined<'v>(value: Value<'v>, excess: Option<Value<'v>>) -> Result<bool> {
    none_in_excess("test `defined`", "no argument", excess)?;
    Ok(!value.is_undefined())
}

fn undefined<'v>(value: Value<'v>, excess: Option<Value<'v>>) -> Result<bool> {
    none_in_excess("test `undefined`", "no argument", excess)?;
    Ok(value.is_undefined())
}

fn odd<'v>(cx: &Cx<'v>, value: Value<'v>, excess: Option<Value<'v>>) -> Result<bool> {
    Ok(remainder(Asked::new(cx, "test `odd`", value, excess)?.number()?, 2.0) != 0.0)
}

fn even<'v>(cx: &Cx<'v>, value: Value<'v>, excess: Option<Value<'v>>) -> Result<bool> {
    Ok(remainder(Asked::new(cx, "test `even`", value, excess)?.number()?, 2.0) == 0.0)
}

fn divisible_by<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    divisor: Option<Value<'v>>,
    excess: Option<Value<'v>>,
) -> Result<bool> {
    let asked = Asked::with(cx, "test `divisibleby`", value, divisor, excess)?;
    let number = asked.number()?;
    let divisor = divisor.ok_or_else(|| missing_argument(asked.of, "divisor", "a number"))?;
    match divisor.as_f64() {
        // Nothing is divisible by zero: the remainder is NaN.
        Some(divisor) => Ok(remainder(number, divisor) == 0.0),
        None => Err(wrong(asked.of, "divisor", "a number", divisor)),
    }
}

/// Returns the body of a test without arguments that looks at the kind of its value.
fn of_kind<'v>(
    of: &'static str,
    holds: fn(&Value<'v>) -> bool,
) -> impl Fn(&Cx<'v>, Value<'v>, Option<Value<'v>>) -> Result<bool> {
    move |cx, value, excess| Ok(holds(&Asked::new(cx, of, value, excess)?.value))
}

fn starting_with<'v>(
    cx: &Cx<'v>,
    value: Value<'v>,
    start: Option<Value<'v>>,
    excess: Option<Value<'v>>,
) -> Result<bool> {
    let (text, start) = Asked::with(cx, "test `starting_with`", value, start, excess)?.texts("start")?;
    Ok(text.starts_with(start))
}

fn ending_with<'v>(cx: &Cx<'v>, value: Value<'v>, end: Option<Value<'v>>, excess: Option<Value<'v>>) -> Result<bool> {
    let (text, end) = Asked::with(cx, "test `ending_with`", value, end, excess)?.texts("end")?;
    Ok(text.ends_with(end))
}

fn containing<'v>(cx: &Cx<'v>, value: Value<'v>, part: Option<Value<'v>>, excess: Option<Value<'v>>) -> Result<bool> {
    let asked = Asked::with(cx, "test `containing`", value, part, excess)?;
    match value {
        Value::Str(_) => {
            let (text, part) = asked.texts("part")?;
            cx.spend(text.len() as u64 / 64)?;
            Ok(strings::contains(text, part))
        }
        Value::List(list) => {
            let part = part.ok_or_else(|| missing_argument(asked.of, "part", "an item"))?;
            has_item(cx, list.items(), part)
        }
        Value::Map(map) => Ok(map.get(asked.text_argument("part")?).is_some()),
        other => Err(wrong(asked.of, "value", "a string, a list or a map", other)),
    }
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

functions! {
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

fn range<'v>(cx: &Cx<'v>, from: u64, to: u64, step_by: u64) -> Result<Value<'v>> {
    if from > to {
        let wanted = format!("at most `end`, which is {to}");
        return Err(wrong("function `range`", "start", &wanted, Value::uint(from)));
    }
    if step_by == 0 && from < to {
        return Err(wrong("function `range`", "step_by", "at least 1", Value::Int(0)));
    }
    let count = (to - from).div_ceil(step_by.max(1));
    cx.spend(count)?;
    let bytes = count.saturating_add(2).saturating_mul(size_of::<Value>() as u64);
    cx.charge(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    let numbers = (0..usize::try_from(count).unwrap_or(0)).map(|at| Value::uint(from + at as u64 * step_by));
    Ok(cx.arena().borrowed_list(cx.arena().bump().alloc_slice_fill_iter(numbers)))
}

pub(super) fn throw<'v>(cx: &Cx<'v>, message: &'v str) -> Result<Value<'v>> {
    Err(cx.fault(Code::FunctionFailed, message))
}

fn get_env<'v>(cx: &Cx<'v>, name: &'v str, default: Option<Value<'v>>) -> Result<Value<'v>> {
    match (std::env::var(name), default) {
        (Ok(found), _) => cx.text(&found),
        (Err(_), None) => {
            let message = format!("function `get_env`: there is no environment variable `{name}`");
            Err(cx.fault(Code::FunctionFailed, message))
        }
        (Err(_), Some(default)) => Ok(default),
    }
}
