//! JSON patches.

use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::json_pointer::escaped;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;

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
