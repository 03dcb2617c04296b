//! Attributes: variables with the fields and elements below them; and patterns of unknown attributes.

mod attribute;
mod matching;
mod pattern;
mod text;

pub(super) use attribute::{Attribute, attribute};
pub(super) use matching::{Alternative, Match, Patterns, trail};
pub use pattern::Pattern;
pub(super) use pattern::{Key, Qualifier};
