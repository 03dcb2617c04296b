//! Values as Go sees them: their types, truth, equality, text.

mod equal;
mod kind;
mod make;

pub(crate) use equal::deep_equal;
pub(crate) use kind::{
    BYTES, CERTIFICATE, CHUNKS, COMPLEX, INTS, Kind, NIL_LIST, STRING_MAP, STRINGS, complex_parts, items, kind, map_of,
    target_name, text_bytes, truth, type_name,
};
pub(crate) use make::{byte_list, int64, integers, nil_list, sized, string, strings};

pub(crate) use super::print::{print, strval};
