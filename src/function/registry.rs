//! The functions of a language, and linking of a program's imports.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::body::Body;
use super::context::Cx;
use super::errors::Outcome;
use super::host::{HostArgs, IntoHostResult};
use super::linked::{Link, Linked};
use super::positional::Positional;
use super::spec::{Builtin, Params};
use crate::bytecode::{Import, ImportKind};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::Value;

/// The functions of one kind, by name.
type OfKind = BTreeMap<Cow<'static, str>, Arc<Builtin>>;

/// Functions by kind and name. A later function replaces an earlier one, except that overloads are joined. Clones share
/// the functions until one of them changes.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    functions: Arc<BTreeMap<ImportKind, OfKind>>,
}

impl Registry {
    /// Creates a registry of these tables.
    pub fn of(tables: &[&'static [Builtin]]) -> Self {
        let mut registry = Self::default();
        for builtin in tables.iter().copied().flatten() {
            registry.insert(builtin.clone());
        }
        registry
    }

    /// Adds a function. Overloads are added to an overloaded function with the same name.
    pub fn insert(&mut self, mut builtin: Builtin) {
        let of_kind = Arc::make_mut(&mut self.functions).entry(builtin.kind).or_default();
        if let Some(earlier) = of_kind.get(&builtin.name) {
            builtin.join(earlier);
        }
        of_kind.insert(builtin.name.clone(), Arc::new(builtin));
    }

    /// Removes a builtin, unless another function has replaced it.
    pub fn remove(&mut self, builtin: &Builtin) {
        let kept = self.get(builtin.kind, &builtin.name);
        if kept.is_some_and(|kept| matches!(kept.body, Body::Native(_) | Body::Text(_)))
            && let Some(of_kind) = Arc::make_mut(&mut self.functions).get_mut(&builtin.kind)
        {
            of_kind.remove(&builtin.name);
        }
    }

    /// Adds a closure as a function, filter or test.
    pub fn insert_host<A: IntoHostResult>(
        &mut self,
        kind: ImportKind,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) {
        let body = Body::Host(Arc::new(move |args| body(args).into_result()));
        self.insert(Builtin::registered(kind, name.into(), Params::Open, body));
    }

    /// Adds a closure as a function with positional arguments, which are checked and converted.
    ///
    /// ```
    /// use dropforge::function::{Admits, Positional, PositionalParam, Registry, ResultType};
    /// use dropforge::value::Type;
    /// let text = PositionalParam { name: "text".into(), ty: Type::String, admits: Admits::NONE };
    /// let takes =
    ///     Positional { params: vec![text].into(), rest: None, result: ResultType::Is(Type::String), not_null: true };
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
        let (params, body) = (Params::Positional(params), Body::Closure(Arc::new(body)));
        self.insert(Builtin::registered(ImportKind::Function, name.into(), params, body));
    }

    /// Finds a function.
    pub fn get(&self, kind: ImportKind, name: &str) -> Option<&Arc<Builtin>> {
        self.functions.get(&kind)?.get(name)
    }

    /// Returns the names of all functions of a kind, sorted.
    pub fn names(&self, kind: ImportKind) -> impl Iterator<Item = &str> {
        self.functions.get(&kind).into_iter().flat_map(BTreeMap::keys).map(AsRef::as_ref)
    }

    /// Every function.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Builtin>> {
        self.functions.values().flat_map(BTreeMap::values)
    }

    /// Returns the error of an unknown function, with a suggestion.
    pub fn unknown(&self, kind: ImportKind, name: &str) -> Box<Diagnostic> {
        let message = format!("{} `{name}` not found", kind.name());
        Diagnostic::new(Code::UnknownFunction, message)
            .with_available(self.names(kind))
            .with_suggestion(name, self.names(kind))
    }

    /// Finds the functions of a program.
    ///
    /// # Errors
    /// [`Code::UnknownFunction`] for an unknown function, [`Code::BadArgument`] if its parameters changed since the program
    /// was compiled.
    pub fn link<'p>(&self, imports: impl Iterator<Item = Import<'p>>) -> Result<Linked> {
        self.link_with(imports, &mut |name| Err(self.unknown(ImportKind::Template, name)))
    }

    /// Finds the functions of a program, and with `template` the other templates that it calls.
    ///
    /// # Errors
    /// The errors of [`Registry::link`] and of `template`.
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
            Self::fits(found, import).map(Link::new)
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
