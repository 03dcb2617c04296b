//! Functions with several signatures: the gate picks one by what the arguments are when the function is called, a
//! checker by what their types are before that.
//!
//! ```text
//! overloads! {
//!     /// Functions of text.
//!     pub static STRINGS:
//!     "charAt": "The character at an index; nothing where the index is the text's length."
//!         ["'abc'.charAt(1)" => "'b'", "'abc'.charAt(4)" => "E0403"] {
//!         "string_char_at_int" member (String, Int) -> String = char_at;
//!     }
//!     "lists.range": "The whole numbers from 0 on, so many of them." ["lists.range(3)" => "[0, 1, 2]"] {
//!         "lists_range" (Int) -> (list Int) = range;
//!     }
//!     "size": "How many elements or characters there are." ["size('é')" => "1", "[1, 2].size()" => "2"] {
//!         "size_list" ((list A)) -> Int = size;
//!         "list_size" member ((list A)) -> Int = size;
//!         "size_map" ((map A B)) -> Int = size;
//!     }
//! }
//!
//! fn char_at<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
//!     let [text, at] = args else { return Err(cx.arity()) };
//!     …
//! }
//! ```
//!
//! A type is `Dyn Null Bool Int Uint Double String Bytes Timestamp Duration Type`, `(list T)`, `(map K V)`,
//! `(optional T)`, `(type T)`, the name of an opaque type in quotation marks (`"net.IP"`), or one capital letter: a type
//! parameter, the same type wherever it stands in a signature. A `member` overload is called as `receiver.name(…)`, the
//! receiver being the first of its parameters; others as `name(…)`. The body may be the same for several overloads; it
//! gets values of the parameters' types, of collections checked as far as their first element.
//!
//! Two tables may each have overloads of one function: the registry joins them, and where two have one id the later one
//! counts. Examples are expressions and what each equals (also in type), or the code of the error that it gives; each
//! runs as a test.

use std::borrow::Cow;
use std::fmt;

use super::spec::NativeBody;

/// The type of a parameter or an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ty {
    /// Any value, of a type that shows when it is there.
    Dyn,
    /// Null.
    Null,
    /// True or false.
    Bool,
    /// A whole number with sign.
    Int,
    /// A whole number without sign.
    Uint,
    /// A 64-bit float.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A moment.
    Timestamp,
    /// A span of time.
    Duration,
    /// A type as a value: this one, or any where it is [`Ty::Dyn`].
    Type(&'static Ty),
    /// A list of elements of one type.
    List(&'static Ty),
    /// A map from keys of one type to values of another.
    Map(&'static Ty, &'static Ty),
    /// A value of this type, or none.
    Optional(&'static Ty),
    /// A type parameter by its name: one type in all of a signature.
    Param(&'static str),
    /// A type that only functions look into, by its name.
    Opaque(&'static str),
}

/// One signature of a function, and what it does.
#[derive(Debug, Clone)]
pub struct Overload {
    /// Its name, by which checked programs and costs know it; no other overload of a language has it.
    pub id: &'static str,
    /// Whether it is called on a receiver, which is its first parameter.
    pub member: bool,
    /// The types of its parameters, the receiver's first.
    pub params: &'static [Ty],
    /// The type of its answer.
    pub result: Ty,
    /// What it does; it gets one value for each parameter.
    pub body: NativeBody,
}

impl Overload {
    /// What a call site depends on, as bytes: how it is called and the types.
    pub(super) fn signature(&self) -> String {
        let types: Vec<_> = self.params.iter().map(ToString::to_string).collect();
        format!("{}{}({})->{};", self.id, if self.member { "." } else { "" }, types.join(","), self.result)
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ty::Dyn => "dyn",
            Ty::Null => "null",
            Ty::Bool => "bool",
            Ty::Int => "int",
            Ty::Uint => "uint",
            Ty::Double => "double",
            Ty::String => "string",
            Ty::Bytes => "bytes",
            Ty::Timestamp => "timestamp",
            Ty::Duration => "duration",
            Ty::Type(Ty::Dyn) => "type",
            Ty::Type(of) => return write!(f, "type({of})"),
            Ty::List(element) => return write!(f, "list({element})"),
            Ty::Map(key, value) => return write!(f, "map({key}, {value})"),
            Ty::Optional(of) => return write!(f, "optional_type({of})"),
            Ty::Param(name) | Ty::Opaque(name) => name,
        })
    }
}

/// `overloads` with `more` behind them; one of an id that is there already takes its place.
pub(super) fn joined(overloads: &[Overload], more: &[Overload]) -> Cow<'static, [Overload]> {
    let mut all = overloads.to_vec();
    for overload in more {
        match all.iter_mut().find(|known| known.id == overload.id) {
            Some(known) => *known = overload.clone(),
            None => all.push(overload.clone()),
        }
    }
    Cow::Owned(all)
}

/// Declares a table of functions with overloads: data only. See the head of [`crate::function::overloads`].
#[macro_export]
#[doc(hidden)]
macro_rules! overloads {
    (@type ($($ty:tt)+)) => { $crate::overloads!(@type $($ty)+) };
    (@type list $element:tt) => { $crate::function::Ty::List(&$crate::overloads!(@type $element)) };
    (@type map $key:tt $value:tt) => {
        $crate::function::Ty::Map(&$crate::overloads!(@type $key), &$crate::overloads!(@type $value))
    };
    (@type optional $of:tt) => { $crate::function::Ty::Optional(&$crate::overloads!(@type $of)) };
    (@type type $of:tt) => { $crate::function::Ty::Type(&$crate::overloads!(@type $of)) };
    (@type Dyn) => { $crate::function::Ty::Dyn };
    (@type Null) => { $crate::function::Ty::Null };
    (@type Bool) => { $crate::function::Ty::Bool };
    (@type Int) => { $crate::function::Ty::Int };
    (@type Uint) => { $crate::function::Ty::Uint };
    (@type Double) => { $crate::function::Ty::Double };
    (@type String) => { $crate::function::Ty::String };
    (@type Bytes) => { $crate::function::Ty::Bytes };
    (@type Timestamp) => { $crate::function::Ty::Timestamp };
    (@type Duration) => { $crate::function::Ty::Duration };
    (@type Type) => { $crate::function::Ty::Type(&$crate::function::Ty::Dyn) };
    (@type $name:literal) => { $crate::function::Ty::Opaque($name) };
    (@type $param:ident) => { $crate::function::Ty::Param(stringify!($param)) };
    (@member) => { false };
    (@member member) => { true };
    (@needs) => { $crate::function::Capabilities::NONE };
    (@needs $needs:ident) => { $crate::function::Capabilities::$needs };
    (
        $(#[$meta:meta])* $visibility:vis static $table:ident:
        $($name:literal $(needs $needs:ident)? : $doc:literal [$($example:literal => $result:literal),* $(,)?] {
            $($id:literal $($member:ident)? ($($param:tt),* $(,)?) -> $answer:tt = $body:path;)*
        })*
    ) => {
        $(#[$meta])*
        $visibility static $table: &[$crate::function::Builtin] = &[$($crate::function::Builtin {
            kind: $crate::bytecode::ImportKind::Function,
            name: std::borrow::Cow::Borrowed($name),
            params: $crate::function::Params::Overloaded(std::borrow::Cow::Borrowed(const { &[
                $($crate::function::Overload {
                    id: $id,
                    member: $crate::overloads!(@member $($member)?),
                    params: const { &[$($crate::overloads!(@type $param)),*] },
                    result: const { $crate::overloads!(@type $answer) },
                    body: $body,
                }),*
            ] })),
            doc: std::borrow::Cow::Borrowed($doc),
            examples: std::borrow::Cow::Borrowed(&[$(($example, $result)),*]),
            needs: $crate::overloads!(@needs $($needs)?),
            pure: true $(& $crate::function::Capabilities::$needs.is_none())?,
            body: $crate::function::Body::Overloaded,
        }),*];
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::ImportKind;
    use crate::diagnostics::Result;
    use crate::function::{Builtin, Cx, Params, Registry};
    use crate::value::Value;

    fn first<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
        args.first().copied().ok_or_else(|| cx.arity())
    }

    overloads! {
        static ONE:
        "f": "The first." ["f([1])" => "1"] {
            "f_list" ((list A)) -> A = first;
            "f_map" member ((map String (list Int)), "net.IP") -> (optional B) = first;
        }
    }

    overloads! {
        static OTHER:
        "f": "The first, again." ["f(int)" => "int"] {
            "f_list" ((list Dyn)) -> Dyn = first;
            "f_type" (Type, (type A)) -> Bool = first;
        }
    }

    fn overloads(builtin: &Builtin) -> Vec<String> {
        let Params::Overloaded(overloads) = &builtin.params else { panic!("not overloaded") };
        overloads.iter().map(Overload::signature).collect()
    }

    #[test]
    fn a_table_says_types_as_they_are_called() {
        assert_eq!(
            overloads(&ONE[0]),
            ["f_list(list(A))->A;", "f_map.(map(string, list(int)),net.IP)->optional_type(B);"]
        );
    }

    #[test]
    fn overloads_of_one_name_are_joined_and_later_ones_count() {
        let registry = Registry::of(&[ONE, OTHER]);
        let function = registry.get(ImportKind::Function, "f").unwrap();
        assert_eq!(
            overloads(function),
            [
                "f_list(list(dyn))->dyn;",
                "f_map.(map(string, list(int)),net.IP)->optional_type(B);",
                "f_type(type,type(A))->bool;"
            ]
        );
        assert_eq!(function.doc, "The first. The first, again.");
        assert_eq!(*function.examples, [("f([1])", "1"), ("f(int)", "int")]);
        let alone = Registry::of(&[ONE]);
        assert_ne!(alone.get(ImportKind::Function, "f").unwrap().signature(), function.signature());
        assert_eq!(Registry::of(&[ONE, ONE]).get(ImportKind::Function, "f").unwrap().signature(), ONE[0].signature());
    }

    #[test]
    fn what_replaces_every_overload_of_a_function_is_described_alone() {
        let registry = Registry::of(&[OTHER, OTHER]);
        let function = registry.get(ImportKind::Function, "f").unwrap();
        assert_eq!((&*function.doc, function.examples.len()), ("The first, again.", 1));
    }
}
