//! Lists while the grammar reads them: a list grows on a stack that all lists of its kind share, the inner ones above
//! the outer ones, and moves to the arena when it is complete.

use bumpalo::Bump;
use hashbrown::HashSet;

/// The lists of one kind that are being read.
#[derive(Debug)]
pub struct Stack<T>(Vec<T>);

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Stack<T> {
    /// Begins a list: where it begins.
    pub fn first(&mut self, one: T) -> usize {
        self.0.push(one);
        self.0.len() - 1
    }

    /// Adds to the list that begins at `list`, which it gives back.
    pub fn next(&mut self, list: usize, one: T) -> usize {
        self.0.push(one);
        list
    }

    /// Takes the list that begins at `list` off the stack.
    pub fn split_off(&mut self, list: usize) -> Vec<T> {
        self.0.split_off(list.min(self.0.len()))
    }

    /// Forgets all lists.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<T: Copy> Stack<T> {
    /// Moves the list that begins at `list` to the arena; none is empty.
    pub fn keep<'a>(&mut self, list: Option<usize>, arena: &'a Bump) -> &'a [T] {
        let Some(list) = list else { return &[] };
        let kept = arena.alloc_slice_copy(self.0.get(list..).unwrap_or(&[]));
        self.0.truncate(list);
        kept
    }

    /// As [`Stack::keep`]; of those that have one name, only the last.
    pub fn keep_last_of_each<'a>(
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
