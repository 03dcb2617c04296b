//! Names in scope.

use std::collections::HashMap;

/// A stack of names with values, which finds the latest of equal names without a search.
///
/// ```
/// use dropforge::stdlib::name_stack::NameStack;
/// let mut names = NameStack::default();
/// names.push("a", 1);
/// let known = names.len();
/// names.push("a", 2);
/// assert_eq!(names.latest("a"), Some((1, &2)));
/// names.truncate(known);
/// assert_eq!((names.latest("a"), names.latest("b")), (Some((0, &1)), None));
/// ```
#[derive(Debug, Clone)]
pub struct NameStack<'n, T> {
    /// Each name, its value, and the place of the name before it that is equal.
    entries: Vec<(&'n str, T, Option<usize>)>,
    latest: HashMap<&'n str, usize>,
}

impl<T> Default for NameStack<'_, T> {
    fn default() -> Self {
        Self { entries: Vec::new(), latest: HashMap::new() }
    }
}

impl<'n, T> NameStack<'n, T> {
    /// Returns a stack of one name.
    pub fn of(name: &'n str, value: T) -> Self {
        let mut names = Self::default();
        names.push(name, value);
        names
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if there are no names.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a name.
    pub fn push(&mut self, name: &'n str, value: T) {
        let before = self.latest.insert(name, self.entries.len());
        self.entries.push((name, value, before));
    }

    /// Removes all but the first `count` names.
    pub fn truncate(&mut self, count: usize) {
        while self.entries.len() > count {
            let Some((name, _, before)) = self.entries.pop() else { return };
            match before {
                Some(before) => self.latest.insert(name, before),
                None => self.latest.remove(name),
            };
        }
    }

    /// Returns the place and the value of the latest of the equal names.
    pub fn latest(&self, name: &str) -> Option<(usize, &T)> {
        let at = *self.latest.get(name)?;
        self.entries.get(at).map(|(_, value, _)| (at, value))
    }
}
