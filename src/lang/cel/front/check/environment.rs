//! Declarations: variables, functions, types.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::types::{TypeId, Types};
use crate::settings::candidates;
use crate::values::type_names;
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{HostParams, NativeBody, Overload, Params, Registry, Ty, Type};

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
