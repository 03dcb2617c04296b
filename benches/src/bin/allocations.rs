//! Counts the allocations of a repeated render. `allocations WORKLOAD` prints a line for each engine.

use std::alloc::System;

use dropforge_benches::WORKLOADS;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const WARM: usize = 10;
const RUNS: usize = 100;

fn main() {
    let wanted = std::env::args().nth(1).expect("the id of a workload");
    let (_, make) = WORKLOADS.into_iter().find(|(id, _)| *id == wanted).expect("a workload");
    for subject in &mut make().subjects {
        (0..WARM).for_each(|_| subject.run());
        let region = Region::new(ALLOCATOR);
        (0..RUNS).for_each(|_| subject.run());
        let change = region.change();
        println!("{}\t{}", subject.engine(), (change.allocations + change.reallocations).div_ceil(RUNS));
    }
}
