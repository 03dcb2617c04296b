//! From source to program: parsers, checks, lowering.

pub mod body;
#[doc(hidden)]
pub mod check;
pub(crate) mod compile;
pub(crate) mod data_file;
pub mod decode;
pub mod edit;
pub(crate) mod expression;
pub mod format;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod lower;
pub(crate) mod marks;
#[doc(hidden)]
pub mod name_suggestion;
#[doc(hidden)]
pub mod syntax;
pub mod typeexpr;
#[doc(hidden)]
pub mod value_notes;
pub(crate) mod variables;

pub use compile::compile;
pub use data_file::{find_data, read_data};
pub use expression::Expression;
pub use marks::{config_marks, marks};
pub use variables::Variables;
