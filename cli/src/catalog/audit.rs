//! `catalog audit`: who changed what.

use clap::Args;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::client::{Client, ClientResult, path};
use super::output::Output;
use super::output::{rows, text};
use crate::exit::Exit;

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
