//! Files and bodies of the JSON syntax.

mod body;
mod file;

pub(super) use body::JsonBody;
pub(super) use file::JsonFile;
