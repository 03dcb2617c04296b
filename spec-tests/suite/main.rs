//! Case files and rules of the source tree, in one binary.

mod allocations;
mod artifacts;
mod asking;
mod cases;
mod cel;
mod cel_cost;
mod cel_dialects;
mod cel_folding;
mod cel_partial;
mod cel_yaml;
mod codes;
mod contributing;
mod coverage;
#[path = "../divisions.rs"]
mod divisions;
mod documents;
mod embedding;
mod extremes;
mod facts;
mod growth;
mod hcl;
mod hcl_bodies;
mod helm_hostile;
mod host_functions;
mod hostile;
mod house;
mod library;
mod limits;
mod memory;
mod reads;
mod recording;
mod specialised;
mod stacks;
mod store_codes;
mod tower;
mod yaml_readers;

/// Returns `true` if the tests run in their long form.
fn is_thorough() -> bool {
    std::env::var("DROPFORGE_CASES").is_ok_and(|cases| cases == "all")
}

/// Compares trees of CEL.
mod same_tree {
    use dropforge::dialect::cel::syntax::tree::{Expr, ExprId, Literal, Selection, Tree};

    include!("../../src/lang/cel/front/syntax/tests/same_tree.rs");
}
