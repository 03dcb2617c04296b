//! Implementations of CEL, and what differs in each of them from the specification.
//!
//! The table `DIFFERENCES` has a row for each function. Calls of one with another meaning are compiled to an intrinsic, so
//! an artifact keeps the meaning that it was compiled with.

use crate::builtins::manifests;
use crate::builtins::strings::{index_in, last_index_in};
use crate::values::time::all_milliseconds;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Body, Builtin, NativeBody, Overload, Params, Registry, value_of};

/// The implementations besides the specification, in the order of the columns.
const IMPLEMENTATIONS: [&str; 2] = ["kro", "kubernetes"];

/// A row: functions, and what the implementations have in their place.
struct Difference {
    /// Names, or the beginnings of names that end with a dot.
    functions: &'static [&'static str],
    /// What each of the [`IMPLEMENTATIONS`] has.
    has: [Has; 2],
}

/// What an implementation has in place of a function.
#[derive(Clone, Copy)]
enum Has {
    /// The same function.
    Same,
    /// Nothing.
    Nothing,
    /// The same function without overloads whose ids end in one of these.
    Without(&'static [&'static str]),
    /// A function with the same signatures and another meaning.
    Variant(&'static Variant),
}

/// A function with the signatures of another one, of which some have other bodies.
struct Variant {
    /// The intrinsic.
    name: &'static str,
    function: &'static str,
    bodies: &'static [(&'static str, NativeBody)],
}

use Has::{Nothing, Same, Variant as Other, Without};

/// Ordering of numbers of two types, which cel-go allows if an option of its environment says so.
const MIXED: &[&str] =
    &["int64_double", "int64_uint64", "uint64_double", "uint64_int64", "double_int64", "double_uint64"];

static DIFFERENCES: &[Difference] = &[
    Difference { functions: &["getMilliseconds"], has: [Other(&MILLISECONDS), Other(&MILLISECONDS)] },
    Difference { functions: &["indexOf"], has: [Other(&INDEX_OF), Other(&INDEX_OF)] },
    Difference { functions: &["lastIndexOf"], has: [Other(&LAST_INDEX_OF), Other(&LAST_INDEX_OF)] },
    Difference { functions: &["json.unmarshal"], has: [Other(&UNMARSHAL), Nothing] },
    Difference { functions: &["json.marshal", "hash.", "random.", "merge", "deepMerge"], has: [Same, Nothing] },
    Difference {
        functions: &["lists.setAtIndex", "lists.insertAtIndex", "lists.removeAtIndex", "base64."],
        has: [Same, Nothing],
    },
    Difference {
        functions: &["slice", "flatten", "sort", "@sortByAssociatedKeys", "distinct", "reverse", "lists.range"],
        has: [Same, Nothing],
    },
    Difference { functions: &["math.", "regex.", "range", "jsonpatch."], has: [Nothing, Nothing] },
    Difference { functions: &["sets.", "format.", "validate"], has: [Nothing, Same] },
    Difference { functions: &["_<_", "_<=_", "_>_", "_>=_"], has: [Without(MIXED), Same] },
];

/// The functions with another meaning.
static VARIANTS: &[&Variant] = &[&MILLISECONDS, &INDEX_OF, &LAST_INDEX_OF, &UNMARSHAL];

static MILLISECONDS: Variant = Variant {
    name: "getMilliseconds of cel-go",
    function: "getMilliseconds",
    bodies: &[("duration_to_milliseconds", |cx, given| value_of(all_milliseconds, cx, given))],
};

static INDEX_OF: Variant = Variant {
    name: "indexOf of cel-go",
    function: "indexOf",
    bodies: &[("string_index_of_string_int", |cx, given| value_of(index_in, cx, given))],
};

static LAST_INDEX_OF: Variant = Variant {
    name: "lastIndexOf of cel-go",
    function: "lastIndexOf",
    bodies: &[("string_last_index_of_string_int", |cx, given| value_of(last_index_in, cx, given))],
};

static UNMARSHAL: Variant = Variant {
    name: "json.unmarshal of kro",
    function: "json.unmarshal",
    bodies: &[("json.unmarshal_string", |cx, given| value_of(manifests::unmarshal_doubles, cx, given))],
};

impl Variant {
    /// Returns the intrinsic.
    fn of(&self, function: &Builtin) -> Builtin {
        let Params::Overloaded(overloads) = &function.params else { return function.clone() };
        let body = |id: &str| self.bodies.iter().find(|(other, _)| *other == id).map(|(_, body)| *body);
        let changed = |of: &Overload| Overload { body: body(of.id).unwrap_or(of.body), ..of.clone() };
        Builtin {
            kind: ImportKind::Intrinsic,
            name: self.name.into(),
            params: Params::Overloaded(overloads.iter().map(changed).collect()),
            examples: (&[]).into(),
            body: Body::Overloaded,
            ..function.clone()
        }
    }
}

impl Difference {
    fn is_of(&self, name: &str) -> bool {
        let is_of = |of: &&str| if of.ends_with('.') { name.starts_with(*of) } else { name == *of };
        self.functions.iter().any(is_of)
    }
}

/// Adds the functions with another meaning to all libraries.
pub(crate) fn add_variants(registry: &mut Registry) {
    for variant in VARIANTS {
        let found = registry.get(ImportKind::Function, variant.function).map(|function| variant.of(function));
        found.into_iter().for_each(|intrinsic| registry.replace(intrinsic));
    }
}

/// Returns the functions of an implementation among `all`, and those of the embedding program. Those of another name than
/// `kro` and `kubernetes` are all.
///
/// ```
/// use dropforge::bytecode::ImportKind::Function;
/// use dropforge::dialect::cel::{dialects, registry};
/// let (kro, kubernetes) = (dialects::functions(&registry(), "kro"), dialects::functions(&registry(), "kubernetes"));
/// assert!(kro.get(Function, "json.marshal").is_some() && kro.get(Function, "sets.contains").is_none());
/// assert!(kubernetes.get(Function, "json.marshal").is_none() && kubernetes.get(Function, "sets.contains").is_some());
/// ```
pub fn functions(all: &Registry, implementation: &str) -> Registry {
    let mut registry = all.clone();
    let Some(column) = IMPLEMENTATIONS.iter().position(|id| *id == implementation) else { return registry };
    let has = |name: &str| DIFFERENCES.iter().find(|row| row.is_of(name)).and_then(|row| row.has.get(column)).copied();
    let is_function = |builtin: &Builtin| builtin.kind == ImportKind::Function;
    registry.retain(|one| !is_function(one) || !matches!(has(&one.name), Some(Nothing)));
    for function in all.iter().filter(|function| is_function(function)) {
        match has(&function.name) {
            Some(Without(ids)) => registry.replace(without(function, ids)),
            Some(Other(variant)) => {
                registry.replace(Builtin { compiles_to: Some(variant.name), ..Builtin::clone(function) });
            }
            Some(Same | Nothing) | None => {}
        }
    }
    registry
}

/// Returns a function without overloads whose ids end in one of `ids`.
fn without(function: &Builtin, ids: &[&str]) -> Builtin {
    let Params::Overloaded(overloads) = &function.params else { return function.clone() };
    let kept = overloads.iter().filter(|of| !ids.iter().any(|id| of.id.ends_with(id))).cloned();
    Builtin { params: Params::Overloaded(kept.collect()), ..function.clone() }
}

/// Returns `true` if an implementation requires one type for the elements of a literal list, and for the keys and the values
/// of a literal map.
pub fn has_homogeneous_literals(implementation: &str) -> bool {
    implementation == "kubernetes"
}

/// Returns the macros that an implementation lacks.
pub fn missing_macros(implementation: &str) -> &'static [&'static str] {
    if implementation == "kubernetes" { &["cel.bind", "sortBy"] } else { &[] }
}

/// The help for functions and macros that only other implementations have.
pub(crate) const ELSEWHERE: &str =
    "the implementation that `--cel-dialect` names does not have it: `spec` has all functions";

/// Returns the help for a function that is unknown, but not in all implementations.
pub(crate) fn help_for_unknown(name: &str) -> Option<String> {
    let is_known = crate::builtins::kubernetes().get(ImportKind::Function, name).is_some();
    is_known.then(|| ELSEWHERE.to_owned())
}
