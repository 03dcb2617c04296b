//! Tables of intrinsics.

/// Declares a table of intrinsics, whose bodies are [typed](dropforge_machine::function::TypedBody).
macro_rules! intrinsics {
    (
        $(#[$meta:meta])* $visibility:vis static $table:ident:
        $($name:literal ($($params:tt)*) = $body:path $(, reads $place:ident)?, $doc:literal;)*
    ) => {
        dropforge_machine::builtins! {
            $(#[$meta])* $visibility static $table:
            $(intrinsic $name ($($params)*)
                = |cx, arguments| dropforge_machine::function::TypedBody::call($body, cx, arguments)$(, reads $place)?, $doc [];)*
        }
    };
}

pub(super) use intrinsics;
