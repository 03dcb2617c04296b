//! `catalog backup`, `catalog restore` and `catalog purge`: copies of a catalog, and the removal of what is no longer needed.

use std::path::Path;
use std::time::Duration;

use super::client::{Client, ClientResult, ConnectionArgs};
use super::output::Output;
use crate::exit::Exit;
use crate::stderr::Stderr;
use dropforge::diagnostics::{Code, Diagnostic, counted, thousands};
use dropforge_catalog::store::{self, Restored, StoreResult};
use humansize::{BINARY, format_size};
use serde_json::{Value as Json, json};

/// Runs `backup`.
pub(crate) fn back_up(connection: &ConnectionArgs, file: &Path, force: bool, stderr: &Stderr) -> ClientResult<Exit> {
    let db = connection.file("backup")?;
    let bytes = run(store::back_up(db, file, force))?;
    stderr.note(&format!("copied `{db}` to `{}`: {}", file.display(), format_size(bytes, BINARY)));
    Ok(Exit::Ok)
}

/// Runs `restore`.
pub(crate) fn restore(connection: &ConnectionArgs, file: &Path, force: bool, stderr: &Stderr) -> ClientResult<Exit> {
    let db = connection.file("restore")?;
    let from = file.to_str().ok_or_else(|| Diagnostic::new(Code::Usage, "the name of the backup is not UTF-8"))?;
    let Restored { bytes, is_sealed } = run(store::restore(from, db, force))?;
    if !is_sealed {
        stderr.warning(&format!("`{from}` has no digest, as backups have: only its structure was checked"));
    }
    stderr.note(&format!("restored `{db}` from `{from}`: {}", format_size(bytes, BINARY)));
    Ok(Exit::Ok)
}

fn run<T>(work: impl Future<Output = StoreResult<T>>) -> ClientResult<T> {
    let broken = |error: std::io::Error| Diagnostic::new(Code::Internal, format!("cannot start: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let done = runtime.block_on(work);
    done.map_err(|error| Diagnostic::new(Code::CatalogUnreachable, error.to_string()).into())
}

/// Removes deleted rows and old audit entries.
pub(crate) fn purge(
    client: &Client,
    older_than: Duration,
    audit_older_than: Option<Duration>,
    output: &Output,
) -> ClientResult<Exit> {
    let age = |age: Duration| u32::try_from(age.as_secs()).unwrap_or(u32::MAX);
    let request = json!({
        "older_than_seconds": age(older_than),
        "audit_older_than_seconds": audit_older_than.map(age),
    });
    let mut all = json!({ "objects": 0, "stacks": 0, "templates": 0, "audit_entries": 0 });
    loop {
        let purged = client.post("/purge", &request)?;
        for kind in ["objects", "stacks", "templates", "audit_entries"] {
            all[kind] = json!(number(&all, kind) + number(&purged, kind));
        }
        all["kept_templates"] = purged["kept_templates"].clone();
        if purged["more"] != true {
            break;
        }
    }
    output.result(&all, || {
        let mut removed = format!(
            "removed {}, {} and {}\n",
            counted(number(&all, "stacks"), "stack"),
            counted(number(&all, "objects"), "object"),
            counted(number(&all, "templates"), "template version")
        );
        if audit_older_than.is_some() {
            removed.push_str(&format!("audit entries removed: {}\n", thousands(number(&all, "audit_entries"))));
        }
        match number(&all, "kept_templates") {
            0 => removed,
            kept => {
                format!(
                    "{removed}kept {}, from which objects were rendered\n",
                    counted(kept, "deleted template version")
                )
            }
        }
    })?;
    Ok(Exit::Ok)
}

fn number(value: &Json, kind: &str) -> usize {
    value[kind].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}
