//! Options of the way that requests come: TLS, or a proxy.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge_catalog::server::{Settings, Tls};

/// Options of the transport.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Transport")]
pub(crate) struct TransportArgs {
    /// Serve HTTPS with the certificates in this PEM file, which is read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key", env = "DROPFORGE_TLS_CERT")]
    tls_cert: Option<PathBuf>,
    /// Use the private key in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert", env = "DROPFORGE_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// A proxy in front ends TLS: take the addresses of clients from the last entry of `X-Forwarded-For`
    #[arg(long, env = "DROPFORGE_BEHIND_PROXY")]
    behind_proxy: bool,
}

impl TransportArgs {
    /// Applies the options to settings.
    pub(crate) fn apply(&self, settings: Settings) -> Result<Settings, Box<Diagnostic>> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(Tls::load(certificate, key).map_err(|error| Diagnostic::new(Code::Usage, error.to_string()))?)
            }
            _ => None,
        };
        Ok(Settings { tls, behind_proxy: self.behind_proxy, ..settings })
    }

    /// The scheme of the service's address.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls_cert.is_some() { "https" } else { "http" }
    }

    /// A warning if others could read keys on their way.
    pub(crate) fn warning(&self, address: SocketAddr) -> Option<String> {
        if address.ip().is_loopback() || self.tls_cert.is_some() || self.behind_proxy {
            return None;
        }
        Some(format!(
            "keys travel unencrypted to {address}: use `--tls-cert` and `--tls-key`, or `--behind-proxy` if a proxy ends TLS"
        ))
    }
}
