//! The connection for writing.
//!
//! Requests that arrive during a sync wait in queues and share the next transaction, each in a savepoint of its own.
//! One sync serves all of them, a failure rolls back only its own request, and no request completes before the commit
//! is on disk. Callers take turns, also within a transaction.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::{Connection, SqliteConnection};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::fair::{Bounds, Identity, Load, Turns};
use crate::store::WorkFuture;
use crate::store::{StoreError, StoreResult};

/// Maximum number of requests in one commit, so that none waits too long for the others.
const BATCH: usize = 128;
/// Time after which a transaction takes no further requests.
const LONG: Duration = Duration::from_millis(3);

/// Completes a request, given the result of the commit.
type Completion = Box<dyn FnOnce(StoreResult<()>) + Send>;
/// Carries out a request. Its changes must be undone if it returns an error.
type Work =
    Box<dyn for<'c> FnOnce(&'c mut SqliteConnection, bool) -> WorkFuture<'c, (Option<StoreError>, Completion)> + Send>;

/// A queued request.
struct QueuedRequest {
    /// Its flag is `true` if it is to be a transaction of its own.
    work: Work,
    /// `true` for a statement that can be a transaction of its own, and else has a savepoint of its own.
    whole: bool,
}

/// The connection and the queues of its callers.
#[derive(Debug)]
pub struct Writer {
    queues: Arc<RequestQueues>,
    task: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

/// The queues, which have no bounds: the service bounds its requests.
#[derive(Debug)]
struct RequestQueues {
    state: Mutex<QueueState>,
    changed: Notify,
}

#[derive(Debug)]
struct QueueState {
    turns: Turns<QueuedRequest>,
    closed: bool,
    /// The error of the last transaction that failed. Requests that it left out get it.
    failure: Option<StoreError>,
}

fn closed() -> StoreError {
    StoreError::Failed("the store is closed".to_owned())
}

impl Writer {
    /// Starts the task that serves the connection.
    pub fn new(connection: SqliteConnection) -> Self {
        const ANY: usize = usize::MAX;
        let turns = Turns::new(Bounds { places: ANY, share: ANY, waiting: ANY, own_waiting: ANY });
        let state = Mutex::new(QueueState { turns, closed: false, failure: None });
        let queues = Arc::new(RequestQueues { state, changed: Notify::new() });
        let task = tokio::spawn(serve(connection, Served(queues.clone())));
        Self { queues, task: tokio::sync::Mutex::new(Some(task)) }
    }

    /// Runs work when it is the caller's turn. It completes even if the caller stops waiting.
    pub async fn run<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        self.enqueue(false, move |connection, _| work(connection)).await
    }

    /// Runs a statement when it is the caller's turn, as [`SqliteStore::write_whole`](super::SqliteStore) describes.
    pub async fn run_whole<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection, bool) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        self.enqueue(true, work).await
    }

    async fn enqueue<T, F>(&self, whole: bool, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection, bool) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let work: Work = Box::new(move |connection, alone| {
            Box::pin(async move {
                let done = work(connection, alone).await;
                // A statement that found nothing to change has ended as usual.
                let failed = done.as_ref().err().filter(|error| !(whole && matches!(error, StoreError::NotFound)));
                let failed = failed.cloned();
                let completion: Completion = Box::new(move |committed| {
                    // The caller may have stopped waiting.
                    let _ = sender.send(committed.and(done));
                });
                (failed, completion)
            })
        });
        self.queues.add(QueuedRequest { work, whole })?;
        receiver.await.unwrap_or_else(|_| Err(self.queues.failure()))
    }

    /// The current use.
    pub fn load(&self) -> Load {
        self.queues.lock().turns.load()
    }

    /// Stops taking requests, finishes those in the queues, and closes the connection.
    pub async fn close(&self) {
        self.queues.close();
        if let Some(task) = self.task.lock().await.take() {
            // A task that panicked has closed its connection too.
            let _ = task.await;
        }
    }
}

impl RequestQueues {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, request: QueuedRequest) -> StoreResult<()> {
        let mut state = self.lock();
        if state.closed {
            return Err(closed());
        }
        state.turns.add(Identity::current(), request).map_err(|_| closed())?;
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for a request. Returns `false` if there will be none.
    async fn wait(&self) -> bool {
        loop {
            {
                let state = self.lock();
                if state.turns.load().waiting > 0 {
                    return true;
                }
                if state.closed {
                    return false;
                }
            }
            self.changed.notified().await;
        }
    }

    /// Takes the next request.
    fn next(&self) -> Option<QueuedRequest> {
        let mut state = self.lock();
        let (who, request) = state.turns.next()?;
        state.turns.end(who);
        Some(request)
    }

    /// The error of requests that were dropped.
    fn failure(&self) -> StoreError {
        let failure = self.lock().failure.clone();
        failure.unwrap_or_else(|| StoreError::Failed("the transaction failed".to_owned()))
    }

    /// Drops the waiting requests, whose callers get errors.
    fn refuse_waiting(&self) {
        while let Some(request) = self.next() {
            drop(request);
        }
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }
}

/// Queues that are served. If the task panics, they are closed, and waiting callers get an error.
struct Served(Arc<RequestQueues>);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.close();
        self.0.refuse_waiting();
    }
}

async fn serve(mut connection: SqliteConnection, served: Served) {
    while served.0.wait().await {
        commit(&mut connection, &served.0).await;
    }
    // Committed changes are on disk, so an error here loses nothing.
    let _ = connection.close().await;
}

/// Carries out requests in one transaction.
async fn commit(connection: &mut SqliteConnection, queues: &RequestQueues) {
    let Some(first) = queues.next() else { return };
    if first.whole && queues.lock().turns.load().waiting == 0 {
        let (failed, complete) = (first.work)(connection, true).await;
        if failed.is_some() {
            // There may be no transaction to end.
            let _ = execute(connection, "ROLLBACK").await;
        }
        return complete(Ok(()));
    }
    let mut completions = Vec::new();
    let committed = carry_out(connection, first, queues, &mut completions).await;
    if let Err(error) = &committed {
        queues.lock().failure = Some(error.clone());
        // A failure may have ended the transaction already.
        let _ = execute(connection, "ROLLBACK").await;
    }
    for complete in completions {
        complete(committed.clone());
    }
}

/// On an error the transaction must be rolled back.
async fn carry_out(
    connection: &mut SqliteConnection,
    first: QueuedRequest,
    queues: &RequestQueues,
    completions: &mut Vec<Completion>,
) -> StoreResult<()> {
    let (begun, mut next, mut before) = (Instant::now(), Some(first), None);
    while let Some(request) = next {
        if let Some(statement) = opening(before, request.whole)
            && let Err(error) = execute(connection, statement).await
        {
            // The caller of this request gets this error, too.
            queues.lock().failure = Some(error.clone());
            if before.is_none() {
                // No transaction could begin, for example because the file is locked. The others would fail one by one.
                // This request is dropped after them, so none that follows its error is refused.
                queues.refuse_waiting();
            }
            return Err(error);
        }
        before = Some(request.whole);
        let (failed, completion) = (request.work)(connection, false).await;
        completions.push(completion);
        if let Some(error) = failed {
            undo(connection, error, request.whole).await?;
        }
        let more = completions.len() < BATCH && begun.elapsed() < LONG;
        next = if more { queues.next() } else { None };
    }
    execute(connection, "COMMIT").await
}

/// The statement before a request, given what came before it. Each statement is a round trip to the connection's thread,
/// so statements are combined, and a whole request needs no savepoint.
fn opening(before: Option<bool>, whole: bool) -> Option<&'static str> {
    match (before, whole) {
        (None, false) => Some("BEGIN IMMEDIATE; SAVEPOINT request"),
        (None, true) => Some("BEGIN IMMEDIATE"),
        (Some(false), false) => Some("RELEASE request; SAVEPOINT request"),
        (Some(false), true) => Some("RELEASE request"),
        (Some(true), false) => Some("SAVEPOINT request"),
        (Some(true), true) => None,
    }
}

/// Undoes the changes of a request that failed with `error`.
async fn undo(connection: &mut SqliteConnection, error: StoreError, whole: bool) -> StoreResult<()> {
    let undo = if whole { "ROLLBACK TO object; RELEASE object" } else { "ROLLBACK TO request" };
    execute(connection, undo).await.map_err(|undone| match error {
        // A full disk ends the transaction of all requests.
        StoreError::Unavailable(..) => error,
        _ => undone,
    })
}

async fn execute(connection: &mut SqliteConnection, what: &'static str) -> StoreResult<()> {
    sqlx::query(what).execute(connection).await.map(drop).map_err(|error| StoreError::of(&error))
}

#[cfg(test)]
mod tests {
    use sqlx::ConnectOptions;
    use sqlx::sqlite::SqliteConnectOptions;
    use uuid::Uuid;

    use super::*;
    use crate::Actor;

    async fn connection() -> SqliteConnection {
        let mut connection = SqliteConnectOptions::new().filename(":memory:").connect().await.unwrap();
        sqlx::query("CREATE TABLE names (name TEXT)").execute(&mut connection).await.unwrap();
        connection
    }

    async fn writer() -> Arc<Writer> {
        Arc::new(Writer::new(connection().await))
    }

    /// Writes names on behalf of generators, all while the writer is held up, and returns the order of the rows.
    async fn written(names: &[(u128, &'static str)]) -> Vec<String> {
        let writer = writer().await;
        let ((begin, begun), (release, released)) = (oneshot::channel::<()>(), oneshot::channel::<()>());
        let holding = writer.clone();
        let hold = async move {
            let begun = async {
                begin.send(()).map_err(|()| StoreError::NotFound)?;
                released.await.map_err(|_| StoreError::NotFound)
            };
            holding.run(|_| Box::pin(begun)).await
        };
        let mut tasks = vec![tokio::spawn(hold)];
        begun.await.unwrap();
        for (count, &(who, name)) in names.iter().enumerate() {
            let waiting = writer.clone();
            let task = async move { waiting.run(move |c| Box::pin(add(c, name))).await };
            tasks.push(tokio::spawn(Identity::Caller(Actor::Generator(Uuid::from_u128(who))).scope(task)));
            while writer.load().waiting < count + 1 {
                tokio::task::yield_now().await;
            }
        }
        release.send(()).unwrap();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        writer.run(|c| Box::pin(all(c))).await.unwrap()
    }

    async fn add(c: &mut SqliteConnection, name: &'static str) -> StoreResult<()> {
        sqlx::query("INSERT INTO names VALUES ($1)").bind(name).execute(c).await?;
        Ok(())
    }

    async fn all(c: &mut SqliteConnection) -> StoreResult<Vec<String>> {
        Ok(sqlx::query_scalar("SELECT name FROM names ORDER BY rowid").fetch_all(c).await?)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn callers_write_in_turns() {
        let mut names = vec![(1, "greedy"); 200];
        names.extend([(2, "light"), (3, "other"), (2, "light")]);
        let order = written(&names).await;
        assert_eq!(order.len(), 203);
        assert_eq!(order[..6], ["greedy", "light", "other", "greedy", "light", "greedy"]);
    }

    #[tokio::test]
    async fn a_closed_writer_finishes_what_it_has_and_takes_nothing_more() {
        let writer = writer().await;
        writer.run(|c| Box::pin(add(c, "a"))).await.unwrap();
        writer.close().await;
        assert!(
            matches!(writer.run(|c| Box::pin(all(c))).await, Err(StoreError::Failed(why)) if why.contains("closed"))
        );
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_request_after_a_failure_is_carried_out() {
        for _ in 0..100 {
            let mut connection = connection().await;
            // The first transaction cannot begin.
            sqlx::query("BEGIN").execute(&mut connection).await.unwrap();
            let writer = Writer::new(connection);
            writer.run(|c| Box::pin(add(c, "a"))).await.unwrap_err();
            writer.run(|c| Box::pin(add(c, "b"))).await.unwrap();
            assert_eq!(writer.run(|c| Box::pin(all(c))).await.unwrap(), ["b"]);
        }
    }

    #[tokio::test]
    async fn callers_of_a_writer_that_panicked_get_errors() {
        let writer = writer().await;
        let panics = writer.run::<(), _>(|_| Box::pin(async { std::panic::resume_unwind(Box::new(())) })).await;
        assert!(panics.is_err());
        assert!(writer.run(|c| Box::pin(all(c))).await.is_err());
    }
}
