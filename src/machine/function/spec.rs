//! The declaration of a function: parameters, documentation, examples, body.

use std::borrow::Cow;

use super::body::{Body, ClosureBody};
use super::capabilities::Capabilities;
use super::gate::{Assigned, Positional};
use super::linked::MakerBody;
use super::overloads::{Overload, joined};
use crate::bytecode::{ImportKind, Place, Signature};
use dropforge_value::{Text, Value};

/// The type of a parameter, checked by the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Anything. The body checks it.
    Any,
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// A non-negative integer.
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
    /// Returns `true` if `value` has this type.
    #[inline]
    pub fn admits(self, value: &Value<'_>) -> bool {
        self.tags() & tag(value) != 0 && (self != Type::Size || !matches!(value, Value::Int(..0)))
    }

    /// Returns the tags of the values of this type. Comparing tags needs no branches.
    #[inline]
    const fn tags(self) -> u8 {
        match self {
            Type::Any => !0,
            Type::Bool => BOOL,
            Type::Int | Type::Size => INT,
            Type::Number => INT | FLOAT,
            Type::Str => STR,
            Type::List => LIST,
            Type::Map => MAP,
        }
    }

    /// Returns the type in one word, for lists of parameters.
    pub fn word(self) -> &'static str {
        match self {
            Type::Any => "any",
            Type::Bool => "boolean",
            Type::Int => "integer",
            Type::Size => "size",
            Type::Number => "number",
            Type::Str => "string",
            Type::List => "list",
            Type::Map => "map",
        }
    }

    /// Returns the type with its article, for messages.
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

const INT: u8 = 1;
const FLOAT: u8 = 1 << 1;
const BOOL: u8 = 1 << 2;
const STR: u8 = 1 << 3;
const LIST: u8 = 1 << 4;
const MAP: u8 = 1 << 5;
const OTHER: u8 = 1 << 6;

/// Returns the tag of a value, one bit.
#[inline]
const fn tag(value: &Value<'_>) -> u8 {
    match value {
        Value::Int(_) | Value::Uint(_) => INT,
        Value::Float(_) => FLOAT,
        Value::Bool(_) => BOOL,
        Value::Str(_) => STR,
        Value::List(_) => LIST,
        Value::Map(_) => MAP,
        Value::Undefined | Value::Null | Value::Extended(_) => OTHER,
    }
}

/// The kind of an argument, among those that a function never fails on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Left out, with no default.
    Absent,
    /// Any value.
    Present,
    /// A value of a type.
    Is(Type),
}

impl Kind {
    /// Returns `true` if `value` is of this kind.
    pub fn admits(self, value: &Value<'_>) -> bool {
        match self {
            Kind::Absent => value.is_undefined(),
            Kind::Present => !value.is_undefined(),
            Kind::Is(ty) => ty.admits(value),
        }
    }
}

/// The value of a missing argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// None: the argument is required.
    Required,
    /// [`Value::Undefined`].
    Absent,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Text.
    Str(Text<'static>),
}

/// One parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
    /// The value of a missing argument.
    pub default: Default,
}

/// The parameters of a function.
#[derive(Debug, Clone)]
pub enum Params {
    /// Named parameters. The first of a filter or test is its subject.
    Named(&'static [Param]),
    /// Parameters that a call site does not depend on: those of a function of the embedding program.
    Open,
    /// Positional parameters, converted and checked by the language's gate.
    Positional(Positional),
    /// Several signatures, of which the language's gate picks one by the arguments.
    Overloaded(Cow<'static, [Overload]>),
    /// Positional parameters to which arguments are assigned: never converted, only checked. The body gets the arguments
    /// as they were given.
    Assigned(Assigned),
}

impl Params {
    /// The parameter of a positional argument at a call site.
    pub const BY_PLACE: u32 = 0;

    /// The parameter of the last argument if it is a collection whose elements are the arguments.
    pub const SPREAD: u32 = 1;

    /// The parameter of the first argument if it is the receiver of a method.
    pub const RECEIVER: u32 = 2;

    /// Returns the parameter of a named argument of a function with open parameters. `name` is the string id of its name.
    pub fn by_name(name: u32) -> u32 {
        name.saturating_add(Self::RECEIVER + 1)
    }

    /// Returns the string id of the name of an argument of a function with open parameters. `None` if it has a place.
    pub(crate) fn name_of(param: u32) -> Option<u32> {
        param.checked_sub(Self::RECEIVER + 1)
    }
}

/// An example: a template, and its output or the code of its error (`"E0403"`).
pub type Example = (&'static str, &'static str);

/// The parts of lists and maps that a function looks at. Elements may become parts of its result nevertheless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// Everything.
    All,
    /// Their kinds, lengths and keys, also if it steps into them.
    Keys,
    /// Their kinds, whether they are empty, and the elements that it takes out, which it does not look at.
    Kinds,
}

/// A function, filter or test.
#[derive(Debug, Clone)]
pub struct Builtin {
    /// The kind of function.
    pub kind: ImportKind,
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its parameters.
    pub params: Params,
    /// Documentation in one sentence, or several if tables were joined.
    pub doc: Cow<'static, str>,
    /// Examples. Each is a test.
    pub examples: Cow<'static, [Example]>,
    /// The capabilities that it needs.
    pub needs: Capabilities<'static>,
    /// `true` if its result depends only on its arguments. A function that needs a capability is not pure.
    pub pure: bool,
    /// `true` if it uses nothing but its arguments and the output before it. Unlike a pure function, it may make a map or
    /// change one.
    pub local: bool,
    /// The parts of lists and maps among its arguments that it looks at.
    pub looks: Looks,
    /// Kinds of arguments, one for each parameter, on which it neither fails nor records an error. It may still exceed a
    /// limit.
    pub total: &'static [&'static [Kind]],
    /// `true` if a call may change a map among its arguments.
    pub mutates: bool,
    /// The intrinsic that calls of it are compiled to, so that an artifact remembers the variant of the language.
    pub compiles_to: Option<&'static str>,
    /// The implementation.
    pub body: Body,
}

/// The parameters of another template.
static INPUTS: &[Param] = &[Param { name: "inputs", ty: Type::Map, default: Default::Required }];

impl Builtin {
    /// Creates a row of a table.
    #[doc(hidden)]
    pub const fn declared(
        kind: ImportKind,
        name: &'static str,
        params: Params,
        body: Body,
        needs: Capabilities<'static>,
        doc: &'static str,
        examples: &'static [Example],
    ) -> Self {
        let (name, doc, examples) = (Cow::Borrowed(name), Cow::Borrowed(doc), Cow::Borrowed(examples));
        let (pure, local, looks) = (needs.is_none(), needs.is_none(), Looks::All);
        Self {
            kind,
            name,
            params,
            doc,
            examples,
            needs,
            pure,
            local,
            looks,
            total: &[],
            mutates: false,
            compiles_to: None,
            body,
        }
    }

    /// Creates the row of the function that compiles templates at render time.
    #[doc(hidden)]
    pub const fn maker(name: &'static str, body: MakerBody, doc: &'static str) -> Self {
        Self::declared(ImportKind::Intrinsic, name, Params::Open, Body::Maker(body), Capabilities::NONE, doc, &[])
    }

    /// Makes a row of a table impure: it reads other state than its arguments.
    #[doc(hidden)]
    #[must_use]
    pub const fn reading(mut self, place: Place) -> Self {
        self.pure = false;
        self.local = matches!(place, Place::Output);
        self
    }

    /// Declares the parts of lists and maps that a row of a table looks at.
    #[doc(hidden)]
    #[must_use]
    pub const fn looking(mut self, looks: Looks) -> Self {
        self.looks = looks;
        self
    }

    /// Makes a row of a table impure: each call returns a map of its own, which may be changed.
    #[doc(hidden)]
    #[must_use]
    pub const fn making(mut self, _: Type) -> Self {
        self.pure = false;
        self
    }

    /// Makes a row of a table impure: a call may change a map among its arguments.
    #[doc(hidden)]
    #[must_use]
    pub const fn mutating(mut self, _: Type) -> Self {
        (self.pure, self.mutates) = (false, true);
        self
    }

    /// Adds the kinds of arguments on which it never fails to a row of a table.
    #[doc(hidden)]
    #[must_use]
    pub const fn never_failing(mut self, total: &'static [&'static [Kind]]) -> Self {
        self.total = total;
        self
    }

    /// Returns `true` if a call with these values, one for each parameter, neither fails nor records an error, unless it
    /// exceeds a limit.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::Value;
    /// let engine = Engine::new();
    /// let length = engine.registry(Dialect::Tera).iter().find(|builtin| builtin.name == "length").unwrap();
    /// assert!(!length.is_total(&[Value::Int(1)]));
    /// ```
    pub fn is_total(&self, values: &[Value<'_>]) -> bool {
        let fits = |kinds: &&[Kind]| {
            kinds.len() == values.len() && kinds.iter().zip(values).all(|(kind, value)| kind.admits(value))
        };
        self.needs.is_none() && self.total.iter().any(fits)
    }

    /// Creates a function outside a table. It counts as impure.
    pub(super) fn registered(kind: ImportKind, name: String, params: Params, body: Body) -> Self {
        let declared = Self::declared(kind, "", params, body, Capabilities::NONE, "Registered by the host.", &[]);
        Self { name: name.into(), pure: false, local: false, ..declared }
    }

    /// Returns the function that renders the template `name`. It takes a map of inputs and returns text.
    pub fn of_template(name: impl Into<String>, body: ClosureBody) -> Self {
        let doc = "The text of another template with a map as its inputs.".into();
        let (params, body) = (Params::Named(INPUTS), Body::Closure(body));
        Self { doc, ..Self::registered(ImportKind::Template, name.into(), params, body) }
    }

    /// Returns `true` if the function has overloads that are added to those of an earlier one, instead of replacing it.
    pub(super) const fn joins(&self, earlier: &Self) -> bool {
        matches!((&self.params, &earlier.params), (Params::Overloaded(_), Params::Overloaded(_)))
    }

    /// Returns the function with the overloads of an earlier one of the same name, and with its documentation unless all
    /// of them are replaced.
    pub(super) fn joined_to(mut self, earlier: &Self) -> Self {
        let (Params::Overloaded(old), Params::Overloaded(new)) = (&earlier.params, &self.params) else { return self };
        let replaced = old.iter().all(|old| new.iter().any(|overload| overload.id == old.id));
        self.params = Params::Overloaded(joined(old, new));
        if replaced {
            return self;
        }
        if earlier.doc != self.doc {
            self.doc = format!("{} {}", earlier.doc, self.doc).into();
        }
        self.examples = [&*earlier.examples, &*self.examples].concat().into();
        self.pure &= earlier.pure;
        self.total = &[];
        self
    }

    /// Returns the fingerprint of the parameters that call sites depend on.
    pub fn signature(&self) -> Signature {
        // FNV-1a: artifacts contain the hash, so it must not depend on a library's version.
        let mut hash = 0x811C_9DC5_u32;
        let mut mix = |byte: u8| hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let count = match &self.params {
            _ if self.kind == ImportKind::Template => return Signature::TEMPLATE,
            Params::Open => return Signature::OPEN,
            // The gate checks each call. A call site only records the form of its arguments.
            Params::Positional(_) => return Signature::of(2, 0),
            // Literals among the arguments of a call site have the types of these parameters.
            Params::Assigned(assigned) => {
                assigned.fingerprint().for_each(&mut mix);
                4
            }
            Params::Named(params) => {
                for param in *params {
                    let kind = [param.ty as u8, u8::from(param.default == Default::Required), 0xFF];
                    param.name.bytes().chain(kind).for_each(&mut mix);
                }
                params.len()
            }
            // A program may have been type-checked against these signatures.
            Params::Overloaded(overloads) => {
                overloads.iter().for_each(|overload| overload.signature().bytes().for_each(&mut mix));
                3
            }
        };
        Signature::of(count, hash)
    }
}
