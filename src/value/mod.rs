//! Values. [`Data`] is the owned form: inputs read from files, results handed out.

mod data;

pub use data::{Data, DataMap};
