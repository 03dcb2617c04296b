//! The connection for writing.
//!
//! Requests that arrive during a sync wait in a queue and share the next transaction, each in a savepoint of its own.
//! One sync serves all of them, a failure rolls back only its own request, and no request completes before the commit
//! is on disk.

use std::sync::{Arc, Mutex, PoisonError};

use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::store::work::WorkFuture;
use crate::store::{StoreError, StoreResult};

/// Maximum number of queued requests. Further callers wait.
const QUEUE: usize = 1024;
/// Maximum number of requests in one commit, so that none waits too long for the others.
const BATCH: usize = 128;

/// Completes a request, given the result of the commit.
type Completion = Box<dyn FnOnce(StoreResult<()>) + Send>;
/// Carries out a request. Its changes must be undone if it returns an error.
type Work =
    Box<dyn for<'c> FnOnce(&'c mut SqliteConnection) -> WorkFuture<'c, (Option<StoreError>, Completion)> + Send>;

struct Request {
    work: Work,
    writes: bool,
}

/// The queue of the connection.
#[derive(Debug)]
pub struct Writer {
    queue: Mutex<Option<mpsc::Sender<Request>>>,
    task: tokio::sync::Mutex<Option<JoinHandle<()>>>,
    failure: Failure,
}

/// The error of the last transaction that failed. Requests that it left out get it.
#[derive(Debug, Clone, Default)]
struct Failure(Arc<Mutex<Option<StoreError>>>);

impl Failure {
    fn set(&self, error: StoreError) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    fn get(&self) -> StoreError {
        let error = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        error.unwrap_or_else(|| StoreError::Failed("the transaction failed".to_owned()))
    }
}

fn closed() -> StoreError {
    StoreError::Failed("the store is closed".to_owned())
}

impl Writer {
    /// Starts the task that serves the connection.
    pub fn new(connection: SqliteConnection) -> Self {
        let (queue, requests) = mpsc::channel(QUEUE);
        let failure = Failure::default();
        let task = tokio::spawn(serve(connection, requests, failure.clone()));
        Self { queue: Mutex::new(Some(queue)), task: tokio::sync::Mutex::new(Some(task)), failure }
    }

    /// Runs work that changes rows. It completes even if the caller stops waiting.
    pub async fn write<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        self.enqueue(work, true).await
    }

    /// Runs work that only reads.
    pub async fn read<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        self.enqueue(work, false).await
    }

    async fn enqueue<T, F>(&self, work: F, writes: bool) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let work: Work = Box::new(move |connection| {
            Box::pin(async move {
                let done = work(connection).await;
                let failed = done.as_ref().err().cloned();
                let completion: Completion = Box::new(move |committed| {
                    // The caller may have stopped waiting.
                    let _ = sender.send(committed.and(done));
                });
                (failed, completion)
            })
        });
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        queue.ok_or_else(closed)?.send(Request { work, writes }).await.map_err(|_| closed())?;
        receiver.await.unwrap_or_else(|_| Err(self.failure.get()))
    }

    /// Stops taking requests, finishes those in the queue, and closes the connection.
    pub async fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(task) = self.task.lock().await.take() {
            // A task that panicked has closed its connection too.
            let _ = task.await;
        }
    }
}

async fn serve(mut connection: SqliteConnection, mut requests: mpsc::Receiver<Request>, failure: Failure) {
    let mut batch = Vec::new();
    while requests.recv_many(&mut batch, BATCH).await > 0 {
        let (writes, reads): (Vec<_>, Vec<_>) = batch.drain(..).partition(|request| request.writes);
        if !writes.is_empty() && commit(&mut connection, writes, &failure).await.is_err() {
            // No transaction could begin, for example because the file is locked. The others would fail one by one.
            while requests.try_recv().is_ok() {}
        }
        for request in reads {
            let (_, complete) = (request.work)(&mut connection).await;
            complete(Ok(()));
        }
    }
    // Committed changes are on disk, so an error here loses nothing.
    let _ = connection.close().await;
}

/// Carries out requests in one transaction. Fails if it could not begin.
async fn commit(connection: &mut SqliteConnection, requests: Vec<Request>, failure: &Failure) -> Result<(), ()> {
    let mut completions = Vec::with_capacity(requests.len());
    let committed = carry_out(connection, requests, &mut completions, failure).await;
    if committed.is_err() {
        // A failure may have ended the transaction already.
        let _ = execute(connection, "ROLLBACK").await;
    }
    let begun = !completions.is_empty();
    for complete in completions {
        complete(committed.clone());
    }
    if begun { Ok(()) } else { Err(()) }
}

/// On an error the transaction must be rolled back, and the remaining requests get no result.
async fn carry_out(
    connection: &mut SqliteConnection,
    requests: Vec<Request>,
    completions: &mut Vec<Completion>,
    failure: &Failure,
) -> StoreResult<()> {
    let mut requests = requests.into_iter();
    let carried_out = each(connection, &mut requests, completions).await;
    if let Err(error) = &carried_out {
        // Before the remaining requests are dropped, whose callers get it.
        failure.set(error.clone());
    }
    carried_out
}

async fn each(
    connection: &mut SqliteConnection,
    requests: &mut std::vec::IntoIter<Request>,
    completions: &mut Vec<Completion>,
) -> StoreResult<()> {
    // Each statement is a round trip to the connection's thread, so statements are combined.
    let mut next = "BEGIN IMMEDIATE; SAVEPOINT request";
    while requests.len() > 0 {
        execute(connection, next).await?;
        next = "RELEASE request; SAVEPOINT request";
        let Some(request) = requests.next() else { break };
        let (failed, completion) = (request.work)(connection).await;
        completions.push(completion);
        if let Some(error) = failed {
            undo(connection, error).await?;
        }
    }
    execute(connection, "COMMIT").await
}

/// Undoes the changes of a request that failed with `error`.
async fn undo(connection: &mut SqliteConnection, error: StoreError) -> StoreResult<()> {
    execute(connection, "ROLLBACK TO request").await.map_err(|undone| match error {
        // A full disk ends the transaction of all requests.
        StoreError::Unavailable(..) => error,
        _ => undone,
    })
}

async fn execute(connection: &mut SqliteConnection, what: &'static str) -> StoreResult<()> {
    sqlx::query(what).execute(connection).await.map(drop).map_err(|error| StoreError::of(&error))
}
