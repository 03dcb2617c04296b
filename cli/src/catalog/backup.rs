//! `catalog backup`, `restore`, `purge` and `audit`: copies of a catalog, what is no longer needed, and who changed what.

use std::path::Path;
use std::time::Duration;

use super::client::{Client, ClientResult, ConnectionArgs, path};
use super::output::{Output, rows, text};
use crate::exit::Exit;
use crate::stderr::Stderr;
use dropforge::diagnostics::{Code, Diagnostic, counted, thousands};
use dropforge_catalog::store::{self, Restored, StoreResult};
use humansize::{BINARY, format_size};
use serde_json::{Value as Json, json};
use uuid::Uuid;

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

/// Runs the command.
pub(crate) fn audit(
    client: &Client,
    (object, before): (Option<Uuid>, Option<Uuid>),
    limit: u32,
    output: &Output,
) -> ClientResult<Exit> {
    let [object, before] = [object, before].map(|id| id.map(|id| id.to_string()));
    let limit = limit.to_string();
    let mut query = vec![("limit", limit.as_str())];
    query.extend(object.as_deref().map(|id| ("object", id)));
    query.extend(before.as_deref().map(|id| ("cursor", id)));
    let changes = client.rows(&path("/audit", &query))?;
    if output.json {
        output.result(&changes, String::new)?;
    } else {
        let lines: Vec<Json> = rows(&changes).iter().map(line).collect();
        output.rows(&Json::Array(lines), &["at", "action", "object", "id", "detail", "by", "from"])?;
    }
    Ok(Exit::Ok)
}

/// A change as a line of the table.
fn line(change: &Json) -> Json {
    let name = match (text(change, "key_name"), text(change, "key_id")) {
        ("", id) => id,
        (name, _) => name,
    };
    let by = format!("{} {name}", text(change, "role"));
    let object = change["object_name"].as_str().unwrap_or_else(|| text(change, "object_kind"));
    json!({
        "at": change["at"], "action": change["action"], "object": object, "id": change["object_id"],
        "detail": change["detail"], "by": by.trim(), "from": change["address"],
    })
}
