//! Commands on keys.

use clap::Subcommand;
use serde_json::json;
use uuid::Uuid;

use dropforge_catalog::Role;

use super::client::{Client, ClientResult};
use super::output::Output;
use super::rows::{id, text};
use crate::exit::Exit;

/// Commands on keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key and print it; it is shown only once
    Create {
        /// Set the role: admin, readonly or agent
        #[arg(long, value_parser = role)]
        role: Role,
    },
    /// List keys, without their secrets
    List,
    /// Revoke a key immediately
    Revoke {
        /// ID of the key
        id: Uuid,
        /// Revoke even the last live administrator key
        #[arg(long)]
        force: bool,
    },
}

fn role(text: &str) -> Result<Role, String> {
    Role::named(text).ok_or_else(|| "expected admin, readonly or agent".to_owned())
}

/// Runs a command.
pub(crate) fn run(client: &Client, command: &KeyCommand, output: &Output) -> ClientResult<Exit> {
    match command {
        KeyCommand::Create { role } => {
            let created = client.post("/keys", &json!({"role": role}))?;
            output.console.note(&format!("created key {}; its secret is shown only once", id(&created["key"])));
            output.result(&created, || format!("{}\n", text(&created, "pak")))?;
        }
        KeyCommand::List => {
            let columns = ["id", "role", "short_token", "generator_id", "created_at", "revoked_at"];
            output.rows(&client.get("/keys")?, &columns)?;
        }
        KeyCommand::Revoke { id, force } => {
            client.delete(&format!("/keys/{id}?force={force}"))?;
            output.console.note(&format!("revoked key {id}"));
        }
    }
    Ok(Exit::Ok)
}
