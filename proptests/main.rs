//! Property tests, in one binary.

mod arrow;
mod artifacts;
mod builtins;
mod cel_optimise;
mod cel_partial;
mod cel_reference;
mod cel_syntax;
mod cel_templates;
mod documents;
mod hcl_collections;
mod hcl_json;
mod hcl_syntax;
mod helm_artifacts;
mod helm_reads;
mod helm_templates;
mod inputs;
mod long_numbers;
mod machines;
mod numbers;
mod scan;
mod sealing;
mod secrets;
mod specialise;
mod stamp;
mod tera_render;
mod tera_syntax;
mod totals;
mod tower;
mod values;
mod yaml;

/// Compares trees of CEL.
mod same_tree {
    use dropforge::dialect::cel::syntax::tree::{Expr, ExprId, Literal, Selection, Tree};

    include!("../src/lang/cel/front/syntax/tests/same_tree.rs");
}

/// Returns the settings of a property that is tried with `number` cases under `DROPFORGE_CASES=all`, otherwise with a
/// quarter.
fn cases(number: u32) -> proptest::test_runner::Config {
    let cases = if has_all_cases() { number } else { number / 4 };
    proptest::test_runner::Config { cases, ..Default::default() }
}

/// Returns `true` for the long form of tests.
fn has_all_cases() -> bool {
    std::env::var("DROPFORGE_CASES").is_ok_and(|cases| cases == "all")
}
