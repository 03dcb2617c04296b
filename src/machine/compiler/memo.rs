//! What compilers keep from one compilation to the next.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    contents: Arc<Mutex<Contents>>,
}

#[derive(Debug, Default)]
struct Contents {
    results: HashMap<TypeId, Box<dyn Any + Send>>,
    leftovers: Vec<Box<dyn Any + Send>>,
}

impl Memo {
    fn contents(&self) -> MutexGuard<'_, Contents> {
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
