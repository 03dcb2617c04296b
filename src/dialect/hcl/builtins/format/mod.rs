//! `format` and `formatlist`: strings with values in the places of verbs such as `%s` and `%5.2f`.

mod functions;
mod numbers;
mod text;
mod verb;

pub(super) use functions::FORMATS;
