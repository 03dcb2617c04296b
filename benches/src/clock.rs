//! Time: of the processor where work is compared, rounds interleaved, the minimum counts.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::subject::Subject;

/// Seconds of the processor that this thread has had.
pub fn thread_time() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

/// Seconds of the processor that this process has had.
pub fn process_time() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// How long a sample should take at least: long beside the reading of the clock.
const SAMPLE: f64 = 200e-6;

/// Seconds of the processor that one run of each subject takes: the smallest of `rounds` interleaved samples.
pub fn measure(subjects: &mut [Box<dyn Subject>], rounds: usize) -> Vec<f64> {
    let counts: Vec<u32> = subjects.iter_mut().map(|subject| count(&mut **subject)).collect();
    let mut best = vec![f64::INFINITY; subjects.len()];
    for _ in 0..rounds {
        for ((subject, &count), best) in subjects.iter_mut().zip(&counts).zip(&mut best) {
            *best = best.min(sample(&mut **subject, count));
        }
    }
    best
}

/// How many runs make up a sample. Finding out warms up.
fn count(subject: &mut dyn Subject) -> u32 {
    let mut count = 1;
    while sample(subject, count) * f64::from(count) < SAMPLE {
        count *= 2;
    }
    count
}

fn sample(subject: &mut dyn Subject, count: u32) -> f64 {
    let start = thread_time();
    for _ in 0..count {
        subject.run();
    }
    (thread_time() - start) / f64::from(count)
}

/// Seconds by the clock on the wall that each of the tasks takes: the smallest of `rounds` interleaved ones.
pub fn wall<const N: usize>(mut tasks: [&mut dyn FnMut(); N], rounds: usize) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (task, best) in tasks.iter_mut().zip(&mut best) {
            let start = Instant::now();
            task();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}
