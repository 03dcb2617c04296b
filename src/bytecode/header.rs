//! The ids of the languages, and the sets of them that the instruction table names by letters.

use std::fmt;

/// A language. The discriminant is its id in artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Dialect {
    /// `${params.x}` substitution, literal or shell-quoted.
    Tower = 1,
    /// Tera 1 templates.
    Tera = 2,
}

impl Dialect {
    /// Every language.
    pub const ALL: [Dialect; 2] = [Dialect::Tower, Dialect::Tera];

    /// The id a user types: `tera`.
    pub fn id(self) -> &'static str {
        match self {
            Dialect::Tower => "tower",
            Dialect::Tera => "tera",
        }
    }

    /// The language with this id.
    pub fn from_id(id: &str) -> Option<Dialect> {
        Self::ALL.into_iter().find(|dialect| dialect.id() == id)
    }

    /// Whether the name of an entry template decides on escaping for HTML.
    pub fn escapes_by_name(self) -> bool {
        matches!(self, Dialect::Tera)
    }

    const fn letter(self) -> char {
        match self {
            Dialect::Tower => 'W',
            Dialect::Tera => 'T',
        }
    }
}

/// A set of languages, written as their letters: `"WT"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialects(&'static str);

impl Dialects {
    pub(super) const fn of(letters: &'static str) -> Self {
        Self(letters)
    }

    /// Whether `dialect` is in the set.
    pub fn contains(self, dialect: Dialect) -> bool {
        self.0.contains(dialect.letter())
    }
}

impl fmt::Display for Dialects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Dialect::ALL.into_iter().filter(|d| self.contains(*d)).map(Dialect::id).collect();
        f.write_str(&names.join(", "))
    }
}
