//! Commands on stacks, generators and keys.

use serde_json::{Value as Json, json};

use super::args::{GeneratorCommand, KeyCommand, StackCommand};
use super::door::{Answered, Door};
use super::named;
use super::print::Print;
use super::templates::{id, text};
use crate::cli::exit::Exit;

/// Commands on stacks.
pub(super) fn stack(door: &Door, command: &StackCommand, print: &Print) -> Answered<Exit> {
    match command {
        StackCommand::Create { name, generator, description, labels, annotations } => {
            let generator = named::generator(door, generator)?;
            let body = json!({"name": name, "description": description, "generator_id": generator});
            let stack = door.post("/stacks", &body)?;
            let of = format!("/stacks/{}", id(&stack));
            for label in labels {
                door.post(&format!("{of}/labels"), &json!(label))?;
            }
            for (key, value) in annotations {
                let body = json!({"stack_id": id(&stack), "key": key, "value": value});
                door.post(&format!("{of}/annotations"), &body)?;
            }
            made(&stack, print)?;
        }
        StackCommand::List => print.rows(&door.get("/stacks")?, &["name", "id", "generator_id", "description"])?,
        StackCommand::Delete { stack } => {
            let id = named::stack(door, stack)?;
            door.delete(&format!("/stacks/{id}"))?;
            print.console.note(&format!("deleted stack {stack}"));
        }
        StackCommand::Objects { stack } => {
            let of = format!("/stacks/{}/deployment-objects", named::stack(door, stack)?);
            print
                .rows(&door.get(&of)?, &["sequence_id", "id", "submitted_at", "is_deletion_marker", "yaml_checksum"])?;
        }
    }
    Ok(Exit::Ok)
}

/// Commands on generators.
pub(super) fn generator(door: &Door, command: &GeneratorCommand, print: &Print) -> Answered<Exit> {
    match command {
        GeneratorCommand::Create { name, description } => {
            let made = door.post("/generators", &json!({"name": name, "description": description}))?;
            with_key(&made, print)?;
        }
        GeneratorCommand::List => {
            let columns = ["name", "id", "is_active", "last_active_at", "description"];
            print.rows(&door.get("/generators")?, &columns)?;
        }
        GeneratorCommand::Delete { generator } => {
            let id = named::generator(door, generator)?;
            door.delete(&format!("/generators/{id}"))?;
            print.console.note(&format!("deleted generator {generator}"));
        }
        GeneratorCommand::Rotate { generator } => {
            let id = named::generator(door, generator)?;
            with_key(&door.post(&format!("/generators/{id}/rotate-pak"), &Json::Null)?, print)?;
        }
    }
    Ok(Exit::Ok)
}

/// A generator and its key: the key alone on standard output, to be put away.
fn with_key(made: &Json, print: &Print) -> Answered<()> {
    let generator = &made["generator"];
    print.console.note(&format!("{}: {}, its key is shown once", text(generator, "name"), id(generator)));
    print.answer(made, || text(made, "pak") + "\n")
}

/// Commands on keys.
pub(super) fn key(door: &Door, command: &KeyCommand, print: &Print) -> Answered<Exit> {
    match command {
        KeyCommand::Create { role } => {
            let made = door.post("/keys", &json!({"role": role}))?;
            print.console.note(&format!("{}, its secret is shown once", text(&made["key"], "id")));
            print.answer(&made, || text(&made, "pak") + "\n")?;
        }
        KeyCommand::List => {
            let columns = ["id", "role", "short_token", "generator_id", "created_at", "revoked_at"];
            print.rows(&door.get("/keys")?, &columns)?;
        }
        KeyCommand::Revoke { id } => {
            door.delete(&format!("/keys/{id}"))?;
            print.console.note(&format!("revoked {id}"));
        }
    }
    Ok(Exit::Ok)
}

fn made(row: &Json, print: &Print) -> Answered<()> {
    print.answer(row, || format!("{}: {}\n", text(row, "name"), id(row)))
}
