//! The arguments of `dropforge catalog`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use dropforge::bulk::why::LinePlace;
use serde_json::json;
use uuid::Uuid;

use super::client::{Client, ConnectionArgs};
use super::generators::KeyCommand;
use super::generators::{self, GeneratorCommand};
use super::objects::{self, InstantiateArgs, StackCommand, object_place};
use super::output::{Output, TemplateRef, pair};
use super::templates::{self, CreateArgs, UpdateArgs};
use super::{backup, import};
use crate::duration::duration;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::stderr::Stderr;

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
    /// Show or change the labels that a stack must have
    ///
    ///     dropforge catalog labels web --add env=prod
    #[command(verbatim_doc_comment)]
    Labels {
        /// ID, name, or NAME@VERSION
        template: TemplateRef,
        /// Add a label
        #[arg(long, value_name = "LABEL")]
        add: Vec<String>,
        /// Remove a label
        #[arg(long, value_name = "LABEL")]
        remove: Vec<String>,
    },
    /// Show or change the annotations that a stack must have
    ///
    ///     dropforge catalog annotate web --add owner=shop
    #[command(verbatim_doc_comment)]
    Annotate {
        /// ID, name, or NAME@VERSION
        template: TemplateRef,
        /// Add an annotation
        #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
        add: Vec<(String, String)>,
        /// Remove an annotation
        #[arg(long, value_name = "KEY")]
        remove: Vec<String>,
    },
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
    /// Tell what wrote a line of an object, and where its values come from
    ///
    ///     dropforge catalog why shop-prod:4
    ///     dropforge catalog why shop-prod:4:9
    ///
    /// The object is rendered again from its record. Without a column, the answer is
    /// about the last value of the line, and in it about what is not text of the
    /// template. Values that the schema marks secret are not shown.
    #[command(verbatim_doc_comment)]
    Why {
        /// The line of an object, or of the newest object of a stack
        #[arg(value_name = "ID|STACK:LINE[:COLUMN]", value_parser = object_place)]
        place: (String, LinePlace),
    },
    /// Show the changes of a version to all instances, or between two versions
    ///
    ///     dropforge catalog diff web@3
    ///     dropforge catalog diff web@3 --with web@2
    #[command(verbatim_doc_comment)]
    Diff {
        /// ID, name, or NAME@VERSION
        template: TemplateRef,
        /// Compare the text and schema with this older version instead
        #[arg(long, value_name = "TEMPLATE")]
        with: Option<TemplateRef>,
    },
    /// Add all templates of a directory
    ///
    ///     dropforge catalog import templates/
    ///
    /// A template is a file X.tera, or a packed Helm chart named X, with X.schema.json,
    /// X.labels and X.annotations beside it if it has any.
    #[command(verbatim_doc_comment)]
    Import {
        /// Directory of templates
        dir: PathBuf,
        /// Treat warnings as errors
        #[arg(long)]
        strict: bool,
    },
    /// Remove what was deleted for good, and old audit entries
    ///
    ///     dropforge catalog purge --older-than 30d
    ///
    /// Removes stacks, objects and template versions that were deleted. Versions stay
    /// while the provenance of an object names them.
    #[command(verbatim_doc_comment)]
    Purge {
        /// Remove what was deleted longer ago: 30d, 12h, 0s
        #[arg(long, value_name = "AGE", value_parser = duration)]
        older_than: Duration,
        /// Also remove the entries of the audit trail that are older than this: 365d [default: keep all]
        #[arg(long, value_name = "AGE", value_parser = duration)]
        audit_older_than: Option<Duration>,
    },
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
    /// List who changed what, when, and from where, newest first
    ///
    ///     dropforge catalog audit
    #[command(verbatim_doc_comment)]
    Audit {
        /// List only the changes of this object
        #[arg(long, value_name = "ID")]
        object: Option<Uuid>,
        /// Set the maximum number of changes
        #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Continue a list before the change with this ID
        #[arg(long, value_name = "ID")]
        before: Option<Uuid>,
    },
    /// Copy an SQLite catalog to a file, also while a service uses it
    ///
    ///     dropforge catalog backup --db catalog.db catalog.backup
    #[command(verbatim_doc_comment)]
    Backup {
        /// The file to write
        file: PathBuf,
        /// Replace an existing file
        #[arg(long)]
        force: bool,
    },
    /// Replace an SQLite catalog by a backup, after checking it
    ///
    ///     dropforge catalog restore --db catalog.db catalog.backup
    #[command(verbatim_doc_comment)]
    Restore {
        /// The backup to read
        file: PathBuf,
        /// Replace an existing catalog
        #[arg(long)]
        force: bool,
    },
}

/// Runs the command.
pub(crate) fn run(args: &CatalogArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    match &args.command {
        CatalogCommand::Backup { file, force } => return backup::back_up(&args.connection, file, *force, stderr),
        CatalogCommand::Restore { file, force } => return backup::restore(&args.connection, file, *force, stderr),
        _ => {}
    }
    let client = &Client::open(&args.connection, files)?;
    let output = &Output { json: args.json, stderr };
    match &args.command {
        CatalogCommand::Create(args) => templates::create(client, args, files, output),
        CatalogCommand::Update(args) => templates::update(client, args, files, output),
        CatalogCommand::List { all } => templates::list(client, *all, output),
        CatalogCommand::Show { template } => templates::show(client, template, output),
        CatalogCommand::Labels { template, add, remove } => {
            let add = add.iter().map(|label| json!(label));
            templates::metadata(client, (template, "labels"), add, remove, output)
        }
        CatalogCommand::Annotate { template, add, remove } => {
            let add = add.iter().map(|(key, value)| json!({"key": key, "value": value}));
            templates::metadata(client, (template, "annotations"), add, remove, output)
        }
        CatalogCommand::Instantiate(args) => objects::instantiate(client, args, files, output),
        CatalogCommand::History { template } => templates::history(client, template, output),
        CatalogCommand::Delete { template } => templates::delete(client, template, output),
        CatalogCommand::Verify { objects } => objects::verify(client, objects, output),
        CatalogCommand::Why { place } => objects::why(client, place, output),
        CatalogCommand::Diff { template, with } => objects::diff(client, template, with.as_ref(), output),
        CatalogCommand::Import { dir, strict } => import::import(client, dir, *strict, files, output),
        CatalogCommand::Purge { older_than, audit_older_than } => {
            backup::purge(client, *older_than, *audit_older_than, output)
        }
        CatalogCommand::Stack(command) => objects::run_stack(client, command, output),
        CatalogCommand::Generator(command) => generators::run(client, command, output),
        CatalogCommand::Key(command) => generators::run_key(client, command, output),
        CatalogCommand::Audit { object, limit, before } => backup::audit(client, (*object, *before), *limit, output),
        // These need no client.
        CatalogCommand::Backup { .. } | CatalogCommand::Restore { .. } => Ok(Exit::Ok),
    }
}
