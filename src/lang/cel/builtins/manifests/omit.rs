//! Omitted entries and elements.

use crate::values::capsules::OMIT;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::{Capsule, CapsuleContent, Extended, Value};

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
