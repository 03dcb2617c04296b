//! Functions that ask a cluster or the network, which a render never reads: they find nothing, as in a dry run.

use dropforge_base::diagnostics::Result;
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

assigned! {
    /// Questions to the outside.
    pub(super) static OUTSIDE:
    "lookup" (Str, Str, Str, Str) = lookup, makes Map, "Returns an empty map: there is no cluster to look up an object in."
        [r#"{{ lookup "v1" "Secret" "default" "password" }}"# => "map[]"];
    "getHostByName" (Str) = host_address, "Returns an empty text: names are not resolved."
        [r#"[{{ getHostByName "localhost" }}]"# => "[]"];
}

fn lookup<'v>(cx: &Cx<'v>, _: &[Value<'v>]) -> Result<Value<'v>> {
    cx.map(&[])
}

fn host_address<'v>(cx: &Cx<'v>, _: &[Value<'v>]) -> Result<Value<'v>> {
    cx.borrowed("")
}
