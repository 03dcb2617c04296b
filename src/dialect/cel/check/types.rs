//! Types: kept in one arena, each once, named by index, so that equal types have equal names.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

use crate::function::Ty;

/// How long the text of a type may become; the rest is left out.
const TEXT: usize = 2_000;

/// Names a type of a [`Types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u32);

/// What a type is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Any value, of a type that shows when it is there.
    Dyn,
    /// What has no type because of an error that was reported.
    Error,
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
    /// A type as a value: this one, or any where it is [`Kind::Dyn`].
    Type(TypeId),
    /// A list of elements of one type.
    List(TypeId),
    /// A map from keys of one type to values of another.
    Map(TypeId, TypeId),
    /// A value of this type, or none.
    Optional(TypeId),
    /// A value of this type, or null.
    Nullable(TypeId),
    /// A type that only functions look into: its name and its parameters.
    Opaque(Arc<str>, Arc<[TypeId]>),
    /// A map with known keys: [`Types::object`].
    Object(u32),
    /// A parameter of a signature.
    Param(u32),
    /// A type that is being found out.
    Var(u32),
}

/// A map with known keys, as a schema declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its keys and the types of what is under them.
    pub fields: BTreeMap<String, TypeId>,
    /// The type of what is under any other key, where it may have others.
    pub rest: Option<TypeId>,
}

/// The arena.
#[derive(Debug, Clone)]
pub struct Types {
    kinds: Vec<Kind>,
    /// Whether there is no parameter and nothing to be found out in it.
    settled: Vec<bool>,
    known: HashMap<Kind, TypeId>,
    objects: Vec<Object>,
}

const PLAIN: [Kind; 11] = [
    Kind::Dyn,
    Kind::Error,
    Kind::Null,
    Kind::Bool,
    Kind::Int,
    Kind::Uint,
    Kind::Double,
    Kind::String,
    Kind::Bytes,
    Kind::Timestamp,
    Kind::Duration,
];

impl Default for Types {
    fn default() -> Self {
        let mut types = Self { kinds: Vec::new(), settled: Vec::new(), known: HashMap::new(), objects: Vec::new() };
        for kind in PLAIN {
            types.add(kind);
        }
        types
    }
}

impl Types {
    /// [`Kind::Dyn`]
    pub const DYN: TypeId = TypeId(0);
    /// [`Kind::Error`]
    pub const ERROR: TypeId = TypeId(1);
    /// [`Kind::Null`]
    pub const NULL: TypeId = TypeId(2);
    /// [`Kind::Bool`]
    pub const BOOL: TypeId = TypeId(3);
    /// [`Kind::Int`]
    pub const INT: TypeId = TypeId(4);
    /// [`Kind::Uint`]
    pub const UINT: TypeId = TypeId(5);
    /// [`Kind::Double`]
    pub const DOUBLE: TypeId = TypeId(6);
    /// [`Kind::String`]
    pub const STRING: TypeId = TypeId(7);
    /// [`Kind::Bytes`]
    pub const BYTES: TypeId = TypeId(8);
    /// [`Kind::Timestamp`]
    pub const TIMESTAMP: TypeId = TypeId(9);
    /// [`Kind::Duration`]
    pub const DURATION: TypeId = TypeId(10);

    /// The type of this kind.
    pub fn add(&mut self, kind: Kind) -> TypeId {
        if let Some(&known) = self.known.get(&kind) {
            return known;
        }
        let id = TypeId(u32::try_from(self.kinds.len()).unwrap_or(u32::MAX));
        let settled = match &kind {
            Kind::Param(_) | Kind::Var(_) => false,
            kind => parts(kind).iter().all(|&part| self.is_settled(part)),
        };
        self.kinds.push(kind.clone());
        self.settled.push(settled);
        self.known.insert(kind, id);
        id
    }

    /// A list of `element`.
    pub fn list(&mut self, element: TypeId) -> TypeId {
        self.add(Kind::List(element))
    }

    /// A map from `key` to `value`.
    pub fn map(&mut self, key: TypeId, value: TypeId) -> TypeId {
        self.add(Kind::Map(key, value))
    }

    /// A value of type `of`, or none.
    pub fn optional(&mut self, of: TypeId) -> TypeId {
        self.add(Kind::Optional(of))
    }

    /// The type `of` as a value.
    pub fn type_of(&mut self, of: TypeId) -> TypeId {
        self.add(Kind::Type(of))
    }

    /// A map with known keys; two of them are never the same type.
    pub fn add_object(&mut self, object: Object) -> TypeId {
        let at = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        self.objects.push(object);
        self.add(Kind::Object(at))
    }

    /// What a type is.
    pub fn kind(&self, id: TypeId) -> &Kind {
        self.kinds.get(id.0 as usize).unwrap_or(&Kind::Error)
    }

    /// A map with known keys.
    pub fn object(&self, at: u32) -> Option<&Object> {
        self.objects.get(at as usize)
    }

    /// Whether there is no parameter and nothing to be found out in it.
    pub(super) fn is_settled(&self, id: TypeId) -> bool {
        self.settled.get(id.0 as usize).copied().unwrap_or(true)
    }

    /// Whether it is one of any value, or of an error.
    pub fn is_dyn_or_error(&self, id: TypeId) -> bool {
        matches!(self.kind(id), Kind::Dyn | Kind::Error)
    }

    /// The type under an optional one, and whether it was one.
    pub(super) fn unwrapped(&self, id: TypeId) -> (TypeId, bool) {
        match self.kind(id) {
            Kind::Optional(of) => (*of, true),
            _ => (id, false),
        }
    }

    /// The same type where its parts are others.
    pub(super) fn with_parts(&mut self, id: TypeId, mut part: impl FnMut(&mut Self, TypeId) -> TypeId) -> TypeId {
        let kind = match self.kind(id).clone() {
            Kind::Type(of) => Kind::Type(part(self, of)),
            Kind::List(of) => Kind::List(part(self, of)),
            Kind::Map(key, value) => Kind::Map(part(self, key), part(self, value)),
            Kind::Optional(of) => Kind::Optional(part(self, of)),
            Kind::Nullable(of) => Kind::Nullable(part(self, of)),
            Kind::Opaque(name, params) => Kind::Opaque(name, params.iter().map(|&of| part(self, of)).collect()),
            _ => return id,
        };
        self.add(kind)
    }

    /// The type that a table of functions says. The names of its parameters are added to `params`.
    pub(super) fn of_table(&mut self, ty: &Ty, params: &mut Vec<String>) -> TypeId {
        match ty {
            Ty::Dyn => Self::DYN,
            Ty::Null => Self::NULL,
            Ty::Bool => Self::BOOL,
            Ty::Int => Self::INT,
            Ty::Uint => Self::UINT,
            Ty::Double => Self::DOUBLE,
            Ty::String => Self::STRING,
            Ty::Bytes => Self::BYTES,
            Ty::Timestamp => Self::TIMESTAMP,
            Ty::Duration => Self::DURATION,
            Ty::Type(of) => self.of_table(of, params).in_kind(self, Kind::Type),
            Ty::List(of) => self.of_table(of, params).in_kind(self, Kind::List),
            Ty::Optional(of) => self.of_table(of, params).in_kind(self, Kind::Optional),
            Ty::Map(key, value) => {
                let (key, value) = (self.of_table(key, params), self.of_table(value, params));
                self.map(key, value)
            }
            Ty::Param(name) => self.param(name, params),
            Ty::Opaque(name) => self.add(Kind::Opaque((*name).into(), Arc::default())),
        }
    }

    /// The parameter `name` of a signature whose parameters so far are `params`.
    pub(super) fn param(&mut self, name: &str, params: &mut Vec<String>) -> TypeId {
        let at = params.iter().position(|known| known == name).unwrap_or(params.len());
        if at == params.len() {
            params.push(name.to_owned());
        }
        self.add(Kind::Param(u32::try_from(at).unwrap_or(u32::MAX)))
    }

    /// The type as a person reads it: `map(string, dyn)`.
    pub fn text(&self, id: TypeId) -> String {
        let mut text = String::new();
        self.write(id, &mut text);
        text
    }

    fn write(&self, id: TypeId, out: &mut String) {
        if out.len() > TEXT {
            if !out.ends_with('…') {
                out.push('…');
            }
            return;
        }
        let kind = self.kind(id);
        out.push_str(self.name(kind));
        let parts: &[TypeId] = match kind {
            Kind::Type(of) if *self.kind(*of) == Kind::Dyn => &[],
            kind => &parts(kind),
        };
        for (at, &part) in parts.iter().enumerate() {
            out.push_str(if at == 0 { "(" } else { ", " });
            self.write(part, out);
        }
        if !parts.is_empty() {
            out.push(')');
        }
        if let Kind::Param(n) | Kind::Var(n) = kind {
            // Writing to a text cannot fail.
            let _ = write!(out, "{n}");
        }
    }

    fn name<'k>(&self, kind: &'k Kind) -> &'k str {
        match kind {
            Kind::Dyn => "dyn",
            Kind::Error => "!error!",
            Kind::Null => "null",
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::Uint => "uint",
            Kind::Double => "double",
            Kind::String => "string",
            Kind::Bytes => "bytes",
            Kind::Timestamp => "timestamp",
            Kind::Duration => "duration",
            Kind::Type(_) => "type",
            Kind::List(_) => "list",
            Kind::Map(..) => "map",
            Kind::Optional(_) => "optional_type",
            Kind::Nullable(_) => "wrapper",
            Kind::Opaque(name, _) => name,
            Kind::Object(_) => "object",
            Kind::Param(_) => "T",
            Kind::Var(_) => "_var",
        }
    }
}

impl TypeId {
    fn in_kind(self, types: &mut Types, kind: fn(TypeId) -> Kind) -> TypeId {
        types.add(kind(self))
    }
}

/// The types that a type is made of.
pub(super) fn parts(kind: &Kind) -> Vec<TypeId> {
    match kind {
        Kind::Type(of) | Kind::List(of) | Kind::Optional(of) | Kind::Nullable(of) => vec![*of],
        Kind::Map(key, value) => vec![*key, *value],
        Kind::Opaque(_, params) => params.to_vec(),
        _ => Vec::new(),
    }
}
