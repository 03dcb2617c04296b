//! `catalog audit`: who changed what.

use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::client::{Client, ClientResult, path};
use super::output::Output;
use super::output::{rows, text};
use crate::exit::Exit;

/// Runs the command.
pub(crate) fn run(
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
