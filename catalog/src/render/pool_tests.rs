//! The pool: turns, bounds, deadlines, callers that leave. Jobs wait for messages, so nothing depends on time.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;
use uuid::Uuid;

use super::pool::Pool;
use super::tests::{request, small};
use super::*;
use crate::Actor;
use crate::error::Result;
use crate::fair::{Identity, Load};

fn generator(n: u128) -> Identity {
    Identity::Caller(Actor::Generator(Uuid::from_u128(n)))
}

/// A pool whose jobs note their names and wait for permission to end.
struct Bench {
    pool: Arc<Pool>,
    begun: Arc<Mutex<Vec<String>>>,
    ends: Arc<Mutex<Receiver<()>>>,
    end: Sender<()>,
}

impl Bench {
    fn new(options: &Options) -> Self {
        let (end, ends) = channel();
        Self { pool: Arc::new(Pool::new(options)), begun: Arc::default(), ends: Arc::new(Mutex::new(ends)), end }
    }

    /// Starts a job and waits until it is in its queue or running.
    async fn start(&self, who: u128, name: &str) -> JoinHandle<Result<()>> {
        let (pool, begun, ends, name) = (self.pool.clone(), self.begun.clone(), self.ends.clone(), name.to_owned());
        let before = self.busy();
        let task = tokio::spawn(generator(who).scope(async move {
            let job = move |_: &mut _| {
                begun.lock().unwrap().push(name);
                let _ = ends.lock().unwrap().recv();
            };
            pool.run(job).await
        }));
        while self.busy() == before && !task.is_finished() {
            tokio::task::yield_now().await;
        }
        task
    }

    fn busy(&self) -> usize {
        let Load { running, waiting, .. } = self.pool.load();
        running + waiting
    }

    /// Waits until this many jobs have begun, and returns their names.
    async fn begun(&self, count: usize) -> Vec<String> {
        loop {
            let begun = self.begun.lock().unwrap().clone();
            if begun.len() >= count {
                return begun;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Waits until no job is left. A thread answers before it gives up its place.
async fn idle(pool: &Pool) {
    while pool.load() != Load::default() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn one_thread_each() -> Options {
    Options { threads: 1, own_queue: 4, queue: 6, deadline: Duration::from_secs(600), ..small() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_greedy_caller_costs_another_no_turn() {
    let bench = Bench::new(&one_thread_each());
    let mut tasks = Vec::new();
    for name in ["g1", "g2", "g3", "g4"] {
        tasks.push(bench.start(1, name).await);
    }
    assert_eq!(bench.begun(1).await, ["g1"], "one thread is left for others");
    tasks.push(bench.start(2, "light").await);
    assert_eq!(bench.begun(2).await, ["g1", "light"]);
    (0..5).for_each(|_| bench.end.send(()).unwrap());
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    idle(&bench.pool).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_two_greedy_callers_the_light_one_waits_two_turns_at_most() {
    let bench = Bench::new(&Options { queue: 20, ..one_thread_each() });
    let mut tasks = Vec::new();
    for (who, name) in [(1, "a1"), (2, "b1"), (1, "a2"), (1, "a3"), (2, "b2"), (2, "b3"), (3, "light"), (4, "light")] {
        tasks.push(bench.start(who, name).await);
    }
    bench.begun(2).await;
    // Which job ends is up to the threads, and the rest of a caller's jobs may have to wait for its own.
    for left in (0..8).rev() {
        bench.end.send(()).unwrap();
        while bench.busy() > left {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    let begun = bench.begun(8).await;
    let lights: Vec<_> = (0..8).filter(|&at| begun[at] == "light").collect();
    // Two were running, and each greedy one has at most one turn before.
    assert!(lights[0] <= 2 + 2 && lights[1] <= 2 + 3, "{begun:?}");
    for task in tasks {
        task.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_is_an_error_for_its_owner_only() {
    let bench = Bench::new(&one_thread_each());
    let mut tasks = Vec::new();
    for _ in 0..5 {
        tasks.push(bench.start(1, "g").await);
    }
    let error = bench.start(1, "g").await.await.unwrap().unwrap_err();
    assert_eq!((error.kind.status(), error.code.as_str()), (503, "renders_busy"));
    assert_eq!(bench.pool.refused(), 1);
    tasks.push(bench.start(2, "light").await);
    (0..6).for_each(|_| bench.end.send(()).unwrap());
    for task in tasks {
        task.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_caller_left_never_begins() {
    let bench = Bench::new(&one_thread_each());
    let first = bench.start(1, "first").await;
    let (left, last) = (bench.start(1, "left").await, bench.start(1, "last").await);
    bench.begun(1).await;
    left.abort();
    assert!(left.await.is_err());
    assert_eq!(bench.pool.load(), Load { running: 1, waiting: 1, waiting_callers: 1 });
    (0..2).for_each(|_| bench.end.send(()).unwrap());
    first.await.unwrap().unwrap();
    last.await.unwrap().unwrap();
    assert_eq!(bench.begun(2).await, ["first", "last"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_does_not_begin_in_time_is_refused() {
    let bench = Bench::new(&Options { deadline: Duration::from_millis(20), ..one_thread_each() });
    let (first, second) = (bench.start(1, "first").await, bench.start(1, "second").await);
    assert_eq!(second.await.unwrap().unwrap_err().kind.status(), 503);
    // The first is running, and ends soon enough after its deadline.
    bench.end.send(()).unwrap();
    first.await.unwrap().unwrap();
    assert_eq!((bench.begun(1).await, bench.pool.refused()), (vec!["first".to_owned()], 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_panics_is_an_error_and_its_thread_goes_on() {
    let pool = Pool::new(&small());
    let failed: Result<()> = pool.run(|_| std::panic::resume_unwind(Box::new(()))).await;
    assert_eq!(failed.unwrap_err().kind.status(), 500);
    for _ in 0..4 {
        assert_eq!(pool.run(|_| 1).await, Ok(1));
    }
    idle(&pool).await;
}

/// A template that renders for hours, without output.
const ENDLESS: &str = "{% for i in range(end=100000) %}{% for j in range(end=100000) %}{% endfor %}{% endfor %}x";

fn endless(deadline: Duration) -> Renderer {
    Renderer::new(&Options { deadline, fuel: u64::MAX, memory: u64::MAX, ..small() })
}

#[tokio::test]
async fn a_render_ends_at_its_deadline() {
    let outcome = endless(Duration::from_millis(300)).render(request(ENDLESS, "{}", "{}")).await.unwrap();
    let diagnostic = &outcome.failures[0].details.as_ref().unwrap()["diagnostics"][0];
    assert_eq!(diagnostic["name"], "limit.time");
}

#[tokio::test]
async fn a_render_that_had_to_wait_for_its_time_is_refused_and_not_blamed() {
    let renderer = endless(Duration::from_millis(300));
    let (first, second) =
        tokio::join!(renderer.render(request(ENDLESS, "{}", "{}")), renderer.render(request(ENDLESS, "{}", "{}")));
    assert_eq!(first.unwrap().failures.len(), 1);
    assert_eq!(second.unwrap_err().kind.status(), 503);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_render_stops_when_its_caller_leaves() {
    let renderer = endless(Duration::from_secs(600));
    let leaving = tokio::spawn({
        let renderer = renderer.clone();
        async move { renderer.render(request(ENDLESS, "{}", "{}")).await }
    });
    while renderer.stats().load.running == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    leaving.abort();
    // The only thread for this caller comes free.
    let outcome = renderer.render(request("n: 1", "{}", "{}")).await.unwrap();
    assert_eq!(outcome.text.as_deref(), Some("n: 1"));
}
