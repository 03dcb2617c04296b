//! Omitted entries and elements.

use crate::diagnostics::Result;
use crate::dialect::cel::values::capsules::OMIT;
use crate::function::Cx;
use crate::overloads;
use crate::value::{Capsule, CapsuleContent, Extended, Value};

overloads! {
    /// The library `omit`.
    pub static TABLE:
    "omit": "Removes the entry or list element of a document whose value it is."
        ["type(omit()) == type(omit())" => "true"]
        fn "omit_void" () -> Dyn = omit;
}

fn omit<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
    cx.extended(Extended::Capsule(Capsule { name: OMIT, id: 0, content: CapsuleContent::Opaque }))
}
