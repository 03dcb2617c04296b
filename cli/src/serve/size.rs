//! Options of probes and quotas.

use std::net::SocketAddr;

use clap::Args;

use dropforge_catalog::Quotas;
use dropforge_catalog::server::Settings;

use crate::input::size;

/// Probes and quotas.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Probes and quotas")]
pub(crate) struct SizeArgs {
    /// Serve /healthz, /readyz and /metrics on this address, too, without a key
    #[arg(long, value_name = "ADDRESS", env = "DROPFORGE_PROBE_LISTEN")]
    probe_listen: Option<SocketAddr>,
    /// Limit the template versions of each generator, or `off`
    #[arg(long, value_name = "N|off", default_value = "10000", env = "DROPFORGE_QUOTA_TEMPLATES", value_parser = count)]
    quota_templates: Quota,
    /// Limit the deployment objects of each generator, or `off`
    #[arg(long, value_name = "N|off", default_value = "1000000", env = "DROPFORGE_QUOTA_OBJECTS", value_parser = count)]
    quota_objects: Quota,
    /// Limit the bytes of templates, schemas and objects of each generator, or `off`
    #[arg(long, value_name = "SIZE|off", default_value = "10GiB", env = "DROPFORGE_QUOTA_BYTES", value_parser = bytes)]
    quota_bytes: Quota,
}

/// A quota, or none.
type Quota = Option<u64>;

fn count(text: &str) -> Result<Quota, String> {
    match text {
        "off" => Ok(None),
        number => number.parse().map(Some).map_err(|_| "expected a number, or `off`".to_owned()),
    }
}

fn bytes(text: &str) -> Result<Quota, String> {
    if text == "off" { Ok(None) } else { size(text).map(Some) }
}

impl SizeArgs {
    /// The quotas of each generator.
    pub(crate) fn quotas(&self) -> Quotas {
        Quotas { templates: self.quota_templates, objects: self.quota_objects, bytes: self.quota_bytes }
    }

    /// Applies the options to settings.
    pub(crate) fn apply(&self, settings: Settings) -> Settings {
        Settings { probe_listen: self.probe_listen, ..settings }
    }
}
