//! Timing. Work is compared by CPU time. Rounds are interleaved, and the minimum counts.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::subject::Subject;

/// Returns the CPU time of this thread in seconds.
pub fn thread_time() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

/// Returns the CPU time of this process in seconds.
pub fn process_time() -> f64 {
    seconds(ClockId::ProcessCPUTime)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Minimum duration of a sample, long compared with reading the clock.
const SAMPLE: f64 = 200e-6;

/// Fewest rounds of long subjects, and the time after which no further round begins.
const FEWEST: usize = 5;
const ENOUGH: Duration = Duration::from_secs(20);

/// Returns the CPU seconds of one run of each subject: the minimum of `rounds` interleaved samples, or of fewer if they
/// take long.
pub fn measure(subjects: &mut [Box<dyn Subject>], rounds: usize) -> Vec<f64> {
    let counts: Vec<u32> = subjects.iter_mut().map(|subject| count(&mut **subject)).collect();
    let mut best = vec![f64::INFINITY; subjects.len()];
    let start = Instant::now();
    for round in 0..rounds {
        if round >= FEWEST && start.elapsed() > ENOUGH {
            break;
        }
        for ((subject, &count), best) in subjects.iter_mut().zip(&counts).zip(&mut best) {
            *best = best.min(sample(&mut **subject, count));
        }
    }
    best
}

/// Returns the number of runs in a sample. Finding it warms up.
fn count(subject: &mut dyn Subject) -> u32 {
    let mut count = 1;
    while sample(subject, count) * f64::from(count) < SAMPLE {
        count *= 2;
    }
    count
}

/// Runs a subject once before it is timed, because the others have filled the caches since its last sample.
fn sample(subject: &mut dyn Subject, count: u32) -> f64 {
    subject.run();
    let start = thread_time();
    for _ in 0..count {
        subject.run();
    }
    (thread_time() - start) / f64::from(count)
}

/// Returns the wall-clock seconds of each task: the minimum of `rounds` interleaved runs.
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
