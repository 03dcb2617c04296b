//! What a function declares: its parameters, its documentation, its examples, its body.

use std::borrow::Cow;
use std::sync::Arc;

use super::context::{Capabilities, Cx};
use super::host::HostArgs;
use super::overloads::{Overload, joined};
use super::positional::{ClosureBody, Positional, PositionalBody};
use crate::bytecode::{ImportKind, Signature};
use crate::diagnostics::Result;
use crate::value::{Data, Value};

/// The type of a parameter, as far as the gate checks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Anything; the body looks itself.
    Any,
    /// A boolean.
    Bool,
    /// A whole number.
    Int,
    /// A whole number that is not negative.
    Size,
    /// Any number.
    Number,
    /// Text.
    Str,
    /// A list.
    List,
    /// A map.
    Map,
}

impl Type {
    /// Whether `value` is of this type.
    pub fn admits(self, value: &Value<'_>) -> bool {
        match self {
            Type::Any => true,
            Type::Bool => matches!(value, Value::Bool(_)),
            Type::Int => matches!(value, Value::Int(_) | Value::Uint(_)),
            Type::Size => matches!(value, Value::Int(0..) | Value::Uint(_)),
            Type::Number => value.as_f64().is_some(),
            Type::Str => matches!(value, Value::Str(_)),
            Type::List => matches!(value, Value::List(_)),
            Type::Map => matches!(value, Value::Map(_)),
        }
    }

    /// The type as a user says it, with its article.
    pub fn name(self) -> &'static str {
        match self {
            Type::Any => "any value",
            Type::Bool => "a boolean",
            Type::Int => "an integer",
            Type::Size => "an integer that is not negative",
            Type::Number => "a number",
            Type::Str => "a string",
            Type::List => "a list",
            Type::Map => "a map",
        }
    }
}

/// What a parameter is when it is not given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// It must be given.
    Required,
    /// The body gets [`Value::Undefined`].
    Absent,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Text.
    Str(&'static str),
}

/// One parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
    /// What it is when it is not given.
    pub default: Default,
}

/// The parameters of a function.
#[derive(Debug, Clone)]
pub enum Params {
    /// These; the first of a filter or test is the value it is applied to.
    Named(&'static [Param]),
    /// Any names: the body gets them as given.
    Open,
    /// By place; the language's gate converts and checks what is given.
    Positional(Positional),
    /// One of several signatures: the language's gate picks it by what is given.
    Overloaded(Cow<'static, [Overload]>),
}

impl Params {
    /// What a call site says of an argument that is given by place.
    pub const BY_PLACE: u32 = 0;

    /// What it says of the last one where that is a collection, whose elements are given.
    pub const SPREAD: u32 = 1;

    /// What it says of the first one where that is the receiver of a function with overloads.
    pub const RECEIVER: u32 = 2;
}

/// An example: a template and what it renders to, or the code of the error it gives (`"E0403"`).
pub type Example = (&'static str, &'static str);

/// A body written in the engine's own terms; it gets one value for each parameter.
pub type NativeBody = for<'v> fn(&Cx<'v>, &[Value<'v>]) -> Result<Value<'v>>;

/// A body registered by a user of the library.
pub(crate) type HostBody = Arc<dyn Fn(&HostArgs) -> std::result::Result<Data, String> + Send + Sync>;

/// A body that the engine makes of another template.
pub type TemplateBody = Arc<dyn for<'v> Fn(&Cx<'v>, Value<'v>) -> Result<Value<'v>> + Send + Sync>;

/// What a function does.
#[derive(Clone)]
pub enum Body {
    /// A builtin's body.
    Native(NativeBody),
    /// A builtin's body whose arguments are given by place.
    Positional(PositionalBody),
    /// A closure whose arguments are given by place.
    Closure(ClosureBody),
    /// A user's closure.
    Host(HostBody),
    /// Those of its overloads.
    Overloaded,
    /// Another template's: it takes a map of inputs and gives text.
    Template(TemplateBody),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Body::Native(_) => "Native",
            Body::Positional(_) => "Positional",
            Body::Closure(_) => "Closure",
            Body::Host(_) => "Host",
            Body::Overloaded => "Overloaded",
            Body::Template(_) => "Template",
        })
    }
}

/// A function, filter or test.
#[derive(Debug, Clone)]
pub struct Builtin {
    /// Function, filter, test or template.
    pub kind: ImportKind,
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its parameters.
    pub params: Params,
    /// What it does, in a sentence; in several where tables join.
    pub doc: Cow<'static, str>,
    /// Examples, each a test.
    pub examples: Cow<'static, [Example]>,
    /// What the engine must allow for it to exist.
    pub needs: Capabilities<'static>,
    /// Whether the same arguments always give the same value. What needs a capability is not pure.
    pub pure: bool,
    /// What it does.
    pub body: Body,
}

/// The parameters of another template.
static INPUTS: &[Param] = &[Param { name: "inputs", ty: Type::Map, default: Default::Required }];

impl Builtin {
    /// The template `name` as what a program calls.
    pub(crate) fn of_template(name: impl Into<Cow<'static, str>>, body: TemplateBody) -> Self {
        Self {
            kind: ImportKind::Template,
            name: name.into(),
            params: Params::Named(INPUTS),
            doc: "The text of another template with a map as its inputs.".into(),
            examples: Cow::Borrowed(&[]),
            needs: Capabilities::NONE,
            pure: false,
            body: Body::Template(body),
        }
    }

    /// Takes the overloads of an earlier function of this name, where both have overloads; with what is said of them, where
    /// one of them is not replaced.
    pub(super) fn join(&mut self, earlier: &Self) {
        let (Params::Overloaded(known), Params::Overloaded(more)) = (&earlier.params, &self.params) else { return };
        let replaced = known.iter().all(|known| more.iter().any(|overload| overload.id == known.id));
        self.params = Params::Overloaded(joined(known, more));
        if replaced {
            return;
        }
        if earlier.doc != self.doc {
            self.doc = format!("{} {}", earlier.doc, self.doc).into();
        }
        self.examples = [&*earlier.examples, &*self.examples].concat().into();
        self.pure &= earlier.pure;
    }

    /// The parameters, as far as call sites depend on them.
    pub fn signature(&self) -> Signature {
        // FNV-1a: the number stands in artifacts, so it must not depend on a library's version.
        let mut hash = 0x811C_9DC5_u32;
        let mut mix = |byte: u8| hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let count = match &self.params {
            _ if self.kind == ImportKind::Template => return Signature::TEMPLATE,
            Params::Open => return Signature::OPEN,
            // The gate checks each call; all that a call site says of an argument is how it is given.
            Params::Positional(_) => return Signature::of(2, 0),
            Params::Named(params) => {
                for param in *params {
                    let kind = [param.ty as u8, u8::from(param.default == Default::Required), 0xFF];
                    param.name.bytes().chain(kind).for_each(&mut mix);
                }
                params.len()
            }
            // The same, but a program may have been checked by these signatures.
            Params::Overloaded(overloads) => {
                overloads.iter().for_each(|overload| overload.signature().bytes().for_each(&mut mix));
                3
            }
        };
        Signature::of(count, hash)
    }
}

/// Declares a table of builtins: data only. See the head of [`crate::function`].
#[macro_export]
#[doc(hidden)]
macro_rules! builtins {
    (@kind filter) => { $crate::bytecode::ImportKind::Filter };
    (@kind test) => { $crate::bytecode::ImportKind::Test };
    (@kind function) => { $crate::bytecode::ImportKind::Function };
    (@default) => { $crate::function::Default::Required };
    (@default absent) => { $crate::function::Default::Absent };
    (@default true) => { $crate::function::Default::Bool(true) };
    (@default false) => { $crate::function::Default::Bool(false) };
    (@default int $n:literal) => { $crate::function::Default::Int($n) };
    (@default str $text:literal) => { $crate::function::Default::Str($text) };
    (@needs) => { $crate::function::Capabilities::NONE };
    (@needs $needs:ident) => { $crate::function::Capabilities::$needs };
    (
        $(#[$meta:meta])* $visibility:vis static $table:ident:
        $($kind:ident $name:literal
            ($($param:ident: $ty:ident $(= $default:ident $($given:literal)?)?),* $(,)?)
            = $body:path
            $(, needs $needs:ident)?
            , $doc:literal
            [$($template:literal => $rendered:literal),* $(,)?];)*
    ) => {
        $(#[$meta])*
        $visibility static $table: &[$crate::function::Builtin] = &[$($crate::function::Builtin {
            kind: $crate::builtins!(@kind $kind),
            name: std::borrow::Cow::Borrowed($name),
            params: $crate::function::Params::Named(&[$($crate::function::Param {
                name: stringify!($param),
                ty: $crate::function::Type::$ty,
                default: $crate::builtins!(@default $($default $($given)?)?),
            }),*]),
            doc: std::borrow::Cow::Borrowed($doc),
            examples: std::borrow::Cow::Borrowed(&[$(($template, $rendered)),*]),
            needs: $crate::builtins!(@needs $($needs)?),
            pure: true $(& $crate::function::Capabilities::$needs.is_none())?,
            body: $crate::function::Body::Native($body),
        }),*];
    };
}
