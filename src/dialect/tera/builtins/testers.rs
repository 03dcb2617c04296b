//! The tests: what `is` asks. A test's first parameter is what it is asked of, which may be undefined; its
//! last one, `excess`, is there to be refused.

use super::arguments::{missing, wrong};
use crate::builtins;
use crate::diagnostics::{CULPRIT, Code, Diagnostic, Result};
use crate::function::Cx;
use crate::stdlib::pattern::search_steps;
use crate::value::Value;

builtins! {
    /// The tests.
    pub(super) static TESTERS:
    test "defined" (value: Any = absent, excess: Any = absent) = defined,
        "Whether there is such a variable; null counts."
        [r"{% if nothing is defined %}yes{% else %}no{% endif %}" => "no"];
    test "undefined" (value: Any = absent, excess: Any = absent) = undefined,
        "Whether there is no such variable."
        [r"{% if nothing is undefined %}yes{% else %}no{% endif %}" => "yes"];
    test "odd" (value: Any = absent, excess: Any = absent) = odd,
        "Whether the number leaves a rest when divided by 2."
        [
            r"{% set n = 3 %}{% if n is odd %}yes{% endif %}" => "yes",
            r"{% if nothing is odd %}{% endif %}" => "E0201",
            r"{% set n = 3 %}{% if n is odd(1) %}{% endif %}" => "E0403",
        ];
    test "even" (value: Any = absent, excess: Any = absent) = even,
        "Whether the number leaves no rest when divided by 2."
        [r"{% set n = 4 %}{% if n is even %}yes{% endif %}" => "yes"];
    test "divisibleby" (value: Any = absent, divisor: Any = absent, excess: Any = absent) = divisible_by,
        "Whether the number leaves no rest when divided by `divisor`."
        [r"{% set n = 9 %}{% if n is divisibleby(3) %}yes{% endif %}" => "yes"];
    test "string" (value: Any = absent, excess: Any = absent) = string,
        "Whether it is text."
        [r"{% set s = 'a' %}{% if s is string %}yes{% endif %}" => "yes"];
    test "number" (value: Any = absent, excess: Any = absent) = number,
        "Whether it is a number."
        [r"{% set s = '1' %}{% if s is not number %}no{% endif %}" => "no"];
    test "iterable" (value: Any = absent, excess: Any = absent) = iterable,
        "Whether it is a list or a map."
        [r"{% set l = [1] %}{% if l is iterable %}yes{% endif %}" => "yes"];
    test "object" (value: Any = absent, excess: Any = absent) = object,
        "Whether it is a map."
        [r"{% set l = [1] %}{% if l is object %}yes{% else %}no{% endif %}" => "no"];
    test "starting_with" (value: Any = absent, start: Any = absent, excess: Any = absent) = starting_with,
        "Whether the text begins with `start`."
        [r"{% set s = 'abc' %}{% if s is starting_with('ab') %}yes{% endif %}" => "yes"];
    test "ending_with" (value: Any = absent, end: Any = absent, excess: Any = absent) = ending_with,
        "Whether the text ends with `end`."
        [r"{% set s = 'abc' %}{% if s is ending_with('bc') %}yes{% endif %}" => "yes"];
    test "containing" (value: Any = absent, part: Any = absent, excess: Any = absent) = containing,
        "Whether the text has the part, the list the item, or the map the key `part`."
        [
            r"{% set l = [1, 2] %}{% if l is containing(2) %}yes{% endif %}" => "yes",
            r"{% set l = [1, 2] %}{% if l is containing %}{% endif %}" => "E0402",
        ];
    test "matching" (value: Any = absent, pattern: Any = absent, excess: Any = absent) = matching,
        "Whether the regular expression `pattern` is found in the text."
        [
            r"{% set s = 'web-01' %}{% if s is matching('-[0-9]+$') %}yes{% endif %}" => "yes",
            r"{% set s = 'a' %}{% if s is matching('(') %}{% endif %}" => "E0403",
        ];
}

/// What a test is asked of and, of those that take one, its argument.
struct Asked<'v> {
    of: &'static str,
    value: Value<'v>,
    argument: Value<'v>,
}

impl<'v> Asked<'v> {
    /// Refuses arguments beyond the first `takes` (0 or 1).
    fn new(cx: &Cx<'v>, of: &'static str, takes: usize, args: &[Value<'v>]) -> Result<Self> {
        let (value, rest) = args.split_first().ok_or_else(|| cx.arity())?;
        match rest.get(takes) {
            Some(Value::Undefined) | None => {}
            Some(excess) => return Err(too_many(of, takes, *excess)),
        }
        let argument = if takes == 0 { Value::Undefined } else { rest.first().copied().unwrap_or_default() };
        Ok(Self { of, value: *value, argument })
    }

    /// The same, where the value must be defined.
    fn defined(cx: &Cx<'v>, of: &'static str, takes: usize, args: &[Value<'v>]) -> Result<Self> {
        let asked = Self::new(cx, of, takes, args)?;
        if asked.value.is_undefined() {
            let message = format!("{CULPRIT}: {of} was asked of a variable that is not defined");
            let error = cx.fault(Code::UndefinedVariable, message);
            return Err(error.with_help("ask `is defined` first"));
        }
        Ok(asked)
    }

    fn number(&self) -> Result<f64> {
        self.value.as_f64().ok_or_else(|| wrong(self.of, "value", "a number", self.value))
    }

    fn text(&self) -> Result<&'v str> {
        self.value.as_str().ok_or_else(|| wrong(self.of, "value", "a string", self.value))
    }

    /// The argument, which must be text.
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

/// Arguments of tests have no names in templates.
#[cold]
fn missing_argument(of: &str, param: &str, wanted: &str) -> Box<Diagnostic> {
    let mut error = missing(of, param, wanted);
    error.help = Some("add it in parentheses".to_owned());
    error
}

fn defined<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Asked::new(cx, "test `defined`", 0, args).map(|asked| Value::Bool(!asked.value.is_undefined()))
}

fn undefined<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Asked::new(cx, "test `undefined`", 0, args).map(|asked| Value::Bool(asked.value.is_undefined()))
}

fn odd<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let number = Asked::defined(cx, "test `odd`", 0, args)?.number()?;
    Ok(Value::Bool(number % 2.0 != 0.0))
}

fn even<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let number = Asked::defined(cx, "test `even`", 0, args)?.number()?;
    Ok(Value::Bool(number % 2.0 == 0.0))
}

fn divisible_by<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let asked = Asked::defined(cx, "test `divisibleby`", 1, args)?;
    let number = asked.number()?;
    match (asked.argument.as_f64(), asked.argument) {
        // Nothing is divisible by zero: the rest is not a number.
        (Some(divisor), _) => Ok(Value::Bool(number % divisor == 0.0)),
        (None, Value::Undefined) => Err(missing_argument(asked.of, "divisor", "a number")),
        (None, other) => Err(wrong(asked.of, "divisor", "a number", other)),
    }
}

fn string<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Asked::defined(cx, "test `string`", 0, args).map(|asked| Value::Bool(matches!(asked.value, Value::Str(_))))
}

fn number<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Asked::defined(cx, "test `number`", 0, args).map(|asked| Value::Bool(asked.value.as_f64().is_some()))
}

fn iterable<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let asked = Asked::defined(cx, "test `iterable`", 0, args)?;
    Ok(Value::Bool(matches!(asked.value, Value::List(_) | Value::Map(_))))
}

fn object<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    Asked::defined(cx, "test `object`", 0, args).map(|asked| Value::Bool(matches!(asked.value, Value::Map(_))))
}

fn starting_with<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let asked = Asked::defined(cx, "test `starting_with`", 1, args)?;
    let (text, start) = (asked.text()?, asked.text_argument("start")?);
    Ok(Value::Bool(text.starts_with(start)))
}

fn ending_with<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let asked = Asked::defined(cx, "test `ending_with`", 1, args)?;
    let (text, end) = (asked.text()?, asked.text_argument("end")?);
    Ok(Value::Bool(text.ends_with(end)))
}

fn containing<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let asked = Asked::defined(cx, "test `containing`", 1, args)?;
    match asked.value {
        Value::Str(text) => {
            let (text, part) = (text.as_str(), asked.text_argument("part")?);
            cx.spend(text.len() as u64 / 64)?;
            Ok(Value::Bool(text.contains(part)))
        }
        Value::List(list) => {
            if asked.argument.is_undefined() {
                return Err(missing_argument(asked.of, "part", "an item"));
            }
            for item in list.items() {
                if cx.equal(*item, asked.argument)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        Value::Map(map) => Ok(Value::Bool(map.get(asked.text_argument("part")?).is_some())),
        other => Err(wrong(asked.of, "value", "a string, a list or a map", other)),
    }
}

fn matching<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let asked = Asked::defined(cx, "test `matching`", 1, args)?;
    let (text, pattern) = (asked.text()?, asked.text_argument("pattern")?);
    let regex = cx.regex(pattern)?;
    cx.spend(search_steps(pattern, text.len()))?;
    Ok(Value::Bool(regex.is_match(text)))
}
