//! dropforge compared with other engines: workloads, engines and clocks, shared by the benches.

pub mod arguments;
pub mod bulk;
pub mod clock;
pub mod config;
pub mod constructs;
pub mod engines;
pub mod families;
pub mod files;
pub mod plot;
pub mod processes;
pub mod scale;
pub mod specialised;
pub mod subject;
pub mod summary;
pub mod table;
pub mod tasks;
pub mod typed;
pub mod w1;
pub mod w3;
pub mod w4;
pub mod w5;
pub mod w6;
pub mod w7;

use subject::Workload;

/// Builds a workload.
pub type Make = fn() -> Workload;

/// The workloads that are short enough to repeat, by id.
pub const WORKLOADS: [(&str, Make); 32] = [
    ("w1-render", w1::render),
    ("w1-checked", w1::checked),
    ("w1-render-all", w1::render_all),
    ("w1-specialised", specialised::app),
    ("specialise", specialised::specialise),
    ("w1-convert", w1::convert),
    ("json", w1::read),
    ("compile", w1::compile),
    ("load", w1::load),
    ("w4", w4::commands),
    ("w5-big-table", w5::big_table),
    ("w5-teams", w5::teams),
    ("hcl-render", w1::hcl_render),
    ("hcl-compile", w1::hcl_compile),
    ("hcl-parse", config::parse),
    ("w6-scalars", w6::scalars),
    ("w6-lists", w6::lists),
    ("w6-cel-scalars", w6::cel_scalars),
    ("w6-cel-lists", w6::cel_lists),
    ("w3-evaluate", w3::evaluate),
    ("w3-write", w3::write),
    ("w3-compile", w3::compile),
    ("w3-text", w3::text),
    families::WORKLOADS[0],
    families::WORKLOADS[1],
    families::WORKLOADS[2],
    families::WORKLOADS[3],
    families::WORKLOADS[4],
    families::WORKLOADS[5],
    families::WORKLOADS[6],
    families::WORKLOADS[7],
    families::WORKLOADS[8],
];

/// Workloads with long runs.
pub const LONG: [(&str, Make); 1] = [("hcl-decode", config::decode)];
