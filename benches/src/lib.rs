//! dropforge beside its peers: the workloads, the engines, and the clocks. The benches share all of it.

pub mod bulk;
pub mod clock;
pub mod engines;
pub mod files;
pub mod plot;
pub mod processes;
pub mod subject;
pub mod table;
pub mod tasks;
pub mod typed;
pub mod w1;
pub mod w4;
pub mod w5;
pub mod w7;

use subject::Workload;

/// What makes a workload.
pub type Make = fn() -> Workload;

/// Every workload whose unit is short enough to be repeated, by id and by what makes it.
pub const WORKLOADS: [(&str, Make); 10] = [
    ("w1-render", w1::render),
    ("w1-checked", w1::checked),
    ("w1-render-all", w1::render_all),
    ("w1-convert", w1::convert),
    ("json", w1::read),
    ("compile", w1::compile),
    ("load", w1::load),
    ("w4", w4::commands),
    ("w5-big-table", w5::big_table),
    ("w5-teams", w5::teams),
];
