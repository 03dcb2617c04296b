//! The state that instructions read and write, as letters of the instruction table, and the errors that they end in.

use std::fmt;

use super::operands::choice;

choice! {
    /// The errors that an instruction may end in.
    #[derive(PartialOrd, Ord)]
    Fails {
        /// None.
        Never "",
        /// An exceeded limit, which nothing absorbs.
        Limit "limit",
        /// Any error.
        Error "error",
    }
}

choice! {
    /// A part of a run's state besides the stack.
    Place {
        /// The slots of the frame.
        Slots "slots",
        /// The top-level inputs.
        Inputs "inputs",
        /// The open loops.
        Loops "loops",
        /// The slots and loops of the callers, by name.
        Callers "callers",
        /// The output, or the captured text.
        Output "output",
        /// The gathered values.
        Gathered "gathered",
        /// The recorded errors.
        Notes "notes",
        /// The results kept during a run.
        Memos "memos",
        /// The latest result of the run.
        Result "result",
        /// The cost of the run.
        Cost "cost",
    }
}

impl Place {
    /// The letters in the instruction table.
    const LETTERS: [u8; Self::COUNT] = *b"SILCOGNMR$";

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of places.
///
/// ```
/// use dropforge::bytecode::{Op, Place};
/// assert_eq!(Op::Emit.info().writes.to_string(), "output, notes");
/// assert!(!Op::Emit.info().reads.contains(Place::Output));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Places(u16);

impl Places {
    /// No place.
    pub const NONE: Places = Places(0);

    /// Returns the places with these letters.
    pub(super) const fn of(letters: &'static str) -> Self {
        let (letters, mut set, mut letter) = (letters.as_bytes(), 0, 0);
        while letter < letters.len() {
            let mut place = 0;
            while Place::LETTERS[place] != letters[letter] {
                place += 1;
            }
            set |= 1 << place;
            letter += 1;
        }
        Self(set)
    }

    /// Returns `true` if `place` is in the set.
    pub const fn contains(self, place: Place) -> bool {
        self.0 & place.bit() != 0
    }

    /// Returns `true` if every place of `other` is in the set.
    pub const fn includes(self, other: Places) -> bool {
        other.0 & !self.0 == 0
    }

    /// Returns the set with `place`.
    #[must_use]
    pub const fn with(self, place: Place) -> Self {
        Self(self.0 | place.bit())
    }

    /// Returns the set without `place`.
    #[must_use]
    pub const fn without(self, place: Place) -> Self {
        Self(self.0 & !place.bit())
    }

    /// Returns the places in the set.
    pub fn iter(self) -> impl Iterator<Item = Place> {
        Place::ALL.into_iter().filter(move |place| self.contains(*place))
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter().map(Place::name).collect::<Vec<_>>().join(", "))
    }
}
