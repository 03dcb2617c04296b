//! Object stores and OCI registries: inputs and outputs by URL, packs, and the commands `push` and `pull`.

mod inputs;
mod outputs;
pub(crate) mod pull;
pub(crate) mod push;
mod stored;

pub(crate) use inputs::{Fetched, is_url};
pub(crate) use outputs::{StoreTarget, output};
pub(crate) use stored::{StoredOutput, packed};

use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::remote::Location;
use dropforge::remote::oci::Reference;

/// Parses an argument of `push` and `pull`.
///
/// # Errors
/// `store.bad_url` for anything but `oci://…`.
fn reference(url: &str) -> Result<Reference> {
    match Location::parse(url)? {
        Some(Location::Registry(reference)) => Ok(reference),
        _ => Err(Diagnostic::new(Code::BadUrl, format!("`{url}` is not a URL of an OCI registry"))
            .with_help("write `oci://REGISTRY/NAME:TAG`")),
    }
}
