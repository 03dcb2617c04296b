//! The functions a language has, and linking a program's imports to them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::context::{Capabilities, Cx};
use super::fault::Outcome;
use super::host::{HostArgs, IntoAnswer};
use super::positional::Positional;
use super::spec::{Body, Builtin, Params};
use crate::bytecode::{Import, ImportKind};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::Value;

/// The functions of one kind, by name.
type OfKind = BTreeMap<Cow<'static, str>, Arc<Builtin>>;

/// Functions by kind and name. A later registration of a name replaces an earlier one; but overloads of one name are
/// one function. A clone costs nothing: the functions are shared until one of the two gets another.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    functions: Arc<BTreeMap<ImportKind, OfKind>>,
}

/// The functions of a program, in the order of its imports.
pub type Linked = Box<[Arc<Builtin>]>;

impl Registry {
    /// A registry of these tables.
    pub fn of(tables: &[&'static [Builtin]]) -> Self {
        let mut registry = Self::default();
        for builtin in tables.iter().copied().flatten() {
            registry.insert(builtin.clone());
        }
        registry
    }

    /// Adds a function, or its overloads to the function of its name that has some.
    pub fn insert(&mut self, mut builtin: Builtin) {
        let of_kind = Arc::make_mut(&mut self.functions).entry(builtin.kind).or_default();
        if let Some(known) = of_kind.get(&builtin.name) {
            builtin.join(known);
        }
        of_kind.insert(builtin.name.clone(), Arc::new(builtin));
    }

    /// Adds a user's closure as a function, filter or test.
    pub fn insert_host<A: IntoAnswer>(
        &mut self,
        kind: ImportKind,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) {
        self.insert(Builtin {
            kind,
            name: Cow::Owned(name.into()),
            params: Params::Open,
            doc: "Registered by the host.".into(),
            examples: Cow::Borrowed(&[]),
            needs: Capabilities::NONE,
            pure: false,
            body: Body::Host(Arc::new(move |args| body(args).into_answer())),
        });
    }

    /// Adds a closure as a function whose arguments are given by place: they are checked and converted first.
    ///
    /// ```
    /// use dropforge::function::{Admits, Answer, Place, Positional, Registry};
    /// use dropforge::value::Type;
    /// let text = Place { name: "text".into(), ty: Type::String, admits: Admits::NONE };
    /// let takes =
    ///     Positional { params: vec![text].into(), rest: None, answer: Answer::Is(Type::String), not_null: true };
    /// let mut registry = Registry::default();
    /// registry.insert_closure("shout", takes, |cx, given| {
    ///     let text = given.first().and_then(|text| text.as_str()).unwrap_or("");
    ///     Ok(cx.text(&format!("{text}!"))?)
    /// });
    /// ```
    pub fn insert_closure(
        &mut self,
        name: impl Into<String>,
        params: Positional,
        body: impl for<'v> Fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Value<'v>> + Send + Sync + 'static,
    ) {
        self.insert(Builtin {
            kind: ImportKind::Function,
            name: Cow::Owned(name.into()),
            params: Params::Positional(params),
            doc: "Registered by the host.".into(),
            examples: Cow::Borrowed(&[]),
            needs: Capabilities::NONE,
            pure: false,
            body: Body::Closure(Arc::new(body)),
        });
    }

    /// The function of this kind and name.
    pub fn get(&self, kind: ImportKind, name: &str) -> Option<&Arc<Builtin>> {
        self.functions.get(&kind)?.get(name)
    }

    /// The names of all functions of a kind, sorted.
    pub fn names(&self, kind: ImportKind) -> impl Iterator<Item = &str> {
        self.functions.get(&kind).into_iter().flat_map(BTreeMap::keys).map(AsRef::as_ref)
    }

    /// Every function.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Builtin>> {
        self.functions.values().flat_map(BTreeMap::values)
    }

    /// The error of there being no function of this kind and name, with the nearest that there is.
    pub fn unknown(&self, kind: ImportKind, name: &str) -> Box<Diagnostic> {
        let message = format!("{} `{name}` not found", kind.name());
        Diagnostic::new(Code::UnknownFunction, message)
            .with_available(self.names(kind))
            .with_suggestion(name, self.names(kind))
    }

    /// The functions that `imports` name.
    ///
    /// # Errors
    /// [`Code::UnknownFunction`] where there is none of this kind and name; [`Code::BadArgument`] where its
    /// parameters are not those the program was compiled for.
    pub fn link<'p>(&self, imports: impl Iterator<Item = Import<'p>>) -> Result<Linked> {
        self.link_with(imports, &mut |name| Err(self.unknown(ImportKind::Template, name)))
    }

    /// The same, where `template` finds the other templates that are called.
    ///
    /// # Errors
    /// As [`Registry::link`], and those of `template`.
    pub fn link_with<'p>(
        &self,
        imports: impl Iterator<Item = Import<'p>>,
        template: &mut dyn FnMut(&str) -> Result<Builtin>,
    ) -> Result<Linked> {
        let found = |import: Import<'p>| {
            let found = match import.kind {
                ImportKind::Template => Arc::new(template(import.name)?),
                kind => self.get(kind, import.name).ok_or_else(|| self.unknown(kind, import.name))?.clone(),
            };
            Self::fits(found, import)
        };
        imports.map(found).collect()
    }

    fn fits(found: Arc<Builtin>, import: Import<'_>) -> Result<Arc<Builtin>> {
        if found.signature() == import.signature {
            return Ok(found);
        }
        let message =
            format!("{} `{}` has other parameters than when this was compiled", found.kind.name(), found.name);
        Err(Diagnostic::new(Code::BadArgument, message).with_help("compile it again"))
    }
}
