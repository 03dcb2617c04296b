//! The arguments of `dropforge catalog`.

use clap::{Args, Subcommand};

use super::audit::{self, AuditArgs};
use super::backup::{self, BackupArgs, PurgeArgs, RestoreArgs};
use super::client::{Client, ConnectionArgs};
use super::generators::{self, GeneratorCommand};
use super::import::{self, ImportArgs};
use super::keys::{self, KeyCommand};
use super::objects::{self, DiffArgs, InstantiateArgs, StackCommand, WhyArgs};
use super::output::Output;
use super::references::TemplateRef;
use super::templates::{self, AnnotationArgs, CreateArgs, LabelArgs, UpdateArgs};
use crate::console::Console;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;

/// Manage a catalog of versioned templates, local or in a service
///
///     dropforge catalog create web web.yaml.tera --db catalog.db
///     dropforge catalog list --server http://127.0.0.1:3000 --key-file key
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CatalogArgs {
    #[command(flatten)]
    connection: ConnectionArgs,
    /// Print the JSON responses of the service
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: CatalogCommand,
}

/// Commands of the catalog.
#[derive(Debug, Subcommand)]
enum CatalogCommand {
    Create(CreateArgs),
    Update(UpdateArgs),
    /// List the newest version of each template
    ///
    ///     dropforge catalog list
    #[command(verbatim_doc_comment)]
    List {
        /// List all versions
        #[arg(long)]
        all: bool,
    },
    /// Show the text, schema, labels and annotations of a template
    ///
    ///     dropforge catalog show web@2
    #[command(verbatim_doc_comment)]
    Show {
        /// ID, name, or NAME@VERSION
        template: TemplateRef,
    },
    Labels(LabelArgs),
    Annotate(AnnotationArgs),
    Instantiate(InstantiateArgs),
    /// List the versions of a template
    ///
    ///     dropforge catalog history web
    #[command(verbatim_doc_comment)]
    History {
        /// ID, name, or NAME@VERSION
        template: TemplateRef,
    },
    /// Delete one version of a template
    ///
    ///     dropforge catalog delete web@1
    #[command(verbatim_doc_comment)]
    Delete {
        /// ID or NAME@VERSION
        template: TemplateRef,
    },
    /// Render deployment objects again and compare the results byte for byte
    ///
    ///     dropforge catalog verify shop-prod
    #[command(verbatim_doc_comment)]
    Verify {
        /// IDs of objects, or names of stacks for their newest objects
        #[arg(required = true, value_name = "ID|STACK")]
        objects: Vec<String>,
    },
    Why(WhyArgs),
    Diff(DiffArgs),
    Import(ImportArgs),
    Purge(PurgeArgs),
    /// Add, list and delete stacks
    ///
    ///     dropforge catalog stack list
    #[command(subcommand, verbatim_doc_comment)]
    Stack(StackCommand),
    /// Add, list and delete generators, and replace their keys
    ///
    ///     dropforge catalog generator list
    #[command(subcommand, verbatim_doc_comment)]
    Generator(GeneratorCommand),
    /// Create, list and revoke keys
    ///
    ///     dropforge catalog key list
    #[command(subcommand, verbatim_doc_comment)]
    Key(KeyCommand),
    Audit(AuditArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
}

/// Runs the command.
pub(crate) fn run(args: &CatalogArgs, files: &mut InputFiles, console: &Console) -> Result<Exit, Failed> {
    match &args.command {
        CatalogCommand::Backup(backup) => return backup::back_up(&args.connection, backup, console),
        CatalogCommand::Restore(restore) => return backup::restore(&args.connection, restore, console),
        _ => {}
    }
    let client = &Client::open(&args.connection, files)?;
    let output = &Output { json: args.json, console };
    match &args.command {
        CatalogCommand::Create(args) => templates::create(client, args, files, output),
        CatalogCommand::Update(args) => templates::update(client, args, files, output),
        CatalogCommand::List { all } => templates::list(client, *all, output),
        CatalogCommand::Show { template } => templates::show(client, template, output),
        CatalogCommand::Labels(args) => templates::labels(client, args, output),
        CatalogCommand::Annotate(args) => templates::annotate(client, args, output),
        CatalogCommand::Instantiate(args) => objects::instantiate(client, args, files, output),
        CatalogCommand::History { template } => templates::history(client, template, output),
        CatalogCommand::Delete { template } => templates::delete(client, template, output),
        CatalogCommand::Verify { objects } => objects::verify(client, objects, output),
        CatalogCommand::Why(args) => objects::why(client, args, output),
        CatalogCommand::Diff(args) => objects::diff(client, args, output),
        CatalogCommand::Import(args) => import::import(client, args, files, output),
        CatalogCommand::Purge(args) => backup::purge(client, args, output),
        CatalogCommand::Stack(command) => objects::run_stack(client, command, output),
        CatalogCommand::Generator(command) => generators::run(client, command, output),
        CatalogCommand::Key(command) => keys::run(client, command, output),
        CatalogCommand::Audit(args) => audit::run(client, args, output),
        // These need no client.
        CatalogCommand::Backup(_) | CatalogCommand::Restore(_) => Ok(Exit::Ok),
    }
}
