//! What can be wrong with a JSON value as a body.

use std::collections::HashSet;

use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::body::faults::{mistyped, structure};
use crate::dialect::hcl::body::{Place, Schema};
use crate::dialect::hcl::suggest::near;

pub(in crate::dialect::hcl) use crate::dialect::hcl::body::faults::duplicate_argument as duplicate;

type Fault = Box<Diagnostic>;

const NO_OBJECT: &str = "Incorrect JSON value type";

/// A property that `schema` has no name for. An attribute that is set is not what was meant; a block can be.
pub fn extraneous(name: &str, schema: &Schema, set: &HashSet<String>, place: Place<'_>) -> Fault {
    let free = schema.attributes.iter().map(|wanted| wanted.name.as_str()).filter(|name| !set.contains(*name));
    let names = free.chain(schema.blocks.iter().map(|wanted| wanted.name.as_str()));
    let detail = format!("There is no argument and no type of block named `{name}`.");
    let fault = place.put(structure("Extraneous JSON object property", detail)).with_context(place.span);
    match near(name, names) {
        Some(meant) => fault.with_help(format!("did you mean `{meant}`?")),
        None => fault,
    }
}

/// A required argument that is not there.
pub fn missing_argument(name: &str, place: Place<'_>) -> Fault {
    crate::dialect::hcl::body::faults::missing_argument(name, Some(place))
}

/// No object where the arguments of a body are asked for.
pub fn no_arguments(place: Place<'_>) -> Fault {
    place.put(mistyped(NO_OBJECT, "The arguments of this block are the properties of a JSON object."))
}

/// No object, nor an array of objects, where a body is, or properties whose names are labels.
pub fn no_object(label: Option<&str>, place: Place<'_>) -> Fault {
    let detail = match label {
        Some(label) => format!("The labels of this block ({label}) are the names of properties of a JSON object."),
        None => "Arguments and blocks are the properties of a JSON object.".into(),
    };
    place.put(mistyped(NO_OBJECT, detail))
}

/// Neither an object nor an array where blocks are.
pub fn no_block(name: &str, place: Place<'_>) -> Fault {
    let detail = format!("A block `{name}` is a JSON object, several of them are an array of objects.");
    place.put(mistyped(NO_OBJECT, detail))
}

/// An object without properties where their names are labels.
pub fn missing_label(name: &str, label: &str, place: Place<'_>) -> Fault {
    let detail = format!("The {label} of a block `{name}` is the name of a property, and there is none.");
    place.put(structure("Missing block label", detail))
}
