//! Work on a connection.

use std::pin::Pin;

/// The future of work on a connection.
pub(super) type WorkFuture<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;
