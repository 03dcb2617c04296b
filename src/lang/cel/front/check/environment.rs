//! Declarations: variables, functions, types; the text of types, such as `map(string, list(int))`, and the types of JSON Schemas.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::types::{Kind, Object, PLAIN, TypeId, Types};
use crate::settings::candidates;
use crate::values::type_names;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::small_sort::tree_map;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{HostParams, NativeBody, Overload, Params, Registry, Ty, Type};
use dropforge_schema::{Additional, Node, NodeId, Schema, Types as Allowed};
use dropforge_value::Data;

/// An overload of a function.
#[derive(Debug, Clone)]
pub(super) struct Signature {
    /// Its id.
    pub id: Arc<str>,
    /// Set for a member function.
    pub member: bool,
    /// The types of its parameters, the receiver's first.
    pub params: Box<[TypeId]>,
    /// The result type.
    pub result: TypeId,
    /// The number of type parameters.
    pub generic: usize,
    /// The implementation, if it is a builtin.
    pub body: Option<NativeBody>,
}

/// The ways to call a function.
#[derive(Debug, Clone)]
pub(super) enum Callable {
    /// With one of these overloads.
    Signatures(Vec<Signature>),
    /// With any arguments. The result type shows at runtime.
    Open,
}

/// Returns the type of a parameter of the embedding program, of which `integer` stands for its integers.
fn host_type(ty: Type, integer: Ty) -> Ty {
    match ty {
        Type::Any | Type::Number => Ty::Dyn,
        Type::Bool => Ty::Bool,
        Type::Int | Type::Size => integer,
        Type::Str => Ty::String,
        Type::List => Ty::List(&Ty::Dyn),
        Type::Map => Ty::Map(&Ty::Dyn, &Ty::Dyn),
    }
}

/// An overload declared by the host, with types as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declared<'d> {
    /// Its unique id.
    pub id: &'d str,
    /// Set for a member function, whose receiver is the first parameter.
    pub member: bool,
    /// The types of its parameters. A single capital letter is a type parameter.
    pub params: &'d [&'d str],
    /// The result type.
    pub result: &'d str,
}

/// The declarations that an expression can use: the functions of a registry, declared variables and functions, and the
/// container.
///
/// ```
/// use dropforge::cel::Environment;
/// use dropforge::function::Registry;
/// let mut environment = Environment::new(&Registry::default()).in_container("shop.cart");
/// environment.declare("shop.total", "double").unwrap();
/// environment.declare("items", "list(map(string, dyn))").unwrap();
/// assert!(environment.declare("x", "list(").is_err());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Environment {
    pub(super) types: Types,
    pub(super) container: String,
    /// Set if undeclared names are variables of type `dyn`.
    pub(super) open: bool,
    /// Set if a variable hides the types in the namespace of its name.
    hiding: bool,
    pub(super) variables: BTreeMap<Arc<str>, TypeId>,
    named: HashMap<&'static str, TypeId>,
    functions: BTreeMap<Arc<str>, Callable>,
}

/// The declaration of a name.
#[derive(Debug, Clone)]
pub(super) enum NameDeclaration {
    /// A variable: its full name and type.
    Variable(Arc<str>, TypeId),
    /// A type as a value.
    Type(TypeId),
}

impl Environment {
    /// Declares the functions of `registry`.
    pub fn new(registry: &Registry) -> Self {
        let mut environment = Self::default();
        for name in type_names().chain(["duration", "dyn", "timestamp"]) {
            let text = if name == "optional_type" { "optional_type(dyn)" } else { name };
            if let Ok(ty) = environment.types.read(text) {
                environment.named.insert(name, ty);
            }
        }
        for builtin in registry.iter().filter(|builtin| builtin.kind == ImportKind::Function) {
            let callable = match &builtin.params {
                Params::Overloaded(overloads) => {
                    Callable::Signatures(overloads.iter().map(|of| environment.signature(of)).collect())
                }
                _ => match builtin.host_params().and_then(|params| environment.of_host(&builtin.name, params)) {
                    Some(signatures) => Callable::Signatures(signatures),
                    None => Callable::Open,
                },
            };
            environment.functions.insert(builtin.name.as_ref().into(), callable);
        }
        environment
    }

    /// Returns the signatures of a function of the embedding program: one for each number of arguments, as a function and
    /// as a method. `None` if it takes any number.
    fn of_host(&mut self, name: &str, params: &HostParams) -> Option<Vec<Signature>> {
        if params.rest().is_some() {
            return None;
        }
        let mut signature = |count: usize, member: bool, integer: Ty| {
            let types = params.iter().take(count).map(|param| host_type(param.ty, integer));
            let params = types.map(|ty| self.types.of_table(&ty, &mut Vec::new())).collect();
            let id = format!("{name}_{count}_{integer}{}", if member { "_member" } else { "" }).into();
            Signature { id, member, params, result: Types::DYN, generic: 0, body: None }
        };
        let counts = params.required()..=params.iter().len();
        let forms =
            counts.flat_map(|count| [(count, false), (count, true)]).filter(|(count, member)| *count > 0 || !member);
        let forms = forms.flat_map(|(count, member)| [(count, member, Ty::Int), (count, member, Ty::Uint)]);
        Some(forms.map(|(count, member, integer)| signature(count, member, integer)).collect())
    }

    fn signature(&mut self, of: &Overload) -> Signature {
        for ty in of.params.iter().chain([&of.result]) {
            if let Ty::Opaque(name) = ty {
                let ty = self.types.of_table(ty, &mut Vec::new());
                self.named.insert(name, ty);
            }
        }
        let mut names = Vec::new();
        let params = of.params.iter().map(|ty| self.types.of_table(ty, &mut names)).collect();
        let result = self.types.of_table(&of.result, &mut names);
        Signature { id: of.id.into(), member: of.member, params, result, generic: names.len(), body: Some(of.body) }
    }

    /// Sets the container: names are searched in `a.b`, then in `a`, then by themselves.
    #[must_use]
    pub fn in_container(mut self, container: impl Into<String>) -> Self {
        self.container = container.into();
        self
    }

    /// Opens the environment: an undeclared name is a variable of type `dyn`, which may be missing at runtime.
    #[must_use]
    pub(crate) fn with_open_names(mut self) -> Self {
        self.open = true;
        self
    }

    /// Lets variables hide the types in the namespace of their name, as `net` does `net.IP`.
    #[must_use]
    pub(crate) fn with_hidden_namespaces(mut self) -> Self {
        self.hiding = true;
        self
    }

    /// Returns `true` if a variable hides a type.
    fn is_hidden(&self, ty: &str) -> bool {
        let first = ty.split_once('.').map(|(first, _)| first);
        self.hiding && first.is_some_and(|first| self.variables.contains_key(first))
    }

    /// Declares a variable by its qualified name, with its type as text: [`Types::read`].
    ///
    /// # Errors
    /// The text is not a type.
    pub fn declare(&mut self, name: &str, ty: &str) -> Result<()> {
        let ty = self.types.read(ty)?;
        self.declare_as(name, ty);
        Ok(())
    }

    /// Declares a variable with a type of this environment.
    pub(crate) fn declare_as(&mut self, name: &str, ty: TypeId) {
        self.variables.insert(name.into(), ty);
    }

    /// Declares an overload of the function `name`, in addition to those that it has.
    ///
    /// # Errors
    /// A text is not a type.
    pub fn declare_function(&mut self, name: &str, declared: &Declared<'_>) -> Result<()> {
        let mut names = Vec::new();
        let params: Result<Vec<_>> =
            declared.params.iter().map(|ty| self.types.read_signature(ty, Some(&mut names))).collect();
        let (params, member) = (params?.into(), declared.member);
        let result = self.types.read_signature(declared.result, Some(&mut names))?;
        let signature = Signature { id: declared.id.into(), member, params, result, generic: names.len(), body: None };
        match self.functions.get_mut(name) {
            Some(Callable::Signatures(known)) => {
                known.retain(|known| known.id != signature.id);
                known.push(signature);
            }
            _ => {
                self.functions.insert(name.into(), Callable::Signatures(vec![signature]));
            }
        }
        Ok(())
    }

    /// Returns `true` if a variable with this full name is declared.
    pub fn declares(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// Returns `true` if a name is a type, or a namespace of functions or types.
    pub(crate) fn is_namespace(&self, name: &str) -> bool {
        let begins = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let from = self.functions.range::<str, _>((Bound::Included(name), Bound::Unbounded));
        self.named.contains_key(name)
            || from.take_while(|(known, _)| known.starts_with(name)).any(|(known, _)| begins(known))
            || self.named.keys().any(|known| begins(known))
    }

    /// Returns the container.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// Returns the types.
    #[doc(hidden)]
    pub fn types(&mut self) -> &mut Types {
        &mut self.types
    }

    /// Finds the variable or type of a name.
    pub(super) fn find(&self, name: &str, rooted: bool) -> Option<NameDeclaration> {
        candidates(&self.container, name, rooted).find_map(|name| {
            let variable = self.variables.get_key_value(name.as_ref());
            let variable = variable.map(|(name, &ty)| NameDeclaration::Variable(name.clone(), ty));
            let ty = || self.named.get(name.as_ref()).filter(|_| !self.is_hidden(&name));
            variable.or_else(|| ty().copied().map(NameDeclaration::Type))
        })
    }

    /// Finds a function, and returns it with its full name.
    pub(super) fn function(&self, name: &str, rooted: bool) -> Option<(&Arc<str>, &Callable)> {
        candidates(&self.container, name, rooted).find_map(|name| self.functions.get_key_value(name.as_ref()))
    }

    /// Returns the names of all variables.
    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(AsRef::as_ref)
    }

    /// Returns the names of all functions that sources can call by name.
    pub(super) fn function_names(&self) -> impl Iterator<Item = &str> {
        let written = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains('@');
        self.functions.keys().map(AsRef::as_ref).filter(written)
    }
}

/// The maximum nesting depth.
const DEPTH: usize = 32;

impl Types {
    /// Parses a type: a plain one (`dyn`, `null`, `bool`, `int`, `uint`, `double`, `string`, `bytes`, `timestamp`,
    /// `duration`, `type`, `any`), `list(T)`, `map(K, V)`, `optional_type(T)`, `wrapper(T)`, `type(T)`, or the name of
    /// an opaque type with or without parameters.
    ///
    /// # Errors
    /// [`Code::UnexpectedToken`] for text that is not a type, [`Code::LimitDepth`] for nesting beyond 32 levels.
    ///
    /// ```
    /// use dropforge::dialect::cel::check::Types;
    /// let mut types = Types::default();
    /// let id = types.read("map( string,list(net.IP))").unwrap();
    /// assert_eq!(types.text(id), "map(string, list(net.IP))");
    /// assert!(types.read("list(int").is_err());
    /// ```
    pub fn read(&mut self, text: &str) -> Result<TypeId> {
        self.read_signature(text, None)
    }

    /// Parses a type. A single capital letter is a type parameter, if `params` of a signature are given.
    pub(super) fn read_signature(&mut self, text: &str, params: Option<&mut Vec<String>>) -> Result<TypeId> {
        let mut parser = TypeParser { text, at: 0, types: self, params };
        let ty = parser.ty(0)?;
        match parser.rest().trim_start() {
            "" => Ok(ty),
            _ => Err(parser.error("expected the end of the type")),
        }
    }
}

struct TypeParser<'r> {
    text: &'r str,
    at: usize,
    types: &'r mut Types,
    params: Option<&'r mut Vec<String>>,
}

impl<'r> TypeParser<'r> {
    fn rest(&self) -> &'r str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn error(&self, message: &str) -> Box<Diagnostic> {
        let source = Source::new("<type>", self.text);
        Diagnostic::new(Code::UnexpectedToken, message).at(&source, Span::of(self.at..self.at), "")
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips a character if it is next, and returns `true` if so.
    fn take(&mut self, wanted: char) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn name(&mut self) -> Result<&'r str> {
        self.skip_spaces();
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/');
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let name = rest.get(..len).filter(|name| !name.is_empty()).ok_or_else(|| self.error("expected a type"))?;
        self.at += len;
        Ok(name)
    }

    fn ty(&mut self, depth: usize) -> Result<TypeId> {
        if depth > DEPTH {
            let mut error = self.error("the type nests too deep: the limit is 32 levels");
            error.code = Code::LimitDepth;
            return Err(error);
        }
        let name = self.name()?;
        let mut params = Vec::new();
        if self.take('(') {
            params.push(self.ty(depth + 1)?);
            while self.take(',') {
                params.push(self.ty(depth + 1)?);
            }
            if !self.take(')') {
                return Err(self.error("expected `)` or `,`"));
            }
        }
        self.named(name, &params)
    }

    fn named(&mut self, name: &str, params: &[TypeId]) -> Result<TypeId> {
        let plain = PLAIN.iter().find(|(kind, plain)| *plain == name && !matches!(kind, Kind::Error | Kind::Number));
        let kind = match (name, params) {
            (_, []) if let Some((plain, _)) = plain => plain.clone(),
            ("any" | "google.protobuf.Any" | "google.protobuf.Value", []) => Kind::Dyn,
            ("null_type", []) => Kind::Null,
            ("google.protobuf.Timestamp", []) => Kind::Timestamp,
            ("google.protobuf.Duration", []) => Kind::Duration,
            ("type", []) => Kind::Type(Types::DYN),
            ("list", []) => Kind::List(Types::DYN),
            ("map", []) => Kind::Map(Types::DYN, Types::DYN),
            ("type", &[of]) => Kind::Type(of),
            ("list", &[of]) => Kind::List(of),
            ("map", &[key, value]) => Kind::Map(key, value),
            ("optional_type", &[of]) => Kind::Optional(of),
            ("wrapper", &[of]) => Kind::Nullable(of),
            ("type" | "list" | "map" | "optional_type" | "wrapper", _) => {
                return Err(self.error(&format!("`{name}` has another number of parameters")));
            }
            (name, []) if name.len() == 1 && name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                if let Some(params) = &mut self.params {
                    return Ok(self.types.param(name, params));
                }
                Kind::Opaque(name.into(), Arc::default())
            }
            (name, params) => Kind::Opaque(name.into(), params.into()),
        };
        Ok(self.types.add(kind))
    }
}

/// The maximum schema depth to inspect. Deeper levels accept any value.
const SCHEMA_DEPTH: usize = 64;

impl Types {
    /// Returns the type of the values that a schema allows. It considers `type` (one, or one and `null`), `items`,
    /// `properties`, `additionalProperties` and `enum`. The type is `dyn` if the schema allows values of several types.
    /// Requirements beyond the type (`required`, `format`, ranges) are left to validation.
    ///
    /// * `string` is a string whatever its `format`: values are not converted.
    /// * `number` is an `int` or a `double`: arithmetic mixes it with both.
    /// * A map with `properties` has no others unless `additionalProperties` allows them.
    ///
    /// ```
    /// use dropforge::dialect::cel::check::Types;
    /// use dropforge::schema::{Draft, Schema};
    /// let mut types = Types::default();
    /// let mut text = |schema: &str| {
    ///     let schema = Schema::read(&serde_json::from_str(schema).unwrap(), Draft::Template).unwrap();
    ///     let ty = types.of_schema(&schema);
    ///     types.text(ty)
    /// };
    /// assert_eq!(text(r#"{"type": "array", "items": {"type": "integer"}}"#), "list(int)");
    /// assert_eq!(text(r#"{"type": "object", "additionalProperties": "string"}"#), "map(string, string)");
    /// assert_eq!(text(r#"{"type": ["string", "null"]}"#), "wrapper(string)");
    /// assert_eq!(text(r#"{"enum": ["a", "b"]}"#), "string");
    /// ```
    pub fn of_schema(&mut self, schema: &Schema) -> TypeId {
        self.of_node(schema, Schema::ROOT, 0)
    }

    fn of_node(&mut self, schema: &Schema, id: NodeId, depth: usize) -> TypeId {
        let Some(node) = schema.node(id).filter(|_| depth <= SCHEMA_DEPTH) else { return Self::DYN };
        let is = |ty: Allowed| node.types == ty || node.types == ty.or(Allowed::NULL);
        let ty = match node.types {
            types if types.is_any() => return self.implied(schema, node, depth),
            Allowed::NULL => return Self::NULL,
            _ if is(Allowed::STRING) => Self::STRING,
            _ if is(Allowed::BOOLEAN) => Self::BOOL,
            _ if is(Allowed::INTEGER) => Self::INT,
            _ if is(Allowed::NUMBER) || is(Allowed::NUMBER.or(Allowed::INTEGER)) => Self::NUMBER,
            _ if is(Allowed::ARRAY) => {
                let element = node.items.map_or(Self::DYN, |items| self.of_node(schema, items, depth + 1));
                self.list(element)
            }
            _ if is(Allowed::OBJECT) => self.of_object(schema, node, depth),
            _ => return Self::DYN,
        };
        if node.types.has(Allowed::NULL) { self.add(Kind::Nullable(ty)) } else { ty }
    }

    /// Returns the type of a schema without `type`: an object, or the common type of the values of `enum`.
    fn implied(&mut self, schema: &Schema, node: &Node, depth: usize) -> TypeId {
        if !node.properties.is_empty() {
            return self.of_object(schema, node, depth);
        }
        Self::common(node.values.iter().flatten().map(|value| match value {
            Data::Null => Self::NULL,
            Data::Bool(_) => Self::BOOL,
            Data::Int(_) => Self::INT,
            Data::Str(_) => Self::STRING,
            _ => Self::DYN,
        }))
    }

    fn of_object(&mut self, schema: &Schema, node: &Node, depth: usize) -> TypeId {
        let rest = match node.additional {
            Additional::None => None,
            Additional::Any => Some(Self::DYN),
            Additional::Schema(id) => Some(self.of_node(schema, id, depth + 1)),
            Additional::Unsaid => node.properties.is_empty().then_some(Self::DYN),
        };
        if node.properties.is_empty() {
            return self.map(Self::STRING, rest.unwrap_or(Self::DYN));
        }
        let properties = node.properties.iter();
        let fields = tree_map(properties.map(|(name, id)| (name.clone(), self.of_node(schema, *id, depth + 1))));
        self.add_object(Object { fields, rest })
    }
}
