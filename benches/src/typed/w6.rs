//! The W6 list expressions in hand-written Rust.

use serde::{Deserialize, Serialize};

/// The inputs of the expressions.
#[derive(Deserialize)]
#[allow(missing_docs)]
pub struct Inputs {
    pub region: String,
    pub items: Vec<Item>,
}

/// One item.
#[derive(Deserialize)]
#[allow(missing_docs)]
pub struct Item {
    pub id: i64,
    pub name: String,
    pub cpu: i64,
    pub mem: i64,
    pub zone: String,
    pub ready: bool,
}

/// The result of the last expression for one item.
#[derive(Serialize)]
struct Size {
    id: i64,
    big: bool,
}

/// Receives the results in order.
pub trait Answers {
    /// Receives one result.
    fn take<T: Serialize>(&mut self, answer: T);
}

/// Evaluates every expression, in the order of the workload.
pub fn lists(inputs: &Inputs, to: &mut impl Answers) {
    let items = || inputs.items.iter();
    to.take(items().map(|i| i.name.clone()).collect::<Vec<_>>());
    to.take(items().filter(|i| i.cpu > 32).map(|i| i.name.clone()).collect::<Vec<_>>());
    to.take(items().filter(|i| i.ready).count());
    to.take(items().filter(|i| i.zone == "a").map(|i| i.id).collect::<Vec<_>>());
    to.take(items().any(|i| i.cpu == 64 && i.zone == "c"));
    to.take(items().all(|i| i.mem >= 1024));
    to.take(items().map(|i| i.cpu * 1000 + i.id).collect::<Vec<_>>());
    to.take(items().map(|i| format!("{}.{}", i.name, inputs.region)).collect::<Vec<_>>());
    let large = |i: &&Item| i.ready && i.mem > 2048 && (i.zone == "a" || i.zone == "b");
    to.take(items().filter(large).map(|i| i.cpu).collect::<Vec<_>>());
    to.take(items().map(|i| Size { id: i.id, big: i.cpu > 32 }).collect::<Vec<_>>());
}
