//! Filters that write YAML and JSON, and read JSON.

use crate::builtins::arguments::{Written, size, subject, written, wrong};
use crate::builtins::text::{json, yaml};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::strings::Indent;
use dropforge_machine::builtins;
use dropforge_machine::function::Cx;
use dropforge_value::{JsonStyle, Value};

builtins! {
    /// Filters that write YAML and JSON, and read JSON.
    pub(super) static DOCUMENTS:
    filter "to_yaml" (value: Any, indent: Size = int 0) => to_yaml,
        "As YAML with sorted keys, without a final line break; with `indent` spaces before each line but the first, which stands where the tag does."
        [
            r"{{ [1, 'no'] | to_yaml }}" => "- 1\n- \"no\"",
            "args:\n  {{ ['-v', 'all'] | to_yaml(indent=2) }}" => "args:\n  - \"-v\"\n  - all",
        ];
    filter "to_json" (value: Any, pretty: Bool = false) => to_json,
        "As JSON with sorted keys, on one line or `pretty`."
        [r#"{{ [1, "a"] | to_json }}"# => r#"[1,"a"]"#, r"{{ [1] | to_json(pretty=true) }}" => "[\n  1\n]"];
    filter "from_json" (value: Str) = from_json,
        "The value in JSON."
        [
            r#"{% set image = '{"name": "web", "tags": [1, 2]}' | from_json %}{{ image.name }} {{ image.tags | last }}"# => "web 2",
            r"{{ '{' | from_json }}" => "E0403",
        ];
}

fn to_yaml<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let [value, indent] = args else { return Err(cx.arity()) };
    let indent = size(cx, *indent)?;
    let start = out.len();
    yaml(cx, *value, out)?;
    if out.ends_with('\n') {
        out.pop();
    }
    if indent == 0 {
        cx.charge(out.len() - start + size_of::<Value>())?;
        return Ok(None);
    }
    cx.charge(indent)?;
    let text = out.split_off(start);
    let indent = Indent { prefix: &" ".repeat(indent), first: false, blank: false };
    written(cx, indent.len(&text), out, |out| indent.apply(&text, out))
}

fn to_json<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let [value, Value::Bool(pretty)] = args else { return Err(cx.arity()) };
    json(cx, *value, if *pretty { JsonStyle::Pretty } else { JsonStyle::Compact }, out)
}

fn from_json<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = args else { return Err(cx.arity()) };
    let read = cx.json(subject(cx, args)?)?;
    read.map_err(|error| wrong("filter `from_json`", "value", "JSON", *value).with_note(error.to_string()))
}
