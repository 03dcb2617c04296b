//! The statements of lists, lookups and counts, for tests of their plans.

use super::{generators, instances, objects, stacks, status, template_lists};

/// A statement: its name, the types of its parameters in PostgreSQL, and its text.
pub type Listed = (&'static str, &'static str, &'static str);

const LIST: &str = "uuid, bigint, uuid, text, text, boolean";
const OF_NAME: &str = "uuid, text, uuid, bigint, uuid, uuid";

pub const STATEMENTS: &[Listed] = &[
    ("generators", LIST, generators::ALL),
    ("templates", LIST, template_lists::ALL),
    ("templates of a name", LIST, template_lists::ALL_NAMED),
    ("templates of an owner", LIST, template_lists::OF_OWNER),
    ("templates of an owner and a name", LIST, template_lists::OF_OWNER_NAMED),
    ("search", LIST, template_lists::FOUND),
    ("search of an owner", LIST, template_lists::FOUND_OF_OWNER),
    ("newest version", OF_NAME, template_lists::NEWEST),
    ("versions", OF_NAME, template_lists::VERSIONS),
    ("stacks", LIST, stacks::ALL),
    ("stacks of a generator", LIST, stacks::OF_GENERATOR),
    ("objects of a stack", "uuid, uuid, bigint", objects::OF_STACK),
    ("instances", OF_NAME, instances::ALL),
    ("instances in stacks of a generator", OF_NAME, instances::OF_GENERATOR),
    ("counts", "", status::COUNTS),
    ("usage", "uuid", status::USAGE),
];
