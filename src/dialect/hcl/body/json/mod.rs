//! Files and bodies of the JSON syntax.

mod body;
mod errors;
mod file;
mod programs;

pub(super) use body::JsonBody;
pub(super) use file::JsonFile;
