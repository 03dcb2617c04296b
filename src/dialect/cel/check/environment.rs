//! What an expression may name: variables, functions, types.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::types::{Kind, TypeId, Types};
use crate::bytecode::ImportKind;
use crate::diagnostics::Result;
use crate::dialect::cel::builtins::capsules;
use crate::function::{NativeBody, Overload, Params, Registry, Ty};
use crate::value::Data;

/// The types that have a name as values, beside those that functions take or answer; `list` and `map` are those of any
/// elements.
const NAMED: &[(&str, &str)] = &[
    ("bool", "bool"),
    ("bytes", "bytes"),
    ("double", "double"),
    ("dyn", "dyn"),
    ("duration", "duration"),
    ("google.protobuf.Duration", "duration"),
    ("google.protobuf.Timestamp", "timestamp"),
    ("int", "int"),
    ("list", "list(dyn)"),
    ("map", "map(dyn, dyn)"),
    ("null_type", "null"),
    ("optional_type", "optional_type(dyn)"),
    ("string", "string"),
    ("timestamp", "timestamp"),
    ("type", "type"),
    ("uint", "uint"),
];

/// A signature of a function, its types in the arena.
#[derive(Debug, Clone)]
pub(super) struct Signature {
    /// Its name.
    pub id: Arc<str>,
    /// Whether it is called on a receiver.
    pub member: bool,
    /// The types of its parameters, the receiver's first.
    pub params: Box<[TypeId]>,
    /// The type of its answer.
    pub result: TypeId,
    /// How many type parameters it has.
    pub generic: usize,
    /// What it does, where that is known here.
    pub body: Option<NativeBody>,
}

/// A function as expressions may call it.
#[derive(Debug, Clone)]
pub(super) enum Callable {
    /// By one of these signatures.
    Signatures(Vec<Signature>),
    /// By any arguments: what it answers shows when it is called.
    Open,
}

/// A signature as a host declares it, types as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declared<'d> {
    /// Its name; no other signature has it.
    pub id: &'d str,
    /// Whether it is called on a receiver, which is its first parameter.
    pub member: bool,
    /// The types of its parameters. One capital letter is a type parameter.
    pub params: &'d [&'d str],
    /// The type of its answer.
    pub result: &'d str,
}

/// What names mean: the functions of a registry, declared variables and functions, and the container that names are
/// looked for in.
///
/// ```
/// use dropforge::dialect::cel::check::Environment;
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
    /// Whether a name that is not declared is a variable of any type.
    pub(super) open: bool,
    /// Whether a variable hides the types in the namespace that is called as it is.
    hiding: bool,
    pub(super) variables: BTreeMap<Arc<str>, TypeId>,
    named: HashMap<&'static str, TypeId>,
    functions: BTreeMap<Arc<str>, Callable>,
}

/// What a name was found to be.
#[derive(Debug, Clone)]
pub(super) enum Found {
    /// A variable of this name.
    Variable(Arc<str>, TypeId),
    /// This type as a value.
    Type(TypeId),
}

impl Environment {
    /// The functions of `registry`, and no variables.
    pub fn new(registry: &Registry) -> Self {
        let mut environment = Self::default();
        for &(name, text) in NAMED {
            if let Ok(ty) = environment.types.read(text) {
                environment.named.insert(name, ty);
            }
        }
        for &name in capsules::TYPE_NAMES {
            let ty = environment.types.add(Kind::Opaque(name.into(), Arc::default()));
            environment.named.insert(name, ty);
        }
        for builtin in registry.iter().filter(|builtin| builtin.kind == ImportKind::Function) {
            let callable = match &builtin.params {
                Params::Overloaded(overloads) => {
                    Callable::Signatures(overloads.iter().map(|of| environment.signature(of)).collect())
                }
                _ => Callable::Open,
            };
            environment.functions.insert(builtin.name.as_ref().into(), callable);
        }
        environment
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

    /// The same, names being looked for in `container` (`a.b`) first, then in what it is in.
    #[must_use]
    pub fn in_container(mut self, container: impl Into<String>) -> Self {
        self.container = container.into();
        self
    }

    /// The same, a name that is not declared being a variable of any type, whose value shows whether it is there.
    #[must_use]
    pub fn with_open_names(mut self) -> Self {
        self.open = true;
        self
    }

    /// The same, for documents: a name in one hides also types that begin with it, as `net` does `net.IP`.
    #[must_use]
    pub(in crate::dialect::cel) fn with_names_that_hide(mut self) -> Self {
        self.hiding = true;
        self
    }

    /// Whether what is known of a type's name is hidden.
    fn is_hidden(&self, ty: &str) -> bool {
        let first = ty.split_once('.').map(|(first, _)| first);
        self.hiding && first.is_some_and(|first| self.variables.contains_key(first))
    }

    /// Declares a variable, whose name may be qualified, with its type as text: [`Types::read`].
    ///
    /// # Errors
    /// Where the text is no type.
    pub fn declare(&mut self, name: &str, ty: &str) -> Result<()> {
        let ty = self.types.read(ty)?;
        self.declare_as(name, ty);
        Ok(())
    }

    /// Declares a variable of a type of this environment.
    pub fn declare_as(&mut self, name: &str, ty: TypeId) {
        self.variables.insert(name.into(), ty);
    }

    /// Declares a variable of the type that a JSON Schema describes: see [`Types::of_schema`].
    pub fn declare_schema(&mut self, name: &str, schema: &Data) {
        let ty = self.types.of_schema(schema);
        self.declare_as(name, ty);
    }

    /// Declares a signature of the function `name`, beside those that it has.
    ///
    /// # Errors
    /// Where a text is no type.
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

    /// Whether a variable of this whole name is declared.
    pub fn declares(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// Whether a name is that of a type, or the first part of the names of functions or types.
    pub fn is_namespace(&self, name: &str) -> bool {
        let begins = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let behind = self.functions.range::<str, _>((Bound::Included(name), Bound::Unbounded));
        self.named.contains_key(name)
            || behind.take_while(|(known, _)| known.starts_with(name)).any(|(known, _)| begins(known))
            || self.named.keys().any(|known| begins(known))
    }

    /// The namespace that names are looked for in first.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// The types of this environment.
    pub fn types(&mut self) -> &mut Types {
        &mut self.types
    }

    /// What a name may stand for: in the container, in what that is in, and by itself.
    fn candidates<'n>(&self, name: &'n str, rooted: bool) -> impl Iterator<Item = Cow<'n, str>> + use<'n> {
        let mut inside = Vec::new();
        let mut container = if rooted { "" } else { self.container.as_str() };
        while !container.is_empty() {
            inside.push(Cow::Owned(format!("{container}.{name}")));
            container = container.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        inside.into_iter().chain([Cow::Borrowed(name)])
    }

    /// The variable or type of this name.
    pub(super) fn find(&self, name: &str, rooted: bool) -> Option<Found> {
        self.candidates(name, rooted).find_map(|name| {
            let variable = self.variables.get_key_value(name.as_ref());
            let variable = variable.map(|(name, &ty)| Found::Variable(name.clone(), ty));
            let ty = || self.named.get(name.as_ref()).filter(|_| !self.is_hidden(&name));
            variable.or_else(|| ty().copied().map(Found::Type))
        })
    }

    /// The function of this name, and its whole name.
    pub(super) fn function(&self, name: &str, rooted: bool) -> Option<(&Arc<str>, &Callable)> {
        self.candidates(name, rooted).find_map(|name| self.functions.get_key_value(name.as_ref()))
    }

    /// The names of all variables.
    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(AsRef::as_ref)
    }

    /// The names of all functions that can be written.
    pub(super) fn function_names(&self) -> impl Iterator<Item = &str> {
        let written = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains('@');
        self.functions.keys().map(AsRef::as_ref).filter(written)
    }
}
