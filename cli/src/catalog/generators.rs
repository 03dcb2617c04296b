//! Commands on generators.

use clap::Subcommand;
use serde_json::{Value as Json, json};

use super::client::{Client, ClientResult};
use super::output::Output;
use super::output::{id, text};
use super::references;
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
            let id = references::generator(client, generator)?;
            client.delete(&format!("/generators/{id}"))?;
            output.stderr.note(&format!("deleted generator {generator}"));
        }
        GeneratorCommand::Rotate { generator } => {
            let id = references::generator(client, generator)?;
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
