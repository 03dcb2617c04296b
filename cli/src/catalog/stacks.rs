//! Commands on stacks.

use clap::Subcommand;
use serde_json::json;

use super::client::{Client, ClientResult};
use super::output::Output;
use super::output::{id, text};
use super::references::{self, pair};
use crate::exit::Exit;

/// Commands on stacks.
#[derive(Debug, Subcommand)]
pub(crate) enum StackCommand {
    /// Add a stack
    ///
    ///     dropforge catalog stack create shop-prod --generator ci --label env=prod
    #[command(verbatim_doc_comment)]
    Create {
        /// Name of the stack
        name: String,
        /// Set the owner: ID or name of a generator
        #[arg(long, value_name = "GENERATOR")]
        generator: String,
        /// Set a description
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// Add a label
        #[arg(long = "label", value_name = "LABEL")]
        labels: Vec<String>,
        /// Add an annotation
        #[arg(long = "annotation", value_name = "KEY=VALUE", value_parser = pair)]
        annotations: Vec<(String, String)>,
    },
    /// List stacks
    ///
    ///     dropforge catalog stack list
    #[command(verbatim_doc_comment)]
    List,
    /// Delete a stack and its objects
    ///
    ///     dropforge catalog stack delete shop-prod
    #[command(verbatim_doc_comment)]
    Delete {
        /// ID or name of the stack
        stack: String,
    },
    /// List the deployment objects of a stack
    ///
    ///     dropforge catalog stack objects shop-prod
    #[command(verbatim_doc_comment)]
    Objects {
        /// ID or name of the stack
        stack: String,
    },
}

/// Runs a command.
pub(crate) fn run(client: &Client, command: &StackCommand, output: &Output) -> ClientResult<Exit> {
    match command {
        StackCommand::Create { name, generator, description, labels, annotations } => {
            let generator = references::generator(client, generator)?;
            let body = json!({"name": name, "description": description, "generator_id": generator});
            let stack = client.post("/stacks", &body)?;
            let path = format!("/stacks/{}", id(&stack));
            for label in labels {
                client.post(&format!("{path}/labels"), &json!(label))?;
            }
            for (key, value) in annotations {
                let body = json!({"stack_id": id(&stack), "key": key, "value": value});
                client.post(&format!("{path}/annotations"), &body)?;
            }
            output.result(&stack, || format!("{}: {}\n", text(&stack, "name"), id(&stack)))?;
        }
        StackCommand::List => {
            output.rows(&client.get("/stacks")?, &["name", "id", "generator_id", "description"])?;
        }
        StackCommand::Delete { stack } => {
            let id = references::stack(client, stack)?;
            client.delete(&format!("/stacks/{id}"))?;
            output.console.note(&format!("deleted stack {stack}"));
        }
        StackCommand::Objects { stack } => {
            let path = format!("/stacks/{}/deployment-objects", references::stack(client, stack)?);
            let columns = ["sequence_id", "id", "submitted_at", "is_deletion_marker", "yaml_checksum"];
            output.rows(&client.get(&path)?, &columns)?;
        }
    }
    Ok(Exit::Ok)
}
