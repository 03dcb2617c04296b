//! `dropforge catalog`: templates with versions, schemas and matching rules, here or in a service.
//!
//! Every command is one or more requests of the REST interface: over a local store the same routes answer, in this
//! process.

mod args;
mod door;
mod named;
mod objects;
mod others;
mod print;
mod templates;

use clap::ArgMatches;

pub(super) use args::CatalogArgs;
use args::CatalogCommand;
use door::Door;

use super::console::Console;
use super::exit::{Exit, Failed};

/// Runs the command.
pub(super) fn run(args: &CatalogArgs, matches: &ArgMatches, console: &Console) -> Result<Exit, Failed> {
    let door = Door::open(args)?;
    let print = print::Print { json: args.json, console };
    match &args.command {
        CatalogCommand::Create(create) => templates::create(&door, create, &print),
        CatalogCommand::Update(update) => templates::update(&door, update, &print),
        CatalogCommand::List { all } => templates::list(&door, *all, &print),
        CatalogCommand::Show { template } => templates::show(&door, template, &print),
        CatalogCommand::Labels { template, add, remove } => templates::labels(&door, template, add, remove, &print),
        CatalogCommand::Annotate { template, add, remove } => templates::annotate(&door, template, add, remove, &print),
        CatalogCommand::Instantiate(instantiate) => {
            let of_command = matches.subcommand().map_or(matches, |(_, matches)| matches);
            objects::instantiate(&door, instantiate, of_command, &print)
        }
        CatalogCommand::History { template } => templates::history(&door, template, &print),
        CatalogCommand::Delete { template } => templates::delete(&door, template, &print),
        CatalogCommand::Verify { objects } => objects::verify(&door, objects, &print),
        CatalogCommand::Diff { template, with } => objects::diff(&door, template, with.as_ref(), &print),
        CatalogCommand::Import { dir, strict } => templates::import(&door, dir, *strict, &print),
        CatalogCommand::Stack(command) => others::stack(&door, command, &print),
        CatalogCommand::Generator(command) => others::generator(&door, command, &print),
        CatalogCommand::Key(command) => others::key(&door, command, &print),
    }
}
