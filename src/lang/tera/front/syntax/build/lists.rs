//! Lists during parsing. All lists of one kind grow on one stack, inner ones above outer ones, and move to the arena
//! when they are complete.

use bumpalo::Bump;
use hashbrown::HashSet;

/// The lists of one kind under construction. A list is identified by its start.
#[derive(Debug)]
pub struct Stack<T>(Vec<T>);

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Stack<T> {
    /// Creates an empty stack with room for `len` elements.
    pub fn with_capacity(len: usize) -> Self {
        Self(Vec::with_capacity(len))
    }

    /// Begins an empty list.
    pub fn begin(&self) -> usize {
        self.0.len()
    }

    /// Begins a list with its first element.
    pub fn first(&mut self, one: T) -> usize {
        self.next(self.begin(), one)
    }

    /// Adds to the innermost list, which begins at `list`, and returns it.
    pub fn next(&mut self, list: usize, one: T) -> usize {
        self.0.push(one);
        list
    }

    /// Adds to the innermost list.
    pub fn push(&mut self, one: T) {
        self.0.push(one);
    }

    /// Removes the list that begins at `list` from the stack.
    pub fn split_off(&mut self, list: usize) -> Vec<T> {
        self.0.split_off(list.min(self.0.len()))
    }
}

impl<T: Copy> Stack<T> {
    /// Moves the list that begins at `list` to the arena. `None` is an empty list.
    pub fn keep<'a>(&mut self, list: Option<usize>, arena: &'a Bump) -> &'a [T] {
        let Some(list) = list else { return &[] };
        let kept = arena.alloc_slice_copy(self.0.get(list..).unwrap_or(&[]));
        self.0.truncate(list);
        kept
    }

    /// Moves a list to the arena like [`Stack::keep`], without elements whose names are repeated later.
    pub(crate) fn keep_last_of_each<'a>(
        &mut self,
        list: Option<usize>,
        arena: &'a Bump,
        name: impl Fn(&T) -> &'a str,
    ) -> &'a [T] {
        const FEW: usize = 8;
        let all = list.and_then(|list| self.0.get(list..)).unwrap_or(&[]);
        let doubled = |(at, one): (usize, &T)| all.iter().take(at).any(|other| name(other) == name(one));
        if all.len() <= FEW && !all.iter().enumerate().any(doubled) {
            return self.keep(list, arena);
        }
        let mut seen = HashSet::with_capacity(all.len());
        let mut kept: Vec<T> = all.iter().rev().filter(|one| seen.insert(name(one))).copied().collect();
        kept.reverse();
        self.0.truncate(list.unwrap_or(0));
        arena.alloc_slice_copy(&kept)
    }
}
