//! Clients of object stores, configured from the environment.

use std::sync::Arc;

use object_store::RetryConfig;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;

use super::clock::Skew;
use super::failure::Failure;
use super::http::Connector;
use super::location::{Bucket, Kind};
use super::store::{Client, StoreOptions};
use dropforge_base::diagnostics::Result;

/// Sets the options that a builder knows by the names of environment variables.
macro_rules! set {
    ($builder:expr, $settings:expr) => {
        $settings.iter().fold($builder, |builder, (name, value)| match name.to_ascii_lowercase().parse() {
            Ok(key) => builder.with_config(key, value),
            Err(_) => builder,
        })
    };
}

/// Returns the client of a bucket. Requests are not repeated: see [`Patience`](super::Patience).
///
/// # Errors
/// `store.failed` for a configuration that cannot be used.
pub(super) fn open(bucket: &Bucket, options: &StoreOptions, skew: Arc<Skew>) -> Result<Arc<dyn Client>> {
    let http = Connector { timeout: options.timeout, connections: options.connections, skew };
    let once = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let (name, settings) = (&bucket.name, &options.settings);
    let opened: object_store::Result<Arc<dyn Client>> = match bucket.kind {
        Kind::S3 => {
            let builder = set!(AmazonS3Builder::from_env(), settings).with_bucket_name(name).with_retry(once);
            builder.with_http_connector(http).build().map(|store| Arc::new(store) as _)
        }
        Kind::Google => {
            let builder = set!(GoogleCloudStorageBuilder::from_env(), settings).with_bucket_name(name).with_retry(once);
            builder.with_http_connector(http).build().map(|store| Arc::new(store) as _)
        }
        Kind::Azure => {
            let builder = set!(MicrosoftAzureBuilder::from_env(), settings).with_container_name(name).with_retry(once);
            builder.with_http_connector(http).build().map(|store| Arc::new(store) as _)
        }
    };
    opened.map_err(|error| {
        let help = match bucket.kind {
            Kind::S3 => "set AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL if needed",
            Kind::Google => "set GOOGLE_SERVICE_ACCOUNT or GOOGLE_APPLICATION_CREDENTIALS",
            Kind::Azure => "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        };
        Failure::from(error).diagnostic("open", &bucket.to_string()).with_help(help)
    })
}
