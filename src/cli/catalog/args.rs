//! What can be typed after `dropforge catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::named::TemplateRef;
use crate::catalog::Role;
use crate::cli::args::ValueArgs;

/// Keep templates with versions, schemas and matching rules, here or in a service.
#[derive(Debug, Args)]
pub(in crate::cli) struct CatalogArgs {
    /// The file of the catalog, or the `postgres://` address of its database
    #[arg(long, global = true, value_name = "DB", default_value = "dropforge.db", env = "DROPFORGE_DB")]
    pub(super) db: String,
    /// The service to ask instead: `http://127.0.0.1:3000`
    #[arg(long, global = true, value_name = "URL", env = "DROPFORGE_SERVER")]
    pub(super) server: Option<String>,
    /// The file that holds the key for the service; else the variable DROPFORGE_KEY holds the key
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) key_file: Option<PathBuf>,
    /// Print answers as JSON, as the service gives them
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(subcommand)]
    pub(super) command: CatalogCommand,
}

/// What to do with the catalog.
#[derive(Debug, Subcommand)]
pub(super) enum CatalogCommand {
    /// Add a template, or the next version of the one that has its name
    Create(CreateArgs),
    /// Add the next version of a template
    Update(UpdateArgs),
    /// List templates: the newest version of each, or all
    List {
        /// All versions
        #[arg(long)]
        all: bool,
    },
    /// Show a template: its text, schema, labels and annotations
    Show {
        /// An id, a name, or NAME@VERSION
        template: TemplateRef,
    },
    /// Show or change the labels that a stack must have
    Labels {
        /// An id, a name, or NAME@VERSION
        template: TemplateRef,
        /// Add a label
        #[arg(long, value_name = "LABEL")]
        add: Vec<String>,
        /// Remove a label
        #[arg(long, value_name = "LABEL")]
        remove: Vec<String>,
    },
    /// Show or change the annotations that a stack must have
    Annotate {
        /// An id, a name, or NAME@VERSION
        template: TemplateRef,
        /// Add an annotation
        #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
        add: Vec<(String, String)>,
        /// Remove an annotation
        #[arg(long, value_name = "KEY")]
        remove: Vec<String>,
    },
    /// Render a template into a stack and print what was rendered
    Instantiate(InstantiateArgs),
    /// List the versions of a template
    History {
        /// An id, a name, or NAME@VERSION
        template: TemplateRef,
    },
    /// Delete one version of a template
    Delete {
        /// An id, or NAME@VERSION
        template: TemplateRef,
    },
    /// Render deployment objects again and say whether the same bytes come out
    Verify {
        /// Their ids; the name of a stack stands for its newest object
        #[arg(required = true, value_name = "ID|STACK")]
        objects: Vec<String>,
    },
    /// What would change, if every instance of a template were rendered with this version; or the diff of two versions
    Diff {
        /// The version: an id, a name, or NAME@VERSION
        template: TemplateRef,
        /// The older version to compare its text and schema with
        #[arg(long, value_name = "TEMPLATE")]
        with: Option<TemplateRef>,
    },
    /// Add every template of a directory: X.tera with X.schema.json, X.labels and X.annotations where they are
    Import {
        /// The directory
        dir: PathBuf,
        /// Make warnings errors
        #[arg(long)]
        strict: bool,
    },
    /// Add, list, label and delete stacks
    #[command(subcommand)]
    Stack(StackCommand),
    /// Add, list and delete generators, and give them new keys
    #[command(subcommand)]
    Generator(GeneratorCommand),
    /// Make, list and revoke keys
    #[command(subcommand)]
    Key(KeyCommand),
}

/// What a template is made from.
#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// The template, or `-`
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The JSON Schema of its parameters
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Option<PathBuf>,
    /// For people
    #[arg(long, value_name = "TEXT")]
    pub(super) description: Option<String>,
    /// Make warnings errors
    #[arg(long)]
    pub(super) strict: bool,
}

/// Add a template.
#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    /// Its name
    pub(super) name: String,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// A label that a stack must have
    #[arg(long = "label", value_name = "LABEL")]
    pub(super) labels: Vec<String>,
    /// An annotation that a stack must have
    #[arg(long = "annotation", value_name = "KEY=VALUE", value_parser = pair)]
    pub(super) annotations: Vec<(String, String)>,
}

/// Add the next version.
#[derive(Debug, Args)]
pub(super) struct UpdateArgs {
    /// An id, a name, or NAME@VERSION: whose labels and annotations the new version begins with
    pub(super) template: TemplateRef,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Begin without labels and annotations
    #[arg(long)]
    pub(super) drop_rules: bool,
}

/// Render into a stack.
#[derive(Debug, Args)]
pub(super) struct InstantiateArgs {
    /// An id, a name, or NAME@VERSION
    pub(super) template: TemplateRef,
    /// The stack: its id or name
    #[arg(long, value_name = "STACK")]
    pub(super) stack: String,
    /// Fill in defaults of the schema
    #[arg(long)]
    pub(super) defaults: bool,
    #[command(flatten)]
    pub(super) values: ValueArgs,
}

/// What to do with stacks.
#[derive(Debug, Subcommand)]
pub(super) enum StackCommand {
    /// Add a stack
    Create {
        /// Its name
        name: String,
        /// Whose it is: an id or a name
        #[arg(long, value_name = "GENERATOR")]
        generator: String,
        /// For people
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// A label
        #[arg(long = "label", value_name = "LABEL")]
        labels: Vec<String>,
        /// An annotation
        #[arg(long = "annotation", value_name = "KEY=VALUE", value_parser = pair)]
        annotations: Vec<(String, String)>,
    },
    /// List stacks
    List,
    /// Delete a stack and its objects
    Delete {
        /// Its id or name
        stack: String,
    },
    /// List what is in a stack
    Objects {
        /// Its id or name
        stack: String,
    },
}

/// What to do with generators.
#[derive(Debug, Subcommand)]
pub(super) enum GeneratorCommand {
    /// Add a generator and print its key, which is shown once
    Create {
        /// Its name
        name: String,
        /// For people
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// List generators
    List,
    /// Delete a generator, its stacks and its templates
    Delete {
        /// Its id or name
        generator: String,
    },
    /// Give a generator a new key and print it; the old one is of no use any more
    Rotate {
        /// Its id or name
        generator: String,
    },
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// Make a key and print it; it is shown once
    Create {
        /// What its holder may do: admin, readonly or agent
        #[arg(long, value_parser = role)]
        role: Role,
    },
    /// List keys, without their secrets
    List,
    /// Revoke a key, at once
    Revoke {
        /// Its id
        id: Uuid,
    },
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("KEY=VALUE is wanted")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn role(text: &str) -> Result<Role, String> {
    Role::named(text).ok_or_else(|| "admin, readonly or agent is wanted".to_owned())
}
