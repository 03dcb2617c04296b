//! `catalog backup` and `catalog restore`: copies of an SQLite catalog.

use std::path::PathBuf;
use std::time::Duration;

use super::client::{Client, ClientResult, ConnectionArgs, path};
use super::output::{Output, rows, text};
use crate::console::Console;
use crate::duration::duration;
use crate::exit::Exit;
use clap::Args;
use dropforge::diagnostics::{Code, Diagnostic, counted, thousands};
use dropforge_catalog::store::{self, StoreResult};
use humansize::{BINARY, format_size};
use serde_json::{Value as Json, json};
use uuid::Uuid;

/// Copy an SQLite catalog to a file, also while a service uses it
///
///     dropforge catalog backup --db catalog.db catalog.backup
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct BackupArgs {
    /// The file to write
    file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// Replace an SQLite catalog by a backup, after checking it
///
///     dropforge catalog restore --db catalog.db catalog.backup
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RestoreArgs {
    /// The backup to read
    file: PathBuf,
    /// Replace an existing catalog
    #[arg(long)]
    force: bool,
}

/// Runs `backup`.
pub(crate) fn back_up(connection: &ConnectionArgs, args: &BackupArgs, console: &Console) -> ClientResult<Exit> {
    let db = connection.file("backup")?;
    let bytes = run(store::back_up(db, &args.file, args.force))?;
    console.note(&format!("copied `{db}` to `{}`: {}", args.file.display(), format_size(bytes, BINARY)));
    Ok(Exit::Ok)
}

/// Runs `restore`.
pub(crate) fn restore(connection: &ConnectionArgs, args: &RestoreArgs, console: &Console) -> ClientResult<Exit> {
    let db = connection.file("restore")?;
    let from = args.file.to_str().ok_or_else(|| Diagnostic::new(Code::Usage, "the name of the backup is not UTF-8"))?;
    let bytes = run(store::restore(from, db, args.force))?;
    console.note(&format!("restored `{db}` from `{from}`: {}", format_size(bytes, BINARY)));
    Ok(Exit::Ok)
}

fn run(work: impl Future<Output = StoreResult<u64>>) -> ClientResult<u64> {
    let broken = |error: std::io::Error| Diagnostic::new(Code::Internal, format!("cannot start: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let done = runtime.block_on(work);
    done.map_err(|error| Diagnostic::new(Code::CatalogUnreachable, error.to_string()).into())
}

/// Remove what was deleted for good, and old audit entries
///
///     dropforge catalog purge --older-than 30d
///
/// Removes stacks, objects and template versions that were deleted. Versions stay
/// while the provenance of an object names them.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PurgeArgs {
    /// Remove what was deleted longer ago: 30d, 12h, 0s
    #[arg(long, value_name = "AGE", value_parser = duration)]
    older_than: Duration,
    /// Also remove the entries of the audit trail that are older than this: 365d [default: keep all]
    #[arg(long, value_name = "AGE", value_parser = duration)]
    audit_older_than: Option<Duration>,
}

/// Removes deleted rows and old audit entries.
pub(crate) fn purge(client: &Client, args: &PurgeArgs, output: &Output) -> ClientResult<Exit> {
    let age = |age: Duration| u32::try_from(age.as_secs()).unwrap_or(u32::MAX);
    let request = json!({
        "older_than_seconds": age(args.older_than),
        "audit_older_than_seconds": args.audit_older_than.map(age),
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
        if args.audit_older_than.is_some() {
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

/// List who changed what, when, and from where, newest first
///
///     dropforge catalog audit
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AuditArgs {
    /// List only the changes of this object
    #[arg(long, value_name = "ID")]
    object: Option<Uuid>,
    /// Set the maximum number of changes
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Continue a list before the change with this ID
    #[arg(long, value_name = "ID")]
    before: Option<Uuid>,
}

/// Runs the command.
pub(crate) fn run(client: &Client, args: &AuditArgs, output: &Output) -> ClientResult<Exit> {
    let (limit, id) = (args.limit.to_string(), |id: &Option<Uuid>| id.as_ref().map(Uuid::to_string));
    let (object, before) = (id(&args.object), id(&args.before));
    let mut query = vec![("limit", limit.as_str())];
    query.extend(object.as_deref().map(|id| ("object", id)));
    query.extend(before.as_deref().map(|id| ("cursor", id)));
    let changes = client.get(&path("/audit", &query))?;
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
