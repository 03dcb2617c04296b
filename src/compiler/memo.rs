//! What compilers keep from one compilation to the next.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

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
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Memo {
    kept: Arc<Mutex<HashMap<TypeId, Box<dyn Any + Send>>>>,
}

impl Memo {
    /// Takes the results of this type. They are gone until they are kept again.
    pub fn take<T: Any + Send>(&self) -> Option<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(&TypeId::of::<T>())?.downcast().ok().map(|results| *results)
    }

    /// Keeps results of a type, in place of earlier ones.
    pub fn keep<T: Any + Send>(&self, results: T) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(TypeId::of::<T>(), Box::new(results));
    }
}
