//! Runs one engine on one workload a number of times, for counting instructions.
//!
//! `once WORKLOAD ENGINE TIMES`. Without arguments it compares all outputs and lists the workloads and engines.

use dropforge_benches::{LONG, WORKLOADS};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workload, engine, times] = arguments.as_slice() else {
        for (id, make) in WORKLOADS.into_iter().chain(LONG) {
            let mut workload = make();
            workload.check();
            let engines: Vec<_> = workload.subjects.iter().map(|subject| subject.engine()).collect();
            println!("{id}: {}", engines.join(", "));
        }
        return;
    };
    let (_, make) = WORKLOADS.into_iter().chain(LONG).find(|(id, _)| id == workload).expect("a workload");
    let mut subjects = make().subjects;
    let subject = subjects.iter_mut().find(|subject| subject.engine() == engine).expect("an engine of the workload");
    for _ in 0..times.parse().expect("a number of times") {
        subject.run();
    }
}
