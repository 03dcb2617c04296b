//! JSON patches.

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::{arguments, text};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library `kubernetes.jsonpatch`.
    pub static TABLE:
    "jsonpatch.escapeKey": "A key as it is written in the path of a JSON patch."
        ["jsonpatch.escapeKey('k8s.io/my~label')" => "'k8s.io~1my~0label'"] {
        "string_jsonpatch_escapeKey_string" (String) -> String = escape_key;
    }
}

fn escape_key<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [key] = arguments(cx, given)?.map(text);
    cx.charge(key.len() * 2)?;
    cx.text(&key.replace('~', "~0").replace('/', "~1"))
}
