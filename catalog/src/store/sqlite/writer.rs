//! The connection for writing.
//!
//! Requests that arrive during a sync wait in a queue and share the next transaction, each in a savepoint of its own.
//! One sync serves all of them, a failure rolls back only its own request, and no request completes before the commit
//! is on disk.

use std::sync::{Mutex, PoisonError};

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
type Completion = Box<dyn FnOnce(Result<(), &str>) + Send>;
/// Carries out a request. The flag is `true` if its changes must stay.
type Work = Box<dyn for<'c> FnOnce(&'c mut SqliteConnection) -> WorkFuture<'c, (bool, Completion)> + Send>;

struct Request {
    work: Work,
    writes: bool,
}

/// The queue of the connection.
#[derive(Debug)]
pub struct Writer {
    queue: Mutex<Option<mpsc::Sender<Request>>>,
    task: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

fn closed() -> StoreError {
    StoreError::Failed("the store is closed".to_owned())
}

impl Writer {
    /// Starts the task that serves the connection.
    pub fn new(connection: SqliteConnection) -> Self {
        let (queue, requests) = mpsc::channel(QUEUE);
        let task = tokio::spawn(serve(connection, requests));
        Self { queue: Mutex::new(Some(queue)), task: tokio::sync::Mutex::new(Some(task)) }
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
                let keep = done.is_ok();
                let completion: Completion = Box::new(move |committed| {
                    let failed = |why: &str| StoreError::Failed(why.to_owned());
                    // The caller may have stopped waiting.
                    let _ = sender.send(committed.map_err(failed).and(done));
                });
                (keep, completion)
            })
        });
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        queue.ok_or_else(closed)?.send(Request { work, writes }).await.map_err(|_| closed())?;
        receiver.await.unwrap_or_else(|_| Err(StoreError::Failed("the transaction failed".to_owned())))
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

async fn serve(mut connection: SqliteConnection, mut requests: mpsc::Receiver<Request>) {
    let mut batch = Vec::new();
    while requests.recv_many(&mut batch, BATCH).await > 0 {
        let (writes, reads): (Vec<_>, Vec<_>) = batch.drain(..).partition(|request| request.writes);
        if !writes.is_empty() {
            commit(&mut connection, writes).await;
        }
        for request in reads {
            let (_, complete) = (request.work)(&mut connection).await;
            complete(Ok(()));
        }
    }
    // Committed changes are on disk, so an error here loses nothing.
    let _ = connection.close().await;
}

/// Carries out requests in one transaction.
async fn commit(connection: &mut SqliteConnection, requests: Vec<Request>) {
    let mut completions = Vec::with_capacity(requests.len());
    let committed = carry_out(connection, requests, &mut completions).await;
    if committed.is_err() {
        // A failure may have ended the transaction already.
        let _ = execute(connection, "ROLLBACK").await;
    }
    let why = committed.map_err(|error| error.to_string());
    for complete in completions {
        complete(why.as_ref().copied().map_err(String::as_str));
    }
}

/// On an error the transaction must be rolled back, and the remaining requests get no result.
async fn carry_out(
    connection: &mut SqliteConnection,
    requests: Vec<Request>,
    completions: &mut Vec<Completion>,
) -> Result<(), sqlx::Error> {
    // Each statement is a round trip to the connection's thread, so statements are combined.
    let mut next = "BEGIN IMMEDIATE; SAVEPOINT request";
    for request in requests {
        execute(connection, next).await?;
        next = "RELEASE request; SAVEPOINT request";
        let (keep, completion) = (request.work)(connection).await;
        completions.push(completion);
        if !keep {
            execute(connection, "ROLLBACK TO request").await?;
        }
    }
    execute(connection, "COMMIT").await
}

async fn execute(connection: &mut SqliteConnection, what: &'static str) -> Result<(), sqlx::Error> {
    sqlx::query(what).execute(connection).await.map(drop)
}
