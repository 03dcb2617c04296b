//! JSON patches.

use crate::diagnostics::Result;
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::json_pointer::escaped;

overloads! {
    /// The library `kubernetes.jsonpatch`.
    pub static TABLE:
    "jsonpatch.escapeKey": "Escapes a key for the path of a JSON patch."
        ["jsonpatch.escapeKey('k8s.io/my~label')" => "'k8s.io~1my~0label'"]
        fn "string_jsonpatch_escapeKey_string" (String) -> String = escape_key;
}

fn escape_key<'v>(cx: &Cx<'v>, key: &'v str) -> Result<String> {
    cx.charge(key.len() * 2)?;
    Ok(escaped(key))
}
