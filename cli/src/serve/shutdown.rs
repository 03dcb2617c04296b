//! Signals that end the service.

use tokio::signal::unix::{SignalKind, signal};

/// Resolves on the first interrupt, termination or hangup signal. A second one ends the process at once.
///
/// A hangup counts even if the process was started to ignore it, so that it ends a service everywhere.
pub(super) fn shutdown() -> std::io::Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut hangup = signal(SignalKind::hangup())?;
    let mut next = async move || {
        tokio::select! {
            _ = interrupt.recv() => 130,
            _ = terminate.recv() => 143,
            _ = hangup.recv() => 129,
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move { std::process::exit(next().await) });
    })
}
