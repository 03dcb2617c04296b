//! Functions. Those that read more than the inputs need a capability, which the machine checks before it calls them.

use super::arguments::{natural, wrong};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_machine::builtins;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

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
