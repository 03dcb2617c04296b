//! The connection for writing.
//!
//! Requests that arrive during a sync wait in a queue and share the next transaction, each in a savepoint of its own.
//! One sync serves all of them, a failure rolls back only its own request, and no request completes before the commit
//! is on disk.

use std::sync::{Mutex, PoisonError};

use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::super::{Doing, StoreError, Stored};

/// Maximum number of queued requests. Further callers wait.
const WAITING: usize = 1024;
/// Maximum number of requests in one commit, so that none waits too long for the others.
const TOGETHER: usize = 128;

/// Completes a request, given the result of the commit.
type Answer = Box<dyn FnOnce(Result<(), &str>) + Send>;
/// Carries out a request. The flag is `true` if its changes must stay.
type Work = Box<dyn for<'c> FnOnce(&'c mut SqliteConnection) -> Doing<'c, (bool, Answer)> + Send>;

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

fn gone() -> StoreError {
    StoreError::Failed("the store is closed".to_owned())
}

impl Writer {
    /// Starts the task that serves the connection.
    pub fn over(connection: SqliteConnection) -> Self {
        let (queue, requests) = mpsc::channel(WAITING);
        let task = tokio::spawn(serve(connection, requests));
        Self { queue: Mutex::new(Some(queue)), task: tokio::sync::Mutex::new(Some(task)) }
    }

    /// Runs work that changes rows. It completes even if the caller stops waiting.
    pub async fn write<T, F>(&self, work: F) -> Stored<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Doing<'c, Stored<T>> + Send + 'static,
    {
        self.ask(work, true).await
    }

    /// Runs work that only reads.
    pub async fn read<T, F>(&self, work: F) -> Stored<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Doing<'c, Stored<T>> + Send + 'static,
    {
        self.ask(work, false).await
    }

    async fn ask<T, F>(&self, work: F, writes: bool) -> Stored<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Doing<'c, Stored<T>> + Send + 'static,
    {
        let (tell, answer) = oneshot::channel();
        let work: Work = Box::new(move |connection| {
            Box::pin(async move {
                let done = work(connection).await;
                let stays = done.is_ok();
                let answer: Answer = Box::new(move |committed| {
                    let failed = |why: &str| StoreError::Failed(why.to_owned());
                    // The caller may have stopped waiting.
                    let _ = tell.send(committed.map_err(failed).and(done));
                });
                (stays, answer)
            })
        });
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        queue.ok_or_else(gone)?.send(Request { work, writes }).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(StoreError::Failed("the transaction failed".to_owned())))
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
    let mut together = Vec::new();
    while requests.recv_many(&mut together, TOGETHER).await > 0 {
        let (writes, reads): (Vec<_>, Vec<_>) = together.drain(..).partition(|request| request.writes);
        if !writes.is_empty() {
            commit(&mut connection, writes).await;
        }
        for request in reads {
            let (_, answer) = (request.work)(&mut connection).await;
            answer(Ok(()));
        }
    }
    // Committed changes are on disk, so an error here loses nothing.
    let _ = connection.close().await;
}

/// Carries out requests in one transaction.
async fn commit(connection: &mut SqliteConnection, requests: Vec<Request>) {
    let mut answers = Vec::with_capacity(requests.len());
    let committed = carry_out(connection, requests, &mut answers).await;
    if committed.is_err() {
        // A failure may have ended the transaction already.
        let _ = say(connection, "ROLLBACK").await;
    }
    let why = committed.map_err(|error| error.to_string());
    for answer in answers {
        answer(why.as_ref().copied().map_err(String::as_str));
    }
}

/// On an error the transaction must be rolled back, and the remaining requests get no result.
async fn carry_out(
    connection: &mut SqliteConnection,
    requests: Vec<Request>,
    answers: &mut Vec<Answer>,
) -> Result<(), sqlx::Error> {
    // Each statement is a round trip to the connection's thread, so statements are combined.
    let mut next = "BEGIN IMMEDIATE; SAVEPOINT request";
    for request in requests {
        say(connection, next).await?;
        next = "RELEASE request; SAVEPOINT request";
        let (stays, answer) = (request.work)(connection).await;
        answers.push(answer);
        if !stays {
            say(connection, "ROLLBACK TO request").await?;
        }
    }
    say(connection, "COMMIT").await
}

async fn say(connection: &mut SqliteConnection, what: &'static str) -> Result<(), sqlx::Error> {
    sqlx::query(what).execute(connection).await.map(drop)
}
