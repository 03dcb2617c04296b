//! `dropforge hcl`: decoding and formatting of HCL files.

mod command;
mod decode;
mod file_names;
mod fmt;

pub(crate) use command::{HclArgs, run};
pub(crate) use file_names::is_configuration;
