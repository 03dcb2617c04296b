//! Functions with several signatures. The gate picks one by the arguments of a call, a checker by their types.
//!
//! An overload's id is unique. Type checks, costs and errors refer to it.
//!
//! A type is `Dyn Null Bool Int Uint Double String Bytes Timestamp Duration Type`, `(list T)`, `(map K V)`, `(optional
//! T)`, `(type T)`, the quoted name of an opaque type (`"net.IP"`), or a capital letter for a type parameter. A
//! `member` overload is called as `receiver.name(…)`, with the receiver as its first parameter; others as `name(…)`.
//! Overloads may share a body. It gets values of the parameter types; collections are checked up to their first
//! element.
//!
//! The registry joins the overloads of a function from several tables. If two have the same id, the later one wins.
//! Examples are expressions with an equal value of the same type, or the code of their error. Each runs as a test.

use std::borrow::Cow;
use std::fmt;

use super::body::NativeBody;

/// The type of a parameter or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ty {
    /// Any value, of a type known at run time.
    Dyn,
    /// Null.
    Null,
    /// A boolean.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A 64-bit float.
    Double,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// A timestamp.
    Timestamp,
    /// A duration.
    Duration,
    /// A type as a value: this one, or any type for [`Ty::Dyn`].
    Type(&'static Ty),
    /// A list of elements of one type.
    List(&'static Ty),
    /// A map from keys of one type to values of another.
    Map(&'static Ty, &'static Ty),
    /// A value of this type, or none.
    Optional(&'static Ty),
    /// A type parameter by its name.
    Param(&'static str),
    /// An opaque type by its name.
    Opaque(&'static str),
}

/// A signature of a function with its body.
#[derive(Debug, Clone)]
pub struct Overload {
    /// The id in checked programs and cost tables, unique in a language.
    pub id: &'static str,
    /// `true` if it is called on a receiver, which is its first parameter.
    pub member: bool,
    /// The types of the parameters, that of the receiver first.
    pub params: &'static [Ty],
    /// The type of the result.
    pub result: Ty,
    /// The body. It gets one value for each parameter.
    pub body: NativeBody,
}

impl Overload {
    /// Returns the parts that call sites depend on: id, form of call, types.
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

/// Appends `more` to `overloads`. An overload with an existing id replaces the old one.
pub(super) fn joined(overloads: &[Overload], more: &[Overload]) -> Cow<'static, [Overload]> {
    let mut all = overloads.to_vec();
    for overload in more {
        match all.iter_mut().find(|other| other.id == overload.id) {
            Some(other) => *other = overload.clone(),
            None => all.push(overload.clone()),
        }
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::ImportKind;
    use crate::function::{Builtin, Params, Registry};
    use crate::functions;
    use dropforge_value::Value;

    fn first<'v>(value: Value<'v>, _: Option<Value<'v>>) -> Value<'v> {
        value
    }

    functions! {
        static ONE:
        "f", "The first." ["f([1])" => "1"]
            | "f_list" ((list A)) -> A = first;
            | "f_map" member ((map String (list Int)), "net.IP") -> (optional B) = first;
    }

    functions! {
        static OTHER:
        "f", "The first, again." ["f(int)" => "int"]
            | "f_list" ((list Dyn)) -> Dyn = first;
            | "f_type" (Type, (type A)) -> Bool = first;
    }

    fn overloads(builtin: &Builtin) -> Vec<String> {
        let Params::Overloaded(overloads) = &builtin.params else { panic!("not overloaded") };
        overloads.iter().map(Overload::signature).collect()
    }

    #[test]
    fn tables_print_type_names() {
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
    fn replacing_every_overload_replaces_the_documentation() {
        let registry = Registry::of(&[OTHER, OTHER]);
        let function = registry.get(ImportKind::Function, "f").unwrap();
        assert_eq!((&*function.doc, function.examples.len()), ("The first, again.", 1));
    }
}
