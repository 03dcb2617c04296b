//! Rust types that host functions return.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;

use serde::Serialize;

use super::HostFault;
use crate::function::context::Cx;
use dropforge_value::{Data, InputSpace, Value};

/// The error of a host function.
pub type HostError = Box<dyn Error + Send + Sync>;

/// The result of a host function: a number, a boolean, text, a list, a map, or the `Result` of any value that serializes
/// and of an error or a message.
pub trait HostResult {
    /// Converts to a value of the run.
    ///
    /// # Errors
    /// The error of the function; the value does not serialize; a limit of the render.
    #[doc(hidden)]
    fn into_value<'v>(self, cx: &Cx<'v>) -> Result<Value<'v>, HostFault>;
}

thread_local! {
    /// Memory for values on their way to a run.
    static SPACE: RefCell<InputSpace> = RefCell::default();
}

/// Converts a value that serializes. The run is charged for it.
fn serialized<'v, T: Serialize + ?Sized>(cx: &Cx<'v>, result: &T) -> Result<Value<'v>, HostFault> {
    let convert = |space: &mut InputSpace| {
        space.with(|builder| {
            let value = builder.serialize(result).map_err(|error| HostFault::Failed(error))?;
            cx.copied(value).map_err(HostFault::Limit)
        })
    };
    // A value may render templates while it is serialized.
    SPACE.with(|space| match space.try_borrow_mut() {
        Ok(mut space) => convert(&mut space),
        Err(_) => convert(&mut InputSpace::default()),
    })
}

impl<T: Serialize, E: Into<HostError>> HostResult for Result<T, E> {
    fn into_value<'v>(self, cx: &Cx<'v>) -> Result<Value<'v>, HostFault> {
        serialized(cx, &self.map_err(|error| HostFault::Failed(error.into()))?)
    }
}

impl HostResult for String {
    fn into_value<'v>(self, cx: &Cx<'v>) -> Result<Value<'v>, HostFault> {
        cx.text(&self).map_err(HostFault::Limit)
    }
}

macro_rules! results {
    ($($(@[$($generic:tt)*])? $rust:ty;)*) => {$(
        impl$(<$($generic)*>)? HostResult for $rust {
            fn into_value<'v>(self, cx: &Cx<'v>) -> Result<Value<'v>, HostFault> {
                serialized(cx, &self)
            }
        }
    )*};
}

results! {
    (); bool; char;
    i8; i16; i32; i64; i128; isize; u8; u16; u32; u64; u128; usize; f32; f64;
    &'static str; Cow<'static, str>; serde_json::Value; Data;
    @[T: Serialize] Vec<T>;
    @[T: Serialize] Option<T>;
    @[T: Serialize] BTreeMap<String, T>;
    @[T: Serialize] HashMap<String, T>;
}
