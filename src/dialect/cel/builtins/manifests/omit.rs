//! Places left out.

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::capsules::OMIT;
use crate::function::Cx;
use crate::overloads;
use crate::value::{Capsule, CapsuleContent, Extended, Value};

overloads! {
    /// The function that leaves out its place.
    pub static TABLE:
    "omit": "What leaves out the entry of a map or the element of a list in a document whose value it is."
        ["type(omit()) == type(omit())" => "true"] {
        "omit_void" () -> Dyn = omit;
    }
}

fn omit<'v>(cx: &Cx<'v>, _given: &[Value<'v>]) -> Result<Value<'v>> {
    cx.extended(Extended::Capsule(Capsule { name: OMIT, id: 0, content: CapsuleContent::Opaque }))
}
