//! The members of lists and maps that are gathered one after another.

use super::event::Member;
use dropforge_value::assign::Step;

/// What is gathered, and where each open gathering begins.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    members: Vec<Member>,
    starts: Vec<usize>,
}

impl Gathered {
    /// Returns the members of the innermost gathering.
    pub fn innermost(&self) -> &[Member] {
        self.members.get(self.starts.last().copied().unwrap_or(0)..).unwrap_or(&[])
    }

    /// Begins a gathering, or ends those beyond `open`.
    pub fn follow(&mut self, open: usize) {
        if open > self.starts.len() {
            self.starts.push(self.members.len());
        }
        if let Some(start) = self.starts.get(open).copied() {
            self.starts.truncate(open);
            self.members.truncate(start);
        }
    }

    /// Adds members to the innermost gathering. Items get the next index.
    pub fn add(&mut self, members: &[Member], are_items: bool) {
        let next = self.innermost().len();
        let added = members.iter().cloned().map(|member| match are_items {
            true => Member { step: Step::Index(next), ..member },
            false => member,
        });
        self.members.extend(added);
    }
}
