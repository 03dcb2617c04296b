//! Every workload under criterion, engines side by side. Outputs are compared first.
//!
//! `cargo bench -p dropforge-benches --bench workloads [-- FILTER]`, for example `W1.*dropforge`.

use criterion::{Criterion, criterion_group, criterion_main};
use dropforge_benches::{LONG, WORKLOADS};

fn workloads(criterion: &mut Criterion) {
    let samples = WORKLOADS.map(|workload| (workload, 100)).into_iter().chain(LONG.map(|workload| (workload, 10)));
    for ((_, make), samples) in samples {
        let mut workload = make();
        workload.check();
        let mut group = criterion.benchmark_group(workload.title);
        group.sample_size(samples);
        for subject in &mut workload.subjects {
            group.bench_function(subject.engine(), |bench| bench.iter(|| subject.run()));
        }
        group.finish();
    }
}

criterion_group!(benches, workloads);
criterion_main!(benches);
