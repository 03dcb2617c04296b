//! The back end of the compiler: an [`Emitter`] that languages lower to.
//!
//! It has methods for constructs (text, paths, loops, calls, protected expressions), patches jumps, tracks the height
//! of the stack, coalesces text, folds constants and records spans. Each language supplies a [`Fold`] for its
//! constants.

mod emitter;
mod marks;
mod tables;

pub use emitter::{
    Constant, Emitter, Fold, KnownFailure, KnownFunction, KnownPath, Label, LoopMark, PathSpec, ProtectMark, RootSpec,
    SegmentSpec,
};
pub use marks::{Given, Key, Mark, MarkList, Named};

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::bytecode::Program;
use crate::function::Registry;
use dropforge_base::diagnostics::{self, Diagnostic};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::Source;

/// Finds templates by name.
pub trait Loader: Send + Sync {
    /// Loads the template `name`. Returns `None` if there is none, and an error if it exists but cannot or must not be
    /// read.
    fn load(&self, name: &str) -> diagnostics::Result<Option<Arc<Source>>>;

    /// Returns the loader that this one stands in front of. Without methods of its own, a loader lists what that lists.
    fn below(&self) -> Option<&dyn Loader> {
        None
    }

    /// Returns `true` if [`Loader::names`] has all names. Otherwise an error of a missing template does not say that there are
    /// no others when it has none.
    fn lists(&self) -> bool {
        self.below().is_some_and(Loader::lists)
    }

    /// Returns the known names of templates, for suggestions.
    fn names(&self) -> Vec<String> {
        self.below().map_or_else(Vec::new, Loader::names)
    }

    /// Returns the names of files, templates or not, that start and end like this, for names computed at render time.
    fn files(&self, prefix: &str, suffix: &str) -> Vec<String> {
        if let Some(below) = self.below() {
            return below.files(prefix, suffix);
        }
        let ends = |name: &String| name.strip_prefix(prefix).is_some_and(|rest| rest.ends_with(suffix));
        self.names().into_iter().filter(ends).collect()
    }

    /// Returns the path of the folder that names lead from, which diagnostics print before them.
    fn folder(&self) -> Option<Arc<str>> {
        self.below()?.folder()
    }
}

/// Finds nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLoader;

impl Loader for NoLoader {
    fn load(&self, _name: &str) -> diagnostics::Result<Option<Arc<Source>>> {
        Ok(None)
    }

    fn lists(&self) -> bool {
        true
    }
}

/// Adds the names that a loader lists to the error of a missing template.
pub fn with_names(error: Box<Diagnostic>, loader: &dyn Loader, names: &[String]) -> Box<Diagnostic> {
    if names.is_empty() && !loader.lists() {
        return error.with_note("the loader lists no names: implement `Loader::names` or `Loader::below`");
    }
    error.with_available(names.iter().map(String::as_str))
}

/// An entry template and everything needed to compile it.
#[derive(Clone, Copy)]
pub struct Unit<'u> {
    /// The entry template.
    pub entry: &'u Arc<Source>,
    /// The loader of other templates.
    pub loader: &'u dyn Loader,
    /// The available functions.
    pub registry: &'u Registry,
    /// The limits of compilation.
    pub limits: &'u Limits,
    /// `true` to escape the output: for HTML in languages where the entry template decides, for a shell in languages
    /// with a shell mode.
    pub escape: bool,
    /// `true` to read an ambiguous string as an expression rather than text, in languages with such strings.
    pub strict: bool,
    /// `true` if a presence test finds nothing in a value without members, in languages with such tests.
    pub lenient: bool,
    /// The implementation whose rules hold, in languages with several. Empty for the usual one.
    pub variant: &'u str,
    /// Further sources, in order, in languages whose templates share one name space.
    pub together: &'u [Arc<Source>],
    /// The value of a missing key, in languages with a choice.
    pub missing_key: MissingKey,
    /// The delimiters of actions, in languages with a choice.
    pub delimiters: Option<[&'u str; 2]>,
    /// `true` if the data is one input that may be any value, rather than the map of all inputs, in languages with both.
    pub any_data: bool,
    /// `true` to keep the tree of the entry template, in languages with checks that need it.
    pub keeps_tree: bool,
    /// What earlier compilations have kept, in languages that keep something.
    pub memo: Option<&'u Memo>,
}

/// The tree of a template, as its language has it.
type SyntaxTree = Arc<dyn Any + Send + Sync>;

/// The value of a missing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MissingKey {
    /// Null, which has no keys itself.
    #[default]
    Null,
    /// Nothing, and so is a key of it.
    Nothing,
    /// An error.
    Error,
}

impl MissingKey {
    /// Returns the mark before the names of paths: a language's rules see it when a key is missing.
    #[doc(hidden)]
    pub const fn mark(self) -> &'static str {
        match self {
            MissingKey::Null => "",
            MissingKey::Nothing => "?",
            MissingKey::Error => "!",
        }
    }
}

impl std::fmt::Debug for Unit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unit").field("entry", &self.entry.name()).field("escape", &self.escape).finish()
    }
}

/// A compiled unit.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Findings in code that may never run: unknown functions, templates and macros, with their positions.
    pub lints: Vec<Box<Diagnostic>>,
    /// The names of the other templates that it refers to, sorted.
    pub reaches: Vec<String>,
    /// The tree of the entry template, if it is kept.
    pub tree: Option<SyntaxTree>,
}

/// A compiled unit, or all errors of its sources.
pub type Compilation = Result<Compiled, Vec<Box<Diagnostic>>>;

/// Compiles units, in order, with `compile`. The size of all programs is limited, because each contains the code of all
/// templates that it includes: the one that exceeds the limit fails with `limit.code`, and so do all that follow.
pub fn compile_all(units: &[Unit<'_>], mut compile: impl FnMut(&Unit<'_>) -> Compilation) -> Vec<Compilation> {
    let mut bytes = 0;
    let bounded = |unit: &Unit<'_>| {
        let most = unit.limits.program_bytes;
        let compiled = if bytes <= most { Some(compile(unit)?) } else { None };
        bytes += compiled.as_ref().map_or(0, |compiled| compiled.program.bytes());
        compiled.filter(|_| bytes <= most).ok_or_else(|| vec![too_large(most)])
    };
    units.iter().map(bounded).collect()
}

#[cold]
fn too_large(most: usize) -> Box<Diagnostic> {
    Limit::ProgramBytes
        .error(most as u64)
        .with_note("the program of a template contains the code of all templates that it includes")
        .with_help("compile only the templates to render, or raise `Limits::program_bytes`")
}

/// The results that compilers keep for the next compilation of nearly the same source, such as the text of an editor. Clones
/// share them. It never changes what a compilation returns.
///
/// ```
/// use dropforge::engine::Memo;
/// use dropforge::{Dialect, Engine};
/// let memo = Memo::default();
/// for text in ["a: ${x + 1}", "a: ${x + 1}\nb: ${y}"] {
///     let engine = Engine::builder().memo(memo.clone()).build();
///     assert!(engine.compile(Dialect::CelYaml, "t.cel.yaml", text).is_ok());
///     memo.free();
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Memo {
    contents: Arc<Mutex<MemoContents>>,
}

#[derive(Debug, Default)]
struct MemoContents {
    results: HashMap<TypeId, Box<dyn Any + Send>>,
    leftovers: Vec<Box<dyn Any + Send>>,
}

impl Memo {
    fn contents(&self) -> MutexGuard<'_, MemoContents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the results of this type. They are gone until they are kept again.
    pub fn take<T: Any + Send>(&self) -> Option<T> {
        let taken = self.contents().results.remove(&TypeId::of::<T>());
        taken?.downcast().ok().map(|results| *results)
    }

    /// Keeps results of a type, in place of earlier ones.
    pub fn keep<T: Any + Send>(&self, results: T) {
        self.contents().results.insert(TypeId::of::<T>(), Box::new(results));
    }

    /// Leaves what is not used any more. To free a large tree takes as long as to check some parts of it.
    pub fn leave<T: Any + Send>(&self, leftover: T) {
        self.contents().leftovers.push(Box::new(leftover));
    }

    /// Frees what compilations have left. Call it when nobody waits for a result.
    pub fn free(&self) {
        let leftovers = std::mem::take(&mut self.contents().leftovers);
        drop(leftovers);
    }
}
