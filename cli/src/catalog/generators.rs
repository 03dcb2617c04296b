//! Commands on generators and keys.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use clap::Subcommand;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge_catalog::Role;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::client::{Client, ClientResult};
use super::output;
use super::output::{Output, id, text};
use crate::duration::duration;
use crate::exit::Exit;

/// Commands on generators.
#[derive(Debug, Subcommand)]
pub(crate) enum GeneratorCommand {
    /// Add a generator and print its key, which is shown only once
    ///
    ///     dropforge catalog generator create ci
    #[command(verbatim_doc_comment)]
    Create {
        /// Name of the generator
        name: String,
        /// Set a description
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// List generators
    ///
    ///     dropforge catalog generator list
    #[command(verbatim_doc_comment)]
    List,
    /// Delete a generator, its stacks and its templates
    ///
    ///     dropforge catalog generator delete ci
    #[command(verbatim_doc_comment)]
    Delete {
        /// ID or name of the generator
        generator: String,
    },
    /// Replace the key of a generator and print the new one
    ///
    ///     dropforge catalog generator rotate ci
    #[command(verbatim_doc_comment)]
    Rotate {
        /// ID or name of the generator
        generator: String,
    },
}

/// Runs a command.
pub(crate) fn run(client: &Client, command: &GeneratorCommand, output: &Output) -> ClientResult<Exit> {
    match command {
        GeneratorCommand::Create { name, description } => {
            let created = client.post("/generators", &json!({"name": name, "description": description}))?;
            print_key(&created, output)?;
        }
        GeneratorCommand::List => {
            let columns = ["name", "id", "is_active", "last_active_at", "description"];
            output.rows(&client.rows("/generators")?, &columns)?;
        }
        GeneratorCommand::Delete { generator } => {
            let id = output::generator(client, generator)?;
            client.delete(&format!("/generators/{id}"))?;
            output.stderr.note(&format!("deleted generator {generator}"));
        }
        GeneratorCommand::Rotate { generator } => {
            let id = output::generator(client, generator)?;
            print_key(&client.post(&format!("/generators/{id}/rotate-pak"), &Json::Null)?, output)?;
        }
    }
    Ok(Exit::Ok)
}

/// Prints the key of a generator on standard output, and nothing else there.
fn print_key(created: &Json, output: &Output) -> ClientResult<()> {
    let generator = &created["generator"];
    output.stderr.note(&format!(
        "generator {} ({}): the key is shown only once",
        text(generator, "name"),
        id(generator)
    ));
    output.result(created, || format!("{}\n", text(created, "pak")))
}

/// Commands on keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key and print it; it is shown only once
    ///
    ///     dropforge catalog key create --role readonly --expires 90d
    #[command(verbatim_doc_comment)]
    Create {
        /// Set the role: admin, readonly or agent
        #[arg(long, value_parser = role)]
        role: Role,
        /// Set a name for lists and the audit trail
        #[arg(long)]
        name: Option<String>,
        /// Refuse the key after this time, such as 12h or 90d [default: never]
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires: Option<Duration>,
    },
    /// List keys, without their secrets
    ///
    ///     dropforge catalog key list
    #[command(verbatim_doc_comment)]
    List,
    /// Revoke a key immediately
    ///
    ///     dropforge catalog key revoke 0190a6f0-3c1e-7d52-9b1f-0123456789ab
    #[command(verbatim_doc_comment)]
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

/// The time after a duration.
fn end(after: Duration) -> ClientResult<DateTime<Utc>> {
    let end = TimeDelta::from_std(after).ok().and_then(|after| Utc::now().checked_add_signed(after));
    end.ok_or_else(|| Diagnostic::new(Code::Usage, "`--expires` is too far in the future").into())
}

/// Runs a command.
pub(crate) fn run_key(client: &Client, command: &KeyCommand, output: &Output) -> ClientResult<Exit> {
    match command {
        KeyCommand::Create { role, name, expires } => {
            let expires_at = expires.map(end).transpose()?;
            let created = client.post("/keys", &json!({"role": role, "name": name, "expires_at": expires_at}))?;
            output.stderr.note(&format!("created key {}; its secret is shown only once", id(&created["key"])));
            output.result(&created, || format!("{}\n", text(&created, "pak")))?;
        }
        KeyCommand::List => {
            let columns = [
                "id",
                "role",
                "name",
                "short_token",
                "generator_id",
                "created_at",
                "expires_at",
                "last_used_at",
                "revoked_at",
            ];
            output.rows(&client.rows("/keys")?, &columns)?;
        }
        KeyCommand::Revoke { id, force } => {
            client.delete(&format!("/keys/{id}?force={force}"))?;
            output.stderr.note(&format!("revoked key {id}"));
        }
    }
    Ok(Exit::Ok)
}
