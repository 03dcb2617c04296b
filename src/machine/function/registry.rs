//! The functions of a language, and linking of a program's imports.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;

use super::body::Body;
use super::context::Cx;
use super::errors::Outcome;
use super::gate::Positional;
use super::linked::{Link, Linked};
use super::spec::{Builtin, Params};
use crate::bytecode::{Import, ImportKind, Signature};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, Result};
use dropforge_value::Value;

/// A function of a registry: a row of a table, or one of its own. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Function {
    kept: Definition,
    /// The fingerprint of its parameters, once it was asked for.
    signature: OnceLock<Signature>,
}

#[derive(Debug, Clone)]
enum Definition {
    /// A row of a table.
    Row(&'static Builtin),
    /// A function that was registered or joined.
    Own(Arc<Builtin>),
}

impl Function {
    fn row(builtin: &'static Builtin) -> Self {
        Self { kept: Definition::Row(builtin), signature: OnceLock::new() }
    }

    pub(super) fn own(builtin: Builtin) -> Self {
        Self { kept: Definition::Own(Arc::new(builtin)), signature: OnceLock::new() }
    }

    /// Returns `true` for a row of a table, and `false` for a function that was registered or joined.
    pub fn is_row(&self) -> bool {
        matches!(self.kept, Definition::Row(_))
    }

    /// Returns [`Builtin::signature`], which is computed once.
    pub fn signature(&self) -> Signature {
        *self.signature.get_or_init(|| Builtin::signature(self))
    }
}

impl Deref for Function {
    type Target = Builtin;

    #[inline(always)]
    fn deref(&self) -> &Builtin {
        match &self.kept {
            Definition::Row(builtin) => builtin,
            Definition::Own(builtin) => builtin,
        }
    }
}

/// The functions of one kind by name, sorted.
type OfKind = IndexMap<Cow<'static, str>, Function, DefaultHashBuilder>;

/// Functions by kind and name. A later function replaces an earlier one, except that overloads are joined. Clones share
/// the functions until one of them changes.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    functions: Arc<[OfKind; ImportKind::COUNT]>,
    /// The functions of cargo features.
    features: &'static [Feature],
}

/// Functions that a build has with a cargo feature only.
#[derive(Debug)]
pub struct Feature {
    /// The cargo feature of the library.
    pub name: &'static str,
    /// `true` if this build has it.
    pub present: bool,
    /// The names of its functions.
    pub functions: &'static [&'static str],
}

impl Registry {
    /// Creates a registry of these tables.
    #[doc(hidden)]
    pub fn of(tables: &[&'static [Builtin]]) -> Self {
        let mut functions = <[OfKind; ImportKind::COUNT]>::default();
        for builtin in tables.iter().copied().flatten() {
            let of_kind = &mut functions[builtin.kind as usize];
            let function = match of_kind.get(&builtin.name) {
                Some(earlier) if builtin.joins(earlier) => Function::own(builtin.clone().joined_to(earlier)),
                _ => Function::row(builtin),
            };
            of_kind.insert(builtin.name.clone(), function);
        }
        functions.iter_mut().for_each(OfKind::sort_unstable_keys);
        Self { functions: Arc::new(functions), features: &[] }
    }

    /// Sets the functions of cargo features. The error of an unknown one names the feature that this build lacks.
    #[must_use]
    #[doc(hidden)]
    pub fn with_features(self, features: &'static [Feature]) -> Self {
        Self { features, ..self }
    }

    /// Adds a function. Overloads are added to an overloaded function with the same name.
    #[doc(hidden)]
    pub fn insert(&mut self, builtin: Builtin) {
        let of_kind = &mut Arc::make_mut(&mut self.functions)[builtin.kind as usize];
        let name = builtin.name.clone();
        let function = match of_kind.get(&name) {
            Some(earlier) => builtin.joined_to(earlier),
            None => builtin,
        };
        of_kind.insert_sorted(name, Function::own(function));
    }

    /// Removes a builtin, unless another function has replaced it.
    #[doc(hidden)]
    pub fn remove(&mut self, builtin: &Builtin) {
        let kept = self.get(builtin.kind, &builtin.name);
        if kept.is_some_and(|kept| matches!(kept.body, Body::Native(_) | Body::Text(_))) {
            Arc::make_mut(&mut self.functions)[builtin.kind as usize].shift_remove(&builtin.name);
        }
    }

    /// Replaces a function of the same kind and name.
    #[doc(hidden)]
    pub fn replace(&mut self, builtin: Builtin) {
        let name = builtin.name.clone();
        Arc::make_mut(&mut self.functions)[builtin.kind as usize].insert_sorted(name, Function::own(builtin));
    }

    /// Keeps the functions for which `keep` returns `true`.
    #[doc(hidden)]
    pub fn retain(&mut self, keep: impl Fn(&Builtin) -> bool) {
        Arc::make_mut(&mut self.functions).iter_mut().for_each(|of_kind| of_kind.retain(|_, one| keep(one)));
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
    #[doc(hidden)]
    pub fn insert_closure(
        &mut self,
        name: impl Into<String>,
        params: Positional,
        body: impl for<'v> Fn(&Cx<'v>, &[Value<'v>]) -> Outcome<Value<'v>> + Send + Sync + 'static,
    ) {
        let (params, body) = (Params::Positional(params), Body::Closure(Arc::new(body)));
        self.insert(Builtin::registered(ImportKind::Function, name.into(), params, body));
    }

    /// Returns `true` if both share their functions.
    #[doc(hidden)]
    pub fn is(&self, other: &Registry) -> bool {
        Arc::ptr_eq(&self.functions, &other.functions)
    }

    /// Finds a function.
    #[doc(hidden)]
    pub fn get(&self, kind: ImportKind, name: &str) -> Option<&Function> {
        self.functions[kind as usize].get(name)
    }

    /// Returns the names of all functions of a kind, sorted.
    pub fn names(&self, kind: ImportKind) -> impl Iterator<Item = &str> {
        self.functions[kind as usize].keys().map(AsRef::as_ref)
    }

    /// Every function, sorted by kind and name.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().flat_map(IndexMap::values)
    }

    /// Returns the error of an unknown function, with a suggestion.
    #[doc(hidden)]
    pub fn unknown(&self, kind: ImportKind, name: &str) -> Box<Diagnostic> {
        let message = format!("{} `{name}` not found", kind.name());
        let error = Diagnostic::new(Code::UnknownFunction, message)
            .with_field(LOOKED_UP, name)
            .with_available(self.names(kind));
        match self.features.iter().find(|feature| !feature.present && feature.functions.contains(&name)) {
            Some(feature) => {
                let (kind, feature) = (kind.name(), feature.name);
                error.with_help(format!(
                    "the {kind} needs the cargo feature `{feature}` of `dropforge`, which this build lacks"
                ))
            }
            None => error.with_suggestion(name, self.names(kind)),
        }
    }

    /// Finds the functions of a program.
    ///
    /// # Errors
    /// [`Code::UnknownFunction`] for an unknown function, [`Code::BadArgument`] if its parameters changed since the program
    /// was compiled.
    #[doc(hidden)]
    pub fn link<'p>(&self, imports: impl Iterator<Item = Import<'p>>) -> Result<Linked> {
        self.link_with(imports, &mut |name| Err(self.unknown(ImportKind::Template, name)))
    }

    /// Finds the functions of a program, and with `template` the other templates that it calls.
    ///
    /// # Errors
    /// The errors of [`Registry::link`] and of `template`.
    #[doc(hidden)]
    pub fn link_with<'p>(
        &self,
        imports: impl Iterator<Item = Import<'p>>,
        template: &mut dyn FnMut(&str) -> Result<Builtin>,
    ) -> Result<Linked> {
        let found = |import: Import<'p>| {
            let found = match import.kind {
                ImportKind::Template => Function::own(template(import.name)?),
                kind => self.get(kind, import.name).ok_or_else(|| self.unknown(kind, import.name))?.clone(),
            };
            Self::fits(found, import).map(|function| Link::new(function).within(self))
        };
        imports.map(found).collect()
    }

    fn fits(found: Function, import: Import<'_>) -> Result<Function> {
        if found.signature() == import.signature {
            return Ok(found);
        }
        let message =
            format!("{} `{}` has other parameters than when this was compiled", found.kind.name(), found.name);
        Err(Diagnostic::new(Code::BadArgument, message).with_help("compile it again"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::functions;

    fn null(_: Value<'_>) -> Value<'_> {
        Value::Null
    }

    functions! {
        static TABLE:
        filter "b" (of: Any) = null, "One." [];
        filter "c" (of: Any) = null, "Two." [];
        filter "a" (of: Any) = null, "Three." [];
    }

    #[test]
    fn functions_are_found_and_sorted_whatever_came_before() {
        let mut random = fastrand::Rng::with_seed(11);
        let kinds = ImportKind::FUNCTIONS;
        let (mut registry, mut expected) = (Registry::default(), BTreeSet::new());
        for _ in 0..600 {
            let (kind, name) = (kinds[random.usize(..kinds.len())], random.u8(..90).to_string());
            registry.insert(Builtin::host(kind, &name, || 1));
            expected.insert((kind, name));
        }
        let found: Vec<_> = registry.iter().map(|builtin| (builtin.kind, builtin.name.to_string())).collect();
        assert_eq!(found, expected.iter().cloned().collect::<Vec<_>>());
        for kind in kinds {
            let names: Vec<_> = registry.names(kind).collect();
            assert!(names.is_sorted() && names.iter().all(|name| registry.get(kind, name).is_some()), "{names:?}");
            let unknown = (0..90).map(|n| n.to_string()).find(|name| !expected.contains(&(kind, name.clone())));
            assert!(unknown.is_none_or(|name| registry.get(kind, &name).is_none()));
        }
    }

    #[test]
    fn a_function_of_a_missing_feature_is_an_error_that_names_it() {
        static FEATURES: &[Feature] = &[
            Feature { name: "dates", present: false, functions: &["now"] },
            Feature { name: "texts", present: true, functions: &["later"] },
        ];
        let registry = Registry::of(&[TABLE]).with_features(FEATURES);
        let help = |name| registry.unknown(ImportKind::Function, name).help.unwrap_or_default();
        assert!(help("now").contains("cargo feature `dates`"), "{}", help("now"));
        assert!(!help("later").contains("cargo feature"));
    }

    #[test]
    fn a_row_replaces_an_earlier_one_of_its_name() {
        functions! {
            static LATER:
            filter "c" (of: Any) = null, "Four." [];
        }
        let registry = Registry::of(&[TABLE, LATER]);
        let function = registry.get(ImportKind::Filter, "c").unwrap();
        assert!(function.is_row() && function.doc == "Four.");
    }

    #[test]
    fn a_builtin_is_removed_unless_another_function_replaced_it() {
        let mut registry = Registry::of(&[TABLE]);
        assert_eq!(registry.names(ImportKind::Filter).collect::<Vec<_>>(), ["a", "b", "c"]);
        registry.insert(Builtin::host(ImportKind::Filter, "c", |_: i64| 1));
        TABLE.iter().for_each(|builtin| registry.remove(builtin));
        assert_eq!(registry.names(ImportKind::Filter).collect::<Vec<_>>(), ["c"]);
    }
}
