//! The first administrator key: printed, or written to a file that did not exist.

use std::fs::{File, OpenOptions, remove_file};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge_catalog::{Catalog, CatalogError, new_key};

use crate::exit::Failed;
use crate::output::print;
use crate::stderr::Stderr;

/// Creates a key if the catalog has none, and prints it.
pub(super) async fn printed(catalog: &Catalog, stderr: &Stderr) -> Result<(), Failed> {
    match catalog.initialise(None).await.map_err(unusable)? {
        Some(key) => Ok(print(format!("{key}\n"))?),
        None => {
            stderr.note("the catalog has an administrator key: no other was created");
            Ok(())
        }
    }
}

/// Creates a key if the catalog has none, and writes it to `path`, which must not exist.
///
/// The file is complete before the catalog knows the key, so the key is never lost.
pub(super) async fn written(path: &Path, catalog: &Catalog, stderr: &Stderr) -> Result<(), Failed> {
    if catalog.has_admin_key().await.map_err(unusable)? {
        stderr.note("the catalog has an administrator key: no other was created");
        return Ok(());
    }
    let key = new_key().map_err(unusable)?;
    write_new(path, &key)?;
    let added = catalog.initialise(Some(&key)).await;
    if !matches!(added, Ok(Some(_))) {
        // Nobody can use this key.
        let _ = remove_file(path);
    }
    if added.map_err(unusable)?.is_some() {
        stderr.note(&format!("wrote the administrator key to `{}`", path.display()));
    }
    Ok(())
}

/// Writes a key to a new file that only its owner can read.
fn write_new(path: &Path, key: &str) -> Result<(), Failed> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let file = file.map_err(|error| refused(path, &error))?;
    fill(file, key).map_err(|error| {
        let _ = remove_file(path);
        refused(path, &error)
    })
}

fn fill(mut file: File, key: &str) -> std::io::Result<()> {
    writeln!(file, "{key}")?;
    file.sync_all()
}

fn refused(path: &Path, error: &std::io::Error) -> Failed {
    let shown = path.display();
    if error.kind() != ErrorKind::AlreadyExists {
        let message = format!("cannot write the administrator key to `{shown}`: {error}");
        return Diagnostic::new(Code::WriteFailed, message).into();
    }
    let message =
        format!("cannot write the administrator key to `{shown}`: the file exists, and the catalog has no key");
    let help = format!("name another file, or use the key in this one with `--init-key-file {shown}`");
    Diagnostic::new(Code::WriteFailed, message).with_help(help).into()
}

fn unusable(error: CatalogError) -> Failed {
    let cause = error.cause.as_deref().map(|cause| format!(": {cause}")).unwrap_or_default();
    Diagnostic::new(Code::CatalogUnreachable, format!("cannot create the administrator key: {error}{cause}")).into()
}
