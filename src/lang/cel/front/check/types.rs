//! Types, interned in one arena: equal types have equal ids.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use dropforge_machine::function::Ty;

/// The maximum length of a type's text. The rest is cut off.
const TEXT: usize = 2_000;

/// Identifies a type of a [`Types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u32);

/// The kind of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Any value, whose type shows at runtime.
    Dyn,
    /// The type of an expression whose error was already reported.
    Error,
    /// Null.
    Null,
    /// True or false.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A 64-bit float.
    Double,
    /// A signed integer or a float, as JSON Schema has them. Arithmetic mixes it with both.
    Number,
    /// A string.
    String,
    /// Bytes.
    Bytes,
    /// A timestamp.
    Timestamp,
    /// A duration.
    Duration,
    /// A type as a value: this one, or any if it is [`Kind::Dyn`].
    Type(TypeId),
    /// A list of elements of one type.
    List(TypeId),
    /// A map from keys of one type to values of another.
    Map(TypeId, TypeId),
    /// An optional of this type.
    Optional(TypeId),
    /// A value of this type, or null.
    Nullable(TypeId),
    /// An opaque type: its name and parameters.
    Opaque(Arc<str>, Arc<[TypeId]>),
    /// An object, a map with known keys: [`Types::object`].
    Object(u32),
    /// A type parameter of a signature.
    Param(u32),
    /// A type variable.
    Var(u32),
}

/// A map with known keys, declared by a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The keys and the types of their values.
    pub fields: BTreeMap<String, TypeId>,
    /// The type of the values of other keys, if other keys are allowed.
    pub rest: Option<TypeId>,
}

/// The arena of types.
#[derive(Debug, Clone)]
pub struct Types {
    kinds: IndexSet<Kind, DefaultHashBuilder>,
    /// Set for types without type parameters and type variables.
    settled: Vec<bool>,
    objects: Vec<Object>,
}

macro_rules! plain {
    ($($constant:ident $kind:ident $name:literal;)*) => {
        /// The types without parts, in the order of their ids, and their names.
        pub(super) const PLAIN: &[(Kind, &str)] = &[$((Kind::$kind, $name)),*];

        #[allow(clippy::upper_case_acronyms)]
        enum Plain { $($constant),* }

        impl Types {$(
            #[doc = concat!("[`Kind::", stringify!($kind), "`]")]
            pub const $constant: TypeId = TypeId(Plain::$constant as u32);
        )*}
    };
}

plain! {
    DYN Dyn "dyn";
    ERROR Error "!error!";
    NULL Null "null";
    BOOL Bool "bool";
    INT Int "int";
    UINT Uint "uint";
    DOUBLE Double "double";
    NUMBER Number "number";
    STRING String "string";
    BYTES Bytes "bytes";
    TIMESTAMP Timestamp "timestamp";
    DURATION Duration "duration";
}

impl Default for Types {
    fn default() -> Self {
        let mut types = Self::without_any();
        for (kind, _) in PLAIN {
            types.add(kind.clone());
        }
        types
    }
}

impl Types {
    /// Returns an arena without the types that others have, which stands in for one that is lent.
    pub(super) fn without_any() -> Self {
        Self { kinds: IndexSet::default(), settled: Vec::new(), objects: Vec::new() }
    }

    /// Returns the number of types.
    #[allow(clippy::len_without_is_empty)] // there are always some
    #[doc(hidden)]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the type of this kind.
    #[doc(hidden)]
    pub fn add(&mut self, kind: Kind) -> TypeId {
        let id = |at: usize| TypeId(u32::try_from(at).unwrap_or(u32::MAX));
        let (at, is_new) = self.kinds.insert_full(kind);
        if is_new {
            let settled = match self.kind(id(at)) {
                Kind::Param(_) | Kind::Var(_) => false,
                kind => parts(kind).iter().all(|&part| self.is_settled(part)),
            };
            self.settled.push(settled);
        }
        id(at)
    }

    /// Returns the type of lists of `element`.
    pub fn list(&mut self, element: TypeId) -> TypeId {
        self.add(Kind::List(element))
    }

    /// Returns the type of maps from `key` to `value`.
    pub fn map(&mut self, key: TypeId, value: TypeId) -> TypeId {
        self.add(Kind::Map(key, value))
    }

    /// Returns the type of optionals of `of`.
    pub fn optional(&mut self, of: TypeId) -> TypeId {
        self.add(Kind::Optional(of))
    }

    /// Returns the type of `of` as a value.
    pub fn type_of(&mut self, of: TypeId) -> TypeId {
        self.add(Kind::Type(of))
    }

    /// Adds an object. Two objects are never the same type.
    #[doc(hidden)]
    pub fn add_object(&mut self, object: Object) -> TypeId {
        let at = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        self.objects.push(object);
        self.add(Kind::Object(at))
    }

    /// Returns the kind of a type.
    #[doc(hidden)]
    pub fn kind(&self, id: TypeId) -> &Kind {
        self.kinds.get_index(id.0 as usize).unwrap_or(&Kind::Error)
    }

    /// Returns an object.
    #[doc(hidden)]
    pub fn object(&self, at: u32) -> Option<&Object> {
        self.objects.get(at as usize)
    }

    /// Returns `true` for a type without type parameters and type variables.
    pub(super) fn is_settled(&self, id: TypeId) -> bool {
        self.settled.get(id.0 as usize).copied().unwrap_or(true)
    }

    /// Returns `true` for `dyn` and the type of errors.
    pub(crate) fn is_dyn_or_error(&self, id: TypeId) -> bool {
        matches!(self.kind(id), Kind::Dyn | Kind::Error)
    }

    /// Returns the type that an optional holds, and `true` if the type is an optional.
    pub(super) fn unwrapped(&self, id: TypeId) -> (TypeId, bool) {
        match self.kind(id) {
            Kind::Optional(of) => (*of, true),
            _ => (id, false),
        }
    }

    /// Returns the common type of types; `dyn` if they differ.
    pub fn common(mut types: impl Iterator<Item = TypeId>) -> TypeId {
        types.next().filter(|first| types.all(|other| other == *first)).unwrap_or(Self::DYN)
    }

    /// Returns the common type of the values of an object.
    #[doc(hidden)]
    pub fn values_of(&self, object: u32) -> TypeId {
        let object = self.object(object);
        Self::common(object.into_iter().flat_map(|object| object.fields.values().chain(&object.rest)).copied())
    }

    /// Returns a type with its parts replaced.
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

    /// Converts a type of a function table. Adds its type parameters to `params`.
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

    /// Returns the type parameter `name` of a signature, and adds it to `params`.
    pub(super) fn param(&mut self, name: &str, params: &mut Vec<String>) -> TypeId {
        let at = params.iter().position(|known| known == name).unwrap_or(params.len());
        if at == params.len() {
            params.push(name.to_owned());
        }
        self.add(Kind::Param(u32::try_from(at).unwrap_or(u32::MAX)))
    }

    /// Returns the text of a type: `map(string, dyn)`.
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
            // Writing to a string cannot fail.
            let _ = write!(out, "{n}");
        }
    }

    fn name<'k>(&self, kind: &'k Kind) -> &'k str {
        match kind {
            Kind::Type(_) => "type",
            Kind::List(_) => "list",
            Kind::Map(..) => "map",
            Kind::Optional(_) => "optional_type",
            Kind::Nullable(_) => "wrapper",
            Kind::Opaque(name, _) => name,
            Kind::Object(_) => "object",
            Kind::Param(_) => "T",
            Kind::Var(_) => "_var",
            plain => PLAIN.iter().find(|(kind, _)| kind == plain).map_or("", |(_, name)| name),
        }
    }
}

impl TypeId {
    fn in_kind(self, types: &mut Types, kind: fn(TypeId) -> Kind) -> TypeId {
        types.add(kind(self))
    }
}

/// Returns the types that a type consists of.
pub(super) fn parts(kind: &Kind) -> Vec<TypeId> {
    match kind {
        Kind::Type(of) | Kind::List(of) | Kind::Optional(of) | Kind::Nullable(of) => vec![*of],
        Kind::Map(key, value) => vec![*key, *value],
        Kind::Opaque(_, params) => params.to_vec(),
        _ => Vec::new(),
    }
}
