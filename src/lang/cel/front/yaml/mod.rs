//! `cel-yaml`: YAML templates, in which maps have directives (`$let`, `$if`, `$for`, …) and scalars have `${ }`.
//!
//! [`read`] parses a file and everything that it includes by a constant name into [`Templates`]: trees with parsed
//! expressions and resolved names. The module `check` finds type errors. Errors have a position in the file, and a path
//! (`items[0].metadata.name`) as a field of the diagnostic.
//!
//! ```
//! use dropforge::compiler::NoLoader;
//! use dropforge::dialect::cel::yaml::{NodeKind, Options, read};
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! let source = Source::new("t.yaml", "$let: {app: \"'web'\"}\nname: ${app}-${env}\n");
//! let templates = read(&source, &NoLoader, &Limits::default(), &Options::default()).unwrap();
//! let file = templates.entry();
//! let name = &file.expressions()[1];
//! assert_eq!((source.slice(name.span), file.path(name.owner)), ("app", "name".to_owned()));
//! assert!(name.free[0].variable.is_some());
//!
//! let source = Source::new("t.yaml", "a:\n  - $fro: x in xs\n  - ${1 +}\n");
//! let errors = read(&source, &NoLoader, &Limits::default(), &Options::default()).unwrap_err();
//! let reported: Vec<_> = errors.iter().map(|e| format!("{} {}", e.position().unwrap(), e.fields["path"])).collect();
//! assert_eq!(reported, ["2:5 a[0]", "3:10 a[1]"]);
//! ```

mod check;
mod load;
mod lower;
mod marks;
mod syntax;

pub use check::check;
pub use load::{Templates, read, resolve};
pub use marks::marks;
pub use syntax::{
    Assert, Binding, BuildOptions as Options, Candidate, Condition, DeclaredId, DeclaredName, Directives, ExpressionId,
    File, FileId, For, Free, If, Include, Item, Let, LetValue, Map, MapId, NodeId, NodeKind, PathStep, Run, Target,
    TemplateEntry, TemplateExpression, TemplateNode, TextPart, Variable, VariableId, VariableKind, With,
};

use std::borrow::Borrow;
use std::hash::Hash;

use hashbrown::HashMap;

use super::{RawFiles, strictness, syntax_of};
use check::{Checks, check_again};
use dropforge_base::diagnostics::{Code, Diagnostic, at_most, without_duplicates};
use dropforge_machine::compiler::{Compiled, Unit};
use load::read_again;
use lower::compile_templates;
use syntax::{BuildOptions, ParsedExpressions};

/// What a compilation keeps for the next one.
#[derive(Default)]
struct Kept {
    parsed: ParsedExpressions,
    checks: Checks,
}

/// Compiles a template with everything that it includes.
///
/// # Errors
/// All errors of the files; limits of the code's size.
pub fn compile(unit: &Unit<'_>) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    let Some(memo) = unit.memo else { return compile_again(unit, &mut Kept::default()) };
    let mut kept = memo.take::<Kept>().unwrap_or_default();
    let compiled = compile_again(unit, &mut kept);
    memo.keep(kept);
    compiled
}

/// Compiles a template, except for parts that were parsed and checked before.
fn compile_again(unit: &Unit<'_>, kept: &mut Kept) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    kept.parsed.next_round();
    let options = BuildOptions { strict_let: unit.strict, expressions: syntax_of(unit) };
    let mut templates = read_again(unit.entry, unit.loader, unit.limits, &options, &mut kept.parsed)?;
    let compiled = check_and_lower(unit, &mut templates, &mut kept.checks);
    if let Some(memo) = unit.memo {
        memo.leave(templates);
    }
    compiled
}

fn check_and_lower(
    unit: &Unit<'_>,
    templates: &mut Templates,
    checks: &mut Checks,
) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    let errors = check_again(templates, unit.registry, strictness(unit), unit.limits, checks);
    if !errors.is_empty() {
        return Err(errors);
    }
    let unlisted = unlisted(templates, unit);
    if !unlisted.is_empty() {
        return Err(unlisted);
    }
    let files = RawFiles::new(unit);
    let program = compile_templates(templates, unit, &files).map_err(|error| vec![error])?;
    let (mut reaches, lints) = files.into_parts();
    reaches.extend(templates.files().iter().skip(1).map(|file| file.source.name().to_owned()));
    let lints = std::mem::take(&mut templates.lints).into_iter().chain(lints).collect();
    let lints = at_most(without_duplicates(lints), unit.limits.diagnostics, 0);
    Ok(Compiled { program, lints, reaches: reaches.into_iter().collect(), tree: None })
}

/// Returns the errors of includes with computed paths, if the loader cannot list the files.
fn unlisted(templates: &Templates, unit: &Unit<'_>) -> Vec<Box<Diagnostic>> {
    let message = "the path of `$include` is made when the template is rendered, and the loader has no list of the files \
                   that there are";
    let error = |(file, include): (&File, &Include)| {
        let error = Diagnostic::new(Code::UnknownTemplate, message).at(&file.source, include.span, "");
        error.with_field("path", file.path(include.path))
    };
    let maps = templates.files().iter().flat_map(|file| file.maps.iter().map(move |map| (file, map)));
    let includes = maps.filter_map(|(file, map)| Some((file, map.directives().include.as_deref()?)));
    let is_dynamic = |(_, include): &(&File, &Include)| matches!(include.target, Target::Dynamic(..));
    let found: Vec<_> = includes.filter(is_dynamic).map(error).collect();
    if found.is_empty() || !unit.loader.names().is_empty() { Vec::new() } else { found }
}

/// Results by key. A round begins with those of the round before, and forgets those that it does not use.
#[derive(Debug, Clone)]
struct Recent<K, V> {
    used: HashMap<K, V>,
    earlier: HashMap<K, V>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { used: HashMap::new(), earlier: HashMap::new() }
    }
}

impl<K: Eq + Hash, V> Recent<K, V> {
    /// Begins a round.
    pub(crate) fn next_round(&mut self) {
        let used = HashMap::with_capacity(self.used.len());
        self.earlier = std::mem::replace(&mut self.used, used);
    }

    /// Returns a result, and `true` if this round has not used it before.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<(&V, bool)>
    where
        K: Borrow<Q>,
    {
        let again = if self.earlier.is_empty() { None } else { self.earlier.remove_entry(key) };
        let is_first = again.is_some();
        if let Some((key, result)) = again {
            self.used.insert(key, result);
        }
        self.used.get(key).map(|result| (result, is_first))
    }

    /// Adds a result.
    pub fn insert(&mut self, key: K, result: V) {
        self.used.insert(key, result);
    }
}

#[cfg(test)]
mod tests;
