//! Values as Go sees them: their types, truth, equality, text.

mod equal;
mod kind;
mod make;

pub(crate) use equal::deep_equal;
pub use kind::{BYTES, CERTIFICATE, INTS, Kind, STRINGS, items, kind, map_of, text_bytes, truth, type_name};
pub(crate) use kind::{CHUNKS, COMPLEX, NIL_LIST, STRING_MAP, complex_parts, target_name};
pub(crate) use make::{byte_list, nil_list};
pub use make::{int64, integers, sized, string, strings};

pub use super::print::print;
pub(crate) use super::print::strval;
