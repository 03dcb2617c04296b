//! Builds without keys and certificates.

use std::borrow::Cow;

use crate::error::failed;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_machine::function::Cx;
use dropforge_value::Value;

fn missing() -> Box<Diagnostic> {
    failed("this build cannot make keys and certificates: it lacks the feature `helm-crypto`")
}

/// The content of a certificate of a server.
#[expect(dead_code, reason = "nothing reads it in this build")]
pub(super) struct Server<'v> {
    pub name: Cow<'v, str>,
    pub addresses: Vec<std::net::IpAddr>,
    pub dns_names: Vec<Cow<'v, str>>,
    pub days: i64,
}

impl<'v> Server<'v> {
    /// Returns the error of this build.
    pub fn new(_: &Cx<'v>, _: [Value<'v>; 4]) -> Result<Self> {
        Err(missing())
    }
}

/// Returns the error of this build.
pub(super) fn pem_of(_: &Cx<'_>, _: &[u8]) -> Result<Option<String>> {
    Err(missing())
}

/// Returns the error of this build.
pub(super) fn issued<'v>(
    _: &Cx<'v>,
    _: &Server<'v>,
    _: bool,
    _: Option<Value<'v>>,
    _: Option<Value<'v>>,
) -> Result<Value<'v>> {
    Err(missing())
}

/// Returns the error of this build.
pub(super) fn check(_: &str, _: &str) -> Result<()> {
    Err(missing())
}
